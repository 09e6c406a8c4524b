#include "surface_made.h"

#include <math.h>
#include <string.h>

#include "../result/made_limits.h"
#include "../text/log.h"
#include "core/base/names.h"

/* Distance of the first point of a ray from the surface, in element sizes; share of the area above
 * which a warning is printed. */
static const double OUTSIDE = 0.1, MUCH = 0.01;

int hx_surface_measure_made(hx_surface_made *made, const hx_surface_source *source,
                            const hx_surface *surface)
{
    const hx_session *const s = &source->session;
    const hx_sweep_params *const p = &s->sweep.params;
    double direction[HX_SWEEP_DIRECTIONS][3], base[2];
    memset(made, 0, sizeof *made);
    if (!source->config || s->sweep.n_graph == 0) return HX_OK;
    made->name = hx_sweep_name(p->kind);
    made->angle = p->angle;
    if (p->kind == HX_SWEEP_OVERHANG) {
        hx_find_base_plate(&s->mesh, p->direction[0], s->cfg.optimization.overhang.base, base);
        made->share = hx_surface_overhang_share(surface, p->direction[0], p->angle, base);
        return HX_OK;
    }
    return hx_surface_unreached_share(surface, hx_reach_directions(s, direction),
                                      (const double(*)[3])direction, OUTSIDE * s->mesh.elem_size,
                                      &made->share);
}

static void report_held(const hx_surface_held *held)
{
    if (held->n_moved > 0)
        hx_log_info("           %lld %s moved for that, volume changed by %.2g %%",
                    (long long)held->n_moved, hx_noun(held->n_moved, "vertex", "vertices"),
                    100.0 * (held->volume_after / held->volume_before - 1.0));
}

void hx_surface_report_made(const hx_surface_made *made, const hx_surface_held *held)
{
    const double percent = 100.0 * made->share;
    if (!made->name) return;
    if (made->angle > 0.0) {
        hx_log_info("overhang   %.2g %% of the area, base plate excluded, is more than %g degrees "
                    "under %g degrees",
                    percent, HX_REACH_TOLERANCE, made->angle);
        report_held(held);
        if (made->share > MUCH)
            hx_log_warning("%.2g %% of the surface faces down at less than %g degrees and needs "
                           "supports; a larger optimization.projection.beta_max "
                           "or a finer mesh may reduce it",
                           percent, made->angle - HX_REACH_TOLERANCE);
        return;
    }
    hx_log_info("%-10s %.2g %% of the area is reached from no direction", made->name, percent);
    report_held(held);
    if (made->share > MUCH)
        hx_log_warning("%.2g %% of the surface is reached from no direction of optimization.%s; a "
                       "larger optimization.projection.beta_max, more iterations or a finer mesh "
                       "may reduce it",
                       percent, made->name);
}
