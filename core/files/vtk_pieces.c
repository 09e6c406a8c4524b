/* Reads a legacy VTK file piece by piece. Types come after the cells, so a second scan of the file
 * supplies the cells' nodes in parallel with the types; an array is first scanned for sets and then
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/set_rules.h"
#include "vtk_faces.h"
#include "vtk_reader.h"

static const char what[] = "pieces of a VTK file";

/* Numbers read at a time. */
enum { PIECE = 1 << 16, CELLS = 512, MOST_NODES = 8 };

static int64_t up_to(int64_t n, int64_t most)
{
    return n < most ? n : most;
}

int hx_vtk_send_points(hx_vtk_reader *r, const hx_file_number *type)
{
    double xyz[3 * HX_VTK_CHUNK];
    int64_t number[HX_VTK_CHUNK], n;
    for (int64_t i = 0; i < r->n_node; i += n) {
        n = up_to(r->n_node - i, HX_VTK_CHUNK);
        HX_TRY(hx_file_scan_real(&r->scan, type, 3 * n, xyz));
        for (int64_t k = 0; k < n; k++) number[k] = i + k;
        const int rc = hx_import_add_nodes(r->import, n, number, xyz, 0);
        if (rc < 0) return rc;
    }
    return HX_OK;
}

int hx_vtk_pass_cells(hx_vtk_reader *r, int64_t n, int64_t size)
{
    static const hx_file_number int32 = {"int", 4, 'i'};
    int64_t n_value;
    if (r->n_node < 0) return hx_import_need_whole(r->import, "cells before the points");
    HX_TRY(hx_import_announce(r->import, r->n_elem));
    r->n_cell_number = size;
    r->cells_type = &int32;
    if (r->major >= 5) {
        HX_TRY(hx_vtk_read_array_head(r, "OFFSETS", n, &r->offsets_type));
        r->offsets_at = hx_file_scan_mark(&r->scan);
        HX_TRY(hx_file_scan_skip(&r->scan, r->offsets_type, n));
        HX_TRY(hx_vtk_read_array_head(r, "CONNECTIVITY", size, &r->cells_type));
    } else {
        HX_TRY(hx_file_scan_begin(&r->scan));
        HX_TRY(hx_file_scan_room(&r->scan, &int32, size, 1, "CELLS", &n_value));
    }
    r->cells_at = hx_file_scan_mark(&r->scan);
    return hx_file_scan_skip(&r->scan, r->cells_type, size);
}

/* --- cells --- */

/* Supplies the nodes of the cells. */
typedef struct cell_reader {
    hx_file_scan nodes, offsets; /* marks of the offsets; only in version 5 */
    int has_offsets;
    int64_t offset; /* offset of the next cell */
    int64_t left;   /* numbers not yet used by a cell */
} cell_reader;

static int open_scan(const hx_vtk_reader *r, hx_file_mark at, hx_file_scan *scan)
{
    HX_TRY(hx_file_scan_open(scan, r->scan.path));
    scan->is_binary = r->scan.is_binary;
    return hx_file_scan_jump(scan, at);
}

static int open_cells(const hx_vtk_reader *r, cell_reader *c)
{
    memset(c, 0, sizeof *c);
    c->has_offsets = r->major >= 5;
    c->left = r->n_cell_number;
    HX_TRY(open_scan(r, r->cells_at, &c->nodes));
    if (!c->has_offsets) return HX_OK;
    HX_TRY(open_scan(r, r->offsets_at, &c->offsets));
    HX_TRY(hx_file_scan_int(&c->offsets, r->offsets_type, 1, &c->offset));
    if (c->offset == 0) return HX_OK;
    return HX_FILE_RAISE(&c->offsets, "offset %lld of cell 0; offsets must ascend from 0 to %lld",
                         (long long)c->offset, (long long)r->n_cell_number);
}

