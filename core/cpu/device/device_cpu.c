/* The host as a device: its memory, and the list of its tables (cpu_ops.h). All sums run over fixed
 * parts, so results are bitwise independent of the number of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../../base/clock.h"
#include "../../base/memory.h"
#include "../../base/vector_unit.h"
#include "../../operator/operator_kind.h"
#include "cpu_ops.h"

typedef struct cpu_device {
    double mark[HX_N_MARK];
} cpu_device;

static int cpu_available(char *why, size_t n_why)
{
    if (n_why > 0) why[0] = '\0';
    return 1;
}

static int cpu_open(hx_device *dev)
{
    const char *const unit = hx_vector_unit_name(hx_vector_unit_used());
    cpu_device *impl;
    HX_TRY(hx_alloc(&impl, 1, sizeof *impl, "CPU device"));
    dev->impl = impl;
#ifdef _OPENMP
    snprintf(dev->description, sizeof dev->description, "CPU, OpenMP, %d thread%s, %s",
             omp_get_max_threads(), omp_get_max_threads() == 1 ? "" : "s", unit);
#else
    snprintf(dev->description, sizeof dev->description, "CPU, 1 thread (built without OpenMP), %s",
             unit);
#endif
    return HX_OK;
}

static void cpu_close(hx_device *dev)
{
    free(dev->impl);
}

static int cpu_memory(hx_device *dev, size_t *n_free, size_t *n_total)
{
    (void)dev;
    *n_free = *n_total = hx_host_memory_available();
    return HX_OK;
}

static int cpu_alloc(hx_device *dev, size_t bytes, void *d_out)
{
    (void)dev;
    return hx_alloc(d_out, bytes, 1, "device memory");
}

static void cpu_release(hx_device *dev, void *d_p)
{
    (void)dev;
    free(d_p);
}

static int cpu_transfer(hx_device *dev, void *to, const void *from, size_t bytes)
{
    (void)dev;
    memcpy(to, from, bytes);
    return HX_OK;
}

static int cpu_zero(hx_device *dev, void *d_to, size_t bytes)
{
    (void)dev;
    memset(d_to, 0, bytes);
    return HX_OK;
}

static int cpu_sync(hx_device *dev)
{
    (void)dev;
    return HX_OK;
}

static int cpu_mark(hx_device *dev, int slot)
{
    cpu_device *impl = dev->impl;
    impl->mark[slot] = hx_clock();
    return HX_OK;
}

static int cpu_elapsed(hx_device *dev, int from, int to, double *seconds)
{
    const cpu_device *impl = dev->impl;
    *seconds = impl->mark[to] - impl->mark[from];
    return HX_OK;
}

static int cpu_copy_bandwidth(hx_device *dev, double *bytes_per_second)
{
    const int64_t n = (int64_t)1 << 24;
    double *a = NULL, *b = NULL, best = 0.0;
    int rc;
    (void)dev;
    HX_TRY_FAIL(hx_alloc(&a, (size_t)n, sizeof *a, "bandwidth test"));
    HX_TRY_FAIL(hx_alloc(&b, (size_t)n, sizeof *b, "bandwidth test"));
    for (int repeat = 0; repeat < 5; repeat++) {
        const double start = hx_clock();
#pragma omp parallel for simd schedule(static)
        for (int64_t i = 0; i < n; i++) b[i] = a[i];
        const double rate = 2.0 * (double)n * sizeof *a / (hx_clock() - start);
        if (rate > best) best = rate;
    }
    *bytes_per_second = best;
    rc = HX_OK;
fail:
    free(a);
    free(b);
    return rc;
}

extern const hx_operator_kind hx_operator_cpu_otf;

const hx_device_ops hx_device_ops_cpu = {
    .name = "cpu",
    .help = "the host's cores, with OpenMP",
    .look_every = 1,
    .available = cpu_available,
    .open = cpu_open,
    .close = cpu_close,
    .memory = cpu_memory,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_transfer,
    .download = cpu_transfer,
    .copy = cpu_transfer,
    .zero = cpu_zero,
    .sync = cpu_sync,
    .mark = cpu_mark,
    .elapsed = cpu_elapsed,
    .copy_bandwidth = cpu_copy_bandwidth,
    .vector = &hx_cpu_vector_ops,
    .pcg = &hx_cpu_pcg_ops,
    .element = &hx_cpu_element_ops,
    .design = &hx_cpu_design_ops,
    .rigid = &hx_cpu_rigid_ops,
    .body = &hx_cpu_body_ops,
    .expansion = &hx_cpu_expansion_ops,
    .mass = &hx_cpu_mass_ops,
    .block = &hx_cpu_block_ops,
    .multigrid = &hx_cpu_multigrid_ops,
    .conduction = &hx_cpu_conduction_ops,
    .helmholtz = &hx_cpu_helmholtz_ops,
    .stress = &hx_cpu_stress_ops,
    .matrix = &hx_cpu_matrix_ops,
    .interaction = &hx_cpu_interaction_ops,
    .transport = &hx_cpu_transport_ops,
    .timeline = &hx_cpu_timeline_ops,
    .matrix_free = &hx_operator_cpu_otf,
};
