/* Boxes of every kind of cell, as collapsed hexahedra. */
#include <math.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "selftest_sample.h"

enum { CENTRE = 8, MOST = 7 /* cells in a box cell */ };

typedef struct builder {
    const hx_sample_spec *spec;
    double *xyz;
    int32_t *conn;
    int64_t n_node, n_elem;
} builder;

const char *hx_sample_name(hx_sample_cells cells)
{
    static const char *const name[] = {"hexahedra", "tetrahedra", "mixed cells"};
    return name[cells];
}

hx_sample_spec hx_sample_box(hx_sample_cells cells, int nx, int ny, int nz)
{
    return (hx_sample_spec){.cells = cells,
                            .n = {nx, ny, nz},
                            .length = {nx, ny, nz},
                            .distort = cells == HX_SAMPLE_HEXAHEDRA ? 0.15 : 0.1,
                            .contrast = 1.0};
}

static int32_t node_at(const hx_sample_spec *spec, int i, int j, int k)
{
    return (int32_t)((k * (spec->n[1] + 1) + j) * (spec->n[0] + 1) + i);
}

static void place_nodes(builder *b)
{
    const hx_sample_spec *const spec = b->spec;
    for (int k = 0; k <= spec->n[2]; k++)
        for (int j = 0; j <= spec->n[1]; j++)
            for (int i = 0; i <= spec->n[0]; i++) {
                const int at[3] = {i, j, k};
                const int64_t node = node_at(spec, i, j, k);
                for (int d = 0; d < 3; d++) {
                    const int is_held = at[d] == 0 || at[d] == spec->n[d];
                    const double move =
                        is_held ? 0.0
                                : hx_sample_random(17, 3 * node + d, -spec->distort, spec->distort);
                    b->xyz[3 * node + d] = spec->length[d] * (at[d] + move) / spec->n[d];
                }
            }
    b->n_node = (int64_t)(spec->n[0] + 1) * (spec->n[1] + 1) * (spec->n[2] + 1);
}

/* Adds a cell of `n` points, the last of which is repeated for the remaining corners; tetrahedra
 * and wedges list all eight. */
static void put_sample_cell(builder *b, const int32_t node[9], const int place[8])
{
    for (int a = 0; a < 8; a++) b->conn[8 * b->n_elem + a] = node[place[a]];
    b->n_elem++;
}

static void put_tetrahedron(builder *b, const int32_t node[9], int p, int q, int r, int s)
{
    const int place[8] = {p, q, r, r, s, s, s, s};
    put_sample_cell(b, node, place);
}

/* Six tetrahedra, along the six paths from corner 0 to corner 6 over edges. */
static void put_tetrahedra(builder *b, const int32_t node[9])
{
    static const int ring[7] = {1, 2, 3, 7, 4, 5, 1};
    for (int w = 0; w < 6; w++) put_tetrahedron(b, node, 0, ring[w], ring[w + 1], 6);
}

static void put_wedges(builder *b, const int32_t node[9])
{
    static const int wedge[2][8] = {{0, 1, 2, 2, 4, 5, 6, 6}, {0, 2, 3, 3, 4, 6, 7, 7}};
    for (int w = 0; w < 2; w++) put_sample_cell(b, node, wedge[w]);
}

/* Pyramids from every face to a node in the middle; two at the upper face, whose neighbours are
 * wedges. */
static void put_pyramids(builder *b, const int32_t node[9])
{
    for (int f = 0; f < 5; f++) {
        const int *const out = hx_hex_face[f]; /* seen from the middle, reversed */
        const int place[8] = {out[0], out[3], out[2], out[1], CENTRE, CENTRE, CENTRE, CENTRE};
        put_sample_cell(b, node, place);
    }
    put_tetrahedron(b, node, 4, 6, 5, CENTRE);
    put_tetrahedron(b, node, 4, 7, 6, CENTRE);
}

static void put_centre(builder *b, int32_t node[9])
{
    for (int d = 0; d < 3; d++) {
        double sum = 0.0;
        for (int a = 0; a < 8; a++) sum += b->xyz[3 * (int64_t)node[a] + d];
        b->xyz[3 * b->n_node + d] = 0.125 * sum;
    }
    node[CENTRE] = (int32_t)b->n_node++;
}

static void put_box_cell(builder *b, int i, int j, int k)
{
    static const int hexahedron[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    int32_t node[9];
    const int layer = b->spec->cells == HX_SAMPLE_HEXAHEDRA    ? 0
                      : b->spec->cells == HX_SAMPLE_TETRAHEDRA ? 3
                                                               : k;
    for (int a = 0; a < 8; a++)
        node[a] = node_at(b->spec, i + ((a + 1) >> 1) % 2, j + (a >> 1) % 2, k + (a >> 2));
    switch (layer) {
    case 0:
        put_sample_cell(b, node, hexahedron);
        break;
    case 1:
        put_centre(b, node);
        put_pyramids(b, node);
        break;
    case 2:
        put_wedges(b, node);
        break;
    default:
        put_tetrahedra(b, node);
    }
}

static int name_end(hx_mesh *mesh, const char *name, double at)
{
    int32_t *node;
    int64_t n = 0;
    HX_TRY(hx_alloc_raw(&node, (size_t)mesh->n_node, sizeof *node, "nodes of a face"));
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (fabs(mesh->xyz[3 * a] - at) <= 1e-9) node[n++] = (int32_t)a;
    const int rc = hx_mesh_add_node_set(mesh, name, n, node);
    free(node);
    return rc;
}

int hx_sample_make_mesh(hx_mesh *mesh, const hx_sample_spec *spec)
{
    const size_t n_cell = (size_t)spec->n[0] * (size_t)spec->n[1] * (size_t)spec->n[2];
    const size_t n_corner =
        (size_t)(spec->n[0] + 1) * (size_t)(spec->n[1] + 1) * (size_t)(spec->n[2] + 1);
    builder b = {.spec = spec};
    HX_TRY(hx_alloc_raw(&b.xyz, 3 * (n_corner + n_cell), sizeof *b.xyz, "nodes"));
    const int rc = hx_alloc_raw(&b.conn, 8 * MOST * n_cell, sizeof *b.conn, "cells");
    if (rc < 0) {
        free(b.xyz);
        return rc;
    }
    place_nodes(&b);
    for (int k = 0; k < spec->n[2]; k++)
        for (int j = 0; j < spec->n[1]; j++)
            for (int i = 0; i < spec->n[0]; i++) put_box_cell(&b, i, j, k);
    HX_TRY(hx_mesh_create(mesh, hx_sample_name(spec->cells), b.n_node, b.xyz, b.n_elem, b.conn));
    static const char *const corner[3] = {"origin", "corner-y", "corner-z"};
    const int32_t node[3] = {0, node_at(spec, 0, spec->n[1], 0), node_at(spec, 0, 0, spec->n[2])};
    for (int c = 0; c < 3; c++) HX_TRY(hx_mesh_add_node_set(mesh, corner[c], 1, &node[c]));
    HX_TRY(name_end(mesh, "left", 0.0));
    return name_end(mesh, "right", spec->length[0]);
}
