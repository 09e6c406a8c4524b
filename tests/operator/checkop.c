/* Checks or times every operator and layout of a device.
 *
 *     checkop DEVICE                      correctness on small distorted, shuffled meshes
 *     checkop DEVICE --only NAME          of one operator, on the smaller ones
 *     checkop DEVICE --bench NX NY NZ     time per product on a box, as a table; a fourth number
 *                                         is its kind of cells (mixed_mesh.h): 3 for tetrahedra
 *
 * The reference is a K summed in long double (tests/lib/stiffness_reference.h). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/linalg/block3.h"
#include "core/operator/operator.h"
#include "core/operator/patches.h"
#include "tests/lib/box_part.h"
#include "tests/lib/operator_bench.h"

static const char *only; /* the operator to check; NULL: all */

/* y = K x on the device; y is filled with NaN first. */
static int product(const hx_operator *op, vectors *v, const double *x, double *y, int masked)
{
    const size_t bytes = (size_t)v->n_dof * sizeof(double);
    hx_device *dev = op->dev;
    for (int64_t i = 0; i < v->n_dof; i++) y[i] = NAN;
    HX_TRY(dev->ops->upload(dev, v->d_y, y, bytes));
    HX_TRY(dev->ops->upload(dev, v->d_x, x, bytes));
    HX_TRY(masked ? hx_operator_apply(op, v->d_x, v->d_y)
                  : hx_operator_apply_unmasked(op, v->d_x, v->d_y));
    return dev->ops->download(dev, y, v->d_y, bytes);
}

/* product() in single precision; x and y are converted to it and back. */
static int product_single(const hx_operator *op, vectors *v, const double *x, double *y)
{
    if (op->op_kind->prepare_single) HX_TRY(op->op_kind->prepare_single(op->state));
    const size_t bytes = (size_t)v->n_dof * sizeof(float);
    hx_device *dev = op->dev;
    for (int64_t i = 0; i < v->n_dof; i++) v->single[i] = NAN;
    HX_TRY(dev->ops->upload(dev, v->d_single_y, v->single, bytes));
    for (int64_t i = 0; i < v->n_dof; i++) v->single[i] = (float)x[i];
    HX_TRY(dev->ops->upload(dev, v->d_single_x, v->single, bytes));
    HX_TRY(op->op_kind->apply_single(op->state, v->d_single_x, v->d_single_y));
    HX_TRY(dev->ops->download(dev, v->single, v->d_single_y, bytes));
    for (int64_t i = 0; i < v->n_dof; i++) y[i] = (double)v->single[i];
    return HX_OK;
}

/* Largest relative error allowed for a product of this operator. */
static double error_bound(const hx_operator *op)
{
    return op->op_kind->error > 0.0 ? op->op_kind->error : 1e-12;
}

/* Rigid motions cause no forces, up to the error of the product for E = 1. */
static void check_rigid_motions(const hx_operator *op, const hx_mesh *mesh, vectors *v,
                                const char *label)
{
    for (int mode = 0; mode < 6; mode++) {
        double largest = 0.0, moved = 0.0;
        for (int64_t a = 0; a < mesh->n_node; a++) {
            const double *p = mesh->xyz + 3 * a;
            for (int i = 0; i < 3; i++) {
                const int axis = mode - 3, j = (axis + 1) % 3, k = (axis + 2) % 3;
                v->x[3 * a + i] = mode < 3 ? (double)(i == mode)
                                  : i == j ? -p[k]
                                  : i == k ? p[j]
                                           : 0.0;
                test_worst(&moved, fabs(v->x[3 * a + i]));
            }
        }
        CHECK_OK(product(op, v, v->x, v->y, 0));
        for (int64_t i = 0; i < v->n_dof; i++) test_worst(&largest, fabs(v->y[i]));
        CHECK_MSG(largest <= error_bound(op) * moved, "%s: rigid motion %d gives force %.3g", label,
                  mode, largest);
    }
}

