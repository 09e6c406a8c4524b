/* The conditions of a mesh's file that its config uses. */
#include "surface_sets.h"

int hx_config_is_by_file(const hx_config *cfg)
{
    const hx_config_load *load = cfg->loads.entry;
    const hx_config_support *support = cfg->supports.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->loads.n; i++) any |= load[i].from != NULL;
    for (size_t i = 0; i < cfg->supports.n; i++) any |= support[i].from != NULL;
    return any;
}

int hx_config_loads_by_step(const hx_config *cfg, const hx_conditions *conditions, int step)
{
    const hx_config_load *load = cfg->loads.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->loads.n; i++) /* a file with one step has it for any case */
        any |= load[i].from &&
               (load[i].load_case == 0 || conditions->n_case == 1 || load[i].load_case == step);
    return any;
}
