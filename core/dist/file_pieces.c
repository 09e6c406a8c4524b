#include "file_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../comm/comm_alltoall.h"

static const char what[] = "pieces of files";

/* Returns the first item of a rank's piece. */
static int64_t piece_begin(const hx_comm *comm, int64_t n, int to_first, int rank)
{
    if (to_first) return rank == 0 ? 0 : n;
    return hx_comm_piece(comm, n, rank);
}

/* The own nodes or elements of a rank. */
typedef struct items {
    const hx_comm *comm;
    int to_first;
    int64_t n;            /* in the whole */
    int64_t n_own;        /* on this rank */
    const int32_t *whole; /* [n_own] their numbers in the whole */
    const int32_t *orig;  /* [n] numbers in the file of those in the whole; NULL: equal */
} items;

static items items_of(const hx_comm *comm, const hx_subdomain *subdomain, int kind, int to_first)
{
    const hx_mesh *const mesh = subdomain->whole->mesh;
    const int is_node = kind == HX_FILE_NODES;
    return (items){.comm = comm,
                   .to_first = to_first,
                   .n = is_node ? hx_mesh_n_node_all(mesh) : hx_mesh_n_elem_all(mesh),
                   .n_own = is_node ? subdomain->n_own : subdomain->mesh.n_elem,
                   .whole = is_node ? subdomain->node : subdomain->elem,
                   .orig = is_node ? mesh->node_orig : mesh->elem_orig};
}

static int64_t in_file(const items *it, int64_t i)
{
    return it->orig ? it->orig[it->whole[i]] : it->whole[i];
}

static int64_t begin_of(const items *it, int rank)
{
    return piece_begin(it->comm, it->n, it->to_first, rank);
}

/* Returns the rank whose piece contains item f of the file. */
static int rank_of(const items *it, int64_t f)
{
    if (it->to_first) return 0;
    int rank = (int)((double)f / (double)it->n * it->comm->size);
    while (f < begin_of(it, rank)) rank--;
    while (f >= begin_of(it, rank + 1)) rank++;
    return rank;
}

enum { N_CHUNK = 64 };

/* Processes chunk c of the own items. Without `list` it counts items in next[] per destination
 * rank; with `list` it writes each item to list[next[rank]] and its position in the piece to
 * `place`, and advances next[]. */
static void list_chunk(const items *it, int c, int64_t *next, int32_t *list, int32_t *place)
{
    const int64_t end = it->n_own * (c + 1) / N_CHUNK;
    for (int64_t i = it->n_own * c / N_CHUNK; i < end; i++) {
        const int64_t f = in_file(it, i);
        const int rank = rank_of(it, f);
        if (list) {
            list[next[rank]] = (int32_t)i;
            place[next[rank]] = (int32_t)(f - begin_of(it, rank));
        }
        next[rank]++;
    }
}

/* Fills first[size + 1], list[n_own] and place[n_own]: by rank, and within a rank in the order of
 * the subdomain, for any number of threads. */
static int list_sent(const items *it, int64_t *first, int32_t *list, int32_t *place)
{
    const int size = it->comm->size;
    int64_t *next, sum = 0;
    HX_TRY(hx_alloc(&next, N_CHUNK * (size_t)size, sizeof *next, what));
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < N_CHUNK; c++) list_chunk(it, c, next + (int64_t)c * size, NULL, NULL);
    for (int r = 0; r < size; r++)
        for (int c = 0; c < N_CHUNK; c++) {
            const int64_t n = next[(int64_t)c * size + r];
            if (c == 0) first[r] = sum;
            next[(int64_t)c * size + r] = sum;
            sum += n;
        }
    first[size] = sum;
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < N_CHUNK; c++) list_chunk(it, c, next + (int64_t)c * size, list, place);
    free(next);
    return HX_OK;
}

static int alloc_piece(hx_file_piece *p, const items *it, int32_t **place)
{
    const size_t size = (size_t)it->comm->size;
    p->first = begin_of(it, it->comm->rank);
    p->n = begin_of(it, it->comm->rank + 1) - p->first;
    HX_TRY(hx_alloc_raw(&p->from, (size_t)it->n_own, sizeof *p->from, what));
    HX_TRY(hx_alloc_raw(place, (size_t)it->n_own, sizeof **place, what));
    HX_TRY(hx_alloc_raw(&p->to, (size_t)p->n, sizeof *p->to, what));
    HX_TRY(hx_alloc(&p->out, size + 1, sizeof *p->out, what));
    return hx_alloc(&p->in, size + 1, sizeof *p->in, what);
}

/* The local part comes first; all ranks agree that it succeeded before they communicate. */
static int create_piece(hx_file_piece *p, const items *it)
{
    const hx_comm *const comm = it->comm;
    int32_t *place = NULL;
    int rc = alloc_piece(p, it, &place);
    if (rc == HX_OK) rc = list_sent(it, p->out, p->from, place);
    HX_TRY_FAIL(hx_comm_agree(comm, rc));
    HX_TRY_FAIL(hx_comm_alltoall_counts(comm, p->out, p->in));
    rc = hx_comm_alltoallv(comm, p->out, p->in, sizeof *place, place, p->to);
fail:
    free(place);
    return rc;
}

int hx_file_pieces_create(hx_file_pieces *pieces, const hx_comm *comm,
                          const hx_subdomain *subdomain, int to_first)
{
    int rc = HX_OK;
    *pieces = (hx_file_pieces){.comm = comm};
    for (int kind = 0; kind < HX_FILE_KINDS; kind++) {
        const items it = items_of(comm, subdomain, kind, to_first);
        HX_TRY_FAIL(create_piece(&pieces->of[kind], &it));
    }
    return HX_OK;
fail:
    hx_file_pieces_free(pieces);
    return rc;
}

int hx_file_pieces_bring(hx_file_pieces *pieces, int kind, size_t bytes, const void *own,
                         void *piece)
{
    const hx_file_piece *const p = &pieces->of[kind];
    return hx_comm_alltoall_listed(pieces->comm, p->out, p->in, bytes, own, p->from, piece, p->to);
}

void hx_file_pieces_free(hx_file_pieces *pieces)
{
    for (int kind = 0; kind < HX_FILE_KINDS; kind++) {
        hx_file_piece *const p = &pieces->of[kind];
        free(p->out);
        free(p->in);
        free(p->from);
        free(p->to);
    }
    memset(pieces, 0, sizeof *pieces);
}
