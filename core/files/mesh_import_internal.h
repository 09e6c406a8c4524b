/* Shared by mesh_import.c, mesh_import_sets.c and mesh_import_middle.c; not installed. */
#ifndef HX_MESH_IMPORT_INTERNAL_H
#define HX_MESH_IMPORT_INTERNAL_H

#include "mesh_import.h"

/* What the mesh calls a node or element of that number. */
int64_t hx_import_short(const hx_import *import, int64_t number);

/* The checks and notes before a mesh is made: other solids, no solid, cells that make sets only. */
int hx_import_check_cells(const hx_import *import);

/* Gives sets of one name and several kinds names of their own, which the mesh records; it needs
 * to hold nothing else. */
int hx_import_name_apart(hx_import *import, hx_mesh *mesh);

/* Members of a set that are no part of the mesh of solids, for one note. */
typedef struct hx_left_out {
    const char *what;
    int64_t n, first;
} hx_left_out;

void hx_leave_out(hx_left_out *out, int64_t number);

/* n_kept: members that are there; without any it is a warning. */
int hx_note_left_out(const hx_import *import, const hx_import_set *set, const hx_left_out *out,
                     int64_t n_kept);

/* HX_EINPUT: the set names a node or element of that number, which is not there. */
int hx_import_unknown(const hx_import *import, const hx_import_set *set, const char *member,
                      int64_t number);

/* Notes nodes that no element uses, if there are any. */
int hx_import_note_dropped(const hx_import *import, int64_t n_dropped, int64_t first);

/* HX_EINPUT: element of that place names a node that is not there. */
int hx_import_no_node(const hx_import *import, int64_t line, int64_t elem, int64_t node);

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
