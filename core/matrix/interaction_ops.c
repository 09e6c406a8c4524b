#include "interaction_ops.h"

const char *hx_interaction_way_name(hx_interaction_way way)
{
    static const char *const name[HX_N_WAY] = {
        [HX_WAY_HASH] = "hash",   [HX_WAY_SKYLINE] = "skyline", [HX_WAY_POINTS] = "points",
        [HX_WAY_PAIRS] = "pairs", [HX_WAY_GATHER] = "gather",
    };
    return name[way];
}

void hx_interaction_slab(const hx_interaction *in, size_t layer_bytes, size_t budget, int first,
                         int *end, int cells[2])
{
    const hx_interaction_axis *const axis = &in->axis[in->dim - 1];
    cells[0] = axis->cells[2 * first];
    *end = first + 1;
    while (*end < axis->n && (size_t)(axis->cells[2 * *end + 1] - cells[0]) * layer_bytes <= budget)
        ++*end;
    cells[1] = axis->cells[2 * *end - 1];
}
