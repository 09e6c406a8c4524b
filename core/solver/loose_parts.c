/* Parts of a design that may be loose (loose.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomics.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../mesh/hex8.h"
#include "loose.h"

/* Shares of the largest modulus from which on an element is stiff; measured, see README.md. */
static const double share[] = {1e-2, 1e-3, 1e-4};
enum {
    N_SHARE = sizeof share / sizeof share[0],
    M = HX_LOOSE_MOTIONS,
    MOST_PARTS = 2000, /* and one for 1000 elements: more are noise */
    FEW = 1000 /* nodes of a part that goes along where others are loose though it is held */
};

#define DIAGONAL 0.25 /* an element's part of K's diagonal, over modulus times edge */
#define HELD 1e-8     /* pivots of what holds a part, over its diagonal */
#define NONE 1e-13    /* the same of energies: less is a motion that the nodes do not have */

#define NO_PART UINT32_MAX

typedef struct grouping {
    const hx_problem *problem;
    const double *modulus;
    double least;     /* modulus of stiff elements */
    uint32_t *parent; /* [n_elem] union-find, roots are the lowest of their part */
    uint32_t *owner;  /* [n_node] number of the part, NO_PART: none */
    uint32_t *root;   /* [n_part] largest part first */
    int32_t *number;  /* [n_elem] of the part of a root */
    int64_t n_part;
    int64_t *first; /* [n_part + 1] */
    int32_t *node;  /* [first[n_part]] of each part, ascending */
} grouping;

/* The root of i. Threads may join meanwhile: what is above an entry stays above it. */
static uint32_t find(uint32_t *parent, uint32_t i)
{
    for (uint32_t up = hx_atomic_load(&parent[i]); up != i; up = hx_atomic_load(&parent[i])) {
        const uint32_t further = hx_atomic_load(&parent[up]);
        if (further != up) hx_atomic_store(&parent[i], further);
        i = further;
    }
    return i;
}

/* The higher root gets the lower one above it: the same roots in whatever order. */
static void join(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b) return;
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (hx_atomic_replace(&parent[high], high, low)) return;
    }
}

static int has_all(const int32_t conn[8], int n, const int32_t *node)
{
    int n_found = 0;
    for (int i = 0; i < n; i++) {
        int a = 0;
        while (a < 8 && conn[a] != node[i]) a++;
        n_found += a < 8;
    }
    return n_found == n;
}

/* Joins stiff elements on both sides of a face. */
static void join_face(grouping *g, int64_t e, int n, const int32_t *node)
{
    const hx_mesh *const mesh = g->problem->mesh;
    for (int64_t k = mesh->node_elem_ptr[node[0]]; k < mesh->node_elem_ptr[node[0] + 1]; k++) {
        const int64_t other = mesh->node_elem[k] >> 3;
        if (other >= e || !(g->modulus[other] >= g->least)) continue;
        if (find(g->parent, (uint32_t)other) == find(g->parent, (uint32_t)e)) continue;
        if (has_all(mesh->conn + 8 * other, n, node)) join(g->parent, (uint32_t)other, (uint32_t)e);
    }
}

static void join_by_faces(grouping *g)
{
    const hx_mesh *const mesh = g->problem->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) g->parent[e] = (uint32_t)e;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int f = 0; f < 6 && g->modulus[e] >= g->least; f++) {
            int32_t node[4];
            const int n = hx_cell_face(mesh->conn + 8 * e, f, node);
            if (n >= 3) join_face(g, e, n, node);
        }
}

/* Joins parts that touch: the owners are those of parts joined by faces. Returns whether any do. */
static int join_by_nodes(grouping *g)
{
    const hx_mesh *const mesh = g->problem->mesh;
    int touch = 0;
    if (g->n_part < 2) return 0;
#pragma omp parallel for schedule(dynamic, 1024) reduction(| : touch)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        for (int a = 0; a < 8 && g->modulus[e] >= g->least; a++) {
            const uint32_t other = g->root[g->owner[mesh->conn[8 * e + a]]];
            if (find(g->parent, other) == find(g->parent, (uint32_t)e)) continue;
            join(g->parent, other, (uint32_t)e);
            touch = 1;
        }
    return touch;
}

