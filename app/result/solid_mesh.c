#include "solid_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

/* Maps from the whole mesh to the part; -1: the node or element is not in the part. */
typedef struct maps {
    const hx_mesh *mesh;    /* the whole (borrowed) */
    int32_t *node, *elem;   /* [n_node], [n_elem] (owned) */
    int64_t n_node, n_elem; /* of the part */
} maps;

/* Numbers nodes and elements of the part, and fills both maps. */
static int number_part(hx_solid_mesh *solid, maps *to, const uint8_t *is_kept)
{
    const hx_mesh *mesh = to->mesh;
    HX_TRY(hx_alloc_raw(&solid->node, (size_t)mesh->n_node, sizeof *solid->node, "solid part"));
    HX_TRY(hx_alloc_raw(&solid->elem, (size_t)mesh->n_elem, sizeof *solid->elem, "solid part"));
    for (int64_t a = 0; a < mesh->n_node; a++) to->node[a] = -1;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        to->elem[e] = is_kept[e] ? (int32_t)to->n_elem : -1;
        if (!is_kept[e]) continue;
        solid->elem[to->n_elem++] = (int32_t)e;
        for (int a = 0; a < 8; a++) to->node[mesh->conn[8 * e + a]] = 0;
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (to->node[a] < 0) continue;
        solid->node[to->n_node] = (int32_t)a;
        to->node[a] = (int32_t)to->n_node++;
    }
    return HX_OK;
}

static int copy_mesh(hx_solid_mesh *solid, const maps *to)
{
    const hx_mesh *mesh = to->mesh;
    const int64_t n_node = to->n_node, n_elem = to->n_elem;
    double *xyz = NULL;
    int32_t *conn = NULL;
    HX_TRY(hx_alloc_raw(&xyz, (size_t)n_node, 3 * sizeof *xyz, "solid part"));
    const int rc = hx_alloc_raw(&conn, (size_t)n_elem, 8 * sizeof *conn, "solid part");
    if (rc < 0) {
        free(xyz);
        return rc;
    }
    for (int64_t a = 0; a < n_node; a++)
        memcpy(xyz + 3 * a, mesh->xyz + 3 * (int64_t)solid->node[a], 3 * sizeof *xyz);
    for (int64_t k = 0; k < 8 * n_elem; k++)
        conn[k] = to->node[mesh->conn[8 * (int64_t)solid->elem[k / 8] + k % 8]];
    HX_TRY(hx_mesh_create(&solid->mesh, mesh->name, n_node, xyz, n_elem, conn));
    if (mesh->volume) {
        HX_TRY(hx_alloc_raw(&solid->mesh.volume, (size_t)n_elem, sizeof *mesh->volume, "volumes"));
        for (int64_t e = 0; e < n_elem; e++) solid->mesh.volume[e] = mesh->volume[solid->elem[e]];
    }
    return hx_middles_copy(&solid->mesh.middles, &mesh->middles, to->node);
}

/* Copies original numbers: sets orig[n] and the file's numbers of the part from those of the whole
 * mesh. */
static int copy_numbers(int64_t n_whole, const int32_t *whole_orig, const hx_numbers *whole,
                        const int32_t *new_number, int64_t n, int64_t first, int32_t **orig,
                        hx_numbers *numbers)
{
    int32_t *at = NULL, place = 0;
    int rc;
    HX_TRY_FAIL(hx_mesh_invert(n_whole, whole_orig, &at));
    HX_TRY_FAIL(hx_alloc_raw(orig, (size_t)n, sizeof **orig, "solid part"));
    for (int64_t i = 0; i < n_whole; i++) {
        const int32_t now = new_number[at ? at[i] : i];
        const int64_t number = whole->n > 0 ? hx_numbers_get(whole, i) : i + first;
        if (now < 0) continue;
        (*orig)[now] = place++;
        HX_TRY_FAIL(hx_numbers_append(numbers, 1, &number));
    }
    rc = HX_OK;
fail:
    free(at);
    return rc;
}

static int copy_rule(hx_mesh *mesh, const hx_set *from)
{
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, from->name) == 0)
            return hx_set_combine(&mesh->set[i], from->rule, from->n_part,
                                  (const char *const *)from->part);
    return HX_OK;
}

/* Copies the part of a set: its faces if it has faces, otherwise its nodes; for a combined set
 * both. */
