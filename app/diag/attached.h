/* What each node of a 0/1 design is connected to: its largest piece, another piece, or void
 * only. */
#ifndef HX_ATTACHED_H
#define HX_ATTACHED_H

#include "../session/session.h"
#include "core/design/black_white.h"

typedef enum { HX_NODE_VOID, HX_NODE_FLOATING, HX_NODE_MAIN, HX_N_NODE_STATE } hx_node_state;

typedef struct hx_attached {
    const hx_session *session; /* (borrowed) */
    hx_pieces pieces;          /* connected by shared nodes */
    uint8_t *node;             /* [n_node] hx_node_state (owned) */
    int32_t *held;    /* [session.conditions.n_support] nodes that the mesh file supports (owned) */
    uint8_t *is_held; /* [pieces.n] hx_attached_find_held; NULL before (owned) */
} hx_attached;

/* Counts of the nodes of a set, or of the loaded nodes of a load case, by state. For a load case,
 * force is the sum of the force magnitudes in each state. */
typedef struct hx_attached_nodes {
    int64_t n[HX_N_NODE_STATE];
    double force[HX_N_NODE_STATE];
} hx_attached_nodes;

/* The session needs its mesh and problem. is_solid: [n_elem]. O(n_elem). */
int hx_attached_create(hx_attached *attached, const hx_session *s, const uint8_t *is_solid);
/* Accepts a zeroed struct. */
void hx_attached_free(hx_attached *attached);

/* Count the nodes of a set (none for a NULL or unknown name), the nodes that the mesh file
 * supports, and the loaded nodal points of a load case (0-based): mid-side nodes included, rounding
 * errors excluded. */
void hx_attached_set(const hx_attached *attached, const char *set, hx_attached_nodes *nodes);
void hx_attached_file_supports(const hx_attached *attached, hx_attached_nodes *nodes);
void hx_attached_loads(const hx_attached *attached, int load_case, hx_attached_nodes *nodes);

/* State of a nodal point of the space (space.h). */
hx_node_state hx_attached_state(const hx_attached *attached, int64_t nodal);

/* Magnitude below which a nodal force of a load case is a rounding error, for example at the centre
 * of a moment. On a rank with a part of the mesh: from the forces there. O(n_point). */
double hx_attached_rounding(const hx_session *s, int load_case);

/* Magnitude of the force, or of the heat, at a nodal point. On a spline, the magnitudes at the
 * control points whose functions act there, weighted by the values of these functions. */
double hx_attached_force(const hx_session *s, int load_case, int64_t nodal);

/* Finds the pieces that a support, a spring or a held rigid set holds. The displacement of another
 * piece is that of void, which means nothing. Needs the lists of cells. O(n_point). */
int hx_attached_find_held(hx_attached *attached);

/* 1 if the element, or an element about the node of the mesh, is solid and its piece is held. */
int hx_attached_is_cell_held(const hx_attached *attached, int64_t cell);
int hx_attached_is_node_held(const hx_attached *attached, int64_t node);

/* 1 if there are nodes, and none of them is on the largest piece. */
int hx_attached_is_floating(const hx_attached_nodes *nodes);

/* Number of solid elements outside the largest piece. */
int64_t hx_attached_count_floating(const hx_attached *attached);

#endif
