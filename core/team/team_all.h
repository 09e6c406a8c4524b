/* The communicator behind the interface of base/all.h. */
#ifndef HX_TEAM_ALL_H
#define HX_TEAM_ALL_H

#include "../base/all.h"
#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_team_all {
    hx_all all; /* first member, so that its function can reach the rest */
    const hx_team *team;
} hx_team_all;

/* The communicator must outlive `all`. */
void hx_team_all_of(hx_team_all *all, const hx_team *team);

#ifdef __cplusplus
}
#endif

#endif
