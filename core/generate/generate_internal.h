/* Shared by the generators; not installed. */
#ifndef HX_GENERATE_INTERNAL_H
#define HX_GENERATE_INTERNAL_H

#include "generate.h"

extern const hx_generator hx_generator_cantilever;
extern const hx_generator hx_generator_lbeam;
extern const hx_generator hx_generator_michell;
extern const hx_generator hx_generator_conrod;

/* What every generator asks of its parameters: size 0 to 5, counts not negative, a size or nx. */
int hx_generate_check(const char *name, const hx_generate_params *params);

/* HX_EINPUT if that is more than HX_MAX_ELEM, of several processes 2^31; HX_ENOMEM if the host
 * cannot hold what its processes take of the mesh and other_bytes more for each element. */
int hx_generate_check_count(const char *name, double n_elem, const hx_generate_params *params);

#endif
