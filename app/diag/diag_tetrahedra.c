/* Judges linear tetrahedra: whether there are enough of them across the thickness, and how much of
 * the compliance they miss. The strain of each is constant. Its difference from the mean strains at
 * the nodes estimates its error (O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 24 (1987)
 * 337-357). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "diag.h"

enum { N_STRAIN = 6 };

/* --- before: corners inside the part --- */

/* is_inner[n_node] := 0 for nodes of boundary faces, otherwise 1. */
static int mark_inner(const hx_mesh *mesh, uint8_t *is_inner)
{
    int64_t n_face, *face = NULL;
    HX_TRY(hx_mesh_boundary_faces(mesh, NULL, &n_face, &face));
    memset(is_inner, 1, (size_t)mesh->n_node);
    for (int64_t k = 0; k < n_face; k++) {
        int32_t node[4];
        const int n = hx_cell_face(mesh->conn + 8 * (face[k] / 6), (int)(face[k] % 6), node);
        for (int i = 0; i < n; i++) is_inner[node[i]] = 0;
    }
    free(face);
    return HX_OK;
}

int hx_diag_thin_tetrahedra(const hx_mesh *mesh, double *share)
{
    uint8_t *is_inner = NULL;
    int64_t n_tetra = 0, n_thin = 0;
    *share = 0.0;
    if (mesh->n_kind[HX_CELL_TETRAHEDRON] == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&is_inner, (size_t)mesh->n_node, 1, "inner nodes"));
    const int rc = mark_inner(mesh, is_inner);
#pragma omp parallel for schedule(static) reduction(+ : n_tetra, n_thin)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        int n_in = 0;
        if (rc < 0 || hx_cell_kind_of(conn) != HX_CELL_TETRAHEDRON) continue;
        for (int i = 0; i < 8; i++) n_in += is_inner[conn[i]];
        n_tetra++;
        n_thin += n_in == 0;
    }
    free(is_inner);
    if (n_tetra > 0) *share = (double)n_thin / (double)mesh->n_elem;
    return rc;
}

/* --- after: jumps of the strain --- */

typedef struct strains {
    const hx_session *s;
    const uint8_t *is_solid;
    double *modulus; /* [n_elem] (owned), like the other arrays */
    double *u;       /* [n_node][3] */
    float *cell;     /* [n_elem][6] xx yy zz xy yz xz, shears doubled */
    float *node;     /* [n_node][6] means over the solid cells at the node */
} strains;

static void strain_of_cells(const strains *t)
{
    const hx_mesh *const mesh = &t->s->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        double x[24], u[24], middle[3], h[3][3];
        if (!t->is_solid[e]) continue;
        hx_cell_middle(conn, middle);
        for (int a = 0; a < 8; a++) {
            memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
            memcpy(u + 3 * a, t->u + 3 * (int64_t)conn[a], 3 * sizeof *u);
        }
        hx_hex8_displacement_gradient(x, u, middle[0], middle[1], middle[2], h);
        const double strain[N_STRAIN] = {h[0][0],           h[1][1],           h[2][2],
                                         h[0][1] + h[1][0], h[1][2] + h[2][1], h[0][2] + h[2][0]};
        for (int i = 0; i < N_STRAIN; i++) t->cell[N_STRAIN * e + i] = (float)strain[i];
    }
}

/* Means of the adjacent solid cells, weighted by volume times modulus. */
static void strain_of_nodes(const strains *t)
{
    const hx_mesh *const mesh = &t->s->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        double sum[N_STRAIN] = {0.0}, weight = 0.0;
        int64_t last = -1;
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
            const int64_t e = mesh->node_elem[k] / 8;
            if (e == last || !t->is_solid[e]) continue; /* corners of a collapsed cell */
            const double w = t->s->problem.volume[e] * t->modulus[e];
            for (int i = 0; i < N_STRAIN; i++) sum[i] += w * (double)t->cell[N_STRAIN * e + i];
            weight += w;
            last = e;
        }
        for (int i = 0; i < N_STRAIN; i++)
            t->node[N_STRAIN * a + i] = weight > 0.0 ? (float)(sum[i] / weight) : 0.0f;
    }
}

/* Twice the energy density of a strain, for unit modulus. */
static double density_of(const hx_problem *p, const double strain[N_STRAIN])
{
    const double trace = strain[0] + strain[1] + strain[2];
    double normal = 0.0, shear = 0.0;
    for (int i = 0; i < 3; i++) {
        normal += strain[i] * strain[i];
        shear += strain[3 + i] * strain[3 + i];
    }
    return p->lambda * trace * trace + p->mu * (2.0 * normal + shear);
}

