/* New triangles along a surface of several shells. gmsh flattens the surface piece by piece;
 * afterwards the solids between the shells are filled, with the new triangles as their boundary. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "../files/file_scan.h"
#include "cad.h"

static const hx_file_number integer = {"integer", 8, 'i'};
static const hx_file_number number = {"number", 8, 'f'};

typedef struct patch {
    /* its number in gmsh, number of triangles, index of the first of them */
    int64_t tag, n, vote_from;
    int32_t face; /* face of the file's surface */
} patch;

/* What gmsh wrote: triangles by patches. */
typedef struct remeshed {
    hx_file_scan scan;
    int64_t n_number; /* number of node numbers, which start from 1 */
    double *xyz;      /* [n_number + 1][3] (owned) */
    int64_t n_tri;
    int32_t *tri;      /* [n_tri][3] node numbers (owned) */
    int32_t *patch_of; /* [n_tri] (owned) */
    size_t n_patch, capacity;
    patch *patch; /* (owned) */
} remeshed;

/* --- what gmsh does --- */

static int write_job(const hx_cad_job *job, double size)
{
    hx_atomic_file out;
    char *path = NULL;
    HX_TRY(hx_scratch_path(job->folder, "shells.geo", &path));
    const int rc = hx_atomic_file_open(&out, path);
    free(path);
    HX_TRY(rc);
    fprintf(out.stream,
            "General.NumThreads = 1;\nMerge \"surface.msh\";\n"
            "ClassifySurfaces{%d * Pi / 180, 1, 1, Pi};\nCreateGeometry;\n",
            HX_STL_ANGLE);
    hx_cad_write_stl_sizes(out.stream, size);
    fprintf(out.stream, "Mesh.Binary = 0;\nMesh.MshFileVersion = 2.2;\n"
                        "Mesh 2;\nSave \"shells.msh\";\nExit;\n");
    return hx_atomic_file_commit(&out);
}

/* --- what it wrote --- */

static int read_remeshed_nodes(remeshed *r)
{
    int64_t n, n_value;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of nodes", &n));
    HX_TRY(hx_file_scan_room(&r->scan, &number, n, 4, "nodes", &n_value));
    r->n_number = 2 * n + 1000; /* points that were cut away leave gaps */
    HX_TRY(hx_alloc(&r->xyz, (size_t)r->n_number + 1, 3 * sizeof *r->xyz, "nodes of triangles"));
    for (int64_t i = 0; i < n; i++) {
        int64_t k;
        HX_TRY(hx_file_scan_count(&r->scan, "the number of a node", &k));
        if (k < 1 || k > r->n_number) return HX_FILE_RAISE(&r->scan, "node %lld", (long long)k);
        HX_TRY(hx_file_scan_real(&r->scan, &number, 3, r->xyz + 3 * k));
    }
    return HX_OK;
}

/* Adds a triangle to the patch with gmsh's number `tag`; the triangles of a patch are
 * consecutive. */
static int add_triangle(remeshed *r, int64_t tag, const int64_t node[3])
{
    if (r->n_patch == 0 || r->patch[r->n_patch - 1].tag != tag) {
        HX_TRY(hx_grow(&r->patch, r->n_patch, &r->capacity, sizeof *r->patch, "patches"));
        r->patch[r->n_patch++] = (patch){.tag = tag, .vote_from = r->n_tri};
    }
    for (int k = 0; k < 3; k++) {
        if (node[k] < 1 || node[k] > r->n_number)
            return HX_FILE_RAISE(&r->scan, "node %lld", (long long)node[k]);
        r->tri[3 * r->n_tri + k] = (int32_t)node[k];
    }
    r->patch[r->n_patch - 1].n++;
    r->patch_of[r->n_tri++] = (int32_t)r->n_patch - 1;
    return HX_OK;
}

static int read_elements(remeshed *r)
{
    int64_t n, n_value;
    HX_TRY(hx_file_scan_count(&r->scan, "the number of elements", &n));
    HX_TRY(hx_file_scan_room(&r->scan, &integer, n, 5, "elements", &n_value));
    HX_TRY(hx_alloc_raw(&r->tri, (size_t)n, 3 * sizeof *r->tri, "triangles"));
    HX_TRY(hx_alloc_raw(&r->patch_of, (size_t)n, sizeof *r->patch_of, "triangles"));
    for (int64_t i = 0; i < n; i++) {
        enum { POINT = 15, LINE = 1, TRIANGLE = 2 };
        int64_t head[5], node[3]; /* number, type, number of tags (2), an unused tag, the patch */
        HX_TRY(hx_file_scan_int(&r->scan, &integer, 5, head));
        const int n_node = head[1] == TRIANGLE ? 3 : head[1] == LINE ? 2 : 1;
        if (head[2] != 2 || (n_node == 1 && head[1] != POINT))
            return HX_FILE_RAISE(&r->scan, "an element of type %lld", (long long)head[1]);
        HX_TRY(hx_file_scan_int(&r->scan, &integer, n_node, node));
        if (n_node == 3) HX_TRY(add_triangle(r, head[4], node));
    }
    return HX_OK;
}

static int read_remeshed_file(remeshed *r, const char *path)
{
    int found = 1;
    HX_TRY(hx_file_scan_open(&r->scan, path));
    while (found) {
        HX_TRY(hx_file_scan_word(&r->scan, &found));
        if (found && strcmp(r->scan.word, "$Nodes") == 0) HX_TRY(read_remeshed_nodes(r));
        if (found && strcmp(r->scan.word, "$Elements") == 0 && r->xyz) HX_TRY(read_elements(r));
    }
    if (r->n_tri == 0) return HX_FILE_RAISE(&r->scan, "no triangle");
    return HX_OK;
}

