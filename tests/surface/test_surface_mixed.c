/* Surfaces of meshes of wedges, pyramids, tetrahedra and mixtures: closed and manifold for any
 * density, like those of hexahedra. With a folder as argument: writes a ball cut from each kind
 * there, for inspection. */
#include "core/mesh/hex_jacobian.h"
#include "core/surface/surface.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"

/* All data of one case. */
typedef struct part {
    hx_mesh mesh;
    double *rho;
    hx_surface_field field;
    hx_surface surface;
} part;

static void part_free(part *p)
{
    hx_surface_free(&p->surface);
    hx_surface_field_free(&p->field);
    free(p->rho);
    hx_mesh_free(&p->mesh);
    memset(p, 0, sizeof *p);
}

/* A field on a raw mesh with cells in any numbering, density 1; is_solid: NULL or [n_elem]. */
static void make_field(part *p, uint64_t seed)
{
    mixed_turn(&p->mesh, seed);
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_SHUFFLED));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    if (!p->rho) abort();
    for (int64_t e = 0; e < p->mesh.n_elem; e++) p->rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
}

static void make_box(part *p, int kind, int nx, int ny, int nz, uint64_t seed)
{
    const mixed_box box = {
        .kind = (mixed_kind)kind, .n = {nx, ny, nz}, .distort = 0.15, .seed = seed};
    memset(p, 0, sizeof *p);
    CHECK_OK(mixed_create(&p->mesh, &box));
    make_field(p, seed);
}

static void check_closed(const hx_surface *s, hx_surface_report *report, const char *what)
{
    for (int precision = HX_SURFACE_F32; precision >= HX_SURFACE_F64; precision--) {
        CHECK_OK(hx_surface_check(s, (hx_surface_precision)precision, report));
        CHECK_MSG(report->is_closed_manifold, "%s: %lld bad edges, %lld vertices, %lld triangles",
                  what, (long long)report->n_bad_edge, (long long)report->n_bad_vertex,
                  (long long)report->n_degenerate);
    }
}

/* Nothing is cut: the box, whose quadrilaterals and triangles are capped unchanged. */
static void test_full(int kind)
{
    part p;
    hx_surface_report r;
    hx_surface_smoothing smoothing;
    double volume;
    make_box(&p, kind, 4, 3, 6, 1);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
    hx_surface_volume(&p.field, 0.5, &volume);
    CHECK_REL(volume, 72.0, 1e-12);
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 5, &smoothing));
    check_closed(&p.surface, &r, mixed_name[kind]);
    CHECK_REL(r.volume, 72.0, 1e-12);
    CHECK_REL(r.area, 108.0, 1e-12);
    CHECK(r.n_shell == 1 && r.genus == 0 && r.n_tri == 2 * 108);
    part_free(&p);
}

static double ball_at(const double x[3], double radius)
{
    return radius - sqrt(pow(x[0] - 4.0, 2) + pow(x[1] - 4.0, 2) + pow(x[2] - 4.0, 2));
}

/* A signed distance: volume and area of a ball to second order, so the relative error for a ball
 * with a radius of r elements is about 1 / r^2. */
static void test_ball(int kind)
{
    double error[2][2];
    for (int k = 0; k < 2; k++) {
        const mixed_box box = {.kind = (mixed_kind)kind,
                               .n = {8 << k, 8 << k, 8 << k},
                               .length = {8.0, 8.0, 8.0},
                               .distort = 0.15};
        const double radius = 3.2, pi = 3.14159265358979323846;
        part p;
        hx_surface_report r;
        memset(&p, 0, sizeof p);
        CHECK_OK(mixed_create(&p.mesh, &box));
        make_field(&p, 5);
        for (int64_t a = 0; a < p.mesh.n_node; a++)
            p.field.value[a] = ball_at(p.mesh.xyz + 3 * a, radius);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
        check_closed(&p.surface, &r, mixed_name[kind]);
        CHECK(r.n_shell == 1 && r.genus == 0 && r.n_crossing == 0);
        error[k][0] = fabs(r.volume / (4.0 / 3.0 * pi * pow(radius, 3)) - 1.0);
        error[k][1] = fabs(r.area / (4.0 * pi * radius * radius) - 1.0);
        part_free(&p);
    }
    printf("ball of %s: volume off by %.2g, %.2g; area by %.2g, %.2g\n", mixed_name[kind],
           error[0][0], error[1][0], error[0][1], error[1][1]);
    for (int i = 0; i < 2; i++) CHECK(error[1][i] < 0.4 * error[0][i] && error[1][i] < 0.02);
}

