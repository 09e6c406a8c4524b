/* The parts of a search, and the names of its files. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "lightest.h"

const char *hx_lightest_vary_word(size_t i)
{
    static const char *const word[] = {
        [HX_LIGHTEST_LIMITS] = "limits", [HX_LIGHTEST_VOLUME] = "volume", NULL};
    return word[i];
}

const hx_config_constraint *hx_lightest_constraint(const hx_lightest *l, size_t i)
{
    const hx_config_constraint *const list = l->cfg.optimization.constraints.entry;
    return &list[i];
}

int hx_lightest_try_create(const hx_lightest *l, hx_lightest_try *t)
{
    memset(t, 0, sizeof *t);
    HX_TRY(hx_alloc(&t->max, l->n_constraint, sizeof(double), "tries"));
    return hx_alloc(&t->min, l->n_constraint, sizeof(double), "tries");
}

void hx_lightest_try_free(hx_lightest_try *t, int n_limit)
{
    free(t->error);
    free(t->max);
    free(t->min);
    for (int d = 0; d < HX_N_LIGHTEST_DESIGN; d++) free(t->value[d]);
    for (int i = 0; i < n_limit && t->unknown; i++) free(t->unknown[i]);
    free(t->unknown);
    memset(t, 0, sizeof *t);
}

const char *hx_lightest_path(const hx_lightest *l, int number, const char *name, char *text)
{
    snprintf(text, PATH_MAX, "%s/try-%d%s%s", l->folder, number, name[0] ? "/" : "", name);
    return text;
}

int hx_lightest_has_mass(const hx_lightest *l)
{
    return !isnan(l->cfg.material.density) &&
           (l->cfg.materials.n == 0 || l->made == HX_LIGHTEST_SURFACE);
}

double hx_lightest_amount(const hx_lightest *l, const hx_lightest_try *t)
{
    return hx_lightest_has_mass(l) ? t->mass : t->volume;
}

int hx_lightest_is_of_amount(const hx_lightest *l, size_t constraint)
{
    const char *const kind = hx_lightest_constraint(l, constraint)->kind;
    return strcmp(kind, "volume") == 0 || strcmp(kind, "mass") == 0;
}

void hx_lightest_free(hx_lightest *l)
{
    for (int i = 0; i < l->n_most && l->tries; i++) hx_lightest_try_free(&l->tries[i], l->n_limit);
    free(l->tries);
    for (int i = 0; i < l->n_limit; i++) {
        free(l->limit[i].name);
        free(l->limit[i].unit);
    }
    free(l->limit);
    free(l->settings);
    free(l->mesh);
    hx_config_free(&l->cfg);
    memset(l, 0, sizeof *l);
}
