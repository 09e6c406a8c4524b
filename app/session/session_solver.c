/* Device, operator, preconditioner and PCG of a session. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../text/log.h"
#include "core/matrix/matrix.h"
#include "core/operator/conduction_ops.h"
#include "session_internal.h"

static int has_no_splines(const hx_session *s, const hx_device_ops *ops)
{
    return s->cfg.solver.element == HX_ELEMENT_SPLINE && !(ops->matrix && ops->matrix->splines);
}

/* 1 if the device supports the config's physics with its elements. */
static int does_what_is_asked(const hx_session *s, const hx_device_ops *ops)
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
    if (does_what_is_asked(s, ops)) return HX_OK;
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
        if (!does_what_is_asked(s, hx_devices[i])) continue;
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
static int require_deterministic(const hx_session *s)
{
    char words[1024] = "";
    size_t used = 0;
    if (s->op_kind->deterministic) return HX_OK;
    for (size_t i = 0; hx_operator_kinds[i] && used < sizeof words; i++)
        if (strcmp(hx_operator_kinds[i]->device, s->device.ops->name) == 0 &&
            hx_operator_kinds[i]->deterministic)
            used += (size_t)snprintf(words + used, sizeof words - used, ", %s",
                                     hx_operator_kinds[i]->name);
    return HX_RAISE(HX_EINPUT,
                    "'%s' on device '%s' adds in an order that differs from run to run, and "
                    "solver.deterministic is true; deterministic operators there: auto%s",
                    s->op_kind->name, s->device.ops->name, words);
}

/* HX_EINPUT, with the operators of the device that support heat. */
static int refuse_physics(const hx_session *s)
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
                    s->op_kind->name, s->device.ops->name, words);
}

static int find_named_operator_kind(hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    int substituted = 0;
    s->op_kind = hx_operator_kind_resolve(s->device.ops->name, cfg->solver.op, &substituted);
    if (!s->op_kind)
        return HX_RAISE(HX_EINPUT, "no operator '%s' on device '%s'%s; see `hextop list`",
                        cfg->solver.op, s->device.ops->name,
                        hx_operator_kind_find("cpu", cfg->solver.op) ? ", but on 'cpu'" : "");
    if (!hx_operator_kind_of(s->op_kind, s->problem.components)) return refuse_physics(s);
    s->op_kind = hx_operator_kind_of(s->op_kind, s->problem.components);
    if (cfg->solver.deterministic) HX_TRY(require_deterministic(s));
    s->layout = s->cfg.solver.layout;
    const int has_layout = (s->op_kind->layouts & HX_LAYOUT_BIT(s->layout)) != 0;
    if (substituted)
        snprintf(s->operator_note, sizeof s->operator_note, "instead of %s, which needs a GPU",
                 cfg->solver.op);
    if (!has_layout) { /* the same config can be used with operators that have only one layout */
        snprintf(s->operator_note, sizeof s->operator_note, "instead of %s, %s", cfg->solver.op,
                 hx_layout_name(cfg->solver.layout));
        s->layout = hx_layout_first(s->op_kind);
    }
    return HX_OK;
}

static void log_choice(void *context, const char *line)
{
    (void)context;
    hx_log_detail("  auto      %s", line);
}

/* Parameters of the selection, from solver.*. */
static hx_choose_params choose_params(const hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    hx_choose_params params = hx_solver_defaults().choose;
    params.precision = cfg->solver.precision;
    params.criterion = cfg->solver.criterion;
    params.deterministic = cfg->solver.deterministic;
    params.keep_layout = hx_config_given(cfg, "solver.layout");
    params.layout = cfg->solver.layout;
    params.say = log_choice;
    return params;
}

static int find_fastest_operator_kind(hx_session *s)
{
    hx_choose_params params = choose_params(s);
    hx_choice choice;
    params.other_bytes = hx_session_design_bytes(s);
    HX_TRY(hx_choose_operator(&choice, &params, &s->device, hx_session_solved(s), s->precond_kind,
                              &s->op));
    if (s->comm) hx_operator_free(&s->op); /* it was timed on the whole mesh */
    s->op_kind = choice.op_kind;
    s->layout = choice.layout;
    snprintf(s->operator_note, sizeof s->operator_note, "%s", choice.note);
    return HX_OK;
}