static int copy_set(hx_solid_mesh *solid, const hx_set *set, const maps *to)
{
    int32_t *node = NULL;
    int64_t *face = NULL, n = 0;
    int rc;
    if (set->n_face > 0) {
        HX_TRY_FAIL(hx_alloc_raw(&face, (size_t)set->n_face, sizeof *face, "solid part"));
        for (int64_t i = 0; i < set->n_face; i++)
            if (to->elem[set->face[i] / 6] >= 0)
                face[n++] = 6 * (int64_t)to->elem[set->face[i] / 6] + set->face[i] % 6;
        HX_TRY_FAIL(hx_mesh_add_face_set(&solid->mesh, set->name, n, face));
    }
    n = 0;
    if (set->n_face == 0 || set->rule != HX_SET_PLAIN) {
        HX_TRY_FAIL(hx_alloc_raw(&node, (size_t)set->n_node, sizeof *node, "solid part"));
        for (int64_t i = 0; i < set->n_node; i++)
            if (to->node[set->node[i]] >= 0) node[n++] = to->node[set->node[i]];
        HX_TRY_FAIL(hx_mesh_add_node_set(&solid->mesh, set->name, n, node));
    }
    for (int64_t i = 0; i < set->n_middle; i++) {
        const int32_t end[2] = {to->node[set->middle[2 * i]], to->node[set->middle[2 * i + 1]]};
        if (end[0] >= 0 && end[1] >= 0)
            HX_TRY_FAIL(hx_mesh_add_middle_set(&solid->mesh, set->name, 1, end));
    }
    if (set->rule != HX_SET_PLAIN) HX_TRY_FAIL(copy_rule(&solid->mesh, set));
    rc = HX_OK;
fail:
    free(node);
    free(face);
    return rc;
}

/* Copies the file's values at nodes of the part; orig[] has their places in the file. */
static int copy_values(const hx_mesh *mesh, int64_t n, const hx_file_value *from,
                       const int32_t *new_node, const int32_t *orig, int64_t *n_to,
                       hx_file_value **to)
{
    int32_t *node = NULL;
    HX_TRY(hx_conditions_nodes(mesh, n, from, &node));
    const int rc = hx_alloc_raw(to, (size_t)n, sizeof **to, "solid part");
    for (int64_t i = 0; rc == HX_OK && i < n; i++) {
        if (new_node[node[i]] < 0) continue;
        (*to)[*n_to] = from[i];
        (*to)[(*n_to)++].node = orig[new_node[node[i]]];
    }
    free(node);
    return rc;
}

static int copy_middles(hx_solid_mesh *solid, const hx_conditions *from, const maps *to)
{
    int32_t *end = NULL;
    HX_TRY(hx_conditions_ends(to->mesh, from->n_middle, from->middle, &end));
    const int rc = hx_alloc_raw(&solid->conditions.middle, (size_t)from->n_middle,
                                sizeof *from->middle, "solid part");
    for (int64_t i = 0; rc == HX_OK && i < from->n_middle; i++) {
        const int32_t now[2] = {to->node[end[2 * i]], to->node[end[2 * i + 1]]};
        if (now[0] < 0 || now[1] < 0) continue;
        hx_file_middle *const middle = &solid->conditions.middle[solid->conditions.n_middle++];
        *middle = from->middle[i];
        for (int k = 0; k < 2; k++) middle->end[k] = solid->mesh.node_orig[now[k]];
    }
    free(end);
    return rc;
}

int hx_solid_mesh_create(hx_solid_mesh *solid, const hx_mesh *mesh, const hx_conditions *conditions,
                         const uint8_t *is_kept, int64_t first)
{
    maps to = {.mesh = mesh};
    int rc;
    memset(solid, 0, sizeof *solid);
    HX_TRY_FAIL(hx_alloc_raw(&to.node, (size_t)mesh->n_node, sizeof *to.node, "solid part"));
    HX_TRY_FAIL(hx_alloc_raw(&to.elem, (size_t)mesh->n_elem, sizeof *to.elem, "solid part"));
    HX_TRY_FAIL(number_part(solid, &to, is_kept));
    const hx_mesh *from = to.mesh;
    HX_TRY_FAIL(copy_mesh(solid, &to));
    for (size_t i = 0; i < from->n_set; i++) HX_TRY_FAIL(copy_set(solid, &from->set[i], &to));
    HX_TRY_FAIL(copy_numbers(from->n_node, from->node_orig, &from->node_number, to.node, to.n_node,
                             first, &solid->mesh.node_orig, &solid->mesh.node_number));
    HX_TRY_FAIL(copy_numbers(from->n_elem, from->elem_orig, &from->elem_number, to.elem, to.n_elem,
                             first, &solid->mesh.elem_orig, &solid->mesh.elem_number));
    if (conditions) {
        hx_conditions *const own = &solid->conditions;
        const int32_t *const orig = solid->mesh.node_orig;
        own->n_case = conditions->n_case;
        own->is_second_order = conditions->is_second_order;
        HX_TRY_FAIL(copy_middles(solid, conditions, &to));
        HX_TRY_FAIL(hx_conditions_copy_named(own, conditions));
        HX_TRY_FAIL(copy_values(to.mesh, conditions->n_support, conditions->support, to.node, orig,
                                &own->n_support, &own->support));
        HX_TRY_FAIL(copy_values(to.mesh, conditions->n_force, conditions->force, to.node, orig,
                                &own->n_force, &own->force));
    }
    HX_TRY_FAIL(hx_mesh_finish(&solid->mesh));
fail:
    free(to.node);
    free(to.elem);
    if (rc < 0) hx_solid_mesh_free(solid);
    return rc;
}

void hx_solid_mesh_free(hx_solid_mesh *solid)
{
    hx_conditions_free(&solid->conditions);
    hx_mesh_free(&solid->mesh);
    free(solid->node);
    free(solid->elem);
    memset(solid, 0, sizeof *solid);
}
