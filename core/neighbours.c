#include "neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* A grid of cubic cells, no smaller than the radius, so that a ball around a centroid touches at
 * most 3 x 3 x 3 of them. */
typedef struct cell_grid {
    double origin[3], cell_size;
    int64_t n_cell[3];
    int64_t *start;  /* [cells + 1] */
    int32_t *member; /* [n] elements by cell, ascending within a cell */
} cell_grid;

static void cell_grid_free(cell_grid *grid)
{
    free(grid->start);
    free(grid->member);
}

static void cell_of(const cell_grid *grid, const double x[3], int64_t cell[3])
{
    for (int i = 0; i < 3; i++) {
        cell[i] = (int64_t)((x[i] - grid->origin[i]) / grid->cell_size);
        if (cell[i] < 0) cell[i] = 0;
        if (cell[i] >= grid->n_cell[i]) cell[i] = grid->n_cell[i] - 1;
    }
}

static int64_t cell_index(const cell_grid *grid, const int64_t cell[3])
{
    return (cell[2] * grid->n_cell[1] + cell[1]) * grid->n_cell[0] + cell[0];
}

static int cell_grid_build(cell_grid *grid, int64_t n, const double *centroid, double radius)
{
    double lower[3], upper[3], extent = 0.0;
    memset(grid, 0, sizeof *grid);
    for (int i = 0; i < 3; i++) lower[i] = upper[i] = centroid[i];
    for (int64_t e = 0; e < n; e++)
        for (int i = 0; i < 3; i++) {
            lower[i] = fmin(lower[i], centroid[3 * e + i]);
            upper[i] = fmax(upper[i], centroid[3 * e + i]);
        }
    for (int i = 0; i < 3; i++) extent = fmax(extent, upper[i] - lower[i]);

    /* No more cells than about one an element: a tiny radius needs no tiny cells. */
    grid->cell_size = fmax(radius, extent / 1024.0);
    for (;;) {
        double n_total = 1.0;
        for (int i = 0; i < 3; i++) {
            grid->origin[i] = lower[i];
            grid->n_cell[i] = (int64_t)((upper[i] - lower[i]) / grid->cell_size) + 1;
            n_total *= (double)grid->n_cell[i];
        }
        if (n_total <= 8.0 * (double)n + 64.0) break;
        grid->cell_size *= 2.0;
    }
    const int64_t n_cell = grid->n_cell[0] * grid->n_cell[1] * grid->n_cell[2];
    HX_TRY(hx_alloc(&grid->start, (size_t)n_cell + 1, sizeof *grid->start, "filter cells"));
    HX_TRY(hx_alloc_raw(&grid->member, (size_t)n, sizeof *grid->member, "filter cells"));

    int64_t cell[3];
    for (int64_t e = 0; e < n; e++) {
        cell_of(grid, centroid + 3 * e, cell);
        grid->start[cell_index(grid, cell) + 1]++;
    }
    for (int64_t c = 0; c < n_cell; c++) grid->start[c + 1] += grid->start[c];
    for (int64_t e = n - 1; e >= 0; e--) { /* start[c + 1] walks down to the first of cell c */
        cell_of(grid, centroid + 3 * e, cell);
        grid->member[--grid->start[cell_index(grid, cell) + 1]] = (int32_t)e;
    }
    for (int64_t c = 0; c < n_cell; c++) grid->start[c] = grid->start[c + 1];
    grid->start[n_cell] = n;
    return HX_OK;
}

/* Elements within the radius of element e: how many, and which if list is not NULL (unsorted). */
static int64_t ball(const cell_grid *grid, const double *centroid, int64_t e, double radius,
                    int32_t *list)
{
    const double *x = centroid + 3 * e;
    int64_t cell[3], n = 0;
    cell_of(grid, x, cell);
    for (int64_t k = cell[2] - 1; k <= cell[2] + 1; k++)
        for (int64_t j = cell[1] - 1; j <= cell[1] + 1; j++)
            for (int64_t i = cell[0] - 1; i <= cell[0] + 1; i++) {
                const int64_t near[3] = {i, j, k};
                if (i < 0 || j < 0 || k < 0 || i >= grid->n_cell[0] || j >= grid->n_cell[1] ||
                    k >= grid->n_cell[2])
                    continue;
                const int64_t c = cell_index(grid, near);
                for (int64_t m = grid->start[c]; m < grid->start[c + 1]; m++) {
                    const double *y = centroid + 3 * (int64_t)grid->member[m];
                    const double d2 = (x[0] - y[0]) * (x[0] - y[0]) +
                                      (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]);
                    if (d2 < radius * radius) {
                        if (list) list[n] = grid->member[m];
                        n++;
                    }
                }
            }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static int centroids(const hx_mesh *mesh, double **out)
{
    double *centroid;
    HX_TRY(hx_alloc_raw(out, (size_t)mesh->n_elem, 3 * sizeof(double), "element centroids"));
    centroid = *out;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int i = 0; i < 3; i++) {
            double sum = 0.0;
            for (int a = 0; a < 8; a++) sum += mesh->xyz[3 * (int64_t)mesh->conn[8 * e + a] + i];
            centroid[3 * e + i] = 0.125 * sum;
        }
    return HX_OK;
}

