/* Spaces over a spline: global control points, cells that are spans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "space_internal.h"

#define WHAT "control points of cells"

static int degrees_agree(const hx_spline *spline)
{
    int same = 1;
    for (int k = 0; k < spline->n_patch; k++)
        for (int d = 0; d < 3; d++)
            same &= spline->patch[k].axis[d].degree == spline->patch[0].axis[d].degree;
    return same;
}

static int64_t points_of(const hx_spline_patch *patch)
{
    int64_t n = 1;
    for (int d = 0; d < 3; d++) n *= patch->axis[d].degree + 1;
    return n;
}

static int place_cells(hx_space *s)
{
    const hx_spline *const spline = s->spline;
    const int64_t n_cell = spline->n_cell;
    for (int k = 0; k < spline->n_patch; k++)
        s->n_place += points_of(&spline->patch[k]) * hx_spline_patch_cells(&spline->patch[k]);
    if (degrees_agree(spline)) s->n_per_cell = (int)points_of(&spline->patch[0]);
    if (s->n_place > UINT32_MAX)
        return HX_RAISE(
            HX_EENV, "the cells have %lld control %s; at most 2^32 are supported, so refine less",
            (long long)s->n_place, hx_noun(s->n_place, "point", "points"));
    HX_TRY(hx_alloc_raw(&s->point, (size_t)s->n_place, sizeof *s->point, WHAT));
    if (s->n_per_cell) return HX_OK;
    HX_TRY(hx_alloc(&s->cell_ptr, (size_t)n_cell + 1, sizeof *s->cell_ptr, WHAT));
    HX_TRY(hx_alloc(&s->pair_ptr, (size_t)n_cell + 1, sizeof *s->pair_ptr, WHAT));
    HX_TRY(hx_alloc_raw(&s->place_cell, (size_t)s->n_place, sizeof *s->place_cell, WHAT));
    for (int k = 0; k < spline->n_patch; k++) {
        const int64_t n = points_of(&spline->patch[k]), first = spline->patch[k].first_cell;
        for (int64_t e = first; e < first + hx_spline_patch_cells(&spline->patch[k]); e++) {
            s->cell_ptr[e + 1] = s->cell_ptr[e] + n;
            s->pair_ptr[e + 1] = s->pair_ptr[e] + n * n;
            for (int64_t i = s->cell_ptr[e]; i < s->cell_ptr[e + 1]; i++)
                s->place_cell[i] = (int32_t)e;
        }
    }
    return HX_OK;
}

/* Checks, for each cell by two opposite corners, that the mesh is the spline's image. */
static int check_image(const hx_space *s)
{
    const hx_mesh *const mesh = s->mesh;
    const double limit = 1e-6 * mesh->elem_size;
    int64_t bad = mesh->n_elem == s->spline->n_cell ? INT64_MAX : 0;
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t e = 0; e < (bad ? mesh->n_elem : 0); e++)
        for (int a = 0; a < 8; a += 6) {
            const hx_spline_patch *const patch = hx_space_patch_of(s->spline, e);
            const double *const node = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a];
            double t[3], x[3];
            hx_space_corner_parameters(patch, e, a, t);
            hx_spline_map(patch, t, x, NULL);
            for (int i = 0; i < 3; i++) x[i] -= node[i];
            if (!(hx_norm3(x) <= limit) && e < bad) bad = e;
        }
    if (bad == INT64_MAX) return HX_OK;
    return HX_RAISE(HX_EINTERNAL, "element %lld of the mesh is not the image of its span",
                    (long long)bad);
}

int hx_space_create_spline(hx_space *s, const hx_mesh *mesh, const hx_spline *spline)
{
    int rc;
    *s = (hx_space){
        .mesh = mesh, .element = HX_ELEMENT_SPLINE, .n_point = spline->n_point, .spline = spline};
    HX_TRY_FAIL(check_image(s));
    HX_TRY_FAIL(hx_alloc(&s->spline_rule, 1, sizeof *s->spline_rule, "tables of a spline"));
    HX_TRY_FAIL(hx_spline_rule_make(s->spline_rule, spline));
    HX_TRY_FAIL(place_cells(s));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < s->spline->n_cell; e++)
        hx_spline_cell_numbers(s->spline, e,
                               s->point + (s->n_per_cell ? e * s->n_per_cell : s->cell_ptr[e]));
    HX_TRY_FAIL(hx_alloc_raw(&s->xyz, 3 * (size_t)s->n_point, sizeof *s->xyz, WHAT));
    hx_spline_points(spline, s->xyz);
    HX_TRY_FAIL(hx_space_list_cells(s));
    return HX_OK;
fail:
    hx_space_free(s);
    return rc;
}

double hx_space_spline_cell(const hx_space *s, int64_t cell, hx_spline_cell *tables,
                            hx_spline_place *place)
{
    int n;
    hx_spline_cell_of(s->spline_rule, cell, hx_space_points(s, cell, &n), tables);
    return hx_spline_cell_map(tables, s->xyz, place);
}

