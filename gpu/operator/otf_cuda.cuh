// Launches matrix-free products over a group of patches: for otf, and for the general elements of
// dedup.
#ifndef HX_OTF_CUDA_CUH
#define HX_OTF_CUDA_CUH

#include "core/operator/device_mesh.h"
#include "hex8_otf.cuh"
#include "patches_cuda.cuh"

constexpr int HX_OTF_PATCH = 64; // number of elements of a patch, and of threads of a block
constexpr int HX_OTF_ROWS = 5 * HX_OTF_PATCH / 2;
constexpr int HX_WIDE_PATCH = 384, HX_WIDE_ROWS = 640;   // for large meshes, on some GPUs
constexpr int HX_DEDUP_PATCH = 256, HX_DEDUP_ROWS = 448; // for classes of congruent elements

// For the group's places: d_elem is the element of each place (nullptr: place = element);
// coordinates are from hx_otf_coordinates, n_block from hx_otf_blocks.
template <class T>
int hx_otf_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                  const hx_device_model &model, const int32_t *d_elem, const T *d_row_xyz,
                  int n_block, const T *d_x, T *d_y);

template <class T> int hx_otf_blocks(const hx_cuda_patches &p, int group, int *n_block);

// Allocates and fills *d_row_xyz: coordinates of the group's rows by position, relative to a node
// of the patch.
template <class T>
int hx_otf_coordinates(const hx_cuda_patches &p, int group, const hx_device_model &model,
                       T **d_row_xyz);

// Versions for wide patches in double precision, for sm_90a. otf_wide_cuda.cu
int hx_otf_wide_launch(const hx_cuda_patches &p, int group, const hx_slice &patches,
                       const hx_device_model &model, const int32_t *d_elem, const double *d_row_xyz,
                       int n_block, const double *d_x, double *d_y);
int hx_otf_wide_blocks(const hx_cuda_patches &p, int *n_block);

#endif
