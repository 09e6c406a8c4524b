/* Splits every tetrahedron of a mesh into eight: the same part with elements of half the size, for
 * meshes that are too large to distribute. New nodes lie in the middle of edges, so curved faces
 * keep their facets. Sets are refined too: sets of faces and elements contain the children, other
 * sets receive the middles of edges between two of their nodes.
 *
 *     refine IN OUT      in formats that hextop reads and writes */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "core/files/mesh_files.h"
#include "core/space/space.h"

enum { N_CHILD = 8 };

/* Points of a tet10: one child at each corner; the octahedron between them is divided into four
 * around one of its three diagonals, with the other points in order. */
static const int corner_child[4][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3}};
static const int diagonal[3][6] = {{6, 8, 4, 5, 9, 7}, {4, 9, 5, 6, 7, 8}, {5, 7, 4, 6, 9, 8}};

/* Ends of the edge that point 4 + k is the middle of. */
static const int end[6][2] = {{0, 1}, {1, 2}, {0, 2}, {0, 3}, {1, 3}, {2, 3}};

typedef struct refiner {
    hx_mesh coarse, fine;
    hx_space space;
} refiner;

static double square_distance(const double *xyz, int32_t a, int32_t b)
{
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = xyz[3 * (int64_t)a + i] - xyz[3 * (int64_t)b + i];
    return hx_dot3(d, d);
}

/* Writes a tetrahedron of four points with positive orientation. */
static void put_child(const double *xyz, const int32_t point[4], int32_t conn[8])
{
    static const int place[8] = {0, 1, 2, 2, 3, 3, 3, 3};
    int32_t node[4];
    double edge[3][3];
    memcpy(node, point, sizeof node);
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            edge[k][d] = xyz[3 * (int64_t)node[k + 1] + d] - xyz[3 * (int64_t)node[0] + d];
    if (hx_triple3(edge[0], edge[1], edge[2]) < 0.0) {
        node[1] = point[2];
        node[2] = point[1];
    }
    for (int a = 0; a < 8; a++) conn[a] = node[place[a]];
}

/* Writes the eight children of element e, with the octahedron divided around its shortest
 * diagonal. */
static void put_children(const hx_space *space, int64_t e, int32_t *conn)
{
    int n, best = 0;
    const int32_t *const p = hx_space_points(space, e, &n);
    for (int c = 0; c < 4; c++) {
        int32_t point[4];
        for (int k = 0; k < 4; k++) point[k] = p[corner_child[c][k]];
        put_child(space->xyz, point, conn + 8 * c);
    }
    for (int i = 1; i < 3; i++)
        if (square_distance(space->xyz, p[diagonal[i][0]], p[diagonal[i][1]]) <
            square_distance(space->xyz, p[diagonal[best][0]], p[diagonal[best][1]]))
            best = i;
    for (int c = 0; c < 4; c++) {
        const int32_t point[4] = {p[diagonal[best][0]], p[diagonal[best][1]],
                                  p[diagonal[best][2 + c]], p[diagonal[best][2 + (c + 1) % 4]]};
        put_child(space->xyz, point, conn + 8 * (4 + c));
    }
}

static int split(refiner *r)
{
    const int64_t n = r->coarse.n_elem;
    double *xyz = NULL;
    int32_t *conn = NULL;
    HX_TRY(hx_alloc_raw(&xyz, 3 * (size_t)r->space.n_point, sizeof *xyz, "refined nodes"));
    memcpy(xyz, r->space.xyz, 3 * (size_t)r->space.n_point * sizeof *xyz);
    const int rc = hx_alloc_raw(&conn, 8 * N_CHILD * (size_t)n, sizeof *conn, "refined elements");
    if (rc != HX_OK) {
        free(xyz);
        return rc;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++) put_children(&r->space, e, conn + 8 * N_CHILD * e);
    return hx_mesh_create(&r->fine, r->coarse.name, r->space.n_point, xyz, N_CHILD * n, conn);
}

/* The node in the middle of the edge between two nodes of element e; -1: they share no edge. */
static int32_t middle_of(const refiner *r, int64_t e, int32_t a, int32_t b)
{
    int n;
    const int32_t *const p = hx_space_points(&r->space, e, &n);
    for (int k = 0; k < 6; k++) {
        const int32_t from = p[end[k][0]], to = p[end[k][1]];
        if ((from == a && to == b) || (from == b && to == a)) return p[4 + k];
    }
    return -1;
}

/* The face of a child of element e with these nodes. */
static int64_t child_face(const refiner *r, int64_t e, const int32_t node[3])
{
    for (int64_t c = N_CHILD * e; c < N_CHILD * (e + 1); c++) {
        const int f = hx_cell_find_face(r->fine.conn + 8 * c, 3, node);
        if (f >= 0) return 6 * c + f;
    }
    return -1;
}

