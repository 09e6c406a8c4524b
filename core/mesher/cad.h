/* Meshing of CAD models: the model's unit, its solids, and the mesh that is kept for it. Shared by
 * the files of this room; outside it, only app reads the unit. */
#ifndef HX_CAD_H
#define HX_CAD_H

#include <stdint.h>
#include <stdio.h>

#include "gmsh_program.h"
#include "model_files.h"
#include "stl.h"

enum { HX_CAD_UNIT = 32, HX_CAD_TETS = 100000 };

/* Reads the unit of length of a model from its text: "mm", "in", "m", ...; "" if the format (BREP,
 * STL) or the file has none; "several" if parts of the file have different units. Gmsh's kernel
 * converts STEP and IGES to mm in any case. HX_EINPUT: the file cannot be read. O(bytes). */
int hx_cad_unit(const char *path, char unit[HX_CAD_UNIT]);

/* A solid: its bounding box, its volume and its name in the file ("": none). */
typedef struct hx_cad_solid {
    double box[6];    /* min, max (mm) */
    double volume;    /* mm^3 */
    double centre[3]; /* of a solid of the file (mm) */
    char name[128];
    int64_t source; /* for a meshed solid, the solid of the file that it is part of */
} hx_cad_solid;

/* The model in the scratch folder, as shape.brep. Solids that touch are cut along each other. */
typedef struct hx_cad_shape {
    size_t n_source, n_label;
    hx_cad_solid *source; /* [n_source] solids in the file (owned) */
    int64_t n_solid, n_face;
    double volume, area; /* mm^3, mm^2 */
    hx_stl *stl;         /* for an STL file, which has no shape.brep (owned) */
    /* 1: edges were sewn and small faces repaired, because the file could not be read otherwise */
    int is_healed;
} hx_cad_shape;

typedef struct hx_cad_halves hx_cad_halves;

typedef struct hx_cad_job {
    const char *path; /* as given by the caller, for messages */
    const hx_model_options *options;
    const hx_gmsh_program *program;
    const char *folder; /* scratch folder */
    hx_notes *notes;
    const hx_cad_halves
        *halves; /* the planes at which the mesh is mirrored; NULL: none (borrowed) */
} hx_cad_job;

/* gmsh's job with these options in the scratch folder. */
hx_gmsh_job hx_cad_gmsh_job(const hx_cad_job *job, const char *const *option);

/* Reads the model with gmsh; `file` is its name in the scratch folder. HX_EINPUT: gmsh cannot read
 * it, or there is no solid. */
int hx_cad_inspect(const hx_cad_job *job, const char *file, hx_cad_shape *shape);
void hx_cad_shape_free(hx_cad_shape *shape);

/* Meshes shape.brep with elements of `size`. Makes a raw mesh with the sets face-1, ..., solid-1,
 * ... and sets with the names in the file. */
int hx_cad_mesh(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh);

/* Adds sets for the names in a STEP file, in addition to face-1, ... and solid-1, ... A name
 * becomes a set if all of its faces or solids are found in the mesh; names left out are noted. Call
 * it before hx_mesh_finish. O(bytes). */
int hx_cad_add_names(const hx_cad_job *job, hx_mesh *mesh);

/* *has := 1 if the STEP file names any face or solid. O(bytes). */
int hx_cad_has_names(const hx_cad_job *job, int *has);

/* Converts a name to one that is valid in a config and in a mesh file: no quotes, no control
 * characters. */
void hx_cad_clean_name(const char *from, char *to, size_t n_to);

/* Sorts the sets: names from the file, then solid-1, ..., then face-1, ... */
void hx_cad_sort_sets(hx_mesh *mesh);

/* hx_cad_inspect() for STL files: closed surfaces, which are divided into face-1, ... where they
 * bend by more than HX_STL_ANGLE. */
int hx_cad_inspect_stl(const hx_cad_job *job, hx_cad_shape *shape);
int hx_cad_mesh_stl(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh);

/* stl := new triangles of `size` along the surface `old` of several shells, which is surface.msh in
 * the scratch folder. Shells, faces and solids keep their numbers. The caller frees it. HX_EINPUT:
 * gmsh makes no triangles. */
int hx_cad_remesh_stl(const hx_cad_job *job, const hx_stl *old, double size, hx_stl *stl,
                      hx_gmsh_result *result);

/* Writes gmsh's options for elements of `size` inside a surface of triangles. */
void hx_cad_write_stl_sizes(FILE *f, double size);

/* hx_cad_count estimates the number of tetrahedra for a size; hx_cad_size estimates the size for a
 * number of tetrahedra, rounded to three digits. */
double hx_cad_count(const hx_cad_shape *shape, double size);
double hx_cad_size(const hx_cad_shape *shape, double count);

/* Rounds a size to three digits. */
double hx_cad_round_size(double size);

/* The header of a kept mesh; the rest is a mesh file of Gmsh. */
typedef struct hx_cad_record {
    uint64_t key;      /* hash of the model's bytes and the options */
    uint64_t key_auto; /* the same hash for an automatic size; 0: the size was given */
    char version[32];  /* version of gmsh */
    char model[128];   /* name of the file without its folders; "": not recorded */
    hx_cad_facts facts;
    int is_tried;  /* 1: it was examined whether the halves agree */
    int is_stated; /* 1: the planes were given, not found */
} hx_cad_record;

/* Computes the key of a model with that size (0: automatic), mirrored at the planes of the options
 * (NULL: not mirrored). */
int hx_cad_key(const char *path, double size, const hx_model_options *mirrored, uint64_t *key);

/* Returns 1 if the file `keep` is complete and holds the mesh of that key; *record is then
 * filled. */
int hx_cad_is_kept(const char *keep, uint64_t key, hx_cad_record *record);

/* Returns 1 if the file `keep` is complete and, according to its header, holds the mesh of a model
 * of that name with the size (0: any) and the planes of the options. The model's bytes are not
 * compared, because its file no longer exists. */
int hx_cad_is_left(const char *keep, const char *model, const hx_model_options *options,
                   hx_cad_record *record);

/* Writes the header and the mesh file `from` to `keep` atomically; makes its folder. */
int hx_cad_keep(const char *keep, const char *from, const hx_cad_record *record);

#endif
