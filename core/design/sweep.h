/* Designs that can be printed, cast or milled: a map that follows filter and projection
 * (filter.h), by sweeps over the elements along a direction.
 *
 *     overhang   y_e = min(x_e, max over the supports of e),  y_e = x_e on the base plate
 *     draw       y_e = max(x_e, y of the next element above in the column of e)
 *     milling    y_e = min over the directions of the field of `draw` of each
 *
 * The supports of e (Langelaar 2017, for cubes and an axis) are the
 * elements below e whose centroids lie in the cone of half angle 90 degrees - angle under that of
 * e, at most HX_SWEEP_REACH heights of e below it, so any mesh and any direction will do. The
 * inputs of an element have lower levels; the elements of a level are independent of each other and
 * are processed together, level after level, and the derivatives in the opposite order.
 *
 * max and min are means weighted by a power of the values themselves,
 *
 *     max = sum z^(P + 1) / sum z^P,  min = sum z^(1 - P) / sum z^(-P),  P = HX_SWEEP_POWER.
 *
 * They lie between the extremes of their arguments, and equal arguments are their result, so that
 * densities stay in [rho_min, 1] and a uniform design stays uniform over any number of levels, for
 * any number of supports. The usual p-norms do not have both properties (doc/theory.md). */
#ifndef HX_SWEEP_H
#define HX_SWEEP_H

#include "../mesh/mesh.h"
#include "sweep_law.h"

HX_C_BEGIN

typedef enum { HX_SWEEP_OVERHANG, HX_SWEEP_DRAW, HX_SWEEP_MILLING } hx_sweep_kind;

/* Largest height of a cone, in heights of its element; degrees by which the cone is opened, so that
 * rounding and small distortions of a mesh whose diagonals have the angle do not decide. */
#define HX_SWEEP_REACH 1.5
#define HX_SWEEP_SLACK 1.0

typedef struct hx_sweep_params {
    hx_sweep_kind kind;
    /* OVERHANG: the least angle between a surface that faces down and the base plate, degrees, in
     * [10, 80] */
    double angle;
    int n_direction; /* 1, with MILLING up to HX_SWEEP_DIRECTIONS */
    /* OVERHANG: upwards, from the base plate; DRAW, MILLING: from the part towards the mould half or
     * the tool; of any length above 0 */
    double direction[HX_SWEEP_DIRECTIONS][3];
    /* OVERHANG: set of the elements on the base plate: the elements that it lists, or without any
     * those with a node in it. NULL: all elements that touch the plane of the lowest node */
    const char *base;
    /* DRAW: point of the plane across the direction at which two mould halves part; NaN: one half,
     * which leaves along the direction */
    double parting[3];
} hx_sweep_params;

/* The inputs of all elements for one direction. Place k of `order` has inputs
 * input[input_start[k] .. input_start[k + 1]) and is an input of output[output_start[k] .. ). */
typedef struct hx_sweep_graph {
    int64_t n;
    int n_level;
    int64_t *level_start; /* [n_level + 1] places of each level (owned, like the next) */
    int32_t *order;       /* [n] elements by level; in level 0 those on the base plate come first */
    int64_t n_base;       /* elements on the base plate */
    int64_t n_alone;      /* elements of level 0 that are not: without inputs */
    int64_t *input_start, *output_start; /* [n + 1] */
    int32_t *input, *output;             /* [input_start[n]] elements */
} hx_sweep_graph;

typedef struct hx_sweep {
    hx_sweep_params params; /* directions have length 1; base is not kept */
    int64_t n;
    int n_graph;
    hx_sweep_graph graph[HX_SWEEP_DIRECTIONS];
    double alone_volume; /* OVERHANG: fraction of the volume that nothing in the mesh can support */
    double mean_inputs;  /* per element that has any */
} hx_sweep;

/* HX_EINPUT: a direction is 0 or not finite, the angle is out of range, the mesh is distributed,
 * the base set is missing or has no element, or no element of the mesh has a support (the elements
 * are too wide for the angle). Requires a finished mesh; not its node -> element lists. O(n)
 * times the number of elements near a cone. The result does not depend on the number of threads. */
int hx_sweep_create(hx_sweep *sweep, const hx_mesh *mesh, const hx_sweep_params *params);

/* Bytes of device memory of a stage (sweep_stage.h). */
size_t hx_sweep_bytes(const hx_sweep *sweep);
/* "overhang", "draw", "milling". */
const char *hx_sweep_name(hx_sweep_kind kind);
/* Accepts a zeroed struct. */
void hx_sweep_free(hx_sweep *sweep);

/* Lists inputs by element, before levels are known: input[start[e] .. start[e + 1]). */
typedef struct hx_sweep_inputs {
    int64_t *start; /* [n + 1] (owned) */
    int32_t *input; /* (owned) */
    double *key;    /* [n] every input has a smaller key than its element (owned) */
    uint8_t *base;  /* [n] 1: on the base plate; NULL: there is none (owned) */
} hx_sweep_inputs;

/* The two ways to find them: by cones (sweep_cones.c), by columns (sweep_columns.c). The caller
 * frees the lists, also after an error. */
int hx_sweep_cones(hx_sweep_inputs *inputs, const hx_mesh *mesh, const hx_sweep_params *params);
int hx_sweep_columns(hx_sweep_inputs *inputs, const hx_mesh *mesh, const double direction[3],
                     const double *parting);

/* sweep_height.c: order[n] := elements by ascending key, ties by number. */
int hx_sweep_sort(int64_t n, const double *key, int32_t *order);

/* Height of the centroid, and the extent of the element, along a direction of length 1. */
double hx_sweep_height(const hx_mesh *mesh, int64_t e, const double direction[3], double *extent);

HX_C_END

#endif
