/* The problem made of what is asked (spec.h) and a mesh: numbers on nodes, degrees of freedom and
 * elements. A node has `components` degrees of freedom: the displacement, or the temperature, which
 * all arrays hold as its difference from hx_problem.reference. */
#ifndef HX_PROBLEM_H
#define HX_PROBLEM_H

#include "../mesh/mesh.h"
#include "../space/space.h"
#include "spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* density b(x) = at_origin + gradient x: what gravity and rotations of a case exert on a volume of
 * solid material. Other densities: body_force.h. */
typedef struct hx_body_field {
    double at_origin[3];
    double gradient[3][3];
    int acts;    /* not 0 everywhere */
    int alone;   /* the case has no other force */
    int is_fine; /* takes the finer rule of cell_rule.h */
} hx_body_field;

/* A set of nodes that moves as one rigid body (rigid_set.h). */
typedef struct hx_rigid_set {
    int64_t first, n;     /* hx_rigid_sets.node[first .. first + n) */
    int64_t n_own, n_all; /* of a share: those of the n, the first ones, that belong to no other; of
                             all shares together. Else both n */
    double centre[3];     /* of its nodes */
    double inverse[3][3]; /* pseudo-inverse of their second moment about it */
    /* What is held of the motion of a point that goes with the set: bits 0 to 2 its displacement, 3
     * to 5 its rotation; 0 of most. */
    unsigned held;
    double point[3];
    double free[6][6]; /* with held: from the sums of rigid_set.h to v and w */
} hx_rigid_set;

/* Degrees of freedom whose displacement is given. */
typedef struct hx_supports {
    uint8_t *fixed;     /* [n_point] HX_FIX_* (owned) */
    double *prescribed; /* [n_point][components] value at fixed components, 0 elsewhere; NULL: all 0
                           (owned) */
} hx_supports;

/* Springs to the ground, on the diagonal of K. */
typedef struct hx_springs {
    int64_t n;
    int64_t *dof;      /* [n] degrees of freedom, ascending (owned) */
    double *stiffness; /* [n] force per displacement (owned) */
} hx_springs;

/* Convection: int h N N' dA over the boundary faces, part of K whatever the design. Symmetric, over
 * the nodes of those faces. */
typedef struct hx_films {
    int64_t n;      /* nodes */
    int32_t *node;  /* [n] ascending (owned) */
    int64_t *ptr;   /* [n + 1] entries of each node's row (owned) */
    int32_t *col;   /* [ptr[n]] nodes, ascending in a row (owned) */
    double *value;  /* [ptr[n]] power per temperature (owned) */
    double *source; /* [n] int h ambient N dA, ambient over the reference: power (owned) */
    /* [ptr[n]] int h ambient^2 N N' dA by entry; NULL: every ambient is the reference (owned) */
    double *square;
    /* int h ambient^2 dA: u'F u - 2 source'u + offset is int h (u - ambient)^2 dA. Of a window and
     * of a share that of the whole mesh. */
    double offset;
} hx_films;

/* The sets that move as rigid bodies. */
typedef struct hx_rigid_sets {
    int n;
    hx_rigid_set *set; /* [n] (owned) */
    int64_t n_node;
    int32_t *node; /* [n_node] free points, in one set each (owned) */
} hx_rigid_sets;

typedef struct hx_load_cases {
    int n;
    double *weight;      /* [n] in the objective (owned) */
    double **force;      /* [n] -> [n_point][components], without loads by mass; of heat the sources
                            and fluxes, and what the ambient of convection adds (owned) */
    hx_body_field *body; /* [n] loads by mass (owned); NULL: none */
    /* [n] the largest value that a load added to force, and the largest coefficient that one added
     * to body: rounding is relative to these where loads cancel (owned); NULL: not known */
    double *size, *body_size;
} hx_load_cases;

/* What is below this in a sum of loads, relative to the largest of them, is rounding. */
#define HX_LOADS_CANCEL 1e-14

/* Elements whose density is given. */
typedef struct hx_passive {
    int64_t n;       /* of them */
    double *density; /* [n_elem], NaN where free; NULL: all free (owned) */
    double mass;     /* sum of density * volume */
} hx_passive;

