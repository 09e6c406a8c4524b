/* hextop matrix --bench papers, and the beginning and end of all benchmarks. */
#include "matrix_bench.h"

#include <math.h>
#include <stdio.h>

#include "../text/log.h"
#include "core/registry.h"

int hx_bench_begin(hx_bench *bench)
{
    hx_device *const dev = bench->dev;
    char text[64] = "unknown, since there was no memory for it";
    if (!dev->ops->matrix)
        return HX_RAISE(HX_EINPUT,
                        "device '%s' cannot make matrices; solver.device = \"cpu\" or \"auto\" can",
                        dev->ops->name);
    const int rc = dev->ops->copy_bandwidth(dev, &bench->copy);
    if (rc < 0 && rc != HX_ENOMEM) return rc;
    if (rc == HX_OK)
        snprintf(text, sizeof text, "%.4g GB/s", 1e-9 * bench->copy);
    else
        bench->copy = (double)NAN;
    hx_error_clear();
    hx_log_info("%s; copy bandwidth %s", dev->description, text);
    return HX_OK;
}

int hx_bench_verdict(const hx_bench *bench)
{
    if (bench->n_wrong == 0) return HX_OK;
    hx_log_warning("%d result%s wrong, or with bits that should be the same: see FAIL",
                   bench->n_wrong, bench->n_wrong == 1 ? " is" : "s are");
    return 1;
}

/* Elements that take minutes: on a CPU with few cores, and on a GPU. */
static int64_t most_of(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? 70000 : 8100000;
}

/* The largest mesh of P3, if only the current range is on the device. */
static int64_t most_streamed(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? most_of(dev) : 27000000;
}

/* On a GPU a solid patch of 128^3 points of degree 2. */
static int64_t most_of_patch(const hx_device *dev)
{
    return dev->ops == hx_device_find("cpu") ? most_of(dev) : 10000000;
}

int hx_matrix_bench_papers(hx_device *dev, hx_bench_kind papers, int64_t most)
{
    hx_bench bench = {.dev = dev,
                      .most = most > 0 ? most : most_of(dev),
                      .most_stream = most > 0 ? most : most_streamed(dev),
                      .most_patch = most > 0 ? most : most_of_patch(dev)};
    HX_TRY(hx_bench_begin(&bench));
    const int all = papers == HX_BENCH_PAPERS;
    if (all || papers == HX_BENCH_P2) HX_TRY(hx_bench_p2(&bench));
    if (all || papers == HX_BENCH_P3) HX_TRY(hx_bench_p3(&bench));
    if (all || papers == HX_BENCH_P4) HX_TRY(hx_bench_p4(&bench));
    if (all || papers == HX_BENCH_P5) HX_TRY(hx_bench_p5(&bench));
    hx_log_info("%s", "");
    for (int single = 0; single < 2; single++)
        if (bench.n_checked[single] > 0)
            hx_log_info("  checked: products of %d matrices from different fills, in %s precision: "
                        "off by at most %.1e",
                        bench.n_checked[single], single ? "single" : "double", bench.worst[single]);
    return hx_bench_verdict(&bench);
}
