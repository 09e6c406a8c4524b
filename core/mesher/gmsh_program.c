#define _XOPEN_SOURCE 700 /* nftw */
#include "gmsh_program.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/memory.h"
#include "../base/names.h"

enum { MOST_NOTES = 4, MOST_WORDS = 32, VERSION_SECONDS = 60 };

/* --- the program --- */

static void take_version(void *context, int stream, const char *text)
{
    hx_gmsh_program *const program = context;
    (void)stream;
    if (isdigit((unsigned char)text[0]) && !program->version[0])
        snprintf(program->version, sizeof program->version, "%.31s", text);
}

int hx_gmsh_find(hx_gmsh_program *program)
{
    memset(program, 0, sizeof *program);
    hx_process_result result;
    const hx_process_options options = {
        .time_limit = VERSION_SECONDS, .line = take_version, .context = program};
    HX_TRY(hx_process_find("gmsh", &program->path));
    if (!program->path)
        return HX_RAISE(HX_EENV, "needs the program gmsh, which is not installed: 'apt-get "
                                 "install gmsh' on Debian and Ubuntu, gmsh.info elsewhere; the "
                                 "environment variable HEXTOP_GMSH names one that is not in PATH");
    const char *const argv[] = {program->path, "--version", NULL};
    int rc = hx_process_run(argv, &options, &result);
    if (rc == HX_OK && !program->version[0])
        rc = HX_RAISE(HX_EENV, "%s --version prints no version: is it gmsh?", program->path);
    if (rc < 0) hx_gmsh_release(program);
    return rc;
}

void hx_gmsh_release(hx_gmsh_program *program)
{
    free(program->path);
    memset(program, 0, sizeof *program);
}

/* --- a folder for files on the way --- */

int hx_scratch_create(char **folder)
{
    const char *const other = getenv("TMPDIR"), *const base = other && other[0] ? other : "/tmp";
    char name[64];
    /* Removes folders of killed programs that are more than a day old: the folder may be
     * shared with other machines. */
    const double day = 86400.0;
    DIR *const list = opendir(base);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        long pid = 0;
        char *path = NULL;
        struct stat info;
        if (sscanf(entry->d_name, "hextop-%ld-", &pid) != 1 || pid <= 0) continue;
        if (kill((pid_t)pid, 0) == 0 || errno != ESRCH) continue;
        if (hx_scratch_path(base, entry->d_name, &path) < 0) break;
        if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
            difftime(time(NULL), info.st_mtime) > day)
            hx_scratch_remove(path);
        else
            free(path);
    }
    if (list) closedir(list);
    snprintf(name, sizeof name, "hextop-%ld-XXXXXX", (long)getpid());
    HX_TRY(hx_scratch_path(base, name, folder));
    if (mkdtemp(*folder)) return HX_OK;
    const int rc = HX_RAISE(HX_EIO, "cannot make the folder %s: %s", *folder, strerror(errno));
    free(*folder);
    *folder = NULL;
    return rc;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    remove(path);
    return 0;
}

