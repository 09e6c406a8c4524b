/* What a search reads and writes: verify.json of a try, and its own lightest.json. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../session/session.h"
#include "../text/json_read.h"
#include "core/base/atomic_file.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/text_stream.h"
#include "core/surface/surface.h"
#include "lightest.h"

static const char *const design_key[HX_N_LIGHTEST_DESIGN] = {"grey", "black_white", "surface",
                                                             "quadratic"};

static const char *search_path(const hx_lightest *l, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", l->folder, "lightest.json");
    return path;
}

/* --- summary.json and verify.json --- */

static int take_mesh(hx_lightest *l, const char *path, const char *mesh)
{
    if (!l->mesh) return hx_strdup(&l->mesh, mesh);
    if (strcmp(l->mesh, mesh) == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: the mesh is another one than in the tries before; name another "
                    "output.directory for another search",
                    path);
}

int hx_lightest_check_mesh(hx_lightest *l, int number)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    int rc = hx_json_read(&tree, hx_lightest_path(l, number, "summary.json", path));
    if (rc == HX_OK) rc = take_mesh(l, path, hx_json_text_at(tree.root, "identity.mesh", ""));
    hx_json_free(&tree);
    return rc;
}

/* Number of limits that a constraint makes, as hx_limits_create expands it. */
static int count_limits(const hx_lightest *l, size_t constraint, int n_case)
{
    const hx_config_constraint *const c = hx_lightest_constraint(l, constraint);
    if (!(hx_session_response_kind(c->kind)->takes & HX_TAKES_CASE)) return 1;
    return c->load_case.n > 0 ? (int)c->load_case.n : n_case;
}

/* Makes l->limit from the limits of the first try. */
static int make_limits(hx_lightest *l, const hx_json_value *limits, int n_case, const char *path)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_constraint; i++) n += (size_t)count_limits(l, i, n_case);
    if (!limits || limits->n != n)
        return HX_RAISE(HX_EINTERNAL, "%s: %zu limits, and the constraints make %zu", path,
                        limits ? limits->n : 0, n);
    HX_TRY(hx_alloc(&l->limit, n, sizeof *l->limit, "limits"));
    l->n_limit = (int)n;
    const hx_json_value *entry = limits->first;
    int at = 0;
    for (size_t i = 0; i < l->n_constraint; i++)
        for (int k = count_limits(l, i, n_case); k > 0; k--, at++, entry = entry->next) {
            hx_lightest_limit *const limit = &l->limit[at];
            limit->constraint = (int)i;
            HX_TRY(hx_strdup(&limit->name, hx_json_text_at(entry, "name", "")));
            HX_TRY(hx_strdup(&limit->unit, hx_json_text_at(entry, "unit", "")));
        }
    return HX_OK;
}

int hx_lightest_no_values(const hx_lightest *l, double **values)
{
    HX_TRY(hx_alloc(values, (size_t)l->n_limit, sizeof **values, "limits"));
    for (int i = 0; i < l->n_limit; i++) (*values)[i] = (double)NAN;
    return HX_OK;
}

/* Value of a limit, NAN if it is unknown; a stress on the surface is the one on finer tetrahedra
 * about it if that is larger, which another mesh may show. */
static double value_of(const hx_json_value *limit)
{
    const double value = hx_json_number_at(limit, "value");
    return isnan(value) ? value : fmax(value, hx_json_number_at(limit, "split_once"));
}

/* values[n_limit] of an analysis; NaN if it may be missing and is. */
static int read_values(const hx_lightest *l, const hx_json_value *limits, int may_miss,
                       const char *path, double **values)
{
    int i = 0;
    HX_TRY(hx_lightest_no_values(l, values));
    if (!limits && may_miss) return HX_OK;
    if (!limits || limits->n != (size_t)l->n_limit)
        return HX_RAISE(HX_EINPUT, "%s does not have the %d %s of the search", path, l->n_limit,
                        hx_noun(l->n_limit, "limit", "limits"));
    for (const hx_json_value *v = limits->first; v; v = v->next) (*values)[i++] = value_of(v);
    return HX_OK;
}

