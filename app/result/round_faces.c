#include "round_faces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "core/mesher/face_fit.h"

/* Distance of a node from the seat, relative to its radius. */
static const double exact = 1e-6;

static int holds_nodes(const hx_surface_seat *seat, const hx_mesh *mesh, const hx_set *set)
{
    for (int64_t i = 0; i < set->n_node; i++) {
        double radial[3];
        for (int d = 0; d < 3; d++)
            radial[d] = mesh->xyz[3 * (int64_t)set->node[i] + d] - seat->center[d];
        const double height = hx_dot3(radial, seat->axis);
        for (int d = 0; d < 3; d++) radial[d] -= height * seat->axis[d];
        if (!(fabs(hx_norm3(radial) - seat->radius) <= exact * seat->radius)) return 0;
    }
    return 1;
}

int hx_surface_find_seats(const hx_mesh *mesh, int64_t *n, hx_surface_seat **seat)
{
    *n = 0;
    *seat = NULL;
    HX_TRY(hx_alloc(seat, mesh->n_set, sizeof **seat, "round faces"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        hx_face_shape shape;
        if (set->n_face == 0) continue;
        HX_TRY(hx_face_fit_smooth(mesh, set, &shape));
        if (shape.kind != HX_FACE_CYLINDER && shape.kind != HX_FACE_SPHERE) continue;
        hx_surface_seat here = {.is_sphere = shape.kind == HX_FACE_SPHERE, .radius = shape.radius};
        memcpy(here.center, shape.center, sizeof here.center);
        if (!here.is_sphere) memcpy(here.axis, shape.axis, sizeof here.axis);
        if (holds_nodes(&here, mesh, set)) (*seat)[(*n)++] = here;
    }
    return HX_OK;
}

int hx_surface_finish(hx_surface *surface, const hx_surface_field *field, const hx_mesh *mesh,
                      int n_step, double chord, int64_t *n_seat)
{
    int64_t n, n_added;
    hx_surface_seat *seat;
    int rc = hx_surface_find_seats(mesh, &n, &seat);
    if (rc == HX_OK) rc = hx_surface_improve(surface, field, n_step, n, seat);
    if (rc == HX_OK && chord > 0.0) rc = hx_surface_limit_chords(surface, n, seat, chord, &n_added);
    if (n_seat) *n_seat = n;
    free(seat);
    return rc;
}
