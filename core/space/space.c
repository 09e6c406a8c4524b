/* Finite element spaces over a mesh: the edges of all cells, sorted by their ends, each once, with
 * a point at its middle. */
#include "space_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/radix_sort.h"
#include "../base/vec3.h"
#include "../mesh/mesh_quality.h"

#define WHAT "points of quadratic elements"

const char *hx_element_name(hx_element element)
{
    static const char *const name[HX_N_ELEMENT] = {"linear", "quadratic", "spline"};
    return name[element];
}

hx_space hx_space_linear(const hx_mesh *mesh)
{
    return (hx_space){.mesh = mesh,
                      .n_point = mesh->n_node,
                      .xyz = mesh->xyz,
                      .n_place = 8 * mesh->n_elem,
                      .n_per_cell = 8,
                      .point = mesh->conn,
                      .point_ptr = mesh->node_elem_ptr,
                      .point_place = mesh->node_elem};
}

static int find_kinds(hx_space *s)
{
    const hx_mesh *mesh = s->mesh;
    int64_t bad = INT64_MAX, n[HX_N_CELL_RULE] = {0};
    HX_TRY(hx_alloc_raw(&s->kind, (size_t)mesh->n_elem, sizeof *s->kind, WHAT));
#pragma omp parallel for schedule(static) reduction(+ : n[:HX_N_CELL_RULE]) reduction(min : bad)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const hx_cell_kind kind = hx_cell_kind_of(mesh->conn + 8 * e);
        s->kind[e] = (uint8_t)kind;
        if (kind < HX_CELL_OTHER)
            n[kind]++;
        else if (e < bad)
            bad = e;
    }
    memcpy(s->n_kind, n, sizeof s->n_kind);
    if (bad == INT64_MAX) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "element %lld is not a hexahedron, wedge, pyramid or tetrahedron, which "
                    "quadratic elements require; use element = \"linear\"",
                    (long long)hx_mesh_elem_number(mesh, bad));
}

/* Number of edges over all cells, and places. */
static int64_t count_sides(const hx_space *s)
{
    int64_t n = 0;
    for (int k = 0; k < HX_N_CELL_RULE; k++) n += s->n_kind[k] * s->rule[k].n_edge;
    return n;
}

static int place_cells(hx_space *s)
{
    const int64_t n_elem = s->mesh->n_elem;
    for (int k = 0; k < HX_N_CELL_RULE; k++) {
        s->n_place += s->n_kind[k] * s->rule[k].n_point;
        if (s->n_kind[k] == n_elem) s->n_per_cell = s->rule[k].n_point;
    }
    if (s->n_place > UINT32_MAX || count_sides(s) > INT32_MAX)
        return HX_RAISE(HX_EENV,
                        "the quadratic elements have %lld %s; at most 2^32 are supported, so use "
                        "element = \"linear\" or a smaller mesh",
                        (long long)s->n_place, hx_noun(s->n_place, "point", "points"));
    HX_TRY(hx_alloc_raw(&s->point, (size_t)s->n_place, sizeof *s->point, WHAT));
    if (s->n_per_cell) return HX_OK;
    HX_TRY(hx_alloc(&s->cell_ptr, (size_t)n_elem + 1, sizeof *s->cell_ptr, WHAT));
    HX_TRY(hx_alloc(&s->pair_ptr, (size_t)n_elem + 1, sizeof *s->pair_ptr, WHAT));
    HX_TRY(hx_alloc_raw(&s->place_cell, (size_t)s->n_place, sizeof *s->place_cell, WHAT));
    for (int64_t e = 0; e < n_elem; e++) {
        const int64_t n = s->rule[s->kind[e]].n_point;
        s->cell_ptr[e + 1] = s->cell_ptr[e] + n;
        s->pair_ptr[e + 1] = s->pair_ptr[e] + n * n;
        for (int64_t k = s->cell_ptr[e]; k < s->cell_ptr[e + 1]; k++) s->place_cell[k] = (int32_t)e;
    }
    return HX_OK;
}

static int64_t first_place(const hx_space *s, int64_t cell)
{
    return s->n_per_cell ? cell * s->n_per_cell : s->cell_ptr[cell];
}

/* key[side] := ends of each cell's edges. Writes corners to `point`, and the place of each edge's
 * middle to place[side]. */
