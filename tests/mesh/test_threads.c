/* Parallel algorithms give the results of serial code, for any number of threads. */
#include <stdlib.h>
#include <string.h>

#include "core/base/radix_sort.h"
#include "core/design/optimizer.h"
#include "core/generate/generate.h"
#include "core/mesh/hex8.h"
#include "core/mesh/mesh_quality.h"
#include "tests/lib/fixture.h"
#include "tests/lib/test.h"

enum { MOST_THREADS = 3 };

static void *new_array(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (!p) abort();
    return p;
}

typedef struct pair {
    uint64_t key;
    int32_t index;
} pair;

static int compare_pairs(const void *a, const void *b)
{
    const pair *const x = a, *const y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Sorts keys of which `mask` keeps some bits, so that many are equal. */
static void check_sort(int64_t n, uint64_t mask)
{
    pair *const expected = new_array((size_t)n, sizeof *expected);
    uint64_t *const key = new_array((size_t)n, sizeof *key);
    int32_t *const order = new_array((size_t)n, sizeof *order);
    uint64_t state = 88172645463325252u;
    for (int64_t i = 0; i < n; i++) {
        fixture_uniform(&state, 0.0, 1.0);
        expected[i].key = state & mask;
        expected[i].index = (int32_t)i;
    }
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        int64_t wrong = 0;
        fixture_set_threads(threads);
        for (int64_t i = 0; i < n; i++) key[expected[i].index] = expected[i].key;
        if (threads == 1) qsort(expected, (size_t)n, sizeof *expected, compare_pairs);
        CHECK_OK(hx_radix_sort(key, order, n, 63));
        for (int64_t i = 0; i < n; i++) wrong += order[i] != expected[i].index;
        CHECK_MSG(wrong == 0, "%lld keys, %d threads: %lld wrong", (long long)n, threads,
                  (long long)wrong);
    }
    free(expected);
    free(key);
    free(order);
}

static void test_sort(void)
{
    const uint64_t all = ((uint64_t)1 << 63) - 1;
    check_sort(0, all);
    check_sort(1, all);
    check_sort(5000, all);
    check_sort(300001, all);
    check_sort(300001, (uint64_t)0x1f << 40);
    check_sort(300001, 0);
    check_sort(300001, (uint64_t)0xff << 55 | 0xfffff); /* long runs of equal high bits */
    check_sort(300001, (uint64_t)0x3 << 61 | 0xfffff);  /* too long for one thread */
    check_sort(300001, 0xfffff);
}

/* A distorted box in random order, renumbered, with sets of nodes and elements. */
static void make_mesh(hx_mesh *mesh)
{
    int32_t elem[500];
    CHECK_OK(hx_generate_box(mesh, 30, 14, 11, 30.0, 14.0, 11.0));
    CHECK_OK(hx_mesh_distort(mesh, 0.2, 5));
    for (int i = 0; i < 500; i++) elem[i] = 7 * i;
    CHECK_OK(hx_mesh_add_elem_set(mesh, "some", 500, elem));
    CHECK_OK(hx_mesh_shuffle(mesh, 9));
    CHECK_OK(hx_mesh_reorder(mesh));
    CHECK_OK(hx_mesh_finish(mesh));
}

static int same(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

static void check_same_mesh(const hx_mesh *a, const hx_mesh *b)
{
    CHECK(same(a->xyz, b->xyz, 3 * a->n_node, sizeof *a->xyz));
    CHECK(same(a->conn, b->conn, 8 * a->n_elem, sizeof *a->conn));
    CHECK(same(a->node_elem_ptr, b->node_elem_ptr, a->n_node + 1, sizeof *a->node_elem_ptr));
    CHECK(same(a->node_elem, b->node_elem, 8 * a->n_elem, sizeof *a->node_elem));
    CHECK(same(a->node_orig, b->node_orig, a->n_node, sizeof *a->node_orig));
    CHECK(same(a->elem_orig, b->elem_orig, a->n_elem, sizeof *a->elem_orig));
    CHECK(same(&a->total_volume, &b->total_volume, 1, sizeof a->total_volume));
    for (size_t i = 0; i < a->n_set; i++) {
        const hx_set *const x = &a->set[i], *const y = &b->set[i];
        CHECK(x->n_node == y->n_node && same(x->node, y->node, x->n_node, sizeof *x->node));
        CHECK(x->n_elem == y->n_elem && same(x->elem, y->elem, x->n_elem, sizeof *x->elem));
    }
}

/* Nodes are in the order in which the elements name them. */
static void check_first_use(const hx_mesh *mesh)
{
    int32_t next = 0;
    int64_t wrong = 0;
    for (int64_t i = 0; i < 8 * mesh->n_elem; i++) {
        wrong += mesh->conn[i] > next;
        if (mesh->conn[i] == next) next++;
    }
    CHECK_MSG(wrong == 0 && next == mesh->n_node, "%lld wrong", (long long)wrong);
}

static void check_incidence(const hx_mesh *mesh)
{
    int64_t *const filled = new_array((size_t)mesh->n_node, sizeof *filled);
    int64_t wrong = mesh->node_elem_ptr[mesh->n_node] != 8 * mesh->n_elem;
    for (int64_t i = 0; i < 8 * mesh->n_elem; i++) {
        const int32_t a = mesh->conn[i];
        const int64_t k = mesh->node_elem_ptr[a] + filled[a]++;
        wrong += k >= mesh->node_elem_ptr[a + 1] || mesh->node_elem[k] != (uint32_t)i;
    }
    CHECK_MSG(wrong == 0, "%lld wrong", (long long)wrong);
    free(filled);
}

static void test_mesh(void)
{
    hx_mesh one, mesh;
    hx_mesh_quality expected, quality;
    fixture_set_threads(1);
    make_mesh(&one);
    check_first_use(&one);
    check_incidence(&one);
    CHECK_OK(hx_mesh_measure(&one, &expected));
    CHECK(expected.n_body == 1 && expected.largest_body == one.n_elem && expected.n_hinge == 0);
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        fixture_set_threads(threads);
        make_mesh(&mesh);
        check_same_mesh(&one, &mesh);
        CHECK_OK(hx_mesh_measure(&mesh, &quality));
        CHECK(memcmp(&quality, &expected, sizeof quality) == 0);
        hx_mesh_free(&mesh);
    }
    hx_mesh_free(&one);
}

