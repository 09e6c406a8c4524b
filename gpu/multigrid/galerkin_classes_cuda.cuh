// Cells of the first coarse grid that contain the same elements in the same places: the
// contribution of such a cell to P'KP is a sum of tables, one per element, times moduli.
#ifndef HX_GALERKIN_CLASSES_CUDA_CUH
#define HX_GALERKIN_CLASSES_CUDA_CUH

#include "core/multigrid/multigrid_place.h"
#include "galerkin_cuda.cuh"

// classes of equal cells; one more class holds all other cells
constexpr int HX_CELL_CLASSES = HX_MG_PLACE_MODELS;

// As seen by kernels. Cells that an update recomputes are listed by class: those of class c from
// begin[c] on, count[c] of them.
struct hx_cell_classes {
    const uint8_t *of; // [n_cell] class; nullptr: all cells are of the last class
    int32_t begin[HX_CELL_CLASSES + 1];
    int32_t *count; // [HX_CELL_CLASSES + 1]
    int n_elem[HX_CELL_CLASSES];
    const double *table[HX_CELL_CLASSES]; // [n_elem][HX_MG_SHARE] of an element with modulus 1
};

// For a mesh that is being prepared (galerkin_means_cuda.cu). Sorts the elements of cells.
int hx_cuda_classes_create(hx_device *dev, hx_mg_mesh *mesh);
void hx_cuda_classes_free(hx_device *dev, hx_mg_mesh *mesh);
double hx_cuda_classes_bytes(int64_t n_elem, double n_cell);

// For a prepared mesh.
hx_cell_classes hx_cuda_classes_of(const hx_mg_mesh *mesh);
// Contributions of the listed cells of classes: computes mesh->d_share from mesh->d_kept.
int hx_cuda_classes_share(hx_device *dev, const hx_mg_mesh *mesh);

#endif
