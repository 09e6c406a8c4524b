#include "quad_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/union_find.h"

void hx_curve_at(const hx_curve *curve, double t, double point[2])
{
    double line[2], arc[2] = {0.0, 0.0};
    for (int d = 0; d < 2; d++) /* exact on lines along an axis and at both ends */
        line[d] = t < 1.0 ? curve->a[d] + t * (curve->b[d] - curve->a[d]) : curve->b[d];
    if (curve->bulge > 0.0) {
        const double pi = 3.14159265358979323846;
        const double *const c = curve->centre;
        const double start = atan2(curve->a[1] - c[1], curve->a[0] - c[0]);
        double end = atan2(curve->b[1] - c[1], curve->b[0] - c[0]);
        if (end < start) end += 2.0 * pi;
        const double r0 = hypot(curve->a[0] - c[0], curve->a[1] - c[1]);
        const double r1 = hypot(curve->b[0] - c[0], curve->b[1] - c[1]);
        const double angle = (1.0 - t) * start + t * end, r = (1.0 - t) * r0 + t * r1;
        arc[0] = c[0] + r * cos(angle);
        arc[1] = c[1] + r * sin(angle);
    }
    for (int d = 0; d < 2; d++) point[d] = (1.0 - curve->bulge) * line[d] + curve->bulge * arc[d];
}

static int reserve(hx_quads *q, size_t n_point, size_t n_quad)
{
    const size_t points = (size_t)q->n_point, faces = (size_t)q->n_quad;
    if (points + n_point > INT32_MAX)
        return HX_RAISE(HX_EINPUT, "a block mesh of more than 2^31 points is not supported");
    if (points + n_point > q->cap_point) {
        const size_t cap = 2 * points + n_point;
        HX_TRY(hx_resize_raw(&q->xz, points, cap, 2 * sizeof *q->xz, "block points"));
        HX_TRY(hx_resize_raw(&q->rim, points, cap, sizeof *q->rim, "block points"));
        q->cap_point = cap;
    }
    if (faces + n_quad > q->cap_quad) {
        const size_t cap = 2 * faces + n_quad;
        HX_TRY(hx_resize_raw(&q->quad, faces, cap, 4 * sizeof *q->quad, "block quads"));
        q->cap_quad = cap;
    }
    return HX_OK;
}

static void side_at(hx_side side, double s, double point[2])
{
    hx_curve_at(side.curve, (1.0 - s) * side.t0 + s * side.t1, point);
}

int hx_quads_add_block(hx_quads *q, int n_u, int n_v, hx_side south, hx_side north, hx_side west,
                       hx_side east)
{
    const size_t nu = (size_t)n_u, nv = (size_t)n_v;
    double *edge = NULL; /* [n_u + 1] south, north, then [n_v + 1] west, east */
    HX_TRY(reserve(q, (nu + 1) * (nv + 1), nu * nv));
    HX_TRY(hx_alloc_raw(&edge, 2 * (nu + 1) + 2 * (nv + 1), 2 * sizeof *edge, "block sides"));
    double *const s = edge, *const n = s + 2 * (nu + 1), *const w = n + 2 * (nu + 1),
                  *const e = w + 2 * (nv + 1);
    for (size_t i = 0; i <= nu; i++) {
        side_at(south, (double)i / (double)nu, s + 2 * i);
        side_at(north, (double)i / (double)nu, n + 2 * i);
    }
    for (size_t j = 0; j <= nv; j++) {
        side_at(west, (double)j / (double)nv, w + 2 * j);
        side_at(east, (double)j / (double)nv, e + 2 * j);
    }
    const int64_t first = q->n_point;
    for (size_t j = 0; j <= nv; j++)
        for (size_t i = 0; i <= nu; i++) {
            const double u = (double)i / (double)nu, v = (double)j / (double)nv;
            double *const x = q->xz + 2 * (size_t)q->n_point;
            for (size_t d = 0; d < 2; d++) {
                const double corners = (1.0 - u) * (1.0 - v) * s[d] +
                                       u * (1.0 - v) * s[2 * nu + d] + (1.0 - u) * v * n[d] +
                                       u * v * n[2 * nu + d];
                x[d] = (1.0 - v) * s[2 * i + d] + v * n[2 * i + d] + (1.0 - u) * w[2 * j + d] +
                       u * e[2 * j + d] - corners;
                if (j == 0 || j == nv)
                    x[d] = j == 0 ? s[2 * i + d] : n[2 * i + d];
                else if (i == 0 || i == nu)
                    x[d] = i == 0 ? w[2 * j + d] : e[2 * j + d];
            }
            q->rim[q->n_point++] = i == 0 || i == nu || j == 0 || j == nv;
        }
    for (int64_t j = 0; j < n_v; j++)
        for (int64_t i = 0; i < n_u; i++) {
            int32_t *const c = q->quad + 4 * (size_t)q->n_quad++;
            const int64_t at = first + j * (n_u + 1) + i;
            c[0] = (int32_t)at;
            c[1] = (int32_t)(at + 1);
            c[2] = (int32_t)(at + n_u + 2);
            c[3] = (int32_t)(at + n_u + 1);
        }
    free(edge);
    return HX_OK;
}

