/* Von Mises stresses outside the zones without limits: largest value and quantile by volume, on
 * every design, beside what they may be. On the surface the values are those of nodes, as means
 * over the tetrahedra that are weighted by volume; on the other designs those of solid elements. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/limits.h"
#include "../text/table.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/stress_limit.h"
#include "verify.h"

/* Share of the volume of the second value. */
#define SHARE 0.999

/* --- samples --- */

int hx_verify_samples_create(hx_verify_samples *s, int64_t n)
{
    int rc;
    memset(s, 0, sizeof *s);
    s->n = n;
    HX_TRY_FAIL(hx_alloc(&s->value, (size_t)n + 1, sizeof *s->value, "stresses"));
    HX_TRY_FAIL(hx_alloc(&s->volume, (size_t)n + 1, sizeof *s->volume, "stresses"));
    HX_TRY_FAIL(hx_alloc(&s->load_case, (size_t)n + 1, sizeof *s->load_case, "stresses"));
    HX_TRY_FAIL(hx_alloc(&s->is_zone, (size_t)n + 1, 1, "stresses"));
fail:
    if (rc < 0) hx_verify_samples_free(s);
    return rc;
}

void hx_verify_samples_free(hx_verify_samples *s)
{
    free(s->value);
    free(s->volume);
    free(s->load_case);
    free(s->is_zone);
    memset(s, 0, sizeof *s);
}

void hx_verify_samples_offer(hx_verify_samples *s, int64_t i, int load_case, double value)
{
    if (s->load_case[i] > 0 && !(value > s->value[i])) return;
    s->value[i] = value;
    s->load_case[i] = load_case;
}

/* The sample with the largest value in the zones, or outside them; -1: there is none. */
static int64_t largest_of(const hx_verify_samples *s, uint8_t is_zone)
{
    int64_t best = -1;
    for (int64_t i = 0; i < s->n; i++)
        if (s->is_zone[i] == is_zone && s->volume[i] > 0.0 &&
            (best < 0 || s->value[i] > s->value[best]))
            best = i;
    return best;
}

static void take_peak(const hx_verify_samples *s, int64_t i, const hx_mesh *mesh, int at_node,
                      hx_verify_peak *peak)
{
    memset(peak, 0, sizeof *peak);
    if (i < 0) return;
    peak->value = s->value[i];
    peak->load_case = s->load_case[i];
    peak->place = at_node ? (hx_place){HX_AT_NODE, i, 0}
                          : (hx_place){HX_AT_ELEMENT, hx_mesh_elem_number(mesh, i), 0};
    if (at_node)
        memcpy(peak->point, mesh->xyz + 3 * i, sizeof peak->point);
    else
        hx_mesh_centroid(mesh, i, peak->point);
}

int hx_verify_samples_judge(hx_verify_samples *s, const hx_mesh *mesh, int at_node,
                            hx_verify_stress *stress)
{
    double *outside;
    take_peak(s, largest_of(s, 0), mesh, at_node, &stress->outside);
    take_peak(s, largest_of(s, 1), mesh, at_node, &stress->inside);
    HX_TRY(hx_alloc_raw(&outside, (size_t)s->n + 1, sizeof *outside, "stresses"));
    for (int64_t i = 0; i < s->n; i++) outside[i] = s->is_zone[i] ? 0.0 : s->volume[i];
    const int rc = hx_weighted_quantile(s->n, s->value, outside, SHARE, &stress->quantile);
    free(outside);
    stress->is_set = rc == HX_OK;
    return rc;
}

/* --- limits on the surface --- */

int hx_verify_mark_counted(const hx_verify *v, const uint8_t *is_zone, const char *name,
                           const int32_t *elem, uint8_t *counts)
{
    const hx_mesh *const mesh = &v->session.mesh;
    const hx_set *const set = name ? hx_mesh_find_set(mesh, name) : NULL;
    uint8_t *is_in;
    HX_TRY(hx_alloc(&is_in, (size_t)mesh->n_elem, 1, "elements of a limit"));
    for (int64_t k = 0; set && k < set->n_elem; k++) is_in[set->elem[k]] = 1;
    for (int64_t t = 0; t < v->surface.part.mesh.n_elem; t++)
        counts[t] = !is_zone[t] && (!name || (elem[t] >= 0 && is_in[elem[t]]));
    free(is_in);
    return HX_OK;
}

