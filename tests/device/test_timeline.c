/* Marks of a device's timeline (timeline.h): in the queue, in recordings, on the host; which are
 * kept when the ring is full; those of a solve.
 *
 *     test_timeline [cpu | cuda] [quick] */
#include "core/base/clock.h"
#include "core/device/timeline.h"
#include "tests/lib/dense_model.h"

enum { N_BYTES = 1 << 16, RING = 1 << 10, SMALL = 64 };

static void *d_memory;

/* Some work for the queue. */
static int work(void)
{
    return device.ops->zero(&device, d_memory, N_BYTES);
}

static hx_timeline *open_timeline(int64_t n)
{
    hx_timeline *timeline = NULL;
    CHECK_OK(hx_timeline_open(&timeline, &device, n));
    CHECK(timeline != NULL);
    device.timeline = timeline;
    return timeline;
}

static void close_timeline(hx_timeline *timeline)
{
    device.timeline = NULL;
    hx_timeline_close(timeline);
}

static hx_span_time *fetch(hx_timeline *timeline, int *first, int64_t *n, double *precision)
{
    hx_span_time *list = NULL;
    CHECK_OK(hx_timeline_fetch(timeline, precision));
    *first = hx_timeline_first(timeline);
    CHECK_OK(hx_timeline_spans(timeline, *first, &list, n));
    return list;
}

/* Spans of a queue start in order, and are nested or disjoint. */
static void check_order(int64_t n, const hx_span_time *list)
{
    for (int64_t i = 0; i < n; i++) {
        CHECK(list[i].end >= list[i].begin);
        for (int64_t k = i + 1; k < n && list[k].queue == list[i].queue; k++) {
            CHECK(list[k].begin >= list[i].begin);
            if (list[k].begin >= list[i].end) break;
            CHECK(list[k].end <= list[i].end);
        }
    }
}

static int64_t count(int64_t n, const hx_span_time *list, hx_span span, hx_queue queue)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
        found += list[i].span == (uint8_t)span && list[i].queue == (uint8_t)queue;
    return found;
}

static int two_products(void)
{
    for (int i = 0; i < 2; i++) HX_IN_SPAN(&device, HX_SPAN_PRODUCT, -1, work());
    return HX_OK;
}

static int one_iteration(void)
{
    HX_IN_SPAN(&device, HX_SPAN_ITERATION, -1, two_products());
    return HX_OK;
}

static int design(int number)
{
    HX_IN_STAGE(&device, HX_SPAN_DESIGN, number, one_iteration());
    return HX_OK;
}

/* Nothing is marked without a timeline. */
static void check_off(void)
{
    CHECK_OK(design(1));
    hx_timeline *const timeline = open_timeline(RING);
    int first;
    int64_t n = -1;
    double precision;
    device.timeline = NULL;
    CHECK_OK(design(1));
    free(fetch(timeline, &first, &n, &precision));
    CHECK(n == 0 && first == 0);
    close_timeline(timeline);
}

/* Smallest difference between the starts of the device's spans, in ns: the resolution of its
 * clock. */
static double least_step(int64_t n, const hx_span_time *list)
{
    double least = INFINITY;
    for (int64_t i = 0; i + 1 < n && list[i + 1].queue == HX_QUEUE_DEVICE; i++)
        if (list[i + 1].begin > list[i].begin)
            test_least(&least, list[i + 1].begin - list[i].begin);
    return least;
}

/* Times are on the host's clock, between host times taken before and after. */
static void check_queue(void)
{
    hx_timeline *const timeline = open_timeline(RING);
    int first;
    int64_t n;
    double precision;
    const double before = 1e9 * hx_clock();
    for (int i = 1; i <= 3; i++) CHECK_OK(design(i));
    CHECK_OK(device.ops->sync(&device));
    const double after = 1e9 * hx_clock();
    hx_span_time *const list = fetch(timeline, &first, &n, &precision);
    CHECK(first == 1 && n == 3 * 5);
    CHECK(count(n, list, HX_SPAN_DESIGN, HX_QUEUE_DEVICE) == 3);
    CHECK(count(n, list, HX_SPAN_DESIGN, HX_QUEUE_HOST) == 3);
    CHECK(count(n, list, HX_SPAN_PRODUCT, HX_QUEUE_DEVICE) == 6);
    check_order(n, list);
    for (int64_t i = 0; i < n; i++) {
        const double slack = list[i].queue == HX_QUEUE_HOST ? 0.0 : precision + 1e3;
        CHECK_MSG(list[i].begin >= before - slack && list[i].end <= after + slack,
                  "%.0f to %.0f, within 0 to %.0f", list[i].begin - before, list[i].end - before,
                  after - before);
    }
    printf("%s: clocks within %.2f us, steps of %.0f ns, a span takes %.2f us\n", device.ops->name,
           1e-3 * precision, least_step(n, list), 1e-3 * (after - before) / 15.0);
    free(list);
    close_timeline(timeline);
}

