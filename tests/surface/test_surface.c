/* Surfaces of densities: closed and manifold for any density, and exact if the density defines the
 * solid exactly. */
#include "core/mesh/hex_jacobian.h"
#include "tests/lib/box_part.h"
#include "tests/lib/surface_case.h"

static void centroid(const hx_mesh *mesh, int64_t e, double x[3])
{
    x[0] = x[1] = x[2] = 0.0;
    for (int i = 0; i < 8; i++)
        for (int d = 0; d < 3; d++) x[d] += mesh->xyz[3 * mesh->conn[8 * e + i] + d] / 8.0;
}

static void check_closed(const hx_surface *s, hx_surface_report *report, const char *what)
{
    for (int precision = HX_SURFACE_F64; precision <= HX_SURFACE_F32; precision++) {
        CHECK_OK(hx_surface_check(s, (hx_surface_precision)precision, report));
        CHECK_MSG(report->is_closed_manifold, "%s: %lld bad edges, %lld vertices, %lld triangles",
                  what, (long long)report->n_bad_edge, (long long)report->n_bad_vertex,
                  (long long)report->n_degenerate);
    }
    CHECK_OK(hx_surface_check(s, HX_SURFACE_F64, report));
}

/* Nothing is cut: the surface is the mesh's boundary up to rounding, and smoothing moves
 * nothing. */
static void test_full(void)
{
    const fixture_box boxes[] = {{{4, 3, 2}, {4.0, 3.0, 2.0}, 0.0, 0},
                                 {{5, 4, 6}, {1.0, 2.0, 1.5}, 0.2, 1}};
    for (int i = 0; i < 2; i++) {
        part p;
        double volume;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        make_box(&p, &boxes[i]);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        hx_surface_volume(&p.field, 0.5, &volume);
        CHECK_REL(volume, p.mesh.total_volume, 1e-12);
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
        check_closed(&p.surface, &r, "full");
        CHECK_REL(r.volume, p.mesh.total_volume, 1e-12);
        CHECK(r.n_shell == 1 && r.n_cavity == 0 && r.genus == 0 && r.euler == 2);
        for (int64_t t = 0; t < p.surface.n_tri; t++) CHECK(p.surface.is_cap[t]);
        if (i == 0) CHECK_REL(r.area, 52.0, 1e-12);
        if (i == 0) CHECK(r.n_tri == 2 * 52);
        for (int d = 0; d < 3; d++) CHECK(r.max[d] == p.mesh.box_max[d]);
        part_free(&p);
    }
}

/* Nodal values of a signed distance: volume and area of a ball, to second order. */
static void test_ball(void)
{
    double error[2][2];
    for (int k = 0; k < 2; k++) {
        const int n = 12 << k;
        const fixture_box box = {{n, n, n}, {2.0, 2.0, 2.0}, 0.2, 0};
        const double radius = 0.8, pi = 3.14159265358979323846;
        const double exact[2] = {4.0 / 3.0 * pi * pow(radius, 3), 4.0 * pi * radius * radius};
        part p;
        hx_surface_report r;
        make_box(&p, &box);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            const double *x = p.mesh.xyz + 3 * a;
            p.field.value[a] =
                radius - sqrt((x[0] - 1.0) * (x[0] - 1.0) + (x[1] - 1.0) * (x[1] - 1.0) +
                              (x[2] - 1.0) * (x[2] - 1.0));
        }
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
        check_closed(&p.surface, &r, "ball");
        CHECK(r.n_shell == 1 && r.genus == 0);
        error[k][0] = fabs(r.volume / exact[0] - 1.0);
        error[k][1] = fabs(r.area / exact[1] - 1.0);
        part_free(&p);
    }
    printf("ball: volume off by %.2g, %.2g; area by %.2g, %.2g\n", error[0][0], error[1][0],
           error[0][1], error[1][1]);
    for (int i = 0; i < 2; i++) CHECK(error[1][i] < 0.35 * error[0][i] && error[1][i] < 0.01);
}

