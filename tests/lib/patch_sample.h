/* Small spline patches, distorted, with weights that are not a tensor product, and their dense K by
 * B'DB, from every function at every Gauss point, without using core/matrix. */
#ifndef HX_PATCH_SAMPLE_H
#define HX_PATCH_SAMPLE_H

#include "core/matrix/interaction.h"
#include "fixture.h"

typedef struct patch_sample {
    int dim, degree;
    hx_knots axis[3]; /* the third is empty for a plane patch */
    int n[3];         /* functions */
    int64_t n_point, n_cell;
    double *point, *weight, *modulus; /* weight: NULL for B-splines */
    hx_interaction patch;
} patch_sample;

/* n functions with unequal spans on [0, 1]; with `twice` an interior knot is double, for degrees of
 * at least 2. */
static inline void patch_knots(hx_knots *knots, int degree, int n, int twice, uint64_t *seed)
{
    double knot[64], t = 0.0;
    for (int i = 0; i < n + degree + 1; i++) {
        const int inner = i > degree && i < n;
        if (inner || i == n)
            if (!(twice && degree > 1 && i == degree + 2 && inner))
                t += fixture_uniform(seed, 0.7, 1.3);
        knot[i] = t;
    }
    for (int i = 0; i < n + degree + 1; i++) knot[i] /= t;
    CHECK_OK(hx_knots_create(knots, degree, n, knot));
}

static inline void patch_make(patch_sample *s, int dim, int degree, const int n[3], int twice,
                              int rational, int distorted)
{
    const hx_form form = {.kind = HX_FORM_ELASTICITY, .lambda = 0.7, .mu = 0.4};
    uint64_t seed = 0x9e3779b97f4a7c15u + (uint64_t)(100 * dim + 10 * degree + rational);
    *s = (patch_sample){.dim = dim, .degree = degree, .n_point = 1, .n_cell = 1};
    for (int d = 0; d < 3; d++) {
        s->n[d] = d < dim ? n[d] : 1;
        if (d < dim) patch_knots(&s->axis[d], degree, n[d], twice && d != 1, &seed);
        s->n_point *= s->n[d];
        s->n_cell *= d < dim ? s->axis[d].n_span : 1;
    }
    CHECK_OK(hx_alloc(&s->point, 3 * (size_t)s->n_point, sizeof *s->point, "points"));
    CHECK_OK(hx_alloc(&s->modulus, (size_t)s->n_cell, sizeof *s->modulus, "moduli"));
    if (rational) CHECK_OK(hx_alloc(&s->weight, (size_t)s->n_point, sizeof *s->weight, "weights"));
    for (int64_t k = 0; k < s->n_point; k++) {
        const int64_t at[3] = {k % s->n[0], k / s->n[0] % s->n[1], k / s->n[0] / s->n[1]};
        for (int d = 0; d < dim; d++) {
            double x = 0.0; /* Greville abscissa, which gives a straight part without distortion */
            for (int i = 1; i <= degree; i++) x += s->axis[d].knot[at[d] + i] / degree;
            s->point[3 * k + d] = x * (1.0 + 0.3 * d) +
                                  (distorted ? fixture_uniform(&seed, -0.1, 0.1) / s->n[d] : 0.0);
        }
        if (rational) s->weight[k] = fixture_uniform(&seed, 0.8, 1.25);
    }
    for (int64_t e = 0; e < s->n_cell; e++) s->modulus[e] = fixture_uniform(&seed, 0.1, 1.0);
    CHECK_OK(
        hx_interaction_create(&s->patch, dim, s->axis, s->point, s->weight, s->modulus, &form));
}

static inline void patch_free(patch_sample *s)
{
    for (int d = 0; d < 3; d++) hx_knots_free(&s->axis[d]);
    hx_interaction_free(&s->patch);
    free(s->point);
    free(s->weight);
    free(s->modulus);
}

