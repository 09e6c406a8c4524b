#define _DEFAULT_SOURCE /* madvise */
#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault.h"
#include "names.h"

/* Size from which available memory is checked before the allocation: malloc grants more than there
 * is, and a process that uses it is killed without a message. */
static const size_t LARGE = (size_t)64 << 20;

/* Requests huge pages (2 MB). Has no effect if the system has none or uses them anyway. */
static void request_huge_pages(void *p, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    static const size_t HUGE_PAGE = (size_t)2 << 20;
    const size_t skipped = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (bytes >= LARGE)
        (void)madvise((char *)p + skipped, (bytes - skipped) / HUGE_PAGE * HUGE_PAGE,
                      MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

static int allocate(void *out, size_t count, size_t size, const char *what, int zeroed)
{
    void *p = NULL;
    memcpy(out, &p, sizeof p);
    if (size != 0 && count > SIZE_MAX / size)
        return HX_RAISE(HX_ENOMEM, "%s: %zu %s of %zu %s overflow the address space", what, count,
                        hx_noun(count, "entry", "entries"), size, hx_noun(size, "byte", "bytes"));
    const size_t bytes = count * size > 0 ? count * size : 1;
    const size_t available = bytes >= LARGE ? hx_host_memory_available() : 0;
    if (HX_FAULT_MARKED(alloc) == 0 && (available == 0 || bytes <= available))
        p = zeroed ? calloc(bytes, 1) : malloc(bytes);
    if (!p) {
        char want[32], have[32];
        return HX_RAISE(
            HX_ENOMEM,
            "%s: %s of host memory needed, %s available; use fewer elements or a machine "
            "with more memory",
            what, hx_format_bytes((double)bytes, want, sizeof want),
            hx_format_bytes((double)hx_host_memory_available(), have, sizeof have));
    }
    request_huge_pages(p, bytes);
    memcpy(out, &p, sizeof p);
    return HX_OK;
}

void hx_free_large(void *p, size_t bytes)
{
    static const size_t PIECE = (size_t)16 << 20;
    if (p && bytes >= LARGE) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE), n = bytes / PIECE;
        char *const first = (char *)p + (page - (uintptr_t)p % page) % page;
#pragma omp parallel for schedule(dynamic)
        for (size_t i = 1; i < n; i++) /* whole pages; the rest at the end is left to free() */
            (void)madvise(first + (i - 1) * PIECE, PIECE, MADV_DONTNEED);
    }
    free(p);
}

#undef hx_alloc
#undef hx_alloc_raw
#undef hx_strdup

int hx_alloc(void *out, size_t count, size_t size, const char *what)
{
    return allocate(out, count, size, what, 1);
}

int hx_alloc_raw(void *out, size_t count, size_t size, const char *what)
{
    return allocate(out, count, size, what, 0);
}

int hx_strdup(char **out, const char *text)
{
    *out = NULL;
    if (!text) return HX_OK;
    const size_t n = strlen(text) + 1;
    HX_TRY(hx_alloc_raw(out, n, 1, "text"));
    memcpy(*out, text, n);
    return HX_OK;
}

/* Returns page cache that the kernel drops under memory pressure but that the cgroup counts as
 * used. */
static size_t reclaimable(void)
{
    FILE *f = fopen("/sys/fs/cgroup/memory.stat", "r");
    unsigned long long bytes = 0;
    char line[128];
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "inactive_file %llu", &bytes) == 1) break;
    fclose(f);
    return (size_t)bytes;
}

/* Returns the number in a one-line file; SIZE_MAX if there is none ("max"). */
static size_t read_number(const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned long long value = 0;
    if (!f) return SIZE_MAX;
    const int n = fscanf(f, "%llu", &value);
    fclose(f);
    return n == 1 ? (size_t)value : SIZE_MAX;
}

/* Returns the address space left under `ulimit -v`, which batch systems set; SIZE_MAX without such
 * a limit. */
static size_t addresses_left(void)
{
    struct rlimit limit;
    unsigned long long pages = 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return SIZE_MAX;
    if (fscanf(f, "%llu", &pages) != 1) pages = 0;
    fclose(f);
    const size_t used = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
    return limit.rlim_cur > used ? (size_t)limit.rlim_cur - used : 1; /* 0 would mean unknown */
}

size_t hx_host_memory_available(void)
{
    size_t available = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    if (f) {
        char line[128];
        unsigned long long kib;
        while (fgets(line, sizeof line, f))
            if (sscanf(line, "MemAvailable: %llu", &kib) == 1) available = (size_t)kib * 1024;
        fclose(f);
    }
    const size_t limit = read_number("/sys/fs/cgroup/memory.max");
    const size_t used = read_number("/sys/fs/cgroup/memory.current");
    if (limit != SIZE_MAX && used != SIZE_MAX) {
        const size_t cache = reclaimable();
        const size_t busy = used > cache ? used - cache : 0;
        const size_t left = limit > busy ? limit - busy : 0;
        if (left < available) available = left;
    }
    const size_t addresses = addresses_left();
    return addresses < available ? addresses : available;
}

size_t hx_host_memory_peak(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (size_t)usage.ru_maxrss * 1024;
}

size_t hx_host_memory_resident(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%*u %llu", &pages) != 1) pages = 0;
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

const char *hx_format_bytes(double bytes, char *text, size_t n_text)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t i = 0;
    while (bytes >= 1000.0 && i + 1 < sizeof unit / sizeof unit[0]) {
        bytes /= 1000.0;
        i++;
    }
    snprintf(text, n_text, i == 0 || bytes >= 100.0 ? "%.0f %s" : "%.1f %s", bytes, unit[i]);
    return text;
}
