#include "fine_image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/load_faces.h"
#include "core/spline/spline_image.h"

/* Limits that apply if n is not given: largest angle, in degrees, by which an edge of a hexahedron
 * may turn; total number of hexahedra. */
static const double most_turn = 5.0, most_elements = 4e6;
enum { MOST_CHOSEN = 8 };

static const double degrees = 180.0 / 3.14159265358979323846;

/* --- the mesh --- */

/* Marks the elements of kept cells and their nodes, which are numbered in order of first use. */
static int keep_cells(const uint8_t *keep, int64_t n_cell, int64_t per, int64_t *n_node,
                      double *xyz, int64_t *n_elem, int32_t *conn)
{
    int32_t *number = NULL;
    *n_elem = n_cell * per;
    if (!keep) return HX_OK;
    HX_TRY(hx_alloc(&number, (size_t)*n_node, sizeof *number, "numbers of nodes"));
    *n_elem = 0;
    for (int64_t e = 0; e < n_cell * per; e++) {
        if (!keep[e / per]) continue;
        for (int a = 0; a < 8; a++) number[conn[8 * e + a]] = 1;
        memmove(conn + 8 * (*n_elem)++, conn + 8 * e, 8 * sizeof *conn);
    }
    int32_t n = 0;
    for (int64_t a = 0; a < *n_node; a++) {
        if (!number[a]) continue;
        memmove(xyz + 3 * (int64_t)n, xyz + 3 * a, 3 * sizeof *xyz);
        number[a] = n++;
    }
    *n_node = n;
    for (int64_t k = 0; k < 8 * *n_elem; k++) conn[k] = number[conn[k]];
    free(number);
    return HX_OK;
}

/* Makes f->mesh with n^3 elements per cell; it is not finished. */
static int make_image_mesh(hx_fine_image *f, const hx_session *s, const uint8_t *keep, int n)
{
    double *xyz = NULL;
    int32_t *conn = NULL;
    int64_t n_node = 0, n_elem = 0;
    HX_TRY(hx_spline_fine_image(&s->spline, n, &xyz, &conn, &n_node));
    const int rc =
        keep_cells(keep, s->spline.n_cell, (int64_t)n * n * n, &n_node, xyz, &n_elem, conn);
    if (rc < 0) {
        free(xyz);
        free(conn);
        return rc;
    }
    f->n = n;
    return hx_mesh_create(&f->mesh, s->mesh.name, n_node, xyz, n_elem, conn);
}

static int create_fine_image(hx_fine_image *f, const hx_session *s, const uint8_t *keep,
                             int requested)
{
    memset(f, 0, sizeof *f);
    if (s->spline.n_patch == 0 && requested > 0)
        return HX_RAISE(HX_EINPUT, "--cuts applies to splines (.xml of G+Smo, MFEM NURBS .mesh); "
                                   "the surface of a mesh is cut from its own elements");
    if (s->spline.n_patch == 0) return HX_OK;
    f->n = 1;
    f->is_requested = requested > 0;
    f->turn = 8.0 * degrees * hx_spline_bend(&s->spline);
    if (requested == 0) {
        int64_t n_cell = keep ? 0 : s->spline.n_cell;
        for (int64_t c = 0; keep && c < s->spline.n_cell; c++) n_cell += keep[c];
        f->wanted = f->turn > most_turn ? (int)fmin(ceil(f->turn / most_turn - 1e-6), 1e6) : 1;
        int n = f->wanted < MOST_CHOSEN ? f->wanted : MOST_CHOSEN;
        while (n > 1 && (double)n_cell * n * n * n > most_elements) n--;
        for (; n > 1; n--) {
            const int rc = make_image_mesh(f, s, keep, n);
            if (rc != HX_EINPUT) return rc;
            /* if hexahedra are invalid, tries fewer of them, and finally the image itself */
            hx_error_clear();
        }
        return HX_OK;
    }
    return requested > 1 ? make_image_mesh(f, s, keep, requested) : HX_OK;
}

int hx_fine_image_create(hx_fine_image *f, const hx_session *s, const uint8_t *keep, int requested)
{
    HX_TRY(create_fine_image(f, s, keep, requested));
    return f->mesh.conn ? hx_mesh_finish(&f->mesh) : HX_OK;
}

/* --- sets --- */

/* Number of element (i, j, k) within a cell of n^3. */
static int64_t child_at(int64_t cell, int n, const int at[3])
{
    return ((cell * n + at[2]) * n + at[1]) * n + at[0];
}

