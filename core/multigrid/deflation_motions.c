/* Finds the components of a design that may be floating (deflation.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/hex8.h"
#include "deflation_internal.h"
#include "mg_params.h"

enum { M = HX_DEFLATION_MOTIONS };

static const hx_mg_deflation_params *params_of(const hx_component_grouping *g)
{
    return &hx_mg_params_of(g->problem)->deflation;
}

void hx_floating_motion(const hx_floating_component *part, const double x[3], int k, double u[3])
{
    u[0] = u[1] = u[2] = 0.0;
    if (k < 3) {
        u[k] = 1.0;
        return;
    }
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    u[j] = (x[i] - part->centre[i]) / part->radius;
    u[i] = -(x[j] - part->centre[j]) / part->radius;
}

/* The motions of a component at a node, 0 in fixed directions. */
static void motion_at(const hx_problem *problem, const hx_floating_component *part, int64_t node,
                      double u[M][3])
{
    const uint8_t fixed = problem->supports.fixed[node];
    for (int k = 0; k < M; k++) {
        hx_floating_motion(part, problem->mesh->xyz + 3 * node, k, u[k]);
        for (int i = 0; i < 3; i++)
            if (fixed >> i & 1) u[k][i] = 0.0;
    }
}

/* Adds the contribution of own nodes begin .. end of a component to a mean over its nodes. */
typedef void adds_nodes(const hx_problem *problem, const hx_floating_component *part, int64_t begin,
                        int64_t end, double *sum);

static void add_places(const hx_problem *problem, const hx_floating_component *part, int64_t begin,
                       int64_t end, double sum[3])
{
    const double *const xyz = problem->mesh->xyz;
    for (int64_t a = begin; a < end; a++)
        for (int i = 0; i < 3; i++)
            sum[i] += xyz[3 * (int64_t)part->node[a] + i] / (double)part->n_all;
}

static void add_squares(const hx_problem *problem, const hx_floating_component *part, int64_t begin,
                        int64_t end, double *sum)
{
    const double *const xyz = problem->mesh->xyz;
    for (int64_t a = begin; a < end; a++)
        for (int i = 0; i < 3; i++) {
            const double d = xyz[3 * (int64_t)part->node[a] + i] - part->centre[i];
            *sum += d * d / (double)part->n_all;
        }
}

/* Stiffness of the spring at a degree of freedom; 0: none. */
static double spring_at(const hx_springs *springs, int64_t dof)
{
    const int64_t at = hx_count_below_i64(springs->dof, springs->n, dof);
    return at < springs->n && springs->dof[at] == dof ? springs->stiffness[at] : 0.0;
}

/* Computes L of a = L L'. Rows and columns whose pivot is below `least` times the diagonal are left
 * out, with a pivot of 0. Returns how many. */
static int factor(double a[M][M], double least)
{
    int n_out = 0;
    for (int i = 0; i < M; i++) {
        const double diagonal = a[i][i];
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            if (j < i) a[i][j] = a[j][j] > 0.0 ? a[i][j] / a[j][j] : 0.0;
        }
        const int is_out = !(a[i][i] > least * diagonal);
        a[i][i] = is_out ? 0.0 : sqrt(a[i][i]);
        n_out += is_out;
    }
    return n_out;
}

/* Constraints that supports and springs put on a component's motions: their number and their Gram
 * matrix, from owned nodes, where springs are stored. */
typedef struct holding {
    double n, gram[M][M];
} holding;

static void add_holding(const hx_problem *problem, const hx_floating_component *part, int64_t node,
                        holding *h)
{
    for (int i = 0; i < 3; i++) {
        double u[3], row[M];
        if (!(problem->supports.fixed[node] >> i & 1) &&
            !(spring_at(&problem->springs, 3 * node + i) > 0.0))
            continue;
        h->n++;
        for (int k = 0; k < M; k++) {
            hx_floating_motion(part, problem->mesh->xyz + 3 * node, k, u);
            row[k] = u[i];
        }
        for (int k = 0; k < M; k++)
            for (int l = 0; l < M; l++) h->gram[k][l] += row[k] * row[l];
    }
}

