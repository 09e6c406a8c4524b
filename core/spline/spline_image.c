#include "spline_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../mesh/hex_jacobian.h"
#include "../mesh/mesh_internal.h"
#include "spline_sides.h"
#include "spline_volume.h"

enum { SIDE_TEXT = 40, MOST_PARTS = 7 };

/* Parameters of a hexahedron's corners along u, v, w. */
static const int corner_at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};

/* --- nodes --- */

/* Numbers the corners of the parts of all spans as nodes. With one part per span this is
 * hx_spline_image_nodes. */
static int number_image_nodes(const hx_spline *spline, int part, int64_t **first, int32_t **nodes,
                              int64_t *n_node)
{
    int32_t *root = NULL;
    int(*n)[3] = NULL, rc;
    *first = NULL;
    *nodes = NULL;
    *n_node = 0;
    HX_TRY(hx_alloc(&n, (size_t)spline->n_patch, sizeof *n, "patches"));
    for (int k = 0; k < 3 * spline->n_patch; k++)
        n[k / 3][k % 3] = part * spline->patch[k / 3].axis[k % 3].n_span + 1;
    HX_TRY_FAIL(hx_spline_unite(spline, n, first, &root));
    const int64_t n_corner = (*first)[spline->n_patch];
    HX_TRY_FAIL(hx_alloc_raw(nodes, (size_t)n_corner, sizeof **nodes, "nodes of spans"));
    for (int64_t i = 0; i < n_corner; i++)
        (*nodes)[i] = root[i] == i ? (int32_t)(*n_node)++ : (*nodes)[root[i]];
    free(n);
    free(root);
    return HX_OK;
fail:
    free(n);
    free(root);
    free(*first);
    *first = NULL;
    return rc;
}

int hx_spline_image_nodes(const hx_spline *spline, int64_t **first, int32_t **nodes,
                          int64_t *n_node)
{
    return number_image_nodes(spline, 1, first, nodes, n_node);
}

/* The knot at which part i of the spans begins; for the end of the last part, the last knot. */
static double knot_at(const hx_knots *axis, int i, int part)
{
    if (i == part * axis->n_span) return axis->knot[axis->n];
    const double *const knot = axis->knot + axis->span[i / part];
    return i % part ? knot[0] + (knot[1] - knot[0]) * (i % part) / part : knot[0];
}

/* owner[node]: the node's first corner, counted over all patches. */
static void place_nodes(const hx_spline_patch *patch, int part, int64_t first, const int32_t *node,
                        const int64_t *owner, double *xyz)
{
    const int64_t n[3] = {part * patch->axis[0].n_span + 1, part * patch->axis[1].n_span + 1,
                          part * patch->axis[2].n_span + 1};
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int at[3] = {(int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1])};
        double t[3];
        if (owner[node[i]] != first + i) continue;
        for (int d = 0; d < 3; d++) t[d] = knot_at(&patch->axis[d], at[d], part);
        hx_spline_map(patch, t, xyz + 3 * (int64_t)node[i], NULL);
    }
}

/* The parts of a cell are consecutive, with u fastest. */
static void connect(const hx_spline_patch *patch, int part, const int32_t *node, int32_t *conn)
{
    const int64_t n[2] = {part * patch->axis[0].n_span + 1, part * patch->axis[1].n_span + 1};
    const int64_t n_part = (int64_t)part * part * part;
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < n_part * hx_spline_patch_cells(patch); c++) {
        int span[3];
        const int64_t cell = patch->first_cell + c / n_part, k = c % n_part;
        const int64_t in[3] = {k % part, k / part % part, k / part / part};
        hx_spline_patch_spans(patch, cell, span);
        for (int a = 0; a < 8; a++) {
            int64_t at[3];
            for (int d = 0; d < 3; d++) at[d] = (int64_t)part * span[d] + in[d] + corner_at[a][d];
            conn[8 * (n_part * cell + k) + a] = node[(at[2] * n[1] + at[1]) * n[0] + at[0]];
        }
    }
}

/* --- spans whose hexahedra are invalid --- */

/* Returns 1 if the hexahedra are valid after the span has been divided into part[d] parts per
 * direction. */
