/* The formats of surface files. */
#include <stdio.h>
#include <string.h>

#include "../base/names.h"
#include "surface_files.h"

const hx_surface_format hx_surface_formats[] = {
    {".stl", "binary STL", HX_SURFACE_F32, 0, hx_surface_write_stl},
    {".ply", "binary PLY", HX_SURFACE_F64, 0, hx_surface_write_ply},
    {".3mf", "3MF", HX_SURFACE_F32, 1, hx_surface_write_3mf},
    {".obj", "OBJ", HX_SURFACE_F64, 0, hx_surface_write_obj},
    {".glb", "glTF", HX_SURFACE_F32, 1, hx_surface_write_glb},
    {NULL, NULL, HX_SURFACE_F64, 0, NULL},
};

const hx_surface_format *hx_surface_format_of_name(const char *path)
{
    const size_t n = strlen(path);
    for (const hx_surface_format *f = hx_surface_formats; f->ending; f++) {
        const size_t n_ending = strlen(f->ending);
        if (n > n_ending && strcmp(path + n - n_ending, f->ending) == 0) return f;
    }
    return NULL;
}

const char *hx_surface_endings(char *text, size_t n_text)
{
    size_t used = 0;
    text[0] = '\0';
    for (const hx_surface_format *f = hx_surface_formats; f->ending && used < n_text; f++) {
        const char *const between = f == hx_surface_formats ? "" : f[1].ending ? ", " : " or ";
        used += (size_t)snprintf(text + used, n_text - used, "%s%s", between, f->ending);
    }
    return text;
}

int hx_surface_judge(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     hx_surface_report *report)
{
    HX_TRY(hx_surface_check(surface, format->precision, report));
    if (report->is_closed_manifold) return HX_OK;
    char hint[160] = "; try --smooth 0";
    if (format->precision == HX_SURFACE_F32)
        snprintf(
            hint, sizeof hint,
            " in the single precision of %s; write a .ply, or move the part closer to the origin",
            format->name);
    return HX_RAISE(HX_ENUMERIC,
                    "%s: not written, because the surface is not closed and manifold at %lld %s, "
                    "%lld %s and %lld %s%s",
                    path, (long long)report->n_bad_edge,
                    hx_noun(report->n_bad_edge, "edge", "edges"), (long long)report->n_bad_vertex,
                    hx_noun(report->n_bad_vertex, "vertex", "vertices"),
                    (long long)report->n_degenerate,
                    hx_noun(report->n_degenerate, "triangle", "triangles"), hint);
}

int hx_surface_write(const char *path, const hx_surface_format *format, const hx_surface *surface,
                     const hx_surface_about *about)
{
    hx_surface_report report;
    HX_TRY(hx_surface_judge(path, format, surface, &report));
    return format->write(path, surface, about);
}
