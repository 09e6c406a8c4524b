/* Saves the current design when the run cannot continue. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/files/vtk.h"
#include "output.h"

/* out->whole := the densities, on the first process. Collective. */
static int fetch_density(const hx_output *out)
{
    const hx_session *const s = out->session;
    if (s->mesh.ownership)
        return HX_RAISE(HX_EENV,
                        "no process has the whole mesh, so the design cannot be saved elsewhere");
    return hx_optimizer_density(&s->opt, out->whole);
}

static int write_density(const hx_output *out, const char *path)
{
    const hx_vtk_field density = {"density", HX_VTK_CELL, HX_VTK_F64, 1, out->whole};
    return hx_vtk_write(path, &out->session->mesh, "hextop, design of a run that failed",
                        out->format, &density, 1);
}

int hx_output_rescue(const hx_output *out, int iteration)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "unfinished_%04d.vtk", iteration);
    HX_TRY(fetch_density(out));
    hx_output_path(out, name, path, sizeof path);
    return hx_session_agree(out->session,
                            hx_session_is_first(out->session) ? write_density(out, path) : HX_OK);
}

/* The last component of output.directory. */
static void run_name(const hx_output *out, char *name, size_t n_name)
{
    size_t end = strlen(out->directory);
    while (end > 0 && out->directory[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && out->directory[begin - 1] != '/') begin--;
    snprintf(name, n_name, "%.*s", (int)(end - begin), out->directory + begin);
}

/* Saves the design in a new folder with an unpredictable name, since other users can also write to
 * /tmp. */
static int save_in(const hx_output *out, const char *place, int iteration, char *path)
{
    char folder[PATH_MAX], name[128];
    run_name(out, name, sizeof name);
    const int n = snprintf(folder, sizeof folder, "%s/hextop-%s-XXXXXX", place, name);
    if (n >= PATH_MAX - 32) return HX_RAISE(HX_EIO, "%s: the path is too long", place);
    if (!mkdtemp(folder))
        return HX_RAISE(HX_EIO, "%s: cannot create a folder there: %s", place, strerror(errno));
    snprintf(path, PATH_MAX, "%.*s/density_%04d.vtk", n, folder, iteration);
    const int rc = write_density(out, path);
    if (rc < 0) rmdir(folder);
    return rc;
}

/* Tries one place after another. */
static int save_somewhere(const hx_output *out, int iteration, char *path)
{
    const char *const place[] = {getenv("TMPDIR"), "/tmp", getenv("HOME")};
    int rc = HX_RAISE(HX_EIO, "no other place is known");
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++) {
        if (!place[i] || !place[i][0]) continue;
        rc = save_in(out, place[i], iteration, path);
        if (rc != HX_EIO) break;
    }
    return rc;
}

int hx_output_save_elsewhere(const hx_output *out, int iteration, char *path)
{
    HX_TRY(fetch_density(out));
    return hx_session_agree(out->session, hx_session_is_first(out->session)
                                              ? save_somewhere(out, iteration, path)
                                              : HX_OK);
}
