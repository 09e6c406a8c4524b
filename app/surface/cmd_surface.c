/* hextop surface: writes the part of a result as a closed triangle surface, for a slicer or CAD. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../result/made_limits.h"
#include "../result/members.h"
#include "../result/round_faces.h"
#include "../result/surface_source.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/links.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/surface/surface.h"
#include "surface_json.h"
#include "surface_made.h"

enum { CONFIG, VOLUME, THRESHOLD, SMOOTH, PRESERVE, KEEP_LARGEST, CUTS, CHORD, OUTPUT };

typedef struct plan {
    const char *result, *target, *config, *json;
    const hx_surface_format *format;
    int n_smooth, keep_largest, cuts; /* cuts = 0: chosen by curvature */
    unsigned preserve;
    double threshold, volume, chord; /* NAN: not given */
} plan;

typedef struct job {
    plan plan;
    hx_surface_source source;
    hx_surface_field field;
    hx_surface surface;
    hx_surface_smoothing smoothing;
    hx_surface_report report;
    hx_surface_rims rims;
    hx_surface_made made;
    hx_surface_held held;
    hx_surface_repairs repairs;
    hx_thickness thickness, design_thickness; /* of the members of surface and 0/1 design */
    double threshold, target;                 /* target volume; NaN if a threshold is given */
    double dropped;                           /* volume of the pieces left out */
    int64_t n_dropped, n_seat;
} job;

static int read_number(const char *option, const char *text, double low, double high, double *value)
{
    char *end = NULL;
    *value = NAN;
    if (!text) return HX_OK;
    *value = strtod(text, &end);
    if (end != text && *end == '\0' && *value > low && *value < high) return HX_OK;
    if (high < HUGE_VAL)
        return HX_RAISE(HX_EINPUT, "%s %s: expected a number above %g and below %g", option, text,
                        low, high);
    return HX_RAISE(HX_EINPUT, "%s %s: expected a number above %g", option, text, low);
}

static int read_plan(plan *p, const hx_options *options)
{
    const char *const threshold = hx_option_text(options, THRESHOLD);
    const char *const volume = hx_option_text(options, VOLUME);
    char endings[128];
    if (options->n_argument != 2)
        return HX_RAISE(HX_EINPUT,
                        "'%s' is one argument too many; usage: hextop surface RESULT OUT",
                        options->argument[2]);
    p->result = options->argument[0];
    p->target = options->argument[1];
    p->config = hx_option_text(options, CONFIG);
    p->json = hx_option_text(options, OUTPUT);
    p->keep_largest = hx_option_given(options, KEEP_LARGEST);
    p->format = hx_surface_format_of_name(p->target);
    if (!p->format)
        return HX_RAISE(HX_EINPUT, "'%s': the name must end in %s", p->target,
                        hx_surface_endings(endings, sizeof endings));
    HX_TRY(read_number("--threshold", threshold, 0.0, 1.0, &p->threshold));
    HX_TRY(read_number("--volume", volume, 0.0, HUGE_VAL, &p->volume));
    HX_TRY(read_number("--chord", hx_option_text(options, CHORD), 0.0, HUGE_VAL, &p->chord));
    HX_TRY(
        hx_option_read_integer("--smooth", hx_option_text(options, SMOOTH), 0, 1000, &p->n_smooth));
    HX_TRY(
        hx_option_read_integer("--cuts", hx_option_text(options, CUTS), 1, HX_FINE_MOST, &p->cuts));
    HX_TRY(hx_preserve_read(hx_option_text(options, PRESERVE), &p->preserve));
    if (threshold && volume)
        return HX_RAISE(HX_EINPUT,
                        "--threshold and --volume determine each other: give only one of them");
    return HX_OK;
}

/* Makes the nodal densities and their threshold. */
static int make_field(job *j)
{
    hx_surface_source *source = &j->source;
    double volume;
    HX_TRY(hx_surface_source_field(source, &j->field));
    j->threshold = j->plan.threshold;
    j->target = NAN;
    if (isnan(j->threshold)) {
        j->target = isnan(j->plan.volume) ? source->target : j->plan.volume;
        HX_TRY(hx_part_check_target(&source->part, j->target));
        HX_TRY(hx_surface_threshold(&j->field, j->target, &j->threshold, &volume));
    }
    return hx_members_repair(&j->field, &source->fine, source->mesh, source->rho, source->is_solid,
                             j->target, &j->threshold, &j->repairs, &j->design_thickness);
}

/* Leaves out all pieces except the largest. */
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

