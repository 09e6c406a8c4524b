/* timeline.json of a run: how the device and host of each process spent the time of the last
 * designs (core/device/timeline.h), for https://ui.perfetto.dev or chrome://tracing. */
#ifndef HX_TRACE_H
#define HX_TRACE_H

#include "output.h"

#define HX_TRACE_FILE "timeline.json"

/* If output.timeline is set, starts recording marks in all processes. Called by the root once the
 * session is open. HX_ENOMEM, HX_EENV: the device cannot record marks. */
int hx_trace_begin(hx_output *out);

/* Writes DIR/timeline.json from the recorded marks; nothing if there are none. The root writes.
 * HX_EIO. */
int hx_trace_write(hx_output *out);

/* Stops recording; call before the session is freed. Accepts NULL. */
void hx_trace_free(hx_trace *trace);

#endif
