/* Lines of points along short edges, for line smoothing on a mesh of stretched elements: a point is
 * coupled with its neighbours along short edges as strongly as with itself, which point Jacobi
 * ignores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../mesh/cell.h"
#include "../operator/interface_ops.h"
#include "line_block.h"
#include "multigrid_internal.h"
#include "plan_coarse.h"

static const char *const WHAT = "lines of nodes";

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

/* Inserts a point: nearer points first; among equally near ones, the one with the lower number. */
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

enum { NOT_STRETCHED = 3 };

/* Shortest direction of the element if its longest edges are more than `aspect` times as long as its
 * shortest. */
static uint8_t direction_of(const hx_mesh *mesh, int64_t e, double aspect)
{
    const int32_t *const conn = mesh->conn + 8 * e;
    double length[3] = {0.0}, least, most;
    int shortest = 0;
    if (hx_cell_is_collapsed(conn)) return NOT_STRETCHED;
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < 4; i++)
            length[d] += length_of(mesh, conn[edge_of[d][i][0]], conn[edge_of[d][i][1]]);
    for (int d = 1; d < 3; d++)
        if (length[d] < length[shortest]) shortest = d;
    least = length[shortest];
    most = fmax(length[0], fmax(length[1], length[2]));
    return most > aspect * least ? (uint8_t)shortest : NOT_STRETCHED;
}

/* The corner at the other end of a corner's edge in a direction. */
static int other_end(int direction, int corner)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++)
            if (edge_of[direction][i][k] == corner) return edge_of[direction][i][1 - k];
    return corner;
}

/* The nearest points along the short edges of a point's elements. */
static near near_to(const hx_mesh *mesh, const uint8_t *direction, int64_t a)
{
    near to = {{-1, -1}, {INFINITY, INFINITY}};
    for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
        const int64_t e = mesh->node_elem[k] / 8;
        if (direction[e] == NOT_STRETCHED) continue;
        const int32_t b =
            mesh->conn[8 * e + other_end(direction[e], (int)(mesh->node_elem[k] % 8))];
        offer(&to, b, length_of(mesh, (int32_t)a, b));
    }
    return to;
}

static int find_near(const hx_mesh *mesh, double aspect, near *list)
{
    uint8_t *direction;
    HX_TRY(hx_alloc_raw(&direction, (size_t)mesh->n_elem, sizeof *direction, WHAT));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) direction[e] = direction_of(mesh, e, aspect);
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) list[a] = near_to(mesh, direction, a);
    free(direction);
    return HX_OK;
}

/* Entry i of the two points nearest to a, if a is also one of the two nearest to it; otherwise
 * -1. */
static int32_t neighbour(const near *list, int32_t a, int i)
{
    const int32_t b = list[a].point[i];
    return b >= 0 && (list[b].point[0] == a || list[b].point[1] == a) ? b : -1;
}

/* The point that follows a on a line that came from `from` (-1: the line starts at a), or -1. */
static int32_t next_of(const near *list, int32_t a, int32_t from)
{
    const int32_t b = neighbour(list, a, 0), c = neighbour(list, a, 1);
    return b >= 0 && b != from ? b : c >= 0 && c != from ? c : -1;
}

static int is_end(const near *list, int32_t a)
{
    return neighbour(list, a, 0) < 0 || neighbour(list, a, 1) < 0;
}

/* Number of points of the line that starts at an end; 0 if its other end has a lower number. */
static int64_t length_from(const near *list, int32_t end)
{
    int64_t n = 0;
    int32_t from = -1, a = end;
    while (a >= 0) {
        const int32_t next = next_of(list, a, from);
        from = a;
        a = next;
        n++;
    }
    return from < end ? 0 : n;
}

/* Lists that line starting at point[at], cut into pieces of at most `longest` points that start at
 * first[n]; returns the number of pieces. */
static int64_t list_line(const near *list, int32_t end, int longest, int64_t at, uint8_t *is_in,
                         int32_t *first, int32_t *point)
{
    int64_t n = 0, length = 0;
    for (int32_t from = -1, a = end, next; a >= 0; from = a, a = next, length++) {
        next = next_of(list, a, from);
        if (length % longest == 0) first[n++] = (int32_t)(at + length);
        is_in[a] = 1;
        point[at + length] = a;
    }
    return n;
}

/* Numbers of lines, and of their points, whose first end is in each part of the points; after
 * add_up_counts, those in all parts before. */
typedef struct counts {
    int64_t line[HX_N_PART + 1], point[HX_N_PART + 1];
} counts;

