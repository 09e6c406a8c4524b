#include "zone_stresses.h"

#include <math.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/design/limit_values.h"

/* The limit on a zone instead of on its own elements. */
static hx_constraint_spec spec_in_zone(const hx_constraint_spec *of, const char *zone)
{
    hx_constraint_spec spec = *of;
    spec.params.set = zone;
    spec.params.n_exclude = 0;
    spec.params.is_lagrangian = 0;
    return spec;
}

/* *fits := 1 if the devices of all processes have the memory for hx_limit_values. */
static int find_room(hx_session *s, const hx_constraint_spec *spec, int *fits)
{
    const hx_problem *const fields = s->analysis.fields;
    const size_t bytes = hx_response_bytes(spec->kind, fields, &spec->params) +
                         3 * (size_t)fields->mesh->n_elem * sizeof(double);
    size_t n_free = 0, n_total = 0;
    HX_TRY(s->device.ops->memory(&s->device, &n_free, &n_total));
    double n_against = n_free > 0 && n_free < bytes;
    if (s->analysis.dist) HX_TRY(hx_dist_sum(s->analysis.dist, 1, &n_against));
    *fits = !(n_against > 0.0);
    return HX_OK;
}

/* Raises *largest, which stays where the zone is passive void. */
static int find_in_zone(hx_session *s, const hx_constraint_spec *of, const char *zone,
                        double *largest)
{
    const hx_constraint_spec spec = spec_in_zone(of, zone);
    hx_limit_value found = {0};
    int fits;
    HX_TRY(find_room(s, &spec, &fits));
    if (!fits) return HX_OK;
    const int rc = hx_limit_values(&s->analysis, 1, &spec, NULL, (double)NAN, &found);
    /* no element is left, of those of all processes; without other processes nothing depends on it */
    if (rc == HX_EINPUT || (rc < 0 && !s->comm)) {
        hx_error_clear();
        return HX_OK;
    }
    if (rc == HX_OK) *largest = fmax(*largest, found.value);
    return rc;
}

int hx_zone_stresses(hx_session *s, double **value)
{
    *value = NULL;
    if (s->n_zone == 0 || s->limits.n == 0) return HX_OK;
    HX_TRY(hx_alloc(value, (size_t)s->limits.n, sizeof **value, "stresses in zones"));
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        for (int k = 0; spec->kind == &hx_response_stress && k < s->n_zone; k++)
            HX_TRY(find_in_zone(s, spec, s->zone[k], &(*value)[i]));
    }
    return HX_OK;
}

void hx_zone_stresses_print(const hx_session *s, const double *value)
{
    for (int i = 0; value && i < s->limits.n; i++)
        if (value[i] > 0.0)
            hx_log_info("  %s in its zones, without a limit: %.6g%s", s->limits.spec[i].name,
                        value[i], hx_response_unit_text(s, s->limits.spec[i].kind));
}
