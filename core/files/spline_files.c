#include "spline_files.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/names.h"
#include "../spline/spline_glue.h"
#include "../spline/spline_image.h"
#include "../spline/spline_refine.h"
#include "../spline/spline_turn.h"

/* Finds coincident sides. They are glued if the file states no interfaces; otherwise they are only
 * noted. */
static int find_interfaces(const char *path, hx_spline *spline, hx_notes *notes)
{
    int n;
    const int n_known = spline->n_interface;
    char a[40], b[40];
    HX_TRY(hx_spline_find_interfaces(spline, &n));
    if (n == 0) return HX_OK;
    if (n_known == 0)
        return hx_notes_add(
            notes, HX_NOTE_INFO,
            "%s: the file lists no interfaces: %d pair%s of coincident sides %s glued", path, n,
            n == 1 ? "" : "s", n == 1 ? "is" : "are");
    spline->n_interface = n_known;
    const hx_spline_interface *const first = &spline->interface[n_known];
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "%s: %d pair%s of sides, first %s and %s, coincide%s but are in no "
                        "interface of the file: they stay separate, like the sides of a crack",
                        path, n, n == 1 ? "" : "s",
                        hx_spline_side_name(spline, first->a, a, sizeof a),
                        hx_spline_side_name(spline, first->b, b, sizeof b), n == 1 ? "s" : "");
}

static int make_spline_mesh(const char *path, const hx_spline_options *options, hx_spline *spline,
                            hx_mesh *mesh, hx_notes *notes)
{
    HX_TRY(find_interfaces(path, spline, notes));
    /* reverse left-handed patches */
    int n;
    HX_TRY(hx_spline_turn(spline, &n));
    if (n != 0)
        HX_TRY(hx_notes_add(
            notes, HX_NOTE_INFO,
            "%s: %d of %d %s %s left-handed and read with w reversed; sides keep their names", path,
            n, spline->n_patch, hx_noun(spline->n_patch, "patch", "patches"),
            n == 1 ? "is" : "are"));
    if (options) HX_TRY(hx_spline_refine(spline, options->degree, options->n_part, options->part));
    HX_TRY(hx_spline_glue(spline));
    return hx_spline_image(spline, path, mesh);
}

static int note(const char *path, const hx_spline *spline, const hx_mesh *mesh, hx_notes *notes)
{
    char text[120];
    double image, exact;
    hx_spline_image_volumes(mesh, &image, &exact);
    return hx_notes_add(notes, HX_NOTE_INFO,
                        "%s: %s, volume %.9g (%.9g for the hexahedra that represent the spans)",
                        path, hx_spline_text(spline, text, sizeof text), exact, image);
}

int hx_spline_file_mesh(const char *path,
                        int (*read)(const char *path, hx_spline *spline, hx_notes *notes),
                        const hx_spline_options *options, hx_spline *spline, hx_mesh *mesh,
                        hx_notes *notes)
{
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(read(path, spline, notes));
    int rc = make_spline_mesh(path, options, spline, mesh, notes);
    if (rc == HX_EINPUT) hx_error_prefix("%s: ", path);
    if (rc == HX_OK) rc = note(path, spline, mesh, notes);
    if (rc == HX_OK) return HX_OK;
    hx_mesh_free(mesh);
    hx_spline_free(spline);
    return rc;
}
