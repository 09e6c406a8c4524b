/* Input of fuzz_loads.c. */
#ifndef HX_FUZZ_LOADS_H
#define HX_FUZZ_LOADS_H

#include <stddef.h>
#include <stdint.h>

/* Draws a config with all groups of supports and loads from the bytes; the caller frees it. */
char *fuzz_draw_config(const uint8_t *data, size_t size);

/* A job of 8 bricks with sets, surfaces, couplings, supports and loads. */
extern const char fuzz_job[];

#endif
