/* Completes the mesh of the region above mirror planes by its images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "cad_halves.h"

/* A face of an element, or an element, that belongs to a face or solid of the shape. */
typedef struct member {
    int64_t of, item;
} member;

typedef struct members {
    int64_t n;
    member *member; /* [capacity for the whole part] (owned) */
} members;

typedef struct folding {
    const hx_cad_halves *halves;
    int64_t n_node, n_elem; /* so far */
    double *xyz;            /* [n_node << n_plane][3] (owned) */
    int32_t *conn;          /* [n_elem << n_plane][8] (owned) */
    int32_t *image;         /* [n_node << n_plane] node of the mirror image (owned) */
    members list[HX_CAD_N_KIND];
} folding;

/* Corners of the mirror image of an element: its r axis reversed, which keeps the numbering of
 * wedges, pyramids and tetrahedra (cell.h) and their volume positive; and its local faces. */
static const int mirrored_corner[8] = {1, 0, 3, 2, 5, 4, 7, 6};
static const int mirrored_face[6] = {1, 0, 2, 3, 4, 5};

/* --- which face of the shape a face of the region belongs to --- */

static double part_distance(const hx_cad_part *a, const hx_cad_part *b, double equal, double most)
{
    double away = 0.0, boxes = 0.0;
    for (int d = 0; d < 3; d++) away = hypot(away, a->centre[d] - b->centre[d]);
    for (int k = 0; k < 6; k++) boxes += fabs(a->box[k] - b->box[k]);
    if (!(away <= equal && fabs(a->measure - b->measure) <= most)) return (double)INFINITY;
    return away + 1e-3 * boxes;
}

/* All of the region is above the planes, so a face whose centroid is on one lies in it. */
static int is_in_plane(const hx_cad_halves *h, const hx_cad_part *part)
{
    for (int p = 0; p < h->n_plane; p++)
        if (fabs(hx_cad_height(&h->plane[p], part->centre)) <= hx_cad_equal * h->size) return 1;
    return 0;
}

/* The face or solid of the shape of a part of the region; -1: a cut surface. */
static int64_t find_whole(const hx_cad_halves *h, int kind, const hx_cad_part *part)
{
    const hx_cad_parts *const list[2] = {&h->whole[kind], &h->cut[kind]};
    double least = INFINITY, most = 0.0;
    int64_t of = -1;
    for (size_t i = 0; i < h->whole[kind].n; i++) most += h->whole[kind].part[i].measure;
    for (int l = 0; l < 2; l++)
        for (size_t i = 0; i < list[l]->n; i++) {
            const hx_cad_part *const other = &list[l]->part[i];
            const double away =
                part_distance(part, other, hx_cad_equal * h->size, hx_cad_equal * most);
            if (away >= least) continue;
            least = away;
            of = other->of;
        }
    return of;
}

static int find_wholes(const hx_cad_job *job, const hx_cad_parts half[HX_CAD_N_KIND], int kind,
                       int64_t *of)
{
    const hx_cad_halves *const h = job->halves;
    for (size_t i = 0; i < half[kind].n; i++) {
        const hx_cad_part *const part = &half[kind].part[i];
        of[i] = find_whole(h, kind, part);
        if (of[i] >= 0 || (kind == HX_CAD_FACES && is_in_plane(h, part))) continue;
        return HX_RAISE(
            HX_EINPUT,
            "%s: after the cut at the planes of mesh.mirrored, the %s with the centre [%g, %g, %g] "
            "is "
            "no piece of one of the model; without mesh.mirrored it is meshed as a whole",
            job->path, kind == HX_CAD_FACES ? "face" : "solid", part->centre[0], part->centre[1],
            part->centre[2]);
    }
    return HX_OK;
}

/* --- the mesh of the region --- */

