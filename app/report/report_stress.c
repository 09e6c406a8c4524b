/* Stresses that colour the part: their files, bounds, zones without limits, and largest value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/design/stress_limit.h"
#include "core/files/result_match.h"
#include "core/files/vtk_fields.h"
#include "report_stress.h"

/* value[n_elem] := a field of a file. Returns 0 without it; the error is set then. */
static int read_field(const hx_session *s, const char *path, const char *name, double *value)
{
    hx_result_match match;
    return hx_result_read(path, name, &s->mesh, s->design.rho_min, NAN, value, &match) >= 0;
}

/* Stresses of the surface; NAN in elements that it does not touch. Returns 0 without them. */
static int read_surface(const hx_session *s, const char *path, double *value)
{
    if (!path) return 0;
    if (!read_field(s, path, HX_FIELDS_SURFACE_STRESS, value)) {
        hx_error_clear();
        return 0;
    }
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        if (!(value[e] > 0.0)) value[e] = NAN;
    return 1;
}

/* The largest von_mises of all cases. Returns the number of cases; the error is set if it is 0. */
static int read_cases(const hx_session *s, const char *path, double *value, double *one)
{
    int n;
    for (int64_t e = 0; e < s->mesh.n_elem; e++) value[e] = NAN;
    for (n = 0; n < s->problem.cases.n; n++) {
        char name[64];
        hx_fields_case_name("von_mises", n, name, sizeof name);
        if (!read_field(s, path, name, one)) break;
        for (int64_t e = 0; e < s->mesh.n_elem; e++) value[e] = fmax(value[e], one[e]);
    }
    if (n > 0) hx_error_clear();
    return n;
}

/* The bound of a limit by which verify judged; without it, that of the run. */
static double bound_of(const hx_report_run *run, const hx_constraint_spec *spec)
{
    const hx_json_value *const list = hx_json_at(run->verify.root, "grey.limits");
    for (const hx_json_value *l = list ? list->first : NULL; l; l = l->next)
        if (strcmp(hx_json_text_at(l, "name", ""), spec->name) == 0)
            return hx_json_number_at(l, "max");
    return spec->max;
}

/* 1 if the file of verify has the densities of the result. a, b: scratch [n_elem]. */
static int has_same_densities(const hx_report_run *run, const hx_session *s, double *a, double *b)
{
    static const double rounding = 1e-6; /* of single precision and of text */
    const int has_both =
        read_field(s, run->result, "density", a) && read_field(s, run->stress, "density", b);
    hx_error_clear();
    for (int64_t e = 0; has_both && e < s->mesh.n_elem; e++)
        if (fabs(a[e] - b[e]) > rounding) return 0;
    return has_both;
}

/* --- bounds --- */

static void add_mark(hx_report_stress *found, double value, const char *fmt, const char *name)
{
    for (size_t i = 0; i < found->n_mark; i++)
        if (found->mark[i].value == value) return; /* of other cases or sets */
    if (isnan(value) || found->n_mark == HX_REPORT_MAX_MARK) return;
    hx_report_mark *const mark = &found->mark[found->n_mark++];
    mark->value = value;
    hx_fit(mark->name, sizeof mark->name, fmt, name);
}

static void find_marks(const hx_report_run *run, const hx_session *s, hx_report_stress *found)
{
    found->bound = NAN;
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        if (spec->kind != &hx_response_stress) continue;
        const double max = bound_of(run, spec);
        add_mark(found, max, "limit '%s'", spec->name);
        found->bound = fmax(found->bound, max);
    }
    if (isnan(found->bound)) found->bound = s->cfg.material.strength;
    add_mark(found, s->cfg.material.strength, "%s", "material.strength");
    hx_stress_zone_text(&s->zones, &s->cfg, &s->problem, found->zones, sizeof found->zones);
}

static int find_zones(const hx_session *s, double **zone)
{
    if (s->n_zone == 0) return HX_OK;
    HX_TRY(hx_alloc(zone, (size_t)s->mesh.n_elem, sizeof **zone, "zones"));
    for (int i = 0; i < s->n_zone; i++) {
        const hx_set *const set = hx_mesh_find_set(&s->mesh, s->zone[i]);
        for (int64_t k = 0; set && k < set->n_elem; k++) (*zone)[set->elem[k]] = 1.0;
    }
    return HX_OK;
}

/* --- the largest --- */

