/* Finds members of a 0/1 design that the level set cuts, and lowers the threshold there. */
#include "surface_members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/union_find.h"
#include "surface_internal.h"

enum {
    RINGS = 3,         /* rings of elements around a cut in which its sides must be connected */
    MOST_VOLUMES = 30, /* maximum number of thresholds that are tried for the volume */
    MOST_LINKS = 256,  /* maximum number of elements with a common node; others are ignored */
    MOST_ROUNDS = 5    /* maximum number of times that nodes are added to the inside */
};

/* Repaired nodes exceed the threshold by this fraction of the range, so that the surface passes
 * just outside of them. */
static const double above = 0.02;

/* Relative error of the volume. */
static const double exact = 1e-5;

/* Solid elements at closed links: two of them share a face or an edge at which the surface does not
 * connect them, because all its nodes are outside. */
typedef struct finder {
    const hx_mesh *mesh;
    const uint8_t *solid; /* [n_elem] (borrowed) */
    uint8_t *is_in;       /* [n_node] (owned) */
    int32_t *at;          /* [n_elem] place in list, -1: none (owned) */
    int32_t *list;        /* elements at closed links (owned) */
    int64_t n, capacity;
    int32_t *ring;  /* [n_elem] around the cut at hand: its number * (RINGS + 1) + ring (owned) */
    int32_t *queue; /* [n_elem] elements around the cut at hand (owned) */
    int32_t *side;  /* [n_elem] union-find of those that the surface connects (owned) */
    int32_t *seen;  /* [n_elem] at a root of side: number of the last cut that counted it (owned) */
} finder;

static void finder_free(finder *f)
{
    free(f->is_in);
    free(f->at);
    free(f->list);
    free(f->ring);
    free(f->queue);
    free(f->side);
    free(f->seen);
}

static int finder_create(finder *f, const hx_surface_field *field, const uint8_t *solid)
{
    const size_t n_elem = (size_t)field->mesh->n_elem, n_node = (size_t)field->mesh->n_node;
    memset(f, 0, sizeof *f);
    f->mesh = field->mesh;
    f->solid = solid;
    HX_TRY(hx_alloc_raw(&f->is_in, n_node, 1, "nodes inside"));
    HX_TRY(hx_alloc_raw(&f->at, n_elem, sizeof *f->at, "elements at cuts"));
    HX_TRY(hx_alloc_raw(&f->ring, n_elem, sizeof *f->ring, "elements at cuts"));
    HX_TRY(hx_alloc_raw(&f->queue, n_elem, sizeof *f->queue, "elements at cuts"));
    HX_TRY(hx_alloc_raw(&f->side, n_elem, sizeof *f->side, "elements at cuts"));
    HX_TRY(hx_alloc_raw(&f->seen, n_elem, sizeof *f->seen, "elements at cuts"));
    return HX_OK;
}

/* A solid element that shares a face or an edge with another one. */
typedef struct link {
    int32_t elem;
    int8_t n_node;  /* nodes that both have */
    int8_t is_open; /* 1: one of them is inside */
} link;

/* Lists the links of an element; returns their number. */
static int list_links(const finder *f, int64_t e, link list[MOST_LINKS])
{
    const hx_mesh *const mesh = f->mesh;
    const int32_t *const conn = mesh->conn + 8 * e;
    int n = 0, n_link = 0;
    for (int i = 0; i < 8; i++) {
        int is_repeated = 0;
        for (int k = 0; k < i; k++) is_repeated |= conn[k] == conn[i];
        if (is_repeated) continue;
        int32_t last = -1;
        for (int64_t j = mesh->node_elem_ptr[conn[i]]; j < mesh->node_elem_ptr[conn[i] + 1]; j++) {
            const int32_t other = mesh->node_elem[j] / 8;
            int k = 0;
            if (other == e || other == last || !f->solid[other]) continue;
            last = other; /* collapsed cells are listed several times, one after the other */
            while (k < n && list[k].elem != other) k++;
            if (k == n && n == MOST_LINKS) continue;
            if (k == n) list[n++] = (link){.elem = other};
            list[k].n_node++;
            list[k].is_open |= (int8_t)(f->is_in[conn[i]] != 0);
        }
    }
    for (int k = 0; k < n; k++)
        if (list[k].n_node >= 2) list[n_link++] = list[k];
    return n_link;
}

static int has_closed_link(const finder *f, int64_t e)
{
    link list[MOST_LINKS];
    int n_out = 0;
    for (int i = 0; i < 8; i++) n_out += !f->is_in[f->mesh->conn[8 * e + i]];
    const int n = n_out >= 2 ? list_links(f, e, list) : 0;
    for (int k = 0; k < n; k++)
        if (!list[k].is_open) return 1;
    return 0;
}

