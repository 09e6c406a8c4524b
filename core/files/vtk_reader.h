/* The state of one pass over a legacy VTK file, shared by the parts of the reader: vtk_cells.c
 * (points and cells), vtk_solids.c (types of cells), vtk_sets.c (mesh and sets) and vtk_read.c
 * (sections, data arrays); vtu_read.c fills it from XML. Internal. */
#ifndef HX_VTK_READER_H
#define HX_VTK_READER_H

#include <stdbool.h>

#include "../mesh/mesh.h"
#include "file_scan.h"
#include "mesh_import.h"
#include "solid.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_VTK_CHUNK = 4096 };

typedef enum { HX_VTK_NOWHERE, HX_VTK_ON_POINTS, HX_VTK_ON_CELLS } hx_vtk_data_where;

/* What a cell is that is no element, in hx_vtk_reader.elem_new. */
enum {
    HX_VTK_OTHER = -1,
    HX_VTK_TRIANGLE = -2,
    HX_VTK_QUAD = -3,
    HX_VTK_LINE = -4,
    HX_VTK_DOT = -5,
    HX_VTK_GHOST = -6 /* of another piece, or hidden: neither an element nor in a set */
};

/* Faces of a set by their nodes in the mesh, a triangle's last twice. */
typedef struct hx_vtk_faces {
    char *name; /* (owned) */
    int64_t n;
    int32_t (*node)[4]; /* [n] (owned) */
    int32_t *elem;      /* [n] elements that they are of; NULL: any that has them (owned) */
} hx_vtk_faces;

typedef struct hx_vtk_reader {
    hx_file_scan scan;
    int major; /* of the file's version */
    char title[256];
    int64_t n_node, n_elem; /* -1 until their sections were read */
    bool has_types;
    double *xyz;   /* [n_node][3] (owned until the mesh takes it) */
    int32_t *conn; /* [n_elem][8] (owned until the mesh takes it) */

    /* Of cells that have not all 8 nodes, instead of conn until their types are known: nodes of
     * cell e are cell_node[cell_begin[e] .. cell_begin[e + 1]). */
    int64_t *cell_begin; /* [n_elem + 1], or NULL (owned) */
    int32_t *cell_node;  /* (owned) */

    /* Where there are points, lines and faces among the cells: elements, and which one a cell is.
     */
    int64_t n_solid;
    int32_t *elem_new; /* [n_elem] below 0: none; NULL: all are elements, in their order (owned) */

    /* Faces among the cells, until elements have their order of nodes. */
    size_t n_faces, faces_capacity;
    hx_vtk_faces *faces; /* (owned) */

    hx_set_rules rules; /* of combined sets (owned until the mesh takes them) */

    /* Where cells are of second order, or no solids: points of the file that are kept; of the
     * others what stands for them. */
    int64_t n_kept;
    int32_t *node_new;   /* [n_node] the mesh's node, -1: left out; NULL: all are kept (owned) */
    int32_t *middle;     /* [n_node] its place in middle_end, or -1 (owned) */
    int32_t *middle_end; /* for each left out how many corners, then these, in the mesh (owned) */
    hx_middles middles;  /* of curved edges (owned until the mesh takes them) */
    hx_notes *notes;     /* (borrowed), may be NULL */

    /* Cells that a legacy file marks as ghosts behind all cells: found by a first pass, left out by
     * a second one. [n_elem], NULL: none (owned) */
    uint8_t *is_ghost;

    hx_vtk_data_where where; /* of the arrays that follow */
    int64_t n_data;          /* their tuples */

    hx_import *import; /* what takes the mesh piece by piece, in place of `mesh`; NULL (borrowed) */
    hx_file_mark cells_at, offsets_at; /* of CELLS or CONNECTIVITY, of OFFSETS */
    const hx_file_number *cells_type, *offsets_type;
    int64_t n_cell_number; /* of CELLS */

    hx_mesh *mesh; /* to fill, or NULL if one array is looked for */
    bool has_mesh; /* mesh is created */

    const char *wanted; /* name of the cell array that is looked for, or NULL */
    int64_t wanted_n;   /* cells it must have; -1: any number, value is allocated then */
    double *value;      /* [wanted_n] in the file's order */
    bool has_value;
    bool wants_original;
    double *original; /* [n_elem] vtkOriginalCellIds, if they are wanted and there (owned) */
    char seen[400];   /* names of the cell arrays met, for the message */
    double precision; /* of the coordinates, relative to the largest one */
} hx_vtk_reader;

