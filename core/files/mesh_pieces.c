#include "mesh_pieces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "mesh_import_internal.h"

static const char what[] = "pieces of a mesh file";

enum { ROOT = 0 };

/* Header that the root broadcasts before each round, from which the other ranks learn what
 * follows. */
typedef struct round_head {
    int64_t n_node, n_elem; /* numbers of items sent in this round; numbering continues */
    int64_t goes_on;        /* 0: this was the last round, and nothing is sent */
} round_head;

void hx_mesh_pieces_free(hx_mesh_pieces *p)
{
    hx_file_store_free(&p->node);
    hx_file_store_free(&p->elem);
    for (int i = 0; i < HX_SOURCE_SETS; i++) {
        free(p->name[i]);
        free(p->faces[i].elem);
        free(p->faces[i].node);
    }
    free(p->xyz);
    free(p->conn);
    free(p->span);
    free(p->home);
    free(p->used);
    memset(p, 0, sizeof *p);
}

/* --- rounds --- */

static int take_spans(hx_mesh_pieces *p, int64_t n, const hx_piece_span *span)
{
    for (int64_t i = 0; i < n; i++)
        HX_TRY(hx_file_store_mark(span[i].of_elements ? &p->elem : &p->node, span[i].first,
                                  span[i].n, span[i].bit));
    return HX_OK;
}

/* Sends n records of the root, record[n], to the ranks of a store; n_new is that number on all
 * ranks. */
static int send_records(hx_mesh_pieces *p, hx_file_store *s, int64_t n, const void *record,
                        int64_t n_new)
{
    void *in;
    int64_t n_in;
    for (int64_t i = 0; i < n; i++) p->home[i] = hx_file_store_home(s, s->n + i);
    int rc = hx_file_ship(p->comm, s->bytes, n, record, p->home, &n_in, &in);
    if (rc == HX_OK) rc = hx_file_store_append(s, n_in, in);
    s->n += n_new;
    free(in);
    return rc;
}

/* Collective. */
static int do_round(hx_mesh_pieces *p, const round_head *head)
{
    int rc = send_records(p, &p->node, p->n_xyz, p->xyz, head->n_node);
    if (rc == HX_OK) rc = send_records(p, &p->elem, p->n_conn, p->conn, head->n_elem);
    if (rc == HX_OK) {
        void *in;
        int64_t n_in;
        for (int64_t i = 0; i < p->n_span; i++)
            p->home[i] = hx_file_store_home(&p->node, p->span[i].first);
        rc = hx_file_ship(p->comm, sizeof *p->span, p->n_span, p->span, p->home, &n_in, &in);
        if (rc == HX_OK) rc = take_spans(p, n_in, in);
        free(in);
    }
    p->n_xyz = p->n_conn = p->n_span = 0;
    return hx_comm_agree(p->comm, rc);
}

/* On the root: sends what has been collected. */
static int send_all(hx_mesh_pieces *p)
{
    round_head head = {p->n_xyz, p->n_conn, 1};
    HX_TRY(p->comm->ops->broadcast(p->comm, ROOT, &head, sizeof head));
    const int rc = do_round(p, &head);
    p->is_over = rc < 0;
    return rc;
}

int hx_mesh_pieces_serve(hx_mesh_pieces *p)
{
    round_head head = {0, 0, 1};
    for (;;) {
        HX_TRY(p->comm->ops->broadcast(p->comm, ROOT, &head, sizeof head));
        if (!head.goes_on) return HX_OK;
        const int rc = do_round(p, &head);
        p->is_over = rc < 0;
        HX_TRY(rc);
    }
}

int hx_mesh_pieces_end(hx_mesh_pieces *p, int rc)
{
    round_head head = {0, 0, 0};
    if (p->is_over) return rc;
    if (p->comm->rank == ROOT) HX_TRY(p->comm->ops->broadcast(p->comm, ROOT, &head, sizeof head));
    HX_TRY(p->comm->ops->broadcast(p->comm, ROOT, p->sink.why, sizeof p->sink.why));
    return hx_comm_agree(p->comm, p->sink.why[0] ? HX_OK : rc);
}

/* --- data from the reader --- */

static hx_mesh_pieces *pieces_of(hx_import_sink *sink)
{
    return (hx_mesh_pieces *)sink;
}

static int room_for_used(hx_mesh_pieces *p, int64_t n_node)
{
    const int64_t n_word = (n_node + 63) / 64;
    if (n_word <= p->used_capacity) return HX_OK;
    const int64_t twice = 2 * p->used_capacity, capacity = n_word > twice ? n_word : twice;
    HX_TRY(hx_resize(&p->used, (size_t)p->used_capacity, (size_t)capacity, sizeof *p->used, what));
    p->used_capacity = capacity;
    return HX_OK;
}

