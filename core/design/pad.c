#include "pad.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../mesh/load_faces.h"
#include "bins.h"

/* near[n_node] := 1 at nodes that something outside holds or loads, and at those of passive
 * elements. */
static void mark_nodes(const hx_problem *problem, uint8_t *near)
{
    const hx_mesh *const mesh = problem->mesh;
    const int m = problem->components;
    for (int32_t a = 0; a < mesh->n_node; a++) near[a] = problem->supports.fixed[a] != 0;
    for (int64_t i = 0; i < problem->springs.n; i++)
        if (problem->springs.dof[i] < (int64_t)m * mesh->n_node)
            near[problem->springs.dof[i] / m] = 1;
    for (int64_t i = 0; i < problem->rigid.n_node; i++)
        if (problem->rigid.node[i] < mesh->n_node) near[problem->rigid.node[i]] = 1;
    for (int c = 0; c < problem->cases.n && !hx_problem_is_heat(problem); c++)
        for (int64_t i = 0; i < (int64_t)m * mesh->n_node; i++)
            if (problem->cases.force[c][i] != 0.0) near[i / m] = 1;
    for (int64_t e = 0; problem->passive.density && e < mesh->n_elem; e++)
        for (int i = 0; !isnan(problem->passive.density[e]) && i < 8; i++)
            near[mesh->conn[8 * e + i]] = 1;
}

/* Marks the nodes of elements with a marked node, so many times that a radius is covered. */
static int spread(const hx_mesh *mesh, int n_times, uint8_t *near)
{
    uint8_t *before;
    HX_TRY(hx_alloc_raw(&before, (size_t)mesh->n_node, 1, "border of the filter"));
    for (int k = 0; k < n_times; k++) {
        memcpy(before, near, (size_t)mesh->n_node);
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            int is_near = 0;
            for (int i = 0; i < 8; i++) is_near |= before[mesh->conn[8 * e + i]];
            for (int i = 0; is_near && i < 8; i++) near[mesh->conn[8 * e + i]] = 1;
        }
    }
    free(before);
    return HX_OK;
}

/* missing[e] += weight (R - |x_e - x|) of the elements within R. */
static void add_point(const hx_bins *bins, double radius, const double x[3], double weight,
                      double *missing)
{
    int64_t low[3], high[3];
    for (int i = 0; i < 3; i++) {
        const double a = floor((x[i] - radius - bins->origin[i]) / bins->size),
                     b = floor((x[i] + radius - bins->origin[i]) / bins->size);
        low[i] = a > 0.0 ? (int64_t)a : 0;
        high[i] = b < (double)(bins->n_cell[i] - 1) ? (int64_t)b : bins->n_cell[i] - 1;
    }
    for (int64_t k = low[2]; k <= high[2]; k++)
        for (int64_t j = low[1]; j <= high[1] && low[0] <= high[0]; j++) {
            const int64_t row = (k * bins->n_cell[1] + j) * bins->n_cell[0];
            for (int32_t p = bins->start[row + low[0]]; p < bins->start[row + high[0] + 1]; p++) {
                const double d[3] = {bins->x[p] - x[0], bins->y[p] - x[1], bins->z[p] - x[2]};
                const double distance = hx_norm3(d);
                if (distance < radius) missing[bins->member[p]] += weight * (radius - distance);
            }
        }
}

/* 1 if the normal is across a direction of the box in which the mesh is at most a radius thick. */
static int is_across_thin(const hx_mesh *mesh, double radius, const double normal[3])
{
    static const double along = 0.9;
    const double length = hx_norm3(normal);
    for (int i = 0; i < 3; i++)
        if (fabs(normal[i]) > along * length &&
            mesh->box_max[i] - mesh->box_min[i] <= radius * (1.0 + 1e-9))
            return 1;
    return 0;
}

/* The layers outside a face. */
static void add_face(const hx_problem *problem, const hx_bins *bins, int64_t face, double radius,
                     double unit, double *missing)
{
    const hx_mesh *const mesh = problem->mesh;
    const int n_layer = (int)ceil(radius / mesh->elem_size);
    const double depth = radius / n_layer;
    int32_t node[4];
    hx_face_point point[4];
    hx_face_points(mesh, face, node, point);
    for (int i = 0; i < 4; i++) {
        const double area = hx_norm3(point[i].normal);
        if (!(area > 0.0) || is_across_thin(mesh, radius, point[i].normal)) continue;
        for (int k = 0; k < n_layer; k++) {
            double x[3];
            for (int j = 0; j < 3; j++)
                x[j] = point[i].x[j] + point[i].normal[j] / area * depth * (k + 0.5);
            add_point(bins, radius, x, area * depth / unit, missing);
        }
    }
}

static int pad_whole(const hx_problem *problem, double radius, int by_volume, double *missing)
{
    const hx_mesh *const mesh = problem->mesh;
    const double unit = by_volume ? 1.0 : problem->total_volume / (double)mesh->n_elem;
    hx_bins bins = {0};
    uint8_t *near = NULL;
    int64_t n_face = 0, *face = NULL;
    int rc;
    memset(missing, 0, (size_t)mesh->n_elem * sizeof *missing);
    HX_TRY_FAIL(hx_alloc(&near, (size_t)mesh->n_node, 1, "border of the filter"));
    mark_nodes(problem, near);
    HX_TRY_FAIL(spread(mesh, (int)ceil(radius / mesh->elem_size), near));
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    HX_TRY_FAIL(hx_bins_create(&bins, mesh, radius));
    for (int64_t f = 0; f < n_face; f++) {
        int32_t node[4];
        int is_near = 0;
        const int n = hx_cell_face(mesh->conn + 8 * (face[f] / 6), (int)(face[f] % 6), node);
        for (int i = 0; i < n; i++) is_near |= near[node[i]];
        if (!is_near) add_face(problem, &bins, face[f], radius, unit, missing);
    }
fail:
    hx_bins_free(&bins);
    free(face);
    free(near);
    return rc;
}

int hx_pad_weights(const hx_problem *problem, double radius, int by_volume, double *missing)
{
    const hx_problem *const whole = hx_problem_whole(problem);
    double *all;
    if (whole->mesh->ownership)
        return HX_RAISE(HX_EINPUT, "the border of a filter that holds a least thickness needs the "
                                   "whole mesh in each process: run one that is not distributed");
    if (whole == problem) return pad_whole(problem, radius, by_volume, missing);
    HX_TRY(hx_alloc_raw(&all, (size_t)whole->mesh->n_elem, sizeof *all, "border of the filter"));
    const int rc = pad_whole(whole, radius, by_volume, all);
    for (int64_t e = 0; rc == HX_OK && e < problem->mesh->n_elem; e++)
        missing[e] = all[problem->whole_elem[e]];
    free(all);
    return rc;
}