static void check_operator(hx_operator *op, const model *m, vectors *v, const char *label)
{
    const hx_mesh *mesh = &m->mesh;
    double forward = 0.0, backward = 0.0;
    CHECK_OK(hx_operator_set_modulus(op, v->modulus));
    for (int repeat = 0; repeat < N_DOUBLE; repeat++) {
        memcpy(v->x, v->at[repeat], (size_t)v->n_dof * sizeof *v->x);
        CHECK_OK(product(op, v, v->x, v->y, 0));
        const double error = relative_error(v->n_dof, v->y, v->ref[repeat]);
        CHECK_MSG(error <= error_bound(op), "%s: relative error %.3g", label, error);
        if (repeat == 0) printf("%-28s relative error %.1e\n", label, error);
    }

    /* supports: rows of fixed degrees of freedom are 0, the others unchanged */
    CHECK_OK(product(op, v, v->x, v->z, 1));
    for (int64_t i = 0; i < v->n_dof; i++) {
        const int fixed = m->problem.supports.fixed[i / 3] >> (i % 3) & 1;
        CHECK_MSG(fixed ? v->z[i] == 0.0 : fabs(v->z[i] - v->y[i]) <= 1e-12, "%s: masked row %lld",
                  label, (long long)i);
    }

    /* symmetry: z' K x = x' K z */
    for (int64_t i = 0; i < v->n_dof; i++) {
        v->z[i] = uniform(-1.0, 1.0);
        forward += v->z[i] * v->y[i];
    }
    CHECK_OK(product(op, v, v->z, v->y, 0));
    for (int64_t i = 0; i < v->n_dof; i++) backward += v->x[i] * v->y[i];
    CHECK_MSG(fabs(forward - backward) <= error_bound(op) * (double)v->n_dof,
              "%s: z'Kx %.15g, x'Kz %.15g", label, forward, backward);

    check_rigid_motions(op, mesh, v, label);
}

static void check_single(const hx_operator *op, vectors *v, const char *label)
{
    CHECK_OK(product_single(op, v, v->at[N_DOUBLE], v->y));
    const double error = relative_error(v->n_dof, v->y, v->ref[N_DOUBLE]);
    CHECK_MSG(error <= 2e-6, "%s: relative error %.3g in single precision", label, error);
    printf("%-28s relative error %.1e in single precision\n", label, error);
}

/* Results are bitwise equal with one thread, with two, and in a second run. */
static void check_bits(const hx_operator *op, vectors *v, const char *label)
{
    const size_t bytes = (size_t)v->n_dof * sizeof(double);
    for (int64_t i = 0; i < v->n_dof; i++) v->x[i] = uniform(-1.0, 1.0);
    for (int single = 0; single < (op->op_kind->apply_single ? 2 : 1); single++)
        for (int threads = 1; threads <= 2; threads++) {
            double *to = threads == 1 ? v->y : v->z;
            fixture_set_threads(threads);
            CHECK_OK(single ? product_single(op, v, v->x, to) : product(op, v, v->x, to, 0));
            fixture_set_threads(1);
            if (threads == 2)
                CHECK_MSG(memcmp(v->y, v->z, bytes) == 0, "%s: other bits%s", label,
                          single ? " in single precision" : "");
        }
}

/* y and x'y by apply_dot; both are filled with NaN first. */
static int product_dot(const hx_operator *op, vectors *v, const double *x, double *y, double *sum)
{
    const size_t bytes = (size_t)v->n_dof * sizeof(double);
    hx_device *dev = op->dev;
    double *d_sum;
    int rc;
    HX_TRY(dev->ops->alloc(dev, sizeof *d_sum, &d_sum));
    for (int64_t i = 0; i < v->n_dof; i++) y[i] = NAN;
    *sum = NAN;
    HX_TRY_FAIL(dev->ops->upload(dev, d_sum, sum, sizeof *sum));
    HX_TRY_FAIL(dev->ops->upload(dev, v->d_y, y, bytes));
    HX_TRY_FAIL(dev->ops->upload(dev, v->d_x, x, bytes));
    HX_TRY_FAIL(op->op_kind->apply_dot(op->state, v->d_x, v->d_y, d_sum));
    HX_TRY_FAIL(dev->ops->download(dev, sum, d_sum, sizeof *sum));
    rc = dev->ops->download(dev, y, v->d_y, bytes);
fail:
    dev->ops->release(dev, d_sum);
    return rc;
}

