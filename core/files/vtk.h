/* Legacy VTK files (UNSTRUCTURED_GRID of tetrahedra, wedges, pyramids and hexahedra), with hextop's
 * own writer and reader, and the series file that ParaView opens as an animation. */
#ifndef HX_VTK_H
#define HX_VTK_H

#include "../base/c_linkage.h"
#include "../base/notes.h"
#include "../mesh/mesh.h"

HX_C_BEGIN

/* Bytes of a title, including the terminating 0. */
enum { HX_VTK_TITLE = 256 };

typedef enum { HX_VTK_BINARY, HX_VTK_ASCII } hx_vtk_format;
/* HX_VTK_FILE: an array of the file itself, with n_comp bytes. */
typedef enum { HX_VTK_POINT, HX_VTK_CELL, HX_VTK_FILE } hx_vtk_where;
typedef enum { HX_VTK_F64, HX_VTK_F32, HX_VTK_I32, HX_VTK_U8 } hx_vtk_type;

typedef struct hx_vtk_field {
    const char *name; /* blanks become '_' in the file */
    hx_vtk_where where;
    hx_vtk_type type;
    /* for the first field, 1: SCALARS, 3: VECTORS; all other fields are FIELD arrays */
    int n_comp;
    const void *data; /* [n_node or n_elem][n_comp], in the mesh's own order (borrowed) */
} hx_vtk_field;

/* The part of the mesh that data and values cover, if it is not the whole mesh in its own order: n
 * nodes and n elements from `first` on, in the file's (original) order. Indexed by hx_vtk_where. */
typedef struct hx_vtk_piece {
    int64_t first[2], n[2];
    /* If the mesh is a rank's owned and ghost elements (mesh.h): coordinates [n][3] of these nodes,
     * and nodes [n][8] of these elements in the file's numbers; otherwise NULL (borrowed). */
    const double *xyz;
    const int32_t *conn;
} hx_vtk_piece;

struct hx_comm; /* core/comm/comm.h */

typedef struct hx_vtk_options {
    hx_vtk_format format;
    const double *value; /* [n_elem] (borrowed): only elements with value >= least; NULL: all */
    /* The ranks that write the file together, each its piece of every section; NULL: one process.
     * With several ranks, all call the writer with the same mesh, title, options and fields, each
     * with its hx_vtk_own_piece of the fields; only binary files of all elements. (borrowed) */
    const struct hx_comm *comm;
    const hx_vtk_piece *piece; /* NULL: all of the mesh, in its own order (borrowed) */
    double least;
    int is_synced; /* synchronized to the disk before the file gets its name */
    /* Called occasionally with the completed fraction, from any thread but never concurrently; may
     * be NULL. */
    void (*progress)(void *context, double share);
    void *context;
} hx_vtk_options;

/* Writes the mesh and fields to `path` in the original order, streamed through a block of 1 MB per
 * thread to path + ".tmp.PID" and renamed at the end. On HX_EIO (disk full, not writable), an
 * existing file stays unchanged, and the temporary one is removed. title: at most 255 characters,
 * one line. Needs 4 bytes per node and element for a renumbered mesh. */
int hx_vtk_write(const char *path, const hx_mesh *mesh, const char *title, hx_vtk_format format,
                 const hx_vtk_field *field, size_t n_field);

/* Like hx_vtk_write, for the elements that the options select. Nodes are those of the elements,
 * renumbered in their order; a part has the cell array vtkOriginalCellIds with the elements'
 * indices in the file of the whole mesh, from 0. A part without elements is a valid, empty grid.
 * *n_written: number of elements; may be NULL. A part needs at most 9 more bytes per node and
 * element. */
int hx_vtk_write_part(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_vtk_field *field, size_t n_field,
                      int64_t *n_written);

/* The piece that a rank of the communicator writes. */
hx_vtk_piece hx_vtk_own_piece(const struct hx_comm *comm, const hx_mesh *mesh);

/* Size in bytes of the binary file of the whole mesh. O(n_elem): data are not read and may be NULL;
 * the mesh's conn may also be NULL if all elements are hexahedra. */
int hx_vtk_bytes(const hx_mesh *mesh, const char *title, const hx_vtk_field *field, size_t n_field,
                 uint64_t *bytes);

/* Upper bound of the host memory, in bytes, that writing needs. */
size_t hx_vtk_writer_bytes(const hx_mesh *mesh, int is_part);

/* Reads a raw mesh (the caller calls hx_mesh_finish) with its sets. Integer arrays "set_NAME" with
 * values 0/1 become the set NAME; "faces_of_NAME" on cells gives the faces of that set, one bit for
 * each face of the cell in VTK's numbering; "hextop_sets" of the file lists sets made of others;
 * any other integer array NAME of one component with at most 256 distinct values gives the sets
 * "NAME=VALUE". Reads ASCII and binary, versions 2.0 to 4.2 and 5.1; other arrays are skipped.
 * HX_EINPUT: message with path, and line or byte offset, and what would be right. */
int hx_vtk_read(const char *path, hx_mesh *mesh);

/* Like hx_vtk_read, with what files of other programs need: cells get the right order of nodes
 * (solid.h, mesh_check.h). Corrections and omissions are noted; notes may be NULL. */
int hx_vtk_read_mesh(const char *path, hx_mesh *mesh, hx_notes *notes);

/* Like hx_vtk_read_mesh, into a sink (mesh_import.h), for cells of first order that are all
 * solids. */
struct hx_import_sink;
int hx_vtk_read_to(const char *path, struct hx_import_sink *sink, hx_notes *notes);

/* Reads one cell array of one component from a file that hextop wrote for this very mesh, in the
 * file's (original) order, into value[n_elem] in the mesh's own order. Compares only the number of
 * cells; use hx_result_read for files of unknown origin. */
int hx_vtk_read_cell_array(const char *path, const char *name, const hx_mesh *mesh, double *value);

/* The cells of a file and one array of them. */
typedef struct hx_vtk_result {
    hx_mesh cells;    /* points and cells, raw, without sets (owned) */
    double *value;    /* [cells.n_elem] the array requested (owned) */
    double *original; /* [cells.n_elem] vtkOriginalCellIds; NULL: the file has none (owned) */
    double precision; /* rounding of a written coordinate, relative to the largest coordinate */
    char title[256];
} hx_vtk_result;

/* HX_EINPUT: as for hx_vtk_read, or no cell, or no such array of one component. Needs 24 bytes per
 * point and 48 per cell. */
int hx_vtk_read_result(const char *path, const char *name, hx_vtk_result *result);
void hx_vtk_result_free(hx_vtk_result *result);

/* Rewrites NAME.vtk.series (JSON) for n files with their times (iterations), atomically. */
int hx_vtk_write_series(const char *path, size_t n, const char *const *file, const double *time);

HX_C_END

#endif
