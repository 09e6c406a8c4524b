#include "step_face.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/vec3.h"

typedef struct reader {
    const hx_step_file *file;
    double scale;
    hx_step_face *face;
} reader;

/* This message is never shown: the face simply gets no name. */
static int unknown(const char *what)
{
    return HX_RAISE(HX_EINPUT, "STEP: %s", what);
}

static hx_step_text entity_of(const reader *r, hx_step_text item)
{
    return hx_step_find(r->file, hx_step_number(item));
}

/* The parameters of the entity that the item refers to, if it has that kind. */
static hx_step_text follow(const reader *r, hx_step_text item, const char *keyword)
{
    return hx_step_record(entity_of(r, item), keyword);
}

/* --- points and frames --- */

/* Reads three numbers; 1 if they exist and are finite. */
static int read_triple(hx_step_text list, double x[3])
{
    hx_step_text item;
    for (int c = 0; c < 3; c++) {
        if (!hx_step_next(&list, &item)) return 0;
        x[c] = hx_step_real(item);
        if (!isfinite(x[c])) return 0;
    }
    return 1;
}

static int read_point(const reader *r, hx_step_text item, double x[3])
{
    const hx_step_text list = hx_step_list(hx_step_item(follow(r, item, "CARTESIAN_POINT"), 1));
    if (!list.at || !read_triple(list, x)) return 0;
    for (int c = 0; c < 3; c++) x[c] *= r->scale;
    return 1;
}

static int read_vertex(const reader *r, hx_step_text item, double x[3])
{
    return read_point(r, hx_step_item(follow(r, item, "VERTEX_POINT"), 1), x);
}

static int read_direction(const reader *r, hx_step_text item, double x[3])
{
    const hx_step_text list = hx_step_list(hx_step_item(follow(r, item, "DIRECTION"), 1));
    if (!list.at || !read_triple(list, x)) return 0;
    const double length = hx_norm3(x);
    for (int c = 0; c < 3; c++) x[c] /= length;
    return length > 0.0 && isfinite(length);
}

/* Unit vector of the component of v perpendicular to the unit vector w; 0: there is none. */
static int make_across(const double w[3], double v[3])
{
    const double along = hx_dot3(v, w);
    for (int c = 0; c < 3; c++) v[c] -= along * w[c];
    const double length = hx_norm3(v);
    for (int c = 0; c < 3; c++) v[c] /= length;
    return length > 1e-9;
}

/* AXIS2_PLACEMENT_3D(name, place, z or $, x or $) */
static int read_frame(const reader *r, hx_step_text item, hx_step_frame *frame)
{
    const hx_step_text list = follow(r, item, "AXIS2_PLACEMENT_3D");
    double *const x = frame->axis[0], *const z = frame->axis[2];
    const double along_z[3] = {0.0, 0.0, 1.0};
    if (!list.at || !read_point(r, hx_step_item(list, 1), frame->origin)) return 0;
    if (!read_direction(r, hx_step_item(list, 2), z)) memcpy(z, along_z, sizeof along_z);
    int is_across = read_direction(r, hx_step_item(list, 3), x) && make_across(z, x);
    for (int c = 0; c < 3 && !is_across; c++) {
        for (int k = 0; k < 3; k++) x[k] = k == c;
        is_across = make_across(z, x);
    }
    hx_cross3(z, x, frame->axis[1]);
    return is_across;
}

int hx_step_frame_read(const hx_step_file *file, hx_step_text item, double scale,
                       hx_step_frame *frame)
{
    const reader r = {file, scale, NULL};
    return read_frame(&r, item, frame);
}

/* --- splines --- */

enum { MOST_DEGREE = 25, MOST_POLES = 4096, SAMPLES = 32 };

typedef struct spline {
    int degree;
    size_t n_pole, n_knot;
    double *pole; /* [n_pole][4] weighted (owned) */
    double *knot; /* [n_knot] (owned) */
} spline;

