/* The limits of a design: the constraints of the config, one per load case, as the optimizer takes
 * them, with names and units for files and messages. */
#ifndef HX_LIMITS_H
#define HX_LIMITS_H

#include "../config/config.h"
#include "core/design/optimizer.h"

/* A limit counts as met if its relative violation is at most this. */
#define HX_LIMIT_MET 1e-3

/* Default of the key `relaxation`. */
#define HX_STRESS_RELAXATION 0.5

typedef struct hx_limits {
    int n;
    hx_constraint_spec *spec; /* [n] in the order of the config (owned) */
    char **name, **origin;    /* [n] borrowed by spec (owned) */
    double *zero;             /* [n] hx_response_zero; NULL: all 0 (owned) */
    double *solid;            /* [n] values of the solid part; NULL: not analysed (owned) */
} hx_limits;

struct hx_session;

/* Makes the limits of a session with a problem, and checks them. HX_EINPUT: an unknown load case, a
 * name that is a column of history.csv or another limit's, limits that exclude each other, more
 * than the update supports, a set in void, a temperature at or below the lowest that a design has,
 * or what hx_response_check refuses. */
int hx_limits_create(hx_limits *limits, const struct hx_session *s);
/* Accepts a zeroed struct. */
void hx_limits_free(hx_limits *limits);

/* "displacement, set 'tip', direction [0, 0, -1], case 2": what a response measures; returns
 * text. */
const char *hx_response_text(const hx_response_kind *kind, const hx_response_params *params,
                             char *text, size_t n_text);

/* "at most 0.3 mm", "-0.3 to 0.3 mm"; max or min may be NaN; unit: " mm" or "". Returns text. */
const char *hx_bound_text(double max, double min, const char *unit, char *text, size_t n_text);

/* Relative violation of limit i by a value (hx_limits_exceeded); 0: it meets the limit. */
double hx_limit_violation(const hx_limits *limits, int i, double value);

/* Unit of the values of a kind, such as " mm"; "" without units. */
const char *hx_response_unit_text(const struct hx_session *s, const hx_response_kind *kind);

/* 1 if a design meets all its limits: those of the constraints and, if the update takes the volume
 * as an upper limit, that of volume_fraction. */
int hx_limits_are_met(const hx_iteration *it, const hx_update_kind *update);

#endif
