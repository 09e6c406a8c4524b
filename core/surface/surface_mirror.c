/* Finds planes of symmetry of an extracted surface. Vertices are compared by their mesh edges and
 * the densities at the ends, which do not depend on how the triangles between them were chosen. */
#include "surface_mirror.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/random.h"

/* Largest distance of a mesh edge from the image of another one, relative to the box of the part.
 */
static const double same_place = 1e-6;

/* Largest difference of nodal densities that are mirror images. It moves the surface by about as
 * many edges, and is that of a solver's tolerance after some designs. */
static const double same_density = 1e-3;

/* Vertices by the middle of their mesh edges. */
typedef struct places {
    const hx_surface *surface;
    const hx_surface_field *field;
    double cell, tolerance; /* length */
    double middle[3];       /* of the box */
    uint64_t mask;          /* number of lists - 1 */
    int32_t *head, *next;   /* lists of vertices with the same hash (owned) */
} places;

void hx_mirrors_free(hx_mirrors *mirrors)
{
    free(mirrors->image);
    free(mirrors->on);
    memset(mirrors, 0, sizeof *mirrors);
}

static const double *end_of(const places *p, int64_t v, int i)
{
    return p->field->mesh->xyz + 3 * (int64_t)p->surface->edge[2 * v + i];
}

static void middle_of(const places *p, int64_t v, double x[3])
{
    for (int d = 0; d < 3; d++) x[d] = 0.5 * (end_of(p, v, 0)[d] + end_of(p, v, 1)[d]);
}

static uint64_t list_of(const places *p, const int64_t cell[3])
{
    uint64_t h = 0;
    for (int d = 0; d < 3; d++) h = hx_random_mix(h ^ (uint64_t)cell[d]);
    return h & p->mask;
}

static int places_create(places *p)
{
    const hx_surface *const s = p->surface;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    double x[3], size = 0.0;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        if (s->edge[2 * v] < 0) continue;
        middle_of(p, v, x);
        for (int d = 0; d < 3; d++) {
            low[d] = fmin(low[d], x[d]);
            high[d] = fmax(high[d], x[d]);
        }
    }
    for (int d = 0; d < 3; d++) {
        p->middle[d] = 0.5 * (low[d] + high[d]);
        size = fmax(size, high[d] - low[d]);
    }
    if (!(size > 0.0) || !(size < HUGE_VAL)) size = 1.0;
    p->tolerance = same_place * size;
    p->cell = 4.0 * p->tolerance;
    uint64_t n = 1;
    while (n < 2 * (uint64_t)s->n_vertex) n *= 2;
    p->mask = n - 1;
    HX_TRY(hx_alloc_raw(&p->head, (size_t)n, sizeof *p->head, "vertices by place"));
    HX_TRY(hx_alloc_raw(&p->next, (size_t)s->n_vertex, sizeof *p->next, "vertices by place"));
    for (uint64_t i = 0; i < n; i++) p->head[i] = -1;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        if (s->edge[2 * v] < 0) continue;
        int64_t cell[3];
        middle_of(p, v, x);
        for (int d = 0; d < 3; d++) cell[d] = llround(floor(x[d] / p->cell));
        const uint64_t list = list_of(p, cell);
        p->next[v] = p->head[list];
        p->head[list] = (int32_t)v;
    }
    return HX_OK;
}

/* 1 if w is on the mirror image of the mesh edge of v. */
static int is_image(const places *p, const hx_mirrors *m, int plane, int64_t v, int64_t w)
{
    const double *const value = p->field->value;
    for (int i = 0; i < 2; i++) {
        const double *const x = end_of(p, v, i), *const z = end_of(p, w, i);
        const double a = value[p->surface->edge[2 * v + i]];
        const double b = value[p->surface->edge[2 * w + i]];
        double y[3] = {x[0], x[1], x[2]};
        hx_mirror_reflect(m, plane, y);
        for (int d = 0; d < 3; d++)
            if (!(fabs(y[d] - z[d]) <= p->tolerance)) return 0;
        if (isinf(a) != isinf(b) || fabs(a - b) > same_density) return 0;
    }
    return 1;
}

/* The vertex on the mirror image of the mesh edge of v, -1: none. */
static int32_t find_image(const places *p, const hx_mirrors *m, int plane, int64_t v)
{
    double x[3];
    int64_t near[3][2];
    middle_of(p, v, x);
    hx_mirror_reflect(m, plane, x);
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 2; i++)
            near[d][i] = llround(floor(x[d] / p->cell + (i == 0 ? -0.5 : 0.5)));
    for (int i = 0; i < 8; i++) {
        const int64_t cell[3] = {near[0][i & 1], near[1][i >> 1 & 1], near[2][i >> 2]};
        for (int32_t w = p->head[list_of(p, cell)]; w >= 0; w = p->next[w])
            if (is_image(p, m, plane, v, w)) return w;
    }
    return -1;
}

/* twin[n_vertex] := images by the last plane; returns 0 if one is missing. */
static int find_images(const places *p, const hx_mirrors *m, int32_t *twin)
{
    const hx_surface *const s = p->surface;
    for (int64_t v = 0; v < s->n_vertex; v++) {
        twin[v] = s->edge[2 * v] < 0 ? -1 : find_image(p, m, m->n - 1, v);
        if (twin[v] < 0 && s->edge[2 * v] >= 0) return 0;
    }
    return 1;
}

int hx_mirrors_find(hx_mirrors *mirrors, const hx_surface *surface, const hx_surface_field *field,
                    int32_t **twin)
{
    static const double normal[][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1}, {1, 1, 0}, {1, -1, 0},
                                       {0, 1, 1}, {0, 1, -1}, {1, 0, 1}, {1, 0, -1}};
    int rc;
    places p = {.surface = surface, .field = field};
    memset(mirrors, 0, sizeof *mirrors);
    HX_TRY_FAIL(hx_alloc_raw(twin, HX_MIRROR_MOST * (size_t)surface->n_vertex, sizeof **twin,
                             "mirror images of vertices"));
    HX_TRY_FAIL(places_create(&p));
    for (size_t i = 0; i < sizeof normal / sizeof normal[0]; i++) {
        hx_mirror_plane *const plane = &mirrors->plane[mirrors->n];
        int is_oblique = mirrors->n == HX_MIRROR_MOST;
        for (int k = 0; k < mirrors->n; k++)
            is_oblique |= fabs(hx_dot3(mirrors->plane[k].normal, normal[i])) > 1e-9;
        if (is_oblique) continue;
        for (int d = 0; d < 3; d++) plane->normal[d] = normal[i][d] / hx_norm3(normal[i]);
        plane->at = hx_dot3(plane->normal, p.middle);
        mirrors->n++;
        if (!find_images(&p, mirrors, *twin + (mirrors->n - 1) * surface->n_vertex)) mirrors->n--;
    }
fail:
    free(p.head);
    free(p.next);
    return rc;
}