static int read_poles(const reader *r, hx_step_text list, hx_step_text weights, spline *s)
{
    hx_step_text item;
    HX_TRY(hx_alloc_raw(&s->pole, MOST_POLES, 4 * sizeof *s->pole, "poles of a spline"));
    while (hx_step_next(&list, &item)) {
        double weight = 1.0;
        if (s->n_pole == MOST_POLES) return unknown("a spline of many poles");
        double *const pole = s->pole + 4 * s->n_pole;
        if (!read_point(r, item, pole)) return unknown("a spline without a pole");
        if (weights.at) weight = hx_step_next(&weights, &item) ? hx_step_real(item) : (double)NAN;
        if (!(weight > 0.0) || !isfinite(weight)) return unknown("a weight of a spline");
        for (int c = 0; c < 3; c++) pole[c] *= weight;
        pole[3] = weight;
        s->n_pole++;
    }
    return HX_OK;
}

static int read_knots(hx_step_text counts, hx_step_text values, spline *s)
{
    hx_step_text count, value;
    const size_t most = s->n_pole + MOST_DEGREE + 1;
    HX_TRY(hx_alloc(&s->knot, most, sizeof *s->knot, "knots of a spline"));
    while (hx_step_next(&counts, &count) && hx_step_next(&values, &value)) {
        const double n = hx_step_real(count), knot = hx_step_real(value);
        if (!(n >= 1.0 && n <= MOST_DEGREE + 1) || !isfinite(knot) ||
            (s->n_knot > 0 && knot < s->knot[s->n_knot - 1]))
            return unknown("a knot of a spline");
        for (int i = 0; i < (int)n; i++) {
            if (s->n_knot == most) return unknown("knots of a spline");
            s->knot[s->n_knot++] = knot;
        }
    }
    return s->n_knot == s->n_pole + (size_t)s->degree + 1 && s->n_pole > (size_t)s->degree
               ? HX_OK
               : unknown("knots of a spline");
}

/* de Boor's algorithm at t in [knot[k], knot[k + 1]]. */
static void evaluate_spline(const spline *s, size_t k, double t, double x[3])
{
    double d[MOST_DEGREE + 1][4];
    const size_t p = (size_t)s->degree;
    memcpy(d, s->pole + 4 * (k - p), (p + 1) * sizeof d[0]);
    for (size_t level = 1; level <= p; level++)
        for (size_t j = p; j >= level; j--) {
            const double low = s->knot[j + k - p], high = s->knot[j + 1 + k - level];
            const double share = high > low ? (t - low) / (high - low) : 0.0;
            for (int c = 0; c < 4; c++) d[j][c] += (share - 1.0) * (d[j][c] - d[j - 1][c]);
        }
    for (int c = 0; c < 3; c++) x[c] = d[p][c] / d[p][3];
}

static int sample(const spline *s, hx_step_edge *edge)
{
    const size_t p = (size_t)s->degree, n_span = s->n_pole - p;
    HX_TRY(hx_alloc_raw(&edge->point, SAMPLES * n_span + 1, 3 * sizeof *edge->point,
                        "points of a spline"));
    for (size_t k = p; k < s->n_pole; k++) {
        const double low = s->knot[k], high = s->knot[k + 1];
        if (!(high > low)) continue;
        for (int i = edge->n_point > 0; i <= SAMPLES; i++)
            evaluate_spline(s, k, low + (high - low) * i / SAMPLES,
                            edge->point + 3 * edge->n_point++);
    }
    for (size_t i = 1; i + 1 < edge->n_point;
         i++) { /* a quarter of the deviation for a chord twice as long */
        double d[3];
        for (size_t c = 0; c < 3; c++)
            d[c] = edge->point[3 * i + c] -
                   0.5 * (edge->point[3 * i - 3 + c] + edge->point[3 * i + 3 + c]);
        edge->sag = fmax(edge->sag, 0.3 * hx_norm3(d));
    }
    return edge->n_point > 1 ? HX_OK : unknown("a spline without a length");
}

