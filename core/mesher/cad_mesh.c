/* Makes a mesh with sets from the shape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "../files/mesh_files.h"
#include "cad_halves.h"

typedef struct meshing {
    size_t n, capacity;
    hx_cad_solid *solid;              /* [n] in the order of the mesh (owned) */
    hx_cad_parts half[HX_CAD_N_KIND]; /* of a mirrored mesh, in its order (owned) */
    int rc;
} meshing;

static void take_line(void *context, int stream, const char *text)
{
    meshing *const m = context;
    hx_cad_solid s = {.source = -1};
    (void)stream;
    if (m->rc == HX_OK) m->rc = hx_cad_take_part(text, "half", m->half);
    if (m->rc < 0 || strncmp(text, "hextop solid ", 13) != 0) return;
    if (sscanf(text + 13, "%lf %lf %lf %lf %lf %lf %lf", &s.box[0], &s.box[1], &s.box[2], &s.box[3],
               &s.box[4], &s.box[5], &s.volume) != 7)
        return;
    m->rc = hx_grow(&m->solid, m->n, &m->capacity, sizeof *m->solid, "solids");
    if (m->rc == HX_OK) m->solid[m->n++] = s;
}

static const char begin[] = "SetFactory(\"OpenCASCADE\");\n"
                            "General.NumThreads = 1;\n"
                            "v() = ShapeFromFile(\"shape.brep\");\n";

/* For a mirrored mesh: replaces the shape by its part inside x. */
static const char cut[] =
    "v() = BooleanIntersection{ Volume{v()}; Delete; }{ Volume{x}; Delete; };\n"
    "If (#v() > 1)\n"
    "  w() = BooleanFragments{ Volume{v()}; Delete; }{};\n"
    "  v() = Unique(w());\n"
    "EndIf\n";

static const char surfaces[] = "s() = Unique(Abs(Boundary{ Volume{v()}; }));\n";

/* Number of elements per full turn of a curve, and the size of the smallest of them: curvature
 * refines elements by at most a factor of 4. */
static const char script[] =
    "For i In {0:#v()-1}\n"
    "  b() = BoundingBox Volume{v(i)};\n"
    "  m = Mass Volume{v(i)};\n"
    "  Printf(\"hextop solid %%.17g %%.17g %%.17g %%.17g %%.17g %%.17g %%.17g\","
    " b(0), b(1), b(2), b(3), b(4), b(5), m);\n"
    "  Physical Volume(Sprintf(\"solid-%%g\", i + 1)) = {v(i)};\n"
    "EndFor\n"
    "For i In {0:#s()-1}\n"
    "  Physical Surface(Sprintf(\"face-%%g\", i + 1)) = {s(i)};\n"
    "EndFor\n"
    "Mesh.MeshSizeMax = %.17g;\n"
    "Mesh.MeshSizeMin = %.17g;\n"
    "Mesh.MeshSizeFromCurvature = 14;\n"
    "Mesh.MeshSizeFromPoints = 0;\n"
    "Mesh.MeshSizeExtendFromBoundary = 1;\n"
    "Mesh.ElementOrder = 1;\n"
    "Mesh.Algorithm = %d;\n"
    "Mesh.Algorithm3D = %d;\n"
    "Mesh.Optimize = 1;\n"
    "Mesh.OptimizeThreshold = 0.6;\n"
    "Mesh.Binary = 1;\n"
    "Mesh.MshFileVersion = 4.1;\n"
    "Mesh 3;\n"
    "Save \"model.msh\";\n"
    "Exit;\n";

/* Algorithms in the order in which they are tried: frontal triangles with Delaunay tetrahedra;
 * slower and more robust algorithms for both. */
static const struct {
    int triangles, tetrahedra;
} way[] = {{6, 1}, {1, 1}, {5, 4}};
enum { N_WAY = sizeof way / sizeof way[0] };

static int write_script(const hx_cad_job *job, double size, int w)
{
    enum { REFINED = 4 };
    const hx_cad_halves *const halves = job->halves;
    hx_atomic_file out;
    char *path = NULL;
    HX_TRY(hx_scratch_path(job->folder, "mesh.geo", &path));
    const int rc = hx_atomic_file_open(&out, path);
    free(path);
    HX_TRY(rc);
    fputs(begin, out.stream);
    if (halves) {
        hx_cad_put_region(out.stream, halves, halves->plane, halves->n_plane);
        fputs(cut, out.stream);
    }
    fputs(surfaces, out.stream);
    if (halves) hx_cad_put_parts(out.stream, "half");
    fprintf(out.stream, script, size, size / REFINED, way[w].triangles, way[w].tetrahedra);
    return hx_atomic_file_commit(&out);
}

