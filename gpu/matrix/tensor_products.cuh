// Small dense products of a warp on tensor cores, in double precision. Each number is summed in a
// fixed order that does not depend on its position: d = a b and its mirror image d' = b' a' are
// bitwise equal.
#ifndef HX_TENSOR_PRODUCTS_CUH
#define HX_TENSOR_PRODUCTS_CUH

// Eight rows: d[8][8] += a[8][4] b[4][8]. A lane has a(lane / 4, lane % 4), b(lane % 4, lane / 4)
// and d(lane / 4, 2 (lane % 4) + {0, 1}).
__device__ __forceinline__ void hx_tensor_add(double &d0, double &d1, double a, double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d0), "+d"(d1)
        : "d"(a), "d"(b));
}

// Sixteen rows: d[0], d[1] are in the lane's row, d[2], d[3] in the row 8 below it; likewise a.
__device__ __forceinline__ void hx_tensor_add4(double (&d)[4], const double (&a)[2], double b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(a[0]), "d"(a[1]), "d"(b));
#else
    hx_tensor_add(d[0], d[1], a[0], b);
    hx_tensor_add(d[2], d[3], a[1], b);
#endif
}

// hx_tensor_add4 with 8 columns of a: first[] as above, then[] for the next four columns.
__device__ __forceinline__ void hx_tensor_add8(double (&d)[4], const double (&first)[2],
                                               const double (&then)[2], double b0, double b1)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
        : "d"(first[0]), "d"(first[1]), "d"(then[0]), "d"(then[1]), "d"(b0), "d"(b1));
#else
    hx_tensor_add4(d, first, b0);
    hx_tensor_add4(d, then, b1);
#endif
}

#endif
