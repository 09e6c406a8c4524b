#include "bearing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"
#include "symmetric.h"

#define PI 3.14159265358979323846

/* Limits beyond which a set of faces is not accepted as a bore. */
/* mean square of the axial component of the normals; 0.02 is a tilt of 8 degrees */
#define TILT 0.02
/* smaller mean square of the normals' components across the axis; 0.02 is an arc of 28 degrees */
#define FLAT 0.02
/* range of the radii, relative to their mean */
#define SPREAD 0.2
/* least fraction of the integral of the cosine pressure that the faces cover */
#define COVERED 0.95
/* largest uncovered angle of the loaded half in degrees, unless a face spans more; 1 % of F */
#define LACKING 10.0

enum { N_STEP = 3600 }; /* bins of a full turn in which covered angles are marked */
#define DEGREES (360.0 / N_STEP)

typedef struct bore {
    const hx_space *space;
    const char *set, *origin;
    int64_t n_face, *face; /* (owned) */
    hx_space_face *at;     /* [n_face] (owned) */
    hx_bearing *fit;
} bore;

static void bore_free(bore *b)
{
    free(b->face);
    free(b->at);
}

/* The axis is the direction with the smallest component of the normals. */
static int fit_axis(const bore *b)
{
    hx_bearing *fit = b->fit;
    double moment[3][3] = {{0.0}}, value[3], vector[3][3];
    for (int64_t f = 0; f < b->n_face; f++)
        for (int q = 0; q < b->at[f].n_gauss; q++) {
            const double *n = b->at[f].at[q].normal, area = hx_norm3(n);
            fit->area += area;
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) moment[i][j] += n[i] * n[j] / area;
        }
    hx_symmetric3_eigen(moment, value, vector);
    const double *axis = vector[0];
    int largest = 0;
    for (int i = 1; i < 3; i++) largest = fabs(axis[i]) > fabs(axis[largest]) + 1e-9 ? i : largest;
    for (int i = 0; i < 3; i++) /* positive largest component; rounding next to 0 removed */
        fit->axis[i] = fabs(axis[i]) < 1e-12 ? 0.0 : copysign(1.0, axis[largest]) * axis[i];
    if (value[1] < FLAT * fit->area)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' is not a bore: its %lld %s are nearly flat, with a normal "
                        "along (%.3g, %.3g, %.3g); use total_force or traction for it",
                        b->origin, b->set, (long long)b->n_face,
                        hx_noun(b->n_face, "face", "faces"), vector[2][0], vector[2][1],
                        vector[2][2]);
    if (value[0] > TILT * fit->area)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' is not a bore: the normals of its %lld %s are not "
                        "perpendicular to a common axis (they deviate by %.0f degrees from the "
                        "best one); the set must contain only the surface of the bore",
                        b->origin, b->set, (long long)b->n_face,
                        hx_noun(b->n_face, "face", "faces"),
                        asin(sqrt(value[0] / fit->area)) * 180.0 / PI);
    return HX_OK;
}

/* v without its component along the axis; returns its length. */
static double across(const hx_bearing *fit, const double v[3], double out[3])
{
    const double along = hx_dot3(v, fit->axis);
    for (int i = 0; i < 3; i++) out[i] = v[i] - along * fit->axis[i];
    return hx_norm3(out);
}

/* The point nearest to the lines along the normals, at the height of the faces' centroid. */
static void fit_centre(const bore *b)
{
    hx_bearing *fit = b->fit;
    double a[3][3] = {{0.0}}, value[3], vector[3][3], right[3] = {0.0}, height = 0.0;
    const double *origin = b->at[0].at[0].x; /* reference point, which keeps the sums small */
    for (int64_t f = 0; f < b->n_face; f++)
        for (int q = 0; q < b->at[f].n_gauss; q++) {
            const hx_face_point *p = &b->at[f].at[q];
            const double area = hx_norm3(p->normal);
            double m[3], d[3], place[3];
            const double length = across(fit, p->normal, m);
            for (int i = 0; i < 3; i++) d[i] = p->x[i] - origin[i];
            height += area * hx_dot3(d, fit->axis) / fit->area;
            across(fit, d, place);
            const double along = hx_dot3(m, place) / (length * length);
            for (int i = 0; i < 3; i++) {
                right[i] += area * (place[i] - along * m[i]);
                for (int j = 0; j < 3; j++)
                    a[i][j] += area * ((i == j) - fit->axis[i] * fit->axis[j] -
                                       m[i] * m[j] / (length * length));
            }
        }
    hx_symmetric3_eigen(a, value, vector); /* the first is the axis, with eigenvalue 0 */
    for (int i = 0; i < 3; i++) fit->centre[i] = origin[i] + height * fit->axis[i];
    for (int k = 1; k < 3; k++)
        for (int i = 0; i < 3; i++)
            fit->centre[i] += hx_dot3(vector[k], right) / value[k] * vector[k][i];
}

