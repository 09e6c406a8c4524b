/* Uses hextop.h like another program: checks results and errors, and that a call changes nothing
 * else.
 *
 *     test_api            all tests
 *     test_api loop N     N sessions one after the other, for valgrind */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "../lib/test.h"
#include "lib/hextop.h"

static const char beam[] = "title = \"beam\";\n"
                           "mesh = { generator = \"cantilever\"; nx = 8; ny = 4; nz = 4; };\n"
                           "supports = ( { set = \"left\"; fix = \"xyz\"; } );\n"
                           "loads = ( { set = \"right-lower-edge\"; node_force = [0, 0, -1]; } );\n"
                           "optimization = { volume_fraction = 0.4; iterations = 5;\n"
                           "                 filter = { radius = 1.5; }; };\n"
                           "solver = { device = \"cpu\"; operator = \"otf\"; threads = 1; };\n";

enum { N_ELEM = 8 * 4 * 4, N_NODE = 9 * 5 * 5 };

#define OK(call)                                                                                   \
    do {                                                                                           \
        const int rc_ = (call);                                                                    \
        CHECK_MSG(rc_ >= 0, "%d: %s", rc_, hextop_error(h));                                       \
    } while (0)

/* Checks that the call failed with this code and that the message contains `text`. */
static void failed(hextop *h, int rc, int code, const char *text)
{
    CHECK_MSG(rc == code, "%d, not %d", rc, code);
    CHECK(hextop_code(h) == code);
    CHECK_MSG(strstr(hextop_error(h), text), "message: %s", hextop_error(h));
}

static hextop *opened(const char *text)
{
    hextop *h = NULL;
    OK(hextop_open(&h, text, "beam.cfg"));
    return h;
}

/* Densities of the beam after all iterations. */
static void design(hextop *h, double rho[N_ELEM])
{
    int64_t shape[2] = {0, 0};
    CHECK(hextop_run(h, 0) == 0);
    const double *const got = hextop_array(h, "density", 0, shape);
    CHECK(got && shape[0] == N_ELEM && shape[1] == 1);
    if (got) memcpy(rho, got, N_ELEM * sizeof *rho);
}

static void test_results(void)
{
    double rho[N_ELEM], volume = 0.0, sum = 0.0;
    int64_t shape[2];
    hextop *const h = opened(beam);
    CHECK(hextop_abi() == HEXTOP_ABI && strlen(hextop_version()) >= 5);
    CHECK(hextop_code(h) == 0 && strcmp(hextop_error(h), "") == 0);
    design(h, rho);
    const double *const volumes = hextop_array(h, "volumes", 0, NULL);
    for (int e = 0; e < N_ELEM; e++) {
        sum += rho[e] * volumes[e];
        volume += volumes[e];
    }
    CHECK_REL(sum / volume, 0.4, 1e-4);
    CHECK_REL(hextop_number(h, "volume"), sum / volume, 1e-12);
    CHECK(hextop_number(h, "elements") == N_ELEM && hextop_number(h, "nodes") == N_NODE);
    CHECK(hextop_number(h, "iteration") == 5.0 && hextop_number(h, "cases") == 1.0);
    CHECK(isnan(hextop_number(h, "mass")) && hextop_code(h) == 0);
    CHECK_REL(hextop_number(h, "compliance"), *hextop_array(h, "compliance", 0, NULL), 1e-14);
    CHECK(hextop_number(h, "objective") == hextop_number(h, "compliance"));

    /* f'u of the loaded edge is the compliance */
    const double *const u = hextop_array(h, "displacement", 0, shape);
    const double *const x = hextop_array(h, "points", 0, NULL);
    double work = 0.0;
    CHECK(shape[0] == N_NODE && shape[1] == 3);
    for (int a = 0; a < N_NODE; a++)
        if (x[3 * a] > 7.99 && x[3 * a + 2] < 0.01) work -= u[3 * a + 2];
    CHECK_REL(work, hextop_number(h, "compliance"), 1e-6);
    const int32_t *const cell = hextop_indices(h, "cells", shape);
    CHECK(shape[0] == N_ELEM && shape[1] == 8 && cell[7] >= 0 && cell[7] < N_NODE);
    CHECK(hextop_indices(h, "cell_types", NULL)[N_ELEM - 1] == 12);
    CHECK(strstr(hextop_summary(h), "\"status\": \"done\"") != NULL);
    /* no further iterations */
    CHECK(hextop_run(h, 0) == 0 && hextop_number(h, "iteration") == 5.0);
    hextop_close(h);
    hextop_close(NULL);
}

