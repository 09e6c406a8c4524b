/* The parts of a CalculiX job other than mesh and sets: springs, rigid sets, material, supports and
 * steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../problem/rigid_set.h"
#include "abaqus_writer.h"

enum { MAX_MODULI = 1000 };

/* What distinguishes materials: the modulus, then the coefficient of thermal expansion. */
typedef struct values {
    double modulus, expansion;
} values;

static int compare_values(const void *a, const void *b)
{
    const values *const x = a, *const y = b;
    if (x->modulus != y->modulus) return x->modulus < y->modulus ? -1 : 1;
    return (x->expansion > y->expansion) - (x->expansion < y->expansion);
}

static values values_of(const hx_problem *problem, const double *modulus, int64_t e)
{
    return (values){modulus[e], problem->cases.expansion ? hx_problem_expansion(problem, e) : 0.0};
}

static int64_t place_of_values(const values *list, int64_t n, values value)
{
    const values *const found = bsearch(&value, list, (size_t)n, sizeof value, compare_values);
    return found - list;
}

/* Collects the distinct materials, ascending. */
static int distinct_materials(const hx_problem *problem, const double *modulus, int64_t *n,
                              values *distinct)
{
    *n = 0;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) {
        const values of = values_of(problem, modulus, e);
        if (*n > 0 && bsearch(&of, distinct, (size_t)*n, sizeof *distinct, compare_values))
            continue;
        if (*n == MAX_MODULI)
            return HX_RAISE(HX_EINPUT,
                            "more than %d different moduli: a CalculiX job can be written only for "
                            "a part with few distinct densities",
                            MAX_MODULI);
        distinct[(*n)++] = of;
        qsort(distinct, (size_t)*n, sizeof *distinct, compare_values);
    }
    return HX_OK;
}

static void put_material(hx_abaqus_writer *w, const hx_problem *problem, const char *name,
                         const char *elset, values of)
{
    hx_abaqus_put(w, "*MATERIAL, NAME=%s\n*ELASTIC\n%g, %g\n", name, of.modulus, problem->poisson);
    if (problem->cases.expansion) hx_abaqus_put(w, "*EXPANSION\n%g\n", of.expansion);
    hx_abaqus_put(w, "*SOLID SECTION, ELSET=%s, MATERIAL=%s\n", elset, name);
}

static int put_materials(hx_abaqus_writer *w, const hx_problem *problem, const double *modulus)
{
    values distinct[MAX_MODULI];
    int64_t n;
    if (!modulus) {
        put_material(w, problem, "SOLID", "EALL", (values){problem->young, problem->expansion});
        return HX_OK;
    }
    HX_TRY(distinct_materials(problem, modulus, &n, distinct));
    for (int64_t k = 0; k < n; k++) {
        char elset[32], name[32];
        int64_t column = 0;
        snprintf(elset, sizeof elset, "EMAT-%d", (int)k + 1);
        snprintf(name, sizeof name, "MAT-%d", (int)k + 1);
        hx_abaqus_put(w, "*ELSET, ELSET=%s", elset);
        for (int64_t i = 0; i < w->mesh->n_elem; i++) {
            const int64_t e = hx_abaqus_elem_at(w, i);
            if (place_of_values(distinct, n, values_of(problem, modulus, e)) != k) continue;
            hx_abaqus_put_text(w, column++ % HX_ABAQUS_PER_LINE == 0 ? "\n" : ", ");
            hx_abaqus_put_int(w, hx_abaqus_elem_number(w, e));
        }
        hx_abaqus_put_text(w, "\n");
        put_material(w, problem, name, elset, distinct[k]);
    }
    return HX_OK;
}

/* --- springs --- */

typedef struct spring {
    int direction;
    double stiffness;
    int64_t point;
} spring;

