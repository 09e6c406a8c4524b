/* Shared by the mesh_import*.c files; not installed. */
#ifndef HX_MESH_IMPORT_INTERNAL_H
#define HX_MESH_IMPORT_INTERNAL_H

#include "mesh_import.h"

/* The number in the mesh of a node or element. */
int64_t hx_import_short(const hx_import *import, int64_t number);

/* Checks and notes before a mesh is made: other solids, no solid, cells that only make sets. */
int hx_import_check_cells(const hx_import *import);

/* Gives sets of different kinds that share a name different names, and records these in the mesh,
 * which may have no contents yet. */
int hx_import_name_apart(hx_import *import, hx_mesh *mesh);

/* Members of a set that the mesh of solids does not have, collected for one note. */
typedef struct hx_left_out {
    const char *what;
    int64_t n, first;
    int is_missing; /* members that are not in the file at all, which is a warning */
} hx_left_out;

#define HX_MISSING_NODES                                                                           \
    {                                                                                              \
        .what = "nodes that the file does not have", .is_missing = 1                               \
    }
#define HX_MISSING_ELEMS                                                                           \
    {                                                                                              \
        .what = "elements that the file does not have", .is_missing = 1                            \
    }

void hx_leave_out(hx_left_out *out, int64_t number);

/* n_kept: number of members that the mesh has. If it is 0, the note is a warning. */
int hx_note_left_out(const hx_import *import, const hx_import_set *set, const hx_left_out *out,
                     int64_t n_kept);

/* Returns HX_EINPUT: a face of the set names a node that does not exist. */
int hx_import_unknown(const hx_import *import, const hx_import_set *set, int64_t number);

/* Notes nodes that no element uses, if there are any. */
int hx_import_note_dropped(const hx_import *import, int64_t n_dropped, int64_t first);

/* Returns HX_EINPUT: element number `elem` in the file's order names a node that does not exist. */
int hx_import_no_node(const hx_import *import, int64_t line, int64_t elem, int64_t node);

/* Adds the set to the raw mesh. */
int hx_import_make_set(const hx_import *import, const hx_import_set *set, hx_mesh *mesh);

/* Lists the nodes of second order and their positions; conn is [n_elem][8] indices of nodes in the
 * file. Notes their number and their largest distance from the middle of their edges. O(n). */
int hx_import_list_middles(hx_import *import, const int32_t *conn);

/* Hands all middle nodes on edges to the raw mesh if some edges are curved. */
int hx_import_keep_middles(const hx_import *import, hx_mesh *mesh);

/* Forces on nodes of second order, and the effect of moving them to the corners. */
typedef struct hx_middle_report {
    int64_t n_force, n_support; /* number of such nodes, over all steps */
    /* values of one step: largest moment about the origin, and largest change of it */
    double moment, change;
} hx_middle_report;

/* Distributes the forces of omitted nodes, force[n_node + n_middle][3], equally to the corners in
 * whose middle these lie; the caller frees *shared [n_node][3]. HX_EINTERNAL: the resultant
 * changed. */
int hx_share_forces(const hx_import *import, const hx_mesh *mesh, const double *force,
                    double **shared, hx_middle_report *report);

/* Supports of omitted nodes hold their corners in those components in which the corners are free.
 * fixed[n_node + n_middle], value[n_node + n_middle][3]. */
void hx_share_supports(const hx_import *import, const hx_mesh *mesh, uint8_t *fixed, double *value,
                       hx_middle_report *report);

int hx_note_shared(const hx_import *import, const hx_middle_report *report);

/* Line of a node or element, 0: not known. */
int64_t hx_import_node_line(const hx_import *import, int64_t node);
int64_t hx_import_elem_line(const hx_import *import, int64_t elem);

/* Frees the lists and keeps the name. */
void hx_import_set_clear(hx_import_set *set);

#endif
