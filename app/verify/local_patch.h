/* Some quadratic tetrahedra of a solved mesh, each split into eight and solved again, with the
 * displacements of the larger mesh where the patch was cut out (a submodel): it shows whether a
 * stress changes on finer tetrahedra, for a small part of the cost of a finer mesh. */
#ifndef HX_LOCAL_PATCH_H
#define HX_LOCAL_PATCH_H

#include "core/design/analysis.h"
#include "core/problem/problem.h"
#include "core/space/space.h"

/* A solved mesh of tetrahedra. Everything is borrowed. */
typedef struct hx_patch_source {
    const hx_space *space; /* quadratic */
    const double *u;       /* [n_point][3] of one load case */
    /* [n_point] 1: supports, springs, rigid sets or forces act on the point, or it is where the
     * source was cut out. No tetrahedron with such a point is split. */
    const uint8_t *is_held;
    const int32_t *root; /* [n_elem] element of the whole part; NULL: the same number */
} hx_patch_source;

typedef struct hx_patch {
    hx_mesh mesh;     /* finished (owned) */
    hx_space space;   /* (owned) */
    double *u;        /* [n_point][3] interpolated; after hx_patch_solve, solved (owned) */
    double *modulus;  /* [n_elem] after hx_patch_solve (owned) */
    uint8_t *is_held; /* [n_point] 1: where the patch was cut out (owned) */
    int32_t *root;    /* [n_elem] element of the whole part (owned) */
    hx_problem problem;
    int n_iteration;
} hx_patch;

/* is_held[n_point] := 1 for points of a problem on which something acts in a case (from 0). The
 * caller frees it. */
int hx_patch_find_held(const hx_problem *problem, int load_case, uint8_t **is_held);

/* Splits the tetrahedra around a node of the mesh whose centroids lie within the radius and that
 * faces connect to it. mesh.n_elem = 0: something acts at the node itself. O(n_elem) to mark them;
 * otherwise the cost of a mesh of the patch's size. */
int hx_patch_create(hx_patch *patch, const hx_patch_source *from, int64_t node, double radius);

/* Solves the patch for a case (from 0) of the whole part's problem. HX_ENUMERIC: PCG did not
 * converge. */
int hx_patch_solve(hx_patch *patch, const hx_problem *whole, int load_case, hx_device *device,
                   const hx_solver_params *params);

/* Source of a further patch (borrows the patch). */
hx_patch_source hx_patch_as_source(const hx_patch *patch);

/* Accepts a zeroed struct. */
void hx_patch_free(hx_patch *patch);

#endif
