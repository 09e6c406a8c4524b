#include "file_pieces.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

static const char what[] = "pieces of files";

/* First item of a rank's piece. */
static int64_t piece_begin(const hx_team *team, int64_t n, int to_first, int rank)
{
    if (to_first) return rank == 0 ? 0 : n;
    return hx_team_piece(team, n, rank);
}

/* What is to be known of nodes or elements. */
typedef struct items {
    const hx_share *share;
    int kind;
    int64_t n;           /* of the whole */
    int64_t n_own;       /* of the share, which belong to this rank */
    const int32_t *orig; /* [n] */
    int32_t *inverse;    /* [n] the whole's number of each of the file; NULL: the same (owned) */
    int32_t *place;      /* [n] of nodes: in the share, -1: not this rank's (owned) */
} items;

static int make_items(items *it, const hx_share *share, int kind)
{
    const hx_mesh *const mesh = share->whole->mesh;
    const int is_node = kind == HX_FILE_NODES;
    *it = (items){.share = share,
                  .kind = kind,
                  .n = is_node ? mesh->n_node : mesh->n_elem,
                  .n_own = is_node ? share->n_own : share->mesh.n_elem,
                  .orig = is_node ? mesh->node_orig : mesh->elem_orig};
    HX_TRY(hx_mesh_invert(it->n, it->orig, &it->inverse));
    if (!is_node) return HX_OK;
    HX_TRY(hx_alloc_raw(&it->place, (size_t)it->n, sizeof *it->place, what));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < it->n; i++) it->place[i] = -1;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < it->n_own; i++) it->place[share->node[i]] = (int32_t)i;
    return HX_OK;
}

static void free_items(items *it)
{
    free(it->inverse);
    free(it->place);
}

/* Where in the share an item of the file is; -1: it is another rank's. */
static int64_t own_place(const items *it, const hx_team *team, int64_t in_file)
{
    const int64_t i = it->inverse ? it->inverse[in_file] : in_file;
    const int64_t *const first = it->share->first + team->rank;
    if (it->place) return it->place[i];
    return i >= first[0] && i < first[1] ? i - first[0] : -1;
}

static int owner_of(const items *it, const hx_team *team, int64_t in_file)
{
    const int64_t i = it->inverse ? it->inverse[in_file] : in_file;
    return it->kind == HX_FILE_NODES ? hx_share_owner(it->share, team->size, i)
                                     : hx_share_rank_of(it->share, team->size, i);
}

/* A list of a piece, by rank and in the order of the file. */
typedef struct listing {
    const items *it;
    const hx_team *team;
    int to_first;
    int64_t from, n; /* of the file: all for what goes, the piece for what comes */
    int64_t *first;  /* [size + 1] zeroed; becomes the first of each rank */
    int32_t *list;
    int is_sent;
} listing;

/* The rank that item number i of the listing goes to or comes from, -1: none; *value: where it is
 * in the share, or in the piece. */
static int rank_of_item(const listing *l, int64_t i, int32_t *value)
{
    const int64_t f = l->from + i;
    int rank;
    if (!l->is_sent) {
        *value = (int32_t)i;
        return owner_of(l->it, l->team, f);
    }
    const int64_t place = own_place(l->it, l->team, f);
    if (place < 0) return -1;
    *value = (int32_t)place;
    rank = l->to_first ? 0 : (int)((double)f / (double)l->it->n * l->team->size);
    while (f < piece_begin(l->team, l->it->n, l->to_first, rank)) rank--;
    while (f >= piece_begin(l->team, l->it->n, l->to_first, rank + 1)) rank++;
    return rank;
}

/* Chunk number c of n_chunk of the items: their ranks are counted in next[size], or, if there is
 * such a list already, they are put to where next[] says. */
static void list_chunk(const listing *l, int c, int n_chunk, int64_t *next, int32_t *list)
{
    const int64_t end = l->n * (c + 1) / n_chunk;
    for (int64_t i = l->n * c / n_chunk; i < end; i++) {
        int32_t value;
        const int rank = rank_of_item(l, i, &value);
        if (rank < 0) continue;
        if (list) list[next[rank]] = value;
        next[rank]++;
    }
}

/* The same list for any number of chunks. */
static int make_list(const listing *l)
{
    enum { N_CHUNK = 64 };
    const int size = l->team->size;
    int64_t *next, sum = 0;
    HX_TRY(hx_alloc(&next, N_CHUNK * (size_t)size, sizeof *next, what));
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < N_CHUNK; c++) list_chunk(l, c, N_CHUNK, next + (int64_t)c * size, NULL);
    for (int r = 0; r < size; r++)
        for (int c = 0; c < N_CHUNK; c++) {
            const int64_t n = next[(int64_t)c * size + r];
            if (c == 0) l->first[r] = sum;
            next[(int64_t)c * size + r] = sum;
            sum += n;
        }
    l->first[size] = sum;
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < N_CHUNK; c++) list_chunk(l, c, N_CHUNK, next + (int64_t)c * size, l->list);
    free(next);
    return HX_OK;
}

