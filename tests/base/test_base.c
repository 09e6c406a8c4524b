/* Growing arrays, memory, sorting, random numbers, vectors, accounts of memory, text of a fixed
 * size. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/account.h"
#include "core/base/error.h"
#include "core/base/fit.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/base/sort.h"
#include "core/base/vec3.h"
#include "tests/lib/test.h"

static void test_grow(void)
{
    enum { N = 5000 };
    int32_t *list = NULL;
    size_t capacity = 0, n_moved = 0;
    for (size_t n = 0; n < N; n++) {
        const size_t before = capacity;
        CHECK_OK(hx_grow(&list, n, &capacity, sizeof *list, "numbers"));
        CHECK(capacity > n);
        if (capacity != before) n_moved += n;
        list[n] = (int32_t)(3 * n);
    }
    for (size_t n = 0; n < N; n++) CHECK(list[n] == (int32_t)(3 * n));
    CHECK_MSG(n_moved <= 2 * N, "%zu entries moved for a list of %d", n_moved, N);
    free(list);
}

static void test_resize(void)
{
    int64_t *list = NULL;
    CHECK_OK(hx_resize_raw(&list, 0, 3, sizeof *list, "numbers"));
    for (int64_t i = 0; i < 3; i++) list[i] = 7 - i;
    CHECK_OK(hx_resize(&list, 3, 100, sizeof *list, "numbers"));
    for (int64_t i = 0; i < 100; i++) CHECK(list[i] == (i < 3 ? 7 - i : 0));
    /* A failed allocation leaves the old array and its capacity unchanged. */
    size_t capacity = SIZE_MAX / 4;
    const int64_t *const before = list;
    CHECK_FAILS(hx_resize(&list, 3, SIZE_MAX / 4, sizeof *list, "too many"), HX_ENOMEM, "too many");
    CHECK_FAILS(hx_resize_raw(&list, 3, SIZE_MAX, sizeof *list, "too many"), HX_ENOMEM, "too many");
    CHECK_FAILS(hx_grow(&list, capacity, &capacity, sizeof *list, "too many"), HX_ENOMEM, "");
    CHECK(list == before && list[2] == 5 && capacity == SIZE_MAX / 4);
    free(list);
}

/* Freeing large arrays of any size must not modify adjacent memory. */
static void test_free_large(void)
{
    const size_t bytes[] = {0, 1, (size_t)64 << 20, ((size_t)96 << 20) + 12345};
    hx_free_large(NULL, (size_t)1 << 30);
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        unsigned char *list, *beside;
        CHECK_OK(hx_alloc_raw(&list, bytes[i], 1, "bytes"));
        CHECK_OK(hx_alloc_raw(&beside, bytes[i] + 1, 1, "bytes"));
        memset(list, 1, bytes[i]);
        memset(beside, 2, bytes[i] + 1);
        hx_free_large(list, bytes[i]);
        size_t n = 0;
        while (n <= bytes[i] && beside[n] == 2) n++;
        CHECK_MSG(n == bytes[i] + 1, "byte %zu of %zu in the neighbouring array has changed", n,
                  bytes[i] + 1);
        hx_free_large(beside, bytes[i] + 1);
    }
}

/* Lists of every length around the limits, with few and with many distinct values. */
static void test_sort(void)
{
    enum { MOST = 300 };
    uint64_t state = 5;
    for (int n = 0; n <= MOST; n++) {
        int32_t few[MOST], i32[MOST];
        int64_t i64[MOST];
        uint32_t u32[MOST];
        int64_t sum = 0, n_distinct = n > 0;
        for (int i = 0; i < n; i++) {
            few[i] = i32[i] = (int32_t)(hx_random_next(&state) % (n % 2 ? 20 : 100000)) - 10;
            u32[i] = (uint32_t)few[i]; /* negative numbers become the largest */
            /* not a shift: shifting a negative number is undefined */
            i64[i] = (int64_t)few[i] * ((int64_t)1 << 33);
            sum += few[i];
        }
        hx_sort_few_i32(few, n);
        hx_sort_few_u32(u32, n);
        hx_sort_i32(i32, n);
        hx_sort_i64(i64, n);
        for (int i = 0; i < n; i++) {
            sum -= i32[i];
            CHECK(few[i] == i32[i] && i64[i] == (int64_t)i32[i] * ((int64_t)1 << 33));
            if (i == 0) continue;
            CHECK(i32[i - 1] <= i32[i] && u32[i - 1] <= u32[i]);
            n_distinct += i32[i - 1] < i32[i];
        }
        CHECK(sum == 0);
        CHECK(hx_unique_i32(i32, n) == n_distinct && hx_unique_i64(i64, n) == n_distinct);
        for (int i = 1; i < n_distinct; i++) CHECK(i32[i - 1] < i32[i] && i64[i - 1] < i64[i]);
    }
}

static void test_sort_four(void)
{
    /* all words of four letters from an alphabet of four letters */
    for (int32_t code = 0; code < 256; code++) {
        int32_t v[4], count[4] = {0};
        for (int k = 0; k < 4; k++) count[v[k] = code >> 2 * k & 3]++;
        hx_sort_four(v);
        for (int k = 0; k < 4; k++) count[v[k]]--;
        CHECK(v[0] <= v[1] && v[1] <= v[2] && v[2] <= v[3]);
        CHECK(count[0] == 0 && count[1] == 0 && count[2] == 0 && count[3] == 0);
    }
}

