#include "abaqus_write.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "../mesh/set_rules.h"
#include "abaqus_scan.h"
#include "abaqus_writer.h"
#include "set_classes.h"
#include "set_names.h"
#include "solid.h"

const int hx_abaqus_side[HX_CELL_OTHER][6] = {[HX_CELL_HEXAHEDRON] = {6, 4, 3, 5, 1, 2},
                                              [HX_CELL_WEDGE] = {5, 4, 3, 0, 1, 2},
                                              [HX_CELL_PYRAMID] = {5, 3, 2, 4, 1, 0},
                                              [HX_CELL_TETRAHEDRON] = {4, 3, 2, 0, 1, 0}};
const int hx_abaqus_face[HX_CELL_OTHER][7] = {[HX_CELL_HEXAHEDRON] = {-1, 4, 5, 2, 1, 3, 0},
                                              [HX_CELL_WEDGE] = {-1, 4, 5, 2, 1, 0, -1},
                                              [HX_CELL_PYRAMID] = {-1, 4, 2, 1, 3, 0, -1},
                                              [HX_CELL_TETRAHEDRON] = {-1, 4, 2, 1, 0, -1, -1}};

/* --- names --- */

/* Names that the job itself uses. */
static int is_reserved(const char *name)
{
    static const char *const own[] = {"NALL", "EALL"}, *const begin[] = {"EMAT-", "ESPRING-",
                                                                         "NRIGID-"};
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        if (strncasecmp(name, begin[i], strlen(begin[i])) == 0) return 1;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcasecmp(own[i], name) == 0) return 1;
    return 0;
}

static int n_byte(unsigned char c)
{
    return isalnum(c) || c == '-' || c == '_';
}

static unsigned char underline(unsigned char c)
{
    (void)c;
    return '_';
}

static int is_letter(unsigned char c)
{
    return isalpha(c) != 0;
}

/* Abaqus and CalculiX accept names of 80 characters and ignore their case. */
const hx_set_name_rule hx_abaqus_name_rule = {.most = 80,
                                              .n_byte = n_byte,
                                              .instead = underline,
                                              .is_first = is_letter,
                                              .is_reserved = is_reserved,
                                              .ignores_case = 1};

/* --- mesh and sets --- */

/* The largest number in use plus one. */
static int64_t next_number(const hx_numbers *numbers, int is_own, int64_t n)
{
    int64_t most = n;
    for (int64_t i = 0; is_own && i < numbers->n; i++) {
        const int64_t number = hx_numbers_get(numbers, i);
        if (number > most) most = number;
    }
    return most + 1;
}

/* Returns 1 if other programs accept the numbers: above 0 and within 32 bits. */
static int are_usable(const hx_numbers *numbers)
{
    for (int64_t i = 0; i < numbers->n; i++)
        if (hx_numbers_get(numbers, i) < 1 || hx_numbers_get(numbers, i) > INT32_MAX) return 0;
    return numbers->n > 0;
}

/* CalculiX has no pyramids: they are written as bricks with repeated nodes. */
static hx_solid_id ccx_solid_of(const hx_mesh *mesh, int64_t elem)
{
    const hx_solid_id id = hx_solid_of_cell(mesh->conn + 8 * elem);
    return id == HX_SOLID_PYRAMID5 ? HX_SOLID_HEX8 : id;
}

static void put_element_head(hx_abaqus_writer *w, const char *type, int is_job)
{
    hx_abaqus_put(w, "*ELEMENT, TYPE=%s%s\n", type, is_job ? ", ELSET=EALL" : "");
}

/* last: solid type of the previous element. */
static void put_element(hx_abaqus_writer *w, int64_t e, int is_job, hx_solid_id *last)
{
    static const char *const type[] = {
        [HX_SOLID_HEX8] = "C3D8", [HX_SOLID_TET4] = "C3D4", [HX_SOLID_WEDGE6] = "C3D6"};
    const hx_solid_id id = ccx_solid_of(w->mesh, e);
    const int *const corner = hx_solid_nodes(id);
    if (id != *last) put_element_head(w, type[id], is_job);
    *last = id;
    hx_abaqus_put_int(w, hx_abaqus_elem_number(w, e));
    for (int k = 0; k < hx_solids[id].n_node; k++) {
        hx_abaqus_put_text(w, ", ");
        hx_abaqus_put_int(w, hx_abaqus_point_number(w, w->mesh->conn[8 * e + corner[k]]));
    }
    hx_abaqus_put_text(w, "\n");
}

