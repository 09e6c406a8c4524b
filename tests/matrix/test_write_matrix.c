/* Files of matrices, compared byte by byte with the formats: a small matrix in ranges of rows of
 * any length, vectors, fixed unknowns, lists; sizes that exceed a format; files of another kind. */
#include <dirent.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/test.h"
#include "core/base/crc32.h"
#include "core/matrix/write_matrix.h"

/* 4 x 4: 2 -1 0 0.5 / -1 3 0 0 / 0 0 1e-300 0 / 0.5 0 0 -7. */
static const int64_t row_ptr[] = {0, 3, 5, 6, 8};
static const int32_t column[] = {0, 1, 3, 0, 1, 2, 0, 3};
static const double value[] = {2.0, -1.0, 0.5, -1.0, 3.0, 1e-300, 0.5, -7.0};
enum { N = 4, N_ENTRY = 8 };

static char folder[] = "/tmp/hextop_write_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[8][64];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
    return path[next];
}

static unsigned char *read_file(const char *path, size_t *n)
{
    FILE *const f = fopen(path, "rb");
    unsigned char *bytes = NULL;
    *n = 0;
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    bytes = malloc(*n + 1);
    CHECK(bytes && fread(bytes, 1, *n, f) == *n);
    bytes[*n] = 0;
    fclose(f);
    return bytes;
}

/* Opens a set of one file. */
static int open_one(hx_write_set **set, const char *path, int64_t bytes)
{
    const hx_write_entry entry = {path, bytes};
    return hx_write_set_open(set, 1, &entry, NULL, NULL);
}

static int64_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

/* Closes the set; the file has the predicted size, or up to `slack` less. */
static int close_one(hx_write_set *set, int rc, const char *path, int64_t bytes, int64_t slack)
{
    if (rc == HX_OK) rc = hx_write_set_commit(set);
    hx_write_set_free(set);
    if (rc == HX_OK)
        CHECK_MSG(size_of(path) <= bytes && size_of(path) >= bytes - slack,
                  "%s: %lld bytes of %lld", path, (long long)size_of(path), (long long)bytes);
    return rc;
}

/* For .mtx the prediction is an upper bound: a header of 128 bytes, 29 bytes per line. */
static int64_t slack_of(const char *path)
{
    return strstr(path, ".mtx") ? 128 + N_ENTRY * 29 : 0;
}

/* Writes the matrix in ranges of `step` rows. */
static int write_matrix(const char *path, int step, int wide)
{
    const hx_matrix_shape shape = {.n_row = N, .n_entry = N_ENTRY, .wide = wide};
    hx_matrix_writer *w = NULL;
    hx_write_set *set = NULL;
    int64_t bytes = 0;
    CHECK_OK(hx_matrix_bytes_of(path, &shape, &bytes));
    int rc = open_one(&set, path, bytes);
    if (rc == HX_OK) rc = hx_matrix_writer_open(&w, set, 0, &shape);
    for (int first = 0; rc == HX_OK && first < N; first += step) {
        const int n = first + step < N ? step : N - first;
        int64_t ptr[N + 1];
        for (int i = 0; i <= n; i++) ptr[i] = row_ptr[first + i] - row_ptr[first];
        const hx_csr_rows rows = {first, n, ptr, column + row_ptr[first], value + row_ptr[first]};
        rc = hx_matrix_writer_rows(w, &rows);
    }
    if (rc == HX_OK) rc = hx_matrix_writer_close(w);
    hx_matrix_writer_free(w);
    return close_one(set, rc, path, bytes, slack_of(path));
}

static int write_columns(const char *path, int64_t n, int n_column, const double *const *both)
{
    hx_write_set *set = NULL;
    int64_t bytes = 0, most = 0;
    CHECK_OK(hx_columns_bytes_of(path, "f", n, n_column, both, &bytes));
    CHECK_OK(hx_columns_bytes_of(path, "f", n, n_column, NULL, &most));
    CHECK(most >= bytes && most <= bytes + slack_of(path));
    int rc = open_one(&set, path, bytes);
    if (rc == HX_OK) rc = hx_write_columns(set, 0, "f", n, n_column, both);
    return close_one(set, rc, path, bytes, 0);
}