typedef struct sized {
    int64_t n_elem;
    uint32_t root;
} sized;

static int larger_first(const void *a, const void *b)
{
    const sized *const x = a, *const y = b;
    if (x->n_elem != y->n_elem) return x->n_elem > y->n_elem ? -1 : 1;
    return x->root < y->root ? -1 : x->root > y->root;
}

/* Numbers the parts. `number` counts elements first. */
static int number_parts(grouping *g)
{
    const int64_t n_elem = g->problem->mesh->n_elem;
    sized *list;
    memset(g->number, 0, (size_t)n_elem * sizeof *g->number);
    g->n_part = 0;
    for (int64_t e = 0; e < n_elem; e++) {
        if (!(g->modulus[e] >= g->least)) continue;
        const uint32_t root = find(g->parent, (uint32_t)e);
        g->number[root]++;
        g->n_part += root == (uint32_t)e;
    }
    HX_TRY(hx_alloc(&list, (size_t)g->n_part, sizeof *list, "loose parts"));
    for (int64_t e = 0, n = 0; e < n_elem; e++)
        if (g->number[e] > 0) list[n++] = (sized){g->number[e], (uint32_t)e};
    qsort(list, (size_t)g->n_part, sizeof *list, larger_first);
    free(g->root);
    g->root = NULL;
    const int rc = hx_alloc(&g->root, (size_t)g->n_part, sizeof *g->root, "loose parts");
    for (int64_t p = 0; p < g->n_part && rc == HX_OK; p++) {
        g->root[p] = list[p].root;
        g->number[list[p].root] = (int32_t)p;
    }
    free(list);
    return rc;
}

/* The owner of each node, and the nodes of each part. */
static int list_nodes(grouping *g)
{
    const hx_mesh *const mesh = g->problem->mesh;
    for (int64_t i = 0; i < mesh->n_node; i++) g->owner[i] = NO_PART;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        if (!(g->modulus[e] >= g->least)) continue;
        const uint32_t p = (uint32_t)g->number[find(g->parent, (uint32_t)e)];
        for (int a = 0; a < 8; a++) hx_atomic_min(&g->owner[mesh->conn[8 * e + a]], p);
    }
    free(g->first);
    g->first = NULL;
    HX_TRY(hx_alloc(&g->first, (size_t)g->n_part + 2, sizeof *g->first, "loose parts"));
    int64_t *const at = g->first + 1; /* where the next node of a part goes, then its end */
    for (int64_t i = 0; i < mesh->n_node; i++)
        if (g->owner[i] != NO_PART) at[g->owner[i] + 1]++;
    for (int64_t p = 0; p < g->n_part; p++) at[p + 1] += at[p];
    for (int64_t i = 0; i < mesh->n_node; i++)
        if (g->owner[i] != NO_PART) g->node[at[g->owner[i]]++] = (int32_t)i;
    return HX_OK;
}

void hx_loose_motion(const hx_loose_part *part, const double x[3], int k, double u[3])
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

/* The same at a node, 0 where that is fixed. */
static void motion_at(const hx_problem *problem, const hx_loose_part *part, int64_t node,
                      double u[M][3])
{
    const uint8_t fixed = problem->supports.fixed[node];
    for (int k = 0; k < M; k++) {
        hx_loose_motion(part, problem->mesh->xyz + 3 * node, k, u[k]);
        for (int i = 0; i < 3; i++)
            if (fixed >> i & 1) u[k][i] = 0.0;
    }
}

static void place_part(const hx_problem *problem, hx_loose_part *part)
{
    const double *const xyz = problem->mesh->xyz;
    double square = 0.0;
    for (int64_t a = 0; a < part->n_node; a++)
        for (int i = 0; i < 3; i++)
            part->centre[i] += xyz[3 * (int64_t)part->node[a] + i] / (double)part->n_node;
    for (int64_t a = 0; a < part->n_node; a++)
        for (int i = 0; i < 3; i++) {
            const double d = xyz[3 * (int64_t)part->node[a] + i] - part->centre[i];
            square += d * d / (double)part->n_node;
        }
    part->radius = square > 0.0 ? sqrt(square) : 1.0;
}

