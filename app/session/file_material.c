#include "file_material.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/memory.h"

/* A number of the config, and its value in the file. */
typedef struct number {
    const char *key, *word, *unit;
    double *to;
    double from;
    int is_needed;
} number;

enum { N_NUMBER = 4 };

/* Lists the numbers of the config's physics. */
static int list_numbers(hx_config *cfg, const hx_file_material *m, number list[N_NUMBER])
{
    const int is_heat = hx_config_is_heat(cfg);
    const hx_units *const u = &cfg->units;
    const number all[N_NUMBER] = {
        {"material.E", "E", u->stress, &cfg->material.young, m->young, 1},
        {"material.nu", "nu", "", &cfg->material.poisson, m->poisson, 1},
        {"material.conductivity", "conductivity", u->conductivity, &cfg->material.conductivity,
         m->conductivity, 1},
        {"material.density", "density", u->density, &cfg->material.density, m->density, 0},
    };
    int n = 0;
    for (int i = 0; i < N_NUMBER; i++)
        if (i == 3 || is_heat == (i == 2)) list[n++] = all[i];
    return n;
}

static int blame(const hx_config *cfg, int rc)
{
    return hx_config_blame(cfg, "material.from", rc);
}

static int check_usable(const hx_config *cfg, const hx_file_material *m)
{
    if (!m->name)
        return blame(cfg, HX_RAISE(HX_EINPUT,
                                   "%s states no material; *MATERIAL with *ELASTIC of an "
                                   "Abaqus file, MP of ANSYS and MAT1 of Nastran are read",
                                   cfg->mesh.file));
    if (m->fault) return blame(cfg, HX_RAISE(HX_EINPUT, "%s", m->fault));
    return HX_OK;
}

/* Two different numbers with as many digits as distinguish them, at least six. */
static void print_apart(double a, double b, char text[2][40])
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text[0], sizeof text[0], "%.*g", digits, a);
        snprintf(text[1], sizeof text[1], "%.*g", digits, b);
        if (strcmp(text[0], text[1]) != 0) return;
    }
}

/* Warns of a number of the config that differs from the file. A default is compared only if nothing
 * is taken from the file and the config is that of an analysis. */
static void warn_of_difference(const hx_config *cfg, const hx_file_material *m, const number *n,
                               int with_defaults)
{
    const int is_given = hx_config_given(cfg, n->key);
    char text[2][40];
    if (isnan(n->from) || isnan(*n->to) || fabs(*n->to - n->from) <= 1e-9 * fabs(n->from)) return;
    print_apart(*n->to, n->from, text);
    if (is_given)
        hx_log_warning(
            "%s = %s%s of the config takes precedence; material '%s' of the mesh's file has %s%s",
            n->key, text[0], n->unit, m->name, text[1], n->unit);
    else if (with_defaults && !cfg->material.from && cfg->loads.n > 0)
        hx_log_warning("%s = %s%s, the default, is used; material '%s' of the mesh's file has "
                       "%s%s, which material.from = \"file\" takes",
                       n->key, text[0], n->unit, m->name, text[1], n->unit);
}

static int take_number(hx_config *cfg, const hx_file_material *m, const number *n)
{
    if (hx_config_given(cfg, n->key)) return HX_OK;
    if (!isnan(n->from)) *n->to = n->from;
    if (!isnan(n->from) || !n->is_needed) return HX_OK;
    return blame(
        cfg, HX_RAISE(HX_EINPUT, "material '%s' of the mesh's file has no %s", m->name, n->word));
}

/* --- several materials --- */

/* The number of the config's physics that a material must have. */
static double stiffness_of(const hx_config *cfg, const hx_material_values *of)
{
    return hx_config_is_heat(cfg) ? of->conductivity : of->young;
}

/* 1 if the config's physics does not distinguish two materials. */
static int are_alike(const hx_config *cfg, const hx_material_values *a, const hx_material_values *b)
{
    hx_material_values x = *a, y = *b;
    if (hx_config_is_heat(cfg))
        x.young = y.young = x.poisson = y.poisson = 0.0;
    else
        x.conductivity = y.conductivity = 0.0;
    return hx_material_values_equal(&x, &y);
}

static hx_material_values values_of(const hx_file_material *m)
{
    return (hx_material_values){m->young, m->poisson, m->density, m->conductivity};
}

/* Sets m->fault if the materials of the file cannot be used together. */
static int check_others(const hx_config *cfg, hx_file_material *m)
{
    const int is_heat = hx_config_is_heat(cfg);
    char text[600] = "";
    for (size_t i = 0; i < m->n_other && !m->fault && !text[0]; i++) {
        const hx_file_other_material *const other = &m->other[i];
        const hx_material_values first = values_of(m);
        if (are_alike(cfg, &first, &other->of)) continue;
        if (!is_heat && other->of.poisson != m->poisson)
            snprintf(text, sizeof text,
                     "%.200s: several materials: '%.60s' has nu %g, and '%.60s' of the set '%.60s' "
                     "has %g; all must have the same Poisson's ratio",
                     cfg->mesh.file, m->name, m->poisson, other->name, other->set,
                     other->of.poisson);
        else if (isnan(stiffness_of(cfg, &other->of)))
            snprintf(text, sizeof text, "%.200s: material '%.60s' of the set '%.60s' has no %s",
                     cfg->mesh.file, other->name, other->set, is_heat ? "conductivity" : "E");
        else if (isnan(other->of.density) != isnan(m->density))
            snprintf(text, sizeof text,
                     "%.200s: several materials: '%.60s' %s density, and '%.60s' of the set "
                     "'%.60s' %s; all or none must have one",
                     cfg->mesh.file, m->name, isnan(m->density) ? "has no" : "has a", other->name,
                     other->set, isnan(m->density) ? "has one" : "has none");
    }
    return text[0] ? hx_strdup(&m->fault, text) : HX_OK;
}

