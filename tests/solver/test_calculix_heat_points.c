/* Temperatures of hex20 and tet10 against those of CalculiX (DC3D20 and DC3D10), with straight and
 * curved edges: *HEAT TRANSFER, STEADY STATE with prescribed temperatures and sources; on hexahedra
 * also fluxes and films, given to CalculiX by its own keywords (its triangles use 3 points, too few
 * for a film). The source of curved tet10, integrated with 14 points here and 4 there, is given as
 * point values. Exit status 77: ccx is not installed.
 *
 *     test_calculix_heat_points [cpu] */
#define _XOPEN_SOURCE 700 /* for mkdtemp */

#include <unistd.h>

#include "tests/lib/calculix_job.h"
#include "tests/lib/space_box.h"

static hx_device device;

typedef struct job {
    mixed_kind kind;
    const char *type; /* element type of CalculiX */
    int is_bent, has_faces;
} job;

static int make_problem(space_box *b, const job *j)
{
    const mixed_box box = {
        .kind = j->kind, .n = {4, 2, 2}, .length = {2.0, 1.0, 0.8}, .distort = 0.12, .seed = 8};
    const hx_support_spec support[2] = {{"left", "test", HX_FIX_X, {0.0}},
                                        {"right", "test", HX_FIX_X, {50.0}}};
    const hx_load_spec load[2] = {{NULL, "test", HX_LOAD_SOURCE, {3.0}, 1},
                                  {"right", "test", HX_LOAD_FLUX, {20.0}, 1}};
    const hx_convection_spec film = {"outside", "test", 1.7, -30.0};
    hx_problem_params params = fixture_problem();
    HX_TRY(space_box_bent(b, &box, HX_ELEMENT_QUADRATIC, j->is_bent ? calculix_bend : NULL));
    HX_TRY(calculix_name_sides(&b->mesh, j->is_bent));
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 2.5;
    params.support = support, params.n_support = j->has_faces ? 1 : 2;
    params.load = load, params.n_load = j->has_faces ? 2 : 1;
    params.convection = &film, params.n_convection = j->has_faces;
    params.space = &b->space;
    return hx_problem_create(&b->problem, &b->mesh, &params);
}

static void write_source(FILE *f, const space_box *b, const job *j)
{
    if (!j->is_bent || strcmp(j->type, "DC3D10") != 0) {
        fprintf(f, "*DFLUX\nALL, BF, 3.\n");
        return;
    }
    fprintf(f, "*CFLUX\n");
    for (int64_t a = 0; a < b->space.n_point; a++)
        fprintf(f, "%lld, 11, %.13g\n", (long long)a + 1, b->problem.cases.force[0][a]);
}

static void write_job(const char *path, const space_box *b, const job *j)
{
    const hx_problem *p = &b->problem;
    FILE *const f = fopen(path, "w");
    if (!f) abort();
    calculix_write_mesh(f, &b->space, j->type);
    fprintf(f, "*MATERIAL, NAME=M\n*CONDUCTIVITY\n2.5\n*SOLID SECTION, ELSET=ALL, MATERIAL=M\n"
               "*STEP\n*HEAT TRANSFER, STEADY STATE\n*BOUNDARY\n");
    for (int64_t a = 0; a < b->space.n_point; a++)
        if (p->supports.fixed[a])
            fprintf(f, "%lld, 11, 11, %.13g\n", (long long)a + 1,
                    p->reference + (p->supports.prescribed ? p->supports.prescribed[a] : 0.0));
    write_source(f, b, j);
    if (j->has_faces) {
        calculix_write_faces(f, &b->mesh, "right", "S", "20.");
        fprintf(f, "*FILM\n");
        calculix_write_faces(f, &b->mesh, "outside", "F", "-30., 1.7");
    }
    fprintf(f, "*NODE PRINT, NSET=NALL\nNT\n*END STEP\n");
    CHECK(fclose(f) == 0);
}

static void compare(const job *j)
{
    char path[64];
    space_box b;
    double largest = 0.0;
    CHECK_OK(make_problem(&b, j));
    const size_t n = (size_t)b.space.n_point;
    double *const t = malloc(2 * n * sizeof *t), *const printed = t + n;
    if (!t) abort();
    CHECK_OK(space_box_solve(&b, &device, "csr", "jacobi", 1e-13, t, NULL));
    for (size_t k = 0; k < n; k++) {
        t[k] += b.problem.reference;
        test_worst(&largest, fabs(t[k]));
    }
    calculix_open(path, sizeof path);
    write_job(path, &b, j);
    CHECK(calculix_run(path, b.space.n_point, 1, printed) == b.space.n_point);
    const double worst = test_max_difference(n, t, printed) / largest;
    printf("%s, %s%s: %lld points, temperatures differ by %.1e of the largest\n", j->type,
           j->is_bent ? "curved" : "straight", j->has_faces ? ", faces" : "", (long long)n, worst);
    CHECK_MSG(worst <= 1e-6, "%s: %.3g", j->type, worst);
    free(t);
    space_box_free(&b);
}

int main(int argc, char **argv)
{
    static const job jobs[] = {
        {MIXED_HEXAHEDRA, "DC3D20", 0, 0},   {MIXED_HEXAHEDRA, "DC3D20", 0, 1},
        {MIXED_HEXAHEDRA, "DC3D20", 1, 0},   {MIXED_HEXAHEDRA, "DC3D20", 1, 1},
        {MIXED_TETRAHEDRA, "DC3D10", 0, 0},  {MIXED_TETRAHEDRA, "DC3D10", 1, 0},
        {MIXED_TETRAHEDRA_5, "DC3D10", 1, 0}};
    if (system("command -v ccx > /dev/null 2>&1") != 0) TEST_SKIP("no ccx");
    const int status = fixture_open_small(&device, argc, argv);
    if (status != 0) return status;
    for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++) compare(&jobs[k]);
    hx_device_close(&device);
    TEST_END();
}
