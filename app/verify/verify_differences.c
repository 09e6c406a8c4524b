/* The warning of `hextop verify` about differences between the grey design and its 0/1 design. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../diag/diag.h"
#include "../session/compliance_ratio.h"
#include "core/base/fit.h"
#include "verify.h"

/* The text of the warning. */
typedef struct differences {
    const hx_verify *v;
    char *text; /* [n_text] (borrowed) */
    size_t n_text, used;
    int n;
} differences;

/* Appends "compliance 10513.7 instead of 6615.42 (+58.9 %)" if the difference is above the
 * tolerance. a: value of the grey design; b: value of the 0/1 design. */
static void add_difference(differences *d, const char *what, double a, double b, double percent)
{
    char text[32];
    if (!(fabs(percent) > d->v->tolerance)) return;
    d->used += hx_fit(d->text + d->used, d->n_text - d->used, "%s%s %.6g instead of %.6g (%s)",
                      d->n++ ? ", " : "", what, b, a,
                      hx_verify_difference(a, b, percent, text, sizeof text));
}

static void add_compliances(differences *d, const hx_verify_analysis *a,
                            const hx_verify_analysis *b)
{
    const int n_case = d->v->session.problem.cases.n;
    add_difference(d, "compliance", a->compliance, b->compliance,
                   hx_verify_compliance_percent(d->v, a->compliance, b->compliance));
    for (int c = 0; n_case > 1 && c < n_case; c++) {
        char what[48];
        snprintf(what, sizeof what, "compliance of case %d", c + 1);
        add_difference(
            d, what, a->case_compliance[c], b->case_compliance[c],
            hx_verify_compliance_percent(d->v, a->case_compliance[c], b->case_compliance[c]));
    }
}

/* Appends the volume, and the displacement or temperature. */
static void add_peaks(differences *d, const hx_verify_analysis *a, const hx_verify_analysis *b)
{
    const hx_problem *const problem = &d->v->session.problem;
    const double zero = problem->reference;
    const int is_heat = hx_config_is_heat(&d->v->session.cfg);
    char peak[96] = "largest displacement";
    if (is_heat)
        snprintf(peak, sizeof peak, "highest temperature above %.6g%s", zero,
                 d->v->session.cfg.units.temperature);
    add_difference(d, "volume fraction", a->volume, b->volume,
                   hx_verify_percent(a->volume, b->volume));
    const double rise[] = {a->displacement.value - zero, b->displacement.value - zero};
    add_difference(d, peak, rise[0], rise[1], hx_verify_percent(rise[0], rise[1]));
}

/* Appends how design b relates to design a, according to its compliance. */
static const char *relation(const hx_verify *v, const hx_verify_analysis *from,
                            const hx_verify_analysis *to)
{
    static const char *const word[2][2] = {
        {"is stiffer than", "is softer than"},
        {"conducts heat better than", "conducts heat worse than"}};
    const double a = from->compliance, b = to->compliance;
    if (!(fabs(hx_verify_compliance_percent(v, a, b)) > v->tolerance)) return "differs from";
    return word[hx_config_is_heat(&v->session.cfg)][b > a];
}

/* Greyness of the densities in the file; 0: black and white. */
static double greyness_of(const hx_verify *v)
{
    double sum = 0.0, volume = 0.0;
    for (int64_t e = 0; e < v->session.mesh.n_elem; e++) {
        const double rho = v->density[e];
        sum += 4.0 * v->session.problem.volume[e] * rho * (1.0 - rho);
        volume += v->session.problem.volume[e];
    }
    return volume > 0.0 ? sum / volume : 0.0;
}

/* text := the command that repeats the optimization, into a folder beside the result's, so that the
 * design becomes closer to black and white. Returns 0 if no command helps. */
