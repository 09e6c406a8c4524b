/* P2, Tables 2 and 4: the steps of its preprocessor, beside those of a pattern here. */
#include <math.h>
#include <string.h>

#include "app/text/log.h"
#include "core/base/names.h"
#include "paper_stages.h"

typedef struct preprocessed {
    hx_bench_plan plan;
    hx_steps steps;
    double in_steps;
    hx_bench_time call;
    char note[192];
} preprocessed;

/* Names of the steps here, and functions of P2 that do the same. */
typedef struct same_step {
    const char *ours, *text;
    int first, n; /* range in hx_p2_function */
} same_step;

enum { N_SAME = 5 };
static const same_step same_steps[N_SAME] = {
    {"count", "count", 0, 1},
    {"scan", "scan", 1, 1},
    {"fill", "fill", 2, 1},
    {"neighbours", "neighbours (4 functions)", 3, 4},
    {"offsets", "offsets (scan)", 7, 1},
};

/* Sum of all steps with that name; NaN: there is none. */
static double step_seconds(const preprocessed *p, const char *name)
{
    double sum = 0.0;
    int n = 0;
    for (int k = 0; k < p->steps.n; k++) {
        if (strcmp(p->steps.step[k].name, name) != 0) continue;
        sum += p->steps.step[k].seconds;
        n++;
    }
    return n > 0 ? sum : (double)NAN;
}

static double sum_of(const double *seconds, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += seconds[i];
    return sum;
}

/* Sum of the steps that belong to other stages in P2. */
static double rest_seconds(const preprocessed *p)
{
    double rest = p->in_steps;
    for (int i = 0; i < N_SAME; i++) {
        const double seconds = step_seconds(p, same_steps[i].ours);
        if (!isnan(seconds)) rest -= seconds;
    }
    return p->call.n > 0 ? fmax(rest, 0.0) : (double)NAN;
}

static int preprocess_part(const hx_paper_bench *bench, const hx_bench_part *part, preprocessed *p)
{
    const hx_form form = {.kind = HX_FORM_CONDUCTION};
    hx_bench_site site = {0};
    hx_bench_pattern pattern = {0};
    int rc;
    HX_TRY_FAIL(hx_bench_site_open(&site, bench->shared.dev, &part->space, form, NULL));
    HX_TRY_FAIL(hx_bench_pattern_make(&pattern, &site, HX_BUILD_THREE_STAGE, HX_PART_FULL, 0));
    p->steps = pattern.steps;
    p->in_steps = pattern.in_steps;
    p->call = pattern.call;
fail:
    hx_bench_pattern_free(&pattern);
    hx_bench_site_close(&site);
    return rc;
}

static int preprocess(const hx_paper_bench *bench, preprocessed *p)
{
    hx_bench_part part;
    if (hx_bench_plan_size(&p->plan) > (double)bench->most) return HX_OK;
    if (hx_log_is_terminal())
        hx_log_status("P2, preprocessor: %s, %lld %s", hx_bench_element_name(p->plan.element),
                      (long long)p->plan.n_point, hx_noun(p->plan.n_point, "point", "points"));
    int rc = hx_bench_part_make(&part, &p->plan);
    if (rc == HX_OK) {
        rc = preprocess_part(bench, &part, p);
        hx_bench_part_free(&part);
    }
    return hx_bench_is_left_out(rc, p->note, sizeof p->note) ? HX_OK : rc;
}

static void print_preprocessor(const hx_paper_bench *bench, const preprocessed *ours,
                               hx_bench_element element)
{
    char count[32];
    hx_table table;
    hx_log_info("\n"
                "P2 (Sanfui and Sharma, Tesla K40c), Tables 2 and 4: the preprocessor in ms, "
                "beside that on %s\n",
                hx_bench_element_name(element));
    hx_table_begin(&table, "lrrrrrrrrrrrr");
    hx_table_add(&table, "step");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "%s", hx_p2_meshes[i].name);
        hx_bench_add_count(&table, ours[i].plan.n_point);
    }
    for (int k = 0; k < N_SAME; k++) {
        const same_step *step = &same_steps[k];
        hx_table_add(&table, "%s", step->text);
        for (int i = 0; i < HX_P2_N_MESH; i++) {
            hx_bench_add_ms(&table, sum_of(hx_p2_meshes[i].seconds + step->first, step->n));
            hx_bench_add_ms(&table, step_seconds(&ours[i], step->ours));
        }
    }
    hx_table_add(&table, "columns, slots");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "-");
        hx_bench_add_ms(&table, rest_seconds(&ours[i]));
    }
    hx_table_add(&table, "all");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_bench_add_ms(&table, sum_of(hx_p2_meshes[i].seconds, HX_P2_N_FUNCTION));
        hx_bench_add_ms(&table, ours[i].in_steps);
    }
    hx_table_add(&table, "whole call");
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        hx_table_add(&table, "-");
        hx_bench_add_ms(&table, ours[i].call.median);
    }
    hx_bench_end_table(&table);
    hx_log_info("  P2: its own cylinder and rod, whose meshes are not available and whose elements "
                "are not stated;\n"
                "  here: %s with the nearest number of nodes, in the solver's order.\n"
                "  neighbours: scan, initializeNodeNum, fillNodeNum and thrustDynamicSort of P2. "
                "Columns and slots\n"
                "  belong to stages 2 and 3 of P2.",
                element == HX_BENCH_HEX8 ? "cubes"
                                         : "a hollow cylinder and a connecting rod made here");
    for (int i = 0; i < HX_P2_N_MESH; i++)
        if (ours[i].note[0])
            hx_log_info("  %s nodes left out: %s",
                        hx_format_count(ours[i].plan.n_point, count, sizeof count), ours[i].note);
    hx_bench_say_limit(bench);
}

/* hex8 on cubes, other elements on the shapes of P2. */
static int plan_steps(hx_bench_plan *plan, hx_bench_element element, int i)
{
    const hx_bench_shape own = i < 3 ? HX_BENCH_CYLINDER : HX_BENCH_ROD;
    return hx_bench_plan_make(plan, element == HX_BENCH_HEX8 ? HX_BENCH_CUBE : own, element, 0,
                              hx_p2_meshes[i].n_node);
}

static int bench_element(const hx_paper_bench *bench, hx_bench_element element)
{
    preprocessed ours[HX_P2_N_MESH];
    for (int i = 0; i < HX_P2_N_MESH; i++) {
        int same = 0; /* 1: the row has the same mesh */
        ours[i] = (preprocessed){.in_steps = (double)NAN, .call = hx_bench_no_time};
        HX_TRY(plan_steps(&ours[i].plan, element, i));
        while (same < i && !hx_bench_plan_is_same(&ours[same].plan, &ours[i].plan)) same++;
        if (same < i)
            ours[i] = ours[same];
        else
            HX_TRY(preprocess(bench, &ours[i]));
    }
    if (!hx_bench_is_quiet()) print_preprocessor(bench, ours, element);
    return HX_OK;
}

int hx_bench_p2_steps(hx_paper_bench *bench)
{
    HX_TRY(bench_element(bench, HX_BENCH_HEX8));
    return bench_element(bench, HX_BENCH_HEX20);
}
