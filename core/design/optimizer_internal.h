/* Internals of the optimizer: the first design, its variants and parts, and the kept one. */
#ifndef HX_OPTIMIZER_INTERNAL_H
#define HX_OPTIMIZER_INTERNAL_H

#include "optimizer.h"

/* Sets d_design to density[n_elem] if given, otherwise to a uniform density; passive elements get
 * theirs. HX_EINPUT: a density is not in [0, 1]. Not performance-critical. */
int hx_optimizer_start(hx_optimizer *opt, const double *density);

/* Volume and greyness of the design that is made (optimizer_filter.c). Waits. */
int hx_optimizer_measure(hx_optimizer *opt, hx_iteration *record);

/* Computes the derivative of the augmented Lagrangian, if there is one, and joins it with that of
 * the objective, d_dc, here or after the filter. d_work: two fields. */
int hx_optimizer_add_lagrangian(hx_optimizer *opt, double *const d_work[2]);

/* Derivatives by the physical densities become those by the design, of linked elements too. */
int hx_optimizer_filter_backward(hx_optimizer *opt);

/* Uses existing memory for a field, or allocates its own. */
int hx_optimizer_take_field(hx_optimizer *opt, double *d_there, double **d_field);

/* optimizer_sides.c: designs that are analysed beside the one that is made, if the design parameters
 * ask for them, each before it; otherwise without effect. Create after the constraints and before
 * the update. HX_EINPUT: objective or limits do not allow it. */
int hx_optimizer_create_sides(hx_optimizer *opt);
int hx_optimizer_solve_side(hx_optimizer *opt, hx_optimizer_side *side);
/* Values, and derivatives by the design. */
int hx_optimizer_differentiate_side(hx_optimizer *opt, hx_optimizer_side *side);
int hx_optimizer_link_sides(hx_optimizer *opt);
int hx_optimizer_reset_sides(hx_optimizer *opt);
int hx_optimizer_snapshot_sides(hx_optimizer *opt, hx_snapshot *image);
/* Device bytes of their displacements and loads, without responses and fields. */
size_t hx_optimizer_side_bytes(const hx_problem *problem, const hx_design_params *design);
void hx_optimizer_free_sides(hx_optimizer *opt);

/* After a failure the ranks may be out of step; if a result is not finite, that is the same on all of
 * them. Returns rc. */
int hx_optimizer_note_failure(const hx_optimizer *opt, int rc);

/* A step without a proposal, and without the designs beside the one that is made. */
int hx_optimizer_analyse(hx_optimizer *opt, hx_iteration *record);

/* 1 if the design of the step that begins is to be judged by its parts (optimizer_judge.c). */
int hx_optimizer_is_judged(const hx_optimizer *opt, const hx_iteration *record);

/* Judges it into opt->judged, and tightens the stress limits if a part misses a limit. Four solves,
 * after which the displacements are those of the design that is made. */
int hx_optimizer_judge(hx_optimizer *opt);

/* Keeps the analysed design if it is the best so far that meets all limits (optimizer_kept.c)
 * [2]. */
int hx_optimizer_keep(hx_optimizer *opt, const hx_iteration *record);

#endif