/* The first numbers of splitmix64 from state 0, computed with its authors' program. */
static void test_random(void)
{
    const uint64_t expected[3] = {UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
                                  UINT64_C(0x06c45d188009454f)};
    uint64_t state = 0;
    for (int i = 0; i < 3; i++) CHECK(hx_random_next(&state) == expected[i]);
    CHECK(state == 3 * HX_RANDOM_STEP);
    CHECK(hx_random_unit(0) == 0.0);
    CHECK(hx_random_unit(UINT64_MAX) == 1.0 - 0x1p-53);
    CHECK(hx_random_unit(UINT64_C(1) << 63) == 0.5);
    double sum = 0.0;
    enum { N = 100000 };
    for (int i = 0; i < N; i++) sum += hx_random_unit(hx_random_next(&state));
    CHECK_ABS(sum / N, 0.5, 0.005); /* five standard deviations */
}

static void test_vectors(void)
{
    const double a[3] = {1.0, 2.0, 3.0}, b[3] = {-4.0, 5.0, 0.5}, d[3] = {2.0, -1.0, 8.0};
    double c[3];
    hx_cross3(a, b, c);
    CHECK(c[0] == -14.0 && c[1] == -12.5 && c[2] == 13.0);
    CHECK(hx_dot3(a, b) == 7.5);
    CHECK(hx_norm3((const double[3]){2.0, -3.0, 6.0}) == 7.0);
    CHECK(hx_triple3(d, a, b) == hx_dot3(d, c));
}

static void test_account(void)
{
    static char name[HX_ACCOUNT_ITEMS + 3][8];
    hx_account account = {0};
    CHECK(hx_account_sum(&account) == 0 && hx_account_find(&account, "mesh") == NULL);
    hx_account_add(&account, "mesh", 3);
    hx_account_add(&account, "loads", 5);
    hx_account_add(&account, "mesh", 4);
    CHECK(account.n == 2 && hx_account_sum(&account) == 12);
    const hx_memory_item *const mesh = hx_account_find(&account, "mesh");
    CHECK(mesh == &account.item[0] && mesh->bytes == 7);

    memset(&account, 0, sizeof account); /* more items than entries */
    for (int i = 0; i < HX_ACCOUNT_ITEMS + 3; i++) {
        snprintf(name[i], sizeof name[i], "n%d", i);
        hx_account_add(&account, name[i], 10);
    }
    hx_account_add(&account, "n2", 1);
    CHECK(account.n == HX_ACCOUNT_ITEMS);
    CHECK(hx_account_sum(&account) == 10 * (HX_ACCOUNT_ITEMS + 3) + 1);
    CHECK(hx_account_find(&account, "n2")->bytes == 11);
    CHECK(hx_account_find(&account, "other")->bytes == 40);
    CHECK(hx_account_find(&account, name[HX_ACCOUNT_ITEMS]) == NULL);
}

/* A limit of the address space (`ulimit -v`) counts as a limit of available memory. */
static void test_address_limit(void)
{
    enum { SOME = 1 << 30 };
    struct rlimit before, now;
    char line[64] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    const int is_read = f && fgets(line, sizeof line, f);
    if (f) fclose(f);
    if (!is_read || getrlimit(RLIMIT_AS, &before) != 0) return;
    now = before;
    now.rlim_cur = (rlim_t)strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + SOME;
    if (setrlimit(RLIMIT_AS, &now) != 0) return;
    const size_t some = hx_host_memory_available();
    now.rlim_cur = 1 << 20;
    CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    const size_t none = hx_host_memory_available();
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK_MSG(some > 0 && some <= SOME, "%zu available within %d", some, SOME);
    CHECK_MSG(none == 1, "%zu available; 0 would mean unknown", none);
}

static char *fit_all(char *text, size_t n_text, const char *fmt, ...) HX_PRINTF(3, 4);

static char *fit_all(char *text, size_t n_text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *const all = hx_fit_all(text, n_text, fmt, args);
    va_end(args);
    return all;
}

static void test_fit(void)
{
    char text[12] = "", small[3];
    CHECK(hx_fit(text, sizeof text, "%s", "eleven chars") == 11 &&
          strcmp(text, "eleven  ...") == 0);
    CHECK(hx_fit(text, sizeof text, "%s", "ten chars.") == 10 && strcmp(text, "ten chars.") == 0);
    CHECK(hx_fit(text + 10, sizeof text - 10, "%s", " more") == 1 && strlen(text) == 11);
    CHECK(hx_fit(small, sizeof small, "%s", "abc") == 2 && strcmp(small, "ab") == 0);
    CHECK(hx_fit(text, 0, "%s", "nothing") == 0);
    CHECK(fit_all(text, sizeof text, "%d", 7) == text && strcmp(text, "7") == 0);
    char *const all = fit_all(text, sizeof text, "%s", "more than eleven characters");
    CHECK(all != text && strcmp(all, "more than eleven characters") == 0);
    if (all != text) free(all);
}

static void test_long_message(void)
{
    static char path[2 * HX_MESSAGE_SIZE];
    memset(path, 'x', sizeof path - 1);
    (void)HX_RAISE(HX_EINPUT, "%s: missing", path);
    hx_error_prefix("argument: ");
    const char *const message = hx_error_message();
    const size_t n = strlen(message);
    CHECK(n == HX_MESSAGE_SIZE - 1 && strcmp(message + n - 4, " ...") == 0);
    CHECK(strncmp(message, "argument: xxx", 13) == 0);
    hx_error_clear();
}

int main(void)
{
    test_fit();
    test_long_message();
    test_account();
    test_grow();
    test_resize();
    test_free_large();
    test_sort();
    test_sort_four();
    test_random();
    test_vectors();
    test_address_limit();
    TEST_END();
}
