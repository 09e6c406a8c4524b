// Cells of the first lattice that hold the same elements in the same places: a cell's part of P'KP
// is then a sum of tables, one an element, times moduli.
#ifndef HX_GALERKIN_CLASSES_CUDA_CUH
#define HX_GALERKIN_CLASSES_CUDA_CUH

#include "core/solver/multigrid_place.h"
#include "galerkin_cuda.cuh"

constexpr int HX_CELL_CLASSES = HX_MG_PLACE_MODELS; // of cells alike; then the one of all others

// As kernels see them. Cells that an update makes again are listed by class: those of class c from
// begin[c] on, count[c] of them.
struct hx_cell_classes {
    const uint8_t *of; // [n_cell] class; NULL: all are of the last
    int32_t begin[HX_CELL_CLASSES + 1];
    int32_t *count; // [HX_CELL_CLASSES + 1]
    int n_elem[HX_CELL_CLASSES];
    const double *table[HX_CELL_CLASSES]; // [n_elem][HX_MG_SHARE] of an element of modulus 1
};

// Of a mesh that is prepared (galerkin_means_cuda.cu). Sorts the elements of cells.
int hx_cuda_classes_create(hx_device *dev, hx_mg_mesh *mesh);
void hx_cuda_classes_free(hx_device *dev, hx_mg_mesh *mesh);
double hx_cuda_classes_bytes(int64_t n_elem, double n_cell);

// Of a mesh that is prepared.
hx_cell_classes hx_cuda_classes_of(const hx_mg_mesh *mesh);
// Parts of the listed cells alike: mesh->d_share from mesh->d_kept.
int hx_cuda_classes_share(hx_device *dev, const hx_mg_mesh *mesh);

#endif
