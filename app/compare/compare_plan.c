#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/base/names.h"

/* Reads a whole number in [1, most]. All of the text up to `end` must belong to it. */
static int read_count(const char *text, const char *end, long most, int *value)
{
    char *after = NULL;
    const long n = strtol(text, &after, 10);
    if (after == text || after != end || n < 1 || n > most || text[0] == '+') return 0;
    *value = (int)n;
    return 1;
}

static int read_number(const char *option, const char *text, long most, int *value)
{
    if (!text || read_count(text, text + strlen(text), most, value)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s %s: expected a whole number from 1 to %ld", option, text, most);
}

static int read_operators(hx_compare_plan *plan, const char *text)
{
    const char *name[HX_COMPARE_MAX_OPERATOR];
    /* The names of all operators, each once. */
    size_t n_name = 0;
    for (size_t i = 0; hx_operator_kinds[i] && n_name < HX_COMPARE_MAX_OPERATOR; i++) {
        size_t k = 0;
        while (k < n_name && strcmp(name[k], hx_operator_kinds[i]->name) != 0) k++;
        if (k == n_name) name[n_name++] = hx_operator_kinds[i]->name;
    }

    for (const char *c = text; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL) {
        char *word = plan->operators[plan->n_operator];
        if (plan->n_operator + 1 == HX_COMPARE_MAX_OPERATOR)
            return HX_RAISE(HX_EINPUT, "--operators: more than %d names", HX_COMPARE_MAX_OPERATOR);
        snprintf(word, sizeof plan->operators[0], "%.*s", (int)strcspn(c, ","), c);
        size_t k = 0;
        while (k < n_name && strcmp(name[k], word) != 0) k++;
        /* This build does not have the operator. */
        if (k == n_name) {
            char hint[512];
            int substituted;
            const hx_operator_kind *other = hx_operator_kind_resolve("cpu", word, &substituted);
            if (other)
                return HX_RAISE(
                    HX_EINPUT,
                    "--operators: '%s' needs a GPU, and this hextop was built without CUDA; on "
                    "a CPU name '%s' instead",
                    word, other->name);
            return HX_RAISE(HX_EINPUT, "--operators: unknown '%s'%s", word,
                            hx_name_hint(word, name, n_name, hint, sizeof hint));
        }
        plan->n_operator++;
    }
    return HX_OK;
}

/* Reads a size such as "3", or counts such as "16x8x8"; the x distinguishes them. */
static int read_size(const char *text, size_t n, hx_compare_size *size)
{
    int *const count[] = {&size->nx, &size->ny, &size->nz};
    const char *end = text + n;
    memset(size, 0, sizeof *size);
    if (!memchr(text, 'x', n)) return read_count(text, end, 5, &size->size);
    for (int i = 0; i < 3; i++) {
        const char *x = memchr(text, 'x', (size_t)(end - text));
        if (!read_count(text, x ? x : end, 100000, count[i])) return 0;
        if (!x) return 1;
        text = x + 1;
    }
    return 0;
}

int hx_compare_plan_read(hx_compare_plan *plan, const hx_options *options)
{
    const char *const sizes = hx_option_text(options, HX_COMPARE_SIZES);
    memset(plan, 0, sizeof *plan);
    plan->paper = hx_option_given(options, HX_COMPARE_PAPER);
    plan->all_devices = hx_option_given(options, HX_COMPARE_ALL_DEVICES);
    plan->pcg = !hx_option_given(options, HX_COMPARE_NO_PCG);
    plan->output = hx_option_text(options, HX_COMPARE_OUTPUT);
    HX_TRY(read_number("--repeats", hx_option_text(options, HX_COMPARE_REPEATS), 100000,
                       &plan->repeats));
    HX_TRY(read_number("--iterations", hx_option_text(options, HX_COMPARE_ITERATIONS), 2147483647L,
                       &plan->iterations));
    HX_TRY(read_operators(plan, hx_option_text(options, HX_COMPARE_OPERATORS)));
    for (const char *c = sizes         ? sizes
                         : plan->paper ? "1,2,3,4,5"
                                       : NULL;
         c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL) {
        const size_t n = strcspn(c, ",");
        if (plan->n_size == HX_COMPARE_MAX_SIZE)
            return HX_RAISE(HX_EINPUT, "--sizes: more than %d", HX_COMPARE_MAX_SIZE);
        if (!read_size(c, n, &plan->size[plan->n_size++]))
            return HX_RAISE(HX_EINPUT,
                            "--sizes: '%.*s' is not a size; give sizes 1 to 5 of the generator, or "
                            "element counts such as 16x8x8: --sizes 1,2,320x160x160",
                            (int)n, c);
        for (size_t i = 0; i + 1 < plan->n_size; i++)
            if (memcmp(&plan->size[i], &plan->size[plan->n_size - 1], sizeof plan->size[i]) == 0)
                return HX_RAISE(HX_EINPUT, "--sizes: '%.*s' is given twice", (int)n, c);
    }
    if (plan->paper && !plan->pcg)
        return HX_RAISE(HX_EINPUT, "--paper compares PCG; leave --no-pcg out");
    if (!plan->paper && sizes)
        return HX_RAISE(HX_EINPUT,
                        "--sizes needs --paper; a single mesh is selected by mesh.size=%s", sizes);
    return HX_OK;
}

int hx_compare_plan_includes(const hx_compare_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_operator; i++)
        if (strcmp(plan->operators[i], name) == 0) return 1;
    return plan->n_operator == 0;
}
