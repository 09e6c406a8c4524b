#include "surface_source.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/files/result_match.h"
#include "core/files/vtk.h"
#include "core/mesh/hex_jacobian.h"
#include "core/surface/surface.h"

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
    }
    for (int64_t e = 0, at = 0; e < mesh->n_elem; e++) {
        if (!keep[e]) continue;
        for (int i = 0; i < 8; i++) conn[8 * at + i] = number[mesh->conn[8 * e + i]];
        source->is_solid[at] = source->is_solid[e];
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
    const hx_result_part *part = &source->part;
    const int64_t n_elem = source->session.mesh.n_elem;
    uint8_t *keep = NULL;
    if (part->n_void == 0) return HX_OK;
    if (part->n_void == n_elem)
        return HX_RAISE(HX_EINPUT, "all elements are passive void: there is no part");
    HX_TRY(hx_alloc(&keep, (size_t)n_elem, 1, "elements of the surface"));
    for (int64_t e = 0; e < n_elem; e++) keep[e] = part->state[e] != HX_PART_VOID;
    const int rc = keep_elements(source, keep, n_elem - part->n_void);
    free(keep);
    return rc;
}

static int make_part(hx_surface_source *source, unsigned preserve)
{
    const hx_session *s = &source->session;
    const int64_t n_elem = s->mesh.n_elem;
    HX_TRY(hx_part_create(&source->part, s, source->rho, preserve));
    source->target = source->part.target;
    HX_TRY(hx_alloc(&source->is_solid, (size_t)n_elem, 1, "solid elements"));
    for (int64_t e = 0; e < n_elem; e++) {
        if (source->part.state[e] != HX_PART_SOLID) continue;
        source->is_solid[e] = 1;
        for (int f = 0; f < 6; f++)
            if (source->part.kept_face[e] >> f & 1u) source->is_solid[e] |= hx_surface_kept_face(f);
    }
    return leave_out_void(source);
}

static int open_with_config(hx_surface_source *source, const char *result, unsigned preserve)
{
    hx_session *s = &source->session;
    HX_TRY(hx_config_read(&s->cfg, source->config, 0, NULL));
    HX_TRY(hx_session_make_mesh(s));
    s->cfg.solver.element = HX_ELEMENT_LINEAR; /* nothing is solved */
    HX_TRY(hx_session_make_problem(s));
    source->mesh = &s->mesh;
    HX_TRY(read_densities(source, result, &s->mesh));
    return make_part(source, preserve);
}

static int open_alone(hx_surface_source *source, const char *result)
{
    source->mesh = &source->own;
    HX_TRY(hx_vtk_read(result, &source->own));
    HX_TRY(hx_mesh_reorder(&source->own));
    HX_TRY(hx_mesh_finish(&source->own));
    HX_TRY(read_densities(source, result, &source->own));
    for (int64_t e = 0; e < source->own.n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, source->own.xyz, source->own.conn + 8 * e);
        source->target += source->rho[e] * hx_hex_volume(&map);
    }
    return HX_OK;
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
    return rc;
}

void hx_surface_source_free(hx_surface_source *source)
{
    free(source->rho);
    free(source->is_solid);
    hx_part_free(&source->part);
    free(source->config);
    hx_mesh_free(&source->own);
    hx_session_free(&source->session);
    memset(source, 0, sizeof *source);
}
