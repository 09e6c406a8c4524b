#include "mesh_readers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "exodus_library.h"
#include "mesh_import.h"
#include "netcdf_check.h"
#include "word_rows.h"

#ifdef HX_HAVE_EXODUS

enum { NAME_SIZE = 256, MOST_SETS = 10000, MOST_NODES = 64 };

/* Upper bound of the compression ratio of deflate, which HDF5 and netCDF use. */
enum { MOST_RATIO = 1040 };

/* A block of cells, and the indices of its cells in the file, from 0. */
typedef struct block {
    ex_block param;
    int64_t first;
    hx_import_set *set;
    int64_t *conn; /* [num_entry][num_nodes_per_entry] node indices, from 1 (owned) */
} block;

typedef struct reader {
    hx_import import;
    const hx_exodus_library *lib;
    int file; /* below 0: none */
    ex_init_params init;
    int64_t most;               /* upper bound of the numbers that a file of this size can hold */
    int64_t *node_id, *elem_id; /* [num_nodes], [num_elem] the file's numbers (owned) */
    int64_t n_block;
    block *block; /* (owned) */
} reader;

/* --- types of cells --- */

typedef struct cell_type {
    const char *words; /* prefixes of the type's name, "A, B" */
    int n_node;
    int is_solid;
    hx_solid_id solid;
    hx_shape shape;
    const int8_t *order; /* positions of the solid's nodes in the file; NULL: in the same order */
} cell_type;

/* The file numbers edges along the height before those of the top. */
static const int8_t hex20[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                               10, 11, 16, 17, 18, 19, 12, 13, 14, 15};
static const int8_t hex27[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 16, 17,
                               18, 19, 12, 13, 14, 15, 20, 21, 22, 25, 24, 26, 23};
static const int8_t wedge15[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};

#define SOLID(word, n, id, order)                                                                  \
    {                                                                                              \
        word, n, 1, id, HX_SHAPE_OTHER, order                                                      \
    }
#define CELL(word, n, shape)                                                                       \
    {                                                                                              \
        word, n, 0, HX_SOLID_HEX8, shape, NULL                                                     \
    }
/* Nodes after those of the solid (inside, or in the middle of faces) are left out. n_node = 0: any
 * number. */
static const cell_type types[] = {
    SOLID("HEX", 8, HX_SOLID_HEX8, NULL),
    SOLID("HEX", 20, HX_SOLID_HEX20, hex20),
    SOLID("HEX", 27, HX_SOLID_ABAQUS_HEX27, hex27),
    SOLID("TET", 4, HX_SOLID_TET4, NULL),
    SOLID("TET", 10, HX_SOLID_TET10, NULL),
    SOLID("TET", 14, HX_SOLID_TET10, NULL),
    SOLID("TET", 15, HX_SOLID_TET10, NULL),
    SOLID("WED", 6, HX_SOLID_WEDGE6, NULL),
    SOLID("WED", 15, HX_SOLID_WEDGE15, wedge15),
    SOLID("WED", 18, HX_SOLID_WEDGE15, wedge15),
    SOLID("WED", 20, HX_SOLID_WEDGE15, wedge15),
    SOLID("WED", 21, HX_SOLID_WEDGE15, wedge15),
    SOLID("PYR", 5, HX_SOLID_PYRAMID5, NULL),
    SOLID("PYR", 13, HX_SOLID_PYRAMID13, NULL),
    SOLID("PYR", 14, HX_SOLID_PYRAMID13, NULL),
    SOLID("PYR", 18, HX_SOLID_PYRAMID13, NULL),
    SOLID("PYR", 19, HX_SOLID_PYRAMID13, NULL),
    CELL("SHELL, MEMBRANE", 3, HX_SHAPE_TRIANGLE),
    CELL("SHELL", 6, HX_SHAPE_TRIANGLE),
    CELL("SHELL", 7, HX_SHAPE_TRIANGLE),
    CELL("SHELL, QUAD, MEMBRANE", 0, HX_SHAPE_QUADRANGLE),
    CELL("TRI", 0, HX_SHAPE_TRIANGLE),
    CELL("BAR, BEAM, TRUSS, EDGE, ROD, SPRING, DASHPOT, GAP, RBAR, RBE", 0, HX_SHAPE_LINE),
    CELL("SPHERE, MASS, CIRCLE, NODE, POINT", 0, HX_SHAPE_POINT),
};

