// Shared by the files in gpu/: error checks, the private part of the device, and launch shapes.
#ifndef HX_CUDA_DEVICE_CUH
#define HX_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/device/device.h"

// In a build for tests (core/base/fault.h): the status of a call that is to fail (fault injection,
// kind "cuda"). In other builds always cudaSuccess.
#ifdef HX_FAULT_INJECTION
cudaError_t hx_cuda_injected(int how); // device_cuda.cu
#define HX_CUDA_FAULT_AT(file, line) hx_cuda_injected(hx_fault_at("cuda", file, line))
#else
#define HX_CUDA_FAULT_AT(file, line) cudaSuccess
#endif
#define HX_CUDA_FAULT() HX_CUDA_FAULT_AT(__FILE__, __LINE__)

// Raises a CUDA error with the failed call and advice for the user, and clears it, so that the next
// check does not see it. HX_ENOMEM, HX_EDEVICE. device_cuda.cu
int hx_cuda_raise(cudaError_t status, const char *file, int line, const char *text);

// HX_OK or the raised error of a call of CUDA, described by `text`.
template <class Call> int hx_cuda_try(const char *file, int line, const char *text, Call call)
{
    cudaError_t status = HX_CUDA_FAULT_AT(file, line);
    if (status == cudaSuccess) status = call();
    return status == cudaSuccess ? HX_OK : hx_cuda_raise(status, file, line, text);
}

// HX_OK or the error of a call or of the kernel launch before; the other two forward the error.
#define HX_CUDA(call) hx_cuda_try(__FILE__, __LINE__, #call, [&] { return (call); })
#define HX_LAUNCHED(kernel_name) hx_cuda_try(__FILE__, __LINE__, kernel_name, cudaGetLastError)
#define HX_TRY_CUDA(call) HX_TRY(hx_cuda_try(__FILE__, __LINE__, #call, [&] { return (call); }))
#define HX_TRY_LAUNCH(kernel_name) HX_TRY(HX_LAUNCHED(kernel_name))

struct hx_cuda {
    cudaStream_t stream;
    cudaEvent_t mark[HX_N_MARK];
    bool recording; // work is being queued into a graph
    int n_sm;
    // a kernel may start while the preceding one still runs (multigrid_cuda.cuh)
    bool can_begin_early;
    bool runs_90a;      // runs code for sm_90a
    int can_cooperate;  // 1: supports kernels whose blocks all run at the same time
    int most_shared;    // maximum number of bytes of shared memory per block
    int n_sum_block;    // maximum number of blocks of a sum; fixed, so that sums have a fixed order
    double *d_partial;  // [HX_MOST_SUMS][n_sum_block]
    double *d_result;   // [HX_MOST_RESULTS] results before the copy to the host
    int place;          // index of the GPU on this machine
    unsigned *d_ticket; // number of blocks that are done; reset to 0 after each reduction
    // pinned memory for small downloads; nullptr: not available, downloads do without
    void *staging;
    size_t staging_bytes;
    // For downloads concurrent with the queue (hx_matrix_ops.fetch), created by the first one of a
    // slot.
    cudaStream_t fetch_stream[2];
    cudaEvent_t fetch_ready[2]; // work queued before has run
    // For a chain of kernels concurrent with the queue (multigrid_inverse_cuda.cu), created by the
    // first one.
    cudaStream_t concurrent;
    cudaEvent_t fork_mark[2]; // where it forks from the queue, and where it ends
    // For concurrent work (concurrent_cuda.cu), created by the first: `room` is a stream of lower
    // priority. home: the queue's own stream while `stream` is `room`; otherwise nullptr.
    cudaStream_t room, home;
    cudaEvent_t room_mark[2];    // like fork_mark
    struct hx_cuda_lanes *lanes; // for large uploads, created by the first one (upload_cuda.cu)
    // for quadratic cells, created by the first use (points_cuda.cuh)
    struct hx_point_rule *d_point_rule;
    void *nccl; // communicator that the processes have joined (transport_nccl_cuda.cu), or nullptr
};

// Whether this build has code for sm_90a and the GPU of this process runs it. Returns true if the
// GPU is not known yet.
bool hx_cuda_may_run_90a();

inline hx_cuda *hx_cuda_of(const hx_device *dev)
{
    return static_cast<hx_cuda *>(dev->impl);
}

