/* The operations on element fields of a device against those of the CPU with one thread: rounding
 * apart the same on a GPU, bit by bit the same on the CPU with more threads.
 *
 *     test_design [cpu | cuda]
 *     test_design DEVICE bench NX NY NZ RADIUS     seconds of each step on a box of unit cubes */
#include "core/cells.h"
#include "core/clock.h"
#include "fixture.h"

static hx_device device, cpu;

enum { N_FIELD = 7 };
enum { RHO, DC, VOLUME, PASSIVE, ENERGY, MODULUS, OUT };

typedef struct fields {
    size_t n;
    double *host[N_FIELD], *d[N_FIELD], *c[N_FIELD]; /* c: on the CPU's device */
    double *found;
} fields;

static void fill(fields *f, size_t n, const double *volume)
{
    uint64_t seed = 5;
    f->n = n;
    f->found = malloc(n * sizeof *f->found);
    for (int i = 0; i < N_FIELD; i++) f->host[i] = malloc(n * sizeof *f->host[i]);
    for (size_t e = 0; e < n; e++) {
        f->host[RHO][e] = fixture_uniform(&seed, 0.01, 1.0);
        f->host[DC][e] = -pow(10.0, fixture_uniform(&seed, -4.0, 0.0));
        f->host[VOLUME][e] = volume ? volume[e] : fixture_uniform(&seed, 0.5, 1.5);
        f->host[PASSIVE][e] = e % 11 == 3 ? f->host[RHO][e] : NAN;
        f->host[ENERGY][e] = fixture_uniform(&seed, 0.0, 3.0);
        f->host[MODULUS][e] = f->host[OUT][e] = 0.0;
    }
    for (int i = 0; i < N_FIELD; i++) {
        f->d[i] = fixture_put(&device, n, f->host[i]);
        f->c[i] = fixture_put(&cpu, n, f->host[i]);
    }
}

static void release(fields *f)
{
    for (int i = 0; i < N_FIELD; i++) {
        device.ops->release(&device, f->d[i]);
        cpu.ops->release(&cpu, f->c[i]);
        free(f->host[i]);
    }
    free(f->found);
}

static int same_device(void)
{
    return device.ops == cpu.ops;
}

static void check_value(double found, double want, double tolerance, const char *what)
{
    if (same_device())
        CHECK_MSG(memcmp(&found, &want, sizeof found) == 0, "%s: %.17g, not %.17g", what, found,
                  want);
    else
        CHECK_MSG(fabs(found - want) <= tolerance * fabs(want), "%s: %.17g, not %.17g", what, found,
                  want);
}

/* Field i of both, each entry; the CPU's goes to the host's. */
static void check_field(fields *f, int i, double tolerance, const char *what)
{
    double error = 0.0;
    fixture_get(&device, f->n, f->found, f->d[i]);
    fixture_get(&cpu, f->n, f->host[i], f->c[i]);
    for (size_t e = 0; e < f->n; e++) {
        const double off = fabs(f->found[e] - f->host[i][e]);
        test_worst(&error, off == 0.0 ? 0.0 : off / fabs(f->host[i][e]));
    }
    CHECK_MSG(error <= (same_device() ? 0.0 : tolerance), "%s, n = %zu: off by %.3g", what, f->n,
              error);
}

/* The mean of what is positive of derivatives of either sign. */
static void check_positive(fields *f)
{
    const int64_t n = (int64_t)f->n;
    double mean[2], dc = 0.0, dv = 0.0;
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        CHECK_OK(dev->ops->copy(dev, x[MODULUS], x[ENERGY], f->n * sizeof(double)));
        CHECK_OK(dev->ops->axpy(dev, n, -1.3, x[VOLUME], x[MODULUS]));
        CHECK_OK(dev->ops->mean_positive(dev, n, x[MODULUS], x[VOLUME], x[PASSIVE], &mean[k]));
    }
    check_value(mean[0], mean[1], 1e-14, "mean of the positive");
    for (size_t e = 0; e < f->n; e++) {
        if (!isnan(f->host[PASSIVE][e])) continue;
        dc += fmax(0.0, f->host[ENERGY][e] - 1.3 * f->host[VOLUME][e]);
        dv += f->host[VOLUME][e];
    }
    CHECK_REL(mean[1], dc / dv, 1e-12);
}

