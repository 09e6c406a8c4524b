/* Finds the sides that MFEM's patches share, and the boundaries, by their vertices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sort.h"
#include "../spline/spline_sides.h"
#include "spline_mfem_reader.h"

typedef hx_mfem_face face;
typedef hx_mfem_reader reader;

static int raise_at(const reader *r, int64_t line, int code)
{
    hx_error_prefix("%s:%lld: ", r->scan.path, (long long)line);
    return code;
}

/* Vertex of a hexahedron at a corner; bit d of the corner is 1 if parameter d is at its end. */
static int corner_vertex(int bits)
{
    static const int place[8] = {0, 1, 3, 2, 4, 5, 7, 6};
    return place[bits];
}

/* Vertices of a side: [i][j], where i runs along its first direction. */
static void side_vertices(const reader *r, hx_spline_side side, int64_t vertex[2][2])
{
    int along[2];
    hx_spline_tangents(side.side, along);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int bits = i << along[0] | j << along[1] | (side.side % 2) << (side.side / 2);
            vertex[i][j] = r->vertex[8 * (int64_t)side.patch + corner_vertex(bits)];
        }
}

static int by_vertices(const void *a, const void *b)
{
    const face *const p = a, *const q = b;
    for (int i = 0; i < 4; i++)
        if (p->vertex[i] != q->vertex[i]) return p->vertex[i] < q->vertex[i] ? -1 : 1;
    if (p->patch != q->patch) return p->patch - q->patch;
    return p->side - q->side;
}

static int same_vertices(const face *a, const face *b)
{
    return memcmp(a->vertex, b->vertex, sizeof a->vertex) == 0;
}

static int check_vertices(const reader *r, int64_t n, const int64_t *list, int width, int skip,
                          int64_t line)
{
    for (int64_t i = 0; i < n * width; i++)
        if (i % width >= skip && (list[i] < 0 || list[i] >= r->n_vertex))
            return raise_at(
                r, line,
                HX_RAISE(HX_EINPUT, "vertex %lld does not exist; the file has %lld, counted from 0",
                         (long long)list[i], (long long)r->n_vertex));
    return HX_OK;
}

static int list_mfem_faces(reader *r)
{
    HX_TRY(hx_alloc(&r->face, 6 * (size_t)r->n_element, sizeof *r->face, "sides of patches"));
    for (int k = 0; k < 6 * r->n_patch; k++) {
        face *const f = &r->face[k];
        int64_t vertex[2][2];
        side_vertices(r, (hx_spline_side){k / 6, k % 6}, vertex);
        *f = (face){.patch = k / 6, .side = k % 6};
        for (int i = 0; i < 4; i++) f->vertex[i] = (int32_t)vertex[i / 2][i % 2];
        hx_sort_four(f->vertex);
        for (int i = 1; i < 4; i++)
            if (f->vertex[i] == f->vertex[i - 1])
                return raise_at(r, r->element_line,
                                HX_RAISE(HX_EINPUT, "element %d names vertex %d twice", k / 6 + 1,
                                         f->vertex[i]));
    }
    qsort(r->face, 6 * (size_t)r->n_patch, sizeof *r->face, by_vertices);
    return HX_OK;
}

/* Connects two sides with the same four vertices; their relative orientation follows from the
 * vertices. */
static int glue(const reader *r, const face *a, const face *b, hx_spline *spline)
{
    const hx_spline_side at = {a->patch, a->side}, to = {b->patch, b->side};
    int64_t p[2][2], q[2][2];
    side_vertices(r, at, p);
    side_vertices(r, to, q);
    for (int way = 0; way < 8; way++) {
        const int flip[2] = {way & 1, way >> 1 & 1};
        int fits = 1;
        for (int k = 0; k < 4; k++) {
            const int u = (k >> 1) ^ flip[0], v = (k & 1) ^ flip[1];
            fits &= p[k >> 1][k & 1] == (way >> 2 ? q[v][u] : q[u][v]);
        }
        if (!fits) continue;
        spline->interface[spline->n_interface++] = hx_spline_interface_of(at, to, way >> 2, flip);
        return HX_OK;
    }
    return raise_at(r, r->element_line,
                    HX_RAISE(HX_EINPUT,
                             "elements %d and %d share four vertices in different cyclic orders",
                             a->patch + 1, b->patch + 1));
}