constexpr int HX_BLOCK = 256;
// maximum number of sums computed by one kernel, and of results that the host waits for: the method
// of moving asymptotes with HX_MMA_MOST constraints (mma.h) has most
constexpr int HX_MOST_SUMS = 160, HX_MOST_RESULTS = HX_MOST_SUMS;
constexpr int HX_SUM_PER_SM = 8; // maximum number of blocks of a sum per multiprocessor

// Index of the calling thread in a grid of one dimension, and the blocks of such a grid.
__device__ __forceinline__ int64_t hx_grid_thread()
{
    return blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
}

inline unsigned hx_blocks(int64_t n_thread, int block = HX_BLOCK)
{
    return static_cast<unsigned>((n_thread + block - 1) / block);
}

// Name of a launch in messages, and its place in the source.
struct hx_launch_name {
    const char *text, *file;
    int line;
    hx_launch_name(const char *name, const char *in = __builtin_FILE(), int at = __builtin_LINE())
        : text(name), file(in), line(at)
    {
    }
};

// Launches a kernel with n threads, in blocks of BLOCK, in the queue of the device; none if n is
// 0.
template <int BLOCK = HX_BLOCK, class... Parameter, class... Argument>
int hx_launch(hx_device *dev, const hx_launch_name &name, int64_t n, void (*kernel)(Parameter...),
              Argument... argument)
{
    if (n == 0) return HX_OK;
    kernel<<<hx_blocks(n, BLOCK), BLOCK, 0, hx_cuda_of(dev)->stream>>>(
        static_cast<Parameter>(argument)...);
    return hx_cuda_try(name.file, name.line, name.text, cudaGetLastError);
}

// Uploads of at least this many bytes use several threads.
constexpr size_t HX_LARGE_UPLOAD = static_cast<size_t>(1) << 20;
// upload_cuda.cu. Waits until the data are on the device.
int hx_cuda_upload_large(hx_device *dev, void *d_to, const void *from, size_t bytes);
void hx_cuda_lanes_free(struct hx_cuda_lanes *lanes); // accepts NULL

// Creates the stream of a queue, whose kernels have priority over those of other streams.
// concurrent_cuda.cu
int hx_cuda_make_queue(cudaStream_t *stream);
// Concurrent work (hx_device_ops). concurrent_cuda.cu
int hx_cuda_fork_point(hx_device *dev);
int hx_cuda_fork(hx_device *dev);
int hx_cuda_join(hx_device *dev);
void hx_cuda_concurrent_free(hx_cuda *impl);

// The tables of operations, one per file.
extern const struct hx_vector_ops hx_cuda_vector_ops;       // vector_cuda.cu
extern const struct hx_pcg_ops hx_cuda_pcg_ops;             // pcg_cuda.cu
extern const struct hx_element_ops hx_cuda_element_ops;     // element_cuda.cu
extern const struct hx_rigid_ops hx_cuda_rigid_ops;         // rigid_set_cuda.cu
extern const struct hx_body_ops hx_cuda_body_ops;           // body_force_cuda.cu
extern const struct hx_expansion_ops hx_cuda_expansion_ops; // expansion_cuda.cu
extern const struct hx_mass_ops hx_cuda_mass_ops;           // mass_cuda.cu
extern const struct hx_block_ops hx_cuda_block_ops;         // block_cuda.cu
extern const struct hx_design_ops hx_cuda_design_ops;       // design_cuda.cu
extern const struct hx_multigrid_ops hx_cuda_multigrid_ops; // multigrid_cuda.cu
extern const struct hx_helmholtz_ops hx_cuda_helmholtz_ops; // helmholtz_cuda.cu
extern const struct hx_matrix_ops hx_cuda_matrix_ops;       // matrix_cuda.cu
extern const struct hx_stress_ops hx_cuda_stress_ops;       // stress_cuda.cu

// heat conduction (conduction_cuda.cu)
extern const struct hx_conduction_ops hx_cuda_conduction_ops;
extern const struct hx_transport_ops hx_cuda_transport_ops;      // transport_cuda.cu
extern const struct hx_transport_ops hx_cuda_transport_nccl_ops; // transport_nccl_cuda.cu
extern const struct hx_timeline_ops hx_cuda_timeline_ops;        // timeline_cuda.cu
// spline patches (interaction_cuda.cu)
extern const struct hx_interaction_ops hx_cuda_interaction_ops;

#endif
