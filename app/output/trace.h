/* timeline.json of a run: where each process' device and host spent the time of the last designs
 * (core/device/timeline.h), for https://ui.perfetto.dev or chrome://tracing. */
#ifndef HX_TRACE_H
#define HX_TRACE_H

#include "output.h"

#define HX_TRACE_FILE "timeline.json"

/* Starts recording marks in all processes if output.timeline is set. To be called once the
 * session is open. HX_ENOMEM, HX_EENV: the device cannot record marks. */
int hx_trace_begin(hx_output *out);

/* Writes DIR/timeline.json from the recorded marks; nothing if there are none. The root writes.
 * HX_EIO. */
int hx_trace_write(hx_output *out);

/* Stops recording; call before the session is freed. Accepts NULL. */
void hx_trace_free(hx_trace *trace);

#endif
