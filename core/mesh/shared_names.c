/* Names that a file gives to sets of several kinds. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "mesh_internal.h"

int hx_mesh_share_name(hx_mesh *mesh, const char *name, const char *const set[HX_N_SET_KIND])
{
    HX_TRY(hx_resize(&mesh->shared, mesh->n_shared, mesh->n_shared + 1, sizeof *mesh->shared,
                     "names of sets"));
    hx_shared_name *const to = &mesh->shared[mesh->n_shared++];
    memset(to, 0, sizeof *to);
    for (int kind = 0; kind < HX_N_SET_KIND; kind++)
        if (set[kind]) HX_TRY(hx_strdup(&to->set[kind], set[kind]));
    return hx_strdup(&to->name, name);
}

const char *hx_mesh_name_for(const hx_mesh *mesh, const char *name, hx_set_use use)
{
    static const hx_set_kind order[HX_N_SET_USE][HX_N_SET_KIND] = {
        [HX_USE_NODES] = {HX_KIND_NODES, HX_KIND_CURVES, HX_KIND_FACES, HX_KIND_ELEMS},
        [HX_USE_FACES] = {HX_KIND_FACES, HX_KIND_NODES, HX_KIND_ELEMS, HX_KIND_CURVES},
        [HX_USE_ELEMS] = {HX_KIND_ELEMS, HX_KIND_FACES, HX_KIND_CURVES, HX_KIND_NODES}};
    for (size_t i = 0; name && i < mesh->n_shared; i++) {
        if (strcmp(mesh->shared[i].name, name) != 0) continue;
        for (int k = 0; k < HX_N_SET_KIND; k++)
            if (mesh->shared[i].set[order[use][k]]) return mesh->shared[i].set[order[use][k]];
    }
    return name;
}

static int compare_sets(const void *a, const void *b)
{
    const hx_set *const p = a, *const q = b;
    return strcmp(p->name, q->name);
}

void hx_mesh_sort_sets(hx_mesh *mesh)
{
    if (mesh->n_set > 1) qsort(mesh->set, mesh->n_set, sizeof *mesh->set, compare_sets);
}

void hx_mesh_free_shared(hx_mesh *mesh)
{
    for (size_t i = 0; i < mesh->n_shared; i++) {
        free(mesh->shared[i].name);
        for (int kind = 0; kind < HX_N_SET_KIND; kind++) free(mesh->shared[i].set[kind]);
    }
    free(mesh->shared);
    mesh->shared = NULL;
    mesh->n_shared = 0;
}