/* A ring has one hole; a hollow ball one cavity; two balls are two pieces. */
static void test_topology(void)
{
    static const struct {
        const char *name;
        int n_shell, n_cavity, genus;
    } expected[] = {{"ring", 1, 0, 1}, {"hollow ball", 1, 1, 0}, {"two balls", 2, 0, 0}};
    const fixture_box box = {{20, 20, 20}, {2.0, 2.0, 2.0}, 0.2, 0};
    for (int i = 0; i < 3; i++) {
        part p;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        make_box(&p, &box);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            const double x = p.mesh.xyz[3 * a] - 1.0, y = p.mesh.xyz[3 * a + 1] - 1.0,
                         z = p.mesh.xyz[3 * a + 2] - 1.0;
            const double ring = hypot(hypot(x, y) - 0.6, z), ball = sqrt(x * x + y * y + z * z);
            const double two = sqrt(pow(fabs(x) - 0.5, 2) + y * y + z * z);
            const double value[] = {0.25 - ring, 0.25 - fabs(ball - 0.6), 0.4 - two};
            p.field.value[a] = value[i];
        }
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
        for (int smooth = 0; smooth < 2; smooth++) {
            if (smooth) CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
            check_closed(&p.surface, &r, expected[i].name);
            CHECK_MSG(r.n_shell == expected[i].n_shell && r.n_cavity == expected[i].n_cavity &&
                          r.genus == expected[i].genus,
                      "%s: %lld shells, %lld cavities, genus %lld", expected[i].name,
                      (long long)r.n_shell, (long long)r.n_cavity, (long long)r.genus);
        }
        CHECK_REL(smoothing.volume_after, smoothing.volume_before, 1e-4);
        int64_t n_piece;
        int32_t *piece = malloc((size_t)p.mesh.n_node * sizeof *piece);
        CHECK_OK(hx_surface_pieces(&p.field, 0.0, piece, &n_piece, NULL));
        CHECK(n_piece == expected[i].n_shell);
        free(piece);
        part_free(&p);
    }
}

/* Smoothing preserves the volume of every piece: discs in a plate of one layer, whose vertices all
 * slide on edges of the mesh, and balls of different sizes, of which the smallest shrink most. */
static void test_pieces_keep_volume(void)
{
    static const double centre[3][2] = {{0.55, 0.6}, {1.5, 0.5}, {1.4, 1.5}};
    static const double radius[3] = {0.45, 0.22, 0.12};
    for (int is_ball = 0; is_ball < 2; is_ball++)
        for (int n_piece = 1; n_piece <= 3; n_piece++) {
            const fixture_box box = {
                {20, 20, is_ball ? 12 : 1}, {2.0, 2.0, is_ball ? 1.2 : 0.1}, 0.2, 0};
            part p;
            hx_surface_report before, after;
            hx_surface_smoothing smoothing;
            make_box(&p, &box);
            for (int64_t a = 0; a < p.mesh.n_node; a++) {
                const double *x = p.mesh.xyz + 3 * a, z = is_ball ? x[2] - 0.6 : 0.0;
                p.field.value[a] = -10.0;
                for (int k = 0; k < n_piece; k++) {
                    const double d = hypot(hypot(x[0] - centre[k][0], x[1] - centre[k][1]), z);
                    p.field.value[a] = fmax(p.field.value[a], radius[k] - d);
                }
            }
            CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
            check_closed(&p.surface, &before, "discs");
            CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
            check_closed(&p.surface, &after, "discs, smoothed");
            CHECK(before.n_shell == n_piece && after.n_shell == n_piece && smoothing.n_held == 0);
            CHECK_REL(after.volume, before.volume, 1e-5);
            CHECK_REL(after.largest_share, before.largest_share, 1e-5);
            part_free(&p);
        }
}

