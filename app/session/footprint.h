/* What a run holds in memory: at least so much, before there is a mesh; item by item afterwards. */
#ifndef HX_FOOTPRINT_H
#define HX_FOOTPRINT_H

#include "../text/json.h"
#include "session.h"

/* Host bytes an element that a run of this config needs besides its mesh, at least: problem,
 * first densities, and if no device but the CPU is possible the operator, the solver's vectors, the
 * densities and the filter. Starts no driver. */
double hx_footprint_planned(const hx_config *cfg);

/* HX_ENOMEM with both numbers if what the run needs is not available beside the mesh that was made.
 */
int hx_footprint_check(const hx_session *s);

/* A line for each item: bytes and bytes an element; with -q or, if `detail`, without -v nothing. */
void hx_footprint_print(const hx_session *s, const hx_account *account, int detail);

/* Adds "device_items": bytes and bytes an element of each. */
void hx_footprint_write(const hx_session *s, hx_json *json);

#endif
