/* The table of warnings, and the list of the warnings that were issued. */
#include "diag.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/fit.h"
#include "core/base/grow.h"
#include "core/base/memory.h"

#define NONE ((double)NAN)

/* doc/commands.md explains each row, in the same order. */
const hx_diag_row hx_diag_table[HX_N_DIAG] = {
    [HX_DIAG_POOR_ELEMENTS] = {"poor-elements", 0.2, "remesh there"},
    [HX_DIAG_BODIES] = {"bodies", 1.0, "merge coincident nodes if the bodies should be one"},
    [HX_DIAG_HINGES] = {"hinges", 0.0, ""},
    [HX_DIAG_THIN_TETRAHEDRA] =
        {"thin-tetrahedra", 0.5,
         "use a finer mesh, or `solver.element=quadratic solver.operator=auto`"},
    [HX_DIAG_FAR_FROM_ORIGIN] = {"far-from-origin", 1e-6, "move the part closer to the origin"},
    [HX_DIAG_UNIT] = {"unit", NONE, "check its unit"},
    [HX_DIAG_LOAD_ON_SUPPORT] = {"load-on-support", 0.1, ""},
    [HX_DIAG_WEIGHT_ONLY] = {"weight-only", 0.0,
                             "add the load that the part carries, or passive solid"},
    [HX_DIAG_EXPANSION] = {"expansion-compliance", 0.0,
                           "minimize a displacement, a stress or the mass under limits of them"},
    [HX_DIAG_FREE_OUTPUT] = {"free-output", 0.0, ""},
    [HX_DIAG_SOFT_PORT] = {"soft-port", 0.0, ""},
    [HX_DIAG_PASSIVE_VOID_LOAD] = {"passive-void-load", 0.0,
                                   "remove their elements from the void, or load other nodes"},
    [HX_DIAG_PASSIVE_VOID_SUPPORT] =
        {"passive-void-support", 0.0,
         "remove their elements from the void, or support other nodes"},
    [HX_DIAG_VOID_CUTS] = {"void-cuts", 0.0, ""},
    [HX_DIAG_FORCED_SOLID] = {"forced-solid", 1.0, ""},
    [HX_DIAG_NEAR_INCOMPRESSIBLE] =
        {"near-incompressible", 0.49,
         "reduce material.nu, or use `solver.element=quadratic solver.operator=auto`"},
    [HX_DIAG_FILTER_SMALL] = {"filter-small", 1.5, "1.5 to 6 elements are usual"},
    [HX_DIAG_FILTER_LARGE] = {"filter-large", 10.0, "1.5 to 6 elements are usual"},
    [HX_DIAG_FILTER_SPLINE] = {"filter-spline", 1.0,
                               "use a larger optimization.filter.radius, or a larger mesh.refine"},
    [HX_DIAG_NO_IMAGE] = {"no-image", 0.1, "check the planes and repetitions"},
    [HX_DIAG_NOT_SYMMETRIC] = {"not-symmetric", 0.1, ""},
    [HX_DIAG_TOO_FEW_ITERATIONS] = {"too-few-iterations", NONE, ""},
    [HX_DIAG_CHANGE_TOLERANCE] = {"change-tolerance", 0.05, ""},
    [HX_DIAG_SOFT_VOID] = {"soft-void", 1e-14, ""},
    [HX_DIAG_TOLERANCE] = {"tolerance", 1e-3, "`solver.tolerance=1e-5` is the default"},
    [HX_DIAG_TOLERANCE_COMPLIANCE] = {"tolerance-compliance", 5e-6,
                                      "`solver.tolerance=1e-6` is the default"},
    [HX_DIAG_THREADS] = {"threads", 1.0, "`solver.threads=0` uses one thread per core"},
    [HX_DIAG_MEMORY] = {"memory", 0.9, "use a coarser mesh, or an operator that stores less"},
    [HX_DIAG_DISK] = {"disk", 1.0,
                      "`output.every=0` writes the last design only, "
                      "`output.threshold=0.1` leaves out what is nearly void"},
    [HX_DIAG_PCG] = {"pcg", 0.0, "raise solver.max_iterations or optimization.rho_min"},
    [HX_DIAG_NO_INFLUENCE] = {"no-influence", 1e-5, ""},
    [HX_DIAG_INITIAL_FILTERED] = {"initial-filtered", 0.01, "continue the run that wrote it"},
    [HX_DIAG_ROUNDED_STIFFNESS] = {"rounded-stiffness", 1e-4,
                                   "`solver.operator=auto` selects one that uses double precision"},
    [HX_DIAG_VOLUME] = {"volume", HX_VOLUME_TOLERANCE,
                        "allow more iterations, or a larger optimization.move"},
    [HX_DIAG_LIMIT] = {"limit", HX_LIMIT_MET, "relax it, or allow more material"},
    [HX_DIAG_CHANGING] = {"changing", 0.01, "allow more iterations"},
    [HX_DIAG_DAMPED] = {"damped", NONE, "use a larger optimization.damping"},
    [HX_DIAG_GREY] = {"grey", 0.2, "`hextop verify` analyses the 0/1 design"},
    [HX_DIAG_FLOATING_PIECES] = {"floating-pieces", 0.0,
                                 "use a larger filter radius, a larger volume fraction or more "
                                 "iterations; `hextop surface --keep-largest` exports the "
                                 "largest piece only"},
    [HX_DIAG_LOAD_ON_VOID] = {"load-on-void", 0.01,
                              "make the loaded elements passive solid, or allow more volume or "
                              "more iterations"},
    [HX_DIAG_SUPPORT_ON_VOID] = {"support-on-void", 0.0,
                                 "check if it is needed, or make its elements passive solid"},
    [HX_DIAG_FEW_ELEMENTS] = {"few-elements", 0.01,
                              "spread the load or support over a face, or add passive solid "
                              "around it; a finer mesh makes it worse"},
    [HX_DIAG_LINEAR_TETRAHEDRA] =
        {"linear-tetrahedra", 0.05,
         "`hextop verify --element quadratic` quantifies it; a finer mesh "
         "or solver.element = \"quadratic\" fixes it"},
    [HX_DIAG_OTHER] = {"other", NONE, ""},
};

