/* The ways to compute a matrix' values. All give the same to rounding (1e-13). */
#ifndef HX_FILL_H
#define HX_FILL_H

#include "form.h"
#include "pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HX_FILL_GATHER,   /* the row's owner computes: no atomics, written once, the default */
    HX_FILL_STORED,   /* tiles of modulus 1 are kept: a design scales and adds them, in one pass */
    HX_FILL_ATOMIC,   /* P2's same kernel: a thread a cell, values added atomically */
    HX_FILL_SEPARATE, /* P2's separate kernels: element matrices to memory, then added atomically */
    HX_FILL_COLOUR,   /* cells of a colour share no point: added without atomics */
    HX_FILL_NZ,       /* a thread an entry, which visits the cells of its pair (Cecka 2011) */
    HX_FILL_SORT, /* P4: triplets, sorted by row and column, sums of segments; the order is kept */
    HX_FILL_TRIPLETS, /* P3: the lower triplets of each cell go to the host, which converts them */
    HX_N_FILL
} hx_fill;

typedef struct hx_fill_kind {
    const char *name, *help; /* the word of --fill; one line */
    int deterministic;       /* the same bits on every run, and for any ranges of one mesh's rows */
} hx_fill_kind;

/* [HX_N_FILL], by hx_fill. Which of them a device has: hx_matrix_ops.fills. */
extern const hx_fill_kind hx_fill_kinds[];

/* HX_EINPUT with the nearest word: no such fill, or none among `has` (bits), which device `device`
 * has. */
int hx_fill_find(const char *name, unsigned has, const char *device, hx_fill *fill);

/* Steps of triplets: values of the cells; from the device to the host; sorted, summed and put in
 * their places; and back to the device. Where the host is the device there are but two. */
#define HX_STEP_INTEGRATION "integration"
#define HX_STEP_DOWNLOAD "download"
#define HX_STEP_CONVERSION "conversion"
#define HX_STEP_UPLOAD "upload"

/* What values are made of; pointers to the device's memory (borrowed). */
typedef struct hx_fill_input {
    hx_incidence incidence; /* of the pattern, with the points' places */
    hx_form form;
    const hx_cell_rule *rule; /* [HX_N_CELL_RULE] of the cells' kinds, in the host's memory; NULL:
                                 hexahedra of 8 points (borrowed) */
    const double *d_xyz;      /* [n_point][3] */
    const double *d_modulus;  /* [n_cell], read by each run */
    size_t buffer;            /* bytes of a GPU's lines of splines at a time (line_plan.h), as far
                                 as a layer of the largest patch allows; 0: as many as it runs at
                                 once. No number of K depends on it */
} hx_fill_input;

#ifdef __cplusplus
}
#endif

#endif
