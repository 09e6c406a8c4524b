/* Quadratic cells and spaces: shape functions, derivatives and integration for each kind; the
 * points of meshes of every kind in any numbering; mid-edge points of sets; faces. */
#include <stdlib.h>
#include <string.h>

#include "core/space/hex20.h"
#include "core/space/pyramid13.h"
#include "core/space/space.h"
#include "core/space/tet10.h"
#include "core/space/wedge15.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

/* Reference coordinates of the corners, and the reference volume, for each kind. */
static const double corner_of[HX_N_CELL_RULE][8][3] = {
    [HX_CELL_HEXAHEDRON] = {{-1, -1, -1},
                            {1, -1, -1},
                            {1, 1, -1},
                            {-1, 1, -1},
                            {-1, -1, 1},
                            {1, -1, 1},
                            {1, 1, 1},
                            {-1, 1, 1}},
    [HX_CELL_WEDGE] = {{0, 0, -1}, {1, 0, -1}, {0, 1, -1}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}},
    [HX_CELL_PYRAMID] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 1 - 1e-9}},
    [HX_CELL_TETRAHEDRON] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
static const double volume_of[HX_N_CELL_RULE] = {8.0, 1.0, 4.0 / 3.0, 1.0 / 6.0};

static void place_of(const hx_cell_rule *rule, hx_cell_kind kind, int a, double x[3])
{
    for (int i = 0; i < 3; i++) {
        if (a < rule->n_corner) {
            x[i] = corner_of[kind][a][i];
        } else {
            const int *const end = rule->edge[a - rule->n_corner];
            x[i] = 0.5 * (corner_of[kind][end[0]][i] + corner_of[kind][end[1]][i]);
        }
    }
}

/* A polynomial of degree 2 and its gradient. */
static double quadratic(const double x[3], double g[3])
{
    g[0] = 1.0 + 0.6 * x[0] + 0.7 * x[1] - 1.1 * x[2];
    g[1] = -2.0 + 0.7 * x[0] + 1.8 * x[1] + 0.4 * x[2];
    g[2] = 0.5 - 1.1 * x[0] + 0.4 * x[1] - 0.4 * x[2];
    return 3.0 + x[0] - 2.0 * x[1] + 0.5 * x[2] + 0.3 * x[0] * x[0] + 0.9 * x[1] * x[1] -
           0.2 * x[2] * x[2] + 0.7 * x[0] * x[1] - 1.1 * x[0] * x[2] + 0.4 * x[1] * x[2];
}

static void test_shape(hx_cell_kind kind, const hx_cell_rule *rule)
{
    static const double at[3][3] = {{0.11, 0.23, 0.31}, {0.4, 0.2, 0.05}, {0.2, 0.1, 0.6}};
    const double step = 1e-5;
    double x[3], d[3], unused[3];
    for (int a = 0; a < rule->n_point; a++)
        for (int b = 0; b < rule->n_point; b++) {
            place_of(rule, kind, b, x);
            CHECK_ABS(hx_cell_rule_shape(kind, a, x, d), a == b ? 1.0 : 0.0, 2e-8);
        }
    for (int p = 0; p < 3; p++) {
        double value = 0.0, gradient[3] = {0.0}, expected[3], sum = 0.0;
        for (int a = 0; a < rule->n_point; a++) {
            const double n = hx_cell_rule_shape(kind, a, at[p], d);
            place_of(rule, kind, a, x);
            const double f = quadratic(x, unused);
            value += n * f;
            sum += n;
            for (int k = 0; k < 3; k++) {
                double up[3], down[3];
                memcpy(up, at[p], sizeof up);
                memcpy(down, at[p], sizeof down);
                up[k] += step;
                down[k] -= step;
                const double slope = (hx_cell_rule_shape(kind, a, up, unused) -
                                      hx_cell_rule_shape(kind, a, down, unused)) /
                                     (2.0 * step);
                CHECK_ABS(d[k], slope, 1e-8);
                gradient[k] += d[k] * f;
            }
        }
        CHECK_ABS(sum, 1.0, 1e-14);
        CHECK_ABS(value, quadratic(at[p], expected), 1e-8);
        for (int k = 0; k < 3; k++) CHECK_ABS(gradient[k], expected[k], 1e-7);
    }
}

