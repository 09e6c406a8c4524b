/* The connecting rod (example CR of P1): a plate 150 x 350 with two bores, each within a ring; an
 * O-grid connects the ring with the blocks of the plate.
 *
 * The plate is a frame of 5 x 5 blocks; block (2, 1) is the square around the lower bore, blocks
 * (1..3, 3) that around the upper one. Columns are m, k, n1, k, m elements wide, and rows b, n1, c,
 * n2, t high, where n2 = n1 + 2 k; a quarter of the lower ring has n1 elements, of the upper ring
 * n2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "generate.h"
#include "generate_internal.h"
#include "quad_blocks.h"

static const double pi = 3.14159265358979323846;
static const double width = 150.0, height = 350.0, thickness = 20.0;

enum { LOWER, UPPER, N_BORE };

/* Radii of P1; the lower centre lies 50 above the bottom, the upper one 75 below the top. */
static const double centre[N_BORE][2] = {{75.0, 50.0}, {75.0, 275.0}};
static const double inner[N_BORE] = {17.5, 30.0}, outer[N_BORE] = {25.0, 40.0};

/* The square around a ring: distance of its corners from the centre in outer radii, and bulge of
 * its sides. */
static const double corner_distance = 1.48, corner_bulge = 0.5;

typedef struct counts {
    int nx, column[5], row[5];
    /* around a quarter, across the ring, from ring to square */
    int quarter[N_BORE], ring[N_BORE], between[N_BORE];
} counts;

static int at_least(double n, int least)
{
    const int rounded = (int)lround(n);
    return rounded > least ? rounded : least;
}

/* Returns the counts for steps of length h; nx is the even number nearest to width / h. */
static counts counts_for(double h)
{
    counts c;
    const int nx = 2 * at_least(width / h / 2.0, 4);
    const int n1 = 2 * at_least(0.157 * width / h, 1), k = at_least(0.093 * width / h, 1);
    const int n2 = n1 + 2 * k, m = (nx - n2) / 2;
    const int column[5] = {m, k, n1, k, m};
    const int row[5] = {at_least(25.0 / h, 1), n1, at_least(158.0 / h, 1), n2,
                        at_least(34.0 / h, 1)};
    c.nx = nx;
    memcpy(c.column, column, sizeof column);
    memcpy(c.row, row, sizeof row);
    c.quarter[LOWER] = n1;
    c.quarter[UPPER] = n2;
    for (int bore = 0; bore < N_BORE; bore++) {
        c.ring[bore] = at_least((outer[bore] - inner[bore]) / h, 1);
        c.between[bore] = at_least(0.38 * outer[bore] / h, 1);
    }
    return c;
}

static double n_quad(double h, const void *context)
{
    (void)context;
    const counts c = counts_for(h);
    double n = (double)c.nx * (c.row[0] + c.row[2] + c.row[4]);
    for (int bore = 0; bore < N_BORE; bore++)
        n += (double)c.quarter[bore] * (c.nx - c.quarter[bore]) +
             4.0 * c.quarter[bore] * (c.ring[bore] + c.between[bore]);
    return n;
}

/* Sides of the frame's blocks: across[i][j] from corner (i, j) to (i + 1, j), up[i][j] from (i, j)
 * to (i, j + 1); square[bore][q] are the curves around a bore to which some sides belong. */
typedef struct frame {
    double corner[6][6][2];
    hx_curve line_across[5][6], line_up[6][5];
    hx_curve square[N_BORE][4]; /* right, top, left, bottom: counter-clockwise */
    hx_side across[5][6], up[6][5];
} frame;

static void set_corner(frame *f, int i, int j, double x, double z)
{
    f->corner[i][j][0] = x;
    f->corner[i][j][1] = z;
}

/* Computes the point on the ray from the bore's centre to corner q (0: lower right, then
 * counter-clockwise). */
static void ray_point(int bore, int q, double r, double point[2])
{
    const double a = pi * (q % 4 - 0.5) / 2.0;
    point[0] = centre[bore][0] + r * cos(a);
    point[1] = centre[bore][1] + r * sin(a);
}

static hx_curve arc(int bore, int q, double r, double bulge)
{
    hx_curve curve;
    ray_point(bore, q, r, curve.a);
    ray_point(bore, q + 1, r, curve.b);
    memcpy(curve.centre, centre[bore], sizeof curve.centre);
    curve.bulge = bulge;
    return curve;
}

