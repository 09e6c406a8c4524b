/* What the other files of a session share: its steps, the place of an error, the problem and the
 * device of solver and design, and parameters that the config states. */
#include <math.h>

#include "../text/log.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
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

const hx_response_kind *hx_session_objective(const hx_session *s)
{
    return hx_response_kind_find(s->cfg.optimization.objective.kind);
}

hx_response_params hx_session_objective_params(const hx_session *s)
{
    const double *const d = s->cfg.optimization.objective.direction;
    hx_response_params params = {.set = s->cfg.optimization.objective.set,
                                 .load_case = HX_ALL_CASES};
    for (int i = 0; i < 3; i++) params.direction[i] = isnan(d[i]) ? 0.0 : d[i];
    return params;
}

const char *hx_session_other_objective(const hx_session *s)
{
    const hx_response_kind *const kind = hx_session_objective(s);
    return kind == &hx_response_compliance ? NULL : kind->name;
}

const char *hx_session_objective_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_response_kind *const kind = hx_session_objective(s);
    const double *const d = s->cfg.optimization.objective.direction;
    char set[128] = "", direction[96] = "";
    if (kind->needs & HX_TAKES_SET)
        hx_fit(set, sizeof set, ", set '%s'", s->cfg.optimization.objective.set);
    if (kind->needs & HX_TAKES_DIRECTION)
        snprintf(direction, sizeof direction, ", direction [%g, %g, %g]", d[0], d[1], d[2]);
    snprintf(text, n_text, "%s%s%s", kind->name, set, direction);
    return text;
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
    return hx_response_check(kind, "objective", &s->problem, &params);
}

const hx_update_kind *hx_session_update(const hx_session *s)
{
    return hx_update_find(s->cfg.optimization.update);
}

hx_filter_params hx_session_filter_params(const hx_session *s)
{
    const hx_filter_params params = {
        .radius = s->filter_radius,
        .volume_weighted = s->cfg.optimization.filter.volume_weighted,
        .design = &s->design,
        .voxel_bytes = s->voxel_bytes,
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