/* Specks of one node beside a ball, which smoothing shrinks to next to nothing: they get their
 * volume back, and no vertex flies away on the way. */
static void test_specks_stay(void)
{
    const fixture_box box = {{16, 8, 8}, {2.0, 1.0, 1.0}, 0.2, 0};
    for (int n_step = 5; n_step <= 60; n_step += 5) {
        part p;
        hx_surface_report before, after;
        hx_surface_smoothing smoothing;
        make_box(&p, &box);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            const double *x = p.mesh.xyz + 3 * a;
            p.field.value[a] = 0.3 - hypot(hypot(x[0] - 0.5, x[1] - 0.5), x[2] - 0.5);
            if (x[0] > 1.0) p.field.value[a] = a % 29 == 0 ? 0.2 : -1.0 - (double)(a % 7);
        }
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
        check_closed(&p.surface, &before, "specks");
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, n_step, &smoothing));
        check_closed(&p.surface, &after, "specks, smoothed");
        CHECK(before.n_shell > 3 && after.n_shell == before.n_shell);
        CHECK_REL(after.volume, before.volume, 1e-5);
        CHECK_MSG(after.area < 1.05 * before.area, "%d steps: area %g, was %g", n_step, after.area,
                  before.area);
        part_free(&p);
    }
}

/* Random values at the nodes: every kind of element, many times. */
static void test_random(void)
{
    enum { N_SEED = 50 };
    int64_t n_tri = 0, n_held = 0, n_crossing = 0;
    for (uint64_t seed = 1; seed <= N_SEED; seed++) {
        const fixture_box box = {{7, 6, 5}, {7.0, 6.0, 5.0}, 0.25, 1};
        uint64_t state = seed * 7919;
        part p;
        double volume;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        make_box(&p, &box);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
            if (seed % 2) p.field.value[a] = floor(5.0 * p.field.value[a]) / 4.0; /* ties */
        }
        const double threshold = seed % 3 ? 0.5 : 0.75;
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
        check_closed(&p.surface, &r, "random");
        hx_surface_volume(&p.field, threshold, &volume);
        CHECK_REL(r.volume, volume, 1e-11);
        const int64_t n_before = r.n_crossing; /* random values on curved elements cause a few */
        CHECK(p.surface.n_split == 0);         /* this mesh does not touch itself */
        int64_t n_piece;
        int32_t *piece = malloc((size_t)p.mesh.n_node * sizeof *piece);
        CHECK_OK(hx_surface_pieces(&p.field, threshold, piece, &n_piece, NULL));
        CHECK_MSG(n_piece == r.n_shell, "%lld pieces, %lld shells", (long long)n_piece,
                  (long long)r.n_shell);
        free(piece);
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 5, &smoothing));
        check_closed(&p.surface, &r, "random, smoothed");
        CHECK_MSG(r.n_crossing <= n_before, "%lld crossings, %lld before smoothing",
                  (long long)r.n_crossing, (long long)n_before);
        n_crossing += n_before;
        n_tri += r.n_tri;
        n_held += smoothing.n_held;
        part_free(&p);
    }
    printf("random: %lld triangles, %lld crossings, %lld vertices held\n", (long long)n_tri,
           (long long)n_crossing, (long long)n_held);
    CHECK(n_crossing < 50);
}

static int keep_checkerboard(int i, int j, int k)
{
    return (i + j + k) % 2 == 0;
}

/* Two columns that touch along an edge between two plates that join them. */
static int keep_pinched(int i, int j, int k)
{
    return k == 0 || k == 3 || i == j;
}

static int keep_corner(int i, int j, int k)
{
    return (i < 2) == (j < 2) && (j < 2) == (k < 2);
}