/* The radial unit vector at x; returns the distance from the axis. */
static double radial(const hx_bearing *fit, const double x[3], double rho[3])
{
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = x[i] - fit->centre[i];
    const double r = across(fit, d, rho);
    for (int i = 0; i < 3; i++) rho[i] /= r;
    return r;
}

/* Sets the mean radius; the faces must face the axis at similar distances. */
static int check_round(const bore *b)
{
    hx_bearing *fit = b->fit;
    double least = INFINITY, most = 0.0, inwards = 0.0;
    for (int64_t f = 0; f < b->n_face; f++)
        for (int q = 0; q < b->at[f].n_gauss; q++) {
            const hx_face_point *p = &b->at[f].at[q];
            double rho[3];
            const double r = radial(fit, p->x, rho);
            fit->radius += r * hx_norm3(p->normal) / fit->area;
            inwards -= hx_dot3(rho, p->normal) / fit->area;
            least = fmin(least, r);
            most = fmax(most, r);
        }
    if (!(most - least <= SPREAD * fit->radius))
        return HX_RAISE(
            HX_EINPUT,
            "%s: set '%s' is not a bore: its faces lie %.4g to %.4g from the best axis, "
            "which is along (%.3g, %.3g, %.3g) through (%.6g, %.6g, %.6g)",
            b->origin, b->set, least, most, fit->axis[0], fit->axis[1], fit->axis[2],
            fit->centre[0], fit->centre[1], fit->centre[2]);
    if (inwards < 0.5)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' is not a bore: its faces point %s the axis along (%.3g, "
                        "%.3g, %.3g) through (%.6g, %.6g, %.6g), radius %.4g",
                        b->origin, b->set, inwards < -0.5 ? "away from" : "towards and away from",
                        fit->axis[0], fit->axis[1], fit->axis[2], fit->centre[0], fit->centre[1],
                        fit->centre[2], fit->radius);
    return HX_OK;
}

/* Angle of a node about the axis, from the unit vector e towards `side`, in degrees in [-180,
 * 180]. */
static double angle_of(const bore *b, int32_t node, const double e[3], const double side[3])
{
    double rho[3];
    radial(b->fit, b->space->mesh->xyz + 3 * (int64_t)node, rho);
    return atan2(hx_dot3(rho, side), hx_dot3(rho, e)) * 180.0 / PI;
}

/* What the faces cover of the half turn about e. */
typedef struct arc {
    double share;   /* fraction of the integral of max(0, cos) */
    double lacking; /* degrees that no face covers */
    double widest;  /* degrees that one face spans at most */
} arc;

/* Finds `peak` such that the resultant, the sum of max(0, peak . rho) rho dA, is `lateral`; on an
 * irregular mesh it is rotated slightly from the force. Newton's method: the resultant is linear
 * until a point changes sides, and it is the gradient of a convex function. */
static void fit_peak(const bore *b, const double lateral[3])
{
    hx_bearing *fit = b->fit;
    const double size = hx_norm3(lateral);
    double e[3], side[3], m[3];
    for (int i = 0; i < 3; i++) e[i] = fit->peak[i] = lateral[i] / size;
    hx_cross3(fit->axis, e, side);
    for (int step = 0; step < 50; step++) {
        double change = 0.0;
        /* sum of rho rho' dA over the points with peak . rho > 0, in the directions e and
         * side. */
        m[0] = m[1] = m[2] = 0.0;
        for (int64_t f = 0; f < b->n_face; f++)
            for (int q = 0; q < b->at[f].n_gauss; q++) {
                const hx_face_point *p = &b->at[f].at[q];
                double rho[3];
                radial(b->fit, p->x, rho);
                if (!(hx_dot3(fit->peak, rho) > 0.0)) continue;
                const double area = -hx_dot3(rho, p->normal);
                const double x = hx_dot3(rho, e), y = hx_dot3(rho, side);
                m[0] += area * x * x;
                m[1] += area * x * y;
                m[2] += area * y * y;
            }
        const double det = m[0] * m[2] - m[1] * m[1];
        const double along = size * m[2] / det, turn = -size * m[1] / det;
        for (int i = 0; i < 3; i++) {
            const double next = along * e[i] + turn * side[i];
            change = fmax(change, fabs(next - fit->peak[i]));
            fit->peak[i] = next;
        }
        if (change <= 1e-14 * hx_norm3(fit->peak)) break;
    }
}

