// Receive buffers that processes of one machine open by CUDA IPC (transport_ops.h): values are
// written directly into the memory of the other process, on another GPU (NVLink, PCIe) or on the
// same one. An operation that reads received values waits in its kernel for a number in its own
// GPU's memory. On a GPU that two processes share, the queue waits before the kernel instead, so
// that the other process can use the GPU at once.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <pthread.h>

#include <cstring>

#include "early_cuda.cuh"
#include "transport_cuda.cuh"
#include "vector_cuda.cuh"

namespace
{

static_assert(sizeof(cudaIpcMemHandle_t) <= HX_TRANSPORT_HANDLE, "a handle fits");
static_assert(sizeof(cudaUUID_t) <= HX_TRANSPORT_DEVICE, "the identifier of a GPU fits");

constexpr int BLOCKS_PER_SM = 2;

__device__ __forceinline__ uint64_t *turn_of(char *d_remote)
{
    return reinterpret_cast<uint64_t *>(d_remote) + HX_TRANSPORT_TURN;
}

// The numbers of exchanges are in the first bytes of a buffer, which other processes write, so
// loads bypass the L1 cache.
__device__ __forceinline__ uint64_t load_turn(const uint64_t *at)
{
    uint64_t turn;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(turn) : "l"(at) : "memory");
    return turn;
}

__device__ __forceinline__ void store_turn(uint64_t *at, uint64_t turn)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" : : "l"(at), "l"(turn) : "memory");
}

template <class T>
__device__ __forceinline__ void put_item(const hx_transport_items &items, size_t half, int64_t k,
                                         const T *y)
{
    const int components = items.components;
    const int64_t i = k / components, c = k % components;
    int r = 0;
    while (items.first[r + 1] <= i) r++;
    const int64_t place = components * (i - items.first[r]) + c;
    int64_t from = place;
    if (items.d_at) from = items.d_at[components * (items.d_item ? items.d_item[i] : i) + c];
    reinterpret_cast<T *>(items.d_to[r] + half)[place] = y[from];
}

// To be called by one thread when all values of this exchange have been written.
__device__ __forceinline__ void end_put(const hx_transport_items &items, uint64_t turn)
{
    *turn_of(items.d_remote) = turn;
    __threadfence_system();
    for (int r = 0; r < items.n_rank; r++)
        if (items.d_head[r]) store_turn(items.d_head[r], turn);
}

// One launch for all processes; the last block to end publishes the exchange.
template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    put_kernel(hx_transport_items items, const T *__restrict__ y, unsigned *ticket)
{
    const uint64_t turn = load_turn(turn_of(items.d_remote)) + 1;
    const size_t half = turn % 2 ? items.half : 0;
    const int64_t n = items.components * items.first[items.n_rank],
                  stride = static_cast<int64_t>(gridDim.x) * HX_BLOCK;
    for (int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x; k < n; k += stride)
        put_item(items, half, k, y);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x > 0 || atomicAdd(ticket, 1) + 1 < gridDim.x) return;
    *ticket = 0;
    end_put(items, turn);
}

