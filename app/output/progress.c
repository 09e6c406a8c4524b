#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../config/config_schema.h"
#include "../session/continuation.h"
#include "../session/footprint.h"
#include "../session/machine.h"
#include "../text/log.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/comm/comm.h"
#include "core/version.h"
#include "outcome.h"

static const char *join_fields(const hx_config *cfg, char *text, size_t n_text)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < cfg->output.fields.n && used < n_text; i++) {
        const int n = snprintf(text + used, n_text - used, "%s%s", i ? ", " : "",
                               hx_config_word("output.fields", cfg->output.fields.word[i]));
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

/* Prints what the compliance is, which is the objective unless another one is stated, and the
 * reference of temperatures. */
static void print_heat(const hx_session *s)
{
    const hx_units *const u = &s->cfg.units;
    const char *const lead = !hx_session_other_objective(s) ? "objective"
                             : s->problem.is_mixed          ? "compliance"
                                                            : "         ";
    hx_log_info("  heat      conductivity %.6g%s, of void %.6g%s", s->problem.young,
                u->conductivity, s->problem.least, u->conductivity);
    if (s->problem.is_mixed)
        hx_log_info(
            "  %s 2 q'(T - %.6g%s) minus the dissipation by conduction and convection, "
            "where q are sources and fluxes, and %.6g%s is the lowest prescribed or ambient "
            "temperature: a smaller value means that more heat flows from hot to cold places",
            lead, s->problem.reference, u->temperature, s->problem.reference, u->temperature);
    else
        hx_log_info("  %s thermal compliance, sources and fluxes times (T - %.6g%s): a "
                    "smaller value means lower temperatures where heat enters",
                    lead, s->problem.reference, u->temperature);
}

/* Prints a note once per run. Only an analysis can quantify this error. */
static void say_stiff(const hx_session *s)
{
    if (s->mesh.n_kind[HX_CELL_TETRAHEDRON] == 0 || s->space.element != HX_ELEMENT_LINEAR ||
        hx_config_is_heat(&s->cfg))
        return;
    hx_log_info("            linear tetrahedra are too stiff in bending; `hextop verify RESULT "
                "--element quadratic`\n"
                "            prints by how much");
}

/* With -v, prints the properties on which the last bits of the result depend. */
static void print_machine(const hx_session *s)
{
    const char *lead = "machine";
    char text[HX_MACHINE_TEXT];
    if (!hx_log_is_on(HX_LOG_VERBOSE)) return;
    hx_machine_text(&s->device, text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        hx_log_detail("  %-9s %s", lead, line);
        lead = "";
    }
}

/* Quantity that PCG compares with its tolerance, in the order of the criteria. */
static const char *const stop_text[] = {"|r| / |f| <=", "r'z <=", "error of the compliance <="};

static void print_mesh(const hx_session *s)
{
    char a[64], b[64], c[64], text[256];
    hx_log_info("  mesh      %s, %s %s, %s %s%s%s, %s degrees of freedom", s->mesh.name,
                hx_format_count(hx_mesh_n_elem_all(&s->mesh), a, sizeof a),
                hx_noun(hx_mesh_n_elem_all(&s->mesh), "element", "elements"),
                hx_format_count(hx_mesh_n_node_all(&s->mesh), b, sizeof b),
                hx_noun(hx_mesh_n_node_all(&s->mesh), "node", "nodes"),
                s->space.element == HX_ELEMENT_LINEAR ? "" : ", ",
                s->space.element == HX_ELEMENT_LINEAR ? ""
                                                      : hx_space_text(&s->space, text, sizeof text),
                hx_format_count(s->problem.components * hx_session_n_point(s), c, sizeof c));
}

static void print_materials(const hx_session *s)
{
    char text[400];
    for (size_t i = 0; i < s->cfg.materials.n; i++)
        hx_log_info("  %-9s %s", i == 0 ? "materials" : "",
                    hx_session_material_text(s, i, text, sizeof text));
}

static void print_zones(const hx_session *s, const char *lead)
{
    char text[512];
    if (hx_stress_zone_text(&s->zones, &s->cfg, &s->problem, text, sizeof text)[0])
        hx_log_info("%szones     %s; solid, without a stress limit", lead, text);
    if (s->zones.unzoned[0]) hx_log_info("%sno zones  about %s", lead, s->zones.unzoned);
}

void hx_progress_limits(const hx_session *s, const char *lead)
{
    char what[512], bound[128], solid[64] = "";
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        hx_response_params params = spec->params;
        if (s->problem.cases.n == 1) params.load_case = HX_ALL_CASES;
        hx_response_text(spec->kind, &params, what, sizeof what);
        if (s->limits.solid)
            snprintf(solid, sizeof solid, "; %.6g in the solid part", s->limits.solid[i]);
        hx_log_info("%s%-9s %s: %s%s%s%s", lead, i == 0 ? "limits" : "", spec->name,
                    hx_bound_text(spec->max, spec->min, hx_response_unit_text(s, spec->kind), bound,
                                  sizeof bound),
                    strcmp(what, spec->name) == 0 ? "" : "; ",
                    strcmp(what, spec->name) == 0 ? "" : what, solid);
    }
    print_zones(s, lead);
}

