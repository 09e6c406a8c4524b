#include "surface_source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/hex_jacobian.h"
#include "core/memory.h"
#include "core/result_match.h"
#include "core/vtk.h"

/* Passive elements of at most, or at least, that density are void, or solid. */
static const double void_density = 0.1, solid_density = 0.9;

/* *path := the config to use, NULL: none. */
static int find_config(const char *result, const char *asked, char **path)
{
    static const char name[] = "config.cfg";
    const char *const slash = strrchr(result, '/');
    const size_t n_folder = slash ? (size_t)(slash - result) + 1 : 0;
    *path = NULL;
    if (asked && strcmp(asked, "none") == 0) return HX_OK;
    if (asked) return hx_strdup(path, asked);
    HX_TRY(hx_alloc(path, n_folder + sizeof name, 1, "file name"));
    memcpy(*path, result, n_folder);
    memcpy(*path + n_folder, name, sizeof name);
    if (access(*path, F_OK) == 0) return HX_OK;
    free(*path);
    *path = NULL;
    return HX_OK;
}

static int read_densities(hx_surface_source *source, const char *result, const hx_mesh *mesh)
{
    hx_result_match match;
    HX_TRY(hx_alloc(&source->rho, (size_t)mesh->n_elem, sizeof *source->rho, "densities"));
    HX_TRY(hx_result_read(result, "density", mesh, source->session.problem.rho_min, 0.0,
                          source->rho, &match));
    source->n_missing = match.n_missing;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (!isfinite(source->rho[e]))
            return HX_RAISE(HX_EINPUT, "%s: the density of element %lld is not a number", result,
                            (long long)hx_mesh_elem_number(mesh, e));
    return HX_OK;
}

/* Marks the nodes of a set; a name that the mesh does not have marks none. */
static void mark_set(hx_surface_source *source, const char *name)
{
    const hx_set *set = name ? hx_mesh_find_set(&source->session.mesh, name) : NULL;
    for (int64_t k = 0; set && k < set->n_node; k++) source->is_solid[set->node[k]] = 1;
}

/* The same for what the mesh's file states; load_case = 0: in any step. */
static void mark_values(hx_surface_source *source, int64_t n, const hx_file_value *value,
                        int load_case)
{
    for (int64_t k = 0; k < n; k++)
        if (load_case == 0 || value[k].load_case == load_case) source->is_solid[value[k].node] = 1;
}

static void mark_load(hx_surface_source *source, const hx_config_load *load)
{
    const hx_mesh *mesh = &source->session.mesh;
    mark_set(source, load->set);
    if (load->from) /* a file of one step gives it to any case */
        mark_values(source, mesh->n_file_force, mesh->file_force,
                    mesh->n_file_case > 1 ? load->load_case : 0);
}

static void mark_support(hx_surface_source *source, const hx_config_support *support)
{
    const hx_mesh *mesh = &source->session.mesh;
    mark_set(source, support->set);
    if (support->from) mark_values(source, mesh->n_file_support, mesh->file_support, 0);
}

static void mark_solid(hx_surface_source *source, unsigned preserve)
{
    const hx_session *s = &source->session;
    const hx_config_load *load = s->cfg.loads.entry;
    const hx_config_support *support = s->cfg.supports.entry;
    const hx_config_spring *spring = s->cfg.springs.entry;
    for (size_t i = 0; preserve & HX_PRESERVE_LOADS && i < s->cfg.loads.n; i++)
        mark_load(source, &load[i]);
    for (size_t i = 0; preserve & HX_PRESERVE_SUPPORTS && i < s->cfg.supports.n; i++)
        mark_support(source, &support[i]);
    for (size_t i = 0; preserve & HX_PRESERVE_SUPPORTS && i < s->cfg.springs.n; i++)
        mark_set(source, spring[i].set);
    if (!(preserve & HX_PRESERVE_PASSIVE) || !s->problem.passive) return;
    for (int64_t e = 0; e < s->mesh.n_elem; e++)
        for (int i = 0; s->problem.passive[e] >= solid_density && i < 8; i++)
            source->is_solid[s->mesh.conn[8 * e + i]] = 1;
}

/* number[n_node] := new number of each node of a kept element, -1 for the others. */
static int32_t number_nodes(const hx_mesh *mesh, const uint8_t *keep, int32_t *number)
{
    int32_t n = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) number[a] = -1;
    for (int64_t k = 0; k < 8 * mesh->n_elem; k++)
        if (keep[k / 8]) number[mesh->conn[k]] = 0;
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (number[a] == 0) number[a] = n++;
    return n;
}

