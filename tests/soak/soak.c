/* Runs many sessions of the library (hextop.h) in one process, round after round, and records what
 * each one computes and which resources remain after it.
 *
 *     soak FOLDER/LIST DEVICE OUT ROUNDS SECONDS [PART OF]
 *
 * LIST is made by generate.py; DEVICE is cpu or cuda. Runs at least ROUNDS rounds, and further ones
 * that begin within SECONDS. PART OF: only every OF-th line, starting at PART. OUT is a folder for
 *
 *     NAME.rho      densities of the first round, doubles
 *     results       one line per session (composed here, written at once): see record()
 *     held          one line per session: resources of the process after it
 *
 * Exit status 1 if a session fails that should succeed, or the reverse; compare.py judges
 * differences. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/hextop.h"

enum { MOST_LINES = 400, MOST_FIELDS = 24, MOST_DESIGNS = 32, MOST_TEXT = 4096 };

typedef struct line {
    char text[MOST_TEXT];
    char *field[MOST_FIELDS];
    int n_field;
} line;

enum { NAME, CONFIG, KIND, DEVICE, EXACT, MESSAGE, FIRST_KEY };

typedef struct soak {
    line *lines;
    int n_line;
    char folder[1024], *out;
    const char *device;
    int round;
    atomic_int n_failed; /* counted by two threads at once for lines "beside" */
} soak;

/* Results of a session. */
typedef struct found {
    int n_design;
    double compliance[MOST_DESIGNS];
    uint64_t hash;     /* of the densities */
    double difference; /* largest difference of a density from the first round's; -1: none stored */
    /* roots of sums of squares: displacements or temperatures of load case 0; densities */
    double displacement, density;
    int64_t elements;
    /* effect of rounded stiffness on the compliance according to the warning; 0: no warning */
    double warned;
} found;

typedef struct watched {
    soak *s;
    const line *l;
    hextop *h;
    found *f;
    int stop_at, nested;
} watched;

static void fault(soak *s, const line *l, const char *what, const char *message)
{
    s->n_failed++;
    fprintf(stderr, "round %d, %s: %s: %s\n", s->round, l->field[NAME], what, message);
}

static double norm(const double *value, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) sum += value[i] * value[i];
    return sqrt(sum);
}

/* FNV-1a */
static uint64_t hash_of(const void *data, size_t n)
{
    const unsigned char *const byte = data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * 1099511628211u;
    return hash;
}

static FILE *open_out(const soak *s, const char *name, const char *ending, const char *mode)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s%s", s->out, name, ending);
    return fopen(path, mode);
}

/* Stores the densities of the first round; those of later rounds are compared with them. */
static void keep_density(soak *s, const line *l, const double *rho, int64_t n, found *f)
{
    FILE *file = open_out(s, l->field[NAME], ".rho", "rb");
    f->difference = -1.0;
    if (!file) {
        file = open_out(s, l->field[NAME], ".rho", "wb");
        if (!file || fwrite(rho, sizeof *rho, (size_t)n, file) != (size_t)n || fclose(file) != 0)
            fault(s, l, "densities", strerror(errno));
        return;
    }
    f->difference = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double first;
        if (fread(&first, sizeof first, 1, file) != 1 || !(fabs(first - rho[i]) <= 2.0)) {
            fault(s, l, "densities", "not those of the first round, or not a number");
            break;
        }
        f->difference = fmax(f->difference, fabs(first - rho[i]));
    }
    fclose(file);
}

static void run_line(soak *s, int i, int is_nested);

static int watch(void *user, const hextop_iteration *it)
{
    watched *const w = user;
    if (it->iteration <= MOST_DESIGNS) {
        w->f->compliance[it->iteration - 1] = it->compliance;
        w->f->n_design = it->iteration;
    }
    if (!it->pcg_converged) fault(w->s, w->l, "PCG", "did not converge");
    if (w->nested > 0 && it->iteration == 1) run_line(w->s, w->nested, 1);
    return it->iteration == w->stop_at;
}

