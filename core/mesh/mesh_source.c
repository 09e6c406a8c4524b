#include "mesh_source.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "mesh_internal.h"

static const char what[] = "a mesh from its source";

/* Items that a thread asks for at a time. */
enum { BLOCK = 1024 };

static int64_t block_end(int64_t begin, int64_t n)
{
    return n - begin < BLOCK ? n : begin + BLOCK;
}

int hx_source_elements(const hx_mesh_source *s, int64_t n, const int64_t *elem, int64_t *conn,
                       uint64_t *in_set)
{
    int rc = HX_OK;
    if (!s->is_local) return s->elements(s, n, elem, conn, in_set);
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int own = s->elements(s, block_end(at, n) - at, elem + at, conn + 8 * at,
                                    in_set ? in_set + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

int hx_source_nodes(const hx_mesh_source *s, int64_t n, const int64_t *node, double *xyz,
                    uint64_t *in_set)
{
    int rc = HX_OK;
    if (!s->is_local) return s->nodes(s, n, node, xyz, in_set);
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < n; at += BLOCK) {
        const int own = s->nodes(s, block_end(at, n) - at, node + at, xyz + 3 * at,
                                 in_set ? in_set + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

/* Numbers begin .. end - 1. */
static void list_run(int64_t begin, int64_t end, int64_t *number)
{
    for (int64_t i = begin; i < end; i++) number[i - begin] = i;
}

/* Of all items; sets: [n] bits of the sets each is in, NULL: not asked for. */
static int fill_nodes(const hx_mesh_source *s, double *xyz, uint64_t *sets)
{
    int rc = HX_OK;
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < s->n_node; at += BLOCK) {
        const int64_t end = block_end(at, s->n_node);
        int64_t node[BLOCK];
        list_run(at, end, node);
        const int own = s->nodes(s, end - at, node, xyz + 3 * at, sets ? sets + at : NULL);
        rc = own < rc ? own : rc;
    }
    return rc;
}

static int fill_elements(const hx_mesh_source *s, int32_t *conn, uint64_t *sets)
{
    int rc = HX_OK;
#pragma omp parallel for schedule(static) reduction(min : rc)
    for (int64_t at = 0; at < s->n_elem; at += BLOCK) {
        const int64_t end = block_end(at, s->n_elem);
        int64_t elem[BLOCK], node[8 * BLOCK];
        list_run(at, end, elem);
        const int own = s->elements(s, end - at, elem, node, sets ? sets + at : NULL);
        for (int64_t k = 0; k < 8 * (end - at); k++) conn[8 * at + k] = (int32_t)node[k];
        rc = own < rc ? own : rc;
    }
    return rc;
}

int hx_source_has_sets(const hx_mesh_source *s, int of_elements)
{
    int any = 0;
    for (int i = 0; i < s->n_set; i++)
        any |= s->set[i].of_both || s->set[i].of_elements == of_elements;
    return any;
}

/* first[part] := how many marks with the bit come before a part; at last of all. */
static void count_marks(int64_t n, const uint64_t *marks, int bit, int64_t first[HX_N_PART + 1])
{
    first[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n, part + 1);
        int64_t count = 0;
        for (int64_t i = hx_part_begin(n, part); i < end; i++) count += marks[i] >> bit & 1;
        first[part + 1] = count;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
}

static void list_marks(int64_t n, const uint64_t *marks, int bit,
                       const int64_t first[HX_N_PART + 1], int32_t *list)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(n, part + 1);
        int64_t next = first[part];
        for (int64_t i = hx_part_begin(n, part); next < first[part + 1] && i < end; i++)
            if (marks[i] >> bit & 1) list[next++] = (int32_t)i;
    }
}

int hx_mesh_add_marked_set(hx_mesh *mesh, const char *name, int of_elements, const uint64_t *marks,
                           int bit)
{
    const int64_t n = of_elements ? mesh->n_elem : mesh->n_node;
    int64_t first[HX_N_PART + 1];
    int32_t *list;
    count_marks(n, marks, bit, first);
    const int64_t n_in = first[HX_N_PART];
    HX_TRY(hx_alloc_raw(&list, (size_t)n_in, sizeof *list, what));
    list_marks(n, marks, bit, first, list);
    const int rc = of_elements ? hx_mesh_add_elem_set(mesh, name, n_in, list)
                               : hx_mesh_add_node_set(mesh, name, n_in, list);
    free(list);
    return rc;
}

int hx_source_add_sets(const hx_mesh_source *s, hx_mesh *mesh, uint64_t *const in_set[2])
{
    for (int i = 0; i < s->n_set; i++)
        for (int of = 0; of < 2; of++)
            if (s->set[i].of_both || s->set[i].of_elements == of)
                HX_TRY(hx_mesh_add_marked_set(mesh, s->set[i].name, of, in_set[of], i));
    return HX_OK;
}

int hx_source_mesh(const hx_mesh_source *s, hx_mesh *mesh)
{
    double *xyz = NULL;
    int32_t *conn = NULL;
    uint64_t *in_set[2] = {NULL, NULL};
    int rc;
    memset(mesh, 0, sizeof *mesh);
    for (int of = 0; of < 2; of++)
        if (hx_source_has_sets(s, of))
            HX_TRY_FAIL(hx_alloc_raw(&in_set[of], (size_t)(of ? s->n_elem : s->n_node),
                                     sizeof(uint64_t), what));
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)s->n_node, sizeof *xyz, "coordinates"));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)s->n_elem, sizeof *conn, "elements"));
    HX_TRY_FAIL(fill_nodes(s, xyz, in_set[0]));
    HX_TRY_FAIL(fill_elements(s, conn, in_set[1]));
    rc = hx_mesh_create(mesh, s->name, s->n_node, xyz, s->n_elem, conn);
    xyz = NULL; /* the mesh's, also if that failed */
    conn = NULL;
    if (rc == HX_OK) rc = hx_source_add_sets(s, mesh, in_set);
fail:
    free(xyz);
    free(conn);
    free(in_set[0]);
    free(in_set[1]);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}

void hx_source_close(hx_mesh_source *s)
{
    if (s->close) s->close(s);
    memset(s, 0, sizeof *s);
}
