#include "helmholtz_map.h"

#include <math.h>
#include <string.h>

#include "../base/names.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"

extern const hx_precond_kind hx_precond_jacobi;

enum { NODAL_VECTORS = 6 }; /* the two above, PCG's r, p and q, and the preconditioner's */
#define TOLERANCE 1e-10

/* Completes sums over elements at the nodes by those of other ranks. */
static int complete(const hx_helmholtz_map *map, double *d_y)
{
    const int64_t n_node = map->field.n_node;
    hx_device *dev = map->dev;
    if (map->a.n > n_node)
        HX_TRY(dev->ops->zero(dev, d_y + n_node, (size_t)(map->a.n - n_node) * sizeof *d_y));
    return hx_interface_add(dev, 1, d_y);
}

static int apply_helmholtz(const hx_linear *a, const double *d_x, double *d_y)
{
    const hx_helmholtz_map *map = a->context;
    HX_TRY(a->dev->ops->helmholtz->apply(a->dev, &map->field, d_x, d_y));
    return complete(map, d_y);
}

static int helmholtz_diagonal(const hx_linear *a, double *d_diagonal)
{
    const hx_helmholtz_map *map = a->context;
    HX_TRY(a->dev->ops->helmholtz->diagonal(a->dev, &map->field, d_diagonal));
    return complete(map, d_diagonal);
}

static int to_nodes(const hx_helmholtz_map *map, const double *d_value, double *d_node)
{
    HX_TRY(map->dev->ops->helmholtz->to_nodes(map->dev, &map->field, d_value, d_node));
    return complete(map, d_node);
}

int64_t hx_helmholtz_map_entries(const hx_device *dev, const hx_problem *problem)
{
    return dev->ops->interface ? problem->space.n_point : problem->mesh->n_node;
}

size_t hx_helmholtz_map_bytes(const hx_mesh *mesh, int64_t n_point)
{
    const int64_t n = n_point > 0 ? n_point : mesh->n_node;
    /* PCG rounds its vectors up to 64 entries */
    return hx_device_helmholtz_bytes(mesh) + NODAL_VECTORS * ((size_t)n + 64) * sizeof(double);
}

int hx_helmholtz_map_create(hx_helmholtz_map *map, hx_device *dev, const hx_problem *problem,
                            double length, const char *who, const char *advice)
{
    static const hx_pcg_params params = {
        .criterion = HX_PCG_RELATIVE, .tolerance = TOLERANCE, .max_iterations = 5000};
    const int64_t n = hx_helmholtz_map_entries(dev, problem);
    const size_t nodal = (size_t)n * sizeof(double);
    memset(map, 0, sizeof *map);
    if (!dev->ops->helmholtz)
        return HX_RAISE(HX_EINPUT, "device '%s' does not support %s", dev->ops->name, who);
    map->dev = dev;
    map->who = who;
    map->advice = advice;
    HX_TRY(hx_device_mesh_take(&map->mesh, dev, problem->mesh));
    HX_TRY(hx_device_helmholtz_create(&map->field, dev, map->mesh, problem, length));
    map->a = (hx_linear){.dev = dev,
                         .name = "helmholtz",
                         .n = n,
                         .components = 1,
                         .context = map,
                         .apply = apply_helmholtz,
                         .diagonal = helmholtz_diagonal};
    HX_TRY(hx_precond_create(&map->pc, &hx_precond_jacobi, &map->a, NULL));
    HX_TRY(hx_precond_setup(&map->pc));
    HX_TRY(hx_pcg_create(&map->pcg, &params, &map->a, &map->pc));
    HX_TRY(dev->ops->alloc(dev, nodal, &map->d_f));
    return dev->ops->alloc(dev, nodal, &map->d_x);
}

/* x = A^-1 f, starting from the given x. All solves use the same vectors, so that PCG's iterations
 * are recorded (as a CUDA graph) only once. */
static int solve_helmholtz(hx_helmholtz_map *map)
{
    hx_pcg_result result;
    map->pc.version = hx_interface_version(map->dev); /* PCG records again if it differs */
    HX_TRY(hx_pcg_solve(&map->pcg, &map->a, &map->pc, map->d_f, map->d_x, &result));
    if (result.reason == HX_PCG_NAN || result.reason == HX_PCG_INDEFINITE) { /* restart from 0 */
        HX_TRY(map->dev->ops->zero(map->dev, map->d_x, (size_t)map->a.n * sizeof(double)));
        HX_TRY(hx_pcg_solve(&map->pcg, &map->a, &map->pc, map->d_f, map->d_x, &result));
    }
    if (result.reason == HX_PCG_CONVERGED) return HX_OK;
    return HX_RAISE(HX_ENUMERIC, "%s: PCG did not converge (%s after %d %s, |r|/|f| = %.2g); %s",
                    map->who, hx_pcg_reason_name(result.reason), result.iterations,
                    hx_noun(result.iterations, "iteration", "iterations"), result.residual,
                    map->advice);
}

int hx_helmholtz_map_forward(hx_helmholtz_map *map, const double *d_value, double *d_warm,
                             double *d_smoothed)
{
    hx_device *dev = map->dev;
    const size_t nodal = (size_t)map->a.n * sizeof(double);
    HX_TRY(dev->ops->vector->multiply(dev, map->field.n_elem, map->field.d_weight, d_value,
                                      d_smoothed));
    HX_TRY(to_nodes(map, d_smoothed, map->d_f));
    HX_TRY(d_warm ? dev->ops->copy(dev, map->d_x, d_warm, nodal)
                  : dev->ops->zero(dev, map->d_x, nodal));
    HX_TRY(solve_helmholtz(map));
    if (d_warm) HX_TRY(dev->ops->copy(dev, d_warm, map->d_x, nodal));
    return dev->ops->helmholtz->to_elements(dev, &map->field, map->d_x, d_smoothed);
}

int hx_helmholtz_map_transpose(hx_helmholtz_map *map, double *d_a)
{
    hx_device *dev = map->dev;
    HX_TRY(to_nodes(map, d_a, map->d_f));
    HX_TRY(dev->ops->zero(dev, map->d_x, (size_t)map->a.n * sizeof(double)));
    HX_TRY(solve_helmholtz(map));
    HX_TRY(dev->ops->helmholtz->to_elements(dev, &map->field, map->d_x, d_a));
    return dev->ops->vector->multiply(dev, map->field.n_elem, map->field.d_weight, d_a, d_a);
}

void hx_helmholtz_map_free(hx_helmholtz_map *map)
{
    hx_device *const dev = map->dev;
    if (!dev) return;
    hx_pcg_free(&map->pcg);
    hx_precond_free(&map->pc);
    hx_device_helmholtz_free(&map->field, dev);
    hx_device_mesh_drop(dev, map->mesh);
    dev->ops->release(dev, map->d_f);
    dev->ops->release(dev, map->d_x);
    memset(map, 0, sizeof *map);
}
