/* Memory of a team's sums, kept from one to the next. */
#ifndef HX_TEAM_INTERNAL_H
#define HX_TEAM_INTERNAL_H

#include "team.h"

/* Sums at once, and floats of a long sum that travel at once: 16 MB. */
enum { HX_TEAM_FEW = 8, HX_TEAM_BLOCK = 1 << 22 };

/* Bytes of a message that goes to all. */
enum { HX_TEAM_WHY = 2048 };

struct hx_team_work {
    double *scalars;     /* [size][HX_TEAM_FEW] */
    hx_message *message; /* [size] */
    float *out, *pieces; /* [n_float], grown to a block at most */
    size_t n_float;
};

/* For a team whose size is known; hx_team_leave frees it. HX_ENOMEM. */
int hx_team_create_work(hx_team *team);

#endif
