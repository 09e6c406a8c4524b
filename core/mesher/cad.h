/* A CAD model as the way to its mesh: its unit, its solids, and the mesh that is kept of it. Shared
 * by the files of this room; of others only app reads the unit. */
#ifndef HX_CAD_H
#define HX_CAD_H

#include <stdint.h>
#include <stdio.h>

#include "gmsh_program.h"
#include "model_files.h"
#include "stl.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_CAD_UNIT = 32, HX_CAD_TETS = 100000 };

/* The unit of length that a model is drawn in, by its text: "mm", "in", "m", ...; "" where the
 * format (BREP, STL) or the file has none; "several" of a file whose parts differ. Gmsh's kernel
 * turns STEP and IGES into mm whatever it is. HX_EINPUT: it cannot be read. O(bytes). */
int hx_cad_unit(const char *path, char unit[HX_CAD_UNIT]);

/* A solid: its box, its volume and the name in the file ("" : none). */
typedef struct hx_cad_solid {
    double box[6]; /* min, max (mm) */
    double volume; /* mm^3 */
    char name[128];
    int64_t source; /* of a meshed solid, the solid of the file that it is a part of */
} hx_cad_solid;

/* The model in the scratch folder, as shape.brep: solids that touch cut along each other. */
typedef struct hx_cad_shape {
    size_t n_source, n_label;
    hx_cad_solid *source; /* [n_source] solids as the file has them (owned) */
    int64_t n_solid, n_face;
    double volume, area; /* mm^3, mm^2 */
    hx_stl *stl;         /* of an STL file, which has no shape.brep (owned) */
    int is_healed;       /* edges sewn, small faces mended: it would not be read otherwise */
} hx_cad_shape;

typedef struct hx_cad_job {
    const char *path; /* as given, for messages */
    const hx_model_options *options;
    const hx_gmsh_program *program;
    const char *folder; /* scratch */
    hx_notes *notes;
} hx_cad_job;

/* Lets gmsh read the model, whose name in the scratch folder is `file`. HX_EINPUT: it does not, or
 * there is no solid. */
int hx_cad_inspect(const hx_cad_job *job, const char *file, hx_cad_shape *shape);
void hx_cad_shape_free(hx_cad_shape *shape);

/* Meshes shape.brep with elements of `size`: a raw mesh with the sets face-1, ..., solid-1, ... and
 * those of the file's names. */
int hx_cad_mesh(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh);

/* Of a STEP file: each name of faces or of solids in it that are all found in the mesh is a set of
 * them, besides face-1, ... and solid-1, ... What is left out is noted. Before hx_mesh_finish.
 * O(bytes). */
int hx_cad_add_names(const hx_cad_job *job, hx_mesh *mesh);

/* A name as it can stand in a config and a file: no quotes, no control characters. */
void hx_cad_clean_name(const char *from, char *to, size_t n_to);

/* The order of sets: further names, then solid-1, ..., then face-1, ... */
void hx_cad_sort_sets(hx_mesh *mesh);

/* The same of STL files: surfaces that are closed, face-1, ... where they bend by more than
 * HX_STL_ANGLE. */
int hx_cad_inspect_stl(const hx_cad_job *job, hx_cad_shape *shape);
int hx_cad_mesh_stl(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh);

/* *stl := new triangles of `size` along the surface `old` of several shells, which lies in the
 * scratch folder as surface.msh; shells, faces and solids keep their numbers. The caller's to
 * free. HX_EINPUT: gmsh makes none. */
int hx_cad_remesh_stl(const hx_cad_job *job, const hx_stl *old, double size, hx_stl *stl,
                      hx_gmsh_result *result);

/* Writes gmsh's options for elements of `size` in a surface of triangles. */
void hx_cad_write_stl_sizes(FILE *f, double size);

/* About how many tetrahedra a size gives; the size that gives about so many, of three digits. */
double hx_cad_count(const hx_cad_shape *shape, double size);
double hx_cad_size(const hx_cad_shape *shape, double count);

/* Three digits, as one writes a size. */
double hx_cad_round_size(double size);

/* What the head of a kept mesh says; the rest is a mesh file of Gmsh. */
typedef struct hx_cad_record {
    uint64_t key;      /* of the model's bytes and the options */
    uint64_t key_auto; /* the same with a size that is chosen; 0: it was given */
    char version[32];  /* gmsh's */
    char model[128];   /* the file's name without its folders; "": not said */
    hx_cad_facts facts;
} hx_cad_record;

/* Key of a model with that size (0: chosen). */
int hx_cad_key(const char *path, double size, uint64_t *key);

/* 1 if `keep` is whole and holds the mesh of that key; *record is filled. */
int hx_cad_is_kept(const char *keep, uint64_t key, hx_cad_record *record);

/* 1 if `keep` is whole and by its head the mesh of a model of that name with that size (0: any),
 * whose bytes are not there to be compared. */
int hx_cad_is_left(const char *keep, const char *model, double size, hx_cad_record *record);

/* Writes head and the mesh file `from` to `keep` at once; makes its folder. */
int hx_cad_keep(const char *keep, const char *from, const hx_cad_record *record);

#ifdef __cplusplus
}
#endif

#endif
