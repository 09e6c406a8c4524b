/* Partitions of elements among ranks: figures, balance, cut and halo compared with plain loops. */
#include <stdlib.h>
#include <string.h>

#include "core/generate/generate.h"
#include "core/partition/partition.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static int has_node(const hx_mesh *mesh, int64_t e, int32_t node)
{
    for (int a = 0; a < 8; a++)
        if (mesh->conn[8 * e + a] == node) return 1;
    return 0;
}

/* Counts pairs of elements on different ranks with a common face: at least three distinct nodes. */
static int64_t count_cut(const hx_mesh *mesh, const int32_t *rank)
{
    int64_t n_cut = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int64_t other = 0; other < e; other++) {
            int corner[8], n_same = 0;
            if (rank[other] == rank[e]) continue;
            const int n = hx_cell_distinct(mesh->conn + 8 * e, corner);
            for (int a = 0; a < n; a++)
                n_same += has_node(mesh, other, mesh->conn[8 * e + corner[a]]);
            n_cut += n_same > 2;
        }
    return n_cut;
}

static void check_nodes(const hx_mesh *mesh, const hx_partition *p, const hx_partition_figures *f)
{
    const int n_rank = p->n_rank;
    hx_partition_subdomain *subdomain = calloc((size_t)n_rank, sizeof *subdomain);
    uint8_t *meets = calloc((size_t)n_rank * (size_t)n_rank, 1), *is_at = malloc((size_t)n_rank);
    int64_t n_shared = 0;
    for (int32_t a = 0; a < mesh->n_node; a++) {
        int n = 0;
        memset(is_at, 0, (size_t)n_rank);
        for (int64_t e = 0; e < mesh->n_elem; e++)
            if (has_node(mesh, e, a)) is_at[p->rank[e]] = 1;
        for (int r = 0; r < n_rank; r++) n += is_at[r];
        n_shared += n > 1;
        for (int r = 0; r < n_rank; r++) {
            if (!is_at[r]) continue;
            subdomain[r].n_node++;
            subdomain[r].n_halo += n > 1;
            subdomain[r].n_sent += n - 1;
            for (int q = 0; q < n_rank; q++)
                if (is_at[q] && q != r) meets[r * n_rank + q] = 1;
        }
    }
    CHECK(f->n_shared == n_shared);
    for (int r = 0; r < n_rank; r++) {
        int n_neighbour = 0;
        for (int q = 0; q < n_rank; q++) n_neighbour += meets[r * n_rank + q];
        CHECK(f->subdomain[r].n_node == subdomain[r].n_node);
        CHECK(f->subdomain[r].n_halo == subdomain[r].n_halo);
        CHECK(f->subdomain[r].n_sent == subdomain[r].n_sent);
        CHECK(f->subdomain[r].n_neighbour == n_neighbour);
    }
    free(subdomain);
    free(meets);
    free(is_at);
}

static void check_elements(const hx_mesh *mesh, const hx_partition *p,
                           const hx_partition_figures *f)
{
    int64_t n_elem = 0, weight = 0, most = 0;
    for (int r = 0; r < p->n_rank; r++) {
        int64_t n = 0;
        for (int64_t e = 0; e < mesh->n_elem; e++) n += p->rank[e] == r;
        CHECK(n > 0 && f->subdomain[r].n_elem == n);
        n_elem += n;
        weight += f->subdomain[r].weight;
        if (f->subdomain[r].weight > most) most = f->subdomain[r].weight;
    }
    CHECK(n_elem == mesh->n_elem);
    CHECK_REL(f->balance, (double)most * p->n_rank / (double)weight, 1e-14);
}

