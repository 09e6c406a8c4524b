#include "mesh_quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/atomics.h"
#include "../base/memory.h"
#include "../base/vec3.h"
#include "hex_jacobian.h"
#include "hex_shape.h"
#include "mesh_internal.h"
#include "node_star.h"

static const double poor = 0.2; /* scaled Jacobian */

enum { HX_QUALITY_BLOCKS = 1024 }; /* sums do not depend on the number of threads */

/* Contribution of a block of elements. */
typedef struct part {
    double min_jacobian, sum_jacobian, max_aspect, min_volume, max_volume, sum_volume;
    int64_t worst, widest, n_poor; /* element indices */
} part;

static double aspect_of(const double *xyz, const int32_t conn[8])
{
    static const int line[12][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                    {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    double shortest = INFINITY, longest = 0.0;
    for (int i = 0; i < 12; i++) {
        const double *const a = xyz + (size_t)conn[line[i][0]] * 3;
        const double *const b = xyz + (size_t)conn[line[i][1]] * 3;
        double square = 0.0;
        if (a == b) continue; /* an edge of a collapsed cell */
        for (int d = 0; d < 3; d++) square += (a[d] - b[d]) * (a[d] - b[d]);
        if (square < shortest) shortest = square;
        if (square > longest) longest = square;
    }
    return sqrt(longest / shortest);
}

/* Determinant of the three edges at a node, divided by their lengths; INFINITY if there are more
 * edges. prev and next: the node's neighbours on a face. */
static double corner_jacobian(const double *xyz, int n_edge, const int32_t (*edge)[2], int32_t node,
                              int32_t prev, int32_t next)
{
    int32_t end[3] = {prev, next, node};
    double d[3][3], size = 1.0;
    int n = 0;
    for (int i = 0; i < n_edge; i++) {
        if (edge[i][0] != node && edge[i][1] != node) continue;
        const int32_t other = edge[i][0] == node ? edge[i][1] : edge[i][0];
        n++;
        if (other != prev && other != next) end[2] = other;
    }
    if (n != 3) return INFINITY;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            d[i][k] = xyz[3 * (int64_t)end[i] + k] - xyz[3 * (int64_t)node + k];
        size *= hx_norm3(d[i]);
    }
    return hx_triple3(d[0], d[1], d[2]) / size;
}

/* For wedges, pyramids and tetrahedra: the scaled Jacobian at their own corners, without the apex
 * of a pyramid, relative to the solid with equal edges, at most 1 (Knupp, SIAM J. Sci. Comput. 23,
 * 2001; Stimpson et al., The Verdict Library, 2007). Unlike det J of the collapsed map, it does not
 * depend on the numbering. */
static double collapsed_jacobian(const double *xyz, const int32_t conn[8])
{
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    const double ideal = kind == HX_CELL_WEDGE ? sqrt(0.75) : sqrt(0.5);
    int32_t edge[12][2], ring[4];
    double lowest = ideal;
    const int n_edge = hx_cell_edges(conn, edge);
    for (int f = 0; f < 6; f++) {
        const int n = hx_cell_face(conn, f, ring);
        for (int i = 0; n >= 3 && i < n; i++)
            lowest = fmin(lowest, corner_jacobian(xyz, n_edge, (const int32_t(*)[2])edge, ring[i],
                                                  ring[(i + n - 1) % n], ring[(i + 1) % n]));
    }
    return lowest / ideal;
}

static double lowest_corner(const hx_hex_map *map)
{
    double lowest = INFINITY, scaled;
    for (int corner = 0; corner < HX_HEX_CORNERS; corner++) {
        (void)hx_hex_det(map, corner, &scaled);
        if (scaled < lowest) lowest = scaled;
    }
    return lowest;
}

static double scaled_jacobian(const double *xyz, const int32_t conn[8], const hx_hex_map *map)
{
    return hx_cell_is_collapsed(conn) ? collapsed_jacobian(xyz, conn) : lowest_corner(map);
}

double hx_mesh_scaled_jacobian(const hx_mesh *mesh, int64_t e)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, conn);
    return scaled_jacobian(mesh->xyz, conn, &map);
}

static void add_shape(part *p, int64_t e, double jacobian, double aspect, double volume)
{
    p->sum_jacobian += jacobian;
    p->sum_volume += volume;
    p->n_poor += jacobian < poor;
    if (volume < p->min_volume) p->min_volume = volume;
    if (volume > p->max_volume) p->max_volume = volume;
    if (jacobian < p->min_jacobian) {
        p->min_jacobian = jacobian;
        p->worst = e;
    }
    if (aspect > p->max_aspect) {
        p->max_aspect = aspect;
        p->widest = e;
    }
}

