#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "matrix_job.h"

/* "1.4 ms" */
static const char *short_time(double seconds, char *text, size_t n_text)
{
    const int small = seconds < 1.0;
    snprintf(text, n_text, small ? "%.3g ms" : "%.4g s", small ? 1e3 * seconds : seconds);
    return text;
}

/* "1.03 G" */
static const char *large_number(double value, char *text, size_t n_text)
{
    static const char prefix[] = " kMGT";
    int k = 0;
    while (value >= 1000.0 && k < 4) {
        value /= 1000.0;
        k++;
    }
    snprintf(text, n_text, k ? "%.3g %c" : "%.3g ", value, prefix[k]);
    return text;
}

void hx_matrix_report_sizes(const hx_matrix_job *job)
{
    const hx_problem *const problem = &job->session.problem;
    const hx_space *const space = &problem->space;
    const int is_linear = space->element == HX_ELEMENT_LINEAR;
    char a[32], b[32], c[32], kinds[64], of_points[64] = "";
    hx_log_info("device     %s", job->session.device.description);
    if (!is_linear)
        snprintf(of_points, sizeof of_points, ", %s %s",
                 hx_format_count(space->n_point, a, sizeof a),
                 hx_noun(space->n_point, "point", "points"));
    hx_log_info("mesh       %s %s, %s %s%s, %s %s, %s",
                hx_format_count(space->mesh->n_elem, a, sizeof a),
                hx_noun(space->mesh->n_elem, "element", "elements"),
                hx_format_count(space->mesh->n_node, b, sizeof b),
                hx_noun(space->mesh->n_node, "node", "nodes"), of_points,
                hx_format_count(problem->components * space->n_point, c, sizeof c),
                hx_noun(problem->components * space->n_point, "unknown", "unknowns"),
                hx_space_text(space, kinds, sizeof kinds));
    if (!is_linear)
        hx_log_info("           all rows in one range: %s",
                    space->element == HX_ELEMENT_SPLINE ? "splines" : "quadratic elements");
}

static void report_matrix(const hx_matrix_job *job)
{
    const hx_matrix_stages *const st = &job->stages;
    const double values = (double)st->n_value * sizeof(double);
    const hx_problem *const problem = &job->session.problem;
    const int c = problem->components;
    const double n_block = (double)st->n_value / (c * c);
    const double index =
        n_block * sizeof(int32_t) + (double)problem->space.n_point * sizeof(int64_t);
    char blocks[32], bytes[32], most[32];
    hx_log_info("matrix     bsr %s, %sblocks, %s   widest row %d %s   %s on the device at once",
                st->part == HX_PART_LOWER ? "lower" : "full",
                large_number(n_block, blocks, sizeof blocks),
                hx_format_bytes(values + index, bytes, sizeof bytes), job->counts.widest,
                hx_noun(job->counts.widest, "block", "blocks"),
                hx_format_bytes((double)st->most_bytes, most, sizeof most));
}

static int report_values(hx_matrix_job *job)
{
    hx_matrix_stages *const st = &job->stages;
    const hx_fill_kind *const fill = &hx_fill_kinds[st->fill];
    const double rate = (double)st->n_value * sizeof(double) / st->fill_seconds;
    char time[32], elements[32], bytes[32], copy[48] = "";
    double bandwidth = 0.0;
    if (!job->plan.output) { /* measuring the copy takes a while */
        HX_TRY(st->dev->ops->copy_bandwidth(st->dev, &bandwidth));
        snprintf(copy, sizeof copy, " (%.0f %% of copy)", 100.0 * rate / bandwidth);
    }
    hx_log_info("values     %s  %s  %sel/s  %sB/s written%s, %s", fill->name,
                short_time(st->fill_seconds, time, sizeof time),
                large_number((double)job->session.mesh.n_elem / st->fill_seconds, elements,
                             sizeof elements),
                large_number(rate, bytes, sizeof bytes), copy,
                fill->deterministic ? "same bits on every run" : "bits vary from run to run");
    return HX_OK;
}

