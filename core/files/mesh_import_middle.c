/* Nodes of second order in an imported mesh: they are left out of the mesh, but kept for sets,
 * loads and supports that refer to them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "../mesh/mesh_check.h"
#include "mesh_import_internal.h"

enum { PLACES = 32 }; /* more than any element has nodes that are not corners */

static hx_solid_id import_solid_of(const hx_import *import, int64_t elem)
{
    return import->solid ? (hx_solid_id)import->solid[elem] : HX_SOLID_HEX8;
}

int64_t hx_import_middle(const hx_import *import, int64_t number)
{
    const int64_t node = hx_number_index_find(&import->node_index, number);
    return import->middle_of_node && node >= 0 ? import->middle_of_node[node] : -1;
}

int hx_import_middle_corners(const hx_import *import, const hx_mesh *mesh, int64_t middle,
                             int32_t corner[HX_SOLID_CORNERS])
{
    const int64_t elem = import->middle_place[middle] / PLACES;
    const hx_renumbered *const cell = hx_find_renumbered(&import->renumbered, elem);
    const int order = import->order ? import->order[elem] : HX_ORDER_VTK;
    int32_t conn[8]; /* in the file's order */
    for (int a = 0; a < 8; a++)
        conn[a] = cell ? cell->corner[a] : mesh->conn[8 * elem + hx_order_permutation[order][a]];
    return hx_solid_middle(import_solid_of(import, elem),
                           (int)(import->middle_place[middle] % PLACES), conn, corner);
}

/* Takes the nodes of element e that are not corners, from index *next of the list. */
static int take_middles(hx_import *import, const int32_t *conn, const uint8_t *is_corner, int64_t e,
                        int64_t *next, hx_middle_survey *survey)
{
    const hx_solid_id id = import_solid_of(import, e);
    const int n_middle = hx_solids[id].n_node - hx_solids[id].n_corner;
    for (int k = 0; k < n_middle; k++) {
        int32_t corner[HX_SOLID_CORNERS];
        const int64_t number = hx_numbers_get(&import->middle, (*next)++);
        const int64_t node = hx_number_index_find(&import->node_index, number);
        if (node < 0)
            return HX_RAISE(HX_EINPUT, "element %s names node %s, which the file does not have",
                            HX_IMPORT_NUMBER(import, hx_numbers_get(&import->elem_number, e)),
                            HX_IMPORT_NUMBER(import, number));
        if (is_corner[node] || import->middle_of_node[node] >= 0) continue;
        const double *const x = import->xyz + 3 * node;
        const int n = hx_solid_middle(id, k, conn + 8 * e, corner);
        hx_survey_middle(survey, hx_import_short(import, number), x, import->xyz, n, corner);
        import->middle_of_node[node] = (int32_t)import->n_middle;
        import->middle_place[import->n_middle] = e * PLACES + k;
        memcpy(import->middle_xyz + 3 * import->n_middle++, x, 3 * sizeof *x);
    }
    return HX_OK;
}

static int list_middles(hx_import *import, const int32_t *conn, const uint8_t *is_corner)
{
    const size_t n_node = (size_t)import->n_node;
    const size_t most =
        (size_t)(import->middle.n < import->n_node ? import->middle.n : import->n_node);
    int64_t next = 0;
    hx_middle_survey survey = {0};
    HX_TRY(hx_alloc_raw(&import->middle_of_node, n_node, sizeof(int32_t), "mid-side nodes"));
    memset(import->middle_of_node, 0xff, n_node * sizeof(int32_t));
    HX_TRY(hx_alloc_raw(&import->middle_place, most, sizeof(int64_t), "mid-side nodes"));
    HX_TRY(hx_alloc_raw(&import->middle_xyz, 3 * most, sizeof(double), "mid-side nodes"));
    for (int64_t e = 0; e < import->n_elem; e++) {
        const int rc = take_middles(import, conn, is_corner, e, &next, &survey);
        if (rc < 0) return hx_import_place(import, hx_import_elem_line(import, e), rc);
    }
    hx_numbers_free(&import->middle);
    import->is_curved = hx_survey_is_curved(&survey);
    return hx_note_middles(&survey, import->path, import->notes);
}

int hx_import_list_middles(hx_import *import, const int32_t *conn)
{
    uint8_t *is_corner = NULL;
    if (import->middle.n == 0) return HX_OK;
    HX_TRY(hx_alloc(&is_corner, (size_t)import->n_node, 1, "flags of nodes"));
    for (int64_t i = 0; i < 8 * import->n_elem; i++) is_corner[conn[i]] = 1;
    const int rc = list_middles(import, conn, is_corner);
    free(is_corner);
    return rc;
}

