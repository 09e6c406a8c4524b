#define _XOPEN_SOURCE 700 /* realpath */
/* Reads the folder of a run, and notes missing files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../config/config.h"
#include "../text/log.h"
#include "core/base/fit.h"
#include "core/base/input_file.h"
#include "core/base/text_stream.h"
#include "report.h"

void hx_report_say(hx_report_lines *lines, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    if (lines->n >= HX_REPORT_MAX_NOTE) return;
    va_start(args, fmt);
    char *const text = hx_fit_all(line, sizeof line, fmt, args);
    va_end(args);
    if (hx_strdup(&lines->line[lines->n], text) == HX_OK) {
        lines->n++;
    } else {
        hx_log_warning("the page lacks \"%s\": %s", text, hx_error_message());
        hx_error_clear();
    }
    if (text != line) free(text);
}

static char *join_run_path(const hx_report_run *run, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.3000s/%.900s", run->folder, name);
    return path;
}

static int is_there(const hx_report_run *run, const char *name)
{
    char path[PATH_MAX];
    return access(join_run_path(run, name, path), F_OK) == 0;
}

/* Notes the last error as the reason why a file is missing. */
static void say_error(hx_report_run *run)
{
    hx_report_say(&run->missing, "%s", hx_error_message());
    hx_log_warning("%s", hx_error_message());
    hx_error_clear();
}

static void read_json(hx_report_run *run, const char *name, hx_json_tree *tree)
{
    char path[PATH_MAX];
    if (!is_there(run, name)) return;
    if (hx_json_read(tree, join_run_path(run, name, path)) < 0) say_error(run);
    if (!tree->root || tree->root->kind == HX_JSON_OBJECT) return;
    hx_report_say(&run->missing, "%s is not a JSON object", name);
    hx_json_free(tree);
}

/* Reads ../lightest.json of a folder try-N. */
static void read_search(hx_report_run *run)
{
    static const char begin[] = "try-";
    char *const path = realpath(run->folder, NULL);
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (slash && strncmp(slash + 1, begin, strlen(begin)) == 0)
        read_json(run, "../lightest.json", &run->search);
    free(path);
}

static void read_history(hx_report_run *run)
{
    char path[PATH_MAX];
    if (!is_there(run, "history.csv")) {
        hx_report_say(&run->missing, "There is no history.csv, so there are no plots.");
        return;
    }
    if (hx_csv_read(&run->history, join_run_path(run, "history.csv", path)) < 0) {
        say_error(run);
        return;
    }
    if (run->history.n_row == 0)
        hx_report_say(&run->missing, "No iteration is finished yet: history.csv is empty.");
}

/* Reads config.cfg in the form of the JSON object that a summary contains. */
static int parse_config(hx_report_run *run, const hx_config *cfg)
{
    char *text = NULL;
    size_t n = 0;
    hx_json json;
    hx_text_stream out;
    HX_TRY(hx_text_stream_open(&out, "settings"));
    hx_json_begin(&json, out.stream);
    hx_json_open_object(&json, NULL);
    hx_config_write_json(cfg, &json, "settings");
    hx_json_close_object(&json);
    HX_TRY(hx_text_stream_close(&out, &text, &n));
    const int rc = hx_json_parse(&run->settings, "settings", text, n);
    free(text);
    return rc;
}

/* Reads settings and units from the config, if there is no summary with them. */
static int read_run_config(hx_report_run *run, const hx_output_names *outputs)
{
    char path[PATH_MAX];
    int rc = HX_OK;
    hx_config cfg;
    memset(&cfg, 0, sizeof cfg);
    if (!is_there(run, "config.cfg")) {
        hx_report_say(&run->missing, "There is no config.cfg.");
        return HX_OK;
    }
    if (hx_config_read(&cfg, join_run_path(run, "config.cfg", path), 0, NULL) < 0)
        say_error(run);
    else {
        rc = hx_output_names_check_config(outputs, &cfg);
        run->units = cfg.units;
        run->is_heat = hx_config_is_heat(&cfg);
        if (rc == HX_OK && !run->summary.root && parse_config(run, &cfg) < 0) say_error(run);
    }
    hx_config_free(&cfg);
    return rc;
}

