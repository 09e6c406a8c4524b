/* Partitions of the elements of a mesh among ranks, and their cost: balance, cut faces, shared
 * nodes. */
#ifndef HX_PARTITION_H
#define HX_PARTITION_H

#include <stdint.h>

#include "../base/c_linkage.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

enum { HX_MAX_RANK = 4096 };

typedef enum hx_partition_kind {
    /* equal pieces of the order of the elements, which is a Hilbert curve for a reordered mesh */
    HX_PARTITION_CURVE,
    HX_PARTITION_GRAPH, /* k-way partition by METIS of the graph of elements that share a face */
    HX_PARTITION_BISECTION, /* recursive coordinate bisection of the centroids */
    HX_N_PARTITION,
    HX_PARTITION_AUTO = HX_N_PARTITION /* for hx_partition_choose */
} hx_partition_kind;

typedef struct hx_partition {
    hx_partition_kind kind;
    int n_rank;
    int32_t *rank; /* [n_elem] rank of each element (owned) */
} hx_partition;

/* Returns the cost of an element in eighths of a hexahedron: its number of distinct corners. */
int hx_partition_weight(const int32_t conn[8]);

/* "curve", "graph", "bisection", "auto". */
const char *hx_partition_name(hx_partition_kind kind);

/* Returns 1 if this build supports the method; HX_PARTITION_GRAPH needs METIS. */
int hx_partition_available(hx_partition_kind kind);

/* Partitions the elements of a finished mesh; the result does not depend on the number of threads,
 * nor on the machine for the same version of METIS. HX_EINPUT: n_rank is below 1 or above
 * HX_MAX_RANK or n_elem, or a rank would have no element. HX_EENV: METIS is missing or fails.
 * Curve: O(n_elem), 4 bytes per element; bisection: O(n_elem log n_rank), 8 bytes; graph:
 * O(n_elem), about 100 bytes of scratch memory per element. */
int hx_partition_make(hx_partition *partition, const hx_mesh *mesh, hx_partition_kind kind,
                      int n_rank);
void hx_partition_free(hx_partition *partition);

/* Largest balance (hx_partition_figures) that "auto" accepts from a method other than the curve. */
#define HX_PARTITION_BALANCE 1.03

/* Like hx_partition_make, for the requested kind. HX_PARTITION_AUTO tries all methods of this build
 * and takes the one whose largest halo is smallest, in case of a tie the first of curve, bisection
 * and graph. It skips METIS if that fails, and methods whose balance exceeds
 * HX_PARTITION_BALANCE. */
int hx_partition_choose(hx_partition *partition, const hx_mesh *mesh, hx_partition_kind requested,
                        int n_rank);

/* Figures of one rank. A node on several ranks counts as halo on each of them. */
typedef struct hx_partition_subdomain {
    int64_t n_elem, weight; /* weight: sum of hx_partition_weight */
    int64_t n_node, n_halo; /* nodes of its elements; how many are also on other ranks */
    /* halo nodes, each counted once per other rank that has it: the nodes sent, and received, in an
     * exchange */
    int64_t n_sent;
    int n_neighbour; /* ranks with common nodes */
} hx_partition_subdomain;

typedef struct hx_partition_figures {
    hx_partition_subdomain *subdomain; /* [n_rank] (owned) */
    int64_t n_cut;                     /* faces between elements of different ranks */
    int64_t n_shared;                  /* nodes on more than one rank */
    double balance;                    /* largest weight of a rank over the mean; at best 1 */
} hx_partition_figures;

/* O(n_elem); n_rank^2 bits of scratch memory. */
int hx_partition_measure(hx_partition_figures *figures, const hx_partition *partition,
                         const hx_mesh *mesh);
void hx_partition_figures_free(hx_partition_figures *figures);

HX_C_END

#endif
