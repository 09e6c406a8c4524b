#include "groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "groups_work.h"

/* Offsets below this do not count as shifted: half-widths of an element. */
static const double EXACT = 2e-3;

static int is_free(const hx_problem *problem, int64_t e)
{
    return !problem->passive.density || isnan(problem->passive.density[e]);
}

static void count_members(hx_groups *groups, const hx_groups_work *w, const hx_problem *problem)
{
    int64_t alone = 0, shifted = 0;
    double shift = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : alone, shifted) reduction(max : shift)
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        if (!is_free(problem, e)) continue;
        const int32_t r = w->rep[e];
        alone += r < 0 || (w->n_image > 1 && !w->has_other[r] && hx_groups_has_image(w, e));
        if (r < 0) continue;
        shifted += w->offset[e] > EXACT;
        shift = fmax(shift, 0.5 * w->offset[e]);
    }
    groups->n_alone = alone;
    groups->n_shifted = shifted;
    groups->shift = shift;
}

/* Lists the groups of two or more free elements in the order of their first members. */
static int list_groups(hx_groups *groups, const hx_groups_work *w, const hx_problem *problem)
{
    int rc;
    const int64_t n = w->mesh->n_elem;
    int32_t *size = NULL, *place = NULL; /* [n] of the group of a representative */
    HX_TRY_FAIL(hx_alloc(&size, (size_t)n, sizeof *size, "symmetry"));
    HX_TRY_FAIL(hx_alloc_raw(&place, (size_t)n, sizeof *place, "symmetry"));
    for (int64_t e = 0; e < n; e++)
        if (w->rep[e] >= 0 && is_free(problem, e)) size[w->rep[e]]++;
    for (int64_t e = 0; e < n; e++) {
        place[e] = -1;
        if (size[e] < 2) continue;
        groups->n_group++;
        groups->n_member += size[e];
    }
    HX_TRY_FAIL(hx_alloc(&groups->start, (size_t)groups->n_group + 1, sizeof *groups->start,
                         "linked variables"));
    HX_TRY_FAIL(hx_alloc_raw(&groups->member, (size_t)groups->n_member, sizeof *groups->member,
                             "linked variables"));
    int64_t group = 0;
    for (int64_t e = 0; e < n; e++) {
        const int32_t r = w->rep[e];
        if (r < 0 || !is_free(problem, e) || size[r] < 2) continue;
        if (place[r] < 0) {
            place[r] = groups->start[group];
            groups->start[group + 1] = groups->start[group] + size[r];
            group++;
        }
        groups->member[place[r]++] = (int32_t)e;
    }
fail:
    free(size);
    free(place);
    return rc;
}

/* Columns of the elements in no copy of a pattern, or each such element, which has no image. */
static int match_outside(hx_groups_work *w)
{
    if (w->pattern.n == 0) return HX_OK;
    for (int64_t e = 0; e < w->mesh->n_elem; e++) w->is_done[e] = !hx_groups_is_outside(w, e);
    hx_groups_fold_outside(w);
    if (w->is_extruded) HX_TRY(hx_groups_make_columns(w));
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        if (!w->is_done[e] && w->rep[e] < 0) w->rep[e] = (int32_t)e;
        w->is_done[e] = !w->is_done[e];
    }
    return HX_OK;
}

static int alloc_work(hx_groups_work *w, size_t n)
{
    HX_TRY(hx_alloc_raw(&w->order, n, sizeof *w->order, "symmetry"));
    HX_TRY(hx_alloc_raw(&w->folded, 3 * n, sizeof *w->folded, "symmetry"));
    HX_TRY(hx_alloc(&w->by, n, sizeof *w->by, "symmetry"));
    HX_TRY(hx_alloc_raw(&w->rep, n, sizeof *w->rep, "symmetry"));
    HX_TRY(hx_alloc(&w->has_other, n, sizeof *w->has_other, "symmetry"));
    HX_TRY(hx_alloc(&w->is_done, n, sizeof *w->is_done, "symmetry"));
    HX_TRY(hx_alloc(&w->is_new, n, sizeof *w->is_new, "symmetry"));
    HX_TRY(hx_alloc_raw(&w->above, n, sizeof *w->above, "symmetry"));
    return hx_alloc(&w->offset, n, sizeof *w->offset, "symmetry");
}

