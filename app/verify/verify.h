/* A result analysed twice, grey and 0/1: what `hextop verify` compares. */
#ifndef HX_VERIFY_H
#define HX_VERIFY_H

#include "../doubt/attached.h"
#include "../session/part.h"
#include "../session/place.h"
#include "../session/result_origin.h"
#include "../session/result_path.h"
#include "../session/session.h"
#include "../session/surface_part.h"
#include "../text/options.h"
#include "core/design/black_white.h"
#include "core/files/vtk_fields.h"

typedef enum { HX_VERIFY_GREY, HX_VERIFY_SOLID, HX_N_VERIFY } hx_verify_design;

/* The largest of something. */
typedef struct hx_verify_peak {
    double value;
    int load_case; /* 1-based; 0: there is none */
    hx_place place;
    double point[3]; /* the place, or centre of the element of a stress */
} hx_verify_peak;

typedef struct hx_verify_analysis {
    double compliance, volume;   /* weighted sum over cases; volume fraction, void counting 0 */
    double *case_compliance;     /* [n_case] (owned) */
    hx_verify_peak displacement; /* over all points of solid elements, of heat of all */
    hx_verify_peak stress;       /* von Mises or heat flux, over solid elements */
    hx_pcg_reason reason;        /* the worst of the cases */
    int pcg_iterations;
    double pcg_residual;
} hx_verify_analysis;

/* The options of `hextop verify`. */
enum {
    HX_VERIFY_THRESHOLD,
    HX_VERIFY_PRESERVE,
    HX_VERIFY_TOLERANCE,
    HX_VERIFY_ELEMENT,
    HX_VERIFY_VTK,
    HX_VERIFY_OUTPUT,
    HX_VERIFY_SURFACE,
    HX_VERIFY_REFINE,
    HX_VERIFY_MESHER
};

/* The 0/1 design with quadratic elements. */
typedef struct hx_verify_quadratic {
    int asked;
    int solid_only; /* of the largest solid piece alone, without void */
    size_t bytes;   /* that it takes, counted before */
    int64_t n_elem, n_point;
    char element[64]; /* "hex20 and tet10" */
    char solver[64];  /* operator and preconditioner */
    double seconds;
    hx_verify_analysis analysis;
} hx_verify_quadratic;

/* The part that --surface encloses, of quadratic tetrahedra. */
typedef struct hx_verify_surface {
    const char *path; /* NULL: not asked for (borrowed) */
    hx_surface_options options;
    hx_surface_part part;
    size_t bytes;
    int64_t n_point;
    char element[64], solver[64];
    double seconds; /* of the analysis; part.seconds of the mesh */
    hx_verify_analysis analysis;
} hx_verify_surface;

typedef struct hx_verify {
    hx_session session;
    hx_result_path path;         /* of the result, and of the config beside it (owned) */
    const char *result;          /* the VTK file (borrowed from path) */
    const char *config;          /* the config's file (borrowed) */
    size_t n_override;           /* KEY=VALUE */
    const char *const *override; /* [n_override] (borrowed) */
    hx_result_part part; /* what is solid or void whatever its density, and the volume asked for */
    unsigned preserve;   /* HX_PRESERVE_* */
    double threshold;    /* free elements are solid from this density on */
    int threshold_given; /* not the one that keeps the volume */
    double tolerance;    /* of a difference, in percent */
    double *density;     /* [n_elem] of the file (owned) */
    double *black_white; /* [n_elem] 1 or rho_min (owned) */
    uint8_t *is_solid;   /* [n_elem] (owned) */
    int64_t n_missing;   /* elements that the file lacks: taken as rho_min */
    hx_result_origin origin;
    int64_t n_solid;
    int64_t n_filled;        /* of those, below the threshold: solid by `part` alone */
    double volume;           /* of the 0/1 design's solid elements (length^3) */
    hx_attached attached;    /* its pieces, and which of them nodes are on */
    int64_t n_face_piece;    /* pieces joined by faces alone */
    int64_t n_surface_piece; /* pieces of the surface, of meshes with tetrahedra; -1: not cut */
    hx_verify_analysis analysis[HX_N_VERIFY];
    hx_verify_quadratic quadratic;
    hx_verify_surface surface;
    double *u, *modulus; /* [n_point][components], [n_elem] scratch (owned) */
    float *stress;       /* [n_elem] scratch; of heat the length of the flux (owned) */
    float *flux;         /* [n_elem][3] of heat (owned) */
    hx_fields fields;    /* of the file that --vtk names */
    size_t n_warning;
    char warning[64][512]; /* as printed */
} hx_verify;