static void report_counts(const char *label, int64_t n_piece, int64_t n_hole, int64_t n_cavity)
{
    hx_log_info("%s%lld piece%s, %lld through hole%s, %lld closed cavit%s", label,
                (long long)n_piece, n_piece == 1 ? "" : "s", (long long)n_hole,
                n_hole == 1 ? "" : "s", (long long)n_cavity, n_cavity == 1 ? "y" : "ies");
}

static void report_source(const job *j)
{
    const hx_surface_source *source = &j->source;
    char a[32], text[HX_ORIGIN_TEXT], fine[160];
    hx_log_info("result     %s", source->path.file);
    hx_log_info("mesh       %s %s", hx_format_count(source->mesh->n_elem, a, sizeof a),
                hx_noun(source->mesh->n_elem, "element", "elements"));
    if (source->fine.n > 0)
        hx_log_info("spline     cut from %s", hx_fine_image_text(&source->fine, fine, sizeof fine));
    if (source->config)
        hx_log_info("config     %s%s: %s %s forced solid (passive or loaded)", source->config,
                    j->plan.config ? "" : ", beside the result",
                    hx_format_count(source->part.n_solid, a, sizeof a),
                    hx_noun(source->part.n_solid, "element is", "elements are"));
    else
        hx_log_info("config     none: loaded and passive regions are unknown");
    if (source->config && !hx_result_origin_is_off(&source->origin))
        hx_log_info("origin     %s", hx_result_origin_text(&source->origin, text));
    if (source->part.n_void > 0)
        hx_log_info("           %s %s left out", hx_format_count(source->part.n_void, a, sizeof a),
                    hx_noun(source->part.n_void, "element of passive void is",
                            "elements of passive void are"));
    if (source->n_missing > 0)
        hx_log_info("           %s %s as void", hx_format_count(source->n_missing, a, sizeof a),
                    hx_noun(source->n_missing,
                            "element below output.threshold is not in the file and counts",
                            "elements below output.threshold are not in the file and count"));
}

static void report_thickness(const char *label, const hx_thickness *least, const char *unit)
{
    if (isnan(least->value))
        hx_log_info("%sno struts or walls", label);
    else
        hx_log_info("%smembers of at least %.4g%s, one at %.4g, %.4g, %.4g", label, least->value,
                    unit, least->place[0], least->place[1], least->place[2]);
}

static void report_shape(const job *j)
{
    const hx_surface_report *r = &j->report;
    const hx_units *u = &j->source.session.cfg.units; /* empty without a config */
    char a[32], b[32];
    hx_log_info("threshold  %.6g of the nodal density", j->threshold);
    if (isnan(j->target))
        hx_log_info("volume     %.6g%s, that of the densities %.6g%s", r->volume, u->volume,
                    j->source.target, u->volume);
    else
        hx_log_info("volume     %.6g%s, target %.6g%s", r->volume, u->volume, j->target, u->volume);
    if (j->source.part.n_solid > 0)
        hx_log_info("           %.6g%s of it in elements that are forced solid (passive or loaded)",
                    j->source.part.solid_volume, u->volume);
    hx_log_info("area       %.6g%s", r->area, u->area);
    hx_log_info("box        %.6g %.6g %.6g to %.6g %.6g %.6g%s", r->min[0], r->min[1], r->min[2],
                r->max[0], r->max[1], r->max[2], u->length);
    hx_log_info("surface    %s %s, %s %s; closed, manifold%s",
                hx_format_count(r->n_tri, a, sizeof a), hx_noun(r->n_tri, "triangle", "triangles"),
                hx_format_count(r->n_vertex, b, sizeof b),
                hx_noun(r->n_vertex, "vertex", "vertices"),
                r->n_crossing > 0 ? "" : ", without self-intersections");
    hx_log_info("quality    %.2f at worst, 1 %% of the triangles below %.2f (1: equilateral)",
                r->worst_quality, r->low_quality);
    if (j->rims.n_sample > 0)
        hx_log_info("rims       turn back by at most %.0f degrees within two elements, 99 %% by at "
                    "most %.0f",
                    j->rims.worst, j->rims.high);
    const hx_solid_shape *const design = &j->repairs.design;
    report_counts("shape      ", r->n_shell, r->genus, r->n_cavity);
    report_counts("0/1 design ", design->n_piece, design->n_hole, design->n_cavity);
    report_thickness("thickness  ", &j->thickness, u->length);
    report_thickness("0/1 design ", &j->design_thickness, u->length);
    hx_surface_report_made(&j->made, &j->held);
    if (j->plan.chord > 0.0)
        hx_log_info("chords     at most %g%s from %lld round %s of the part", j->plan.chord,
                    u->length, (long long)j->n_seat, hx_noun(j->n_seat, "face", "faces"));
    if (j->repairs.found.n > 0)
        hx_log_info("members    %lld %s of the 0/1 design kept where the threshold would cut %s",
                    (long long)j->repairs.found.n,
                    hx_noun((int64_t)j->repairs.found.n, "member", "members"),
                    j->repairs.found.n == 1 ? "it" : "them");
    if (j->plan.n_smooth > 0)
        hx_log_info("smoothing  %d %s; volume changed by %.2g %%, %s %s moved back",
                    j->plan.n_smooth, hx_noun(j->plan.n_smooth, "step", "steps"),
                    100.0 * (j->smoothing.volume_after / j->smoothing.volume_before - 1.0),
                    hx_format_count(j->smoothing.n_held, a, sizeof a),
                    hx_noun(j->smoothing.n_held, "vertex", "vertices"));
}

