// Internals of the GPU's matrices (core/matrix/matrix.h).
#ifndef HX_MATRIX_CUDA_CUH
#define HX_MATRIX_CUDA_CUH

#include "../device/scratch_cuda.cuh"
#include "core/base/memory.h"
#include "core/matrix/matrix.h"

// Kernels read values 16 bytes at a time, so this many spare bytes follow the last one.
constexpr size_t HX_VALUE_SPARE = 16;

// Number of free bytes of the device; 0: unknown.
inline size_t hx_free_bytes(hx_device *dev)
{
    size_t n_free = 0, n_total = 0;
    return dev->ops->memory(dev, &n_free, &n_total) == HX_OK ? n_free : 0;
}

// HX_EENV, naming the fill, if fewer than `bytes` bytes are free.
inline int hx_check_fill_bytes(hx_device *dev, hx_fill fill, size_t bytes)
{
    const size_t n_free = hx_free_bytes(dev);
    char want[32], have[32];
    if (n_free == 0 || bytes <= n_free) return HX_OK; // 0: unknown
    return HX_RAISE(
        HX_EENV, "fill '%s' needs %s on device '%s', but only %s is free; use fill 'gather'",
        hx_fill_kinds[fill].name, hx_format_bytes(static_cast<double>(bytes), want, sizeof want),
        dev->ops->name, hx_format_bytes(static_cast<double>(n_free), have, sizeof have));
}

// pattern_cuda.cu
int hx_cuda_pattern(hx_device *dev, const hx_incidence *d_incidence, const hx_pattern_spec *spec,
                    hx_device_pattern *pattern, hx_steps *steps);

// cut_cuda.cu
int hx_cuda_cutter_create(void **cutter, hx_device *dev, const hx_fill_input *d_whole);
int hx_cuda_cut(void *cutter, int64_t first, int64_t n, hx_device_cut *cut);
void hx_cuda_cutter_free(void *cutter);
int hx_cuda_shift(hx_device *dev, const hx_device_pattern *pattern, int64_t first_point,
                  int64_t first_entry);

// matrix_multiply_cuda.cu
int hx_cuda_matrix_multiply(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y);
int hx_cuda_matrix_multiply_part(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                 const double *d_x, double *d_y);
int hx_cuda_matrix_multiply_dot(hx_device *dev, const hx_matrix *m, const double *d_x, double *d_y,
                                double *d_sum);
int hx_cuda_matrix_multiply_single(hx_device *dev, const hx_matrix *m, const float *d_x, float *d_y,
                                   double *d_work);

int hx_cuda_matrix_multiply_part_single(hx_device *dev, const hx_matrix *m, hx_product_part part,
                                        const float *d_x, float *d_y, double *d_work);

// Creates the plan of a whole matrix's products, m->plan, after the values have been allocated.
// Waits.
int hx_cuda_product_create(hx_device *dev, hx_matrix *m);
int hx_cuda_product_divide(hx_device *dev, hx_matrix *m, int64_t n, const int32_t *point);
void hx_cuda_product_free(hx_device *dev, void *plan); // accepts NULL
size_t hx_cuda_product_bytes(const hx_matrix *m);
// Number of bytes that it will take (host arrays). For a lower matrix, as long as a build, on one
// thread; HX_ENOMEM.
int hx_cuda_product_expected(const hx_incidence *incidence, const hx_matrix_spec *spec,
                             size_t *bytes);

// fill_cuda.cu: dispatches over the table below.
int hx_cuda_fill_create(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                        const hx_fill_input *d_input);
int hx_cuda_fill_run(void *state);
void hx_cuda_fill_free(void *state);
size_t hx_cuda_fill_bytes(const void *state);
void hx_cuda_fill_steps(const void *state, hx_steps *steps);
int hx_cuda_fill_reads_slots(const void *state);

// The data of each fill begins with this.
struct hx_cuda_filling {
    const struct hx_cuda_fill_kind *kind;
    hx_device *dev; // (borrowed, like m)
    const hx_matrix *m;
    hx_fill_input input;
};

// A fill of the GPU. fill_cuda.cu allocates struct_bytes, zeroed, sets the four members above and
// calls `prepare`, which creates the rest. `release` frees what `prepare` created, also if that was
// incomplete. `prepare` returns 1 if the fill does not support this matrix of a spline;
// hx_cuda_fill_control is used then.
struct hx_cuda_fill_kind {
    size_t struct_bytes;
    int (*prepare)(hx_cuda_filling *filling);
    int (*run)(hx_cuda_filling *filling);
    void (*release)(hx_cuda_filling *filling);
    size_t (*bytes)(const hx_cuda_filling *filling);
    int spares_slots = 0; // 1: `run` does not read the pattern's slots
    void (*steps)(const hx_cuda_filling *filling, hx_steps *steps) = nullptr; // of the last `run`
};
extern const hx_cuda_fill_kind hx_cuda_fill_gather; // fill_gather_cuda.cu
extern const hx_cuda_fill_kind
    hx_cuda_fill_points; // fill_points_cuda.cu: gather for quadratic cells
// fill_lines_cuda.cu: gather for splines of one degree
extern const hx_cuda_fill_kind hx_cuda_fill_lines;
extern const hx_cuda_fill_kind hx_cuda_fill_control;  // fill_control_cuda.cu: gather for any spline
extern const hx_cuda_fill_kind hx_cuda_fill_tetra;    // fill_tetra_cuda.cu: gather for tetrahedra
extern const hx_cuda_fill_kind hx_cuda_fill_stored;   // fill_stored_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_atomic;   // fill_scatter_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_separate; // fill_scatter_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_colour;   // fill_scatter_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_nz;       // fill_nz_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_sort;     // fill_sort_cuda.cu
extern const hx_cuda_fill_kind hx_cuda_fill_triplets; // fill_sort_cuda.cu

// Upper bound on the bytes of device memory that gather keeps for this mesh (host arrays). O(1).
size_t hx_cuda_gather_expected(const hx_incidence *incidence, int components);
size_t hx_cuda_lines_expected(const hx_incidence *incidence); // fill_lines_cuda.cu; O(n_place)
size_t hx_cuda_points_expected(const hx_incidence *incidence,
                               int components); // fill_points_cuda.cu

#endif
