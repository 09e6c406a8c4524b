/* What the other files of a session share: its steps, the place of an error, the problem and the
 * device of solver and design, and parameters that the config states. */
#include <math.h>

#include "../text/log.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "history_columns.h"
#include "session_internal.h"

const char *hx_setup_step_name(hx_setup_step step)
{
    static const char *const name[HX_N_SETUP] = {
        [HX_SETUP_MESH] = "mesh",       [HX_SETUP_SHUFFLE] = "shuffle",
        [HX_SETUP_REORDER] = "reorder", [HX_SETUP_FINISH] = "finish",
        [HX_SETUP_SETS] = "sets",       [HX_SETUP_PROBLEM] = "problem",
        [HX_SETUP_DEVICE] = "device",   [HX_SETUP_SOLVER] = "solver",
        [HX_SETUP_DESIGN] = "design",   [HX_SETUP_FILES] = "files",
        [HX_SETUP_CHECK] = "check",
    };
    return name[step];
}

/* Shows on a terminal that a step begins, until the next line. */
double hx_session_begin_step(hx_setup_step step)
{
    if (hx_log_is_terminal()) hx_log_status("set-up: %s ...", hx_setup_step_name(step));
    return hx_clock();
}

void hx_session_end_step(hx_session *s, hx_setup_step step, double begin)
{
    const double n_elem = s->mesh.n_elem > 0 ? (double)s->mesh.n_elem : 1.0;
    char text[32];
    hx_device_start_look(&s->device_start);
    s->setup_seconds[step] = hx_clock() - begin;
    s->setup_peak[step] = hx_host_memory_peak();
    hx_log_detail("set-up: %-8s %9.3f s  %8s of host memory at most, %4.0f bytes per element",
                  hx_setup_step_name(step), s->setup_seconds[step],
                  hx_format_bytes((double)s->setup_peak[step], text, sizeof text),
                  (double)s->setup_peak[step] / n_elem);
}

/* Puts the key's place before messages about the user's input or machine. */
int hx_session_blame(const hx_session *s, const char *key, int rc)
{
    return rc == HX_EINPUT || rc == HX_EENV ? hx_config_blame(&s->cfg, key, rc) : rc;
}

void hx_session_generate_params(const hx_session *s, hx_generate_params *params)
{
    const hx_config *const cfg = &s->cfg;
    params->size = cfg->mesh.size;
    params->nx = cfg->mesh.nx;
    params->ny = cfg->mesh.ny;
    params->nz = cfg->mesh.nz;
    params->distort = cfg->mesh.distort;
    params->seed = (uint64_t)cfg->mesh.seed;
    params->other_bytes = s->other_bytes;
    params->n_process = params->n_on_host = params->in_order = 0;
}

const hx_response_kind *hx_session_response_kind(const char *name)
{
    return hx_response_kind_find(name);
}

const hx_response_kind *hx_session_objective(const hx_session *s)
{
    return hx_session_response_kind(s->cfg.optimization.objective.kind);
}

hx_response_params hx_session_objective_params(const hx_session *s)
{
    const double *const d = s->cfg.optimization.objective.direction;
    const int of_case = s->cfg.optimization.objective.load_case;
    hx_response_params params = {.set = s->cfg.optimization.objective.set,
                                 .set_2 = s->cfg.optimization.objective.set_2,
                                 .is_magnitude = s->cfg.optimization.objective.magnitude,
                                 .of_largest = s->cfg.optimization.objective.of == HX_OF_LARGEST,
                                 .load_case = of_case > 0 ? of_case - 1 : HX_ALL_CASES};
    for (int i = 0; i < 3; i++) params.direction[i] = isnan(d[i]) ? 0.0 : d[i];
    if (hx_session_objective(s) == &hx_response_stress) {
        const double q = s->cfg.optimization.objective.relaxation;
        params.relaxation = isnan(q) ? HX_STRESS_RELAXATION : q;
        params.exclude = s->zone;
        params.n_exclude = s->n_zone;
    }
    return params;
}

const char *hx_session_other_objective(const hx_session *s)
{
    const hx_response_kind *const kind = hx_session_objective(s);
    return kind == &hx_response_compliance && s->cfg.optimization.objective.load_case == 0
               ? NULL
               : kind->name;
}

const char *hx_session_objective_column(const hx_session *s)
{
    const char *const other = hx_session_other_objective(s);
    return other && !hx_history_has_column(other, 0, NULL) ? other : NULL;
}

const char *hx_session_objective_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_response_params params = hx_session_objective_params(s);
    return hx_response_text(hx_session_objective(s), &params, text, n_text);
}

static int check_objective_case(const hx_session *s, const char *place)
{
    const int n = s->problem.cases.n, load_case = s->cfg.optimization.objective.load_case;
    if (load_case <= n) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: case: there is no load case %d; the loads have %d %s", place,
                    load_case, n, hx_noun(n, "case", "cases"));
}

