#define _XOPEN_SOURCE 700 /* realpath */
#include "setup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../text/log.h"
#include "../text/table.h"
#include "choose_operator.h"
#include "config_problem.h"
#include "continuation.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/files/result_match.h"
#include "footprint.h"
#include "mesh_input.h"

const char *hx_setup_step_name(hx_setup_step step)
{
    static const char *const name[HX_N_SETUP] = {
        [HX_SETUP_MESH] = "mesh",       [HX_SETUP_SHUFFLE] = "shuffle",
        [HX_SETUP_REORDER] = "reorder", [HX_SETUP_FINISH] = "finish",
        [HX_SETUP_SETS] = "sets",       [HX_SETUP_PROBLEM] = "problem",
        [HX_SETUP_DEVICE] = "device",   [HX_SETUP_SOLVER] = "solver",
        [HX_SETUP_DESIGN] = "design",
    };
    return name[step];
}

/* A step begins: a terminal says so until the next line. */
static double begin_step(hx_setup_step step)
{
    if (hx_log_is_terminal()) hx_log_status("set-up: %s ...", hx_setup_step_name(step));
    return hx_clock();
}

static void end_step(hx_session *s, hx_setup_step step, double begin)
{
    const double n_elem = s->mesh.n_elem > 0 ? (double)s->mesh.n_elem : 1.0;
    char text[32];
    s->setup_seconds[step] = hx_clock() - begin;
    s->setup_peak[step] = hx_host_memory_peak();
    hx_log_detail("set-up: %-8s %9.3f s  %8s of host memory at most, %4.0f bytes an element",
                  hx_setup_step_name(step), s->setup_seconds[step],
                  hx_format_bytes((double)s->setup_peak[step], text, sizeof text),
                  (double)s->setup_peak[step] / n_elem);
}

/* Puts the key's place before messages about the user's input or machine. */
static int blame(const hx_session *s, const char *key, int rc)
{
    return rc == HX_EINPUT || rc == HX_EENV ? hx_config_blame(&s->cfg, key, rc) : rc;
}

/* Replaces a path of the config by the absolute one, so that the resolved config works anywhere. */
static int resolve_file(hx_session *s, const char *key, char **word)
{
    char *path = NULL;
    HX_TRY(hx_config_resolve_path(&s->cfg, *word, &path));
    char *absolute = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
    int rc = HX_OK;
    if (absolute)
        rc = hx_config_set_word(word, absolute);
    else
        rc = blame(s, key, HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, strerror(errno)));
    free(absolute);
    free(path);
    return rc;
}

static void fill_generate_params(const hx_config *cfg, hx_generate_params *params)
{
    params->size = cfg->mesh.size;
    params->nx = cfg->mesh.nx;
    params->ny = cfg->mesh.ny;
    params->nz = cfg->mesh.nz;
    params->distort = cfg->mesh.distort;
    params->seed = (uint64_t)cfg->mesh.seed;
    params->other_bytes = 0.0;
}

/* The raw mesh, renumbered as asked and validated. */
static int make_raw_mesh(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    double begin = begin_step(HX_SETUP_MESH);
    if (cfg->mesh.generator) {
        hx_generate_params params;
        fill_generate_params(cfg, &params);
        params.other_bytes = s->other_bytes;
        HX_TRY(hx_generator_find(cfg->mesh.generator)->generate(&s->mesh, &params));
    } else {
        HX_TRY(hx_input_read(cfg->mesh.file, cfg->mesh.merge, &s->mesh));
    }
    end_step(s, HX_SETUP_MESH, begin);
    HX_TRY(hx_footprint_check(s));
    if (cfg->mesh.shuffle != 0) {
        begin = begin_step(HX_SETUP_SHUFFLE);
        HX_TRY(hx_mesh_shuffle(&s->mesh, (uint64_t)cfg->mesh.shuffle));
        end_step(s, HX_SETUP_SHUFFLE, begin);
    }
    if (cfg->mesh.reorder) {
        begin = begin_step(HX_SETUP_REORDER);
        HX_TRY(hx_mesh_reorder(&s->mesh));
        end_step(s, HX_SETUP_REORDER, begin);
    }
    begin = begin_step(HX_SETUP_FINISH);
    HX_TRY(hx_mesh_finish(&s->mesh));
    if (cfg->mesh.file) HX_TRY(hx_input_check(&s->mesh, cfg->mesh.merge));
    end_step(s, HX_SETUP_FINISH, begin);
    return HX_OK;
}

