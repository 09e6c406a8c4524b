#define _GNU_SOURCE /* dl_iterate_phdr */

#include "machine.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <link.h>
#endif
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "../text/log.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/vector_unit.h"
#include "core/version.h"

static char processor[96];
static int processor_unread; /* errno */
static pthread_once_t processor_once = PTHREAD_ONCE_INIT;
static void find_processor(void);

int hx_machine_pin(void)
{
    (void)pthread_once(&processor_once, find_processor); /* cannot fail here */
    if (hx_vector_unit_taken >= 0) return HX_OK;
    const int rc = hx_vector_unit_pin(getenv(HX_MACHINE_VECTOR));
    if (rc < 0) hx_error_prefix("environment variable " HX_MACHINE_VECTOR ": ");
    return rc;
}

/* --- processor --- */

/* Finds the first "model name : AMD EPYC" in the system's list, of which the beginning suffices. */
static void find_processor(void)
{
    static const char key[] = "\nmodel name";
    char list[4096] = "";
    const int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? -1 : read(file, list, sizeof list - 1);
    const int why = n < 0 ? errno : 0;
    if (file >= 0) close(file);
    const char *const at = strstr(list, key), *const colon = at ? strchr(at, ':') : NULL;
    if (colon) snprintf(processor, sizeof processor, "%s", colon + 1 + strspn(colon + 1, " \t"));
    processor[strcspn(processor, "\n")] = '\0';
    processor_unread = why == ENOENT ? 0 : why;
}

/* --- the C library --- */

static void find_library(char *text, size_t n_text)
{
#ifdef __GLIBC__
    snprintf(text, n_text, "glibc %s", gnu_get_libc_version());
#else
    snprintf(text, n_text, "unknown");
#endif
}

/* Hash of results for arguments over the range that designs use. Versions for other processors
 * differ in about one of a hundred results. */
static void find_mathematics(char text[9])
{
    enum { N = 512 };
    static double (*const volatile function[])(double) = {exp,  log,  sin,  cos,  tan,
                                                          atan, tanh, cosh, cbrt, acos};
    static double (*const volatile of_two[])(double, double) = {pow, atan2, hypot};
    const size_t n_one = sizeof function / sizeof function[0],
                 n_two = sizeof of_two / sizeof of_two[0];
    hx_hash h = {0, 0};
    for (int i = 1; i <= N; i++) {
        const double x = (i - 0.5) / N;
        for (size_t k = 0; k < n_one; k++) hx_hash_number(&h, function[k](x));
        for (size_t k = 0; k < n_two; k++) hx_hash_number(&h, of_two[k](x, 2.5 + 0.001 * i));
    }
    snprintf(text, 9, "%08x", (unsigned)(h.a >> 32));
}

/* --- the program --- */

#ifdef __linux__
typedef struct build_search {
    uintptr_t inside; /* an address inside the object to search for */
    char *text;
    size_t n_text;
} build_search;

/* Finds the note of kind NT_GNU_BUILD_ID among those of a segment. */
static void read_notes(const char *at, const char *end, build_search *search)
{
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        const size_t n_name = (note.n_namesz + 3u) & ~(size_t)3u,
                     n = (note.n_descsz + 3u) & ~(size_t)3u;
        const char *const name = at + sizeof note;
        if ((size_t)(end - name) < n_name + n) return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
            size_t used = 0;
            for (size_t i = 0; i < note.n_descsz && used + 3 <= search->n_text; i++)
                used += (size_t)snprintf(search->text + used, search->n_text - used, "%02x",
                                         (unsigned char)name[n_name + i]);
            return;
        }
        at = name + n_name + n;
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    build_search *const search = context;
    int is_it = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
        const uintptr_t begin = (uintptr_t)(info->dlpi_addr + p->p_vaddr);
        is_it |= p->p_type == PT_LOAD && search->inside >= begin &&
                 search->inside < begin + (uintptr_t)p->p_memsz;
    }
    for (int i = 0; is_it && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE) continue;
        const char *const at = (const char *)(uintptr_t)(info->dlpi_addr + p->p_vaddr);
        read_notes(at, at + p->p_memsz, search);
    }
    return is_it;
}
#endif

static void find_build(char *text, size_t n_text)
{
    text[0] = '\0';
#ifdef __linux__
    static const char mark = 0;
    build_search search = {(uintptr_t)&mark, text, n_text};
    (void)dl_iterate_phdr(visit, &search);
#else
    (void)n_text;
#endif
}

/* --- all --- */

/* Fills the struct, in less than a millisecond. */
static void take_machine(hx_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    machine->vector = hx_vector_unit_name(hx_vector_unit_used());
    (void)pthread_once(&processor_once, find_processor);
    machine->processor = processor;
    machine->unread = processor_unread;
    find_library(machine->library, sizeof machine->library);
    find_mathematics(machine->mathematics);
    find_build(machine->build, sizeof machine->build);
}

void hx_machine_write_members(hx_json *json, const hx_device *dev)
{
    hx_machine m;
    take_machine(&m);
    if (m.unread)
        hx_log_warning("the name of the processor is unknown: /proc/cpuinfo: %s",
                       strerror(m.unread));
    hx_json_string(json, "processor", m.processor[0] ? m.processor : NULL);
    hx_json_string(json, "vector_unit", m.vector);
    hx_json_string(json, "c_library", m.library);
    hx_json_string(json, "mathematics", m.mathematics);
    if (dev && dev->model[0]) {
        hx_json_string(json, "gpu", dev->model);
        hx_json_string(json, "gpu_software", dev->software);
    }
    hx_json_string(json, "build", m.build[0] ? m.build : NULL);
}

void hx_machine_write(hx_json *json, const hx_device *dev)
{
    hx_json_open_object(json, "machine");
    hx_machine_write_members(json, dev);
    hx_json_close_object(json);
}

const char *hx_machine_text(const hx_device *dev, char text[HX_MACHINE_TEXT])
{
    hx_machine m;
    take_machine(&m);
    const int is_gpu = dev && dev->model[0];
    snprintf(text, HX_MACHINE_TEXT,
             "vector unit %s\nC library %s, mathematics %s\nprogram %s, build %s\ndevice %s%s%s\n",
             m.vector, m.library, m.mathematics, HX_VERSION, m.build[0] ? m.build : "unknown",
             is_gpu ? dev->model : "CPU", is_gpu ? ", " : "", is_gpu ? dev->software : "");
    return text;
}
