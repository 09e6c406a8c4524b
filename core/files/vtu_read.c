/* Reads VTK's XML files (.vtu, .pvtu) into the state of the legacy reader, which makes mesh, sets
 * and results of it. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "vtu_file.h"

/* --- files --- */

static int add_file(hx_vtu_grid *grid, const char *path)
{
    HX_TRY(hx_grow(&grid->file, grid->n_file, &grid->file_capacity, sizeof *grid->file, "pieces"));
    HX_TRY(hx_vtu_open(&grid->file[grid->n_file], path));
    grid->n_file++;
    return HX_OK;
}

static int add_piece(hx_vtu_grid *grid, const hx_xml_scan *xml)
{
    char *full = NULL;
    const char *const source = hx_xml_attribute(xml, "Source");
    if (!source || !*source)
        return HX_XML_RAISE(xml, xml->at_line, "<Piece> needs Source, the name of a .vtu file");
    if (grid->n_file == HX_VTU_PIECES)
        return HX_XML_RAISE(xml, xml->at_line, "more than %d pieces", HX_VTU_PIECES);
    /* resolve `source` relative to the file `path` into *full, which the caller frees */
    const char *const slash = strrchr(xml->path, '/');
    const size_t n_folder = slash && source[0] != '/' ? (size_t)(slash - xml->path) + 1 : 0;
    const size_t n_source = strlen(source);
    HX_TRY(hx_alloc(&full, n_folder + n_source + 1, 1, "the name of a piece"));
    memcpy(full, xml->path, n_folder);
    memcpy(full + n_folder, source, n_source);
    int rc = add_file(grid, full);
    free(full);
    if (rc < 0) hx_error_prefix("%s:%lld: ", xml->path, (long long)xml->at_line);
    return rc;
}

static int open_list(hx_vtu_grid *grid, hx_xml_scan *xml)
{
    hx_xml_event event;
    do {
        HX_TRY(hx_xml_next(xml, &event));
        if (event == HX_XML_START && strcmp(xml->name, "Piece") == 0) HX_TRY(add_piece(grid, xml));
    } while (event != HX_XML_END_OF_FILE);
    if (grid->n_file > 0) return HX_OK;
    return HX_XML_RAISE(xml, xml->line, "no <Piece> in <PUnstructuredGrid>");
}

static int open_files(hx_vtu_grid *grid, const char *path)
{
    hx_xml_scan *xml = NULL;
    int is_parallel, rc;
    HX_TRY(hx_alloc(&xml, 1, sizeof *xml, "the state of an XML reader"));
    HX_TRY_FAIL(hx_vtu_open_root(xml, path, &is_parallel));
    if (is_parallel) {
        rc = open_list(grid, xml);
    } else {
        hx_xml_free(xml);
        rc = add_file(grid, path);
    }
fail:
    hx_xml_free(xml);
    free(xml);
    return rc;
}

/* --- points and cells --- */

/* If all cells have 8 nodes, they are stored in conn, otherwise as a list with begin. */
static void give_cells(hx_vtk_reader *r, hx_vtu_grid *grid)
{
    int all_eight = 1;
    r->n_elem = grid->n_kept_cell;
    for (int64_t e = 0; e < r->n_elem; e++) all_eight &= grid->begin[e + 1] - grid->begin[e] == 8;
    int32_t **const conn = all_eight ? &r->conn : &r->cell_node;
    *conn = grid->conn;
    grid->conn = NULL;
    if (all_eight) return;
    r->cell_begin = grid->begin;
    grid->begin = NULL;
}

/* --- arrays --- */

/* One array over all pieces, with its values; array[i] is NULL for a piece that lacks it. */
typedef struct joined {
    const hx_vtu_grid *grid;
    hx_vtu_section section;
    const char *name;
    int64_t n; /* number of kept values */
} joined;

static const hx_vtu_array *array_of(const joined *j, const hx_vtu_part *part)
{
    return hx_vtu_find(part->file, part->piece, j->section, j->name);
}

static int64_t count_of(const joined *j, const hx_vtu_part *part)
{
    return j->section == HX_VTU_POINT_DATA ? part->n_point : part->n_cell;
}

/* Returns 1 if every piece has numbers under that name, one for each point or cell. */
static int is_everywhere(const joined *j, const char *kinds)
{
    for (size_t i = 0; i < j->grid->n_part; i++) {
        const hx_vtu_part *const part = &j->grid->part[i];
        const hx_vtu_array *const array = array_of(j, part);
        if (count_of(j, part) == 0) continue;
        if (!array || array->n_comp != 1 || !strchr(kinds, array->type.kind)) return 0;
    }
    return 1;
}

/* Collects the values of kept points or cells, as 32-bit integers (*fits = 1: all fit) or as reals.
 * For a point that pieces share, the value of the first piece counts. */
