/* What the terminal shows of a run: the header, a line per iteration. */
#ifndef HX_PROGRESS_H
#define HX_PROGRESS_H

#include "setup.h"
#include "stats.h"

void hx_progress_header(const hx_session *s);

/* A rewritten line on a terminal, one plain line an iteration otherwise. */
void hx_progress_iteration(const hx_session *s, const hx_stats *stats, const hx_iteration *it);

#endif
