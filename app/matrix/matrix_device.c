/* The device that makes the matrices of a config. */
#include "core/operator/conduction_ops.h"
#include "core/registry.h"
#include "matrix_job.h"

/* 1 if the device can make matrices of the config's physics and elements. */
static int supports_request(const hx_session *s, const hx_device_ops *ops)
{
    if (!ops->matrix) return 0;
    if (s->cfg.solver.element == HX_ELEMENT_SPLINE && !ops->matrix->splines) return 0;
    if (!hx_config_is_heat(&s->cfg)) return 1;
    if (!ops->conduction) return 0;
    if (s->cfg.solver.element == HX_ELEMENT_SPLINE) return ops->conduction->splines;
    return s->cfg.solver.element == HX_ELEMENT_LINEAR || ops->conduction->quadratic;
}

int hx_matrix_choose_device(hx_session *s)
{
    if (!hx_config_is_auto(s->cfg.solver.device)) return HX_OK;
    for (size_t i = 0; hx_devices[i]; i++) {
        char why[256] = "";
        if (supports_request(s, hx_devices[i]) && hx_devices[i]->available(why, sizeof why))
            return hx_config_set_word(&s->cfg.solver.device, hx_devices[i]->name);
    }
    return HX_OK;
}