static int add_faces(refiner *r, const hx_set *set)
{
    int64_t *face = NULL;
    HX_TRY(hx_alloc_raw(&face, 4 * (size_t)set->n_face, sizeof *face, "faces of a set"));
    for (int64_t i = 0; i < set->n_face; i++) {
        const int64_t e = set->face[i] / 6;
        int32_t node[4], middle[3];
        hx_cell_face(r->coarse.conn + 8 * e, (int)(set->face[i] % 6), node);
        for (int k = 0; k < 3; k++) middle[k] = middle_of(r, e, node[k], node[(k + 1) % 3]);
        for (int k = 0; k < 3; k++) {
            const int32_t part[3] = {node[k], middle[k], middle[(k + 2) % 3]};
            face[4 * i + k] = child_face(r, e, part);
        }
        face[4 * i + 3] = child_face(r, e, middle);
    }
    const int rc = hx_mesh_add_face_set(&r->fine, set->name, 4 * set->n_face, face);
    free(face);
    return rc;
}

static int add_elements(refiner *r, const hx_set *set)
{
    int32_t *elem = NULL;
    HX_TRY(hx_alloc_raw(&elem, N_CHILD * (size_t)set->n_elem, sizeof *elem, "elements of a set"));
    for (int64_t i = 0; i < N_CHILD * set->n_elem; i++)
        elem[i] = N_CHILD * set->elem[i / N_CHILD] + (int32_t)(i % N_CHILD);
    const int rc = hx_mesh_add_elem_set(&r->fine, set->name, N_CHILD * set->n_elem, elem);
    free(elem);
    return rc;
}

/* node[fine.n_node]: 1 in the set. */
static int list_nodes(refiner *r, const hx_set *set, uint8_t *is_in, int32_t *node)
{
    int64_t n = 0;
    for (int64_t k = 0; k < set->n_node; k++) is_in[set->node[k]] = 1;
    for (int64_t e = 0; e < r->coarse.n_elem; e++) {
        int count;
        const int32_t *const p = hx_space_points(&r->space, e, &count);
        for (int k = 0; k < 6; k++)
            if (is_in[p[end[k][0]]] && is_in[p[end[k][1]]]) is_in[p[4 + k]] = 1;
    }
    for (int64_t a = 0; a < r->fine.n_node; a++)
        if (is_in[a]) node[n++] = (int32_t)a;
    return hx_mesh_add_node_set(&r->fine, set->name, n, node);
}

static int add_nodes(refiner *r, const hx_set *set)
{
    uint8_t *is_in = NULL;
    int32_t *node = NULL;
    int rc = hx_alloc(&is_in, (size_t)r->fine.n_node, 1, "nodes of a set");
    if (rc == HX_OK)
        rc = hx_alloc_raw(&node, (size_t)r->fine.n_node, sizeof *node, "nodes of a set");
    if (rc == HX_OK) rc = list_nodes(r, set, is_in, node);
    free(is_in);
    free(node);
    return rc;
}

/* 1 if the set is one of elements, which contain all of its nodes. */
static int is_of_elements(const hx_mesh *mesh, const hx_set *set)
{
    int64_t n = 0;
    uint8_t *const seen = calloc((size_t)mesh->n_node, 1);
    if (!seen) return 0;
    for (int64_t i = 0; i < 8 * set->n_elem; i++)
        seen[mesh->conn[8 * (int64_t)set->elem[i / 8] + i % 8]] = 1;
    for (int64_t a = 0; a < mesh->n_node; a++) n += seen[a];
    free(seen);
    return set->n_elem > 0 && n == set->n_node;
}

static int refine(refiner *r, const char *in, const char *out)
{
    const hx_mesh_format *const format = hx_mesh_format_of_name(out);
    const hx_mesh_write_options how = {.title = out};
    if (!hx_mesh_can_write(format)) return HX_RAISE(HX_EINPUT, "'%s': no format to write", out);
    HX_TRY(hx_mesh_read(in, NAN, &r->coarse, NULL, NULL));
    HX_TRY(hx_mesh_finish(&r->coarse));
    for (int64_t e = 0; e < r->coarse.n_elem; e++)
        if (hx_cell_kind_of(r->coarse.conn + 8 * e) != HX_CELL_TETRAHEDRON)
            return HX_RAISE(HX_EINPUT, "%s: element %lld is no tetrahedron", in,
                            (long long)hx_mesh_elem_number(&r->coarse, e));
    HX_TRY(hx_space_create(&r->space, &r->coarse, HX_ELEMENT_QUADRATIC));
    HX_TRY(split(r));
    for (size_t i = 0; i < r->coarse.n_set; i++) {
        const hx_set *const set = &r->coarse.set[i];
        HX_TRY(set->face                         ? add_faces(r, set)
               : is_of_elements(&r->coarse, set) ? add_elements(r, set)
                                                 : add_nodes(r, set));
    }
    HX_TRY(hx_mesh_finish(&r->fine));
    HX_TRY(format->write(out, &r->fine, &how));
    printf("%s: %lld elements, %lld nodes, %zu sets\n", out, (long long)r->fine.n_elem,
           (long long)r->fine.n_node, r->fine.n_set);
    return HX_OK;
}

int main(int argc, char **argv)
{
    refiner r;
    if (argc != 3) {
        fprintf(stderr, "refine IN OUT\n");
        return 2;
    }
    memset(&r, 0, sizeof r);
    const int rc = refine(&r, argv[1], argv[2]);
    if (rc != HX_OK) fprintf(stderr, "refine: %s\n", hx_error_message());
    hx_space_free(&r.space);
    hx_mesh_free(&r.coarse);
    hx_mesh_free(&r.fine);
    return rc == HX_OK ? 0 : 2;
}