/* 1 if they leave it no motion. least: smallest relative pivot. */
static int is_held(holding *h, double least)
{
    return h->n >= M && factor(h->gram, least) == 0;
}

static int64_t place_of_node(const int32_t *list, int64_t n, int32_t what)
{
    const int64_t at = hx_count_below_i32(list, n, what);
    return at < n && list[at] == what ? at : -1;
}

/* 1 if all nodes of an element move with component p. */
static int is_inside(const hx_component_grouping *g, uint32_t p, const int32_t conn[8])
{
    int inside = 1;
    for (int a = 0; a < 8; a++)
        inside &= g->owner[conn[a]] == p && !g->problem->supports.fixed[conn[a]];
    return inside;
}

/* Lists the elements that the motions of a component strain. */
static int list_strained(const hx_component_grouping *g, uint32_t p,
                         const hx_floating_component *part, int32_t **list, int64_t *n)
{
    const int32_t *const conn = g->problem->mesh->conn;
    int64_t n_most = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) HX_TRY(hx_alloc_raw(list, (size_t)n_most, sizeof **list, "floating components"));
        *n = 0;
        for (int64_t a = 0; a < part->n_node; a++)
            for (int64_t k = g->node_elem_ptr[part->node[a]];
                 k < g->node_elem_ptr[part->node[a] + 1]; k++) {
                const int32_t e = (int32_t)(g->node_elem[k] >> 3);
                if (is_inside(g, p, conn + 8 * (int64_t)e)) continue;
                if (pass) (*list)[*n] = e;
                (*n)++;
            }
        n_most = *n;
    }
    hx_sort_i32(*list, *n);
    *n = hx_unique_i32(*list, *n);
    return HX_OK;
}

/* Adds K_e times the motions to the forces, for one element. */
static void add_element_forces(const hx_component_grouping *g, uint32_t p,
                               const hx_floating_component *part, int64_t e)
{
    const hx_problem *const problem = g->problem;
    const int32_t *const conn = problem->mesh->conn + 8 * e;
    double x[24], ke[576], u[M][24];
    for (int i = 0; i < 24; i++) x[i] = problem->mesh->xyz[3 * (int64_t)conn[i / 3] + i % 3];
    hx_hex8_stiffness(x, problem->lambda, problem->mu, ke);
    memset(u, 0, sizeof u);
    for (int a = 0; a < 8; a++) {
        double here[M][3];
        if (g->owner[conn[a]] != p) continue;
        motion_at(problem, part, conn[a], here);
        for (int k = 0; k < M; k++) memcpy(u[k] + 3 * a, here[k], sizeof here[k]);
    }
    for (int a = 0; a < 8; a++) {
        double *const to =
            part->force + 18 * place_of_node(part->touched, part->n_touched, conn[a]);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < M; k++) {
                double sum = 0.0;
                for (int c = 0; c < 24; c++) sum += ke[24 * (3 * a + i) + c] * u[k][c];
                to[M * i + k] += g->modulus[e] * sum;
            }
    }
}

/* Adds springs, and sets rows at supports to 0. */
static void finish_forces(const hx_problem *problem, const hx_floating_component *part)
{
    for (int64_t t = 0; t < part->n_touched; t++)
        for (int i = 0; i < 3; i++) {
            const int64_t node = part->touched[t];
            double *const to = part->force + 18 * t + M * i, u[M][3];
            const double spring = spring_at(&problem->springs, 3 * node + i);
            if (spring > 0.0 && place_of_node(part->node, part->n_node, (int32_t)node) >= 0) {
                motion_at(problem, part, node, u);
                for (int k = 0; k < M; k++) to[k] += spring * u[k][i];
            }
            if (problem->supports.fixed[node] >> i & 1) memset(to, 0, M * sizeof *to);
        }
}

