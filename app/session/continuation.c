#include "continuation.h"
#include "core/base/names.h"

#include <math.h>
#include <stdio.h>

hx_schedule hx_penalty_schedule(const hx_config *cfg)
{
    const double last = cfg->optimization.penalty;
    const hx_schedule schedule = {.value = cfg->optimization.continuation.penalty_start,
                                  .last = last,
                                  .factor = 1.0,
                                  .step = cfg->optimization.continuation.step,
                                  .every = cfg->optimization.continuation.every};
    return cfg->optimization.continuation.given ? schedule
                                                : (hx_schedule){.value = last, .last = last};
}

hx_schedule hx_beta_schedule(const hx_config *cfg)
{
    const hx_schedule schedule = {.value = cfg->optimization.projection.beta,
                                  .last = cfg->optimization.projection.beta_max,
                                  .factor = cfg->optimization.projection.factor,
                                  .every = cfg->optimization.projection.every};
    return cfg->optimization.projection.given ? schedule : (hx_schedule){.value = 0.0};
}

/* 0 for a number that is not given. */
static double given(double value)
{
    return isnan(value) ? 0.0 : value;
}

hx_design_params hx_design_of(const hx_config *cfg)
{
    return (hx_design_params){.rho_min = cfg->optimization.rho_min,
                              .volume_fraction = given(cfg->optimization.volume_fraction),
                              .start = given(cfg->optimization.start),
                              .penalty = hx_penalty_schedule(cfg),
                              .beta = hx_beta_schedule(cfg),
                              .eta = cfg->optimization.projection.eta,
                              .erosion = given(cfg->optimization.projection.erosion),
                              .dilation = given(cfg->optimization.projection.dilation),
                              .analyses_all = hx_config_analyses_all(cfg),
                              .move = cfg->optimization.move,
                              .damping = cfg->optimization.damping,
                              .change_tolerance = cfg->optimization.change_tolerance};
}

const char *hx_continuation_text(const hx_config *cfg, char *text, size_t n_text)
{
    const hx_schedule penalty = hx_penalty_schedule(cfg), beta = hx_beta_schedule(cfg);
    size_t used = 0;
    text[0] = '\0';
    if (!hx_schedule_ended(&penalty))
        used = (size_t)snprintf(text, n_text, "penalty %g to %g by %g every %d %s", penalty.value,
                                penalty.last, penalty.step, penalty.every,
                                hx_noun(penalty.every, "iteration", "iterations"));
    if (!hx_schedule_ended(&beta) && used < n_text)
        snprintf(text + used, n_text - used, "%sbeta %g to %g by a factor of %g every %d %s",
                 used ? ", " : "", beta.value, beta.last, beta.factor, beta.every,
                 hx_noun(beta.every, "iteration", "iterations"));
    return text;
}

int hx_continuation_iterations(const hx_config *cfg)
{
    const hx_schedule penalty = hx_penalty_schedule(cfg), beta = hx_beta_schedule(cfg);
    const int a = hx_schedule_iterations(&penalty), b = hx_schedule_iterations(&beta);
    return a > b ? a : b;
}
