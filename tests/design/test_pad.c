/* The void outside a mesh: weights beside those of a half-space, faces without it, and the density
 * filter whose sums contain it.
 *
 *     test_pad [cpu | cuda] */
#include "core/design/pad.h"
#include "tests/lib/fixture.h"

static hx_device device;
static const double pi = 3.14159265358979323846;

enum { NX = 24, NY = 16, NZ = 16, N_ELEM = NX * NY * NZ };

static const hx_support_spec support = {
    .set = "left", .origin = "test", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
static const hx_load_spec load = {
    "right-lower-edge", "test", HX_LOAD_NODE_FORCE, {0.0, 0.0, -1.0}, 1};

static void make_problem(hx_mesh *mesh, hx_problem *problem, int ny)
{
    const hx_generate_params size = {.nx = NX, .ny = ny, .nz = NZ};
    hx_problem_params params = fixture_problem();
    memset(mesh, 0, sizeof *mesh);
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), mesh, &size));
    CHECK_OK(fixture_finish(mesh, FIXTURE_IN_ORDER));
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    CHECK_OK(hx_problem_create(problem, mesh, &params));
}

static int at(int i, int j, int k, int ny)
{
    return i + NX * (j + ny * k);
}

/* Integral of R - r over the part of a ball beyond a plane at the distance z of its centre: slices
 * parallel to the plane, 2 pi (R (R^2 - s^2) / 2 - (R^3 - s^3) / 3) each. */
static double beyond_plane(double r, double z)
{
    const double cube = r * r * r;
    return 2.0 * pi *
           (cube * (r - z) / 6.0 - r * (cube - z * z * z) / 6.0 +
            (cube * r - z * z * z * z) / 12.0);
}

/* Above the middle of the top face only one plane is near. Rows of 1 x 1 cells approximate the
 * integral. */
static void check_half_space(void)
{
    hx_mesh mesh;
    hx_problem problem;
    const double radius = 5.0, whole = pi * pow(radius, 4) / 3.0;
    double *const missing = malloc(N_ELEM * sizeof *missing);
    if (!missing) abort();
    make_problem(&mesh, &problem, NY);
    CHECK_OK(hx_pad_weights(&problem, radius, 1, missing));
    for (int depth = 0; depth < 4; depth++) {
        const double found = missing[at(NX / 2, NY / 2, NZ - 1 - depth, NY)],
                     exact = beyond_plane(radius, depth + 0.5);
        printf("%g below the face: %.4f of the ball, exact %.4f\n", depth + 0.5, found / whole,
               exact / whole);
        CHECK_ABS(found, exact, 0.01 * whole);
    }
    CHECK(missing[at(NX / 2, NY / 2, NZ / 2, NY)] == 0.0);
    CHECK(missing[at(0, NY / 2, NZ / 2, NY)] == 0.0);             /* held */
    CHECK(missing[at(NX - 1, NY / 2, NZ - 1, NY)] > 0.2 * whole); /* two faces */
    CHECK(missing[at(NX - 1, NY / 2, 0, NY)] == 0.0);             /* loaded */
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(missing);
}

/* A layer thinner than the radius is not padded across it. */
static void check_layer(void)
{
    enum { N = NX * NZ };
    hx_mesh mesh;
    hx_problem problem;
    double missing[N];
    make_problem(&mesh, &problem, 1);
    CHECK_OK(hx_pad_weights(&problem, 3.0, 1, missing));
    CHECK(missing[at(NX / 2, 0, NZ / 2, 1)] == 0.0);
    CHECK(missing[at(NX / 2, 0, NZ - 1, 1)] > 0.0);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
}

static void fill_random(double *d_a, double *a, uint64_t seed)
{
    uint64_t state = seed;
    for (int e = 0; e < N_ELEM; e++) a[e] = fixture_uniform(&state, 0.1, 0.9);
    CHECK_OK(device.ops->upload(&device, d_a, a, N_ELEM * sizeof *a));
}

