#include "mesh.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sum.h"
#include "../base/vec3.h"
#include "hex_jacobian.h"
#include "hex_shape.h"
#include "mesh_internal.h"
#include "set_rules.h"

const int hx_hex_face[6][4] = {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4},
                               {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};

/* Below this fraction of the value at a right-angled corner, the Jacobian counts as zero. */
static const double degenerate = 1e-10;

/* Sums use a fixed number of blocks, so that they do not depend on the number of threads. */
enum { HX_SUM_BLOCKS = 1024 };

int hx_mesh_create(hx_mesh *mesh, const char *name, int64_t n_node, double *xyz, int64_t n_elem,
                   int32_t *conn)
{
    int rc = HX_OK;
    memset(mesh, 0, sizeof *mesh);
    mesh->xyz = xyz;
    mesh->conn = conn;
    mesh->n_node = n_node;
    mesh->n_elem = n_elem;
    HX_TRY_FAIL(hx_strdup(&mesh->name, name ? name : "mesh"));
    if (n_elem < 1 || n_node < 4 || !xyz || !conn) {
        rc = HX_RAISE(HX_EINPUT, "%s: %lld %s and %lld %s: not a mesh of solid cells", mesh->name,
                      (long long)n_node, hx_noun(n_node, "node", "nodes"), (long long)n_elem,
                      hx_noun(n_elem, "element", "elements"));
        goto fail;
    }
    if (n_elem > HX_MAX_ELEM || n_node > INT32_MAX) {
        rc = HX_RAISE(HX_EINPUT, "%s: %lld %s, %lld %s: at most %lld and %lld are possible",
                      mesh->name, (long long)n_node, hx_noun(n_node, "node", "nodes"),
                      (long long)n_elem, hx_noun(n_elem, "element", "elements"),
                      (long long)INT32_MAX, (long long)HX_MAX_ELEM);
        goto fail;
    }
    int64_t bad = INT64_MAX;
#pragma omp parallel for reduction(min : bad)
    for (int64_t i = 0; i < 8 * n_elem; i++)
        if ((conn[i] < 0 || conn[i] >= n_node) && i < bad) bad = i;
    if (bad != INT64_MAX) {
        rc = HX_RAISE(HX_EINPUT, "%s: element %lld names node %d, but the nodes are 0 to %lld",
                      mesh->name, (long long)(bad / 8), conn[bad], (long long)(n_node - 1));
        goto fail;
    }
    return HX_OK;
fail:
    hx_mesh_free(mesh);
    return rc;
}

static int check_coordinates(const hx_mesh *mesh)
{
    int64_t bad = INT64_MAX, index = 0;
#pragma omp parallel for reduction(min : bad)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const double *const x = mesh->xyz + (size_t)a * 3;
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) continue;
        const int64_t number = hx_mesh_node_number(mesh, a);
        if (number < bad) bad = number;
    }
    if (bad == INT64_MAX) return HX_OK;
    while (hx_mesh_node_number(mesh, index) != bad) index++;
    const double *const x = mesh->xyz + (size_t)index * 3;
    return HX_RAISE(HX_EINPUT, "%s: node %lld has the coordinates (%g, %g, %g)", mesh->name,
                    (long long)bad, x[0], x[1], x[2]);
}

static int check_nodes_used(const hx_mesh *mesh)
{
    int64_t bad = INT64_MAX, n_bad = 0;
#pragma omp parallel for reduction(min : bad) reduction(+ : n_bad)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        /* NOLINTNEXTLINE(clang-analyzer-core*): hx_mesh_finish has built it */
        if (mesh->node_elem_ptr[a] != mesh->node_elem_ptr[a + 1]) continue;
        const int64_t number = hx_mesh_node_number(mesh, a);
        if (number < bad) bad = number;
        n_bad++;
    }
    if (n_bad == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: node %lld belongs to no element (%lld such %s): it has no stiffness, "
                    "remove it from the mesh",
                    mesh->name, (long long)bad, (long long)n_bad, hx_noun(n_bad, "node", "nodes"));
}

/* Returns 0 if the map is invertible at the points from `first`, otherwise 1 and the worst det
 * J. */