/* Volume and centre of the reference cell. */
static void test_rule(hx_cell_kind kind, const hx_cell_rule *rule)
{
    double volume = 0.0, mean[3] = {0.0}, expected[3] = {0.0};
    for (int q = 0; q < rule->n_gauss; q++) {
        volume += rule->weight[q];
        CHECK(rule->weight[q] > 0.0);
        for (int a = 0; a < rule->n_point; a++)
            for (int i = 0; i < 3; i++) {
                double x[3];
                place_of(rule, kind, a, x);
                mean[i] += rule->weight[q] * rule->shape[q][a] * x[i] / volume_of[kind];
            }
    }
    for (int a = 0; a < rule->n_corner; a++)
        for (int i = 0; i < 3; i++) expected[i] += corner_of[kind][a][i] / rule->n_corner;
    /* its centroid is not the mean of its corners */
    if (kind == HX_CELL_PYRAMID) expected[2] = 0.25;
    CHECK_REL(volume, volume_of[kind], 1e-14);
    for (int i = 0; i < 3; i++) CHECK_ABS(mean[i], expected[i], 1e-8);
}

/* Moments of the reference cells: of 1, x_i, x_i x_j. */
typedef struct moments {
    double zero, one[3], two[3][3];
} moments;

static const moments moments_of[HX_N_CELL_RULE] = {
    [HX_CELL_HEXAHEDRON] = {8.0, {0}, {{8.0 / 3, 0, 0}, {0, 8.0 / 3, 0}, {0, 0, 8.0 / 3}}},
    [HX_CELL_WEDGE] = {1.0,
                       {1.0 / 3, 1.0 / 3, 0},
                       {{1.0 / 6, 1.0 / 12, 0}, {1.0 / 12, 1.0 / 6, 0}, {0, 0, 1.0 / 3}}},
    [HX_CELL_PYRAMID] = {4.0 / 3,
                         {0, 0, 1.0 / 3},
                         {{4.0 / 15, 0, 0}, {0, 4.0 / 15, 0}, {0, 0, 2.0 / 15}}},
    [HX_CELL_TETRAHEDRON] = {1.0 / 6,
                             {1.0 / 24, 1.0 / 24, 1.0 / 24},
                             {{1.0 / 60, 1.0 / 120, 1.0 / 120},
                              {1.0 / 120, 1.0 / 60, 1.0 / 120},
                              {1.0 / 120, 1.0 / 120, 1.0 / 60}}}};

/* Sum over k of int (df/dx_k)^2 of `quadratic`: by the rule with the shape functions, and
 * exactly. */
static void test_energy(hx_cell_kind kind, const hx_cell_rule *rule)
{
    const moments *m = &moments_of[kind];
    const double origin[3] = {0.0, 0.0, 0.0};
    double energy = 0.0, expected = 0.0, at_origin[3];
    quadratic(origin, at_origin);
    for (int k = 0; k < 3; k++) {
        double slope[3], unused[3];
        for (int i = 0; i < 3; i++) {
            const double x[3] = {i == 0, i == 1, i == 2};
            quadratic(x, unused);
            slope[i] = unused[k] - at_origin[k];
        }
        expected += at_origin[k] * at_origin[k] * m->zero;
        for (int i = 0; i < 3; i++) {
            expected += 2.0 * at_origin[k] * slope[i] * m->one[i];
            for (int j = 0; j < 3; j++) expected += slope[i] * slope[j] * m->two[i][j];
        }
    }
    for (int q = 0; q < rule->n_gauss; q++) {
        double g[3] = {0.0};
        for (int a = 0; a < rule->n_point; a++) {
            double place[3], unused[3];
            place_of(rule, kind, a, place);
            const double f = quadratic(place, unused);
            for (int k = 0; k < 3; k++) g[k] += rule->gradient[q][k][a] * f;
        }
        for (int k = 0; k < 3; k++) energy += rule->weight[q] * g[k] * g[k];
    }
    CHECK_REL(energy, expected, 1e-7);
}

