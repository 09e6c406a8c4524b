/* The surface of a symmetric design is its own mirror image, vertices and triangles, in the file
 * that is written; that of a design that is not symmetric keeps its difference. */
#include "core/generate/generate.h"
#include "tests/lib/surface_case.h"
#include "tests/lib/tube.h"

/* A mesh and its design. */
typedef struct sample {
    const char *name, *generator;
    int n[3]; /* nx, ny, nz of the generator */
    /* planes of symmetry: normals, which need not be of length 1 */
    int n_plane;
    double normal[3][3];
    int has_body; /* 1: with forced-solid elements */
} sample;

static const sample samples[] = {
    {"cantilever, even", "cantilever", {20, 8, 11}, 1, {{0, 1, 0}}, 0},
    {"cantilever, odd", "cantilever", {21, 9, 12}, 1, {{0, 1, 0}}, 1},
    {"cantilever, two planes", "cantilever", {20, 9, 12}, 2, {{0, 1, 0}, {0, 0, 1}}, 1},
    {"cantilever, two odd planes", "cantilever", {20, 11, 11}, 2, {{0, 1, 0}, {0, 0, 1}}, 0},
    {"box, three planes", "cantilever", {16, 14, 13}, 3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 0},
    {"L-beam", "lbeam", {15, 7, 15}, 1, {{0, 1, 0}}, 1},
    {"L-beam, two planes", "lbeam", {20, 8, 20}, 2, {{0, 1, 0}, {1, 0, -1}}, 0},
};
enum { N_SAMPLE = sizeof samples / sizeof samples[0] };

/* A point folded onto the positive sides of the planes through `middle`. */
static void fold(const sample *s, const double middle[3], double x[3])
{
    for (int p = 0; p < s->n_plane; p++) {
        const double *const n = s->normal[p];
        double height = 0.0, nn = 0.0;
        for (int d = 0; d < 3; d++) {
            height += n[d] * (x[d] - middle[d]);
            nn += n[d] * n[d];
        }
        for (int d = 0; d < 3 && height < 0.0; d++) x[d] -= 2.0 * height / nn * n[d];
    }
}

/* A truss-like density between 0.001 and 1, the same on all sides but for noise of 1e-6. */
static double density_at(const sample *s, const double middle[3], const double *at, uint64_t *state)
{
    double x[3] = {at[0], at[1], at[2]};
    fold(s, middle, x);
    const double k = 0.8;
    const double wave = sin(k * x[0] + 0.3) * cos(k * x[1] + 0.2) +
                        sin(k * x[1] + 0.9) * cos(0.9 * k * x[2]) +
                        sin(k * x[2]) * cos(k * x[0] + 1.1) + 0.2;
    return 0.5 + 0.499 * tanh(2.5 * wave) + fixture_uniform(state, -1e-6, 1e-6);
}

static void middle_of_mesh(const hx_mesh *mesh, double middle[3])
{
    for (int d = 0; d < 3; d++) middle[d] = 0.5 * (mesh->box_min[d] + mesh->box_max[d]);
}

/* one_sided: added to the density of an element near the surface on one side. */
static void make_sample(part *p, const sample *s, fixture_order order, double one_sided)
{
    const hx_generate_params params = {.nx = s->n[0], .ny = s->n[1], .nz = s->n[2]};
    uint64_t state = 7;
    double middle[3];
    uint8_t *solid = NULL;
    memset(p, 0, sizeof *p);
    CHECK_OK(hx_generate(hx_generator_find(s->generator), &p->mesh, &params));
    CHECK_OK(fixture_finish(&p->mesh, order));
    middle_of_mesh(&p->mesh, middle);
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    solid = calloc((size_t)p->mesh.n_elem, 1);
    if (!p->rho || !solid) abort();
    int n_changed = 0;
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        p->rho[e] = density_at(s, middle, x, &state);
        if (p->rho[e] > 0.4 && p->rho[e] < 0.6 && x[1] > middle[1] + 1.0 && n_changed++ == 0)
            p->rho[e] += one_sided;
        fold(s, middle, x);
        solid[e] = s->has_body && x[0] < 2.0 && fabs(x[1] - middle[1]) < 1.6;
    }
    CHECK(n_changed > 0);
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, solid));
    free(solid);
}

/* Cuts and finishes the surface like `hextop surface`; before: checked before triangles are
 * improved. */
