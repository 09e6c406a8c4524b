/* Legacy VTK writer. It copies nothing of the mesh except numberings: the inverse of a renumbering,
 * and lists of the kept nodes and elements of a part, 4 bytes per node or element each. */
#include "vtk.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "../base/sum.h"
#include "../comm/comm.h"
#include "solid.h"
#include "vtk_faces.h"
#include "vtk_kept.h"
#include "vtk_stream.h"

/* vtkCellType.h */
static int cell_type(hx_solid_id id)
{
    static const int type[] = {[HX_SOLID_HEX8] = 12,
                               [HX_SOLID_TET4] = 10,
                               [HX_SOLID_VTK_WEDGE6] = 13,
                               [HX_SOLID_PYRAMID5] = 14};
    return type[id];
}

/* The solid that VTK sees in the cell. */
static hx_solid_id seen_solid_of(const int32_t conn[8])
{
    const hx_solid_id id = hx_solid_of_cell(conn);
    return id == HX_SOLID_WEDGE6 ? HX_SOLID_VTK_WEDGE6 : id;
}

/* The nodes and elements written to the file, in the file's order. */
typedef struct selection {
    const hx_mesh *mesh;
    /* the piece that the data cover; NULL: all, in the mesh's own order */
    const hx_vtk_piece *piece;
    int64_t n_node, n_elem;
    int64_t own_node[2], own_elem[2]; /* range that this rank writes: first, end */
    int64_t n_number, n_before;       /* results of count_cell_numbers */
    int32_t *node, *elem;             /* [n_node], [n_elem] mesh indices; NULL: identity (owned) */
    const int32_t *node_number;       /* [mesh->n_node] index in the file; NULL: identity */
    int32_t *own_number;              /* memory of node_number, for a part (owned) */
    hx_vtk_kept kept;                 /* for a part of a distributed mesh (owned) */
    bool is_part;
} selection;

static inline size_t mesh_index(const int32_t *list, int64_t i)
{
    return (size_t)(list ? list[i] : i);
}

/* list := entries of all[n] (NULL: 0 .. n-1) with keep[] != 0, in their order; replaces *all. */
static int keep_flagged(int32_t **all, int64_t n, const uint8_t *keep, int64_t *n_kept)
{
    int64_t first[HX_N_PART + 1] = {0};
    int32_t *list = NULL;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++)
            first[part + 1] += keep[mesh_index(*all, i)] != 0;
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    *n_kept = first[HX_N_PART];
    HX_TRY(hx_alloc_raw(&list, (size_t)*n_kept, sizeof *list, "numbering for the VTK file"));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first[part];
        for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++) {
            const size_t index = mesh_index(*all, i);
            if (keep[index]) list[next++] = (int32_t)index;
        }
    }
    free(*all);
    *all = list;
    return HX_OK;
}

/* Selects only elements with value >= least, and their nodes. */
static int select_part(selection *s, const double *value, double least)
{
    const hx_mesh *mesh = s->mesh;
    int rc = HX_OK;
    uint8_t *keep_elem = NULL, *keep_node = NULL;
    /* index of an element's value */
    const int32_t *const place = s->piece ? mesh->elem_orig : NULL;
    s->is_part = true;
    HX_TRY_FAIL(hx_alloc_raw(&keep_elem, (size_t)mesh->n_elem, 1, "elements of the VTK file"));
    HX_TRY_FAIL(hx_alloc(&keep_node, (size_t)mesh->n_node, 1, "nodes of the VTK file"));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        keep_elem[e] = value[mesh_index(place, e)] >= least;
        for (int64_t k = 8 * e; keep_elem[e] && k < 8 * e + 8; k++) {
#pragma omp atomic write
            keep_node[mesh->conn[k]] = 1;
        }
    }
    HX_TRY_FAIL(keep_flagged(&s->elem, mesh->n_elem, keep_elem, &s->n_elem));
    HX_TRY_FAIL(keep_flagged(&s->node, mesh->n_node, keep_node, &s->n_node));
    HX_TRY_FAIL(hx_alloc_raw(&s->own_number, (size_t)mesh->n_node, sizeof *s->own_number,
                             "numbering for the VTK file"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->n_node; i++) s->own_number[s->node[i]] = (int32_t)i;
    s->node_number = s->own_number;
fail:
    free(keep_elem);
    free(keep_node);
    return rc;
}