typedef struct rim_point {
    double x, z;
    int32_t point;
} rim_point;

static int compare_rim(const void *a, const void *b)
{
    const rim_point *const p = a, *const q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->z != q->z) return p->z < q->z ? -1 : 1;
    return (p->point > q->point) - (p->point < q->point);
}

int hx_quads_weld(hx_quads *q, double tolerance)
{
    int rc = HX_OK;
    int64_t n_rim = 0, kept = 0;
    rim_point *rim = NULL;
    int32_t *to = NULL; /* [n_point] */
    for (int64_t i = 0; i < q->n_point; i++) n_rim += q->rim[i];
    HX_TRY_FAIL(hx_alloc_raw(&rim, (size_t)n_rim, sizeof *rim, "points on block sides"));
    HX_TRY_FAIL(hx_alloc_raw(&to, (size_t)q->n_point, sizeof *to, "welded points"));
    n_rim = 0;
    for (int64_t i = 0; i < q->n_point; i++) {
        to[i] = (int32_t)i;
        if (!q->rim[i]) continue;
        rim[n_rim].x = q->xz[2 * i];
        rim[n_rim].z = q->xz[2 * i + 1];
        rim[n_rim++].point = (int32_t)i;
    }
    qsort(rim, (size_t)n_rim, sizeof *rim, compare_rim);
    /* to[i] := a point with a lower number at the same position, among the points on block sides
     * (sorted by x) */
    for (int64_t i = 0; i < n_rim; i++)
        for (int64_t j = i + 1; j < n_rim && rim[j].x - rim[i].x <= tolerance; j++) {
            if (fabs(rim[j].z - rim[i].z) <= tolerance) hx_unite(to, rim[i].point, rim[j].point);
        }
    for (int64_t i = 0; i < q->n_point; i++) {
        if (to[i] != (int32_t)i) {
            to[i] = to[to[i]]; /* that point has a lower number, so its new number is known */
            continue;
        }
        q->xz[2 * kept] = q->xz[2 * i];
        q->xz[2 * kept + 1] = q->xz[2 * i + 1];
        q->rim[kept] = q->rim[i];
        to[i] = (int32_t)kept++;
    }
    q->n_point = kept;
    for (int64_t i = 0; i < 4 * q->n_quad; i++) q->quad[i] = to[q->quad[i]];
fail:
    free(rim);
    free(to);
    return rc;
}

/* Quadrilaterals and their extrusion. */
typedef struct plate {
    hx_quads quads;
    int64_t n_layer;
    double thickness;
    uint64_t *in_set; /* [n_point] sets of the nodes above a point (owned) */
    int n_set;
    hx_quads_set set[HX_QUADS_SETS];
} plate;

