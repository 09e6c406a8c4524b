/* Surfaces that keep to an overhang limit, or that a tool reaches: shapes whose roofs, chamfers and
 * nodal densities are known. */
#include "core/base/vec3.h"
#include "core/surface/surface_hidden.h"
#include "core/surface/surface_reach.h"
#include "core/surface/surface_shadow.h"
#include "tests/lib/surface_case.h"

enum { NX = 16, NY = 4, NZ = 10 };

static const double up[3] = {0.0, 0.0, 1.0};
static const hx_overhang_limit limit = {{0.0, 0.0, 1.0}, 45.0, {-1e-3, 1e-3}, 1.0};

/* A block of unit cubes with a tunnel along y, whose flanks rise at 45 degrees to a roof as wide
 * as `roof` elements, cut and smoothed. */
static void make_tunnel(part *p, int roof, fixture_order order)
{
    const fixture_box box = {{NX, NY, NZ}, {NX, NY, NZ}, 0.0, 0};
    hx_surface_smoothing smoothing;
    double volume = 0.0, threshold;
    memset(p, 0, sizeof *p);
    CHECK_OK(fixture_box_create(&p->mesh, &box));
    CHECK_OK(fixture_finish(&p->mesh, order));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        const double wide = fmax(0.5 * roof, fmin(5.0, 4.0 - x[2] + 0.5 * roof + 0.5));
        p->rho[e] = x[2] < 4.0 && fabs(x[0] - 8.0) < wide ? 0.001 : 1.0;
        volume += p->rho[e];
    }
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
    CHECK_OK(hx_surface_threshold(&p->field, volume, &threshold, &volume));
    CHECK_OK(hx_surface_extract(&p->surface, &p->field, threshold));
    CHECK_OK(hx_surface_smooth(&p->surface, &p->field, HX_SURFACE_STEPS, &smoothing));
}

static void check_closed(const hx_surface *s, double volume)
{
    hx_surface_report report;
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F32, &report));
    CHECK(report.is_closed_manifold && report.n_crossing == 0);
    CHECK_REL(report.volume, volume, 1e-6);
}

/* Narrow roofs become ridges; vertices on the plate stay, and none goes down. */
static void check_tunnel(int roof)
{
    part p, q;
    hx_surface_held held, again;
    make_tunnel(&p, roof, FIXTURE_IN_ORDER);
    const int64_t n_vertex = p.surface.n_vertex;
    double *const before = malloc(3 * (size_t)n_vertex * sizeof *before);
    memcpy(before, p.surface.xyz, 3 * (size_t)n_vertex * sizeof *before);
    const double share = hx_surface_overhang_share(&p.surface, up, 45.0, limit.base);
    fixture_set_threads(3);
    CHECK_OK(hx_surface_hold_overhang(&p.surface, &limit, &held));
    fixture_set_threads(1);
    const double left = hx_surface_overhang_share(&p.surface, up, 45.0, limit.base);
    printf(
        "roof of %d: %.2f %% too flat, then %.2f %%; %d vertices moved, %d kept, volume %+.2f %%\n",
        roof, 100.0 * share, 100.0 * left, (int)held.n_moved, (int)held.n_kept,
        100.0 * (held.volume_after / held.volume_before - 1.0));
    CHECK(share > 0.02 && left < (roof == 1 ? 1e-4 : 0.01));
    CHECK(held.n_moved > 0 && held.volume_after < held.volume_before);
    CHECK(held.volume_after > 0.98 * held.volume_before);
    for (int64_t v = 0; v < n_vertex; v++) {
        const double *const x = p.surface.xyz + 3 * v, *const y = before + 3 * v;
        CHECK(x[0] == y[0] && x[1] == y[1] && x[2] >= y[2] && x[2] <= y[2] + 3.0);
        CHECK(y[2] > 1e-3 || x[2] == y[2]);
    }
    check_closed(&p.surface, held.volume_after);
    make_tunnel(&q, roof, FIXTURE_IN_ORDER); /* with one thread */
    CHECK_OK(hx_surface_hold_overhang(&q.surface, &limit, &again));
    CHECK(q.surface.n_vertex == p.surface.n_vertex);
    CHECK(memcmp(q.surface.xyz, p.surface.xyz, 3 * (size_t)q.surface.n_vertex * sizeof *before) ==
          0);
    part_free(&q);
    make_tunnel(&q, roof, FIXTURE_SHUFFLED);
    CHECK_OK(hx_surface_hold_overhang(&q.surface, &limit, &again));
    CHECK_REL(again.volume_after, held.volume_after, 2e-3);
    CHECK_ABS(hx_surface_overhang_share(&q.surface, up, 45.0, limit.base), left, 5e-3);
    part_free(&q);
    part_free(&p);
    free(before);
}

