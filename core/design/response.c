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
#include "analysis_internal.h"
#include "design_ops.h"

static const hx_response_params none = {.load_case = HX_ALL_CASES};

hx_response_unit hx_response_unit_of(const hx_response_kind *kind, const hx_problem *problem)
{
    return hx_problem_is_heat(problem) ? kind->heat_unit : kind->unit;
}

unsigned hx_response_takes(const hx_response_kind *kind, int is_heat)
{
    return is_heat ? kind->takes & ~kind->not_in_heat : kind->takes;
}

/* Parameters by their keys in the config. */
static const struct {
    unsigned bit;
    const char *key;
} parameter[] = {
    {HX_TAKES_SET, "set"},
    {HX_TAKES_SET_2, "set_2"},
    {HX_TAKES_LARGEST, "of"},
    {HX_TAKES_CASE, "case"},
    {HX_TAKES_DIRECTION, "direction"},
    {HX_TAKES_MAGNITUDE, "magnitude"},
    {HX_TAKES_RELAXATION, "relaxation"},
    {HX_TAKES_METHOD, "method"},
    {HX_TAKES_EXCLUDE, "exclude"},
    {HX_TAKES_EXCLUDE_RADIUS, "exclude_radius"},
    {HX_TAKES_RADIUS, "radius"},
};
enum { N_PARAMETER = sizeof parameter / sizeof parameter[0] };

const char *hx_response_keys(const hx_response_kind *kind, int is_heat, char *text, size_t n_text)
{
    const unsigned takes = hx_response_takes(kind, is_heat);
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < N_PARAMETER && used < n_text; i++)
        if (takes & parameter[i].bit)
            used += (size_t)snprintf(text + used, n_text - used, "%s%s", used > 0 ? ", " : "",
                                     parameter[i].key);
    return text;
}

/* HX_EINPUT: the kind does not take a parameter; its keys are listed. */
static int refuse(const hx_response_kind *kind, const char *role, const char *origin, int is_heat,
                  const char *key)
{
    char keys[128];
    hx_response_keys(kind, is_heat, keys, sizeof keys);
    return HX_RAISE(HX_EINPUT, "%s: %s: %s '%s' does not take this key%s; its keys are kind%s%s%s",
                    origin, key, role, kind->name, is_heat ? " in heat" : "",
                    strncmp(role, "constraint", 10) == 0 ? ", max, min, name" : "",
                    keys[0] ? ", " : "", keys);
}

int hx_response_check_given(const hx_response_kind *kind, const char *role, const char *origin,
                            int is_heat, unsigned given)
{
    const unsigned takes = hx_response_takes(kind, is_heat),
                   signed_by =
                       takes & (takes & HX_TAKES_DIRECTION ? HX_TAKES_DIRECTION : HX_TAKES_SET_2);
    for (int i = 0; i < N_PARAMETER; i++)
        if (given & ~takes & parameter[i].bit)
            return refuse(kind, role, origin, is_heat, parameter[i].key);
    for (int i = 0; i < N_PARAMETER; i++)
        if (kind->needs & ~given & parameter[i].bit)
            return HX_RAISE(HX_EINPUT, "%s: %s '%s' needs a %s%s", origin, role, kind->name,
                            parameter[i].key,
                            parameter[i].bit == HX_TAKES_DIRECTION ? " other than [0, 0, 0]" : "");
    if (!(given & HX_TAKES_MAGNITUDE) || !signed_by || given & signed_by) return HX_OK;
    if (signed_by == HX_TAKES_SET_2)
        return HX_RAISE(HX_EINPUT,
                        "%s: magnitude: it removes the sign of a difference of two means; give "
                        "set_2, or leave magnitude out",
                        origin);
    return HX_RAISE(HX_EINPUT,
                    "%s: magnitude: a %s without direction is a length, which has no sign; give a "
                    "direction, or leave magnitude out",
                    origin, kind->name);
}

/* The parameters that differ from their defaults. */
static unsigned given_by(const hx_response_params *params)
{
    return (params->set ? HX_TAKES_SET : 0u) | (params->set_2 ? HX_TAKES_SET_2 : 0u) |
           (hx_norm3(params->direction) > 0.0 ? HX_TAKES_DIRECTION : 0u) |
           (params->is_magnitude ? HX_TAKES_MAGNITUDE : 0u) |
           (params->of_largest ? HX_TAKES_LARGEST : 0u) |
           (params->load_case > 0 ? HX_TAKES_CASE : 0u) |
           (params->relaxation > 0.0 ? HX_TAKES_RELAXATION : 0u) |
           (params->is_lagrangian ? HX_TAKES_METHOD : 0u) |
           (params->n_exclude > 0 ? HX_TAKES_EXCLUDE : 0u) |
           (params->radius > 0.0 ? HX_TAKES_RADIUS : 0u);
}

