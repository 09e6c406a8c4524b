/* Operations computed from the control points of a spline's cells on the CPU
 * (element_ops.h, conduction_ops.h).
 *
 * Sums at control points go cell by cell: patch by patch, and in a patch colour by colour. The
 * colour of a span in a direction is its number modulo the degree + 1, so that cells of one colour
 * share no control point. The last span has a colour of its own, because a patch may be joined to
 * its own opposite end. Every sum follows the order of the colours, for any number of threads. */
#include "spline_points_cpu.h"

#include <math.h>
#include <string.h>

#include "../../linalg/block3.h"
#include "../../matrix/form.h"
#include "../../problem/body_force.h"

enum { FEW = 32 }; /* smallest number of cells of a colour for which several threads pay off */

/* Operation on a cell. */
typedef void (*visit)(const hx_device_model *model, int64_t cell, const void *context);

/* Number of spans of a colour. */
static int spans_of(int n_span, int order, int colour)
{
    const int n = n_span > 1 ? n_span - 1 : 1; /* without the last span */
    if (colour == order) return n_span > 1;
    return colour < n ? (n - colour + order - 1) / order : 0;
}

static void visit_colour(const hx_device_model *model, const hx_spline_rule_patch *patch,
                         const int colour[3], visit what, const void *context)
{
    int n[3], order[3];
    for (int d = 0; d < 3; d++) {
        order[d] = patch->degree[d] + 1;
        n[d] = spans_of(patch->n_span[d], order[d], colour[d]);
    }
    const int64_t n_cell = (int64_t)n[0] * n[1] * n[2];
#pragma omp parallel for schedule(static) if (n_cell >= FEW)
    for (int64_t k = 0; k < n_cell; k++) {
        const int i[3] = {(int)(k % n[0]), (int)(k / n[0] % n[1]), (int)(k / n[0] / n[1])};
        int64_t cell = 0;
        for (int d = 2; d >= 0; d--)
            cell = cell * patch->n_span[d] +
                   (colour[d] == order[d] ? patch->n_span[d] - 1 : colour[d] + i[d] * order[d]);
        what(model, patch->first_cell + cell, context);
    }
}

static void visit_cells(const hx_device_model *model, visit what, const void *context)
{
    const hx_spline_rule *const rule = model->points->spline;
    for (int k = 0; k < rule->n_patch; k++) {
        const hx_spline_rule_patch *const patch = &rule->patch[k];
        int c[3];
        for (c[2] = 0; c[2] <= patch->degree[2] + 1; c[2]++)
            for (c[1] = 0; c[1] <= patch->degree[1] + 1; c[1]++)
                for (c[0] = 0; c[0] <= patch->degree[0] + 1; c[0]++)
                    visit_colour(model, patch, c, what, context);
    }
}

/* --- diagonals --- */

/* m[a] = sum over the Gauss points of w det g_a g_a', in the six entries of block3.h. */
HX_INLINED void own_products_lanes(const hx_spline_cell *cell, const hx_spline_place *place,
                                   const double *weight, double m[6][HX_SPLINE_LANES])
{
    double h[3][HX_SPLINE_LANES];
    memset(m, 0, 6 * sizeof *m);
    for (int q = 0; q < cell->n; q++) {
        hx_spline_cell_gradients(cell, place, weight, q, sqrt(place->volume[q]), h);
        for (int a = 0; a < cell->n; a++) {
            m[0][a] += h[0][a] * h[0][a];
            m[1][a] += h[0][a] * h[1][a];
            m[2][a] += h[0][a] * h[2][a];
            m[3][a] += h[1][a] * h[1][a];
            m[4][a] += h[1][a] * h[2][a];
            m[5][a] += h[2][a] * h[2][a];
        }
    }
}
HX_VERSIONS(own_products,
            (const hx_spline_cell *cell, const hx_spline_place *place, const double *weight,
             double m[6][HX_SPLINE_LANES]),
            (cell, place, weight, m))

