/* Nodal densities, the volume enclosed at a threshold, and the threshold that encloses a given
 * volume. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../base/union_find.h"
#include "../mesh/hex_jacobian.h"
#include "surface_internal.h"
#include "surface_patch.h"

/* States of the elements and of their nodes. */
typedef struct solids {
    uint8_t *state;   /* [n_elem] HX_SOLID_*; NULL: all free (owned) */
    uint8_t *is_kept; /* [n_node] (owned) */
} solids;

static int sort_solids(const hx_surface_field *field, const uint8_t *is_solid, solids *s)
{
    if (!is_solid) return HX_OK;
    HX_TRY(hx_alloc_raw(&s->state, (size_t)field->mesh->n_elem, 1, "states of elements"));
    HX_TRY(hx_alloc_raw(&s->is_kept, (size_t)field->mesh->n_node, 1, "nodes that stay"));
    return hx_surface_sort_solid(field, is_solid, s->state, s->is_kept);
}

/* Mean over the elements at node a that are not in the body. Each element counts once, even if it
 * names the node at several corners; such incidences are consecutive. */
static double nodal_density(const hx_surface_field *field, const solids *s, const double *rho,
                            const double *volume, int64_t a)
{
    const hx_mesh *mesh = field->mesh;
    double mass = 0.0, sum = 0.0;
    int64_t last = -1;
    for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
        const int64_t e = mesh->node_elem[k] / 8;
        if (e == last || hx_surface_is_solid(field, e)) continue;
        last = e;
        mass += (s->state && s->state[e] == HX_SOLID_CUT ? 1.0 : rho[e]) * volume[e];
        sum += volume[e];
    }
    if (!(sum > 0.0)) return HUGE_VAL;
    return s->is_kept && s->is_kept[a] ? 1.0 : mass / sum;
}

int hx_surface_field_create(hx_surface_field *field, const hx_mesh *mesh, const double *rho,
                            const uint8_t *is_solid)
{
    int rc;
    double *volume = NULL;
    solids s = {NULL, NULL};
    memset(field, 0, sizeof *field);
    field->mesh = mesh;
    HX_TRY_FAIL(hx_alloc_raw(&volume, (size_t)mesh->n_elem, sizeof *volume, "element volumes"));
    HX_TRY_FAIL(
        hx_alloc_raw(&field->value, (size_t)mesh->n_node, sizeof(double), "nodal densities"));
    HX_TRY_FAIL(hx_mesh_boundary_faces(mesh, NULL, &field->n_face, &field->face));
    HX_TRY_FAIL(sort_solids(field, is_solid, &s));
    if (s.state) HX_TRY_FAIL(hx_surface_body_create(field, s.state));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        volume[e] = hx_hex_volume(&map);
    }
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++)
        field->value[a] = nodal_density(field, &s, rho, volume, a);
fail:
    if (rc != HX_OK) hx_surface_field_free(field);
    free(volume);
    free(s.state);
    free(s.is_kept);
    return rc;
}

void hx_surface_field_free(hx_surface_field *field)
{
    free(field->value);
    free(field->face);
    free(field->body);
    free(field->is_repaired);
    memset(field, 0, sizeof *field);
}

static double patch_volume(const hx_surface_patch *patch, const double origin[3])
{
    double sum = 0.0;
    for (int i = 0; i < patch->n_tri; i++) {
        double x[3][3];
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) x[k][d] = patch->x[patch->tri[i][k]][d] - origin[d];
        sum += hx_triple3(x[0], x[1], x[2]);
    }
    return sum / 6.0;
}

