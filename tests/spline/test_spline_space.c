/* K of splines on the CPU: against hex8 at degree 1, against plain loops at degrees 2 to 4 with
 * weights and double knots, for rigid motions and linear fields; faces, sets and nodes of the
 * image. */
#include "tests/lib/spline_model.h"

#include "core/linalg/block3.h"
#include "core/matrix/matrix.h"
#include "core/operator/conduction_ops.h"
#include "core/operator/element_ops.h"
#include "tests/lib/fill_sample.h"

#define NU 0.3

static void bend(const double x[3], double y[3])
{
    y[0] = x[0] + 0.1 * x[1] * x[2] - 0.05 * x[0] * x[0];
    y[1] = 1.2 * x[1] + 0.15 * x[0] * x[2] + 0.04 * x[0] * x[1] * x[2];
    y[2] = 0.8 * x[2] - 0.1 * x[0] * x[1];
}

static void shear(const double x[3], double y[3])
{
    y[0] = 1.1 * x[0] + 0.2 * x[1];
    y[1] = 0.9 * x[1] - 0.1 * x[2];
    y[2] = x[2] + 0.3 * x[0] + 1.0;
}

/* The full K, k[c n_point][c n_point], with the sample's moduli. */
static double *dense_of(hx_device *dev, fill_sample *sample, hx_part part)
{
    const int c = sample->input.form.kind == HX_FORM_ELASTICITY ? 3 : 1;
    const hx_matrix_spec spec = {.format = HX_FORMAT_BSR, .part = part, .components = c};
    const hx_pattern_spec ps = {.part = part};
    const size_t n = (size_t)c * (size_t)sample->space->n_point;
    hx_device_pattern pattern;
    hx_matrix m;
    hx_matrix_rows rows;
    void *fill = NULL;
    double *k = calloc(n * n, sizeof *k);
    CHECK_OK(dev->ops->matrix->pattern(dev, &sample->input.incidence, &ps, &pattern, NULL));
    CHECK_OK(hx_matrix_create(&m, dev, &pattern, &spec));
    CHECK_OK(dev->ops->matrix->fill_create(&fill, dev, HX_FILL_GATHER, &m, &sample->input));
    CHECK_OK(dev->ops->matrix->fill_run(fill));
    CHECK_OK(dev->ops->matrix->rows(dev, &m, 0, sample->space->n_point, &rows));
    for (int64_t r = 0; r < rows.n_row; r++)
        for (int64_t e = rows.ptr[r]; e < rows.ptr[r + 1]; e++)
            for (int t = 0; t < c * c; t++) {
                const size_t i = (size_t)(c * r + t / c), j = (size_t)(c * rows.col[e] + t % c);
                k[i * n + j] = rows.value[e * c * c + t];
                if (part == HX_PART_LOWER) k[j * n + i] = k[i * n + j];
            }
    hx_matrix_rows_free(&rows);
    dev->ops->matrix->fill_free(fill);
    hx_matrix_free(&m, dev);
    hx_device_pattern_free(&pattern, dev);
    return k;
}

static double largest(size_t n, const double *a)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) test_worst(&most, fabs(a[i]));
    return most;
}

/* --- plain loops --- */

