/* Displacements of hex20 and tet10 against those of CalculiX (C3D20 and C3D10) on meshes with
 * straight and curved edges. Shape functions and Gauss points are the same, so they agree to the
 * digits that CalculiX prints; wedge15 agrees approximately, because C3D15 has 9 Gauss points.
 * Covers supports, nodal forces, a pressure and the weight (integrated by CalculiX itself, but not
 * on curved tet10, which has 14 points here and 4 there), and a job that is read back. Exit status
 * 77: ccx is not installed.
 *
 *     test_calculix_points [cpu] */
#define _XOPEN_SOURCE 700 /* for mkdtemp */

#include <unistd.h>

#include "core/files/mesh_files.h"
#include "tests/lib/calculix_job.h"
#include "tests/lib/space_box.h"

static hx_device device;

typedef struct job {
    mixed_kind kind;
    const char *type; /* element type of CalculiX */
    int is_bent, by_pressure;
    double tolerance;
    int is_light; /* 1: no weight, which mesh files cannot state */
} job;

/* Held at one end; at the other end pulled by tractions, or with pressure from outside; plus its
 * weight. */
static int make_problem(space_box *b, const job *j)
{
    const mixed_box box = {
        .kind = j->kind, .n = {4, 2, 2}, .length = {2.0, 1.0, 0.8}, .distort = 0.12, .seed = 8};
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[2] = {
        j->by_pressure ? (hx_load_spec){"outside", "test", HX_LOAD_PRESSURE, {0.2}, 1}
                       : (hx_load_spec){"right", "test", HX_LOAD_TRACTION, {0.1, 0.0, -0.3}, 1},
        {NULL, "test", HX_LOAD_GRAVITY, {0.0, 0.1, -0.2}, 1}};
    hx_problem_params params = fixture_problem();
    HX_TRY(space_box_bent(b, &box, HX_ELEMENT_QUADRATIC, j->is_bent ? calculix_bend : NULL));
    HX_TRY(calculix_name_sides(&b->mesh, j->is_bent));
    params.density = 1.5;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = j->is_light ? 1 : 2;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

/* 1 if CalculiX integrates the weight with the same points as this program. */
static int weighs_alike(const job *j)
{
    return !j->is_light && !(j->is_bent && strcmp(j->type, "C3D10") == 0);
}

static void write_forces(FILE *f, const space_box *b, int with_weight)
{
    const size_t n = 3 * (size_t)b->space.n_point;
    const double *force = b->problem.cases.force[0];
    double *const all = malloc(n * sizeof *all);
    if (!all) abort();
    CHECK_OK(hx_problem_nodal_force(&b->problem, 0, NULL, all));
    if (with_weight) force = all;
    fprintf(f, "*CLOAD\n");
    for (size_t k = 0; k < n; k++)
        if (fabs(force[k]) > 0.0) fprintf(f, "%zu, %zu, %.13g\n", k / 3 + 1, k % 3 + 1, force[k]);
    free(all);
}

static void write_job(const char *path, const space_box *b, const job *j)
{
    const hx_space *s = &b->space;
    FILE *const f = fopen(path, "w");
    if (!f) abort();
    calculix_write_mesh(f, s, j->type);
    fprintf(f, "*MATERIAL, NAME=M\n*ELASTIC\n1., .3\n*DENSITY\n1.5\n"
               "*SOLID SECTION, ELSET=ALL, MATERIAL=M\n*BOUNDARY\n");
    for (int64_t a = 0; a < s->n_point; a++)
        if (b->problem.supports.fixed[a]) fprintf(f, "%lld, 1, 3\n", (long long)a + 1);
    fprintf(f, "*STEP\n*STATIC\n");
    if (j->by_pressure) {
        fprintf(f, "*DLOAD\n");
        calculix_write_faces(f, &b->mesh, "outside", "P", "0.2");
    } else {
        write_forces(f, b, !weighs_alike(j));
    }
    if (weighs_alike(j))
        fprintf(f, "*DLOAD\nALL, GRAV, 0.1, 0., 1., 0.\nALL, GRAV, 0.2, 0., 0., -1.\n");
    fprintf(f, "*NODE PRINT, NSET=NALL\nU\n*END STEP\n");
    CHECK(fclose(f) == 0);
}

static void compare(const job *j)
{
    char path[64];
    space_box b;
    double largest = 0.0;
    CHECK_OK(make_problem(&b, j));
    const size_t n = 3 * (size_t)b.space.n_point;
    double *const u = malloc(2 * n * sizeof *u), *const printed = u + n;
    if (!u) abort();
    CHECK_OK(space_box_solve(&b, &device, "bsr", "jacobi", 1e-12, u, NULL));
    calculix_open(path, sizeof path);
    write_job(path, &b, j);
    CHECK(calculix_run(path, b.space.n_point, 3, printed) == b.space.n_point);
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(u[k]));
    const double worst = test_max_difference(n, u, printed) / largest;
    printf("%s, %s%s: %lld points, displacements differ by %.1e of the largest\n", j->type,
           j->is_bent ? "curved" : "straight", j->by_pressure ? ", pressure" : "",
           (long long)b.space.n_point, worst);
    CHECK_MSG(worst <= j->tolerance, "%s: %.3g", j->type, worst);
    free(u);
    space_box_free(&b);
}