/* Selects everything, in the original numbering. */
static void select_all(selection *s, const hx_mesh *mesh)
{
    memset(s, 0, sizeof *s);
    s->mesh = mesh;
    s->n_node = hx_mesh_n_node_all(mesh);
    s->n_elem = hx_mesh_n_elem_all(mesh);
    s->node_number = mesh->ownership ? NULL : mesh->node_orig;
}

/* Index in the piece of node or element i of the file. */
static int64_t in_piece(const selection *s, hx_vtk_where where, int64_t i)
{
    if (!s->is_part) return i - s->piece->first[where];
    return where == HX_VTK_POINT ? s->kept.node[i - s->own_node[0]]
                                 : s->kept.elem[i - s->own_elem[0]];
}

/* Coordinates of node i and nodes of element i of the file. */
static const double *xyz_of(const selection *s, int64_t i)
{
    if (s->mesh->ownership) return s->piece->xyz + 3 * in_piece(s, HX_VTK_POINT, i);
    return s->mesh->xyz + 3 * mesh_index(s->node, i);
}

static const int32_t *conn_of(const selection *s, int64_t i)
{
    if (s->mesh->ownership && s->is_part) return s->kept.conn + 8 * (i - s->own_elem[0]);
    if (s->mesh->ownership) return s->piece->conn + 8 * in_piece(s, HX_VTK_CELL, i);
    return s->mesh->conn + 8 * mesh_index(s->elem, i);
}

/* --- records --- */

static unsigned char *encode_points(const void *what, int64_t begin, int64_t end, int ascii,
                                    unsigned char *to)
{
    const selection *s = what;
    for (int64_t i = begin; i < end; i++) {
        const double *xyz = xyz_of(s, i);
        for (int d = 0; d < 3; d++) to = hx_vtk_put_f64(to, xyz[d], ascii, d < 2 ? ' ' : '\n');
    }
    return to;
}

static unsigned char *encode_cells(const void *what, int64_t begin, int64_t end, int ascii,
                                   unsigned char *to)
{
    const selection *s = what;
    for (int64_t i = begin; i < end; i++) {
        const int32_t *conn = conn_of(s, i);
        const hx_solid_id id = seen_solid_of(conn);
        const int *const corner = hx_solid_nodes(id), n = hx_solids[id].n_node;
        to = hx_vtk_put_int(to, n, ascii, ' ');
        for (int k = 0; k < n; k++)
            to = hx_vtk_put_int(to, (int32_t)mesh_index(s->node_number, conn[corner[k]]), ascii,
                                k < n - 1 ? ' ' : '\n');
    }
    return to;
}

static unsigned char *encode_cell_types(const void *what, int64_t begin, int64_t end, int ascii,
                                        unsigned char *to)
{
    const selection *s = what;
    for (int64_t i = begin; i < end; i++)
        to = hx_vtk_put_int(to, cell_type(seen_solid_of(conn_of(s, i))), ascii, '\n');
    return to;
}

/* Index in the file of the whole mesh of element i of the part. */
static int32_t elem_number(const selection *s, int64_t i)
{
    if (s->mesh->ownership)
        return (int32_t)(s->piece->first[HX_VTK_CELL] + in_piece(s, HX_VTK_CELL, i));
    return (int32_t)mesh_index(s->mesh->elem_orig, (int64_t)mesh_index(s->elem, i));
}

static unsigned char *encode_elem_numbers(const void *what, int64_t begin, int64_t end, int ascii,
                                          unsigned char *to)
{
    const selection *s = what;
    for (int64_t i = begin; i < end; i++) to = hx_vtk_put_int(to, elem_number(s, i), ascii, '\n');
    return to;
}

