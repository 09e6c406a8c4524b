/* The sweep that the config describes by optimization.overhang, draw or milling. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/names.h"
#include "session_internal.h"

static void put_direction(hx_sweep_params *params, const double direction[3])
{
    memcpy(params->direction[params->n_direction++], direction, 3 * sizeof *direction);
}

static hx_sweep_params describe(const hx_config *cfg)
{
    hx_sweep_params params = {.kind = HX_SWEEP_MILLING, .parting = {NAN, NAN, NAN}};
    const hx_config_milling *const milling = cfg->optimization.milling.entry;
    if (cfg->optimization.overhang.given) {
        params.kind = HX_SWEEP_OVERHANG;
        params.angle = cfg->optimization.overhang.angle;
        params.base = cfg->optimization.overhang.base;
        put_direction(&params, cfg->optimization.overhang.direction);
    } else if (cfg->optimization.draw.given) {
        params.kind = HX_SWEEP_DRAW;
        memcpy(params.parting, cfg->optimization.draw.parting, sizeof params.parting);
        put_direction(&params, cfg->optimization.draw.direction);
    } else {
        for (size_t i = 0; i < cfg->optimization.milling.n; i++)
            put_direction(&params, milling[i].direction);
    }
    return params;
}

int hx_session_make_sweep(hx_session *s)
{
    const char *const key = hx_config_sweep(&s->cfg);
    hx_sweep_free(&s->sweep);
    if (!key) return HX_OK;
    const hx_sweep_params params = describe(&s->cfg);
    const int rc = hx_sweep_create(&s->sweep, &s->mesh, &params);
    return rc < 0 ? hx_session_blame(s, key, rc) : rc;
}

const char *hx_session_sweep_text(const hx_session *s, char *text, size_t n_text)
{
    const hx_sweep *const w = &s->sweep;
    const hx_sweep_graph *const g = &w->graph[0];
    const double *const d = w->params.direction[0];
    char base[32], alone[96] = "", elements[32];
    if (w->params.kind == HX_SWEEP_OVERHANG) {
        if (g->n_alone > 0)
            snprintf(alone, sizeof alone, "; %s %s (%.2g %% of the volume) with nothing below",
                     hx_format_count(g->n_alone, elements, sizeof elements),
                     hx_noun(g->n_alone, "element", "elements"), 100.0 * w->alone_volume);
        snprintf(text, n_text,
                 "overhang, at least %g degrees, up is [%.3g, %.3g, %.3g]; %s elements on the base "
                 "plate, %d levels, %.1f supports each%s",
                 w->params.angle, d[0], d[1], d[2], hx_format_count(g->n_base, base, sizeof base),
                 g->n_level, w->mean_inputs, alone);
    } else if (w->params.kind == HX_SWEEP_DRAW) {
        snprintf(text, n_text, "draw along [%.3g, %.3g, %.3g], %s, %d levels", d[0], d[1], d[2],
                 isnan(w->params.parting[0]) ? "one mould half" : "two mould halves", g->n_level);
    } else {
        snprintf(text, n_text, "milling from %d %s, %d levels", w->n_graph,
                 hx_noun(w->n_graph, "direction", "directions"), g->n_level);
    }
    return text;
}
