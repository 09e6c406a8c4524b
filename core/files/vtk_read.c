/* Reader of legacy VTK files (it calls vtu_read.c for .vtu): one pass over the sections of the
 * file. The file is not trusted: every count is compared with the remaining bytes before memory is
 * allocated. */
#include "vtk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "../mesh/mesh_check.h"
#include "../mesh/set_rules.h"
#include "foreign_files.h"
#include "vtk_faces.h"
#include "vtk_reader.h"
#include "vtu_file.h"

/* --- sets from integer arrays --- */

static int read_sets(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n)
{
    int fits = 1;
    int32_t *value = NULL;
    if (r->import && r->where == HX_VTK_ON_CELLS && hx_vtk_faces_of(name))
        return hx_vtk_send_faces(r, hx_vtk_faces_of(name), type, n);
    if (r->import) return hx_vtk_send_sets(r, name, type, n);
    HX_TRY(hx_alloc_raw(&value, (size_t)n, sizeof *value, "values of an integer array"));
    int rc = hx_file_scan_int32(&r->scan, type, n, value, &fits);
    if (rc == HX_OK)
        rc = fits ? hx_vtk_make_sets(r, name, n, value)
                  : hx_vtk_note_no_sets(r, name, HX_VTK_BEYOND);
    free(value);
    return rc;
}

/* --- data arrays --- */

