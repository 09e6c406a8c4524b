/* The mesh of mesh.file, and keys that apply only to CAD models. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../config/config_tree.h"
#include "core/base/memory.h"
#include "core/mesher/cad.h"
#include "mesh_input.h"
#include "session_internal.h"

static int blame_file(const hx_session *s, const char *key, const char *belongs)
{
    return hx_session_blame(s, key,
                            HX_RAISE(HX_EINPUT, "applies to %s '%s'", belongs, s->cfg.mesh.file));
}

/* HX_EINPUT: keys for splines with a mesh, or keys for meshes with a spline. */
static int check_spline_keys(const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    const char *const spline =
        "splines (.xml of G+Smo, MFEM NURBS .mesh), and this file is not a spline:";
    const char *const mesh =
        "meshes, and this file is a spline, whose interfaces connect its patches:";
    if (!hx_mesh_is_spline(cfg->mesh.file)) {
        if (cfg->mesh.degree > 0) return blame_file(s, "mesh.degree", spline);
        return cfg->mesh.refine.n > 0 ? blame_file(s, "mesh.refine", spline) : HX_OK;
    }
    if (!isnan(cfg->mesh.merge)) return blame_file(s, "mesh.merge", mesh);
    if (cfg->mesh.shuffle > 0)
        return blame_file(s, "mesh.shuffle",
                          "meshes; elements of a spline are its spans, in order:");
    for (size_t i = 0; i < cfg->mesh.refine.n; i++)
        if (cfg->mesh.refine.value[i] != floor(cfg->mesh.refine.value[i]))
            return hx_session_blame(
                s, "mesh.refine",
                HX_RAISE(HX_EINPUT, "%g parts of a span; expected whole numbers, such as [2, 2, 1]",
                         cfg->mesh.refine.value[i]));
    return HX_OK;
}

/* HX_EINPUT: an element size for a file that is a mesh, or a model in mm with a config in other
 * units. CAD kernels convert every model that has a unit to mm. */
int hx_session_check_model(const hx_session *s)
{
    const int is_cad = hx_model_is_cad(s->cfg.mesh.file);
    const hx_config *const cfg = &s->cfg;
    const char *const length = cfg->units.length + (cfg->units.length[0] == ' ');
    char unit[HX_CAD_UNIT];
    if (!is_cad && !isnan(cfg->mesh.element_size))
        return hx_session_blame(
            s, "mesh.element_size",
            HX_RAISE(HX_EINPUT, "applies to CAD models, and '%s' is a mesh", cfg->mesh.file));
    if (!is_cad && cfg->mesh.mirrored)
        return hx_session_blame(
            s, "mesh.mirrored",
            HX_RAISE(HX_EINPUT,
                     "applies to CAD models, which are cut before they are meshed, and '%s' is a "
                     "mesh; leave it out, or name the model that the mesh was made of",
                     cfg->mesh.file));
    HX_TRY(check_spline_keys(s));
    /* the model does not exist, but its mesh may be kept */
    if (!is_cad || access(cfg->mesh.file, F_OK) != 0) return HX_OK;
    HX_TRY(hx_session_blame(s, "mesh.file", hx_cad_unit(cfg->mesh.file, unit)));
    if (!unit[0] || !length[0] || strcmp(length, "mm") == 0) return HX_OK;
    return hx_session_blame(
        s, "units",
        HX_RAISE(HX_EINPUT,
                 "the unit of length is %s, but CAD models are converted to mm, such as '%s', "
                 "which is drawn in %s; write units, element_size and all other lengths in mm: "
                 "units = \"%s\"",
                 length, cfg->mesh.file, unit, hx_config_is_heat(cfg) ? "W, mm, K" : "N, mm, MPa"));
}

/* "FOLDER/mesh.msh" */
static const char *kept_in(const char *folder, size_t n_folder, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s%smesh.msh", (int)n_folder, folder,
             n_folder > 0 && folder[n_folder - 1] != '/' ? "/" : "");
    return path;
}

/* `hextop new` (a draft) mirrors a model that can be mirrored unless an argument refuses it. */
static void set_mirrored(const hx_session *s, hx_model_options *options)
{
    const hx_config *const cfg = &s->cfg;
    const hx_config_plane *const plane = cfg->optimization.symmetry.entry;
    options->mirrored = cfg->mesh.mirrored ? HX_MIRROR_ON : HX_MIRROR_OFF;
    if (s->is_draft && !hx_value_find(cfg->tree, "mesh.mirrored"))
        options->mirrored = HX_MIRROR_TRY;
    if (options->mirrored == HX_MIRROR_OFF) return;
    for (size_t i = 0; i < cfg->optimization.symmetry.n && i < HX_MOST_MIRRORS; i++) {
        hx_mirror_plane *const to = &options->plane[options->n_plane++];
        memcpy(to->point, plane[i].point, sizeof to->point);
        memcpy(to->normal, plane[i].normal, sizeof to->normal);
    }
}

int hx_session_read_file(hx_session *s)
{
    int *part;
    hx_config *const cfg = &s->cfg;
    char keep[PATH_MAX], kept[PATH_MAX];
    const char *const slash = strrchr(cfg->path, '/');
    const int is_cad = hx_model_is_cad(cfg->mesh.file);
    hx_cad_facts facts = {0};
    const hx_config_numbers *const refine = &cfg->mesh.refine;
    HX_TRY(hx_alloc(&part, refine->n, sizeof *part, "parts of spans"));
    for (size_t i = 0; i < refine->n; i++) part[i] = (int)refine->value[i];
    hx_model_options options = {
        .merge = cfg->mesh.merge,
        .spline_options = {cfg->mesh.degree, (int)cfg->mesh.refine.n, part},
        .spline = &s->spline,
        .element_size = isnan(cfg->mesh.element_size) ? 0.0 : cfg->mesh.element_size,
        .time_limit = isnan(cfg->mesh.time_limit) ? 0.0 : cfg->mesh.time_limit,
        .keep = kept_in(cfg->output.directory, strlen(cfg->output.directory), keep),
        .kept = kept_in(cfg->path, slash ? (size_t)(slash - cfg->path) + 1 : 0, kept),
        .units = cfg->units.system,
        .facts = &facts};
    if (is_cad) set_mirrored(s, &options);
    const int rc = hx_input_read(cfg->mesh.file, &options, &s->mesh, &s->conditions);
    free(part);
    if (rc < 0 && is_cad && access(cfg->mesh.file, F_OK) != 0)
        return hx_session_blame(s, "mesh.file", rc);
    if (rc < 0 && facts.is_uneven) return hx_session_blame(s, "mesh.mirrored", rc);
    HX_TRY(rc);
    if (facts.n_mirror > 0) cfg->mesh.mirrored = 1;
    s->n_mirror = facts.n_mirror;
    memcpy(s->mirror, facts.mirror, sizeof s->mirror);
    /* the resolved config then repeats the run */
    if (is_cad) cfg->mesh.element_size = facts.element_size;
    return HX_OK;
}
