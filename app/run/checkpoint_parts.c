#include "checkpoint_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../session/machine.h"
#include "../text/json_read.h"
#include "../text/log.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/text_stream.h"

/* --- texts --- */

static int put_snapshot_text(hx_snapshot *image, const char *name, const char *text)
{
    const void *p = text;
    size_t n = strlen(text);
    return hx_snapshot_borrow(image, name, &p, &n);
}

int hx_checkpoint_text(hx_snapshot *image, const char *name, char **text)
{
    const void *p = NULL;
    size_t n = 0;
    HX_TRY(hx_snapshot_borrow(image, name, &p, &n));
    HX_TRY(hx_alloc(text, n + 1, 1, name));
    if (n > 0) memcpy(*text, p, n);
    return HX_OK;
}

/* --- identity of the run --- */

static int put_identity(hx_snapshot *image, hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    hx_identity identity;
    char *settings, machine[HX_MACHINE_TEXT];
    HX_TRY(hx_identity_of(s, &identity));
    HX_TRY(put_snapshot_text(image, "run.operator", cfg->solver.op));
    HX_TRY(put_snapshot_text(image, "run.layout", hx_layout_name(cfg->solver.layout)));
    HX_TRY(put_snapshot_text(image, "run.preconditioner", cfg->solver.preconditioner));
    HX_TRY(put_snapshot_text(image, "run.machine", hx_machine_text(&s->device, machine)));
    HX_TRY(hx_snapshot_host(image, "run.mesh", &identity.mesh, sizeof identity.mesh));
    HX_TRY(hx_snapshot_host(image, "run.order", &identity.order, sizeof identity.order));
    HX_TRY(hx_config_settings(cfg, &settings));
    const int rc = put_snapshot_text(image, "run.settings", settings);
    free(settings);
    return rc;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Finds the line of `text` that begins like the first n bytes of `key`; NULL: none. */
static const char *find_line(const char *text, const char *key, size_t n)
{
    while (*text && strncmp(text, key, n) != 0) text = next_line(text);
    return *text ? text : NULL;
}

/* Returns 2 if an argument, or 1 if the file of this run, states the key of the line, or a group
 * with that key that the other settings lack; 0 if the value is a default. */
static int weight_of(const hx_config *cfg, const char *line, const char *other)
{
    char key[256];
    const size_t n = strcspn(line, " ");
    if (n >= sizeof key) return 0;
    memcpy(key, line, n);
    key[n] = '\0';
    for (char *dot; !hx_config_given(cfg, key); *dot = '\0') {
        dot = strrchr(key, '.');
        if (!dot || find_line(other, key, (size_t)(dot - key) + 1)) return 0;
    }
    return hx_config_is_argument(cfg, key) ? 2 : 1;
}

typedef struct difference {
    const char *then, *now; /* the two lines; NULL: those settings have none */
    int weight;
} difference;

static int is_same_line(const char *a, const char *b)
{
    const size_t n = strcspn(a, "\n");
    return n == strcspn(b, "\n") && strncmp(a, b, n) == 0;
}

/* 1 for a member of a list's entries: "loads[].set". */
static int is_of_list(const char *line)
{
    return memchr(line, '[', strcspn(line, " \n")) != NULL;
}

static void take_difference(difference *found, const char *then, const char *now, int weight)
{
    if (weight > found->weight) *found = (difference){then, now, weight};
}

/* Takes a setting outside lists that `text` has and `other` lacks, or that has another value
 * there. */
static void find_difference(const hx_config *cfg, const char *text, const char *other, int is_now,
                            difference *found)
{
    for (const char *line = text; *line; line = next_line(line)) {
        const char *const there = find_line(other, line, strcspn(line, "=") + 1);
        if (is_of_list(line) || (there && is_same_line(line, there))) continue;
        if (is_now)
            take_difference(found, there, line, weight_of(cfg, line, other));
        else if (!there)
            take_difference(found, line, NULL, 1);
    }
}

static const char *next_of_list(const char *line)
{
    while (*line && !is_of_list(line)) line = next_line(line);
    return line;
}

/* Takes the first line in which the entries of lists differ. Users state all values of such
 * entries. */
static void find_list_difference(const char *then, const char *now, difference *found)
{
    for (;;) {
        then = next_of_list(then);
        now = next_of_list(now);
        if (!*then && !*now) return;
        if (!*then || !*now || !is_same_line(then, now)) break;
        then = next_line(then);
        now = next_line(now);
    }
    take_difference(found, *then ? then : NULL, *now ? now : NULL, 1);
}

static int length_of(const char *line)
{
    return line ? (int)strcspn(line, "\n") : (int)strlen("nothing");
}

/* HX_EINPUT with a setting that differs: the first that the user changed if there is one, since
 * defaults of others may follow from it. */
static int compare_settings(const hx_config *cfg, const char *path, const char *then,
                            const char *now)
{
    difference found = {.weight = -1};
    if (strcmp(then, now) == 0) return HX_OK;
    find_difference(cfg, now, then, 1, &found);
    find_difference(cfg, then, now, 0, &found);
    find_list_difference(then, now, &found);
    return HX_RAISE(HX_EINPUT,
                    "%s: the checkpoint is from a run with '%.*s', and this one has '%.*s'; "
                    "`hextop help run` lists what may change",
                    path, length_of(found.then), found.then ? found.then : "nothing",
                    length_of(found.now), found.now ? found.now : "nothing");
}

static int check_hash(hx_snapshot *image, const char *name, const hx_hash *now, const char *what)
{
    hx_hash then;
    HX_TRY(hx_snapshot_host(image, name, &then, sizeof then));
    if (then.a == now->a && then.b == now->b) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: the checkpoint belongs to %s", image->path, what);
}

static int check_word(hx_snapshot *image, const char *name, const char *now)
{
    char *then;
    HX_TRY(hx_checkpoint_text(image, name, &then));
    const int rc =
        strcmp(then, now) == 0
            ? HX_OK
            : HX_RAISE(HX_EINPUT,
                       "%s: the checkpoint is from a run with %s '%s', and this one has '%s'",
                       image->path, name + strlen("run."), then, now);
    free(then);
    return rc;
}

/* Warns of each differing property of the machine on which the last bits depend; the run is resumed
 * nevertheless. */
static void warn_machine(const char *path, char *then, const char *now)
{
    char *rest = then;
    for (; *now; now += strcspn(now, "\n"), now += *now == '\n') {
        const char *const line = strtok_r(rest, "\n", &rest);
        const size_t n = strcspn(now, "\n");
        char own[256] = "";
        if (!line || (strlen(line) == n && strncmp(line, now, n) == 0)) continue;
        memcpy(own, now, n < sizeof own ? n : sizeof own - 1);
        hx_log_warning("%s is from a run with %s, and this one has %s: the last digits may differ "
                       "from those of an uninterrupted run",
                       path, line, own);
    }
}

/* Older files do not contain this. */
static int check_machine(hx_snapshot *image, const hx_session *s)
{
    char *then, now[HX_MACHINE_TEXT];
    if (!hx_snapshot_has(image, "run.machine")) return HX_OK;
    HX_TRY(hx_checkpoint_text(image, "run.machine", &then));
    if (s->solver.op_kind->deterministic)
        warn_machine(image->path, then, hx_machine_text(&s->device, now));
    free(then);
    return HX_OK;
}

static int check_identity(hx_snapshot *image, hx_session *s)
{
    const hx_config *cfg = &s->cfg;
    hx_identity identity;
    char *then = NULL, *now = NULL;
    int rc;
    HX_TRY(hx_identity_of(s, &identity));
    HX_TRY(check_hash(image, "run.mesh", &identity.mesh, "another mesh"));
    HX_TRY_FAIL(hx_checkpoint_text(image, "run.settings", &then));
    HX_TRY_FAIL(hx_config_settings(cfg, &now));
    HX_TRY_FAIL(compare_settings(cfg, image->path, then, now));
    HX_TRY_FAIL(check_hash(image, "run.order", &identity.order,
                           "the same mesh in another order: whether processes create only their "
                           "parts of it (mesh.in_parts under mpirun) must be as it was"));
    HX_TRY_FAIL(check_word(image, "run.operator", cfg->solver.op));
    HX_TRY_FAIL(check_word(image, "run.layout", hx_layout_name(cfg->solver.layout)));
    HX_TRY_FAIL(check_word(image, "run.preconditioner", cfg->solver.preconditioner));
    HX_TRY_FAIL(check_machine(image, s));
fail:
    free(then);
    free(now);
    return rc;
}

/* --- timings and counts --- */

enum { N_COUNT = 5, N_SECONDS = HX_N_STAGE + 4, N_LAST = 12 };

/* Copies between the statistics and flat arrays. Of the last iteration, only the values that are
 * needed later are copied. */
static void pack_stats(const hx_stats *stats, int64_t count[N_COUNT], double seconds[N_SECONDS],
                       double last[N_LAST])
{
    const hx_iteration *it = &stats->last;
    const int64_t c[N_COUNT] = {stats->n_iteration, stats->pcg_iterations, stats->n_fell_back,
                                stats->n_unconverged, stats->n_missed};
    const double l[N_LAST] = {it->iteration,      it->objective,     it->compliance,
                              it->volume,         it->volume_missed, it->change,
                              it->penalty,        it->beta,          it->climbing,
                              it->pcg_iterations, it->pcg_residual,  it->greyness};
    memcpy(count, c, sizeof c);
    memcpy(last, l, sizeof l);
    memcpy(seconds, stats->stage, sizeof stats->stage);
    seconds[HX_N_STAGE] = stats->spmv;
    seconds[HX_N_STAGE + 1] = stats->precond;
    seconds[HX_N_STAGE + 2] = hx_clock() - stats->begin;
    seconds[HX_N_STAGE + 3] = stats->first_product;
}

/* Adds the stored values to a run that has just been set up, so that seconds accumulate. */
static void unpack(hx_stats *stats, const int64_t count[N_COUNT], const double seconds[N_SECONDS],
                   const double last[N_LAST])
{
    hx_iteration *it = &stats->last;
    stats->n_iteration = (int)count[0];
    stats->pcg_iterations = count[1];
    stats->n_fell_back = (int)count[2];
    stats->n_unconverged = (int)count[3];
    stats->n_missed = (int)count[4];
    for (int i = 0; i < HX_N_STAGE; i++) stats->stage[i] += seconds[i];
    stats->spmv = seconds[HX_N_STAGE];
    stats->precond = seconds[HX_N_STAGE + 1];
    stats->begin -= seconds[HX_N_STAGE + 2];
    stats->first_product = seconds[HX_N_STAGE + 3];
    it->iteration = (int)last[0];
    it->objective = last[1];
    it->compliance = last[2];
    it->volume = last[3];
    it->volume_missed = (int)last[4];
    it->change = last[5];
    it->penalty = last[6];
    it->beta = last[7];
    it->climbing = (int)last[8];
    it->pcg_iterations = (int)last[9];
    it->pcg_residual = last[10];
    it->greyness = last[11];
    it->reason = HX_PCG_CONVERGED;
}

/* HX_EINPUT: the numbers are impossible, although the checksums are right. */
static int check_stats(const hx_snapshot *image, const int64_t count[N_COUNT],
                       const double last[N_LAST], int capacity)
{
    static const int whole[] = {0, 4, 8, 9}; /* positions of integers among the values of pack() */
    int is_sane = 1;
    for (int i = 0; i < N_COUNT; i++) is_sane &= count[i] >= 0 && (i == 1 || count[i] <= INT_MAX);
    for (int i = 0; i < 4; i++) is_sane &= last[whole[i]] >= 0.0 && last[whole[i]] <= INT_MAX;
    if (!is_sane)
        return HX_RAISE(HX_EINPUT, "%s: the checkpoint is damaged: it contains impossible counts",
                        image->path);
    if (count[0] <= capacity) return HX_OK;
    return HX_RAISE(
        HX_EINPUT, "%s: the checkpoint has %lld %s, more than optimization.iterations = %d",
        image->path, (long long)count[0], hx_noun(count[0], "iteration", "iterations"), capacity);
}

/* Comes after the counts, which contain n_iteration. */
static int lists(hx_snapshot *image, hx_stats *stats, int n_case)
{
    HX_TRY(hx_snapshot_host(image, "run.iterations' seconds", stats->iteration_seconds,
                            (size_t)stats->n_iteration * sizeof(double)));
    return hx_snapshot_host(image, "run.cases' iterations", stats->case_iterations,
                            (size_t)n_case * sizeof(int64_t));
}

/* Numbers of corrections by an exact product, if any were made. */
static int refinements(hx_snapshot *image, hx_stats *stats)
{
    static const char name[] = "run.refinements";
    int64_t count[2] = {stats->n_refinement, stats->n_took_exact};
    const int is_there =
        image->mode == HX_SNAPSHOT_SAVE ? count[0] + count[1] > 0 : hx_snapshot_has(image, name);
    if (!is_there) return HX_OK;
    HX_TRY(hx_snapshot_host(image, name, count, sizeof count));
    if (count[0] < 0 || count[1] < 0 || count[1] > INT_MAX)
        return HX_RAISE(HX_EINPUT, "%s: the checkpoint is damaged: it contains impossible counts",
                        image->path);
    stats->n_refinement = count[0];
    stats->n_took_exact = (int)count[1];
    return HX_OK;
}

/* What else decides whether the last design has converged, if it is known. */
static int optimality(hx_snapshot *image, hx_session *s, hx_stats *stats)
{
    static const char name[] = "run.optimality";
    double value[3] = {stats->last.kkt, stats->last.violation, s->first_kkt};
    const int is_there = image->mode == HX_SNAPSHOT_SAVE ? value[0] > 0.0 || value[1] > 0.0
                                                         : hx_snapshot_has(image, name);
    if (!is_there) return HX_OK;
    HX_TRY(hx_snapshot_host(image, name, value, sizeof value));
    stats->last.kkt = value[0];
    stats->last.violation = value[1];
    s->first_kkt = value[2];
    return HX_OK;
}

static int put_stats(hx_snapshot *image, hx_session *s, hx_stats *stats)
{
    int64_t count[N_COUNT];
    double seconds[N_SECONDS], last[N_LAST];
    pack_stats(stats, count, seconds, last);
    HX_TRY(hx_snapshot_host(image, "run.counts", count, sizeof count));
    HX_TRY(hx_snapshot_host(image, "run.seconds", seconds, sizeof seconds));
    HX_TRY(hx_snapshot_host(image, "run.last", last, sizeof last));
    if (stats->last.pcg_error > 0.0) /* estimated with only one of the criteria */
        HX_TRY(hx_snapshot_host(image, "run.error", &stats->last.pcg_error, sizeof(double)));
    HX_TRY(refinements(image, stats));
    HX_TRY(optimality(image, s, stats));
    return lists(image, stats, s->problem.cases.n);
}

static int get_stats(hx_snapshot *image, hx_session *s, hx_stats *stats)
{
    int64_t count[N_COUNT];
    double seconds[N_SECONDS], last[N_LAST];
    HX_TRY(hx_snapshot_host(image, "run.counts", count, sizeof count));
    HX_TRY(hx_snapshot_host(image, "run.seconds", seconds, sizeof seconds));
    HX_TRY(hx_snapshot_host(image, "run.last", last, sizeof last));
    HX_TRY(check_stats(image, count, last, stats->capacity));
    unpack(stats, count, seconds, last);
    if (hx_snapshot_has(image, "run.error"))
        HX_TRY(hx_snapshot_host(image, "run.error", &stats->last.pcg_error, sizeof(double)));
    HX_TRY(refinements(image, stats));
    HX_TRY(optimality(image, s, stats));
    return lists(image, stats, s->problem.cases.n);
}

/* --- the files written so far --- */

static int put_series(hx_snapshot *image, const hx_output *out)
{
    char *text = NULL;
    hx_text_stream list;
    HX_TRY(hx_text_stream_open(&list, "checkpoint"));
    for (size_t i = 0; i < out->n_file; i++)
        fprintf(list.stream, "%d %s\n", (int)out->time[i], out->file[i]);
    HX_TRY(hx_text_stream_close(&list, &text, NULL));
    const int rc = put_snapshot_text(image, "run.files", text);
    free(text);
    return rc;
}

static int get_series(hx_snapshot *image, hx_output *out)
{
    char *text, name[64];
    int time, n_read, rc = HX_OK;
    HX_TRY(hx_checkpoint_text(image, "run.files", &text));
    for (const char *c = text; rc == HX_OK && sscanf(c, "%d %63s%n", &time, name, &n_read) == 2;
         c += n_read)
        rc = hx_output_remember(out, name, time);
    free(text);
    return rc;
}

/* --- all --- */

static int put_run(hx_snapshot *image, const hx_checkpoint_parts *parts)
{
    hx_session *s = parts->session;
    char *history;
    size_t n;
    HX_TRY(put_identity(image, s));
    HX_TRY(put_stats(image, s, parts->stats));
    HX_TRY(put_series(image, parts->output));
    HX_TRY(hx_read_file(parts->history, &history, &n));
    const void *p = history;
    const int rc = hx_snapshot_borrow(image, "run.history", &p, &n);
    free(history);
    return rc;
}

int hx_checkpoint_put(hx_snapshot *image, const hx_checkpoint_parts *parts)
{
    hx_session *const s = parts->session;
    HX_TRY(hx_session_agree(s, hx_session_is_first(s) ? put_run(image, parts) : HX_OK));
    return hx_optimizer_snapshot(&s->opt, image);
}

static int get_run(hx_snapshot *image, const hx_checkpoint_parts *parts, char **history,
                   size_t *n_history)
{
    hx_session *s = parts->session;
    HX_TRY(check_identity(image, s));
    HX_TRY(get_stats(image, s, parts->stats));
    HX_TRY(get_series(image, parts->output));
    HX_TRY(hx_checkpoint_text(image, "run.history", history));
    *n_history = strlen(*history);
    return HX_OK;
}

int hx_checkpoint_get(hx_snapshot *image, const hx_checkpoint_parts *parts, char **history,
                      size_t *n_history)
{
    hx_session *const s = parts->session;
    HX_TRY(hx_session_agree(s, hx_session_is_first(s) ? get_run(image, parts, history, n_history)
                                                      : HX_OK));
    HX_TRY(hx_optimizer_snapshot(&s->opt, image));
    return hx_session_agree(s, hx_snapshot_check_all(image));
}
