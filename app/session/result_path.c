#define _XOPEN_SOURCE 700 /* realpath */

#include "result_path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/input_file.h"
#include "core/base/memory.h"

static const char series_name[] = "density.vtk.series";

/* Length of the folder in a path, with its slash. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Joins the first n bytes of a folder's name and a name. */
static int join_path(const char *folder, size_t n, const char *name, char **path)
{
    const int needs_slash = n > 0 && folder[n - 1] != '/';
    const size_t size = n + strlen(name) + 2;
    HX_TRY(hx_alloc(path, size, 1, "file name"));
    snprintf(*path, size, "%.*s%s%s", (int)n, folder, needs_slash ? "/" : "", name);
    return HX_OK;
}

static int is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* 1 if path/name/density.vtk.series exists. */
static int holds_series(const char *path, const char *name)
{
    char *folder = NULL, *series = NULL;
    int found = 0;
    if (name[0] != '.' && join_path(path, strlen(path), name, &folder) == HX_OK &&
        join_path(folder, strlen(folder), series_name, &series) == HX_OK)
        found = access(series, R_OK) == 0;
    free(folder);
    free(series);
    return found;
}

/* Finds a hint for a folder without a series: a design, or the folder of a run in it. */
static void find_hint(const char *path, char *hint, size_t n_hint)
{
    char file[256] = "", folder[256] = "";
    DIR *const dir = opendir(path);
    const struct dirent *entry;
    const char *const slash = path[strlen(path) - 1] == '/' ? "" : "/";
    while (dir && (entry = readdir(dir))) {
        const char *const name = entry->d_name, *const end = strrchr(name, '.');
        if (end && strcmp(end, ".vtk") == 0 && strcmp(name, file) > 0)
            snprintf(file, sizeof file, "%s", name);
        if (holds_series(path, name)) snprintf(folder, sizeof folder, "%s", name);
    }
    if (dir) closedir(dir);
    if (file[0])
        snprintf(hint, n_hint, "; name a file: %s%s%s", path, slash, file);
    else if (folder[0])
        snprintf(hint, n_hint, "; there is one in %s%s%s", path, slash, folder);
    else
        snprintf(hint, n_hint, "; name the output.directory of a `hextop run`");
}

static int read_text(const char *path, char **text)
{
    enum { MOST = 1 << 26 };
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    *text = NULL;
    if (!f) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, why);
    int rc = HX_RAISE(HX_EINPUT, "%s: too large to be a list of files", path);
    const long n = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : MOST;
    if (n >= 0 && n < MOST) rc = hx_alloc(text, (size_t)n + 1, 1, "list of files");
    rewind(f);
    if (rc == HX_OK && fread(*text, 1, (size_t)n, f) != (size_t)n)
        rc = HX_RAISE(HX_EINPUT, "cannot read '%s': %s", path, strerror(errno));
    fclose(f);
    return rc;
}

/* Extracts the JSON string that begins at a quote, in place; NULL: it does not end. */
static char *take_string(char *quote)
{
    char *to = quote;
    for (const char *from = quote + 1; *from; from++) {
        if (*from == '"') {
            *to = '\0';
            return quote;
        }
        if (*from == '\\' && from[1]) from++;
        *to++ = *from;
    }
    return NULL;
}

/* The last "name" of a series; NULL: there is none. Destroys the text behind it. */
static char *last_name(char *text)
{
    static const char key[] = "\"name\"";
    char *last = NULL;
    for (char *at = strstr(text, key); at; at = strstr(at, key)) {
        at += strlen(key);
        at += strspn(at, " \t\r\n");
        if (*at != ':') continue;
        at += 1 + strspn(at + 1, " \t\r\n");
        if (*at == '"') last = at;
    }
    return last ? take_string(last) : NULL;
}

/* Finds the last file of the series, in the same folder. */
static int follow_series(const char *series, hx_result_path *result)
{
    char *text = NULL, **const file = &result->file;
    HX_TRY(hx_strdup(&result->series, series));
    int rc = read_text(series, &text);
    const char *const name = rc == HX_OK ? last_name(text) : NULL;
    if (rc == HX_OK && !name)
        rc = HX_RAISE(HX_EINPUT, "%s: not a list of files as `hextop run` writes it", series);
    if (rc == HX_OK)
        rc = name[0] == '/' ? hx_strdup(file, name)
                            : join_path(series, folder_length(series), name, file);
    if (rc == HX_OK && access(*file, R_OK) != 0)
        rc = HX_RAISE(HX_EINPUT, "cannot read '%s', which %s names: %s", *file, series,
                      strerror(errno));
    free(text);
    return rc;
}

static int find_file(const char *named, hx_result_path *result)
{
    static const char ending[] = ".series";
    const size_t n = strlen(named);
    if (is_folder(named)) {
        char *series = NULL, hint[PATH_MAX + 512];
        HX_TRY(join_path(named, strlen(named), series_name, &series));
        int rc = HX_OK;
        if (access(series, F_OK) != 0) {
            find_hint(named, hint, sizeof hint);
            rc = HX_RAISE(HX_EINPUT, "'%s' is a folder without a %s%s", named, series_name, hint);
        } else {
            rc = follow_series(series, result);
        }
        free(series);
        return rc;
    }
    if (access(named, R_OK) != 0)
        return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", named, strerror(errno));
    if (n > strlen(ending) && strcmp(named + n - strlen(ending), ending) == 0)
        return follow_series(named, result);
    return hx_strdup(&result->file, named);
}

int hx_result_locate(hx_result_path *result, const char *named)
{
    memset(result, 0, sizeof *result);
    int rc = find_file(named, result);
    if (rc == HX_OK)
        rc = join_path(result->file, folder_length(result->file), "config.cfg", &result->config);
    if (rc == HX_OK && access(result->config, F_OK) == 0) return HX_OK;
    free(result->config);
    result->config = NULL;
    if (rc < 0) hx_result_path_free(result);
    return rc;
}

void hx_result_path_free(hx_result_path *result)
{
    free(result->file);
    free(result->config);
    free(result->series);
    memset(result, 0, sizeof *result);
}

int hx_path_seen_from(const char *from, const char *file, char **shown)
{
    char *folder = NULL;
    const size_t n_folder = folder_length(from);
    HX_TRY(n_folder ? join_path(from, n_folder, "", &folder) : hx_strdup(&folder, "."));
    errno = 0;
    char *const base = realpath(folder, NULL);
    char *const whole = errno == ENOMEM ? NULL : realpath(file, NULL);
    const size_t n = base ? strlen(base) : 0;
    const int is_below = base && whole && strncmp(base, whole, n) == 0 && whole[n] == '/';
    const int rc =
        errno == ENOMEM
            ? HX_RAISE(HX_ENOMEM, "%s: no memory for its path; end other programs and try again",
                       file)
            : hx_strdup(shown, !whole     ? file
                               : is_below ? whole + n + 1
                                          : whole);
    free(folder);
    free(base);
    free(whole);
    return rc;
}
