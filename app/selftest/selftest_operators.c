/* Every operator of the device, in every layout and vector unit that it has, on parts with random
 * moduli between 1e-9 and 1, compared with K summed on the host. Outputs are NaN before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "selftest.h"
#include "selftest_sample.h"

enum { N_SAMPLE = 8 };

/* A sample with a vector and its product with K. */
typedef struct part {
    hx_sample s;
    double *x, *kx, *diagonal, *energy; /* [n] x 3, [n_elem] (owned, in one) */
    double *y, *twice;                  /* [n] scratch, part of the memory above */
} part;

typedef struct errors {
    double product, motions, single, bits;
} errors;

/* --- of one operator, set up --- */

static int product(hx_operator *op, int64_t n, const double *x, double *y)
{
    hx_device *const dev = op->dev;
    double *d_x = NULL, *d_y = NULL;
    int rc;
    HX_TRY_FAIL(hx_device_put(dev, &d_x, x, (size_t)n * sizeof *x));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, n, &d_y));
    HX_TRY_FAIL(hx_operator_apply_unmasked(op, d_x, d_y));
    HX_TRY_FAIL(dev->ops->download(dev, y, d_y, (size_t)n * sizeof *y));
fail:
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    return rc;
}

/* u'K u from the product, and by the operator itself; vectors are 0 at fixed entries. */
static int check_dot(hx_operator *op, const part *p, double *worst)
{
    hx_device *const dev = op->dev;
    const size_t n = (size_t)p->s.n;
    double *d_x = NULL, *d_y = NULL, *d_sum = NULL, sum = NAN, exact = 0.0;
    int rc = HX_OK;
    if (!op->linear.apply_dot) return HX_OK;
    for (size_t i = 0; i < n; i++)
        p->twice[i] = hx_sample_is_fixed(&p->s, (int64_t)i) ? 0.0 : p->x[i];
    hx_sample_product(&p->s, p->twice, p->y, NULL, NULL);
    exact = hx_selftest_dot(p->s.n, p->twice, p->y);
    HX_TRY_FAIL(hx_device_put(dev, &d_x, p->twice, n * sizeof(double)));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, p->s.n, &d_y));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, 1, &d_sum));
    HX_TRY_FAIL(hx_operator_apply_dot(op, d_x, d_y, d_sum));
    HX_TRY_FAIL(dev->ops->download(dev, &sum, d_sum, sizeof sum));
    hx_selftest_worst(worst, fabs(sum / exact - 1.0));
fail:
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    dev->ops->release(dev, d_sum);
    return rc;
}

static int check_diagonal(hx_operator *op, const part *p, double *worst)
{
    hx_device *const dev = op->dev;
    double *d_y = NULL;
    int rc;
    HX_TRY_FAIL(hx_selftest_poisoned(dev, p->s.n, &d_y));
    HX_TRY_FAIL(hx_operator_diagonal(op, d_y));
    HX_TRY_FAIL(dev->ops->download(dev, p->y, d_y, (size_t)p->s.n * sizeof(double)));
    for (int64_t i = 0; i < p->s.n; i++)
        if (hx_sample_is_fixed(&p->s, i)) p->y[i] = p->diagonal[i];
    hx_selftest_worst(worst, hx_selftest_difference(p->s.n, p->y, p->diagonal));
fail:
    dev->ops->release(dev, d_y);
    return rc;
}

static int check_energy(hx_operator *op, const part *p, double *worst)
{
    hx_device *const dev = op->dev;
    const int64_t n = p->s.mesh.n_elem;
    double *d_x = NULL, *d_energy = NULL, *energy = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&energy, (size_t)n, sizeof *energy, "energies"));
    HX_TRY_FAIL(hx_device_put(dev, &d_x, p->x, (size_t)p->s.n * sizeof(double)));
    HX_TRY_FAIL(hx_selftest_poisoned(dev, n, &d_energy));
    HX_TRY_FAIL(hx_operator_energy(op, d_x, d_energy));
    HX_TRY_FAIL(dev->ops->download(dev, energy, d_energy, (size_t)n * sizeof *energy));
    hx_selftest_worst(worst, hx_selftest_difference(n, energy, p->energy));
fail:
    free(energy);
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_energy);
    return rc;
}