static int add_image_faces(hx_fine_image *f, const hx_mesh *mesh, const hx_set *set)
{
    const int n = f->n;
    int64_t n_face = 0, *face = NULL, *child = NULL;
    HX_TRY(hx_load_faces(mesh, set, &n_face, &face));
    int rc = hx_alloc_raw(&child, (size_t)n_face * (size_t)(n * n) + 1, sizeof *child, "faces");
    for (int64_t i = 0; rc == HX_OK && i < n_face * n * n; i++) {
        const int64_t k = i / (n * n);
        const int side = (int)(face[k] % 6), d = side / 2;
        int at[3];
        at[d] = side % 2 ? n - 1 : 0;
        at[(d + 1) % 3] = (int)(i % n);
        at[(d + 2) % 3] = (int)(i / n % n);
        child[i] = 6 * child_at(face[k] / 6, n, at) + side;
    }
    if (rc == HX_OK && n_face > 0)
        rc = hx_mesh_add_face_set(&f->mesh, set->name, n_face * n * n, child);
    free(face);
    free(child);
    return rc;
}

/* Adds the set's nodes, which are corners of cells; node[n_node of the mesh] has their numbers in
 * the finer mesh. */
static int add_nodes(hx_fine_image *f, const hx_set *set, const int32_t *node)
{
    int32_t *list = NULL;
    HX_TRY(hx_alloc_raw(&list, (size_t)set->n_node + 1, sizeof *list, "nodes of a set"));
    for (int64_t i = 0; i < set->n_node; i++) list[i] = node[set->node[i]];
    const int rc = hx_mesh_add_node_set(&f->mesh, set->name, set->n_node, list);
    free(list);
    return rc;
}

static int add_elements(hx_fine_image *f, const hx_set *set)
{
    const int64_t per = (int64_t)f->n * f->n * f->n;
    int32_t *list = NULL;
    if (set->n_elem == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&list, (size_t)(set->n_elem * per), sizeof *list, "elements of a set"));
    for (int64_t i = 0; i < set->n_elem * per; i++)
        list[i] = (int32_t)(set->elem[i / per] * per + i % per);
    const int rc = hx_mesh_add_elem_set(&f->mesh, set->name, set->n_elem * per, list);
    free(list);
    return rc;
}

int hx_fine_image_with_sets(hx_fine_image *f, const hx_session *s)
{
    int32_t *node = NULL;
    int rc;
    HX_TRY(create_fine_image(f, s, NULL, 0));
    if (!f->mesh.conn) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)s->mesh.n_node, sizeof *node, "nodes of sets"));
    /* node[n_node of the mesh] := number of the same corner in the finer mesh. */
    static const int corner_at[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                        {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    for (int64_t k = 0; k < 8 * s->mesh.n_elem; k++) {
        int at[3];
        for (int d = 0; d < 3; d++) at[d] = corner_at[k % 8][d] * (f->n - 1);
        node[s->mesh.conn[k]] = f->mesh.conn[8 * child_at(k / 8, f->n, at) + k % 8];
    }
    for (size_t i = 0; i < s->mesh.n_set; i++) {
        const hx_set *const set = &s->mesh.set[i];
        HX_TRY_FAIL(add_nodes(f, set, node));
        HX_TRY_FAIL(add_image_faces(f, &s->mesh, set));
        HX_TRY_FAIL(add_elements(f, set));
    }
    rc = hx_mesh_finish(&f->mesh);
fail:
    free(node);
    return rc;
}

/* --- fields --- */

int hx_fine_image_field(const hx_fine_image *f, hx_surface_field *field, const hx_mesh *mesh,
                        const double *rho, const uint8_t *is_solid)
{
    hx_surface_field coarse;
    if (!f->mesh.conn) return hx_surface_field_create(field, mesh, rho, is_solid);
    HX_TRY(hx_surface_field_create(&coarse, mesh, rho, is_solid));
    const int rc = hx_surface_field_refine(field, &coarse, &f->mesh, f->n);
    hx_surface_field_free(&coarse);
    return rc;
}

double hx_fine_image_target(const hx_fine_image *f, const hx_surface_field *field, double target)
{
    return f->n > 0 ? fmin(target, field->mesh->total_volume) : target;
}

const char *hx_fine_image_text(const hx_fine_image *f, char *text, size_t n_text)
{
    text[0] = '\0';
    if (f->n == 1)
        snprintf(text, n_text, "one hexahedron per span, whose edges turn by %.3g degrees",
                 f->turn);
    if (f->n > 1)
        snprintf(text, n_text,
                 "%d x %d x %d %s per span%s: the span's edges turn by %.3g degrees, those of the "
                 "hexahedra by %.3g",
                 f->n, f->n, f->n, hx_noun(f->n, "hexahedron", "hexahedra"),
                 f->is_requested ? "" : " by curvature", f->turn, f->turn / f->n);
    const size_t n = strlen(text);
    if (!f->is_requested && f->n > 0 && f->wanted > f->n)
        snprintf(text + n, n_text - n, " (%d would keep them below %g)", f->wanted, most_turn);
    return text;
}

void hx_fine_image_free(hx_fine_image *f)
{
    hx_mesh_free(&f->mesh);
    memset(f, 0, sizeof *f);
}
