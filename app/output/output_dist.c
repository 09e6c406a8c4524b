#include "output_dist.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/comm/comm_file.h"

int hx_output_sum_hash(const hx_output *out, hx_hash *hash)
{
    const hx_comm *const comm = out->session->comm;
    const hx_hash own = *hash;
    hx_hash *all;
    if (!comm) return HX_OK;
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, "hashes"));
    const int rc = comm->ops->all_gather(comm, &own, sizeof own, all);
    *hash = (hx_hash){0, 0};
    for (int r = 0; rc == HX_OK && r < comm->size; r++) {
        hash->a += all[r].a;
        hash->b += all[r].b;
    }
    free(all);
    return rc;
}

enum { MOST_FIELDS = 32 };

/* Settings that determine the file, taken from the root's config. */
typedef struct file_choice {
    double threshold;
    int32_t format, timeline, n_field, field[MOST_FIELDS];
    char directory[PATH_MAX];
} file_choice;

static void get_choice(const hx_config *cfg, file_choice *c)
{
    memset(c, 0, sizeof *c);
    c->threshold = cfg->output.threshold;
    c->format = (int32_t)cfg->output.format;
    c->timeline = cfg->output.timeline;
    for (size_t i = 0; i < cfg->output.fields.n && i < MOST_FIELDS; i++)
        c->field[c->n_field++] = cfg->output.fields.word[i];
    snprintf(c->directory, sizeof c->directory, "%s", cfg->output.directory);
}

static int take_choice(hx_config *cfg, const file_choice *c)
{
    const size_t n = (size_t)c->n_field;
    int *word;
    HX_TRY(hx_alloc_raw(&word, n + 1, sizeof *word, "fields"));
    for (size_t i = 0; i < n; i++) word[i] = c->field[i];
    free(cfg->output.fields.word);
    cfg->output.fields.word = word;
    cfg->output.fields.n = n;
    cfg->output.threshold = c->threshold;
    cfg->output.format = (hx_vtk_format)c->format;
    cfg->output.timeline = c->timeline;
    return hx_config_set_word(&cfg->output.directory, c->directory);
}

/* Returns 1 if only the root writes: text files, files of part of a mesh that each process has
 * completely, and files in a folder that not all processes see. */
static int writes_alone(const hx_session *s, const file_choice *c, int is_shared)
{
    const int is_part = !isnan(c->threshold) && !s->mesh.ownership;
    return c->format != HX_VTK_BINARY || is_part || !is_shared;
}

/* The part of the preparation that needs no communication. */
static int prepare_output_dist(hx_output *out, const file_choice *c, int to_first)
{
    hx_session *const s = out->session;
    hx_output_dist *r;
    HX_TRY(hx_alloc(&out->dist, 1, sizeof *out->dist, "output"));
    r = out->dist;
    hx_comm_self(&r->alone);
    r->writers = to_first ? &r->alone : s->comm;
    HX_TRY(take_choice(&s->cfg, c));
    HX_TRY(
        hx_alloc_raw(&r->own, 2 * (size_t)s->dist.subdomain.mesh.n_elem, sizeof *r->own, "fields"));
    return s->comm->rank == HX_DIST_ROOT && !s->mesh.ownership
               ? hx_alloc_raw(&out->whole, (size_t)s->mesh.n_elem, sizeof *out->whole, "densities")
               : HX_OK;
}

/* Allocates memory for the mesh data of a piece of a file, and (*corner)[n], which the caller
 * frees: one corner of the own elements and then of the elements of the piece. */
static int make_room_for_piece(hx_output_dist *r, const hx_session *s, int32_t **corner)
{
    const size_t n_own = (size_t)s->dist.subdomain.mesh.n_elem,
                 n = (size_t)r->pieces.of[HX_FILE_ELEMENTS].n;
    HX_TRY(hx_alloc_raw(corner, n_own + n, sizeof **corner, "elements"));
    HX_TRY(hx_alloc_raw(&r->xyz, 3 * (size_t)r->pieces.of[HX_FILE_NODES].n, sizeof *r->xyz,
                        "nodes of a file"));
    return hx_alloc_raw(&r->conn, 8 * n, sizeof *r->conn, "elements of a file");
}

/* Collects node c of each element of the piece, in the file's numbers. Nodes are collected corner
 * by corner, which takes only a quarter of the memory. */
static int bring_corner(hx_output_dist *r, const hx_session *s, int c, int32_t *corner)
{
    const hx_subdomain *const subdomain = &s->dist.subdomain;
    const int64_t n_own = subdomain->mesh.n_elem, n = r->pieces.of[HX_FILE_ELEMENTS].n;
    int32_t *const come = corner + n_own;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_own; e++)
        corner[e] = s->mesh.node_orig[subdomain->node[subdomain->mesh.conn[8 * e + c]]];
    HX_TRY(hx_file_pieces_bring(&r->pieces, HX_FILE_ELEMENTS, sizeof *corner, corner, come));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) r->conn[8 * e + c] = come[e];
    return HX_OK;
}

