/* The L-beam (example LB of P1): a square without its upper right (3/5 x 3/5) square. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "generate.h"
#include "generate_internal.h"

/* In numbers of elements: side n of the square, width w of the arms, thickness t along y. */
typedef struct l_shape {
    int64_t n, w, t;
} l_shape;

static int64_t count_points(const l_shape *l)
{
    return (l->t + 1) * ((l->w + 1) * (l->n + 1) + (l->n - l->w) * (l->w + 1));
}

/* Points are numbered row by row in z: full rows up to z = w, then rows of the upright arm, each t
 * + 1 deep. */
static int64_t point_index(const l_shape *l, int64_t i, int64_t j, int64_t k)
{
    const int64_t before =
        k <= l->w ? k * (l->n + 1) : (l->w + 1) * (l->n + 1) + (k - l->w - 1) * (l->w + 1);
    return (before + i) * (l->t + 1) + j;
}

/* at[] := grid position of item `number`, for items that are t deep, in rows of `full` items up to
 * `height` and of `arm` items above. */
static void find_lbeam_place(int64_t number, int64_t t, int64_t full, int64_t arm, int64_t height,
                             int64_t at[3])
{
    const int64_t column = number / t, below = full * height;
    at[1] = number % t;
    at[0] = column < below ? column % full : (column - below) % arm;
    at[2] = column < below ? column / full : height + (column - below) / arm;
}

static int lbeam_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem,
                          int64_t *conn, uint64_t *in_set)
{
    const l_shape *const l = source->shape;
    for (int64_t e = 0; e < n; e++) {
        int64_t at[3];
        find_lbeam_place(elem[e], l->t, l->n, l->w, l->w, at);
        for (int c = 0; c < 8; c++)
            conn[8 * e + c] = point_index(l, at[0] + (c % 4 == 1 || c % 4 == 2),
                                          at[1] + (c % 4 >= 2), at[2] + (c >= 4));
        if (in_set) in_set[e] = 0;
    }
    return HX_OK;
}

enum { SET_TOP, SET_TIP, SET_LOWER, SET_UPPER };

static uint64_t sets_of(const l_shape *l, const int64_t at[3])
{
    uint64_t bits = 0;
    if (at[2] == l->n) bits |= 1 << SET_TOP;
    if (at[0] != l->n) return bits;
    bits |= 1 << SET_TIP;
    if (at[2] == 0) bits |= 1 << SET_LOWER;
    if (at[2] == l->w) bits |= 1 << SET_UPPER;
    return bits;
}

static int lbeam_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                       uint64_t *in_set)
{
    const l_shape *const l = source->shape;
    for (int64_t a = 0; a < n; a++) {
        int64_t at[3];
        find_lbeam_place(node[a], l->t + 1, l->n + 1, l->w + 1, l->w + 1, at);
        for (int d = 0; d < 3; d++) xyz[3 * a + d] = (double)at[d];
        if (in_set) in_set[a] = sets_of(l, at);
    }
    return HX_OK;
}

static int choose_shape(l_shape *l, const hx_generate_params *params)
{
    static const int side[6] = {0, 80, 110, 145, 190, 250}, thickness[6] = {0, 8, 11, 14, 19, 25};
    HX_TRY(hx_generate_check("lbeam", params));
    const int n = params->nx > 0 ? params->nx : side[params->size];
    if (n % 5 != 0 && n < 5)
        return HX_RAISE(HX_EINPUT, "lbeam: nx = %d must be a multiple of 5; 5 is the smallest", n);
    if (n % 5 != 0)
        return HX_RAISE(HX_EINPUT, "lbeam: nx = %d must be a multiple of 5; %d is the nearest", n,
                        n % 5 < 3 ? n - n % 5 : n - n % 5 + 5);
    if (params->nz > 0 && params->nz != n)
        return HX_RAISE(HX_EINPUT,
                        "lbeam: nz = %d, but the outline is a square with nx = %d; leave nz out",
                        params->nz, n);
    l->n = n;
    l->w = n / 5 * 2;
    l->t = params->ny > 0 ? params->ny : thickness[params->size];
    if (l->t == 0) l->t = n > 10 ? n / 10 : 1;
    return hx_generate_check_count("lbeam", 0.64 * (double)n * (double)n * (double)l->t, params);
}

static void close_lbeam(hx_mesh_source *source)
{
    free(source->shape);
}

static int open_lbeam(hx_mesh_source *source, const hx_generate_params *params)
{
    static const char *const set[] = {[SET_TOP] = "top",
                                      [SET_TIP] = "tip",
                                      [SET_LOWER] = "tip-lower-edge",
                                      [SET_UPPER] = "tip-upper-edge"};
    l_shape l, *shape;
    memset(source, 0, sizeof *source);
    HX_TRY(choose_shape(&l, params));
    HX_TRY(hx_alloc(&shape, 1, sizeof *shape, "L-beam"));
    *shape = l;
    *source = (hx_mesh_source){.name = "lbeam",
                               .n_node = count_points(&l),
                               .n_elem = (l.n * l.n - (l.n - l.w) * (l.n - l.w)) * l.t,
                               .elements = lbeam_elements,
                               .nodes = lbeam_nodes,
                               .is_local = 1,
                               .shape = shape,
                               .close = close_lbeam};
    for (; source->n_set < (int)(sizeof set / sizeof set[0]); source->n_set++)
        source->set[source->n_set].name = set[source->n_set];
    return HX_OK;
}

const hx_generator hx_generator_lbeam = {
    .name = "lbeam",
    .help =
        "nx x nx square of unit cubes in x, z (z up) without its upper right 3/5 x 3/5, ny thick "
        "along y (nx a multiple of 5; without a size ny = nx / 10; no nz); node sets top (of "
        "the upright arm), tip (x = nx), tip-lower-edge, tip-upper-edge",
    .open = open_lbeam,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
