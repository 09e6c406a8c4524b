/* Vectors of otf on the CPU. For each KIND there is a type vec_KIND, and functions that load and
 * store rows. A row is a node of a block: 4 values, the last of which is padding, at
 * nodal + corner[8 l] for lane l.
 *
 * load_rows_KIND: loads the rows of all lanes into one vector per component.
 *
 * add_rows_KIND: the transpose, added row by row.
 *
 * narrow_KIND: converts two vectors of double, times a unit, to one of single precision.
 *
 * `any` uses only instructions that the compiler may use anyway; the other kinds are selected when
 * the program runs. */
#ifndef HX_CPU_OTF_VECTORS_H
#define HX_CPU_OTF_VECTORS_H

#include <stdint.h>

#define HX_OTF_GAUSS 0.57735026918962576451 /* 1 / sqrt(3) */
#define HX_ALWAYS_INLINE static inline __attribute__((always_inline))

typedef double vec_any __attribute__((vector_size(16)));
typedef float vec_any_single __attribute__((vector_size(16)));

HX_ALWAYS_INLINE void load_rows_any(const double *nodal, const uint16_t *corner, vec_any v[3])
{
    const double *p = nodal + corner[0], *q = nodal + corner[8];
    for (int i = 0; i < 3; i++) {
        const vec_any lanes = {p[i], q[i]};
        v[i] = lanes;
    }
}

HX_ALWAYS_INLINE void add_rows_any(double *nodal, const uint16_t *corner, const vec_any v[3])
{
    for (int l = 0; l < 2; l++)
        for (int i = 0; i < 3; i++) nodal[corner[8 * l] + i] += v[i][l];
}

HX_ALWAYS_INLINE void load_rows_any_single(const float *nodal, const uint16_t *corner,
                                           vec_any_single v[3])
{
    const float *p0 = nodal + corner[0], *p1 = nodal + corner[8];
    const float *p2 = nodal + corner[16], *p3 = nodal + corner[24];
    for (int i = 0; i < 3; i++) {
        const vec_any_single lanes = {p0[i], p1[i], p2[i], p3[i]};
        v[i] = lanes;
    }
}

HX_ALWAYS_INLINE void add_rows_any_single(float *nodal, const uint16_t *corner,
                                          const vec_any_single v[3])
{
    for (int l = 0; l < 4; l++)
        for (int i = 0; i < 3; i++) nodal[corner[8 * l] + i] += v[i][l];
}

HX_ALWAYS_INLINE vec_any_single narrow_any_single(vec_any low, vec_any high, double unit)
{
    low *= unit;
    high *= unit;
    const vec_any_single both = {(float)low[0], (float)low[1], (float)high[0], (float)high[1]};
    return both;
}

#if defined __x86_64__
#include <immintrin.h>

#define HX_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define HX_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f")))

typedef __m256d vec_avx2;
typedef __m256 vec_avx2_single;
typedef __m512d vec_avx512;
typedef __m512 vec_avx512_single;

