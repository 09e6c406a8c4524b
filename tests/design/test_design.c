/* The operations on element fields of a device against their formulas, written out here, and
 * against those of the CPU with one thread: equal up to rounding on a GPU, bitwise equal on the CPU
 * with more threads.
 *
 *     test_design [cpu | cuda]
 *     test_design DEVICE bench NX NY NZ RADIUS [DISTORT [single]]
 *         seconds of each step on a box of unit cubes; single: weights of the sums */
#include "core/base/clock.h"
#include "core/design/bins.h"
#include "core/design/groups.h"
#include "tests/lib/box_part.h"
#include "tests/lib/cone_check.h"

static void check_entries(fields *f)
{
    const int64_t n = (int64_t)f->n;
    double mass[2], grey[2], sum[2];
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        fixture_set_threads(k == 0 ? 2 : 1);
        CHECK_OK(dev->ops->design->modulus(dev, n, NULL, 0.0, 3.0, 3.0, x[RHO], x[MODULUS]));
        CHECK_OK(
            dev->ops->design->sensitivity(dev, n, 0.0, 3.0, x[MODULUS], x[RHO], x[ENERGY], x[OUT]));
        CHECK_OK(dev->ops->vector->sum(dev, n, x[OUT], &sum[k]));
        CHECK_OK(
            dev->ops->design->measure(dev, n, x[RHO], x[VOLUME], x[PASSIVE], &mass[k], &grey[k]));
    }
    check_field(f, MODULUS, 1e-15, "modulus");
    check_field(f, OUT, 1e-15, "sensitivity");
    check_value(sum[0], sum[1], 1e-14, "sum");
    check_value(mass[0], mass[1], 1e-14, "mass");
    check_value(grey[0], grey[1], 1e-14, "greyness");
    check_sums(f, &sum[0], mass[0], grey[0], 1);
    for (size_t e = 0; e < f->n; e++) {
        const double rho = f->host[RHO][e];
        CHECK_REL(f->host[OUT][e], -9.0 * rho * rho * f->host[ENERGY][e], 1e-14);
    }
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        CHECK_OK(dev->ops->design->modulus(dev, n, NULL, 0.0, 1.0, 1.7, x[RHO], x[MODULUS]));
        CHECK_OK(dev->ops->vector->multiply(dev, n, x[RHO], x[MODULUS], x[OUT]));
        CHECK_OK(dev->ops->vector->divide(dev, n, x[OUT], x[VOLUME], x[OUT]));
        CHECK_OK(dev->ops->vector->axpy(dev, n, 0.3, x[RHO], x[OUT]));
        CHECK_OK(dev->ops->design->measure(dev, n, x[RHO], x[VOLUME], NULL, &mass[k], &grey[k]));
    }
    check_field(f, MODULUS, 1e-14, "modulus, p = 1.7");
    check_field(f, OUT, 1e-14, "products");
    check_value(grey[0], grey[1], 1e-14, "greyness of all");
    check_sums(f, NULL, mass[0], grey[0], 0);
    check_positive(f);
    const size_t last = f->n - 1;
    CHECK_REL(f->host[OUT][last],
              f->host[RHO][last] * pow(f->host[RHO][last], 1.7) / f->host[VOLUME][last] +
                  0.3 * f->host[RHO][last],
              1e-14);
}

/* Groups of three consecutive elements with equal density and dc / dv (up to rounding), on both
 * devices; the caller frees start and member. */
static void tie_by_three(fields *f, hx_groups *groups)
{
    groups->n_group = (int64_t)f->n / 3;
    groups->n_member = 3 * groups->n_group;
    groups->start = malloc((size_t)(groups->n_group + 1) * sizeof *groups->start);
    groups->member = malloc((size_t)groups->n_member * sizeof *groups->member);
    for (int64_t g = 0; g <= groups->n_group; g++) groups->start[g] = (int32_t)(3 * g);
    for (int64_t m = 0; m < groups->n_member; m++) {
        const int64_t head = m / 3 * 3;
        groups->member[m] = (int32_t)m;
        f->host[RHO][m] = f->host[RHO][head];
        f->host[DC][m] = f->host[DC][head] / f->host[VOLUME][head] * f->host[VOLUME][m];
    }
    for (int i = RHO; i <= DC; i++) {
        CHECK_OK(device.ops->upload(&device, f->d[i], f->host[i], f->n * sizeof(double)));
        CHECK_OK(cpu.ops->upload(&cpu, f->c[i], f->host[i], f->n * sizeof(double)));
    }
}

