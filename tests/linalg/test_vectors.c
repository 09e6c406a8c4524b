/* The vector operations of a device, in both precisions, against plain loops: all remainders of
 * lengths, and one length for which every block of a GPU takes several turns.
 *
 *     test_vectors [cpu | cuda] [quick] */
#include "tests/lib/fixture.h"

static hx_device device;

enum { N_VECTOR = 6 }; /* a to e, and one more */

typedef struct vectors {
    int64_t n;
    double *host[N_VECTOR], *found, *d[N_VECTOR];
    float *found_single, *s[N_VECTOR]; /* the same values as floats, on the device */
    void *d_state;
} vectors;

static void *allocate(size_t bytes)
{
    void *p;
    CHECK_OK(device.ops->alloc(&device, bytes, &p));
    return p;
}

/* Values of 0.5 to 1.5 that a float represents exactly; every third of a, b and c is negative. */
static void fill(vectors *v, int64_t n)
{
    uint64_t seed = 7;
    v->n = n;
    v->found = malloc((size_t)n * sizeof *v->found);
    v->found_single = malloc((size_t)n * sizeof *v->found_single);
    for (int i = 0; i < N_VECTOR; i++) {
        v->host[i] = malloc((size_t)n * sizeof *v->host[i]);
        for (int64_t k = 0; k < n; k++) {
            const float x = (float)fixture_uniform(&seed, 0.5, 1.5);
            v->found_single[k] = (k % 3 == 0 && i < 3) ? -x : x;
            v->host[i][k] = (double)v->found_single[k];
        }
        v->d[i] = allocate((size_t)n * sizeof(double));
        v->s[i] = allocate((size_t)n * sizeof(float));
        CHECK_OK(device.ops->upload(&device, v->d[i], v->host[i], (size_t)n * sizeof(double)));
        CHECK_OK(device.ops->upload(&device, v->s[i], v->found_single, (size_t)n * sizeof(float)));
    }
    v->d_state = allocate(sizeof(hx_pcg_state));
}

static void release(vectors *v)
{
    for (int i = 0; i < N_VECTOR; i++) {
        device.ops->release(&device, v->d[i]);
        device.ops->release(&device, v->s[i]);
        free(v->host[i]);
    }
    device.ops->release(&device, v->d_state);
    free(v->found);
    free(v->found_single);
}

static void put_state(vectors *v, const hx_pcg_state *state)
{
    CHECK_OK(device.ops->upload(&device, v->d_state, state, sizeof *state));
}

static hx_pcg_state get_state(vectors *v)
{
    hx_pcg_state state = {.reason = -1};
    CHECK_OK(device.ops->download(&device, &state, v->d_state, sizeof state));
    return state;
}

/* Compares vector i on the device with `want`, which is then replaced by the device's values. */
static void check_vector(vectors *v, int i, int single, const double *want, const char *what)
{
    const size_t n = (size_t)v->n;
    if (single) {
        CHECK_OK(device.ops->download(&device, v->found_single, v->s[i], n * sizeof(float)));
        for (size_t k = 0; k < n; k++) v->found[k] = (double)v->found_single[k];
    } else {
        CHECK_OK(device.ops->download(&device, v->found, v->d[i], n * sizeof(double)));
    }
    const double error = test_max_difference(n, v->found, want);
    CHECK_MSG(error <= (single ? 1e-6 : 1e-14), "%s %s, n = %lld: off by %g", what,
              single ? "single" : "double", (long long)v->n, error);
}

static void check_sum(const vectors *v, double got, double want, double size, const char *what)
{
    CHECK_MSG(fabs(got - want) <= size, "%s, n = %lld: %.17g, not %.17g", what, (long long)v->n,
              got, want);
}