/* Runs all iterations according to the kind of the line; negative: error code of the library. */
static int run_kind(hextop *h, const char *kind, watched *w)
{
    int rc;
    hextop_on_iteration(h, watch, w);
    if (strcmp(kind, "pieces") == 0) {
        while ((rc = hextop_run(h, 1)) > 0) continue;
        return rc;
    }
    if (strcmp(kind, "stop") == 0 || strcmp(kind, "resume") == 0) w->stop_at = 1;
    rc = hextop_run(h, 0);
    if (rc == 1 && strcmp(kind, "resume") == 0) rc = hextop_run(h, 0);
    return rc;
}

/* The number in the summary's warning about rounded stiffness. */
static double warned_of(const char *summary)
{
    const char *const code = strstr(summary, "\"rounded-stiffness\"");
    const char *const value = code ? strstr(code, "\"value\":") : NULL;
    return value ? strtod(value + strlen("\"value\":"), NULL) : 0.0;
}

/* Reads the arrays and writes the files that a caller would request. */
static int take_results(soak *s, const line *l, hextop *h, found *f)
{
    static const char *const ending[] = {"vtk", "json", "cfg", "stl"};
    int64_t shape[2];
    char path[2048];
    const double *const rho = hextop_array(h, "density", 0, shape);
    if (!rho) return hextop_code(h);
    f->elements = shape[0];
    f->hash = hash_of(rho, (size_t)shape[0] * sizeof *rho);
    f->density = norm(rho, shape[0]);
    keep_density(s, l, rho, shape[0], f);
    const int cases = (int)hextop_number(h, "cases");
    const double *u = hextop_array(h, "displacement", 0, shape);
    const int is_heat = !u; /* no displacements: the physics is heat */
    if (is_heat) u = hextop_array(h, "temperature", 0, shape);
    if (!u) return hextop_code(h);
    double square = 0.0; /* over all load cases: a single one may be almost zero */
    for (int c = 0; c < cases; c++) {
        u = hextop_array(h, is_heat ? "temperature" : "displacement", c, shape);
        if (!u) return hextop_code(h);
        const double length = norm(u, shape[0] * shape[1]);
        square += length * length;
    }
    f->displacement = sqrt(square);
    if (!hextop_array(h, is_heat ? "heat_flux" : "von_mises", cases - 1, NULL) ||
        !hextop_array(h, "sensitivity", 0, NULL) || !hextop_array(h, "energy", 0, NULL) ||
        !hextop_indices(h, "cells", NULL) || !hextop_summary(h))
        return hextop_code(h);
    f->warned = warned_of(hextop_summary(h));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", s->out, l->field[NAME], ending[i]);
        if (i < 3 && hextop_write(h, path) < 0) return hextop_code(h);
        if (i == 3) (void)hextop_write(h, path); /* after a few designs there may be no surface */
        remove(path);
    }
    return 0;
}

typedef struct other {
    soak *s;
    int i;
} other;

static void *run_other(void *user)
{
    const other *const o = user;
    run_line(o->s, o->i, 1);
    return NULL;
}

/* One session, from open to close. */
static int session(soak *s, int i, found *f, char *message, size_t n_message)
{
    const line *const l = &s->lines[i];
    char path[2048];
    hextop *h = NULL;
    const int is_nested = strcmp(l->field[KIND], "nested") == 0;
    watched w = {s, l, NULL, f, 0, is_nested ? i + 1 : 0};
    const char *const config = l->field[CONFIG];
    snprintf(path, sizeof path, "%s%s%s", config[0] == '/' ? "" : s->folder,
             config[0] == '/' ? "" : "/", config);
    int rc = hextop_open(&h, NULL, path);
    w.h = h;
    pthread_t thread;
    other beside = {s, i + 1};
    const int is_beside = strcmp(l->field[KIND], "beside") == 0 &&
                          pthread_create(&thread, NULL, run_other, &beside) == 0;
    snprintf(path, sizeof path, "solver.device=%s",
             l->field[DEVICE][0] ? l->field[DEVICE] : s->device);
    if (rc == 0 && strcmp(l->field[DEVICE], "any") != 0) rc = hextop_set(h, path);
    for (int k = FIRST_KEY; k < l->n_field && rc == 0; k++) rc = hextop_set(h, l->field[k]);
    if (rc == 0) rc = run_kind(h, l->field[KIND], &w);
    if (rc >= 0) {
        const int got = take_results(s, l, h, f);
        if (got < 0) rc = got;
    }
    snprintf(message, n_message, "%s", rc < 0 ? hextop_error(h) : "");
    hextop_close(h);
    if (is_beside) pthread_join(thread, NULL);
    return rc;
}

