/* Assignments to parameters of ANSYS archives. A parameter that is assigned in an undecided branch
 * has no value afterwards. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/grow.h"
#include "ansys_reader.h"

enum { MOST_PARAMETERS = 4096 };

int hx_ansys_assign(hx_ansys_reader *r, const char *name, const char *value)
{
    double number = 0.0;
    if (strlen(name) >= HX_ANSYS_NAME || strcspn(name, "(%") != strlen(name)) return HX_OK;
    hx_ansys_parameter *p = hx_ansys_find_parameter(r, name);
    if (!*value || !hx_ansys_value(r, value, &number) || hx_ansys_is_nested(r)) number = NAN;
    if (!p && (isnan(number) || r->n_parameter == MOST_PARAMETERS)) return HX_OK;
    if (!p) {
        HX_TRY(hx_grow(&r->parameter, r->n_parameter, &r->parameter_capacity, sizeof *r->parameter,
                       "parameters of a file"));
        p = &r->parameter[r->n_parameter++];
        snprintf(p->name, sizeof p->name, "%s", name);
    }
    p->value = number;
    p->is_session = 0;
    return HX_OK;
}

int hx_ansys_assign_session(hx_ansys_reader *r, const char *name)
{
    HX_TRY(hx_ansys_assign(r, name, "0"));
    hx_ansys_parameter *const p = hx_ansys_find_parameter(r, name);
    if (p) p->is_session = isfinite(p->value);
    return HX_OK;
}
