/* Abaqus input files as texts, and the result of reading them. */
#ifndef HX_TEST_ABAQUS_CASE_H
#define HX_TEST_ABAQUS_CASE_H

#include "core/files/mesh_readers.h"
#include "vtk_sample.h"

#define NODES_8                                                                                    \
    "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n"                                      \
    "5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n"
#define NODES_12 NODES_8 "9, 2, 0, 0\n10, 2, 1, 0\n11, 2, 0, 1\n12, 2, 1, 1\n"
#define ONE_HEX NODES_8 "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n"
#define TWO_HEX                                                                                    \
    NODES_12                                                                                       \
    "*ELEMENT, TYPE=C3D8, ELSET=ALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n2, 2, 9, 10, 3, 6, 11, 12, 7\n"

static hx_conditions stated; /* conditions read with the last mesh */

static int read_text(const char *text, hx_mesh *mesh, hx_notes *notes)
{
    const char *path = in_folder("case.inp");
    write_bytes(path, text, strlen(text));
    hx_conditions_free(&stated);
    return hx_abaqus_read(path, mesh, &stated, notes);
}

static inline void check_bad(const char *text, const char *message)
{
    hx_mesh mesh;
    CHECK_FAILS(read_text(text, &mesh, NULL), HX_EINPUT, message);
    CHECK(mesh.xyz == NULL && mesh.n_set == 0);
    hx_mesh_free(&mesh);
}

static void read_good(const char *text, hx_mesh *mesh)
{
    CHECK_OK(read_text(text, mesh, NULL));
    CHECK_OK(hx_mesh_finish(mesh));
}

static const hx_set *find(const hx_mesh *mesh, const char *name)
{
    static const hx_set none;
    const hx_set *set = hx_mesh_find_set(mesh, name);
    CHECK_MSG(set != NULL, "no set %s", name);
    return set ? set : &none;
}

/* A set has n_node nodes with numbers that add up to sum, n_elem elements and n_face faces. */
static inline void check_set(const hx_mesh *mesh, const char *name, int n_node, int64_t sum,
                             int n_elem, int n_face)
{
    const hx_set *const set = find(mesh, name);
    int64_t total = 0;
    for (int64_t i = 0; i < set->n_node; i++) total += hx_mesh_node_number(mesh, set->node[i]);
    CHECK_MSG(set->n_node == n_node && total == sum && set->n_elem == n_elem &&
                  set->n_face == n_face,
              "%s: %lld nodes of sum %lld, %lld elements, %lld faces", name, (long long)set->n_node,
              (long long)total, (long long)set->n_elem, (long long)set->n_face);
}

/* Checks the file's unread kinds, as they are printed, and their roles; nothing else is
 * reported. */
static inline void check_unread(const char *text, unsigned roles, const char *want)
{
    hx_mesh mesh;
    char list[600];
    read_good(text, &mesh);
    hx_unread_text(&stated.unread, 0, 0, "", list, sizeof list);
    CHECK_MSG(strstr(list, want) != NULL, "'%s'; wanted: %s", list, want);
    CHECK_MSG(hx_unread_roles(&stated.unread) == roles, "%s: roles %u; wanted: %u", want,
              hx_unread_roles(&stated.unread), roles);
    CHECK(!stated.fault && !stated.support_fault && !stated.load_fault);
    hx_mesh_free(&mesh);
}

static inline int has_note(const hx_notes *notes, const char *text)
{
    int any = 0;
    for (size_t i = 0; i < notes->n; i++) any |= strstr(notes->note[i].text, text) != NULL;
    return any;
}

#endif
