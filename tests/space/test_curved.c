/* Quadratic spaces over meshes with curved edges: the file's mid-edge points through every
 * renumbering, known volumes and areas, faces, and errors. */
#include <math.h>
#include <stdio.h>

#include "core/base/vec3.h"
#include "core/mesh/mesh_check.h"
#include "tests/lib/curved.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

/* A quadratic map, which every quadratic cell of a straight mesh of affine cells represents
 * exactly, and whose cofactors are linear: det = 1 + 0.16 x. */
static void shear(const double x[3], double y[3])
{
    y[0] = x[0] + 0.08 * x[0] * x[0] - 0.05 * x[1] * x[1] + 0.06 * x[1] * x[2];
    y[1] = x[1];
    y[2] = x[2];
}

static const double volume_of_box = 3.0 * 2.0 * 5.0 * (1.0 + 0.08 * 3.0);

/* The middle of every edge is the image of the midpoint of its ends before the map. */
static void check_places(const hx_space *s, const double *straight)
{
    int64_t n_wrong = 0;
    for (int64_t k = 0; k < s->n_edge; k++) {
        const int32_t *const orig = s->mesh->node_orig, *const end = s->edge + 2 * k;
        double x[3], y[3];
        for (int d = 0; d < 3; d++)
            x[d] = 0.5 * (straight[3 * (int64_t)orig[end[0]] + d] +
                          straight[3 * (int64_t)orig[end[1]] + d]);
        shear(x, y);
        n_wrong += memcmp(y, s->xyz + 3 * (s->mesh->n_node + k), sizeof y) != 0;
    }
    CHECK_MSG(n_wrong == 0, "%lld of %lld edges", (long long)n_wrong, (long long)s->n_edge);
}

static double measure_volume(const hx_space *s)
{
    double volume = 0.0;
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        const hx_cell_rule *rule = &s->rule[s->kind[e]];
        int n;
        const int32_t *const point = hx_space_points(s, e, &n);
        for (int q = 0; q < rule->n_gauss; q++) {
            double j[3][3] = {{0.0}};
            for (int a = 0; a < n; a++)
                for (int k = 0; k < 3; k++)
                    for (int i = 0; i < 3; i++)
                        j[k][i] += rule->gradient[q][k][a] * s->xyz[3 * (int64_t)point[a] + i];
            volume += rule->weight[q] * hx_triple3(j[0], j[1], j[2]);
        }
    }
    return volume;
}

/* Over the boundary int n dA = 0 and int x . n dA = 3 V; the area of the flat sides, and its
 * shares. */
static void check_faces(const hx_space *s)
{
    double sum[3] = {0.0}, flux = 0.0, area = 0.0, flat = 0.0, lumped = 0.0, worst = 0.0;
    int64_t n_face, *face, n_curved = 0;
    CHECK_OK(hx_mesh_boundary_faces(s->mesh, NULL, &n_face, &face));
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        double share[HX_FACE_POINTS];
        hx_space_face_of(s, face[f], &at);
        n_curved += at.n_gauss > 4;
        for (int q = 0; q < at.n_gauss; q++) {
            const double *const normal = at.at[q].normal;
            double one = -1.0, x[3] = {0.0};
            for (int a = 0; a < at.n; a++) {
                one += at.shape[q][a];
                for (int d = 0; d < 3; d++)
                    x[d] += at.shape[q][a] * s->xyz[3 * (int64_t)at.point[a] + d];
            }
            test_worst(&worst, fabs(one));
            for (int d = 0; d < 3; d++) {
                test_worst(&worst, fabs(x[d] - at.at[q].x[d]));
                sum[d] += normal[d];
            }
            flux += hx_dot3(x, normal);
            area += hx_norm3(normal);
            if (fabs(normal[0]) < 1e-12) flat += hx_norm3(normal); /* y or z is 0 or maximal */
        }
        hx_space_face_lump(&at, share);
        for (int a = 0; a < at.n; a++) {
            CHECK(share[a] >= 0.0);
            lumped += share[a];
        }
    }
    CHECK_MSG(worst < 1e-14, "%.3g", worst);
    CHECK(n_curved == n_face);
    for (int d = 0; d < 3; d++) CHECK_ABS(sum[d], 0.0, 1e-12);
    CHECK_REL(flux, 3.0 * volume_of_box, 1e-13);
    CHECK_REL(lumped, area, 1e-13);
    CHECK_REL(hx_space_faces_area(s, n_face, face), area, 1e-14);
    CHECK_REL(flat, 2.0 * 3.0 * (2.0 + 5.0) * (1.0 + 0.08 * 3.0), 1e-13);
    free(face);
}

/* Affine cells under the map: shuffled, reordered along the curve, or both. */
static void test_map(mixed_kind kind, int shuffled, int reordered)
{
    const mixed_box box = {.kind = kind, .n = {3, 2, 5}};
    hx_mesh mesh;
    hx_space space;
    CHECK_OK(mixed_create(&mesh, &box));
    mixed_turn(&mesh, 7);
    double *const straight = malloc(3 * (size_t)mesh.n_node * sizeof *straight);
    if (!straight) abort();
    memcpy(straight, mesh.xyz, 3 * (size_t)mesh.n_node * sizeof *straight);
    CHECK_OK(curved_bend(&mesh, shear));
    if (shuffled) CHECK_OK(hx_mesh_shuffle(&mesh, 4));
    if (reordered) CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    check_places(&space, straight);
    CHECK_REL(measure_volume(&space), volume_of_box, 1e-13);
    check_faces(&space);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
    free(straight);
}

