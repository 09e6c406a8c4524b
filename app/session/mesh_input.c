#include "mesh_input.h"

#include "../text/log.h"
#include "core/files/mesh_files.h"

int hx_input_read(const char *path, double merge, hx_mesh *mesh, hx_conditions *conditions)
{
    hx_notes notes = {0};
    const int rc = hx_mesh_read(path, merge, mesh, conditions, &notes);
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
