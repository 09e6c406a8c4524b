#define _XOPEN_SOURCE 700 /* realpath */
/* Tries of `hextop lightest`: the limits of the search, by which a try is judged. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../session/limits.h"
#include "../text/json_read.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "verify.h"

static const char folder_begin[] = "try-";

/* 1 if a file is in a folder try-N. */
static int is_in_try(const char *file)
{
    char *const path = realpath(file, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    int is_try = 0;
    if (slash) {
        *slash = '\0'; /* path is the folder */
        slash = strrchr(path, '/');
        is_try = slash && strncmp(slash + 1, folder_begin, strlen(folder_begin)) == 0;
    }
    free(path);
    return is_try;
}

int hx_verify_find_search(hx_verify *v)
{
    static const char search[] = "lightest.json";
    char path[PATH_MAX];
    const char *const slash = strrchr(v->result, '/');
    const char *folder = slash; /* where the name of the try's folder begins */
    int n;
    if (!is_in_try(v->result)) return HX_OK;
    while (folder && folder > v->result && folder[-1] != '/') folder--;
    if (!slash)
        n = snprintf(path, sizeof path, "../%s", search);
    else if (strncmp(folder, folder_begin, strlen(folder_begin)) == 0)
        n = snprintf(path, sizeof path, "%.*s%s", (int)(folder - v->result), v->result, search);
    else
        n = snprintf(path, sizeof path, "%.*s/../%s", (int)(slash - v->result), v->result, search);
    if (n >= (int)sizeof path || access(path, F_OK) != 0) return HX_OK;
    return hx_strdup(&v->search, path);
}

/* 1 if an argument KEY=VALUE states bounds. */
static int states_bounds(const hx_verify *v)
{
    static const char key[] = "optimization.constraints";
    for (size_t i = 0; i < v->n_override; i++)
        if (strncmp(v->override[i], key, strlen(key)) == 0) return 1;
    return 0;
}

static int is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Gives a limit the bounds of the search, and appends to v->of_run those that the run had. */
static void take_bounds(hx_verify *v, hx_constraint_spec *spec, const hx_json_value *limit)
{
    const double max = hx_json_number_at(limit, "max"), min = hx_json_number_at(limit, "min");
    const size_t used = strlen(v->of_run);
    char text[160];
    if (!is_same(max, spec->max) || !is_same(min, spec->min))
        hx_fit(v->of_run + used, sizeof v->of_run - used, "%s%s %s", used > 0 ? "; " : "",
               spec->name,
               hx_bound_text(spec->max, spec->min, hx_response_unit_text(&v->session, spec->kind),
                             text, sizeof text));
    spec->max = max;
    spec->min = min;
    v->is_by_search = 1;
}

int hx_verify_take_search(hx_verify *v)
{
    hx_limits *const limits = &v->session.limits;
    hx_json_tree tree = {0};
    if (!v->search || states_bounds(v)) return HX_OK;
    HX_TRY(hx_json_read(&tree, v->search));
    const hx_json_value *const list = hx_json_at(tree.root, "limits");
    for (const hx_json_value *l = list ? list->first : NULL; l; l = l->next)
        for (int i = 0; i < limits->n; i++)
            if (strcmp(limits->spec[i].name, hx_json_text_at(l, "name", "")) == 0)
                take_bounds(v, &limits->spec[i], l);
    hx_json_free(&tree);
    return HX_OK;
}
