/* What `hextop analyse` computes, prints and writes: an analysis of the part as meshed, or of a
 * result. */
#ifndef HX_ANALYSE_H
#define HX_ANALYSE_H

#include "../result/solid_design.h"
#include "../session/place.h"
#include "../session/result_path.h"
#include "../session/session.h"
#include "../text/options.h"
#include "analyse_modes.h"
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
    HX_ANALYSE_MODES,
    HX_ANALYSE_OUTPUT
};

/* Largest values of a load case. For heat they stand, in this order, for the highest temperature,
 * the lowest temperature, the heat flux at a Gauss point, and the heat flux at a node. */
typedef enum {
    HX_PEAK_DISPLACEMENT,
    HX_PEAK_VON_MISES, /* at a Gauss point */
    HX_PEAK_TENSION,   /* first principal stress at a Gauss point */
    HX_PEAK_COMPRESSION /* third principal stress, the most negative one, at a Gauss point */,
    HX_PEAK_NODE, /* von Mises stress at a node */
    HX_N_PEAK
} hx_analyse_peak_kind;

typedef struct hx_analyse_peak {
    int is_set;
    double value;
    hx_place place; /* for a Gauss point, the place of its element */
    int point;      /* Gauss point of the element, from 1; 0: none */
    double x[3];
} hx_analyse_peak;

/* Sums over nodes; moments are about the origin. For heat only force[0] is used. */
typedef struct hx_analyse_sum {
    double force[3], moment[3];
} hx_analyse_sum;

typedef struct hx_analyse_case {
    double compliance, strain_energy;
    hx_pcg_result pcg;
    /* forces on the part; film: convection, that is, heat to the fluid */
    hx_analyse_sum load, reaction, spring, film;
    hx_analyse_sum held;    /* part of `reaction` that acts through points of rigid sets */
    hx_analyse_sum balance; /* sum of all of these, which is 0 up to rounding and the residual */
    double size;            /* sum of the magnitudes of forces and reactions */
    hx_analyse_sum *support, *spring_of; /* [supports], [springs] of the config (owned) */
    hx_analyse_peak peak[HX_N_PEAK];
} hx_analyse_case;

typedef struct hx_analyse {
    hx_session whole, solid; /* `solid` contains only the solid; its mesh is read a second time */
    hx_session *session;     /* the session that is analysed */
    hx_output_names outputs; /* files that the command writes */
    hx_result_path path;     /* of the result */
    const char *result;      /* path of the VTK file (in `path`); NULL: the part as meshed */
    int is_black_white, solid_only, threshold_given;
    double threshold; /* the value of --threshold, or NaN */
    unsigned preserve;
    hx_solid_design design; /* with `result` */
    double *rho, *modulus;  /* [n_elem] densities and moduli that are analysed (owned) */
    uint8_t *is_counted;    /* [n_elem] 1: considered for largest values (owned) */
    uint8_t *counted_node;  /* [n_node] 1: considered for largest values (owned) */
    int64_t n_counted;
    double volume, mass; /* sums of the density; mass NaN without material.density */
    double compliance;   /* weighted sum */
    hx_stress stress;
    hx_nodal_stress nodal;
    hx_analyse_case *load_case; /* [cases] (owned) */
    double *u, *reaction;       /* [n_point][components] scratch (owned) */
    hx_fields fields;           /* fields for the file of --vtk */
    int with_fields;
    hx_modes modes;
    hx_notes lacking;  /* why there is no static analysis beside the modes: loads or supports */
    double seconds[3]; /* solves, stresses, the table of points */
    size_t n_warning;
    char *warning[16]; /* as printed (owned) */
} hx_analyse;

/* Reads config, mesh, problem and densities, and sets up the solver. The caller zeroed a.
 * HX_EINPUT: an error that `hextop check` also reports, a file that does not belong to the mesh,
 * options that contradict each other. */
int hx_analyse_open(hx_analyse *a, const hx_options *options);

/* Solves all cases, if loads and supports permit it. with_fields: their fields are added to a->fields. points: stream for a table of
 * every Gauss point; NULL: none. HX_ENUMERIC: the result is not finite. */
int hx_analyse_solve(hx_analyse *a, int with_fields, FILE *points);

/* Finds the modes, if the options ask for them, with the K of hx_analyse_solve. */
int hx_analyse_find_modes(hx_analyse *a);

/* Sums loads, reactions, springs and convection of a case. Called after its solve, with its
 * displacements in a->u. On return a->reaction has the reactions at fixed degrees of freedom, and 0
 * elsewhere. */
int hx_analyse_sum_forces(hx_analyse *a, int load_case);

/* Write the head of the table of Gauss points, and its rows for n cells. */
void hx_analyse_write_head(const hx_analyse *a, FILE *stream);
void hx_analyse_write_points(const hx_analyse *a, int load_case, int64_t first, int64_t n,
                             const hx_cell_stress *cell, FILE *stream);

/* Print tables and warnings on the terminal, and write the same as JSON. */
void hx_analyse_print(hx_analyse *a);
int hx_analyse_write(const hx_analyse *a, const char *path);

/* Name of the design in JSON and tables: "as it is", "grey", "0/1", "solid only". */
const char *hx_analyse_design_name(const hx_analyse *a);

void hx_analyse_free(hx_analyse *a);

#endif