/* Prints the unit of the file, if its format has one. */
static void report_unit(const job *j)
{
    const hx_units *const u = &j->source.session.cfg.units;
    if (!j->plan.format->has_unit) return;
    if (u->metre > 0.0)
        hx_log_info("unit      %s, from the config's units", u->length);
    else
        hx_log_info("unit       mm, because the config has no `units`");
}

/* Warns if the volume differs from the target; the cause is the threshold, the smoothing or a
 * limit. */
static void warn_volume(const job *j)
{
    const double volume = j->report.volume + j->dropped;
    const double cut = j->smoothing.volume_before + j->dropped;
    if (isnan(j->target) || !(fabs(volume - j->target) > 0.01 * j->target)) return;
    if (fabs(cut - j->target) > 0.01 * j->target)
        hx_log_warning("the volume is %.3g instead of %.3g: it jumps there, because many elements "
                       "have the same density",
                       volume, j->target);
    else if (fabs(j->held.volume_after - j->held.volume_before) > 0.005 * j->target)
        hx_log_warning("the volume is %.3g instead of %.3g: vertices were moved to keep to "
                       "optimization.%s; --volume states another target",
                       volume, j->target, j->made.name);
    else
        hx_log_warning(
            "the volume is %.3g instead of %.3g: smoothing changed it, and vertices that stay on "
            "faces and edges of the mesh do not restore it; --smooth 0 keeps the volume",
            volume, j->target);
}

/* Pieces that are left out may have holes. */
static void warn_holes(const job *j)
{
    const int64_t n_design = j->repairs.design.n_hole, n = j->report.genus;
    if (n == n_design || j->n_dropped > 0) return;
    hx_log_warning(
        "the surface has %lld through %s, the 0/1 design %lld: threshold and smoothing "
        "%s, so stress and stiffness differ there from those of the 0/1 design; a larger "
        "filter radius or a finer mesh makes wider holes and thicker members",
        (long long)n, hx_noun(n, "hole", "holes"), (long long)n_design,
        n < n_design ? "close some, or open the members between them" : "open some");
}

static void warn_members(const job *j)
{
    const hx_lost_members *const left = &j->repairs.left;
    char a[32];
    if (left->n == 0) return;
    hx_log_warning("the surface cuts %s %s of the 0/1 design, one at %.4g, %.4g, %.4g: its stress "
                   "and stiffness differ from what `hextop verify` reports without --surface; a "
                   "larger filter radius or a finer mesh makes thicker members",
                   hx_format_count((int64_t)left->n, a, sizeof a),
                   hx_noun((int64_t)left->n, "member", "members"), left->member[0].place[0],
                   left->member[0].place[1], left->member[0].place[2]);
}

/* Writes surface.json beside the result, unless a name was given. */
static int write_json(const job *j)
{
    const char *const result = j->source.path.file, *const slash = strrchr(result, '/');
    char beside[PATH_MAX], folder[PATH_MAX];
    const int n = slash ? (int)(slash - result) + 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", n > 0 ? n : 2, n > 0 ? result : "./");
    snprintf(beside, sizeof beside, "%.*ssurface.json", n, result);
    const hx_surface_summary summary = {
        .result = result,
        .file = j->plan.target,
        .units = &j->source.session.cfg.units,
        .threshold = j->threshold,
        .target = j->target,
        .report = &j->report,
        .rims = &j->rims,
        .made = &j->made,
        .repairs = &j->repairs,
        .thickness = &j->thickness,
        .design_thickness = &j->design_thickness,
    };
    if (!j->plan.json && access(folder, W_OK) != 0) {
        hx_log_warning("surface.json was not written, because %s is not writable; --output names "
                       "another file",
                       folder);
        return HX_OK;
    }
    return hx_surface_json_write(&summary, j->plan.json ? j->plan.json : beside);
}

