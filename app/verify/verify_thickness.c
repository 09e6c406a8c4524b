/* Least thickness of members and width of gaps of the part, beside optimization.minimum_length. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../result/made_surface.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "verify.h"

/* A surface is too thin below this share of the length, a 0/1 design if it lacks more than one
 * element. */
static const double enough = 0.95;

static const char *const part_name[HX_N_VERIFY_THICK] = {"0/1 design", "surface"};

/* 1: all nodes in the plane at `at` along an axis, at the end of the mesh, are held along it: a
 * plane of symmetry or a wall, behind which the part goes on. */
static int is_held(const hx_problem *problem, int axis, double at, double tolerance)
{
    const hx_mesh *const mesh = problem->mesh;
    int64_t n = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (fabs(mesh->xyz[3 * a + axis] - at) > tolerance) continue;
        if (!(problem->supports.fixed[a] >> axis & 1)) return 0;
        n++;
    }
    return n > 0;
}

/* A surface that is cut at planes of symmetry becomes that of the whole part. */
static int unfold(const hx_verify *v, hx_surface *surface)
{
    static const double close = 1e-6;
    const hx_problem *const problem = &v->session.problem;
    const hx_mesh *const mesh = problem->mesh;
    const double tolerance = close * mesh->elem_size;
    for (int axis = 0; problem->components == 3 && axis < 3; axis++)
        for (int end = 0; end < 2; end++) {
            const double at = end ? mesh->box_max[axis] : mesh->box_min[axis];
            if (is_held(problem, axis, at, tolerance))
                HX_TRY(hx_surface_mirror_at(surface, axis, at, tolerance));
        }
    return HX_OK;
}

/* Moves a place in an image back to the mesh. */
static void fold(const hx_verify *v, double place[3])
{
    const hx_mesh *const mesh = &v->session.mesh;
    for (int d = 0; d < 3; d++) {
        if (place[d] < mesh->box_min[d]) place[d] = 2.0 * mesh->box_min[d] - place[d];
        if (place[d] > mesh->box_max[d]) place[d] = 2.0 * mesh->box_max[d] - place[d];
    }
}

static int measure(const hx_verify *v, hx_surface *surface, hx_verify_thickness *t)
{
    HX_TRY(unfold(v, surface));
    HX_TRY(hx_surface_thickness(surface, HX_THICKNESS_OF_MEMBERS, &t->member));
    HX_TRY(hx_surface_thickness(surface, HX_THICKNESS_OF_GAPS, &t->gap));
    fold(v, t->member.place);
    fold(v, t->gap.place);
    t->is_set = 1;
    return HX_OK;
}

static int measure_elements(hx_verify *v)
{
    const hx_mesh *const mesh = &v->session.mesh;
    hx_surface surface = {0};
    uint8_t *forced = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&forced, (size_t)mesh->n_elem, 1, "forced-solid elements"));
    for (int64_t e = 0; e < mesh->n_elem; e++) forced[e] = v->part.state[e] == HX_PART_SOLID;
    HX_TRY_FAIL(hx_surface_of_elements(mesh, v->is_solid, forced, &surface));
    HX_TRY_FAIL(measure(v, &surface, &v->thickness[HX_VERIFY_THICK_SOLID]));
fail:
    hx_surface_free(&surface);
    free(forced);
    return rc;
}

/* Leaves the surface unmeasured if none can be cut. */
static int measure_surface(hx_verify *v)
{
    hx_made_surface made = {0};
    int rc = hx_made_surface_create(&made, v->result, v->config, v->n_override, v->override,
                                    v->preserve, v->threshold_given ? v->threshold : (double)NAN);
    if (rc == HX_OK) rc = measure(v, &made.surface, &v->thickness[HX_VERIFY_THICK_SURFACE]);
    hx_made_surface_free(&made);
    if (rc == HX_OK || rc == HX_ENOMEM) return rc;
    hx_error_clear();
    return HX_OK;
}

int hx_verify_measure_thickness(hx_verify *v)
{
    for (int i = 0; i < HX_N_VERIFY_THICK; i++)
        v->thickness[i].member.value = v->thickness[i].gap.value = (double)NAN;
    if (isnan(v->session.cfg.optimization.minimum_length)) return HX_OK;
    HX_TRY(measure_elements(v));
    return measure_surface(v);
}

