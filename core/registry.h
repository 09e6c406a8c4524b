/* The plug-ins that this build holds; the tables are generated from the folders' meson.build lists.
 */
#ifndef HX_REGISTRY_H
#define HX_REGISTRY_H

#include "filter.h"
#include "objective.h"
#include "precond.h"
#include "update.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All NULL-terminated, in the order of the lists. */
extern const hx_device_ops *const hx_devices[];
extern const hx_strategy *const hx_strategies[];
extern const hx_precond_kind *const hx_preconds[];
extern const hx_filter_kind *const hx_filters[];
extern const hx_objective_kind *const hx_objectives[];
extern const hx_update_kind *const hx_updates[];

/* NULL if there is none of that name. */
const hx_device_ops *hx_device_find(const char *name);
const hx_strategy *hx_strategy_find(const char *device, const char *name);
const hx_precond_kind *hx_precond_find(const char *name);
const hx_filter_kind *hx_filter_find(const char *name);
const hx_objective_kind *hx_objective_find(const char *name);
const hx_update_kind *hx_update_find(const char *name);

/* What runs on `device` when `name` is asked for: the strategy itself, or, on a device without it,
 * its nearest relative there (otf for dedup, ebe for the others that exist on a GPU only;
 * *substituted = 1). NULL: unknown everywhere. */
const hx_strategy *hx_strategy_resolve(const char *device, const char *name, int *substituted);

#ifdef __cplusplus
}
#endif

#endif
