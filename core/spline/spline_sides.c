#include "spline_sides.h"

#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"

static int64_t root_of_side(int64_t *root, int64_t i)
{
    while (root[i] != i) {
        root[i] = root[root[i]];
        i = root[i];
    }
    return i;
}

/* The lower root stays the root, so numbers ascend with the patches. */
static void unite(int64_t *root, int64_t i, int64_t j)
{
    i = root_of_side(root, i);
    j = root_of_side(root, j);
    if (i < j)
        root[j] = i;
    else
        root[i] = j;
}

static void unite_sides(int (*n)[3], const hx_spline_interface *interface, const int64_t *first,
                        int64_t *root)
{
    hx_spline_grid a, b;
    hx_spline_grids(n, interface, &a, &b);
    for (int j = 0; j < a.n[1]; j++)
        for (int i = 0; i < a.n[0]; i++)
            unite(root, first[interface->a.patch] + hx_spline_grid_at(&a, i, j),
                  first[interface->b.patch] + hx_spline_grid_at(&b, i, j));
}

static int fill_roots(const hx_spline *spline, int (*n)[3], int64_t *first, int64_t **root)
{
    for (int k = 0; k < spline->n_patch; k++) {
        const double count = (double)n[k][0] * n[k][1] * n[k][2] + (double)first[k];
        if (count > (double)INT32_MAX)
            return HX_RAISE(HX_EINPUT, "the patches have %.3g points; at most %d are supported",
                            count, INT32_MAX);
        first[k + 1] = first[k] + (int64_t)n[k][0] * n[k][1] * n[k][2];
    }
    const int64_t n_all = first[spline->n_patch];
    HX_TRY(hx_alloc_raw(root, (size_t)n_all, sizeof **root, "numbers of points"));
    for (int64_t i = 0; i < n_all; i++) (*root)[i] = i;
    for (int k = 0; k < spline->n_interface; k++)
        unite_sides(n, &spline->interface[k], first, *root);
    for (int64_t i = 0; i < n_all; i++) (*root)[i] = root_of_side(*root, i);
    return 0;
}

int hx_spline_unite(const hx_spline *spline, int (*n)[3], int64_t **first, int64_t **root)
{
    *root = NULL;
    HX_TRY(hx_alloc(first, (size_t)spline->n_patch + 1, sizeof **first, "patches"));
    const int rc = fill_roots(spline, n, *first, root);
    if (rc < 0) free(*first);
    if (rc < 0) *first = NULL;
    return rc;
}