int hx_session_check_objective(const hx_session *s, int n_rank)
{
    char place[HX_CONFIG_PLACE];
    const hx_response_kind *const kind = hx_session_objective(s);
    hx_response_params params = hx_session_objective_params(s);
    params.origin = hx_config_place(&s->cfg, "optimization.objective", place, sizeof place);
    if (n_rank > 1 && !kind->is_distributed)
        return HX_RAISE(HX_EINPUT,
                        "%s: objective '%s' does not support several processes: run it in one",
                        params.origin, kind->name);
    HX_TRY(check_objective_case(s, place));
    hx_response_params own = params; /* with the names of the config only */
    if (kind == &hx_response_stress) {
        own.exclude = (const char *const *)s->cfg.optimization.objective.exclude.word;
        own.n_exclude = (int)s->cfg.optimization.objective.exclude.n;
        HX_TRY(hx_response_check(kind, "objective", &s->problem, &own));
    }
    return hx_response_check(kind, "objective", &s->problem, &params);
}

/* 1 if optimality criteria can find the design that is meant: the stiffest at a volume, to which
 * no material that its own weight loads is added in vain. */
static int suits_oc(const hx_session *s)
{
    return !hx_session_other_objective(s) && s->cfg.optimization.constraints.n == 0 &&
           !hx_config_analyses_all(&s->cfg) && !hx_config_sweep(&s->cfg) &&
           !isnan(s->cfg.optimization.volume_fraction) && !hx_problem_loads_vary(&s->problem);
}

const hx_update_kind *hx_session_update(const hx_session *s)
{
    if (!hx_config_is_auto(s->cfg.optimization.update))
        return hx_update_find(s->cfg.optimization.update);
    return suits_oc(s) ? &hx_update_oc : hx_update_find("mma");
}

const char *hx_session_update_reason(const hx_session *s)
{
    if (hx_config_given(&s->cfg, "optimization.update") || suits_oc(s)) return NULL;
    if (s->cfg.optimization.constraints.n > 0) return "there are constraints";
    if (hx_session_other_objective(s)) return "the objective is not the compliance of all cases";
    if (hx_config_analyses_all(&s->cfg)) return "the worst of three designs is improved";
    if (hx_config_sweep(&s->cfg))
        return "optimality criteria do not support overhang, draw and milling";
    if (s->problem.cases.body)
        return "with loads by mass less material can be stiffer, so the volume is an upper limit";
    if (s->problem.cases.expansion)
        return "with thermal expansion less material can be better, so the volume is an upper "
               "limit";
    return "no volume is prescribed";
}

int hx_session_choose_update(hx_session *s)
{
    char place[HX_CONFIG_PLACE];
    const hx_update_kind *const update = hx_session_update(s);
    static const char key[] = "optimization.kkt_tolerance";
    if (update == &hx_update_oc && s->cfg.optimization.kkt_tolerance > 0.0)
        return HX_RAISE(HX_EINPUT,
                        "%s: update 'oc' does not compute the KKT residual; use "
                        "optimization.change_tolerance, or update = \"mma\"",
                        hx_config_place(&s->cfg, key, place, sizeof place));
    return hx_config_set_word(&s->cfg.optimization.update, update->name);
}

int hx_session_chose_filter(const hx_session *s)
{
    return !hx_config_given(&s->cfg, "optimization.filter.kind") &&
           !hx_filter_find(s->cfg.optimization.filter.kind)->is_heuristic;
}

double hx_session_kkt_tolerance(const hx_session *s)
{
    const double given = s->cfg.optimization.kkt_tolerance, usual = 1e-3;
    if (!isnan(given)) return given;
    return hx_session_update(s) == &hx_update_oc ? 0.0 : usual;
}

double hx_session_volume_wanted(const hx_session *s)
{
    return s->design.volume_fraction > 0.0 ? s->design.volume_fraction : (double)NAN;
}

double hx_session_typical_density(const hx_session *s)
{
    const double wanted = hx_session_volume_wanted(s);
    return isnan(wanted) ? hx_design_initial_density(&s->design, &s->problem) : wanted;
}

int hx_session_has_converged(const hx_session *s, const hx_iteration *it)
{
    const double tolerance = hx_session_kkt_tolerance(s);
    const int is_still = it->change < s->cfg.optimization.change_tolerance && !it->is_held_back,
              is_optimal = it->kkt < tolerance && it->objective_change < tolerance;
    return (is_still || is_optimal) && !it->climbing && hx_limits_are_met(it, hx_session_update(s));
}

hx_filter_params hx_session_filter_params(const hx_session *s)
{
    const hx_filter_params params = {
        .radius = s->filter_radius,
        .volume_weighted = s->cfg.optimization.filter.volume_weighted,
        .is_padded = !isnan(s->cfg.optimization.minimum_length),
        .design = &s->design,
        .voxel_bytes = s->voxel_bytes,
        .sweep = s->sweep.n_graph > 0 ? &s->sweep : NULL,
    };
    return params;
}

const hx_problem *hx_session_solved(const hx_session *s)
{
    return s->dist.comm ? &s->dist.subdomain.problem : &s->problem;
}

hx_device *hx_session_solver_device(hx_session *s)
{
    return s->dist.comm ? &s->dist.dev : &s->device;
}
