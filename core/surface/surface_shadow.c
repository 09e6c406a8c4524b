#include "surface_shadow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "surface_internal.h"

/* Tolerances: of barycentric coordinates, and of a node on the parting plane in element sizes. */
static const double ON_EDGE = 1e-7, ON_PLANE = 1e-6;

/* Smallest change of a density that asks for another pass, and that counts. */
static const double STILL = 1e-9, RAISED = 1e-6;

enum { MOST_PASSES = 50 };

/* Where the ray of a node leaves the first element: a point of a triangle of nodes. */
typedef struct hit {
    int32_t node[3]; /* [0] = -1: it leaves the mesh at the node */
    float weight[3];
} hit;

/* Sets *to if the ray from x along d meets the triangle of the nodes. */
static int meets(const double *xyz, const double x[3], const double d[3], const int32_t node[3],
                 hit *to)
{
    const double *const a = xyz + 3 * (int64_t)node[0];
    double u[3], v[3], w[3], p[3], q[3];
    for (int i = 0; i < 3; i++) {
        u[i] = xyz[3 * (int64_t)node[1] + i] - a[i];
        v[i] = xyz[3 * (int64_t)node[2] + i] - a[i];
        w[i] = x[i] - a[i];
    }
    hx_cross3(d, v, p);
    const double det = hx_dot3(u, p);
    if (!(fabs(det) > 1e-12 * hx_norm3(u) * hx_norm3(v))) return 0;
    hx_cross3(w, u, q);
    const double s = hx_dot3(w, p) / det, t = hx_dot3(d, q) / det, far = hx_dot3(v, q) / det;
    if (s < -ON_EDGE || t < -ON_EDGE || s + t > 1.0 + ON_EDGE) return 0;
    if (!(far > ON_EDGE * hx_norm3(u))) return 0;
    memcpy(to->node, node, sizeof to->node);
    to->weight[1] = (float)fmin(fmax(s, 0.0), 1.0);
    to->weight[2] = (float)fmin(fmax(t, 0.0), 1.0 - to->weight[1]);
    to->weight[0] = 1.0F - to->weight[1] - to->weight[2];
    return 1;
}

/* The two triangles of a face, or its one. */
static int meets_face(const hx_mesh *mesh, int64_t e, int f, int64_t a, const double d[3], hit *to)
{
    int32_t node[4];
    const int n = hx_cell_face(mesh->conn + 8 * e, f, node);
    for (int k = 0; k < n; k++)
        if (node[k] == a) return 0;
    const int32_t other[3] = {node[0], node[2], node[3]};
    if (n < 3) return 0;
    return meets(mesh->xyz, mesh->xyz + 3 * a, d, node, to) ||
           (n == 4 && meets(mesh->xyz, mesh->xyz + 3 * a, d, other, to));
}

static hit hit_of(const hx_surface_field *field, int64_t a, const double d[3])
{
    const hx_mesh *const mesh = field->mesh;
    hit to = {{-1, -1, -1}, {0.0F, 0.0F, 0.0F}};
    for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
        const int64_t e = mesh->node_elem[k] / 8;
        if (hx_surface_is_solid(field, e)) continue;
        for (int f = 0; f < 6; f++)
            if (meets_face(mesh, e, f, a, d, &to)) return to;
    }
    return to;
}

static double free_value(const double *value, int32_t a)
{
    return value[a] < HUGE_VAL ? value[a] : -HUGE_VAL;
}

/* The density where the ray ends; -HUGE_VAL: nowhere, or at a forced-solid element. */
static double density_at(const double *value, const hit *to)
{
    double sum = 0.0;
    if (to->node[0] < 0) return -HUGE_VAL;
    for (int k = 0; k < 3; k++)
        if (to->weight[k] > 0.0F) sum += (double)to->weight[k] * free_value(value, to->node[k]);
    return sum;
}