static int take_members(folding *f, const hx_mesh *mesh, int kind, size_t n_half, const int64_t *of)
{
    static const char *const form[HX_CAD_N_KIND] = {"face-%lld", "solid-%lld"};
    members *const list = &f->list[kind];
    int64_t n = 0;
    for (size_t i = 0; i < mesh->n_set; i++)
        n += kind == HX_CAD_FACES ? mesh->set[i].n_face : mesh->set[i].n_elem;
    HX_TRY(hx_alloc_raw(&list->member, (size_t)(n << f->halves->n_plane), sizeof *list->member,
                        "mirrored sets"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const set = &mesh->set[i];
        long long k = 0;
        if (sscanf(set->name, form[kind], &k) != 1 || k < 1 || (size_t)k > n_half || of[k - 1] < 0)
            continue;
        for (int64_t j = 0; kind == HX_CAD_FACES && j < set->n_face; j++)
            list->member[list->n++] = (member){of[k - 1], set->face[j]};
        for (int64_t j = 0; kind == HX_CAD_SOLIDS && j < set->n_elem; j++)
            list->member[list->n++] = (member){of[k - 1], set->elem[j]};
    }
    return HX_OK;
}

static int begin_folding(folding *f, const hx_mesh *mesh)
{
    const size_t n_node = (size_t)mesh->n_node << f->halves->n_plane;
    const size_t n_elem = (size_t)mesh->n_elem << f->halves->n_plane;
    f->n_node = mesh->n_node;
    f->n_elem = mesh->n_elem;
    HX_TRY(hx_alloc_raw(&f->xyz, n_node, 3 * sizeof *f->xyz, "mirrored nodes"));
    HX_TRY(hx_alloc_raw(&f->image, n_node, sizeof *f->image, "mirrored nodes"));
    HX_TRY(hx_alloc_raw(&f->conn, n_elem, 8 * sizeof *f->conn, "mirrored elements"));
    memcpy(f->xyz, mesh->xyz, 3 * (size_t)mesh->n_node * sizeof *f->xyz);
    memcpy(f->conn, mesh->conn, 8 * (size_t)mesh->n_elem * sizeof *f->conn);
    return HX_OK;
}

/* --- one plane --- */

static int fold_nodes(const hx_cad_job *job, folding *f, const hx_mirror_plane *plane)
{
    const double equal = hx_cad_equal * f->halves->size;
    const int64_t n = f->n_node;
    for (int64_t i = 0; i < n; i++) {
        double *const x = f->xyz + 3 * i;
        const double height = hx_cad_height(plane, x);
        if (height < -equal)
            return HX_RAISE(HX_EINTERNAL, "%s: a node lies %g below a plane of mesh.mirrored",
                            job->path, -height);
        f->image[i] = (int32_t)i;
        if (height <= equal) { /* on the plane, exactly */
            for (int d = 0; d < 3; d++) x[d] -= height * plane->normal[d];
            continue;
        }
        f->image[i] = (int32_t)f->n_node;
        double *const y = f->xyz + 3 * f->n_node++;
        for (int d = 0; d < 3; d++) y[d] = x[d] - 2.0 * height * plane->normal[d];
    }
    return HX_OK;
}

static void fold_elems(folding *f, int p)
{
    const int64_t n_elem = f->n_elem;
    for (int64_t e = 0; e < n_elem; e++)
        for (int a = 0; a < 8; a++)
            f->conn[8 * (n_elem + e) + a] = f->image[f->conn[8 * e + mirrored_corner[a]]];
    f->n_elem = 2 * n_elem;
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        members *const list = &f->list[kind];
        const int64_t n = list->n, *const image = f->halves->image[kind][p];
        for (int64_t i = 0; i < n; i++) {
            const member m = list->member[i];
            const int64_t item = kind == HX_CAD_SOLIDS
                                     ? n_elem + m.item
                                     : 6 * (n_elem + m.item / 6) + mirrored_face[m.item % 6];
            list->member[list->n++] = (member){image[m.of], item};
        }
    }
}

/* --- the sets of the whole part --- */

static int by_entity(const void *a, const void *b)
{
    const member *const x = a, *const y = b;
    if (x->of != y->of) return x->of < y->of ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static int add_sets(const members *list, int kind, hx_mesh *mesh)
{
    int64_t *face = NULL;
    int32_t *elem = NULL;
    int rc = HX_OK;
    if (list->n == 0) return HX_OK;
    qsort(list->member, (size_t)list->n, sizeof *list->member, by_entity);
    HX_TRY_FAIL(hx_alloc_raw(&face, (size_t)list->n, sizeof *face, "mirrored sets"));
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)list->n, sizeof *elem, "mirrored sets"));
    for (int64_t begin = 0, end; begin < list->n; begin = end) {
        char name[48];
        const int64_t of = list->member[begin].of;
        for (end = begin; end < list->n && list->member[end].of == of; end++) {
            face[end - begin] = list->member[end].item;
            elem[end - begin] = (int32_t)list->member[end].item;
        }
        snprintf(name, sizeof name, "%s-%lld", kind == HX_CAD_FACES ? "face" : "solid",
                 (long long)of + 1);
        HX_TRY_FAIL(kind == HX_CAD_FACES ? hx_mesh_add_face_set(mesh, name, end - begin, face)
                                         : hx_mesh_add_elem_set(mesh, name, end - begin, elem));
    }
fail:
    free(face);
    free(elem);
    return rc;
}

static int finish_folding(folding *f, hx_mesh *mesh)
{
    char *name = mesh->name;
    mesh->name = NULL;
    hx_mesh_free(mesh);
    double *const xyz = f->xyz;
    int32_t *const conn = f->conn;
    f->xyz = NULL;
    f->conn = NULL;
    const int rc = hx_mesh_create(mesh, name, f->n_node, xyz, f->n_elem, conn);
    free(name);
    HX_TRY(rc);
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) HX_TRY(add_sets(&f->list[kind], kind, mesh));
    return HX_OK;
}

int hx_cad_mirror(const hx_cad_job *job, const hx_cad_parts half[HX_CAD_N_KIND], hx_mesh *mesh)
{
    folding f = {.halves = job->halves};
    int64_t *of = NULL;
    int rc = HX_OK;
    if (mesh->n_elem > HX_MAX_ELEM >> job->halves->n_plane)
        return HX_RAISE(HX_EINPUT, "%s: at most %lld elements are possible", job->path,
                        (long long)HX_MAX_ELEM);
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        HX_TRY_FAIL(hx_alloc(&of, half[kind].n + 1, sizeof *of, "faces of the model"));
        HX_TRY_FAIL(find_wholes(job, half, kind, of));
        HX_TRY_FAIL(take_members(&f, mesh, kind, half[kind].n, of));
        free(of);
        of = NULL;
    }
    HX_TRY_FAIL(begin_folding(&f, mesh));
    for (int p = 0; p < f.halves->n_plane; p++) {
        HX_TRY_FAIL(fold_nodes(job, &f, &f.halves->plane[p]));
        fold_elems(&f, p);
    }
    HX_TRY_FAIL(finish_folding(&f, mesh));
fail:
    free(of);
    free(f.xyz);
    free(f.conn);
    free(f.image);
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) free(f.list[kind].member);
    return rc;
}