int hx_session_make_mesh(hx_session *s)
{
    const char *key = s->cfg.mesh.file ? "mesh.file" : "mesh.generator";
    if (s->cfg.mesh.file) HX_TRY(resolve_file(s, key, &s->cfg.mesh.file));
    const int rc = make_raw_mesh(s);
    if (rc < 0) return blame(s, key, rc);
    const double begin = begin_step(HX_SETUP_SETS);
    const hx_config_set *set = s->cfg.sets.entry;
    for (size_t i = 0; i < s->cfg.sets.n; i++) {
        hx_region region;
        hx_config_region(&set[i], &region);
        const int added = hx_mesh_add_region(&s->mesh, set[i].name, &region);
        if (added == HX_EINPUT) hx_error_prefix("%s: ", set[i].origin);
        if (added < 0) return added;
    }
    end_step(s, HX_SETUP_SETS, begin);
    return HX_OK;
}

/* The filter's radius in length; the config gets the one that a generator brings. */
static int resolve_radius(hx_session *s)
{
    hx_config *cfg = &s->cfg;
    double *radius = &cfg->optimization.filter.radius;
    s->filter_radius = 0.0;
    if (!hx_filter_find(cfg->optimization.filter.kind)->needs_radius) return HX_OK;
    if (isnan(*radius)) {
        if (!cfg->mesh.generator)
            return hx_config_blame(cfg, "optimization.filter.radius",
                                   HX_RAISE(HX_EINPUT, "required with mesh.file; for example "
                                                       "radius = 3.0; unit = \"element\";"));
        hx_generate_params params;
        fill_generate_params(cfg, &params);
        *radius =
            hx_generator_radius(hx_generator_find(cfg->mesh.generator), &params, s->mesh.n_elem);
        cfg->optimization.filter.unit = HX_UNIT_ELEMENT;
    }
    const int in_elements = cfg->optimization.filter.unit == HX_UNIT_ELEMENT;
    s->filter_radius = *radius * (in_elements ? s->mesh.elem_size : 1.0);
    return HX_OK;
}

/* Symmetry and extrusion of the design. */
static int make_ties(hx_session *s)
{
    hx_symmetry_plane plane[3];
    char place[512];
    const hx_config *cfg = &s->cfg;
    const hx_config_plane *const cfg_plane = cfg->optimization.symmetry.entry;
    hx_ties_params params = {.n_plane = cfg->optimization.symmetry.n,
                             .plane = plane,
                             .is_extruded = !isnan(cfg->optimization.extrusion[0])};
    for (size_t i = 0; i < params.n_plane; i++) {
        plane[i].origin = cfg_plane[i].origin;
        memcpy(plane[i].point, cfg_plane[i].point, sizeof plane[i].point);
        memcpy(plane[i].normal, cfg_plane[i].normal, sizeof plane[i].normal);
    }
    params.extrusion_origin = hx_config_place(cfg, "optimization.extrusion", place, sizeof place);
    memcpy(params.extrusion, cfg->optimization.extrusion, sizeof params.extrusion);
    return hx_ties_create(&s->ties, &s->problem, &params);
}

int hx_session_make_problem(hx_session *s)
{
    hx_notes notes = {0};
    const double begin = begin_step(HX_SETUP_PROBLEM);
    const int rc = hx_config_make_problem(&s->cfg, &s->mesh, &s->problem, &notes);
    s->n_warning += hx_log_notes(&notes);
    HX_TRY(rc);
    HX_TRY(resolve_radius(s));
    HX_TRY(make_ties(s));
    end_step(s, HX_SETUP_PROBLEM, begin);
    return HX_OK;
}

int hx_session_find_device(const hx_session *s, const hx_device_ops **ops)
{
    const char *name = s->cfg.solver.device;
    *ops = NULL;
    if (!hx_config_is_auto(name)) {
        *ops = hx_device_find(name);
        if (*ops) return HX_OK;
        return blame(s, "solver.device",
                     HX_RAISE(HX_EENV,
                              "this hextop was built without device '%s'; use \"auto\" or "
                              "\"cpu\", or build it with that device",
                              name));
    }
    for (size_t i = 0; hx_devices[i] && !*ops; i++) {
        char why[256] = "";
        if (hx_devices[i]->available(why, sizeof why)) *ops = hx_devices[i];
    }
    if (*ops) return HX_OK;
    return blame(s, "solver.device",
                 HX_RAISE(HX_EENV, "no device can run here; see `hextop list`"));
}

