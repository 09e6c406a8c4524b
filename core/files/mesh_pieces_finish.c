/* Collective steps after a file has been read: what only the root has goes to all ranks, nodes
 * that no element has are left out, and cells get their standard numbering. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/mesh_check.h"
#include "mesh_pieces.h"

static const char what[] = "pieces of a mesh file";

enum { ROOT = 0 };

static int leads(const hx_mesh_pieces *p)
{
    return p->comm->rank == ROOT;
}

static int broadcast_pieces(const hx_mesh_pieces *p, void *data, size_t bytes)
{
    return bytes > 0 ? p->comm->ops->broadcast(p->comm, ROOT, data, bytes) : HX_OK;
}

/* --- data of the root --- */

typedef struct sent_facts {
    hx_piece_facts facts;
    int64_t n_used, n_face[HX_SOURCE_SETS], n_name[HX_SOURCE_SETS];
} sent_facts;

static int share_facts(hx_mesh_pieces *p, sent_facts *f)
{
    memset(f, 0, sizeof *f);
    if (leads(p)) {
        f->facts = p->facts;
        for (int64_t w = 0; w < (p->node.n + 63) / 64; w++)
            f->n_used += __builtin_popcountll(p->used[w]);
        for (int i = 0; i < p->facts.n_set; i++) {
            f->n_face[i] = p->faces[i].n;
            f->n_name[i] = (int64_t)strlen(p->name[i]) + 1;
        }
    }
    HX_TRY(broadcast_pieces(p, f, sizeof *f));
    p->facts = f->facts;
    for (int i = 0; i < p->facts.n_set; i++) {
        if (!leads(p)) HX_TRY(hx_alloc(&p->name[i], (size_t)f->n_name[i], 1, what));
        HX_TRY(broadcast_pieces(p, p->name[i], (size_t)f->n_name[i]));
    }
    return HX_OK;
}

/* --- sides --- */

/* node[4] := nodes of a side of the element conn; a triangle repeats its last one. */
static int find_side(const hx_mesh_pieces *p, const char *path, int set, int64_t elem,
                     const int32_t conn[8], int64_t node[4])
{
    const hx_cell_kind kind = hx_cell_kind_of(conn);
    const int64_t side = node[1];
    int32_t corner[4];
    const int row = kind == HX_CELL_OTHER ? -1 : p->side_row[kind][side];
    const int n = row < 0 ? 0 : hx_cell_face(conn, row, corner);
    if (n < 3)
        return HX_RAISE(HX_EINPUT,
                        "%s: the surface '%.60s' names side S%lld of element %lld, which has no "
                        "such side",
                        path, p->name[set], (long long)side,
                        (long long)(p->facts.first_elem + elem));
    for (int k = 0; k < 4; k++) node[k] = corner[k < n ? k : n - 1];
    return HX_OK;
}

/* Finds the nodes of faces that the root has by element and side. */
static int find_sides(hx_mesh_pieces *p, const char *path, int set)
{
    hx_source_faces *const f = &p->faces[set];
    int32_t *conn = NULL;
    int64_t *elem = NULL, n = 0;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)f->n, sizeof *conn, what));
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)f->n, sizeof *elem, what));
    for (int64_t k = 0; k < f->n; k++)
        if (f->node[k][0] < 0) elem[n++] = f->elem[k];
    HX_TRY_FAIL(hx_file_store_query(&p->elem, n, elem, conn, NULL));
    n = 0;
    for (int64_t k = 0; k < f->n && rc == HX_OK; k++)
        if (f->node[k][0] < 0) {
            rc = find_side(p, path, set, f->elem[k], conn + 8 * n, f->node[k]);
            n++;
        }
fail:
    free(conn);
    free(elem);
    return rc;
}

/* --- nodes of no element --- */

