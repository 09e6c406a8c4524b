/* The 0/1 design that is made from the last design: its pieces, its supports and loads, and the
 * distribution of its strain energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../result/solid_design.h"
#include "../text/log.h"
#include "../text/shell_word.h"
#include "../text/table.h"
#include "attached.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "diag.h"

/* --- the 0/1 design --- */

static void judge_pieces(hx_diags *diags, const hx_attached *a)
{
    const int64_t n_floating = hx_attached_count_floating(a);
    char text[32], count[32], remedy[HX_REMEDY], word[HX_SHELL_WORD];
    hx_fit(remedy, sizeof remedy,
           "use a larger filter radius, a larger volume fraction or more iterations; "
           "`hextop surface %s part.stl --keep-largest%s` exports the largest piece only",
           hx_shell_word(a->session->cfg.output.directory, word, sizeof word),
           hx_diags_option(diags));
    if (n_floating > 0)
        hx_diags_advise(
            diags, HX_DIAG_FLOATING_PIECES, (double)n_floating, remedy,
            "the 0/1 design falls into %s pieces: %s element%s not connected to the largest",
            hx_format_count(a->pieces.n, text, sizeof text),
            hx_format_count(n_floating, count, sizeof count), n_floating == 1 ? " is" : "s are");
}

static void judge_support(hx_diags *diags, const hx_attached *a, const char *list, size_t i,
                          const char *set)
{
    hx_attached_nodes nodes;
    if (set)
        hx_attached_set(a, set, &nodes);
    else
        hx_attached_file_supports(a, &nodes);
    if (hx_attached_is_floating(&nodes))
        hx_diags_add(diags, HX_DIAG_SUPPORT_ON_VOID,
                     (double)(nodes.n[HX_NODE_VOID] + nodes.n[HX_NODE_FLOATING]),
                     "%s[%zu]: %s%s%s lies entirely on void or floating pieces of the 0/1 design",
                     list, i, set ? "set '" : "what the mesh file supports", set ? set : "",
                     set ? "'" : "");
}

static void judge_supports(hx_diags *diags, const hx_attached *a)
{
    const hx_config *const cfg = &a->session->cfg;
    const hx_config_support *const support = cfg->supports.entry;
    const hx_config_spring *const spring = cfg->springs.entry;
    for (size_t i = 0; i < cfg->supports.n; i++)
        judge_support(diags, a, "supports", i, support[i].from ? NULL : support[i].set);
    for (size_t i = 0; i < cfg->springs.n; i++)
        judge_support(diags, a, "springs", i, spring[i].set);
}

static int judge_loads(hx_diags *diags, const hx_attached *a, const hx_solid_design *d)
{
    const int n_case = a->session->problem.cases.n;
    double *off = NULL;
    char room[160];
    const char *remedy = hx_diag_table[HX_DIAG_LOAD_ON_VOID].remedy;
    int rc;
    /* the loaded elements need more than the target volume */
    if (!(d->part.preserve & HX_PRESERVE_LOADS)) {
        HX_TRY(hx_diag_part_remedy(a->session, room, sizeof room));
        remedy = room;
    }
    HX_TRY_FAIL(hx_alloc(&off, (size_t)n_case, sizeof *off, "load cases"));
/* Fraction of a load case's force that the largest piece does not carry, or carries only
 * because the loaded cells are made solid. */
#pragma omp parallel for schedule(static)
    for (int c = 0; c < n_case; c++) {
        double all = 0.0, missing = 0.0;
        for (int64_t i = 0; i < hx_space_n_nodal(&a->session->space); i++) {
            const double size = hx_attached_force(a->session, c, i);
            all += size;
            if (size > 0.0 &&
                (hx_attached_state(a, i) != HX_NODE_MAIN ||
                 !hx_part_is_grown(&d->part, &a->session->space, d->density, d->threshold, i)))
                missing += size;
        }
        off[c] = all > 0.0 ? missing / all : 0.0;
    }
    for (int c = 0; c < n_case; c++)
        if (off[c] > hx_diag_limit(HX_DIAG_LOAD_ON_VOID))
            hx_diags_advise(
                diags, HX_DIAG_LOAD_ON_VOID, off[c], remedy,
                "load case %d: %.1f %% of the force acts on void or floating pieces of the 0/1 "
                "design, whose motion dominates the compliance",
                c + 1, 100.0 * off[c]);
fail:
    free(off);
    return rc;
}

/* --- the distribution of the strain energy --- */

/* Bin of a non-negative number by its exponent and the first four bits of its mantissa: bins are in
 * increasing order and 6 % wide. */
enum { N_BIN = 1 << 15 };

static int bin_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 48) & (N_BIN - 1);
}

/* *share: the smallest fraction of the solid volume that contains half of energy[n_elem]; *n: the
 * number of its elements. Uses bins of energy density in one pass instead of sorting. */