/* Types that are not solids but carry load. They are recognized by their names, or by attributes of
 * the block, such as a thickness or the area of a section. */
static const struct {
    const char *words;
    int needs_attribute;
    unsigned roles;
    const char *what;
} structural[] = {
    {"SHELL, TRI, QUAD", 1, HX_UNREAD_CARRIES, "shells with a thickness"},
    {"EDGE", 1, HX_UNREAD_CARRIES, "lines with a section"},
    {"MEMBRANE", 0, HX_UNREAD_CARRIES, "membranes"},
    {"BAR", 0, HX_UNREAD_CARRIES, "bars"},
    {"BEAM", 0, HX_UNREAD_CARRIES, "beams"},
    {"TRUSS", 0, HX_UNREAD_CARRIES, "trusses"},
    {"ROD", 0, HX_UNREAD_CARRIES, "rods"},
    {"SPRING", 0, HX_UNREAD_CARRIES, "springs"},
    {"DASHPOT", 0, HX_UNREAD_CARRIES, "dampers"},
    {"GAP", 0, HX_UNREAD_CARRIES, "gaps"},
    {"RBAR", 0, HX_UNREAD_CARRIES, "rigid bars"},
    {"RBE", 0, HX_UNREAD_CARRIES, "rigid elements"},
    {"SPHERE, MASS", 0, HX_UNREAD_MASS, "point masses"},
};

static int begins_with(const char *list, const char *name)
{
    char word[HX_LISTED_WORD];
    while (hx_next_word(&list, word))
        if (strncasecmp(word, name, strlen(word)) == 0) return 1;
    return 0;
}

static const cell_type *find_type(const ex_block *param)
{
    static const cell_type other = CELL("", 0, HX_SHAPE_HIGH_ORDER);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (begins_with(types[i].words, param->topology) &&
            (types[i].n_node == 0 || types[i].n_node == param->num_nodes_per_entry))
            return &types[i];
    return &other;
}

/* Corners of side i of a cell, from 1; the last entry of a triangle is 0. */
static const int8_t hex_side[6][4] = {{1, 2, 6, 5}, {2, 3, 7, 6}, {3, 4, 8, 7},
                                      {1, 5, 8, 4}, {1, 4, 3, 2}, {5, 6, 7, 8}};
static const int8_t tet_side[6][4] = {{1, 2, 4, 0}, {2, 3, 4, 0}, {1, 4, 3, 0}, {1, 3, 2, 0}};
static const int8_t wedge_side[6][4] = {
    {1, 2, 5, 4}, {2, 3, 6, 5}, {1, 4, 6, 3}, {1, 3, 2, 0}, {4, 5, 6, 0}};
static const int8_t pyramid_side[6][4] = {
    {1, 2, 5, 0}, {2, 3, 5, 0}, {3, 4, 5, 0}, {1, 5, 4, 0}, {1, 4, 3, 2}};

/* NULL: the cell has no such side, or that side is not a face. */
static const int8_t *find_side(const cell_type *type, int64_t side)
{
    static const int8_t quad[4] = {1, 2, 3, 4}, triangle[4] = {1, 2, 3, 0};
    if (side < 1 || side > 6) return NULL;
    if (!type->is_solid && side > 2) return NULL;
    if (type->shape == HX_SHAPE_QUADRANGLE) return quad;
    if (type->shape == HX_SHAPE_TRIANGLE) return triangle;
    if (!type->is_solid) return NULL;
    const int8_t(*list)[4] = hx_solids[type->solid].kind == HX_CELL_TETRAHEDRON ? tet_side
                             : hx_solids[type->solid].kind == HX_CELL_WEDGE     ? wedge_side
                             : hx_solids[type->solid].kind == HX_CELL_PYRAMID   ? pyramid_side
                                                                                : hex_side;
    return list[side - 1][0] ? list[side - 1] : NULL;
}

/* --- the file --- */

