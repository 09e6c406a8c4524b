/* hextop surface: the part of a result as a closed triangle surface, for a slicer or CAD. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/commands.h"
#include "../text/table.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/surface/surface.h"
#include "surface_source.h"

enum { CONFIG, VOLUME, THRESHOLD, SMOOTH, PRESERVE, KEEP_LARGEST };

typedef struct plan {
    const char *result, *target, *config;
    int is_ply, n_smooth, keep_largest;
    unsigned preserve;
    double threshold, volume; /* NAN: not given */
} plan;

typedef struct job {
    plan plan;
    hx_surface_source source;
    hx_surface_field field;
    hx_surface surface;
    hx_surface_smoothing smoothing;
    hx_surface_report report;
    double threshold, target; /* target: volume asked for, NAN if a threshold was */
    double dropped;           /* volume of the pieces left out */
    int64_t n_dropped;
} job;

static int read_number(const char *option, const char *text, double low, double high, double *value)
{
    char *end = NULL;
    *value = NAN;
    if (!text) return HX_OK;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > low && *value < high) return HX_OK;
    if (high < HUGE_VAL)
        return HX_RAISE(HX_EINPUT, "%s %s: expected a number between %g and %g", option, text, low,
                        high);
    return HX_RAISE(HX_EINPUT, "%s %s: expected a number above %g", option, text, low);
}

static int read_smooth(const char *text, int *n)
{
    char *end = NULL;
    const long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 0 || value > 1000)
        return HX_RAISE(HX_EINPUT, "--smooth %s: expected a whole number from 0 to 1000", text);
    *n = (int)value;
    return HX_OK;
}

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    return n > n_ending && strcmp(path + n - n_ending, ending) == 0;
}

static int read_plan(plan *p, const hx_options *options)
{
    const char *const threshold = hx_option_text(options, THRESHOLD);
    const char *const volume = hx_option_text(options, VOLUME);
    if (options->n_argument != 2)
        return HX_RAISE(HX_EINPUT, "'%s' is one argument too many: hextop surface RESULT.vtk OUT",
                        options->argument[2]);
    p->result = options->argument[0];
    p->target = options->argument[1];
    p->config = hx_option_text(options, CONFIG);
    p->keep_largest = hx_option_given(options, KEEP_LARGEST);
    p->is_ply = has_ending(p->target, ".ply");
    if (!p->is_ply && !has_ending(p->target, ".stl"))
        return HX_RAISE(HX_EINPUT, "'%s': the name must end in .stl or .ply", p->target);
    HX_TRY(read_number("--threshold", threshold, 0.0, 1.0, &p->threshold));
    HX_TRY(read_number("--volume", volume, 0.0, HUGE_VAL, &p->volume));
    HX_TRY(read_smooth(hx_option_text(options, SMOOTH), &p->n_smooth));
    HX_TRY(hx_preserve_read(hx_option_text(options, PRESERVE), &p->preserve));
    if (threshold && volume)
        return HX_RAISE(HX_EINPUT, "--threshold and --volume: give one of them, the other follows");
    return HX_OK;
}

/* The file can be created; better known before than after. */
static int probe_target(const char *path)
{
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, path));
    hx_atomic_file_free(&file);
    return HX_OK;
}

/* Nodal densities, and the threshold that belongs to them. */
static int make_field(job *j)
{
    const hx_surface_source *source = &j->source;
    double volume;
    HX_TRY(hx_surface_field_create(&j->field, source->mesh, source->rho, source->is_solid));
    j->threshold = j->plan.threshold;
    j->target = NAN;
    if (!isnan(j->threshold)) return HX_OK;
    j->target = isnan(j->plan.volume) ? source->target : j->plan.volume;
    HX_TRY(hx_part_check_target(&source->part, j->target));
    return hx_surface_threshold(&j->field, j->target, &j->threshold, &volume);
}

/* Leaves out all pieces but the largest. */
static int drop_pieces(job *j)
{
    int rc;
    int64_t n_piece;
    int32_t *piece = NULL, largest;
    double before, after;
    if (!j->plan.keep_largest) return HX_OK;
    const int64_t n_node = j->field.mesh->n_node;
    HX_TRY_FAIL(hx_alloc_raw(&piece, (size_t)n_node, sizeof *piece, "pieces"));
    HX_TRY_FAIL(hx_surface_pieces(&j->field, j->threshold, piece, &n_piece, &largest));
    hx_surface_volume(&j->field, j->threshold, &before);
    hx_surface_leave_out(&j->field, j->threshold, piece, largest);
    hx_surface_volume(&j->field, j->threshold, &after);
    j->dropped = before - after;
    j->n_dropped = n_piece > 0 ? n_piece - 1 : 0;
fail:
    free(piece);
    return rc;
}

