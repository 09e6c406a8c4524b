#include "solid_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/limit_values.h"
#include "core/design/stress_limit.h"
#include "limits.h"

/* The solve of the solid part and what it gives. */
typedef struct solid {
    hx_analysis analysis;
    double *density;       /* [n_elem] of the analysis' fields (owned) */
    double *d_density;     /* the same on the device (owned) */
    hx_limit_value *value; /* [limits.n] (owned) */
} solid;

static int analyse(hx_session *s, solid *part)
{
    hx_analysis *const a = &part->analysis;
    HX_TRY(hx_analysis_create(a, &s->solver.op, &s->solver.pc, &s->solver.pcg, 0));
    const size_t n = (size_t)a->fields->mesh->n_elem;
    double unused;
    HX_TRY(hx_alloc_raw(&part->density, n, sizeof *part->density, "densities"));
    HX_TRY(hx_alloc(&part->value, (size_t)s->limits.n, sizeof *part->value, "limits"));
    hx_problem_solid_density(a->fields, part->density);
    HX_TRY(hx_device_put(a->dev, &part->d_density, part->density, n * sizeof *part->density));
    HX_TRY(hx_analysis_solve(a, part->d_density, s->design.penalty.last));
    HX_TRY(hx_analysis_compliance(a, &unused)); /* and that of each case */
    return hx_limit_values(a, s->limits.n, s->limits.spec, part->density, NAN, part->value);
}

static int keep_values(hx_session *s, const solid *part)
{
    double *value;
    HX_TRY(hx_alloc(&value, (size_t)s->limits.n, sizeof *value, "limits"));
    for (int i = 0; i < s->limits.n; i++) value[i] = part->value[i].value;
    free(s->limits.solid);
    s->limits.solid = value;
    return HX_OK;
}

static void print_values(const hx_session *s, const solid *part)
{
    char bound[160];
    hx_table table;
    if (!hx_session_is_first(s) || hx_log_get_level() < HX_LOG_NORMAL) return;
    const hx_load_cases *const cases = &s->problem.cases;
    hx_log_info("\nsolid part, %d %s", part->analysis.record.pcg_iterations,
                hx_noun(part->analysis.record.pcg_iterations, "PCG iteration", "PCG iterations"));
    hx_table_begin(&table, "lrll");
    for (int c = 0; c < cases->n; c++) {
        const char *const unit = hx_response_unit_text(s, &hx_response_compliance);
        if (cases->n > 1)
            hx_table_add(&table, "compliance, case %d", c + 1);
        else
            hx_table_add(&table, "compliance");
        hx_table_add(&table, "%.6g%s", part->analysis.load_case[c].compliance, unit);
        hx_table_add(&table, "%s", "");
        hx_table_add(&table, "%s", "");
    }
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        const char *const unit = hx_response_unit_text(s, spec->kind);
        const double value = part->value[i].value;
        hx_table_add(&table, "%s", spec->name);
        hx_table_add(&table, "%.6g%s", value, unit);
        hx_table_add(&table, "%s", hx_bound_text(spec->max, spec->min, unit, bound, sizeof bound));
        hx_table_add(&table, "%s",
                     hx_limit_violation(&s->limits, i, value) > HX_LIMIT_MET ? "missed" : "met");
    }
    hx_table_end(&table, 2);
}

/* What may meet a limit that the solid part misses. A stress is never refused: the largest of the
 * solid part is no bound for that of a design, in which a re-entrant corner is rounded, or what
 * draws load to a place is gone (doc/theory.md). */
static const char *remedy(const hx_constraint_spec *spec)
{
    return spec->kind == &hx_response_stress
               ? "less material may meet it where it rounds a corner or leads load elsewhere, but "
                 "not where a whole section is loaded"
               : "less material may meet it";
}

/* HX_EINPUT: no design meets the limit. Warns of others that the solid part misses. */
static int judge(const hx_session *s, int i, const hx_limit_value *found)
{
    const hx_constraint_spec *const spec = &s->limits.spec[i];
    const char *const unit = hx_response_unit_text(s, spec->kind);
    char bound[160];
    const double value = found->value;
    if (!(hx_limit_violation(&s->limits, i, value) > HX_LIMIT_MET)) return HX_OK;
    hx_bound_text(spec->max, spec->min, unit, bound, sizeof bound);
    if ((found->is_lowest && value > spec->max) || (found->is_highest && value < spec->min))
        return HX_RAISE(HX_EINPUT,
                        "%s: limit '%s' cannot be met: the solid part has %.6g%s, %s is required, "
                        "and less material cannot improve it; change the limit, the loads, the "
                        "supports or the part",
                        spec->params.origin, spec->name, value, unit, bound);
    /* less material is what such a limit wants */
    if ((found->is_lowest && value < spec->min) || (found->is_highest && value > spec->max))
        return HX_OK;
    if (hx_session_is_first(s))
        hx_log_warning("%s: the solid part misses limit '%s': %.6g%s, %s is required; %s",
                       spec->params.origin, spec->name, value, unit, bound, remedy(spec));
    return HX_OK;
}

static int judge_all(const hx_session *s, const solid *part)
{
    if (part->analysis.record.reason != HX_PCG_CONVERGED) {
        if (hx_session_is_first(s))
            hx_log_warning("the solve of the solid part did not converge (%s), so its limits are "
                           "not judged",
                           hx_pcg_reason_name(part->analysis.record.reason));
        return HX_OK;
    }
    for (int i = 0; i < s->limits.n; i++) HX_TRY(judge(s, i, &part->value[i]));
    return HX_OK;
}

int hx_session_judge_solid(hx_session *s, int prints)
{
    solid part;
    memset(&part, 0, sizeof part);
    int rc = analyse(s, &part);
    if (rc == HX_OK) rc = keep_values(s, &part);
    if (rc == HX_OK && prints) print_values(s, &part);
    if (rc == HX_OK) rc = judge_all(s, &part);
    s->device.ops->release(&s->device, part.d_density);
    hx_analysis_free(&part.analysis);
    free(part.density);
    free(part.value);
    return rc;
}
