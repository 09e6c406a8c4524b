/* A result analysed twice, grey and 0/1: what `hextop verify` compares. */
#ifndef HX_VERIFY_H
#define HX_VERIFY_H

#include "../session/part.h"
#include "../session/session.h"
#include "../text/options.h"
#include "core/design/black_white.h"
#include "core/files/vtk_fields.h"

typedef enum { HX_VERIFY_GREY, HX_VERIFY_SOLID, HX_N_VERIFY } hx_verify_design;

/* The largest of something. */
typedef struct hx_verify_peak {
    double value;
    int load_case;   /* 1-based; 0: there is none */
    int64_t number;  /* original number of the node or element */
    double point[3]; /* node, or centre of the element */
} hx_verify_peak;

typedef struct hx_verify_analysis {
    double compliance, volume;   /* weighted sum over cases; volume fraction, void counting 0 */
    double *case_compliance;     /* [n_case] (owned) */
    hx_verify_peak displacement; /* over the nodes of solid elements */
    hx_verify_peak stress;       /* von Mises or heat flux, over solid elements */
    hx_pcg_reason reason;        /* the worst of the cases */
    int pcg_iterations;
    double pcg_residual;
} hx_verify_analysis;

/* What a node hangs on in the 0/1 design. */
typedef enum { HX_NODE_VOID, HX_NODE_LOOSE, HX_NODE_MAIN, HX_N_NODE_STATE } hx_node_state;

/* Nodes of a set, or the loaded ones of a case, by their state; for a case also the sum of the
 * magnitudes of their forces. */
typedef struct hx_verify_nodes {
    int64_t n[HX_N_NODE_STATE];
    double force[HX_N_NODE_STATE];
} hx_verify_nodes;

/* The options of `hextop verify`. */
enum {
    HX_VERIFY_THRESHOLD,
    HX_VERIFY_PRESERVE,
    HX_VERIFY_TOLERANCE,
    HX_VERIFY_ELEMENT,
    HX_VERIFY_VTK,
    HX_VERIFY_OUTPUT
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

typedef struct hx_verify {
    hx_session session;
    const char *result;  /* path of the VTK file (borrowed) */
    hx_result_part part; /* what is solid or void whatever its density, and the volume asked for */
    unsigned preserve;   /* HX_PRESERVE_* */
    double threshold;    /* free elements are solid from this density on */
    int threshold_given; /* not the one that keeps the volume */
    double tolerance;    /* of a difference, in percent */
    double *density;     /* [n_elem] of the file (owned) */
    double *black_white; /* [n_elem] 1 or rho_min (owned) */
    uint8_t *is_solid;   /* [n_elem] (owned) */
    uint8_t *node;       /* [n_node] hx_node_state (owned) */
    int32_t *held;       /* [session.conditions.n_support] nodes that the file supports (owned) */
    int64_t n_missing;   /* elements that the file lacks: taken as rho_min */
    int64_t n_solid;
    int64_t n_filled;     /* of those, below the threshold: solid by `part` alone */
    double volume;        /* of the 0/1 design's solid elements (length^3) */
    hx_pieces pieces;     /* joined by nodes */
    int64_t n_face_piece; /* pieces joined by faces alone */
    hx_verify_analysis analysis[HX_N_VERIFY];
    hx_verify_quadratic quadratic;
    double *u, *modulus; /* [n_point][components], [n_elem] scratch (owned) */
    float *stress;       /* [n_elem] scratch; of heat the length of the flux (owned) */
    float *flux;         /* [n_elem][3] of heat (owned) */
    hx_fields fields;    /* of the file that --vtk names */
    size_t n_warning;
    char *warning[64]; /* as printed (owned) */
} hx_verify;

/* Mesh, problem and solver of the config, densities of the result, the 0/1 design and its pieces.
 * The caller zeroed v. HX_EINPUT: what `hextop check` refuses, a file that does not belong to the
 * mesh, options that are no numbers. */
int hx_verify_open(hx_verify *v, const hx_options *options);

/* The words of --element: hx_verify_element. */
typedef enum {
    HX_VERIFY_LINEAR,
    HX_VERIFY_QUADRATIC,
    HX_VERIFY_QUADRATIC_SOLID,
    HX_N_VERIFY_ELEMENT
} hx_verify_element;
const char *hx_verify_element_word(size_t i); /* NULL past the last */

/* Both analyses; with_fields: v->fields gets the 0/1 design's. HX_ENUMERIC: not finite. */
int hx_verify_analyse(hx_verify *v, int with_fields);

/* v->quadratic of the 0/1 design, after both; the session's solver is gone then. HX_EENV: neither
 * the whole mesh nor the solid alone fits. */
int hx_verify_analyse_quadratic(hx_verify *v);

/* Nodes of a set (none for a NULL or unknown name), nodes that the mesh's file supports, loaded
 * nodes of a case (0-based). */
void hx_verify_set(const hx_verify *v, const char *set, hx_verify_nodes *nodes);
void hx_verify_file_supports(const hx_verify *v, hx_verify_nodes *nodes);
void hx_verify_loads(const hx_verify *v, int load_case, hx_verify_nodes *nodes);

/* Share of a case's force, by magnitude, at nodes whose elements are all below the threshold, some
 * of them solid by `part` alone. HX_ENOMEM. */
int hx_verify_filled_force(const hx_verify *v, int load_case, double *share);

/* 100 (b - a) / |a|; 0 if both are 0, NaN if a is. */
double hx_verify_percent(double a, double b);

/* Tables and warnings on the terminal; the same as JSON. */
void hx_verify_print(hx_verify *v);
int hx_verify_write(const hx_verify *v, const char *path);

void hx_verify_free(hx_verify *v);

#endif