/* Place and weight of point q of n = degree + 1 Gauss points on [-1, 1], from tables. */
static inline void patch_gauss(int n, int q, double *at, double *weight)
{
    static const double x[6][5] = {{0},
                                   {0},
                                   {-0.57735026918962576451, 0.57735026918962576451},
                                   {-0.77459666924148337704, 0.0, 0.77459666924148337704},
                                   {-0.86113631159405257522, -0.33998104358485626480,
                                    0.33998104358485626480, 0.86113631159405257522},
                                   {-0.90617984593866399280, -0.53846931010568309104, 0.0,
                                    0.53846931010568309104, 0.90617984593866399280}};
    static const double w[6][5] = {{0},
                                   {0},
                                   {1.0, 1.0},
                                   {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0},
                                   {0.34785484513745385737, 0.65214515486254614263,
                                    0.65214515486254614263, 0.34785484513745385737},
                                   {0.23692688505618908751, 0.47862867049936646804,
                                    0.56888888888888888889, 0.47862867049936646804,
                                    0.23692688505618908751}};
    *at = x[n][q];
    *weight = w[n][q];
}

/* Gradients by x of a cell's points at parameters t; returns det J. In a plane patch the third
 * direction has a single point. */
static inline double patch_gradients(const patch_sample *s, const int span[3], const double t[3],
                                     int64_t number[125], double grad[125][3])
{
    double value[3][HX_SPLINE_MAX_ORDER] = {{1}, {1}, {1}}, slope[3][HX_SPLINE_MAX_ORDER] = {{0}};
    double shape[125], by[125][3], sum = 0.0, sums[3] = {0.0};
    int order[3] = {1, 1, 1}, first[3] = {0}, n = 0;
    for (int d = 0; d < s->dim; d++) {
        hx_knots_values(&s->axis[d], span[d], t[d], value[d], slope[d]);
        order[d] = s->degree + 1;
        first[d] = s->axis[d].span[span[d]] - s->degree;
    }
    for (int c = 0; c < order[2]; c++)
        for (int b = 0; b < order[1]; b++)
            for (int a = 0; a < order[0]; a++, n++) {
                number[n] =
                    ((int64_t)(first[2] + c) * s->n[1] + first[1] + b) * s->n[0] + first[0] + a;
                const double w = s->weight ? s->weight[number[n]] : 1.0;
                shape[n] = w * value[0][a] * value[1][b] * value[2][c];
                by[n][0] = w * slope[0][a] * value[1][b] * value[2][c];
                by[n][1] = w * value[0][a] * slope[1][b] * value[2][c];
                by[n][2] = w * value[0][a] * value[1][b] * slope[2][c];
                sum += shape[n];
                for (int k = 0; k < 3; k++) sums[k] += by[n][k];
            }
    double j[3][3] = {{0}}, inverse[3][3], det = 0.0;
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 3; k++) {
            by[a][k] = (by[a][k] * sum - shape[a] * sums[k]) / (sum * sum);
            for (int i = 0; i < s->dim; i++) j[i][k] += s->point[3 * number[a] + i] * by[a][k];
        }
    if (s->dim == 2) j[2][2] = 1.0;
    for (int i = 0; i < 3; i++)
        det += j[0][i] *
               (j[1][(i + 1) % 3] * j[2][(i + 2) % 3] - j[1][(i + 2) % 3] * j[2][(i + 1) % 3]);
    for (int i = 0; i < 3; i++) /* inverse[k][i] = dt_k / dx_i */
        for (int k = 0; k < 3; k++)
            inverse[k][i] = (j[(i + 1) % 3][(k + 1) % 3] * j[(i + 2) % 3][(k + 2) % 3] -
                             j[(i + 1) % 3][(k + 2) % 3] * j[(i + 2) % 3][(k + 1) % 3]) /
                            det;
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++) {
            grad[a][i] = 0.0;
            for (int k = 0; k < s->dim; k++) grad[a][i] += inverse[k][i] * by[a][k];
        }
    return det;
}

/* The strains xx yy zz xy yz zx of a displacement of one point along i. */
static inline void patch_strain(const double g[3], int i, double b[6])
{
    for (int k = 0; k < 6; k++) b[k] = 0.0;
    b[i] = g[i];
    b[3 + i] = g[(i + 1) % 3];           /* of i and the next */
    b[3 + (i + 2) % 3] = g[(i + 2) % 3]; /* of i and the one before */
}