/* Stiffness of the spring on a degree of freedom, 0: none. */
static double spring_at(const hx_springs *springs, int64_t dof)
{
    const int64_t at = hx_count_below_i64(springs->dof, springs->n, dof);
    return at < springs->n && springs->dof[at] == dof ? springs->stiffness[at] : 0.0;
}

/* L of a = L L', rows and columns left out where the pivot is below `least` of the diagonal: their
 * pivots are 0. Returns how many. */
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

/* Supports and springs leave the part no motion. */
static int is_held(const hx_problem *problem, const hx_loose_part *part)
{
    double gram[M][M] = {{0.0}};
    int64_t n = 0;
    for (int64_t a = 0; a < part->n_node; a++)
        for (int i = 0; i < 3; i++) {
            const int64_t node = part->node[a];
            double u[3], row[M];
            if (!(problem->supports.fixed[node] >> i & 1) &&
                !(spring_at(&problem->springs, 3 * node + i) > 0.0))
                continue;
            n++;
            for (int k = 0; k < M; k++) {
                hx_loose_motion(part, problem->mesh->xyz + 3 * node, k, u);
                row[k] = u[i];
            }
            for (int k = 0; k < M; k++)
                for (int l = 0; l < M; l++) gram[k][l] += row[k] * row[l];
        }
    return n >= M && factor(gram, HELD) == 0;
}

static int64_t place_of(const int32_t *list, int64_t n, int32_t what)
{
    const int64_t at = hx_count_below_i32(list, n, what);
    return at < n && list[at] == what ? at : -1;
}

/* Whether all of an element goes along. */
static int is_inside(const grouping *g, uint32_t p, const int32_t conn[8])
{
    int inside = 1;
    for (int a = 0; a < 8; a++)
        inside &= g->owner[conn[a]] == p && !g->problem->supports.fixed[conn[a]];
    return inside;
}

/* Elements that a part's motions strain. */
static int list_strained(const grouping *g, uint32_t p, const hx_loose_part *part, int32_t **list,
                         int64_t *n)
{
    const hx_mesh *const mesh = g->problem->mesh;
    int64_t n_most = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) HX_TRY(hx_alloc_raw(list, (size_t)n_most, sizeof **list, "loose parts"));
        *n = 0;
        for (int64_t a = 0; a < part->n_node; a++)
            for (int64_t k = mesh->node_elem_ptr[part->node[a]];
                 k < mesh->node_elem_ptr[part->node[a] + 1]; k++) {
                const int32_t e = (int32_t)(mesh->node_elem[k] >> 3);
                if (is_inside(g, p, mesh->conn + 8 * (int64_t)e)) continue;
                if (pass) (*list)[*n] = e;
                (*n)++;
            }
        n_most = *n;
    }
    hx_sort_i32(*list, *n);
    *n = hx_unique_i32(*list, *n);
    return HX_OK;
}

/* force += K_e times the motions, of one element. */
static void add_element(const grouping *g, uint32_t p, const hx_loose_part *part, int64_t e)
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
        double *const to = part->force + 18 * place_of(part->touched, part->n_touched, conn[a]);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < M; k++) {
                double sum = 0.0;
                for (int c = 0; c < 24; c++) sum += ke[24 * (3 * a + i) + c] * u[k][c];
                to[M * i + k] += g->modulus[e] * sum;
            }
    }
}

/* Springs, and supports, which have no rows. */
static void finish_forces(const hx_problem *problem, const hx_loose_part *part)
{
    for (int64_t t = 0; t < part->n_touched; t++)
        for (int i = 0; i < 3; i++) {
            const int64_t node = part->touched[t];
            double *const to = part->force + 18 * t + M * i, u[M][3];
            const double spring = spring_at(&problem->springs, 3 * node + i);
            if (spring > 0.0 && place_of(part->node, part->n_node, (int32_t)node) >= 0) {
                motion_at(problem, part, node, u);
                for (int k = 0; k < M; k++) to[k] += spring * u[k][i];
            }
            if (problem->supports.fixed[node] >> i & 1) memset(to, 0, M * sizeof *to);
        }
}

