/* Receive buffers in memory that processes of this machine share (transport_ops.h). They are
 * anonymous in-memory files, which other processes open through /proc, and which disappear with the
 * last process that has them open. */
#define _GNU_SOURCE /* for memfd_create */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu_ops.h"

static const char *file_of(const unsigned char handle[HX_TRANSPORT_HANDLE])
{
    return (const char *)handle;
}

static int map(int fd, size_t bytes, void *d_out)
{
    void *const p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return HX_RAISE(HX_EENV, "cannot map memory shared by several processes");
    memcpy(d_out, &p, sizeof p);
    return HX_OK;
}

static int transport_alloc(hx_device *dev, size_t bytes, void *d_out,
                           unsigned char handle[HX_TRANSPORT_HANDLE])
{
    const int fd = memfd_create("hextop", MFD_CLOEXEC);
    (void)dev;
    if (fd < 0)
        return HX_RAISE(HX_EENV,
                        "memory shared by several processes is not available on this machine");
    snprintf((char *)handle, HX_TRANSPORT_HANDLE, "/proc/%ld/fd/%d", (long)getpid(), fd);
    int rc = HX_OK;
    /* reserves the memory now, because a later write without memory would kill the process */
    if (posix_fallocate(fd, 0, (off_t)bytes) != 0)
        rc = HX_RAISE(HX_EENV, "not enough memory for exchanges between processes");
    if (rc == HX_OK) rc = map(fd, bytes, d_out);
    if (rc < 0) close(fd);
    return rc;
}

static void transport_release(hx_device *dev, void *d_remote, size_t bytes,
                              const unsigned char handle[HX_TRANSPORT_HANDLE])
{
    long pid;
    int fd;
    (void)dev;
    munmap(d_remote, bytes);
    if (sscanf(file_of(handle), "/proc/%ld/fd/%d", &pid, &fd) == 2) close(fd);
}

static int transport_open(hx_device *dev, const unsigned char handle[HX_TRANSPORT_HANDLE],
                          size_t bytes, void *d_out)
{
    const int fd = open(file_of(handle), O_RDWR | O_CLOEXEC);
    (void)dev;
    if (fd < 0) return HX_RAISE(HX_EENV, "cannot open the memory of another process");
    const int rc = map(fd, bytes, d_out);
    close(fd);
    return rc;
}

static void transport_close(hx_device *dev, void *d_remote, size_t bytes)
{
    (void)dev;
    munmap(d_remote, bytes);
}

static uint64_t *turn_of(char *d_remote)
{
    return (uint64_t *)(void *)d_remote + HX_TRANSPORT_TURN;
}

/* Waits for the values of the current exchange and returns their address. */
static const void *wait_for_bytes(const hx_transport_arrivals *came)
{
    const uint64_t *const head = (const uint64_t *)(const void *)came->d_remote;
    const uint64_t turn = head[HX_TRANSPORT_TURN];
    for (int r = 0; !came->is_over && r < came->n_rank; r++)
        while (r != came->own && __atomic_load_n(head + r, __ATOMIC_ACQUIRE) < turn) sched_yield();
    return came->d_remote + HX_TRANSPORT_HEAD + (turn % 2 ? came->half : 0);
}

#define REAL double
#define NAME(x) x
#include "transport_cpu_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "transport_cpu_real.inc"
#undef REAL
#undef NAME

const hx_transport_ops hx_cpu_transport_ops = {
    .name = "shared memory",
    .alloc = transport_alloc,
    .release = transport_release,
    .open = transport_open,
    .close = transport_close,
    .put = transport_put,
    .put_single = transport_put_single,
    .add = transport_add,
    .add_single = transport_add_single,
    .take = transport_take,
    .take_single = transport_take_single,
    .add_all = transport_add_all,
    .add_all_single = transport_add_all_single,
};
