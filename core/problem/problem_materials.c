/* Materials of element sets beside that of the problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "problem_internal.h"

/* value / base, or 1 if the entry does not give the value. */
static int find_factor(const hx_material_spec *spec, const char *key, double value, double base,
                       double *factor)
{
    *factor = 1.0;
    if (isnan(value)) return HX_OK;
    if (!(value > 0.0) || !isfinite(value))
        return HX_RAISE(HX_EINPUT, "%s: %s = %g is out of range; it must be above 0", spec->origin,
                        key, value);
    if (!(base > 0.0))
        return HX_RAISE(HX_EINPUT,
                        "%s: %s = %g needs material.%s, that of the elements outside of materials",
                        spec->origin, key, value, key);
    *factor = value / base;
    if (isfinite(*factor) && *factor > 0.0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: %s = %g differs too much from material.%s = %g", spec->origin,
                    key, value, key, base);
}

static int find_factors(const hx_problem *problem, const hx_problem_params *params,
                        const hx_material_spec *spec, double *stiffness, double *mass)
{
    HX_TRY(find_factor(spec, "density", spec->density, params->density, mass));
    if (!hx_problem_is_heat(problem))
        return find_factor(spec, "E", spec->young, params->young, stiffness);
    HX_TRY(find_factor(spec, "conductivity", spec->conductivity, params->conductivity, stiffness));
    if (*stiffness * problem->young > problem->least) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: conductivity = %g must be above that of void, material.conductivity_min = "
                    "%g",
                    spec->origin, spec->conductivity, problem->least);
}

/* Raises HX_EINPUT in all processes if an element of any of them has a material already. shared:
 * the first such element of this process, -1: none. */
static int check_apart(const hx_problem *problem, const hx_problem_params *params, size_t i,
                       int64_t shared)
{
    const hx_mesh *const mesh = problem->mesh;
    /* minus the number of the element, and of the material it has: the lowest of all processes */
    double least = -INFINITY, other = -INFINITY;
    int64_t n;
    HX_TRY(hx_mesh_count_all(mesh, shared >= 0, &n));
    if (n == 0) return HX_OK;
    if (shared >= 0) least = -(double)hx_mesh_elem_number(mesh, shared);
    const double mine = least;
    HX_TRY(hx_reduce_max(hx_mesh_reduce(mesh), 1, &least));
    if (shared >= 0 && mine == least) other = problem->materials.number[shared];
    HX_TRY(hx_reduce_max(hx_mesh_reduce(mesh), 1, &other));
    return HX_RAISE(HX_EINPUT,
                    "%s: set '%s' overlaps set '%s' of an earlier material: element %lld belongs "
                    "to both; an element has one material",
                    params->material[i].origin, params->material[i].set,
                    params->material[(size_t)other - 1].set, (long long)-least);
}

