/* Inside of diag.h: properties of the last designs, and remedies that several warnings share. */
#ifndef HX_DIAG_INTERNAL_H
#define HX_DIAG_INTERNAL_H

#include "diag.h"

/* --- the last designs (diag_recent.c) --- */

/* 1 if the last step changed no density by more than the tolerance, at the final exponents. */
int hx_diag_has_converged(const hx_session *s, const hx_iteration *last);

/* The lowest compliance of the recent designs that meet the volume. *back: by how many designs it
 * precedes the last one. The last design must meet the volume. */
double hx_diag_lowest_of(const hx_session *s, const hx_diag_facts *f, int *back);

/* Length of the unbroken sequence of recent designs that meet the volume, counted back from the
 * last. */
int hx_diag_since_met(const hx_session *s, const hx_diag_facts *f);

/* Relative difference of two objectives, measured from f->zero; they may be negative, as
 * compliances with prescribed displacements. */
double hx_diag_difference(const hx_diag_facts *f, double a, double b);

/* 1 if the densities changed and the compliance did not, beyond what the solver resolves. Soft
 * springs add a constant that hides most of the change, but not the derivatives. A run that starts
 * from another run's design may have converged there. */
int hx_diag_has_no_influence(const hx_session *s, const hx_diag_facts *f);

/* 1 if two designs alternate: each has about the compliance of the design before the previous one,
 * but not of the previous one; or consecutive compliances are equal, such as those of two mirrored
 * designs. Either the compliances differ by more than the limit, or densities keep moving. With a
 * projection only the compliances count, because it hides most of the movement of the design
 * variables. */
int hx_diag_is_swinging(const hx_session *s, const hx_diag_facts *f);

/* Total iterations after which a design that still changes should have converged. All remedies of
 * one run use this number. */
int hx_diag_go_on_iterations(const hx_session *s, const hx_diag_facts *f);

/* Relative fall of the compliance over the recent designs that meet the volume; 0: it rose. */
double hx_diag_fall_of(const hx_session *s, const hx_diag_facts *f);

/* 1 if the lowest of the recent compliances is well below the last one, or if two designs
 * alternate. */
int hx_diag_is_rising(const hx_session *s, const hx_diag_facts *f);

/* 1 if more iterations are recommended because the design still changes. */
int hx_diag_goes_on(const hx_session *s, const hx_diag_facts *f);

/* The larger of two numbers of iterations. */
int hx_diag_most_of(int a, int b);

/* --- remedies (diag_advice.c) --- */

/* Iterations in which penalty and beta of a changed config reach their final values and the design
 * converges. */
int hx_diag_enough_iterations(const hx_config *cfg, int most);

/* text := arguments for a move limit, and for a tolerance below it if the config's tolerance is
 * not. */
const char *hx_diag_move_words(const hx_config *cfg, double move, char *text, size_t n_text);

/* 1 if the projection starts so steep that hardly any density can move gradually. A run that starts
 * from an earlier run's design may not need gradual moves. */
int hx_diag_starts_steep(const hx_config *cfg);

/* A move limit with which designs converge, if it is smaller than the config's. Steps that are
 * longer than usual become usual ones; if the exponents are already usual, steps become smaller. */
double hx_diag_calm_move(const hx_config *cfg);

/* Iterations in which each density can cross its range twice, in steps of hx_diag_calm_move. */
int hx_diag_calm_iterations(const hx_config *cfg);

/* text := arguments that make a steep projection start flat. */
const char *hx_diag_begin_flat(const hx_config *cfg, char *text, size_t n_text);

/* text := how to reach a total number of iterations: the command that continues the run if it has a
 * checkpoint, otherwise the argument for a run from the start. */
const char *hx_diag_iterate_further(const hx_session *s, const hx_diag_facts *f, int iterations,
                                    char *text, size_t n_text);

/* 1 if optimality criteria take steps with more than the usual damping exponent. */
int hx_diag_overshoots(const hx_config *cfg);

/* 1 if the penalty hardly makes intermediate densities unfavourable; 3 is usual for SIMP. */
int hx_diag_is_weak(const hx_config *cfg);

/* text := arguments that penalize intermediate densities, if the penalty is weak. */
void hx_diag_penalise(const hx_config *cfg, char *text, size_t n_text);

/* Arguments for a filter that supports a projection, and for its radius if neither the config nor a
 * generator gives one. */
const char *hx_diag_filter_words(const hx_session *s);

/* Iterations that hx_diag_advise_projection recommends. */
int hx_diag_project_iterations(const hx_session *s, const hx_diag_facts *f);

/* text := arguments for the steps that a projection needs if the config states none, and for a
 * damping with which designs converge. */
const char *hx_diag_projection_steps(const hx_session *s, char *text, size_t n_text);

/* first: arguments with another cause, which are put before the others; "": none. */
void hx_diag_advise_projection(const hx_session *s, const hx_diag_facts *f, const char *first,
                               char *text, size_t n_text);

/* --- changes (diag_change.c) --- */

/* For runs that ended after their number of iterations or by the tolerance. */
void hx_diag_judge_change(hx_diags *diags, const hx_session *s, const hx_diag_facts *f);

#endif
