/* Each line of history.csv is one write to the disk, for any number of load cases, so a killed run
 * leaves either the whole line or none. If a disk accepts only part of a write, or nothing, no part
 * of a line is left. write() of this program counts calls and simulates such disks. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/output/history.h"
#include "app/output/stats.h"
#include "core/registry.h"
#include "tests/lib/test.h"

enum { MOST_CASES = 400, N_LINE = 3 };

static int n_write, take_half, refuse_after = -1;
static size_t n_byte; /* number of bytes of the last write */

ssize_t write(int fd, const void *data, size_t n)
{
    n_write++;
    n_byte = n;
    if (refuse_after >= 0 && n_write > refuse_after) {
        errno = ENOSPC;
        return -1;
    }
    return (ssize_t)syscall(SYS_write, fd, data, take_half && n > 1 ? n / 2 : n);
}

static hx_case_record load_case[MOST_CASES];

/* A limit that the first two designs violate by 100 % and 50 %, and the others meet. */
enum { N_LIMIT = 1 };
static const char *const limit_name[N_LIMIT] = {"tip"};
static hx_response_record response[N_LINE + 2][N_LIMIT];
static hx_constraint_spec spec[N_LIMIT] = {{.max = 0.5, .min = (double)NAN}};
static char *limit_of[N_LIMIT];
static const hx_limits limits = {.n = N_LIMIT, .spec = spec, .name = limit_of};

static hx_iteration iteration(int i)
{
    hx_response_record *const o = response[i - 1];
    *o = (hx_response_record){
        .name = limit_name[0], .value = 1.25 - 0.25 * i, .max = 0.5, .min = (double)NAN};
    o->violation = fmax(0.0, o->value / o->max - 1.0);
    return (hx_iteration){.iteration = i,
                          .compliance = 1.0 / (3.0 * i),
                          .load_case = load_case,
                          .n_response = N_LIMIT,
                          .response = o,
                          .violation = o->violation};
}