/* Appends a warning to the list. remedy: NULL for the table's. */
static void keep(hx_diags *diags, hx_diag_kind kind, double value, const char *text,
                 const char *remedy)
{
    char *copy = NULL, *own = NULL;
    if (hx_strdup(&copy, text) < 0 || (remedy && hx_strdup(&own, remedy) < 0) ||
        hx_resize(&diags->entry, diags->n, diags->n + 1, sizeof *diags->entry, "warnings") < 0) {
        free(copy);
        free(own);
        return; /* the log has the warning already */
    }
    diags->entry[diags->n++] = (hx_diag){kind, value, copy, own};
}

static void hear(void *user, hx_log_kind kind, const char *text)
{
    hx_diags *const diags = user;
    if (kind == HX_LOG_WARNING && !diags->is_adding) keep(diags, HX_DIAG_OTHER, NONE, text, NULL);
}

int hx_diags_listen(hx_diags *diags)
{
    const hx_log_sink sink = {.level = HX_LOG_QUIET, .line = hear, .user = diags};
    return hx_log_add_sink(&sink);
}

void hx_diags_stop_listening(hx_diags *diags)
{
    hx_log_remove_sink(diags);
}

static void add_diag(hx_diags *diags, hx_diag_kind kind, double value, const char *own,
                     const char *fmt, va_list args)
{
    const char *const remedy = own ? own : hx_diag_table[kind].remedy;
    char line[1024], *const text = hx_fit_all(line, sizeof line, fmt, args);
    diags->is_adding = 1;
    hx_log_warning("%s%s%s", text, remedy[0] ? "; " : "", remedy);
    diags->is_adding = 0;
    keep(diags, kind, value, text, own);
    if (text != line) free(text);
}

int hx_diags_have(const hx_diags *diags, hx_diag_kind kind)
{
    for (size_t i = 0; i < diags->n; i++)
        if (diags->entry[i].kind == kind) return 1;
    return 0;
}

void hx_diags_add(hx_diags *diags, hx_diag_kind kind, double value, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_diag(diags, kind, value, NULL, fmt, args);
    va_end(args);
}

void hx_diags_advise(hx_diags *diags, hx_diag_kind kind, double value, const char *remedy,
                     const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_diag(diags, kind, value, remedy, fmt, args);
    va_end(args);
}

void hx_diags_write(const hx_diags *diags, hx_json *json)
{
    hx_json_open_array(json, "warnings");
    for (size_t i = 0; i < diags->n; i++) {
        const hx_diag *const diag = &diags->entry[i];
        const hx_diag_row *const row = &hx_diag_table[diag->kind];
        const char *const remedy = diag->remedy ? diag->remedy : row->remedy;
        hx_json_open_object(json, NULL);
        hx_json_string(json, "code", row->code);
        hx_json_number(json, "value", diag->value);
        hx_json_number(json, "limit", row->limit);
        hx_json_string(json, "text", diag->text);
        hx_json_string(json, "remedy", remedy[0] ? remedy : NULL);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}

void hx_diags_free(hx_diags *diags)
{
    for (size_t i = 0; i < diags->n; i++) {
        free(diags->entry[i].text);
        free(diags->entry[i].remedy);
    }
    free(diags->entry);
    memset(diags, 0, sizeof *diags);
}
