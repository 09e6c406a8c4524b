/* Device, operator, preconditioner and PCG of a session. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../config/config_schema.h"
#include "../text/log.h"
#include "core/base/names.h"
#include "core/matrix/matrix.h"
#include "core/operator/conduction_ops.h"
#include "session_internal.h"

static int has_no_splines(const hx_session *s, const hx_device_ops *ops)
{
    return s->cfg.solver.element == HX_ELEMENT_SPLINE && !(ops->matrix && ops->matrix->splines);
}

/* 1 if the device supports the config's physics with its elements. */
static int supports_request(const hx_session *s, const hx_device_ops *ops)
{
    if (has_no_splines(s, ops)) return 0;
    if (!hx_config_is_heat(&s->cfg)) return 1;
    if (!ops->conduction) return 0;
    if (s->cfg.solver.element == HX_ELEMENT_SPLINE) return ops->conduction->splines;
    return s->cfg.solver.element == HX_ELEMENT_LINEAR || ops->conduction->quadratic;
}

/* HX_EINPUT: it does not support them. */
static int check_physics(const hx_session *s, const hx_device_ops *ops)
{
    if (supports_request(s, ops)) return HX_OK;
    if (has_no_splines(s, ops))
        return hx_session_blame(
            s, "solver.device",
            HX_RAISE(HX_EINPUT,
                     "device '%s' does not support splines: use \"cpu\" or \"auto\", or "
                     "solver.element = \"linear\" or \"quadratic\" with the same file",
                     ops->name));
    const char *const elements = !ops->conduction ? ""
                                 : s->cfg.solver.element == HX_ELEMENT_SPLINE
                                     ? "splines of "
                                     : "quadratic elements of ";
    return hx_session_blame(
        s, "solver.device",
        HX_RAISE(HX_EINPUT, "device '%s' does not support %sphysics = \"heat\": use \"cpu\"",
                 ops->name, elements));
}

int hx_session_find_device(const hx_session *s, const hx_device_ops **ops)
{
    const char *name = s->cfg.solver.device;
    *ops = NULL;
    if (!hx_config_is_auto(name)) {
        *ops = hx_device_find(name);
        if (*ops) return check_physics(s, *ops);
        return hx_session_blame(
            s, "solver.device",
            HX_RAISE(HX_EENV,
                     "this hextop was built without device '%s'; use \"auto\" or "
                     "\"cpu\", or build it with that device",
                     name));
    }
    for (size_t i = 0; hx_devices[i] && !*ops; i++) {
        char why[256] = "";
        if (!supports_request(s, hx_devices[i])) continue;
        if (hx_devices[i]->available(why, sizeof why)) *ops = hx_devices[i];
    }
    if (*ops) return HX_OK;
    return hx_session_blame(
        s, "solver.device",
        HX_RAISE(HX_EENV, "no device of this build can run here; see `hextop list`"));
}

#ifdef _OPENMP
/* Divides the machine's cores among its processes, or takes those to which this process is
 * bound. */
static void share_cores(const hx_comm *comm)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN) / comm->host_size;
    const int bound = omp_get_num_procs();
    omp_set_num_threads(online < 1 ? 1 : online < bound ? (int)online : bound);
}
#endif

int hx_session_set_threads(const hx_session *s)
{
    const int n = s->cfg.solver.threads;
#ifdef _OPENMP
    if (n == 0 && s->comm) share_cores(s->comm);
#endif
    if (n == 0) return HX_OK;
#ifdef _OPENMP
    enum { EACH = 8, LEAST = 64 };
    const int n_core = omp_get_num_procs(), most = EACH * n_core > LEAST ? EACH * n_core : LEAST;
    if (n > most)
        return hx_session_blame(s, "solver.threads",
                                HX_RAISE(HX_EINPUT,
                                         "%d is out of range; with the %d core%s here at most %d "
                                         "is allowed, and 0 takes all",
                                         n, n_core, n_core == 1 ? "" : "s", most));
    omp_set_num_threads(n);
#else
    if (n > 1) hx_log_warning("solver.threads = %d: built without OpenMP, one thread is used", n);
#endif
    return HX_OK;
}

/* HX_EINPUT, with the deterministic operators of the device. */
static int require_deterministic(const hx_session *s, const hx_operator_kind *op_kind)
{
    char words[1024] = "";
    size_t used = 0;
    if (op_kind->deterministic) return HX_OK;
    for (size_t i = 0; hx_operator_kinds[i] && used < sizeof words; i++)
        if (strcmp(hx_operator_kinds[i]->device, s->device.ops->name) == 0 &&
            hx_operator_kinds[i]->deterministic)
            used += (size_t)snprintf(words + used, sizeof words - used, ", %s",
                                     hx_operator_kinds[i]->name);
    return HX_RAISE(HX_EINPUT,
                    "'%s' on device '%s' adds in an order that differs from run to run, and "
                    "solver.deterministic is true; deterministic operators there: auto%s",
                    op_kind->name, s->device.ops->name, words);
}