static void make_products(const hx_device_model *model, int64_t e, hx_spline_cell *cell,
                          double m[6][HX_SPLINE_LANES])
{
    double weight[HX_SPLINE_LANES];
    hx_spline_place place;
    hx_cpu_spline_cell(model->points, e, cell);
    hx_spline_cell_map(cell, model->d_xyz, &place);
    for (int a = 0; cell->weight && a < cell->n; a++) weight[a] = cell->weight[cell->point[a]];
    own_products(cell, &place, cell->weight ? weight : NULL, m);
}

static void own_tile(const hx_device_model *model, int64_t e, double m[6][HX_SPLINE_LANES], int a,
                     double tile[3][3])
{
    double full[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) full[i][j] = m[hx_block3_at(i, j)][a];
    hx_form_elasticity(model->d_modulus[e], model->lambda, model->mu, (const double(*)[3])full,
                       tile);
}

static void add_block_diagonal(const hx_device_model *model, int64_t e, const void *context)
{
    double *const d_block = *(double *const *)context;
    double m[6][HX_SPLINE_LANES], tile[3][3];
    hx_spline_cell cell;
    make_products(model, e, &cell, m);
    for (int a = 0; a < cell.n; a++) {
        double *const block = d_block + 6 * (int64_t)cell.point[a];
        own_tile(model, e, m, a, tile);
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++) block[hx_block3_at(i, j)] += tile[i][j];
    }
}

int hx_cpu_spline_block_diagonal(const hx_device_model *model, double *d_block)
{
    memset(d_block, 0, 6 * (size_t)model->n_point * sizeof *d_block);
    visit_cells(model, add_block_diagonal, &d_block);
    return HX_OK;
}

static void add_diagonal(const hx_device_model *model, int64_t e, const void *context)
{
    double *const d_diag = *(double *const *)context;
    double m[6][HX_SPLINE_LANES], tile[3][3];
    hx_spline_cell cell;
    make_products(model, e, &cell, m);
    for (int a = 0; a < cell.n; a++) {
        own_tile(model, e, m, a, tile);
        for (int i = 0; i < 3; i++) d_diag[3 * (int64_t)cell.point[a] + i] += tile[i][i];
    }
}

int hx_cpu_spline_diagonal(const hx_device_model *model, double *d_diag)
{
    memset(d_diag, 0, 3 * (size_t)model->n_point * sizeof *d_diag);
    visit_cells(model, add_diagonal, &d_diag);
    return HX_OK;
}

static void add_conduction(const hx_device_model *model, int64_t e, const void *context)
{
    double *const d_diag = *(double *const *)context;
    double m[6][HX_SPLINE_LANES];
    hx_spline_cell cell;
    make_products(model, e, &cell, m);
    for (int a = 0; a < cell.n; a++)
        d_diag[cell.point[a]] += model->d_modulus[e] * (m[0][a] + m[3][a] + m[5][a]);
}

int hx_cpu_spline_conduction_diagonal(const hx_device_model *model, double *d_diag)
{
    memset(d_diag, 0, (size_t)model->n_point * sizeof *d_diag);
    visit_cells(model, add_conduction, &d_diag);
    return HX_OK;
}

/* --- energies --- */

static double energy_at(double h[3][3], double lambda, double mu)
{
    const double trace = h[0][0] + h[1][1] + h[2][2];
    const double xy = h[0][1] + h[1][0], yz = h[1][2] + h[2][1], xz = h[0][2] + h[2][0];
    return lambda * trace * trace + mu * (xy * xy + yz * yz + xz * xz) +
           2.0 * mu * (h[0][0] * h[0][0] + h[1][1] * h[1][1] + h[2][2] * h[2][2]);
}

int hx_cpu_spline_energy(const hx_device_model *model, const double *d_u, double *d_energy)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        double slope[3][3][HX_SPLINE_LANES], energy = 0.0;
        hx_spline_cell cell;
        hx_spline_place place;
        hx_cpu_spline_cell(model->points, e, &cell);
        hx_spline_cell_map(&cell, model->d_xyz, &place);
        for (int i = 0; i < 3; i++) hx_spline_cell_field(&cell, &place, d_u, 3, i, NULL, slope[i]);
        for (int q = 0; q < cell.n; q++) {
            double h[3][3];
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) h[i][j] = slope[i][j][q];
            energy += place.volume[q] * energy_at(h, model->lambda, model->mu);
        }
        d_energy[e] = energy;
    }
    return HX_OK;
}

