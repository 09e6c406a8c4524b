/* Tables of P5, with its results and those measured here. */
#include <math.h>
#include <stdio.h>

#include "app/text/log.h"
#include "paper_p5.h"

const hx_p5_row hx_p5_rows[HX_P5_N_ROW] = {
    {2, 2, 225, 50625, 101250, 49729, 447561, 2554947, 36, 5, 4, 2, 2, {.05, .08}, {.05, .08}},
    {2,
     2,
     500,
     250000,
     500000,
     248004,
     2232036,
     12690072,
     79,
     20,
     17,
     10,
     6,
     {.22, .36},
     {.23, .34}},
    {2,
     2,
     633,
     400689,
     801378,
     398161,
     3583449,
     20359251,
     100,
     32,
     27,
     17,
     10,
     {.34, .55},
     {.35, .53}},
    {2, 3, 225, 50625, 101250, 49284, 788544, 4936563, 28, 14, 13, 7, 5, {.12, .28}, {.13, .18}},
    {2,
     3,
     320,
     102400,
     204800,
     100489,
     1607824,
     10030368,
     39,
     27,
     25,
     13,
     10,
     {.23, .56},
     {.23, .35}},
    {2,
     3,
     388,
     150544,
     301088,
     148225,
     2371600,
     14773776,
     47,
     39,
     35,
     18,
     16,
     {.34, .79},
     {.36, .51}},
    {2, 4, 160, 25600, 51200, 24336, 608400, 4058400, 16, 19, 18, 8, 8, {.17, .48}, {.21, .20}},
    {2, 4, 225, 50625, 101250, 48841, 1221025, 8090675, 22, 36, 34, 15, 17, {.31, .90}, {.38, .38}},
    {2,
     4,
     275,
     75625,
     151250,
     73441,
     1836025,
     12129675,
     27,
     57,
     52,
     21,
     26,
     {.44, 1.37},
     {.60, .54}},
    {3, 2, 19, 6859, 20577, 4913, 132651, 3182649, 14, 8, 8, 2, 4, {.06, .20}, {.07, .10}},
    {3, 2, 26, 17576, 52728, 13824, 373248, 8606172, 24, 21, 18, 6, 10, {.14, .54}, {.18, .25}},
    {3, 2, 33, 35937, 107811, 29791, 804357, 18142461, 38, 43, 37, 12, 23, {.30, 1.13}, {.38, .51}},
    {3, 3, 19, 6859, 20577, 4096, 262144, 7982313, 8, 59, 54, 9, 33, {.28, 2.77}, {.37, .56}},
    {3, 3, 21, 9261, 27783, 5832, 373248, 11085579, 9, 83, 75, 12, 46, {.40, 3.95}, {.51, .78}},
    {3,
     3,
     26,
     17576,
     52728,
     12167,
     778688,
     22134864,
     14,
     168,
     154,
     24,
     95,
     {.77, 8.27},
     {1.03, 1.61}},
    {3, 4, 15, 3375, 10125, 1331, 166375, 6849000, 4, 131, 128, 11, 73, {.37, 7.52}, {.49, 1.07}},
    {3, 4, 17, 4913, 14739, 2197, 274625, 10594236, 4, 218, 216, 18, 123, {.61, 12.5}, {.80, 1.79}},
    {3,
     4,
     19,
     6859,
     20577,
     3375,
     421875,
     15503568,
     5,
     333,
     323,
     27,
     184,
     {.88, 18.9},
     {1.19, 2.68}},
};

/* Number of functions of a direction that are compared with elements with as many nodes (Tables 1
 * and 2), and the largest degree there. */
enum { N_COMPARED = 121, MOST_DEGREE = 5 };

static void add_power(hx_table *table, int64_t base, int dim)
{
    hx_bench_add_count(table, dim == 2 ? base * base : base * base * base);
}

void hx_bench_p5_print_points(void)
{
    static const double paper[] = {7.8, 25.7, 59.3, 112.9}; /* 3D, p = 2 .. 5 */
    hx_table table;
    hx_log_info("\nP5 (Karatarakis, Karakitsios and Papadrakakis, GTX 680), Tables 1 and 2: %d "
                "functions or nodes in each direction; 3 to 5, 9 and 10: away from the rim\n",
                (int)N_COMPARED);
    hx_table_begin(&table, "lrrrrrrrrrr");
    hx_table_add_words(&table, "|p|elements|of FEA|points over FEA's|paper|points of a function|"
                               "of FEA|to|functions it meets|of FEA");
    for (int dim = 2; dim <= 3; dim++)
        for (int p = 2; p <= MOST_DEGREE; p++) {
            const int fea = (N_COMPARED - 1) / p, order = p + 1;
            hx_table_add(&table, "%dD", dim);
            hx_table_add(&table, "%d", p);
            add_power(&table, N_COMPARED - p, dim);
            add_power(&table, fea, dim);
            hx_bench_add_fixed(&table, 1, pow((double)(N_COMPARED - p) / fea, dim));
            hx_bench_add_fixed(&table, 1, dim == 3 ? paper[p - 2] : (double)NAN);
            add_power(&table, (int64_t)order * order, dim);
            add_power(&table, order, dim);
            add_power(&table, 2 * order, dim);
            add_power(&table, 2 * p + 1, dim);
            add_power(&table, order, dim);
        }
    hx_bench_end_table(&table);
    hx_log_info("  FEA: Lagrange elements of the same degree; the fewest and the most Gauss "
                "points, the fewest functions met.");
}

