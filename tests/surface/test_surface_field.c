/* Nodal densities, from which surfaces are cut. */
#include "core/surface/surface.h"
#include "tests/lib/fixture.h"

/* A finished mesh with copies of these arrays. */
static void make_mesh(hx_mesh *mesh, int64_t n_node, const double *xyz, int64_t n_elem,
                      const int32_t *conn)
{
    double *const x = malloc((size_t)n_node * 3 * sizeof *x);
    int32_t *const c = malloc((size_t)n_elem * 8 * sizeof *c);
    if (!x || !c) abort();
    memcpy(x, xyz, (size_t)n_node * 3 * sizeof *x);
    memcpy(c, conn, (size_t)n_elem * 8 * sizeof *c);
    CHECK_OK(hx_mesh_create(mesh, "cube", n_node, x, n_elem, c));
    CHECK_OK(hx_mesh_finish(mesh));
}

/* A cube of six tetrahedra around a diagonal, each a hexahedron collapsed in another way: the mean
 * at a node counts each element once, however often it names the node. */
static void test_collapsed(void)
{
    static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                      {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    static const int32_t tetrahedron[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                              {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
    static const int32_t conn[6][8] = {{0, 1, 2, 2, 6, 6, 6, 6}, {6, 6, 6, 6, 0, 0, 3, 2},
                                       {0, 3, 7, 7, 6, 6, 6, 6}, {4, 7, 6, 6, 0, 0, 0, 0},
                                       {0, 4, 5, 5, 0, 4, 6, 6}, {6, 6, 6, 1, 5, 5, 0, 1}};
    static const double rho[6] = {0.1, 0.9, 0.3, 0.7, 0.6, 0.2};
    double worst = 0.0;
    hx_mesh mesh;
    hx_surface_field field;
    make_mesh(&mesh, 8, cube[0], 6, conn[0]);
    CHECK_OK(hx_surface_field_create(&field, &mesh, rho, NULL));
    for (int32_t a = 0; a < 8; a++) {
        double sum = 0.0, n = 0.0;
        for (int e = 0; e < 6; e++)
            for (int i = 0; i < 4; i++) {
                sum += tetrahedron[e][i] == a ? rho[e] : 0.0;
                n += tetrahedron[e][i] == a;
            }
        test_worst(&worst, fabs(field.value[a] - sum / n));
    }
    CHECK_ABS(worst, 0.0, 1e-14);
    hx_surface_field_free(&field);
    hx_mesh_free(&mesh);
}

int main(void)
{
    fixture_set_threads(1);
    test_collapsed();
    TEST_END();
}
