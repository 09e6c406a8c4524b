/* Elements that are solid in every 0/1 design: passive solid elements, and those behind loads. If
 * they exceed the target volume, `hextop verify`, `surface`, `analyse` and `mesh` need the option
 * --preserve. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../result/part.h"
#include "../text/log.h"
#include "../text/shell_word.h"
#include "../text/table.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "diag.h"

/* *preserve: HX_PRESERVE_* for the default whose forced elements fit into the target volume of the
 * densities; NULL: into volume_fraction. */
static int find_preserve(const hx_session *s, const double *density, unsigned *preserve)
{
    hx_result_part part;
    HX_TRY(hx_part_create(&part, s, density, 0, HX_PRESERVE_USUAL | HX_PRESERVE_FIT));
    *preserve = part.preserve;
    hx_part_free(&part);
    return HX_OK;
}

/* Volume of the elements at the nodes of a set; elements count once per node. */
static double volume_at(const hx_session *s, const hx_set *set)
{
    const hx_mesh *const mesh = &s->mesh;
    double sum = 0.0;
    for (int64_t k = 0; set && k < set->n_node; k++) {
        const int64_t end = mesh->node_elem_ptr[set->node[k] + 1];
        for (int64_t i = mesh->node_elem_ptr[set->node[k]]; i < end; i++)
            sum += s->problem.volume[mesh->node_elem[i] / 8];
    }
    return sum;
}

/* *may := 0 if the forced elements certainly fit into a design with that volume fraction, by a
 * bound that costs O(loaded nodes). */
static int may_exceed(const hx_session *s, double fraction, int *may)
{
    static const double least_solid = 0.9; /* density of passive elements that are forced solid */
    const hx_problem *const problem = &s->problem;
    const hx_config_load *const load = s->cfg.loads.entry;
    const double passive = problem->passive.density ? problem->passive.mass : 0.0;
    const hx_config_support *const support = s->cfg.supports.entry;
    double forced = 0.0;
    *may = 1;
    if (hx_part_is_driven_by_file(s)) return HX_OK;
    for (size_t i = 0; i < s->cfg.supports.n; i++)
        if (hx_part_is_driven_by(s, &support[i]))
            forced += volume_at(s, hx_mesh_find_set(&s->mesh, support[i].set));
    for (size_t i = 0; i < s->cfg.loads.n; i++) {
        if (load[i].from) return HX_OK;
        if (load[i].set) forced += volume_at(s, hx_mesh_find_set(&s->mesh, load[i].set));
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(&s->mesh), 1, &forced));
    *may = !(forced + passive / least_solid < fraction * problem->total_volume - passive);
    return HX_OK;
}

static const char *option_of(unsigned preserve)
{
    if (preserve == HX_PRESERVE_USUAL) return "";
    return preserve == HX_PRESERVE_PASSIVE ? " --preserve passive" : " --preserve none";
}

/* A volume fraction with which the forced elements leave a tenth of the volume to the design; NaN
 * if that is nearly everything that passive void leaves. */
static double roomy_fraction(const hx_result_part *part, const hx_session *s)
{
    static const double room = 1.1, nearly_all = 0.9;
    const double total = s->problem.total_volume, wanted = room * part->solid_volume,
                 in_void = s->design.volume_fraction * total - part->wanted;
    return wanted > nearly_all * part->open_volume ? (double)NAN
                                                   : ceil(1e3 * (wanted + in_void) / total) / 1e3;
}

static const char thinner[] =
    "load fewer elements; a finer mesh makes the layer behind a loaded face thinner";

int hx_diag_part_remedy(const hx_session *s, char *text, size_t n_text)
{
    hx_result_part part;
    HX_TRY(hx_part_create(&part, s, NULL, 0, HX_PRESERVE_USUAL));
    const double fraction = roomy_fraction(&part, s);
    hx_part_free(&part);
    if (isnan(fraction))
        hx_fit(text, n_text, "%s", thinner);
    else
        hx_fit(text, n_text,
               "make the loaded elements passive solid, which needs an "
               "optimization.volume_fraction of at least %g",
               fraction);
    return HX_OK;
}

static int warn_of_part(hx_diags *diags, const hx_session *s, const hx_result_part *part)
{
    const char *const unit = s->cfg.units.volume;
    unsigned preserve;
    char room[160], remedy[HX_REMEDY], word[HX_SHELL_WORD], count[32];
    HX_TRY(find_preserve(s, NULL, &preserve));
    diags->option = option_of(preserve);
    /* text := arguments that give the forced elements room. */
    const double fraction = roomy_fraction(part, s);
    if (isnan(fraction))
        hx_fit(room, sizeof room, "%s", thinner);
    else
        hx_fit(room, sizeof room,
               "`optimization.volume_fraction=%g` has room for the elements behind loads",
               fraction);
    hx_fit(remedy, sizeof remedy,
           "%s; after the run, `hextop verify %s%s` analyses a 0/1 design in which their "
           "densities decide",
           room, hx_shell_word(s->cfg.output.directory, word, sizeof word), option_of(preserve));
    hx_diags_advise(diags, HX_DIAG_FORCED_SOLID, part->solid_volume / part->target, remedy,
                    "the %s elements that are forced solid in a 0/1 design (behind loads, or "
                    "passive) have a volume of %.4g%s, and the target volume is only %.4g%s",
                    hx_format_count(part->n_solid, count, sizeof count), part->solid_volume, unit,
                    part->target, unit);
    return HX_OK;
}

int hx_diag_part(hx_diags *diags, const hx_session *s)
{
    hx_result_part part;
    int may;
    /* nothing to design, or no volume is prescribed */
    if (!s->problem.mesh || s->design.volume_fraction <= 0.0) return HX_OK;
    HX_TRY(may_exceed(s, s->design.volume_fraction, &may));
    if (!may) return HX_OK;
    HX_TRY(hx_part_create(&part, s, NULL, 0, HX_PRESERVE_USUAL));
    const double share = part.solid_volume / part.target;
    const int rc = share > hx_diag_limit(HX_DIAG_FORCED_SOLID) * (1.0 + 1e-9)
                       ? warn_of_part(diags, s, &part)
                       : HX_OK;
    hx_part_free(&part);
    return rc;
}

int hx_diag_part_after(hx_diags *diags, hx_session *s, double volume)
{
    double *density = NULL;
    unsigned preserve = HX_PRESERVE_USUAL;
    int may;
    if (s->mesh.ownership) return HX_OK; /* hx_diag_part found it */
    diags->option = NULL;
    HX_TRY(may_exceed(s, volume, &may));
    if (!may) return HX_OK;
    HX_TRY(hx_session_alloc_whole(s, &density, s->mesh.n_elem, sizeof *density, "densities"));
    int rc = hx_optimizer_density(&s->opt, density);
    if (rc == HX_OK && density) rc = find_preserve(s, density, &preserve);
    free(density);
    diags->option = option_of(preserve);
    return rc;
}

const char *hx_diags_option(const hx_diags *diags)
{
    return diags->option ? diags->option : "";
}
