/* From a config to an optimizer that is ready to step: one object after the other, each borrowing
 * those before it, freed in reverse. */
#ifndef HX_SETUP_H
#define HX_SETUP_H

#include "config.h"
#include "core/generate.h"
#include "core/optimizer.h"
#include "core/registry.h"

typedef struct hx_session {
    hx_config cfg;
    hx_mesh mesh;
    hx_problem problem;
    hx_device device;
    const hx_strategy *strategy;
    hx_layout layout;
    const hx_precond_kind *precond_kind;
    hx_operator op;
    hx_precond pc;
    hx_pcg pcg;
    hx_filter filter;
    hx_optimizer opt;
    double filter_radius;    /* length; 0 if the filter has none */
    size_t device_bytes;     /* operator and vectors of the solver */
    size_t host_bytes;       /* mesh, problem, filter and densities */
    char operator_note[128]; /* why this operator, when it is not what was written; "" otherwise */
} hx_session;

/* All steps below, in order. The caller zeroed s and filled s->cfg. */
int hx_session_open(hx_session *s);

/* One by one, for commands that stop earlier or report in between. */
int hx_session_make_mesh(hx_session *s);    /* mesh and sets */
int hx_session_make_problem(hx_session *s); /* supports, loads, passive elements, radius */
/* Device, strategy and layout; names resolved in cfg. With solver.operator = "auto" the operators
 * are timed, and s->op may hold the one chosen already. */
int hx_session_open_device(hx_session *s);
int hx_session_make_solver(hx_session *s); /* operator, preconditioner, PCG */
int hx_session_make_design(hx_session *s); /* filter, optimizer */

/* The densities of optimization.initial, or NULL if the design starts uniform. *density is the
 * caller's to free. */
int hx_session_read_initial(hx_session *s, double **density);

/* solver.layout as a value. */
hx_layout hx_session_asked_layout(const hx_session *s);

/* "ebe, interleaved, deterministic (in place of otf, which needs a GPU)"; returns text. */
const char *hx_session_operator_text(const hx_session *s, char *text, size_t n_text);

/* Device bytes that the operator and the solver's vectors will take. Needs device and problem. */
size_t hx_session_device_bytes(const hx_session *s);

/* Accepts a zeroed or half-open session. */
void hx_session_free(hx_session *s);

#endif