/* Entries of `materials` for the other materials of the file. */
static int list_others(const hx_config *cfg, const hx_file_material *m, hx_config_list *list)
{
    const int is_heat = hx_config_is_heat(cfg);
    const hx_material_values first = values_of(m);
    hx_config_material *entry;
    char origin[PATH_MAX + 100];
    HX_TRY(hx_alloc(&entry, m->n_other, sizeof *entry, "materials"));
    list->entry = entry;
    for (size_t i = 0; i < m->n_other; i++) {
        const hx_file_other_material *const other = &m->other[i];
        hx_config_material *const to = &entry[list->n];
        if (are_alike(cfg, &first, &other->of)) continue;
        *to = (hx_config_material){.young = is_heat ? (double)NAN : other->of.young,
                                   .density = other->of.density,
                                   .conductivity = is_heat ? other->of.conductivity : (double)NAN,
                                   .expansion = (double)NAN};
        list->n++;
        snprintf(origin, sizeof origin, "%s: material '%.60s'", cfg->mesh.file, other->name);
        HX_TRY(hx_strdup(&to->origin, origin));
        HX_TRY(hx_strdup(&to->set, other->set));
        hx_log_info("material '%s' of the set '%s': %s %g%s", other->name, other->set,
                    is_heat ? "conductivity" : "E", stiffness_of(cfg, &other->of),
                    is_heat ? cfg->units.conductivity : cfg->units.stress);
    }
    return HX_OK;
}

static void free_list(hx_config_list *list)
{
    hx_config_material *const entry = list->entry;
    for (size_t i = 0; i < list->n; i++) {
        free(entry[i].origin);
        free(entry[i].set);
    }
    free(entry);
    *list = (hx_config_list){0};
}

/* 1 if the config, like that of an earlier run, has the materials of the file. */
static int has_list(const hx_config *cfg, const hx_config_list *list)
{
    const hx_config_material *const a = cfg->materials.entry, *const b = list->entry;
    int is_same = cfg->materials.n == list->n;
    for (size_t i = 0; is_same && i < list->n; i++) {
        const hx_material_values x = {a[i].young, NAN, a[i].density, a[i].conductivity},
                                 y = {b[i].young, NAN, b[i].density, b[i].conductivity};
        is_same = strcmp(a[i].set, b[i].set) == 0 && hx_material_values_equal(&x, &y);
    }
    return is_same;
}

/* Takes the other materials of the file, unless the config has `materials`. */
static int take_others(hx_config *cfg, const hx_file_material *m)
{
    hx_config_list list = {0};
    int rc = list_others(cfg, m, &list);
    if (rc == HX_OK && list.n > 0 && cfg->materials.n == 0) {
        cfg->materials = list;
        return HX_OK;
    }
    if (rc == HX_OK && list.n > 0 && !has_list(cfg, &list))
        hx_log_warning("materials of the config takes precedence over the other materials that %s "
                       "states",
                       cfg->mesh.file);
    free_list(&list);
    return rc;
}

int hx_take_file_material(hx_config *cfg, hx_file_material *m, int with_defaults)
{
    number list[N_NUMBER];
    char text[200] = "";
    const int n = list_numbers(cfg, m, list);
    const int is_left = with_defaults && !cfg->material.from && cfg->loads.n > 0;
    if (m->name) HX_TRY(check_others(cfg, m));
    if (cfg->material.from) HX_TRY(check_usable(cfg, m));
    /* the file has materials that the config cannot take */
    if (is_left && m->fault && m->name)
        hx_log_warning("the material of the config is used for all elements; %s", m->fault);
    if (m->fault || !m->name) return HX_OK;
    if (is_left && m->n_other > 0 && cfg->materials.n == 0)
        hx_log_warning("the material of the config is used for all elements; %s states several "
                       "materials, which material.from = \"file\" takes",
                       cfg->mesh.file);
    for (int i = 0; i < n; i++) {
        warn_of_difference(cfg, m, &list[i], with_defaults && m->n_other == 0);
        if (cfg->material.from) HX_TRY(take_number(cfg, m, &list[i]));
        if (!isnan(*list[i].to))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s %g%s",
                     i > 0 ? "," : "", list[i].word, *list[i].to, list[i].unit);
    }
    if (!cfg->material.from) return HX_OK;
    hx_log_info("material '%s' of %s:%s%s", m->name, cfg->mesh.file, text,
                cfg->units.system[0] ? "" : " (in the units of the file)");
    return take_others(cfg, m);
}