/* Computes K Z of a component; it is 0 inside the component. */
static int find_forces(const hx_component_grouping *g, uint32_t p, hx_floating_component *part)
{
    const hx_mesh *const mesh = g->problem->mesh;
    const hx_springs *const springs = &g->problem->springs;
    int32_t *list = NULL;
    int64_t n, n_touched = 0;
    int rc;
    HX_TRY_FAIL(list_strained(g, p, part, &list, &n));
    const size_t n_spring = springs->n > 0 ? (size_t)part->n_node : 0;
    HX_TRY_FAIL(hx_alloc_raw(&part->touched, 8 * (size_t)n + n_spring, sizeof *part->touched,
                             "floating components"));
    for (int64_t i = 0; i < n; i++)
        for (int a = 0; a < 8; a++)
            part->touched[n_touched++] = mesh->conn[8 * (int64_t)list[i] + a];
    for (size_t a = 0; a < n_spring; a++)
        for (int i = 0; i < 3; i++)
            if (spring_at(springs, 3 * (int64_t)part->node[a] + i) > 0.0) {
                part->touched[n_touched++] = part->node[a];
                break;
            }
    hx_sort_i32(part->touched, n_touched);
    part->n_touched = hx_unique_i32(part->touched, n_touched);
    HX_TRY_FAIL(hx_alloc(&part->force, 18 * (size_t)part->n_touched, sizeof *part->force,
                         "floating components"));
    for (int64_t i = 0; i < n; i++) add_element_forces(g, p, part, list[i]);
    finish_forces(g->problem, part);
    rc = HX_OK;
fail:
    free(list);
    return rc;
}

/* Energies Z'K Z of a component's motions and their weights Z'D Z, D ~ diag K, from the elements of
 * one rank. */
typedef struct energies {
    double energy[M][M], weight[M][M];
    double n_touched;
} energies;

static void add_weights(const hx_component_grouping *g, const hx_floating_component *part,
                        energies *to)
{
    const double diagonal = params_of(g)->diagonal;
    for (int64_t a = 0; a < part->n_node; a++) {
        const int64_t node = part->node[a];
        double u[M][3], d = 0.0;
        for (int64_t k = g->node_elem_ptr[node]; k < g->node_elem_ptr[node + 1]; k++) {
            const int64_t e = g->node_elem[k] >> 3;
            d += diagonal * g->modulus[e] * cbrt(g->problem->volume[e]);
        }
        motion_at(g->problem, part, node, u);
        for (int k = 0; k < M; k++)
            for (int l = 0; l < M; l++)
                for (int i = 0; i < 3; i++) to->weight[k][l] += d * u[k][i] * u[l][i];
    }
}

/* Trace of energy^-1 weight. Pivots of energies below `least` times the diagonal are rounding: the
 * nodes do not have that motion. */
static double softness_of(double energy[M][M], double weight[M][M], double least)
{
    double trace = 0.0;
    factor(energy, least);
    for (int c = 0; c < M; c++) {
        double y[M];
        for (int i = 0; i < M; i++) {
            y[i] = weight[i][c];
            for (int k = 0; k < i; k++) y[i] -= energy[i][k] * y[k];
            y[i] = energy[i][i] > 0.0 ? y[i] / energy[i][i] : 0.0;
        }
        for (int i = M - 1; i >= c; i--) {
            for (int k = i + 1; k < M; k++) y[i] -= energy[k][i] * y[k];
            y[i] = energy[i][i] > 0.0 ? y[i] / energy[i][i] : 0.0;
        }
        trace += y[c];
    }
    return trace;
}

static void add_energies(const hx_component_grouping *g, const hx_floating_component *part,
                         energies *to)
{
    to->n_touched += (double)part->n_touched;
    for (int64_t a = 0, t = 0; a < part->n_node; a++) {
        double u[M][3];
        while (t < part->n_touched && part->touched[t] < part->node[a]) t++;
        if (t == part->n_touched || part->touched[t] != part->node[a]) continue;
        motion_at(g->problem, part, part->node[a], u);
        for (int k = 0; k < M; k++)
            for (int l = 0; l < M; l++)
                for (int i = 0; i < 3; i++)
                    to->energy[k][l] += u[k][i] * part->force[18 * t + M * i + l];
    }
    add_weights(g, part, to);
}

