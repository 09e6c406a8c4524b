/* The analyses that `hextop verify` compares: a result with grey densities and as a 0/1 design. */
#ifndef HX_VERIFY_H
#define HX_VERIFY_H

#include "../diag/attached.h"
#include "../result/part.h"
#include "../result/result_origin.h"
#include "../result/surface_part.h"
#include "../session/place.h"
#include "../session/result_path.h"
#include "../session/session.h"
#include "../text/options.h"
#include "../text/shell_word.h"
#include "core/design/black_white.h"
#include "core/design/hinges.h"
#include "core/design/limit_values.h"
#include "core/files/vtk_fields.h"
#include "core/stress/stress.h"
#include "core/surface/surface_thickness.h"

typedef enum { HX_VERIFY_GREY, HX_VERIFY_SOLID, HX_N_VERIFY } hx_verify_design;

/* A largest value and its place. */
typedef struct hx_verify_peak {
    double value;
    int load_case; /* 1-based; 0: not set */
    hx_place place;
    double point[3]; /* coordinates of the point; for a stress, the centre of the element */
} hx_verify_peak;

/* The set of a limit of which a design contains too little to judge it; NULL: it contains enough.
 */
typedef struct hx_verify_share {
    const char *set; /* (borrowed) */
    double value;    /* its share, by area or by nodes */
    int is_loose; /* 1: more of it is solid, but on pieces of the 0/1 design that nothing holds */
} hx_verify_share;

/* Von Mises stresses of all load cases (verify_stress.c). */
typedef struct hx_verify_stress {
    int is_set;             /* 0: not found, as for heat */
    hx_verify_peak outside; /* the largest outside the zones without limits */
    double quantile;        /* 99.9 % of the volume outside the zones has at most this */
    hx_verify_peak inside;  /* the largest in the zones; load_case = 0: there are none */
    /* of the surface: the largest mean, over the tetrahedra in an element that is solid in the 0/1
     * design, outside the zones; it compares with the stress at the centre of that element */
    hx_verify_peak of_element;
} hx_verify_stress;

typedef struct hx_verify_analysis {
    /* weighted sum over cases; volume fraction, where void counts as 0 */
    double compliance, volume;
    double mass;             /* NAN: no density is given */
    double *case_compliance; /* [n_case] (owned) */
    /* [session.limits.n] values of the limited responses; NAN: its set is not there; NULL: not
     * found (owned) */
    double *limit;
    hx_verify_share *share; /* [session.limits.n]; NULL: the design contains all sets (owned) */
    hx_verify_peak displacement; /* over all points of solid elements; for heat, over all points */
    hx_verify_peak stress;       /* von Mises or heat flux, over solid elements */
    hx_verify_stress stresses;
    hx_pcg_reason reason; /* the worst reason of all cases */
    int pcg_iterations;
    double pcg_residual;
} hx_verify_analysis;

/* The part as elements, and as the surface that `hextop surface` cuts. */
typedef enum { HX_VERIFY_THICK_SOLID, HX_VERIFY_THICK_SURFACE, HX_N_VERIFY_THICK } hx_verify_thick;

/* NAN: there is no member or gap. */
typedef struct hx_verify_thickness {
    int is_set; /* 0: not measured, because no surface can be cut */
    hx_thickness member, gap;
} hx_verify_thickness;

/* The options of `hextop verify`. */
enum {
    HX_VERIFY_THRESHOLD,
    HX_VERIFY_PRESERVE,
    HX_VERIFY_TOLERANCE,
    HX_VERIFY_LIMIT_TOLERANCE,
    HX_VERIFY_ELEMENT,
    HX_VERIFY_VTK,
    HX_VERIFY_OUTPUT,
    HX_VERIFY_SURFACE,
    HX_VERIFY_MADE,
    HX_VERIFY_REFINE,
    HX_VERIFY_MESHER
};