/* --- which solid of the file a meshed one is --- */

/* Largest distance between sides of the boxes; INFINITY: `inner` is not inside `outer`. */
static double box_distance(const double inner[6], const double outer[6])
{
    double far = 0.0, size = 0.0;
    for (int k = 0; k < 3; k++) size = fmax(size, outer[k + 3] - outer[k]);
    for (int k = 0; k < 6; k++) {
        const double inwards = k < 3 ? inner[k] - outer[k] : outer[k] - inner[k];
        if (inwards < -1e-5 * size - 1e-6) return INFINITY;
        far = fmax(far, inwards);
    }
    return far;
}

/* The solid of the file that a meshed solid is part of: the one with the smallest box around it;
 * among equal ones, the one with the nearest volume into which it fits. */
static int64_t find_source(const hx_cad_shape *shape, const hx_cad_solid *solid)
{
    int64_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < shape->n_source; i++) {
        const hx_cad_solid *const s = &shape->source[i];
        if (isinf(box_distance(solid->box, s->box)) || solid->volume > s->volume * (1.0 + 1e-6))
            continue;
        const double measure = (s->box[3] - s->box[0]) * (s->box[4] - s->box[1]) *
                               (s->box[5] - s->box[2]) *
                               (1.0 + 1e-3 * (1.0 - solid->volume / s->volume));
        if (measure < least) {
            least = measure;
            best = (int64_t)i;
        }
    }
    return best;
}

void hx_cad_clean_name(const char *from, char *to, size_t n_to)
{
    size_t n = 0;
    for (const unsigned char *c = (const unsigned char *)from; *c && n + 1 < n_to; c++)
        to[n++] = *c < 32 || *c == '"' || *c == '\\' || *c == 127 ? '_' : (char)*c;
    to[n] = '\0';
}

/* Adds the sets solid-k in the file's order, and sets of the solids with names in the file. */
static int name_solids(const hx_cad_shape *shape, const meshing *m, const int64_t *rank,
                       hx_mesh *mesh)
{
    const size_t n_set = mesh->n_set;
    for (size_t i = 0; i < n_set; i++) {
        long long k = 0;
        char name[128];
        if (sscanf(mesh->set[i].name, "solid-%lld", &k) != 1 || k < 1 || (size_t)k > m->n) continue;
        const hx_cad_solid *const source = &shape->source[m->solid[k - 1].source];
        char numbered[48];
        snprintf(numbered, sizeof numbered, "solid-%lld", (long long)rank[k - 1]);
        free(mesh->set[i].name);
        mesh->set[i].name = NULL;
        HX_TRY(hx_strdup(&mesh->set[i].name, numbered));
        hx_cad_clean_name(source->name, name, sizeof name);
        if (name[0] && strncmp(name, "solid-", 6) != 0 && strncmp(name, "face-", 5) != 0)
            HX_TRY(hx_mesh_add_elem_set(mesh, name, mesh->set[i].n_elem, mesh->set[i].elem));
    }
    return HX_OK;
}

static int compare_sets(const void *a, const void *b)
{
    const char *const x = ((const hx_set *)a)->name, *const y = ((const hx_set *)b)->name;
    const int kind_x = strncmp(x, "solid-", 6) == 0 ? 1 : strncmp(x, "face-", 5) == 0 ? 2 : 0;
    const int kind_y = strncmp(y, "solid-", 6) == 0 ? 1 : strncmp(y, "face-", 5) == 0 ? 2 : 0;
    if (kind_x != kind_y) return kind_x - kind_y;
    if (kind_x == 0) return strcmp(x, y);
    const long number_x = atol(strchr(x, '-') + 1), number_y = atol(strchr(y, '-') + 1);
    return (number_x > number_y) - (number_x < number_y);
}

void hx_cad_sort_sets(hx_mesh *mesh)
{
    qsort(mesh->set, mesh->n_set, sizeof *mesh->set, compare_sets);
}

/* --- */