static void free_work(hx_groups_work *w)
{
    free(w->turn);
    free(w->image);
    free(w->order);
    free(w->folded);
    free(w->by);
    free(w->rep);
    free(w->has_other);
    free(w->is_done);
    free(w->is_new);
    free(w->above);
    free(w->offset);
}

/* Assigns elements to those of one chamber. *n_left: elements without an image in it. */
static int match_chamber(hx_groups_work *w, int64_t *n_left)
{
    hx_groups_fold(w);
    if (w->is_extruded) {
        HX_TRY(hx_groups_make_columns(w));
    } else {
        for (int64_t e = 0; e < w->mesh->n_elem; e++)
            if (w->by[e] == 0 && !w->is_done[e]) w->rep[e] = (int32_t)e;
    }
    HX_TRY(hx_groups_match_images(w));
    HX_TRY(hx_groups_match_representatives(w));
    *n_left = 0;
    for (int64_t e = 0; e < w->mesh->n_elem; e++) {
        w->is_done[e] = w->rep[e] >= 0;
        *n_left += w->rep[e] < 0;
    }
    return HX_OK;
}

static int make_groups(hx_groups *groups, hx_groups_work *w, const hx_problem *problem,
                       const hx_groups_params *params)
{
    int64_t n_left = w->mesh->n_elem, n_before;
    HX_TRY(alloc_work(w, (size_t)n_left));
    HX_TRY(hx_groups_find_images(w, problem, params));
    groups->n_image = w->n_image;
    HX_TRY(match_outside(w));
    do { /* elements may be images of each other in chambers other than the first one */
        n_before = n_left;
        HX_TRY(match_chamber(w, &n_left));
    } while (n_left > 0 && n_left < n_before);
    count_members(groups, w, problem);
    return list_groups(groups, w, problem);
}

int hx_groups_create(hx_groups *groups, const hx_problem *problem, const hx_groups_params *params)
{
    hx_groups_work w;
    memset(groups, 0, sizeof *groups);
    memset(&w, 0, sizeof w);
    groups->n_image = 1;
    if (params->n_plane == 0 && params->n_repetition == 0 && !params->is_extruded) return HX_OK;
    w.mesh = problem->mesh;
    int rc = make_groups(groups, &w, problem, params);
    free_work(&w);
    if (rc == HX_OK && groups->n_group == 0)
        rc = HX_RAISE(HX_EINPUT, "%s: no two free elements are images of each other",
                      params->n_repetition ? params->repetition[0].origin
                      : params->n_plane    ? params->plane[0].origin
                                           : params->extrusion_origin);
    if (rc < 0) hx_groups_free(groups);
    return rc;
}

void hx_groups_average(const hx_groups *groups, const double *volume, double *density)
{
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < groups->n_group; g++) {
        double mass = 0.0, sum = 0.0;
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++) {
            mass += volume[groups->member[m]] * density[groups->member[m]];
            sum += volume[groups->member[m]];
        }
        for (int64_t m = groups->start[g]; m < groups->start[g + 1]; m++)
            density[groups->member[m]] = fmin(1.0, mass / sum);
    }
}

size_t hx_groups_bytes(const hx_groups *groups)
{
    if (groups->n_group == 0) return 0;
    return ((size_t)groups->n_group + 1 + (size_t)groups->n_member) * sizeof(int32_t);
}

void hx_groups_free(hx_groups *groups)
{
    free(groups->start);
    free(groups->member);
    memset(groups, 0, sizeof *groups);
}

int hx_device_groups_create(hx_device_groups *groups, hx_device *dev, const hx_groups *host)
{
    memset(groups, 0, sizeof *groups);
    if (host->n_group == 0) return HX_OK;
    int rc = hx_device_put(dev, &groups->d_start, host->start,
                           ((size_t)host->n_group + 1) * sizeof *host->start);
    if (rc == HX_OK)
        rc = hx_device_put(dev, &groups->d_member, host->member,
                           (size_t)host->n_member * sizeof *host->member);
    groups->n_group = host->n_group;
    if (rc < 0) hx_device_groups_free(groups, dev);
    return rc;
}

void hx_device_groups_free(hx_device_groups *groups, hx_device *dev)
{
    if (!dev) return;
    dev->ops->release(dev, groups->d_start);
    dev->ops->release(dev, groups->d_member);
    memset(groups, 0, sizeof *groups);
}
