/* Shares of surfaces that overhang or that no direction reaches, on boxes and wedges whose areas
 * are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/surface/surface_reach.h"
#include "tests/lib/test.h"

enum { MOST = 64 };

/* Hexahedra with plane faces, as a surface. */
typedef struct shape {
    hx_surface surface;
    double xyz[3 * MOST];
    int32_t tri[3 * MOST];
    uint8_t is_cap[MOST];
} shape;

static void begin_shape(shape *s)
{
    memset(s, 0, sizeof *s);
    s->surface.xyz = s->xyz;
    s->surface.tri = s->tri;
    s->surface.is_cap = s->is_cap;
}

/* Adds a box from low to high whose upper face is larger by `wider` at both ends along x. */
static void add_box(shape *s, const double low[3], const double high[3], double wider)
{
    static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    hx_surface *const f = &s->surface;
    const int32_t first = (int32_t)f->n_vertex;
    for (int c = 0; c < 8; c++) {
        double *const x = s->xyz + 3 * f->n_vertex++;
        x[0] = c & 1 ? high[0] : low[0];
        x[1] = c & 2 ? high[1] : low[1];
        x[2] = c & 4 ? high[2] : low[2];
        if (c & 4) x[0] += c & 1 ? wider : -wider;
    }
    for (int i = 0; i < 6; i++)
        for (int half = 0; half < 2; half++) {
            int32_t *const t = s->tri + 3 * f->n_tri++;
            t[0] = first + face[i][0];
            t[1] = first + face[i][1 + half];
            t[2] = first + face[i][2 + half];
        }
}

static void check_overhang(void)
{
    const double up[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0};
    const double low[3] = {0.0, 0.0, 0.0}, high[3] = {1.0, 1.0, 1.0};
    const double plate[2] = {-1e-6, 1e-6}, above[2] = {-1.0 - 1e-6, -1.0 + 1e-6},
                 nowhere[2] = {9.0, 9.1};
    shape s;
    begin_shape(&s);
    add_box(&s, low, high, 0.0);
    CHECK_ABS(hx_surface_overhang_share(&s.surface, up, 45.0, plate), 0.0, 1e-14);
    CHECK_ABS(hx_surface_overhang_share(&s.surface, up, 45.0, nowhere), 1.0 / 6.0, 1e-14);
    CHECK_ABS(hx_surface_overhang_share(&s.surface, down, 45.0, above), 0.0, 1e-14);
    for (int i = 0; i < 2; i++) { /* sides at 39 and 41 degrees to the plate */
        const double angle = (i == 0 ? 39.0 : 41.0) * acos(-1.0) / 180.0, wide = 1.0 / tan(angle);
        const double side = 1.0 / sin(angle),
                     all = 1.0 + 2.0 * wide + 2.0 * side + 2.0 * (1.0 + wide);
        begin_shape(&s);
        add_box(&s, low, high, wide);
        CHECK_ABS(hx_surface_overhang_share(&s.surface, up, 45.0, plate),
                  i == 0 ? 2.0 * side / all : 0.0, 1e-12);
        CHECK_ABS(hx_surface_overhang_share(&s.surface, down, 45.0, above), 0.0, 1e-14);
    }
}

static void check_reach(void)
{
    const double direction[3][3] = {{0.0, 0.0, 1.0}, {0.0, 0.0, -1.0}, {1.0, 0.0, 0.0}};
    const double low[2][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 2.0}},
                 high[2][3] = {{1.0, 1.0, 1.0}, {1.0, 1.0, 3.0}};
    shape s;
    double share;
    begin_shape(&s);
    for (int i = 0; i < 2; i++) add_box(&s, low[i], high[i], 0.0);
    CHECK_OK(hx_surface_unreached_share(&s.surface, 1, direction, 0.01, &share));
    CHECK_ABS(share, 3.0 / 12.0, 1e-14);
    CHECK_OK(hx_surface_unreached_share(&s.surface, 2, direction, 0.01, &share));
    CHECK_ABS(share, 2.0 / 12.0, 1e-14); /* the faces between the boxes */
    CHECK_OK(hx_surface_unreached_share(&s.surface, 3, direction, 0.01, &share));
    CHECK_ABS(share, 0.0, 1e-14);
    for (int t = 0; t < 2; t++) s.is_cap[t] = 1; /* the lowest face, of the blank */
    CHECK_OK(hx_surface_unreached_share(&s.surface, 1, direction, 0.01, &share));
    CHECK_ABS(share, 2.0 / 11.0, 1e-14);
}

int main(void)
{
    check_overhang();
    check_reach();
    TEST_END();
}
