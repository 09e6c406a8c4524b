/* Von Mises stresses of all elements on a device, and what limits on them need
 * (hx_device_ops.stress): one formula for host and device. The host code of core/stress computes
 * the whole tensor, cell by cell, and is the reference.
 *
 * The stress is that of the solid material, D0 B u with the modulus of the element's material,
 * regardless of its density (Duysinx and Bendsoe 1998). It is taken at the centroid of a
 * hexahedron, where a linear one is most accurate (Barlow 1976), anywhere in a linear tetrahedron,
 * and at the quadrature points of linear wedges and pyramids and of quadratic cells, of which the largest
 * counts. Since the von Mises stress depends on the deviator only,
 *
 *     s = 2 mu E sqrt(3/2 e : e),  ds/du_a = 3/2 (2 mu E)^2 / s e grad N_a,  e = dev sym grad u.
 *
 * Fields are [n_elem], vectors [n_point][3]. Sums and maxima over the elements do not depend on the
 * number of threads. */
#ifndef HX_STRESS_OPS_H
#define HX_STRESS_OPS_H

#include "../device/device.h"
#include "../mesh/cell.h"
#include "../mesh/hex8.h"
#include "../operator/device_mesh.h"

HX_C_BEGIN

enum { HX_STRESS_POWER = 8 }; /* exponent of the norm */

/* What the elements' stresses are summed up to. An element's term is, with v = rho^relaxation s (qp
 * relaxation, Bruggi 2008),
 *
 *     norm:        (v / reference)^8
 *     lagrangian:  lambda h + mu/2 h^2, h = max(g, -lambda/mu), g = rho^penalty (L^3 + L),
 *                  L = s / limit - 1 (Senhora et al. 2020)
 *
 * and 0 if the element does not count. The factor of g vanishes with the density, so that L needs
 * no relaxation; the largest v is what is reported. */
typedef struct hx_device_stress {
    int64_t n; /* elements */
    const double *d_rho;
    const uint8_t *d_counts; /* 1: the element counts; NULL: all do (borrowed) */
    double relaxation;
    double reference;              /* stress; the norm only */
    double *d_lambda;              /* field; NULL: the norm (borrowed) */
    double limit, penalty, weight; /* the Lagrangian only; weight: mu */
} hx_device_stress;

/* All entries are required. */
typedef struct hx_stress_ops {
    /* d_s := the largest s of each element; d_at[n_elem]: its point (NULL: not needed,
     * because elements have one point each). young: modulus of material 0.
     * Linear cells: 32 bytes of connectivity per element, and 48 per node if caches hold a layer of
     * nodes; 8 written. */
    int (*von_mises)(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
                     uint8_t *d_at, double *d_s);
    /* d_load := sum of d_weight[e] ds_e/du, point by point in the order of its elements, without
     * atomics. Elements of weight 0 are skipped. The model has lists of the elements per node.
     * Linear cells: the lists, 32 bytes per element, and what von_mises reads; each element is
     * computed at each of its points. d_work: three more vectors as scratch, with which a device may
     * compute each element only once (144 bytes per element); NULL: none. */
    int (*load)(hx_device *dev, const hx_device_model *model, double young, const double *d_u,
                const uint8_t *d_at, const double *d_weight, double *const d_work[3],
                double *d_load);
    /* The largest v and the first element that has it; *elem = -1: no element counts. Reads 17
     * bytes per element, like the next. Waits. */
    int (*largest)(hx_device *dev, const hx_device_stress *law, const double *d_s, double *value,
                   int64_t *elem);
    /* The sum of the terms. Waits. */
    int (*sum)(hx_device *dev, const hx_device_stress *law, const double *d_s, double *sum);
    /* In place: s := factor times the derivative of the term by s. */
    int (*weigh)(hx_device *dev, const hx_device_stress *law, double factor, double *d_s);
    /* dg += factor times the derivative of the term by the density at constant s. */
    int (*add_slope)(hx_device *dev, const hx_device_stress *law, double factor, const double *d_s,
                     double *d_dg);
    /* lambda += weight h. */
    int (*advance)(hx_device *dev, const hx_device_stress *law, const double *d_s);
} hx_stress_ops;

/* --- terms --- */

typedef struct hx_stress_term {
    double value, by_stress, by_density;
} hx_stress_term;

static HX_HD double hx_stress_relaxed(const hx_device_stress *law, double rho, double s)
{
    if (!(law->relaxation > 0.0)) return s;
    return (law->relaxation == 0.5 ? sqrt(rho) : pow(rho, law->relaxation)) * s;
}

