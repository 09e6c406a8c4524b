/* Natural frequencies and modes of the analysed part. */
#ifndef HX_ANALYSE_MODES_H
#define HX_ANALYSE_MODES_H

#include "../config/units.h"
#include "core/files/vtk_fields.h"
#include "core/krylov/lobpcg.h"

/* maximum number of modes */
enum { HX_MOST_MODES = 24 };

typedef struct hx_mode {
    double frequency;        /* per unit of time; hertz if the unit is s */
    double participation[3]; /* phi' M e_i, with phi' M phi = 1: square root of a mass */
    double effective[3];     /* its square, relative to the mass */
} hx_mode;

typedef struct hx_modes {
    int n;        /* wanted; 0: none */
    int n_motion; /* rigid motions of a part that supports leave free */
    double mass;  /* e_i' M e_i, the same for each i */
    hx_mode mode[HX_MOST_MODES];
    hx_lobpcg_result result;
} hx_modes;

/* Finds the modes of an operator whose modulus and preconditioner are set up, with the densities
 * rho[n_elem]; `modes` has the wanted number. fields: receives the shape of each at the nodes,
 * scaled to a largest displacement of 1; NULL: none. Errors of hx_mass_create, hx_lobpcg_create and
 * hx_lobpcg_solve. */
int hx_modes_find(hx_modes *modes, hx_operator *op, hx_precond *pc, const double *rho,
                  hx_fields *fields);

/* Print the table, and write it as members of JSON. */
void hx_modes_print(const hx_modes *modes, const hx_units *units);
void hx_modes_write(const hx_modes *modes, const hx_units *units, hx_json *json);

#endif
