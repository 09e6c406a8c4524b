/* A closed triangle surface as a model: meshed with new triangles along the surface or, if that
 * fails, with the surface's own triangles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "../files/mesh_files.h"
#include "cad.h"
#include "gmsh_fill.h"

/* Reads the surface from `file`; job->path may be another name that messages use. */
static int read_shape(const char *file, hx_cad_shape *shape)
{
    memset(shape, 0, sizeof *shape);
    HX_TRY(hx_alloc(&shape->stl, 1, sizeof *shape->stl, "surface"));
    const int rc = hx_stl_read(shape->stl, file);
    if (rc < 0) hx_cad_shape_free(shape);
    HX_TRY(rc);
    shape->n_source = (size_t)shape->stl->n_solid;
    shape->n_solid = shape->stl->n_solid;
    shape->n_face = shape->stl->n_face;
    shape->volume = shape->stl->volume;
    shape->area = shape->stl->area;
    return HX_OK;
}

int hx_cad_inspect_stl(const hx_cad_job *job, hx_cad_shape *shape)
{
    return read_shape(job->path, shape);
}

/* --- what gmsh reads --- */

static int open_in(const hx_cad_job *job, const char *name, hx_atomic_file *out)
{
    char *path = NULL;
    HX_TRY(hx_scratch_path(job->folder, name, &path));
    const int rc = hx_atomic_file_open(out, path);
    free(path);
    return rc;
}

/* Writes the surface in gmsh's format 2.2, with the triangles of each face on a surface of their
 * own. */
