/* A product in plain C that follows the lists of patches like a GPU, and the product by
 * elements. */
#ifndef HX_TEST_PATCH_PRODUCT_H
#define HX_TEST_PATCH_PRODUCT_H

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "core/operator/patches.h"
#include "tests/lib/fixture.h"
#include "tests/lib/patch_slots.h"

static const double lambda = 0.57692307692307692, mu = 0.38461538461538462; /* nu = 0.3 */

typedef struct sample {
    hx_mesh mesh;
    double *ke, *modulus, *x, *y; /* [n_elem][576], [n_elem], [n_node][3]; y = K x by elements */
} sample;

static void *new_array(size_t count, size_t size)
{
    void *array = NULL;
    CHECK_OK(hx_alloc(&array, count, size, "test"));
    if (!array) exit(1);
    return array;
}

static void add_element(const sample *s, int64_t e, const double *u, double f[24])
{
    const double *ke = s->ke + 576 * e;
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++) f[i] += s->modulus[e] * ke[24 * i + j] * u[j];
}

/* Ke, random moduli and displacements of a mesh that is not yet ordered, and the product. */
static void sample_finish(sample *s, fixture_order order)
{
    const hx_mesh *mesh = &s->mesh;
    uint64_t state = 0x9e3779b97f4a7c15u;
    CHECK_OK(fixture_finish(&s->mesh, order));
    const size_t n_elem = (size_t)mesh->n_elem, n_dof = 3 * (size_t)mesh->n_node;
    s->ke = new_array(576 * n_elem, sizeof *s->ke);
    s->modulus = new_array(n_elem, sizeof *s->modulus);
    s->x = new_array(n_dof, sizeof *s->x);
    s->y = new_array(n_dof, sizeof *s->y);
    for (size_t i = 0; i < n_dof; i++) s->x[i] = fixture_uniform(&state, -1.0, 1.0);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *conn = mesh->conn + 8 * e;
        double xyz[24], u[24], f[24] = {0.0};
        for (int a = 0; a < 8; a++) {
            memcpy(xyz + 3 * a, mesh->xyz + 3 * (size_t)conn[a], 3 * sizeof *xyz);
            memcpy(u + 3 * a, s->x + 3 * (size_t)conn[a], 3 * sizeof *u);
        }
        hx_hex8_stiffness(xyz, lambda, mu, s->ke + 576 * e);
        s->modulus[e] = pow(10.0, fixture_uniform(&state, -3.0, 0.0));
        add_element(s, e, u, f);
        for (int i = 0; i < 24; i++) s->y[3 * (size_t)conn[i / 3] + i % 3] += f[i];
    }
}

static void sample_free(sample *s)
{
    hx_mesh_free(&s->mesh);
    free(s->ke);
    free(s->modulus);
    free(s->x);
    free(s->y);
}

static int64_t element(const hx_patch_group *group, int64_t item)
{
    return group->elem ? group->elem[item] : item;
}

/* Lists the nodes of an element's corners as its group counts them; returns their number. */
static int list_corners(const hx_patch_group *group, const hx_mesh *mesh, int64_t e,
                        int32_t node[8])
{
    const int32_t *conn = mesh->conn + 8 * e;
    int corner[4];
    if (group->is_tetrahedral) hx_cell_tetrahedron(mesh->xyz, conn, corner);
    for (int a = 0; a < 8; a++) node[a] = conn[group->is_tetrahedral ? corner[a % 4] : a];
    return group->is_tetrahedral ? 4 : 8;
}

/* Results of a product: y, partial sums, and how often each node was written. */
typedef struct product {
    double *y, *partial;
    int32_t *n_written;
} product;