/* The 0/1 design analysed with quadratic elements. */
typedef struct hx_verify_quadratic {
    int requested;
    int solid_only; /* 1: only the largest solid piece is analysed, without void */
    size_t bytes;   /* bytes that the analysis needs, counted beforehand */
    int64_t n_elem, n_point;
    char element[64]; /* "hex20 and tet10" */
    char solver[64];  /* operator and preconditioner */
    double seconds;
    hx_verify_analysis analysis;
} hx_verify_quadratic;

/* Whether the surface of the result itself is analysed if --surface gives none. */
typedef enum { HX_MADE_AUTO, HX_MADE_YES, HX_MADE_NO, HX_N_MADE } hx_verify_made_kind;

/* Sharp edges of the surface that no design can round (verify_edges.c). */
typedef struct hx_verify_edges {
    int64_t n;              /* nodes along them whose stresses are not small */
    double radius;          /* stresses nearer than this are not judged */
    hx_verify_peak largest; /* the largest stress at their nodes, which depends on the mesh */
} hx_verify_edges;

enum { HX_VERIFY_PLACES = 3 };

/* A place of a large stress on the surface, whose tetrahedra were split (verify_refined.c). */
typedef struct hx_verify_place {
    double from[3], radius; /* node of the largest stress; tetrahedra within the radius are split */
    int load_case;          /* 1-based */
    int n_split;            /* 0: a load or support acts there, so that nothing was split */
    double value[3];        /* the largest stress there, unsplit, split once, split twice */
    double point[3];        /* place of the last */
    int64_t n_tet;          /* tetrahedra that were solved */
} hx_verify_place;

typedef struct hx_verify_refined {
    int n;
    hx_verify_place place[HX_VERIFY_PLACES]; /* [n] the largest first */
    double *limit; /* [session.limits.n] largest stress of a limit on split tetrahedra; NAN: none
                      of them is there (owned) */
    double seconds;
} hx_verify_refined;

/* The inside of the surface given by --surface, or of the one that `hextop surface` would cut,
 * analysed with quadratic tetrahedra. */
typedef struct hx_verify_surface {
    const char *path; /* as messages call it; NULL: it is not analysed (borrowed) */
    int is_made;      /* 1: no file, but cut from the result */
    int may_fail;     /* 1: nobody asked for it, so a failure leaves it out */
    char left[512];   /* why it is not analysed, and how it would be; "": no reason to print */
    hx_surface_options options;
    hx_surface_part part;
    size_t bytes;
    int64_t n_point;
    char element[64], solver[64];
    double seconds;    /* time of the analysis; part.seconds is that of the mesh */
    int64_t n_zone;    /* tetrahedra in zones without limits on stresses */
    double zone_share; /* their share of the volume */
    hx_verify_analysis analysis;
    hx_verify_edges edges;
    hx_verify_refined refined;
} hx_verify_surface;

/* Stresses of elements or nodes, the largest of all cases. */
typedef struct hx_verify_samples {
    int64_t n;
    double *value, *volume; /* [n]; volume = 0: the sample does not count (owned) */
    int32_t *load_case;     /* [n] 1-based case of the value; 0: none (owned) */
    uint8_t *is_zone;       /* [n] 1: in a zone without limits (owned) */
} hx_verify_samples;

