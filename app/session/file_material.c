#include "file_material.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/log.h"

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

int hx_take_file_material(hx_config *cfg, const hx_file_material *m, int with_defaults)
{
    number list[N_NUMBER];
    char text[200] = "";
    const int n = list_numbers(cfg, m, list);
    if (cfg->material.from) HX_TRY(check_usable(cfg, m));
    /* the file has materials that the config cannot take */
    if (with_defaults && m->fault && m->name && !cfg->material.from && cfg->loads.n > 0)
        hx_log_warning("the material of the config is used for all elements; %s", m->fault);
    if (m->fault || !m->name) return HX_OK;
    for (int i = 0; i < n; i++) {
        warn_of_difference(cfg, m, &list[i], with_defaults);
        if (cfg->material.from) HX_TRY(take_number(cfg, m, &list[i]));
        if (!isnan(*list[i].to))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s %g%s",
                     i > 0 ? "," : "", list[i].word, *list[i].to, list[i].unit);
    }
    if (cfg->material.from)
        hx_log_info("material '%s' of %s:%s%s", m->name, cfg->mesh.file, text,
                    cfg->units.system[0] ? "" : " (in the units of the file)");
    return HX_OK;
}
