#include "made_surface.h"

#include <math.h>
#include <string.h>

#include "made_limits.h"
#include "members.h"
#include "round_faces.h"
#include "surface_source.h"

/* Nodal densities, their threshold, and the members that it would cut. */
static int find_threshold(hx_surface_source *source, hx_surface_field *field, double threshold,
                          hx_made_surface *made)
{
    hx_surface_repairs repairs = {0};
    double target = (double)NAN, volume;
    made->threshold = threshold;
    HX_TRY(hx_surface_source_field(source, field));
    if (isnan(threshold)) {
        target = source->target;
        HX_TRY(hx_part_check_target(&source->part, target));
        HX_TRY(hx_surface_threshold(field, target, &made->threshold, &volume));
    }
    const int rc = hx_members_repair(field, &source->fine, source->mesh, source->rho,
                                     source->is_solid, target, &made->threshold, &repairs, NULL);
    made->n_cut = (int64_t)repairs.left.n;
    hx_surface_repairs_free(&repairs);
    return rc;
}

int hx_made_surface_create(hx_made_surface *made, const char *named, const char *config,
                           size_t n_override, const char *const *override, unsigned preserve,
                           double threshold)
{
    hx_surface_source source = {0};
    hx_surface_field field = {0};
    hx_surface_smoothing smoothing;
    hx_surface_report report;
    hx_surface_held held;
    int rc;
    memset(made, 0, sizeof *made);
    HX_TRY_FAIL(
        hx_surface_source_open_with(&source, named, config, n_override, override, preserve, 0));
    HX_TRY_FAIL(find_threshold(&source, &field, threshold, made));
    HX_TRY_FAIL(hx_surface_extract(&made->surface, &field, made->threshold));
    HX_TRY_FAIL(hx_surface_smooth(&made->surface, &field, HX_SURFACE_STEPS, &smoothing));
    HX_TRY_FAIL(hx_surface_finish(&made->surface, &field, hx_surface_source_sets(&source),
                                  HX_SURFACE_STEPS, 0.0, NULL));
    HX_TRY_FAIL(hx_surface_hold_limits(&made->surface, &source, &held));
    HX_TRY_FAIL(hx_surface_check(&made->surface, HX_SURFACE_F64, &report));
    if (!report.is_closed_manifold)
        HX_TRY_FAIL(HX_RAISE(HX_ENUMERIC, "the surface is not closed and manifold"));
fail:
    hx_surface_field_free(&field);
    hx_surface_source_free(&source);
    if (rc < 0) hx_made_surface_free(made);
    return rc;
}

void hx_made_surface_free(hx_made_surface *made)
{
    hx_surface_free(&made->surface);
    memset(made, 0, sizeof *made);
}
