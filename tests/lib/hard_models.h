/* Small models that are difficult for multigrid, with their iterations: unfavourable designs and
 * meshes. */
#ifndef HX_TEST_HARD_MODELS_H
#define HX_TEST_HARD_MODELS_H

#include "box_part.h"
#include "void_patterns.h"

static const hx_support_spec clamped[] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}}};
static const hx_support_spec pulled[] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}},
    {"right", "test", HX_FIX_X | HX_FIX_Z, {0.1, 0.0, -0.2}}};
static const hx_load_spec two_cases[] = {
    {"right", "test", HX_LOAD_TOTAL_FORCE, {0.2, 0.1, -1.0}, 1},
    {"right", "test", HX_LOAD_TOTAL_FORCE, {0.0, 1.0, 0.3}, 2}};

static inline int l_shaped(int i, int j, int k)
{
    (void)j;
    return i < 6 || k < 4;
}

static inline int with_slot(int i, int j, int k)
{
    (void)k;
    return j != 3 || i >= 7;
}

typedef struct sample {
    const char *name;
    box_part part;
    pattern pattern;
    double contrast, young;
    int pulled;
    int most;    /* iterations to 1e-8; 0: only the solution counts */
    double skew; /* upper bound for M */
    int fewest;  /* least iterations on a device if it needs fewer than the host; 0: no bound */
    int direct;  /* `most` if a larger coarse grid is solved by factors; 0: the same */
} sample;

typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
    double *modulus;
    size_t n;
} model;

static inline double *new_doubles(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (!x) abort();
    return x;
}

static inline void set_design(model *m, pattern design, double contrast)
{
    const hx_mesh *mesh = &m->mesh;
    uint64_t seed = 12345;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int a = 0; a < 8; a++) sum += mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + i];
            x[i] = (sum / 8.0 - mesh->box_min[i]) / (mesh->box_max[i] - mesh->box_min[i]);
        }
        m->modulus[e] =
            m->problem.young * pow(contrast, design(x, fixture_uniform(&seed, 0.0, 1.0)) - 1.0);
    }
}

static inline void make_model(model *m, const sample *s)
{
    hx_problem_params params = fixture_problem();
    memset(m, 0, sizeof *m);
    params.support = s->pulled ? pulled : clamped;
    params.n_support = s->pulled ? 2 : 1;
    params.load = two_cases;
    params.n_load = 2;
    params.young = s->young > 0.0 ? s->young : 1.0;
    CHECK_OK(box_part_create(&m->mesh, &s->part));
    CHECK_OK(fixture_finish(&m->mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_problem_create(&m->problem, &m->mesh, &params));
    m->n = 3 * (size_t)m->mesh.n_node;
    m->modulus = new_doubles((size_t)m->mesh.n_elem);
    set_design(m, s->pattern, s->contrast);
}

static inline void free_model(model *m)
{
    free(m->modulus);
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

static inline int fixed_at(const model *m, size_t dof)
{
    return m->problem.supports.fixed[dof / 3] >> (dof % 3) & 1;
}

/* Bounds are about a quarter above the counted iterations, of which 16 are taken before floating
 * components are searched. Noise from element to element, and islands of solid closer to each other
 * than the width of a cell, have motions that no coarse grid represents. So has a body that is
 * connected only by void, whose motions are almost invisible in single precision. The rod fills a
 * quarter of its cells: rounding decides which motions of its nearly dependent corners are kept,
 * and a GPU took half the iterations of the host. */
static const sample samples[] = {
    {"solid", {.n = {12, 6, 6}}, solid, 1.0, 0.0, 0, 14, 1e-5, 0},
    {"beams", {.n = {18, 4, 14}}, beams, 1e9, 2.1e11, 0, 45, 1e-5, 0},
    {"beams, pulled", {.n = {18, 4, 14}, .distort = 0.2}, beams, 1e9, 0.0, 1, 38, 1e-5, 0},
    {"grey noise", {.n = {13, 7, 5}, .distort = 0.2}, grey, 1e9, 0.0, 0, 105, 1e-5, 0},
    {"black and white",
     {.n = {12, 7, 6}, .distort = 0.2},
     black_and_white,
     1e9,
     0.0,
     1,
     56,
     1e-5,
     0},
    {"islands", {.n = {12, 3, 9}}, islands, 1e9, 0.0, 0, 72, 1e-5, 0},
    {"islands, pulled", {.n = {14, 4, 10}, .distort = 0.1}, islands, 1e9, 2.1e11, 1, 32, 1e-5, 0},
    {"void at the supports", {.n = {12, 6, 5}}, hanging, 1e5, 0.0, 0, 110, 1e-5, 17, 30},
    {"hanging by a thread", {.n = {12, 6, 5}}, hanging, 1e9, 0.0, 0, 57, 1e-5, 0},
    {"L", {.n = {14, 4, 10}, .keep = l_shaped}, black_and_white, 1e3, 0.0, 0, 85, 1e-5, 0},
    {"slot", {.n = {15, 7, 4}, .keep = with_slot}, solid, 1.0, 0.0, 0, 25, 1e-5, 0},
    {"graded frame", {.n = {14, 8, 8}, .ratio = 6.0}, frame, 1e9, 0.0, 0, 105, 1e-5, 0},
    {"flat elements", {.n = {24, 8, 32}, .flat = 12.0}, solid, 1.0, 0.0, 0, 12, 1e-5, 0},
    {"flat beams", {.n = {24, 8, 32}, .flat = 12.0}, beams, 1e9, 0.0, 0, 24, 1e-5, 0},
    {"rod", {.n = {60, 1, 1}}, solid, 1.0, 0.0, 0, 68, 1e-4, 25, 35},
    {"plate", {.n = {24, 18, 1}, .distort = 0.1}, solid, 1.0, 0.0, 0, 42, 1e-3, 0, 32},
    {"one element", {.n = {1, 1, 1}}, solid, 1.0, 0.0, 0, 4, 1e-5, 0},
};
enum { N_SAMPLE = sizeof samples / sizeof samples[0] };

/* The sample of that name, or NULL. */
static inline const sample *sample_named(const char *name)
{
    for (int i = 0; i < N_SAMPLE; i++)
        if (strcmp(samples[i].name, name) == 0) return &samples[i];
    return NULL;
}

#endif
