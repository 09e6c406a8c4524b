/* Selects the floating components of a design and computes their matrices (deflation.h). */
#include "deflation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "deflation_internal.h"
#include "mg_params.h"

enum { M = HX_DEFLATION_MOTIONS };

/* ---- selection ---- */

/* Softness as it is compared. Equivalent components, such as mirror images, differ only by
 * rounding, and ranks sum in different orders. */
static double rounded(double x)
{
    int exponent;
    const double m = frexp(x, &exponent);
    return ldexp(floor(m * (1 << 20) + 0.5), exponent - 20);
}

static int softer_first(const void *a, const void *b)
{
    const hx_floating_component *const x = a, *const y = b;
    const double soft_x = rounded(x->softness), soft_y = rounded(y->softness);
    if (soft_x != soft_y) return soft_x > soft_y ? -1 : 1;
    if (x->n_all != y->n_all) return x->n_all > y->n_all ? -1 : 1;
    if (x->lowest != y->lowest) return x->lowest < y->lowest ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static int is_same_component(const hx_floating_component *a, const hx_floating_component *b)
{
    return a->n_all == b->n_all && a->mark == b->mark;
}

/* Moves the softest components to the front, at most n_most, each set of nodes once, with at most
 * n_node nodes in all. Returns how many; 0 if all components are held. */
static int choose_components(hx_floating_component *part, int64_t n, int n_most, int64_t n_node)
{
    int n_kept = 0, is_floating = 0;
    for (int64_t p = 0; p < n; p++) is_floating |= !part[p].is_held;
    if (!is_floating) return 0;
    qsort(part, (size_t)n, sizeof *part, softer_first);
    for (int64_t p = 0; p < n && n_kept < n_most; p++) {
        int q = 0;
        while (q < n_kept && !is_same_component(&part[q], &part[p])) q++;
        if (q < n_kept || part[p].n_all > n_node) continue;
        n_node -= part[p].n_all;
        const hx_floating_component one = part[p];
        part[p] = part[n_kept];
        part[n_kept++] = one;
    }
    return n_kept;
}

/* ---- rows ---- */

static int alloc_rows(hx_deflation_rows *rows, int64_t n, int64_t n_entry)
{
    rows->n = n;
    rows->n_entry = n_entry;
    HX_TRY(hx_alloc(&rows->first, (size_t)n + 1, sizeof *rows->first, "floating components"));
    HX_TRY(hx_alloc_raw(&rows->at, (size_t)n, sizeof *rows->at, "floating components"));
    HX_TRY(
        hx_alloc_raw(&rows->column, (size_t)n_entry, sizeof *rows->column, "floating components"));
    return hx_alloc_raw(&rows->value, (size_t)n_entry, sizeof *rows->value, "floating components");
}

static void free_rows(hx_deflation_rows *rows)
{
    free(rows->first);
    free(rows->at);
    free(rows->column);
    free(rows->value);
}

/* Direction i of a component's motions at a node. */
static void motion_at(const hx_problem *problem, const hx_floating_component *part, int64_t node,
                      int i, double row[M])
{
    const int is_fixed = problem->supports.fixed[node] >> i & 1;
    for (int k = 0; k < M; k++) {
        double u[3];
        hx_floating_motion(part, problem->mesh->xyz + 3 * node, k, u);
        row[k] = is_fixed ? 0.0 : u[i];
    }
}

/* Row of the motions Z (component i of the component's node a) or of the forces K Z (of its touched
 * node a). Returns the degree of freedom. */
static int64_t row_of(const hx_problem *problem, const hx_floating_component *part, int is_force,
                      int64_t a, int i, double row[M])
{
    const int64_t node = is_force ? part->touched[a] : part->node[a];
    if (is_force)
        memcpy(row, part->force + 18 * a + M * i, M * sizeof *row);
    else
        motion_at(problem, part, node, i, row);
    return 3 * node + i;
}

static int64_t count_of(const hx_floating_component *part, int is_force)
{
    return is_force ? part->n_touched : part->n_node;
}

/* Z' or (K Z)', with the columns of the components as rows. */
static int make_columns(hx_deflation_rows *rows, const hx_problem *problem,
                        const hx_floating_component *part, int n_part, int is_force)
{
    int64_t n_most = 0, n = 0;
    double row[M];
    for (int p = 0; p < n_part; p++) n_most += 3 * M * count_of(&part[p], is_force);
    HX_TRY(alloc_rows(rows, (int64_t)M * n_part, n_most));
    for (int p = 0; p < n_part; p++)
        for (int k = 0; k < M; k++) {
            rows->at[M * p + k] = M * p + k;
            for (int64_t a = 0; a < count_of(&part[p], is_force); a++)
                for (int i = 0; i < 3; i++) {
                    const int64_t dof = row_of(problem, &part[p], is_force, a, i, row);
                    if (row[k] == 0.0) continue;
                    rows->column[n] = dof;
                    rows->value[n++] = row[k];
                }
            rows->first[M * p + k + 1] = n;
        }
    rows->n_entry = n;
    return HX_OK;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the columns that have entries, ascending, each once. */
static int list_columns(const hx_deflation_rows *of, int64_t **list, int64_t *n)
{
    HX_TRY(hx_alloc_raw(list, (size_t)of->n_entry, sizeof **list, "floating components"));
    memcpy(*list, of->column, (size_t)of->n_entry * sizeof **list);
    qsort(*list, (size_t)of->n_entry, sizeof **list, ascending);
    *n = 0;
    for (int64_t k = 0; k < of->n_entry; k++)
        if (*n == 0 || (*list)[k] != (*list)[*n - 1]) (*list)[(*n)++] = (*list)[k];
    return HX_OK;
}

static int64_t place_of_column(const int64_t *list, int64_t n, int64_t what)
{
    const int64_t *const found = bsearch(&what, list, (size_t)n, sizeof *list, ascending);
    return found ? found - list : -1;
}

/* Transposes; the entries of each row are in ascending order of columns. */
static int transpose(hx_deflation_rows *rows, const hx_deflation_rows *of)
{
    int64_t *list, n;
    int rc;
    HX_TRY(list_columns(of, &list, &n));
    HX_TRY_FAIL(alloc_rows(rows, n, of->n_entry));
    memcpy(rows->at, list, (size_t)n * sizeof *list);
    for (int64_t k = 0; k < of->n_entry; k++)
        rows->first[place_of_column(list, n, of->column[k]) + 1]++;
    for (int64_t i = 0; i < n; i++) rows->first[i + 1] += rows->first[i];
    for (int64_t i = 0; i < of->n; i++)
        for (int64_t k = of->first[i]; k < of->first[i + 1]; k++) {
            const int64_t to = rows->first[place_of_column(list, n, of->column[k])]++;
            rows->column[to] = i;
            rows->value[to] = of->value[k];
        }
    for (int64_t i = n; i > 0; i--) rows->first[i] = rows->first[i - 1];
    rows->first[0] = 0;
    rc = HX_OK;
fail:
    free(list);
    return rc;
}

/* ---- Z'K Z ---- */

/* Removes the entries at points that other ranks own, because those ranks have them too and sums
 * run over all ranks. */
static void keep_own(hx_deflation_rows *columns, int64_t n_dof)
{
    int64_t n = 0;
    for (int64_t c = 0, k = 0; c < columns->n; c++) {
        for (; k < columns->first[c + 1]; k++) {
            if (columns->column[k] >= n_dof) continue;
            columns->column[n] = columns->column[k];
            columns->value[n++] = columns->value[k];
        }
        columns->first[c + 1] = n;
    }
    columns->n_entry = n;
}

/* e[n][n] = Z'B, where B is given by its n columns; sums over the entries of this rank. */
static void multiply_columns(const hx_deflation_rows *z, const hx_deflation_rows *columns,
                             double *e)
{
    const int n = (int)columns->n;
    memset(e, 0, (size_t)n * (size_t)n * sizeof *e);
#pragma omp parallel for schedule(dynamic, 1)
    for (int q = 0; q < n; q++)
        for (int64_t k = columns->first[q]; k < columns->first[q + 1]; k++) {
            const int64_t row = place_of_column(z->at, z->n, columns->column[k]);
            if (row < 0) continue;
            for (int64_t l = z->first[row]; l < z->first[row + 1]; l++)
                e[n * z->column[l] + q] += z->value[l] * columns->value[k];
        }
}

/* For two columns, the forces of the softer one are used: those of the stiffer one are large, and
 * their rounding errors would dominate. */
static int find_energies(const hx_deflation *deflation, const hx_interface_host *others, double *e)
{
    const int n = deflation->n_column;
    multiply_columns(&deflation->motion, &deflation->forces_transposed, e);
    HX_TRY(hx_interface_sum(others, HX_OK, (int64_t)n * n, e));
    for (int p = 0; p < n; p++)
        for (int q = 0; q < p; q++) {
            const int by_p = e[n * p + p] < e[n * q + q];
            if (by_p)
                e[n * p + q] = e[n * q + p];
            else
                e[n * q + p] = e[n * p + q];
        }
    return HX_OK;
}

/* Scales a to a unit diagonal; scale[n] returns the factors. Columns with scale 0 become 0. */
static void scale_unit(int n, double *a, double *scale)
{
    for (int i = 0; i < n; i++)
        if (scale[i] > 0.0) scale[i] = a[n * i + i] > 0.0 ? 1.0 / sqrt(a[n * i + i]) : 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[n * i + j] *= scale[i] * scale[j];
}

/* Computes L of a = L L' in place; the pivots of columns that are left out are 0. */
static void factor(int n, double *a, double least)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[n * i + j];
            for (int k = 0; k < j; k++) sum -= a[n * i + k] * a[n * j + k];
            if (j < i)
                a[n * i + j] = a[n * j + j] > 0.0 ? sum / a[n * j + j] : 0.0;
            else
                a[n * i + i] = sum > least ? sqrt(sum) : 0.0;
        }
}