/* Its square must be a number above 0, or an element would not even find itself. */
static int check_radius(double radius)
{
    if (radius > 1e-150 && radius < 1e150) return HX_OK;
    return HX_RAISE(HX_EINPUT, "a filter radius of %g is no length to compute with", radius);
}

int hx_neighbours_create(hx_neighbours *nb, const hx_mesh *mesh, double radius)
{
    cell_grid grid = {.cell_size = 0.0};
    int rc;
    memset(nb, 0, sizeof *nb);
    HX_TRY(check_radius(radius));
    nb->n = mesh->n_elem;
    nb->radius = radius;
    HX_TRY_FAIL(centroids(mesh, &nb->centroid));
    HX_TRY_FAIL(cell_grid_build(&grid, nb->n, nb->centroid, radius));
    HX_TRY_FAIL(hx_alloc(&nb->ptr, (size_t)nb->n + 1, sizeof *nb->ptr, "filter rows"));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < nb->n; e++) nb->ptr[e + 1] = ball(&grid, nb->centroid, e, radius, NULL);
    for (int64_t e = 0; e < nb->n; e++) nb->ptr[e + 1] += nb->ptr[e];

    const size_t n_index = (size_t)nb->ptr[nb->n];
    const size_t want = n_index * sizeof *nb->index, have = hx_host_memory_available();
    if (have > 0 && want > have) {
        char want_text[32], have_text[32];
        rc = HX_RAISE(HX_ENOMEM,
                      "the filter's neighbour lists (%.0f neighbours an element) need %s of host "
                      "memory, %s is available: take a smaller filter radius",
                      (double)n_index / (double)nb->n,
                      hx_format_bytes((double)want, want_text, sizeof want_text),
                      hx_format_bytes((double)have, have_text, sizeof have_text));
        goto fail;
    }
    HX_TRY_FAIL(hx_alloc_raw(&nb->index, n_index, sizeof *nb->index, "filter neighbours"));
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < nb->n; e++) {
        int32_t *row = nb->index + nb->ptr[e];
        ball(&grid, nb->centroid, e, radius, row);
        qsort(row, (size_t)(nb->ptr[e + 1] - nb->ptr[e]), sizeof *row, by_value);
    }
    nb->bytes = want + (size_t)nb->n * (3 * sizeof(double) + sizeof *nb->ptr);
    cell_grid_free(&grid);
    return HX_OK;
fail:
    cell_grid_free(&grid);
    hx_neighbours_free(nb);
    return rc;
}

int hx_neighbours_estimate(const hx_mesh *mesh, double radius, double *mean_neighbours)
{
    cell_grid grid = {.cell_size = 0.0};
    double *centroid = NULL;
    int rc;
    HX_TRY(check_radius(radius));
    HX_TRY_FAIL(centroids(mesh, &centroid));
    HX_TRY_FAIL(cell_grid_build(&grid, mesh->n_elem, centroid, radius));
    const int64_t stride = mesh->n_elem / 1000 + 1;
    int64_t n = 0, n_sample = 0;
    for (int64_t e = 0; e < mesh->n_elem; e += stride, n_sample++)
        n += ball(&grid, centroid, e, radius, NULL);
    *mean_neighbours = (double)n / (double)n_sample;
    rc = HX_OK;
fail:
    cell_grid_free(&grid);
    free(centroid);
    return rc;
}

void hx_neighbours_free(hx_neighbours *nb)
{
    free(nb->centroid);
    free(nb->ptr);
    free(nb->index);
    memset(nb, 0, sizeof *nb);
}
