/* What a design problem prescribes beside the analysed problem: the range of the densities, their
 * volume, the SIMP exponent and the projection with their continuation, and the steps. Filter and
 * optimizer borrow one struct, so that they cannot disagree. */
#ifndef HX_DESIGN_PARAMS_H
#define HX_DESIGN_PARAMS_H

#include "../problem/problem.h"
#include "schedule.h"

HX_C_BEGIN

typedef struct hx_design_params {
    double rho_min; /* lowest density, [1e-6, 0.999] */
    /* prescribed volume, passive elements included, [rho_min, 1]; 0: none is prescribed */
    double volume_fraction;
    /* density of the free elements in the first design; 0: the one that gives the volume, or 0.5
     * if none is prescribed */
    double start;
    hx_schedule penalty; /* exponent of SIMP, [1, 20] */
    hx_schedule beta;    /* steepness of the projection; 0: none */
    double eta;          /* its threshold, (0, 1) */
    /* What the threshold of the eroded design is above eta, and that of the dilated one below it
     * (filter.h); 0: it is the design itself */
    double erosion, dilation;
    /* 1: eroded, made and dilated designs are analysed, and the largest objective is minimised; 0:
     * the eroded one alone */
    int analyses_all;
    double move;             /* largest change of a density in a step, (0, 1] */
    double damping;          /* eta of the optimality criteria, (0, 1] */
    double change_tolerance; /* both schedules rise early if no density changes more; 0: never */
} hx_design_params;

/* Solid, penalty 3, rho_min = 0.001, no projection, move 0.2, damping 0.5. */
extern const hx_design_params hx_design_defaults;

/* The distance from 0.5 of the thresholds that hold a length in the design that is made, for the
 * density filter: share = length / radius, [0, 1]. A bar of this width in the design that is made
 * vanishes when it is eroded by more (Qian and Sigmund, Comput. Methods Appl. Mech. Engrg. 253,
 * 2013). */
double hx_design_threshold_distance(double share);

/* 1 if the analysed design is not the one that is made. Accepts NULL. */
int hx_design_has_variants(const hx_design_params *design);

/* HX_EINPUT with `origin` as prefix: a number is out of range. */
int hx_design_check(const hx_design_params *design, const char *origin);

/* Density of the free elements in the first design, [rho_min, 1]. */
double hx_design_initial_density(const hx_design_params *design, const hx_problem *problem);

/* rho[n_elem] of the first design, before a filter. */
void hx_design_fill(const hx_design_params *design, const hx_problem *problem, double *rho);

HX_C_END

#endif
