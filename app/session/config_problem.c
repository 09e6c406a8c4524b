#include "config_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "stress_zones.h"

void hx_config_region(const hx_config_set *set, hx_region *r)
{
    const double *point = NULL, *axis = NULL;
    double tolerance = -1.0;
    const hx_config_words *operand = NULL;
    memset(r, 0, sizeof *r);
    if (set->plane.given) {
        r->kind = HX_REGION_PLANE;
        point = set->plane.point;
        axis = set->plane.normal;
        tolerance = set->plane.tolerance;
    } else if (set->box.given) {
        r->kind = HX_REGION_BOX;
        point = set->box.min;
        axis = set->box.max;
        tolerance = set->box.tolerance;
    } else if (set->cylinder.given) {
        r->kind = HX_REGION_CYLINDER;
        point = set->cylinder.point;
        axis = set->cylinder.axis;
        r->radius = set->cylinder.radius;
        r->inner = set->cylinder.inner;
        r->length = set->cylinder.length;
        tolerance = set->cylinder.tolerance;
    } else if (set->sphere.given) {
        r->kind = HX_REGION_SPHERE;
        point = set->sphere.center;
        r->radius = set->sphere.radius;
        r->inner = set->sphere.inner;
        tolerance = set->sphere.tolerance;
    } else {
        r->kind = set->all_of.n ? HX_REGION_AND : set->any_of.n ? HX_REGION_OR : HX_REGION_NOT;
        operand = set->all_of.n ? &set->all_of : set->any_of.n ? &set->any_of : &set->none_of;
        r->n_operand = operand->n;
        r->operand = (const char *const *)operand->word;
    }
    if (point) memcpy(r->point, point, sizeof r->point);
    if (axis) memcpy(r->axis, axis, sizeof r->axis);
    r->tolerance = isnan(tolerance) ? -1.0 : tolerance;
}

static void copy_given(double to[3], const double from[3])
{
    if (!isnan(from[0])) memcpy(to, from, 3 * sizeof *to);
}

/* 1 if it is a load of heat. */
static int fill_heat(const hx_config_load *load, hx_load_spec *spec)
{
    const double value[4] = {load->source, load->heat, load->flux, load->node_heat};
    static const hx_load_kind kind[4] = {HX_LOAD_SOURCE, HX_LOAD_HEAT, HX_LOAD_FLUX,
                                         HX_LOAD_NODE_HEAT};
    for (int i = 0; i < 4; i++) {
        if (isnan(value[i])) continue;
        spec->kind = kind[i];
        spec->value[0] = value[i];
        return 1;
    }
    return 0;
}

static void fill_load(const hx_config_load *load, hx_load_spec *spec)
{
    const double *value = load->node_force;
    spec->set = load->set;
    spec->origin = load->origin;
    spec->load_case = load->load_case;
    if (fill_heat(load, spec)) return;
    spec->kind = HX_LOAD_NODE_FORCE;
    if (load->from) {
        spec->kind = HX_LOAD_FROM_FILE;
        return;
    }
    if (load->centrifugal.given) {
        spec->kind = HX_LOAD_CENTRIFUGAL;
        value = load->centrifugal.axis;
        memcpy(spec->point, load->centrifugal.point, sizeof spec->point);
        spec->speed = load->centrifugal.speed;
    } else if (!isnan(load->gravity[0])) {
        spec->kind = HX_LOAD_GRAVITY;
        value = load->gravity;
    } else if (!isnan(load->total_force[0])) {
        spec->kind = HX_LOAD_TOTAL_FORCE;
        value = load->total_force;
    } else if (!isnan(load->traction[0])) {
        spec->kind = HX_LOAD_TRACTION;
        value = load->traction;
    } else if (!isnan(load->bearing_force[0])) {
        spec->kind = HX_LOAD_BEARING;
        value = load->bearing_force;
    } else if (!isnan(load->pressure)) {
        spec->kind = HX_LOAD_PRESSURE;
        spec->value[0] = load->pressure;
        return;
    } else if (!isnan(load->temperature_change)) {
        spec->kind = HX_LOAD_TEMPERATURE_CHANGE;
        spec->value[0] = load->temperature_change;
        return;
    } else if (isnan(value[0])) {
        const int rigid = load->coupling == HX_COUPLING_RIGID;
        spec->kind = rigid ? HX_LOAD_REMOTE_RIGID : HX_LOAD_REMOTE;
        copy_given(spec->value, load->remote_force);
        copy_given(spec->moment, load->moment);
        copy_given(spec->point, load->point);
        return;
    }
    memcpy(spec->value, value, sizeof spec->value);
}

static void fill_spring(const hx_config_spring *spring, hx_spring_spec *spec)
{
    spec->set = spring->set;
    spec->origin = spring->origin;
    memcpy(spec->stiffness, spring->stiffness, sizeof spec->stiffness);
    spec->per = spring->per;
}

static void fill_support(const hx_config_support *support, hx_support_spec *spec)
{
    spec->set = support->set;
    spec->origin = support->origin;
    for (unsigned i = 0; support->fix && i < 3; i++)
        if (strchr(support->fix, "xyz"[i])) spec->fix |= 1u << i;
    memcpy(spec->value, support->value, sizeof spec->value);
    if (isnan(support->temperature)) return;
    spec->fix = HX_FIX_X;
    spec->value[0] = support->temperature;
}

