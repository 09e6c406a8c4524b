/* Regions: the members of their sets against the definitions, and errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/generate/generate.h"
#include "core/mesh/mesh.h"
#include "core/mesh/region.h"
#include "tests/lib/test.h"

static int inside(const hx_region *r, double tol, double x, double y, double z)
{
    const double dx = x - r->point[0], dy = y - r->point[1], dz = z - r->point[2];
    const double *const a = r->axis;
    const double norm = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    const double along = norm > 0.0 ? (dx * a[0] + dy * a[1] + dz * a[2]) / norm : 0.0;
    double distance = sqrt(dx * dx + dy * dy + dz * dz);
    switch (r->kind) {
    case HX_REGION_PLANE:
        return fabs(along) <= tol;
    case HX_REGION_BOX:
        return x >= r->point[0] - tol && x <= a[0] + tol && y >= r->point[1] - tol &&
               y <= a[1] + tol && z >= r->point[2] - tol && z <= a[2] + tol;
    case HX_REGION_CYLINDER:
        if (r->length > 0.0 && (along < -tol || along > r->length + tol)) return 0;
        distance = sqrt(fmax(0.0, distance * distance - along * along)); /* fall through */
    default:
        return distance >= r->inner - tol && distance <= r->radius + tol;
    }
}

static void check_region(hx_mesh *mesh, const char *name, const hx_region *region, double tol)
{
    int64_t wrong = 0, n_node = 0, n_elem = 0;
    CHECK_OK(hx_mesh_add_region(mesh, name, region));
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    if (!set) return;
    for (int32_t a = 0; a < mesh->n_node; a++) {
        const double *const x = mesh->xyz + 3 * a;
        if (!inside(region, tol, x[0], x[1], x[2])) continue;
        wrong += n_node >= set->n_node || set->node[n_node] != a;
        n_node++;
    }
    for (int32_t e = 0; e < mesh->n_elem; e++) {
        double c[3] = {0, 0, 0};
        for (int i = 0; i < 8; i++)
            for (int d = 0; d < 3; d++) c[d] += mesh->xyz[3 * mesh->conn[8 * e + i] + d] / 8.0;
        if (!inside(region, tol, c[0], c[1], c[2])) continue;
        wrong += n_elem >= set->n_elem || set->elem[n_elem] != e;
        n_elem++;
    }
    CHECK_MSG(wrong == 0 && n_node == set->n_node && n_elem == set->n_elem,
              "%s: %lld nodes, %lld elements, %lld wrong", name, (long long)n_node,
              (long long)n_elem, (long long)wrong);
    CHECK(n_node + n_elem > 0 && n_node + n_elem < mesh->n_node + mesh->n_elem);
}

static int has(const int32_t *list, int64_t n, int32_t value)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i] == value) return 1;
    return 0;
}

/* and, or, not of ball and slab against their definition. */
static void check_combination(hx_mesh *mesh, hx_region_kind kind, const char *name)
{
    const char *const operand[2] = {"ball", "slab"};
    hx_region region = {.kind = kind, .tolerance = -1, .n_operand = 2, .operand = operand};
    CHECK_OK(hx_mesh_add_region(mesh, name, &region));
    const hx_set *const c = hx_mesh_find_set(mesh, name);
    const hx_set *const a = hx_mesh_find_set(mesh, "ball"), *const b =
                                                                hx_mesh_find_set(mesh, "slab");
    int64_t wrong = 0;
    for (int32_t i = 0; i < mesh->n_node; i++) {
        const int p = has(a->node, a->n_node, i), q = has(b->node, b->n_node, i);
        const int want = kind == HX_REGION_AND ? p && q : kind == HX_REGION_OR ? p || q : !p && !q;
        wrong += want != has(c->node, c->n_node, i);
    }
    for (int32_t i = 0; i < mesh->n_elem; i++) {
        const int p = has(a->elem, a->n_elem, i), q = has(b->elem, b->n_elem, i);
        const int want = kind == HX_REGION_AND ? p && q : kind == HX_REGION_OR ? p || q : !p && !q;
        wrong += want != has(c->elem, c->n_elem, i);
    }
    CHECK_MSG(wrong == 0, "%s: %lld wrong", name, (long long)wrong);
    CHECK(c->n_node > 0 && c->n_elem > 0 && c->n_node < mesh->n_node && c->n_elem < mesh->n_elem);
}