static void set_threads(int n)
{
    if (n == 0) return;
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    if (n > 1) hx_log_warning("solver.threads = %d: built without OpenMP, one thread is used", n);
#endif
}

hx_layout hx_session_asked_layout(const hx_session *s)
{
    return s->cfg.solver.layout;
}

/* HX_EINPUT with the operators of the device that would do. */
static int require_deterministic(const hx_session *s)
{
    char words[256] = "";
    size_t used = 0;
    if (s->strategy->deterministic) return HX_OK;
    for (size_t i = 0; hx_strategies[i] && used < sizeof words; i++)
        if (strcmp(hx_strategies[i]->device, s->device.ops->name) == 0 &&
            hx_strategies[i]->deterministic)
            used +=
                (size_t)snprintf(words + used, sizeof words - used, ", %s", hx_strategies[i]->name);
    return HX_RAISE(HX_EINPUT,
                    "'%s' on device '%s' adds in an order that differs from run to run, and "
                    "solver.deterministic is true; deterministic there: auto%s",
                    s->strategy->name, s->device.ops->name, words);
}

static int find_named_strategy(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    int substituted = 0;
    s->strategy = hx_strategy_resolve(s->device.ops->name, cfg->solver.op, &substituted);
    if (!s->strategy)
        return HX_RAISE(HX_EINPUT, "no operator '%s' on device '%s'; see `hextop list`",
                        cfg->solver.op, s->device.ops->name);
    if (cfg->solver.deterministic) HX_TRY(require_deterministic(s));
    s->layout = hx_session_asked_layout(s);
    const int has_layout = (s->strategy->layouts & HX_LAYOUT_BIT(s->layout)) != 0;
    if (substituted)
        snprintf(s->operator_note, sizeof s->operator_note, "in place of %s, which needs a GPU",
                 cfg->solver.op);
    if (!has_layout) { /* the same config serves operators that know one layout only */
        snprintf(s->operator_note, sizeof s->operator_note, "in place of %s, %s", cfg->solver.op,
                 hx_layout_name(cfg->solver.layout));
        for (s->layout = HX_LAYOUT_ROWMAJOR; s->layout + 1 < HX_N_LAYOUT; s->layout++)
            if (s->strategy->layouts & HX_LAYOUT_BIT(s->layout)) break;
    }
    return HX_OK;
}

static int choose_strategy(hx_session *s)
{
    const int is_auto = hx_config_is_auto(s->cfg.solver.op);
    return blame(s, "solver.operator", is_auto ? hx_choose_operator(s) : find_named_strategy(s));
}

/* Below this many elements a solve with Jacobi takes less time than multigrid's set-up. */
enum { LEAST_FOR_MULTIGRID = 2000 };

static int precond_is_auto(const hx_session *s)
{
    return hx_config_is_auto(s->cfg.solver.preconditioner);
}

/* "auto", as far as it does not depend on memory. */
static const hx_precond_kind *choose_precond(const hx_session *s, const hx_device_ops *ops)
{
    const int other = s->cfg.solver.precision == HX_PRECISION_MIXED ||
                      s->cfg.solver.criterion == HX_PCG_ABSOLUTE ||
                      s->mesh.n_elem < LEAST_FOR_MULTIGRID || !ops->multigrid;
    return hx_precond_find(other ? "jacobi" : "multigrid");
}

/* "auto" gives multigrid up where only Jacobi fits. */
static int fit_precond(hx_session *s)
{
    const hx_precond_kind *chosen = s->precond_kind;
    size_t n_free, n_total;
    if (!precond_is_auto(s) || !chosen->bytes) return HX_OK;
    HX_TRY(s->device.ops->memory(&s->device, &n_free, &n_total));
    const size_t held = s->op.dev ? s->op.device_bytes : 0;
    if (n_free == 0 || hx_session_device_bytes(s) <= n_free + held) return HX_OK;
    s->precond_kind = hx_precond_find("jacobi");
    if (hx_session_device_bytes(s) > n_free + held)
        s->precond_kind = chosen; /* refused later */
    else
        hx_log_warning(
            "multigrid does not fit into the memory of device '%s': jacobi, which takes many "
            "times more iterations",
            s->device.ops->name);
    return HX_OK;
}