/* Loads halves of 128 bits from rows at p and q into one vector. */
HX_TARGET_AVX2 HX_ALWAYS_INLINE __m256d halves_avx2(const double *p, const double *q)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(p)), _mm_load_pd(q), 1);
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void load_rows_avx2(const double *nodal, const uint16_t *corner,
                                                    __m256d v[3])
{
    const double *p0 = nodal + corner[0], *p1 = nodal + corner[8];
    const double *p2 = nodal + corner[16], *p3 = nodal + corner[24];
    const __m256d even = halves_avx2(p0, p2), odd = halves_avx2(p1, p3);
    v[0] = _mm256_unpacklo_pd(even, odd);
    v[1] = _mm256_unpackhi_pd(even, odd);
    v[2] = _mm256_unpacklo_pd(halves_avx2(p0 + 2, p2 + 2), halves_avx2(p1 + 2, p3 + 2));
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void add_row_avx2(double *to, __m256d row)
{
    _mm256_store_pd(to, _mm256_add_pd(_mm256_load_pd(to), row));
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void add_rows_avx2(double *nodal, const uint16_t *corner,
                                                   const __m256d v[3])
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d even = _mm256_unpacklo_pd(v[0], v[1]), odd = _mm256_unpackhi_pd(v[0], v[1]);
    const __m256d z_even = _mm256_unpacklo_pd(v[2], zero), z_odd = _mm256_unpackhi_pd(v[2], zero);
    add_row_avx2(nodal + corner[0], _mm256_permute2f128_pd(even, z_even, 0x20));
    add_row_avx2(nodal + corner[8], _mm256_permute2f128_pd(odd, z_odd, 0x20));
    add_row_avx2(nodal + corner[16], _mm256_permute2f128_pd(even, z_even, 0x31));
    add_row_avx2(nodal + corner[24], _mm256_permute2f128_pd(odd, z_odd, 0x31));
}

/* Rows l and l + 4 in one vector. */
HX_TARGET_AVX2 HX_ALWAYS_INLINE __m256 rows_avx2_single(const float *nodal, const uint16_t *corner)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(nodal + corner[0])),
                                _mm_load_ps(nodal + corner[32]), 1);
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void load_rows_avx2_single(const float *nodal,
                                                           const uint16_t *corner, __m256 v[3])
{
    const __m256 a = rows_avx2_single(nodal, corner), b = rows_avx2_single(nodal, corner + 8);
    const __m256 c = rows_avx2_single(nodal, corner + 16), d = rows_avx2_single(nodal, corner + 24);
    const __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
    const __m256 z_ab = _mm256_unpackhi_ps(a, b), z_cd = _mm256_unpackhi_ps(c, d);
    v[0] = _mm256_shuffle_ps(ab, cd, 0x44);
    v[1] = _mm256_shuffle_ps(ab, cd, 0xee);
    v[2] = _mm256_shuffle_ps(z_ab, z_cd, 0x44);
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void add_row_single(float *to, __m128 row)
{
    _mm_store_ps(to, _mm_add_ps(_mm_load_ps(to), row));
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE void add_rows_avx2_single(float *nodal, const uint16_t *corner,
                                                          const __m256 v[3])
{
    const __m256 zero = _mm256_setzero_ps();
    const __m256 low = _mm256_unpacklo_ps(v[0], v[1]), high = _mm256_unpackhi_ps(v[0], v[1]);
    const __m256 z_low = _mm256_unpacklo_ps(v[2], zero), z_high = _mm256_unpackhi_ps(v[2], zero);
    const __m256 row04 = _mm256_shuffle_ps(low, z_low, 0x44);
    const __m256 row15 = _mm256_shuffle_ps(low, z_low, 0xee);
    const __m256 row26 = _mm256_shuffle_ps(high, z_high, 0x44);
    const __m256 row37 = _mm256_shuffle_ps(high, z_high, 0xee);
    add_row_single(nodal + corner[0], _mm256_castps256_ps128(row04));
    add_row_single(nodal + corner[8], _mm256_castps256_ps128(row15));
    add_row_single(nodal + corner[16], _mm256_castps256_ps128(row26));
    add_row_single(nodal + corner[24], _mm256_castps256_ps128(row37));
    add_row_single(nodal + corner[32], _mm256_extractf128_ps(row04, 1));
    add_row_single(nodal + corner[40], _mm256_extractf128_ps(row15, 1));
    add_row_single(nodal + corner[48], _mm256_extractf128_ps(row26, 1));
    add_row_single(nodal + corner[56], _mm256_extractf128_ps(row37, 1));
}

HX_TARGET_AVX2 HX_ALWAYS_INLINE __m256 narrow_avx2_single(__m256d low, __m256d high, double unit)
{
    const __m256d times = _mm256_set1_pd(unit);
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(_mm256_mul_pd(low, times))),
                                _mm256_cvtpd_ps(_mm256_mul_pd(high, times)), 1);
}

/* Rows l and l + 2 in one vector. */
HX_TARGET_AVX512 HX_ALWAYS_INLINE __m512d rows_avx512(const double *nodal, const uint16_t *corner)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(nodal + corner[0])),
                              _mm256_load_pd(nodal + corner[16]), 1);
}

HX_TARGET_AVX512 HX_ALWAYS_INLINE void load_rows_avx512(const double *nodal, const uint16_t *corner,
                                                        __m512d v[3])
{
    const __m512d a = rows_avx512(nodal, corner), b = rows_avx512(nodal, corner + 8);
    const __m512d c = rows_avx512(nodal, corner + 32), d = rows_avx512(nodal, corner + 40);
    const __m512d ab = _mm512_unpacklo_pd(a, b), cd = _mm512_unpacklo_pd(c, d);
    v[0] = _mm512_shuffle_f64x2(ab, cd, 0x88);
    v[1] = _mm512_shuffle_f64x2(_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d), 0x88);
    v[2] = _mm512_shuffle_f64x2(ab, cd, 0xdd);
}

HX_TARGET_AVX512 HX_ALWAYS_INLINE void add_rows_avx512(double *nodal, const uint16_t *corner,
                                                       const __m512d v[3])
{
    const __m512d zero = _mm512_setzero_pd();
    const __m512d even = _mm512_unpacklo_pd(v[0], v[1]), odd = _mm512_unpackhi_pd(v[0], v[1]);
    const __m512d z_even = _mm512_unpacklo_pd(v[2], zero), z_odd = _mm512_unpackhi_pd(v[2], zero);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512d row02 = _mm512_permutex2var_pd(even, first, z_even);
    const __m512d row13 = _mm512_permutex2var_pd(odd, first, z_odd);
    const __m512d row46 = _mm512_permutex2var_pd(even, last, z_even);
    const __m512d row57 = _mm512_permutex2var_pd(odd, last, z_odd);
    add_row_avx2(nodal + corner[0], _mm512_castpd512_pd256(row02));
    add_row_avx2(nodal + corner[8], _mm512_castpd512_pd256(row13));
    add_row_avx2(nodal + corner[16], _mm512_extractf64x4_pd(row02, 1));
    add_row_avx2(nodal + corner[24], _mm512_extractf64x4_pd(row13, 1));
    add_row_avx2(nodal + corner[32], _mm512_castpd512_pd256(row46));
    add_row_avx2(nodal + corner[40], _mm512_castpd512_pd256(row57));
    add_row_avx2(nodal + corner[48], _mm512_extractf64x4_pd(row46, 1));
    add_row_avx2(nodal + corner[56], _mm512_extractf64x4_pd(row57, 1));
}