static uint64_t ordered_bits(double x)
{
    uint64_t bits;
    const double plain = x + 0.0; /* no negative zero */
    memcpy(&bits, &plain, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* order[n_node] := nodes from the farthest along d to the nearest. */
static int sort_nodes(const hx_mesh *mesh, const double d[3], int32_t *order)
{
    uint64_t *key;
    HX_TRY(hx_alloc_raw(&key, (size_t)mesh->n_node, sizeof *key, "heights of nodes"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++)
        key[a] = ordered_bits(-hx_dot3(mesh->xyz + 3 * a, d));
    const int rc = hx_radix_sort(key, order, mesh->n_node, 64);
    free(key);
    return rc;
}

/* What one direction needs; with a plane, nodes below it send their rays against it, and those on
 * it both ways. */
typedef struct shadow {
    const hx_surface_field *field;
    double d[3];
    const double *plane;
    double *value;  /* [n_node] (borrowed) */
    int32_t *order; /* [n_node] (owned, like the next) */
    hit *to;        /* [n_node] */
} shadow;

static int is_on_side(const shadow *s, int64_t a)
{
    if (!s->plane) return 1;
    const double above = hx_dot3(s->field->mesh->xyz + 3 * a, s->d) - hx_dot3(s->plane, s->d);
    return above >= -ON_PLANE * s->field->mesh->elem_size;
}

/* s->value[] := at least the densities where the rays end, until nothing changes. */
static int fill(shadow *s)
{
    int rc;
    const int64_t n = s->field->mesh->n_node;
    HX_TRY_FAIL(hx_alloc_raw(&s->order, (size_t)n, sizeof *s->order, "order of nodes"));
    HX_TRY_FAIL(hx_alloc_raw(&s->to, (size_t)n, sizeof *s->to, "rays of nodes"));
    HX_TRY_FAIL(sort_nodes(s->field->mesh, s->d, s->order));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n; a++) {
        s->to[a].node[0] = -1;
        if (s->value[a] < HUGE_VAL && is_on_side(s, a)) s->to[a] = hit_of(s->field, a, s->d);
    }
    for (int pass = 0, is_still = 0; pass < MOST_PASSES && !is_still; pass++) {
        is_still = 1;
        for (int64_t k = 0; k < n; k++) {
            const int32_t a = s->order[k];
            const double there = density_at(s->value, &s->to[a]);
            if (!(there > s->value[a] + STILL)) continue;
            s->value[a] = there;
            is_still = 0;
        }
    }
fail:
    free(s->order);
    free(s->to);
    s->order = NULL;
    s->to = NULL;
    return rc;
}

int hx_surface_cast_shadows(hx_surface_field *field, const hx_shadow_limit *limit,
                            int64_t *n_raised)
{
    int rc = HX_OK;
    const int64_t n = field->mesh->n_node;
    const size_t bytes = (size_t)n * sizeof(double);
    double *value = NULL, *least = NULL;
    *n_raised = 0;
    HX_TRY_FAIL(hx_alloc_raw(&value, (size_t)n, sizeof *value, "nodal densities"));
    HX_TRY_FAIL(hx_alloc_raw(&least, (size_t)n, sizeof *least, "nodal densities"));
    for (int i = 0; i < limit->n; i++) {
        shadow s = {.field = field, .plane = limit->parting, .value = value};
        memcpy(value, field->value, bytes);
        memcpy(s.d, limit->direction[i], sizeof s.d);
        HX_TRY_FAIL(fill(&s));
        for (int d = 0; d < 3 && limit->parting; d++) s.d[d] = -s.d[d];
        if (limit->parting) HX_TRY_FAIL(fill(&s));
        for (int64_t a = 0; a < n; a++)
            least[a] = i == 0 || value[a] < least[a] ? value[a] : least[a];
    }
    for (int64_t a = 0; a < n && limit->n > 0; a++) {
        *n_raised += least[a] > field->value[a] + RAISED;
        field->value[a] = least[a];
    }
fail:
    free(value);
    free(least);
    return rc;
}
