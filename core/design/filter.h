/* A filter maps design densities to physical ones (forward) and applies the chain rule (backward).
 * There is one const table per file, hx_filter_<name>.
 *
 *     design -> filter -> limits, projection -> sweep -> passive elements -> physical
 *
 * What follows the filter (projection.h, and sweep.h if the part must be printed, cast or milled) is
 * common to all filters that map the design. With the other filters the physical density is equal
 * to the design. */
#ifndef HX_FILTER_H
#define HX_FILTER_H

#include "../device/snapshot.h"
#include "design_ops.h"
#include "design_params.h"
#include "projection.h"
#include "sweep_stage.h"

HX_C_BEGIN

typedef struct hx_filter hx_filter;

/* Three projections of one filtered design (Wang, Lazarov and Sigmund, Struct. Multidisc. Optim. 43,
 * 2011), whose thresholds are eta, eta + erosion and eta - dilation (hx_design_params): the design
 * that is made, with thinner and with thicker members. */
typedef enum { HX_DESIGN_MADE, HX_DESIGN_ERODED, HX_DESIGN_DILATED } hx_design_variant;

typedef struct hx_filter_params {
    double radius;       /* length */
    int volume_weighted; /* 1: weights include the element's volume (graded meshes) */
    /* 1: the density filter sees void outside the mesh (pad.h), so that members along its border are
     * as thick as others */
    int is_padded;
    /* range of the densities, and the projection (borrowed for the filter's lifetime); NULL: the
     * defaults */
    const hx_design_params *design;
    /* hx_voxels_bytes, for memory estimates; 0: the mesh is not assumed to be made of voxels */
    size_t voxel_bytes;
    /* Entries of a vector of the subdomain, for memory estimates; 0: one rank. Set by
     * hx_filter_bytes. */
    int64_t n_point;
    /* Result of hx_voxels_create for mesh and radius, which a filter that sums pairs takes and
     * leaves zeroed. If it is zeroed or NULL, the filter makes its own. Only for a mesh that is not
     * distributed (borrowed until create returns). */
    struct hx_voxels *voxels;
    /* sweep after the projection; NULL: none (borrowed until create returns) */
    const hx_sweep *sweep;
} hx_filter_params;

/* Fields are [n_elem] on the device. */
typedef struct hx_filter_kind {
    const char *name, *help;
    int needs_radius;
    int maps_design; /* 1: densities are filtered; 0: the physical density is the design */
    /* 1: backward is not the derivative of forward; not allowed with a projection */
    int is_heuristic;
    int keeps_range; /* 1: filtered values lie between the extremes of the design */
    /* number of fields per sum over the elements within the radius if every design needs the
     * derivatives of both objective and volume; 0: no such sums */
    int sums_pairs;
    /* 1: supports subdomains, by halos (halo.h) or sums at interface points (interface_ops.h) */
    int is_distributed;
    int bytes_per_elem; /* device memory, nominal */
    /* Upper bound of the device memory of `create`, without the mesh's (device_mesh.h), which is
     * shared with the operator. */
    size_t (*bytes)(const hx_mesh *mesh, const hx_filter_params *params);
    int (*create)(hx_filter *filter);
    /* design -> filtered; linear */
    int (*forward)(hx_filter *filter, const double *d_design, double *d_filtered);
    /* dc, dv: derivatives by the filtered density on entry, by the design density on return. d_dv
     * may be NULL; d_dc is bitwise the same either way. */
    int (*backward)(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
    /* State that the next design reuses (snapshot.h). NULL: none. */
    int (*snapshot)(hx_filter *filter, hx_snapshot *image);
    /* After a failed step: discards that state. NULL: there is none. */
    int (*reset)(hx_filter *filter);
    void (*destroy)(hx_filter *filter);
} hx_filter_kind;

enum { HX_NOT_SWEPT = -1 };

struct hx_filter {
    const hx_filter_kind *kind;
    hx_device *dev;            /* (borrowed) */
    const hx_problem *problem; /* (borrowed) */
    hx_filter_params params;
    const hx_design_params *design; /* (borrowed) */
    hx_projection projection;       /* its beta may change between designs, before `forward` */
    hx_design_variant analysed;     /* the one that forward and backward apply to */
    /* [n_elem] (owned); NULL: the design is physical. If the slope differs from design to design it
     * holds the filtered densities of the last forward, otherwise it is scratch or holds a kept
     * derivative. */
    double *d_filtered;
    /* 1: d_filtered holds the derivative of the volume by the design, which is constant */
    int keeps_dv;
    double *d_passive;    /* [n_elem] NaN where free; NULL: no passive elements (owned) */
    hx_sweep_stage sweep; /* n_graph = 0: there is none (owned) */
    /* hx_design_variant whose sweep the derivatives would be of; HX_NOT_SWEPT: of none */
    int swept;
    void *impl; /* (owned by the kind) */
};

/* HX_EINPUT: the radius is not positive, beta or eta is out of range, or a projection or a sweep
 * follows a filter without derivatives. */
int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, hx_device *dev,
                     const hx_problem *problem, const hx_filter_params *params);

