/* The largest stresses in zones without stress limits, for the last lines of a run. */
#ifndef HX_ZONE_STRESSES_H
#define HX_ZONE_STRESSES_H

#include "../session/session.h"

/* *value := [limits.n] the largest stress of each limit on stresses in the zones of the last design
 * that was solved, whose elements there are solid; 0: another limit, only passive void in the
 * zones, or a device of a process lacks the memory to find it; NULL: there are no zones. The caller frees it. Collective; errors are those
 * of this process. O(n_elem) per limit and zone. */
int hx_zone_stresses(hx_session *s, double **value);

/* Prints a line per limit. */
void hx_zone_stresses_print(const hx_session *s, const double *value);

#endif
