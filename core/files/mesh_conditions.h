/* Supports and forces of a mesh file: a reader collects them with the file's numbers and steps, and
 * they become hx_conditions (conditions.h) for a config with from = "file". Not installed. */
#ifndef HX_MESH_CONDITIONS_H
#define HX_MESH_CONDITIONS_H

#include "../problem/conditions.h"
#include "mesh_import.h"

typedef enum {
    HX_CONDITION_SUPPORT,
    HX_CONDITION_FORCE,
    /* drops supports; in a step after the first, the same supports must then be stated again */
    HX_CONDITION_NO_SUPPORTS,
    HX_CONDITION_NO_FORCES, /* drops the forces of earlier steps */
    HX_CONDITION_PRESSURE,  /* vector[0] on the faces of a set */
    /* vector[0..2] with the direction vector[3..5]. Gravity of a later step replaces it if it has
     * the same direction, or if this direction is 0. Gravity and centrifugal load act on all
     * elements of the set */
    HX_CONDITION_GRAVITY,
    HX_CONDITION_CENTRIFUGAL, /* point vector[0..2], axis vector[3..5], speed value */
    HX_CONDITION_NO_LOADS     /* drops the loads that earlier steps state by the same family */
} hx_condition_kind;

/* Two families of keywords; each replaces only loads stated by its own family. */
enum { HX_LOADS_OF_ELEMENTS, HX_LOADS_OF_SURFACES, HX_N_LOADS_OF };

typedef struct hx_condition {
    hx_condition_kind kind;
    unsigned components; /* bit 0: x, 1: y, 2: z; for reference nodes, 3 to 5: rotations, moments */
    int step;            /* 1-based; 0: before the first (supports) */
    int64_t line;        /* 0: not known */
    double value;        /* value of each component: displacement or force */
    hx_numbers node;     /* numbers in the file (owned) */
    /* `node` lists the members of a set, some of which may be missing in the file */
    int is_of_set;
    const hx_import_set *set; /* for HX_CONDITION_PRESSURE, GRAVITY and CENTRIFUGAL; NULL: all */
    double vector[6];
    int family; /* HX_LOADS_OF_... */
    /* OP=NEW came too late: HX_CONDITION_NO_LOADS after a load of the other family in the same
     * step, or HX_CONDITION_NO_SUPPORTS in a step after the first step that was not static */
    int is_late;
    int is_type; /* a support by a type such as ENCASTRE, which CalculiX does not read */
} hx_condition;

/* A set coupled to a reference node. */
typedef struct hx_import_coupling {
    const hx_import_set *set;
    int is_rigid, equally; /* as in conditions.h */
    int is_body;           /* *RIGID BODY: programs differ about components 4 to 6 of its nodes */
    int64_t node;          /* number of the reference node */
    int64_t rotation;      /* number of the node whose components are the rotation; -1: none */
    double point[3];
    const char *keyword; /* the file's word: "RIGID BODY" (borrowed) */
    int64_t line;
} hx_import_coupling;

typedef struct hx_import_conditions {
    size_t n, capacity;
    size_t middle_capacity; /* capacity of hx_conditions.middle while it is filled */
    hx_condition *list;     /* (owned) */
    size_t n_middle, middle_room;
    hx_file_middle *middle; /* loads and supports on middles of edges that have no number (owned) */
    int n_step;
    size_t n_coupling, coupling_capacity;
    hx_import_coupling *coupling; /* (owned) */
    /* why the conditions cannot be used (owned); NULL: they can be used */
    char *fault;
    /* why only the supports, or only the loads, cannot be used (owned) */
    char *support_fault, *load_fault;
} hx_import_conditions;

/* Appends a copy without nodes; the caller adds nodes to *added, which is valid until the next
 * call. */
int hx_import_conditions_add(hx_import_conditions *conditions, const hx_condition *condition,
                             hx_condition **added);

/* Adds the part of the forces on two corners that belongs to the middle of their edge if elements
 * are quadratic. */
int hx_import_conditions_add_middle(hx_import_conditions *conditions, const hx_file_middle *middle);

int hx_import_conditions_couple(hx_import_conditions *conditions,
                                const hx_import_coupling *coupling);

/* Records that the file states something that is not read: `fault` of the conditions or of the
 * material, or load_fault or support_fault. The mesh is valid, but from = "file" is refused with
 * this text. Only the first call has an effect. */
int hx_set_fault(char **fault, const char *fmt, ...) HX_PRINTF(2, 3);

/* Converts steps to load cases, between hx_import_finish and hx_import_free. A force stays in later
 * steps until it is set again or until HX_CONDITION_NO_FORCES; forces on one component within a
 * step add up, as in CalculiX and Abaqus. Forces and supports of a node of second order that the
 * mesh omits are moved to the corners in whose middle it lies, forces in equal parts; a note states
 * how this changes the moment. The reason why something cannot be used (a force on a node of no
 * element, supports that change between steps) is stored in conditions->fault. *to receives
 * import->unread. *to must be zeroed, and the caller frees it, also after an error; it may be NULL.
 * O(nodes * steps). */
int hx_import_conditions_finish(hx_import_conditions *conditions, hx_import *import,
                                const hx_mesh *mesh, hx_conditions *to);

/* Accepts a zeroed struct. */
void hx_import_conditions_free(hx_import_conditions *conditions);

/* Loads on sets, at reference nodes and by mass, as they are at the end of a step
 * (mesh_loads.c). */
typedef struct hx_set_loads hx_set_loads;

int hx_set_loads_create(hx_set_loads **loads, hx_import_conditions *all, const hx_import *import,
                        const hx_mesh *mesh);
void hx_set_loads_free(hx_set_loads *loads);

/* Returns 1 if two sets of the mesh have a face in common. */
int hx_sets_share_faces(const hx_mesh *mesh, const char *name, const char *other);

/* Ends the load of an earlier step that the condition replaces. Call it for all conditions of a
 * step before applying the first of them. */
void hx_set_loads_restate(hx_set_loads *loads, const hx_condition *condition);

/* Takes a condition of a kind other than forces on nodes. */
int hx_set_loads_apply(hx_set_loads *loads, const hx_condition *condition);

/* Takes a force or support of a node; *is_taken = 0 if the node is not a reference node. */
int hx_set_loads_at_node(hx_set_loads *loads, const hx_condition *condition, int64_t number,
                         int in_mesh, int *is_taken);

/* Drops the loads at reference nodes. */
void hx_set_loads_reset(hx_set_loads *loads);

/* hx_set_loads_renew drops the supports of reference nodes; with awaits = 1 it only requires that
 * the step states them again. hx_set_loads_lost returns 1 and the first node whose support is
 * missing, once per renewal. */
void hx_set_loads_renew(hx_set_loads *loads, int awaits);
int hx_set_loads_lost(hx_set_loads *loads, int64_t *number);

/* hx_set_loads_emit appends the loads of a step; hx_set_loads_finish appends the rigid sets at the
 * end. */
int hx_set_loads_emit(hx_set_loads *loads, int step, hx_conditions *to);
int hx_set_loads_finish(hx_set_loads *loads, hx_conditions *to);

#endif
