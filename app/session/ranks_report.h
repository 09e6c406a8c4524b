/* What the processes of a run took and hold, as text and in the summary. All are the leader's, and
 * do nothing without a team. */
#ifndef HX_RANKS_REPORT_H
#define HX_RANKS_REPORT_H

#include "../text/json.h"
#include "session.h"

/* *report: [team->size], the caller's to free; NULL without a team. */
int hx_ranks_report_take(hx_session *s, hx_ranks_report **report);

/* Logs the least, median and most over the processes. */
int hx_ranks_report_print(hx_session *s);

/* "ranks": an object for each. */
int hx_ranks_report_write(hx_session *s, hx_json *json);

#endif