/* Meshes whose elements touch only in edges and nodes: cut open, still closed and manifold. */
static void test_touching(void)
{
    static const struct {
        const char *name;
        int n[3];
        int (*keep)(int, int, int);
        int n_shell;
    } cases[] = {{"checkerboard", {4, 4, 4}, keep_checkerboard, 32},
                 {"pinched", {2, 2, 4}, keep_pinched, 1},
                 {"corner", {4, 4, 4}, keep_corner, 2}};
    for (int i = 0; i < 3; i++) {
        part p;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        const box_part shape = {.n = {cases[i].n[0], cases[i].n[1], cases[i].n[2]},
                                .keep = cases[i].keep,
                                .distort = 0.05};
        memset(&p, 0, sizeof p);
        CHECK_OK(box_part_create(&p.mesh, &shape));
        CHECK_OK(fixture_finish(&p.mesh, FIXTURE_REORDERED));
        p.rho = malloc((size_t)p.mesh.n_elem * sizeof *p.rho);
        for (int64_t e = 0; e < p.mesh.n_elem; e++) p.rho[e] = 1.0;
        CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, cases[i].name);
        CHECK(p.surface.n_split > 0);
        CHECK_MSG(r.n_shell == cases[i].n_shell, "%s: %lld shells", cases[i].name,
                  (long long)r.n_shell);
        CHECK_REL(r.volume, p.mesh.total_volume, 0.05);
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
        check_closed(&p.surface, &r, cases[i].name);
        hx_surface_free(&p.surface);
        uint64_t state = 99; /* and also cut by a random field */
        for (int64_t a = 0; a < p.mesh.n_node; a++)
            p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.4));
        check_closed(&p.surface, &r, cases[i].name);
        part_free(&p);
    }
}

static uint64_t keep_seed;

/* About half of the elements, at random. */
static int keep_random(int i, int j, int k)
{
    uint64_t state = keep_seed * 1000003 + (uint64_t)(i + 17 * j + 289 * k) * 7919 + 1;
    for (int n = 0; n < 3; n++) fixture_uniform(&state, 0.0, 1.0);
    return fixture_uniform(&state, 0.0, 1.0) < 0.55;
}

/* Meshes that touch themselves everywhere, whole and cut by a random field. */
static void test_random_touching(void)
{
    enum { N_SEED = 40 };
    int64_t n_split = 0;
    for (keep_seed = 1; keep_seed <= N_SEED; keep_seed++) {
        const box_part shape = {.n = {6, 6, 6}, .keep = keep_random, .distort = 0.1};
        uint64_t state = keep_seed;
        part p;
        double volume;
        hx_surface_report r;
        memset(&p, 0, sizeof p);
        CHECK_OK(box_part_create(&p.mesh, &shape));
        CHECK_OK(fixture_finish(&p.mesh, FIXTURE_SHUFFLED));
        p.rho = malloc((size_t)p.mesh.n_elem * sizeof *p.rho);
        for (int64_t e = 0; e < p.mesh.n_elem; e++) p.rho[e] = 1.0;
        CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
        for (int cut = 0; cut < 2; cut++) {
            for (int64_t a = 0; cut && a < p.mesh.n_node; a++)
                p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
            CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.4));
            check_closed(&p.surface, &r, cut ? "touching, cut" : "touching");
            hx_surface_volume(&p.field, 0.4, &volume);
            CHECK_REL(r.volume, volume, 0.05);
            n_split += p.surface.n_split;
            hx_surface_free(&p.surface);
        }
        part_free(&p);
    }
    printf("touching at random: %lld vertices added\n", (long long)n_split);
    CHECK(n_split > 1000);
}

/* --- forced-solid elements --- */

/* A box whose elements are forced solid if the function returns 1; rho applies to the others. */
static void make_body(part *p, const fixture_box *box, int (*solid)(const double x[3]), double rho)
{
    make_box(p, box);
    hx_surface_field_free(&p->field);
    uint8_t *is_solid = calloc((size_t)p->mesh.n_elem, 1);
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        centroid(&p->mesh, e, x);
        is_solid[e] = (uint8_t)solid(x);
        p->rho[e] = rho;
    }
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, is_solid));
    free(is_solid);
}