/* Value and derivatives of the norm's term. */
static HX_HD hx_stress_term hx_stress_norm_term(const hx_device_stress *law, double rho, double s)
{
    const double v = hx_stress_relaxed(law, rho, s), x = v / law->reference;
    const double x2 = x * x, x7 = x2 * x2 * x2 * x;
    hx_stress_term term;
    term.value = x7 * x;
    term.by_stress = s > 0.0 ? (double)HX_STRESS_POWER * x7 / law->reference * (v / s) : 0.0;
    term.by_density = (double)HX_STRESS_POWER * term.value * law->relaxation / rho;
    return term;
}

/* g and its derivatives. */
static HX_HD hx_stress_term hx_stress_excess(const hx_device_stress *law, double rho, double s)
{
    const double l = s / law->limit - 1.0, share = pow(rho, law->penalty);
    hx_stress_term g;
    g.value = share * (l * l * l + l);
    g.by_stress = share * (3.0 * l * l + 1.0) / law->limit;
    g.by_density = law->penalty * g.value / rho;
    return g;
}

static HX_HD hx_stress_term hx_stress_lagrangian_term(const hx_device_stress *law, double lambda,
                                                      double rho, double s)
{
    hx_stress_term term = hx_stress_excess(law, rho, s);
    const double force = lambda + law->weight * term.value;
    if (force > 0.0) {
        term.value *= lambda + 0.5 * law->weight * term.value;
        term.by_stress *= force;
        term.by_density *= force;
    } else {
        term.value = -0.5 * lambda * lambda / law->weight;
        term.by_stress = term.by_density = 0.0;
    }
    return term;
}

static HX_HD int hx_stress_counts(const hx_device_stress *law, int64_t e)
{
    return !law->d_counts || law->d_counts[e];
}

/* The term of an element that counts. */
static HX_HD hx_stress_term hx_stress_term_of(const hx_device_stress *law, int64_t e, double s)
{
    return law->d_lambda ? hx_stress_lagrangian_term(law, law->d_lambda[e], law->d_rho[e], s)
                         : hx_stress_norm_term(law, law->d_rho[e], s);
}

/* lambda after an advance. */
static HX_HD double hx_stress_advanced(const hx_device_stress *law, int64_t e, double s)
{
    const double next =
        law->d_lambda[e] + law->weight * hx_stress_excess(law, law->d_rho[e], s).value;
    return next > 0.0 ? next : 0.0;
}

/* --- stresses --- */

/* e := dev sym h for h[i][j] = du_i / dx_j. Returns sqrt(3/2 e : e). */
static HX_HD double hx_stress_deviator(double h[3][3], double e[3][3])
{
    const double mean = (h[0][0] + h[1][1] + h[2][2]) / 3.0;
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            e[i][j] = 0.5 * (h[i][j] + h[j][i]) - (i == j ? mean : 0.0);
            sum += e[i][j] * e[i][j];
        }
    return sqrt(1.5 * sum);
}

/* h[i][j] := weight ds/dh[i][j]; modulus: 2 mu E. */
static HX_HD void hx_stress_weighted(double h[3][3], double modulus, double weight)
{
    double e[3][3];
    const double size = hx_stress_deviator(h, e);
    const double factor = size > 0.0 ? 1.5 * modulus * weight / size : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) h[i][j] = factor * e[i][j];
}

static HX_HD double hx_stress_modulus(const hx_device_model *model, double young, int64_t e)
{
    return 2.0 * model->mu * young * hx_stiffness_factor(&model->materials, e);
}

/* Number of points of a linear cell: 1 for hexahedra and tetrahedra. */
static HX_HD int hx_stress_linear_points(const int32_t conn[8], int has_collapsed)
{
    int corner[8];
    if (!has_collapsed) return 1;
    const int n = hx_cell_distinct(conn, corner);
    return n == 8 || n == 4 ? 1 : 8;
}

/* Reference coordinates of point q of n; of one point the middle, inside also after collapsing. */
static HX_HD void hx_stress_linear_place(const int32_t conn[8], int has_collapsed, int n, int q,
                                         double at[3])
{
    for (int i = 0; i < 3; i++) {
        at[i] = n > 1 ? hx_hex8_gauss(q, i) : 0.0;
        if (n > 1 || !has_collapsed) continue;
        for (int a = 0; a < 8; a++) at[i] += hx_cell_share(conn, a) * hx_hex8_sign(a, i);
    }
}

HX_C_END

#endif