/* Next word as a type of number. */
int hx_vtk_read_type(hx_file_scan *scan, const hx_file_number **type);

/* Each reads the section whose first word was just read; with r->mesh NULL only the counts.
 * HX_EINPUT: an index out of range, a cell that is no hexahedron, counts that do not fit each other
 * or the file. */
int hx_vtk_read_points(hx_vtk_reader *r);
int hx_vtk_read_cells(hx_vtk_reader *r);
int hx_vtk_read_cell_types(hx_vtk_reader *r);

/* Takes the types of the next n cells, from cell `first` on: fills conn and checks their numbers of
 * nodes. */
int hx_vtk_take_types(hx_vtk_reader *r, int64_t first, int64_t n, const int64_t *type);

/* Once all types are known: leaves out the points that are no corners, if cells are of second
 * order.
 */
int hx_vtk_leave_middles(hx_vtk_reader *r);

/* Checks the coordinates, which are r->scan.most_digits long in text, and says in r->precision what
 * writing has left of them; is_single: as 32-bit numbers. */
int hx_vtk_check_points(hx_vtk_reader *r, int is_single);

/* Bits of vtkGhostType on cells: another piece has the cell, a finer one has it, it is hidden. */
enum { HX_VTK_GHOST_BITS = 1 | 8 | 32 };

/* HX_EINPUT: an array is looked for, and the file has another number of cells. */
int hx_vtk_check_wanted(const hx_vtk_reader *r);

/* For the message that names the arrays of a file. */
void hx_vtk_note_seen(hx_vtk_reader *r, const char *name);

/* Hands points and cells to r->mesh; its other faults get the file's name. */
int hx_vtk_make_mesh(hx_vtk_reader *r);

/* Array set_NAME of 0 and 1 is the set NAME; array NAME of a few values is the sets NAME=VALUE. Of
 * the points or cells (r->where), after hx_vtk_make_mesh. */
int hx_vtk_make_sets(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value);

/* Distinct values, ascending; more than HX_VTK_SET_VALUES count as that and 1. */
enum { HX_VTK_SET_VALUES = 256 };
typedef struct hx_vtk_values {
    int n;
    int32_t value[HX_VTK_SET_VALUES];
} hx_vtk_values;

/* Position of value in the ascending list, or where it would go in. */
int hx_vtk_find_value(const int32_t *list, int n, int32_t value);
void hx_vtk_add_value(hx_vtk_values *list, int32_t value);

/* 1 if an array of that name and those values is one set, NAME of "set_NAME". */
int hx_vtk_is_flag(const char *name, const hx_vtk_values *values);

/* The solid that a type of cell is, NULL: none; which node each corner of a voxel is, NULL: the
 * type is none. */
const hx_solid_id *hx_vtk_find_solid(int64_t type);
const int *hx_vtk_voxel_order(int64_t type);

/* HX_EINPUT: one of the sections of a grid is missing. */
int hx_vtk_check_sections(hx_vtk_reader *r);

/* The same sections for r->import, of which each is read when all that it needs is known
 * (vtk_pieces.c): points; where cells are; cells by their types; sets of an integer array. */
int hx_vtk_send_points(hx_vtk_reader *r, const hx_file_number *type);
int hx_vtk_pass_cells(hx_vtk_reader *r, int64_t n, int64_t size);
int hx_vtk_send_cells(hx_vtk_reader *r, int64_t n_type);
int hx_vtk_send_sets(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n);

/* Next word `word`, then the type of an array of n numbers, of which the first one is next. */
int hx_vtk_read_array_head(hx_vtk_reader *r, const char *word, int64_t n,
                           const hx_file_number **type);

/* The array faces_of_NAME of the cells, after hx_vtk_make_mesh: puts the faces aside. Of second order
 * it is left out with a note. */
int hx_vtk_take_faces(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value);

/* For r->import, into its sets. */
int hx_vtk_send_faces(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n);

/* Reads the array of the file that has the rules of combined sets. */
int hx_vtk_read_rules(hx_vtk_reader *r, const hx_file_number *type, int64_t n);

/* Once elements have their order of nodes: the faces among the cells become those of their sets. */
int hx_vtk_make_faces(hx_vtk_reader *r);

#ifdef __cplusplus
}
#endif

#endif
