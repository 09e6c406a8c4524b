/* A mesh file read in pieces into a distributed mesh, compared with the same file read as a whole:
 * elements, nodes and their numbers, sets, hash, element size. Run by mpirun with any number of
 * processes.
 *
 *     test_file_source FILE            the distributed mesh equals the whole mesh
 *     test_file_source FILE shared N   the same, and N names belong to sets of several kinds
 *     test_file_source FILE why TEXT   the file needs the whole mesh; the reason contains TEXT
 *     test_file_source FILE bad TEXT   all ranks refuse it with a message that contains TEXT
 *     test_file_source FILE bodies N   the mesh has N bodies
 *     test_file_source FILE memory pieces|distributed|whole
 *                                      prints the largest memory of each process
 *
 * Several of these, separated by --, may be given in one run. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/comm/comm_reduce.h"
#include "core/dist_mesh/dist_mesh.h"
#include "core/files/file_source.h"
#include "core/files/mesh_files.h"
#include "core/mesh/mesh_hash.h"
#include "tests/lib/test.h"

typedef struct job {
    hx_comm comm;
    hx_comm_reduce reduce;
    hx_mesh_source source;
    hx_mesh whole, ownership;
    const char *path;
} job;

static int read_whole(job *j)
{
    HX_TRY(hx_mesh_read(j->path, NAN, &j->whole, NULL, NULL));
    return hx_mesh_finish(&j->whole);
}

static int make_dist_mesh(job *j)
{
    const hx_dist_mesh_params params = {
        .partition = HX_PARTITION_BISECTION, .reach = 1.5, .in_elements = 1};
    HX_TRY(hx_dist_mesh_create(&j->ownership, &j->comm, &j->reduce.base, &j->source, &params));
    return hx_mesh_finish(&j->ownership);
}

static void check_elements(const job *j)
{
    const hx_mesh *const m = &j->ownership, *const w = &j->whole;
    int64_t n_other = 0, n_moved = 0, n_number = 0;
    for (int64_t e = 0; e < m->n_elem; e++) {
        const int64_t orig = m->elem_orig[e];
        n_number += hx_mesh_elem_number(m, e) != hx_mesh_elem_number(w, orig);
        for (int a = 0; a < 8; a++) {
            const int32_t here = m->conn[8 * e + a], there = w->conn[8 * orig + a];
            n_other += m->node_orig[here] != there;
            n_moved += memcmp(m->xyz + 3 * (int64_t)here, w->xyz + 3 * (int64_t)there,
                              3 * sizeof(double)) != 0;
            n_number += hx_mesh_node_number(m, here) != hx_mesh_node_number(w, there);
        }
    }
    CHECK_MSG(n_other == 0, "%lld corners are other nodes", (long long)n_other);
    CHECK_MSG(n_moved == 0, "%lld corners have other coordinates", (long long)n_moved);
    CHECK_MSG(n_number == 0, "%lld numbers differ", (long long)n_number);
}

/* Returns the number of own members of a set; adds to *n_other those that are not in the set of the
 * whole mesh. */
static int64_t count_nodes(const job *j, const hx_set *set, const hx_set *whole, int64_t *n_other)
{
    int64_t n = 0;
    uint8_t *const in = calloc((size_t)j->whole.n_node, 1);
    for (int64_t i = 0; i < whole->n_node; i++) in[whole->node[i]] = 1;
    for (int64_t i = 0; i < set->n_node; i++) {
        if (!hx_mesh_owns_node(&j->ownership, set->node[i])) continue;
        n++;
        *n_other += !in[j->ownership.node_orig[set->node[i]]];
    }
    free(in);
    return n;
}

static int is_own(const job *j, int64_t elem)
{
    return elem >= hx_mesh_own_begin(&j->ownership) && elem < hx_mesh_own_end(&j->ownership);
}

static int64_t count_elems(const job *j, const hx_set *set, const hx_set *whole, int64_t *n_other)
{
    int64_t n = 0;
    uint8_t *const in = calloc((size_t)j->whole.n_elem, 1);
    for (int64_t i = 0; i < whole->n_elem; i++) in[whole->elem[i]] = 1;
    for (int64_t i = 0; i < set->n_elem; i++) {
        if (!is_own(j, set->elem[i])) continue;
        n++;
        *n_other += !in[j->ownership.elem_orig[set->elem[i]]];
    }
    free(in);
    return n;
}