/* Lists the elements at closed links, ascending. */
static int list_closed(finder *f, const hx_surface_field *field, double threshold)
{
    const hx_mesh *const mesh = f->mesh;
    f->n = 0;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) f->is_in[a] = field->value[a] - threshold > 0.0;
    for (int64_t k = 0; field->body && k < 8 * mesh->n_elem; k++)
        if (hx_surface_is_solid(field, k / 8)) f->is_in[mesh->conn[k]] = 1;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        f->ring[e] = f->seen[e] = -1;
        f->at[e] = f->solid[e] && has_closed_link(f, e) ? 0 : -1;
    }
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (f->at[e] < 0) continue;
        size_t capacity = (size_t)f->capacity;
        HX_TRY(hx_grow(&f->list, (size_t)f->n, &capacity, sizeof *f->list, "elements at cuts"));
        f->capacity = (int64_t)capacity;
        f->at[e] = (int32_t)f->n;
        f->list[f->n++] = (int32_t)e;
    }
    return HX_OK;
}

/* group[n] := union-find of the listed elements; those that share a node are one cut. */
static void group_closed(const finder *f, int32_t *group)
{
    const hx_mesh *const mesh = f->mesh;
    for (int64_t i = 0; i < f->n; i++) group[i] = (int32_t)i;
    for (int64_t i = 0; i < f->n; i++)
        for (int k = 0; k < 8; k++) {
            const int32_t a = mesh->conn[8 * (int64_t)f->list[i] + k];
            for (int64_t j = mesh->node_elem_ptr[a]; j < mesh->node_elem_ptr[a + 1]; j++) {
                const int32_t other = f->at[mesh->node_elem[j] / 8];
                if (other >= 0) hx_unite(group, (int32_t)i, other);
            }
        }
}

/* Number of parts into which the surface divides the solid elements around a cut that reach the
 * outermost ring. The first n entries of the queue are the elements of the cut. */
