/* The share of each limited set that a 0/1 design or a surface contains. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/mesh/load_faces.h"
#include "verify.h"

/* Smallest share of a set with which a limit is judged. The mean over a share s differs from that
 * over the whole set by at most (1 - s) times the range of the values. Only an unloaded set that is
 * free to become void has less: a passive solid set lies on the surface completely, up to the
 * rounding of its rim. */
static const double least_share = 0.95;

/* Void conducts heat, so temperatures are defined there. The reaction of a support is a sum, which
 * its remaining part carries. */
static int counts(const hx_constraint_spec *spec)
{
    return strcmp(spec->kind->name, "displacement") == 0;
}

/* The share of boundary faces whose elements are solid and, if `held`, on a piece that something
 * holds; `some` has room for all of them. */
static double face_share(const hx_verify *v, int64_t n_face, const int64_t *face, int held,
                         int64_t *some)
{
    const hx_mesh *const mesh = &v->session.mesh;
    int64_t n = 0;
    for (int64_t f = 0; f < n_face; f++)
        if (held ? hx_attached_is_cell_held(&v->attached, face[f] / 6) : v->is_solid[face[f] / 6])
            some[n++] = face[f];
    return hx_faces_area(mesh, n, some) / hx_faces_area(mesh, n_face, face);
}

static double node_share(const hx_verify *v, const hx_set *set, int held)
{
    int64_t n = 0;
    for (int64_t k = 0; k < set->n_node; k++)
        n += held ? hx_attached_is_node_held(&v->attached, set->node[k])
                  : v->attached.node[set->node[k]] != HX_NODE_VOID;
    return (double)n / (double)set->n_node;
}

/* By area if the set has boundary faces, otherwise by nodes, as its mean. *held: of pieces that
 * something holds; *solid: of all solid elements. */
static int solid_shares(const hx_verify *v, const char *name, double *held, double *solid)
{
    const hx_mesh *const mesh = &v->session.mesh;
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    int64_t n_face = 0, *face = NULL, *some = NULL;
    int rc = HX_OK;
    *held = *solid = 1.0;
    if (!set) return HX_OK;
    if (hx_load_faces(mesh, set, &n_face, &face) != HX_OK) {
        hx_error_clear(); /* all of its faces lie inside, so its nodes count */
        n_face = 0;
        face = NULL;
    }
    if (n_face > 0) {
        HX_TRY_FAIL(hx_alloc_raw(&some, (size_t)n_face, sizeof *some, "faces of a limit"));
        *held = face_share(v, n_face, face, 1, some);
        *solid = face_share(v, n_face, face, 0, some);
    } else if (set->n_node > 0) {
        *held = node_share(v, set, 1);
        *solid = node_share(v, set, 0);
    }
fail:
    free(face);
    free(some);
    return rc;
}

static double surface_share(const hx_surface_part *part, const char *name)
{
    for (size_t i = 0; i < part->n_set; i++) {
        const hx_surface_set *const set = &part->set[i];
        if (set->by_nodes || strcmp(set->from, name) != 0) continue;
        if (set->area > 0.0) return set->found_area / set->area;
        return set->n_node > 0 ? (double)set->n_found / (double)set->n_node : 1.0;
    }
    return 1.0;
}

int hx_verify_find_shares(const hx_verify *v, hx_verify_analysis *a)
{
    const hx_limits *const limits = &v->session.limits;
    if (limits->n == 0) return HX_OK;
    HX_TRY(hx_alloc(&a->share, (size_t)limits->n, sizeof *a->share, "limits"));
    for (int i = 0; i < limits->n; i++) {
        const hx_response_params *const params = &limits->spec[i].params;
        const char *const name[2] = {params->set, params->set_2};
        a->share[i] = (hx_verify_share){NULL, 1.0, 0};
        for (int k = 0; k < 2 && counts(&limits->spec[i]); k++) {
            double share, solid;
            if (!name[k]) continue;
            HX_TRY(solid_shares(v, name[k], &share, &solid));
            const int is_loose = share < least_share && solid > share;
            if (a == &v->surface.analysis) share = surface_share(&v->surface.part, name[k]);
            if (share < least_share && share < a->share[i].value)
                a->share[i] = (hx_verify_share){name[k], share, is_loose};
        }
    }
    return HX_OK;
}

/* What the design of an analysis is called, after "is". */
static const char *place_of(const hx_verify *v, const hx_verify_analysis *a)
{
    return a == &v->surface.analysis ? "on the surface" : "solid in the 0/1 design";
}

const char *hx_verify_unknown(const hx_verify *v, const hx_verify_analysis *a, int i, char *text,
                              size_t n_text)
{
    const hx_response_params *const params = &v->session.limits.spec[i].params;
    const hx_verify_share *const share = a->share ? &a->share[i] : NULL;
    char percent[32] = "no part";
    if (share && share->value > 0.0)
        snprintf(percent, sizeof percent, "only %.3g %%", 100.0 * share->value);
    text[0] = '\0';
    if (share && share->set && share->is_loose)
        hx_fit(text, n_text,
               "%s of set '%s' is on pieces of the 0/1 design that a support, a spring or a rigid "
               "set holds",
               percent, share->set);
    else if (share && share->set)
        hx_fit(text, n_text, "%s of set '%s' is %s", percent, share->set, place_of(v, a));
    else if (isnan(a->limit[i]) && params->set)
        hx_fit(text, n_text, "no part of set '%s'%s%s%s is %s", params->set,
               params->set_2 ? " or '" : "", params->set_2 ? params->set_2 : "",
               params->set_2 ? "'" : "", place_of(v, a));
    else if (isnan(a->limit[i]))
        hx_fit(text, n_text, "it has no value there");
    return text;
}

const char *hx_verify_solid_advice(const hx_verify *v, const char *name, char *text, size_t n_text)
{
    const hx_mesh *const mesh = &v->session.mesh;
    const hx_set *const set = name ? hx_mesh_find_set(mesh, name) : NULL;
    text[0] = '\0';
    if (set && set->n_elem > 0)
        hx_fit(text, n_text, "make it solid: passive = ( { set = \"%s\"; } )", name);
    else if (set)
        hx_fit(text, n_text, "make it solid: passive = ( { set = \"%s\"; skin = %.3g; } )", name,
               mesh->elem_size);
    return text;
}
