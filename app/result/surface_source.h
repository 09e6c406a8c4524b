/* Input for cutting a surface: mesh and densities of a result, and its config. */
#ifndef HX_SURFACE_SOURCE_H
#define HX_SURFACE_SOURCE_H

#include "../session/result_path.h"
#include "fine_image.h"
#include "part.h"
#include "result_origin.h"

typedef struct hx_surface_source {
    hx_result_path path; /* path of the result (owned) */
    hx_session session;  /* session of the config, if there is one (owned) */
    hx_mesh own;         /* the mesh without passive void, or that of the file (owned) */
    const hx_mesh *mesh; /* session.mesh or own */
    double *rho;         /* [mesh->n_elem] densities (owned) */
    hx_result_part part; /* from the config; zeroed without one */
    uint8_t *is_solid;   /* [mesh->n_elem] as in hx_surface_field_create() (owned) */
    char *config;        /* path of the config; NULL: none (owned) */
    size_t n_override;
    const char *const *override; /* [n_override] KEY=VALUE on top of the config (borrowed) */
    hx_result_origin origin;     /* units of the config; zeroed without one */
    /* number of elements that the file lacks because their density is below output.threshold */
    int64_t n_missing;
    double target;      /* target volume of the part: sum of density * volume */
    hx_fine_image fine; /* for a spline: the mesh from which the surface is cut (owned) */
} hx_surface_source;

/* named: as in hx_result_locate. config: a path; NULL: config.cfg beside the result, if it exists;
 * "none": no config. preserve: HX_PRESERVE_*. cuts: number of hexahedra along a span of a spline;
 * 0: by curvature. HX_EINPUT: files that cannot be read or do not belong together. */
int hx_surface_source_open(hx_surface_source *source, const char *named, const char *config,
                           unsigned preserve, int cuts);

/* Like hx_surface_source_open, with override[n_override], which must outlive the source, on top of
 * the config. */
int hx_surface_source_open_with(hx_surface_source *source, const char *named, const char *config,
                                size_t n_override, const char *const *override, unsigned preserve,
                                int cuts);

/* Makes the field from which the surface is cut, and limits the target to the volume of the field's
 * mesh. */
int hx_surface_source_field(hx_surface_source *source, hx_surface_field *field);

/* The mesh that has the sets of the part. */
static inline const hx_mesh *hx_surface_source_sets(const hx_surface_source *source)
{
    return source->config ? &source->session.mesh : source->mesh;
}

/* Accepts a zeroed or half-open source. */
void hx_surface_source_free(hx_surface_source *source);

#endif
