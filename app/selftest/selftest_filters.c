/* Every filter: its result by all pairs of elements or a dense solution, the properties it keeps,
 * and its transpose. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "selftest.h"
#include "selftest_sample.h"

/* Data of a filter's check: a design and derivatives as input, fields of the device and of the
 * host. */
typedef struct trial {
    const hx_sample *s;
    double radius;
    int64_t n;
    double *rho, *dc, *found, *back, *expected, *dv; /* [n] each (owned, in rho) */
} trial;

typedef struct reference {
    const char *filter;
    /* expected[n]: for a filter that maps the design from rho, else from rho and dc. HX_ENOMEM. */
    int (*of)(const trial *f);
    const char *by;
    double bound;
    int keeps_volume, is_rounded; /* is_rounded: its weights may be in single precision (cone.h) */
} reference;

/* sum H a / sum H over all pairs. */
static void mean_of_pairs(const trial *f, const double *a, double *mean)
{
    for (int64_t e = 0; e < f->n; e++) {
        double sum = 0.0, weights = 0.0;
        for (int64_t i = 0; i < f->n; i++) {
            double x[3], y[3], square = 0.0;
            hx_mesh_centroid(&f->s->mesh, e, x);
            hx_mesh_centroid(&f->s->mesh, i, y);
            for (int d = 0; d < 3; d++) square += (x[d] - y[d]) * (x[d] - y[d]);
            const double h = f->radius - sqrt(square);
            if (h <= 0.0) continue;
            sum += h * a[i];
            weights += h;
        }
        mean[e] = sum / weights;
    }
}

static int density_of(const trial *f)
{
    mean_of_pairs(f, f->rho, f->expected);
    return HX_OK;
}

static int sensitivity_of(const trial *f)
{
    for (int64_t e = 0; e < f->n; e++) f->back[e] = f->rho[e] * f->dc[e];
    mean_of_pairs(f, f->back, f->expected);
    for (int64_t e = 0; e < f->n; e++) f->expected[e] /= f->rho[e];
    return HX_OK;
}

static int nothing_of(const trial *f)
{
    memcpy(f->expected, f->dc, (size_t)f->n * sizeof *f->dc);
    return HX_OK;
}

/* Solves a positive definite system by elimination; x: right-hand side, then solution. */
static void eliminate(int64_t n, double *a, double *x)
{
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            if (factor == 0.0) continue;
            for (int64_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            x[i] -= factor * x[k];
        }
    for (int64_t k = n; k-- > 0;) {
        for (int64_t j = k + 1; j < n; j++) x[k] -= a[k * n + j] * x[j];
        x[k] /= a[k * n + k];
    }
}

/* A cell's part of R^2 / 12 grad x grad v + x v = rho v: its gradient at the centre, its volume in
 * equal parts at its points (helmholtz.h). */
static void add_helmholtz(const trial *f, int64_t e, double *a, double *x)
{
    const hx_mesh *const mesh = &f->s->mesh;
    const int32_t *const conn = mesh->conn + 8 * e;
    const double v = f->s->problem.volume[e];
    double at[24], inverse[3][3], g[8][3], middle[3];
    int corner[8];
    const int n_point = hx_cell_distinct(conn, corner);
    hx_cell_middle(conn, middle);
    for (int p = 0; p < 8; p++)
        memcpy(at + 3 * p, mesh->xyz + 3 * (int64_t)conn[p], 3 * sizeof *at);
    (void)hx_hex8_jacobian(at, middle[0], middle[1], middle[2], inverse);
    for (int p = 0; p < 8; p++) hx_hex8_gradient(p, middle[0], middle[1], middle[2], inverse, g[p]);
    for (int p = 0; p < 8; p++)
        for (int q = 0; q < 8; q++)
            a[conn[p] * mesh->n_node + conn[q]] +=
                f->radius * f->radius / 12.0 * v *
                (g[p][0] * g[q][0] + g[p][1] * g[q][1] + g[p][2] * g[q][2]);
    for (int k = 0; k < n_point; k++) {
        a[conn[corner[k]] * (mesh->n_node + 1)] += v / n_point;
        x[conn[corner[k]]] += v / n_point * f->rho[e];
    }
}

