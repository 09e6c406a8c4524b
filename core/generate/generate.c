/* The table of generators, the box and the cantilever (P1, example CB). */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
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
    /* Element counts of the paper's sizes, about the same for its four examples (Table 1). */
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
        return HX_RAISE(HX_EINPUT, "%s: size %d: the sizes are 1 to 5, or give nx", name,
                        params->size);
    const int most = 1000000;
    if (params->nx < 0 || params->ny < 0 || params->nz < 0 || params->nx > most ||
        params->ny > most || params->nz > most)
        return HX_RAISE(HX_EINPUT, "%s: nx = %d, ny = %d, nz = %d: numbers of elements are 1 to %d",
                        name, params->nx, params->ny, params->nz, most);
    if (params->size == 0 && params->nx == 0)
        return HX_RAISE(HX_EINPUT, "%s: give a size (1 to 5) or nx", name);
    return HX_OK;
}

int hx_generate_check_count(const char *name, double n_elem, double other_bytes)
{
    if (n_elem > (double)HX_MAX_ELEM)
        return HX_RAISE(HX_EINPUT, "%s: %.0f elements wanted, at most %lld are possible", name,
                        n_elem, (long long)HX_MAX_ELEM);
    const double mesh = n_elem * (double)hx_mesh_bytes_per_elem();
    const double bytes = mesh + n_elem * other_bytes;
    const double available = (double)hx_host_memory_available();
    char mesh_text[32], want[32], have[32];
    if (available <= 0.0 || bytes <= available) return HX_OK;
    hx_format_bytes(mesh, mesh_text, sizeof mesh_text);
    hx_format_bytes(bytes, want, sizeof want);
    hx_format_bytes(available, have, sizeof have);
    if (other_bytes > 0.0)
        return HX_RAISE(HX_ENOMEM,
                        "%s: %.0f elements take at least %s of host memory (the mesh %s, the rest "
                        "%.0f bytes an element), %s is available: take a smaller mesh",
                        name, n_elem, want, mesh_text, other_bytes, have);
    return HX_RAISE(HX_ENOMEM,
                    "%s: a mesh of %.0f elements takes %s of host memory, %s is available", name,
                    n_elem, want, have);
}

/* A node set of the box: all nodes with lo <= (i, j, k) <= hi. */
static int add_box_set(hx_mesh *mesh, const char *name, const int64_t np[3], const int64_t lo[3],
                       const int64_t hi[3])
{
    int32_t *node = NULL;
    size_t n = 1;
    int64_t filled = 0;
    for (int d = 0; d < 3; d++) n *= (size_t)(hi[d] - lo[d] + 1);
    HX_TRY(hx_alloc_raw(&node, n, sizeof *node, "nodes of a set"));
    for (int64_t k = lo[2]; k <= hi[2]; k++)
        for (int64_t j = lo[1]; j <= hi[1]; j++)
            for (int64_t i = lo[0]; i <= hi[0]; i++)
                node[filled++] = (int32_t)((k * np[1] + j) * np[0] + i);
    const int rc = hx_mesh_add_node_set(mesh, name, filled, node);
    free(node);
    return rc;
}

static int add_box_sets(hx_mesh *mesh, const int64_t np[3])
{
    static const char *const name[3][2] = {{"left", "right"}, {"front", "back"}, {"bottom", "top"}};
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            int64_t lo[3] = {0, 0, 0}, hi[3] = {np[0] - 1, np[1] - 1, np[2] - 1};
            if (side == 0)
                hi[d] = 0;
            else
                lo[d] = hi[d];
            HX_TRY(add_box_set(mesh, name[d][side], np, lo, hi));
        }
    const int64_t lo[3] = {np[0] - 1, 0, 0}, hi[3] = {np[0] - 1, np[1] - 1, 0};
    return add_box_set(mesh, "right-lower-edge", np, lo, hi);
}

