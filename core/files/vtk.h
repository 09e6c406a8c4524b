/* Legacy VTK files (UNSTRUCTURED_GRID of tetrahedra, wedges, pyramids and hexahedra), our own
 * writer and reader, and the series file that ParaView opens as an animation. */
#ifndef HX_VTK_H
#define HX_VTK_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a title, the 0 included. */
enum { HX_VTK_TITLE = 256 };

typedef enum { HX_VTK_BINARY, HX_VTK_ASCII } hx_vtk_format;
/* HX_VTK_FILE: of the file itself; bytes, n_comp of them. */
typedef enum { HX_VTK_POINT, HX_VTK_CELL, HX_VTK_FILE } hx_vtk_where;
typedef enum { HX_VTK_F64, HX_VTK_F32, HX_VTK_I32, HX_VTK_U8 } hx_vtk_type;

typedef struct hx_vtk_field {
    const char *name; /* blanks become '_' in the file */
    hx_vtk_where where;
    hx_vtk_type type;
    int n_comp;       /* the first of 1: SCALARS, of 3: VECTORS; all others are FIELD arrays */
    const void *data; /* [n_node or n_elem][n_comp], in the mesh's own order (borrowed) */
} hx_vtk_field;

/* What data and values there are where not all of the mesh's own order: of nodes and elements n
 * each from `first` on, in the file's (original) order. By hx_vtk_where. */
typedef struct hx_vtk_piece {
    int64_t first[2], n[2];
    /* Where the mesh is a window (mesh.h): of these nodes the coordinates [n][3], of these elements
     * the nodes [n][8] in the file's numbers; else NULL (borrowed). */
    const double *xyz;
    const int32_t *conn;
} hx_vtk_piece;

struct hx_team; /* core/team/team.h */

typedef struct hx_vtk_options {
    hx_vtk_format format;
    const double *value; /* [n_elem] (borrowed): only elements with value >= least; NULL: all */
    /* The processes that write the file together, each its piece of every section; NULL: one does.
     * Of several all call the writer with the same mesh, title, options and fields, each with its
     * hx_vtk_own_piece of the fields; binary files of all elements. (borrowed) */
    const struct hx_team *team;
    const hx_vtk_piece *piece; /* NULL: all, in the mesh's own order (borrowed) */
    double least;
    int is_synced; /* to the disk itself before it has its name */
    /* Called now and then with the share done, from any thread but never twice at once; may be
     * NULL. */
    void (*progress)(void *context, double share);
    void *context;
} hx_vtk_options;

/* Writes the mesh and fields to `path`, in the original order (reordering undone), streamed through
 * a block of 1 MB a thread to path + ".tmp.PID" and renamed at the end. HX_EIO (disk full, not
 * writable) leaves an old file as it was and removes the temporary one. title: at most 255
 * characters, one line. Takes 4 bytes a node and an element for a renumbered mesh. */
int hx_vtk_write(const char *path, const hx_mesh *mesh, const char *title, hx_vtk_format format,
                 const hx_vtk_field *field, size_t n_field);

/* The same for the elements that options choose. Nodes are those of the elements, renumbered in
 * their order; a part has the elements' places in the file of the whole mesh, from 0, as the cell
 * array vtkOriginalCellIds. A part of no element is a valid, empty grid. *n_written: number of
 * elements; may be NULL. A part takes at most 9 bytes a node and an element more. */
int hx_vtk_write_part(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_vtk_field *field, size_t n_field,
                      int64_t *n_written);

/* The piece that a process of a team writes. */
hx_vtk_piece hx_vtk_own_piece(const struct hx_team *team, const hx_mesh *mesh);

/* Size of the binary file of the whole mesh. O(n_elem): reads no data, which may be NULL,
 * as the mesh's conn, for hexahedra. */
int hx_vtk_bytes(const hx_mesh *mesh, const char *title, const hx_vtk_field *field, size_t n_field,
                 uint64_t *bytes);

/* Bytes of host memory that writing takes, at most. */
size_t hx_vtk_writer_bytes(const hx_mesh *mesh, int is_part);

/* Reads a mesh (raw: hx_mesh_finish is the caller's) with its sets: integer arrays called
 * "set_NAME" with values 0/1 become the set NAME; "faces_of_NAME" on cells are faces of that set, a
 * bit for each face of the cell as VTK numbers them; "hextop_sets" of the file says how sets are
 * made of others; any other integer array NAME of one component
 * with at most 256 distinct values gives the sets "NAME=VALUE". ASCII and binary, versions 2.0
 * to 4.2 and 5.1, other arrays are skipped. HX_EINPUT: message with path, and line or byte offset,
 * and what would be right. */
int hx_vtk_read(const char *path, hx_mesh *mesh);

/* The same with what other programs' files need: cells in the right order of nodes (solid.h,
 * mesh_check.h). What was mended or left out is noted; notes may be NULL. */
int hx_vtk_read_mesh(const char *path, hx_mesh *mesh, hx_notes *notes);

/* The same into a sink (mesh_import.h), of cells of first order that are all solids. */
struct hx_import_sink;
int hx_vtk_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

/* Reads one cell array of one component from a file written by us of this very mesh, in the file's
 * (original) order, into value[n_elem] in the mesh's own order. Nothing but the number of cells is
 * compared: hx_result_read is for files of which one does not know. */
int hx_vtk_read_cell_array(const char *path, const char *name, const hx_mesh *mesh, double *value);

/* Cells and one array of them, as a file has them. */
typedef struct hx_vtk_result {
    hx_mesh cells;    /* points and cells, raw, without sets (owned) */
    double *value;    /* [cells.n_elem] the array asked for (owned) */
    double *original; /* [cells.n_elem] vtkOriginalCellIds; NULL: the file has none (owned) */
    double precision; /* of a coordinate as it is written, relative to the largest */
    char title[256];
} hx_vtk_result;

/* HX_EINPUT: as hx_vtk_read, no cell, or no such array of one component. Takes 24 bytes a point and
 * 48 a cell. */
int hx_vtk_read_result(const char *path, const char *name, hx_vtk_result *result);
void hx_vtk_result_free(hx_vtk_result *result);

/* Rewrites NAME.vtk.series (JSON) for n files with their times (iterations), atomically. */
int hx_vtk_write_series(const char *path, size_t n, const char *const *file, const double *time);

#ifdef __cplusplus
}
#endif

#endif
