/* Names of a STEP file as sets of a mirrored mesh. */
#include <stdlib.h>
#include <string.h>

#include "cad_halves.h"

/* Faces and solids are found in this many tetrahedra as well as in more. */
enum { COARSE_TETS = 10000 };

static int is_numbered(const char *name)
{
    return strncmp(name, "face-", 5) == 0 || strncmp(name, "solid-", 6) == 0;
}

/* Returns 1 if the named set contains the first face or element of the numbered one. */
static int contains(const hx_set *named, const hx_set *numbered)
{
    for (int64_t i = 0; numbered->n_face > 0 && i < named->n_face; i++)
        if (named->face[i] == numbered->face[0]) return 1;
    for (int64_t i = 0; numbered->n_face == 0 && numbered->n_elem > 0 && i < named->n_elem; i++)
        if (named->elem[i] == numbered->elem[0]) return 1;
    return 0;
}

/* Adds the named set of the coarse mesh, made of the sets of the same numbers. */
static int add_named(const hx_mesh *coarse, const hx_set *named, hx_mesh *mesh)
{
    for (size_t i = 0; i < coarse->n_set; i++) {
        const hx_set *const numbered = &coarse->set[i];
        if (!is_numbered(numbered->name) || !contains(named, numbered)) continue;
        const hx_set *const set = hx_mesh_find_set(mesh, numbered->name);
        if (set && set->n_face > 0)
            HX_TRY(hx_mesh_add_face_set(mesh, named->name, set->n_face, set->face));
        else if (set && set->n_elem > 0)
            HX_TRY(hx_mesh_add_elem_set(mesh, named->name, set->n_elem, set->elem));
    }
    return HX_OK;
}

int hx_cad_add_mirrored_names(const hx_cad_job *job, const hx_cad_shape *shape, hx_mesh *mesh)
{
    hx_cad_job whole = *job;
    hx_mesh coarse = {0};
    int rc = HX_OK, has_names = 0;
    HX_TRY(hx_cad_has_names(job, &has_names));
    if (!has_names) return HX_OK;
    whole.halves = NULL;
    HX_TRY_FAIL(hx_cad_mesh(&whole, shape, hx_cad_size(shape, COARSE_TETS), &coarse));
    HX_TRY_FAIL(hx_cad_add_names(&whole, &coarse));
    for (size_t i = 0; i < coarse.n_set; i++)
        if (!is_numbered(coarse.set[i].name)) HX_TRY_FAIL(add_named(&coarse, &coarse.set[i], mesh));
    hx_cad_sort_sets(mesh);
fail:
    hx_mesh_free(&coarse);
    return rc;
}
