/* Scratch memory for sums over the ranks, kept from one sum to the next. */
#ifndef HX_TEAM_INTERNAL_H
#define HX_TEAM_INTERNAL_H

#include "team.h"

/* Largest number of sums at once, and of floats of a long sum that are sent at once (16 MB). */
enum { HX_TEAM_FEW = 8, HX_TEAM_BLOCK = 1 << 22 };

/* Size of an error message that goes to all ranks, in bytes. */
enum { HX_TEAM_WHY = 2048 };

struct hx_team_work {
    double *scalars;     /* [size][HX_TEAM_FEW] */
    hx_message *message; /* [size] */
    float *out, *pieces; /* [n_float], at most one block */
    size_t n_float;
};

/* Allocates team->work for a communicator of known size; hx_team_leave frees it. HX_ENOMEM. */
int hx_team_create_work(hx_team *team);

#endif
