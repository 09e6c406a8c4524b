/* Receive buffers that several processes write to (transport_ops.h). This process plays three
 * processes on one device, which tests destinations, numbers of exchanges, and sums in the given
 * order. Also tested: a single process, which has no buffers; and the transport that is selected by
 * threads that play processes, either with a device each or with two sharing one. test_subdomains
 * and test_processes.py use real processes.
 *
 *     test_transport [cpu | cuda] */
#include <pthread.h>

#include "core/device/transport_ops.h"
#include "core/dist/transport.h"
#include "tests/lib/fixture.h"

enum { RANKS = 3, N = 700, MOST = 4, HALF = 65536, FEW = 5 };

static hx_device device;
static const hx_transport_ops *ops;
static uint64_t turn; /* number of the last exchange begun by all */

typedef struct box {
    char *d;
    unsigned char handle[HX_TRANSPORT_HANDLE];
} box;

static void *put(const void *from, size_t bytes)
{
    void *d_p = NULL;
    CHECK_OK(hx_device_put(&device, &d_p, from, bytes));
    return d_p;
}

/* Returns the exchange number of a rank, or of its own process, in the head of a buffer. */
static uint64_t turn_in(const box *b, int at)
{
    uint64_t head[HX_TRANSPORT_TURN + 1];
    CHECK_OK(device.ops->download(&device, head, b->d, sizeof head));
    return head[at];
}

static char *half_of(const box *b, uint64_t of)
{
    return b->d + HX_TRANSPORT_HEAD + (of % 2 ? HALF : 0);
}

static hx_transport_arrivals came_to(const box *b, int own)
{
    return (hx_transport_arrivals){.n_rank = RANKS, .own = own, .d_remote = b[own].d, .half = HALF};
}

/* Items that rank `from` sends in an exchange: for each other rank r, item i is item 7 i + r of the
 * vector, with its numbers at shuffled entries. */
typedef struct sent {
    int components;
    int32_t item[RANKS * N];
    int64_t at[RANKS * N * MOST];
    hx_transport_items items;
} sent;

static void make_sent(sent *s, int from, int components, size_t number, box *b)
{
    uint64_t seed = (uint64_t)(100 * from + components);
    memset(s, 0, sizeof *s);
    s->components = components;
    s->items = (hx_transport_items){
        .n_rank = RANKS, .components = components, .d_remote = b[from].d, .half = HALF};
    for (int r = 0; r < RANKS; r++) {
        const int n = r == from ? 0 : N - 100 * r;
        s->items.first[r + 1] = s->items.first[r] + n;
        for (int i = 0; i < n; i++) s->item[s->items.first[r] + i] = (7 * i + r) % N;
        if (r == from) continue;
        s->items.d_to[r] = b[r].d + HX_TRANSPORT_HEAD + (size_t)(64 * from) * number;
        s->items.d_head[r] = (uint64_t *)(void *)b[r].d + from;
    }
    const int n_at = RANKS * N * components;
    for (int k = 0; k < n_at; k++) s->at[k] = k % (N * components);
    for (int k = n_at - 1; k > 0; k--) { /* shuffled */
        const int64_t other = (int64_t)fixture_uniform(&seed, 0.0, (double)k), t = s->at[k];
        s->at[k] = s->at[other];
        s->at[other] = t;
    }
}

#define REAL double
#define NAME(x) x
#include "test_transport_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "test_transport_real.inc"
#undef REAL
#undef NAME

/* A single process has no buffers and communicates with nobody. */
static void test_alone(void)
{
    hx_comm comm;
    hx_transport transport;
    memset(&transport, 0, sizeof transport);
    hx_comm_self(&comm);
    CHECK_OK(hx_transport_create(&transport, &comm, &device, HX_TRANSPORT_DIRECT));
    CHECK(!transport.ops);
    hx_transport_free(&transport);
    hx_comm_leave(&comm);
}

/* Values of the other ranks are put into the buffers first, since one queue runs the ranks one
 * after the other. */
