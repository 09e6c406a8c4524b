/* Joins the pieces of .vtu files into one grid: without ghosts, and with each shared point once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "vtu_file.h"

static int part_raise(const hx_vtu_part *part, int code)
{
    return hx_xml_place(&part->file->xml, part->file->piece[part->piece].line, code);
}

#define PART_RAISE(part, ...) part_raise((part), HX_RAISE(HX_EINPUT, __VA_ARGS__))

/* --- loading --- */

static int list_parts(hx_vtu_grid *grid)
{
    for (size_t i = 0; i < grid->n_file; i++) {
        const hx_vtu_file *const file = &grid->file[i];
        for (size_t k = 0; k < file->n_piece; k++) {
            HX_TRY(hx_grow(&grid->part, grid->n_part, &grid->part_capacity, sizeof *grid->part,
                           "pieces"));
            hx_vtu_part *const part = &grid->part[grid->n_part++];
            *part = (hx_vtu_part){.file = file,
                                  .piece = (int)k,
                                  .n_point = file->piece[k].n_point,
                                  .n_cell = file->piece[k].n_cell,
                                  .first_point = grid->n_point,
                                  .first_cell = grid->n_cell};
            if (part->n_point > INT32_MAX - grid->n_point)
                return PART_RAISE(part, "more than %ld points", (long)INT32_MAX);
            if (part->n_cell > HX_MAX_ELEM - grid->n_cell)
                return PART_RAISE(part, "more than %lld cells", (long long)HX_MAX_ELEM);
            grid->n_point += part->n_point;
            grid->n_cell += part->n_cell;
        }
    }
    return HX_OK;
}

static int decode(hx_vtu_part *part, hx_vtu_section section, const char *name, int64_t n,
                  hx_vtu_values *values)
{
    const hx_vtu_array *const array = hx_vtu_find(part->file, part->piece, section, name);
    if (array) HX_TRY(hx_vtu_decode(part->file, array, n, values));
    if (array && (section == HX_VTU_POINTS || values->kind != 'f' || n == 0)) return HX_OK;
    if (n == 0) return HX_OK;
    return PART_RAISE(part, "the piece has no array '%s' of %s", name ? name : "Points",
                      section == HX_VTU_POINTS ? "numbers" : "integers");
}

/* Decodes the values that define a piece's cells and checks their numbers. */
static int decode_part(hx_vtu_grid *grid, hx_vtu_part *part)
{
    const hx_vtu_array *const points = hx_vtu_find(part->file, part->piece, HX_VTU_POINTS, NULL);
    const int64_t n = part->n_cell;
    if (points && part->n_point > 0 && points->n_comp != 3)
        return PART_RAISE(part, "points with %lld coordinates; 3 are expected",
                          (long long)points->n_comp);
    HX_TRY(decode(part, HX_VTU_POINTS, NULL, 3 * part->n_point, &part->points));
    HX_TRY(decode(part, HX_VTU_CELLS, "offsets", n, &part->offsets));
    HX_TRY(decode(part, HX_VTU_CELLS, "types", n, &part->types));
    HX_TRY(decode(part, HX_VTU_CELLS, "connectivity", n > 0 ? -1 : 0, &part->connectivity));
    if (points && points->type.n_byte < 8) grid->is_single = 1;
    if (part->points.most_digits > grid->most_digits) grid->most_digits = part->points.most_digits;
    return HX_OK;
}

/* Fills in the cells of a piece; its nodes are numbered after the n_node nodes of the preceding
 * pieces. */
static int fill_cells(hx_vtu_grid *grid, const hx_vtu_part *part, int64_t n_node)
{
    int64_t last = 0, bad = INT64_MAX;
    const int64_t n_all = part->connectivity.n;
    for (int64_t e = 0; e < part->n_cell; e++) {
        const int64_t end = hx_vtu_int(&part->offsets, e);
        if (end < last || end > n_all)
            return PART_RAISE(part, "offset %lld of cell %lld; offsets must ascend to %lld",
                              (long long)end, (long long)e, (long long)n_all);
        grid->begin[part->first_cell + e + 1] = n_node + end;
        const int64_t type = hx_vtu_int(&part->types, e);
        grid->type[part->first_cell + e] = type >= 0 && type < 255 ? (uint8_t)type : 255;
        last = end;
    }
    if (last != n_all)
        return PART_RAISE(part, "the last offset is %lld, but connectivity has %lld %s",
                          (long long)last, (long long)n_all, hx_noun(n_all, "entry", "entries"));
#pragma omp parallel for schedule(static) reduction(min : bad)
    for (int64_t i = 0; i < n_all; i++) {
        const int64_t node = hx_vtu_int(&part->connectivity, i);
        if ((node < 0 || node >= part->n_point) && i < bad) bad = i;
        grid->conn[n_node + i] = (int32_t)(part->first_point + node);
    }
    if (bad == INT64_MAX) return HX_OK;
    return PART_RAISE(part, "a cell uses point %lld; there are points 0 to %lld",
                      (long long)hx_vtu_int(&part->connectivity, bad),
                      (long long)part->n_point - 1);
}

