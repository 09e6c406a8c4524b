/* Materials of element sets on the tetrahedra inside a surface. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "element_finder.h"
#include "surface_sets.h"

/* number[e] := 1 + the entry of `materials` that an element belongs to; 0: none. */
static int number_elements(const hx_config_list *list, const hx_mesh *mesh, int32_t *number)
{
    const hx_config_material *const entry = list->entry;
    for (size_t i = 0; i < list->n; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, entry[i].set);
        if (!set) return HX_RAISE(HX_EINPUT, "%s: unknown set '%s'", entry[i].origin, entry[i].set);
        for (int64_t k = 0; k < set->n_elem; k++) number[set->elem[k]] = 1 + (int32_t)i;
    }
    return HX_OK;
}

/* Adds the tetrahedra of entry i as a set, to which the entry then refers. */
static int add_material_set(hx_surface_part *p, size_t i, const int32_t *of, int32_t *elem)
{
    const hx_mesh *const mesh = &p->mesh;
    hx_config_material *const entry = (hx_config_material *)p->cfg.materials.entry + i;
    char name[256], count[32];
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (of[e] == 1 + (int32_t)i) elem[n++] = (int32_t)e;
    HX_TRY(hx_notes_add(&p->notes, HX_NOTE_INFO, "material of set '%s': %s %s", entry->set,
                        hx_format_count(n, count, sizeof count),
                        hx_noun(n, "tetrahedron", "tetrahedra")));
    snprintf(name, sizeof name, "%.230s%s", entry->set,
             hx_mesh_find_set(mesh, entry->set) ? " (elements)" : "");
    HX_TRY(hx_strdup(&p->material_set[i], name));
    entry->set = p->material_set[i];
    return n > 0 ? hx_mesh_add_elem_set(&p->mesh, name, n, elem) : HX_OK;
}

/* Leaves out entries without tetrahedra. */
static void drop_empty(hx_surface_part *p)
{
    hx_config_material *const entry = p->cfg.materials.entry;
    size_t n = 0;
    for (size_t i = 0; i < p->cfg.materials.n; i++)
        if (hx_mesh_find_set(&p->mesh, entry[i].set)) entry[n++] = entry[i];
    p->cfg.materials.n = n;
}

/* of[], elem[]: scratch of an entry per tetrahedron. */
static int find_materials(hx_surface_part *p, const hx_element_finder *f, const int32_t *number,
                          int32_t *of, int32_t *elem)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        const int64_t at = hx_element_find(f, x);
        of[e] = at >= 0 ? number[at] : 0;
    }
    for (size_t i = 0; i < p->cfg.materials.n; i++) HX_TRY(add_material_set(p, i, of, elem));
    drop_empty(p);
    return HX_OK;
}

int hx_surface_materials_add(hx_surface_part *p, const hx_session *s)
{
    const hx_config_list *const list = &s->cfg.materials;
    const size_t n_elem = (size_t)s->mesh.n_elem, n_tet = (size_t)p->mesh.n_elem;
    hx_element_finder f = {0};
    int32_t *number = NULL, *of = NULL;
    int rc;
    if (list->n == 0) return HX_OK;
    HX_TRY_FAIL(
        hx_alloc(&p->cfg.materials.entry, list->n, sizeof(hx_config_material), "materials"));
    p->cfg.materials.n = list->n;
    memcpy(p->cfg.materials.entry, list->entry, list->n * sizeof(hx_config_material));
    HX_TRY_FAIL(hx_alloc(&p->material_set, list->n, sizeof *p->material_set, "materials"));
    p->n_material_set = list->n;
    HX_TRY_FAIL(hx_alloc(&number, n_elem, sizeof *number, "materials"));
    HX_TRY_FAIL(hx_alloc_raw(&of, n_tet, 2 * sizeof *of, "materials"));
    HX_TRY_FAIL(number_elements(list, &s->mesh, number));
    HX_TRY_FAIL(hx_element_finder_create(&f, &s->mesh));
    rc = find_materials(p, &f, number, of, of + n_tet);
fail:
    hx_element_finder_free(&f);
    free(number);
    free(of);
    return rc;
}
