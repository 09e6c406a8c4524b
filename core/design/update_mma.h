/* What the updates `mma` and `gcmma` have in common. Not installed. */
#ifndef HX_UPDATE_MMA_H
#define HX_UPDATE_MMA_H

#include "mma.h"
#include "update.h"

typedef struct hx_update_mma_state {
    hx_mma method;
    double *d_state;  /* [n_elem] asymptotes (owned) */
    double objective; /* scale of the objective, the same in all designs; 0: not yet known */
} hx_update_mma_state;

/* Accept a zeroed state. */
int hx_update_mma_open(hx_update *update, hx_update_mma_state *state);
void hx_update_mma_close(hx_update *update, hx_update_mma_state *state);

/* Sets the scaled problem about the analysed design. */
int hx_update_mma_describe(hx_update *update, const hx_update_step *step,
                           hx_update_mma_state *state);

/* The next designs begin with the first asymptotes. */
int hx_update_mma_forget(hx_update *update, hx_update_mma_state *state);

int hx_update_mma_snapshot(hx_update *update, hx_update_mma_state *state, hx_snapshot *image);

#endif