/* Nodes without elements are numbered last, in their order. */
static void test_unused_nodes(void)
{
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        hx_mesh mesh;
        double *const xyz = new_array(12 * 3, sizeof *xyz);
        int32_t *const conn = new_array(8, sizeof *conn);
        static const int32_t used[8] = {1, 2, 4, 5, 7, 8, 9, 11};
        fixture_set_threads(threads);
        for (int i = 0; i < 8; i++) {
            conn[i] = used[7 - i];
            xyz[3 * used[7 - i]] = i == 1 || i == 2 || i == 5 || i == 6;
            xyz[3 * used[7 - i] + 1] = i % 4 >= 2;
            xyz[3 * used[7 - i] + 2] = i >= 4;
        }
        CHECK_OK(hx_mesh_create(&mesh, "made", 12, xyz, 1, conn));
        CHECK_OK(hx_mesh_reorder(&mesh));
        static const int32_t expected[12] = {11, 9, 8, 7, 5, 4, 2, 1, 0, 3, 6, 10};
        CHECK(same(mesh.node_orig, expected, 12, sizeof *expected));
        for (int i = 0; i < 8; i++) CHECK(mesh.conn[i] == i);
        CHECK_FAILS(hx_mesh_finish(&mesh), HX_EINPUT, "node 0 belongs to no element (4 such");
        hx_mesh_free(&mesh);
    }
}

/* A box without the elements of the layers x = 10 and x = 20: three parts. */
static void make_parts(hx_mesh *mesh)
{
    hx_mesh box;
    int64_t n_elem = 0, n_node = 0;
    CHECK_OK(hx_generate_box(&box, 30, 12, 10, 30.0, 12.0, 10.0));
    CHECK_OK(hx_mesh_shuffle(&box, 4));
    CHECK_OK(hx_mesh_finish(&box));
    int32_t *const conn = new_array(8 * (size_t)box.n_elem, sizeof *conn);
    int32_t *const number = new_array((size_t)box.n_node, sizeof *number);
    double *const xyz = new_array(3 * (size_t)box.n_node, sizeof *xyz);
    for (int64_t e = 0; e < box.n_elem; e++) {
        const int64_t layer = hx_mesh_elem_number(&box, e) % 30;
        if (layer == 10 || layer == 20) continue;
        memcpy(conn + 8 * n_elem++, box.conn + 8 * e, 8 * sizeof *conn);
    }
    for (int64_t i = 0; i < 8 * n_elem; i++) {
        const int32_t a = conn[i];
        if (number[a] == 0) {
            memcpy(xyz + 3 * n_node, box.xyz + 3 * (size_t)a, 3 * sizeof *xyz);
            number[a] = (int32_t)++n_node;
        }
        conn[i] = number[a] - 1;
    }
    CHECK_OK(hx_mesh_create(mesh, "parts", n_node, xyz, n_elem, conn));
    CHECK_OK(hx_mesh_shuffle(mesh, 6));
    CHECK_OK(hx_mesh_finish(mesh));
    free(number);
    hx_mesh_free(&box);
}

