/* What the terminal shows of a run: the header, a line per iteration. */
#ifndef HX_PROGRESS_H
#define HX_PROGRESS_H

#include "../session/session.h"
#include "core/files/mesh_files.h"
#include "core/files/vtk_fields.h"
#include "stats.h"

void hx_progress_header(const hx_session *s);

/* A rewritten line with a bar on a terminal, one plain line an iteration otherwise, and for sinks.
 */
void hx_progress_iteration(const hx_session *s, const hx_stats *stats, const hx_iteration *it);

/* What a long piece of work shows: nothing for a second, then a line that a terminal rewrites. */
typedef struct hx_progress_meter {
    const char *what; /* "writing density_0010.vtk" (borrowed) */
    double begin, last;
} hx_progress_meter;

void hx_progress_begin(hx_progress_meter *meter, const char *what);

/* `share` of it is done; in the form of hx_vtk_options.progress. */
void hx_progress_share(void *meter, double share);

/* hx_vtk_write_part with a meter; with -v a line of what was written, and how fast. */
int hx_progress_write(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_fields *fields, int64_t *n_written);

/* The same of a mesh alone, in any format that can be written. */
int hx_progress_write_mesh(const char *path, const hx_mesh *mesh, const hx_mesh_format *format,
                           const hx_mesh_write_options *options);

#endif
