/* All files from which a mesh can be made: meshes (files/mesh_files.h), CAD models, which are
 * meshed, and meshes that another program converts. Commands that read a mesh for a user call
 * this. */
#ifndef HX_MODEL_FILES_H
#define HX_MODEL_FILES_H

#include "../base/notes.h"
#include "../files/mesh_files.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts about a meshed CAD model. */
typedef struct hx_cad_facts {
    double element_size; /* requested, or automatic */
    int64_t n_solid, n_face, n_elem;
    double worst, median; /* scaled Jacobian of the elements */
    double volume;        /* of the model, not of its mesh; 0: not known */
} hx_cad_facts;

/* A zeroed struct with merge = NaN selects the defaults. */
typedef struct hx_model_options {
    double merge;        /* as in mesh_check.h: NaN, 0 or a distance */
    double element_size; /* for CAD models (length); 0: automatic, from the volume */
    double time_limit;   /* for another program, seconds; 0: HX_MODEL_TIME_LIMIT */
    /* where the mesh of a CAD model is kept: a name that ends with .msh; its folder is made if it
     * is missing; NULL: nowhere */
    const char *keep;
    const char *kept; /* a second place where it may be kept already, which is only read; or NULL */
    hx_spline_options spline_options;
    /* receives the spline of a file of splines, which the caller frees; NULL: only the mesh is
     * needed */
    hx_spline *spline;
    const char *units;   /* units of the config's numbers, "N, mm, MPa", for a note; or NULL */
    hx_cad_facts *facts; /* receives the facts about a CAD model; or NULL */
    int (*is_cancelled)(void *context); /* as in process.h, or NULL */
    void *context;
} hx_model_options;

#define HX_MODEL_TIME_LIMIT 600.0

typedef struct hx_model_format {
    const char *name;      /* "STEP" */
    const char *extension; /* ".step"; several rows may share the functions of a format */
    /* Returns 1 if a file that begins like this (512 bytes, then a 0) has the format; NULL: the
     * name decides. */
    int (*is_head)(const char *head);
    /* Makes a raw mesh like the readers of mesh_files.h, with coincident nodes merged according to
     * options->merge (hx_mesh_read of an intermediate file does this). conditions and notes may be
     * NULL. Messages name `path`. */
    int (*read)(const char *path, const hx_model_options *options, hx_mesh *mesh,
                hx_conditions *conditions, hx_notes *notes);
} hx_model_format;

/* CAD models (cad_files.c), and meshes that gmsh converts (converter_files.c); each list ends with
 * a row without a name. */
extern const hx_model_format hx_cad_formats[];
extern const hx_model_format hx_converter_formats[];

/* Returns the row of a file: among those of its extension, without regard to case, the first one
 * whose head matches or that has no head; none if its first bytes are those of a mesh file;
 * otherwise by its first bytes. NULL: hx_mesh_read reads or refuses it. */
const hx_model_format *hx_model_format_of_file(const char *path);

/* Returns 1 if hx_model_read reads the file or refuses it by its format: a mesh, a model or a file
 * of another program, by its head or its name; 0: it may be a config. */
int hx_model_is_file(const char *path);
/* Returns 1 if it is a CAD model, for which an element size can be given. */
int hx_model_is_cad(const char *path);

/* Reads a raw mesh from any of these files, like hx_mesh_read. HX_EENV: the required program is not
 * installed. */
int hx_model_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
