/* Entities, nodes and elements of Gmsh's format 4.1. */
#include <stdlib.h>

#include "../base/grow.h"
#include "../base/names.h"
#include "gmsh_reader.h"

/* --- entities and their groups --- */

static int compare_entities(const void *a, const void *b)
{
    const hx_gmsh_entity *const x = a, *const y = b;
    if (x->dim != y->dim) return (x->dim > y->dim) - (x->dim < y->dim);
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static const hx_gmsh_entity *find_entity(const hx_gmsh_reader *r, int64_t dim, int64_t tag)
{
    const hx_gmsh_entity wanted = {dim, tag, 0, 0};
    if (r->n_entity == 0) return NULL;
    return bsearch(&wanted, r->entity, (size_t)r->n_entity, sizeof wanted, compare_entities);
}

static int read_entity(hx_gmsh_reader *r, int64_t dim)
{
    hx_gmsh_entity entity = {dim, 0, 0, 0};
    double box[6];
    int64_t n_bound;
    HX_TRY(hx_gmsh_ints(r, 1, &entity.tag));
    HX_TRY(hx_gmsh_reals(r, dim == 0 ? 3 : 6, box));
    int64_t tag;
    HX_TRY(hx_gmsh_sizes(r, 1, &entity.n));
    HX_TRY(hx_gmsh_check_count(r, "physical groups", entity.n, 4, 1));
    entity.first = r->n_group_set;
    for (int64_t i = 0; i < entity.n; i++) {
        HX_TRY(hx_gmsh_ints(r, 1, &tag));
        HX_TRY(hx_grow(&r->group_set, (size_t)r->n_group_set, &r->group_set_capacity,
                       sizeof(hx_import_set *), "groups of a mesh file"));
        HX_TRY(hx_gmsh_group_set(r, entity.dim, tag, &r->group_set[r->n_group_set]));
        r->n_group_set++;
    }
    HX_TRY(hx_grow(&r->entity, (size_t)r->n_entity, &r->entity_capacity, sizeof *r->entity,
                   "entities of a mesh file"));
    r->entity[r->n_entity++] = entity;
    if (dim == 0) return HX_OK;
    HX_TRY(hx_gmsh_sizes(r, 1, &n_bound));
    HX_TRY(hx_gmsh_check_count(r, "bounding entities", n_bound, 4, 1));
    /* skip n integers of 4 bytes */
    int64_t value[64];
    for (int64_t i = 0; i < n_bound; i += 64)
        HX_TRY(hx_gmsh_ints(r, n_bound - i < 64 ? n_bound - i : 64, value));
    return HX_OK;
}

int hx_gmsh_read_entities_4(hx_gmsh_reader *r)
{
    int64_t n[4];
    HX_TRY(hx_gmsh_sizes(r, 4, n));
    for (int64_t dim = 0; dim < 4; dim++) {
        HX_TRY(hx_gmsh_check_count(r, "entities", n[dim], 4 + 24, 4));
        for (int64_t i = 0; i < n[dim]; i++) HX_TRY(read_entity(r, dim));
    }
    if (r->n_entity > 0) qsort(r->entity, (size_t)r->n_entity, sizeof *r->entity, compare_entities);
    return HX_OK;
}

/* --- nodes --- */

/* Reads the numbers of a block's nodes, then their coordinates with n_extra parameters each. */
static int read_node_block(hx_gmsh_reader *r, int64_t n, int64_t n_extra)
{
    int64_t number[HX_GMSH_CHUNK], line;
    double record[6], chunk[3 * HX_GMSH_CHUNK];
    hx_numbers all = {0};
    int rc = HX_OK;
    line = 0;
    for (int64_t i = 0; i < n; i += HX_GMSH_CHUNK) {
        const int64_t now = n - i < HX_GMSH_CHUNK ? n - i : HX_GMSH_CHUNK;
        HX_TRY_FAIL(hx_gmsh_sizes(r, now, number));
        if (i == 0 && now == 1) line = hx_gmsh_line(r);
        HX_TRY_FAIL(hx_numbers_append(&all, now, number));
    }
    for (int64_t i = 0; i < n; i += HX_GMSH_CHUNK) {
        const int64_t now = n - i < HX_GMSH_CHUNK ? n - i : HX_GMSH_CHUNK;
        for (int64_t k = 0; k < now; k++) number[k] = hx_numbers_get(&all, i + k);
        if (n_extra == 0) HX_TRY_FAIL(hx_gmsh_reals(r, 3 * now, chunk));
        for (int64_t k = 0; k < now && n_extra > 0; k++) {
            HX_TRY_FAIL(hx_gmsh_reals(r, 3 + n_extra, record));
            for (int d = 0; d < 3; d++) chunk[3 * k + d] = record[d];
        }
        HX_TRY_FAIL(hx_import_add_nodes(&r->import, now, number, chunk, line));
    }
fail:
    hx_numbers_free(&all);
    return rc;
}

int hx_gmsh_read_nodes_4(hx_gmsh_reader *r)
{
    int64_t head[4], block[3], n, n_left;
    HX_TRY(hx_gmsh_sizes(r, 4, head));
    HX_TRY(hx_gmsh_check_count(r, "blocks of nodes", head[0], 12 + r->size_bytes, 4));
    n_left = head[1];
    HX_TRY(hx_gmsh_check_count(r, "nodes", n_left, 24 + r->size_bytes, 4));
    HX_TRY(hx_import_expect(&r->import, n_left, 0));
    for (int64_t b = 0; b < head[0]; b++) {
        HX_TRY(hx_gmsh_ints(r, 3, block));
        HX_TRY(hx_gmsh_sizes(r, 1, &n));
        if (block[0] < 0 || block[0] > 3 || n < 0 || n > n_left)
            return HX_GMSH_RAISE(
                r, "a block of %lld %s on an entity of dimension %lld, but only %lld %s are left",
                (long long)n, hx_noun(n, "node", "nodes"), (long long)block[0], (long long)n_left,
                hx_noun(n_left, "node", "nodes"));
        HX_TRY(read_node_block(r, n, block[2] != 0 ? block[0] : 0));
        n_left -= n;
    }
    if (n_left == 0) return HX_OK;
    return HX_GMSH_RAISE(r, "the blocks have %lld %s fewer than announced", (long long)n_left,
                         hx_noun(n_left, "node", "nodes"));
}

/* --- elements --- */

static int read_solids(hx_gmsh_reader *r, const hx_gmsh_type *type, int64_t n)
{
    enum { MOST_WORDS = HX_GMSH_CHUNK };
    int64_t word[MOST_WORDS], number[MOST_WORDS / 5], node[MOST_WORDS], now, line;
    const int n_node = type->n_node, n_word = 1 + n_node;
    for (int64_t i = 0; i < n; i += now) {
        now = n - i < MOST_WORDS / n_word ? n - i : MOST_WORDS / n_word;
        /* one at a time, so that the line of each element is known */
        if (!r->scan.is_binary) now = 1;
        HX_TRY(hx_gmsh_sizes(r, n_word * now, word));
        line = hx_gmsh_line(r);
        for (int64_t k = 0; k < now; k++) {
            number[k] = word[n_word * k];
            for (int c = 0; c < n_node; c++) node[n_node * k + c] = word[n_word * k + 1 + c];
        }
        HX_TRY(hx_import_add_solids(&r->import, type->solid, now, number, node, line));
    }
    return HX_OK;
}

/* Reads a block: dimension and number of the entity, type, number of elements; then the
 * elements. */
static int read_element_block(hx_gmsh_reader *r, int64_t *n_left)
{
    int64_t head[3], n;
    const hx_gmsh_type *type;
    HX_TRY(hx_gmsh_ints(r, 3, head));
    HX_TRY(hx_gmsh_find_type(r, head[2], &type));
    HX_TRY(hx_gmsh_sizes(r, 1, &n));
    if (n < 0 || n > *n_left)
        return HX_GMSH_RAISE(r, "a block of %lld %s, but only %lld are left", (long long)n,
                             hx_noun(n, "element", "elements"), (long long)*n_left);
    HX_TRY(hx_gmsh_check_count(r, "elements", n, (1 + type->n_node) * r->size_bytes,
                               1 + type->n_node));
    *n_left -= n;
    const hx_gmsh_entity *const entity = find_entity(r, head[0], head[1]);
    const int64_t n_set = entity ? entity->n : 0;
    hx_import_set *const *const set = n_set > 0 ? r->group_set + entity->first : NULL;
    if (!type->is_solid) {
        int64_t word[1 + HX_GMSH_MOST_NODES];
        for (int64_t i = 0; i < n; i++) {
            HX_TRY(hx_gmsh_sizes(r, 1 + type->n_node, word));
            HX_TRY(hx_gmsh_take_other(r, type, word[0], word + 1, hx_gmsh_line(r), n_set, set));
        }
        return HX_OK;
    }
    const int64_t first = r->import.n_elem;
    HX_TRY(hx_import_expect(&r->import, 0, n));
    HX_TRY(read_solids(r, type, n));
    for (int64_t i = 0; i < n_set; i++)
        HX_TRY(hx_numbers_append_run(&set[i]->elem_index, n, first));
    return HX_OK;
}

int hx_gmsh_read_elements_4(hx_gmsh_reader *r)
{
    int64_t head[4];
    HX_TRY(hx_gmsh_sizes(r, 4, head));
    HX_TRY(hx_gmsh_check_count(r, "blocks of elements", head[0], 12 + r->size_bytes, 4));
    HX_TRY(hx_gmsh_check_count(r, "elements", head[1], 2 * r->size_bytes, 2));
    HX_TRY(hx_import_announce(&r->import, head[1]));
    for (int64_t b = 0; b < head[0]; b++) HX_TRY(read_element_block(r, &head[1]));
    if (head[1] == 0) return HX_OK;
    return HX_GMSH_RAISE(r, "the blocks have %lld %s fewer than announced", (long long)head[1],
                         hx_noun(head[1], "element", "elements"));
}
