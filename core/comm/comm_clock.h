/* Clocks of the ranks, which may run on several machines. */
#ifndef HX_COMM_CLOCK_H
#define HX_COMM_CLOCK_H

#include "comm.h"

HX_C_BEGIN

/* *offset: seconds by which hx_clock of the first rank is ahead of that of this rank; *width:
 * uncertainty of the offset. Both are 0 if the measurement cannot distinguish the clocks, since the
 * ranks of one machine share a clock. Collective; about 64 messages to all ranks. */
int hx_comm_clock(const hx_comm *comm, double *offset, double *width);

HX_C_END

#endif
