/* The table of generators, the box, and the cantilever (example CB of P1). */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/names.h"
#include "../base/random.h"
#include "../mesh/mesh_internal.h"
#include "../mesh/node_star.h"
#include "generate_internal.h"

const hx_generator *const hx_generators[] = {&hx_generator_cantilever, &hx_generator_lbeam,
                                             &hx_generator_michell, &hx_generator_conrod, NULL};

const hx_generator *hx_generator_find(const char *name)
{
    for (size_t i = 0; hx_generators[i]; i++)
        if (strcmp(hx_generators[i]->name, name) == 0) return hx_generators[i];
    return NULL;
}

double hx_generator_radius(const hx_generator *gen, const hx_generate_params *params,
                           int64_t n_elem)
{
    /* Element counts of the five sizes of P1, about the same for its four examples (Table 1). */
    static const double count[5] = {33e3, 85e3, 185e3, 445e3, 1045e3};
    int nearest = 0;
    const int has_counts = params->nx > 0 || params->ny > 0 || params->nz > 0;
    if (!has_counts && params->size >= 1 && params->size <= 5)
        return gen->paper_radius[params->size - 1];
    for (int i = 1; i < 5; i++)
        if (fabs(log((double)n_elem / count[i])) < fabs(log((double)n_elem / count[nearest])))
            nearest = i;
    return gen->paper_radius[nearest];
}

int hx_generate_check(const char *name, const hx_generate_params *params)
{
    if (params->size < 0 || params->size > 5)
        return HX_RAISE(HX_EINPUT, "%s: size %d does not exist; give a size from 1 to 5, or nx",
                        name, params->size);
    const int most = 1000000;
    if (params->nx < 0 || params->ny < 0 || params->nz < 0 || params->nx > most ||
        params->ny > most || params->nz > most)
        return HX_RAISE(HX_EINPUT, "%s: nx = %d, ny = %d, nz = %d; each must be from 1 to %d %s",
                        name, params->nx, params->ny, params->nz, most,
                        hx_noun(most, "element", "elements"));
    if (params->size == 0 && params->nx == 0)
        return HX_RAISE(HX_EINPUT, "%s: give a size (1 to 5) or nx", name);
    return HX_OK;
}

int hx_generate_check_count(const char *name, double n_elem, const hx_generate_params *params)
{
    const int n_process = params->n_process > 1 ? params->n_process : 1;
    /* one process stores an incidence in 32 bits; several number elements in 31 bits */
    const double most = (double)(n_process > 1 ? INT32_MAX : HX_MAX_ELEM);
    const double other_bytes = params->other_bytes;
    if (n_elem > most)
        return HX_RAISE(HX_EINPUT, "%s: %.0f elements requested; at most %.0f are supported", name,
                        n_elem, most);
    const double share = n_elem / n_process * fmax(1.0, params->n_on_host);
    const double mesh = share * (double)hx_mesh_bytes_per_elem();
    const double bytes = mesh + share * other_bytes;
    const double available = (double)hx_host_memory_available();
    char mesh_text[32], want[32], have[32];
    if (available <= 0.0 || bytes <= available) return HX_OK;
    hx_format_bytes(mesh, mesh_text, sizeof mesh_text);
    hx_format_bytes(bytes, want, sizeof want);
    hx_format_bytes(available, have, sizeof have);
    if (other_bytes > 0.0)
        return HX_RAISE(HX_ENOMEM,
                        "%s: %.0f elements take at least %s of host memory (mesh: %s, other data: "
                        "%.0f bytes per element), but only %s is available; use a smaller mesh",
                        name, n_elem, want, mesh_text, other_bytes, have);
    return HX_RAISE(HX_ENOMEM,
                    "%s: a mesh of %.0f elements takes %s of host memory, but only %s is "
                    "available; use a smaller mesh",
                    name, n_elem, want, have);
}

/* A box of n[] elements. Elements and nodes are numbered along x, then y, then z. */
typedef struct box {
    int64_t n[3];
    double length[3];
} box;

/* at[] := grid position of item `number` in a grid of n[0] x n[1] x ... items. next_place() moves
 * to the next item without a division. */
static void find_grid_place(const int64_t n[2], int64_t number, int64_t at[3])
{
    if (number <= UINT32_MAX) { /* 32-bit division takes a third of the time */
        const uint32_t rest = (uint32_t)number / (uint32_t)n[0];
        at[0] = (uint32_t)number % (uint32_t)n[0];
        at[1] = rest % (uint32_t)n[1];
        at[2] = rest / (uint32_t)n[1];
        return;
    }
    at[0] = number % n[0];
    at[1] = number / n[0] % n[1];
    at[2] = number / n[0] / n[1];
}

