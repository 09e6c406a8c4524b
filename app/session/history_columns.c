#include "history_columns.h"

#include <stdio.h>
#include <string.h>

const char *const hx_history_first[] = {"iteration",    "compliance", "volume",
                                        "change",       "greyness",   "pcg_iterations",
                                        "pcg_residual", "seconds",    NULL};

const char *const hx_history_last[] = {"seconds_pcg",
                                       "seconds_spmv",
                                       "seconds_preconditioner",
                                       "seconds_vector",
                                       "seconds_compliance",
                                       "seconds_filter",
                                       "seconds_update",
                                       "seconds_output",
                                       "penalty",
                                       "beta",
                                       "pcg_error",
                                       "objective",
                                       "kkt",
                                       NULL};

static int is_among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0) return 1;
    return 0;
}

int hx_history_has_column(const char *name, int n_case, const char *kind)
{
    static const char *const of_case[] = {"compliance", "pcg_iterations", NULL};
    char column[64];
    if (is_among(name, hx_history_first) || is_among(name, hx_history_last)) return 1;
    if (kind && strcmp(name, kind) == 0) return 1;
    for (int c = 1; c <= n_case; c++)
        for (int i = 0; of_case[i]; i++) {
            snprintf(column, sizeof column, "%s_case%d", of_case[i], c);
            if (strcmp(name, column) == 0) return 1;
        }
    return 0;
}
