#include "fault.h"

#ifdef HX_FAULT_INJECTION

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a fixed table, since the functions are called within malloc() */
enum { MOST_SITES = 8192, TEXT = 96 };

typedef struct site {
    char kind[12], name[TEXT];
    long n;
} site;

static struct {
    site entry[MOST_SITES]; /* a hash table */
    int is_ready, is_armed, is_lasting, is_fired, how;
    long n;
    char kind[12], name[TEXT], list[512];
} faults;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local const char *mark_file;
static _Thread_local int mark_line, is_counted;

static int how_of(const char *word)
{
#define HOW(name, text)                                                                            \
    if (strcmp(word, text) == 0) return HX_FAULT_##name;
    HX_FAULT_HOWS(HOW)
#undef HOW
    return HX_FAULT_NONE;
}

/* Parses "KIND SITE N HOW"; any other text arms nothing. */
static void arm(const char *text)
{
    char how[16] = "";
    if (!text || sscanf(text, "%11s %95s %ld %15s", faults.kind, faults.name, &faults.n, how) != 4)
        return;
    char *const plus = strchr(how, '+');
    faults.is_lasting = plus != NULL;
    if (plus) *plus = '\0';
    faults.how = how_of(how);
    faults.is_armed = faults.how != HX_FAULT_NONE;
}

/* Runs once the environment is available; earlier calls are not counted. */
__attribute__((constructor)) static void begin_faults(void)
{
    const char *const text = getenv("HEXTOP_FAULT"), *const list = getenv("HEXTOP_FAULT_LIST");
    if (list) snprintf(faults.list, sizeof faults.list, "%s", list);
    arm(text);
    faults.is_ready = text || list;
}

void hx_fault_arm(const char *text)
{
    memset(&faults, 0, sizeof faults);
    arm(text);
    faults.is_ready = 1;
}

int hx_fault_report(const char *path)
{
    char line[2 * TEXT];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int is_written = fd >= 0;
    for (const site *s = faults.entry; is_written && s < faults.entry + MOST_SITES; s++) {
        if (s->n == 0) continue;
        const int n = snprintf(line, sizeof line, "%s %s %ld\n", s->kind, s->name, s->n);
        is_written = write(fd, line, (size_t)n) == n;
    }
    if (is_written && faults.is_fired) is_written = write(fd, "fired\n", 6) == 6;
    if (fd >= 0) close(fd);
    return is_written ? faults.is_fired : -1;
}

__attribute__((destructor)) static void end(void)
{
    faults.is_ready = 0;
    if (faults.list[0]) (void)hx_fault_report(faults.list);
}

/* Returns the entry of a site. The table has more entries than there are sites. */
static site *find_site(const char *kind, const char *name)
{
    unsigned h = 2166136261u;
    for (const char *c = kind; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    for (const char *c = name; *c; c++) h = (h ^ (unsigned char)*c) * 16777619u;
    for (;; h++) {
        site *const s = &faults.entry[h % MOST_SITES];
        if (s->n == 0) {
            snprintf(s->kind, sizeof s->kind, "%s", kind);
            snprintf(s->name, sizeof s->name, "%s", name);
        }
        if (strcmp(s->name, name) == 0 && strcmp(s->kind, kind) == 0) return s;
    }
}

static int count_site(const char *kind, const char *name)
{
    const long here = ++find_site(kind, name)->n, all = ++find_site(kind, "*")->n;
    if (!faults.is_armed || strcmp(kind, faults.kind) != 0) return HX_FAULT_NONE;
    if (faults.is_fired) return faults.is_lasting ? faults.how : HX_FAULT_NONE;
    const int any = strcmp(faults.name, "*") == 0;
    if ((!any && strcmp(name, faults.name) != 0) || (any ? all : here) != faults.n)
        return HX_FAULT_NONE;
    faults.is_fired = 1;
    return faults.how;
}

int hx_fault_at(const char *kind, const char *file, int line)
{
    char name[TEXT];
    if (!faults.is_ready) return HX_FAULT_NONE;
    const char *const slash = strrchr(file, '/');
    snprintf(name, sizeof name, line > 0 ? "%s:%d" : "%s", slash ? slash + 1 : file, line);
    const int before = errno;
    pthread_mutex_lock(&lock);
    const int how = count_site(kind, name);
    pthread_mutex_unlock(&lock);
    errno = before;
    return how;
}

void hx_fault_mark(const char *file, int line)
{
    mark_file = file;
    mark_line = line;
}

int hx_fault_marked(const char *kind, const char *file, int line)
{
    const char *const marked = mark_file;
    mark_file = NULL;
    const int how = hx_fault_at(kind, marked ? marked : file, marked ? mark_line : line);
    is_counted = how == HX_FAULT_NONE;
    return how;
}

/* For a replacement of malloc() (tests): returns 1, once, if hx_fault_marked() has already counted
 * this call. */
int hx_fault_is_counted(void);

int hx_fault_is_counted(void)
{
    const int was = is_counted;
    is_counted = 0;
    return was;
}

#else

typedef int hx_fault_is_off; /* avoids an empty translation unit */

#endif
