/* The quadratic cells: points, edges and integration rule of each kind of solid, as tables. */
#ifndef HX_CELL_RULE_H
#define HX_CELL_RULE_H

#include "../base/c_linkage.h"
#include "../base/host_device.h"
#include "../mesh/cell.h"

HX_C_BEGIN

enum { HX_RULE_POINTS = 20, HX_RULE_GAUSS = 27, HX_RULE_EDGES = 12, HX_N_CELL_RULE = 4 };

/* Indices of rules: an hx_cell_kind, or tet10 with 14 points for loads of a degree above 2. */
enum { HX_RULE_TET10_FINE = HX_N_CELL_RULE, HX_N_RULE };

/* The rule of one hx_cell_kind. Points: the corners, then the middle of each edge. */
typedef struct hx_cell_rule {
    const char *name; /* "hex20" */
    int n_corner, n_edge, n_point, n_gauss;
    int edge[HX_RULE_EDGES][2]; /* corners of each edge */
    double weight[HX_RULE_GAUSS];
    double shape[HX_RULE_GAUSS][HX_RULE_POINTS];
    double gradient[HX_RULE_GAUSS][3][HX_RULE_POINTS]; /* by the reference coordinates */
    double centre[3][HX_RULE_POINTS];                  /* gradients at the mean of the corners */
} hx_cell_rule;

/* "hex20", "wedge15", "pyramid13", "tet10". */
const char *hx_cell_rule_name(hx_cell_kind kind);
int hx_cell_rule_points(hx_cell_kind kind);

/* Index of the rule that integrates a load over a cell of a kind. is_fine: the integrand on tet10
 * has a degree above 2 because of a rotation or of curved edges. */
static HX_HD int hx_cell_load_rule(int kind, int is_fine)
{
    return kind == HX_CELL_TETRAHEDRON && is_fine ? HX_RULE_TET10_FINE : kind;
}

/* Makes the rule of an index above. */
void hx_cell_rule_make(int index, hx_cell_rule *rule);

/* The corners of a cell in the order of its kind, right-handed, from any numbering of its
 * hexahedron (cell.h); for a hexahedron the corners as they are. Returns their number, 0 for
 * another kind. */
int hx_cell_rule_corners(hx_cell_kind kind, const int32_t conn[8], int32_t corner[8]);

/* Shape function of point a at x, and its derivatives. */
double hx_cell_rule_shape(hx_cell_kind kind, int a, const double x[3], double d[3]);

/* h[i][k] = du_i / dx_k from the derivatives by reference coordinates: j[k][i] = dx_i / dxi_k,
 * du[i][k] = du_i / dxi_k. */
void hx_cell_displacement_gradient(double j[3][3], double du[3][3], double h[3][3]);

HX_C_END

#endif
