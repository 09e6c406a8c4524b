/* summary.json: the settings of a run, its result, and where the time went. */
#ifndef HX_SUMMARY_H
#define HX_SUMMARY_H

#include "../diag/diag.h"
#include "stats.h"

/* status: "done", "interrupted" or "failed". Needs at least one iteration. If the step after it
 * failed, or the device is lost, values that only the device has (cases, the hash of the densities)
 * are left out. HX_EIO. Collective. */
int hx_summary_write(hx_session *s, const hx_stats *stats, const hx_diags *diags,
                     const char *status, const char *path);

/* Writes the summary to an open stream, whose errors the caller checks. */
int hx_summary_print(hx_session *s, const hx_stats *stats, const hx_diags *diags,
                     const char *status, FILE *stream);

/* Adds the object "versions". */
void hx_summary_write_versions(hx_json *json);

#endif