static void check_entries(fields *f)
{
    const int64_t n = (int64_t)f->n;
    double mass[2], grey[2], sum[2];
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        fixture_set_threads(k == 0 ? 2 : 1);
        CHECK_OK(dev->ops->modulus(dev, n, 3.0, 3.0, x[RHO], x[MODULUS]));
        CHECK_OK(dev->ops->sensitivity(dev, n, 3.0, x[MODULUS], x[RHO], x[ENERGY], x[OUT]));
        CHECK_OK(dev->ops->sum(dev, n, x[OUT], &sum[k]));
        CHECK_OK(dev->ops->measure(dev, n, x[RHO], x[VOLUME], x[PASSIVE], &mass[k], &grey[k]));
    }
    check_field(f, MODULUS, 1e-15, "modulus");
    check_field(f, OUT, 1e-15, "sensitivity");
    check_value(sum[0], sum[1], 1e-14, "sum");
    check_value(mass[0], mass[1], 1e-14, "mass");
    check_value(grey[0], grey[1], 1e-14, "greyness");
    for (size_t e = 0; e < f->n; e++) {
        const double rho = f->host[RHO][e];
        CHECK_REL(f->host[OUT][e], -9.0 * rho * rho * f->host[ENERGY][e], 1e-14);
    }
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        CHECK_OK(dev->ops->modulus(dev, n, 1.0, 1.7, x[RHO], x[MODULUS]));
        CHECK_OK(dev->ops->multiply(dev, n, x[RHO], x[MODULUS], x[OUT]));
        CHECK_OK(dev->ops->divide(dev, n, x[OUT], x[VOLUME], x[OUT]));
        CHECK_OK(dev->ops->axpy(dev, n, 0.3, x[RHO], x[OUT]));
        CHECK_OK(dev->ops->measure(dev, n, x[RHO], x[VOLUME], NULL, &mass[k], &grey[k]));
    }
    check_field(f, MODULUS, 1e-14, "modulus, p = 1.7");
    check_field(f, OUT, 1e-14, "products");
    check_value(grey[0], grey[1], 1e-14, "greyness of all");
    check_positive(f);
    const size_t last = f->n - 1;
    CHECK_REL(f->host[OUT][last],
              f->host[RHO][last] * pow(f->host[RHO][last], 1.7) / f->host[VOLUME][last] +
                  0.3 * f->host[RHO][last],
              1e-14);
}

static void check_oc(fields *f, double move, double damping, int passive)
{
    double change[2], target = 0.0;
    for (size_t e = 0; e < f->n; e++)
        if (!passive || isnan(f->host[PASSIVE][e])) target += 0.5 * f->host[VOLUME][e];
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        void *d_state;
        CHECK_OK(dev->ops->alloc(dev, sizeof(hx_oc_state), &d_state));
        const hx_device_oc oc = {.n = (int64_t)f->n,
                                 .move = move,
                                 .damping = damping,
                                 .rho_min = 0.01,
                                 .d_design = x[RHO],
                                 .d_dc = x[DC],
                                 .d_dv = x[VOLUME],
                                 .d_passive = passive ? x[PASSIVE] : NULL,
                                 .d_proposal = x[OUT],
                                 .d_state = d_state};
        fixture_set_threads(k == 0 ? 2 : 1);
        CHECK_OK(hx_oc_update(dev, &oc, target, &change[k]));
        dev->ops->release(dev, d_state);
    }
    check_field(f, OUT, 1e-12, "proposal");
    check_value(change[0], change[1], 1e-12, "change");
}

static void check_cone(fields *f, const hx_mesh *mesh, double radius)
{
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        hx_device_cells cells;
        CHECK_OK(hx_device_cells_create(&cells, dev, mesh, radius));
        fixture_set_threads(k == 0 ? 2 : 1);
        CHECK_OK(dev->ops->cone_sum(dev, &cells, radius, x[DC], x[OUT]));
        CHECK_OK(dev->ops->copy(dev, x[MODULUS], x[OUT], f->n * sizeof(double)));
        CHECK_OK(dev->ops->cone_sum(dev, &cells, radius, x[OUT], x[OUT])); /* in place */
        hx_device_cells_free(&cells, dev);
        hx_device_cells_free(&cells, dev);
    }
    check_field(f, MODULUS, 1e-12, "cone sum");
    check_field(f, OUT, 1e-12, "cone sum of a cone sum");
}

/* A box whose elements grow along x, distorted and shuffled: cells of 1 to hundreds of elements. */
static int make_mesh(hx_mesh *mesh, int graded)
{
    const fixture_box box = {{21, 14, 11}, {21.0, 14.0, 11.0}, 0.1, 0};
    HX_TRY(fixture_box_create(mesh, &box));
    for (int64_t i = 0; graded && i < mesh->n_node; i++)
        mesh->xyz[3 * i] = expm1(0.2 * mesh->xyz[3 * i]);
    return fixture_finish(mesh, FIXTURE_SHUFFLED);
}