void hx_floating_component_free(hx_floating_component *part)
{
    free(part->node);
    free(part->touched);
    free(part->force);
    memset(part, 0, sizeof *part);
}

/* Lists the nodes of the components, and counts how many each rank owns. */
static int list_parts(const hx_component_grouping *g, hx_floating_component *part, int64_t *n_all)
{
    for (int64_t p = 0; p < g->n_part; p++) {
        hx_floating_component *const to = &part[p];
        to->lowest = g->lowest[p];
        to->n_node = g->first[p + 1] - g->first[p];
        HX_TRY(
            hx_alloc_raw(&to->node, (size_t)to->n_node, sizeof *to->node, "floating components"));
        memcpy(to->node, g->node + g->first[p], (size_t)to->n_node * sizeof *to->node);
        to->n_own = hx_count_below_i32(to->node, to->n_node, g->n_own);
        n_all[p] = to->n_own;
    }
    return HX_OK;
}

static int count_nodes(const hx_component_grouping *g, hx_floating_component *part)
{
    int64_t *n_all = NULL;
    int rc = hx_alloc(&n_all, (size_t)g->n_part, sizeof *n_all, "floating components");
    if (rc == HX_OK) rc = list_parts(g, part, n_all);
    rc = hx_interface_sum_i64(g->others, rc, g->n_part, n_all);
    for (int64_t p = 0; p < g->n_part && rc == HX_OK; p++) part[p].n_all = n_all[p];
    free(n_all);
    return rc;
}

/* Owned nodes of a component are summed in pieces of this size, whatever the number of threads. */
enum { PIECE = 8192, MOST_SUMS = 3 };
typedef struct piece {
    int64_t part, begin, end;
    double sum[MOST_SUMS];
} piece;

static int list_pieces(const hx_floating_component *part, int64_t n_part, piece **list, int64_t *n)
{
    *n = 0;
    for (int64_t p = 0; p < n_part; p++) *n += (part[p].n_own + PIECE - 1) / PIECE;
    HX_TRY(hx_alloc(list, (size_t)*n, sizeof **list, "floating components"));
    for (int64_t p = 0, k = 0; p < n_part; p++)
        for (int64_t begin = 0; begin < part[p].n_own; begin += PIECE, k++) {
            const int64_t end = begin + PIECE;
            (*list)[k] = (piece){p, begin, end < part[p].n_own ? end : part[p].n_own, {0.0}};
        }
    return HX_OK;
}

/* sum[n_part][n_sum], over all ranks. */
static int sum_nodes(const hx_component_grouping *g, const hx_floating_component *part,
                     adds_nodes *add, int n_sum, double *sum)
{
    const size_t n_all = (size_t)n_sum * (size_t)g->n_part;
    piece *list = NULL;
    int64_t n = 0;
    const int rc = list_pieces(part, g->n_part, &list, &n);
    if (rc < 0) n = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t k = 0; k < n; k++)
        add(g->problem, &part[list[k].part], list[k].begin, list[k].end, list[k].sum);
    memset(sum, 0, n_all * sizeof *sum);
    for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < n_sum; i++) sum[n_sum * list[k].part + i] += list[k].sum[i];
    free(list);
    return hx_interface_sum(g->others, rc, (int64_t)n_all, sum);
}

/* Computes centre and radius of the components; sum: [3 n_part] scratch. */
static int place_parts(const hx_component_grouping *g, hx_floating_component *part, double *sum)
{
    const int64_t n = g->n_part;
    HX_TRY(sum_nodes(g, part, add_places, 3, sum));
    for (int64_t p = 0; p < n; p++) memcpy(part[p].centre, sum + 3 * p, 3 * sizeof *sum);
    HX_TRY(sum_nodes(g, part, add_squares, 1, sum));
    for (int64_t p = 0; p < n; p++) part[p].radius = sum[p] > 0.0 ? sqrt(sum[p]) : 1.0;
    return HX_OK;
}

