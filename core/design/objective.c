#include "objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"
#include "../operator/element_ops.h"
#include "design_ops.h"

int hx_objective_vectors(const hx_objective_kind *kind, const hx_problem *problem)
{
    return kind->adjoint_load ? problem->cases.n + 1 : 0;
}

static int64_t vector_entries(const hx_objective *o)
{
    return o->analysis->op->linear.n;
}

static int create_adjoint(hx_objective *o)
{
    const size_t n_case = (size_t)o->analysis->problem->cases.n;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    hx_device *dev = o->analysis->op->dev;
    HX_TRY(hx_alloc(&o->d_adjoint, n_case, sizeof *o->d_adjoint, "adjoint displacements"));
    HX_TRY(dev->ops->alloc(dev, bytes, &o->d_load));
    for (size_t c = 0; c < n_case; c++) {
        HX_TRY(dev->ops->alloc(dev, bytes, &o->d_adjoint[c]));
        HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
    }
    return HX_OK;
}

int hx_objective_create(hx_objective *o, const hx_objective_kind *kind, hx_analysis *analysis,
                        const void *data)
{
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->analysis = analysis;
    o->data = data;
    if (!kind->adjoint_load) return HX_OK;
    if (analysis->dist)
        return HX_RAISE(HX_EINPUT, "objective '%s' does not support several processes", kind->name);
    const int rc = create_adjoint(o);
    if (rc < 0) hx_objective_free(o);
    return rc;
}

int hx_objective_solve_adjoint(hx_objective *o)
{
    hx_device *dev = o->analysis->op->dev;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    hx_pcg_result unused;
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        HX_TRY(o->kind->adjoint_load(o, c, o->d_load));
        if (!o->analysis->warm_start) HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
        HX_TRY(hx_analysis_solve_for(o->analysis, o->d_load, o->d_adjoint[c], &unused));
    }
    return HX_OK;
}

int hx_objective_reset(hx_objective *o)
{
    hx_device *dev = o->analysis->op->dev;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++)
        HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
    return HX_OK;
}

int hx_objective_snapshot(hx_objective *o, hx_snapshot *image)
{
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    char name[HX_SNAPSHOT_NAME];
    if (!o->kind->adjoint_load || !o->analysis->warm_start) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        snprintf(name, sizeof name, "objective.adjoint %d", c + 1);
        HX_TRY(hx_snapshot_device(image, name, o->analysis->op->dev, o->d_adjoint[c], bytes));
    }
    return HX_OK;
}

/* d_energy[n_elem] = (u + s lambda)_e' Ke (u + s lambda)_e. */
static int shifted_energy(const hx_objective *o, int c, double s, double *d_energy)
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = vector_entries(o);
    HX_TRY(dev->ops->copy(dev, o->d_load, a->d_u[c], (size_t)n * sizeof(double)));
    HX_TRY(dev->ops->vector->axpy(dev, n, s, o->d_adjoint[c], o->d_load));
    return hx_operator_energy(a->op, o->d_load, d_energy);
}

/* *s = |u| / |lambda|; 0 if one of them is 0. */
static int find_scale(const hx_objective *o, int c, double *s)
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = vector_entries(o);
    double uu, ll;
    HX_TRY(dev->ops->vector->dot(dev, n, a->d_u[c], a->d_u[c], &uu));
    HX_TRY(dev->ops->vector->dot(dev, n, o->d_adjoint[c], o->d_adjoint[c], &ll));
    *s = uu == 0.0 || ll == 0.0 ? 0.0 : sqrt(uu / ll);
    return HX_OK;
}

/* d_dc += -lambda' dK/drho u of a case by polarisation: with w = s lambda, 4 w'Ke u = (u + w)'Ke(u
 * + w) - (u - w)'Ke(u - w). Scaling w to the length of u avoids cancellation. */
static int add_mutual(const hx_objective *o, int c, double *d_dc, double *const d_work[2])
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = a->op->model.n_elem;
    double s;
    HX_TRY(find_scale(o, c, &s));
    if (s == 0.0) return HX_OK;
    HX_TRY(shifted_energy(o, c, s, d_work[0]));
    HX_TRY(shifted_energy(o, c, -s, d_work[1]));
    HX_TRY(dev->ops->vector->subtract(dev, n, d_work[0], d_work[1], d_work[0]));
    HX_TRY(dev->ops->design->sensitivity(dev, n, a->problem->least, a->penalty,
                                         a->op->model.d_modulus, a->d_rho, d_work[0], d_work[1]));
    return dev->ops->vector->axpy(dev, n, 0.25 / s, d_work[1], d_dc);
}

/* d_dc += lambda' df/drho of a case. */
static int add_body_work(const hx_objective *o, int c, double *d_dc)
{
    const hx_analysis *a = o->analysis;
    const hx_body_field *body = hx_problem_body(a->problem, c);
    hx_device *dev = a->op->dev;
    if (!body) return HX_OK;
    return dev->ops->body->work(dev, &a->op->model, body, 1.0, a->d_rho, o->d_adjoint[c], d_dc);
}

int hx_objective_derivative(const hx_objective *o, const double *d_energy, double *d_dc,
                            double *const d_work[2])
{
    hx_device *dev = o->analysis->dev;
    const size_t bytes = (size_t)o->analysis->fields->mesh->n_elem * sizeof *d_dc;
    if (o->kind->derivative)
        HX_TRY(o->kind->derivative(o, d_energy, d_dc));
    else
        HX_TRY(dev->ops->zero(dev, d_dc, bytes));
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        HX_TRY(add_mutual(o, c, d_dc, d_work));
        HX_TRY(add_body_work(o, c, d_dc));
    }
    return HX_OK;
}

void hx_objective_free(hx_objective *o)
{
    if (o->d_adjoint) {
        hx_device *dev = o->analysis->op->dev;
        for (int c = 0; c < o->analysis->problem->cases.n; c++)
            dev->ops->release(dev, o->d_adjoint[c]);
        dev->ops->release(dev, o->d_load);
    }
    free(o->d_adjoint);
    memset(o, 0, sizeof *o);
}