static void test_regions(void)
{
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, 10, 8, 6, 10, 8, 6));
    CHECK_OK(hx_mesh_distort(&mesh, 0.25, 1));
    CHECK_OK(hx_mesh_shuffle(&mesh, 1));
    hx_region r = {
        .kind = HX_REGION_PLANE, .point = {10, 1, 1}, .axis = {-3, 0, 0}, .tolerance = -1};
    CHECK_FAILS(hx_mesh_add_region(&mesh, "early", &r), HX_EINTERNAL, "unfinished");
    CHECK_OK(hx_mesh_finish(&mesh));
    const double tol = 1e-6 * sqrt(200.0);
    check_region(&mesh, "plane", &r, tol);
    CHECK(hx_mesh_find_set(&mesh, "plane")->n_node == 9 * 7);
    CHECK_FAILS(hx_mesh_add_region(&mesh, "plane", &r), HX_EINPUT, "choose another");
    CHECK_FAILS(hx_mesh_add_region(&mesh, "left", &r), HX_EINPUT, "choose another");
    CHECK_FAILS(hx_mesh_add_region(&mesh, "", &r), HX_EINPUT, "needs a name");
    r.point[0] = 10.0 + 0.9 * tol; /* slightly within the tolerance, and slightly outside */
    CHECK_OK(hx_mesh_add_region(&mesh, "near", &r));
    CHECK(hx_mesh_find_set(&mesh, "near")->n_node == 9 * 7);
    r.point[0] = 10.0 + 1.1 * tol;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "far", &r), HX_EINPUT, "set \"far\" is empty");
    CHECK(strstr(hx_error_message(), "plane through (10") != NULL);
    CHECK(strstr(hx_error_message(), "0 to 10 in x, 0 to 8 in y, 0 to 6 in z") != NULL);
    CHECK(hx_mesh_find_set(&mesh, "far") == NULL);

    const hx_region slant = {
        .kind = HX_REGION_PLANE, .point = {5, 4, 3}, .axis = {1, 2, -1}, .tolerance = 0.4};
    check_region(&mesh, "slant", &slant, 0.4);
    const hx_region slab = {
        .kind = HX_REGION_BOX, .point = {2, -1, 1}, .axis = {5, 20, 4}, .tolerance = -1};
    check_region(&mesh, "slab", &slab, tol);
    const hx_region tube = {.kind = HX_REGION_CYLINDER,
                            .point = {1, 4, 3},
                            .axis = {2, 1, 0},
                            .radius = 3,
                            .inner = 1,
                            .length = 5,
                            .tolerance = 0.05};
    check_region(&mesh, "tube", &tube, 0.05);
    hx_region rod = tube;
    rod.length = rod.inner = 0.0;
    check_region(&mesh, "rod", &rod, 0.05);
    const hx_region ball = {
        .kind = HX_REGION_SPHERE, .point = {4, 4, 3}, .radius = 2.5, .tolerance = -1};
    check_region(&mesh, "ball", &ball, tol);
    hx_region shell = ball;
    shell.inner = 1.7;
    check_region(&mesh, "shell", &shell, tol);
    check_combination(&mesh, HX_REGION_AND, "both");
    check_combination(&mesh, HX_REGION_OR, "either");
    check_combination(&mesh, HX_REGION_NOT, "neither");
    hx_mesh_free(&mesh);
}

static void test_region_errors(void)
{
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, 2, 2, 2, 2, 2, 2));
    CHECK_OK(hx_mesh_finish(&mesh));
    hx_region r = {.kind = HX_REGION_PLANE, .tolerance = -1, .radius = 1};
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "normal has length 0");
    r.kind = HX_REGION_CYLINDER;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "axis has length 0");
    r.axis[0] = 1;
    r.length = -1;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "length -1");
    r.length = 0;
    r.inner = 2;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "0 <= inner <= radius");
    r.inner = 0;
    r.point[1] = 20;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "lies in the cylinder");
    r.kind = HX_REGION_SPHERE;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "lies in the sphere");
    r.radius = 0;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "radius 0");
    r.kind = HX_REGION_BOX;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "min 20 is above its max 0 in y");
    r.axis[1] = 21;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "lies in the box");
    r.point[0] = NAN;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &r), HX_EINPUT, "not finite");
    const char *const operand[2] = {"left", "lft"};
    hx_region c = {.kind = HX_REGION_AND, .tolerance = -1, .n_operand = 2, .operand = operand};
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &c), HX_EINPUT,
                "there is no set \"lft\" (so far: left");
    const char *const apart[2] = {"left", "right"};
    c.operand = apart;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &c), HX_EINPUT, "is in all of the sets named");
    c.n_operand = 0;
    CHECK_FAILS(hx_mesh_add_region(&mesh, "a", &c), HX_EINPUT, "need the name of a set");
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_regions();
    test_region_errors();
    TEST_END();
}
