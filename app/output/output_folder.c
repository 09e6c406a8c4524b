/* The output directory of a run: whether it can be written, and the names in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/atomic_file.h"
#include "core/base/links.h"
#include "core/comm/comm_file.h"
#include "output_dist.h"
#include "trace.h"

static int cannot_write(const hx_config *cfg, const char *path, const char *why)
{
    const int rc =
        HX_RAISE(HX_EENV, "cannot write to '%s': %s; name a folder that can be created or written",
                 path, why);
    if (!cfg->output_option) return hx_config_blame(cfg, "output.directory", rc);
    hx_error_prefix("%s: ", cfg->output_option);
    return rc;
}

/* Cuts off the last component of a path; the result is "." if nothing is left. */
static void to_parent(char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n > 0 && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    if (n == 0)
        strcpy(path, ".");
    else
        path[n] = '\0';
}

int hx_output_find_folder(const hx_config *cfg, char *path, struct stat *status)
{
    const char *directory = cfg->output.directory;
    if (strlen(directory) + 64 >= PATH_MAX)
        return cannot_write(cfg, directory, "the name is too long");
    snprintf(path, PATH_MAX, "%s", directory);
    while (stat(path, status) != 0) {
        if (errno != ENOENT || strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
            return cannot_write(cfg, directory, strerror(errno));
        to_parent(path);
    }
    return HX_OK;
}

/* Returns 1 if the name is that of a file that a run or `hextop compare` writes. */
static int is_output(const char *name)
{
    static const char *const own[] = {
        "config.cfg",         "history.csv", "run.log",          "summary.json",
        "density.vtk.series", HX_TRACE_FILE, "checkpoint.state", "checkpoint.previous.state"};
    static const char *const numbered[] = {"density_", "unfinished_"}, compare[] = "compare";
    if (strncmp(name, compare, strlen(compare)) == 0) return 1;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0) return 1;
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        const size_t n = strlen(numbered[i]);
        if (strncmp(name, numbered[i], n) != 0) continue;
        if (strcmp(name + n + strspn(name + n, "0123456789"), ".vtk") == 0) return 1;
    }
    return 0;
}

/* HX_EENV: another user's link has the name of a file that the run writes. */
static int check_links(const char *directory)
{
    char path[PATH_MAX];
    int rc = HX_OK;
    DIR *const dir = opendir(directory);
    for (const struct dirent *entry; dir && rc == HX_OK && (entry = readdir(dir));) {
        if (!is_output(entry->d_name)) continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path)
            rc = hx_link_check_way(path);
    }
    if (dir) closedir(dir);
    return rc;
}

int hx_output_probe(const hx_config *cfg)
{
    char path[PATH_MAX];
    struct stat status;
    HX_TRY(hx_output_find_folder(cfg, path, &status));
    if (!S_ISDIR(status.st_mode)) return cannot_write(cfg, path, "it is a file, not a folder");
    if (access(path, W_OK | X_OK) != 0) return cannot_write(cfg, path, strerror(errno));
    int rc = hx_link_check_way(cfg->output.directory);
    if (rc == HX_OK) rc = check_links(cfg->output.directory);
    return rc < 0 ? hx_config_blame(cfg, "output.directory", rc) : HX_OK;
}

int hx_output_query_folder(hx_session *s)
{
    char path[PATH_MAX];
    struct stat status;
    int is_shared, found;
    if (!s->comm) return HX_OK;
    /* the folder need not exist on a follower */
    found = hx_output_find_folder(&s->cfg, path, &status) == HX_OK;
    if (!found) hx_error_clear();
    HX_TRY(hx_comm_shares_folder(s->comm, found ? path : "", &is_shared));
    s->own_folders = !is_shared;
    return HX_OK;
}

/* mkdir -p */
static int make_directory(const hx_config *cfg)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", cfg->output.directory);
    for (char *c = path + 1;; c++) {
        if (*c != '/' && *c != '\0') continue;
        const char kept = *c;
        *c = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return cannot_write(cfg, path, strerror(errno));
        *c = kept;
        if (kept == '\0') return HX_OK;
    }
}

/* Writes and removes a small file. */
static int test_write(const hx_config *cfg)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.hextop.%ld", cfg->output.directory, (long)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return cannot_write(cfg, cfg->output.directory, strerror(errno));
    const int failed = write(fd, "\n", 1) != 1 || close(fd) != 0 ? errno : 0;
    unlink(path);
    return failed ? cannot_write(cfg, cfg->output.directory, strerror(failed)) : HX_OK;
}

int hx_output_make_directory(const hx_config *cfg)
{
    HX_TRY(make_directory(cfg));
    return test_write(cfg);
}

const char *hx_output_path(const hx_output *out, const char *name, char *text, size_t n_text)
{
    const size_t n = strlen(out->directory);
    snprintf(text, n_text, "%s%s%s", out->directory, n && out->directory[n - 1] == '/' ? "" : "/",
             name);
    return text;
}

int hx_output_reset(const hx_output *out)
{
    static const char *const written[] = {"summary.json", "density.vtk.series"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        HX_TRY(hx_atomic_file_empty(hx_output_path(out, written[i], path, sizeof path), "{}\n"));
    hx_output_path(out, HX_TRACE_FILE, path, sizeof path);
    if (out->session->cfg.output.timeline) return hx_atomic_file_empty(path, "{}\n");
    hx_atomic_file_remove(path);
    return HX_OK;
}
