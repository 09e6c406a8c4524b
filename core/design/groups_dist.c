#include "groups_dist.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"

static const char what[] = "linked variables of several ranks";

/* Elements [first, last) of a rank. */
typedef struct run {
    int64_t first, last;
} run;

static run run_of(const hx_subdomain *subdomain, int rank)
{
    return (run){subdomain->first[rank], subdomain->first[rank + 1]};
}

static int in_run(const run *r, int64_t elem)
{
    return elem >= r->first && elem < r->last;
}

/* Number of a group's members in a run. */
static int64_t count_in(const hx_groups *groups, int64_t g, const run *r)
{
    int64_t n = 0;
    for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
        n += in_run(r, groups->member[m]);
    return n;
}

/* place[n_elem of the whole] := number of an element here: own ones first, then the members of
 * other ranks that share a group with them, ascending; -1: none. n_in[]: their number per rank. */
static void number_members(const hx_groups *groups, const hx_dist *dist, int32_t *place,
                           int64_t *n_in)
{
    const hx_subdomain *const subdomain = &dist->subdomain;
    const run own = run_of(subdomain, dist->comm->rank);
    const int64_t n_elem = subdomain->whole->mesh->n_elem;
    int64_t next = own.last - own.first;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) place[e] = in_run(&own, e) ? (int32_t)(e - own.first) : -1;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups->n_group; g++) {
        if (count_in(groups, g, &own) == 0) continue;
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            if (!in_run(&own, groups->member[m])) place[groups->member[m]] = 0;
    }
    for (int r = 0; r < dist->comm->size; r++) {
        const run of = run_of(subdomain, r);
        if (r == dist->comm->rank) continue;
        for (int64_t e = of.first; e < of.last; e++) {
            if (place[e] < 0) continue;
            place[e] = (int32_t)next++;
            n_in[r]++;
        }
    }
}

/* Appends the own members of groups that also have members in a rank's run; is_out[own]:
 * scratch. */
static int list_shared_members(const hx_groups *groups, const run *own, const run *of,
                               uint8_t *is_out, int64_t **out, int64_t *n_out)
{
    const int64_t n_own = own->last - own->first;
    int64_t n = *n_out;
    memset(is_out, 0, (size_t)n_own);
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups->n_group; g++) {
        if (count_in(groups, g, of) == 0) continue;
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            if (in_run(own, groups->member[m])) is_out[groups->member[m] - own->first] = 1;
    }
    for (int64_t e = 0; e < n_own; e++) n += is_out[e];
    HX_TRY(hx_resize_raw(out, (size_t)*n_out, (size_t)n, sizeof **out, what));
    for (int64_t e = 0; e < n_own; e++)
        if (is_out[e]) (*out)[(*n_out)++] = e;
    return HX_OK;
}

static int create_halo(hx_halo **halo, hx_dist *dist, const hx_groups *groups, const int64_t *n_in)
{
    const run own = run_of(&dist->subdomain, dist->comm->rank);
    int64_t *n_out = NULL, *out = NULL, n = 0;
    uint8_t *is_out = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&n_out, (size_t)dist->comm->size, sizeof *n_out, what));
    HX_TRY_FAIL(hx_alloc_raw(&is_out, (size_t)(own.last - own.first), 1, what));
    for (int r = 0; r < dist->comm->size; r++) {
        const run of = run_of(&dist->subdomain, r);
        const int64_t before = n;
        if (n_in[r] > 0) HX_TRY_FAIL(list_shared_members(groups, &own, &of, is_out, &out, &n));
        n_out[r] = n - before;
    }
    rc = hx_halo_create(halo, dist, n_out, out, n_in, 2);
fail:
    free(n_out);
    free(out);
    free(is_out);
    return rc;
}

/* The groups with own elements, in the numbers of place[]. */
static int list_own(hx_groups *own, const hx_groups *groups, const run *of, const int32_t *place)
{
    int64_t g = 0, n = 0;
    for (int64_t k = 0; k < groups->n_group; k++) {
        if (count_in(groups, k, of) == 0) continue;
        own->n_group++;
        own->n_member += groups->start[k + 1] - groups->start[k];
    }
    HX_TRY(hx_alloc(&own->start, (size_t)own->n_group + 1, sizeof *own->start, what));
    HX_TRY(hx_alloc_raw(&own->member, (size_t)own->n_member, sizeof *own->member, what));
    for (int64_t k = 0; k < groups->n_group; k++) {
        if (count_in(groups, k, of) == 0) continue;
        for (int64_t m = groups->start[k]; m < groups->start[k + 1]; m++)
            own->member[n++] = place[groups->member[m]];
        own->start[++g] = (int32_t)n;
    }
    return HX_OK;
}

int hx_groups_take_own(hx_groups *own, hx_halo **halo, hx_dist *dist, const hx_groups *groups)
{
    const run of = run_of(&dist->subdomain, dist->comm->rank);
    int32_t *place = NULL;
    int64_t *n_in = NULL;
    int rc;
    memset(own, 0, sizeof *own);
    *halo = NULL;
    HX_TRY_FAIL(
        hx_alloc_raw(&place, (size_t)dist->subdomain.whole->mesh->n_elem, sizeof *place, what));
    HX_TRY_FAIL(hx_alloc(&n_in, (size_t)dist->comm->size, sizeof *n_in, what));
    number_members(groups, dist, place, n_in);
    HX_TRY_FAIL(list_own(own, groups, &of, place));
    rc = create_halo(halo, dist, groups, n_in);
fail:
    free(place);
    free(n_in);
    if (rc < 0) hx_groups_free(own);
    return rc;
}

size_t hx_groups_rank_bytes(const hx_groups *groups, const hx_subdomain *subdomain, int n_rank,
                            int rank)
{
    const run own = run_of(subdomain, rank);
    int64_t n_group = 0, n_member = 0, n_beyond = 0, n_out = 0;
    if (groups->n_group == 0) return 0;
#pragma omp parallel for schedule(static) reduction(+ : n_group, n_member, n_beyond, n_out)
    for (int64_t g = 0; g < groups->n_group; g++) {
        const int64_t here = count_in(groups, g, &own), n = groups->start[g + 1] - groups->start[g],
                      there = n - here;
        if (here == 0) continue;
        n_group++;
        n_member += n;
        n_beyond += there;
        n_out += here * (there < n_rank - 1 ? there : n_rank - 1);
    }
    return (size_t)(n_group + 1 + n_member) * sizeof(int32_t) +
           2 * (size_t)(own.last - own.first + n_beyond) * sizeof(double) +
           (size_t)n_out * (sizeof(int64_t) + sizeof(double));
}
