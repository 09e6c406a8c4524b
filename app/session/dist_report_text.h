/* Times and memory of the processes of a run, as text and in the summary. Nothing happens with one
 * process. */
#ifndef HX_DIST_REPORT_TEXT_H
#define HX_DIST_REPORT_TEXT_H

#include "../text/json.h"
#include "session.h"

/* *report: [comm->size], which the caller frees; NULL with one process. Collective. */
int hx_dist_report_take(hx_session *s, hx_dist_report **report);

/* Logs least, median and largest values over the processes. Collective. */
int hx_dist_report_print(hx_session *s);

/* Writes "ranks": an object for each process. */
void hx_dist_report_write(const hx_session *s, const hx_dist_report *report, hx_json *json);

#endif
