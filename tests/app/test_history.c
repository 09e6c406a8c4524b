/* Each line of history.csv is one write to the disk, for any number of load cases, so a killed run
 * leaves either the whole line or none. If a disk accepts only part of a write, or nothing, no part
 * of a line is left. write() of this program counts calls and simulates such disks. */
#define _GNU_SOURCE
#include <errno.h>
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

static hx_iteration iteration(int i)
{
    return (hx_iteration){.iteration = i, .compliance = 1.0 / (3.0 * i), .load_case = load_case};
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

static void check_one_write(const char *path, int n_case, int has_error)
{
    hx_history history;
    CHECK_OK(hx_history_open(&history, path, n_case, NULL, has_error));
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
    CHECK_OK(hx_history_open(&history, path, MOST_CASES, NULL, 0));
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
    size_t n;
    CHECK_OK(hx_history_open(&history, path, 2, objective, has_error));
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
    hx_stats_recall(&stats, text, hx_update_find("oc"), 0.3, objective ? objective : "compliance");
    free(text);
    CHECK_MSG(stats.n_recent == 3, "%d designs", stats.n_recent);
    CHECK_REL(stats.recent[0].objective, it.objective, 1e-9);
}

int main(void)
{
    char folder[] = "/tmp/hextop_history_XXXXXX", path[64];
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
    CHECK(remove(path) == 0 && rmdir(folder) == 0);
    TEST_END();
}
