#include "region.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "load_faces.h"
#include "mesh_internal.h"

/* A geometric region with its defaults filled in. */
typedef struct shape {
    const hx_region *region;
    double axis[3]; /* unit length (plane, cylinder) */
    double tolerance;
} shape;

static int is_inside(const shape *s, const double x[3])
{
    const hx_region *const r = s->region;
    const double tol = s->tolerance;
    double d[3], along = 0.0, square = 0.0;
    if (r->kind == HX_REGION_BOX) {
        for (int i = 0; i < 3; i++)
            if (!(x[i] >= r->point[i] - tol && x[i] <= r->axis[i] + tol)) return 0;
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        d[i] = x[i] - r->point[i];
        along += d[i] * s->axis[i];
    }
    if (r->kind == HX_REGION_PLANE) return fabs(along) <= tol;
    if (r->kind == HX_REGION_CYLINDER) {
        if (r->length > 0.0 && (along < -tol || along > r->length + tol)) return 0;
        for (int i = 0; i < 3; i++) d[i] -= along * s->axis[i];
    }
    for (int i = 0; i < 3; i++) square += d[i] * d[i];
    const double distance = sqrt(square);
    return distance >= r->inner - tol && distance <= r->radius + tol;
}

/* Checks the numbers of a geometric region. */
static int check_shape(const hx_mesh *mesh, const char *name, const hx_region *r, shape *s)
{
    double diagonal = 0.0, norm = 0.0;
    for (int i = 0; i < 3; i++) {
        const double side = mesh->box_max[i] - mesh->box_min[i];
        diagonal += side * side;
        norm += r->axis[i] * r->axis[i];
        if (!isfinite(r->point[i]) || !isfinite(r->axis[i]))
            return HX_RAISE(HX_EINPUT, "set \"%s\": its coordinates are not finite numbers", name);
    }
    norm = sqrt(norm);
    s->region = r;
    s->tolerance = r->tolerance < 0.0 ? 1e-6 * sqrt(diagonal) : r->tolerance;
    if (!isfinite(s->tolerance))
        return HX_RAISE(HX_EINPUT, "set \"%s\": tolerance %g is not a finite number", name,
                        r->tolerance);
    if (r->kind == HX_REGION_BOX) {
        for (int i = 0; i < 3; i++)
            if (r->point[i] > r->axis[i])
                return HX_RAISE(HX_EINPUT, "set \"%s\": the box's min %g is above its max %g in %c",
                                name, r->point[i], r->axis[i], "xyz"[i]);
        return HX_OK;
    }
    if (r->kind != HX_REGION_SPHERE && !(norm > 0.0))
        return HX_RAISE(HX_EINPUT, "set \"%s\": %s has length 0", name,
                        r->kind == HX_REGION_PLANE ? "the plane's normal" : "the cylinder's axis");
    for (int i = 0; i < 3; i++) s->axis[i] = norm > 0.0 ? r->axis[i] / norm : 0.0;
    if (r->kind == HX_REGION_PLANE) return HX_OK;
    if (!(r->radius > 0.0 && r->inner >= 0.0 && r->inner <= r->radius))
        return HX_RAISE(
            HX_EINPUT,
            "set \"%s\": radius %g, inner radius %g: they must satisfy 0 <= inner <= radius", name,
            r->radius, r->inner);
    if (r->kind == HX_REGION_CYLINDER && !(r->length >= 0.0 && isfinite(r->length)))
        return HX_RAISE(HX_EINPUT,
                        "set \"%s\": length %g of the cylinder must be positive, or 0 for infinite",
                        name, r->length);
    return HX_OK;
}

/* flag := flag and list, using bit 1 as a mark. */
static void intersect(uint8_t *flag, int64_t n_flag, const int32_t *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++) flag[list[i]] |= 2;
#pragma omp parallel for
    for (int64_t i = 0; i < n_flag; i++) flag[i] = flag[i] == 3;
}

static void assign(uint8_t *flag, const int32_t *list, int64_t n, uint8_t value)
{
    for (int64_t i = 0; i < n; i++) flag[list[i]] = value;
}

static int flag_combination(const hx_mesh *mesh, const char *name, const hx_region *r,
                            uint8_t *node, uint8_t *elem)
{
    const uint8_t start = r->kind != HX_REGION_OR;
    if (r->n_operand == 0)
        return HX_RAISE(HX_EINPUT, "set \"%s\": and, or, not need the name of a set", name);
    memset(node, start, (size_t)mesh->n_node);
    memset(elem, start, (size_t)mesh->n_elem);
    for (size_t i = 0; i < r->n_operand; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, r->operand[i]);
        if (!set) {
            char known[512] = "";
            size_t at = 0;
            for (size_t j = 0; j < mesh->n_set && at < sizeof known; j++) {
                const int n = snprintf(known + at, sizeof known - at, "%s%s", j ? ", " : "",
                                       mesh->set[j].name);
                at += n > 0 ? (size_t)n : 0;
            }
            return HX_RAISE(HX_EINPUT, "set \"%s\": there is no set \"%s\" (so far: %s)", name,
                            r->operand[i], mesh->n_set ? known : "none");
        }
        if (r->kind == HX_REGION_AND) {
            intersect(node, mesh->n_node, set->node, set->n_node);
            intersect(elem, mesh->n_elem, set->elem, set->n_elem);
        } else {
            assign(node, set->node, set->n_node, r->kind == HX_REGION_OR);
            assign(elem, set->elem, set->n_elem, r->kind == HX_REGION_OR);
        }
    }
    return HX_OK;
}

