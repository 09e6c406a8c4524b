#include "vtk_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"

static const size_t type_size[] = {
    [HX_VTK_F64] = 8, [HX_VTK_F32] = 4, [HX_VTK_I32] = 4, [HX_VTK_U8] = 1};

int hx_fields_add(hx_fields *fields, const hx_mesh *mesh, hx_vtk_where where, hx_vtk_type type,
                  int n_comp, const char *name, void *data)
{
    const size_t n = (size_t)(where == HX_VTK_POINT ? mesh->n_node : mesh->n_elem);
    char *own_name = NULL;
    void *own_data = NULL;
    HX_TRY(hx_grow(&fields->field, fields->n, &fields->capacity, sizeof *fields->field, "fields"));
    HX_TRY(hx_strdup(&own_name, name));
    const int rc =
        fields->planning ? HX_OK : hx_alloc(&own_data, n * (size_t)n_comp, type_size[type], name);
    if (rc < 0) {
        free(own_name);
        return rc;
    }
    fields->bytes += n * (size_t)n_comp * type_size[type];
    fields->field[fields->n++] = (hx_vtk_field){own_name, where, type, n_comp, own_data};
    memcpy(data, &own_data, sizeof own_data);
    return HX_OK;
}

const char *hx_fields_case_name(const char *name, int c, char *text, size_t n_text)
{
    if (c == 0)
        snprintf(text, n_text, "%s", name);
    else
        snprintf(text, n_text, "%s_%d", name, c + 1);
    return text;
}

int hx_fields_add_sets(hx_fields *fields, const hx_mesh *mesh)
{
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *set = &mesh->set[i];
        char name[256];
        int32_t *flag = NULL;
        snprintf(name, sizeof name, "set_%.200s", set->name);
        HX_TRY(hx_fields_add(fields, mesh, HX_VTK_POINT, HX_VTK_I32, 1, name, &flag));
        for (int64_t k = 0; flag && k < set->n_node; k++) flag[set->node[k]] = 1;
        if (set->n_elem == 0) continue;
        HX_TRY(hx_fields_add(fields, mesh, HX_VTK_CELL, HX_VTK_I32, 1, name, &flag));
        for (int64_t k = 0; flag && k < set->n_elem; k++) flag[set->elem[k]] = 1;
    }
    return HX_OK;
}

void hx_fields_free(hx_fields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        free((char *)(uintptr_t)fields->field[i].name);
        free((void *)(uintptr_t)fields->field[i].data);
    }
    free(fields->field);
    memset(fields, 0, sizeof *fields);
}
