#include "spline_turn.h"

#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "spline_volume.h"

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Reverses the layers of control points. */
static void turn_points(const hx_spline_patch *patch)
{
    const int n = patch->axis[2].n;
    const int64_t layer = (int64_t)patch->axis[0].n * patch->axis[1].n;
    for (int k = 0; k < n / 2; k++)
        for (int64_t i = 0; i < layer; i++) {
            const int64_t a = k * layer + i, b = (n - 1 - k) * layer + i;
            for (int c = 0; c < 3; c++) swap(&patch->point[3 * a + c], &patch->point[3 * b + c]);
            if (patch->weight) swap(&patch->weight[a], &patch->weight[b]);
        }
}

static void turn_side(hx_spline_side *side, int patch)
{
    if (side->patch == patch && side->side / 2 == 2) side->side ^= 1;
}

static void turn_interface(hx_spline_interface *interface, int patch)
{
    for (int d = 0; d < 3; d++) {
        if (interface->a.patch == patch && d == 2) interface->flip[d] ^= 1;
        if (interface->b.patch == patch && interface->along[d] == 2) interface->flip[d] ^= 1;
    }
    turn_side(&interface->a, patch);
    turn_side(&interface->b, patch);
}

int hx_spline_turn(hx_spline *spline, int *n_turned)
{
    int n = 0;
    for (int k = 0; k < spline->n_patch; k++) {
        hx_spline_patch *const patch = &spline->patch[k];
        if (!(hx_spline_patch_volume(patch) < 0.0)) continue;
        /* negate the parameter, so that no knot is rounded */
        hx_knots *axis = &patch->axis[2];
        const int last = axis->n + axis->degree;
        double *knot = NULL;
        hx_knots turned;
        HX_TRY(hx_alloc(&knot, (size_t)last + 1, sizeof *knot, "knots"));
        for (int i = 0; i <= last; i++) knot[i] = -axis->knot[last - i];
        const int rc = hx_knots_create(&turned, axis->degree, axis->n, knot);
        free(knot);
        HX_TRY(rc);
        hx_knots_free(axis);
        *axis = turned;
        turn_points(patch);
        patch->is_turned = !patch->is_turned;
        for (int i = 0; i < spline->n_interface; i++) turn_interface(&spline->interface[i], k);
        for (int i = 0; i < spline->n_boundary; i++)
            for (int j = 0; j < spline->boundary[i].n_side; j++)
                turn_side(&spline->boundary[i].side[j], k);
        n++;
    }
    if (n_turned) *n_turned = n;
    return 0;
}
