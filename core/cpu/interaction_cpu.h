/* Inside of the CPU's ways to compute K of a patch (core/matrix/interaction_ops.h). */
#ifndef HX_INTERACTION_CPU_H
#define HX_INTERACTION_CPU_H

#include "../base/vectorised.h"
#include "../matrix/interaction_ops.h"

enum { HX_CELL_MOST = HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER * HX_SPLINE_MAX_ORDER };

/* Seconds of a core that the process has used, all threads added up. */
double hx_cpu_core_seconds(void);

/* For every Gauss point q and point a of a cell: see(q, a, h). */
#define HX_FOR_GRADIENTS(in, c, q_, a_, h_, see)                                                   \
    do {                                                                                           \
        const int order_[3] = {(in)->axis[0].degree + 1, (in)->axis[1].degree + 1,                 \
                               (in)->axis[2].degree + 1};                                          \
        const int degree_[3] = {order_[0] - 1, order_[1] - 1, order_[2] - 1};                      \
        const int n_ = order_[0] * order_[1] * order_[2];                                          \
        double w_[HX_CELL_MOST];                                                                   \
        for (int k_ = 0; k_ < n_; k_++) {                                                          \
            const int r_[3] = {(in)->axis[0].first[(c)[0]] + k_ % order_[0],                       \
                               (in)->axis[1].first[(c)[1]] + k_ / order_[0] % order_[1],           \
                               (in)->axis[2].first[(c)[2]] + k_ / order_[0] / order_[1]};          \
            w_[k_] = (in)->point[4 * hx_interaction_point(in, r_) + 3];                            \
        }                                                                                          \
        for (int q_ = 0; q_ < n_; q_++) {                                                          \
            const int g_[3] = {q_ % order_[0], q_ / order_[0] % order_[1],                         \
                               q_ / order_[0] / order_[1]};                                        \
            const double *t_[3];                                                                   \
            double frame_[4][3];                                                                   \
            for (int d_ = 0; d_ < 3; d_++)                                                         \
                t_[d_] = hx_interaction_table(&(in)->axis[d_], (c)[d_], g_[d_]);                   \
            hx_interaction_frame_at(in, c, g_, frame_);                                            \
            int a_ = 0, of_[3];                                                                    \
            for (of_[2] = 0; of_[2] < order_[2]; of_[2]++)                                         \
                for (of_[1] = 0; of_[1] < order_[1]; of_[1]++)                                     \
                    for (of_[0] = 0; of_[0] < order_[0]; of_[0]++, a_++) {                         \
                        double h_[3];                                                              \
                        hx_interaction_gradient(t_, degree_, of_, w_[a_],                          \
                                                (const double(*)[3])frame_, h_);                   \
                        see;                                                                       \
                    }                                                                              \
        }                                                                                          \
    } while (0)

/* Each fills value [n_block][dim][dim], whatever was there. */
int hx_cpu_interaction_cells(const hx_interaction *in, hx_interaction_way way, double *value,
                             hx_interaction_time *time); /* interaction_cells_cpu.c */
int hx_cpu_interaction_pairs(const hx_interaction *in, hx_interaction_way way, size_t budget,
                             double *value,
                             hx_interaction_time *time); /* interaction_pairs_cpu.c */
int hx_cpu_interaction_gather(const hx_interaction *in, double *value,
                              hx_interaction_time *time); /* interaction_gather_cpu.c */

#endif
