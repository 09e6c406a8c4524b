#include "checkpoint.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../text/log.h"
#include "checkpoint_parts.h"
#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/memory.h"

/* With interval "auto", checkpoints are so rare that the run takes at most 1 % longer. The first
 * one is due after 100 times the time that writing the file to a slow disk would take. */
#define AUTO_FACTOR 100.0
#define SLOW_DISK 2e8 /* bytes per second */
#define LEAST_WAIT 60.0

static int set_paths(hx_checkpoint *c, const char *directory)
{
    char path[PATH_MAX];
    if (c->path) return HX_OK;
    snprintf(path, sizeof path, "%s/%s", directory, HX_CHECKPOINT_FILE);
    HX_TRY(hx_strdup(&c->path, path));
    snprintf(path, sizeof path, "%s/%s", directory, HX_CHECKPOINT_PREVIOUS);
    return hx_strdup(&c->previous, path);
}

/* Sets the time of the first checkpoint. */
static void set_due(hx_checkpoint *c, const hx_session *s)
{
    const double expected = (double)hx_session_checkpoint_bytes(s) / SLOW_DISK;
    const double wait = fmax(AUTO_FACTOR * expected, LEAST_WAIT);
    c->due = hx_clock() + (isnan(c->interval) ? wait : c->interval);
}

int hx_checkpoint_open(hx_checkpoint *c, const hx_checkpoint_parts *parts, int is_resumed)
{
    const hx_config *cfg = &parts->session->cfg;
    c->interval = 60.0 * cfg->output.checkpoint;
    HX_TRY(set_paths(c, cfg->output.directory));
    if (!is_resumed && hx_session_is_first(parts->session)) {
        unlink(c->path);
        unlink(c->previous);
    }
    set_due(c, parts->session);
    return HX_OK;
}

int hx_checkpoint_exists(const hx_checkpoint *c)
{
    return c->n_written > 0 || c->is_writing || access(c->path, F_OK) == 0;
}

/* --- writing --- */

/* Gives the last checkpoint a second name before the new one replaces it, so that there is always a
 * checkpoint under its own name. On a file system without hard links there is none for a moment. If
 * the name is a symbolic link, the second name is made for its target, since a copy of the link
 * would lead to the new file. If the target is on another disk, this is impossible, and the last
 * checkpoint is not kept. */
static void keep_previous(const hx_checkpoint *c)
{
    struct stat info;
    unlink(c->previous);
    if (lstat(c->path, &info) != 0) return;
    if (S_ISLNK(info.st_mode)) {
        char *target = NULL;
        if (hx_atomic_file_target(c->path, &target) == HX_OK && link(target, c->previous) != 0)
            errno = 0;
        free(target);
        hx_error_clear();
    } else if (link(c->path, c->previous) != 0 && errno != ENOENT) {
        rename(c->path, c->previous);
    }
}

static void *write_thread(void *context)
{
    hx_checkpoint *c = context;
    const double begin = hx_clock();
    keep_previous(c);
    c->rc = hx_snapshot_write(&c->image, c->path);
    if (c->rc < 0) snprintf(c->message, sizeof c->message, "%s", hx_error_message());
    c->written = hx_clock() - begin;
    c->is_written = 1;
    return NULL;
}

static void conclude(hx_checkpoint *c)
{
    c->seconds = c->copied + c->written;
    if (isnan(c->interval)) c->due = hx_clock() + fmax(AUTO_FACTOR * c->seconds, LEAST_WAIT);
    if (c->rc < 0) {
        hx_log_warning("no checkpoint was written: %s", c->message);
        return;
    }
    struct stat info;
    const double bytes = stat(c->path, &info) == 0 ? (double)info.st_size : 0.0;
    c->n_written++;
    hx_log_detail("checkpoint: %.3g MB copied in %.3g s, written in %.3g s while the run continued",
                  1e-6 * bytes, c->copied, c->written);
}

/* Waits for the thread. If its checkpoint failed, the previous one is kept. The time of the next
 * one depends on how long this one took. */
static void join_checkpoint(hx_checkpoint *c)
{
    if (!c->is_writing) return;
    pthread_join(c->thread, NULL);
    c->is_writing = 0;
    conclude(c);
}

/* Copies all parts, on all processes, and starts a thread that writes them on the first; without a
 * thread, writes them here. Failures are warned of. */
static void begin_checkpoint(hx_checkpoint *c, const hx_checkpoint_parts *parts)
{
    const double now = hx_clock();
    hx_snapshot_begin(&c->image, HX_SNAPSHOT_SAVE);
    c->rc = hx_checkpoint_put(&c->image, parts);
    c->copied = hx_clock() - now;
    c->is_written = 0;
    if (c->rc < 0) {
        snprintf(c->message, sizeof c->message, "%s", hx_error_message());
        hx_snapshot_free(&c->image);
        conclude(c);
        return;
    }
    if (!hx_session_is_first(parts->session)) return;
    c->is_writing = pthread_create(&c->thread, NULL, write_thread, c) == 0;
    if (c->is_writing) return;
    write_thread(c);
    conclude(c);
}

