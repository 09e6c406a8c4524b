/* Zones without limits on stresses: on the design's mesh, and on the tetrahedra of the surface, whose
 * footprint on a held face may be a piece of that face, with an edge where stresses grow without
 * bound. */
#include "../result/element_finder.h"
#include "core/base/memory.h"
#include "verify.h"

int hx_verify_mark_zones(const hx_verify *v, uint8_t *is_zone)
{
    const hx_session *const s = &v->session;
    for (int i = 0; i < s->n_zone; i++) {
        const hx_set *const set = hx_mesh_find_set(&s->mesh, s->zone[i]);
        for (int64_t k = 0; set && k < set->n_elem; k++) is_zone[set->elem[k]] = 1;
    }
    return s->n_zone;
}

int hx_verify_surface_elements(const hx_verify *v, int32_t *elem)
{
    const hx_mesh *const mesh = &v->session.mesh, *const cut = &v->surface.part.mesh;
    hx_element_finder finder = {0};
    const int rc = hx_element_finder_create(&finder, mesh);
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t t = 0; t < cut->n_elem; t++) {
        double x[3];
        if (rc < 0) continue;
        hx_mesh_centroid(cut, t, x);
        elem[t] = (int32_t)hx_element_find(&finder, x);
    }
    hx_element_finder_free(&finder);
    return rc;
}

int hx_verify_surface_zones(hx_verify *v, const uint8_t *is_zone, const int32_t *elem,
                            const double *volume, const uint8_t *is_sharp, uint8_t *is_zone_tet)
{
    hx_verify_surface *const f = &v->surface;
    const hx_surface_part *const part = &f->part;
    double inside = 0.0, all = 0.0;
    for (int64_t t = 0; t < part->mesh.n_elem; t++)
        is_zone_tet[t] = elem[t] >= 0 && is_zone[elem[t]];
    HX_TRY(hx_stress_zones_mark(&part->cfg, &part->mesh, &part->conditions, v->session.zones.radius,
                                is_zone_tet));
    HX_TRY(hx_verify_mark_edges(v, is_sharp, is_zone_tet));
    f->n_zone = 0;
    for (int64_t t = 0; t < part->mesh.n_elem; t++) {
        f->n_zone += is_zone_tet[t];
        inside += is_zone_tet[t] ? volume[t] : 0.0;
        all += volume[t];
    }
    f->zone_share = all > 0.0 ? inside / all : 0.0;
    return HX_OK;
}