static int write_surface(const hx_cad_job *job, const hx_stl *stl)
{
    hx_atomic_file out;
    HX_TRY(open_in(job, "surface.msh", &out));
    FILE *const f = out.stream;
    fprintf(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%lld\n", (long long)stl->n_node);
    for (int64_t i = 0; i < stl->n_node; i++)
        fprintf(f, "%lld %.9g %.9g %.9g\n", (long long)i + 1, stl->xyz[3 * i], stl->xyz[3 * i + 1],
                stl->xyz[3 * i + 2]);
    fprintf(f, "$EndNodes\n$Elements\n%lld\n", (long long)stl->n_tri);
    for (int64_t t = 0; t < stl->n_tri; t++)
        fprintf(f, "%lld 2 2 0 %d %d %d %d\n", (long long)t + 1, stl->face[t] + 1,
                stl->tri[3 * t] + 1, stl->tri[3 * t + 1] + 1, stl->tri[3 * t + 2] + 1);
    fprintf(f, "$EndElements\n");
    return hx_atomic_file_commit(&out);
}

static void write_sizes(FILE *f, double size)
{
    hx_cad_write_stl_sizes(f, size);
    fprintf(f, "Mesh.Binary = 1;\nMesh.MshFileVersion = 4.1;\n"
               "Mesh 3;\nSave \"model.msh\";\nExit;\n");
}

/* Job with the triangles of surface.msh: each shell becomes a surface loop of its faces. */
static int write_own(const hx_cad_job *job, const hx_stl *stl, double size)
{
    hx_atomic_file out;
    int32_t *shell_of = NULL; /* of a face */
    HX_TRY(hx_alloc(&shell_of, (size_t)stl->n_face, sizeof *shell_of, "faces"));
    for (int64_t t = 0; t < stl->n_tri; t++) shell_of[stl->face[t]] = stl->shell[t];
    const int rc = open_in(job, "mesh.geo", &out);
    if (rc < 0) free(shell_of);
    HX_TRY(rc);
    FILE *const f = out.stream;
    fprintf(f, "General.NumThreads = 1;\nMerge \"surface.msh\";\n");
    for (int32_t s = 0; s < stl->n_shell; s++) {
        fprintf(f, "Surface Loop(%d) = {", s + 1);
        for (int32_t k = 0, n = 0; k < stl->n_face; k++)
            if (shell_of[k] == s) fprintf(f, "%s%d", n++ > 0 ? ", " : "", k + 1);
        fprintf(f, "};\n");
    }
    for (int32_t v = 0; v < stl->n_solid; v++) {
        fprintf(f, "Volume(%d) = {", v + 1);
        for (int32_t s = 0, n = 0; s < stl->n_shell; s++)
            if (stl->solid_of[s] == v) fprintf(f, "%s%d", n++ > 0 ? ", " : "", s + 1);
        fprintf(f, "};\nPhysical Volume(\"solid-%d\") = {%d};\n", v + 1, v + 1);
    }
    for (int32_t k = 0; k < stl->n_face; k++)
        fprintf(f, "Physical Surface(\"face-%d\") = {%d};\n", k + 1, k + 1);
    free(shell_of);
    write_sizes(f, size);
    return hx_atomic_file_commit(&out);
}

/* --- which face a patch is --- */

/* winner := the face that is nearest to most of a sample of the set's triangles. */
static int vote(const hx_stl *stl, const hx_mesh *mesh, const hx_set *set, int32_t *winner)
{
    enum { VOTERS = 33 };
    int32_t *count = NULL;
    *winner = 0;
    HX_TRY(hx_alloc(&count, (size_t)stl->n_face, sizeof *count, "faces"));
    for (int64_t i = 0; i < VOTERS && set->n_face > 0; i++) {
        double x[3];
        const int64_t face = set->face[i * (set->n_face - 1) / (VOTERS - 1)];
        int32_t node[4];
        const int n = hx_cell_face(mesh->conn + 8 * (face / 6), (int)(face % 6), node);
        x[0] = x[1] = x[2] = 0.0;
        for (int k = 0; k < n; k++)
            for (int c = 0; c < 3; c++) x[c] += mesh->xyz[3 * (size_t)node[k] + c] / n;
        count[hx_stl_nearest_face(stl, x)]++;
    }
    for (int32_t k = 0; k < stl->n_face; k++)
        if (count[k] > count[*winner]) *winner = k;
    free(count);
    return HX_OK;
}

/* Replaces the sets of patches by sets of the faces that the patches are pieces of. */
static int name_patches(const hx_stl *stl, hx_mesh *mesh)
{
    for (size_t i = 0; i < mesh->n_set;) {
        int32_t face;
        char name[48];
        if (strncmp(mesh->set[i].name, "patch-", 6) != 0) {
            i++;
            continue;
        }
        HX_TRY(vote(stl, mesh, &mesh->set[i], &face));
        snprintf(name, sizeof name, "face-%d", face + 1);
        HX_TRY(hx_mesh_add_face_set(mesh, name, mesh->set[i].n_face, mesh->set[i].face));
        hx_set *const set = &mesh->set[i];
        free(set->name);
        free(set->node);
        free(set->elem);
        free(set->face);
        memmove(set, set + 1, (--mesh->n_set - i) * sizeof *set);
    }
    return HX_OK;
}

/* --- */

/* HX_EINPUT: the volume of gmsh's mesh differs from that of the surface, or a face has no
 * triangle. */
static int check_mesh(const hx_cad_job *job, const hx_cad_shape *shape, const hx_mesh *mesh)
{
    double volume = 0.0;
    int64_t n_face = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int corner[4];
        double d[3][3];
        const int32_t *const conn = mesh->conn + 8 * e;
        hx_cell_tetrahedron(mesh->xyz, conn, corner);
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                d[k][c] = mesh->xyz[3 * (size_t)conn[corner[k + 1]] + c] -
                          mesh->xyz[3 * (size_t)conn[corner[0]] + c];
        volume += fabs(hx_triple3(d[0], d[1], d[2])) / 6.0;
    }
    for (size_t i = 0; i < mesh->n_set; i++)
        n_face += strncmp(mesh->set[i].name, "face-", 5) == 0 && mesh->set[i].n_face > 0;
    if (fabs(volume - shape->volume) > 0.05 * shape->volume)
        return HX_RAISE(HX_EINPUT,
                        "%s: gmsh's mesh has the volume %.4g, and the surface encloses %.4g",
                        job->path, volume, shape->volume);
    if (n_face != shape->n_face)
        return HX_RAISE(HX_EINPUT, "%s: gmsh's mesh has %lld of %lld %s", job->path,
                        (long long)n_face, (long long)shape->n_face,
                        hx_noun(shape->n_face, "face", "faces"));
    return HX_OK;
}

static int run_stl_gmsh(const hx_cad_job *job, const hx_cad_shape *shape, hx_mesh *mesh,
                        hx_gmsh_result *result)
{
    char *path = NULL;
    const char *const option[] = {"mesh.geo", "-0", "-nopopup", "-v", "3", NULL};
    const hx_gmsh_job gmsh = hx_cad_gmsh_job(job, option);
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_scratch_path(job->folder, "model.msh", &path));
    remove(path);
    int rc = hx_gmsh_run(job->program, &gmsh, job->notes, result);
    if (rc == HX_OK || result->process.exit_status >= 0) {
        rc = hx_mesh_read(path, 0.0, mesh, NULL, NULL);
        if (rc < 0)
            rc = HX_RAISE(HX_EINPUT, "%s: gmsh made no mesh of it%s%s", job->path,
                          result->error[0] ? ": " : "", result->error);
    }
    if (rc == HX_OK) rc = name_patches(shape->stl, mesh);
    if (rc == HX_OK) rc = check_mesh(job, shape, mesh);
    if (rc < 0) hx_mesh_free(mesh);
    free(path);
    return rc;
}

