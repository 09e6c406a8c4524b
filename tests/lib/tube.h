/* A tube, or an arc of a tube, of curved hexahedra, for tests of loads on bores. */
#ifndef HX_TEST_TUBE_H
#define HX_TEST_TUBE_H

#include "core/base/vec3.h"
#include "core/mesh/load_faces.h"
#include "fixture.h"

#define TUBE_PI 3.14159265358979323846

typedef struct tube {
    double inner, outer, length;
    double arc;     /* radians from x towards y; 2 pi or more: closed */
    int n[3];       /* elements along the radius, the arc, the axis */
    double distort; /* nodes move by up to this fraction of an element; surfaces stay */
    double origin[3];
    double axis[3][3]; /* rows: where the tube's own x, y, z point; all 0: along the axes */
} tube;

/* Position of a point given in the tube's own cylindrical coordinates. */
static inline void tube_place(const tube *t, double r, double angle, double z, double x[3])
{
    const int is_turned = hx_norm3(t->axis[0]) > 0.0;
    const double own[3] = {r * cos(angle), r * sin(angle), z};
    for (int i = 0; i < 3; i++) {
        x[i] = t->origin[i];
        for (int k = 0; k < 3; k++) x[i] += own[k] * (is_turned ? t->axis[k][i] : (double)(i == k));
    }
}

/* The raw mesh with node sets bore, outside, low and high (ends along the axis), start and stop
 * (ends of the arc). */
static inline int tube_create(hx_mesh *mesh, const tube *t)
{
    static const char *const name[6] = {"bore", "outside", "start", "stop", "low", "high"};
    const int closed = t->arc > 2.0 * TUBE_PI - 1e-9;
    const int *n = t->n, count[3] = {n[0] + 1, closed ? n[1] : n[1] + 1, n[2] + 1};
    const int64_t n_node = (int64_t)count[0] * count[1] * count[2];
    const int64_t n_elem = (int64_t)n[0] * n[1] * n[2];
    double *xyz = malloc((size_t)n_node * 3 * sizeof *xyz);
    int32_t *conn = malloc((size_t)n_elem * 8 * sizeof *conn), at = 0;
    uint64_t state = 77;
    for (int k = 0; k < count[2]; k++)
        for (int j = 0; j < count[1]; j++)
            for (int i = 0; i < count[0]; i++) {
                double place[3] = {i, j, k};
                for (int d = 0; d < 3; d++) {
                    const double move = t->distort * fixture_uniform(&state, -1.0, 1.0);
                    const int ends = place[d] == 0.0 || place[d] == n[d];
                    if (!ends || (d == 1 && closed)) place[d] += move;
                }
                tube_place(t, t->inner + (t->outer - t->inner) * place[0] / n[0],
                           t->arc * place[1] / n[1], t->length * place[2] / n[2], xyz + 3 * at++);
            }
    int32_t *c = conn;
    for (int k = 0; k < n[2]; k++)
        for (int j = 0; j < n[1]; j++)
            for (int i = 0; i < n[0]; i++)
                for (int a = 0; a < 8; a++) {
                    const int u = i + (a % 4 == 1 || a % 4 == 2), v = (j + (a % 4 >= 2)) % count[1];
                    *c++ = ((k + a / 4) * count[1] + v) * count[0] + u;
                }
    HX_TRY(hx_mesh_create(mesh, "tube", n_node, xyz, n_elem, conn));
    for (int32_t node = 0; node < (int32_t)n_node; node++) {
        const int i = node % count[0], j = node / count[0] % count[1];
        const int k = node / (count[0] * count[1]);
        const int holds[6] = {i == 0, i == n[0], !closed && j == 0, !closed && j == n[1],
                              k == 0, k == n[2]};
        for (int s = 0; s < 6; s++)
            if (holds[s]) HX_TRY(hx_mesh_add_node_set(mesh, name[s], 1, &node));
    }
    return HX_OK;
}

#endif
