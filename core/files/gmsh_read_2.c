/* Nodes and elements of Gmsh's format 2 ("Legacy MSH2" of its manual). */
#include <string.h>

#include "../base/names.h"
#include "gmsh_reader.h"

/* In $ParametricNodes, dimension and number of the entity and the parameters follow each node. */
static int pass_parameters(hx_gmsh_reader *r)
{
    int64_t entity[2];
    double parameter[2];
    HX_TRY(hx_gmsh_ints(r, 2, entity));
    if (entity[0] < 0 || entity[0] > 3)
        return HX_GMSH_RAISE(r, "a node on an entity of dimension %lld", (long long)entity[0]);
    if (entity[0] == 1 || entity[0] == 2) return hx_gmsh_reals(r, entity[0], parameter);
    return HX_OK;
}

/* Reads nodes one by one: text, or nodes with parameters. */
static int read_nodes_singly(hx_gmsh_reader *r, int64_t n, int is_parametric)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t number;
        double xyz[3];
        HX_TRY(hx_gmsh_ints(r, 1, &number));
        const int64_t line = hx_gmsh_line(r);
        HX_TRY(hx_gmsh_reals(r, 3, xyz));
        if (is_parametric) HX_TRY(pass_parameters(r));
        HX_TRY(hx_import_add_nodes(&r->import, 1, &number, xyz, line));
    }
    return HX_OK;
}

int hx_gmsh_read_nodes_2(hx_gmsh_reader *r, int is_parametric)
{
    enum { RECORD = 28 };
    int64_t n, n_ready, number[HX_GMSH_CHUNK];
    double xyz[3 * HX_GMSH_CHUNK];
    const unsigned char *bytes;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of nodes", &n));
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_gmsh_check_count(r, "nodes", n, RECORD, 4));
    HX_TRY(hx_import_expect(&r->import, n, 0));
    if (!r->scan.is_binary || is_parametric) return read_nodes_singly(r, n, is_parametric);
    for (int64_t i = 0; i < n; i += n_ready) {
        const int64_t most = n - i < HX_GMSH_CHUNK ? n - i : HX_GMSH_CHUNK;
        HX_TRY(hx_file_scan_raw(&r->scan, RECORD, most, &bytes, &n_ready));
        for (int64_t k = 0; k < n_ready; k++) {
            const unsigned char *const record = bytes + RECORD * k;
            number[k] = hx_gmsh_decode_int(r, record);
            for (int d = 0; d < 3; d++) xyz[3 * k + d] = hx_gmsh_decode_real(r, record + 4 + 8 * d);
        }
        HX_TRY(hx_import_add_nodes(&r->import, n_ready, number, xyz, 0));
    }
    return HX_OK;
}

/* The file repeats an element for each of its groups, consecutively. */
static int take_solid(hx_gmsh_reader *r, const hx_gmsh_type *type, int64_t number,
                      const int64_t *node, int64_t line, hx_import_set *set)
{
    const size_t n_byte = (size_t)type->n_node * sizeof *node;
    if (r->last_type != type || memcmp(node, r->last_node, n_byte) != 0) {
        HX_TRY(hx_import_add_solids(&r->import, type->solid, 1, &number, node, line));
        r->last_type = type;
        memcpy(r->last_node, node, n_byte);
    }
    return set ? hx_numbers_append_run(&set->elem_index, 1, r->import.n_elem - 1) : HX_OK;
}

/* Takes an element's tags and nodes; the first tag is its group, 0: none. */
static int take_element(hx_gmsh_reader *r, const hx_gmsh_type *type, int64_t number,
                        const int64_t *tag_node, int64_t n_tag, int64_t line)
{
    hx_import_set *set = NULL;
    const int64_t *const node = tag_node + n_tag;
    if (n_tag > 0 && tag_node[0] != 0) HX_TRY(hx_gmsh_group_set(r, type->dim, tag_node[0], &set));
    if (type->is_solid) return take_solid(r, type, number, node, line, set);
    return hx_gmsh_take_other(r, type, number, node, line, set ? 1 : 0, &set);
}

enum { MOST_TAGS = 1000 };

static int check_tags(hx_gmsh_reader *r, int64_t n_tag)
{
    if (n_tag >= 0 && n_tag <= MOST_TAGS) return HX_OK;
    return HX_GMSH_RAISE(r, "an element with %lld tags; expected are 2 or a few more",
                         (long long)n_tag);
}

/* Reads a block of the binary format: type, number of elements, number of tags; then the
 * elements. */
static int read_block(hx_gmsh_reader *r, int64_t *n_left)
{
    int64_t head[3], record[1 + MOST_TAGS + HX_GMSH_MOST_NODES];
    const hx_gmsh_type *type;
    HX_TRY(hx_gmsh_ints(r, 3, head));
    HX_TRY(hx_gmsh_find_type(r, head[0], &type));
    HX_TRY(check_tags(r, head[2]));
    const int64_t n_word = 1 + head[2] + type->n_node;
    if (head[1] < 1 || head[1] > *n_left)
        return HX_GMSH_RAISE(r, "a block of %lld %s, but only %lld are left", (long long)head[1],
                             hx_noun(head[1], "element", "elements"), (long long)*n_left);
    for (int64_t i = 0; i < head[1]; i++) {
        HX_TRY(hx_gmsh_ints(r, n_word, record));
        HX_TRY(take_element(r, type, record[0], record + 1, head[2], 0));
    }
    *n_left -= head[1];
    return HX_OK;
}

static int read_line(hx_gmsh_reader *r)
{
    int64_t head[3], record[MOST_TAGS + HX_GMSH_MOST_NODES];
    const hx_gmsh_type *type;
    HX_TRY(hx_gmsh_ints(r, 2, head));
    const int64_t line = hx_gmsh_line(r);
    HX_TRY(hx_gmsh_find_type(r, head[1], &type));
    HX_TRY(hx_gmsh_ints(r, 1, head + 2));
    HX_TRY(check_tags(r, head[2]));
    HX_TRY(hx_gmsh_ints(r, head[2] + type->n_node, record));
    return take_element(r, type, head[0], record, head[2], line);
}

int hx_gmsh_read_elements_2(hx_gmsh_reader *r)
{
    int64_t n;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of elements", &n));
    HX_TRY(hx_file_scan_begin(&r->scan));
    HX_TRY(hx_gmsh_check_count(r, "elements", n, 8, 4));
    HX_TRY(hx_import_announce(&r->import, n));
    if (r->scan.is_binary) {
        /* make room for n elements, but no more than the rest of the file can hold */
        const int64_t most = (r->scan.size - r->scan.offset) / (9 * 4);
        HX_TRY(hx_import_expect(&r->import, 0, n < most ? n : most));
    }
    if (!r->scan.is_binary) {
        for (int64_t i = 0; i < n; i++) HX_TRY(read_line(r));
        return HX_OK;
    }
    while (n > 0) HX_TRY(read_block(r, &n));
    return HX_OK;
}
