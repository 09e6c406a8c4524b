#include "bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/radix_sort.h"
#include "../base/sum.h"
#include "halo.h"

/* Edge of a cell in element sizes. 2 gives 8 elements: ranges are long enough for SIMD lanes and a
 * warp, and cells are small enough to follow the ball closely. */
static const double EDGE = 2.0;
/* Offset of the grid's origin in cells below the lowest centroid. In a regular mesh, planes of
 * centroids lie a half or a whole cell apart; with this offset they do not fall on cell walls. */
static const double MARGIN = 0.23;

/* Largest number of cells for a mesh. */
static int64_t most_cells(int64_t n_elem)
{
    return n_elem + 64;
}

static int64_t cell_along(const hx_bins *cells, int axis, double x)
{
    const double cell = (x - cells->origin[axis]) / cells->size;
    if (!(cell > 0.0)) return 0;
    return cell < (double)cells->n_cell[axis] ? (int64_t)cell : cells->n_cell[axis] - 1;
}

int64_t hx_bins_at(const hx_bins *cells, const double x[3])
{
    return (cell_along(cells, 2, x[2]) * cells->n_cell[1] + cell_along(cells, 1, x[1])) *
               cells->n_cell[0] +
           cell_along(cells, 0, x[0]);
}

int64_t hx_bins_lay(hx_bins *cells, const hx_mesh *mesh, const double lower[3],
                    const double upper[3])
{
    double n_total;
    cells->size = EDGE * cbrt(mesh->total_volume / (double)hx_mesh_n_elem_all(mesh));
    for (;; cells->size *= 1.25) {
        n_total = 1.0;
        for (int i = 0; i < 3; i++) {
            const double n = floor((upper[i] - lower[i]) / cells->size + MARGIN) + 1.0;
            cells->origin[i] = lower[i] - MARGIN * cells->size;
            cells->n_cell[i] = n < 1e9 ? (int64_t)n : 1000000000;
            n_total *= n;
        }
        if (n_total <= (double)most_cells(mesh->n_elem)) return (int64_t)n_total;
    }
}

/* Fills `member` with the elements sorted by cell. */
static int sort_elements(hx_bins *cells, const hx_mesh *mesh, int64_t n_cell)
{
    uint64_t *key;
    int n_bits = 1;
    while (n_cell >> n_bits) n_bits++;
    HX_TRY(hx_alloc_raw(&key, (size_t)mesh->n_elem, sizeof *key, "filter cells"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(mesh, e, x);
        key[e] = (uint64_t)hx_bins_at(cells, x);
    }
    const int rc = hx_radix_sort(key, cells->member, mesh->n_elem, n_bits);
    free(key);
    return rc;
}

static int64_t cell_of_member(const hx_bins *cells, const hx_mesh *mesh, int64_t place, double x[3])
{
    hx_mesh_centroid(mesh, cells->member[place], x);
    return hx_bins_at(cells, x);
}

/* Sets the coordinates by place, and `start` of each cell to its first place (or the next cell's,
 * if it is empty). */
static void fill_places(hx_bins *cells, const hx_mesh *mesh, int64_t n_cell)
{
    const int64_t n = mesh->n_elem;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t begin = hx_part_begin(n, part), end = hx_part_begin(n, part + 1);
        double x[3];
        if (begin == end) continue;
        int64_t next = begin > 0 ? cell_of_member(cells, mesh, begin - 1, x) + 1 : 0;
        for (int64_t p = begin; p < end; p++) {
            const int64_t cell = cell_of_member(cells, mesh, p, x);
            while (next <= cell) cells->start[next++] = (int32_t)p;
            cells->x[p] = x[0];
            cells->y[p] = x[1];
            cells->z[p] = x[2];
        }
        if (end < n) continue;
        while (next <= n_cell) cells->start[next++] = (int32_t)n;
    }
}

/* The square of the radius must be positive, otherwise an element would not find itself. */
static int check_input(const hx_mesh *mesh, double radius)
{
    if (!(radius > 1e-150 && radius < 1e150))
        return HX_RAISE(HX_EINPUT,
                        "the filter radius is %g; it must be above 1e-150 and below 1e150", radius);
    if (!(mesh->total_volume > 0.0 && isfinite(mesh->total_volume)))
        return HX_RAISE(HX_EINPUT,
                        "a filter needs a mesh with a positive volume, but the volume is %g",
                        mesh->total_volume);
    return HX_OK;
}