static int64_t count_faces(const job *j, const hx_set *set, const hx_set *whole, int64_t *n_other)
{
    int64_t n = 0;
    uint8_t *const in = calloc(6 * (size_t)j->whole.n_elem, 1);
    for (int64_t i = 0; i < whole->n_face; i++) in[whole->face[i]] = 1;
    for (int64_t i = 0; i < set->n_face; i++) {
        const int64_t e = set->face[i] / 6;
        if (!is_own(j, e)) continue;
        n++;
        *n_other += !in[6 * (int64_t)j->ownership.elem_orig[e] + set->face[i] % 6];
    }
    free(in);
    return n;
}

static void check_sets(const job *j)
{
    CHECK_MSG(j->ownership.n_set == j->whole.n_set, "%zu sets instead of %zu", j->ownership.n_set,
              j->whole.n_set);
    for (size_t i = 0; i < j->whole.n_set && i < j->ownership.n_set; i++) {
        const hx_set *const set = &j->ownership.set[i], *const whole = &j->whole.set[i];
        int64_t n_other = 0,
                n[3] = {count_nodes(j, set, whole, &n_other), count_elems(j, set, whole, &n_other),
                        count_faces(j, set, whole, &n_other)};
        CHECK_MSG(strcmp(set->name, whole->name) == 0, "%s instead of %s", set->name, whole->name);
        CHECK_OK(hx_reduce_sum_i64(&j->reduce.base, 3, n));
        CHECK_MSG(n[0] == whole->n_node && n[1] == whole->n_elem && n[2] == whole->n_face &&
                      n_other == 0,
                  "set %s: %lld nodes instead of %lld, %lld elements instead of %lld, %lld faces "
                  "instead of %lld; %lld wrong members",
                  whole->name, (long long)n[0], (long long)whole->n_node, (long long)n[1],
                  (long long)whole->n_elem, (long long)n[2], (long long)whole->n_face,
                  (long long)n_other);
    }
}

/* Names that the file gives to sets of several kinds mean one set here and in the whole mesh. */
static void check_shared(const job *j)
{
    const hx_mesh *const m = &j->ownership, *const w = &j->whole;
    CHECK_MSG(m->n_shared == w->n_shared, "%zu names are shared for %zu", m->n_shared, w->n_shared);
    for (size_t i = 0; i < w->n_shared && i < m->n_shared; i++) {
        const hx_shared_name *const a = &m->shared[i], *const b = &w->shared[i];
        CHECK_MSG(strcmp(a->name, b->name) == 0, "%s for %s", a->name, b->name);
        for (int kind = 0; kind < HX_N_SET_KIND; kind++)
            CHECK_MSG(!a->set[kind] == !b->set[kind] &&
                          (!b->set[kind] || strcmp(a->set[kind], b->set[kind]) == 0),
                      "kind %d of %s: %s for %s", kind, b->name,
                      a->set[kind] ? a->set[kind] : "none", b->set[kind] ? b->set[kind] : "none");
    }
}

static void check_all(const job *j)
{
    hx_hash hash;
    const hx_hash exact = hx_mesh_hash(&j->whole);
    const hx_mesh_ownership *const w = j->ownership.ownership;
    int64_t n_body = 0;
    CHECK(w->n_elem == j->whole.n_elem && w->n_node == j->whole.n_node);
    CHECK(strcmp(j->ownership.name, j->whole.name) == 0);
    CHECK_OK(hx_mesh_hash_all(&j->ownership, &hash));
    CHECK(memcmp(&hash, &exact, sizeof hash) == 0);
    CHECK_REL(j->ownership.elem_size, j->whole.elem_size, 1e-12);
    CHECK_REL(w->reach, 1.5 * j->whole.elem_size, 1e-12);
    CHECK_OK(hx_dist_mesh_bodies(&j->ownership, &j->comm, &n_body));
    CHECK_MSG(n_body == 1, "%lld bodies", (long long)n_body);
    check_elements(j);
    check_sets(j);
    check_shared(j);
}

static void test_few(job *j)
{
    char why[HX_FILE_WHY];
    CHECK_OK(hx_file_source_open(&j->source, &j->comm, j->path, 1 << 24, NULL, why));
    CHECK_MSG(strcmp(why, "fewer than 16777216 elements") == 0, "%s", why);
    CHECK(!j->source.shape);
}