typedef struct field_source {
    const hx_vtk_field *field;
    /* the data cover the piece of this selection; NULL: the next members apply */
    const selection *pieces;
    const int32_t *list;   /* mesh indices in the file's order; NULL: identity */
    const int32_t *number; /* position of the data of each mesh index; NULL: the mesh's order */
    int64_t first;         /* index of the first entry */
} field_source;

static field_source source_of(const selection *s, const hx_vtk_field *field)
{
    const bool on_points = field->where == HX_VTK_POINT;
    const int32_t *const list = on_points ? s->node : s->elem;
    const int32_t *const orig = on_points ? s->mesh->node_orig : s->mesh->elem_orig;
    if (s->mesh->ownership) return (field_source){field, s, NULL, NULL, 0};
    if (!s->piece) return (field_source){field, NULL, list, NULL, 0};
    const int64_t first = s->piece->first[field->where];
    return s->is_part ? (field_source){field, NULL, list, orig, first}
                      : (field_source){field, NULL, NULL, NULL, first}; /* in the file's order */
}

/* Position of the data of a tuple of the file. */
static size_t find_item(const field_source *source, int64_t tuple)
{
    if (source->pieces) return (size_t)in_piece(source->pieces, source->field->where, tuple);
    return mesh_index(source->number, (int64_t)mesh_index(source->list, tuple)) -
           (size_t)source->first;
}

/* Encodes tuples of a field, one per line in ASCII. */
static unsigned char *encode_field(const void *what, int64_t begin, int64_t end, int ascii,
                                   unsigned char *to)
{
    const field_source *source = what;
    const hx_vtk_field *field = source->field;
    const size_t n = (size_t)field->n_comp;
    for (int64_t tuple = begin; tuple < end; tuple++) {
        const size_t first = find_item(source, tuple) * n;
        for (size_t i = first; i < first + n; i++) {
            const char separator = i + 1 < first + n ? ' ' : '\n';
            switch (field->type) {
            case HX_VTK_F64:
                to = hx_vtk_put_f64(to, ((const double *)field->data)[i], ascii, separator);
                break;
            case HX_VTK_F32:
                to = hx_vtk_put_f32(to, ((const float *)field->data)[i], ascii, separator);
                break;
            case HX_VTK_I32:
                to = hx_vtk_put_int(to, ((const int32_t *)field->data)[i], ascii, separator);
                break;
            case HX_VTK_U8:
                to = hx_vtk_put_u8(to, ((const uint8_t *)field->data)[i], ascii, separator);
                break;
            }
        }
    }
    return to;
}

static unsigned char *encode_bytes(const void *what, int64_t begin, int64_t end, int ascii,
                                   unsigned char *to)
{
    const uint8_t *const byte = what;
    for (int64_t i = begin; i < end; i++) to = hx_vtk_put_u8(to, byte[i], ascii, ' ');
    return to;
}

/* --- sections --- */

/* Counts the numbers of all elements of a mesh by their kinds. */
static int64_t count_by_kind(const hx_mesh *mesh)
{
    static const int n_node[HX_N_SOLID] = {[HX_CELL_HEXAHEDRON] = 8,
                                           [HX_CELL_WEDGE] = 6,
                                           [HX_CELL_PYRAMID] = 5,
                                           [HX_CELL_TETRAHEDRON] = 4};
    int64_t n = 0;
    for (int k = 0; k < HX_N_SOLID; k++) n += mesh->n_kind[k] * (1 + n_node[k]);
    return n;
}

/* Counts the numbers of CELLS in a range: for each cell its number of nodes, and the nodes. */
static int64_t count_numbers(const selection *s, int64_t begin, int64_t end)
{
    int64_t n = end - begin;
    /* NULL: all are hexahedra, which suffices to compute a file's size */
    const int is_there = s->mesh->conn != NULL;
    if (!is_there || !hx_mesh_is_collapsed(s->mesh)) return 9 * n;
    if (s->mesh->ownership && !s->piece) return count_by_kind(s->mesh);
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t i = begin; i < end; i++) n += hx_solids[seen_solid_of(conn_of(s, i))].n_node;
    return n;
}

