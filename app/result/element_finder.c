/* The element of a mesh at a point. */
#include "element_finder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vec3.h"

typedef struct search {
    const hx_element_finder *from;
    const double *x;
    double least; /* least distance beyond an element's faces so far */
    int64_t elem; /* -1: none */
} search;

void hx_element_finder_free(hx_element_finder *f)
{
    hx_point_grid_free(&f->grid);
    free(f->centre);
    memset(f, 0, sizeof *f);
}

int hx_element_finder_create(hx_element_finder *f, const hx_mesh *mesh)
{
    double radius = 0.0;
    f->mesh = mesh;
    HX_TRY(hx_alloc_raw(&f->centre, (size_t)mesh->n_elem, 3 * sizeof *f->centre, "elements"));
#pragma omp parallel for schedule(static) reduction(max : radius)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double *const c = f->centre + 3 * e;
        hx_mesh_centroid(mesh, e, c);
        for (int a = 0; a < 8; a++) {
            const double *const x = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a];
            const double arm[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
            radius = fmax(radius, hx_norm3(arm));
        }
    }
    f->radius = radius;
    return hx_point_grid_create(&f->grid, mesh->n_elem, f->centre);
}

/* Largest distance of x beyond the planes through the faces of an element, with normals from the
 * diagonals; negative inside. */
static double distance_beyond(const hx_element_finder *f, int64_t e, const double x[3])
{
    const double *const centre = f->centre + 3 * e;
    double most = -INFINITY;
    for (int face = 0; face < 6; face++) {
        int32_t node[4];
        const int n = hx_cell_face(f->mesh->conn + 8 * e, face, node);
        if (n < 3) continue;
        const double *p[4];
        double middle[3] = {0.0, 0.0, 0.0}, u[3], v[3], normal[3], out[3], to[3];
        for (int a = 0; a < n; a++) {
            p[a] = f->mesh->xyz + 3 * (int64_t)node[a];
            for (int d = 0; d < 3; d++) middle[d] += p[a][d] / n;
        }
        for (int d = 0; d < 3; d++) {
            u[d] = p[2][d] - p[0][d];
            v[d] = p[n - 1][d] - p[1][d];
            out[d] = middle[d] - centre[d];
            to[d] = x[d] - middle[d];
        }
        hx_cross3(u, v, normal);
        const double side = hx_dot3(normal, out) < 0.0 ? -1.0 : 1.0;
        most = fmax(most, side * hx_dot3(normal, to) / hx_norm3(normal));
    }
    return most;
}

double hx_element_beyond(const hx_element_finder *f, int64_t e, const double x[3])
{
    return distance_beyond(f, e, x);
}

static void visit_element(void *context, int64_t e)
{
    search *const s = context;
    const double distance = distance_beyond(s->from, e, s->x);
    if (!(distance < s->least)) return;
    s->least = distance;
    s->elem = e;
}

int64_t hx_element_find(const hx_element_finder *f, const double x[3])
{
    const int64_t near = hx_point_grid_nearest(&f->grid, x, f->radius);
    search s = {f, x, INFINITY, -1};
    if (near >= 0 && distance_beyond(f, near, x) <= 0.0) return near;
    hx_point_grid_visit(&f->grid, x, f->radius, visit_element, &s);
    return s.elem;
}
