#include "numbered_materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "mesh_conditions.h"

int hx_materials_at(hx_numbered_materials *materials, int64_t number,
                    hx_numbered_material **material)
{
    size_t i = materials->last;
    if (i >= materials->n || materials->list[i].number != number)
        for (i = 0; i < materials->n && materials->list[i].number != number; i++) continue;
    if (i == materials->n) {
        HX_TRY(hx_grow(&materials->list, materials->n, &materials->capacity,
                       sizeof *materials->list, "materials of a file"));
        materials->list[materials->n++] = (hx_numbered_material){
            .number = number, .young = NAN, .poisson = NAN, .density = NAN, .conductivity = NAN};
    }
    materials->last = i;
    *material = &materials->list[i];
    return HX_OK;
}

/* Checks a used material. */
static int check_material(const hx_numbered_material *m, const char *path, hx_file_material *to)
{
    if (m->line == 0)
        return hx_set_fault(&to->fault,
                            m->number < 0
                                ? "%.300s: elements of property %lld have no material"
                                : "%.300s: elements have material %lld, which is not defined",
                            path, m->number < 0 ? -(long long)m->number : (long long)m->number);
    if (!m->fault) return HX_OK;
    return hx_set_fault(
        &to->fault,
        "%.300s:%lld: material %lld %s; only constants of an isotropic material are read", path,
        (long long)m->line, (long long)m->number, m->fault);
}

static hx_material_values values_of(const hx_numbered_material *m)
{
    return (hx_material_values){m->young, m->poisson, m->density, m->conductivity};
}

int hx_materials_differ(const hx_numbered_material *m, const hx_file_material *to)
{
    const hx_material_values first = {to->young, to->poisson, to->density, to->conductivity},
                             own = values_of(m);
    return !hx_material_values_equal(&first, &own);
}

int hx_materials_give_set(hx_numbered_materials *materials, int64_t number, const char *set,
                          hx_file_material *to)
{
    hx_numbered_material *m;
    char name[32];
    if (!to->name || to->fault) return HX_OK;
    HX_TRY(hx_materials_at(materials, number, &m));
    if (!hx_materials_differ(m, to)) return HX_OK;
    const hx_material_values own = values_of(m);
    snprintf(name, sizeof name, "%lld", (long long)number);
    return hx_file_material_add(to, name, set, &own);
}

int hx_materials_finish(const hx_numbered_materials *materials, const char *path,
                        hx_file_material *to)
{
    const hx_numbered_material *first = NULL;
    char name[32];
    for (size_t i = 0; i < materials->n; i++)
        if (materials->list[i].is_used && materials->list[i].line > 0 && !first)
            first = &materials->list[i];
    if (!first) return HX_OK;
    snprintf(name, sizeof name, "%lld", (long long)first->number);
    HX_TRY(hx_strdup(&to->name, name));
    to->young = first->young;
    to->poisson = first->poisson;
    to->density = first->density;
    to->conductivity = first->conductivity;
    for (size_t i = 0; i < materials->n; i++)
        if (materials->list[i].is_used) HX_TRY(check_material(&materials->list[i], path, to));
    return HX_OK;
}

void hx_materials_free(hx_numbered_materials *materials)
{
    for (size_t i = 0; i < materials->n; i++) hx_numbers_free(&materials->list[i].elem);
    free(materials->list);
    memset(materials, 0, sizeof *materials);
}
