// The lists of patches_cuda.cuh in device memory.
#include "patches_cuda.cuh"

#include <cstring>

#include "core/operator/patches_split.h"

template <class T> static int put_array(hx_device *dev, T **d_to, const T *from, int64_t n)
{
    const size_t n_bytes = static_cast<size_t>(n) * sizeof(T);
    HX_TRY(dev->ops->alloc(dev, n_bytes, d_to));
    return dev->ops->upload(dev, *d_to, from, n_bytes);
}

static int put_patches(hx_cuda_patches *to, hx_device *dev, const hx_patches *from)
{
    to->dev = dev;
    to->n_group = from->n_group;
    for (int g = 0; g < from->n_group; g++) {
        to->group[g] = from->group[g];
        to->group[g].elem = nullptr;
    }
    to->n_row = from->n_row;
    to->n_shared = from->n_shared;
    to->n_partial = from->n_partial;
    HX_TRY(put_array(dev, &to->d_span, from->span, from->n_patch));
    HX_TRY(put_array(dev, &to->d_corner, from->corner, from->n_place));
    HX_TRY(put_array(dev, &to->d_row_node, from->row_node, from->n_row));
    HX_TRY(put_array(dev, &to->d_row_position, from->row_position, from->n_row));
    HX_TRY(put_array(dev, &to->d_row_slot, from->row_slot, from->n_row));
    HX_TRY(put_array(dev, &to->d_shared_node, from->shared_node, from->n_shared));
    HX_TRY(put_array(dev, &to->d_shared_ptr, from->shared_ptr, from->n_shared + 1));
    HX_TRY(put_array(dev, &to->d_shared_sum, from->shared_sum, from->n_shared_row));
    const unsigned none[2] = {0, 0};
    HX_TRY(put_array(dev, &to->d_taken, none, 2));
    return dev->ops->alloc(dev, static_cast<size_t>(from->n_partial) * 3 * sizeof(double),
                           &to->d_partial);
}

int hx_cuda_patches_put_split(hx_cuda_patches *to, const hx_device_model &model, hx_device *dev,
                              const hx_patches *from, int n_run, const int64_t *first,
                              int64_t *n_boundary)
{
    hx_patches_split split;
    HX_TRY(hx_patches_split_create(&split, from, model.n_node, model.n_interface, model.interface,
                                   n_run, first, n_boundary));
    const int rc = put_patches(to, dev, &split.patches);
    to->n_shared_boundary = split.n_shared_boundary;
    hx_patches_split_free(&split);
    return rc;
}

void hx_cuda_patches_free(hx_cuda_patches *p)
{
    if (!p->dev) return;
    void *const owned[] = {p->d_span,     p->d_corner,      p->d_row_node,   p->d_row_position,
                           p->d_row_slot, p->d_shared_node, p->d_shared_ptr, p->d_shared_sum,
                           p->d_partial,  p->d_taken};
    for (void *d_p : owned) p->dev->ops->release(p->dev, d_p);
    memset(p, 0, sizeof *p);
}
