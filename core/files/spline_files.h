/* Reading of spline files, as a spline and as the mesh that represents it. */
#ifndef HX_SPLINE_FILES_H
#define HX_SPLINE_FILES_H

#include "../base/c_linkage.h"
#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../spline/spline.h"

HX_C_BEGIN

/* Reads a spline as its file states it, without gluing: patches, the file's interfaces, named
 * sides. HX_EINPUT, with file, line and element: the format or hx_spline_patch_make refuses the
 * data. */
int hx_spline_xml_read(const char *path, hx_spline *spline, hx_notes *notes);
int hx_spline_mfem_read(const char *path, hx_spline *spline, hx_notes *notes);

/* Like the arguments of hx_spline_refine; a zeroed struct leaves the spline unrefined. */
typedef struct hx_spline_options {
    int degree, n_part;
    const int *part; /* (borrowed) */
} hx_spline_options;

/* Reads with `read`, one of the functions above; finds coincident sides if the file does not state
 * them, raises degrees, subdivides spans, glues the patches, and makes the image (spline_image.h).
 * The caller frees spline and mesh; both are empty after an error. Degrees, spans and volumes are
 * noted; options may be NULL. */
int hx_spline_file_mesh(const char *path,
                        int (*read)(const char *path, hx_spline *spline, hx_notes *notes),
                        const hx_spline_options *options, hx_spline *spline, hx_mesh *mesh,
                        hx_notes *notes);

HX_C_END

#endif