static void test_sum_few(box *b)
{
    double y[RANKS][FEW], sum[FEW], came[RANKS][FEW];
    uint64_t seed = turn + 1;
    turn++;
    for (int k = 0; k < RANKS * FEW; k++) y[k / FEW][k % FEW] = fixture_uniform(&seed, -1.0, 1.0);
    for (int own = 0; own < RANKS; own++) {
        hx_transport_items items = {
            .n_rank = RANKS, .components = 1, .d_remote = b[own].d, .half = HALF};
        const hx_transport_arrivals from = came_to(b, own);
        int n_wrong = 0;
        for (int r = 0; r < RANKS; r++) {
            char *const place = half_of(&b[own], turn) + (r < own ? r : r - 1) * (int)sizeof y[r];
            items.first[r + 1] = items.first[r] + (r == own ? 0 : FEW);
            if (r == own) continue;
            items.d_to[r] =
                b[r].d + HX_TRANSPORT_HEAD + (own < r ? own : own - 1) * (int)sizeof y[r];
            items.d_head[r] = (uint64_t *)(void *)b[r].d + own;
            CHECK_OK(device.ops->upload(&device, place, y[r], sizeof y[r]));
            CHECK_OK(device.ops->upload(&device, b[own].d + 8 * r, &turn, sizeof turn));
        }
        double *const d_y = put(y[own], sizeof y[own]);
        CHECK_OK(ops->sum_few(&device, &items, &from, FEW, d_y));
        CHECK_OK(device.ops->download(&device, sum, d_y, sizeof sum));
        for (int i = 0; i < FEW; i++) n_wrong += sum[i] != (y[0][i] + y[1][i]) + y[2][i];
        CHECK_MSG(n_wrong == 0, "rank %d: %d sums are wrong", own, n_wrong);
        CHECK(turn_in(&b[own], HX_TRANSPORT_TURN) == turn);
        for (int r = 0; r < RANKS; r++) {
            if (r == own) continue;
            CHECK(turn_in(&b[r], own) == turn);
            CHECK_OK(device.ops->download(&device, came, half_of(&b[r], turn),
                                          (RANKS - 1) * sizeof came[0]));
            CHECK(memcmp(came[own < r ? own : own - 1], y[own], sizeof y[own]) == 0);
        }
        device.ops->release(&device, d_y);
    }
}

/* Sending and receiving at once, to another place; values of the other ranks are put into the
 * buffers first, as above. */
static void test_trade(box *b, int components)
{
    static sent s;
    const int64_t n = N * components, n_came = n - 3;
    turn++;
    for (int own = 0; own < RANKS; own++) {
        float *const y = some_single(2 * n, turn + (uint64_t)own),
                     *const came = some_single(n_came, turn + 100),
                     *const got = some_single(2 * n, 1);
        const hx_transport_arrivals from = let_come_single(b, own, came, n_came);
        make_sent(&s, own, components, sizeof *y, b);
        int64_t *const d_at = put(s.at, sizeof s.at);
        float *const d_y = put(y, 2 * (size_t)n * sizeof *y);
        for (int r = 0; r < RANKS; r++) {
            if (r == own) continue;
            CHECK_OK(device.ops->upload(&device, b[own].d + 8 * r, &turn, sizeof turn));
            CHECK_OK(device.ops->zero(&device, b[r].d + HX_TRANSPORT_HEAD, 2 * (size_t)HALF));
        }
        s.items.d_at = d_at;
        CHECK_OK(ops->swap_single(&device, &s.items, &from, d_y, n_came, d_y + n));
        CHECK_OK(device.ops->download(&device, got, d_y, 2 * (size_t)n * sizeof *got));
        CHECK(memcmp(got, y, (size_t)n * sizeof *got) == 0);
        CHECK(memcmp(got + n, came, (size_t)n_came * sizeof *got) == 0);
        CHECK(memcmp(got + n + n_came, y + n + n_came, 3 * sizeof *got) == 0);
        CHECK(turn_in(&b[own], HX_TRANSPORT_TURN) == turn);
        check_put_single(b, &s, own, 1, y);
        device.ops->release(&device, d_y);
        device.ops->release(&device, d_at);
        free(y);
        free(came);
        free(got);
    }
}

