#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/names.h"
#include "matrix_job.h"

/* The index of the word among `valid`, which ends with NULL. */
static int read_word(const char *option, const char *text, const char *(*valid)(size_t i),
                     int *index)
{
    const char *name[8];
    char hint[256];
    size_t n = 0;
    for (; valid(n); n++) {
        name[n] = valid(n);
        if (strcmp(text, name[n]) != 0) continue;
        *index = (int)n;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "%s '%s' is unknown%s", option, text,
                    hx_name_hint(text, name, n, hint, sizeof hint));
}

static const char *supports_word(size_t i)
{
    static const char *const word[] = {"keep", "eliminate", NULL};
    return word[i];
}

static const char *order_word(size_t i)
{
    static const char *const word[] = {"file", "curve", NULL};
    return word[i];
}

static const char *build_word(size_t i)
{
    return hx_build_name((hx_build)i);
}

static const char *bench_word(size_t i)
{
    static const char *const word[] = {"all", NULL};
    return word[i];
}

/* Reads --bench, which only measures; options for files are therefore refused. */
static int read_bench(hx_matrix_plan *plan, const hx_options *options)
{
    static const int other[] = {HX_MATRIX_OUTPUT,    HX_MATRIX_RHS,      HX_MATRIX_FIXED,
                                HX_MATRIX_NEAR_NULL, HX_MATRIX_SUPPORTS, HX_MATRIX_LOWER,
                                HX_MATRIX_MEMORY,    HX_MATRIX_BUILD,    HX_MATRIX_FILL};
    const char *const text = hx_option_text(options, HX_MATRIX_BENCH);
    int index = 0;
    if (!text) return HX_OK;
    /* A table of a paper, which only a program of the tests makes. */
    static const char *const paper[] = {"papers", "p2", "p3", "p4", "p5"};
    for (size_t i = 0; i < sizeof paper / sizeof paper[0]; i++)
        if (strcmp(text, paper[i]) == 0)
            return HX_RAISE(HX_EINPUT,
                            "--bench %s: the tables of papers are printed by another program, "
                            "which is built with -Dtests=true: "
                            "`build/tests/bench/paperbench %s%s%s`",
                            text, plan->config, i > 0 ? " --papers " : "", i > 0 ? text : "");
    HX_TRY(read_word("--bench", text, bench_word, &index));
    plan->bench = 1;
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        if (hx_option_given(options, other[i]))
            return HX_RAISE(HX_EINPUT, "%s has no effect with --bench %s: leave it out",
                            options->command->option[other[i]].name, text);
    if (!hx_option_given(options, HX_MATRIX_ORDER)) plan->curve = 1;
    return HX_OK;
}

static int read_memory(const char *text, double *bytes)
{
    char *end = NULL;
    *bytes = (double)NAN;
    if (!text) return HX_OK;
    *bytes = strtod(text, &end);
    if (end != text && *end == '\0' && *bytes > 0.0 && isfinite(*bytes)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "--memory '%s' is not a number of bytes above 0, such as 2e9", text);
}

static int read_output(hx_matrix_plan *plan)
{
    const hx_matrix_format *format = NULL;
    if (plan->lower && !plan->output && isnan(plan->memory))
        return HX_RAISE(HX_EINPUT, "--lower writes one half of K and needs -o FILE or --memory; it "
                                   "does not change the other files");
    if (plan->lower) plan->half = HX_HALF_LOWER;
    if (!plan->output) return HX_OK;
    HX_TRY(hx_matrix_format_find(plan->output, &format));
    if (plan->lower) plan->half = format->half;
    return plan->curve ? hx_matrix_name_order(plan) : HX_OK;
}

int hx_matrix_plan_read(hx_matrix_plan *plan, const hx_options *options)
{
    plan->config = options->argument[0];
    plan->output = hx_option_text(options, HX_MATRIX_OUTPUT);
    plan->rhs = hx_option_text(options, HX_MATRIX_RHS);
    plan->fixed = hx_option_text(options, HX_MATRIX_FIXED);
    plan->near_null = hx_option_text(options, HX_MATRIX_NEAR_NULL);
    const char *const named = hx_option_text(options, HX_MATRIX_DENSITY);
    if (named) {
        HX_TRY(hx_result_locate(&plan->result, named));
        plan->density = plan->result.file;
    }
    plan->lower = hx_option_given(options, HX_MATRIX_LOWER);
    int build = 0;
    HX_TRY(read_word("--supports", hx_option_text(options, HX_MATRIX_SUPPORTS), supports_word,
                     &plan->eliminate));
    HX_TRY(
        read_word("--order", hx_option_text(options, HX_MATRIX_ORDER), order_word, &plan->curve));
    HX_TRY(read_word("--build", hx_option_text(options, HX_MATRIX_BUILD), build_word, &build));
    plan->build = (hx_build)build;
    plan->fill = hx_option_text(options, HX_MATRIX_FILL);
    HX_TRY(read_memory(hx_option_text(options, HX_MATRIX_MEMORY), &plan->memory));
    if (!isnan(plan->memory) && strcmp(plan->fill, "gather") != 0)
        return HX_RAISE(HX_EINPUT, "--memory needs --fill gather: '%s' allocates its own memory",
                        plan->fill);
    HX_TRY(read_bench(plan, options));
    HX_TRY(read_output(plan));
    return hx_matrix_check_names(plan);
}

void hx_matrix_plan_free(hx_matrix_plan *plan)
{
    free(plan->order_file);
    hx_result_path_free(&plan->result);
    memset(plan, 0, sizeof *plan);
}