/* B_SPLINE_CURVE_WITH_KNOTS(name, degree, poles, form, closed, self, counts, knots, spec), or as
 * separate records, with RATIONAL_B_SPLINE_CURVE(weights). */
static int read_spline(const reader *r, hx_step_text entity, hx_step_edge *edge)
{
    spline s = {0};
    const hx_step_text base = hx_step_record(entity, "B_SPLINE_CURVE");
    const hx_step_text knots = hx_step_record(entity, "B_SPLINE_CURVE_WITH_KNOTS");
    const int first = base.at ? 0 : 1, at_knots = base.at ? 0 : 6;
    const hx_step_text list = base.at ? base : knots;
    const hx_step_text weights =
        hx_step_list(hx_step_item(hx_step_record(entity, "RATIONAL_B_SPLINE_CURVE"), 0));
    const double degree = hx_step_real(hx_step_item(list, first));
    if (!knots.at) return unknown("a curve");
    if (!(degree >= 1.0 && degree <= MOST_DEGREE)) return unknown("a degree");
    s.degree = (int)degree;
    edge->kind = HX_STEP_POLYLINE;
    int rc = read_poles(r, hx_step_list(hx_step_item(list, first + 1)), weights, &s);
    if (rc == HX_OK)
        rc = read_knots(hx_step_list(hx_step_item(knots, at_knots)),
                        hx_step_list(hx_step_item(knots, at_knots + 1)), &s);
    if (rc == HX_OK) rc = sample(&s, edge);
    free(s.pole);
    free(s.knot);
    return rc;
}

/* --- edges --- */

/* CIRCLE(name, frame, radius), ELLIPSE(name, frame, radius, radius) between the ends, in reverse
 * direction if is_along is 0. */
static int read_ellipse(const reader *r, hx_step_text list, int is_circle, int is_along,
                        hx_step_edge *edge)
{
    edge->kind = HX_STEP_ELLIPSE;
    for (int i = 0; i < 2; i++)
        edge->radius[i] = r->scale * hx_step_real(hx_step_item(list, is_circle ? 2 : 2 + i));
    if (!(edge->radius[0] > 0.0 && edge->radius[1] > 0.0) || isinf(edge->radius[0]) ||
        isinf(edge->radius[1]) || !read_frame(r, hx_step_item(list, 1), &edge->frame))
        return unknown("a circle");
    hx_step_set_arc(edge, edge->end[!is_along], edge->end[is_along]);
    return HX_OK;
}

/* Returns the curve itself. It may be wrapped with its images on the surfaces, SURFACE_CURVE(name,
 * curve, ...), or with its ends, TRIMMED_CURVE(name, curve, end, end, is_along, kind). */
static hx_step_text unwrap(const reader *r, hx_step_text curve, int *is_along)
{
    static const char *const wrapped[] = {"SURFACE_CURVE", "SEAM_CURVE", "INTERSECTION_CURVE",
                                          "TRIMMED_CURVE"};
    enum { N_WRAPPED = sizeof wrapped / sizeof wrapped[0] };
    for (int i = 0; i < N_WRAPPED; i++) {
        const hx_step_text wrap = hx_step_record(curve, wrapped[i]);
        if (!wrap.at) continue;
        curve = entity_of(r, hx_step_item(wrap, 1));
        if (i == N_WRAPPED - 1 && hx_step_is(hx_step_item(wrap, 4), ".F.")) *is_along = !*is_along;
    }
    return curve;
}

/* EDGE_CURVE(name, begin, end, curve, is_along) */
static int read_edge(const reader *r, hx_step_text item, hx_step_edge *edge)
{
    const hx_step_text list = follow(r, item, "EDGE_CURVE");
    if (!list.at || !read_vertex(r, hx_step_item(list, 1), edge->end[0]) ||
        !read_vertex(r, hx_step_item(list, 2), edge->end[1]))
        return unknown("an edge");
    int is_along = hx_step_is(hx_step_item(list, 4), ".T.");
    const hx_step_text curve = unwrap(r, entity_of(r, hx_step_item(list, 3)), &is_along);
    const hx_step_text circle = hx_step_record(curve, "CIRCLE");
    const hx_step_text ellipse = hx_step_record(curve, "ELLIPSE");
    edge->kind = HX_STEP_LINE;
    if (hx_step_record(curve, "LINE").at) return HX_OK;
    if (circle.at) return read_ellipse(r, circle, 1, is_along, edge);
    if (ellipse.at) return read_ellipse(r, ellipse, 0, is_along, edge);
    return read_spline(r, curve, edge);
}

