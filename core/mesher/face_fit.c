/* An initial guess from the facets' normals, then Gauss-Newton on the nodes' distances. */
#include "face_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/vec3.h"
#include "../problem/symmetric.h"

enum { MOST_PARAMETERS = 6 };
static const double tolerance = 1e-3; /* relative to the size of the face */

typedef struct facet {
    double normal[3]; /* outward; its length is the area */
    double center[3];
} facet;

typedef struct patch {
    const hx_mesh *mesh;
    const hx_set *set;
    int is_smooth; /* one face of a CAD model, however coarse its mesh */
    int64_t n;
    facet *facet;     /* [n] (owned) */
    double center[3]; /* weighted by area */
    double mean[3];   /* of the nodes */
    double size;      /* diagonal of the nodes' bounding box */
    double area;
    double normal[3];                          /* sum over the facets */
    double covariance[3][3], about_mean[3][3]; /* of unit normals, weighted by area */
} patch;

static void sum_facets(patch *p)
{
    for (int64_t i = 0; i < p->n; i++) {
        int32_t node[4];
        const int64_t face = p->set->face[i];
        const int n = hx_cell_face(p->mesh->conn + 8 * (face / 6), (int)(face % 6), node);
        facet *const f = &p->facet[i];
        memset(f, 0, sizeof *f);
        for (int k = 0; k < n; k++)
            for (int c = 0; c < 3; c++) f->center[c] += p->mesh->xyz[3 * (size_t)node[k] + c] / n;
        for (int k = 1; k + 1 < n; k++) {
            double u[3], v[3], w[3];
            for (int c = 0; c < 3; c++) {
                const double origin = p->mesh->xyz[3 * (size_t)node[0] + c];
                u[c] = p->mesh->xyz[3 * (size_t)node[k] + c] - origin;
                v[c] = p->mesh->xyz[3 * (size_t)node[k + 1] + c] - origin;
            }
            hx_cross3(u, v, w);
            for (int c = 0; c < 3; c++) f->normal[c] += 0.5 * w[c];
        }
        const double area = hx_norm3(p->facet[i].normal);
        p->area += area;
        for (int c = 0; c < 3; c++) {
            p->normal[c] += p->facet[i].normal[c];
            p->center[c] += area * p->facet[i].center[c];
        }
    }
    for (int c = 0; c < 3 && p->area > 0.0; c++) p->center[c] /= p->area;
    for (int64_t i = 0; i < p->n; i++) {
        const double *const n = p->facet[i].normal;
        const double area = hx_norm3(n);
        if (!(area > 0.0)) continue;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                p->covariance[a][b] += n[a] * n[b] / area;
                p->about_mean[a][b] += n[a] * n[b] / area;
            }
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) p->about_mean[a][b] -= p->normal[a] * p->normal[b] / p->area;
}

static const double *node_of(const patch *p, int64_t i)
{
    return p->mesh->xyz + 3 * (size_t)p->set->node[i];
}

static void measure_nodes(patch *p)
{
    double low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
        for (int64_t i = 0; i < p->set->n_node; i++) {
            const double x = node_of(p, i)[c];
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
            p->mean[c] += x / (double)p->set->n_node;
        }
        p->size += (high[c] - low[c]) * (high[c] - low[c]);
    }
    p->size = sqrt(p->size);
}

/* --- surfaces: how far a point is from one --- */

/* Cylinder: a, b (axis = w + a u + b v), x, y (it passes through center + x u + y v), radius. Cone:
 * the same without radius, then the half angle; its apex is at height `h` along the axis: center +
 * x u + y v + h axis. Sphere: center, radius. */
typedef struct frame {
    double origin[3], u[3], v[3], w[3];
    double scale;
} frame;

typedef double (*distance_to)(const frame *f, const double *q, const double *x);

static void axis_of(const frame *f, const double *q, double axis[3])
{
    for (int c = 0; c < 3; c++) axis[c] = f->w[c] + q[0] * f->u[c] + q[1] * f->v[c];
    const double length = hx_norm3(axis);
    for (int c = 0; c < 3; c++) axis[c] /= length;
}

