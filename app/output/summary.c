#include "summary.h"

#include <math.h>
#include <string.h>

#include "../session/compliance_ratio.h"
#include "../session/dist_report_text.h"
#include "../session/footprint.h"
#include "../session/identity.h"
#include "../session/machine.h"
#include "../text/json.h"
#include "../text/log.h"
#include "core/base/atomic_file.h"
#include "core/base/memory.h"
#include "core/version.h"
#include "outcome.h"

static void write_timings(hx_json *json, const hx_stats *stats, const char *key, double scale,
                          int with_total)
{
    static const char *const name[HX_N_STAGE] = {
        [HX_STAGE_SETUP] = "precomputation",  [HX_STAGE_PCG] = "pcg",
        [HX_STAGE_COMPLIANCE] = "compliance", [HX_STAGE_FILTER] = "filter",
        [HX_STAGE_UPDATE] = "update",         [HX_STAGE_OUTPUT] = "output",
    };
    hx_json_open_object(json, key);
    for (int i = 0; i < HX_N_STAGE; i++) {
        hx_json_number(json, name[i], stats->stage[i] * scale);
        if (i != HX_STAGE_PCG) continue;
        hx_json_number(json, "spmv", stats->spmv * scale);
        hx_json_number(json, "preconditioner", stats->precond * scale);
        hx_json_number(json, "vector", (stats->stage[i] - stats->spmv - stats->precond) * scale);
    }
    if (with_total) hx_json_number(json, "total", stats->total);
    hx_json_close_object(json);
}

static void write_quality(hx_json *json, const hx_mesh_quality *q)
{
    hx_json_open_object(json, "quality");
    hx_json_number(json, "min_scaled_jacobian", q->min_scaled_jacobian);
    hx_json_number(json, "mean_scaled_jacobian", q->mean_scaled_jacobian);
    hx_json_integer(json, "poor_elements", q->n_poor);
    hx_json_number(json, "max_aspect", q->max_aspect);
    hx_json_number(json, "min_volume", q->min_volume);
    hx_json_number(json, "max_volume", q->max_volume);
    hx_json_integer(json, "bodies", q->n_body);
    hx_json_integer(json, "hinge_nodes", q->n_hinge);
    hx_json_close_object(json);
}

static void write_hash(hx_json *json, const char *key, const hx_hash *hash)
{
    char text[HX_HASH_TEXT];
    hx_json_string(json, key, hx_hash_print(hash, text));
}

/* What the processes contribute of the last design. */
typedef struct case_sums {
    double load[3], reaction[3], spring[3];
    double convection;
} case_sums;

typedef struct last_design {
    case_sums *load_case; /* [n_case] (owned) */
    hx_hash density;
    hx_dist_report *report; /* NULL: one process (owned) */
} last_design;

static int sum_case(hx_session *s, int c, case_sums *sums)
{
    HX_TRY(hx_analysis_load(&s->analysis, c, sums->load));
    HX_TRY(hx_analysis_reaction(&s->analysis, c, sums->reaction));
    if (hx_config_is_heat(&s->cfg))
        return hx_analysis_film_heat(&s->analysis, c, &sums->convection);
    return hx_analysis_spring_force(&s->analysis, c, sums->spring);
}

/* Collective; the caller frees *d, also after an error. */
static int collect_design(hx_session *s, last_design *d)
{
    const int n_case = s->problem.cases.n;
    HX_TRY(hx_session_agree(
        s, hx_alloc(&d->load_case, (size_t)n_case, sizeof *d->load_case, "load cases")));
    for (int c = 0; c < n_case; c++) HX_TRY(sum_case(s, c, &d->load_case[c]));
    HX_TRY(hx_dist_report_take(s, &d->report));
    return hx_identity_density(s, &d->density);
}

static void free_design(last_design *d)
{
    free(d->load_case);
    free(d->report);
}

/* Writes the hashes that identify the run; design: NULL if it is lost. */
static int write_identity(hx_json *json, hx_session *s, const last_design *design)
{
    hx_identity identity;
    HX_TRY(hx_identity_of(s, &identity));
    hx_json_open_object(json, "identity");
    write_hash(json, "mesh", &identity.mesh);
    write_hash(json, "settings", &identity.settings);
    if (design) write_hash(json, "density", &design->density);
    hx_json_close_object(json);
    return HX_OK;
}