/* Largest force over the largest motion, with E at most 1; for heat a constant. */
static int check_motions(hx_operator *op, const part *p, double *worst)
{
    const hx_sample *const s = &p->s;
    for (int mode = 0; mode < (s->c == 3 ? 6 : 1); mode++) {
        const int axis = mode - 3, j = (axis + 1) % 3, k = (axis + 2) % 3;
        double moved = 0.0, force = 0.0;
        for (int64_t i = 0; i < s->n; i++) {
            const double *const at = s->problem.space.xyz + 3 * (i / s->c);
            const int d = (int)(i % s->c);
            p->twice[i] = mode < 3 ? (double)(d == mode) : d == j ? -at[k] : d == k ? at[j] : 0.0;
            hx_selftest_worst(&moved, fabs(p->twice[i]));
        }
        HX_TRY(product(op, s->n, p->twice, p->y));
        for (int64_t i = 0; i < s->n; i++) hx_selftest_worst(&force, fabs(p->y[i]));
        hx_selftest_worst(worst, force / moved);
    }
    return HX_OK;
}

static int check_single(hx_operator *op, const part *p, double *worst)
{
    hx_device *const dev = op->dev;
    const size_t n = (size_t)p->s.n;
    float *x = NULL, *d_x = NULL, *d_y = NULL;
    int rc = HX_OK;
    if (!op->op_kind->apply_single) return HX_OK;
    if (op->op_kind->prepare_single) HX_TRY(op->op_kind->prepare_single(op->state));
    HX_TRY_FAIL(hx_alloc(&x, n, sizeof *x, "single precision"));
    for (size_t i = 0; i < n; i++) x[i] = NAN;
    HX_TRY_FAIL(hx_device_put(dev, &d_y, x, n * sizeof *x));
    for (size_t i = 0; i < n; i++) x[i] = (float)p->x[i];
    HX_TRY_FAIL(hx_device_put(dev, &d_x, x, n * sizeof *x));
    HX_TRY_FAIL(op->op_kind->apply_single(op->state, d_x, d_y));
    HX_TRY_FAIL(dev->ops->download(dev, x, d_y, n * sizeof *x));
    for (size_t i = 0; i < n; i++) p->y[i] = (double)x[i];
    hx_selftest_worst(worst, hx_selftest_difference(p->s.n, p->y, p->kx));
fail:
    free(x);
    dev->ops->release(dev, d_x);
    dev->ops->release(dev, d_y);
    return rc;
}

/* --- of an operator kind --- */

/* Notes the names of the vector units that were tried. */
static void note_unit(hx_selftest *t, const char *unit)
{
    const char *const before = t->line.note;
    char text[sizeof t->line.note];
    if (!unit || strstr(before, unit)) return;
    snprintf(text, sizeof text, "%.200s%s%.40s", before, before[0] ? ", " : "", unit);
    hx_selftest_note(t, "%s", text);
}

static int check_layout(hx_selftest *t, const hx_operator_kind *op_kind, hx_layout layout,
                        const part *p, errors *worst)
{
    hx_operator op = {0};
    int rc;
    HX_TRY_FAIL(hx_operator_create(&op, &t->device, op_kind, layout, &p->s.problem, 0));
    HX_TRY_FAIL(hx_operator_set_modulus(&op, p->s.modulus));
    const char *unit = op_kind->variant ? op_kind->variant(op.state, 0) : NULL;
    for (int i = 0; i == 0 || unit; i++) {
        note_unit(t, unit);
        HX_TRY_FAIL(product(&op, p->s.n, p->x, p->y));
        hx_selftest_worst(&worst->product, hx_selftest_difference(p->s.n, p->y, p->kx));
        HX_TRY_FAIL(product(&op, p->s.n, p->x, p->twice));
        if (op.op_kind->deterministic)
            worst->bits += hx_selftest_other_bits(p->s.n, p->y, p->twice);
        HX_TRY_FAIL(check_dot(&op, p, &worst->product));
        HX_TRY_FAIL(check_diagonal(&op, p, &worst->product));
        HX_TRY_FAIL(check_energy(&op, p, &worst->product));
        HX_TRY_FAIL(check_motions(&op, p, &worst->motions));
        HX_TRY_FAIL(check_single(&op, p, &worst->single));
        unit = op_kind->variant ? op_kind->variant(op.state, i + 1) : NULL;
    }
fail:
    hx_operator_free(&op);
    return rc;
}