/* The middle of a wide roof would have to rise by more than an element: it stays where it was. */
static void check_wide_roof(void)
{
    part p;
    hx_surface_held held;
    make_tunnel(&p, 8, FIXTURE_IN_ORDER);
    const double share = hx_surface_overhang_share(&p.surface, up, 45.0, limit.base);
    CHECK_OK(hx_surface_hold_overhang(&p.surface, &limit, &held));
    const double left = hx_surface_overhang_share(&p.surface, up, 45.0, limit.base);
    printf("roof of 8: %.2f %% too flat, then %.2f %%; %d vertices kept\n", 100.0 * share,
           100.0 * left, (int)held.n_kept);
    CHECK(held.n_kept > 0 && left < share && left > 0.5 * share);
    CHECK(held.volume_after > 0.96 * held.volume_before);
    check_closed(&p.surface, held.volume_after);
    part_free(&p);
}

enum { N_SIDE = 5 };

/* A convex polygon of x and z, counter-clockwise as seen from -y, along y from 0 to n. */
static void make_prism(hx_surface *s, const double side[N_SIDE][2], int n)
{
    int64_t t = 0;
    memset(s, 0, sizeof *s);
    s->n_vertex = (int64_t)N_SIDE * (n + 1);
    s->n_tri = (int64_t)2 * N_SIDE * n + 2 * (N_SIDE - 2);
    s->xyz = malloc(3 * (size_t)s->n_vertex * sizeof *s->xyz);
    s->edge = malloc(2 * (size_t)s->n_vertex * sizeof *s->edge);
    s->tri = malloc(3 * (size_t)s->n_tri * sizeof *s->tri);
    s->is_cap = calloc((size_t)s->n_tri, 1);
    for (int32_t v = 0; v < s->n_vertex; v++) {
        double *const x = s->xyz + 3 * (int64_t)v;
        x[0] = side[v % N_SIDE][0], x[1] = v / N_SIDE, x[2] = side[v % N_SIDE][1];
        s->edge[2 * (int64_t)v] = s->edge[2 * (int64_t)v + 1] = -1;
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < N_SIDE; i++) {
            const int32_t a = N_SIDE * j + i, b = N_SIDE * j + (i + 1) % N_SIDE;
            const int32_t quad[6] = {a, b + N_SIDE, b, a, a + N_SIDE, b + N_SIDE};
            memcpy(s->tri + 3 * t, quad, sizeof quad);
            t += 2;
        }
    for (int32_t i = 1; i < N_SIDE - 1; i++) {
        const int32_t end = N_SIDE * n, ends[6] = {0, i, i + 1, end, end + i + 1, end + i};
        memcpy(s->tri + 3 * t, ends, sizeof ends);
        t += 2;
    }
}

/* A bar along y with a chamfer between the faces x = 0 and z = 0, which face away from +x and +z:
 * it gets sharp, and the volume grows by about its prism. */
static void check_chamfer(void)
{
    enum { N = 6 };
    const double size = 1.0, cut = 0.8, direction[2][3] = {{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}};
    const double side[5][2] = {{cut, 0.0}, {4.0, 0.0}, {4.0, 4.0}, {0.0, 4.0}, {0.0, cut}};
    hx_surface s;
    hx_surface_held held;
    double share, left;
    make_prism(&s, side, N);
    CHECK_OK(hx_surface_unreached_share(&s, 2, direction, 0.1 * size, &share));
    CHECK_OK(hx_surface_fill_hidden(&s, 2, direction, size, &held));
    CHECK_OK(hx_surface_unreached_share(&s, 2, direction, 0.1 * size, &left));
    const double prism = 0.5 * cut * cut * N, grown = held.volume_after - held.volume_before;
    printf("chamfer: %.2f %% hidden, then %.2f %%; %.0f %% of its prism filled\n", 100.0 * share,
           100.0 * left, 100.0 * grown / prism);
    CHECK(share > 0.02 && left < 0.4 * share);
    CHECK(grown > 0.6 * prism && grown < 1.01 * prism && held.n_moved > 0);
    check_closed(&s, held.volume_after);
    const double volume = held.volume_after;
    CHECK_OK(
        hx_surface_fill_hidden(&s, 1, direction, 0.2, &held)); /* the face x = 0 lies too deep */
    CHECK_REL(held.volume_after, volume, 0.02);
    hx_surface_free(&s);
}