static int is_valid_in_parts(const hx_spline_patch *patch, const int span[3], const int part[3])
{
    double t[3][HX_SPLINE_MAX_SAMPLES];
    double x[HX_SPLINE_MAX_SAMPLES * HX_SPLINE_MAX_SAMPLES * HX_SPLINE_MAX_SAMPLES][3];
    const int n[3] = {part[0] + 1, part[1] + 1, part[2] + 1};
    for (int d = 0; d < 3; d++) {
        const double *const knot = patch->axis[d].knot + patch->axis[d].span[span[d]];
        for (int q = 0; q < n[d]; q++) t[d][q] = knot[0] + (knot[1] - knot[0]) * q / part[d];
    }
    hx_spline_sample(patch, span, n, t, &x[0][0], NULL);
    for (int k = 0; k < part[0] * part[1] * part[2]; k++) {
        const int at[3] = {k % part[0], k / part[0] % part[1], k / part[0] / part[1]};
        int32_t conn[8];
        for (int a = 0; a < 8; a++)
            conn[a] = ((at[2] + corner_at[a][2]) * n[1] + at[1] + corner_at[a][1]) * n[0] + at[0] +
                      corner_at[a][0];
        if (!hx_mesh_is_valid_element(&x[0][0], conn)) return 0;
    }
    return 1;
}

/* The smallest number of parts for which the span's hexahedra are valid: along one direction if
 * that suffices, otherwise along all. 0: none of the tried numbers does. */
static int find_parts(const hx_spline_patch *patch, const int span[3], int part[3])
{
    for (int n = 2; n <= MOST_PARTS; n++)
        for (int d = 0; d < 4; d++) {
            for (int k = 0; k < 3; k++) part[k] = d == k || d == 3 ? n : 1;
            if (is_valid_in_parts(patch, span, part)) return 1;
        }
    return 0;
}

static int raise_span(const hx_spline *spline, int k, int64_t cell, int64_t n_bad)
{
    int span[3], part[3];
    char help[96] = "det J is not positive at a corner, and no refinement helps";
    const hx_spline_patch *const patch = &spline->patch[k];
    hx_spline_patch_spans(patch, cell, span);
    if (find_parts(patch, span, part))
        snprintf(help, sizeof help, "multiply mesh.refine (default [1, 1, 1]) by [%d, %d, %d]",
                 part[0], part[1], part[2]);
    return HX_RAISE(HX_EINPUT,
                    "patch %d, span (%d, %d, %d): the spline is valid there, but the hexahedron "
                    "between the span's corners is not (%lld such %s); %s",
                    k + 1, span[0] + 1, span[1] + 1, span[2] + 1, (long long)n_bad,
                    hx_noun(n_bad, "span", "spans"), help);
}

static int check_hexahedra(const hx_spline *spline, const double *xyz, const int32_t *conn)
{
    for (int k = 0; k < spline->n_patch; k++) {
        const int64_t first = spline->patch[k].first_cell;
        const int64_t end = first + hx_spline_patch_cells(&spline->patch[k]);
        int64_t bad = INT64_MAX, n_bad = 0;
#pragma omp parallel for schedule(static) reduction(min : bad) reduction(+ : n_bad)
        for (int64_t c = first; c < end; c++) {
            if (hx_mesh_is_valid_element(xyz, conn + 8 * c)) continue;
            bad = c < bad ? c : bad;
            n_bad++;
        }
        if (n_bad > 0) return raise_span(spline, k, bad, n_bad);
    }
    return HX_OK;
}

/* --- sets --- */

/* Faces of the elements at a side; the caller frees *face. */
static int list_side_faces(const hx_spline_patch *patch, int side, int64_t *n, int64_t **face)
{
    int along[2];
    const int n_span[3] = {patch->axis[0].n_span, patch->axis[1].n_span, patch->axis[2].n_span};
    static const int plain[2] = {0, 0};
    hx_spline_tangents(side, along);
    const hx_spline_grid grid = hx_spline_grid_of(n_span, side, along, plain);
    *n = (int64_t)grid.n[0] * grid.n[1];
    HX_TRY(hx_alloc_raw(face, (size_t)*n, sizeof **face, "faces of a side"));
    for (int64_t i = 0; i < *n; i++)
        (*face)[i] = 6 * (patch->first_cell +
                          hx_spline_grid_at(&grid, (int)(i % grid.n[0]), (int)(i / grid.n[0]))) +
                     side;
    return HX_OK;
}

static int add_side(const hx_spline *spline, hx_spline_side side, const char *name, hx_mesh *mesh)
{
    int64_t n, *face = NULL;
    HX_TRY(list_side_faces(&spline->patch[side.patch], side.side, &n, &face));
    const int rc = hx_mesh_add_face_set(mesh, name, n, face);
    free(face);
    return rc;
}

static int is_glued(const hx_spline *spline, hx_spline_side side)
{
    for (int k = 0; k < spline->n_interface; k++) {
        const hx_spline_interface *const f = &spline->interface[k];
        if (f->a.patch == side.patch && f->a.side == side.side) return 1;
        if (f->b.patch == side.patch && f->b.side == side.side) return 1;
    }
    return 0;
}

