#include "surface_made.h"

#include <math.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/vec3.h"

/* Tolerance of heights on the base plate, and distance of the first point of a ray from the
 * surface, in element sizes; share of the area above which a warning is printed. */
static const double ON_PLATE = 1e-3, OUTSIDE = 0.1, MUCH = 0.01;

/* Heights between which the base plate touches the part: of the lowest node, or of the nodes of the
 * set. */
static void find_base(const hx_mesh *mesh, const double up[3], const char *name, double base[2])
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

int hx_surface_measure_made(hx_surface_made *made, const hx_surface_source *source,
                            const hx_surface *surface)
{
    const hx_session *const s = &source->session;
    const hx_sweep_params *const p = &s->sweep.params;
    double direction[HX_SWEEP_DIRECTIONS][3], base[2];
    int n = p->n_direction;
    memset(made, 0, sizeof *made);
    if (!source->config || s->sweep.n_graph == 0) return HX_OK;
    made->name = hx_sweep_name(p->kind);
    made->angle = p->angle;
    if (p->kind == HX_SWEEP_OVERHANG) {
        find_base(&s->mesh, p->direction[0], s->cfg.optimization.overhang.base, base);
        made->share = hx_surface_overhang_share(surface, p->direction[0], p->angle, base);
        return HX_OK;
    }
    memcpy(direction, p->direction, sizeof direction);
    if (p->kind == HX_SWEEP_DRAW && !isnan(p->parting[0])) {
        for (int d = 0; d < 3; d++) direction[1][d] = -direction[0][d];
        n = 2;
    }
    return hx_surface_unreached_share(surface, n, (const double(*)[3])direction,
                                      OUTSIDE * s->mesh.elem_size, &made->share);
}

void hx_surface_report_made(const hx_surface_made *made)
{
    const double percent = 100.0 * made->share;
    if (!made->name) return;
    if (made->angle > 0.0) {
        hx_log_info("overhang   %.2g %% of the area, base plate excluded, is more than %g degrees "
                    "under %g degrees",
                    percent, HX_REACH_TOLERANCE, made->angle);
        if (made->share > MUCH)
            hx_log_warning("%.2g %% of the surface faces down at less than %g degrees and needs "
                           "supports; a larger optimization.projection.beta_max "
                           "or a finer mesh may reduce it",
                           percent, made->angle - HX_REACH_TOLERANCE);
        return;
    }
    hx_log_info("%-10s %.2g %% of the area is reached from no direction", made->name, percent);
    if (made->share > MUCH)
        hx_log_warning("%.2g %% of the surface is reached from no direction of optimization.%s; a "
                       "larger optimization.projection.beta_max, more iterations or a finer mesh "
                       "may reduce it",
                       percent, made->name);
}