/* a is r, b is p, c is q, d is u, e is m. */
static void check_pcg(vectors *v, int single)
{
    const hx_device_ops *ops = device.ops;
    const int64_t n = v->n;
    double *const r = v->host[0], *const p = v->host[1], *const q = v->host[2],
                  *const u = v->host[3], *const m = v->host[4];
    const double near = (single ? 1e-6 : 1e-12) * (double)n;
    double rz = 0.0, rr = 0.0, pq = 0.0;
    hx_pcg_state state = {.beta = 0.25, .stop = 1e-300, .max_iterations = 100, .reason = 1};
    put_state(v, &state);
    for (int64_t k = 0; k < n; k++) {
        rz += r[k] * m[k] * r[k];
        rr += r[k] * r[k];
        p[k] = m[k] * r[k] + 0.25 * p[k];
    }
    if (single) {
        CHECK_OK(ops->pcg->start_single(&device, n, v->s[4], v->s[0], v->d_state));
        CHECK_OK(ops->pcg->direction_single(&device, n, v->s[4], v->s[0], v->s[1], v->d_state));
    } else {
        CHECK_OK(ops->pcg->start(&device, n, v->d[4], NULL, v->d[0], v->d_state));
        CHECK_OK(ops->pcg->direction(&device, n, v->d[4], NULL, v->d[0], v->d[1], v->d_state));
    }
    state = get_state(v);
    CHECK(state.reason == HX_PCG_RUNNING && state.beta == 0.25 && state.iterations == 0);
    check_sum(v, state.rz, rz, near, "r'z");
    check_sum(v, state.rr, rr, near, "r'r");
    check_vector(v, 1, single, p, "direction");

    for (int64_t k = 0; k < n; k++) pq += p[k] * q[k];
    if (single)
        CHECK_OK(ops->pcg->alpha_single(&device, n, v->s[1], v->s[2], v->d_state));
    else
        CHECK_OK(ops->pcg->alpha(&device, n, v->d[1], v->d[2], v->d_state));
    state = get_state(v);
    check_sum(v, state.pq, pq, near, "p'q");
    CHECK(state.reason == (state.pq > 0.0 ? HX_PCG_RUNNING : HX_PCG_INDEFINITE));
    CHECK(state.alpha == state.rz / state.pq);

    state.alpha = 0.125;
    state.reason = HX_PCG_RUNNING;
    put_state(v, &state);
    const double rz_before = state.rz;
    rz = rr = 0.0;
    for (int64_t k = 0; k < n; k++) {
        u[k] += 0.125 * p[k];
        r[k] -= 0.125 * q[k];
        rr += r[k] * r[k];
        rz += r[k] * m[k] * r[k];
    }
    if (single)
        CHECK_OK(ops->pcg->update_single(&device, n, n, v->s[4], v->s[1], v->s[2], v->s[3], v->s[0],
                                         v->d_state));
    else
        CHECK_OK(ops->pcg->update(&device, n, n, v->d[4], v->d[1], v->d[2], v->d[3], v->d[0],
                                  v->d_state));
    state = get_state(v);
    check_vector(v, 3, single, u, "u");
    check_vector(v, 0, single, r, "r");
    check_sum(v, state.rr, rr, near, "r'r after the update");
    check_sum(v, state.rz, rz, near, "r'z after the update");
    CHECK(state.iterations == 1 && state.reason == HX_PCG_RUNNING);
    CHECK_REL(state.beta, state.rz / rz_before, 1e-14);
}

/* Sums over the first entries while all are updated, as on a subdomain, whose owned points come
 * first. */