/* Computes column c of the inverse. */
static void solve_unit(int n, const double *l, int c, double *x)
{
    for (int i = 0; i < n; i++) {
        double sum = i == c;
        for (int k = 0; k < i; k++) sum -= l[n * i + k] * x[k];
        x[i] = l[n * i + i] > 0.0 ? sum / l[n * i + i] : 0.0;
    }
    for (int i = n - 1; i >= 0; i--) {
        if (l[n * i + i] > 0.0) x[i] /= l[n * i + i];
        for (int k = 0; k < i; k++) x[k] -= l[n * i + k] * x[i];
    }
}

/* Sets scale[n] to 0 for columns of Z that depend linearly on earlier ones: the component
 * consists of two smaller ones, or has too few nodes for all six motions. least: smallest pivot
 * of the matrix scaled to a unit diagonal. */
static int find_dependent(const hx_deflation *deflation, const hx_interface_host *others,
                          double least, double *gram, double *scale)
{
    const int n = deflation->n_column;
    multiply_columns(&deflation->motion, &deflation->motion_transposed, gram);
    HX_TRY(hx_interface_sum(others, HX_OK, (int64_t)n * n, gram));
    for (int i = 0; i < n; i++) scale[i] = 1.0;
    scale_unit(n, gram, scale);
    factor(n, gram, least);
    for (int i = 0; i < n; i++) scale[i] = gram[n * i + i] > 0.0;
    return HX_OK;
}