typedef struct hx_verify {
    hx_session session;
    hx_result_path path;     /* paths of the result and of the config beside it (owned) */
    hx_output_names outputs; /* files that the command writes */
    const char *result;      /* the VTK file (borrowed from path) */
    const char *config;      /* path of the config (borrowed) */
    char *search;      /* lightest.json of the search of which it is a try; NULL: none (owned) */
    int is_by_search;  /* 1: the limits have the bounds of the search */
    char of_run[512];  /* bounds of the run of this try that differ; "": none */
    size_t n_override; /* number of KEY=VALUE arguments */
    const char *const *override; /* [n_override] (borrowed) */
    hx_result_part part;         /* elements that are forced solid or void, and the target volume */
    unsigned preserve;           /* HX_PRESERVE_* */
    double threshold;       /* elements that are not forced are solid from this density upwards */
    int threshold_given;    /* 1: given by --threshold; 0: the one that keeps the volume */
    double tolerance;       /* largest difference, in percent, for which there is no warning */
    double limit_tolerance; /* violation of a limit, in percent, up to which it is met */
    double *density;        /* [n_elem] of the file (owned) */
    double *black_white;    /* [n_elem] 1 or rho_min (owned) */
    uint8_t *is_solid;      /* [n_elem] (owned) */
    int64_t n_missing;      /* elements that the file lacks; their density is taken as rho_min */
    hx_result_origin origin;
    int64_t n_solid;
    int64_t n_filled;     /* elements below the threshold that only `part` makes solid */
    double volume;        /* volume of the solid elements of the 0/1 design (length^3) */
    hx_attached attached; /* pieces of the solid, and the piece to which each node belongs */
    int64_t n_face_piece; /* number of pieces if only common faces connect elements */
    hx_hinges hinges;
    hx_verify_thickness thickness[HX_N_VERIFY_THICK]; /* with minimum_length */
    /* number of pieces of the surface, for meshes with tetrahedra; -1: not determined */
    int64_t n_surface_piece;
    hx_verify_analysis analysis[HX_N_VERIFY];
    hx_verify_quadratic quadratic;
    hx_verify_surface surface;
    double *u, *modulus;       /* [n_point][components], [n_elem] scratch (owned) */
    float *stress;             /* [n_elem] scratch; for heat the magnitude of the flux (owned) */
    float *flux;               /* [n_elem][3] for heat (owned) */
    hx_verify_samples samples; /* scratch: stresses of elements; n = 0 for heat */
    hx_fields fields;          /* fields for the file of --vtk */
    int with_fields;           /* 1: they are wanted */
    size_t n_warning;
    char *warning[64]; /* [n_warning] as printed (owned) */
} hx_verify;

/* Finds result and config from the arguments RESULT [CONFIG] [KEY=VALUE ...]. The caller zeroed v.
 * HX_EINPUT: a file does not exist. */
int hx_verify_locate(hx_verify *v, const hx_options *options);

/* Makes mesh, problem and solver of the config, reads the densities, and makes the 0/1 design and
 * its pieces. HX_EINPUT: an error that `hextop check` also reports, a file that does not belong to
 * the mesh, an option that is not a number. */
int hx_verify_open(hx_verify *v, const hx_options *options);

/* The words of --element: hx_verify_element. */
typedef enum {
    HX_VERIFY_LINEAR,
    HX_VERIFY_QUADRATIC,
    HX_VERIFY_QUADRATIC_SOLID,
    HX_N_VERIFY_ELEMENT
} hx_verify_element;
const char *hx_verify_element_word(size_t i); /* NULL after the last */

/* v->search := the lightest.json beside the folder try-N of the result, if there is one. */
int hx_verify_find_search(hx_verify *v);
/* Gives the session's limits the bounds of the search, which those of the try's run approach or
 * widen, unless an argument states bounds. HX_EINPUT: v->search cannot be read. */
int hx_verify_take_search(hx_verify *v);

/* a->limit := values of the session's limits after a solve; a->volume is set. spec: the limits,
 * with sets of the analysed mesh. density[n_elem]: see hx_limit_values (verify_limits.c). */
int hx_verify_find_limits(const hx_verify *v, hx_analysis *analysis, const hx_constraint_spec *spec,
                          const double *density, hx_verify_analysis *a);

/* Mass of densities rho[n_elem] of a problem, NULL: solid; NAN without a mass density. O(n_elem).
 */
int hx_verify_find_mass(const hx_problem *problem, const double *rho, double *mass);

/* The analysis of the part as it would be made: that of the surface, of quadratic elements or of
 * the 0/1 design, the first that exists. *name: "surface". */
const hx_verify_analysis *hx_verify_made(const hx_verify *v, const char **name);

/* v->thickness := of the 0/1 design and of the surface, if the config states a minimum_length
 * (verify_thickness.c); prints it; returns the warning about thickness i (text, "" if it suffices),
 * NULL after the last; writes the member "thickness". */
int hx_verify_measure_thickness(hx_verify *v);
void hx_verify_print_thickness(const hx_verify *v);
const char *hx_verify_warn_thickness(const hx_verify *v, int i, char *text, size_t n_text);
void hx_verify_write_thickness(hx_json *json, const hx_verify *v);

