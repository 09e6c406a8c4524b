#include "conditions.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

int hx_conditions_nodes(const hx_mesh *mesh, int64_t n, const hx_file_value *value, int32_t **node)
{
    int32_t *now = NULL; /* NULL: the mesh is numbered as it was read */
    HX_TRY(hx_mesh_invert(mesh->n_node, mesh->node_orig, &now));
    const int rc = hx_alloc_raw(node, (size_t)n, sizeof **node, "nodes of a file's conditions");
    for (int64_t i = 0; rc == HX_OK && i < n; i++)
        (*node)[i] = now ? now[value[i].node] : value[i].node;
    free(now);
    return rc;
}

int hx_conditions_ends(const hx_mesh *mesh, int64_t n, const hx_file_middle *middle, int32_t **node)
{
    int32_t *now = NULL;
    HX_TRY(hx_mesh_invert(mesh->n_node, mesh->node_orig, &now));
    const int rc = hx_alloc_raw(node, 2 * (size_t)n, sizeof **node, "edges of a file's conditions");
    for (int64_t i = 0; rc == HX_OK && i < 2 * n; i++)
        (*node)[i] = now ? now[middle[i / 2].end[i % 2]] : middle[i / 2].end[i % 2];
    free(now);
    return rc;
}

void hx_conditions_merge(hx_conditions *conditions, const int32_t *node_new)
{
    hx_file_value *const list[2] = {conditions->support, conditions->force};
    const int64_t n[2] = {conditions->n_support, conditions->n_force};
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < n[k]; i++) list[k][i].node = node_new[list[k][i].node];
    for (int64_t i = 0; i < 2 * conditions->n_middle; i++) {
        int32_t *const end = &conditions->middle[i / 2].end[i % 2];
        *end = node_new[*end];
    }
}

size_t hx_conditions_bytes(const hx_conditions *conditions)
{
    return (size_t)(conditions->n_support + conditions->n_force) * sizeof *conditions->force +
           (size_t)conditions->n_middle * sizeof *conditions->middle;
}

void hx_conditions_free(hx_conditions *conditions)
{
    free(conditions->support);
    free(conditions->force);
    free(conditions->middle);
    free(conditions->fault);
    memset(conditions, 0, sizeof *conditions);
}