static void make_surface(part *p, hx_surface_report *before)
{
    hx_surface_smoothing smoothing;
    CHECK_OK(hx_surface_extract(&p->surface, &p->field, 0.5));
    CHECK_OK(hx_surface_smooth(&p->surface, &p->field, HX_SURFACE_STEPS, &smoothing));
    CHECK_OK(hx_surface_check(&p->surface, HX_SURFACE_F64, before));
    CHECK_OK(hx_surface_improve(&p->surface, &p->field, HX_SURFACE_STEPS, 0, NULL));
}

/* --- comparison --- */

/* Vertices and the middles of triangles, sorted by x. */
typedef struct points {
    int64_t n;
    double (*x)[3];
} points;

static int compare_x(const void *a, const void *b)
{
    const double *const x = a, *const y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* The points of a surface, mirrored by a plane through `middle`; normal = NULL: as they are. */
static points list_points(const hx_surface *s, const double *normal, const double middle[3])
{
    points list = {s->n_vertex + s->n_tri, NULL};
    list.x = malloc((size_t)list.n * sizeof *list.x);
    if (!list.x) abort();
    for (int64_t i = 0; i < list.n; i++) {
        double *const x = list.x[i], height = 0.0, nn = 0.0;
        memset(x, 0, 3 * sizeof *x);
        for (int k = 0; i >= s->n_vertex && k < 3; k++)
            for (int d = 0; d < 3; d++)
                x[d] += s->xyz[3 * (int64_t)s->tri[3 * (i - s->n_vertex) + k] + d] / 3.0;
        if (i < s->n_vertex) memcpy(x, s->xyz + 3 * i, 3 * sizeof *x);
        if (!normal) continue;
        for (int d = 0; d < 3; d++) {
            height += normal[d] * (x[d] - middle[d]);
            nn += normal[d] * normal[d];
        }
        for (int d = 0; d < 3; d++) x[d] -= 2.0 * height / nn * normal[d];
    }
    qsort(list.x, (size_t)list.n, sizeof *list.x, compare_x);
    return list;
}

/* Largest distance of a point of a from the nearest one of b, as far as it is below `most`. */
static double distance_between(const points *a, const points *b, double most)
{
    double worst = 0.0;
    int64_t first = 0;
    for (int64_t i = 0; i < a->n; i++) {
        double nearest = most;
        while (first < b->n && b->x[first][0] < a->x[i][0] - most) first++;
        for (int64_t j = first; j < b->n && b->x[j][0] < a->x[i][0] + most; j++) {
            double square = 0.0;
            for (int d = 0; d < 3; d++)
                square += (a->x[i][d] - b->x[j][d]) * (a->x[i][d] - b->x[j][d]);
            nearest = fmin(nearest, sqrt(square));
        }
        test_worst(&worst, nearest);
    }
    return worst;
}

/* Distance of a surface from its own mirror image. */
static double distance_from_image(const hx_surface *s, const double *normal, const double middle[3])
{
    points own = list_points(s, NULL, middle), image = list_points(s, normal, middle);
    const double off = distance_between(&own, &image, 0.2);
    free(own.x);
    free(image.x);
    return off;
}

/* Largest distance from the mirror images by all planes of the STL that is written. */
static double distance_of_file(const part *p, const sample *s, double *size)
{
    const hx_surface_about about = {.title = s->name};
    const char *const path = "mirror.stl";
    hx_surface read;
    double middle[3], worst = 0.0;
    middle_of_mesh(&p->mesh, middle);
    *size = 0.0;
    for (int d = 0; d < 3; d++) *size = fmax(*size, p->mesh.box_max[d] - p->mesh.box_min[d]);
    CHECK_OK(hx_surface_write(path, hx_surface_format_of_name(path), &p->surface, &about));
    CHECK_OK(hx_surface_read(path, &read));
    CHECK(remove(path) == 0);
    for (int k = 0; k < s->n_plane; k++)
        test_worst(&worst, distance_from_image(&read, s->normal[k], middle));
    hx_surface_free(&read);
    return worst;
}

/* --- tests --- */

static void check_surface(const part *p, const hx_surface_report *before, const char *name)
{
    hx_surface_report after;
    CHECK_OK(hx_surface_check(&p->surface, HX_SURFACE_F32, &after));
    CHECK_MSG(after.is_closed_manifold && after.n_crossing == 0, "%s: not closed, or intersects",
              name);
    CHECK_MSG(after.n_shell == before->n_shell && after.n_cavity == before->n_cavity &&
                  after.genus == before->genus && after.genus > 2,
              "%s: %lld pieces and %lld holes, before %lld and %lld", name,
              (long long)after.n_shell, (long long)after.genus, (long long)before->n_shell,
              (long long)before->genus);
    CHECK_REL(after.volume, before->volume, 2e-6);
    CHECK_MSG(after.worst_quality > 0.25 && after.low_quality > 0.35,
              "%s: quality %.3f, 1 %% below %.3f", name, after.worst_quality, after.low_quality);
    /* caps are on the planes that they share with the elements */
    CHECK_REL(after.min[1], before->min[1], 1e-6);
    CHECK_REL(after.max[1], before->max[1], 1e-6);
}

static void test_symmetric(const sample *s)
{
    part p[2];
    double off, size, middle[3];
    hx_surface_report before;
    for (int i = 0; i < 2; i++) {
        make_sample(&p[i], s, i ? FIXTURE_SHUFFLED : FIXTURE_IN_ORDER, 0.0);
        make_surface(&p[i], &before);
        check_surface(&p[i], &before, s->name);
        off = distance_of_file(&p[i], s, &size);
        CHECK_MSG(off <= 1e-6 * size, "%s: %g from its mirror image, of a size of %g", s->name, off,
                  size);
        middle_of_mesh(&p[i].mesh, middle);
        for (int k = 0; k < s->n_plane; k++) {
            off = distance_from_image(&p[i].surface, s->normal[k], middle);
            CHECK_MSG(off <= 1e-12 * size, "%s: %g from its mirror image, unrounded", s->name, off);
        }
    }
    for (int i = 0; i < 2; i++) part_free(&p[i]);
}

/* A tube with three planes of symmetry, with its cylinders as seats, and split along them. */
static void test_tube(void)
{
    static const double normal[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const double origin[3] = {0.0, 0.0, 3.0};
    const tube t = {
        .inner = 2.0, .outer = 4.0, .length = 6.0, .arc = 2.0 * TUBE_PI, .n = {4, 24, 9}};
    const hx_surface_seat seat[2] = {{.axis = {0.0, 0.0, 1.0}, .radius = 2.0},
                                     {.axis = {0.0, 0.0, 1.0}, .radius = 4.0}};
    part p;
    hx_surface_report r;
    hx_surface_smoothing smoothing;
    int64_t n_added;
    memset(&p, 0, sizeof p);
    CHECK_OK(tube_create(&p.mesh, &t));
    CHECK_OK(fixture_finish(&p.mesh, FIXTURE_SHUFFLED));
    p.rho = malloc((size_t)p.mesh.n_elem * sizeof *p.rho);
    if (!p.rho) abort();
    for (int64_t e = 0; e < p.mesh.n_elem; e++) p.rho[e] = 1.0;
    CHECK_OK(hx_surface_field_create(&p.field, &p.mesh, p.rho, NULL));
    for (int64_t a = 0; a < p.mesh.n_node; a++) {
        const double *const x = p.mesh.xyz + 3 * a;
        p.field.value[a] = 2.3 - 0.4 * fabs(x[0]) - fabs(x[2] - 3.0) + 0.13 * fabs(x[1]);
    }
    CHECK_OK(hx_surface_extract(&p.surface, &p.field, 0.0));
    CHECK_OK(hx_surface_smooth(&p.surface, &p.field, HX_SURFACE_STEPS, &smoothing));
    CHECK_OK(hx_surface_improve(&p.surface, &p.field, HX_SURFACE_STEPS, 2, seat));
    for (int split = 0; split < 2; split++) {
        if (split) CHECK_OK(hx_surface_limit_chords(&p.surface, 2, seat, 0.002, &n_added));
        CHECK(!split || n_added > 1000);
        CHECK_OK(hx_surface_check(&p.surface, HX_SURFACE_F32, &r));
        CHECK(r.is_closed_manifold && r.n_crossing == 0 && r.worst_quality > 0.1);
        for (int k = 0; k < 3; k++) {
            const double off = distance_from_image(&p.surface, normal[k], origin);
            CHECK_MSG(off <= 1e-9, "a tube%s is %g from its mirror image %d",
                      split ? ", split," : "", off, k);
        }
    }
    part_free(&p);
}

/* A prism of two bands of isosceles triangles, whose two longest edges are equal: it stays its own
 * mirror image about the plane between the bands when it is split along the cylinder around it. */
static void test_equal_edges(void)
{
    enum { N_SIDE = 8, N_VERTEX = 3 * N_SIDE + 2, N_TRI = 6 * N_SIDE };
    static const double normal[3] = {0, 0, 1}, origin[3] = {0};
    const hx_surface_seat seat = {.axis = {0.0, 0.0, 1.0}, .radius = 1.0};
    hx_surface s = {.n_vertex = N_VERTEX, .n_tri = N_TRI};
    hx_surface_report r;
    int64_t n_added;
    s.xyz = calloc(3 * N_VERTEX, sizeof *s.xyz);
    s.tri = malloc(3 * N_TRI * sizeof *s.tri);
    s.is_cap = malloc(N_TRI);
    s.edge = malloc(2 * N_VERTEX * sizeof *s.edge);
    if (!s.xyz || !s.tri || !s.is_cap || !s.edge) abort();
    memset(s.is_cap, 1, N_TRI);
    memset(s.edge, 0xff, 2 * N_VERTEX * sizeof *s.edge);
    for (int i = 0; i < 3 * N_SIDE; i++) {
        const double angle = (i % N_SIDE + (i / N_SIDE == 1 ? 0.6 : 0.1)) * 2.0 * TUBE_PI / N_SIDE;
        s.xyz[3 * i] = cos(angle);
        s.xyz[3 * i + 1] = sin(angle);
        s.xyz[3 * i + 2] = i / N_SIDE - 1;
    }
    s.xyz[3 * (N_VERTEX - 2) + 2] = -1.0;
    s.xyz[3 * (N_VERTEX - 1) + 2] = 1.0;
    for (int i = 0; i < N_SIDE; i++) {
        const int j = (i + 1) % N_SIDE, low[2] = {i, j}, middle[2] = {N_SIDE + i, N_SIDE + j};
        const int high[2] = {2 * N_SIDE + i, 2 * N_SIDE + j};
        const int32_t tri[6][3] = {
            {low[0], low[1], middle[0]},    {low[1], middle[1], middle[0]},
            {high[1], high[0], middle[0]},  {middle[0], middle[1], high[1]},
            {low[1], low[0], N_VERTEX - 2}, {high[0], high[1], N_VERTEX - 1}};
        memcpy(s.tri + 18 * i, tri, sizeof tri);
    }
    CHECK_OK(hx_surface_limit_chords(&s, 1, &seat, 0.002, &n_added));
    CHECK_OK(hx_surface_check(&s, HX_SURFACE_F64, &r));
    CHECK(r.is_closed_manifold && n_added > 100);
    const double off = distance_from_image(&s, normal, origin);
    CHECK_MSG(off <= 1e-9, "a prism is %g from its mirror image", off);
    hx_surface_free(&s);
}

/* A difference of densities on one side stays in the surface. */
static void test_one_sided(void)
{
    part p;
    double size;
    hx_surface_report before;
    make_sample(&p, &samples[0], FIXTURE_SHUFFLED, 0.3);
    make_surface(&p, &before);
    check_surface(&p, &before, "a cantilever with a difference");
    const double off = distance_of_file(&p, &samples[0], &size);
    CHECK_MSG(off > 0.05, "the difference is only %g", off);
    part_free(&p);
}

/* The number of threads changes no bit. */
static void test_threads(void)
{
    part p[2];
    hx_surface_report before;
    for (int i = 0; i < 2; i++) {
        fixture_set_threads(i == 0 ? 1 : 3);
        make_sample(&p[i], &samples[2], FIXTURE_SHUFFLED, 0.0);
        make_surface(&p[i], &before);
    }
    const hx_surface *const a = &p[0].surface, *const b = &p[1].surface;
    CHECK(a->n_vertex == b->n_vertex && a->n_tri == b->n_tri);
    if (a->n_vertex == b->n_vertex && a->n_tri == b->n_tri) {
        CHECK(memcmp(a->xyz, b->xyz, 3 * (size_t)a->n_vertex * sizeof(double)) == 0);
        CHECK(memcmp(a->tri, b->tri, 3 * (size_t)a->n_tri * sizeof(int32_t)) == 0);
    }
    for (int i = 0; i < 2; i++) part_free(&p[i]);
}

int main(void)
{
    for (int i = 0; i < N_SAMPLE; i++) test_symmetric(&samples[i]);
    test_tube();
    test_equal_edges();
    test_one_sided();
    test_threads();
    TEST_END();
}
