#include "surface_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/files/result_match.h"
#include "core/files/vtk.h"
#include "core/mesh/hex_jacobian.h"
#include "made_limits.h"

static int read_densities(hx_surface_source *source, const char *result, const hx_mesh *mesh)
{
    static const double rounding = 1e-6; /* of single precision */
    hx_result_match match;
    HX_TRY(hx_alloc(&source->rho, (size_t)mesh->n_elem, sizeof *source->rho, "densities"));
    HX_TRY(hx_result_read(result, "density", mesh, source->session.design.rho_min, 0.0, source->rho,
                          &match));
    source->n_missing = match.n_missing;
    if (source->config)
        HX_TRY(hx_result_origin_find(&source->origin, &source->session, result, &match));
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (!(source->rho[e] >= -rounding && source->rho[e] <= 1.0 + rounding))
            return HX_RAISE(HX_EINPUT, "%s: the density of element %lld is %g, not in [0, 1]",
                            result, (long long)hx_mesh_elem_number(mesh, e), source->rho[e]);
    return HX_OK;
}

static int open_with_config(hx_surface_source *source, const char *result, unsigned preserve,
                            int cuts)
{
    hx_session *s = &source->session;
    HX_TRY(hx_config_read(&s->cfg, source->config, source->n_override, source->override));
    HX_TRY(hx_session_make_mesh(s));
    s->own_element = 1 + (int)s->cfg.solver.element;
    s->cfg.solver.element = HX_ELEMENT_LINEAR; /* no linear system is solved */
    HX_TRY(hx_session_make_problem(s));
    source->mesh = &s->mesh;
    HX_TRY(read_densities(source, result, &s->mesh));
    HX_TRY(hx_part_create(&source->part, s, source->rho, source->n_missing, preserve));
    source->target = source->part.target;
    HX_TRY(
        hx_part_cut(&source->part, s, source->rho, &source->is_solid, &source->own, &source->mesh));
    return hx_part_fine_image(&source->part, s, cuts, &source->fine);
}

static int open_alone(hx_surface_source *source, const char *result, int cuts)
{
    if (cuts > 0)
        return HX_RAISE(HX_EINPUT, "--cuts needs the config that has the spline as mesh.file");
    source->mesh = &source->own;
    HX_TRY(hx_vtk_read(result, &source->own));
    HX_TRY(hx_mesh_reorder(&source->own));
    HX_TRY(hx_mesh_finish(&source->own));
    HX_TRY(read_densities(source, result, &source->own));
    for (int64_t e = 0; e < source->own.n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, source->own.xyz, source->own.conn + 8 * e);
        source->target += source->rho[e] * hx_hex_volume(&map);
    }
    return HX_OK;
}

int hx_surface_source_open(hx_surface_source *source, const char *named, const char *config,
                           unsigned preserve, int cuts)
{
    return hx_surface_source_open_with(source, named, config, 0, NULL, preserve, cuts);
}

int hx_surface_source_open_with(hx_surface_source *source, const char *named, const char *config,
                                size_t n_override, const char *const *override, unsigned preserve,
                                int cuts)
{
    memset(source, 0, sizeof *source);
    source->n_override = n_override;
    source->override = override;
    HX_TRY(hx_result_locate(&source->path, named));
    /* path: the config to use; NULL: none. */
    const char *const used = config ? config : source->path.config;
    source->config = NULL;
    HX_TRY(used && strcmp(used, "none") != 0 ? hx_strdup(&source->config, used) : HX_OK);
    const char *const result = source->path.file;
    const int rc = source->config ? open_with_config(source, result, preserve, cuts)
                                  : open_alone(source, result, cuts);
    if (rc == HX_EINPUT && source->config && !config)
        hx_error_prefix("with the config beside the result (--config none does without): ");
    return rc;
}

int hx_surface_source_field(hx_surface_source *source, hx_surface_field *field)
{
    HX_TRY(hx_fine_image_field(&source->fine, field, source->mesh, source->rho, source->is_solid));
    source->target = hx_fine_image_target(&source->fine, field, source->target);
    return hx_surface_cast_limits(field, source);
}

void hx_surface_source_free(hx_surface_source *source)
{
    free(source->rho);
    free(source->is_solid);
    hx_part_free(&source->part);
    free(source->config);
    hx_result_path_free(&source->path);
    hx_fine_image_free(&source->fine);
    hx_mesh_free(&source->own);
    hx_session_free(&source->session);
    memset(source, 0, sizeof *source);
}
