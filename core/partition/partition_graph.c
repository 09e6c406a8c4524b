/* The graph of elements that share a face, cut by METIS (Karypis and Kumar 1998). */
#include "partition_ways.h"

#include "../base/error.h"

#ifdef HX_HAVE_METIS
#include <limits.h>
#include <metis.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "partition.h"

typedef struct graph {
    idx_t *begin, *other, *weight, *part;
} graph;

static int alloc_graph(graph *g, int64_t n_elem)
{
    memset(g, 0, sizeof *g);
    HX_TRY(hx_alloc(&g->begin, (size_t)n_elem + 1, sizeof *g->begin, "graph of elements"));
    HX_TRY(hx_alloc_raw(&g->other, 6 * (size_t)n_elem, sizeof *g->other, "graph of elements"));
    HX_TRY(hx_alloc_raw(&g->weight, (size_t)n_elem, sizeof *g->weight, "graph of elements"));
    return hx_alloc_raw(&g->part, (size_t)n_elem, sizeof *g->part, "graph of elements");
}

/* Lists the neighbours of element e; returns their number. */
static int list_neighbours(const hx_mesh *mesh, int64_t e, idx_t other[6])
{
    int n = 0;
    for (int face = 0; face < 6; face++) {
        int32_t node[4];
        const int n_corner = hx_cell_face(mesh->conn + 8 * e, face, node);
        if (n_corner < 3) continue;
        const int64_t neighbour = hx_mesh_face_neighbour(mesh, e, n_corner, node);
        if (neighbour >= 0) other[n++] = (idx_t)neighbour;
    }
    return n;
}

static void build_graph(graph *g, const hx_mesh *mesh)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        g->begin[e + 1] = list_neighbours(mesh, e, g->other + 6 * e);
        g->weight[e] = hx_partition_weight(mesh->conn + 8 * e);
    }
    /* closes the gaps between lists; a list only moves towards the front */
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const idx_t n = g->begin[e + 1];
        memmove(g->other + g->begin[e], g->other + 6 * e, (size_t)n * sizeof *g->other);
        g->begin[e + 1] = g->begin[e] + n;
    }
}

static int cut_graph(graph *g, const hx_mesh *mesh, int n_rank, int32_t *rank)
{
    idx_t n = (idx_t)mesh->n_elem, one = 1, parts = n_rank, cuts, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    const int rc = METIS_PartGraphKway(&n, &one, g->begin, g->other, g->weight, NULL, NULL, &parts,
                                       NULL, NULL, options, &cuts, g->part);
    if (rc != METIS_OK)
        return HX_RAISE(HX_EENV, "METIS failed to partition %lld %s among %d %s (error %d)",
                        (long long)mesh->n_elem, hx_noun(mesh->n_elem, "element", "elements"),
                        n_rank, hx_noun(n_rank, "rank", "ranks"), rc);
    for (int64_t e = 0; e < mesh->n_elem; e++) rank[e] = (int32_t)g->part[e];
    return HX_OK;
}

int hx_partition_graph_available(void)
{
    return 1;
}

int hx_partition_graph(const hx_mesh *mesh, int n_rank, int32_t *rank)
{
    if (sizeof(idx_t) < sizeof(int64_t) && mesh->n_elem > INT_MAX / 6)
        return HX_RAISE(
            HX_EENV,
            "%lld %s exceed the indices of this METIS (%d bits); use \"bisection\" or \"curve\"",
            (long long)mesh->n_elem, hx_noun(mesh->n_elem, "element", "elements"), IDXTYPEWIDTH);
    graph g;
    int rc = alloc_graph(&g, mesh->n_elem);
    if (rc == HX_OK) {
        build_graph(&g, mesh);
        rc = cut_graph(&g, mesh, n_rank, rank);
    }
    free(g.begin);
    free(g.other);
    free(g.weight);
    free(g.part);
    return rc;
}

#else

int hx_partition_graph_available(void)
{
    return 0;
}

int hx_partition_graph(const hx_mesh *mesh, int n_rank, int32_t *rank)
{
    (void)mesh;
    (void)n_rank;
    (void)rank;
    return HX_RAISE(
        HX_EENV, "this build has no METIS (Debian: libmetis-dev); use \"bisection\" or \"curve\"");
}

#endif
