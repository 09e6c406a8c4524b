/* The clocks of a team's processes, which may be those of several machines. */
#ifndef HX_TEAM_CLOCK_H
#define HX_TEAM_CLOCK_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* *offset: seconds that the first process' hx_clock is ahead of this one's, now; *width: by which
 * it may be off. Both are 0 where nothing tells the two apart: on one machine they are one clock.
 * Collective; some 64 messages to all. */
int hx_team_clock(const hx_team *team, double *offset, double *width);

#ifdef __cplusplus
}
#endif

#endif
