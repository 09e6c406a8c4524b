/* Jobs of CalculiX with the points of a quadratic space, for several tests. Before any header:
 * #define _XOPEN_SOURCE 700. */
#ifndef HX_TEST_CALCULIX_JOB_H
#define HX_TEST_CALCULIX_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesh/region.h"
#include "core/space/space.h"
#include "test.h"

/* Maps the box [0, 2] x [0, 1] x [0, z] to a quarter ring of radii 1 and 2 with a tilted lower
 * side. */
static inline void calculix_bend(const double x[3], double y[3])
{
    const double angle = 0.78539816339744830962 * x[0], r = 2.0 - x[1];
    y[0] = r * cos(angle);
    y[1] = r * sin(angle);
    y[2] = x[2] + 0.1 * x[0] * x[1];
}

/* Sets left and right, the ends along the first direction, and outside, the start of the second. */
static inline int calculix_name_sides(hx_mesh *mesh, int is_bent)
{
    hx_region left = {.kind = HX_REGION_PLANE, .tolerance = 1e-6}, right = left;
    hx_region outside = {.kind = is_bent ? HX_REGION_CYLINDER : HX_REGION_PLANE,
                         .radius = 2.0,
                         .inner = 2.0,
                         .tolerance = 1e-6};
    left.axis[is_bent ? 1 : 0] = 1.0;
    right.axis[0] = 1.0;
    right.point[0] = is_bent ? 0.0 : 2.0;
    outside.axis[is_bent ? 2 : 1] = 1.0;
    HX_TRY(hx_mesh_add_region(mesh, "left", &left));
    HX_TRY(hx_mesh_add_region(mesh, "right", &right));
    return hx_mesh_add_region(mesh, "outside", &outside);
}

/* Points as the set NALL, cells as ALL. */
static inline void calculix_write_mesh(FILE *f, const hx_space *s, const char *type)
{
    fprintf(f, "*NODE, NSET=NALL\n");
    for (int64_t a = 0; a < s->n_point; a++)
        fprintf(f, "%lld, %.13g, %.13g, %.13g\n", (long long)a + 1, s->xyz[3 * a],
                s->xyz[3 * a + 1], s->xyz[3 * a + 2]);
    fprintf(f, "*ELEMENT, TYPE=%s, ELSET=ALL\n", type);
    for (int64_t e = 0; e < s->mesh->n_elem; e++) {
        int n;
        const int32_t *const point = hx_space_points(s, e, &n);
        fprintf(f, "%lld", (long long)e + 1);
        for (int a = 0; a < n; a++) /* at most 16 numbers per line */
            fprintf(f, "%s%d", a == 10 ? ",\n" : ", ", (int)point[a] + 1);
        fprintf(f, "\n");
    }
}

/* A line "element, LABELface, value" for each boundary face of a set, of hexahedra. */
static inline void calculix_write_faces(FILE *f, const hx_mesh *mesh, const char *set,
                                        const char *label, const char *value)
{
    static const int number[6] = {6, 4, 3, 5, 1, 2};
    int64_t n, *face;
    CHECK_OK(hx_load_faces(mesh, hx_mesh_find_set(mesh, set), &n, &face));
    CHECK(n > 0);
    for (int64_t k = 0; k < n; k++)
        fprintf(f, "%lld, %s%d, %s\n", (long long)(face[k] / 6 + 1), label, number[face[k] % 6],
                value);
    free(face);
}

/* Path of a job in a new folder. */
static inline void calculix_open(char *path, size_t n_path)
{
    char folder[] = "/tmp/hextop_ccx_XXXXXX";
    if (!mkdtemp(folder)) abort();
    snprintf(path, n_path, "%s/job.inp", folder);
}

/* Reads value[n_point][n] (n is 1 or 3) from CalculiX's tables; returns how many points they
 * name. */
static inline int64_t calculix_read(const char *path, int64_t n_point, int n, double *value)
{
    char line[256];
    int64_t n_found = 0;
    FILE *const f = fopen(path, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) {
        long long number;
        double x[3];
        if (sscanf(line, "%lld %lf %lf %lf", &number, &x[0], &x[1], &x[2]) != n + 1) continue;
        if (number < 1 || number > n_point) continue;
        memcpy(value + n * (number - 1), x, (size_t)n * sizeof *x);
        n_found++;
    }
    fclose(f);
    return n_found;
}

/* Solves the job, reads its results as above and removes its folder. */
static inline int64_t calculix_run(const char *path, int64_t n_point, int n, double *value)
{
    char command[160], folder[64], printed[80];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    snprintf(command, sizeof command, "cd %s && ccx job > log 2>&1", folder);
    CHECK(system(command) == 0);
    snprintf(printed, sizeof printed, "%s/job.dat", folder);
    const int64_t n_found = calculix_read(printed, n_point, n, value);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    return n_found;
}

#endif