/* Warns of a damping that the update does not read. A config that a run has written states the
 * default, so only another value counts. */
static void warn_damping(const hx_session *s)
{
    char place[HX_CONFIG_PLACE];
    const double usual = 0.5, damping = s->cfg.optimization.damping;
    const hx_update_kind *const update = hx_session_update(s);
    if (update == &hx_update_oc || !(fabs(damping - usual) > 0.0)) return;
    hx_log_warning("%s: update '%s' does not use it, only 'oc' does; `optimization.move=%g` takes "
                   "smaller steps",
                   hx_config_place(&s->cfg, "optimization.damping", place, sizeof place),
                   update->name, 0.5 * s->cfg.optimization.move);
}

void hx_progress_choices(const hx_session *s, const char *lead)
{
    const char *const reason = hx_session_update_reason(s);
    if (!isnan(s->cfg.optimization.minimum_length))
        hx_log_info("%s          radius and thresholds for a least thickness of %g%s, and of gaps "
                    "of %g%s",
                    lead, s->cfg.optimization.minimum_length, s->cfg.units.length,
                    s->cfg.optimization.minimum_gap, s->cfg.units.length);
    else if (hx_session_chose_filter(s))
        hx_log_info("%s          the default, because %s exact derivatives", lead,
                    s->limits.n > 0 ? "limits need" : "this objective needs");
    if (reason) hx_log_info("%supdate    %s, because %s", lead, hx_session_update(s)->name, reason);
    warn_damping(s);
}

static void print_design(const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    const double wanted = hx_session_volume_wanted(s);
    char volume[64];
    if (isnan(wanted))
        snprintf(volume, sizeof volume, "first density %g",
                 hx_design_initial_density(&s->design, &s->problem));
    else
        snprintf(volume, sizeof volume, "volume fraction %g", wanted);
    hx_log_info("  design    %s, penalty %g, rho_min %g, move limit %g, %d %s%s", volume,
                s->design.penalty.last, s->design.rho_min, cfg->optimization.move,
                cfg->optimization.iterations,
                hx_noun(cfg->optimization.iterations, "iteration", "iterations"),
                cfg->optimization.change_tolerance > 0.0 || hx_session_kkt_tolerance(s) > 0.0
                    ? " at most"
                    : "");
}

void hx_progress_header(const hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    char a[64], b[64], fields[128], text[256];
    hx_log_info("hextop %s%s%s", HX_VERSION, cfg->title[0] ? "  " : "", cfg->title);
    if (cfg->units.system[0])
        hx_log_info("  units     %s; compliance in%s", cfg->units.system, cfg->units.work);
    print_mesh(s);
    if (hx_config_is_heat(cfg)) print_heat(s);
    print_materials(s);
    say_stiff(s);
    if (hx_session_other_objective(s))
        hx_log_info("  objective %s", hx_session_objective_text(s, text, sizeof text));
    hx_progress_limits(s, "  ");
    hx_log_info("  device    %s", s->device.description);
    print_machine(s);
    if (s->comm) hx_log_info("  ranks     %s", hx_session_comm_text(s, text, sizeof text));
    hx_log_info("  operator  %s", hx_session_operator_text(s, text, sizeof text));
    hx_log_info("  solver    PCG, %s preconditioner, %s precision, %s %g, at most %d %s",
                s->solver.precond->name, hx_precision_name(s->solver.pcg.params.precision),
                stop_text[s->solver.pcg.params.criterion], s->solver.pcg.params.tolerance,
                s->solver.pcg.params.max_iterations,
                hx_noun(s->solver.pcg.params.max_iterations, "iteration", "iterations"));
    if (s->filter.kind->needs_radius)
        hx_log_info("  filter    %s, radius %.4g%s (%.3g elements%s)", s->filter.kind->name,
                    s->filter_radius, cfg->units.length, s->filter_radius / s->mesh.elem_size,
                    hx_session_element_text(s, text, sizeof text));
    else
        hx_log_info("  filter    %s", s->filter.kind->name);
    hx_progress_choices(s, "  ");
    if (cfg->optimization.projection.given)
        hx_log_info("            projected at eta %g, beta %g", s->design.eta,
                    s->design.beta.value);
    print_design(s);
    if (hx_continuation_text(cfg, text, sizeof text)[0]) hx_log_info("  schedule  %s", text);
    if (s->problem.cases.n > 1)
        hx_log_info("  loads     %d %s", s->problem.cases.n,
                    hx_noun(s->problem.cases.n, "case", "cases"));
    if (s->problem.passive.n > 0)
        hx_log_info("  passive   %s %s", hx_format_count(s->problem.passive.n, a, sizeof a),
                    hx_noun(s->problem.passive.n, "element", "elements"));
    if (s->groups.n_group > 0)
        hx_log_info("  linked    %s", hx_session_groups_text(s, text, sizeof text));
    hx_log_info("  memory    %s on the host, %s on the device",
                hx_format_bytes((double)s->host_bytes, a, sizeof a),
                hx_format_bytes((double)s->device_bytes, b, sizeof b));
    hx_footprint_print(s, &s->device_account, 1);
    char every[48] = "last design", part[64] = "";
    if (cfg->output.every > 0)
        snprintf(every, sizeof every, "every %d %s", cfg->output.every,
                 hx_noun(cfg->output.every, "iteration", "iterations"));
    if (!isnan(cfg->output.threshold))
        snprintf(part, sizeof part, ", elements of density >= %g", cfg->output.threshold);
    hx_log_info("  output    %s, %s: %s%s", cfg->output.directory, every,
                join_fields(cfg, fields, sizeof fields), part);
    hx_log_info("%s", "");
    if (hx_log_is_terminal())
        hx_log_status("1 of %d  analysing the first design", cfg->optimization.iterations);
}