static void record(soak *s, const line *l, int rc, int is_nested, double seconds, const found *f)
{
    char text[MOST_TEXT];
    int n = snprintf(
        text, sizeof text, "%d\t%s\t%s\t%d\t%d\t%.3f\t%lld\t%016llx\t%.17g\t%.17g\t%.17g\t%.3g\t",
        s->round, l->field[NAME], l->field[KIND], is_nested, rc, seconds, (long long)f->elements,
        (unsigned long long)f->hash, f->difference, f->displacement, f->density, f->warned);
    for (int k = 0; k < f->n_design; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.17g", k ? " " : "", f->compliance[k]);
    text[n++] = '\n';
    FILE *const file = open_out(s, "results", "", "ab");
    if (!file || fwrite(text, 1, (size_t)n, file) != (size_t)n || fclose(file) != 0)
        fault(s, l, "results", strerror(errno));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_line(soak *s, int i, int is_nested)
{
    const line *const l = &s->lines[i];
    const int is_refused = strcmp(l->field[KIND], "refused") == 0;
    char message[2048];
    found f = {0};
    const double start = now();
    const int rc = session(s, i, &f, message, sizeof message);
    if (is_refused && (rc >= 0 || !strstr(message, l->field[MESSAGE])))
        fault(s, l, "is not refused as it should be", rc < 0 ? message : "runs");
    if (!is_refused && rc < 0) fault(s, l, "fails", message);
    record(s, l, rc, is_nested, now() - start, &f);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 }; /* sanitizers keep freed memory for a while, and find leaks themselves */
#else
enum { IS_SANITIZED = 0 };
#endif

static int count_entries(const char *path)
{
    int n = 0;
    DIR *const folder = opendir(path);
    while (folder && readdir(folder)) n++;
    if (folder) closedir(folder);
    return n;
}

static long long fused(void)
{
    long long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*s %lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return IS_SANITIZED ? 0 : pages * sysconf(_SC_PAGESIZE);
}

/* Free bytes of the device according to its driver, which is the one that the library loaded; 0: no
 * device. */
static size_t device_free(const soak *s)
{
    static int (*retain)(void **, int), (*push)(void *), (*pop)(void **),
        (*info)(size_t *, size_t *);
    static void *context;
    size_t n_free = 0, n_total = 0;
    void *popped;
    if (strcmp(s->device, "cuda") != 0) return 0;
    if (!context) {
        void *const driver = dlopen("libcuda.so.1", RTLD_LAZY);
        if (!driver) return 0;
        *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
        *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
        *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
        *(void **)&info = dlsym(driver, "cuMemGetInfo_v2");
        if (!retain || !push || !pop || !info || retain(&context, 0) != 0) return 0;
    }
    if (push(context) != 0) return 0;
    if (info(&n_free, &n_total) != 0) n_free = 0;
    (void)pop(&popped);
    return n_free;
}

static size_t in_use(void)
{
#ifdef __GLIBC__
    const struct mallinfo2 info = mallinfo2();
    return IS_SANITIZED ? 0 : info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

/* Reads /proc/self/smaps_rollup: kB of resident anonymous pages, and of those of files and shared
 * memory. */
static void fused_kinds(long long *anonymous, long long *others)
{
    char text[256];
    long long rss = 0, kb;
    *anonymous = 0;
    FILE *const file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(text, sizeof text, file)) {
        if (sscanf(text, "Rss: %lld", &kb) == 1) rss = kb;
        if (sscanf(text, "Anonymous: %lld", &kb) == 1) *anonymous = kb;
    }
    if (file) fclose(file);
    *others = rss - *anonymous;
}

/* If SOAK_MAPS is in the environment, copies /proc/self/smaps after each round to OUT/maps.ROUND,
 * for maps.py. */
static void record_maps(soak *s)
{
    char ending[32], buffer[4096];
    size_t n;
    if (!getenv("SOAK_MAPS")) return;
    snprintf(ending, sizeof ending, ".%d", s->round);
    FILE *const from = fopen("/proc/self/smaps", "r"), *const to =
                                                           open_out(s, "maps", ending, "wb");
    while (from && to && (n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, to) != n) break;
    if (from) fclose(from);
    if (to) fclose(to);
}

/* Records the resources after a session: round, name, bytes of malloc, resident bytes, free bytes
 * of the device, files, threads, kB of resident memory that is anonymous, and that is not. */
static void record_held(soak *s, const line *l)
{
    static const struct timespec moment = {0, 5000000};
    char text[512];
    /* a joined thread may still be ending the threads of its OpenMP team */
    for (int k = 0; strcmp(l->field[KIND], "beside") == 0 && k < 20; k++)
        (void)nanosleep(&moment, NULL);
#ifdef __GLIBC__
    (void)malloc_trim(0); /* memory that malloc keeps is not a leak */
#endif
    long long anonymous, others;
    fused_kinds(&anonymous, &others);
    const int n =
        snprintf(text, sizeof text, "%d\t%s\t%zu\t%lld\t%zu\t%d\t%d\t%lld\t%lld\n", s->round,
                 l->field[NAME], in_use(), fused(), device_free(s), count_entries("/proc/self/fd"),
                 count_entries("/proc/self/task"), anonymous, others);
    FILE *const file = open_out(s, "held", "", "ab");
    if (!file || fwrite(text, 1, (size_t)n, file) != (size_t)n || fclose(file) != 0)
        fault(s, l, "held", strerror(errno));
}

static int split(line *l)
{
    char *at = l->text;
    at[strcspn(at, "\n")] = '\0';
    for (char *field; l->n_field < MOST_FIELDS && (field = strsep(&at, "\t"));)
        l->field[l->n_field++] = field;
    return l->n_field >= FIRST_KEY && !at;
}

static int read_lines(soak *s, const char *path)
{
    const char *const slash = strrchr(path, '/');
    FILE *const file = fopen(path, "r");
    if (!file || !slash) return 0;
    snprintf(s->folder, sizeof s->folder, "%.*s", (int)(slash - path), path);
    s->lines = calloc(MOST_LINES, sizeof *s->lines);
    while (s->lines && s->n_line < MOST_LINES && fgets(s->lines[s->n_line].text, MOST_TEXT, file))
        if (!split(&s->lines[s->n_line++])) return 0;
    fclose(file);
    return s->n_line > 0;
}

int main(int argc, char **argv)
{
    soak s = {0};
    if (argc != 6 && argc != 8) return 2;
    s.device = argv[2];
    s.out = argv[3];
    const int rounds = atoi(argv[4]), first = argc == 8 ? atoi(argv[6]) : 0,
              step = argc == 8 ? atoi(argv[7]) : 1;
    const double end = now() + atof(argv[5]);
    if (step < 1 || !read_lines(&s, argv[1]) || (mkdir(s.out, 0777) != 0 && errno != EEXIST)) {
        fprintf(stderr, "soak: cannot read %s or make %s\n", argv[1], s.out);
        return 2;
    }
    for (s.round = 1; s.round <= rounds || now() < end; s.round++) {
        for (int i = first; i < s.n_line; i += step) {
            run_line(&s, i, 0);
            record_held(&s, &s.lines[i]);
        }
        record_maps(&s);
    }
    printf("%d sessions, %d rounds, %d failed\n",
           (s.round - 1) * ((s.n_line - first + step - 1) / step), s.round - 1, s.n_failed);
    free(s.lines);
    return s.n_failed != 0;
}