/* Each replay sets marks, and normal launches may come between replays. */
static void check_recording(void)
{
    const hx_device_ops *const ops = device.ops;
    void *recording = NULL;
    int first;
    int64_t n;
    double precision;
    if (!ops->record_begin) return;
    hx_timeline *const timeline = open_timeline(RING);
    CHECK_OK(ops->record_begin(&device));
    CHECK_OK(one_iteration());
    CHECK_OK(ops->record_end(&device, &recording));
    for (int i = 0; i < 4; i++) {
        CHECK_OK(ops->replay(&device, recording));
        CHECK_OK(two_products());
    }
    hx_span_time *const list = fetch(timeline, &first, &n, &precision);
    CHECK(n == 4 * 5 && count(n, list, HX_SPAN_ITERATION, HX_QUEUE_DEVICE) == 4);
    check_order(n, list);
    for (int64_t i = 0; i < n; i++) /* an iteration with its two products, then two products */
        CHECK(list[i].span == (i % 5 == 0 ? HX_SPAN_ITERATION : HX_SPAN_PRODUCT));
    for (int64_t i = 0; i + 5 < n; i += 5)
        CHECK(list[i].end <= list[i + 5].begin && list[i].end <= list[i + 3].begin);
    ops->record_free(&device, recording);
    free(list);
    close_timeline(timeline);
}

/* A full ring keeps the last complete designs; for a design that exceeds it, whatever fits. */
static void check_full(void)
{
    hx_timeline *timeline = open_timeline(SMALL);
    int first;
    int64_t n;
    double precision;
    for (int i = 1; i <= 20; i++) CHECK_OK(design(i)); /* 8 marks each in the queue */
    hx_span_time *list = fetch(timeline, &first, &n, &precision);
    CHECK_MSG(first == 13 && n == 8 * 5, "from design %d, %d spans", first, (int)n);
    check_order(n, list);
    CHECK(list[0].number == 13 && list[0].span == HX_SPAN_DESIGN);
    free(list);
    for (int i = 0; i < SMALL; i++) CHECK_OK(work() + one_iteration());
    list = fetch(timeline, &first, &n, &precision);
    CHECK(first == 0 && count(n, list, HX_SPAN_ITERATION, HX_QUEUE_DEVICE) == 10);
    check_order(n, list);
    free(list);
    close_timeline(timeline);
}

static int fail(void)
{
    return HX_RAISE(HX_ENUMERIC, "fails");
}

static int failing_design(void)
{
    HX_IN_STAGE(&device, HX_SPAN_DESIGN, 1, fail());
    return HX_OK;
}

/* A design that fails and is restarted: spans that have not ended are omitted. */
static void check_failure(void)
{
    hx_timeline *const timeline = open_timeline(RING);
    int first;
    int64_t n;
    double precision;
    CHECK(failing_design() == HX_ENUMERIC);
    CHECK_OK(design(1));
    hx_span_time *const list = fetch(timeline, &first, &n, &precision);
    CHECK(first == 1 && n == 5);
    check_order(n, list);
    free(list);
    close_timeline(timeline);
}

/* Marks of PCG: as many iterations as it reports, or as are queued between two status checks. */
static void check_solve(model *m)
{
    fixture_settings settings = fixture_defaults();
    hx_timeline *const timeline = open_timeline(1 << 16);
    int first;
    int64_t n;
    double precision;
    const hx_pcg_result result = solve(m, &settings, NULL);
    hx_span_time *const list = fetch(timeline, &first, &n, &precision);
    const int64_t every = device.ops->look_every,
                  queued = (result.iterations + every - 1) / every * every;
    CHECK(result.reason == HX_PCG_CONVERGED && first == 0);
    CHECK_MSG(count(n, list, HX_SPAN_ITERATION, HX_QUEUE_DEVICE) == queued, "%d of %d",
              (int)count(n, list, HX_SPAN_ITERATION, HX_QUEUE_DEVICE), (int)queued);
    CHECK(count(n, list, HX_SPAN_PRODUCT, HX_QUEUE_DEVICE) >= queued);
    CHECK(count(n, list, HX_SPAN_LOOK, HX_QUEUE_HOST) == queued / every + 1);
    check_order(n, list);
    free(list);
    close_timeline(timeline);
}

/* A stage has one name, whoever measures it. */
static void check_names(void)
{
    static const hx_span span[HX_N_STAGE] = {
        [HX_STAGE_PCG] = HX_SPAN_PCG,       [HX_STAGE_COMPLIANCE] = HX_SPAN_COMPLIANCE,
        [HX_STAGE_FILTER] = HX_SPAN_FILTER, [HX_STAGE_UPDATE] = HX_SPAN_UPDATE,
        [HX_STAGE_OUTPUT] = HX_SPAN_OUTPUT,
    };
    char text[64];
    for (int i = HX_STAGE_PCG; i < HX_N_STAGE; i++)
        CHECK(strcmp(hx_span_text(span[i], -1, text, sizeof text), hx_stage_name((hx_stage)i)) ==
              0);
    CHECK(strcmp(hx_span_text(HX_SPAN_DESIGN, 7, text, sizeof text), "design 7") == 0);
    CHECK(strcmp(hx_span_text(HX_SPAN_SMOOTH, 0, text, sizeof text), "smooth mesh") == 0);
    CHECK(strcmp(hx_span_text(HX_SPAN_SMOOTH, 2, text, sizeof text), "smooth coarse grid 2") == 0);
    CHECK(strcmp(hx_span_text(HX_SPAN_PUT, -1, text, sizeof text), "send") == 0);
}

int main(int argc, char **argv)
{
    static model m;
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    CHECK_OK(make_model(&m, 0));
    CHECK_OK(device.ops->alloc(&device, N_BYTES, &d_memory));
    check_names();
    check_off();
    check_queue();
    check_recording();
    check_full();
    check_failure();
    check_solve(&m);
    device.ops->release(&device, d_memory);
    free_model(&m);
    hx_device_close(&device);
    TEST_END();
}
