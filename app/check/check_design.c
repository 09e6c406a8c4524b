/* What is designed, of hextop check: passive elements, filter, ties, continuation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../session/continuation.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/memory.h"
#include "core/design/cells.h"
#include "core/mesh/skin.h"

/* 1 if all elements at the node are passive and nearly void. */
static int is_void_node(const hx_problem *problem, int64_t node)
{
    const hx_mesh *mesh = problem->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const double rho = problem->passive.density[mesh->node_elem[k] >> 3];
        if (isnan(rho) || rho > 0.1) return 0;
    }
    return 1;
}

/* What each skin holds. */
static int report_skins(const hx_session *s)
{
    const hx_config_passive *passive = s->cfg.passive.entry;
    char text[32];
    for (size_t i = 0; i < s->cfg.passive.n; i++) {
        uint8_t *flag = NULL;
        int64_t n;
        if (isnan(passive[i].skin)) continue;
        HX_TRY(hx_alloc(&flag, (size_t)s->mesh.n_elem, 1, "elements of a skin"));
        const int rc = hx_skin_flag(&s->mesh, hx_mesh_find_set(&s->mesh, passive[i].set),
                                    passive[i].skin, flag, &n);
        free(flag);
        HX_TRY(rc);
        hx_log_info("  skin of %s, %g%s thick: %s elements of density %g", passive[i].set,
                    passive[i].skin, s->cfg.units.length, hx_format_count(n, text, sizeof text),
                    passive[i].density);
    }
    return HX_OK;
}

int hx_check_passive(hx_check *check)
{
    const hx_session *s = &check->session;
    const hx_problem *problem = &s->problem;
    const int is_heat = hx_config_is_heat(&s->cfg);
    int64_t n_void = 0;
    char text[32];
    if (!problem->passive.density) return HX_OK;
    hx_log_info("\npassive   %s elements, %.1f %% of the volume",
                hx_format_count(problem->passive.n, text, sizeof text),
                100.0 * (1.0 - problem->design_volume / s->mesh.total_volume));
    HX_TRY(report_skins(s));
    for (int64_t a = 0; a < s->mesh.n_node; a++) {
        int loaded = 0;
        for (int c = 0; c < problem->cases.n && !loaded; c++)
            for (int i = 0; i < problem->components; i++)
                loaded |= fabs(problem->cases.force[c][problem->components * a + i]) > 0.0;
        n_void += loaded && is_void_node(problem, a);
    }
    if (n_void > 0)
        HX_CHECK_WARN(check,
                      "%s %s nodes touch passive void only: their %s will dominate the compliance",
                      hx_format_count(n_void, text, sizeof text), is_heat ? "heated" : "loaded",
                      is_heat ? "temperature" : "displacement");
    return HX_OK;
}

/* The filter's reach and its memory on the device. */
int hx_check_filter(hx_check *check)
{
    const hx_session *s = &check->session;
    const double radius = s->filter_radius, in_elements = radius / s->mesh.elem_size;
    double mean = 0.0;
    char text[32], neighbours[48] = "", length[64];
    if (!(radius > 0.0)) {
        hx_log_info("\nfilter    %s", s->cfg.optimization.filter.kind);
        return HX_OK;
    }
    if (hx_filter_find(s->cfg.optimization.filter.kind)->sums_pairs) {
        const int rc = hx_cells_estimate(&s->mesh, radius, &mean);
        if (rc < 0) return hx_config_blame(&s->cfg, "optimization.filter.radius", rc);
        snprintf(neighbours, sizeof neighbours, ", about %.0f neighbours each", mean);
    }
    hx_log_info("\nfilter    %s, radius %.4g%s, %.3g elements%s%s (%s)",
                s->cfg.optimization.filter.kind, radius, s->cfg.units.length, in_elements,
                hx_session_element_text(s, length, sizeof length), neighbours,
                hx_format_bytes((double)hx_session_filter_bytes(s), text, sizeof text));
    if (in_elements < 1.5)
        HX_CHECK_WARN(
            check,
            "the filter's radius of %.2g elements reaches hardly any neighbour: checkerboards are "
            "likely; 1.5 to 6 elements are usual",
            in_elements);
    if (in_elements > 10.0)
        HX_CHECK_WARN(
            check,
            "the filter's radius of %.3g elements blurs the design and costs time; 1.5 to 6 "
            "elements are usual",
            in_elements);
    return HX_OK;
}

void hx_check_volume(const hx_session *s)
{
    const hx_volume_at *const least = &s->least_volume.highest;
    char at[48] = "";
    if (s->problem.passive.n == 0) return;
    if (least->beta > 0.0) snprintf(at, sizeof at, " at beta = %g", least->beta);
    hx_log_info("\nvolume    %g of the part; what is passive, through the filter, and rho_min take "
                "%.4g%s",
                s->problem.volume_fraction, least->fraction, at);
}

void hx_check_ties(hx_check *check)
{
    const hx_session *s = &check->session;
    const hx_ties *ties = &s->ties;
    const double n_free = (double)(s->mesh.n_elem - s->problem.passive.n);
    char text[256];
    if (ties->n_group == 0) return;
    hx_log_info("\nties      %s", hx_session_ties_text(s, text, sizeof text));
    if ((double)ties->n_alone > 0.1 * n_free)
        HX_CHECK_WARN(
            check,
            "%.0f %% of the elements have no image in the part, and stay free: look at the planes' "
            "points and normals",
            100.0 * (double)ties->n_alone / n_free);
    if ((double)ties->n_shifted > 0.1 * n_free)
        HX_CHECK_WARN(
            check,
            "the mesh is not symmetric or extruded itself: %.0f %% of the elements share the "
            "density of an element up to %.2g elements off their image",
            100.0 * (double)ties->n_shifted / n_free, ties->shift);
}

void hx_check_continuation(hx_check *check)
{
    const hx_session *s = &check->session;
    char text[256];
    if (hx_continuation_text(&s->cfg, text, sizeof text)[0]) hx_log_info("rising    %s", text);
    check->n_warning += hx_continuation_warn(&s->cfg);
}