static int find_operator_kind(hx_session *s)
{
    const int is_auto = hx_config_is_auto(s->cfg.solver.op);
    return hx_session_blame(s, "solver.operator",
                            is_auto ? find_fastest_operator_kind(s) : find_named_operator_kind(s));
}

static const hx_precond_kind *find_precond(const hx_session *s, const hx_device_ops *ops)
{
    const char *name = s->cfg.solver.preconditioner;
    const hx_choose_params params = choose_params(s);
    const hx_space linear = hx_space_linear(&s->mesh); /* some commands have no other space */
    const int64_t size = hx_choose_size(s->space.mesh ? &s->space : &linear);
    return hx_config_is_auto(name) ? hx_choose_precond(&params, ops, size) : hx_precond_find(name);
}

/* "auto" replaces a preconditioner that does not fit into memory by a smaller one. */
static int fit_precond(hx_session *s)
{
    const hx_precond_kind *chosen = s->precond_kind;
    hx_choose_params params = choose_params(s);
    if (!hx_config_is_auto(s->cfg.solver.preconditioner)) return HX_OK;
    params.other_bytes = hx_session_design_bytes(s);
    HX_TRY(hx_choose_smaller_precond(&params, &s->device, hx_session_solved(s), s->op_kind,
                                     s->layout, s->op.dev ? s->op.device_bytes : 0,
                                     &s->precond_kind));
    if (s->precond_kind != chosen)
        hx_log_warning("%s does not fit into the memory of device '%s': %s is used, which takes "
                       "many times more iterations",
                       chosen->name, s->device.ops->name, s->precond_kind->name);
    return HX_OK;
}

static int set_words(hx_session *s)
{
    HX_TRY(hx_config_set_word(&s->cfg.solver.op, s->op_kind->name));
    HX_TRY(hx_config_set_word(&s->cfg.solver.preconditioner, s->precond_kind->name));
    s->cfg.solver.layout = s->layout;
    return HX_OK;
}

int hx_session_take_less(hx_session *s, int rc)
{
    char why[HX_MESSAGE_SIZE];
    const char *const op = s->op_kind->name, *const precond = s->precond_kind->name;
    hx_choice choice = {.op_kind = s->op_kind, .layout = s->layout};
    const hx_choose_less less = {s->chose_operator, s->chose_precond, &choice, &s->precond_kind};
    hx_choose_params params = choose_params(s);
    params.other_bytes = hx_session_design_bytes(s);
    if (s->comm) return 0; /* the other processes would keep theirs */
    hx_session_drop_operator(s);
    if (!hx_choose_take_less(&params, &s->device, &s->problem, &less)) {
        const size_t held = s->filter.kind ? hx_session_filter_bytes(s) : 0;
        (void)hx_choose_suggest(&params, &s->device, &s->problem, s->precond_kind, held, rc);
        return 0;
    }
    snprintf(why, sizeof why, "%s", hx_error_message());
    hx_error_clear();
    if (choice.op_kind != s->op_kind) {
        hx_log_warning("operator %s needs more memory than device '%s' has (%s): %s is used, which "
                       "stores less",
                       op, s->device.ops->name, why, choice.op_kind->name);
        snprintf(s->operator_note, sizeof s->operator_note, "%s", choice.note);
        s->op_kind = choice.op_kind;
        s->layout = choice.layout;
    } else {
        hx_log_warning("%s needs more memory than device '%s' has (%s): %s is used, which takes "
                       "many times more iterations",
                       precond, s->device.ops->name, why, s->precond_kind->name);
    }
    return set_words(s) == HX_OK;
}

int hx_session_suggest(hx_session *s, int rc)
{
    hx_choose_params params = choose_params(s);
    params.other_bytes = hx_session_design_bytes(s);
    return hx_choose_suggest(&params, &s->device, &s->problem, s->precond_kind, s->device_bytes,
                             rc);
}

int hx_session_start_device(hx_session *s, const hx_device_ops *ops)
{
    HX_TRY(hx_session_set_threads(s));
    s->precond_kind = find_precond(s, ops);
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
    const int rc = hx_pcg_check_precision(s->cfg.solver.precision, s->op_kind, s->precond_kind);
    if (rc == HX_OK) return HX_OK;
    return hx_session_blame(s, "solver.precision",
                            s->op_kind->apply_single ? rc : suggest_precision(s, rc));
}

