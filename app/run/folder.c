#define _XOPEN_SOURCE 700 /* realpath */

#include "folder.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../session/result_path.h"
#include "../text/json_read.h"
#include "../text/log.h"
#include "checkpoint.h"
#include "core/base/atomic_file.h"
#include "core/base/grow.h"
#include "core/base/input_file.h"
#include "core/base/memory.h"

static void in_folder(const hx_config *cfg, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", cfg->output.directory, name);
}

/* Returns 1 if the first line of a file shows that it is a config resolved by hextop. */
static int is_resolved(const char *path)
{
    char line[PATH_MAX + 128] = ""; /* room for the path of a config, and words */
    FILE *const f = hx_input_open(path, NULL);
    const int has_line = f && fgets(line, sizeof line, f);
    if (f) fclose(f);
    return has_line && strstr(line, " as hextop ") != NULL;
}

/* 1 if the status in the summary of a run is "done". */
static int is_done(const char *summary)
{
    hx_json_tree tree = {0};
    const int done = hx_json_read(&tree, summary) == HX_OK &&
                     strcmp(hx_json_text_at(tree.root, "status", ""), "done") == 0;
    hx_json_free(&tree);
    hx_error_clear(); /* a run without a summary did not end */
    return done;
}

static int blame(const hx_config *cfg, int rc)
{
    return hx_config_blame(cfg, "output.directory", rc);
}

static int check_config(const hx_config *cfg)
{
    char path[PATH_MAX];
    in_folder(cfg, "config.cfg", path);
    if (access(path, F_OK) != 0 || is_resolved(path)) return HX_OK;
    return blame(cfg, HX_RAISE(HX_EINPUT,
                               "%s is not a config that hextop wrote, and the resolved config "
                               "would replace it: name another folder, or add --force",
                               path));
}

static int check_checkpoint(const hx_config *cfg)
{
    char path[PATH_MAX], summary[PATH_MAX];
    in_folder(cfg, HX_CHECKPOINT_FILE, path);
    in_folder(cfg, "summary.json", summary);
    if (access(path, F_OK) != 0 || is_done(summary)) return HX_OK;
    return blame(cfg, HX_RAISE(HX_EINPUT,
                               "%s is from a run that did not end: continue it with --resume, name "
                               "another folder, or add --force, which removes the checkpoint",
                               path));
}

/* The iteration in the name of a result; -1: another name. */
static long iteration_of(const char *name)
{
    static const char stem[] = "density_";
    if (strncmp(name, stem, strlen(stem)) != 0) return -1;
    name += strlen(stem);
    if (!isdigit((unsigned char)*name)) return -1;
    return strcmp(name + strspn(name, "0123456789"), ".vtk") == 0 ? strtol(name, NULL, 10) : -1;
}

static int is_result(const char *name)
{
    return iteration_of(name) >= 0;
}

/* Returns 1 if the contents of `path` are lost once `name` is replaced. A hard link preserves
 * them. */
static int is_lost_with(const char *path, const char *name)
{
    struct stat status;
    if (!hx_atomic_file_is(path, name)) return 0;
    if (stat(path, &status) != 0 || status.st_nlink < 2) return 1;
    char *const a = realpath(path, NULL), *const b = realpath(name, NULL);
    const int is_same = !a || !b || strcmp(a, b) == 0;
    free(a);
    free(b);
    return is_same;
}

/* Returns 1 if a design of the run can replace the file, directly or through links. The run may end
 * before its last iteration. */
static int is_replaced(const hx_config *cfg, const char *path)
{
    char there[PATH_MAX];
    int found = 0;
    DIR *const dir = opendir(cfg->output.directory);
    const struct dirent *entry;
    while (dir && !found && (entry = readdir(dir))) {
        const long iteration = iteration_of(entry->d_name);
        if (iteration < 0 || iteration > cfg->optimization.iterations) continue;
        in_folder(cfg, entry->d_name, there);
        found = is_lost_with(path, there);
    }
    if (dir) closedir(dir);
    return found;
}

/* Finds the file that a key of the config names; the key may name a folder or a series. *path =
 * NULL: there is none, and the session will raise that error. The caller frees *path. */
static int find_input(const hx_config *cfg, const char *written, int is_of_result, char **path)
{
    char *named = NULL;
    hx_result_path result;
    *path = NULL;
    if (!written) return HX_OK;
    HX_TRY(hx_config_resolve_path(cfg, written, &named));
    if (!is_of_result) {
        *path = named;
        return HX_OK;
    }
    const int rc = hx_result_locate(&result, named);
    free(named);
    if (rc == HX_OK) {
        *path = result.file;
        result.file = NULL;
        hx_result_path_free(&result);
    } else if (rc == HX_EINPUT) {
        hx_error_clear();
        return HX_OK;
    }
    return rc;
}

