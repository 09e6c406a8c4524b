/* Keeps rigid motions free of forces on the coarse grids, by removing the effect of rounding from
 * their matrices.
 *
 * A coarse matrix consists of sums in single precision, which are equal in all cells of a regular
 * mesh. Its rows therefore give a rigid motion a force of 1e-7 to 1e-6 of the diagonal, the same
 * everywhere. That is more than the softest bending mode of a long part has on the first coarse
 * grid, and it becomes four times as much on each further level. At nodes that have no support,
 * spring or rigid set nearby, the force must be 0, and the diagonal block is corrected
 * accordingly. */
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../linalg/vector_ops.h"
#include "../operator/interface_ops.h"
#include "multigrid_internal.h"

static const char *const WHAT = "multigrid coarse grids";

/* bytes of an uploaded entry: its index and its value */
#define ENTRY (sizeof(int64_t) + sizeof(float))

int hx_mg_restores(const hx_multigrid *mg)
{
    return mg->ops->level->restore_rigid && !mg->rows && mg->n_level > 1;
}

void hx_mg_flag_held(const hx_problem *problem, size_t n_point, uint8_t *held)
{
    memcpy(held, problem->supports.fixed, n_point);
    for (int64_t k = 0; k < problem->rigid.n_node; k++)
        held[problem->rigid.node[k]] = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;
}

/* all direction bits of a node */
enum { ALL = HX_FIX_X | HX_FIX_Y | HX_FIX_Z };

static void mark_element(const hx_mesh *mesh, int64_t e, uint8_t *mark)
{
    for (int c = 0; c < 8; c++) {
#pragma omp atomic write
        mark[mesh->conn[8 * e + c]] = ALL;
    }
}

/* Marks all nodes of the elements that have a held node, found through the elements of each held
 * node, because held nodes are few. */
static void mark_around(const hx_mesh *mesh, const uint8_t *held, uint8_t *mark)
{
    const int64_t *const first = mesh->node_elem_ptr;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++)
        for (int64_t k = first[a]; held[a] && k < first[a + 1]; k++)
            mark_element(mesh, mesh->node_elem[k] / 8, mark);
}

/* mark_around for a mesh without node lists. */
static void search_around(const hx_mesh *mesh, const uint8_t *held, uint8_t *mark)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int any = 0;
        for (int c = 0; c < 8; c++) any |= held[mesh->conn[8 * e + c]];
        if (any) mark_element(mesh, e, mark);
    }
}

/* mark[n_node], zeroed by the caller: all directions of nodes that K couples with a held one, and
 * the directions of springs. */
static void mark_nodes(const hx_problem *problem, const uint8_t *held, uint8_t *mark)
{
    const hx_mesh *const mesh = problem->mesh;
    if (mesh->node_elem)
        mark_around(mesh, held, mark);
    else
        search_around(mesh, held, mark);
    for (int64_t k = 0; k < problem->springs.n; k++)
        mark[problem->springs.dof[k] / 3] |= (uint8_t)(HX_FIX_X << problem->springs.dof[k] % 3);
}

static int is_marked(const uint8_t *mark, int64_t dof)
{
    return mark[dof / 3] >> dof % 3 & 1;
}

/* first[i]: number of marked degrees of freedom in all parts before i. */
static void count_marks(int64_t n_node, const uint8_t *mark, int64_t first[HX_N_PART + 1])
{
    first[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = 0;
        for (int64_t a = hx_part_begin(n_node, part); a < hx_part_begin(n_node, part + 1); a++)
            n += (mark[a] & 1) + (mark[a] >> 1 & 1) + (mark[a] >> 2 & 1);
        first[part + 1] = n;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
}

static void list_marks(int64_t n_node, const uint8_t *mark, const int64_t first[HX_N_PART + 1],
                       int64_t *at)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = first[part];
        for (int64_t a = hx_part_begin(n_node, part); a < hx_part_begin(n_node, part + 1); a++)
            for (int i = 0; mark[a] && i < 3; i++)
                if (is_marked(mark, 3 * a + i)) at[n++] = 3 * a + i;
    }
}

/* Uploads d_mark[3 n_node] as a list of few entries, using the memory of the restriction
 * temporarily. */
