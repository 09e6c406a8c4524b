/* The elements of a mesh shared out among ranks, and what that costs them: balance, faces cut,
 * nodes that several ranks hold. */
#ifndef HX_PARTITION_H
#define HX_PARTITION_H

#include <stdint.h>

#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_MAX_RANK = 4096 };

typedef enum hx_partition_kind {
    HX_PARTITION_CURVE,     /* equal pieces of the elements' order, of a reordered mesh the Hilbert
                               curve */
    HX_PARTITION_GRAPH,     /* METIS, k-way, on the graph of elements that share a face */
    HX_PARTITION_BISECTION, /* recursive coordinate bisection of the centroids */
    HX_N_PARTITION,
    HX_PARTITION_AUTO = HX_N_PARTITION /* of hx_partition_choose */
} hx_partition_kind;

typedef struct hx_partition {
    hx_partition_kind kind;
    int n_rank;
    int32_t *rank; /* [n_elem] of each element (owned) */
} hx_partition;

/* What an element costs its rank, in eighths of a hexahedron: its distinct corners. */
int hx_partition_weight(const int32_t conn[8]);

/* "curve", "graph", "bisection", "auto". */
const char *hx_partition_name(hx_partition_kind kind);

/* 1 if this build has it: HX_PARTITION_GRAPH needs METIS. */
int hx_partition_available(hx_partition_kind kind);

/* Shares out the elements of a finished mesh; the same for any number of threads and on any
 * machine with the same METIS. HX_EINPUT: n_rank below 1, above HX_MAX_RANK or n_elem, or a rank
 * would be left without an element. HX_EENV: METIS is not there, or gives up. Curve: O(n_elem), 4
 * bytes an element; bisection: O(n_elem log n_rank), 8 bytes; graph: O(n_elem) and some 100 bytes
 * an element while it is made. */
int hx_partition_make(hx_partition *partition, const hx_mesh *mesh, hx_partition_kind kind,
                      int n_rank);
void hx_partition_free(hx_partition *partition);

/* Most that "auto" lets the heaviest rank of what is not the curve be over the mean. */
#define HX_PARTITION_BALANCE 1.03

/* The same of the kind asked for; HX_PARTITION_AUTO makes all that this build has and takes the one
 * whose largest halo is smallest, of equal ones the first of curve, bisection and graph, leaving
 * out what METIS gives up and balances worse than HX_PARTITION_BALANCE. */
int hx_partition_choose(hx_partition *partition, const hx_mesh *mesh, hx_partition_kind asked,
                        int n_rank);

/* Of one rank. A node of several ranks is in the halo of each of them. */
typedef struct hx_partition_share {
    int64_t n_elem, weight; /* weight: sum of hx_partition_weight */
    int64_t n_node, n_halo; /* nodes of its elements; of these, such as other ranks have too */
    int64_t n_sent;  /* halo nodes, one as often as there are other ranks that have it: what an
                        exchange sends and receives, in nodes */
    int n_neighbour; /* ranks that it shares nodes with */
} hx_partition_share;

typedef struct hx_partition_figures {
    hx_partition_share *share; /* [n_rank] (owned) */
    int64_t n_cut;             /* faces between elements of two ranks */
    int64_t n_shared;          /* nodes that more than one rank has */
    double balance;            /* largest weight of a rank over the mean, 1 at best */
} hx_partition_figures;

/* O(n_elem), n_rank^2 bits besides. */
int hx_partition_measure(hx_partition_figures *figures, const hx_partition *partition,
                         const hx_mesh *mesh);
void hx_partition_figures_free(hx_partition_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
