/* Vectors of a device that has a share of a mesh (hx_device_ops.common). Points in common with
 * other processes have the same values in all of them; what is summed over elements has each
 * process' part of it at first, and is completed by adding the others', in the same order
 * everywhere. `d_` names memory of the device. Collective: every process calls the same. */
#ifndef HX_COMMON_OPS_H
#define HX_COMMON_OPS_H

#include "../device/device.h"
#include "common_host.h"
#include "strategy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hx_mg_level; /* multigrid.h */
struct hx_mg_lines;
struct hx_lattice;     /* lattice.h */
struct hx_level_share; /* of who shares it out */

/* Nodes of a lattice up to which all processes have it whole, unless they are told otherwise. */
enum { HX_LATTICE_WHOLE = 20000 };

/* y = K x of a share's elements, the whole or a part a call. */
typedef struct hx_product_parts {
    const void *context;
    int (*run)(const void *context, hx_product_part part);
} hx_product_parts;

typedef struct hx_common_ops {
    /* Points by which elements are divided, in the share's numbers; *point is borrowed. Returns how
     * many: those in common, or 0 where no product is divided. */
    int64_t (*points)(hx_device *dev, const int32_t **point);
    /* y[point][components] of points in common := the sum over the processes that have them. */
    int (*add)(hx_device *dev, int components, double *d_y);
    int (*add_single)(hx_device *dev, int components, float *d_y);
    /* The product, and the same. In parts what BOUNDARY found goes to the others while INTERIOR
     * runs, and theirs are added after REST; undivided all follows the whole. */
    int (*add_parts)(hx_device *dev, int components, const hx_product_parts *parts, double *d_y);
    int (*add_parts_single)(hx_device *dev, int components, const hx_product_parts *parts,
                            float *d_y);
    /* y of points in common := that of one of the processes: where each computed it for itself,
     * rounding may tell them apart. */
    int (*settle)(hx_device *dev, int components, double *d_y);
    /* all[n] := the sums of own[n] over the processes, in their order; a few hundred numbers. Waits
     * where nothing goes from device to device. */
    int (*sum)(hx_device *dev, int64_t n, const double *d_own, double *d_all);
    /* What the processes say to each other on the host (borrowed, like the device). */
    const hx_common_host *(*host)(hx_device *dev);
    /* The lattice under the whole becomes what this share has of it: its cells, and of large levels
     * the nodes around them; such levels name their share. */
    int (*share_lattice)(hx_device *dev, struct hx_lattice *lattice);
    /* Nodes up to which a lattice stays whole in every process. */
    int64_t (*most_whole)(hx_device *dev);
    void (*free_level)(hx_device *dev, struct hx_level_share *share);
    /* y[dof unknowns of a node] of a level: what others own. */
    int (*settle_level)(hx_device *dev, const struct hx_mg_level *level, float *d_y);
    /* hx_multigrid_ops.power_step of a level in shares, t in its d_y. */
    int (*level_power)(hx_device *dev, int dof, const struct hx_mg_level *level);
    /* The matrix of the first lattice, dof unknowns a node: that of all shares. */
    int (*add_lattice)(hx_device *dev, int dof, const struct hx_mg_level *level);
    /* Lines of points that several shares have: the whole's, n of them, in its numbers, to the
     * pieces that lie in this share. */
    int (*share_lines)(hx_device *dev, int64_t n, const int32_t *first, const int32_t *point,
                       struct hx_mg_lines *lines);
    /* What couples points with those before them, found of each share's elements: that of all. */
    int (*add_lines)(hx_device *dev, const struct hx_mg_lines *lines);
    void (*free_lines)(hx_device *dev, struct hx_mg_lines *lines);
} hx_common_ops;

static inline int64_t hx_common_points(hx_device *dev, const int32_t **point)
{
    *point = NULL;
    return dev->ops->common ? dev->ops->common->points(dev, point) : 0;
}

static inline int hx_common_add(hx_device *dev, int components, double *d_y)
{
    return dev->ops->common ? dev->ops->common->add(dev, components, d_y) : HX_OK;
}

static inline int hx_common_add_single(hx_device *dev, int components, float *d_y)
{
    return dev->ops->common ? dev->ops->common->add_single(dev, components, d_y) : HX_OK;
}

static inline int hx_common_add_parts(hx_device *dev, int components, const hx_product_parts *parts,
                                      double *d_y)
{
    if (!dev->ops->common) return parts->run(parts->context, HX_PRODUCT_WHOLE);
    return dev->ops->common->add_parts(dev, components, parts, d_y);
}

static inline int hx_common_add_parts_single(hx_device *dev, int components,
                                             const hx_product_parts *parts, float *d_y)
{
    if (!dev->ops->common) return parts->run(parts->context, HX_PRODUCT_WHOLE);
    return dev->ops->common->add_parts_single(dev, components, parts, d_y);
}

static inline int hx_common_settle(hx_device *dev, int components, double *d_y)
{
    return dev->ops->common ? dev->ops->common->settle(dev, components, d_y) : HX_OK;
}

/* *d_sum: where the sums of own[n] are, here or in all[n]. */
static inline int hx_common_sum_few(hx_device *dev, int64_t n, double *d_own, double *d_all,
                                    double **d_sum)
{
    *d_sum = dev->ops->common ? d_all : d_own;
    return dev->ops->common ? dev->ops->common->sum(dev, n, d_own, d_all) : HX_OK;
}

static inline const hx_common_host *hx_common_host_of(hx_device *dev)
{
    return dev->ops->common ? dev->ops->common->host(dev) : NULL;
}

static inline int hx_common_add_lattice(hx_device *dev, int dof, const struct hx_mg_level *level)
{
    return dev->ops->common ? dev->ops->common->add_lattice(dev, dof, level) : HX_OK;
}

static inline int hx_common_settle_level(hx_device *dev, const struct hx_mg_level *level,
                                         float *d_y)
{
    return dev->ops->common ? dev->ops->common->settle_level(dev, level, d_y) : HX_OK;
}

static inline int hx_common_add_lines(hx_device *dev, const struct hx_mg_lines *lines)
{
    return dev->ops->common ? dev->ops->common->add_lines(dev, lines) : HX_OK;
}

#ifdef __cplusplus
}
#endif

#endif
