/* The surface that `hextop surface` cuts from the result, in memory, as the part that is made. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../result/made_surface.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "verify.h"

/* Cells are split as long as there are at most so many tetrahedra: without --surface or --refine,
 * an analysis that nobody asked for should take seconds. */
static const double split_to = 5e4;

const char *hx_verify_made_word(size_t i)
{
    static const char *const word[HX_N_MADE] = {"auto", "yes", "no"};
    return i < HX_N_MADE ? word[i] : NULL;
}

/* A lower estimate of the tetrahedra of the surface, without cutting it: those of the solid's
 * cells, five per hexahedron. */
static double least_tetrahedra(const hx_verify *v)
{
    enum { PER_HEXAHEDRON = 5 };
    const int has_collapsed = hx_mesh_is_collapsed(&v->session.mesh);
    return (double)v->n_solid * (has_collapsed ? 1.0 : PER_HEXAHEDRON);
}

static int make_part(hx_verify *v)
{
    hx_verify_surface *const f = &v->surface;
    hx_made_surface made = {0};
    int rc = hx_made_surface_create(&made, v->result, v->config, v->n_override, v->override,
                                    v->preserve, v->threshold_given ? v->threshold : (double)NAN);
    if (rc == HX_OK)
        rc =
            hx_surface_part_create_from(&f->part, &v->session, f->path, &made.surface, &f->options);
    hx_made_surface_free(&made);
    return rc;
}

/* How a surface that is too large is analysed. */
static const char how[] = "; `--made yes` analyses it";

/* Leaves the surface out. */
static void leave_out(hx_verify *v, const char *why, const char *remedy)
{
    hx_surface_part_free(&v->surface.part);
    v->surface.path = NULL;
    v->surface.is_made = 0;
    v->surface.analysis.stresses.is_set = 0;
    snprintf(v->surface.left, sizeof v->surface.left, "%.400s%s", why, remedy);
}

int hx_verify_excuse_made(hx_verify *v, int rc)
{
    if (rc == HX_OK || rc == HX_ENOMEM || !v->surface.may_fail) return rc;
    leave_out(v, hx_error_message(), rc == HX_EENV ? how : "");
    hx_error_clear();
    return HX_OK;
}

int hx_verify_open_made(hx_verify *v, hx_verify_made_kind kind)
{
    hx_verify_surface *const f = &v->surface;
    if (kind == HX_MADE_NO || f->path) return HX_OK;
    if (hx_config_is_heat(&v->session.cfg)) {
        if (kind == HX_MADE_YES)
            return HX_RAISE(HX_EINPUT, "--made yes does not support physics = \"heat\"");
        return HX_OK;
    }
    if (kind == HX_MADE_AUTO && least_tetrahedra(v) > HX_SURFACE_ENOUGH) {
        leave_out(v, "it would take more than 300,000 tetrahedra", how);
        return HX_OK;
    }
    f->path = "surface of this result";
    f->is_made = 1;
    f->options.enough = split_to;
    f->options.most = kind == HX_MADE_AUTO ? HX_SURFACE_ENOUGH : 0.0;
    if (hx_log_is_terminal()) hx_log_status("cutting the surface and meshing what it encloses ...");
    f->may_fail = kind == HX_MADE_AUTO;
    return hx_verify_excuse_made(v, make_part(v));
}
