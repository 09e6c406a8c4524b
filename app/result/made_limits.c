#include "made_limits.h"

#include <math.h>
#include <string.h>

#include "core/base/vec3.h"
#include "core/surface/surface_shadow.h"

/* Tolerance of heights on the base plate, in element sizes. */
static const double ON_PLATE = 1e-3;

void hx_find_base_plate(const hx_mesh *mesh, const double up[3], const char *name, double base[2])
{
    const hx_set *const set =
        name ? hx_mesh_find_set(mesh, hx_mesh_name_for(mesh, name, HX_USE_ELEMS)) : NULL;
    const int64_t n = set ? set->n_node : mesh->n_node;
    base[0] = INFINITY;
    base[1] = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double h = hx_dot3(mesh->xyz + 3 * (set ? set->node[i] : i), up);
        base[0] = fmin(base[0], h);
        base[1] = fmax(base[1], h);
    }
    if (!set) base[1] = base[0];
    base[0] -= ON_PLATE * mesh->elem_size;
    base[1] += ON_PLATE * mesh->elem_size;
}

int hx_reach_directions(const hx_session *s, double direction[HX_SWEEP_DIRECTIONS][3])
{
    const hx_sweep_params *const p = &s->sweep.params;
    memcpy(direction, p->direction, sizeof p->direction);
    if (p->kind != HX_SWEEP_DRAW || isnan(p->parting[0])) return p->n_direction;
    for (int d = 0; d < 3; d++) direction[1][d] = -direction[0][d];
    return 2;
}

int hx_surface_hold_limits(hx_surface *surface, const hx_surface_source *source,
                           hx_surface_held *held)
{
    const hx_session *const s = &source->session;
    const hx_sweep_params *const p = &s->sweep.params;
    hx_overhang_limit limit = {.angle = p->angle, .size = s->mesh.elem_size};
    double direction[HX_SWEEP_DIRECTIONS][3];
    memset(held, 0, sizeof *held);
    if (!source->config || s->sweep.n_graph == 0) return HX_OK;
    if (p->kind != HX_SWEEP_OVERHANG)
        return hx_surface_fill_hidden(surface, hx_reach_directions(s, direction),
                                      (const double(*)[3])direction, s->mesh.elem_size, held);
    memcpy(limit.up, p->direction[0], sizeof limit.up);
    hx_find_base_plate(&s->mesh, limit.up, s->cfg.optimization.overhang.base, limit.base);
    return hx_surface_hold_overhang(surface, &limit, held);
}

int hx_surface_cast_limits(hx_surface_field *field, const hx_surface_source *source)
{
    const hx_sweep_params *const p = &source->session.sweep.params;
    const hx_shadow_limit limit = {
        .n = p->n_direction,
        .direction = (const double(*)[3])p->direction,
        .parting = p->kind == HX_SWEEP_DRAW && !isnan(p->parting[0]) ? p->parting : NULL,
    };
    int64_t n_raised;
    if (!source->config || source->session.sweep.n_graph == 0 || p->kind == HX_SWEEP_OVERHANG)
        return HX_OK;
    return hx_surface_cast_shadows(field, &limit, &n_raised);
}