/* Twice the mean energy density of the difference between the linear strain that the nodes of a
 * tetrahedron define and its constant strain, for unit modulus. */
static double error_of(const strains *t, int64_t e, const int corner[8])
{
    const int32_t *const conn = t->s->mesh.conn + 8 * e;
    double sum[N_STRAIN] = {0.0}, error = 0.0;
    for (int a = 0; a < 4; a++) {
        double d[N_STRAIN];
        for (int i = 0; i < N_STRAIN; i++) {
            d[i] = (double)t->node[N_STRAIN * (int64_t)conn[corner[a]] + i] -
                   (double)t->cell[N_STRAIN * e + i];
            sum[i] += d[i];
        }
        error += density_of(&t->s->problem, d);
    }
    return (error + density_of(&t->s->problem, sum)) / 20.0; /* consistent mass matrix */
}

/* Adds the elements of each block, then the sums of the blocks in order, so that the result is
 * bitwise independent of the number of threads. */
static int add_up_errors(const strains *t, double *error, double *share)
{
    enum { BLOCK = 4096 };
    const hx_mesh *const mesh = &t->s->mesh;
    const int64_t n_block = (mesh->n_elem + BLOCK - 1) / BLOCK;
    double(*sum)[4] = NULL, all[4] = {0.0}; /* energy, error, volume, volume of tetrahedra */
    HX_TRY(hx_alloc(&sum, (size_t)n_block, sizeof *sum, "errors"));
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < n_block; b++)
        for (int64_t e = b * BLOCK; e < (b + 1) * BLOCK && e < mesh->n_elem; e++) {
            double strain[N_STRAIN];
            int corner[8];
            const double volume = t->s->problem.volume[e];
            if (!t->is_solid[e]) continue;
            for (int i = 0; i < N_STRAIN; i++) strain[i] = (double)t->cell[N_STRAIN * e + i];
            sum[b][0] += volume * t->modulus[e] * density_of(&t->s->problem, strain);
            sum[b][2] += volume;
            if (hx_cell_distinct(mesh->conn + 8 * e, corner) != 4) continue;
            sum[b][1] += volume * t->modulus[e] * error_of(t, e, corner);
            sum[b][3] += volume;
        }
    for (int64_t b = 0; b < n_block; b++)
        for (int i = 0; i < 4; i++) all[i] += sum[b][i];
    free(sum);
    *error = all[1] > 0.0 ? all[1] / (all[0] + all[1]) : 0.0;
    *share = all[2] > 0.0 ? all[3] / all[2] : 0.0;
    return HX_OK;
}

/* Compares the strains of the elements with those smoothed over the nodes, for t->u. */
static int judge_case(strains *t, double *error, double *share)
{
    strain_of_cells(t);
    strain_of_nodes(t);
    return add_up_errors(t, error, share);
}

static void free_strains(strains *t)
{
    free(t->modulus);
    free(t->u);
    free(t->cell);
    free(t->node);
}

int hx_diag_tetrahedra(const hx_session *s, const uint8_t *is_solid, double *share, double *error)
{
    const int64_t n_elem = s->mesh.n_elem, n_node = s->mesh.n_node;
    strains t = {.s = s, .is_solid = is_solid};
    int rc;
    *error = *share = 0.0;
    HX_TRY_FAIL(hx_session_alloc_whole(s, &t.modulus, n_elem, sizeof *t.modulus, "moduli"));
    HX_TRY_FAIL(hx_session_alloc_whole(s, &t.u, 3 * n_node, sizeof *t.u, "displacements"));
    HX_TRY_FAIL(hx_session_alloc_whole(s, &t.cell, N_STRAIN * n_elem, sizeof *t.cell, "strains"));
    HX_TRY_FAIL(hx_session_alloc_whole(s, &t.node, N_STRAIN * n_node, sizeof *t.node, "strains"));
    HX_TRY_FAIL(hx_analysis_modulus(&s->analysis, t.modulus));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double of_case = 0.0;
        HX_TRY_FAIL(hx_analysis_displacement(&s->analysis, c, t.u));
        HX_TRY_FAIL(hx_session_agree(s, t.u ? judge_case(&t, &of_case, share) : HX_OK));
        *error = fmax(*error, of_case);
    }
fail:
    free_strains(&t);
    return rc;
}