static int hold_parts(const hx_component_grouping *g, hx_floating_component *part, holding *sum)
{
    const int64_t n = g->n_part;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t k = 0; k < g->n_held; k++) {
        const uint32_t p = g->owner[g->held[k]];
        if (p != HX_NO_COMPONENT) add_holding(g->problem, &part[p], g->held[k], &sum[p]);
    }
    HX_TRY(hx_interface_sum(g->others, HX_OK, n * (int64_t)(sizeof *sum / sizeof(double)),
                            (double *)sum));
    for (int64_t p = 0; p < n; p++) part[p].is_held = is_held(&sum[p], params_of(g)->held_pivot);
    return HX_OK;
}

/* 1 if a component is never selected, even if others are floating. */
static int is_left(const hx_component_grouping *g, const hx_floating_component *part)
{
    return part->n_all == 0 || (part->is_held && part->n_all > params_of(g)->held_nodes);
}

static int soften_parts(const hx_component_grouping *g, hx_floating_component *part, energies *sum)
{
    const int64_t n = g->n_part;
    int rc = HX_OK;
    memset(sum, 0, (size_t)n * sizeof *sum);
#pragma omp parallel for schedule(dynamic, 1) /* the largest come first */
    for (int64_t p = 0; p < n; p++) {
        const int made = is_left(g, &part[p]) ? HX_OK : find_forces(g, (uint32_t)p, &part[p]);
        if (made < 0) {
#pragma omp critical(hx_floating_component)
            {
                rc = made;
            }
        } else if (!is_left(g, &part[p])) {
            add_energies(g, &part[p], &sum[p]);
        }
    }
    HX_TRY(hx_interface_sum(g->others, rc, n * (int64_t)(sizeof *sum / sizeof(double)),
                            (double *)sum));
    for (int64_t p = 0; p < n; p++) {
        part[p].is_strained = sum[p].n_touched > 0.0;
        if (part[p].is_strained)
            part[p].softness =
                softness_of(sum[p].energy, sum[p].weight, params_of(g)->energy_pivot);
    }
    return HX_OK;
}

/* Computes the properties of all components over all ranks; each rank stores the forces of its own
 * elements. */
static int make_parts(const hx_component_grouping *g, hx_floating_component *part)
{
    energies *sum = NULL; /* sized for the largest of the sums below, which share the memory */
    HX_TRY(count_nodes(g, part));
    int rc = hx_alloc_raw(&sum, (size_t)g->n_part, sizeof *sum, "floating components");
    rc = hx_interface_agree(g->others, rc);
    if (rc == HX_OK) rc = place_parts(g, part, (double *)sum);
    if (rc == HX_OK) rc = hold_parts(g, part, (holding *)sum);
    if (rc == HX_OK) rc = soften_parts(g, part, sum);
    free(sum);
    return rc;
}

