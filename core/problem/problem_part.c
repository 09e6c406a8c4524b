/* The problem restricted to some cells of the mesh, with the forces, supports and springs on
 * them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "problem_internal.h"
#include "rigid_set.h"

static int copy_supports(hx_problem *part, const hx_problem *whole, const int32_t *point)
{
    const size_t n = (size_t)part->space.n_point, c = (size_t)part->components;
    HX_TRY(hx_alloc_raw(&part->supports.fixed, n, 1, "supports"));
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < n; p++) part->supports.fixed[p] = whole->supports.fixed[point[p]];
    if (!whole->supports.prescribed) return HX_OK;
    HX_TRY(hx_alloc_raw(&part->supports.prescribed, n * c, sizeof(double), "supports"));
#pragma omp parallel for schedule(static)
    for (size_t p = 0; p < n; p++)
        memcpy(part->supports.prescribed + c * p, whole->supports.prescribed + c * (size_t)point[p],
               c * sizeof(double));
    return HX_OK;
}

typedef struct spring {
    int64_t dof;
    double stiffness;
} spring;

static int compare_springs(const void *a, const void *b)
{
    const int64_t x = ((const spring *)a)->dof, y = ((const spring *)b)->dof;
    return (x > y) - (x < y);
}

/* In a subdomain the order of mid-edge points differs from that of the whole. */
static int sort_springs(hx_springs *springs)
{
    const size_t n = (size_t)springs->n;
    spring *list;
    int64_t k = 1;
    while (k < springs->n && springs->dof[k - 1] < springs->dof[k]) k++;
    if (k >= springs->n) return HX_OK;
    HX_TRY(hx_alloc_raw(&list, n, sizeof *list, "springs"));
    for (size_t i = 0; i < n; i++) list[i] = (spring){springs->dof[i], springs->stiffness[i]};
    qsort(list, n, sizeof *list, compare_springs);
    for (size_t i = 0; i < n; i++) {
        springs->dof[i] = list[i].dof;
        springs->stiffness[i] = list[i].stiffness;
    }
    free(list);
    return HX_OK;
}

/* Copies rows and columns of the remaining points; in a subdomain only its own entries. */
static int copy_films(hx_problem *part, const hx_problem *whole, const int32_t *place,
                      const uint8_t *is_own)
{
    const hx_films *from = &whole->films;
    hx_films *to = &part->films;
    const size_t n = (size_t)from->n;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&to->node, n, sizeof *to->node, "convection"));
    HX_TRY(hx_alloc(&to->ptr, n + 1, sizeof *to->ptr, "convection"));
    HX_TRY(hx_alloc_raw(&to->col, (size_t)from->ptr[n], sizeof *to->col, "convection"));
    HX_TRY(hx_alloc_raw(&to->value, (size_t)from->ptr[n], sizeof *to->value, "convection"));
    HX_TRY(hx_alloc_raw(&to->source, n, sizeof *to->source, "convection"));
    if (from->square)
        HX_TRY(hx_alloc_raw(&to->square, (size_t)from->ptr[n], sizeof *to->square, "convection"));
    for (size_t k = 0; k < n; k++) {
        int64_t at = to->ptr[to->n];
        if (place[from->node[k]] < 0) continue;
        for (int64_t j = from->ptr[k]; j < from->ptr[k + 1]; j++) {
            if (place[from->col[j]] < 0 || (is_own && !is_own[j])) continue;
            to->col[at] = place[from->col[j]];
            if (from->square) to->offset += to->square[at] = from->square[j];
            to->value[at++] = from->value[j];
        }
        to->node[to->n] = place[from->node[k]];
        to->source[to->n++] = from->source[k];
        to->ptr[to->n] = at;
    }
    if (is_own) to->offset = from->offset; /* energies are summed over all subdomains */
    return HX_OK;
}

/* The remaining nodes of a rigid set still move as one body, so they receive what acted on its
 * dropped nodes. */
static void move_forces(hx_problem *part, const hx_problem *whole, const hx_rigid_set *from,
                        const hx_rigid_set *of)
{
    const int32_t *const node = part->rigid.node + of->first;
    hx_rigid_set whole_motion = *of, *const set = &whole_motion;
    set->held = 0; /* distributes everything, without regard to prescribed motions */
    for (int c = 0; c < part->cases.n; c++) {
        double sum[6] = {0.0}, motion[6];
        for (int64_t k = 0; k < from->n; k++) {
            const int64_t a = whole->rigid.node[from->first + k];
            hx_rigid_add(set, whole->space.xyz + 3 * a, whole->cases.force[c] + 3 * a, sum);
        }
        hx_rigid_motion(set, sum, motion);
        for (int64_t k = 0; k < set->n; k++)
            hx_rigid_apply(set, part->space.xyz + 3 * (int64_t)node[k], motion,
                           part->cases.force[c] + 3 * (int64_t)node[k]);
    }
}

