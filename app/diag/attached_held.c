/* The pieces of a 0/1 design that something holds: a support, a spring, or a rigid set that is held
 * itself or lies on a held piece, too. The others float in void. */
#include <stdlib.h>

#include "attached.h"
#include "core/base/memory.h"

/* What holds the points of the space. */
typedef struct holders {
    uint8_t *point; /* [n_point] 1: a support or a spring (owned) */
    int32_t *rigid; /* [n_point] rigid set, -1: none (owned) */
    uint8_t *set;   /* [rigid.n] 1: held (owned) */
} holders;

static void free_holders(holders *h)
{
    free(h->point);
    free(h->rigid);
    free(h->set);
}

static int find_holders(holders *h, const hx_session *s)
{
    const hx_problem *const problem = &s->problem;
    const int64_t n = s->space.n_point;
    const hx_rigid_sets *const rigid = &problem->rigid;
    HX_TRY(hx_alloc(&h->point, (size_t)n, sizeof *h->point, "points"));
    HX_TRY(hx_alloc_raw(&h->rigid, (size_t)n, sizeof *h->rigid, "points"));
    HX_TRY(hx_alloc(&h->set, (size_t)rigid->n, sizeof *h->set, "rigid sets"));
    for (int64_t p = 0; p < n; p++) {
        h->point[p] = problem->supports.fixed[p] != 0;
        h->rigid[p] = -1;
    }
    for (int64_t k = 0; k < problem->springs.n; k++)
        h->point[problem->springs.dof[k] / problem->components] = 1;
    for (int i = 0; i < rigid->n; i++) {
        h->set[i] = rigid->set[i].held != 0;
        for (int64_t k = 0; k < rigid->set[i].n; k++)
            h->rigid[rigid->node[rigid->set[i].first + k]] = i;
    }
    return HX_OK;
}

/* The pieces about a nodal point, one of whose points is p. Returns 1 if it holds another one. */
static int hold_about(hx_attached *a, holders *h, int64_t nodal, int64_t p)
{
    const hx_space *const space = &a->session->space;
    const int set = h->rigid[p];
    int64_t k, first;
    int changes = 0;
    const int64_t end = hx_space_nodal_cells(space, nodal, &first);
    for (k = first; k < end; k++) {
        const int32_t piece = a->pieces.of[hx_space_nodal_cell(space, k)];
        if (piece < 0) continue;
        if (!a->is_held[piece] && (h->point[p] || (set >= 0 && h->set[set])))
            changes = a->is_held[piece] = 1;
        if (set >= 0 && !h->set[set] && a->is_held[piece]) changes = h->set[set] = 1;
    }
    return changes;
}

static int hold_all(hx_attached *a, holders *h)
{
    const hx_space *const space = &a->session->space;
    int32_t point[HX_SPLINE_CELL_POINTS];
    double share[HX_SPLINE_CELL_POINTS];
    int changes = 0;
    for (int64_t i = 0; i < hx_space_n_nodal(space); i++) {
        int n = 1;
        point[0] = (int32_t)i;
        share[0] = 1.0;
        if (i < space->mesh->n_node) n = hx_space_node_points(space, i, point, share);
        for (int k = 0; k < n; k++)
            if (share[k] > 1e-9) changes |= hold_about(a, h, i, point[k]);
    }
    return changes;
}

int hx_attached_find_held(hx_attached *a)
{
    holders h = {0};
    int rc;
    HX_TRY(hx_alloc(&a->is_held, (size_t)a->pieces.n, sizeof *a->is_held, "pieces"));
    HX_TRY_FAIL(find_holders(&h, a->session));
    while (hold_all(a, &h)) continue; /* a pass for each rigid set between two pieces, at most */
fail:
    free_holders(&h);
    return rc;
}

int hx_attached_is_cell_held(const hx_attached *a, int64_t cell)
{
    const int32_t piece = a->pieces.of[cell];
    return piece >= 0 && a->is_held[piece];
}

int hx_attached_is_node_held(const hx_attached *a, int64_t node)
{
    const hx_mesh *const mesh = &a->session->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        if (hx_attached_is_cell_held(a, mesh->node_elem[k] / 8)) return 1;
    return 0;
}