/* HX_EINPUT: more than one face's arc is lacking, so the fitted pressure would grow on the rest. */
static int check_half(const bore *b, const double e[3])
{
    hx_bearing *fit = b->fit;
    arc half;
    uint8_t is_covered[N_STEP] = {0};
    double side[3];
    half = (arc){0};
    hx_cross3(b->fit->axis, e, side);
    for (int64_t f = 0; f < b->n_face; f++) {
        const double first = angle_of(b, b->at[f].corner[0], e, side);
        double low = 0.0, high = 0.0; /* range of the corners' angles relative to the first */
        for (int a = 1; a < b->at[f].n_corner; a++) {
            double turn = angle_of(b, b->at[f].corner[a], e, side) - first;
            turn -= 360.0 * floor(turn / 360.0 + 0.5);
            low = fmin(low, turn);
            high = fmax(high, turn);
        }
        half.widest = fmax(half.widest, high - low);
        const long end = lround((first + high) / DEGREES);
        for (long d = lround((first + low) / DEGREES); d < end; d++)
            is_covered[(d + 2 * N_STEP) % N_STEP] = 1;
    }
    for (int d = 0; d < N_STEP; d++) {
        if (d >= N_STEP / 4 && d < 3 * N_STEP / 4) continue;
        const double from = d * 2.0 * PI / N_STEP, to = (d + 1) * 2.0 * PI / N_STEP;
        if (is_covered[d])
            half.share += 0.5 * (sin(to) - sin(from));
        else
            half.lacking += DEGREES;
    }
    fit->covered = half.share;
    if (half.share >= COVERED && half.lacking <= fmax(half.widest, LACKING) + DEGREES) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' is a bore of radius %.4g about an axis along (%.3g, %.3g, "
                    "%.3g), but its faces lack %.0f degrees of the half that the force presses "
                    "against, and take only %.0f %% of the pressure: does the force point towards "
                    "the material? The set must contain that half",
                    b->origin, b->set, fit->radius, fit->axis[0], fit->axis[1], fit->axis[2],
                    half.lacking, 100.0 * half.share);
}

static int fit_bore(bore *b, const double force[3])
{
    const hx_set *set;
    HX_TRY(hx_problem_find_set(b->space->mesh, b->set, b->origin, &set));
    HX_TRY(hx_problem_faces(b->space->mesh, set, b->origin, &b->n_face, &b->face));
    if (b->n_face == 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' spans no boundary face (%lld %s); a bearing_force needs the "
                        "faces of a bore",
                        b->origin, b->set, (long long)set->n_node,
                        hx_noun(set->n_node, "node", "nodes"));
    HX_TRY(hx_alloc_raw(&b->at, (size_t)b->n_face, sizeof *b->at, "faces of a bore"));
    for (int64_t f = 0; f < b->n_face; f++)
        hx_space_face_symmetric(b->space, b->face[f], &b->at[f]);
    HX_TRY(fit_axis(b));
    fit_centre(b);
    HX_TRY(check_round(b));
    hx_bearing *fit = b->fit;
    double lateral[3], e[3];
    fit->covered = 1.0;
    const double size = across(fit, force, lateral);
    for (int i = 0; i < 3; i++) fit->uniform[i] = (force[i] - lateral[i]) / fit->area;
    if (!(size > 1e-12 * hx_norm3(force))) return HX_OK;
    for (int i = 0; i < 3; i++) e[i] = lateral[i] / size;
    HX_TRY(check_half(b, e));
    fit_peak(b, lateral);
    return HX_OK;
}

int hx_bearing_fit(const hx_mesh *mesh, const char *set, const char *origin, const double force[3],
                   hx_bearing *bearing)
{
    const hx_space space = hx_space_linear(mesh);
    bore b = {.space = &space, .set = set, .origin = origin, .fit = bearing};
    memset(bearing, 0, sizeof *bearing);
    const int rc = fit_bore(&b, force);
    bore_free(&b);
    return rc;
}

int hx_load_add_bearing(const hx_space *space, const hx_load_spec *load, double *force)
{
    hx_bearing fit;
    bore b = {.space = space, .set = load->set, .origin = load->origin, .fit = &fit};
    memset(&fit, 0, sizeof fit);
    const int rc = fit_bore(&b, load->value);
    for (int64_t f = 0; rc == HX_OK && f < b.n_face; f++) {
        const hx_space_face *at = &b.at[f];
        for (int q = 0; q < at->n_gauss; q++) {
            const hx_face_point *p = &at->at[q];
            const double area = hx_norm3(p->normal);
            double rho[3];
            radial(&fit, p->x, rho);
            const double push = -hx_dot3(rho, p->normal) * fmax(0.0, hx_dot3(fit.peak, rho));
            for (int a = 0; a < at->n; a++)
                for (int i = 0; i < 3; i++)
                    force[3 * (int64_t)at->point[a] + i] +=
                        at->shape[q][a] * (fit.uniform[i] * area + push * rho[i]);
        }
    }
    bore_free(&b);
    return rc;
}
