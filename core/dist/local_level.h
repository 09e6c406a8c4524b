/* A distributed level of the coarse grid (dist_coarse.c). Private to the room. */
#ifndef HX_LOCAL_LEVEL_H
#define HX_LOCAL_LEVEL_H

#include "dist.h"
#include "exchange.h"

/* One level of the global grid: owners of its nodes, and their local numbers. */
typedef struct hx_level_view {
    int64_t n, n_local, n_own;
    int32_t *owner;  /* [n] */
    int32_t *number; /* [n] local number; -1: not on this rank */
    int32_t *node;   /* [n_local] inverse of `number` */
    /* [n_local] global numbers of the nodes, ascending with those of each owner; NULL: `node`
     * serves */
    int64_t *code;
    int64_t *n_touch; /* [size] ghosts of each owner to which this rank contributes */
    int64_t *n_ghost; /* [size] all ghosts of each owner */
    int64_t *first;   /* [size] local number of the first ghost of each owner */
} hx_level_view;

struct hx_local_level {
    hx_local_level *next; /* next entry of hx_dist.level */
    int64_t n_own, n_ghost, n_serve, n_touch, n_sum;
    /* value: from owners to ghosts; part: contributions from ghosts to owners (owned, like all
     * below) */
    hx_exchange value, part;
    /* [n_serve] own nodes that are ghosts of peers, peer after peer; those to which the peer
     * contributes come first */
    int32_t *serve;
    int32_t *touch;           /* [n_touch] ghosts to which this rank contributes */
    int32_t *sum;             /* [n_sum] own nodes to which other ranks contribute, each once */
    int32_t *sum_of;          /* position in `sum` of each contribution received */
    int dof;                  /* unknowns per node of the lists below; 0: not made yet */
    int64_t *d_serve;         /* [n_serve][dof] entries of vectors */
    int64_t *d_touch, *d_sum; /* [..][dof] */
    /* [..][dof^2] entries of the matrix: the block of the first neighbour of each node */
    int64_t *d_touch_block, *d_sum_block;
    int64_t block_step;    /* distance from the block of one neighbour to that of the next */
    float *host, *d_value; /* buffers for the longest message */
    hx_transport_exchange values, parts; /* the same exchanges from device to device */
    int64_t *d_first;                    /* [n_sum + 1] range in d_source of each node of `sum` */
    /* contributions in the order of the ranks: -1 for this rank's, otherwise the position among
     * those received */
    int32_t *d_source;
};

/* Makes the exchanges of a level of which this rank has n_own own nodes and n_ghost ghosts of each
 * rank. `dist` owns *local until hx_dist_free_level. Collective. */
int hx_local_level_create(hx_dist *dist, const hx_level_view *view, hx_local_level **local);

/* Entries of hx_interface_ops, in dist_coarse.c and local_level.c. */
int hx_dist_split_coarse(hx_device *dev, struct hx_coarse *coarse);
int64_t hx_dist_most_whole(hx_device *dev);
void hx_dist_free_level(hx_device *dev, hx_local_level *local);
int hx_dist_add_coarse(hx_device *dev, int dof, const hx_mg_level *level);
int hx_dist_make_level_consistent(hx_device *dev, const hx_mg_level *level, float *d_y);
int hx_dist_level_power(hx_device *dev, int dof, const hx_mg_level *level);

/* Unknowns per coarse node. */
static inline int hx_dist_coarse_dof(const hx_dist *dist)
{
    return hx_problem_is_heat(dist->subdomain.whole) ? 1 : HX_MG_DOF;
}

/* Returns the number of nodes of all distributed levels on this rank. */
int64_t hx_dist_coarse_nodes(const hx_dist *dist);

/* level->d_b := sum of the contributions of all ranks, at the own nodes of a distributed level or
 * at all nodes of a replicated one. */
int hx_dist_add_right_side(hx_dist *dist, const hx_mg_level *level);

/* Replaces the operations on coarse grids that need other ranks. */
void hx_dist_set_levels(hx_dist_multigrid *tables);

#endif