/* HX_EINPUT, with the operators of the device that support heat. */
static int refuse_physics(const hx_session *s, const hx_operator_kind *op_kind)
{
    char words[1024] = "";
    size_t used = 0;
    for (size_t i = 0; hx_operator_kinds[i] && used < sizeof words; i++)
        if (strcmp(hx_operator_kinds[i]->device, s->device.ops->name) == 0 &&
            hx_operator_kinds[i]->scalar)
            used += (size_t)snprintf(words + used, sizeof words - used, ", %s",
                                     hx_operator_kinds[i]->name);
    return HX_RAISE(HX_EINPUT,
                    "operator '%s' on device '%s' does not support physics = \"heat\"; operators "
                    "there that do: auto%s",
                    op_kind->name, s->device.ops->name, words);
}

/* The operator kind that solver.operator names; *substituted: 1 if another one replaces it. */
static int find_named_operator_kind(const hx_session *s, const hx_operator_kind **op_kind,
                                    int *substituted)
{
    const char *const name = s->cfg.solver.op, *const device = s->device.ops->name;
    *op_kind = hx_operator_kind_resolve(device, name, substituted);
    if (!*op_kind)
        return HX_RAISE(HX_EINPUT, "no operator '%s' on device '%s'%s; see `hextop list`", name,
                        device, hx_operator_kind_find("cpu", name) ? ", but on 'cpu'" : "");
    const hx_operator_kind *const used = hx_operator_kind_of(*op_kind, s->problem.components);
    if (!used) return refuse_physics(s, *op_kind);
    return s->cfg.solver.deterministic ? require_deterministic(s, used) : HX_OK;
}

/* A config can also be used without a GPU, and with operators that have only one layout. */
static void note_named_operator(hx_session *s, int substituted)
{
    const char *const name = s->cfg.solver.op;
    const hx_layout layout = s->cfg.solver.layout;
    hx_solver *const solver = &s->solver;
    if (solver->layout != layout)
        snprintf(solver->note, sizeof solver->note, "instead of %s, %s", name,
                 hx_layout_name(layout));
    else if (substituted)
        snprintf(solver->note, sizeof solver->note, "instead of %s, which needs a GPU", name);
}

static void log_choice(void *context, const char *line)
{
    (void)context;
    hx_log_detail("  auto      %s", line);
}

/* From solver.*, without the memory of others. */
static hx_solver_params solver_params(const hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    hx_solver_params params = hx_solver_defaults();
    params.choose.precision = cfg->solver.precision;
    params.choose.criterion = cfg->solver.criterion;
    params.choose.deterministic = cfg->solver.deterministic;
    params.choose.keep_layout = hx_config_given(cfg, "solver.layout");
    params.choose.layout = cfg->solver.layout;
    params.choose.say = log_choice;
    params.tolerance = cfg->solver.tolerance;
    params.max_iterations = cfg->solver.max_iterations;
    return params;
}

/* With the memory of the design, which *design receives; its filter may exist already. */
static hx_solver_params solver_params_beside(const hx_session *s, hx_account *design)
{
    hx_solver_params params = solver_params(s);
    *design = (hx_account){0};
    hx_session_design_account(s, design);
    params.choose.other_bytes = hx_account_sum(design);
    params.held_bytes = s->filter.kind ? hx_session_filter_bytes(s) : 0;
    return params;
}

static const hx_precond_kind *find_precond(const hx_session *s, const hx_device_ops *ops)
{
    const char *name = s->cfg.solver.preconditioner;
    const hx_solver_params params = solver_params(s);
    const hx_space linear = hx_space_linear(&s->mesh); /* some commands have no other space */
    const int64_t size = hx_choose_size(s->space.mesh ? &s->space : &linear);
    return hx_config_is_auto(name) ? hx_choose_precond(&params.choose, ops, size)
                                   : hx_precond_find(name);
}

/* Puts the operator's key before messages about it. */
static int blame_part(const hx_session *s, int rc)
{
    return rc < 0 && s->solver.part == HX_SOLVER_OPERATOR
               ? hx_session_blame(s, "solver.operator", rc)
               : rc;
}

