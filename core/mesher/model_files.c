#include "model_files.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/input_file.h"
#include "../files/foreign_files.h"

enum { HEAD_SIZE = 513 };

static int ends_with(const char *path, const char *extension)
{
    const size_t n = strlen(path), n_end = strlen(extension);
    return n > n_end && strcasecmp(path + n - n_end, extension) == 0;
}

static const hx_model_format *find_model_format(const hx_model_format *format, const char *path,
                                                const char *head, int by_name)
{
    for (; format->name; format++) {
        const int is_head = format->is_head && format->is_head(head);
        if (by_name && ends_with(path, format->extension) && (is_head || !format->is_head))
            return format;
        if (!by_name && is_head) return format;
    }
    return NULL;
}

static const hx_model_format *find_in_all(const char *path, const char *head, int by_name)
{
    const hx_model_format *const format = find_model_format(hx_cad_formats, path, head, by_name);
    return format ? format : find_model_format(hx_converter_formats, path, head, by_name);
}

const hx_model_format *hx_model_format_of_file(const char *path)
{
    char head[HEAD_SIZE];
    /* Reads the first bytes of the file, terminated by a 0; empty if it cannot be opened. */
    FILE *const f = hx_input_open(path, NULL);
    const size_t n = f ? fread(head, 1, HEAD_SIZE - 1, f) : 0;
    if (f) fclose(f);
    head[n] = '\0';
    const hx_model_format *const format = find_in_all(path, head, 1);
    if (format || hx_mesh_format_of_file(path)) return format;
    return find_in_all(path, head, 0);
}

int hx_model_is_cad(const char *path)
{
    const hx_model_format *const format = hx_model_format_of_file(path);
    for (const hx_model_format *cad = hx_cad_formats; cad->name; cad++)
        if (cad == format) return 1;
    return 0;
}

int hx_model_is_file(const char *path)
{
    return hx_mesh_format_of_name(path) || hx_mesh_format_of_file(path) ||
           hx_model_format_of_file(path) || hx_foreign_is_file(path);
}

int hx_model_read(const char *path, const hx_model_options *options, hx_mesh *mesh,
                  hx_conditions *conditions, hx_notes *notes)
{
    const hx_model_format *const format = hx_model_format_of_file(path);
    if (!format && options->spline && hx_mesh_is_spline(path)) {
        if (conditions) memset(conditions, 0, sizeof *conditions);
        return hx_mesh_read_spline(path, &options->spline_options, options->spline, mesh, notes);
    }
    if (!format) return hx_mesh_read(path, options->merge, mesh, conditions, notes);
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    return format->read(path, options, mesh, conditions, notes);
}
