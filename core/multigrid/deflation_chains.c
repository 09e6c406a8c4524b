/* Decides which components of a grouping are deflated (deflation_internal.h). Components that share
 * nodes are hinged to each other, and a chain of them may have soft motions that each of them does
 * not have. So every component that touches a soft one is selected too, and so on. */
#include <stdlib.h>

#include "../base/memory.h"
#include "deflation_internal.h"
#include "mg_params.h"

/* Two components that share a node on this rank: that of an element, and the owner of the node. */
typedef struct hinge {
    uint32_t part, owner;
} hinge;

static int64_t put_hinges(const hx_component_grouping *g, hinge *list)
{
    const int32_t *const conn = g->problem->mesh->conn;
    int64_t n = 0;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++) {
        if (!hx_component_is_stiff(g, e)) continue;
        const uint32_t part = hx_component_number(g, e);
        for (int a = 0; a < 8; a++) {
            const uint32_t owner = g->owner[conn[8 * e + a]];
            int64_t at;
            if (owner == part) continue;
#pragma omp atomic capture
            at = n++;
            if (list) list[at] = (hinge){part, owner};
        }
    }
    return n;
}

/* Lists all hinges, in arbitrary order. */
static int list_hinges(const hx_component_grouping *g, hinge **list, int64_t *n)
{
    *n = put_hinges(g, NULL);
    HX_TRY(hx_alloc_raw(list, (size_t)*n, sizeof **list, "floating components"));
    put_hinges(g, *list);
    return HX_OK;
}

/* Selects one of two components that share a node if the other is selected, unless its motions
 * strain nothing. */
static int spread_mark(hx_floating_component *part, const hx_floating_component *other)
{
    if (part->is_chosen || !other->is_chosen || !part->is_strained) return 0;
    part->is_chosen = 1;
    return 1;
}

/* Spreads the selection over hinges on this rank. Returns 1 if any component was added. */
static int spread_here(const hinge *list, int64_t n, hx_floating_component *part)
{
    int any = 0;
    for (int more = 1; more; any |= more) {
        more = 0;
        for (int64_t k = 0; k < n; k++) {
            hx_floating_component *const here = &part[list[k].part], *const there =
                                                                         &part[list[k].owner];
            more |= spread_mark(here, there) | spread_mark(there, here);
        }
    }
    return any;
}

/* Combines the selections of all ranks. *more: 1 if any rank has added a component since the last
 * call; mark: [n_part + 1] scratch. */
static int spread_to_all(const hx_component_grouping *g, hx_floating_component *part, int64_t *mark,
                         int *more)
{
    for (int64_t p = 0; p < g->n_part; p++) mark[p] = part[p].is_chosen;
    mark[g->n_part] = *more;
    HX_TRY(hx_interface_sum_i64(g->others, HX_OK, g->n_part + 1, mark));
    for (int64_t p = 0; p < g->n_part; p++) part[p].is_chosen = mark[p] > 0;
    *more = mark[g->n_part] > 0;
    return HX_OK;
}

int hx_component_choose_chains(const hx_component_grouping *g, hx_floating_component *part)
{
    const double least = hx_mg_params_of(g->problem)->deflation.softness;
    int64_t *mark = NULL, n_hinge = 0;
    hinge *list = NULL;
    int more = 0;
    for (int64_t p = 0; p < g->n_part; p++) {
        part[p].is_chosen = part[p].softness > least;
        more |= part[p].is_chosen;
    }
    if (!more || g->n_part < 2) return HX_OK; /* the same on all ranks */
    int rc = hx_alloc_raw(&mark, (size_t)g->n_part + 1, sizeof *mark, "floating components");
    if (rc == HX_OK) rc = list_hinges(g, &list, &n_hinge);
    rc = hx_interface_agree(g->others, rc);
    while (rc == HX_OK && more) {
        more = spread_here(list, n_hinge, part);
        rc = spread_to_all(g, part, mark, &more);
        more &= g->others != NULL;
    }
    free(mark);
    free(list);
    return rc;
}