int hx_generate_box(hx_mesh *mesh, int nx, int ny, int nz, double lx, double ly, double lz)
{
    int rc = HX_OK;
    double *xyz = NULL;
    int32_t *conn = NULL;
    memset(mesh, 0, sizeof *mesh);
    if (nx < 1 || ny < 1 || nz < 1)
        return HX_RAISE(HX_EINPUT, "box: %d x %d x %d elements: at least one each way", nx, ny, nz);
    if (!(lx > 0.0 && ly > 0.0 && lz > 0.0))
        return HX_RAISE(HX_EINPUT, "box: %g x %g x %g: lengths are positive", lx, ly, lz);
    HX_TRY(hx_generate_check_count("box", (double)nx * ny * nz, 0.0));
    const int64_t np[3] = {(int64_t)nx + 1, (int64_t)ny + 1, (int64_t)nz + 1};
    const int64_t n_node = np[0] * np[1] * np[2], n_elem = (int64_t)nx * ny * nz;
    HX_TRY_FAIL(hx_alloc_raw(&xyz, (size_t)n_node * 3, sizeof *xyz, "coordinates"));
    HX_TRY_FAIL(hx_alloc_raw(&conn, (size_t)n_elem * 8, sizeof *conn, "elements"));
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < np[1] * np[2]; row++)
        for (int64_t i = 0; i < np[0]; i++) {
            double *const x = xyz + (size_t)(row * np[0] + i) * 3;
            x[0] = lx * (double)i / nx;
            x[1] = ly * (double)(row % np[1]) / ny;
            x[2] = lz * (double)(row / np[1]) / nz;
        }
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < (int64_t)ny * nz; row++)
        for (int64_t i = 0; i < nx; i++) {
            const int64_t a = (row / ny * np[1] + row % ny) * np[0] + i, up = np[0] * np[1];
            const int64_t corner[8] = {a,      a + 1,      a + 1 + np[0],      a + np[0],
                                       a + up, a + 1 + up, a + 1 + np[0] + up, a + np[0] + up};
            for (int c = 0; c < 8; c++)
                conn[(size_t)(row * nx + i) * 8 + (size_t)c] = (int32_t)corner[c];
        }
    double *const xyz_given = xyz;
    int32_t *const conn_given = conn;
    xyz = NULL;
    conn = NULL;
    HX_TRY_FAIL(hx_mesh_create(mesh, "box", n_node, xyz_given, n_elem, conn_given));
    HX_TRY_FAIL(add_box_sets(mesh, np));
    return HX_OK;
fail:
    free(xyz);
    free(conn);
    hx_mesh_free(mesh);
    return rc;
}

/* Shortest edge of the mesh at each node; 0 on the boundary. */
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
        return HX_RAISE(HX_EINPUT, "%s: distort = %g: a share of the element size from 0 to 0.3",
                        mesh->name, share);
    if (share == 0.0) return HX_OK;
    if (mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: a finished mesh keeps its nodes", mesh->name);
    HX_TRY_FAIL(hx_mesh_build_incidence(mesh, &mesh->node_elem_ptr, &mesh->node_elem));
    HX_TRY_FAIL(hx_alloc_raw(&edge, (size_t)mesh->n_node, sizeof *edge, "edge lengths"));
    fill_edge_lengths(mesh, edge);
#pragma omp parallel for
    for (int64_t a = 0; a < mesh->n_node; a++) {
        uint64_t state = seed;
        state = hx_random_next(&state) + (uint64_t)a; /* one sequence a node */
        state = hx_random_next(&state);
        if (!(edge[a] > 0.0) || isinf(edge[a])) continue;
        for (size_t d = 0; d < 3; d++) {
            const double unit = hx_random_unit(hx_random_next(&state));
            /* 1 / sqrt(3): no move is longer than share * edge */
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

static int generate_cantilever(hx_mesh *mesh, const hx_generate_params *params)
{
    static const int count[6][3] = {{0, 0, 0},    {50, 25, 25},  {70, 35, 35},
                                    {90, 45, 45}, {120, 60, 60}, {160, 80, 80}};
    int rc = HX_OK;
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_generate_check("cantilever", params));
    int nx = count[params->size][0], ny = count[params->size][1], nz = count[params->size][2];
    if (params->nx > 0) nx = params->nx;
    if (params->ny > 0) ny = params->ny;
    if (params->nz > 0) nz = params->nz;
    if (ny == 0) ny = nx > 1 ? nx / 2 : 1;
    if (nz == 0) nz = nx > 1 ? nx / 2 : 1;
    HX_TRY(hx_generate_check_count("cantilever", (double)nx * ny * nz, params->other_bytes));
    HX_TRY_FAIL(hx_generate_box(mesh, nx, ny, nz, nx, ny, nz));
    free(mesh->name);
    HX_TRY_FAIL(hx_strdup(&mesh->name, "cantilever"));
    HX_TRY_FAIL(hx_mesh_distort(mesh, params->distort, params->seed));
    return HX_OK;
fail:
    hx_mesh_free(mesh);
    return rc;
}

const hx_generator hx_generator_cantilever = {
    .name = "cantilever",
    .help = "box of nx x ny x nz unit cubes, x along its length, z up (without a size ny = nz = "
            "nx / 2); node sets left, right (x), front, back (y), bottom, top (z), "
            "right-lower-edge (x = nx, z = 0)",
    .generate = generate_cantilever,
    .paper_radius = {3.0, 3.5, 4.0, 4.5, 5.0},
};