static void measure_element(const hx_mesh *mesh, int64_t e, part *p)
{
    const int32_t *const conn = mesh->conn + (size_t)e * 8;
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, conn);
    add_shape(p, e, scaled_jacobian(mesh->xyz, conn, &map), aspect_of(mesh->xyz, conn),
              mesh->volume ? mesh->volume[e] : hx_hex_volume(&map));
}

/* Elements begin .. end - 1, vectorised if all elements of the mesh are hexahedra. */
static void measure_block(const hx_mesh *mesh, int64_t begin, int64_t end, part *p)
{
    const int in_lanes = !hx_mesh_is_collapsed(mesh);
    int64_t e = begin;
    for (; in_lanes && e + HX_HEX_LANES <= end; e += HX_HEX_LANES) {
        hx_hex_shapes shapes;
        hx_hex_shapes_of(mesh->xyz, mesh->conn + 8 * e, &shapes);
        for (int i = 0; i < HX_HEX_LANES; i++)
            add_shape(p, e + i, shapes.jacobian[i], shapes.aspect[i],
                      mesh->volume ? mesh->volume[e + i] : shapes.volume[i]);
    }
    for (; e < end; e++) measure_element(mesh, e, p);
}

static int measure_elements(const hx_mesh *mesh, hx_mesh_quality *q)
{
    part *block = NULL;
    const int64_t n = mesh->n_elem;
    HX_TRY(hx_alloc(&block, HX_QUALITY_BLOCKS, sizeof *block, "quality of blocks"));
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < HX_QUALITY_BLOCKS; b++) {
        block[b].min_jacobian = block[b].min_volume = INFINITY;
        measure_block(mesh, n * b / HX_QUALITY_BLOCKS, n * (b + 1) / HX_QUALITY_BLOCKS, &block[b]);
    }
    part all = block[0];
    for (int b = 1; b < HX_QUALITY_BLOCKS; b++) {
        const part *const p = &block[b];
        all.sum_jacobian += p->sum_jacobian;
        all.sum_volume += p->sum_volume;
        all.n_poor += p->n_poor;
        if (p->min_volume < all.min_volume) all.min_volume = p->min_volume;
        if (p->max_volume > all.max_volume) all.max_volume = p->max_volume;
        if (p->min_jacobian < all.min_jacobian) {
            all.min_jacobian = p->min_jacobian;
            all.worst = p->worst;
        }
        if (p->max_aspect > all.max_aspect) {
            all.max_aspect = p->max_aspect;
            all.widest = p->widest;
        }
    }
    free(block);
    q->min_scaled_jacobian = all.min_jacobian;
    q->mean_scaled_jacobian = all.sum_jacobian / (double)n;
    q->worst_elem = hx_mesh_elem_number(mesh, all.worst);
    q->n_poor = all.n_poor;
    q->max_aspect = all.max_aspect;
    q->aspect_elem = hx_mesh_elem_number(mesh, all.widest);
    q->min_volume = all.min_volume;
    q->max_volume = all.max_volume;
    q->mean_volume = all.sum_volume / (double)n;
    return HX_OK;
}

/* Smallest known node that is connected with a. Halves the path on the way: entries change only to
 * ancestors further up, also with several threads. */
static uint32_t find_root(uint32_t *parent, uint32_t a)
{
    for (;;) {
        const uint32_t up = hx_atomic_load(&parent[a]);
        if (up == a) return a;
        const uint32_t above = hx_atomic_load(&parent[up]);
        if (above != up) hx_atomic_store(&parent[a], above);
        a = above;
    }
}

/* Makes the smaller root the parent of the larger one, unless another thread was faster. Returns
 * the smaller one. */
static uint32_t connect(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        const uint32_t x = find_root(parent, a), y = find_root(parent, b);
        const uint32_t low = x < y ? x : y, high = x < y ? y : x;
        if (x == y || hx_atomic_replace(&parent[high], high, low)) return low;
    }
}

/* The points of a cell become connected. */
static inline void connect_cell(uint32_t *parent, int n, const int32_t *point)
{
    uint32_t root = find_root(parent, (uint32_t)point[0]);
    for (int i = 1; i < n; i++) /* most nodes already point to the root */
        if (hx_atomic_load(&parent[point[i]]) != root)
            root = connect(parent, root, (uint32_t)point[i]);
}