/* Edges whose middles are removed become straight; bytes are counted. */
static void test_some(void)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {2, 1, 1}};
    hx_mesh mesh, plain;
    hx_space space, straight;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(curved_bend(&mesh, shear));
    mesh.middles.n = 12; /* those of the first cell */
    CHECK_OK(hx_mesh_shuffle(&mesh, 4));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    CHECK_OK(mixed_create(&plain, &box));
    for (int64_t a = 0; a < plain.n_node; a++) shear(plain.xyz + 3 * a, plain.xyz + 3 * a);
    CHECK_OK(hx_mesh_shuffle(&plain, 4));
    CHECK_OK(hx_mesh_finish(&plain));
    CHECK_OK(hx_space_create(&straight, &plain, HX_ELEMENT_QUADRATIC));
    int n_moved = 0;
    for (int64_t k = plain.n_node; k < straight.n_point; k++)
        n_moved += memcmp(space.xyz + 3 * k, straight.xyz + 3 * k, 3 * sizeof(double)) != 0;
    CHECK_MSG(n_moved > 0 && n_moved <= 12, "%d", n_moved);
    CHECK(hx_mesh_bytes(&mesh) - hx_mesh_bytes(&plain) == 12 * 32);
    hx_space_free(&space);
    hx_space_free(&straight);
    hx_mesh_free(&mesh);
    hx_mesh_free(&plain);
}

/* Two bars of two cells with separate nodes at y = 1: after merging, their mid-edge points are
 * merged too. */
static void test_merge(double gap)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {2, 2, 1}};
    hx_mesh mesh;
    hx_space space;
    CHECK_OK(mixed_create(&mesh, &box));
    const int64_t n = mesh.n_node;
    double *const xyz = malloc(6 * (size_t)n * sizeof *xyz);
    int32_t *const conn = malloc(32 * sizeof *conn);
    if (!xyz || !conn) abort();
    for (int64_t i = 0; i < 6 * n; i++) xyz[i] = mesh.xyz[i % (3 * n)];
    for (int e = 0; e < 4; e++) /* upper cells get the copies */
        for (int a = 0; a < 8; a++) conn[8 * e + a] = mesh.conn[8 * e + a] + (e < 2 ? 0 : (int)n);
    hx_mesh_free(&mesh);
    CHECK_OK(hx_mesh_create(&mesh, "bars", 2 * n, xyz, 4, conn));
    CHECK_OK(curved_bend(&mesh, shear));
    for (int64_t k = 24; k < 48; k++) mesh.middles.xyz[3 * k + 2] += gap;
    CHECK_OK(hx_mesh_repair_coincident(&mesh, 1e-3, NULL, NULL));
    CHECK(mesh.n_node == n);
    CHECK_OK(hx_mesh_finish(&mesh));
    if (gap < 0.01) {
        CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
        CHECK(space.n_edge == 33);
        CHECK_REL(measure_volume(&space), 2.0 * 2.0 * 1.0 * (1.0 + 0.08 * 2.0), 2.0 * gap + 1e-13);
    } else {
        CHECK_FAILS(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC), HX_EINPUT,
                    "has two mid-side nodes, 0.019 of its length");
    }
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

/* A part of a mesh that keeps some nodes keeps the mid-edge points between them. */
static void test_copy(void)
{
    const int32_t end[3][2] = {{3, 1}, {0, 2}, {2, 2}}, node_new[4] = {5, -1, 2, 9};
    const double x[3][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
    hx_middles all, some;
    CHECK_OK(hx_middles_alloc(&all, 3));
    for (int k = 0; k < 3; k++) hx_middles_put(&all, end[k], x[k]);
    CHECK(all.n == 2 && all.end[0] == 1 && all.end[1] == 3);
    CHECK_OK(hx_middles_copy(&some, &all, node_new));
    CHECK(some.n == 1 && some.end[0] == 2 && some.end[1] == 5 && some.xyz[0] == 4.0);
    hx_middles_free(&all);
    CHECK_OK(hx_middles_copy(&all, &all, node_new));
    CHECK(all.n == 0 && !all.xyz);
    hx_middles_free(&some);
}

/* An edge bent through its cell, and an invalid mid-edge point. */
static void test_refused(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {3, 2, 5}};
    hx_mesh mesh;
    hx_space space;
    for (int bad = 0; bad < 2; bad++) {
        CHECK_OK(mixed_create(&mesh, &box));
        CHECK_OK(curved_bend(&mesh, shear));
        if (bad == 0) {
            for (int k = 0; k < 3; k++) { /* of cells 0 and 1, in any position of the edge */
                const int32_t *const end = mesh.middles.end;
                const double *const a = mesh.xyz + 3 * (int64_t)end[0];
                const double *const b = mesh.xyz + 3 * (int64_t)end[1];
                mesh.middles.xyz[k] += 0.9 * (b[k] - a[k]);
            }
            mesh.middles.n = 1;
        } else {
            mesh.middles.xyz[4] = (double)NAN;
        }
        CHECK_OK(hx_mesh_shuffle(&mesh, 9));
        if (bad == 1) {
            CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "mid-side node between nodes ");
        } else {
            CHECK_OK(hx_mesh_finish(&mesh));
            CHECK_FAILS(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC), HX_EINPUT,
                        "the curved edges of element 0 fold it over: its Jacobian determinant is ");
            CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_LINEAR));
        }
        hx_mesh_free(&mesh);
    }
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        test_map((mixed_kind)kind, 1, 0);
        test_map((mixed_kind)kind, 0, 1);
        test_map((mixed_kind)kind, 1, 1);
        test_refused((mixed_kind)kind);
    }
    test_some();
    test_merge(0.0);
    test_merge(0.004);
    test_merge(0.02);
    test_copy();
    TEST_END();
}