/* --- faces --- */

/* Direction across a local face of a cell, and 1 if the face is at the end. */
static void side_of_local_face(int local, int *direction, int *end)
{
    unsigned all = 7u, none = 7u;
    for (int i = 0; i < 4; i++) {
        all &= hx_space_corner_ends(hx_hex_face[local][i]);
        none &= ~hx_space_corner_ends(hx_hex_face[local][i]);
    }
    const unsigned across = all | none;
    *direction = across == 1u ? 0 : across == 2u ? 1 : 2;
    *end = all != 0;
}

/* Tables of a face: directions e[0], e[1] in it, in cyclic order after d. */
typedef struct side {
    hx_spline_cell cell;
    int d, e[2], end;
    int place[HX_FACE_POINTS]; /* indices of the cell's points, with e[0] fastest */
} side;

static int open_side(const hx_space *s, int64_t face, side *f)
{
    int n, stride[3];
    hx_spline_cell_of(s->spline_rule, face / 6, hx_space_points(s, face / 6, &n), &f->cell);
    side_of_local_face((int)(face % 6), &f->d, &f->end);
    for (int k = 0; k < 2; k++) f->e[k] = (f->d + 1 + k) % 3;
    stride[0] = 1;
    stride[1] = f->cell.order[0];
    stride[2] = f->cell.order[0] * f->cell.order[1];
    n = 0;
    for (int b = 0; b < f->cell.order[f->e[1]]; b++)
        for (int a = 0; a < f->cell.order[f->e[0]]; a++)
            f->place[n++] = a * stride[f->e[0]] + b * stride[f->e[1]] +
                            (f->end ? f->cell.order[f->d] - 1 : 0) * stride[f->d];
    return n;
}

/* Evaluates one Gauss point: values and the vector area. */
static void side_point(const hx_space *s, const side *f, int n, const int q[2], hx_space_face *out)
{
    const double *row[2];
    const int n0 = f->cell.order[f->e[0]];
    double x[3][4] = {{0.0}}, shape[3][HX_FACE_POINTS]; /* [value, by e0, by e1] sums of x and w */
    hx_face_point *const at = &out->at[out->n_gauss];
    for (int k = 0; k < 2; k++) {
        const int order = f->cell.order[f->e[k]];
        row[k] = f->cell.table[f->e[k]] + q[k] * (1 + 2 * order);
    }
    const double *const u = row[0] + 1, *const v = row[1] + 1;
    const int n1 = n / n0;
    for (int a = 0; a < n; a++) {
        const int32_t point = out->point[a];
        const double w = s->spline_rule->weight ? s->spline_rule->weight[point] : 1.0;
        shape[0][a] = w * u[a % n0] * v[a / n0];
        shape[1][a] = w * u[n0 + a % n0] * v[a / n0];
        shape[2][a] = w * u[a % n0] * v[n1 + a / n0];
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) x[k][i] += shape[k][a] * s->xyz[3 * (int64_t)point + i];
            x[k][3] += shape[k][a];
        }
    }
    double tangent[2][3];
    memset(at, 0, sizeof *at);
    for (int i = 0; i < 3; i++) {
        at->x[i] = x[0][i] / x[0][3];
        for (int k = 0; k < 2; k++)
            tangent[k][i] = (x[1 + k][i] - x[1 + k][3] * at->x[i]) / x[0][3];
    }
    hx_cross3(tangent[0], tangent[1], at->normal);
    const double area = (f->end ? 1.0 : -1.0) * row[0][0] * row[1][0];
    for (int i = 0; i < 3; i++) at->normal[i] *= area;
    for (int a = 0; a < n; a++) out->shape[out->n_gauss][a] = shape[0][a] / x[0][3];
    out->n_gauss++;
}

void hx_space_spline_face(const hx_space *s, int64_t face, hx_space_face *out)
{
    side f;
    const int n = open_side(s, face, &f);
    out->n = n;
    out->n_gauss = 0;
    out->n_corner = 4;
    out->has_sums = 1;
    for (int i = 0; i < 4; i++)
        out->corner[i] = s->mesh->conn[8 * (face / 6) + hx_hex_face[face % 6][i]];
    for (int a = 0; a < n; a++) out->point[a] = f.cell.point[f.place[a]];
    int q[2];
    for (q[1] = 0; q[1] < f.cell.order[f.e[1]]; q[1]++)
        for (q[0] = 0; q[0] < f.cell.order[f.e[0]]; q[0]++) side_point(s, &f, n, q, out);
}

/* --- sets --- */