static int leave_out_cells(hx_mesh_pieces *p)
{
    const size_t n_word = ((size_t)p->node.n + 63) / 64;
    if (!leads(p)) HX_TRY(hx_alloc_raw(&p->used, n_word, sizeof *p->used, what));
    HX_TRY(broadcast_pieces(p, p->used, n_word * sizeof *p->used));
    HX_TRY(hx_file_store_keep(&p->node, p->used));
    for (int64_t k = 0; k < p->elem.n_own; k++) {
        int64_t number;
        int32_t *const conn = hx_file_store_own(&p->elem, k, &number);
        for (int a = 0; a < 8; a++)
            conn[a] = (int32_t)hx_file_store_renumber(p->node.first, p->used, conn[a]);
    }
    for (int i = 0; i < p->facts.n_set; i++)
        for (int64_t k = 0; k < 4 * p->faces[i].n; k++) {
            int64_t *const node = &p->faces[i].node[k / 4][k % 4];
            *node = hx_file_store_renumber(p->node.first, p->used, *node);
        }
    return HX_OK;
}

int hx_mesh_pieces_share(hx_mesh_pieces *p, const char *path)
{
    sent_facts f;
    HX_TRY(share_facts(p, &f));
    p->has_unused = f.n_used < p->node.n && !p->facts.keeps_unused;
    for (int i = 0; i < p->facts.n_set && p->facts.has_sides; i++)
        HX_TRY(hx_comm_agree(p->comm, find_sides(p, path, i)));
    /* send the root's faces to all ranks */
    for (int i = 0; i < p->facts.n_set; i++) {
        hx_source_faces *const to = &p->faces[i];
        const size_t n = (size_t)f.n_face[i];
        if (n == 0) continue;
        to->n = f.n_face[i];
        to->name = p->name[i];
        if (!leads(p)) HX_TRY(hx_alloc_raw(&to->elem, n, sizeof *to->elem, what));
        if (!leads(p)) HX_TRY(hx_alloc_raw(&to->node, n, sizeof *to->node, what));
        HX_TRY(broadcast_pieces(p, to->elem, n * sizeof *to->elem));
        HX_TRY(broadcast_pieces(p, to->node, n * sizeof *to->node));
    }
    free(p->xyz);
    free(p->conn);
    free(p->span);
    free(p->home);
    p->xyz = NULL;
    p->conn = p->home = NULL;
    p->span = NULL;
    return HX_OK;
}

int hx_mesh_pieces_leave_out(hx_mesh_pieces *p)
{
    if (p->has_unused) HX_TRY(leave_out_cells(p));
    free(p->used);
    p->used = NULL;
    return HX_OK;
}

/* --- cells --- */

/* Some elements of this rank as a mesh: nodes [n][8], one for each corner. */
typedef struct batch {
    hx_mesh mesh;
    int64_t *node; /* [n][8] indices in the file (owned) */
} batch;

enum { BATCH = 1 << 15 };

static int create_batch(const hx_mesh_pieces *p, const char *path, batch *b)
{
    const char *const slash = strrchr(path, '/');
    hx_mesh *const m = &b->mesh;
    memset(b, 0, sizeof *b);
    HX_TRY(hx_strdup(&m->name, slash ? slash + 1 : path));
    HX_TRY(hx_alloc_raw(&b->node, 8 * BATCH, sizeof *b->node, what));
    HX_TRY(hx_alloc_raw(&m->xyz, 24 * BATCH, sizeof *m->xyz, what));
    HX_TRY(hx_alloc_raw(&m->conn, 8 * BATCH, sizeof *m->conn, what));
    HX_TRY(hx_alloc_raw(&m->elem_orig, BATCH, sizeof *m->elem_orig, what));
    HX_TRY(hx_alloc_raw(&m->node_orig, 8 * BATCH, sizeof *m->node_orig, what));
    HX_TRY(hx_numbers_append_run(&m->node_number, p->node.n,
                                 p->facts.has_numbers ? p->facts.first_node : 0));
    return hx_numbers_append_run(&m->elem_number, p->elem.n,
                                 p->facts.has_numbers ? p->facts.first_elem : 0);
}