static int is_equal(const hx_p5_row *row, const hx_interaction_counts *c)
{
    return row->n_point == c->n_point && row->n_dof == c->n_dof && row->n_cell == c->n_cell &&
           row->n_gauss == c->n_gauss && row->n_stored == c->n_stored;
}

void hx_bench_p5_print_counts(void)
{
    hx_table table;
    hx_log_info("\nP5, Tables 6 to 8: counts, of the symmetric half of K\n");
    hx_table_begin(&table, "lrrrrrrrrlrr");
    hx_table_add_words(&table, "|p|n|points|unknowns|elements|Gauss points|stored|paper||"
                               "skyline / stored|paper");
    for (int i = 0; i < HX_P5_N_ROW; i++) {
        const hx_p5_row *const row = &hx_p5_rows[i];
        hx_interaction_counts c;
        hx_interaction_count(row->dim, row->p, row->n, &c);
        hx_table_add(&table, "%dD", row->dim);
        hx_table_add(&table, "%d", row->p);
        hx_table_add(&table, "%d", row->n);
        hx_bench_add_count(&table, c.n_point);
        hx_bench_add_count(&table, c.n_dof);
        hx_bench_add_count(&table, c.n_cell);
        hx_bench_add_count(&table, c.n_gauss);
        hx_bench_add_count(&table, c.n_stored);
        hx_bench_add_count(&table, row->n_stored);
        hx_table_add(&table, is_equal(row, &c) ? "equal" : "FAIL");
        hx_bench_add_fixed(&table, 1, (double)c.n_skyline / (double)c.n_stored);
        hx_bench_add_fixed(&table, 0, row->skyline);
    }
    hx_bench_end_table(&table);
    hx_log_info("  \"equal\": points, unknowns, elements, Gauss points and stored numbers.");
}

static double seconds_of(const hx_p5_measured *m)
{
    return m->n > 0 ? m->time.gradients + m->time.pairs : (double)NAN;
}

/* Adds two phases in milliseconds. */
static void add_phases(hx_table *table, const hx_p5_measured *m)
{
    if (m->n > 0)
        hx_table_add(table, "%.4g + %.4g", 1e3 * m->time.gradients, 1e3 * m->time.pairs);
    else
        hx_table_add(table, "-");
}

static void add_seconds(hx_table *table, const double phase[2])
{
    hx_table_add(table, "%.3g + %.3g", phase[0], phase[1]);
}

static void add_p5_row(hx_table *table, const hx_p5_result *r)
{
    static const hx_p5_row none = {.ew_sparse = (double)NAN, .ew_skyline = (double)NAN};
    const hx_p5_row *const paper = r->paper ? r->paper : &none;
    const double gather = seconds_of(&r->way[HX_WAY_GATHER]);
    hx_table_add(table, "%dD", r->dim);
    hx_table_add(table, "%d", r->p);
    hx_table_add(table, "%d", r->n);
    hx_bench_add_fixed(table, 0, paper->ew_sparse);
    hx_bench_add_ms(table, seconds_of(&r->way[HX_WAY_HASH]));
    hx_bench_add_fixed(table, 0, paper->ew_skyline);
    hx_bench_add_ms(table, seconds_of(&r->way[HX_WAY_SKYLINE]));
    if (r->paper) {
        hx_table_add(table, "%.0f + %.0f", paper->iw_shape, paper->iw_assembly);
        add_seconds(table, paper->plain);
        add_seconds(table, paper->coalesced);
    } else
        for (int i = 0; i < 3; i++) hx_table_add(table, "-");
    add_phases(table, &r->way[HX_WAY_POINTS]);
    add_phases(table, &r->way[HX_WAY_PAIRS]);
    hx_bench_add_ms(table, gather);
    hx_bench_add(table, 3, paper->ew_sparse / gather, "x");
    hx_bench_add(table, 3,
                 r->paper ? (paper->coalesced[0] + paper->coalesced[1]) / gather : (double)NAN,
                 "x");
}

void hx_bench_p5_print_times(const hx_paper_bench *bench, const hx_p5_result *result, int n)
{
    char count[32];
    hx_table table;
    hx_log_info("\n"
                "P5, Tables 11 to 16: K of one patch, in P5 in seconds and here in milliseconds\n");
    hx_table_begin(&table, "lrrrrrrrrrrrrrr");
    hx_table_add_words(&table, "|p|n|EW s|hash ms|skyline s|skyline ms|IW s|GPU s|coalesced|"
                               "points ms|pairs ms|gather ms|EW / gather|coalesced / gather");
    for (int i = 0; i < n; i++) add_p5_row(&table, &result[i]);
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++)
        for (int w = 0; w < HX_N_WAY; w++)
            if (result[i].way[w].note[0])
                hx_log_info("  %dD, p = %d, n = %d, %s left out: %s", result[i].dim, result[i].p,
                            result[i].n, hx_interaction_way_name((hx_interaction_way)w),
                            result[i].way[w].note);
    hx_log_info("  EW: element-wise on one core of an i7-980X, into a hash table, into a skyline; "
                "hash and skyline are\n"
                "  the same here, on one core of a CPU. IW: by interaction, shape functions and "
                "assembly, on that core,\n"
                "  and the two kernels of a GTX 680, with derivatives stored Gauss point by Gauss "
                "point and (coalesced)\n"
                "  control point by control point: points and pairs, here, phase by phase. gather: "
                "no derivatives\n"
                "  stored. Here NURBS have unequal weights; on a CPU milliseconds are those of one "
                "core, summed over\n"
                "  all threads; on a GPU its own.");
    hx_log_info(
        "  Left out: patches with more pairs of points than %s hexahedra of 8 nodes (--most).",
        hx_format_count(bench->most_patch, count, sizeof count));
}
