#include "patches_rows.h"

#include <string.h>

void hx_patch_rows_clear(hx_patch_rows *rows, int size)
{
    rows->n_hash = 16;
    while (rows->n_hash < 16 * (uint32_t)size) rows->n_hash *= 2;
    memset(rows->key, 0xff, rows->n_hash * sizeof *rows->key);
    rows->n = 0;
}

static int add_patch_row(hx_patch_rows *rows, int32_t node, int times)
{
    rows->node[rows->n] = node;
    rows->count[rows->n] = (uint8_t)times;
    return rows->n++;
}

/* Returns the row for `times` more incidences of a node. A row has at most 8 incidences; if it is
 * full, a new one is opened. */
static int find_row(hx_patch_rows *rows, int32_t node, int times)
{
    const uint32_t mask = rows->n_hash - 1;
    uint32_t at = (uint32_t)node * 2654435761u >> 16 & mask;
    while (rows->key[at] != -1 && rows->key[at] != node) at = (at + 1) & mask;
    if (rows->key[at] == -1) {
        rows->key[at] = node;
        rows->row[at] = (int16_t)add_patch_row(rows, node, times);
    } else if (rows->count[rows->row[at]] + times > 8) {
        rows->row[at] = (int16_t)add_patch_row(rows, node, times);
    } else {
        rows->count[rows->row[at]] = (uint8_t)(rows->count[rows->row[at]] + times);
    }
    return rows->row[at];
}

void hx_patch_rows_add(hx_patch_rows *rows, const hx_patch_group *group, const hx_mesh *mesh,
                       int64_t e, int16_t row[8])
{
    const int32_t *conn = mesh->conn + 8 * e;
    if (group->is_tetrahedral) {
        int corner[4];
        hx_cell_tetrahedron(mesh->xyz, conn, corner);
        for (int k = 0; k < 4; k++) row[k] = (int16_t)find_row(rows, conn[corner[k]], 1);
        return;
    }
    if (!hx_cell_is_collapsed(conn)) {
        for (int a = 0; a < 8; a++) row[a] = (int16_t)find_row(rows, conn[a], 1);
        return;
    }
    for (int a = 0; a < 8; a++) {
        int first = 0, times = 1;
        while (conn[first] != conn[a]) first++;
        for (int b = a + 1; b < 8; b++) times += conn[b] == conn[a];
        row[a] = first < a ? row[first] : (int16_t)find_row(rows, conn[a], times);
    }
}
