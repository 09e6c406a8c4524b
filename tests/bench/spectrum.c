/* Eigenvalues of M^-1 K for a small model of tests/lib/hard_models.h, where M is multigrid before
 * deflation of floating components. Conjugate gradients have to resolve the isolated ones.
 *
 *     spectrum [SAMPLE [DEVICE]]
 *
 * Without a sample: one line for each. Uses the Lanczos method in M's inner product with full
 * reorthogonalization, until no free direction is left or after 600 steps; by then the outermost
 * Ritz values are eigenvalues. */
#include "tests/lib/hard_models.h"

enum { STEPS = 600 };

static hx_device device;

typedef struct lanczos {
    int n;
    double diagonal[STEPS], beside[STEPS]; /* beside[i]: off-diagonal entry between i and i + 1 */
} lanczos;

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
#pragma omp parallel for simd reduction(+ : sum)
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* y = M^-1 r or K x, with 0 at supports. */
static void apply(fixture_solver *s, size_t n, int is_precond, const double *x, double *y)
{
    double *d_x = fixture_put(&device, n, x), *d_y = fixture_put(&device, n, x);
    if (is_precond)
        CHECK_OK(s->pc.kind->apply(&s->pc, d_x, d_y));
    else
        CHECK_OK(hx_operator_apply(&s->op, d_x, d_y));
    fixture_get(&device, n, y, d_y);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
}

static double *vector(double *all, size_t n, int i)
{
    return all + n * (size_t)i;
}

/* Stores r_i and z_i = M^-1 r_i with z_i'r_j = 1 if i = j, otherwise 0. */
static void run_lanczos(lanczos *l, fixture_solver *s, const model *m)
{
    const size_t n = m->n;
    double *const r = new_doubles(n * (STEPS + 1)), *const z = new_doubles(n * (STEPS + 1)),
                  *const w = new_doubles(n);
    uint64_t seed = 9;
    for (size_t k = 0; k < n; k++) r[k] = fixed_at(m, k) ? 0.0 : fixture_uniform(&seed, -1.0, 1.0);
    apply(s, n, 1, r, z);
    double norm = sqrt(dot(n, r, z));
    l->n = 0;
    for (int i = 0; i < STEPS; i++) {
        double *const ri = vector(r, n, i), *const zi = vector(z, n, i);
        for (size_t k = 0; k < n; k++) {
            ri[k] /= norm;
            zi[k] /= norm;
        }
        apply(s, n, 0, zi, w);
        l->diagonal[i] = dot(n, w, zi);
        l->n = i + 1;
        for (int pass = 0; pass < 2; pass++) /* M^-1 is symmetric only to single precision */
            for (int j = 0; j <= i; j++) {
                const double *const rj = vector(r, n, j);
                const double share = dot(n, w, vector(z, n, j));
                for (size_t k = 0; k < n; k++) w[k] -= share * rj[k];
            }
        if (i + 1 == STEPS) break;
        memcpy(vector(r, n, i + 1), w, n * sizeof *w);
        apply(s, n, 1, w, vector(z, n, i + 1));
        const double square = dot(n, w, vector(z, n, i + 1));
        norm = square > 0.0 ? sqrt(square) : 0.0;
        l->beside[i] = norm;
        if (norm < 1e-9 * l->diagonal[0]) break;
    }
    free(r);
    free(z);
    free(w);
}

/* Number of eigenvalues below x (Sturm sequence). */
static int below(const lanczos *l, double x)
{
    double d = 1.0;
    int count = 0;
    for (int i = 0; i < l->n; i++) {
        const double e = i > 0 ? l->beside[i - 1] : 0.0;
        d = l->diagonal[i] - x - (i > 0 ? e * e / d : 0.0);
        if (d == 0.0) d = -1e-300;
        count += d < 0.0;
    }
    return count;
}

/* The k-th smallest eigenvalue. */
static double eigenvalue(const lanczos *l, int k)
{
    double low = 0.0, high = 0.0;
    for (int i = 0; i < l->n; i++) {
        const double row =
            l->diagonal[i] + (i > 0 ? l->beside[i - 1] : 0.0) + (i + 1 < l->n ? l->beside[i] : 0.0);
        high = row > high ? row : high;
    }
    for (int i = 0; i < 100; i++) {
        const double middle = 0.5 * (low + high);
        if (below(l, middle) > k)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

static void report(const sample *of, int all)
{
    static lanczos l;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    model m;
    settings.precond = "multigrid";
    settings.op_kind = hx_operator_kind_find(device.ops->name, "otf");
    make_model(&m, of);
    CHECK_OK(fixture_solver_create(&s, &device, &m.problem, &settings));
    CHECK_OK(hx_operator_set_modulus(&s.op, m.modulus));
    CHECK_OK(hx_precond_setup(&s.pc));
    run_lanczos(&l, &s, &m);
    printf("%-22s %6zu unknowns, %3d steps: %.4g to %.4g; below 0.01, 0.03, 0.1, 0.2: ", of->name,
           m.n, l.n, eigenvalue(&l, 0), eigenvalue(&l, l.n - 1));
    const double bound[] = {0.01, 0.03, 0.1, 0.2};
    for (int i = 0; i < 4; i++) printf("%d%s", below(&l, bound[i]), i < 3 ? ", " : "\n");
    for (int k = 0; all && k < l.n; k++) printf("%.6g\n", eigenvalue(&l, k));
    fixture_solver_free(&s);
    free_model(&m);
}

int main(int argc, char **argv)
{
    char *name[] = {argv[0], argc > 2 ? argv[2] : (char[]){"cpu"}};
    int quick;
    const int status = fixture_open(&device, 2, name, &quick);
    if (status != 0) return status;
    const sample *const only = argc > 1 ? sample_named(argv[1]) : NULL;
    if (argc > 1 && !only) {
        fprintf(stderr, "spectrum: no sample '%s'\n", argv[1]);
        return 2;
    }
    for (int i = 0; !only && i < N_SAMPLE; i++) report(&samples[i], 0);
    if (only) report(only, 1);
    hx_device_close(&device);
    return test_n_failed > 0;
}