static void warn_of_surface(const job *j)
{
    const hx_surface_report *r = &j->report;
    char a[32], text[HX_ORIGIN_TEXT];
    if (hx_result_origin_is_off(&j->source.origin))
        hx_log_warning("%s is %s", j->source.path.file,
                       hx_result_origin_text(&j->source.origin, text));
    if (isnan(j->plan.threshold) && isnan(j->plan.volume) &&
        hx_part_short_text(&j->source.part, j->source.path.file, text, sizeof text))
        hx_log_warning("%s", text);
    warn_volume(j);
    warn_members(j);
    warn_holes(j);
    if (j->plan.chord > 0.0 && j->n_seat == 0)
        hx_log_warning(
            "--chord changes nothing: no set of faces of the mesh is a cylinder or sphere");
    if (j->n_dropped > 0)
        hx_log_warning(
            "%s %s left out, %.3g %% of the volume", hx_format_count(j->n_dropped, a, sizeof a),
            j->n_dropped == 1 ? "piece" : "pieces", 100.0 * j->dropped / (r->volume + j->dropped));
    if (r->n_shell > 1)
        hx_log_warning("the part has %lld separate %s; the largest has %.4g %% of the volume "
                       "(--keep-largest leaves out the others)",
                       (long long)r->n_shell, hx_noun(r->n_shell, "piece", "pieces"),
                       100.0 * r->largest_share);
    if (r->n_crossing > 0)
        hx_log_warning(
            "%s %s each other%s", hx_format_count(r->n_crossing, a, sizeof a),
            hx_noun(r->n_crossing, "pair of triangles intersects", "pairs of triangles intersect"),
            j->plan.n_smooth > 0 ? "; try --smooth 0" : "");
    if (j->surface.n_split > 0)
        hx_log_warning("the mesh touches itself at edges or nodes; the surface is split there, "
                       "with %s more %s",
                       hx_format_count(j->surface.n_split, a, sizeof a),
                       hx_noun(j->surface.n_split, "vertex", "vertices"));
}

static int make_surface(job *j, const hx_options *options)
{
    char a[32], b[32];
    const double begin = hx_clock();
    HX_TRY(read_plan(&j->plan, options));
    HX_TRY(hx_link_check_way(j->plan.target));
    /* Checks that the file can be created before the surface is computed. */
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, j->plan.target));
    hx_atomic_file_free(&file);
    HX_TRY(hx_surface_source_open(&j->source, j->plan.result, j->plan.config, j->plan.preserve,
                                  j->plan.cuts));
    /* HX_EINPUT: the surface would replace a file that is read. */
    const hx_surface_source *const source = &j->source;
    hx_output_names outputs = {0};
    hx_output_names_add(&outputs, j->plan.target);
    hx_output_names_add(&outputs, j->plan.json);
    HX_TRY(hx_output_names_check_result(&outputs, &source->path));
    HX_TRY(source->config ? hx_output_names_check_config(&outputs, &source->session.cfg) : HX_OK);
    const double opened = hx_clock();
    report_source(j);
    HX_TRY(make_field(j));
    HX_TRY(drop_pieces(j));
    const double found = hx_clock();
    HX_TRY(hx_surface_extract(&j->surface, &j->field, j->threshold));
    const double extracted = hx_clock();
    HX_TRY(hx_surface_smooth(&j->surface, &j->field, j->plan.n_smooth, &j->smoothing));
    HX_TRY(hx_surface_finish(&j->surface, &j->field, hx_surface_source_sets(&j->source),
                             j->plan.n_smooth, j->plan.chord > 0.0 ? j->plan.chord : 0.0,
                             &j->n_seat));
    HX_TRY(hx_surface_hold_limits(&j->surface, &j->source, &j->held));
    HX_TRY(hx_surface_measure_rims(&j->surface, j->field.mesh, &j->rims));
    HX_TRY(hx_surface_thickness(&j->surface, HX_THICKNESS_OF_MEMBERS, &j->thickness));
    HX_TRY(hx_surface_measure_made(&j->made, &j->source, &j->surface));
    const double smoothed = hx_clock();
    HX_TRY(hx_surface_judge(j->plan.target, j->plan.format, &j->surface, &j->report));
    const double judged = hx_clock();
    const hx_config *const cfg = &j->source.session.cfg; /* zeroed without a config */
    const hx_surface_about about = {
        .title = j->source.config && cfg->title[0] ? cfg->title : j->source.mesh->name,
        .metre = cfg->units.metre,
    };
    HX_TRY(j->plan.format->write(j->plan.target, &j->surface, &about));
    HX_TRY(write_json(j));
    report_shape(j);
    report_unit(j);
    warn_of_surface(j);
    hx_log_detail(
        "seconds    mesh %.3f, threshold %.3f, triangles %.3f, smoothing %.3f, check %.3f, "
        "file %.3f",
        opened - begin, found - opened, extracted - found, smoothed - extracted, judged - smoothed,
        hx_clock() - judged);
    hx_log_info("%s: written in %s, with %s of memory", j->plan.target,
                hx_format_seconds(hx_clock() - begin, a, sizeof a),
                hx_format_bytes((double)hx_host_memory_peak(), b, sizeof b));
    return HX_OK;
}