int hx_session_choose_solver(hx_session *s)
{
    const int finds_operator = hx_config_is_auto(s->cfg.solver.op);
    const int finds_precond = hx_config_is_auto(s->cfg.solver.preconditioner);
    int substituted = 0;
    hx_account design;
    hx_solver_params params = solver_params(s);
    if (finds_operator || finds_precond) params = solver_params_beside(s, &design);
    if (!finds_operator)
        HX_TRY(hx_session_blame(s, "solver.operator",
                                find_named_operator_kind(s, &params.op_kind, &substituted)));
    if (!finds_precond) params.precond = hx_precond_find(s->cfg.solver.preconditioner);
    const int rc = hx_solver_choose(&s->solver, &s->device, hx_session_solved(s), &params);
    hx_log_notes(&s->solver.notes);
    HX_TRY(blame_part(s, rc));
    if (!finds_operator) note_named_operator(s, substituted);
    if (s->comm) hx_operator_free(&s->solver.op); /* it was timed on the whole mesh */
    return HX_OK;
}

static int set_words(hx_session *s)
{
    HX_TRY(hx_config_set_word(&s->cfg.solver.op, s->solver.op_kind->name));
    HX_TRY(hx_config_set_word(&s->cfg.solver.preconditioner, s->solver.precond->name));
    s->cfg.solver.layout = s->solver.layout;
    return HX_OK;
}

int hx_session_take_less(hx_session *s, int rc)
{
    hx_account design;
    if (s->comm) return 0; /* the other processes would keep theirs */
    hx_optimizer_free(&s->opt);
    hx_analysis_free(&s->analysis);
    const hx_solver_params params = solver_params_beside(s, &design);
    const int less = hx_solver_take_less(&s->solver, &s->device, &s->problem, &params, rc);
    hx_log_notes(&s->solver.notes);
    return less && set_words(s) == HX_OK;
}

int hx_session_suggest(hx_session *s, int rc)
{
    hx_account design;
    const hx_solver_params params = solver_params_beside(s, &design);
    return hx_choose_suggest(&params.choose, &s->device, &s->problem, s->solver.precond,
                             s->device_bytes, rc);
}

int hx_session_start_device(hx_session *s, const hx_device_ops *ops)
{
    HX_TRY(hx_session_set_threads(s));
    s->solver.precond = find_precond(s, ops);
    const int rc = hx_device_open_at(&s->device, ops, s->comm ? s->comm->host_rank : 0);
    return rc < 0 ? hx_session_blame(s, "solver.device", rc) : rc;
}

/* Appends the operators of the device that support the precision to the message. */
static int suggest_precision(const hx_session *s, int rc)
{
    char names[1024] = "", message[HX_MESSAGE_SIZE];
    size_t used = 0;
    for (size_t i = 0; hx_operator_kinds[i] && used < sizeof names; i++) {
        const hx_operator_kind *other =
            hx_operator_kind_of(hx_operator_kinds[i], s->problem.components);
        if (!other || !other->apply_single || strcmp(other->device, s->device.ops->name) != 0)
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                 other->name);
    }
    snprintf(message, sizeof message, "%s", hx_error_message());
    if (!names[0])
        return HX_RAISE(rc, "%s, and no other operator there supports it: use \"double\"", message);
    return HX_RAISE(rc, "%s: use \"double\", or operator %s", message, names);
}

static int check_precision(const hx_session *s)
{
    const int rigid = hx_pcg_check_rigid(s->cfg.solver.precision, s->problem.rigid.n);
    if (rigid < 0) return hx_session_blame(s, "solver.precision", rigid);
    const int rc =
        hx_pcg_check_precision(s->cfg.solver.precision, s->solver.op_kind, s->solver.precond);
    if (rc == HX_OK) return HX_OK;
    return hx_session_blame(s, "solver.precision",
                            s->solver.op_kind->apply_single ? rc : suggest_precision(s, rc));
}

/* The operator that will run on a device which is not open yet; NULL: it has to be timed first. */
static const hx_operator_kind *foresee_operator_kind(const hx_session *s, const hx_device_ops *ops)
{
    const hx_solver_params params = solver_params(s);
    int substituted;
    if (hx_config_is_auto(s->cfg.solver.op))
        return hx_choose_foresee(&params.choose, ops, &s->problem);
    return hx_operator_kind_of(hx_operator_kind_resolve(ops->name, s->cfg.solver.op, &substituted),
                               s->problem.components);
}

/* Makes lists of the mesh for the solver, and measures the mesh for its warnings, while the driver
 * of a device is starting. If the device turns out to be unavailable, the lists are not used. */
