/* Quadratic elements over meshes of every kind of cell: patch tests, rigid motions, agreement of
 * the operators that store a matrix, energies, derivatives, bending, order of convergence.
 *
 *     test_quadratic [cpu | cuda] */
#include "core/mesh/region.h"
#include "core/operator/assembled.h"
#include "tests/lib/space_box.h"

static hx_device device;

static void linear_field(const double x[3], double u[3])
{
    u[0] = 0.3 + 0.2 * x[0] - 0.1 * x[1] + 0.4 * x[2];
    u[1] = -0.2 + 0.5 * x[0] + 0.3 * x[1] + 0.1 * x[2];
    u[2] = 0.1 - 0.3 * x[0] + 0.2 * x[1] - 0.2 * x[2];
}

/* Pure bending about y and torsion, without body forces, for nu = 0.3. */
static void bending_field(const double x[3], double u[3])
{
    const double nu = 0.3, k = 0.1, t = 0.07;
    u[0] = k * x[0] * x[2];
    u[1] = -nu * k * x[1] * x[2] - t * x[2] * x[0];
    u[2] = -0.5 * k * (x[0] * x[0] + nu * (x[2] * x[2] - x[1] * x[1])) + t * x[1] * x[0];
}

/* If a field without body forces is prescribed on the boundary, it is the solution inside. */
static void check_patch(const mixed_box *box, const char *name, space_field field, double tolerance)
{
    space_box b;
    double worst = 0.0;
    int64_t n_inner = 0;
    CHECK_OK(space_box_held(&b, box, HX_ELEMENT_QUADRATIC, field));
    double *const u = malloc(3 * (size_t)b.space.n_point * sizeof *u);
    if (!u) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-14, u, NULL));
    for (int64_t a = 0; a < b.space.n_point; a++) {
        double expected[3];
        n_inner += !space_on_boundary(&b, a);
        field(b.space.xyz + 3 * a, expected);
        for (int i = 0; i < 3; i++) test_worst(&worst, fabs(u[3 * a + i] - expected[i]));
    }
    printf("%s, %s field, distorted by %g: %lld inner points off by %.1e\n", mixed_name[box->kind],
           name, box->distort, (long long)n_inner, worst);
    CHECK(n_inner > 0);
    CHECK_MSG(worst <= tolerance, "%.3g", worst);
    free(u);
    space_box_free(&b);
}

/* Every mesh reproduces a linear field; a mesh of affine cells, such as distorted tetrahedra, a
 * quadratic one. */
static void test_patches(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const int tetrahedra = kind == MIXED_TETRAHEDRA || kind == MIXED_TETRAHEDRA_5;
        const mixed_box straight = {.kind = (mixed_kind)kind, .n = {2, 2, 5}};
        mixed_box distorted = straight;
        distorted.distort = 0.12;
        distorted.seed = 3;
        check_patch(&distorted, "linear", linear_field, 1e-10);
        check_patch(tetrahedra ? &distorted : &straight, "quadratic", bending_field, 1e-10);
    }
}

/* A random vector, three rigid motions, and results of products. */
typedef struct vectors {
    size_t n, n_elem;
    double *x, *motion, *y, *found, *modulus; /* [n], [3][n], [n], [2 n], [n_elem] */
    double *d_x, *d_y;
    double largest; /* largest entry of y */
} vectors;

static void make_vectors(vectors *v, const space_box *b)
{
    uint64_t state = 5;
    v->n = 3 * (size_t)b->space.n_point;
    v->n_elem = (size_t)b->mesh.n_elem;
    v->x = malloc((7 * v->n + v->n_elem) * sizeof *v->x);
    if (!v->x) abort();
    v->motion = v->x + v->n;
    v->y = v->motion + 3 * v->n;
    v->found = v->y + v->n;
    v->modulus = v->found + 2 * v->n;
    for (size_t e = 0; e < v->n_elem; e++) v->modulus[e] = fixture_uniform(&state, 0.1, 1.0);
    for (size_t k = 0; k < v->n; k++) {
        const double *const at = b->space.xyz + k / 3 * 3;
        v->x[k] = fixture_uniform(&state, -1.0, 1.0);
        v->motion[k] = k % 3 == 1;
        v->motion[v->n + k] = k % 3 == 0 ? -at[1] : k % 3 == 1 ? at[0] : 0.0;
        v->motion[2 * v->n + k] = k % 3 == 1 ? -at[2] : k % 3 == 2 ? at[1] : 0.0;
    }
    v->d_x = fixture_put(&device, v->n, v->x);
    v->d_y = fixture_put(&device, v->n, NULL);
}

