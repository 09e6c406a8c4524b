/* The sparsity pattern of a matrix over points: a and b are neighbours if a cell contains both
 * (P2's neighbour matrix). It depends only on the mesh: built once, filled for every design.
 *
 * A row is a point. With c unknowns per point it represents c rows of the matrix, and an entry a
 * block of c x c values. Host structs hold host memory, hx_device_* the same in device memory
 * (`d_`). */
#ifndef HX_PATTERN_H
#define HX_PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/host_device.h"
#include "../device/device.h"
#include "../mesh/mesh.h"
#include "../space/space.h"

HX_C_BEGIN

enum { HX_MAX_CELL_POINT = 27 };

/* Points of cells. A place is an index into `point`: 8 cell + corner for hexahedra. All arrays are
 * in the memory of the reader (borrowed). */
typedef struct hx_incidence {
    int64_t n_cell, n_point;
    int64_t n_place; /* sum of the number of points over the cells, below 2^32 */
    /* number of points of every cell; 0: it varies, see cell_ptr. At most HX_MAX_CELL_POINT, more
     * for splines */
    int n_per_cell;
    const int64_t *cell_ptr; /* [n_cell + 1] first place of a cell; NULL if n_per_cell is given */
    /* [n_cell + 1] sum of the squared numbers of points of the preceding cells; NULL if n_per_cell
     * is given */
    const int64_t *pair_ptr;
    const int32_t *place_cell; /* [n_place] cell of a place; NULL if n_per_cell is given */
    /* [n_cell] hx_cell_kind of each cell, whose rule is in cell_rule.h; NULL: hexahedra with 8
     * points */
    const uint8_t *kind;
    /* The spline whose cells these are; NULL: none. Its points are control points, up to
     * HX_SPLINE_CELL_POINTS per cell (spline_cell.h), and its cells have no kind. The struct is in
     * host memory */
    const struct hx_spline_rule *spline;
    const int32_t *point; /* [n_place] */
    /* 1: all cells of the whole mesh are tetrahedra stored as hexahedra with repeated points
     * (cell.h). This enables an optimization for 4 points, which rounds differently; it must be
     * used in every part of a mesh, or in none */
    int is_tetrahedral;

    /* Places of point a: point_place[point_ptr[a] .. point_ptr[a + 1]), ascending. Either both
     * arrays are set or none; without them, a builder that needs them makes its own. */
    const int64_t *point_ptr;    /* [n_point + 1] */
    const uint32_t *point_place; /* [n_place] */
} hx_incidence;

static HX_HD int64_t hx_incidence_cell(const hx_incidence *in, int64_t place)
{
    return in->n_per_cell ? place / in->n_per_cell : in->place_cell[place];
}

static HX_HD int64_t hx_incidence_first(const hx_incidence *in, int64_t cell)
{
    return in->n_per_cell ? cell * in->n_per_cell : in->cell_ptr[cell];
}

static HX_HD int hx_incidence_count(const hx_incidence *in, int64_t cell)
{
    return in->n_per_cell ? in->n_per_cell : (int)(in->cell_ptr[cell + 1] - in->cell_ptr[cell]);
}

/* Index of the pair (0, 0) of a cell of n points; the pair (a, b) follows at a n + b. */
static HX_HD int64_t hx_incidence_pair(const hx_incidence *in, int64_t cell)
{
    return in->n_per_cell ? cell * in->n_per_cell * in->n_per_cell : in->pair_ptr[cell];
}

/* The incidence of a finished mesh, with its own arrays. */
hx_incidence hx_incidence_of_mesh(const hx_mesh *mesh);
/* The incidence of a space; for a linear one the mesh's. */
hx_incidence hx_incidence_of_space(const hx_space *space);

typedef enum {
    HX_PART_FULL,
    HX_PART_LOWER /* only columns up to the row's own, so the diagonal is the last entry */
} hx_part;

typedef enum {
    HX_BUILD_THREE_STAGE, /* P2: cells of each point by counting sort; neighbours sorted */
    HX_BUILD_SORT,        /* P4: a key per pair, sorted; needs no list of a point's cells */
    HX_N_BUILD
} hx_build;