static int write_held(const char *path, int64_t n_row, int64_t n, const int32_t *index,
                      const double *held)
{
    hx_write_set *set = NULL;
    int64_t bytes = 0;
    CHECK_OK(hx_held_bytes_of(path, n_row, n, index, held, &bytes));
    int rc = open_one(&set, path, bytes);
    if (rc == HX_OK) rc = hx_write_held(set, 0, n_row, n, index, held);
    return close_one(set, rc, path, bytes, 0);
}

static int write_numbers(const char *path, int64_t n, const int32_t *number)
{
    hx_write_set *set = NULL;
    int64_t bytes = 0;
    CHECK_OK(hx_numbers_bytes_of(path, "node", n, number, &bytes));
    int rc = open_one(&set, path, bytes);
    if (rc == HX_OK) rc = hx_write_numbers(set, 0, "node", n, number);
    return close_one(set, rc, path, bytes, 0);
}

static void test_any_ranges(const char *name, int wide)
{
    size_t n, m;
    CHECK_OK(write_matrix(in_folder(name), N, wide));
    unsigned char *const whole = read_file(in_folder(name), &n);
    for (int step = 1; step < N; step++) {
        CHECK_OK(write_matrix(in_folder(name), step, wide));
        unsigned char *const part = read_file(in_folder(name), &m);
        CHECK_MSG(n == m && whole && part && memcmp(whole, part, n) == 0, "%s in ranges of %d",
                  name, step);
        free(part);
    }
    free(whole);
}

static void test_market(void)
{
    static const char expected[] =
        "%%MatrixMarket matrix coordinate real general\n4 4 8\n1 1 2\n1 2 -1\n1 4 0.5\n2 1 -1\n"
        "2 2 3\n3 3 1.0000000000000000e-300\n4 1 0.5\n4 4 -7\n";
    size_t n;
    CHECK_OK(write_matrix(in_folder("a.mtx"), 3, 0));
    char *const text = (char *)read_file(in_folder("a.mtx"), &n);
    /* one value is formatted like printf does */
    char want[sizeof expected + 32], number[32];
    const char *const at = strstr(expected, "1.0000000000000000e-300");
    snprintf(number, sizeof number, "%.17g", 1e-300);
    snprintf(want, sizeof want, "%.*s%s%s", (int)(at - expected), expected, number, at + 23);
    CHECK_MSG(text && strcmp(text, want) == 0, "%s", text);
    free(text);
}