static int put_few(hx_multigrid *mg, int64_t n_node, const uint8_t *mark,
                   const int64_t first[HX_N_PART + 1], float *d_mark)
{
    const int64_t n = first[HX_N_PART];
    hx_device *const dev = mg->dev;
    int64_t *at, *const d_at = (int64_t *)mg->mesh.d_partial;
    HX_TRY(hx_alloc_raw(&at, (size_t)n, ENTRY, WHAT));
    float *const value = (float *)(at + n);
    list_marks(n_node, mark, first, at);
    for (int64_t i = 0; i < n; i++) value[i] = 1.0f;
    const int rc = dev->ops->upload(dev, d_at, at, (size_t)n * ENTRY);
    free(at);
    HX_TRY(rc);
    HX_TRY(dev->ops->zero(dev, d_mark, 3 * (size_t)n_node * sizeof *d_mark));
    return dev->ops->vector->put_entries_single(dev, n, d_at, (const float *)(d_at + n), d_mark);
}

/* Uploads d_mark[3 n_node] for any number of entries. */
static int put_all(hx_multigrid *mg, int64_t n_node, const uint8_t *mark, float *d_mark)
{
    const size_t n = 3 * (size_t)n_node;
    float *value;
    HX_TRY(hx_alloc_raw(&value, n, sizeof *value, WHAT));
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < n; k++) value[k] = (float)is_marked(mark, (int64_t)k);
    const int rc = mg->dev->ops->upload(mg->dev, d_mark, value, n * sizeof *value);
    free(value);
    return rc;
}

/* d_mark[3 n_node] on the device: 1 if marked, otherwise 0. */
static int put_marks(hx_multigrid *mg, const hx_operator *op, float *d_mark)
{
    const int64_t n_node = op->model.n_node;
    const size_t room = (size_t)mg->mesh.n_cell * 8 * HX_MG_DOF * sizeof(float);
    int64_t first[HX_N_PART + 1];
    uint8_t *held = NULL, *mark = NULL;
    int rc = hx_alloc_raw(&held, (size_t)n_node, sizeof *held, WHAT);
    if (rc == HX_OK) rc = hx_alloc(&mark, (size_t)n_node, sizeof *mark, WHAT);
    if (rc == HX_OK) {
        hx_mg_flag_held(op->problem, (size_t)n_node, held);
        mark_nodes(op->problem, held, mark);
        count_marks(n_node, mark, first);
        rc = (size_t)first[HX_N_PART] * ENTRY <= room ? put_few(mg, n_node, mark, first, d_mark)
                                                      : put_all(mg, n_node, mark, d_mark);
    }
    free(held);
    free(mark);
    return rc;
}

/* Restricts the marks to b of coarse grid l, which becomes nonzero in the rows that are held. */
static int restrict_marks(hx_multigrid *mg, const hx_operator *op, int l)
{
    hx_mg_level *const level = &mg->level[l];
    double *const d_zero = (double *)mg->d_x;
    if (l > 0) return mg->ops->transfer->restrict_to(mg->dev, level - 1, level[-1].d_b, level);
    HX_TRY(mg->dev->ops->zero(mg->dev, d_zero, (size_t)op->linear.n * sizeof *d_zero));
    HX_TRY(put_marks(mg, op, mg->d_d));
    HX_TRY(hx_interface_add_single(mg->dev, op->linear.components, mg->d_d));
    return mg->ops->transfer->mesh_restrict(mg->dev, &mg->mesh, d_zero, mg->d_d, level);
}

static int find_held(hx_multigrid *mg, const hx_operator *op, int l)
{
    hx_device *const dev = mg->dev;
    hx_mg_level *const level = &mg->level[l];
    const size_t n = (size_t)level->n_node, dof = HX_MG_DOF;
    uint8_t *held = NULL;
    float *b = NULL;
    int rc;
    HX_TRY(restrict_marks(mg, op, l));
    HX_TRY_FAIL(hx_alloc_raw(&held, n, sizeof *held, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&b, dof * n, sizeof *b, WHAT));
    HX_TRY_FAIL(dev->ops->download(dev, b, level->d_b, dof * n * sizeof *b));
    for (size_t a = 0; a < n; a++)
        held[a] = b[dof * a] != 0.0f || b[dof * a + 1] != 0.0f || b[dof * a + 2] != 0.0f;
    HX_TRY_FAIL(hx_device_put(dev, &level->d_held, held, n));
    rc = HX_OK;
fail:
    free(held);
    free(b);
    return rc;
}

int hx_mg_restore(hx_multigrid *mg, const hx_operator *op, int l)
{
    if (!hx_mg_restores(mg)) return HX_OK;
    if (!mg->level[l].d_held) HX_TRY(find_held(mg, op, l));
    return mg->ops->level->restore_rigid(mg->dev, &mg->level[l]);
}