/* Estimated time until the last possible design; "": this was the last one. A tolerance may end the
 * run earlier, and while penalty or beta rises, later designs may take longer. */
static const char *time_left(const hx_session *s, const hx_stats *stats, const hx_iteration *it,
                             char *text, size_t n_text)
{
    const int n = s->cfg.optimization.iterations - it->iteration;
    const int may_end =
        s->cfg.optimization.change_tolerance > 0.0 || hx_session_kkt_tolerance(s) > 0.0;
    char time[32];
    text[0] = '\0';
    if (hx_outcome_is_last(s, it)) return text;
    hx_format_seconds(hx_stats_time_left(stats, n), time, sizeof time);
    if (it->climbing)
        snprintf(text, n_text, "about %s%s", time, may_end ? " or less" : "");
    else
        snprintf(text, n_text, "%s%s", may_end ? "at most " : "", time);
    return text;
}

/* "met", or by how much the worst limit is violated; "": there are no limits. */
static const char *limits_text(const hx_session *s, const hx_iteration *it, char *text,
                               size_t n_text)
{
    const double percent = 100.0 * it->violation;
    text[0] = '\0';
    if (s->limits.n == 0) return text;
    if (!(it->violation > HX_LIMIT_MET))
        snprintf(text, n_text, "met");
    else
        snprintf(text, n_text, percent < 1e4 ? "%.*f %%" : "%.*e %%",
                 percent < 10.0 || percent >= 1e4 ? 1 : 0, percent);
    return text;
}

/* The status line of a terminal. */
static void show_iteration(const hx_session *s, const hx_iteration *it, int n, const char *left)
{
    const char *const other = hx_session_objective_column(s);
    char lead[48], tail[320], objective[64] = "", limits[32];
    if (other) snprintf(objective, sizeof objective, "%s %.6g  ", other, it->objective);
    snprintf(lead, sizeof lead, "%d of %d", it->iteration, n);
    limits_text(s, it, limits, sizeof limits);
    snprintf(tail, sizeof tail, "%s%s%s%s%s%scompliance %.6g  change %.4f  volume %.4f  PCG %d",
             left, left[0] ? " left  " : "", objective, limits[0] ? "limits " : "", limits,
             limits[0] ? "  " : "", it->compliance, it->change, it->volume, it->pcg_iterations);
    hx_log_progress((double)it->iteration / n, lead, tail);
}

