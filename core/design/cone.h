/* Sums of element fields with cone weights over the elements whose centroids lie within a radius,
 *
 *     sum_i H_ei a_i,  H_ei = R - |x_e - x_i|,
 *
 * used by the filters. No pair is stored: the weights are computed from the centroids for every
 * sum; only the sums of the weights are stored. */
#ifndef HX_CONE_H
#define HX_CONE_H

#include "../problem/problem.h"
#include "bins.h"
#include "filter.h"

typedef struct hx_cone {
    hx_device *dev; /* (borrowed) */
    hx_device_bins cells;
    double radius; /* length */
    int n_field;   /* maximum number of fields per sum */
    /* [n_elem] sum_i H_ei, times the volume of i if volumes are weighted (owned) */
    double *d_sum_weight;
    double *d_volume; /* [n_elem] if volumes are weighted, else NULL (owned) */
} hx_cone;

/* Takes the radius, the weights and the voxels of a filter's params. n_field: maximum number of
 * fields per sum. single: H may be rounded to single precision if that is faster (cone_rounding);
 * allowed only for means that are not derivatives. Sums are always in double precision, and H stays
 * symmetric. Not performance-critical. */
int hx_cone_create(hx_cone *cone, hx_device *dev, const hx_problem *problem,
                   const hx_filter_params *params, int n_field, int single);
/* sum_i H_ei value_i of each field, without volumes and without division; may be in place. Fields
 * of one call share their weights. A field has the same sums with or without a second field unless
 * weights are rounded to single precision (with two fields they are not). Hot. */
int hx_cone_sum(const hx_cone *cone, int n_field, const double *const d_value[],
                double *const d_sum[]);
/* Upper bound of the device bytes. voxel_bytes: hx_voxels_bytes; 0: assume that the mesh is not
 * made of voxels. */
size_t hx_cone_bytes(const hx_mesh *mesh, size_t voxel_bytes, int volume_weighted, int n_field);
/* Accepts a zeroed struct. */
void hx_cone_free(hx_cone *cone);

#endif
