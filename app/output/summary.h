/* summary.json: what a run was, what it found, and where the time went. */
#ifndef HX_SUMMARY_H
#define HX_SUMMARY_H

#include "../doubt/doubt.h"
#include "stats.h"

/* status: "done", "interrupted" or "failed". Needs at least one iteration; where the step after it
 * failed, or the device is lost, without what only the device has of it (cases, the density's
 * hash). HX_EIO. */
int hx_summary_write(hx_session *s, const hx_stats *stats, const hx_doubts *doubts,
                     const char *status, const char *path);

/* The same into an open stream, whose errors are the caller's. */
int hx_summary_print(hx_session *s, const hx_stats *stats, const hx_doubts *doubts,
                     const char *status, FILE *stream);

/* Adds the object "versions". */
void hx_summary_write_versions(hx_json *json);

#endif