// Waits for the values of the current exchange and returns their address. All threads of a block
// call it.
template <class T>
__device__ __forceinline__ const T *wait_for_all(const hx_transport_arrivals &came)
{
    const uint64_t *head = reinterpret_cast<const uint64_t *>(came.d_remote);
    const uint64_t turn = load_turn(head + HX_TRANSPORT_TURN);
    const int r = static_cast<int>(threadIdx.x);
    if (!came.is_over && r < came.n_rank && r != came.own)
        while (load_turn(head + r) < turn) {
        }
    __syncthreads();
    return reinterpret_cast<const T *>(came.d_remote + HX_TRANSPORT_HEAD +
                                       (turn % 2 ? came.half : 0));
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    add_kernel(hx_transport_arrivals from, hx_transport_sums sums, T *__restrict__ y)
{
    const T *const came = wait_for_all<T>(from);
    const int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    const int64_t i = k / sums.components, c = k % sums.components;
    T sum = 0;
    if (i >= sums.n) return;
    const int64_t at = sums.d_at[k], first = sums.d_first[i];
    const T own = y[at];
    for (int64_t j = first; j < sums.d_first[i + 1]; j++) {
        const int64_t source = sums.d_source[j];
        const T value = source < 0 ? own : __ldcg(came + sums.components * source + c);
        sum = j == first ? value : sum + value;
    }
    y[at] = sum;
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    take_kernel(hx_transport_arrivals from, int64_t n, T *__restrict__ y)
{
    const T *const came = wait_for_all<T>(from);
    const int64_t i = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    if (i < n) y[i] = __ldcg(came + i);
}

template <class T>
__device__ __forceinline__ void add_ranks(const hx_transport_arrivals &from, const T *came,
                                          int64_t n, int64_t i, T *y)
{
    T sum = 0;
    for (int r = 0; r < from.n_rank; r++) {
        const T value = r == from.own ? y[i] : __ldcg(came + (r < from.own ? r : r - 1) * n + i);
        sum = r == 0 ? value : sum + value;
    }
    y[i] = sum;
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    add_all_kernel(hx_transport_arrivals from, int64_t n, T *__restrict__ y)
{
    const T *const came = wait_for_all<T>(from);
    const int64_t i = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    if (i < n) add_ranks(from, came, n, i, y);
}

// One block: sends, waits and adds.
__global__ void __launch_bounds__(HX_BLOCK)
    sum_few_kernel(hx_transport_items items, hx_transport_arrivals from, int64_t n, double *y)
{
    const uint64_t turn = load_turn(turn_of(items.d_remote)) + 1;
    const size_t half = turn % 2 ? items.half : 0;
    for (int64_t k = threadIdx.x; k < items.first[items.n_rank]; k += HX_BLOCK)
        put_item(items, half, k, y);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) end_put(items, turn);
    __syncthreads();
    const double *const came = wait_for_all<double>(from);
    if (threadIdx.x < n) add_ranks(from, came, n, static_cast<int64_t>(threadIdx.x), y);
}

// Sends, waits and takes. All blocks run at the same time, so waiting blocks do not keep others
// from sending. The next kernel may meanwhile read its own constant data.
__global__ void __launch_bounds__(HX_BLOCK)
    trade_kernel(hx_transport_items items, hx_transport_arrivals from, const float *y, int64_t n,
                 float *taken, unsigned *ticket)
{
    hx_let_next_begin();
    hx_wait_for_last();
    const uint64_t turn = load_turn(turn_of(items.d_remote)) + 1;
    const size_t half = turn % 2 ? items.half : 0;
    const int64_t n_out = items.components * items.first[items.n_rank],
                  stride = static_cast<int64_t>(gridDim.x) * HX_BLOCK,
                  thread = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    for (int64_t k = thread; k < n_out; k += stride) put_item(items, half, k, y);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(ticket, 1) + 1 == gridDim.x) {
        *ticket = 0;
        end_put(items, turn);
    }
    const uint64_t *head = reinterpret_cast<const uint64_t *>(items.d_remote);
    const int r = static_cast<int>(threadIdx.x);
    if (r < from.n_rank && r != from.own)
        while (load_turn(head + r) < turn) {
        }
    __syncthreads();
    const float *const came =
        reinterpret_cast<const float *>(items.d_remote + HX_TRANSPORT_HEAD + half);
    for (int64_t i = thread; i < n; i += stride) taken[i] = __ldcg(came + i);
}

PFN_cuStreamWaitValue64_v11070 wait_call = nullptr;

void look_for_wait()
{
    void *call = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuStreamWaitValue64", &call, 11070,
                                                                cudaEnableDefault, &result);
    cudaGetLastError();
    if (status == cudaSuccess && result == cudaDriverEntryPointSuccess)
        memcpy(&wait_call, &call, sizeof wait_call);
}

