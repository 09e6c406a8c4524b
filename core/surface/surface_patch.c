#include "surface_patch.h"

#include <math.h>

#include "surface_internal.h"

const int8_t hx_hex_edge[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                   {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};

/* [f][i]: the edge from corner i of face f to the next corner. */
static const int8_t face_edge[6][4] = {{8, 7, 11, 3},  {1, 10, 5, 9}, {0, 9, 4, 8},
                                       {11, 6, 10, 2}, {3, 2, 1, 0},  {4, 5, 6, 7}};

/* Edges and faces of a cell. In a collapsed cell some edges coincide, and some faces are only an
 * edge or a point. */
typedef struct shape {
    int8_t edge[12]; /* the first edge with the same two nodes */
    /* bit k of [i]: edges i and k lie on one face; of edges with the same nodes only the first
     * counts */
    uint16_t one_face[12];
    uint8_t is_face; /* bit f: face f has an area */
} shape;

static const shape hexahedron = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
    {0x31f, 0x62f, 0xc4f, 0x98f, 0x3f1, 0x6f2, 0xcf4, 0x9f8, 0xb99, 0x733, 0xe66, 0xdcc},
    0x3f};

/* Maximum number of corners of a polygon: the loop in an element with four crossings on each face
 * has 12. */
enum { MOST_CORNERS = 12 };

/* 1 if two edges have the same nodes. */
static int are_same(const int32_t conn[8], int i, int k)
{
    const int32_t a = conn[hx_hex_edge[i][0]], b = conn[hx_hex_edge[i][1]];
    const int32_t c = conn[hx_hex_edge[k][0]], d = conn[hx_hex_edge[k][1]];
    return (a == c && b == d) || (a == d && b == c);
}

/* One element relative to the threshold. */
typedef struct cell {
    const int32_t *conn;
    const shape *shape;
    struct shape collapsed; /* memory that `shape` points to if the element is collapsed */
    const double *xyz[8];
    double u[8]; /* value - threshold: positive inside */
    unsigned mask;
} cell;

static void cell_init(cell *c, const hx_surface_field *field, double threshold, int64_t e)
{
    c->conn = field->mesh->conn + 8 * e;
    c->shape = &hexahedron;
    if (hx_cell_is_collapsed(c->conn)) {
        memset(&c->collapsed, 0, sizeof c->collapsed);
        for (int i = 0; i < 12; i++)
            while (!are_same(c->conn, c->collapsed.edge[i], i)) c->collapsed.edge[i]++;
        for (int f = 0; f < 6; f++) {
            int32_t node[4];
            if (hx_cell_face(c->conn, f, node) < 3) continue;
            c->collapsed.is_face |= (uint8_t)(1u << f);
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < 4; k++)
                    c->collapsed.one_face[c->collapsed.edge[face_edge[f][i]]] |=
                        (uint16_t)(1u << c->collapsed.edge[face_edge[f][k]]);
        }
        c->shape = &c->collapsed;
    }
    c->mask = 0;
    for (int i = 0; i < 8; i++) {
        c->xyz[i] = field->mesh->xyz + 3 * (int64_t)c->conn[i];
        c->u[i] = field->value[c->conn[i]] - threshold;
        c->mask |= (unsigned)(c->u[i] > 0.0) << i;
    }
}

unsigned hx_surface_mask(const hx_surface_field *field, double threshold, int64_t e)
{
    const int32_t *conn = field->mesh->conn + 8 * e;
    unsigned mask = 0;
    if (hx_surface_is_solid(field, e)) return 255;
    for (int i = 0; i < 8; i++) mask |= (unsigned)(field->value[conn[i]] - threshold > 0.0) << i;
    return mask;
}

static int is_crossed(unsigned mask, int edge)
{
    return (mask >> hx_hex_edge[edge][0] & 1u) != (mask >> hx_hex_edge[edge][1] & 1u);
}