typedef struct hx_problem {
    const hx_mesh *mesh; /* (borrowed) */
    hx_space space;      /* what carries the unknowns; its arrays are borrowed */
    hx_physics physics;
    int components;    /* of a node: 3, or 1 of heat */
    double young;      /* Young's modulus; of heat the conductivity */
    double least;      /* of it at density 0: 0, or the smallest conductivity */
    double poisson;    /* of elasticity, as the next two */
    double lambda, mu; /* Lame's constants for E = 1 */
    /* The lowest temperature that is held or ambient, which all others are counted from. Only
     * absolute temperatures depend on the zero of the scale. is_mixed: there are several such
     * temperatures. */
    double reference;
    int is_mixed;
    double penalty, rho_min, volume_fraction;

    hx_supports supports;
    hx_springs springs;
    hx_films films;
    hx_rigid_sets rigid;
    hx_load_cases cases;
    hx_passive passive;

    double *volume;         /* [n_elem] (owned) */
    double total_volume;    /* sum over all elements */
    double design_volume;   /* sum over the free elements */
    double initial_density; /* of the free elements, so that the volume is met */
    int64_t n_body;         /* parts of the mesh that share no node */

    struct hx_plan *plan; /* ../solver/plan.h; NULL: none (borrowed) */

    /* Of a share: what it is a share of, and the points (nodes first) and elements of that which
     * are its own (borrowed); NULL: a whole. */
    const struct hx_problem *whole;
    const int32_t *whole_node, *whole_elem;
} hx_problem;

/* HX_EINPUT with the entry's origin: unknown set (with the nearest name), set without nodes,
 * boundary faces or elements of the kind wanted, conflicting prescribed displacements, load case
 * numbers with a gap, model without load, without support or with a rigid motion left (named),
 * volume fraction that the passive regions make impossible, material or law out of range.
 * O(n_elem). */
int hx_problem_create(hx_problem *problem, const hx_mesh *mesh, const hx_problem_params *params);

/* The same problem on some cells alone: of the mesh of `space`, whose nodes and elements are node[]
 * and elem[] of the whole's, ascending. Forces, supports, springs and convection on what it lacks
 * are gone; only rigid sets hand on what acted on their nodes. No element is passive. HX_EINPUT,
 * led by origin: what is left can move. O(n_elem). */
int hx_problem_create_part(hx_problem *part, const hx_problem *whole, const hx_space *space,
                           const int32_t *node, const int32_t *elem, const char *origin);

/* What of a problem is a share's own, and no other's. */
typedef struct hx_share_of {
    const uint8_t *point; /* [n_point of the space] 1: its own, and springs on it; NULL: all */
    const uint8_t *film; /* [entries of the whole's convection] 1: its own; NULL: all that it has */
} hx_share_of;

/* The problem of one of several processes: like a part, but what it lacks others have, so that it
 * may move; springs and convection are those that are its own. Volumes and passive densities are
 * those of its elements, their sums and numbers the whole's. node[n_point of the space], nodes
 * first, and elem[] are kept (borrowed). O(n_elem), 8 bytes a point of the whole while it is made.
 */
int hx_problem_create_share(hx_problem *share, const hx_problem *whole, const hx_space *space,
                            const int32_t *node, const int32_t *elem, const hx_share_of *own);

/* rho[n_elem] of the part as it is: 1, and the densities of passive elements. */
void hx_problem_solid_density(const hx_problem *problem, double *rho);

/* modulus[e] = E * rho[e]^penalty, of heat the conductivity (simp.h). */
void hx_problem_modulus(const hx_problem *problem, const double *rho, double *modulus);

/* The rigid motions of each body that the supports leave free. HX_EINPUT names the first one
 * ("translation along x", "rotation about an axis along z through ..."). Counts n_body. O(n_node).
 */
int hx_problem_check_supported(hx_problem *problem, const char *origin);

/* What a share is of, and a whole itself: what all processes decide alike is decided by it. */
static inline const hx_problem *hx_problem_whole(const hx_problem *problem)
{
    return problem->whole ? problem->whole : problem;
}

/* The loads by mass of a case (0-based), or NULL. */
static inline const hx_body_field *hx_problem_body(const hx_problem *problem, int load_case)
{
    return problem->cases.body && problem->cases.body[load_case].acts
               ? &problem->cases.body[load_case]
               : NULL;
}

/* Of heat: HX_EINPUT names the first body that neither a held temperature nor convection ties to a
 * temperature: K would be singular. Counts n_body. O(n_node). */
int hx_problem_check_held(hx_problem *problem, const char *origin);

static inline int hx_problem_is_heat(const hx_problem *problem)
{
    return problem->physics == HX_PHYSICS_HEAT;
}

/* Sum of the applied forces of a case (0-based) without loads by mass, for reports; of heat
 * total[0], sources and fluxes alone. */
void hx_problem_total_force(const hx_problem *problem, int load_case, double total[3]);

/* Sum of the loads by mass of a case at rho[n_elem], or at the first design if it is NULL. */
void hx_problem_total_body(const hx_problem *problem, int load_case, const double *rho,
                           double total[3]);

/* All forces of a case at rho[n_elem], or at the first design if it is NULL, into
 * force[n_point][3]. Cold. */
int hx_problem_nodal_force(const hx_problem *problem, int load_case, const double *rho,
                           double *force);

size_t hx_problem_bytes(const hx_problem *problem);
void hx_problem_free(hx_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