int hx_bins_create(hx_bins *cells, const hx_mesh *mesh, double radius)
{
    int rc;
    const size_t n = (size_t)mesh->n_elem;
    double **const by_place[3] = {&cells->x, &cells->y, &cells->z};
    double lower[3], upper[3];
    memset(cells, 0, sizeof *cells);
    HX_TRY(check_input(mesh, radius));
    cells->n = mesh->n_elem;
    hx_mesh_centroid_bounds(mesh, lower, upper);
    const int64_t n_cell = hx_bins_lay(cells, mesh, lower, upper);
    HX_TRY_FAIL(
        hx_alloc_raw(&cells->start, (size_t)n_cell + 1, sizeof *cells->start, "filter cells"));
    HX_TRY_FAIL(hx_alloc_raw(&cells->member, n, sizeof *cells->member, "filter cells"));
    HX_TRY_FAIL(sort_elements(cells, mesh, n_cell));
    for (int i = 0; i < 3; i++)
        HX_TRY_FAIL(hx_alloc(by_place[i], n + HX_CELLS_PADDING, sizeof(double), "filter cells"));
    fill_places(cells, mesh, n_cell);
    return HX_OK;
fail:
    hx_bins_free(cells);
    return rc;
}

/* Number of centroids within the radius of the centroid at a place. */
static int64_t count_ball(const hx_bins *cells, int64_t place, double radius)
{
    const double x = cells->x[place], y = cells->y[place], z = cells->z[place];
    const double reach = radius * (1.0 + 1e-9);
    const int64_t i0 = cell_along(cells, 0, x - reach), i1 = cell_along(cells, 0, x + reach);
    const int64_t j0 = cell_along(cells, 1, y - reach), j1 = cell_along(cells, 1, y + reach);
    const int64_t k0 = cell_along(cells, 2, z - reach), k1 = cell_along(cells, 2, z + reach);
    int64_t n = 0;
    for (int64_t k = k0; k <= k1; k++)
        for (int64_t j = j0; j <= j1; j++) {
            const int64_t row = (k * cells->n_cell[1] + j) * cells->n_cell[0];
            for (int64_t m = cells->start[row + i0]; m < cells->start[row + i1 + 1]; m++) {
                const double dx = cells->x[m] - x, dy = cells->y[m] - y, dz = cells->z[m] - z;
                n += dx * dx + dy * dy + dz * dz < radius * radius;
            }
        }
    return n;
}

int hx_bins_estimate(const hx_mesh *mesh, double radius, double *mean_neighbours)
{
    hx_bins cells;
    int64_t n = 0, n_sample = 0;
    HX_TRY(hx_bins_create(&cells, mesh, radius));
    const int64_t stride = mesh->n_elem / 1000 + 1;
    for (int64_t p = 0; p < mesh->n_elem; p += stride, n_sample++)
        n += count_ball(&cells, p, radius);
    *mean_neighbours = (double)n / (double)n_sample;
    hx_bins_free(&cells);
    return HX_OK;
}

size_t hx_device_bins_bytes(int64_t n_elem, int n_field)
{
    return ((size_t)n_elem + (size_t)most_cells(n_elem) + 1) * sizeof(int32_t) +
           (size_t)(3 + n_field) * ((size_t)n_elem + HX_CELLS_PADDING) * sizeof(double);
}

/* Uploads the grid of voxels. */
static int put_voxels(hx_device_bins *cells, hx_device *dev, const hx_voxels *host)
{
    hx_voxels *const v = &cells->voxels;
    const size_t n_point = (size_t)(host->n[0] * host->n[1] * host->n[2]);
    const size_t values = (size_t)hx_voxels_values(host) * sizeof(double);
    *v = *host;
    v->elem = v->width = NULL;
    v->weight = NULL;
    HX_TRY(hx_device_put(dev, &v->elem, host->elem, n_point * sizeof *v->elem));
    HX_TRY(hx_device_put(dev, &v->width, host->width,
                         (size_t)hx_voxels_rows(host) * sizeof *v->width));
    HX_TRY(hx_device_put(dev, &v->weight, host->weight,
                         (size_t)hx_voxels_weights(host) * sizeof *v->weight));
    HX_TRY(dev->ops->alloc(dev, values, &cells->d_value[0]));
    return dev->ops->zero(dev, cells->d_value[0], values);
}

static double within_edge(double a)
{
    return fmin(fmax(a, 0.0), 1.0);
}

/* Bounds of the centroids of a row of cells. */
static hx_bin_row bound_row(const hx_bins *cells, int64_t j, int64_t k)
{
    const int32_t *const start = cells->start + (k * cells->n_cell[1] + j) * cells->n_cell[0];
    const double inverse = 1.0 / cells->size;
    double lower[3] = {1.0, 1.0, 1.0}, upper[3] = {0.0, 0.0, 0.0};
    hx_bin_row row = {{0}, {0}, {0}};
    for (int64_t i = 0; i < cells->n_cell[0]; i++)
        for (int32_t p = start[i]; p < start[i + 1]; p++) {
            const double x[3] = {(cells->x[p] - cells->origin[0]) * inverse - (double)i,
                                 (cells->y[p] - cells->origin[1]) * inverse - (double)j,
                                 (cells->z[p] - cells->origin[2]) * inverse - (double)k};
            for (int d = 0; d < 3; d++) {
                lower[d] = fmin(lower[d], x[d]);
                upper[d] = fmax(upper[d], x[d]);
            }
        }
    for (int d = 0; d < 3; d++) {
        row.lower[d] = (uint8_t)floor(HX_CELL_PARTS * within_edge(lower[d]));
        row.upper[d] = (uint8_t)ceil(HX_CELL_PARTS * within_edge(upper[d]));
    }
    return row;
}

