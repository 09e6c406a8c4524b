/* bsrsym on the CPU: the lower half of K's blocks. */
#include "assembled_cpu.h"

HX_CPU_ASSEMBLED(elastic, .format = HX_FORMAT_BSR, .part = HX_PART_LOWER, .components = 3)
HX_CPU_ASSEMBLED(heat, .format = HX_FORMAT_BSR, .part = HX_PART_LOWER, .components = 1)

static const hx_operator_kind scalar = {
    .name = "bsrsym",
    .help = "assembled: the lower half of the matrix; each number is read once and used twice",
    .bytes_per_elem = 250,
    HX_CPU_ASSEMBLED_TABLE(heat),
};

const hx_operator_kind hx_operator_cpu_bsrsym = {
    .name = "bsrsym",
    .help = "assembled: the lower half of the 3x3 blocks; each is read once and used twice",
    .bytes_per_elem = 1133,
    .scalar = &scalar,
    HX_CPU_ASSEMBLED_TABLE(elastic),
};
