/* Lines of points along short edges for the smoother of a mesh of stretched elements: a point is
 * coupled with those a short edge away as strongly as with itself, and a diagonal knows nothing of
 * that. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../mesh/cell.h"
#include "common_ops.h"
#include "line_block.h"
#include "multigrid_internal.h"

static const char *const WHAT = "lines of nodes";

/* An element whose longest edges are this many times its shortest ones is stretched. */
#define STRETCHED 3.0
/* Lines are there where the mean element's are this many times; see README.md. */
#define STRETCHED_MESH 6.0
/* Points of a line: a device walks along it, one after the other. */
enum { LONGEST = 64 };

static const int edge_of[3][4][2] = {{{0, 1}, {3, 2}, {4, 5}, {7, 6}},
                                     {{0, 3}, {1, 2}, {4, 7}, {5, 6}},
                                     {{0, 4}, {1, 5}, {2, 6}, {3, 7}}};

/* The two nearest points along short edges. */
typedef struct near {
    int32_t point[2]; /* -1: none */
    double length[2];
} near;

static double length_of(const hx_mesh *mesh, int32_t a, int32_t b)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        const double d = mesh->xyz[3 * (int64_t)a + i] - mesh->xyz[3 * (int64_t)b + i];
        sum += d * d;
    }
    return sqrt(sum);
}

/* The nearer ones first, of equally near ones the one with the smaller number. */
static void offer(near *to, int32_t point, double length)
{
    int at = 2;
    if (to->point[0] == point || to->point[1] == point) return;
    while (at > 0 && (to->point[at - 1] < 0 || length < to->length[at - 1] ||
                      (!(length > to->length[at - 1]) && point < to->point[at - 1])))
        at--;
    if (at == 2) return;
    if (at == 0) {
        to->point[1] = to->point[0];
        to->length[1] = to->length[0];
    }
    to->point[at] = point;
    to->length[at] = length;
}

/* The edges of the element's shortest direction, if it is stretched. */
static void offer_edges(const hx_mesh *mesh, int64_t e, near *list)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    double length[3] = {0.0}, least, most;
    int shortest = 0;
    if (hx_cell_is_collapsed(conn)) return;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 4; i++)
            length[d] += length_of(mesh, conn[edge_of[d][i][0]], conn[edge_of[d][i][1]]);
    for (int d = 1; d < 3; d++)
        if (length[d] < length[shortest]) shortest = d;
    least = length[shortest];
    most = fmax(length[0], fmax(length[1], length[2]));
    if (!(most > STRETCHED * least)) return;
    for (int i = 0; i < 4; i++) {
        const int32_t a = conn[edge_of[shortest][i][0]], b = conn[edge_of[shortest][i][1]];
        const double ab = length_of(mesh, a, b);
        offer(&list[a], b, ab);
        offer(&list[b], a, ab);
    }
}

static int is_near(const near *list, int32_t a, int32_t b)
{
    return b >= 0 && (list[b].point[0] == a || list[b].point[1] == a);
}

/* The next point of a's line that is in none yet, or -1. */
static int32_t next_of(const near *list, const uint8_t *is_in, int32_t a)
{
    for (int i = 0; i < 2; i++) {
        const int32_t b = list[a].point[i];
        if (is_near(list, a, b) && !is_in[b]) return b;
    }
    return -1;
}

static int is_end(const near *list, int32_t a)
{
    return !(is_near(list, a, list[a].point[0]) && is_near(list, a, list[a].point[1]));
}

/* Lines from their ends, then closed ones; returns how many. */
static int64_t walk(const near *list, int64_t n_point, uint8_t *is_in, int32_t *first,
                    int32_t *point)
{
    int64_t n = 0;
    int32_t at = 0;
    first[0] = 0;
    for (int closed = 0; closed < 2; closed++)
        for (int64_t start = 0; start < n_point; start++) {
            if (is_in[start] || (!closed && !is_end(list, (int32_t)start))) continue;
            for (int32_t a = (int32_t)start; a >= 0; a = next_of(list, is_in, a)) {
                if (at - first[n] == LONGEST) first[++n] = at;
                is_in[a] = 1;
                point[at++] = a;
            }
            first[++n] = at;
        }
    return n;
}

static int put(hx_multigrid *mg, int64_t n, int64_t n_point, const int32_t *first,
               const int32_t *point)
{
    hx_device *const dev = mg->dev;
    hx_mg_lines *const lines = &mg->lines;
    const size_t n_dof = 3 * (size_t)n_point;
    HX_TRY(hx_device_put(dev, &lines->d_first, first, ((size_t)n + 1) * sizeof *first));
    HX_TRY(hx_device_put(dev, &lines->d_point, point, (size_t)n_point * sizeof *point));
    HX_TRY(dev->ops->alloc(dev, HX_LINE_NUMBERS * (size_t)n_point * sizeof *lines->d_factor,
                           &lines->d_factor));
    HX_TRY(dev->ops->alloc(dev, 2 * n_dof * sizeof *lines->d_block, &lines->d_block));
    HX_TRY(dev->ops->alloc(dev, n_dof * sizeof *mg->d_none, &mg->d_none));
    HX_TRY(dev->ops->zero(dev, mg->d_none, n_dof * sizeof *mg->d_none));
    lines->n = n;
    lines->n_point = n_point;
    return HX_OK;
}