/* apply_dot gives the y of apply and x'y, with one thread and with two. */
static void check_dot(const hx_operator *op, vectors *v, const char *label)
{
    const size_t bytes = (size_t)v->n_dof * sizeof(double);
    real dot = 0.0L, xx = 0.0L, yy = 0.0L;
    double sum[2];
    for (int64_t i = 0; i < v->n_dof; i++) v->x[i] = uniform(-1.0, 1.0);
    CHECK_OK(product(op, v, v->x, v->y, 0));
    for (int64_t i = 0; i < v->n_dof; i++) {
        dot += (real)v->x[i] * v->y[i];
        xx += (real)v->x[i] * v->x[i];
        yy += (real)v->y[i] * v->y[i];
    }
    for (int threads = 1; threads <= 2; threads++) {
        fixture_set_threads(threads);
        CHECK_OK(product_dot(op, v, v->x, v->z, &sum[threads - 1]));
        fixture_set_threads(1);
        CHECK_MSG(!op->op_kind->deterministic || memcmp(v->y, v->z, bytes) == 0,
                  "%s: y of apply_dot differs bitwise, %d threads", label, threads);
        const double error = (double)(fabsl(sum[threads - 1] - dot) / sqrtl(xx * yy));
        CHECK_MSG(error <= 1e-13, "%s: x'y %.17g, must be %.17Lg", label, sum[threads - 1], dot);
    }
    CHECK_MSG(!op->op_kind->deterministic || memcmp(&sum[0], &sum[1], sizeof sum[0]) == 0,
              "%s: x'y %.17g, two threads %.17g", label, sum[0], sum[1]);
}

static void check_all(hx_operator *op, const model *m, vectors *v, const char *label)
{
    check_operator(op, m, v, label);
    if (op->op_kind->apply_single) check_single(op, v, label);
    if (op->op_kind->deterministic) check_bits(op, v, label);
    if (op->op_kind->apply_dot) check_dot(op, v, label);
}

/* Checks the operator with every instruction set that runs on this machine. */
static void check_variants(hx_operator *op, const model *m, vectors *v)
{
    const char *name;
    for (int i = 0; (name = op->op_kind->variant(op->state, i)) != NULL; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s %s", op->op_kind->name, name);
        check_all(op, m, v, label);
    }
    CHECK(op->op_kind->variant(op->state, 0) != NULL);
}

/* Checks what depends little or not on the operator kind: diagonal and energies from coordinates,
 * and masks. */
static void check_from_coordinates(hx_operator *op, const model *m, vectors *v)
{
    const size_t bytes = (size_t)v->n_dof * sizeof(double);
    /* an operator's own diagonal is as accurate as its product */
    const double bound = op->op_kind->diagonal ? fmax(op->op_kind->error, 1e-12) : 1e-12;
    CHECK_OK(hx_operator_set_modulus(op, v->modulus));
    CHECK_OK(hx_operator_diagonal(op, v->d_y));
    CHECK_OK(op->dev->ops->download(op->dev, v->y, v->d_y, bytes));
    for (int64_t i = 0; i < v->n_dof; i++) {
        if (m->problem.supports.fixed[i / 3] >> (i % 3) & 1)
            CHECK(v->y[i] == 0.0);
        else
            CHECK_REL(v->y[i], v->diag[i], bound);
    }
    CHECK_OK(op->dev->ops->upload(op->dev, v->d_x, v->at[0], bytes));
    double *d_energy = NULL;
    const size_t n_elem = (size_t)m->mesh.n_elem;
    CHECK_OK(op->dev->ops->alloc(op->dev, n_elem * sizeof *d_energy, &d_energy));
    CHECK_OK(hx_operator_energy(op, v->d_x, d_energy));
    CHECK_OK(op->dev->ops->download(op->dev, v->energy, d_energy, n_elem * sizeof *d_energy));
    op->dev->ops->release(op->dev, d_energy);
    for (int64_t e = 0; e < m->mesh.n_elem; e++)
        CHECK_REL(v->energy[e], v->energy_ref[0][e], 1e-11);
}

