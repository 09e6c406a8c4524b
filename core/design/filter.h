/* A filter between design and physical densities: forward, and the chain rule backward. One const
 * table per file, hx_filter_<name>.
 *
 *     design -> filter -> limits, projection, passive elements -> physical
 *
 * The second arrow (projection.h) is the same for all filters that map the design; others leave the
 * physical density equal to the design. */
#ifndef HX_FILTER_H
#define HX_FILTER_H

#include "../device/snapshot.h"
#include "../problem/problem.h"
#include "design_ops.h"
#include "projection.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_filter hx_filter;

typedef struct hx_filter_params {
    double radius;       /* length */
    int volume_weighted; /* weights times the element's volume (graded meshes) */
    double beta, eta;    /* of the projection at the beginning; beta = 0: none */
    size_t voxel_bytes;  /* hx_voxels_bytes, for what it will take; 0: as of any mesh */
    /* hx_voxels_create of mesh and radius, which a filter that sums pairs takes and leaves zeroed;
     * zeroed or NULL: it makes its own. Of a whole mesh (borrowed until create returns). */
    struct hx_voxels *voxels;
} hx_filter_params;

/* Fields are [n_elem] on the device. */
typedef struct hx_filter_kind {
    const char *name, *help;
    int needs_radius;
    int maps_design;    /* 1: densities are filtered; 0: the physical density is the design */
    int is_heuristic;   /* 1: backward is no derivative of forward; not with a projection */
    int keeps_range;    /* 1: what is filtered lies between the design's extremes */
    int sums_pairs;     /* fields whose sums over all within the radius run at a time where
                           derivatives of both are made in each design; 0: none */
    int in_shares;      /* 1: works on a share too, on a device that completes sums (halo.h) */
    int bytes_per_elem; /* nominal, of device memory */
    /* Device memory that create will take, at most, besides the mesh's (device_mesh.h), which it
     * shares with the operator. */
    size_t (*bytes)(const hx_mesh *mesh, const hx_filter_params *params);
    int (*create)(hx_filter *filter);
    /* design -> filtered; linear */
    int (*forward)(hx_filter *filter, const double *d_design, double *d_filtered);
    /* dc, dv: by the filtered density on entry, by the design density on return. d_dv: NULL: of
     * one field alone, the same bits as of it beside another. */
    int (*backward)(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
    /* What the next design takes from this one (snapshot.h). NULL: nothing. */
    int (*snapshot)(hx_filter *filter, hx_snapshot *image);
    /* After a step that failed: the next design takes nothing. NULL: it never does. */
    int (*forget)(hx_filter *filter);
    void (*destroy)(hx_filter *filter);
} hx_filter_kind;

struct hx_filter {
    const hx_filter_kind *kind;
    hx_device *dev;            /* (borrowed) */
    const hx_problem *problem; /* (borrowed) */
    hx_filter_params params;
    hx_projection projection; /* its beta may be changed between designs, before a forward */
    /* [n_elem] (owned); NULL: the design is physical. With a slope that differs from design to
     * design the filtered densities of the last forward, else scratch and what is kept. */
    double *d_filtered;
    int keeps_dv;      /* 1: d_filtered is the volume's derivative by the design, the same of all */
    double *d_passive; /* [n_elem] NaN where free; NULL: no passive elements (owned) */
    void *impl;        /* (owned by the kind) */
};

/* HX_EINPUT: radius not positive; beta or eta out of range, or a projection after a filter that has
 * no derivatives. */
int hx_filter_create(hx_filter *filter, const hx_filter_kind *kind, hx_device *dev,
                     const hx_problem *problem, const hx_filter_params *params);

/* 1 if the physical density is not the design. */
int hx_filter_maps_design(const hx_filter *filter);
int hx_filter_kind_maps_design(const hx_filter_kind *kind, const hx_filter_params *params);
/* 1 if the physical densities of free elements are a linear function of the design. */
int hx_filter_is_linear(const hx_filter *filter);

/* Fields whose sums over all within the radius run at a time; 0: none. */
int hx_filter_kind_sums(const hx_filter_kind *kind, const hx_filter_params *params);

/* design -> physical, in place or not; passive elements have their density whatever the filter
 * says. */
int hx_filter_forward(hx_filter *filter, const double *d_design, double *d_physical);
/* The same without projection and passive elements, to d_filtered. Only where the design is mapped.
 */
int hx_filter_forward_unprojected(hx_filter *filter, const double *d_design);
/* dc, dv by the physical density on entry, by the design on return: at the design of the last
 * forward. Where the design is mapped, dv is 0 at passive elements on return: they are no
 * variables. d_dv may be NULL: dc alone. */
int hx_filter_backward(hx_filter *filter, const double *d_design, double *d_dc, double *d_dv);
/* The same with dv := the derivative of the volume, d_volume[n_elem] by the physical density: the
 * problem's in all calls. Where the chain is linear it is made once. */
int hx_filter_backward_volume(hx_filter *filter, const double *d_design, const double *d_volume,
                              double *d_dc, double *d_dv);

/* Sum of volume times physical density of a design, which takes the place of the last forward's.
 * Only where the design is mapped. Waits. */
int hx_filter_mass(hx_filter *filter, const double *d_design, const double *d_volume, double *mass);

/* Device memory of a filter for the problem, at most, besides the mesh's. */
size_t hx_filter_bytes(const hx_filter_kind *kind, const hx_problem *problem,
                       const hx_filter_params *params);
void hx_filter_free(hx_filter *filter);

#ifdef __cplusplus
}
#endif

#endif