static int helmholtz_of(const trial *f)
{
    const hx_mesh *const mesh = &f->s->mesh;
    const size_t n = (size_t)mesh->n_node;
    double *a;
    HX_TRY(hx_alloc(&a, n * n + n, sizeof *a, "a dense matrix"));
    double *const x = a + n * n;
    for (int64_t e = 0; e < f->n; e++) add_helmholtz(f, e, a, x);
    eliminate(mesh->n_node, a, x);
    for (int64_t e = 0; e < f->n; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int corner[8];
        const int n_point = hx_cell_distinct(conn, corner);
        f->expected[e] = 0.0;
        for (int k = 0; k < n_point; k++) f->expected[e] += x[conn[corner[k]]] / n_point;
    }
    free(a);
    return HX_OK;
}

/* helmholtz keeps its metric in single precision. A filter that is not listed is checked for the
 * properties that all filters have. */
static const reference references[] = {{"density", density_of, "all pairs", 1e-13, 0, 0},
                                       {"sensitivity", sensitivity_of, "all pairs", 1e-13, 0, 1},
                                       {"helmholtz", helmholtz_of, "dense solution", 3e-7, 1, 0},
                                       {"none", nothing_of, "nothing changes", 0.0, 0, 0}};

static const reference *find_reference(const char *name)
{
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++)
        if (strcmp(references[i].filter, name) == 0) return &references[i];
    return NULL;
}

/* --- on the device --- */

static int run_forward(hx_filter *filter, int64_t n, const double *rho, double *physical)
{
    hx_device *const dev = filter->dev;
    const size_t bytes = (size_t)n * sizeof *rho;
    double *d_rho = NULL, *d_physical = NULL;
    int rc;
    HX_TRY_FAIL(hx_device_put(dev, &d_rho, rho, bytes));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, n, &d_physical));
    HX_TRY_FAIL(hx_filter_forward(filter, d_rho, d_physical));
    HX_TRY_FAIL(dev->ops->download(dev, physical, d_physical, bytes));
fail:
    dev->ops->release(dev, d_rho);
    dev->ops->release(dev, d_physical);
    return rc;
}

/* After a forward call with the same design. */
static int run_backward(hx_filter *filter, int64_t n, const double *rho, double *dc, double *dv)
{
    hx_device *const dev = filter->dev;
    const size_t bytes = (size_t)n * sizeof *rho;
    double *d_rho = NULL, *d_dc = NULL, *d_dv = NULL;
    int rc;
    HX_TRY_FAIL(hx_device_put(dev, &d_rho, rho, bytes));
    HX_TRY_FAIL(hx_device_put(dev, &d_dc, dc, bytes));
    HX_TRY_FAIL(hx_device_put(dev, &d_dv, dv, bytes));
    HX_TRY_FAIL(hx_filter_backward(filter, d_rho, d_dc, d_dv));
    HX_TRY_FAIL(dev->ops->download(dev, dc, d_dc, bytes));
    HX_TRY_FAIL(dev->ops->download(dev, dv, d_dv, bytes));
fail:
    dev->ops->release(dev, d_rho);
    dev->ops->release(dev, d_dc);
    dev->ops->release(dev, d_dv);
    return rc;
}

static int check_values(hx_selftest *t, hx_filter *filter, const trial *f, const reference *ref)
{
    double error = NAN;
    hx_selftest_begin(t, "%s, %s", filter->kind->name, hx_sample_name(f->s->spec.cells));
    int rc = ref->of(f);
    if (rc >= 0) rc = run_forward(filter, f->n, f->rho, f->found);
    if (rc >= 0 && !filter->kind->maps_design) {
        memcpy(f->found, f->dc, (size_t)f->n * sizeof *f->dc);
        memcpy(f->back, f->dv, (size_t)f->n * sizeof *f->dc);
        rc = run_backward(filter, f->n, f->rho, f->found, f->back);
    }
    if (rc >= 0) {
        double worst = 0.0, scale = 0.0;
        for (int64_t e = 0; e < f->n; e++)
            hx_selftest_worst(&worst, fabs(f->found[e] - f->expected[e]));
        for (int64_t e = 0; e < f->n; e++) hx_selftest_worst(&scale, fabs(f->expected[e]));
        error = worst / scale;
    }
    /* Weights in single precision are off by cone_rounding radii, and their mean is a quarter
     * radius: twice that relative error, for the sum and for the weights' sum. */
    return hx_selftest_end(
        t, rc, error,
        ref->bound + (ref->is_rounded ? 8.0 * filter->dev->ops->design->cone_rounding : 0.0),
        ref->by);
}