/* K Z of a part, without what is inside of it. */
static int find_forces(const grouping *g, uint32_t p, hx_loose_part *part)
{
    const hx_mesh *const mesh = g->problem->mesh;
    const hx_springs *const springs = &g->problem->springs;
    int32_t *list = NULL;
    int64_t n, n_touched = 0;
    int rc;
    HX_TRY_FAIL(list_strained(g, p, part, &list, &n));
    const size_t n_spring = springs->n > 0 ? (size_t)part->n_node : 0;
    HX_TRY_FAIL(hx_alloc_raw(&part->touched, 8 * (size_t)n + n_spring, sizeof *part->touched,
                             "loose parts"));
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
    HX_TRY_FAIL(
        hx_alloc(&part->force, 18 * (size_t)part->n_touched, sizeof *part->force, "loose parts"));
    for (int64_t i = 0; i < n; i++) add_element(g, p, part, list[i]);
    finish_forces(g->problem, part);
    rc = HX_OK;
fail:
    free(list);
    return rc;
}

/* Z'D Z, D of the elements that are stiff. */
static void weigh(const grouping *g, const hx_loose_part *part, double weight[M][M])
{
    const hx_mesh *const mesh = g->problem->mesh;
    memset(weight, 0, M * sizeof weight[0]);
    for (int64_t a = 0; a < part->n_node; a++) {
        const int64_t node = part->node[a];
        double u[M][3], d = 0.0;
        for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
            const int64_t e = mesh->node_elem[k] >> 3;
            d += DIAGONAL * g->modulus[e] * cbrt(g->problem->volume[e]);
        }
        motion_at(g->problem, part, node, u);
        for (int k = 0; k < M; k++)
            for (int l = 0; l < M; l++)
                for (int i = 0; i < 3; i++) weight[k][l] += d * u[k][i] * u[l][i];
    }
}

/* Trace of energy^-1 weight. */
static double softness_of(double energy[M][M], double weight[M][M])
{
    double trace = 0.0;
    factor(energy, NONE);
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

static void find_softness(const grouping *g, hx_loose_part *part)
{
    double energy[M][M] = {{0.0}}, weight[M][M];
    for (int64_t a = 0, t = 0; a < part->n_node; a++) {
        double u[M][3];
        while (t < part->n_touched && part->touched[t] < part->node[a]) t++;
        if (t == part->n_touched || part->touched[t] != part->node[a]) continue;
        motion_at(g->problem, part, part->node[a], u);
        for (int k = 0; k < M; k++)
            for (int l = 0; l < M; l++)
                for (int i = 0; i < 3; i++)
                    energy[k][l] += u[k][i] * part->force[18 * t + M * i + l];
    }
    weigh(g, part, weight);
    part->softness = softness_of(energy, weight);
}

void hx_loose_part_free(hx_loose_part *part)
{
    free(part->node);
    free(part->touched);
    free(part->force);
    memset(part, 0, sizeof *part);
}

static int make_part(const grouping *g, uint32_t p, hx_loose_part *part)
{
    part->n_node = g->first[p + 1] - g->first[p];
    if (part->n_node == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&part->node, (size_t)part->n_node, sizeof *part->node, "loose parts"));
    memcpy(part->node, g->node + g->first[p], (size_t)part->n_node * sizeof *part->node);
    place_part(g->problem, part);
    part->is_held = is_held(g->problem, part);
    if (part->is_held && part->n_node > FEW) return HX_OK;
    HX_TRY(find_forces(g, p, part));
    find_softness(g, part);
    return HX_OK;
}

/* A motion is worth solving for from this softness on; measured, see README.md. */
#define SOFT 30.0

/* One of two parts that share a node: marked where the other is, unless it is held. */
static int spread_mark(hx_loose_part *part, const hx_loose_part *other)
{
    if (part->is_chosen || !other->is_chosen || part->n_touched == 0) return 0;
    part->is_chosen = 1;
    return 1;
}

/* Parts are hinged on each other where they share nodes: what each cannot do alone, a chain of them
 * may do. So what touches a soft part counts with it, and what touches that. */
