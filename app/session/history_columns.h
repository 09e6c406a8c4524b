/* The columns of history.csv that do not depend on the config, in two groups. */
#ifndef HX_HISTORY_COLUMNS_H
#define HX_HISTORY_COLUMNS_H

#include <stddef.h>

/* NULL-terminated. The columns of load cases and of the objective's kind follow the first group,
 * those of limits the last. */
extern const char *const hx_history_first[], *const hx_history_last[];

/* 1 if a file with n_case load cases has a column of that name that is no limit's. kind: of the
 * objective, if it has a column. */
int hx_history_has_column(const char *name, int n_case, const char *kind);

#endif