static int is_bad_map(const hx_hex_map *map, int first, double *worst, int *worst_point)
{
    double lowest = degenerate;
    int bad = 0;
    for (int point = first; point < HX_HEX_POINTS; point++) {
        double scaled;
        const double det = hx_hex_det(map, point, &scaled);
        if (scaled > lowest) continue;
        bad = 1;
        lowest = scaled;
        *worst = det;
        *worst_point = point;
    }
    return bad;
}

/* Returns 1 if a bound shows that the map is invertible. Columns of J differ from those at the
 * centre by at most the lengths of the mixed terms, which bounds the change of det J. */
static int is_surely_good_map(const hx_hex_map *map)
{
    const double(*c)[3] = map->c;
    const double r = hx_norm3(c[1]), s = hx_norm3(c[2]), t = hx_norm3(c[3]);
    const double rs = hx_norm3(c[4]), st = hx_norm3(c[5]), rt = hx_norm3(c[6]),
                 rst = hx_norm3(c[7]);
    const double most = (r + rs + rt + rst) * (s + rs + st + rst) * (t + st + rt + rst);
    return hx_triple3(c[1], c[2], c[3]) - (most - r * s * t) > 1e-6 * most;
}

/* Returns 1 if the map is invertible with margins larger than rounding errors, without computing
 * the roots of the scaled determinant. */
static int is_good_map(const hx_hex_map *map)
{
    const double margin = 4.0 * degenerate * degenerate;
    int good = 1;
    if (is_surely_good_map(map)) return 1;
    for (int point = 0; point < HX_HEX_POINTS; point++) {
        double square;
        const double det = hx_hex_det_square(map, point, &square);
        good &= det > 0.0 && det * det > margin * square && square > 0.0;
    }
    return good;
}

/* For hexahedra the corners count too; at corners of collapsed cells det J may vanish. */
static int first_point(const int32_t conn[8])
{
    return hx_cell_is_collapsed(conn) ? HX_HEX_CORNERS : 0;
}

static int is_valid_map(const hx_hex_map *map, const int32_t conn[8])
{
    double det;
    int point;
    if (!hx_cell_is_collapsed(conn)) return is_good_map(map) || !is_bad_map(map, 0, &det, &point);
    return hx_cell_kind_of(conn) != HX_CELL_OTHER && !is_bad_map(map, HX_HEX_CORNERS, &det, &point);
}

int hx_mesh_is_valid_element(const double *xyz, const int32_t conn[8])
{
    hx_hex_map map;
    hx_hex_map_init(&map, xyz, conn);
    return is_valid_map(&map, conn);
}

static int raise_no_solid(const hx_mesh *mesh, int64_t number, const int32_t conn[8])
{
    int i = 0, j = 1;
    while (conn[i] != conn[j]) {
        if (++j < 8) continue;
        i++;
        j = i + 1;
    }
    return HX_RAISE(HX_EINPUT,
                    "%s: element %lld names node %lld twice (positions %d and %d), but its faces "
                    "do not enclose a wedge, pyramid or tetrahedron: these repeat nodes as 0 1 2 2 "
                    "3 4 5 5, 0 1 2 3 4 4 4 4 and 0 1 2 2 3 3 3 3",
                    mesh->name, (long long)number, (long long)hx_mesh_node_number(mesh, conn[i]), i,
                    j);
}

static int raise_bad_element(const hx_mesh *mesh, int64_t number, int64_t n_bad)
{
    /* find the element of that original number (for messages, hence a linear search) */
    int64_t e = 0;
    while (e + 1 < mesh->n_elem && hx_mesh_elem_number(mesh, e) != number) e++;
    const int32_t *const conn = mesh->conn + (size_t)e * 8;
    int point = 0;
    double det = 0.0;
    if (hx_cell_kind_of(conn) == HX_CELL_OTHER) return raise_no_solid(mesh, number, conn);
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, conn);
    (void)is_bad_map(&map, first_point(conn), &det, &point);
    const int32_t swapped[8] = {conn[4], conn[5], conn[6], conn[7],
                                conn[0], conn[1], conn[2], conn[3]};
    return HX_RAISE(HX_EINPUT,
                    "%s: element %lld is inverted or degenerate: Jacobian determinant %.6g at %s "
                    "%d, which must be positive (%lld such %s)%s",
                    mesh->name, (long long)number, det,
                    point < HX_HEX_CORNERS ? "corner" : "Gauss point", point % 8, (long long)n_bad,
                    hx_noun(n_bad, "element", "elements"),
                    !hx_mesh_is_valid_element(mesh->xyz, swapped) ? ""
                    : hx_cell_is_collapsed(conn)                  ? "; it seems to be mirrored"
                                                 : "; its nodes 0-3 and 4-7 seem to be swapped");
}

