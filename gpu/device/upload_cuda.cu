// Uploads of large memory that is not pinned: threads copy pieces into pinned buffers of their own,
// from which the device reads them. The driver uses only one thread.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "core/base/memory.h"
#include "cuda_device.cuh"

namespace
{

constexpr int N_BUFFER = 2; // per thread: one is filled while the other is sent
constexpr int MOST_THREADS = 8;

// Pinned memory costs half a millisecond per megabyte. The buffers for uploads of less than
// MANY_BYTES fit into the 2 MB that the driver has pinned anyway for small downloads.
constexpr size_t MANY_BYTES = static_cast<size_t>(128) << 20;
struct upload_plan {
    int n_thread;
    size_t piece; // bytes of a buffer
};
constexpr upload_plan FEW = {4, 224 << 10}, MANY = {MOST_THREADS, 2 << 20};

struct lane {
    cudaStream_t stream;
    cudaEvent_t left[N_BUFFER];
    char *buffer[N_BUFFER];
};

struct upload_job {
    char *d_to;
    const char *from;
    size_t bytes, piece;
    int place;                                    // index of the GPU
    std::atomic<size_t> next{0};                  // first byte that no thread has taken yet
    std::atomic<cudaError_t> status{cudaSuccess}; // the first error
};

// Keeps what exists already, because allocating pinned memory takes longer than filling it.
cudaError_t open_lane(lane *l, size_t piece)
{
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess && !l->stream)
        status = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    for (int i = 0; i < N_BUFFER && status == cudaSuccess; i++) {
        if (!l->buffer[i]) status = cudaMallocHost(&l->buffer[i], piece);
        if (status == cudaSuccess && !l->left[i])
            status = cudaEventCreateWithFlags(&l->left[i], cudaEventDisableTiming);
    }
    return status;
}

cudaError_t send_pieces(upload_job *job, lane *l)
{
    for (int i = 0;; i = (i + 1) % N_BUFFER) {
        const size_t at = job->next.fetch_add(job->piece);
        if (at >= job->bytes || job->status.load() != cudaSuccess) break;
        const size_t n = job->bytes - at < job->piece ? job->bytes - at : job->piece;
        // returns at once if nothing was recorded
        cudaError_t status = cudaEventSynchronize(l->left[i]);
        if (status != cudaSuccess) return status;
        memcpy(l->buffer[i], job->from + at, n);
        status =
            cudaMemcpyAsync(job->d_to + at, l->buffer[i], n, cudaMemcpyHostToDevice, l->stream);
        if (status == cudaSuccess) status = cudaEventRecord(l->left[i], l->stream);
        if (status != cudaSuccess) return status;
    }
    return cudaStreamSynchronize(l->stream);
}

void work(upload_job *job, lane *l)
{
    cudaError_t status = cudaSetDevice(job->place), none = cudaSuccess;
    if (status == cudaSuccess) status = open_lane(l, job->piece);
    if (status == cudaSuccess) status = send_pieces(job, l);
    if (status == cudaSuccess) return;
    job->status.compare_exchange_strong(none, status);
    if (l->stream) cudaStreamSynchronize(l->stream); // the next upload uses its buffers
}

// If a thread cannot be started, the upload runs with fewer threads.
std::thread start(upload_job *job, lane *l)
{
    try {
        return std::thread(work, job, l);
    } catch (const std::system_error &) {
        return std::thread();
    }
}

} // namespace

struct hx_cuda_lanes {
    lane of[2][MOST_THREADS]; // [0]: for FEW, [1]: for MANY
};

void hx_cuda_lanes_free(hx_cuda_lanes *lanes)
{
    for (int k = 0; lanes && k < 2 * MOST_THREADS; k++) {
        lane *const l = &lanes->of[k / MOST_THREADS][k % MOST_THREADS];
        for (int i = 0; i < N_BUFFER; i++) {
            if (l->left[i]) cudaEventDestroy(l->left[i]);
            if (l->buffer[i]) cudaFreeHost(l->buffer[i]);
        }
        if (l->stream) cudaStreamDestroy(l->stream);
    }
    free(lanes);
}

int hx_cuda_upload_large(hx_device *dev, void *d_to, const void *from, size_t bytes)
{
    hx_cuda *const impl = hx_cuda_of(dev);
    upload_job job;
    std::thread thread[MOST_THREADS];
    const int n_core = static_cast<int>(std::thread::hardware_concurrency());
    const bool is_many = bytes >= MANY_BYTES;
    const upload_plan &plan = is_many ? MANY : FEW;
    const int n_thread = n_core > 0 && n_core < plan.n_thread ? n_core : plan.n_thread;
    job.piece = plan.piece;
    job.place = impl->place;
    job.d_to = static_cast<char *>(d_to);
    job.from = static_cast<const char *>(from);
    job.bytes = bytes;
    if (!impl->lanes) HX_TRY(hx_alloc(&impl->lanes, 1, sizeof *impl->lanes, "uploads"));
    HX_TRY_CUDA(cudaStreamSynchronize(impl->stream)); // queued work may use d_to
    lane *const lanes = impl->lanes->of[is_many];
    for (int i = 1; i < n_thread; i++) thread[i] = start(&job, &lanes[i]);
    work(&job, &lanes[0]);
    for (int i = 1; i < n_thread; i++)
        if (thread[i].joinable()) thread[i].join();
    return HX_CUDA(job.status.load());
}