static int create_problem(const hx_config *cfg, const hx_space *space,
                          const hx_conditions *conditions, hx_problem *problem,
                          hx_support_spec *support, hx_spring_spec *spring,
                          hx_convection_spec *film, hx_load_spec *load, hx_passive_spec *passive,
                          hx_material_spec *material, hx_notes *notes, hx_notes *lacking)
{
    const hx_config_convection *cfg_film = cfg->convection.entry;
    const hx_config_support *cfg_support = cfg->supports.entry;
    const hx_config_load *cfg_load = cfg->loads.entry;
    const hx_config_passive *cfg_passive = cfg->passive.entry;
    const hx_config_spring *cfg_spring = cfg->springs.entry;
    const hx_config_material *const cfg_material = cfg->materials.entry;
    for (size_t i = 0; i < cfg->materials.n; i++)
        material[i] = (hx_material_spec){cfg_material[i].set,          cfg_material[i].origin,
                                         cfg_material[i].young,        cfg_material[i].density,
                                         cfg_material[i].conductivity, cfg_material[i].expansion};
    for (size_t i = 0; i < cfg->supports.n; i++) fill_support(&cfg_support[i], &support[i]);
    for (size_t i = 0; i < cfg->convection.n; i++)
        film[i] = (hx_convection_spec){cfg_film[i].set, cfg_film[i].origin, cfg_film[i].coefficient,
                                       cfg_film[i].ambient};
    for (size_t i = 0; i < cfg->springs.n; i++) fill_spring(&cfg_spring[i], &spring[i]);
    for (size_t i = 0; i < cfg->loads.n; i++) fill_load(&cfg_load[i], &load[i]);
    for (size_t i = 0; i < cfg->passive.n; i++) {
        passive[i].set = cfg_passive[i].set;
        passive[i].origin = cfg_passive[i].origin;
        passive[i].density = cfg_passive[i].density;
        passive[i].skin = isnan(cfg_passive[i].skin) ? 0.0 : cfg_passive[i].skin;
    }
    const char *zone[HX_MOST_ZONES];
    const int n_zone = hx_stress_zone_names(cfg, space->mesh, zone);
    for (int i = 0; i < n_zone; i++)
        passive[cfg->passive.n + (size_t)i] =
            (hx_passive_spec){.set = zone[i], .origin = "optimization: exclude", .density = 1.0};
    char place[HX_CONFIG_PLACE];
    const hx_problem_params params = {
        .origin = cfg->path,
        .young = cfg->material.young,
        .poisson = cfg->material.poisson,
        .density = isnan(cfg->material.density) ? 0.0 : cfg->material.density,
        .expansion = isnan(cfg->material.expansion) ? 0.0 : cfg->material.expansion,
        .physics = hx_config_physics(cfg),
        .conductivity = cfg->material.conductivity,
        .conductivity_min =
            isnan(cfg->material.conductivity_min) ? 0.0 : cfg->material.conductivity_min,
        .rho_min = cfg->optimization.rho_min,
        .n_support = cfg->supports.n,
        .n_spring = cfg->springs.n,
        .n_load = cfg->loads.n,
        .n_passive = cfg->passive.n + (size_t)n_zone,
        .n_weight = cfg->weights.n,
        .support = support,
        .spring = spring,
        .n_convection = cfg->convection.n,
        .convection = film,
        .load = load,
        .passive = passive,
        .n_material = cfg->materials.n,
        .material = material,
        .weight = cfg->weights.value,
        .weight_origin = hx_config_place(cfg, "weights", place, sizeof place),
        .space = space,
        .conditions = conditions,
        .notes = notes,
        .lacking = lacking,
    };
    return hx_problem_create(problem, space->mesh, &params);
}

int hx_config_make_problem(const hx_config *cfg, const hx_space *space,
                           const hx_conditions *conditions, hx_problem *problem, hx_notes *notes,
                           hx_notes *lacking)
{
    int rc;
    hx_support_spec *support = NULL;
    hx_spring_spec *spring = NULL;
    hx_convection_spec *film = NULL;
    hx_load_spec *load = NULL;
    hx_passive_spec *passive = NULL;
    hx_material_spec *material = NULL;
    HX_TRY_FAIL(hx_alloc(&support, cfg->supports.n, sizeof *support, "supports"));
    HX_TRY_FAIL(hx_alloc(&spring, cfg->springs.n, sizeof *spring, "springs"));
    HX_TRY_FAIL(hx_alloc(&film, cfg->convection.n, sizeof *film, "convection"));
    HX_TRY_FAIL(hx_alloc(&load, cfg->loads.n, sizeof *load, "loads"));
    HX_TRY_FAIL(
        hx_alloc(&passive, cfg->passive.n + HX_MOST_ZONES, sizeof *passive, "passive regions"));
    HX_TRY_FAIL(hx_alloc(&material, cfg->materials.n, sizeof *material, "materials"));
    HX_TRY_FAIL(create_problem(cfg, space, conditions, problem, support, spring, film, load,
                               passive, material, notes, lacking));
fail:
    free(support);
    free(spring);
    free(film);
    free(load);
    free(passive);
    free(material);
    return rc;
}