/* Checks an operator on the samples that it supports. */
static int check_operator_kind(hx_selftest *t, const hx_operator_kind *op_kind, const part *parts,
                               int n_part, const char *label)
{
    const double bound = op_kind->error > 0.0 ? op_kind->error : 1e-12;
    errors worst = {0.0, 0.0, 0.0, 0.0};
    int rc = HX_OK;
    hx_selftest_begin(t, "%s%s", op_kind->name, label);
    for (int i = 0; i < n_part && rc >= 0; i++)
        for (int layout = 0; layout < HX_N_LAYOUT && rc >= 0; layout++)
            if (op_kind->layouts & HX_LAYOUT_BIT(layout))
                rc = check_layout(t, op_kind, (hx_layout)layout, &parts[i], &worst);
    HX_TRY(hx_selftest_end(t, rc, worst.product, bound, "K u summed on the host"));
    if (rc < 0) return HX_OK;
    hx_selftest_begin(t, "%s%s, rigid motions", op_kind->name, label);
    HX_TRY(hx_selftest_end(t, HX_OK, worst.motions, bound, "no force"));
    if (op_kind->deterministic) {
        hx_selftest_begin(t, "%s%s, again", op_kind->name, label);
        HX_TRY(hx_selftest_end(t, HX_OK, worst.bits, 0.0, "the same bits"));
    }
    if (!op_kind->apply_single) return HX_OK;
    hx_selftest_begin(t, "%s%s, single precision", op_kind->name, label);
    return hx_selftest_end(t, HX_OK, worst.single, 2e-6, "K u summed on the host");
}

static int check_kinds(hx_selftest *t, const hx_operator_kind *op_kind, const part *parts)
{
    const hx_operator_kind *const heat = op_kind->scalar;
    HX_TRY(check_operator_kind(t, op_kind, parts, 3, ""));
    if (op_kind->space_bytes) HX_TRY(check_operator_kind(t, op_kind, parts + 6, 1, ", quadratic"));
    if (!heat) return HX_OK;
    HX_TRY(check_operator_kind(t, heat, parts + 3, 3, ", heat"));
    if (!heat->space_bytes || !t->parts.device->conduction->quadratic) return HX_OK;
    return check_operator_kind(t, heat, parts + 7, 1, ", heat, quadratic");
}

int hx_selftest_operators(hx_selftest *t)
{
    part parts[N_SAMPLE];
    int rc;
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < N_SAMPLE; i++) {
        /* Samples 0 to 2 are elasticity with linear elements on three kinds of parts, 3 to 5
         * heat; 6 and 7 both with quadratic elements on the last kind. */
        static const int linear[3][3] = {{14, 12, 13}, {7, 6, 7}, {7, 5, 4}},
                         quadratic[3] = {4, 3, 4};
        const int kind = i < 6 ? i % 3 : HX_SAMPLE_MIXED;
        const int *const n = i < 6 ? linear[kind] : quadratic;
        hx_sample_spec spec = hx_sample_box((hx_sample_cells)kind, n[0], n[1], n[2]);
        spec.element = i < 6 ? HX_ELEMENT_LINEAR : HX_ELEMENT_QUADRATIC;
        spec.physics = i < 3 || i == 6 ? HX_PHYSICS_ELASTICITY : HX_PHYSICS_HEAT;
        spec.contrast = 1e9;
        part *const p = &parts[i];
        HX_TRY_FAIL(hx_sample_create(&p->s, &spec));
        const size_t n_row = (size_t)p->s.n;
        HX_TRY_FAIL(hx_alloc(&p->x, 5 * n_row + (size_t)p->s.mesh.n_elem, sizeof *p->x, "vectors"));
        p->kx = p->x + n_row;
        p->diagonal = p->kx + n_row;
        p->y = p->diagonal + n_row;
        p->twice = p->y + n_row;
        p->energy = p->twice + n_row;
        for (int64_t k = 0; k < p->s.n; k++) p->x[k] = hx_sample_random(8, k, -1.0, 1.0);
        hx_sample_product(&p->s, p->x, p->kx, p->diagonal, p->energy);
    }
    for (size_t i = 0; t->parts.op_kinds[i]; i++)
        if (strcmp(t->parts.op_kinds[i]->device, t->parts.device->name) == 0)
            HX_TRY_FAIL(check_kinds(t, t->parts.op_kinds[i], parts));
fail:
    for (int i = 0; i < N_SAMPLE; i++) {
        free(parts[i].x);
        hx_sample_free(&parts[i].s);
    }
    return rc;
}