static int compare_springs(const void *a, const void *b)
{
    const spring *const x = a, *const y = b;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    if (x->stiffness != y->stiffness) return x->stiffness < y->stiffness ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* Writes springs of one direction and stiffness. */
static void put_spring_group(hx_abaqus_writer *w, int64_t number, int64_t n, const spring *group)
{
    hx_abaqus_put(w, "*ELEMENT, TYPE=SPRING1, ELSET=ESPRING-%lld\n", (long long)number);
    for (int64_t k = 0; k < n; k++)
        hx_abaqus_put(w, "%lld, %lld\n", (long long)w->next_elem++,
                      (long long)hx_abaqus_point_number(w, group[k].point));
    hx_abaqus_put(w, "*SPRING, ELSET=ESPRING-%lld\n%lld\n%g\n", (long long)number,
                  (long long)group->direction + 1, group->stiffness);
}

/* Writes springs to ground, one element per degree of freedom. */
static int put_springs(hx_abaqus_writer *w, const hx_problem *problem)
{
    const int64_t n = problem->springs.n;
    spring *list = NULL;
    int64_t number = 0;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&list, (size_t)n, sizeof *list, "springs of a job"));
    for (int64_t k = 0; k < n; k++)
        list[k] = (spring){(int)(problem->springs.dof[k] % 3), problem->springs.stiffness[k],
                           problem->springs.dof[k] / 3};
    qsort(list, (size_t)n, sizeof *list, compare_springs);
    for (int64_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n; last++)
            if (list[last].direction != list[first].direction ||
                list[last].stiffness != list[first].stiffness)
                break;
        put_spring_group(w, ++number, last - first, list + first);
    }
    free(list);
    return HX_OK;
}

/* --- rigid sets --- */

/* Position of a set's reference nodes: the point that is held if there is one, otherwise the set's
 * centre. */
static const double *reference_point(const hx_rigid_set *set)
{
    return set->held ? set->point : set->centre;
}

/* A set of one node needs no reference node, unless it is held at a point. */
static int has_reference(const hx_rigid_set *set)
{
    return set->n > 1 || set->held;
}

/* Writes one node per set for forces and a second one at the same place for moments. */
static void put_rigid_sets(hx_abaqus_writer *w, const hx_problem *problem)
{
    for (int i = 0; i < problem->rigid.n; i++) {
        const hx_rigid_set *const set = &problem->rigid.set[i];
        const int64_t reference = w->next_node + 2 * i;
        if (!has_reference(set)) continue;
        hx_abaqus_put_text(w, "*NODE\n");
        const double *const x = reference_point(set);
        for (int k = 0; k < 2; k++)
            hx_abaqus_put(w, "%lld, %g, %g, %g\n", (long long)reference + k, x[0], x[1], x[2]);
        hx_abaqus_put(w, "*NSET, NSET=NRIGID-%lld", i + 1LL);
        for (int64_t k = 0; k < set->n; k++) {
            hx_abaqus_put_text(w, k % HX_ABAQUS_PER_LINE == 0 ? "\n" : ", ");
            hx_abaqus_put_int(w, hx_abaqus_point_number(w, problem->rigid.node[set->first + k]));
        }
        hx_abaqus_put(w, "\n*RIGID BODY, NSET=NRIGID-%lld, REF NODE=%lld, ROT NODE=%lld\n", i + 1LL,
                      (long long)reference, (long long)reference + 1);
    }
}

static void put_load(hx_abaqus_writer *w, int64_t node, int direction, double force)
{
    if (force != 0.0) hx_abaqus_put(w, "%lld, %lld, %g\n", (long long)node, direction + 1LL, force);
}

/* Writes the loads on a set as their resultant; the nodal forces become 0. */
static void put_rigid_loads(hx_abaqus_writer *w, const hx_problem *problem, double *force)
{
    for (int i = 0; i < problem->rigid.n; i++) {
        const hx_rigid_set *const set = &problem->rigid.set[i];
        const double *const at = reference_point(set);
        double sum[6] = {0.0}, arm[3], turn[3];
        if (!has_reference(set)) continue;
        for (int64_t k = 0; k < set->n; k++) {
            const int64_t p = problem->rigid.node[set->first + k];
            hx_rigid_add(set, problem->space.xyz + 3 * p, force + 3 * p, sum);
            memset(force + 3 * p, 0, 3 * sizeof *force);
        }
        for (int d = 0; d < 3; d++) arm[d] = set->centre[d] - at[d];
        hx_cross3(arm, sum, turn);
        for (int d = 0; d < 3; d++) sum[3 + d] += turn[d];
        for (int d = 0; d < 6; d++) put_load(w, w->next_node + 2 * i + d / 3, d % 3, sum[d]);
    }
}

/* --- steps --- */

static void put_support(hx_abaqus_writer *w, int64_t node, int direction, double value)
{
    hx_abaqus_put(w, "%lld, %lld, %lld, %g\n", (long long)node, direction + 1LL, direction + 1LL,
                  value);
}