static int sharpen(const hx_verify *v, char *text, size_t n_text)
{
    char word[HX_SHELL_WORD], folder[HX_SHELL_WORD], arguments[512];
    const char *const slash = strrchr(v->result, '/');
    const int n = slash ? (int)(slash - v->result) : 0;
    if (!hx_diag_sharpen(&v->session, arguments, sizeof arguments)) return 0;
    if (v->search) { /* a run with the bounds of this one would leave the search */
        hx_fit(text, n_text, "a search with %s makes designs that are more black-and-white",
               arguments);
        return 1;
    }
    size_t used =
        hx_fit(text, n_text, "`hextop run %s", hx_shell_word(v->config, word, sizeof word));
    for (size_t i = 0; i < v->n_override; i++)
        used += hx_fit(text + used, n_text - used, " %s",
                       hx_shell_word(v->override[i], word, sizeof word));
    snprintf(folder, sizeof folder, "output.directory=%.*s%sprojection", n, v->result,
             n > 0 && v->result[n - 1] != '.' ? "-" : "/");
    if (n == 0) snprintf(folder, sizeof folder, "output.directory=projection");
    hx_fit(text + used, n_text - used, " %s %s` makes the design more black-and-white",
           hx_shell_word(folder, word, sizeof word), arguments);
    return 1;
}

const char *hx_verify_differences(const hx_verify *v, char *text, size_t n_text)
{
    static const double little = 0.01;
    const hx_verify_analysis *const a = &v->analysis[HX_VERIFY_GREY],
                                    *const b = &v->analysis[HX_VERIFY_SOLID];
    differences d = {.v = v, .text = text, .n_text = n_text};
    d.used = hx_fit(text, n_text,
                    "the 0/1 design %s the grey design that was optimized: ", relation(v, a, b));
    add_compliances(&d, a, b);
    add_peaks(&d, a, b);
    add_difference(
        &d, hx_config_is_heat(&v->session.cfg) ? "largest heat flux" : "largest von Mises stress",
        a->stress.value, b->stress.value, hx_verify_percent(a->stress.value, b->stress.value));
    if (d.n == 0) return NULL;
    if (!v->surface.path) /* whose differences are printed */
        d.used += hx_fit(text + d.used, n_text - d.used,
                         "; a part made from the surface behaves like the 0/1 design");
    if (v->threshold_given)
        hx_fit(text + d.used, n_text - d.used,
               "; without --threshold, the 0/1 design has the volume of the grey design");
    else if (greyness_of(v) > little) {
        d.used += hx_fit(text + d.used, n_text - d.used, "; ");
        if (!sharpen(v, text + d.used, n_text - d.used))
            hx_fit(text + d.used, n_text - d.used,
                   "a smaller optimization.filter.radius or a finer mesh makes the grey boundary "
                   "layer thinner");
    }
    return text;
}

/* Appends the largest stress of an element outside the zones, with its place on the surface. The
 * largest at a node would differ for every part, since the centres of elements lie deeper. */
static void add_stresses(differences *d, const hx_verify_analysis *a, const hx_verify_analysis *b)
{
    const hx_verify_peak *const x = &a->stresses.outside, *const y = &b->stresses.of_element;
    const int n = d->n;
    if (!a->stresses.is_set || y->load_case == 0) return;
    add_difference(d,
                   d->v->session.n_zone > 0
                       ? "largest von Mises stress of an element outside the zones"
                       : "largest von Mises stress of an element",
                   x->value, y->value, hx_verify_percent(x->value, y->value));
    if (d->n > n)
        d->used += hx_fit(d->text + d->used, d->n_text - d->used, " at %.4g, %.4g, %.4g",
                          y->point[0], y->point[1], y->point[2]);
}

const char *hx_verify_surface_differences(const hx_verify *v, const hx_verify_analysis *design,
                                          char *text, size_t n_text)
{
    const hx_verify_analysis *const part = &v->surface.analysis;
    differences d = {.v = v, .text = text, .n_text = n_text};
    d.used = hx_fit(text, n_text,
                    "the part inside the surface %s the 0/1 design%s: ", relation(v, design, part),
                    v->quadratic.requested ? " with quadratic elements" : "");
    add_compliances(&d, design, part);
    add_peaks(&d, design, part);
    add_stresses(&d, design, part);
    if (d.n == 0) text[0] = '\0';
    return d.n > 0 ? text : NULL;
}