/* --- selection of a transport, by threads that play processes --- */

static hx_device played[RANKS];
static int place_of[RANKS]; /* identifier of a process's device; -1: unknown */
static int n_joined;
static pthread_barrier_t all_here;

static int gather_played(const hx_comm *comm, const void *own, size_t bytes, void *all)
{
    static unsigned char from[RANKS][512];
    if (bytes > sizeof from[0])
        return HX_RAISE(HX_EINTERNAL, "the buffer of the test is too small");
    memcpy(from[comm->rank], own, bytes);
    pthread_barrier_wait(&all_here);
    for (int r = 0; r < RANKS; r++) memcpy((char *)all + (size_t)r * bytes, from[r], bytes);
    pthread_barrier_wait(&all_here);
    return HX_OK;
}

static int broadcast_played(const hx_comm *comm, int from, void *data, size_t bytes)
{
    static void *first;
    if (comm->rank == from) first = data;
    pthread_barrier_wait(&all_here);
    if (comm->rank != from) memcpy(data, first, bytes);
    pthread_barrier_wait(&all_here);
    return HX_OK;
}

static const hx_comm_ops threads = {
    .name = "threads", .broadcast = broadcast_played, .all_gather = gather_played};

static int tell_place(hx_device *dev, unsigned char id[HX_TRANSPORT_DEVICE])
{
    const int place = place_of[dev - played];
    if (place < 0) return HX_RAISE(HX_EENV, "an unknown device");
    memcpy(id, &place, sizeof place);
    return HX_OK;
}

static int has_library(void)
{
    return HX_OK;
}

static int identify(unsigned char id[HX_TRANSPORT_ID])
{
    memset(id, 1, HX_TRANSPORT_ID);
    return HX_OK;
}

static int join(hx_device *dev, int rank, int n_rank, const unsigned char id[HX_TRANSPORT_ID])
{
    (void)dev;
    (void)rank;
    (void)n_rank;
    if (id[0] != 1) return HX_RAISE(HX_EENV, "a different identifier");
    __atomic_fetch_add(&n_joined, 1, __ATOMIC_RELAXED);
    return HX_OK;
}

static void leave(hx_device *dev)
{
    (void)dev;
}

static int alloc_none(hx_device *dev, size_t bytes, void *d_out,
                      unsigned char handle[HX_TRANSPORT_HANDLE])
{
    (void)dev;
    (void)bytes;
    (void)d_out;
    (void)handle;
    return HX_RAISE(HX_EENV, "no buffers here");
}

/* A library that joins successfully and then has no memory. */
static const hx_transport_ops library = {.name = "a library",
                                         .tell_device = tell_place,
                                         .has_library = has_library,
                                         .identify = identify,
                                         .join = join,
                                         .leave = leave,
                                         .alloc = alloc_none};

typedef struct player {
    int rank, rc, has_way, has_same;
    hx_transport_kind way;
    const hx_device_ops *ops;
} player;

static void *play(void *data)
{
    player *const own = data;
    const hx_comm comm = {.ops = &threads, .rank = own->rank, .size = RANKS};
    hx_transport transport;
    memset(&transport, 0, sizeof transport);
    own->rc = hx_transport_create(&transport, &comm, &played[own->rank], own->way);
    own->has_way = transport.ops != NULL;
    own->has_same = transport.has_same;
    pthread_barrier_wait(&all_here); /* buffers stay open while others write to them */
    hx_transport_free(&transport);
    return NULL;
}

/* Checks that processes on those devices select a transport, or none, and that n_join of them join
 * the library. */