static int take_unknown(const hx_lightest *l, int i, const hx_json_value *limit, hx_lightest_try *t)
{
    const char *const text = hx_json_text_at(limit, "unknown", NULL);
    if (!t->unknown)
        HX_TRY(hx_alloc(&t->unknown, (size_t)l->n_limit, sizeof *t->unknown, "limits"));
    return text ? hx_strdup(&t->unknown[i], text) : HX_OK;
}

/* at: where root has the limits of each design; NULL: nowhere. */
static int take_verified(hx_lightest *l, const hx_json_value *root, const char *path,
                         const char *const at[HX_N_LIGHTEST_DESIGN], hx_lightest_try *t)
{
    const hx_json_value *const cases = hx_json_at(root, "cases");
    if (l->n_limit == 0)
        HX_TRY(make_limits(l, hx_json_at(root, at[HX_LIGHTEST_GREY]), cases ? (int)cases->n : 1,
                           path));
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) {
        const int may_miss =
            d != HX_LIGHTEST_GREY && (t->error || (d >= HX_LIGHTEST_SURFACE && d != l->made));
        const hx_json_value *const limits = at[d] ? hx_json_at(root, at[d]) : NULL;
        HX_TRY(read_values(l, limits, may_miss, path, &t->value[d]));
        int i = 0;
        for (const hx_json_value *v = limits && d == l->made ? limits->first : NULL; v; v = v->next)
            HX_TRY(take_unknown(l, i++, v, t));
    }
    /* the tetrahedra fill the surface up to the curvature of its triangles */
    const double meshed = hx_json_number_at(root, "surface.analysis.mass") /
                          hx_json_number_at(root, "surface.volume_meshed"),
                 density = l->cfg.materials.n > 0 ? meshed : l->cfg.material.density;
    t->mass = density * t->volume;
    return HX_OK;
}

/* *volume := that enclosed by a surface; NaN: there is no such file. */
static int measure_part(const char *path, double *volume)
{
    hx_surface surface = {0};
    hx_surface_report report;
    *volume = (double)NAN;
    if (access(path, F_OK) != 0) return HX_OK;
    int rc = hx_surface_read(path, &surface);
    if (rc == HX_OK) rc = hx_surface_check(&surface, HX_SURFACE_F64, &report);
    if (rc == HX_OK) *volume = report.volume;
    hx_surface_free(&surface);
    return rc;
}

int hx_lightest_read_try(hx_lightest *l, int number, hx_lightest_try *t)
{
    static const char *const verified[HX_N_LIGHTEST_DESIGN] = {"grey.limits", "black_white.limits",
                                                               "surface.analysis.limits",
                                                               "quadratic.analysis.limits"},
                             *const unverified[HX_N_LIGHTEST_DESIGN] = {"limits"};
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    HX_TRY(measure_part(hx_lightest_path(l, number, HX_LIGHTEST_PART, path), &t->volume));
    const int has = access(hx_lightest_path(l, number, "verify.json", path), F_OK) == 0;
    if (!has) hx_lightest_path(l, number, "summary.json", path);
    int rc = hx_json_read(&tree, path);
    if (rc == HX_OK) rc = take_verified(l, tree.root, path, has ? verified : unverified, t);
    hx_json_free(&tree);
    return rc;
}

/* --- settings --- */

static const char not_given[] = "not given";

/* Values that a resumed run may change, but not a search: its tries would not be comparable. */
static void put_values(FILE *out, const hx_config *cfg)
{
    char text[64];
    const struct {
        const char *key;
        double value;
    } number[] = {
        {"optimization.iterations", cfg->optimization.iterations},
        {"optimization.change_tolerance", cfg->optimization.change_tolerance},
        {"optimization.kkt_tolerance", cfg->optimization.kkt_tolerance},
        {"solver.tolerance", cfg->solver.tolerance},
        {"solver.max_iterations", cfg->solver.max_iterations},
        {"output.threshold", cfg->output.threshold},
    };
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        fprintf(out, "%s = %s\n", number[i].key,
                isnan(number[i].value) ? not_given
                                       : hx_format_double(number[i].value, text, sizeof text));
}

