/* Surfaces whose sides lie on planes of the mesh, inside it and on its boundary: the cut has exactly
 * their volume, in every kind of cell, at any scale and place, as exact numbers and as a file in
 * single precision gives them. Sides between planes that cut cells are exact beside them, too. */
#include "tests/lib/cut_case.h"

enum { N = 6 };

typedef struct solid {
    const char *what;
    int n; /* corners of the outline in x and y, counter-clockwise */
    int outline[12][2];
    int low, high; /* in z */
    double volume;
} solid;

#define SQUARE(a, b, c, d)                                                                         \
    4,                                                                                             \
    {                                                                                              \
        {a, b}, {c, b}, {c, d},                                                                    \
        {                                                                                          \
            a, d                                                                                   \
        }                                                                                          \
    }

static const solid all[] = {
    {"inner bar", SQUARE(1, 1, 5, 5), 2, 4, 32},
    {"inner cube of one cell", SQUARE(2, 3, 3, 4), 2, 3, 1},
    {"plate of one layer", SQUARE(1, 1, 5, 5), 3, 4, 16},
    {"rod of one cell between two sides", SQUARE(0, 3, 6, 4), 2, 3, 6},
    {"on one side of the mesh", SQUARE(0, 1, 4, 5), 1, 5, 64},
    {"on two sides", SQUARE(0, 0, 4, 5), 1, 5, 80},
    {"on two opposite sides", SQUARE(0, 1, 6, 5), 1, 5, 96},
    {"on three sides", SQUARE(0, 0, 4, 5), 0, 5, 100},
    {"on four sides", SQUARE(0, 0, 6, 5), 0, 5, 150},
    {"on five sides", SQUARE(0, 0, 6, 6), 0, 5, 180},
    {"inner L", 6, {{1, 1}, {5, 1}, {5, 3}, {3, 3}, {3, 5}, {1, 5}}, 1, 5, 48},
    {"inner L with thin arms", 6, {{1, 1}, {5, 1}, {5, 2}, {2, 2}, {2, 5}, {1, 5}}, 2, 3, 7},
    {"L on three sides", 6, {{0, 0}, {6, 0}, {6, 2}, {2, 2}, {2, 5}, {0, 5}}, 1, 4, 54},
    {"U with a slot of one cell",
     8,
     {{0, 0}, {5, 0}, {5, 4}, {4, 4}, {4, 2}, {3, 2}, {3, 4}, {0, 4}},
     1,
     6,
     90},
};

/* Triangles of an outline, by cutting off ears. */
static void add_lids(hx_surface *s, const solid *p, int first)
{
    int left[12], n = p->n;
    for (int i = 0; i < n; i++) left[i] = i;
    for (int i = 0; n > 2; i = (i + 1) % n) {
        const int a = left[i], b = left[(i + 1) % n], c = left[(i + 2) % n];
        const int ux = p->outline[b][0] - p->outline[a][0],
                  uy = p->outline[b][1] - p->outline[a][1];
        const int vx = p->outline[c][0] - p->outline[a][0],
                  vy = p->outline[c][1] - p->outline[a][1];
        int is_ear = ux * vy - uy * vx > 0;
        for (int k = 0; k < p->n; k++) { /* no other corner in it */
            const int wx = p->outline[k][0] - p->outline[a][0],
                      wy = p->outline[k][1] - p->outline[a][1];
            if (k == a || k == b || k == c) continue;
            is_ear &= !(ux * wy - uy * wx >= 0 && wx * vy - wy * vx >= 0 &&
                        (vx - ux) * (wy - uy) - (vy - uy) * (wx - ux) >= 0);
        }
        if (!is_ear) continue;
        const int32_t below[3] = {first + c, first + b, first + a};
        const int32_t above[3] = {first + p->n + a, first + p->n + b, first + p->n + c};
        memcpy(s->tri + 3 * s->n_tri++, below, sizeof below);
        memcpy(s->tri + 3 * s->n_tri++, above, sizeof above);
        const int gone = (i + 1) % n;
        for (int k = gone; k + 1 < n; k++) left[k] = left[k + 1];
        n--;
    }
}

