#include "attached.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vec3.h"

int hx_attached_create(hx_attached *a, const hx_session *s, const uint8_t *is_solid)
{
    int rc;
    memset(a, 0, sizeof *a);
    a->session = s;
    HX_TRY_FAIL(
        hx_pieces_create(&a->pieces, &s->mesh, is_solid, s->problem.volume, HX_PIECES_BY_NODES));
    const hx_mesh *const mesh = &a->session->mesh;
    HX_TRY_FAIL(hx_alloc(&a->node, (size_t)mesh->n_node, sizeof *a->node, "nodes"));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < mesh->n_node; i++)
        for (int64_t k = mesh->node_elem_ptr[i]; k < mesh->node_elem_ptr[i + 1]; k++) {
            const int32_t piece = a->pieces.of[mesh->node_elem[k] / 8];
            const uint8_t state = piece < 0    ? HX_NODE_VOID
                                  : piece == 0 ? HX_NODE_MAIN
                                               : HX_NODE_FLOATING;
            if (state > a->node[i]) a->node[i] = state;
        }
    HX_TRY_FAIL(
        hx_conditions_nodes(&s->mesh, s->conditions.n_support, s->conditions.support, &a->held));
    return HX_OK;
fail:
    hx_attached_free(a);
    return rc;
}

void hx_attached_free(hx_attached *a)
{
    hx_pieces_free(&a->pieces);
    free(a->node);
    free(a->held);
    free(a->is_held);
    memset(a, 0, sizeof *a);
}

static void add_attached_set(const hx_attached *a, const char *name, hx_attached_nodes *nodes)
{
    const hx_set *const set = name ? hx_mesh_find_set(&a->session->mesh, name) : NULL;
    for (int64_t k = 0; set && k < set->n_node; k++) nodes->n[a->node[set->node[k]]]++;
}

void hx_attached_set(const hx_attached *a, const char *set, hx_attached_nodes *nodes)
{
    memset(nodes, 0, sizeof *nodes);
    add_attached_set(a, set, nodes);
}

/* In the file's list, all components of a node are consecutive. */
void hx_attached_file_supports(const hx_attached *a, hx_attached_nodes *nodes)
{
    const hx_conditions *const file = &a->session->conditions;
    memset(nodes, 0, sizeof *nodes);
    for (int64_t k = 0; k < file->n_support; k++)
        if (k == 0 || a->held[k] != a->held[k - 1]) nodes->n[a->node[a->held[k]]]++;
    for (int64_t i = 0; i < file->n_rigid; i++)
        if (file->rigid[i].held) add_attached_set(a, file->rigid[i].set, nodes);
}

hx_node_state hx_attached_state(const hx_attached *a, int64_t nodal)
{
    const hx_space *const space = &a->session->space;
    hx_node_state state = HX_NODE_VOID;
    int64_t k;
    if (nodal < a->session->mesh.n_node) return (hx_node_state)a->node[nodal];
    const int64_t end = hx_space_nodal_cells(space, nodal, &k);
    for (; k < end; k++) {
        const int32_t piece = a->pieces.of[hx_space_nodal_cell(space, k)];
        if (piece == 0) return HX_NODE_MAIN;
        if (piece > 0) state = HX_NODE_FLOATING;
    }
    return state;
}

double hx_attached_rounding(const hx_session *s, int load_case)
{
    const hx_mesh *const mesh = &s->mesh;
    const double *const force = s->problem.cases.force[load_case];
    const int64_t n = s->problem.components * s->space.n_point;
    double far = 0.0, most = 0.0;
    for (int i = 0; i < 3; i++)
        far = fmax(far, fmax(fabs(mesh->box_min[i]), fabs(mesh->box_max[i])));
#pragma omp parallel for simd schedule(static) reduction(max : most)
    for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(force[k]));
    return HX_LOADS_CANCEL * most * (1.0 + far / mesh->elem_size);
}

double hx_attached_force(const hx_session *s, int load_case, int64_t nodal)
{
    const double *const force = s->problem.cases.force[load_case];
    int32_t point[HX_SPLINE_CELL_POINTS];
    double share[HX_SPLINE_CELL_POINTS], size = 0.0;
    const int n = hx_space_node_points(&s->space, nodal, point, share);
    for (int k = 0; k < n; k++)
        size += share[k] * (hx_config_is_heat(&s->cfg) ? fabs(force[point[k]])
                                                       : hx_norm3(force + 3 * (int64_t)point[k]));
    return size;
}

void hx_attached_loads(const hx_attached *a, int load_case, hx_attached_nodes *nodes)
{
    const double rounding = hx_attached_rounding(a->session, load_case);
    memset(nodes, 0, sizeof *nodes);
    for (int64_t i = 0; i < hx_space_n_nodal(&a->session->space); i++) {
        const double size = hx_attached_force(a->session, load_case, i);
        if (!(size > rounding)) continue;
        const hx_node_state state = hx_attached_state(a, i);
        nodes->n[state]++;
        nodes->force[state] += size;
    }
}

int hx_attached_is_floating(const hx_attached_nodes *nodes)
{
    return nodes->n[HX_NODE_MAIN] == 0 && nodes->n[HX_NODE_VOID] + nodes->n[HX_NODE_FLOATING] > 0;
}

int64_t hx_attached_count_floating(const hx_attached *a)
{
    int64_t n = 0;
    for (int64_t i = 1; i < a->pieces.n; i++) n += a->pieces.n_elem[i];
    return n;
}
