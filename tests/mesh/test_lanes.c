/* Functions that evaluate several elements or points at a time, in vector lanes: on each vector
 * unit they give the same bits as one at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/vector_unit.h"
#include "core/mesh/hex_jacobian.h"
#include "core/mesh/hex_shape.h"
#include "core/mesh/voxel_grid.h"
#include "tests/lib/fixture.h"

/* Pins each vector unit that runs here in turn; the first is the baseline. */
static int next_unit(int *unit)
{
    while (*unit < HX_N_VECTOR && !hx_vector_unit_runs((hx_vector_unit)*unit)) ++*unit;
    if (*unit == HX_N_VECTOR) {
        CHECK_OK(hx_vector_unit_pin(NULL));
        return 0;
    }
    CHECK_OK(hx_vector_unit_pin(hx_vector_unit_name((hx_vector_unit)*unit)));
    return 1;
}

/* Centroids of runs of all lengths up to a few lanes, and the bounds of all centroids. */
static void check_centroids(const hx_mesh *mesh)
{
    enum { MOST = 11 };
    double low[3], high[3], least[3] = {INFINITY, INFINITY, INFINITY}, most[3];
    int64_t wrong = 0;
    for (int d = 0; d < 3; d++) most[d] = -INFINITY;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int n = (int)(e % MOST) + 1 < mesh->n_elem - e ? (int)(e % MOST) + 1 : 1;
        double x[3][MOST];
        hx_mesh_centroids(mesh, e, n, (double *const[3]){x[0], x[1], x[2]});
        for (int i = 0; i < n; i++) {
            double c[3];
            hx_mesh_centroid(mesh, e + i, c);
            for (int d = 0; d < 3; d++) wrong += memcmp(&x[d][i], &c[d], sizeof c[d]) != 0;
            for (int d = 0; d < 3; d++) least[d] = c[d] < least[d] ? c[d] : least[d];
            for (int d = 0; d < 3; d++) most[d] = c[d] > most[d] ? c[d] : most[d];
        }
    }
    CHECK_MSG(wrong == 0, "%s: %lld", mesh->name, (long long)wrong);
    hx_mesh_centroid_bounds(mesh, low, high);
    CHECK(memcmp(low, least, sizeof low) == 0 && memcmp(high, most, sizeof high) == 0);
}

/* The largest distance of a corner from the centroid along an axis. */
static double reach_of(const hx_mesh *mesh, int64_t e, int d)
{
    double c[3], reach = 0.0;
    hx_mesh_centroid(mesh, e, c);
    for (int a = 0; a < 8; a++) {
        const double by = fabs(mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + d] - c[d]);
        reach = by > reach ? by : reach;
    }
    return reach;
}

static void check_shapes(const hx_mesh *mesh)
{
    int64_t wrong = 0;
    for (int64_t e = 0; e + HX_HEX_LANES <= mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        hx_hex_sizes sizes;
        double volume[HX_HEX_LANES], reach[3][HX_HEX_LANES];
        hx_hex_sizes_of(mesh->xyz, conn, &sizes);
        hx_hex_volumes_of(mesh->xyz, conn, volume);
        hx_hex_reaches_of(mesh->xyz, conn, reach);
        wrong += memcmp(volume, sizes.volume, sizeof volume) != 0;
        for (int i = 0; i < HX_HEX_LANES; i++) {
            hx_hex_map map;
            hx_hex_map_init(&map, mesh->xyz, conn + 8 * i);
            wrong += volume[i] != hx_hex_volume(&map);
            for (int d = 0; d < 3; d++) wrong += reach[d][i] != reach_of(mesh, e + i, d);
        }
    }
    CHECK_MSG(wrong == 0, "%s: %lld", mesh->name, (long long)wrong);
}

static void test_elements(double distort)
{
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, 9, 7, 5, 9.0, 3.5, 10.0));
    CHECK_OK(hx_mesh_distort(&mesh, distort, 3));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int unit = 0; next_unit(&unit); unit++) {
        check_centroids(&mesh);
        check_shapes(&mesh);
    }
    hx_mesh_free(&mesh);
}

/* Bricks along the axes are told to be good without roots, skewed ones with; inverted ones never.
 */
static void test_good(void)
{
    static const double skew[3][3] = {{1, 0, 0}, {0.3, 1, 0.2}, {-0.2, 0.4, 1}};
    for (int unit = 0; next_unit(&unit); unit++)
        for (int way = 0; way < 3; way++) {
            double xyz[8][3];
            int32_t conn[8 * HX_HEX_LANES];
            hx_hex_sizes sizes;
            for (int a = 0; a < 8; a++) {
                const double x[3] = {a % 4 == 1 || a % 4 == 2, a % 4 >= 2, a >= 4};
                for (int d = 0; d < 3; d++)
                    xyz[a][d] = way == 1 ? skew[d][0] * x[0] + skew[d][1] * x[1] + skew[d][2] * x[2]
                                         : x[d] * (way == 2 && d == 2 ? -1.0 : 1.0);
            }
            for (int i = 0; i < 8 * HX_HEX_LANES; i++) conn[i] = i % 8;
            hx_hex_sizes_of(xyz[0], conn, &sizes);
            CHECK_MSG(sizes.are_good == (way < 2), "way %d: %d", way, sizes.are_good);
        }
}

/* Points on the grid, between, beyond both ends, and numbers that are none. */
static void test_voxel_points(void)
{
    static const double off = 1e-11;
    const hx_voxel_grid g = {.lower = {1.0, -2.0, 0.3}, .step = {0.1, 0.25, 3.0}, .n = {7, 5, 4}};
    static const double beside[] = {0.0,  0.9e-11, -0.9e-11, 1.5e-11,  -1.5e-11, 0.5,
                                    -0.5, 1e300,   -1e300,   INFINITY, NAN};
    enum { N = sizeof beside / sizeof beside[0] };
    for (int unit = 0; next_unit(&unit); unit++)
        for (int axis = 0; axis < 3; axis++)
            for (int at = -2; at < g.n[axis] + 2; at++) {
                double x[3][HX_VOXEL_BLOCK];
                int32_t point[HX_VOXEL_BLOCK];
                int64_t wrong = 0;
                for (int i = 0; i < N; i++)
                    for (int d = 0; d < 3; d++)
                        x[d][i] = g.lower[d] + g.step[d] * (d == axis ? at : d + 1) +
                                  (d == axis ? beside[i] * (i < 5 ? 1.0 : g.step[d]) : 0.0);
                const int all = hx_voxel_grid_points(&g, off, N, x, point);
                const int64_t place[3] = {axis == 0 ? at : 1, axis == 1 ? at : 2,
                                          axis == 2 ? at : 3};
                const int64_t here = (place[2] * g.n[1] + place[1]) * g.n[0] + place[0];
                const int is_in = at >= 0 && at < g.n[axis];
                for (int i = 0; i < N; i++) wrong += point[i] != (is_in && i < 3 ? here : -1);
                CHECK_MSG(wrong == 0 && !all, "axis %d, %d: %lld", axis, at, (long long)wrong);
                CHECK(hx_voxel_grid_points(&g, off, 1, x, point) == is_in);
            }
}

int main(void)
{
    test_elements(0.0);
    test_elements(0.3);
    test_good();
    test_voxel_points();
    TEST_END();
}
