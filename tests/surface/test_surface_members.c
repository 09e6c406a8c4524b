/* Members of a 0/1 design that the level set would cut are found by place and repaired; others are
 * not touched. */
#include "core/surface/surface_members.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/surface_case.h"

enum { NX = 30, NY = 14, NZ = 14, FROM = 7, TO = 23 };

/* Box cells that are solid: two blocks and what is between them, x from FROM to TO. */
typedef int (*between)(int i, int j, int k);

static int thin(int i, int j, int k)
{
    (void)i;
    return j == 6 && k == 6;
}

static int thick(int i, int j, int k)
{
    (void)i;
    return (j == 6 || j == 7) && (k == 6 || k == 7);
}

/* Shifts by a cell along y every two cells, so that the cells of a step share an edge only. */
static int oblique(int i, int j, int k)
{
    return j == 3 + (i - FROM) / 2 && k == 6;
}

/* Ends in the void, beside a thick bar. */
static int spur(int i, int j, int k)
{
    return thick(i, j, k) || (i < FROM + 6 && j == 3 && k == 3);
}

/* Beside a thick bar that holds the blocks together at a distance. */
static int both(int i, int j, int k)
{
    (void)i;
    return (j >= 9 && j < 12 && k >= 9 && k < 12) || (j == 3 && k == 3);
}

static int is_solid_cell(int i, int j, int k, between bar)
{
    if (i >= FROM && i < TO) return bar(i, j, k);
    return j > 0 && j < NY - 1 && k > 0 && k < NZ - 1;
}

static void make_case(part *p, int kind, between bar, uint8_t **solid, double *volume)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {NX, NY, NZ}};
    memset(p, 0, sizeof *p);
    CHECK_OK(mixed_create(&p->mesh, &box));
    CHECK_OK(fixture_finish(&p->mesh, FIXTURE_SHUFFLED));
    p->rho = malloc((size_t)p->mesh.n_elem * sizeof *p->rho);
    *solid = malloc((size_t)p->mesh.n_elem);
    if (!p->rho || !*solid) abort();
    *volume = 0.0;
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        (*solid)[e] = (uint8_t)is_solid_cell((int)x[0], (int)x[1], (int)x[2], bar);
        p->rho[e] = (*solid)[e] ? 1.0 : 0.001;
        *volume += p->rho[e] * NX * NY * NZ / (double)p->mesh.n_elem;
    }
    CHECK_OK(hx_surface_field_create(&p->field, &p->mesh, p->rho, NULL));
}

/* Least area of the cross-sections between the blocks. */
static double least_section(const hx_surface *s)
{
    double least = HUGE_VAL;
    for (double c = FROM + 2.3; c < TO - 2; c += 0.37) {
        double area = 0.0;
        for (int64_t t = 0; t < s->n_tri; t++) {
            double at[2][2] = {{0.0, 0.0}, {0.0, 0.0}};
            for (int k = 0; k < 3; k++) {
                const double *const a = s->xyz + 3 * (int64_t)s->tri[3 * t + k];
                const double *const b = s->xyz + 3 * (int64_t)s->tri[3 * t + (k + 1) % 3];
                if ((a[0] < c) == (b[0] < c)) continue;
                const double share = (c - a[0]) / (b[0] - a[0]);
                for (int d = 0; d < 2; d++)
                    at[a[0] < c][d] = a[1 + d] + share * (b[1 + d] - a[1 + d]);
            }
            area += 0.5 * (at[1][0] * at[0][1] - at[0][0] * at[1][1]);
        }
        least = fmin(least, fabs(area));
    }
    return least;
}

static void make_surface(part *p, double threshold, hx_surface_report *r)
{
    hx_surface_smoothing smoothing;
    hx_surface_free(&p->surface);
    CHECK_OK(hx_surface_extract(&p->surface, &p->field, threshold));
    CHECK_OK(hx_surface_smooth(&p->surface, &p->field, 10, &smoothing));
    CHECK_OK(hx_surface_improve(&p->surface, &p->field, HX_SURFACE_STEPS, 0, NULL));
    CHECK_OK(hx_surface_check(&p->surface, HX_SURFACE_F32, r));
    CHECK(r->is_closed_manifold && r->n_crossing == 0);
    CHECK_MSG(r->worst_quality > 0.1 && r->low_quality > 0.2, "quality %.3f, %.3f",
              r->worst_quality, r->low_quality);
}

