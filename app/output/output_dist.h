/* Inside of the output: VTK files of a run of several processes. Each process sends its values of a
 * field to the processes that write them, and each writer writes one piece of the file. With
 * one process nothing is sent: its own values are the field. */
#ifndef HX_OUTPUT_DIST_H
#define HX_OUTPUT_DIST_H

#include <sys/stat.h>

#include "core/dist/file_pieces.h"
#include "output.h"

struct hx_output_dist {
    hx_comm alone;
    const hx_comm *writers; /* processes that write a file: all, or only process 0 */
    hx_file_pieces pieces;
    hx_vtk_piece piece; /* the piece that this process writes */
    /* coordinates of the piece, while a file of a distributed mesh is written (owned, like the
     * next) */
    double *xyz;
    int32_t *conn;
    double *own; /* [own n_elem][2]: three floats, or a double, before they are sent (owned) */
};

/* Decides which process writes which piece. Must precede the adding of fields. Collective: *rc is
 * the result of each process. */
int hx_output_dist_create(hx_output *out, int *rc);
void hx_output_dist_free(hx_output *out);

/* Replaces *hash by the sum over all processes. */
int hx_output_sum_hash(const hx_output *out, hx_hash *hash);

/* 1 if this process writes a piece of the file. */
int hx_output_is_writer(const hx_output *out);

/* Number of elements of the file that are in the fields of this process. */
int64_t hx_output_n_elem(const hx_output *out);

/* hx_output_own returns the memory in which values of the own elements are computed before
 * hx_output_bring sends them to their writer; with one process it is the data of the field itself.
 * Valid until the next call. */
void *hx_output_own(const hx_output *out, void *data);
int hx_output_bring(hx_output *out, hx_vtk_where where, size_t bytes, const void *own, void *data);

/* If the mesh is distributed: collects coordinates and elements of the piece, until
 * hx_output_leave_mesh. Collective. Takes 56 bytes per element and node of the piece. */
int hx_output_bring_mesh(hx_output *out);
void hx_output_leave_mesh(hx_output *out);

/* own[own n_elem] := a field of the design, which may be distributed or on process 0. */
int hx_output_own_design(hx_output *out, hx_design_field field, double *own);

/* output_folder.c: path[PATH_MAX] receives output.directory or, if that does not exist, the
 * existing folder in which it will be created; *status: status of that folder. HX_EENV. */
int hx_output_find_folder(const hx_config *cfg, char *path, struct stat *status);

/* output_fields.c: memory of the fields, and their values. */
int hx_output_add_fields(hx_output *out);
int hx_output_fill_fields(hx_output *out);

#endif