int hx_session_start_device(hx_session *s, const hx_device_ops *ops)
{
    set_threads(s->cfg.solver.threads);
    s->precond_kind =
        precond_is_auto(s) ? choose_precond(s, ops) : hx_precond_find(s->cfg.solver.preconditioner);
    const int rc = hx_device_open(&s->device, ops);
    return rc < 0 ? blame(s, "solver.device", rc) : rc;
}

/* Names the operators of the device that would do, after the message. */
static int suggest_precision(const hx_session *s, int rc)
{
    char names[128] = "", message[512];
    size_t used = 0;
    for (size_t i = 0; hx_strategies[i] && used < sizeof names; i++) {
        const hx_strategy *other = hx_strategies[i];
        if (!other->apply_single || strcmp(other->device, s->device.ops->name) != 0) continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                 other->name);
    }
    snprintf(message, sizeof message, "%s", hx_error_message());
    if (!names[0]) return HX_RAISE(rc, "%s, nor has any other there: use \"double\"", message);
    return HX_RAISE(rc, "%s: use \"double\", or operator %s", message, names);
}

static int check_precision(const hx_session *s)
{
    const int rigid = hx_pcg_check_rigid(s->cfg.solver.precision, s->problem.n_rigid);
    if (rigid < 0) return blame(s, "solver.precision", rigid);
    const int rc = hx_pcg_check_precision(s->cfg.solver.precision, s->strategy, s->precond_kind);
    if (rc == HX_OK) return HX_OK;
    return blame(s, "solver.precision", s->strategy->apply_single ? rc : suggest_precision(s, rc));
}

int hx_session_open_device(hx_session *s)
{
    const hx_device_ops *ops = NULL;
    const double begin = begin_step(HX_SETUP_DEVICE);
    hx_device_start_end(&s->device_start);
    HX_TRY(hx_session_find_device(s, &ops));
    HX_TRY(hx_session_start_device(s, ops));
    HX_TRY(choose_strategy(s));
    HX_TRY(fit_precond(s));
    HX_TRY(check_precision(s));
    HX_TRY(hx_config_set_word(&s->cfg.solver.device, ops->name));
    HX_TRY(hx_config_set_word(&s->cfg.solver.op, s->strategy->name));
    HX_TRY(hx_config_set_word(&s->cfg.solver.preconditioner, s->precond_kind->name));
    s->cfg.solver.layout = s->layout;
    end_step(s, HX_SETUP_DEVICE, begin);
    return HX_OK;
}

const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text)
{
    const char *note = s->operator_note;
    snprintf(text, n_text, "%s, %s, %sdeterministic%s%s%s", s->strategy->name,
             hx_layout_name(s->layout), s->strategy->deterministic ? "" : "not ",
             note[0] ? " (" : "", note, note[0] ? ")" : "");
    return text;
}

const char *hx_session_ties_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_ties *ties = &s->ties;
    const size_t n_plane = s->cfg.optimization.symmetry.n;
    const int is_extruded = !isnan(s->cfg.optimization.extrusion[0]);
    char planes[48] = "", off[96] = "", alone[64] = "", a[32], b[32], c[32];
    if (n_plane > 0)
        snprintf(planes, sizeof planes, "%zu symmetry plane%s%s", n_plane, n_plane > 1 ? "s" : "",
                 is_extruded ? ", " : "");
    if (ties->n_shifted > 0)
        snprintf(off, sizeof off, "; %s off their image, by %.2g elements at most",
                 hx_format_count(ties->n_shifted, a, sizeof a), ties->shift);
    if (ties->n_alone > 0)
        snprintf(alone, sizeof alone, "; %s without an image",
                 hx_format_count(ties->n_alone, a, sizeof a));
    snprintf(text, n_text, "%s of %s elements in %s groups (%s%s)%s%s",
             hx_format_count(ties->n_member, a, sizeof a),
             hx_format_count(s->mesh.n_elem - s->problem.n_passive, b, sizeof b),
             hx_format_count(ties->n_group, c, sizeof c), planes, is_extruded ? "extruded" : "",
             off, alone);
    return text;
}

