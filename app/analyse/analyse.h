/* The part as it is, or a result, analysed: what `hextop analyse` prints and writes. */
#ifndef HX_ANALYSE_H
#define HX_ANALYSE_H

#include "../session/place.h"
#include "../session/result_path.h"
#include "../session/session.h"
#include "../session/solid_design.h"
#include "../text/options.h"
#include "core/base/atomic_file.h"
#include "core/files/vtk_fields.h"
#include "core/stress/stress.h"

/* The options of `hextop analyse`. */
enum {
    HX_ANALYSE_DENSITY,
    HX_ANALYSE_BLACK_WHITE,
    HX_ANALYSE_SOLID_ONLY,
    HX_ANALYSE_THRESHOLD,
    HX_ANALYSE_PRESERVE,
    HX_ANALYSE_VTK,
    HX_ANALYSE_POINTS,
    HX_ANALYSE_OUTPUT
};

/* Largest values of a case; of heat the highest temperature, the lowest, flux at points and nodes.
 */
typedef enum {
    HX_PEAK_DISPLACEMENT,
    HX_PEAK_VON_MISES, /* at a Gauss point */
    HX_PEAK_TENSION,   /* first principal stress at a Gauss point */
    HX_PEAK_COMPRESSION /* third, the most negative */,
    HX_PEAK_NODE, /* von Mises at a node */
    HX_N_PEAK
} hx_analyse_peak_kind;

typedef struct hx_analyse_peak {
    int is_set;
    double value;
    hx_place place; /* of a Gauss point its element */
    int point;      /* Gauss point of the element, from 1; 0: none */
    double x[3];
} hx_analyse_peak;

/* Sums over nodes; moments are about the origin. Of heat force[0]. */
typedef struct hx_analyse_sum {
    double force[3], moment[3];
} hx_analyse_sum;

typedef struct hx_analyse_case {
    double compliance, strain_energy;
    hx_pcg_result pcg;
    hx_analyse_sum load, reaction, spring, film; /* on the part; film: heat to the fluid */
    hx_analyse_sum held;                         /* of `reaction`, by points of rigid sets */
    hx_analyse_sum balance;                      /* all of them together: 0 */
    double size;                                 /* sum of the sizes of forces and reactions */
    hx_analyse_sum *support, *spring_of;         /* [supports], [springs] of the config (owned) */
    hx_analyse_peak peak[HX_N_PEAK];
} hx_analyse_case;

typedef struct hx_analyse {
    hx_session whole, solid; /* of the config's mesh; of the solid alone, which reads it again */
    hx_session *session;     /* the one that is analysed */
    hx_result_path path;     /* of the result */
    const char *result;      /* path of the VTK file; NULL: the part as it is (in `path`) */
    int is_black_white, solid_only, threshold_given;
    double threshold; /* as given, or NaN */
    unsigned preserve;
    hx_solid_design design; /* with `result` */
    double *rho, *modulus;  /* [n_elem] of what is analysed (owned) */
    uint8_t *is_counted;    /* [n_elem] largest values are looked for here (owned) */
    uint8_t *counted_node;  /* [n_node] likewise (owned) */
    int64_t n_counted;
    double volume, mass; /* sums of the density; mass NaN without material.density */
    double compliance;   /* weighted sum */
    hx_stress stress;
    hx_nodal_stress nodal;
    hx_analyse_case *load_case; /* [cases] (owned) */
    double *u, *reaction;       /* [n_point][components] scratch (owned) */
    hx_fields fields;           /* of the file that --vtk names */
    int with_fields;
    double seconds[3]; /* solves, stresses, the table of points */
    size_t n_warning;
    char *warning[16]; /* as printed (owned) */
} hx_analyse;

/* Config, mesh, problem, densities and solver. The caller zeroed a. HX_EINPUT: what `hextop check`
 * refuses, a file that does not belong to the mesh, options that say nothing together. */
int hx_analyse_open(hx_analyse *a, const hx_options *options);

/* All cases. with_fields: a->fields gets theirs; points: a table of every Gauss point goes there,
 * NULL: none. HX_ENUMERIC: not finite. */
int hx_analyse_solve(hx_analyse *a, int with_fields, FILE *points);

/* Keeps the value if it is larger than what the peak has. number: of the element if point > 0, else
 * of the node. */
void hx_analyse_offer(hx_analyse_peak *peak, double value, int64_t number, int point,
                      const double x[3]);

/* Sums of the case's loads, reactions, springs and films; a->reaction is left with the reactions at
 * fixed degrees of freedom, 0 elsewhere. After its solve, with a->u of it. */
int hx_analyse_sum_forces(hx_analyse *a, int load_case);

/* The table's head and the rows of some cells. */
void hx_analyse_write_head(const hx_analyse *a, FILE *stream);
void hx_analyse_write_points(const hx_analyse *a, int load_case, int64_t first, int64_t n,
                             const hx_cell_stress *cell, FILE *stream);

/* Tables and warnings on the terminal; the same as JSON. */
void hx_analyse_print(hx_analyse *a);
int hx_analyse_write(const hx_analyse *a, const char *path);

/* "as it is", "grey", "0/1", "solid only": of JSON and tables. */
const char *hx_analyse_design_name(const hx_analyse *a);

void hx_analyse_free(hx_analyse *a);

#endif