/* u'Ke v of every element by energies: 4 u'Ke v = (u + v)'Ke(u + v) - (u - v)'Ke(u - v). v is a
 * rotated and scaled u, so that its values have another size and direction. */
static void check_mutual(hx_operator *op, const model *m, vectors *v)
{
    const hx_vector_ops *const vector = op->dev->ops->vector;
    const int64_t n_elem = m->mesh.n_elem;
    double *const d_v = fixture_put(op->dev, (size_t)v->n_dof, NULL),
                  *const d_sum = fixture_put(op->dev, (size_t)v->n_dof, NULL),
                  *const d_of = fixture_put(op->dev, (size_t)n_elem, NULL);
    double *const other = malloc((size_t)v->n_dof * sizeof *other), *const of =
                                                                        malloc(3 * (size_t)n_elem *
                                                                               sizeof *of);
    if (!other || !of) abort();
    for (int64_t i = 0; i < v->n_dof; i++)
        other[i] = 0.7 * v->at[0][3 * (i / 3) + (i + 1) % 3] + 0.1 * v->at[0][i];
    CHECK_OK(op->dev->ops->upload(op->dev, v->d_x, v->at[0], (size_t)v->n_dof * sizeof *other));
    CHECK_OK(op->dev->ops->upload(op->dev, d_v, other, (size_t)v->n_dof * sizeof *other));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(op->dev->ops->copy(op->dev, d_sum, v->d_x, (size_t)v->n_dof * sizeof *other));
        CHECK_OK(vector->axpy(op->dev, v->n_dof, k == 0 ? 1.0 : -1.0, d_v, d_sum));
        CHECK_OK(hx_operator_energy(op, d_sum, d_of));
        fixture_get(op->dev, (size_t)n_elem, of + k * n_elem, d_of);
    }
    CHECK_OK(hx_operator_mutual(op, v->d_x, d_v, d_of));
    fixture_get(op->dev, (size_t)n_elem, of + 2 * n_elem, d_of);
    for (int64_t e = 0; e < n_elem; e++)
        CHECK(fabs(of[2 * n_elem + e] - 0.25 * (of[e] - of[n_elem + e])) <=
              1e-12 * (of[e] + of[n_elem + e]));
    op->dev->ops->release(op->dev, d_v);
    op->dev->ops->release(op->dev, d_sum);
    op->dev->ops->release(op->dev, d_of);
    free(other);
    free(of);
}

