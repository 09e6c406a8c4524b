/* A level of a lattice that lies in shares (lattice_ranks.c): inside of the room. */
#ifndef HX_LEVEL_SHARE_H
#define HX_LEVEL_SHARE_H

#include "ranks.h"
#include "route.h"

/* One level of the whole: who owns a node, and its number here. */
typedef struct hx_level_view {
    int64_t n, n_local, n_own;
    int32_t *owner;   /* [n] */
    int32_t *number;  /* [n] -1: not here */
    int32_t *node;    /* [n_local] the reverse */
    int64_t *code;    /* [n_local] numbers that all processes give these nodes, ascending with their
                         own; NULL: `node` is such */
    int64_t *n_touch; /* [size] ghosts of each owner that this process has parts of */
    int64_t *n_ghost; /* [size] all */
    int64_t *first;   /* [size] number of the first of each */
} hx_level_view;

struct hx_level_share {
    hx_level_share *next; /* in hx_ranks.level */
    int64_t n_own, n_ghost, n_serve, n_touch, n_sum;
    hx_route value,
        part;         /* of owners' values to ghosts, of parts to owners (owned, like all below) */
    int32_t *serve;   /* [n_serve] own nodes that peers have, peer after peer: such as they have
                         parts of first */
    int32_t *touch;   /* [n_touch] ghosts that this process has parts of */
    int32_t *sum;     /* [n_sum] own nodes that others have parts of, each once */
    int32_t *sum_of;  /* place of each part that comes among them */
    int dof;          /* what the lists below are for; 0: not made yet */
    int64_t *d_serve; /* [n_serve][dof] entries of vectors */
    int64_t *d_touch, *d_sum;             /* [..][dof] */
    int64_t *d_touch_block, *d_sum_block; /* [..][dof^2] of the matrix, of its first block column */
    int64_t block_step;                   /* from one of them to the next */
    float *host, *d_value;                /* most numbers that go or come at once */
    hx_mail_route values, parts;          /* the same from device to device */
    int64_t *d_first;  /* [n_sum + 1] parts of each own node that others have parts of */
    int32_t *d_source; /* they: -1 its own, then those that came, rank after rank */
};

/* Of what this process has of a level, n_own and n_ghost nodes of each rank: all processes say what
 * they have. ranks owns it until hx_ranks_free_level. Collective. */
int hx_level_share_create(hx_ranks *ranks, const hx_level_view *view, hx_level_share **share);

/* lattice_ranks.c, level_share.c: of hx_common_ops. */
int hx_ranks_share_lattice(hx_device *dev, struct hx_lattice *lattice);
int64_t hx_ranks_most_whole(hx_device *dev);
void hx_ranks_free_level(hx_device *dev, hx_level_share *share);
int hx_ranks_add_lattice(hx_device *dev, int dof, const hx_mg_level *level);
int hx_ranks_settle_level(hx_device *dev, const hx_mg_level *level, float *d_y);
int hx_ranks_level_power(hx_device *dev, int dof, const hx_mg_level *level);

/* Nodes of all such levels that this process has. */
int64_t hx_ranks_lattice_nodes(const hx_ranks *ranks);

/* level->b := the sum of all processes' parts, at a process' own nodes, or at all of a whole one.
 */
int hx_ranks_add_right_side(hx_ranks *ranks, int dof, const hx_mg_level *level);

/* Fills the entries of a table that need the others. */
void hx_ranks_set_levels(hx_multigrid_ops *table, int dof);

#endif
