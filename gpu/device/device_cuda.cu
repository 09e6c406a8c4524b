// The CUDA device: memory, time stamps, one stream into which everything is queued, and the list of
// its tables.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/memory.h"
#include "core/operator/operator_kind.h"
#include "cuda_device.cuh"

constexpr size_t STAGING_BYTES = 4096;

#ifdef HX_FAULT_INJECTION
cudaError_t hx_cuda_injected(int how)
{
    switch (how) {
    case HX_FAULT_NONE:
        return cudaSuccess;
    case HX_FAULT_MEMORY:
        return cudaErrorMemoryAllocation;
    case HX_FAULT_LAUNCH:
        return cudaErrorLaunchOutOfResources;
    default:
        return cudaErrorDevicesUnavailable;
    }
}
#endif

int hx_cuda_raise(cudaError_t status, const char *file, int line, const char *call)
{
    const char *const text = cudaGetErrorString(status);
    cudaGetLastError();
    if (status == cudaErrorMemoryAllocation)
        return hx_error_raise(
            HX_ENOMEM, file, line,
            "CUDA: %s in %s: other processes on the GPU may have taken the memory (see nvidia-smi)",
            text, call);
    return hx_error_raise(HX_EDEVICE, file, line, "CUDA: %s in %s: " HX_DEVICE_REMEDY, text, call);
}

static int available(char *why, size_t n_why)
{
    int n = 0;
    const cudaError_t status = cudaGetDeviceCount(&n);
    if (status == cudaSuccess && n > 0) return 1;
    snprintf(why, n_why, "no usable NVIDIA GPU (%s)",
             status == cudaSuccess ? "none found" : cudaGetErrorString(status));
    return 0;
}

// Compute capability of the GPU as 10 major + minor; 0: not known yet.
static std::atomic<int> capability{0};

#ifdef HX_HAVE_WIDE
static constexpr bool HAS_90A = true;
#else
static constexpr bool HAS_90A = false; // this build has no code for sm_90a
#endif

static bool is_90a(int of)
{
    return HAS_90A && of == 90;
}

bool hx_cuda_may_run_90a()
{
    const int known = capability;
    return is_90a(known > 0 ? known : 90);
}

static void note_capability(int place)
{
    int major = 0, minor = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, place) == cudaSuccess &&
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, place) == cudaSuccess)
        capability = 10 * major + minor;
}

// Starts the driver and creates the context, which takes a second or more if no process holds the
// GPU.
static void prepare_place(int place)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) == cudaSuccess && n > 0) note_capability(place % n);
    if (n > 0 && cudaSetDevice(place % n) == cudaSuccess) cudaFree(nullptr); // creates the context
    cudaGetLastError(); // otherwise the next launch check would report the error
}

// Pinned memory is optional; downloads are slower without it.
static int take_staging(hx_cuda *impl)
{
    cudaError_t status = HX_CUDA_FAULT();
    if (status == cudaSuccess) status = cudaMallocHost(&impl->staging, STAGING_BYTES);
    if (status == cudaSuccess) impl->staging_bytes = STAGING_BYTES;
    if (status == cudaSuccess) return HX_OK;
    impl->staging = nullptr;
    if (status != cudaErrorMemoryAllocation)
        return hx_cuda_raise(status, __FILE__, __LINE__, "cudaMallocHost");
    cudaGetLastError(); // otherwise the next launch check would report the error
    return HX_OK;
}

