/* Smoothing of element fields by a Helmholtz equation, -r^2 lap(x) + x = rho with no flux through
 * the boundary (Lazarov and Sigmund, Int. J. Numer. Meth. Engng 86, 2011), on the nodes of any mesh
 * (helmholtz.h). With v the volumes, N the sums elements -> nodes and E the means nodes -> elements:
 *
 *     smoothed = E A^-1 N v rho,    transpose: a <- v E A^-1 N a.
 *
 * A is an hx_linear, solved by hx_pcg with the Jacobi preconditioner; the tolerance is small enough
 * for exact derivatives. The cost hardly depends on r: per solve, iterations proportional to r over
 * the edge of an element. Shared by the filter `helmholtz` and by means over large balls (ball.h). */
#ifndef HX_HELMHOLTZ_MAP_H
#define HX_HELMHOLTZ_MAP_H

#include "../krylov/pcg.h"
#include "helmholtz.h"

HX_C_BEGIN

typedef struct hx_helmholtz_map {
    hx_device *dev;
    const char *who, *advice;   /* who solves, and what else would do, for messages (borrowed) */
    const hx_device_mesh *mesh; /* a reference, dropped by hx_device_mesh_drop */
    hx_device_helmholtz field;
    /* Has no fixed unknowns. With several ranks its vectors are those of the subdomain's points,
     * with 0 at points that are no nodes. */
    hx_linear a;
    hx_precond pc;
    hx_pcg pcg;
    double *d_f, *d_x; /* [a.n] right-hand side, solution (owned) */
} hx_helmholtz_map;

/* Number of entries of its vectors. */
int64_t hx_helmholtz_map_entries(const hx_device *dev, const hx_problem *problem);

/* Upper bound of the device bytes without the mesh's (device_mesh.h). n_point: entries of a vector
 * of the subdomain; 0: one rank. */
size_t hx_helmholtz_map_bytes(const hx_mesh *mesh, int64_t n_point);

/* length: r. The map must not be moved afterwards. HX_EINPUT: the device does not support it. */
int hx_helmholtz_map_create(hx_helmholtz_map *map, hx_device *dev, const hx_problem *problem,
                            double length, const char *who, const char *advice);

/* Fields [n_elem], may be in place. d_warm[entries]: first guess, replaced by the solution; NULL: 0
 * is the first guess. HX_ENUMERIC: PCG did not converge. */
int hx_helmholtz_map_forward(hx_helmholtz_map *map, const double *d_value, double *d_warm,
                             double *d_smoothed);
/* In place; starts from 0. */
int hx_helmholtz_map_transpose(hx_helmholtz_map *map, double *d_a);

/* Accepts a zeroed struct. */
void hx_helmholtz_map_free(hx_helmholtz_map *map);

HX_C_END

#endif
