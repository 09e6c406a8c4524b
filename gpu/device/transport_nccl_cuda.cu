// Messages between GPUs by NCCL (transport_ops.h), on one machine or several. The library is loaded
// when it is first needed, and all functions are looked up then, so that one program runs with and
// without NCCL. An exchange is one group of sends and receives, none of them empty, between kernels
// that pack and add. The first exchanges, which are trials, establish the connections: NCCL does
// this at the first message, which could not be recorded.
#include <dlfcn.h>
#include <pthread.h>

#include <cstring>

#include "transport_cuda.cuh"

namespace
{

// As in NCCL's documentation (version 2.7 and later).
struct nccl_id {
    char internal[HX_TRANSPORT_ID];
};
using nccl_comm = void *;
constexpr int NCCL_BYTES = 0; // ncclInt8

struct library {
    int (*get_id)(nccl_id *id);
    int (*init)(nccl_comm *comm, int n_rank, nccl_id id, int rank);
    int (*destroy)(nccl_comm comm);
    int (*group_start)();
    int (*group_end)();
    int (*send)(const void *from, size_t n, int type, int peer, nccl_comm comm,
                cudaStream_t stream);
    int (*receive)(void *to, size_t n, int type, int peer, nccl_comm comm, cudaStream_t stream);
    const char *(*error_text)(int status);
};

template <class T> bool find(void *handle, const char *name, T *call)
{
    void *const symbol = dlsym(handle, name);
    memcpy(call, &symbol, sizeof symbol);
    return symbol != nullptr;
}

library calls;
bool is_whole = false;

void look_for_library()
{
    void *const handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL); // never closed
    is_whole = handle && find(handle, "ncclGetUniqueId", &calls.get_id) &&
               find(handle, "ncclCommInitRank", &calls.init) &&
               find(handle, "ncclCommDestroy", &calls.destroy) &&
               find(handle, "ncclGroupStart", &calls.group_start) &&
               find(handle, "ncclGroupEnd", &calls.group_end) &&
               find(handle, "ncclSend", &calls.send) && find(handle, "ncclRecv", &calls.receive) &&
               find(handle, "ncclGetErrorString", &calls.error_text);
}

// nullptr: the library is not available or lacks a function. Any thread may call it.
const library *find_library()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_library);
    return is_whole ? &calls : nullptr;
}

int raise(int status, const char *what)
{
    cudaGetLastError();
    return HX_RAISE(HX_EENV, "NCCL: %s: %s", what, find_library()->error_text(status));
}

int has_library()
{
    if (find_library()) return HX_OK;
    return HX_RAISE(HX_EENV, "NCCL is not available: libnccl.so.2, version 2.7 or later, must be "
                             "in LD_LIBRARY_PATH or in a system library folder");
}

// NCCL identifies GPUs by their PCI bus address, and does not allow two processes on one GPU. It
// reports this only to those two; a third process would wait for them forever.
int tell_device(hx_device *dev, unsigned char id[HX_TRANSPORT_DEVICE])
{
    char place[HX_TRANSPORT_DEVICE] = {};
    const cudaError_t status = cudaDeviceGetPCIBusId(place, sizeof place, hx_cuda_of(dev)->place);
    if (status != cudaSuccess) return hx_cuda_transport_refuse(status, "the GPU's PCI bus address");
    memcpy(id, place, sizeof place);
    return HX_OK;
}

int identify(unsigned char id[HX_TRANSPORT_ID])
{
    nccl_id own;
    const int status = find_library()->get_id(&own);
    if (status) return raise(status, "the identifier of the communicator");
    memcpy(id, &own, sizeof own);
    return HX_OK;
}

int join(hx_device *dev, int rank, int n_rank, const unsigned char id[HX_TRANSPORT_ID])
{
    nccl_id interface;
    memcpy(&interface, id, sizeof interface);
    const int status = find_library()->init(&hx_cuda_of(dev)->nccl, n_rank, interface, rank);
    if (status == 0) return HX_OK;
    hx_cuda_of(dev)->nccl = nullptr;
    return raise(status, "connecting the processes");
}