/* The largest value outside the zones; NAN: there is none. */
static double largest_outside(int64_t n, const double *value, const double *zone)
{
    double largest = NAN;
    for (int64_t e = 0; e < n; e++)
        if (!zone || zone[e] == 0.0) largest = fmax(largest, value[e]);
    return largest;
}

/* Takes value, place, case and factor of safety from verify.json, if it is of these stresses. */
static void take_verified(const hx_report_run *run, const char *analysis, double largest,
                          hx_report_stress *found)
{
    static const double rounding = 1e-6; /* the file has them in single precision */
    const hx_json_value *const stresses =
        hx_json_at(hx_json_at(run->verify.root, analysis), "stresses");
    const hx_json_value *const peak = hx_json_at(stresses, "outside_zones");
    const double value = hx_json_number_at(peak, "value");
    const hx_json_value *const point = hx_json_at(peak, "point");
    if (!(fabs(value - largest) <= rounding * value) || !point || point->n != 3) return;
    found->is_verified = 1;
    found->largest = value;
    found->load_case = (int)hx_json_number_at(peak, "case");
    int d = 0;
    for (const hx_json_value *x = point->first; x; x = x->next) found->point[d++] = x->number;
    found->in_zones = hx_json_number_at(stresses, "in_zones.value");
    found->safety = hx_json_number_at(stresses, "factor_of_safety");
}

/* --- all of it --- */

static int find_values(hx_report_run *run, const hx_session *s, hx_report_stress_values *stress)
{
    const int in_result = hx_config_has_field(&s->cfg, HX_FIELD_VON_MISES);
    const char *analysis = "grey";
    double *one, *other = NULL;
    int rc, n_case = s->problem.cases.n;
    HX_TRY(hx_alloc_raw(&one, (size_t)s->mesh.n_elem, sizeof *one, "stresses"));
    HX_TRY_FAIL(hx_alloc_raw(&other, (size_t)s->mesh.n_elem, sizeof *other, "stresses"));
    const int is_same = run->stress && has_same_densities(run, s, one, other);
    if (run->stress && !is_same)
        hx_report_say(&run->missing,
                      "%s is not shown: its densities are not those of %s, so `hextop verify` "
                      "analysed another design.",
                      run->stress, run->result);
    stress->is_of_surface = is_same && read_surface(s, run->stress, stress->value);
    if (stress->is_of_surface) {
        analysis = "surface.analysis";
    } else if (in_result) {
        n_case = read_cases(s, run->result, stress->value, one);
    } else if (is_same) {
        n_case = read_cases(s, run->stress, stress->value, one);
        analysis = "black_white";
    } else {
        n_case = 0;
        if (!run->stress)
            hx_report_say(&run->missing, "No stresses: output.fields lacks \"von_mises\", and "
                                         "`hextop verify --vtk` wrote no file into the folder.");
    }
    if (n_case == 0) {
        if (hx_error_message()[0])
            hx_report_say(&run->missing, "No stresses: %s", hx_error_message());
        hx_error_clear();
        free(stress->value);
        stress->value = NULL;
        goto fail;
    }
    hx_report_stress *const found = &run->part.stress;
    stress->label = stress->is_of_surface
                        ? (n_case > 1 ? "Von Mises stress in the surface, worst case"
                                      : "Von Mises stress in the surface")
                    : n_case > 1 ? "Von Mises stress, worst case"
                                 : "Von Mises stress";
    found->n_case = n_case;
    found->is_there = 1;
    take_verified(run, analysis, largest_outside(s->mesh.n_elem, stress->value, stress->zone),
                  found);
    if (stress->is_of_surface && !found->is_verified)
        hx_report_say(&run->missing,
                      "The largest stress is not marked: %s and verify.json are not of one call of "
                      "`hextop verify`.",
                      run->stress);
fail:
    free(one);
    free(other);
    return rc;
}

int hx_report_find_stress(hx_report_run *run, const hx_surface_source *source,
                          hx_report_stress_values *stress)
{
    const hx_session *const s = &source->session;
    if (run->is_heat || !source->config) return HX_OK;
    find_marks(run, s, &run->part.stress);
    HX_TRY(find_zones(s, &stress->zone));
    HX_TRY(hx_alloc(&stress->value, (size_t)s->mesh.n_elem, sizeof *stress->value, "stresses"));
    return find_values(run, s, stress);
}

void hx_report_stress_values_free(hx_report_stress_values *stress)
{
    free(stress->value);
    free(stress->zone);
    memset(stress, 0, sizeof *stress);
}
