/* The cost of a partition: balance, cut faces, halo. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "partition.h"

void hx_partition_figures_free(hx_partition_figures *figures)
{
    free(figures->subdomain);
    memset(figures, 0, sizeof *figures);
}

/* Lists the ranks of a node's elements, each once; returns their number. Elements of a node are
 * close along a curve, so most nodes have one rank and few have more than 8. */
static int list_ranks(const hx_partition *p, const hx_mesh *mesh, int64_t node, int32_t *rank)
{
    int n = 0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const int32_t r = p->rank[mesh->node_elem[k] / 8];
        int i = 0;
        while (i < n && rank[i] != r) i++;
        if (i == n) rank[n++] = r;
    }
    return n;
}

/* Row r of the matrix has a bit for each rank that shares a node with rank r. */
typedef struct meetings {
    uint8_t *bit; /* [n_rank][n_byte] */
    size_t n_byte;
} meetings;

static void count_nodes(hx_partition_figures *f, const hx_partition *p, const hx_mesh *mesh,
                        int32_t *rank, meetings *m)
{
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int n = list_ranks(p, mesh, a, rank);
        f->n_shared += n > 1;
        for (int i = 0; i < n; i++) {
            hx_partition_subdomain *s = f->subdomain + rank[i];
            s->n_node++;
            s->n_halo += n > 1;
            s->n_sent += n - 1;
            for (int j = 0; j < n; j++)
                if (j != i)
                    m->bit[(size_t)rank[i] * m->n_byte + (size_t)rank[j] / 8] |=
                        (uint8_t)(1u << (rank[j] % 8));
        }
    }
    for (int r = 0; r < p->n_rank; r++)
        for (int q = 0; q < p->n_rank; q++)
            f->subdomain[r].n_neighbour +=
                m->bit[(size_t)r * m->n_byte + (size_t)q / 8] >> (q % 8) & 1;
}

static int64_t count_cut_faces(const hx_partition *p, const hx_mesh *mesh)
{
    int64_t n_cut = 0;
#pragma omp parallel for schedule(static) reduction(+ : n_cut)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int face = 0; face < 6; face++) {
            int32_t node[4];
            const int n = hx_cell_face(mesh->conn + 8 * e, face, node);
            if (n < 3) continue;
            const int64_t other = hx_mesh_face_neighbour(mesh, e, n, node);
            n_cut += other > e && p->rank[other] != p->rank[e];
        }
    return n_cut;
}

static int64_t most_at_a_node(const hx_mesh *mesh)
{
    int64_t most = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const int64_t n = mesh->node_elem_ptr[a + 1] - mesh->node_elem_ptr[a];
        if (n > most) most = n;
    }
    return most;
}

int hx_partition_measure(hx_partition_figures *f, const hx_partition *p, const hx_mesh *mesh)
{
    meetings m = {.n_byte = ((size_t)p->n_rank + 7) / 8};
    int32_t *rank = NULL;
    memset(f, 0, sizeof *f);
    int rc = hx_alloc(&f->subdomain, (size_t)p->n_rank, sizeof *f->subdomain, "figures of ranks");
    if (rc == HX_OK) rc = hx_alloc(&m.bit, (size_t)p->n_rank, m.n_byte, "neighbours of ranks");
    if (rc == HX_OK)
        rc = hx_alloc(&rank, (size_t)most_at_a_node(mesh), sizeof *rank, "ranks of a node");
    if (rc == HX_OK) {
        int64_t all = 0, most = 0;
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            hx_partition_subdomain *s = f->subdomain + p->rank[e];
            const int weight = hx_partition_weight(mesh->conn + 8 * e);
            s->n_elem++;
            s->weight += weight;
            all += weight;
        }
        for (int r = 0; r < p->n_rank; r++)
            if (f->subdomain[r].weight > most) most = f->subdomain[r].weight;
        f->balance = (double)most * p->n_rank / (double)all;
        count_nodes(f, p, mesh, rank, &m);
        f->n_cut = count_cut_faces(p, mesh);
    }
    free(m.bit);
    free(rank);
    if (rc < 0) hx_partition_figures_free(f);
    return rc;
}
