/* Shapes of the faces of a set: normals count in addition to nodes, because the corners of a cube
 * lie on a cylinder and on a sphere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/cell.h"
#include "core/mesher/face_fit.h"
#include "tests/lib/test.h"
#include "tests/lib/tube.h"

/* Fits the outer faces all of whose corners are in the set `of`; NULL: all of them. */
static hx_face_kind kind_of(const hx_mesh *mesh, const char *of, int is_smooth,
                            hx_face_shape *shape)
{
    const hx_set *const nodes = of ? hx_mesh_find_set(mesh, of) : NULL;
    uint8_t *const mark = calloc((size_t)mesh->n_node, 1), *flag = of ? mark : NULL;
    int32_t *const node = calloc((size_t)mesh->n_node, sizeof *node);
    hx_set set = {.node = node};
    CHECK(!of || (nodes && nodes->n_node > 0));
    for (int64_t i = 0; of && i < nodes->n_node; i++) mark[nodes->node[i]] = 1;
    CHECK_OK(hx_mesh_boundary_faces(mesh, flag, &set.n_face, &set.face));
    CHECK(set.n_face > 0);
    memset(mark, 0, (size_t)mesh->n_node);
    for (int64_t i = 0; i < set.n_face; i++) {
        int32_t corner[4];
        const int64_t face = set.face[i];
        const int n = hx_cell_face(mesh->conn + 8 * (face / 6), (int)(face % 6), corner);
        for (int k = 0; k < n; k++) mark[corner[k]] = 1;
    }
    for (int32_t i = 0; i < mesh->n_node; i++)
        if (mark[i]) node[set.n_node++] = i;
    CHECK_OK(is_smooth ? hx_face_fit_smooth(mesh, &set, shape) : hx_face_fit(mesh, &set, shape));
    free(set.face);
    free(node);
    free(mark);
    return shape->kind;
}

/* A bar with `sides` flat sides, whose radius decreases by `taper` from end to end. */
static void make_bar(hx_mesh *mesh, int sides, double taper)
{
    const tube bar = {
        .inner = 1.0, .outer = 3.0, .length = 8.0, .arc = 2.0 * TUBE_PI, .n = {1, sides, 3}};
    CHECK_OK(tube_create(mesh, &bar));
    for (int64_t i = 0; i < mesh->n_node; i++)
        for (int c = 0; c < 2; c++)
            mesh->xyz[3 * i + c] *= 1.0 - taper * mesh->xyz[3 * i + 2] / 8.0;
    CHECK_OK(hx_mesh_finish(mesh));
}

/* A circle of seven edges is the coarsest that gmsh makes; six edges are a hexagonal bar. */
static void check_bars(void)
{
    static const struct {
        int sides, is_round;
    } bar[] = {{4, 0}, {5, 0}, {6, 0}, {7, 1}, {8, 1}, {16, 1}, {90, 1}};
    for (size_t i = 0; i < sizeof bar / sizeof bar[0]; i++) {
        hx_mesh mesh;
        hx_face_shape shape;
        make_bar(&mesh, bar[i].sides, 0.0);
        const hx_face_kind expected = bar[i].is_round ? HX_FACE_CYLINDER : HX_FACE_OTHER;
        CHECK_MSG(kind_of(&mesh, "outside", 0, &shape) == expected, "%d sides", bar[i].sides);
        if (bar[i].is_round) CHECK_REL(shape.radius, 3.0, 1e-6);
        CHECK_MSG(kind_of(&mesh, "bore", 0, &shape) == expected, "%d sides", bar[i].sides);
        CHECK(!bar[i].is_round || shape.is_hollow);
        CHECK(kind_of(&mesh, "bore", 1, &shape) == HX_FACE_CYLINDER);
        CHECK(kind_of(&mesh, NULL, 0, &shape) == HX_FACE_OTHER);
        CHECK(kind_of(&mesh, NULL, 1, &shape) == HX_FACE_OTHER);
        hx_mesh_free(&mesh);
    }
}

static void check_pyramids(void)
{
    hx_mesh mesh;
    hx_face_shape shape;
    for (int sides = 4; sides <= 16; sides += 12) {
        make_bar(&mesh, sides, 0.5);
        CHECK_MSG(kind_of(&mesh, "outside", 0, &shape) ==
                      (sides > 4 ? HX_FACE_CONE : HX_FACE_OTHER),
                  "%d sides", sides);
        hx_mesh_free(&mesh);
    }
}

/* A block of n elements per edge; is_ball: its nodes are moved onto spheres. */
static void make_block(hx_mesh *mesh, int n, const double edge[3], int is_ball)
{
    const int nodes = n + 1;
    double *const xyz = malloc((size_t)nodes * nodes * nodes * 3 * sizeof *xyz);
    int32_t *const conn = malloc((size_t)n * n * n * 8 * sizeof *conn);
    int32_t *c = conn;
    for (int i = 0; i < nodes * nodes * nodes; i++) {
        const int place[3] = {i % nodes, i / nodes % nodes, i / nodes / nodes};
        double *const x = xyz + 3 * i, largest = 0.0;
        for (int k = 0; k < 3; k++) {
            x[k] = edge[k] * ((double)place[k] / n - 0.5);
            if (fabs(x[k]) > largest) largest = fabs(x[k]);
        }
        const double length = hx_norm3(x);
        for (int k = 0; k < 3 && is_ball && length > 0.0; k++) x[k] *= largest / length;
    }
    for (int e = 0; e < n * n * n; e++)
        for (int a = 0; a < 8; a++) {
            const int u = e % n + (a % 4 == 1 || a % 4 == 2), v = e / n % n + (a % 4 >= 2);
            *c++ = (e / n / n + a / 4) * nodes * nodes + v * nodes + u;
        }
    CHECK_OK(hx_mesh_create(mesh, "block", nodes * nodes * nodes, xyz, n * n * n, conn));
    CHECK_OK(hx_mesh_finish(mesh));
}

static void check_blocks(void)
{
    static const double edges[][3] = {
        {1.0, 1.0, 1.0}, {1.0, 1.0, 3.0}, {1.0, 2.0, 3.0}, {1.0, 1.0, 0.01}, {100.0, 0.5, 0.5}};
    hx_mesh mesh;
    hx_face_shape shape;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
        for (int n = 1; n <= 2; n++) {
            make_block(&mesh, n, edges[i], 0);
            CHECK_MSG(kind_of(&mesh, NULL, 0, &shape) == HX_FACE_OTHER, "block %zu: %s", i,
                      hx_face_kind_name(&shape));
            hx_mesh_free(&mesh);
        }
}

static void check_balls(void)
{
    static const double edge[3] = {2.0, 2.0, 2.0};
    hx_mesh mesh;
    hx_face_shape shape;
    for (int n = 2; n <= 4; n++) {
        make_block(&mesh, n, edge, 1);
        CHECK_MSG(kind_of(&mesh, NULL, 0, &shape) == HX_FACE_SPHERE, "%d an edge: %s", n,
                  hx_face_kind_name(&shape));
        CHECK_REL(shape.radius, 1.0, 1e-6);
        hx_mesh_free(&mesh);
    }
}

int main(void)
{
    check_bars();
    check_pyramids();
    check_blocks();
    check_balls();
    TEST_END();
}