/* count[size] := lengths of the lists, 0 of this rank's own. */
static const int64_t *lengths(const hx_team *team, const int64_t *first, int64_t *count)
{
    for (int r = 0; r < team->size; r++) count[r] = r == team->rank ? 0 : first[r + 1] - first[r];
    return count;
}

static int make_piece(hx_file_piece *p, const items *it, const hx_team *team, int to_first,
                      size_t most, int64_t *scratch)
{
    const size_t size = (size_t)team->size;
    p->first = piece_begin(team, it->n, to_first, team->rank);
    p->n = piece_begin(team, it->n, to_first, team->rank + 1) - p->first;
    HX_TRY(hx_alloc_raw(&p->from, (size_t)it->n_own, sizeof *p->from, what));
    HX_TRY(hx_alloc_raw(&p->to, (size_t)p->n, sizeof *p->to, what));
    HX_TRY(hx_alloc(&p->out, size + 1, sizeof *p->out, what));
    HX_TRY(hx_alloc(&p->in, size + 1, sizeof *p->in, what));
    const listing sent = {it, team, to_first, 0, it->n, p->out, p->from, 1};
    const listing received = {it, team, to_first, p->first, p->n, p->in, p->to, 0};
    HX_TRY(make_list(&sent));
    HX_TRY(make_list(&received));
    return hx_route_create(&p->route, team, lengths(team, p->out, scratch),
                           lengths(team, p->in, scratch + size), most);
}

static int create_piece(hx_file_pieces *pieces, int kind, const hx_share *share, int to_first,
                        size_t most)
{
    items it;
    int64_t *scratch = NULL;
    int rc = make_items(&it, share, kind);
    if (rc == HX_OK)
        rc = hx_alloc_raw(&scratch, 2 * (size_t)pieces->team->size, sizeof *scratch, what);
    if (rc == HX_OK) rc = make_piece(&pieces->of[kind], &it, pieces->team, to_first, most, scratch);
    free(scratch);
    free_items(&it);
    return rc;
}

int hx_file_pieces_create(hx_file_pieces *pieces, const hx_team *team, const hx_share *share,
                          int to_first, size_t most)
{
    int rc = HX_OK;
    *pieces = (hx_file_pieces){.team = team};
    for (int kind = 0; kind < HX_FILE_KINDS; kind++)
        HX_TRY_FAIL(create_piece(pieces, kind, share, to_first, most));
    return HX_OK;
fail:
    hx_file_pieces_free(pieces);
    return rc;
}

/* to[to_at[i]] := from[from_at[i]], of `bytes` each; lists that are NULL: i. */
static void move(int64_t n, size_t bytes, const int32_t *from_at, const char *from,
                 const int32_t *to_at, char *to)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)(to_at ? to_at[i] : i) * bytes,
               from + (size_t)(from_at ? from_at[i] : i) * bytes, bytes);
}

int hx_file_pieces_bring(hx_file_pieces *pieces, int kind, size_t bytes, const void *own,
                         void *piece)
{
    hx_file_piece *const p = &pieces->of[kind];
    const int me = pieces->team->rank;
    for (int k = 0; k < p->route.n_peer; k++) {
        const int64_t *const out = p->out + p->route.peer[k];
        move(out[1] - out[0], bytes, p->from + out[0], own, NULL,
             hx_route_sent(&p->route, k, bytes));
    }
    HX_TRY(hx_route_exchange(pieces->team, &p->route, bytes));
    for (int k = 0; k < p->route.n_peer; k++) {
        const int64_t *const in = p->in + p->route.peer[k];
        move(in[1] - in[0], bytes, NULL, hx_route_received(&p->route, k, bytes), p->to + in[0],
             piece);
    }
    move(p->in[me + 1] - p->in[me], bytes, p->from + p->out[me], own, p->to + p->in[me], piece);
    return HX_OK;
}

void hx_file_pieces_free(hx_file_pieces *pieces)
{
    for (int kind = 0; kind < HX_FILE_KINDS; kind++) {
        hx_file_piece *const p = &pieces->of[kind];
        free(p->out);
        free(p->in);
        free(p->from);
        free(p->to);
        hx_route_free(&p->route);
    }
    memset(pieces, 0, sizeof *pieces);
}
