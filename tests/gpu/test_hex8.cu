// The element products of hex8_otf.cuh, hex8_parity.cuh and tetra_cuda.cuh, and the diagonals of
// cells that name a point at several corners, against the stiffness of core/mesh/hex8.h, on the
// host: no GPU is needed. Exit status 0 if all agree, or the number of the product that does not.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/mesh/hex8.h"
#include "gpu/operator/diagonal_cuda.cuh"
#include "gpu/operator/hex8_parity.cuh"
#include "gpu/operator/tetra_cuda.cuh"

namespace
{

constexpr double LAMBDA = 0.57692307692307692, MU = 0.38461538461538462; // nu = 0.3
constexpr int N_ELEMENT = 500;

struct random_numbers {
    uint64_t state = 0x9e3779b97f4a7c15u; // xorshift64

    double operator()(double low, double high)
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return low + (high - low) * static_cast<double>(state >> 11) * 0x1p-53;
    }
};

using product = void (*)(const double x[24], const double u[24], double modulus, double f[24]);

template <class T> void corners(const double v[24], int i, T c[8])
{
    for (int a = 0; a < 8; a++) c[a] = static_cast<T>(v[3 * a + i]);
}

// The product as otf computes it.
template <class T>
void on_the_fly(const double x[24], const double u[24], double modulus, double f[24])
{
    const hx_stiffness<T> k = {static_cast<T>(LAMBDA / MU),
                               static_cast<T>(MU / 512.0) * static_cast<T>(modulus)};
    hx_field<T> geometry, field;
    hx_force<T> force;
    T c[8], m[HX_N_MODE];
    for (int i = 0; i < 3; i++) {
        corners(x, i, c);
        hx_to_modes(c, m);
        hx_field_set(m, i, geometry);
        corners(u, i, c);
        hx_drop_translation(c);
        hx_to_modes(c, m);
        hx_field_set(m, i, field);
    }
    hx_points(geometry, field, k, 0, force);
    hx_points(geometry, field, k, 1, force);
    for (int i = 0; i < 3; i++) {
        hx_force_modes(force, i, m);
        hx_from_modes(m, static_cast<T>(HX_GAUSS), c);
        for (int a = 0; a < 8; a++) f[3 * a + i] = c[a];
    }
}

// The product as dedup computes it for a parallelepiped.
template <class T, bool BOX>
void by_parity(const double x[24], const double u[24], double modulus, double f[24])
{
    double j[3][3], matrix[HX_N_PARITY];
    T rounded[HX_N_PARITY], c[8], m[HX_N_MODE], modes[HX_N_MODE][3];
    for (int i = 0; i < 3; i++) {
        j[0][i] = 0.5 * (x[3 + i] - x[i]);
        j[1][i] = 0.5 * (x[9 + i] - x[i]);
        j[2][i] = 0.5 * (x[12 + i] - x[i]);
    }
    hx_parity_matrices(j, LAMBDA, MU, matrix);
    for (int k = 0; k < HX_N_PARITY; k++) rounded[k] = static_cast<T>(matrix[k]);
    for (int i = 0; i < 3; i++) {
        corners(u, i, c);
        hx_drop_translation(c);
        hx_to_modes(c, m);
        for (int k = 0; k < HX_N_MODE; k++) modes[k][i] = m[k];
    }
    for (int i = 0; i < 3; i++) {
        hx_parity_product<BOX>(rounded, modes, i, m);
        for (int k = 0; k < HX_N_MODE; k++) m[k] *= static_cast<T>(modulus);
        hx_from_modes(m, static_cast<T>(1), c);
        for (int a = 0; a < 8; a++) f[3 * a + i] = c[a];
    }
}

// A box with edges between 0.5 and 2, mapped by a random shear, with corners moved by up to half of
// `distort`.
void random_element(random_numbers &random, double shear, double distort, double x[24])
{
    double j[3][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) j[k][i] = i == k ? random(0.5, 2.0) : shear * random(-1.0, 1.0);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            x[3 * a + i] = distort * 0.5 * random(-1.0, 1.0);
            for (int k = 0; k < 3; k++) x[3 * a + i] += 0.5 * hx_hex8_sign(a, k) * j[k][i];
        }
}

