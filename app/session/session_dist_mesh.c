/* A mesh that the processes of a run make in parts (core/dist_mesh): whether that is possible, and
 * agreement of all processes before they start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../text/log.h"
#include "core/base/memory.h"
#include "core/dist_mesh/dist_mesh.h"
#include "core/files/file_source.h"
#include "core/files/mesh_files.h"
#include "core/mesh/mesh_check.h"
#include "core/mesh/mesh_hash.h"
#include "session_internal.h"

/* Number of elements from which `auto` makes the mesh in parts. */
#define AUTO_ELEMENTS ((int64_t)1 << 24)

/* Smallest size of an element in a file: a tetrahedron in Gmsh's binary format. */
#define LEAST_BYTES 20

/* A mesh whose mean element has a larger aspect ratio is smoothed along lines of the whole mesh. */
#define MOST_ASPECT 3.0

static int has_other_loads(const hx_config *cfg)
{
    const hx_config_load *const load = cfg->loads.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->loads.n; i++)
        any |= load[i].from || !isnan(load[i].bearing_force[0]) ||
               !isnan(load[i].remote_force[0]) || !isnan(load[i].moment[0]);
    return any;
}

static int has_skin(const hx_config *cfg)
{
    const hx_config_passive *const passive = cfg->passive.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->passive.n; i++) any |= !isnan(passive[i].skin);
    return any;
}

static int holds_by_file(const hx_config *cfg)
{
    const hx_config_support *const support = cfg->supports.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->supports.n; i++) any |= !support[i].set;
    return any;
}

/* Reason why a mesh from a file is needed whole in each process; NULL: none. */
static const char *file_needs_whole(const hx_config *cfg)
{
    const hx_mesh_format *const format = hx_mesh_format_of_file(cfg->mesh.file);
    if (!format || !format->read_to) return "a mesh.file other than .vtk, .msh or .inp";
    if (cfg->mesh.merge > 0.0) return "mesh.merge";
    if (cfg->material.from) return "material.from";
    if (cfg->mesh.ignore.n > 0) return "mesh.ignore";
    return NULL;
}

static int has_local_volume(const hx_config *cfg)
{
    const hx_config_constraint *const constraint = cfg->optimization.constraints.entry;
    int any = 0;
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        any |= strcmp(constraint[i].kind, "local_volume") == 0;
    return any;
}

static int has_stress(const hx_config *cfg)
{
    const hx_config_constraint *const constraint = cfg->optimization.constraints.entry;
    int any = strcmp(cfg->optimization.objective.kind, "stress") == 0;
    for (size_t i = 0; i < cfg->optimization.constraints.n; i++)
        any |= strcmp(constraint[i].kind, "stress") == 0;
    return any;
}

/* Reason why the whole mesh is needed in each process; NULL: none. */
static const char *session_needs_whole(const hx_session *s)
{
    const hx_config *const cfg = &s->cfg;
    const hx_partition_kind partition = cfg->solver.partition;
    const char *const of_file = cfg->mesh.file ? file_needs_whole(cfg) : NULL;
    if (of_file) return of_file;
    if (cfg->mesh.distort > 0.0) return "mesh.distort";
    if (cfg->mesh.shuffle != 0) return "mesh.shuffle";
    if (!cfg->mesh.reorder) return "mesh.reorder = false";
    if (cfg->solver.element != HX_ELEMENT_LINEAR) return "solver.element";
    if (partition == HX_PARTITION_GRAPH) return "solver.partition = \"graph\"";
    if (cfg->optimization.symmetry.n > 0) return "optimization.symmetry";
    if (cfg->optimization.repetition.n > 0) return "optimization.repetition";
    if (!isnan(cfg->optimization.extrusion[0])) return "optimization.extrusion";
    if (hx_config_sweep(cfg)) return hx_config_sweep(cfg);
    if (cfg->optimization.initial) return "optimization.initial";
    if (has_stress(cfg)) return "stresses that are limited or minimized";
    if (has_local_volume(cfg)) return "a limit of the local volume";
    if (cfg->springs.n > 0) return "springs";
    if (cfg->convection.n > 0) return "convection";
    if (holds_by_file(cfg)) return "supports from the mesh's file";
    if (has_other_loads(cfg))
        return "loads other than forces, tractions, pressures and loads by mass";
    if (has_skin(cfg)) return "passive skins";
    if (cfg->output.format != HX_VTK_BINARY) return "output.format";
    if (s->own_folders) return "an output.directory that not all processes see";
    if (hx_config_has_field(cfg, HX_FIELD_SETS)) return "the field \"sets\"";
    return NULL;
}

static int refuse_dist_mesh(const hx_session *s, const char *why)
{
    return hx_session_blame(
        s, "mesh.in_parts",
        HX_RAISE(HX_EINPUT,
                 "\"always\", but each process needs the whole mesh because of %s: use \"auto\"",
                 why));
}