static int damaged(const reader *r, const char *what)
{
    return HX_IMPORT_RAISE(&r->import, 0, "the Exodus library cannot read %s: the file is damaged",
                           what);
}

/* Compares counts with the file's size before memory is allocated. */
static int check_count(const reader *r, int64_t n, int64_t each, const char *what)
{
    if (n >= 0 && each >= 0 && (each == 0 || n <= r->most / each)) return HX_OK;
    return HX_IMPORT_RAISE(&r->import, 0, "%lld %s do not fit into the file", (long long)n, what);
}

static int open_file(reader *r)
{
    struct stat info;
    int real = 8, stored = 0;
    float version;
    const char *const path = r->import.path;
    if (stat(path, &info) != 0) return HX_RAISE(HX_EINPUT, "%s: cannot open it", path);
    if (!S_ISREG(info.st_mode)) return HX_RAISE(HX_EINPUT, "%s: not a regular file", path);
    r->most = (int64_t)info.st_size / 4 * MOST_RATIO;
    HX_TRY(hx_netcdf_check(path));
    HX_TRY(hx_exodus_load(&r->lib));
    r->lib->ex_opts(0); /* disables printing */
    r->file = r->lib->ex_open_int(path, EX_READ | EX_ALL_INT64_API, &real, &stored, &version,
                                  EX_API_VERS_NODOT);
    if (r->file < 0) return HX_IMPORT_RAISE(&r->import, 0, "not an Exodus file, or a damaged one");
    r->lib->ex_set_max_name_length(r->file, NAME_SIZE - 1);
    if (r->lib->ex_get_init_ext(r->file, &r->init) < 0) return damaged(r, "its sizes");
    if (r->init.num_dim != 3)
        return HX_IMPORT_RAISE(&r->import, 0, "a mesh in %lld dimensions; it must have 3",
                               (long long)r->init.num_dim);
    HX_TRY(check_count(r, r->init.num_nodes, 3, "nodes"));
    HX_TRY(check_count(r, r->init.num_elem, 1, "elements"));
    HX_TRY(check_count(r, r->init.num_elem_blk, 1, "blocks"));
    if (r->init.num_elem_blk > MOST_SETS || r->init.num_side_sets > MOST_SETS ||
        r->init.num_node_sets > MOST_SETS)
        return HX_IMPORT_RAISE(&r->import, 0, "more than %d blocks or sets", MOST_SETS);
    return HX_OK;
}

/* Reads the file's numbers of nodes or elements; 1, 2, ... if it has none. */
static int read_ids(reader *r, ex_entity_type type, int64_t n, int64_t **id)
{
    HX_TRY(hx_alloc_raw(id, (size_t)n, sizeof **id, "numbers"));
    if (n > 0 && r->lib->ex_get_id_map(r->file, type, *id) < 0)
        for (int64_t i = 0; i < n; i++) (*id)[i] = i + 1;
    return HX_OK;
}

static int read_exodus_nodes(reader *r)
{
    int rc = HX_OK;
    double *x = NULL;
    const int64_t n = r->init.num_nodes;
    HX_TRY(read_ids(r, EX_NODE_MAP, n, &r->node_id));
    HX_TRY(hx_alloc(&x, 3 * (size_t)n, sizeof *x, "coordinates"));
    if (n > 0 && r->lib->ex_get_coord(r->file, x, x + n, x + 2 * n) < 0) {
        rc = damaged(r, "coordinates");
        goto fail;
    }
    HX_TRY_FAIL(hx_import_expect(&r->import, n, r->init.num_elem));
    for (int64_t i = 0; i < n; i++) {
        const double at[3] = {x[i], x[n + i], x[2 * n + i]};
        HX_TRY_FAIL(hx_import_add_nodes(&r->import, 1, &r->node_id[i], at, 0));
    }
fail:
    free(x);
    return rc;
}

/* Finds or makes the set of a block or set: by its name, otherwise "block-7". Blocks, node sets and
 * side sets have separate names; a block of cells that are not solids is also a set of elements. */