/* --- as a surface --- */

/* Sets the patch's face: the one nearest to most of a sample of its triangles. */
static int vote(const hx_stl *old, const remeshed *r, patch *p)
{
    enum { VOTERS = 33 };
    int32_t *count = NULL;
    HX_TRY(hx_alloc(&count, (size_t)old->n_face, sizeof *count, "faces"));
    for (int64_t i = 0; i < VOTERS; i++) {
        double x[3] = {0.0, 0.0, 0.0};
        const int32_t *const tri = r->tri + 3 * (p->vote_from + i * (p->n - 1) / (VOTERS - 1));
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) x[c] += r->xyz[3 * (size_t)tri[k] + c] / 3.0;
        count[hx_stl_nearest_face(old, x)]++;
    }
    for (int32_t k = 0; k < old->n_face; k++)
        if (count[k] > count[p->face]) p->face = k;
    free(count);
    return HX_OK;
}

static int copy_nodes(const remeshed *r, hx_stl *stl)
{
    int32_t *new_of = NULL;
    HX_TRY(hx_alloc(&new_of, (size_t)r->n_number + 1, sizeof *new_of, "nodes of triangles"));
    int rc = hx_alloc_raw(&stl->xyz, (size_t)r->n_number, 3 * sizeof *stl->xyz, "nodes");
    if (rc == HX_OK)
        rc = hx_alloc_raw(&stl->tri, (size_t)r->n_tri, 3 * sizeof *stl->tri, "triangles");
    for (int64_t i = 0; rc == HX_OK && i < 3 * r->n_tri; i++) {
        const int32_t k = r->tri[i];
        if (new_of[k] == 0) {
            memcpy(stl->xyz + 3 * stl->n_node, r->xyz + 3 * (size_t)k, 3 * sizeof *stl->xyz);
            new_of[k] = (int32_t)++stl->n_node;
        }
        stl->tri[i] = new_of[k] - 1;
    }
    free(new_of);
    return rc;
}

/* Takes over the shells and faces of the old surface, according to where the patches lie on it. */
static int take_surface(const hx_stl *old, remeshed *r, hx_stl *stl)
{
    int32_t *shell_of = NULL; /* of a face */
    memset(stl, 0, sizeof *stl);
    stl->n_tri = r->n_tri;
    stl->n_shell = old->n_shell;
    stl->n_face = old->n_face;
    stl->n_solid = old->n_solid;
    stl->volume = old->volume;
    stl->area = old->area;
    for (size_t i = 0; i < r->n_patch; i++) HX_TRY(vote(old, r, &r->patch[i]));
    HX_TRY(copy_nodes(r, stl));
    HX_TRY(hx_alloc_raw(&stl->shell, (size_t)r->n_tri, sizeof *stl->shell, "triangles"));
    HX_TRY(hx_alloc_raw(&stl->face, (size_t)r->n_tri, sizeof *stl->face, "triangles"));
    HX_TRY(hx_alloc_raw(&stl->solid_of, (size_t)old->n_shell, sizeof *stl->solid_of, "shells"));
    memcpy(stl->solid_of, old->solid_of, (size_t)old->n_shell * sizeof *stl->solid_of);
    HX_TRY(hx_alloc(&shell_of, (size_t)old->n_face, sizeof *shell_of, "faces"));
    for (int64_t t = 0; t < old->n_tri; t++) shell_of[old->face[t]] = old->shell[t];
    for (int64_t t = 0; t < r->n_tri; t++) {
        stl->face[t] = r->patch[r->patch_of[t]].face;
        stl->shell[t] = shell_of[stl->face[t]];
    }
    free(shell_of);
    return HX_OK;
}

int hx_cad_remesh_stl(const hx_cad_job *job, const hx_stl *old, double size, hx_stl *stl,
                      hx_gmsh_result *result)
{
    remeshed r = {0};
    char *path = NULL;
    const char *const option[] = {"shells.geo", "-0", "-nopopup", "-v", "3", NULL};
    const hx_gmsh_job gmsh = hx_cad_gmsh_job(job, option);
    memset(stl, 0, sizeof *stl);
    HX_TRY(write_job(job, size));
    HX_TRY(hx_scratch_path(job->folder, "shells.msh", &path));
    int rc = hx_gmsh_run(job->program, &gmsh, job->notes, result);
    if (rc == HX_OK && read_remeshed_file(&r, path) < 0)
        rc = HX_RAISE(HX_EINPUT, "%s: gmsh made no triangles along it%s%s", job->path,
                      result->error[0] ? ": " : "", result->error);
    if (rc == HX_OK) rc = take_surface(old, &r, stl);
    if (rc < 0) hx_stl_free(stl);
    hx_file_scan_free(&r.scan);
    free(r.xyz);
    free(r.tri);
    free(r.patch_of);
    free(r.patch);
    free(path);
    return rc;
}

void hx_cad_write_stl_sizes(FILE *f, double size)
{
    enum { REFINED = 4 };
    fprintf(f,
            "Mesh.MeshSizeMax = %.17g;\nMesh.MeshSizeMin = %.17g;\n"
            "Mesh.MeshSizeFromCurvature = 14;\nMesh.MeshSizeFromPoints = 0;\n"
            "Mesh.MeshSizeExtendFromBoundary = 1;\nMesh.ElementOrder = 1;\n"
            "Mesh.Optimize = 1;\nMesh.OptimizeThreshold = 0.6;\n",
            size, size / REFINED);
}
