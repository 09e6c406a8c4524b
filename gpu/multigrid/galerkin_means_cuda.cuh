// Cells of the first coarse grid whose contribution to P'KP is computed from the mean strains of
// their elements. If the motions of the cell's corners hardly bend an element, mean strains account
// for nearly all of the energy.
#ifndef HX_GALERKIN_MEANS_CUDA_CUH
#define HX_GALERKIN_MEANS_CUDA_CUH

#include "galerkin_cell.cuh"
#include "galerkin_classes_cuda.cuh"

// hx_mg_transfer_ops.mesh_prepare, .mesh_release and .prepared_bytes: finds the classes of equal
// cells, and which of the other cells may use mean strains. The cost is about that of one product
// with all of them.
int hx_cuda_mesh_prepare(hx_device *dev, hx_mg_mesh *mesh);
void hx_cuda_mesh_release(hx_device *dev, hx_mg_mesh *mesh);
double hx_cuda_prepared_bytes(int64_t n_elem, double n_cell);

// Contributions of the list[n_cell + 1] cells listed from list[n_cell - 1] downwards: computes
// mesh->d_share from mesh->d_kept.
int hx_cuda_means_share(hx_device *dev, const hx_mg_mesh *mesh,
                        const hx_galerkin::galerkin_input &in);

// Adds the cells with mean strains among n cells of a colour to the coarse matrix.
int hx_cuda_means_add(hx_device *dev, const hx_mg_mesh *mesh, const hx_galerkin::galerkin_input &in,
                      const int32_t *d_coloured, int n, const hx_mg_level *level);

#endif