/* R_a and its gradients by x at a Gauss point of a cell, directly from the formulas. */
static double plain_point(const spline_model *s, int64_t cell, const int q[3], double r[125],
                          double g[125][3])
{
    int k = 0, span[3], n = 0;
    while (k + 1 < s->spline.n_patch && s->spline.patch[k + 1].first_cell <= cell) k++;
    const hx_spline_patch *const p = &s->spline.patch[k];
    double value[3][HX_SPLINE_MAX_ORDER], slope[3][HX_SPLINE_MAX_ORDER], weight = 1.0;
    static const double point[5][5] = {{0.0},
                                       {-0.57735026918962576451, 0.57735026918962576451},
                                       {-0.77459666924148337704, 0.0, 0.77459666924148337704},
                                       {-0.86113631159405257522, -0.33998104358485626480,
                                        0.33998104358485626480, 0.86113631159405257522},
                                       {-0.90617984593866399280, -0.53846931010568309104, 0.0,
                                        0.53846931010568309104, 0.90617984593866399280}};
    static const double share[5][5] = {{2.0},
                                       {1.0, 1.0},
                                       {5.0 / 9.0, 8.0 / 9.0, 5.0 / 9.0},
                                       {0.34785484513745385737, 0.65214515486254614263,
                                        0.65214515486254614263, 0.34785484513745385737},
                                       {0.23692688505618908751, 0.47862867049936646804,
                                        0.56888888888888888889, 0.47862867049936646804,
                                        0.23692688505618908751}};
    hx_spline_patch_spans(p, cell, span);
    for (int d = 0; d < 3; d++) {
        const hx_knots *const u = &p->axis[d];
        const double a = u->knot[u->span[span[d]]], b = u->knot[u->span[span[d]] + 1];
        hx_knots_values(u, span[d], 0.5 * (a + b) + 0.5 * (b - a) * point[u->degree][q[d]],
                        value[d], slope[d]);
        weight *= 0.5 * (b - a) * share[u->degree][q[d]];
    }
    double nn[125], dn[125][3], w[125], x[125][3], total = 0.0, dtotal[3] = {0.0}, j[3][3] = {{0}};
    const int64_t first = hx_spline_cell_first(p, span);
    for (int c = 0; c <= p->axis[2].degree; c++)
        for (int b = 0; b <= p->axis[1].degree; b++)
            for (int a = 0; a <= p->axis[0].degree; a++, n++) {
                const int64_t at = first + a + p->axis[0].n * (b + (int64_t)p->axis[1].n * c);
                nn[n] = value[0][a] * value[1][b] * value[2][c];
                dn[n][0] = slope[0][a] * value[1][b] * value[2][c];
                dn[n][1] = value[0][a] * slope[1][b] * value[2][c];
                dn[n][2] = value[0][a] * value[1][b] * slope[2][c];
                w[n] = p->weight ? p->weight[at] : 1.0;
                memcpy(x[n], p->point + 3 * at, sizeof x[n]);
                total += w[n] * nn[n];
                for (int d = 0; d < 3; d++) dtotal[d] += w[n] * dn[n][d];
            }
    for (int a = 0; a < n; a++) {
        r[a] = w[a] * nn[a] / total;
        for (int d = 0; d < 3; d++) {
            g[a][d] = w[a] * (dn[a][d] * total - nn[a] * dtotal[d]) / (total * total);
            for (int i = 0; i < 3; i++) j[d][i] += g[a][d] * x[a][i];
        }
    }
    const double det = j[0][0] * (j[1][1] * j[2][2] - j[1][2] * j[2][1]) -
                       j[0][1] * (j[1][0] * j[2][2] - j[1][2] * j[2][0]) +
                       j[0][2] * (j[1][0] * j[2][1] - j[1][1] * j[2][0]);
    for (int a = 0; a < n; a++) { /* Cramer's rule: j h = g */
        double h[3];
        for (int i = 0; i < 3; i++) {
            double m[3][3];
            memcpy(m, j, sizeof m);
            for (int d = 0; d < 3; d++) m[d][i] = g[a][d];
            h[i] = (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                    m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                    m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])) /
                   det;
        }
        memcpy(g[a], h, sizeof h);
    }
    return weight * det;
}

static double *plain_of(const spline_model *s, const fill_sample *sample, int c)
{
    const double l = sample->input.form.lambda, u = sample->input.form.mu;
    const size_t n = (size_t)c * (size_t)s->space.n_point;
    double *k = calloc(n * n, sizeof *k);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        int m, q[3], order[3], patch = 0;
        const int32_t *const point = hx_space_points(&s->space, e, &m);
        while (patch + 1 < s->spline.n_patch && s->spline.patch[patch + 1].first_cell <= e) patch++;
        for (int d = 0; d < 3; d++) order[d] = s->spline.patch[patch].axis[d].degree + 1;
        for (q[2] = 0; q[2] < order[2]; q[2]++)
            for (q[1] = 0; q[1] < order[1]; q[1]++)
                for (q[0] = 0; q[0] < order[0]; q[0]++) {
                    double r[125], g[125][3];
                    const double w = sample->modulus[e] * plain_point(s, e, q, r, g);
                    for (int a = 0; a < m; a++)
                        for (int b = 0; b < m; b++) {
                            const double dot =
                                g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];
                            const size_t i = (size_t)c * (size_t)point[a];
                            const size_t j = (size_t)c * (size_t)point[b];
                            if (c == 1) k[i * n + j] += w * dot;
                            for (size_t s1 = 0; c == 3 && s1 < 3; s1++)
                                for (size_t s2 = 0; s2 < 3; s2++)
                                    k[(i + s1) * n + j + s2] +=
                                        w * (l * g[a][s1] * g[b][s2] + u * g[a][s2] * g[b][s1] +
                                             (s1 == s2 ? u * dot : 0.0));
                        }
                }
    }
    return k;
}

