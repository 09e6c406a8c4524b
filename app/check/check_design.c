/* hextop check: passive elements, filter, linked variables, continuation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../session/continuation.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/bins.h"
#include "core/design/local_volume.h"
#include "core/mesh/skin.h"

/* Counts the elements of the skin, or of the set. */
static int count_passive(const hx_session *s, const hx_config_passive *passive, int64_t *n)
{
    const hx_set *const set = hx_mesh_find_set(&s->mesh, passive->set);
    uint8_t *flag = NULL;
    *n = set->n_elem;
    if (isnan(passive->skin)) return HX_OK;
    HX_TRY(hx_alloc(&flag, (size_t)s->mesh.n_elem, 1, "elements of a skin"));
    const int rc = hx_skin_flag(&s->mesh, set, passive->skin, flag, n);
    free(flag);
    return rc;
}

int hx_check_passive(const hx_session *s)
{
    const hx_problem *problem = &s->problem;
    char text[32];
    if (!problem->passive.density) return HX_OK;
    hx_log_info("\npassive   %s %s, %.1f %% of the volume",
                hx_format_count(problem->passive.n, text, sizeof text),
                hx_noun(problem->passive.n, "element", "elements"),
                100.0 * (1.0 - problem->design_volume / s->mesh.total_volume));
    /* Prints a line per entry. */
    const hx_config_passive *const passive = s->cfg.passive.entry;
    for (size_t i = 0; i < s->cfg.passive.n; i++) {
        char count[32], what[256];
        int64_t n = 0;
        HX_TRY(count_passive(s, &passive[i], &n));
        if (isnan(passive[i].skin))
            snprintf(what, sizeof what, "%s", passive[i].set);
        else
            snprintf(what, sizeof what, "skin of %s, %g%s thick", passive[i].set, passive[i].skin,
                     s->cfg.units.length);
        hx_log_info("  %s: %s %s of density %g", what, hx_format_count(n, count, sizeof count),
                    hx_noun(n, "element", "elements"), passive[i].density);
    }
    return HX_OK;
}

/* Prints the filter's radius and its memory on the device. */
int hx_check_filter(const hx_session *s)
{
    const double radius = s->filter_radius, in_elements = radius / s->mesh.elem_size;
    double mean = 0.0;
    char text[32], neighbours[48] = "", length[64];
    if (!(radius > 0.0)) {
        hx_log_info("\nfilter    %s", s->cfg.optimization.filter.kind);
        return HX_OK;
    }
    if (hx_filter_find(s->cfg.optimization.filter.kind)->sums_pairs) {
        const int rc = hx_bins_estimate(&s->mesh, radius, &mean);
        if (rc < 0) return hx_config_blame(&s->cfg, "optimization.filter.radius", rc);
        snprintf(neighbours, sizeof neighbours, ", about %.0f %s each", mean,
                 hx_noun(llround(mean), "neighbour", "neighbours"));
    }
    hx_log_info("\nfilter    %s, radius %.4g%s, %.3g elements%s%s (%s)",
                s->cfg.optimization.filter.kind, radius, s->cfg.units.length, in_elements,
                hx_session_element_text(s, length, sizeof length), neighbours,
                hx_format_bytes((double)hx_session_filter_bytes(s), text, sizeof text));
    return HX_OK;
}

void hx_check_sweep(const hx_session *s)
{
    char text[512], bytes[32];
    if (s->sweep.n_graph == 0) return;
    hx_log_info("\nsweep     %s (%s)", hx_session_sweep_text(s, text, sizeof text),
                hx_format_bytes((double)hx_sweep_bytes(&s->sweep), bytes, sizeof bytes));
}

void hx_check_local_volumes(const hx_session *s)
{
    static const char *const name[] = {"sums over the elements in a ball", "a Helmholtz equation",
                                       "sums over blocks of elements"};
    const double edge = hx_ball_edge(&s->problem);
    for (int i = 0; i < s->limits.n; i++) {
        const hx_constraint_spec *const spec = &s->limits.spec[i];
        const double radius = spec->params.radius;
        if (spec->kind != &hx_response_local_volume) continue;
        hx_log_info("balls     limit '%s': radius %.4g%s, %.3g element edges; means by %s",
                    spec->name, radius, s->cfg.units.length, radius / edge,
                    name[hx_ball_method_for(&s->problem, radius)]);
    }
}

void hx_check_volume(const hx_session *s)
{
    const hx_volume_at *const least = &s->least_volume.highest;
    const double most = s->least_volume.most.lowest.fraction;
    const double wanted = hx_session_volume_wanted(s);
    char at[48] = "", room[64] = "", part[48] = "";
    if (s->problem.passive.n == 0) return;
    if (least->beta > 0.0) snprintf(at, sizeof at, " at beta = %g", least->beta);
    if (most < 1.0)
        snprintf(room, sizeof room, "; with passive elements it is at most %.4g",
                 hx_least_volume_round_down(most));
    if (!isnan(wanted)) snprintf(part, sizeof part, "%g of the part; ", wanted);
    hx_log_info("\n"
                "volume    %spassive elements, with the filter, and rho_min take %.4g%s%s",
                part, least->fraction, at, room);
}

void hx_check_groups(const hx_session *s)
{
    const hx_groups *groups = &s->groups;
    char text[256];
    if (groups->n_group == 0) return;
    hx_log_info("\nlinked    %s", hx_session_groups_text(s, text, sizeof text));
}

void hx_check_continuation(const hx_session *s)
{
    char text[256];
    if (hx_continuation_text(&s->cfg, text, sizeof text)[0]) hx_log_info("schedule  %s", text);
    if (s->cfg.optimization.projection.given)
        hx_log_info(
            "move      a density changes by at most %g per design%s", s->cfg.optimization.move,
            hx_config_given(&s->cfg, "optimization.move") ? "" : ", the default with a projection");
}