// The driver function by which a stream waits for a number in memory; nullptr: the driver has none.
// Any thread may call it.
PFN_cuStreamWaitValue64_v11070 find_wait()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_wait);
    return wait_call;
}

int tell_device(hx_device *dev, unsigned char id[HX_TRANSPORT_DEVICE])
{
    cudaDeviceProp properties;
    const cudaError_t status = cudaGetDeviceProperties(&properties, hx_cuda_of(dev)->place);
    if (status != cudaSuccess) return hx_cuda_transport_refuse(status, "the identifier of the GPU");
    memcpy(id, &properties.uuid, sizeof properties.uuid);
    return HX_OK;
}

int alloc(hx_device *dev, size_t bytes, void *d_out, unsigned char handle[HX_TRANSPORT_HANDLE])
{
    cudaIpcMemHandle_t own;
    void *d_remote = nullptr;
    if (!find_wait()) return HX_RAISE(HX_EENV, "the CUDA driver does not support waits in streams");
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess) status = cudaMalloc(&d_remote, bytes);
    if (status != cudaSuccess)
        return hx_cuda_transport_refuse(status, "memory shared by several processes");
    if (status == cudaSuccess)
        status = cudaMemsetAsync(d_remote, 0, bytes, hx_cuda_of(dev)->stream);
    if (status == cudaSuccess) status = cudaStreamSynchronize(hx_cuda_of(dev)->stream);
    if (status == cudaSuccess) status = cudaIpcGetMemHandle(&own, d_remote);
    if (status != cudaSuccess) {
        cudaFree(d_remote);
        return hx_cuda_transport_refuse(status, "memory shared by several processes");
    }
    memcpy(handle, &own, sizeof own);
    memcpy(d_out, &d_remote, sizeof d_remote);
    return HX_OK;
}

void release(hx_device *, void *d_remote, size_t, const unsigned char *)
{
    cudaFree(d_remote);
}

int open(hx_device *, const unsigned char handle[HX_TRANSPORT_HANDLE], size_t, void *d_out)
{
    cudaIpcMemHandle_t other;
    void *d_remote = nullptr;
    memcpy(&other, handle, sizeof other);
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess)
        status = cudaIpcOpenMemHandle(&d_remote, other, cudaIpcMemLazyEnablePeerAccess);
    if (status != cudaSuccess) return hx_cuda_transport_refuse(status, "memory of another process");
    memcpy(d_out, &d_remote, sizeof d_remote);
    return HX_OK;
}

void close(hx_device *, void *d_remote, size_t)
{
    cudaIpcCloseMemHandle(d_remote);
}

template <class T> int put_items(hx_device *dev, const hx_transport_items *items, const T *d_y)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const int64_t n = items->components * items->first[items->n_rank],
                  most = BLOCKS_PER_SM * static_cast<int64_t>(impl->n_sm);
    const int64_t needed = (n + HX_BLOCK - 1) / HX_BLOCK;
    const int64_t n_block = needed < 1 ? 1 : needed < most ? needed : most;
    put_kernel<T><<<static_cast<unsigned>(n_block), HX_BLOCK, 0, impl->stream>>>(*items, d_y,
                                                                                 impl->d_ticket);
    return HX_LAUNCHED("sending to other processes");
}

int swap_single(hx_device *dev, const hx_transport_items *items, const hx_transport_arrivals *came,
                const float *d_y, int64_t n, float *d_taken)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    const int64_t n_out = items->components * items->first[items->n_rank],
                  needed = ((n > n_out ? n : n_out) + HX_BLOCK - 1) / HX_BLOCK;
    const int64_t n_block = needed < 1 ? 1 : needed < impl->n_sm ? needed : impl->n_sm;
    return hx_launch_early(dev, "exchange with other processes", trade_kernel,
                           dim3(static_cast<unsigned>(n_block)), dim3(HX_BLOCK), 0, *items, *came,
                           d_y, n, d_taken, impl->d_ticket);
}

