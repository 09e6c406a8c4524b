#include "surface_thickness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "surface_internal.h"
#include "triangle_tree.h"

/* Cosine of the least angle between the normals of opposite triangles. */
static const double opposed = -0.5;

/* The shell around the middle of a span, in half its lengths. */
static const double inner = 2.0, outer = 6.0;

/* Where rays begin, relative to their length, so that they do not meet their own triangles. */
static const double start = 1e-9;

/* After a span that is in no member, those that begin near its ends (as a distance from its centre,
 * in half its lengths) and are at most this much longer are not tried, so that few spans are tried
 * in a bulky part. */
static const double beside = 1.2, similar = 1.25;

/* Weights of a triangle's corners: a point that lies on no diagonal of an opposite square. */
static const double middle[3] = {0.40, 0.33, 0.27};

/* The way through the part from a triangle to the opposite one. */
typedef struct span {
    double length;
    double centre[3];
    int32_t from, to;
} span;

typedef struct thickness_finder {
    const hx_surface *surface;
    hx_triangle_tree tree;
    int32_t *opposite; /* [3 n_tri] half-edges (owned) */
    span *span;        /* [n_tri] (owned) */
    int64_t n;
    int32_t
        *seen; /* [n_tri] number of the last span whose surroundings have the triangle (owned) */
    uint8_t *is_in; /* [n_tri] 1: in the inner ball of that span; 2: counted (owned) */
    double *tried;  /* [n_tri] spans that begin there and are not longer are in no member (owned) */
    int32_t *queue; /* [n_tri] (owned) */
    int32_t *stack; /* [n_tri] (owned) */
} thickness_finder;

/* --- spans --- */

/* Returns 1 if triangle t has an opposite one. */
static int find_span(const thickness_finder *f, int64_t t, double far, span *s)
{
    const double *x[3];
    double n[3], m[3], a[3], b[3], share;
    hx_triangle_corners(f->surface, f->surface->xyz, t, x);
    hx_triangle_normal2(x[0], x[1], x[2], n);
    const double size = hx_norm3(n);
    if (!(size > 0.0)) return 0;
    for (int d = 0; d < 3; d++) {
        const double p = middle[0] * x[0][d] + middle[1] * x[1][d] + middle[2] * x[2][d];
        a[d] = p - start * far * n[d] / size;
        b[d] = p - far * n[d] / size;
    }
    if (!hx_triangle_tree_first(&f->tree, a, b, &share, &s->to)) return 0;
    hx_triangle_corners(f->surface, f->surface->xyz, s->to, x);
    hx_triangle_normal2(x[0], x[1], x[2], m);
    if (!(hx_dot3(n, m) <= opposed * size * hx_norm3(m))) return 0;
    s->from = (int32_t)t;
    s->length = (start + share * (1.0 - start)) * far;
    for (int d = 0; d < 3; d++) s->centre[d] = a[d] + 0.5 * share * (b[d] - a[d]);
    return 1;
}

static int by_length(const void *a, const void *b)
{
    const span *const x = a, *const y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Lists the spans by length. */
static void list_spans(thickness_finder *f)
{
    const hx_triangle_box *const box = &f->tree.box[0];
    double far = 0.0;
    for (int d = 0; d < 3; d++) far += (box->high[d] - box->low[d]) * (box->high[d] - box->low[d]);
    far = sqrt(far);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < f->surface->n_tri; t++)
        if (!find_span(f, t, far, &f->span[t])) f->span[t].from = -1;
    for (int64_t t = 0; t < f->surface->n_tri; t++)
        if (f->span[t].from >= 0) f->span[f->n++] = f->span[t];
    qsort(f->span, (size_t)f->n, sizeof *f->span, by_length);
}

/* --- members --- */

static double distance_to(const thickness_finder *f, int32_t t, const double c[3])
{
    const double *x[3];
    double share[3], sum = 0.0;
    hx_triangle_corners(f->surface, f->surface->xyz, t, x);
    hx_triangle_nearest(x[0], x[1], x[2], c, share);
    for (int d = 0; d < 3; d++) {
        const double off = share[0] * x[0][d] + share[1] * x[1][d] + share[2] * x[2][d] - c[d];
        sum += off * off;
    }
    return sqrt(sum);
}

/* Adds a triangle to the surroundings, if it is within the outer ball. */
static void reach(thickness_finder *f, const span *s, int32_t number, int32_t t, int64_t *n)
{
    if (f->seen[t] == number) return;
    const double distance = distance_to(f, t, s->centre), half = 0.5 * s->length;
    if (!(distance < outer * half)) return;
    f->seen[t] = number;
    f->is_in[t] = distance < inner * half;
    f->queue[(*n)++] = t;
}

/* Visits the triangles of the shell that are connected with t. Returns 1 if they reach its
 * outside. */
static int visit_part(thickness_finder *f, int32_t number, int32_t t)
{
    int reaches = 0;
    int64_t n = 0;
    f->is_in[t] = 2;
    f->stack[n++] = t;
    while (n > 0) {
        const int32_t at = f->stack[--n];
        for (int k = 0; k < 3; k++) {
            const int32_t o = f->opposite[3 * (int64_t)at + k];
            if (o < 0) continue;
            const int32_t other = o / 3;
            if (f->seen[other] != number) {
                reaches = 1;
            } else if (!f->is_in[other]) {
                f->is_in[other] = 2;
                f->stack[n++] = other;
            }
        }
    }
    return reaches;
}

