/* VTK files of a run that several processes share: each brings what it has of a field to those that
 * write it, and writes a piece of the file. The leader says when; in one process nothing is said,
 * brought or shared, and own values are the field. Besides: inside of the output. */
#ifndef HX_OUTPUT_RANKS_H
#define HX_OUTPUT_RANKS_H

#include "core/ranks/file_pieces.h"
#include "output.h"

struct hx_output_ranks {
    hx_team alone;
    const hx_team *writers; /* of a file: all, or the leader alone */
    hx_file_pieces pieces;
    hx_vtk_piece piece; /* this process' */
    double *xyz;        /* of it, while a file of a window is written (owned, like the next) */
    int32_t *conn;
    double *own; /* [own n_elem][2]: three floats, or a double, before it is brought (owned) */
};

/* What the leader calls for: hx_ranks_call.what. */
enum {
    HX_OUTPUT_TAKE = HX_RANKS_OTHER,
    HX_OUTPUT_WRITE,
    HX_OUTPUT_BEGIN_TRACE, /* trace.h */
    HX_OUTPUT_WRITE_TRACE
};

/* In a follower: the leader's calls are answered from here on, until hx_output_free. *out must not
 * move. */
void hx_output_follow(hx_output *out, hx_session *s);

/* What the leader's functions of output.h do in all processes together. The followers' path and
 * title are NULL. */
int hx_output_take_share(hx_output *out);
int hx_output_write_share(hx_output *out, int iteration, const char *path, int is_synced);

/* By the leader: the others do the same. */
int hx_output_tell(hx_output *out, int32_t what);

/* Who writes which piece, before the fields are added. By all processes: *rc of each is its own. */
int hx_output_ranks_create(hx_output *out, int *rc);
void hx_output_ranks_free(hx_output *out);

/* Every process' rc becomes that of all. */
int hx_output_agree(const hx_output *out, int rc);

/* rc of what is to succeed in all or not at all: a failure in one alone leaves them at odds. */
int hx_output_judge(hx_output *out, int rc);

/* The leader's bytes to all. */
int hx_output_spread(const hx_output *out, void *data, size_t bytes);

/* *hash := the sum over all. */
int hx_output_sum_hash(const hx_output *out, hx_hash *hash);

/* 1 if this process writes a piece of the file. */
int hx_output_is_writer(const hx_output *out);

/* Elements of the file that this process has in its fields. */
int64_t hx_output_n_elem(const hx_output *out);

/* Where values of the own elements are computed before hx_output_bring: in one process the field's
 * data itself. Until the next call. */
void *hx_output_own(const hx_output *out, void *data);
int hx_output_bring(hx_output *out, hx_vtk_where where, size_t bytes, const void *own, void *data);

/* Where the mesh is a window: coordinates and elements of the piece, until they are left.
 * Collective. 56 bytes an element and node of it. */
int hx_output_bring_mesh(hx_output *out);
void hx_output_leave_mesh(hx_output *out);

/* own[own n_elem]: a field of the design, wherever that lies. */
int hx_output_own_design(hx_output *out, hx_design_field field, double *own);

/* output_fields.c: memory, and values. */
int hx_output_add_fields(hx_output *out);
int hx_output_fill_fields(hx_output *out);

#endif