static void place_corners(frame *f, const counts *c)
{
    double n_row = 0.0, before = 0.0;
    for (int j = 0; j < 5; j++) n_row += c->row[j];
    for (int j = 0; j < 6; j++) { /* equal steps along the outline */
        set_corner(f, 0, j, 0.0, height * before / n_row);
        set_corner(f, 5, j, width, height * before / n_row);
        if (j < 5) before += c->row[j];
    }
    before = 0.0;
    for (int i = 0; i < 6; i++) {
        set_corner(f, i, 0, width * before / c->nx, 0.0);
        set_corner(f, i, 5, width * before / c->nx, height);
        if (i < 5) before += c->column[i];
    }
    for (int bore = 0; bore < N_BORE; bore++) {
        const int left = bore == LOWER ? 2 : 1, right = bore == LOWER ? 3 : 4;
        const int low = bore == LOWER ? 1 : 3;
        const double r = corner_distance * outer[bore];
        ray_point(bore, 0, r, f->corner[right][low]);
        ray_point(bore, 1, r, f->corner[right][low + 1]);
        ray_point(bore, 2, r, f->corner[left][low + 1]);
        ray_point(bore, 3, r, f->corner[left][low]);
        for (int q = 0; q < 4; q++) f->square[bore][q] = arc(bore, q, r, corner_bulge);
    }
    for (int j = 1; j <= 2; j++) { /* left and right of the lower square */
        const double t = (double)c->column[0] / (c->column[0] + c->column[1]);
        for (int d = 0; d < 2; d++) {
            f->corner[1][j][d] = (1.0 - t) * f->corner[0][j][d] + t * f->corner[2][j][d];
            f->corner[4][j][d] = (1.0 - t) * f->corner[5][j][d] + t * f->corner[3][j][d];
        }
    }
    for (int i = 2; i <= 3; i++) { /* on the sides of the upper square */
        const double k = c->column[1], n = c->quarter[UPPER], t = (i == 2 ? k : n - k) / n;
        hx_curve_at(&f->square[UPPER][3], t, f->corner[i][3]);
        hx_curve_at(&f->square[UPPER][1], 1.0 - t, f->corner[i][4]);
    }
}

static hx_side part(const hx_curve *curve, double t0, double t1)
{
    const hx_side side = {curve, t0, t1};
    return side;
}

static hx_curve straight(const double a[2], const double b[2])
{
    const hx_curve curve = {{a[0], a[1]}, {b[0], b[1]}, {0.0, 0.0}, 0.0};
    return curve;
}

static void draw_frame(frame *f, const counts *c)
{
    place_corners(f, c);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            if (i < 5) {
                f->line_across[i][j] = straight(f->corner[i][j], f->corner[i + 1][j]);
                f->across[i][j] = part(&f->line_across[i][j], 0.0, 1.0);
            }
            if (j < 5) {
                f->line_up[i][j] = straight(f->corner[i][j], f->corner[i][j + 1]);
                f->up[i][j] = part(&f->line_up[i][j], 0.0, 1.0);
            }
        }
    const hx_curve *const low = f->square[LOWER], *const high = f->square[UPPER];
    f->up[3][1] = part(&low[0], 0.0, 1.0);
    f->up[2][1] = part(&low[2], 1.0, 0.0);
    f->across[2][1] = part(&low[3], 0.0, 1.0);
    f->across[2][2] = part(&low[1], 1.0, 0.0);
    f->up[4][3] = part(&high[0], 0.0, 1.0);
    f->up[1][3] = part(&high[2], 1.0, 0.0);
    double before = 0.0;
    for (int i = 1; i <= 3; i++) {
        const double t0 = before / c->quarter[UPPER];
        before += c->column[i];
        const double t1 = before / c->quarter[UPPER];
        f->across[i][3] = part(&high[3], t0, t1);
        f->across[i][4] = part(&high[1], 1.0 - t0, 1.0 - t1);
    }
}

static int add_plate(hx_quads *quads, const counts *c, const frame *f)
{
    for (int bore = 0; bore < N_BORE; bore++)
        for (int q = 0; q < 4; q++) {
            const hx_curve *const square = &f->square[bore][q];
            const hx_curve circle = arc(bore, q, outer[bore], 1.0);
            const hx_curve from = straight(square->a, circle.a), to = straight(square->b, circle.b);
            HX_TRY(hx_quads_add_block(quads, c->quarter[bore], c->between[bore],
                                      part(square, 0.0, 1.0), part(&circle, 0.0, 1.0),
                                      part(&from, 0.0, 1.0), part(&to, 0.0, 1.0)));
        }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            if ((i == 2 && j == 1) || (i >= 1 && i <= 3 && j == 3)) continue;
            HX_TRY(hx_quads_add_block(quads, c->column[i], c->row[j], f->across[i][j],
                                      f->across[i][j + 1], f->up[i][j], f->up[i + 1][j]));
        }
    return hx_quads_weld(quads, 1e-9 * width);
}

/* Sets 0 to 3 of nodes: for each bore the whole circle and half of it. */
enum { SET_RINGS = 4, N_SET };

