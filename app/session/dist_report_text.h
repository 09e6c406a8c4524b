/* Times and memory of the processes of a run, as text and in the summary. Called on process 0;
 * nothing happens with one process. */
#ifndef HX_DIST_REPORT_TEXT_H
#define HX_DIST_REPORT_TEXT_H

#include "../text/json.h"
#include "session.h"

/* Logs least, median and largest values over the processes. */
int hx_dist_report_print(hx_session *s);

/* Writes "ranks": an object for each process. */
int hx_dist_report_write(hx_session *s, hx_json *json);

#endif