/* own := the kept elements; rho and is_solid become theirs. */
static int keep_elements(hx_surface_source *source, const uint8_t *keep, int64_t n_elem)
{
    int rc;
    const hx_mesh *mesh = &source->session.mesh;
    int32_t *number = NULL, *conn = NULL;
    double *xyz = NULL;
    HX_TRY_FAIL(hx_alloc(&number, (size_t)mesh->n_node, sizeof *number, "numbers of nodes"));
    const int32_t n_node = number_nodes(mesh, keep, number);
    HX_TRY_FAIL(hx_alloc(&xyz, 3 * (size_t)n_node, sizeof *xyz, "nodes"));
    HX_TRY_FAIL(hx_alloc(&conn, 8 * (size_t)n_elem, sizeof *conn, "elements"));
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (number[a] < 0) continue;
        memcpy(xyz + 3 * (int64_t)number[a], mesh->xyz + 3 * a, 3 * sizeof *xyz);
        source->is_solid[number[a]] = source->is_solid[a];
    }
    for (int64_t e = 0, at = 0; e < mesh->n_elem; e++) {
        if (!keep[e]) continue;
        for (int i = 0; i < 8; i++) conn[8 * at + i] = number[mesh->conn[8 * e + i]];
        source->rho[at++] = source->rho[e];
    }
    rc = hx_mesh_create(&source->own, mesh->name, n_node, xyz, n_elem, conn);
    xyz = NULL; /* taken */
    conn = NULL;
    if (rc == HX_OK) rc = hx_mesh_finish(&source->own);
    source->mesh = &source->own;
fail:
    free(number);
    free(xyz);
    free(conn);
    return rc;
}

/* Without passive void, whose border is then the mesh's. */
static int leave_out_void(hx_surface_source *source)
{
    int rc = HX_OK;
    const hx_problem *problem = &source->session.problem;
    const int64_t n_elem = source->session.mesh.n_elem;
    uint8_t *keep = NULL;
    if (!problem->passive) return HX_OK;
    HX_TRY(hx_alloc(&keep, (size_t)n_elem, 1, "elements of the surface"));
    for (int64_t e = 0; e < n_elem; e++) {
        keep[e] = !(problem->passive[e] <= void_density); /* NaN: free */
        source->n_void += !keep[e];
    }
    if (source->n_void > 0) rc = keep_elements(source, keep, n_elem - source->n_void);
    free(keep);
    return rc;
}

static int open_with_config(hx_surface_source *source, const char *result, unsigned preserve)
{
    hx_session *s = &source->session;
    HX_TRY(hx_config_read(&s->cfg, source->config, 0, NULL));
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    source->mesh = &s->mesh;
    HX_TRY(read_densities(source, result, &s->mesh));
    HX_TRY(hx_alloc(&source->is_solid, (size_t)s->mesh.n_node, 1, "preserved nodes"));
    mark_solid(source, preserve);
    return leave_out_void(source);
}

static int open_alone(hx_surface_source *source, const char *result)
{
    source->mesh = &source->own;
    HX_TRY(hx_vtk_read(result, &source->own));
    HX_TRY(hx_mesh_reorder(&source->own));
    HX_TRY(hx_mesh_finish(&source->own));
    HX_TRY(read_densities(source, result, &source->own));
    return hx_alloc(&source->is_solid, (size_t)source->own.n_node, 1, "preserved nodes");
}

int hx_surface_source_open(hx_surface_source *source, const char *result, const char *config,
                           unsigned preserve)
{
    memset(source, 0, sizeof *source);
    HX_TRY(find_config(result, config, &source->config));
    if (access(result, R_OK) != 0)
        return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", result, strerror(errno));
    const int rc =
        source->config ? open_with_config(source, result, preserve) : open_alone(source, result);
    if (rc == HX_EINPUT && source->config && !config)
        hx_error_prefix("with the config beside the result (--config none goes without): ");
    HX_TRY(rc);
    for (int64_t e = 0; e < source->mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, source->mesh->xyz, source->mesh->conn + 8 * e);
        source->solid_volume += source->rho[e] * hx_hex_volume(&map);
    }
    for (int64_t a = 0; a < source->mesh->n_node; a++) source->n_solid += source->is_solid[a];
    return HX_OK;
}

void hx_surface_source_free(hx_surface_source *source)
{
    free(source->rho);
    free(source->is_solid);
    free(source->config);
    hx_mesh_free(&source->own);
    hx_session_free(&source->session);
    memset(source, 0, sizeof *source);
}