static int is_in_bore(int set, const double xz[2])
{
    const double tol = 1e-9 * width;
    const int bore = set / 2, half = set % 2;
    const double x = xz[0] - centre[bore][0], z = xz[1] - centre[bore][1];
    const int in_half = !half || (bore == LOWER ? z <= tol : z >= -tol);
    return in_half && hypot(x, z) < inner[bore] + tol;
}

/* Returns the number of quadrilaterals in the rings, which are the first blocks. */
static int64_t count_ring_quads(const counts *c)
{
    int64_t n = 0;
    for (int bore = 0; bore < N_BORE; bore++) n += 4 * (int64_t)c->quarter[bore] * c->ring[bore];
    return n;
}

static int choose_conrod(const hx_generate_params *params, counts *c, int *n_layer)
{
    static const double n_elem[6] = {0, 33178, 85376, 182637, 465708, 1033820}; /* Table 1 of P1 */
    const double bores = pi * (inner[LOWER] * inner[LOWER] + inner[UPPER] * inner[UPPER]);
    const double area = width * height - bores;
    double h = 0.0;
    HX_TRY(hx_generate_check("conrod", params));
    const double target = n_elem[params->size];
    if (params->nz > 0)
        return HX_RAISE(
            HX_EINPUT,
            "conrod: nz = %d; the elements along the height follow from nx: leave nz out",
            params->nz);
    if (params->nx > 0 && (params->nx % 2 != 0 || params->nx < 10))
        return HX_RAISE(HX_EINPUT,
                        "conrod: nx = %d must be even and at least 10, so that nodes lie on the "
                        "centre lines of the bores; use %d",
                        params->nx, params->nx < 10 ? 10 : params->nx + 1);
    /* number of layers of a size: elements about as thick as long */
    int paper_layers = 0;
    if (params->size > 0) paper_layers = at_least(thickness / cbrt(area * thickness / target), 1);
    if (params->nx > 0) {
        h = width / params->nx;
    } else {
        h = hx_fit_step(n_quad, NULL, sqrt(area * paper_layers / target), target / paper_layers);
    }
    *n_layer = params->ny > 0 ? params->ny : paper_layers;
    *c = counts_for(h);
    if (*n_layer == 0) *n_layer = at_least(thickness / h, 1);
    return hx_generate_check_count("conrod", n_quad(h, NULL) * *n_layer, params);
}

static int draw(hx_quads *quads, const counts *c)
{
    frame f;
    draw_frame(&f, c);
    /* add the rings before any other block, as the element set "rings" requires */
    for (int bore = 0; bore < N_BORE; bore++)
        for (int q = 0; q < 4; q++) {
            const hx_curve out = arc(bore, q, outer[bore], 1.0);
            const hx_curve in = arc(bore, q, inner[bore], 1.0);
            const hx_curve from = straight(out.a, in.a), to = straight(out.b, in.b);
            HX_TRY(hx_quads_add_block(quads, c->quarter[bore], c->ring[bore], part(&out, 0.0, 1.0),
                                      part(&in, 0.0, 1.0), part(&from, 0.0, 1.0),
                                      part(&to, 0.0, 1.0)));
        }
    return add_plate(quads, c, &f);
}

static int extrude(hx_quads *quads, const counts *c, int n_layer, hx_mesh_source *source)
{
    const hx_quads_set set[N_SET] = {{"lower-bore", is_in_bore, 0},
                                     {"lower-bore-lower-half", is_in_bore, 0},
                                     {"upper-bore", is_in_bore, 0},
                                     {"upper-bore-upper-half", is_in_bore, 0},
                                     [SET_RINGS] = {"rings", NULL, count_ring_quads(c)}};
    return hx_quads_source(quads, "conrod", n_layer, thickness, N_SET, set, source);
}

static int open_conrod(hx_mesh_source *source, const hx_generate_params *params)
{
    int n_layer = 0;
    counts c;
    hx_quads quads = {0};
    memset(source, 0, sizeof *source);
    HX_TRY(choose_conrod(params, &c, &n_layer));
    const int rc = draw(&quads, &c);
    if (rc == HX_OK) return extrude(&quads, &c, n_layer, source);
    hx_quads_free(&quads);
    return rc;
}

const hx_generator hx_generator_conrod = {
    .name = "conrod",
    .help = "plate 150 x 350 x 20 (x, z, y; z up) with bores of diameter 35 at (75, 50) and 60 at "
            "(75, 275); nx (even) elements along the width, which determine those along the "
            "height (no nz), ny layers (default: from the element size); node sets lower-bore, "
            "lower-bore-lower-half, upper-bore, "
            "upper-bore-upper-half; element set rings (out to diameters 50 and 80)",
    .open = open_conrod,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
