/* Start and end of a benchmark, and its report. */
#include "matrix_bench.h"

#include <math.h>
#include <stdio.h>

#include "../text/log.h"

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
    hx_log_warning("%d result%s wrong, or not bitwise reproducible: see FAIL", bench->n_wrong,
                   bench->n_wrong == 1 ? " is" : "s are");
    return 1;
}