int hx_checkpoint_is_due(hx_checkpoint *c)
{
    if (c->is_writing && c->is_written) join_checkpoint(c);
    return c->interval != 0.0 && hx_clock() >= c->due && !c->is_writing;
}

void hx_checkpoint_begin(hx_checkpoint *c, const hx_checkpoint_parts *parts)
{
    begin_checkpoint(c, parts);
    if (!isnan(c->interval)) c->due = hx_clock() + c->interval;
}

int hx_checkpoint_write(hx_checkpoint *c, const hx_checkpoint_parts *parts)
{
    join_checkpoint(c);
    begin_checkpoint(c, parts);
    join_checkpoint(c);
    return c->rc;
}

/* --- reading --- */

static int take_word(hx_checkpoint *c, const char *name, char **word)
{
    char *text;
    if (!hx_config_is_auto(*word)) return HX_OK;
    HX_TRY(hx_checkpoint_text(&c->image, name, &text));
    const int rc = hx_config_set_word(word, text);
    free(text);
    return rc;
}

/* Reports what is wrong with the last checkpoint, and whether the previous one is complete. */
static int offer_previous(const hx_checkpoint *c, int rc)
{
    char message[HX_MESSAGE_SIZE];
    hx_snapshot previous = {0};
    snprintf(message, sizeof message, "%s", hx_error_message());
    const int usable = hx_snapshot_read(&previous, c->previous) == HX_OK;
    hx_snapshot_free(&previous);
    if (usable)
        return HX_RAISE(
            rc, "%s; the checkpoint before it is complete: rename %s to %s to continue from there",
            message, c->previous, c->path);
    return HX_RAISE(rc, "%s", message);
}

/* Compares the keys of the mesh with the config. This must be done before the mesh is made: a mesh
 * made by gmsh is kept in the folder, and a mesh of another size must not replace it. */
static int compare_mesh(hx_checkpoint *c, const hx_config *cfg)
{
    static const char group[] = "mesh.";
    char *then = NULL, *now = NULL;
    int rc;
    HX_TRY_FAIL(hx_checkpoint_text(&c->image, "run.settings", &then));
    HX_TRY_FAIL(hx_config_settings(cfg, &now));
    for (char *line = strtok(now, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, group, strlen(group)) != 0) continue;
        const char *const same = strstr(then, line);
        const size_t n = strlen(line);
        if (same && (same == then || same[-1] == '\n') && (same[n] == '\n' || same[n] == '\0'))
            continue;
        rc = HX_RAISE(HX_EINPUT, "%s: the checkpoint belongs to another mesh, not to '%s'", c->path,
                      line);
        break;
    }
fail:
    free(then);
    free(now);
    return rc;
}

int hx_checkpoint_read(hx_checkpoint *c, hx_config *cfg)
{
    HX_TRY(set_paths(c, cfg->output.directory));
    const int exists = access(c->path, F_OK) == 0, before = access(c->previous, F_OK) == 0;
    if (!exists && !before)
        return HX_RAISE(HX_EINPUT,
                        "%s: there is no checkpoint to continue from: a run writes one on a signal "
                        "and every output.checkpoint minutes",
                        c->path);
    const int rc = hx_snapshot_read(&c->image, exists ? c->path : c->previous);
    if (rc < 0) return offer_previous(c, rc);
    HX_TRY(compare_mesh(c, cfg));
    HX_TRY(take_word(c, "run.operator", &cfg->solver.op));
    return take_word(c, "run.preconditioner", &cfg->solver.preconditioner);
}

int hx_checkpoint_load(hx_checkpoint *c, const hx_checkpoint_parts *parts, char **history,
                       size_t *n_history)
{
    hx_snapshot_begin(&c->image, HX_SNAPSHOT_LOAD);
    HX_TRY(hx_checkpoint_get(&c->image, parts, history, n_history));
    hx_snapshot_free(&c->image);
    return HX_OK;
}

/* The number in "density_0060.vtk"; 0: another name. */
static int iteration_of(const char *name)
{
    int iteration = 0;
    return sscanf(name, "density_%d", &iteration) == 1 && iteration > 0 ? iteration : 0;
}

int hx_checkpoint_command(const char *result, int n, char *text, size_t n_text)
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *const slash = result ? strrchr(result, '/') : NULL;
    if (!slash || slash == result || (size_t)(slash - result) + 32 > sizeof folder) return 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - result), result);
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - result), result, HX_CHECKPOINT_FILE);
    if (access(path, R_OK) != 0) return 0;
    snprintf(path, sizeof path, "%.*s/config.cfg", (int)(slash - result), result);
    if (access(path, R_OK) != 0) return 0;
    return hx_diag_resume_command(folder, iteration_of(slash + 1) + n, text, n_text);
}

void hx_checkpoint_free(hx_checkpoint *c)
{
    join_checkpoint(c);
    hx_snapshot_free(&c->image);
    free(c->path);
    free(c->previous);
    memset(c, 0, sizeof *c);
}