/* Hash of a node, which is summed over the nodes of a component. */
static uint64_t mark_of(const hx_component_grouping *g, int32_t node)
{
    const uint64_t rank = g->others ? (uint64_t)g->others->reduce->rank : 0;
    uint64_t h = (rank << 32) + (uint64_t)node + 1;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

/* Sets the marks: equal for components with the same nodes, and only for these. */
static int mark_parts(const hx_component_grouping *g, hx_floating_component *part, int64_t n)
{
    int64_t *mark = NULL;
    int rc = hx_alloc(&mark, (size_t)n, sizeof *mark, "floating components");
    for (int64_t p = 0; p < n && rc == HX_OK; p++) {
        uint64_t sum = 0;
        for (int64_t a = 0; a < part[p].n_own; a++) sum += mark_of(g, part[p].node[a]);
        mark[p] = (int64_t)sum;
    }
    rc = hx_interface_sum_i64(g->others, rc, n, mark);
    for (int64_t p = 0; p < n && rc == HX_OK; p++) part[p].mark = (uint64_t)mark[p];
    free(mark);
    return rc;
}

/* Makes room for the components of a grouping behind the existing ones. */
static int grow_parts(const hx_component_grouping *g, hx_floating_component **part, int64_t n)
{
    hx_floating_component *all = NULL;
    int rc = hx_alloc(&all, (size_t)(n + g->n_part), sizeof *all, "floating components");
    rc = hx_interface_agree(g->others, rc);
    if (rc < 0) {
        free(all);
        return rc;
    }
    if (n > 0) memcpy(all, *part, (size_t)n * sizeof *all);
    free(*part);
    *part = all;
    return HX_OK;
}

/* Appends the soft components of a grouping to the list. */
static int take_parts(const hx_component_grouping *g, hx_floating_component **part, int64_t *n_part)
{
    int64_t n = *n_part;
    HX_TRY(grow_parts(g, part, n));
    hx_floating_component *const here = *part + n;
    int rc = make_parts(g, here);
    if (rc == HX_OK) rc = hx_component_choose_chains(g, here);
    for (int64_t p = 0; p < g->n_part; p++) {
        hx_floating_component one = here[p];
        memset(&here[p], 0, sizeof one);
        if (one.is_chosen && rc == HX_OK)
            (*part)[n++] = one;
        else
            hx_floating_component_free(&one);
    }
    if (rc == HX_OK) rc = mark_parts(g, here, n - *n_part);
    *n_part = n;
    return rc;
}

static int count_stiff(const hx_component_grouping *g, int64_t *count)
{
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++) n += hx_component_is_stiff(g, e);
    *count = n;
    return hx_interface_sum_i64(g->others, HX_OK, 1, count);
}

static int take_share(hx_component_grouping *g, hx_floating_component **part, int64_t *n_part)
{
    int touch;
    HX_TRY(hx_component_join_faces(g));
    HX_TRY(hx_component_number_all(g));
    HX_TRY(take_parts(g, part, n_part));
    HX_TRY(hx_component_join_nodes(g, &touch));
    return touch ? take_parts(g, part, n_part) : HX_OK;
}

/* Adds the components for each fraction of the largest modulus. */
static int find_components(const hx_problem *problem, const hx_interface_host *others,
                           const double *modulus, int is_absolute, hx_floating_component **part,
                           int64_t *n_part)
{
    enum { N_STIFF = 3 };
    const double *const stiff = hx_mg_params_of(problem)->deflation.stiff;
    hx_component_grouping g;
    int64_t n_stiff = 0, n;
    double largest = 0.0;
    int rc;
    HX_TRY_FAIL(hx_component_grouping_create(&g, problem, others, modulus));
    g.is_absolute = is_absolute;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int64_t e = 0; e < problem->mesh->n_elem; e++)
        largest = fmax(largest, hx_component_modulus(&g, e));
    HX_TRY_FAIL(hx_reduce_max(hx_interface_reduce(others), 1, &largest));
    for (int i = 0; i < N_STIFF && largest > 0.0; i++) {
        g.least = stiff[i] * largest;
        HX_TRY_FAIL(count_stiff(&g, &n));
        if (n > n_stiff) HX_TRY_FAIL(take_share(&g, part, n_part));
        n_stiff = n;
    }
    rc = HX_OK;
fail:
    hx_component_grouping_free(&g);
    return rc;
}

/* 1 if a material is so much stiffer than another one that even solid of the other one is void
 * beside it: its parts then float in the other one. */
static int are_apart(const hx_problem *problem)
{
    const hx_materials *const m = &hx_problem_whole(problem)->materials;
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < m->n; i++) {
        if (m->count[i] == 0) continue;
        least = fmin(least, m->stiffness[i]);
        most = fmax(most, m->stiffness[i]);
    }
    return hx_mg_params_of(problem)->deflation.stiff[0] * most > least;
}

int hx_find_floating_components(const hx_problem *problem, const hx_interface_host *others,
                                const double *modulus, hx_floating_component **part,
                                int64_t *n_part)
{
    *part = NULL;
    *n_part = 0;
    HX_TRY(find_components(problem, others, modulus, 0, part, n_part));
    return are_apart(problem) ? find_components(problem, others, modulus, 1, part, n_part) : HX_OK;
}
