/* The mass matrix of every kind of cell: forces of a body whose acceleration its products must
 * equal, the mass law, materials of the elements, symmetry, blocks of vectors, and the derivative
 * by the densities.
 *
 *     test_mass [cpu | cuda] */
#include "core/operator/mass.h"
#include "core/problem/body_force.h"
#include "tests/lib/space_box.h"

static hx_device device;

typedef struct part {
    space_box box;
    hx_operator op;
    hx_mass mass;
    double *rho, *d_rho;
    size_t n; /* entries of a vector */
} part;

static void part_free(part *p)
{
    hx_mass_free(&p->mass);
    device.ops->release(&device, p->d_rho);
    hx_operator_free(&p->op);
    space_box_free(&p->box);
    free(p->rho);
}

/* Densities from 0.01 to 1, some of them below the threshold of the mass law, and two materials. */
static void part_make(part *p, const mixed_box *box, hx_element element)
{
    static const hx_load_spec gravity = {
        .origin = "test", .kind = HX_LOAD_GRAVITY, .value = {0.0, 0.0, -1.0}, .load_case = 1};
    const hx_material_spec heavy = {
        .set = "some", .origin = "test", .young = 3.0, .density = 5.5, .expansion = NAN};
    hx_problem_params params = fixture_problem();
    int32_t some[2] = {0, 2};
    uint64_t state = 5;
    memset(p, 0, sizeof *p);
    CHECK_OK(mixed_create(&p->box.mesh, box));
    mixed_turn(&p->box.mesh, 7);
    CHECK_OK(hx_mesh_add_elem_set(&p->box.mesh, "some", 2, some));
    CHECK_OK(hx_mesh_shuffle(&p->box.mesh, 4));
    CHECK_OK(hx_mesh_finish(&p->box.mesh));
    CHECK_OK(hx_space_create(&p->box.space, &p->box.mesh, element));
    params.density = 2.5;
    params.space = &p->box.space;
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    params.load = &gravity;
    params.n_load = 1;
    params.material = &heavy;
    params.n_material = 1;
    CHECK_OK(hx_problem_create(&p->box.problem, &p->box.mesh, &params));
    const hx_operator_kind *const kind = hx_operator_kind_find(device.ops->name, "bsr");
    CHECK_OK(hx_operator_create(&p->op, &device, kind, hx_layout_first(kind), &p->box.problem, 0));
    p->n = 3 * (size_t)p->box.space.n_point;
    p->rho = malloc((size_t)p->box.mesh.n_elem * sizeof *p->rho);
    for (int64_t e = 0; e < p->box.mesh.n_elem; e++)
        p->rho[e] =
            e % 3 == 0 ? fixture_uniform(&state, 0.01, 0.1) : fixture_uniform(&state, 0.1, 1.0);
    p->d_rho = fixture_put(&device, (size_t)p->box.mesh.n_elem, p->rho);
    CHECK_OK(hx_mass_create(&p->mass, &p->op));
    hx_mass_set_density(&p->mass, p->d_rho);
}

/* y = M x on the host. */
static void product(part *p, const double *x, double *y)
{
    double *d_x = fixture_put(&device, p->n, x), *d_y = fixture_put(&device, p->n, NULL);
    CHECK_OK(hx_mass_apply_all(&p->mass, 1, (const double *const *)&d_x, &d_y));
    fixture_get(&device, p->n, y, d_y);
    device.ops->release(&device, d_x);
    device.ops->release(&device, d_y);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* M times the values of an affine acceleration at the points is the force of that acceleration on a
 * body: int N_a N_b b(x_b) dV = int N_a b dV, because sum N_b b(x_b) = b. */
static void check_body_force(part *p, int is_affine, const char *name)
{
    static const double at_origin[3] = {0.3, -1.1, 0.7},
                        gradient[3][3] = {{0.2, -0.4, 0.6}, {1.0, 0.1, -0.3}, {0.5, 0.8, -0.9}};
    const double density = p->box.problem.density;
    hx_body_field field = {.acts = 1, .is_fine = 1};
    double *const b = malloc(p->n * sizeof *b), *const y = malloc(p->n * sizeof *y),
                  *const f = malloc(p->n * sizeof *f);
    for (int i = 0; i < 3; i++) {
        field.at_origin[i] = density * at_origin[i];
        for (int k = 0; k < 3 && is_affine; k++) field.gradient[i][k] = density * gradient[i][k];
    }
    for (int64_t a = 0; a < p->box.space.n_point; a++) {
        double value[3];
        hx_body_at(&field, p->box.space.xyz + 3 * a, value);
        for (int i = 0; i < 3; i++) b[3 * a + i] = value[i] / density;
    }
    double *d_f = fixture_put(&device, p->n, NULL);
    CHECK_OK(device.ops->body->force(&device, &p->op.model, &field, p->d_rho, NULL, d_f));
    fixture_get(&device, p->n, f, d_f);
    device.ops->release(&device, d_f);
    product(p, b, y);
    double largest = 0.0, error = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        test_worst(&largest, fabs(f[i]));
        test_worst(&error, fabs(f[i] - y[i]));
    }
    CHECK_MSG(error <= 1e-13 * largest, "%s, %s: off by %.2g of the largest force", name,
              is_affine ? "affine" : "uniform", error / largest);
    free(b);
    free(y);
    free(f);
}