/* Handles a file that is read and can be replaced: with force a warning, otherwise HX_EINPUT. */
static int check_input(const hx_config *cfg, const char *key, const char *written, int is_of_result,
                       int force)
{
    char *path = NULL;
    int rc = HX_OK;
    HX_TRY(find_input(cfg, written, is_of_result, &path));
    if (path && is_replaced(cfg, path)) {
        if (force)
            hx_log_warning("%s: %s has the name of a file that the run writes; once it is "
                           "replaced, %s/config.cfg does not repeat this run",
                           key, path, cfg->output.directory);
        else
            rc = hx_config_blame(cfg, key,
                                 HX_RAISE(HX_EINPUT,
                                          "%s has the name of a file that the run writes, and "
                                          "would be replaced: name another output.directory, or "
                                          "add --force, after which config.cfg does not repeat "
                                          "the run",
                                          path));
    }
    free(path);
    return rc;
}

int hx_run_check_folder(const hx_config *cfg, int force)
{
    if (!force) HX_TRY(check_config(cfg));
    if (!force) HX_TRY(check_checkpoint(cfg));
    HX_TRY(check_input(cfg, "mesh.file", cfg->mesh.file, 0, force));
    return check_input(cfg, "optimization.initial", cfg->optimization.initial, 1, force);
}

/* --- files of an earlier run --- */

/* Returns 1 if the file in the folder is one that this run reads. */
static int is_read(const hx_config *cfg, const char *path)
{
    /* these paths are absolute here */
    const char *const used[] = {cfg->mesh.file, cfg->optimization.initial};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (used[i] && hx_atomic_file_is(used[i], path)) return 1;
    return 0;
}

static void remove_file(const hx_config *cfg, const char *name)
{
    char path[PATH_MAX];
    in_folder(cfg, name, path);
    if (!is_read(cfg, path)) hx_atomic_file_remove(path);
}

/* 1 if a run that does all its iterations writes density_NNNN.vtk. */
static int will_write(const hx_config *cfg, const char *name)
{
    const int last = cfg->optimization.iterations, every = cfg->output.every;
    const long n = iteration_of(name);
    return n == last || (n < last && every > 0 && n % every == 0);
}

static int keep_name(hx_run_leftovers *left, const char *name)
{
    HX_TRY(hx_resize(&left->name, left->n, left->n + 1, sizeof(char *), "names of files"));
    HX_TRY(hx_strdup(&left->name[left->n], name));
    left->n++;
    return HX_OK;
}

/* Removes results that are listed in the series. Other files with such names may belong to the
 * user. */
static int remove_series(const hx_config *cfg, hx_run_leftovers *left)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    int rc = HX_OK;
    in_folder(cfg, "density.vtk.series", path);
    if (access(path, F_OK) == 0 && hx_json_read(&tree, path) == HX_OK) {
        const hx_json_value *const files = hx_json_at(tree.root, "files");
        for (const hx_json_value *v = files ? files->first : NULL; v && rc == HX_OK; v = v->next) {
            const char *const name = hx_json_text_at(v, "name", "");
            if (!is_result(name)) continue;
            if (will_write(cfg, name))
                rc = keep_name(left, name);
            else
                remove_file(cfg, name);
        }
    }
    hx_json_free(&tree);
    if (rc == HX_OK) hx_error_clear(); /* without a readable series, nothing is listed */
    return rc;
}

/* Removes the output of `hextop verify` and `hextop surface` for the earlier result. */
static void remove_verification(const hx_config *cfg)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    in_folder(cfg, "verify.json", path);
    if (access(path, F_OK) == 0 && hx_json_read(&tree, path) == HX_OK &&
        hx_json_at(tree.root, "black_white") && hx_json_at(tree.root, "versions.hextop"))
        hx_atomic_file_remove(path);
    hx_json_free(&tree);
    in_folder(cfg, "surface.json", path);
    if (access(path, F_OK) == 0 && hx_json_read(&tree, path) == HX_OK &&
        hx_json_at(tree.root, "members_cut") && hx_json_at(tree.root, "versions.hextop"))
        hx_atomic_file_remove(path);
    hx_json_free(&tree);
    hx_error_clear();
}

/* Returns 1 if one of the first 16 lines contains the text; a line may have at most 512 bytes. */
static int has_line(const char *path, const char *text)
{
    char line[512];
    int found = 0;
    FILE *const f = hx_input_open(path, NULL);
    for (int i = 0; f && !found && i < 16 && fgets(line, sizeof line, f); i++)
        found = strstr(line, text) != NULL;
    if (f) fclose(f);
    return found;
}

static void remove_report(const hx_config *cfg)
{
    char path[PATH_MAX];
    in_folder(cfg, "report.html", path);
    if (has_line(path, "<meta name=\"generator\" content=\"hextop ")) hx_atomic_file_remove(path);
}

int hx_run_clear_folder(const hx_config *cfg, hx_run_leftovers *left)
{
    HX_TRY(remove_series(cfg, left));
    remove_verification(cfg);
    remove_report(cfg);
    return HX_OK;
}

void hx_run_clear_rest(const hx_config *cfg, const hx_run_leftovers *left, const hx_output *out)
{
    for (size_t i = 0; i < left->n; i++) {
        size_t k = 0;
        while (k < out->n_file && strcmp(out->file[k], left->name[i]) != 0) k++;
        if (k == out->n_file) remove_file(cfg, left->name[i]);
    }
}

void hx_run_leftovers_free(hx_run_leftovers *left)
{
    for (size_t i = 0; i < left->n; i++) free(left->name[i]);
    free(left->name);
    memset(left, 0, sizeof *left);
}