/* Reads the job back: its mesh with curved edges, its supports and forces at corners and mid-edge
 * points. */
static int read_job(space_box *b, const char *path)
{
    const hx_support_spec support = {NULL, "test", 0, {0.0}};
    const hx_load_spec load = {NULL, "test", HX_LOAD_FROM_FILE, {0.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_conditions stated;
    memset(b, 0, sizeof *b);
    HX_TRY(hx_mesh_read(path, (double)NAN, &b->mesh, &stated, NULL));
    HX_TRY(hx_mesh_reorder(&b->mesh));
    HX_TRY(hx_mesh_finish(&b->mesh));
    HX_TRY(hx_space_create(&b->space, &b->mesh, HX_ELEMENT_QUADRATIC));
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.space = &b->space;
    params.conditions = &stated;
    const int rc = hx_problem_create(&b->problem, &b->mesh, &params);
    hx_conditions_free(&stated);
    return rc;
}

/* Maps a point of the space that was read to the point of the space that was written. */
static int64_t written_point(const space_box *from, const space_box *read, int64_t point)
{
    const hx_mesh *mesh = &read->mesh;
    if (point < mesh->n_node) return hx_mesh_node_number(mesh, point) - 1;
    const int32_t *const end = read->space.edge + 2 * (point - mesh->n_node);
    return hx_space_middle(&from->space, (int32_t)hx_mesh_node_number(mesh, end[0]) - 1,
                           (int32_t)hx_mesh_node_number(mesh, end[1]) - 1);
}

static void compare_read(mixed_kind kind, const char *type, int is_bent)
{
    const job j = {kind, type, is_bent, 0, 1e-6, 1};
    char path[64];
    space_box b, read;
    double largest = 0.0, worst = 0.0;
    CHECK_OK(make_problem(&b, &j));
    calculix_open(path, sizeof path);
    write_job(path, &b, &j);
    CHECK_OK(read_job(&read, path));
    CHECK(read.space.n_point == b.space.n_point);
    const size_t n = 3 * (size_t)b.space.n_point;
    double *const u = malloc(2 * n * sizeof *u), *const printed = u + n;
    if (!u) abort();
    CHECK_OK(space_box_solve(&read, &device, "bsr", "jacobi", 1e-12, u, NULL));
    CHECK(calculix_run(path, b.space.n_point, 3, printed) == b.space.n_point);
    for (int64_t a = 0; a < read.space.n_point; a++) {
        const int64_t other = written_point(&b, &read, a);
        CHECK(other >= 0);
        for (int i = 0; other >= 0 && i < 3; i++) {
            test_worst(&largest, fabs(u[3 * a + i]));
            test_worst(&worst, fabs(u[3 * a + i] - printed[3 * other + i]));
        }
    }
    printf("%s, %s, from its file: displacements differ by %.1e of the largest\n", type,
           is_bent ? "curved" : "straight", worst / largest);
    CHECK_MSG(worst <= 1e-6 * largest, "%s: %.3g", type, worst / largest);
    free(u);
    space_box_free(&read);
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
    compare_read(MIXED_HEXAHEDRA, "C3D20", 0);
    compare_read(MIXED_HEXAHEDRA, "C3D20", 1);
    compare_read(MIXED_TETRAHEDRA, "C3D10", 1);
    hx_device_close(&device);
    TEST_END();
}