static int count_sides(finder *f, int32_t number, int64_t n)
{
    const int32_t base = number * (RINGS + 1);
    link list[MOST_LINKS];
    int n_side = 0;
    for (int64_t i = 0; i < n; i++) f->ring[f->queue[i]] = base;
    for (int64_t i = 0; i < n; i++) {
        const int64_t e = f->queue[i];
        f->side[e] = (int32_t)e;
        const int n_link = f->ring[e] < base + RINGS ? list_links(f, e, list) : 0;
        for (int k = 0; k < n_link; k++) {
            const int32_t other = list[k].elem;
            if (f->ring[other] >= base) continue;
            f->ring[other] = f->ring[e] + 1;
            f->queue[n++] = other;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        const int n_link = list_links(f, f->queue[i], list);
        for (int k = 0; k < n_link; k++)
            if (list[k].is_open && f->ring[list[k].elem] >= base)
                hx_unite(f->side, f->queue[i], list[k].elem);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t e = f->queue[i];
        int is_lost = 1;
        for (int k = 0; k < 8; k++) is_lost &= !f->is_in[f->mesh->conn[8 * e + k]];
        if (is_lost || f->ring[e] != base + RINGS) continue;
        int32_t *const seen = f->seen + hx_root(f->side, (int32_t)e);
        n_side += *seen != number;
        *seen = number;
    }
    return n_side;
}

static void find_place(const finder *f, int64_t n, hx_lost_member *cut)
{
    memset(cut, 0, sizeof *cut);
    cut->n_elem = n;
    for (int64_t i = 0; i < n; i++) {
        double x[3];
        hx_mesh_centroid(f->mesh, f->queue[i], x);
        for (int d = 0; d < 3; d++) cut->place[d] += x[d] / (double)n;
    }
}

/* --- all cuts --- */

static int add_cut(hx_lost_members *cuts, const hx_lost_member *cut)
{
    HX_TRY(hx_grow(&cuts->member, cuts->n, &cuts->capacity, sizeof *cuts->member, "cut members"));
    cuts->member[cuts->n++] = *cut;
    return HX_OK;
}

/* Marks the nodes of the closed links of a cut; is_repaired may be NULL. */
static void mark_nodes_of_members(const finder *f, int64_t n, uint8_t *is_repaired)
{
    const int32_t *const conn = f->mesh->conn;
    link list[MOST_LINKS];
    for (int64_t i = 0; is_repaired && i < n; i++) {
        const int64_t e = f->queue[i];
        const int n_link = list_links(f, e, list);
        for (int k = 0; k < n_link; k++)
            for (int a = 0; !list[k].is_open && a < 64; a++)
                if (conn[8 * e + a / 8] == conn[8 * (int64_t)list[k].elem + a % 8])
                    is_repaired[conn[8 * e + a / 8]] = 1;
    }
}

/* Appends the cuts at a threshold. */
static int find_cuts(finder *f, const hx_surface_field *field, double threshold,
                     uint8_t *is_repaired, hx_lost_members *cuts)
{
    int rc;
    int32_t *group = NULL, *next = NULL, number = 0;
    HX_TRY_FAIL(list_closed(f, field, threshold));
    HX_TRY_FAIL(hx_alloc_raw(&group, (size_t)f->n, sizeof *group, "elements at cuts"));
    HX_TRY_FAIL(hx_alloc_raw(&next, (size_t)f->n, sizeof *next, "elements at cuts"));
    group_closed(f, group);
    /* the elements of a group as a list that begins at its root, the lowest of them */
    for (int64_t i = 0; i < f->n; i++) next[i] = -1;
    for (int64_t i = f->n; i-- > 0;) {
        const int32_t root = hx_root(group, (int32_t)i);
        if (root == i) continue;
        next[i] = next[root];
        next[root] = (int32_t)i;
    }
    for (int64_t i = 0; i < f->n; i++) {
        int64_t n = 0;
        hx_lost_member cut;
        if (hx_root(group, (int32_t)i) != i) continue;
        for (int32_t j = (int32_t)i; j >= 0; j = next[j]) f->queue[n++] = f->list[j];
        find_place(f, n, &cut);
        if (count_sides(f, number++, n) < 2) continue;
        mark_nodes_of_members(f, n, is_repaired);
        HX_TRY_FAIL(add_cut(cuts, &cut));
    }
fail:
    free(group);
    free(next);
    return rc;
}

int hx_surface_find_lost(const hx_surface_field *field, double threshold, const uint8_t *solid,
                         hx_lost_members *cuts)
{
    finder f;
    int rc = finder_create(&f, field, solid);
    if (rc == HX_OK) rc = find_cuts(&f, field, threshold, NULL, cuts);
    finder_free(&f);
    return rc;
}

void hx_lost_members_free(hx_lost_members *cuts)
{
    free(cuts->member);
    memset(cuts, 0, sizeof *cuts);
}

/* --- repair --- */

static void raise_nodes(hx_surface_field *field, const double *value, double threshold)
{
    const double least = threshold + above * (1.0 - threshold);
    for (int64_t a = 0; a < field->mesh->n_node; a++)
        if (field->is_repaired[a]) field->value[a] = fmax(value[a], least);
}

/* Volume beyond the target at a threshold, with the repaired nodes just above it. */
static double excess_at(hx_surface_field *field, const double *value, double target,
                        double threshold)
{
    double volume;
    raise_nodes(field, value, threshold);
    hx_surface_volume(field, threshold, &volume);
    return volume - target;
}

/* Finds the threshold for the volume by the Illinois method: repaired members need material, so it
 * lies above the present one. */
static void keep_volume(hx_surface_field *field, const double *value, double target,
                        double *threshold)
{
    double low = *threshold, high = low, step = 0.01 * (1.0 - low), at = low;
    double more = isnan(target) ? 0.0 : excess_at(field, value, target, low), less = more;
    while (less > 0.0 && high + step < 1.0) {
        low = high;
        more = less;
        high += step;
        step *= 2.0;
        less = excess_at(field, value, target, high);
    }
    if (more > 0.0 && less > 0.0) at = high;
    for (int i = 0; i < MOST_VOLUMES && more > 0.0 && less < 0.0; i++) {
        at = low + more / (more - less) * (high - low);
        const double excess = excess_at(field, value, target, at);
        if (fabs(excess) <= exact * target) break;
        if (excess > 0.0) {
            low = at;
            more = excess;
            less *= 0.5;
        } else {
            high = at;
            less = excess;
            more *= 0.5;
        }
    }
    *threshold = at;
    raise_nodes(field, value, at);
}

static int repair(finder *f, hx_surface_field *field, double target, double *threshold,
                  hx_surface_repairs *result)
{
    int rc;
    hx_lost_members now = {0};
    double *value = NULL;
    const size_t n_node = (size_t)field->mesh->n_node;
    for (int round = 0;; round++) {
        hx_lost_members_free(&now);
        HX_TRY_FAIL(find_cuts(f, field, *threshold, field->is_repaired, &now));
        if (now.n == 0 || round == MOST_ROUNDS) break;
        if (!field->is_repaired) {
            HX_TRY_FAIL(hx_alloc_raw(&value, n_node, sizeof *value, "nodal densities"));
            memcpy(value, field->value, n_node * sizeof *value);
            HX_TRY_FAIL(hx_alloc(&field->is_repaired, n_node, 1, "nodes that are repaired"));
            hx_lost_members_free(&now);
            HX_TRY_FAIL(find_cuts(f, field, *threshold, field->is_repaired, &now));
        }
        for (size_t i = 0; i < now.n; i++) HX_TRY_FAIL(add_cut(&result->found, &now.member[i]));
        keep_volume(field, value, target, threshold);
    }
    result->left = now;
    memset(&now, 0, sizeof now);
fail:
    hx_lost_members_free(&now);
    free(value);
    return rc;
}

int hx_surface_repair(hx_surface_field *field, const uint8_t *solid, double target,
                      double *threshold, hx_surface_repairs *result)
{
    finder f;
    memset(result, 0, sizeof *result);
    int rc = finder_create(&f, field, solid);
    if (rc == HX_OK) rc = hx_solid_shape_count(field->mesh, solid, &result->design);
    if (rc == HX_OK) rc = repair(&f, field, target, threshold, result);
    finder_free(&f);
    return rc;
}

void hx_surface_repairs_free(hx_surface_repairs *result)
{
    hx_lost_members_free(&result->found);
    hx_lost_members_free(&result->left);
}
