/* The part of a mesh that some rows of its matrix need: the cells of their points and the points of
 * these cells, renumbered in the same order. A matrix that exceeds the memory is made range by
 * range: each range is a small mesh whose columns ascend like those of the whole. */
#ifndef HX_ROW_RANGE_H
#define HX_ROW_RANGE_H

#include "pattern.h"

HX_C_BEGIN

typedef struct hx_row_range {
    int64_t first, n;       /* points of the mesh whose rows it contains */
    int64_t local_first;    /* the first of them in the range's own numbering */
    const hx_mesh *mesh;    /* (borrowed) */
    hx_incidence incidence; /* over the arrays below, or the mesh's */
    const double *xyz;      /* [n_point] coordinates, likewise */
    /* [n_point] their numbers in the mesh, ascending; NULL: identical numbering */
    const int32_t *point;
    const int32_t *cell;           /* [n_cell] the same for cells */
    int32_t *own_point, *own_cell; /* (owned); NULL: the range has all rows */
    int is_lent; /* 1: the next four are in the caller's memory; otherwise they are owned */
    int32_t *own_conn;
    int64_t *own_point_ptr;
    uint32_t *own_point_place;
    double *own_xyz;
} hx_row_range;

/* Makes the rows of points first .. first + n - 1 of a finished mesh. If these are all points, it
 * uses the mesh's own arrays at no cost; otherwise O(n + n_elem / 64), in parallel. places: 1 also
 * lists the points' places, in one thread. HX_ENOMEM. */
int hx_row_range_create(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                        int places);
/* Like hx_row_range_create, but everything that a device reads is placed in `memory`, which must
 * outlive the range and be 64-byte aligned. Meant for pinned memory that is reused from range to
 * range. HX_EINTERNAL: it is too small. */
int hx_row_range_create_in(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                           int places, void *memory, size_t bytes);
/* Bytes of that memory. */
size_t hx_row_range_bytes(int64_t n_cell, int64_t n_point, int places);
/* of_range[n_cell] := value[n_elem] for the range's cells. */
void hx_row_range_take(const hx_row_range *range, const double *value, double *of_range);
/* Accepts a zeroed struct. */
void hx_row_range_free(hx_row_range *range);

/* Memory cost of a range. Members named `device` count device memory, the others host memory. */
typedef struct hx_range_cost {
    int64_t device_cell, device_point, device_row, device_entry; /* bytes per item */
    int64_t host_cell, host_point, host_row, host_entry;
} hx_range_cost;

/* The largest counts over all ranges. */
typedef struct hx_range_most {
    int64_t cell, point, row, entry;
} hx_range_most;

/* Divides the rows such that no range exceeds the budgets and each is as long as possible: range k
 * is first[k] .. first[k + 1] - 1. n_entry[n_node]: blocks of each row. The caller frees *first.
 * most: NULL, or receives the sizes. HX_EINPUT: a single row exceeds a budget; the message states a
 * sufficient one. O(sum of the cells' squares). */
int hx_row_ranges_plan(const hx_mesh *mesh, const int32_t *n_entry, const hx_range_cost *cost,
                       double device_budget, double host_budget, int64_t *n_range, int64_t **first,
                       hx_range_most *most);

HX_C_END

#endif