/* Fills the solids between shells with new triangles along them. */
static int run_shells(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh,
                      hx_gmsh_result *result)
{
    hx_stl stl;
    HX_TRY(hx_cad_remesh_stl(job, shape->stl, size, &stl, result));
    int rc = write_surface(job, &stl);
    if (rc == HX_OK) rc = write_own(job, &stl, size);
    if (rc == HX_OK) rc = run_stl_gmsh(job, shape, mesh, result);
    hx_stl_free(&stl);
    return rc;
}

/* Mean length of an edge of the file's triangles. */
static double mean_edge(const hx_stl *stl)
{
    double sum = 0.0;
    for (int64_t t = 0; t < stl->n_tri; t++)
        for (int k = 0; k < 3; k++) {
            double d[3];
            const int32_t a = stl->tri[3 * t + k], b = stl->tri[3 * t + (k + 1) % 3];
            for (int c = 0; c < 3; c++)
                d[c] = stl->xyz[3 * (size_t)b + c] - stl->xyz[3 * (size_t)a + c];
            sum += hx_norm3(d);
        }
    return sum / (3.0 * (double)stl->n_tri);
}

int hx_cad_mesh_stl(const hx_cad_job *job, const hx_cad_shape *shape, double size, hx_mesh *mesh)
{
    hx_gmsh_result result = {0};
    int rc;
    HX_TRY(write_surface(job, shape->stl));
    if (shape->stl->n_shell == 1) {
        /* Job with new triangles: gmsh cuts the surface where it bends, and into pieces that
         * can be flattened. */
        hx_atomic_file out;
        HX_TRY(open_in(job, "mesh.geo", &out));
        fprintf(out.stream,
                "General.NumThreads = 1;\nMerge \"surface.msh\";\n"
                "ClassifySurfaces{%d * Pi / 180, 1, 1, Pi};\nCreateGeometry;\n"
                "s() = Surface{:};\nSurface Loop(1) = {s()};\nVolume(1) = {1};\n"
                "Physical Volume(\"solid-1\") = {1};\n"
                "For i In {0:#s()-1}\n"
                "  Physical Surface(Sprintf(\"patch-%%g\", i + 1)) = {s(i)};\nEndFor\n",
                HX_STL_ANGLE);
        write_sizes(out.stream, size);
        HX_TRY(hx_atomic_file_commit(&out));
        rc = run_stl_gmsh(job, shape, mesh, &result);
    } else {
        rc = run_shells(job, shape, size, mesh, &result);
    }
    if (rc != HX_EINPUT || result.process.is_timed_out || result.process.is_cancelled) return rc;
    HX_TRY(hx_notes_add(job->notes, HX_NOTE_WARNING,
                        "%s; meshed with the file's triangles instead: their mean edge is %.4g, "
                        "and element_size = %.4g holds for the inside only",
                        hx_error_message(), mean_edge(shape->stl), size));
    memset(&result, 0, sizeof result);
    HX_TRY(write_surface(job, shape->stl));
    HX_TRY(write_own(job, shape->stl, size));
    return run_stl_gmsh(job, shape, mesh, &result);
}

int hx_gmsh_fill(const hx_fill_options *options, const char *folder, const char *file,
                 hx_mesh *mesh, hx_notes *notes)
{
    hx_gmsh_program program = {0};
    hx_gmsh_result result;
    hx_cad_shape shape = {0};
    const hx_model_options model = {.time_limit = options->time_limit > 0.0 ? options->time_limit
                                                                            : HX_MODEL_TIME_LIMIT,
                                    .is_cancelled = options->is_cancelled,
                                    .context = options->context};
    const hx_cad_job job = {options->what, &model, &program, folder, notes};
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_gmsh_find(&program));
    int rc = read_shape(file, &shape);
    if (rc == HX_OK) rc = write_surface(&job, shape.stl);
    if (rc == HX_OK) rc = write_own(&job, shape.stl, options->element_size);
    if (rc == HX_OK) rc = run_stl_gmsh(&job, &shape, mesh, &result);
    hx_cad_shape_free(&shape);
    hx_gmsh_release(&program);
    return rc;
}
