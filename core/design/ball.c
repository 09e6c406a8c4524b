#include "ball.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../linalg/vector_ops.h"

double hx_ball_edge(const hx_problem *problem)
{
    const hx_mesh *const whole = hx_problem_whole(problem)->mesh;
    return cbrt(whole->total_volume / (double)hx_mesh_n_elem_all(whole));
}

hx_ball_method hx_ball_method_for(const hx_problem *problem, double radius)
{
    const double edges = radius / hx_ball_edge(problem);
    if (edges <= HX_BALL_MOST_EDGES) return HX_BALL_SUMS;
    return edges >= 2.0 * HX_BALL_BLOCK_EDGES ? HX_BALL_BLOCKS : HX_BALL_HELMHOLTZ;
}

hx_ball_method hx_ball_method_once(const hx_problem *problem, double radius)
{
    const double edges = radius / hx_ball_edge(problem),
                 n = (double)hx_mesh_n_elem_all(hx_problem_whole(problem)->mesh);
    return n * 4.2 * edges * edges * edges <= HX_BALL_MOST_PAIRS
               ? HX_BALL_SUMS
               : hx_ball_method_for(problem, radius);
}

/* Elements along an edge of a block. */
static int width_of(const hx_problem *problem, double radius)
{
    const double wide = floor(radius / (HX_BALL_BLOCK_EDGES * hx_ball_edge(problem)) + 1e-9);
    return (int)fmax(2.0, wide);
}

/* Device bytes of the cells of a cone. */
static size_t cells_bytes(const hx_problem *problem, double radius)
{
    const hx_mesh *const mesh = problem->mesh;
    const size_t of_voxels = problem->whole
                                 ? hx_voxels_bytes_around(mesh, problem->whole->mesh, radius)
                                 : hx_voxels_bytes(mesh, radius);
    const size_t of_bins = hx_device_bins_bytes(mesh->n_elem, 1);
    return of_voxels > 0 ? of_voxels : of_bins;
}

size_t hx_ball_bytes(const hx_problem *problem, double radius, hx_ball_method method)
{
    const size_t field = (size_t)problem->mesh->n_elem * sizeof(double);
    const double half = 0.5 * hx_ball_edge(problem);
    if (method == HX_BALL_HELMHOLTZ)
        return hx_helmholtz_map_bytes(problem->mesh, problem->whole ? problem->space.n_point : 0);
    if (method == HX_BALL_BLOCKS)
        return hx_blocks_bytes(problem, width_of(problem, radius), hx_ball_edge(problem)) + field;
    return cells_bytes(problem, radius + half) + cells_bytes(problem, radius - half) + 3 * field;
}

/* d_sum := S a; d_work: scratch. */
static int sum_over(const hx_ball *ball, const double *d_a, double *d_sum, double *d_work)
{
    hx_device *const dev = ball->dev;
    HX_TRY(hx_cone_sum(&ball->inner, 1, &d_a, &d_work));
    HX_TRY(hx_cone_sum(&ball->outer, 1, &d_a, &d_sum));
    return dev->ops->vector->subtract(dev, ball->n, d_sum, d_work, d_sum);
}

/* A cone without the sums of its weights. */
static int create_cone(hx_cone *cone, hx_device *dev, const hx_problem *problem, double radius)
{
    const hx_filter_params params = {.radius = radius};
    HX_TRY(hx_cone_create(cone, dev, problem, &params, 1, 0));
    dev->ops->release(dev, cone->d_sum_weight);
    cone->d_sum_weight = NULL;
    return HX_OK;
}

static int create_sums(hx_ball *ball, const hx_problem *problem, double radius)
{
    hx_device *const dev = ball->dev;
    const size_t bytes = (size_t)ball->n * sizeof(double);
    double *d_work = NULL;
    int rc;
    HX_TRY(create_cone(&ball->outer, dev, problem, radius + 0.5 * ball->edge));
    HX_TRY(create_cone(&ball->inner, dev, problem, radius - 0.5 * ball->edge));
    HX_TRY(hx_device_put(dev, &ball->d_volume, problem->volume, bytes));
    HX_TRY(dev->ops->alloc(dev, bytes, &ball->d_total));
    HX_TRY(dev->ops->alloc(dev, bytes, &d_work));
    rc = sum_over(ball, ball->d_volume, ball->d_total, d_work);
    dev->ops->release(dev, d_work);
    return rc;
}