int hx_mesh_bodies(const hx_mesh *mesh, int32_t *body, int64_t *n_body)
{
    uint32_t *const parent = (uint32_t *)body;
    int64_t n_root = 0;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) parent[a] = (uint32_t)a;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) connect_cell(parent, 8, mesh->conn + (size_t)e * 8);
#pragma omp parallel for schedule(static) reduction(+ : n_root)
    for (int64_t a = 0; a < mesh->n_node; a++) n_root += parent[a] == (uint32_t)a;
    *n_body = n_root;
    if (n_root == 1) {
#pragma omp parallel for schedule(static)
        for (int64_t a = 0; a < mesh->n_node; a++) body[a] = 0;
        return HX_OK;
    }
    /* A parent is never above its child, so its entry already holds the number of the body. */
    int32_t next = 0;
    for (int64_t a = 0; a < mesh->n_node; a++)
        body[a] = parent[a] == (uint32_t)a ? next++ : body[parent[a]];
    return HX_OK;
}

int hx_find_bodies(const hx_connections *cells, int32_t *body, int64_t *n_body)
{
    uint32_t *const parent = (uint32_t *)body;
    uint8_t *is_used = NULL;
    int32_t next = 0;
    HX_TRY(hx_alloc(&is_used, (size_t)cells->n_point, 1, "points of bodies"));
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < cells->n_point; a++) parent[a] = (uint32_t)a;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < cells->n_cell; e++) {
        const int is_even = cells->n_per_cell > 0;
        const int64_t first = is_even ? e * cells->n_per_cell : cells->cell_ptr[e];
        const int n = is_even ? cells->n_per_cell : (int)(cells->cell_ptr[e + 1] - first);
        if (cells->is_there && !cells->is_there[e]) continue;
        connect_cell(parent, n, cells->point + first);
        for (int i = 0; i < n; i++)
#pragma omp atomic write
            is_used[cells->point[first + i]] = 1;
    }
    for (int64_t a = 0; a < cells->n_point; a++) {
        if (!is_used[a]) continue;
        body[a] = parent[a] == (uint32_t)a ? next++ : body[parent[a]];
    }
    for (int64_t a = 0; a < cells->n_point; a++)
        if (!is_used[a]) body[a] = -1;
    free(is_used);
    *n_body = next;
    return HX_OK;
}

static int measure_bodies(const hx_mesh *mesh, hx_mesh_quality *q)
{
    int rc = HX_OK;
    int32_t *body = NULL;
    int64_t *count = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&body, (size_t)mesh->n_node, sizeof *body, "parts of the mesh"));
    HX_TRY_FAIL(hx_mesh_bodies(mesh, body, &q->n_body));
    q->largest_body = mesh->n_elem;
    if (q->n_body == 1) goto fail;
    HX_TRY_FAIL(hx_alloc(&count, (size_t)q->n_body, sizeof *count, "sizes of the parts"));
    for (int64_t e = 0; e < mesh->n_elem; e++) count[body[mesh->conn[(size_t)e * 8]]]++;
    int64_t largest = 0, other = 0;
    for (int64_t b = 1; b < q->n_body; b++)
        if (count[b] > count[largest]) largest = b;
    q->largest_body = count[largest];
    while (body[mesh->conn[(size_t)other * 8]] == largest) other++;
    q->other_body_elem = hx_mesh_elem_number(mesh, other);
    memcpy(q->other_body_xyz, mesh->xyz + 3 * (int64_t)mesh->conn[(size_t)other * 8],
           sizeof q->other_body_xyz);
fail:
    free(body);
    free(count);
    return rc;
}

/* The other corners of the three faces at each corner, starting with the opposite one: if it
 * differs, the rest need not be compared. */
static const int face_corner[8][3][3] = {
    {{7, 4, 3}, {5, 1, 4}, {2, 3, 1}}, {{6, 2, 5}, {4, 5, 0}, {3, 0, 2}},
    {{5, 6, 1}, {7, 3, 6}, {0, 1, 3}}, {{4, 0, 7}, {6, 7, 2}, {1, 2, 0}},
    {{3, 7, 0}, {1, 0, 5}, {6, 5, 7}}, {{2, 1, 6}, {0, 4, 1}, {7, 6, 4}},
    {{1, 5, 2}, {3, 2, 7}, {4, 7, 5}}, {{0, 3, 4}, {2, 6, 3}, {5, 4, 6}},
};

static int has_node(const int32_t conn[8], int32_t node)
{
    int found = 0;
    for (int i = 0; i < 8; i++) found |= conn[i] == node;
    return found;
}