static int open_device(hx_device *dev)
{
    hx_cuda *impl;
    cudaDeviceProp properties;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "CUDA device"));
    dev->impl = impl;
    int n_device = 1;
    HX_TRY_CUDA(cudaGetDeviceCount(&n_device));
    impl->place = n_device > 0 ? dev->place % n_device : 0;
    HX_TRY_CUDA(cudaSetDevice(impl->place));
    HX_TRY_CUDA(cudaGetDeviceProperties(&properties, impl->place));
    snprintf(dev->description, sizeof dev->description, "%.120s, %.0f GB", properties.name,
             static_cast<double>(properties.totalGlobalMem) * 1e-9);
    int driver = 0, runtime = 0;
    HX_TRY_CUDA(cudaDriverGetVersion(&driver));
    HX_TRY_CUDA(cudaRuntimeGetVersion(&runtime));
    snprintf(dev->model, sizeof dev->model, "%.120s, compute capability %d.%d", properties.name,
             properties.major, properties.minor);
    snprintf(dev->software, sizeof dev->software, "driver for CUDA %d.%d, runtime %d.%d",
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    impl->n_sm = properties.multiProcessorCount;
    impl->can_begin_early = properties.major >= 9;
    capability = 10 * properties.major + properties.minor;
    impl->runs_90a = is_90a(capability);
    HX_TRY_CUDA(
        cudaDeviceGetAttribute(&impl->can_cooperate, cudaDevAttrCooperativeLaunch, impl->place));
    HX_TRY_CUDA(cudaDeviceGetAttribute(&impl->most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       impl->place));
    impl->n_sum_block = HX_SUM_PER_SM * impl->n_sm;
    HX_TRY(hx_cuda_make_queue(&impl->stream));
    for (int i = 0; i < HX_N_MARK; i++) HX_TRY_CUDA(cudaEventCreate(&impl->mark[i]));
    HX_TRY_CUDA(cudaMalloc(&impl->d_partial, HX_MOST_SUMS * sizeof(double) * impl->n_sum_block));
    HX_TRY_CUDA(cudaMalloc(&impl->d_result, HX_MOST_RESULTS * sizeof(double)));
    HX_TRY_CUDA(cudaMalloc(&impl->d_ticket, sizeof(unsigned)));
    HX_TRY_CUDA(cudaMemset(impl->d_ticket, 0, sizeof(unsigned)));
    return take_staging(impl);
}

static void close_device(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (!impl) return;
    for (int i = 0; i < HX_N_MARK; i++)
        if (impl->mark[i]) cudaEventDestroy(impl->mark[i]);
    cudaFree(impl->d_partial);
    cudaFree(impl->d_result);
    cudaFree(impl->d_ticket);
    if (impl->staging) cudaFreeHost(impl->staging);
    for (int i = 0; i < 2; i++) {
        if (impl->fetch_ready[i]) cudaEventDestroy(impl->fetch_ready[i]);
        if (impl->fetch_stream[i]) cudaStreamDestroy(impl->fetch_stream[i]);
    }
    for (cudaEvent_t mark : impl->fork_mark)
        if (mark) cudaEventDestroy(mark);
    if (impl->concurrent) cudaStreamDestroy(impl->concurrent);
    hx_cuda_concurrent_free(impl);
    hx_cuda_lanes_free(impl->lanes);
    cudaFree(impl->d_point_rule);
    if (impl->stream) cudaStreamDestroy(impl->stream);
    free(impl);
}

static int memory(hx_device *, size_t *n_free, size_t *n_total)
{
    return HX_CUDA(cudaMemGetInfo(n_free, n_total));
}

static int alloc(hx_device *, size_t bytes, void *d_out)
{
    void *d_p = nullptr;
    memcpy(d_out, &d_p, sizeof d_p);
    HX_TRY_CUDA(cudaMalloc(&d_p, bytes > 0 ? bytes : 1));
    memcpy(d_out, &d_p, sizeof d_p);
    return HX_OK;
}

static void release_block(hx_device *, void *d_p)
{
    cudaFree(d_p);
}

static bool is_pinned(const void *p)
{
    cudaPointerAttributes is = {};
    const cudaError_t status = cudaPointerGetAttributes(&is, p);
    cudaGetLastError();
    return status == cudaSuccess && is.type == cudaMemoryTypeHost;
}

static int upload(hx_device *dev, void *d_to, const void *from, size_t bytes)
{
    hx_cuda *impl = hx_cuda_of(dev);
    if (bytes >= HX_LARGE_UPLOAD && !is_pinned(from)) {
        const int rc = hx_cuda_upload_large(dev, d_to, from, bytes);
        if (rc != HX_ENOMEM) return rc;
        // not enough pinned memory for several threads: let the driver copy with one
        hx_error_clear();
    }
    HX_TRY_CUDA(cudaMemcpyAsync(d_to, from, bytes, cudaMemcpyHostToDevice, impl->stream));
    return HX_CUDA(cudaStreamSynchronize(impl->stream));
}