int wait(hx_device *dev, const hx_transport_arrivals *came, uint64_t turn)
{
    for (int r = 0; r < came->n_rank; r++) {
        if (r == came->own) continue;
        CUresult status = HX_CUDA_FAULT() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
        if (status == CUDA_SUCCESS)
            status = find_wait()(hx_cuda_of(dev)->stream,
                                 reinterpret_cast<CUdeviceptr>(came->d_remote) + r * sizeof turn,
                                 turn, CU_STREAM_WAIT_VALUE_GEQ);
        if (status != CUDA_SUCCESS)
            return HX_RAISE(HX_EDEVICE, "CUDA: error %d in cuStreamWaitValue64: " HX_DEVICE_REMEDY,
                            static_cast<int>(status));
    }
    return HX_OK;
}

// Number of blocks for n numbers; at least one, which waits.
unsigned blocks_of(int64_t n)
{
    return hx_blocks(n > 0 ? n : 1, HX_BLOCK);
}

int sum_few(hx_device *dev, const hx_transport_items *items, const hx_transport_arrivals *came,
            int64_t n, double *d_y)
{
    sum_few_kernel<<<1, HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(*items, *came, n, d_y);
    return HX_LAUNCHED("sums over processes");
}

} // namespace

int hx_cuda_transport_refuse(cudaError_t status, const char *what)
{
    cudaGetLastError();
    return HX_RAISE(HX_EENV, "%s: %s", what, cudaGetErrorString(status));
}

template <class T>
int hx_cuda_transport_add(hx_device *dev, const hx_transport_arrivals *came,
                          const hx_transport_sums *sums, T *d_y)
{
    add_kernel<T><<<blocks_of(sums->components * sums->n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        *came, *sums, d_y);
    return HX_LAUNCHED("receiving from other processes");
}

template <class T>
int hx_cuda_transport_take(hx_device *dev, const hx_transport_arrivals *came, int64_t n, T *d_y)
{
    take_kernel<T><<<blocks_of(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(*came, n, d_y);
    return HX_LAUNCHED("receiving from other processes");
}

template <class T>
int hx_cuda_transport_add_all(hx_device *dev, const hx_transport_arrivals *came, int64_t n, T *d_y)
{
    add_all_kernel<T><<<blocks_of(n), HX_BLOCK, 0, hx_cuda_of(dev)->stream>>>(*came, n, d_y);
    return HX_LAUNCHED("sums over processes");
}

template int hx_cuda_transport_add(hx_device *, const hx_transport_arrivals *,
                                   const hx_transport_sums *, double *);
template int hx_cuda_transport_add(hx_device *, const hx_transport_arrivals *,
                                   const hx_transport_sums *, float *);
template int hx_cuda_transport_take(hx_device *, const hx_transport_arrivals *, int64_t, double *);
template int hx_cuda_transport_take(hx_device *, const hx_transport_arrivals *, int64_t, float *);
template int hx_cuda_transport_add_all(hx_device *, const hx_transport_arrivals *, int64_t,
                                       double *);
template int hx_cuda_transport_add_all(hx_device *, const hx_transport_arrivals *, int64_t,
                                       float *);

const hx_transport_ops hx_cuda_transport_ops = {
    .name = "CUDA IPC",
    .is_quick = 1,
    .tell_device = tell_device,
    .alloc = alloc,
    .release = release,
    .open = open,
    .close = close,
    .put = put_items<double>,
    .put_single = put_items<float>,
    .wait = wait,
    .add = hx_cuda_transport_add<double>,
    .add_single = hx_cuda_transport_add<float>,
    .take = hx_cuda_transport_take<double>,
    .take_single = hx_cuda_transport_take<float>,
    .add_all = hx_cuda_transport_add_all<double>,
    .add_all_single = hx_cuda_transport_add_all<float>,
    .sum_few = sum_few,
    .swap_single = swap_single,
};
