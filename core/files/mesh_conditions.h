/* Supports and forces that a mesh file holds: collected by a reader in the file's numbers and
 * steps, then turned into hx_conditions (conditions.h) for a config that says from = "file". Not
 * installed. */
#ifndef HX_MESH_CONDITIONS_H
#define HX_MESH_CONDITIONS_H

#include "../problem/conditions.h"
#include "mesh_import.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_CONDITION_SUPPORT,
    HX_CONDITION_FORCE,
    HX_CONDITION_NO_FORCES,   /* forgets the forces of earlier steps */
    HX_CONDITION_PRESSURE,    /* vector[0] on the faces of a set */
    HX_CONDITION_GRAVITY,     /* vector[0..2], its direction vector[3..5] or 0: one replaces any;
                                 of all elements, as the next */
    HX_CONDITION_CENTRIFUGAL, /* point vector[0..2], axis vector[3..5], speed value */
    HX_CONDITION_NO_LOADS     /* forgets loads of earlier steps, of its family */
} hx_condition_kind;

/* Two keywords that restate their own loads. */
enum { HX_LOADS_OF_ELEMENTS, HX_LOADS_OF_SURFACES, HX_N_LOADS_OF };

typedef struct hx_condition {
    hx_condition_kind kind;
    unsigned components; /* bit 0: x, 1: y, 2: z; of reference nodes 3 to 5: rotations, moments */
    int step;            /* 1-based; 0: before the first (supports) */
    int64_t line;        /* 0: not known */
    double value;        /* of each component: displacement or force */
    hx_numbers node;     /* numbers in the file (owned) */
    const hx_import_set *set; /* of HX_CONDITION_PRESSURE, GRAVITY and CENTRIFUGAL; NULL: all */
    double vector[6];
    int family; /* HX_LOADS_OF_... */
} hx_condition;

/* A set tied to a reference node. */
typedef struct hx_import_coupling {
    const hx_import_set *set;
    int is_rigid, equally; /* as in conditions.h */
    int64_t node;          /* number of the reference node */
    int64_t rotation;      /* of one whose components are its rotation; -1: none */
    double point[3];
    int64_t line;
} hx_import_coupling;

typedef struct hx_import_conditions {
    size_t n, capacity;
    size_t middle_capacity; /* of hx_conditions.middle, while it is made */
    hx_condition *list;     /* (owned) */
    size_t n_middle, middle_room;
    hx_file_middle *middle; /* what acts on middles of edges that have no number (owned) */
    int n_step;
    size_t n_coupling, coupling_capacity;
    hx_import_coupling *coupling; /* (owned) */
    char *fault; /* why they cannot be used as they stand (owned); NULL: they can */
    char *support_fault, *load_fault; /* likewise of supports or loads alone (owned) */
} hx_import_conditions;

/* Appends a copy without nodes, which are the caller's to add to *added (valid until the next
 * call).
 */
int hx_import_conditions_add(hx_import_conditions *conditions, const hx_condition *condition,
                             hx_condition **added);

/* What of the forces on two corners is at the middle of their edge where elements are quadratic.
 */
int hx_import_conditions_add_middle(hx_import_conditions *conditions, const hx_file_middle *middle);

int hx_import_conditions_couple(hx_import_conditions *conditions,
                                const hx_import_coupling *coupling);

/* Notes that the file holds what is not taken from it: nothing is wrong with the mesh, but from =
 * "file" is refused with this text. The first counts. */
int hx_import_conditions_set_fault(hx_import_conditions *conditions, const char *fmt, ...)
    HX_PRINTF(2, 3);

/* The same for its supports, or its loads, alone. */
int hx_import_conditions_set_support_fault(hx_import_conditions *conditions, const char *fmt, ...)
    HX_PRINTF(2, 3);
int hx_import_conditions_set_load_fault(hx_import_conditions *conditions, const char *fmt, ...)
    HX_PRINTF(2, 3);

/* Between hx_import_finish and hx_import_free: steps become load cases. A force stays in later
 * steps until it is set again or HX_CONDITION_NO_FORCES; forces on one component within a step add
 * up, as in CalculiX and Abaqus. What acts on a node of second order that the mesh leaves out acts
 * on the corners in whose middle it lies, forces in equal shares; a note says what that does to
 * their moment. What cannot be used (a force on a node of no element, supports that change from
 * step to step) becomes conditions->fault. *to gets import->unread. *to, zeroed, is the caller's to
 * free, also after an error; NULL: nobody asks. O(nodes * steps). */
int hx_import_conditions_finish(hx_import_conditions *conditions, hx_import *import,
                                const hx_mesh *mesh, hx_conditions *to);

/* Accepts a zeroed struct. */
void hx_import_conditions_free(hx_import_conditions *conditions);

/* What acts on sets, at reference nodes and by mass, at the end of a step (mesh_loads.c). */
typedef struct hx_set_loads hx_set_loads;

int hx_set_loads_create(hx_set_loads **loads, hx_import_conditions *all, const hx_import *import,
                        const hx_mesh *mesh);
void hx_set_loads_free(hx_set_loads *loads);

/* Ends the load of an earlier step that the condition restates: for all conditions of a step before
 * the first of them is taken. */
void hx_set_loads_restate(hx_set_loads *loads, const hx_condition *condition);

/* Takes a condition of another kind than forces on nodes. */
int hx_set_loads_apply(hx_set_loads *loads, const hx_condition *condition);

/* Takes a force or support of a node; *is_taken = 0: of none that is a reference node. */
int hx_set_loads_at_node(hx_set_loads *loads, const hx_condition *condition, int64_t number,
                         int in_mesh, int *is_taken);

/* Forgets what acts at reference nodes. */
void hx_set_loads_forget(hx_set_loads *loads);

/* Appends what acts in the step; at last the rigid sets. */
int hx_set_loads_emit(hx_set_loads *loads, int step, hx_conditions *to);
int hx_set_loads_finish(hx_set_loads *loads, hx_conditions *to);

#ifdef __cplusplus
}
#endif

#endif
