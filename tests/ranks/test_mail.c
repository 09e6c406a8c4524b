/* Boxes that several processes write into (mail_ops.h), here those of three that this one plays, on
 * one device: what goes where, by which turn, and sums in the order they say; and a team alone,
 * which has none. By real processes: test_shares, test_processes.py.
 *
 *     test_mail [cpu | cuda] */
#include "core/device/mail_ops.h"
#include "core/ranks/mail.h"
#include "tests/lib/fixture.h"

enum { RANKS = 3, N = 700, MOST = 4, HALF = 65536 };

static hx_device device;
static const hx_mail_ops *ops;

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

static uint64_t turn_in(const box *b, int rank)
{
    uint64_t head[HX_MAIL_RANKS];
    CHECK_OK(device.ops->download(&device, head, b->d, sizeof head));
    return head[rank];
}

/* What rank `from` sends in a turn: to each other, item i of rank r is item 7 i + r of the vector,
 * its numbers at entries in no order. */
typedef struct sent {
    int components;
    int32_t item[RANKS * N];
    int64_t at[N * MOST];
    hx_mail_items items;
} sent;

static void make_sent(sent *s, int from, int components, size_t number, box *b, uint64_t turn)
{
    uint64_t seed = (uint64_t)(100 * from + components);
    memset(s, 0, sizeof *s);
    s->components = components;
    s->items = (hx_mail_items){.n_rank = RANKS, .components = components, .turn = turn};
    for (int r = 0; r < RANKS; r++) {
        const int n = r == from ? 0 : N - 100 * r;
        s->items.first[r + 1] = s->items.first[r] + n;
        for (int i = 0; i < n; i++) s->item[s->items.first[r] + i] = (7 * i + r) % N;
        if (r == from) continue;
        s->items.d_to[r] = b[r].d + HX_MAIL_HEAD + (size_t)(64 * from) * number;
        s->items.d_head[r] = (uint64_t *)(void *)b[r].d + from;
    }
    for (int k = 0; k < N * components; k++) s->at[k] = k;
    for (int k = N * components - 1; k > 0; k--) { /* shuffled */
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
    CHECK_OK(hx_mail_create(&mail, &team, &device, 1));
    CHECK(!mail.ops);
    hx_mail_free(&mail);
    hx_team_leave(&team);
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
        test_put(b, components, (uint64_t)(2 * components - 1));
        test_put_single(b, components, (uint64_t)(2 * components));
        test_add(components);
        test_add_single(components);
    }
    test_add_all();
    test_add_all_single();
    for (int r = 0; r < RANKS; r++)
        ops->release(&device, b[r].d, HX_MAIL_HEAD + 2 * (size_t)HALF, b[r].handle);
    hx_device_close(&device);
    TEST_END();
}
