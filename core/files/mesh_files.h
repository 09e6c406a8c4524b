/* The table of mesh file formats, recognition of a file's format, reading and writing. A format is
 * one line of the table in mesh_files.c. */
#ifndef HX_MESH_FILES_H
#define HX_MESH_FILES_H

#include "../base/c_linkage.h"
#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../problem/problem.h"
#include "spline_files.h"

HX_C_BEGIN

struct hx_import_sink;

typedef struct hx_mesh_write_options {
    int is_ascii;      /* for formats that have both ASCII and binary */
    const char *title; /* or NULL */
    /* formats that hold loads and supports store those of the problem; NULL: only the mesh */
    const hx_problem *problem;
    double penalty; /* with a problem: SIMP exponent of passive elements */
    /* receives notes about parts that the format cannot express; or NULL */
    hx_notes *notes;
    /* See hx_vtk_options; called only for formats that contain fields. NULL: no progress. */
    void (*progress)(void *context, double share);
    void *context;
} hx_mesh_write_options;

typedef struct hx_mesh_format {
    const char *name;      /* "Gmsh" */
    const char *extension; /* ".msh" */
    /* Returns 1 if a file that begins with `head` (0-terminated) has this format; ignores its
     * name. */
    int (*is_head)(const char *head);
    /* Makes a raw mesh and reads the other statements of the file; conditions may be NULL. NULL:
     * the file holds a spline. */
    int (*read)(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes);
    /* Writes a finished mesh with its sets; NULL: the format cannot be written. */
    int (*write)(const char *path, const hx_mesh *mesh, const hx_mesh_write_options *options);
    int (*read_spline)(const char *path, hx_spline *spline, hx_notes *notes); /* or NULL */
    /* Reads into a sink (mesh_import.h); NULL: only the whole mesh at once. */
    int (*read_to)(const char *path, struct hx_import_sink *sink, hx_notes *notes);
    int holds_problem; /* `write` also writes supports and loads */
    int holds_fields;  /* can hold values at nodes and elements (vtk.h) */
} hx_mesh_format;

extern const hx_mesh_format hx_mesh_formats[];
extern const size_t hx_n_mesh_format;

/* Returns the format of a file by its first bytes, otherwise by its name; NULL: none, or the file
 * cannot be opened. */
const hx_mesh_format *hx_mesh_format_of_file(const char *path);

/* Returns the format whose extension the name has, without regard to case; NULL: none. */
const hx_mesh_format *hx_mesh_format_of_name(const char *path);

/* 1 if there is a writer; format may be NULL. */
int hx_mesh_can_write(const hx_mesh_format *format);

/* Writes ".vtk, .msh" into text; returns it. */
const char *hx_mesh_format_list(int for_writing, char *text, size_t n_text);

/* Returns 1 if the file has a format that holds splines. */
int hx_mesh_is_spline(const char *path);

/* Reads a file of splines like hx_spline_file_mesh. HX_EINPUT: not such a format. */
int hx_mesh_read_spline(const char *path, const hx_spline_options *options, hx_spline *spline,
                        hx_mesh *mesh, hx_notes *notes);

/* Reads a raw mesh of any format. Nodes of elements are brought into the right order, and
 * coincident nodes are merged, kept or refused according to `merge` (mesh_check.h: NaN, 0 or a
 * distance). Corrections and omissions are noted; notes may be NULL. *conditions (may be NULL)
 * receives the file's supports and forces, none if the format has none; the caller frees them. For
 * a spline, the image in its file is read, without merging. HX_EINPUT: the format is unknown, or
 * the reader or a check refuses the mesh. */
int hx_mesh_read(const char *path, double merge, hx_mesh *mesh, hx_conditions *conditions,
                 hx_notes *notes);

/* For a finished mesh from a file: hx_mesh_check_conforming with the same `merge`. */
int hx_mesh_check_file(const hx_mesh *mesh, double merge, hx_notes *notes);

HX_C_END

#endif
