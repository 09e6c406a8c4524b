/* Springs to ground: stiffness on the diagonal of K that does not depend on the design. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sum.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "problem_internal.h"

static int check_stiffness(const hx_spring_spec *spring)
{
    const double *k = spring->stiffness;
    for (int i = 0; i < 3; i++)
        if (!(k[i] >= 0.0) || k[i] > 1e300)
            return HX_RAISE(HX_EINPUT, "%s: stiffness[%d] = %g must be finite and not negative",
                            spring->origin, i, k[i]);
    if (k[0] > 0.0 || k[1] > 0.0 || k[2] > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: the stiffness is 0 in every direction", spring->origin);
}

/* Area by the integration points of the springs, which differs from that by other points on warped
 * quadrilaterals. */
static double area_of(const hx_space *space, int64_t n_face, const int64_t *face)
{
    double area = 0.0;
    if (space->element != HX_ELEMENT_QUADRATIC) return hx_space_faces_area(space, n_face, face);
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_fine(space, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++) area += hx_norm3(at.at[q].normal);
    }
    return area;
}

/* diag[node] += stiffness times the node's share of the faces' area. The squares of shape functions
 * on a quadratic face have degree 4 and 5, so the finer rule is used (space.h). */
static void add_by_area(const hx_space *space, int64_t n_face, const int64_t *face, double per_area,
                        const double stiffness[3], double *diag)
{
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        double share[HX_FACE_POINTS];
        hx_space_face_fine(space, face[f], &at);
        hx_space_face_lump(&at, share);
        for (int a = 0; a < at.n; a++)
            for (int i = 0; i < 3; i++)
                diag[3 * (int64_t)at.point[a] + i] += per_area * share[a] * stiffness[i];
    }
}

static void add_by_node(const hx_set *set, double share, const double stiffness[3], double *diag)
{
    for (int64_t k = 0; k < set->n_node; k++)
        for (int i = 0; i < 3; i++) diag[3 * (int64_t)set->node[k] + i] += share * stiffness[i];
}

static int add_spring(const hx_space *space, const hx_spring_spec *spring, double *diag)
{
    const hx_mesh *mesh = space->mesh;
    const hx_set *set;
    int64_t n_face = 0, *face = NULL;
    HX_TRY(check_stiffness(spring));
    HX_TRY(hx_problem_find_set(mesh, spring->set, spring->origin, &set));
    if (set->n_node == 0 && (set->n_face == 0 || spring->per == HX_SPRING_NODE))
        return HX_RAISE(HX_EINPUT, "%s: set '%s' contains no node for the springs", spring->origin,
                        spring->set);
    if (spring->per == HX_SPRING_NODE) {
        HX_TRY(hx_problem_refuse_spline(space, spring->origin, "the springs act on nodes"));
        add_by_node(set, 1.0, spring->stiffness, diag);
        return HX_OK;
    }
    HX_TRY(hx_problem_faces(mesh, set, spring->origin, &n_face, &face));
    if (n_face > 0)
        add_by_area(space, n_face, face,
                    spring->per == HX_SPRING_AREA ? 1.0 : 1.0 / area_of(space, n_face, face),
                    spring->stiffness, diag);
    else if (space->element != HX_ELEMENT_SPLINE && spring->per == HX_SPRING_TOTAL)
        add_by_node(set, 1.0 / (double)set->n_node, spring->stiffness, diag);
    free(face);
    if (n_face == 0)
        HX_TRY(hx_problem_refuse_spline(space, spring->origin,
                                        "springs on a set without faces act on nodes"));
    if (n_face == 0 && spring->per == HX_SPRING_AREA)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' spans no boundary face (%lld %s), but a stiffness per area "
                        "needs a surface; name a set of faces, or use per = \"total\" or \"node\"",
                        spring->origin, spring->set, (long long)set->n_node,
                        hx_noun(set->n_node, "node", "nodes"));
    return HX_OK;
}

/* Lists the nonzero entries of the diagonal. */
static int list_springs(hx_springs *springs, int64_t n_dof, const double *diag)
{
    int64_t begin[HX_N_PART + 1];
    /* Number of nonzero entries of the diagonal before each part. */
    begin[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_dof, part + 1);
        int64_t n = 0;
        for (int64_t k = hx_part_begin(n_dof, part); k < end; k++) n += diag[k] > 0.0;
        begin[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) begin[part + 1] += begin[part];
    const size_t n = (size_t)begin[HX_N_PART];
    HX_TRY(hx_alloc_raw(&springs->dof, n, sizeof *springs->dof, "springs"));
    HX_TRY(hx_alloc_raw(&springs->stiffness, n, sizeof *springs->stiffness, "springs"));
    springs->n = begin[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n_dof, part + 1);
        int64_t next = begin[part];
        for (int64_t k = hx_part_begin(n_dof, part); k < end; k++) {
            if (!(diag[k] > 0.0)) continue;
            springs->dof[next] = k;
            springs->stiffness[next++] = diag[k];
        }
    }
    return HX_OK;
}

int hx_problem_add_springs(hx_problem *problem, const hx_problem_params *params)
{
    double *diag;
    int rc = HX_OK;
    if (params->n_spring == 0) return HX_OK;
    HX_TRY(hx_alloc(&diag, 3 * (size_t)problem->space.n_point, sizeof *diag, "springs"));
    for (size_t i = 0; rc == HX_OK && i < params->n_spring; i++)
        rc = add_spring(&problem->space, &params->spring[i], diag);
    if (rc == HX_OK) rc = list_springs(&problem->springs, 3 * problem->space.n_point, diag);
    free(diag);
    return rc;
}
