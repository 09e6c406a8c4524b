/* What a format of matrix files is made of. Internal to the writers. */
#ifndef HX_WRITE_INTERNAL_H
#define HX_WRITE_INTERNAL_H

#include "write_blocks.h"
#include "write_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What files hold, and in .npz the name of the array. */
typedef struct hx_columns {
    const char *name;
    int64_t n;
    int n_column;
    const double *const *column; /* [n_column][n]; NULL: not known yet, for their size */
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
    /* 1 if a file that begins so is one. */
    int (*is_one)(const unsigned char *begin, size_t n);
    int64_t (*bytes)(const hx_matrix_shape *shape); /* at most */
    size_t n_state;                                 /* bytes of a writer's `state` */
    int (*begin)(hx_matrix_writer *w);
    int (*rows)(hx_matrix_writer *w, const hx_csr_rows *rows);
    int (*end)(hx_matrix_writer *w);
    int64_t (*columns_bytes)(const hx_columns *columns);
    int64_t (*held_bytes)(const hx_held_list *held);
    int64_t (*numbers_bytes)(const hx_number_list *list);
    int (*columns)(hx_block_file *out, const hx_columns *columns);
    int (*held)(hx_block_file *out, const hx_held_list *held);
    int (*numbers)(hx_block_file *out, const hx_number_list *list);
} hx_matrix_file_kind;

/* A file of a set; without a name: none. */
typedef struct hx_write_place {
    const hx_matrix_file_kind *kind;
    hx_block_file out;
    int64_t bytes; /* at most */
} hx_write_place;

struct hx_write_set {
    int n;
    hx_write_place *place; /* [n] (owned) */
};

struct hx_matrix_writer {
    const hx_matrix_file_kind *kind;
    hx_matrix_shape shape;
    hx_block_file *out;     /* of a set (borrowed) */
    int64_t n_row, n_entry; /* written */
    void *state;            /* of the format (owned) */
};

/* The format of a name; HX_EINPUT. */
int hx_matrix_kind_find(const char *path, const hx_matrix_file_kind **kind);

extern const hx_matrix_file_kind hx_matrix_mtx, hx_matrix_petsc, hx_matrix_npz;

#ifdef __cplusplus
}
#endif

#endif