static void test_distributed(job *j)
{
    const int n_failed = test_n_failed;
    char why[HX_FILE_WHY];
    CHECK_OK(hx_file_source_open(&j->source, &j->comm, j->path, 0, NULL, why));
    CHECK_MSG(why[0] == '\0', "needs the whole mesh: %s", why);
    CHECK_OK(read_whole(j));
    CHECK_OK(make_dist_mesh(j));
    if (test_n_failed == n_failed) check_all(j);
    hx_source_close(&j->source);
    test_few(j);
}

/* The file gives this many names to sets of several kinds. */
static void test_shared(job *j, long n)
{
    test_distributed(j);
    CHECK_MSG(j->whole.n_shared == (size_t)n, "%zu names are shared for %ld", j->whole.n_shared, n);
}

static void test_why(job *j, const char *text)
{
    char why[HX_FILE_WHY];
    CHECK_OK(hx_file_source_open(&j->source, &j->comm, j->path, 0, NULL, why));
    CHECK_MSG(strstr(why, text) != NULL, "'%s' instead of '%s'", why, text);
    CHECK(!j->source.shape);
}

static void test_bad(job *j, const char *text)
{
    char why[HX_FILE_WHY];
    CHECK_FAILS(hx_file_source_open(&j->source, &j->comm, j->path, 0, NULL, why), HX_EINPUT, text);
}

static void test_bodies(job *j, long n)
{
    char why[HX_FILE_WHY];
    int64_t n_body = 0;
    CHECK_OK(hx_file_source_open(&j->source, &j->comm, j->path, 0, NULL, why));
    CHECK_OK(make_dist_mesh(j));
    CHECK_OK(hx_dist_mesh_bodies(&j->ownership, &j->comm, &n_body));
    CHECK_MSG(n_body == n, "%lld bodies", (long long)n_body);
}

static void say_memory(job *j, const char *what)
{
    char why[HX_FILE_WHY];
    const double begin = hx_clock();
    const size_t before = hx_host_memory_resident();
    if (strcmp(what, "whole") == 0) {
        CHECK_OK(read_whole(j));
    } else {
        CHECK_OK(hx_file_source_open(&j->source, &j->comm, j->path, 0, NULL, why));
        if (strcmp(what, "distributed") == 0) CHECK_OK(make_dist_mesh(j));
    }
    printf("process %d of %d: %.1f MB before, %.1f at most, %.1f now; %.2f s\n", j->comm.rank,
           j->comm.size, 1e-6 * (double)before, 1e-6 * (double)hx_host_memory_peak(),
           1e-6 * (double)hx_host_memory_resident(), hx_clock() - begin);
}

/* Runs one test, given as word[n]. */
static void test_one(job *j, int n, char **word)
{
    const char *const what = n > 2 ? word[1] : "";
    const int n_failed = test_n_failed;
    j->path = n > 0 ? word[0] : "";
    if (strcmp(what, "shared") == 0)
        test_shared(j, strtol(word[2], NULL, 10));
    else if (strcmp(what, "why") == 0)
        test_why(j, word[2]);
    else if (strcmp(what, "bad") == 0)
        test_bad(j, word[2]);
    else if (strcmp(what, "bodies") == 0)
        test_bodies(j, strtol(word[2], NULL, 10));
    else if (strcmp(what, "memory") == 0)
        say_memory(j, word[2]);
    else
        test_distributed(j);
    hx_source_close(&j->source);
    hx_mesh_free(&j->ownership);
    hx_mesh_free(&j->whole);
    j->source = (hx_mesh_source){0};
    j->ownership = j->whole = (hx_mesh){0};
    if (test_n_failed > n_failed) printf("    in %s %s\n", j->path, what);
}

int main(int argc, char **argv)
{
    job j = {.path = ""};
    int n_file = 0;
    CHECK_OK(hx_comm_join(&j.comm));
    hx_comm_reduce_of(&j.reduce, &j.comm);
    for (int at = 1, end; at < argc; at = end + 1) {
        for (end = at; end < argc && strcmp(argv[end], "--") != 0;) end++;
        test_one(&j, end - at, argv + at);
        n_file++;
    }
    CHECK(n_file > 0);
    printf("%d files, ", n_file);
    hx_comm_leave(&j.comm);
    TEST_END();
}