/* x'Kx element by element. */
static void check_energy(const vectors *v, const hx_operator *op)
{
    double uku = 0.0, total = 0.0;
    double *const d_energy = fixture_put(&device, v->n_elem, NULL);
    CHECK_OK(hx_operator_energy(op, v->d_x, d_energy));
    fixture_get(&device, v->n_elem, v->found, d_energy);
    for (size_t e = 0; e < v->n_elem; e++) total += v->modulus[e] * v->found[e];
    for (size_t k = 0; k < v->n; k++) uku += v->x[k] * v->y[k];
    CHECK_REL(total, uku, 1e-12);
    device.ops->release(&device, d_energy);
}

/* Rounded operators have their own bound. */
static double bound(const hx_operator *op, double exact)
{
    return fmax(op->op_kind->error, exact);
}

/* The diagonal from rows and from cells, and that of the blocks. */
static void check_diagonals(const vectors *v, const hx_operator *op)
{
    static const int at[3] = {0, 3, 5};
    double worst = 0.0, *const d_block = fixture_put(&device, 2 * v->n, NULL);
    double *const block = malloc(2 * v->n * sizeof *block);
    if (!block) abort();
    CHECK_OK(op->op_kind->diagonal(op->state, v->d_y));
    fixture_get(&device, v->n, v->found, v->d_y);
    CHECK_OK(device.ops->element->diagonal(&device, &op->model, v->d_y));
    fixture_get(&device, v->n, v->found + v->n, v->d_y);
    CHECK_OK(device.ops->element->block_diagonal(&device, &op->model, d_block));
    fixture_get(&device, 2 * v->n, block, d_block);
    for (size_t k = 0; k < v->n; k++) {
        test_worst(&worst, fabs(v->found[v->n + k] / v->found[k] - 1.0));
        test_worst(&worst, fabs(block[k / 3 * 6 + (size_t)at[k % 3]] / v->found[k] - 1.0));
    }
    CHECK_MSG(worst <= bound(op, 1e-12), "%s: %.3g", op->op_kind->name, worst);
    free(block);
    device.ops->release(&device, d_block);
}

/* A translation, by sums of rows; and rotations. */
static void check_motions(const vectors *v, const hx_operator *op)
{
    for (size_t m = 0; m < 3; m++) {
        double worst = 0.0;
        CHECK_OK(
            device.ops->upload(&device, v->d_x, v->motion + m * v->n, v->n * sizeof *v->motion));
        CHECK_OK(hx_operator_apply_unmasked(op, v->d_x, v->d_y));
        fixture_get(&device, v->n, v->found, v->d_y);
        for (size_t k = 0; k < v->n; k++) test_worst(&worst, fabs(v->found[k]));
        CHECK_MSG(worst <= bound(op, 1e-12) * v->largest, "%s, motion %zu: %.3g", op->op_kind->name,
                  m, worst);
    }
}

static void check_bytes(const hx_operator *op, const hx_space *space)
{
    const hx_assembled *a = op->op_kind->assembled(op->state);
    const size_t expected = op->op_kind->space_bytes(space, op->layout);
    const size_t held = hx_device_pattern_bytes(&a->pattern) +
                        hx_matrix_bytes(&a->matrix, &device) +
                        device.ops->matrix->fill_bytes(a->fill);
    CHECK_MSG(held <= expected && (double)expected <= 1.05 * (double)held,
              "%s: %zu bytes, %zu were announced", op->op_kind->name, held, expected);
}

