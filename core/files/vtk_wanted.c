/* The cell array that is searched in a VTK file, legacy or XML. */
#include <stdio.h>
#include <string.h>

#include "vtk_reader.h"

void hx_vtk_note_seen(hx_vtk_reader *r, const char *name)
{
    const size_t n = strlen(r->seen);
    snprintf(r->seen + n, sizeof r->seen - n, "%s%.60s", n > 0 ? ", " : "", name);
}

int hx_vtk_check_wanted(const hx_vtk_reader *r)
{
    if (!r->wanted || r->wanted_n < 0 || r->n_elem == r->wanted_n) return HX_OK;
    return HX_FILE_RAISE(
        &r->scan, "%lld cells; the mesh of this run has %lld%s", (long long)r->n_elem,
        (long long)r->wanted_n,
        r->n_elem < r->wanted_n ? " (a file written with a threshold lacks elements)" : "");
}