static int add_sets(const hx_spline *spline, hx_mesh *mesh)
{
    for (int k = 0; k < 6 * spline->n_patch; k++) {
        const hx_spline_side side = {k / 6, k % 6};
        char text[SIDE_TEXT];
        if (is_glued(spline, side)) continue;
        HX_TRY(add_side(spline, side, hx_spline_side_name(spline, side, text, sizeof text), mesh));
    }
    for (int k = 0; k < spline->n_boundary; k++)
        for (int i = 0; i < spline->boundary[k].n_side; i++)
            HX_TRY(add_side(spline, spline->boundary[k].side[i], spline->boundary[k].name, mesh));
    return HX_OK;
}

/* --- the mesh --- */

/* Creates nodes and elements, with part^3 hexahedra per span. */
static int fill_image(const hx_spline *spline, int part, double **xyz, int32_t **conn,
                      int64_t *n_node)
{
    const size_t n_elem = (size_t)spline->n_cell * (size_t)(part * part * part);
    int64_t *first = NULL, *owner = NULL;
    int32_t *node = NULL;
    int rc;
    HX_TRY(number_image_nodes(spline, part, &first, &node, n_node));
    HX_TRY_FAIL(hx_alloc_raw(xyz, 3 * (size_t)*n_node, sizeof **xyz, "nodes"));
    HX_TRY_FAIL(hx_alloc_raw(conn, 8 * n_elem, sizeof **conn, "elements"));
    HX_TRY_FAIL(hx_alloc_raw(&owner, (size_t)*n_node, sizeof *owner, "nodes of spans"));
    for (int64_t i = first[spline->n_patch] - 1; i >= 0; i--) owner[node[i]] = i;
    for (int k = 0; k < spline->n_patch; k++) {
        place_nodes(&spline->patch[k], part, first[k], node + first[k], owner, *xyz);
        connect(&spline->patch[k], part, node + first[k], *conn);
    }
fail:
    free(first);
    free(owner);
    free(node);
    return rc;
}

int hx_spline_image(const hx_spline *spline, const char *name, hx_mesh *mesh)
{
    double *xyz = NULL, *volume = NULL;
    int32_t *conn = NULL;
    int64_t n_node;
    int rc;
    *mesh = (hx_mesh){0};
    if (spline->n_cell > HX_MAX_ELEM)
        return HX_RAISE(HX_EINPUT, "the spline has %lld %s; a mesh can have at most %lld elements",
                        (long long)spline->n_cell, hx_noun(spline->n_cell, "span", "spans"),
                        (long long)HX_MAX_ELEM);
    HX_TRY_FAIL(hx_alloc_raw(&volume, (size_t)spline->n_cell, sizeof *volume, "volumes"));
    HX_TRY_FAIL(hx_spline_volumes(spline, volume));
    HX_TRY_FAIL(fill_image(spline, 1, &xyz, &conn, &n_node));
    HX_TRY_FAIL(check_hexahedra(spline, xyz, conn));
    rc = hx_mesh_create(mesh, name, n_node, xyz, spline->n_cell, conn);
    xyz = NULL;
    conn = NULL;
    if (rc < 0) goto fail;
    mesh->volume = volume;
    volume = NULL;
    rc = add_sets(spline, mesh);
    if (rc == HX_OK) return HX_OK;
fail:
    free(volume);
    free(xyz);
    free(conn);
    hx_mesh_free(mesh);
    return rc;
}

int hx_spline_fine_image(const hx_spline *spline, int part, double **xyz, int32_t **conn,
                         int64_t *n_node)
{
    const int64_t n_elem = spline->n_cell * part * part * part;
    int64_t bad = INT64_MAX;
    *xyz = NULL;
    *conn = NULL;
    if (n_elem > HX_MAX_ELEM)
        return HX_RAISE(HX_EINPUT,
                        "%lld %s with %d^3 hexahedra each exceed the limit of %lld elements",
                        (long long)spline->n_cell, hx_noun(spline->n_cell, "span", "spans"), part,
                        (long long)HX_MAX_ELEM);
    int rc = fill_image(spline, part, xyz, conn, n_node);
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t e = 0; e < (rc == HX_OK ? n_elem : 0); e++)
        if (!hx_mesh_is_valid_element(*xyz, *conn + 8 * e)) bad = e < bad ? e : bad;
    if (rc == HX_OK && bad < INT64_MAX)
        rc = HX_RAISE(HX_EINPUT, "cell %lld of the spline: one of its %d^3 hexahedra is not valid",
                      (long long)(bad / (n_elem / spline->n_cell)) + 1, part);
    if (rc == HX_OK) return HX_OK;
    free(*xyz);
    free(*conn);
    *xyz = NULL;
    *conn = NULL;
    return rc;
}

void hx_spline_image_volumes(const hx_mesh *mesh, double *image, double *exact)
{
    *image = *exact = 0.0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        *image += hx_hex_volume(&map);
        *exact += mesh->volume[e];
    }
}
