/* The schedule by which a GPU fills K of glued splines (line_plan.h), executed on the host with
 * identifiers instead of values: every cell is integrated once, every row is made once from lines
 * that are in the buffer at that time, and patches of a shared row follow one another. Degrees 1 to
 * 4, double knots, patches of several sizes, up to four of which share a point; buffers from the
 * minimum to everything. */
#include "core/matrix/line_plan.h"
#include "tests/lib/spline_model.h"

/* nx x ny patches side by side along x and y, with the spans of their row and column; knot twice_at
 * of the third direction is repeated (0: none). */
static int make_grid(spline_model *m, int degree, int nx, int ny, int twice_at)
{
    const int along[3] = {2, 4, 1}, across[2] = {3, 2}, each[3] = {degree, degree, degree};
    memset(m, 0, sizeof *m);
    m->spline.n_patch = nx * ny;
    HX_TRY(hx_alloc(&m->spline.patch, (size_t)(nx * ny), sizeof *m->spline.patch, "patches"));
    for (int k = 0; k < nx * ny; k++) {
        const int n_span[3] = {along[k % nx], across[k / nx], 9}, twice[3] = {0, 0, twice_at};
        const double origin[3] = {k % nx, k / nx, 0.0};
        if (box_patch(&m->spline.patch[k], each, n_span, twice, origin) < 0) return HX_EINTERNAL;
    }
    return spline_model_finish(m);
}

/* --- axes --- */

/* Against the definition: function i belongs to the cells with first <= i <= first + order - 1. */
static void check_axis(const hx_interaction_axis *axis, const hx_knots *knots)
{
    const int order = axis->degree + 1;
    CHECK(axis->degree == knots->degree && axis->n == knots->n && axis->n_cell == knots->n_span);
    for (int c = 0; c < axis->n_cell; c++) CHECK(axis->first[c] == knots->span[c] - knots->degree);
    for (int i = 0; i < axis->n; i++) {
        int low = axis->n, high = 0, n_cell = 0;
        for (int c = 0; c < axis->n_cell; c++) {
            const int first = knots->span[c] - knots->degree;
            if (i < first || i >= first + order) continue;
            n_cell++;
            CHECK(c >= axis->cells[2 * i] && c < axis->cells[2 * i + 1]);
            low = first < low ? first : low;
            high = first + order > high ? first + order : high;
        }
        CHECK(n_cell == axis->cells[2 * i + 1] - axis->cells[2 * i]);
        CHECK(axis->reach[2 * i] == low && axis->reach[2 * i + 1] == high);
    }
}

/* --- execution of the plan --- */

typedef struct play {
    const hx_line_plan *p;
    const int32_t *number;
    int64_t *line_before; /* [n_patch + 1] lines of the patches before */
    int64_t *held;        /* [planes of the buffer] the line stored there, + 1 */
    int *held_plane;      /* its plane */
    int *held_step;       /* the step that wrote it */
    int *n_line, *n_row;  /* [lines], [points of patches] how often each was computed */
    int *n_patch, *last;  /* [global points] patches in its row so far; the last one, + 1 */
    int64_t highest;      /* highest plane of the buffer */
} play;

/* The plane of the buffer for plane f of a line. */
static int64_t plane_of(const play *y, int k, int c1, int c2, int f)
{
    const int64_t at =
        y->p->buffer_at[k] + hx_line_place(&y->p->patch[k], y->p->order, y->p->ring[k], f, c1, c2);
    CHECK(at % hx_line_part(y->p->order) == 0);
    CHECK(at >= 0 && at + hx_line_part(y->p->order) <= y->p->n_buffer);
    return at / hx_line_part(y->p->order);
}

static int64_t line_of(const play *y, int k, int c1, int c2)
{
    return y->line_before[k] + (int64_t)c2 * y->p->patch[k].axis[1].n_cell + c1;
}