/* Uploads the bounds of rows, unless rows and cells together exceed hx_device_bins_bytes. */
static int put_bin_rows(hx_device_bins *cells, hx_device *dev, const hx_bins *host)
{
    const int64_t n_y = host->n_cell[1], n_row = n_y * host->n_cell[2],
                  n_spare = most_cells(host->n) - n_row * host->n_cell[0];
    hx_bin_row *row;
    if ((size_t)n_row * sizeof *row > (size_t)n_spare * sizeof *host->start) return HX_OK;
    HX_TRY(hx_alloc_raw(&row, (size_t)n_row, sizeof *row, "rows of filter cells"));
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < n_row; r++) row[r] = bound_row(host, r % n_y, r / n_y);
    const int rc = hx_device_put(dev, &cells->d_row, row, (size_t)n_row * sizeof *row);
    free(row);
    return rc;
}

static int put_cells(hx_device_bins *cells, hx_device *dev, const hx_bins *host)
{
    const size_t n_cell = (size_t)(host->n_cell[0] * host->n_cell[1] * host->n_cell[2]);
    const size_t places = ((size_t)host->n + HX_CELLS_PADDING) * sizeof(double);
    cells->size = host->size;
    memcpy(cells->origin, host->origin, sizeof host->origin);
    memcpy(cells->n_cell, host->n_cell, sizeof host->n_cell);
    HX_TRY(hx_device_put(dev, &cells->d_start, host->start, (n_cell + 1) * sizeof *host->start));
    HX_TRY(
        hx_device_put(dev, &cells->d_member, host->member, (size_t)host->n * sizeof *host->member));
    HX_TRY(put_bin_rows(cells, dev, host));
    HX_TRY(hx_device_put(dev, &cells->d_x, host->x, places));
    HX_TRY(hx_device_put(dev, &cells->d_y, host->y, places));
    return hx_device_put(dev, &cells->d_z, host->z, places);
}

static int alloc_values(hx_device_bins *cells, hx_device *dev, int n_field)
{
    const size_t places = ((size_t)cells->n + HX_CELLS_PADDING) * sizeof(double);
    for (int i = 0; i < n_field; i++) {
        HX_TRY(dev->ops->alloc(dev, places, &cells->d_value[i]));
        HX_TRY(dev->ops->zero(dev, cells->d_value[i], places));
    }
    return HX_OK;
}

/* Uses `made` if there is one. */
static int get_voxels(hx_voxels *voxels, const hx_mesh *mesh, double radius, hx_voxels *made)
{
    if (!made || made->n[0] == 0) return hx_voxels_create(voxels, mesh, radius);
    *voxels = *made;
    memset(made, 0, sizeof *made);
    return HX_OK;
}

int hx_device_bins_create(hx_device_bins *cells, hx_device *dev, const hx_mesh *mesh, double radius,
                          int n_field, hx_voxels *made)
{
    hx_bins host = {0};
    hx_voxels voxels = {0};
    int rc;
    memset(cells, 0, sizeof *cells);
    HX_TRY(check_input(mesh, radius));
    cells->n = mesh->n_elem;
    HX_TRY_FAIL(get_voxels(&voxels, mesh, radius, made));
    if (voxels.n[0] > 0) {
        HX_TRY_FAIL(put_voxels(cells, dev, &voxels));
    } else {
        HX_TRY_FAIL(hx_bins_create(&host, mesh, radius));
        HX_TRY_FAIL(put_cells(cells, dev, &host));
        hx_bins_free(&host);
        HX_TRY_FAIL(alloc_values(cells, dev, n_field));
    }
    rc = HX_OK;
fail:
    hx_voxels_free(&voxels);
    hx_bins_free(&host);
    if (rc < 0) hx_device_bins_free(cells, dev);
    return rc;
}

void hx_device_bins_free(hx_device_bins *cells, hx_device *dev)
{
    if (!dev) return;
    dev->ops->release(dev, cells->d_start);
    dev->ops->release(dev, cells->d_member);
    dev->ops->release(dev, cells->d_row);
    dev->ops->release(dev, cells->d_x);
    dev->ops->release(dev, cells->d_y);
    dev->ops->release(dev, cells->d_z);
    dev->ops->release(dev, cells->voxels.elem);
    dev->ops->release(dev, cells->voxels.width);
    dev->ops->release(dev, cells->voxels.weight);
    for (int i = 0; i < HX_CELLS_FIELDS; i++) dev->ops->release(dev, cells->d_value[i]);
    hx_halo_free(cells->halo);
    memset(cells, 0, sizeof *cells);
}

void hx_bins_free(hx_bins *cells)
{
    free(cells->start);
    free(cells->member);
    free(cells->x);
    free(cells->y);
    free(cells->z);
    memset(cells, 0, sizeof *cells);
}
