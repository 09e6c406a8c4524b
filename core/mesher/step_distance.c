/* Distance of a point from the edges and the surface of a STEP file's face. */
#include <math.h>

#include "../base/vec3.h"
#include "step_face.h"

static const double pi = 3.14159265358979323846;

static void to_frame(const hx_step_frame *frame, const double x[3], double local[3])
{
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = x[c] - frame->origin[c];
    for (int c = 0; c < 3; c++) local[c] = hx_dot3(frame->axis[c], d);
}

static double angle_of(const hx_step_edge *edge, const double x[3])
{
    double local[3];
    to_frame(&edge->frame, x, local);
    return atan2(local[1] / edge->radius[1], local[0] / edge->radius[0]);
}

static double turn_from(double begin, double angle)
{
    const double turn = fmod(angle - begin, 2.0 * pi);
    return turn < 0.0 ? turn + 2.0 * pi : turn;
}

void hx_step_set_arc(hx_step_edge *edge, const double from[3], const double to[3])
{
    edge->begin = angle_of(edge, from);
    edge->sweep = turn_from(edge->begin, angle_of(edge, to));
    if (edge->sweep < 1e-9) edge->sweep = 2.0 * pi;
}

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return hx_norm3(d);
}

static double segment_distance(const double a[3], const double b[3], const double x[3])
{
    double u[3], v[3];
    for (int c = 0; c < 3; c++) {
        u[c] = b[c] - a[c];
        v[c] = x[c] - a[c];
    }
    const double square = hx_dot3(u, u);
    const double share = square > 0.0 ? fmax(0.0, fmin(1.0, hx_dot3(u, v) / square)) : 0.0;
    for (int c = 0; c < 3; c++) v[c] -= share * u[c];
    return hx_norm3(v);
}

/* Distance to the point at the same angle, which approximates the nearest one if x is close. */
static double ellipse_distance(const hx_step_edge *edge, const double x[3])
{
    double local[3], at[3];
    const double angle = angle_of(edge, x);
    if (turn_from(edge->begin, angle) > edge->sweep)
        return fmin(distance(x, edge->end[0]), distance(x, edge->end[1]));
    to_frame(&edge->frame, x, local);
    at[0] = edge->radius[0] * cos(angle);
    at[1] = edge->radius[1] * sin(angle);
    at[2] = 0.0;
    return distance(local, at);
}

double hx_step_edge_distance(const hx_step_edge *edge, const double x[3])
{
    double nearest = INFINITY;
    if (edge->kind == HX_STEP_LINE) return segment_distance(edge->end[0], edge->end[1], x);
    if (edge->kind == HX_STEP_ELLIPSE) return ellipse_distance(edge, x);
    for (size_t i = 1; i < edge->n_point; i++)
        nearest = fmin(nearest, segment_distance(edge->point + 3 * i - 3, edge->point + 3 * i, x));
    return fmax(0.0, nearest - edge->sag);
}

double hx_step_surface_distance(const hx_step_face *face, const double x[3])
{
    double local[3];
    if (face->kind == HX_STEP_FREE) return 0.0;
    to_frame(&face->frame, x, local);
    const double across = hypot(local[0], local[1]);
    switch (face->kind) {
    case HX_STEP_PLANE:
        return fabs(local[2]);
    case HX_STEP_CYLINDER:
        return fabs(across - face->radius[0]);
    case HX_STEP_SPHERE:
        return fabs(hx_norm3(local) - face->radius[0]);
    default: /* if the tube is wider than the circle, the sheets of both sides lie there */
        return fmin(fabs(hypot(across - face->radius[0], local[2]) - face->radius[1]),
                    fabs(hypot(across + face->radius[0], local[2]) - face->radius[1]));
    }
}
