// Steps that the builders of a pattern on the GPU share: their times, memory, and the rows from
// their offsets.
#include "pattern_cuda.cuh"

namespace
{

// Width of the widest row of ptr[0 .. n].
__global__ void __launch_bounds__(HX_BLOCK)
    find_widest(int64_t n, const int64_t *ptr, unsigned *widest)
{
    unsigned most = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * HX_BLOCK + threadIdx.x; i < n;
         i += static_cast<int64_t>(gridDim.x) * HX_BLOCK)
        most = max(most, static_cast<unsigned>(ptr[i + 1] - ptr[i]));
    for (int step = HX_WARP / 2; step > 0; step /= 2)
        most = max(most, __shfl_xor_sync(HX_FULL_WARP, most, step));
    if (threadIdx.x % HX_WARP == 0 && most > 0) atomicMax(widest, most);
}

} // namespace

int hx_step_begin(hx_step_clock *clock, const char *name)
{
    const int i = clock->n;
    if (!clock->steps || i == HX_MAX_STEP) return HX_OK;
    clock->name[i] = name;
    HX_TRY_CUDA(cudaEventCreate(&clock->begin[i]));
    HX_TRY_CUDA(cudaEventCreate(&clock->end[i]));
    return HX_CUDA(cudaEventRecord(clock->begin[i], clock->stream));
}

int hx_step_end(hx_step_clock *clock)
{
    if (!clock->steps || clock->n == HX_MAX_STEP) return HX_OK;
    return HX_CUDA(cudaEventRecord(clock->end[clock->n++], clock->stream));
}

int hx_take_memory(hx_device *dev, size_t bytes, void *d_out, const char *what)
{
    const int rc = dev->ops->alloc(dev, bytes, d_out);
    if (rc != HX_ENOMEM) return rc;
    return HX_RAISE(HX_EENV, "%s: %.2f GB of device memory needed, but not available", what,
                    1e-9 * static_cast<double>(bytes));
}

int hx_queue_widest(const hx_building *b, int64_t n, const int64_t *d_ptr, unsigned *d_widest)
{
    const unsigned n_most = 8u * static_cast<unsigned>(hx_cuda_of(b->dev)->n_sm);
    unsigned n_block = hx_blocks(n, HX_BLOCK);
    if (n == 0) return HX_OK;
    if (n_block > n_most) n_block = n_most;
    find_widest<<<n_block, HX_BLOCK, 0, b->stream>>>(n, d_ptr, d_widest);
    return HX_LAUNCHED("find_widest");
}

int hx_read_offsets(const hx_building *b, hx_found *d_found, hx_found *found)
{
    hx_device_pattern *p = b->p;
    HX_TRY(
        b->dev->ops->copy(b->dev, &d_found->n_entry, p->d_row_ptr + p->n_row, sizeof p->n_entry));
    HX_TRY(b->dev->ops->download(b->dev, found, d_found, sizeof *found));
    p->n_entry = found->n_entry;
    return HX_OK;
}

int hx_judge_rows(const hx_building *b, unsigned widest)
{
    hx_device_pattern *p = b->p;
    if (widest >= HX_NO_SLOT_16)
        return HX_RAISE(HX_EINPUT,
                        "a node of the mesh has %u neighbours; a matrix supports at most 65534",
                        widest);
    p->max_row = static_cast<int>(widest);
    p->slot_bytes = widest <= HX_NO_SLOT_8 ? 1 : 2;
    return HX_OK;
}