static double body_volume(const part *p)
{
    double sum = 0.0;
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, p->mesh.xyz, p->mesh.conn + 8 * e);
        if (p->field.body && p->field.body[e]) sum += hx_hex_volume(&map);
    }
    return sum;
}

static int in_frame(const double x[3])
{
    const double r = fmax(fabs(x[0] - 4.0), fabs(x[1] - 4.0));
    return r < 3.0 && r > 1.0 && x[2] > 1.0 && x[2] < 3.0;
}

static int in_slab(const double x[3])
{
    return x[2] < 2.0;
}

/* A body of forced-solid elements. In void, its surface is that of its elements up to rounding, at
 * the mesh's boundary and inside, also if faces are curved, and smoothing moves nothing. In solid,
 * there is no surface between the body and the rest. */
static void test_body(void)
{
    static int (*const shape[])(const double[3]) = {in_frame, in_slab};
    for (int i = 0; i < 4; i++) {
        const fixture_box box = {{8, 8, 4}, {8.0, 8.0, 4.0}, i < 2 ? 0.0 : 0.2, 0};
        part p;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        double threshold, volume;
        make_body(&p, &box, shape[i % 2], 0.001);
        const double exact = body_volume(&p);
        CHECK(exact > 16.0);
        hx_surface_volume(&p.field, 0.5, &volume);
        CHECK_REL(volume, exact, 1e-12);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
        check_closed(&p.surface, &r, "body");
        CHECK_REL(r.volume, exact, 1e-12);
        CHECK(r.n_shell == 1 && r.genus == (i % 2 == 0) && r.n_cavity == 0 && r.n_crossing == 0);
        for (int64_t t = 0; t < p.surface.n_tri; t++) CHECK(p.surface.is_cap[t]);
        CHECK_OK(hx_surface_threshold(&p.field, exact, &threshold, &volume));
        CHECK_REL(volume, exact, 1e-12);
        CHECK_FAILS(hx_surface_threshold(&p.field, 0.9 * exact, &threshold, &volume), HX_EINPUT,
                    "forced-solid elements");
        hx_surface_free(&p.surface);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0005));
        check_closed(&p.surface, &r, "body in solid");
        CHECK_REL(r.volume, p.mesh.total_volume, 1e-12);
        CHECK(r.n_shell == 1 && r.genus == 0 && r.n_cavity == 0);
        part_free(&p);
    }
}

static int in_ring(const double x[3])
{
    return fabs(hypot(x[0] - 4.0, x[1] - 4.0) - 2.3) < 1.0;
}

/* A ring through the mesh, in void, whose interface consists of steps: it is cut like the rest, has
 * its volume, and is round to a quarter of an element on average. Its ends are kept. */
static void test_ragged(void)
{
    const fixture_box box = {{16, 16, 4}, {8.0, 8.0, 4.0}, 0.2, 0};
    part p;
    hx_surface_report r;
    hx_surface_smoothing smoothing;
    double threshold, volume, exact = 0.0, teeth = 0.0;
    int64_t n = 0;
    make_body(&p, &box, in_ring, 0.001);
    CHECK(p.field.body == NULL);
    for (int64_t e = 0; e < p.mesh.n_elem; e++) {
        double x[3];
        hx_hex_map map;
        centroid(&p.mesh, e, x);
        hx_hex_map_init(&map, p.mesh.xyz, p.mesh.conn + 8 * e);
        if (in_ring(x)) exact += hx_hex_volume(&map);
    }
    CHECK_OK(hx_surface_threshold(&p.field, exact, &threshold, &volume));
    CHECK_REL(volume, exact, 1e-4);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
    check_closed(&p.surface, &r, "ragged body");
    CHECK(r.n_shell == 1 && r.genus == 1 && r.n_cavity == 0 && r.n_crossing == 0);
    for (int64_t v = 0; v < p.surface.n_vertex; v++) {
        const double *const x = p.surface.xyz + 3 * v;
        const double off = fabs(hypot(x[0] - 4.0, x[1] - 4.0) - 2.3) - 1.0;
        if (off < -0.5 || x[2] < 1e-9 || x[2] > 4.0 - 1e-9) continue; /* on the ends */
        teeth += off * off;
        n++;
    }
    teeth = 2.0 * sqrt(teeth / (double)n);
    printf("ragged ring: threshold %.2f, teeth of %.2f elements in the mean\n", threshold, teeth);
    CHECK(n > 200 && teeth < 0.25);
    CHECK_REL(r.min[2], 0.0, 0.0);
    CHECK_REL(r.max[2], 4.0, 1e-15);
    part_free(&p);
}

