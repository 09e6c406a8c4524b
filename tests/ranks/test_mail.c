/* Boxes that several processes write into (mail_ops.h), here those of three that this one plays, on
 * one device: what goes where, by which turn, and sums in the order they say; and a team alone,
 * which has none. By real processes: test_shares, test_processes.py.
 *
 *     test_mail [cpu | cuda] */
#include "core/device/mail_ops.h"
#include "core/ranks/mail.h"
#include "tests/lib/fixture.h"

enum { RANKS = 3, N = 700, MOST = 4, HALF = 65536, FEW = 5 };

static hx_device device;
static const hx_mail_ops *ops;
static uint64_t turn; /* the last that all have begun */

typedef struct box {
    char *d;
    unsigned char handle[HX_MAIL_HANDLE];
} box;

static void *put(const void *from, size_t bytes)
{
    void *d_p = NULL;
    CHECK_OK(hx_device_put(&device, &d_p, from, bytes));
    return d_p;
}

/* Turns in a box's head: of a rank, or of its own process. */
static uint64_t turn_in(const box *b, int at)
{
    uint64_t head[HX_MAIL_TURN + 1];
    CHECK_OK(device.ops->download(&device, head, b->d, sizeof head));
    return head[at];
}

static char *half_of(const box *b, uint64_t of)
{
    return b->d + HX_MAIL_HEAD + (of % 2 ? HALF : 0);
}

static hx_mail_came came_to(const box *b, int own)
{
    return (hx_mail_came){.n_rank = RANKS, .own = own, .d_box = b[own].d, .half = HALF};
}

/* What rank `from` sends in a turn: to each other, item i of rank r is item 7 i + r of the vector,
 * its numbers at entries in no order. */
typedef struct sent {
    int components;
    int32_t item[RANKS * N];
    int64_t at[RANKS * N * MOST];
    hx_mail_items items;
} sent;

static void make_sent(sent *s, int from, int components, size_t number, box *b)
{
    uint64_t seed = (uint64_t)(100 * from + components);
    memset(s, 0, sizeof *s);
    s->components = components;
    s->items = (hx_mail_items){
        .n_rank = RANKS, .components = components, .d_box = b[from].d, .half = HALF};
    for (int r = 0; r < RANKS; r++) {
        const int n = r == from ? 0 : N - 100 * r;
        s->items.first[r + 1] = s->items.first[r] + n;
        for (int i = 0; i < n; i++) s->item[s->items.first[r] + i] = (7 * i + r) % N;
        if (r == from) continue;
        s->items.d_to[r] = b[r].d + HX_MAIL_HEAD + (size_t)(64 * from) * number;
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
#include "test_mail_real.inc"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_single
#include "test_mail_real.inc"
#undef REAL
#undef NAME

/* One alone has no boxes, and asks nobody. */
static void test_alone(void)
{
    hx_team team;
    hx_mail mail;
    memset(&mail, 0, sizeof mail);
    hx_team_alone(&team);
    CHECK_OK(hx_mail_create(&mail, &team, &device, HX_MAIL_DIRECT));
    CHECK(!mail.ops);
    hx_mail_free(&mail);
    hx_team_leave(&team);
}

/* All at once: what the others sent is there before, as one queue has the ranks one after the
 * other. */
static void test_sum_few(box *b)
{
    double y[RANKS][FEW], sum[FEW], came[RANKS][FEW];
    uint64_t seed = turn + 1;
    turn++;
    for (int k = 0; k < RANKS * FEW; k++) y[k / FEW][k % FEW] = fixture_uniform(&seed, -1.0, 1.0);
    for (int own = 0; own < RANKS; own++) {
        hx_mail_items items = {.n_rank = RANKS, .components = 1, .d_box = b[own].d, .half = HALF};
        const hx_mail_came from = came_to(b, own);
        int n_wrong = 0;
        for (int r = 0; r < RANKS; r++) {
            char *const place = half_of(&b[own], turn) + (r < own ? r : r - 1) * (int)sizeof y[r];
            items.first[r + 1] = items.first[r] + (r == own ? 0 : FEW);
            if (r == own) continue;
            items.d_to[r] = b[r].d + HX_MAIL_HEAD + (own < r ? own : own - 1) * (int)sizeof y[r];
            items.d_head[r] = (uint64_t *)(void *)b[r].d + own;
            CHECK_OK(device.ops->upload(&device, place, y[r], sizeof y[r]));
            CHECK_OK(device.ops->upload(&device, b[own].d + 8 * r, &turn, sizeof turn));
        }
        double *const d_y = put(y[own], sizeof y[own]);
        CHECK_OK(ops->sum_few(&device, &items, &from, FEW, d_y));
        CHECK_OK(device.ops->download(&device, sum, d_y, sizeof sum));
        for (int i = 0; i < FEW; i++) n_wrong += sum[i] != (y[0][i] + y[1][i]) + y[2][i];
        CHECK_MSG(n_wrong == 0, "rank %d: %d sums are wrong", own, n_wrong);
        CHECK(turn_in(&b[own], HX_MAIL_TURN) == turn);
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

/* What goes and what comes at once, to another place; the others' are there before, as above. */
static void test_trade(box *b, int components)
{
    static sent s;
    const int64_t n = N * components, n_came = n - 3;
    turn++;
    for (int own = 0; own < RANKS; own++) {
        float *const y = some_single(2 * n, turn + (uint64_t)own),
                     *const came = some_single(n_came, turn + 100),
                     *const got = some_single(2 * n, 1);
        const hx_mail_came from = let_come_single(b, own, came, n_came);
        make_sent(&s, own, components, sizeof *y, b);
        int64_t *const d_at = put(s.at, sizeof s.at);
        float *const d_y = put(y, 2 * (size_t)n * sizeof *y);
        for (int r = 0; r < RANKS; r++) {
            if (r == own) continue;
            CHECK_OK(device.ops->upload(&device, b[own].d + 8 * r, &turn, sizeof turn));
            CHECK_OK(device.ops->zero(&device, b[r].d + HX_MAIL_HEAD, 2 * (size_t)HALF));
        }
        s.items.d_at = d_at;
        CHECK_OK(ops->trade_single(&device, &s.items, &from, d_y, n_came, d_y + n));
        CHECK_OK(device.ops->download(&device, got, d_y, 2 * (size_t)n * sizeof *got));
        CHECK(memcmp(got, y, (size_t)n * sizeof *got) == 0);
        CHECK(memcmp(got + n, came, (size_t)n_came * sizeof *got) == 0);
        CHECK(memcmp(got + n + n_came, y + n + n_came, 3 * sizeof *got) == 0);
        CHECK(turn_in(&b[own], HX_MAIL_TURN) == turn);
        check_put_single(b, &s, own, 1, y);
        device.ops->release(&device, d_y);
        device.ops->release(&device, d_at);
        free(y);
        free(came);
        free(got);
    }
}

int main(int argc, char **argv)
{
    box b[RANKS];
    const int status = fixture_open_small(&device, argc, argv);
    if (status) return status;
    ops = device.ops->mail;
    CHECK(ops != NULL);
    test_alone();
    for (int r = 0; r < RANKS; r++) {
        if (ops->alloc(&device, HX_MAIL_HEAD + 2 * (size_t)HALF, &b[r].d, b[r].handle) < 0) {
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
    for (int k = 1; ops->trade_single && k <= MOST; k++) test_trade(b, k);
    for (int r = 0; r < RANKS; r++)
        ops->release(&device, b[r].d, HX_MAIL_HEAD + 2 * (size_t)HALF, b[r].handle);
    hx_device_close(&device);
    TEST_END();
}