/* Optimality criteria by the formula rho (-dc / (lambda dv))^damping within the move limits, for
 * free elements; returns their volume. */
static double oc_at(const fields *f, const hx_device_oc *oc, int passive, double lambda, double *to)
{
    double volume = 0.0;
    for (size_t e = 0; e < f->n; e++) {
        const double rho = f->host[RHO][e], low = fmax(oc->rho_min, rho - oc->move),
                     high = fmin(1.0, rho + oc->move),
                     b = -f->host[DC][e] / (lambda * f->host[VOLUME][e]);
        to[e] = is_free(f, passive, e) ? fmin(fmax(rho * pow(b, oc->damping), low), high) : rho;
        if (is_free(f, passive, e)) volume += f->host[VOLUME][e] * to[e];
    }
    return volume;
}

/* Compares the device's design with the formula's, whose multiplier is found by bisection of its
 * logarithm. */
static void check_oc_formula(const fields *f, const hx_device_oc *oc, int passive, double target,
                             double change)
{
    double low = -200.0, high = 200.0, error = 0.0, largest = 0.0;
    double *const want = malloc(f->n * sizeof *want);
    for (int i = 0; i < 120; i++) {
        const double middle = 0.5 * (low + high);
        if (oc_at(f, oc, passive, exp(middle), want) > target)
            low = middle;
        else
            high = middle;
    }
    CHECK_REL(oc_at(f, oc, passive, exp(high), want), target, 1e-9);
    for (size_t e = 0; e < f->n; e++) {
        test_worst(&error, fabs(f->found[e] - want[e]));
        test_worst(&largest, fabs(want[e] - f->host[RHO][e]));
    }
    CHECK_MSG(error <= 1e-9, "n = %zu, move %g: proposal off the formula by %.3g", f->n, oc->move,
              error);
    CHECK_ABS(change, largest, 1e-9);
    CHECK(largest > 0.1 * oc->move);
    free(want);
}

/* tied: groups of three elements with one density and one dc / dv. */
static void check_oc(fields *f, double move, double damping, int passive, int linked)
{
    double change[2], target = 0.0;
    hx_groups groups = {0};
    if (linked) tie_by_three(f, &groups);
    for (size_t e = 0; e < f->n; e++)
        if (is_free(f, passive, e)) target += 0.5 * f->host[VOLUME][e];
    hx_device_oc oc = {0};
    for (int k = 0; k < 2; k++) {
        hx_device *dev = k == 0 ? &device : &cpu;
        double *const *x = k == 0 ? f->d : f->c;
        void *d_state;
        hx_device_groups d_groups = {0};
        CHECK_OK(dev->ops->alloc(dev, sizeof(hx_oc_state), &d_state));
        if (linked) CHECK_OK(hx_device_groups_create(&d_groups, dev, &groups));
        oc = (hx_device_oc){.n = (int64_t)f->n,
                            .move = move,
                            .damping = damping,
                            .rho_min = 0.01,
                            .d_design = x[RHO],
                            .d_dc = x[DC],
                            .d_dv = x[VOLUME],
                            .d_passive = passive ? x[PASSIVE] : NULL,
                            .d_proposal = x[OUT],
                            .d_state = d_state,
                            .groups = linked ? &d_groups : NULL};
        fixture_set_threads(k == 0 ? 2 : 1);
        CHECK_OK(hx_oc_update(dev, &oc, target, &change[k]));
        dev->ops->release(dev, d_state);
        hx_device_groups_free(&d_groups, dev);
    }
    check_field(f, OUT, 1e-12, "proposal");
    check_value(change[0], change[1], 1e-12, "change");
    check_oc_formula(f, &oc, passive, target, change[0]);
    for (int64_t m = 0; m < groups.n_member; m++)
        CHECK(f->found[m] == f->found[m / 3 * 3]); /* bitwise equal densities */
    free(groups.start);
    free(groups.member);
}

