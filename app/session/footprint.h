/* Memory of a run: a lower bound before there is a mesh, and item by item afterwards. */
#ifndef HX_FOOTPRINT_H
#define HX_FOOTPRINT_H

#include "../text/json.h"
#include "session.h"

/* Lower bound of the host bytes per element that a run of this config needs besides its mesh:
 * problem, initial densities and, if only the CPU is possible, operator, vectors of the solver,
 * densities and filter. Starts no driver. */
double hx_footprint_planned(const hx_config *cfg);

/* HX_ENOMEM, with both numbers, if the memory that the run needs besides the mesh is not
 * available. */
int hx_footprint_check(const hx_session *s);

/* Prints a line for each item: bytes and bytes per element. Prints nothing with -q or, if `detail`,
 * without -v. */
void hx_footprint_print(const hx_session *s, const hx_account *account, int detail);

/* Adds "device_items": bytes and bytes per element of each. */
void hx_footprint_write(const hx_session *s, hx_json *json);

#endif
