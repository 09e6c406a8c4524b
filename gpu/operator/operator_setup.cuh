// Shared by the set-ups of all operators. Host code.
#ifndef HX_OPERATOR_KIND_SETUP_CUH
#define HX_OPERATOR_KIND_SETUP_CUH

#include "core/base/memory.h"
#include "core/operator/operator_kind.h"

// *state := a zeroed State with its device and model set, filled by fill(State *). If that fails,
// it is torn down. `what` names it in the message if there is not enough memory.
template <class State, class Fill>
int hx_operator_kind_setup(void **state, hx_device *dev, const hx_device_model *model,
                           const char *what, void (*teardown)(void *state), Fill fill)
{
    State *s;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, what));
    s->dev = dev;
    s->model = model;
    const int rc = fill(s);
    if (rc < 0) {
        teardown(s);
        return rc;
    }
    *state = s;
    return HX_OK;
}

// hx_operator_kind.apply, and apply_single, of a kind that computes products in parts by PART.
template <auto PART, class T> int hx_whole_product(void *state, const T *d_x, T *d_y)
{
    return PART(state, HX_PRODUCT_WHOLE, d_x, d_y);
}

#endif
