/* Inside of checkpoint.h: the data that a run adds to the optimizer's snapshot. */
#ifndef HX_CHECKPOINT_PARTS_H
#define HX_CHECKPOINT_PARTS_H

#include "checkpoint.h"

/* Saves, or loads, the data of the run, which the first process has, and the optimizer's.
 * Collective. */
int hx_checkpoint_put(hx_snapshot *image, const hx_checkpoint_parts *parts);
int hx_checkpoint_get(hx_snapshot *image, const hx_checkpoint_parts *parts, char **history,
                      size_t *n_history);

/* The text of that name in an image that has been read, terminated by a 0; the caller frees it. */
int hx_checkpoint_text(hx_snapshot *image, const char *name, char **text);

#endif