/* Options of verify, which also make tries comparable. */
static void put_options(FILE *out, const hx_lightest *l)
{
    static const char *const name[] = {"--refine", "--mesher"};
    if (l->made == HX_LIGHTEST_QUADRATIC) fputs("--element = quadratic\n", out);
    for (size_t k = 0; k < sizeof name / sizeof name[0]; k++) {
        const char *given = not_given;
        for (size_t i = 0; i < l->n_pass; i += 2)
            if (strcmp(l->pass[i], name[k]) == 0) given = l->pass[i + 1];
        fprintf(out, "%s = %s\n", name[k], given);
    }
}

int hx_lightest_find_settings(hx_lightest *l)
{
    hx_text_stream out;
    char *settings;
    HX_TRY(hx_config_settings(&l->cfg, &settings));
    int rc = hx_text_stream_open(&out, "settings");
    if (rc == HX_OK) {
        fputs(settings, out.stream);
        put_values(out.stream, &l->cfg);
        put_options(out.stream, l);
        rc = hx_text_stream_close(&out, &l->settings, NULL);
    }
    free(settings);
    return rc;
}

/* --- writing --- */

static void write_values(hx_json *json, const hx_lightest *l, const hx_lightest_try *t)
{
    hx_json_open_array(json, "limits");
    for (int i = 0; i < l->n_limit; i++) {
        hx_json_open_object(json, NULL);
        hx_json_string(json, "name", l->limit[i].name);
        for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++)
            hx_json_number(json, design_key[d], t->value[d][i]);
        if (hx_lightest_is_unknown(t, i)) {
            hx_json_number(json, "usage", (double)NAN);
            hx_json_string(json, "unknown", t->unknown[i]);
        } else {
            hx_json_number(json, "usage", hx_lightest_usage(l, i, t->value[l->made][i]));
        }
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

static void write_try(hx_json *json, const hx_lightest *l, int i)
{
    const hx_lightest_try *const t = &l->tries[i];
    char folder[32];
    snprintf(folder, sizeof folder, "try-%d", i + 1);
    hx_json_open_object(json, NULL);
    hx_json_string(json, "folder", folder);
    hx_json_numbers(json, "max", l->n_constraint, t->max);
    hx_json_numbers(json, "min", l->n_constraint, t->min);
    hx_json_number(json, "volume_fraction", t->volume_fraction);
    hx_json_number(json, "volume", t->volume);
    if (hx_lightest_has_mass(l)) hx_json_number(json, "mass", t->mass);
    if (t->error) hx_json_string(json, "error", t->error);
    if (t->is_refused) hx_json_bool(json, "refused", 1);
    hx_json_open_object(json, "usage");
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) hx_json_number(json, design_key[d], t->usage[d]);
    hx_json_close_object(json);
    hx_json_string(json, "worst_limit", l->limit[t->worst].name);
    hx_json_bool(json, "met", t->made <= HX_LIGHTEST_HIGH);
    write_values(json, l, t);
    hx_json_number(json, "seconds", t->seconds);
    hx_json_close_object(json);
}