/* Starting a filtered run from an unfiltered result smooths it; the library warns like the
 * program. */
static void test_initial(void)
{
    hextop *first = opened(beam), *h = opened(beam);
    OK(hextop_set(first, "optimization.filter.kind=none"));
    CHECK(hextop_run(first, 0) == 0);
    OK(hextop_write(first, "first.vtk"));
    OK(hextop_set(h, "optimization.filter.kind=density"));
    OK(hextop_set(h, "optimization.initial=first.vtk"));
    CHECK(hextop_run(h, 1) == 1);
    const char *const found = strstr(hextop_summary(h), "\"initial-filtered\"");
    CHECK(found && strstr(found, "greyness was ") &&
          strstr(found, "`optimization.filter.kind=none`"));
    hextop_close(h);
    hextop_close(first);
    remove("first.vtk");
}

/* Arrays are in the order of the file, however the mesh is renumbered. */
static void test_order(void)
{
    hextop *const plain = opened(beam); /* in the order of the generator */
    hextop *const h = opened(beam);
    OK(hextop_set(plain, "mesh.reorder=false"));
    OK(hextop_set(h, "mesh.shuffle=7"));
    OK(hextop_prepare(h));
    OK(hextop_prepare(plain));
    const double *const a = hextop_array(plain, "points", 0, NULL);
    CHECK(test_max_difference(3 * N_NODE, a, hextop_array(h, "points", 0, NULL)) == 0.0);
    CHECK(memcmp(hextop_indices(plain, "cells", NULL), hextop_indices(h, "cells", NULL),
                 8 * N_ELEM * sizeof(int32_t)) == 0);
    hextop_close(plain);
    hextop_close(h);
}

typedef struct watched {
    hextop *h;
    int n, stop_at;
    double compliance, density;
} watched;

static int watch(void *user, const hextop_iteration *it)
{
    watched *const w = user;
    w->n++;
    w->compliance = it->compliance;
    w->density = hextop_array(w->h, "density", 0, NULL)[0];
    CHECK(it->iteration == w->n && it->iterations == 5 && it->pcg_converged == 1);
    CHECK(hextop_run(w->h, 1) == HEXTOP_EINPUT); /* not from a callback */
    return w->n == w->stop_at;
}

/* A run in pieces, stopped and watched, gives the same design as a single run. */
static void test_pieces(void)
{
    double whole[N_ELEM], rho[N_ELEM];
    watched w = {NULL, 0, 2, 0.0, 0.0};
    hextop *h = opened(beam);
    design(h, whole);
    hextop_close(h);
    h = w.h = opened(beam);
    hextop_on_iteration(h, watch, &w);
    CHECK(hextop_run(h, 0) == 1 && w.n == 2);
    CHECK(hextop_number(h, "compliance") == w.compliance);
    CHECK(hextop_array(h, "density", 0, NULL)[0] == w.density);
    CHECK(strstr(hextop_summary(h), "\"interrupted\"") != NULL);
    hextop_on_iteration(h, NULL, NULL);
    CHECK(hextop_run(h, 1) == 1 && hextop_number(h, "iteration") == 3.0);
    design(h, rho);
    CHECK(memcmp(rho, whole, sizeof rho) == 0);
    hextop_close(h);
}

