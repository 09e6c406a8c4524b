/* How the next design is proposed from the derivatives: one const table per file,
 * hx_update_<name>. */
#ifndef HX_UPDATE_H
#define HX_UPDATE_H

#include "filter.h"
#include "ties.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_update hx_update;

/* Trials at most, and the volume's relative error that ends them, where the physical density is not
 * the design and a volume has to be searched for. */
enum { HX_VOLUME_TRIALS = 40 };
#define HX_VOLUME_EXACT 1e-6

/* One proposal. Fields are [n_elem] on the device. */
typedef struct hx_update_step {
    const double *d_design;    /* analysed */
    const double *d_dc, *d_dv; /* derivatives of objective and volume by the design */
    double *d_proposal;        /* out: within [rho_min, 1], volume as asked for */
    double volume;             /* fraction taken up by the design analysed */
    int is_worse;              /* the objective is above that of the design before */
    int is_again;              /* proposed once more from the same, the projection being another */
    double change;             /* out: largest change of a density */
    int trials;                /* out, added to: proposals until the volume was right */
} hx_update_step;

typedef struct hx_update_kind {
    const char *name, *help; /* name: the word in optimization.update */
    size_t bytes;            /* of device memory, whatever the mesh */
    int bytes_per_elem;      /* and for each element */
    int (*create)(hx_update *update);
    /* Waits. */
    int (*propose)(hx_update *update, hx_update_step *step);
    /* What the next step takes from this one (snapshot.h). NULL: nothing. */
    int (*snapshot)(hx_update *update, hx_snapshot *image);
    void (*destroy)(hx_update *update);
} hx_update_kind;

extern const hx_update_kind hx_update_oc;

/* What stays the same from step to step. */
struct hx_update {
    const hx_update_kind *kind;
    hx_device *dev;            /* (borrowed), like the next two */
    const hx_problem *problem; /* volume_fraction is that of the next design */
    hx_filter *filter;
    double move, damping;
    double total_volume;
    const double *d_volume;     /* [n_elem] (borrowed) */
    const hx_device_ties *ties; /* groups of equal densities; NULL: none (borrowed) */
    void *impl;                 /* (owned by the kind) */
};

#ifdef __cplusplus
}
#endif

#endif
