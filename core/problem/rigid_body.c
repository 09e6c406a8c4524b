/* Rigid motions of one body: which of them the components that are held leave free. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/vec3.h"
#include "../mesh/cell.h"
#include "rigid_body.h"
#include "symmetric.h"

/* A rotation is free if it moves no held component by more than these shares of the angle times
 * half the body's length, and of the angle times the shortest edge at a held point. The first is
 * what coordinates of few digits are off a line; by it only, a clamped end of a slender part would
 * count as a point. */
static const double free_of_size = 1e-5, free_of_edge = 1e-3;

static void body_centre(const hx_rigid_body *body, double centre[3], double *size)
{
    *size = 0.0;
    for (int i = 0; i < 3; i++) {
        centre[i] = 0.5 * (body->lower[i] + body->upper[i]);
        *size = fmax(*size, 0.5 * (body->upper[i] - body->lower[i]));
    }
}

/* --- passes --- */

static void distance(const hx_rigid_body *body, const double *x, double d[3])
{
    double centre[3], size;
    body_centre(body, centre, &size);
    for (int c = 0; c < 3; c++) d[c] = x[c] - centre[c];
}

/* Coefficients of omega in component i of the motion at x, about the mean of that component. */
static void turn_at(const hx_rigid_body *body, const double *x, int i, double row[3])
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    double d[3];
    distance(body, x, d);
    row[i] = 0.0;
    row[j] = d[k] - body->mean[i][k]; /* (omega x d)_i = omega_j d_k - omega_k d_j */
    row[k] = body->mean[i][j] - d[j];
}

void hx_rigid_body_held_row(const hx_rigid_body *body, const double *x, int i, double row[3])
{
    double centre[3], size;
    if (i < 3) {
        turn_at(body, x, i, row);
        return;
    }
    body_centre(body, centre, &size);
    memset(row, 0, 3 * sizeof *row);
    row[i - 3] = size;
}

void hx_rigid_body_count(const hx_mesh *mesh, int64_t near, const double *x, int i,
                         hx_rigid_body *body)
{
    (void)mesh, (void)near;
    body->n_fixed++;
    if (i >= 3) return;
    double d[3];
    distance(body, x, d);
    body->n_held[i] += 1.0;
    for (int c = 0; c < 3; c++) body->mean[i][c] += d[c];
}

void hx_rigid_body_finish_count(hx_rigid_body *body)
{
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3 && body->n_held[i] > 0.0; c++) body->mean[i][c] /= body->n_held[i];
}

void hx_rigid_body_spread(const hx_mesh *mesh, int64_t near, const double *x, int i,
                          hx_rigid_body *body)
{
    double row[3];
    (void)mesh, (void)near;
    hx_rigid_body_held_row(body, x, i, row);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) body->spread[r][c] += row[r] * row[c];
}

void hx_rigid_body_finish_spread(hx_rigid_body *body)
{
    double a[3][3], value[3];
    memcpy(a, body->spread, sizeof a);
    hx_symmetric3_eigen(a, value, body->turn);
    body->edge = INFINITY;
}

void hx_rigid_body_reach(const hx_mesh *mesh, int64_t near, const double *x, int i,
                         hx_rigid_body *body)
{
    double row[3];
    (void)mesh, (void)near;
    hx_rigid_body_held_row(body, x, i, row);
    for (int k = 0; k < 3; k++) {
        const double moved = hx_dot3(row, body->turn[k]);
        body->sum[k] += moved * moved;
        body->reach[k] = fmax(body->reach[k], fabs(moved));
    }
}

void hx_rigid_body_edge(const hx_mesh *mesh, int64_t near, const double *x, int i,
                        hx_rigid_body *body)
{
    (void)x, (void)i;
    if (!mesh->node_elem_ptr || !hx_rigid_body_needs_edge(body)) return;
    for (int64_t p = mesh->node_elem_ptr[near]; p < mesh->node_elem_ptr[near + 1]; p++) {
        int32_t edge[12][2];
        const int n = hx_cell_edges(mesh->conn + 8 * (size_t)(mesh->node_elem[p] / 8), edge);
        for (int e = 0; e < n; e++) {
            double d[3];
            if (edge[e][0] != near && edge[e][1] != near) continue;
            for (int c = 0; c < 3; c++)
                d[c] =
                    mesh->xyz[3 * (size_t)edge[e][1] + c] - mesh->xyz[3 * (size_t)edge[e][0] + c];
            body->edge = fmin(body->edge, hx_norm3(d));
        }
    }
}

/* --- the verdict --- */

