#include "set_classes.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/sort.h"

static int add_class(hx_set_classes *classes, int32_t parent, int32_t set)
{
    const int64_t n = classes->n;
    if (n == classes->capacity) {
        static const char what[] = "classes of sets";
        const int64_t wanted = n > 0 ? 2 * n : 64;
        HX_TRY(hx_resize(&classes->parent, (size_t)n, (size_t)wanted, sizeof(int32_t), what));
        HX_TRY(hx_resize(&classes->set, (size_t)n, (size_t)wanted, sizeof(int32_t), what));
        HX_TRY(hx_resize(&classes->child, (size_t)n, (size_t)wanted, sizeof(int32_t), what));
        HX_TRY(hx_resize(&classes->count, (size_t)n, (size_t)wanted, sizeof(int64_t), what));
        classes->capacity = wanted;
    }
    classes->parent[n] = parent;
    classes->set[n] = set;
    classes->child[n] = -1;
    classes->count[n] = 0;
    classes->n++;
    return HX_OK;
}

int hx_set_classes_create(hx_set_classes *classes, int64_t n_item)
{
    int rc = HX_OK;
    memset(classes, 0, sizeof *classes);
    classes->n_item = n_item;
    HX_TRY_FAIL(hx_alloc(&classes->of, (size_t)n_item, sizeof(int32_t), "classes of sets"));
    HX_TRY_FAIL(add_class(classes, -1, -1));
    classes->count[0] = n_item;
    return HX_OK;
fail:
    hx_set_classes_free(classes);
    return rc;
}

int hx_set_classes_add(hx_set_classes *classes, int32_t set, int64_t n, const int32_t *item)
{
    const int64_t n_before = classes->n;
    for (int64_t i = 0; i < n; i++) {
        const int32_t from = classes->of[item[i]];
        if (classes->child[from] < 0) {
            const int32_t child = (int32_t)classes->n;
            HX_TRY(add_class(classes, from, set));
            classes->child[from] = child;
        }
        classes->of[item[i]] = classes->child[from];
        classes->count[from]--;
        classes->count[classes->child[from]]++;
    }
    for (int64_t c = 0; c < n_before; c++) classes->child[c] = -1;
    return HX_OK;
}

void hx_set_classes_free(hx_set_classes *classes)
{
    free(classes->of);
    free(classes->parent);
    free(classes->set);
    free(classes->child);
    free(classes->count);
    memset(classes, 0, sizeof *classes);
}

void hx_flag_set_nodes(const hx_mesh *mesh, const hx_set *set, int64_t n_face, uint8_t *flag,
                       uint8_t value)
{
    for (int64_t i = 0; i < 8 * set->n_elem; i++)
        flag[mesh->conn[8 * (int64_t)set->elem[i / 8] + i % 8]] = value;
    for (int64_t i = 0; i < n_face; i++)
        for (int k = 0; k < 4; k++)
            flag[mesh->conn[8 * (set->face[i] / 6) + hx_hex_face[set->face[i] % 6][k]]] = value;
}

int hx_nodes_hold_more(const hx_mesh *mesh, const hx_set *set, const uint8_t *flag)
{
    for (int64_t i = 0; i < set->n_node; i++) {
        const int64_t a = set->node[i];
        for (int64_t k = mesh->node_elem_ptr[a]; k < mesh->node_elem_ptr[a + 1]; k++) {
            const int64_t e = mesh->node_elem[k] / 8;
            int n = 0;
            while (n < 8 && flag[mesh->conn[8 * e + n]]) n++;
            if (n < 8) continue;
            const int64_t at = hx_count_below_i32(set->elem, set->n_elem, e);
            if (at == set->n_elem || set->elem[at] != e) return 1;
        }
    }
    return 0;
}
