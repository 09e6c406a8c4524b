/* Distributed meshes compared with the whole mesh, which each process also makes: elements, nodes
 * and neighbours, sets, ownership, global sums, connected pieces of some elements; and the exchange
 * of items between ranks. Run by mpirun with any number of processes, or without it as a single
 * one. */
#include <stdlib.h>
#include <string.h>

#include "core/comm/comm_alltoall.h"
#include "core/comm/comm_reduce.h"
#include "core/dist_mesh/dist_mesh.h"
#include "core/generate/generate.h"
#include "core/mesh/mesh_hash.h"
#include "core/mesh/mesh_quality.h"
#include "core/partition/partition.h"
#include "tests/lib/test.h"

typedef struct job {
    hx_comm comm;
    hx_comm_reduce reduce;
    hx_mesh whole, ownership;
    hx_partition partition; /* of the whole mesh */
    int32_t *elem_at;       /* [whole.n_elem] index in `whole` of each element of the source */
    /* [whole.n_elem] index in `ownership` of each element of `whole`; -1: not on this rank */
    int32_t *here;
} job;

static int make_whole(job *j, const hx_generator *gen, const hx_generate_params *params,
                      hx_partition_kind kind)
{
    HX_TRY(hx_generate(gen, &j->whole, params));
    HX_TRY(hx_mesh_reorder(&j->whole));
    HX_TRY(hx_mesh_finish(&j->whole));
    HX_TRY(hx_mesh_invert(j->whole.n_elem, j->whole.elem_orig, &j->elem_at));
    return hx_partition_make(&j->partition, &j->whole, kind, j->comm.size);
}

static int make_dist_mesh(job *j, const hx_generator *gen, const hx_generate_params *params,
                          const hx_dist_mesh_params *ownership)
{
    hx_mesh_source source;
    HX_TRY(gen->open(&source, params));
    const int rc =
        hx_dist_mesh_create(&j->ownership, &j->comm, &j->reduce.base, &source, ownership);
    hx_source_close(&source);
    HX_TRY(rc);
    return hx_mesh_finish(&j->ownership);
}

/* Returns the rank that owns an element of the distributed mesh. */
static int rank_of(const job *j, int64_t e)
{
    int rank = 0;
    while (e >= j->ownership.ownership->first[rank + 1]) rank++;
    return rank;
}

static int64_t in_whole(const job *j, int64_t e)
{
    return j->elem_at[j->ownership.elem_orig[e]];
}

/* Elements of each rank follow the whole mesh's order, and all own elements are present. */
static void check_elements(job *j)
{
    const hx_mesh *const w = &j->ownership;
    int64_t n_wrong = 0, n_own = 0;
    j->here = malloc((size_t)j->whole.n_elem * sizeof *j->here);
    for (int64_t e = 0; e < j->whole.n_elem; e++) {
        j->here[e] = -1;
        n_own += j->partition.rank[e] == j->comm.rank;
    }
    CHECK(hx_mesh_own_end(w) - hx_mesh_own_begin(w) == n_own);
    for (int64_t e = 0; e < w->n_elem; e++) {
        const int64_t at = in_whole(j, e);
        const int rank = rank_of(j, e);
        n_wrong += j->here[at] >= 0 || j->partition.rank[at] != rank;
        n_wrong += e > w->ownership->first[rank] && in_whole(j, e - 1) >= at;
        j->here[at] = (int32_t)e;
    }
    CHECK_MSG(n_wrong == 0, "%lld elements are wrong", (long long)n_wrong);
}