static int gather_kept(const joined *j, int32_t *whole, double *real, int *fits)
{
    const int on_points = j->section == HX_VTU_POINT_DATA;
    const int32_t *const map = on_points ? j->grid->point_new : j->grid->cell_new;
    for (size_t p = j->grid->n_part; p-- > 0;) {
        const hx_vtu_part *const part = &j->grid->part[p];
        const int64_t first = on_points ? part->first_point : part->first_cell;
        const int64_t n = count_of(j, part);
        hx_vtu_values values;
        int all_fit = 1;
        if (n == 0) continue;
        HX_TRY(hx_vtu_decode(part->file, array_of(j, part), n, &values));
#pragma omp parallel for schedule(static) reduction(& : all_fit)
        for (int64_t i = 0; i < n; i++) {
            const int64_t to = map ? map[first + i] : first + i;
            if (to < 0) continue;
            if (real) real[to] = hx_vtu_real(&values, i);
            if (!whole) continue;
            const int64_t value = hx_vtu_int(&values, i);
            all_fit &= value >= INT32_MIN && value <= INT32_MAX;
            whole[to] = (int32_t)value;
        }
        *fits &= all_fit;
        hx_vtu_values_free(&values);
    }
    return HX_OK;
}

/* Takes the array if it is the one that is searched; otherwise only records its name. */
static int take_wanted(hx_vtk_reader *r, const joined *j)
{
    int fits = 1;
    double *value = NULL;
    const int is_it = !r->has_value && strcmp(j->name, r->wanted) == 0;
    if (!is_it) hx_vtk_note_seen(r, j->name);
    const int is_original =
        r->needs_original && !r->original && strcmp(j->name, "vtkOriginalCellIds") == 0;
    if (!is_it && !is_original) return HX_OK;
    if (is_it && r->wanted_n >= 0) {
        r->has_value = true;
        return gather_kept(j, NULL, r->value, &fits);
    }
    HX_TRY(hx_alloc_raw(&value, (size_t)j->n, sizeof *value, "cell array"));
    const int rc = gather_kept(j, NULL, value, &fits);
    for (int64_t e = 0; r->elem_new && e < j->n; e++)
        if (r->elem_new[e] >= 0) value[r->elem_new[e]] = value[e];
    *(is_it ? &r->value : &r->original) = value;
    if (is_it) r->has_value = true;
    return rc;
}

static int take_array(hx_vtk_reader *r, const joined *j, const hx_vtu_array *array)
{
    if (r->wanted)
        return j->section == HX_VTU_CELL_DATA && is_everywhere(j, "iuf") ? take_wanted(r, j)
                                                                         : HX_OK;
    if (!r->mesh || array->is_id || strncmp(j->name, "vtk", 3) == 0 || !is_everywhere(j, "iu"))
        return HX_OK;
    r->where = j->section == HX_VTU_POINT_DATA ? HX_VTK_ON_POINTS : HX_VTK_ON_CELLS;
    int fits = 1;
    int32_t *value = NULL;
    HX_TRY(hx_alloc_raw(&value, (size_t)j->n, sizeof *value, "values of an integer array"));
    int rc = gather_kept(j, value, NULL, &fits);
    if (rc == HX_OK)
        rc = fits ? hx_vtk_make_sets(r, j->name, j->n, value)
                  : hx_vtk_note_no_sets(r, j->name, HX_VTK_BEYOND);
    free(value);
    return rc;
}

static int take_section(hx_vtk_reader *r, const hx_vtu_grid *grid, hx_vtu_section section)
{
    const hx_vtu_part *const first = &grid->part[0];
    joined j = {.grid = grid, .section = section};
    j.n = section == HX_VTU_POINT_DATA ? grid->n_kept : grid->n_kept_cell;
    for (size_t i = 0; i < first->file->n_array; i++) {
        const hx_vtu_array *const array = &first->file->array[i];
        if (array->piece != first->piece || array->section != section || !*array->name) continue;
        j.name = array->name;
        r->scan.word_line = array->line;
        HX_TRY(take_array(r, &j, array));
    }
    return HX_OK;
}

static int fill_reader(hx_vtk_reader *r, hx_vtu_grid *grid)
{
    HX_TRY(hx_vtu_join(grid, r->notes));
    r->n_node = grid->n_kept;
    r->xyz = grid->xyz;
    grid->xyz = NULL;
    r->scan.most_digits = grid->most_digits;
    r->scan.is_binary = grid->most_digits == 0;
    const int rc = hx_vtk_check_points(r, grid->is_single);
    r->scan.is_binary = 0; /* messages name a line */
    HX_TRY(rc);
    give_cells(r, grid);
    HX_TRY(hx_vtk_check_wanted(r));
    int64_t chunk[HX_VTK_CHUNK];
    for (int64_t e = 0; e < r->n_elem;) {
        const int64_t n = r->n_elem - e < HX_VTK_CHUNK ? r->n_elem - e : HX_VTK_CHUNK;
        for (int64_t k = 0; k < n; k++) chunk[k] = grid->type[e + k];
        HX_TRY(hx_vtk_take_types(r, e, n, chunk));
        e += n;
    }
    r->has_types = true;
    HX_TRY(hx_vtk_leave_middles(r));
    if (r->mesh) HX_TRY(hx_vtk_make_mesh(r));
    HX_TRY(take_section(r, grid, HX_VTU_POINT_DATA));
    return take_section(r, grid, HX_VTU_CELL_DATA);
}

int hx_vtu_read(hx_vtk_reader *r, const char *path)
{
    hx_vtu_grid grid;
    memset(&grid, 0, sizeof grid);
    r->scan.word_line = 1;
    int rc = hx_strdup(&r->scan.path, path);
    if (rc == HX_OK) rc = open_files(&grid, path);
    if (rc == HX_OK) rc = fill_reader(r, &grid);
    hx_vtu_grid_free(&grid);
    return rc;
}