static void close_cells(cell_reader *c)
{
    hx_file_scan_free(&c->nodes);
    hx_file_scan_free(&c->offsets);
}

/* Reads the number of nodes of the next cell. */
static int read_size(const hx_vtk_reader *r, cell_reader *c, int64_t cell, int64_t *n)
{
    int64_t end;
    if (c->has_offsets) {
        HX_TRY(hx_file_scan_int(&c->offsets, r->offsets_type, 1, &end));
        *n = end - c->offset;
        c->offset = end;
    } else {
        if (c->left < 1)
            return HX_FILE_RAISE(&c->nodes, "the %lld numbers of CELLS end before cell %lld",
                                 (long long)r->n_cell_number, (long long)cell);
        HX_TRY(hx_file_scan_int(&c->nodes, r->cells_type, 1, n));
        c->left--;
    }
    if (*n < 0 || *n > c->left)
        return HX_FILE_RAISE(c->has_offsets ? &c->offsets : &c->nodes,
                             "cell %lld has %lld nodes, but %lld numbers of CELLS are left",
                             (long long)cell, (long long)*n, (long long)c->left);
    c->left -= *n;
    return HX_OK;
}

static int read_corner_nodes(const hx_vtk_reader *r, cell_reader *c, int64_t cell, int n,
                             int64_t *node)
{
    HX_TRY(hx_file_scan_int(&c->nodes, r->cells_type, n, node));
    for (int k = 0; k < n; k++)
        if (node[k] < 0 || node[k] >= r->n_node)
            return HX_FILE_RAISE(&c->nodes, "cell %lld uses point %lld; there are points 0 to %lld",
                                 (long long)cell, (long long)node[k], (long long)r->n_node - 1);
    return HX_OK;
}

/* Reads a cell of that type into node[MOST_NODES], in the order of its solid. */
static int read_cell(hx_vtk_reader *r, cell_reader *c, int64_t cell, int64_t type, hx_solid_id *id,
                     int64_t *node)
{
    int64_t n, as_read[MOST_NODES];
    const hx_solid_id *const solid = hx_vtk_find_solid(type);
    const int *const voxel = hx_vtk_voxel_order(type);
    HX_TRY(read_size(r, c, cell, &n));
    if (!solid || hx_solids[*solid].n_node != hx_solids[*solid].n_corner)
        return hx_import_need_whole(r->import, "cells that are not solids of first order");
    *id = *solid;
    if (n != hx_solids[*id].n_node)
        return HX_FILE_RAISE(&c->nodes,
                             "cell %lld is of type %lld and has %lld nodes; it must "
                             "have %d",
                             (long long)cell, (long long)type, (long long)n, hx_solids[*id].n_node);
    HX_TRY(read_corner_nodes(r, c, cell, (int)n, as_read));
    for (int k = 0; k < n; k++) node[k] = as_read[voxel ? voxel[k] : k];
    return HX_OK;
}

/* Consecutive cells of one kind of solid. */
typedef struct bundle {
    hx_solid_id id;
    int64_t n, number[CELLS], node[CELLS * MOST_NODES];
} bundle;

static int send(hx_vtk_reader *r, bundle *b)
{
    const int64_t n = b->n;
    b->n = 0;
    return n > 0 ? hx_import_add_solids(r->import, b->id, n, b->number, b->node, 0) : HX_OK;
}

static int send_chunk(hx_vtk_reader *r, cell_reader *c, bundle *b, int64_t first, int64_t n)
{
    static const hx_file_number int32 = {"int", 4, 'i'};
    int64_t type[HX_VTK_CHUNK];
    HX_TRY(hx_file_scan_int(&r->scan, &int32, n, type));
    for (int64_t k = 0; k < n; k++) {
        hx_solid_id id = HX_SOLID_HEX8;
        int64_t node[MOST_NODES];
        HX_TRY(read_cell(r, c, first + k, type[k], &id, node));
        const int n_node = hx_solids[id].n_node;
        if (b->n == CELLS || b->id != id) HX_TRY(send(r, b));
        b->id = id;
        b->number[b->n] = first + k;
        memcpy(b->node + n_node * b->n++, node, (size_t)n_node * sizeof *node);
    }
    return HX_OK;
}