static void test_heat(void)
{
    int64_t shape[2];
    hextop *const h = opened("physics = \"heat\"; material = { conductivity = 1.0; };\n"
                             "mesh = { generator = \"cantilever\"; nx = 4; ny = 2; nz = 2; };\n"
                             "supports = ( { set = \"left\"; temperature = 20.0; } );\n"
                             "loads = ( { set = \"right\"; heat = 1.0; } );\n"
                             "optimization = { volume_fraction = 0.5; iterations = 1; };\n"
                             "solver = { device = \"cpu\"; };\n");
    CHECK(hextop_run(h, 0) == 0);
    const double *const t = hextop_array(h, "temperature", 0, shape);
    const double *const x = hextop_array(h, "points", 0, NULL);
    CHECK(t && shape[0] == 5 * 3 * 3 && shape[1] == 1);
    for (int a = 0; t && a < shape[0]; a++) CHECK(x[3 * a] > 0.0 ? t[a] > 20.0 : t[a] == 20.0);
    CHECK(hextop_array(h, "heat_flux", 0, shape) && shape[1] == 3);
    CHECK(!hextop_array(h, "displacement", 0, NULL));
    failed(h, hextop_code(h), HEXTOP_EINPUT, "physics");
    hextop_close(h);
}

/* Limits have their values by name, and are set like any other key. */
static void test_limits(void)
{
    hextop *const h = opened(beam);
    OK(hextop_set(h, "optimization.constraints=({ kind = \"displacement\"; set = \"right\"; "
                     "direction = [0, 0, -1]; max = 500.0; name = \"tip\"; })"));
    OK(hextop_set(h, "optimization.filter={ kind = \"density\"; radius = 1.5; }"));
    CHECK(isnan(hextop_number(h, "tip")));
    CHECK(hextop_run(h, 0) == 0);
    const double tip = hextop_number(h, "tip"), *const x = hextop_array(h, "points", 0, NULL),
                 *const u = hextop_array(h, "displacement", 0, NULL);
    double largest = 0.0;
    for (int a = 0; x && u && a < N_NODE; a++)
        if (x[3 * a] > 7.5) test_worst(&largest, -u[3 * a + 2]);
    CHECK_MSG(tip > 0.5 * largest && tip <= largest, "mean %g, largest %g", tip, largest);
    CHECK(fabs(hextop_number(h, "violation") - fmax(0.0, tip / 500.0 - 1.0)) < 1e-3);
    CHECK(hextop_number(h, "kkt") > 0.0);
    CHECK(strstr(hextop_summary(h), "\"name\": \"tip\"") != NULL);
    hextop_close(h);
}

/* The least mass with a displacement limit, whose late designs miss the limit now and then. */
static const char least[] =
    "mesh = { generator = \"cantilever\"; nx = 16; ny = 4; nz = 8; };\n"
    "material = { E = 1000.0; nu = 0.3; density = 1.0e-9; };\n"
    "supports = ( { set = \"left\"; fix = \"xyz\"; } );\n"
    "loads = ( { set = \"right\"; total_force = [0.0, 0.0, -3.0]; } );\n"
    "optimization = { objective = \"mass\"; iterations = 40; start = 0.3;\n"
    "                 filter = { kind = \"density\"; radius = 1.5; };\n"
    "    constraints = ( { kind = \"displacement\"; set = \"right\"; direction = [0.0, 0.0, "
    "-1.0];\n"
    "                      max = 0.3; name = \"tip\"; } ); };\n"
    "solver = { device = \"cpu\"; operator = \"otf\"; deterministic = true; tolerance = 1e-8; };\n";

typedef struct designs {
    hextop *h;
    int n;
    double objective[41], violation[41], tip[41]; /* by iteration */
} designs;

static int gather(void *user, const hextop_iteration *it)
{
    designs *const d = user;
    d->n = it->iteration;
    d->objective[d->n] = hextop_number(d->h, "objective");
    d->violation[d->n] = hextop_number(d->h, "violation");
    d->tip[d->n] = hextop_number(d->h, "tip");
    return d->n > 10 && d->violation[d->n] > 1e-3; /* a design that misses the limit */
}