static void write_mesh(hx_json *json, const hx_session *s)
{
    const hx_mesh *const mesh = &s->mesh;
    hx_json_open_object(json, "mesh");
    hx_json_string(json, "name", mesh->name);
    hx_json_integer(json, "elements", hx_mesh_n_elem_all(mesh));
    hx_json_integer(json, "nodes", hx_mesh_n_node_all(mesh));
    hx_json_number(json, "element_size", mesh->elem_size);
    hx_json_number(json, "volume", mesh->total_volume);
    hx_json_numbers(json, "box_min", 3, mesh->box_min);
    hx_json_numbers(json, "box_max", 3, mesh->box_max);
    hx_json_open_array(json, "sets");
    for (size_t i = 0; i < mesh->n_set; i++) {
        if (mesh->set[i].is_internal) continue;
        int64_t n_node, n_elem;
        hx_session_set_size(s, i, &n_node, &n_elem);
        hx_json_open_object(json, NULL);
        hx_json_string(json, "name", mesh->set[i].name);
        hx_json_integer(json, "nodes", n_node);
        hx_json_integer(json, "elements", n_elem);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
    if (s->is_measured) write_quality(json, &s->quality);
    hx_json_close_object(json);
}

/* Writes where the heat of a load case enters and leaves the part. */
static void write_heat(hx_json *json, const case_sums *sums)
{
    hx_json_number(json, "heat_in", sums->load[0]);
    hx_json_number(json, "heat_to_prescribed_temperatures", -sums->reaction[0]);
    hx_json_number(json, "heat_to_convection", sums->convection);
}

static void write_cases(hx_json *json, const hx_session *s, const hx_stats *stats,
                        const last_design *design)
{
    hx_json_open_array(json, "cases");
    for (int c = 0; c < s->problem.cases.n; c++) {
        const case_sums *const sums = &design->load_case[c];
        hx_json_open_object(json, NULL);
        hx_json_integer(json, "case", c + 1);
        hx_json_number(json, "weight", s->problem.cases.weight[c]);
        hx_json_number(json, "compliance", s->analysis.load_case[c].compliance);
        hx_json_integer(json, "pcg_iterations_total", stats->case_iterations[c]);
        hx_json_string(json, "pcg_outcome",
                       hx_pcg_reason_name(s->analysis.load_case[c].pcg.reason));
        if (hx_config_is_heat(&s->cfg)) {
            write_heat(json, sums);
        } else {
            hx_json_numbers(json, "load_sum", 3, sums->load);
            hx_json_numbers(json, "reaction_sum", 3, sums->reaction);
            if (s->problem.springs.n > 0) hx_json_numbers(json, "spring_sum", 3, sums->spring);
        }
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

static void write_memory(hx_json *json, const hx_session *s)
{
    hx_json_open_object(json, "memory");
    hx_json_integer(json, "host_peak_bytes", (int64_t)hx_host_memory_peak());
    hx_json_integer(json, "device_bytes", (int64_t)s->device_bytes);
    hx_json_integer(json, "operator_bytes", (int64_t)s->solver.op.device_bytes);
    hx_json_integer(json, "vector_bytes",
                    (int64_t)(s->device_bytes - s->solver.op.device_bytes -
                              hx_session_optimizer_bytes(s) - hx_session_filter_bytes(s)));
    hx_json_integer(json, "mesh_bytes", (int64_t)hx_session_mesh_bytes(s));
    hx_json_integer(json, "problem_bytes", (int64_t)hx_problem_bytes(&s->problem));
    hx_json_integer(json, "filter_bytes", (int64_t)hx_session_filter_bytes(s));
    hx_json_integer(json, "optimizer_bytes", (int64_t)hx_session_optimizer_bytes(s));
    hx_footprint_write(s, json);
    hx_json_close_object(json);
}

/* Writes the seconds of the steps before the first iteration, and from the start to the first
 * product. */
static void write_setup(hx_json *json, const hx_session *s, const hx_stats *stats)
{
    hx_json_open_object(json, "setup");
    for (int i = 0; i < HX_N_SETUP; i++)
        hx_json_number(json, hx_setup_step_name((hx_setup_step)i), s->setup_seconds[i]);
    hx_json_number(json, "until_first_product", stats->first_product);
    hx_json_close_object(json);
}

/* Writes whether the design has converged; null without a tolerance. */
static void write_converged(hx_json *json, const hx_session *s, const hx_iteration *last)
{
    if (s->cfg.optimization.change_tolerance > 0.0 || hx_session_kkt_tolerance(s) > 0.0)
        hx_json_bool(json, "converged", hx_outcome_has_converged(s, last));
    else
        hx_json_string(json, "converged", NULL);
}

/* The volume that is prescribed; nothing if there is none. */
static void write_volume(hx_json *json, const hx_session *s, const hx_stats *stats)
{
    const double wanted = hx_session_volume_wanted(s);
    if (isnan(wanted)) return;
    hx_json_number(json, "volume_target", wanted);
    hx_json_bool(json, "volume_met", !stats->last.volume_missed);
    hx_json_integer(json, "designs_off_volume", stats->n_missed);
}

/* A limit that is not given, like the value of a run without designs, is null. */
static void write_limits(hx_json *json, const hx_session *s, const hx_stats *stats)
{
    const hx_iteration *const last = &stats->last;
    if (s->limits.n == 0) return;
    hx_json_bool(json, "limits_met", !(last->violation > HX_LIMIT_MET));
    hx_json_open_array(json, "limits");
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        const hx_response_params *const params = &spec->params;
        const char *const unit = hx_response_unit_text(s, spec->kind);
        const double value = i < last->n_response ? last->response[i].value : (double)NAN;
        const double violation = hx_limit_violation(&s->limits, i, value);
        hx_json_open_object(json, NULL);
        hx_json_string(json, "name", spec->name);
        hx_json_string(json, "kind", spec->kind->name);
        if (params->set) hx_json_string(json, "set", params->set);
        if (params->set_2) hx_json_string(json, "set_2", params->set_2);
        if (params->load_case >= 0) hx_json_integer(json, "case", params->load_case + 1);
        hx_json_string(json, "unit", unit[0] ? unit + 1 : NULL);
        hx_json_number(json, "value", value);
        hx_json_number(json, "max", spec->max);
        hx_json_number(json, "min", spec->min);
        hx_json_number(json, "violation", violation);
        hx_json_bool(json, "met", !(violation > HX_LIMIT_MET));
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

static void write_groups(hx_json *json, const hx_groups *groups)
{
    if (groups->n_group == 0) return;
    hx_json_open_object(json, "linked_variables");
    hx_json_integer(json, "groups", groups->n_group);
    hx_json_integer(json, "elements", groups->n_member);
    hx_json_integer(json, "elements_without_image", groups->n_alone);
    hx_json_integer(json, "elements_without_exact_image", groups->n_shifted);
    hx_json_number(json, "largest_offset", groups->shift);
    hx_json_close_object(json);
}

static void write_result(hx_json *json, const hx_session *s, const hx_stats *stats,
                         const char *status)
{
    const hx_iteration *last = &stats->last;
    double median, min, max;
    hx_stats_iteration_seconds(stats, &median, &min, &max);
    hx_json_string(json, "title", s->cfg.title);
    hx_units_write(&s->cfg.units, json, "units");
    if (hx_config_is_heat(&s->cfg)) hx_json_string(json, "physics", "heat");
    hx_json_string(json, "status", status);
    hx_json_string(json, "objective", hx_session_objective(s)->name);
    if (hx_session_other_objective(s)) hx_json_number(json, "objective_value", last->objective);
    const char *const unit = hx_response_unit_text(s, hx_session_objective(s));
    if (hx_session_other_objective(s) && unit[0]) hx_json_string(json, "objective_unit", unit + 1);
    hx_json_number(json, "compliance", last->compliance);
    hx_json_bool(json, "compliance_has_ratio", !hx_compliance_is_shifted(s));
    if (s->cfg.solver.criterion == HX_PCG_COMPLIANCE)
        hx_json_number(json, "compliance_error", last->pcg_error);
    hx_json_number(json, "volume", last->volume);
    write_volume(json, s, stats);
    if (!isnan(s->cfg.material.density) && stats->mass > 0.0)
        hx_json_number(json, "mass", stats->mass);
    write_limits(json, s, stats);
    hx_json_number(json, "change", last->change);
    hx_json_string(json, "update", hx_session_update(s)->name);
    if (hx_session_update(s) != &hx_update_oc) hx_json_number(json, "kkt", last->kkt);
    hx_json_number(json, "greyness", last->greyness);
    hx_json_number(json, "penalty", last->penalty);
    hx_json_number(json, "beta", last->beta);
    hx_json_integer(json, "elements", hx_mesh_n_elem_all(&s->mesh));
    hx_json_integer(json, "nodes", hx_mesh_n_node_all(&s->mesh));
    hx_json_string(json, "element", hx_element_name(s->space.element));
    hx_json_integer(json, "points", hx_session_n_point(s));
    hx_json_string(json, "device", s->device.ops->name);
    hx_json_string(json, "device_description", s->device.description);
    hx_json_string(json, "operator", s->solver.op_kind->name);
    hx_json_bool(json, "operator_deterministic", s->solver.op_kind->deterministic);
    hx_json_string(json, "layout", hx_layout_name(s->solver.layout));
    hx_json_string(json, "preconditioner", s->solver.precond->name);
    hx_json_string(json, "precision", hx_precision_name(s->solver.pcg.params.precision));
    hx_json_string(json, "filter", s->filter.kind->name);
    hx_json_number(json, "filter_radius", s->filter_radius);
    write_groups(json, &s->groups);
    hx_json_integer(json, "iterations", stats->n_iteration);
    hx_json_integer(json, "result_iteration", last->iteration);
    write_converged(json, s, last);
    hx_json_bool(json, "solves_converged", stats->n_solve_failed == 0);
    hx_json_integer(json, "solves_not_converged", stats->n_solve_failed);
    hx_json_integer(json, "pcg_iterations_total", stats->pcg_iterations);
    hx_json_integer(json, "solves_finished_in_double_precision", stats->n_fell_back);
    hx_json_integer(json, "pcg_refinements", stats->n_refinement);
    hx_json_integer(json, "solves_finished_with_exact_product", stats->n_took_exact);
    hx_json_number(json, "seconds", stats->total);
    hx_json_open_object(json, "seconds_per_iteration");
    hx_json_number(json, "median", median);
    hx_json_number(json, "min", min);
    hx_json_number(json, "max", max);
    hx_json_close_object(json);
    write_setup(json, s, stats);
    write_timings(json, stats, "timings", 1.0, 1);
    write_timings(json, stats, "shares", stats->total > 0.0 ? 100.0 / stats->total : 0.0, 0);
}

void hx_summary_write_versions(hx_json *json)
{
    hx_json_open_object(json, "versions");
    hx_json_string(json, "hextop", HX_VERSION);
    hx_json_string(json, "libconfig", hx_libconfig_version());
    hx_json_string(json, "compiler", __VERSION__);
    hx_json_string(json, "cuda", HX_VERSION_CUDA[0] ? HX_VERSION_CUDA : NULL);
    hx_json_close_object(json);
}

/* design: NULL if the device does not have the fields of the last iteration. */
static int print(hx_session *s, const hx_stats *stats, const hx_diags *diags, const char *status,
                 const last_design *design, FILE *stream)
{
    hx_json json;
    HX_TRY(hx_session_measure(s));
    hx_json_begin(&json, stream);
    hx_json_open_object(&json, NULL);
    write_result(&json, s, stats, status);
    if (design) write_cases(&json, s, stats, design);
    write_memory(&json, s);
    if (design) hx_dist_report_write(s, design->report, &json);
    write_mesh(&json, s);
    HX_TRY(write_identity(&json, s, design));
    hx_diags_write(diags, &json);
    hx_config_write_json(&s->cfg, &json, "settings");
    hx_summary_write_versions(&json);
    hx_machine_write(&json, &s->device);
    hx_json_close_object(&json);
    return HX_OK;
}

int hx_summary_print(hx_session *s, const hx_stats *stats, const hx_diags *diags,
                     const char *status, FILE *stream)
{
    last_design design = {0};
    int rc = collect_design(s, &design);
    if (rc == HX_OK) rc = print(s, stats, diags, status, &design, stream);
    free_design(&design);
    return rc;
}

static int write_summary_file(hx_session *s, const hx_stats *stats, const hx_diags *diags,
                              const char *status, const last_design *design, const char *path)
{
    int rc;
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, path));
    HX_TRY_FAIL(print(s, stats, diags, status, design, file.stream));
    return stats->total > HX_STATS_LONG ? hx_atomic_file_commit_synced(&file)
                                        : hx_atomic_file_commit(&file);
fail:
    hx_atomic_file_free(&file);
    return rc;
}

int hx_summary_write(hx_session *s, const hx_stats *stats, const hx_diags *diags,
                     const char *status, const char *path)
{
    const int has_fields = s->opt.iteration == stats->last.iteration;
    last_design design = {0};
    int rc = has_fields ? collect_design(s, &design) : HX_OK;
    const int lacks_fields = rc == HX_EDEVICE || rc == HX_ENOMEM;
    if (lacks_fields) {
        hx_log_warning("%s lacks the load cases and the hash of the densities: %s", path,
                       hx_error_message());
        hx_error_clear();
        rc = HX_OK;
    }
    if (rc == HX_OK && hx_session_is_first(s))
        rc = write_summary_file(s, stats, diags, status,
                                has_fields && !lacks_fields ? &design : NULL, path);
    free_design(&design);
    return hx_session_agree(s, rc);
}
