/* The coarse grid that multigrid solves directly: which level it is, and its Cholesky factors or
 * its inverse, depending on the device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "multigrid_internal.h"

static const char *const WHAT = "coarsest level";

/* Nodes sorted by key[0] x + key[1] y + key[2] z. */
typedef struct layers {
    const int32_t *place;
    int64_t key[3];
} layers;

static int64_t key_of_layer(const layers *l, int64_t a)
{
    const int32_t *at = l->place + 3 * a;
    return l->key[0] * at[0] + l->key[1] * at[1] + l->key[2] * at[2];
}

/* order[a]: rank of node a among the n nodes by their keys, which are all different. */
static int sort_layers(const layers *l, int64_t n, int64_t n_key, int32_t *order)
{
    int32_t *count;
    HX_TRY(hx_alloc(&count, (size_t)n_key + 1, sizeof *count, WHAT));
    for (int64_t a = 0; a < n; a++) count[key_of_layer(l, a) + 1]++;
    for (int64_t k = 0; k < n_key; k++) count[k + 1] += count[k];
    for (int64_t a = 0; a < n; a++) order[a] = count[key_of_layer(l, a)];
    free(count);
    return HX_OK;
}

/* Number of places in each direction. */
static void measure_level(const hx_coarse_level *level, int64_t size[3])
{
    for (int i = 0; i < 3; i++) size[i] = 1;
    for (int64_t a = 0; a < level->n_node; a++)
        for (int i = 0; i < 3; i++)
            if (level->place[3 * a + i] >= size[i]) size[i] = level->place[3 * a + i] + 1;
}

/* Orders nodes such that the index along the longest direction varies slowest, along the shortest
 * fastest. */
static int order_nodes(const hx_coarse_level *level, int32_t *order)
{
    int64_t size[3];
    layers l = {.place = level->place};
    int axis[3] = {0, 1, 2};
    measure_level(level, size);
    for (int i = 0; i < 3; i++) /* sort the axes by size, ascending */
        for (int j = i + 1; j < 3; j++)
            if (size[axis[j]] < size[axis[i]]) {
                const int held = axis[i];
                axis[i] = axis[j];
                axis[j] = held;
            }
    l.key[axis[0]] = 1;
    l.key[axis[1]] = size[axis[0]];
    l.key[axis[2]] = size[axis[0]] * size[axis[1]];
    return sort_layers(&l, level->n_node, size[0] * size[1] * size[2], order);
}

/* Computes last[k] of hx_skyline_create for dof unknowns per node. */
static void find_last(const hx_coarse_level *level, const int32_t *order, int dof, int64_t *last)
{
    for (int64_t a = 0; a < level->n_node; a++) {
        int64_t most = order[a];
        for (int o = 0; o < HX_COARSE_OFFSETS; o++) {
            const int64_t b = order[level->neighbour[o * level->n_node + a]];
            most = b > most ? b : most;
        }
        for (int r = 0; r < dof; r++) last[dof * (int64_t)order[a] + r] = dof * most + dof - 1;
    }
}

/* Prepares the factors of a level if they take at most `most` operations; *found: 1 if they do. */
static int try_level(hx_multigrid *mg, const hx_coarse_level *level, double most, int *found)
{
    const int64_t n = mg->dof * level->n_node;
    hx_mg_direct *direct = &mg->direct;
    int64_t *last = NULL;
    double n_entry, n_operation;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&direct->order, (size_t)level->n_node, sizeof *direct->order, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&last, (size_t)n, sizeof *last, WHAT));
    HX_TRY_FAIL(order_nodes(level, direct->order));
    find_last(level, direct->order, mg->dof, last);
    hx_skyline_cost(n, last, &n_entry, &n_operation);
    *found = n_operation <= most;
    if (*found) HX_TRY_FAIL(hx_skyline_create(&direct->factors, n, last));
    rc = HX_OK;
fail:
    free(last);
    if (rc != HX_OK || !*found) hx_mg_direct_free(mg);
    return rc;
}