/* Compares the 3x3 blocks of free nodes with sums over all pairs of corners that name a node. */
static void check_block_diagonal(hx_operator *op, const model *m, vectors *v)
{
    const hx_mesh *mesh = &m->mesh;
    const size_t n = 6 * (size_t)mesh->n_node;
    double *block = NULL, *d_block = NULL, error = 0.0;
    real *expected = NULL;
    CHECK_OK(hx_alloc(&block, n, sizeof *block, "blocks"));
    CHECK_OK(hx_alloc(&expected, n, sizeof *expected, "blocks"));
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int k = 0; k < 64; k++) {
            const int a = k / 8, b = k % 8;
            const int64_t node = mesh->conn[8 * e + a];
            for (int i = 0; i < 3 && mesh->conn[8 * e + b] == node; i++)
                for (int j = i; j < 3; j++)
                    expected[6 * node + hx_block3_at(i, j)] +=
                        v->modulus[e] * v->ke[e][3 * a + i][3 * b + j];
        }
    CHECK_OK(op->dev->ops->alloc(op->dev, n * sizeof *d_block, &d_block));
    CHECK_OK(hx_operator_set_modulus(op, v->modulus));
    CHECK_OK(hx_operator_block_diagonal(op, d_block));
    CHECK_OK(op->dev->ops->download(op->dev, block, d_block, n * sizeof *block));
    for (int64_t a = 0; a < mesh->n_node; a++)
        for (int k = 0; k < 6 && m->problem.supports.fixed[a] == 0; k++) {
            const real scale = expected[6 * a] + expected[6 * a + hx_block3_at(1, 1)];
            test_worst(&error, (double)(fabsl(block[6 * a + k] - expected[6 * a + k]) / scale));
        }
    CHECK_MSG(error <= 1e-12, "block diagonal off by %.3g", error);
    op->dev->ops->release(op->dev, d_block);
    free(block);
    free(expected);
}

/* Checks every operator and layout; frees the model. */
static void check_model(hx_device *dev, const char *title, model *m)
{
    vectors v;
    printf("-- %s\n", title);
    CHECK_OK(make_vectors(&v, dev, &m->mesh));
    CHECK_OK(make_references(&v, m));
    int first = 1;
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, dev->ops->name) != 0) continue;
        if (only && strcmp(op_kind->name, only) != 0) continue;
        for (int layout = 0; layout < HX_N_LAYOUT; layout++) {
            hx_operator op;
            char label[64];
            if (!(op_kind->layouts & HX_LAYOUT_BIT(layout))) continue;
            snprintf(label, sizeof label, "%s %s", op_kind->name,
                     hx_layout_name((hx_layout)layout));
            CHECK_OK(hx_operator_create(&op, dev, op_kind, (hx_layout)layout, &m->problem, 0));
            if (op_kind->variant)
                check_variants(&op, m, &v);
            else
                check_all(&op, m, &v, label);
            if (first) check_block_diagonal(&op, m, &v);
            if (first) check_mutual(&op, m, &v);
            if (first || op_kind->diagonal) check_from_coordinates(&op, m, &v);
            first = 0;
            hx_operator_free(&op);
        }
    }
    CHECK_MSG(!first, "no operator for device %s", dev->ops->name);
    free_vectors(&v, dev);
    free_model(m);
}

static void check_mesh(hx_device *dev, const char *title, const char *generator,
                       const hx_generate_params *params, double nu, int shuffled, change half)
{
    model m;
    CHECK_OK(make_model(&m, generator, params, nu, shuffled, half));
    check_model(dev, title, &m);
}

/* Every kind of cell, and many cells around one node: more than a row of a patch has slots, and
 * more than a word has bits for colours. */
static void check_collapsed(hx_device *dev)
{
    model m;
    char title[64];
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            const mixed_box box = {
                .kind = kind, .n = {4, 3, 5}, .distort = 0.15, .seed = 5 + (uint64_t)kind};
            snprintf(title, sizeof title, "%s, turned, %s", mixed_name[kind],
                     shuffled ? "shuffled" : "reordered");
            CHECK_OK(make_mixed_model(&m, &box, shuffled));
            check_model(dev, title, &m);
        }
    CHECK_OK(make_fan_model(&m, 70, 0));
    check_model(dev, "fan of 70 wedges", &m);
    CHECK_OK(make_fan_model(&m, 70, 1));
    check_model(dev, "fan of 70 tetrahedra", &m);
}

static int has_notch(int i, int j, int k)
{
    return !(i > 20 && k > 1) && (i * 7 + j * 5 + k * 3) % 11 != 0;
}

/* Two halves that touch but do not share nodes: the elements are on a grid, with two nodes at some
 * places. */