static size_t precond_bytes(const hx_session *s)
{
    const hx_precond_kind *kind = s->precond_kind;
    const int n = kind->vectors + (s->problem.n_rigid > 0 ? kind->rigid_vectors : 0);
    return (size_t)n * 3 * (size_t)s->mesh.n_node * sizeof(double) +
           (kind->bytes ? kind->bytes(&s->mesh, s->device.ops, s->strategy) : 0);
}

static hx_filter_params filter_params(const hx_session *s)
{
    const hx_filter_params params = {
        .radius = s->filter_radius,
        .volume_weighted = s->cfg.optimization.filter.volume_weighted,
        .beta = hx_beta_stair(&s->cfg).value,
        .eta = s->cfg.optimization.projection.eta,
    };
    return params;
}

size_t hx_session_filter_bytes(const hx_session *s)
{
    const hx_filter_params params = filter_params(s);
    return hx_filter_bytes(hx_filter_find(s->cfg.optimization.filter.kind), &s->problem, &params);
}

/* What the device holds besides the operator, part by part, after the operator's items. */
static int add_other_items(const hx_session *s, hx_memory_item item[HX_SESSION_ITEMS])
{
    const size_t vector = 3 * (size_t)s->mesh.n_node * sizeof(double);
    const size_t n_case = (size_t)s->problem.n_case;
    const size_t n_load = (size_t)hx_optimizer_vectors(&s->problem) - n_case;
    const size_t n_pcg = (size_t)hx_pcg_vectors(s->precond_kind, s->problem.n_rigid > 0);
    int n = HX_OPERATOR_ITEMS;
    item[n++] = (hx_memory_item){"preconditioner", precond_bytes(s)};
    item[n++] = (hx_memory_item){"pcg", n_pcg * vector};
    item[n++] = (hx_memory_item){"displacements", n_case * vector};
    item[n++] = (hx_memory_item){"loads", n_load * vector};
    item[n++] =
        (hx_memory_item){"densities", hx_optimizer_bytes(&s->problem) + hx_ties_bytes(&s->ties)};
    item[n++] = (hx_memory_item){"filter", hx_session_filter_bytes(s)};
    return n;
}

static size_t sum_other_items(const hx_memory_item *item, int n)
{
    size_t sum = 0;
    for (int i = HX_OPERATOR_ITEMS; i < n; i++) sum += item[i].bytes;
    return sum;
}

static size_t other_bytes(const hx_session *s)
{
    hx_memory_item item[HX_SESSION_ITEMS];
    const int n = add_other_items(s, item);
    return sum_other_items(item, n);
}

int hx_session_device_items(const hx_session *s, hx_memory_item item[HX_SESSION_ITEMS])
{
    (void)hx_operator_items(&s->problem, s->strategy, s->layout, item);
    return add_other_items(s, item);
}

size_t hx_session_device_bytes(const hx_session *s)
{
    hx_memory_item item[HX_OPERATOR_ITEMS];
    return hx_operator_items(&s->problem, s->strategy, s->layout, item) + other_bytes(s);
}

int hx_session_make_operator(hx_session *s)
{
    const size_t held = s->filter.kind ? hx_session_filter_bytes(s) : 0;
    const int rc = hx_operator_create(&s->op, &s->device, s->strategy, s->layout, &s->problem,
                                      other_bytes(s) - held);
    return rc < 0 ? blame(s, "solver.operator", rc) : rc;
}

int hx_session_make_solver(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    const hx_pcg_params params = {
        .criterion = cfg->solver.criterion,
        .tolerance = cfg->solver.tolerance,
        .max_iterations = cfg->solver.max_iterations,
        .precision = cfg->solver.precision,
    };
    const double begin = begin_step(HX_SETUP_SOLVER);
    if (!s->op.dev) HX_TRY(hx_session_make_operator(s)); /* else it is there, after a trial */
    HX_TRY(hx_precond_create(&s->pc, s->precond_kind, &s->op.linear, &s->op));
    HX_TRY(hx_pcg_create(&s->pcg, &params, &s->op.linear, &s->pc));
    memcpy(s->device_item, s->op.item, sizeof s->op.item);
    s->n_device_item = add_other_items(s, s->device_item);
    s->device_bytes = s->op.device_bytes + sum_other_items(s->device_item, s->n_device_item);
    end_step(s, HX_SETUP_SOLVER, begin);
    return HX_OK;
}

