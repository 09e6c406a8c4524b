#include "progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../config/config_schema.h"
#include "../session/continuation.h"
#include "../session/footprint.h"
#include "../text/log.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/version.h"

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

/* What the compliance is, and from where temperatures count. */
static void print_heat(const hx_session *s)
{
    const hx_units *const u = &s->cfg.units;
    hx_log_info("  heat      conductivity %.6g%s, of void %.6g%s", s->problem.young,
                u->conductivity, s->problem.least, u->conductivity);
    if (s->problem.is_mixed)
        hx_log_info("  objective 2 f'T - T'K T, temperatures as they are given, since several are "
                    "held or ambient: less is more heat from the hot ones to the cold");
    else
        hx_log_info(
            "  objective thermal compliance, sources and fluxes times (T - %.6g%s): less is "
            "cooler where heat comes in",
            s->problem.reference, u->temperature);
}

/* Once a run; how much it is on a mesh and a design, only an analysis tells. */
static void say_stiff(const hx_session *s)
{
    if (s->mesh.n_kind[HX_CELL_TETRAHEDRON] == 0 || s->space.element != HX_ELEMENT_LINEAR ||
        hx_config_is_heat(&s->cfg))
        return;
    hx_log_info("            linear tetrahedra are stiffer than the part where it bends; how much "
                "here: hextop verify\n            RESULT --element quadratic");
}

void hx_progress_header(const hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    char a[64], b[64], c[64], fields[128], text[256];
    hx_log_info("hextop %s%s%s", HX_VERSION, cfg->title[0] ? "  " : "", cfg->title);
    if (cfg->units.system[0])
        hx_log_info("  units     %s; compliance in%s", cfg->units.system, cfg->units.work);
    hx_log_info(
        "  mesh      %s, %s elements, %s nodes%s%s, %s degrees of freedom", s->mesh.name,
        hx_format_count(s->mesh.n_elem, a, sizeof a), hx_format_count(s->mesh.n_node, b, sizeof b),
        s->space.element == HX_ELEMENT_LINEAR ? "" : ", ",
        s->space.element == HX_ELEMENT_LINEAR ? "" : hx_space_text(&s->space, text, sizeof text),
        hx_format_count(s->problem.components * s->space.n_point, c, sizeof c));
    if (hx_config_is_heat(cfg)) print_heat(s);
    say_stiff(s);
    hx_log_info("  device    %s", s->device.description);
    hx_log_info("  operator  %s", hx_session_operator_text(s, text, sizeof text));
    hx_log_info("  solver    PCG, %s preconditioner, %s precision, %s %g, at most %d iterations",
                s->precond_kind->name, hx_precision_name(s->pcg.params.precision),
                s->pcg.params.criterion == HX_PCG_ABSOLUTE ? "r'z <=" : "|r| / |f| <=",
                s->pcg.params.tolerance, s->pcg.params.max_iterations);
    if (s->filter.kind->needs_radius)
        hx_log_info("  filter    %s, radius %.4g%s (%.3g elements%s)", s->filter.kind->name,
                    s->filter_radius, cfg->units.length, s->filter_radius / s->mesh.elem_size,
                    hx_session_element_text(s, text, sizeof text));
    else
        hx_log_info("  filter    %s", s->filter.kind->name);
    if (cfg->optimization.projection.given)
        hx_log_info("  projected at eta %g, beta %g", s->filter.params.eta, s->filter.params.beta);
    hx_log_info("  design    volume fraction %g, penalty %g, rho_min %g, %d iterations%s",
                s->problem.volume_fraction, s->problem.penalty, s->problem.rho_min,
                cfg->optimization.iterations,
                cfg->optimization.change_tolerance > 0.0 ? " at most" : "");
    if (hx_continuation_text(cfg, text, sizeof text)[0]) hx_log_info("  rising    %s", text);
    if (s->problem.cases.n > 1) hx_log_info("  loads     %d cases", s->problem.cases.n);
    if (s->problem.passive.n > 0)
        hx_log_info("  passive   %s elements", hx_format_count(s->problem.passive.n, a, sizeof a));
    if (s->ties.n_group > 0)
        hx_log_info("  ties      %s", hx_session_ties_text(s, text, sizeof text));
    hx_log_info("  memory    %s on the host, %s on the device",
                hx_format_bytes((double)s->host_bytes, a, sizeof a),
                hx_format_bytes((double)s->device_bytes, b, sizeof b));
    hx_footprint_print(s, &s->device_account, 1);
    char every[48] = "last design", part[64] = "";
    if (cfg->output.every > 0)
        snprintf(every, sizeof every, "every %d iterations", cfg->output.every);
    if (!isnan(cfg->output.threshold))
        snprintf(part, sizeof part, ", elements of density >= %g", cfg->output.threshold);
    hx_log_info("  output    %s, %s: %s%s", cfg->output.directory, every,
                join_fields(cfg, fields, sizeof fields), part);
    hx_log_info("%s", "");
    if (hx_log_is_terminal())
        hx_log_status("1/%d  analysing the first design", cfg->optimization.iterations);
}

void hx_progress_iteration(const hx_session *s, const hx_stats *stats, const hx_iteration *it)
{
    const int n = s->cfg.optimization.iterations;
    if (hx_log_is_terminal()) {
        char left[32];
        hx_log_status(
            "%d/%d  compliance %.6g  volume %.4f  change %.4f  PCG %d  left %s", it->iteration, n,
            it->compliance, it->volume, it->change, it->pcg_iterations,
            hx_format_seconds(hx_stats_time_left(stats, n - it->iteration), left, sizeof left));
        return;
    }
    if (it->iteration == 1)
        hx_log_info("  iter    compliance   volume   change  greyness     PCG  residual   seconds");
    hx_log_info("%6d  %12.6g  %7.4f  %7.4f  %8.4f  %6d  %8.1e  %8.3f", it->iteration,
                it->compliance, it->volume, it->change, it->greyness, it->pcg_iterations,
                it->pcg_residual, it->seconds);
    if (it->iteration == n) return; /* nothing comes after it */
    if (it->raised && it->beta > 0.0)
        hx_log_info("        penalty %g, beta %g from here on", s->opt.penalty.value,
                    s->opt.beta.value);
    else if (it->raised)
        hx_log_info("        penalty %g from here on", s->opt.penalty.value);
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
    char left[32] = "";
    if (share > 0.0)
        hx_format_seconds((now - meter->begin) * (1.0 / share - 1.0), left, sizeof left);
    hx_log_status("%s  %.0f %%  left %s", meter->what, 100.0 * share, left);
    meter->last = now;
}

static void begin_writing(hx_progress_meter *meter, const char *path, char *what, size_t n_what)
{
    const char *const slash = strrchr(path, '/');
    snprintf(what, n_what, "writing %.100s", slash ? slash + 1 : path);
    hx_progress_begin(meter, what);
}

static void end_writing(const hx_progress_meter *meter, const char *path, int64_t n_elem)
{
    char bytes[32], rate[32], count[32];
    struct stat file;
    const double seconds = hx_clock() - meter->begin;
    const double size = stat(path, &file) == 0 ? (double)file.st_size : 0.0;
    hx_log_detail("%s: %s elements, %s in %.3f s, %s a second", path,
                  hx_format_count(n_elem, count, sizeof count),
                  hx_format_bytes(size, bytes, sizeof bytes), seconds,
                  hx_format_bytes(size / seconds, rate, sizeof rate));
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
    end_writing(&meter, path, n);
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
    if (rc == HX_OK) end_writing(&meter, path, mesh->n_elem);
    hx_log_notes(&notes);
    return rc;
}