/* Coordinates are known to that. */
static double rounding_of(const hx_rigid_body *body)
{
    double most = 0.0;
    for (int c = 0; c < 3; c++) {
        most = fmax(most, fmax(fabs(body->lower[c]), fabs(body->upper[c])));
        for (int i = 0; i < 3; i++) most = fmax(most, fabs(body->mean[i][c]));
    }
    return 16.0 * DBL_EPSILON * most;
}

int hx_rigid_body_needs_edge(const hx_rigid_body *body)
{
    double centre[3], size;
    const double rounding = rounding_of(body);
    body_centre(body, centre, &size);
    for (int k = 0; k < 3; k++)
        if (body->reach[k] > rounding && body->reach[k] <= free_of_size * size) return 1;
    return 0;
}

int hx_rigid_body_holds_turn(const hx_rigid_body *body, int k)
{
    double centre[3], size;
    body_centre(body, centre, &size);
    return body->reach[k] >
           fmax(rounding_of(body), fmin(free_of_size * size, free_of_edge * body->edge));
}

/* The rotation about turn[k] that leaves the centres of held components where they are. */
static void free_turn(const hx_rigid_body *body, int k, double motion[6])
{
    double centre[3], size, square = 0.0;
    const double *const w = body->turn[k];
    body_centre(body, centre, &size);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        motion[i] = w[l] * body->mean[i][j] - w[j] * body->mean[i][l];
        motion[3 + i] = w[i] * size;
    }
    for (int c = 0; c < 6; c++) square += motion[c] * motion[c];
    for (int c = 0; c < 6 && square > 0.0; c++) motion[c] /= sqrt(square);
}

void hx_rigid_body_finish(hx_rigid_body *body)
{
    body->n_free = 0;
    for (int i = 0; i < 3; i++) {
        if (body->n_held[i] > 0.0) continue;
        memset(body->free[body->n_free], 0, sizeof body->free[0]);
        body->free[body->n_free++][i] = 1.0;
    }
    for (int k = 0; k < 3; k++)
        if (!hx_rigid_body_holds_turn(body, k)) free_turn(body, k, body->free[body->n_free++]);
}

static void describe_direction(const double d[3], char *text, size_t n_text)
{
    const double length = hx_norm3(d);
    for (int i = 0; i < 3; i++)
        if (fabs(d[i]) > 0.999 * length) {
            snprintf(text, n_text, "%c", "xyz"[i]);
            return;
        }
    snprintf(text, n_text, "(%.3g, %.3g, %.3g)", d[0] / length, d[1] / length, d[2] / length);
}

void hx_rigid_body_describe(const hx_rigid_body *body, const double motion[6], char *text,
                            size_t n_text)
{
    double centre[3], size;
    char direction[64];
    const double *t = motion, *w = motion + 3;
    const double ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    body_centre(body, centre, &size);
    if (ww < 1e-8) {
        describe_direction(t, direction, sizeof direction);
        snprintf(text, n_text, "translation along %s", direction);
        return;
    }
    describe_direction(w, direction, sizeof direction);
    double point[3];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        point[i] = centre[i] + size * (w[j] * t[k] - w[k] * t[j]) / ww;
        if (fabs(point[i]) < 1e-9 * size) point[i] = 0.0; /* rounding */
    }
    snprintf(text, n_text, "rotation about an axis along %s through (%.6g, %.6g, %.6g)", direction,
             point[0], point[1], point[2]);
}

/* --- loads --- */

void hx_rigid_body_add_work(const hx_rigid_body *body, const double *x, const double *force,
                            double work[6])
{
    for (int i = 0; i < 3; i++) {
        double phi[6];
        /* Component i of the six motions at x: translations, then rotations about x, y, z. */
        double centre[3], size;
        body_centre(body, centre, &size);
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        memset(phi, 0, 6 * sizeof *phi);
        phi[i] = 1.0;
        phi[3 + j] = (x[k] - centre[k]) / size; /* (omega x d)_i = omega_j d_k - omega_k d_j */
        phi[3 + k] = -(x[j] - centre[j]) / size;
        for (int r = 0; r < 6; r++) work[r] += phi[r] * force[i];
    }
}

int hx_rigid_body_is_driven(const hx_rigid_body *body, const double work[6], double size)
{
    static const double rounding = 1e-6; /* of coordinates in files, too */
    for (int i = 0; i < body->n_free; i++) {
        double sum = 0.0;
        for (int k = 0; k < 6; k++) sum += body->free[i][k] * work[k];
        if (fabs(sum) > rounding * size) return 1;
    }
    return 0;
}
