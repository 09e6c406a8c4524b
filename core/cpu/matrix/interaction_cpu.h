/* Internals of the CPU's methods to compute K of a spline patch (core/matrix/interaction_ops.h). */
#ifndef HX_INTERACTION_CPU_H
#define HX_INTERACTION_CPU_H

#include <string.h>

#include "../../base/vectorised.h"
#include "../../matrix/interaction_ops.h"

enum { HX_CELL_MOST = HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER };

/* Eight lanes. Products of components use variables with separate names, because compilers do not
 * keep arrays of vectors in registers. */
enum { HX_PATCH_LANES = 8 };
typedef double hx_eight __attribute__((vector_size(64)));

/* Returns through a pointer, since returning a vector by value would differ in ABI between the
 * versions. */
HX_INLINED void hx_load_eight(const double *from, hx_eight *to)
{
    memcpy(to, from, sizeof *to);
}

/* CPU time of the process in seconds, summed over all threads. */
double hx_cpu_core_seconds(void);

/* Layout of the gradients of a cell: strides between Gauss points, control points and
 * components. */
typedef struct hx_gradient_layout {
    int gauss, point, component;
} hx_gradient_layout;

/* Gradients (dim components) of all control points of cell c at all its Gauss points.
 * O(order^6). */
void hx_cpu_patch_gradients(const hx_interaction *in, const int c[3],
                            const hx_gradient_layout *layout, double *h);

/* Each function overwrites value [n_block][dim][dim] completely. */
int hx_cpu_interaction_cells(const hx_interaction *in, hx_interaction_way way, double *value,
                             hx_interaction_time *time); /* interaction_cells_cpu.c */
int hx_cpu_interaction_pairs(const hx_interaction *in, hx_interaction_way way, size_t budget,
                             double *value,
                             hx_interaction_time *time); /* interaction_pairs_cpu.c */
int hx_cpu_interaction_gather(const hx_interaction *in, double *value,
                              hx_interaction_time *time); /* interaction_gather_cpu.c */

#endif
