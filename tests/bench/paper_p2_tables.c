/* Tables of P2's stages: bandwidth, comparison of fills, fraction of a solution. */
#include <math.h>
#include <string.h>

#include "app/text/log.h"
#include "paper_stages.h"

/* Adds shape, element, number of elements. */
static void add_mesh(hx_table *table, const hx_bench_plan *plan)
{
    hx_table_add(table, "%s", hx_bench_shape_name(plan->shape));
    hx_table_add(table, "%s", hx_bench_element_name(plan->element));
    hx_bench_add_count(table, plan->n_elem);
}

static void add_rate(hx_table *table, double bytes, double seconds, double copy)
{
    const double rate = bytes / seconds;
    hx_bench_add(table, 4, 1e-9 * rate, "");
    if (isnan(rate / copy))
        hx_table_add(table, "-");
    else
        hx_table_add(table, "%.0f %%", 100.0 * rate / copy);
}

void hx_bench_print_bandwidth(const hx_paper_bench *bench, const hx_bench_stages *s, int n)
{
    hx_table table;
    hx_log_info("\nP2, Figures 10, 11 and 14 to 17: effective bandwidth of the stages\n");
    hx_table_begin(&table, "llrrrrrrrrrrr");
    hx_table_add_words(&table, "||elements|S1 GB/s|of copy|S2|of copy|S3 atomic|of copy|"
                               "S3 separate|of copy|S3 gather|of copy");
    for (int i = 0; i < n; i++) {
        if (!hx_bench_stages_is_measured(&s[i])) continue;
        add_mesh(&table, &s[i].plan);
        add_rate(&table, s[i].s1_bytes, s[i].s1, bench->shared.copy);
        add_rate(&table, s[i].s2_bytes, s[i].s2.median, bench->shared.copy);
        add_rate(&table, s[i].s3_bytes, hx_bench_stages_fill(&s[i], HX_FILL_ATOMIC),
                 bench->shared.copy);
        add_rate(&table, s[i].s3_bytes, hx_bench_stages_fill(&s[i], HX_FILL_SEPARATE),
                 bench->shared.copy);
        add_rate(&table, s[i].s3_bytes, hx_bench_stages_fill(&s[i], HX_FILL_GATHER),
                 bench->shared.copy);
    }
    hx_bench_end_table(&table);
    hx_log_info("  effective: data that a stage must read and write once: mesh in, pattern out; "
                "pattern in, indices out;\n"
                "  mesh in, values out. The figures print no numbers; P2 finds the lowest "
                "bandwidth in its preprocessor.");
}

/* Smallest and largest ratio of two fills for an element; returns 0 if none was measured. */
static int ratio_range(const hx_bench_stages *s, int n, hx_bench_element element, hx_fill above,
                       hx_fill below, double range[2])
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        const double ratio =
            hx_bench_stages_fill(&s[i], above) / hx_bench_stages_fill(&s[i], below);
        if (s[i].plan.element != element || isnan(ratio)) continue;
        range[0] = found ? fmin(range[0], ratio) : ratio;
        range[1] = found ? fmax(range[1], ratio) : ratio;
        found = 1;
    }
    return found;
}

static void conclude(const hx_bench_stages *s, int n)
{
    double range[2] = {0.0, 0.0};
    int n_answer = 0;
    hx_log_info(
        "  separate / same: 1.7 to 2.5 in the abstract of P2 (same is faster by 70 to 150 %%), "
        "below 1 in its\n"
        "  section 5.2 (separate is faster). same relative to SharedNZ: 4 (TET4) to 6 (HEX20).");
    for (int k = 0; k < HX_BENCH_N_ELEMENT; k++) {
        const hx_bench_element element = (hx_bench_element)k;
        const char *const name = hx_bench_element_name(element);
        if (ratio_range(s, n, element, HX_FILL_SEPARATE, HX_FILL_ATOMIC, range)) {
            n_answer++;
            hx_log_info("  here, %s: separate / same is %.2f to %.2f: %s", name, range[0], range[1],
                        range[0] > 1.0   ? "same is faster, as in the abstract"
                        : range[1] < 1.0 ? "separate is faster, as in section 5.2"
                                         : "it depends on the size");
        }
        if (ratio_range(s, n, element, HX_FILL_NZ, HX_FILL_ATOMIC, range))
            hx_log_info("  here, %s: nz / same is %.2f to %.2f", name, range[0], range[1]);
    }
    if (n_answer == 0) hx_log_info("  the device lacks one of them: no comparison");
}