/* Largest stress of a case among the tetrahedra that count; NAN: none does. */
static int find_largest(const hx_stress *stress, const double *modulus, const double *u,
                        const uint8_t *counts, double *largest)
{
    hx_smooth_stress smooth;
    const int64_t n = stress->problem->mesh->n_node;
    HX_TRY(hx_smooth_stress_create(&smooth, stress, modulus, u, counts));
    for (int64_t a = 0; a < n; a++)
        if (smooth.volume[a] > 0.0 && !(smooth.value[a] <= *largest)) *largest = smooth.value[a];
    hx_smooth_stress_free(&smooth);
    return HX_OK;
}

int hx_verify_surface_limits(const hx_verify *v, const hx_stress *stress, int load_case,
                             const double *modulus, const double *u, const uint8_t *is_zone,
                             const int32_t *elem, hx_verify_analysis *a)
{
    uint8_t *counts;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&counts, (size_t)v->surface.part.mesh.n_elem, 1, "elements of a limit"));
    for (int i = 0; i < v->session.limits.n && rc == HX_OK; i++) {
        const hx_constraint_spec *const spec = &v->session.limits.spec[i];
        if (spec->kind != &hx_response_stress || !hx_stress_limit_has(&spec->params, load_case))
            continue;
        rc = hx_verify_mark_counted(v, is_zone, spec->params.set, elem, counts);
        if (rc == HX_OK) rc = find_largest(stress, modulus, u, counts, &a->limit[i]);
    }
    free(counts);
    return rc;
}

/* --- report --- */

double hx_verify_strength(const hx_verify *v)
{
    double least = v->session.cfg.material.strength;
    for (int i = 0; isnan(v->session.cfg.material.strength) && i < v->session.limits.n; i++)
        if (v->session.limits.spec[i].kind == &hx_response_stress)
            least = fmin(least, v->session.limits.spec[i].max);
    return least;
}

double hx_verify_safety(const hx_verify *v, const hx_verify_analysis *a)
{
    const double strength = hx_verify_strength(v), largest = a->stresses.outside.value;
    return isnan(strength) || !(largest > 0.0) ? (double)NAN : strength / largest;
}

enum { N_COLUMN = 4 };

typedef struct columns {
    int n;
    const char *name[N_COLUMN];
    const hx_verify_analysis *of[N_COLUMN];
} columns;

static void find_columns(const hx_verify *v, columns *c)
{
    const hx_verify_analysis *const of[N_COLUMN] = {&v->analysis[HX_VERIFY_GREY],
                                                    &v->analysis[HX_VERIFY_SOLID],
                                                    &v->quadratic.analysis, &v->surface.analysis};
    static const char *const name[N_COLUMN] = {"grey", "0/1", "quadratic", "surface"};
    c->n = 0;
    for (int i = 0; i < N_COLUMN; i++) {
        if (!of[i]->stresses.is_set) continue;
        c->name[c->n] = name[i];
        c->of[c->n++] = of[i];
    }
}

static void add_place(hx_table *table, const columns *c, int n_case)
{
    hx_table_add(table, "    at%s", n_case > 1 ? ", case" : "");
    for (int i = 0; i < c->n; i++) {
        const hx_verify_peak *const p = &c->of[i]->stresses.outside;
        const double *const x = p->point;
        if (n_case > 1)
            hx_table_add(table, "%.4g, %.4g, %.4g, %d", x[0], x[1], x[2], p->load_case);
        else
            hx_table_add(table, "%.4g, %.4g, %.4g", x[0], x[1], x[2]);
    }
}