/* The coefficient of thermal expansion, which may be 0 or negative. */
static int find_expansion(const hx_material_spec *spec, double base, double *expansion)
{
    *expansion = isnan(spec->expansion) ? base : spec->expansion;
    if (isfinite(*expansion)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: expansion = %g is not finite", spec->origin, spec->expansion);
}

static int add_material(hx_problem *problem, const hx_problem_params *params, size_t i)
{
    const hx_material_spec *const spec = &params->material[i];
    hx_materials *const to = &problem->materials;
    const hx_set *set;
    int64_t n, shared = -1;
    HX_TRY(hx_problem_find_set(problem->mesh, spec->set, spec->origin, &set));
    HX_TRY(hx_mesh_count_all(problem->mesh, set->n_elem, &n));
    if (n == 0)
        return HX_RAISE(HX_EINPUT,
                        "%s: set '%s' contains no element to give a material; it needs a set of "
                        "elements",
                        spec->origin, spec->set);
    HX_TRY(find_factors(problem, params, spec, &to->stiffness[i + 1], &to->mass[i + 1]));
    HX_TRY(find_expansion(spec, problem->expansion, &to->expansion[i + 1]));
    for (int64_t k = 0; k < set->n_elem; k++) {
        const int32_t e = set->elem[k];
        if (to->number[e] > 0 && (shared < 0 || hx_mesh_elem_number(problem->mesh, e) <
                                                    hx_mesh_elem_number(problem->mesh, shared)))
            shared = e;
    }
    HX_TRY(check_apart(problem, params, i, shared));
    for (int64_t k = 0; k < set->n_elem; k++) to->number[set->elem[k]] = (uint8_t)(i + 1);
    return HX_OK;
}

static int alloc_materials(hx_materials *to, size_t n, int64_t n_elem)
{
    HX_TRY(hx_alloc(&to->number, (size_t)n_elem, 1, "materials"));
    HX_TRY(hx_alloc(&to->stiffness, n, sizeof *to->stiffness, "materials"));
    HX_TRY(hx_alloc(&to->mass, n, sizeof *to->mass, "materials"));
    HX_TRY(hx_alloc(&to->expansion, n, sizeof *to->expansion, "materials"));
    HX_TRY(hx_alloc(&to->count, n, sizeof *to->count, "materials"));
    HX_TRY(hx_alloc(&to->volume, n, sizeof *to->volume, "materials"));
    to->n = (int)n;
    return HX_OK;
}

/* Counts and measures the elements of each material. */
static int measure_materials(hx_problem *problem)
{
    hx_materials *const m = &problem->materials;
    const hx_mesh *const mesh = problem->mesh;
    for (int64_t e = hx_mesh_own_begin(mesh); e < hx_mesh_own_end(mesh); e++) {
        m->count[m->number[e]]++;
        m->volume[m->number[e]] += problem->volume[e];
    }
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), m->n, m->count));
    return hx_reduce_sum(hx_mesh_reduce(mesh), m->n, m->volume);
}

int hx_problem_add_materials(hx_problem *problem, const hx_problem_params *params)
{
    const size_t n = params->n_material + 1;
    if (n == 1) return HX_OK;
    if (n > HX_MOST_MATERIALS)
        return HX_RAISE(HX_EINPUT, "%s: %zu materials are too many; at most %d entries",
                        params->origin, params->n_material, HX_MOST_MATERIALS - 1);
    HX_TRY(alloc_materials(&problem->materials, n, problem->mesh->n_elem));
    problem->materials.stiffness[0] = problem->materials.mass[0] = 1.0;
    problem->materials.expansion[0] = problem->expansion;
    for (size_t i = 0; i < params->n_material; i++) HX_TRY(add_material(problem, params, i));
    return measure_materials(problem);
}

int hx_problem_copy_materials(hx_problem *to, const hx_problem *from, const int32_t *elem)
{
    const hx_materials *const m = &from->materials;
    const size_t n = (size_t)m->n;
    if (n == 0) return HX_OK;
    HX_TRY(alloc_materials(&to->materials, n, to->mesh->n_elem));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < to->mesh->n_elem; e++)
        to->materials.number[e] = m->number[elem ? elem[e] : e];
    memcpy(to->materials.stiffness, m->stiffness, n * sizeof *m->stiffness);
    memcpy(to->materials.mass, m->mass, n * sizeof *m->mass);
    memcpy(to->materials.expansion, m->expansion, n * sizeof *m->expansion);
    return measure_materials(to);
}

int hx_problem_mass_volume(const hx_problem *problem, const double *rho, double *sum)
{
    const hx_mesh *const mesh = problem->mesh;
    const int64_t begin = hx_mesh_own_begin(mesh), n = hx_mesh_own_end(mesh) - begin;
    double part[HX_N_PART];
#pragma omp parallel for schedule(static)
    for (int p = 0; p < HX_N_PART; p++) {
        part[p] = 0.0;
        for (int64_t e = begin + hx_part_begin(n, p); e < begin + hx_part_begin(n, p + 1); e++)
            part[p] +=
                hx_problem_mass_factor(problem, e) * problem->volume[e] * (rho ? rho[e] : 1.0);
    }
    *sum = hx_sum_parts(part);
    return hx_reduce_sum(hx_mesh_reduce(mesh), 1, sum);
}
