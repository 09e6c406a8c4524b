/* Elements binned by their centroids into the cubic cells of a grid, so that those within a radius
 * are found without stored pairs: O(1) bytes per element. */
#ifndef HX_BINS_H
#define HX_BINS_H

#include "../mesh/mesh.h"
#include "design_ops.h"
#include "voxels.h"

HX_C_BEGIN

/* Zeros after the last place, so that SIMD lanes may read past it; the maximum number of fields
 * that cone_sum takes at a time. */
enum { HX_CELLS_PADDING = 8, HX_CELLS_FIELDS = 2 };

/* Bounds of the centroids of a row of cells along x, in units of edge / HX_CELL_PARTS from the
 * lower corner of each centroid's cell: all are at least `lower` and at most `upper`. */
enum { HX_CELL_PARTS = 128 };
typedef struct hx_bin_row {
    uint8_t lower[3], upper[3], padding[2];
} hx_bin_row;

/* Centroids of the elements of a cell, and of consecutive cells along x, are stored contiguously: a
 * ball is a few dozen contiguous ranges. */
typedef struct hx_bins {
    int64_t n;              /* elements */
    double origin[3], size; /* lower corner of the grid and edge length of a cell */
    int64_t n_cell[3];      /* x fastest; at most about one cell per element */
    int32_t *start;         /* [cells + 1] first place of a cell (owned) */
    int32_t *member;        /* [n] the element at a place, ascending within a cell (owned) */
    double *x, *y, *z;      /* [n + padding] the centroid at a place (owned) */
} hx_bins;

/* HX_EINPUT: the radius is not a usable length, or the mesh is not finished. A uniform mesh has 8
 * elements per cell. O(n) plus a sort of the cell numbers. */
int hx_bins_create(hx_bins *cells, const hx_mesh *mesh, double radius);

/* Sets only origin, size and n_cell of a grid that holds the points between the bounds. The cell
 * edge is two element edges, more if the mesh fills little of its box. Returns the number of cells.
 * O(1). */
int64_t hx_bins_lay(hx_bins *cells, const hx_mesh *mesh, const double lower[3],
                    const double upper[3]);

/* Index of the cell that contains a point, or of the nearest cell; x is fastest. */
int64_t hx_bins_at(const hx_bins *cells, const double x[3]);

/* Mean number of centroids at a distance < radius, including the element itself, estimated from a
 * thousand elements (for `hextop check`). */
int hx_bins_estimate(const hx_mesh *mesh, double radius, double *mean_neighbours);

/* The bins on a device. Voxels have their grid instead of cells and centroids. */
struct hx_device_bins {
    int64_t n;
    hx_voxels voxels; /* lists on the device (owned); n[0] = 0: cells and centroids are used */
    double origin[3], size;
    int64_t n_cell[3];
    int32_t *d_start, *d_member;
    /* [n_cell[1] * n_cell[2]], y fastest; NULL: not available, because the mesh is distributed */
    hx_bin_row *d_row;
    double *d_x, *d_y, *d_z; /* [n + padding] */
    /* [n + padding] scratch of cone_sum: values of its fields by place; NULL from n_field upwards.
     * Voxels use [hx_voxels_values] per field, 0 at points without an element. */
    double *d_value[HX_CELLS_FIELDS];
    /* 1: cone_sum may round its weights to single precision, equally for equal distances */
    int single;
    /* subdomain only: n then includes elements of other processes (owned); NULL otherwise */
    struct hx_halo *halo;
};

/* Bins the elements and uploads the bins, for sums of up to n_field fields at a time. The host
 * keeps nothing. made: result of hx_voxels_create for mesh and radius, which is taken and left
 * zeroed; if it is zeroed or NULL, the voxels are made here. O(n). */
int hx_device_bins_create(hx_device_bins *cells, hx_device *dev, const hx_mesh *mesh, double radius,
                          int n_field, hx_voxels *made);
/* Accepts a zeroed struct. */
void hx_device_bins_free(hx_device_bins *cells, hx_device *dev);
/* Upper bound of their device bytes; for voxels use hx_voxels_bytes. */
size_t hx_device_bins_bytes(int64_t n_elem, int n_field);

void hx_bins_free(hx_bins *cells);

HX_C_END

#endif