int hx_response_check(const hx_response_kind *kind, const char *role, const hx_problem *problem,
                      const hx_response_params *params)
{
    if (!params) params = &none;
    const hx_kind_entry entry[] = {
        HX_ENTRY(kind, name),
        HX_ENTRY(kind, help),
        HX_ENTRY(kind, value),
        {"derivative", kind->derivative || kind->adjoint_load || kind->in_lagrangian},
        {"create", kind->create || !(kind->bytes || kind->destroy)},
        {"bytes", kind->bytes || !kind->create},
        {"destroy", kind->destroy || !kind->create},
    };
    HX_TRY(hx_kind_check(role, kind->name, sizeof entry / sizeof entry[0], entry));
    HX_TRY(hx_response_check_given(kind, role, params->origin ? params->origin : role,
                                   hx_problem_is_heat(problem), given_by(params)));
    if (params->load_case < HX_ALL_CASES || params->load_case >= problem->cases.n)
        return HX_RAISE(HX_EINPUT, "%s: there is no load case %d; there %s %d",
                        params->origin ? params->origin : role, params->load_case + 1,
                        problem->cases.n == 1 ? "is only" : "are", problem->cases.n);
    return kind->check ? kind->check(problem, params) : HX_OK;
}

size_t hx_response_bytes(const hx_response_kind *kind, const hx_problem *problem,
                         const hx_response_params *params)
{
    if (!params) params = &none;
    const size_t vector =
        (size_t)problem->components * (size_t)problem->space.n_point * sizeof(double);
    const size_t n_case = params->load_case == HX_ALL_CASES ? (size_t)problem->cases.n : 1;
    const size_t n_adjoint = kind->adjoint_load ? n_case : 0;
    return n_adjoint * vector + hx_analysis_follow_bytes(problem, (int)n_adjoint) +
           (kind->bytes ? kind->bytes(problem, params) : 0);
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
    HX_TRY(hx_alloc(&o->multiple, n_case, sizeof *o->multiple, "adjoint displacements"));
    o->d_load = o->measured->d_load;
    o->owns_load = !o->d_load;
    if (o->owns_load) HX_TRY(dev->ops->alloc(dev, bytes, &o->d_load));
    HX_TRY(hx_alloc(&o->is_found, n_case, sizeof *o->is_found, "adjoint displacements"));
    for (size_t c = 0; c < n_case; c++) {
        o->multiple[c] = NAN;
        if (!hx_response_has_case(o, (int)c)) continue;
        HX_TRY(dev->ops->alloc(dev, bytes, &o->d_adjoint[c]));
        HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
    }
    return HX_OK;
}

static int alloc_last(hx_response *o)
{
    const int n_case = o->analysis->problem->cases.n;
    HX_TRY(hx_alloc(&o->d_last, (size_t)n_case, sizeof *o->d_last, "adjoint displacements"));
    for (int c = 0; c < n_case; c++)
        if (o->d_adjoint[c]) HX_TRY(hx_analysis_alloc_last(o->analysis, &o->d_last[c]));
    return HX_OK;
}

/* Extrapolates first guesses if those of the analysis are. */
static int follow(hx_response *o)
{
    const hx_analysis *const a = o->analysis;
    const int n = o->params.load_case == HX_ALL_CASES ? a->problem->cases.n : 1;
    int has_room = 0;
    if (a->d_last) HX_TRY(hx_analysis_has_room(a, n, &has_room));
    return has_room ? alloc_last(o) : HX_OK;
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
    o->params = params ? *params : none;
    if (analysis->dist && !kind->is_distributed)
        return HX_RAISE(HX_EINPUT, "%s '%s' does not support several processes", role, kind->name);
    if (kind->adjoint_load) HX_TRY_FAIL(create_adjoint(o));
    if (kind->create) HX_TRY_FAIL(kind->create(o));
    if (kind->adjoint_load) HX_TRY_FAIL(follow(o));
    return HX_OK;
fail:
    hx_response_free(o);
    return rc;
}