static void write_limits(hx_json *json, const hx_lightest *l)
{
    hx_json_open_array(json, "limits");
    for (int i = 0; i < l->n_limit; i++) {
        const hx_lightest_limit *const limit = &l->limit[i];
        const hx_config_constraint *const c = hx_lightest_constraint(l, (size_t)limit->constraint);
        hx_json_open_object(json, NULL);
        hx_json_string(json, "name", limit->name);
        hx_json_integer(json, "constraint", limit->constraint);
        hx_json_string(json, "unit", limit->unit[0] ? limit->unit : NULL);
        hx_json_number(json, "max", c->max);
        hx_json_number(json, "min", c->min);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

static const char *end_word(hx_lightest_end end)
{
    static const char *const word[] = {
        [HX_LIGHTEST_GOES_ON] = "goes_on", [HX_LIGHTEST_FOUND] = "found",
        [HX_LIGHTEST_TRIES] = "tries",     [HX_LIGHTEST_SAME] = "repeats",
        [HX_LIGHTEST_BRACKET] = "bracket", [HX_LIGHTEST_FULL] = "solid",
        [HX_LIGHTEST_REFUSED] = "refused", [HX_LIGHTEST_UNKNOWN] = "unknown"};
    return word[end];
}

static void write_search(hx_json *json, const hx_lightest *l, int is_over)
{
    const int kept = hx_lightest_kept(l);
    char folder[32];
    snprintf(folder, sizeof folder, "try-%d", kept + 1);
    hx_json_open_object(json, NULL);
    hx_json_string(json, "status", is_over ? "done" : "unfinished");
    hx_json_string(json, "end", is_over ? end_word(l->end) : NULL);
    hx_json_string(json, "kept", kept >= 0 ? folder : NULL);
    hx_json_string(json, "config", l->file);
    hx_json_open_array(json, "overrides");
    for (size_t i = 0; i < l->n_argument; i++) hx_json_string(json, NULL, l->argument[i]);
    hx_json_close_array(json);
    hx_json_string(json, "vary", hx_lightest_vary_word(l->vary));
    hx_json_integer(json, "started", l->started);
    hx_units_write(&l->cfg.units, json, "units");
    write_limits(json, l);
    hx_json_open_array(json, "tries");
    for (int i = 0; i < l->n_try; i++) write_try(json, l, i);
    hx_json_close_array(json);
    hx_json_string(json, "mesh", l->mesh);
    hx_json_string(json, "settings", l->settings);
    hx_json_close_object(json);
}

int hx_lightest_write(const hx_lightest *l, int is_over)
{
    char path[PATH_MAX];
    hx_atomic_file file;
    hx_json json;
    memset(&file, 0, sizeof file);
    int rc = hx_atomic_file_open(&file, search_path(l, path));
    if (rc == HX_OK) {
        hx_json_begin(&json, file.stream);
        write_search(&json, l, is_over);
        rc = hx_atomic_file_commit(&file);
    }
    hx_atomic_file_free(&file);
    return rc;
}

/* --- reading --- */

/* 0 if the search ended in its first run, for example because that was refused. */
static int has_begun(const hx_lightest *l, const hx_json_value *tries)
{
    char path[PATH_MAX];
    return (tries && tries->n > 0) ||
           access(hx_lightest_path(l, 1, "checkpoint.state", path), F_OK) == 0 ||
           access(hx_lightest_path(l, 1, "summary.json", path), F_OK) == 0;
}

int hx_lightest_check_folder(const hx_lightest *l)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    int is_open = 0;
    search_path(l, path);
    if (access(path, F_OK) == 0 && hx_json_read(&tree, path) == HX_OK)
        is_open = strcmp(hx_json_text_at(tree.root, "status", ""), "unfinished") == 0 &&
                  has_begun(l, hx_json_at(tree.root, "tries"));
    hx_json_free(&tree);
    hx_error_clear();
    if (!is_open) return HX_OK;
    return hx_config_blame(&l->cfg, "output.directory",
                           HX_RAISE(HX_EINPUT,
                                    "%s is of a search that did not end: continue it with "
                                    "--resume, name another folder, or remove this file",
                                    path));
}

/* The length of the line at text, and of its key. */
static int length_of(const char *text)
{
    return text[0] ? (int)strcspn(text, "\n") : (int)strlen("nothing");
}

/* HX_EINPUT with the first line in which two settings differ. */
static int compare_settings(const char *path, const char *then, const char *now)
{
    while (*then && *now) {
        const size_t n = strcspn(then, "\n"), m = strcspn(now, "\n");
        if (n != m || strncmp(then, now, n) != 0) break;
        then += n + (then[n] != '\0');
        now += m + (now[m] != '\0');
    }
    if (!*then && !*now) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: the search was begun with '%.*s', and this one has '%.*s'; resume "
                    "it with the former, or name another output.directory for another search",
                    path, length_of(then), *then ? then : "nothing", length_of(now),
                    *now ? now : "nothing");
}

static int read_bounds(const char *path, const hx_json_value *list, size_t n, double *value)
{
    size_t i = 0;
    if (!list || list->n != n)
        return HX_RAISE(HX_EINPUT, "%s: the bounds of a try are not those of %zu %s", path, n,
                        n == 1 ? "constraint" : "constraints");
    for (const hx_json_value *v = list->first; v; v = v->next) value[i++] = v->number;
    return HX_OK;
}

