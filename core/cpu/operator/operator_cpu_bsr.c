/* bsr on the CPU: K as rows of 3x3 blocks. */
#include "assembled_cpu.h"

HX_CPU_ASSEMBLED(elastic, .format = HX_FORMAT_BSR, .part = HX_PART_FULL, .components = 3)
HX_CPU_ASSEMBLED(heat, .format = HX_FORMAT_BSR, .part = HX_PART_FULL, .components = 1)

static const hx_operator_kind scalar = {
    .name = "bsr",
    .help = "assembled: numbers row by row; pattern built once, values per design",
    .bytes_per_elem = 420,
    HX_CPU_ASSEMBLED_TABLE(heat),
};

const hx_operator_kind hx_operator_cpu_bsr = {
    .name = "bsr",
    .help = "assembled: 3x3 blocks row by row; pattern built once, values per design",
    .bytes_per_elem = 2116,
    .scalar = &scalar,
    HX_CPU_ASSEMBLED_TABLE(elastic),
};