int hx_surface_crossings(unsigned mask)
{
    int n = 0;
    for (int i = 0; i < 12; i++) n += is_crossed(mask, i);
    return n;
}

/* Sets the position of the vertex on an edge. */
static void place_crossing(const cell *c, int edge, hx_surface_patch *patch)
{
    const int a = hx_hex_edge[edge][0], b = hx_hex_edge[edge][1];
    const int in = c->mask >> a & 1u ? a : b, out = in == a ? b : a;
    hx_surface_cut(c->xyz[in], c->xyz[out], hx_surface_share(c->u[in], c->u[out]), patch->x[edge]);
}

static double square_distance(const double a[3], const double b[3])
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

/* 1 if two corners are the ends of an edge. */
static int is_edge(const int32_t conn[8], int a, int b)
{
    for (int i = 0; i < 12; i++) {
        const int32_t from = conn[hx_hex_edge[i][0]], to = conn[hx_hex_edge[i][1]];
        if ((from == conn[a] && to == conn[b]) || (from == conn[b] && to == conn[a])) return 1;
    }
    return 0;
}

/* Returns 1 if a diagonal is allowed: it must not lie on a face, which a neighbour shares, nor
 * along an edge that has a vertex between its ends. */
static int may_connect(const cell *c, int a, int b)
{
    if (a >= HX_PATCH_NODE && b >= HX_PATCH_NODE)
        return !is_edge(c->conn, a - HX_PATCH_NODE, b - HX_PATCH_NODE);
    return a >= HX_PATCH_NODE || b >= HX_PATCH_NODE || !(c->shape->one_face[a] >> b & 1);
}

static void add_triangle(hx_surface_patch *patch, int a, int b, int c)
{
    int8_t *tri = patch->tri[patch->n_tri++];
    tri[0] = (int8_t)a;
    tri[1] = (int8_t)b;
    tri[2] = (int8_t)c;
}

static void add_fan_around(hx_surface_patch *patch, int n, const int8_t *corner, int middle)
{
    for (int i = 0; i < n; i++) add_triangle(patch, corner[i], corner[(i + 1) % n], middle);
}

/* Adds a fan around the mean of the corners. */
static void add_fan(hx_surface_patch *patch, int n, const int8_t *corner, int middle)
{
    double *x = patch->x[middle];
    x[0] = x[1] = x[2] = 0.0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) x[d] += patch->x[corner[i]][d] / n;
    add_fan_around(patch, n, corner, middle);
}

/* Adds the triangles of the polygon between corners i and j, from the table `best`. */
static void add_best(hx_surface_patch *patch, const int8_t *corner,
                     const int8_t (*best)[MOST_CORNERS], int i, int j)
{
    if (j - i < 2) return;
    const int k = best[i][j];
    add_best(patch, corner, best, i, k);
    add_triangle(patch, corner[i], corner[k], corner[j]);
    add_best(patch, corner, best, k, j);
}

/* Triangulates a polygon with the shortest diagonals (least sum of squares). No diagonal may cross
 * a face, because a neighbour could have the same one; if no such triangulation exists, a fan is
 * added. O(n^3), n <= 12. */
static void add_polygon(const cell *c, hx_surface_patch *patch, int n, const int8_t *corner,
                        int middle)
{
    double cost[MOST_CORNERS][MOST_CORNERS] = {{0.0}};
    int8_t best[MOST_CORNERS][MOST_CORNERS];
    if (n == 3) {
        add_triangle(patch, corner[0], corner[1], corner[2]);
        return;
    }
    for (int span = 2; span < n; span++)
        for (int i = 0; i + span < n; i++) {
            const int j = i + span;
            cost[i][j] = HUGE_VAL;
            best[i][j] = (int8_t)(i + 1);
            for (int k = i + 1; k < j; k++) {
                const double sum = cost[i][k] + cost[k][j];
                if (sum >= cost[i][j]) continue;
                cost[i][j] = sum;
                best[i][j] = (int8_t)k;
            }
            if (span == n - 1) continue; /* a side of the polygon */
            cost[i][j] += may_connect(c, corner[i], corner[j])
                              ? square_distance(patch->x[corner[i]], patch->x[corner[j]])
                              : HUGE_VAL;
        }
    if (cost[0][n - 1] < HUGE_VAL)
        add_best(patch, corner, (const int8_t(*)[MOST_CORNERS])best, 0, n - 1);
    else
        add_fan(patch, n, corner, middle);
}

