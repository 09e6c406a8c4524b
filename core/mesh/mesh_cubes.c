/* A grid of unit cubes as a mesh in the order of hx_mesh_reorder, generated directly in this order,
 * without sorting. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../base/vectorised.h"
#include "hilbert_walk.h"
#include "mesh_internal.h"
#include "mesh_source.h"

static const char what[] = "a mesh of cubes";

/* Corner of a cube by its position along x, y, z, 0 or 1. */
static const uint32_t corner_at[2][2][2] = {{{0, 4}, {3, 7}}, {{1, 5}, {2, 6}}};

typedef struct cubes {
    const hx_mesh_source *source;
    int64_t off[8];       /* from a cube's lowest node to that of each corner */
    int32_t *elem, *node; /* per element and node of the mesh: number in the source */
    /* per cube of the source: position in the mesh; later per cube of the mesh: lowest node */
    uint32_t *place;
    uint32_t *number; /* per node of the source: the first position in conn[]; later its number */
    uint8_t *met;     /* per cube of the mesh: bit a: no earlier cube names the node of corner a */
    double *xyz;
    int32_t *conn;
    uint64_t *in_set;
    /* number of the first node that each part of the cubes names first */
    int64_t first[HX_N_PART + 1];
} cubes;

static void lay_corners(cubes *c)
{
    const int64_t row = c->source->cubes[0] + 1, up = row * (c->source->cubes[1] + 1);
    for (int x = 0; x < 2; x++)
        for (int y = 0; y < 2; y++)
            for (int z = 0; z < 2; z++) c->off[corner_at[x][y][z]] = x + y * row + z * up;
}

HX_INLINED void take_least(uint32_t *entry, const uint32_t *place, int64_t n, uint32_t corner)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t value = 8 * place[i] + corner;
        entry[i] = value < entry[i] ? value : entry[i];
    }
}

/* entry[n + 1] for a row of n cubes along x: the lowest position in conn[] at which a cube of the
 * row names each node. lower and upper: the corners concerned. */
HX_INLINED void meet_row_lanes(uint32_t *entry, const uint32_t *place, int64_t n, uint32_t lower,
                               uint32_t upper)
{
    take_least(entry, place, n, lower);
    take_least(entry + 1, place, n, upper);
}

HX_VERSIONS_UNFUSED(meet_row,
                    (uint32_t * entry, const uint32_t *place, int64_t n, uint32_t lower,
                     uint32_t upper),
                    (entry, place, n, lower, upper))

/* For a row of nodes along x: number[node] := the first position in the connectivity that names the
 * node. One of the up to eight cubes around the node has that position. */
static void find_first_places(const cubes *c, int64_t j, int64_t k)
{
    const int64_t *const n = c->source->cubes;
    uint32_t *const first = c->number + (k * (n[1] + 1) + j) * (n[0] + 1);
    for (int64_t i = 0; i <= n[0]; i++) first[i] = UINT32_MAX;
    for (int y = 0; y < 2; y++)
        for (int z = 0; z < 2; z++)
            if (j >= y && k >= z && j - y < n[1] && k - z < n[2])
                meet_row(first, c->place + ((k - z) * n[1] + j - y) * n[0], n[0],
                         corner_at[0][y][z], corner_at[1][y][z]);
}

/* Lowest node of a cube of the source. */
static uint32_t lowest_node(const cubes *c, uint32_t cube)
{
    const uint32_t n0 = (uint32_t)c->source->cubes[0], n1 = (uint32_t)c->source->cubes[1];
    const uint32_t row = cube / n0;
    return cube + row + row / n1 * (n0 + 1);
}

/* Bits of the corners whose nodes a cube names first; *n increases by their number. */
static uint8_t corners_met(const cubes *c, uint32_t low, uint32_t elem, int64_t *n)
{
    uint32_t met = 0;
    for (uint32_t a = 0; a < 8; a++) {
        const uint32_t is_first = c->number[low + c->off[a]] == 8 * elem + a;
        met |= is_first << a;
        *n += is_first;
    }
    return (uint8_t)met;
}

/* Finds which nodes each cube names first, and their number in each part of the cubes. */
static void meet_nodes(cubes *c)
{
    const int64_t n = c->source->n_elem;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t count = 0;
        for (int64_t e = hx_part_begin(n, part); e < hx_part_begin(n, part + 1); e++) {
            c->place[e] = lowest_node(c, (uint32_t)c->elem[e]);
            c->met[e] = corners_met(c, c->place[e], (uint32_t)e, &count);
        }
        c->first[part + 1] = count;
    }
    for (int part = 0; part < HX_N_PART; part++) c->first[part + 1] += c->first[part];
}

