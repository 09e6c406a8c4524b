#include "patches_split.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "interface_points.h"

static const char what[] = "patches";

/* 1 if the patch has a row of an interface node. */
static int is_boundary(const hx_patches *p, const hx_span *span, const uint8_t *is_interface)
{
    for (int32_t k = span->begin; k < span->begin + span->n; k++)
        if (is_interface[p->row_node[k] & INT32_MAX]) return 1;
    return 0;
}

/* Moves the patches in is_first to the front of the range begin .. end, keeping the order
 * otherwise; order[place] is the patch there. Returns how many there are. */
static int64_t order_run(int64_t begin, int64_t end, const uint8_t *is_first, int64_t *order)
{
    int64_t n = begin, n_first = 0;
    for (int want = 1; want >= 0; want--) {
        for (int64_t i = begin; i < end; i++)
            if (is_first[i] == want) order[n++] = i;
        if (want == 1) n_first = n - begin;
    }
    return n_first;
}

static const hx_eight *corners_of(const hx_patches *p, int64_t patch, int *size, int64_t *place)
{
    const hx_patch_group *group = &p->group[0];
    if (p->n_group > 1 && patch >= p->group[1].first_patch) group = &p->group[1];
    *size = group->size;
    *place = group->first_place + (patch - group->first_patch) * group->size;
    return p->corner + *place;
}

static int order_patches(hx_patches_split *s, const hx_patches *p, const uint8_t *is_interface,
                         int n_run, const int64_t *first, int64_t *n_boundary)
{
    uint8_t *is_first = NULL;
    int64_t *order = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&is_first, (size_t)p->n_patch, sizeof *is_first, what));
    HX_TRY_FAIL(hx_alloc_raw(&order, (size_t)p->n_patch, sizeof *order, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n_patch; i++)
        is_first[i] = (uint8_t)is_boundary(p, &p->span[i], is_interface);
    for (int run = 0; run < n_run; run++)
        n_boundary[run] = order_run(first[run], first[run + 1], is_first, order);
    hx_patches *const to = &s->patches;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n_patch; i++) {
        int size;
        int64_t place, unused;
        corners_of(p, i, &size, &place);
        memcpy(to->corner + place, corners_of(p, order[i], &size, &unused),
               (size_t)size * sizeof *to->corner);
        to->span[i] = p->span[order[i]];
    }
    rc = HX_OK;
fail:
    free(is_first);
    free(order);
    return rc;
}

/* Start of the shared nodes of each part, and of their rows; interface nodes come before the
 * others. */
typedef struct shared_begin {
    int64_t node[HX_N_PART][2], row[HX_N_PART][2];
} shared_begin;

static void count_shared(const hx_patches *p, const uint8_t *is_interface, shared_begin *begin)
{
    int64_t n[2] = {0, 0};
    memset(begin, 0, sizeof *begin);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t k = hx_part_begin(p->n_shared, part); k < hx_part_begin(p->n_shared, part + 1);
             k++) {
            const int is_last = !is_interface[p->shared_node[k]];
            begin->node[part][is_last]++;
            begin->row[part][is_last] += p->shared_ptr[k + 1] - p->shared_ptr[k];
        }
    for (int is_last = 0; is_last < 2; is_last++)
        for (int part = 0; part < HX_N_PART; part++) {
            const int64_t node = begin->node[part][is_last], row = begin->row[part][is_last];
            begin->node[part][is_last] = n[0];
            begin->row[part][is_last] = n[1];
            n[0] += node;
            n[1] += row;
        }
}

static void order_shared(hx_patches_split *s, const hx_patches *p, const uint8_t *is_interface)
{
    hx_patches *const to = &s->patches;
    shared_begin begin;
    count_shared(p, is_interface, &begin);
    s->n_shared_boundary = begin.node[0][1];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t k = hx_part_begin(p->n_shared, part); k < hx_part_begin(p->n_shared, part + 1);
             k++) {
            const int is_last = !is_interface[p->shared_node[k]];
            const int32_t n_row = p->shared_ptr[k + 1] - p->shared_ptr[k];
            const int64_t node = begin.node[part][is_last]++, row = begin.row[part][is_last];
            to->shared_node[node] = p->shared_node[k];
            to->shared_ptr[node] = (int32_t)row;
            memcpy(to->shared_sum + row, p->shared_sum + p->shared_ptr[k],
                   (size_t)n_row * sizeof *to->shared_sum);
            begin.row[part][is_last] += n_row;
        }
    to->shared_ptr[p->n_shared] = (int32_t)p->n_shared_row;
}

static int alloc_own(hx_patches_split *s, const hx_patches *p)
{
    hx_patches *const own = &s->patches;
    const size_t n_shared = (size_t)p->n_shared;
    s->has_own = 1;
    own->span = NULL;
    own->corner = NULL;
    own->shared_node = own->shared_ptr = own->shared_sum = NULL;
    HX_TRY(hx_alloc_raw(&own->span, (size_t)p->n_patch, sizeof *own->span, what));
    HX_TRY(hx_alloc_raw(&own->corner, (size_t)p->n_place, sizeof *own->corner, what));
    HX_TRY(hx_alloc_raw(&own->shared_node, n_shared, sizeof *own->shared_node, what));
    HX_TRY(hx_alloc_raw(&own->shared_ptr, n_shared + 1, sizeof *own->shared_ptr, what));
    return hx_alloc_raw(&own->shared_sum, (size_t)p->n_shared_row, sizeof *own->shared_sum, what);
}

int hx_patches_split_create(hx_patches_split *split, const hx_patches *p, int64_t n_node,
                            int64_t n_interface, const int32_t *interface, int n_run,
                            const int64_t *first, int64_t *n_boundary)
{
    uint8_t *is_interface = NULL;
    int rc;
    *split = (hx_patches_split){.patches = *p};
    memset(n_boundary, 0, (size_t)n_run * sizeof *n_boundary);
    if (n_interface == 0) return HX_OK;
    HX_TRY_FAIL(hx_mark_interface(n_node, n_interface, interface, &is_interface));
    HX_TRY_FAIL(alloc_own(split, p));
    HX_TRY_FAIL(order_patches(split, p, is_interface, n_run, first, n_boundary));
    order_shared(split, p, is_interface);
    free(is_interface);
    return HX_OK;
fail:
    free(is_interface);
    hx_patches_split_free(split);
    return rc;
}

void hx_patches_split_free(hx_patches_split *split)
{
    hx_patches *const own = &split->patches;
    if (split->has_own) {
        free(own->span);
        hx_free_large(own->corner, (size_t)own->n_place * sizeof *own->corner);
        hx_free_large(own->shared_node, (size_t)own->n_shared * sizeof *own->shared_node);
        hx_free_large(own->shared_ptr, (size_t)own->n_shared * sizeof *own->shared_ptr);
        hx_free_large(own->shared_sum, (size_t)own->n_shared_row * sizeof *own->shared_sum);
    }
    memset(split, 0, sizeof *split);
}
