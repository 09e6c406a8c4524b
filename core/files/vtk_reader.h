/* State of one pass over a legacy VTK file, shared by the parts of the reader: vtk_types.c (types
 * of numbers), vtk_cells.c (points and cells), vtk_pieces.c (both piece by piece), vtk_solids.c
 * (types of cells), vtk_sets.c (mesh and sets), vtk_wanted.c (the array that is searched) and
 * vtk_read.c (sections, data arrays); vtu_read.c fills it from XML. Internal. */
#ifndef HX_VTK_READER_H
#define HX_VTK_READER_H

#include <stdbool.h>

#include "../mesh/mesh.h"
#include "file_scan.h"
#include "mesh_import.h"
#include "solid.h"

enum { HX_VTK_CHUNK = 4096 };

typedef enum { HX_VTK_NOWHERE, HX_VTK_ON_POINTS, HX_VTK_ON_CELLS } hx_vtk_data_where;

/* Values of hx_vtk_reader.elem_new for cells that are not elements. */
enum {
    HX_VTK_OTHER = -1,
    HX_VTK_TRIANGLE = -2,
    HX_VTK_QUAD = -3,
    HX_VTK_LINE = -4,
    HX_VTK_DOT = -5,
    HX_VTK_GHOST = -6 /* owned by another piece, or hidden: neither an element nor in a set */
};

/* Faces of a set by their nodes in the mesh; a triangle repeats its last. */
typedef struct hx_vtk_faces {
    char *name; /* (owned) */
    int64_t n;
    int32_t (*node)[4]; /* [n] (owned) */
    /* [n] elements to which the faces belong; NULL: any element that has them (owned) */
    int32_t *elem;
} hx_vtk_faces;

typedef struct hx_vtk_reader {
    hx_file_scan scan;
    int major; /* numbers of the file's format version */
    char title[256];
    int64_t n_node, n_elem; /* -1 until their sections are read */
    bool has_types;
    double *xyz;   /* [n_node][3] (owned until the mesh takes it) */
    int32_t *conn; /* [n_elem][8] (owned until the mesh takes it) */

    /* For cells that do not all have 8 nodes, replaces conn until the types are known: the nodes of
     * cell e are cell_node[cell_begin[e] .. cell_begin[e + 1]). */
    int64_t *cell_begin; /* [n_elem + 1], or NULL (owned) */
    int32_t *cell_node;  /* (owned) */

    /* Used if there are points, lines or faces among the cells: number of elements, and element of
     * each cell. */
    int64_t n_solid;
    int32_t *elem_new; /* [n_elem] below 0: none; NULL: all are elements, in their order (owned) */

    /* Faces among the cells, kept until the order of the elements' nodes is final. */
    size_t n_faces, faces_capacity;
    hx_vtk_faces *faces; /* (owned) */

    hx_set_rules rules; /* rules of combined sets (owned until the mesh takes them) */

    /* Used if cells are of second order, or are not solids: the points of the file that are kept,
     * and the replacement of the others. */
    int64_t n_kept;
    int32_t *node_new; /* [n_node] the mesh's node, -1: left out; NULL: all are kept (owned) */
    int32_t *middle;   /* [n_node] position in middle_end, or -1 (owned) */
    /* for each omitted point the number of its corners, then these corners, as nodes of the mesh
     * (owned) */
    int32_t *middle_end;
    hx_middles middles; /* middles of curved edges (owned until the mesh takes them) */
    hx_notes *notes;    /* (borrowed), may be NULL */

    /* Cells that a legacy file marks as ghosts. The marks come after all cells, so a first pass
     * finds them and a second one leaves the cells out. [n_elem], NULL: none (owned) */
    uint8_t *is_ghost;

    /* whether the arrays that follow belong to points, cells or the file */
    hx_vtk_data_where where;
    int64_t n_data; /* number of tuples of these arrays */

    /* receives the mesh piece by piece, in place of `mesh`; or NULL (borrowed) */
    hx_import *import;
    hx_file_mark cells_at, offsets_at; /* marks of CELLS or CONNECTIVITY, and of OFFSETS */
    const hx_file_number *cells_type, *offsets_type;
    int64_t n_cell_number; /* of CELLS */

    hx_mesh *mesh; /* the mesh to fill; NULL if only one array is searched */
    bool has_mesh; /* mesh is created */

    const char *wanted; /* name of the cell array that is searched, or NULL */
    int64_t wanted_n;   /* number of cells it must have; -1: any number, and value is allocated */
    double *value;      /* [wanted_n] in the file's order */
    bool has_value;
    bool needs_original;
    double *original; /* [n_elem] vtkOriginalCellIds, if requested and present (owned) */
    char seen[400];   /* names of the cell arrays found, for the message */
    double precision; /* rounding of the coordinates, relative to the largest one */
} hx_vtk_reader;

