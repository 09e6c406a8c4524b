/* What fuzz_loads.c draws its configs from. */
#ifndef HX_FUZZ_LOADS_H
#define HX_FUZZ_LOADS_H

#include <stddef.h>
#include <stdint.h>

/* A config of all groups that say what acts on a part, from the bytes; the caller's to free. */
char *fuzz_draw_config(const uint8_t *data, size_t size);

/* A job of 8 bricks with sets, surfaces, couplings, supports and loads. */
extern const char fuzz_job[];

#endif