/* HX_ENUMERIC: a surface that is not closed, as the file would hold it. */
static int judge(job *j)
{
    hx_surface_report *r = &j->report;
    HX_TRY(hx_surface_check(&j->surface, j->plan.is_ply ? HX_SURFACE_F64 : HX_SURFACE_F32, r));
    if (r->is_closed_manifold) return HX_OK;
    return HX_RAISE(HX_ENUMERIC,
                    "%s: not written: %lld edges, %lld vertices and %lld triangles are not those "
                    "of a closed surface%s",
                    j->plan.target, (long long)r->n_bad_edge, (long long)r->n_bad_vertex,
                    (long long)r->n_degenerate,
                    j->plan.is_ply ? "; try --smooth 0"
                                   : " in an STL's single precision; write a .ply, or move the "
                                     "part nearer to the origin");
}

static void report_source(const job *j)
{
    const hx_surface_source *source = &j->source;
    char a[32];
    hx_log_info("mesh       %s elements", hx_format_count(source->mesh->n_elem, a, sizeof a));
    if (source->config)
        hx_log_info("config     %s%s: %s elements are solid whatever their density", source->config,
                    j->plan.config ? "" : ", beside the result",
                    hx_format_count(source->part.n_solid, a, sizeof a));
    else
        hx_log_info("config     none: loaded and passive regions are not known");
    if (source->part.n_void > 0)
        hx_log_info("           %s elements of passive void are left out",
                    hx_format_count(source->part.n_void, a, sizeof a));
    if (source->n_missing > 0)
        hx_log_info("           %s elements below output.threshold are not in the file, taken as 0",
                    hx_format_count(source->n_missing, a, sizeof a));
}

static void report_shape(const job *j)
{
    const hx_surface_report *r = &j->report;
    const hx_units *u = &j->source.session.cfg.units; /* empty without a config */
    char a[32], b[32];
    hx_log_info("threshold  %.6g of the nodal density", j->threshold);
    if (isnan(j->target))
        hx_log_info("volume     %.6g%s, of the densities %.6g%s", r->volume, u->volume,
                    j->source.target, u->volume);
    else
        hx_log_info("volume     %.6g%s, asked for %.6g%s", r->volume, u->volume, j->target,
                    u->volume);
    if (j->source.part.n_solid > 0)
        hx_log_info("           %.6g%s of it by elements that are solid whatever their density",
                    j->source.part.solid_volume, u->volume);
    hx_log_info("area       %.6g%s", r->area, u->area);
    hx_log_info("box        %.6g %.6g %.6g to %.6g %.6g %.6g%s", r->min[0], r->min[1], r->min[2],
                r->max[0], r->max[1], r->max[2], u->length);
    hx_log_info("surface    %s triangles, %s vertices; closed, manifold%s",
                hx_format_count(r->n_tri, a, sizeof a), hx_format_count(r->n_vertex, b, sizeof b),
                r->n_crossing > 0 ? "" : ", without crossings");
    hx_log_info("shape      %lld piece%s, %lld hole%s through, %lld closed cavit%s",
                (long long)r->n_shell, r->n_shell == 1 ? "" : "s", (long long)r->genus,
                r->genus == 1 ? "" : "s", (long long)r->n_cavity, r->n_cavity == 1 ? "y" : "ies");
    if (j->plan.n_smooth > 0)
        hx_log_info("smoothing  %d steps; volume changed by %.2g %%, %s vertices put back",
                    j->plan.n_smooth,
                    100.0 * (j->smoothing.volume_after / j->smoothing.volume_before - 1.0),
                    hx_format_count(j->smoothing.n_held, a, sizeof a));
}

static void warn(const job *j)
{
    const hx_surface_report *r = &j->report;
    char a[32];
    if (!isnan(j->target) && fabs(r->volume + j->dropped - j->target) > 0.01 * j->target)
        hx_log_warning("the volume is %.3g instead of %.3g: there it jumps, as with a density that "
                       "is the same in many elements",
                       r->volume + j->dropped, j->target);
    if (j->n_dropped > 0)
        hx_log_warning("%s pieces left out, %.3g %% of the volume",
                       hx_format_count(j->n_dropped, a, sizeof a),
                       100.0 * j->dropped / (r->volume + j->dropped));
    if (r->n_shell > 1)
        hx_log_warning("%lld pieces that do not hang together; the largest has %.4g %% of the "
                       "volume (--keep-largest leaves out the others)",
                       (long long)r->n_shell, 100.0 * r->largest_share);
    if (r->n_crossing > 0)
        hx_log_warning("%s pairs of triangles go through each other%s",
                       hx_format_count(r->n_crossing, a, sizeof a),
                       j->plan.n_smooth > 0 ? "; try --smooth 0" : "");
    if (j->surface.n_split > 0)
        hx_log_warning("the mesh touches itself in edges or nodes; it is cut open there, with %s "
                       "more vertices",
                       hx_format_count(j->surface.n_split, a, sizeof a));
}