/* heaviest: largest weight of an element */
static void check_kind(const hx_mesh *mesh, hx_partition_kind kind, int n_rank, int heaviest)
{
    hx_partition p, again;
    hx_partition_figures f;
    CHECK_OK(hx_partition_make(&p, mesh, kind, n_rank));
    CHECK_OK(hx_partition_make(&again, mesh, kind, n_rank));
    CHECK(memcmp(p.rank, again.rank, (size_t)mesh->n_elem * sizeof *p.rank) == 0);
    CHECK_OK(hx_partition_measure(&f, &p, mesh));
    check_elements(mesh, &p, &f);
    check_nodes(mesh, &p, &f);
    CHECK(f.n_cut == count_cut(mesh, p.rank));
    if (kind == HX_PARTITION_CURVE) { /* at most one element too many */
        int64_t weight = 0;
        for (int r = 0; r < n_rank; r++) weight += f.subdomain[r].weight;
        CHECK(f.balance <= 1.0 + (double)heaviest * n_rank / (double)weight);
        for (int64_t e = 1; e < mesh->n_elem; e++) CHECK(p.rank[e] >= p.rank[e - 1]);
    } else {
        CHECK_MSG(f.balance < 1.2, "%g", f.balance);
    }
    hx_partition_figures_free(&f);
    hx_partition_free(&p);
    hx_partition_free(&again);
}

static void check_mesh(mixed_kind kind)
{
    hx_mesh mesh;
    int heaviest = 0;
    const mixed_box box = {.kind = kind, .n = {4, 3, 5}, .distort = 0.1, .seed = 3};
    CHECK_OK(mixed_create(&mesh, &box));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const int weight = hx_partition_weight(mesh.conn + 8 * e);
        if (weight > heaviest) heaviest = weight;
    }
    for (int n_rank = 1; n_rank <= 5; n_rank++)
        for (int way = 0; way < HX_N_PARTITION; way++)
            if (hx_partition_available((hx_partition_kind)way))
                check_kind(&mesh, (hx_partition_kind)way, n_rank, heaviest);
    hx_mesh_free(&mesh);
}

/* A bar is cut across its length. */
static void check_bar(void)
{
    hx_mesh mesh;
    CHECK_OK(hx_generate_box(&mesh, 32, 2, 2, 32.0, 2.0, 2.0));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int way = 0; way < HX_N_PARTITION; way++) {
        hx_partition p;
        hx_partition_figures f;
        if (!hx_partition_available((hx_partition_kind)way)) continue;
        CHECK_OK(hx_partition_make(&p, &mesh, (hx_partition_kind)way, 2));
        CHECK_OK(hx_partition_measure(&f, &p, &mesh));
        CHECK(f.n_cut == 4 && f.n_shared == 9);
        CHECK(f.subdomain[0].n_neighbour == 1 && f.subdomain[1].n_sent == 9);
        hx_partition_figures_free(&f);
        hx_partition_free(&p);
    }
    hx_mesh_free(&mesh);
}

/* A box is cut into halves, quarters and eighths whatever the order of its elements, with equal
 * weights for any number of ranks and the same result for any number of threads. */
static void check_bisection(int is_shuffled)
{
    hx_mesh mesh;
    hx_partition p, again;
    hx_partition_figures f;
    CHECK_OK(hx_generate_box(&mesh, 24, 6, 6, 24.0, 6.0, 6.0));
    if (is_shuffled) CHECK_OK(hx_mesh_shuffle(&mesh, 7));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int n_rank = 2; n_rank <= 8; n_rank *= 2) { /* each cut has 6 x 6 faces */
        CHECK_OK(hx_partition_make(&p, &mesh, HX_PARTITION_BISECTION, n_rank));
        CHECK_OK(hx_partition_measure(&f, &p, &mesh));
        CHECK_MSG(f.n_cut == 36 * (n_rank - 1), "%d ranks: %lld faces", n_rank, (long long)f.n_cut);
        CHECK(f.balance == 1.0);
        hx_partition_figures_free(&f);
        hx_partition_free(&p);
    }
    for (int n_rank = 2; n_rank <= 13; n_rank++) {
        fixture_set_threads(1);
        CHECK_OK(hx_partition_make(&p, &mesh, HX_PARTITION_BISECTION, n_rank));
        fixture_set_threads(3);
        CHECK_OK(hx_partition_make(&again, &mesh, HX_PARTITION_BISECTION, n_rank));
        CHECK(memcmp(p.rank, again.rank, (size_t)mesh.n_elem * sizeof *p.rank) == 0);
        CHECK_OK(hx_partition_measure(&f, &p, &mesh));
        for (int r = 0; r < n_rank; r++) /* one element per cut */
            CHECK(llabs(n_rank * f.subdomain[r].n_elem - mesh.n_elem) <= 4 * n_rank);
        hx_partition_figures_free(&f);
        hx_partition_free(&p);
        hx_partition_free(&again);
    }
    fixture_set_threads(1);
    hx_mesh_free(&mesh);
}

