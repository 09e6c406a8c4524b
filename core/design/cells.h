/* Elements binned by their centroids into the cubic cells of a grid, so that those within a radius
 * are found without storing a pair: O(1) bytes an element. */
#ifndef HX_CELLS_H
#define HX_CELLS_H

#include "../mesh/mesh.h"
#include "design_ops.h"
#include "voxels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros after the last place, so that lanes may reach beyond it; fields that cone_sum takes at a
 * time, at most. */
enum { HX_CELLS_PADDING = 8, HX_CELLS_FIELDS = 2 };

/* Where the centroids of a row of cells along x lie, in edges / HX_CELL_PARTS from the lower corner
 * of each one's cell: at or above lower, at or below upper. */
enum { HX_CELL_PARTS = 128 };
typedef struct hx_cell_row {
    uint8_t lower[3], upper[3], padding[2];
} hx_cell_row;

/* Centroids of the elements of a cell, and of cells that follow each other along x, lie one after
 * the other: a ball is a few dozen contiguous ranges. */
typedef struct hx_cells {
    int64_t n;              /* elements */
    double origin[3], size; /* lower corner of the grid, edge of a cell: length */
    int64_t n_cell[3];      /* x fastest; at most about an element a cell */
    int32_t *start;         /* [cells + 1] first place of a cell (owned) */
    int32_t *member;        /* [n] element at a place, ascending within a cell (owned) */
    double *x, *y, *z;      /* [n + padding] centroid at a place (owned) */
} hx_cells;

/* HX_EINPUT: the radius is no length to compute with, or the mesh is not finished. 8 elements a
 * cell where the mesh is uniform. O(n) besides a sort of the cells' numbers. */
int hx_cells_create(hx_cells *cells, const hx_mesh *mesh, double radius);

/* origin, size and n_cell alone, of cells of two elements' edge, larger where the mesh fills little
 * of its box, that hold points between the bounds; returns their number. O(1). */
int64_t hx_cells_lay(hx_cells *cells, const hx_mesh *mesh, const double lower[3],
                     const double upper[3]);

/* The cell of a point, x fastest, or the nearest one. */
int64_t hx_cells_at(const hx_cells *cells, const double x[3]);

/* Mean number of centroids at a distance < radius, the element itself included, from a sample of a
 * thousand elements (for `hextop check`). */
int hx_cells_estimate(const hx_mesh *mesh, double radius, double *mean_neighbours);

/* The same on a device; of voxels their grid in place of cells and centroids. */
struct hx_device_cells {
    int64_t n;
    hx_voxels voxels; /* its lists lie on the device (owned); n[0] = 0: cells and centroids */
    double origin[3], size;
    int64_t n_cell[3];
    int32_t *d_start, *d_member;
    hx_cell_row *d_row;      /* [n_cell[1] * n_cell[2]] y fastest; NULL: of many, not known */
    double *d_x, *d_y, *d_z; /* [n + padding] */
    /* [n + padding] scratch of cone_sum: values of its fields by place; NULL beyond n_field. Of
     * voxels [hx_voxels_values] of one field, 0 where no element is. */
    double *d_value[HX_CELLS_FIELDS];
    int single; /* cone_sum may round its weights to single precision, alike for a distance */
    struct hx_halo *halo; /* of a share: n counts elements of others too (owned); else NULL */
};

/* Bins the elements and puts them on the device, for sums of up to n_field fields at a time; the
 * host keeps nothing. made: hx_voxels_create of mesh and radius, which is taken and left zeroed, or
 * what is zeroed or NULL: they are made here. O(n). */
int hx_device_cells_create(hx_device_cells *cells, hx_device *dev, const hx_mesh *mesh,
                           double radius, int n_field, hx_voxels *made);
/* Accepts a zeroed struct. */
void hx_device_cells_free(hx_device_cells *cells, hx_device *dev);
/* Their bytes, at most; of voxels hx_voxels_bytes. */
size_t hx_device_cells_bytes(int64_t n_elem, int n_field);

void hx_cells_free(hx_cells *cells);

#ifdef __cplusplus
}
#endif

#endif
