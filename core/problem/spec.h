/* What is asked of a problem, mechanical or of steady heat conduction: material, supports, springs,
 * convection, loads, passive elements, the SIMP law; by names of sets, as a config or a program
 * states them.
 *
 * Units are the user's, only consistent: length L, force F, so E and pressures in F/L^2; of heat
 * length L, power P, temperature T, so conductivities in P/(L T). */
#ifndef HX_SPEC_H
#define HX_SPEC_H

#include <stddef.h>

#include "../base/notes.h"
#include "conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of heat HX_FIX_X stands for the temperature, the one unknown of a node. */
enum { HX_FIX_X = 1, HX_FIX_Y = 2, HX_FIX_Z = 4 };

typedef enum { HX_PHYSICS_ELASTICITY, HX_PHYSICS_HEAT, HX_N_PHYSICS } hx_physics;
/* The word in `physics`. */
const char *hx_physics_name(hx_physics physics);

/* `origin` in the specifications says where the user wrote them ("bracket.cfg:12: supports[0]"); it
 * leads every message about them. All pointers are borrowed during hx_problem_create only. */
typedef struct hx_support_spec {
    const char *set; /* NULL: what the mesh's file states */
    const char *origin;
    unsigned fix;    /* HX_FIX_* of the prescribed components */
    double value[3]; /* prescribed displacement, length; of heat value[0], the temperature */
} hx_support_spec;

typedef enum {
    HX_SPRING_TOTAL, /* stiffness of the whole set, shared by area if it spans boundary faces, else
                        equally over its nodes */
    HX_SPRING_NODE,  /* at every node */
    HX_SPRING_AREA   /* per area of the set's boundary faces */
} hx_spring_share;

/* Springs from a set to ground. */
typedef struct hx_spring_spec {
    const char *set, *origin;
    double stiffness[3]; /* along x, y, z, force/length (per area) */
    hx_spring_share per;
} hx_spring_spec;

/* Heat to a fluid from the boundary faces of a set: coefficient (T - ambient) a unit of area. */
typedef struct hx_convection_spec {
    const char *set, *origin;
    double coefficient; /* power/(length^2 temperature), above 0 */
    double ambient;     /* temperature of the fluid */
} hx_convection_spec;

typedef enum {
    HX_LOAD_NODE_FORCE,  /* value = force at every node of the set */
    HX_LOAD_TOTAL_FORCE, /* value = force shared over the set: by area if it spans boundary faces,
                            else equally over its nodes */
    HX_LOAD_TRACTION, /* value = force per area on the set's boundary faces, consistent nodal loads
                       */
    HX_LOAD_PRESSURE, /* value[0] = pressure on the set's boundary faces, positive pushes inwards */
    HX_LOAD_BEARING,  /* value = force of a pin on the bore whose boundary faces the set holds
                         (bearing.h) */
    HX_LOAD_REMOTE,   /* value = force at `point`, `moment` about it; shared by the set's nodes, by
                         area if it spans boundary faces, else equally, leaving them flexible */
    HX_LOAD_REMOTE_RIGID, /* the same, and the set moves as one rigid body in all load cases */
    HX_LOAD_GRAVITY,      /* value = acceleration of the whole part, which has no set */
    HX_LOAD_CENTRIFUGAL,  /* value = axis through `point`, of any length, about which the whole part
                             turns at `speed` */
    HX_LOAD_FROM_FILE,    /* forces that the mesh's file states; no set */

    /* Of heat. */
    HX_LOAD_SOURCE, /* value[0] = heat per volume of the set's elements, or of the whole part
                       without a set, whatever their density */
    HX_LOAD_HEAT,   /* value[0] = heat into the set in all: by volume if it holds elements and no
                       faces, else by area if it spans boundary faces, else equally over its nodes */
    HX_LOAD_FLUX    /* value[0] = heat per area into the set's boundary faces */
} hx_load_kind;

typedef struct hx_load_spec {
    const char *set, *origin;
    hx_load_kind kind;
    double value[3];
    int load_case; /* 1-based. HX_LOAD_FROM_FILE: 0 takes each step of the file as the case of its
                      number, else that step, or the only one there is */
    double moment[3], point[3]; /* HX_LOAD_REMOTE..: force * length, length */
    double speed;               /* HX_LOAD_CENTRIFUGAL: radians per time */
    int equally; /* HX_LOAD_REMOTE..: nodes share equally, whatever faces there are */
} hx_load_spec;

typedef struct hx_passive_spec {
    const char *set, *origin;
    double density; /* in [rho_min, 1] */
    double skin;    /* > 0: the elements within this length of the set (skin.h); 0: the set's own */
} hx_passive_spec;

struct hx_space; /* ../space/space.h */

typedef struct hx_problem_params {
    const char *origin; /* of messages that belong to no entry: "bracket.cfg" */
    double young, poisson;
    double density; /* mass per volume; 0: not given, which loads by mass refuse */
    hx_physics physics;
    double conductivity;     /* of heat, of solid material: power/(length temperature) */
    double conductivity_min; /* of density 0; 0: 1e-3 of the conductivity */
    double penalty, rho_min, volume_fraction;
    size_t n_support, n_load, n_passive, n_weight, n_spring;
    const hx_support_spec *support;
    const hx_load_spec *load;
    const hx_passive_spec *passive;
    const double *weight; /* [n_weight] of the load cases; n_weight = 0: all 1 */
    const char
        *weight_origin; /* of messages about them: "bracket.cfg:9: weights"; NULL: "weights" */
    const hx_spring_spec *spring;
    size_t n_convection;
    const hx_convection_spec *convection;
    /* What carries the unknowns, of the same mesh, which outlives the problem; NULL: the mesh's
     * nodes. Supports take the middles of the edges of their set (space.h), loads on faces
     * those of the faces; a force at every node stays on the nodes. Of heat linear. */
    const struct hx_space *space;
    /* What the mesh's file states, for supports and loads from it; NULL: nothing. */
    const hx_conditions *conditions;
    hx_notes *notes; /* warnings: faces that are left out; NULL: nobody listens */
    /* Not NULL: a load case without load and motions that are left free are noted here, and the
     * problem is made nevertheless, to be looked at and not to be solved. */
    hx_notes *lacking;
} hx_problem_params;

/* Solid with E = 1, nu = 0.3, SIMP with penalty 3 above rho_min = 0.001; nothing is held or loaded.
 */
hx_problem_params hx_problem_defaults(void);

#ifdef __cplusplus
}
#endif

#endif