/* Result and config, by the arguments: RESULT [CONFIG] [KEY=VALUE ...]. The caller zeroed v.
 * HX_EINPUT: what is not there. */
int hx_verify_locate(hx_verify *v, const hx_options *options);

/* After that: mesh, problem and solver of the config, densities of the result, the 0/1 design and
 * its pieces. HX_EINPUT: what `hextop check` refuses, a file that does not belong to the mesh,
 * options that are no numbers. */
int hx_verify_open(hx_verify *v, const hx_options *options);

/* The words of --element: hx_verify_element. */
typedef enum {
    HX_VERIFY_LINEAR,
    HX_VERIFY_QUADRATIC,
    HX_VERIFY_QUADRATIC_SOLID,
    HX_N_VERIFY_ELEMENT
} hx_verify_element;
const char *hx_verify_element_word(size_t i); /* NULL past the last */

/* Keeps the largest displacement, or temperature, of a case in the peak if it is larger than that of
 * the cases before. u[n_point][components]; is_counted[n_elem]: points of these cells only, NULL: of
 * all. The maps are those of hx_place_of. */
void hx_verify_offer_displacement(const hx_space *space, const hx_mesh *mesh,
                                  const int32_t *node_map, const int32_t *elem_map,
                                  const uint8_t *is_counted, int components, int load_case,
                                  const double *u, hx_verify_peak *peak);

/* Both analyses; with_fields: v->fields gets the 0/1 design's. HX_ENUMERIC: not finite. */
int hx_verify_analyse(hx_verify *v, int with_fields);

/* Of heat: u[n_point] from unknowns to temperatures, flux[n_elem][3] and its size[n_elem]. */
void hx_verify_find_fluxes(const hx_problem *problem, const double *modulus, double *u, float *flux,
                           float *size);

/* v->quadratic of the 0/1 design, after both; the session's solver is gone then. HX_EENV: neither
 * the whole mesh nor the solid alone fits; of heat the whole, since void conducts too. */
int hx_verify_analyse_quadratic(hx_verify *v);

/* v->surface of the file that --surface names: mesh and sets, checked before anything is solved;
 * then its analysis, after the others. HX_EINPUT: hx_surface_part_create. HX_EENV: it does not fit.
 */
int hx_verify_open_surface(hx_verify *v);

/* Pieces that faces join, and with tetrahedra those of the surface at the solid's volume
 * (verify_hinges.c). O(n_elem). */
int hx_verify_count_pieces(hx_verify *v);
int hx_verify_analyse_surface(hx_verify *v);
void hx_verify_surface_free(hx_verify_surface *surface);

/* The table, the warnings' text one by one (NULL past the last; returns text), and the JSON of it.
 */
void hx_verify_print_surface(const hx_verify *v);
const char *hx_verify_warn_surface(const hx_verify *v, size_t i, char *text, size_t n_text);
void hx_verify_write_surface(hx_json *json, const hx_verify *v);

/* Of the report: one analysis, and two compared, as JSON objects. */
void hx_verify_write_analysis(hx_json *json, const hx_verify *v, const char *key,
                              const hx_verify_analysis *a);
void hx_verify_write_differences(hx_json *json, const hx_verify *v, const hx_verify_analysis *a,
                                 const hx_verify_analysis *b);
void hx_verify_print_pair(const hx_verify *v, const char *const name[2],
                          const hx_verify_analysis *a, const hx_verify_analysis *b);

/* How quadratic elements are solved: operators and preconditioners to choose from, by themselves
 * the one that stores least; and the device bytes of an analysis of the problem. */
hx_solver_params hx_verify_solver_params(const hx_verify *v);
int hx_verify_count_bytes(const hx_verify *v, const hx_problem *problem, hx_device *device,
                          size_t *bytes);

/* Share of a case's force, by magnitude, at nodal points whose elements are all below the threshold,
 * some of them solid only because of `part`. */
double hx_verify_filled_force(const hx_verify *v, int load_case);

/* 100 (b - a) / |a|; 0 if both are 0, NaN if a is. */
double hx_verify_percent(double a, double b);

/* Tables and warnings on the terminal; the same as JSON. */
void hx_verify_print(hx_verify *v);
int hx_verify_write(const hx_verify *v, const char *path);

void hx_verify_free(hx_verify *v);

#endif