/* "4.01 at 2, 3, 4 in the surface"; "no struts or walls". */
static void describe(int is_set, const hx_thickness *t, const char *none, const char *unit,
                     const char *where, char *text, size_t n_text)
{
    if (!is_set)
        snprintf(text, n_text, "not measured in the %s, which cannot be cut", where);
    else if (isnan(t->value))
        snprintf(text, n_text, "%s in the %s", none, where);
    else
        snprintf(text, n_text, "%.4g%s in the %s, at %.4g, %.4g, %.4g", t->value, unit, where,
                 t->place[0], t->place[1], t->place[2]);
}

void hx_verify_print_thickness(const hx_verify *v)
{
    const char *const unit = v->session.cfg.units.length;
    const double length = v->session.cfg.optimization.minimum_length,
                 gap = v->session.cfg.optimization.minimum_gap;
    char text[160];
    for (int i = 0; !isnan(length) && i < HX_N_VERIFY_THICK; i++) {
        describe(v->thickness[i].is_set, &v->thickness[i].member, "no struts or walls", unit,
                 part_name[i], text, sizeof text);
        hx_log_info("%s %s%s", i ? "         " : "thickness", text, i ? "" : ";");
    }
    for (int i = 0; !isnan(gap) && i < HX_N_VERIFY_THICK; i++) {
        describe(v->thickness[i].is_set, &v->thickness[i].gap, "no gaps", unit, part_name[i], text,
                 sizeof text);
        hx_log_info("%s %s%s", i ? "         " : "gaps     ", text, i ? "" : ";");
    }
    if (!isnan(length))
        hx_log_info("          minimum_length = %g%s, %.3g elements", length, unit,
                    length / v->session.mesh.elem_size);
}

/* Returns 1 if a measured value is below what is wanted. */
static int is_missed(const hx_verify *v, int part, double value, double wanted)
{
    const double least = part == HX_VERIFY_THICK_SURFACE
                             ? enough * wanted
                             : wanted - v->session.mesh.elem_size * (1.0 + 1e-6);
    return value < least;
}

const char *hx_verify_warn_thickness(const hx_verify *v, int i, char *text, size_t n_text)
{
    const int is_gap = i / HX_N_VERIFY_THICK, part = i % HX_N_VERIFY_THICK;
    const double wanted = is_gap ? v->session.cfg.optimization.minimum_gap
                                 : v->session.cfg.optimization.minimum_length;
    const hx_thickness *const t = is_gap ? &v->thickness[part].gap : &v->thickness[part].member;
    text[0] = '\0';
    if (i >= 2 * HX_N_VERIFY_THICK) return NULL;
    if (!is_missed(v, part, t->value, wanted)) return text;
    hx_fit(text, n_text,
           "the %s has a %s of %.4g%s at %.4g, %.4g, %.4g, less than optimization.%s = %g; more "
           "iterations, or a projection.beta_max of 32, may hold it",
           part_name[part], is_gap ? "gap" : "member", t->value, v->session.cfg.units.length,
           t->place[0], t->place[1], t->place[2], is_gap ? "minimum_gap" : "minimum_length",
           wanted);
    return text;
}

static void write_thickness(hx_json *json, const char *key, const hx_verify_thickness *t,
                            int with_gaps)
{
    hx_json_open_object(json, key);
    hx_json_number(json, "least_thickness", t->member.value);
    if (!isnan(t->member.value)) hx_json_numbers(json, "thinnest_place", 3, t->member.place);
    if (with_gaps) hx_json_number(json, "least_gap", t->gap.value);
    if (!isnan(t->gap.value)) hx_json_numbers(json, "narrowest_place", 3, t->gap.place);
    hx_json_close_object(json);
}

void hx_verify_write_thickness(hx_json *json, const hx_verify *v)
{
    const double gap = v->session.cfg.optimization.minimum_gap;
    if (isnan(v->session.cfg.optimization.minimum_length)) return;
    hx_json_open_object(json, "thickness");
    hx_json_number(json, "minimum_length", v->session.cfg.optimization.minimum_length);
    if (!isnan(gap)) hx_json_number(json, "minimum_gap", gap);
    write_thickness(json, "design", &v->thickness[HX_VERIFY_THICK_SOLID], !isnan(gap));
    write_thickness(json, "surface", &v->thickness[HX_VERIFY_THICK_SURFACE], !isnan(gap));
    hx_json_close_object(json);
}