static int is_used(const hx_mesh_pieces *p, int64_t node)
{
    return (int)(p->used[node / 64] >> node % 64 & 1);
}

static int take_nodes(hx_import_sink *sink, hx_import *import, int64_t n, const double *xyz)
{
    hx_mesh_pieces *const p = pieces_of(sink);
    for (int64_t i = 0; i < n; i++) {
        const double *const x = xyz + 3 * i;
        if (isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2])) continue;
        return HX_IMPORT_RAISE(
            import, 0, "node %s has the coordinates (%g, %g, %g)",
            HX_IMPORT_NUMBER(import, hx_numbers_get(&import->node_number, import->n_node + i)),
            x[0], x[1], x[2]);
    }
    if (import->n_node + n > INT32_MAX)
        return HX_IMPORT_RAISE(import, 0, "more than %ld nodes", (long)INT32_MAX);
    HX_TRY(room_for_used(p, import->n_node + n));
    for (int64_t i = 0; i < n;) {
        const int64_t room = HX_PIECE - p->n_xyz, now = n - i < room ? n - i : room;
        memcpy(p->xyz + 3 * p->n_xyz, xyz + 3 * i, 3 * (size_t)now * sizeof *xyz);
        p->n_xyz += now;
        i += now;
        if (p->n_xyz == HX_PIECE) HX_TRY(send_all(p));
    }
    return HX_OK;
}

/* Adds an element with the indices of its nodes; remembers the first node that has not been read
 * yet. */
static void take_corners(hx_mesh_pieces *p, const hx_import *import, int64_t elem,
                         const int64_t corner[8], int64_t line)
{
    int32_t *const to = p->conn + 8 * p->n_conn++;
    const int64_t first = import->n_node > 0 ? hx_numbers_get(&import->node_number, 0) : 0;
    for (int a = 0; a < 8; a++) {
        const int64_t place = corner[a] - first;
        to[a] = 0;
        if (place < 0 || place >= import->n_node) {
            const int64_t early[3] = {elem, corner[a], line};
            if (p->early[0] < 0) memcpy(p->early, early, sizeof early);
            continue;
        }
        to[a] = (int32_t)place;
        p->used[place / 64] |= (uint64_t)1 << place % 64;
    }
}

static int take_solids(hx_import_sink *sink, hx_import *import, int64_t n, const int64_t *corner,
                       int64_t line)
{
    hx_mesh_pieces *const p = pieces_of(sink);
    if (import->n_elem + n > INT32_MAX)
        return HX_IMPORT_RAISE(import, 0, "more than %ld elements", (long)INT32_MAX);
    for (int64_t i = 0; i < n; i++) {
        take_corners(p, import, import->n_elem + i, corner + 8 * i, line > 0 ? line + i : 0);
        if (p->n_conn == HX_PIECE) HX_TRY(send_all(p));
    }
    return p->n_conn == 0 ? hx_import_flush(import, 0) : HX_OK;
}

/* Adds members first .. first + n - 1 of a set, block by block. */
static int add_span(hx_mesh_pieces *p, int set, int of_elements, int64_t first, int64_t n)
{
    if (of_elements) p->facts.has_elements[set] = 1;
    while (n > 0) {
        const int64_t room = HX_STORE_BLOCK - first % HX_STORE_BLOCK, now = n < room ? n : room;
        p->span[p->n_span++] =
            (hx_piece_span){first, (int32_t)now, (int16_t)set, (int16_t)of_elements};
        if (p->n_span == HX_PIECE) HX_TRY(send_all(p));
        first += now;
        n -= now;
    }
    return HX_OK;
}

/* Adds the numbers of the list, minus `base`, as spans. */
static int add_list(hx_mesh_pieces *p, int set, int of_elements, const hx_numbers *list,
                    int64_t base)
{
    for (int64_t i = 0, n; i < list->n; i += n) {
        const int64_t first = hx_numbers_get(list, i);
        n = hx_numbers_is_run(list) ? list->n : 1;
        while (i + n < list->n && hx_numbers_get(list, i + n) == first + n) n++;
        HX_TRY(add_span(p, set, of_elements, first - base, n));
    }
    return HX_OK;
}