/* Distance from the axis and height along it. */
static void place_by_axis(const frame *f, const double *q, const double *x, double *radius,
                          double *height)
{
    double axis[3], d[3];
    axis_of(f, q, axis);
    for (int c = 0; c < 3; c++)
        d[c] = x[c] - f->origin[c] - f->scale * (q[2] * f->u[c] + q[3] * f->v[c]);
    *height = hx_dot3(d, axis);
    for (int c = 0; c < 3; c++) d[c] -= *height * axis[c];
    *radius = hx_norm3(d);
}

static double to_cylinder(const frame *f, const double *q, const double *x)
{
    double radius, height;
    place_by_axis(f, q, x, &radius, &height);
    return radius - f->scale * q[4];
}

static double to_cone(const frame *f, const double *q, const double *x)
{
    double radius, height;
    place_by_axis(f, q, x, &radius, &height);
    return radius * cos(q[5]) - fabs(height - f->scale * q[4]) * sin(q[5]);
}

static double to_sphere(const frame *f, const double *q, const double *x)
{
    double d[3];
    for (int c = 0; c < 3; c++) d[c] = x[c] - f->origin[c] - f->scale * q[c];
    return hx_norm3(d) - f->scale * q[3];
}

static double worst_distance(const patch *p, distance_to distance, const frame *f, const double *q)
{
    double worst = 0.0;
    for (int64_t i = 0; i < p->set->n_node; i++) {
        const double d = fabs(distance(f, q, node_of(p, i)));
        if (!(d <= worst)) worst = isnan(d) ? INFINITY : d;
    }
    return worst;
}