/* Returns 1 if elements x and y share a face that contains their common node (incidences x, y). */
static int share_face(const hx_mesh *mesh, uint32_t x, uint32_t y)
{
    const int32_t *const conn = mesh->conn + (size_t)(x / 8) * 8;
    const int32_t *const other = mesh->conn + (size_t)(y / 8) * 8;
    for (int f = 0; f < 3; f++) {
        const int *const corner = face_corner[x % 8][f];
        if (has_node(other, conn[corner[0]]) && has_node(other, conn[corner[1]]) &&
            has_node(other, conn[corner[2]]))
            return 1;
    }
    return 0;
}

/* Moves the element across a face of list[from] to the reached ones, if it is among the n at the
 * node and was not reached before. */
static void reach_beyond(const hx_mesh *mesh, int64_t node, int64_t from, int face, int64_t n,
                         uint32_t *list, int64_t *reached)
{
    int32_t ring[4];
    const int n_corner = hx_cell_face(mesh->conn + 8 * (int64_t)list[from], face, ring);
    int is_here = 0;
    for (int i = 0; i < n_corner; i++) is_here |= ring[i] == node;
    if (!is_here || n_corner < 3) return;
    const int64_t other = hx_mesh_face_neighbour(mesh, list[from], n_corner, ring);
    for (int64_t i = *reached; i < n; i++) {
        if (list[i] != other) continue;
        list[i] = list[*reached];
        list[(*reached)++] = (uint32_t)other;
        return;
    }
}

/* is_hinge() for a mesh with collapsed cells. */
static int is_mixed_hinge(const hx_mesh *mesh, int64_t node, uint32_t *list)
{
    /* the elements at the node, each once, from incidences */
    int64_t n = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        if (n == 0 || list[n - 1] != mesh->node_elem[k] / 8) list[n++] = mesh->node_elem[k] / 8;
    int64_t reached = 1;
    for (int64_t done = 0; done < reached && reached < n; done++)
        for (int f = 0; f < 6; f++) reach_beyond(mesh, node, done, f, n, list, &reached);
    return reached < n;
}

/* Returns 1 if the n elements at a node are not all connected through faces at that node. list[n]:
 * scratch; its first `reached` entries are connected, and the neighbours of `done` of them were
 * visited. */
static int is_hinge(const hx_mesh *mesh, int64_t node, uint32_t *list)
{
    const int64_t begin = mesh->node_elem_ptr[node], n = mesh->node_elem_ptr[node + 1] - begin;
    int64_t reached = 1;
    memcpy(list, mesh->node_elem + begin, (size_t)n * sizeof *list);
    for (int64_t done = 0; done < reached; done++)
        for (int64_t i = reached; i < n; i++) {
            if (!share_face(mesh, list[done], list[i])) continue;
            const uint32_t found = list[i];
            list[i] = list[reached];
            list[reached++] = found;
        }
    return reached < n;
}

/* is_hinge() with a shortcut if the elements at the node are those of a regular grid. */
static int is_plain_hinge(const hx_mesh *mesh, int64_t node, uint32_t *list)
{
    return !hx_node_star_is_connected(mesh, node) && is_hinge(mesh, node, list);
}

static int count_hinges(const hx_mesh *mesh, int64_t *n_hinge)
{
    int64_t most = 1, n = 0;
    size_t n_thread = 1;
    uint32_t *scratch = NULL;
    const int mixed = hx_mesh_is_collapsed(mesh);
#pragma omp parallel for reduction(max : most)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t degree = mesh->node_elem_ptr[a + 1] - mesh->node_elem_ptr[a];
        if (degree > most) most = degree;
    }
#ifdef _OPENMP
    n_thread = (size_t)omp_get_max_threads();
#endif
    HX_TRY(hx_alloc(&scratch, n_thread * (size_t)most, sizeof *scratch, "elements at a node"));
#pragma omp parallel for reduction(+ : n) schedule(dynamic, 4096)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        size_t thread = 0;
#ifdef _OPENMP
        thread = (size_t)omp_get_thread_num();
#endif
        uint32_t *const list = scratch + thread * (size_t)most;
        n += mixed ? is_mixed_hinge(mesh, a, list) : is_plain_hinge(mesh, a, list);
    }
    free(scratch);
    *n_hinge = n;
    return HX_OK;
}

int hx_mesh_measure(const hx_mesh *mesh, hx_mesh_quality *quality)
{
    memset(quality, 0, sizeof *quality);
    if (!mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: quality of an unfinished mesh", mesh->name);
    HX_TRY(measure_elements(mesh, quality));
    HX_TRY(measure_bodies(mesh, quality));
    return count_hinges(mesh, &quality->n_hinge);
}
