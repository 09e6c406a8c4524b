/* Displacements of hex20 and tet10 against those of CalculiX' C3D20 and C3D10 on straight-sided
 * meshes: the same shape functions and Gauss points, so they agree to what CalculiX prints; of
 * wedge15 nearly, its C3D15 having 9 Gauss points. Supports, nodal forces and its own weight (which
 * CalculiX integrates itself). Exit status 77: no ccx.
 *
 *     test_calculix_points [cpu] */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include <unistd.h>

#include "core/mesh/region.h"
#include "tests/lib/space_box.h"

static hx_device device;

/* Held at x = 0, pulled at x = 2 on faces and by its weight. */
static int make_problem(space_box *b, mixed_kind kind)
{
    const mixed_box box = {
        .kind = kind, .n = {4, 2, 2}, .length = {2.0, 1.0, 0.8}, .distort = 0.12, .seed = 8};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[2] = {{"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
                                  {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1}};
    const hx_region left = {.kind = HX_REGION_PLANE, .axis = {1, 0, 0}, .tolerance = 1e-6};
    hx_region right = left;
    hx_problem_params params = fixture_problem();
    right.point[0] = 2.0;
    HX_TRY(space_box_mesh(b, &box, HX_ELEMENT_QUADRATIC));
    HX_TRY(hx_mesh_add_region(&b->mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(&b->mesh, "right", &right));
    params.density = 1.5;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = 2;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

static void write_elements(FILE *f, const hx_space *s, const char *type)
{
    fprintf(f, "*ELEMENT, TYPE=%s, ELSET=ALL\n", type);
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        int n;
        const int32_t *const point = hx_space_points(s, e, &n);
        fprintf(f, "%lld", (long long)e + 1);
        for (int a = 0; a < n; a++) /* at most 16 numbers a line */
            fprintf(f, "%s%d", a == 10 ? ",\n" : ", ", (int)point[a] + 1);
        fprintf(f, "\n");
    }
}

static void write_job(const char *path, const space_box *b, const char *type)
{
    const hx_space *s = &b->space;
    FILE *const f = fopen(path, "w");
    if (!f) abort();
    fprintf(f, "*NODE, NSET=NALL\n");
    for (int64_t a = 0; a < s->n_point; a++)
        fprintf(f, "%lld, %.13g, %.13g, %.13g\n", (long long)a + 1, s->xyz[3 * a],
                s->xyz[3 * a + 1], s->xyz[3 * a + 2]);
    write_elements(f, s, type);
    fprintf(f, "*MATERIAL, NAME=M\n*ELASTIC\n1., .3\n*DENSITY\n1.5\n"
               "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*BOUNDARY\n");
    for (int64_t a = 0; a < s->n_point; a++)
        if (b->problem.supports.fixed[a]) fprintf(f, "%lld, 1, 3\n", (long long)a + 1);
    fprintf(f, "*STEP\n*STATIC\n*CLOAD\n");
    for (int64_t k = 0; k < 3 * s->n_point; k++)
        if (fabs(b->problem.cases.force[0][k]) > 0.0)
            fprintf(f, "%lld, %lld, %.13g\n", (long long)(k / 3 + 1), (long long)(k % 3 + 1),
                    b->problem.cases.force[0][k]);
    fprintf(f, "*DLOAD\nALL, GRAV, 0.1, 0., 1., 0.\nALL, GRAV, 0.2, 0., 0., -1.\n"
               "*NODE PRINT, NSET=NALL\nU\n*END STEP\n");
    CHECK(fclose(f) == 0);
}

/* u[n_point][3] of what CalculiX printed; how many points it names. */
static int64_t read_printed(const char *path, int64_t n_point, double *u)
{
    char line[256];
    int64_t n = 0;
    FILE *const f = fopen(path, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) {
        long long number;
        double x[3];
        if (sscanf(line, "%lld %lf %lf %lf", &number, &x[0], &x[1], &x[2]) != 4) continue;
        if (number < 1 || number > n_point) continue;
        memcpy(u + 3 * (number - 1), x, sizeof x);
        n++;
    }
    fclose(f);
    return n;
}

static void compare(mixed_kind kind, const char *type, double tolerance)
{
    char folder[] = "/tmp/hextop_ccx_XXXXXX", command[128], path[64];
    space_box b;
    double largest = 0.0;
    CHECK_OK(make_problem(&b, kind));
    const size_t n = 3 * (size_t)b.space.n_point;
    double *const u = malloc(2 * n * sizeof *u), *const printed = u + n;
    if (!u || !mkdtemp(folder)) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-12, u, NULL));
    snprintf(path, sizeof path, "%s/job.inp", folder);
    write_job(path, &b, type);
    snprintf(command, sizeof command, "cd %s && ccx job > log 2>&1", folder);
    CHECK(system(command) == 0);
    snprintf(path, sizeof path, "%s/job.dat", folder);
    CHECK(read_printed(path, b.space.n_point, printed) == b.space.n_point);
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(u[k]));
    const double worst = test_max_difference(n, u, printed) / largest;
    printf("%s: %lld points, displacements differ by %.1e of the largest\n", type,
           (long long)b.space.n_point, worst);
    CHECK_MSG(worst <= tolerance, "%s: %.3g", type, worst);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    free(u);
    space_box_free(&b);
}

int main(int argc, char **argv)
{
    if (system("command -v ccx > /dev/null 2>&1") != 0) TEST_SKIP("no ccx");
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    compare(MIXED_HEXAHEDRA, "C3D20", 1e-6);
    compare(MIXED_TETRAHEDRA, "C3D10", 1e-6);
    compare(MIXED_TETRAHEDRA_5, "C3D10", 1e-6);
    compare(MIXED_WEDGES, "C3D15", 1e-2);
    hx_device_close(&device);
    TEST_END();
}