/* k[n_dof][n_dof], zeroed by the caller. */
static inline void patch_dense(const patch_sample *s, double *k)
{
    const double lambda = s->patch.lambda, mu = s->patch.mu;
    const size_t n_dof = (size_t)(s->dim * s->n_point);
    const int order = s->degree + 1, n = s->dim == 3 ? order * order * order : order * order;
    for (int64_t e = 0; e < s->n_cell; e++) {
        const int n0 = s->axis[0].n_span, n1 = s->axis[1].n_span;
        const int span[3] = {(int)(e % n0), (int)(e / n0 % n1), (int)(e / n0 / n1)};
        for (int q = 0; q < n; q++) {
            const int g[3] = {q % order, q / order % order, q / order / order};
            double t[3] = {0.0}, factor = s->modulus[e], grad[125][3];
            int64_t number[125];
            for (int d = 0; d < s->dim; d++) {
                const double *const knot = s->axis[d].knot + s->axis[d].span[span[d]];
                double at, weight;
                patch_gauss(order, g[d], &at, &weight);
                t[d] = 0.5 * (knot[0] + knot[1] + at * (knot[1] - knot[0]));
                factor *= 0.5 * weight * (knot[1] - knot[0]);
            }
            const double det = patch_gradients(s, span, t, number, grad);
            CHECK_MSG(det > 0.0, "det J is %g in cell %lld", det, (long long)e);
            for (int a = 0; a < n; a++)
                for (int i = 0; i < s->dim; i++) {
                    double b[6], stress[6];
                    patch_strain(grad[a], i, b);
                    for (int v = 0; v < 3; v++)
                        stress[v] = lambda * (b[0] + b[1] + b[2]) + 2.0 * mu * b[v];
                    for (int v = 3; v < 6; v++) stress[v] = mu * b[v];
                    for (int c = 0; c < n; c++)
                        for (int j = 0; j < s->dim; j++) {
                            double other[6], sum = 0.0;
                            patch_strain(grad[c], j, other);
                            for (int v = 0; v < 6; v++) sum += stress[v] * other[v];
                            k[(size_t)(s->dim * number[a] + i) * n_dof +
                              (size_t)(s->dim * number[c] + j)] += factor * det * sum;
                        }
                }
        }
    }
}

/* Largest difference of the lower blocks from the dense matrix over its largest number. NaN if an
 * entry of the pattern's row is not in place. */
static inline double patch_off(const patch_sample *s, const double *k, const double *value)
{
    const hx_interaction *const in = &s->patch;
    const size_t n_dof = (size_t)(s->dim * s->n_point);
    double worst = 0.0, largest = 0.0, seen = 0.0, all = 0.0;
    for (size_t i = 0; i < n_dof * n_dof; i++) {
        test_worst(&largest, fabs(k[i]));
        if (i / n_dof / (size_t)s->dim >= i % n_dof / (size_t)s->dim) all += fabs(k[i]);
    }
    for (int64_t row = 0; row < s->n_point; row++) {
        int r[3], at[3];
        hx_interaction_place(in, row, r);
        for (int64_t e = in->row_ptr[row]; e < in->row_ptr[row + 1]; e++) {
            hx_interaction_column(in, r, (int)(e - in->row_ptr[row]), at);
            const int64_t column = hx_interaction_point(in, at);
            if (column > row) return NAN;
            for (int i = 0; i < s->dim; i++)
                for (int j = 0; j < s->dim; j++) {
                    const double expected =
                        k[(size_t)(s->dim * row + i) * n_dof + (size_t)(s->dim * column + j)];
                    seen += fabs(expected);
                    test_worst(&worst, fabs(expected - value[(e * s->dim + i) * s->dim + j]));
                }
        }
    }
    /* entries outside the rows are all zero in K */
    if (!(fabs(seen - all) <= 1e-12 * all)) return NAN;
    return worst / largest;
}

#endif