/* Finds the crossings of a face at which its inside ends and begins, in the order of the corners
 * seen from outside the element. Returns the corner before the first one, -1: none. */
static int find_exit(unsigned mask, int f, int from)
{
    for (int i = from; i < 4; i++) {
        const unsigned here = mask >> hx_hex_face[f][i] & 1u;
        const unsigned next = mask >> hx_hex_face[f][(i + 1) % 4] & 1u;
        if (here && !next) return i;
    }
    return -1;
}

static int is_ambiguous(const cell *c, int f)
{
    const int first = find_exit(c->mask, f, 0);
    return first >= 0 && find_exit(c->mask, f, first + 1) >= 0;
}

static int is_joined(const cell *c, int f, int inside)
{
    const int *corner = hx_hex_face[f];
    return hx_surface_joined(c->u[corner[inside]], c->u[corner[(inside + 2) % 4]],
                             c->u[corner[(inside + 1) % 4]], c->u[corner[(inside + 3) % 4]]);
}

/* The edge that begins at corner i of a face. */
static int8_t edge_after(const cell *c, int f, int i)
{
    return c->shape->edge[face_edge[f][i % 4]];
}

/* next[entry] := exit, for each segment of the iso-surface on a face. Segments run in the element's
 * direction, which is opposite to the face's orientation. */
static void link_face(const cell *c, int f, int8_t next[12])
{
    const int first = find_exit(c->mask, f, 0);
    if (first < 0 || !(c->shape->is_face >> f & 1u)) return;
    if (is_ambiguous(c, f)) {
        const int8_t exit_a = edge_after(c, f, first), exit_b = edge_after(c, f, first + 2);
        const int8_t entry_a = edge_after(c, f, first + 3), entry_b = edge_after(c, f, first + 1);
        const int joined = is_joined(c, f, first);
        next[joined ? entry_b : entry_a] = exit_a;
        next[joined ? entry_a : entry_b] = exit_b;
        return;
    }
    int entry = (first + 1) % 4;
    while (!(c->mask >> hx_hex_face[f][(entry + 1) % 4] & 1u)) entry = (entry + 1) % 4;
    next[edge_after(c, f, entry)] = edge_after(c, f, first);
}

void hx_surface_cut_cell(const hx_surface_field *field, double threshold, int64_t e,
                         hx_surface_patch *patch)
{
    cell c;
    int8_t next[12], corner[MOST_CORNERS];
    unsigned open = 0;
    int n_loop = 0;
    cell_init(&c, field, threshold, e);
    patch->n_tri = 0;
    for (int i = 0; i < 12; i++) {
        if (!is_crossed(c.mask, i) || c.shape->edge[i] != i) continue;
        open |= 1u << i;
        place_crossing(&c, i, patch);
    }
    for (int f = 0; f < 6; f++) link_face(&c, f, next);
    for (int first = 0; first < 12; first++) {
        int n = 0;
        for (int i = first; open >> i & 1u; i = next[i]) {
            corner[n++] = (int8_t)i;
            open &= ~(1u << i);
        }
        if (n > 0) add_polygon(&c, patch, n, corner, HX_PATCH_MIDDLE + n_loop++);
    }
}

/* 1 if four points are coplanar to a relative 1e-9. */
static int is_planar(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], size = 0.0;
    hx_triangle_normal2(a, b, c, u);
    for (int i = 0; i < 3; i++) {
        v[i] = d[i] - a[i];
        size += u[i] * u[i];
    }
    const double height = hx_dot3(u, v);
    return fabs(height) <= 1e-9 * size / sqrt(sqrt(size));
}

