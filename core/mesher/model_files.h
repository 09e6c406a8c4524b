/* All files from which a mesh can be made: meshes (files/mesh_files.h), CAD models, which are
 * meshed, and meshes that another program converts. Commands that read a mesh for a user call
 * this. */
#ifndef HX_MODEL_FILES_H
#define HX_MODEL_FILES_H

#include "../base/notes.h"
#include "../files/mesh_files.h"
#include "../mesh/mesh.h"
#include "../problem/conditions.h"

HX_C_BEGIN

/* Whether a CAD model is meshed on one side of its mirror planes, and that mesh mirrored: always;
 * or, for a model that may not be symmetric, if its halves agree. */
typedef enum { HX_MIRROR_OFF, HX_MIRROR_ON, HX_MIRROR_TRY } hx_mirror_mode;

enum { HX_MOST_MIRRORS = 3 };

typedef struct hx_mirror_plane {
    double point[3], normal[3]; /* length; any length above 0. The side of the normal is meshed */
} hx_mirror_plane;

/* Facts about a meshed CAD model. */
typedef struct hx_cad_facts {
    double element_size; /* requested, or automatic */
    int64_t n_solid, n_face, n_elem;
    double worst, median; /* scaled Jacobian of the elements */
    double volume;        /* of the model, not of its mesh; 0: not known */
    int n_mirror;         /* planes at which the mesh is its own mirror image; 0: none */
    hx_mirror_plane mirror[HX_MOST_MIRRORS]; /* unit normals */
    int is_uneven; /* 1, after HX_EINPUT: the reason is that the model cannot be mirrored as stated */
} hx_cad_facts;

/* A zeroed struct with merge = NaN selects the defaults. */
typedef struct hx_model_options {
    double merge;            /* like in mesh_check.h: NaN, 0 or a distance */
    double element_size;     /* for CAD models (length); 0: automatic, from the volume */
    hx_mirror_mode mirrored; /* for CAD models */
    /* planes of the mirrored mesh, perpendicular to each other; n_plane = 0: those normal to the
     * axes through the centroid at which the halves agree */
    int n_plane;
    hx_mirror_plane plane[HX_MOST_MIRRORS];
    double time_limit; /* time limit for another program, in seconds; 0: HX_MODEL_TIME_LIMIT */
    /* file in which the mesh of a CAD model is kept, whose name ends with .msh; its folder is made
     * if it is missing; NULL: the mesh is not kept */
    const char *keep;
    /* a second file that may already hold the kept mesh and is only read; NULL: none */
    const char *kept;
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
     * options->merge; reading an intermediate file with hx_mesh_read does this. conditions and
     * notes may be NULL. Messages name `path`. */
    int (*read)(const char *path, const hx_model_options *options, hx_mesh *mesh,
                hx_conditions *conditions, hx_notes *notes);
} hx_model_format;

/* CAD models (cad_files.c), and meshes that gmsh converts (converter_files.c); each list ends with
 * a row without a name. */
extern const hx_model_format hx_cad_formats[];
extern const hx_model_format hx_converter_formats[];

/* Returns the row that reads a file: the first row with the file's extension (regardless of case)
 * whose head matches or that has no head. If there is none, the first bytes decide. If they are
 * those of a mesh file, there is no row. NULL: hx_mesh_read reads or refuses the file. */
const hx_model_format *hx_model_format_of_file(const char *path);

/* Returns 1 if, by its head or its name, the file is a mesh, a model or a file of another program,
 * so that hx_model_read reads it or refuses its format; 0: it may be a config. */
int hx_model_is_file(const char *path);
/* Returns 1 if the file is a CAD model, for which an element size can be given. */
int hx_model_is_cad(const char *path);

/* Reads a raw mesh from any of these files, like hx_mesh_read. HX_EENV: the required program is not
 * installed. */
int hx_model_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions, hx_notes *notes);

HX_C_END

#endif
