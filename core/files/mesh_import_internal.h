/* Shared by mesh_import.c, mesh_import_sets.c and mesh_import_middle.c; not installed. */
#ifndef HX_MESH_IMPORT_INTERNAL_H
#define HX_MESH_IMPORT_INTERNAL_H

#include "mesh_import.h"

/* What the mesh calls a node or element of that number. */
int64_t hx_import_short(const hx_import *import, int64_t number);

/* Adds the set to the raw mesh. */
int hx_import_make_set(const hx_import *import, const hx_import_set *set, hx_mesh *mesh);

/* Adds n elements' kind and the nodes that are no corners to import->solid and import->middle. */
int hx_import_add_middles(hx_import *import, hx_solid_id id, int64_t n, const int64_t *node);

/* Lists the nodes of second order and where they lie; conn is [n_elem][8] places of nodes in the
 * file. Says how many there are, and how far off their edges. O(n). */
int hx_import_list_middles(hx_import *import, const int32_t *conn);

/* Hands those on curved edges, and with them all on edges, to the raw mesh. */
int hx_import_keep_middles(const hx_import *import, hx_mesh *mesh);

/* What was said of nodes of second order, and what sharing it by their corners changes. */
typedef struct hx_middle_report {
    int64_t n_force, n_support; /* such nodes, of all steps */
    double moment, change;      /* of a step: largest moment about the origin, largest change */
} hx_middle_report;

/* Forces of the mesh's nodes once those of the left-out ones, force[n_node + n_middle][3], are
 * shared equally by the corners in whose middle these lie; *shared [n_node][3] is the caller's.
 * HX_EINTERNAL: the resultant is another. */
int hx_share_forces(const hx_import *import, const hx_mesh *mesh, const double *force,
                    double **shared, hx_middle_report *report);

/* Supports of left-out nodes hold their corners in components where these are free;
 * fixed[n_node + n_middle], value[n_node + n_middle][3]. */
void hx_share_supports(const hx_import *import, const hx_mesh *mesh, uint8_t *fixed, double *value,
                       hx_middle_report *report);

int hx_note_shared(const hx_import *import, const hx_middle_report *report);

/* Line of an element, 0: not known. */
int64_t hx_import_elem_line(const hx_import *import, int64_t elem);

/* Frees the lists, keeps the name. */
void hx_import_set_clear(hx_import_set *set);

#endif