static void leave_out(thickness_finder *f, const span *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const int32_t t = f->queue[i];
        if (f->is_in[t] == 1 && distance_to(f, t, s->centre) < beside * 0.5 * s->length)
            f->tried[t] = fmax(f->tried[t], similar * s->length);
    }
}

static int is_member(thickness_finder *f, const span *s, int32_t number)
{
    int64_t n = 0;
    int n_part = 0;
    if (s->length <= f->tried[s->from]) return 0;
    reach(f, s, number, s->from, &n);
    reach(f, s, number, s->to, &n);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const int32_t o = f->opposite[3 * (int64_t)f->queue[i] + k];
            if (o >= 0) reach(f, s, number, o / 3, &n);
        }
    for (int64_t i = 0; i < n && n_part < 2; i++)
        if (!f->is_in[f->queue[i]]) n_part += visit_part(f, number, f->queue[i]);
    if (n_part < 2) leave_out(f, s, n);
    return n_part >= 2;
}

static int create_finder(thickness_finder *f, const hx_surface *s)
{
    const size_t n = (size_t)s->n_tri;
    int64_t n_bad;
    memset(f, 0, sizeof *f);
    f->surface = s;
    HX_TRY(hx_triangle_tree_create(&f->tree, s));
    HX_TRY(hx_alloc_raw(&f->opposite, 3 * n, sizeof *f->opposite, "half-edges"));
    HX_TRY(hx_surface_pair(s->n_vertex, s->n_tri, s->tri, f->opposite, NULL, &n_bad));
    HX_TRY(hx_alloc_raw(&f->span, n, sizeof *f->span, "thickness of members"));
    HX_TRY(hx_alloc_raw(&f->seen, n, sizeof *f->seen, "thickness of members"));
    HX_TRY(hx_alloc(&f->is_in, n, 1, "thickness of members"));
    HX_TRY(hx_alloc(&f->tried, n, sizeof *f->tried, "thickness of members"));
    HX_TRY(hx_alloc_raw(&f->queue, n, sizeof *f->queue, "thickness of members"));
    return hx_alloc_raw(&f->stack, n, sizeof *f->stack, "thickness of members");
}

static void free_finder(thickness_finder *f)
{
    hx_triangle_tree_free(&f->tree);
    free(f->opposite);
    free(f->span);
    free(f->seen);
    free(f->is_in);
    free(f->tried);
    free(f->queue);
    free(f->stack);
}

int hx_surface_thickness(const hx_surface *surface, hx_thickness *least)
{
    thickness_finder f;
    int rc = HX_OK;
    *least = (hx_thickness){.value = (double)NAN};
    if (surface->n_tri == 0) return HX_OK;
    HX_TRY_FAIL(create_finder(&f, surface));
    list_spans(&f);
    for (int64_t t = 0; t < surface->n_tri; t++) f.seen[t] = -1;
    for (int64_t i = 0; i < f.n && isnan(least->value); i++) {
        if (!is_member(&f, &f.span[i], (int32_t)i)) continue;
        least->value = f.span[i].length;
        memcpy(least->place, f.span[i].centre, sizeof least->place);
    }
fail:
    free_finder(&f);
    return rc;
}

/* --- the surface of elements --- */

static int is_outer(const hx_mesh *mesh, const uint8_t *solid, int64_t e, int n,
                    const int32_t node[4])
{
    const int64_t other = n < 3 ? e : hx_mesh_face_neighbour(mesh, e, n, node);
    return n >= 3 && (other < 0 || !solid[other]);
}

int hx_surface_of_elements(const hx_mesh *mesh, const uint8_t *solid, hx_surface *surface)
{
    int rc;
    int64_t n_tri = 0;
    int32_t node[4];
    memset(surface, 0, sizeof *surface);
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
        if (!solid[k / 6]) continue;
        const int n = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
        if (is_outer(mesh, solid, k / 6, n, node)) n_tri += n - 2;
    }
    if (3 * n_tri > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "the boundary of the 0/1 design has more than 2^31 corners");
    const size_t n_node = (size_t)mesh->n_node;
    HX_TRY_FAIL(hx_alloc_raw(&surface->xyz, 3 * n_node, sizeof *surface->xyz, "surface"));
    HX_TRY_FAIL(hx_alloc_raw(&surface->tri, 3 * (size_t)n_tri, sizeof *surface->tri, "surface"));
    memcpy(surface->xyz, mesh->xyz, 3 * n_node * sizeof *surface->xyz);
    surface->n_vertex = mesh->n_node;
    for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
        if (!solid[k / 6]) continue;
        const int n = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
        if (!is_outer(mesh, solid, k / 6, n, node)) continue;
        for (int i = 2; i < n; i++) {
            int32_t *const tri = surface->tri + 3 * surface->n_tri++;
            tri[0] = node[0];
            tri[1] = node[i - 1];
            tri[2] = node[i];
        }
    }
fail:
    if (rc < 0) hx_surface_free(surface);
    return rc;
}
