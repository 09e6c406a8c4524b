/* The checks of `hextop selftest` find errors. For each check, one wrong part is put into its
 * tables; only this check may fail. With the right parts, none fails. test_selftest */
#include <string.h>

#include "app/selftest/selftest.h"
#include "core/matrix/matrix.h"
#include "tests/lib/fixture.h"

static hx_selftest book;

/* Runs one section with these parts; returns how many lines failed. */
static size_t run(const char *section, const hx_selftest_parts *parts)
{
    memset(&book, 0, sizeof book);
    book.only = section;
    CHECK_OK(hx_selftest_run(&book, parts));
    CHECK(book.n > 1 && strcmp(book.lines[book.n - 1].section, section) == 0);
    return book.n_failed;
}

/* Counts lines whose text begins with `what`, and those of them that failed. */
static size_t count(const char *what, size_t *n_failed)
{
    size_t n = 0;
    *n_failed = 0;
    for (size_t i = 0; i < book.n; i++) {
        if (strncmp(book.lines[i].what, what, strlen(what)) != 0) continue;
        n++;
        *n_failed += !book.lines[i].passed;
        if (!book.lines[i].passed)
            printf("found: %s: %g > %g %s\n", book.lines[i].what, book.lines[i].error,
                   book.lines[i].bound, book.lines[i].note);
    }
    return n;
}

static void expect(const char *what, size_t n_wanted, size_t n_failed_wanted)
{
    size_t n_failed;
    const size_t n = count(what, &n_failed);
    CHECK_MSG(n == n_wanted && n_failed == n_failed_wanted, "%s: %zu of %zu lines failed", what,
              n_failed, n);
}

/* --- operators --- */

static const hx_operator_kind *right;
static int n_product;

/* One entry has an error in the seventh digit. */
static int apply_off(void *state, const double *d_x, double *d_y)
{
    HX_TRY(right->apply(state, d_x, d_y));
    d_y[5] *= 1.0 + 1e-6; /* device memory is host memory */
    return HX_OK;
}

/* One row is not written. */
static int apply_less(void *state, const double *d_x, double *d_y)
{
    const double was = d_y[7];
    HX_TRY(right->apply(state, d_x, d_y));
    d_y[7] = was;
    return HX_OK;
}

/* The last bit of an entry changes from one product to the next. */
static int apply_otherwise(void *state, const double *d_x, double *d_y)
{
    HX_TRY(right->apply(state, d_x, d_y));
    if (n_product++ % 2) d_y[3] *= 1.0 + 4e-16;
    return HX_OK;
}

static int apply_fails(void *state, const double *d_x, double *d_y)
{
    (void)state, (void)d_x, (void)d_y;
    return HX_RAISE(HX_EDEVICE, "a launch failed");
}

static void check_operators(void)
{
    hx_selftest_parts parts = hx_selftest_all(hx_device_find("cpu"));
    right = hx_operator_kind_find("cpu", "ebe");
    hx_operator_kind wrong = *right;
    const hx_operator_kind *const list[] = {&wrong, NULL};
    parts.op_kinds = list;
    CHECK(run("operators", &parts) == 0);
    expect("ebe", 3, 0);
    hx_selftest_free(&book);
    wrong.apply = apply_off;
    CHECK(run("operators", &parts) == 1);
    expect("ebe", 3, 1);
    hx_selftest_free(&book);
    wrong.apply = apply_less;
    CHECK(run("operators", &parts) == 3); /* NaN is neither a force nor equal to any bits */
    hx_selftest_free(&book);
    wrong.apply = apply_otherwise;
    CHECK(run("operators", &parts) == 1);
    expect("ebe, again", 1, 1);
    hx_selftest_free(&book);
    wrong.apply = apply_fails;
    CHECK(run("operators", &parts) == 1);
    expect("ebe", 1, 1);
    CHECK(strstr(book.lines[1].note, "a launch failed") != NULL);
    hx_selftest_free(&book);
}

/* --- preconditioners --- */

/* One entry of the result is missing. */
static int setup_less(hx_precond *pc)
{
    HX_TRY(hx_precond_find("jacobi")->setup(pc));
    pc->d_inverse_diagonal[pc->a->n / 2] = NAN;
    return HX_OK;
}

static void check_preconds(void)
{
    hx_selftest_parts parts = hx_selftest_all(hx_device_find("cpu"));
    hx_precond_kind wrong = *hx_precond_find("jacobi");
    const hx_precond_kind *const list[] = {&wrong, hx_precond_find("none"), NULL};
    parts.preconds = list;
    wrong.setup = setup_less;
    CHECK(run("solvers", &parts) > 0);
    expect("jacobi", 5, 5);
    expect("none", 3, 0);
    hx_selftest_free(&book);
}

/* --- filters --- */

static int backward_of_nothing(hx_filter *filter, const double *d_design, double *d_dc,
                               double *d_dv)
{
    (void)filter, (void)d_design, (void)d_dc, (void)d_dv;
    return HX_OK;
}

static void check_filters(void)
{
    hx_selftest_parts parts = hx_selftest_all(hx_device_find("cpu"));
    hx_filter_kind wrong = *hx_filter_find("density");
    const hx_filter_kind *const list[] = {&wrong, hx_filter_find("none"), NULL};
    parts.filters = list;
    wrong.backward = backward_of_nothing;
    CHECK(run("filters", &parts) == 2);
    expect("density, hexahedra, transpose", 1, 1);
    expect("density, mixed cells, transpose", 1, 1);
    hx_selftest_free(&book);
    CHECK(run("sensitivities", &parts) == 4);
    expect("elasticity, density", 2, 2);
    expect("heat, density", 2, 2);
    expect("elasticity, none", 1, 0);
    hx_selftest_free(&book);
}

/* --- matrices, and a device that is not there --- */

/* No value is written. */
static int fill_less(void *state)
{
    (void)state;
    return HX_OK;
}

static int unavailable(char *why, size_t n_why)
{
    snprintf(why, n_why, "no driver");
    return 0;
}

static void check_device(void)
{
    hx_device_ops device = *hx_device_find("cpu");
    hx_matrix_ops matrix = *device.matrix;
    hx_selftest_parts parts = hx_selftest_all(&device);
    device.matrix = &matrix;
    matrix.fill_run = fill_less;
    CHECK(run("matrices", &parts) > 0);
    expect("pattern", 2, 0);
    expect("fill", 3, 3);
    hx_selftest_free(&book);
    device.available = unavailable;
    memset(&book, 0, sizeof book);
    CHECK_OK(hx_selftest_run(&book, &parts));
    CHECK(book.n == 1 && book.n_failed == 1 && strstr(book.lines[0].note, "no driver") != NULL);
    hx_selftest_free(&book);
}

static void check_bounds(void)
{
    hx_selftest_begin(&book, "a bound");
    CHECK_OK(hx_selftest_end(&book, HX_OK, NAN, 1.0, "nothing"));
    hx_selftest_begin(&book, "a bound");
    CHECK_OK(hx_selftest_end(&book, HX_OK, 0.0, NAN, "nothing"));
    hx_selftest_begin(&book, "a bound");
    CHECK_OK(hx_selftest_end(&book, HX_OK, 1.0, 1.0, "nothing"));
    CHECK(book.n == 3 && book.n_failed == 2 && book.lines[2].passed);
    hx_selftest_free(&book);
}

int main(void)
{
    fixture_set_threads(1);
    check_bounds();
    check_operators();
    check_preconds();
    check_filters();
    check_device();
    TEST_END();
}