static void crack(hx_mesh *mesh, int64_t first_half)
{
    const int64_t n = mesh->n_node;
    mesh->xyz = realloc(mesh->xyz, 6 * (size_t)n * sizeof *mesh->xyz);
    int32_t *const twin = malloc((size_t)n * sizeof *twin);
    uint8_t *const in_first = calloc((size_t)n, 1);
    if (!mesh->xyz || !twin || !in_first) abort();
    for (int64_t a = 0; a < n; a++) twin[a] = -1;
    for (int64_t k = 0; k < 8 * first_half; k++) in_first[mesh->conn[k]] = 1;
    for (int64_t k = 8 * first_half; k < 8 * mesh->n_elem; k++) {
        const int32_t a = mesh->conn[k];
        if (!in_first[a]) continue;
        if (twin[a] < 0) {
            twin[a] = (int32_t)mesh->n_node++;
            memcpy(mesh->xyz + 3 * (int64_t)twin[a], mesh->xyz + 3 * (int64_t)a,
                   3 * sizeof(double));
        }
        mesh->conn[k] = twin[a];
    }
    free(twin);
    free(in_first);
}

/* Equal bricks on a grid: more columns along x and y, and more layers, than one block has. */
static void check_voxels(hx_device *dev)
{
    static const struct {
        const char *title;
        box_part part;
        int is_cracked, shuffled;
    } at[] = {
        {"part of a grid, shuffled", {.n = {34, 11, 4}, .keep = has_notch}, 0, 1},
        {"flat bricks of a grid", {.n = {4, 3, 21}, .scale = 1.0 / 3.0, .flat = 2.5}, 0, 0},
        {"a row of bricks", {.n = {1, 26, 1}, .offset = 100.0}, 0, 1},
        {"a grid with a crack", {.n = {6, 5, 4}}, 1, 1},
    };
    model m;
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        memset(&m, 0, sizeof m);
        CHECK_OK(box_part_create(&m.mesh, &at[i].part));
        if (at[i].is_cracked) crack(&m.mesh, m.mesh.n_elem / 2);
        CHECK_OK(fixture_finish(&m.mesh, at[i].shuffled ? FIXTURE_SHUFFLED : FIXTURE_REORDERED));
        CHECK_OK(make_problem(&m, "left", "right", 0.3));
        check_model(dev, at[i].title, &m);
    }
}

static int create(hx_operator *op, hx_device *dev, const char *name, const model *m,
                  const vectors *v)
{
    HX_TRY(hx_operator_create(op, dev, hx_operator_kind_find(dev->ops->name, name),
                              HX_LAYOUT_INTERLEAVED, &m->problem, 0));
    return hx_operator_set_modulus(op, v->modulus);
}

/* Checks an operator, in cases where blocks have more patches than they list at a time, against
 * stored matrices: several products one after the other must each use every patch exactly once.
 * Frees the model. */
static void check_many_patches(hx_device *dev, const char *name, const char *title, model *m)
{
    enum { N_PRODUCT = 3 };
    vectors v;
    hx_operator op;
    printf("-- %s, %lld elements\n", title, (long long)m->mesh.n_elem);
    CHECK_OK(make_vectors(&v, dev, &m->mesh));
    const size_t n = (size_t)v.n_dof;
    CHECK_OK(hx_alloc(&v.ref[0], n, sizeof *v.ref[0], "reference"));
    for (size_t i = 0; i < n; i++) v.x[i] = (double)(float)uniform(-1.0, 1.0);
    CHECK_OK(create(&op, dev, "sym", m, &v));
    CHECK_OK(product(&op, &v, v.x, v.y, 0));
    for (size_t i = 0; i < n; i++) v.ref[0][i] = v.y[i];
    hx_operator_free(&op);
    CHECK_OK(create(&op, dev, name, m, &v));
    for (int single = 0; single < 2; single++)
        for (int k = 0; k < N_PRODUCT; k++) {
            double *const to = k == 0 ? v.z : v.y;
            CHECK_OK(single ? product_single(&op, &v, v.x, to) : product(&op, &v, v.x, to, 0));
            const double error = relative_error(v.n_dof, to, v.ref[0]);
            CHECK_MSG(error <= (single ? 2e-6 : error_bound(&op)), "product %d of %s: off by %.3g",
                      k, name, error);
            CHECK_MSG(k == 0 || memcmp(v.y, v.z, n * sizeof *v.y) == 0, "product %d: other bits",
                      k);
            if (k == 0)
                printf("%-28s relative error %.1e%s\n", name, error,
                       single ? " in single precision" : "");
        }
    hx_operator_free(&op);
    free_vectors(&v, dev);
    free_model(m);
}