static void check_own_sums(vectors *v, int single)
{
    const hx_device_ops *ops = device.ops;
    const int64_t n = v->n, n_sum = n - (n + 2) / 3;
    double *const r = v->host[0], *const p = v->host[1], *const q = v->host[2],
                  *const u = v->host[3], *const m = v->host[4];
    double rz = 0.0, rr = 0.0;
    hx_pcg_state state = {.alpha = 0.5, .rz = 1.0, .stop = -1.0, .max_iterations = 100};
    put_state(v, &state);
    for (int64_t k = 0; k < n; k++) {
        u[k] += 0.5 * p[k];
        r[k] -= 0.5 * q[k];
        if (k >= n_sum) continue;
        rr += r[k] * r[k];
        rz += r[k] * m[k] * r[k];
    }
    if (single)
        CHECK_OK(ops->pcg->update_single(&device, n, n_sum, v->s[4], v->s[1], v->s[2], v->s[3],
                                         v->s[0], v->d_state));
    else
        CHECK_OK(ops->pcg->update(&device, n, n_sum, v->d[4], v->d[1], v->d[2], v->d[3], v->d[0],
                                  v->d_state));
    state = get_state(v);
    check_vector(v, 3, single, u, "u, own sums");
    check_vector(v, 0, single, r, "r, own sums");
    const double near = (single ? 1e-6 : 1e-12) * (double)n;
    check_sum(v, state.rr, rr, near, "r'r of own entries");
    check_sum(v, state.rz, rz, near, "r'z of own entries");
}

/* The operations of the general path: z is given, in d. */
static void check_given_z(vectors *v)
{
    const hx_device_ops *ops = device.ops;
    const int64_t n = v->n;
    double *const r = v->host[0], *const p = v->host[1], *const q = v->host[2],
                  *const u = v->host[3], *const z = v->host[4];
    double rz = 0.0, rr = 0.0;
    const double sum = 2.0;
    hx_pcg_state state = {.beta = 0.5, .stop = -1.0, .max_iterations = 100};
    put_state(v, &state);
    for (int64_t k = 0; k < n; k++) {
        rz += r[k] * z[k];
        p[k] = z[k] + 0.5 * p[k];
    }
    CHECK_OK(ops->pcg->start(&device, n, NULL, v->d[4], v->d[0], v->d_state));
    CHECK_OK(ops->pcg->direction(&device, n, NULL, v->d[4], v->d[0], v->d[1], v->d_state));
    check_vector(v, 1, 0, p, "direction from z");
    CHECK_OK(ops->upload(&device, v->d[5], &sum, sizeof sum));
    CHECK_OK(ops->pcg->alpha_from(&device, v->d[5], v->d_state));
    state = get_state(v);
    check_sum(v, state.rz, rz, 1e-12 * (double)n, "r'z, z given");
    CHECK(state.pq == 2.0 && state.alpha == state.rz / 2.0);
    state.alpha = -0.25;
    state.rz = 3.0;
    put_state(v, &state);
    rz = 0.0;
    for (int64_t k = 0; k < n; k++) {
        u[k] -= 0.25 * p[k];
        r[k] += 0.25 * q[k];
        rr += r[k] * r[k];
        rz += r[k] * z[k];
    }
    CHECK_OK(ops->pcg->update(&device, n, n, NULL, v->d[1], v->d[2], v->d[3], v->d[0], v->d_state));
    CHECK_OK(ops->pcg->beta(&device, n, v->d[0], v->d[4], NULL, v->d_state));
    state = get_state(v);
    check_vector(v, 3, 0, u, "u, z given");
    check_vector(v, 0, 0, r, "r, z given");
    check_sum(v, state.rr, rr, 1e-12 * (double)n, "r'r, z given");
    check_sum(v, state.rz, rz, 1e-12 * (double)n, "beta's r'z");
    CHECK_REL(state.beta, state.rz / 3.0, 1e-14);
}

/* One, two or three dot products at once give bitwise the same results as one by one. */
static void check_dots(vectors *v)
{
    const hx_vector_ops *const vector = device.ops->vector;
    const double *const left[HX_MOST_DOTS] = {v->d[0], v->d[1], v->d[0]},
                        *const right[HX_MOST_DOTS] = {v->d[1], v->d[1], v->d[3]};
    for (int n_dot = 1; n_dot <= HX_MOST_DOTS; n_dot++) {
        double found[HX_MOST_DOTS] = {NAN, NAN, NAN};
        CHECK_OK(vector->dots(&device, v->n, n_dot, left, right, found));
        for (int k = 0; k < HX_MOST_DOTS; k++) {
            double alone = NAN;
            CHECK_OK(vector->dot(&device, v->n, left[k], right[k], &alone));
            CHECK_MSG(k < n_dot ? found[k] == alone : isnan(found[k]), "product %d of %d: %g, %g",
                      k, n_dot, found[k], alone);
        }
    }
}

