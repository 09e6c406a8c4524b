/* Counts requests to the C library, and makes them fail, for core/base/fault.h. Linked into the
 * program in a build with -Dfault_injection=true: its definitions precede those of all shared
 * libraries, so they also receive the calls of libconfig and of the C library itself. A site is
 * "module+address<address<address": the caller, and its callers within the program (addr2line -e
 * hextop). No source file of the program depends on this file. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fault.h"

int hx_fault_is_counted(void); /* fault.c: 1 if hx_alloc has counted this request */

enum { MOST_MODULES = 32, MOST_STREAMS = 64, TEXT = 96, CALLERS = 3 };

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t n);
void *__interceptor_malloc(size_t n) __attribute__((weak));
void *__interceptor_calloc(size_t count, size_t size) __attribute__((weak));
void *__interceptor_realloc(void *old, size_t n) __attribute__((weak));

typedef struct module {
    uintptr_t base, begin, end;
    char name[40];
} module;

static module modules[MOST_MODULES]; /* the first entry is the program */
static int n_module;

/* --- the caller of a request --- */

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (n_module == MOST_MODULES) return 1;
    module *const m = &modules[n_module];
    const char *const slash = strrchr(info->dlpi_name, '/');
    snprintf(m->name, sizeof m->name, "%.39s",
             slash                ? slash + 1
             : info->dlpi_name[0] ? info->dlpi_name
                                  : "hextop");
    m->base = info->dlpi_addr;
    m->begin = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
        const uintptr_t at = m->base + p->p_vaddr;
        if (at < m->begin) m->begin = at;
        if (at + p->p_memsz > m->end) m->end = at + p->p_memsz;
    }
    n_module++;
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    dl_iterate_phdr(add_module, NULL);
}

static const module *module_of(uintptr_t at)
{
    for (int i = 0; i < n_module; i++)
        if (at >= modules[i].begin && at < modules[i].end) return &modules[i];
    return NULL;
}

/* Builds with sanitizers have frame pointers, so the program's own frames can be followed. In a
 * library, only the address of the call is known. */
static void name_site(char text[TEXT], void *caller, void *const *frame)
{
    const uintptr_t at = (uintptr_t)caller;
    const module *const m = module_of(at);
    int n = snprintf(text, TEXT, "%s+%lx", m ? m->name : "other",
                     m ? (unsigned long)(at - m->base) : 0UL);
    if (!m || m != modules) return;
    for (int i = 1; i < CALLERS; i++) {
        void *const *const up = *(void *const *const *)frame;
        if (up <= frame || up > frame + (1 << 16)) return;
        const uintptr_t next = (uintptr_t)up[1];
        if (module_of(next) != m) return;
        n += snprintf(text + n, TEXT - (size_t)n, "<%lx", (unsigned long)(next - m->base));
        frame = up;
    }
}

#define ASK(kind, how)                                                                             \
    int how = 0;                                                                                   \
    char site[TEXT];                                                                               \
    if (n_module > 0) {                                                                            \
        name_site(site, __builtin_return_address(0), __builtin_frame_address(0));                  \
        how = hx_fault_at(kind, site, 0);                                                          \
    }

/* A request for memory, counted once. */
#define ASK_ONCE(how)                                                                              \
    int how = 0;                                                                                   \
    if (n_module > 0 && !hx_fault_is_counted()) {                                                  \
        char site[TEXT];                                                                           \
        name_site(site, __builtin_return_address(0), __builtin_frame_address(0));                  \
        how = hx_fault_at("alloc", site, 0);                                                       \
    }

#define REAL(name) ((name##_function)real(#name))

static void (*real(const char *name))(void)
{
    void *const p = dlsym(RTLD_NEXT, name);
    void (*f)(void);
    memcpy(&f, &p, sizeof f);
    return f;
}

static void set_errno(int how)
{
    errno = how == HX_FAULT_MEMORY ? ENOMEM : how == HX_FAULT_IO ? EIO : ENOSPC;
}

/* --- memory --- */

/* Memory that the loader allocates for a thread that ends together with the program is not a leak.
 * LeakSanitizer recognizes the loader as the caller of malloc, but here this file is the caller. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:_dl_map_object_deps\n";
}

void *malloc(size_t n)
{
    ASK_ONCE(how);
    if (how) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_malloc ? __interceptor_malloc(n) : __libc_malloc(n);
}

void *calloc(size_t count, size_t size)
{
    ASK_ONCE(how);
    if (how) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_calloc ? __interceptor_calloc(count, size) : __libc_calloc(count, size);
}

void *realloc(void *old, size_t n)
{
    ASK("alloc", how);
    if (how) {
        errno = ENOMEM;
        return NULL;
    }
    return __interceptor_realloc ? __interceptor_realloc(old, n) : __libc_realloc(old, n);
}

char *strdup(const char *text)
{
    ASK("alloc", how);
    const size_t n = strlen(text) + 1;
    char *const copy = how                    ? NULL
                       : __interceptor_malloc ? __interceptor_malloc(n)
                                              : __libc_malloc(n);
    if (copy) memcpy(copy, text, n);
    if (!copy) errno = ENOMEM;
    return copy;
}

/* --- streams --- */

typedef struct stream {
    FILE *file;
    int fd;
    char site[TEXT];
} stream;