int hx_import_keep_middles(const hx_import *import, hx_mesh *mesh)
{
    if (!import->is_curved) return HX_OK;
    HX_TRY(hx_middles_alloc(&mesh->middles, import->n_middle));
    for (int64_t m = 0; m < import->n_middle; m++) {
        int32_t corner[HX_SOLID_CORNERS];
        if (hx_import_middle_corners(import, mesh, m, corner) == 2)
            hx_middles_put(&mesh->middles, corner, import->middle_xyz + 3 * m);
    }
    return HX_OK;
}

/* --- forces on such nodes --- */

/* Resultant of forces, their moment about the origin, and the sum of their magnitudes. */
typedef struct wrench {
    double force[3], moment[3], size;
} wrench;

static void add_to_wrench(wrench *w, const double x[3], const double f[3])
{
    double moment[3];
    hx_cross3(x, f, moment);
    for (int d = 0; d < 3; d++) {
        w->force[d] += f[d];
        w->moment[d] += moment[d];
    }
    w->size += hx_norm3(f);
}

static int is_zero(const double f[3])
{
    return f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0;
}

/* Records how distributing the forces changes them; the resultant must not change. */
static int compare_wrenches(const wrench *before, const wrench *after, hx_middle_report *report)
{
    double force[3], moment[3];
    for (int d = 0; d < 3; d++) {
        force[d] = after->force[d] - before->force[d];
        moment[d] = after->moment[d] - before->moment[d];
    }
    if (hx_norm3(force) > 1e-12 * before->size)
        return HX_RAISE(
            HX_EINTERNAL,
            "the distribution of forces on mid-side nodes changed their resultant by %g",
            hx_norm3(force));
    report->moment = fmax(report->moment, hx_norm3(before->moment));
    report->change = fmax(report->change, hx_norm3(moment));
    return HX_OK;
}

int hx_share_forces(const hx_import *import, const hx_mesh *mesh, const double *force,
                    double **shared, hx_middle_report *report)
{
    wrench before = {{0.0}, {0.0}, 0.0}, after = before;
    double *f;
    int64_t n_force = 0;
    HX_TRY(hx_alloc_raw(shared, 3 * (size_t)mesh->n_node, sizeof **shared, "forces of a file"));
    f = *shared;
    memcpy(f, force, 3 * (size_t)mesh->n_node * sizeof *f);
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (!is_zero(f + 3 * a)) add_to_wrench(&before, mesh->xyz + 3 * a, f + 3 * a);
    for (int64_t m = 0; m < import->n_middle; m++) {
        int32_t corner[HX_SOLID_CORNERS];
        const double *const own = force + 3 * (mesh->n_node + m);
        if (is_zero(own)) continue;
        n_force++;
        add_to_wrench(&before, import->middle_xyz + 3 * m, own);
        const int n = hx_import_middle_corners(import, mesh, m, corner);
        for (int i = 0; i < 3 * n; i++) f[3 * (int64_t)corner[i / 3] + i % 3] += own[i % 3] / n;
    }
    if (n_force == 0) return HX_OK;
    report->n_force += n_force;
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (!is_zero(f + 3 * a)) add_to_wrench(&after, mesh->xyz + 3 * a, f + 3 * a);
    const int rc = compare_wrenches(&before, &after, report);
    if (rc < 0) free(*shared);
    return rc;
}

void hx_share_supports(const hx_import *import, const hx_mesh *mesh, uint8_t *fixed, double *value,
                       hx_middle_report *report)
{
    for (int64_t m = 0; m < import->n_middle; m++) {
        int32_t corner[HX_SOLID_CORNERS];
        const int64_t from = mesh->n_node + m;
        if (!fixed[from]) continue;
        report->n_support++;
        const int n = hx_import_middle_corners(import, mesh, m, corner);
        for (int i = 0; i < 3 * n; i++) {
            const int64_t to = corner[i / 3];
            const int d = i % 3;
            if (!(fixed[from] >> d & 1) || fixed[to] >> d & 1) continue;
            fixed[to] |= (uint8_t)(1u << d);
            value[3 * to + d] = value[3 * from + d];
        }
    }
}

int hx_note_shared(const hx_import *import, const hx_middle_report *report)
{
    if (report->n_support > 0)
        HX_TRY(hx_notes_add(
            import->notes, HX_NOTE_INFO,
            "%s: supports of %lld mid-side %s are applied to the ends of their edges if these have "
            "no support of their own; with quadratic elements, also to the middles",
            import->path, (long long)report->n_support,
            hx_noun(report->n_support, "node", "nodes")));
    if (report->n_force == 0) return HX_OK;
    return hx_notes_add(import->notes, HX_NOTE_INFO,
                        "%s: forces on %lld mid-side %s are applied half to each end of their "
                        "edges (with quadratic elements they stay there): the resultant is "
                        "unchanged, the moment about the origin changes by %.2g of %.4g%s",
                        import->path, (long long)report->n_force,
                        hx_noun(report->n_force, "node", "nodes"), report->change, report->moment,
                        report->change > 1e-6 * report->moment
                            ? ", because of nodes off the middle of their edges"
                            : "");
}