int hx_cpu_spline_conduction_energy(const hx_device_model *model, const double *d_t,
                                    double *d_energy)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        double slope[3][HX_SPLINE_LANES], energy = 0.0;
        hx_spline_cell cell;
        hx_spline_place place;
        hx_cpu_spline_cell(model->points, e, &cell);
        hx_spline_cell_map(&cell, model->d_xyz, &place);
        hx_spline_cell_field(&cell, &place, d_t, 1, 0, NULL, slope);
        for (int q = 0; q < cell.n; q++)
            energy += place.volume[q] * (slope[0][q] * slope[0][q] + slope[1][q] * slope[1][q] +
                                         slope[2][q] * slope[2][q]);
        d_energy[e] = energy;
    }
    return HX_OK;
}

/* --- loads proportional to mass --- */

typedef struct body {
    const hx_body_field *field;
    const double *rho;
    double *f;
} body;

/* b[i][q] at the Gauss points of a cell. */
static void body_of(const hx_body_field *field, const hx_spline_cell *cell,
                    const hx_spline_place *place, double b[3][HX_SPLINE_LANES])
{
    for (int q = 0; q < cell->n; q++) {
        const double x[3] = {place->x[0][q], place->x[1][q], place->x[2][q]};
        double at[3];
        hx_body_at(field, x, at);
        for (int i = 0; i < 3; i++) b[i][q] = at[i];
    }
}

static void add_body(const hx_device_model *model, int64_t e, const void *context)
{
    const body *const load = context;
    const double mass = hx_mass_factor(&model->materials, e) * hx_mass_of(load->rho[e]);
    double b[3][HX_SPLINE_LANES], f[HX_SPLINE_LANES];
    hx_spline_cell cell;
    hx_spline_place place;
    hx_cpu_spline_cell(model->points, e, &cell);
    hx_spline_cell_map(&cell, model->d_xyz, &place);
    body_of(load->field, &cell, &place, b);
    for (int i = 0; i < 3; i++) {
        hx_spline_cell_integrate(&cell, &place, b[i], f);
        for (int a = 0; a < cell.n; a++) load->f[3 * (int64_t)cell.point[a] + i] += mass * f[a];
    }
}

int hx_cpu_spline_body_force(const hx_device_model *model, const hx_body_field *field,
                             const double *d_rho, const double *d_static, double *d_f)
{
    const size_t bytes = 3 * (size_t)model->n_point * sizeof *d_f;
    const body load = {field, d_rho, d_f};
    if (!d_static)
        memset(d_f, 0, bytes);
    else if (d_static != d_f)
        memcpy(d_f, d_static, bytes);
    visit_cells(model, add_body, &load);
    return HX_OK;
}

int hx_cpu_spline_body_work(const hx_device_model *model, const hx_body_field *field, double factor,
                            const double *d_rho, const double *d_u, double *d_dc)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < model->n_elem; e++) {
        double b[3][HX_SPLINE_LANES], u[HX_SPLINE_LANES], work = 0.0;
        hx_spline_cell cell;
        hx_spline_place place;
        hx_cpu_spline_cell(model->points, e, &cell);
        hx_spline_cell_map(&cell, model->d_xyz, &place);
        body_of(field, &cell, &place, b);
        for (int i = 0; i < 3; i++) {
            hx_spline_cell_field(&cell, &place, d_u, 3, i, u, NULL);
            for (int q = 0; q < cell.n; q++) work += place.volume[q] * u[q] * b[i][q];
        }
        const double slope = hx_mass_factor(&model->materials, e) * hx_mass_slope(d_rho[e]);
        d_dc[e] += factor * slope * work;
    }
    return HX_OK;
}