/* Finds lines like the thread blocks do. */
static void play_lines(play *y, int i_step)
{
    const hx_line_plan *const p = y->p;
    const hx_line_step *const s = &p->step[i_step];
    for (int64_t block = 0; block < s->n_line; block++) {
        int k = s->patch;
        while (k + 1 < s->end && p->line_at[k + 1] <= block) k++;
        const hx_interaction_axis *const axis = p->patch[k].axis;
        const int at = (int)(block - p->line_at[k]), c1 = at % axis[1].n_cell;
        const int c2 = s->layer + at / axis[1].n_cell;
        CHECK(c2 < axis[2].n_cell && (s->end - s->patch > 1 || c2 < s->layer_end));
        y->n_line[line_of(y, k, c1, c2)]++;
        for (int f = 0; f < axis[0].n; f++) {
            const int64_t plane = plane_of(y, k, c1, c2, f);
            /* not used by another line of this step */
            CHECK(y->held[plane] == 0 || y->held_step[plane] != i_step);
            y->held[plane] = 1 + line_of(y, k, c1, c2);
            y->held_plane[plane] = f;
            y->held_step[plane] = i_step;
            if (plane > y->highest) y->highest = plane;
        }
    }
}

/* 1 if all lines that the row of a patch's point needs are in the buffer. */
static int has_lines(const play *y, int k, int64_t point)
{
    const hx_interaction *const in = &y->p->patch[k];
    int r[3];
    hx_interaction_place(in, point, r);
    for (int c2 = in->axis[2].cells[2 * r[2]]; c2 < in->axis[2].cells[2 * r[2] + 1]; c2++)
        for (int c1 = in->axis[1].cells[2 * r[1]]; c1 < in->axis[1].cells[2 * r[1] + 1]; c1++)
            for (int f = in->axis[0].reach[2 * r[0]]; f <= r[0]; f++) {
                const int64_t plane = plane_of(y, k, c1, c2, f);
                if (y->held[plane] != 1 + line_of(y, k, c1, c2) || y->held_plane[plane] != f)
                    return 0;
            }
    return 1;
}

/* Executes a kernel launch. No two of its rows may be the same global row; rows of turn 0 write,
 * those of later turns add. */
static void play_turn(play *y, const hx_line_step *s, int turn)
{
    const hx_line_plan *const p = y->p;
    for (int64_t i = p->turn_at[turn]; i < p->turn_at[turn + 1]; i++) {
        const int64_t at = p->row[i];
        int k = s->patch;
        while (k + 1 < s->end && p->point_at[k + 1] <= at) k++;
        CHECK(at >= p->point_at[k] && at < p->point_at[k + 1]);
        const int32_t a = y->number[at];
        y->n_row[at]++;
        CHECK(y->n_patch[a] == turn - s->turn && y->last[a] < k + 1);
        CHECK(has_lines(y, k, at - p->point_at[k]));
    }
    for (int64_t i = p->turn_at[turn]; i < p->turn_at[turn + 1]; i++) {
        const int32_t a = y->number[p->row[i]];
        int k = 0;
        while (p->point_at[k + 1] <= p->row[i]) k++;
        CHECK(y->last[a] < k + 1); /* fails for the second of two in one launch */
        y->last[a] = k + 1;
        y->n_patch[a]++;
    }
}

static void play_steps(play *y, int64_t n_point)
{
    const hx_line_plan *const p = y->p;
    for (int i = 0; i < p->n_step; i++) {
        play_lines(y, i);
        for (int t = p->step[i].turn; t < p->step[i].turn_end; t++) play_turn(y, &p->step[i], t);
    }
    for (int64_t i = 0; i < y->line_before[p->n_patch]; i++) CHECK(y->n_line[i] == 1);
    for (int64_t i = 0; i < p->point_at[p->n_patch]; i++) CHECK(y->n_row[i] == 1);
    for (int64_t a = 0; a < n_point; a++) CHECK(y->n_patch[a] >= 1);
    CHECK((y->highest + 1) * hx_line_part(p->order) == p->n_buffer); /* the exact size */
}

static void *zeros(int64_t n, size_t size)
{
    void *const z = calloc((size_t)n, size);
    if (!z) abort();
    return z;
}