static int load_grid(hx_vtu_grid *grid)
{
    int64_t n_node = 0;
    for (size_t i = 0; i < grid->n_part; i++) {
        HX_TRY(decode_part(grid, &grid->part[i]));
        n_node += grid->part[i].connectivity.n;
    }
    const size_t n_cell = (size_t)grid->n_cell;
    HX_TRY(hx_alloc_raw(&grid->xyz, (size_t)grid->n_point * 3, sizeof *grid->xyz, "coordinates"));
    HX_TRY(hx_alloc(&grid->begin, n_cell + 1, sizeof *grid->begin, "cells"));
    HX_TRY(hx_alloc_raw(&grid->type, n_cell, 1, "types of cells"));
    HX_TRY(hx_alloc_raw(&grid->conn, (size_t)n_node, sizeof *grid->conn, "nodes of cells"));
    n_node = 0;
    for (size_t i = 0; i < grid->n_part; i++) {
        hx_vtu_part *const part = &grid->part[i];
        double *const to = grid->xyz + 3 * part->first_point;
#pragma omp parallel for schedule(static)
        for (int64_t j = 0; j < 3 * part->n_point; j++) to[j] = hx_vtu_real(&part->points, j);
        HX_TRY(fill_cells(grid, part, n_node));
        n_node += part->connectivity.n;
        hx_vtu_values_free(&part->points);
        hx_vtu_values_free(&part->offsets);
        hx_vtu_values_free(&part->types);
        hx_vtu_values_free(&part->connectivity);
    }
    grid->n_kept = grid->n_point;
    grid->n_kept_cell = grid->n_cell;
    return HX_OK;
}

/* --- ghosts --- */

/* Flags a piece's ghost cells; *n: their number. */
static int find_ghosts(const hx_vtu_part *part, uint8_t *is_ghost, int64_t *n)
{
    hx_vtu_values values;
    const hx_vtu_array *array =
        hx_vtu_find(part->file, part->piece, HX_VTU_CELL_DATA, "vtkGhostType");
    const int has_type = array != NULL;
    if (!array) array = hx_vtu_find(part->file, part->piece, HX_VTU_CELL_DATA, "vtkGhostLevels");
    if (!array || part->n_cell == 0) return HX_OK;
    int rc = hx_vtu_decode(part->file, array, part->n_cell, &values);
    for (int64_t e = 0; rc == HX_OK && e < part->n_cell; e++) {
        const int64_t value = values.kind == 'f' ? 0 : hx_vtu_int(&values, e);
        is_ghost[part->first_cell + e] = has_type ? (value & HX_VTK_GHOST_BITS) != 0 : value > 0;
        *n += is_ghost[part->first_cell + e];
    }
    hx_vtu_values_free(&values);
    return rc;
}

/* Removes the ghosts from begin, conn and type. unused := points that only ghosts have. */
static int drop_ghosts(hx_vtu_grid *grid, const uint8_t *is_ghost, uint8_t *unused)
{
    int32_t next = 0;
    int64_t at = 0;
    HX_TRY(hx_alloc_raw(&grid->cell_new, (size_t)grid->n_cell, sizeof(int32_t), "cells"));
    for (int64_t e = 0; e < grid->n_cell; e++)
        for (int64_t i = grid->begin[e]; is_ghost[e] && i < grid->begin[e + 1]; i++)
            unused[grid->conn[i]] = 1;
    for (int64_t e = 0, begin = 0; e < grid->n_cell; e++) {
        const int64_t end = grid->begin[e + 1], n = end - begin;
        grid->cell_new[e] = is_ghost[e] ? -1 : next;
        if (!is_ghost[e]) {
            for (int64_t i = begin; i < end; i++) unused[grid->conn[i]] = 0;
            memmove(grid->conn + at, grid->conn + begin, (size_t)n * sizeof *grid->conn);
            at += n;
            grid->type[next++] = grid->type[e];
            grid->begin[next] = at;
        }
        begin = end;
    }
    grid->n_kept_cell = next;
    return HX_OK;
}

/* --- shared points --- */

typedef struct shared_key {
    uint64_t key[3];
    int32_t place, part;
} shared_key;