static void check_mesh(int graded)
{
    static const double radius[] = {1e-3, 0.7, 1.9, 5.0, 100.0};
    hx_mesh mesh;
    fields f;
    const int rc = make_mesh(&mesh, graded);
    CHECK_OK(rc);
    if (rc < 0) return;
    fill(&f, (size_t)mesh.n_elem, NULL);
    check_entries(&f);
    check_oc(&f, 0.2, 0.5, 0);
    check_oc(&f, 0.2, 0.5, 1);
    check_oc(&f, 0.05, 0.3, 1);
    check_oc(&f, 1.0, 1.0, 0);
    for (size_t i = 0; i < sizeof radius / sizeof radius[0]; i++) check_cone(&f, &mesh, radius[i]);
    release(&f);
    hx_mesh_free(&mesh);
}

static double lap(double *clock)
{
    CHECK_OK(device.ops->sync(&device));
    const double now = hx_clock(), seconds = now - *clock;
    *clock = now;
    return seconds;
}

static int bench(const int size[3], double radius)
{
    hx_mesh mesh;
    hx_device_cells cells;
    fields f;
    void *d_state;
    double best[3] = {INFINITY, INFINITY, INFINITY}, mass, grey, change, mean;
    CHECK_OK(hx_generate_box(&mesh, size[0], size[1], size[2], size[0], size[1], size[2]));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    fill(&f, (size_t)mesh.n_elem, NULL);
    double clock = hx_clock();
    CHECK_OK(hx_device_cells_create(&cells, &device, &mesh, radius));
    printf("cells %.3f s\n", lap(&clock));
    CHECK_OK(device.ops->alloc(&device, sizeof(hx_oc_state), &d_state));
    const hx_device_oc oc = {mesh.n_elem, 0.2,  0.5,      0.01,    f.d[RHO], f.d[DC],
                             f.d[VOLUME], NULL, f.d[OUT], d_state, NULL};
    for (int i = 0; i < 7; i++) {
        lap(&clock);
        CHECK_OK(device.ops->cone_sum(&device, &cells, radius, f.d[DC], f.d[MODULUS]));
        best[0] = fmin(best[0], lap(&clock));
        CHECK_OK(hx_oc_update(&device, &oc, 0.5 * mesh.total_volume, &change));
        best[1] = fmin(best[1], lap(&clock));
        CHECK_OK(device.ops->modulus(&device, mesh.n_elem, 1.0, 3.0, f.d[RHO], f.d[MODULUS]));
        CHECK_OK(device.ops->sensitivity(&device, mesh.n_elem, 3.0, f.d[MODULUS], f.d[RHO],
                                         f.d[ENERGY], f.d[OUT]));
        CHECK_OK(device.ops->sum(&device, mesh.n_elem, f.d[OUT], &mass));
        CHECK_OK(
            device.ops->measure(&device, mesh.n_elem, f.d[RHO], f.d[VOLUME], NULL, &mass, &grey));
        best[2] = fmin(best[2], lap(&clock));
    }
    CHECK_OK(hx_cells_estimate(&mesh, radius, &mean));
    printf("%s, %lld elements, %.0f neighbours: cone sum %.4g ms (%.3g G pairs/s), optimality "
           "criteria %.4g ms, modulus, sensitivities and measures %.4g ms\n",
           device.description, (long long)mesh.n_elem, mean, 1e3 * best[0],
           1e-9 * mean * (double)mesh.n_elem / best[0], 1e3 * best[1], 1e3 * best[2]);
    device.ops->release(&device, d_state);
    hx_device_cells_free(&cells, &device);
    release(&f);
    hx_mesh_free(&mesh);
    TEST_END();
}

int main(int argc, char **argv)
{
    int quick;
    const int status = fixture_open(&device, argc > 1 ? 2 : 1, argv, &quick);
    if (status != 0) return status;
    CHECK_OK(hx_device_open(&cpu, hx_device_find("cpu")));
    if (argc == 7 && strcmp(argv[2], "bench") == 0) {
        const int size[3] = {atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
        return bench(size, atof(argv[6]));
    }
    static const size_t length[] = {1, 2, 255, 256, 257, 4099};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        fields f;
        fill(&f, length[i], NULL);
        check_entries(&f);
        release(&f);
    }
    check_mesh(0);
    check_mesh(1);
    hx_device_close(&cpu);
    hx_device_close(&device);
    TEST_END();
}