static void play_plan(const hx_line_plan *p, const int32_t *number, int64_t n_point)
{
    const int64_t n_plane = p->n_buffer / hx_line_part(p->order);
    play y = {.p = p, .number = number, .highest = -1};
    y.line_before = zeros(p->n_patch + 1, sizeof *y.line_before);
    for (int k = 0; k < p->n_patch; k++)
        y.line_before[k + 1] =
            y.line_before[k] + (int64_t)p->patch[k].axis[1].n_cell * p->patch[k].axis[2].n_cell;
    CHECK(p->n_buffer % hx_line_part(p->order) == 0);
    y.held = zeros(n_plane, sizeof *y.held);
    y.held_plane = zeros(n_plane, sizeof *y.held_plane);
    y.held_step = zeros(n_plane, sizeof *y.held_step);
    y.n_line = zeros(y.line_before[p->n_patch], sizeof *y.n_line);
    y.n_row = zeros(p->point_at[p->n_patch], sizeof *y.n_row);
    y.n_patch = zeros(n_point, sizeof *y.n_patch);
    y.last = zeros(n_point, sizeof *y.last);
    play_steps(&y, n_point);
    void *const owned[] = {y.line_before, y.held,  y.held_plane, y.held_step,
                           y.n_line,      y.n_row, y.n_patch,    y.last};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}

/* --- plans of a spline --- */

/* The numbers of all patches' points, computed from the spline. */
static void check_numbers(const hx_line_plan *p, const hx_spline *spline, const int32_t *number)
{
    int32_t of_cell[HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER];
    for (int64_t e = 0; e < spline->n_cell; e++) {
        const int n = hx_spline_cell_numbers(spline, e, of_cell);
        int k = 0, span[3];
        while (k + 1 < p->n_patch && p->first_cell[k + 1] <= e) k++;
        hx_spline_patch_spans(&spline->patch[k], e, span);
        const int64_t first = hx_spline_cell_first(&spline->patch[k], span);
        for (int a = 0; a < n; a++) {
            const int64_t at = first + a % p->order +
                               (int64_t)spline->patch[k].axis[0].n *
                                   (a / p->order % p->order + (int64_t)spline->patch[k].axis[1].n *
                                                                  (a / p->order / p->order));
            CHECK(number[p->point_at[k] + at] == of_cell[a]);
        }
    }
}

/* Checks one budget; returns the bytes of the buffer. */
static size_t check_plan(const spline_model *m, const hx_line_budget *budget, int *n_step)
{
    const hx_incidence in = hx_incidence_of_space(&m->space);
    const hx_spline_rule *const rule = in.spline;
    hx_line_plan p;
    int32_t *number = NULL;
    CHECK(hx_line_plan_make(&p, rule, rule->patch, budget) == HX_OK);
    const size_t bytes = (size_t)p.n_buffer * sizeof(double);
    CHECK(p.n_patch == m->spline.n_patch);
    for (int k = 0; k < 3 * p.n_patch; k++)
        check_axis(&p.patch[k / 3].axis[k % 3], &m->spline.patch[k / 3].axis[k % 3]);
    CHECK_OK(hx_alloc(&number, (size_t)p.point_at[p.n_patch], sizeof *number, "numbers"));
    hx_line_plan_number(&p, &in, number);
    check_numbers(&p, &m->spline, number);
    CHECK(hx_line_plan_rows(&p, number, in.n_point) == HX_OK);
    play_plan(&p, number, in.n_point);
    *n_step = p.n_step;
    hx_line_plan_free(&p);
    free(number);
    return bytes;
}

/* Bytes of as many layers of the largest patch as a row reaches. */
static size_t least_bytes(const hx_spline *spline)
{
    size_t most = 0;
    for (int k = 0; k < spline->n_patch; k++) {
        const hx_knots *const axis = spline->patch[k].axis;
        const int order = axis[0].degree + 1, n = order < axis[2].n_span ? order : axis[2].n_span;
        const size_t bytes = sizeof(double) * (size_t)hx_line_part(order) * (size_t)axis[0].n *
                             (size_t)axis[1].n_span * (size_t)n;
        if (bytes > most) most = bytes;
    }
    return most;
}

