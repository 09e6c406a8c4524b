#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../config/config_tree.h"
#include "../session/result_path.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/generate/generate.h"
#include "core/mesh/hex8.h"
#include "core/mesh/load_faces.h"
#include "core/mesher/model_files.h"
#include "new.h"

static const char MM[] = "N, mm, MPa", MM_OF_HEAT[] = "mW, mm, K";

/* Centre of faces, weighted by area. */
static void measure_faces(const hx_mesh *mesh, int64_t n, const int64_t *face, hx_new_set *set)
{
    double sum[3] = {0.0, 0.0, 0.0};
    set->n_face = n;
    for (int64_t i = 0; i < n; i++) {
        int32_t node[4];
        hx_face_point point[4];
        hx_face_points(mesh, face[i], node, point);
        for (int p = 0; p < 4; p++) {
            const double *const a = point[p].normal;
            const double area = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            set->area += area;
            for (int d = 0; d < 3; d++) sum[d] += area * point[p].x[d];
        }
    }
    for (int d = 0; d < 3 && set->area > 0.0; d++) set->centre[d] = sum[d] / set->area;
}

/* A face of a CAD model is smooth; other sets named by the model may consist of several faces. */
static int fit_set(const hx_mesh *mesh, int is_cad, hx_new_set *set)
{
    if (is_cad && strncmp(set->set->name, "face-", 5) == 0)
        return hx_face_fit_smooth(mesh, set->set, &set->shape);
    return hx_face_fit(mesh, set->set, &set->shape);
}

static int measure_set(const hx_mesh *mesh, int is_cad, hx_new_set *set)
{
    const hx_set *const own = set->set;
    int64_t n = 0, *face = NULL;
    set->is_inner = own->n_face > 0 && hx_set_inner_faces(mesh, own) == own->n_face;
    if (!set->is_inner) HX_TRY(hx_load_faces(mesh, own, &n, &face));
    if (n > 0)
        measure_faces(mesh, n, face, set);
    else if (own->n_elem == 0)
        for (int64_t i = 0; i < own->n_node; i++)
            for (int d = 0; d < 3; d++)
                set->centre[d] += mesh->xyz[3 * (int64_t)own->node[i] + d] / (double)own->n_node;
    /* Centre of elements, weighted by volume. */
    if (own->n_elem > 0) {
        double all = 0.0, sum[3] = {0.0, 0.0, 0.0};
        for (int64_t i = 0; i < own->n_elem; i++) {
            const int32_t *const conn = mesh->conn + 8 * (int64_t)own->elem[i];
            double x[24], centre[3];
            for (int a = 0; a < 8; a++)
                memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
            const double volume = hx_hex8_volume(x);
            hx_mesh_centroid(mesh, own->elem[i], centre);
            all += volume;
            for (int d = 0; d < 3; d++) sum[d] += volume * centre[d];
        }
        for (int d = 0; d < 3 && all > 0.0; d++) set->centre[d] = sum[d] / all;
    }
    free(face);
    set->is_fitted = n > 0 && own->n_face > 0;
    return set->is_fitted ? fit_set(mesh, is_cad, set) : HX_OK;
}

/* Fluxes and films of a config act only on the boundary of the part. */
static void find_heat_fault(hx_new_part *part)
{
    const hx_mesh *const mesh = &part->session.mesh;
    const hx_conditions *const c = &part->session.conditions;
    snprintf(part->heat_fault, sizeof part->heat_fault, "%s", c->heat_fault ? c->heat_fault : "");
    for (int64_t i = 0; i < c->n_heat && !part->heat_fault[0]; i++) {
        const hx_file_heat *const heat = &c->heat[i];
        const hx_set *const set = hx_mesh_find_set(mesh, heat->set);
        if (!set || (heat->kind != HX_FILE_FLUX && heat->kind != HX_FILE_FILM)) continue;
        const int64_t n = hx_set_inner_faces(mesh, set);
        if (n == 0) continue;
        snprintf(part->heat_fault, sizeof part->heat_fault,
                 "%lld of the %lld faces of set '%.200s', which has a %s, lie between elements, "
                 "not on the boundary of the part",
                 (long long)n, (long long)set->n_face, set->name,
                 heat->kind == HX_FILE_FILM ? "film" : "flux");
    }
}

/* KEY="TEXT", with the text escaped for libconfig. */
static int put_quoted_key(hx_value *tree, const char *key, const char *value)
{
    enum { MOST_ESCAPED = 4 };
    char *argument = NULL;
    const size_t n = strlen(key) + MOST_ESCAPED * strlen(value) + 4;
    HX_TRY(hx_alloc(&argument, n, 1, "argument"));
    char *to = argument + sprintf(argument, "%s=\"", key);
    for (; *value; value++) to += hx_new_escape(*value, to);
    *to++ = '"';
    *to = '\0';
    const int rc = hx_value_override(tree, argument);
    free(argument);
    return rc;
}

/* Fills a minimal config that can read the part, with the arguments. is_heat = 1: for heat, unless
 * an argument sets the physics. */
static int fill_tree(const hx_new_part *part, const char *named, int is_heat, hx_value **tree)
{
    char folder[160];
    HX_TRY(hx_value_read_text(tree, "optimization = { volume_fraction = 0.3; };", "new"));
    snprintf(folder, sizeof folder, "out/%s", part->name);
    HX_TRY(put_quoted_key(*tree, part->is_file ? "mesh.file" : "mesh.generator", named));
    HX_TRY(put_quoted_key(*tree, "output.directory", folder));
    if (is_heat) HX_TRY(put_quoted_key(*tree, "physics", hx_physics_name(HX_PHYSICS_HEAT)));
    if (part->is_cad)
        HX_TRY(put_quoted_key(*tree, "units", hx_new_is_heat_requested(part) ? MM_OF_HEAT : MM));
    for (size_t i = 0; i < part->n_override; i++)
        HX_TRY(hx_config_override(*tree, part->override[i]));
    return HX_OK;
}

