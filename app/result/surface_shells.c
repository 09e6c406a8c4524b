#include "surface_shells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/union_find.h"
#include "core/base/vec3.h"

/* Maximum number of pieces that are not held and are considered; maximum number of tetrahedra of a
 * piece that are tried. */
enum { MOST_FLOATING = 200, MOST_TRIED = 8 };

typedef struct shells {
    const hx_surface *surface;
    int32_t *root;  /* [n_vertex] (owned) */
    double *volume; /* [n_vertex] at roots: enclosed volume, positive for outer shells (owned) */
    /* [n_vertex] at roots: a ray crosses the shell an odd number of times (owned) */
    uint8_t *is_odd;
    uint8_t *has; /* [n_vertex] at roots: the shell contains held tetrahedra (owned) */
} shells;

static const double *corner_of(const hx_surface *s, int64_t t, int k)
{
    return s->xyz + 3 * (int64_t)s->tri[3 * t + k];
}

static int open_shells(shells *s, const hx_surface *surface)
{
    const size_t n = (size_t)surface->n_vertex;
    double total = 0.0;
    s->surface = surface;
    HX_TRY(hx_alloc_raw(&s->root, n, sizeof *s->root, "shells"));
    HX_TRY(hx_alloc(&s->volume, n, sizeof *s->volume, "shells"));
    HX_TRY(hx_alloc(&s->is_odd, n, 1, "shells"));
    HX_TRY(hx_alloc(&s->has, n, 1, "shells"));
    for (int32_t v = 0; v < surface->n_vertex; v++) s->root[v] = v;
    for (int64_t t = 0; t < surface->n_tri; t++)
        for (int k = 1; k < 3; k++) hx_unite(s->root, surface->tri[3 * t], surface->tri[3 * t + k]);
    for (int64_t t = 0; t < surface->n_tri; t++) {
        const double part = hx_triple3(corner_of(surface, t, 0), corner_of(surface, t, 1),
                                       corner_of(surface, t, 2)) /
                            6.0;
        s->volume[hx_root(s->root, surface->tri[3 * t])] += part;
        total += part;
    }
    /* the shell's triangles face inwards */
    for (size_t v = 0; v < n && total < 0.0; v++) s->volume[v] = -s->volume[v];
    return HX_OK;
}

/* 1 if the ray from x along the first axis meets the triangle. */
static int is_crossed(const hx_surface *s, int64_t t, const double x[3])
{
    const double *const a = corner_of(s, t, 0), *const b = corner_of(s, t, 1);
    const double *const c = corner_of(s, t, 2);
    double low = 0.0, high = 0.0;
    for (int d = 1; d < 3; d++) {
        low = fmin(a[d], fmin(b[d], c[d]));
        high = fmax(a[d], fmax(b[d], c[d]));
        if (x[d] < low || x[d] > high) return 0;
    }
    const double area = (b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]);
    const double u = (x[1] - a[1]) * (c[2] - a[2]) - (x[2] - a[2]) * (c[1] - a[1]);
    const double v = (b[1] - a[1]) * (x[2] - a[2]) - (b[2] - a[2]) * (x[1] - a[1]);
    if (!(fabs(area) > 0.0)) return 0;
    const double p = u / area, q = v / area;
    return p >= 0.0 && q >= 0.0 && p + q <= 1.0 &&
           a[0] + p * (b[0] - a[0]) + q * (c[0] - a[0]) > x[0];
}

/* The shell of piece i; -1: none. Its tetrahedra are tried until one is inside a shell, since those
 * that reach across the surface may be outside. first, last: first and last tetrahedron of the
 * piece. */
static int32_t shell_of_piece(shells *s, const hx_mesh *raw, const int32_t *piece, int32_t i,
                              int64_t first, int64_t last)
{
    int32_t shell = -1;
    int n_tried = 0;
    double x[3];
    for (int64_t e = first; e <= last && shell < 0 && n_tried < MOST_TRIED; e++) {
        if (piece[e] != i) continue;
        n_tried++;
        /* A point in a tetrahedron whose ray is unlikely to meet an edge of the surface. */
        static const double weight[4] = {0.2371, 0.2913, 0.3049, 0.1667};
        int corner[4];
        const int32_t *const conn = raw->conn + 8 * e;
        hx_cell_tetrahedron(raw->xyz, conn, corner);
        x[0] = x[1] = x[2] = 0.0;
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 3; d++)
                x[d] += weight[k] * raw->xyz[3 * (int64_t)conn[corner[k]] + d];
        /* The smallest outer shell around x; -1: none. */
        int32_t best = -1;
        memset(s->is_odd, 0, (size_t)s->surface->n_vertex);
        for (int64_t t = 0; t < s->surface->n_tri; t++)
            if (is_crossed(s->surface, t, x))
                s->is_odd[hx_root(s->root, s->surface->tri[3 * t])] ^= 1;
        for (int32_t v = 0; v < s->surface->n_vertex; v++)
            if (s->is_odd[v] && s->volume[v] > 0.0 && (best < 0 || s->volume[v] < s->volume[best]))
                best = v;
        shell = best;
    }
    return shell;
}

int hx_count_shells(const hx_surface *surface, const hx_mesh *raw, const int32_t *piece,
                    int64_t n_piece, const uint8_t *is_held, hx_shell_count *count)
{
    shells s = {0};
    int64_t *first = NULL, *last = NULL;
    memset(count, 0, sizeof *count);
    int rc = open_shells(&s, surface);
    if (rc == HX_OK) rc = hx_alloc_raw(&first, (size_t)n_piece, sizeof *first, "pieces");
    if (rc == HX_OK) rc = hx_alloc_raw(&last, (size_t)n_piece, sizeof *last, "pieces");
    if (rc == HX_OK) {
        for (int64_t i = 0; i < n_piece; i++) first[i] = -1;
        for (int64_t e = 0; e < raw->n_elem; e++) last[piece[e]] = e;
        for (int64_t e = raw->n_elem; e-- > 0;) first[piece[e]] = e;
        /* Considers held pieces first. Another piece is a fragment, unless it is in a shell
         * that contains no held piece. */
        int n_floating = 0;
        for (int32_t i = 0; i < n_piece; i++) {
            if (!is_held[i] || first[i] < 0) continue;
            const int32_t shell = shell_of_piece(&s, raw, piece, i, first[i], last[i]);
            if (shell >= 0) s.has[shell] = 1;
        }
        for (int32_t i = 0; i < n_piece && n_floating < MOST_FLOATING; i++) {
            if (is_held[i] || first[i] < 0) continue;
            n_floating++;
            const int32_t shell = shell_of_piece(&s, raw, piece, i, first[i], last[i]);
            count->n_fragment += shell < 0 || s.has[shell];
        }
        for (int32_t v = 0; v < surface->n_vertex; v++) {
            if (!(s.volume[v] > 0.0) || s.has[v]) continue;
            count->n_left++;
            count->left += s.volume[v];
        }
    }
    free(first);
    free(last);
    free(s.root);
    free(s.volume);
    free(s.is_odd);
    free(s.has);
    return rc;
}