// A few numbers are copied to pinned memory by a kernel, which starts sooner than a copy does.
constexpr size_t FEW_BYTES = 512;
static __global__ void copy_bytes_kernel(char *to, const char *from, int n)
{
    for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x))
        to[k] = from[k];
}

// Copies to the host run one after the other, even in different streams. While large ones run
// concurrently with the queue (matrix.h, fetch), a kernel copies a few numbers without waiting for
// them.
static int download(hx_device *dev, void *to, const void *d_from, size_t bytes)
{
    hx_cuda *impl = hx_cuda_of(dev);
    const bool is_small = impl->staging && bytes <= impl->staging_bytes;
    void *target = is_small ? impl->staging : to;
    if (is_small && bytes > 0 && (impl->fetch_stream[0] || bytes <= FEW_BYTES)) {
        copy_bytes_kernel<<<1, 128, 0, impl->stream>>>(static_cast<char *>(target),
                                                       static_cast<const char *>(d_from),
                                                       static_cast<int>(bytes));
        HX_TRY_LAUNCH("copy_bytes");
    } else {
        HX_TRY_CUDA(cudaMemcpyAsync(target, d_from, bytes, cudaMemcpyDeviceToHost, impl->stream));
    }
    HX_TRY_CUDA(cudaStreamSynchronize(impl->stream));
    if (target != to) memcpy(to, target, bytes);
    return HX_OK;
}

static int copy(hx_device *dev, void *d_to, const void *d_from, size_t bytes)
{
    return HX_CUDA(
        cudaMemcpyAsync(d_to, d_from, bytes, cudaMemcpyDeviceToDevice, hx_cuda_of(dev)->stream));
}

static int zero(hx_device *dev, void *d_to, size_t bytes)
{
    return HX_CUDA(cudaMemsetAsync(d_to, 0, bytes, hx_cuda_of(dev)->stream));
}

static int sync(hx_device *dev)
{
    return HX_CUDA(cudaStreamSynchronize(hx_cuda_of(dev)->stream));
}

// In a graph, a time stamp is a node of its own: an event recorded at every launch.
static int mark(hx_device *dev, int slot)
{
    hx_cuda *impl = hx_cuda_of(dev);
    const unsigned flags = impl->recording ? cudaEventRecordExternal : cudaEventRecordDefault;
    return HX_CUDA(cudaEventRecordWithFlags(impl->mark[slot], impl->stream, flags));
}

static int elapsed(hx_device *dev, int from, int to, double *seconds)
{
    const hx_cuda *impl = hx_cuda_of(dev);
    float milliseconds = 0.0f;
    HX_TRY_CUDA(cudaEventElapsedTime(&milliseconds, impl->mark[from], impl->mark[to]));
    *seconds = 1e-3 * static_cast<double>(milliseconds);
    return HX_OK;
}

static int record_begin(hx_device *dev)
{
    hx_cuda *impl = hx_cuda_of(dev);
    HX_TRY_CUDA(cudaStreamBeginCapture(impl->stream, cudaStreamCaptureModeThreadLocal));
    impl->recording = true;
    return HX_OK;
}

static int record_end(hx_device *dev, void **recording)
{
    hx_cuda *impl = hx_cuda_of(dev);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    *recording = nullptr;
    impl->recording = false;
    cudaError_t status = cudaStreamEndCapture(impl->stream, &graph);
    if (status == cudaSuccess) status = HX_CUDA_FAULT();
    if (status == cudaSuccess)
        status = cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagUseNodePriority);
    if (graph) cudaGraphDestroy(graph);
    if (status != cudaSuccess)
        return hx_cuda_raise(status, __FILE__, __LINE__, "recording a graph");
    *recording = exec;
    return HX_OK;
}

