// What the files in gpu/ share: error checks, the device's private part, launch shapes.
#ifndef HX_CUDA_DEVICE_CUH
#define HX_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/fault.h"
#include "core/device/device.h"

// In a build for tests (core/base/fault.h) what a call answers that is to fail, of kind "cuda"; in
// any other cudaSuccess.
#ifdef HX_FAULT_INJECTION
cudaError_t hx_cuda_injected(int how); // device_cuda.cu
#define HX_CUDA_FAULT() hx_cuda_injected(hx_fault_at("cuda", __FILE__, __LINE__))
#else
#define HX_CUDA_FAULT() cudaSuccess
#endif

// Raises a CUDA error with the call that met it and what to do, and clears it: the next check is of
// its own. HX_ENOMEM, HX_EDEVICE. device_cuda.cu
int hx_cuda_raise(cudaError_t status, const char *file, int line, const char *call);

// Forwards a CUDA error.
#define HX_TRY_CUDA(call)                                                                          \
    do {                                                                                           \
        cudaError_t status_ = HX_CUDA_FAULT();                                                     \
        if (status_ == cudaSuccess) status_ = (call);                                              \
        if (status_ != cudaSuccess) return hx_cuda_raise(status_, __FILE__, __LINE__, #call);      \
    } while (0)

// After each kernel launch.
#define HX_TRY_LAUNCH(kernel_name)                                                                 \
    do {                                                                                           \
        cudaError_t status_ = HX_CUDA_FAULT();                                                     \
        if (status_ == cudaSuccess) status_ = cudaGetLastError();                                  \
        if (status_ != cudaSuccess)                                                                \
            return hx_cuda_raise(status_, __FILE__, __LINE__, kernel_name);                        \
    } while (0)

struct hx_cuda {
    cudaStream_t stream;
    cudaEvent_t mark[HX_N_MARK];
    bool recording; // what is queued goes into a graph
    int n_sm;
    bool can_begin_early; // kernels, while the one before them runs (multigrid_cuda.cuh)
    bool runs_90a;        // code for sm_90a
    int can_cooperate;    // 1: kernels whose blocks all run at a time
    int most_shared;      // bytes of shared memory that a block may have
    int n_sum_block;      // blocks of a sum at most; fixed, so that sums have one order
    double *d_partial;    // [HX_MOST_SUMS][n_sum_block]
    double *d_result;     // [HX_MOST_RESULTS] on their way to the host
    int place;            // of the GPU among this machine's
    unsigned *d_ticket;   // blocks that are done; back to 0 after each reduction
    void *staging;        // pinned, small downloads; NULL: none could be had, they go without
    size_t staging_bytes;
    // Of downloads beside the queue (hx_matrix_ops.fetch), made by the first one of a slot.
    cudaStream_t fetch_stream[2];
    cudaEvent_t fetch_ready[2]; // what was queued before it has run
    // Of a chain of kernels beside the queue (multigrid_inverse_cuda.cu), made by the first one.
    cudaStream_t beside;
    cudaEvent_t beside_mark[2]; // where it leaves the queue, where it ends
    // Of work beside the queue (beside_cuda.cu), made by the first: it goes where the queue leaves
    // room. home: the queue's own stream, while `stream` is that one; nullptr: it is not.
    cudaStream_t room, home;
    cudaEvent_t room_mark[2];           // as beside_mark
    struct hx_cuda_lanes *lanes;        // of large uploads, made by the first one (upload_cuda.cu)
    struct hx_point_rule *d_point_rule; // of quadratic cells, likewise (points_cuda.cuh)
    void *nccl; // communicator that processes have joined (mail_nccl_cuda.cu), or NULL
};

// Whether this build has code for sm_90a and the GPU of this process runs it; as long as that GPU
// is not known: it may.
bool hx_cuda_may_run_90a();

inline hx_cuda *hx_cuda_of(const hx_device *dev)
{
    return static_cast<hx_cuda *>(dev->impl);
}

constexpr int HX_MOST_RESULTS = 4; // of a sum that the host waits for
constexpr int HX_BLOCK = 256;
constexpr int HX_MOST_SUMS = 8;  // that one kernel adds up
constexpr int HX_SUM_PER_SM = 8; // blocks of a sum on a multiprocessor, at most

inline unsigned hx_blocks(int64_t n_thread, int block)
{
    return static_cast<unsigned>((n_thread + block - 1) / block);
}

// Uploads from so many bytes on go by several threads.
constexpr size_t HX_LARGE_UPLOAD = static_cast<size_t>(1) << 20;
// upload_cuda.cu. Waits.
int hx_cuda_upload_large(hx_device *dev, void *d_to, const void *from, size_t bytes);
void hx_cuda_lanes_free(struct hx_cuda_lanes *lanes); // accepts NULL

// A queue's stream: its kernels go before those of any other where both are ready. beside_cuda.cu
int hx_cuda_make_queue(cudaStream_t *stream);
// Work beside the queue (hx_device_ops). beside_cuda.cu
int hx_cuda_beside_from(hx_device *dev);
int hx_cuda_beside_begin(hx_device *dev);
int hx_cuda_beside_end(hx_device *dev);
void hx_cuda_beside_free(hx_cuda *impl);

// The tables of what it does, one a file.
extern const struct hx_vector_ops hx_cuda_vector_ops;       // vector_cuda.cu
extern const struct hx_pcg_ops hx_cuda_pcg_ops;             // pcg_cuda.cu
extern const struct hx_element_ops hx_cuda_element_ops;     // element_cuda.cu
extern const struct hx_rigid_ops hx_cuda_rigid_ops;         // rigid_set_cuda.cu
extern const struct hx_body_ops hx_cuda_body_ops;           // body_force_cuda.cu
extern const struct hx_design_ops hx_cuda_design_ops;       // design_cuda.cu
extern const struct hx_multigrid_ops hx_cuda_multigrid_ops; // multigrid_cuda.cu
extern const struct hx_helmholtz_ops hx_cuda_helmholtz_ops; // helmholtz_cuda.cu
extern const struct hx_matrix_ops hx_cuda_matrix_ops;       // matrix_cuda.cu

// Of heat (conduction_cuda.cu).
extern const struct hx_conduction_ops hx_cuda_conduction_ops;
extern const struct hx_mail_ops hx_cuda_mail_ops;         // mail_cuda.cu
extern const struct hx_mail_ops hx_cuda_mail_nccl_ops;    // mail_nccl_cuda.cu
extern const struct hx_timeline_ops hx_cuda_timeline_ops; // timeline_cuda.cu
// Of spline patches (interaction_cuda.cu).
extern const struct hx_interaction_ops hx_cuda_interaction_ops;

#endif
