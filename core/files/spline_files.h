/* Files of splines as a spline and as the mesh that stands for it. */
#ifndef HX_SPLINE_FILES_H
#define HX_SPLINE_FILES_H

#include "../base/notes.h"
#include "../mesh/mesh.h"
#include "../spline/spline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A spline as its file has it, not glued: patches, the file's interfaces, named sides. HX_EINPUT,
 * with file, line and element: what the format or hx_spline_patch_make refuses. */
int hx_spline_xml_read(const char *path, hx_spline *spline, hx_notes *notes);
int hx_spline_mfem_read(const char *path, hx_spline *spline, hx_notes *notes);

/* As in hx_spline_refine; a zeroed struct leaves the spline as its file has it. */
typedef struct hx_spline_options {
    int degree, n_part;
    const int *part; /* (borrowed) */
} hx_spline_options;

/* Reads by `read`, one of those above; finds which sides are one where the file does not say it,
 * raises degrees, cuts spans, glues, and makes the image (spline_image.h). spline and mesh are the
 * caller's to free; both are empty after an error. Degrees, spans and volumes are noted; options
 * may be NULL. */
int hx_spline_file_mesh(const char *path,
                        int (*read)(const char *path, hx_spline *spline, hx_notes *notes),
                        const hx_spline_options *options, hx_spline *spline, hx_mesh *mesh,
                        hx_notes *notes);

#ifdef __cplusplus
}
#endif

#endif