static void test_grid(int degree, int nx, int ny, int twice_at)
{
    spline_model m;
    size_t before = 0;
    int steps, steps_before = 1 << 30;
    CHECK_OK(make_grid(&m, degree, nx, ny, twice_at));
    const size_t least = least_bytes(&m.spline);
    for (size_t bytes = 1; bytes < (size_t)1 << 40; bytes = bytes < least ? least : 2 * bytes) {
        const hx_line_budget budget = {0, bytes};
        const size_t held = check_plan(&m, &budget, &steps);
        CHECK(held <= (bytes > least ? bytes : least) && held >= before && steps <= steps_before);
        if (bytes <= least) CHECK(steps >= nx * ny); /* at most one patch at a time */
        if (steps == 1) break;
        before = held;
        steps_before = steps;
    }
    CHECK(steps == 1); /* everything at once in the end */
    for (int64_t n = 1; n <= 1000; n *= 10) {
        const hx_line_budget budget = {n, 0};
        check_plan(&m, &budget, &steps);
        CHECK(n < 1000 || steps == 1); /* there are fewer lines */
    }
    spline_model_free(&m);
}

/* --- splines that this fill does not support --- */

static void test_refused(void)
{
    const int degree[3] = {2, 2, 2}, n_span[3] = {2, 2, 2}, none[3] = {0};
    const hx_line_budget budget = {100, 0};
    spline_model m;
    hx_line_plan p;
    CHECK_OK(spline_model_row(&m, 2, degree, n_span, none, 0, NULL));
    hx_spline_rule rule = *hx_incidence_of_space(&m.space).spline;
    hx_spline_rule_patch patch[2] = {rule.patch[0], rule.patch[1]};
    patch[1].degree[1] = 3;
    CHECK(hx_line_plan_make(&p, &rule, patch, &budget) == 1);
    hx_line_plan_free(&p);
    rule.first = NULL;
    CHECK(hx_line_plan_make(&p, &rule, rule.patch, &budget) == 1);
    hx_line_plan_free(&p);

    const hx_incidence in = hx_incidence_of_space(&m.space);
    int32_t *number = NULL;
    CHECK(hx_line_plan_make(&p, in.spline, in.spline->patch, &budget) == HX_OK);
    CHECK_OK(hx_alloc(&number, (size_t)p.point_at[2], sizeof *number, "numbers"));
    hx_line_plan_number(&p, &in, number);
    number[1] = number[0]; /* a patch glued to itself */
    CHECK(hx_line_plan_rows(&p, number, in.n_point) == 1);
    CHECK(p.n_turn == 0);
    hx_line_plan_free(&p);
    free(number);
    spline_model_free(&m);
}

/* More patches at a point than turns can count. */
static void test_too_many_turns(int n_patch, int expected)
{
    const int degree[3] = {1, 1, 1}, n_span[3] = {1, 1, 1}, none[3] = {0};
    const hx_line_budget budget = {1, 0};
    hx_spline spline;
    hx_spline_rule rule = {0};
    hx_line_plan p;
    int32_t *number = NULL;
    CHECK(box_row(&spline, n_patch, degree, n_span, none) == 0);
    CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_OK(hx_spline_rule_make(&rule, &spline));
    CHECK(hx_line_plan_make(&p, &rule, rule.patch, &budget) == HX_OK);
    CHECK_OK(hx_alloc(&number, 8 * (size_t)n_patch, sizeof *number, "numbers"));
    CHECK(p.point_at[n_patch] == 8 * (int64_t)n_patch);
    for (int i = 0; i < 8 * n_patch; i++) number[i] = i % 8; /* all patches are the same cell */
    CHECK(hx_line_plan_rows(&p, number, 8) == expected);
    CHECK(expected != HX_OK || p.n_turn == n_patch * p.n_step);
    free(number);
    hx_line_plan_free(&p);
    hx_spline_rule_free(&rule);
    hx_spline_free(&spline);
}

int main(void)
{
    fixture_set_threads(1);
    for (int degree = 1; degree <= 4; degree++) {
        test_grid(degree, 1, 1, 0);
        test_grid(degree, 3, 1, degree > 1 ? 2 : 0); /* with degree 1 it would separate */
        test_grid(degree, 3, 2, 0);
        test_grid(degree, 2, 2, degree > 1 ? 5 : 0);
    }
    test_refused();
    test_too_many_turns(255, HX_OK);
    test_too_many_turns(256, 1);
    TEST_END();
}