static void random_field(part *p, const fixture_box *box)
{
    uint64_t state = 3;
    memset(p, 0, sizeof *p);
    CHECK_OK(fixture_box_create(&p->mesh, box));
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_SHUFFLED));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    for (int64_t e = 0; e < p->mesh.n_elem; e++) p->rho[e] = fixture_uniform(&state, 0.0, 1.0);
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
}

/* The node at a place of the regular mesh. */
static int64_t node_at(const hx_mesh *mesh, const double x[3])
{
    for (int64_t a = 0; a < mesh->n_node; a++) {
        double off = 0.0;
        for (int d = 0; d < 3; d++) off += fabs(mesh->xyz[3 * a + d] - x[d]);
        if (off < 1e-9) return a;
    }
    return -1;
}

/* The largest of the densities from node a on along an axis; sign: which way. */
static double shadow_of(const part *p, const double *value, int64_t a, int axis, double sign)
{
    double x[3], most = -1.0;
    memcpy(x, p->mesh.xyz + 3 * a, sizeof x);
    for (int64_t b = a; b >= 0; x[axis] += sign, b = node_at(&p->mesh, x))
        test_worst(&most, value[b]);
    return most;
}

/* On unit cubes the result is known at each node: from one direction, two, and a parting plane. */
static void check_shadows(void)
{
    const fixture_box box = {{5, 4, 6}, {5.0, 4.0, 6.0}, 0.0, 0};
    const double direction[2][3] = {{0.0, 0.0, 1.0}, {0.0, -1.0, 0.0}}, plane[3] = {9.0, 9.0, 2.0};
    const struct {
        int n;
        const double *parting;
    } scene[] = {{1, NULL}, {2, NULL}, {1, plane}};
    for (int i = 0; i < 3; i++) {
        const hx_shadow_limit cast = {scene[i].n, direction, scene[i].parting};
        part p;
        int64_t n_raised, n_again;
        random_field(&p, &box);
        double *const value = malloc((size_t)p.mesh.n_node * sizeof *value);
        memcpy(value, p.field.value, (size_t)p.mesh.n_node * sizeof *value);
        CHECK_OK(hx_surface_cast_shadows(&p.field, &cast, &n_raised));
        CHECK(n_raised > 0 && n_raised < p.mesh.n_node);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            const double z = p.mesh.xyz[3 * a + 2] - plane[2];
            double least = shadow_of(&p, value, a, 2, !scene[i].parting || z > -1e-9 ? 1.0 : -1.0);
            if (scene[i].n == 2) least = fmin(least, shadow_of(&p, value, a, 1, -1.0));
            if (scene[i].parting &&
                fabs(z) < 1e-9) /* what one side gives the plane, the other gets */
                continue;
            CHECK(p.field.value[a] >= least - 1e-6);
            if (!scene[i].parting) CHECK_ABS(p.field.value[a], least, 1e-6);
        }
        CHECK_OK(hx_surface_cast_shadows(&p.field, &cast, &n_again));
        CHECK(n_again == 0);
        free(value);
        part_free(&p);
    }
}

/* On a distorted mesh and along any direction: densities only rise, and a second time nothing
 * does. */
static void check_distorted(void)
{
    const fixture_box box = {{5, 4, 6}, {5.0, 4.0, 6.0}, 0.2, 1};
    const double length = sqrt(0.04 + 0.09 + 1.0);
    const double direction[1][3] = {{0.2 / length, -0.3 / length, 1.0 / length}};
    const hx_shadow_limit cast = {1, direction, NULL};
    part p;
    int64_t n_raised, n_again;
    random_field(&p, &box);
    double *const value = malloc((size_t)p.mesh.n_node * sizeof *value);
    memcpy(value, p.field.value, (size_t)p.mesh.n_node * sizeof *value);
    CHECK_OK(hx_surface_cast_shadows(&p.field, &cast, &n_raised));
    CHECK(n_raised > p.mesh.n_node / 4);
    for (int64_t a = 0; a < p.mesh.n_node; a++)
        CHECK(p.field.value[a] >= value[a] && p.field.value[a] <= 1.0);
    CHECK_OK(hx_surface_cast_shadows(&p.field, &cast, &n_again));
    CHECK(n_again == 0);
    free(value);
    part_free(&p);
}

int main(void)
{
    fixture_set_threads(1);
    for (int roof = 1; roof <= 2; roof++) check_tunnel(roof);
    check_wide_roof();
    check_chamfer();
    check_shadows();
    check_distorted();
    TEST_END();
}