/* Compares each operator that stores a matrix with the first one, which must be exact. */
static void check_products(const mixed_box *box)
{
    space_box b;
    vectors v = {0};
    int n_operator = 0;
    CHECK_OK(space_box_held(&b, box, HX_ELEMENT_QUADRATIC, linear_field));
    make_vectors(&v, &b);
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        hx_operator op;
        if (strcmp(op_kind->device, device.ops->name) != 0 || !op_kind->space_bytes) continue;
        CHECK_OK(
            hx_operator_create(&op, &device, op_kind, hx_layout_first(op_kind), &b.problem, 0));
        CHECK_OK(hx_operator_set_modulus(&op, v.modulus));
        CHECK(op.linear.n == (int64_t)v.n);
        CHECK_OK(device.ops->upload(&device, v.d_x, v.x, v.n * sizeof *v.x));
        CHECK_OK(hx_operator_apply_unmasked(&op, v.d_x, v.d_y));
        fixture_get(&device, v.n, v.found, v.d_y);
        if (n_operator++ == 0) {
            CHECK(op_kind->error == 0.0);
            memcpy(v.y, v.found, v.n * sizeof *v.y);
        }
        for (size_t k = 0; k < v.n; k++) test_worst(&v.largest, fabs(v.y[k]));
        CHECK_MSG(test_max_difference(v.n, v.y, v.found) <= bound(&op, 1e-13) * v.largest, "%s",
                  op_kind->name);
        check_energy(&v, &op);
        check_diagonals(&v, &op);
        check_motions(&v, &op);
        check_bytes(&op, &b.space);
        hx_operator_free(&op);
    }
    CHECK(n_operator > 0);
    device.ops->release(&device, v.d_x);
    device.ops->release(&device, v.d_y);
    free(v.x);
    space_box_free(&b);
}

static void test_products(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {
            .kind = (mixed_kind)kind, .n = {3, 3, 5}, .distort = 0.12, .seed = 9};
        check_products(&box);
    }
}

/* Operators without quadratic elements are refused. */
static void test_refused(void)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {2, 1, 1}};
    space_box b;
    hx_operator op;
    CHECK_OK(space_box_held(&b, &box, HX_ELEMENT_QUADRATIC, linear_field));
    CHECK_FAILS(hx_operator_create(&op, &device, hx_operator_kind_find(device.ops->name, "otf"),
                                   HX_LAYOUT_INTERLEAVED, &b.problem, 0),
                HX_EINPUT, "operator 'otf' does not support quadratic elements");
    space_box_free(&b);
}

/* Compliance of a box held at x = 0 and loaded at x = 1 and by its weight; derivatives with respect
 * to densities against central differences. */
static int make_loaded(space_box *b, const mixed_box *box, hx_element element, int with_weight)
{
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                  {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1}};
    hx_problem_params params = fixture_problem();
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1, 0, 0}, .tolerance = 1e-6};
    hx_region right = left;
    HX_TRY(space_box_mesh(b, box, element));
    right.point[0] = b->mesh.box_max[0];
    HX_TRY(hx_mesh_add_region(&b->mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(&b->mesh, "right", &right));
    params.density = 1.0;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = with_weight ? 2 : 1;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

static double compliance_at(fixture_solver *s, int64_t e, double rho, double moved)
{
    hx_iteration record;
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &moved, sizeof moved));
    CHECK_OK(hx_optimizer_step(&s->opt, &record));
    CHECK_OK(device.ops->upload(&device, s->opt.d_design + e, &rho, sizeof rho));
    return record.compliance;
}