static void make_solid(hx_surface *s, const solid *p)
{
    memset(s, 0, sizeof *s);
    s->xyz = malloc((size_t)(6 * p->n) * sizeof *s->xyz);
    s->tri = malloc((size_t)(12 * p->n) * sizeof *s->tri);
    if (!s->xyz || !s->tri) abort();
    for (int i = 0; i < 2 * p->n; i++) {
        const double x[3] = {p->outline[i % p->n][0], p->outline[i % p->n][1],
                             i < p->n ? p->low : p->high};
        memcpy(s->xyz + 3 * s->n_vertex++, x, sizeof x);
    }
    for (int i = 0; i < p->n; i++) {
        const int next = (i + 1) % p->n;
        const int32_t side[2][3] = {{i, next, p->n + next}, {i, p->n + next, p->n + i}};
        memcpy(s->tri + 3 * s->n_tri, side, sizeof side);
        s->n_tri += 2;
    }
    add_lids(s, p, 0);
}

/* How a mesh and a surface in it are placed: x := scale * x + shift; one in single precision. */
typedef struct place {
    double scale, shift;
    int is_single;
} place;

static void put_mesh(hx_mesh *mesh, int kind, const place *at)
{
    const mixed_box box = {.kind = (mixed_kind)kind, .n = {N, N, N}, .seed = 5};
    memset(mesh, 0, sizeof *mesh);
    CHECK_OK(mixed_create(mesh, &box));
    mixed_turn(mesh, 5);
    for (int64_t i = 0; i < 3 * mesh->n_node; i++)
        mesh->xyz[i] = at->scale * mesh->xyz[i] + at->shift;
    CHECK_OK(fixture_finish(mesh, FIXTURE_SHUFFLED));
}

static void put_surface(hx_surface *s, const place *at)
{
    for (int64_t i = 0; i < 3 * s->n_vertex; i++) {
        s->xyz[i] = at->scale * s->xyz[i] + at->shift;
        if (at->is_single) s->xyz[i] = (double)(float)s->xyz[i];
    }
}

static void expect_exact(const hx_mesh *around, int kind, const solid *p, const place *at,
                         int n_refine)
{
    hx_mesh mesh;
    hx_surface s;
    hx_cut_report r;
    make_solid(&s, p);
    put_surface(&s, at);
    const double volume = p->volume * at->scale * at->scale * at->scale;
    CHECK_REL(cut_volume_of(&s), volume, at->is_single ? 1e-4 : 1e-9);
    cut_out(&mesh, &s, around, n_refine, &r);
    CHECK_MSG(fabs(mesh.total_volume / volume - 1.0) <= 1e-9, "%s, %s, scale %g: volume off by %g",
              mixed_name[kind], p->what, at->scale, mesh.total_volume / volume - 1.0);
    CHECK_MSG(r.n_cut == 0 && r.n_moved == 0 && r.n_piece == 1,
              "%s, %s: %lld cut, %lld moved, %lld pieces", mixed_name[kind], p->what,
              (long long)r.n_cut, (long long)r.n_moved, (long long)r.n_piece);
    hx_mesh_free(&mesh);
    hx_surface_free(&s);
}

static void test_planes(void)
{
    static const place at[] = {
        {1.0, 0.0, 0}, {0.1, 0.37, 0}, {0.1, 0.37, 1}, {700.0, -1e5 / 3.0, 1}};
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
            hx_mesh around;
            put_mesh(&around, kind, &at[i]);
            for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
                expect_exact(&around, kind, &all[k], &at[i], (int)(i == 0 && k % 4 == 0));
            hx_mesh_free(&around);
        }
}

/* One side between planes, at any share of a cell, the others on planes: moved nodes and cuts lie on
 * it. */
static void test_between(void)
{
    static const double at[] = {3.01, 3.02, 3.1, 3.25, 3.3, 3.5, 3.62, 3.7, 3.8, 3.95, 3.99, 3.999};
    const place here = {1.0, 0.0, 0};
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        hx_mesh around;
        put_mesh(&around, kind, &here);
        for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
            for (int d = 0; d < 3; d++) {
                hx_mesh mesh;
                hx_surface s = {0};
                hx_cut_report r;
                double low[3] = {0.0, 1.0, 1.0}, high[3] = {6.0, 5.0, 6.0}, volume = 1.0;
                high[d] = at[i];
                for (int k = 0; k < 3; k++) volume *= high[k] - low[k];
                cut_add_box(&s, low, high);
                cut_out(&mesh, &s, &around, 0, &r);
                CHECK_MSG(fabs(mesh.total_volume / volume - 1.0) <= 1e-9,
                          "%s, side %d at %g: volume off by %g", mixed_name[kind], d, at[i],
                          mesh.total_volume / volume - 1.0);
                hx_mesh_free(&mesh);
                hx_surface_free(&s);
            }
        hx_mesh_free(&around);
    }
}

int main(void)
{
    fixture_set_threads(1);
    test_planes();
    test_between();
    TEST_END();
}
