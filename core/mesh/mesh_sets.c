/* Named sets of a mesh: adding, completing, renumbering. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "mesh.h"
#include "mesh_internal.h"

void hx_set_free(hx_set *set)
{
    free(set->name);
    free(set->node);
    free(set->elem);
    free(set->face);
    free(set->middle);
    for (size_t i = 0; i < set->n_part; i++) free(set->part[i]);
    free(set->part);
    memset(set, 0, sizeof *set);
}

int hx_set_combine(hx_set *set, hx_set_rule rule, size_t n_part, const char *const *part)
{
    HX_TRY(hx_alloc(&set->part, n_part, sizeof *set->part, "parts of a set"));
    set->rule = rule;
    for (; set->n_part < n_part; set->n_part++)
        HX_TRY(hx_strdup(&set->part[set->n_part], part[set->n_part]));
    return HX_OK;
}

const hx_set *hx_mesh_find_set(const hx_mesh *mesh, const char *name)
{
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, name) == 0) return &mesh->set[i];
    return NULL;
}

int64_t hx_set_stated_faces(const hx_mesh *mesh, const hx_set *set)
{
    if (set->rule == HX_SET_PLAIN) return set->n_face;
    if (set->n_elem > 0) return 0;
    for (int64_t k = 0; k < 4 * set->n_face; k++) {
        const int64_t face = set->face[k / 4];
        const int32_t node = mesh->conn[8 * (face / 6) + hx_hex_face[face % 6][k % 4]];
        const int64_t at = hx_count_below_i32(set->node, set->n_node, node);
        if (at == set->n_node || set->node[at] != node) return 0;
    }
    return set->n_face;
}

int hx_mesh_append_set(hx_mesh *mesh, const char *name, hx_set **set)
{
    HX_TRY(hx_resize(&mesh->set, mesh->n_set, mesh->n_set + 1, sizeof *mesh->set, "sets"));
    HX_TRY(hx_strdup(&mesh->set[mesh->n_set].name, name));
    *set = &mesh->set[mesh->n_set++];
    return HX_OK;
}

int hx_list_flagged(const uint8_t *flag, int64_t n_flag, int64_t *n, int32_t **list)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t count = 0;
        const int64_t end = hx_part_begin(n_flag, part + 1);
        for (int64_t i = hx_part_begin(n_flag, part); i < end; i++) count += flag[i] != 0;
        first[part + 1] = count;
    }
    for (int part = 0; part < HX_N_PART; part++) first[part + 1] += first[part];
    HX_TRY(hx_alloc_raw(list, (size_t)first[HX_N_PART], sizeof **list, "members of a set"));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t next = first[part];
        const int64_t end = hx_part_begin(n_flag, part + 1);
        for (int64_t i = hx_part_begin(n_flag, part); i < end; i++)
            if (flag[i]) (*list)[next++] = (int32_t)i;
    }
    *n = first[HX_N_PART];
    return HX_OK;
}

/* Replaces a list by the flagged items, whose flags are reset to 0. */
static int take_flagged(uint8_t *flag, int64_t n_flag, int64_t *n, int32_t **list)
{
    int32_t *flagged = NULL;
    const int rc = hx_list_flagged(flag, n_flag, n, &flagged);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n_flag; i++) flag[i] = 0;
    if (rc < 0) return rc;
    free(*list);
    *list = flagged;
    return HX_OK;
}

/* Returns 1 if a list of n entries below n_all is sorted faster by flags, which need a pass over
 * n_all. */
static int is_large(int64_t n, int64_t n_all)
{
    return n > n_all / 1024;
}

/* list := sorted union of list and more. */
static int merge_i32(int32_t **list, int64_t *n, const int32_t *more, int64_t n_more)
{
    HX_TRY(
        hx_resize_raw(list, (size_t)*n, (size_t)(*n + n_more), sizeof **list, "members of a set"));
    if (n_more > 0) memcpy(*list + *n, more, (size_t)n_more * sizeof **list);
    *n += n_more;
    hx_sort_i32(*list, *n);
    *n = hx_unique_i32(*list, *n);
    return HX_OK;
}

/* Opens the set to add n items to; checks that the mesh is not finished and that the items, of a
 * list or faces, are in 0..limit-1. */
static int open_set(hx_mesh *mesh, const char *name, const char *what, int64_t n,
                    const int32_t *list, const int64_t *face, int64_t limit, hx_set **set)
{
    int64_t min = 0, max = -1;
    for (int64_t i = 0; i < n; i++) {
        const int64_t item = list ? list[i] : face[i];
        if (item < min) min = item;
        if (item > max) max = item;
    }
    if (!name || !*name) return HX_RAISE(HX_EINPUT, "%s: a set needs a name", mesh->name);
    if (mesh->node_elem_ptr)
        return HX_RAISE(HX_EINTERNAL, "%s: set \"%s\" added to a finished mesh", mesh->name, name);
    if (min < 0 || max >= limit)
        return HX_RAISE(HX_EINPUT, "%s: set \"%s\" names %s %lld, but they are 0 to %lld",
                        mesh->name, name, what, (long long)(min < 0 ? min : max),
                        (long long)(limit - 1));
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, name) == 0) {
            *set = &mesh->set[i];
            return HX_OK;
        }
    return hx_mesh_append_set(mesh, name, set);
}

