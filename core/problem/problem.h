/* The problem assembled from a specification (spec.h) and a mesh: values at nodes, degrees of
 * freedom and elements. A node has `components` degrees of freedom: the displacement, or the
 * temperature, which all arrays store as the difference to hx_problem.reference. */
#ifndef HX_PROBLEM_H
#define HX_PROBLEM_H

#include "../mesh/mesh.h"
#include "../space/space.h"
#include "spec.h"

HX_C_BEGIN

/* density b(x) = at_origin + gradient x: force per volume of solid material from gravity and
 * rotations of a case. For other densities see body_force.h. */
typedef struct hx_body_field {
    double at_origin[3];
    double gradient[3][3];
    int acts;    /* 1: not 0 everywhere */
    int alone;   /* 1: the case has no other force */
    int is_fine; /* 1: uses the finer rule of cell_rule.h */
} hx_body_field;

/* Strains of free thermal expansion in a case: coefficient times temperature change. */
typedef struct hx_expansion_field {
    double uniform; /* of every element, if `strain` is NULL */
    double *strain; /* [n_elem]; NULL: `uniform` (owned) */
    /* the temperature change of the whole part; NaN: some elements have another */
    double change;
    int acts;  /* 1: not 0 everywhere */
    int alone; /* 1: no force on nodes acts in the case */
} hx_expansion_field;

/* A set of nodes that moves as one rigid body (rigid_set.h). */
typedef struct hx_rigid_set {
    int64_t first, n; /* hx_rigid_sets.node[first .. first + n) */
    /* In a subdomain, n_own: the leading nodes of the n that belong to no other subdomain; n_all:
     * nodes in all subdomains. Otherwise both are n. */
    int64_t n_own, n_all;
    double centre[3];     /* centre of its nodes */
    double inverse[3][3]; /* pseudo-inverse of their second moment about the centre */
    /* Prescribed motion of a point that moves with the set: bits 0 to 2 displacement, 3 to 5
     * rotation; usually 0. The values are 0 where nothing is prescribed. */
    unsigned held;
    double point[3], value[6];
    double free[6][6]; /* if `held` is not 0: maps the sums of rigid_set.h to v and w */
} hx_rigid_set;

/* Degrees of freedom with a prescribed displacement. */
typedef struct hx_supports {
    uint8_t *fixed; /* [n_point] HX_FIX_* (owned) */
    /* [n_point][components] value at fixed components; at points of rigid sets a motion that has
     * the prescribed values; 0 elsewhere; NULL: all 0 (owned) */
    double *prescribed;
} hx_supports;

/* Springs to the ground, on the diagonal of K. */
typedef struct hx_springs {
    int64_t n;
    int64_t *dof;      /* [n] degrees of freedom, ascending (owned) */
    double *stiffness; /* [n] force per displacement (owned) */
} hx_springs;

/* Convection: int h N N' dA over the boundary faces, a part of K that does not depend on the
 * design. A symmetric matrix over the nodes of those faces. */
typedef struct hx_films {
    int64_t n;     /* nodes */
    int32_t *node; /* [n] ascending (owned) */
    int64_t *ptr;  /* [n + 1] start of each node's row (owned) */
    int32_t *col;  /* [ptr[n]] nodes, ascending in a row (owned) */
    double *value; /* [ptr[n]] power per temperature (owned) */
    /* [n] int h ambient N dA with the ambient relative to the reference: power (owned) */
    double *source;
    /* [ptr[n]] int h ambient^2 N N' dA per entry; NULL: every ambient is equal to the reference
     * (owned) */
    double *square;
    /* int h ambient^2 dA, so that u'F u - 2 source'u + offset is int h (u - ambient)^2 dA. If the
     * mesh is distributed, it covers the whole mesh. */
    double offset;
} hx_films;

/* The sets that move as rigid bodies. */
typedef struct hx_rigid_sets {
    int n;
    hx_rigid_set *set; /* [n] (owned) */
    int64_t n_node;
    int32_t *node; /* [n_node] free points, each in one set only (owned) */
} hx_rigid_sets;

typedef struct hx_load_cases {
    int n;
    double *weight; /* [n] weight in the objective (owned) */
    /* [n] -> [n_point][components], without loads by mass. For heat: sources, fluxes and the
     * contribution of the ambient of convection (owned) */
    double **force;
    hx_body_field *body;           /* [n] loads by mass (owned); NULL: none */
    hx_expansion_field *expansion; /* [n] thermal expansion (owned); NULL: none */
    /* [n] the largest value that a load added to `force`, and the largest coefficient that one
     * added to `body`. Rounding errors are relative to these if loads cancel (owned); NULL:
     * unknown */
    double *size, *body_size;
} hx_load_cases;

/* A sum of loads below this, relative to the largest load, is rounding error. */
#define HX_LOADS_CANCEL 1e-14

