/* Coordinate systems of Nastran bulk data: transforms GRIDs given in one of them to the basic
 * one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/vec3.h"
#include "nastran_reader.h"

enum { MOST_DEPTH = 32 };

/* CID, RID, A1, A2, A3, B1, B2, B3, C1, C2, C3 */
int hx_nastran_take_system(hx_nastran_reader *r)
{
    hx_nastran_system system = {.kind = r->scan.name[5], .line = r->scan.line};
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &system.number));
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &system.within));
    if (system.number < 1) return HX_NASTRAN_RAISE(&r->scan, "its number is expected");
    for (size_t k = 0; k < 9; k++)
        HX_TRY(hx_nastran_real(&r->scan, 2 + k, 0.0, &system.point[k / 3][k % 3]));
    HX_TRY(hx_grow(&r->system, r->n_system, &r->system_capacity, sizeof *r->system,
                   "coordinate systems"));
    r->system[r->n_system++] = system;
    return HX_OK;
}

int hx_nastran_keep_place(hx_nastran_reader *r, int64_t node, int64_t system, int64_t line)
{
    HX_TRY(hx_grow(&r->place, r->n_place, &r->place_capacity, sizeof *r->place, "nodes"));
    r->place[r->n_place++] = (hx_nastran_place_in){node, system, line};
    return HX_OK;
}

static hx_nastran_system *find_system(hx_nastran_reader *r, int64_t number)
{
    for (size_t i = 0; i < r->n_system; i++)
        if (r->system[i].number == number) return &r->system[i];
    return NULL;
}

static int unknown(const hx_nastran_reader *r, int64_t line, int64_t number)
{
    return HX_IMPORT_RAISE(
        &r->import, line,
        "coordinate system %lld does not exist or is not a CORD2R, CORD2C or CORD2S",
        (long long)number);
}

static int unit(double v[3])
{
    const double length = hx_norm3(v);
    for (int d = 0; d < 3; d++) v[d] /= length;
    return isfinite(length) && length > 0.0;
}

/* Transforms x from the system to the one in which the system is defined. The axes must be
 * known. */
static void leave(const hx_nastran_system *s, double x[3])
{
    const double degree = acos(-1.0) / 180.0;
    double at[3] = {x[0], x[1], x[2]};
    if (s->kind == 'C') {
        at[0] = x[0] * cos(degree * x[1]);
        at[1] = x[0] * sin(degree * x[1]);
    }
    if (s->kind == 'S') {
        at[0] = x[0] * sin(degree * x[1]) * cos(degree * x[2]);
        at[1] = x[0] * sin(degree * x[1]) * sin(degree * x[2]);
        at[2] = x[0] * cos(degree * x[1]);
    }
    for (int d = 0; d < 3; d++)
        x[d] =
            s->point[0][d] + at[0] * s->axis[0][d] + at[1] * s->axis[1][d] + at[2] * s->axis[2][d];
}

/* A is the origin, the z axis points to B, the x axis lies in the plane of C; all in the basic
 * system. */
static int make_axes(hx_nastran_reader *r, hx_nastran_system *s, int depth)
{
    if (s->is_ready) return HX_OK;
    if (depth == MOST_DEPTH)
        return HX_IMPORT_RAISE(&r->import, s->line,
                               "coordinate systems refer to each other in a circle");
    if (s->within != 0) {
        hx_nastran_system *const outer = find_system(r, s->within);
        if (!outer) return unknown(r, s->line, s->within);
        HX_TRY(make_axes(r, outer, depth + 1));
        for (int k = 0; k < 3; k++) leave(outer, s->point[k]);
    }
    double c[3];
    for (int d = 0; d < 3; d++) {
        s->axis[2][d] = s->point[1][d] - s->point[0][d];
        c[d] = s->point[2][d] - s->point[0][d];
    }
    hx_cross3(s->axis[2], c, s->axis[1]);
    hx_cross3(s->axis[1], s->axis[2], s->axis[0]);
    s->is_ready = unit(s->axis[0]) && unit(s->axis[1]) && unit(s->axis[2]);
    if (s->is_ready) return HX_OK;
    return HX_IMPORT_RAISE(&r->import, s->line, "coordinate system %lld: its points lie on a line",
                           (long long)s->number);
}

int hx_nastran_move_nodes(hx_nastran_reader *r)
{
    for (size_t i = 0; i < r->n_place; i++) {
        hx_nastran_system *const s = find_system(r, r->place[i].system);
        if (!s) return unknown(r, r->place[i].line, r->place[i].system);
        HX_TRY(make_axes(r, s, 0));
        leave(s, r->import.xyz + 3 * r->place[i].node);
    }
    return HX_OK;
}
