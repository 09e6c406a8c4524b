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
    HX_CONDITION_NO_FORCES /* forgets the forces of earlier steps */
} hx_condition_kind;

typedef struct hx_condition {
    hx_condition_kind kind;
    unsigned components; /* bit 0: x, 1: y, 2: z */
    int step;            /* 1-based; 0: before the first (supports) */
    int64_t line;        /* 0: not known */
    double value;        /* of each component: displacement or force */
    hx_numbers node;     /* numbers in the file (owned) */
} hx_condition;

typedef struct hx_import_conditions {
    size_t n, capacity;
    size_t middle_capacity; /* of hx_conditions.middle, while it is made */
    hx_condition *list;     /* (owned) */
    int n_step;
    char *fault; /* why they cannot be used as they stand (owned); NULL: they can */
} hx_import_conditions;

/* Appends a copy without nodes, which are the caller's to add to *added (valid until the next
 * call).
 */
int hx_import_conditions_add(hx_import_conditions *conditions, const hx_condition *condition,
                             hx_condition **added);

/* Notes that the file holds what is not taken from it: nothing is wrong with the mesh, but from =
 * "file" is refused with this text. The first counts. */
int hx_import_conditions_set_fault(hx_import_conditions *conditions, const char *fmt, ...)
    HX_PRINTF(2, 3);

/* Between hx_import_finish and hx_import_free: steps become load cases. A force stays in later
 * steps until it is set again or HX_CONDITION_NO_FORCES; forces on one component within a step add
 * up, as in CalculiX and Abaqus. What acts on a node of second order that the mesh leaves out acts
 * on the corners in whose middle it lies, forces in equal shares; a note says what that does to
 * their moment. What cannot be used (a force on a node of no element, supports that change from
 * step to step) becomes the fault. *to, zeroed, is the caller's to free, also after an error; NULL:
 * nobody asks. O(nodes * steps). */
int hx_import_conditions_finish(hx_import_conditions *conditions, const hx_import *import,
                                const hx_mesh *mesh, hx_conditions *to);

/* Accepts a zeroed struct. */
void hx_import_conditions_free(hx_import_conditions *conditions);

#ifdef __cplusplus
}
#endif

#endif