/* Fills the batch with own elements first .. first + n - 1. */
static int fill_batch(const hx_mesh_pieces *p, int64_t first, int64_t n, batch *b)
{
    hx_mesh *const m = &b->mesh;
    for (int64_t k = 0; k < n; k++) {
        int64_t number;
        const int32_t *const conn = hx_file_store_own(&p->elem, first + k, &number);
        m->elem_orig[k] = (int32_t)number;
        for (int a = 0; a < 8; a++) {
            int same = 0;
            while (conn[same] != conn[a]) same++;
            b->node[8 * k + a] = m->node_orig[8 * k + a] = conn[a];
            m->conn[8 * k + a] = (int32_t)(8 * k + same);
        }
    }
    m->n_elem = n;
    m->n_node = 8 * n;
    return hx_file_store_query(&p->node, 8 * n, b->node, m->xyz, NULL);
}

/* Copies renumbered elements back to the store. */
static void put_back(const hx_mesh_pieces *p, int64_t first, const batch *b)
{
    for (int64_t k = 0; k < b->mesh.n_elem; k++) {
        int64_t number;
        int32_t *const conn = hx_file_store_own(&p->elem, first + k, &number);
        for (int a = 0; a < 8; a++) conn[a] = (int32_t)b->node[b->mesh.conn[8 * k + a]];
    }
}

/* Returns HX_EINPUT: the element is not a solid. */
static int refuse_cell(const char *path, const batch *b, int64_t bad)
{
    const int rc = hx_refuse_cell(&b->mesh, bad);
    hx_error_prefix("%s: ", path);
    return rc;
}

static int normalize_batch(const hx_mesh_pieces *p, const char *path, int64_t first, batch *b,
                           int *is_out)
{
    hx_normalize_report report;
    hx_renumbered_list list;
    uint8_t *order = NULL;
    int rc = hx_normalize_cells(&b->mesh, &list, &report);
    if (rc == HX_OK && report.bad >= 0) rc = refuse_cell(path, b, report.bad);
    if (rc == HX_OK) rc = hx_mesh_repair_order(&b->mesh, &order, NULL);
    if (rc == HX_OK) {
        *is_out |= report.first_mirrored >= 0 || order;
        if (list.n > 0) put_back(p, first, b);
    }
    hx_renumbered_free(&list);
    free(order);
    return rc;
}

/* *is_out becomes 1 on all ranks if it is 1 on any rank. */
static int share_is_out(const hx_comm *comm, int *is_out)
{
    int *all;
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, what));
    const int rc = comm->ops->all_gather(comm, is_out, sizeof *is_out, all);
    for (int r = 0; r < comm->size && rc == HX_OK; r++) *is_out |= all[r];
    free(all);
    return rc;
}

int hx_mesh_pieces_normalize_cells(hx_mesh_pieces *p, const char *path, int *is_out)
{
    /* The first rank has the largest number of elements. */
    int64_t n_batch = (p->elem.n_own + BATCH - 1) / BATCH;
    batch b;
    int rc = create_batch(p, path, &b), own = HX_OK;
    *is_out = 0;
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(broadcast_pieces(p, &n_batch, sizeof n_batch));
    for (int64_t i = 0; i < n_batch; i++) {
        const int64_t first = i * BATCH, left = p->elem.n_own - first;
        const int64_t n = left < 0 ? 0 : left < BATCH ? left : BATCH;
        HX_TRY_FAIL(fill_batch(p, first, n, &b));
        if (own == HX_OK) own = normalize_batch(p, path, first, &b, is_out);
    }
    HX_TRY_FAIL(hx_comm_agree(p->comm, own));
    rc = share_is_out(p->comm, is_out);
fail:
    hx_mesh_free(&b.mesh);
    free(b.node);
    return rc;
}
