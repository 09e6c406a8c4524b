/* Loads, reactions and springs of a case, summed set by set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"

/* Adds component i of a force, or heat, at point p. */
static void add_force_component(hx_analyse_sum *sum, const hx_space *space, int64_t p, int i,
                                double force)
{
    const double *const x = space->xyz + 3 * p;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    sum->force[i] += force;
    sum->moment[j] += x[k] * force; /* x cross f */
    sum->moment[k] -= x[j] * force;
}

static void add_sum(hx_analyse_sum *to, const hx_analyse_sum *sum, double factor)
{
    for (int i = 0; i < 3; i++) {
        to->force[i] += factor * sum->force[i];
        to->moment[i] += factor * sum->moment[i];
    }
}

/* --- points of sets --- */

/* Sets bits of the points of a set. */
static int mark_set(const hx_session *s, const char *name, unsigned bits, uint8_t *mark)
{
    const hx_set *set = name ? hx_mesh_find_set(&s->mesh, name) : NULL;
    int64_t n = 0;
    int32_t *point = NULL;
    if (!set) return HX_OK;
    HX_TRY(hx_space_set_points(&s->space, set, &n, &point));
    for (int64_t k = 0; k < n; k++) mark[point[k]] |= (uint8_t)bits;
    free(point);
    return HX_OK;
}

/* Marks the points that the mesh's file holds. Mid-side nodes that it does not name are held if
 * both ends of their edge are. */
static int mark_file(const hx_session *s, uint8_t *mark)
{
    const hx_conditions *from = &s->conditions;
    const hx_space *space = &s->space;
    const int64_t n_node = s->mesh.n_node;
    int32_t *node = NULL;
    HX_TRY(hx_conditions_nodes(&s->mesh, from->n_support, from->support, &node));
    for (int64_t k = 0; k < from->n_support; k++)
        mark[node[k]] |= (uint8_t)(1u << from->support[k].component);
    free(node);
    for (int64_t k = 0; k < space->n_edge; k++)
        mark[n_node + k] = mark[space->edge[2 * k]] & mark[space->edge[2 * k + 1]];
    HX_TRY(hx_conditions_ends(&s->mesh, from->n_middle, from->middle, &node));
    for (int64_t k = 0; k < from->n_middle; k++) {
        const int64_t p = hx_space_middle(space, node[2 * k], node[2 * k + 1]);
        if (p >= 0 && from->middle[k].load_case == 0)
            mark[p] |= (uint8_t)(1u << from->middle[k].component);
    }
    free(node);
    /* Rigid sets whose reference point the mesh's file holds completely act as supports. */
    for (int64_t i = 0; i < from->n_rigid; i++)
        if (from->rigid[i].held == HX_FILE_HELD_ALL)
            HX_TRY(mark_set(s, from->rigid[i].set, HX_FIX_X | HX_FIX_Y | HX_FIX_Z, mark));
    return HX_OK;
}

static unsigned fix_bits(const hx_session *s, const hx_config_support *support)
{
    unsigned bits = 0;
    if (hx_config_is_heat(&s->cfg)) return HX_FIX_X;
    for (unsigned i = 0; i < 3; i++)
        if (support->fix && strchr(support->fix, "xyz"[i])) bits |= 1u << i;
    return bits;
}

/* --- sums --- */

static int sum_loads(hx_analyse *a, int c, double *force)
{
    const hx_session *s = a->session;
    const hx_films *films = &s->problem.films;
    const int n = s->problem.components;
    hx_analyse_case *const of = &a->load_case[c];
    HX_TRY(hx_problem_nodal_force(&s->problem, c, a->rho, force));
    for (int64_t k = 0; k < films->n; k++) force[films->node[k]] -= films->source[k];
    for (int64_t p = 0; p < s->space.n_point; p++) {
        for (int i = 0; i < n; i++)
            add_force_component(&of->load, &s->space, p, i, force[n * p + i]);
        of->size += n == 3 ? hx_norm3(force + 3 * p) : fabs(force[p]);
    }
    return HX_OK;
}