static double volume_of_space(const hx_space *s, double *least)
{
    double volume = 0.0;
    *least = INFINITY;
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        const hx_cell_rule *rule = &s->rule[s->kind[e]];
        int n;
        const int32_t *point = hx_space_points(s, e, &n);
        for (int q = 0; q < rule->n_gauss; q++) {
            double j[3][3] = {{0.0}};
            for (int a = 0; a < n; a++)
                for (int k = 0; k < 3; k++)
                    for (int i = 0; i < 3; i++)
                        j[k][i] += rule->gradient[q][k][a] * s->xyz[3 * (int64_t)point[a] + i];
            const double det = j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
                               j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
                               j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
            test_least(least, det);
            volume += rule->weight[q] * det;
        }
    }
    return volume;
}

/* Edges are unique, their middles are the cells' points, and lists of cells contain every place. */
static void check_points(const hx_space *s)
{
    int64_t n_wrong = 0, n_listed = 0;
    for (int64_t k = 0; k < s->n_edge; k++) {
        const int32_t *const end = s->edge + 2 * k;
        n_wrong += end[0] >= end[1];
        if (k > 0) n_wrong += !(end[-2] < end[0] || (end[-2] == end[0] && end[-1] < end[1]));
        for (int i = 0; i < 3; i++)
            n_wrong += s->xyz[3 * (s->mesh->n_node + k) + i] !=
                       0.5 * (s->xyz[3 * (int64_t)end[0] + i] + s->xyz[3 * (int64_t)end[1] + i]);
    }
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        const hx_cell_rule *rule = &s->rule[s->kind[e]];
        int n;
        const int32_t *const point = hx_space_points(s, e, &n);
        n_wrong += n != rule->n_point;
        for (int i = 0; i < rule->n_edge; i++) {
            const int32_t a = point[rule->edge[i][0]], b = point[rule->edge[i][1]];
            const int64_t edge = point[rule->n_corner + i] - s->mesh->n_node;
            const int32_t *const end = s->edge + 2 * edge;
            n_wrong += !((end[0] == a && end[1] == b) || (end[0] == b && end[1] == a));
        }
    }
    for (int64_t a = 0; a < s->n_point; a++) {
        n_wrong += s->point_ptr[a + 1] <= s->point_ptr[a];
        for (int64_t k = s->point_ptr[a]; k < s->point_ptr[a + 1]; k++) {
            n_wrong += s->point[s->point_place[k]] != a;
            n_wrong += k > s->point_ptr[a] && s->point_place[k] <= s->point_place[k - 1];
            n_listed++;
        }
    }
    CHECK_MSG(n_wrong == 0, "%lld wrong", (long long)n_wrong);
    CHECK(n_listed == s->n_place && s->point_ptr[s->n_point] == s->n_place);
}

typedef struct ring {
    int32_t node[4]; /* ascending, starting with -1 for a triangle */
} ring;

static int by_nodes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(ring));
}

static ring ring_of(const hx_space_face *at)
{
    ring r = {{-1, -1, -1, -1}};
    for (int a = 0; a < at->n / 2; a++) {
        int k = 3;
        int32_t moved = at->point[a];
        for (; k >= 0 && moved >= 0; k--)
            if (r.node[k] < moved) {
                const int32_t other = r.node[k];
                r.node[k] = moved;
                moved = other;
            }
    }
    return r;
}

/* For a ball of cells: nodes - edges + faces - cells = 1. */
static void check_euler(const hx_space *s)
{
    ring *const all = malloc((size_t)(6 * s->mesh->n_elem) * sizeof *all);
    int64_t n = 0, n_face = 0;
    if (!all) abort();
    for (int64_t face = 0; face < 6 * s->mesh->n_elem; face++) {
        hx_space_face at;
        hx_space_face_of(s, face, &at);
        if (at.n >= 6) all[n++] = ring_of(&at);
    }
    qsort(all, (size_t)n, sizeof *all, by_nodes);
    for (int64_t i = 0; i < n; i++) n_face += i == 0 || by_nodes(&all[i], &all[i - 1]) != 0;
    CHECK(s->mesh->n_node - s->n_edge + n_face - s->mesh->n_elem == 1);
    free(all);
}

/* Shape functions of faces sum to 1 and reproduce the coordinates; shares sum to the area and
 * preserve its centre. */
