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
    for (int64_t i = 0; i < it->n; i++) it->place[i] = -1;
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

/* from[], and out[]: the file from its begin to its end. */
static void list_sent(hx_file_piece *p, const items *it, const hx_team *team, int to_first)
{
    int to = 0;
    int64_t n = 0;
    for (int64_t f = 0; f < it->n; f++) {
        while (f >= piece_begin(team, it->n, to_first, to + 1)) p->out[++to] = n;
        const int64_t place = own_place(it, team, f);
        if (place >= 0) p->from[n++] = (int32_t)place;
    }
    while (to < team->size) p->out[++to] = n;
}

/* to[], and in[]: the piece, by rank. next[size]: scratch. */
static void list_received(hx_file_piece *p, const items *it, const hx_team *team, int64_t *next)
{
    for (int64_t i = 0; i < p->n; i++) p->in[owner_of(it, team, p->first + i) + 1]++;
    for (int r = 0; r < team->size; r++) {
        next[r] = p->in[r];
        p->in[r + 1] += p->in[r];
    }
    for (int64_t i = 0; i < p->n; i++) p->to[next[owner_of(it, team, p->first + i)]++] = (int32_t)i;
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
    list_sent(p, it, team, to_first);
    list_received(p, it, team, scratch);
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