static void check_nodes(const job *j)
{
    const hx_mesh *const w = &j->ownership, *const all = &j->whole;
    int32_t *node_at;
    int64_t n_wrong = 0, n_moved = 0;
    CHECK_OK(hx_mesh_invert(all->n_node, all->node_orig, &node_at));
    for (int64_t e = 0; e < w->n_elem; e++)
        for (int c = 0; c < 8; c++)
            n_wrong += w->node_orig[w->conn[8 * e + c]] !=
                       all->node_orig[all->conn[8 * in_whole(j, e) + c]];
    for (int64_t a = 0; a < w->n_node; a++)
        n_moved += memcmp(w->xyz + 3 * a, all->xyz + 3 * (int64_t)node_at[w->node_orig[a]],
                          3 * sizeof *w->xyz) != 0;
    CHECK_MSG(n_wrong == 0 && n_moved == 0, "%lld nodes and %lld coordinates are wrong",
              (long long)n_wrong, (long long)n_moved);
    free(node_at);
}

/* All elements at nodes of own elements, and all within reach, are present. */
static void check_neighbours(const job *j, double reach)
{
    const hx_mesh *const all = &j->whole;
    int64_t n_missing = 0, n_far = 0;
    for (int64_t e = 0; e < all->n_elem; e++) {
        double x[3];
        if (j->partition.rank[e] != j->comm.rank) continue;
        for (int c = 0; c < 8; c++) {
            const int32_t a = all->conn[8 * e + c];
            for (int64_t k = all->node_elem_ptr[a]; k < all->node_elem_ptr[a + 1]; k++)
                n_missing += j->here[all->node_elem[k] / 8] < 0;
        }
        hx_mesh_centroid(all, e, x);
        for (int64_t f = 0; reach > 0.0 && f < all->n_elem; f++) {
            double y[3], square = 0.0;
            if (j->here[f] >= 0) continue;
            hx_mesh_centroid(all, f, y);
            for (int d = 0; d < 3; d++) square += (x[d] - y[d]) * (x[d] - y[d]);
            n_far += square <= reach * reach;
        }
    }
    CHECK_MSG(n_missing == 0 && n_far == 0, "missing elements: %lld at nodes, %lld within reach",
              (long long)n_missing, (long long)n_far);
}

/* A node is owned by the lowest rank with an element at it; own nodes are consecutive, and together
 * they are all nodes. */
static void check_owners(const job *j)
{
    const hx_mesh *const w = &j->ownership, *const all = &j->whole;
    int64_t n_wrong = 0, n_own = 0;
    int32_t *node_at;
    CHECK_OK(hx_mesh_invert(all->n_node, all->node_orig, &node_at));
    for (int64_t a = 0; a < w->n_node; a++) {
        const int32_t at = node_at[w->node_orig[a]];
        int least = j->comm.size;
        for (int64_t k = all->node_elem_ptr[at]; k < all->node_elem_ptr[at + 1]; k++) {
            const int rank = j->partition.rank[all->node_elem[k] / 8];
            least = rank < least ? rank : least;
        }
        n_wrong += (least == j->comm.rank) != hx_mesh_owns_node(w, a);
        n_own += least == j->comm.rank;
    }
    CHECK(n_wrong == 0 && n_own == w->ownership->n_own_node);
    CHECK_OK(hx_comm_agree(&j->comm, HX_OK));
    CHECK_OK(hx_reduce_sum_i64(&j->reduce.base, 1, &n_own));
    CHECK(n_own == all->n_node && w->ownership->n_node == all->n_node);
    CHECK(w->ownership->n_elem == all->n_elem);
    free(node_at);
}

static void check_sums(const job *j)
{
    const hx_mesh *const w = &j->ownership, *const all = &j->whole;
    hx_hash own;
    const hx_hash whole = hx_mesh_hash(all);
    CHECK_REL(w->total_volume, all->total_volume, 1e-13);
    CHECK_REL(w->elem_size, all->elem_size, 1e-13);
    CHECK(memcmp(w->n_kind, all->n_kind, sizeof w->n_kind) == 0);
    CHECK(memcmp(w->box_min, all->box_min, sizeof w->box_min) == 0);
    CHECK(memcmp(w->box_max, all->box_max, sizeof w->box_max) == 0);
    CHECK_OK(hx_mesh_hash_all(w, &own));
    CHECK(own.a == whole.a && own.b == whole.b);
}

