#include "spline_sides.h"

#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/union_find.h"

static void unite_sides(int (*n)[3], const hx_spline_interface *interface, const int64_t *first,
                        int32_t *root)
{
    hx_spline_grid a, b;
    hx_spline_grids(n, interface, &a, &b);
    for (int j = 0; j < a.n[1]; j++)
        for (int i = 0; i < a.n[0]; i++)
            hx_unite(root, (int32_t)(first[interface->a.patch] + hx_spline_grid_at(&a, i, j)),
                     (int32_t)(first[interface->b.patch] + hx_spline_grid_at(&b, i, j)));
}

static int fill_roots(const hx_spline *spline, int (*n)[3], int64_t *first, int32_t **root)
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
    for (int64_t i = 0; i < n_all; i++) (*root)[i] = (int32_t)i;
    for (int k = 0; k < spline->n_interface; k++)
        unite_sides(n, &spline->interface[k], first, *root);
    for (int64_t i = 0; i < n_all; i++) (*root)[i] = hx_root(*root, (int32_t)i);
    return 0;
}

int hx_spline_unite(const hx_spline *spline, int (*n)[3], int64_t **first, int32_t **root)
{
    *root = NULL;
    HX_TRY(hx_alloc(first, (size_t)spline->n_patch + 1, sizeof **first, "patches"));
    const int rc = fill_roots(spline, n, *first, root);
    if (rc < 0) free(*first);
    if (rc < 0) *first = NULL;
    return rc;
}