static int in_all(const double x[3])
{
    return isfinite(x[0]);
}

/* If no element is free, the surface is the mesh's boundary. */
static void test_all_solid(void)
{
    const fixture_box box = {{3, 2, 2}, {3.0, 2.0, 2.0}, 0.2, 0};
    part p;
    double volume;
    make_body(&p, &box, in_all, 0.001);
    hx_surface_volume(&p.field, 0.5, &volume);
    CHECK_REL(volume, p.mesh.total_volume, 1e-12);
    part_free(&p);
}

static int in_half(const double x[3])
{
    return x[0] < 4.0;
}

/* A bar, two elements thick, attached at right angles to a solid half, with densities 0 and 1: the
 * body ends at its faces, and the bar is as thick next to it as far away. */
static void test_joint(void)
{
    const fixture_box box = {{8, 6, 6}, {8.0, 6.0, 6.0}, 0.0, 0};
    part p;
    hx_surface_report r;
    double threshold, volume, target;
    make_box(&p, &box);
    hx_surface_field_free(&p.field);
    uint8_t *is_solid = calloc((size_t)p.mesh.n_elem, 1);
    for (int64_t e = 0; e < p.mesh.n_elem; e++) {
        double x[3];
        centroid(&p.mesh, e, x);
        is_solid[e] = (uint8_t)in_half(x);
        p.rho[e] = is_solid[e] || (fabs(x[1] - 3.0) < 1.0 && fabs(x[2] - 3.0) < 1.0) ? 1.0 : 0.001;
    }
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, is_solid));
    free(is_solid);
    for (int64_t a = 0; a < p.mesh.n_node; a++) { /* the mean over free elements without the body */
        const double *x = p.mesh.xyz + 3 * a;
        if (x[0] == 4.0 && x[1] == 3.0 && x[2] == 2.0) CHECK_REL(p.field.value[a], 0.5005, 1e-12);
        if (x[0] == 4.0 && x[1] == 1.0) CHECK_REL(p.field.value[a], 0.001, 1e-12);
        CHECK((p.field.value[a] == HUGE_VAL) == (x[0] < 4.0));
    }
    target = 4.0 * 36.0 + 4.0 * 4.0;
    CHECK_OK(hx_surface_threshold(&p.field, target, &threshold, &volume));
    CHECK_REL(volume, target, 1e-6);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
    check_closed(&p.surface, &r, "joint");
    CHECK_REL(r.volume, target, 1e-6);
    CHECK(r.n_shell == 1 && r.genus == 0 && r.n_crossing == 0);
    double side[2] = {0.0, 0.0}; /* thickness of the bar at its root and at its end */
    for (int64_t v = 0; v < p.surface.n_vertex; v++) {
        const double *x = p.surface.xyz + 3 * v;
        if (x[2] == 3.0 && x[1] > 3.0 && x[0] == 4.0 && x[1] < 5.0) side[0] = x[1] - 3.0;
        if (x[2] == 3.0 && x[1] > 3.0 && x[0] == 8.0 && x[1] < 5.0) side[1] = x[1] - 3.0;
    }
    CHECK(side[0] > 0.8 && side[0] < 1.3);
    CHECK_REL(side[0], side[1], 1e-12);
    part_free(&p);
}

