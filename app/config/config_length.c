/* Filter and projection that hold a least thickness of members and gaps. */
#include <math.h>

#include "config.h"
#include "config_check.h"
#include "config_schema.h"
#include "core/design/design_params.h"

/* Iterations of a config that states none: 25 for each value of beta from 1 to 32, and as many
 * again. */
enum { ITERATIONS = 300 };

/* HX_EINPUT: a key that follows from the lengths is stated. */
static int check_free(const hx_config *cfg)
{
    for (size_t i = 0; i < hx_n_key; i++) {
        const char *const key = hx_keys[i].path;
        if (!hx_keys[i].by_length || !hx_config_given(cfg, key)) continue;
        return hx_config_fault(hx_config_origin(cfg, key), key,
                               "it follows from optimization.minimum_length; state one of the two");
    }
    return HX_OK;
}

int hx_config_choose_lengths(hx_config *cfg)
{
    static const char gap[] = "optimization.minimum_gap";
    const double solid = cfg->optimization.minimum_length;
    if (isnan(solid)) {
        if (isnan(cfg->optimization.minimum_gap)) return HX_OK;
        return hx_config_fault(hx_config_origin(cfg, gap), gap,
                               "it needs optimization.minimum_length, of members; state both");
    }
    HX_TRY(check_free(cfg));
    if (isnan(cfg->optimization.minimum_gap)) cfg->optimization.minimum_gap = solid;
    const double radius = fmax(solid, cfg->optimization.minimum_gap);
    HX_TRY(hx_config_set_word(&cfg->optimization.filter.kind, "density"));
    cfg->optimization.filter.radius = radius;
    cfg->optimization.filter.unit = HX_UNIT_LENGTH;
    cfg->optimization.filter.volume_weighted = cfg->mesh.file != NULL;
    cfg->optimization.projection.given = 1;
    cfg->optimization.projection.eta = 0.5;
    cfg->optimization.projection.erosion = hx_design_threshold_distance(solid / radius);
    cfg->optimization.projection.dilation =
        hx_design_threshold_distance(cfg->optimization.minimum_gap / radius);
    if (!hx_config_given(cfg, "optimization.iterations")) cfg->optimization.iterations = ITERATIONS;
    return HX_OK;
}