static int flush_sets(hx_import_sink *sink, hx_import *import, int with_nodes)
{
    hx_mesh_pieces *const p = pieces_of(sink);
    for (size_t i = 0; i < import->n_set; i++) {
        hx_import_set *const set = import->set[i];
        set->is_flushed |= set->elem_index.n > 0 || (with_nodes && set->node.n > 0);
        HX_TRY(add_list(p, (int)i, 1, &set->elem_index, 0));
        hx_numbers_free(&set->elem_index);
        if (!with_nodes) continue;
        HX_TRY(add_list(p, (int)i, 0, &set->node, hx_numbers_get(&import->node_number, 0)));
        hx_numbers_free(&set->node);
    }
    return HX_OK;
}

/* --- the end of the file --- */

static int check_early(const hx_mesh_pieces *p, hx_import *import)
{
    if (p->early[0] < 0) return HX_OK;
    const int64_t place = p->early[1] - hx_numbers_get(&import->node_number, 0);
    if (place >= 0 && place < import->n_node)
        return hx_import_need_whole(import, "elements before the nodes that they name");
    return hx_import_no_node(import, p->early[2], p->early[0], p->early[1]);
}

/* Index of a number of the file in a run of numbers; -1: none. */
static int64_t place_in(const hx_numbers *run, int64_t number)
{
    const int64_t place = number - hx_numbers_get(run, 0);
    return place >= 0 && place < run->n ? place : -1;
}

/* If the whole mesh is read at once, such members are left out and noted. */
static const char missing[] = "a set with members that the file does not have";

static int take_set_nodes(hx_mesh_pieces *p, hx_import *import, int i)
{
    const hx_import_set *const set = import->set[i];
    hx_left_out out = {"nodes that no element uses", 0, 0};
    for (int64_t k = 0; k < set->node.n; k++) {
        const int64_t number = hx_numbers_get(&set->node, k);
        const int64_t place = place_in(&import->node_number, number);
        if (place < 0) return hx_import_need_whole(import, missing);
        if (!is_used(p, place)) hx_leave_out(&out, number);
    }
    HX_TRY(add_list(p, i, 0, &set->node, hx_numbers_get(&import->node_number, 0)));
    return hx_note_left_out(import, set, &out, set->node.n - out.n);
}

/* Finds the index of an element, -1: it is not a solid. */
static int find_elem(hx_import *import, int64_t number, hx_left_out *out, int64_t *place)
{
    *place = place_in(&import->elem_number, number);
    if (*place >= 0) return HX_OK;
    if (import->n_other == 0) return hx_import_need_whole(import, missing);
    hx_leave_out(out, number);
    return HX_OK;
}

static int take_set_elems(hx_mesh_pieces *p, hx_import *import, int i)
{
    const hx_import_set *const set = import->set[i];
    hx_left_out out = {"elements that are not solids", 0, 0};
    int64_t first = 0, n = 0;
    for (int64_t k = 0; k < set->elem.n; k++) {
        int64_t place;
        HX_TRY(find_elem(import, hx_numbers_get(&set->elem, k), &out, &place));
        if (place < 0) continue;
        if (n > 0 && place != first + n) {
            HX_TRY(add_span(p, i, 1, first, n));
            n = 0;
        }
        if (n++ == 0) first = place;
    }
    HX_TRY(add_span(p, i, 1, first, n));
    return hx_note_left_out(import, set, &out, set->elem.n - out.n);
}

/* Takes faces given by the indices of their nodes. */
static int take_quads(hx_mesh_pieces *p, const hx_import *import, int i)
{
    const hx_import_set *const set = import->set[i];
    hx_source_faces *const to = &p->faces[i];
    hx_left_out out = {"faces that no element has, by their first node,", 0, 0};
    for (int64_t k = 0; k < set->quad.n / 4; k++) {
        int used = 1;
        for (int j = 0; j < 4; j++) {
            const int64_t number = hx_numbers_get(&set->quad, 4 * k + j);
            const int64_t place = place_in(&import->node_number, number);
            if (place < 0) return hx_import_unknown(import, set, number);
            to->node[to->n][j] = place;
            used &= is_used(p, place);
        }
        to->elem[to->n] = -1;
        if (used)
            to->n++;
        else
            hx_leave_out(&out, hx_numbers_get(&set->quad, 4 * k));
    }
    return hx_note_left_out(import, set, &out, to->n);
}

/* Takes faces given by element and side, since their nodes are no longer on this rank. */
static int take_sides(hx_mesh_pieces *p, hx_import *import, int i)
{
    const hx_import_set *const set = import->set[i];
    hx_source_faces *const to = &p->faces[i];
    hx_left_out out = {"faces of elements that are not solids", 0, 0};
    if (set->face_elem.n == 0) return HX_OK;
    if (import->has_collapsed_brick)
        return hx_import_need_whole(import, "sides of hexahedra with repeated nodes");
    p->facts.has_sides = 1;
    for (int64_t k = 0; k < set->face_elem.n; k++) {
        HX_TRY(find_elem(import, hx_numbers_get(&set->face_elem, k), &out, &to->elem[to->n]));
        to->node[to->n][0] = -1;
        to->node[to->n][1] = hx_numbers_get(&set->face_local, k);
        to->n += to->elem[to->n] >= 0;
    }
    return hx_note_left_out(import, set, &out, to->n);
}