/* EDGE_LOOP(name, (ORIENTED_EDGE(name, *, *, edge, flag), ...)); a VERTEX_LOOP, the pole of a
 * sphere, adds nothing. */
static int read_loop(const reader *r, hx_step_text item)
{
    hx_step_face *const face = r->face;
    if (follow(r, item, "VERTEX_LOOP").at) return HX_OK;
    hx_step_text edges = hx_step_list(hx_step_item(follow(r, item, "EDGE_LOOP"), 1)), edge;
    if (!edges.at) return unknown("a loop");
    while (hx_step_next(&edges, &edge)) {
        HX_TRY(hx_grow(&face->edge, face->n_edge, &face->capacity, sizeof *face->edge, "edges"));
        hx_step_edge *const to = &face->edge[face->n_edge++];
        memset(to, 0, sizeof *to);
        HX_TRY(read_edge(r, hx_step_item(follow(r, edge, "ORIENTED_EDGE"), 3), to));
    }
    return HX_OK;
}

/* --- faces --- */

static const struct {
    const char *keyword;
    hx_step_surface kind;
    int n_radius;
} surfaces[] = {{"PLANE", HX_STEP_PLANE, 0},
                {"CYLINDRICAL_SURFACE", HX_STEP_CYLINDER, 1},
                {"SPHERICAL_SURFACE", HX_STEP_SPHERE, 1},
                {"TOROIDAL_SURFACE", HX_STEP_TORUS, 2}};

static int read_surface(const reader *r, hx_step_text item)
{
    hx_step_face *const face = r->face;
    const hx_step_text entity = entity_of(r, item);
    if (!entity.at) return unknown("a surface");
    face->kind = HX_STEP_FREE;
    for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; i++) {
        const hx_step_text list = hx_step_record(entity, surfaces[i].keyword);
        if (!list.at) continue;
        face->kind = surfaces[i].kind;
        if (!read_frame(r, hx_step_item(list, 1), &face->frame)) return unknown("a frame");
        for (int k = 0; k < surfaces[i].n_radius; k++) {
            face->radius[k] = r->scale * hx_step_real(hx_step_item(list, 2 + k));
            if (!isfinite(face->radius[k])) return unknown("a radius");
        }
    }
    return HX_OK;
}

int hx_step_face_read(const hx_step_file *file, int64_t number, double scale, hx_step_face *face)
{
    const reader r = {file, scale, face};
    const hx_step_text entity = hx_step_find(file, number);
    hx_step_text list = hx_step_record(entity, "ADVANCED_FACE"), bounds, bound;
    int rc = HX_OK;
    memset(face, 0, sizeof *face);
    if (!list.at) list = hx_step_record(entity, "FACE_SURFACE");
    bounds = hx_step_list(hx_step_item(list, 1));
    HX_TRY_FAIL(read_surface(&r, hx_step_item(list, 2)));
    while (rc == HX_OK && hx_step_next(&bounds, &bound)) {
        hx_step_text loop = follow(&r, bound, "FACE_OUTER_BOUND");
        if (!loop.at) loop = follow(&r, bound, "FACE_BOUND");
        rc = read_loop(&r, hx_step_item(loop, 1));
    }
fail:
    if (rc < 0) hx_step_face_free(face);
    return rc;
}

void hx_step_face_free(hx_step_face *face)
{
    for (size_t i = 0; i < face->n_edge; i++) free(face->edge[i].point);
    free(face->edge);
    memset(face, 0, sizeof *face);
}