/* About a third of the elements forced solid, random values at the nodes of the others. */
static void test_random_body(void)
{
    enum { N_SEED = 60 };
    int64_t n_split = 0;
    for (uint64_t seed = 1; seed <= N_SEED; seed++) {
        const fixture_box box = {{6, 5, 5}, {6.0, 5.0, 5.0}, seed % 4 ? 0.15 : 0.0, 1};
        uint64_t state = seed * 104729;
        part p;
        double volume;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        make_box(&p, &box);
        hx_surface_field_free(&p.field);
        uint8_t *is_solid = calloc((size_t)p.mesh.n_elem, 1);
        const double share = seed % 3 ? 0.3 : 0.05;
        for (int64_t e = 0; e < p.mesh.n_elem; e++)
            is_solid[e] = fixture_uniform(&state, 0.0, 1.0) < share;
        CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, is_solid));
        for (int64_t a = 0; a < p.mesh.n_node; a++)
            if (p.field.value[a] < HUGE_VAL) p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, "random body");
        hx_surface_volume(&p.field, 0.5, &volume);
        CHECK_REL(r.volume, volume, p.surface.n_split > 0 ? 0.02 : 1e-11);
        n_split += p.surface.n_split;
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 5, &smoothing));
        check_closed(&p.surface, &r, "random body, smoothed");
        int64_t n_piece;
        int32_t largest, *piece = malloc((size_t)p.mesh.n_node * sizeof *piece);
        CHECK_OK(hx_surface_pieces(&p.field, 0.5, piece, &n_piece, &largest));
        if (p.surface.n_split == 0) CHECK(n_piece == r.n_shell);
        hx_surface_leave_out(&p.field, 0.5, piece, largest);
        CHECK_OK(hx_surface_pieces(&p.field, 0.5, piece, &n_piece, NULL));
        CHECK(n_piece == 1);
        hx_surface_free(&p.surface);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, "largest of a random body");
        free(piece);
        free(is_solid);
        part_free(&p);
    }
    printf("random bodies: %lld vertices added\n", (long long)n_split);
}

/* The threshold for a volume: met if the volume is continuous, otherwise on the nearer side of the
 * jump. */
static void test_threshold(void)
{
    const fixture_box box = {{16, 8, 8}, {4.0, 2.0, 2.0}, 0.2, 0};
    part p;
    double threshold, volume;
    make_box(&p, &box);
    hx_surface_field_free(&p.field);
    for (int64_t e = 0; e < p.mesh.n_elem; e++) {
        double x[3];
        centroid(&p.mesh, e, x);
        p.rho[e] = 0.5 + 0.5 * sin(3.0 * x[0]) * cos(2.0 * x[1] + x[2]);
    }
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    for (double share = 0.05; share < 1.0; share += 0.15) {
        CHECK_OK(hx_surface_threshold(&p.field, share * p.mesh.total_volume, &threshold, &volume));
        CHECK_REL(volume, share * p.mesh.total_volume, 1e-4); /* the margins cause small jumps */
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
        hx_surface_report r;
        check_closed(&p.surface, &r, "threshold");
        CHECK_REL(r.volume, volume, 1e-11);
        hx_surface_free(&p.surface);
    }
    CHECK_OK(hx_surface_threshold(&p.field, p.mesh.total_volume, &threshold, &volume));
    CHECK_REL(volume, p.mesh.total_volume, 1e-12);
    CHECK_FAILS(hx_surface_threshold(&p.field, 17.0, &threshold, &volume), HX_EINPUT,
                "the solid cannot have volume 17");
    CHECK_FAILS(hx_surface_threshold(&p.field, NAN, &threshold, &volume), HX_EINPUT, "nan");
    for (int64_t a = 0; a < p.mesh.n_node; a++) p.field.value[a] = 0.3;
    CHECK_OK(hx_surface_threshold(&p.field, 0.3 * p.mesh.total_volume, &threshold, &volume));
    CHECK_REL(volume, p.mesh.total_volume, 1e-12);
    CHECK(threshold < 0.3 && threshold > 0.299);
    CHECK_FAILS(hx_surface_extract(&p.surface, &p.field, 0.3), HX_EINPUT, "no density is above");
    part_free(&p);
}

