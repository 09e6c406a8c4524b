#include "mesh_input.h"

#include "core/mesh_files.h"
#include "log.h"

/* Logs the notes and frees them. */
static void log_notes(hx_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++) {
        const char *const text = notes->note[i].text;
        switch (notes->note[i].level) {
        case HX_NOTE_DETAIL:
            hx_log_detail("%s", text);
            break;
        case HX_NOTE_INFO:
            hx_log_info("%s", text);
            break;
        case HX_NOTE_WARNING:
            hx_log_warning("%s", text);
            break;
        }
    }
    hx_notes_free(notes);
}

int hx_input_read(const char *path, double merge, hx_mesh *mesh)
{
    hx_notes notes = {0};
    const int rc = hx_mesh_read(path, merge, mesh, &notes);
    log_notes(&notes);
    return rc;
}

int hx_input_check(const hx_mesh *mesh, double merge)
{
    hx_notes notes = {0};
    const int rc = hx_mesh_check_file(mesh, merge, &notes);
    log_notes(&notes);
    return rc;
}