/* Of hexahedra of 8 nodes; the same for all shares. */
static int wants_lines(const hx_problem *problem, const hx_device_ops *device)
{
    return device->multigrid && device->multigrid->lines_solve && problem->components == 3 &&
           problem->space.element == HX_ELEMENT_LINEAR &&
           hx_lattice_aspect(hx_problem_whole(problem)->mesh) > STRETCHED_MESH;
}

/* The pieces of a whole's lines that lie in a share; a point is in one line still. place[]: of the
 * whole's points in the share, -1 elsewhere. Returns how many, from first[]. */
static int64_t cut(int64_t n_line, const int32_t *whole_first, const int32_t *whole_point,
                   const int32_t *place, int32_t *first, int32_t *point)
{
    int64_t n = 0;
    int32_t at = 0;
    first[0] = 0;
    for (int64_t line = 0; line < n_line; line++) {
        for (int32_t p = whole_first[line]; p < whole_first[line + 1]; p++) {
            const int32_t a = place[whole_point[p]];
            if (a >= 0)
                point[at++] = a;
            else if (at > first[n])
                first[++n] = at;
        }
        if (at > first[n]) first[++n] = at;
    }
    return n;
}

/* Of a share: its pieces, and for those who complete them the whole's lines. */
static int put_share(hx_multigrid *mg, const hx_problem *share, int64_t n_line,
                     const int32_t *whole_first, const int32_t *whole_point)
{
    const size_t n_whole = (size_t)share->whole->mesh->n_node,
                 n_point = (size_t)share->mesh->n_node;
    const hx_common_ops *const common = mg->dev->ops->common;
    int32_t *place = NULL, *first = NULL, *point = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&place, n_whole, sizeof *place, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&first, n_point + 1, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&point, n_point, sizeof *point, WHAT));
    for (size_t a = 0; a < n_whole; a++) place[a] = -1;
    for (size_t a = 0; a < n_point; a++) place[share->whole_node[a]] = (int32_t)a;
    const int64_t n = cut(n_line, whole_first, whole_point, place, first, point);
    HX_TRY_FAIL(put(mg, n, (int64_t)n_point, first, point));
    HX_TRY_FAIL(common->share_lines(mg->dev, n_line, whole_first, whole_point, &mg->lines));
fail:
    free(place);
    free(first);
    free(point);
    return rc;
}

int hx_mg_lines_create(hx_multigrid *mg, const hx_operator *op)
{
    const hx_problem *const problem = op->problem;
    const hx_mesh *const mesh = hx_problem_whole(problem)->mesh;
    const size_t n_point = (size_t)mesh->n_node;
    near *list = NULL;
    int32_t *first = NULL, *point = NULL;
    uint8_t *is_in = NULL;
    int rc;
    if (!wants_lines(problem, mg->dev->ops)) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&list, n_point, sizeof *list, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&first, n_point + 1, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&point, n_point, sizeof *point, WHAT));
    HX_TRY_FAIL(hx_alloc(&is_in, n_point, 1, WHAT));
    for (size_t a = 0; a < n_point; a++) list[a] = (near){{-1, -1}, {INFINITY, INFINITY}};
    for (int64_t e = 0; e < mesh->n_elem; e++) offer_edges(mesh, e, list);
    const int64_t n = walk(list, (int64_t)n_point, is_in, first, point);
    rc = problem->whole ? put_share(mg, problem, n, first, point)
                        : put(mg, n, (int64_t)n_point, first, point);
fail:
    free(list);
    free(first);
    free(point);
    free(is_in);
    return rc;
}

int hx_mg_lines_setup(hx_multigrid *mg, const hx_operator *op)
{
    hx_device_model model = op->model;
    HX_TRY(hx_operator_block_diagonal(op, mg->lines.d_block)); /* the mesh has its lists then */
    model.d_node_elem_ptr = op->mesh->d_node_elem_ptr;
    model.d_node_elem = op->mesh->d_node_elem;
    HX_TRY(mg->ops->lines_couple(mg->dev, &model, &mg->lines));
    HX_TRY(hx_common_add_lines(mg->dev, &mg->lines));
    return mg->ops->lines_factorise(mg->dev, &mg->lines, mg->d_m);
}

double hx_mg_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                         const hx_strategy *strategy)
{
    if (!wants_lines(problem, device)) return 0.0;
    const double lists =
        hx_strategy_needs_lists(strategy) ? 0.0 : (double)hx_device_mesh_list_bytes(problem->mesh);
    return lists + (8.0 + 4.0 * HX_LINE_NUMBERS + 48.0 + 24.0) * (double)problem->space.n_point;
}

void hx_mg_lines_free(hx_multigrid *mg)
{
    const hx_device_ops *const ops = mg->dev->ops;
    ops->release(mg->dev, mg->lines.d_first);
    ops->release(mg->dev, mg->lines.d_point);
    ops->release(mg->dev, mg->lines.d_factor);
    ops->release(mg->dev, mg->lines.d_block);
    if (mg->lines.common) ops->common->free_lines(mg->dev, &mg->lines);
    memset(&mg->lines, 0, sizeof mg->lines);
}