static stream streams[MOST_STREAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef ssize_t (*write_function)(int, const void *, size_t);

static ssize_t put(void *cookie, const char *bytes, size_t n)
{
    stream *const s = cookie;
    const int how = hx_fault_at("write", s->site, 0);
    size_t done = 0;
    while (done < (how == HX_FAULT_SHORT ? n / 2 : how ? 0 : n)) {
        const ssize_t more =
            REAL(write)(s->fd, bytes + done, (how == HX_FAULT_SHORT ? n / 2 : n) - done);
        if (more <= 0) break;
        done += (size_t)more;
    }
    if (how) set_errno(how);
    return (ssize_t)done;
}

static ssize_t get(void *cookie, char *bytes, size_t n)
{
    return read(((stream *)cookie)->fd, bytes, n);
}

static int seek(void *cookie, off64_t *at, int whence)
{
    *at = lseek64(((stream *)cookie)->fd, *at, whence);
    return *at < 0 ? -1 : 0;
}

static int end(void *cookie)
{
    stream *const s = cookie;
    const int fd = s->fd, how = hx_fault_at("close", s->site, 0);
    pthread_mutex_lock(&lock);
    s->file = NULL;
    pthread_mutex_unlock(&lock);
    const int rc = close(fd);
    if (how) set_errno(how);
    return how ? -1 : rc;
}

typedef int (*open64_function)(const char *, int, ...);

static FILE *open_stream(const char *path, const char *mode, const char *site)
{
    const int flags = (strchr(mode, '+') ? O_RDWR : O_WRONLY) | O_CREAT |
                      (mode[0] == 'a' ? O_APPEND : O_TRUNC) | (strchr(mode, 'x') ? O_EXCL : 0);
    const cookie_io_functions_t io = {get, put, seek, end};
    const int fd = REAL(open64)(path, flags | O_CLOEXEC, 0666);
    stream *s = NULL;
    if (fd < 0) return NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_STREAMS && !s; i++)
        if (!streams[i].file) s = &streams[i];
    if (s) s->file = (FILE *)s; /* taken */
    pthread_mutex_unlock(&lock);
    if (!s) abort();
    s->fd = fd;
    snprintf(s->site, sizeof s->site, "%s", site);
    FILE *const file = fopencookie(s, mode, io);
    if (!file) {
        close(fd);
        /* the C library's fopen allocates memory before it opens the file */
        if (mode[0] == 'w') unlink(path);
    }
    s->file = file;
    return file;
}

typedef FILE *(*fopen64_function)(const char *, const char *);

#define FOPEN                                                                                      \
    {                                                                                              \
        ASK("open", how);                                                                          \
        if (how) {                                                                                 \
            set_errno(how);                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
        if (n_module == 0 || mode[0] == 'r') return REAL(fopen64)(path, mode);                     \
        return open_stream(path, mode, site);                                                      \
    }

FILE *fopen(const char *path, const char *mode) FOPEN

    FILE *fopen64(const char *path, const char *mode) FOPEN

    typedef int (*fileno_function)(FILE *);

int fileno(FILE *file)
{
    for (int i = 0; i < MOST_STREAMS; i++)
        if (streams[i].file == file) return streams[i].fd;
    return REAL(fileno)(file);
}

/* --- files --- */

#define OPEN                                                                                       \
    {                                                                                              \
        ASK("open", how);                                                                          \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const int mode = flags & O_CREAT ? va_arg(args, int) : 0;                                  \
        va_end(args);                                                                              \
        if (!how) return REAL(open64)(path, flags, mode);                                          \
        set_errno(how);                                                                            \
        return -1;                                                                                 \
    }

int open(const char *path, int flags, ...) OPEN

    int open64(const char *path, int flags, ...) OPEN

#define CALL(kind, type, name, parameters, arguments, failed)                                      \
    typedef type(*name##_function) parameters;                                                     \
    type name parameters                                                                           \
    {                                                                                              \
        ASK(kind, how);                                                                            \
        if (!how) return REAL(name) arguments;                                                     \
        set_errno(how);                                                                            \
        return failed;                                                                             \
    }

    CALL("open", DIR *, opendir, (const char *path), (path), NULL) CALL("sync", int, fsync,
                                                                        (int fd), (fd), -1)
        CALL("rename", int, rename, (const char *from, const char *to), (from, to),
             -1) CALL("rename", int, link, (const char *from, const char *to), (from, to), -1)
            CALL("folder", int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
                CALL("thread", int, pthread_create,
                     (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *),
                      void *context),
                     (thread, attributes, start, context), EAGAIN)

/* Writes half of the bytes, or none. */
#define WRITE(name, parameters, arguments, half)                                                   \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        ASK("write", how);                                                                         \
        if (how == HX_FAULT_SHORT) return REAL(name) half;                                         \
        if (!how) return REAL(name) arguments;                                                     \
        set_errno(how);                                                                            \
        return -1;                                                                                 \
    }

                    WRITE(write, (int fd, const void *bytes, size_t n), (fd, bytes, n),
                          (fd, bytes, n / 2)) typedef ssize_t (*pwrite_function)(int, const void *,
                                                                                 size_t, off_t);
typedef ssize_t (*pwrite64_function)(int, const void *, size_t, off64_t);
WRITE(pwrite, (int fd, const void *bytes, size_t n, off_t at), (fd, bytes, n, at),
      (fd, bytes, n / 2, at))
WRITE(pwrite64, (int fd, const void *bytes, size_t n, off64_t at), (fd, bytes, n, at),
      (fd, bytes, n / 2, at))