/* On return a->reaction has the reactions at fixed degrees of freedom. */
static int sum_reactions(hx_analyse *a, int c)
{
    hx_session *const s = a->session;
    const int n = s->problem.components;
    hx_analyse_case *const of = &a->load_case[c];
    HX_TRY(hx_analysis_residual(&s->analysis, c, a->reaction));
    /* Handles rigid sets of which some components of a point are held: the forces at their
     * nodes add up to the reaction of that point. */
    const hx_rigid_sets *rigid = &s->problem.rigid;
    for (int i = 0; i < rigid->n; i++)
        for (int64_t k = 0; rigid->set[i].held && k < rigid->set[i].n; k++) {
            const int64_t p = rigid->node[rigid->set[i].first + k];
            for (int d = 0; d < 3; d++)
                add_force_component(&of->held, &s->space, p, d, a->reaction[3 * p + d]);
        }
    add_sum(&of->reaction, &of->held, 1.0);
    of->size += hx_norm3(of->held.force);
    for (int64_t p = 0; p < s->space.n_point; p++) {
        double *const r = a->reaction + n * p;
        for (int i = 0; i < n; i++) {
            if (!(s->problem.supports.fixed[p] >> i & 1)) r[i] = 0.0;
            add_force_component(&of->reaction, &s->space, p, i, r[i]);
        }
        of->size += n == 3 ? hx_norm3(r) : fabs(r[0]);
    }
    return HX_OK;
}

static int sum_supports(hx_analyse *a, int c, uint8_t *mark)
{
    const hx_session *s = a->session;
    const hx_config_support *support = s->cfg.supports.entry;
    for (size_t i = 0; i < s->cfg.supports.n; i++) {
        memset(mark, 0, (size_t)s->space.n_point);
        if (support[i].from)
            HX_TRY(mark_file(s, mark));
        else
            HX_TRY(mark_set(s, support[i].set, fix_bits(s, &support[i]), mark));
        const int n = s->problem.components;
        for (int64_t p = 0; p < s->space.n_point; p++)
            for (int k = 0; k < n; k++)
                if (mark[p] >> k & 1)
                    add_force_component(&a->load_case[c].support[i], &s->space, p, k,
                                        a->reaction[n * p + k]);
        if (support[i].from) add_sum(&a->load_case[c].support[i], &a->load_case[c].held, 1.0);
    }
    return HX_OK;
}

/* Forces of the springs on the part: -k u. */
static int sum_springs(hx_analyse *a, int c, uint8_t *mark)
{
    const hx_session *s = a->session;
    const hx_springs *springs = &s->problem.springs;
    const hx_config_spring *spring = s->cfg.springs.entry;
    hx_analyse_case *const of = &a->load_case[c];
    for (size_t i = 0; i <= s->cfg.springs.n; i++) { /* the last entry: all springs */
        hx_analyse_sum *const sum = i < s->cfg.springs.n ? &of->spring_of[i] : &of->spring;
        memset(mark, i == s->cfg.springs.n, (size_t)s->space.n_point);
        if (i < s->cfg.springs.n) HX_TRY(mark_set(s, spring[i].set, 1, mark));
        for (int64_t k = 0; k < springs->n; k++) {
            const int64_t dof = springs->dof[k];
            if (mark[dof / 3])
                add_force_component(sum, &s->space, dof / 3, (int)(dof % 3),
                                    -springs->stiffness[k] * a->u[dof]);
        }
    }
    return HX_OK;
}

int hx_analyse_sum_forces(hx_analyse *a, int load_case)
{
    const hx_session *s = a->session;
    hx_analyse_case *const of = &a->load_case[load_case];
    uint8_t *mark = NULL;
    double *force = NULL;
    int rc;
    const size_t n = (size_t)s->space.n_point;
    HX_TRY_FAIL(hx_alloc_raw(&mark, n, 1, "points of sets"));
    HX_TRY_FAIL(hx_alloc_raw(&force, n * (size_t)s->problem.components, sizeof *force, "forces"));
    HX_TRY_FAIL(sum_loads(a, load_case, force));
    HX_TRY_FAIL(sum_reactions(a, load_case));
    HX_TRY_FAIL(sum_supports(a, load_case, mark));
    HX_TRY_FAIL(sum_springs(a, load_case, mark));
    HX_TRY_FAIL(hx_analysis_film_heat(&s->analysis, load_case, &of->film.force[0]));
    add_sum(&of->balance, &of->load, 1.0);
    add_sum(&of->balance, &of->reaction, 1.0);
    add_sum(&of->balance, &of->spring, 1.0);
    add_sum(&of->balance, &of->film, -1.0);
fail:
    free(mark);
    free(force);
    return rc;
}