/* Random values at the nodes: every sign at every corner of every kind, many times. */
static void test_random(int kind)
{
    enum { N_SEED = 12 };
    for (uint64_t seed = 1; seed <= N_SEED; seed++) {
        uint64_t state = seed * 7919;
        part p;
        double volume;
        hx_surface_report r;
        hx_surface_smoothing smoothing;
        int64_t n_piece;
        make_box(&p, kind, 4, 4, 5, seed);
        for (int64_t a = 0; a < p.mesh.n_node; a++) {
            p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
            if (seed % 2) p.field.value[a] = floor(5.0 * p.field.value[a]) / 4.0; /* ties */
        }
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, mixed_name[kind]);
        hx_surface_volume(&p.field, 0.5, &volume);
        CHECK_REL(r.volume, volume, 1e-11);
        CHECK(p.surface.n_split == 0); /* this mesh does not touch itself */
        int32_t *const piece = malloc((size_t)p.mesh.n_node * sizeof *piece);
        CHECK_OK(hx_surface_pieces(&p.field, 0.5, piece, &n_piece, NULL));
        CHECK_MSG(n_piece == r.n_shell, "%s: %lld pieces, %lld shells", mixed_name[kind],
                  (long long)n_piece, (long long)r.n_shell);
        free(piece);
        CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 5, &smoothing));
        check_closed(&p.surface, &r, mixed_name[kind]);
        part_free(&p);
    }
}

static double volume_of(const hx_mesh *mesh, int64_t e)
{
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
    return hx_hex_volume(&map);
}

/* 1 if an element has a node on the surface of a box of this size. */
static int is_outside(const hx_mesh *mesh, int64_t e, const double size[3])
{
    int found = 0;
    for (int k = 0; k < 24; k++) {
        const double x = mesh->xyz[3 * (int64_t)mesh->conn[8 * e + k / 3] + k % 3];
        found |= x < 1e-9 || x > size[k % 3] - 1e-9;
    }
    return found;
}

/* Forced-solid elements at random. Inside the box no element has a core, so they form in void
 * exactly their own shape; with some on the surface, whether their faces are kept or not, the
 * surface is closed. */
static void test_body(int kind)
{
    enum { N_SEED = 8 };
    static const double size[3] = {5.0, 5.0, 6.0};
    for (uint64_t seed = 1; seed <= 2 * N_SEED; seed++) {
        uint64_t state = seed * 104729;
        part p;
        double volume, exact = 0.0;
        hx_surface_report r;
        make_box(&p, kind, 5, 5, 6, seed);
        hx_surface_field_free(&p.field);
        uint8_t *const is_solid = calloc((size_t)p.mesh.n_elem, 1);
        if (!is_solid) abort();
        for (int64_t e = 0; e < p.mesh.n_elem; e++) {
            const double chance = fixture_uniform(&state, 0.0, 1.0);
            p.rho[e] = 0.001;
            if (chance > (seed % 2 ? 0.25 : 0.12)) continue;
            if (seed <= N_SEED && is_outside(&p.mesh, e, size)) continue;
            is_solid[e] = (uint8_t)(1 | (unsigned)(1e6 * chance) << 1);
            exact += volume_of(&p.mesh, e);
        }
        CHECK(exact > 0.0);
        CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, is_solid));
        hx_surface_volume(&p.field, 0.5, &volume);
        if (seed <= N_SEED) CHECK_REL(volume, exact, 1e-12);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, mixed_name[kind]);
        hx_surface_free(&p.surface);
        for (int64_t a = 0; a < p.mesh.n_node; a++)
            if (p.field.value[a] < HUGE_VAL) p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
        CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.5));
        check_closed(&p.surface, &r, mixed_name[kind]);
        hx_surface_volume(&p.field, 0.5, &volume);
        CHECK_REL(r.volume, volume, p.surface.n_split > 0 ? 0.05 : 1e-11);
        free(is_solid);
        part_free(&p);
    }
}

