#include "mesh_hash.h"

#include <math.h>

/* Tags of items, so that a node and an element have different hashes. */
enum { NODE = 1, ELEMENT, MIDDLE, VALUE, ORDER };

static uint64_t orig(const int32_t *list, int64_t i)
{
    return (uint64_t)(list ? list[i] : i);
}

static hx_hash begin_hash(int kind, uint64_t number)
{
    hx_hash h = {(uint64_t)kind, (uint64_t)kind + 7};
    hx_hash_next(&h, number);
    return h;
}

static hx_hash node_hash(const hx_mesh *mesh, int64_t i)
{
    hx_hash h = begin_hash(NODE, orig(mesh->node_orig, i));
    for (int k = 0; k < 3; k++) hx_hash_number(&h, mesh->xyz[3 * i + k]);
    return h;
}

static hx_hash element_hash(const hx_mesh *mesh, int64_t e)
{
    hx_hash h = begin_hash(ELEMENT, orig(mesh->elem_orig, e));
    for (int k = 0; k < 8; k++) hx_hash_next(&h, orig(mesh->node_orig, mesh->conn[8 * e + k]));
    return h;
}

static hx_hash middle_hash(const hx_mesh *mesh, int64_t i)
{
    const int32_t *const end = mesh->middles.end + 2 * i;
    const uint64_t a = orig(mesh->node_orig, end[0]), b = orig(mesh->node_orig, end[1]);
    hx_hash h = begin_hash(MIDDLE, a < b ? a : b);
    hx_hash_next(&h, a < b ? b : a);
    for (int k = 0; k < 3; k++) hx_hash_number(&h, mesh->middles.xyz[3 * i + k]);
    return h;
}

typedef hx_hash (*item_hash)(const hx_mesh *mesh, int64_t i);

static void add_items(const hx_mesh *mesh, int64_t begin, int64_t end, item_hash item, hx_hash *sum)
{
    uint64_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(+ : a, b)
    for (int64_t i = begin; i < end; i++) {
        const hx_hash h = item(mesh, i);
        a += h.a;
        b += h.b;
    }
    sum->a += a;
    sum->b += b;
}

/* Adds the own nodes and own elements. */
static void add_own(const hx_mesh *mesh, item_hash of_node, item_hash of_element, hx_hash *sum)
{
    const hx_mesh_ownership *const w = mesh->ownership;
    const int64_t first = w ? w->own_node : 0;
    add_items(mesh, first, first + (w ? w->n_own_node : mesh->n_node), of_node, sum);
    add_items(mesh, hx_mesh_own_begin(mesh), hx_mesh_own_end(mesh), of_element, sum);
}

/* Combines the hashes of all ranks, starting from `sum`. */
static int join_hashes(const hx_mesh *mesh, const hx_hash *own, hx_hash *sum)
{
    int64_t value[2] = {(int64_t)own->a, (int64_t)own->b};
    HX_TRY(hx_reduce_sum_i64(hx_mesh_reduce(mesh), 2, value));
    sum->a += (uint64_t)value[0];
    sum->b += (uint64_t)value[1];
    return HX_OK;
}

static hx_hash begin_mesh(const hx_mesh *mesh)
{
    hx_hash sum = begin_hash(0, (uint64_t)hx_mesh_n_node_all(mesh));
    hx_hash_next(&sum, (uint64_t)hx_mesh_n_elem_all(mesh));
    return sum;
}

int hx_mesh_hash_all(const hx_mesh *mesh, hx_hash *hash)
{
    hx_hash own = {0, 0};
    *hash = begin_mesh(mesh);
    add_own(mesh, node_hash, element_hash, &own);
    add_items(mesh, 0, mesh->middles.n, middle_hash, &own);
    return join_hashes(mesh, &own, hash);
}

hx_hash hx_mesh_hash(const hx_mesh *mesh)
{
    hx_hash hash;
    return hx_mesh_hash_all(mesh, &hash) < 0 ? begin_mesh(mesh) : hash;
}

