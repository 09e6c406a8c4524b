/* A filter between design and physical densities: forward, and the chain rule backward. One const
 * table per file, hx_filter_<name>. */
#ifndef HX_FILTER_H
#define HX_FILTER_H

#include "problem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_filter hx_filter;

typedef struct hx_filter_params {
    double radius;       /* length */
    int volume_weighted; /* weights times the element's volume (graded meshes) */
} hx_filter_params;

typedef struct hx_filter_kind {
    const char *name, *help;
    int needs_radius;
    int (*create)(hx_filter *filter);
    /* design[n_elem] -> physical[n_elem] */
    int (*forward)(hx_filter *filter, const double *design, double *physical);
    /* dc[n_elem], dv[n_elem]: by the physical density on entry, by the design density on return. */
    int (*backward)(hx_filter *filter, const double *design, double *dc, double *dv);
    void (*destroy)(hx_filter *filter);
} hx_filter_kind;

struct hx_filter {
    const hx_filter_kind *kind;
    const hx_problem *problem; /* (borrowed) */
    hx_filter_params params;
    size_t bytes; /* host memory it holds */
    void *impl;   /* (owned by the kind) */
};

/* HX_EINPUT: radius not positive. */
int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, const hx_problem *problem,
                     const hx_filter_params *params);
int hx_filter_forward(hx_filter *filter, const double *design, double *physical);
int hx_filter_backward(hx_filter *filter, const double *design, double *dc, double *dv);
void hx_filter_free(hx_filter *filter);

#ifdef __cplusplus
}
#endif

#endif
