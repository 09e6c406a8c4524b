/* Checks on the host: results that are written and read back, surfaces that are closed. */
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/files/vtk.h"
#include "core/surface/surface.h"
#include "selftest.h"
#include "selftest_sample.h"

/* Compares the nodes of the file, which are in the original order. */
static int compare_nodes(const char *path, const hx_mesh *mesh, double *n_other)
{
    hx_mesh found;
    memset(&found, 0, sizeof found);
    const int rc = hx_vtk_read(path, &found);
    for (int64_t a = 0; rc >= 0 && a < mesh->n_node; a++) {
        const int64_t at = mesh->node_orig ? mesh->node_orig[a] : a;
        *n_other += at < found.n_node
                        ? hx_selftest_other_bits(3, found.xyz + 3 * at, mesh->xyz + 3 * a)
                        : 3.0;
    }
    hx_mesh_free(&found);
    return rc;
}

static int check_result(hx_selftest *t, hx_vtk_format format)
{
    const hx_sample_spec spec = hx_sample_box(HX_SAMPLE_MIXED, 6, 5, 4);
    double *rho = NULL, n_other = 0.0;
    hx_sample s;
    int rc;
    hx_selftest_begin(t, "result, %s VTK", format == HX_VTK_ASCII ? "text" : "binary");
    HX_TRY_FAIL(hx_sample_create(&s, &spec));
    HX_TRY_FAIL(hx_alloc(&rho, 2 * (size_t)s.mesh.n_elem, sizeof *rho, "densities"));
    const int64_t n = s.mesh.n_elem;
    const hx_vtk_field field = {"density", HX_VTK_CELL, HX_VTK_F64, 1, rho};
    char path[400];
    for (int64_t e = 0; e < n; e++) rho[e] = hx_sample_random(41, e, 0.0, 1.0);
    HX_TRY_FAIL(hx_selftest_path(t, "density.vtk", path, sizeof path));
    HX_TRY_FAIL(hx_vtk_write(path, &s.mesh, "selftest", format, &field, 1));
    HX_TRY_FAIL(hx_vtk_read_cell_array(path, "density", &s.mesh, rho + n));
    n_other += hx_selftest_other_bits(n, rho, rho + n);
    HX_TRY_FAIL(compare_nodes(path, &s.mesh, &n_other));
fail:
    free(rho);
    hx_sample_free(&s);
    return hx_selftest_end(t, rc, n_other, 0.0, "the same bits read");
}

/* --- surfaces --- */

static int check_file(hx_selftest *t, const hx_surface *surface, double *faults, double *volume)
{
    const hx_surface_about about = {"selftest", 0.0};
    hx_surface_report report;
    hx_surface found;
    char path[400];
    memset(&found, 0, sizeof found);
    HX_TRY(hx_selftest_path(t, "part.stl", path, sizeof path));
    HX_TRY(hx_surface_write(path, hx_surface_format_of_name(path), surface, &about));
    int rc = hx_surface_read(path, &found);
    if (rc >= 0) rc = hx_surface_check(&found, HX_SURFACE_F64, &report);
    if (rc >= 0) {
        *faults += (double)(report.n_bad_edge + report.n_bad_vertex + report.n_degenerate +
                            report.n_crossing) +
                   fabs((double)report.genus - 1.0);
        *volume = report.volume;
    }
    hx_surface_free(&found);
    return rc;
}

/* Makes the smoothed surface of the shape, writes and reads it: number of errors, and the ratio of
 * its volume to the target. */
static int make_surface(hx_selftest *t, const hx_sample *s, double *faults, double *volume)
{
    const double threshold = 0.5;
    double *rho = NULL, exact;
    hx_surface_field field = {0};
    hx_surface surface = {0};
    hx_surface_smoothing smoothing;
    int rc;
    HX_TRY_FAIL(hx_alloc(&rho, (size_t)s->mesh.n_elem, sizeof *rho, "densities"));
    /* A ball with a hole along x and blurred edges. */
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        double x[3], square = 0.0;
        hx_mesh_centroid(&s->mesh, e, x);
        for (int d = 0; d < 3; d++) {
            const double from = x[d] - 0.5 * (s->mesh.box_min[d] + s->mesh.box_max[d]);
            square += from * from;
            x[d] = from;
        }
        const double ball = 0.5 + 0.7 * (4.2 - sqrt(square));
        const double hole = 0.5 + 0.7 * (sqrt(x[1] * x[1] + x[2] * x[2]) - 1.8);
        rho[e] = fmin(1.0, fmax(0.0, fmin(ball, hole)));
    }
    HX_TRY_FAIL(hx_surface_field_create(&field, &s->mesh, rho, NULL));
    hx_surface_volume(&field, threshold, &exact);
    HX_TRY_FAIL(hx_surface_extract(&surface, &field, threshold));
    HX_TRY_FAIL(hx_surface_smooth(&surface, &field, HX_SURFACE_STEPS, &smoothing));
    HX_TRY_FAIL(hx_surface_improve(&surface, &field, HX_SURFACE_STEPS, 0, NULL));
    HX_TRY_FAIL(check_file(t, &surface, faults, volume));
    *volume = fabs(*volume / exact - 1.0);
fail:
    free(rho);
    hx_surface_free(&surface);
    hx_surface_field_free(&field);
    return rc;
}

static int check_surface(hx_selftest *t, hx_sample_cells cells)
{
    const hx_sample_spec spec = hx_sample_box(cells, 10, 10, 10);
    double faults = 0.0, volume = NAN;
    hx_sample s;
    hx_selftest_begin(t, "surface, %s", hx_sample_name(cells));
    int rc = hx_sample_create(&s, &spec);
    if (rc >= 0) rc = make_surface(t, &s, &faults, &volume);
    hx_sample_free(&s);
    HX_TRY(hx_selftest_end(t, rc, faults, 0.0, "closed, one hole"));
    if (rc < 0) return HX_OK;
    hx_selftest_begin(t, "surface, %s, volume", hx_sample_name(cells));
    return hx_selftest_end(t, HX_OK, volume, 1e-5, "that of the solid");
}

int hx_selftest_run_host(hx_selftest *t)
{
    memset(&t->parts, 0, sizeof t->parts);
    t->section = "files";
    HX_TRY(check_result(t, HX_VTK_BINARY));
    HX_TRY(check_result(t, HX_VTK_ASCII));
    HX_TRY(check_surface(t, HX_SAMPLE_HEXAHEDRA));
    return check_surface(t, HX_SAMPLE_TETRAHEDRA);
}
