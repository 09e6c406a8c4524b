/* summary.json: what a run was, what it found, and where the time went. */
#ifndef HX_SUMMARY_H
#define HX_SUMMARY_H

#include "../session/session.h"
#include "stats.h"

/* status: "done", "interrupted" or "failed". Needs at least one iteration. HX_EIO. */
int hx_summary_write(hx_session *s, const hx_stats *stats, const char *status, const char *path);

/* Adds the object "versions". */
void hx_summary_write_versions(hx_json *json);

#endif
