#include "analyse_modes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/log.h"
#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/linalg/vector_ops.h"
#include "core/problem/free_motions.h"

/* Bound on |K phi - lambda M phi| / (lambda |M phi|). The relative error of a frequency is about half
 * its square. */
static const double tolerance = 1e-6;

enum { MOST_ITERATIONS = 500 };

/* What a solution holds on the device. */
typedef struct solution {
    hx_operator *op;
    hx_mass mass;
    hx_lobpcg solver;
    double *d_rho, *d_axis, *d_mass_axis; /* densities; e_i and M e_i */
    int n_motion;
    double *motion[HX_LOBPCG_MOTIONS]; /* on the host */
    double *v;                         /* [n] a mode, on the host */
} solution;

static void free_solution(solution *s)
{
    hx_device *const dev = s->op->dev;
    hx_lobpcg_free(&s->solver);
    hx_mass_free(&s->mass);
    dev->ops->release(dev, s->d_rho);
    dev->ops->release(dev, s->d_axis);
    dev->ops->release(dev, s->d_mass_axis);
    for (int i = 0; i < HX_LOBPCG_MOTIONS; i++) free(s->motion[i]);
    free(s->v);
}

/* M e_i: participations of all modes, and the mass. */
static int measure_axis(solution *s, int i, hx_modes *modes)
{
    const hx_vector_ops *const vector = s->op->dev->ops->vector;
    const int64_t n = s->op->linear.n;
    for (int64_t k = 0; k < n; k++) s->v[k] = k % 3 == i;
    HX_TRY(s->op->dev->ops->upload(s->op->dev, s->d_axis, s->v, (size_t)n * sizeof *s->v));
    HX_TRY(hx_mass_apply_all(&s->mass, 1, (const double *const *)&s->d_axis, &s->d_mass_axis));
    HX_TRY(vector->dot(s->op->dev, n, s->d_axis, s->d_mass_axis, &modes->mass));
    for (int k = 0; k < modes->n; k++) {
        double *const part = &modes->mode[k].participation[i];
        HX_TRY(vector->dot(s->op->dev, n, s->solver.x.d_v[k], s->d_mass_axis, part));
        modes->mode[k].effective[i] = *part * *part / modes->mass;
    }
    return HX_OK;
}

static int measure_modes(solution *s, hx_modes *modes)
{
    hx_device *const dev = s->op->dev;
    const size_t bytes = (size_t)s->op->linear.n * sizeof(double);
    const double pi = 3.14159265358979323846;
    HX_TRY(dev->ops->alloc(dev, bytes, &s->d_axis));
    HX_TRY(dev->ops->alloc(dev, bytes, &s->d_mass_axis));
    for (int k = 0; k < modes->n; k++)
        modes->mode[k].frequency = sqrt(fmax(modes->result.value[k], 0.0)) / (2.0 * pi);
    for (int i = 0; i < 3; i++) HX_TRY(measure_axis(s, i, modes));
    return HX_OK;
}

/* The field of a mode at the nodes, with a largest displacement of 1. */
static int add_mode_field(solution *s, int k, hx_fields *fields)
{
    const hx_space *const space = &s->op->problem->space;
    char name[32];
    double *shape = NULL, most = 0.0;
    snprintf(name, sizeof name, "mode_%d", k + 1);
    HX_TRY(hx_fields_add(fields, s->op->problem->mesh, HX_VTK_POINT, HX_VTK_F64, 3, name, &shape));
    HX_TRY(hx_lobpcg_vector(&s->solver, k, s->v));
    for (int64_t p = 0; p < space->n_point; p++)
        most = fmax(most, hypot(hypot(s->v[3 * p], s->v[3 * p + 1]), s->v[3 * p + 2]));
    for (int64_t i = 0; i < 3 * space->n_point; i++) s->v[i] /= most;
    hx_space_at_nodes(space, 3, s->v, shape);
    return HX_OK;
}

