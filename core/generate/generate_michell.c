/* The Michell plate (example MC of P1): 50 x 40 with a semicircular notch in the left side, meshed
 * by eight mapped blocks.
 *
 *   D-----T---------------C
 *   |  7  |       8       |
 *   G'--__|               |
 *   F_ 6  Q---------------|
 *     q-. |               |
 *       2 |       5       |
 *     p-' |               |
 *   E- 1  P---------------|
 *   G--'' |               |
 *   |  3  |       4       |
 *   A-----B0--------------B
 *
 * The notch E p q F is the half circle about (0, 20). P and Q, where five edges meet, lie off the
 * arc. Numbers of elements: a on E-p, q-F and A-B0; m on p-q, P-Q and the right side between their
 * lines; r from the notch outwards; b below P and above Q; l from P to the right side. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "generate.h"
#include "generate_internal.h"
#include "quad_blocks.h"

static const double length = 50.0, height = 40.0, thickness = 0.8, radius = 10.0;

/* Numbers of elements as fractions of nx, angle (from the x axis) and distance (in radii) of P, and
 * bulges of the curves P-Q and G-P. They minimise the spread of edge lengths and the skewness of
 * the map: edges are 0.72 to 1.10 of the mean step, and the sine of the angles exceeds 0.94. */
static const double share_a = 0.2540, share_m = 0.4275, share_r = 0.0888, share_b = 0.1989;
static const double angle_p = 0.718, distance_p = 1.478, bulge_pq = 0.513, bulge_gp = 0.492;

typedef struct counts {
    int a, m, r, b, l;
} counts;

static int at_least(double n, int least)
{
    const int rounded = (int)lround(n);
    return rounded > least ? rounded : least;
}

/* Returns the counts whose nx is nearest to `steps`. */
static counts counts_for(double steps)
{
    const int nx = at_least(steps, 4);
    counts c;
    c.a = at_least(share_a * steps, 1);
    c.m = 2 * at_least(share_m * steps / 2.0, 1); /* even, so that the load is on a mesh line */
    c.r = at_least(share_r * steps, 1);
    c.b = at_least(share_b * steps, 1);
    c.l = nx - c.a;
    return c;
}

static double n_quad(double h, const void *context)
{
    (void)context;
    const counts c = counts_for(length / h);
    return 2.0 * c.r * c.a + (double)c.m * c.r + 2.0 * c.b * (c.a + c.l) + (double)c.m * c.l;
}

static hx_curve straight(double x0, double z0, double x1, double z1)
{
    const hx_curve curve = {{x0, z0}, {x1, z1}, {0.0, 0.0}, 0.0};
    return curve;
}

static hx_curve bulged(double x0, double z0, double x1, double z1, double bulge)
{
    const hx_curve curve = {{x0, z0}, {x1, z1}, {0.0, height / 2.0}, bulge};
    return curve;
}

static hx_side whole(const hx_curve *curve)
{
    const hx_side side = {curve, 0.0, 1.0};
    return side;
}

static hx_side reversed(const hx_curve *curve)
{
    const hx_side side = {curve, 1.0, 0.0};
    return side;
}

static int add_blocks(hx_quads *q, const counts *c)
{
    const double mid = height / 2.0, top = height, right = length;
    const double ax = radius * cos(angle_p), az = radius * sin(angle_p);
    const double px = distance_p * ax, pz = distance_p * az;
    const double gz = (mid - radius) * c->b / (c->b + c->r); /* equal steps along the outline */
    const double bx = right * c->a / (c->a + c->l), rz = top * c->b / (2 * c->b + c->m);
    /* lower half, middle, and the upper half as the mirror image of the lower one */
    const hx_curve ab = straight(0, 0, bx, 0), bb = straight(bx, 0, right, 0);
    const hx_curve ag = straight(0, 0, 0, gz), bp = straight(bx, 0, px, mid - pz);
    const hx_curve br = straight(right, 0, right, rz), pr = straight(px, mid - pz, right, rz);
    const hx_curve gp = bulged(0, gz, px, mid - pz, bulge_gp),
                   ge = straight(0, gz, 0, mid - radius);
    const hx_curve pp = straight(px, mid - pz, ax, mid - az);
    const hx_curve arc1 = bulged(0, mid - radius, ax, mid - az, 1.0);
    const hx_curve arc2 = bulged(ax, mid - az, ax, mid + az, 1.0);
    const hx_curve pq = bulged(px, mid - pz, px, mid + pz, bulge_pq);
    const hx_curve rr = straight(right, rz, right, top - rz);
    const hx_curve arc3 = bulged(ax, mid + az, 0, mid + radius, 1.0);
    const hx_curve qq = straight(px, mid + pz, ax, mid + az);
    const hx_curve qg = bulged(px, mid + pz, 0, top - gz, bulge_gp);
    const hx_curve gf = straight(0, top - gz, 0, mid + radius);
    const hx_curve qr = straight(px, mid + pz, right, top - rz);
    const hx_curve qt = straight(px, mid + pz, bx, top), rc = straight(right, top - rz, right, top);
    const hx_curve gd = straight(0, top - gz, 0, top);
    const hx_curve dt = straight(0, top, bx, top), tc = straight(bx, top, right, top);
    HX_TRY(hx_quads_add_block(q, c->a, c->r, whole(&gp), whole(&arc1), whole(&ge), whole(&pp)));
    HX_TRY(hx_quads_add_block(q, c->m, c->r, whole(&pq), whole(&arc2), whole(&pp), whole(&qq)));
    HX_TRY(hx_quads_add_block(q, c->a, c->b, whole(&ab), whole(&gp), whole(&ag), whole(&bp)));
    HX_TRY(hx_quads_add_block(q, c->l, c->b, whole(&bb), whole(&pr), whole(&bp), whole(&br)));
    HX_TRY(hx_quads_add_block(q, c->l, c->m, whole(&pr), whole(&qr), whole(&pq), whole(&rr)));
    HX_TRY(hx_quads_add_block(q, c->a, c->r, whole(&qg), whole(&arc3), whole(&qq), whole(&gf)));
    HX_TRY(hx_quads_add_block(q, c->a, c->b, reversed(&qg), whole(&dt), whole(&gd), whole(&qt)));
    HX_TRY(hx_quads_add_block(q, c->l, c->b, whole(&qr), whole(&tc), whole(&qt), whole(&rc)));
    return hx_quads_weld(q, 1e-9 * length);
}

