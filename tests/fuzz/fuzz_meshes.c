/* Mesh files: the first byte chooses the extension of the file name, unless the environment
 * variable HX_FUZZ_ENDING sets it (".xml": only that reader); the others are the file. An accepted
 * mesh is written in every format that has a writer, and must be read back as the same mesh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_mesh.h"

/* Makes a mesh like a command does: reads, merges, renumbers, finishes and checks it. */
static int read_mesh(const char *path, size_t size, hx_mesh *mesh)
{
    hx_conditions conditions;
    hx_notes notes = {0};
    const double merge = size % 3 == 0 ? (double)NAN : size % 3 == 1 ? 0.0 : 0.1;
    int rc = hx_mesh_read(path, merge, mesh, &conditions, &notes);
    if (rc == HX_OK && size % 2 == 0) rc = hx_mesh_reorder(mesh);
    if (rc == HX_OK) rc = hx_mesh_finish(mesh);
    if (rc == HX_OK) rc = hx_mesh_check_file(mesh, merge, &notes);
    hx_conditions_free(&conditions);
    hx_notes_free(&notes);
    return rc;
}

static void check_written(const hx_mesh *mesh, const hx_mesh_format *format, int is_ascii)
{
    char name[32], path[FUZZ_PATH];
    hx_notes notes = {0};
    const hx_mesh_write_options options = {.is_ascii = is_ascii, .title = "fuzz", .notes = &notes};
    hx_mesh again;
    snprintf(name, sizeof name, "written%s", format->extension);
    fuzz_path(name, path);
    if (fuzz_accepted(format->write(path, mesh, &options))) {
        const int rc = hx_mesh_read(path, 0.0, &again, NULL, NULL);
        fuzz_require(rc == HX_OK, "a written mesh can be read");
        fuzz_require(again.n_elem == mesh->n_elem && again.n_node == mesh->n_node,
                     "a written mesh has as many nodes and elements");
        hx_mesh_free(&again);
    }
    hx_notes_free(&notes);
}

static const hx_mesh_format *choose(uint8_t first)
{
    const char *const ending = getenv("HX_FUZZ_ENDING");
    if (!ending) return &hx_mesh_formats[first % hx_n_mesh_format];
    for (size_t i = 0; i < hx_n_mesh_format; i++)
        if (strcmp(hx_mesh_formats[i].extension, ending) == 0) return &hx_mesh_formats[i];
    fprintf(stderr, "HX_FUZZ_ENDING: no mesh file ends in '%s'\n", ending);
    exit(2);
}

void fuzz_meshes(const uint8_t *data, size_t size)
{
    char name[32], path[FUZZ_PATH];
    hx_mesh mesh;
    if (size < 1) return;
    const hx_mesh_format *const format = choose(data[0]);
    snprintf(name, sizeof name, "fuzz%s", format->extension);
    fuzz_path(name, path);
    fuzz_write(path, data + 1, size - 1);
    if (fuzz_accepted(read_mesh(path, size, &mesh))) {
        fuzz_require_mesh(&mesh);
        for (size_t i = 0; i < hx_n_mesh_format; i++)
            if (hx_mesh_can_write(&hx_mesh_formats[i]))
                check_written(&mesh, &hx_mesh_formats[i], size % 5 < 2);
    }
    hx_mesh_free(&mesh);
    remove(path);
}
