#include "pattern.h"

const char *hx_build_name(hx_build build)
{
    static const char *const name[HX_N_BUILD] = {"three-stage", "sort"};
    return build < HX_N_BUILD ? name[build] : NULL;
}

hx_incidence hx_incidence_of_mesh(const hx_mesh *mesh)
{
    return (hx_incidence){.n_cell = mesh->n_elem,
                          .n_point = mesh->n_node,
                          .n_place = 8 * mesh->n_elem,
                          .n_per_cell = 8,
                          .point = mesh->conn,
                          .point_ptr = mesh->node_elem_ptr,
                          .point_place = mesh->node_elem};
}