/* A box whose elements grow along x, distorted and shuffled: cells with one to hundreds of
 * elements. */
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
    check_oc(&f, 0.2, 0.5, 0, 0);
    check_oc(&f, 0.2, 0.5, 1, 0);
    check_oc(&f, 0.05, 0.3, 1, 0);
    check_oc(&f, 1.0, 1.0, 0, 0);
    for (size_t i = 0; i < sizeof radius / sizeof radius[0]; i++) {
        check_single(&f, &mesh, radius[i]);
        check_cone(&f, &mesh, radius[i]);
    }
    check_oc(&f, 0.2, 0.5, 0, 1);
    check_oc(&f, 1.0, 0.3, 0, 1);
    release(&f);
    hx_mesh_free(&mesh);
}

/* --- voxels --- */

static int has_notch(int i, int j, int k)
{
    return !(i > 20 && k > 3) && (i * 7 + j * 5 + k * 3) % 11 != 0;
}

static int is_sparse(int i, int j, int k)
{
    return (i + j + k) % 4 == 0;
}

static int is_diagonal(int i, int j, int k)
{
    return i == j && j == k;
}

static const double some[] = {0.3, 1.0, 1.7, 2.5, 5.0, 0.0};

/* radius[]: terminated by 0. is_grid: the elements are voxels. */
static const struct voxel_case {
    const char *what;
    box_part part;
    int is_grid;
    const double *radius;
} voxel_case[] = {
    {"a box", {.n = {37, 14, 9}}, 1, some},
    {"far from the origin",
     {.n = {9, 9, 9}, .scale = 0.01, .offset = 1000.0},
     1,
     (const double[]){0.025, 0.05, 0.0}},
    {"flat voxels, of thirds",
     {.n = {17, 8, 20}, .scale = 1.0 / 3.0, .flat = 2.5},
     1,
     (const double[]){0.1, 0.5, 1.4, 0.0}},
    {"a part of a box", {.n = {35, 11, 13}, .keep = has_notch}, 1, some},
    {"a row", {.n = {33, 1, 1}}, 1, (const double[]){0.5, 12.9, 0.0}},
    {"a plate", {.n = {1, 40, 33}}, 1, (const double[]){3.0, 12.9, 0.0}},
    {"an element", {.n = {1, 1, 1}}, 1, some},
    {"a radius that reaches far", {.n = {35, 11, 13}}, 1, (const double[]){9.4, 12.99, 0.0}},
    {"a radius that reaches too far", {.n = {35, 11, 13}}, 0, (const double[]){13.01, 100.0, 0.0}},
    {"a grid mostly empty", {.n = {12, 12, 12}, .keep = is_sparse}, 0, (const double[]){2.5, 0.0}},
    {"a diagonal", {.n = {70, 70, 70}, .keep = is_diagonal}, 0, (const double[]){12.0, 31.0, 0.0}},
    {"moved a little", {.n = {12, 9, 8}, .distort = 1e-8}, 0, (const double[]){2.5, 0.0}},
    {"edges that grow", {.n = {12, 9, 8}, .ratio = 1.0001}, 0, (const double[]){2.5, 0.0}},
};

static void check_voxel_case(const struct voxel_case *c)
{
    hx_mesh mesh;
    fields f;
    const int rc = box_part_create(&mesh, &c->part);
    CHECK_OK(rc);
    if (rc < 0) return;
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    fill(&f, (size_t)mesh.n_elem, NULL);
    for (const double *radius = c->radius; *radius > 0.0; radius++) {
        hx_device_bins cells;
        CHECK_OK(hx_device_bins_create(&cells, &device, &mesh, *radius, 1, NULL));
        CHECK_MSG((cells.voxels.n[0] > 0) == c->is_grid, "%s, radius %g: %s", c->what, *radius,
                  c->is_grid ? "no voxels" : "voxels");
        hx_device_bins_free(&cells, &device);
        check_single(&f, &mesh, *radius);
        check_cone(&f, &mesh, *radius);
    }
    release(&f);
    hx_mesh_free(&mesh);
}

/* The bounds of a row contain the centroids in its cells and are as tight as the resolution
 * permits. */
static void check_bound(const hx_device_bins *cells, const hx_bin_row *row, int axis, int64_t cell,
                        double x, double *least, double *most)
{
    const double along = HX_CELL_PARTS * ((x - cells->origin[axis]) / cells->size - (double)cell);
    CHECK(row->lower[axis] <= along + 1e-6 && along - 1e-6 <= row->upper[axis]);
    *least = fmin(*least, along);
    *most = fmax(*most, along);
}

/* Bounds of rows contain their centroids with less than one unit of slack; there are none if rows
 * are many. */
