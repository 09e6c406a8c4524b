// The table of the GPU's matrices: their arrays, diagonals, rows, and downloads beside the queue.
#include "matrix_cuda.cuh"

static hx_matrix_ops make_ops()
{
    hx_matrix_ops ops = {};
    ops.pattern = hx_cuda_pattern;
    ops.fill_create = hx_cuda_fill_create;
    ops.fill_run = hx_cuda_fill_run;
    ops.fill_free = hx_cuda_fill_free;
    ops.fill_bytes = hx_cuda_fill_bytes;
    ops.multiply = hx_cuda_matrix_multiply;
    ops.multiply_dot = hx_cuda_matrix_multiply_dot;
    return ops;
}

extern const hx_matrix_ops hx_cuda_matrix_ops = make_ops();
