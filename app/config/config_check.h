/* Shared by the files that read a config and check it. */
#ifndef HX_CONFIG_CHECK_H
#define HX_CONFIG_CHECK_H

#include "config.h"

/* HX_EINPUT "ORIGIN: KEY: message". */
int hx_config_fault(const char *origin, const char *key, const char *fmt, ...) HX_PRINTF(3, 4);

/* HX_EINPUT: no mesh, or keys of a generator beside a file. */
int hx_config_check_mesh(const hx_config *cfg);

/* HX_EINPUT: keys of the other physics, entries that lack something or say too much, what of the
 * design contradicts itself. Resolves the loads' cases. */
int hx_config_check(const hx_config *cfg);

#endif
