/* Floating components of a design: which are found, whether their forces and energies are those of
 * K, and independence of the number of threads. */
#include "core/multigrid/deflation_internal.h"
#include "tests/lib/box_part.h"

static hx_device device;

static const hx_support_spec clamped[] = {
    {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}}};
static const hx_load_spec pulled[] = {{"right", "test", HX_LOAD_TOTAL_FORCE, {0.2, 0.1, -1.0}, 1}};
static const hx_spring_spec sprung[] = {
    {.set = "right", .origin = "test", .stiffness = {1.0, 1.0, 1.0}}};

enum { NX = 12, NY = 5, NZ = 9, N_ELEM = NX * NY * NZ };

typedef struct block {
    int from[3], to[3];
} block;

static int is_in(const block *b, const int at[3])
{
    int in = 1;
    for (int i = 0; i < 3; i++) in &= at[i] >= b->from[i] && at[i] < b->to[i];
    return in;
}

/* A slab on the supports, and other blocks. */
static const block slab = {{0, 0, 0}, {NX, NY, 2}}, bit = {{3, 1, 4}, {5, 3, 6}},
                   far = {{8, 1, 5}, {11, 4, 8}}, on_slab = {{5, 1, 2}, {7, 3, 4}},
                   grey = {{2, 0, 3}, {6, 4, 7}}, at_right = {{10, 0, 4}, {NX, NY, 8}};

typedef struct model {
    hx_mesh mesh;
    hx_problem problem;
    double modulus[N_ELEM];
} model;

static void fill(model *m, const block *b, double modulus)
{
    for (int e = 0; e < N_ELEM; e++) {
        const int at[3] = {e % NX, e / NX % NY, e / NX / NY};
        if (is_in(b, at)) m->modulus[e] = modulus;
    }
}

static void make_model(model *m, int has_springs)
{
    const box_part part = {.n = {NX, NY, NZ}, .distort = 0.1};
    hx_problem_params params = fixture_problem();
    params.support = clamped;
    params.n_support = 1;
    params.load = pulled;
    params.n_load = 1;
    params.spring = sprung;
    params.n_spring = has_springs;
    CHECK_OK(box_part_create(&m->mesh, &part));
    CHECK_OK(hx_mesh_finish(&m->mesh));
    CHECK_OK(hx_problem_create(&m->problem, &m->mesh, &params));
    for (int e = 0; e < N_ELEM; e++) m->modulus[e] = 1e-9;
    fill(m, &slab, 1.0);
}

static void free_model(model *m)
{
    hx_problem_free(&m->problem);
    hx_mesh_free(&m->mesh);
}

/* x := row k of the matrix as a full vector. */
static void spread(const hx_deflation_rows *rows, int64_t k, size_t n, double *x)
{
    memset(x, 0, n * sizeof *x);
    for (int64_t i = rows->first[k]; i < rows->first[k + 1]; i++)
        x[rows->column[i]] = rows->value[i];
}

/* Compares a matrix with its transpose. */
static void check_transposed(const hx_deflation_rows *a, const hx_deflation_rows *b)
{
    int64_t n = 0, wrong = 0;
    CHECK(a->n_entry == b->n_entry && a->first[a->n] == b->first[b->n]);
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t k = a->first[i]; k < a->first[i + 1]; k++) {
            const int64_t c = a->column[k]; /* row c of b */
            int found = 0;
            for (int64_t l = b->first[c]; l < b->first[c + 1]; l++)
                found |= b->column[l] == a->at[i] && b->value[l] == a->value[k];
            wrong += !found;
            n++;
        }
    CHECK_MSG(wrong == 0 && n > 0, "%lld of %lld entries", (long long)wrong, (long long)n);
}

/* K Z against the operator's product, up to the rounding caused by the stiff elements. */
static void check_forces(const model *m, const hx_deflation *deflation)
{
    const size_t n = 3 * (size_t)m->mesh.n_node;
    fixture_settings settings = fixture_defaults();
    double *z = calloc(n, sizeof *z), *want = calloc(n, sizeof *want), *f = calloc(n, sizeof *f);
    fixture_solver s;
    if (!z || !want || !f) abort();
    CHECK_OK(fixture_solver_create(&s, &device, &m->problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m->modulus));
    for (int k = 0; k < deflation->n_column; k++) {
        double off = 0.0, size = 0.0;
        spread(&deflation->motion_transposed, k, n, z);
        spread(&deflation->forces_transposed, k, n, f);
        double *const d_z = fixture_put(&device, n, z), *const d_f = fixture_put(&device, n, f);
        CHECK_OK(hx_operator_apply(&s.op, d_z, d_f));
        fixture_get(&device, n, want, d_f);
        for (size_t i = 0; i < n; i++) {
            test_worst(&off, fabs(f[i] - want[i]));
            test_worst(&size, fabs(want[i]));
        }
        CHECK_MSG(off <= 1e-13 && size > 0.0, "column %d: off by %g of %g", k, off, size);
        device.ops->release(&device, d_z);
        device.ops->release(&device, d_f);
    }
    fixture_solver_free(&s);
    free(z);
    free(want);
    free(f);
}