/* Radius of the balls over blocks whose mean square distances, with those within a block, are those of
 * sums over elements. */
static double radius_of_blocks(const hx_ball *ball, int wide, double radius)
{
    const double square = radius * radius, wider = (wide * wide - 1.0) * ball->edge * ball->edge;
    return sqrt(fmax(square - wider, 0.25 * square));
}

static int create_blocks(hx_ball *ball, const hx_problem *problem, double radius)
{
    hx_device *const dev = ball->dev;
    const int wide = width_of(problem, radius);
    HX_TRY(hx_alloc(&ball->blocks, 1, sizeof *ball->blocks, "means over balls"));
    HX_TRY(hx_device_put(dev, &ball->d_volume, problem->volume, (size_t)ball->n * sizeof(double)));
    return hx_blocks_create(ball->blocks, dev, problem, wide, ball->edge,
                            radius_of_blocks(ball, wide, radius));
}

static int create_map(hx_ball *ball, const hx_problem *problem, double radius)
{
    const double square = radius * radius / 10.0, of_map = 0.25 * ball->edge * ball->edge;
    const double length = sqrt(fmax(square - of_map, 0.01 * square));
    HX_TRY(hx_alloc(&ball->map, 1, sizeof *ball->map, "means over balls"));
    return hx_helmholtz_map_create(ball->map, ball->dev, problem, length, "local volume",
                                   "try another radius");
}

int hx_ball_create(hx_ball *ball, hx_device *dev, const hx_problem *problem, double radius,
                   hx_ball_method method)
{
    memset(ball, 0, sizeof *ball);
    ball->dev = dev;
    ball->method = method;
    ball->n = problem->mesh->n_elem;
    ball->edge = hx_ball_edge(problem);
    const int rc = method == HX_BALL_SUMS     ? create_sums(ball, problem, radius)
                   : method == HX_BALL_BLOCKS ? create_blocks(ball, problem, radius)
                                              : create_map(ball, problem, radius);
    if (rc < 0) hx_ball_free(ball);
    return rc;
}

int hx_ball_mean(hx_ball *ball, const double *d_rho, double *d_mean, double *d_work)
{
    const hx_vector_ops *const vector = ball->dev->ops->vector;
    if (ball->map) return hx_helmholtz_map_forward(ball->map, d_rho, NULL, d_mean);
    HX_TRY(vector->multiply(ball->dev, ball->n, ball->d_volume, d_rho, d_mean));
    if (ball->blocks) return hx_blocks_mean(ball->blocks, d_mean, d_mean);
    HX_TRY(sum_over(ball, d_mean, d_mean, d_work));
    return vector->divide(ball->dev, ball->n, d_mean, ball->d_total, d_mean);
}

int hx_ball_transpose(hx_ball *ball, double *d_a, double *d_work)
{
    const hx_vector_ops *const vector = ball->dev->ops->vector;
    if (ball->map) return hx_helmholtz_map_transpose(ball->map, d_a);
    if (ball->blocks) {
        HX_TRY(hx_blocks_transpose(ball->blocks, d_a));
        return vector->multiply(ball->dev, ball->n, ball->d_volume, d_a, d_a);
    }
    HX_TRY(vector->divide(ball->dev, ball->n, d_a, ball->d_total, d_a));
    HX_TRY(sum_over(ball, d_a, d_a, d_work));
    return vector->multiply(ball->dev, ball->n, ball->d_volume, d_a, d_a);
}

void hx_ball_free(hx_ball *ball)
{
    hx_device *const dev = ball->dev;
    if (!dev) return;
    hx_cone_free(&ball->outer);
    hx_cone_free(&ball->inner);
    dev->ops->release(dev, ball->d_volume);
    dev->ops->release(dev, ball->d_total);
    if (ball->map) hx_helmholtz_map_free(ball->map);
    free(ball->map);
    if (ball->blocks) hx_blocks_free(ball->blocks);
    free(ball->blocks);
    memset(ball, 0, sizeof *ball);
}