double hx_session_mass(const hx_session *s, double volume_fraction)
{
    return s->cfg.material.density * s->mesh.total_volume * volume_fraction;
}

int hx_session_read_initial(hx_session *s, double **density)
{
    char **path = &s->cfg.optimization.initial;
    const double rho_min = s->problem.rho_min;
    hx_result_match match;
    char count[32];
    *density = NULL;
    if (!*path) return HX_OK;
    HX_TRY(resolve_file(s, "optimization.initial", path));
    HX_TRY(hx_alloc_raw(density, (size_t)s->mesh.n_elem, sizeof **density, "initial densities"));
    HX_TRY(blame(s, "optimization.initial",
                 hx_result_read(*path, "density", &s->mesh, rho_min, rho_min, *density, &match)));
    if (match.n_missing > 0)
        hx_log_warning("optimization.initial: %s lacks %s elements, written with a threshold: they "
                       "start at rho_min = %g, from which optimality criteria hardly raise them",
                       *path, hx_format_count(match.n_missing, count, sizeof count), rho_min);
    return HX_OK;
}

int hx_session_make_filter(hx_session *s)
{
    const hx_filter_params params = filter_params(s);
    const int rc = hx_filter_create(&s->filter, hx_filter_find(s->cfg.optimization.filter.kind),
                                    &s->device, &s->problem, &params);
    return rc < 0 ? blame(s, "optimization.filter.radius", rc) : rc;
}

int hx_session_check_volume(hx_session *s)
{
    const hx_stair beta = hx_beta_stair(&s->cfg);
    hx_notes notes = {0};
    if (!s->filter.kind) HX_TRY(hx_session_make_filter(s));
    HX_TRY(hx_least_volume_find(&s->least_volume, &s->filter, &beta));
    int rc = hx_least_volume_check(&s->least_volume, &s->filter);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", s->cfg.path);
    if (rc == HX_OK) rc = hx_least_volume_note(&s->least_volume, &s->filter, &notes);
    s->n_warning += hx_log_notes(&notes);
    return rc;
}

int hx_session_make_design(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    const hx_optimizer_params params = {
        .move = cfg->optimization.move,
        .damping = cfg->optimization.damping,
        .warm_start = cfg->solver.warm_start,
        .penalty = hx_penalty_stair(cfg),
        .beta = hx_beta_stair(cfg),
        .least = &s->least_volume,
        .settled = cfg->optimization.change_tolerance,
    };
    int rc;
    double *density = NULL;
    const double begin = begin_step(HX_SETUP_DESIGN);
    HX_TRY(hx_session_check_volume(s));
    HX_TRY_FAIL(hx_session_read_initial(s, &density));
    rc = hx_optimizer_create(&s->opt, &params, &s->problem, &s->op, &s->pc, &s->pcg, &s->filter,
                             density);
    if (rc < 0) rc = density ? blame(s, "optimization.initial", rc) : rc;
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(hx_optimizer_tie(&s->opt, &s->ties));
    s->host_bytes = hx_mesh_bytes(&s->mesh) + hx_problem_bytes(&s->problem);
    end_step(s, HX_SETUP_DESIGN, begin);
fail:
    free(density);
    return rc;
}

void hx_session_drop_operator(hx_session *s)
{
    hx_optimizer_free(&s->opt);
    hx_pcg_free(&s->pcg);
    hx_precond_free(&s->pc);
    hx_operator_free(&s->op);
}

int hx_session_open(hx_session *s)
{
    hx_device_start_begin(&s->device_start, s->cfg.solver.device);
    s->other_bytes = hx_footprint_planned(&s->cfg);
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    return hx_session_make_design(s);
}

void hx_session_free(hx_session *s)
{
    hx_device_start_end(&s->device_start); /* a driver that is starting must not be left alone */
    hx_session_drop_operator(s);
    hx_filter_free(&s->filter);
    hx_device_close(&s->device);
    hx_ties_free(&s->ties);
    hx_problem_free(&s->problem);
    hx_mesh_free(&s->mesh);
    hx_config_free(&s->cfg);
    memset(s, 0, sizeof *s);
}