static int read_recorded(const hx_lightest *l, const char *path, const hx_json_value *v,
                         hx_lightest_try *t)
{
    const hx_json_value *const limits = hx_json_at(v, "limits");
    int i = 0;
    HX_TRY(hx_lightest_try_create(l, t));
    HX_TRY(read_bounds(path, hx_json_at(v, "max"), l->n_constraint, t->max));
    HX_TRY(read_bounds(path, hx_json_at(v, "min"), l->n_constraint, t->min));
    t->volume_fraction = hx_json_number_at(v, "volume_fraction");
    t->volume = hx_json_number_at(v, "volume");
    t->mass = hx_json_number_at(v, "mass");
    t->is_refused = hx_json_at(v, "refused") != NULL;
    t->seconds = hx_json_number_at(v, "seconds");
    if (hx_json_at(v, "error")) HX_TRY(hx_strdup(&t->error, hx_json_text_at(v, "error", "")));
    if (!limits || limits->n != (size_t)l->n_limit)
        return HX_RAISE(HX_EINPUT, "%s: a try does not have the %d %s of the search", path,
                        l->n_limit, hx_noun(l->n_limit, "limit", "limits"));
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++)
        HX_TRY(hx_alloc(&t->value[d], (size_t)l->n_limit, sizeof(double), "limits"));
    for (const hx_json_value *o = limits->first; o; o = o->next, i++)
        for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++)
            t->value[d][i] = hx_json_number_at(o, design_key[d]);
    i = 0;
    for (const hx_json_value *o = limits->first; o; o = o->next) HX_TRY(take_unknown(l, i++, o, t));
    hx_lightest_judge(l, t);
    return HX_OK;
}

static int read_limits(hx_lightest *l, const char *path, const hx_json_value *limits)
{
    int i = 0;
    if (!limits || limits->n == 0) return HX_OK;
    HX_TRY(hx_alloc(&l->limit, limits->n, sizeof *l->limit, "limits"));
    l->n_limit = (int)limits->n;
    for (const hx_json_value *v = limits->first; v; v = v->next, i++) {
        const double constraint = hx_json_number_at(v, "constraint");
        if (!(constraint >= 0.0 && constraint < (double)l->n_constraint))
            return HX_RAISE(HX_EINPUT, "%s: limit %d is of no constraint of the config", path,
                            i + 1);
        l->limit[i].constraint = (int)constraint;
        HX_TRY(hx_strdup(&l->limit[i].name, hx_json_text_at(v, "name", "")));
        HX_TRY(hx_strdup(&l->limit[i].unit, hx_json_text_at(v, "unit", "")));
    }
    return HX_OK;
}

static int read_search(hx_lightest *l, const char *path, const hx_json_value *root)
{
    const char *const vary = hx_json_text_at(root, "vary", "");
    const hx_json_value *const tries = hx_json_at(root, "tries");
    const double started = hx_json_number_at(root, "started");
    HX_TRY(compare_settings(path, hx_json_text_at(root, "settings", ""), l->settings));
    if (strcmp(vary, hx_lightest_vary_word(l->vary)) != 0)
        return HX_RAISE(HX_EINPUT, "%s: the search varies the %s: resume it with --vary %s", path,
                        vary, vary);
    HX_TRY(read_limits(l, path, hx_json_at(root, "limits")));
    if (l->n_limit > 0) HX_TRY(hx_strdup(&l->mesh, hx_json_text_at(root, "mesh", "")));
    l->started = started >= 0.0 && started < 1e6 ? (int)started : 0;
    for (const hx_json_value *v = tries ? tries->first : NULL; v; v = v->next) {
        if (l->n_try == l->n_most)
            return HX_RAISE(HX_EINPUT, "%s has %zu tries: resume it with --tries %zu or more", path,
                            tries->n, tries->n);
        HX_TRY(read_recorded(l, path, v, &l->tries[l->n_try]));
        l->n_try++;
    }
    return HX_OK;
}

int hx_lightest_read(hx_lightest *l)
{
    char path[PATH_MAX];
    hx_json_tree tree = {0};
    search_path(l, path);
    if (access(path, F_OK) != 0)
        return hx_config_blame(&l->cfg, "output.directory",
                               HX_RAISE(HX_EINPUT,
                                        "there is no %s that --resume could continue; without "
                                        "--resume the search begins",
                                        path));
    int rc = hx_json_read(&tree, path);
    if (rc == HX_OK) rc = read_search(l, path, tree.root);
    hx_json_free(&tree);
    return rc;
}
