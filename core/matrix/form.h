/* An entry of a matrix: the tile of two points, computed from their gradients. Host and device use
 * one formula. */
#ifndef HX_FORM_H
#define HX_FORM_H

#include "../base/c_linkage.h"
#include "../base/host_device.h"

HX_C_BEGIN

typedef enum {
    HX_FORM_ELASTICITY, /* 3 unknowns per point: isotropic, Lame's lambda and mu per unit modulus */
    HX_FORM_CONDUCTION  /* 1 unknown per point: the modulus is the conductivity */
} hx_form_kind;

typedef struct hx_form {
    hx_form_kind kind;
    double lambda, mu; /* elasticity only */
} hx_form;

static HX_HD int hx_form_components(const hx_form *form)
{
    return form->kind == HX_FORM_ELASTICITY ? 3 : 1;
}

/* Gradients enter as h = sqrt(w) g, where w is the weight of the integration point (det J times the
 * weight of the rule). Products h_a h_b commute, so the tile of (b, a) is bitwise the transpose of
 * the tile of (a, b), and the matrix is symmetric. m is summed over the integration points: m[i][j]
 * += h_a[i] h_b[j], starting from 0. */
static HX_HD void hx_form_add(const double ha[3], const double hb[3], double m[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] += ha[i] * hb[j];
}

/* k = modulus (lambda m + mu m' + mu tr m I): sum of w (lambda ga gb' + mu gb ga' + mu ga.gb I). */
static HX_HD void hx_form_elasticity(double modulus, double lambda, double mu, const double m[3][3],
                                     double k[3][3])
{
    const double l = modulus * lambda, u = modulus * mu;
    const double trace = u * (m[0][0] + m[1][1] + m[2][2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            k[i][j] = i == j ? (l + u) * m[i][i] + trace : l * m[i][j] + u * m[j][i];
}

/* The entry for conduction: modulus times the sum of w ga . gb. */
static HX_HD double hx_form_conduction(double modulus, const double m[3][3])
{
    return modulus * (m[0][0] + m[1][1] + m[2][2]);
}

HX_C_END

#endif