/* --- tests --- */

/* Control points of degree 1 are the nodes with other numbers. */
static void test_hex8(hx_device *dev)
{
    const int degree[3] = {1, 1, 1}, n_span[3] = {2, 3, 2}, none[3] = {0, 0, 0};
    spline_model s;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, none, 0, bend));
    const hx_space linear = hx_space_linear(&s.mesh);
    CHECK(linear.n_point == s.space.n_point);
    for (int c = 1; c <= 3; c += 2) {
        fill_sample one, two;
        CHECK_OK(fill_sample_create(&one, dev, &s.space, c));
        CHECK_OK(fill_sample_create(&two, dev, &linear, c));
        double *a = dense_of(dev, &one, HX_PART_FULL), *b = dense_of(dev, &two, HX_PART_FULL);
        const size_t n_point = (size_t)s.space.n_point, n = (size_t)c * n_point;
        double worst = 0.0;
        size_t *node = malloc(n_point * sizeof *node);
        for (size_t p = 0; p < n_point; p++) {
            size_t k = 0;
            while (k < n_point && (fabs(linear.xyz[3 * k] - s.space.xyz[3 * p]) > 1e-9 ||
                                   fabs(linear.xyz[3 * k + 1] - s.space.xyz[3 * p + 1]) > 1e-9 ||
                                   fabs(linear.xyz[3 * k + 2] - s.space.xyz[3 * p + 2]) > 1e-9))
                k++;
            CHECK(k < n_point);
            node[p] = k < n_point ? k : 0;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                const size_t uc = (size_t)c;
                const size_t in = uc * node[i / uc] + i % uc, jn = uc * node[j / uc] + j % uc;
                test_worst(&worst, fabs(a[i * n + j] - b[in * n + jn]));
            }
        CHECK(worst <= 1e-13 * largest(n * n, b));
        free(node);
        free(a);
        free(b);
        fill_sample_free(&one);
        fill_sample_free(&two);
    }
    spline_model_free(&s);
}

/* K against the plain loops, its lower half, diagonals, energies and rigid motions. */
static void check_matrix(hx_device *dev, const spline_model *s, int c)
{
    fill_sample sample;
    CHECK_OK(fill_sample_create(&sample, dev, &s->space, c));
    const size_t n = (size_t)c * (size_t)s->space.n_point;
    double *k = dense_of(dev, &sample, HX_PART_FULL),
           *lower = dense_of(dev, &sample, HX_PART_LOWER);
    double *plain = plain_of(s, &sample, c);
    const double scale = largest(n * n, plain);
    CHECK(test_max_difference(n * n, k, plain) <= 1e-13 * scale);
    CHECK(test_max_difference(n * n, k, lower) == 0.0);

    hx_device_model model = {.n_node = s->mesh.n_node,
                             .n_elem = s->mesh.n_elem,
                             .lambda = sample.input.form.lambda,
                             .mu = sample.input.form.mu,
                             .d_xyz = s->space.xyz,
                             .d_modulus = sample.modulus,
                             .n_point = s->space.n_point,
                             .points = &sample.input.incidence};
    double *diag = calloc(2 * n, sizeof *diag), *u = calloc(n, sizeof *u);
    double *energy = calloc((size_t)s->mesh.n_elem, sizeof *energy), sum = 0.0, product = 0.0;
    uint64_t state = 3;
    for (size_t i = 0; i < n; i++) u[i] = fixture_uniform(&state, -1.0, 1.0);
    if (c == 3) {
        CHECK_OK(dev->ops->element->diagonal(dev, &model, diag));
        CHECK_OK(dev->ops->element->energy(dev, &model, u, energy));
    } else {
        CHECK_OK(dev->ops->conduction->diagonal(dev, &model, diag));
        CHECK_OK(dev->ops->conduction->energy(dev, &model, u, energy));
    }
    double worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        test_worst(&worst, fabs(diag[i] - plain[i * n + i]));
        for (size_t j = 0; j < n; j++) product += u[i] * plain[i * n + j] * u[j];
    }
    CHECK(worst <= 1e-13 * scale);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) sum += sample.modulus[e] * energy[e];
    CHECK_REL(sum, product, 1e-12);
    if (c == 3) {
        worst = 0.0;
        CHECK_OK(dev->ops->element->block_diagonal(dev, &model, diag));
        for (size_t p = 0; p < n / 3; p++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    test_worst(&worst, fabs(diag[6 * p + (size_t)hx_block3_at(i, j)] -
                                            plain[(3 * p + (size_t)i) * n + 3 * p + (size_t)j]));
        CHECK(worst <= 1e-13 * scale);
    }
    for (int r = 0; r < 2 * c; r++) { /* rigid motions; for heat a constant, twice */
        worst = 0.0;
        for (size_t p = 0; p < n / (size_t)c; p++)
            for (int i = 0; i < c; i++) {
                const double *const x = s->space.xyz + 3 * p;
                u[(size_t)c * p + (size_t)i] = r < c              ? r == i
                                               : c == 1           ? 1.0
                                               : i == (r + 1) % 3 ? -x[(r + 2) % 3]
                                               : i == (r + 2) % 3 ? x[(r + 1) % 3]
                                                                  : 0.0;
            }
        for (size_t i = 0; i < n; i++) {
            double row = 0.0;
            for (size_t j = 0; j < n; j++) row += k[i * n + j] * u[j];
            test_worst(&worst, fabs(row));
        }
        CHECK(worst <= 1e-12 * scale);
    }
    free(diag);
    free(u);
    free(energy);
    free(k);
    free(lower);
    free(plain);
    fill_sample_free(&sample);
}

