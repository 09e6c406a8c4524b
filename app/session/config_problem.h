/* From the words of a config to core's specifications: regions, supports, springs, loads, passive
 * elements. */
#ifndef HX_CONFIG_PROBLEM_H
#define HX_CONFIG_PROBLEM_H

#include "../config/config.h"
#include "core/mesh/region.h"
#include "core/problem/problem.h"

/* The region of an entry of `sets`; it borrows the entry's names. */
void hx_config_region(const hx_config_set *set, hx_region *region);

/* Makes the problem of the config, with the loads and supports of the mesh's file, on a finished
 * mesh, which it borrows. The caller frees it. Errors, notes, lacking (may be NULL) and cost: see
 * hx_problem_create. */
int hx_config_make_problem(const hx_config *cfg, const hx_space *space,
                           const hx_conditions *conditions, hx_problem *problem, hx_notes *notes,
                           hx_notes *lacking);

#endif
