/* The formats of mesh files: which there are, which one a file is, reading and writing. A format is
 * one line of the table in mesh_files.c. */
#ifndef HX_MESH_FILES_H
#define HX_MESH_FILES_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/problem.h"
#include "spline_files.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hx_import_sink;

typedef struct hx_mesh_write_options {
    int is_ascii;              /* where the format has both */
    const char *title;         /* or NULL */
    const hx_problem *problem; /* for formats that hold loads and supports; NULL: the mesh alone */
    hx_notes *notes;           /* what the format cannot say as it is; or NULL */
    /* As in hx_vtk_options: for formats that hold fields, which are the large ones; or NULL. */
    void (*progress)(void *context, double share);
    void *context;
} hx_mesh_write_options;

typedef struct hx_mesh_format {
    const char *name;      /* "Gmsh" */
    const char *extension; /* ".msh" */
    /* Whether a file that begins so is one, ignoring its name; `head` ends with a 0. */
    int (*is_head)(const char *head);
    /* Makes a raw mesh, and what the file states besides it; conditions may be NULL. NULL: the file
     * holds a spline. */
    int (*read)(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);
    /* Writes a finished mesh with its sets; NULL: cannot. */
    int (*write)(const char *path, const hx_mesh *mesh, const hx_mesh_write_options *options);
    int (*read_spline)(const char *path, hx_spline *spline, hx_notes *notes); /* or NULL */
    /* Reads into a sink (mesh_import.h); NULL: the whole at once alone. */
    int (*read_to)(const char *path, struct hx_import_sink *sink, hx_notes *notes);
    int holds_problem; /* `write` takes supports and loads along */
    int holds_fields;  /* numbers on nodes and elements can be written beside the mesh (vtk.h) */
} hx_mesh_format;

extern const hx_mesh_format hx_mesh_formats[];
extern const size_t hx_n_mesh_format;

/* The format of a file by its first bytes, else by its name; NULL: of none, or it cannot be
 * opened. */
const hx_mesh_format *hx_mesh_format_of_file(const char *path);

/* The format that a name ends with, whatever its case; NULL: none. */
const hx_mesh_format *hx_mesh_format_of_name(const char *path);

/* 1 if there is a writer; format may be NULL. */
int hx_mesh_can_write(const hx_mesh_format *format);

/* ".vtk, .msh" into text; returns it. */
const char *hx_mesh_format_list(int for_writing, char *text, size_t n_text);

/* 1 if the file is of a format that holds splines. */
int hx_mesh_is_spline(const char *path);

/* Reads a file of splines as hx_spline_file_mesh does. HX_EINPUT: of no such format. */
int hx_mesh_read_spline(const char *path, const hx_spline_options *options, hx_spline *spline,
                        hx_mesh *mesh, hx_notes *notes);

/* Reads a raw mesh of any format, with nodes in the right order and coincident nodes merged, kept
 * or refused as `merge` says (mesh_check.h: NaN, 0 or a distance). What was mended or left out is
 * noted; notes may be NULL. *conditions: the supports and forces that the file states (none of
 * formats without them), the caller's to free; may be NULL. Of a spline the image as its file has
 * it, nothing of which is merged. HX_EINPUT: of no known format, and what
 * reader and checks refuse. */
int hx_mesh_read(const char *path, double merge, hx_mesh *mesh, hx_conditions *conditions,
                 hx_notes *notes);

/* Of a finished mesh from a file: hx_mesh_check_conforming, with the same `merge`. */
int hx_mesh_check_file(const hx_mesh *mesh, double merge, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