/* Position of an item in the stored design: in the file's order for a distributed mesh. */
static uint64_t place_in_design(const hx_mesh *mesh, const int32_t *list, int64_t i)
{
    return mesh->ownership ? orig(list, i) : (uint64_t)i;
}

static hx_hash node_order(const hx_mesh *mesh, int64_t i)
{
    hx_hash h = begin_hash(ORDER, place_in_design(mesh, mesh->node_orig, i));
    hx_hash_next(&h, orig(mesh->node_orig, i));
    return h;
}

static hx_hash element_order(const hx_mesh *mesh, int64_t e)
{
    hx_hash h = begin_hash(ORDER + 1, place_in_design(mesh, mesh->elem_orig, e));
    hx_hash_next(&h, orig(mesh->elem_orig, e));
    return h;
}

int hx_mesh_order_hash_all(const hx_mesh *mesh, hx_hash *hash)
{
    hx_hash own = {0, 0};
    *hash = begin_hash(0, (uint64_t)hx_mesh_n_node_all(mesh));
    add_own(mesh, node_order, element_order, &own);
    return join_hashes(mesh, &own, hash);
}

hx_hash hx_mesh_order_hash(const hx_mesh *mesh)
{
    hx_hash hash;
    return hx_mesh_order_hash_all(mesh, &hash) < 0 ? begin_mesh(mesh) : hash;
}

static hx_hash element_part(const hx_mesh *mesh, int64_t e)
{
    const hx_mesh_ownership *const w = mesh->ownership;
    hx_hash h = begin_hash(ORDER + 2, (uint64_t)(w->elem_before + e - hx_mesh_own_begin(mesh)));
    hx_hash_next(&h, orig(mesh->elem_orig, e));
    return h;
}

int hx_mesh_ownership_hash(const hx_mesh *mesh, uint64_t *hash)
{
    hx_hash own = {0, 0}, all = {0, 0};
    add_items(mesh, hx_mesh_own_begin(mesh), hx_mesh_own_end(mesh), element_part, &own);
    HX_TRY(join_hashes(mesh, &own, &all));
    *hash = all.a;
    return HX_OK;
}

static void add_value(uint64_t number, double value, uint64_t *a, uint64_t *b)
{
    hx_hash h = begin_hash(VALUE, number);
    hx_hash_number(&h, value);
    *a += h.a;
    *b += h.b;
}

hx_hash hx_mesh_part_hash(const hx_mesh *mesh, const double *value, double least)
{
    uint64_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(+ : a, b)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (value[e] >= least) add_value(orig(mesh->elem_orig, e), value[e], &a, &b);
    return (hx_hash){a, b};
}

hx_hash hx_mesh_field_hash(const hx_mesh *mesh, const double *value)
{
    uint64_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(+ : a, b)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        add_value(orig(mesh->elem_orig, e), value[e], &a, &b);
    return (hx_hash){a, b};
}

hx_hash hx_mesh_piece_hash(int64_t first, int64_t n, const double *value, double least)
{
    uint64_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(+ : a, b)
    for (int64_t i = 0; i < n; i++)
        if (isnan(least) || value[i] >= least) add_value((uint64_t)(first + i), value[i], &a, &b);
    return (hx_hash){a, b};
}

hx_hash hx_mesh_values_hash(int64_t n, const double *number, const double *value)
{
    uint64_t a = 0, b = 0;
#pragma omp parallel for schedule(static) reduction(+ : a, b)
    for (int64_t i = 0; i < n; i++) {
        const int is_number = !number || (number[i] >= 0.0 && number[i] < 1e15);
        const uint64_t own = number && is_number ? (uint64_t)number[i] : (uint64_t)i;
        add_value(is_number ? own : UINT64_MAX, value[i], &a, &b);
    }
    return (hx_hash){a, b};
}