// A NaN or infinity sets `largest` to NaN permanently, because std::fmax ignores a NaN.
void keep_largest(double &largest, double value)
{
    if (!std::isfinite(largest) || !std::isfinite(value))
        largest = NAN;
    else if (value > largest)
        largest = value;
}

// The largest error of the products of elements, relative to the largest force. Displacements are a
// translation plus multiples of 1/4096, so that a float stores their sum exactly.
double largest_error(product run, double shear, double distort, double translation)
{
    random_numbers random;
    double largest = 0.0;
    for (int n = 0; n < N_ELEMENT; n++) {
        const double modulus = std::pow(10.0, random(-3.0, 0.0));
        double x[24], u[24], f[24], ke[576], error = 0.0, force = 0.0;
        random_element(random, shear, distort, x);
        for (int i = 0; i < 24; i++)
            u[i] = translation + std::rint(4096.0 * random(-1.0, 1.0)) / 4096.0;
        hx_hex8_stiffness(x, LAMBDA, MU, ke);
        run(x, u, modulus, f);
        for (int i = 0; i < 24; i++) {
            double exact = 0.0;
            for (int m = 0; m < 24; m++) exact += modulus * ke[24 * i + m] * (u[m] - translation);
            keep_largest(error, std::fabs(f[i] - exact));
            keep_largest(force, std::fabs(exact));
        }
        keep_largest(largest, error / force);
    }
    return largest;
}

// ---- collapsed cells ----

// Corners of a wedge, a pyramid, a tetrahedron and a hexahedron.
const int32_t collapsed[4][8] = {{0, 1, 2, 2, 4, 5, 6, 6},
                                 {0, 1, 2, 3, 4, 4, 4, 4},
                                 {0, 1, 2, 2, 4, 4, 4, 4},
                                 {0, 1, 2, 3, 4, 5, 6, 7}};

// Corners of a distorted box, and Ke with its rows and columns added at the first corner of each
// point.
void random_collapsed(random_numbers &random, const int32_t conn[8], double x[24],
                      double merged[24][24])
{
    double ke[576];
    random_element(random, 0.1, 0.2, x);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) x[3 * a + i] = x[3 * conn[a] + i];
    hx_hex8_stiffness(x, LAMBDA, MU, ke);
    std::memset(merged, 0, 24 * sizeof merged[0]);
    for (int r = 0; r < 24; r++)
        for (int c = 0; c < 24; c++)
            merged[3 * conn[r / 3] + r % 3][3 * conn[c / 3] + c % 3] += ke[24 * r + c];
}

double diagonal_error(const int32_t conn[8])
{
    random_numbers random;
    double largest = 0.0;
    for (int n = 0; n < N_ELEMENT; n++) {
        const double modulus = std::pow(10.0, random(-3.0, 0.0));
        double x[24], merged[24][24], c[8], m[HX_N_MODE], column[24];
        hx_field<double> field;
        hx_eight corner;
        random_collapsed(random, conn, x, merged);
        for (int a = 0; a < 8; a++) corner.v[a] = static_cast<uint16_t>(5 + 3 * conn[a]);
        for (int i = 0; i < 3; i++) {
            corners(x, i, c);
            hx_to_modes(c, m);
            hx_field_set(m, i, field);
        }
        hx_collapsed_diagonal<hx_forces<0, 8>>(field, corner, {LAMBDA / MU, modulus * MU / 512.0},
                                               column);
        for (int a = 0; a < 8; a++)
            for (int i = 0; i < 3; i++) {
                const double exact = conn[a] == a ? modulus * merged[3 * a + i][3 * a + i] : 0.0;
                keep_largest(largest, std::fabs(column[8 * i + a] - exact) / modulus);
            }
    }
    return largest;
}

