/* Numbers that the file gave to the nodes and elements of a mesh. */
#include "mesh.h"

int64_t hx_mesh_node_number(const hx_mesh *mesh, int64_t node)
{
    const int by_node = !mesh->node_orig || (mesh->ownership && mesh->ownership->has_numbers);
    return hx_numbers_get(&mesh->node_number, by_node ? node : mesh->node_orig[node]);
}

int64_t hx_mesh_elem_number(const hx_mesh *mesh, int64_t elem)
{
    return hx_numbers_get(&mesh->elem_number, mesh->elem_orig ? mesh->elem_orig[elem] : elem);
}
