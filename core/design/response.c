#include "response.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/kind_table.h"
#include "../base/memory.h"
#include "../base/vec3.h"
#include "../linalg/vector_ops.h"
#include "../operator/element_ops.h"
#include "../operator/interface_ops.h"
#include "design_ops.h"

int hx_response_check(const hx_response_kind *kind, const char *role, const hx_problem *problem,
                      const hx_response_params *params)
{
    static const hx_response_params none = {0};
    if (!params) params = &none;
    const hx_kind_entry entry[] = {
        HX_ENTRY(kind, name),
        HX_ENTRY(kind, help),
        HX_ENTRY(kind, value),
        {"derivative", kind->derivative || kind->adjoint_load},
        {"create", kind->create || !(kind->bytes || kind->destroy)},
        {"bytes", kind->bytes || !kind->create},
        {"destroy", kind->destroy || !kind->create},
    };
    const struct {
        unsigned bit;
        const char *name;
        int is_given;
    } param[] = {{HX_TAKES_SET, "set", params->set != NULL},
                 {HX_TAKES_DIRECTION, "direction", hx_norm3(params->direction) > 0.0}};
    HX_TRY(hx_kind_check(role, kind->name, sizeof entry / sizeof entry[0], entry));
    const char *const origin = params->origin ? params->origin : role;
    for (size_t i = 0; i < sizeof param / sizeof param[0]; i++)
        if (param[i].is_given != ((kind->takes & param[i].bit) != 0))
            return HX_RAISE(HX_EINPUT, "%s: %s '%s' %s a %s%s", origin, role, kind->name,
                            param[i].is_given ? "does not take" : "needs", param[i].name,
                            param[i].is_given || param[i].bit != HX_TAKES_DIRECTION
                                ? ""
                                : " other than [0, 0, 0]");
    return kind->check ? kind->check(problem, params) : HX_OK;
}

size_t hx_response_bytes(const hx_response_kind *kind, const hx_problem *problem)
{
    const size_t vector =
        (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    const size_t n = kind->adjoint_load ? (size_t)problem->cases.n + 1 : 0;
    return n * vector + (kind->bytes ? kind->bytes(problem) : 0);
}

static int64_t vector_entries(const hx_response *o)
{
    return o->analysis->op->linear.n;
}

static int create_adjoint(hx_response *o)
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

int hx_response_create(hx_response *o, const hx_response_kind *kind, const char *role,
                       hx_analysis *analysis, const hx_measured *measured,
                       const hx_response_params *params)
{
    int rc = HX_OK;
    memset(o, 0, sizeof *o);
    HX_TRY(hx_response_check(kind, role, analysis->problem, params));
    o->kind = kind;
    o->analysis = analysis;
    o->measured = measured;
    snprintf(o->role, sizeof o->role, "%s", role);
    if (params) o->params = *params;
    if (analysis->dist && !kind->is_distributed)
        return HX_RAISE(HX_EINPUT, "%s '%s' does not support several processes", role, kind->name);
    if (kind->adjoint_load) HX_TRY_FAIL(create_adjoint(o));
    if (kind->create) HX_TRY_FAIL(kind->create(o));
    return HX_OK;
fail:
    hx_response_free(o);
    return rc;
}

int hx_response_solve_adjoint(hx_response *o)
{
    hx_device *dev = o->analysis->op->dev;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    hx_pcg_result unused;
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        HX_TRY(o->kind->adjoint_load(o, c, o->d_load));
        if (!o->analysis->warm_start) HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
        HX_TRY(hx_analysis_solve_for(o->analysis, o->d_load, o->d_adjoint[c], &unused));
        HX_TRY(
            hx_interface_make_consistent(dev, o->analysis->problem->components, o->d_adjoint[c]));
    }
    return HX_OK;
}

int hx_response_reset(hx_response *o)
{
    hx_device *dev = o->analysis->op->dev;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++)
        HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
    return HX_OK;
}

int hx_response_snapshot(hx_response *o, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    if (o->kind->snapshot) HX_TRY(o->kind->snapshot(o, image));
    if (!o->kind->adjoint_load || !o->analysis->warm_start) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        snprintf(name, sizeof name, "%s.adjoint %d", o->role, c + 1);
        HX_TRY(hx_analysis_snapshot_vector(o->analysis, image, name, o->d_adjoint[c]));
    }
    return HX_OK;
}

/* d_energy[n_elem] = (u + s lambda)_e' Ke (u + s lambda)_e. */
static int shifted_energy(const hx_response *o, int c, double s, double *d_energy)
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = vector_entries(o);
    HX_TRY(dev->ops->copy(dev, o->d_load, a->d_u[c], (size_t)n * sizeof(double)));
    HX_TRY(dev->ops->vector->axpy(dev, n, s, o->d_adjoint[c], o->d_load));
    return hx_operator_energy(a->op, o->d_load, d_energy);
}

/* *s = |u| / |lambda|; 0 if one of them is 0. */
static int find_scale(const hx_response *o, int c, double *s)
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

/* d_dg += -lambda' dK/drho u of a case by polarisation: with w = s lambda, 4 w'Ke u = (u + w)'Ke(u
 * + w) - (u - w)'Ke(u - w). Scaling w to the length of u avoids cancellation. */
static int add_mutual(const hx_response *o, int c, double *d_dg, double *const d_work[2])
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
    return dev->ops->vector->axpy(dev, n, 0.25 / s, d_work[1], d_dg);
}

/* d_dg += lambda' df/drho of a case. */
static int add_body_work(const hx_response *o, int c, double *d_dg)
{
    const hx_analysis *a = o->analysis;
    const hx_body_field *body = hx_problem_body(a->problem, c);
    hx_device *dev = a->op->dev;
    if (!body) return HX_OK;
    return dev->ops->body->work(dev, &a->op->model, body, 1.0, a->d_rho, o->d_adjoint[c], d_dg);
}

int hx_response_derivative(const hx_response *o, const double *d_energy, double *d_dg,
                           double *const d_work[2])
{
    hx_device *dev = o->analysis->dev;
    const size_t bytes = (size_t)o->analysis->fields->mesh->n_elem * sizeof *d_dg;
    if (o->kind->derivative)
        HX_TRY(o->kind->derivative(o, d_energy, d_dg));
    else
        HX_TRY(dev->ops->zero(dev, d_dg, bytes));
    if (!o->kind->adjoint_load) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        HX_TRY(add_mutual(o, c, d_dg, d_work));
        HX_TRY(add_body_work(o, c, d_dg));
    }
    return HX_OK;
}

void hx_response_free(hx_response *o)
{
    if (o->kind && o->kind->destroy) o->kind->destroy(o);
    if (o->d_adjoint) {
        hx_device *dev = o->analysis->op->dev;
        for (int c = 0; c < o->analysis->problem->cases.n; c++)
            dev->ops->release(dev, o->d_adjoint[c]);
        dev->ops->release(dev, o->d_load);
    }
    free(o->d_adjoint);
    memset(o, 0, sizeof *o);
}