/* Collects the mesh data of a piece from a distributed mesh, while the file is written. Collective;
 * fails on all processes if it fails on one. */
static int bring_mesh(hx_output_dist *r, const hx_session *s)
{
    int32_t *corner = NULL;
    int rc;
    HX_TRY_FAIL(hx_comm_agree(s->comm, make_room_for_piece(r, s, &corner)));
    HX_TRY_FAIL(hx_file_pieces_bring(&r->pieces, HX_FILE_NODES, 3 * sizeof(double),
                                     s->dist.subdomain.mesh.xyz, r->xyz));
    for (int c = 0; c < 8; c++) HX_TRY_FAIL(bring_corner(r, s, c, corner));
    r->piece.xyz = r->xyz;
    r->piece.conn = r->conn;
    rc = HX_OK;
fail:
    free(corner);
    return rc;
}

int hx_output_bring_mesh(hx_output *out)
{
    if (!out->session->mesh.ownership) return HX_OK;
    const int rc = bring_mesh(out->dist, out->session);
    if (rc < 0) hx_output_leave_mesh(out);
    return rc;
}

void hx_output_leave_mesh(hx_output *out)
{
    hx_output_dist *const r = out->dist;
    if (!r) return;
    free(r->xyz);
    free(r->conn);
    r->xyz = NULL;
    r->conn = NULL;
    r->piece.xyz = NULL;
    r->piece.conn = NULL;
}

/* HX_EINPUT: a single process would write the file, but none has the whole mesh. */
static int check_writers(const hx_session *s, int to_first)
{
    if (!s->mesh.ownership || !to_first) return HX_OK;
    return HX_RAISE(HX_EINPUT,
                    "no process has the whole mesh, and not all processes see the folder '%s': "
                    "name one that all of them see, or set mesh.in_parts = \"never\"",
                    s->cfg.output.directory);
}

static int create_output_dist(hx_output *out, const file_choice *c, int is_shared)
{
    hx_session *const s = out->session;
    const int to_first = writes_alone(s, c, is_shared);
    HX_TRY(check_writers(s, to_first));
    HX_TRY(hx_comm_agree(s->comm, prepare_output_dist(out, c, to_first)));
    hx_output_dist *const r = out->dist;
    HX_TRY(hx_file_pieces_create(&r->pieces, s->comm, &s->dist.subdomain, to_first));
    for (int k = 0; k < HX_FILE_KINDS; k++) {
        const hx_file_piece *const of = &r->pieces.of[k];
        const int where = k == HX_FILE_NODES ? HX_VTK_POINT : HX_VTK_CELL;
        r->piece.first[where] = of->first;
        r->piece.n[where] = of->n;
    }
    out->fields.piece = &r->piece;
    return HX_OK;
}

int hx_output_dist_create(hx_output *out, int *rc)
{
    hx_session *const s = out->session;
    file_choice c;
    int is_shared;
    *rc = HX_OK;
    if (!s->comm) return HX_OK;
    get_choice(&s->cfg, &c);
    HX_TRY(hx_session_share(s, &c, sizeof c));
    HX_TRY(hx_comm_shares_folder(s->comm, c.directory, &is_shared));
    *rc = create_output_dist(out, &c, is_shared);
    return HX_OK;
}

void hx_output_dist_free(hx_output *out)
{
    hx_output_dist *const r = out->dist;
    if (!r) return;
    hx_file_pieces_free(&r->pieces);
    hx_output_leave_mesh(out);
    free(r->own);
    free(r);
    free(out->whole);
    out->dist = NULL;
    out->whole = NULL;
}

int hx_output_is_writer(const hx_output *out)
{
    return !out->dist || out->dist->writers->size > 1 || out->session->comm->rank == HX_DIST_ROOT;
}

int64_t hx_output_n_elem(const hx_output *out)
{
    return out->dist ? out->dist->piece.n[HX_VTK_CELL] : out->session->mesh.n_elem;
}

void *hx_output_own(const hx_output *out, void *data)
{
    return out->dist ? out->dist->own : data;
}

int hx_output_bring(hx_output *out, hx_vtk_where where, size_t bytes, const void *own, void *data)
{
    const int kind = where == HX_VTK_POINT ? HX_FILE_NODES : HX_FILE_ELEMENTS;
    return out->dist ? hx_file_pieces_bring(&out->dist->pieces, kind, bytes, own, data) : HX_OK;
}

int hx_output_own_design(hx_output *out, hx_design_field field, double *own)
{
    return hx_optimizer_own_field(&out->session->opt, field, own);
}
