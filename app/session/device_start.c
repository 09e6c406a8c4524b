#include "device_start.h"

#include <stdatomic.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../config/config.h"
#include "core/registry.h"

enum { MOST_DEVICES = 8 };

/* Once per process: later sessions find the driver started, and the driver keeps some memory for
 * every thread that has called it. */
static atomic_int is_started[MOST_DEVICES];

static void *prepare_device(void *argument)
{
    hx_device_start *start = argument;
    for (size_t i = 0; start->ops[i]; i++) start->ops[i]->prepare(start->place);
    atomic_store(&start->is_done, 1);
    return NULL;
}

/* The driver's thread needs a core: with as many OpenMP threads as cores, teams would wait for the
 * one that shares its core. */
static void leave_core(hx_device_start *start)
{
#ifdef _OPENMP
    const int n = omp_get_max_threads();
    if (n <= 2 || n < omp_get_num_procs()) return;
    start->n_thread = n;
    omp_set_num_threads(n - 1);
#else
    (void)start;
#endif
}

static void take_core(hx_device_start *start)
{
#ifdef _OPENMP
    if (start->n_thread > 0) omp_set_num_threads(start->n_thread);
#endif
    start->n_thread = 0;
}

void hx_device_start_begin(hx_device_start *start, const char *name, int place)
{
    const size_t most = sizeof start->ops / sizeof start->ops[0] - 1;
    size_t n = 0;
    memset(start, 0, sizeof *start);
    start->place = place;
    for (size_t i = 0; hx_devices[i] && i < MOST_DEVICES && n < most; i++) {
        const int wanted = hx_config_is_auto(name) || strcmp(name, hx_devices[i]->name) == 0;
        if (!wanted || !hx_devices[i]->prepare || atomic_exchange(&is_started[i], 1)) continue;
        start->ops[n++] = hx_devices[i];
    }
    if (n > 0) start->running = pthread_create(&start->thread, NULL, prepare_device, start) == 0;
    if (start->running) leave_core(start);
}

int hx_device_start_is_running(const hx_device_start *start)
{
    return start->running && !atomic_load(&start->is_done);
}

void hx_device_start_look(hx_device_start *start)
{
    if (!hx_device_start_is_running(start)) take_core(start);
}

void hx_device_start_end(hx_device_start *start)
{
    if (start->running) pthread_join(start->thread, NULL);
    start->running = 0;
    take_core(start);
}