/* VTK writes blanks and quotes in names as %XX. */
static void decode_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++) {
        unsigned code;
        int n = 0;
        if (*from == '%' && sscanf(from + 1, "%2x%n", &code, &n) == 1 && n == 2 && code > 0) {
            *to++ = (char)code;
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* Keeps the array in memory of its own. */
static int keep_array(hx_vtk_reader *r, const hx_file_number *type, int64_t n, double **value)
{
    HX_TRY(hx_alloc_raw(value, (size_t)n, sizeof **value, "cell array"));
    HX_TRY(hx_file_scan_real(&r->scan, type, n, *value));
    for (int64_t e = 0; r->elem_new && e < n; e++)
        if (r->elem_new[e] >= 0) (*value)[r->elem_new[e]] = (*value)[e];
    return HX_OK;
}

/* Finds cells that the array marks as ghosts. */
static int find_ghosts(hx_vtk_reader *r, const char *name, const hx_file_number *type, int64_t n)
{
    const int is_level = strcmp(name, "vtkGhostLevels") == 0;
    int64_t n_ghost = 0;
    double *value = NULL;
    HX_TRY(hx_alloc_raw(&value, (size_t)n, sizeof *value, "ghost cells"));
    int rc = hx_file_scan_real(&r->scan, type, n, value);
    if (rc == HX_OK) rc = hx_alloc(&r->is_ghost, (size_t)n, 1, "ghost cells");
    for (int64_t e = 0; rc == HX_OK && e < n; e++) {
        r->is_ghost[e] = is_level ? value[e] > 0.0 : ((int64_t)value[e] & HX_VTK_GHOST_BITS) != 0;
        n_ghost += r->is_ghost[e];
    }
    free(value);
    if (n_ghost > 0 || rc < 0) return rc;
    free(r->is_ghost);
    r->is_ghost = NULL;
    return HX_OK;
}

static int is_ghost_array(const hx_vtk_reader *r, const char *name)
{
    return r->where == HX_VTK_ON_CELLS && (r->mesh || r->import) && !r->is_ghost &&
           (strcmp(name, "vtkGhostType") == 0 || strcmp(name, "vtkGhostLevels") == 0);
}

/* Reads the numbers of one array, after its head line. may_be_set: the array may become sets, since
 * it is not a numbering. */
static int read_array(hx_vtk_reader *r, const char *name, const hx_file_number *type,
                      int64_t n_comp, int64_t n, bool may_be_set)
{
    int64_t n_value;
    HX_TRY(hx_file_scan_room(&r->scan, type, n, n_comp, name, &n_value));
    const bool is_int = type->kind == 'i' || type->kind == 'u';
    const bool fits = r->where != HX_VTK_NOWHERE && n_comp == 1 && n == r->n_data;
    const bool is_own = r->where == HX_VTK_NOWHERE && n_comp == 1 && is_int;
    if (is_own && (r->mesh || r->import) && !r->wanted && strcmp(name, HX_VTK_RULES) == 0)
        return hx_vtk_read_rules(r, type, n);
    if (fits && is_int && is_ghost_array(r, name)) {
        if (r->import) return hx_import_need_whole(r->import, "ghost cells");
        return find_ghosts(r, name, type, n);
    }
    if (fits && (r->mesh || r->import) && !r->wanted && is_int && may_be_set &&
        strncmp(name, "vtk", 3) != 0)
        return read_sets(r, name, type, n);
    if (fits && type->kind == 'b' && !r->wanted && may_be_set)
        HX_TRY(hx_vtk_note_no_sets(r, name, "its type is bit; save it as int"));
    if (fits && r->wanted && r->where == HX_VTK_ON_CELLS && (is_int || type->kind == 'f')) {
        if (!r->has_value && strcmp(name, r->wanted) == 0) {
            r->has_value = true;
            if (r->wanted_n < 0) return keep_array(r, type, n, &r->value);
            return hx_file_scan_real(&r->scan, type, n, r->value);
        }
        hx_vtk_note_seen(r, name);
        if (r->needs_original && !r->original && strcmp(name, "vtkOriginalCellIds") == 0)
            return keep_array(r, type, n, &r->original);
    }
    return hx_file_scan_skip(&r->scan, type, n_value);
}

static int read_name(hx_vtk_reader *r, char name[HX_FILE_WORD_SIZE])
{
    HX_TRY(hx_file_scan_need(&r->scan, "the name of an array"));
    memcpy(name, r->scan.word, HX_FILE_WORD_SIZE);
    decode_name(name);
    return HX_OK;
}

/* METADATA ends at the next empty line. */
static int skip_metadata(hx_vtk_reader *r)
{
    char line[8];
    int found;
    HX_TRY(hx_file_scan_line(&r->scan, NULL, 0, &found));
    do HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
    while (found && line[strspn(line, " \t")] != '\0');
    return HX_OK;
}

static int read_field(hx_vtk_reader *r)
{
    const hx_file_number *type;
    int64_t n_array, n_comp, n;
    char name[HX_FILE_WORD_SIZE];
    HX_TRY(hx_file_scan_need(&r->scan, "the name of a FIELD"));
    HX_TRY(hx_file_scan_count(&r->scan, "the number of arrays", &n_array));
    for (int64_t i = 0; i < n_array; i++) {
        HX_TRY(read_name(r, name));
        while (strcasecmp(name, "METADATA") == 0) {
            HX_TRY(skip_metadata(r));
            HX_TRY(read_name(r, name));
        }
        if (strcmp(name, "NULL_ARRAY") == 0) continue;
        HX_TRY(hx_file_scan_count(&r->scan, "the number of components", &n_comp));
        HX_TRY(hx_file_scan_count(&r->scan, "the number of tuples", &n));
        HX_TRY(hx_vtk_read_type(&r->scan, &type));
        HX_TRY(hx_file_scan_begin(&r->scan));
        HX_TRY(read_array(r, name, type, n_comp, n, true));
    }
    return HX_OK;
}

/* SCALARS name type [n_comp], and usually LOOKUP_TABLE name. */
static int read_scalars(hx_vtk_reader *r)
{
    const hx_file_number *type;
    char name[HX_FILE_WORD_SIZE], line[32];
    int found;
    HX_TRY(read_name(r, name));
    HX_TRY(hx_vtk_read_type(&r->scan, &type));
    HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
    char *end;
    long n_comp = strtol(line, &end, 10);
    if (end == line) n_comp = 1;
    if (end[strspn(end, " \t")] != '\0' || n_comp < 1 || n_comp > 4)
        return HX_FILE_RAISE(&r->scan, "SCALARS have 1 to 4 components, not '%s'",
                             line + strspn(line, " \t"));
    if (hx_file_scan_next_is(&r->scan, "LOOKUP_TABLE")) {
        HX_TRY(hx_file_scan_need(&r->scan, "LOOKUP_TABLE"));
        HX_TRY(hx_file_scan_need(&r->scan, "the name of a lookup table"));
        HX_TRY(hx_file_scan_begin(&r->scan));
    }
    return read_array(r, name, type, n_comp, r->n_data, true);
}

/* Reads an attribute with a fixed number of components, or with a number that stands before its
 * type or replaces it. */
static int read_attribute(hx_vtk_reader *r, int64_t n_comp, bool has_type)
{
    const hx_file_number byte = {"unsigned_char", 1, 'u'}, *type = &byte;
    char name[HX_FILE_WORD_SIZE];
    HX_TRY(read_name(r, name));
    if (n_comp == 0) HX_TRY(hx_file_scan_count(&r->scan, "the number of components", &n_comp));
    if (has_type) HX_TRY(hx_vtk_read_type(&r->scan, &type));
    HX_TRY(hx_file_scan_begin(&r->scan));
    return read_array(r, name, type, n_comp, r->n_data, false);
}

static int skip_lookup_table(hx_vtk_reader *r)
{
    const hx_file_number byte = {"unsigned_char", 1, 'u'};
    int64_t n, n_value;
    HX_TRY(hx_file_scan_need(&r->scan, "the name of a lookup table"));
    HX_TRY(hx_file_scan_count(&r->scan, "the number of colours", &n));
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_file_scan_room(&r->scan, &byte, n, 4, "LOOKUP_TABLE", &n_value));
    return hx_file_scan_skip(&r->scan, &byte, n_value);
}

/* --- sections --- */

static int read_dataset(hx_vtk_reader *r)
{
    HX_TRY(hx_file_scan_need(&r->scan, "the kind of DATASET"));
    if (strcasecmp(r->scan.word, "UNSTRUCTURED_GRID") != 0)
        return HX_FILE_RAISE(&r->scan, "DATASET is %s; it must be UNSTRUCTURED_GRID%s",
                             hx_file_scan_shown(&r->scan), hx_foreign_vtk_remedy(r->scan.word));
    return HX_OK;
}

static int read_data_head(hx_vtk_reader *r, hx_vtk_data_where where)
{
    int64_t n;
    const bool on_points = where == HX_VTK_ON_POINTS;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of tuples", &n));
    const int64_t expected = on_points ? r->n_node : r->n_elem;
    if (n != expected)
        return HX_FILE_RAISE(&r->scan, "%s has %lld tuples; the file has %lld %s",
                             on_points ? "POINT_DATA" : "CELL_DATA", (long long)n,
                             (long long)(expected < 0 ? 0 : expected),
                             on_points ? "points" : "cells");
    HX_TRY(hx_vtk_check_wanted(r));
    if (r->import) HX_TRY(hx_vtk_check_sections(r));
    if (r->mesh && !r->has_mesh) HX_TRY(hx_vtk_make_mesh(r));
    r->where = where;
    r->n_data = n;
    return HX_OK;
}

/* Attributes whose values are not used, or are used like a plain array; n_comp = 0: the file gives
 * the number. */
static const struct {
    const char *word;
    int n_comp;
    bool has_type;
} attribute_list[] = {
    {"VECTORS", 3, true},    {"NORMALS", 3, true},        {"TENSORS", 9, true},
    {"TENSORS6", 6, true},   {"GLOBAL_IDS", 1, true},     {"PEDIGREE_IDS", 1, true},
    {"EDGE_FLAGS", 1, true}, {"COLOR_SCALARS", 0, false}, {"TEXTURE_COORDINATES", 0, true},
};

/* Reads the section that the last word opens. */
static int read_vtk_section(hx_vtk_reader *r)
{
    const char *word = r->scan.word;
    if (strcasecmp(word, "DATASET") == 0) return read_dataset(r);
    if (strcasecmp(word, "POINTS") == 0) return hx_vtk_read_points(r);
    if (strcasecmp(word, "CELLS") == 0) return hx_vtk_read_cells(r);
    if (strcasecmp(word, "CELL_TYPES") == 0) return hx_vtk_read_cell_types(r);
    if (strcasecmp(word, "POINT_DATA") == 0) return read_data_head(r, HX_VTK_ON_POINTS);
    if (strcasecmp(word, "CELL_DATA") == 0) return read_data_head(r, HX_VTK_ON_CELLS);
    if (strcasecmp(word, "FIELD") == 0) return read_field(r);
    if (strcasecmp(word, "METADATA") == 0) return skip_metadata(r);
    if (strcasecmp(word, "LOOKUP_TABLE") == 0) return skip_lookup_table(r);
    if (strcasecmp(word, "SCALARS") == 0 && r->where != HX_VTK_NOWHERE) return read_scalars(r);
    for (size_t i = 0; i < sizeof attribute_list / sizeof attribute_list[0]; i++)
        if (strcasecmp(word, attribute_list[i].word) == 0 && r->where != HX_VTK_NOWHERE)
            return read_attribute(r, attribute_list[i].n_comp, attribute_list[i].has_type);
    return HX_FILE_RAISE(&r->scan,
                         "'%s' where a section is expected (POINTS, CELLS, CELL_TYPES, "
                         "CELL_DATA, POINT_DATA and, after these, SCALARS, VECTORS, FIELD)",
                         hx_file_scan_shown(&r->scan));
}

static int read_header(hx_vtk_reader *r)
{
    char line[80];
    int found, minor;
    HX_TRY(hx_file_scan_line(&r->scan, line, sizeof line, &found));
    if (sscanf(line, "# vtk DataFile Version %d.%d", &r->major, &minor) != 2)
        return HX_FILE_RAISE(&r->scan, "not a legacy VTK file, which starts with '# vtk DataFile "
                                       "Version'");
    if (r->major < 1 || r->major > 5)
        return HX_FILE_RAISE(&r->scan, "version %d.%d of the format; 2.0 to 5.1 are read", r->major,
                             minor);
    HX_TRY(hx_file_scan_line(&r->scan, r->title, sizeof r->title, &found));
    HX_TRY(hx_file_scan_need(&r->scan, "ASCII or BINARY"));
    const int is_binary = strcasecmp(r->scan.word, "BINARY") == 0;
    if (!is_binary && strcasecmp(r->scan.word, "ASCII") != 0)
        return HX_FILE_RAISE(&r->scan, "'%s' where ASCII or BINARY is expected",
                             hx_file_scan_shown(&r->scan));
    r->scan.is_binary = is_binary;
    return HX_OK;
}

/* Returns 1 if the file begins as XML. */
static int is_xml(const char *path)
{
    unsigned char head[4] = {0};
    FILE *const f = hx_input_open(path, NULL);
    if (!f) return 0;
    const size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n > 0 && (head[0] == '<' || (head[0] == 0xef && head[1] == 0xbb && head[3] == '<'));
}

static int read_legacy(hx_vtk_reader *r, const char *path)
{
    int found;
    HX_TRY(hx_file_scan_open(&r->scan, path));
    HX_TRY(read_header(r));
    for (;;) {
        HX_TRY(hx_file_scan_word(&r->scan, &found));
        if (!found) break;
        HX_TRY(read_vtk_section(r));
    }
    if (r->import) return hx_vtk_check_sections(r);
    return r->mesh && !r->has_mesh ? hx_vtk_make_mesh(r) : HX_OK;
}

static void vtk_reader_free(hx_vtk_reader *r)
{
    hx_file_scan_free(&r->scan);
    free(r->xyz);
    free(r->conn);
    free(r->cell_begin);
    free(r->cell_node);
    free(r->elem_new);
    free(r->node_new);
    free(r->middle);
    free(r->middle_end);
    hx_middles_free(&r->middles);
    for (size_t i = 0; i < r->n_faces; i++) {
        free(r->faces[i].name);
        free(r->faces[i].node);
        free(r->faces[i].elem);
    }
    free(r->faces);
    hx_set_rules_free(&r->rules);
    free(r->original);
    free(r->is_ghost);
}

/* Resets the reader to its state before the first pass, except for the ghosts that this pass found.
 * Notes from n_note on are removed, since they will be repeated. */
static void begin_again(hx_vtk_reader *r, size_t n_note)
{
    hx_vtk_reader next = {.mesh = r->mesh,
                          .notes = r->notes,
                          .wanted = r->wanted,
                          .wanted_n = r->wanted_n,
                          .value = r->wanted_n < 0 ? NULL : r->value,
                          .needs_original = r->needs_original,
                          .is_ghost = r->is_ghost,
                          .n_node = -1,
                          .n_elem = -1};
    while (r->notes && r->notes->n > n_note) free(r->notes->note[--r->notes->n].text);
    if (r->wanted && r->wanted_n < 0) free(r->value);
    r->is_ghost = NULL;
    if (r->has_mesh) hx_mesh_free(r->mesh);
    vtk_reader_free(r);
    *r = next;
}

static int read_vtk_file(hx_vtk_reader *r, const char *path)
{
    const size_t n_note = r->notes ? r->notes->n : 0;
    r->n_node = r->n_elem = -1;
    if (is_xml(path)) return hx_vtu_read(r, path);
    HX_TRY(read_legacy(r, path));
    if (!r->is_ghost) return HX_OK;
    begin_again(r, n_note);
    return read_legacy(r, path);
}

/* Gives tetrahedra, wedges and pyramids their standard numbering. Other programs write wedges in
 * both orientations. */
static int normalize_vtk_cells(const char *path, hx_mesh *mesh, hx_renumbered_list *list,
                               hx_notes *notes)
{
    hx_normalize_report report;
    HX_TRY(hx_normalize_cells(mesh, list, &report));
    if (report.bad < 0) return hx_note_mirrored(mesh, &report, HX_NOTE_DETAIL, notes);
    const int rc = hx_refuse_cell(mesh, report.bad);
    hx_error_prefix("%s: ", path);
    return rc;
}

/* Corrects the order of nodes in cells of other programs. */
static int repair_cells(const char *path, hx_mesh *mesh, hx_notes *notes)
{
    uint8_t *order = NULL;
    hx_renumbered_list list = {0};
    int rc = normalize_vtk_cells(path, mesh, &list, notes);
    if (rc == HX_OK) rc = hx_mesh_repair_order(mesh, &order, notes);
    if (rc == HX_OK) rc = hx_check_repaired(mesh, &list, order);
    hx_renumbered_free(&list);
    free(order);
    return rc;
}

static int read_mesh(const char *path, int is_repaired, hx_mesh *mesh, hx_notes *notes)
{
    hx_vtk_reader r;
    memset(&r, 0, sizeof r);
    memset(mesh, 0, sizeof *mesh);
    r.mesh = mesh;
    r.notes = notes;
    int rc = read_vtk_file(&r, path);
    if (rc == HX_OK && is_repaired) rc = repair_cells(path, mesh, notes);
    if (rc == HX_OK) rc = hx_vtk_make_faces(&r);
    if (rc == HX_OK) rc = hx_vtk_name_sets(&r);
    vtk_reader_free(&r);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}

int hx_vtk_read_to(const char *path, hx_import_sink *sink, hx_notes *notes)
{
    hx_vtk_reader r;
    hx_import import;
    int rc;
    memset(&r, 0, sizeof r);
    HX_TRY_FAIL(hx_import_open(&import, path, notes));
    import.sink = sink;
    import.keeps_unused = 1;
    import.sorts_shared = 1;
    r.import = &import;
    r.notes = notes;
    HX_TRY_FAIL(read_vtk_file(&r, path));
    rc = hx_import_finish(&import, NULL);
fail:
    vtk_reader_free(&r);
    hx_import_free(&import);
    return rc;
}

int hx_vtk_read(const char *path, hx_mesh *mesh)
{
    return read_mesh(path, 0, mesh, NULL);
}

int hx_vtk_read_mesh(const char *path, hx_mesh *mesh, hx_notes *notes)
{
    return read_mesh(path, 1, mesh, notes);
}

static int no_array(const hx_vtk_reader *r, const char *path)
{
    return HX_RAISE(HX_EINPUT, "%s: no cell array '%s' of one component; the file has %s", path,
                    r->wanted, r->seen[0] ? r->seen : "none");
}

int hx_vtk_read_cell_array(const char *path, const char *name, const hx_mesh *mesh, double *value)
{
    int rc = HX_OK;
    double *in_file_order = NULL;
    hx_vtk_reader r;
    memset(&r, 0, sizeof r);
    r.wanted = name;
    r.wanted_n = mesh->n_elem;
    r.value = value;
    if (mesh->elem_orig) {
        HX_TRY_FAIL(hx_alloc_raw(&in_file_order, (size_t)mesh->n_elem, sizeof *in_file_order,
                                 "cell array in the file's order"));
        r.value = in_file_order;
    }
    HX_TRY_FAIL(read_vtk_file(&r, path));
    if (!r.has_value) {
        rc = no_array(&r, path);
        goto fail;
    }
    if (mesh->elem_orig)
        for (int64_t e = 0; e < mesh->n_elem; e++) value[e] = in_file_order[mesh->elem_orig[e]];

fail:
    vtk_reader_free(&r);
    free(in_file_order);
    return rc;
}

int hx_vtk_read_result(const char *path, const char *name, hx_vtk_result *result)
{
    int rc = HX_OK;
    hx_vtk_reader r;
    memset(&r, 0, sizeof r);
    memset(result, 0, sizeof *result);
    r.mesh = &result->cells;
    r.wanted = name;
    r.wanted_n = -1;
    r.needs_original = true;
    HX_TRY_FAIL(read_vtk_file(&r, path));
    if (!r.has_value) {
        rc = no_array(&r, path);
        goto fail;
    }
    result->value = r.value;
    result->original = r.original;
    result->precision = r.precision;
    snprintf(result->title, sizeof result->title, "%s", r.title);
    r.value = r.original = NULL;
fail:
    free(r.value);
    vtk_reader_free(&r);
    if (rc < 0) hx_vtk_result_free(result);
    return rc;
}

void hx_vtk_result_free(hx_vtk_result *result)
{
    hx_mesh_free(&result->cells);
    free(result->value);
    free(result->original);
    memset(result, 0, sizeof *result);
}