static void check_faces(const hx_space *s)
{
    double worst = 0.0;
    int64_t n_checked = 0;
    for (int64_t face = 0; face < 6 * s->mesh->n_elem; face++) {
        hx_space_face at;
        double share[HX_FACE_POINTS], area = 0.0, sum = 0.0;
        hx_space_face_of(s, face, &at);
        if (at.n < (s->element == HX_ELEMENT_LINEAR ? 4 : 6)) continue;
        for (int q = 0; q < 4; q++) {
            double one = -1.0, x[3] = {0.0};
            for (int a = 0; a < at.n; a++) {
                one += at.shape[q][a];
                for (int i = 0; i < 3; i++)
                    x[i] += at.shape[q][a] * s->xyz[3 * (int64_t)at.point[a] + i];
            }
            test_worst(&worst, fabs(one));
            for (int i = 0; i < 3; i++) test_worst(&worst, fabs(x[i] - at.at[q].x[i]));
            area += sqrt(at.at[q].normal[0] * at.at[q].normal[0] +
                         at.at[q].normal[1] * at.at[q].normal[1] +
                         at.at[q].normal[2] * at.at[q].normal[2]);
        }
        hx_space_face_lump(&at, share);
        for (int a = 0; a < at.n; a++) {
            CHECK(area < 1e-12 || share[a] >= 0.0);
            sum += share[a];
        }
        test_worst(&worst, fabs(sum - area));
        n_checked++;
    }
    CHECK(n_checked > 0);
    CHECK_MSG(worst < 1e-13, "%.3g", worst);
}

static void test_mesh(mixed_kind kind, int turned)
{
    const mixed_box box = {.kind = kind, .n = {3, 2, 5}, .distort = 0.12, .seed = 3};
    hx_mesh mesh;
    hx_space space, linear;
    char text[64];
    double least;
    CHECK_OK(mixed_create(&mesh, &box));
    if (turned) mixed_turn(&mesh, 7);
    CHECK_OK(hx_mesh_shuffle(&mesh, 4));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    check_points(&space);
    check_euler(&space);
    check_faces(&space);
    CHECK_REL(volume_of_space(&space, &least), 30.0, 1e-13);
    CHECK(least > 0.0);
    CHECK(hx_space_bytes(&space) > (size_t)space.n_point * 24);
    CHECK((kind == MIXED_LAYERS) == (space.n_per_cell == 0));
    printf("%s: %s, %lld points of %lld nodes\n", mixed_name[kind],
           hx_space_text(&space, text, sizeof text), (long long)space.n_point,
           (long long)mesh.n_node);
    hx_space_free(&space);
    CHECK_OK(hx_space_create(&linear, &mesh, HX_ELEMENT_LINEAR));
    CHECK((strstr(hx_space_text(&linear, text, sizeof text), "tet4") != NULL) ==
          (mesh.n_kind[HX_CELL_TETRAHEDRON] > 0));
    CHECK((strstr(text, "hex8") != NULL) == (mesh.n_kind[HX_CELL_HEXAHEDRON] > 0));
    CHECK(linear.xyz == mesh.xyz && linear.point == mesh.conn && linear.n_point == mesh.n_node);
    CHECK(hx_space_bytes(&linear) == 0);
    if (kind == MIXED_HEXAHEDRA) check_faces(&linear);
    hx_space_free(&linear);
    hx_mesh_free(&mesh);
}

/* In a box of 4 x 3 x 2: a plane of nodes has the edges in it; two opposite planes also have those
 * of the single layer between them; a face set has only those of its faces. */