static int find_modes(solution *s, hx_modes *modes, hx_precond *pc, const double *rho)
{
    const hx_lobpcg_params params = {
        .n_wanted = modes->n, .tolerance = tolerance, .max_iterations = MOST_ITERATIONS};
    hx_device *const dev = s->op->dev;
    HX_TRY(hx_problem_free_motions(s->op->problem, HX_LOBPCG_MOTIONS, &s->n_motion, s->motion));
    modes->n_motion = s->n_motion;
    HX_TRY(hx_mass_create(&s->mass, s->op));
    HX_TRY(hx_device_put(dev, &s->d_rho, rho, (size_t)s->op->model.n_elem * sizeof *rho));
    hx_mass_set_density(&s->mass, s->d_rho);
    HX_TRY(hx_lobpcg_create(&s->solver, &params, &s->op->linear, pc, &s->mass));
    HX_TRY(hx_lobpcg_deflate(&s->solver, s->n_motion, (const double *const *)s->motion));
    return hx_lobpcg_solve(&s->solver, &modes->result);
}

int hx_modes_find(hx_modes *modes, hx_operator *op, hx_precond *pc, const double *rho,
                  hx_fields *fields)
{
    solution s = {.op = op};
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&s.v, (size_t)op->linear.n, sizeof *s.v, "modes"));
    HX_TRY_FAIL(find_modes(&s, modes, pc, rho));
    HX_TRY_FAIL(measure_modes(&s, modes));
    for (int k = 0; k < modes->n && fields; k++) HX_TRY_FAIL(add_mode_field(&s, k, fields));
    rc = HX_OK;
fail:
    free_solution(&s);
    return rc;
}

/* Frequencies in hertz if the config states its units, else per unit of time. */
static double hertz(const hx_modes *modes, const hx_units *units, int k)
{
    return modes->mode[k].frequency / (units->second > 0.0 ? units->second : 1.0);
}

void hx_modes_print(const hx_modes *modes, const hx_units *units)
{
    const hx_lobpcg_result *const result = &modes->result;
    double sum[3] = {0.0, 0.0, 0.0};
    hx_table table;
    hx_log_info("\nmodes: %d %s, %d %s with K, %.3f s", result->iterations,
                hx_noun(result->iterations, "iteration", "iterations"), result->n_product,
                hx_noun(result->n_product, "product", "products"), result->seconds);
    if (modes->n_motion > 0)
        hx_log_info("the supports leave %d rigid %s free, of frequency 0", modes->n_motion,
                    hx_noun(modes->n_motion, "motion", "motions"));
    hx_table_begin(&table, "lrrrrr");
    hx_table_add(&table, "%s", "mode");
    hx_table_add(&table, "frequency%s", units->second > 0.0 ? ", Hz" : "");
    for (int i = 0; i < 3; i++) hx_table_add(&table, "effective mass %c", "xyz"[i]);
    hx_table_add(&table, "%s", "residual");
    for (int k = 0; k < modes->n; k++) {
        hx_table_add(&table, "%d", k + 1);
        hx_table_add(&table, "%.6g", hertz(modes, units, k));
        for (int i = 0; i < 3; i++) {
            hx_table_add(&table, "%.2f %%", 100.0 * modes->mode[k].effective[i]);
            sum[i] += modes->mode[k].effective[i];
        }
        hx_table_add(&table, "%.1e", result->residual[k]);
    }
    hx_table_add(&table, "%s", "sum");
    hx_table_add(&table, "%s", "");
    for (int i = 0; i < 3; i++) hx_table_add(&table, "%.2f %%", 100.0 * sum[i]);
    hx_table_add(&table, "%s", "");
    hx_table_end(&table, 2);
}

void hx_modes_write(const hx_modes *modes, const hx_units *units, hx_json *json)
{
    if (modes->n == 0) return;
    hx_json_open_object(json, "vibration");
    hx_json_integer(json, "rigid_motions", modes->n_motion);
    hx_json_number(json, "mass", modes->mass);
    hx_json_integer(json, "iterations", modes->result.iterations);
    hx_json_number(json, "seconds", modes->result.seconds);
    hx_json_open_array(json, "modes");
    for (int k = 0; k < modes->n; k++) {
        hx_json_open_object(json, NULL);
        hx_json_integer(json, "mode", k + 1);
        hx_json_number(json, "frequency", hertz(modes, units, k));
        hx_json_number(json, "eigenvalue", modes->result.value[k]);
        hx_json_number(json, "residual", modes->result.residual[k]);
        hx_json_numbers(json, "participation", 3, modes->mode[k].participation);
        hx_json_numbers(json, "effective_mass", 3, modes->mode[k].effective);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
    hx_json_close_object(json);
}
