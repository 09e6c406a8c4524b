#include "surface_thickness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "thickness_finder.h"

/* Cosines of the least angles between the normals of opposite triangles, and of parallel ones. */
static const double opposed = -0.5, parallel = -0.94;

/* Spans that are longer than this, relative to the thickness of their member, are not looked at. */
static const double oblique = 2.0;

/* Where rays begin, relative to their length, so that they do not meet their own triangles. */
static const double start = 1e-9;

/* Weights of a triangle's corners: a point that lies on no diagonal of an opposite square. */
static const double middle[3] = {0.40, 0.33, 0.27};

/* --- spans --- */

/* Returns 1 if triangle t has an opposite one; way: -1 through the part, 1 through the gap. */
static int find_span(const hx_thickness_finder *f, int64_t t, double way, hx_span *s)
{
    const double *x[3];
    double n[3], m[3], a[3], b[3], share;
    hx_triangle_corners(f->surface, f->surface->xyz, t, x);
    hx_triangle_normal2(x[0], x[1], x[2], n);
    const double size = hx_norm3(n);
    if (!(size > 0.0)) return 0;
    for (int d = 0; d < 3; d++) {
        const double p = middle[0] * x[0][d] + middle[1] * x[1][d] + middle[2] * x[2][d];
        a[d] = p + way * start * f->far * n[d] / size;
        b[d] = p + way * f->far * n[d] / size;
        s->along[d] = way * n[d] / size;
    }
    if (!hx_triangle_tree_first(&f->tree, a, b, &share, &s->to)) return 0;
    hx_triangle_corners(f->surface, f->surface->xyz, s->to, x);
    hx_triangle_normal2(x[0], x[1], x[2], m);
    const double along = hx_dot3(n, m), most = size * hx_norm3(m);
    if (!(along <= opposed * most)) return 0;
    s->is_parallel = along <= parallel * most;
    s->from = (int32_t)t;
    s->length = (start + share * (1.0 - start)) * f->far;
    for (int d = 0; d < 3; d++) s->centre[d] = a[d] + 0.5 * share * (b[d] - a[d]);
    return 1;
}

static int by_length(const void *a, const void *b)
{
    const hx_span *const x = a, *const y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Marks caps that are opposite to caps and drops their spans: there the body ends, or forced-solid
 * elements do, and not the design. A gap between a cap and something else is none. */
static void drop_caps(hx_thickness_finder *f, hx_thickness_of of)
{
    const uint8_t *const is_cap = f->surface->is_cap;
    for (int64_t t = 0; is_cap && t < f->surface->n_tri; t++) {
        hx_span *const s = &f->span[t];
        if (s->from < 0) continue;
        const int n_cap = is_cap[t] + is_cap[s->to];
        f->is_across[t] = n_cap == 2;
        if (n_cap == 2 || (n_cap > 0 && of == HX_THICKNESS_OF_GAPS)) s->from = -1;
    }
}

/* Lists the spans by length. */
static void list_spans(hx_thickness_finder *f, hx_thickness_of of)
{
    const double way = of == HX_THICKNESS_OF_GAPS ? 1.0 : -1.0;
    const int64_t n_tri = f->surface->n_tri;
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < n_tri; t++)
        if (!find_span(f, t, way, &f->span[t])) f->span[t].from = -1;
    drop_caps(f, of);
    for (int64_t t = 0; t < n_tri; t++) {
        f->at[t] = f->seen[t] = -1;
        if (f->span[t].from >= 0) f->span[f->n++] = f->span[t];
    }
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < f->n; i++) {
        hx_span *const s = &f->span[i];
        s->ball =
            2.0 * hx_triangle_tree_distance(&f->tree, s->centre, f->is_across, 0.5 * s->length);
    }
    qsort(f->span, (size_t)f->n, sizeof *f->span, by_length);
    for (int64_t i = 0; i < f->n; i++) f->at[f->span[i].from] = (int32_t)i;
}

/* --- the search --- */

static int create_finder(hx_thickness_finder *f, const hx_surface *s)
{
    static const char what[] = "thickness of members";
    const size_t n = (size_t)s->n_tri;
    int64_t n_bad;
    memset(f, 0, sizeof *f);
    f->surface = s;
    HX_TRY(hx_triangle_tree_create(&f->tree, s));
    const hx_triangle_box *const box = &f->tree.box[0];
    double size[3];
    for (int d = 0; d < 3; d++) size[d] = box->high[d] - box->low[d];
    f->far = hx_norm3(size);
    HX_TRY(hx_alloc_raw(&f->opposite, 3 * n, sizeof *f->opposite, "half-edges"));
    HX_TRY(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, f->opposite, NULL, &n_bad));
    if (s->is_cap) HX_TRY(hx_alloc(&f->is_across, n, 1, what));
    HX_TRY(hx_alloc_raw(&f->span, n, sizeof *f->span, what));
    HX_TRY(hx_alloc_raw(&f->at, n, sizeof *f->at, what));
    HX_TRY(hx_alloc_raw(&f->seen, n, sizeof *f->seen, what));
    HX_TRY(hx_alloc(&f->is_in, n, 1, what));
    HX_TRY(hx_alloc(&f->tried, n, sizeof *f->tried, what));
    HX_TRY(hx_alloc_raw(&f->queue, n, sizeof *f->queue, what));
    return hx_alloc_raw(&f->stack, n, sizeof *f->stack, what);
}

static void free_finder(hx_thickness_finder *f)
{
    hx_triangle_tree_free(&f->tree);
    free(f->opposite);
    free(f->span);
    free(f->at);
    free(f->is_across);
    free(f->seen);
    free(f->is_in);
    free(f->tried);
    free(f->queue);
    free(f->stack);
}

static int find_least(const hx_surface *surface, hx_thickness_of of, hx_thickness *least)
{
    hx_thickness_finder f;
    int rc;
    HX_TRY_FAIL(create_finder(&f, surface));
    list_spans(&f, of);
    for (int64_t i = 0; i < f.n && f.span[i].length < oblique * least->value; i++) {
        const double value = hx_thickness_of_member(&f, &f.span[i], least->value);
        if (!(value < least->value)) continue;
        least->value = value;
        memcpy(least->place, f.span[i].centre, sizeof least->place);
    }
fail:
    free_finder(&f);
    return rc;
}

int hx_surface_thickness(const hx_surface *surface, hx_thickness_of of, hx_thickness *least)
{
    *least = (hx_thickness){.value = HUGE_VAL};
    if (surface->n_tri > 0) HX_TRY(find_least(surface, of, least));
    if (isinf(least->value)) least->value = (double)NAN;
    return HX_OK;
}