static void choose_chains(const grouping *g, hx_loose_part *part)
{
    const hx_mesh *const mesh = g->problem->mesh;
    int more = 0;
    for (int64_t p = 0; p < g->n_part; p++) {
        part[p].is_chosen = part[p].softness > SOFT;
        more |= part[p].is_chosen;
    }
    while (more && g->n_part > 1) {
        more = 0;
        for (int64_t e = 0; e < mesh->n_elem; e++) {
            if (!(g->modulus[e] >= g->least)) continue;
            hx_loose_part *const here = &part[g->number[find(g->parent, (uint32_t)e)]];
            for (int a = 0; a < 8; a++) {
                hx_loose_part *const there = &part[g->owner[mesh->conn[8 * e + a]]];
                more |= spread_mark(here, there) | spread_mark(there, here);
            }
        }
    }
}

/* Appends the soft parts of a grouping. */
static int take_parts(const grouping *g, hx_loose_part **part, int64_t *n_part)
{
    hx_loose_part *all;
    int64_t n = *n_part;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&all, (size_t)(n + g->n_part), sizeof *all, "loose parts"));
    if (n > 0) memcpy(all, *part, (size_t)n * sizeof *all);
    free(*part);
    *part = all;
    hx_loose_part *const here = all + n;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t p = 0; p < g->n_part; p++) {
        const int made = make_part(g, (uint32_t)p, &here[p]);
        if (made < 0) {
#pragma omp critical(hx_loose_part)
            rc = made;
        }
    }
    if (rc == HX_OK) choose_chains(g, here);
    for (int64_t p = 0; p < g->n_part; p++) {
        hx_loose_part one = here[p];
        memset(&here[p], 0, sizeof one);
        if (one.is_chosen && rc == HX_OK)
            all[n++] = one;
        else
            hx_loose_part_free(&one);
    }
    *n_part = n;
    return rc;
}

static void free_grouping(grouping *g)
{
    free(g->parent);
    free(g->owner);
    free(g->root);
    free(g->number);
    free(g->first);
    free(g->node);
}

static int alloc_grouping(grouping *g)
{
    const size_t n_elem = (size_t)g->problem->mesh->n_elem,
                 n_node = (size_t)g->problem->mesh->n_node;
    HX_TRY(hx_alloc_raw(&g->parent, n_elem, sizeof *g->parent, "loose parts"));
    HX_TRY(hx_alloc_raw(&g->number, n_elem, sizeof *g->number, "loose parts"));
    HX_TRY(hx_alloc_raw(&g->owner, n_node, sizeof *g->owner, "loose parts"));
    return hx_alloc_raw(&g->node, n_node, sizeof *g->node, "loose parts");
}

static int64_t count_stiff(const grouping *g)
{
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = 0; e < g->problem->mesh->n_elem; e++) n += g->modulus[e] >= g->least;
    return n;
}

static int take_share(grouping *g, hx_loose_part **part, int64_t *n_part)
{
    join_by_faces(g);
    HX_TRY(number_parts(g));
    if (g->n_part > MOST_PARTS + g->problem->mesh->n_elem / 1000) return HX_OK;
    HX_TRY(list_nodes(g));
    HX_TRY(take_parts(g, part, n_part));
    if (!join_by_nodes(g)) return HX_OK;
    HX_TRY(number_parts(g));
    HX_TRY(list_nodes(g));
    return take_parts(g, part, n_part);
}

int hx_loose_find_parts(const hx_problem *problem, const double *modulus, hx_loose_part **part,
                        int64_t *n_part)
{
    grouping g = {.problem = problem, .modulus = modulus};
    int64_t n_stiff = 0;
    double largest = 0.0;
    int rc;
    *part = NULL;
    *n_part = 0;
    for (int64_t e = 0; e < problem->mesh->n_elem; e++) largest = fmax(largest, modulus[e]);
    HX_TRY_FAIL(alloc_grouping(&g));
    for (int i = 0; i < N_SHARE && largest > 0.0; i++) {
        g.least = share[i] * largest;
        const int64_t n = count_stiff(&g);
        if (n > n_stiff) HX_TRY_FAIL(take_share(&g, part, n_part));
        n_stiff = n;
    }
    rc = HX_OK;
fail:
    free_grouping(&g);
    return rc;
}
