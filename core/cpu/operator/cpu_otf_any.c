/* Kernels of otf for vectors that every CPU supports. They are in a file of their own because no
 * other file takes as long to compile. */
#include <math.h>
#include <string.h>

#include "../../base/vec3.h"
#include "../../mesh/hex8.h"
#include "cpu_otf.h"
#include "cpu_otf_vectors.h"

#define REAL double
#define LANES 2
#define NAME(x) x##_any
#define TARGET
#include "cpu_otf_lanes.inc"

#define REAL float
#define LANES 4
#define NAME(x) x##_any_single
#define WIDE(x) x##_any
#define TARGET
#include "cpu_otf_lanes.inc"

const hx_cpu_otf_kernel hx_cpu_otf_any = HX_CPU_OTF_KERNEL(any);
