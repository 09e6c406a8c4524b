#include "conditions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"

int hx_conditions_nodes(const hx_mesh *mesh, int64_t n, const hx_file_value *value, int32_t **node)
{
    int32_t *now = NULL; /* NULL: the mesh has the numbering of its file */
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

int hx_conditions_copy_named(hx_conditions *to, const hx_conditions *from)
{
    HX_TRY(hx_alloc(&to->load, (size_t)from->n_load, sizeof *to->load, "loads of a file"));
    HX_TRY(hx_alloc(&to->rigid, (size_t)from->n_rigid, sizeof *to->rigid, "rigid sets"));
    for (; to->n_load < from->n_load; to->n_load++) {
        hx_file_load *const load = &to->load[to->n_load];
        *load = from->load[to->n_load];
        load->set = NULL;
        HX_TRY(hx_strdup(&load->set, from->load[to->n_load].set));
    }
    for (; to->n_rigid < from->n_rigid; to->n_rigid++) {
        hx_file_rigid *const rigid = &to->rigid[to->n_rigid];
        *rigid = from->rigid[to->n_rigid];
        rigid->set = rigid->name = rigid->word = rigid->path = NULL;
        HX_TRY(hx_strdup(&rigid->set, from->rigid[to->n_rigid].set));
        HX_TRY(hx_strdup(&rigid->name, from->rigid[to->n_rigid].name));
        HX_TRY(hx_strdup(&rigid->word, from->rigid[to->n_rigid].word));
        HX_TRY(hx_strdup(&rigid->path, from->rigid[to->n_rigid].path));
    }
    HX_TRY(hx_strdup(&to->fault, from->fault));
    HX_TRY(hx_strdup(&to->support_fault, from->support_fault));
    return hx_strdup(&to->load_fault, from->load_fault);
}

int hx_file_material_add(hx_file_material *to, const char *name, const char *set,
                         const hx_material_values *of)
{
    HX_TRY(
        hx_grow(&to->other, to->n_other, &to->capacity, sizeof *to->other, "materials of a file"));
    hx_file_other_material *const other = &to->other[to->n_other++];
    *other = (hx_file_other_material){.of = *of};
    HX_TRY(hx_strdup(&other->name, name));
    return hx_strdup(&other->set, set);
}

static int is_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

int hx_material_values_equal(const hx_material_values *a, const hx_material_values *b)
{
    return is_same(a->young, b->young) && is_same(a->poisson, b->poisson) &&
           is_same(a->density, b->density) && is_same(a->conductivity, b->conductivity);
}

size_t hx_conditions_bytes(const hx_conditions *conditions)
{
    return (size_t)(conditions->n_support + conditions->n_force) * sizeof *conditions->force +
           (size_t)conditions->n_middle * sizeof *conditions->middle +
           (size_t)conditions->n_load * sizeof *conditions->load +
           (size_t)conditions->n_rigid * sizeof *conditions->rigid;
}

void hx_conditions_free(hx_conditions *conditions)
{
    free(conditions->support);
    free(conditions->force);
    free(conditions->middle);
    for (int64_t i = 0; i < conditions->n_load; i++) free(conditions->load[i].set);
    for (int64_t i = 0; i < conditions->n_rigid; i++) {
        free(conditions->rigid[i].set);
        free(conditions->rigid[i].name);
        free(conditions->rigid[i].word);
        free(conditions->rigid[i].path);
    }
    free(conditions->load);
    free(conditions->rigid);
    for (int64_t i = 0; i < conditions->n_heat; i++) free(conditions->heat[i].set);
    free(conditions->heat);
    free(conditions->heat_fault);
    free(conditions->heat_note);
    hx_unread_free(&conditions->unread);
    free(conditions->material.name);
    free(conditions->material.fault);
    for (size_t i = 0; i < conditions->material.n_other; i++) {
        free(conditions->material.other[i].name);
        free(conditions->material.other[i].set);
    }
    free(conditions->material.other);
    free(conditions->fault);
    free(conditions->support_fault);
    free(conditions->load_fault);
    memset(conditions, 0, sizeof *conditions);
}