/* flag[orig] := 1 for the items of a list. */
static uint8_t *flags_of(int64_t n_all, int64_t n, const int32_t *list, const int32_t *orig)
{
    uint8_t *const flag = calloc((size_t)n_all + 1, 1);
    for (int64_t k = 0; k < n; k++) flag[orig[list[k]]] = 1;
    return flag;
}

/* Checks a set on own elements and their nodes; outermost nodes of the part may lack some of
 * their elements. */
static void check_set(const hx_mesh *w, uint8_t *const node[2], uint8_t *const elem[2])
{
    int64_t n_wrong = 0;
    for (int64_t e = hx_mesh_own_begin(w); e < hx_mesh_own_end(w); e++) {
        n_wrong += elem[0][w->elem_orig[e]] != elem[1][w->elem_orig[e]];
        for (int c = 0; c < 8; c++) {
            const int32_t a = w->node_orig[w->conn[8 * e + c]];
            n_wrong += node[0][a] != node[1][a];
        }
    }
    CHECK_MSG(n_wrong == 0, "%lld members of a set are wrong", (long long)n_wrong);
}

static void check_sets(const job *j)
{
    const hx_mesh *const w = &j->ownership, *const all = &j->whole;
    CHECK(w->n_set == all->n_set && w->n_set > 0);
    for (size_t i = 0; i < w->n_set; i++) {
        const hx_set *const a = &w->set[i], *const b = hx_mesh_find_set(all, a->name);
        CHECK(b != NULL);
        if (!b) continue;
        uint8_t *const of[4] = {flags_of(all->n_node, a->n_node, a->node, w->node_orig),
                                flags_of(all->n_node, b->n_node, b->node, all->node_orig),
                                flags_of(all->n_elem, a->n_elem, a->elem, w->elem_orig),
                                flags_of(all->n_elem, b->n_elem, b->elem, all->elem_orig)};
        check_set(w, of, of + 2);
        for (int k = 0; k < 4; k++) free(of[k]);
    }
}

/* Selects about one in n elements of the source at random. */
static int is_there(int64_t elem, unsigned n)
{
    const uint64_t h = ((uint64_t)elem + 1) * 0x9e3779b97f4a7c15u;
    return (h >> 40) % n == 0;
}

static uint8_t *flag_elements(const hx_mesh *mesh, unsigned n)
{
    uint8_t *const flag = calloc((size_t)mesh->n_elem, 1);
    for (int64_t e = 0; e < mesh->n_elem; e++) flag[e] = (uint8_t)is_there(mesh->elem_orig[e], n);
    return flag;
}

/* Nodes of own elements must have a piece if they have one in the whole mesh, with a one-to-one
 * correspondence of pieces. Returns the number of wrong nodes. */
static int64_t compare_pieces(const job *j, const int32_t *own, const int32_t *whole,
                              int64_t n_piece)
{
    const hx_mesh *const w = &j->ownership;
    int32_t *node_at, *const of = malloc((size_t)(n_piece + 1) * sizeof *of);
    int64_t n_wrong = 0;
    CHECK_OK(hx_mesh_invert(j->whole.n_node, j->whole.node_orig, &node_at));
    memset(of, 0xff, (size_t)(n_piece + 1) * sizeof *of);
    for (int64_t i = 8 * hx_mesh_own_begin(w); i < 8 * hx_mesh_own_end(w); i++) {
        const int32_t a = own[w->conn[i]], b = whole[node_at[w->node_orig[w->conn[i]]]];
        n_wrong += (a < 0) != (b < 0) || a >= n_piece;
        if (a < 0 || b < 0) continue;
        if (of[b] < 0) of[b] = a;
        n_wrong += of[b] != a;
    }
    free(of);
    free(node_at);
    return n_wrong;
}