/* Elements with a prescribed density. */
typedef struct hx_passive {
    int64_t n;       /* number of passive elements */
    double *density; /* [n_elem], NaN where free; NULL: all free (owned) */
    double mass;     /* sum of density * volume */
} hx_passive;

enum { HX_MOST_MATERIALS = 256 };

/* The materials of the elements: number 0 is the problem's, the others belong to element sets. All
 * have the same Poisson's ratio. */
typedef struct hx_materials {
    int n;             /* including number 0; 0: all elements have the problem's material */
    uint8_t *number;   /* [n_elem] (owned) */
    double *stiffness; /* [n] modulus or conductivity over that of number 0 (owned) */
    double *mass;      /* [n] mass density over that of number 0 (owned) */
    double *expansion; /* [n] coefficient of thermal expansion (owned) */
    /* [n] number and volume of their elements; if the mesh is distributed, of all processes
     * (owned) */
    int64_t *count;
    double *volume;
} hx_materials;

typedef struct hx_problem {
    const hx_mesh *mesh; /* (borrowed) */
    hx_space space;      /* the finite element space; its arrays are borrowed */
    hx_physics physics;
    int components;    /* unknowns per node: 3, or 1 for heat */
    double young;      /* Young's modulus of material 0; for heat the conductivity */
    double least;      /* its value at density 0, for all materials: 0, or that of void */
    double poisson;    /* elasticity only, like the next two */
    double lambda, mu; /* Lame's constants for E = 1 */
    double density;    /* mass per volume of solid material; 0: not given */
    double expansion;  /* coefficient of thermal expansion of material 0: strain per temperature */
    /* The lowest prescribed or ambient temperature, which all others are relative to. Only absolute
     * temperatures depend on the zero of the scale. is_mixed: 1 if there are several such
     * temperatures. */
    double reference;
    int is_mixed;
    hx_materials materials;

    hx_supports supports;
    hx_springs springs;
    hx_films films;
    hx_rigid_sets rigid;
    hx_load_cases cases;
    hx_passive passive;

    double *volume;       /* [n_elem] (owned) */
    double total_volume;  /* sum over all elements */
    double design_volume; /* sum over the free elements */
    int64_t n_body;       /* parts of the mesh that share no node */

    /* lists made in advance, ../operator/plan_operator.h and ../multigrid/plan_coarse.h; NULL: none
     * (borrowed) */
    struct hx_operator_plan *operator_plan;
    struct hx_coarse_plan *coarse_plan;
    /* parameters of multigrid, ../multigrid/mg_params.h; NULL: the defaults (borrowed) */
    const struct hx_mg_params *multigrid;

    /* In a subdomain: the whole problem, and the points (nodes first) and elements of it that
     * belong to the subdomain (borrowed); NULL: not a subdomain. */
    const struct hx_problem *whole;
    const int32_t *whole_node, *whole_elem;
} hx_problem;

/* Creates the problem. HX_EINPUT with the entry's origin: unknown set (with the nearest name), a
 * set without nodes, boundary faces or elements of the required kind, conflicting prescribed
 * displacements, a gap in the load case numbers, no load, no support or a free rigid motion
 * (named), material out of range, nothing left to design.
 * O(n_elem). */
int hx_problem_create(hx_problem *problem, const hx_mesh *mesh, const hx_problem_params *params);

/* Restricts the problem to some cells: those of the mesh of `space`, whose nodes and elements
 * are node[] and elem[] of the whole mesh, ascending. Forces, supports, springs and convection
 * elsewhere are dropped; only rigid sets transfer what acted on their dropped nodes. No element is
 * passive. HX_EINPUT with `origin` as prefix: the remaining part can move. O(n_elem). */
int hx_problem_create_part(hx_problem *part, const hx_problem *whole, const hx_space *space,
                           const int32_t *node, const int32_t *elem, const char *origin);

/* The items of a problem that belong to one subdomain and no other. */
typedef struct hx_subdomain_of {
    /* [n_point of the space] 1: own point, whose springs it also owns; NULL: all */
    const uint8_t *point;
    /* [entries of the whole problem's convection] 1: own entry; NULL: all that it has */
    const uint8_t *film;
} hx_subdomain_of;

/* The problem of one of several processes. Unlike a part, it may be movable, because other
 * processes hold the rest; springs and convection include only own entries. Volumes and passive
 * densities are those of its elements, their sums and counts those of the whole problem.
 * node[n_point of the space], nodes first, and elem[] are kept (borrowed). O(n_elem), 8 bytes per
 * point of the whole problem during creation. */
int hx_problem_create_local(hx_problem *local, const hx_problem *whole, const hx_space *space,
                            const int32_t *node, const int32_t *elem, const hx_subdomain_of *own);

/* rho[n_elem] of the solid part: 1, and the prescribed densities of passive elements. */
void hx_problem_solid_density(const hx_problem *problem, double *rho);

