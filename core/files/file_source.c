#include "file_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "mesh_files.h"
#include "mesh_pieces.h"

static const char what[] = "a mesh file in pieces";

enum { ROOT = 0 };

typedef struct file_shape {
    hx_mesh_pieces pieces;
    char *name; /* name of the file without its folders (owned) */
    int n_faces;
    hx_source_faces faces[HX_SOURCE_SETS];  /* faces of the sets in the pieces */
    hx_shared_name shared[HX_PIECE_SHARED]; /* texts of the pieces' names */
} file_shape;

/* --- queries --- */

static int give_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem,
                         int64_t *conn, uint64_t *in_set)
{
    const file_shape *const shape = source->shape;
    const int has_sets = in_set && hx_source_has_sets(source, 1);
    int32_t *got;
    HX_TRY(hx_alloc_raw(&got, 8 * (size_t)n, sizeof *got, what));
    const int rc = hx_file_store_query(&shape->pieces.elem, n, elem, got, has_sets ? in_set : NULL);
    for (int64_t k = 0; k < (rc < 0 ? 0 : 8 * n); k++) conn[k] = got[k];
    if (in_set && !has_sets && n > 0) memset(in_set, 0, (size_t)n * sizeof *in_set);
    free(got);
    return rc;
}

static int give_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                      uint64_t *in_set)
{
    const file_shape *const shape = source->shape;
    return hx_file_store_query(&shape->pieces.node, n, node, xyz, in_set);
}

static int give_numbers(const hx_mesh_source *source, int64_t n, const int64_t *node,
                        int64_t *number)
{
    const file_shape *const shape = source->shape;
    HX_TRY(hx_file_store_query_old(&shape->pieces.node, n, node, number));
    for (int64_t i = 0; i < n; i++) number[i] += shape->pieces.facts.first_node;
    return HX_OK;
}

static void close_source(hx_mesh_source *source)
{
    file_shape *const shape = source->shape;
    if (!shape) return;
    hx_mesh_pieces_free(&shape->pieces);
    free(shape->name);
    free(shape);
}

/* --- reading --- */

/* Runs on the root only. If the format has no read_to, the reason states this. */
static int read_on_root(hx_mesh_pieces *p, const char *path, hx_notes *notes)
{
    const hx_mesh_format *const format = hx_mesh_format_of_file(path);
    if (format && format->read_to) return format->read_to(path, &p->sink, notes);
    snprintf(p->sink.why, sizeof p->sink.why, "a file of this format");
    return HX_OK;
}

/* Runs on all ranks; *is_out: as in mesh_pieces.h. */
static int finish_pieces(hx_mesh_pieces *p, const char *path, int *is_out)
{
    HX_TRY(hx_mesh_pieces_share(p, path));
    HX_TRY(hx_mesh_pieces_normalize_cells(p, path, is_out));
    return *is_out ? HX_OK : hx_mesh_pieces_leave_out(p);
}

static void list_shared(file_shape *shape)
{
    hx_mesh_pieces *const p = &shape->pieces;
    for (int i = 0; i < p->facts.n_shared; i++) {
        const hx_piece_shared *const from = &p->facts.shared[i];
        shape->shared[i].name = p->name[from->name];
        for (int kind = 0; kind < HX_N_SET_KIND; kind++)
            shape->shared[i].set[kind] = from->set[kind] < 0 ? NULL : p->name[from->set[kind]];
    }
}

static void fill_source(hx_mesh_source *source, file_shape *shape)
{
    const hx_mesh_pieces *const p = &shape->pieces;
    *source = (hx_mesh_source){.name = shape->name,
                               .n_node = p->node.n,
                               .n_elem = p->elem.n,
                               .n_set = p->facts.n_set,
                               .elements = give_elements,
                               .nodes = give_nodes,
                               .faces = shape->faces,
                               .n_shared = (size_t)p->facts.n_shared,
                               .shared = shape->shared,
                               .sorts_sets = p->facts.sorts_sets,
                               .has_numbers = p->facts.has_numbers,
                               .first_node = p->facts.first_node,
                               .first_elem = p->facts.first_elem,
                               .node_numbers = p->has_unused ? give_numbers : NULL,
                               .shape = shape,
                               .close = close_source};
    list_shared(shape);
    for (int i = 0; i < p->facts.n_set; i++) {
        source->set[i].name = p->name[i];
        source->set[i].of_both = p->facts.has_elements[i];
        if (p->faces[i].n > 0) shape->faces[source->n_faces++] = p->faces[i];
    }
}

int hx_file_source_open(hx_mesh_source *source, const hx_comm *comm, const char *path,
                        int64_t least, hx_notes *notes, char why[HX_FILE_WHY])
{
    file_shape *shape = NULL;
    int rc, is_out = 0;
    *why = '\0';
    memset(source, 0, sizeof *source);
    HX_TRY_FAIL(hx_alloc(&shape, 1, sizeof *shape, what));
    HX_TRY_FAIL(hx_mesh_pieces_begin(&shape->pieces, comm));
    shape->pieces.sink.least_elem = least;
    const char *const slash = strrchr(path, '/');
    HX_TRY_FAIL(hx_strdup(&shape->name, slash ? slash + 1 : path));
    rc = comm->rank == ROOT ? read_on_root(&shape->pieces, path, notes)
                            : hx_mesh_pieces_serve(&shape->pieces);
    HX_TRY_FAIL(hx_mesh_pieces_end(&shape->pieces, rc));
    if (!shape->pieces.sink.why[0]) HX_TRY_FAIL(finish_pieces(&shape->pieces, path, &is_out));
    snprintf(why, HX_FILE_WHY, "%s",
             is_out ? "elements whose nodes are out of order" : shape->pieces.sink.why);
    fill_source(source, shape);
    if (*why) hx_source_close(source);
    return HX_OK;
fail:
    if (shape) hx_mesh_pieces_free(&shape->pieces);
    if (shape) free(shape->name);
    free(shape);
    return rc;
}

int hx_file_source_note(const hx_mesh_source *source, const char *path, hx_notes *notes)
{
    for (int i = 0; i < source->n_faces; i++) {
        const hx_source_faces *const f = &source->faces[i];
        if (f->n_missing == 0) continue;
        HX_TRY(hx_notes_add(notes, f->n_missing < f->n ? HX_NOTE_DETAIL : HX_NOTE_WARNING,
                            "%s: set '%.100s': %lld faces that no element has are left out", path,
                            f->name, (long long)f->n_missing));
    }
    return HX_OK;
}