/* Checks the boundary of a set on a side of a patch: HX_EINPUT if functions extend beyond it. */
static int check_rim(const hx_space *s, const hx_set *set, int64_t face, const uint8_t *has)
{
    const int64_t cell = face / 6;
    const hx_spline_patch *const patch = hx_space_patch_of(s->spline, cell);
    const int n[3] = {patch->axis[0].n_span, patch->axis[1].n_span, patch->axis[2].n_span};
    int span[3], d, end;
    char text[64];
    hx_spline_patch_spans(patch, cell, span);
    side_of_local_face((int)(face % 6), &d, &end);
    for (int k = 1; k < 3; k++) {
        const int e = (d + k) % 3;
        const int64_t step = e == 0 ? 1 : e == 1 ? n[0] : (int64_t)n[0] * n[1];
        const hx_knots *const axis = &patch->axis[e];
        for (int up = 0; up < 2; up++) {
            if (up ? span[e] == n[e] - 1 : span[e] == 0) continue;
            if (has[6 * (cell + (up ? step : -step)) + face % 6]) continue;
            const double t = axis->knot[axis->span[span[e]] + up];
            const int count = hx_knots_multiplicity(axis, t);
            if (count >= axis->degree) continue;
            const hx_spline_side at = {(int)(patch - s->spline->patch), 2 * d + end};
            /* in a reversed patch, the third parameter is the negative of the file's */
            const double in_file = patch->is_turned && e == 2 ? -t : t;
            return HX_RAISE(
                HX_EINPUT,
                "set '%s' ends inside %s, at knot %g of direction %c, where functions extend "
                "beyond its boundary; support a whole side of a patch, or insert that knot until "
                "it occurs %d times (now %d), so that the part can bend there",
                set->name, hx_spline_side_name(s->spline, at, text, sizeof text), in_file, "uvw"[e],
                axis -> degree, count);
        }
    }
    return HX_OK;
}

/* Marks the control points of a set's faces, and the nodes that they contain. */
static int mark_faces(const hx_space *s, const hx_set *set, int64_t n_face, const int64_t *face,
                      uint8_t *point, uint8_t *node)
{
    uint8_t *has = NULL;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&has, 6 * (size_t)s->mesh->n_elem, 1, "faces of a set"));
    for (int64_t k = 0; k < n_face; k++) has[face[k]] = 1;
    for (int64_t k = 0; rc == HX_OK && k < n_face; k++) {
        side f;
        const int n = open_side(s, face[k], &f);
        rc = check_rim(s, set, face[k], has);
        for (int a = 0; a < n; a++) point[f.cell.point[f.place[a]]] = 1;
        for (int i = 0; i < 4; i++)
            node[s->mesh->conn[8 * (face[k] / 6) + hx_hex_face[face[k] % 6][i]]] = 1;
    }
    free(has);
    return rc;
}

/* Marks the control points that interpolate those nodes of the set that lie on none of its
 * faces. */
static int mark_nodes(const hx_space *s, const hx_set *set, const uint8_t *node, uint8_t *marked)
{
    for (int64_t k = 0; k < set->n_node; k++) {
        int32_t point[HX_SPLINE_CELL_POINTS];
        double share[HX_SPLINE_CELL_POINTS];
        if (node[set->node[k]]) continue;
        const int n = hx_space_node_points(s, set->node[k], point, share);
        if (n > 1)
            return HX_RAISE(HX_EINPUT,
                            "node %lld of set '%s' is on no face of the set and is not a control "
                            "point of the spline, so %d %s are nonzero there; support whole sides "
                            "of patches or corners, or use element = \"linear\"",
                            (long long)hx_mesh_node_number(s->mesh, set->node[k]), set->name, n,
                            hx_noun(n, "function", "functions"));
        marked[point[0]] = 1;
    }
    return HX_OK;
}

int hx_space_spline_points(const hx_space *s, const hx_set *set, int64_t *n, int32_t **point)
{
    uint8_t *marked = NULL, *node = NULL;
    int64_t n_face = 0, *face = NULL;
    int rc;
    *n = 0;
    *point = NULL;
    HX_TRY_FAIL(hx_alloc(&marked, (size_t)s->n_point, 1, "points of a set"));
    HX_TRY_FAIL(hx_alloc(&node, (size_t)s->mesh->n_node, 1, "points of a set"));
    HX_TRY_FAIL(hx_load_faces(s->mesh, set, &n_face, &face));
    HX_TRY_FAIL(mark_faces(s, set, n_face, face, marked, node));
    HX_TRY_FAIL(mark_nodes(s, set, node, marked));
    int64_t count = 0;
    for (int64_t a = 0; a < s->n_point; a++) count += marked[a];
    HX_TRY_FAIL(hx_alloc_raw(point, (size_t)count, sizeof **point, "points of a set"));
    for (int64_t a = 0; a < s->n_point; a++)
        if (marked[a]) (*point)[(*n)++] = (int32_t)a;
fail:
    free(marked);
    free(node);
    free(face);
    return rc;
}