/* a->share := the shares of limited sets in the 0/1 design, or on the surface if a is its analysis
 * (verify_shares.c). O(n_elem) per limit. */
int hx_verify_find_shares(const hx_verify *v, hx_verify_analysis *a);

/* text := why limit i cannot be judged on the design of an analysis, for example "only 48 % of set
 * 'top' is on the surface"; "" if it can. Returns text. */
const char *hx_verify_unknown(const hx_verify *v, const hx_verify_analysis *a, int i, char *text,
                              size_t n_text);

/* text := "make it solid: passive = ( { set = "top"; skin = 1; } )"; "" for no set. Returns text.
 */
const char *hx_verify_solid_advice(const hx_verify *v, const char *name, char *text, size_t n_text);

/* Number of limits that the made part misses by more than the tolerance, or that cannot be judged
 * on it; 0 without limits. */
int hx_verify_count_missed(const hx_verify *v);

/* Print a table with a row per limit; return the warning about limit i (text, "" if it is met);
 * write the member "limits" of an analysis. Without limits they do nothing. */
void hx_verify_print_limits(const hx_verify *v);
const char *hx_verify_warn_limit(const hx_verify *v, int i, char *text, size_t n_text);
void hx_verify_write_limits(hx_json *json, const hx_verify *v, const hx_verify_analysis *a);

/* ---- stresses (verify_stress.c) ---- */

int hx_verify_samples_create(hx_verify_samples *s, int64_t n);
void hx_verify_samples_offer(hx_verify_samples *s, int64_t i, int load_case, double value);
/* *stress := of samples that are the nodes (at_node = 1) or elements of a mesh. O(n log n). */
int hx_verify_samples_judge(hx_verify_samples *s, const hx_mesh *mesh, int at_node,
                            hx_verify_stress *stress);
/* Accepts a zeroed struct. */
void hx_verify_samples_free(hx_verify_samples *s);

/* is_zone[n_elem of the session's mesh] := 1 in zones without limits on stresses. Returns the
 * number of their sets. */
int hx_verify_mark_zones(const hx_verify *v, uint8_t *is_zone);

/* elem[n_tet] := the element of the session's mesh at the centroid of each tetrahedron of the
 * surface; -1: none. */
int hx_verify_surface_elements(const hx_verify *v, int32_t *elem);

/* is_zone_tet[n_tet] := 1 for the tetrahedra of the surface whose elements (elem[n_tet], see above)
 * are in zones (is_zone, as from hx_verify_mark_zones), or that are near its own supports, springs,
 * point loads and rigid sets, or the nodes is_sharp[n_node] of sharp edges; with
 * volume[n_tet], sets their number and share of v->surface. */
int hx_verify_surface_zones(hx_verify *v, const uint8_t *is_zone, const int32_t *elem,
                            const double *volume, const uint8_t *is_sharp, uint8_t *is_zone_tet);

/* is_sharp[n_node] := 1 for the nodes of sharp edges of the surface that no design can round;
 * v->surface.edges. elem: see above. O(n_tet). */
int hx_verify_surface_edges(hx_verify *v, const int32_t *elem, uint8_t *is_sharp);
/* Adds the tetrahedra at and near such nodes to is_zone_tet[n_tet]. */
int hx_verify_mark_edges(const hx_verify *v, const uint8_t *is_sharp, uint8_t *is_zone_tet);
/* Clears the nodes at which stresses are less than half the largest outside the zones: they need no
 * zone. Returns 1 if there are such nodes. */
int hx_verify_drop_edges(hx_verify *v, const hx_verify_samples *samples, double outside,
                         uint8_t *is_sharp);
/* Takes the largest stress at them. samples: of nodes. */
void hx_verify_find_sharpest(hx_verify *v, const hx_verify_samples *s, const uint8_t *is_sharp);
/* The warning about them (text, "" without them). */
const char *hx_verify_warn_edges(const hx_verify *v, char *text, size_t n_text);
/* The member "sharp_edges" of the surface. */
void hx_verify_write_edges(hx_json *json, const hx_verify *v);

