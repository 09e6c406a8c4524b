/* P2, three-stage generation: S1 pattern (preprocessor), S2 indices, S3 values; on cubes of hex8
 * with the counts of elements of P2, and with its elements on a cylinder and a rod made here. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/text/log.h"
#include "core/base/memory.h"
#include "paper_stages.h"

enum { N_ROW = HX_P2_N_ROW, N_WAY = 2 }; /* each by elements and by nodes */

typedef struct p2 {
    int n_cube, n_part;
    hx_bench_stages row[N_ROW + N_ROW * N_WAY]; /* cubes first */
} p2;

static void add_paper(hx_table *table, const hx_p2_row *paper)
{
    hx_bench_add_count(table, paper->n_node);
    hx_bench_add_count(table, paper->n_elem);
    hx_bench_add_fixed(table, paper->table == 1 ? 3 : 2, paper->s1);
    hx_bench_add_fixed(table, 2, paper->s2);
    hx_bench_add_fixed(table, 2, paper->s3);
    hx_bench_add_fixed(table, 2, paper->megabytes);
}

static void add_ours(hx_table *table, const hx_bench_stages *s)
{
    hx_bench_add_ms(table, s->s1);
    hx_bench_add_ms(table, s->call.median);
    hx_bench_add_ms(table, s->s2.median);
    hx_bench_add_ms(table, hx_bench_stages_fill(s, HX_FILL_ATOMIC));
    hx_bench_add_ms(table, hx_bench_stages_fill(s, HX_FILL_GATHER));
    hx_bench_add(table, 4, 1e-6 * s->bytes, "");
}

static void print_cubes(const hx_paper_bench *bench, const hx_bench_stages *s, int n)
{
    hx_table table;
    hx_log_info("\n"
                "P2, Tables 3 and 5, their HEX20 beside cubes of hex8: pattern, indices, values\n");
    hx_table_begin(&table, "rrrrrrrrrrrrrrr");
    hx_table_add_words(&table, "table|nodes|elements|paper S1 s|S2 s|S3 s|MB|elements|S1 ms|"
                               "with memory|S2|S3 atomic|S3 gather|MB|P2 / here");
    for (int i = 0; i < n; i++) {
        const hx_p2_row *paper = s[i].paper;
        const double theirs =
            hx_p2_is_cube(paper) ? paper->s1 + paper->s2 + paper->s3 : (double)NAN;
        hx_table_add(&table, "%d", paper->table);
        add_paper(&table, paper);
        hx_bench_add_count(&table, s[i].plan.n_elem);
        add_ours(&table, &s[i]);
        hx_bench_add(&table, 3, theirs / hx_bench_stages_sum(&s[i], HX_FILL_GATHER), "x");
    }
    hx_bench_end_table(&table);
    hx_bench_print_left_out(s, n);
    hx_log_info("  here: elasticity on cubes of hex8 with that many elements, matrix %s. The "
                "counts of nodes in Table 3\n"
                "  are those of hex8; Table 5 has true HEX20, with 3600 entries per element "
                "instead of 576: no ratio.\n"
                "  S1: steps given the lists of cells around points, and the whole call; S2: with "
                "allocation of the\n"
                "  values; MB: matrix and pattern, in P2 its nodes times 81 neighbours times 8 "
                "bytes. The ratio is that\n"
                "  of all three stages, here with fill gather and its preparation.",
                hx_format_name(hx_bench_stages_format(bench->shared.dev->ops->matrix)));
    hx_bench_say_limit(bench);
}

/* Ratio of the sum of the stages given in P2 to that measured here. */
static double gain_of(const hx_bench_stages *s)
{
    const hx_p2_row *paper = s->paper;
    if (isnan(paper->s3)) return paper->s1 / s->call.median;
    return (paper->s1 + paper->s2 + paper->s3) / hx_bench_stages_sum(s, HX_FILL_GATHER);
}