/* Numbers the nodes that a part of the cubes names first, and requests their coordinates. */
static int number_part(const cubes *c, int part)
{
    enum { ROOM = 1024 };
    const hx_mesh_source *const s = c->source;
    const int64_t end = hx_part_begin(s->n_elem, part + 1);
    int64_t next = c->first[part], node[ROOM];
    for (int64_t e = hx_part_begin(s->n_elem, part); e < end;) {
        int64_t n = 0;
        for (; e < end && n <= ROOM - 8; e++)
            for (uint32_t met = c->met[e]; met; met &= met - 1) {
                const int64_t of = c->place[e] + c->off[__builtin_ctz(met)];
                c->number[of] = (uint32_t)(next + n);
                c->node[next + n] = (int32_t)of;
                node[n++] = of;
            }
        HX_TRY(s->nodes(s, n, node, c->xyz + 3 * next, c->in_set ? c->in_set + next : NULL));
        next += n;
    }
    return HX_OK;
}

static int fill_cubes(cubes *c)
{
    const int64_t *const n = c->source->cubes;
    int rc = HX_OK;
    lay_corners(c);
    HX_TRY(hx_hilbert_walk(n, c->elem, c->place));
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < (n[1] + 1) * (n[2] + 1); row++)
        find_first_places(c, row % (n[1] + 1), row / (n[1] + 1));
    meet_nodes(c);
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int part = 0; part < HX_N_PART; part++) {
        const int own = number_part(c, part);
        rc = own < rc ? own : rc;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < c->source->n_elem; e++)
        for (int a = 0; a < 8; a++)
            c->conn[8 * e + a] = (int32_t)c->number[c->place[e] + c->off[a]];
    return rc;
}

int hx_source_mesh_in_order(const hx_mesh_source *s, hx_mesh *mesh)
{
    cubes c = {.source = s};
    int rc;
    memset(mesh, 0, sizeof *mesh);
    if (s->cubes[0] == 0 || s->n_elem > HX_MAX_ELEM || s->n_node > INT32_MAX)
        return hx_source_mesh(s, mesh);
    const size_t n_elem = (size_t)c.source->n_elem, n_node = (size_t)c.source->n_node;
    HX_TRY_FAIL(hx_alloc_raw(&c.elem, n_elem, sizeof *c.elem, what));
    HX_TRY_FAIL(hx_alloc_raw(&c.place, n_elem, sizeof *c.place, what));
    HX_TRY_FAIL(hx_alloc_raw(&c.met, n_elem, sizeof *c.met, what));
    HX_TRY_FAIL(hx_alloc_raw(&c.conn, 8 * n_elem, sizeof *c.conn, "elements"));
    HX_TRY_FAIL(hx_alloc_raw(&c.number, n_node, sizeof *c.number, what));
    HX_TRY_FAIL(hx_alloc_raw(&c.node, n_node, sizeof *c.node, what));
    HX_TRY_FAIL(hx_alloc_raw(&c.xyz, 3 * n_node, sizeof *c.xyz, "coordinates"));
    if (hx_source_has_sets(c.source, 0))
        HX_TRY_FAIL(hx_alloc_raw(&c.in_set, n_node, sizeof *c.in_set, what));
    HX_TRY_FAIL(fill_cubes(&c));
    hx_free_large(c.place, (size_t)s->n_elem * sizeof *c.place);
    hx_free_large(c.number, (size_t)s->n_node * sizeof *c.number);
    free(c.met);
    c.place = c.number = NULL;
    c.met = NULL;
    rc = hx_mesh_create(mesh, s->name, s->n_node, c.xyz, s->n_elem, c.conn);
    c.xyz = NULL; /* the mesh owns the arrays even if that failed */
    c.conn = NULL;
    if (rc < 0) goto fail;
    mesh->elem_orig = c.elem;
    mesh->node_orig = c.node;
    c.elem = c.node = NULL;
    rc = hx_source_add_sets(s, mesh, (uint64_t *const[]){c.in_set, NULL});
fail:
    free(c.elem);
    free(c.node);
    free(c.place);
    free(c.number);
    free(c.met);
    free(c.xyz);
    free(c.conn);
    hx_free_large(c.in_set, (size_t)s->n_node * sizeof *c.in_set);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}