static double area_but_caps(const hx_surface *s)
{
    double area = 0.0;
    for (int64_t t = 0; t < s->n_tri; t++) {
        const double *a = s->xyz + 3 * s->tri[3 * t], *b = s->xyz + 3 * s->tri[3 * t + 1],
                     *c = s->xyz + 3 * s->tri[3 * t + 2];
        const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        const double v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
        const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                             u[0] * v[1] - u[1] * v[0]};
        if (!s->is_cap[t]) area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return area;
}

/* Smoothing flattens steps and leaves the caps in place. */
static void test_smooth(void)
{
    const fixture_box box = {{16, 16, 16}, {16.0, 16.0, 16.0}, 0.0, 0};
    part p;
    hx_surface_report before, after;
    hx_surface_smoothing smoothing;
    make_box(&p, &box);
    hx_surface_field_free(&p.field);
    for (int64_t e = 0; e < p.mesh.n_elem; e++) { /* black and white on either side of a slope */
        double x[3];
        centroid(&p.mesh, e, x);
        p.rho[e] = x[2] < 4.0 + 0.37 * x[0] + 0.21 * x[1];
    }
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    check_closed(&p.surface, &before, "steps");
    const double cut_area = area_but_caps(&p.surface);
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 20, &smoothing));
    check_closed(&p.surface, &after, "slope");
    double worst = 0.0, area = 0.0;
    for (int64_t v = 0; v < p.surface.n_vertex; v++) {
        const double *x = p.surface.xyz + 3 * v;
        double off = 0.0;
        for (int d = 0; d < 3; d++) test_worst(&off, fmax(-x[d], x[d] - 16.0));
        test_worst(&worst, off);
    }
    for (int64_t t = 0; t < p.surface.n_tri; t++) { /* the bottom is complete and flat */
        const int32_t *tri = p.surface.tri + 3 * t;
        const double *a = p.surface.xyz + 3 * tri[0], *b = p.surface.xyz + 3 * tri[1],
                     *c = p.surface.xyz + 3 * tri[2];
        if (a[2] == 0.0 && b[2] == 0.0 && c[2] == 0.0)
            area += 0.5 * fabs((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
    }
    CHECK_ABS(worst, 0.0, 1e-9);
    CHECK_REL(area, 256.0, 1e-12);
    CHECK_REL(smoothing.volume_after, smoothing.volume_before, 2e-3);
    const double exact = 256.0 * sqrt(1.0 + 0.37 * 0.37 + 0.21 * 0.21);
    const double slope = area_but_caps(&p.surface);
    printf("slope: area %.1f, smoothed %.1f, exact %.1f; %lld held\n", cut_area, slope, exact,
           (long long)smoothing.n_held);
    CHECK(cut_area > 1.01 * exact && slope < 1.003 * exact && slope > 0.997 * exact);
    part_free(&p);
}

int main(void)
{
    fixture_set_threads(1);
    test_full();
    test_ball();
    test_topology();
    test_pieces_keep_volume();
    test_specks_stay();
    test_random();
    test_touching();
    test_random_touching();
    test_body();
    test_ragged();
    test_all_solid();
    test_joint();
    test_random_body();
    test_threshold();
    test_smooth();
    TEST_END();
}