void hx_scratch_remove(char *folder)
{
    enum { MOST_OPEN = 8 };
    if (folder) nftw(folder, remove_one, MOST_OPEN, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

int hx_scratch_path(const char *folder, const char *name, char **path)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    HX_TRY(hx_alloc(path, n, 1, "file name"));
    snprintf(*path, n, "%s/%s", folder, name);
    return HX_OK;
}

/* --- a job --- */

typedef struct listener {
    const hx_gmsh_job *job;
    hx_notes *notes;
    hx_gmsh_result *result;
    int rc;
} listener;

/* Returns the text after "Warning :" or "Error :"; NULL: neither. */
static const char *after(const char *text, const char *word)
{
    const size_t n = strlen(word);
    if (strncmp(text, word, n) != 0) return NULL;
    text += n + strspn(text + n, " ");
    if (*text != ':') return NULL;
    return text + 1 + strspn(text + 1, " ");
}

/* Returns 1 for lines of the box at the end of gmsh's output, which counts the messages before
 * it. */
static int is_summary(const char *error)
{
    long n;
    char word[16] = "";
    return strncmp(error, "---", 3) == 0 || strncmp(error, "Mesh generation error s", 23) == 0 ||
           strncmp(error, "Check the full log", 18) == 0 ||
           (sscanf(error, "%ld %15s", &n, word) == 2 &&
            (strncmp(word, "warning", 7) == 0 || strncmp(word, "error", 5) == 0));
}

static void hear(void *context, int stream, const char *text)
{
    listener *const l = context;
    hx_gmsh_result *const r = l->result;
    const char *const warning = after(text, "Warning"), *const error = after(text, "Error");
    const int is_error = error && !is_summary(error);
    if (is_error) snprintf(r->error, sizeof r->error, "%.511s", error);
    if (is_error && r->n_error++ < MOST_NOTES && l->rc == HX_OK)
        l->rc = hx_notes_add(l->notes, HX_NOTE_WARNING, "%s: gmsh: %.300s", l->job->what, error);
    if (warning && !is_summary(warning) && r->n_warning++ < MOST_NOTES && l->rc == HX_OK)
        l->rc = hx_notes_add(l->notes, HX_NOTE_INFO, "%s: gmsh: %.300s", l->job->what, warning);
    if (l->job->line) l->job->line(l->job->context, stream, text);
}

static int is_cancelled(void *context)
{
    const listener *const l = context;
    return l->job->is_cancelled && l->job->is_cancelled(l->job->context);
}

static int judge_gmsh_run(const hx_gmsh_job *job, const hx_gmsh_result *result)
{
    char fate[128], bytes[32];
    if (result->process.exit_status == 0) return HX_OK;
    hx_process_fate(&result->process, fate, sizeof fate);
    if (result->process.is_timed_out)
        return HX_RAISE(HX_EINPUT,
                        "%s: gmsh: %s; larger elements or a longer time limit would help",
                        job->what, fate);
    if (result->process.signal == SIGABRT || result->process.signal == SIGKILL)
        return HX_RAISE(HX_EINPUT, "%s: gmsh: %s; it may have run out of memory: %s are free",
                        job->what, fate,
                        hx_format_bytes((double)hx_host_memory_available(), bytes, sizeof bytes));
    return HX_RAISE(HX_EINPUT, "%s: gmsh: %s%s%s", job->what, fate, result->n_error ? ": " : "",
                    result->error);
}

int hx_gmsh_run(const hx_gmsh_program *program, const hx_gmsh_job *job, hx_notes *notes,
                hx_gmsh_result *result)
{
    const char *argv[MOST_WORDS] = {program->path};
    listener l = {.job = job, .notes = notes, .result = result};
    /* Memory limit: all free memory, but at least what gmsh's libraries and threads map
     * without using it. */
    const double mapped = 4294967296.0, available = (double)hx_host_memory_available();
    const hx_process_options options = {.folder = job->folder,
                                        .time_limit = job->time_limit,
                                        .memory = available > 0.0 ? mapped + available : 0.0,
                                        .line = hear,
                                        .is_cancelled = is_cancelled,
                                        .context = &l};
    memset(result, 0, sizeof *result);
    for (size_t i = 0; job->option[i]; i++) {
        if (i + 2 >= MOST_WORDS) return HX_RAISE(HX_EINTERNAL, "too many options for gmsh");
        argv[i + 1] = job->option[i];
    }
    HX_TRY(hx_process_run(argv, &options, &result->process));
    const int n_warning = result->n_warning - MOST_NOTES;
    const int n_error = result->n_error - MOST_NOTES;
    HX_TRY(l.rc);
    if (n_warning > 0)
        HX_TRY(hx_notes_add(notes, HX_NOTE_INFO, "%s: gmsh: %d more %s", job->what, n_warning,
                            hx_noun(n_warning, "warning", "warnings")));
    if (n_error > 0)
        HX_TRY(hx_notes_add(notes, HX_NOTE_WARNING, "%s: gmsh: %d more %s", job->what, n_error,
                            hx_noun(n_error, "error", "errors")));
    return judge_gmsh_run(job, result);
}
