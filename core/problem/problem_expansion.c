/* Thermal expansion: the strains of each case, and the resulting forces on the host. */
#include "expansion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "problem_internal.h"

static int some_expand(const hx_problem_params *params)
{
    int any = params->expansion != 0.0;
    for (size_t i = 0; i < params->n_material; i++)
        any |= !isnan(params->material[i].expansion) && params->material[i].expansion != 0.0;
    return any;
}

static int check_temperature(const hx_problem *problem, const hx_problem_params *params,
                             const hx_load_spec *load)
{
    if (!isfinite(load->value[0]))
        return HX_RAISE(HX_EINPUT, "%s: a temperature change of %g is not finite", load->origin,
                        load->value[0]);
    if (!isfinite(params->expansion))
        return HX_RAISE(HX_EINPUT, "%s: material.expansion = %g is not finite", params->origin,
                        params->expansion);
    if (!some_expand(params))
        return HX_RAISE(HX_EINPUT,
                        "%s: a temperature change needs material.expansion, the coefficient of "
                        "thermal expansion; for example expansion = 12e-6 of steel, per K",
                        load->origin);
    if (problem->space.element != HX_ELEMENT_SPLINE) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: thermal expansion of spline elements is not supported; use element = "
                    "\"linear\" or \"quadratic\"",
                    load->origin);
}

/* Adds a temperature change of a set; field->strain has those of elements until the fields are
 * finished. */
static int add_to_set(const hx_problem *problem, const hx_load_spec *load,
                      hx_expansion_field *field)
{
    const hx_mesh *const mesh = problem->mesh;
    const hx_set *set;
    int64_t n;
    HX_TRY(hx_problem_find_set(mesh, load->set, load->origin, &set));
    HX_TRY(hx_mesh_count_all(mesh, set->n_elem, &n));
    if (n == 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' contains no element to heat; it needs a set of elements, or "
                        "leave the set out for the whole part",
                        load->origin, load->set);
    if (!field->strain)
        HX_TRY(hx_alloc(&field->strain, (size_t)mesh->n_elem, sizeof *field->strain,
                        "temperature changes"));
    for (int64_t k = 0; k < set->n_elem; k++) field->strain[set->elem[k]] += load->value[0];
    return HX_OK;
}

int hx_problem_add_temperature(hx_problem *problem, const hx_problem_params *params,
                               const hx_load_spec *load)
{
    HX_TRY(check_temperature(problem, params, load));
    if (!problem->cases.expansion)
        HX_TRY(hx_alloc(&problem->cases.expansion, (size_t)problem->cases.n,
                        sizeof *problem->cases.expansion, "temperature changes"));
    hx_expansion_field *const field = &problem->cases.expansion[load->load_case - 1];
    if (load->set) return add_to_set(problem, load, field);
    field->change += load->value[0];
    return HX_OK;
}

/* 1 if all elements have the coefficient of material 0. */
static int is_one_material(const hx_problem *problem)
{
    int is_one = 1;
    for (int i = 0; i < problem->materials.n; i++)
        is_one &= problem->materials.expansion[i] == problem->expansion;
    return is_one;
}

/* Temperature changes become strains. */
static int make_strains(const hx_problem *problem, hx_expansion_field *field)
{
    const int64_t n = problem->mesh->n_elem;
    const int of_sets = field->strain != NULL;
    if (!of_sets && is_one_material(problem)) {
        field->uniform = problem->expansion * field->change;
        field->acts = field->uniform != 0.0;
        return HX_OK;
    }
    if (!of_sets) HX_TRY(hx_alloc(&field->strain, (size_t)n, sizeof *field->strain, "expansion"));
    int64_t n_acting = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_acting)
    for (int64_t e = 0; e < n; e++) {
        field->strain[e] =
            hx_problem_expansion(problem, e) * (field->change + (of_sets ? field->strain[e] : 0.0));
        n_acting += field->strain[e] != 0.0;
    }
    if (of_sets) field->change = (double)NAN;
    HX_TRY(hx_mesh_count_all(problem->mesh, n_acting, &n_acting));
    field->acts = n_acting > 0;
    return HX_OK;
}