static int compare_keys(const void *a, const void *b)
{
    const shared_key *const x = a, *const y = b;
    for (int d = 0; d < 3; d++)
        if (x->key[d] != y->key[d]) return x->key[d] < y->key[d] ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The piece's global ids of points, or NULL. */
static const hx_vtu_array *find_ids(const hx_vtu_part *part)
{
    static const char *const name[] = {"GlobalNodeId", "GlobalNodeIds", "GlobalPointIds"};
    for (int i = 0; i < 3; i++) {
        const hx_vtu_array *const array =
            hx_vtu_find(part->file, part->piece, HX_VTU_POINT_DATA, name[i]);
        if (array && array->n_comp == 1 && (array->type.kind == 'i' || array->type.kind == 'u'))
            return array;
    }
    return NULL;
}

static int keys_of_ids(const hx_vtu_part *part, shared_key *key)
{
    hx_vtu_values values;
    const hx_vtu_array *const array = find_ids(part);
    int rc = hx_vtu_decode(part->file, array, part->n_point, &values);
    for (int64_t i = 0; rc == HX_OK && i < part->n_point; i++)
        key[i].key[0] = (uint64_t)hx_vtu_int(&values, i);
    hx_vtu_values_free(&values);
    return rc;
}

static void keys_of_places(const hx_vtu_part *part, const double *xyz, shared_key *key)
{
    for (int64_t i = 0; i < part->n_point; i++)
        for (int d = 0; d < 3; d++) {
            const double x = xyz[3 * i + d] + 0.0; /* converts -0 to 0 */
            memcpy(&key[i].key[d], &x, sizeof x);
        }
}

/* Refuses equal ids of points in different places, because such ids are not global. */
static int check_places(const hx_vtu_grid *grid, const shared_key *a, const shared_key *b,
                        double size)
{
    const double *const x = grid->xyz + 3 * (int64_t)a->place;
    const double *const y = grid->xyz + 3 * (int64_t)b->place;
    double far = 0.0;
    for (int d = 0; d < 3; d++) far = fmax(far, fabs(x[d] - y[d]));
    if (far <= 1e-5 * size) return HX_OK;
    return PART_RAISE(&grid->part[b->part],
                      "GlobalNodeId %lld is at (%g, %g, %g), but in another piece at (%g, %g, %g)",
                      (long long)b->key[0], y[0], y[1], y[2], x[0], x[1], x[2]);
}

/* Merges points with equal keys; key[0 .. n) is ordered by piece. The first of them becomes the
 * root of all. */
static int merge_group(const hx_vtu_grid *grid, const shared_key *key, int64_t n, int by_ids,
                       double size, int32_t *root, int64_t *n_apart)
{
    for (int64_t i = 1; i < n; i++) {
        if (key[i].part != key[i - 1].part) continue;
        if (by_ids)
            return PART_RAISE(&grid->part[key[i].part],
                              "GlobalNodeId %lld occurs twice in one piece",
                              (long long)key[i].key[0]);
        *n_apart += key[0].part != key[n - 1].part;
        return HX_OK; /* the matching point of the other piece is ambiguous */
    }
    for (int64_t i = 1; i < n; i++) {
        if (by_ids) HX_TRY(check_places(grid, &key[0], &key[i], size));
        root[key[i].place] = key[0].place;
    }
    return HX_OK;
}

static double largest_coordinate(const hx_vtu_grid *grid)
{
    double most = 0.0;
    for (int64_t i = 0; i < 3 * grid->n_point; i++) most = fmax(most, fabs(grid->xyz[i]));
    return most;
}

static int find_roots(const hx_vtu_grid *grid, int32_t *root, hx_notes *notes)
{
    int rc = HX_OK, by_ids = 1;
    int64_t n_apart = 0;
    shared_key *key = NULL;
    const int64_t n = grid->n_point;
    for (size_t p = 0; p < grid->n_part; p++)
        by_ids &= grid->part[p].n_point == 0 || find_ids(&grid->part[p]) != NULL;
    const double size = by_ids ? largest_coordinate(grid) : 0.0;
    HX_TRY(hx_alloc_raw(&key, (size_t)n, sizeof *key, "points that pieces share"));
    for (size_t p = 0; p < grid->n_part; p++) {
        const hx_vtu_part *const part = &grid->part[p];
        shared_key *const first = key + part->first_point;
        for (int64_t i = 0; i < part->n_point; i++)
            first[i] = (shared_key){{0, 0, 0}, (int32_t)(part->first_point + i), (int32_t)p};
        if (by_ids && part->n_point > 0) HX_TRY_FAIL(keys_of_ids(part, first));
        if (!by_ids) keys_of_places(part, grid->xyz + 3 * part->first_point, first);
    }
    qsort(key, (size_t)n, sizeof *key, compare_keys);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && memcmp(key[end].key, key[i].key, sizeof key->key) == 0;) end++;
        HX_TRY_FAIL(merge_group(grid, key + i, end - i, by_ids, size, root, &n_apart));
    }
    if (n_apart > 0)
        rc = hx_notes_add(notes, HX_NOTE_WARNING,
                          "%s: at %lld places a piece has several points: they are not merged with "
                          "those of other pieces (a point array GlobalNodeId would identify them)",
                          grid->file[0].xml.path, (long long)n_apart);