static void add_up_counts(counts *c)
{
    for (int part = 0; part < HX_N_PART; part++) {
        c->point[part + 1] += c->point[part];
        c->line[part + 1] += c->line[part];
    }
}

static void count_lines(const near *list, int64_t n_point, int longest, counts *c)
{
    memset(c, 0, sizeof *c);
#pragma omp parallel for schedule(dynamic)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t stop = hx_part_begin(n_point, part + 1);
        for (int64_t a = hx_part_begin(n_point, part); a < stop; a++) {
            if (!is_end(list, (int32_t)a)) continue;
            const int64_t n = length_from(list, (int32_t)a);
            c->point[part + 1] += n;
            c->line[part + 1] += (n + longest - 1) / longest;
        }
    }
    add_up_counts(c);
}

/* Lists closed lines, from points that are in no line yet; afterwards every point is in one. */
static int64_t walk_closed(const near *list, int64_t n_point, int longest, int64_t n, int64_t at,
                           uint8_t *is_in, int32_t *first, int32_t *point)
{
    for (int64_t start = 0; at < n_point; start++) {
        int64_t length = 0;
        for (int32_t a = (int32_t)start, b, c; a >= 0 && !is_in[a]; length++) {
            if (length % longest == 0) first[n++] = (int32_t)at;
            is_in[a] = 1;
            point[at++] = a;
            b = neighbour(list, a, 0), c = neighbour(list, a, 1);
            a = b >= 0 && !is_in[b] ? b : c;
        }
    }
    return n;
}

/* Lists the lines from their ends with the lower number, in ascending order, and then the closed
 * lines. Returns how many. */
static int64_t walk_lines(const near *list, int64_t n_point, int longest, uint8_t *is_in,
                          int32_t *first, int32_t *point)
{
    counts c;
    count_lines(list, n_point, longest, &c);
#pragma omp parallel for schedule(dynamic)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t stop = hx_part_begin(n_point, part + 1);
        int64_t n = c.line[part], at = c.point[part];
        for (int64_t a = hx_part_begin(n_point, part); a < stop; a++) {
            const int64_t length = is_end(list, (int32_t)a) ? length_from(list, (int32_t)a) : 0;
            if (length == 0) continue;
            n += list_line(list, (int32_t)a, longest, at, is_in, first + n, point);
            at += length;
        }
    }
    const int64_t n = walk_closed(list, n_point, longest, c.line[HX_N_PART], c.point[HX_N_PART],
                                  is_in, first, point);
    first[n] = (int32_t)n_point;
    return n;
}

static int put_mesh_lines(hx_multigrid *mg, int64_t n, int64_t n_point, const int32_t *first,
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

int hx_mg_needs_lines(const hx_problem *problem, const hx_device_ops *device)
{
    return device->multigrid && device->multigrid->lines && problem->components == 3 &&
           problem->space.element == HX_ELEMENT_LINEAR &&
           hx_coarse_plan_aspect(hx_problem_whole(problem)) >
               hx_mg_params_of(problem)->lines.aspect;
}

/* Extracts the pieces of the whole mesh's lines `line` to `end` that lie in a subdomain, and
 * appends them after *n lines and *at points. first and point may be NULL, to count only. place[]:
 * number in the subdomain of each point of the whole mesh, or -1. */
static void cut_some(const int32_t *whole_first, const int32_t *whole_point, int64_t line,
                     int64_t end, const int32_t *place, int64_t *n, int64_t *at, int32_t *first,
                     int32_t *point)
{
    for (; line < end; line++) {
        int is_in = 0;
        for (int32_t p = whole_first[line]; p < whole_first[line + 1]; p++) {
            const int32_t a = place[whole_point[p]];
            if (a >= 0 && !is_in && first) first[*n] = (int32_t)*at;
            *n += a >= 0 && !is_in;
            if (a >= 0 && point) point[*at] = a;
            *at += a >= 0;
            is_in = a >= 0;
        }
    }
}

/* Extracts the pieces of all lines; each point stays in exactly one. Returns the number of lines in
 * first[]. */
static int64_t cut_lines(int64_t n_line, const int32_t *whole_first, const int32_t *whole_point,
                         const int32_t *place, int32_t *first, int32_t *point)
{
    counts c = {{0}, {0}};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        cut_some(whole_first, whole_point, hx_part_begin(n_line, part),
                 hx_part_begin(n_line, part + 1), place, &c.line[part + 1], &c.point[part + 1],
                 NULL, NULL);
    add_up_counts(&c);
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t n = c.line[part], at = c.point[part];
        cut_some(whole_first, whole_point, hx_part_begin(n_line, part),
                 hx_part_begin(n_line, part + 1), place, &n, &at, first, point);
    }
    first[c.line[HX_N_PART]] = (int32_t)c.point[HX_N_PART];
    return c.line[HX_N_PART];
}