static int read_part_config(hx_new_part *part, const char *named, int is_heat)
{
    hx_value *tree = NULL;
    const int rc = fill_tree(part, named, is_heat, &tree);
    if (rc == HX_OK) return hx_config_from_tree(&part->session.cfg, tree, "new");
    hx_value_free(tree);
    return rc;
}

/* Called after a config for elasticity (the default) refused the arguments, perhaps because they
 * are keys of heat and the file is a heat-transfer job. Reads the part for heat with these
 * arguments. If the file is no such job, the first message is raised. If the arguments also fail
 * for heat, the file is read without them, and its kind decides which of the two messages is
 * raised. */
static int read_part_of_heat(hx_new_part *part, const char *named)
{
    char first[HX_MESSAGE_SIZE], second[HX_MESSAGE_SIZE] = "";
    snprintf(first, sizeof first, "%s", hx_error_message());
    hx_error_clear();
    int rc = read_part_config(part, named, 1);
    if (rc == HX_EINPUT) {
        const size_t n = part->n_override;
        snprintf(second, sizeof second, "%s", hx_error_message());
        hx_error_clear();
        if (strcmp(first, second) == 0) return HX_RAISE(HX_EINPUT, "%s", first);
        part->n_override = 0;
        rc = read_part_config(part, named, 1);
        part->n_override = n;
    }
    if (rc == HX_OK) rc = hx_session_make_mesh(&part->session);
    if (rc < 0 && rc != HX_EINPUT) return rc;
    const int is_heat = part->session.conditions.is_heat;
    if (is_heat && !second[0]) return rc;
    hx_error_clear();
    return HX_RAISE(HX_EINPUT, "%s", is_heat ? second : first);
}

static int read_part(hx_new_part *part, const char *named)
{
    int has_physics = 0;
    for (size_t i = 0; i < part->n_override; i++)
        has_physics |= strncmp(part->override[i], "physics=", 8) == 0;
    part->session.is_draft = 1;
    part->session.has_physics_of_file = !has_physics;
    const int rc = read_part_config(part, named, 0);
    if (rc == HX_EINPUT && part->is_file && !part->is_cad && !has_physics)
        return read_part_of_heat(part, named);
    return rc < 0 ? rc : hx_session_make_mesh(&part->session);
}

/* The units that the file states, otherwise mm; an argument takes precedence. */
static int choose_units(hx_new_part *part)
{
    hx_config *const cfg = &part->session.cfg;
    const hx_file_units *const stated = &part->session.conditions.units;
    const int is_heat = hx_new_is_heat(part);
    part->units = cfg->units.system;
    if (!part->is_file || cfg->units.system[0]) return HX_OK;
    part->units = is_heat ? MM_OF_HEAT : MM;
    if (stated->stated[0]) part->units = is_heat ? stated->heat : stated->units;
    if (!part->units) return HX_OK;
    return is_heat ? hx_units_parse_heat(&cfg->units, part->units)
                   : hx_units_parse(&cfg->units, part->units);
}

int hx_new_part_open(hx_new_part *part, const char *named, const char *target, size_t n_override,
                     const char *const *override)
{
    memset(part, 0, sizeof *part);
    part->n_override = n_override;
    part->override = override;
    part->is_file = hx_model_is_file(named);
    if (!part->is_file && !hx_generator_find(named)) {
        const char *generator[64];
        char hint[512];
        size_t n_name = 0;
        for (; hx_generators[n_name] && n_name < 64; n_name++)
            generator[n_name] = hx_generators[n_name]->name;
        if (access(named, F_OK) == 0)
            return HX_RAISE(HX_EINPUT, "'%s' is not a mesh or CAD model that hextop reads", named);
        return HX_RAISE(HX_EINPUT, "'%s' is neither a file nor a generator%s", named,
                        hx_name_hint(named, generator, n_name, hint, sizeof hint));
    }
    part->is_cad = part->is_file && hx_model_is_cad(named);
    /* "bracket" of "parts/bracket.step" */
    const char *const slash = strrchr(named, '/'), *const name = slash ? slash + 1 : named;
    const char *const dot = strrchr(name, '.');
    const size_t n = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(part->name, sizeof part->name, "%.*s", n < 100 ? (int)n : 100, name);
    if (part->is_file)
        HX_TRY(hx_path_seen_from(target, named, &part->file));
    else
        HX_TRY(hx_strdup(&part->file, named));
    HX_TRY(read_part(part, named));
    find_heat_fault(part);
    HX_TRY(choose_units(part));
    const hx_mesh *const mesh = &part->session.mesh;
    HX_TRY(hx_alloc(&part->set, mesh->n_set, sizeof *part->set, "sets"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        if (mesh->set[i].n_node == 0) continue;
        hx_new_set *const set = &part->set[part->n_set++];
        set->set = &mesh->set[i];
        HX_TRY(measure_set(mesh, part->is_cad, set));
    }
    return HX_OK;
}

void hx_new_part_free(hx_new_part *part)
{
    free(part->set);
    free(part->file);
    hx_session_free(&part->session);
    memset(part, 0, sizeof *part);
}