int hx_mesh_add_node_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *node)
{
    hx_set *set;
    HX_TRY(open_set(mesh, name, "node", n, node, NULL, mesh->n_node, &set));
    return merge_i32(&set->node, &set->n_node, node, n);
}

int hx_mesh_add_elem_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *elem)
{
    hx_set *set;
    HX_TRY(open_set(mesh, name, "element", n, elem, NULL, mesh->n_elem, &set));
    return merge_i32(&set->elem, &set->n_elem, elem, n);
}

int hx_mesh_name_elems(hx_mesh *mesh, const char *name, const uint8_t *flag)
{
    hx_set *set;
    uint8_t *node;
    if (hx_mesh_find_set(mesh, name))
        return HX_RAISE(HX_EINPUT, "set \"%s\": the mesh already has a set of that name", name);
    HX_TRY(hx_mesh_append_set(mesh, name, &set));
    HX_TRY(hx_list_flagged(flag, mesh->n_elem, &set->n_elem, &set->elem));
    HX_TRY(hx_alloc(&node, (size_t)mesh->n_node, 1, "node flags"));
    for (int64_t k = 0; k < set->n_elem; k++)
        for (int a = 0; a < 8; a++) node[mesh->conn[8 * (int64_t)set->elem[k] + a]] = 1;
    const int rc = hx_list_flagged(node, mesh->n_node, &set->n_node, &set->node);
    free(node);
    return rc;
}

int hx_mesh_add_middle_set(hx_mesh *mesh, const char *name, int64_t n, const int32_t *end)
{
    hx_set *set;
    HX_TRY(open_set(mesh, name, "node", 2 * n, end, NULL, mesh->n_node, &set));
    HX_TRY(hx_resize_raw(&set->middle, 2 * (size_t)set->n_middle, 2 * (size_t)(set->n_middle + n),
                         sizeof *set->middle, "middles of a set"));
    if (n > 0) memcpy(set->middle + 2 * set->n_middle, end, 2 * (size_t)n * sizeof *end);
    set->n_middle += n;
    return HX_OK;
}

int hx_mesh_add_face_set(hx_mesh *mesh, const char *name, int64_t n, const int64_t *face)
{
    hx_set *set;
    HX_TRY(open_set(mesh, name, "face (element * 6 + local face)", n, NULL, face, 6 * mesh->n_elem,
                    &set));
    HX_TRY(hx_resize_raw(&set->face, (size_t)set->n_face, (size_t)(set->n_face + n),
                         sizeof *set->face, "faces of a set"));
    if (n > 0) memcpy(set->face + set->n_face, face, (size_t)n * sizeof *set->face);
    set->n_face += n;
    hx_sort_i64(set->face, set->n_face);
    set->n_face = hx_unique_i64(set->face, set->n_face);
    return HX_OK;
}

void hx_mesh_mark_skin(hx_mesh *mesh, const char *name, int is_skin)
{
    for (size_t i = 0; i < mesh->n_set; i++)
        if (strcmp(mesh->set[i].name, name) == 0) mesh->set[i].is_skin = is_skin;
}

int hx_mesh_renumber_sets(hx_mesh *mesh, const int32_t *node_new, const int32_t *elem_new)
{
    uint8_t *flag = NULL;
    const int64_t n_max = mesh->n_node > mesh->n_elem ? mesh->n_node : mesh->n_elem;
    HX_TRY(hx_alloc(&flag, (size_t)n_max, 1, "flags of a set"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        hx_set *const set = &mesh->set[i];
        int32_t **const list[2] = {&set->node, &set->elem};
        int64_t *const n[2] = {&set->n_node, &set->n_elem};
        const int32_t *const renumber[2] = {node_new, elem_new};
        const int64_t n_all[2] = {mesh->n_node, mesh->n_elem};
        for (int k = 0; k < 2; k++) {
            if (!renumber[k]) continue;
#pragma omp parallel for schedule(static)
            for (int64_t j = 0; j < *n[k]; j++) (*list[k])[j] = renumber[k][(*list[k])[j]];
            if (!is_large(*n[k], n_all[k])) {
                hx_sort_i32(*list[k], *n[k]);
                *n[k] = hx_unique_i32(*list[k], *n[k]);
                continue;
            }
#pragma omp parallel for schedule(static)
            for (int64_t j = 0; j < *n[k]; j++) {
#pragma omp atomic write
                flag[(*list[k])[j]] = 1; /* several entries may be the same merged node */
            }
            const int rc = take_flagged(flag, n_all[k], n[k], list[k]);
            if (rc == HX_OK) continue;
            free(flag);
            return rc;
        }
        for (int64_t j = 0; node_new && j < 2 * set->n_middle; j++)
            set->middle[j] = node_new[set->middle[j]];
        for (int64_t j = 0; j < set->n_face; j++)
            /* NOLINTNEXTLINE(clang-analyzer-core*): only node_new may be NULL */
            set->face[j] = (int64_t)elem_new[set->face[j] / 6] * 6 + set->face[j] % 6;
        hx_sort_i64(set->face, set->n_face);
        set->n_face = hx_unique_i64(set->face, set->n_face);
    }
    free(flag);
    return HX_OK;
}

static int is_enclosed(const uint8_t *node_flag, const int32_t conn[8])
{
    int n_in = 0;
    while (n_in < 8 && node_flag[conn[n_in]]) n_in++;
    return n_in == 8;
}

/* Appends enclosed elements by visiting the elements of each node. */
static int add_enclosed_few(const hx_mesh *mesh, hx_set *set, const uint8_t *node_flag)
{
    int32_t *inside = NULL;
    int64_t n_inside = 0;
    for (int fill = 0; fill < 2; fill++) {
        n_inside = 0;
        for (int64_t i = 0; i < set->n_node; i++) {
            const int32_t a = set->node[i];
            for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
                /* each element is visited at its corner 0 */
                if (mesh->node_elem[k] % 8 != 0) continue;
                const int32_t e = (int32_t)(mesh->node_elem[k] / 8);
                if (!is_enclosed(node_flag, mesh->conn + (size_t)e * 8)) continue;
                if (fill) inside[n_inside] = e;
                n_inside++;
            }
        }
        if (n_inside == 0) return HX_OK;
        if (!fill) HX_TRY(hx_alloc_raw(&inside, (size_t)n_inside, sizeof *inside, "set elements"));
    }
    const int rc = merge_i32(&set->elem, &set->n_elem, inside, n_inside);
    free(inside);
    return rc;
}

