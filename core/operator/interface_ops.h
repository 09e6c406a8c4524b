/* Operations on vectors of a device that holds a subdomain (hx_device_ops.interface). Values at
 * interface points, which several ranks share, are equal on all of them. A sum over elements first
 * contains each rank's own contribution and is completed by adding those of the others, in the same
 * order on every rank (the halo exchange of interface values). `d_` names device memory. All
 * functions are collective. */
#ifndef HX_INTERFACE_OPS_H
#define HX_INTERFACE_OPS_H

#include "../device/device.h"
#include "interface_host.h"
#include "operator_kind.h"

HX_C_BEGIN

struct hx_mg_level; /* multigrid.h */
struct hx_mg_lines;
struct hx_coarse;      /* coarse.h */
struct hx_local_level; /* defined by whoever partitions the problem */

/* Default for `most_whole`: coarse grids with at most this many nodes are replicated on every
 * rank. */
enum { HX_COARSE_WHOLE = 20000 };

/* y = K x over the elements of a subdomain; each call computes the whole product or one part. */
typedef struct hx_product_parts {
    const void *context;
    int (*run)(const void *context, hx_product_part part);
} hx_product_parts;

typedef struct hx_interface_ops {
    /* Interface points by which products are divided, in the numbering of the subdomain; *point is
     * borrowed. Returns their number, or 0 if products are not divided. */
    int64_t (*points)(hx_device *dev, const int32_t **point);
    /* y[point][components] at interface points := the sum over the ranks that share them. */
    int (*add)(hx_device *dev, int components, double *d_y);
    int (*add_single)(hx_device *dev, int components, float *d_y);
    /* Runs the product and then does the work of `add`. If the product is divided, the result of
     * BOUNDARY is sent while INTERIOR runs, and the values received are added after REST. Otherwise
     * the exchange follows the whole product. */
    int (*add_parts)(hx_device *dev, int components, const hx_product_parts *parts, double *d_y);
    int (*add_parts_single)(hx_device *dev, int components, const hx_product_parts *parts,
                            float *d_y);
    /* Makes y consistent: each interface point takes the value of one rank, because values that
     * every rank computed for itself may differ by rounding. */
    int (*make_consistent)(hx_device *dev, int components, double *d_y);
    int (*make_consistent_single)(hx_device *dev, int components, float *d_y);
    /* all[n] := sums of own[n] over the ranks, in rank order; for a few hundred numbers. Waits if
     * the exchange does not run from device to device. */
    int (*sum)(hx_device *dev, int64_t n, const double *d_own, double *d_all);
    /* Differs after memory of the exchanges has been replaced, which ends the recordings that use
     * it. */
    int (*version)(hx_device *dev);
    /* Communication of the ranks on the host (borrowed from the device). */
    const hx_interface_host *(*host)(hx_device *dev);
    /* Reduces the coarse grids of the whole mesh to those of this subdomain: its cells and, on
     * large levels, the nodes around them. Such large levels set their `local`. */
    int (*split_coarse)(hx_device *dev, struct hx_coarse *coarse);
    /* Coarse grids with at most this many nodes stay replicated on every rank. */
    int64_t (*most_whole)(hx_device *dev);
    void (*free_level)(hx_device *dev, struct hx_local_level *local);
    /* Makes y[dof unknowns per node] of a level consistent: copies the values of nodes that other
     * ranks own. */
    int (*make_level_consistent)(hx_device *dev, const struct hx_mg_level *level, float *d_y);
    /* hx_mg_smoother_ops.level_power for a distributed level; t is in the level's d_y. */
    int (*level_power)(hx_device *dev, int dof, const struct hx_mg_level *level);
    /* Sums the matrix of the first coarse grid over the subdomains; dof unknowns per node. */
    int (*add_coarse)(hx_device *dev, int dof, const struct hx_mg_level *level);
    /* Distributes n lines of points that may cross subdomains: turns the lines of the whole mesh,
     * in its numbering, into the pieces that lie in this subdomain. */
    int (*split_lines)(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                       struct hx_mg_lines *lines);
    /* Sums the blocks that couple each point of a line with its predecessor over the subdomains. */
    int (*add_lines)(hx_device *dev, const struct hx_mg_lines *lines);
    void (*free_lines)(hx_device *dev, struct hx_mg_lines *lines);
} hx_interface_ops;

static inline int64_t hx_interface_points(hx_device *dev, const int32_t **point)
{
    *point = NULL;
    return dev->ops->interface ? dev->ops->interface->points(dev, point) : 0;
}

static inline int hx_interface_add(hx_device *dev, int components, double *d_y)
{
    return dev->ops->interface ? dev->ops->interface->add(dev, components, d_y) : HX_OK;
}

static inline int hx_interface_add_single(hx_device *dev, int components, float *d_y)
{
    return dev->ops->interface ? dev->ops->interface->add_single(dev, components, d_y) : HX_OK;
}

static inline int hx_interface_add_parts(hx_device *dev, int components,
                                         const hx_product_parts *parts, double *d_y)
{
    if (!dev->ops->interface) return parts->run(parts->context, HX_PRODUCT_WHOLE);
    return dev->ops->interface->add_parts(dev, components, parts, d_y);
}

static inline int hx_interface_add_parts_single(hx_device *dev, int components,
                                                const hx_product_parts *parts, float *d_y)
{
    if (!dev->ops->interface) return parts->run(parts->context, HX_PRODUCT_WHOLE);
    return dev->ops->interface->add_parts_single(dev, components, parts, d_y);
}

static inline int hx_interface_make_consistent(hx_device *dev, int components, double *d_y)
{
    return dev->ops->interface ? dev->ops->interface->make_consistent(dev, components, d_y) : HX_OK;
}

static inline int hx_interface_make_consistent_single(hx_device *dev, int components, float *d_y)
{
    return dev->ops->interface ? dev->ops->interface->make_consistent_single(dev, components, d_y)
                               : HX_OK;
}

/* Returns where the sums of own[n] over all ranks are: in own[n] or in all[n]. */
static inline int hx_interface_sum_few(hx_device *dev, int64_t n, double *d_own, double *d_all,
                                       double **d_sum)
{
    *d_sum = dev->ops->interface ? d_all : d_own;
    return dev->ops->interface ? dev->ops->interface->sum(dev, n, d_own, d_all) : HX_OK;
}

static inline int hx_interface_version(hx_device *dev)
{
    return dev->ops->interface ? dev->ops->interface->version(dev) : 0;
}

static inline const hx_interface_host *hx_interface_host_of(hx_device *dev)
{
    return dev->ops->interface ? dev->ops->interface->host(dev) : NULL;
}

static inline int hx_interface_add_coarse(hx_device *dev, int dof, const struct hx_mg_level *level)
{
    return dev->ops->interface ? dev->ops->interface->add_coarse(dev, dof, level) : HX_OK;
}

static inline int hx_interface_make_level_consistent(hx_device *dev,
                                                     const struct hx_mg_level *level, float *d_y)
{
    return dev->ops->interface ? dev->ops->interface->make_level_consistent(dev, level, d_y)
                               : HX_OK;
}

static inline int hx_interface_add_lines(hx_device *dev, const struct hx_mg_lines *lines)
{
    return dev->ops->interface ? dev->ops->interface->add_lines(dev, lines) : HX_OK;
}

HX_C_END

#endif
