/* Files that become a mesh, whatever they hold: meshes (files/mesh_files.h), CAD models, which are
 * meshed, and meshes that another program converts. What reads meshes for a user calls this. */
#ifndef HX_MODEL_FILES_H
#define HX_MODEL_FILES_H

#include "../base/notes.h"
#include "../files/mesh_files.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a CAD model. */
typedef struct hx_cad_facts {
    double element_size; /* asked for, or chosen */
    int64_t n_solid, n_face, n_elem;
    double worst, median; /* scaled Jacobian of the elements */
    double volume;        /* of the model, not of its mesh; 0: not known */
} hx_cad_facts;

/* A zeroed struct but for merge = NaN asks for the defaults. */
typedef struct hx_model_options {
    double merge;        /* of mesh_check.h: NaN, 0 or a distance */
    double element_size; /* of CAD models (length); 0: from the volume */
    double time_limit;   /* of another program, seconds; 0: HX_MODEL_TIME_LIMIT */
    const char *keep;    /* where the mesh of a CAD model is kept, a name that ends with .msh, in a
                            folder that is made where it is missing; NULL: nowhere */
    const char *kept;    /* where it may be kept already, besides; only read; or NULL */
    hx_spline_options spline_options;
    hx_spline *spline;   /* of a file of splines, filled, the caller's to free; NULL: the mesh is
                            enough */
    const char *units;   /* that the numbers beside it are in, "N, mm, MPa", to be said; or NULL */
    hx_cad_facts *facts; /* of a CAD model, filled; or NULL */
    int (*is_cancelled)(void *context); /* as in process.h, or NULL */
    void *context;
} hx_model_options;

#define HX_MODEL_TIME_LIMIT 600.0

typedef struct hx_model_format {
    const char *name;      /* "STEP" */
    const char *extension; /* ".step"; several rows share a format's functions */
    /* Whether a file that begins so (512 bytes, then a 0) is one; NULL: its name says it. */
    int (*is_head)(const char *head);
    /* Makes a raw mesh as the readers of mesh_files.h do, with coincident nodes merged as
     * options->merge says (hx_mesh_read of an intermediate file does). conditions and notes may be
     * NULL. The messages name `path`. */
    int (*read)(const char *path, const hx_model_options *options, hx_mesh *mesh,
                hx_conditions *conditions, hx_notes *notes);
} hx_model_format;

/* CAD models (cad_files.c), and meshes that gmsh converts (converter_files.c), each up to a row
 * without a name. */
extern const hx_model_format hx_cad_formats[];
extern const hx_model_format hx_converter_formats[];

/* Which row a file is: of those of its extension, whatever its case, the first whose head it has or
 * that has none; where its first bytes are those of a mesh file, none; else by its first bytes
 * alone. NULL: hx_mesh_read reads it or refuses it. */
const hx_model_format *hx_model_format_of_file(const char *path);

/* 1: hx_model_read reads it or refuses it by what it is: a mesh, a model or a file of another
 * program, by its head or its name; 0: it may be a config. */
int hx_model_is_file(const char *path);
/* 1 if it is a CAD model, which takes an element size. */
int hx_model_is_cad(const char *path);

/* Reads a raw mesh from any of them; as hx_mesh_read. HX_EENV: the program that it takes is not
 * installed. */
int hx_model_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions, hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