static const char *describe(const hx_region *r, double tol, char *text, size_t n_text)
{
    const double *const p = r->point, *const q = r->axis;
    switch (r->kind) {
    case HX_REGION_PLANE:
        snprintf(text, n_text,
                 "lies within %g of the plane through (%g, %g, %g), normal (%g, %g, %g)", tol, p[0],
                 p[1], p[2], q[0], q[1], q[2]);
        break;
    case HX_REGION_BOX:
        snprintf(text, n_text, "lies in the box (%g, %g, %g) to (%g, %g, %g)", p[0], p[1], p[2],
                 q[0], q[1], q[2]);
        break;
    case HX_REGION_CYLINDER:
        snprintf(text, n_text,
                 "lies in the cylinder of radius %g to %g, axis (%g, %g, %g) through (%g, %g, %g)",
                 r->inner, r->radius, q[0], q[1], q[2], p[0], p[1], p[2]);
        break;
    case HX_REGION_SPHERE:
        snprintf(text, n_text, "lies in the sphere of radius %g to %g about (%g, %g, %g)", r->inner,
                 r->radius, p[0], p[1], p[2]);
        break;
    case HX_REGION_AND:
        snprintf(text, n_text, "is in all of the sets named");
        break;
    case HX_REGION_OR:
        snprintf(text, n_text, "is in one of the sets named");
        break;
    case HX_REGION_NOT:
        snprintf(text, n_text, "is outside the sets named");
        break;
    }
    return text;
}

/* Fills the lists of a new set: flagged nodes and elements, faces of a combination. */
static int fill_set(const hx_mesh *mesh, const hx_region *r, const uint8_t *node,
                    const uint8_t *elem, hx_set *made)
{
    static const hx_set_rule rule[] = {HX_SET_AND, HX_SET_OR, HX_SET_NOT};
    HX_TRY(hx_list_flagged(node, mesh->n_node, &made->n_node, &made->node));
    HX_TRY(hx_list_flagged(elem, mesh->n_elem, &made->n_elem, &made->elem));
    if (r->kind < HX_REGION_AND) return HX_OK;
    HX_TRY(hx_set_combine(made, rule[r->kind - HX_REGION_AND], r->n_operand, r->operand));
    return hx_combine_faces(mesh, made, &made->n_face, &made->face);
}

static int add_flagged(hx_mesh *mesh, const char *name, const hx_region *r, double tol,
                       const uint8_t *node, const uint8_t *elem)
{
    int rc = HX_OK;
    hx_set made = {0};
    hx_set *set;
    int64_t n;
    HX_TRY_FAIL(fill_set(mesh, r, node, elem, &made));
    HX_TRY_FAIL(hx_mesh_count_all(mesh, made.n_node + made.n_elem + made.n_face, &n));
    if (n == 0) {
        char text[256];
        const double *const lo = mesh->box_min, *const hi = mesh->box_max;
        rc = HX_RAISE(HX_EINPUT,
                      "set \"%s\" is empty: no node and no element %s; the mesh spans %g to %g in "
                      "x, %g to %g in y, %g to %g in z",
                      name, describe(r, tol, text, sizeof text), lo[0], hi[0], lo[1], hi[1], lo[2],
                      hi[2]);
        goto fail;
    }
    HX_TRY_FAIL(hx_mesh_append_set(mesh, name, &set));
    made.name = set->name;
    *set = made;
    return HX_OK;
fail:
    hx_set_free(&made);
    return rc;
}

int hx_region_make_set(const hx_mesh *mesh, const char *name, const hx_region *region, hx_set *made)
{
    int rc = HX_OK;
    uint8_t *node = NULL, *elem = NULL;
    HX_TRY_FAIL(hx_alloc(&node, (size_t)mesh->n_node, 1, "node flags"));
    HX_TRY_FAIL(hx_alloc(&elem, (size_t)mesh->n_elem, 1, "element flags"));
    HX_TRY_FAIL(flag_combination(mesh, name, region, node, elem));
    rc = fill_set(mesh, region, node, elem, made);
fail:
    free(node);
    free(elem);
    return rc;
}

int hx_mesh_add_region(hx_mesh *mesh, const char *name, const hx_region *region)
{
    int rc = HX_OK;
    uint8_t *node = NULL, *elem = NULL;
    shape s = {region, {0.0, 0.0, 0.0}, 0.0};
    if (!name || !*name) return HX_RAISE(HX_EINPUT, "%s: a set needs a name", mesh->name);
    if (!mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "set \"%s\" cannot be added to an unfinished mesh", name);
    if (hx_mesh_find_set(mesh, name))
        return HX_RAISE(HX_EINPUT,
                        "set \"%s\": the mesh already has a set of that name: choose another name",
                        name);
    HX_TRY_FAIL(hx_alloc(&node, (size_t)mesh->n_node, 1, "node flags"));
    HX_TRY_FAIL(hx_alloc(&elem, (size_t)mesh->n_elem, 1, "element flags"));
    if (region->kind >= HX_REGION_AND) {
        HX_TRY_FAIL(flag_combination(mesh, name, region, node, elem));
    } else {
        HX_TRY_FAIL(check_shape(mesh, name, region, &s));
#pragma omp parallel for
        for (int64_t a = 0; a < mesh->n_node; a++)
            node[a] = (uint8_t)is_inside(&s, mesh->xyz + (size_t)a * 3);
#pragma omp parallel for
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            double centre[3];
            hx_mesh_centroid(mesh, e, centre);
            elem[e] = (uint8_t)is_inside(&s, centre);
        }
    }
    HX_TRY_FAIL(add_flagged(mesh, name, region, s.tolerance, node, elem));
fail:
    free(node);
    free(elem);
    return rc;
}
