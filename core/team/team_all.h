/* A team as base/all.h sees it. */
#ifndef HX_TEAM_ALL_H
#define HX_TEAM_ALL_H

#include "../base/all.h"
#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_team_all {
    hx_all all; /* first: its function finds the rest behind it */
    const hx_team *team;
} hx_team_all;

/* The team outlives it. */
void hx_team_all_of(hx_team_all *all, const hx_team *team);

#ifdef __cplusplus
}
#endif

#endif