static void add_rows(hx_table *table, const hx_verify *v, const columns *c)
{
    const int has_zones = v->session.n_zone > 0 || v->surface.n_zone > 0;
    hx_table_add(table, "largest%s", has_zones ? " outside the zones" : "");
    for (int i = 0; i < c->n; i++) hx_table_add(table, "%.6g", c->of[i]->stresses.outside.value);
    add_place(table, c, v->session.problem.cases.n);
    hx_table_add(table, "in 99.9 %% of the volume%s at most", has_zones ? " outside" : "");
    for (int i = 0; i < c->n; i++) hx_table_add(table, "%.6g", c->of[i]->stresses.quantile);
    if (has_zones) {
        hx_table_add(table, "largest in the zones");
        for (int i = 0; i < c->n; i++) hx_table_add(table, "%.6g", c->of[i]->stresses.inside.value);
    }
    if (isnan(hx_verify_strength(v))) return;
    hx_table_add(table, "factor of safety, from %.6g", hx_verify_strength(v));
    for (int i = 0; i < c->n; i++) hx_table_add(table, "%.4g", hx_verify_safety(v, c->of[i]));
}

void hx_verify_print_stresses(const hx_verify *v)
{
    columns c;
    char align[N_COLUMN + 2] = "l", zones[512];
    hx_table table;
    find_columns(v, &c);
    if (c.n == 0 || hx_log_get_level() < HX_LOG_NORMAL) return;
    hx_stress_zone_text(&v->session.zones, &v->session.cfg, &v->session.problem, zones,
                        sizeof zones);
    hx_log_info("\nvon Mises stresses%s%s%s", v->session.cfg.units.stress[0] ? "," : "",
                v->session.cfg.units.stress,
                zones[0] || v->surface.n_zone > 0 ? "; zones without limits:" : "");
    if (zones[0]) hx_log_info("  %s", zones);
    if (v->surface.n_zone > 0)
        hx_log_info("  of the surface: also near its own supports, springs and point loads%s, %lld "
                    "%s, %.2g %% of its volume",
                    v->surface.edges.n > 0 ? ", and sharp edges that turn inwards" : "",
                    (long long)v->surface.n_zone,
                    hx_noun(v->surface.n_zone, "tetrahedron", "tetrahedra"),
                    100.0 * v->surface.zone_share);
    for (int i = 0; i < c.n; i++) strcat(align, "r");
    hx_table_begin(&table, align);
    hx_table_add(&table, "%s", "");
    for (int i = 0; i < c.n; i++) hx_table_add(&table, "%s", c.name[i]);
    add_rows(&table, v, &c);
    hx_table_end(&table, 2);
}

const char *hx_verify_warn_strength(const hx_verify *v, char *text, size_t n_text)
{
    const char *name;
    const hx_verify_analysis *const a = hx_verify_made(v, &name);
    const double *const x = a->stresses.outside.point, safety = hx_verify_safety(v, a);
    text[0] = '\0';
    if (isnan(v->session.cfg.material.strength) || !(safety < 1.0)) return text;
    hx_fit(text, n_text,
           "the largest stress of the %s is %.6g%s at %.4g, %.4g, %.4g, above material.strength = "
           "%.6g%s: factor of safety %.3g",
           strcmp(name, "surface") == 0 ? "surface" : "0/1 design", a->stresses.outside.value,
           v->session.cfg.units.stress, x[0], x[1], x[2], v->session.cfg.material.strength,
           v->session.cfg.units.stress, safety);
    return text;
}

static void write_stress_peak(hx_json *json, const char *key, const hx_verify_peak *peak)
{
    if (peak->load_case == 0) return;
    hx_json_open_object(json, key);
    hx_json_number(json, "value", peak->value);
    hx_json_integer(json, "case", peak->load_case);
    hx_json_numbers(json, "point", 3, peak->point);
    hx_json_close_object(json);
}

void hx_verify_write_stresses(hx_json *json, const hx_verify *v, const hx_verify_analysis *a)
{
    if (!a->stresses.is_set) return;
    hx_json_open_object(json, "stresses");
    write_stress_peak(json, "outside_zones", &a->stresses.outside);
    hx_json_number(json, "quantile_99_9", a->stresses.quantile);
    write_stress_peak(json, "in_zones", &a->stresses.inside);
    write_stress_peak(json, "of_element", &a->stresses.of_element);
    if (!isnan(hx_verify_safety(v, a)))
        hx_json_number(json, "factor_of_safety", hx_verify_safety(v, a));
    hx_json_close_object(json);
}