/* Processes one patch like a block of GPU threads: one thread per element, then one per row. */
static void run_patch(const hx_patches *p, const sample *s, const hx_patch_group *group,
                      int64_t patch, product *to)
{
    static double nodal[8 * HX_MAX_PATCH][3], force[MOST_SLOTS][3];
    const hx_span *span = &p->span[group->first_patch + patch];
    const hx_eight *corner = p->corner + group->first_place + patch * group->size;
    const int n_position = group->permutes ? group->max_row : span->n;
    for (int i = 0; i < 3 * n_position; i++) nodal[i / 3][i % 3] = NAN;
    for (int i = 0; i < 3 * MOST_SLOTS; i++) force[i / 3][i % 3] = NAN;
    for (int64_t row = span->begin; row < span->begin + span->n; row++)
        memcpy(nodal[p->row_position[row]], s->x + 3 * (size_t)(p->row_node[row] & INT32_MAX),
               sizeof *nodal);
    for (int k = 0; k < span->count; k++) {
        const int64_t e = element(group, span->first + k);
        double u[24], f[24] = {0.0};
        int32_t of[8];
        const int n_corner = list_corners(group, &s->mesh, e, of);
        for (int a = 0; a < 8; a++) {
            int at = a; /* for a tetrahedron, the point that the corner names */
            for (int b = 0; n_corner == 4 && b < 4; b++)
                if (of[b] == s->mesh.conn[8 * e + a]) at = b;
            memcpy(u + 3 * a, nodal[corner[k].v[at]], sizeof *nodal);
        }
        add_element(s, e, u, f);
        for (int b = 0; b < n_corner; b++)
            for (int i = 0; i < 3; i++) {
                double *to_force = &force[hx_patch_slot_of(group, b, k)][i];
                *to_force = n_corner == 8 ? f[3 * b + i] : 0.0;
                for (int a = 0; n_corner == 4 && a < 8; a++)
                    if (of[b] == s->mesh.conn[8 * e + a]) *to_force += f[3 * a + i];
            }
    }
    for (int64_t row = span->begin; row < span->begin + span->n; row++) {
        const int32_t node = p->row_node[row];
        double sum[3] = {0.0};
        for (int i = 0; i < 24; i++) {
            const int slot = p->row_slot[row].v[i / 3];
            if (slot != HX_NO_SLOT) sum[i % 3] += force[slot][i % 3];
        }
        const int64_t at = span->partial + (row - span->begin);
        memcpy(node < 0 ? to->partial + 3 * at : to->y + 3 * (size_t)node, sum, sizeof sum);
        if (node >= 0) to->n_written[node]++;
    }
}

static void add_shared(const hx_patches *p, int64_t first, int64_t last, product *to)
{
    for (int64_t k = first; k < last; k++) {
        double *sum = to->y + 3 * (size_t)p->shared_node[k];
        to->n_written[p->shared_node[k]]++;
        for (int i = 0; i < 3; i++) {
            sum[i] = 0.0;
            for (int32_t r = p->shared_ptr[k]; r < p->shared_ptr[k + 1]; r++)
                sum[i] += to->partial[3 * (size_t)p->shared_sum[r] + i];
        }
    }
}

static product new_product(const hx_patches *p, const hx_mesh *mesh)
{
    const size_t n_node = (size_t)mesh->n_node, n_sum = (size_t)p->n_partial;
    product to = {new_array(3 * n_node, sizeof *to.y), new_array(3 * n_sum, sizeof *to.partial),
                  new_array(n_node, sizeof *to.n_written)};
    for (size_t i = 0; i < 3 * n_node; i++) to.y[i] = NAN;
    for (size_t i = 0; i < 3 * n_sum; i++) to.partial[i] = NAN;
    return to;
}

static void free_product(product *to)
{
    free(to->y);
    free(to->partial);
    free(to->n_written);
}

static void check_written(const product *to, const hx_mesh *mesh)
{
    int64_t wrong = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) wrong += to->n_written[a] != 1;
    CHECK_MSG(wrong == 0, "%lld nodes not written once", (long long)wrong);
}

/* Runs patches begin[g] .. end[g] of each group. */
static void run_patches(const hx_patches *p, const sample *s, const int64_t *begin,
                        const int64_t *end, product *to)
{
    for (int g = 0; g < p->n_group; g++)
        for (int64_t i = begin[g]; i < end[g]; i++) run_patch(p, s, &p->group[g], i, to);
}

#endif