/* Uses the divergence theorem on the surface. */
void hx_surface_volume(const hx_surface_field *field, double threshold, double *volume)
{
    const hx_mesh *mesh = field->mesh;
    double part[HX_N_PART], origin[3];
    for (int d = 0; d < 3; d++) origin[d] = 0.5 * (mesh->box_min[d] + mesh->box_max[d]);
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < HX_N_PART; i++) {
        hx_surface_patch patch;
        double sum = 0.0;
        for (int64_t e = hx_part_begin(mesh->n_elem, i); e < hx_part_begin(mesh->n_elem, i + 1);
             e++) {
            const unsigned mask = hx_surface_mask(field, threshold, e);
            if (mask == 0 || mask == 255) continue;
            hx_surface_cut_cell(field, threshold, e, &patch);
            sum += patch_volume(&patch, origin);
        }
        for (int64_t f = hx_part_begin(field->n_face, i); f < hx_part_begin(field->n_face, i + 1);
             f++) {
            hx_surface_cut_face(field, threshold, field->face[f], &patch);
            sum += patch_volume(&patch, origin);
        }
        part[i] = sum;
    }
    *volume = hx_sum_parts(part);
}

/* A bracket of thresholds; the volume decreases with the threshold. */
typedef struct bracket {
    double low, high;               /* thresholds */
    double volume_low, volume_high; /* volume_low >= target >= volume_high */
} bracket;

/* Regula falsi with Illinois weights and a bisection every third step, until the volume is met to a
 * relative 1e-7 or the thresholds are adjacent floating-point numbers (a jump). */
static void narrow(const hx_surface_field *field, double target, bracket *b)
{
    enum { MOST_STEPS = 80 };
    double weight_low = 1.0, weight_high = 1.0;
    int last = 0;
    for (int step = 1; step <= MOST_STEPS; step++) {
        const double over = weight_low * (b->volume_low - target);
        const double under = weight_high * (target - b->volume_high);
        double t = b->low + (b->high - b->low) * (over / (over + under));
        double volume;
        if (step % 3 == 0 || !(t > b->low && t < b->high)) t = 0.5 * (b->low + b->high);
        if (!(t > b->low && t < b->high) || b->high - b->low < 1e-14 * fabs(b->high)) return;
        hx_surface_volume(field, t, &volume);
        if (volume >= target) {
            b->low = t;
            b->volume_low = volume;
            weight_high = last > 0 ? 0.5 * weight_high : 1.0;
            weight_low = 1.0;
            last = 1;
        } else {
            b->high = t;
            b->volume_high = volume;
            weight_low = last < 0 ? 0.5 * weight_low : 1.0;
            weight_high = 1.0;
            last = -1;
        }
        if (fabs(volume - target) <= 1e-7 * target) return;
    }
}

/* Smallest and largest nodal density of free elements; low > high: there are none. */
static void find_range(const hx_surface_field *field, double *least, double *largest)
{
    double low = HUGE_VAL, high = -HUGE_VAL;
#pragma omp parallel for schedule(static) reduction(min : low) reduction(max : high)
    for (int64_t a = 0; a < field->mesh->n_node; a++) {
        low = fmin(low, field->value[a]);
        if (field->value[a] < HUGE_VAL) high = fmax(high, field->value[a]);
    }
    *least = low;
    *largest = high;
}

int hx_surface_threshold(const hx_surface_field *field, double target, double *threshold,
                         double *volume)
{
    const hx_mesh *mesh = field->mesh;
    bracket b = {.volume_low = mesh->total_volume};
    double low, high;
    find_range(field, &low, &high);
    if (low > high) low = high = 0.5; /* all elements are forced solid */
    if (field->body) hx_surface_volume(field, high, &b.volume_high);
    if (!(target > 0.0) || target > mesh->total_volume * (1.0 + 1e-9))
        return HX_RAISE(HX_EINPUT, "the solid cannot have volume %g in a mesh of volume %g", target,
                        mesh->total_volume);
    if (target < b.volume_high * (1.0 - 1e-9))
        return HX_RAISE(HX_EINPUT,
                        "the solid cannot have volume %g, because the forced-solid elements have "
                        "volume %g",
                        target, b.volume_high);
    /* below the least value everything is inside; at the largest, only forced-solid elements are */
    b.low = low - fmax(fabs(low), 1.0) * 1e-9;
    b.high = high;
    if (target < mesh->total_volume * (1.0 - 1e-12)) narrow(field, target, &b);
    const int take_low = b.volume_low - target <= target - b.volume_high || b.volume_high <= 0.0;
    *threshold = take_low ? b.low : b.high;
    *volume = take_low ? b.volume_low : b.volume_high;
    return HX_OK;
}