static void check_simple(vectors *v)
{
    const hx_device_ops *ops = device.ops;
    const int64_t n = v->n;
    double *const a = v->host[0], *const b = v->host[1], *const want = v->host[2];
    double sum = 0.0, found;
    for (int64_t k = 0; k < n; k++) {
        want[k] = a[k] - b[k];
        sum += a[k] * b[k];
    }
    CHECK_OK(ops->vector->dot(&device, n, v->d[0], v->d[1], &found));
    check_sum(v, found, sum, 1e-12 * (double)n, "dot");
    check_dots(v);
    CHECK_OK(ops->vector->subtract(&device, n, v->d[0], v->d[1], v->d[2]));
    check_vector(v, 2, 0, want, "subtract");
    for (int64_t k = 0; k < n; k++) want[k] = 0.5 * (a[k] - b[k]);
    CHECK_OK(ops->vector->subtract_single(&device, n, 0.5, v->d[0], v->d[1], v->s[2]));
    check_vector(v, 2, 1, want, "subtract");
    for (int64_t k = 0; k < n; k++) want[k] = a[k] * 4.0;
    CHECK_OK(ops->vector->subtract_single(&device, n, 4.0, v->d[0], NULL, v->s[2]));
    check_vector(v, 2, 1, want, "subtract nothing");

    for (int64_t k = 0; k < n; k++) want[k] = b[k] + 2.0 * v->host[3][k];
    CHECK_OK(ops->vector->flush_single(&device, n, 2.0, v->s[3], v->d[1]));
    check_vector(v, 1, 0, want, "flush");
    for (int64_t k = 0; k < n; k++) want[k] = 0.0;
    check_vector(v, 3, 1, want, "flushed");

    for (int64_t k = 0; k < n; k++) want[k] = a[k] > 0.0 ? 1.0 / a[k] : 1.0;
    CHECK_OK(ops->vector->invert(&device, n, v->d[0]));
    check_vector(v, 0, 0, want, "invert");

    for (int64_t k = 0; k < n; k++) want[k] = 0.1;
    CHECK_OK(ops->vector->fill(&device, n, 0.1, v->d[3]));
    check_vector(v, 3, 0, want, "fill");
    CHECK(v->found[0] == 0.1 && v->found[n - 1] == 0.1);

    const int64_t dof[2] = {0, n - 1};
    void *d_dof = allocate(sizeof dof);
    CHECK_OK(ops->upload(&device, d_dof, dof, sizeof dof));
    memcpy(want, v->host[4], (size_t)n * sizeof *want);
    want[0] = want[n - 1] = 0.0;
    CHECK_OK(ops->vector->zero_entries(&device, 2, d_dof, v->d[4]));
    CHECK_OK(ops->vector->zero_entries_single(&device, 2, d_dof, v->s[4]));
    check_vector(v, 4, 0, want, "zero entries");
    check_vector(v, 4, 1, want, "zero entries");
    CHECK_OK(ops->vector->zero_entries_single(&device, 0, d_dof, v->s[5]));
    check_vector(v, 5, 1, v->host[5], "no entries");
    ops->release(&device, d_dof);
}

int main(int argc, char **argv)
{
    static const int64_t length[] = {1, 2, 3, 4, 5, 6, 7, 8, 257, 4099, 3000001};
    int quick;
    const int status = fixture_open(&device, argc, argv, &quick);
    if (status != 0) return status;
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++)
        for (int part = 0; part < 6; part++) {
            vectors v;
            fill(&v, length[i]);
            if (part < 2) check_pcg(&v, part);
            if (part == 2) check_given_z(&v);
            if (part == 3) check_simple(&v);
            if (part > 3) check_own_sums(&v, part - 4);
            release(&v);
        }
    hx_device_close(&device);
    TEST_END();
}