int hx_mg_direct_choose(hx_multigrid *mg, const hx_coarse *coarse, int64_t n_elem, int *n_level)
{
    const hx_mg_direct_params *const direct = &mg->params->direct;
    const hx_device_ops *const ops = mg->dev->ops;
    const double most = direct->operations * (double)n_elem;
    int found = 0;
    *n_level = coarse->n_level;
    if (mg->ops->direct->begin) {
        int l = coarse->n_shared;
        while (l + 1 < coarse->n_level && coarse->level[l].n_node > direct->inverse_nodes) l++;
        *n_level = l + 1;
        const int64_t n = mg->dof * coarse->level[l].n_node, pitch = hx_mg_pitch(n);
        mg->direct.n = n;
        HX_TRY(ops->alloc(mg->dev, (size_t)hx_mg_inverse_work(n) * sizeof(double),
                          &mg->direct.d_work));
        return ops->alloc(mg->dev, (size_t)(pitch * pitch) * sizeof(float), &mg->direct.d_inverse);
    }
    for (int l = coarse->n_shared; l < coarse->n_level; l++) {
        const hx_coarse_level *level = &coarse->level[l];
        const int is_last = l + 1 == coarse->n_level;
        if (level->n_node > direct->factor_nodes && !is_last) continue;
        HX_TRY(try_level(mg, level, is_last ? INFINITY : most, &found));
        *n_level = l + 1;
        if (found) break;
    }
    return HX_OK;
}

/* Assumes a coarse grid of equal width in all directions, and coarser ones with an eighth of its
 * nodes each. */
double hx_mg_direct_bytes(const hx_multigrid_ops *ops, const hx_mg_params *params, int dof,
                          double n_node, int64_t n_elem)
{
    const hx_mg_direct_params *const direct = &params->direct;
    if (ops->direct->begin) {
        while (n_node > direct->inverse_nodes) n_node *= 0.125;
        const int64_t n = (int64_t)(dof * n_node), pitch = hx_mg_pitch(n);
        return 4.0 * (double)(pitch * pitch) + 8.0 * (double)hx_mg_inverse_work(n);
    }
    for (;; n_node *= 0.125) {
        const double n = dof * n_node, width = dof * 1.5 * pow(n_node, 2.0 / 3.0);
        if (n_node < params->coarsening.last_nodes ||
            n * width * width <= direct->operations * (double)n_elem)
            return 8.0 * n * (width + 4.0);
    }
}

double hx_mg_direct_added(const hx_multigrid *mg)
{
    const int n_above = mg->dof == HX_MG_DOF ? mg->n_level - 1 : 0;
    return fmin(ldexp(mg->params->direct.added, n_above), mg->params->direct.added_most);
}

int hx_mg_direct_begin(hx_multigrid *mg)
{
    const hx_mg_level *last = &mg->level[mg->n_level - 1];
    if (!mg->ops->direct->begin) return HX_OK;
    return mg->ops->direct->begin(mg->dev, last, mg->added, &mg->direct);
}

/* Factorizes or inverts, increasing the fraction added to the diagonal until it is sufficient. */
static int make_consistent(hx_multigrid *mg)
{
    const hx_mg_direct_params *const direct = &mg->params->direct;
    const hx_mg_level *last = &mg->level[mg->n_level - 1];
    for (int fits = 0;;) {
        HX_TRY(mg->ops->direct->finish(mg->dev, last, mg->added, &mg->direct, &fits));
        /* at the limit: some rows stay left out */
        if (fits || mg->added >= direct->added_most) return HX_OK;
        mg->added *= direct->added_factor;
        HX_TRY(hx_mg_direct_begin(mg));
    }
}

int hx_mg_direct_setup(hx_multigrid *mg)
{
    mg->is_begun = mg->ops->direct->begin != NULL;
    return mg->is_begun ? HX_OK : make_consistent(mg);
}

int hx_mg_direct_wait(hx_multigrid *mg)
{
    if (!mg->is_begun) return HX_OK;
    mg->is_begun = 0;
    return make_consistent(mg);
}

void hx_mg_direct_free(hx_multigrid *mg)
{
    mg->dev->ops->release(mg->dev, mg->direct.d_inverse);
    mg->dev->ops->release(mg->dev, mg->direct.d_work);
    free(mg->direct.order);
    hx_skyline_free(&mg->direct.factors);
    memset(&mg->direct, 0, sizeof mg->direct);
}
