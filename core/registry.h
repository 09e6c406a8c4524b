/* The plug-ins of this build. The tables are generated from the lists in the folders'
 * meson.build. */
#ifndef HX_REGISTRY_H
#define HX_REGISTRY_H

#include "design/filter.h"
#include "design/response.h"
#include "design/update.h"
#include "solver/solver.h"

HX_C_BEGIN

/* All of them are NULL-terminated and in the order of the lists. */
extern const hx_device_ops *const hx_devices[];
extern const hx_operator_kind *const hx_operator_kinds[];
extern const hx_precond_kind *const hx_preconds[];
extern const hx_filter_kind *const hx_filters[];
extern const hx_response_kind *const hx_response_kinds[];
extern const hx_update_kind *const hx_updates[];

/* A name that users may give even if this build does not have it. */
typedef struct hx_plugin_name {
    const char *name;
    const char
        *stand_in; /* the operator kind that replaces it on a device without it; NULL: none */
} hx_plugin_name;

/* Both end with a name NULL. */
extern const hx_plugin_name hx_operator_names[], hx_device_names[];

/* Return NULL if there is none of that name. */
const hx_device_ops *hx_device_find(const char *name);
const hx_operator_kind *hx_operator_kind_find(const char *device, const char *name);
const hx_precond_kind *hx_precond_find(const char *name);
const hx_filter_kind *hx_filter_find(const char *name);
const hx_response_kind *hx_response_kind_find(const char *name);
const hx_update_kind *hx_update_find(const char *name);

/* Everything is chosen automatically, from the plug-ins of this build; double precision, relative
 * residual. */
hx_solver_params hx_solver_defaults(void);

/* The operator kind that runs on `device` for the name `name`: that kind itself or, if the device
 * lacks it, the replacement that its folder's list names (*substituted = 1). NULL: the name is
 * unknown everywhere, or has no replacement. */
const hx_operator_kind *hx_operator_kind_resolve(const char *device, const char *name,
                                                 int *substituted);

HX_C_END

#endif