/* b'(F a) = a'(F'b), between two designs at which no limit is active. */
static int check_transpose(hx_selftest *t, hx_filter *filter, const trial *f)
{
    const size_t bytes = (size_t)f->n * sizeof(double);
    double left = NAN, right = NAN, size = 1.0;
    hx_selftest_begin(t, "%s, %s, transpose", filter->kind->name, hx_sample_name(f->s->spec.cells));
    memcpy(f->back, f->dc, bytes);
    int rc = run_forward(filter, f->n, f->rho, f->found);
    if (rc >= 0) rc = run_backward(filter, f->n, f->rho, f->back, f->dv);
    if (rc >= 0) {
        left = hx_selftest_dot(f->n, f->found, f->dc);
        right = hx_selftest_dot(f->n, f->rho, f->back);
        size = sqrt(hx_selftest_dot(f->n, f->found, f->found)) *
               sqrt(hx_selftest_dot(f->n, f->dc, f->dc));
    }
    return hx_selftest_end(t, rc, fabs(left - right) / size, 1e-9, "x'Hy = y'H'x");
}

static int check_filter(hx_selftest *t, hx_filter *filter, const trial *f)
{
    const reference *const ref = find_reference(filter->kind->name);
    if (ref) HX_TRY(check_values(t, filter, f, ref));
    if (!filter->kind->maps_design) return HX_OK;
    double error = 0.0;
    hx_selftest_begin(t, "%s, %s, a constant", filter->kind->name,
                      hx_sample_name(f->s->spec.cells));
    for (int64_t e = 0; e < f->n; e++) f->expected[e] = 0.37;
    const int rc = run_forward(filter, f->n, f->expected, f->found);
    for (int64_t e = 0; e < f->n; e++) hx_selftest_worst(&error, fabs(f->found[e] - 0.37));
    HX_TRY(hx_selftest_end(t, rc, error, 1e-9, "stays"));
    if (ref && ref->keeps_volume) {
        const double *const v = f->s->problem.volume;
        hx_selftest_begin(t, "%s, %s, volume", filter->kind->name,
                          hx_sample_name(f->s->spec.cells));
        const int applied = run_forward(filter, f->n, f->rho, f->found);
        const double lost =
            hx_selftest_dot(f->n, v, f->found) / hx_selftest_dot(f->n, v, f->rho) - 1.0;
        HX_TRY(hx_selftest_end(t, applied, fabs(lost), 1e-9, "stays"));
    }
    return check_transpose(t, filter, f);
}

static int run_filter_trial(hx_selftest *t, trial *f)
{
    for (size_t i = 0; t->parts.filters[i]; i++) {
        const hx_filter_kind *const kind = t->parts.filters[i];
        const hx_filter_params params = {.radius = kind->needs_radius ? f->radius : 0.0};
        hx_filter filter;
        for (int64_t e = 0; e < f->n; e++) {
            f->rho[e] = hx_sample_random(21, e, 0.2, 0.9);
            f->dc[e] = -hx_sample_random(22, e, 0.1, 10.0);
            f->dv[e] = f->s->problem.volume[e];
        }
        HX_TRY(hx_filter_create(&filter, kind, &t->device, &f->s->problem, &params));
        const int rc = check_filter(t, &filter, f);
        hx_filter_free(&filter);
        HX_TRY(rc);
    }
    return HX_OK;
}

static int run_sample(hx_selftest *t, const hx_sample_spec *spec)
{
    trial f = {.radius = 2.2};
    hx_sample s;
    int rc;
    HX_TRY_FAIL(hx_sample_create(&s, spec));
    f.s = &s;
    f.n = s.mesh.n_elem;
    HX_TRY_FAIL(hx_alloc(&f.rho, 6 * (size_t)f.n, sizeof *f.rho, "fields"));
    f.dc = f.rho + f.n;
    f.found = f.dc + f.n;
    f.back = f.found + f.n;
    f.expected = f.back + f.n;
    f.dv = f.expected + f.n;
    HX_TRY_FAIL(run_filter_trial(t, &f));
fail:
    free(f.rho);
    hx_sample_free(&s);
    return rc;
}

int hx_selftest_filters(hx_selftest *t)
{
    const hx_sample_spec hexahedra = hx_sample_box(HX_SAMPLE_HEXAHEDRA, 9, 7, 6);
    const hx_sample_spec mixed = hx_sample_box(HX_SAMPLE_MIXED, 6, 5, 4);
    HX_TRY(run_sample(t, &hexahedra));
    return run_sample(t, &mixed);
}