/* Counts the numbers of all pieces and of those before this rank's; each rank counts its own.
 * Collective. */
static int count_cell_numbers(selection *s, const hx_comm *comm)
{
    const int64_t n = count_numbers(s, s->own_elem[0], s->own_elem[1]);
    int64_t *all;
    HX_TRY(hx_alloc_raw(&all, (size_t)comm->size, sizeof *all, "cells of the VTK file"));
    const int rc = comm->ops->all_gather(comm, &n, sizeof n, all);
    s->n_number = s->n_before = 0;
    for (int r = 0; rc == HX_OK && r < comm->size; r++) {
        if (r < comm->rank) s->n_before += all[r];
        s->n_number += all[r];
    }
    free(all);
    return rc;
}

int hx_vtk_name_bytes(unsigned char c)
{
    if (isspace(c) || iscntrl(c)) return 0;
    return c > 126 || c == '"' || c == '%' ? 3 : 1;
}

/* Encodes a name as VTK stores it: blanks become '_', characters that VTK treats as markup become
 * %XX. */
static int encode_name(const char *name, char *text, size_t n_text)
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        if (n + 4 > n_text)
            return HX_RAISE(HX_EINPUT, "field name '%.60s...' is too long for a VTK file", name);
        const int n_byte = hx_vtk_name_bytes(*c);
        if (n_byte == 3)
            n += (size_t)snprintf(text + n, 4, "%%%02X", *c);
        else
            text[n++] = n_byte == 1 ? (char)*c : '_';
    }
    text[n] = '\0';
    return n > 0 ? HX_OK : HX_RAISE(HX_EINTERNAL, "a field for the VTK file has no name");
}

/* Writes the head line of an array. VTK's reader accepts any number of arrays in a FIELD, but only
 * one of SCALARS and one of VECTORS, which ParaView uses for colours and warping. */
typedef enum { AS_SCALARS, AS_VECTORS, AS_ARRAY } head_kind;

static int put_head(hx_vtk_stream *out, head_kind head, const char *name, int n_comp, int64_t n,
                    const char *type)
{
    if (head == AS_SCALARS)
        return hx_vtk_stream_text(out, "SCALARS %s %s 1\nLOOKUP_TABLE default\n", name, type);
    if (head == AS_VECTORS) return hx_vtk_stream_text(out, "VECTORS %s %s\n", name, type);
    return hx_vtk_stream_text(out, "%s %d %lld %s\n", name, n_comp, (long long)n, type);
}

static int put_field(hx_vtk_stream *out, const selection *s, const hx_vtk_field *field,
                     head_kind head)
{
    static const char *const type_name[] = {"double", "float", "int", "unsigned_char"};
    static const size_t type_size[] = {8, 4, 4, 1};
    const bool on_points = field->where == HX_VTK_POINT;
    const field_source source = source_of(s, field);
    const int64_t n = on_points ? s->n_node : s->n_elem;
    const char *type = type_name[field->type];
    char name[HX_VTK_NAME];
    HX_TRY(encode_name(field->name, name, sizeof name));
    HX_TRY(put_head(out, head, name, field->n_comp, n, type));
    HX_TRY(hx_vtk_stream_records(out, n, on_points ? s->own_node : s->own_elem,
                                 (size_t)field->n_comp, type_size[field->type], encode_field,
                                 &source));
    return hx_vtk_stream_text(out, "\n");
}

/* Writes the indices of a part's elements in the file of the whole mesh, from 0, under the name
 * that VTK's own filters use. */
static int put_elem_numbers(hx_vtk_stream *out, const selection *s)
{
    HX_TRY(put_head(out, AS_ARRAY, "vtkOriginalCellIds", 1, s->n_elem, "int"));
    HX_TRY(hx_vtk_stream_records(out, s->n_elem, s->own_elem, 1, sizeof(int32_t),
                                 encode_elem_numbers, s));
    return hx_vtk_stream_text(out, "\n");
}

