/* Meshes of the papers' tables: cubes, hollow cylinders and connecting rods of hexahedra, or of six
 * tetrahedra instead of each, with linear or quadratic elements, for a given number of elements or
 * points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/generate/generate.h"
#include "papers.h"

static const struct {
    const char *name;
    int is_tet, is_quadratic, n_pair;
} kinds[HX_BENCH_N_ELEMENT] = {
    [HX_BENCH_HEX8] = {"HEX8", 0, 0, 64},
    [HX_BENCH_HEX20] = {"HEX20", 0, 1, 400},
    [HX_BENCH_TET4] = {"TET4", 1, 0, 64}, /* a hexahedron with repeated nodes */
    [HX_BENCH_TET10] = {"TET10", 1, 1, 100},
};

const char *hx_bench_element_name(hx_bench_element element)
{
    return kinds[element].name;
}

int hx_bench_element_find(const char *name, hx_bench_element *element)
{
    for (int i = 0; i < HX_BENCH_N_ELEMENT; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *element = (hx_bench_element)i;
            return 1;
        }
    return 0;
}

const char *hx_bench_shape_name(hx_bench_shape shape)
{
    static const char *const name[] = {"cube", "cylinder", "rod"};
    return name[shape];
}

/* Radii of the hollow cylinder, whose length is 1.5 times its outer diameter. */
#define INNER 1.0
#define OUTER 2.0
#define LENGTH 6.0

/* A face of quadrilaterals that is extruded in layers. */
typedef struct face {
    int64_t n_point, n_edge, n_quad;
} face;

/* Counts elements and points for a number of layers. */
static void count_layers(hx_bench_element element, const face *f, int64_t n_layer, int64_t *n_elem,
                         int64_t *n_point)
{
    const int64_t n_hex = f->n_quad * n_layer, n_corner = f->n_point * (n_layer + 1);
    const int64_t n_edge = f->n_edge * (n_layer + 1) + f->n_point * n_layer;
    const int64_t n_diagonal = f->n_quad * (n_layer + 1) + f->n_edge * n_layer + n_hex;
    *n_elem = kinds[element].is_tet ? 6 * n_hex : n_hex;
    *n_point = n_corner;
    if (kinds[element].is_quadratic) *n_point += n_edge + (kinds[element].is_tet ? n_diagonal : 0);
}

/* Chooses the number of layers that gives the nearest count. */
static void choose_layers(hx_bench_plan *plan, const face *f, int by_points, int64_t wanted)
{
    int64_t n[2][2]; /* with zero layers and with one: elements, points */
    for (int i = 0; i < 2; i++) count_layers(plan->element, f, i, &n[i][0], &n[i][1]);
    const int64_t begin = n[0][by_points], step = n[1][by_points] - begin;
    const int64_t n_layer = llround((double)(wanted - begin) / (double)step);
    plan->n[2] = n_layer < 1 ? 1 : (int)n_layer;
    count_layers(plan->element, f, plan->n[2], &plan->n_elem, &plan->n_point);
}

static face cylinder_face(int n_radius, int n_around)
{
    const int64_t r = n_radius, t = n_around;
    return (face){(r + 1) * t, (2 * r + 1) * t, r * t};
}

/* Numbers of elements on both sides of the ideal one that are tried to reach the target number. */
enum { N_TRY = 4 };

/* Keeps the plan that is nearer to the target number. */
static void take_nearer(hx_bench_plan *best, const hx_bench_plan *plan, int by_points,
                        int64_t wanted)
{
    const int64_t now = (by_points ? best->n_point : best->n_elem) - wanted;
    const int64_t other = (by_points ? plan->n_point : plan->n_elem) - wanted;
    if (best->n_elem == 0 || llabs(other) < llabs(now)) *best = *plan;
}

static void plan_cylinder(hx_bench_plan *best, double n_hex, int by_points, int64_t wanted)
{
    const double pi = acos(-1.0), wall = OUTER - INNER, mean = pi * (INNER + OUTER);
    const double edge = cbrt(mean * wall * LENGTH / n_hex);
    const int around = (int)fmax(8.0, round(mean / edge));
    hx_bench_plan plan = *best;
    plan.n[0] = (int)fmax(1.0, round(wall / edge));
    for (int i = 0; i <= 2 * N_TRY; i++) { /* the ideal count comes first */
        plan.n[1] = around + (i % 2 ? -1 : 1) * ((i + 1) / 2);
        const face f = cylinder_face(plan.n[0], plan.n[1]);
        choose_layers(&plan, &f, by_points, wanted);
        take_nearer(best, &plan, by_points, wanted);
    }
}