static void check_derivatives(const mixed_box *box, int with_weight)
{
    space_box b;
    fixture_settings settings = fixture_defaults();
    fixture_solver s;
    hx_iteration record;
    uint64_t state = 99;
    double worst = 0.0, largest = 0.0;
    settings.design.volume_fraction = 0.5;
    CHECK_OK(make_loaded(&b, box, HX_ELEMENT_QUADRATIC, with_weight));
    const size_t n = (size_t)b.mesh.n_elem;
    double *const density = malloc(2 * n * sizeof *density), *const dc = density + n;
    if (!density) abort();
    for (size_t e = 0; e < n; e++) density[e] = fixture_uniform(&state, 0.15, 0.95);
    settings.op_kind = hx_operator_kind_find(device.ops->name, "bsr");
    settings.layout = hx_layout_first(settings.op_kind);
    settings.density = density;
    settings.pcg.tolerance = 1e-13;
    CHECK_OK(fixture_solver_create(&s, &device, &b.problem, &settings));
    CHECK_OK(hx_optimizer_step(&s.opt, &record));
    CHECK_OK(hx_optimizer_sensitivity(&s.opt, dc));
    for (size_t e = 0; e < n; e++) test_worst(&largest, fabs(dc[e]));
    for (size_t e = 0; e < n; e += n / 5) {
        const double h = 1e-3 * density[e], rho = density[e];
        double c[4];
        for (int k = 0; k < 4; k++)
            c[k] = compliance_at(&s, (int64_t)e, rho, rho + (k < 2 ? 1.0 : 2.0) * (k % 2 ? -h : h));
        const double slope = (8.0 * (c[0] - c[1]) - (c[2] - c[3])) / (12.0 * h);
        test_worst(&worst, fabs(dc[e] - slope) / largest);
    }
    printf("%s%s: derivatives off by %.1e\n", mixed_name[box->kind],
           with_weight ? ", with weight" : "", worst);
    CHECK_MSG(worst <= 1e-6, "%.3g", worst);
    fixture_solver_free(&s);
    free(density);
    space_box_free(&b);
}

static void test_derivatives(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        const mixed_box box = {
            .kind = (mixed_kind)kind, .n = {2, 1, 5}, .distort = 0.12, .seed = 4};
        check_derivatives(&box, kind % 2);
        if (kind == MIXED_LAYERS) check_derivatives(&box, 1 - kind % 2);
    }
}

/* The gradient of a harmonic function is a displacement field without divergence, rotation or body
 * force. */
static void harmonic_field(const double x[3], double u[3])
{
    u[0] = exp(x[0]) * cos(x[1]) - 0.5 * exp(x[2]) * sin(x[0]);
    u[1] = -exp(x[0]) * sin(x[1]);
    u[2] = 0.5 * exp(x[2]) * cos(x[0]);
}

static void harmonic_gradient(const double x[3], double h[3][3])
{
    memset(h, 0, 9 * sizeof(double));
    h[0][0] = exp(x[0]) * cos(x[1]) - 0.5 * exp(x[2]) * cos(x[0]);
    h[0][1] = h[1][0] = -exp(x[0]) * sin(x[1]);
    h[1][1] = -exp(x[0]) * cos(x[1]);
    h[0][2] = h[2][0] = -0.5 * exp(x[2]) * sin(x[0]);
    h[2][2] = 0.5 * exp(x[2]) * cos(x[0]);
}

/* Square root of the integral of |grad u - grad u_h|^2. */
static double gradient_error(const space_box *b, const double *u)
{
    const hx_space *s = &b->space;
    double sum = 0.0;
    for (int64_t e = 0; e < b->mesh.n_elem; e++) {
        const hx_cell_rule *rule = &s->rule[s->kind[e]];
        int n;
        const int32_t *const point = hx_space_points(s, e, &n);
        for (int q = 0; q < rule->n_gauss; q++) {
            double j[3][3] = {{0.0}}, inv[3][3], du[3][3] = {{0.0}}, x[3] = {0.0}, exact[3][3];
            for (int a = 0; a < n; a++)
                for (int i = 0; i < 3; i++) {
                    x[i] += rule->shape[q][a] * s->xyz[3 * (int64_t)point[a] + i];
                    for (int k = 0; k < 3; k++) {
                        j[k][i] += rule->gradient[q][k][a] * s->xyz[3 * (int64_t)point[a] + i];
                        du[i][k] += rule->gradient[q][k][a] * u[3 * (int64_t)point[a] + i];
                    }
                }
            double det = 0.0;
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) {
                    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
                    const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
                    inv[k][i] = j[k1][i1] * j[k2][i2] - j[k1][i2] * j[k2][i1];
                }
            for (int i = 0; i < 3; i++) det += j[0][i] * inv[0][i];
            harmonic_gradient(x, exact);
            for (int i = 0; i < 3; i++)
                for (int d = 0; d < 3; d++) {
                    double g = 0.0;
                    for (int k = 0; k < 3; k++) g += du[i][k] * inv[k][d] / det;
                    sum += rule->weight[q] * det * (g - exact[i][d]) * (g - exact[i][d]);
                }
        }
    }
    return sqrt(sum);
}

