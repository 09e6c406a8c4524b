#include "continuation.h"
#include "core/base/names.h"

#include <stdio.h>

hx_stair hx_penalty_stair(const hx_config *cfg)
{
    const double last = cfg->optimization.penalty;
    const hx_stair stair = {.value = cfg->optimization.continuation.penalty_start,
                            .last = last,
                            .factor = 1.0,
                            .step = cfg->optimization.continuation.step,
                            .every = cfg->optimization.continuation.every};
    return cfg->optimization.continuation.given ? stair : (hx_stair){.value = last, .last = last};
}

hx_stair hx_beta_stair(const hx_config *cfg)
{
    const hx_stair stair = {.value = cfg->optimization.projection.beta,
                            .last = cfg->optimization.projection.beta_max,
                            .factor = cfg->optimization.projection.factor,
                            .every = cfg->optimization.projection.every};
    return cfg->optimization.projection.given ? stair : (hx_stair){.value = 0.0};
}

const char *hx_continuation_text(const hx_config *cfg, char *text, size_t n_text)
{
    const hx_stair penalty = hx_penalty_stair(cfg), beta = hx_beta_stair(cfg);
    size_t used = 0;
    text[0] = '\0';
    if (!hx_stair_ended(&penalty))
        used = (size_t)snprintf(text, n_text, "penalty %g to %g by %g every %d %s", penalty.value,
                                penalty.last, penalty.step, penalty.every,
                                hx_noun(penalty.every, "iteration", "iterations"));
    if (!hx_stair_ended(&beta) && used < n_text)
        snprintf(text + used, n_text - used, "%sbeta %g to %g by a factor of %g every %d %s",
                 used ? ", " : "", beta.value, beta.last, beta.factor, beta.every,
                 hx_noun(beta.every, "iteration", "iterations"));
    return text;
}

int hx_continuation_iterations(const hx_config *cfg)
{
    const hx_stair penalty = hx_penalty_stair(cfg), beta = hx_beta_stair(cfg);
    const int a = hx_stair_iterations(&penalty), b = hx_stair_iterations(&beta);
    return a > b ? a : b;
}