/* The best design that meets the limit takes the place of a last one that misses it. */
static void test_kept(void)
{
    designs d = {NULL};
    char end[64];
    int64_t shape[2];
    int best = 0;
    hextop *h = d.h = opened(least);
    hextop_on_iteration(h, gather, &d);
    CHECK(hextop_run(h, 0) == 1 && d.n > 10);
    CHECK(hextop_number(h, "iteration") == d.n); /* iterations remain, so nothing is replaced */
    hextop_close(h);
    for (int i = 1; i < d.n; i++)
        if (d.violation[i] <= 1e-3 && (!best || d.objective[i] < d.objective[best])) best = i;
    h = opened(least);
    snprintf(end, sizeof end, "optimization.iterations=%d", d.n);
    OK(hextop_set(h, end));
    CHECK(best > 0 && hextop_run(h, 0) == 0);
    CHECK_MSG(hextop_number(h, "iteration") == best, "%g, not %d", hextop_number(h, "iteration"),
              best);
    CHECK(hextop_number(h, "violation") <= 1e-3);
    CHECK_REL(hextop_number(h, "objective"), d.objective[best], 1e-9);
    CHECK_REL(hextop_number(h, "tip"), d.tip[best], 1e-5);
    const double *const rho = hextop_array(h, "density", 0, shape), *const volumes = hextop_array(
                                                                        h, "volumes", 0, NULL);
    double mass = 0.0;
    for (int e = 0; rho && volumes && e < shape[0]; e++) mass += 1e-9 * rho[e] * volumes[e];
    CHECK_REL(mass, d.objective[best], 1e-6);
    CHECK(strstr(hextop_summary(h), "\"limits_met\": true") != NULL);
    CHECK(hextop_run(h, 0) == 0 && hextop_number(h, "iteration") == best);
    hextop_close(h);
}

static void refused(const char *text, const char *key_value, const char *message)
{
    hextop *h = NULL;
    int rc = hextop_open(&h, text, "some/beam.cfg");
    if (rc == 0 && key_value) rc = hextop_set(h, key_value);
    if (rc == 0) rc = hextop_run(h, 0);
    failed(h, rc, HEXTOP_EINPUT, message);
    CHECK(hextop_run(h, 0) == HEXTOP_EINPUT); /* a later call fails too */
    CHECK(!hextop_array(h, "points", 0, NULL) && !hextop_indices(h, "cells", NULL));
    CHECK(isnan(hextop_number(h, "elements")) && !hextop_summary(h));
    hextop_close(h);
}

static void test_errors(void)
{
    refused("mesh = {", NULL, "some/beam.cfg:1: syntax error");
    refused("\noptimisation = { };", NULL, "some/beam.cfg:2: optimisation: unknown key");
    refused(beam, "solver.threds=2", "argument 'solver.threds=2': solver.threds: unknown key");
    refused(beam, "optimization.iterations=0", "out of range");
    refused("mesh = { file = \"none.vtk\"; };\n optimization = { volume_fraction = 0.3; };", NULL,
            "cannot read 'some/none.vtk'");
    refused("\n@include \"none.cfg\"\n", NULL, "some/beam.cfg:2: cannot include 'some/none.cfg'");
    refused("mesh = { size = 99999999999; };", NULL,
            "some/beam.cfg:1: mesh.size: 99999999999 is too large");
    refused("mesh = { size = 1; };\nmesh = { size = 1; };", NULL, "some/beam.cfg:2: duplicate");

    hextop *h = NULL;
    int rc = hextop_open(&h, NULL, "nowhere.cfg"); /* evaluated before h is passed on */
    failed(h, rc, HEXTOP_EINPUT, "cannot read config 'nowhere.cfg'");
    hextop_close(h);
    rc = hextop_open(&h, beam, NULL);
    failed(h, rc, HEXTOP_EINPUT, "needs a path");
    hextop_close(h);

    h = opened(beam);
    failed(h, hextop_set(h, "mesh.size"), HEXTOP_EINPUT, "not KEY=VALUE");
    CHECK(!hextop_array(h, "density", 0, NULL));
    failed(h, hextop_code(h), HEXTOP_EINPUT, "call hextop_run first");
    failed(h, hextop_write(h, "x.vtk"), HEXTOP_EINPUT, "call hextop_run first");
    CHECK(hextop_run(h, 1) == 1);
    failed(h, hextop_set(h, "mesh.size=2"), HEXTOP_EINPUT, "before the first run");
    CHECK(!hextop_array(h, "densty", 0, NULL));
    failed(h, hextop_code(h), HEXTOP_EINPUT, "did you mean 'density'");
    CHECK(!hextop_array(h, "displacement", 1, NULL) && isnan(hextop_number(h, "mas")));
    failed(h, hextop_code(h), HEXTOP_EINPUT, "did you mean 'mass'");
    failed(h, hextop_run(h, -1), HEXTOP_EINPUT, "iterations is -1");
    failed(h, hextop_write(h, "x.doc"), HEXTOP_EINPUT, ".vtk, .json, .cfg, .stl");
    failed(h, hextop_write(h, "nowhere/x.vtk"), HEXTOP_EIO, "nowhere/x.vtk");
    CHECK(hextop_run(h, 0) == 0); /* none of these errors harms the session */
    hextop_close(h);
}