/* Appends enclosed elements by visiting all; elem_flag[n_elem] is 0 on entry and exit. */
static int add_enclosed_many(const hx_mesh *mesh, hx_set *set, const uint8_t *node_flag,
                             uint8_t *elem_flag)
{
    for (int64_t i = 0; i < set->n_elem; i++) elem_flag[set->elem[i]] = 1;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (!elem_flag[e]) elem_flag[e] = (uint8_t)is_enclosed(node_flag, mesh->conn + 8 * e);
    return take_flagged(elem_flag, mesh->n_elem, &set->n_elem, &set->elem);
}

/* Appends the elements all of whose nodes are in the set; the flags are 0 on entry and exit. */
static int add_enclosed_elements(const hx_mesh *mesh, hx_set *set, uint8_t *node_flag,
                                 uint8_t *elem_flag)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < set->n_node; i++) node_flag[set->node[i]] = 1;
    const int rc = set->n_node > mesh->n_node / 16
                       ? add_enclosed_many(mesh, set, node_flag, elem_flag)
                       : add_enclosed_few(mesh, set, node_flag);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < set->n_node; i++) node_flag[set->node[i]] = 0;
    return rc;
}

/* Node i of the nodes of the set's elements, followed by those of its faces. */
static int32_t member_node(const hx_mesh *mesh, const hx_set *set, int64_t i)
{
    const int64_t j = i - 8 * set->n_elem;
    const int64_t e = j < 0 ? set->elem[i / 8] : set->face[j / 4] / 6;
    const int corner = j < 0 ? (int)(i % 8) : hx_hex_face[set->face[j / 4] % 6][j % 4];
    return mesh->conn[(size_t)e * 8 + (size_t)corner];
}

int hx_set_add_member_nodes(const hx_mesh *mesh, hx_set *set, uint8_t *flag)
{
    const int is_plain = set->rule == HX_SET_PLAIN;
    const int64_t n = is_plain ? 8 * set->n_elem + 4 * set->n_face : 0;
    int32_t *node = NULL;
    if (n == 0) return HX_OK;
    if (is_large(n, mesh->n_node)) {
        for (int64_t i = 0; i < set->n_node; i++) flag[set->node[i]] = 1;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
#pragma omp atomic write
            flag[member_node(mesh, set, i)] = 1;
        }
        return take_flagged(flag, mesh->n_node, &set->n_node, &set->node);
    }
    HX_TRY(hx_alloc_raw(&node, (size_t)n, sizeof *node, "nodes of a set"));
    for (int64_t i = 0; i < n; i++) node[i] = member_node(mesh, set, i);
    const int rc = merge_i32(&set->node, &set->n_node, node, n);
    free(node);
    return rc;
}

int hx_mesh_complete_sets(hx_mesh *mesh)
{
    int rc = HX_OK;
    uint8_t *node_flag = NULL, *elem_flag = NULL;
    HX_TRY_FAIL(hx_alloc(&node_flag, (size_t)mesh->n_node, 1, "flags of a set"));
    HX_TRY_FAIL(hx_alloc(&elem_flag, (size_t)mesh->n_elem, 1, "flags of a set"));
    for (size_t i = 0; i < mesh->n_set; i++) {
        if (!mesh->set[i].is_skin)
            HX_TRY_FAIL(add_enclosed_elements(mesh, &mesh->set[i], node_flag, elem_flag));
        HX_TRY_FAIL(hx_set_add_member_nodes(mesh, &mesh->set[i], node_flag));
    }
fail:
    free(node_flag);
    free(elem_flag);
    return rc;
}