static char *read_file(const char *path, size_t *n)
{
    FILE *const f = fopen(path, "r");
    char *const text = calloc(1 << 20, 1);
    CHECK(f && text);
    *n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

/* Checks that each line has as many fields as the header; returns the number of lines without
 * it. */
static int count_lines(const char *path)
{
    size_t n;
    char *const text = read_file(path, &n);
    int n_line = 0, n_field = 0, of_header = 0;
    CHECK(n > 0 && text[n - 1] == '\n');
    for (size_t i = 0; i < n; i++) {
        n_field += text[i] == ',';
        if (text[i] != '\n') continue;
        if (n_line == 0) of_header = n_field;
        CHECK(n_field == of_header);
        n_field = 0;
        n_line++;
    }
    free(text);
    return n_line - 1;
}

static size_t size_of(const char *path)
{
    size_t n;
    free(read_file(path, &n));
    return n;
}

static int open_history(hx_history *history, const char *path, int n_case, const char *objective,
                        int has_error)
{
    const hx_history_columns columns = {.n_case = n_case,
                                        .objective = objective,
                                        .has_error = has_error,
                                        .has_objective = 1,
                                        .n_limit = N_LIMIT,
                                        .limit = limit_name};
    return hx_history_open(history, path, &columns);
}

static void check_one_write(const char *path, int n_case, int has_error)
{
    hx_history history;
    CHECK_OK(open_history(&history, path, n_case, NULL, has_error));
    for (int i = 1; i <= N_LINE; i++) {
        const hx_iteration it = iteration(i);
        const size_t before = size_of(path);
        n_write = 0;
        CHECK_OK(hx_history_add(&history, &it, 0.25));
        CHECK_MSG(n_write == 1, "%d cases, line %d: %d writes", n_case, i, n_write);
        /* this write has the whole line, which is already in the file */
        CHECK(size_of(path) == before + n_byte);
        CHECK(count_lines(path) == i);
    }
    CHECK_OK(hx_history_close(&history));
    hx_history_free(&history);
    CHECK(count_lines(path) == N_LINE);
}

/* A disk that takes half of each write gets the rest; a full disk keeps no part of the line, which
 * is written with the next one. */
static void check_disks(const char *path)
{
    hx_history history;
    const hx_iteration one = iteration(1), two = iteration(2);
    CHECK_OK(open_history(&history, path, MOST_CASES, NULL, 0));
    take_half = 1;
    CHECK_OK(hx_history_add(&history, &one, 0.0));
    CHECK(count_lines(path) == 1);
    n_write = 0;
    refuse_after = 1; /* half a line fits, then nothing */
    CHECK(hx_history_add(&history, &two, 0.0) == HX_EIO);
    hx_error_clear();
    CHECK(count_lines(path) == 1);
    take_half = 0;
    refuse_after = -1;
    CHECK_OK(hx_history_close(&history));
    hx_history_free(&history);
    CHECK(count_lines(path) == 2);
}

/* A resumed run takes over the designs with the penalty of the last one, wherever its column is. */
static void check_recall(const char *path, const char *objective, int has_error)
{
    hx_history history;
    hx_iteration it = iteration(1);
    hx_stats stats = {0};
    hx_stats_limit of_limit[N_LIMIT] = {{0}};
    size_t n;
    stats.n_limit = N_LIMIT;
    stats.limit = of_limit;
    CHECK_OK(open_history(&history, path, 2, objective, has_error));
    for (int i = 1; i <= 5; i++) {
        it = iteration(i);
        it.objective = objective ? 10.0 * i : it.compliance;
        it.penalty = i < 3 ? 1.0 : 3.0;
        it.volume = 0.3;
        CHECK_OK(hx_history_add(&history, &it, 0.0));
    }
    CHECK_OK(hx_history_close(&history));
    hx_history_free(&history);
    char *const text = read_file(path, &n);
    hx_stats_recall(&stats, text, hx_update_find("oc"), 0.3, objective ? objective : "compliance",
                    &limits);
    free(text);
    CHECK_MSG(stats.n_recent == 3, "%d designs", stats.n_recent);
    CHECK_REL(stats.recent[0].objective, it.objective, 1e-9);
    /* values 1, 0.75, 0.5, 0.25, 0: the third design is the first that meets the limit */
    CHECK(of_limit[0].n_unmet == 0 && of_limit[0].best == 3);
    CHECK(stats.recent[2].violation == 0.0);
}

/* A resumed run reports a limit that the designs before it and after it do not meet. */
static void check_unmet(void)
{
    enum { N = 2 * HX_STATS_PATIENCE };
    char text[4096] = "iteration,compliance,volume,change,tip\n";
    hx_stats_limit of_limit[N_LIMIT] = {{0}};
    hx_stats stats = {.n_limit = N_LIMIT, .limit = of_limit};
    for (int i = 1; i <= N; i++)
        sprintf(text + strlen(text), "%d,1.0,0.3,0.1,%g\n", i, i == 7 ? 0.6 : 0.75);
    hx_stats_recall(&stats, text, hx_update_find("mma"), (double)NAN, "compliance", &limits);
    CHECK(of_limit[0].n_unmet == N && of_limit[0].n_long == 1 && of_limit[0].best == 7);
    CHECK_REL(of_limit[0].value, 0.6, 1e-12);
    CHECK_REL(of_limit[0].violation, 0.2, 1e-12);
}

int main(void)
{
    char name[] = "tip";
    char folder[] = "/tmp/hextop_history_XXXXXX", path[64];
    limit_of[0] = name;
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/history.csv", folder);
    for (int c = 0; c < MOST_CASES; c++) load_case[c].compliance = 1.0 / (7.0 + c);
    check_one_write(path, 1, 0);
    check_one_write(path, 3, 1);
    check_one_write(path, MOST_CASES, 1);
    check_disks(path);
    check_recall(path, NULL, 0);
    check_recall(path, NULL, 1);
    check_recall(path, "displacement", 1);
    check_unmet();
    CHECK(remove(path) == 0 && rmdir(folder) == 0);
    TEST_END();
}
