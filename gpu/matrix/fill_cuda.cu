// The fills of the GPU, by name.
#include <cstdlib>

#include "core/base/memory.h"
#include "matrix_cuda.cuh"

// The fill `gather` by kind of cells: splines, quadratic cells, tetrahedra, and hexahedra or mixed
// cells.
static const hx_cuda_fill_kind *find_gather(const hx_incidence *in)
{
    if (in->spline) return &hx_cuda_fill_lines;
    if (in->kind) return &hx_cuda_fill_points;
    return in->is_tetrahedral ? &hx_cuda_fill_tetra : &hx_cuda_fill_gather;
}

static const hx_cuda_fill_kind *find_fill_kind(hx_fill fill, const hx_incidence *in)
{
    switch (fill) {
    case HX_FILL_GATHER:
        return find_gather(in);
    case HX_FILL_STORED:
        return &hx_cuda_fill_stored;
    case HX_FILL_ATOMIC:
        return &hx_cuda_fill_atomic;
    case HX_FILL_SEPARATE:
        return &hx_cuda_fill_separate;
    case HX_FILL_COLOUR:
        return &hx_cuda_fill_colour;
    case HX_FILL_NZ:
        return &hx_cuda_fill_nz;
    case HX_FILL_SORT:
        return &hx_cuda_fill_sort;
    default:
        return &hx_cuda_fill_triplets;
    }
}

// The fills that support quadratic cells.
static constexpr unsigned QUADRATIC_FILLS = 1u << HX_FILL_GATHER | 1u << HX_FILL_STORED;

static int check_spline(hx_fill fill)
{
    if (fill == HX_FILL_GATHER) return HX_OK;
    return HX_RAISE(HX_EINPUT, "device 'cuda' supports only fill 'gather' for splines, not '%s'",
                    hx_fill_kinds[fill].name);
}

// Returns HX_OK, an error, or 1 if the kind does not support this matrix.
static int create_fill_state(void **state, const hx_cuda_fill_kind *kind, hx_device *dev,
                             const hx_matrix *m, const hx_fill_input *d_input)
{
    hx_cuda_filling *filling;
    HX_TRY(hx_alloc(&filling, 1, kind->struct_bytes, "fill"));
    filling->kind = kind;
    filling->dev = dev;
    filling->m = m;
    filling->input = *d_input;
    int rc = kind->prepare(filling);
    if (rc == HX_OK) rc = dev->ops->sync(dev);
    if (rc != HX_OK)
        hx_cuda_fill_free(filling);
    else
        *state = filling;
    return rc;
}

int hx_cuda_fill_create(void **state, hx_device *dev, hx_fill fill, const hx_matrix *m,
                        const hx_fill_input *d_input)
{
    const hx_incidence *const in = &d_input->incidence;
    *state = nullptr;
    if (in->spline)
        HX_TRY(check_spline(fill));
    else if (in->kind && (!(QUADRATIC_FILLS & 1u << fill) || !d_input->rule))
        return HX_RAISE(HX_EINPUT,
                        "device 'cuda' supports only fills 'gather' and 'stored' for quadratic "
                        "elements, not '%s'",
                        hx_fill_kinds[fill].name);
    if (in->n_per_cell != 8 && !in->kind && !in->spline)
        return HX_RAISE(
            HX_EINPUT,
            "device 'cuda' fills only matrices of 8-node hexahedra or of quadratic elements");
    const int rc = create_fill_state(state, find_fill_kind(fill, in), dev, m, d_input);
    return rc == 1 ? create_fill_state(state, &hx_cuda_fill_control, dev, m, d_input) : rc;
}

int hx_cuda_fill_run(void *state)
{
    auto *filling = static_cast<hx_cuda_filling *>(state);
    return filling->kind->run(filling);
}

void hx_cuda_fill_free(void *state)
{
    auto *filling = static_cast<hx_cuda_filling *>(state);
    if (!filling) return;
    filling->kind->release(filling);
    free(filling);
}

int hx_cuda_fill_reads_slots(const void *state)
{
    return !static_cast<const hx_cuda_filling *>(state)->kind->spares_slots;
}

void hx_cuda_fill_steps(const void *state, hx_steps *steps)
{
    const auto *filling = static_cast<const hx_cuda_filling *>(state);
    steps->n = 0;
    if (filling->kind->steps) filling->kind->steps(filling, steps);
}

size_t hx_cuda_fill_bytes(const void *state)
{
    const auto *filling = static_cast<const hx_cuda_filling *>(state);
    return filling->kind->bytes(filling);
}
