/* Functions shared by the files that read and check a config. */
#ifndef HX_CONFIG_CHECK_H
#define HX_CONFIG_CHECK_H

#include "config.h"

/* HX_EINPUT "ORIGIN: KEY: message". */
int hx_config_fault(const char *origin, const char *key, const char *fmt, ...) HX_PRINTF(3, 4);

/* File and line of the key, or of the group above it that is given; otherwise the config. */
const char *hx_config_origin(const hx_config *cfg, const char *key);

/* HX_EINPUT: no mesh is given, or keys of a generator are given in addition to a mesh file. */
int hx_config_check_mesh(const hx_config *cfg);

/* HX_EINPUT: keys of the other physics, entries with missing or conflicting keys, contradictory
 * keys of the optimization. Sets the load case of each load. */
int hx_config_check(const hx_config *cfg);

/* config_length.c: filter and projection for optimization.minimum_length, if it is given.
 * HX_EINPUT: keys that follow from it are stated, or only minimum_gap is. */
int hx_config_choose_lengths(hx_config *cfg);

/* config_design.c: objective, constraints, volume, update and filter. */

/* 1 if the problem needs exact derivatives of more than the compliance at a limited volume. */
int hx_config_needs_derivatives(const hx_config *cfg);

/* HX_EINPUT: impossible or contradictory limits, or keys that exclude or require each other. */
int hx_config_check_design(const hx_config *cfg);

#endif