/* The operator that will run on a device which is not open yet; NULL: it has to be timed first. */
static const hx_operator_kind *foresee_operator_kind(const hx_session *s, const hx_device_ops *ops)
{
    const hx_choose_params params = choose_params(s);
    int substituted;
    if (hx_config_is_auto(s->cfg.solver.op)) return hx_choose_foresee(&params, ops, &s->problem);
    return hx_operator_kind_of(hx_operator_kind_resolve(ops->name, s->cfg.solver.op, &substituted),
                               s->problem.components);
}

/* Makes lists of the mesh for the solver, and measures the mesh for its warnings, while the driver
 * of a device is starting. If the device turns out to be unavailable, the lists are not used. */
static void plan_ahead(hx_session *s)
{
    if (s->comm) return; /* the lists belong to the subdomain */
    const hx_device_ops *const ops = s->device_start.ops[0];
    if (!hx_device_start_is_running(&s->device_start) || !does_what_is_asked(s, ops)) return;
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

int hx_session_find_named(hx_session *s)
{
    HX_TRY(hx_session_blame(s, "solver.operator", find_named_operator_kind(s)));
    s->precond_kind = find_precond(s, s->device.ops);
    return HX_OK;
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
    HX_TRY(find_operator_kind(s));
    HX_TRY(fit_precond(s));
    HX_TRY(check_precision(s));
    s->chose_operator = hx_config_is_auto(s->cfg.solver.op);
    s->chose_precond = hx_config_is_auto(s->cfg.solver.preconditioner);
    HX_TRY(hx_config_set_word(&s->cfg.solver.device, ops->name));
    HX_TRY(set_words(s));
    HX_TRY(hx_session_tell_choice(s));
    hx_session_end_step(s, HX_SETUP_DEVICE, begin);
    return HX_OK;
}

const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text)
{
    const char *note = s->operator_note;
    snprintf(text, n_text, "%s, %s, %sdeterministic%s%s%s", s->op_kind->name,
             hx_layout_name(s->layout), s->op_kind->deterministic ? "" : "not ",
             note[0] ? " (" : "", note, note[0] ? ")" : "");
    return text;
}

/* other: bytes that must also fit into the memory. */
static int make_operator(hx_session *s, size_t other)
{
    const size_t held = s->filter.kind ? hx_session_filter_bytes(s) : 0;
    const int rc = hx_operator_create(&s->op, hx_session_solver_device(s), s->op_kind, s->layout,
                                      hx_session_solved(s), other - held);
    hx_operator_plan_drop_lists(&s->operator_plan);
    return rc < 0 ? hx_session_blame(s, "solver.operator", rc) : rc;
}

int hx_session_make_operator(hx_session *s)
{
    return make_operator(s, hx_session_other_bytes(s));
}

static int make_solver(hx_session *s, size_t other)
{
    const hx_config *cfg = &s->cfg;
    const hx_pcg_params params = {
        .criterion = cfg->solver.criterion,
        .tolerance = cfg->solver.tolerance,
        .max_iterations = cfg->solver.max_iterations,
        .precision = cfg->solver.precision,
    };
    if (!s->op.dev) HX_TRY(make_operator(s, other)); /* otherwise the timing has made it */
    HX_TRY(hx_precond_create(&s->pc, s->precond_kind, &s->op.linear, &s->op));
    return hx_pcg_create(&s->pcg, &params, &s->op.linear, &s->pc);
}

int hx_session_make_solver(hx_session *s)
{
    const double begin = hx_session_begin_step(HX_SETUP_SOLVER);
    hx_account other;
    for (;;) {
        other = (hx_account){0};
        if (!s->op.dev && !s->comm)
            hx_operator_plan_make(&s->operator_plan, &s->problem, s->op_kind);
        hx_coarse_plan_make(&s->coarse_plan, &s->problem, s->precond_kind,
                            hx_session_solver_device(s)->ops);
        hx_session_other_account(s, &other); /* once, since it takes passes over the mesh */
        const int rc = make_solver(s, hx_account_sum(&other));
        if (rc == HX_OK) break;
        if ((rc != HX_ENOMEM && rc != HX_EENV) || !hx_session_take_less(s, rc)) return rc;
    }
    s->device_account = s->op.account;
    for (int i = 0; i < other.n; i++)
        hx_account_add(&s->device_account, other.item[i].name, other.item[i].bytes);
    s->device_bytes = hx_account_sum(&s->device_account);
    s->dist.device_bytes = s->device_bytes;
    hx_session_end_step(s, HX_SETUP_SOLVER, begin);
    return HX_OK;
}