/* Result of a check of elements. */
typedef struct findings {
    double volume;                   /* of the valid elements */
    int64_t bad, n_bad, n_collapsed; /* bad: the lowest original number */
} findings;

static void check_element(const hx_mesh *mesh, int64_t e, findings *f)
{
    const int32_t *const conn = mesh->conn + (size_t)e * 8;
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, conn);
    if (!is_valid_map(&map, conn)) {
        const int64_t number = hx_mesh_elem_number(mesh, e);
        if (number < f->bad) f->bad = number;
        f->n_bad++;
    } else {
        f->volume += mesh->volume ? mesh->volume[e] : hx_hex_volume(&map);
        f->n_collapsed += hx_cell_is_collapsed(conn);
    }
}

/* Checks elements begin .. end - 1 in batches, and individually those that may not be good. */
static findings check_block(const hx_mesh *mesh, int64_t begin, int64_t end)
{
    findings f = {.bad = INT64_MAX};
    int64_t e = begin;
    for (; e + HX_HEX_LANES <= end; e += HX_HEX_LANES) {
        hx_hex_sizes sizes;
        hx_hex_sizes_of(mesh->xyz, mesh->conn + 8 * e, &sizes);
        for (int i = 0; i < HX_HEX_LANES; i++) {
            if (sizes.are_good)
                f.volume += mesh->volume ? mesh->volume[e + i] : sizes.volume[i];
            else
                check_element(mesh, e + i, &f);
        }
    }
    for (; e < end; e++) check_element(mesh, e, &f);
    return f;
}

/* Checks the elements that this rank owns. */
static int check_own(const hx_mesh *mesh, findings *all)
{
    findings block[HX_SUM_BLOCKS];
    const int64_t begin = hx_mesh_own_begin(mesh), n = hx_mesh_own_end(mesh) - begin;
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < HX_SUM_BLOCKS; i++)
        block[i] =
            check_block(mesh, begin + n * i / HX_SUM_BLOCKS, begin + n * (i + 1) / HX_SUM_BLOCKS);
    *all = (findings){.bad = INT64_MAX};
    for (int i = 0; i < HX_SUM_BLOCKS; i++) {
        all->volume += block[i].volume;
        all->bad = block[i].bad < all->bad ? block[i].bad : all->bad;
        all->n_bad += block[i].n_bad;
        all->n_collapsed += block[i].n_collapsed;
    }
    return all->n_bad > 0 ? raise_bad_element(mesh, all->bad, all->n_bad) : HX_OK;
}

/* Validates every element and sums the volumes. */
static int check_elements(hx_mesh *mesh)
{
    const int64_t n = hx_mesh_n_elem_all(mesh);
    findings f;
    HX_TRY(check_own(mesh, &f));
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(mesh), 1, &f.volume));
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), 1, &f.n_collapsed));
    mesh->total_volume = f.volume;
    mesh->n_kind[HX_CELL_HEXAHEDRON] = n;
    mesh->elem_size = cbrt(mesh->total_volume / (double)n);
    return f.n_collapsed > 0 ? hx_mesh_measure_kinds(mesh) : HX_OK;
}

/* Computes the bounding box of all nodes. */
static int find_box(hx_mesh *mesh)
{
    double most[6];
    hx_mesh_bounds(mesh, mesh->box_min, mesh->box_max);
    for (int i = 0; i < 3; i++) {
        most[i] = -mesh->box_min[i];
        most[3 + i] = mesh->box_max[i];
    }
    HX_TRY(hx_reduce_max(hx_mesh_reduce(mesh), 6, most));
    for (int i = 0; i < 3; i++) {
        mesh->box_min[i] = -most[i];
        mesh->box_max[i] = most[3 + i];
    }
    return HX_OK;
}

