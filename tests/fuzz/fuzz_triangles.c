/* Surfaces (.stl, .ply), read like by `verify --surface`: the first byte chooses the file
 * extension. */
#include <math.h>

#include "core/surface/surface.h"
#include "fuzz.h"

static void check_surface(const hx_surface *surface)
{
    hx_surface_report report;
    int64_t n_open;
    double point[3];
    int in_range = surface->n_tri > 0 && surface->n_vertex > 0, finite = 1;
    for (int64_t i = 0; i < 3 * surface->n_tri; i++)
        in_range &= surface->tri[i] >= 0 && surface->tri[i] < surface->n_vertex;
    for (int64_t i = 0; i < 3 * surface->n_vertex; i++) finite &= isfinite(surface->xyz[i]) != 0;
    fuzz_require(in_range, "an accepted surface has its indices in range");
    fuzz_require(finite, "an accepted surface has finite coordinates");
    (void)fuzz_accepted(hx_surface_find_open(surface, &n_open, point));
    (void)fuzz_accepted(hx_surface_check(surface, HX_SURFACE_F32, &report));
}

void fuzz_triangles(const uint8_t *data, size_t size)
{
    static const char *const name[] = {"fuzz.stl", "fuzz.ply"};
    char path[FUZZ_PATH];
    hx_surface surface;
    if (size < 1) return;
    fuzz_path(name[data[0] % 2], path);
    fuzz_write(path, data + 1, size - 1);
    if (!fuzz_accepted(hx_surface_read(path, &surface))) return;
    check_surface(&surface);
    hx_surface_free(&surface);
}