/* (Z'K Z) times its inverse, on vectors in the range of the inverse; bitwise symmetric. */
static void check_inverse(const hx_deflation *deflation, int n_independent)
{
    const int n = deflation->n_column;
    double *e = calloc((size_t)(n * n), sizeof *e), *inverse = calloc((size_t)(n * n), sizeof *e);
    double *z = calloc(3 * 4096, sizeof *z), worst = 0.0;
    int n_zero = 0, skew = 0;
    if (!e || !inverse || !z) abort();
    for (int p = 0; p < n; p++) {
        const hx_deflation_rows *const f = &deflation->forces_transposed;
        spread(&deflation->motion_transposed, p, 3 * 4096, z);
        for (int q = 0; q < n; q++)
            for (int64_t k = f->first[q]; k < f->first[q + 1]; k++)
                e[n * p + q] += z[f->column[k]] * f->value[k];
        for (int64_t k = deflation->inverse.first[p]; k < deflation->inverse.first[p + 1]; k++)
            inverse[n * p + deflation->inverse.column[k]] = deflation->inverse.value[k];
    }
    for (int p = 0; p < n; p++) {
        n_zero += inverse[n * p + p] == 0.0;
        for (int q = 0; q < n; q++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) sum += e[n * p + k] * inverse[n * k + q];
            skew += inverse[n * p + q] != inverse[n * q + p];
            if (inverse[n * p + p] != 0.0 && inverse[n * q + q] != 0.0)
                test_worst(&worst, fabs(sum - (p == q)) *
                                       sqrt(fabs(e[n * q + q]) / fmax(fabs(e[n * p + p]), 1e-300)));
        }
    }
    CHECK(skew == 0);
    CHECK_MSG(n - n_zero == n_independent, "%d of %d columns", n - n_zero, n);
    CHECK_MSG(worst <= 1e-5, "inverse off by %g", worst);
    free(e);
    free(inverse);
    free(z);
}

static int is_same_bits(const hx_deflation_rows *a, const hx_deflation_rows *b)
{
    return a->n == b->n && a->n_entry == b->n_entry &&
           memcmp(a->column, b->column, (size_t)a->n_entry * sizeof *a->column) == 0 &&
           memcmp(a->value, b->value, (size_t)a->n_entry * sizeof *a->value) == 0;
}

/* Joining elements for decreasing thresholds gives the same components as each threshold by
 * itself. */
static void check_shares(const model *m, const double *modulus)
{
    static const double share[] = {1e-2, 1e-3, 1e-4};
    hx_component_grouping g, alone;
    double largest = 0.0;
    const int64_t n = m->problem.mesh->n_elem;
    for (int64_t e = 0; e < n; e++) test_worst(&largest, modulus[e]);
    CHECK_OK(hx_component_grouping_create(&g, &m->problem, NULL, modulus));
    for (size_t i = 0; i < sizeof share / sizeof share[0]; i++) {
        int64_t n_off = 0;
        CHECK_OK(hx_component_grouping_create(&alone, &m->problem, NULL, modulus));
        g.least = alone.least = share[i] * largest;
        CHECK_OK(hx_component_join_faces(&g));
        CHECK_OK(hx_component_join_faces(&alone));
        CHECK(g.n_part == alone.n_part);
        for (int64_t e = 0; e < n; e++) {
            if (!hx_component_is_stiff(&g, e)) continue;
            const uint32_t root = hx_component_root(&g, e);
            n_off += root != hx_component_root(&alone, e) || g.label[root] != alone.label[root];
        }
        CHECK_MSG(n_off == 0, "threshold %g: %lld elements in other components", share[i],
                  (long long)n_off);
        hx_component_grouping_free(&alone);
    }
    hx_component_grouping_free(&g);
}

/* check_shares for moduli of all magnitudes. */
static void check_noise(const model *m)
{
    const int64_t n = m->problem.mesh->n_elem;
    double *const modulus = malloc((size_t)n * sizeof *modulus);
    if (!modulus) abort();
    uint64_t seed = 11;
    for (int64_t e = 0; e < n; e++) modulus[e] = pow(10.0, fixture_uniform(&seed, -6.0, 0.0));
    check_shares(m, modulus);
    free(modulus);
}

static void check_threads(const model *m, const hx_deflation *deflation)
{
    hx_deflation again;
    fixture_set_threads(3);
    CHECK_OK(hx_deflation_create(&again, &m->problem, NULL, m->modulus));
    fixture_set_threads(1);
    CHECK(is_same_bits(&deflation->forces, &again.forces) &&
          is_same_bits(&deflation->inverse, &again.inverse));
    hx_deflation_free(&again);
}

/* Expects this number of components, and of linearly independent motions. The slab counts as one of
 * them if anything is floating, because it is small. */
static void check(const char *name, const model *m, int n_part, int n_independent)
{
    hx_deflation deflation;
    CHECK_OK(hx_deflation_create(&deflation, &m->problem, NULL, m->modulus));
    CHECK_MSG(deflation.n_part == n_part, "%s: %d parts, not %d", name, deflation.n_part, n_part);
    if (deflation.n_part > 0) {
        check_transposed(&deflation.motion, &deflation.motion_transposed);
        check_transposed(&deflation.forces, &deflation.forces_transposed);
        check_forces(m, &deflation);
        check_inverse(&deflation, n_independent);
        check_threads(m, &deflation);
    }
    check_shares(m, m->modulus);
    check_noise(m);
    printf("%s: %d parts\n", name, deflation.n_part);
    hx_deflation_free(&deflation);
}

static model m;

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    make_model(&m, 0);
    check("a slab", &m, 0, 0);
    fill(&m, &on_slab, 1.0);
    check("a block on it", &m, 0, 0);
    fill(&m, &far, 1.0);
    check("a floating one", &m, 2, 12);
    fill(&m, &bit, 1.0);
    check("one with an edge on the block, and both together", &m, 4, 18);
    free_model(&m);
    make_model(&m, 0);
    fill(&m, &grey, 5e-4);
    fill(&m, &bit, 1.0);
    check("a floating block in grey", &m, 3, 18);
    free_model(&m);
    make_model(&m, 1);
    fill(&m, &at_right, 1.0);
    check("a block on springs", &m, 0, 0);
    fill(&m, &bit, 1.0);
    check("and a floating one", &m, 3, 18);
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
