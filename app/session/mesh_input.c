#include "mesh_input.h"

#include "../text/log.h"
#include "core/files/mesh_files.h"
#include "signal_hooks.h"

int hx_input_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions)
{
    hx_notes notes = {0};
    hx_model_options requested = *options;
    const int by_program = hx_model_format_of_file(path) != NULL;
    if (by_program) hx_signals_begin();
    requested.is_cancelled = hx_signals_caught;
    const int rc = hx_model_read(path, &requested, mesh, conditions, &notes);
    if (by_program) hx_signals_end();
    hx_log_notes(&notes);
    return rc;
}

int hx_input_check(const hx_mesh *mesh, double merge)
{
    hx_notes notes = {0};
    const int rc = hx_mesh_check_file(mesh, merge, &notes);
    hx_log_notes(&notes);
    return rc;
}
