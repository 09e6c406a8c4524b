#include "solid_design.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "core/design/black_white.h"
#include "core/files/result_match.h"

static int cut_design(hx_solid_design *d, const hx_session *s, const char *result)
{
    double largest = 0.0;
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        const int is_dense = hx_part_is_dense(&d->part, d->density, d->threshold, e);
        largest = fmax(largest, d->density[e]);
        d->is_solid[e] = d->part.state[e] == HX_PART_SOLID || is_dense;
        d->n_solid += d->is_solid[e];
        d->n_filled += d->is_solid[e] && !is_dense;
        if (d->is_solid[e]) d->volume += s->problem.volume[e];
        d->black_white[e] = d->is_solid[e] ? 1.0 : s->design.rho_min;
    }
    if (d->n_solid > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: no element has a density of at least %g; the largest is %.4g",
                    result, d->threshold, largest);
}

int hx_solid_design_make(hx_solid_design *d, const hx_session *s, const char *result,
                         double threshold, unsigned preserve)
{
    int rc;
    const size_t n = (size_t)s->mesh.n_elem;
    d->threshold = threshold;
    HX_TRY_FAIL(hx_alloc_raw(&d->black_white, n, sizeof *d->black_white, "densities"));
    HX_TRY_FAIL(hx_alloc(&d->is_solid, n, sizeof *d->is_solid, "solid elements"));
    HX_TRY_FAIL(hx_part_create(&d->part, s, d->density, d->n_missing, preserve));
    if (isnan(threshold)) HX_TRY_FAIL(hx_part_threshold(&d->part, s, d->density, &d->threshold));
    HX_TRY_FAIL(cut_design(d, s, result));
    return HX_OK;
fail:
    hx_solid_design_free(d);
    return rc;
}

int hx_solid_design_create(hx_solid_design *d, hx_session *s, const char *result, double threshold,
                           unsigned preserve)
{
    int rc;
    memset(d, 0, sizeof *d);
    HX_TRY_FAIL(hx_alloc_raw(&d->density, (size_t)s->mesh.n_elem, sizeof *d->density, "densities"));
    /* Reads the densities of a result on the session's mesh, and compares its origin with the
     * config. */
    const double rho_min = s->design.rho_min;
    hx_result_match match;
    HX_TRY_FAIL(hx_result_read(result, "density", &s->mesh, rho_min, rho_min, d->density, &match));
    d->n_missing = match.n_missing;
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        if (!(d->density[e] >= 0.0 && d->density[e] <= 1.0))
            HX_TRY_FAIL(HX_RAISE(HX_EINPUT, "%s: the density of element %lld is %g, not in [0, 1]",
                                 result, (long long)hx_mesh_elem_number(&s->mesh, e),
                                 d->density[e]));
    HX_TRY_FAIL(hx_result_origin_find(&d->origin, s, result, &match));
    return hx_solid_design_make(d, s, result, threshold, preserve);
fail:
    hx_solid_design_free(d);
    return rc;
}

const char *hx_solid_design_text(const hx_solid_design *d, int threshold_given, char *text,
                                 size_t n_text)
{
    char count[32];
    snprintf(text, n_text, "%s %s solid: density >= %.6g, %s",
             hx_format_count(d->n_solid, count, sizeof count),
             hx_noun(d->n_solid, "element is", "elements are"), d->threshold,
             threshold_given ? "as given" : hx_part_threshold_text(&d->part));
    return text;
}

/* *n_floating := number of solid elements that are not in the largest piece. */
static int make_design_mesh(const hx_solid_design *d, const hx_session *s, int64_t first,
                            hx_solid_mesh *solid, int64_t *n_floating)
{
    const int64_t n = s->mesh.n_elem;
    uint8_t *is_kept = NULL;
    hx_pieces pieces;
    HX_TRY(hx_pieces_create(&pieces, &s->mesh, d->is_solid, s->problem.volume, HX_PIECES_BY_NODES));
    int rc = hx_alloc_raw(&is_kept, (size_t)n, 1, "only the solid");
    for (int64_t e = 0; rc == HX_OK && e < n; e++) is_kept[e] = pieces.of[e] == 0;
    if (rc == HX_OK) rc = hx_solid_mesh_create(solid, &s->mesh, &s->conditions, is_kept, first);
    *n_floating = d->n_solid - pieces.n_elem[0];
    free(is_kept);
    hx_pieces_free(&pieces);
    return rc;
}

static int64_t count_held(const hx_problem *problem)
{
    int64_t n = 0;
    for (int64_t p = 0; p < problem->space.n_point; p++)
        for (int i = 0; i < problem->components; i++) n += problem->supports.fixed[p] >> i & 1;
    return n;
}

/* Sum of the magnitudes of a case's forces, without forces on rigid sets, which transmit them to
 * other nodes. */
static double sum_sizes(const hx_problem *problem, int load_case)
{
    const double *const f = problem->cases.force[load_case];
    double sum = 0.0;
    for (int64_t p = 0; p < problem->space.n_point; p++)
        sum += problem->components == 1 ? fabs(f[p]) : hx_norm3(f + 3 * p);
    for (int64_t k = 0; k < problem->rigid.n_node; k++)
        sum -= hx_norm3(f + 3 * (int64_t)problem->rigid.node[k]);
    return sum;
}

/* Returns why the solid may lack elements: the file does not have them; returns "" if it has
 * all. */
static const char *name_missing(const hx_solid_design *d, char *text, size_t n_text)
{
    text[0] = '\0';
    if (d->n_missing > 0)
        snprintf(text, n_text,
                 "; the file lacks the %lld %s below output.threshold, which count as void: write "
                 "the last design with a lower output.threshold, or none",
                 (long long)d->n_missing, hx_noun(d->n_missing, "element", "elements"));
    return text;
}