/* --- pieces --- */

/* Unites inside nodes of an element that are connected along edges or across faces. */
static void unite_cell(const hx_surface_field *field, double threshold, int64_t e, int32_t *piece)
{
    const int32_t *conn = field->mesh->conn + 8 * e;
    const unsigned mask = hx_surface_mask(field, threshold, e);
    if (mask == 0) return;
    for (int i = 0; i < 12; i++) {
        const int a = hx_hex_edge[i][0], b = hx_hex_edge[i][1];
        if (mask >> a & mask >> b & 1u) hx_unite(piece, conn[a], conn[b]);
    }
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 2; i++) {
            const int *n = hx_hex_face[f];
            double u[4];
            for (int k = 0; k < 4; k++) u[k] = field->value[conn[n[(k + i) % 4]]] - threshold;
            if (u[0] > 0.0 && u[2] > 0.0 && hx_surface_joined(u[0], u[2], u[1], u[3]) &&
                u[1] <= 0.0 && u[3] <= 0.0)
                hx_unite(piece, conn[n[i]], conn[n[i + 2]]);
        }
}

int hx_surface_pieces(const hx_surface_field *field, double threshold, int32_t *piece,
                      int64_t *n_piece, int32_t *largest)
{
    int rc;
    const hx_mesh *mesh = field->mesh;
    int32_t *count = NULL;
    uint8_t *is_in = NULL;
    int64_t n = 0, best = -1;
    HX_TRY_FAIL(hx_alloc(&count, (size_t)mesh->n_node, sizeof *count, "sizes of pieces"));
    HX_TRY_FAIL(hx_alloc_raw(&is_in, (size_t)mesh->n_node, 1, "nodes inside"));
    /* Inside; nodes of forced-solid elements always are. */
    for (int64_t a = 0; a < mesh->n_node; a++) is_in[a] = field->value[a] - threshold > 0.0;
    for (int64_t k = 0; field->body && k < 8 * mesh->n_elem; k++)
        if (hx_surface_is_solid(field, k / 8)) is_in[mesh->conn[k]] = 1;
    for (int64_t a = 0; a < mesh->n_node; a++) piece[a] = (int32_t)a;
    for (int64_t e = 0; e < mesh->n_elem; e++) unite_cell(field, threshold, e, piece);
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (!is_in[a]) {
            piece[a] = -1;
            continue;
        }
        const int32_t root = hx_root(piece, (int32_t)a);
        n += root == a;
        count[root]++;
    }
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (piece[a] >= 0) piece[a] = hx_root(piece, (int32_t)a);
        if (count[a] > 0 && (best < 0 || count[a] > count[best])) best = a;
    }
    if (n_piece) *n_piece = n;
    if (largest) *largest = (int32_t)best;
fail:
    free(count);
    free(is_in);
    return rc;
}

void hx_surface_leave_out(hx_surface_field *field, double threshold, const int32_t *piece,
                          int32_t keep)
{
    const hx_mesh *mesh = field->mesh;
    for (int64_t a = 0; a < mesh->n_node;
         a++) /* outside nodes keep their values, which position the surface */
        if (piece[a] >= 0 && piece[a] != keep && field->value[a] > threshold)
            field->value[a] = -HUGE_VAL;
    for (int64_t e = 0; field->body && e < mesh->n_elem; e++)
        if (piece[mesh->conn[8 * e]] != keep) field->body[e] = 0;
}