/* Raises a->limit of the limits on stresses by those of a case (from 0) on the surface: the largest
 * mean at a node over the tetrahedra of the limit's set outside the zones. is_zone[n_tet]; elem: see
 * above. */
int hx_verify_surface_limits(const hx_verify *v, const hx_stress *stress, int load_case,
                             const double *modulus, const double *u, const uint8_t *is_zone,
                             const int32_t *elem, hx_verify_analysis *a);

/* counts[n_tet] := 1 for tetrahedra outside the zones (is_zone[n_tet]) whose elements belong to a
 * set (NULL: all). */
int hx_verify_mark_counted(const hx_verify *v, const uint8_t *is_zone, const char *name,
                           const int32_t *elem, uint8_t *counts);

/* The solved surface. Everything is borrowed. */
typedef struct hx_verify_solved {
    const hx_problem *problem;
    hx_device *device;
    const double *u;        /* [n_point][3] of the case that was read last */
    const uint8_t *is_zone; /* [n_tet] */
    const int32_t *elem;    /* [n_tet] */
} hx_verify_solved;

/* Looks at the largest stresses outside the zones (samples of nodes, judged) on finer tetrahedra:
 * v->surface.refined. read(context, case from 0) brings the displacements of a case into of->u.
 * Cost: that of some thousand tetrahedra per place. HX_ENUMERIC: a solve did not converge. */
int hx_verify_refine_stresses(hx_verify *v, const hx_verify_solved *of,
                              const hx_verify_samples *samples, int (*read)(void *, int),
                              void *context);

/* A table of the places; the warning that a limit is met only on the mesh as it is (text, "" if
 * there is none); the member "finer_places" of the surface. */
void hx_verify_print_refined(const hx_verify *v);
const char *hx_verify_warn_refined(const hx_verify *v, char *text, size_t n_text);
void hx_verify_write_refined(hx_json *json, const hx_verify *v);

/* What stresses may be at most: material.strength, otherwise the least bound of limits on stresses;
 * NAN: nothing states it. */
double hx_verify_strength(const hx_verify *v);

/* material.strength, or the least bound of the limits on stresses, divided by the largest stress
 * outside the zones; NAN: nothing is stated. */
double hx_verify_safety(const hx_verify *v, const hx_verify_analysis *a);

/* A table with a column per design; the warning that material.strength is exceeded (text, "" if it
 * is not); the member "stresses" of an analysis. */
void hx_verify_print_stresses(const hx_verify *v);
const char *hx_verify_warn_strength(const hx_verify *v, char *text, size_t n_text);
void hx_verify_write_stresses(hx_json *json, const hx_verify *v, const hx_verify_analysis *a);

/* Updates the peak if a case has a larger displacement, or temperature (verify_peaks.c).
 * u[n_point][components].
 * is_counted[n_elem]: only points of these cells; NULL: all points. The maps are those of
 * hx_place_of. */
void hx_verify_offer_displacement(const hx_space *space, const hx_mesh *mesh,
                                  const int32_t *node_map, const int32_t *elem_map,
                                  const uint8_t *is_counted, int components, int load_case,
                                  const double *u, hx_verify_peak *peak);

/* Runs both analyses. with_fields = 1: fields of the 0/1 design are added to v->fields.
 * HX_ENUMERIC: the result is not finite. */
int hx_verify_analyse(hx_verify *v, int with_fields);

/* For heat: converts u[n_point] from unknowns to temperatures, and computes flux[n_elem][3] and its
 * magnitude size[n_elem]. */
void hx_verify_find_fluxes(const hx_problem *problem, const double *modulus, double *u, float *flux,
                           float *size);

/* Fills v->quadratic for the 0/1 design; called after both analyses. Frees the solver of the
 * session. HX_EENV: neither the whole mesh nor the solid fits into memory. Heat needs the whole
 * mesh, since void also conducts. */
int hx_verify_analyse_quadratic(hx_verify *v);

/* hx_verify_open_surface reads the file of --surface, makes mesh and sets, and checks them before
 * anything is solved; hx_verify_analyse_surface analyses that mesh after the other designs.
 * HX_EINPUT: see hx_surface_part_create. HX_EENV: it does not fit into memory. */
