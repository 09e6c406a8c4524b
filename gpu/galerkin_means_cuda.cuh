// Cells of the first lattice whose part of P'KP is that of their elements' mean strains: where the
// motions of the cell's corners hardly bend an element, that is nearly all of their energy.
#ifndef HX_GALERKIN_MEANS_CUDA_CUH
#define HX_GALERKIN_MEANS_CUDA_CUH

#include "galerkin_cell.cuh"
#include "galerkin_classes_cuda.cuh"

// hx_multigrid_ops.mesh_prepare, .mesh_release and .prepared_bytes: cells alike, and of which of
// the others parts are of mean strains. That costs about as much as one product of all of them.
int hx_cuda_mesh_prepare(hx_device *dev, hx_mg_mesh *mesh);
void hx_cuda_mesh_release(hx_device *dev, hx_mg_mesh *mesh);
double hx_cuda_prepared_bytes(int64_t n_elem, double n_cell);

// Parts of the cells that list[n_cell - 1] and down hold, list[n_cell + 1] of them: mesh->d_share
// from mesh->d_kept.
int hx_cuda_means_share(hx_device *dev, const hx_mg_mesh *mesh,
                        const hx_galerkin::galerkin_input &in);

// Adds the cells of mean strains among n of a colour to the lattice's matrix.
int hx_cuda_means_add(hx_device *dev, const hx_mg_mesh *mesh, const hx_galerkin::galerkin_input &in,
                      const int32_t *d_coloured, int n, const hx_mg_level *level);

#endif
