/* The elements of each node. */
#include <stdlib.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "mesh_internal.h"

/* ptr[i] := ptr[0] + ... + ptr[i]. */
static void prefix_sum(int64_t *ptr, int64_t n)
{
    int64_t before[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t sum = 0;
        for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++) sum += ptr[i];
        before[part + 1] = sum;
    }
    for (int part = 0; part < HX_N_PART; part++) before[part + 1] += before[part];
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int64_t sum = before[part];
        for (int64_t i = hx_part_begin(n, part); i < hx_part_begin(n, part + 1); i++)
            ptr[i] = sum += ptr[i];
    }
}

/* first[part]: above all nodes of the elements of earlier parts. Only this part and later ones name
 * the nodes from first[part] to first[part + 1], so no other thread writes to them in the meantime.
 * If nodes are numbered by first use, these are most of a part's nodes. */
static void find_first_uses(const hx_mesh *mesh, int32_t first[HX_N_PART + 1])
{
    first[0] = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        int32_t most = -1;
        const int64_t end = 8 * hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t i = 8 * hx_part_begin(mesh->n_elem, part); i < end; i++)
            most = mesh->conn[i] > most ? mesh->conn[i] : most;
        first[part + 1] = most + 1;
    }
    for (int part = 0; part < HX_N_PART; part++)
        if (first[part + 1] < first[part]) first[part + 1] = first[part];
}

/* Returns 1 if earlier parts also name a node of these elements. This holds for few elements of a
 * part; the others are skipped eight corners at a time. */
static int has_others(const int32_t conn[8], int32_t first)
{
    int any = 0;
    for (int i = 0; i < 8; i++) any |= conn[i] < first;
    return any;
}

/* count[node] += its incidences: first each part's own nodes, then, with several threads, the
 * others. */
static void count_incidences(const hx_mesh *mesh, const int32_t *first, int64_t *count)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = 8 * hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t i = 8 * hx_part_begin(mesh->n_elem, part); i < end; i++)
            if (mesh->conn[i] >= first[part]) count[mesh->conn[i]]++;
    }
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++) {
            const int32_t *const conn = mesh->conn + 8 * e;
            if (!has_others(conn, first[part])) continue;
            for (int i = 0; i < 8; i++) {
                if (conn[i] >= first[part]) continue;
#pragma omp atomic
                count[conn[i]]++;
            }
        }
    }
}

/* Lists the incidences from next[node], which advances: in ascending order, except for those that
 * several threads list. */
static void fill_incidences(const hx_mesh *mesh, const int32_t *first, int64_t *next,
                            uint32_t *list)
{
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = 8 * hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t i = 8 * hx_part_begin(mesh->n_elem, part); i < end; i++)
            if (mesh->conn[i] >= first[part]) list[next[mesh->conn[i]]++] = (uint32_t)i;
    }
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++) {
        const int64_t end = hx_part_begin(mesh->n_elem, part + 1);
        for (int64_t e = hx_part_begin(mesh->n_elem, part); e < end; e++) {
            const int32_t *const conn = mesh->conn + 8 * e;
            if (!has_others(conn, first[part])) continue;
            for (int i = 0; i < 8; i++) {
                int64_t place;
                if (conn[i] >= first[part]) continue;
#pragma omp atomic capture
                place = next[conn[i]]++;
                list[place] = (uint32_t)(8 * e + i);
            }
        }
    }
}

int hx_mesh_build_incidence(const hx_mesh *mesh, int64_t **ptr_out, uint32_t **list_out)
{
    int32_t first[HX_N_PART + 1];
    int64_t *ptr = NULL;
    uint32_t *list = NULL;
    const int64_t n_node = mesh->n_node, n_entry = 8 * mesh->n_elem;
    *ptr_out = NULL;
    *list_out = NULL;
    HX_TRY(hx_alloc(&ptr, (size_t)n_node + 2, sizeof *ptr, "node to element pointers"));
    const int rc = hx_alloc_raw(&list, (size_t)n_entry, sizeof *list, "node to element lists");
    if (rc < 0) {
        free(ptr);
        return rc;
    }
    /* Counts are stored two positions higher, so that filling shifts the starts to their final
     * positions. */
    find_first_uses(mesh, first);
    count_incidences(mesh, first, ptr + 2);
    prefix_sum(ptr, n_node + 2);
    fill_incidences(mesh, first, ptr + 1, list);
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_node; a++) hx_sort_few_u32(list + ptr[a], ptr[a + 1] - ptr[a]);
    *ptr_out = ptr;
    *list_out = list;
    return HX_OK;
}
