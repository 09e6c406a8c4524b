/* The table of a matrix file format. Internal to the writers. */
#ifndef HX_WRITE_INTERNAL_H
#define HX_WRITE_INTERNAL_H

#include "write_blocks.h"
#include "write_matrix.h"

/* Content of a file of columns, and the name of the array in .npz. */
typedef struct hx_columns {
    const char *name;
    int64_t n;
    int n_column;
    /* [n_column][n]; NULL: not known yet, since only the size is needed */
    const double *const *column;
} hx_columns;

typedef struct hx_held_list {
    int64_t n_row, n;
    const int32_t *index;
    const double *value;
} hx_held_list;

typedef struct hx_number_list {
    const char *name;
    int64_t n;
    const int32_t *number;
} hx_number_list;

typedef struct hx_matrix_file_kind {
    hx_matrix_format format;
    /* Returns 1 if a file with this beginning has this format. */
    int (*is_one)(const unsigned char *begin, size_t n);
    int64_t (*bytes)(const hx_matrix_shape *shape); /* upper bound */
    size_t n_state;                                 /* bytes of the writer's `state` */
    int (*begin)(hx_matrix_writer *w);
    int (*rows)(hx_matrix_writer *w, const hx_csr_rows *rows);
    int (*end)(hx_matrix_writer *w); /* NULL: nothing follows the rows */
    int64_t (*columns_bytes)(const hx_columns *columns);
    int64_t (*held_bytes)(const hx_held_list *held);
    int64_t (*numbers_bytes)(const hx_number_list *list);
    int (*columns)(hx_block_file *out, const hx_columns *columns);
    int (*held)(hx_block_file *out, const hx_held_list *held);
    int (*numbers)(hx_block_file *out, const hx_number_list *list);
} hx_matrix_file_kind;

/* A file of a set; a file without a name is skipped. */
typedef struct hx_write_place {
    const hx_matrix_file_kind *kind;
    hx_block_file out;
    int64_t bytes; /* upper bound */
} hx_write_place;

struct hx_write_set {
    int n;
    hx_write_place *place; /* [n] (owned) */
};

struct hx_matrix_writer {
    const hx_matrix_file_kind *kind;
    hx_matrix_shape shape;
    hx_block_file *out;     /* file of a set (borrowed) */
    int64_t n_row, n_entry; /* numbers written */
    void *state;            /* state of the format (owned) */
};

/* Finds the format of a file name; HX_EINPUT. */
int hx_matrix_kind_find(const char *path, const hx_matrix_file_kind **kind);

extern const hx_matrix_file_kind hx_matrix_mtx, hx_matrix_petsc, hx_matrix_npz;

#endif
