/* Elements whose nodes are in an order other than VTK's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "mesh_check.h"
#include "mesh_internal.h"

const int hx_order_permutation[HX_N_ORDER][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                                 {4, 5, 6, 7, 0, 1, 2, 3},
                                                 {0, 1, 3, 2, 4, 5, 7, 6},
                                                 {4, 5, 7, 6, 0, 1, 3, 2}};

static const char *const order_name[HX_N_ORDER] = {
    "", "bottom and top (nodes 0-3, 4-7) exchanged", "along x, y and z (2, 3 and 6, 7 exchanged)",
    "along x, y and z with bottom and top exchanged"};

static void permute(const int32_t conn[8], int order, int32_t to[8])
{
    for (int k = 0; k < 8; k++) to[k] = conn[hx_order_permutation[order][k]];
}

/* Returns the only order that makes the element valid; HX_ORDER_VTK: there is none, or more than
 * one. For wedges and tetrahedra two of the orders are equivalent. */
static int find_order(const double *xyz, const int32_t conn[8])
{
    int found = HX_ORDER_VTK, n_found = 0;
    int32_t repaired[8] = {-1};
    for (int order = 1; order < HX_N_ORDER; order++) {
        int32_t other[8];
        permute(conn, order, other);
        if (memcmp(other, repaired, sizeof other) == 0) continue;
        if (!hx_mesh_is_valid_element(xyz, other)) continue;
        memcpy(repaired, other, sizeof repaired);
        found = order;
        n_found++;
    }
    return n_found == 1 ? found : HX_ORDER_VTK;
}

static int64_t count_invalid(const hx_mesh *mesh)
{
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        n += !hx_mesh_is_valid_element(mesh->xyz, mesh->conn + 8 * e);
    return n;
}

static int note_orders(const hx_mesh *mesh, const uint8_t *order, hx_notes *notes)
{
    int64_t n[HX_N_ORDER] = {0}, first[HX_N_ORDER] = {0};
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (n[order[e]]++ == 0) first[order[e]] = e;
    for (int k = 1; k < HX_N_ORDER; k++) {
        if (n[k] == 0) continue;
        HX_TRY(hx_notes_add(
            notes, HX_NOTE_WARNING,
            "%s: the nodes of %lld %s were in this order: %s; corrected (the first: element %lld)",
            mesh->name, (long long)n[k], hx_noun(n[k], "element", "elements"), order_name[k],
            (long long)hx_mesh_elem_number(mesh, first[k])));
    }
    return HX_OK;
}

int hx_mesh_repair_order(hx_mesh *mesh, uint8_t **order, hx_notes *notes)
{
    int64_t n_repaired = 0;
    uint8_t *list = NULL;
    *order = NULL;
    if (count_invalid(mesh) == 0) return HX_OK;
    HX_TRY(hx_alloc(&list, (size_t)mesh->n_elem, 1, "order of nodes"));
#pragma omp parallel for schedule(static) reduction(+ : n_repaired)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int32_t *const conn = mesh->conn + 8 * e, repaired[8];
        if (hx_mesh_is_valid_element(mesh->xyz, conn)) continue;
        list[e] = (uint8_t)find_order(mesh->xyz, conn);
        permute(conn, list[e], repaired);
        memcpy(conn, repaired, sizeof repaired);
        n_repaired += list[e] != HX_ORDER_VTK;
    }
    if (n_repaired == 0) {
        free(list);
        return HX_OK;
    }
    *order = list;
    return note_orders(mesh, list, notes);
}
