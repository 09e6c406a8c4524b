#include "face_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "load_faces.h"

enum { LEAF = 4, MAX_LEVEL = 40 }; /* approximate number of items per leaf */

static const double *corner_at(const hx_face_tree *tree, int64_t item, int corner)
{
    return tree->mesh->xyz + 3 * (int64_t)tree->corner[item][corner];
}

/* Items are split by the sum of their corners' coordinates. */
static double key_of_item(const hx_face_tree *tree, int64_t item, int axis)
{
    double sum = 0.0;
    for (int a = 0; a < 4; a++) sum += corner_at(tree, item, a)[axis];
    return sum;
}

static void swap_items(hx_face_tree *tree, int64_t i, int64_t j)
{
    int32_t kept[4];
    memcpy(kept, tree->corner[i], sizeof kept);
    memcpy(tree->corner[i], tree->corner[j], sizeof kept);
    memcpy(tree->corner[j], kept, sizeof kept);
}

/* Hoare's selection: items [begin, middle) have keys of at most those of [middle, end). */
static void split_items(hx_face_tree *tree, int64_t begin, int64_t middle, int64_t end, int axis)
{
    int64_t low = begin, high = end - 1;
    while (low < high) {
        const double pivot = key_of_item(tree, low + (high - low) / 2, axis);
        int64_t i = low, j = high;
        while (i <= j) {
            while (key_of_item(tree, i, axis) < pivot) i++;
            while (key_of_item(tree, j, axis) > pivot) j--;
            if (i <= j) swap_items(tree, i++, j--);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static void bound(const hx_face_tree *tree, int64_t begin, int64_t end, double box[6])
{
    for (int i = 0; i < 3; i++) {
        box[i] = INFINITY;
        box[3 + i] = -INFINITY;
    }
    for (int64_t item = begin; item < end; item++)
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++) {
                const double x = corner_at(tree, item, a)[i];
                box[i] = fmin(box[i], x);
                box[3 + i] = fmax(box[3 + i], x);
            }
}

static int longest_axis(const double box[6])
{
    int axis = 0;
    for (int i = 1; i < 3; i++)
        if (box[3 + i] - box[i] > box[3 + axis] - box[axis]) axis = i;
    return axis;
}

static void build(hx_face_tree *tree, int64_t k, int level, int64_t begin, int64_t end)
{
    bound(tree, begin, end, tree->box[k]);
    if (level + 1 == tree->n_level) return;
    const int64_t middle = begin + (end - begin) / 2;
    split_items(tree, begin, middle, end, longest_axis(tree->box[k]));
    build(tree, 2 * k + 1, level + 1, begin, middle);
    build(tree, 2 * k + 2, level + 1, middle, end);
}

int hx_face_tree_create(hx_face_tree *tree, const hx_mesh *mesh, int64_t n_face,
                        const int64_t *face, int64_t n_node, const int32_t *node)
{
    int rc;
    memset(tree, 0, sizeof *tree);
    tree->mesh = mesh;
    tree->n_item = n_face > 0 ? n_face : n_node;
    tree->n_level = 1;
    while (((int64_t)LEAF << (tree->n_level - 1)) < tree->n_item) tree->n_level++;
    HX_TRY_FAIL(
        hx_alloc_raw(&tree->corner, (size_t)tree->n_item, sizeof *tree->corner, "tree of faces"));
    HX_TRY_FAIL(hx_alloc_raw(&tree->box, ((size_t)1 << tree->n_level) - 1, sizeof *tree->box,
                             "tree of faces"));
    for (int64_t i = 0; i < tree->n_item; i++)
        for (int a = 0; a < 4; a++)
            tree->corner[i][a] =
                n_face > 0 ? mesh->conn[8 * (face[i] / 6) + hx_hex_face[face[i] % 6][a]] : node[i];
    if (tree->n_item > 0) build(tree, 0, 0, 0, tree->n_item);
    return HX_OK;
fail:
    hx_face_tree_free(tree);
    return rc;
}

/* Squared distance to a bounding box, 0 inside. */
static double box_distance2(const double box[6], const double x[3])
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const double d = fmax(0.0, fmax(box[i] - x[i], x[i] - box[3 + i]));
        sum += d * d;
    }
    return sum;
}

static double offset2(const double p[3], const double a[3], const double ab[3], double v,
                      const double ac[3], double w)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const double d = p[i] - a[i] - v * ab[i] - w * ac[i];
        sum += d * d;
    }
    return sum;
}

/* Squared distance to a triangle, by the region of its nearest point (Ericson, Real-Time Collision
 * Detection, 5.1.5). */
static double triangle_distance2(const double p[3], const double a[3], const double b[3],
                                 const double c[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int i = 0; i < 3; i++) {
        ab[i] = b[i] - a[i];
        ac[i] = c[i] - a[i];
        ap[i] = p[i] - a[i];
        bp[i] = p[i] - b[i];
        cp[i] = p[i] - c[i];
    }
    const double d1 = hx_dot3(ab, ap), d2 = hx_dot3(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) return hx_dot3(ap, ap);
    const double d3 = hx_dot3(ab, bp), d4 = hx_dot3(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) return hx_dot3(bp, bp);
    const double d5 = hx_dot3(ab, cp), d6 = hx_dot3(ac, cp);
    if (d6 >= 0.0 && d5 <= d6) return hx_dot3(cp, cp);
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return offset2(p, a, ab, d1 / (d1 - d3), ac, 0.0);
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return offset2(p, a, ab, 0.0, ac, d2 / (d2 - d6));
    if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        const double w = (d4 - d3) / (d4 - d3 + d5 - d6);
        return offset2(p, a, ab, 1.0 - w, ac, w);
    }
    const double scale = 1.0 / (va + vb + vc);
    return offset2(p, a, ab, vb * scale, ac, vc * scale);
}

static double item_distance2(const hx_face_tree *tree, int64_t item, const double x[3])
{
    const double *c[4];
    for (int a = 0; a < 4; a++) c[a] = corner_at(tree, item, a);
    return fmin(triangle_distance2(x, c[0], c[1], c[2]), triangle_distance2(x, c[0], c[2], c[3]));
}

double hx_face_tree_distance(const hx_face_tree *tree, const double x[3], double at_most)
{
    double least = at_most * at_most;
    struct {
        int64_t box, begin, end;
        int level;
    } stack[MAX_LEVEL + 1], at;
    int n = 0;
    if (tree->n_item == 0) return INFINITY;
    stack[n].box = stack[n].begin = stack[n].level = 0;
    stack[n++].end = tree->n_item;
    while (n > 0) {
        at = stack[--n];
        if (box_distance2(tree->box[at.box], x) >= least) continue;
        if (at.level + 1 == tree->n_level) {
            for (int64_t item = at.begin; item < at.end; item++)
                least = fmin(least, item_distance2(tree, item, x));
            continue;
        }
        const int64_t left = 2 * at.box + 1, middle = at.begin + (at.end - at.begin) / 2;
        const int near = box_distance2(tree->box[left], x) <= box_distance2(tree->box[left + 1], x);
        for (int turn = 0; turn < 2; turn++) { /* the nearer child first */
            const int is_left = turn == near;
            stack[n].box = is_left ? left : left + 1;
            stack[n].begin = is_left ? at.begin : middle;
            stack[n].end = is_left ? middle : at.end;
            stack[n++].level = at.level + 1;
        }
    }
    return sqrt(least);
}

void hx_face_tree_free(hx_face_tree *tree)
{
    free(tree->corner);
    free(tree->box);
    memset(tree, 0, sizeof *tree);
}
