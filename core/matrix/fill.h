/* The methods that compute a matrix' values. All agree up to rounding (1e-13). */
#ifndef HX_FILL_H
#define HX_FILL_H

#include "form.h"
#include "pattern.h"

HX_C_BEGIN

typedef enum {
    /* each row is computed by its owner, without atomics, and each value is written once; the
     * default */
    HX_FILL_GATHER,
    /* tiles for modulus 1 are stored, and each design scales and adds them in one pass */
    HX_FILL_STORED,
    HX_FILL_ATOMIC, /* P2's "same kernel" variant: a thread per cell, atomic additions */
    /* P2's "separate kernels" variant: element matrices in memory, then atomic additions */
    HX_FILL_SEPARATE,
    HX_FILL_COLOUR, /* cells of a colour share no point, so additions need no atomics */
    HX_FILL_NZ,     /* a thread per entry, which visits the cells of its pair (Cecka 2011) */
    /* P4: triplets sorted by row and column, then segmented sums; the order is stored */
    HX_FILL_SORT,
    HX_FILL_TRIPLETS, /* P3: the lower triplets of each cell go to the host, which converts them */
    HX_N_FILL
} hx_fill;

typedef struct hx_fill_kind {
    const char *name, *help; /* value of --fill; description in one line */
    /* 1: bitwise equal in every run and for any division of a mesh's rows into ranges */
    int deterministic;
} hx_fill_kind;

/* [HX_N_FILL], indexed by hx_fill. hx_matrix_ops.fills states which of them a device supports. */
extern const hx_fill_kind hx_fill_kinds[];

/* Finds a fill by name. HX_EINPUT, with the nearest name: it does not exist, or is not among `has`
 * (bits), the fills of device `device`. */
int hx_fill_find(const char *name, unsigned has, const char *device, hx_fill *fill);

/* Steps of HX_FILL_TRIPLETS: computing the cells' values; transfer from the device to the host;
 * sorting, summing and placing them; transfer back. If the host is the device, only the first and
 * third occur. */
#define HX_STEP_INTEGRATION "integration"
#define HX_STEP_DOWNLOAD "download"
#define HX_STEP_CONVERSION "conversion"
#define HX_STEP_UPLOAD "upload"

/* Input of a fill; pointers to device memory (borrowed). */
typedef struct hx_fill_input {
    hx_incidence incidence; /* incidence of the pattern, with the places of the points */
    hx_form form;
    /* [HX_N_CELL_RULE] rules of the cell kinds, in host memory; NULL: hexahedra with 8 points
     * (borrowed) */
    const hx_cell_rule *rule;
    const double *d_xyz;     /* [n_point][3] */
    const double *d_modulus; /* [n_cell], read at each run */
    /* size in bytes of a GPU's buffer for lines of splines (line_plan.h), at least one layer of the
     * largest patch; 0: as many lines as run concurrently. The values of K do not depend on it */
    size_t buffer;
} hx_fill_input;

HX_C_END

#endif
