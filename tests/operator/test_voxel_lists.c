/* Meshes whose elements are voxels: each element and node is found at its place, in any order; and
 * which meshes are not voxel meshes. */
#include "core/operator/voxel_blocks.h"
#include "tests/lib/box_part.h"

static int has_notch(int i, int j, int k)
{
    return !(i > 2 && k > 1) && (i * 7 + j * 5 + k * 3) % 11 != 0;
}

/* Rotates the numbering of each element about its x axis, one step more than the element before. */
static void turn(hx_mesh *mesh)
{
    static const int turned[8] = {3, 2, 6, 7, 0, 1, 5, 4};
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int k = 0; k < e % 4; k++) {
            int32_t conn[8];
            for (int a = 0; a < 8; a++) conn[a] = mesh->conn[8 * e + turned[a]];
            memcpy(mesh->conn + 8 * e, conn, sizeof conn);
        }
}

static double middle(const hx_mesh *mesh, int64_t elem, int i)
{
    double x[3];
    hx_mesh_centroid(mesh, elem, x);
    return x[i];
}

/* Elements and nodes are where the lists state, and all are listed. */
static void check_places(const hx_voxel_lists *v, const hx_mesh *mesh, const char *what)
{
    int64_t n_elem = 0, n_node = 0, n_wrong = 0;
    for (int64_t p = 0; p < hx_voxel_lists_elems(v); p++) {
        const int64_t at[3] = {p % v->n[0], p / v->n[0] % v->n[1], p / v->n[0] / v->n[1]};
        if (v->elem[p] < 0) continue;
        n_elem++;
        for (int i = 0; i < 3; i++) {
            const double x = mesh->box_min[i] + v->edge[i] * ((double)at[i] + 0.5);
            n_wrong += !(fabs(middle(mesh, v->elem[p], i) - x) <= 1e-11 * v->edge[i]);
        }
    }
    for (int64_t p = 0; p < hx_voxel_lists_nodes(v); p++) {
        const int64_t nx = v->n[0] + 1, ny = v->n[1] + 1;
        const int64_t at[3] = {p % nx, p / nx % ny, p / nx / ny};
        if (v->node[p] < 0) continue;
        n_node++;
        for (int i = 0; i < 3; i++) {
            const double x = mesh->box_min[i] + v->edge[i] * (double)at[i];
            n_wrong += !(fabs(mesh->xyz[3 * (int64_t)v->node[p] + i] - x) <= 1e-11 * v->edge[i]);
        }
    }
    CHECK_MSG(n_elem == mesh->n_elem && n_node == mesh->n_node && n_wrong == 0,
              "%s: %lld elements and %lld nodes, %lld wrong", what, (long long)n_elem,
              (long long)n_node, (long long)n_wrong);
}

/* Content of a block's nodes: -1: none, 1: one is marked, 0: otherwise. */
static int look(const hx_voxel_lists *v, const hx_voxel_tiling *t, int block, const uint8_t *mark)
{
    const int tiles = t->tile[0] * t->tile[1];
    int found = -1;
    for (int64_t p = 0; p < hx_voxel_lists_nodes(v); p++) {
        const int64_t i = p % (v->n[0] + 1), j = p / (v->n[0] + 1) % (v->n[1] + 1),
                      k = p / (v->n[0] + 1) / (v->n[1] + 1);
        const int64_t of = k / t->depth * tiles + j / t->own[1] * t->tile[0] + i / t->own[0];
        if (of != block || v->node[p] < 0) continue;
        if (found < 0) found = 0;
        if (mark[v->node[p]]) found = 1;
    }
    return found;
}

/* Lists all blocks with nodes, once; first those with a node of interface[n], both groups
 * ascending. */