/* --- densities --- */

static int set_result(hx_report_run *run, const char *name)
{
    char path[PATH_MAX];
    free(run->result);
    run->result = NULL;
    return hx_strdup(&run->result, join_run_path(run, name, path));
}

/* Finds the last file in the series of this run, if it exists. */
static int find_in_series(hx_report_run *run)
{
    char path[PATH_MAX];
    hx_json_tree tree;
    if (!is_there(run, "density.vtk.series")) return HX_OK;
    if (hx_json_read(&tree, join_run_path(run, "density.vtk.series", path)) < 0) {
        hx_error_clear(); /* if it cannot be read, the folder is searched instead */
        return HX_OK;
    }
    const hx_json_value *files = hx_json_at(tree.root, "files");
    const char *last = NULL;
    for (const hx_json_value *v = files ? files->first : NULL; v; v = v->next) {
        const char *const name = hx_json_text_at(v, "name", NULL);
        if (name && !strchr(name, '/') && is_there(run, name)) last = name;
    }
    const int rc = last ? set_result(run, last) : HX_OK;
    hx_json_free(&tree);
    return rc;
}

/* The number in a name such as density_0010.vtk; -1: another name. */
static long density_number(const char *name)
{
    static const char prefix[] = "density_";
    char *end;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return -1;
    const long number = strtol(name + sizeof prefix - 1, &end, 10);
    return end > name + sizeof prefix - 1 && strcmp(end, ".vtk") == 0 && number >= 0 ? number : -1;
}

/* 1 if verify wrote the .vtk file, as its title shows. */
static int is_verified(const hx_report_run *run, const char *name)
{
    static const char title[] = "hextop verify";
    char path[PATH_MAX], line[64] = "";
    const size_t n = strlen(name);
    if (n < 4 || strcmp(name + n - 4, ".vtk") != 0) return 0;
    FILE *const f = hx_input_open(join_run_path(run, name, path), NULL);
    if (!f) return 0;
    const int two = fgets(line, sizeof line, f) && fgets(line, sizeof line, f);
    fclose(f);
    return two && strncmp(line, title, sizeof title - 1) == 0;
}

static time_t changed(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mtime : 0;
}

/* Keeps the newest of the files that verify wrote. */
static int look_at_file(hx_report_run *run, const char *name, long *most)
{
    char path[PATH_MAX];
    const long number = density_number(name);
    if (number > *most) {
        *most = number;
        return set_result(run, name);
    }
    if (number >= 0 || !is_verified(run, name)) return HX_OK;
    join_run_path(run, name, path);
    if (run->stress && changed(run->stress) >= changed(path)) return HX_OK;
    free(run->stress);
    run->stress = NULL;
    return hx_strdup(&run->stress, path);
}

/* --- state --- */

/* 1 if a running hextop holds the lock of history.csv. */
static int is_held(const hx_report_run *run)
{
    char path[PATH_MAX];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(join_run_path(run, "history.csv", path), O_RDONLY | O_NONBLOCK);
    if (fd < 0) return 0;
    const int known = fcntl(fd, F_GETLK, &lock) == 0;
    close(fd);
    return known && lock.l_type != F_UNLCK;
}

static hx_run_state find_state(hx_report_run *run)
{
    if (is_held(run)) return HX_RUN_GOING;
    const char *const status = hx_json_text_at(run->summary.root, "status", "");
    if (strcmp(status, "done") == 0) return HX_RUN_DONE;
    if (strcmp(status, "interrupted") == 0) return HX_RUN_INTERRUPTED;
    if (strcmp(status, "failed") == 0) return HX_RUN_FAILED;
    if (run->summary.root)
        hx_report_say(&run->missing, "summary.json does not contain the status of the run.");
    return HX_RUN_UNKNOWN;
}

