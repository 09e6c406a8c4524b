#include "fill.h"

#include <string.h>

#include "../base/names.h"

const hx_fill_kind hx_fill_kinds[HX_N_FILL] = {
    [HX_FILL_GATHER] = {"gather", "the owner of a row computes it and writes each value once", 1},
    [HX_FILL_STORED] =
        {"stored", "tiles for modulus 1 are stored, then scaled and added in one pass per design",
         1},
    [HX_FILL_ATOMIC] = {"atomic", "a thread per cell adds values atomically, in one kernel", 0},
    [HX_FILL_SEPARATE] = {"separate", "computes element matrices first, then adds them atomically",
                          0},
    [HX_FILL_COLOUR] = {"colour", "cells by colours, so that additions need no atomics", 1},
    [HX_FILL_NZ] = {"nz", "a thread per entry visits the cells of its pair", 1},
    [HX_FILL_SORT] = {"sort", "sorts triplets once, keeps their order and sums segments", 1},
    [HX_FILL_TRIPLETS] = {"triplets", "transfers lower triplets to the host, which converts them",
                          1},
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
    return HX_RAISE(HX_EINPUT, "device '%s' does not support fill '%s'%s", device, name,
                    hx_name_hint(name, valid, n, hint, sizeof hint));
}
