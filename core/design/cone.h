/* Means of element fields with cone weights over the elements whose centroids lie within a radius,
 *
 *     sum_i H_ei a_i,  H_ei = R - |x_e - x_i|,
 *
 * as filters take them. Nothing is stored for a pair: the weights come from the centroids each
 * time, their sums once. */
#ifndef HX_CONE_H
#define HX_CONE_H

#include "../problem/problem.h"
#include "cells.h"
#include "filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_cone {
    hx_device *dev; /* (borrowed) */
    hx_device_cells cells;
    double radius;        /* length */
    int n_field;          /* of sums at a time, at most */
    double *d_sum_weight; /* [n_elem] sum_i H_ei, times the volume of i if it weighs (owned) */
    double *d_volume;     /* [n_elem] if it weighs, else NULL (owned) */
} hx_cone;

/* Of the radius, the weights and the voxels of a filter's params. n_field: of sums at a time, at
 * most. single: H may be rounded to single precision where that is faster (cone_rounding), for
 * means that are no derivatives; sums are in double, and H is symmetric, all the same. Cold. */
int hx_cone_create(hx_cone *cone, hx_device *dev, const hx_problem *problem,
                   const hx_filter_params *params, int n_field, int single);
/* sum_i H_ei value_i of each field, without volumes and without division; in place or not. Those at
 * a time share their weights; alone or not, a field has the same sums, unless weights are single
 * (of two fields they are not). Hot. */
int hx_cone_sum(const hx_cone *cone, int n_field, const double *const d_value[],
                double *const d_sum[]);
/* Device bytes, at most. voxel_bytes: hx_voxels_bytes, 0: as of any mesh. */
size_t hx_cone_bytes(const hx_mesh *mesh, size_t voxel_bytes, int volume_weighted, int n_field);
/* Accepts a zeroed struct. */
void hx_cone_free(hx_cone *cone);

#ifdef __cplusplus
}
#endif

#endif
