/* Kernels of otf for AVX-512. They are in a file of their own because no other file takes as long
 * to compile. */
#include <math.h>
#include <string.h>

#include "../../base/vec3.h"
#include "../../mesh/hex8.h"
#include "cpu_otf.h"
#include "cpu_otf_vectors.h"

#if defined __x86_64__

#define REAL double
#define LANES 8
#define NAME(x) x##_avx512
#define TARGET HX_TARGET_AVX512
#include "cpu_otf_lanes.inc"

#define REAL float
#define LANES 16
#define NAME(x) x##_avx512_single
#define WIDE(x) x##_avx512
#define TARGET HX_TARGET_AVX512
#include "cpu_otf_lanes.inc"

const hx_cpu_otf_kernel hx_cpu_otf_avx512 = HX_CPU_OTF_KERNEL(avx512);

#endif