static int write_surface(job *j)
{
    const char *const title = j->source.config && j->source.session.cfg.title[0]
                                  ? j->source.session.cfg.title
                                  : j->source.mesh->name;
    return j->plan.is_ply ? hx_surface_write_ply(j->plan.target, &j->surface, title)
                          : hx_surface_write_stl(j->plan.target, &j->surface, title);
}

static int make_surface(job *j, const hx_options *options)
{
    char a[32], b[32];
    const double begin = hx_clock();
    HX_TRY(read_plan(&j->plan, options));
    HX_TRY(probe_target(j->plan.target));
    HX_TRY(hx_surface_source_open(&j->source, j->plan.result, j->plan.config, j->plan.preserve));
    const double opened = hx_clock();
    report_source(j);
    HX_TRY(make_field(j));
    HX_TRY(drop_pieces(j));
    const double found = hx_clock();
    HX_TRY(hx_surface_extract(&j->surface, &j->field, j->threshold));
    const double extracted = hx_clock();
    HX_TRY(hx_surface_smooth(&j->surface, &j->field, j->plan.n_smooth, &j->smoothing));
    const double smoothed = hx_clock();
    HX_TRY(judge(j));
    const double judged = hx_clock();
    HX_TRY(write_surface(j));
    report_shape(j);
    warn(j);
    hx_log_detail(
        "seconds    mesh %.3f, threshold %.3f, triangles %.3f, smoothing %.3f, check %.3f, "
        "file %.3f",
        opened - begin, found - opened, extracted - found, smoothed - extracted, judged - smoothed,
        hx_clock() - judged);
    hx_log_info("%s: done in %s, %s of memory", j->plan.target,
                hx_format_seconds(hx_clock() - begin, a, sizeof a),
                hx_format_bytes((double)hx_host_memory_peak(), b, sizeof b));
    return HX_OK;
}

static int surface(const hx_options *options)
{
    job j;
    memset(&j, 0, sizeof j);
    const int rc = make_surface(&j, options);
    hx_surface_free(&j.surface);
    hx_surface_field_free(&j.field);
    hx_surface_source_free(&j.source);
    return rc;
}

static const hx_option surface_options[] = {
    [CONFIG] = {.name = "--config",
                .kind = HX_OPTION_FILE,
                .value = "FILE",
                .help = "another config of the run; none: densities alone"},
    [VOLUME] = {.name = "--volume",
                .kind = HX_OPTION_TEXT,
                .value = "VOLUME",
                .help = "another volume"},
    [THRESHOLD] = {.name = "--threshold",
                   .kind = HX_OPTION_TEXT,
                   .value = "DENSITY",
                   .help = "no volume: the solid is where the nodal density is above this"},
    [SMOOTH] = {.name = "--smooth",
                .kind = HX_OPTION_TEXT,
                .value = "STEPS",
                .fallback = "10",
                .help = "steps of Taubin's smoothing; 0: none"},
    [PRESERVE] = {.name = "--preserve",
                  .kind = HX_OPTION_WORDS,
                  .value = HX_PRESERVE_DEFAULT,
                  .fallback = HX_PRESERVE_DEFAULT,
                  .word = hx_preserve_word,
                  .help = HX_PRESERVE_HELP},
    [KEEP_LARGEST] = {.name = "--keep-largest", .help = "leaves out pieces that hang on nothing"},
};

const hx_command hx_command_surface = {
    .name = "surface",
    .summary = "the part of a result as a closed triangle surface",
    .arguments = "RESULT.vtk OUT.stl|OUT.ply",
    .ends = {".vtk", ".stl .ply"},
    .help =
        "Cuts the solid out of the densities of RESULT.vtk, by default where its volume is that "
        "of the\n"
        "densities, and writes a watertight surface: binary STL, or PLY in double precision. The "
        "mesh's\n"
        "own faces stay where they are; elements of passive solid and behind loaded faces are "
        "solid,\n"
        "passive void is left out, by the config.cfg beside RESULT.vtk: the part that `hextop "
        "verify`\n"
        "analyses. A surface that is not closed and manifold is not written.\n",
    .n_min = 2,
    .option = surface_options,
    .n_option = sizeof surface_options / sizeof surface_options[0],
    .run = surface,
};