static int64_t big(const unsigned char *p, int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits = bits << 8 | p[i];
    return n == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

static double big_double(const unsigned char *p)
{
    const int64_t bits = big(p, 8);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void test_petsc(void)
{
    static const int64_t header[] = {1211216, N, N, N_ENTRY};
    size_t n;
    CHECK_OK(write_matrix(in_folder("a.petsc"), 1, 0));
    unsigned char *const bytes = read_file(in_folder("a.petsc"), &n), *at = bytes;
    CHECK(n == 16 + 4 * N + 12 * N_ENTRY);
    for (int i = 0; i < 4; i++, at += 4) CHECK(big(at, 4) == header[i]);
    for (int i = 0; i < N; i++, at += 4) CHECK(big(at, 4) == row_ptr[i + 1] - row_ptr[i]);
    for (int i = 0; i < N_ENTRY; i++, at += 4) CHECK(big(at, 4) == column[i]);
    for (int i = 0; i < N_ENTRY; i++, at += 8) CHECK_REL(big_double(at), value[i], 0.0);
    free(bytes);
}

static void test_petsc_others(void)
{
    static const int32_t index[] = {2, 7};
    static const double v[] = {0.25, -3.0}, *const both[] = {v, value};
    size_t n;
    CHECK_OK(write_held(in_folder("d.petsc"), 9, 2, index, v));
    unsigned char *bytes = read_file(in_folder("d.petsc"), &n);
    CHECK(n == 8 + 8 + 8 + 16 && big(bytes, 4) == 1211218 && big(bytes + 4, 4) == 2);
    CHECK(big(bytes + 12, 4) == 7 && big(bytes + 16, 4) == 1211214 && big(bytes + 20, 4) == 2);
    CHECK_REL(big_double(bytes + 32), -3.0, 0.0);
    free(bytes);
    CHECK_OK(write_columns(in_folder("f.petsc"), 2, 2, both));
    bytes = read_file(in_folder("f.petsc"), &n);
    CHECK(n == 2 * (8 + 16) && big(bytes + 24, 4) == 1211214);
    CHECK_REL(big_double(bytes + 24 + 8), 2.0, 0.0);
    free(bytes);
}

static void test_market_others(void)
{
    static const int32_t index[] = {2, 7};
    static const double v[] = {0.25, -3.0}, *const both[] = {v, value};
    size_t n;
    CHECK_OK(write_held(in_folder("d.mtx"), 9, 2, index, v));
    char *text = (char *)read_file(in_folder("d.mtx"), &n);
    CHECK(strcmp(text,
                 "%%MatrixMarket matrix coordinate real general\n9 1 2\n3 1 0.25\n8 1 -3\n") == 0);
    free(text);
    CHECK_OK(write_columns(in_folder("f.mtx"), 2, 2, both));
    text = (char *)read_file(in_folder("f.mtx"), &n);
    CHECK(strcmp(text, "%%MatrixMarket matrix array real general\n2 2\n0.25\n-3\n2\n-1\n") == 0);
    free(text);
    CHECK_OK(write_numbers(in_folder("o.mtx"), 2, index));
    text = (char *)read_file(in_folder("o.mtx"), &n);
    CHECK(strcmp(text, "%%MatrixMarket matrix array integer general\n2 1\n3\n8\n") == 0);
    free(text);
}

static int64_t little(const unsigned char *p, int n)
{
    uint64_t bits = 0;
    for (int i = n - 1; i >= 0; i--) bits = bits << 8 | p[i];
    return (int64_t)bits;
}

/* The stored member of that name: the bytes of its array. */
static const unsigned char *find_member(const unsigned char *zip, size_t n, const char *name)
{
    for (size_t at = 0; at + 30 < n && little(zip + at, 4) == 0x04034b50;) {
        const int64_t n_name = little(zip + at + 26, 2), n_extra = little(zip + at + 28, 2);
        const int64_t size = little(zip + at + 30 + n_name + 4, 8);
        const unsigned char *const data = zip + at + 30 + n_name + n_extra;
        CHECK(little(zip + at + 14, 4) == hx_crc32(0, data, (size_t)size));
        if (strlen(name) == (size_t)n_name && memcmp(zip + at + 30, name, (size_t)n_name) == 0)
            return data + 10 + little(data + 8, 2);
        at += (size_t)(30 + n_name + n_extra + size);
    }
    return NULL;
}

/* With 32-bit and with 64-bit indices. */
static void test_archive(int wide)
{
    const int size = wide ? 8 : 4;
    size_t n;
    CHECK_OK(write_matrix(in_folder("a.npz"), 2, wide));
    unsigned char *const zip = read_file(in_folder("a.npz"), &n);
    const unsigned char *const ptr = find_member(zip, n, "indptr.npy"),
                               *const col = find_member(zip, n, "indices.npy"),
                               *const data = find_member(zip, n, "data.npy"),
                               *const shape = find_member(zip, n, "shape.npy"),
                               *const format = find_member(zip, n, "format.npy");
    CHECK(ptr && col && data && shape && format && memcmp(format, "csr", 3) == 0);
    for (int i = 0; ptr && i <= N; i++) CHECK(little(ptr + size * i, size) == row_ptr[i]);
    for (int i = 0; col && i < N_ENTRY; i++) CHECK(little(col + size * i, size) == column[i]);
    for (int i = 0; data && i < N_ENTRY; i++) CHECK(memcmp(data + 8 * i, &value[i], 8) == 0);
    CHECK(shape && little(shape, 8) == N && little(shape + 8, 8) == N);
    free(zip);
}

static void test_sums(void)
{
    unsigned char text[1000];
    for (int i = 0; i < 1000; i++) text[i] = (unsigned char)(i * i * 7 + 3);
    CHECK(hx_crc32(0, "123456789", 9) == 0xcbf43926u); /* the published check value */
    const uint32_t whole = hx_crc32(0, text, sizeof text);
    for (size_t k = 0; k <= sizeof text; k += 37) {
        const uint32_t a = hx_crc32(0, text, k), b = hx_crc32(0, text + k, sizeof text - k);
        CHECK(hx_crc32_join(a, b, sizeof text - k) == whole);
        CHECK(hx_crc32(a, text + k, sizeof text - k) == whole);
    }
}

/* Sizes that exceed a format are refused when they are announced, and nothing is written. */
static void test_counts(void)
{
    const struct {
        const char *name;
        hx_matrix_shape shape;
        int code;
        const char *text;
    } bad[] = {
        {"b.petsc", {.n_row = 100, .n_entry = (int64_t)1 << 31}, HX_EINPUT, "(--lower)"},
        {"b.petsc",
         {.n_row = 100, .n_entry = (int64_t)1 << 31, .half = HX_HALF_UPPER},
         HX_EINPUT,
         "write .npz or .mtx"},
        {"b.petsc", {.n_row = 100, .half = HX_HALF_LOWER}, HX_EINTERNAL, "other half"},
        {"b.npz", {.n_row = (int64_t)1 << 31, .n_entry = 1}, HX_EINPUT, "unknowns"},
        {"b.npz", {.n_row = 100, .n_entry = (int64_t)1 << 50}, HX_EIO, "nothing was written"},
        {"b.mtx", {.n_row = 100, .n_entry = (int64_t)1 << 50}, HX_EIO, "nothing was written"},
        {"b.txt", {.n_row = 1}, HX_EINPUT, "must end in"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        hx_write_set *set = NULL;
        int64_t bytes = 0;
        int rc = hx_matrix_bytes_of(in_folder(bad[i].name), &bad[i].shape, &bytes);
        if (rc == HX_OK) rc = open_one(&set, in_folder(bad[i].name), bytes);
        CHECK_FAILS(rc, bad[i].code, bad[i].text);
        hx_write_set_free(set);
        CHECK(access(in_folder(bad[i].name), F_OK) != 0);
    }
    const hx_matrix_format *format = NULL;
    const hx_matrix_shape most = {.n_row = 1, .n_entry = INT32_MAX};
    int64_t bytes = 0;
    CHECK_OK(hx_matrix_format_find("b.petsc", &format));
    CHECK(format->most_entries == INT32_MAX);
    CHECK_OK(hx_matrix_bytes_of("b.petsc", &most, &bytes));
    CHECK(bytes == 16 + 4 + 12 * (int64_t)INT32_MAX);
}

/* Missing rows, rows out of order, too many rows; an unfinished file leaves nothing. */
static void test_unfinished(void)
{
    const hx_matrix_shape shape = {.n_row = N, .n_entry = N_ENTRY};
    const hx_csr_rows first = {0, 1, row_ptr, column, value},
                      third = {2, 1, row_ptr, column, value};
    hx_matrix_writer *w = NULL;
    hx_write_set *set = NULL;
    CHECK_OK(open_one(&set, in_folder("u.npz"), 1000));
    CHECK_OK(hx_matrix_writer_open(&w, set, 0, &shape));
    CHECK_OK(hx_matrix_writer_rows(w, &first));
    CHECK_FAILS(hx_matrix_writer_rows(w, &third), HX_EINTERNAL, "out of order");
    CHECK_FAILS(hx_matrix_writer_close(w), HX_EINTERNAL, "1 of 4 rows");
    hx_matrix_writer_free(w);
    CHECK_FAILS(hx_write_set_commit(set), HX_EINTERNAL, "unfinished");
    hx_write_set_free(set);
    CHECK(access(in_folder("u.npz"), F_OK) != 0);
}

static int count_files(void)
{
    DIR *const dir = opendir(folder);
    int n = -2; /* . and .. */
    CHECK(dir != NULL);
    while (dir && readdir(dir)) n++;
    if (dir) closedir(dir);
    return n;
}

static int never_again(void *left)
{
    return --*(int *)left < 0;
}

/* All files get their names or none does, whatever fails and wherever it is cancelled. */
static void test_together(void)
{
    const double *const one = value;
    const int32_t number[] = {3, 1};
    const int before = count_files();
    const hx_write_entry entry[] = {
        {in_folder("t.npz"), 1000}, {NULL, 0}, {in_folder("u.mtx"), 100}};
    const hx_write_entry large[] = {{entry[0].path, INT64_MAX / 4}, {entry[2].path, INT64_MAX / 4}};
    hx_write_set *set = NULL;
    CHECK_FAILS(hx_write_set_open(&set, 2, large, NULL, NULL), HX_EIO,
                "t.npz and 1 more: they need 4612 PB");
    hx_write_set_free(set);
    for (int n_block = 0; n_block < 40; n_block++) {
        int left = n_block;
        int rc = hx_write_set_open(&set, 3, entry, never_again, &left);
        CHECK_OK(rc);
        if (rc == HX_OK) rc = hx_write_numbers(set, 2, "node", 2, number);
        if (rc == HX_OK) rc = hx_write_columns(set, 0, "f", 4, 1, &one);
        CHECK(count_files() == before + 2 && access(entry[2].path, F_OK) != 0);
        if (left < 0)
            CHECK_FAILS(rc, HX_EIO, "not written, because the operation was cancelled");
        else
            CHECK_OK(hx_write_set_commit(set));
        hx_write_set_free(set);
        CHECK(count_files() == (left < 0 ? before : before + 2));
        if (left < 0) continue;
        unlink(entry[0].path);
        unlink(entry[2].path);
    }
}

/* Leftovers of a process that no longer exists are removed, and nothing else. */
static void test_left_behind(void)
{
    const char *const keep[] = {"s.npz.tmp.1", "r.npz.tmp.2147483000", "s.npz.tmp.2147483000x",
                                "s.npz.tmp.tmp.2147483000", "as.npz.tmp.2147483000"};
    const char *const stale = in_folder("s.npz.tmp.2147483000");
    enum { N_KEEP = sizeof keep / sizeof keep[0] };
    hx_write_set *set = NULL;
    FILE *f = fopen(stale, "wb");
    CHECK(f && fclose(f) == 0);
    for (int i = 0; i < N_KEEP; i++) CHECK((f = fopen(in_folder(keep[i]), "wb")) && !fclose(f));
    CHECK_OK(open_one(&set, in_folder("s.npz"), 1000));
    hx_write_set_free(set);
    CHECK(access(stale, F_OK) != 0);
    for (int i = 0; i < N_KEEP; i++) CHECK(unlink(in_folder(keep[i])) == 0);
}

static void test_other_kind(void)
{
    const char *const path = in_folder("other.npz");
    FILE *const f = fopen(path, "wb");
    CHECK(f && fputs("my notes", f) >= 0 && fclose(f) == 0);
    CHECK_FAILS(hx_write_check(path), HX_EINPUT, "exists and is not a NumPy archive file");
    CHECK_FAILS(write_matrix(path, 1, 0), HX_EINPUT, "so it is not replaced");
    CHECK_FAILS(hx_write_check(folder), HX_EINPUT, "must end in");
    CHECK_OK(truncate(path, 0)); /* an empty file may be replaced */
    CHECK_OK(hx_write_check(path));
}

static void remove_all(void)
{
    static const char *const name[] = {"a.mtx", "a.petsc", "a.npz", "d.petsc",  "f.petsc",
                                       "d.mtx", "f.mtx",   "o.mtx", "other.npz"};
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) unlink(in_folder(name[i]));
    CHECK(rmdir(folder) == 0); /* nothing else is left */
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_sums();
    test_market();
    test_petsc();
    test_archive(0);
    test_archive(1);
    test_any_ranges("a.mtx", 0);
    test_any_ranges("a.petsc", 0);
    test_any_ranges("a.npz", 0);
    test_any_ranges("a.npz", 1);
    test_petsc_others();
    test_market_others();
    test_counts();
    test_unfinished();
    test_together();
    test_left_behind();
    test_other_kind();
    remove_all();
    TEST_END();
}