static void next_place(const int64_t n[2], int64_t at[3])
{
    if (++at[0] < n[0]) return;
    at[0] = 0;
    if (++at[1] < n[1]) return;
    at[1] = 0;
    at[2]++;
}

static int box_elements(const hx_mesh_source *source, int64_t n, const int64_t *elem, int64_t *conn,
                        uint64_t *in_set)
{
    const box *const b = source->shape;
    const int64_t row = b->n[0] + 1, up = row * (b->n[1] + 1);
    int64_t at[3] = {0, 0, 0};
    for (int64_t k = 0; k < n; k++) {
        if (k > 0 && elem[k] == elem[k - 1] + 1)
            next_place(b->n, at);
        else
            find_grid_place(b->n, elem[k], at);
        const int64_t a = at[2] * up + at[1] * row + at[0];
        const int64_t corner[8] = {a,      a + 1,      a + 1 + row,      a + row,
                                   a + up, a + 1 + up, a + 1 + row + up, a + row + up};
        memcpy(conn + 8 * k, corner, sizeof corner);
        if (in_set) in_set[k] = 0;
    }
    return HX_OK;
}

enum { BOX_EDGE = 6 }; /* sets 0 to 5 are the sides */

static uint64_t box_sets(const box *b, const int64_t at[3])
{
    uint64_t bits = 0;
    for (int d = 0; d < 3; d++) {
        if (at[d] == 0) bits |= (uint64_t)1 << 2 * d;
        if (at[d] == b->n[d]) bits |= (uint64_t)2 << 2 * d;
    }
    if (at[0] == b->n[0] && at[2] == 0) bits |= (uint64_t)1 << BOX_EDGE;
    return bits;
}

static int box_nodes(const hx_mesh_source *source, int64_t n, const int64_t *node, double *xyz,
                     uint64_t *in_set)
{
    const box *const b = source->shape;
    const int64_t along[2] = {b->n[0] + 1, b->n[1] + 1};
    int64_t at[3] = {0, 0, 0};
    for (int64_t k = 0; k < n; k++) {
        if (k > 0 && node[k] == node[k - 1] + 1)
            next_place(along, at);
        else
            find_grid_place(along, node[k], at);
        for (int d = 0; d < 3; d++) xyz[3 * k + d] = b->length[d] * (double)at[d] / (double)b->n[d];
        if (in_set) in_set[k] = box_sets(b, at);
    }
    return HX_OK;
}

static void close_box(hx_mesh_source *source)
{
    free(source->shape);
}

static int open_box(hx_mesh_source *source, const char *name, const int n[3],
                    const double length[3])
{
    static const char *const set[] = {"left",   "right", "front",           "back",
                                      "bottom", "top",   "right-lower-edge"};
    box *b;
    memset(source, 0, sizeof *source);
    HX_TRY(hx_alloc(&b, 1, sizeof *b, "box"));
    *source = (hx_mesh_source){.name = name,
                               .n_node = 1,
                               .n_elem = 1,
                               .elements = box_elements,
                               .nodes = box_nodes,
                               .is_local = 1,
                               .shape = b,
                               .close = close_box};
    int is_unit = 1;
    for (int d = 0; d < 3; d++) {
        b->n[d] = n[d];
        b->length[d] = length[d];
        source->n_node *= (int64_t)n[d] + 1;
        source->n_elem *= n[d];
        is_unit = is_unit && length[d] == n[d];
    }
    if (is_unit) memcpy(source->cubes, b->n, sizeof source->cubes);
    for (; source->n_set < (int)(sizeof set / sizeof set[0]); source->n_set++)
        source->set[source->n_set].name = set[source->n_set];
    return HX_OK;
}

int hx_generate_box(hx_mesh *mesh, int nx, int ny, int nz, double lx, double ly, double lz)
{
    static const hx_generate_params one = {0};
    const int n[3] = {nx, ny, nz};
    const double length[3] = {lx, ly, lz};
    hx_mesh_source source;
    memset(mesh, 0, sizeof *mesh);
    if (nx < 1 || ny < 1 || nz < 1)
        return HX_RAISE(HX_EINPUT, "box: %d x %d x %d %s; give at least one in each direction", nx,
                        ny, nz, hx_noun(nz, "element", "elements"));
    if (!(lx > 0.0 && ly > 0.0 && lz > 0.0))
        return HX_RAISE(HX_EINPUT, "box: %g x %g x %g; lengths must be positive", lx, ly, lz);
    HX_TRY(hx_generate_check_count("box", (double)nx * ny * nz, &one));
    HX_TRY(open_box(&source, "box", n, length));
    const int rc = hx_source_mesh(&source, mesh);
    hx_source_close(&source);
    return rc;
}

