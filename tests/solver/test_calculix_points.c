/* Displacements of hex20 and tet10 against those of CalculiX' C3D20 and C3D10 on meshes with
 * straight and with curved edges: the same shape functions and Gauss points, so they agree to what
 * CalculiX prints; of wedge15 nearly, its C3D15 having 9 Gauss points. Supports, nodal forces, a
 * pressure and its own weight (which CalculiX integrates itself). Exit status 77: no ccx.
 *
 *     test_calculix_points [cpu] */
#define _XOPEN_SOURCE 700 /* mkdtemp */

#include <unistd.h>

#include "core/mesh/region.h"
#include "tests/lib/space_box.h"

static hx_device device;

/* A quarter of a ring of the radii 1 and 2, its lower side tilted. */
static void bend(const double x[3], double y[3])
{
    const double angle = 0.78539816339744830962 * x[0], r = 2.0 - x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2] + 0.1 * x[0] * x[1];
}

typedef struct job {
    mixed_kind kind;
    const char *type; /* of CalculiX */
    int is_bent, by_pressure;
    double tolerance;
} job;

/* Held at one end, pulled at the other on faces, or pressed from outside, and by its weight. */
static int make_problem(space_box *b, const job *j)
{
    const mixed_box box = {
        .kind = j->kind, .n = {4, 2, 2}, .length = {2.0, 1.0, 0.8}, .distort = 0.12, .seed = 8};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[2] = {
        j->by_pressure ? (hx_load_spec){"outside", "test", HX_LOAD_PRESSURE, {0.2}, 1}
                       : (hx_load_spec){"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
        {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1}};
    const int across = j->is_bent ? 1 : 0;
    hx_region left = {.kind = HX_REGION_PLANE, .tolerance = 1e-6}, right = left;
    hx_problem_params params = fixture_problem();
    left.axis[across] = 1.0;
    right.axis[0] = 1.0;
    right.point[0] = j->is_bent ? 0.0 : 2.0;
    HX_TRY(space_box_bent(b, &box, HX_ELEMENT_QUADRATIC, j->is_bent ? bend : NULL));
    hx_region outside = {.kind = j->is_bent ? HX_REGION_CYLINDER : HX_REGION_PLANE,
                         .radius = 2.0,
                         .inner = 2.0,
                         .tolerance = 1e-6};
    outside.axis[j->is_bent ? 2 : 1] = 1.0;
    HX_TRY(hx_mesh_add_region(&b->mesh, "outside", &outside));
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

static void write_forces(FILE *f, const space_box *b)
{
    fprintf(f, "*CLOAD\n");
    for (int64_t k = 0; k < 3 * b->space.n_point; k++)
        if (fabs(b->problem.cases.force[0][k]) > 0.0)
            fprintf(f, "%lld, %lld, %.13g\n", (long long)(k / 3 + 1), (long long)(k % 3 + 1),
                    b->problem.cases.force[0][k]);
}

/* CalculiX integrates it: faces of its hexahedra for ours. */
static void write_pressure(FILE *f, const space_box *b)
{
    static const int label[6] = {6, 4, 3, 5, 1, 2};
    int64_t n, *face;
    CHECK_OK(hx_load_faces(&b->mesh, hx_mesh_find_set(&b->mesh, "outside"), &n, &face));
    CHECK(n == 8);
    fprintf(f, "*DLOAD\n");
    for (int64_t k = 0; k < n; k++)
        fprintf(f, "%lld, P%d, 0.2\n", (long long)(face[k] / 6 + 1), label[face[k] % 6]);
    free(face);
}

static void write_job(const char *path, const space_box *b, const job *j)
{
    const hx_space *s = &b->space;
    FILE *const f = fopen(path, "w");
    if (!f) abort();
    fprintf(f, "*NODE, NSET=NALL\n");
    for (int64_t a = 0; a < s->n_point; a++)
        fprintf(f, "%lld, %.13g, %.13g, %.13g\n", (long long)a + 1, s->xyz[3 * a],
                s->xyz[3 * a + 1], s->xyz[3 * a + 2]);
    write_elements(f, s, j->type);
    fprintf(f, "*MATERIAL, NAME=M\n*ELASTIC\n1., .3\n*DENSITY\n1.5\n"
               "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*BOUNDARY\n");
    for (int64_t a = 0; a < s->n_point; a++)
        if (b->problem.supports.fixed[a]) fprintf(f, "%lld, 1, 3\n", (long long)a + 1);
    fprintf(f, "*STEP\n*STATIC\n");
    if (j->by_pressure)
        write_pressure(f, b);
    else
        write_forces(f, b);
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

static void compare(const job *j)
{
    char folder[] = "/tmp/hextop_ccx_XXXXXX", command[128], path[64];
    space_box b;
    double largest = 0.0;
    CHECK_OK(make_problem(&b, j));
    const size_t n = 3 * (size_t)b.space.n_point;
    double *const u = malloc(2 * n * sizeof *u), *const printed = u + n;
    if (!u || !mkdtemp(folder)) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-12, u, NULL));
    snprintf(path, sizeof path, "%s/job.inp", folder);
    write_job(path, &b, j);
    snprintf(command, sizeof command, "cd %s && ccx job > log 2>&1", folder);
    CHECK(system(command) == 0);
    snprintf(path, sizeof path, "%s/job.dat", folder);
    CHECK(read_printed(path, b.space.n_point, printed) == b.space.n_point);
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(u[k]));
    const double worst = test_max_difference(n, u, printed) / largest;
    printf("%s, %s%s: %lld points, displacements differ by %.1e of the largest\n", j->type,
           j->is_bent ? "curved" : "straight", j->by_pressure ? ", pressure" : "",
           (long long)b.space.n_point, worst);
    CHECK_MSG(worst <= j->tolerance, "%s: %.3g", j->type, worst);
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
    static const job jobs[] = {
        {MIXED_HEXAHEDRA, "C3D20", 0, 0, 1e-6},   {MIXED_HEXAHEDRA, "C3D20", 0, 1, 1e-6},
        {MIXED_TETRAHEDRA, "C3D10", 0, 0, 1e-6},  {MIXED_TETRAHEDRA_5, "C3D10", 0, 0, 1e-6},
        {MIXED_WEDGES, "C3D15", 0, 0, 1e-2},      {MIXED_HEXAHEDRA, "C3D20", 1, 0, 1e-6},
        {MIXED_HEXAHEDRA, "C3D20", 1, 1, 1e-6},   {MIXED_TETRAHEDRA, "C3D10", 1, 0, 1e-6},
        {MIXED_TETRAHEDRA_5, "C3D10", 1, 0, 1e-6}};
    for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++) compare(&jobs[k]);
    hx_device_close(&device);
    TEST_END();
}
