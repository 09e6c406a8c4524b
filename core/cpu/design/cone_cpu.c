/* Cone-weighted sums over the elements within a radius, on the CPU. In general, a ball is a few
 * dozen contiguous ranges of places, each processed in vector lanes. On a grid of voxels it is a
 * stencil, applied to a run of points along x at a time. One body is compiled for AVX-512, AVX2 and
 * any processor; vector_unit.h selects the version. */
#include <math.h>
#include <stddef.h>

#include "../../base/vector_unit.h"
#include "../../design/bins.h"
#include "../device/cpu_ops.h"

enum { LANES = HX_CELLS_PADDING, CHUNK = 256, RUN = 16 };

/* Mask whose first n lanes are 1 starts at lane COUNT + LANES - n. */
static const double COUNT[2 * LANES] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};

#if defined __GNUC__
#define ALWAYS_INLINE __attribute__((always_inline)) inline
#else
#define ALWAYS_INLINE inline
#endif

typedef struct cone {
    const hx_device_bins *cells;
    /* reach: the radius plus a small margin, so that rounding excludes no cell */
    double radius, reach;
    double inverse; /* 1 / edge of a cell */
} cone;

/* The cell along an axis that contains x, or the nearest one. */
static ALWAYS_INLINE int64_t clamp_cell(const cone *c, int axis, double x)
{
    const int32_t last = (int32_t)c->cells->n_cell[axis] - 1;
    const double cell = (x - c->cells->origin[axis]) * c->inverse;
    const double raised = cell > 0.0 ? cell : 0.0;
    return (int32_t)(raised < (double)last ? raised : (double)last);
}

/* The squared reach minus the squared distance from x to a layer of cells. */
static ALWAYS_INLINE double reach_left(const hx_device_bins *cells, int axis, int64_t cell,
                                       double x, double square)
{
    const double low = cells->origin[axis] + (double)cell * cells->size;
    const double below = low - x, above = x - (low + cells->size);
    const double away = below > above ? below : above;
    return away > 0.0 ? square - away * away : square;
}

/* Adds LANES places from m on. If fewer are left in the range, `count` masks the lanes beyond its
 * end. */
static ALWAYS_INLINE void add_lanes(const cone *c, const double at[3], int64_t m,
                                    const double count[LANES], double sum[LANES])
{
    const double *const x = c->cells->d_x + m, *const y = c->cells->d_y + m,
                        *const z = c->cells->d_z + m;
    const double *const value = c->cells->d_value[0] + m;
#pragma omp simd simdlen(8)
    for (int l = 0; l < LANES; l++) {
        const double dx = x[l] - at[0], dy = y[l] - at[1], dz = z[l] - at[2];
        const double weight = c->radius - sqrt(dx * dx + dy * dy + dz * dz);
        const double v = count ? count[l] * value[l] : value[l];
        sum[l] += (weight > 0.0 ? weight : 0.0) * v;
    }
}