static int surface(const hx_options *options)
{
    job j;
    memset(&j, 0, sizeof j);
    const int rc = make_surface(&j, options);
    hx_surface_repairs_free(&j.repairs);
    hx_surface_free(&j.surface);
    hx_surface_field_free(&j.field);
    hx_surface_source_free(&j.source);
    return rc;
}

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

static const hx_option surface_options[] = {
    [CONFIG] =
        {"--config", HX_OPTION_FILE, "FILE",
         .help =
             "config to use instead of the one beside the result; none: use only the densities"},
    [VOLUME] = {"--volume", HX_OPTION_TEXT, "VOLUME",
                .help = "volume of the part, instead of that of the densities"},
    [THRESHOLD] = {"--threshold", HX_OPTION_TEXT, "DENSITY",
                   .help = "nodal density above which the part is solid, instead of a volume"},
    [SMOOTH] = {"--smooth", HX_OPTION_TEXT, "STEPS", .fallback = TEXT_OF(HX_SURFACE_STEPS),
                .help = "number of Taubin's smoothing steps; 0: none"},
    [PRESERVE] = {"--preserve", HX_OPTION_WORDS, HX_PRESERVE_DEFAULT,
                  .fallback = HX_PRESERVE_DEFAULT, .word = hx_preserve_word,
                  .help = HX_PRESERVE_HELP},
    [KEEP_LARGEST] = {"--keep-largest",
                      .help = "leaves out pieces that are not connected to the largest"},
    [CHORD] = {"--chord", HX_OPTION_TEXT, "LENGTH",
               .help = "largest distance of triangles from cylinders and spheres of the part; "
                       "default: that of the mesh"},
    [OUTPUT] = {"--output", HX_OPTION_FILE, "FILE.json",
                .help = "file to write instead of surface.json"},
    [CUTS] = {"--cuts", HX_OPTION_TEXT, "N",
              .help = "for splines: cuts N^3 hexahedra per span; default: as many as keep each "
                      "from turning by more than 5 degrees"},
};

const hx_command hx_command_surface = {
    .name = "surface",
    .summary = "writes the part of a result as a closed triangle surface",
    .arguments = "RESULT OUT",
    .ends = {".vtk .series", HX_SURFACE_ENDINGS},
    .help = "Extracts the solid from the densities of RESULT (a VTK file of a run, its "
            ".vtk.series, or its\n"
            "folder, whose last design is taken), by default with the volume of the densities, and "
            "writes a\n"
            "watertight surface. The ending of OUT selects the format:\n"
            "  .stl  binary, single precision\n"
            "  .ply  binary, double precision, shared vertices\n"
            "  .3mf  for slicers, with the unit of the config's `units` (default: mm)\n"
            "  .obj  text, double precision\n"
            "  .glb  binary glTF for viewers: in metres from the same units, y up\n"
            "The mesh's own faces stay in place. By the config.cfg beside the result, elements of "
            "passive solid\n"
            "and behind loaded faces are solid, and passive void is left out: the result is the "
            "part that\n"
            "`hextop verify` analyses. A surface that is not closed and manifold is not written. "
            "Writes "
            "surface.json\n"
            "beside RESULT: volume, quality of the triangles, pieces, and members that were cut.\n",
    .n_min = 2,
    .option = surface_options,
    .n_option = sizeof surface_options / sizeof surface_options[0],
    .run = surface,
};