static int open_set(reader *r, ex_entity_type type, int64_t id, const char *word,
                    hx_import_set **set)
{
    const hx_set_kind kind = type == EX_NODE_SET   ? HX_KIND_NODES
                             : type == EX_SIDE_SET ? HX_KIND_FACES
                                                   : HX_KIND_ELEMS;
    char name[4 * NAME_SIZE] = "";
    if (r->lib->ex_get_name(r->file, type, id, name) < 0) name[0] = '\0';
    name[sizeof name - 1] = '\0';
    for (size_t n = strlen(name); n > 0 && isspace((unsigned char)name[n - 1]); n--)
        name[n - 1] = '\0';
    if (!name[0]) snprintf(name, sizeof name, "%s-%lld", word, (long long)id);
    return hx_import_set_of(&r->import, name, kind, set);
}

/* Checks n indices of nodes or elements, from 1. */
static int check_range(const reader *r, const int64_t *list, int64_t n, int64_t last,
                       const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (list[i] < 1 || list[i] > last)
            return HX_IMPORT_RAISE(&r->import, 0, "%s %lld does not exist; the file has 1 to %lld",
                                   what, (long long)list[i], (long long)last);
    return HX_OK;
}

/* --- blocks --- */

static int add_solid(reader *r, const cell_type *type, const int64_t *node, int64_t number)
{
    int64_t in_order[HX_SOLID_NODES];
    for (int k = 0; k < hx_solids[type->solid].n_node; k++)
        in_order[k] = r->node_id[node[type->order ? type->order[k] : k] - 1];
    return hx_import_add_solids(&r->import, type->solid, 1, &number, in_order, 0);
}

/* Adds the corners of a face in the form that sets use. */
static int add_side_face(reader *r, hx_import_set *set, const int64_t *node, const int8_t *corner)
{
    int64_t quad[4];
    for (int k = 0; k < 4; k++)
        quad[k] = r->node_id[node[corner[k] ? corner[k] - 1 : corner[2] - 1] - 1];
    return hx_numbers_append(&set->quad, 4, quad);
}

static int add_exodus_cell(reader *r, const block *b, const cell_type *type, const int64_t *node,
                           int64_t number)
{
    HX_TRY(hx_import_add_other(&r->import, type->shape, b->param.topology, number, 0));
    const int8_t *const corner = find_side(type, 1);
    if (corner) return add_side_face(r, b->set, node, corner);
    for (int64_t k = 0; k < b->param.num_nodes_per_entry; k++)
        HX_TRY(hx_numbers_append(&b->set->node, 1, &r->node_id[node[k] - 1]));
    return HX_OK;
}

/* Records the cells of a block that would change the part's behaviour. */
static int note_structural(reader *r, const ex_block *p)
{
    for (size_t i = 0; i < sizeof structural / sizeof structural[0]; i++)
        if (begins_with(structural[i].words, p->topology) &&
            (!structural[i].needs_attribute || p->num_attribute > 0))
            return hx_import_unread(&r->import, structural[i].roles, p->topology,
                                    structural[i].what, p->num_entry, 0);
    return HX_OK;
}