enum { SET_NOTCH, SET_LOAD, SET_LEFT, SET_RIGHT, SET_BOTTOM, SET_TOP, N_SET };

static int is_in_set(int set, const double xz[2])
{
    const double tol = 1e-9 * length, x = xz[0], z = xz[1];
    switch (set) {
    case SET_NOTCH:
        return hypot(x, z - height / 2.0) < radius + tol;
    case SET_LOAD:
        return x > length - tol && fabs(z - height / 2.0) < tol;
    case SET_LEFT:
        return x < tol;
    case SET_RIGHT:
        return x > length - tol;
    case SET_BOTTOM:
        return z < tol;
    default:
        return z > height - tol;
    }
}

static int choose_michell(const hx_generate_params *params, counts *c, int *n_layer)
{
    /* Table 1 of P1 and the text below it */
    static const double n_elem[6] = {0, 38148, 85674, 183432, 453175, 1170894};
    static const int layers[6] = {0, 3, 3, 4, 5, 6};
    const double pi = 3.14159265358979323846;
    double h = 0.0;
    HX_TRY(hx_generate_check("michell", params));
    if (params->nz > 0)
        return HX_RAISE(
            HX_EINPUT,
            "michell: nz = %d; the elements along the height follow from nx: leave nz out",
            params->nz);
    if (params->nx > 0 && params->nx < 8)
        return HX_RAISE(HX_EINPUT,
                        "michell: nx = %d is too coarse for a round notch; use at least 8",
                        params->nx);
    if (params->nx > 0) {
        h = length / params->nx;
    } else {
        const double target = n_elem[params->size] / layers[params->size];
        const double area = length * height - pi / 2.0 * radius * radius;
        h = hx_fit_step(n_quad, NULL, sqrt(area / target), target);
    }
    *c = counts_for(length / h);
    *n_layer = params->ny > 0 ? params->ny : layers[params->size];
    if (*n_layer == 0) *n_layer = at_least(thickness / h, 1);
    return hx_generate_check_count("michell", n_quad(h, NULL) * *n_layer, params);
}

static int open_michell(hx_mesh_source *source, const hx_generate_params *params)
{
    static const hx_quads_set set[N_SET] = {
        [SET_NOTCH] = {"notch", is_in_set, 0},   [SET_LOAD] = {"load", is_in_set, 0},
        [SET_LEFT] = {"left", is_in_set, 0},     [SET_RIGHT] = {"right", is_in_set, 0},
        [SET_BOTTOM] = {"bottom", is_in_set, 0}, [SET_TOP] = {"top", is_in_set, 0}};
    int n_layer = 0;
    counts c;
    hx_quads quads = {0};
    memset(source, 0, sizeof *source);
    HX_TRY(choose_michell(params, &c, &n_layer));
    const int rc = add_blocks(&quads, &c);
    if (rc == HX_OK)
        return hx_quads_source(&quads, "michell", n_layer, thickness, N_SET, set, source);
    hx_quads_free(&quads);
    return rc;
}

const hx_generator hx_generator_michell = {
    .name = "michell",
    .help =
        "plate 50 x 40 x 0.8 (x, z, y; z up) with a notch of radius 10 in the middle of its left "
        "side; nx elements along the length, which determine those along the height (no nz), ny "
        "layers (without a size: from the element size); node sets notch (on the arc), load (x = "
        "50, z = 20), left, "
        "right, bottom, top",
    .open = open_michell,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