static int plate_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem,
                          int64_t *conn, uint64_t *in_set)
{
    const plate *const p = source->shape;
    for (int64_t e = 0; e < n; e++) {
        const int64_t quad = elem[e] / p->n_layer, layer = elem[e] % p->n_layer;
        const int32_t *const point = p->quads.quad + 4 * quad;
        for (int c = 0; c < 8; c++) { /* r along the first side of the quadrilateral, s along y */
            const int at = c < 4 ? (c == 1 || c == 2) : (c == 5 || c == 6 ? 2 : 3);
            conn[8 * e + c] = point[at] * (p->n_layer + 1) + layer + (c % 4 >= 2);
        }
        if (!in_set) continue;
        in_set[e] = 0;
        for (int i = 0; i < p->n_set; i++)
            if (!p->set[i].is_in && quad < p->set[i].n_quad) in_set[e] |= (uint64_t)1 << i;
    }
    return HX_OK;
}

static int plate_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                       uint64_t *in_set)
{
    const plate *const p = source->shape;
    for (int64_t a = 0; a < n; a++) {
        const int64_t point = node[a] / (p->n_layer + 1), layer = node[a] % (p->n_layer + 1);
        xyz[3 * a] = p->quads.xz[2 * point];
        xyz[3 * a + 1] = p->thickness * (double)layer / (double)p->n_layer;
        xyz[3 * a + 2] = p->quads.xz[2 * point + 1];
        if (in_set) in_set[a] = p->in_set[point];
    }
    return HX_OK;
}

static void close_plate(hx_mesh_source *source)
{
    plate *const p = source->shape;
    hx_quads_free(&p->quads);
    free(p->in_set);
    free(p);
}

int hx_quads_source(hx_quads *quads, const char *name, int n_layer, double thickness, int n_set,
                    const hx_quads_set *set, hx_mesh_source *source)
{
    plate *p = NULL;
    int rc;
    memset(source, 0, sizeof *source);
    HX_TRY_FAIL(hx_alloc(&p, 1, sizeof *p, "plate"));
    HX_TRY_FAIL(hx_alloc(&p->in_set, (size_t)quads->n_point, sizeof *p->in_set, "sets of points"));
    p->quads = *quads;
    p->n_layer = n_layer;
    p->thickness = thickness;
    p->n_set = n_set;
    memcpy(p->set, set, (size_t)n_set * sizeof *set);
    for (int64_t a = 0; a < p->quads.n_point; a++)
        for (int i = 0; i < p->n_set; i++)
            if (p->set[i].is_in && p->set[i].is_in(i, p->quads.xz + 2 * a))
                p->in_set[a] |= (uint64_t)1 << i;
    *source = (hx_mesh_source){.name = name,
                               .n_node = quads->n_point * (n_layer + 1),
                               .n_elem = quads->n_quad * n_layer,
                               .n_set = n_set,
                               .elements = plate_elements,
                               .nodes = plate_nodes,
                               .is_local = 1,
                               .shape = p,
                               .close = close_plate};
    for (int i = 0; i < n_set; i++)
        source->set[i] = (hx_source_set){set[i].name, set[i].is_in == NULL};
    memset(quads, 0, sizeof *quads);
    return HX_OK;
fail:
    hx_quads_free(quads);
    free(p);
    return rc;
}

void hx_quads_free(hx_quads *q)
{
    free(q->xz);
    free(q->quad);
    free(q->rim);
    memset(q, 0, sizeof *q);
}

double hx_fit_step(double (*count)(double h, const void *context), const void *context,
                   double h_start, double target)
{
    double best = h_start, best_error = INFINITY;
    for (int i = 0; i <= 1600; i++) {
        /* from the start outwards, so that the nearest of equally good steps is taken */
        const int step = i % 2 ? (i + 1) / 2 : -i / 2;
        const double h = h_start * (1.0 + 1e-4 * step);
        const double error = fabs(count(h, context) - target);
        if (error < best_error) {
            best_error = error;
            best = h;
        }
    }
    return best;
}