static int replay(hx_device *dev, void *recording)
{
    return HX_CUDA(
        cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), hx_cuda_of(dev)->stream));
}

// A graph that is still running is destroyed when it has finished.
static void record_free(hx_device *, void *recording)
{
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording));
}

// Median of 9 copies of 1 GiB (less on a small or full GPU), after a warm-up.
static int time_copies(hx_device *dev, void *d_from, void *d_to, size_t bytes, double *rate)
{
    constexpr int n_copy = 9;
    double seconds[n_copy];
    HX_TRY(zero(dev, d_from, bytes));
    HX_TRY(copy(dev, d_to, d_from, bytes));
    for (int i = 0; i < n_copy; i++) {
        HX_TRY(mark(dev, HX_N_MARK - 2));
        HX_TRY(copy(dev, d_to, d_from, bytes));
        HX_TRY(mark(dev, HX_N_MARK - 1));
        HX_TRY(sync(dev));
        HX_TRY(elapsed(dev, HX_N_MARK - 2, HX_N_MARK - 1, &seconds[i]));
    }
    for (int i = 1; i < n_copy; i++)
        for (int j = i; j > 0 && seconds[j] < seconds[j - 1]; j--) {
            const double swap = seconds[j];
            seconds[j] = seconds[j - 1];
            seconds[j - 1] = swap;
        }
    *rate = 2.0 * static_cast<double>(bytes) / seconds[n_copy / 2];
    return HX_OK;
}

static int copy_bandwidth(hx_device *dev, double *bytes_per_second)
{
    size_t n_free, n_total, bytes = static_cast<size_t>(1) << 30;
    void *d_from = nullptr, *d_to = nullptr;
    HX_TRY(memory(dev, &n_free, &n_total));
    if (bytes > n_free / 4) bytes = n_free / 4;
    int rc = alloc(dev, bytes, &d_from);
    if (rc == HX_OK) rc = alloc(dev, bytes, &d_to);
    if (rc == HX_OK) rc = time_copies(dev, d_from, d_to, bytes, bytes_per_second);
    release_block(dev, d_from);
    release_block(dev, d_to);
    return rc;
}

extern "C" const hx_operator_kind hx_operator_cuda_otf;

extern "C" const hx_device_ops hx_device_ops_cuda = {
    .name = "cuda",
    .help = "the first NVIDIA GPU",
    .look_every = 16,
    .available = available,
    .open = open_device,
    .close = close_device,
    .memory = memory,
    .alloc = alloc,
    .release = release_block,
    .upload = upload,
    .download = download,
    .copy = copy,
    .zero = zero,
    .sync = sync,
    .mark = mark,
    .elapsed = elapsed,
    .copy_bandwidth = copy_bandwidth,
    .vector = &hx_cuda_vector_ops,
    .pcg = &hx_cuda_pcg_ops,
    .element = &hx_cuda_element_ops,
    .design = &hx_cuda_design_ops,
    .rigid = &hx_cuda_rigid_ops,
    .body = &hx_cuda_body_ops,
    .expansion = &hx_cuda_expansion_ops,
    .mass = &hx_cuda_mass_ops,
    .block = &hx_cuda_block_ops,
    .multigrid = &hx_cuda_multigrid_ops,
    .helmholtz = &hx_cuda_helmholtz_ops,
    .stress = &hx_cuda_stress_ops,
    .matrix = &hx_cuda_matrix_ops,
    .matrix_free = &hx_operator_cuda_otf,
    .conduction = &hx_cuda_conduction_ops,
    .interaction = &hx_cuda_interaction_ops,
    .transport = &hx_cuda_transport_ops,
    .transport_far = &hx_cuda_transport_nccl_ops,
    .timeline = &hx_cuda_timeline_ops,
    .fork_point = hx_cuda_fork_point,
    .fork = hx_cuda_fork,
    .join = hx_cuda_join,
    .prepare = prepare_place,
    .record_begin = record_begin,
    .record_end = record_end,
    .replay = replay,
    .record_free = record_free,
};