/* "auto" takes the partition whose largest halo is smallest. */
static void check_choice(int n_rank)
{
    hx_mesh mesh;
    hx_partition p;
    int64_t halo[HX_N_PARTITION] = {0};
    double balance[HX_N_PARTITION] = {0};
    CHECK_OK(hx_generate_box(&mesh, 24, 5, 10, 24.0, 5.0, 10.0));
    CHECK_OK(hx_mesh_reorder(&mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    for (int way = 0; way < HX_N_PARTITION; way++) {
        hx_partition_figures f;
        if (!hx_partition_available((hx_partition_kind)way)) continue;
        CHECK_OK(hx_partition_choose(&p, &mesh, (hx_partition_kind)way, n_rank));
        CHECK(p.kind == (hx_partition_kind)way);
        CHECK_OK(hx_partition_measure(&f, &p, &mesh));
        balance[way] = f.balance;
        for (int r = 0; r < n_rank; r++)
            if (f.subdomain[r].n_halo > halo[way]) halo[way] = f.subdomain[r].n_halo;
        hx_partition_figures_free(&f);
        hx_partition_free(&p);
    }
    static const hx_partition_kind other[] = {HX_PARTITION_BISECTION, HX_PARTITION_GRAPH};
    hx_partition_kind best = HX_PARTITION_CURVE;
    for (int i = 0; i < 2; i++)
        if (hx_partition_available(other[i]) && halo[other[i]] < halo[best] &&
            balance[other[i]] <= HX_PARTITION_BALANCE)
            best = other[i];
    CHECK_OK(hx_partition_choose(&p, &mesh, HX_PARTITION_AUTO, n_rank));
    CHECK(p.kind == best);
    CHECK(p.n_rank == n_rank && p.rank);
    hx_partition_free(&p);
    CHECK_FAILS(hx_partition_choose(&p, &mesh, HX_PARTITION_AUTO, 1201), HX_EINPUT, "1201 ranks");
    hx_mesh_free(&mesh);
}

static void check_refused(void)
{
    hx_mesh mesh;
    hx_partition p;
    CHECK_OK(hx_generate_box(&mesh, 3, 1, 1, 3.0, 1.0, 1.0));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK_FAILS(hx_partition_make(&p, &mesh, HX_PARTITION_CURVE, 0), HX_EINPUT, "0 ranks");
    CHECK_FAILS(hx_partition_make(&p, &mesh, HX_PARTITION_CURVE, HX_MAX_RANK + 1), HX_EINPUT,
                "4096");
    CHECK_FAILS(hx_partition_make(&p, &mesh, HX_PARTITION_CURVE, 4), HX_EINPUT,
                "4 ranks for 3 elements");
    if (!hx_partition_available(HX_PARTITION_GRAPH))
        CHECK_FAILS(hx_partition_make(&p, &mesh, HX_PARTITION_GRAPH, 2), HX_EENV, "libmetis-dev");
    hx_mesh_free(&mesh);
}

int main(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++) check_mesh((mixed_kind)kind);
    check_bar();
    check_bisection(0);
    check_bisection(1);
    for (int n_rank = 1; n_rank <= 6; n_rank++) check_choice(n_rank);
    check_refused();
    TEST_END();
}