static int read_block(reader *r, block *b)
{
    ex_block *const p = &b->param;
    p->type = EX_ELEM_BLOCK;
    if (r->lib->ex_get_block_param(r->file, p) < 0) return damaged(r, "a block");
    p->topology[MAX_STR_LENGTH] = '\0';
    HX_TRY(check_count(r, p->num_entry, p->num_nodes_per_entry, "elements of a block"));
    if (p->num_entry > r->init.num_elem - b->first)
        return HX_IMPORT_RAISE(&r->import, 0, "blocks with more elements than the file has");
    if (p->num_entry == 0) return HX_OK;
    const cell_type *const type = find_type(p);
    if (type->shape == HX_SHAPE_HIGH_ORDER && !type->is_solid)
        return HX_IMPORT_RAISE(&r->import, 0,
                               "block %lld has %lld %s of type %s, which are not read; tetrahedra, "
                               "wedges, pyramids and hexahedra of first and second order are read",
                               (long long)p->id, (long long)p->num_entry,
                               hx_noun(p->num_entry, "element", "elements"), p->topology);
    const int least = type->is_solid                       ? type->n_node
                      : type->shape == HX_SHAPE_QUADRANGLE ? 4
                      : type->shape == HX_SHAPE_TRIANGLE   ? 3
                                                           : 0;
    if (p->num_nodes_per_entry < least || p->num_nodes_per_entry > MOST_NODES)
        return HX_IMPORT_RAISE(&r->import, 0, "block %lld: %s with %lld %s", (long long)p->id,
                               p->topology, (long long)p->num_nodes_per_entry,
                               hx_noun(p->num_nodes_per_entry, "node", "nodes"));
    const int64_t n = p->num_entry * p->num_nodes_per_entry;
    HX_TRY(open_set(r, EX_ELEM_BLOCK, p->id, "block", &b->set));
    HX_TRY(hx_alloc(&b->conn, (size_t)n, sizeof *b->conn, "elements of a block"));
    if (n > 0 && r->lib->ex_get_conn(r->file, EX_ELEM_BLOCK, p->id, b->conn, NULL, NULL) < 0)
        return damaged(r, "elements");
    HX_TRY(check_range(r, b->conn, n, r->init.num_nodes, "node"));
    if (!type->is_solid) HX_TRY(note_structural(r, p));
    for (int64_t e = 0; e < p->num_entry; e++) {
        const int64_t number = r->elem_id[b->first + e];
        const int64_t *const node = b->conn + e * p->num_nodes_per_entry;
        HX_TRY(type->is_solid ? add_solid(r, type, node, number)
                              : add_exodus_cell(r, b, type, node, number));
        if (type->is_solid) HX_TRY(hx_numbers_append(&b->set->elem, 1, &number));
    }
    return HX_OK;
}

static int read_blocks(reader *r)
{
    int64_t *id = NULL, first = 0;
    int rc = HX_OK;
    const size_t n = (size_t)r->init.num_elem_blk;
    HX_TRY(read_ids(r, EX_ELEM_MAP, r->init.num_elem, &r->elem_id));
    HX_TRY(hx_alloc(&r->block, n, sizeof *r->block, "blocks"));
    HX_TRY(hx_alloc(&id, n, sizeof *id, "blocks"));
    if (n > 0 && r->lib->ex_get_ids(r->file, EX_ELEM_BLOCK, id) < 0) {
        rc = damaged(r, "the numbers of blocks");
        goto fail;
    }
    for (size_t i = 0; i < n; i++) {
        block *const b = &r->block[r->n_block++];
        b->param.id = id[i];
        b->first = first;
        HX_TRY_FAIL(read_block(r, b));
        first += b->param.num_entry;
    }
fail:
    free(id);
    return rc;
}

/* --- sets --- */

static const block *block_of(const reader *r, int64_t elem)
{
    int64_t low = 0, high = r->n_block - 1;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (r->block[middle].first <= elem)
            low = middle;
        else
            high = middle - 1;
    }
    const block *const b = &r->block[low];
    return elem < b->first + b->param.num_entry ? b : NULL;
}

/* Adds the nodes of the edge that is side 3, 4, ... of a shell (sides 1 and 2 are its faces), or
 * those of a line. Returns 0 if the cell has no such edge. */
static int add_edge(reader *r, hx_import_set *set, const cell_type *type, const block *b,
                    const int64_t *node, int64_t side)
{
    const int n_corner = type->shape == HX_SHAPE_TRIANGLE     ? 3
                         : type->shape == HX_SHAPE_QUADRANGLE ? 4
                                                              : 0;
    if (n_corner > 0 && side >= 3 && side < 3 + n_corner) {
        HX_TRY(hx_numbers_append(&set->node, 1, &r->node_id[node[side - 3] - 1]));
        return hx_numbers_append(&set->node, 1, &r->node_id[node[(side - 2) % n_corner] - 1]);
    }
    if (type->shape == HX_SHAPE_LINE && side >= 1 && side <= 2) {
        for (int64_t k = 0; k < b->param.num_nodes_per_entry; k++)
            HX_TRY(hx_numbers_append(&set->node, 1, &r->node_id[node[k] - 1]));
        return HX_OK;
    }
    return HX_IMPORT_RAISE(&r->import, 0,
                           "side set '%.60s': an element of type %s has no side %lld", set->name,
                           b->param.topology, (long long)side);
}