/* Logs why each process makes the whole mesh. HX_EINPUT: the config forbids it. */
static int take_whole(const hx_session *s, const char *why)
{
    if (s->cfg.mesh.in_parts == HX_IN_PARTS_ALWAYS) return refuse_dist_mesh(s, why);
    hx_log_detail("mesh: each process creates the whole mesh, because of %s", why);
    return HX_OK;
}

/* Sets the distance that a filter reaches, in elements or as a length, slightly enlarged, since the
 * mean element size is not known exactly yet. */
static void set_reach(const hx_session *s, const hx_generate_params *generate, int64_t n_elem,
                      hx_dist_mesh_params *params)
{
    const hx_config *const cfg = &s->cfg;
    const double radius = cfg->optimization.filter.radius;
    if (!hx_filter_find(cfg->optimization.filter.kind)->sums_pairs) return;
    params->in_elements = isnan(radius) || cfg->optimization.filter.unit == HX_UNIT_ELEMENT;
    /* it is required with mesh.file, and its absence is reported later */
    params->reach = isnan(radius) ? 0.0 : radius;
    if (isnan(radius) && generate)
        params->reach =
            hx_generator_radius(hx_generator_find(cfg->mesh.generator), generate, n_elem);
    params->reach *= 1.02;
}

/* The mesh that a process would make, on which all must agree before they make it together. */
typedef struct intent {
    int64_t in_parts;               /* 1: in parts */
    int64_t n_elem, n_node, n_byte; /* n_byte: of the file */
    double reach;
    int64_t partition, in_elements;
} intent;

/* *agreed: 1: all processes would make the same distributed mesh; 0: none would, or they differ,
 * which is reported when configs and meshes are compared. Collective. */
static int agree(const hx_session *s, const intent *own, int *agreed)
{
    intent *all;
    HX_TRY(hx_alloc_raw(&all, (size_t)s->comm->size, sizeof *all, "parts of a mesh"));
    const int rc = s->comm->ops->all_gather(s->comm, own, sizeof *own, all);
    *agreed = own->in_parts != 0;
    for (int r = 0; rc == HX_OK && r < s->comm->size; r++)
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): compares bits; no padding */
        *agreed &= memcmp(&all[r], own, sizeof *own) == 0;
    free(all);
    return rc;
}

/* Finds errors and warnings of a mesh file that only a check of the whole mesh can report.
 * Collective. */
static int find_faults(hx_session *s, const char **why)
{
    int64_t n_body = 1, n_double = 0;
    HX_TRY(hx_dist_mesh_bodies(&s->mesh, s->comm, &n_body));
    if (n_body > 1) *why = "bodies that share no node";
    if (!isnan(s->cfg.mesh.merge)) return HX_OK;
    HX_TRY(hx_mesh_count_coincident(&s->mesh, &n_double));
    HX_TRY(hx_reduce_sum_i64(&s->reduce.base, 1, &n_double));
    if (n_double > 0) *why = "nodes that lie where another one does";
    return HX_OK;
}

/* Makes the distributed mesh, unless the elements are too long. */
static int create_dist_mesh(hx_session *s, const hx_mesh_source *source,
                            const hx_dist_mesh_params *params)
{
    hx_comm_reduce_of(&s->reduce, s->comm);
    HX_TRY(hx_dist_mesh_create(&s->mesh, s->comm, &s->reduce.base, source, params));
    const char *why =
        s->mesh.ownership->aspect > fmin(MOST_ASPECT, s->cfg.solver.multigrid.lines.aspect)
            ? "lines of nodes along short edges"
            : NULL;
    if (!why && !source->is_local) HX_TRY(find_faults(s, &why));
    if (why) {
        hx_mesh_free(&s->mesh);
        return take_whole(s, why);
    }
    s->cfg.solver.partition = params->partition;
    return HX_OK;
}

static int note_faces(const hx_session *s, const hx_mesh_source *source)
{
    hx_notes notes = {0};
    const int rc = hx_file_source_note(source, s->cfg.mesh.file, &notes);
    hx_log_notes(&notes);
    return rc;
}

/* Makes it from mesh.file; not if that is small or needed whole. */
static int create_of_file(hx_session *s, const hx_dist_mesh_params *params)
{
    hx_mesh_source source = {.name = NULL};
    hx_notes notes = {0};
    char why[HX_FILE_WHY];
    const int64_t least = s->cfg.mesh.in_parts == HX_IN_PARTS_ALWAYS ? 0 : AUTO_ELEMENTS;
    int rc = hx_file_source_open(&source, s->comm, s->cfg.mesh.file, least, &notes, why);
    if (rc == HX_OK && !why[0]) {
        hx_log_notes(&notes);
        rc = create_dist_mesh(s, &source, params);
        if (rc == HX_OK && s->mesh.ownership) rc = note_faces(s, &source);
    } else if (rc == HX_OK) {
        rc = take_whole(s, why);
    }
    hx_notes_free(&notes);
    hx_source_close(&source);
    return rc;
}