/* Factors of hx_problem.young, and of the mass density, for an element: exactly 1 with one
 * material. */
static inline double hx_problem_stiffness_factor(const hx_problem *problem, int64_t e)
{
    return problem->materials.n ? problem->materials.stiffness[problem->materials.number[e]] : 1.0;
}

static inline double hx_problem_mass_factor(const hx_problem *problem, int64_t e)
{
    return problem->materials.n ? problem->materials.mass[problem->materials.number[e]] : 1.0;
}

/* Coefficient of thermal expansion of an element. */
static inline double hx_problem_expansion(const hx_problem *problem, int64_t e)
{
    return problem->materials.n ? problem->materials.expansion[problem->materials.number[e]]
                                : problem->expansion;
}

/* *sum := mass factor times density times volume, over the elements of all processes that hold
 * parts of the mesh. Times the mass density of material 0 it is the mass of a design. rho = NULL: 1
 * everywhere. */
int hx_problem_mass_volume(const hx_problem *problem, const double *rho, double *sum);

/* Gives the elements of a problem without materials those of the elements elem[] of another; NULL:
 * those with the same numbers. Does nothing if that has one material. O(n_elem). */
int hx_problem_copy_materials(hx_problem *to, const hx_problem *from, const int32_t *elem);

/* modulus[e] = E * rho[e]^penalty; for heat the conductivity (simp.h). E is that of the element's
 * material. */
void hx_problem_modulus(const hx_problem *problem, double penalty, const double *rho,
                        double *modulus);

/* Checks the rigid motions of each body. HX_EINPUT names the first one that the supports leave free
 * ("translation along x", "rotation about an axis along z through ..."). Sets n_body. O(n_node). */
int hx_problem_check_supported(hx_problem *problem, const char *origin);

/* The whole problem of a subdomain, or the problem itself. All processes base common decisions on
 * it. */
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

/* The thermal expansion of a case (0-based), or NULL. */
static inline const hx_expansion_field *hx_problem_expands(const hx_problem *problem, int load_case)
{
    return problem->cases.expansion && problem->cases.expansion[load_case].acts
               ? &problem->cases.expansion[load_case]
               : NULL;
}

/* The strain of free expansion of an element; field: NULL: 0. */
static inline double hx_expansion_strain(const hx_expansion_field *field, int64_t e)
{
    return field ? field->strain ? field->strain[e] : field->uniform : 0.0;
}

/* 1 if the loads of a case depend on the density. */
static inline int hx_problem_load_varies(const hx_problem *problem, int load_case)
{
    return hx_problem_body(problem, load_case) || hx_problem_expands(problem, load_case);
}

/* 1 if those of some case do. */
static inline int hx_problem_loads_vary(const hx_problem *problem)
{
    return problem->cases.body || problem->cases.expansion;
}

/* Heat only: HX_EINPUT names the first body without a prescribed temperature or convection, for
 * which K would be singular. Sets n_body. O(n_node). */
int hx_problem_check_held(hx_problem *problem, const char *origin);

static inline int hx_problem_is_heat(const hx_problem *problem)
{
    return problem->physics == HX_PHYSICS_HEAT;
}

/* Sum of the applied forces of a case (0-based) without loads by mass, for reports. For heat
 * total[0] is the sum of sources and fluxes. */
void hx_problem_total_force(const hx_problem *problem, int load_case, double total[3]);

/* Sum of the loads by mass of a case at densities rho[n_elem]; NULL: of the solid part. */
void hx_problem_total_body(const hx_problem *problem, int load_case, const double *rho,
                           double total[3]);

/* All forces of a case at densities rho[n_elem] (NULL: of the solid part) into force[n_point][3],
 * without those of thermal expansion. Not performance-critical. */
int hx_problem_nodal_force(const hx_problem *problem, int load_case, const double *rho,
                           double *force);

/* force[n_point][3] += the forces of the thermal expansion of a case (expansion.h) at moduli
 * modulus[n_elem]. They balance, element by element. Not performance-critical. */
void hx_problem_add_expansion(const hx_problem *problem, int load_case, const double *modulus,
                              double *force);

/* Gives a problem the thermal expansion of another, whose elements elem[] it has; NULL: the same
 * numbers. */
int hx_problem_copy_expansion(hx_problem *to, const hx_problem *from, const int32_t *elem);

/* Adds one load, not by mass, to force[n_point][3]. HX_EINPUT: the set is unknown, or the set
 * has no entity on which such a load acts. */
int hx_problem_add_load(const hx_space *space, const hx_load_spec *load, double *force);

/* Adds share times value[components] at each node of a set, distributed to the points that
 * represent the node. */
void hx_problem_add_at_nodes(const hx_space *space, const hx_set *set, int components,
                             const double *value, double share, double *to);

size_t hx_problem_bytes(const hx_problem *problem);
void hx_problem_free(hx_problem *problem);

HX_C_END

#endif
