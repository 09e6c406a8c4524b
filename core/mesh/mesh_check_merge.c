/* Trial merge of coincident nodes, on the elements that have such nodes, so that messages recommend
 * only what works. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "mesh_check.h"
#include "mesh_check_merge.h"

/* --- elements in one place --- */

/* Its distinct nodes after merging, ascending; -1 comes first. */
typedef struct double_elem {
    int32_t place[8];
    int64_t elem;
} double_elem;

static int compare_elems(const void *a, const void *b)
{
    const double_elem *const x = a, *const y = b;
    for (int k = 0; k < 8; k++)
        if (x->place[k] != y->place[k]) return x->place[k] > y->place[k] ? 1 : -1;
    return (x->elem > y->elem) - (x->elem < y->elem);
}

static void set_places(double_elem *one, const hx_mesh *mesh, const int32_t *rep, int64_t e)
{
    one->elem = e;
    for (int k = 0; k < 8; k++) one->place[k] = rep[mesh->conn[8 * e + k]];
    hx_sort_few_i32(one->place, 8);
    for (int k = 0; k < 7; k++)
        if (one->place[k] == one->place[k + 1]) one->place[k] = -1;
    hx_sort_few_i32(one->place, 8);
}

/* Lists all elements (every = 1), or those with marked nodes; elem may be NULL to count them. */
static int64_t list_elems(const hx_mesh *mesh, const uint8_t *is_marked, int every, int64_t *elem)
{
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int n_in = 0;
        for (int k = 0; k < 8; k++) n_in += is_marked[mesh->conn[8 * e + k]];
        if (every ? n_in < 8 : n_in == 0) continue;
        if (elem) elem[n] = e;
        n++;
    }
    return n;
}

static int find_twins(const hx_mesh *mesh, const int32_t *rep, const uint8_t *is_double,
                      hx_merge_trial *trial)
{
    int rc = HX_OK;
    int64_t *elem = NULL;
    double_elem *list = NULL;
    const int64_t n = list_elems(mesh, is_double, 1, NULL);
    HX_TRY_FAIL(hx_alloc_raw(&elem, (size_t)n, sizeof *elem, "coincident elements"));
    HX_TRY_FAIL(hx_alloc_raw(&list, (size_t)n, sizeof *list, "coincident elements"));
    (void)list_elems(mesh, is_double, 1, elem);
    for (int64_t i = 0; i < n; i++) set_places(&list[i], mesh, rep, elem[i]);
    if (n > 0) qsort(list, (size_t)n, sizeof *list, compare_elems);
    for (int64_t i = 1; i < n; i++) {
        if (memcmp(list[i - 1].place, list[i].place, sizeof list[i].place) != 0) continue;
        if (trial->n_twin++ > 0) continue;
        trial->twin[0] = hx_mesh_elem_number(mesh, list[i - 1].elem);
        trial->twin[1] = hx_mesh_elem_number(mesh, list[i].elem);
    }
fail:
    free(elem);
    free(list);
    return rc;
}

/* --- the merged mesh, near the nodes --- */

/* Makes `part` from the n elements with merged nodes; it borrows the numbers of the mesh. */
static int make_part(const hx_mesh *mesh, const int32_t *rep, int64_t n, const int64_t *elem,
                     hx_mesh *part)
{
    int rc;
    int32_t *number = NULL, *conn = NULL;
    double *xyz = NULL;
    int64_t n_node = 0;
    HX_TRY_FAIL(hx_alloc_raw(&number, (size_t)mesh->n_node, sizeof *number, "new numbers"));
    HX_TRY_FAIL(hx_alloc_raw(&conn, 8 * (size_t)n, sizeof *conn, "elements"));
    memset(number, -1, (size_t)mesh->n_node * sizeof *number);
    for (int64_t i = 0; i < 8 * n; i++) {
        int32_t *const a = &number[rep[mesh->conn[8 * elem[i / 8] + i % 8]]];
        if (*a < 0) *a = (int32_t)n_node++;
        conn[i] = *a;
    }
    HX_TRY_FAIL(hx_alloc_raw(&xyz, 3 * (size_t)n_node, sizeof *xyz, "nodes"));
    rc = hx_mesh_create(part, mesh->name, n_node, xyz, n, conn);
    conn = NULL; /* owned by the part, or freed */
    xyz = NULL;
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(hx_alloc_raw(&part->node_orig, (size_t)n_node, sizeof *part->node_orig, "numbers"));
    HX_TRY_FAIL(hx_alloc_raw(&part->elem_orig, (size_t)n, sizeof *part->elem_orig, "numbers"));
    for (int64_t a = 0; a < mesh->n_node; a++) {
        if (number[a] < 0) continue;
        memcpy(part->xyz + 3 * (int64_t)number[a], mesh->xyz + 3 * a, 3 * sizeof *part->xyz);
        part->node_orig[number[a]] = mesh->node_orig ? mesh->node_orig[a] : (int32_t)a;
    }
    for (int64_t i = 0; i < n; i++)
        part->elem_orig[i] = mesh->elem_orig ? mesh->elem_orig[elem[i]] : (int32_t)elem[i];
    part->node_number = mesh->node_number;
    part->elem_number = mesh->elem_number;
fail:
    free(number);
    free(conn);
    free(xyz);
    return rc;
}

/* An error in the merged elements is a result here: HX_OK. */
static int check_part(const hx_mesh *mesh, const int32_t *rep, const uint8_t *is_double,
                      hx_merge_trial *trial)
{
    static const hx_numbers none = {0};
    hx_mesh part;
    int64_t *elem = NULL;
    const int64_t n = list_elems(mesh, is_double, 0, NULL);
    memset(&part, 0, sizeof part);
    HX_TRY(hx_alloc_raw(&elem, (size_t)n, sizeof *elem, "coincident elements"));
    (void)list_elems(mesh, is_double, 0, elem);
    int rc = make_part(mesh, rep, n, elem, &part);
    if (rc == HX_OK) {
        rc = hx_mesh_finish(&part);
        if (rc == HX_OK) rc = hx_mesh_check_conforming(&part, 0, NULL);
        trial->is_sound = rc == HX_OK;
        if (rc == HX_EINPUT) {
            rc = HX_OK;
            const size_t skip = strlen(mesh->name) + 2; /* "name: " */
            const char *const text = hx_error_message();
            snprintf(trial->why, sizeof trial->why, "%s", strlen(text) > skip ? text + skip : text);
        }
    }
    part.node_number = none;
    part.elem_number = none;
    hx_mesh_free(&part);
    free(elem);
    return rc;
}

int hx_mesh_try_merge(const hx_mesh *mesh, const int32_t *rep, hx_merge_trial *trial)
{
    int rc;
    uint8_t *is_double = NULL;
    memset(trial, 0, sizeof *trial);
    HX_TRY_FAIL(hx_alloc(&is_double, (size_t)mesh->n_node, 1, "coincident nodes"));
    for (int64_t a = 0; a < mesh->n_node; a++)
        if (rep[a] != a) is_double[a] = is_double[rep[a]] = 1;
    HX_TRY_FAIL(find_twins(mesh, rep, is_double, trial));
    if (trial->n_twin == 0) HX_TRY_FAIL(check_part(mesh, rep, is_double, trial));
fail:
    free(is_double);
    return rc;
}