/* The load is a multiple of the load of its case if they differ by less than this, relative to the
 * load: rounding of a few terms. */
#define COLLOCATED 1e-13

int hx_response_find_multiple(hx_response *o, int c)
{
    const hx_analysis *const a = o->analysis;
    const hx_operator *const op = a->op;
    const hx_vector_ops *const vector = op->dev->ops->vector;
    const int64_t n = vector_entries(o);
    double *const d_f = a->pcg->d_q, *const d_l = a->pcg->d_p, product[3], left;
    HX_TRY(o->kind->adjoint_load(o, c, o->d_load));
    HX_TRY(op->dev->ops->copy(op->dev, d_l, o->d_load, (size_t)n * sizeof *d_l));
    HX_TRY(hx_operator_restrict(op, d_l));
    HX_TRY(hx_analysis_force(a, c, d_f));
    HX_TRY(hx_operator_restrict(op, d_f));
    const double *const d_left[] = {d_f, d_f, d_l}, *const d_right[] = {d_f, d_l, d_l};
    HX_TRY(vector->dots(op->dev, n, 3, d_left, d_right, product));
    o->multiple[c] = product[2] == 0.0 ? 0.0 : NAN;
    /* with prescribed values, u also answers to them */
    if (product[2] == 0.0 || op->d_prescribed) return HX_OK;
    const double multiple = product[1] / product[0];
    if (!isfinite(multiple) || multiple == 0.0) return HX_OK;
    HX_TRY(vector->axpy(op->dev, n, -1.0 / multiple, d_l, d_f));
    HX_TRY(vector->dot(op->dev, n, d_f, d_f, &left));
    if (left <= COLLOCATED * COLLOCATED * product[0]) o->multiple[c] = multiple;
    return HX_OK;
}

/* *enough: the residual of K lambda = l that leaves the error in lambda that the tolerance leaves in
 * u, if equal residuals leave equal errors in the energy norm |.|_K, and these are relative to
 * |lambda|_K and |u|_K: tolerance |f| |lambda|_K / |u|_K. A derivative -lambda'K'u has relative
 * errors from both. A load that is spread over a face has a norm far below that of a point load, so
 * the plain tolerance would cost two iterations more. lambda's energy is that of the first guess.
 * 0: unknown, only the tolerance applies. */
static int find_enough(hx_response *o, int c, const double *d_lambda, double *enough)
{
    hx_analysis *const a = o->analysis;
    double energy, mine;
    *enough = 0.0;
    if (a->op->d_prescribed || a->pcg->params.criterion != HX_PCG_RELATIVE) return HX_OK;
    HX_TRY(hx_analysis_compliance(a, &energy));
    HX_TRY(a->dev->ops->vector->dot(a->dev, vector_entries(o), o->d_load, d_lambda, &mine));
    const double ratio = mine / a->load_case[c].compliance;
    if (ratio > 0.0 && isfinite(ratio))
        *enough = a->pcg->params.tolerance * a->load_case[c].pcg.norm * sqrt(ratio);
    return HX_OK;
}

/* K lambda = d_load, with lambda = 0 at fixed degrees of freedom, whatever is prescribed there. */
static int solve_load(hx_response *o, int c, double *d_lambda)
{
    hx_analysis *const a = o->analysis;
    hx_operator *const op = a->op;
    hx_pcg_result unused;
    if (o->d_last) HX_TRY(hx_analysis_go_along(a, o->d_load, d_lambda, o->d_last[c]));
    HX_TRY(find_enough(o, c, d_lambda, &a->pcg->enough));
    op->linear.d_prescribed = op->exact_linear.d_prescribed = NULL;
    const int rc = hx_analysis_solve_for(a, o->d_load, d_lambda, &unused);
    op->linear.d_prescribed = op->exact_linear.d_prescribed = op->d_prescribed;
    a->pcg->enough = 0.0;
    o->n_solve++;
    return rc;
}

/* d_load of a case, and its multiple: 0 if it is 0 at free degrees of freedom. */
static int find_load_apart(hx_response *o, int c)
{
    const hx_analysis *const a = o->analysis;
    const hx_operator *const op = a->op;
    const int64_t n = vector_entries(o);
    double *const d_l = a->pcg->d_p, square;
    HX_TRY(o->kind->adjoint_load(o, c, o->d_load));
    HX_TRY(op->dev->ops->copy(op->dev, d_l, o->d_load, (size_t)n * sizeof *d_l));
    HX_TRY(hx_operator_restrict(op, d_l));
    HX_TRY(op->dev->ops->vector->dot(op->dev, n, d_l, d_l, &square));
    o->multiple[c] = square == 0.0 ? 0.0 : NAN;
    return HX_OK;
}

