#include "fill.h"

#include <string.h>

#include "../base/names.h"

const hx_fill_kind hx_fill_kinds[HX_N_FILL] = {
    [HX_FILL_GATHER] = {"gather", "the row's owner computes, each value is written once", 1},
    [HX_FILL_STORED] = {"stored", "tiles of modulus 1 are kept, scaled and added in one pass", 1},
    [HX_FILL_ATOMIC] = {"atomic", "a thread a cell, values added atomically in one kernel", 0},
    [HX_FILL_SEPARATE] = {"separate", "element matrices first, then added atomically", 0},
    [HX_FILL_COLOUR] = {"colour", "cells by colours, added without atomics", 1},
    [HX_FILL_NZ] = {"nz", "a thread an entry, which visits the cells of its pair", 1},
    [HX_FILL_SORT] = {"sort", "triplets sorted, segments summed, the order kept", 1},
    [HX_FILL_TRIPLETS] = {"triplets", "lower triplets to the host, which converts them", 1},
};

int hx_fill_find(const char *name, unsigned has, const char *device, hx_fill *fill)
{
    const char *valid[HX_N_FILL];
    char hint[256];
    size_t n = 0;
    for (int i = 0; i < HX_N_FILL; i++) {
        if (!(has & 1u << i)) continue;
        valid[n++] = hx_fill_kinds[i].name;
        if (strcmp(name, hx_fill_kinds[i].name) != 0) continue;
        *fill = (hx_fill)i;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "device '%s' has no fill '%s'%s", device, name,
                    hx_name_hint(name, valid, n, hint, sizeof hint));
}