void leave(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (impl->nccl) find_library()->destroy(impl->nccl);
    impl->nccl = nullptr;
}

int alloc(hx_device *dev, size_t bytes, void *d_out, unsigned char *)
{
    void *d_remote = nullptr;
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess) status = cudaMalloc(&d_remote, bytes);
    if (status != cudaSuccess)
        return hx_cuda_transport_refuse(status, "memory shared by several processes");
    status = cudaMemsetAsync(d_remote, 0, HX_TRANSPORT_HEAD, hx_cuda_of(dev)->stream);
    if (status != cudaSuccess) {
        cudaFree(d_remote);
        return hx_cuda_transport_refuse(status, "memory shared by several processes");
    }
    memcpy(d_out, &d_remote, sizeof d_remote);
    return HX_OK;
}

void release(hx_device *, void *d_remote, size_t, const unsigned char *)
{
    cudaFree(d_remote);
}

template <class T>
__global__ void __launch_bounds__(HX_BLOCK)
    pack_kernel(hx_transport_items items, const T *__restrict__ y, T *__restrict__ to)
{
    const int64_t k = blockIdx.x * static_cast<int64_t>(HX_BLOCK) + threadIdx.x;
    const int64_t i = k / items.components, c = k % items.components;
    if (i >= items.first[items.n_rank]) return;
    to[k] = y[items.d_at[items.components * (items.d_item ? items.d_item[i] : i) + c]];
}

// Sends to rank r its packed items, or y if that goes to all ranks, and receives from all ranks.
template <class T>
int exchange(hx_device *dev, const hx_transport_items &items, const T *packed, const T *y)
{
    const library *nccl = find_library();
    hx_cuda *impl = hx_cuda_of(dev);
    char *const came = items.d_remote + HX_TRANSPORT_HEAD;
    const size_t item = static_cast<size_t>(items.components) * sizeof(T);
    int status = nccl->group_start();
    for (int r = 0; r < items.n_rank && status == 0; r++) {
        const size_t n_out = item * static_cast<size_t>(items.first[r + 1] - items.first[r]);
        const size_t n_in = item * static_cast<size_t>(items.in[r + 1] - items.in[r]);
        const T *from = packed ? packed + items.components * items.first[r] : y;
        if (n_out > 0) status = nccl->send(from, n_out, NCCL_BYTES, r, impl->nccl, impl->stream);
        if (n_in > 0 && status == 0)
            status = nccl->receive(came + item * static_cast<size_t>(items.in[r]), n_in, NCCL_BYTES,
                                   r, impl->nccl, impl->stream);
    }
    const int ended = nccl->group_end();
    if (status == 0) status = ended;
    return status == 0 ? HX_OK : raise(status, "messages between processes");
}

template <class T> int put_items(hx_device *dev, const hx_transport_items *items, const T *d_y)
{
    const int64_t n = items->components * items->first[items->n_rank];
    T *const d_packed = reinterpret_cast<T *>(items->d_remote + HX_TRANSPORT_HEAD + items->half);
    if (!items->d_at) return exchange<T>(dev, *items, nullptr, d_y);
    if (n > 0) {
        HX_TRY(
            hx_launch(dev, "sending to other processes", n, pack_kernel<T>, *items, d_y, d_packed));
    }
    return exchange<T>(dev, *items, d_packed, d_y);
}

} // namespace

const hx_transport_ops hx_cuda_transport_nccl_ops = {
    .name = "NCCL",
    .tell_device = tell_device,
    .has_library = has_library,
    .identify = identify,
    .join = join,
    .leave = leave,
    .alloc = alloc,
    .release = release,
    .put = put_items<double>,
    .put_single = put_items<float>,
    .add = hx_cuda_transport_add<double>,
    .add_single = hx_cuda_transport_add<float>,
    .take = hx_cuda_transport_take<double>,
    .take_single = hx_cuda_transport_take<float>,
    .add_all = hx_cuda_transport_add_all<double>,
    .add_all_single = hx_cuda_transport_add_all<float>,
};