void hx_mesh_bounds(const hx_mesh *mesh, double low[3], double high[3])
{
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma omp parallel for schedule(static) reduction(min : least[:3]) reduction(max : most[:3])
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const double *const x = mesh->xyz + 3 * a;
        for (int d = 0; d < 3; d++) {
            least[d] = x[d] < least[d] ? x[d] : least[d];
            most[d] = x[d] > most[d] ? x[d] : most[d];
        }
    }
    memcpy(low, least, sizeof least);
    memcpy(high, most, sizeof most);
}

void hx_mesh_centroids(const hx_mesh *mesh, int64_t begin, int n, double *const x[3])
{
    int i = 0;
    for (; i + HX_HEX_LANES <= n && !hx_mesh_is_collapsed(mesh); i += HX_HEX_LANES)
        hx_hex_centroids_of(mesh->xyz, mesh->conn + 8 * (begin + i),
                            (double *const[3]){x[0] + i, x[1] + i, x[2] + i});
    for (; i < n; i++) {
        double c[3];
        hx_mesh_centroid(mesh, begin + i, c);
        for (int d = 0; d < 3; d++) x[d][i] = c[d];
    }
}

void hx_mesh_centroid_bounds(const hx_mesh *mesh, double low[3], double high[3])
{
    enum { BLOCK = 64 };
    double least[3] = {INFINITY, INFINITY, INFINITY}, most[3] = {-INFINITY, -INFINITY, -INFINITY};
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
    for (int64_t begin = 0; begin < mesh->n_elem; begin += BLOCK) {
        const int n = mesh->n_elem - begin < BLOCK ? (int)(mesh->n_elem - begin) : BLOCK;
        double x[3][BLOCK];
        hx_mesh_centroids(mesh, begin, n, (double *const[3]){x[0], x[1], x[2]});
        for (int i = 0; i < n; i++)
            for (int d = 0; d < 3; d++) {
                /* fmin would be a function call */
                least[d] = x[d][i] < least[d] ? x[d][i] : least[d];
                most[d] = x[d][i] > most[d] ? x[d][i] : most[d];
            }
    }
    memcpy(low, least, sizeof least);
    memcpy(high, most, sizeof most);
}

/* HX_EINPUT: the part is so far from the origin that doubles hardly distinguish the nodes of an
 * element. The element size is estimated from equal cubes that fill the bounding box, which gives
 * an upper bound. */
static int check_place(const hx_mesh *mesh)
{
    double volume = 1.0, far = 0.0;
    for (int i = 0; i < 3; i++) {
        volume *= mesh->box_max[i] - mesh->box_min[i];
        far = fmax(far, fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i])));
    }
    const double size = cbrt(volume / (double)hx_mesh_n_elem_all(mesh)), step = far * DBL_EPSILON;
    if (!(size > 0.0) || step <= HX_MESH_COARSEST_STEP * size) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "%s: coordinates of up to %g have a spacing of %.2g in double precision, but "
                    "elements have a size of only %.2g: move the part to the origin",
                    mesh->name, far, step, size);
}

void hx_mesh_free_lists(hx_mesh *mesh)
{
    free(mesh->node_elem_ptr);
    free(mesh->node_elem);
    mesh->node_elem_ptr = NULL;
    mesh->node_elem = NULL;
}

int hx_mesh_finish(hx_mesh *mesh)
{
    int rc = HX_OK;
    if (mesh->node_elem_ptr) return HX_RAISE(HX_EINTERNAL, "%s: finished twice", mesh->name);
    HX_TRY_FAIL(check_coordinates(mesh));
    HX_TRY_FAIL(hx_mesh_build_incidence(mesh, &mesh->node_elem_ptr, &mesh->node_elem));
    HX_TRY_FAIL(check_nodes_used(mesh));
    HX_TRY_FAIL(find_box(mesh));
    HX_TRY_FAIL(check_place(mesh));
    HX_TRY_FAIL(check_elements(mesh));
    HX_TRY_FAIL(hx_mesh_complete_sets(mesh));
    HX_TRY_FAIL(hx_mesh_apply_set_rules(mesh));
    HX_TRY_FAIL(hx_middles_finish(mesh));
    return HX_OK;
fail:
    hx_mesh_free_lists(mesh);
    return rc;
}