/* x'M y = y'M x, x'M x > 0; several vectors at once have the bits of a product with each. */
static void check_symmetry(part *p, const char *name)
{
    enum { N = 6 };
    double *x[N], *y[N], *d_x[N], *d_y[N], *const one = malloc(p->n * sizeof *one);
    uint64_t state = 77;
    for (int k = 0; k < N; k++) {
        x[k] = malloc(p->n * sizeof *x[k]);
        y[k] = malloc(p->n * sizeof *y[k]);
        for (size_t i = 0; i < p->n; i++) x[k][i] = fixture_uniform(&state, -1.0, 1.0);
        d_x[k] = fixture_put(&device, p->n, x[k]);
        d_y[k] = fixture_put(&device, p->n, NULL);
    }
    CHECK_OK(hx_mass_apply_all(&p->mass, N, (const double *const *)d_x, d_y));
    for (int k = 0; k < N; k++) {
        fixture_get(&device, p->n, y[k], d_y[k]);
        product(p, x[k], one);
        CHECK_MSG(memcmp(one, y[k], p->n * sizeof *one) == 0, "%s: vector %d of a block", name, k);
        CHECK(dot(p->n, x[k], y[k]) > 0.0);
    }
    const double size = sqrt(dot(p->n, x[0], y[0]) * dot(p->n, x[1], y[1]));
    CHECK_MSG(fabs(dot(p->n, x[0], y[1]) - dot(p->n, x[1], y[0])) <= 1e-14 * size,
              "%s: not symmetric", name);
    for (int k = 0; k < N; k++) {
        device.ops->release(&device, d_x[k]);
        device.ops->release(&device, d_y[k]);
        free(x[k]);
        free(y[k]);
    }
    free(one);
}

static double energy(part *p, const double *v, double *y)
{
    CHECK_OK(
        device.ops->upload(&device, p->d_rho, p->rho, (size_t)p->box.mesh.n_elem * sizeof *p->rho));
    product(p, v, y);
    return dot(p->n, v, y);
}

/* The derivative of v'M v by the density of an element, against a central difference. */
static void check_work(part *p, const char *name)
{
    const size_t n_elem = (size_t)p->box.mesh.n_elem;
    double *const v = malloc(p->n * sizeof *v), *const y = malloc(p->n * sizeof *y),
                  *const dg = calloc(n_elem, sizeof *dg);
    uint64_t state = 3;
    for (size_t i = 0; i < p->n; i++) v[i] = fixture_uniform(&state, -1.0, 1.0);
    double *d_v = fixture_put(&device, p->n, v), *d_dg = fixture_put(&device, n_elem, dg);
    CHECK_OK(device.ops->mass->work(&device, &p->op.model, &p->mass.elements, 0.7, d_v, d_dg));
    fixture_get(&device, n_elem, dg, d_dg);
    for (size_t e = 0; e < n_elem; e += n_elem / 5 + 1) {
        const double rho = p->rho[e], h = 1e-4 * rho;
        p->rho[e] = rho + h;
        const double above = energy(p, v, y);
        p->rho[e] = rho - h;
        const double below = energy(p, v, y);
        p->rho[e] = rho;
        const double difference = 0.7 * (above - below) / (2.0 * h);
        const double rounding = 1e-15 * above / h; /* of the whole v'M v */
        CHECK_MSG(fabs(dg[e] - difference) <= 2e-6 * fabs(dg[e]) + rounding,
                  "%s: derivative %.9g, difference %.9g", name, dg[e], difference);
    }
    device.ops->release(&device, d_v);
    device.ops->release(&device, d_dg);
    free(v);
    free(y);
    free(dg);
}

static void check_kind(mixed_kind kind, hx_element element, double distort)
{
    const mixed_box box = {kind, {3, 2, 5}, {3.0, 1.6, 4.5}, distort, 11};
    char name[96];
    part p;
    snprintf(name, sizeof name, "%s, %s%s", mixed_name[kind],
             element == HX_ELEMENT_LINEAR ? "linear" : "quadratic",
             distort > 0.0 ? ", distorted" : "");
    part_make(&p, &box, element);
    /* the rule of a distorted hexahedron, and of one with mid-side nodes, is not exact; both
     * quadratic rules are the same */
    const int is_exact = distort == 0.0 || element != HX_ELEMENT_LINEAR ||
                         (kind != MIXED_HEXAHEDRA && kind != MIXED_LAYERS);
    check_body_force(&p, 0, name);
    if (is_exact) check_body_force(&p, 1, name);
    check_symmetry(&p, name);
    check_work(&p, name);
    part_free(&p);
}

/* A part without a density, one of heat. */
static void check_refused(void)
{
    static const hx_support_spec left = {"left", "test", HX_FIX_X, {0.0}};
    static const hx_load_spec source = {
        .origin = "test", .kind = HX_LOAD_SOURCE, .value = {3.0}, .load_case = 1};
    hx_problem_params params = fixture_problem();
    const hx_operator_kind *const kind = hx_operator_kind_find(device.ops->name, "otf");
    hx_mesh mesh;
    hx_problem problem;
    hx_operator op;
    hx_mass mass;
    CHECK_OK(hx_generate_box(&mesh, 2, 1, 1, 2.0, 1.0, 1.0));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 1.0;
    params.support = &left;
    params.n_support = 1;
    params.load = &source;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(&problem, &mesh, &params));
    CHECK_OK(hx_operator_create(&op, &device, hx_operator_kind_of(kind, 1), hx_layout_first(kind),
                                &problem, 0));
    CHECK(hx_mass_create(&mass, &op) == HX_EINPUT);
    CHECK(strstr(hx_error_message(), "heat"));
    hx_operator_free(&op);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int distorted = 0; distorted < 2; distorted++) {
            check_kind((mixed_kind)kind, HX_ELEMENT_LINEAR, distorted ? 0.12 : 0.0);
            check_kind((mixed_kind)kind, HX_ELEMENT_QUADRATIC, distorted ? 0.12 : 0.0);
        }
    check_refused();
    hx_device_close(&device);
    TEST_END();
}