static void test_middles(void)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {4, 3, 1}};
    hx_mesh mesh;
    hx_space space, linear;
    int32_t all[64], plane[20], *middle;
    const int64_t face = 6 * 0 + 4; /* of element 0, z = 0 */
    int64_t n, n_plane = 0;
    CHECK_OK(mixed_create(&mesh, &box));
    for (int64_t a = 0; a < mesh.n_node; a++) {
        all[a] = (int32_t)a;
        if (mesh.xyz[3 * a + 2] < 0.5) plane[n_plane++] = (int32_t)a;
    }
    CHECK_OK(hx_mesh_add_node_set(&mesh, "all", mesh.n_node, all));
    CHECK_OK(hx_mesh_add_node_set(&mesh, "plane", n_plane, plane));
    CHECK_OK(hx_mesh_add_face_set(&mesh, "face", 1, &face));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    CHECK_OK(hx_space_set_middles(&space, hx_mesh_find_set(&mesh, "plane"), &n, &middle));
    CHECK(n == 4 * 4 + 5 * 3);
    for (int64_t k = 0; k < n; k++) CHECK(space.xyz[3 * (int64_t)middle[k] + 2] == 0.0);
    free(middle);
    CHECK_OK(hx_space_set_middles(&space, hx_mesh_find_set(&mesh, "all"), &n, &middle));
    CHECK(n == 2 * (4 * 4 + 5 * 3) + 20 && n == space.n_edge);
    free(middle);
    CHECK_OK(hx_space_set_middles(&space, hx_mesh_find_set(&mesh, "face"), &n, &middle));
    CHECK(n == 4);
    free(middle);
    CHECK_OK(hx_space_set_middles(&space, hx_mesh_find_set(&mesh, "origin"), &n, &middle));
    CHECK(n == 0);
    free(middle);
    linear = hx_space_linear(&mesh);
    CHECK_OK(hx_space_set_middles(&linear, hx_mesh_find_set(&mesh, "all"), &n, &middle));
    CHECK(n == 0 && middle == NULL);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

/* Each point in turn has the extreme value: nodes and mid-edge points of every kind are found. */
static void test_largest(mixed_kind kind)
{
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}};
    hx_mesh mesh;
    hx_space space;
    hx_space_largest found;
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_OK(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC));
    double *const u = calloc(3 * (size_t)space.n_point, sizeof *u);
    uint8_t *const is_counted = calloc((size_t)mesh.n_elem, 1);
    for (int64_t p = 0; p < space.n_point; p++) {
        const int32_t *const edge = p < mesh.n_node ? NULL : space.edge + 2 * (p - mesh.n_node);
        u[3 * p] = -3.0;
        u[3 * p + 2] = 4.0;
        hx_space_find_largest(&space, NULL, 3, 1.0, u, &found);
        CHECK(found.is_set && found.value == 5.0);
        CHECK(found.node == (edge ? edge[0] : p) && found.end == (edge ? edge[1] : -1));
        for (int i = 0; i < 3; i++) CHECK(found.x[i] == space.xyz[3 * p + i]);
        u[3 * p] = u[3 * p + 2] = 0.0;
        u[p] = -2.0; /* one component: the lowest */
        hx_space_find_largest(&space, NULL, 1, -1.0, u, &found);
        CHECK(found.value == 2.0 && found.node == (edge ? edge[0] : p));
        is_counted[found.cell] = 1; /* it contains the point */
        hx_space_find_largest(&space, is_counted, 1, -1.0, u, &found);
        CHECK(found.value == 2.0 && is_counted[found.cell]);
        is_counted[found.cell] = 0;
        hx_space_find_largest(&space, is_counted, 1, -1.0, u, &found);
        CHECK(!found.is_set);
        u[p] = 0.0;
    }
    free(u);
    free(is_counted);
    hx_space_free(&space);
    hx_mesh_free(&mesh);
}

/* A cell that is none of the four solids is named. */
static void test_refused(void)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {2, 1, 1}};
    hx_mesh mesh;
    hx_space space;
    CHECK_OK(mixed_create(&mesh, &box));
    mesh.conn[8 + 7] = mesh.conn[8 + 6]; /* one corner lost: a solid of seven */
    CHECK_FAILS(hx_space_create(&space, &mesh, HX_ELEMENT_QUADRATIC), HX_EINPUT,
                "element 1 is not a hexahedron");
    hx_mesh_free(&mesh);
}

int main(void)
{
    for (int kind = 0; kind < HX_N_CELL_RULE; kind++) {
        hx_cell_rule rule;
        hx_cell_rule_make((hx_cell_kind)kind, &rule);
        CHECK(hx_cell_rule_points((hx_cell_kind)kind) == rule.n_point);
        test_shape((hx_cell_kind)kind, &rule);
        test_rule((hx_cell_kind)kind, &rule);
        test_energy((hx_cell_kind)kind, &rule);
    }
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int turned = 0; turned < 2; turned++) test_mesh((mixed_kind)kind, turned);
    test_middles();
    for (int kind = 0; kind < MIXED_N_KIND; kind++) test_largest((mixed_kind)kind);
    test_refused();
    TEST_END();
}