static void find_volumes(const hx_mesh *mesh, int64_t begin, int64_t end, double *volume)
{
    int64_t e = begin;
    for (; e + HX_HEX_LANES <= end; e += HX_HEX_LANES)
        hx_hex_volumes_of(mesh->xyz, mesh->conn + 8 * e, volume + e);
    for (; e < end; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        volume[e] = hx_hex_volume(&map);
    }
}

void hx_mesh_volumes(const hx_mesh *mesh, double *volume)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t begin = hx_part_begin(mesh->n_elem, part),
                      end = hx_part_begin(mesh->n_elem, part + 1);
        if (mesh->volume)
            memcpy(volume + begin, mesh->volume + begin, (size_t)(end - begin) * sizeof *volume);
        else
            find_volumes(mesh, begin, end, volume);
    }
}

void hx_mesh_account(hx_account *account, int64_t n_node, int64_t n_elem)
{
    const size_t nodes = (size_t)n_node, elems = (size_t)n_elem;
    hx_account_add(account, "coordinates", nodes * 3 * sizeof(double));
    hx_account_add(account, "connectivity", elems * 8 * sizeof(int32_t));
    hx_account_add(account, "node_pointers", (nodes + 1) * sizeof(int64_t));
    hx_account_add(account, "node_elements", elems * 8 * sizeof(uint32_t));
}

size_t hx_mesh_bytes_per_elem(void)
{
    hx_account none = {0}, one = {0};
    hx_mesh_account(&none, 0, 0);
    hx_mesh_account(&one, 1, 1);
    return hx_account_sum(&one) - hx_account_sum(&none);
}

size_t hx_mesh_bytes(const hx_mesh *mesh)
{
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    size_t bytes = n_node * 3 * sizeof *mesh->xyz + n_elem * 8 * sizeof *mesh->conn;
    if (mesh->node_elem_ptr)
        bytes += (n_node + 1) * sizeof *mesh->node_elem_ptr + n_elem * 8 * sizeof *mesh->node_elem;
    if (mesh->node_orig) bytes += n_node * sizeof *mesh->node_orig;
    if (mesh->elem_orig) bytes += n_elem * sizeof *mesh->elem_orig;
    if (mesh->volume) bytes += n_elem * sizeof *mesh->volume;
    if (mesh->parts.before) bytes += n_elem * sizeof *mesh->parts.before;
    bytes += hx_middles_bytes(&mesh->middles);
    bytes += hx_numbers_bytes(&mesh->node_number) + hx_numbers_bytes(&mesh->elem_number);
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        bytes += sizeof *set + (size_t)set->n_node * sizeof *set->node +
                 (size_t)set->n_elem * sizeof *set->elem + (size_t)set->n_face * sizeof *set->face;
    }
    return bytes;
}

void hx_mesh_free(hx_mesh *mesh)
{
    if (!mesh) return;
    for (size_t i = 0; i < mesh->n_set; i++) hx_set_free(&mesh->set[i]);
    free(mesh->set);
    hx_set_rules_free(&mesh->rules);
    hx_mesh_free_shared(mesh);
    free(mesh->xyz);
    free(mesh->conn);
    free(mesh->node_elem_ptr);
    free(mesh->node_elem);
    free(mesh->node_orig);
    free(mesh->elem_orig);
    free(mesh->parts.first);
    free(mesh->parts.before);
    if (mesh->ownership) free(mesh->ownership->first);
    free(mesh->ownership);
    free(mesh->volume);
    hx_numbers_free(&mesh->node_number);
    hx_numbers_free(&mesh->elem_number);
    hx_middles_free(&mesh->middles);
    free(mesh->name);
    memset(mesh, 0, sizeof *mesh);
}
