/* Supports, forces and couplings of a mesh file, in the form in which its reader collects them. */
#include "mesh_conditions.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"

int hx_import_conditions_add(hx_import_conditions *conditions, const hx_condition *condition,
                             hx_condition **added)
{
    HX_TRY(hx_grow(&conditions->list, conditions->n, &conditions->capacity,
                   sizeof *conditions->list, "supports and forces of a file"));
    *added = &conditions->list[conditions->n++];
    **added = *condition;
    memset(&(*added)->node, 0, sizeof(*added)->node);
    return HX_OK;
}

int hx_import_conditions_couple(hx_import_conditions *conditions,
                                const hx_import_coupling *coupling)
{
    HX_TRY(hx_grow(&conditions->coupling, conditions->n_coupling, &conditions->coupling_capacity,
                   sizeof *conditions->coupling, "couplings of a file"));
    conditions->coupling[conditions->n_coupling++] = *coupling;
    return HX_OK;
}

int hx_import_conditions_add_middle(hx_import_conditions *conditions, const hx_file_middle *middle)
{
    HX_TRY(hx_grow(&conditions->middle, conditions->n_middle, &conditions->middle_room,
                   sizeof *conditions->middle, "forces of a file"));
    conditions->middle[conditions->n_middle++] = *middle;
    return HX_OK;
}

int hx_set_fault(char **fault, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    if (*fault) return HX_OK;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return hx_strdup(fault, text);
}

void hx_import_conditions_free(hx_import_conditions *conditions)
{
    for (size_t i = 0; i < conditions->n; i++) hx_numbers_free(&conditions->list[i].node);
    free(conditions->list);
    free(conditions->coupling);
    free(conditions->middle);
    free(conditions->fault);
    free(conditions->support_fault);
    free(conditions->load_fault);
    memset(conditions, 0, sizeof *conditions);
}