int hx_verify_open_surface(hx_verify *v);

/* The words of --made: hx_verify_made_kind. */
const char *hx_verify_made_word(size_t i); /* NULL after the last */

/* Cuts the surface of the result and makes its mesh, for an analysis by hx_verify_analyse_surface.
 * AUTO: not if it takes 300,000 tetrahedra or more, for heat, or if it fails; v->surface.left has
 * the reason. Called after the 0/1 design is made. */
int hx_verify_open_made(hx_verify *v, hx_verify_made_kind kind);

/* After an error rc of the surface: HX_OK if it may fail; it is then left out, with the message. */
int hx_verify_excuse_made(hx_verify *v, int rc);

/* "3 edges and 1 node, in 2 places, the largest at 1, 0, 0": the hinges, of which there are some;
 * returns text. */
const char *hx_verify_hinges_text(const hx_verify *v, char *text, size_t n_text);

/* Counts the pieces that are joined by faces, the hinges and, with tetrahedra, those of the surface at the
 * volume of the solid (verify_hinges.c). O(n_elem). */
int hx_verify_count_pieces(hx_verify *v);
int hx_verify_analyse_surface(hx_verify *v);
void hx_verify_surface_free(hx_verify_surface *surface);

/* The first function prints the table. The second returns the warnings one by one (NULL after the
 * last; otherwise text). The third writes the JSON object. */
void hx_verify_print_surface(const hx_verify *v);
const char *hx_verify_warn_surface(const hx_verify *v, size_t i, char *text, size_t n_text);
void hx_verify_write_surface(hx_json *json, const hx_verify *v);

/* 100 (b - a) / |a|; 0 if both are 0, NaN if only a is (verify_pair.c). */
double hx_verify_percent(double a, double b);
/* For compliances: see hx_compliance_percent. */
double hx_verify_compliance_percent(const hx_verify *v, double a, double b);

/* Formats "+12.3 %", or "4.5e+06 times" if that is easier to read; returns text. */
const char *hx_verify_difference(double a, double b, double percent, char *text, size_t n_text);

/* Write one analysis, and the differences of two, as JSON objects; print a
 * table of two. */
void hx_verify_write_analysis(hx_json *json, const hx_verify *v, const char *key,
                              const hx_verify_analysis *a);
void hx_verify_write_differences(hx_json *json, const hx_verify *v, const hx_verify_analysis *a,
                                 const hx_verify_analysis *b);
void hx_verify_print_pair(const hx_verify *v, const char *const name[2],
                          const hx_verify_analysis *a, const hx_verify_analysis *b);

/* Parameters for quadratic elements: the operators and preconditioners to choose from, by default
 * those that store least; and the number of bytes that an analysis of the problem needs on the
 * device. */
hx_solver_params hx_verify_solver_params(const hx_verify *v);
int hx_verify_count_bytes(const hx_verify *v, const hx_problem *problem, hx_device *device,
                          size_t *bytes);

/* Fraction of a case's force, by magnitude, at nodal points whose elements are all below the
 * threshold and partly solid only because of `part`. */
double hx_verify_filled_force(const hx_verify *v, int load_case);

/* text := the warning about differences above the tolerance between both designs: the numbers, what
 * they mean, and the command that reduces them (verify_differences.c). *text = NULL: there are
 * none. */
enum { HX_VERIFY_DIFFERENCES = 4 * HX_SHELL_WORD + 4096 };
const char *hx_verify_differences(const hx_verify *v, char *text, size_t n_text);

/* Like hx_verify_differences, for a design and the part inside the surface; of stresses, those
 * outside the zones are compared. */
const char *hx_verify_surface_differences(const hx_verify *v, const hx_verify_analysis *design,
                                          char *text, size_t n_text);

/* Print tables and warnings on the terminal, and write the same as JSON. */
void hx_verify_print(hx_verify *v);
int hx_verify_write(const hx_verify *v, const char *path);

void hx_verify_free(hx_verify *v);

#endif