/* Width, height and thickness of the rod, and its bores, as in the generator. */
static int make_rod(hx_mesh *mesh, const hx_bench_plan *plan)
{
    const hx_generate_params params = {.nx = plan->n[0], .ny = plan->n[2]};
    return hx_generate(hx_generator_find("conrod"), mesh, &params);
}

static int rod_face(hx_bench_plan *plan, face *f)
{
    hx_mesh flat = {0};
    plan->n[2] = 1;
    HX_TRY(make_rod(&flat, plan));
    f->n_point = flat.n_node / 2;
    f->n_quad = flat.n_elem;
    f->n_edge = f->n_point + f->n_quad + 1; /* Euler's formula, for a part with two holes */
    hx_mesh_free(&flat);
    return HX_OK;
}

static int plan_rod(hx_bench_plan *best, double n_hex, int by_points, int64_t wanted)
{
    const double pi = acos(-1.0), width = 150.0, thickness = 20.0;
    const double area = width * 350.0 - pi * (17.5 * 17.5 + 30.0 * 30.0);
    const double edge = cbrt(area * thickness / n_hex);
    const int half = (int)fmax(5.0, round(0.5 * width / edge));
    hx_bench_plan plan = *best;
    for (int i = 0; i <= 2 * N_TRY; i++) { /* the ideal count first */
        face f;
        plan.n[0] = 2 * (half + (i % 2 ? -1 : 1) * ((i + 1) / 2));
        if (plan.n[0] < 10) continue;
        HX_TRY(rod_face(&plan, &f));
        choose_layers(&plan, &f, by_points, wanted);
        take_nearer(best, &plan, by_points, wanted);
    }
    return HX_OK;
}

/* For a cube all three counts are equal. */
static void plan_cube(hx_bench_plan *plan, int by_points, int64_t wanted)
{
    int64_t best = INT64_MAX;
    for (int n = 1; n < 1000; n++) {
        const face f = {(n + 1) * (int64_t)(n + 1), 2 * n * (int64_t)(n + 1), n * (int64_t)n};
        int64_t n_of[2];
        count_layers(plan->element, &f, n, &n_of[0], &n_of[1]);
        const int64_t off = llabs(n_of[by_points] - wanted);
        if (off >= best) return;
        best = off;
        plan->n[0] = plan->n[1] = plan->n[2] = n;
        plan->n_elem = n_of[0];
        plan->n_point = n_of[1];
    }
}

int hx_bench_plan_make(hx_bench_plan *plan, hx_bench_shape shape, hx_bench_element element,
                       int64_t n_elem, int64_t n_point)
{
    const int by_points = n_elem == 0, is_tet = kinds[element].is_tet;
    const int points_of_hex =
        kinds[element].is_quadratic ? (is_tet ? 8 : 4) : 1; /* per element of a large mesh */
    const int64_t wanted = by_points ? n_point : n_elem;
    const double n_hex = (double)wanted / (by_points ? points_of_hex : is_tet ? 6 : 1);
    *plan = (hx_bench_plan){.shape = shape, .element = element};
    if (shape == HX_BENCH_ROD) return plan_rod(plan, n_hex, by_points, wanted);
    if (shape == HX_BENCH_CUBE)
        plan_cube(plan, by_points, wanted);
    else
        plan_cylinder(plan, n_hex, by_points, wanted);
    return HX_OK;
}

int hx_bench_plan_is_same(const hx_bench_plan *a, const hx_bench_plan *b)
{
    return a->shape == b->shape && a->element == b->element && memcmp(a->n, b->n, sizeof a->n) == 0;
}

double hx_bench_plan_size(const hx_bench_plan *plan)
{
    return (double)plan->n_elem * kinds[plan->element].n_pair / kinds[HX_BENCH_HEX8].n_pair;
}

static void place_points(const int n[3], double *xyz)
{
    const double pi = acos(-1.0);
    const int64_t n_row = (int64_t)n[1] * (n[2] + 1);
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < n_row; row++) {
        const double angle = 2.0 * pi * (double)(row % n[1]) / n[1];
        for (int i = 0; i <= n[0]; i++) {
            double *const x = xyz + 3 * (row * (n[0] + 1) + i);
            const double radius = INNER + (OUTER - INNER) * i / n[0];
            x[0] = radius * cos(angle);
            x[1] = radius * sin(angle);
            /* NOLINTNEXTLINE(bugprone-integer-division): the layer */
            x[2] = LENGTH * (double)(row / n[1]) / n[2];
        }
    }
}

/* Connects points in radial, circumferential and axial direction. */
static void connect_points(const int n[3], int32_t *conn)
{
    const int64_t radius = n[0] + 1, around = n[1], n_row = around * n[2];
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < n_row; row++)
        for (int i = 0; i < n[0]; i++) {
            const int64_t layer = row / around, k = row % around, next = (k + 1) % around;
            const int64_t a = (layer * around + k) * radius + i;
            const int64_t d = (layer * around + next) * radius + i, up = around * radius;
            const int64_t corner[8] = {a, a + 1, d + 1, d, a + up, a + up + 1, d + up + 1, d + up};
            for (int c = 0; c < 8; c++) conn[8 * (row * n[0] + i) + c] = (int32_t)corner[c];
        }
}