/* "three-stage", "sort"; NULL beyond the last one. */
const char *hx_build_name(hx_build build);

typedef struct hx_pattern_spec {
    hx_build build;
    hx_part part;
    /* The rows to build: points row_first .. row_first + n_row - 1; n_row = 0: all points. Columns
     * and slots refer to the whole mesh. A matrix that exceeds the memory is built in ranges of
     * rows, over the cells that touch the range. */
    int64_t row_first, n_row;
} hx_pattern_spec;

/* Time of a build by step, in order. */
enum { HX_MAX_STEP = 8 };
typedef struct hx_step {
    const char *name; /* a constant string */
    double seconds;
} hx_step;
typedef struct hx_steps {
    int n;
    hx_step step[HX_MAX_STEP];
} hx_steps;

/* Slot of a pair without an entry: its row is not built, or the column is not in the part. */
#define HX_NO_SLOT_8 ((uint8_t)0xff)
#define HX_NO_SLOT_16 ((uint16_t)0xffff)

/* Rows count from the spec's row_first. */
typedef struct hx_pattern {
    hx_part part;
    /* number of points of the incidence, which are the columns */
    int64_t row_first, n_row, n_point;
    int64_t n_entry;  /* row_ptr[n_row] */
    int64_t *row_ptr; /* [n_row + 1] (owned) */
    int32_t *col;     /* [n_entry] points, ascending in a row, including its own (owned) */
    int max_row;      /* number of entries of the widest row */
    int slot_bytes;   /* 1 up to 255 entries per row, otherwise 2 */
    int64_t n_pair;   /* sum of the squared numbers of points of the cells */
    /* [n_pair] index of b in the row of a, relative to the row's first entry, for each pair (a, b)
     * of each cell (owned) */
    void *slot;
    int64_t *point_ptr;    /* lists that the builder made; otherwise NULL (owned) */
    uint32_t *point_place; /* (owned) */
} hx_pattern;

/* A pattern on a device. These structs are passed to kernels by value. */
typedef struct hx_device_pattern {
    hx_part part;
    int64_t row_first, n_row, n_point, n_entry;
    int64_t *d_row_ptr; /* (owned, like all) */
    int32_t *d_col;
    int max_row, slot_bytes; /* 0: the slots were released */
    int64_t n_pair;
    void *d_slot;
    int64_t *d_point_ptr;
    uint32_t *d_point_place;
} hx_device_pattern;

/* Builds a pattern on the host. steps: receives the time of each step; may be NULL. HX_EINPUT: a
 * row with 65,535 entries or more. O(n_pair), in parallel. Both builders and any number of threads
 * give the same result. Temporary memory: little for three-stage, 24 bytes per pair for sort. */
int hx_pattern_build(hx_pattern *p, const hx_incidence *in, const hx_pattern_spec *requested,
                     hx_steps *steps);

/* Number of entries of the pattern, and of its widest row (NULL: not needed). Takes as long as the
 * neighbours step of a build. */
int hx_pattern_count(const hx_incidence *incidence, hx_part part, int64_t *n_entry, int *max_row);

/* The slot of a pair, or -1. */
static HX_HD int hx_slot_at(const void *slot, int slot_bytes, int64_t pair)
{
    if (slot_bytes == 1) {
        const uint8_t k = ((const uint8_t *)slot)[pair];
        return k == HX_NO_SLOT_8 ? -1 : k;
    }
    const uint16_t k = ((const uint16_t *)slot)[pair];
    return k == HX_NO_SLOT_16 ? -1 : k;
}

size_t hx_device_pattern_bytes(const hx_device_pattern *pattern);

/* Both accept a zeroed struct. */
void hx_pattern_free(hx_pattern *pattern);
void hx_device_pattern_free(hx_device_pattern *pattern, hx_device *dev);
/* Frees the slots, if only rows and columns are read afterwards; slot_bytes becomes 0. */
void hx_device_pattern_release_slots(hx_device_pattern *pattern, hx_device *dev);

HX_C_END

#endif
