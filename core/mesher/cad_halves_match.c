/* Compares the halves of a shape at a plane, face by face and solid by solid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "cad_halves.h"

/* What an entity has on one side of the plane. */
typedef struct side {
    double measure, centre[3];
} side;

typedef struct matching {
    const hx_cad_halves *halves;
    const hx_mirror_plane *plane;
    int kind;
    double most;         /* the largest difference of measures that is equal */
    side *above, *below; /* [n] (owned) */
    uint8_t *is_on;      /* [n] 1: in the plane (owned) */
} matching;

double hx_cad_height(const hx_mirror_plane *plane, const double x[3])
{
    double height = 0.0;
    for (int d = 0; d < 3; d++) height += (x[d] - plane->point[d]) * plane->normal[d];
    return height;
}

void hx_cad_box_range(const hx_mirror_plane *plane, const double box[6], double *low, double *high)
{
    double middle = -hx_dot3(plane->normal, plane->point), half = 0.0;
    for (int d = 0; d < 3; d++) {
        middle += 0.5 * plane->normal[d] * (box[d] + box[d + 3]);
        half += 0.5 * fabs(plane->normal[d]) * (box[d + 3] - box[d]);
    }
    *low = middle - half;
    *high = middle + half;
}

static void mirror_point(const hx_mirror_plane *plane, const double x[3], double y[3])
{
    const double height = hx_cad_height(plane, x);
    for (int d = 0; d < 3; d++) y[d] = x[d] - 2.0 * height * plane->normal[d];
}

static double point_distance(const double x[3], const double y[3])
{
    return hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
}

/* --- the sides --- */

static void set_side(side *to, double measure, const double moment[3])
{
    to->measure = measure;
    for (int d = 0; d < 3; d++) to->centre[d] = moment[d] / measure;
}

/* Divides an entity that the plane cuts by its pieces above. */
static void divide(matching *m, int p, size_t i)
{
    const hx_cad_part *const whole = &m->halves->whole[m->kind].part[i];
    const hx_cad_parts *const cut = &m->halves->cut[m->kind];
    double above = 0.0, moment[3] = {0.0, 0.0, 0.0}, rest[3];
    for (size_t k = 0; k < cut->n; k++) {
        const hx_cad_part *const part = &cut->part[k];
        if (part->place != p || part->of != (int64_t)i) continue;
        above += part->measure;
        for (int d = 0; d < 3; d++) moment[d] += part->measure * part->centre[d];
    }
    for (int d = 0; d < 3; d++) rest[d] = whole->measure * whole->centre[d] - moment[d];
    /* a box is larger than its curved face, so the plane may not cut the face itself */
    const double nothing = 1e-6 * whole->measure;
    if (above > nothing) set_side(&m->above[i], above, moment);
    if (whole->measure - above > nothing) set_side(&m->below[i], whole->measure - above, rest);
    /* the box of a face in a plane that is not normal to an axis is thick */
    const side *const only = m->above[i].measure > 0.0 ? &m->above[i] : &m->below[i];
    m->is_on[i] = (m->above[i].measure > 0.0) != (m->below[i].measure > 0.0) &&
                  fabs(hx_cad_height(m->plane, only->centre)) <= hx_cad_equal * m->halves->size;
    if (m->is_on[i]) m->above[i].measure = m->below[i].measure = 0.0;
}

static void find_sides(matching *m, int p)
{
    const hx_cad_parts *const whole = &m->halves->whole[m->kind];
    const double equal = hx_cad_equal * m->halves->size;
    for (size_t i = 0; i < whole->n; i++) {
        const hx_cad_part *const part = &whole->part[i];
        double low, high;
        hx_cad_box_range(m->plane, part->box, &low, &high);
        if (low < -equal && high > equal) {
            divide(m, p, i);
            continue;
        }
        m->is_on[i] = low >= -equal && high <= equal;
        if (m->is_on[i]) continue;
        side *const to = low >= -equal ? &m->above[i] : &m->below[i];
        to->measure = part->measure;
        memcpy(to->centre, part->centre, sizeof to->centre);
    }
}

/* --- images --- */

/* How far the lower side of j is from the mirror image of the upper side of i; INFINITY: another
 * measure. Among equal ones, boxes decide (concentric faces). */
