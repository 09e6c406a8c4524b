/* The meter of a device's memory: its peak, even if another layer above it keeps memory, and memory
 * that was allocated earlier. */
#include "app/matrix/matrix_job.h"
#include "tests/lib/fixture.h"

static hx_device device;

static void *take(size_t bytes)
{
    void *d_p = NULL;
    CHECK_OK(device.ops->alloc(&device, bytes, &d_p));
    CHECK(d_p != NULL);
    return d_p;
}

static void test_counts(void)
{
    hx_matrix_meter meter;
    void *const before = take(5000);
    const hx_device_ops *const own = device.ops;
    char text[96];
    hx_matrix_meter_open(&meter, &device);
    void *const a = take(1000), *const b = take(2000);
    CHECK(meter.used == 3000 && meter.most == 3000);
    device.ops->release(&device, a);
    device.ops->release(&device, before);
    device.ops->release(&device, NULL);
    CHECK(meter.used == 2000 && meter.most == 3000);
    hx_matrix_meter_restart(&meter);
    void *const c = take(500);
    CHECK(meter.used == 2500 && meter.most == 3000 && meter.most_lately == 2500);
    device.ops->release(&device, c);
    CHECK(meter.used == 2000 && meter.most_lately == 2500);
    CHECK(strstr(hx_matrix_peaks(&meter, 0, text, sizeof text), "B of the host, whose memory") !=
          NULL);
    hx_matrix_meter_close(&meter);
    CHECK(device.ops == own);
    device.ops->release(&device, b);
    hx_matrix_meter_close(&meter); /* closed already */
}

/* Many blocks at a time, which the upper layer rounds up and keeps. */
static void test_layers(void)
{
    enum { N_BLOCK = 300 };
    hx_matrix_meter meter;
    hx_matrix_memory memory;
    void *block[N_BLOCK];
    hx_matrix_meter_open(&meter, &device);
    hx_matrix_memory_open(&memory, &device, 1e9);
    for (int i = 0; i < N_BLOCK; i++) block[i] = take(512);
    CHECK(memory.used == N_BLOCK * 512 && meter.used == N_BLOCK * 512);
    for (int i = 0; i < N_BLOCK; i++) device.ops->release(&device, block[i]);
    CHECK(memory.used == 0 && meter.used == N_BLOCK * 512);
    hx_matrix_memory_close(&memory);
    CHECK(meter.used == 0 && meter.most == N_BLOCK * 512);
    hx_matrix_meter_close(&meter);
}

int main(void)
{
    CHECK_OK(hx_device_open(&device, hx_device_find("cpu")));
    test_counts();
    test_layers();
    hx_device_close(&device);
    TEST_END();
}
