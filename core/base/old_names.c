#include "old_names.h"

#include <string.h>

/* tests/bench/timeline.py reads the rows of spans from here: each is one line. */
const hx_old_name hx_old_names[] = {
    {HX_OLD_JSON, "volume_wanted", "volume_target"},
    {HX_OLD_JSON, "volume_asked_for", "volume_target"},
    {HX_OLD_JSON, "pcg_fell_back", "solves_finished_in_double_precision"},
    {HX_OLD_JSON, "pcg_took_exact", "solves_finished_with_exact_product"},
    {HX_OLD_JSON, "heat_to_held_temperatures", "heat_to_prescribed_temperatures"},
    {HX_OLD_JSON, "ties", "linked_variables"},
    {HX_OLD_JSON, "elements_off_their_image", "elements_without_exact_image"},
    {HX_OLD_JSON, "lattice_nodes", "coarse_nodes"},
    {HX_OLD_JSON, "lattice_seconds", "coarse_seconds"},
    {HX_OLD_JSON, "sums", "reductions"},
    {HX_OLD_JSON, "sum_seconds", "reduction_seconds"},
    {HX_OLD_JSON, "elements_solid_whatever_density", "elements_forced_solid"},
    {HX_OLD_JSON, "elements_void_whatever_density", "elements_forced_void"},
    {HX_OLD_JSON, "nodes_on_loose_pieces", "nodes_on_floating_pieces"},
    {HX_OLD_JSON, "force_on_loose_pieces", "force_on_floating_pieces"},
    {HX_OLD_JSON, "solid_alone", "solid_only"},
    {HX_OLD_JSON, "of_the_paper", "published_in_p1"},
    {HX_OLD_JSON, "speedup_over_paper", "speedup_over_p1"},
    {HX_OLD_JSON, "of_copy_bandwidth", "copy_bandwidth_fraction"},
    {HX_OLD_JSON, "of_surface", "surface_shells"},
    {HX_OLD_JSON, "what", "check"},
    {HX_OLD_JSON, "against", "reference"},
    {HX_OLD_CHECKPOINT, "share 1 of several", "subdomains"},
    {HX_OLD_CHECKPOINT, "share ", "subdomain "},
    {HX_OLD_CHECKPOINT, "multigrid.loose", "multigrid.deflation"},
    {HX_OLD_VARIABLE, "HEXTOP_WHOLE_LATTICE", "HEXTOP_WHOLE_COARSE_GRID"},
    {HX_OLD_WARNING, "loose-pieces", "floating-pieces"},
    {HX_OLD_WARNING, "held-load", "load-on-support"},
    {HX_OLD_SPAN, "lattice", "coarse grid"},
    {HX_OLD_SPAN, "loose parts", "floating components"},
    {HX_OLD_SPAN, "scalars", "dot products"},
    {HX_OLD_SPAN, "put", "send"},
    {HX_OLD_SPAN, "add", "receive"},
    {HX_OLD_SPAN, "sum", "reduction"},
    {HX_OLD_SPAN, "halo", "filter halo"},
    {HX_OLD_SPAN, "look", "status check"},
    {HX_OLD_JSON, NULL, NULL},
};

const char *hx_name_before(hx_old_kind kind, const char *now, size_t i)
{
    for (const hx_old_name *row = hx_old_names; row->old; row++)
        if (row->kind == kind && strcmp(row->now, now) == 0 && i-- == 0) return row->old;
    return NULL;
}
