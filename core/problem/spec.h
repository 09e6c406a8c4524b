/* Specification of a problem of elasticity or steady heat conduction: material, supports, springs,
 * convection, loads, passive elements and the SIMP law, in terms of names of sets, as in a config
 * or a program.
 *
 * Units are the user's and must be consistent: length L and force F, hence E and pressures in
 * F/L^2; for heat length L, power P and temperature T, hence conductivities in P/(L T). */
#ifndef HX_SPEC_H
#define HX_SPEC_H

#include <stddef.h>

#include "../base/notes.h"
#include "conditions.h"

HX_C_BEGIN

/* For heat HX_FIX_X is the temperature, the only unknown of a node. */
enum { HX_FIX_X = 1, HX_FIX_Y = 2, HX_FIX_Z = 4 };

typedef enum { HX_PHYSICS_ELASTICITY, HX_PHYSICS_HEAT, HX_N_PHYSICS } hx_physics;
/* The value of the key `physics`. */
const char *hx_physics_name(hx_physics physics);

/* `origin` is the place where the user wrote a specification ("bracket.cfg:12: supports[0]"); it is
 * the prefix of every message about it. All pointers are borrowed during hx_problem_create only. */
typedef struct hx_support_spec {
    const char *set; /* NULL: the supports of the mesh file */
    const char *origin;
    unsigned fix;    /* HX_FIX_* of the prescribed components */
    double value[3]; /* prescribed displacement, length; for heat value[0] is the temperature */
} hx_support_spec;

typedef enum {
    /* total stiffness of the set, distributed by area if it spans boundary faces, otherwise equally
     * to its nodes */
    HX_SPRING_TOTAL,
    HX_SPRING_NODE, /* at every node */
    HX_SPRING_AREA  /* per area of the set's boundary faces */
} hx_spring_share;

/* Springs between a set and ground. */
typedef struct hx_spring_spec {
    const char *set, *origin;
    double stiffness[3]; /* along x, y, z, force/length (per area) */
    hx_spring_share per;
} hx_spring_spec;

/* Heat transfer to a fluid from the boundary faces of a set: coefficient (T - ambient) per unit
 * area. */
typedef struct hx_convection_spec {
    const char *set, *origin;
    double coefficient; /* power/(length^2 temperature), above 0 */
    double ambient;     /* temperature of the fluid */
} hx_convection_spec;

typedef enum {
    HX_LOAD_NODE_FORCE, /* value = force at every node of the set */
    /* value = total force on the set, distributed by area if it spans boundary faces, otherwise
     * equally to its nodes */
    HX_LOAD_TOTAL_FORCE,
    /* value = force per area on the set's boundary faces, as consistent nodal loads */
    HX_LOAD_TRACTION,
    HX_LOAD_PRESSURE, /* value[0] = pressure on the set's boundary faces, positive inwards */
    /* value = force of a pin on the bore that the set's boundary faces form (bearing.h) */
    HX_LOAD_BEARING,
    /* value = force at `point`, `moment` about it; distributed to the set's nodes by area if it
     * spans boundary faces, otherwise equally, without stiffening them */
    HX_LOAD_REMOTE,
    HX_LOAD_REMOTE_RIGID, /* the same, and the set moves as one rigid body in all load cases */
    HX_LOAD_GRAVITY,      /* value = acceleration of the whole part; no set */
    /* value = axis through `point`, of any length, about which the whole part rotates at `speed` */
    HX_LOAD_CENTRIFUGAL,
    /* value[0] = temperature change of the set's elements, or of the whole part without a set; free
     * expansion needs hx_problem_params.expansion */
    HX_LOAD_TEMPERATURE_CHANGE,
    HX_LOAD_FROM_FILE, /* forces of the mesh file; no set */

    /* Heat only. */
    /* value[0] = heat per volume of the set's elements, or of the whole part without a set, for any
     * density */
    HX_LOAD_SOURCE,
    /* value[0] = total heat into the set, distributed by volume if it holds elements and no faces,
     * by area if it spans boundary faces, otherwise equally to its nodes */
    HX_LOAD_HEAT,
    HX_LOAD_FLUX,     /* value[0] = heat per area into the set's boundary faces */
    HX_LOAD_NODE_HEAT /* value[0] = heat at every node of the set */
} hx_load_kind;

typedef struct hx_load_spec {
    const char *set, *origin;
    hx_load_kind kind;
    double value[3];
    /* 1-based. HX_LOAD_FROM_FILE: 0 uses each step of the file as the case with its number;
     * otherwise the step with this number, or the file's only step */
    int load_case;
    double moment[3], point[3]; /* HX_LOAD_REMOTE and _RIGID: force * length, length */
    double speed;               /* HX_LOAD_CENTRIFUGAL: radians per time */
    /* HX_LOAD_REMOTE and _RIGID: 1: equal shares for all nodes, even if the set has faces */
    int equally;
} hx_load_spec;

typedef struct hx_passive_spec {
    const char *set, *origin;
    double density; /* in [rho_min, 1] */
    /* > 0: the elements within this distance of the set (skin.h); 0: the set's own elements */
    double skin;
} hx_passive_spec;

/* Another material for the elements of a set, with the same Poisson's ratio. NaN: the value of the
 * problem's material. */
typedef struct hx_material_spec {
    const char *set, *origin;
    double young, density, conductivity, expansion; /* like those of hx_problem_params */
} hx_material_spec;

struct hx_space; /* ../space/space.h */

typedef struct hx_problem_params {
    const char *origin; /* prefix of messages that belong to no entry: "bracket.cfg" */
    double young, poisson;
    double density; /* mass per volume; 0: not given, an error with loads by mass */
    /* strain per temperature; 0: none, an error with a temperature change if no material has one */
    double expansion;
    hx_physics physics;
    double conductivity;     /* conductivity of solid material: power/(length temperature) */
    double conductivity_min; /* at density 0; 0: 1e-3 of the conductivity */
    double rho_min;          /* the lowest density that a passive element may have */
    size_t n_support, n_load, n_passive, n_weight, n_spring;
    const hx_support_spec *support;
    const hx_load_spec *load;
    const hx_passive_spec *passive;
    const double *weight; /* [n_weight] of the load cases; n_weight = 0: all 1 */
    const char
        /* prefix of messages about them: "bracket.cfg:9: weights"; NULL: "weights" */
        *weight_origin;
    const hx_spring_spec *spring;
    size_t n_convection;
    const hx_convection_spec *convection;
    size_t n_material; /* at most HX_MOST_MATERIALS - 1 */
    const hx_material_spec *material;
    /* The finite element space on the same mesh, which must outlive the problem; NULL: the mesh's
     * nodes. Supports include the mid-edge points of their set (space.h), loads on faces those of
     * the faces; a force at every node applies only to the nodes. For heat it must be linear. */
    const struct hx_space *space;
    /* Conditions of the mesh file for supports and loads from it; NULL: none. */
    const hx_conditions *conditions;
    hx_notes *notes; /* receives warnings of faces that are left out; NULL: no warnings */
    /* If not NULL, a load case without load and free rigid motions are reported here, and the
     * problem is created nevertheless: for inspection, not for solving. */
    hx_notes *lacking;
} hx_problem_params;

/* E = 1, nu = 0.3, rho_min = 0.001; no supports and no loads. */
hx_problem_params hx_problem_defaults(void);

HX_C_END

#endif