/* Inverse of e[n][n], which is overwritten, on the columns whose scale[n] is above 0. */
static void invert_coupling(int n, double least, double *e, double *scale, double *inverse)
{
    scale_unit(n, e, scale);
    factor(n, e, least);
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < n; c++) solve_unit(n, e, c, inverse + (size_t)n * (size_t)c);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            const double mean = 0.5 * (inverse[n * i + j] + inverse[n * j + i]);
            inverse[n * i + j] = inverse[n * j + i] = mean * scale[i] * scale[j];
        }
}

static int put_inverse(hx_deflation_rows *rows, int n, const double *inverse)
{
    int64_t k = 0;
    HX_TRY(alloc_rows(rows, n, (int64_t)n * n));
    for (int i = 0; i < n; i++) {
        rows->at[i] = i;
        for (int j = 0; j < n; j++) {
            if (inverse[n * i + j] == 0.0) continue;
            rows->column[k] = j;
            rows->value[k++] = inverse[n * i + j];
        }
        rows->first[i + 1] = k;
    }
    rows->n_entry = k;
    return HX_OK;
}

static int make_inverse(hx_deflation *deflation, const hx_interface_host *others,
                        const hx_mg_deflation_params *params)
{
    const size_t n = (size_t)deflation->n_column;
    double *e = NULL;
    int rc = hx_alloc(&e, (2 * n + 1) * n, sizeof *e, "floating components");
    HX_TRY_FAIL(hx_interface_agree(others, rc));
    double *const inverse = e + n * n, *const scale = inverse + n * n;
    HX_TRY_FAIL(find_dependent(deflation, others, params->column_pivot, e, scale));
    HX_TRY_FAIL(find_energies(deflation, others, e));
    invert_coupling((int)n, params->coupled_pivot, e, scale, inverse);
    rc = put_inverse(&deflation->inverse, (int)n, inverse);
fail:
    free(e);
    return rc;
}