/* For second order: the points of the space have Abaqus' order. A line has at most 16 numbers. */
static void put_quadratic(hx_abaqus_writer *w, int64_t e, int *last)
{
    static const char *const type[] = {
        [HX_CELL_HEXAHEDRON] = "C3D20", [HX_CELL_WEDGE] = "C3D15", [HX_CELL_TETRAHEDRON] = "C3D10"};
    const int kind = w->space->kind[e];
    int n;
    const int32_t *const point = hx_space_points(w->space, e, &n);
    if (kind != *last) put_element_head(w, type[kind], 1);
    *last = kind;
    hx_abaqus_put_int(w, hx_abaqus_elem_number(w, e));
    for (int k = 0; k < n; k++) {
        hx_abaqus_put_text(w, k == 10 ? ",\n" : ", ");
        hx_abaqus_put_int(w, hx_abaqus_point_number(w, point[k]));
    }
    hx_abaqus_put_text(w, "\n");
}

/* Writes also the sets of all nodes and all elements that a job refers to. */
static void put_mesh(hx_abaqus_writer *w, int is_job)
{
    const hx_mesh *const mesh = w->mesh;
    const double *const xyz = w->space ? w->space->xyz : mesh->xyz;
    hx_solid_id last = HX_N_SOLID_ID;
    int kind = -1;
    hx_abaqus_put_text(w, is_job ? "*NODE, NSET=NALL\n" : "*NODE\n");
    for (int64_t i = 0; i < hx_abaqus_points(w); i++) {
        const int64_t p = hx_abaqus_point_at(w, i);
        hx_abaqus_put_int(w, hx_abaqus_point_number(w, p));
        for (int d = 0; d < 3; d++) {
            hx_abaqus_put_text(w, ", ");
            hx_abaqus_put_real(w, xyz[3 * p + d]);
        }
        hx_abaqus_put_text(w, "\n");
    }
    for (int64_t i = 0; i < mesh->n_elem; i++)
        if (w->space)
            put_quadratic(w, hx_abaqus_elem_at(w, i), &kind);
        else
            put_element(w, hx_abaqus_elem_at(w, i), is_job, &last);
}

/* Writes a dozen numbers per line: original numbers of list[n]. */
static void put_list(hx_abaqus_writer *w, int64_t n, const int32_t *list,
                     int64_t (*number)(const hx_abaqus_writer *, int64_t))
{
    for (int64_t i = 0; i < n; i++) {
        hx_abaqus_put_int(w, number(w, list[i]));
        hx_abaqus_put_text(
            w, i + 1 == n || i % HX_ABAQUS_PER_LINE == HX_ABAQUS_PER_LINE - 1 ? "\n" : ", ");
    }
}

/* Returns 1 if a node of the set is in none of its elements and faces; flag[n_node] is 0 on entry
 * and exit. */
static int has_more_nodes(const hx_mesh *mesh, const hx_set *set, uint8_t *flag)
{
    int more = 0;
    hx_flag_set_nodes(mesh, set, set->n_face, flag, 1);
    for (int64_t i = 0; i < set->n_node && !more; i++) more = !flag[set->node[i]];
    hx_flag_set_nodes(mesh, set, set->n_face, flag, 0);
    return more;
}

/* *BOUNDARY and *CLOAD refer only to node sets, so the nodes of face sets are listed, and nodes
 * that do not follow from the set's elements; readers then get an equal set. If all its nodes
 * together would contain an element that is not in the set, only those that do not follow are
 * listed. node[n_node]: the nodes to list; returns their number. */
static int64_t list_set_nodes(const hx_mesh *mesh, const hx_set *set, uint8_t *flag, int32_t *node)
{
    const int has_more = has_more_nodes(mesh, set, flag);
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
    const int is_whole = !hx_nodes_hold_more(mesh, set, flag);
    for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 0;
    int64_t n = 0;
    if (!has_more && (set->n_face == 0 || set->n_elem > 0 || !is_whole)) return 0;
    if (!is_whole) hx_flag_set_nodes(mesh, set, set->n_face, flag, 1);
    for (int64_t i = 0; i < set->n_node; i++)
        if (!flag[set->node[i]]) node[n++] = set->node[i];
    hx_flag_set_nodes(mesh, set, set->n_face, flag, 0);
    return n;
}

static int side_of_face(const hx_mesh *mesh, int64_t face)
{
    return hx_abaqus_side[hx_solids[ccx_solid_of(mesh, face / 6)].kind][face % 6];
}

/* Writes "*NSET, NSET=NAME"; *n: number of keywords of the set so far. */
static void put_set_keyword(hx_abaqus_writer *w, const char *keyword, size_t set, int *n)
{
    if ((*n)++ > 0 && !w->has_joined) {
        hx_abaqus_put_text(w, HX_ABAQUS_JOINS "\n");
        w->has_joined = 1;
    }
    hx_abaqus_put(w, "%s%s\n", keyword, w->names.name[set]);
}