static int add_side(reader *r, hx_import_set *set, int64_t elem, int64_t side)
{
    const block *const b = r->n_block > 0 ? block_of(r, elem - 1) : NULL;
    if (!b) return damaged(r, "the elements of a side set");
    const int8_t *const corner = find_side(find_type(&b->param), side);
    const int64_t *const node = b->conn + (elem - 1 - b->first) * b->param.num_nodes_per_entry;
    if (corner) return add_side_face(r, set, node, corner);
    if (!find_type(&b->param)->is_solid)
        return add_edge(r, set, find_type(&b->param), b, node, side);
    return HX_IMPORT_RAISE(&r->import, 0, "side set '%.60s': element %lld has no side %lld",
                           set->name, (long long)r->elem_id[elem - 1], (long long)side);
}

/* Reads a side set or node set. */
static int read_set(reader *r, ex_entity_type type, int64_t id)
{
    hx_import_set *set;
    int64_t n = 0, n_factor = 0, *list = NULL;
    int rc = HX_OK;
    const int is_side = type == EX_SIDE_SET;
    HX_TRY(open_set(r, type, id, is_side ? "sideset" : "nodeset", &set));
    if (r->lib->ex_get_set_param(r->file, type, id, &n, &n_factor) < 0) return damaged(r, "a set");
    if (n == 0) return HX_OK;
    HX_TRY(check_count(r, n, 1, "members of a set"));
    HX_TRY(hx_alloc(&list, 2 * (size_t)n, sizeof *list, "members of a set"));
    int64_t *const extra = list + n;
    if (r->lib->ex_get_set(r->file, type, id, list, is_side ? extra : NULL) < 0) {
        rc = damaged(r, "a set");
        goto fail;
    }
    HX_TRY_FAIL(check_range(r, list, n, is_side ? r->init.num_elem : r->init.num_nodes,
                            is_side ? "element" : "node"));
    for (int64_t i = 0; i < n; i++)
        HX_TRY_FAIL(is_side ? add_side(r, set, list[i], extra[i])
                            : hx_numbers_append(&set->node, 1, &r->node_id[list[i] - 1]));
fail:
    free(list);
    return rc;
}

static int read_sets(reader *r, ex_entity_type type, int64_t n)
{
    int64_t *id = NULL;
    int rc = HX_OK;
    if (n == 0) return HX_OK;
    HX_TRY(hx_alloc(&id, (size_t)n, sizeof *id, "sets"));
    if (r->lib->ex_get_ids(r->file, type, id) < 0) rc = damaged(r, "the numbers of sets");
    for (int64_t i = 0; rc == HX_OK && i < n; i++) rc = read_set(r, type, id[i]);
    free(id);
    return rc;
}

static void exodus_reader_free(reader *r)
{
    if (r->file >= 0) r->lib->ex_close(r->file);
    for (int64_t i = 0; i < r->n_block; i++) free(r->block[i].conn);
    free(r->block);
    free(r->node_id);
    free(r->elem_id);
    hx_import_free(&r->import);
}

int hx_exodus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK;
    reader r = {.file = -1};
    memset(mesh, 0, sizeof *mesh);
    hx_exodus_lock();
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    rc = open_file(&r);
    if (rc == HX_EENV) (void)hx_import_place(&r.import, 0, rc);
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(read_exodus_nodes(&r));
    HX_TRY_FAIL(read_blocks(&r));
    HX_TRY_FAIL(read_sets(&r, EX_SIDE_SET, r.init.num_side_sets));
    HX_TRY_FAIL(read_sets(&r, EX_NODE_SET, r.init.num_node_sets));
    rc = hx_import_finish(&r.import, mesh);
    /* the format has no other kinds of conditions */
    if (rc == HX_OK) hx_import_give_unread(&r.import, conditions);
fail:
    exodus_reader_free(&r);
    hx_exodus_unlock();
    return rc;
}

#else

int hx_exodus_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    (void)conditions;
    (void)notes;
    memset(mesh, 0, sizeof *mesh);
    return HX_RAISE(HX_EENV,
                    "%s: this program was built without Exodus: build it with its library (Debian: "
                    "libexodusii-dev), or convert the file: meshio convert FILE OUT.vtu",
                    path);
}

#endif