/* For a subdomain: uploads its pieces, and passes the lines of the whole mesh to the functions that
 * complete them. */
static int put_share(hx_multigrid *mg, const hx_problem *share, int64_t n_line,
                     const int32_t *whole_first, const int32_t *whole_point)
{
    const size_t n_whole = (size_t)share->whole->mesh->n_node,
                 n_point = (size_t)share->mesh->n_node;
    const hx_interface_ops *const interface = mg->dev->ops->interface;
    int32_t *place = NULL, *first = NULL, *point = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc_raw(&place, n_whole, sizeof *place, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&first, n_point + 1, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&point, n_point, sizeof *point, WHAT));
#pragma omp parallel for schedule(static)
    for (size_t a = 0; a < n_whole; a++) place[a] = -1;
#pragma omp parallel for schedule(static)
    for (size_t a = 0; a < n_point; a++) place[share->whole_node[a]] = (int32_t)a;
    const int64_t n = cut_lines(n_line, whole_first, whole_point, place, first, point);
    HX_TRY_FAIL(put_mesh_lines(mg, n, (int64_t)n_point, first, point));
    HX_TRY_FAIL(interface->split_lines(mg->dev, n_line, whole_first, whole_point, &mg->lines));
fail:
    free(place);
    free(first);
    free(point);
    return rc;
}

int hx_mg_lines_create(hx_multigrid *mg, const hx_operator *op)
{
    const hx_problem *const problem = op->problem;
    const hx_mg_line_params *const params = &hx_mg_params_of(problem)->lines;
    const hx_mesh *const mesh = hx_problem_whole(problem)->mesh;
    const size_t n_point = (size_t)mesh->n_node;
    near *list = NULL;
    int32_t *first = NULL, *point = NULL;
    uint8_t *is_in = NULL;
    int rc;
    if (!hx_mg_needs_lines(problem, mg->dev->ops)) return HX_OK;
    HX_TRY_FAIL(hx_alloc_raw(&list, n_point, sizeof *list, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&first, n_point + 1, sizeof *first, WHAT));
    HX_TRY_FAIL(hx_alloc_raw(&point, n_point, sizeof *point, WHAT));
    HX_TRY_FAIL(hx_alloc(&is_in, n_point, 1, WHAT));
    HX_TRY_FAIL(find_near(mesh, params->element_aspect, list));
    const int64_t n = walk_lines(list, (int64_t)n_point, params->longest, is_in, first, point);
    rc = problem->whole ? put_share(mg, problem, n, first, point)
                        : put_mesh_lines(mg, n, (int64_t)n_point, first, point);
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
    /* this also uploads the node lists of the mesh */
    HX_TRY(hx_operator_block_diagonal(op, mg->lines.d_block));
    model.d_node_elem_ptr = op->mesh->d_node_elem_ptr;
    model.d_node_elem = op->mesh->d_node_elem;
    HX_TRY(mg->ops->lines->couple(mg->dev, &model, &mg->lines));
    HX_TRY(hx_interface_add_lines(mg->dev, &mg->lines));
    return mg->ops->lines->invert(mg->dev, &mg->splitting);
}

double hx_mg_lines_bytes(const hx_problem *problem, const hx_device_ops *device,
                         const hx_operator_kind *op_kind)
{
    if (!hx_mg_needs_lines(problem, device)) return 0.0;
    const double lists = hx_operator_kind_needs_lists(op_kind)
                             ? 0.0
                             : (double)hx_device_mesh_list_bytes(problem->mesh);
    return lists + (8.0 + 4.0 * HX_LINE_NUMBERS + 48.0 + 24.0) * (double)problem->space.n_point;
}

void hx_mg_lines_free(hx_multigrid *mg)
{
    const hx_device_ops *const ops = mg->dev->ops;
    ops->release(mg->dev, mg->lines.d_first);
    ops->release(mg->dev, mg->lines.d_point);
    ops->release(mg->dev, mg->lines.d_factor);
    ops->release(mg->dev, mg->lines.d_block);
    if (mg->lines.interface) ops->interface->free_lines(mg->dev, &mg->lines);
    memset(&mg->lines, 0, sizeof mg->lines);
}