/* Counts the fields and checks that all can be written. */
static int count_fields(const hx_vtk_stream *out, hx_vtk_where where, const hx_vtk_field *field,
                        size_t n_field, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < n_field; i++) {
        if (field[i].where != where) continue;
        const bool has_data = field[i].data || out->counting;
        if (field[i].n_comp < 1 || !has_data || !field[i].name)
            return HX_RAISE(HX_EINTERNAL, "field %zu for the VTK file is incomplete", i);
        (*n)++;
    }
    return HX_OK;
}

/* The first field with n_comp components that is meant for display; n_field: there is none. */
static size_t find_first(hx_vtk_where where, const hx_vtk_field *field, size_t n_field, int n_comp)
{
    size_t i = 0;
    while (i < n_field &&
           (field[i].where != where || field[i].n_comp != n_comp || hx_vtk_faces_of(field[i].name)))
        i++;
    return i;
}

static int put_fields(hx_vtk_stream *out, const selection *s, hx_vtk_where where,
                      const hx_vtk_field *field, size_t n_field)
{
    const bool has_numbers = s->is_part && where == HX_VTK_CELL;
    const size_t scalars = find_first(where, field, n_field, 1),
                 vectors = find_first(where, field, n_field, 3);
    const size_t n_own = (size_t)(scalars < n_field) + (size_t)(vectors < n_field);
    size_t n_here;
    HX_TRY(count_fields(out, where, field, n_field, &n_here));
    const size_t n_array = n_here - n_own + has_numbers;
    if (n_here + has_numbers == 0) return HX_OK;

    if (where == HX_VTK_CELL)
        HX_TRY(hx_vtk_stream_text(out, "CELL_DATA %lld\n", (long long)s->n_elem));
    else
        HX_TRY(hx_vtk_stream_text(out, "POINT_DATA %lld\n", (long long)s->n_node));
    if (scalars < n_field) HX_TRY(put_field(out, s, &field[scalars], AS_SCALARS));
    if (vectors < n_field) HX_TRY(put_field(out, s, &field[vectors], AS_VECTORS));
    if (n_array > 0) HX_TRY(hx_vtk_stream_text(out, "FIELD FieldData %zu\n", n_array));
    for (size_t i = 0; i < n_field; i++)
        if (field[i].where == where && i != scalars && i != vectors)
            HX_TRY(put_field(out, s, &field[i], AS_ARRAY));
    return has_numbers ? put_elem_numbers(out, s) : HX_OK;
}

static int put_file(hx_vtk_stream *out, const selection *s, const char *title,
                    const hx_vtk_field *field, size_t n_field)
{
    char line[256] = "";
    if (title) snprintf(line, sizeof line, "%s", title);
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c)) *c = ' ';
    HX_TRY(hx_vtk_stream_text(out,
                              "# vtk DataFile Version 3.0\n%s\n%s\nDATASET UNSTRUCTURED_GRID\n",
                              line, out->ascii ? "ASCII" : "BINARY"));
    /* arrays of the file itself come before its points */
    size_t n;
    HX_TRY(count_fields(out, HX_VTK_FILE, field, n_field, &n));
    if (n > 0) HX_TRY(hx_vtk_stream_text(out, "FIELD FieldData %zu\n", n));
    for (size_t i = 0; i < n_field; i++) {
        if (field[i].where != HX_VTK_FILE) continue;
        const int64_t n_byte = field[i].n_comp;
        const int64_t own[2] = {out->comm->rank == 0 ? 0 : n_byte, n_byte};
        HX_TRY(put_head(out, AS_ARRAY, field[i].name, 1, n_byte, "unsigned_char"));
        HX_TRY(hx_vtk_stream_records(out, n_byte, own, 1, 1, encode_bytes, field[i].data));
        HX_TRY(hx_vtk_stream_text(out, "\n"));
    }
    const long long n_node = s->n_node, n_elem = s->n_elem, n_number = s->n_number;
    const hx_vtk_items cells = {s->own_elem[0], s->own_elem[1], 9, (uint64_t)n_number,
                                (uint64_t)s->n_before};
    HX_TRY(hx_vtk_stream_text(out, "POINTS %lld double\n", n_node));
    HX_TRY(hx_vtk_stream_records(out, n_node, s->own_node, 3, sizeof(double), encode_points, s));
    HX_TRY(hx_vtk_stream_text(out, "\nCELLS %lld %lld\n", n_elem, n_number));
    HX_TRY(hx_vtk_stream_items(out, &cells, sizeof(int32_t), encode_cells, s));
    HX_TRY(hx_vtk_stream_text(out, "\nCELL_TYPES %lld\n", n_elem));
    HX_TRY(
        hx_vtk_stream_records(out, n_elem, s->own_elem, 1, sizeof(int32_t), encode_cell_types, s));
    HX_TRY(hx_vtk_stream_text(out, "\n"));
    HX_TRY(put_fields(out, s, HX_VTK_CELL, field, n_field));
    return put_fields(out, s, HX_VTK_POINT, field, n_field);
}