static double compare(const matching *m, size_t i, size_t j, double *off)
{
    const hx_cad_part *const part = m->halves->whole[m->kind].part;
    double image[3], low[2], high[2], boxes = 0.0;
    if (!(fabs(m->above[i].measure - m->below[j].measure) <= m->most)) return (double)INFINITY;
    mirror_point(m->plane, m->above[i].centre, image);
    *off = point_distance(image, m->below[j].centre);
    hx_cad_box_range(m->plane, part[i].box, &low[0], &high[0]);
    hx_cad_box_range(m->plane, part[j].box, &low[1], &high[1]);
    boxes = fabs(low[0] + high[1]) + fabs(high[0] + low[1]);
    for (int d = 0; d < 3; d++)
        boxes +=
            fabs((part[i].box[d + 3] - part[i].box[d]) - (part[j].box[d + 3] - part[j].box[d]));
    return *off + 1e-3 * boxes;
}

static void explain(const matching *m, size_t i, const side *s, char *why, size_t n_why)
{
    snprintf(why, n_why,
             "%s%zu has the %s %.6g with the centre [%.6g, %.6g, %.6g] on one side, "
             "and nothing is its mirror image within 1e-6 of the part's size",
             m->kind == HX_CAD_FACES ? "face-" : "solid ", i + 1,
             m->kind == HX_CAD_FACES ? "area" : "volume", s->measure, s->centre[0], s->centre[1],
             s->centre[2]);
}

/* Returns 0 if some entity has no image of its own. */
static int find_images(const matching *m, int64_t *image, double *off, char *why, size_t n_why)
{
    const size_t n = m->halves->whole[m->kind].n;
    const double equal = hx_cad_equal * m->halves->size;
    for (size_t i = 0; i < n; i++) image[i] = m->is_on[i] ? (int64_t)i : -1;
    for (size_t i = 0; i < n; i++) {
        if (!(m->above[i].measure > 0.0)) continue;
        const int is_cut = m->below[i].measure > 0.0;
        double least = INFINITY, at_least = INFINITY;
        int64_t best = -1;
        for (size_t j = is_cut ? i : 0; j < (is_cut ? i + 1 : n); j++) {
            double away = INFINITY;
            if (!(m->below[j].measure > 0.0) || image[j] >= 0) continue;
            if (!is_cut && m->above[j].measure > 0.0) continue;
            const double score = compare(m, i, j, &away);
            if (!(away <= equal) || !(score < least)) continue;
            least = score;
            at_least = away;
            best = (int64_t)j;
        }
        if (best < 0) {
            explain(m, i, &m->above[i], why, n_why);
            return 0;
        }
        image[i] = best;
        image[best] = (int64_t)i;
        if (m->kind == HX_CAD_FACES) *off = fmax(*off, at_least / m->halves->size);
    }
    for (size_t i = 0; i < n; i++) {
        if (image[i] >= 0) continue;
        explain(m, i, &m->below[i], why, n_why);
        return 0;
    }
    return 1;
}

static int match_kind(hx_cad_halves *halves, int kind, int p, double *off, char *why, size_t n_why)
{
    const size_t n = halves->whole[kind].n;
    matching m = {.halves = halves, .plane = &halves->plane[p], .kind = kind};
    int rc = HX_OK, agrees = 0;
    for (size_t i = 0; i < n; i++) m.most += halves->whole[kind].part[i].measure;
    m.most *= hx_cad_equal;
    HX_TRY_FAIL(hx_alloc(&m.above, n, sizeof *m.above, "halves of faces"));
    HX_TRY_FAIL(hx_alloc(&m.below, n, sizeof *m.below, "halves of faces"));
    HX_TRY_FAIL(hx_alloc(&m.is_on, n, sizeof *m.is_on, "halves of faces"));
    free(halves->image[kind][p]);
    halves->image[kind][p] = NULL;
    HX_TRY_FAIL(hx_alloc(&halves->image[kind][p], n, sizeof **halves->image[kind], "images"));
    find_sides(&m, p);
    agrees = find_images(&m, halves->image[kind][p], off, why, n_why);
fail:
    free(m.above);
    free(m.below);
    free(m.is_on);
    return rc < 0 ? rc : agrees;
}

int hx_cad_match_halves(hx_cad_halves *halves, int p, double *off, char *why, size_t n_why)
{
    *off = 0.0;
    for (int kind = HX_CAD_N_KIND - 1; kind >= 0; kind--) { /* solids first: their volume */
        const int agrees = match_kind(halves, kind, p, off, why, n_why);
        if (agrees <= 0) return agrees;
    }
    return 1;
}