/* 1 if the physical density differs from the design. */
int hx_filter_maps_design(const hx_filter *filter);
int hx_filter_kind_maps_design(const hx_filter_kind *kind, const hx_filter_params *params);
/* 1 if the physical densities of free elements are a linear function of the design. */
int hx_filter_is_linear(const hx_filter *filter);

/* Number of fields per sum over the elements within the radius; 0: no such sums. */
int hx_filter_kind_sums(const hx_filter_kind *kind, const hx_filter_params *params);

/* 1 if the analysed design, or that of the volume's derivative, is not the one that is made. */
int hx_filter_has_variants(const hx_filter *filter);

/* Maps design to physical densities, optionally in place. Passive elements keep their prescribed
 * density whatever the filter returns. */
int hx_filter_forward(hx_filter *filter, const double *d_design, double *d_physical);
/* The densities of a variant, at the design of the last forward. Only if there are variants. */
int hx_filter_project(hx_filter *filter, hx_design_variant variant, double *d_physical);
/* Writes d_filtered: `forward` without projection and passive elements. Only if the design is
 * mapped. */
int hx_filter_forward_unprojected(hx_filter *filter, const double *d_design);
/* Maps d_filtered with this projection, the sweep and passive elements to physical densities,
 * optionally in place. Only if the design is mapped. */
int hx_filter_finish(hx_filter *filter, const hx_projection *projection, double *d_physical);
/* dc, dv: derivatives by the physical density on entry, by the design on return, at the design of
 * the last forward. If the design is mapped, dv is 0 at passive elements on return because they are
 * not variables. d_dv may be NULL if only dc is needed. */
int hx_filter_backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
/* The derivative of a variant: hx_filter_backward without d_dv. */
int hx_filter_backward_variant(hx_filter *filter, hx_design_variant variant, const double *d_design,
                               double *d_dc);
/* Like hx_filter_backward, and sets dv to the derivative of the volume, that of the dilated design.
 * d_volume[n_elem] is its derivative by the physical density and must be the problem's in all calls.
 * If the chain is linear, the derivative is computed once. */
int hx_filter_backward_volume(hx_filter *filter, const double *d_design, const double *d_volume,
                              double *d_dc, double *d_dv);

/* Sum of volume times physical density of a design that is made, which replaces the design of the
 * last forward. Only if the design is mapped. Waits. */
int hx_filter_mass(hx_filter *filter, const double *d_design, const double *d_volume, double *mass);

/* For `snapshot` of a kind: d_x has a number per node; with several ranks the vector of the
 * subdomain's points, with 0 at points that are no nodes. */
int hx_filter_snapshot_nodes(hx_filter *filter, hx_snapshot *image, const char *name, double *d_x);

/* Upper bound of the device memory of a filter for the problem, without the mesh's. */
size_t hx_filter_bytes(const hx_filter_kind *kind, const hx_problem *problem,
                       const hx_filter_params *params);
void hx_filter_free(hx_filter *filter);

HX_C_END

#endif