static void test_plain(hx_device *dev)
{
    const struct {
        int degree[3], n_span[3], twice[3], n_patch, is_rational;
    } kind[] = {{{2, 2, 2}, {3, 2, 2}, {1, 0, 0}, 2, 1},
                {{3, 3, 3}, {3, 1, 2}, {0, 0, 1}, 1, 1},
                {{4, 4, 4}, {1, 1, 2}, {0, 0, 1}, 1, 1},
                {{1, 2, 3}, {3, 2, 1}, {0, 1, 0}, 1, 1},
                {{2, 2, 2}, {2, 2, 2}, {0, 0, 0}, 1, 0}};
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        spline_model s;
        CHECK_OK(spline_model_row(&s, kind[i].n_patch, kind[i].degree, kind[i].n_span,
                                  kind[i].twice, kind[i].is_rational, bend));
        check_matrix(dev, &s, 3);
        check_matrix(dev, &s, 1);
        spline_model_free(&s);
    }
}

/* The faces are closed: the sum of n dA is 0, and that of x . n dA is three times the volume. */
static void check_faces(const spline_model *s)
{
    double flux = 0.0, closed[3] = {0.0}, volume = 0.0, worst = 0.0;
    int64_t n_face, *face;
    CHECK_OK(hx_mesh_boundary_faces(&s->mesh, NULL, &n_face, &face));
    for (int64_t f = 0; f < n_face; f++) {
        hx_space_face at;
        hx_space_face_of(&s->space, face[f], &at);
        for (int q = 0; q < at.n_gauss; q++) {
            double x[3] = {0.0}, one = -1.0;
            for (int a = 0; a < at.n; a++) {
                one += at.shape[q][a];
                for (int i = 0; i < 3; i++)
                    x[i] += at.shape[q][a] * s->space.xyz[3 * (int64_t)at.point[a] + i];
            }
            test_worst(&worst, fabs(one));
            for (int i = 0; i < 3; i++) {
                test_worst(&worst, fabs(x[i] - at.at[q].x[i]));
                closed[i] += at.at[q].normal[i];
                flux += x[i] * at.at[q].normal[i];
            }
        }
    }
    free(face);
    CHECK(worst <= 1e-13);
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        hx_spline_cell cell;
        hx_spline_place place;
        CHECK(hx_space_spline_cell(&s->space, e, &cell, &place) > 0.0);
        for (int q = 0; q < cell.n; q++) volume += place.volume[q];
    }
    for (int i = 0; i < 3; i++) CHECK(fabs(closed[i]) <= 1e-12);
    CHECK_REL(flux, 3.0 * volume, 1e-12);
}

/* Linear fields at the nodes of the image. */
static void check_nodes(const spline_model *s)
{
    double *nodal = malloc(3 * (size_t)s->mesh.n_node * sizeof *nodal);
    hx_space_at_nodes(&s->space, 3, s->space.xyz, nodal);
    CHECK(test_max_difference(3 * (size_t)s->mesh.n_node, nodal, s->mesh.xyz) <= 1e-13);
    free(nodal);
}