static int alloc_rigid(hx_problem *part, const hx_problem *whole)
{
    HX_TRY(
        hx_alloc(&part->rigid.set, (size_t)whole->rigid.n, sizeof *part->rigid.set, "rigid sets"));
    return hx_alloc_raw(&part->rigid.node, (size_t)whole->rigid.n_node, sizeof(int32_t),
                        "rigid sets");
}

/* Copies all sets with the subdomain's nodes, own nodes first; their motion is that of the whole
 * set. */
static int share_rigid(hx_problem *local, const hx_problem *whole, const int32_t *place,
                       const uint8_t *is_own)
{
    if (whole->rigid.n == 0) return HX_OK;
    HX_TRY(alloc_rigid(local, whole));
    for (int i = 0; i < whole->rigid.n; i++) {
        const hx_rigid_set *const from = &whole->rigid.set[i];
        hx_rigid_set *const set = &local->rigid.set[local->rigid.n++];
        *set = *from;
        set->first = local->rigid.n_node;
        for (int is_other = 0; is_other < 2; is_other++) {
            for (int64_t k = 0; k < from->n; k++) {
                const int32_t now = place[whole->rigid.node[from->first + k]];
                if (now >= 0 && (is_own && !is_own[now]) == is_other)
                    local->rigid.node[local->rigid.n_node++] = now;
            }
            set->n = local->rigid.n_node - set->first;
            if (!is_other) set->n_own = set->n;
        }
    }
    return HX_OK;
}

static int copy_rigid(hx_problem *part, const hx_problem *whole, const int32_t *place)
{
    if (whole->rigid.n == 0) return HX_OK;
    HX_TRY(alloc_rigid(part, whole));
    for (int i = 0; i < whole->rigid.n; i++) {
        const hx_rigid_set *from = &whole->rigid.set[i];
        hx_rigid_set *set = &part->rigid.set[part->rigid.n];
        *set = *from;
        set->first = part->rigid.n_node;
        for (int64_t k = 0; k < from->n; k++) {
            const int32_t now = place[whole->rigid.node[from->first + k]];
            if (now >= 0) part->rigid.node[part->rigid.n_node++] = now;
        }
        set->n = set->n_own = set->n_all = part->rigid.n_node - set->first;
        if (set->n == 0) continue;
        part->rigid.n++;
        if (set->n == from->n) continue;
        hx_rigid_measure(&part->space, part->rigid.node + set->first, set);
        hx_rigid_hold(&part->space, part->rigid.node + set->first, set);
        move_forces(part, whole, from, set);
    }
    return HX_OK;
}

static int copy_cases(hx_problem *part, const hx_problem *whole, const int32_t *point)
{
    const size_t n_case = (size_t)whole->cases.n, c = (size_t)part->components;
    const size_t n = (size_t)part->space.n_point;
    HX_TRY(hx_alloc_raw(&part->cases.weight, n_case, sizeof(double), "load cases"));
    HX_TRY(hx_alloc(&part->cases.force, n_case, sizeof(double *), "load cases"));
    part->cases.n = whole->cases.n;
    memcpy(part->cases.weight, whole->cases.weight, n_case * sizeof(double));
    for (size_t k = 0; k < n_case; k++) {
        HX_TRY(hx_alloc_raw(&part->cases.force[k], n * c, sizeof(double), "load cases"));
#pragma omp parallel for schedule(static)
        for (size_t p = 0; p < n; p++)
            memcpy(part->cases.force[k] + c * p, whole->cases.force[k] + c * (size_t)point[p],
                   c * sizeof(double));
    }
    if (!whole->cases.body) return HX_OK;
    HX_TRY(hx_alloc_raw(&part->cases.body, n_case, sizeof *part->cases.body, "load cases"));
    memcpy(part->cases.body, whole->cases.body, n_case * sizeof *part->cases.body);
    return HX_OK;
}