static void print_parts(const hx_paper_bench *bench, const hx_bench_stages *s, int n)
{
    char count[32];
    hx_table table;
    hx_log_info("\nP2, Tables 1, 3 and 5 with their own elements, by elements and by nodes\n");
    hx_table_begin(&table, "rlrrrrrrlrrrrrrrrrr");
    hx_table_add_words(&table, "table|element|nodes|elements|paper S1 s|S2 s|S3 s|MB|ours by|"
                               "nodes|elements|S1 ms|with memory|S2|S3 atomic|S3 gather|MB|"
                               "P2's MB|P2 / here");
    for (int i = 0; i < n; i++) {
        hx_table_add(&table, "%d", s[i].paper->table);
        hx_table_add(&table, "%s", s[i].paper->element);
        add_paper(&table, s[i].paper);
        hx_table_add(&table, "%s", i % N_WAY ? "nodes" : "elements");
        hx_bench_add_count(&table, s[i].plan.n_point);
        hx_bench_add_count(&table, s[i].plan.n_elem);
        add_ours(&table, &s[i]);
        hx_bench_add_fixed(&table, 2, 1e-6 * s[i].paper_bytes);
        hx_bench_add(&table, 3, gain_of(&s[i]), "x");
    }
    hx_bench_end_table(&table);
    hx_bench_print_left_out(s, n);
    hx_log_info("  here: elasticity, matrix %s, on a hollow cylinder (radii 1 and 2, length 6; "
                "Tables 1 and 3) and a\n"
                "  connecting rod (Table 5) of hexahedra, or of six tetrahedra instead of each; "
                "the meshes of P2 are not\n"
                "  available. HEX20 in Table 3 have n^3 elements and (n + 1)^3 nodes, which no "
                "mesh of HEX20 has: by\n"
                "  elements the meshes here have 4 times its nodes, by nodes a quarter of its "
                "elements. Likewise no mesh\n"
                "  has 13,958 elements and 36,326 nodes.\n"
                "  MB in P2: nodes times the neighbours of the widest row times 8 bytes, as in its "
                "tables; here: stored\n"
                "  bytes, 9 entries per neighbour, and the pattern. The ratio is that of the "
                "stages given in P2 (Table 1:\n"
                "  S1, here with allocation), S3 by gather with its preparation; \"-\": above the "
                "limit, or refused by the device.",
                hx_format_name(hx_bench_stages_format(bench->shared.dev->ops->matrix)));
    hx_log_info(
        "  Left out: meshes with more pairs of points than %s hexahedra of 8 nodes (--most).",
        hx_format_count(bench->most, count, sizeof count));
}

static int run_cubes(hx_paper_bench *bench, p2 *all)
{
    for (int i = 0; i < HX_P2_N_ROW; i++) {
        const hx_p2_row *const paper = &hx_p2_rows[i];
        const int n = hx_p2_side(paper);
        const hx_bench_plan plan = {.shape = HX_BENCH_CUBE,
                                    .element = HX_BENCH_HEX8,
                                    .n = {n, n, n},
                                    .n_elem = (int64_t)n * n * n,
                                    .n_point = (n + 1) * (int64_t)(n + 1) * (n + 1)};
        if (n == 0) continue;
        hx_bench_stages_clear(&all->row[all->n_cube], paper, &plan);
        HX_TRY(hx_bench_stages_run(bench, &all->row[all->n_cube++]));
    }
    return HX_OK;
}

static int run_part(hx_paper_bench *bench, p2 *all, const hx_p2_row *paper, int by_points)
{
    hx_bench_stages *const first = all->row + all->n_cube, *const s = first + all->n_part;
    hx_bench_element element = HX_BENCH_HEX8;
    hx_bench_plan plan;
    int same = 0;
    if (!hx_bench_element_find(paper->element, &element))
        return HX_RAISE(HX_EINTERNAL, "no element '%s'", paper->element);
    HX_TRY(hx_bench_plan_make(&plan, hx_p2_shape(paper), element, by_points ? 0 : paper->n_elem,
                              paper->n_node));
    while (same < all->n_part && !hx_bench_plan_is_same(&first[same].plan, &plan)) same++;
    all->n_part++;
    if (same < all->n_part - 1) { /* measured already */
        *s = first[same];
        s->paper = paper;
        return HX_OK;
    }
    hx_bench_stages_clear(s, paper, &plan);
    return hx_bench_stages_run(bench, s);
}

static int run_parts(hx_paper_bench *bench, p2 *all)
{
    for (int i = 0; i < HX_P2_N_ROW; i++)
        for (int way = 0; way < N_WAY; way++) HX_TRY(run_part(bench, all, &hx_p2_rows[i], way));
    return HX_OK;
}

static void print_rest(const hx_paper_bench *bench, const p2 *all)
{
    const int n = all->n_cube + all->n_part;
    int i = 0;
    while (i < n && !hx_bench_stages_is_measured(&all->row[i])) i++;
    if (i == n) return; /* the tables would be empty */
    hx_bench_print_bandwidth(bench, all->row, n);
    hx_bench_print_fills(all->row, n);
    hx_bench_print_shares(all->row, all->n_cube);
}

int hx_bench_p2(hx_paper_bench *bench)
{
    p2 *all;
    HX_TRY(hx_bench_p2_steps(bench));
    HX_TRY(hx_alloc(&all, 1, sizeof *all, "measurements"));
    int rc = run_cubes(bench, all);
    if (rc == HX_OK) rc = run_parts(bench, all);
    if (!hx_bench_is_quiet()) {
        print_cubes(bench, all->row, all->n_cube);
        if (all->n_part > 0) print_parts(bench, all->row + all->n_cube, all->n_part);
        print_rest(bench, all);
    }
    free(all);
    return rc;
}