/* Rows l, l + 4, l + 8 and l + 12 in one vector. */
HX_TARGET_AVX512 HX_ALWAYS_INLINE __m512 rows_avx512_single(const float *nodal,
                                                            const uint16_t *corner)
{
    __m512 v = _mm512_castps128_ps512(_mm_load_ps(nodal + corner[0]));
    v = _mm512_insertf32x4(v, _mm_load_ps(nodal + corner[32]), 1);
    v = _mm512_insertf32x4(v, _mm_load_ps(nodal + corner[64]), 2);
    return _mm512_insertf32x4(v, _mm_load_ps(nodal + corner[96]), 3);
}

HX_TARGET_AVX512 HX_ALWAYS_INLINE void load_rows_avx512_single(const float *nodal,
                                                               const uint16_t *corner, __m512 v[3])
{
    const __m512 a = rows_avx512_single(nodal, corner), b = rows_avx512_single(nodal, corner + 8);
    const __m512 c = rows_avx512_single(nodal, corner + 16);
    const __m512 d = rows_avx512_single(nodal, corner + 24);
    const __m512 ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
    const __m512 z_ab = _mm512_unpackhi_ps(a, b), z_cd = _mm512_unpackhi_ps(c, d);
    v[0] = _mm512_shuffle_ps(ab, cd, 0x44);
    v[1] = _mm512_shuffle_ps(ab, cd, 0xee);
    v[2] = _mm512_shuffle_ps(z_ab, z_cd, 0x44);
}

HX_TARGET_AVX512 HX_ALWAYS_INLINE void add_rows_avx512_single(float *nodal, const uint16_t *corner,
                                                              const __m512 v[3])
{
    const __m512 zero = _mm512_setzero_ps();
    const __m512 low = _mm512_unpacklo_ps(v[0], v[1]), high = _mm512_unpackhi_ps(v[0], v[1]);
    const __m512 z_low = _mm512_unpacklo_ps(v[2], zero), z_high = _mm512_unpackhi_ps(v[2], zero);
    const __m512 row0 = _mm512_shuffle_ps(low, z_low, 0x44); /* row 0, and rows 4, 8, 12 */
    const __m512 row1 = _mm512_shuffle_ps(low, z_low, 0xee);
    const __m512 row2 = _mm512_shuffle_ps(high, z_high, 0x44);
    const __m512 row3 = _mm512_shuffle_ps(high, z_high, 0xee);
    add_row_single(nodal + corner[0], _mm512_extractf32x4_ps(row0, 0));
    add_row_single(nodal + corner[8], _mm512_extractf32x4_ps(row1, 0));
    add_row_single(nodal + corner[16], _mm512_extractf32x4_ps(row2, 0));
    add_row_single(nodal + corner[24], _mm512_extractf32x4_ps(row3, 0));
    add_row_single(nodal + corner[32], _mm512_extractf32x4_ps(row0, 1));
    add_row_single(nodal + corner[40], _mm512_extractf32x4_ps(row1, 1));
    add_row_single(nodal + corner[48], _mm512_extractf32x4_ps(row2, 1));
    add_row_single(nodal + corner[56], _mm512_extractf32x4_ps(row3, 1));
    add_row_single(nodal + corner[64], _mm512_extractf32x4_ps(row0, 2));
    add_row_single(nodal + corner[72], _mm512_extractf32x4_ps(row1, 2));
    add_row_single(nodal + corner[80], _mm512_extractf32x4_ps(row2, 2));
    add_row_single(nodal + corner[88], _mm512_extractf32x4_ps(row3, 2));
    add_row_single(nodal + corner[96], _mm512_extractf32x4_ps(row0, 3));
    add_row_single(nodal + corner[104], _mm512_extractf32x4_ps(row1, 3));
    add_row_single(nodal + corner[112], _mm512_extractf32x4_ps(row2, 3));
    add_row_single(nodal + corner[120], _mm512_extractf32x4_ps(row3, 3));
}

HX_TARGET_AVX512 HX_ALWAYS_INLINE __m512 narrow_avx512_single(__m512d low, __m512d high,
                                                              double unit)
{
    const __m512d times = _mm512_set1_pd(unit);
    const __m256 a = _mm512_cvtpd_ps(_mm512_mul_pd(low, times));
    const __m256 b = _mm512_cvtpd_ps(_mm512_mul_pd(high, times));
    return _mm512_castpd_ps(
        _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_castps_pd(a)), _mm256_castps_pd(b), 1));
}
#endif

#endif