int hx_generate(const hx_generator *gen, hx_mesh *mesh, const hx_generate_params *params)
{
    hx_mesh_source source;
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(gen->open(&source, params));
    int rc = params->in_order && params->distort == 0.0 ? hx_source_mesh_in_order(&source, mesh)
                                                        : hx_source_mesh(&source, mesh);
    hx_source_close(&source);
    if (rc == HX_OK) rc = hx_mesh_distort(mesh, params->distort, params->seed);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}

/* edge[a] := shortest mesh edge at each node; 0 on the boundary. */
static void fill_edge_lengths(const hx_mesh *mesh, double *edge)
{
    static const int next[8][3] = {{1, 3, 4}, {0, 2, 5}, {1, 3, 6}, {0, 2, 7},
                                   {0, 5, 7}, {1, 4, 6}, {2, 5, 7}, {3, 4, 6}};
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < mesh->n_node; a++) {
        const double *const x = mesh->xyz + (size_t)a * 3;
        double least = INFINITY; /* squared */
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++)
            for (int i = 0; i < 3; i++) {
                const int32_t *const conn = mesh->conn + (size_t)(mesh->node_elem[k] / 8) * 8;
                const double *const y =
                    mesh->xyz + (size_t)conn[next[mesh->node_elem[k] % 8][i]] * 3;
                double sum = 0.0;
                for (size_t d = 0; d < 3; d++) sum += (x[d] - y[d]) * (x[d] - y[d]);
                if (sum < least) least = sum;
            }
        edge[a] = hx_node_star_of(mesh, a).is_closed ? sqrt(least) : 0.0;
    }
}

int hx_mesh_distort(hx_mesh *mesh, double share, uint64_t seed)
{
    int rc = HX_OK;
    double *edge = NULL;
    if (!(share >= 0.0 && share <= 0.3))
        return HX_RAISE(HX_EINPUT,
                        "%s: distort = %g; it must be a fraction of the element size from 0 to 0.3",
                        mesh->name, share);
    if (share == 0.0) return HX_OK;
    if (mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: the nodes of a finished mesh cannot be moved",
                        mesh->name);
    HX_TRY_FAIL(hx_mesh_build_incidence(mesh, &mesh->node_elem_ptr, &mesh->node_elem));
    HX_TRY_FAIL(hx_alloc_raw(&edge, (size_t)mesh->n_node, sizeof *edge, "edge lengths"));
    fill_edge_lengths(mesh, edge);
#pragma omp parallel for
    for (int64_t a = 0; a < mesh->n_node; a++) {
        uint64_t state = seed;
        state = hx_random_next(&state) + (uint64_t)a; /* one sequence per node */
        state = hx_random_next(&state);
        if (!(edge[a] > 0.0) || isinf(edge[a])) continue;
        for (size_t d = 0; d < 3; d++) {
            const double unit = hx_random_unit(hx_random_next(&state));
            /* 1 / sqrt(3): no displacement exceeds share * edge */
            mesh->xyz[(size_t)a * 3 + d] += (2.0 * unit - 1.0) * share * edge[a] / sqrt(3.0);
        }
    }
fail:
    free(edge);
    free(mesh->node_elem_ptr);
    free(mesh->node_elem);
    mesh->node_elem_ptr = NULL;
    mesh->node_elem = NULL;
    return rc;
}

static int open_cantilever(hx_mesh_source *source, const hx_generate_params *params)
{
    static const int count[6][3] = {{0, 0, 0},    {50, 25, 25},  {70, 35, 35},
                                    {90, 45, 45}, {120, 60, 60}, {160, 80, 80}};
    memset(source, 0, sizeof *source);
    HX_TRY(hx_generate_check("cantilever", params));
    int n[3] = {count[params->size][0], count[params->size][1], count[params->size][2]};
    if (params->nx > 0) n[0] = params->nx;
    if (params->ny > 0) n[1] = params->ny;
    if (params->nz > 0) n[2] = params->nz;
    for (int d = 1; d < 3; d++)
        if (n[d] == 0) n[d] = n[0] > 1 ? n[0] / 2 : 1;
    HX_TRY(hx_generate_check_count("cantilever", (double)n[0] * n[1] * n[2], params));
    const double length[3] = {n[0], n[1], n[2]};
    return open_box(source, "cantilever", n, length);
}

const hx_generator hx_generator_cantilever = {
    .name = "cantilever",
    .help = "box of nx x ny x nz unit cubes, x along its length, z up (without a size ny = nz = "
            "nx / 2); node sets left, right (x), front, back (y), bottom, top (z), "
            "right-lower-edge (x = nx, z = 0)",
    .open = open_cantilever,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