/* Writes the supports. They are written in the step, because CalculiX accepts nonzero prescribed
 * displacements only there. */
static void put_boundary(hx_abaqus_writer *w, const hx_problem *problem)
{
    const hx_supports *const supports = &problem->supports;
    hx_abaqus_put_text(w, "*BOUNDARY\n");
    for (int64_t i = 0; i < hx_abaqus_points(w); i++) {
        const int64_t p = hx_abaqus_point_at(w, i);
        for (int d = 0; d < 3; d++) {
            if (!(supports->fixed[p] >> d & 1)) continue;
            put_support(w, hx_abaqus_point_number(w, p), d,
                        supports->prescribed ? supports->prescribed[3 * p + d] : 0.0);
        }
    }
}

/* Writes the supports at the points of rigid sets. */
static void put_held_points(hx_abaqus_writer *w, const hx_problem *problem)
{
    for (int i = 0; i < problem->rigid.n; i++)
        for (int d = 0; d < 6; d++)
            if (problem->rigid.set[i].held >> d & 1u)
                put_support(w, w->next_node + 2 * i + d / 3, d % 3, problem->rigid.set[i].value[d]);
}

/* A job has temperatures of nodes, so elements of several temperatures cannot share them. */
static int check_temperatures(const hx_problem *problem)
{
    for (int c = 0; problem->cases.expansion && c < problem->cases.n; c++)
        if (isnan(problem->cases.expansion[c].change))
            return HX_RAISE(HX_EINPUT,
                            "load case %d: a temperature_change with a set cannot be written to a "
                            ".inp file, whose temperatures belong to nodes; leave the set out, or "
                            "give its elements another expansion in materials",
                            c + 1);
    return HX_OK;
}

/* Writes the temperature of a case; that of the undeformed part is 0. */
static void put_temperature(hx_abaqus_writer *w, const hx_problem *problem, int load_case)
{
    if (problem->cases.expansion)
        hx_abaqus_put(w, "*TEMPERATURE\nNALL, %g\n", problem->cases.expansion[load_case].change);
}

static int put_steps(hx_abaqus_writer *w, const hx_problem *problem, const double *rho,
                     double *force)
{
    if (problem->cases.expansion)
        hx_abaqus_put_text(w, "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 0\n");
    for (int c = 0; c < problem->cases.n; c++) {
        hx_abaqus_put(w, "** load case %lld\n*STEP\n*STATIC\n", c + 1LL);
        if (c == 0) put_boundary(w, problem);
        if (c == 0) put_held_points(w, problem);
        put_temperature(w, problem, c);
        HX_TRY(hx_problem_nodal_force(problem, c, rho, force));
        hx_abaqus_put_text(w, "*CLOAD, OP=NEW\n");
        put_rigid_loads(w, problem, force);
        for (int64_t i = 0; i < hx_abaqus_points(w); i++) {
            const int64_t p = hx_abaqus_point_at(w, i);
            for (int d = 0; d < 3; d++)
                put_load(w, hx_abaqus_point_number(w, p), d, force[3 * p + d]);
        }
        hx_abaqus_put_text(w, "*NODE PRINT, NSET=NALL\nU\n*NODE FILE\nU\n*EL FILE\nS\n*END STEP\n");
    }
    return HX_OK;
}

int hx_abaqus_put_job(hx_abaqus_writer *w, const hx_problem *problem, double penalty)
{
    int rc;
    const size_t n_elem = (size_t)w->mesh->n_elem, n_point = (size_t)hx_abaqus_points(w);
    double *rho = NULL, *modulus = NULL, *force = NULL;
    HX_TRY(check_temperatures(problem));
    HX_TRY_FAIL(hx_alloc_raw(&rho, n_elem, sizeof *rho, "densities of a job"));
    HX_TRY_FAIL(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli of a job"));
    HX_TRY_FAIL(hx_alloc_raw(&force, 3 * n_point, sizeof *force, "forces of a job"));
    hx_problem_solid_density(problem, rho);
    hx_problem_modulus(problem, penalty, rho, modulus);
    HX_TRY_FAIL(put_springs(w, problem));
    put_rigid_sets(w, problem);
    HX_TRY_FAIL(put_materials(w, problem,
                              problem->passive.density || problem->materials.n ? modulus : NULL));
    HX_TRY_FAIL(put_steps(w, problem, rho, force));
fail:
    free(rho);
    free(modulus);
    free(force);
    return rc;
}