static void list_sides(hx_space *s, uint64_t *key, uint32_t *place)
{
    const hx_mesh *mesh = s->mesh;
    int64_t side = 0; /* index of the next side of a mixed mesh */
    if (!s->n_per_cell) {
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            const int64_t first = first_place(s, e) + s->rule[s->kind[e]].n_corner;
            for (int i = 0; i < s->rule[s->kind[e]].n_edge; i++)
                place[side++] = (uint32_t)(first + i);
        }
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const hx_cell_rule *rule = &s->rule[s->kind[e]];
        int32_t *const point = s->point + first_place(s, e);
        hx_cell_rule_corners((hx_cell_kind)s->kind[e], mesh->conn + 8 * e, point);
        for (int i = 0; s->n_per_cell && i < rule->n_edge; i++)
            place[e * rule->n_edge + i] = (uint32_t)(first_place(s, e) + rule->n_corner + i);
    }
    const int64_t n_side = count_sides(s);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < n_side; k++) {
        const int64_t at = place[k], cell = s->n_per_cell ? at / s->n_per_cell : s->place_cell[at];
        const hx_cell_rule *rule = &s->rule[s->kind[cell]];
        const int64_t first = first_place(s, cell);
        const int *const end = rule->edge[at - first - rule->n_corner];
        const uint64_t a = (uint64_t)s->point[first + end[0]],
                       b = (uint64_t)s->point[first + end[1]];
        key[k] = a < b ? a << 32 | b : b << 32 | a;
    }
}

/* Numbers the distinct keys in ascending order. */
static int number_edges(hx_space *s, const uint64_t *key, const uint32_t *place,
                        const int32_t *order, int64_t n_side)
{
    int64_t n = 0;
    for (int64_t k = 0; k < n_side; k++) n += k == 0 || key[order[k]] != key[order[k - 1]];
    s->n_edge = n;
    s->n_point = s->mesh->n_node + n;
    if (s->n_point > INT32_MAX)
        return HX_RAISE(HX_EENV, "the quadratic elements have %lld %s; at most 2^31 are supported",
                        (long long)s->n_point, hx_noun(s->n_point, "point", "points"));
    HX_TRY(hx_alloc_raw(&s->edge, (size_t)n, 2 * sizeof *s->edge, WHAT));
    n = -1;
    for (int64_t k = 0; k < n_side; k++) {
        const uint64_t ends = key[order[k]];
        if (k == 0 || ends != key[order[k - 1]]) {
            n++;
            s->edge[2 * n] = (int32_t)(ends >> 32);
            s->edge[2 * n + 1] = (int32_t)(ends & UINT32_MAX);
        }
        s->point[place[order[k]]] = (int32_t)(s->mesh->n_node + n);
    }
    return HX_OK;
}

static int make_edges(hx_space *s)
{
    const int64_t n_side = count_sides(s);
    uint64_t *key = NULL, *sorted = NULL;
    uint32_t *place = NULL;
    int32_t *order = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&key, (size_t)n_side, sizeof *key, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&sorted, (size_t)n_side, sizeof *sorted, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)n_side, sizeof *place, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)n_side, sizeof *order, WHAT));
    list_sides(s, key, place);
    memcpy(sorted, key, (size_t)n_side * sizeof *key);
    HX_TRY_FAIL(hx_radix_sort(sorted, order, n_side, 63));
    HX_TRY_FAIL(number_edges(s, key, place, order, n_side));
    rc = HX_OK;
fail:
    free(key);
    free(sorted);
    free(place);
    free(order);
    return rc;
}

/* Lists the cells of each point in the order of the places, by counting sort. */
int hx_space_list_cells(hx_space *s)
{
    const size_t n_point = (size_t)s->n_point;
    HX_TRY(hx_alloc(&s->point_ptr, n_point + 2, sizeof *s->point_ptr, WHAT));
    HX_TRY(hx_alloc_raw(&s->point_place, (size_t)s->n_place, sizeof *s->point_place, WHAT));
    /* shifted by one, so that each entry is the start of a list after filling */
    int64_t *const next = s->point_ptr + 1;
    for (int64_t k = 0; k < s->n_place; k++) next[s->point[k] + 1]++;
    for (size_t a = 0; a < n_point; a++) next[a + 1] += next[a];
    for (int64_t k = 0; k < s->n_place; k++) s->point_place[next[s->point[k]]++] = (uint32_t)k;
    return HX_OK;
}

static int create_space(hx_space *s)
{
    HX_TRY(hx_alloc(&s->rule, HX_N_RULE, sizeof *s->rule, WHAT));
    for (int k = 0; k < HX_N_RULE; k++) hx_cell_rule_make(k, &s->rule[k]);
    HX_TRY(find_kinds(s));
    HX_TRY(place_cells(s));
    HX_TRY(make_edges(s));
    const int64_t n_node = s->mesh->n_node;
    HX_TRY(hx_alloc_raw(&s->xyz, 3 * (size_t)s->n_point, sizeof *s->xyz, WHAT));
    memcpy(s->xyz, s->mesh->xyz, 3 * (size_t)n_node * sizeof *s->xyz);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < s->n_edge; k++)
        for (int i = 0; i < 3; i++)
            s->xyz[3 * (n_node + k) + i] = 0.5 * (s->xyz[3 * (int64_t)s->edge[2 * k] + i] +
                                                  s->xyz[3 * (int64_t)s->edge[2 * k + 1] + i]);
    HX_TRY(hx_space_curve(s));
    return hx_space_list_cells(s);
}