static void plan_ahead(hx_session *s)
{
    if (s->comm) return; /* the lists belong to the subdomain */
    const hx_device_ops *const ops = s->device_start.ops[0];
    if (!hx_device_start_is_running(&s->device_start) || !supports_request(s, ops)) return;
    const hx_operator_kind *const op_kind = foresee_operator_kind(s, ops);
    const hx_precond_kind *const kind = find_precond(s, ops);
    hx_session_count_loads(s);
    if (op_kind) hx_operator_plan_make(&s->operator_plan, &s->problem, op_kind);
    if (kind && hx_device_start_is_running(&s->device_start))
        hx_coarse_plan_make(&s->coarse_plan, &s->problem, kind, ops);
    if (kind && hx_device_start_is_running(&s->device_start))
        hx_coarse_plan_finish(&s->coarse_plan, &s->problem, kind);
    /* after a lack of memory it is repeated when it is needed */
    if (hx_device_start_is_running(&s->device_start) && hx_session_measure(s) < 0) hx_error_clear();
}

int hx_session_open_device(hx_session *s)
{
    const hx_device_ops *ops = NULL;
    const double begin = hx_session_begin_step(HX_SETUP_DEVICE);
    plan_ahead(s);
    hx_device_start_end(&s->device_start);
    HX_TRY(hx_session_find_device(s, &ops));
    HX_TRY(hx_session_start_device(s, ops));
    HX_TRY(hx_session_create_subdomain(s));
    hx_session_count_loads(s);
    HX_TRY(hx_session_receive_choice(s));
    HX_TRY(hx_session_choose_solver(s));
    HX_TRY(check_precision(s));
    /* NOLINTNEXTLINE(clang-analyzer-core*): hx_session_find_device sets ops */
    HX_TRY(hx_config_set_word(&s->cfg.solver.device, ops->name));
    HX_TRY(set_words(s));
    HX_TRY(hx_session_broadcast_choice(s));
    hx_session_end_step(s, HX_SETUP_DEVICE, begin);
    return HX_OK;
}

const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text)
{
    const char *note = s->solver.note;
    snprintf(text, n_text, "%s, %s, %sdeterministic%s%s%s", s->solver.op_kind->name,
             hx_layout_name(s->solver.layout), s->solver.op_kind->deterministic ? "" : "not ",
             note[0] ? " (" : "", note, note[0] ? ")" : "");
    return text;
}

int hx_session_make_operator(hx_session *s)
{
    hx_account design;
    const hx_solver_params params = solver_params_beside(s, &design);
    return blame_part(s, hx_solver_make_operator(&s->solver, hx_session_solver_device(s),
                                                 hx_session_solved(s), &params));
}

static void log_multigrid_line(void *context, const char *line)
{
    (void)context;
    hx_log_detail("  multigrid %s", line);
}

/* Prints the parameters of multigrid that differ from the defaults, and what it has chosen. */
static void log_multigrid(const hx_session *s)
{
    const hx_mg_params *const params = hx_mg_params_of(hx_session_solved(s));
    char now[128], usual[128];
    if (!s->solver.pc.kind->describe) return;
    for (size_t i = 0; i < hx_n_key; i++) {
        if (!hx_key_in_multigrid(&hx_keys[i], params)) continue;
        hx_key_print_multigrid(&hx_keys[i], params, now, sizeof now);
        hx_key_print_multigrid(&hx_keys[i], &hx_mg_defaults, usual, sizeof usual);
        if (strcmp(now, usual) != 0)
            hx_log_detail("  multigrid %s = %s, default %s", hx_keys[i].path, now, usual);
    }
    if (hx_config_given(&s->cfg, "solver.multigrid.coarsening.thin"))
        hx_log_detail("  multigrid solver.multigrid.coarsening.thin with %d %s, default %d",
                      params->coarsening.n_thin,
                      hx_noun(params->coarsening.n_thin, "rule", "rules"),
                      hx_mg_defaults.coarsening.n_thin);
    s->solver.pc.kind->describe(&s->solver.pc, log_multigrid_line, NULL);
}

int hx_session_make_solver(hx_session *s)
{
    const double begin = hx_session_begin_step(HX_SETUP_SOLVER);
    hx_account design;
    const hx_solver_params params = solver_params_beside(s, &design);
    const int rc =
        hx_solver_make(&s->solver, hx_session_solver_device(s), hx_session_solved(s), &params);
    const int replaced = s->solver.notes.n > 0;
    hx_log_notes(&s->solver.notes);
    HX_TRY(blame_part(s, rc));
    if (replaced) {
        HX_TRY(set_words(s));
        design = (hx_account){0}; /* it borrows vectors of PCG, which has others now */
        hx_session_design_account(s, &design);
    }
    log_multigrid(s);
    s->device_account = s->solver.account;
    hx_account_add_all(&s->device_account, &design);
    s->device_bytes = hx_account_sum(&s->device_account);
    s->dist.device_bytes = s->device_bytes;
    hx_session_end_step(s, HX_SETUP_SOLVER, begin);
    return HX_OK;
}
