// The work of one thread of operator otf for one element of a patch of SIZE elements.
#ifndef HX_OTF_BODY_CUH
#define HX_OTF_BODY_CUH

#include "hex8_otf.cuh"
#include "patches_cuda.cuh"

// Callbacks between the steps of an element: all its corners are in registers; its forces may be
// stored. For a block that loads and sums between its elements they do nothing.
struct hx_no_steps {
    __device__ __forceinline__ void have_gathered() const {}
    __device__ __forceinline__ void wait_for_column() const {}
};

// PARKS: data that only half of the Gauss points need is stored temporarily in the memory of the
// forces, instead of in registers or in local memory, which is not cached if shared memory takes
// all of L1.
template <class T, int SIZE, bool PARKS> struct hx_otf_body {
    T ratio, scale; // lambda / mu, mu / 512

    __device__ __forceinline__ void element(const hx_eight &corner, const T *coordinates,
                                            const T *displacements, T modulus, T *column) const
    {
        element(corner, coordinates, displacements, modulus, column, hx_no_steps());
    }

    template <class Steps>
    __device__ __forceinline__ void element(const hx_eight &corner, const T *coordinates,
                                            const T *displacements, T modulus, T *column,
                                            const Steps &steps) const
    {
        hx_field<T> x, u;
        hx_force<T> f;
        T v[8], m[HX_N_MODE];
        const hx_stiffness<T> k = {ratio, scale * modulus};
        volatile T *const parked = column; // [..] value of component i: parked[row (SIZE + 1)]
        const auto park = [&](int row, T value) {
            if constexpr (PARKS) parked[row * (SIZE + 1)] = value;
        };
        const auto fetch = [&](int row, T &value) {
            if constexpr (PARKS) value = parked[row * (SIZE + 1)];
        };
        const auto park_half = [&](int first, const hx_field<T> &half, int i) {
            park(first + i, half.r[1][i]);
            park(first + 3 + i, half.s[1][i]);
            park(first + 6 + i, half.rs[1][i]);
        };
        const auto fetch_half = [&](int first, hx_field<T> &half, int i) {
            fetch(first + i, half.r[1][i]);
            fetch(first + 3 + i, half.s[1][i]);
            fetch(first + 6 + i, half.rs[1][i]);
        };
        if (PARKS) steps.wait_for_column();
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_gather_corners(coordinates, corner, i, v);
            hx_to_modes(v, m);
            hx_field_set(m, i, x);
            park_half(0, x, i);
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_gather_corners(displacements, corner, i, v);
            hx_drop_translation(v);
            hx_to_modes(v, m);
            hx_field_set(m, i, u);
            park_half(9, u, i);
        }
        steps.have_gathered();
        hx_points(x, u, k, 0, f);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            fetch_half(0, x, i);
            fetch_half(9, u, i);
            park(i, f.r[0][i]);
            park(3 + i, f.s[0][i]);
            park(6 + i, f.rs[0][i]);
        }
        hx_points(x, u, k, 1, f);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            fetch(i, f.r[0][i]);
            fetch(3 + i, f.s[0][i]);
            fetch(6 + i, f.rs[0][i]);
        }
        if (!PARKS) steps.wait_for_column();
#pragma unroll
        for (int i = 0; i < 3; i++) {
            hx_force_modes(f, i, m);
            hx_from_modes(m, static_cast<T>(HX_GAUSS), v);
#pragma unroll
            for (int a = 0; a < 8; a++) column[hx_forces<SIZE, 8>::at(i, a)] = v[a];
        }
    }
};

#endif
