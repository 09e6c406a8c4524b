#include "node_groups.h"

#include <stdlib.h>

#include "core/base/memory.h"
#include "core/base/union_find.h"

int hx_node_groups_create(const hx_mesh *mesh, const uint8_t *flag, int64_t *n_group,
                          int32_t **group_of)
{
    int32_t *root = NULL;
    *n_group = 0;
    *group_of = NULL;
    HX_TRY(hx_alloc_raw(&root, (size_t)mesh->n_node, sizeof *root, "groups of nodes"));
    const int rc =
        hx_alloc_raw(group_of, (size_t)mesh->n_node, sizeof **group_of, "groups of nodes");
    for (int64_t a = 0; rc == HX_OK && a < mesh->n_node; a++) root[a] = (int32_t)a;
    for (int64_t e = 0; rc == HX_OK && e < mesh->n_elem; e++) {
        int32_t first = -1;
        for (int k = 0; k < 8; k++) {
            const int32_t a = mesh->conn[8 * e + k];
            if (!flag[a]) continue;
            if (first >= 0) hx_unite(root, first, a);
            first = a;
        }
    }
    for (int64_t a = 0; rc == HX_OK && a < mesh->n_node; a++) {
        const int32_t r = hx_root(root, (int32_t)a);
        (*group_of)[a] = !flag[a] ? -1 : r == a ? (int32_t)(*n_group)++ : (*group_of)[r];
    }
    free(root);
    return rc;
}