static void check_way(const char *label, const hx_device_ops *way_ops, hx_transport_kind way,
                      const int place[RANKS], int has_way, int has_same, int n_join)
{
    pthread_t thread[RANKS];
    player all[RANKS];
    n_joined = 0;
    memcpy(place_of, place, sizeof place_of);
    for (int r = 0; r < RANKS; r++) {
        all[r] = (player){.rank = r, .way = way};
        CHECK_OK(hx_device_open(&played[r], device.ops));
        played[r].ops = way_ops;
        CHECK(pthread_create(&thread[r], NULL, play, &all[r]) == 0);
    }
    for (int r = 0; r < RANKS; r++) {
        CHECK(pthread_join(thread[r], NULL) == 0);
        CHECK_MSG(all[r].rc == HX_OK, "%s, rank %d: %d", label, r, all[r].rc);
        CHECK_MSG(all[r].has_way == has_way, "%s, rank %d: %d", label, r, all[r].has_way);
        CHECK_MSG(all[r].has_same == has_same, "%s, rank %d: %d", label, r, all[r].has_same);
        hx_device_close(&played[r]);
    }
    CHECK_MSG(n_joined == n_join, "%s: %d joined", label, n_joined);
}

/* If two of three processes share a device, the third must not join the library alone: it would
 * wait for the others forever. */
static void test_ways(void)
{
    static const int own[RANKS] = {4, 2, 7}, two[RANKS] = {4, 2, 4}, unknown[RANKS] = {4, -1, 7};
    hx_device_ops far = *device.ops, near = *device.ops;
    hx_transport_ops boxes = *ops;
    CHECK(pthread_barrier_init(&all_here, NULL, RANKS) == 0);
    far.transport = NULL;
    far.transport_far = &library;
    check_way("a library", &far, HX_TRANSPORT_LIBRARY, own, 0, 0, RANKS);
    check_way("a library, one device for two", &far, HX_TRANSPORT_LIBRARY, two, 0, 1, 0);
    check_way("any transport, one device for two", &far, HX_TRANSPORT_ANY, two, 0, 1, 0);
    check_way("a library, unknown device", &far, HX_TRANSPORT_LIBRARY, unknown, 0, 0, 0);
    boxes.tell_device = tell_place;
    near.transport = &boxes;
    near.transport_far = &library;
    check_way("buffers, one device for two", &near, HX_TRANSPORT_ANY, two, 0, 1, 0);
    check_way("no transport", &near, HX_TRANSPORT_NONE, own, 0, 0, 0);
    if (!ops->tell_device) { /* on a GPU a process cannot open its own memory */
        check_way("buffers", &near, HX_TRANSPORT_ANY, own, 1, 0, 0);
        check_way("buffers on one device", &near, HX_TRANSPORT_DIRECT, two, 1, 1, 0);
        check_way("buffers, unknown device", &near, HX_TRANSPORT_DIRECT, unknown, 0, 0, 0);
    }
    pthread_barrier_destroy(&all_here);
}

int main(int argc, char **argv)
{
    box b[RANKS];
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    ops = device.ops->transport;
    CHECK(ops != NULL);
    test_alone();
    test_ways();
    for (int r = 0; r < RANKS; r++) {
        if (ops->alloc(&device, HX_TRANSPORT_HEAD + 2 * (size_t)HALF, &b[r].d, b[r].handle) < 0) {
            printf("SKIPPED: %s\n", hx_error_message());
            return 77;
        }
        for (int from = 0; from < RANKS; from++) CHECK(turn_in(&b[r], from) == 0);
    }
    for (int components = 1; components <= MOST; components++) {
        test_put(b, components);
        test_put_single(b, components);
        test_add(b, components);
        test_add_single(b, components);
    }
    for (int own = 0; own < RANKS; own++) {
        test_add_all(b, own);
        test_add_all_single(b, own);
        test_take(b, own);
        test_take_single(b, own);
    }
    for (int k = 0; ops->sum_few && k < 4; k++) test_sum_few(b);
    for (int k = 1; ops->swap_single && k <= MOST; k++) test_trade(b, k);
    for (int r = 0; r < RANKS; r++)
        ops->release(&device, b[r].d, HX_TRANSPORT_HEAD + 2 * (size_t)HALF, b[r].handle);
    hx_device_close(&device);
    TEST_END();
}
