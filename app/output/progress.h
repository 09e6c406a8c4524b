/* Output of a run on the terminal: a header, and one line per iteration. */
#ifndef HX_PROGRESS_H
#define HX_PROGRESS_H

#include "../session/session.h"
#include "core/files/mesh_files.h"
#include "core/files/vtk_fields.h"
#include "stats.h"

void hx_progress_header(const hx_session *s);

/* Prints a line per limit, one about zones without stress limits, and why filter and update are not
 * the usual ones. lead: indentation. */
void hx_progress_limits(const hx_session *s, const char *lead);
void hx_progress_choices(const hx_session *s, const char *lead);

/* Shows an iteration. A terminal shows a line with a bar, which is rewritten; otherwise, and for
 * sinks, it is a plain line. */
void hx_progress_iteration(const hx_session *s, const hx_stats *stats, const hx_iteration *it);

/* Progress of a long task: nothing during the first second, then a line that is rewritten on a
 * terminal. */
typedef struct hx_progress_meter {
    const char *what; /* "writing density_0010.vtk" (borrowed) */
    double begin, last;
} hx_progress_meter;

void hx_progress_begin(hx_progress_meter *meter, const char *what);

/* Reports that the fraction `share` is done; context: the hx_progress_meter. Has the type of
 * hx_vtk_options.progress. */
void hx_progress_share(void *context, double share);

/* hx_vtk_write_part with a progress line; with -v also prints the size and speed. */
int hx_progress_write(const char *path, const hx_mesh *mesh, const char *title,
                      const hx_vtk_options *options, const hx_fields *fields, int64_t *n_written);

/* Writes a mesh without fields, in any format that can be written, with a progress line. */
int hx_progress_write_mesh(const char *path, const hx_mesh *mesh, const hx_mesh_format *format,
                           const hx_mesh_write_options *options);

#endif