/* Selections of elements from sparse to full. Ranks see different nodes of a piece, so this also
 * checks that they agree on its number. */
static void check_pieces(const job *j)
{
    static const unsigned every[] = {1000000000, 9, 4, 2, 1};
    for (size_t k = 0; k < sizeof every / sizeof every[0]; k++) {
        uint8_t *const here = flag_elements(&j->ownership, every[k]), *const there = flag_elements(
                                                                          &j->whole, every[k]);
        int32_t *const own = calloc((size_t)j->ownership.n_node, sizeof *own),
                       *const whole = calloc((size_t)j->whole.n_node, sizeof *whole);
        const hx_connections cells = {.n_point = j->whole.n_node,
                                      .n_cell = j->whole.n_elem,
                                      .n_per_cell = 8,
                                      .point = j->whole.conn,
                                      .is_there = there};
        int64_t n_own = -1, n_whole = -2;
        CHECK_OK(hx_find_bodies(&cells, whole, &n_whole));
        CHECK_OK(hx_dist_mesh_pieces(&j->ownership, &j->comm, here, own, &n_own));
        CHECK_MSG(n_own == n_whole, "%lld pieces instead of %lld", (long long)n_own,
                  (long long)n_whole);
        int64_t n_wrong = compare_pieces(j, own, whole, n_whole);
        CHECK_MSG(n_wrong == 0, "%lld nodes have the wrong piece", (long long)n_wrong);
        free(here);
        free(there);
        free(own);
        free(whole);
    }
}

static void check_dist_mesh(job *j, const char *name, const hx_generate_params *params,
                            hx_partition_kind kind, double reach)
{
    const hx_generator *const gen = hx_generator_find(name);
    const hx_dist_mesh_params ownership = {.partition = kind, .reach = reach, .in_elements = 1};
    j->whole = j->ownership = (hx_mesh){0};
    j->partition = (hx_partition){.rank = NULL};
    j->elem_at = j->here = NULL;
    const int rc = make_whole(j, gen, params, kind);
    CHECK_OK(rc);
    const int made = make_dist_mesh(j, gen, params, &ownership);
    CHECK_OK(made);
    if (rc == HX_OK && made == HX_OK) {
        check_elements(j);
        check_nodes(j);
        check_neighbours(j, 0.99 * reach * j->whole.elem_size);
        check_owners(j);
        check_sums(j);
        check_sets(j);
        check_pieces(j);
    }
    hx_mesh_free(&j->whole);
    hx_mesh_free(&j->ownership);
    hx_partition_free(&j->partition);
    free(j->elem_at);
    free(j->here);
}

static void test_meshes(job *j)
{
    static const struct {
        const char *name;
        hx_generate_params params;
    } part[] = {{"cantilever", {.nx = 12, .ny = 7, .nz = 5}},
                {"lbeam", {.nx = 15, .ny = 4}},
                {"michell", {.nx = 16, .ny = 2}},
                {"conrod", {.nx = 16, .ny = 2}}};
    static const double reach[] = {0.0, 2.3, 50.0};
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        for (size_t k = 0; k < sizeof reach / sizeof reach[0]; k++)
            for (int bisected = 0; bisected < 2; bisected++)
                check_dist_mesh(j, part[i].name, &part[i].params,
                                bisected ? HX_PARTITION_BISECTION : HX_PARTITION_CURVE, reach[k]);
}

/* A plate with a single layer has twice as many nodes as elements, more than the hash table first
 * allows for. */
static void test_plate(job *j)
{
    const hx_generate_params params = {.nx = 1200, .ny = 1, .nz = 1};
    check_dist_mesh(j, "cantilever", &params, HX_PARTITION_CURVE, 1.0);
}