int hx_vtk_send_cells(hx_vtk_reader *r, int64_t n_type)
{
    cell_reader c;
    bundle b = {.n = 0};
    int64_t n;
    int rc;
    HX_TRY_FAIL(open_cells(r, &c));
    for (int64_t i = 0; i < n_type; i += n) {
        n = up_to(n_type - i, HX_VTK_CHUNK);
        HX_TRY_FAIL(send_chunk(r, &c, &b, i, n));
    }
    HX_TRY_FAIL(send(r, &b));
    if (c.left > 0)
        rc = HX_FILE_RAISE(&c.nodes, "CELLS announces %lld numbers, but its cells have %lld",
                           (long long)r->n_cell_number, (long long)(r->n_cell_number - c.left));
fail:
    close_cells(&c);
    return rc;
}

/* --- sets --- */

/* Finds the distinct values of the next array; *fits: all values fit 32 bits. */
static int find_values(hx_vtk_reader *r, const hx_file_number *type, int64_t n, int32_t *value,
                       hx_vtk_values *all, int *fits)
{
    int64_t now;
    all->n = 0;
    *fits = 1;
    for (int64_t i = 0; i < n; i += now) {
        now = up_to(n - i, PIECE);
        HX_TRY(hx_file_scan_int32(&r->scan, type, now, value, fits));
        for (int64_t k = 0; k < now; k++)
            if (k == 0 || value[k] != value[k - 1]) hx_vtk_add_value(all, value[k]);
    }
    return HX_OK;
}

/* The set of each value, or NULL; set[1] has Gmsh's numbered groups of volumes. Kinds are those of
 * the whole mesh (vtk_sets.c): an array of flags and one of faces belong to one set, of kind
 * nodes. */
typedef struct targets {
    hx_import_set *set[2][HX_VTK_SET_VALUES];
} targets;

static int name_sets(hx_vtk_reader *r, const char *name, const hx_vtk_values *all, targets *to)
{
    char text[HX_FILE_WORD_SIZE + 16];
    const int is_group = r->where == HX_VTK_ON_CELLS && strcmp(name, "CellEntityIds") == 0;
    memset(to, 0, sizeof *to);
    if (hx_vtk_is_flag(name, all)) {
        hx_import_set *set;
        HX_TRY(hx_import_set_of(r->import, name + 4, HX_KIND_NODES, &set));
        if (all->n > 0 && all->value[all->n - 1] == 1) to->set[0][all->n - 1] = set;
        return HX_OK;
    }
    for (int v = 0; v < all->n; v++) {
        snprintf(text, sizeof text, "%s=%ld", name, (long)all->value[v]);
        HX_TRY(hx_import_set_of(r->import, text,
                                r->where == HX_VTK_ON_POINTS ? HX_KIND_NODES : HX_KIND_ELEMS,
                                &to->set[0][v]));
        if (!is_group) continue;
        snprintf(text, sizeof text, "volume %ld", (long)all->value[v]);
        HX_TRY(hx_import_set_of(r->import, text, HX_KIND_ELEMS, &to->set[1][v]));
    }
    return HX_OK;
}

