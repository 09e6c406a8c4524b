#include "meant_sets.h"

#include <math.h>
#include <string.h>

#include "../text/log.h"

static int resolve_meant_set(const hx_mesh *mesh, const char *origin, hx_set_use use, char **set)
{
    const char *const meant = hx_mesh_name_for(mesh, *set, use);
    if (!*set || strcmp(meant, *set) == 0) return HX_OK;
    hx_log_info("%s: set '%s' is taken to be the set '%s'", origin, *set, meant);
    return hx_config_set_word(set, meant);
}

/* The kind of set that a load takes: tractions, pressures, bearing forces and fluxes act on faces,
 * sources in elements; forces, and a total force or heat, act on the nodes of the set. */
static hx_set_use use_of(const hx_config_load *load)
{
    const int is_on_faces = !isnan(load->pressure) || !isnan(load->traction[0]) ||
                            !isnan(load->bearing_force[0]) || !isnan(load->flux);
    if (!isnan(load->source)) return HX_USE_ELEMS;
    return is_on_faces ? HX_USE_FACES : HX_USE_NODES;
}

int hx_resolve_meant_sets(hx_config *cfg, const hx_mesh *mesh)
{
    hx_config_support *const support = cfg->supports.entry;
    hx_config_spring *const spring = cfg->springs.entry;
    hx_config_convection *const film = cfg->convection.entry;
    hx_config_load *const load = cfg->loads.entry;
    hx_config_passive *const passive = cfg->passive.entry;
    hx_config_material *const material = cfg->materials.entry;
    hx_config_constraint *const limit = cfg->optimization.constraints.entry;
    if (mesh->n_shared == 0) return HX_OK;
    HX_TRY(resolve_meant_set(mesh, "optimization.objective", HX_USE_NODES,
                             &cfg->optimization.objective.set));
    HX_TRY(resolve_meant_set(mesh, "optimization.objective", HX_USE_NODES,
                             &cfg->optimization.objective.set_2));
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++) {
        HX_TRY(resolve_meant_set(mesh, limit[i].origin, HX_USE_NODES, &limit[i].set));
        HX_TRY(resolve_meant_set(mesh, limit[i].origin, HX_USE_NODES, &limit[i].set_2));
    }
    for (size_t i = 0; i < cfg->materials.n; i++)
        HX_TRY(resolve_meant_set(mesh, material[i].origin, HX_USE_ELEMS, &material[i].set));
    for (size_t i = 0; i < cfg->supports.n; i++)
        HX_TRY(resolve_meant_set(mesh, support[i].origin, HX_USE_NODES, &support[i].set));
    for (size_t i = 0; i < cfg->springs.n; i++)
        HX_TRY(resolve_meant_set(mesh, spring[i].origin,
                                 spring[i].per == HX_SPRING_AREA ? HX_USE_FACES : HX_USE_NODES,
                                 &spring[i].set));
    for (size_t i = 0; i < cfg->convection.n; i++)
        HX_TRY(resolve_meant_set(mesh, film[i].origin, HX_USE_FACES, &film[i].set));
    for (size_t i = 0; i < cfg->loads.n; i++)
        HX_TRY(resolve_meant_set(mesh, load[i].origin, use_of(&load[i]), &load[i].set));
    for (size_t i = 0; i < cfg->passive.n; i++)
        HX_TRY(resolve_meant_set(mesh, passive[i].origin,
                                 isnan(passive[i].skin) || passive[i].skin <= 0.0 ? HX_USE_ELEMS
                                                                                  : HX_USE_FACES,
                                 &passive[i].set));
    return HX_OK;
}