/* Largest height of the surface's vertices inside the box above and below a given height. */
static void find_teeth(const hx_surface *s, double side, double height, double teeth[2])
{
    teeth[0] = teeth[1] = 0.0;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        const double *x = s->xyz + 3 * v;
        if (x[2] < 1e-9) continue;
        if (fmin(fmin(x[0], side - x[0]), fmin(x[1], side - x[1])) < 1e-9) continue;
        test_worst(&teeth[0], x[2] - height);
        test_worst(&teeth[1], height - x[2]);
    }
}

/* Area of the surface at z = 0. */
static double area_below(const hx_surface *s)
{
    double sum = 0.0;
    for (int64_t t = 0; t < s->n_tri; t++) {
        const double *x[3];
        for (int k = 0; k < 3; k++) x[k] = s->xyz + 3 * (int64_t)s->tri[3 * t + k];
        if (fmax(x[0][2], fmax(x[1][2], x[2][2])) > 1e-9) continue;
        sum += 0.5 * fabs((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) -
                          (x[2][0] - x[0][0]) * (x[1][1] - x[0][1]));
    }
    return sum;
}

/* A skin in void, of elements with centroids at most `height` above z = 0 or with faces there: a
 * smooth cut gives its volume without the elements' jagged edges, and its whole face. height 0:
 * only the first layer, kept because of its faces. */
static void test_skin(int kind, double height)
{
    enum { N = 10 };
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {N, N, N}, .distort = 0.15};
    part p;
    hx_surface_report r;
    hx_surface_smoothing smoothing;
    double exact = 0.0, threshold, volume, teeth[2];
    memset(&p, 0, sizeof p);
    CHECK_OK(mixed_create(&p.mesh, &box));
    make_field(&p, 3);
    uint8_t *const is_solid = calloc((size_t)p.mesh.n_elem, 1);
    if (!is_solid) abort();
    for (int64_t e = 0; e < p.mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p.mesh, e, x);
        is_solid[e] = x[2] < height;
        p.rho[e] = 0.001;
    }
    for (int64_t i = 0; i < p.field.n_face; i++) {
        const int64_t e = p.field.face[i] / 6;
        const int f = (int)(p.field.face[i] % 6);
        int32_t node[4];
        double z = 0.0;
        const int n = hx_cell_face(p.mesh.conn + 8 * e, f, node);
        for (int k = 0; k < n; k++) test_worst(&z, p.mesh.xyz[3 * (int64_t)node[k] + 2]);
        if (z < 1e-9) is_solid[e] |= (uint8_t)(1 | hx_surface_kept_face(f));
    }
    for (int64_t e = 0; e < p.mesh.n_elem; e++)
        if (is_solid[e]) exact += volume_of(&p.mesh, e);
    hx_surface_field_free(&p.field);
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, is_solid));
    CHECK_OK(hx_surface_threshold(&p.field, exact, &threshold, &volume));
    CHECK_REL(volume, exact, 1e-4);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
    check_closed(&p.surface, &r, mixed_name[kind]);
    CHECK(r.n_shell == 1 && r.genus == 0 && r.n_crossing == 0);
    CHECK_REL(area_below(&p.surface), (double)(N * N), 1e-9);
    find_teeth(&p.surface, N, exact / (N * N), teeth);
    printf("skin of %s: %.2f thick, threshold %.2f, up to %.2f above, %.2f below\n",
           mixed_name[kind], exact / (N * N), threshold, teeth[0], teeth[1]);
    CHECK(teeth[0] < 0.4 && teeth[1] < 0.4);
    free(is_solid);
    part_free(&p);
}

