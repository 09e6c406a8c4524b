#include "output_names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../config/config_source.h"
#include "core/base/atomic_file.h"
#include "core/base/links.h"

void hx_output_names_add(hx_output_names *names, const char *name)
{
    if (name && names->n < HX_OUTPUT_NAMES_MAX) names->name[names->n++] = name;
}

int hx_output_names_probe(const hx_output_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *const name = names->name[i], *const slash = strrchr(name, '/');
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - name) + 1 : 1,
                 slash ? name : ".");
        if (access(folder, W_OK | X_OK) != 0)
            return HX_RAISE(HX_EINPUT, "cannot write '%s': %s: %s", name, folder, strerror(errno));
        HX_TRY(hx_link_check_way(name));
    }
    return HX_OK;
}

static int check_pair(const char *name, const char *other)
{
    const int meet = hx_atomic_file_meet(name, other);
    if (meet <= 0) return meet;
    if (strcmp(name, other) == 0)
        return HX_RAISE(HX_EINPUT, "'%s' is named for two files: give each a name of its own",
                        name);
    return HX_RAISE(HX_EINPUT, "'%s' and '%s' are the same file: give each a name of its own",
                    other, name);
}

static int is_config(const char *name)
{
    static const char ending[] = ".cfg";
    const size_t n = strlen(name);
    struct stat info;
    return n >= sizeof ending - 1 && strcmp(name + n - (sizeof ending - 1), ending) == 0 &&
           stat(name, &info) == 0 && S_ISREG(info.st_mode);
}

int hx_output_names_check(const hx_output_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (is_config(names->name[i]))
            return HX_RAISE(HX_EINPUT,
                            "'%s' is a config, which is not replaced: give the output "
                            "another name",
                            names->name[i]);
        for (size_t j = 0; j < i; j++) HX_TRY(check_pair(names->name[i], names->name[j]));
    }
    return HX_OK;
}

int hx_output_names_check_input(const hx_output_names *names, const char *input, const char *what)
{
    for (size_t i = 0; input && i < names->n; i++)
        if (hx_atomic_file_is(names->name[i], input))
            return HX_RAISE(HX_EINPUT,
                            "'%s' is the file that is read (%s): give the output another name",
                            names->name[i], what);
    return HX_OK;
}

int hx_output_names_check_result(const hx_output_names *names, const hx_result_path *result)
{
    HX_TRY(hx_output_names_check_input(names, result->file, "the result"));
    HX_TRY(hx_output_names_check_input(names, result->series, "the series of the result"));
    return hx_output_names_check_input(names, result->config, "the config of the result's run");
}

/* The config is read once more, for the names of the files that it includes. */
static int check_included(const hx_output_names *names, const char *config)
{
    hx_config_source source = {0};
    struct stat info;
    if (stat(config, &info) != 0 || !S_ISREG(info.st_mode)) return HX_OK;
    int rc = hx_config_source_open(&source, NULL, config);
    for (size_t i = 1; rc == HX_OK && i < source.n_file; i++)
        rc = hx_output_names_check_input(names, source.file[i], "a file that the config includes");
    hx_config_source_free(&source);
    return rc;
}

static int check_initial(const hx_output_names *names, const char *path)
{
    hx_result_path result;
    int rc = hx_result_locate(&result, path);
    if (rc == HX_EINPUT) { /* which the command reports if it reads the file */
        hx_error_clear();
        return HX_OK;
    }
    if (rc == HX_OK) rc = hx_output_names_check_input(names, result.file, "optimization.initial");
    hx_result_path_free(&result);
    return rc;
}

int hx_output_names_check_config(const hx_output_names *names, const hx_config *cfg)
{
    char *path = NULL;
    int rc = HX_OK;
    if (names->n == 0) return HX_OK;
    HX_TRY(hx_output_names_check_input(names, cfg->path, "the config"));
    HX_TRY(check_included(names, cfg->path));
    if (cfg->mesh.file) {
        HX_TRY(hx_config_resolve_path(cfg, cfg->mesh.file, &path));
        rc = hx_output_names_check_input(names, path, "mesh.file");
        free(path);
    }
    if (rc < 0 || !cfg->optimization.initial) return rc;
    HX_TRY(hx_config_resolve_path(cfg, cfg->optimization.initial, &path));
    rc = check_initial(names, path);
    free(path);
    return rc;
}
