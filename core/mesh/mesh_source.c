#include "mesh_source.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "mesh_internal.h"

static const char what[] = "a mesh from its source";

/* Items that a thread requests at a time. */
enum { BLOCK = 1024 };

static int64_t block_end(int64_t begin, int64_t n)
{
    return n - begin < BLOCK ? n : begin + BLOCK;
}

int hx_source_elements(const hx_mesh_source *s, int64_t n, const int64_t *elem, int64_t *conn,
                       uint64_t *in_set)
{
    int rc = HX_OK;
    if (!s->is_local) return s->elements(s, n, elem, conn, in_set);
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int own = s->elements(s, block_end(at, n) - at, elem + at, conn + 8 * at,
                                    in_set ? in_set + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

int hx_source_nodes(const hx_mesh_source *s, int64_t n, const int64_t *node, double *xyz,
                    uint64_t *in_set)
{
    int rc = HX_OK;
    if (!s->is_local) return s->nodes(s, n, node, xyz, in_set);
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int own = s->nodes(s, block_end(at, n) - at, node + at, xyz + 3 * at,
                                 in_set ? in_set + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

/* number[] := begin, begin + 1, ... end - 1. */
static void list_run(int64_t begin, int64_t end, int64_t *number)
{
    for (int64_t i = begin; i < end; i++) number[i - begin] = i;
}

/* Coordinates of all nodes; sets[n_node], which may be NULL: bit i is set if the node is in set
 * i. */
static int fill_nodes(const hx_mesh_source *s, double *xyz, uint64_t *sets)
{
    int rc = HX_OK;
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < s->n_node; at += BLOCK) {
        const int64_t end = block_end(at, s->n_node);
        int64_t node[BLOCK];
        list_run(at, end, node);
        const int own = s->nodes(s, end - at, node, xyz + 3 * at, sets ? sets + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

static int fill_elements(const hx_mesh_source *s, int32_t *conn, uint64_t *sets)
{
    int rc = HX_OK;
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < s->n_elem; at += BLOCK) {
        const int64_t end = block_end(at, s->n_elem);
        int64_t elem[BLOCK], node[8 * BLOCK];
        list_run(at, end, elem);
        const int own = s->elements(s, end - at, elem, node, sets ? sets + at : NULL);
        for (int64_t k = 0; k < 8 * (end - at); k++) conn[8 * at + k] = (int32_t)node[k];
        rc = own < rc ? own : rc;
    }
    return rc;
}

/* The members of each set, as lists. */
typedef struct marked {
    /* [HX_N_PART + 1] members of each set in the parts before; the last entry is the total */
    int64_t (*first)[HX_SOURCE_SETS];
    int32_t *list[HX_SOURCE_SETS];
} marked;

/* Index of the lowest bit, that is, of the first set. */
static int lowest(uint64_t sets)
{
    return __builtin_ctzll(sets);
}

static void count_part(int64_t n, const uint64_t *marks, uint64_t sets, int part, int64_t *count)
{
    for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++)
        /* NOLINTNEXTLINE(clang-analyzer-core*): marks exist if there are sets */
        for (uint64_t in = marks[i] & sets; in; in &= in - 1) count[lowest(in)]++;
}

static void list_part(int64_t n, const uint64_t *marks, uint64_t sets, int part, marked *m)
{
    int64_t next[HX_SOURCE_SETS];
    memcpy(next, m->first[part], sizeof next);
    for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++)
        for (uint64_t in = marks[i] & sets; in; in &= in - 1)
            m->list[lowest(in)][next[lowest(in)]++] = (int32_t)i;
}

/* Lists the members of these sets in two passes over the marks, regardless of the number of
 * sets. */
static int list_marked(int64_t n, const uint64_t *marks, uint64_t sets, marked *m)
{
    HX_TRY(hx_alloc(&m->first, HX_N_PART + 1, sizeof *m->first, what));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        count_part(n, marks, sets, part, m->first[part + 1]);
    for (int part = 0; part < HX_N_PART; part++)
        for (int b = 0; b < HX_SOURCE_SETS; b++) m->first[part + 1][b] += m->first[part][b];
    for (uint64_t left = sets; left; left &= left - 1) {
        int32_t **const list = &m->list[lowest(left)];
        const int64_t n_in = m->first[HX_N_PART][lowest(left)];
        HX_TRY(hx_alloc_raw(list, (size_t)n_in, sizeof **list, what));
    }
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) list_part(n, marks, sets, part, m);
    return HX_OK;
}

static void free_marked(marked *m)
{
    for (int b = 0; b < HX_SOURCE_SETS; b++) free(m->list[b]);
    free(m->first);
}

/* Bits of the sets of elements, or of those of nodes. */
static uint64_t sets_of(const hx_mesh_source *s, int of_elements)
{
    uint64_t sets = 0;
    for (int i = 0; i < s->n_set; i++)
        if (s->set[i].of_both || s->set[i].of_elements == of_elements) sets |= (uint64_t)1 << i;
    return sets;
}

int hx_source_has_sets(const hx_mesh_source *s, int of_elements)
{
    return sets_of(s, of_elements) != 0;
}

int hx_source_add_sets(const hx_mesh_source *s, hx_mesh *mesh, uint64_t *const in_set[2])
{
    const int64_t n[2] = {mesh->n_node, mesh->n_elem};
    const uint64_t sets[2] = {sets_of(s, 0), sets_of(s, 1)};
    marked m[2] = {{NULL, {NULL}}, {NULL, {NULL}}};
    int rc = HX_OK;
    for (int of = 0; of < 2; of++)
        if (sets[of]) HX_TRY_FAIL(list_marked(n[of], in_set[of], sets[of], &m[of]));
    for (int i = 0; i < s->n_set; i++) {
        if (m[0].list[i])
            HX_TRY_FAIL(
                hx_mesh_add_node_set(mesh, s->set[i].name, m[0].first[HX_N_PART][i], m[0].list[i]));
        if (m[1].list[i])
            HX_TRY_FAIL(
                hx_mesh_add_elem_set(mesh, s->set[i].name, m[1].first[HX_N_PART][i], m[1].list[i]));
    }
    for (size_t i = 0; i < s->n_shared; i++)
        HX_TRY_FAIL(
            hx_mesh_share_name(mesh, s->shared[i].name, (const char *const *)s->shared[i].set));
    if (s->sorts_sets) hx_mesh_sort_sets(mesh);
fail:
    for (int of = 0; of < 2; of++) free_marked(&m[of]);
    return rc;
}

int hx_source_mesh(const hx_mesh_source *s, hx_mesh *mesh)
{
    double *xyz = NULL;
    int32_t *conn = NULL;
    uint64_t *in_set[2] = {NULL, NULL};
    int rc;
    memset(mesh, 0, sizeof *mesh);
    for (int of = 0; of < 2; of++)
        if (hx_source_has_sets(s, of))
            HX_TRY_FAIL(hx_alloc_raw(&in_set[of], (size_t)(of ? s->n_elem : s->n_node),
                                     sizeof(uint64_t), what));
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)s->n_node, sizeof *xyz, "coordinates"));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)s->n_elem, sizeof *conn, "elements"));
    HX_TRY_FAIL(fill_nodes(s, xyz, in_set[0]));
    HX_TRY_FAIL(fill_elements(s, conn, in_set[1]));
    rc = hx_mesh_create(mesh, s->name, s->n_node, xyz, s->n_elem, conn);
    xyz = NULL; /* the mesh owns the arrays even if that failed */
    conn = NULL;
    if (rc == HX_OK) rc = hx_source_add_sets(s, mesh, in_set);
fail:
    free(xyz);
    free(conn);
    for (int of = 0; of < 2; of++)
        hx_free_large(in_set[of], (size_t)(of ? s->n_elem : s->n_node) * sizeof(uint64_t));
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}

void hx_source_close(hx_mesh_source *s)
{
    if (s->close) s->close(s);
    memset(s, 0, sizeof *s);
}
