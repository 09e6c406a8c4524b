/* The part of a mesh that some rows of its matrix need: the cells of their points and these cells'
 * points, numbered anew in the same order. A matrix larger than the memory is made range by range:
 * each is a small mesh of its own, and its columns ascend as the whole's do. */
#ifndef HX_ROW_RANGE_H
#define HX_ROW_RANGE_H

#include "pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_row_range {
    int64_t first, n;       /* points of the mesh whose rows it is */
    int64_t local_first;    /* the first of them in the range's own numbers */
    const hx_mesh *mesh;    /* (borrowed) */
    hx_incidence incidence; /* of the arrays below, or the mesh's */
    const double *xyz;      /* [n_point][3] likewise */
    const int32_t *point;   /* [n_point] their numbers in the mesh, ascending; NULL: the same */
    const int32_t *cell;    /* [n_cell] likewise */
    int32_t *own_point, *own_cell; /* (owned); NULL: all rows */
    int is_lent;                   /* the next four lie in the caller's memory; else (owned) */
    int32_t *own_conn;
    int64_t *own_point_ptr;
    uint32_t *own_point_place;
    double *own_xyz;
} hx_row_range;

/* Rows of points first .. first + n - 1 of a finished mesh. All of them: the mesh's own arrays, at
 * no cost. Else O(n + n_elem / 64), in parallel. places: 1 lists the points' places too, in one
 * thread. HX_ENOMEM. */
int hx_row_range_create(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                        int places);
/* The same, with what a device reads of it in `memory`, which outlives it and is 64-byte aligned:
 * memory that is pinned, and kept from range to range. HX_EINTERNAL: it is too small. */
int hx_row_range_create_in(hx_row_range *range, const hx_mesh *mesh, int64_t first, int64_t n,
                           int places, void *memory, size_t bytes);
/* Bytes of such memory. */
size_t hx_row_range_bytes(int64_t n_cell, int64_t n_point, int places);
/* of_range[n_cell] := value[n_elem] of the range's cells. */
void hx_row_range_take(const hx_row_range *range, const double *value, double *of_range);
/* Accepts a zeroed struct. */
void hx_row_range_free(hx_row_range *range);

/* Bytes that a range takes; those that `device` counts are in its memory, the others in the host's.
 */
typedef struct hx_range_cost {
    int64_t device_cell, device_point, device_row, device_entry; /* bytes of each */
    int64_t host_cell, host_point, host_row, host_entry;
} hx_range_cost;

/* The largest numbers in any range. */
typedef struct hx_range_most {
    int64_t cell, point, row, entry;
} hx_range_most;

/* Divides the rows so that no range takes more than the budgets, each range as long as it can be:
 * ranges are first[k] .. first[k + 1] - 1. n_entry[n_node]: blocks of each row. *first is the
 * caller's to free. most: NULL, or how large they are. HX_EINPUT: a row alone takes more; says what
 * would do. O(sum of the cells' squares). */
int hx_row_ranges_plan(const hx_mesh *mesh, const int32_t *n_entry, const hx_range_cost *cost,
                       double device_budget, double host_budget, int64_t *n_range, int64_t **first,
                       hx_range_most *most);

#ifdef __cplusplus
}
#endif

#endif