/* d_load of a case, and its multiple, unless that is known. */
static int find_load(hx_response *o, int c)
{
    const int is_constant =
        o->has_constant_load && !hx_problem_load_varies(o->analysis->problem, c);
    if (o->kind->finish_adjoint) return o->kind->adjoint_load(o, c, o->d_load);
    if (o->kind->is_apart) return find_load_apart(o, c);
    if (!is_constant || !o->is_found[c]) {
        HX_TRY(hx_response_find_multiple(o, c));
        o->is_found[c] = 1;
        return HX_OK;
    }
    return isnan(o->multiple[c]) ? o->kind->adjoint_load(o, c, o->d_load) : HX_OK;
}

static int solve_case(hx_response *o, int c)
{
    hx_analysis *const a = o->analysis;
    hx_device *dev = a->op->dev;
    double *const d_lambda = o->d_adjoint[c];
    HX_TRY(find_load(o, c));
    if (!isnan(o->multiple[c])) return HX_OK;
    HX_TRY(a->warm_start
               ? dev->ops->vector->zero_entries(dev, a->op->n_fixed, a->op->d_fixed, d_lambda)
               : dev->ops->zero(dev, d_lambda, (size_t)vector_entries(o) * sizeof *d_lambda));
    HX_TRY(solve_load(o, c, d_lambda));
    if (o->kind->finish_adjoint) HX_TRY(o->kind->finish_adjoint(o, c, d_lambda));
    return hx_interface_make_consistent(dev, a->problem->components, d_lambda);
}

int hx_response_prepare(hx_response *o)
{
    return o->kind->prepare ? o->kind->prepare(o) : HX_OK;
}

int hx_response_solve_adjoint(hx_response *o)
{
    if (o->kind->accept) HX_TRY(o->kind->accept(o));
    for (int c = 0; o->d_adjoint && c < o->analysis->problem->cases.n; c++)
        if (o->d_adjoint[c]) HX_TRY(solve_case(o, c));
    return HX_OK;
}

int hx_response_reset(hx_response *o)
{
    hx_device *dev = o->analysis->op->dev;
    const size_t bytes = (size_t)vector_entries(o) * sizeof(double);
    for (int c = 0; o->d_adjoint && c < o->analysis->problem->cases.n; c++) {
        if (!o->d_adjoint[c]) continue;
        HX_TRY(dev->ops->zero(dev, o->d_adjoint[c], bytes));
        if (o->d_last) HX_TRY(dev->ops->zero(dev, o->d_last[c], bytes / 2));
    }
    return HX_OK;
}

/* lambda of the previous design, in double precision, so that any number of processes can read
 * it. */
static int snapshot_last(hx_response *o, hx_snapshot *image, int c)
{
    hx_analysis *const a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = vector_entries(o);
    double *const d_wide = a->pcg->d_q;
    char name[HX_SNAPSHOT_NAME];
    snprintf(name, sizeof name, "%s.last %d", o->role, c + 1);
    int is_there =
        image->mode == HX_SNAPSHOT_SAVE ? o->d_last != NULL : hx_snapshot_has(image, name);
    HX_TRY(hx_reduce_first(image->reduce, &is_there, sizeof is_there));
    if (!is_there) return HX_OK;
    if (!o->d_last) HX_TRY(alloc_last(o));
    HX_TRY(dev->ops->zero(dev, d_wide, (size_t)n * sizeof *d_wide));
    if (image->mode == HX_SNAPSHOT_SAVE)
        HX_TRY(dev->ops->vector->flush_single(dev, n, 1.0, o->d_last[c], d_wide));
    HX_TRY(hx_analysis_snapshot_vector(a, image, name, d_wide));
    return dev->ops->vector->subtract_single(dev, n, 1.0, d_wide, NULL, o->d_last[c]);
}

