/* Chooses the width of the cells of the first coarse grid from the number of elements they should
 * contain, and the number of cells. */
#include "coarse_size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/hex_shape.h"
#include "coarse_grid.h"

static const char *const WHAT = "multigrid coarse grids";

/* Maximum number of grid places per element, which bounds the memory for flags. */
enum { MAX_PLACES = 64 };

typedef struct extents {
    double half[3]; /* largest distance of a node from its element's centroid */
    double mean[3]; /* mean edges of the elements' bounding boxes */
    double aspect;  /* mean ratio of the longest to the shortest of these edges */
} extents;

static void element_box(const hx_mesh *mesh, int64_t e, double low[3], double high[3])
{
    const int32_t *conn = mesh->conn + 8 * e;
    for (int i = 0; i < 3; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
        for (int a = 0; a < 8; a++) {
            const double x = mesh->xyz[3 * (int64_t)conn[a] + i];
            low[i] = x < low[i] ? x : low[i];
            high[i] = x > high[i] ? x : high[i];
        }
    }
}

/* Approximate number of elements in the sample that determines the cell size. */
enum { SAMPLE = 100000 };

typedef struct edges {
    double v[3];
} edges;

static int64_t stride_of(const hx_mesh *mesh)
{
    return hx_mesh_n_elem_all(mesh) / SAMPLE + 1;
}

/* Element k of the sample, among this rank's own elements; the sample takes equidistant elements of
 * the whole mesh. */
static int64_t sampled(const hx_mesh *mesh, int64_t k)
{
    const int64_t stride = stride_of(mesh),
                  before = mesh->ownership ? mesh->ownership->elem_before : 0;
    return hx_mesh_own_begin(mesh) + (before + stride - 1) / stride * stride - before + k * stride;
}

static edges edges_of(const hx_mesh *mesh, int64_t e)
{
    double low[3], high[3];
    edges edge;
    element_box(mesh, e, low, high);
    for (int i = 0; i < 3; i++) edge.v[i] = high[i] - low[i];
    return edge;
}

/* Edges of the bounding boxes of a sample. They are measured by all threads and summed by one in a
 * fixed order. */
typedef struct sample {
    int64_t n;
    edges *edge; /* [n] (owned); NULL if memory is short: then they are measured when needed */
} sample;

static void sample_create(sample *s, const hx_mesh *mesh)
{
    const int64_t left = hx_mesh_own_end(mesh) - sampled(mesh, 0);
    s->n = left > 0 ? (left + stride_of(mesh) - 1) / stride_of(mesh) : 0;
    if (hx_alloc_raw(&s->edge, (size_t)s->n, sizeof *s->edge, WHAT) < 0) {
        hx_error_clear();
        s->edge = NULL;
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < s->n; k++) s->edge[k] = edges_of(mesh, sampled(mesh, k));
}

static edges sample_at(const sample *s, const hx_mesh *mesh, int64_t k)
{
    return s->edge ? s->edge[k] : edges_of(mesh, sampled(mesh, k));
}

/* Like fmax, which is slower because it handles NaN. */
static double larger_length(double a, double b)
{
    return a > b ? a : b;
}

static void add_sample(extents *x, edges edge)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < 3; i++) {
        x->mean[i] += edge.v[i];
        least = edge.v[i] < least ? edge.v[i] : least;
        most = larger_length(most, edge.v[i]);
    }
    x->aspect += most / least;
}

/* Means over the samples of all ranks. */
static int average(const hx_mesh *mesh, const sample *s, extents *x)
{
    double sum[5] = {x->mean[0], x->mean[1], x->mean[2], x->aspect, (double)s->n};
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(mesh), 5, sum));
    for (int i = 0; i < 3; i++) x->mean[i] = sum[i] / sum[4];
    x->aspect = sum[3] / sum[4];
    return HX_OK;
}

/* Distances of nodes from the centroid along each axis, for a few elements from e on; returns the
 * number of elements. */
static int find_reaches(const hx_mesh *mesh, int64_t e, int64_t end, double reach[3][HX_HEX_LANES])
{
    const int n = end - e < HX_HEX_LANES ? (int)(end - e) : HX_HEX_LANES;
    if (n == HX_HEX_LANES && !hx_mesh_is_collapsed(mesh)) {
        hx_hex_reaches_of(mesh->xyz, mesh->conn + 8 * e, reach);
        return n;
    }
    for (int i = 0; i < n; i++) {
        double low[3], high[3], c[3];
        element_box(mesh, e + i, low, high);
        hx_mesh_centroid(mesh, e + i, c);
        for (int d = 0; d < 3; d++) reach[d][i] = larger_length(high[d] - c[d], c[d] - low[d]);
    }
    return n;
}

