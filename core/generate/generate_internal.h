/* Shared by the generators; not installed. */
#ifndef HX_GENERATE_INTERNAL_H
#define HX_GENERATE_INTERNAL_H

#include "generate.h"

extern const hx_generator hx_generator_cantilever;
extern const hx_generator hx_generator_lbeam;
extern const hx_generator hx_generator_michell;
extern const hx_generator hx_generator_conrod;

/* Checks the parameters common to all generators: size from 0 to 5, counts not negative, and a size
 * or nx given. */
int hx_generate_check(const char *name, const hx_generate_params *params);

/* HX_EINPUT: more than HX_MAX_ELEM elements, or more than 31 bits with several processes.
 * HX_ENOMEM: the host cannot hold its processes' parts of the mesh plus other_bytes per element. */
int hx_generate_check_count(const char *name, double n_elem, const hx_generate_params *params);

#endif