static hx_spline_boundary *boundary_named(hx_spline *spline, const char *name)
{
    for (int k = 0; k < spline->n_boundary; k++)
        if (strcmp(spline->boundary[k].name, name) == 0) return &spline->boundary[k];
    return NULL;
}

static int take_boundary(const reader *r, hx_spline *spline)
{
    HX_TRY(
        hx_alloc(&spline->boundary, (size_t)r->n_boundary, sizeof *spline->boundary, "boundaries"));
    for (int64_t i = 0; i < r->n_boundary; i++) {
        const int64_t *const entry = r->boundary + 5 * i;
        face wanted = {.patch = -1};
        for (int k = 0; k < 4; k++) wanted.vertex[k] = (int32_t)entry[1 + k];
        hx_sort_four(wanted.vertex);
        int low = 0, high = 6 * r->n_patch;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (by_vertices(&r->face[middle], &wanted) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 6 * r->n_patch || !same_vertices(&r->face[low], &wanted))
            return raise_at(
                r, r->boundary_line,
                HX_RAISE(HX_EINPUT,
                         "boundary %lld (vertices %lld %lld %lld %lld) is not a side of an element",
                         (long long)i + 1, (long long)entry[1], (long long)entry[2],
                         (long long)entry[3], (long long)entry[4]));
        char name[40];
        snprintf(name, sizeof name, "boundary-%lld", (long long)entry[0]);
        hx_spline_boundary *to = boundary_named(spline, name);
        if (!to) {
            to = &spline->boundary[spline->n_boundary];
            HX_TRY(hx_strdup(&to->name, name));
            spline->n_boundary++;
        }
        HX_TRY(hx_resize(&to->side, (size_t)to->n_side, (size_t)to->n_side + 1, sizeof *to->side,
                         "sides of a boundary"));
        to->side[to->n_side++] = (hx_spline_side){r->face[low].patch, r->face[low].side};
    }
    return HX_OK;
}

int hx_mfem_take(hx_mfem_reader *r, hx_spline *spline)
{
    if (r->n_vertex > INT32_MAX || r->n_element > INT32_MAX / 8)
        return HX_FILE_RAISE(&r->scan, "%lld %s are too many", (long long)r->n_vertex,
                             hx_noun(r->n_vertex, "vertex", "vertices"));
    HX_TRY(check_vertices(r, r->n_element, r->vertex, 8, 0, r->element_line));
    HX_TRY(check_vertices(r, r->n_boundary, r->boundary, 5, 1, r->boundary_line));
    HX_TRY(list_mfem_faces(r));
    spline->patch = r->patch;
    spline->n_patch = r->n_patch;
    r->patch = NULL;
    const int n = 6 * r->n_patch;
    HX_TRY(hx_alloc(&spline->interface, (size_t)n, sizeof *spline->interface, "interfaces"));
    for (int k = 0; k + 1 < n; k++) {
        if (!same_vertices(&r->face[k], &r->face[k + 1])) continue;
        if (k + 2 < n && same_vertices(&r->face[k], &r->face[k + 2]))
            return raise_at(r, r->element_line,
                            HX_RAISE(HX_EINPUT, "elements %d, %d and %d share one face",
                                     r->face[k].patch + 1, r->face[k + 1].patch + 1,
                                     r->face[k + 2].patch + 1));
        HX_TRY(glue(r, &r->face[k], &r->face[k + 1], spline));
        k++;
    }
    return take_boundary(r, spline);
}
