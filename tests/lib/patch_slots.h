/* Where patches store forces, and how the slots of rows are chosen. */
#ifndef HX_TEST_PATCH_SLOTS_H
#define HX_TEST_PATCH_SLOTS_H

#include "core/operator/patches.h"

static inline int count_slots(const hx_eight *slot)
{
    int n = 0;
    for (int i = 0; i < 8; i++) n += slot->v[i] != HX_NO_SLOT;
    return n;
}

enum { MOST_SLOTS = 9 * HX_MAX_PATCH };

/* The incidence (8 * element + corner) of each slot, or -1. */
static inline void list_slots(const hx_patch_group *group, int incidence[MOST_SLOTS])
{
    for (int slot = 0; slot < MOST_SLOTS; slot++) incidence[slot] = -1;
    for (int i = 0; i < 8 * group->size; i++) incidence[hx_patch_slot_of(group, i % 8, i / 8)] = i;
}

/* The slot with a row's next incidence above `last`; -1: there is none. */
static inline int next_slot(const hx_eight *slot, const int *incidence, int last)
{
    int next = -1;
    for (int i = 0; i < 8; i++) {
        if (slot->v[i] == HX_NO_SLOT || incidence[slot->v[i]] <= last) continue;
        if (next < 0 || incidence[slot->v[i]] < incidence[slot->v[next]]) next = i;
    }
    return next;
}

/* Checks 16 rows from `first` on. Each incidence, in order, must be in the free slot whose bank the
 * fewest earlier rows read; if there are several such slots, in the first. Returns how many are
 * not. */
static inline int check_choice(const hx_patches *p, int64_t first, const int *incidence)
{
    int reads[HX_PATCH_BANK][8] = {{0}}, wrong = 0;
    const int n_slot = count_slots(&p->row_slot[first]);
    for (int64_t row = first; row < first + HX_PATCH_BANK; row++) {
        const hx_eight *const slot = &p->row_slot[row];
        int is_taken[8] = {0}, at;
        for (int last = -1; (at = next_slot(slot, incidence, last)) >= 0;) {
            int *const of = reads[slot->v[at] % HX_PATCH_BANK], best = at;
            for (int i = 0; i < n_slot; i++)
                if (!is_taken[i] && 8 * of[i] + i < 8 * of[best] + best) best = i;
            wrong += best != at;
            is_taken[at] = 1;
            of[at]++;
            last = incidence[slot->v[at]];
        }
    }
    return wrong;
}

#endif