int hx_vtk_send_faces(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n)
{
    const hx_file_mark begin = hx_file_scan_mark(&r->scan);
    hx_import_set *set;
    hx_vtk_values all;
    int32_t *value = NULL;
    int fits, rc;
    HX_TRY_FAIL(hx_alloc_raw(&value, PIECE, sizeof *value, what));
    HX_TRY_FAIL(find_values(r, type, n, value, &all, &fits));
    const int are_few = fits && all.n > 0 && all.n <= HX_VTK_SET_VALUES;
    if (!are_few || all.value[0] < 0 || all.value[all.n - 1] >> HX_VTK_CELL_FACES) {
        rc = hx_import_need_whole(r->import, "an array named like one with faces of a set");
        goto fail;
    }
    HX_TRY_FAIL(hx_import_set_of(r->import, name, HX_KIND_NODES, &set));
    r->import->side_row = hx_vtk_side_row;
    HX_TRY_FAIL(hx_file_scan_jump(&r->scan, begin));
    for (int64_t i = 0, now; i < n; i += now) {
        now = up_to(n - i, PIECE);
        HX_TRY_FAIL(hx_file_scan_int32(&r->scan, type, now, value, &fits));
        /* bit f of a cell's value: the set has its face f */
        for (int64_t j = 0; j < now; j++)
            for (int64_t f = 0; f < HX_VTK_CELL_FACES; f++) {
                const int64_t cell = i + j, side = f + 1;
                if (!(value[j] >> f & 1)) continue;
                HX_TRY_FAIL(hx_numbers_append(&set->face_elem, 1, &cell));
                HX_TRY_FAIL(hx_numbers_append(&set->face_local, 1, &side));
            }
    }
fail:
    free(value);
    return rc;
}

/* --- rules of combined sets --- */

int hx_vtk_read_rules(hx_vtk_reader *r, const hx_file_number *type, int64_t n)
{
    int32_t *code = NULL;
    char *text = NULL;
    int fits = 1, rc, is_rule;
    HX_TRY_FAIL(hx_alloc_raw(&code, (size_t)n, sizeof *code, "the rules of sets"));
    HX_TRY_FAIL(hx_alloc(&text, (size_t)n + 1, 1, "the rules of sets"));
    HX_TRY_FAIL(hx_file_scan_int32(&r->scan, type, n, code, &fits));
    for (int64_t i = 0; i < n; i++) text[i] = (char)code[i];
    hx_set_rules *const rules = r->import ? &r->import->rules : &r->rules;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) *end++ = '\0';
        HX_TRY_FAIL(hx_set_rules_read(rules, line, &is_rule));
    }
fail:
    free(code);
    free(text);
    return rc;
}

int hx_vtk_send_sets(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n)
{
    const hx_file_mark begin = hx_file_scan_mark(&r->scan);
    hx_vtk_values all;
    targets to;
    int32_t *value = NULL;
    int fits, rc;
    HX_TRY_FAIL(hx_alloc_raw(&value, PIECE, sizeof *value, what));
    HX_TRY_FAIL(find_values(r, type, n, value, &all, &fits));
    if (!fits) HX_TRY_FAIL(hx_vtk_note_no_sets(r, name, HX_VTK_BEYOND));
    if (!fits || all.n > HX_VTK_SET_VALUES) goto fail; /* it makes no set and is not an error */
    HX_TRY_FAIL(name_sets(r, name, &all, &to));
    HX_TRY_FAIL(hx_file_scan_jump(&r->scan, begin));
    for (int64_t i = 0, now; i < n; i += now) {
        now = up_to(n - i, PIECE);
        HX_TRY_FAIL(hx_file_scan_int32(&r->scan, type, now, value, &fits));
        const int on_points = r->where == HX_VTK_ON_POINTS;
        for (int64_t j = 0, same; j < now; j += same) {
            const int v = hx_vtk_find_value(all.value, all.n, value[j]);
            for (same = 1; j + same < now && value[j + same] == value[j];) same++;
            for (int k = 0; k < 2; k++) {
                hx_import_set *const set = to.set[k][v];
                if (!set) continue;
                HX_TRY_FAIL(
                    hx_numbers_append_run(on_points ? &set->node : &set->elem_index, same, i + j));
            }
        }
        HX_TRY_FAIL(hx_import_flush(r->import, on_points));
    }
fail:
    free(value);
    return rc;
}