static void check_blocks(const hx_voxel_lists *v, const hx_mesh *mesh, int64_t n,
                         const int32_t *interface)
{
    const hx_voxel_tiling t = {{3, 2}, {(int)(v->n[0] + 3) / 3, (int)(v->n[1] + 2) / 2}, 2};
    const int n_all = t.tile[0] * t.tile[1] * (int)((v->n[2] + 2) / 2);
    uint8_t *const mark = calloc((size_t)mesh->n_node, 1);
    int32_t *block;
    int n_block, n_boundary, at[2] = {0, 0}, n_wrong = 0;
    for (int64_t i = 0; i < n; i++) mark[interface[i]] = 1;
    CHECK_OK(
        hx_voxel_blocks_list(v, &t, mesh->n_node, n, interface, &n_block, &n_boundary, &block));
    at[0] = n_boundary;
    for (int b = 0; b < n_all; b++) {
        const int found = look(v, &t, b, mark);
        if (found >= 0) n_wrong += at[found] >= n_block || block[at[found]++] != b;
    }
    CHECK_MSG(n_wrong == 0 && at[0] == n_block && at[1] == n_boundary,
              "%d blocks, %d before others: %d wrong", n_block, n_boundary, n_wrong);
    free(block);
    free(mark);
}

/* With no, one, some and all nodes as interface nodes. */
static void check_all_blocks(const hx_voxel_lists *v, const hx_mesh *mesh)
{
    const int64_t n[] = {0, 1, mesh->n_node / 7, mesh->n_node};
    int32_t *const interface = malloc((size_t)mesh->n_node * sizeof *interface);
    for (int64_t i = 0; i < mesh->n_node; i++) interface[i] = (int32_t)(mesh->n_node - 1 - i);
    for (int k = 0; k < 4; k++) check_blocks(v, mesh, n[k], interface);
    free(interface);
}

static void check(const char *what, const box_part *part, int is_grid, void (*change)(hx_mesh *))
{
    for (int order = 0; order < 2; order++) {
        hx_mesh mesh;
        hx_voxel_lists v;
        CHECK_OK(box_part_create(&mesh, part));
        if (change) change(&mesh);
        CHECK_OK(fixture_finish(&mesh, order ? FIXTURE_SHUFFLED : FIXTURE_REORDERED));
        CHECK_OK(hx_voxel_lists_create(&v, &mesh));
        CHECK_MSG((v.n[0] > 0) == is_grid, "%s: %s", what, is_grid ? "no voxels" : "voxels");
        if (is_grid && v.n[0] > 0) check_places(&v, &mesh, what);
        if (is_grid && v.n[0] > 0) check_all_blocks(&v, &mesh);
        CHECK(is_grid || (!v.elem && !v.node));
        hx_voxel_lists_free(&v);
        hx_voxel_lists_free(&v);
        hx_mesh_free(&mesh);
    }
}

/* Separates a node of the first element from the other elements there. */
static void tear(hx_mesh *mesh)
{
    mesh->xyz = realloc(mesh->xyz, 3 * (size_t)(mesh->n_node + 1) * sizeof *mesh->xyz);
    if (!mesh->xyz) abort();
    memcpy(mesh->xyz + 3 * mesh->n_node, mesh->xyz + 3 * (int64_t)mesh->conn[6],
           3 * sizeof *mesh->xyz);
    mesh->conn[6] = (int32_t)mesh->n_node++;
}

/* Moves two opposite nodes of the first element inwards, which keeps centroids. */
static void pinch(hx_mesh *mesh)
{
    for (int i = 0; i < 3; i++) {
        mesh->xyz[3 * (int64_t)mesh->conn[0] + i] += 1e-6;
        mesh->xyz[3 * (int64_t)mesh->conn[6] + i] -= 1e-6;
    }
}

int main(void)
{
    const box_part one = {.n = {1, 1, 1}}, box = {.n = {7, 4, 5}},
                   flat = {.n = {5, 9, 4}, .scale = 0.1, .offset = 50.0, .flat = 3.0},
                   part = {.n = {8, 6, 5}, .keep = has_notch}, row = {.n = {1, 17, 1}},
                   moved = {.n = {5, 4, 3}, .distort = 1e-9},
                   graded = {.n = {6, 4, 3}, .ratio = 1.001};
    check("an element", &one, 1, NULL);
    check("a box", &box, 1, NULL);
    check("a box, turned", &box, 1, turn);
    check("flat bricks far away", &flat, 1, turn);
    check("a part", &part, 1, turn);
    check("a row", &row, 1, NULL);
    check("moved", &moved, 0, NULL);
    check("graded", &graded, 0, NULL);
    check("torn", &box, 0, tear);
    check("an element pinched", &one, 0, pinch);
    TEST_END();
}
