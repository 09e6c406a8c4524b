/* csr on the CPU: K as rows of numbers. */
#include "assembled_cpu.h"

HX_CPU_ASSEMBLED(elastic, .format = HX_FORMAT_CSR, .part = HX_PART_FULL, .components = 3)
HX_CPU_ASSEMBLED(heat, .format = HX_FORMAT_CSR, .part = HX_PART_FULL, .components = 1)

static const hx_operator_kind scalar = {
    .name = "csr",
    .help = "assembled: compressed sparse rows, the common format of other programs",
    .bytes_per_elem = 530,
    HX_CPU_ASSEMBLED_TABLE(heat),
};

const hx_operator_kind hx_operator_cpu_csr = {
    .name = "csr",
    .help = "assembled: compressed sparse rows, the common format of other programs",
    .bytes_per_elem = 3170,
    .scalar = &scalar,
    HX_CPU_ASSEMBLED_TABLE(elastic),
};