/* Opens a generated mesh; *in_parts = 1: each process makes a part of it. */
static int open_generator(const hx_session *s, hx_mesh_source *source, hx_dist_mesh_params *params,
                          int *in_parts)
{
    const hx_config *const cfg = &s->cfg;
    hx_generate_params generate;
    hx_session_generate_params(s, &generate);
    generate.n_process = s->comm->size;
    generate.n_on_host = s->comm->host_size;
    HX_TRY(hx_generator_find(cfg->mesh.generator)->open(source, &generate));
    *in_parts = cfg->mesh.in_parts == HX_IN_PARTS_ALWAYS || source->n_elem >= AUTO_ELEMENTS;
    set_reach(s, &generate, source->n_elem, params);
    return HX_OK;
}

/* Opens the source of a mesh that may be made in parts; for a file only its size, since all open it
 * together. own->in_parts = 1: it will be made in parts. */
static int open_source(const hx_session *s, hx_mesh_source *source, hx_dist_mesh_params *params,
                       intent *own)
{
    const hx_config *const cfg = &s->cfg;
    const int is_curve = cfg->solver.partition == HX_PARTITION_CURVE;
    struct stat state;
    int in_parts = 0;
    if (cfg->mesh.in_parts == HX_IN_PARTS_NEVER) return HX_OK;
    const char *const why = session_needs_whole(s);
    if (why) return take_whole(s, why);
    params->partition = is_curve ? HX_PARTITION_CURVE : HX_PARTITION_BISECTION;
    if (cfg->mesh.file) {
        own->n_byte = stat(cfg->mesh.file, &state) == 0 ? (int64_t)state.st_size : 0;
        in_parts =
            cfg->mesh.in_parts == HX_IN_PARTS_ALWAYS || own->n_byte >= AUTO_ELEMENTS * LEAST_BYTES;
        set_reach(s, NULL, 0, params);
    } else {
        HX_TRY(open_generator(s, source, params, &in_parts));
    }
    own->in_parts = in_parts;
    return HX_OK;
}

int hx_session_make_dist_mesh(hx_session *s)
{
    hx_mesh_source source = {.name = NULL};
    hx_dist_mesh_params params = {.reach = 0.0};
    intent own;
    int agreed;
    if (!s->comm || !s->may_distribute_mesh) return HX_OK;
    memset(&own, 0, sizeof own); /* padding is compared, too */
    int rc = open_source(s, &source, &params, &own);
    own.n_elem = source.n_elem;
    own.n_node = source.n_node;
    own.reach = params.reach;
    own.partition = params.partition;
    own.in_elements = params.in_elements;
    if (rc == HX_OK) rc = agree(s, &own, &agreed);
    if (rc == HX_OK && agreed)
        rc = s->cfg.mesh.file ? create_of_file(s, &params) : create_dist_mesh(s, &source, &params);
    hx_source_close(&source);
    return rc;
}

/* Counts nodes and elements of the sets over all processes. */
static int count_sets(hx_session *s)
{
    const hx_mesh *const mesh = &s->mesh;
    HX_TRY(hx_alloc(&s->set_size, 2 * mesh->n_set + 1, sizeof *s->set_size, "sets"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        for (int64_t k = 0; k < set->n_node; k++)
            s->set_size[2 * i] += hx_mesh_owns_node(mesh, set->node[k]);
        for (int64_t k = 0; k < set->n_elem; k++)
            s->set_size[2 * i + 1] +=
                set->elem[k] >= hx_mesh_own_begin(mesh) && set->elem[k] < hx_mesh_own_end(mesh);
    }
    return hx_reduce_sum_i64(&s->reduce.base, (int)(2 * mesh->n_set), s->set_size);
}

int hx_session_agree_dist_mesh(hx_session *s)
{
    if (!s->mesh.ownership) return HX_OK;
    HX_TRY(count_sets(s));
    HX_TRY(hx_mesh_hash_all(&s->mesh, &s->mesh_hash));
    HX_TRY(hx_mesh_order_hash_all(&s->mesh, &s->order_hash));
    s->has_mesh_hash = s->has_order_hash = 1;
    hx_coarse_plan_make(&s->coarse_plan, &s->problem, s->solver.precond,
                        hx_session_solver_device(s)->ops);
    return HX_OK;
}

int64_t hx_session_n_point(const hx_session *s)
{
    return s->mesh.ownership ? s->mesh.ownership->n_node : s->space.n_point;
}

void hx_session_set_size(const hx_session *s, size_t i, int64_t *n_node, int64_t *n_elem)
{
    *n_node = s->set_size ? s->set_size[2 * i] : s->mesh.set[i].n_node;
    *n_elem = s->set_size ? s->set_size[2 * i + 1] : s->mesh.set[i].n_elem;
}