/* In a subdomain the sums and counts are those of the whole. */
static int copy_passive(hx_problem *part, const hx_problem *whole, const int32_t *elem)
{
    const int64_t n = part->mesh->n_elem;
    part->passive.n = whole->passive.n;
    part->passive.mass = whole->passive.mass;
    if (!whole->passive.density) return HX_OK;
    HX_TRY(hx_alloc_raw(&part->passive.density, (size_t)n, sizeof(double), "passive elements"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) part->passive.density[e] = whole->passive.density[elem[e]];
    return HX_OK;
}

/* Copies everything but scalars of the material; place[]: points of the part, indexed by points of
 * the whole. */
static int copy_all(hx_problem *part, const hx_problem *whole, const int32_t *node,
                    const int32_t *elem, const hx_subdomain_of *own, int is_local, int32_t *point,
                    int32_t *place)
{
    /* point[n_point of the part] := the corresponding points of the whole; mid-edge points are
     * found by their ends. */
    const int64_t n_node = part->space.mesh->n_node;
    if (whole->space.element == HX_ELEMENT_SPLINE || part->space.element == HX_ELEMENT_SPLINE)
        return HX_RAISE(HX_EINPUT,
                        "a part of a spline cannot be analysed with spline elements; use "
                        "element = \"linear\" or \"quadratic\"");
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_node; a++) point[a] = node[a];
    for (int64_t k = 0; k < part->space.n_edge; k++) {
        const int64_t middle = hx_space_middle(&whole->space, node[part->space.edge[2 * k]],
                                               node[part->space.edge[2 * k + 1]]);
        if (middle < 0)
            return HX_RAISE(HX_EINTERNAL, "an edge of a part does not exist in the whole mesh");
        point[n_node + k] = (int32_t)middle;
    }
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < whole->space.n_point; p++) place[p] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < part->space.n_point; p++) place[point[p]] = (int32_t)p;
    HX_TRY(copy_supports(part, whole, point));
    /* In a subdomain: only the springs on its own points. */
    const size_t n = (size_t)whole->springs.n;
    HX_TRY(hx_alloc_raw(&part->springs.dof, n, sizeof(int64_t), "springs"));
    HX_TRY(hx_alloc_raw(&part->springs.stiffness, n, sizeof(double), "springs"));
    for (size_t k = 0; k < n; k++) {
        const int64_t dof = whole->springs.dof[k];
        if (place[dof / 3] < 0 || (own->point && !own->point[place[dof / 3]])) continue;
        part->springs.dof[part->springs.n] = 3 * (int64_t)place[dof / 3] + dof % 3;
        part->springs.stiffness[part->springs.n++] = whole->springs.stiffness[k];
    }
    HX_TRY(sort_springs(&part->springs));
    HX_TRY(copy_films(part, whole, place, own->film));
    HX_TRY(copy_cases(part, whole, point));
    HX_TRY(is_local ? share_rigid(part, whole, place, own->point) : copy_rigid(part, whole, place));
    const int64_t n_elem = part->mesh->n_elem;
    HX_TRY(hx_alloc_raw(&part->volume, (size_t)n_elem, sizeof(double), "volumes"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) part->volume[e] = whole->volume[elem[e]];
    part->total_volume = part->design_volume = hx_sum(n_elem, part->volume);
    HX_TRY(hx_problem_copy_expansion(part, whole, elem));
    return hx_problem_copy_materials(part, whole, elem);
}

/* Creates the part without checking whether it can move. */
static int create_part(hx_problem *part, const hx_problem *whole, const hx_space *space,
                       const int32_t *node, const int32_t *elem, const hx_subdomain_of *own,
                       int is_local)
{
    int32_t *point = NULL, *place = NULL;
    int rc;
    *part = *whole;
    part->mesh = space->mesh;
    part->space = *space;
    part->operator_plan = NULL;
    part->coarse_plan = NULL;
    memset(&part->supports, 0, sizeof part->supports);
    memset(&part->springs, 0, sizeof part->springs);
    memset(&part->films, 0, sizeof part->films);
    memset(&part->rigid, 0, sizeof part->rigid);
    memset(&part->cases, 0, sizeof part->cases);
    memset(&part->passive, 0, sizeof part->passive);
    memset(&part->materials, 0, sizeof part->materials);
    part->volume = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&point, (size_t)space->n_point, sizeof *point, "points of a part"));
    HX_TRY_FAIL(
        hx_alloc_raw(&place, (size_t)whole->space.n_point, sizeof *place, "points of a part"));
    rc = copy_all(part, whole, node, elem, own, is_local, point, place);
fail:
    free(point);
    free(place);
    return rc;
}

int hx_problem_create_part(hx_problem *part, const hx_problem *whole, const hx_space *space,
                           const int32_t *node, const int32_t *elem, const char *origin)
{
    const hx_subdomain_of all = {0};
    int rc = create_part(part, whole, space, node, elem, &all, 0);
    if (rc == HX_OK)
        rc = hx_problem_is_heat(part) ? hx_problem_check_held(part, origin)
                                      : hx_problem_check_supported(part, origin);
    if (rc < 0) hx_problem_free(part);
    return rc;
}

int hx_problem_create_local(hx_problem *local, const hx_problem *whole, const hx_space *space,
                            const int32_t *node, const int32_t *elem, const hx_subdomain_of *own)
{
    int rc = create_part(local, whole, space, node, elem, own, 1);
    local->whole = whole;
    local->whole_node = node;
    local->whole_elem = elem;
    local->total_volume = whole->total_volume;
    local->design_volume = whole->design_volume;
    if (rc == HX_OK) rc = copy_passive(local, whole, elem);
    if (rc < 0) hx_problem_free(local);
    return rc;
}

void hx_problem_solid_density(const hx_problem *problem, double *rho)
{
    const double *const passive = problem->passive.density;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        rho[e] = passive && !isnan(passive[e]) ? passive[e] : 1.0;
}