/* Removes about half of the elements, and the nodes without elements. */
static void thin_out(hx_mesh *whole, uint64_t seed, hx_mesh *mesh)
{
    uint64_t state = seed * 1000003;
    int64_t n_elem = 0, n_node = 0;
    int32_t *const conn = malloc((size_t)whole->n_elem * 8 * sizeof *conn);
    int32_t *const number = malloc((size_t)whole->n_node * sizeof *number);
    double *const xyz = malloc((size_t)whole->n_node * 3 * sizeof *xyz);
    if (!conn || !number || !xyz) abort();
    for (int64_t a = 0; a < whole->n_node; a++) number[a] = -1;
    for (int64_t e = 0; e < whole->n_elem; e++) {
        if (fixture_uniform(&state, 0.0, 1.0) < 0.45) continue;
        for (int a = 0; a < 8; a++) {
            const int32_t node = whole->conn[8 * e + a];
            if (number[node] < 0) {
                memcpy(xyz + 3 * n_node, whole->xyz + 3 * (int64_t)node, 3 * sizeof *xyz);
                number[node] = (int32_t)n_node++;
            }
            conn[8 * n_elem + a] = number[node];
        }
        n_elem++;
    }
    free(number);
    CHECK_OK(hx_mesh_create(mesh, "thinned out", n_node, xyz, n_elem, conn));
    hx_mesh_free(whole);
}

/* Meshes that touch themselves in edges and nodes everywhere are cut open. */
static void test_touching(int kind)
{
    enum { N_SEED = 6 };
    int64_t n_split = 0;
    for (uint64_t seed = 1; seed <= N_SEED; seed++) {
        const mixed_box box = {.kind = (mixed_kind)kind, .n = {4, 4, 5}, .distort = 0.1};
        uint64_t state = seed;
        hx_mesh whole;
        part p;
        hx_surface_report r;
        memset(&p, 0, sizeof p);
        CHECK_OK(mixed_create(&whole, &box));
        thin_out(&whole, seed, &p.mesh);
        make_field(&p, seed);
        for (int cut = 0; cut < 2; cut++) {
            for (int64_t a = 0; cut && a < p.mesh.n_node; a++)
                p.field.value[a] = fixture_uniform(&state, 0.0, 1.0);
            CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.4));
            check_closed(&p.surface, &r, mixed_name[kind]);
            n_split += p.surface.n_split;
            if (!cut) CHECK_REL(r.volume, p.mesh.total_volume, 0.08);
            hx_surface_free(&p.surface);
        }
        part_free(&p);
    }
    CHECK(n_split > 100);
}

/* A design of densities 0 and 1 and its volume, processed like in `hextop surface`. */
static void test_design(int kind, const char *folder)
{
    const mixed_box box = {
        .kind = (mixed_kind)kind, .n = {10, 10, 10}, .length = {8.0, 8.0, 8.0}, .distort = 0.15};
    part p;
    hx_surface_report r;
    hx_surface_smoothing smoothing;
    double target = 0.0, threshold, volume;
    memset(&p, 0, sizeof p);
    CHECK_OK(mixed_create(&p.mesh, &box));
    make_field(&p, 9);
    for (int64_t e = 0; e < p.mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p.mesh, e, x);
        const double ring = hypot(x[0] - 4.0, x[1] - 4.0);
        p.rho[e] = (ring < 3.4 && ring > 1.4) || x[2] < 1.0 ? 1.0 : 0.001;
        if (p.rho[e] == 1.0) target += volume_of(&p.mesh, e);
    }
    hx_surface_field_free(&p.field);
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    CHECK_OK(hx_surface_threshold(&p.field, target, &threshold, &volume));
    CHECK_REL(volume, target, 1e-5);
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, threshold));
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, 10, &smoothing));
    check_closed(&p.surface, &r, mixed_name[kind]);
    CHECK_REL(r.volume, target, 1e-3);
    CHECK(r.n_shell == 1 && r.n_cavity == 0);
    if (folder) {
        char path[512];
        snprintf(path, sizeof path, "%s/design_%d.ply", folder, kind);
        CHECK_OK(hx_surface_write(path, hx_surface_format_of_name(path), &p.surface,
                                  &(hx_surface_about){mixed_name[kind], 0.0}));
    }
    part_free(&p);
}

int main(int argc, char **argv)
{
    fixture_set_threads(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        test_full(kind);
        test_ball(kind);
        test_random(kind);
        test_body(kind);
        test_skin(kind, 2.2);
        test_skin(kind, 0.0);
        test_touching(kind);
        test_design(kind, argc > 1 ? argv[1] : NULL);
    }
    TEST_END();
}