/* x = a^-1 b for symmetric a, with a slightly increased diagonal; 0: singular. */
static int solve_small(int n, double a[MOST_PARAMETERS][MOST_PARAMETERS], double *b)
{
    for (int i = 0; i < n; i++) a[i][i] *= 1.0 + 1e-12;
    for (int i = 0; i < n; i++) {
        if (!(a[i][i] > 0.0)) return 0;
        for (int r = i + 1; r < n; r++) {
            const double factor = a[r][i] / a[i][i];
            for (int c = i; c < n; c++) a[r][c] -= factor * a[i][c];
            b[r] -= factor * b[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int c = i + 1; c < n; c++) b[i] -= a[i][c] * b[c];
        b[i] /= a[i][i];
    }
    return 1;
}

/* Gauss-Newton starting from q; the parameters are of order 1. */
static void refine(const patch *p, distance_to distance, const frame *f, int n, double *q)
{
    enum { MOST_STEPS = 12 };
    const double step = 1e-6;
    for (int iteration = 0; iteration < MOST_STEPS; iteration++) {
        double a[MOST_PARAMETERS][MOST_PARAMETERS] = {{0}}, b[MOST_PARAMETERS] = {0}, moved = 0.0;
        for (int64_t i = 0; i < p->set->n_node; i++) {
            const double *const x = node_of(p, i);
            double slope[MOST_PARAMETERS], d = distance(f, q, x);
            for (int k = 0; k < n; k++) {
                const double old = q[k];
                q[k] = old + step;
                slope[k] = distance(f, q, x);
                q[k] = old - step;
                slope[k] = (slope[k] - distance(f, q, x)) / (2.0 * step);
                q[k] = old;
            }
            for (int k = 0; k < n; k++) {
                b[k] -= slope[k] * d;
                for (int m = 0; m < n; m++) a[k][m] += slope[k] * slope[m];
            }
        }
        if (!solve_small(n, a, b)) return;
        for (int k = 0; k < n; k++) {
            q[k] += b[k];
            moved = fmax(moved, fabs(b[k]));
        }
        if (!(moved > 1e-11)) return;
    }
}

/* --- whether the facets lie along the surface, as their nodes do --- */

/* Normal of the surface through x: the gradient of the distance. 0: undefined, as on an axis. */
static int surface_normal(distance_to distance, const frame *f, const double *q, const double *x,
                          double normal[3])
{
    const double step = 1e-6 * f->scale;
    for (int c = 0; c < 3; c++) {
        double at[3] = {x[0], x[1], x[2]};
        at[c] = x[c] + step;
        normal[c] = distance(f, q, at);
        at[c] = x[c] - step;
        normal[c] = (normal[c] - distance(f, q, at)) / (2.0 * step);
    }
    const double length = hx_norm3(normal);
    for (int c = 0; c < 3; c++) normal[c] /= length;
    return length > 0.5;
}

/* Direction to x from the axis or, for a sphere, from the centre; 0: undefined. */
static int outward(distance_to distance, const frame *f, const double *q, const double *x,
                   double radial[3])
{
    const int is_sphere = distance == to_sphere;
    double axis[3] = {0.0, 0.0, 0.0};
    for (int c = 0; c < 3; c++)
        radial[c] =
            x[c] - f->origin[c] - f->scale * (is_sphere ? q[c] : q[2] * f->u[c] + q[3] * f->v[c]);
    if (!is_sphere) axis_of(f, q, axis);
    const double height = hx_dot3(radial, axis);
    for (int c = 0; c < 3; c++) radial[c] -= height * axis[c];
    const double length = hx_norm3(radial);
    for (int c = 0; c < 3; c++) radial[c] /= length;
    return length > tolerance * f->scale;
}

/* Returns 1 if no edge of the facet turns about the axis by more than an edge of a heptagon does,
 * which is the coarsest circle that gmsh makes. The flat sides of a hexagonal bar turn by more. */
static int turns_little(const patch *p, int64_t i, distance_to distance, const frame *f,
                        const double *q)
{
    static const double most = 0.615; /* cosine of 52 degrees */
    int32_t node[4];
    double radial[4][3];
    int has[4];
    const int64_t face = p->set->face[i];
    const int n = hx_cell_face(p->mesh->conn + 8 * (face / 6), (int)(face % 6), node);
    for (int k = 0; k < n; k++)
        has[k] = outward(distance, f, q, p->mesh->xyz + 3 * (size_t)node[k], radial[k]);
    for (int k = 0; k < n; k++) {
        const int next = (k + 1) % n;
        if (has[k] && has[next] && hx_dot3(radial[k], radial[next]) < most) return 0;
    }
    return 1;
}

/* Nodes alone do not determine a surface: the corners of a cube lie on a cylinder and on a sphere.
 * So the facets must have the surface's normal, within the accuracy of a coarse mesh. Slivers that
 * together have a thousandth of the area are ignored. */
static int has_normals(const patch *p, distance_to distance, const frame *f, const double *q)
{
    const double least = p->is_smooth ? 0.5 : 0.866; /* cosine of 60 or 30 degrees */
    double astray = 0.0;
    for (int64_t i = 0; i < p->n; i++) {
        double normal[3];
        const double area = hx_norm3(p->facet[i].normal);
        if (surface_normal(distance, f, q, p->facet[i].center, normal) &&
            fabs(hx_dot3(normal, p->facet[i].normal)) >= least * area &&
            (p->is_smooth || turns_little(p, i, distance, f, q)))
            continue;
        astray += area;
    }
    return astray <= tolerance * p->area;
}

/* --- the kinds --- */

static int fit_plane(const patch *p, hx_face_shape *shape)
{
    double normal[3], worst = 0.0;
    const double length = hx_norm3(p->normal);
    if (!(length > 0.5 * p->area)) return 0;
    for (int c = 0; c < 3; c++) normal[c] = p->normal[c] / length;
    for (int64_t i = 0; i < p->set->n_node; i++) {
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = node_of(p, i)[c] - p->center[c];
        worst = fmax(worst, fabs(hx_dot3(d, normal)));
    }
    if (!(worst <= 0.1 * tolerance * p->size)) return 0;
    memcpy(shape->axis, normal, sizeof normal);
    return 1;
}

/* w is the eigenvector of the least eigenvalue. */
static void make_frame(const patch *p, const double matrix[3][3], frame *f)
{
    double a[3][3], value[3], vector[3][3];
    memcpy(a, matrix, sizeof a);
    hx_symmetric3_eigen(a, value, vector);
    memcpy(f->w, vector[0], sizeof f->w);
    memcpy(f->u, vector[1], sizeof f->u);
    memcpy(f->v, vector[2], sizeof f->v);
    memcpy(f->origin, p->mean, sizeof f->origin);
    f->scale = p->size;
}

/* Circle through the nodes in the plane of u and v, by least squares of x^2 + y^2. */
static int guess_circle(const patch *p, const frame *f, double circle[3])
{
    double a[MOST_PARAMETERS][MOST_PARAMETERS] = {{0}}, b[MOST_PARAMETERS] = {0};
    for (int64_t i = 0; i < p->set->n_node; i++) {
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = (node_of(p, i)[c] - f->origin[c]) / f->scale;
        const double row[3] = {hx_dot3(d, f->u), hx_dot3(d, f->v), 1.0};
        const double square = row[0] * row[0] + row[1] * row[1];
        for (int k = 0; k < 3; k++) {
            b[k] += row[k] * square;
            for (int m = 0; m < 3; m++) a[k][m] += row[k] * row[m];
        }
    }
    if (!solve_small(3, a, b)) return 0;
    circle[0] = 0.5 * b[0];
    circle[1] = 0.5 * b[1];
    circle[2] = sqrt(b[2] + circle[0] * circle[0] + circle[1] * circle[1]);
    return isfinite(circle[2]) && circle[2] < 1e3;
}

/* For cylinder and cone, sets the center to the point of the axis nearest to the centroid. */
static void set_axis(const patch *p, const frame *f, const double *q, hx_face_shape *shape)
{
    double d[3], height;
    axis_of(f, q, shape->axis);
    int largest = 0;
    for (int c = 1; c < 3; c++)
        if (fabs(shape->axis[c]) > fabs(shape->axis[largest]) + 1e-9) largest = c;
    const double sign = shape->axis[largest] < 0.0 ? -1.0 : 1.0;
    for (int c = 0; c < 3; c++) shape->axis[c] *= sign;
    for (int c = 0; c < 3; c++) {
        shape->center[c] = f->origin[c] + f->scale * (q[2] * f->u[c] + q[3] * f->v[c]);
        d[c] = p->center[c] - shape->center[c];
    }
    height = hx_dot3(d, shape->axis);
    for (int c = 0; c < 3; c++) shape->center[c] += height * shape->axis[c];
}

static int fit_cylinder(const patch *p, hx_face_shape *shape)
{
    frame f;
    double q[MOST_PARAMETERS] = {0};
    make_frame(p, p->covariance, &f);
    if (!guess_circle(p, &f, &q[2])) return 0;
    refine(p, to_cylinder, &f, 5, q);
    if (!(worst_distance(p, to_cylinder, &f, q) <= tolerance * p->size) || !(q[4] < 50.0)) return 0;
    if (!has_normals(p, to_cylinder, &f, q)) return 0;
    set_axis(p, &f, q, shape);
    shape->radius = f.scale * q[4];
    return 1;
}

/* The apex lies on the planes of all facets. */
static int fit_cone(const patch *p, hx_face_shape *shape)
{
    frame f;
    double q[MOST_PARAMETERS] = {0}, a[MOST_PARAMETERS][MOST_PARAMETERS] = {{0}};
    double b[MOST_PARAMETERS] = {0}, tilt = 0.0, to[3], radius, height;
    make_frame(p, p->about_mean, &f);
    for (int64_t i = 0; i < p->n; i++) {
        const double *const n = p->facet[i].normal;
        double d[3];
        for (int c = 0; c < 3; c++) d[c] = (p->facet[i].center[c] - f.origin[c]) / f.scale;
        for (int k = 0; k < 3; k++) {
            b[k] += n[k] * hx_dot3(n, d);
            for (int m = 0; m < 3; m++) a[k][m] += n[k] * n[m];
        }
        tilt += fabs(hx_dot3(n, f.w)) / p->area;
    }
    if (!solve_small(3, a, b) || !(hx_norm3(b) < 1e3)) return 0;
    q[2] = hx_dot3(b, f.u);
    q[3] = hx_dot3(b, f.v);
    q[4] = hx_dot3(b, f.w);
    q[5] = asin(fmin(1.0, tilt));
    refine(p, to_cone, &f, 6, q);
    if (!(worst_distance(p, to_cone, &f, q) <= tolerance * p->size)) return 0;
    if (!(fabs(sin(q[5])) > 1e-3 && fabs(cos(q[5])) > 1e-3)) return 0;
    if (!has_normals(p, to_cone, &f, q)) return 0;
    set_axis(p, &f, q, shape);
    for (int c = 0; c < 3; c++) to[c] = shape->center[c];
    place_by_axis(&f, q, to, &radius, &height);
    shape->radius = fabs(height - f.scale * q[4]) * fabs(tan(q[5]));
    return 1;
}

static int fit_sphere(const patch *p, hx_face_shape *shape)
{
    frame f = {.scale = p->size};
    double q[MOST_PARAMETERS] = {0}, a[MOST_PARAMETERS][MOST_PARAMETERS] = {{0}};
    double b[MOST_PARAMETERS] = {0};
    memcpy(f.origin, p->mean, sizeof f.origin);
    for (int64_t i = 0; i < p->set->n_node; i++) {
        double row[4] = {0.0, 0.0, 0.0, 1.0};
        for (int c = 0; c < 3; c++) row[c] = (node_of(p, i)[c] - f.origin[c]) / f.scale;
        const double square = hx_dot3(row, row);
        for (int k = 0; k < 4; k++) {
            b[k] += row[k] * square;
            for (int m = 0; m < 4; m++) a[k][m] += row[k] * row[m];
        }
    }
    if (!solve_small(4, a, b)) return 0;
    for (int c = 0; c < 3; c++) q[c] = 0.5 * b[c];
    q[3] = sqrt(b[3] + hx_dot3(q, q));
    if (!isfinite(q[3]) || !(q[3] < 50.0)) return 0;
    refine(p, to_sphere, &f, 4, q);
    if (!(worst_distance(p, to_sphere, &f, q) <= tolerance * p->size)) return 0;
    if (!has_normals(p, to_sphere, &f, q)) return 0;
    for (int c = 0; c < 3; c++) shape->center[c] = f.origin[c] + f.scale * q[c];
    shape->radius = f.scale * q[3];
    return 1;
}

static int is_between(const patch *p)
{
    for (int64_t i = 0; i < p->n; i++)
        if (hx_mesh_face_is_inner(p->mesh, p->set->face[i])) return 1;
    return 0;
}

static int fit_faces(const hx_mesh *mesh, const hx_set *set, int is_smooth, hx_face_shape *shape)
{
    patch p = {.mesh = mesh, .set = set, .n = set->n_face, .is_smooth = is_smooth};
    memset(shape, 0, sizeof *shape);
    shape->kind = HX_FACE_OTHER;
    if (set->n_face == 0) return HX_OK;
    HX_TRY(hx_alloc(&p.facet, (size_t)p.n, sizeof *p.facet, "facets"));
    sum_facets(&p);
    measure_nodes(&p);
    shape->area = p.area;
    memcpy(shape->center, p.center, sizeof p.center);
    shape->is_inner = is_between(&p);
    static int (*const fit[])(const patch *, hx_face_shape *) = {fit_plane, fit_cylinder, fit_cone,
                                                                 fit_sphere};
    static const hx_face_kind order[] = {HX_FACE_PLANE, HX_FACE_CYLINDER, HX_FACE_SPHERE,
                                         HX_FACE_CONE};
    for (size_t i = 0; i < sizeof order / sizeof order[0] && shape->kind == HX_FACE_OTHER; i++)
        if (fit[order[i]](&p, shape)) shape->kind = order[i];
    /* The outward normals point to the axis or the centre. */
    if (shape->kind != HX_FACE_PLANE && shape->kind != HX_FACE_OTHER) {
        double sum = 0.0;
        for (int64_t i = 0; i < p.n; i++) {
            double d[3];
            for (int c = 0; c < 3; c++) d[c] = p.facet[i].center[c] - shape->center[c];
            const double height = hx_dot3(d, shape->axis);
            for (int c = 0; c < 3; c++) d[c] -= height * shape->axis[c];
            sum += hx_dot3(d, p.facet[i].normal);
        }
        shape->is_hollow = sum < 0.0;
    }
    free(p.facet);
    return HX_OK;
}

int hx_face_fit(const hx_mesh *mesh, const hx_set *set, hx_face_shape *shape)
{
    return fit_faces(mesh, set, 0, shape);
}

int hx_face_fit_smooth(const hx_mesh *mesh, const hx_set *set, hx_face_shape *shape)
{
    return fit_faces(mesh, set, 1, shape);
}

const char *hx_face_kind_name(const hx_face_shape *shape)
{
    static const char *const name[HX_N_FACE_KIND][2] = {
        {"plane", "plane"},      {"cylinder", "hollow cylinder"},
        {"cone", "hollow cone"}, {"sphere", "hollow sphere"},
        {"other", "other"},
    };
    return name[shape->kind][shape->is_hollow != 0];
}