static ALWAYS_INLINE double sum_ball(const cone *c, int64_t place)
{
    const hx_device_bins *const cells = c->cells;
    const double at[3] = {cells->d_x[place], cells->d_y[place], cells->d_z[place]};
    const int64_t k1 = clamp_cell(c, 2, at[2] + c->reach);
    double sum[LANES] = {0.0};
    for (int64_t k = clamp_cell(c, 2, at[2] - c->reach); k <= k1; k++) {
        const double left_z = reach_left(cells, 2, k, at[2], c->reach * c->reach);
        const double reach_y = left_z > 0.0 ? sqrt(left_z) : 0.0;
        const int64_t j1 = clamp_cell(c, 1, at[1] + reach_y);
        for (int64_t j = clamp_cell(c, 1, at[1] - reach_y); j <= j1; j++) {
            const double left = reach_left(cells, 1, j, at[1], left_z);
            const double reach_x = left > 0.0 ? sqrt(left) : 0.0;
            const int32_t *const start =
                cells->d_start + (k * cells->n_cell[1] + j) * cells->n_cell[0];
            const int64_t end = start[clamp_cell(c, 0, at[0] + reach_x) + 1];
            int64_t m = start[clamp_cell(c, 0, at[0] - reach_x)];
            for (; m + LANES <= end; m += LANES) add_lanes(c, at, m, NULL, sum);
            if (m < end) add_lanes(c, at, m, COUNT + LANES - (end - m), sum);
        }
    }
    return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

/* --- voxels --- */

/* sum[] += the weighted values of a line; from[0] is the value at the first point of the run. */
static ALWAYS_INLINE void add_line(const double *from, const double *weight, int width,
                                   double sum[RUN])
{
    for (int i = -width; i <= width; i++) {
        const double w = weight[i < 0 ? -i : i];
        const double *const value = from + i;
#pragma omp simd simdlen(8)
        for (int l = 0; l < RUN; l++) sum[l] += w * value[l];
    }
}

/* Sums for the run of points that begins at x in the line (y, z). */
static ALWAYS_INLINE void sum_run(const cone *c, const int64_t at[3], double sum[RUN])
{
    const hx_voxels *const v = &c->cells->voxels;
    const double *const value = c->cells->d_value[0] + v->reach[0] + at[0];
    for (int l = 0; l < RUN; l++) sum[l] = 0.0;
    for (int dz = -v->reach[2]; dz <= v->reach[2]; dz++) {
        const int64_t z = at[2] + dz;
        for (int dy = -v->reach[1]; dy <= v->reach[1]; dy++) {
            const int64_t y = at[1] + dy;
            const int row = (dz < 0 ? -dz : dz) * (v->reach[1] + 1) + (dy < 0 ? -dy : dy);
            if (z < 0 || z >= v->n[2] || y < 0 || y >= v->n[1]) continue;
            add_line(value + (z * v->n[1] + y) * v->line, v->weight + row * (v->reach[0] + 1),
                     v->width[row], sum);
        }
    }
}

/* Processes the lines [begin, end) along x. */
static ALWAYS_INLINE void sum_lines(const cone *c, int64_t begin, int64_t end, double *sum)
{
    const hx_voxels *const v = &c->cells->voxels;
    for (int64_t line = begin; line < end; line++)
        for (int64_t x = 0; x < v->n[0]; x += RUN) {
            const int32_t *const elem = v->elem + line * v->n[0] + x;
            const int64_t n = v->n[0] - x < RUN ? v->n[0] - x : RUN;
            const int64_t at[3] = {x, line % v->n[1], line / v->n[1]};
            int64_t l = 0;
            double found[RUN];
            while (l < n && elem[l] < 0) l++;
            if (l == n) continue;
            sum_run(c, at, found);
            for (; l < n; l++)
                if (elem[l] >= 0) sum[elem[l]] = found[l];
        }
}

/* Processes lines along x for voxels, and places otherwise. */
static ALWAYS_INLINE void sum_part(const cone *c, int64_t begin, int64_t end, double *sum)
{
    if (c->cells->voxels.n[0] > 0)
        sum_lines(c, begin, end, sum);
    else
        for (int64_t p = begin; p < end; p++) sum[c->cells->d_member[p]] = sum_ball(c, p);
}

typedef void sum_function(const cone *c, int64_t begin, int64_t end, double *sum);

static void sum_any(const cone *c, int64_t begin, int64_t end, double *sum)
{
    sum_part(c, begin, end, sum);
}

#if defined __GNUC__ && defined __x86_64__
__attribute__((target("avx2,fma"))) static void sum_avx2(const cone *c, int64_t begin, int64_t end,
                                                         double *sum)
{
    sum_part(c, begin, end, sum);
}

__attribute__((target("avx2,fma,avx512f"))) static void sum_avx512(const cone *c, int64_t begin,
                                                                   int64_t end, double *sum)
{
    sum_part(c, begin, end, sum);
}
#endif

static sum_function *choose_sum(void)
{
#if defined __GNUC__ && defined __x86_64__
    if (hx_vector_unit_used() == HX_VECTOR_AVX512) return sum_avx512;
    if (hx_vector_unit_used() == HX_VECTOR_AVX2) return sum_avx2;
#endif
    return sum_any;
}

/* Copies the values into the order of places or, for voxels, of grid points. */
static void place_values(const hx_device_bins *cells, const double *value)
{
    const hx_voxels *const v = &cells->voxels;
    double *const by_point = cells->d_value[0] + v->reach[0];
    if (v->n[0] == 0) {
#pragma omp parallel for schedule(static)
        for (int64_t p = 0; p < cells->n; p++) cells->d_value[0][p] = value[cells->d_member[p]];
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t line = 0; line < v->n[1] * v->n[2]; line++)
        for (int64_t x = 0; x < v->n[0]; x++) {
            const int32_t elem = v->elem[line * v->n[0] + x];
            if (elem >= 0) by_point[line * v->line + x] = value[elem];
        }
}

static void sum_field(const cone *c, const double *value, double *sum)
{
    const hx_device_bins *const cells = c->cells;
    const hx_voxels *const v = &cells->voxels;
    sum_function *const sum_chunk = choose_sum();
    const int is_voxels = v->n[0] > 0;
    const int64_t n = is_voxels ? v->n[1] * v->n[2] : cells->n, chunk = is_voxels ? 1 : CHUNK;
    place_values(cells, value);
#pragma omp parallel for schedule(dynamic)
    for (int64_t begin = 0; begin < n; begin += chunk)
        sum_chunk(c, begin, begin + chunk < n ? begin + chunk : n, sum);
}

int hx_cpu_cone_sum(hx_device *dev, const hx_device_bins *cells, double radius, int n_field,
                    const double *const d_value[], double *const d_sum[])
{
    const cone c = {cells, radius, radius * (1.0 + 1e-9),
                    cells->size > 0.0 ? 1.0 / cells->size : 0.0};
    (void)dev;
    for (int i = 0; i < n_field; i++) sum_field(&c, d_value[i], d_sum[i]);
    return HX_OK;
}
