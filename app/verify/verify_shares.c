/* The share of each limited set that a 0/1 design or a surface contains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/design/stress_limit.h"
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

static double face_share(const hx_verify *v, int64_t n_face, const int64_t *face, int64_t *solid)
{
    const hx_mesh *const mesh = &v->session.mesh;
    int64_t n = 0;
    for (int64_t f = 0; f < n_face; f++)
        if (v->is_solid[face[f] / 6]) solid[n++] = face[f];
    return hx_faces_area(mesh, n, solid) / hx_faces_area(mesh, n_face, face);
}

/* By area if the set has boundary faces, otherwise by nodes, as its mean. */
static int solid_share(const hx_verify *v, const char *name, double *share)
{
    const hx_mesh *const mesh = &v->session.mesh;
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    int64_t n_face = 0, *face = NULL, *solid = NULL, n_solid = 0;
    int rc = HX_OK;
    *share = 1.0;
    if (!set) return HX_OK;
    if (hx_load_faces(mesh, set, &n_face, &face) != HX_OK) {
        hx_error_clear(); /* all of its faces lie inside, so its nodes count */
        n_face = 0;
        face = NULL;
    }
    if (n_face > 0) {
        HX_TRY_FAIL(hx_alloc_raw(&solid, (size_t)n_face, sizeof *solid, "faces of a limit"));
        *share = face_share(v, n_face, face, solid);
    } else if (set->n_node > 0) {
        for (int64_t k = 0; k < set->n_node; k++)
            n_solid += v->attached.node[set->node[k]] != HX_NODE_VOID;
        *share = (double)n_solid / (double)set->n_node;
    }
fail:
    free(face);
    free(solid);
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
        a->share[i] = (hx_verify_share){NULL, 1.0};
        for (int k = 0; k < 2 && counts(&limits->spec[i]); k++) {
            double share = 1.0;
            if (!name[k]) continue;
            if (a == &v->surface.analysis)
                share = surface_share(&v->surface.part, name[k]);
            else
                HX_TRY(solid_share(v, name[k], &share));
            if (share < least_share && share < a->share[i].value)
                a->share[i] = (hx_verify_share){name[k], share};
        }
    }
    return HX_OK;
}

/* What the design of an analysis is called, after "is". */
static const char *place_of(const hx_verify *v, const hx_verify_analysis *a)
{
    return a == &v->surface.analysis ? "on the surface" : "solid in the 0/1 design";
}

int hx_verify_is_stress_on_surface(const hx_verify *v, const hx_verify_analysis *a, int i)
{
    return a == &v->surface.analysis && v->session.limits.spec[i].kind == &hx_response_stress;
}

const char *hx_verify_unknown(const hx_verify *v, const hx_verify_analysis *a, int i, char *text,
                              size_t n_text)
{
    const hx_response_params *const params = &v->session.limits.spec[i].params;
    const hx_verify_share *const share = a->share ? &a->share[i] : NULL;
    text[0] = '\0';
    if (hx_verify_is_stress_on_surface(v, a, i))
        hx_fit(text, n_text, "stresses are not judged on the surface");
    else if (share && share->set && share->value > 0.0)
        hx_fit(text, n_text, "only %.3g %% of set '%s' is %s", 100.0 * share->value, share->set,
               place_of(v, a));
    else if (share && share->set)
        hx_fit(text, n_text, "no part of set '%s' is %s", share->set, place_of(v, a));
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