static int measure_sample(const hx_mesh *mesh, const sample *s, extents *x)
{
    const int64_t begin = hx_mesh_own_begin(mesh), end = hx_mesh_own_end(mesh);
    double half0 = 0.0, half1 = 0.0, half2 = 0.0;
    *x = (extents){{0.0}, {0.0}, 0.0};
#pragma omp parallel for schedule(static) reduction(max : half0, half1, half2)
    for (int64_t e = begin; e < end; e += HX_HEX_LANES) {
        double reach[3][HX_HEX_LANES];
        const int n = find_reaches(mesh, e, end, reach);
        for (int i = 0; i < n; i++) {
            half0 = larger_length(half0, reach[0][i]);
            half1 = larger_length(half1, reach[1][i]);
            half2 = larger_length(half2, reach[2][i]);
        }
    }
    for (int64_t k = 0; k < s->n; k++) add_sample(x, sample_at(s, mesh, k));
    x->half[0] = half0;
    x->half[1] = half1;
    x->half[2] = half2;
    HX_TRY(hx_reduce_max(hx_mesh_reduce(mesh), 3, x->half));
    return average(mesh, s, x);
}

double hx_coarse_aspect(const hx_mesh *mesh)
{
    extents x = {{0.0}, {0.0}, 0.0};
    sample s;
    if (mesh->ownership) return mesh->ownership->aspect;
    sample_create(&s, mesh);
    for (int64_t k = 0; k < s.n; k++) add_sample(&x, sample_at(&s, mesh, k));
    free(s.edge);
    return x.aspect / (double)s.n;
}

/* Mean number of elements across a cell, in the direction with the most and in the next, over the
 * sample. */
static int count_across(hx_coarse *coarse, const hx_mesh *mesh, const sample *s)
{
    double sum[3] = {0.0, 0.0, (double)s->n};
    for (int64_t k = 0; k < s->n; k++) {
        const edges edge = sample_at(s, mesh, k);
        double most = 0.0, next = 0.0;
        for (int i = 0; i < 3; i++) {
            const double n = coarse->size[i] / edge.v[i];
            next = n > most ? most : larger_length(next, n);
            most = larger_length(most, n);
        }
        sum[0] += most;
        sum[1] += next;
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(mesh), 3, sum));
    coarse->across = sum[0] / sum[2];
    coarse->across_next = sum[1] / sum[2];
    return HX_OK;
}

/* Above this aspect ratio, the errors that the smoother leaves are smooth along short edges, which
 * calls for coarsening in that direction; thin walls there, however, need narrow cells. The cell
 * proportions are a compromise between both. */
#define STRETCHED 3.0
/* Stiff sheets between soft layers move independently along short edges. If elements stretched
 * enough for line smoothing differ in that direction, the largest being more than UNEVEN times the
 * mean, cells are no wider than the largest element. A wider cell would tie sheets together as if
 * the material between them were as stiff as its stiffest part. Not for cells with few elements (at
 * most FEW_ELEMENTS across), as for heat conduction and quadratic elements, which have no line
 * smoother. */
#define FEW_ELEMENTS 2.25
#define UNEVEN 1.5

static double least_size(const extents *x, int i)
{
    return 2.0 * (1.0 + 1e-9) * x->half[i];
}

static double cell_size(const extents *x, int i, double mean, double wanted, int may_narrow)
{
    const int has_sheets = may_narrow && x->aspect > HX_COARSE_STRETCHED && mean < 1.0 &&
                           2.0 * x->half[i] > UNEVEN * x->mean[i];
    return has_sheets ? least_size(x, i) : fmax(wanted, least_size(x, i));
}

/* A slender part (more than CELLS_ALONG cells long) has CELLS_ACROSS cells in each cross direction
 * if these contain at least ELEMENTS_LEAST elements across. With two by two cells the coarse grid
 * is too stiff for the independent motions of chords and walls
 * (doc/notebook/2026-11-28-thin-parts.md). */
#define CELLS_ALONG 10.0
#define CELLS_ACROSS 3.0
#define ELEMENTS_LEAST 2.0

static void divide_slender(const extents *x, const double length[3], double size[3])
{
    double narrow[3];
    int n_thin = 0, n_long = 0;
    for (int i = 0; i < 3; i++) {
        narrow[i] = fmax(length[i] / CELLS_ACROSS * (1.0 + 1e-9), least_size(x, i));
        n_thin += narrow[i] < size[i];
        n_long += length[i] > CELLS_ALONG * size[i];
    }
    for (int i = 0; n_thin == 2 && n_long == 1 && i < 3; i++)
        if (narrow[i] >= ELEMENTS_LEAST * x->mean[i]) size[i] = fmin(size[i], narrow[i]);
}