static void check_rows(const box_part *part, int has_rows)
{
    hx_device_bins cells;
    hx_mesh mesh;
    int64_t place = 0;
    CHECK_OK(box_part_create(&mesh, part));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    CHECK_OK(hx_device_bins_create(&cells, &cpu, &mesh, 13.5, 1, NULL));
    CHECK(cells.voxels.n[0] == 0 && (cells.d_row != NULL) == has_rows);
    const int64_t *const n = cells.n_cell;
    for (int64_t r = 0; cells.d_row && r < n[1] * n[2]; r++) {
        const hx_bin_row *const row = cells.d_row + r;
        const int64_t last = cells.d_start[(r + 1) * n[0]];
        double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {0.0, 0.0, 0.0};
        if (place == last) continue;
        for (int64_t i = 0; place < last; place++) {
            while (place >= cells.d_start[r * n[0] + i + 1]) i++;
            check_bound(&cells, row, 0, i, cells.d_x[place], &least[0], &most[0]);
            check_bound(&cells, row, 1, r % n[1], cells.d_y[place], &least[1], &most[1]);
            check_bound(&cells, row, 2, r / n[1], cells.d_z[place], &least[2], &most[2]);
        }
        for (int d = 0; d < 3; d++)
            CHECK(row->lower[d] > least[d] - 1.001 && row->upper[d] < most[d] + 1.001);
    }
    CHECK(place == (has_rows ? mesh.n_elem : 0));
    hx_device_bins_free(&cells, &cpu);
    hx_mesh_free(&mesh);
}

/* Two elements at one grid point and none at another: as many elements as points. */
static void check_double(void)
{
    const box_part part = {.n = {4, 3, 2}};
    hx_voxels voxels;
    hx_mesh mesh;
    CHECK_OK(box_part_create(&mesh, &part));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    CHECK_OK(hx_voxels_create(&voxels, &mesh, 1.5));
    CHECK(voxels.n[0] == 4 && voxels.n[1] == 3 && voxels.n[2] == 2);
    hx_voxels_free(&voxels);
    memcpy(mesh.conn + 8 * 5, mesh.conn + 8 * 6, 8 * sizeof *mesh.conn);
    CHECK_OK(hx_voxels_create(&voxels, &mesh, 1.5));
    CHECK(voxels.n[0] == 0 && !voxels.elem);
    hx_voxels_free(&voxels);
    hx_mesh_free(&mesh);
}

/* The predicted size for a run of elements and everything within the radius is sufficient. */
static void check_around(const hx_mesh *mesh, int64_t first, int64_t n, double radius)
{
    int32_t *const conn = malloc(8 * (size_t)mesh->n_elem * sizeof *conn);
    const hx_mesh part = {
        .n_node = mesh->n_node, .xyz = mesh->xyz, .n_elem = n, .conn = mesh->conn + 8 * first};
    hx_mesh near = part;
    near.conn = conn;
    near.n_elem = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3], y[3], least = INFINITY;
        hx_mesh_centroid(mesh, e, x);
        for (int64_t i = 0; i < n; i++) {
            hx_mesh_centroid(&part, i, y);
            least = fmin(least, hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
        }
        if (least >= radius) continue;
        memcpy(conn + 8 * near.n_elem++, mesh->conn + 8 * e, 8 * sizeof *conn);
    }
    const size_t foretold = hx_voxels_bytes_around(&part, mesh, radius),
                 taken = hx_voxels_bytes(&near, radius);
    CHECK_MSG(taken > 0 && foretold >= taken && foretold <= 3 * taken,
              "elements %lld to %lld, radius %g: %zu bytes foretold, %zu taken", (long long)first,
              (long long)(first + n), radius, foretold, taken);
    free(conn);
}