enum { NEVER_WIDE = INT32_MAX };

/* More patches than the blocks of a GPU hold at a time: six blocks of 64 elements (ten in single
 * precision) on each of 150 multiprocessors; one block of wide patches, whose lists use a ring of
 * eight; two blocks of 256 equal elements, with eight patches each. */
static void check_large(hx_device *dev)
{
    const hx_generate_params box = {.nx = 96, .ny = 80, .nz = 80, .distort = 0.25, .seed = 3};
    const mixed_box cells = {
        .kind = MIXED_TETRAHEDRA, .n = {46, 44, 44}, .distort = 0.1, .seed = 5};
    const mixed_box layers = {.kind = MIXED_LAYERS, .n = {80, 80, 80}, .distort = 0.1, .seed = 5};
    const hx_generate_params equal = {.nx = 100, .ny = 79, .nz = 78};
    const int64_t usual = hx_patches_wide_from();
    model m;
    CHECK_OK(make_model(&m, "cantilever", &equal, 0.3, 0, AS_IT_IS));
    check_many_patches(dev, "dedup", "many patches of equal elements", &m);
    CHECK_OK(make_model(&m, "cantilever", &box, 0.3, 0, AS_IT_IS));
    check_many_patches(dev, "otf", "many patches", &m);
    hx_patches_set_wide_from(NEVER_WIDE);
    CHECK_OK(make_model(&m, "cantilever", &box, 0.3, 0, AS_IT_IS));
    check_many_patches(dev, "otf", "many small patches", &m);
    hx_patches_set_wide_from(usual);
    CHECK_OK(make_mixed_model(&m, &layers, 0));
    check_many_patches(dev, "otf", "many patches of several kinds", &m);
    CHECK_OK(make_mixed_model(&m, &cells, 0));
    check_many_patches(dev, "otf", "many patches of tetrahedra", &m);
}

/* Checks one operator only, for tools that slow a program down. */
static int check_one(hx_device *dev, const char *name)
{
    const hx_generate_params tiny = {.nx = 1, .ny = 1, .nz = 1};
    const hx_generate_params box = {.nx = 5, .ny = 4, .nz = 3, .distort = 0.25, .seed = 3};
    const hx_generate_params halves = {.nx = 8, .ny = 3, .nz = 3};
    const mixed_box cells = {.kind = MIXED_LAYERS, .n = {2, 2, 5}, .distort = 0.15, .seed = 7};
    model m;
    if (!hx_operator_kind_find(dev->ops->name, name)) TEST_SKIP("no operator '%s'", name);
    const int64_t usual = hx_patches_wide_from();
    only = name;
    for (int wide = 0; wide < 2; wide++) {
        hx_patches_set_wide_from(wide ? 1 : NEVER_WIDE);
        check_mesh(dev, "one element", "cantilever", &tiny, 0.3, 0, AS_IT_IS);
        check_mesh(dev, "distorted box, shuffled", "cantilever", &box, 0.3, 1, AS_IT_IS);
        check_mesh(dev, "box, half of it distorted", "cantilever", &halves, 0.3, 0, HALF_DISTORTED);
        check_mesh(dev, "box", "cantilever", &halves, 0.3, 1, AS_IT_IS);
        CHECK_OK(make_mixed_model(&m, &cells, 1));
        check_model(dev, mixed_name[cells.kind], &m);
    }
    hx_patches_set_wide_from(usual);
    TEST_END();
}