static void test_faces(void)
{
    const int degree[3] = {2, 3, 2}, n_span[3] = {3, 2, 2}, twice[3] = {2, 0, 0};
    spline_model s;
    int64_t n;
    int32_t *point;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, twice, 0, shear));
    check_faces(&s);
    check_nodes(&s);
    const hx_set *const side = hx_mesh_find_set(&s.mesh, "patch1:u-");
    CHECK_OK(hx_space_set_points(&s.space, side, &n, &point));
    CHECK(n == (int64_t)s.spline.patch[0].axis[1].n * s.spline.patch[0].axis[2].n);
    free(point);
    spline_model_free(&s);
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, twice, 1, shear));
    check_nodes(&s);
    spline_model_free(&s);
}

/* Sets that cover part of a side: at a knot where the part can bend, and elsewhere. */
static void test_rim(void)
{
    const int degree[3] = {2, 2, 2}, n_span[3] = {4, 2, 2}, twice[3] = {2, 0, 0};
    spline_model s;
    hx_set half = *(const hx_set[]){{.name = (char[]){"half"}}};
    int64_t face[2], n;
    int32_t *point, node[8];
    CHECK_OK(spline_model_row(&s, 1, degree, n_span, twice, 0, NULL));
    for (int i = 0; i < 2; i++) face[i] = 6 * i + 2; /* v-, the first two spans along u */
    half.face = face;
    half.n_face = 2;
    CHECK_FAILS(hx_space_set_points(&s.space, &half, &n, &point), HX_EINPUT, "insert that knot");
    CHECK_FAILS(hx_space_set_points(&s.space, &half, &n, &point), HX_EINPUT, "patch1:v-");
    int64_t both[4] = {2, 8, 6 * 8 + 2, 6 * 9 + 2}; /* also the other half along w */
    half.face = both;
    half.n_face = 4;
    CHECK_OK(hx_space_set_points(&s.space, &half, &n, &point));
    CHECK(n == 4 * s.spline.patch[0].axis[2].n); /* 3 + 1 functions up to the double knot */
    free(point);
    half.n_face = 0;
    half.node = node;
    half.n_node = 1;
    node[0] = s.mesh.conn[0]; /* a corner of the patch */
    CHECK_OK(hx_space_set_points(&s.space, &half, &n, &point));
    CHECK(n == 1);
    free(point);
    node[0] = s.mesh.conn[1];
    CHECK_FAILS(hx_space_set_points(&s.space, &half, &n, &point), HX_EINPUT,
                "is not a control point");
    spline_model_free(&s);
}

/* The value of a control point is not a displacement: a single 1 among zeros moves the part by
 * less. The largest value is that of the spline at the returned position, and no node or quarter of
 * a span has a larger one than half steps find. */
static void test_largest(int is_rational)
{
    const int degree[3] = {2, 2, 2}, n_span[3] = {3, 2, 2}, none[3] = {0, 0, 0};
    spline_model s;
    hx_space_largest found, no;
    CHECK_OK(spline_model_row(&s, 2, degree, n_span, none, is_rational, bend));
    const int64_t n = s.space.n_point, n_elem = s.mesh.n_elem;
    double *const u = calloc((size_t)n, sizeof *u);
    uint8_t *const is_counted = calloc((size_t)n_elem, 1);
    int64_t n_inside = 0;
    for (int64_t p = 0; p < n; p++) {
        double most = 0.0;
        u[p] = 1.0;
        for (int64_t e = 0; e < n_elem; e++)
            for (int q = 0; q < 125; q++) {
                const double at[3] = {q % 5 / 4.0, q / 5 % 5 / 4.0, (double)(q / 25) / 4.0};
                double value, x[3];
                hx_space_spline_value(&s.space, e, at, 1, u, &value, x);
                test_worst(&most, value);
            }
        hx_space_find_largest(&s.space, NULL, 1, 1.0, u, &found);
        CHECK(found.is_set && found.value <= 1.0 && found.value <= most + 1e-14);
        CHECK(found.value > 0.85 * most);
        n_inside += found.node < 0;
        hx_space_find_largest(&s.space, is_counted, 1, 1.0, u, &no);
        CHECK(!no.is_set);
        u[p] = 0.0;
    }
    CHECK(n_inside > 0);
    free(u);
    free(is_counted);
    spline_model_free(&s);
}

int main(void)
{
    hx_device dev;
    char *argv[] = {(char[]){"test"}, NULL};
    int quick;
    const int status = fixture_open(&dev, 1, argv, &quick);
    if (status != 0) return status;
    fixture_set_threads(1); /* few cells: more threads would only wait */
    test_hex8(&dev);
    test_plain(&dev);
    test_faces();
    test_rim();
    for (int is_rational = 0; is_rational < 2; is_rational++) test_largest(is_rational);
    hx_device_close(&dev);
    TEST_END();
}