/* 1 if an earlier row of that element has the same note on the fill. */
static int is_said(const hx_bench_stages *s, int i, int fill)
{
    for (int k = 0; k < i; k++)
        if (s[k].plan.element == s[i].plan.element &&
            strcmp(s[k].fill[fill].note, s[i].fill[fill].note) == 0)
            return 1;
    return 0;
}

void hx_bench_print_fills(const hx_bench_stages *s, int n)
{
    hx_table table;
    hx_log_info("\nP2, same against separate kernels and against SharedNZ: values in ms\n");
    hx_table_begin(&table, "llrrrrrrrrrr");
    hx_table_add_words(&table, "||elements|same (atomic)|separate|separate / same|SharedNZ (nz)|"
                               "nz / same|colour|gather|same / gather|nz / gather");
    for (int i = 0; i < n; i++) {
        const double same = hx_bench_stages_fill(&s[i], HX_FILL_ATOMIC);
        const double gather = hx_bench_stages_fill(&s[i], HX_FILL_GATHER);
        if (!hx_bench_stages_is_measured(&s[i])) continue;
        add_mesh(&table, &s[i].plan);
        hx_bench_add_ms(&table, same);
        hx_bench_add_ms(&table, hx_bench_stages_fill(&s[i], HX_FILL_SEPARATE));
        hx_bench_add(&table, 3, hx_bench_stages_fill(&s[i], HX_FILL_SEPARATE) / same, "");
        hx_bench_add_ms(&table, hx_bench_stages_fill(&s[i], HX_FILL_NZ));
        hx_bench_add(&table, 3, hx_bench_stages_fill(&s[i], HX_FILL_NZ) / same, "");
        hx_bench_add_ms(&table, hx_bench_stages_fill(&s[i], HX_FILL_COLOUR));
        hx_bench_add_ms(&table, gather);
        hx_bench_add(&table, 3, same / gather, "");
        hx_bench_add(&table, 3, hx_bench_stages_fill(&s[i], HX_FILL_NZ) / gather, "");
    }
    hx_bench_end_table(&table);
    for (int i = 0; i < n; i++)
        for (int fill = 0; fill < HX_N_FILL; fill++)
            if (s[i].fill[fill].note[0] && !is_said(s, i, fill))
                hx_log_info("  %s, %s: left out: %s", hx_bench_element_name(s[i].plan.element),
                            hx_fill_kinds[fill].name, s[i].fill[fill].note);
    conclude(s, n);
}

void hx_bench_print_shares(const hx_bench_stages *s, int n)
{
    hx_table table;
    hx_log_info("\n"
                "P2, fraction of generation in the solution of K u = f: 30 to 45 %% in P2\n");
    hx_table_begin(&table, "rrrrrrrr");
    hx_table_add_words(&table, "elements|generation ms|jacobi, iterations|PCG s|share|"
                               "block-jacobi, iterations|PCG s|share");
    for (int i = 0; i < n; i++) {
        const double made = hx_bench_stages_sum(&s[i], HX_FILL_GATHER);
        if (!hx_bench_stages_is_measured(&s[i])) continue;
        hx_bench_add_count(&table, s[i].plan.n_elem);
        hx_bench_add_ms(&table, made);
        for (int k = 0; k < HX_BENCH_N_SOLVE; k++) {
            const hx_bench_solve *solve = &s[i].solve[k];
            hx_table_add(&table, solve->iterations == 0 ? "-" : "%d%s", solve->iterations,
                         solve->converged ? "" : ", not converged");
            hx_bench_add(&table, 4, solve->seconds, "");
            hx_bench_add(&table, 3, 100.0 * made / (made + solve->seconds), " %");
        }
    }
    hx_bench_end_table(&table);
    hx_log_info("  generation: S1, S2 and S3 by gather with its preparation, allocation included; "
                "PCG from zero to 1e-6\n"
                "  in double precision with operator bsr, a cube held at one side and pulled at "
                "the other. P2: CG of\n"
                "  CUSP, with a tolerance that is not stated.");
}

void hx_bench_print_left_out(const hx_bench_stages *s, int n)
{
    char count[32];
    for (int i = 0; i < n; i++)
        if (s[i].note[0])
            hx_log_info("  %s of %s %s left out: %s", hx_bench_shape_name(s[i].plan.shape),
                        hx_format_count(s[i].plan.n_elem, count, sizeof count),
                        hx_bench_element_name(s[i].plan.element), s[i].note);
}