/* Sets the cell size and n[3] for the measured extents. */
static void fit_cells(hx_coarse *coarse, const hx_mesh *mesh, const extents *x, double coarsening,
                      int is_linear, int64_t n[3])
{
    const double volume = cbrt(x->mean[0] * x->mean[1] * x->mean[2]);
    const int may_narrow = is_linear && coarsening > FEW_ELEMENTS;
    double length[3];
    for (int i = 0; i < 3; i++) {
        const double mean = x->mean[i] / volume, share = x->aspect > STRETCHED ? sqrt(mean) : mean;
        length[i] = mesh->box_max[i] - mesh->box_min[i];
        const double wanted =
            fmax(coarsening * mesh->elem_size * share,
                 may_narrow && x->aspect > STRETCHED ? ELEMENTS_LEAST * x->mean[i] : 0.0);
        coarse->size[i] = cell_size(x, i, mean, wanted, may_narrow);
    }
    if (may_narrow) divide_slender(x, length, coarse->size);
    for (;;) {
        double places = 1.0;
        for (int i = 0; i < 3; i++) {
            n[i] = (int64_t)ceil(length[i] / coarse->size[i] - 1e-6);
            if (n[i] < 1) n[i] = 1;
            places *= (double)(n[i] + 1);
        }
        if (places <= MAX_PLACES * (double)hx_mesh_n_elem_all(mesh) + 1e4 && places < 2e9) break;
        for (int i = 0; i < 3; i++) coarse->size[i] *= 1.5;
    }
}

int hx_coarse_choose_size(hx_coarse *coarse, const hx_mesh *mesh, double coarsening, int is_linear,
                          int64_t n[3])
{
    extents x;
    sample s;
    sample_create(&s, mesh);
    int rc = measure_sample(mesh, &s, &x);
    if (rc == HX_OK) {
        fit_cells(coarse, mesh, &x, coarsening, is_linear, n);
        coarse->unit = cbrt(coarse->size[0] * coarse->size[1] * coarse->size[2]);
        memcpy(coarse->origin, mesh->box_min, sizeof coarse->origin);
        rc = count_across(coarse, mesh, &s);
    }
    free(s.edge);
    return rc;
}

int64_t hx_coarse_cell_along(const hx_coarse *coarse, int i, double x, int64_t n)
{
    const double place = (x - coarse->origin[i]) / coarse->size[i];
    return !(place > 0.0) ? 0 : place >= (double)n ? n - 1 : (int64_t)place;
}

void hx_coarse_find_cell(const hx_coarse *coarse, const hx_mesh *mesh, int64_t e,
                         const int64_t n[3], int64_t at[3])
{
    double c[3];
    hx_mesh_centroid(mesh, e, c);
    for (int i = 0; i < 3; i++) at[i] = hx_coarse_cell_along(coarse, i, c[i], n[i]);
}

/* Counts the cells among n[3] that contain a centroid, and their corners. */
static int count_used(const hx_coarse *coarse, const hx_mesh *mesh, const int64_t n[3],
                      double *n_node, double *n_cell)
{
    const int64_t layer[3] = {n[0] + 1, n[1] + 1, n[2] + 1};
    hx_coarse_grid g;
    int rc;
    HX_TRY_FAIL(hx_coarse_grid_alloc(&g, n, layer));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int64_t at[3];
        hx_coarse_find_cell(coarse, mesh, e, n, at);
        const int64_t place = hx_coarse_grid_place(&g, at[0], at[1], at[2]);
#pragma omp atomic write
        g.cell[place] = 1;
    }
    HX_TRY_FAIL(hx_coarse_grid_number(&g));
    *n_cell = (double)g.n_cell;
    *n_node = (double)g.n_node;
    rc = HX_OK;
fail:
    hx_coarse_grid_free(&g);
    return rc;
}

void hx_coarse_estimate(const hx_mesh *mesh, double coarsening, double *n_node, double *n_cell)
{
    const double ideal = (double)hx_mesh_n_elem_all(mesh) / (coarsening * coarsening * coarsening);
    hx_coarse coarse;
    int64_t n[3];
    if (mesh->ownership) { /* counting would need communication */
        *n_cell = *n_node = 1.2 * ideal + 100.0;
        return;
    }
    if (hx_coarse_choose_size(&coarse, mesh, coarsening, 1, n) == HX_OK &&
        count_used(&coarse, mesh, n, n_node, n_cell) == HX_OK)
        return;
    hx_error_clear(); /* too little memory to count */
    /* NOLINTNEXTLINE(clang-analyzer-core*): measuring a whole mesh cannot fail */
    const double places = (double)n[0] * (double)n[1] * (double)n[2];
    const double volume = coarse.size[0] * coarse.size[1] * coarse.size[2];
    /* side of a cube of cells, to which a layer of cells around the mesh is added */
    const double side = cbrt(fmax(1.0, fmin(ideal, mesh->total_volume / volume)));
    *n_cell = fmin(places, (side + 2.0) * (side + 2.0) * (side + 2.0) * 1.2);
    *n_node =
        fmin((double)(n[0] + 1) * (double)(n[1] + 1) * (double)(n[2] + 1), 2.0 * *n_cell + 100.0);
}