/* Reads the next word as a type of number. */
int hx_vtk_read_type(hx_file_scan *scan, const hx_file_number **type);

/* Each reads the section whose first word was just read; with r->mesh NULL, only the counts.
 * HX_EINPUT: an index out of range, a cell that is not a solid, counts that contradict each other
 * or the file's size. */
int hx_vtk_read_points(hx_vtk_reader *r);
int hx_vtk_read_cells(hx_vtk_reader *r);
int hx_vtk_read_cell_types(hx_vtk_reader *r);

/* Takes the types of the next n cells, starting at cell `first`: fills conn and checks their
 * numbers of nodes. */
int hx_vtk_take_types(hx_vtk_reader *r, int64_t first, int64_t n, const int64_t *type);

/* Once all types are known: leaves out the points that are not corners, if cells are of second
 * order. */
int hx_vtk_leave_middles(hx_vtk_reader *r);

/* Checks the coordinates, which have r->scan.most_digits digits in text, and sets r->precision to
 * their rounding; is_single: 32-bit numbers. */
int hx_vtk_check_points(hx_vtk_reader *r, int is_single);

/* Bits of vtkGhostType on cells: owned by another piece, covered by a finer cell, hidden. */
enum { HX_VTK_GHOST_BITS = 1 | 8 | 32 };

/* HX_EINPUT: an array is searched, and the file has another number of cells. */
int hx_vtk_check_wanted(const hx_vtk_reader *r);

/* Records an array name for the message that lists the arrays of a file. */
void hx_vtk_note_seen(hx_vtk_reader *r, const char *name);

/* Hands points and cells to r->mesh; an error there gets the file's name. */
int hx_vtk_make_mesh(hx_vtk_reader *r);

/* Notes why an array makes no sets. */
#define HX_VTK_BEYOND "it has values beyond 32 bits"
int hx_vtk_note_no_sets(const hx_vtk_reader *r, const char *name, const char *why);

/* Makes sets from an array of the points or cells (r->where); called after hx_vtk_make_mesh. An
 * array set_NAME of zeros and ones becomes the set NAME; another array NAME with few distinct
 * values becomes a set NAME=VALUE for each value. */
int hx_vtk_make_sets(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value);

/* Distinct values, ascending. If there are more than HX_VTK_SET_VALUES, n is HX_VTK_SET_VALUES
 * + 1. */
enum { HX_VTK_SET_VALUES = 256 };
typedef struct hx_vtk_values {
    int n;
    int32_t value[HX_VTK_SET_VALUES];
} hx_vtk_values;

/* Position of value in the ascending list, or where it would be inserted. */
int hx_vtk_find_value(const int32_t *list, int n, int32_t value);
void hx_vtk_add_value(hx_vtk_values *list, int32_t value);

/* Returns 1 if an array of that name and those values is one set, NAME of "set_NAME". */
int hx_vtk_is_flag(const char *name, const hx_vtk_values *all);

/* hx_vtk_find_solid returns the solid of a type of cell, NULL: none. hx_vtk_voxel_order returns the
 * node at each corner of a voxel, NULL: not a voxel. */
const hx_solid_id *hx_vtk_find_solid(int64_t type);
const int *hx_vtk_voxel_order(int64_t type);

/* HX_EINPUT: a section of the grid is missing. */
int hx_vtk_check_sections(hx_vtk_reader *r);

/* Counterparts for r->import (vtk_pieces.c). Each is called once everything that its section needs
 * is known: points; positions of the cells; cells by their types; sets of an integer array. */
int hx_vtk_send_points(hx_vtk_reader *r, const hx_file_number *type);
int hx_vtk_pass_cells(hx_vtk_reader *r, int64_t n, int64_t size);
int hx_vtk_send_cells(hx_vtk_reader *r, int64_t n_type);
int hx_vtk_send_sets(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n);

/* Reads the word `word`, then the type of an array of n numbers; the first number comes next. */
int hx_vtk_read_array_head(hx_vtk_reader *r, const char *word, int64_t n,
                           const hx_file_number **type);

/* Stores the array faces_of_NAME of the cells, after hx_vtk_make_mesh. For cells of second order it
 * is left out with a note. */
int hx_vtk_take_faces(hx_vtk_reader *r, const char *name, int64_t n, const int32_t *value);

/* Counterpart for r->import: adds the faces to its sets. */
int hx_vtk_send_faces(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n);

/* Reads the array of the file that holds the rules of combined sets. */
int hx_vtk_read_rules(hx_vtk_reader *r, const hx_file_number *type, int64_t n);

/* Called once the order of the elements' nodes is final: the faces among the cells become members
 * of their sets, and sets get their names. An array of points and one of cells with the same name
 * give two sets. */
int hx_vtk_make_faces(hx_vtk_reader *r);
int hx_vtk_name_sets(hx_vtk_reader *r);

#endif