int hx_response_snapshot(hx_response *o, hx_snapshot *image)
{
    char name[HX_SNAPSHOT_NAME];
    if (o->kind->snapshot) HX_TRY(o->kind->snapshot(o, image));
    if (!o->kind->adjoint_load || !o->analysis->warm_start) return HX_OK;
    for (int c = 0; c < o->analysis->problem->cases.n; c++) {
        if (!o->d_adjoint[c]) continue;
        snprintf(name, sizeof name, "%s.adjoint %d", o->role, c + 1);
        HX_TRY(hx_analysis_snapshot_vector(o->analysis, image, name, o->d_adjoint[c]));
        HX_TRY(snapshot_last(o, image, c));
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

/* d_work[0] times *factor := lambda_e' Ke u_e of a case. Points have only energies: polarisation,
 * with w = s lambda, 4 w'Ke u = (u + w)'Ke(u + w) - (u - w)'Ke(u - w). Scaling w to the length of u
 * avoids cancellation. */
static int find_mutual(const hx_response *o, int c, double *const d_work[2], double *factor)
{
    const hx_analysis *a = o->analysis;
    double s;
    *factor = 1.0;
    if (!a->op->model.points)
        return hx_operator_mutual(a->op, a->d_u[c], o->d_adjoint[c], d_work[0]);
    HX_TRY(find_scale(o, c, &s));
    *factor = s == 0.0 ? 0.0 : 0.25 / s;
    if (s == 0.0) return HX_OK;
    HX_TRY(shifted_energy(o, c, s, d_work[0]));
    HX_TRY(shifted_energy(o, c, -s, d_work[1]));
    return a->op->dev->ops->vector->subtract(a->op->dev, a->op->model.n_elem, d_work[0], d_work[1],
                                             d_work[0]);
}

/* d_dg += -lambda' dK/drho u of a case. */
static int add_mutual(const hx_response *o, int c, double *d_dg, double *const d_work[2])
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = a->op->model.n_elem;
    double factor;
    HX_TRY(find_mutual(o, c, d_work, &factor));
    if (factor == 0.0) return HX_OK;
    HX_TRY(dev->ops->design->sensitivity(dev, n, a->problem->least, a->penalty,
                                         a->op->model.d_modulus, a->d_rho, d_work[0], d_work[1]));
    return dev->ops->vector->axpy(dev, n, factor, d_work[1], d_dg);
}

/* d_dg += -lambda' dK/drho u of a case whose lambda is a multiple of u. */
static int add_own(const hx_response *o, int c, double *d_dg, double *const d_work[2])
{
    const hx_analysis *a = o->analysis;
    hx_device *dev = a->op->dev;
    const int64_t n = a->op->model.n_elem;
    if (o->multiple[c] == 0.0) return HX_OK;
    HX_TRY(hx_operator_energy(a->op, a->d_u[c], d_work[0]));
    HX_TRY(dev->ops->design->sensitivity(dev, n, a->problem->least, a->penalty,
                                         a->op->model.d_modulus, a->d_rho, d_work[0], d_work[1]));
    return dev->ops->vector->axpy(dev, n, o->multiple[c], d_work[1], d_dg);
}

static int add_case(const hx_response *o, int c, double *d_dg, double *const d_work[2])
{
    if (isnan(o->multiple[c])) {
        HX_TRY(add_mutual(o, c, d_dg, d_work));
        return hx_analysis_load_work(o->analysis, c, 1.0, o->d_adjoint[c], d_dg);
    }
    HX_TRY(add_own(o, c, d_dg, d_work));
    return hx_analysis_load_work(o->analysis, c, o->multiple[c], o->analysis->d_u[c], d_dg);
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
    for (int c = 0; o->d_adjoint && c < o->analysis->problem->cases.n; c++)
        if (o->d_adjoint[c]) HX_TRY(add_case(o, c, d_dg, d_work));
    return HX_OK;
}

void hx_response_free(hx_response *o)
{
    if (o->kind && o->kind->destroy) o->kind->destroy(o);
    hx_device *const dev = o->analysis ? o->analysis->op->dev : NULL;
    for (int c = 0; o->d_adjoint && c < o->analysis->problem->cases.n; c++)
        dev->ops->release(dev, o->d_adjoint[c]);
    for (int c = 0; o->d_last && c < o->analysis->problem->cases.n; c++)
        dev->ops->release(dev, o->d_last[c]);
    if (o->owns_load) dev->ops->release(dev, o->d_load);
    free(o->multiple);
    free(o->is_found);
    free(o->d_last);
    free(o->d_adjoint);
    memset(o, 0, sizeof *o);
}
