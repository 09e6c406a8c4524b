/* Published results of P2 (a Tesla K40c), P3 (a Quadro 4000 beside MATLAB) and P4 (a Tesla C1060 in
 * single precision), and their table. */
#include <math.h>
#include <string.h>

#include "papers.h"

const char *const hx_p2_function[HX_P2_N_FUNCTION] = {
    "countElemNum",      "scan",        "fillElemNum",       "scan",
    "initializeNodeNum", "fillNodeNum", "thrustDynamicSort", "scan"};

const hx_p2_mesh hx_p2_meshes[HX_P2_N_MESH] = {
    /* Table 2, hollow cylinder; its numbers of nodes are printed in thousands and millions */
    {"cylinder 30k", 30000, {5.1e-5, 8.5e-5, 4.9e-5, 8.0e-5, 3.3e-5, 6.21e-4, 0.041134, 8.1e-5}},
    {"cylinder 1M",
     1000000,
     {7.69e-4, 1.89e-4, 1.597e-3, 1.8e-4, 5.59e-4, 3.6936e-2, 0.786364, 1.85e-4}},
    {"cylinder 2M",
     2000000,
     {1.533e-3, 3.01e-4, 4.856e-3, 2.94e-4, 1.105e-3, 7.8467e-2, 1.560426, 2.09e-4}},
    /* Table 4, connecting rod */
    {"rod 15,318", 15318, {6.0e-5, 5.2e-5, 5.5e-5, 6.8e-5, 4.5e-5, 1.129e-3, 0.032785, 7.0e-5}},
    {"rod 60,186", 60186, {8.1e-5, 8.9e-5, 1.49e-4, 5.8e-5, 1.08e-4, 6.801e-3, 0.076183, 6.3e-5}},
    {"rod 2,020,284",
     2020284,
     {1.8002e-2, 1.49e-4, 2.4251e-2, 1.54e-4, 7.312e-3, 0.678876, 9.114569, 1.48e-4}},
};

const hx_p2_row hx_p2_rows[HX_P2_N_ROW] = {
    /* Table 1: the preprocessor alone */
    {1, "TET4", 130884, 732007, 0.201, NAN, NAN, NAN},
    {1, "TET10", 1012919, 732129, 0.813, NAN, NAN, NAN},
    {1, "HEX20", 742677, 175550, 0.110, NAN, NAN, NAN},
    /* Table 3, hollow cylinder */
    {3, "HEX20", 68921, 64000, 0.07, 0.03, 0.05, 44.67},
    {3, "HEX20", 132651, 125000, 0.10, 0.06, 0.13, 85.95},
    {3, "HEX20", 226981, 216000, 0.15, 0.11, 0.23, 147.08},
    {3, "HEX20", 357911, 343000, 0.20, 0.17, 0.35, 231.92},
    {3, "HEX20", 531441, 512000, 0.30, 0.26, 0.55, 344.37},
    {3, "HEX20", 753571, 729000, 0.43, 0.38, 0.78, 488.31},
    {3, "HEX20", 1030301, 1000000, 0.54, 0.52, 1.07, 667.63},
    {3, "TET4", 17434, 90630, 0.04, 0.00, 0.03, 3.35},
    {3, "TET4", 57082, 311963, 0.09, 0.01, 0.10, 10.96},
    {3, "TET4", 130884, 732007, 0.20, 0.03, 0.22, 27.22},
    {3, "TET4", 275913, 1568610, 0.36, 0.07, 0.49, 57.39},
    /* Table 5, connecting rod */
    {5, "HEX20", 22374, 4134, 0.04, 0.01, 0.02, 14.49},
    {5, "HEX20", 36326, 13958, 0.07, 0.01, 0.06, 23.54},
    {5, "HEX20", 60186, 11988, 0.08, 0.03, 0.10, 39.00},
    {5, "HEX20", 76396, 15483, 0.12, 0.04, 0.13, 49.50},
    {5, "HEX20", 88872, 18163, 0.11, 0.05, 0.15, 57.59},
    {5, "HEX20", 113503, 23547, 0.14, 0.06, 0.20, 74.54},
};

int hx_p2_is_cube(const hx_p2_row *row)
{
    const int64_t n = llround(cbrt((double)row->n_elem));
    return n * n * n == row->n_elem && (n + 1) * (n + 1) * (n + 1) == row->n_node;
}

hx_bench_shape hx_p2_shape(const hx_p2_row *row)
{
    return row->table == 5 ? HX_BENCH_ROD : HX_BENCH_CYLINDER;
}

int hx_p2_side(const hx_p2_row *row)
{
    if (row->table == 1 || strcmp(row->element, "HEX20") != 0) return 0;
    return (int)llround(cbrt((double)row->n_elem));
}

const hx_p3_row hx_p3_rows[HX_P3_N_ROW] = {
    {10, 36000, 15561, 0.58, 0.26, 0.02, 0.828},
    {20, 288000, 118121, 4.61, 1.96, 0.03, 0.809},
    {40, 2304000, 920241, 36.9, 15.3, 0.15, 0.684},
    {80, 18432000, 7264481, 294.9, 120.5, 1.17, 0.629},
    {120, 62208000, 24408721, 995.3, 404.7, 3.98, 0.621},
    {140, 98784000, 38710841, 1580.5, 641.8, 5.92, 0.662},
    {160, 147456000, 57728961, 2359.3, 957.0, 8.85, 0.662},
    {180, 209952000, 82135081, 3359.2, 1361.6, 15.3, 0.709},
    {200, 288000000, 112601201, 4608.0, 1866.6, 23.8, 0.678},
    {250, 0, 0, NAN, NAN, 40.9, 0.705},
    {300, 0, 0, NAN, NAN, 115.0, 0.824},
};

const hx_p4_row hx_p4_rows[HX_P4_N_ROW] = {
    {"Oven_1", 6792, 13608, 47132, 0.015, 0.172},
    {"Oven_2", 23373, 46762, 162917, 0.045, 1.021},
    {"Actuator_1", 11211, 22580, 78151, 0.031, 0.483},
    {"Actuator_2", 32945, 65984, 230425, 0.047, 1.014},
    {"Actuator_3", 61617, 123392, 430993, 0.109, 1.872},
};