static void check_meshes(hx_device *dev)
{
    const hx_generate_params tiny = {.nx = 1, .ny = 1, .nz = 1};
    const hx_generate_params box = {.nx = 7, .ny = 5, .nz = 3, .distort = 0.25, .seed = 3};
    const hx_generate_params rod = {.nx = 12, .ny = 2};
    const hx_generate_params large = {.nx = 11, .ny = 7, .nz = 7, .distort = 0.25, .seed = 5};
    /* more shared nodes than otf on a CPU processes at a time */
    const hx_generate_params larger = {.nx = 14, .ny = 10, .nz = 8, .distort = 0.25, .seed = 9};
    /* halves with more elements than a patch of congruent ones */
    const hx_generate_params halves = {.nx = 12, .ny = 6, .nz = 5};
    check_mesh(dev, "one element", "cantilever", &tiny, 0.3, 0, AS_IT_IS);
    check_mesh(dev, "distorted box, shuffled", "cantilever", &box, 0.3, 1, AS_IT_IS);
    check_mesh(dev, "distorted box, reordered, nu = 0.45", "cantilever", &box, 0.45, 0, AS_IT_IS);
    check_mesh(dev, "connecting rod, shuffled", "conrod", &rod, 0.3, 1, AS_IT_IS);
    check_mesh(dev, "connecting rod, reordered (10 neighbours at a node)", "conrod", &rod, 0.3, 0,
               AS_IT_IS);
    check_mesh(dev, "large box, shuffled", "cantilever", &large, 0.3, 1, AS_IT_IS);
    check_mesh(dev, "large box, reordered", "cantilever", &large, 0.3, 0, AS_IT_IS);
    check_mesh(dev, "larger box, shuffled", "cantilever", &larger, 0.3, 1, AS_IT_IS);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        check_mesh(dev,
                   shuffled ? "box, half of it distorted, shuffled" : "box, half of it distorted",
                   "cantilever", &halves, 0.3, shuffled, HALF_DISTORTED);
        check_mesh(dev, shuffled ? "box, half of it sheared, shuffled" : "box, half of it sheared",
                   "cantilever", &halves, 0.3, shuffled, HALF_SHEARED);
    }
    check_voxels(dev);
    check_collapsed(dev);
}

/* Checks wide patches on small meshes, although operators use them only on large meshes. */
static void check_wide(hx_device *dev)
{
    const int64_t usual = hx_patches_wide_from();
    hx_patches_set_wide_from(1);
    printf("-- with wide patches\n");
    only = "otf";
    check_meshes(dev);
    only = NULL;
    hx_patches_set_wide_from(usual);
}

static int check_device(hx_device *dev)
{
    check_meshes(dev);
    if (strcmp(dev->ops->name, "cpu") != 0) check_wide(dev);
    if (hx_operator_kind_find(dev->ops->name, "sym")) check_large(dev);
    TEST_END();
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "cpu";
    const hx_device_ops *ops = hx_device_find(name);
    hx_device dev;
    char why[256];
    if (!ops) TEST_SKIP("this build has no device '%s'", name);
    if (!ops->available(why, sizeof why)) TEST_SKIP("device '%s': %s", name, why);
    if (hx_device_open(&dev, ops) < 0) {
        printf("%s\n", hx_error_message());
        return 1;
    }
    int status;
    if (argc >= 6 && strcmp(argv[2], "--bench") == 0)
        status = bench_device(&dev, atoi(argv[3]), atoi(argv[4]), atoi(argv[5]),
                              argc > 6 ? atoi(argv[6]) % MIXED_N_KIND : MIXED_HEXAHEDRA);
    else
        status = argc == 4 && strcmp(argv[2], "--only") == 0 ? check_one(&dev, argv[3])
                                                             : check_device(&dev);
    hx_device_close(&dev);
    return status;
}