/* w'(F(x) - F(0.1)) = (F'w)'(x - 0.1): backward is the derivative of forward. */
static void check_transpose(hx_filter *filter, double *d_rho, double *d_out)
{
    double *const x = malloc(4 * N_ELEM * sizeof *x), *const w = x + N_ELEM,
                  *const high = w + N_ELEM, *const low = high + N_ELEM;
    double forward = 0.0, backward = 0.0;
    if (!x) abort();
    CHECK_OK(device.ops->vector->fill(&device, N_ELEM, 0.1, d_rho));
    CHECK_OK(hx_filter_forward(filter, d_rho, d_out));
    fixture_get(&device, N_ELEM, low, d_out);
    fill_random(d_rho, x, 5);
    CHECK_OK(hx_filter_forward(filter, d_rho, d_out));
    fixture_get(&device, N_ELEM, high, d_out);
    fill_random(d_out, w, 9);
    CHECK_OK(hx_filter_backward(filter, d_rho, d_out, NULL));
    for (int e = 0; e < N_ELEM; e++) forward += w[e] * (high[e] - low[e]);
    fixture_get(&device, N_ELEM, w, d_out);
    for (int e = 0; e < N_ELEM; e++) backward += w[e] * (x[e] - 0.1);
    CHECK_REL(forward, backward, 1e-12);
    free(x);
}

/* A solid design stays solid inside and loses density towards free faces only; a wall along the
 * border of half the width of one inside becomes no denser than that one. */
static void check_filter(int is_padded)
{
    static const hx_design_params design = {.rho_min = 1e-3,
                                            .volume_fraction = 0.5,
                                            .penalty = {.value = 3.0, .last = 3.0},
                                            .eta = 0.5,
                                            .move = 0.2,
                                            .damping = 0.5};
    hx_filter_params params = {.radius = 4.0, .is_padded = is_padded, .design = &design};
    hx_mesh mesh;
    hx_problem problem;
    hx_filter filter;
    double *const rho = malloc(2 * N_ELEM * sizeof *rho), *const out = rho + N_ELEM;
    if (!rho) abort();
    make_problem(&mesh, &problem, NY);
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("density"), &device, &problem, &params));
    for (int e = 0; e < N_ELEM; e++) {
        const int k = e / (NX * NY);
        rho[e] = k >= NZ - 2 || (k >= 6 && k < 8) ? 1.0 : 1e-3;
    }
    double *const d_rho = fixture_put(&device, N_ELEM, rho);
    double *const d_out = fixture_put(&device, N_ELEM, rho);
    CHECK_OK(hx_filter_forward(&filter, d_rho, d_out));
    fixture_get(&device, N_ELEM, out, d_out);
    const double border = out[at(NX / 2, NY / 2, NZ - 1, NY)],
                 inside = out[at(NX / 2, NY / 2, 6, NY)];
    printf("%s: a wall of two elements at the border has %.3f, inside %.3f\n",
           is_padded ? "padded" : "not padded", border, inside);
    CHECK(is_padded ? fabs(border - inside) < 0.02 : border > 1.4 * inside);
    for (int e = 0; e < N_ELEM; e++) CHECK(out[e] >= 1e-3 && out[e] <= 1.0);
    for (int e = 0; e < N_ELEM; e++) rho[e] = 1e-3;
    CHECK_OK(device.ops->upload(&device, d_rho, rho, N_ELEM * sizeof *rho));
    CHECK_OK(hx_filter_forward(&filter, d_rho, d_out));
    fixture_get(&device, N_ELEM, out, d_out);
    for (int e = 0; e < N_ELEM; e++) CHECK_REL(out[e], 1e-3, 1e-12); /* void stays void */
    check_transpose(&filter, d_rho, d_out);
    device.ops->release(&device, d_rho);
    device.ops->release(&device, d_out);
    hx_filter_free(&filter);
    hx_problem_free(&problem);
    hx_mesh_free(&mesh);
    free(rho);
}

int main(int argc, char **argv)
{
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    check_half_space();
    check_layer();
    check_filter(0);
    check_filter(1);
    hx_device_close(&device);
    TEST_END();
}
