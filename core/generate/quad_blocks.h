/* Block-structured quadrilateral meshes in the (x, z) plane, extruded to hexahedra along y, for
 * generators with round holes. Not installed. */
#ifndef HX_QUAD_BLOCKS_H
#define HX_QUAD_BLOCKS_H

#include "../mesh/mesh_source.h"

typedef struct hx_quads {
    int64_t n_point, n_quad;
    size_t cap_point, cap_quad;
    double *xz;    /* [n_point][2] length (owned) */
    int32_t *quad; /* [n_quad][4] counter-clockwise with x to the right and z up (owned) */
    uint8_t *rim;  /* [n_point] != 0: on a side of its block (owned) */
} hx_quads;

/* A curve from a (parameter 0) to b (parameter 1): at bulge 0 the straight line, at bulge 1 the arc
 * about `centre` (angle and radius change linearly, angles increase from a to b), otherwise a
 * linear combination. */
typedef struct hx_curve {
    double a[2], b[2], centre[2];
    double bulge;
} hx_curve;

void hx_curve_at(const hx_curve *curve, double t, double point[2]);

/* A side of a block: the part of a curve from t0 to t1, in equal steps of the parameter. */
typedef struct hx_side {
    const hx_curve *curve;
    double t0, t1;
} hx_side;

/* Adds n_u x n_v quadrilaterals by transfinite interpolation (Gordon and Hall 1973) between south
 * and north (along u) and west and east (along v); u, v counter-clockwise. The ends of the sides
 * must meet. */
int hx_quads_add_block(hx_quads *quads, int n_u, int n_v, hx_side south, hx_side north,
                       hx_side west, hx_side east);

/* Joins points of block sides that lie within `tolerance` of each other. */
int hx_quads_weld(hx_quads *quads, double tolerance);

enum { HX_QUADS_SETS = 8 };

/* A set of nodes: those above points with is_in != 0. A set of elements: those above the first
 * n_quad quadrilaterals. */
typedef struct hx_quads_set {
    const char *name;
    int (*is_in)(int set, const double xz[2]); /* set: index in the list; NULL: a set of elements */
    int64_t n_quad;
} hx_quads_set;

/* Makes the source of a mesh of n_layer layers, y from 0 to thickness. Node = point * (n_layer + 1)
 * + layer, element = quad * n_layer + layer. Takes ownership of the quadrilaterals, also on
 * failure; n_set <= HX_QUADS_SETS. */
int hx_quads_source(hx_quads *quads, const char *name, int n_layer, double thickness, int n_set,
                    const hx_quads_set *set, hx_mesh_source *source);

void hx_quads_free(hx_quads *quads);

/* Returns the step h near h_start for which count(h, context) is nearest to target, from a scan of
 * +-8 %. */
double hx_fit_step(double (*count)(double h, const void *context), const void *context,
                   double h_start, double target);

#endif