static int make_cylinder(hx_mesh *mesh, const int n[3])
{
    const int64_t n_node = (int64_t)(n[0] + 1) * n[1] * (n[2] + 1);
    const int64_t n_elem = (int64_t)n[0] * n[1] * n[2];
    double *xyz = NULL;
    int32_t *conn = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)n_node, sizeof *xyz, "coordinates"));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)n_elem, sizeof *conn, "elements"));
    place_points(n, xyz);
    connect_points(n, conn);
    /* takes ownership of both */
    return hx_mesh_create(mesh, "cylinder", n_node, xyz, n_elem, conn);
fail:
    free(xyz);
    free(conn);
    return rc;
}

/* Splits a hexahedron into six tetrahedra, from the corner with the lowest number to both halves of
 * each face that does not contain it. Each face is halved from its own corner with the lowest
 * number, so that neighbours halve a face in the same way (Dompierre 1999). */
static void split(const int32_t hex[8], int32_t *tet)
{
    int32_t low = hex[0];
    for (int a = 1; a < 8; a++)
        if (hex[a] < low) low = hex[a];
    for (int f = 0; f < 6; f++) {
        int32_t corner[4];
        int first = 0, has = 0;
        for (int i = 0; i < 4; i++) {
            corner[i] = hex[hx_hex_face[f][i]];
            has |= corner[i] == low;
            if (corner[i] < corner[first]) first = i;
        }
        for (int half = 0; !has && half < 2; half++, tet += 8) {
            const int32_t a = corner[first], b = corner[(first + 1 + half) % 4],
                          c = corner[(first + 2 + half) % 4];
            const int32_t conn[8] = {a, c, b, b, low, low, low, low}; /* seen from inside */
            memcpy(tet, conn, sizeof conn);
        }
    }
}

static int split_all(hx_mesh *mesh)
{
    const int64_t n_hex = mesh->n_elem, n_node = mesh->n_node;
    double *const xyz = mesh->xyz;
    int32_t *conn = NULL;
    HX_TRY(hx_alloc_raw(&conn, 6 * 8 * (size_t)n_hex, sizeof *conn, "tetrahedra"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_hex; e++) split(mesh->conn + 8 * e, conn + 6 * 8 * e);
    mesh->xyz = NULL; /* ownership passes to the new mesh */
    hx_mesh_free(mesh);
    return hx_mesh_create(mesh, "tetrahedra", n_node, xyz, 6 * n_hex, conn);
}

int hx_bench_part_make(hx_bench_part *part, const hx_bench_plan *plan)
{
    hx_mesh *const mesh = &part->mesh;
    const int *const n = plan->n, is_quadratic = kinds[plan->element].is_quadratic;
    int rc;
    memset(part, 0, sizeof *part);
    if (plan->shape == HX_BENCH_CUBE)
        HX_TRY_FAIL(hx_generate_box(mesh, n[0], n[1], n[2], 1.0, 1.0, 1.0));
    else
        HX_TRY_FAIL(plan->shape == HX_BENCH_ROD ? make_rod(mesh, plan) : make_cylinder(mesh, n));
    if (kinds[plan->element].is_tet) HX_TRY_FAIL(split_all(mesh));
    HX_TRY_FAIL(hx_mesh_reorder(mesh));
    HX_TRY_FAIL(hx_mesh_finish(mesh));
    HX_TRY_FAIL(hx_space_create(&part->space, mesh,
                                is_quadratic ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR));
    if (mesh->n_elem != plan->n_elem || part->space.n_point != plan->n_point) {
        rc = HX_RAISE(HX_EINTERNAL, "the mesh has other counts than planned");
        goto fail;
    }
    return HX_OK;
fail:
    hx_bench_part_free(part);
    return rc;
}

void hx_bench_part_free(hx_bench_part *part)
{
    hx_space_free(&part->space);
    hx_mesh_free(&part->mesh);
    memset(part, 0, sizeof *part);
}

int hx_bench_cube(hx_mesh *mesh, int n)
{
    int rc;
    memset(mesh, 0, sizeof *mesh);
    HX_TRY_FAIL(hx_generate_box(mesh, n, n, n, 1.0, 1.0, 1.0));
    HX_TRY_FAIL(hx_mesh_reorder(mesh));
    HX_TRY_FAIL(hx_mesh_finish(mesh));
    return HX_OK;
fail:
    hx_mesh_free(mesh);
    return rc;
}