static int is_triangle(const cell *c, int f)
{
    int32_t node[4];
    return c->shape != &hexahedron && hx_cell_face(c->conn, f, node) == 3;
}

/* Caps a whole face. A curved face gets a vertex at its middle, like the face of a trilinear
 * element. corner[n]: the face's nodes, and the vertices on its edges that neighbours also have. */
static void cap_whole(const cell *c, int f, int n, const int8_t *corner, hx_surface_patch *patch)
{
    const int *node = hx_hex_face[f];
    if (is_triangle(c, f) ||
        is_planar(c->xyz[node[0]], c->xyz[node[1]], c->xyz[node[2]], c->xyz[node[3]])) {
        add_polygon(c, patch, n, corner, HX_PATCH_MIDDLE);
        return;
    }
    double *x = patch->x[HX_PATCH_MIDDLE];
    x[0] = x[1] = x[2] = 0.0;
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 3; d++) x[d] += c->xyz[node[i]][d] / 4;
    add_fan_around(patch, n, corner, HX_PATCH_MIDDLE);
}

/* Lists the nodes of face f that are in `keep` and the crossings, in order; returns their
 * number. */
static int list_corners(const cell *c, int f, unsigned keep, int8_t corner[8],
                        hx_surface_patch *patch)
{
    int n = 0;
    for (int i = 0; i < 4; i++) {
        const int node = hx_hex_face[f][i], edge = edge_after(c, f, i);
        if (keep >> node & 1u && c->conn[node] != c->conn[hx_hex_face[f][(i + 3) % 4]]) {
            memcpy(patch->x[HX_PATCH_NODE + node], c->xyz[node], sizeof patch->x[0]);
            corner[n++] = (int8_t)(HX_PATCH_NODE + node);
        }
        /* A node that only forced-solid elements share has no density. */
        if (!is_crossed(c->mask, edge) ||
            !(c->u[hx_hex_edge[edge][0]] < HUGE_VAL && c->u[hx_hex_edge[edge][1]] < HUGE_VAL))
            continue;
        place_crossing(c, edge, patch);
        corner[n++] = (int8_t)edge;
    }
    return n;
}

/* Caps the part of a face around the nodes in `keep`: the inside or the outside nodes. */
static void cap_part(const cell *c, int f, unsigned keep, hx_surface_patch *patch)
{
    int8_t corner[8];
    const int n = list_corners(c, f, keep, corner, patch);
    const int first = find_exit(keep, f, 0);
    if (n == 0) return;
    if (first < 0) {
        cap_whole(c, f, n, corner, patch);
        return;
    }
    /* one of the two is connected, the other is in two parts */
    const int is_inside = keep == c->mask;
    if (n == 6 && is_inside != is_joined(c, f, is_inside ? first : (first + 1) % 4)) {
        for (int i = first; i < first + 3; i += 2) {
            const int entry = edge_after(c, f, i + 3), exit = edge_after(c, f, i);
            add_triangle(patch, entry, HX_PATCH_NODE + hx_hex_face[f][i % 4], exit);
        }
    } else {
        add_polygon(c, patch, n, corner, HX_PATCH_MIDDLE);
    }
}

void hx_surface_cut_face(const hx_surface_field *field, double threshold, int64_t face,
                         hx_surface_patch *patch)
{
    const int64_t e = face / 6;
    const int f = (int)(face % 6);
    int8_t corner[8];
    cell c;
    cell_init(&c, field, threshold, e);
    patch->n_tri = 0;
    if (!hx_surface_is_solid(field, e))
        cap_part(&c, f, c.mask, patch);
    else if (field->body[e] >> f & 1u)
        cap_part(&c, f, ~c.mask & 255u, patch);
    else
        cap_whole(&c, f, list_corners(&c, f, 255u, corner, patch), corner, patch);
}
