/* The output directory of a run and its VTK files. */
#ifndef HX_OUTPUT_H
#define HX_OUTPUT_H

#include "../session/session.h"
#include "core/files/vtk_fields.h"

typedef struct hx_output_dist hx_output_dist; /* output_dist.h */
typedef struct hx_trace hx_trace;             /* trace.h */

/* n_elem and n_node refer to the mesh; in a run of several processes, to the piece that this
 * process writes (output_dist.h), in the order of the file. "own" refers to the subdomain that this
 * process solves. */
typedef struct hx_output {
    hx_session *session;   /* (borrowed) */
    const char *directory; /* (borrowed) */
    hx_vtk_format format;
    hx_output_dist *dist; /* in a run of several processes; NULL: one process (owned) */
    hx_fields fields;     /* memory of all fields, allocated before the first iteration */
    double *physical;     /* [n_elem] density of the design just analysed (owned) */
    /* [n_elem of the mesh] densities on process 0; with one process the same as `physical` */
    double *whole;
    double *scalar;  /* [own n_elem] a field that is copied from the device (owned) */
    double *density; /* [n_elem], in `fields`, like the next two; NULL if not requested */
    float *sensitivity, *energy;
    double **displacement; /* [n_case] -> [n_node][3] (outer array owned) */
    float **von_mises;     /* [n_case] -> [n_elem] (outer array owned) */
    double **temperature;  /* [n_case] -> [n_node] (outer array owned) */
    float **heat_flux;     /* [n_case] -> [n_elem][3] (outer array owned) */
    /* [own n_point][components] the unknowns, for fields that are derived from them (owned) */
    double *scratch;
    size_t n_file, file_capacity; /* VTK files of this run, oldest first */
    char **file;                  /* [n_file] names within the directory (owned) */
    double *time;                 /* [n_file] iteration numbers (owned) */
    hx_trace *trace;              /* with output.timeline, once it has begun; else NULL (owned) */
} hx_output;

/* HX_EENV: the directory can be neither written nor created. Changes nothing. */
int hx_output_probe(const hx_config *cfg);

/* Determines whether all processes see the output folder, or the folder in which it will be
 * created. Called before the mesh is made. Collective. */
int hx_output_query_folder(hx_session *s);

/* Creates output.directory and tests that a file can be written there. HX_EENV. */
int hx_output_make_directory(const hx_config *cfg);

/* Upper bounds of what the output needs. Needs mesh and problem; allocates nothing. */
typedef struct hx_output_plan {
    size_t fields, writer; /* bytes held during the run; additional bytes while a file is written */
    size_t checkpoint;     /* bytes of a checkpoint, in memory and of each of two files */
    int n_file;            /* number of VTK files of a run that does all its iterations */
    uint64_t file_bytes;   /* bytes of one of them, if binary and of all elements */
    uint64_t disk_free;    /* bytes that can be written into output.directory; 0: unknown */
} hx_output_plan;
int hx_output_make_plan(hx_session *s, hx_output_plan *plan);

/* Creates the directory, tests that a file can be written there, and allocates the memory. In a run
 * of several processes this function and those that write a file are collective. */
int hx_output_open(hx_output *out, hx_session *s);
/* Only allocates memory. */
int hx_output_take(hx_output *out, hx_session *s);

/* Writes DIR/density_0010.vtk of the design just analysed, and the series file. is_synced: also
 * syncs the file to the disk. */
int hx_output_write(hx_output *out, int iteration, int is_synced);
/* Writes the same file under any name, without a series. */
int hx_output_write_as(hx_output *out, int iteration, const char *path);

/* Adds an existing VTK file of this run to the series, as its last. */
int hx_output_remember(hx_output *out, const char *name, int iteration);

/* Writes the densities of a design whose analysis failed to DIR/unfinished_0010.vtk. */
int hx_output_rescue(const hx_output *out, int iteration);

/* Saves the densities if the disk of DIR is full or DIR is gone. The file is
 * hextop-RUN-XXXXXX/density_0010.vtk in a new folder under TMPDIR, /tmp or HOME, whichever can be
 * written first; RUN is the last component of DIR. path[PATH_MAX] receives the file name. HX_EIO:
 * none can be written. */
int hx_output_save_elsewhere(const hx_output *out, int iteration, char *path);

/* Writes DIR/name into text; returns it. */
const char *hx_output_path(const hx_output *out, const char *name, char *text, size_t n_text);

/* Removes the report files of an earlier run (summary, series, timeline). If this run fails early,
 * they could be mistaken for its own. If such a name is a link made by the user and this run will
 * write the file, the target is emptied instead. HX_EIO. */
int hx_output_reset(const hx_output *out);

/* Name of the last VTK file, or NULL. */
const char *hx_output_last(const hx_output *out);

/* stress[n_elem]: von Mises stress at element centres of the macroscopic stress modulus_e D e(u). u
 * has all points of the space. */
void hx_output_von_mises(const hx_problem *problem, const double *modulus, const double *u,
                         float *stress);

/* flux[n_elem][3]: heat flux -conductivity grad T at element centres. */
void hx_output_heat_flux(const hx_problem *problem, const double *conductivity,
                         const double *temperature, float *flux);

void hx_output_free(hx_output *out);

#endif