typedef struct lines {
    int n[3], n_bad;
    char last[3][512];
} lines;

static void hear(void *user, int level, const char *text)
{
    lines *const l = user; /* used by one thread; CHECK counts for all threads */
    if (level < 0 || level > 2 || strchr(text, '\n')) {
        l->n_bad++;
        return;
    }
    l->n[level]++;
    snprintf(l->last[level], sizeof l->last[level], "%s", text);
}

static void test_log(void)
{
    static lines l;
    hextop *const h = opened(beam);
    hextop_on_log(h, hear, &l);
    OK(hextop_set(h, "optimization.continuation.penalty_start=1.0"));
    OK(hextop_run(h, 1));
    CHECK(l.n[0] >= 5 && l.n[2] == 1 && l.n_bad == 0);
    CHECK_MSG(strstr(l.last[2], "ends the run before penalty"), "%s", l.last[2]);
    hextop_close(h);
}

/* One session that writes all kinds of files to this folder. */
static void whole_session(const char *name)
{
    static const char *const ending[] = {"vtk", "stl", "json", "cfg"};
    char path[128];
    hextop *const h = opened(beam);
    OK(hextop_set(h, "optimization.continuation.penalty_start=1.0")); /* causes a warning */
    OK(hextop_run(h, 0));
    CHECK(hextop_summary(h) != NULL);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s.%s", name, ending[i]);
        OK(hextop_write(h, path));
    }
    CHECK(hextop_write(h, "nowhere/x.stl") == HEXTOP_EIO);
    hextop_close(h);
}

static size_t read_file(const char *path, char *text, size_t n_text)
{
    FILE *const file = fopen(path, "rb");
    const size_t n = file ? fread(text, 1, n_text, file) : 0;
    if (file) fclose(file);
    return n;
}

/* Nothing is written to stdout or stderr, whether they are open or closed. If they are closed, the
 * next files that are opened get their numbers. */
static void test_silence(const char *program)
{
    static char a[1 << 18], b[1 << 18];
    int kept[2];
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        const int fd = open(i ? "err.txt" : "out.txt", O_RDWR | O_CREAT | O_TRUNC, 0666);
        kept[i] = dup(1 + i);
        dup2(fd, 1 + i);
        close(fd);
    }
    whole_session("open");
    const int printed = lseek(1, 0, SEEK_END) != 0 || lseek(2, 0, SEEK_END) != 0;
    fflush(NULL);
    const int flushed = lseek(1, 0, SEEK_END) != 0 || lseek(2, 0, SEEK_END) != 0;
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], 1 + i);
        close(kept[i]);
    }
    CHECK(!printed && !flushed);
    /* a separate program, because OpenMP's threads do not survive a fork */
    const pid_t child = fork();
    if (child == 0) {
        for (int fd = 0; fd < 3; fd++) close(fd);
        execl(program, program, "closed", (char *)NULL);
        _exit(9);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < 2; i++) {
        const size_t n_a = read_file(i ? "open.stl" : "open.vtk", a, sizeof a);
        const size_t n_b = read_file(i ? "closed.stl" : "closed.vtk", b, sizeof b);
        CHECK(n_a > 1000 && n_a == n_b && memcmp(a, b, n_a) == 0);
    }
}