static void check_parts(void)
{
    const box_part box = {.n = {9, 6, 8}}, longer = {.n = {60, 1, 1}};
    hx_mesh mesh;
    CHECK_OK(box_part_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    check_around(&mesh, 0, mesh.n_elem / 2, 2.5);
    check_around(&mesh, mesh.n_elem / 3, mesh.n_elem / 3, 1.5);
    check_around(&mesh, 100, mesh.n_elem - 100, 0.9);
    mesh.xyz[0] -= 0.01;
    CHECK(hx_voxels_bytes_around(&mesh, &mesh, 2.5) == 0);
    hx_mesh_free(&mesh);

    CHECK_OK(box_part_create(&mesh, &longer)); /* only its ends: a grid that is mostly empty */
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    hx_mesh ends = mesh;
    ends.n_elem = 2;
    memcpy(mesh.conn + 8, mesh.conn + 8 * 59, 8 * sizeof *mesh.conn);
    CHECK(hx_voxels_bytes_around(&ends, &mesh, 1.5) == 0);
    hx_mesh_free(&mesh);
}

static double lap(double *clock)
{
    CHECK_OK(device.ops->sync(&device));
    const double now = hx_clock(), seconds = now - *clock;
    *clock = now;
    return seconds;
}

static int bench(const int size[3], double radius, double distort, int single)
{
    hx_mesh mesh;
    hx_device_bins cells;
    fields f;
    void *d_state;
    double best[3] = {INFINITY, INFINITY, INFINITY}, mass, grey, change, mean;
    CHECK_OK(hx_generate_box(&mesh, size[0], size[1], size[2], size[0], size[1], size[2]));
    if (distort > 0.0) CHECK_OK(hx_mesh_distort(&mesh, distort, 1));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    fill(&f, (size_t)mesh.n_elem, NULL);
    double clock = hx_clock();
    CHECK_OK(hx_device_bins_create(&cells, &device, &mesh, radius, 1, NULL));
    cells.single = single;
    printf("cells %.3f s\n", lap(&clock));
    CHECK_OK(device.ops->alloc(&device, sizeof(hx_oc_state), &d_state));
    const hx_device_oc oc = {mesh.n_elem, 0.2,  0.5,      0.01,    f.d[RHO], f.d[DC],
                             f.d[VOLUME], NULL, f.d[OUT], d_state, NULL};
    for (int i = 0; i < 7; i++) {
        lap(&clock);
        const double *const value = f.d[DC];
        CHECK_OK(device.ops->design->cone_sum(&device, &cells, radius, 1, &value, &f.d[MODULUS]));
        best[0] = fmin(best[0], lap(&clock));
        CHECK_OK(hx_oc_update(&device, &oc, 0.5 * mesh.total_volume, &change));
        best[1] = fmin(best[1], lap(&clock));
        CHECK_OK(device.ops->design->modulus(&device, mesh.n_elem, NULL, 0.0, 1.0, 3.0, f.d[RHO],
                                             f.d[MODULUS]));
        CHECK_OK(device.ops->design->sensitivity(&device, mesh.n_elem, 0.0, 3.0, f.d[MODULUS],
                                                 f.d[RHO], f.d[ENERGY], f.d[OUT]));
        CHECK_OK(device.ops->vector->sum(&device, mesh.n_elem, f.d[OUT], &mass));
        CHECK_OK(device.ops->design->measure(&device, mesh.n_elem, f.d[RHO], f.d[VOLUME], NULL,
                                             &mass, &grey));
        best[2] = fmin(best[2], lap(&clock));
    }
    CHECK_OK(hx_bins_estimate(&mesh, radius, &mean));
    printf("%s, %lld elements, %.0f neighbours: cone sum %.4g ms (%.3g G pairs/s), optimality "
           "criteria %.4g ms, modulus, sensitivities and measures %.4g ms\n",
           device.description, (long long)mesh.n_elem, mean, 1e3 * best[0],
           1e-9 * mean * (double)mesh.n_elem / best[0], 1e3 * best[1], 1e3 * best[2]);
    device.ops->release(&device, d_state);
    hx_device_bins_free(&cells, &device);
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
    if (argc >= 7 && strcmp(argv[2], "bench") == 0) { /* as above */
        const int size[3] = {atoi(argv[3]), atoi(argv[4]), atoi(argv[5])};
        return bench(size, atof(argv[6]), argc > 7 ? atof(argv[7]) : 0.0, argc > 8);
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
    for (size_t i = 0; i < sizeof voxel_case / sizeof voxel_case[0]; i++)
        check_voxel_case(&voxel_case[i]);
    CHECK((n_rounded > 0) == (device.ops->design->cone_rounding > 0.0));
    check_rows(&(box_part){.n = {35, 11, 13}, .distort = 0.2}, 1);
    check_rows(&(box_part){.n = {70, 70, 70}, .keep = is_diagonal}, 0);
    check_double();
    check_parts();
    hx_device_close(&cpu);
    hx_device_close(&device);
    TEST_END();
}
