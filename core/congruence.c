#include "congruence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hex8.h"
#include "memory.h"

enum { NONE = -1, OPEN = -2 };

enum { N_ROUND = 4 * HX_MAX_CLASS }; /* sizes looked at: small ones are no class */

/* The Jacobian of an element. Returns 0 if it is no parallelepiped. */
static int element_jacobian(const hx_mesh *mesh, int64_t elem, double jacobian[3][3])
{
    const int32_t *conn = mesh->conn + 8 * elem;
    double second[4][3] = {{0.0}}, longest = 0.0, largest = 0.0;
    memset(jacobian, 0, 9 * sizeof(double));
    for (int a = 0; a < 8; a++) {
        const double *x = mesh->xyz + 3 * (int64_t)conn[a];
        const double r = hx_hex8_sign(a, 0), s = hx_hex8_sign(a, 1), t = hx_hex8_sign(a, 2);
        for (int i = 0; i < 3; i++) {
            jacobian[0][i] += 0.125 * r * x[i];
            jacobian[1][i] += 0.125 * s * x[i];
            jacobian[2][i] += 0.125 * t * x[i];
            second[0][i] += 0.125 * r * s * x[i];
            second[1][i] += 0.125 * r * t * x[i];
            second[2][i] += 0.125 * s * t * x[i];
            second[3][i] += 0.125 * r * s * t * x[i];
        }
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) longest = fmax(longest, fabs(jacobian[k][i]));
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 3; i++) largest = fmax(largest, fabs(second[k][i]));
    return largest <= HX_CONGRUENCE_TOLERANCE * longest;
}

static int same_jacobian(double a[3][3], double b[3][3])
{
    double longest = 0.0, largest = 0.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            longest = fmax(longest, fabs(b[k][i]));
            largest = fmax(largest, fabs(a[k][i] - b[k][i]));
        }
    return largest <= HX_CONGRUENCE_TOLERANCE * longest;
}

/* First element at or after `from` that waits for a class, or n_elem. */
static int64_t first_open(const hx_mesh *mesh, const int8_t *elem_class, int64_t from)
{
    while (from < mesh->n_elem && elem_class[from] != OPEN) from++;
    return from;
}

int hx_congruence_create(hx_congruence *congruence, const hx_mesh *mesh, int64_t smallest)
{
    int8_t *elem_class;
    memset(congruence, 0, sizeof *congruence);
    HX_TRY(hx_alloc_raw(&elem_class, (size_t)mesh->n_elem, 1, "classes of elements"));
    congruence->elem_class = elem_class;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double jacobian[3][3];
        elem_class[e] = element_jacobian(mesh, e, jacobian) ? OPEN : NONE;
    }
    int64_t first = 0;
    for (int round = 0; round < N_ROUND && congruence->n_class < HX_MAX_CLASS; round++) {
        first = first_open(mesh, elem_class, first);
        if (first == mesh->n_elem) break;
        const int c = congruence->n_class;
        double(*model)[3] = congruence->jacobian[c];
        int64_t n_member = 0;
        element_jacobian(mesh, first, model);
#pragma omp parallel for schedule(static) reduction(+ : n_member)
        for (int64_t e = first; e < mesh->n_elem; e++) {
            double jacobian[3][3];
            if (elem_class[e] != OPEN) continue;
            element_jacobian(mesh, e, jacobian);
            if (!same_jacobian(jacobian, model)) continue;
            elem_class[e] = (int8_t)c;
            n_member++;
        }
        if (n_member >= smallest) {
            congruence->n_member[congruence->n_class++] = n_member;
            continue;
        }
        for (int64_t e = first; e < mesh->n_elem; e++)
            if (elem_class[e] == c) elem_class[e] = NONE;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (elem_class[e] == OPEN) elem_class[e] = NONE;
    return HX_OK;
}

void hx_congruence_free(hx_congruence *congruence)
{
    free(congruence->elem_class);
    memset(congruence, 0, sizeof *congruence);
}