int hx_problem_finish_expansion(hx_problem *problem)
{
    int acts = 0;
    for (int c = 0; problem->cases.expansion && c < problem->cases.n; c++) {
        hx_expansion_field *const field = &problem->cases.expansion[c];
        int any;
        HX_TRY(make_strains(problem, field));
        HX_TRY(hx_problem_has_forces(problem, c, &any));
        field->alone = !any;
        acts |= field->acts;
    }
    if (!acts) hx_problem_free_expansion(problem);
    return HX_OK;
}

int hx_problem_copy_expansion(hx_problem *to, const hx_problem *from, const int32_t *elem)
{
    const int64_t n = to->mesh->n_elem;
    if (!from->cases.expansion) return HX_OK;
    HX_TRY(hx_alloc(&to->cases.expansion, (size_t)from->cases.n, sizeof *to->cases.expansion,
                    "expansion"));
    for (int c = 0; c < from->cases.n; c++) {
        const hx_expansion_field *const source = &from->cases.expansion[c];
        hx_expansion_field *const field = &to->cases.expansion[c];
        *field = *source;
        field->strain = NULL;
        if (!source->strain) continue;
        HX_TRY(hx_alloc_raw(&field->strain, (size_t)n, sizeof *field->strain, "expansion"));
        for (int64_t e = 0; e < n; e++) field->strain[e] = source->strain[elem ? elem[e] : e];
    }
    return HX_OK;
}

void hx_problem_free_expansion(hx_problem *problem)
{
    for (int c = 0; problem->cases.expansion && c < problem->cases.n; c++)
        free(problem->cases.expansion[c].strain);
    free(problem->cases.expansion);
    problem->cases.expansion = NULL;
}

/* --- forces --- */

/* force += p int grad N_a dV for the points of a quadratic cell. */
static void add_quadratic(const hx_space *space, int64_t cell, double p, double *force)
{
    const hx_cell_rule *const rule = &space->rule[space->kind[cell]];
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    for (int q = 0; q < rule->n_gauss; q++) {
        double j[3][3] = {{0.0}};
        for (int a = 0; a < n; a++)
            for (int k = 0; k < 3; k++)
                for (int i = 0; i < 3; i++)
                    j[k][i] += rule->gradient[q][k][a] * space->xyz[3 * (int64_t)point[a] + i];
        for (int i = 0; i < 3; i++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
            for (int k = 0; k < 3; k++) {
                const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                const double w =
                    p * rule->weight[q] * (j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1]);
                for (int a = 0; a < n; a++)
                    force[3 * (int64_t)point[a] + i] += w * rule->gradient[q][k][a];
            }
        }
    }
}

static void add_linear(const hx_mesh *mesh, int64_t e, double p, double *force)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    double x[24], g[3];
    hx_hex8_gather(conn, mesh->xyz, x);
    for (int a = 0; a < 8; a++) {
        hx_hex8_gradient_integral(x, a, g);
        for (int i = 0; i < 3; i++) force[3 * (int64_t)conn[a] + i] += p * g[i];
    }
}

void hx_problem_add_expansion(const hx_problem *problem, int load_case, const double *modulus,
                              double *force)
{
    const hx_expansion_field *const field = hx_problem_expands(problem, load_case);
    const double stiffness = hx_expansion_stiffness(problem->lambda, problem->mu);
    for (int64_t e = 0; field && e < problem->mesh->n_elem; e++) {
        const double p = modulus[e] * stiffness * hx_expansion_strain(field, e);
        if (problem->space.element == HX_ELEMENT_LINEAR)
            add_linear(problem->mesh, e, p, force);
        else
            add_quadratic(&problem->space, e, p, force);
    }
}