/* HX_EINPUT: the page would replace a file of the run that is read. */
static int check_outputs(const hx_report_run *run, const hx_output_names *outputs)
{
    static const char *const name[] = {"summary.json", "verify.json", "history.csv",
                                       "run.log",      "config.cfg",  "density.vtk.series"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        HX_TRY(hx_output_names_check_input(outputs, join_run_path(run, name[i], path), name[i]));
    HX_TRY(hx_output_names_check_input(outputs, run->result, "the result"));
    return hx_output_names_check_input(outputs, run->stress, "the stresses");
}

int hx_report_read(hx_report_run *run, const char *folder, const hx_output_names *outputs)
{
    memset(run, 0, sizeof *run);
    run->folder = folder;
    struct stat status;
    if (stat(folder, &status) != 0)
        return HX_RAISE(HX_EINPUT, "cannot read '%s': %s; name the output.directory of a run",
                        folder, strerror(errno));
    if (!S_ISDIR(status.st_mode))
        return HX_RAISE(HX_EINPUT, "'%s' is not a folder; name the output.directory of a run",
                        folder);
    /* Finds the densities to show: the last ones of the series; otherwise the file with the
     * largest number. */
    int rc = HX_OK;
    long most = -1;
    DIR *const dir = opendir(run->folder);
    if (!dir) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", run->folder, strerror(errno));
    for (struct dirent *entry; rc == HX_OK && (entry = readdir(dir));)
        rc = look_at_file(run, entry->d_name, &most);
    closedir(dir);
    HX_TRY(rc);
    HX_TRY(find_in_series(run));
    if (!run->result && !is_there(run, "summary.json") && !is_there(run, "history.csv"))
        return HX_RAISE(HX_EINPUT,
                        "'%s' is not the folder of a run: it has no summary.json, history.csv or "
                        "density_*.vtk; name the output.directory of a run",
                        folder);
    HX_TRY(check_outputs(run, outputs));
    read_json(run, "summary.json", &run->summary);
    read_json(run, "verify.json", &run->verify);
    read_search(run);
    read_history(run);
    HX_TRY(read_run_config(run, outputs));
    if (strcmp(hx_json_text_at(run->summary.root, "physics", ""), "heat") == 0) run->is_heat = 1;
    run->state = find_state(run);
    if (!run->summary.root)
        hx_report_say(&run->missing,
                      "There is no summary.json%s, so results, machine and memory are taken from "
                      "the history.",
                      run->state == HX_RUN_GOING ? " yet" : "");
    if (!run->result)
        hx_report_say(&run->missing, "There is no density_*.vtk, so the part is not shown.");
    return HX_OK;
}

void hx_report_free_run(hx_report_run *run)
{
    free(run->label);
    hx_json_free(&run->summary);
    hx_json_free(&run->verify);
    hx_json_free(&run->search);
    hx_json_free(&run->settings);
    hx_csv_free(&run->history);
    free(run->result);
    free(run->stress);
    hx_surface_free(&run->part.surface);
    for (size_t i = 0; i < run->part.n_field; i++) free(run->part.field[i].value);
    for (size_t i = 0; i < run->missing.n; i++) free(run->missing.line[i]);
    for (size_t i = 0; i < run->warning.n; i++) free(run->warning.line[i]);
    memset(run, 0, sizeof *run);
}

const hx_json_value *hx_report_settings(const hx_report_run *run)
{
    const hx_json_value *const of_summary = hx_json_at(run->summary.root, "settings");
    return of_summary ? of_summary : hx_json_at(run->settings.root, "settings");
}

const char *hx_report_title(const hx_report_run *run)
{
    const char *const title = hx_json_text_at(hx_report_settings(run), "title", "");
    return title[0] ? title : run->folder;
}
