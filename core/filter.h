/* A filter between design and physical densities: forward, and the chain rule backward. One const
 * table per file, hx_filter_<name>. */
#ifndef HX_FILTER_H
#define HX_FILTER_H

#include "device.h"
#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_filter hx_filter;

typedef struct hx_filter_params {
    double radius;       /* length */
    int volume_weighted; /* weights times the element's volume (graded meshes) */
} hx_filter_params;

/* Fields are [n_elem] on the device. */
typedef struct hx_filter_kind {
    const char *name, *help;
    int needs_radius;
    /* Device memory that create will take, at most. */
    size_t (*bytes)(const hx_mesh *mesh, const hx_filter_params *params);
    int (*create)(hx_filter *filter);
    /* design -> physical */
    int (*forward)(hx_filter *filter, const double *d_design, double *d_physical);
    /* dc, dv: by the physical density on entry, by the design density on return. */
    int (*backward)(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
    void (*destroy)(hx_filter *filter);
} hx_filter_kind;

struct hx_filter {
    const hx_filter_kind *kind;
    hx_device *dev;            /* (borrowed) */
    const hx_problem *problem; /* (borrowed) */
    hx_filter_params params;
    void *impl; /* (owned by the kind) */
};

/* HX_EINPUT: radius not positive. */
int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, hx_device *dev,
                     const hx_problem *problem, const hx_filter_params *params);
int hx_filter_forward(hx_filter *filter, const double *d_design, double *d_physical);
int hx_filter_backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
void hx_filter_free(hx_filter *filter);

#ifdef __cplusplus
}
#endif

#endif