int hx_space_create(hx_space *space, const hx_mesh *mesh, hx_element element)
{
    *space = hx_space_linear(mesh);
    if (element == HX_ELEMENT_LINEAR) return HX_OK;
    if (element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINTERNAL, "a spline space needs the spline of its mesh");
    *space = (hx_space){.mesh = mesh, .element = element};
    const int rc = create_space(space);
    if (rc < 0) hx_space_free(space);
    return rc;
}

size_t hx_space_bytes(const hx_space *s)
{
    if (s->element == HX_ELEMENT_LINEAR) return 0;
    const size_t n_point = (size_t)s->n_point, n_place = (size_t)s->n_place;
    const size_t n_elem = (size_t)s->mesh->n_elem;
    if (s->element == HX_ELEMENT_SPLINE) {
        const hx_spline_rule *const rule = s->spline_rule;
        size_t held = n_point * (3 * sizeof(double) + sizeof(int64_t)) + 2 * sizeof(int64_t) +
                      n_place * (sizeof(int32_t) + sizeof(uint32_t)) +
                      (size_t)rule->n_table * sizeof(double) + sizeof *rule;
        if (rule->weight) held += n_point * sizeof(double);
        if (!s->n_per_cell) held += 2 * (n_elem + 1) * sizeof(int64_t) + n_place * sizeof(int32_t);
        return held;
    }
    size_t bytes = n_point * (3 * sizeof(double) + sizeof(int64_t)) + 2 * sizeof(int64_t) +
                   n_place * (sizeof(int32_t) + sizeof(uint32_t)) +
                   (size_t)s->n_edge * 2 * sizeof(int32_t) + n_elem + HX_N_RULE * sizeof *s->rule;
    if (!s->n_per_cell) bytes += 2 * (n_elem + 1) * sizeof(int64_t) + n_place * sizeof(int32_t);
    return bytes;
}

double hx_space_map(const hx_space *space, int64_t cell, int q, double at[3])
{
    return hx_space_map_by(space, cell, &space->rule[space->kind[cell]], q, at);
}

double hx_space_map_by(const hx_space *space, int64_t cell, const hx_cell_rule *rule, int q,
                       double at[3])
{
    double j[3][3] = {{0.0}}, normal[3];
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    at[0] = at[1] = at[2] = 0.0;
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) {
            const double x = space->xyz[3 * (int64_t)point[a] + i];
            at[i] += rule->shape[q][a] * x;
            for (int k = 0; k < 3; k++) j[k][i] += rule->gradient[q][k][a] * x;
        }
    hx_cross3(j[1], j[2], normal);
    return hx_dot3(j[0], normal);
}

static int append(char *text, size_t n_text, int n, const char *word)
{
    const int more = snprintf(text + n, n_text - (size_t)n, "%s%s", n > 0 ? " and " : "", word);
    return n + more < (int)n_text ? n + more : n;
}

const char *hx_space_text(const hx_space *space, char *text, size_t n_text)
{
    int n = 0;
    if (space->element == HX_ELEMENT_SPLINE) {
        const hx_spline_rule_patch *const p = space->spline_rule->patch;
        snprintf(text, n_text, "splines of degree %d x %d x %d", p->degree[0], p->degree[1],
                 p->degree[2]);
        return text;
    }
    static const char *const linear[HX_N_SOLID] = {"hex8", "wedge6", "pyramid5", "tet4"};
    for (int k = 0; space->element == HX_ELEMENT_LINEAR && k < HX_N_SOLID; k++)
        if (space->mesh->n_kind[k] > 0) n = append(text, n_text, n, linear[k]);
    for (int k = 0; k < HX_N_CELL_RULE; k++)
        if (space->n_kind[k] > 0) n = append(text, n_text, n, hx_cell_rule_name((hx_cell_kind)k));
    return text;
}

int hx_space_bodies(const hx_space *space, const uint8_t *is_there, int32_t *body, int64_t *n_body)
{
    const hx_connections cells = {.n_point = space->n_point,
                                  .n_cell = space->mesh->n_elem,
                                  .n_per_cell = space->n_per_cell,
                                  .cell_ptr = space->cell_ptr,
                                  .point = space->point,
                                  .is_there = is_there};
    return hx_find_bodies(&cells, body, n_body);
}

void hx_space_free(hx_space *s)
{
    if (s->element != HX_ELEMENT_LINEAR) {
        free(s->xyz);
        free(s->point);
        free(s->point_ptr);
        free(s->point_place);
        free(s->edge);
        free(s->kind);
        free(s->cell_ptr);
        free(s->pair_ptr);
        free(s->place_cell);
        free(s->rule);
        if (s->spline_rule) hx_spline_rule_free(s->spline_rule);
        free(s->spline_rule);
    }
    memset(s, 0, sizeof *s);
}
