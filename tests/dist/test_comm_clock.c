/* The offset between two clocks (comm_clock.h) from a simulated first rank, whose clock is ahead,
 * behind, or equal. test_timeline.py uses real processes. */
#include "core/base/clock.h"
#include "core/comm/comm_clock.h"
#include "tests/lib/test.h"

/* Times of the first rank. */
static double ahead, had;

static void wait_until(double time)
{
    while (hx_clock() < time) continue;
}

/* The first rank sends a while after the other one in every second round, and each message takes
 * some time. */
static int all_gather(const hx_comm *comm, const void *own, size_t bytes, void *all)
{
    static int turn;
    const double late = turn++ % 2 ? 3e-5 : 0.0, begin = hx_clock();
    double *const to = all;
    (void)comm;
    wait_until(begin + late);
    to[0] = hx_clock() + ahead;
    to[1] = had;
    wait_until(begin + late + 1e-5);
    had = hx_clock() + ahead;
    for (size_t i = 0; i < bytes / sizeof *to; i++) to[2 + i] = ((const double *)own)[i];
    return HX_OK;
}

static const hx_comm_ops ops = {.name = "two", .all_gather = all_gather};

static void check_offset(double seconds)
{
    const hx_comm second = {.ops = &ops, .rank = 1, .size = 2}, first = {.ops = &ops, .size = 2};
    double offset, width;
    ahead = seconds;
    CHECK(hx_comm_clock(&second, &offset, &width) == HX_OK);
    CHECK_MSG(fabs(offset - seconds) <= width + 1e-9, "%.9g instead of %.9g, width %.3g", offset,
              seconds, width);
    CHECK_MSG(width < 1e-3, "width %.3g s", width);
    CHECK(hx_comm_clock(&first, &offset, &width) == HX_OK);
    CHECK(offset == 0.0 && width == 0.0);
}

int main(void)
{
    const hx_comm second = {.ops = &ops, .rank = 1, .size = 2};
    hx_comm alone;
    double offset = 1.0, width = 1.0;
    check_offset(1234.5);
    check_offset(-4000.25);
    ahead = 0.0;
    CHECK(hx_comm_clock(&second, &offset, &width) == HX_OK && offset == 0.0 && width == 0.0);
    hx_comm_self(&alone);
    CHECK(hx_comm_clock(&alone, &offset, &width) == HX_OK && offset == 0.0 && width == 0.0);
    TEST_END();
}
