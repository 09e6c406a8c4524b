/* The output directory of a run and the VTK files in it. */
#ifndef HX_OUTPUT_H
#define HX_OUTPUT_H

#include "../session/session.h"
#include "core/files/vtk_fields.h"

typedef struct hx_output_ranks hx_output_ranks; /* output_ranks.h */
typedef struct hx_trace hx_trace;               /* trace.h */

/* Of n_elem elements and n_node nodes: the mesh's, or with a team the piece that this process
 * writes (output_ranks.h), in the order of the file; own: what it solves, a share of them. */
typedef struct hx_output {
    hx_session *session;   /* (borrowed) */
    const char *directory; /* (borrowed) */
    hx_vtk_format format;
    hx_output_ranks *ranks; /* of a run by several processes; NULL: one (owned) */
    hx_fields fields;       /* memory for all fields, taken before the first iteration */
    double *physical;       /* [n_elem] density of the design just analysed (owned) */
    double *whole;          /* [n_elem of the mesh] of the leader; in one process `physical` */
    double *scalar;         /* [own n_elem] a field on its way from the device (owned) */
    double *density;        /* [n_elem], these in `fields`; NULL if not asked for */
    float *sensitivity, *energy;
    double **displacement;        /* [n_case] -> [n_node][3] (outer array owned) */
    float **von_mises;            /* [n_case] -> [n_elem] (outer array owned) */
    double **temperature;         /* [n_case] -> [n_node] (outer array owned) */
    float **heat_flux;            /* [n_case] -> [n_elem][3] (outer array owned) */
    double *scratch;              /* [own n_point][components] the unknowns, of fields that are not
                                     these as they are (owned) */
    size_t n_file, file_capacity; /* VTK files of this run, oldest first */
    char **file;                  /* [n_file] names within the directory (owned) */
    double *time;                 /* [n_file] iterations (owned) */
    hx_trace *trace;              /* of output.timeline, once it has begun; or NULL (owned) */
} hx_output;

/* Fails with HX_EENV if the directory could not be written or created; changes nothing. */
int hx_output_probe(const hx_config *cfg);

/* Before the mesh of a run is made: whether all processes see its folder, or the one that it will
 * be made in. Collective. */
int hx_output_ask_folder(hx_session *s);

/* Before anything takes time. HX_EINPUT: the folder of the file cannot be written, or the file is
 * `read`, which the command reads (NULL: nothing). path = NULL: no file is asked for. */
int hx_output_probe_file(const char *path, const char *read);

/* Creates output.directory and tests that a file can be written there. HX_EENV. */
int hx_output_make_directory(const hx_config *cfg);

/* What the output will take, at most. Needs mesh and problem; takes no memory. */
typedef struct hx_output_plan {
    size_t fields, writer; /* bytes held during the run, and in addition while a file is written */
    size_t checkpoint;     /* bytes of a checkpoint, in memory and of each of two files */
    int n_file;            /* VTK files of a run that does all its iterations */
    uint64_t file_bytes;   /* of one of them, binary and whole */
    uint64_t disk_free;    /* bytes that can be written into output.directory; 0: unknown */
} hx_output_plan;
int hx_output_make_plan(hx_session *s, hx_output_plan *plan);

/* Creates the directory, tests that a file can be written there, and takes the memory. With a team
 * by the leader; the others answer (output_ranks.h), here and below. */
int hx_output_open(hx_output *out, hx_session *s);
/* The memory alone. */
int hx_output_take(hx_output *out, hx_session *s);

/* Writes DIR/density_0010.vtk of the design just analysed, and the series file. is_synced: to the
 * disk itself. */
int hx_output_write(hx_output *out, int iteration, int is_synced);
/* The same file under any name, without a series. */
int hx_output_write_as(hx_output *out, int iteration, const char *path);

/* Adds a VTK file of this run, written before, to the series. */
int hx_output_remember(hx_output *out, const char *name, int iteration);

/* Keeps the densities of a design whose analysis failed, in DIR/unfinished_0010.vtk. */
int hx_output_rescue(const hx_output *out, int iteration);

/* Where the disk of DIR is full or DIR is gone: the densities in a new folder
 * hextop-RUN-XXXXXX/density_0010.vtk under TMPDIR, /tmp or HOME, the first that takes them; RUN is
 * the last word of DIR. path[PATH_MAX]: the file. HX_EIO: none does. */
int hx_output_save_elsewhere(const hx_output *out, int iteration, char *path);

/* DIR/name into text; returns it. */
const char *hx_output_path(const hx_output *out, const char *name, char *text, size_t n_text);

/* Removes what an earlier run said of itself (summary, series, timeline), so that it cannot be
 * taken for this run's if this one fails early. What a link of the user leads to is emptied instead
 * if this run will write it. HX_EIO. */
int hx_output_forget(const hx_output *out);

/* Name of the last VTK file, or NULL. */
const char *hx_output_last(const hx_output *out);

/* stress[n_elem]: von Mises at element centres, of the macroscopic stress modulus_e D e(u); u of
 * all points of the space. */
void hx_output_von_mises(const hx_problem *problem, const double *modulus, const double *u,
                         float *stress);

/* flux[n_elem][3]: heat per area and time at element centres, -conductivity grad T. */
void hx_output_heat_flux(const hx_problem *problem, const double *conductivity,
                         const double *temperature, float *flux);

void hx_output_free(hx_output *out);

#endif
