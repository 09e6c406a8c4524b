// Uploads of much memory that is not pinned: threads copy pieces into pinned buffers of their own,
// from where the device takes them. The driver does it in one thread.
#include <atomic>
#include <cstring>
#include <system_error>
#include <thread>

#include "cuda_device.cuh"

namespace
{

constexpr int MOST_THREADS = 8;
constexpr int N_BUFFER = 2; // of a thread: one is filled while the other leaves
constexpr size_t PIECE = 2 << 20;

struct upload_job {
    char *d_to;
    const char *from;
    size_t bytes;
    std::atomic<size_t> next{0};                  // byte that nobody has taken yet
    std::atomic<cudaError_t> status{cudaSuccess}; // the first that went wrong
};

struct lane {
    cudaStream_t stream;
    cudaEvent_t left[N_BUFFER];
    char *buffer[N_BUFFER];
};

cudaError_t open_lane(lane *l)
{
    cudaError_t status = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    for (int i = 0; i < N_BUFFER && status == cudaSuccess; i++) {
        status = cudaMallocHost(&l->buffer[i], PIECE);
        if (status == cudaSuccess)
            status = cudaEventCreateWithFlags(&l->left[i], cudaEventDisableTiming);
    }
    return status;
}

void close_lane(lane *l)
{
    for (int i = 0; i < N_BUFFER; i++) {
        if (l->left[i]) cudaEventDestroy(l->left[i]);
        if (l->buffer[i]) cudaFreeHost(l->buffer[i]);
    }
    if (l->stream) cudaStreamDestroy(l->stream);
}

cudaError_t send_pieces(upload_job *job, lane *l)
{
    for (int i = 0;; i = (i + 1) % N_BUFFER) {
        const size_t at = job->next.fetch_add(PIECE);
        if (at >= job->bytes || job->status.load() != cudaSuccess) break;
        const size_t n = job->bytes - at < PIECE ? job->bytes - at : PIECE;
        cudaError_t status = cudaEventSynchronize(l->left[i]); // done, where nothing was recorded
        if (status != cudaSuccess) return status;
        memcpy(l->buffer[i], job->from + at, n);
        status =
            cudaMemcpyAsync(job->d_to + at, l->buffer[i], n, cudaMemcpyHostToDevice, l->stream);
        if (status == cudaSuccess) status = cudaEventRecord(l->left[i], l->stream);
        if (status != cudaSuccess) return status;
    }
    return cudaStreamSynchronize(l->stream);
}

void work(upload_job *job)
{
    lane l = {};
    cudaError_t status = cudaSetDevice(0), none = cudaSuccess;
    if (status == cudaSuccess) status = open_lane(&l);
    if (status == cudaSuccess) status = send_pieces(job, &l);
    if (status != cudaSuccess) job->status.compare_exchange_strong(none, status);
    if (l.stream) cudaStreamSynchronize(l.stream);
    close_lane(&l);
}

// Fewer threads do as well.
std::thread start(upload_job *job)
{
    try {
        return std::thread(work, job);
    } catch (const std::system_error &) {
        return std::thread();
    }
}

} // namespace

int hx_cuda_upload_large(hx_device *dev, void *d_to, const void *from, size_t bytes)
{
    upload_job job;
    std::thread thread[MOST_THREADS];
    const unsigned n_core = std::thread::hardware_concurrency();
    const int n_thread =
        n_core > 0 && n_core < MOST_THREADS ? static_cast<int>(n_core) : MOST_THREADS;
    job.d_to = static_cast<char *>(d_to);
    job.from = static_cast<const char *>(from);
    job.bytes = bytes;
    HX_TRY_CUDA(cudaStreamSynchronize(hx_cuda_of(dev)->stream)); // what is queued may use d_to
    for (int i = 1; i < n_thread; i++) thread[i] = start(&job);
    work(&job);
    for (int i = 1; i < n_thread; i++)
        if (thread[i].joinable()) thread[i].join();
    HX_TRY_CUDA(job.status.load());
    return HX_OK;
}
