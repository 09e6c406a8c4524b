/* Items of which each process has some for each other one: once, in blocks, so that no second copy
 * of all of them is made. Through host memory. */
#ifndef HX_TEAM_TRADE_H
#define HX_TEAM_TRADE_H

#include "team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* in_first[size + 1] := the first item from each rank, as all say what they send: out_first[size +
 * 1]. Collective, and fails in all processes where it fails in one. O(size^2). */
int hx_team_trade_counts(const hx_team *team, const int64_t *out_first, int64_t *in_first);

/* in[in_first[size]] := what all send this process, rank after rank; out[out_first[size]] by rank;
 * items of `bytes`. Collective, and fails in all processes where it fails in one. Buffers of 8 MB
 * for each process, 128 MB at most. */
int hx_team_trade(const hx_team *team, const int64_t *out_first, const int64_t *in_first,
                  size_t bytes, const void *out, void *in);

/* The same of items that do not lie in that order: the i-th that goes is out[out_at[i]], the i-th
 * that comes becomes in[in_at[i]]. NULL: i. */
int hx_team_trade_listed(const hx_team *team, const int64_t *out_first, const int64_t *in_first,
                         size_t bytes, const void *out, const int32_t *out_at, void *in,
                         const int32_t *in_at);

#ifdef __cplusplus
}
#endif

#endif