static void test_no_element(job *j)
{
    const hx_generate_params params = {.nx = 1, .ny = 1, .nz = 1};
    const hx_dist_mesh_params ownership = {.partition = HX_PARTITION_BISECTION, .reach = 1.0};
    hx_mesh mesh;
    hx_mesh_source source;
    if (j->comm.size == 1) return;
    CHECK_OK(hx_generator_find("cantilever")->open(&source, &params));
    CHECK_FAILS(hx_dist_mesh_create(&mesh, &j->comm, &j->reduce.base, &source, &ownership),
                HX_EINPUT, "gets none of the 1");
    hx_mesh_free(&mesh);
    hx_source_close(&source);
}

/* Value of item k sent from one rank to another. */
static int64_t item(int from, int to, int64_t k)
{
    return 1000003 * k + 1009 * from + to;
}

/* Number of items sent between two ranks: more than one block, none, or in between. */
static int64_t count_of(int from, int to, int64_t most)
{
    const int kind = (from + 2 * to) % 3;
    return kind == 0 ? most : kind == 1 ? 0 : most / 3 + from;
}

/* Also with lists that reverse both orders. */
static void check_trade(const job *j, int64_t most)
{
    const int size = j->comm.size, me = j->comm.rank;
    int64_t *const first = calloc(2 * (size_t)size + 2, sizeof *first), *const in =
                                                                            first + size + 1;
    for (int r = 0; r < size; r++) first[r + 1] = first[r] + count_of(me, r, most);
    CHECK_OK(hx_comm_alltoall_counts(&j->comm, first, in));
    const int64_t n_out = first[size], n_in = in[size];
    int64_t *const out = malloc(((size_t)n_out + 1) * sizeof *out),
                   n_wrong = 0, *const got = malloc(((size_t)n_in + 1) * sizeof *got);
    int32_t *const out_at = malloc(((size_t)n_out + 1) * sizeof *out_at), *const in_at = malloc(
                                                                              ((size_t)n_in + 1) *
                                                                              sizeof *in_at);
    for (int turned = 0; turned < 2; turned++) {
        for (int64_t i = 0; i < n_out; i++) out_at[i] = (int32_t)(turned ? n_out - 1 - i : i);
        for (int64_t i = 0; i < n_in; i++) in_at[i] = (int32_t)(turned ? n_in - 1 - i : i);
        for (int r = 0; r < size; r++)
            for (int64_t i = first[r]; i < first[r + 1]; i++)
                out[out_at[i]] = item(me, r, i - first[r]);
        memset(got, 0xff, (size_t)n_in * sizeof *got);
        CHECK_OK(turned ? hx_comm_alltoall_listed(&j->comm, first, in, sizeof *out, out, out_at,
                                                  got, in_at)
                        : hx_comm_alltoallv(&j->comm, first, in, sizeof *out, out, got));
        for (int r = 0; r < size; r++) {
            CHECK(in[r + 1] - in[r] == count_of(r, me, most));
            for (int64_t i = in[r]; i < in[r + 1]; i++)
                n_wrong += got[in_at[i]] != item(r, me, i - in[r]);
        }
    }
    CHECK_MSG(n_wrong == 0, "%lld of %lld items are wrong", (long long)n_wrong,
              (long long)(2 * n_in));
    free(first);
    free(out);
    free(got);
    free(out_at);
    free(in_at);
}

static void test_trade(job *j)
{
    check_trade(j, 10);
    check_trade(j, 1200000); /* more than two blocks of 4 MB */
}

int main(void)
{
    static job j;
    if (hx_comm_is_started() && !hx_comm_available()) TEST_SKIP("this build has no MPI");
    CHECK_OK(hx_comm_join(&j.comm));
    hx_comm_reduce_of(&j.reduce, &j.comm);
    if (j.comm.rank == 0) printf("%d processes\n", j.comm.size);
    test_meshes(&j);
    test_plate(&j);
    test_no_element(&j);
    test_trade(&j);
    hx_comm_leave(&j.comm);
    TEST_END();
}