/* Gradients of quadratic elements converge with the square of their size. */
static void test_convergence(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) {
        double error[2];
        for (int i = 0; i < 2; i++) {
            const int n = kind == MIXED_LAYERS ? 5 * (i + 1) : 2 * (i + 1);
            const mixed_box box = {.kind = (mixed_kind)kind,
                                   .n = {2 * (i + 1), 2 * (i + 1), n},
                                   .length = {1.0, 1.0, 1.0}};
            space_box b;
            CHECK_OK(space_box_held(&b, &box, HX_ELEMENT_QUADRATIC, harmonic_field));
            double *const u = malloc(3 * (size_t)b.space.n_point * sizeof *u);
            if (!u) abort();
            CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-11, u, NULL));
            error[i] = gradient_error(&b, u);
            free(u);
            space_box_free(&b);
        }
        const double order = log2(error[0] / error[1]);
        printf("%s: error of the gradient %.2e, %.2e on half the size, order %.2f\n",
               mixed_name[kind], error[0], error[1], order);
        CHECK_MSG(order > 1.85 && order < 2.5, "%.3g", order);
    }
}

/* Mean deflection at the end of a beam of length 10, height and width 1, relative to a Timoshenko
 * beam with a load along z. */
static double bend(mixed_kind kind, hx_element element, int n_height)
{
    const mixed_box box = {
        .kind = kind, .n = {10 * n_height, n_height, n_height}, .length = {10.0, 1.0, 1.0}};
    const double nu = 0.3, area = 5.0 / 6.0, f = -0.3;
    const double theory = f * 1000.0 / (3.0 / 12.0) + f * 10.0 * 2.0 * (1.0 + nu) / area;
    space_box b;
    double sum = 0.0;
    int64_t n = 0;
    CHECK_OK(make_loaded(&b, &box, element, 0));
    double *const u = malloc(3 * (size_t)b.space.n_point * sizeof *u);
    if (!u) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-9, u, NULL));
    for (int64_t a = 0; a < b.mesh.n_node; a++)
        if (b.mesh.xyz[3 * a] > 10.0 - 1e-9) {
            sum += u[3 * a + 2];
            n++;
        }
    free(u);
    space_box_free(&b);
    return sum / (double)n / theory;
}

static void test_bending(void)
{
    const double hex8[2] = {bend(MIXED_HEXAHEDRA, HX_ELEMENT_LINEAR, 1),
                            bend(MIXED_HEXAHEDRA, HX_ELEMENT_LINEAR, 2)};
    const double hex20 = bend(MIXED_HEXAHEDRA, HX_ELEMENT_QUADRATIC, 1);
    const double tet4[2] = {bend(MIXED_TETRAHEDRA, HX_ELEMENT_LINEAR, 1),
                            bend(MIXED_TETRAHEDRA, HX_ELEMENT_LINEAR, 2)};
    const double tet10 = bend(MIXED_TETRAHEDRA, HX_ELEMENT_QUADRATIC, 1);
    printf("deflection of a beam of 10 x 1 x 1 over Timoshenko's\n"
           "  cells in the height      1        2\n"
           "  hex8                %.4f   %.4f\n  hex20               %.4f\n"
           "  tet4                %.4f   %.4f\n  tet10               %.4f\n",
           hex8[0], hex8[1], hex20, tet4[0], tet4[1], tet10);
    CHECK(fabs(hex20 - 1.0) < 0.03 && fabs(tet10 - 1.0) < 0.04);
    CHECK(hex8[0] < 0.75 && hex8[0] < hex8[1] && hex8[1] < 0.95);
    CHECK(tet4[0] < 0.5 && tet4[0] < tet4[1] && tet4[1] < hex8[1]);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    test_patches();
    test_products();
    test_refused();
    test_derivatives();
    test_convergence();
    test_bending();
    hx_device_close(&device);
    TEST_END();
}