static int put_sets(hx_abaqus_writer *w)
{
    const hx_mesh *const mesh = w->mesh;
    uint8_t *flag = NULL;
    int32_t *node = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&flag, (size_t)mesh->n_node, 1, "flags of a set"));
    HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)mesh->n_node, sizeof *node, "nodes of a set"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        /* the set with only the faces that the file states (lists borrowed) */
        hx_set stated = mesh->set[i];
        const hx_set *const set = &stated;
        int n_keyword = 0;
        stated.n_face = hx_set_stated_faces(mesh, &mesh->set[i]);
        const int64_t n_node = list_set_nodes(mesh, set, flag, node);
        if (n_node > 0) {
            put_set_keyword(w, "*NSET, NSET=", i, &n_keyword);
            put_list(w, n_node, node, hx_abaqus_point_number);
        }
        if (set->n_elem > 0) {
            put_set_keyword(w, "*ELSET, ELSET=", i, &n_keyword);
            put_list(w, set->n_elem, set->elem, hx_abaqus_elem_number);
        }
        if (set->n_face == 0) continue;
        put_set_keyword(w, "*SURFACE, TYPE=ELEMENT, NAME=", i, &n_keyword);
        for (int64_t k = 0; k < set->n_face; k++)
            hx_abaqus_put(w, "%lld, S%lld\n", (long long)hx_abaqus_elem_number(w, set->face[k] / 6),
                          (long long)side_of_face(mesh, set->face[k]));
    }
    rc = HX_OK;
fail:
    free(flag);
    free(node);
    return rc;
}

/* Writes the rules of combined sets, as comments. */
static int put_rules(hx_abaqus_writer *w)
{
    char *text = NULL;
    HX_TRY(hx_set_rules_text(w->mesh, w->names.name, "** ", &text));
    for (char *line = text, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        hx_abaqus_put(w, "%s\n", line);
    }
    free(text);
    return HX_OK;
}

static int write_all(hx_abaqus_writer *w, const char *title, const hx_problem *problem,
                     double penalty)
{
    HX_TRY(hx_alloc_raw(&w->text, HX_ABAQUS_BUFFER, 1, "a block of text"));
    HX_TRY(hx_set_names_make(w->mesh, &hx_abaqus_name_rule, &w->names));
    HX_TRY(hx_mesh_invert(w->mesh->n_node, w->mesh->node_orig, &w->node));
    HX_TRY(hx_mesh_invert(w->mesh->n_elem, w->mesh->elem_orig, &w->elem));
    w->own_node = are_usable(&w->mesh->node_number);
    w->own_elem = are_usable(&w->mesh->elem_number);
    w->first_middle = next_number(&w->mesh->node_number, w->own_node, w->mesh->n_node);
    w->next_node = w->first_middle + hx_abaqus_points(w) - w->mesh->n_node;
    w->next_elem = next_number(&w->mesh->elem_number, w->own_elem, w->mesh->n_elem);
    char line[128];
    snprintf(line, sizeof line, "%s", title && title[0] && title[0] != '*' ? title : "mesh");
    for (char *c = line; *c; c++)
        if (!isprint((unsigned char)*c)) *c = ' ';
    hx_abaqus_put(w, "*HEADING\n%s\n", line);
    HX_TRY(put_rules(w));
    put_mesh(w, problem != NULL);
    HX_TRY(put_sets(w));
    if (problem) HX_TRY(hx_abaqus_put_job(w, problem, penalty));
    hx_abaqus_flush(w);
    return HX_OK;
}

int hx_abaqus_write(const char *path, const hx_mesh *mesh, const char *title,
                    const hx_problem *problem, double penalty)
{
    hx_atomic_file file;
    const int is_quadratic = problem && problem->space.element != HX_ELEMENT_LINEAR;
    if (is_quadratic && mesh->n_kind[HX_CELL_PYRAMID] > 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: %lld pyramids of second order, which CalculiX does not have: write "
                        "the job with solver.element=linear",
                        path, (long long)mesh->n_kind[HX_CELL_PYRAMID]);
    HX_TRY(hx_atomic_file_open(&file, path));
    hx_abaqus_writer w = {
        .stream = file.stream, .mesh = mesh, .space = is_quadratic ? &problem->space : NULL};
    int rc = write_all(&w, title, problem, penalty);
    if (rc == HX_OK) rc = hx_atomic_file_commit(&file);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", path);
    free(w.text);
    free(w.node);
    free(w.elem);
    hx_set_names_free(&w.names);
    hx_atomic_file_free(&file);
    return rc;
}
