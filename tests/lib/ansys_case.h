/* Shared by the tests of ANSYS archives: a part of two bricks as CDWRITE writes it, its reading,
 * and checks of messages and sets. */
#ifndef HX_TEST_ANSYS_CASE_H
#define HX_TEST_ANSYS_CASE_H

#include "core/files/mesh_readers.h"
#include "vtk_sample.h"

#define HEAD_CDB "/COM,ANSYS RELEASE 19.2\n/PREP7\nET,       1,185\n"
/* Widths 9 and 21 with 13 decimals; zeros at the end are omitted, as by CDWRITE. */
#define NODES                                                                                      \
    "NBLOCK,6,SOLID,        13,        12\n(3i9,6e21.13e3)\n"                                      \
    "        1        0        0\n"                                                                \
    "        2        0        0 1.0000000000000E+000\n"                                           \
    "        3        0        0 1.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        4        0        0 0.0000000000000E+000 1.0000000000000E+000\n"                      \
    "        5        0        0 0.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        6        0        0 1.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "        7        0        0 1.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "        8        0        0 0.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "       10        0        0 2.0000000000000E+000\n"                                           \
    "       11        0        0 2.0000000000000E+000 1.0000000000000E+000\n"                      \
    "       12        0        0 2.0000000000000E+000 0.0000000000000E+000 1.0000000000000E+000\n" \
    "       13        0        0 2.0000000000000E+000 1.0000000000000E+000 1.0000000000000E+000\n" \
    "N,R5.3,LOC,       -1,\n"
#define ELEMENT_HEAD                                                                               \
    "        1        1        1        1        0        0        0        0        8        0"
#define ELEMENTS                                                                                   \
    "EBLOCK,19,SOLID,        21,        2\n(19i9)\n" ELEMENT_HEAD                                  \
    "       20        1        2        3        4        5        6        7        "             \
    "8\n" ELEMENT_HEAD "       21        2       10       11        3        6       12       13 " \
    "       7\n       -1\n"
#define PART HEAD_CDB NODES ELEMENTS

static hx_conditions stated; /* stated in addition to the mesh that was read last */

static inline int read_text(const char *text, hx_mesh *mesh, hx_notes *notes)
{
    const char *path = in_folder("case.cdb");
    write_bytes(path, text, strlen(text));
    hx_conditions_free(&stated);
    return hx_ansys_read(path, mesh, &stated, notes);
}

static inline void check_bad(const char *text, const char *message)
{
    hx_mesh mesh;
    CHECK_FAILS(read_text(text, &mesh, NULL), HX_EINPUT, message);
    hx_mesh_free(&mesh);
}

static inline void check_warned(const char *text, const char *message)
{
    hx_mesh mesh;
    hx_notes notes = {0};
    int any = 0;
    CHECK_OK(read_text(text, &mesh, &notes));
    for (size_t i = 0; i < notes.n; i++)
        any |= notes.note[i].level == HX_NOTE_WARNING && strstr(notes.note[i].text, message);
    CHECK_MSG(any, "no warning: %s", message);
    hx_notes_free(&notes);
    hx_mesh_free(&mesh);
}

static inline void check_set(const hx_mesh *mesh, const char *name, int n_node, int64_t sum,
                             int n_elem)
{
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    int64_t total = 0;
    CHECK_MSG(set != NULL, "no set %s", name);
    for (int64_t i = 0; set && i < set->n_node; i++)
        total += hx_mesh_node_number(mesh, set->node[i]);
    CHECK_MSG(set && set->n_node == n_node && total == sum && set->n_elem == n_elem,
              "%s: %lld nodes of sum %lld, %lld elements", name, (long long)(set ? set->n_node : 0),
              (long long)total, (long long)(set ? set->n_elem : 0));
}

static inline void read_good(const char *text, hx_mesh *mesh)
{
    CHECK_OK(read_text(text, mesh, NULL));
    CHECK_OK(hx_mesh_finish(mesh));
}

/* Roles of the unread item with this word; -1: the file has none. */
static inline int roles_of(const char *word)
{
    for (size_t i = 0; i < stated.unread.n; i++)
        if (strcmp(stated.unread.kind[i].word, word) == 0) return (int)stated.unread.kind[i].roles;
    return -1;
}

#endif