fail:
    free(key);
    return rc;
}

/* --- the whole --- */

/* Renumbers the remaining points; root[n_point] is the point that represents each. */
static int compact_points(hx_vtu_grid *grid, const int32_t *root, const uint8_t *unused)
{
    int32_t next = 0;
    HX_TRY(hx_alloc_raw(&grid->point_new, (size_t)grid->n_point, sizeof(int32_t), "points"));
    for (int64_t a = 0; a < grid->n_point; a++) {
        const int is_kept = root[a] == a && !unused[a];
        grid->point_new[a] = is_kept ? next : root[a] == a ? -1 : grid->point_new[root[a]];
        if (is_kept)
            memmove(grid->xyz + 3 * (int64_t)next++, grid->xyz + 3 * a, 3 * sizeof(double));
    }
    grid->n_kept = next;
    for (int64_t i = 0; i < grid->begin[grid->n_kept_cell]; i++)
        grid->conn[i] = grid->point_new[grid->conn[i]];
    return HX_OK;
}

static int note_joined(const hx_vtu_grid *grid, int64_t n_ghost, hx_notes *notes)
{
    const char *const path = grid->file[0].xml.path;
    if (n_ghost > 0)
        HX_TRY(hx_notes_add(notes, HX_NOTE_DETAIL, "%s: %lld ghost %s are left out", path,
                            (long long)n_ghost, hx_noun(n_ghost, "cell", "cells")));
    if (grid->n_part == 1) return HX_OK;
    return hx_notes_add(notes, HX_NOTE_DETAIL,
                        "%s: %zu %s with %lld %s are joined to a mesh of %lld %s", path,
                        grid->n_part, hx_noun(grid->n_part, "piece", "pieces"),
                        (long long)grid->n_point, hx_noun(grid->n_point, "point", "points"),
                        (long long)grid->n_kept, hx_noun(grid->n_kept, "point", "points"));
}

static int leave_out_pieces(hx_vtu_grid *grid, hx_notes *notes)
{
    int rc = HX_OK;
    int64_t n_ghost = 0;
    int32_t *root = NULL;
    uint8_t *is_ghost = NULL, *unused = NULL;
    HX_TRY_FAIL(hx_alloc(&is_ghost, (size_t)grid->n_cell, 1, "flags of cells"));
    for (size_t i = 0; i < grid->n_part; i++)
        HX_TRY_FAIL(find_ghosts(&grid->part[i], is_ghost, &n_ghost));
    if (n_ghost == 0 && grid->n_part == 1) goto fail; /* nothing to join */
    HX_TRY_FAIL(hx_alloc(&unused, (size_t)grid->n_point, 1, "flags of points"));
    HX_TRY_FAIL(hx_alloc_raw(&root, (size_t)grid->n_point, sizeof *root, "points"));
    for (int64_t a = 0; a < grid->n_point; a++) root[a] = (int32_t)a;
    if (grid->n_part > 1) HX_TRY_FAIL(find_roots(grid, root, notes));
    if (n_ghost > 0) HX_TRY_FAIL(drop_ghosts(grid, is_ghost, unused));
    /* a root that only ghosts use is kept if it represents a point that other cells use */
    for (int64_t a = 0; a < grid->n_point; a++)
        if (root[a] != a && !unused[a]) unused[root[a]] = 0;
    HX_TRY_FAIL(compact_points(grid, root, unused));
    rc = note_joined(grid, n_ghost, notes);
fail:
    free(is_ghost);
    free(unused);
    free(root);
    return rc;
}

int hx_vtu_join(hx_vtu_grid *grid, hx_notes *notes)
{
    HX_TRY(list_parts(grid));
    HX_TRY(load_grid(grid));
    return leave_out_pieces(grid, notes);
}

void hx_vtu_grid_free(hx_vtu_grid *grid)
{
    for (size_t i = 0; i < grid->n_part; i++) {
        hx_vtu_values_free(&grid->part[i].points);
        hx_vtu_values_free(&grid->part[i].offsets);
        hx_vtu_values_free(&grid->part[i].types);
        hx_vtu_values_free(&grid->part[i].connectivity);
    }
    for (size_t i = 0; i < grid->n_file; i++) hx_vtu_close(&grid->file[i]);
    free(grid->file);
    free(grid->part);
    free(grid->point_new);
    free(grid->cell_new);
    free(grid->xyz);
    free(grid->begin);
    free(grid->conn);
    free(grid->type);
    memset(grid, 0, sizeof *grid);
}