/* Splits the items into equal pieces for all ranks, unless each rank writes its elements of a
 * part. */
static void share_out(selection *s, const hx_comm *comm)
{
    for (int i = 0; i < 2; i++) {
        s->own_node[i] = hx_comm_piece(comm, s->n_node, comm->rank + i);
        s->own_elem[i] = hx_comm_piece(comm, s->n_elem, comm->rank + i);
    }
}

int hx_vtk_bytes(const hx_mesh *mesh, const char *title, const hx_vtk_field *field, size_t n_field,
                 uint64_t *bytes)
{
    hx_comm alone;
    hx_vtk_stream out = {.counting = 1, .comm = &alone};
    selection s;
    hx_comm_self(&alone);
    select_all(&s, mesh);
    share_out(&s, &alone);
    HX_TRY(count_cell_numbers(&s, &alone));
    HX_TRY(put_file(&out, &s, title, field, n_field));
    *bytes = out.total;
    return HX_OK;
}

size_t hx_vtk_writer_bytes(const hx_mesh *mesh, int is_part)
{
    const size_t number = sizeof(int32_t), flag = 1;
    const size_t n_node = (size_t)mesh->n_node, n_elem = (size_t)mesh->n_elem;
    size_t bytes = hx_vtk_stream_bytes();
    if (mesh->ownership) return bytes;
    if (mesh->node_orig) bytes += number * n_node;
    if (mesh->elem_orig) bytes += number * n_elem;
    if (is_part) bytes += (2 * number + flag) * n_node + (number + flag) * n_elem;
    return bytes;
}

/* Number of values of the longest record; that of a cell has 9. */
static size_t most_values(const hx_vtk_field *field, size_t n_field)
{
    size_t most = 9;
    for (size_t i = 0; i < n_field; i++)
        if (field[i].where != HX_VTK_FILE && field[i].n_comp > 0 && (size_t)field[i].n_comp > most)
            most = (size_t)field[i].n_comp;
    return most;
}

hx_vtk_piece hx_vtk_own_piece(const hx_comm *comm, const hx_mesh *mesh)
{
    const int64_t n[] = {
        [HX_VTK_POINT] = hx_mesh_n_node_all(mesh), [HX_VTK_CELL] = hx_mesh_n_elem_all(mesh)};
    hx_vtk_piece piece = {.xyz = NULL};
    for (int i = 0; i < 2; i++) {
        piece.first[i] = hx_comm_piece(comm, n[i], comm->rank);
        piece.n[i] = hx_comm_piece(comm, n[i], comm->rank + 1) - piece.first[i];
    }
    return piece;
}

/* Checks options of a file that several ranks write together. */
static int check_comm(const hx_comm *comm, const hx_vtk_options *options)
{
    if (comm->size == 1) return HX_OK;
    if (options->format == HX_VTK_BINARY && options->piece &&
        (!options->value || options->piece->xyz))
        return HX_OK;
    return HX_RAISE(HX_EINTERNAL, "several ranks can only write whole binary files");
}