static int make_rows(hx_deflation *deflation, const hx_problem *problem,
                     const hx_floating_component *part, int64_t n_own)
{
    const int n = deflation->n_part;
    HX_TRY(make_columns(&deflation->motion_transposed, problem, part, n, 0));
    HX_TRY(make_columns(&deflation->forces_transposed, problem, part, n, 1));
    HX_TRY(transpose(&deflation->motion, &deflation->motion_transposed));
    HX_TRY(transpose(&deflation->forces, &deflation->forces_transposed));
    keep_own(&deflation->motion_transposed, 3 * n_own);
    keep_own(&deflation->forces_transposed, 3 * n_own);
    return HX_OK;
}

static int make_matrices(hx_deflation *deflation, const hx_problem *problem,
                         const hx_interface_host *others, hx_floating_component *part)
{
    const int64_t n_own = others ? others->n_own : problem->mesh->n_node;
    HX_TRY(hx_component_complete_forces(others, part, deflation->n_part));
    HX_TRY(hx_interface_agree(others, make_rows(deflation, problem, part, n_own)));
    return hx_interface_agree(
        others, make_inverse(deflation, others, &hx_mg_params_of(problem)->deflation));
}

int hx_deflation_create(hx_deflation *deflation, const hx_problem *problem,
                        const hx_interface_host *others, const double *modulus)
{
    const hx_mg_deflation_params *const params = &hx_mg_params_of(problem)->deflation;
    hx_floating_component *part = NULL;
    int64_t n_part = 0;
    memset(deflation, 0, sizeof *deflation);
    int rc = hx_find_floating_components(problem, others, modulus, &part, &n_part);
    if (rc == HX_OK && n_part > 0) {
        deflation->n_part = choose_components(part, n_part, params->components,
                                              hx_mesh_n_node_all(hx_problem_whole(problem)->mesh) +
                                                  params->spare_nodes);
        deflation->n_column = M * deflation->n_part;
    }
    if (rc == HX_OK && deflation->n_part > 0) rc = make_matrices(deflation, problem, others, part);
    for (int64_t p = 0; p < n_part; p++) hx_floating_component_free(&part[p]);
    free(part);
    if (rc < 0) hx_deflation_free(deflation);
    return rc;
}

void hx_deflation_free(hx_deflation *deflation)
{
    free_rows(&deflation->motion);
    free_rows(&deflation->forces);
    free_rows(&deflation->motion_transposed);
    free_rows(&deflation->forces_transposed);
    free_rows(&deflation->inverse);
    memset(deflation, 0, sizeof *deflation);
}