static int find_half(const hx_session *s, const uint8_t *is_solid, const double *energy,
                     double *share, double *n)
{
    typedef struct bin {
        double energy, volume, n;
    } bin;
    bin *bins = NULL;
    double all = 0.0, solid = 0.0, sum = 0.0, volume = 0.0;
    *n = 0.0;
    *share = 1.0;
    HX_TRY(hx_alloc(&bins, N_BIN, sizeof *bins, "strain energies"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const double v = s->problem.volume[e];
        bin *const b = &bins[bin_of(energy[e] / v)];
        b->energy += energy[e];
        b->volume += v;
        b->n += 1.0;
        all += energy[e];
        if (is_solid[e]) solid += v;
    }
    for (int i = N_BIN - 1; i >= 0 && sum < 0.5 * all; i--) {
        if (!(bins[i].energy > 0.0)) continue;
        const double part = fmin(1.0, (0.5 * all - sum) / bins[i].energy);
        sum += bins[i].energy;
        volume += part * bins[i].volume;
        *n += part * bins[i].n;
    }
    if (all > 0.0 && solid > 0.0) *share = volume / solid;
    free(bins);
    return HX_OK;
}

/* energy[n_elem] := strain energies, weighted over the load cases, on the first process.
 * Collective. */
static int read_energies(hx_session *s, double *energy, double *modulus)
{
    HX_TRY(hx_optimizer_energy(&s->opt, energy));
    HX_TRY(hx_analysis_modulus(&s->analysis, modulus));
    if (!energy) return HX_OK;
#pragma omp parallel for simd schedule(static)
    for (int64_t e = 0; e < s->mesh.n_elem; e++) energy[e] = fabs(energy[e] * modulus[e]);
    return HX_OK;
}

/* Warns if few of many elements hold half of the energy. In a part that is strained almost
 * uniformly, half of the energy is in at least a quarter of the volume. */
static int judge_energy(hx_diags *diags, hx_session *s, const uint8_t *is_solid)
{
    enum { FEW = 8, MANY = 200 };
    const int64_t n_elem = s->mesh.n_elem;
    int rc;
    double *energy = NULL, *modulus = NULL, share, n, n_solid = 0.0;
    char text[32];
    HX_TRY_FAIL(hx_session_alloc_whole(s, &energy, n_elem, sizeof *energy, "strain energies"));
    HX_TRY_FAIL(hx_session_alloc_whole(s, &modulus, n_elem, sizeof *modulus, "moduli"));
    HX_TRY_FAIL(read_energies(s, energy, modulus));
    if (!energy) goto fail;
    HX_TRY_FAIL(find_half(s, is_solid, energy, &share, &n));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) n_solid += is_solid[e];
    hx_log_detail("half of the strain energy is in %.0f elements, %.3g %% of the solid volume", n,
                  100.0 * share);
    if (share < hx_diag_limit(HX_DIAG_FEW_ELEMENTS) || (n <= FEW && n_solid > MANY))
        hx_diags_add(
            diags, HX_DIAG_FEW_ELEMENTS, share,
            "half of the strain energy is in %.0f of %s solid elements, %.2g %% of their "
            "volume: a dent or a hinge dominates the compliance, which depends on the mesh",
            fmax(1.0, n), hx_format_count((int64_t)n_solid, text, sizeof text), 100.0 * share);
fail:
    free(energy);
    free(modulus);
    return hx_session_agree(s, rc);
}

static int judge_tetrahedra(hx_diags *diags, const hx_session *s, const uint8_t *is_solid)
{
    double share, error;
    char remedy[HX_REMEDY], word[HX_SHELL_WORD];
    hx_fit(remedy, sizeof remedy,
           "`hextop verify %s --element quadratic%s` quantifies it; a finer mesh or "
           "`solver.element=quadratic solver.operator=auto` fixes it",
           hx_shell_word(s->cfg.output.directory, word, sizeof word), hx_diags_option(diags));
    if (s->cfg.solver.element != HX_ELEMENT_LINEAR || s->mesh.n_kind[HX_CELL_TETRAHEDRON] == 0)
        return HX_OK;
    HX_TRY(hx_diag_tetrahedra(s, is_solid, &share, &error));
    hx_log_detail("linear tetrahedra miss about %.0f %% of the compliance", 100.0 * error);
    if (error > hx_diag_limit(HX_DIAG_LINEAR_TETRAHEDRA))
        hx_diags_advise(
            diags, HX_DIAG_LINEAR_TETRAHEDRA, error, remedy,
            "linear tetrahedra (%.0f %% of the solid) miss an estimated %.0f %% or more of "
            "the compliance, because they are too stiff in bending",
            100.0 * share, 100.0 * error);
    return HX_OK;
}

/* Makes the 0/1 design of `hextop verify` with hx_diags_option, on the first process. */
static int make_solid(hx_session *s, hx_solid_design *d)
{
    HX_TRY(hx_session_alloc_whole(s, &d->density, s->mesh.n_elem, sizeof *d->density, "densities"));
    HX_TRY(hx_optimizer_density(&s->opt, d->density));
    if (!d->density) return HX_OK;
    return hx_solid_design_make(d, s, "the last design", (double)NAN,
                                HX_PRESERVE_USUAL | HX_PRESERVE_FIT);
}

/* Judges what the 0/1 design connects; d is empty on other processes than the first. */
static int judge_solid(hx_diags *diags, hx_session *s, const hx_solid_design *d)
{
    hx_attached attached = {0};
    if (!d->density) return HX_OK;
    int rc = hx_attached_create(&attached, s, d->is_solid);
    if (rc == HX_OK) {
        judge_pieces(diags, &attached);
        judge_supports(diags, &attached);
    }
    /* heat sources and convection may act on void */
    if (rc == HX_OK && !hx_config_is_heat(&s->cfg)) rc = judge_loads(diags, &attached, d);
    hx_attached_free(&attached);
    return rc;
}

int hx_diag_solid(hx_diags *diags, hx_session *s)
{
    hx_solid_design d = {0};
    int rc = make_solid(s, &d);
    if (rc == HX_OK) rc = judge_solid(diags, s, &d);
    rc = hx_session_agree(s, rc);
    if (rc == HX_OK && !hx_config_is_heat(&s->cfg)) rc = judge_energy(diags, s, d.is_solid);
    if (rc == HX_OK && !hx_config_is_heat(&s->cfg)) rc = judge_tetrahedra(diags, s, d.is_solid);
    hx_solid_design_free(&d);
    return rc;
}