/* Index of the set of that name; -1: there is none, or name is NULL. */
static int16_t place_of_set(const hx_import *import, const char *name)
{
    for (size_t i = 0; i < import->n_set && name; i++)
        if (strcmp(import->set[i]->name, name) == 0) return (int16_t)i;
    return -1;
}

/* Records the names that sets of several kinds share; the sets themselves get unique names. */
static int take_shared(hx_mesh_pieces *p, hx_import *import)
{
    hx_mesh names = {0}; /* holds nothing but the shared names */
    const int rc = hx_import_name_apart(import, &names);
    p->facts.n_shared = rc < 0 ? 0 : (int)names.n_shared;
    p->facts.sorts_sets = import->sorts_shared && p->facts.n_shared > 0;
    for (int i = 0; i < p->facts.n_shared; i++) {
        p->facts.shared[i].name = place_of_set(import, names.shared[i].name);
        for (int kind = 0; kind < HX_N_SET_KIND; kind++)
            p->facts.shared[i].set[kind] = place_of_set(import, names.shared[i].set[kind]);
    }
    hx_mesh_free_shared(&names);
    return rc;
}

static int finish(hx_import_sink *sink, hx_import *import)
{
    hx_mesh_pieces *const p = pieces_of(sink);
    HX_TRY(hx_import_check_cells(import));
    HX_TRY(hx_import_announce(import, import->n_elem));
    if (import->n_node == 0) return hx_import_need_whole(import, "elements without nodes");
    HX_TRY(check_early(p, import));
    HX_TRY(hx_import_flush(import, 0));
    p->facts.has_numbers = !import->keeps_unused; /* numbers of VTK files count from 0 */
    p->facts.keeps_unused = import->keeps_unused;
    p->side_row = import->side_row;
    p->facts.first_node = hx_numbers_get(&import->node_number, 0);
    p->facts.first_elem = hx_numbers_get(&import->elem_number, 0);
    p->facts.n_set = (int)import->n_set;
    HX_TRY(take_shared(p, import));
    for (int i = 0; i < p->facts.n_set; i++) {
        hx_import_set *const set = import->set[i];
        const size_t n = (size_t)(set->quad.n / 4 + set->face_elem.n);
        p->facts.has_elements[i] |= set->elem.n > 0;
        HX_TRY(hx_strdup(&p->name[i], set->name));
        HX_TRY(take_set_nodes(p, import, i));
        HX_TRY(take_set_elems(p, import, i));
        if (n > 0) {
            HX_TRY(hx_alloc_raw(&p->faces[i].elem, n, sizeof(int64_t), what));
            HX_TRY(hx_alloc_raw(&p->faces[i].node, n, sizeof *p->faces[i].node, what));
            HX_TRY(take_quads(p, import, i));
            HX_TRY(take_sides(p, import, i));
        }
        hx_import_set_clear(set);
    }
    int64_t n = 0, first = -1;
    for (int64_t a = 0; a < import->n_node && !import->keeps_unused; a++) {
        if (is_used(p, a)) continue;
        if (n++ == 0) first = hx_numbers_get(&import->node_number, a);
    }
    HX_TRY(hx_import_note_dropped(import, n, first));
    return send_all(p);
}

int hx_mesh_pieces_begin(hx_mesh_pieces *p, const hx_comm *comm)
{
    memset(p, 0, sizeof *p);
    p->sink = (hx_import_sink){take_nodes, take_solids, flush_sets, finish, 0, ""};
    p->comm = comm;
    p->early[0] = -1;
    hx_file_store_begin(&p->node, comm, 3 * sizeof(double));
    hx_file_store_begin(&p->elem, comm, 8 * sizeof(int32_t));
    if (comm->rank != ROOT) return HX_OK;
    HX_TRY(hx_alloc_raw(&p->xyz, HX_PIECE, 3 * sizeof *p->xyz, what));
    HX_TRY(hx_alloc_raw(&p->conn, HX_PIECE, 8 * sizeof *p->conn, what));
    HX_TRY(hx_alloc_raw(&p->span, HX_PIECE, sizeof *p->span, what));
    return hx_alloc_raw(&p->home, HX_PIECE, sizeof *p->home, what);
}