/* Reports on the ranges, and the rate relative to a plain copy to the host. */
static void report_chunks(const hx_matrix_job *job)
{
    const hx_matrix_chunks *const c = &job->chunks;
    const double rate = (double)c->n_byte / c->loop_seconds;
    char count[32], most[32], download[32], a[32], b[32], d[32], e[32], f[32];
    hx_log_info("chunks     %s of at most %s, downloaded at %sB/s, %.3g %% of the rate of a pinned "
                "copy",
                hx_format_count(c->n_range, count, sizeof count),
                hx_format_bytes((double)job->stages.range_bytes, most, sizeof most),
                large_number(rate, download, sizeof download), 100.0 * rate / c->copy_rate);
    hx_log_info("           a pinned copy, timed in this run, has %sB/s; each cell is integrated "
                "%.2f times on average",
                large_number(c->copy_rate, a, sizeof a),
                (double)c->n_cell / (double)job->session.mesh.n_elem);
    hx_log_info("           in all %s: waited for meshes %s (made in %s), uploads %s, pattern and "
                "matrix %s, waited for rows %s; pinned buffers %.3g ms before",
                short_time(c->loop_seconds, a, sizeof a), short_time(c->prepare_wait, b, sizeof b),
                short_time(c->prepare_seconds, d, sizeof d),
                short_time(job->stages.upload_seconds, e, sizeof e),
                short_time(job->stages.pattern_seconds + job->stages.prepare_seconds, f, sizeof f),
                short_time(c->hand_wait, count, sizeof count), 1e3 * c->pinned_seconds);
}

int hx_matrix_report_times(hx_matrix_job *job)
{
    char most[32], download[32], cut[32], written[32], peaks[96];
    char steps[256] = "", time[32];
    size_t used = 0;
    for (int i = 0; i < job->stages.steps.n && used < sizeof steps; i++)
        used += (size_t)snprintf(steps + used, sizeof steps - used, "   %s %s",
                                 job->stages.steps.step[i].name,
                                 short_time(job->stages.steps.step[i].seconds, time, sizeof time));
    hx_log_info("pattern    %s  %s%s", hx_build_name(job->stages.build),
                short_time(job->stages.pattern_seconds, time, sizeof time), steps);
    report_matrix(job);
    HX_TRY(report_values(job));
    if (job->chunks.is_chunked) report_chunks(job);
    if (job->writer)
        hx_log_info("file       waited for rows %s, formatting %s, writing %s, %sB/s",
                    short_time(job->download_seconds, download, sizeof download),
                    short_time(job->cut_seconds, cut, sizeof cut),
                    short_time(job->write_seconds, written, sizeof written),
                    large_number((double)job->file_bytes / job->write_seconds, most, sizeof most));
    hx_log_info("memory     at most %s",
                hx_matrix_peaks(&job->meter, job->stages.most_bytes, peaks, sizeof peaks));
    return HX_OK;
}

static void report_loading(const hx_matrix_plan *plan)
{
    const hx_matrix_format *format = NULL;
    char load[512];
    if (hx_matrix_format_find(plan->output, &format) != HX_OK) return;
    snprintf(load, sizeof load, format->load, plan->output);
    hx_log_info("           %s", load);
    if (plan->half == HX_HALF_UPPER)
        hx_log_info("           it contains the upper rows: A = PETSc.Mat().create(); "
                    "A.setType('sbaij'); A.load(...)");
    else if (plan->half == HX_HALF_LOWER && strcmp(format->ending, ".npz") == 0)
        hx_log_info("           it contains the lower rows: K = L + scipy.sparse.tril(L, -1).T");
}

void hx_matrix_report_files(const hx_matrix_job *job)
{
    const hx_matrix_plan *const plan = &job->plan;
    const char *file[HX_N_MATRIX_FILE];
    char names[1024] = "", bytes[32] = "", number[32];
    size_t used = 0;
    hx_matrix_files(plan, file);
    for (int i = 0; i < HX_N_MATRIX_FILE && used < sizeof names; i++)
        if (file[i])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     file[i]);
    if (!names[0]) return;
    if (plan->output) {
        hx_log_info("wrote      %s   %s %s, %s", names,
                    hx_format_count(job->counts.n_number, number, sizeof number),
                    hx_noun(job->counts.n_number, "entry", "entries"),
                    hx_format_bytes((double)job->file_bytes, bytes, sizeof bytes));
        report_loading(plan);
    } else
        hx_log_info("wrote      %s", names);
}