void hx_progress_iteration(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    const int n = s->cfg.optimization.iterations, is_terminal = hx_log_is_terminal();
    const char *const other = hx_session_objective_column(s);
    char left[64], count[32], objective[64] = "", text[32], limits[48] = "";
    time_left(s, stats, it, left, sizeof left);
    if (is_terminal) show_iteration(s, it, n, left);
    /* a terminal only shows its status line, but the log of the run receives all lines */
    void (*const say)(const char *fmt, ...) = is_terminal ? hx_log_record : hx_log_info;
    const int n_digit = snprintf(count, sizeof count, "%d", n);
    const int width = snprintf(count, sizeof count, "%*d of %d", n_digit, it->iteration, n);
    if (it->iteration == 1)
        say("  %*s%s%*s%s    compliance   volume   change  greyness     PCG  residual   seconds  "
            "left",
            width, "iter", other ? "  " : "", other ? 12 : 0, other ? other : "",
            s->limits.n > 0 ? "      limits" : "");
    if (other) snprintf(objective, sizeof objective, "  %12.6g", it->objective);
    if (limits_text(s, it, text, sizeof text)[0]) snprintf(limits, sizeof limits, "  %10s", text);
    say("  %s%s%s  %12.6g  %7.4f  %7.4f  %8.4f  %6d  %8.1e  %8.3f%s%s", count, objective, limits,
        it->compliance, it->volume, it->change, it->greyness, it->pcg_iterations, it->pcg_residual,
        it->seconds, left[0] ? "  " : "", left);
    for (int i = 0; i < s->limits.n; i++)
        hx_log_detail("        %s %.6g%s", s->limits.name[i], it->response[i].value,
                      hx_response_unit_text(s, s->limits.spec[i].kind));
    if (it->iteration == n) return; /* no output follows */
    if (it->raised && it->beta > 0.0)
        say("        penalty %g, beta %g from here on", s->opt.penalty.value, s->opt.beta.value);
    else if (it->raised)
        say("        penalty %g from here on", s->opt.penalty.value);
}

void hx_progress_begin(hx_progress_meter *meter, const char *what)
{
    meter->what = what;
    meter->begin = meter->last = hx_clock();
}

void hx_progress_share(void *context, double share)
{
    hx_progress_meter *meter = context;
    const double now = hx_clock();
    if (now - meter->begin < 1.0 || now - meter->last < 0.2 || !hx_log_is_terminal()) return;
    char left[32] = "", tail[64];
    if (share > 0.0)
        hx_format_seconds((now - meter->begin) * (1.0 / share - 1.0), left, sizeof left);
    snprintf(tail, sizeof tail, "%.0f %%%s%s%s", 100.0 * share, left[0] ? "  " : "", left,
             left[0] ? " left" : "");
    hx_log_progress(share, meter->what, tail);
    meter->last = now;
}

static void begin_writing(hx_progress_meter *meter, const char *path, char *what, size_t n_what)
{
    const char *const slash = strrchr(path, '/');
    snprintf(what, n_what, "writing %.100s", slash ? slash + 1 : path);
    hx_progress_begin(meter, what);
}

static void end_writing(const hx_progress_meter *meter, const char *path, int64_t n_elem,
                        int n_rank)
{
    char bytes[32], rate[32], count[32], by[32] = "";
    struct stat file;
    const double seconds = hx_clock() - meter->begin;
    const double size = stat(path, &file) == 0 ? (double)file.st_size : 0.0;
    if (n_rank > 1)
        snprintf(by, sizeof by, ", by %d %s", n_rank, hx_noun(n_rank, "process", "processes"));
    hx_log_detail("%s: %s %s, %s in %.3f s, %s per second%s", path,
                  hx_format_count(n_elem, count, sizeof count),
                  hx_noun(n_elem, "element", "elements"),
                  hx_format_bytes(size, bytes, sizeof bytes), seconds,
                  hx_format_bytes(size / seconds, rate, sizeof rate), by);
}

int hx_progress_write(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_fields *fields, int64_t *n_written)
{
    char what[128];
    hx_progress_meter meter;
    hx_vtk_options shown = *options;
    int64_t n = 0;
    shown.progress = hx_progress_share;
    shown.context = &meter;
    begin_writing(&meter, path, what, sizeof what);
    HX_TRY(hx_vtk_write_part(path, mesh, title, &shown, fields->field, fields->n, &n));
    if (n_written) *n_written = n;
    end_writing(&meter, path, n, options->comm ? options->comm->size : 1);
    return HX_OK;
}

int hx_progress_write_mesh(const char *path, const hx_mesh *mesh, const hx_mesh_format *format,
                           const hx_mesh_write_options *options)
{
    char what[128];
    hx_progress_meter meter;
    hx_notes notes = {0};
    hx_mesh_write_options shown = *options;
    shown.progress = hx_progress_share;
    shown.context = &meter;
    shown.notes = &notes;
    begin_writing(&meter, path, what, sizeof what);
    const int rc = format->write(path, mesh, &shown);
    if (rc == HX_OK) end_writing(&meter, path, mesh->n_elem, 1);
    hx_log_notes(&notes);
    return rc;
}