/* A bar of one cell is cut; repaired it has the section of a cell. */
static void test_cut(int kind, between bar, double section, int64_t n_piece)
{
    part p;
    uint8_t *solid;
    double volume, threshold, found;
    hx_surface_report r;
    hx_surface_repairs repairs;
    make_case(&p, kind, bar, &solid, &volume);
    CHECK_OK(hx_surface_threshold(&p.field, volume, &threshold, &found));
    make_surface(&p, threshold, &r);
    CHECK_MSG(r.n_shell >= n_piece, "%s: %lld pieces", mixed_name[kind], (long long)r.n_shell);
    CHECK_OK(hx_surface_repair(&p.field, solid, volume, &threshold, &repairs));
    CHECK_MSG(repairs.found.n > 0 && repairs.left.n == 0, "%s: %zu found, %zu left",
              mixed_name[kind], repairs.found.n, repairs.left.n);
    if (repairs.found.n > 0) {
        const double *const x = repairs.found.member[0].place;
        CHECK_MSG(x[0] > FROM && x[0] < TO && x[1] > 3.0 && x[1] < 11.0, "a cut at %g, %g, %g",
                  x[0], x[1], x[2]);
    }
    make_surface(&p, threshold, &r);
    CHECK_MSG(r.n_shell == 1, "%s: %lld pieces when repaired", mixed_name[kind],
              (long long)r.n_shell);
    CHECK_REL(r.volume, volume, 1e-4);
    const double area = least_section(&p.surface);
    CHECK_MSG(area > section && area < 1.5, "%s: a section of %g", mixed_name[kind], area);
    hx_surface_repairs_free(&repairs);
    part_free(&p);
    free(solid);
}

/* Where nothing is cut, or only the end of a spur is lost, the field and its threshold stay. */
static void test_whole(between bar)
{
    part p;
    uint8_t *solid;
    double volume, threshold, found;
    hx_surface_repairs repairs;
    make_case(&p, MIXED_HEXAHEDRA, bar, &solid, &volume);
    CHECK_OK(hx_surface_threshold(&p.field, volume, &threshold, &found));
    const double before = threshold;
    CHECK_OK(hx_surface_repair(&p.field, solid, volume, &threshold, &repairs));
    CHECK_MSG(repairs.found.n == 0 && repairs.left.n == 0, "%zu found, %zu left", repairs.found.n,
              repairs.left.n);
    CHECK(threshold == before && !p.field.is_repaired);
    hx_surface_repairs_free(&repairs);
    part_free(&p);
    free(solid);
}

/* Without a volume the threshold stays, and cuts can be listed without a repair. */
static void test_threshold(void)
{
    part p;
    uint8_t *solid;
    double volume, threshold = 0.6;
    hx_surface_repairs repairs;
    hx_lost_members lost = {0};
    make_case(&p, MIXED_HEXAHEDRA, both, &solid, &volume);
    CHECK_OK(hx_surface_find_lost(&p.field, threshold, solid, &lost));
    CHECK_MSG(lost.n == 1 && fabs(lost.member[0].place[0] - 15.0) < 1e-9 &&
                  fabs(lost.member[0].place[1] - 3.5) < 1e-9,
              "%zu cuts", lost.n);
    hx_lost_members_free(&lost);
    CHECK_OK(hx_surface_repair(&p.field, solid, NAN, &threshold, &repairs));
    CHECK(threshold == 0.6 && repairs.found.n == 1 && repairs.left.n == 0);
    hx_surface_repairs_free(&repairs);
    part_free(&p);
    free(solid);
}

/* Cells of a box of 7^3: two blocks joined by a bar in an edge, a ring, a hollow block, all but the
 * outermost cells. */
static int is_in_shape(int shape, const double *x)
{
    const int i = (int)x[0], j = (int)x[1], k = (int)x[2];
    const int is_ring = k == 3 && i >= 1 && i <= 5 && j >= 1 && j <= 5 && !(i == 3 && j == 3);
    if (shape == 0) return (i < 3 && j < 3) || (i >= 3 && j >= 3 && k == 2);
    if (shape == 1) return is_ring;
    if (shape == 2) return !(i == 3 && j == 3 && k == 3);
    if (shape == 3) return is_ring || (k == 0 && (i + j) % 6 == 0);
    /* two holes that cross in the middle make three */
    return !(i == 3 && j == 3) && !(i == 3 && k == 3);
}

static void test_solid_shape(void)
{
    static const int64_t count[][3] = {{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {4, 1, 0}, {1, 3, 0}};
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int i = 0; i < 5; i++) {
            const mixed_box box = {.kind = (mixed_kind)kind, .n = {7, 7, 7}};
            hx_mesh mesh;
            hx_solid_shape s;
            CHECK_OK(mixed_create(&mesh, &box));
            CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
            uint8_t *const solid = malloc((size_t)mesh.n_elem);
            if (!solid) abort();
            for (int64_t e = 0; e < mesh.n_elem; e++) {
                double x[3];
                hx_mesh_centroid(&mesh, e, x);
                solid[e] = (uint8_t)is_in_shape(i, x);
            }
            CHECK_OK(hx_solid_shape_count(&mesh, solid, &s));
            CHECK_MSG(s.n_piece == count[i][0] && s.n_hole == count[i][1] &&
                          s.n_cavity == count[i][2],
                      "shape %d of %s: %lld pieces, %lld holes, %lld cavities", i, mixed_name[kind],
                      (long long)s.n_piece, (long long)s.n_hole, (long long)s.n_cavity);
            free(solid);
            hx_mesh_free(&mesh);
        }
}

int main(void)
{
    test_solid_shape();
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        if (kind != MIXED_LAYERS) test_cut(kind, thin, kind == MIXED_HEXAHEDRA ? 0.9 : 0.5, 2);
    test_cut(MIXED_HEXAHEDRA, oblique, 0.05, 2);
    test_whole(thick);
    test_whole(spur);
    test_threshold();
    TEST_END();
}
