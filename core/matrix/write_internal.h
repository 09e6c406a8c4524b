/* What a format of matrix files is made of. Internal to the writers. */
#ifndef HX_WRITE_INTERNAL_H
#define HX_WRITE_INTERNAL_H

#include "write_blocks.h"
#include "write_matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hx_matrix_file_kind {
    hx_matrix_format format;
    /* 1 if a file that begins so is one. */
    int (*is_one)(const unsigned char *begin, size_t n);
    int64_t (*bytes)(const hx_matrix_shape *shape);
    size_t n_state; /* bytes of a writer's `state` */
    int (*begin)(hx_matrix_writer *w);
    int (*rows)(hx_matrix_writer *w, const hx_csr_rows *rows);
    int (*end)(hx_matrix_writer *w);
    int (*columns)(const char *path, const char *name, int64_t n, int n_column,
                   const double *const *column);
    int (*held)(const char *path, int64_t n_row, int64_t n, const int32_t *index,
                const double *value);
    int (*numbers)(const char *path, const char *name, int64_t n, const int32_t *number);
} hx_matrix_file_kind;

struct hx_matrix_writer {
    const hx_matrix_file_kind *kind;
    hx_matrix_shape shape;
    hx_block_file out;
    int64_t n_row, n_entry; /* written */
    void *state;            /* of the format (owned) */
};

extern const hx_matrix_file_kind hx_matrix_mtx, hx_matrix_petsc, hx_matrix_npz;

#ifdef __cplusplus
}
#endif

#endif