/* Returns 1 if a lower threshold would make another element of the file solid. */
static int can_lower(const hx_solid_design *d, const hx_session *s)
{
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        if (!d->is_solid[e] && d->part.state[e] != HX_PART_VOID &&
            !(d->n_missing > 0 && d->density[e] <= s->design.rho_min))
            return 1;
    return 0;
}

/* Options that would bring the loads back; only those that are not applied yet are named. */
static const char *advise(const hx_solid_design *d, const hx_session *whole, char *text,
                          size_t n_text)
{
    char lower[120] = "", missing[200];
    if (can_lower(d, whole))
        snprintf(lower, sizeof lower, "; --threshold below %.4g makes more elements solid",
                 d->threshold);
    snprintf(text, n_text, "%s%s%s",
             d->part.preserve & HX_PRESERVE_LOADS
                 ? ""
                 : "; --preserve loads makes loaded elements solid",
             lower, name_missing(d, missing, sizeof missing));
    return text;
}

/* HX_EINPUT: a case has no load left. */
static int check_left(const hx_solid_design *d, const hx_session *s, const hx_problem *solid)
{
    const hx_problem *const whole = &s->problem;
    /* Prescribed values other than 0 are left, or rigid sets, which may have such values. */
    const double *const value = solid->supports.prescribed;
    int any = value && solid->rigid.n > 0;
    for (int64_t k = 0; value && k < solid->components * solid->space.n_point; k++)
        any |= value[k] != 0.0;
    const int driven = any, is_heat = whole->components == 1;
    for (int c = 0; c < solid->cases.n; c++) {
        double most = 0.0, all = 0.0;
        char advice[400];
        if (driven || solid->films.n > 0 || hx_problem_body(solid, c)) continue;
        for (int64_t k = 0; k < solid->components * solid->space.n_point; k++)
            most = fmax(most, fabs(solid->cases.force[c][k]));
        for (int64_t k = 0; k < whole->components * whole->space.n_point; k++)
            all = fmax(all, fabs(whole->cases.force[c][k]));
        if (most > HX_LOADS_CANCEL * all) continue; /* rounding errors do not count as load */
        return HX_RAISE(HX_EINPUT,
                        "case %d: all of its %s is on void, or on pieces that are not connected to "
                        "the largest%s",
                        c + 1,
                        !(all > 0.0) ? is_heat ? "prescribed temperature above the lowest"
                                               : "prescribed displacement other than 0"
                        : is_heat    ? "heat"
                                     : "force",
                        advise(d, s, advice, sizeof advice));
    }
    return HX_OK;
}

static void warn_of_lost(const hx_problem *whole, const hx_problem *solid, int64_t n_floating)
{
    const int64_t held = count_held(whole), kept = count_held(solid);
    char a[32], b[32];
    if (n_floating > 0)
        hx_log_warning("%s solid %s left out", hx_format_count(n_floating, a, sizeof a),
                       hx_noun(n_floating, "element is not connected to the largest piece and is",
                               "elements are not connected to the largest piece and are"));
    if (kept < held)
        hx_log_warning("supports: %s of %s held degrees of freedom are on void and are left out",
                       hx_format_count(held - kept, a, sizeof a),
                       hx_format_count(held, b, sizeof b));
    if (solid->springs.n < whole->springs.n)
        hx_log_warning("springs: %s of %s degrees of freedom are on void and are left out",
                       hx_format_count(whole->springs.n - solid->springs.n, a, sizeof a),
                       hx_format_count(whole->springs.n, b, sizeof b));
    for (int c = 0; c < whole->cases.n; c++) {
        const double all = sum_sizes(whole, c), lost = all - sum_sizes(solid, c);
        if (lost > 1e-9 * all)
            hx_log_warning("case %d: %.3g %% of the %s is on void and is left out", c + 1,
                           100.0 * lost / all, whole->components == 1 ? "heat" : "force");
    }
}

int hx_solid_session_make(hx_session *to, const hx_session *whole, const hx_solid_design *d,
                          int64_t first)
{
    hx_solid_mesh solid;
    int64_t n_floating = 0;
    HX_TRY(make_design_mesh(d, whole, first, &solid, &n_floating));
    to->mesh = solid.mesh; /* the session is moved before anything points to it */
    to->conditions = solid.conditions;
    memset(&solid.mesh, 0, sizeof solid.mesh);
    memset(&solid.conditions, 0, sizeof solid.conditions);
    int rc = hx_space_create(&to->space, &to->mesh, whole->space.element);
    if (rc == HX_OK)
        rc = hx_problem_create_part(&to->problem, &whole->problem, &to->space, solid.node,
                                    solid.elem, "the 0/1 design without void");
    hx_solid_mesh_free(&solid);
    if (rc == HX_EINPUT && d->n_missing > 0) {
        char text[200], message[HX_MESSAGE_SIZE];
        snprintf(message, sizeof message, "%s", hx_error_message());
        rc = HX_RAISE(HX_EINPUT, "%s%s", message, name_missing(d, text, sizeof text));
    }
    HX_TRY(rc);
    to->design = whole->design;
    to->design.start = 1.0;
    to->problem.operator_plan = &to->operator_plan;
    to->problem.coarse_plan = &to->coarse_plan;
    HX_TRY(check_left(d, whole, &to->problem));
    warn_of_lost(&whole->problem, &to->problem, n_floating);
    return HX_OK;
}

void hx_solid_design_free(hx_solid_design *d)
{
    hx_part_free(&d->part);
    free(d->density);
    free(d->is_solid);
    free(d->black_white);
    memset(d, 0, sizeof *d);
}