// The largest error of the forces of tetrahedra, or of their diagonal, relative to the largest.
template <class T> double tetrahedron_error(bool diagonal)
{
    static const int point[4] = {0, 1, 2, 4};
    random_numbers random;
    double largest = 0.0;
    for (int n = 0; n < N_ELEMENT; n++) {
        const double modulus = std::pow(10.0, random(-3.0, 0.0));
        double x[24], merged[24][24], error = 0.0, force = 0.0;
        T xyz[24], u[24], column[12];
        hx_eight corner;
        random_collapsed(random, collapsed[2], x, merged);
        for (int i = 0; i < 24; i++) {
            xyz[i] = static_cast<T>(x[i]);
            u[i] = static_cast<T>(std::rint(4096.0 * random(-1.0, 1.0)) / 4096.0);
        }
        for (int a = 0; a < 4; a++) corner.v[a] = static_cast<uint16_t>(point[a]);
        const hx_stiffness<T> k = {static_cast<T>(LAMBDA / MU),
                                   static_cast<T>(MU / 6.0) * static_cast<T>(modulus)};
        if constexpr (sizeof(T) == 8) {
            if (diagonal) hx_tetra_diagonal<1>(corner, xyz, k, column);
        }
        if (!diagonal) hx_tetra_forces<1>(corner, xyz, u, k, column);
        for (int a = 0; a < 4; a++)
            for (int i = 0; i < 3; i++) {
                const int row = 3 * point[a] + i;
                double exact = diagonal ? merged[row][row] : 0.0;
                for (int c = 0; c < 24 && !diagonal; c++)
                    exact += merged[row][c] * static_cast<double>(u[c]);
                keep_largest(error, std::fabs(column[4 * i + a] - modulus * exact));
                keep_largest(force, std::fabs(modulus * exact));
            }
        keep_largest(largest, error / force);
    }
    return largest;
}

// Returns 0, or the number of the check that fails.
int check_collapsed()
{
    for (int kind = 0; kind < 4; kind++)
        if (!(diagonal_error(collapsed[kind]) <= 1e-13)) return 1 + kind;
    if (!(tetrahedron_error<double>(false) <= 1e-13)) return 5;
    if (!(tetrahedron_error<double>(true) <= 1e-13)) return 6;
    return tetrahedron_error<float>(false) <= 1e-5 ? 0 : 7;
}

struct check {
    product run;
    double shear, distort, bound;
};

constexpr double EXACT = 1e-14, SINGLE = 3e-6;
const check checks[] = {
    {on_the_fly<double>, 0.0, 0.0, EXACT},       {on_the_fly<double>, 0.15, 0.0, EXACT},
    {on_the_fly<double>, 0.1, 0.2, EXACT},       {by_parity<double, true>, 0.0, 0.0, EXACT},
    {by_parity<double, false>, 0.0, 0.0, EXACT}, {by_parity<double, false>, 0.15, 0.0, EXACT},
    {on_the_fly<float>, 0.0, 0.0, SINGLE},       {on_the_fly<float>, 0.1, 0.2, SINGLE},
    {by_parity<float, true>, 0.0, 0.0, SINGLE},  {by_parity<float, false>, 0.15, 0.0, SINGLE},
};

} // namespace

int main()
{
    int number = 0;
    for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        double largest = 0.0;
        for (const double value : {1.0, bad, 2.0}) keep_largest(largest, value);
        if (largest <= 1e300) return 100;
    }
    for (const check &c : checks) {
        number++;
        for (const double translation : {0.0, 1024.0})
            if (!(largest_error(c.run, c.shear, c.distort, translation) <= c.bound)) return number;
    }
    if (const int bad = check_collapsed()) return 50 + bad;
    // the shortened product of a box must be wrong for a sheared element
    return largest_error(by_parity<double, true>, 0.15, 0.0, 0.0) > 1e-3 ? 0 : number + 1;
}