/* The caller's settings do not change. */
static void test_surroundings(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGSEGV, SIGFPE, SIGABRT};
    struct sigaction before[7], after[7];
    volatile double tiny = 5e-324;
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    for (int i = 0; i < 7; i++) sigaction(signals[i], NULL, &before[i]);
    const locale_t own = uselocale((locale_t)0);
    const int rounding = fegetround(), traps = fegetexcept();
#ifdef _OPENMP
    omp_set_num_threads(3);
#endif
    whole_session("around");
#ifdef _OPENMP
    CHECK(omp_get_max_threads() == 3);
#endif
    for (int i = 0; i < 7; i++) sigaction(signals[i], NULL, &after[i]);
    for (int i = 0; i < 7; i++)
        CHECK(before[i].sa_handler == after[i].sa_handler &&
              before[i].sa_flags == after[i].sa_flags);
    CHECK(uselocale((locale_t)0) == own);
    CHECK(fegetround() == rounding && fegetexcept() == traps && tiny * 1.0 > 0.0);
}

static void *in_a_thread(void *rho)
{
    hextop *h = NULL;
    static _Thread_local lines l;
    if (hextop_open(&h, beam, "beam.cfg") < 0) return NULL;
    hextop_on_log(h, hear, &l);
    const int rc = hextop_run(h, 0);
    if (rc == 0) memcpy(rho, hextop_array(h, "density", 0, NULL), N_ELEM * sizeof(double));
    const int heard = l.n[0] > 5 && l.n[0] < 40 && l.n_bad == 0; /* only its own lines */
    hextop_close(h);
    return rc == 0 && heard ? rho : NULL;
}

static void test_threads(void)
{
    static double rho[3][N_ELEM];
    pthread_t thread[2];
    hextop *const h = opened(beam);
    design(h, rho[2]);
    hextop_close(h);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&thread[i], NULL, in_a_thread, rho[i]) == 0);
    for (int i = 0; i < 2; i++) {
        void *done = NULL;
        pthread_join(thread[i], &done);
        CHECK(done == rho[i] && memcmp(rho[i], rho[2], sizeof rho[i]) == 0);
    }
}

/* Bytes that malloc has handed out; 0 if unknown. */
static size_t held(void)
{
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static void loop(int n)
{
    static const char bad[] = "mesh = { generator = \"cantilever\"; };";
    size_t early = 0;
    hextop *h;
    for (int i = 0; i < n; i++) {
        if (i == 10) early = held(); /* malloc first keeps some for itself */
        whole_session("loop");
        (void)hextop_open(&h, i % 2 ? bad : "mesh = (", "bad.cfg");
        CHECK(hextop_run(h, 0) < 0);
        hextop_close(h);
    }
    const size_t late = held();
    CHECK_MSG(n <= 10 || late < early + 16384, "%zu bytes held after 10 sessions, %zu after %d",
              early, late, n);
}

/* Removes exactly the files that whole_session writes. */
static void remove_files(void)
{
    static const char *const name[] = {"open", "closed", "around", "loop"};
    static const char *const ending[] = {"vtk", "stl", "json", "cfg"};
    char path[64];
    for (int i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "%s.%s", name[i / 4], ending[i % 4]);
        remove(path);
    }
    remove("out.txt");
    remove("err.txt");
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/test_api.XXXXXX", program[4096] = "";
    if (argc == 2 && strcmp(argv[1], "closed") == 0) {
        whole_session("closed");
        return test_n_failed != 0;
    }
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return 1;
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    if (argc == 3 && strcmp(argv[1], "loop") == 0) {
        loop(atoi(argv[2]));
    } else {
        test_results();
        test_initial();
        test_order();
        test_pieces();
        test_heat();
        test_limits();
        test_kept();
        test_errors();
        test_log();
        test_silence(program);
        test_surroundings();
        test_threads();
        loop(40);
    }
    remove_files();
    if (chdir("/") != 0 || rmdir(folder) != 0) CHECK(!"files are left behind");
    TEST_END();
}