/* Completes the mesh of the region by its images; m->solid become the solids of the shape. */
static int mirror_mesh(const hx_cad_job *job, meshing *m, hx_mesh *mesh)
{
    const hx_cad_parts *const whole = &job->halves->whole[HX_CAD_SOLIDS];
    HX_TRY(hx_cad_mirror(job, m->half, mesh));
    free(m->solid);
    m->solid = NULL;
    m->n = m->capacity = 0;
    HX_TRY(hx_alloc(&m->solid, whole->n, sizeof *m->solid, "solids"));
    m->n = whole->n;
    for (size_t i = 0; i < m->n; i++) {
        m->solid[i].volume = whole->part[i].measure;
        memcpy(m->solid[i].box, whole->part[i].box, sizeof m->solid[i].box);
    }
    return HX_OK;
}

/* HX_EINPUT: a solid got no elements. */
static int check_solids(const hx_cad_job *job, const meshing *m, const hx_mesh *mesh,
                        const hx_gmsh_result *result)
{
    for (size_t k = 1; k <= m->n; k++) {
        char name[48];
        snprintf(name, sizeof name, "solid-%zu", k);
        const hx_set *const set = hx_mesh_find_set(mesh, name);
        if (!set || set->n_elem == 0)
            return HX_RAISE(HX_EINPUT, "%s: gmsh could not mesh solid %zu of %zu%s%s", job->path, k,
                            m->n, result->error[0] ? ": " : "", result->error);
    }
    return HX_OK;
}

/* rank[i]: number of the i-th meshed solid in the file's order, from 1. The caller frees it. */
static int rank_solids(const hx_cad_shape *shape, meshing *m, int64_t **rank)
{
    HX_TRY(hx_alloc(rank, m->n, sizeof **rank, "solids"));
    for (size_t i = 0; i < m->n; i++) m->solid[i].source = find_source(shape, &m->solid[i]);
    for (size_t i = 0; i < m->n; i++) {
        (*rank)[i] = 1;
        for (size_t k = 0; k < m->n; k++)
            (*rank)[i] += m->solid[k].source < m->solid[i].source ||
                          (m->solid[k].source == m->solid[i].source && k < i);
    }
    return HX_OK;
}

/* *is_made = 1: gmsh made the mesh; another algorithm would not help. */
static int try_way(const hx_cad_job *job, const hx_cad_shape *shape, double size, int w,
                   hx_mesh *mesh, hx_gmsh_result *result, int *is_made)
{
    meshing m = {0};
    int64_t *rank = NULL;
    char *path = NULL;
    const char *const option[] = {"mesh.geo", "-0", "-nopopup", "-v", "3", NULL};
    hx_gmsh_job gmsh = hx_cad_gmsh_job(job, option);
    gmsh.line = take_line;
    gmsh.context = &m;
    int rc = HX_OK;
    HX_TRY_FAIL(write_script(job, size, w));
    HX_TRY_FAIL(hx_scratch_path(job->folder, "model.msh", &path));
    remove(path);
    rc = hx_gmsh_run(job->program, &gmsh, job->notes, result);
    if (rc < 0 && result->process.exit_status < 0) goto fail;
    HX_TRY_FAIL(m.rc);
    rc = hx_mesh_read(path, 0.0, mesh, NULL, NULL);
    if (rc < 0)
        rc = HX_RAISE(HX_EINPUT, "%s: gmsh made no mesh of it%s%s", job->path,
                      result->error[0] ? ": " : "", result->error);
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(check_solids(job, &m, mesh, result));
    *is_made = 1;
    if (job->halves) HX_TRY_FAIL(mirror_mesh(job, &m, mesh));
    HX_TRY_FAIL(rank_solids(shape, &m, &rank));
    HX_TRY_FAIL(name_solids(shape, &m, rank, mesh));
    hx_cad_sort_sets(mesh);
fail:
    free(rank);
    free(path);
    free(m.solid);
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) free(m.half[kind].part);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}

int hx_cad_mesh(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh)
{
    int rc = HX_OK;
    for (int w = 0; w < N_WAY; w++) {
        hx_gmsh_result result = {0};
        int is_made = 0;
        memset(mesh, 0, sizeof *mesh);
        rc = try_way(job, shape, size, w, mesh, &result, &is_made);
        if (rc != HX_EINPUT || is_made || result.process.is_timed_out ||
            result.process.is_cancelled)
            break;
        if (w + 1 < N_WAY)
            HX_TRY(hx_notes_add(job->notes, HX_NOTE_INFO, "%s; trying again with another algorithm",
                                hx_error_message()));
    }
    return rc;
}