static void test_bodies(void)
{
    hx_mesh mesh;
    fixture_set_threads(1);
    make_parts(&mesh);
    int32_t *const smallest = new_array((size_t)mesh.n_node, sizeof *smallest);
    int32_t *const number = new_array((size_t)mesh.n_node, sizeof *number);
    int32_t *const body = new_array((size_t)mesh.n_node, sizeof *body);
    for (int64_t a = 0; a < mesh.n_node; a++) smallest[a] = (int32_t)a;
    for (int changed = 1; changed;) { /* propagate the smallest node until nothing changes */
        changed = 0;
        for (int64_t e = 0; e < mesh.n_elem; e++) {
            const int32_t *const conn = mesh.conn + 8 * e;
            int32_t least = INT32_MAX;
            for (int i = 0; i < 8; i++)
                if (smallest[conn[i]] < least) least = smallest[conn[i]];
            for (int i = 0; i < 8; i++) {
                changed |= smallest[conn[i]] != least;
                smallest[conn[i]] = least;
            }
        }
    }
    int32_t n_expected = 0;
    for (int64_t a = 0; a < mesh.n_node; a++)
        if (smallest[a] == a) number[a] = n_expected++;
    CHECK(n_expected == 3);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        int64_t n_body = 0, wrong = 0;
        hx_mesh_quality quality;
        fixture_set_threads(threads);
        CHECK_OK(hx_mesh_bodies(&mesh, body, &n_body));
        for (int64_t a = 0; a < mesh.n_node; a++) wrong += body[a] != number[smallest[a]];
        CHECK_MSG(n_body == 3 && wrong == 0, "%lld bodies, %lld wrong", (long long)n_body,
                  (long long)wrong);
        CHECK_OK(hx_mesh_measure(&mesh, &quality));
        CHECK(quality.n_body == 3 && quality.largest_body == 10 * 12 * 10);
    }
    free(smallest);
    free(number);
    free(body);
    hx_mesh_free(&mesh);
}

/* An update by optimality criteria, and a filtered field of its proposal, on the CPU. */
static double update(const hx_problem *problem, const double *density, const double *dc,
                     double *proposal)
{
    const hx_filter_params params = {.radius = 2.2 * problem->mesh->elem_size};
    double change = NAN;
    hx_oc_state state;
    hx_device cpu;
    hx_filter filter;
    const hx_device_oc oc = {.n = problem->mesh->n_elem,
                             .move = 0.2,
                             .damping = 0.5,
                             .rho_min = 0.01,
                             .d_design = density,
                             .d_dc = dc,
                             .d_dv = problem->volume,
                             .d_proposal = proposal,
                             .d_state = &state};
    CHECK_OK(hx_device_open(&cpu, hx_device_find("cpu")));
    CHECK_OK(hx_oc_update(&cpu, &oc, 0.4 * problem->design_volume, &change));
    CHECK_OK(hx_filter_create(&filter, hx_filter_find("sensitivity"), &cpu, problem, &params));
    CHECK_OK(hx_filter_backward(&filter, density, proposal, NULL));
    hx_filter_free(&filter);
    hx_device_close(&cpu);
    return change;
}

static void test_problem(void)
{
    const hx_support_spec support = {"left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load = {"right", "test", HX_LOAD_TRACTION, {0.0, 1.0, -2.0}, 1};
    const hx_problem_params params = {.origin = "test",
                                      .young = 1.0,
                                      .poisson = 0.3,
                                      .rho_min = 0.01,
                                      .n_support = 1,
                                      .n_load = 1,
                                      .support = &support,
                                      .load = &load};
    hx_problem one, problem;
    hx_mesh mesh;
    fixture_set_threads(1);
    make_mesh(&mesh);
    const size_t n = (size_t)mesh.n_elem;
    double *const density = new_array(n, sizeof *density), *const dc = new_array(n, sizeof *dc);
    double *const expected = new_array(n, sizeof *expected), *const next = new_array(n, sizeof *dc);
    uint64_t state = 17;
    double off = 0.0;
    for (size_t e = 0; e < n; e++) {
        density[e] = fixture_uniform(&state, 0.01, 1.0);
        dc[e] = fixture_uniform(&state, -3.0, 0.0);
    }
    CHECK_OK(hx_problem_create(&one, &mesh, &params));
    CHECK(one.supports.prescribed == NULL);
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        double x[24];
        for (int a = 0; a < 8; a++)
            memcpy(x + 3 * a, mesh.xyz + 3 * (size_t)mesh.conn[8 * e + a], 3 * sizeof *x);
        /* far from the origin rounding errors are larger */
        for (int i = 23; i >= 0; i--) x[i] -= x[i % 3];
        const double exact = hx_hex8_volume(x);
        test_worst(&off, fabs(one.volume[e] - exact) / exact);
    }
    CHECK_ABS(off, 0.0, 1e-15);
    const double change = update(&one, density, dc, expected);
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        fixture_set_threads(threads);
        CHECK_OK(hx_problem_create(&problem, &mesh, &params));
        CHECK(same(problem.volume, one.volume, mesh.n_elem, sizeof(double)));
        CHECK(same(problem.cases.force[0], one.cases.force[0], 3 * mesh.n_node, sizeof(double)));
        const double changed = update(&problem, density, dc, next);
        CHECK(same(&changed, &change, 1, sizeof change));
        CHECK(same(next, expected, mesh.n_elem, sizeof *next));
        hx_problem_free(&problem);
    }
    hx_problem_free(&one);
    hx_mesh_free(&mesh);
    free(density);
    free(dc);
    free(expected);
    free(next);
}

int main(void)
{
    test_sort();
    test_mesh();
    test_unused_nodes();
    test_bodies();
    test_problem();
    TEST_END();
}