/* Selects the nodes and elements that are written. */
static int select_items(selection *s, const hx_comm *comm, const hx_vtk_options *options)
{
    HX_TRY(check_comm(comm, options));
    if (s->mesh->ownership) return HX_OK; /* select_kept() needs the piece */
    HX_TRY(hx_mesh_invert(s->mesh->n_node, s->mesh->node_orig, &s->node));
    HX_TRY(hx_mesh_invert(s->mesh->n_elem, s->mesh->elem_orig, &s->elem));
    return options->value ? select_part(s, options->value, options->least) : HX_OK;
}

/* Selects a part of a distributed mesh. Collective. */
static int select_kept(selection *s, const hx_comm *comm, const hx_vtk_options *options)
{
    const hx_vtk_kept *const k = &s->kept;
    if (!s->mesh->ownership || !options->value) return HX_OK;
    HX_TRY(hx_vtk_keep(&s->kept, comm, s->n_node, s->piece, options->value, options->least));
    s->is_part = true;
    s->n_node = k->n_node;
    s->n_elem = k->n_elem;
    s->own_node[0] = k->node_before;
    s->own_node[1] = k->node_before + k->n_own_node;
    s->own_elem[0] = k->elem_before;
    s->own_elem[1] = k->elem_before + k->n_own_elem;
    return HX_OK;
}

/* Counts the bytes of the file. */
static int count_bytes(hx_vtk_stream *out, const selection *s, const char *title,
                       const hx_vtk_field *field, size_t n_field)
{
    HX_TRY(put_file(out, s, title, field, n_field));
    return hx_vtk_stream_alloc(out, most_values(field, n_field));
}

int hx_vtk_write_part(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_vtk_field *field, size_t n_field,
                      int64_t *n_written)
{
    int rc = HX_OK;
    hx_comm alone;
    hx_vtk_stream out = {.counting = 1,
                         .comm = options->comm ? options->comm : &alone,
                         .ascii = options->format == HX_VTK_ASCII,
                         .progress = options->progress,
                         .context = options->context};
    selection s;
    hx_comm_self(&alone);
    select_all(&s, mesh);
    s.piece = options->piece;
    HX_TRY_FAIL(hx_comm_agree(out.comm, select_items(&s, out.comm, options)));
    share_out(&s, out.comm);
    HX_TRY_FAIL(select_kept(&s, out.comm, options));
    HX_TRY_FAIL(count_cell_numbers(&s, out.comm));
    HX_TRY_FAIL(hx_comm_agree(out.comm, count_bytes(&out, &s, title, field, n_field)));
    HX_TRY_FAIL(hx_vtk_stream_open(&out, path));
    rc = put_file(&out, &s, title, field, n_field);
    HX_TRY_FAIL(hx_vtk_stream_close(&out, rc, options->is_synced));
    if (n_written) *n_written = s.n_elem;

fail:
    hx_vtk_stream_free(&out);
    free(s.node);
    free(s.elem);
    free(s.own_number);
    hx_vtk_kept_free(&s.kept);
    return rc;
}

int hx_vtk_write(const char *path, const hx_mesh *mesh, const char *title, hx_vtk_format format,
                 const hx_vtk_field *field, size_t n_field)
{
    const hx_vtk_options options = {.format = format};
    return hx_vtk_write_part(path, mesh, title, &options, field, n_field, NULL);
}

/* Writes a JSON string with its quotes. */
static void put_json_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c < 0x20)
            fprintf(stream, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

int hx_vtk_write_series(const char *path, size_t n, const char *const *file, const double *time)
{
    hx_atomic_file out;
    HX_TRY(hx_atomic_file_open(&out, path));
    fprintf(out.stream, "{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(out.stream, "    { \"name\" : ");
        put_json_string(out.stream, file[i]);
        fprintf(out.stream, ", \"time\" : %.17g }%s\n", time[i], i + 1 < n ? "," : "");
    }
    fprintf(out.stream, "  ]\n}\n");
    return hx_atomic_file_commit(&out); /* also reports a failed fprintf */
}
