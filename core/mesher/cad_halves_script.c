/* Commands of gmsh that cut a shape at planes and print its pieces. */
#include <math.h>
#include <string.h>

#include "../base/vec3.h"
#include "cad_halves.h"

static const char *const word_of[HX_CAD_N_KIND] = {"Surface", "Volume"};
static const char *const list_of[HX_CAD_N_KIND] = {"s", "v"};

/* Prints item k of the list `name`, with the text before "%.17g ..." given. */
static void put_part(FILE *f, int kind, const char *item, const char *word, int place)
{
    const char *const what = word_of[kind];
    fprintf(f,
            "  c() = CenterOfMass %s{%s};\n"
            "  b() = BoundingBox %s{%s};\n"
            "  m = Mass %s{%s};\n"
            "  Printf(\"hextop %s %d %d %%g %%.17g %%.17g %%.17g %%.17g %%.17g %%.17g %%.17g "
            "%%.17g %%.17g %%.17g\", i, m, c(0), c(1), c(2), b(0), b(1), b(2), b(3), b(4), "
            "b(5));\n",
            what, item, what, item, what, item, word, kind, place);
}

void hx_cad_put_parts(FILE *f, const char *word)
{
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        char item[16];
        snprintf(item, sizeof item, "%s(i)", list_of[kind]);
        fprintf(f, "For i In {0:#%s()-1}\n", list_of[kind]);
        put_part(f, kind, item, word, -1);
        fputs("EndFor\n", f);
    }
}

/* Sets keep = 0 if the box b() lies below a plane, and crosses = 1 if a plane cuts it. */
static void put_tests(FILE *f, const hx_mirror_plane *plane, int n, double equal)
{
    fputs("  keep = 1;\n  crosses = 0;\n", f);
    for (int p = 0; p < n; p++) {
        const double *const a = plane[p].normal;
        fprintf(f,
                "  mid = (%.17g*(b(0)+b(3)) + %.17g*(b(1)+b(4)) + %.17g*(b(2)+b(5)))/2 - %.17g;\n"
                "  half = (%.17g*(b(3)-b(0)) + %.17g*(b(4)-b(1)) + %.17g*(b(5)-b(2)))/2;\n"
                "  If (mid + half < -%.17g)\n    keep = 0;\n  EndIf\n"
                "  If (mid - half < -%.17g && mid + half > %.17g)\n    crosses = 1;\n  EndIf\n",
                a[0], a[1], a[2], hx_dot3(a, plane[p].point), fabs(a[0]), fabs(a[1]), fabs(a[2]),
                equal, equal, equal);
    }
}

void hx_cad_put_cuts(FILE *f, const hx_cad_halves *halves, const hx_mirror_plane *plane, int n,
                     int place)
{
    hx_cad_put_region(f, halves, plane, n);
    for (int kind = 0; kind < HX_CAD_N_KIND; kind++) {
        const char *const word = word_of[kind], *const list = list_of[kind];
        fprintf(f, "For i In {0:#%s()-1}\n  b() = BoundingBox %s{%s(i)};\n", list, word, list);
        put_tests(f, plane, n, hx_cad_equal * halves->size);
        fprintf(f,
                "  If (keep && crosses)\n"
                "  p() = BooleanIntersection{ %s{%s(i)}; }{ Volume{x}; };\n"
                "  If (#p() > 0)\n  For k In {0:#p()-1}\n",
                word, list);
        put_part(f, kind, "p(k)", "cut", place);
        fputs("  EndFor\n  EndIf\n  EndIf\nEndFor\n", f);
    }
}

/* --- the box above planes --- */

static int is_axis(const double v[3])
{
    return (fabs(v[0]) > 0.0) + (fabs(v[1]) > 0.0) + (fabs(v[2]) > 0.0) == 1;
}

/* Completes n perpendicular unit vectors to a right-handed frame, in any order. */
static void make_frame(const hx_mirror_plane *plane, int n, double axis[3][3])
{
    for (int p = 0; p < n; p++) memcpy(axis[p], plane[p].normal, sizeof axis[p]);
    if (n == 1) { /* the axis of least component, without its part along the first */
        int least = 0;
        for (int d = 1; d < 3; d++)
            if (fabs(axis[0][d]) < fabs(axis[0][least])) least = d;
        for (int d = 0; d < 3; d++) axis[1][d] = (d == least) - axis[0][least] * axis[0][d];
        const double length = hx_norm3(axis[1]);
        for (int d = 0; d < 3; d++) axis[1][d] /= length;
    }
    if (n < 3) hx_cross3(axis[0], axis[1], axis[2]);
    if (hx_triple3(axis[0], axis[1], axis[2]) > 0.0) return;
    double swap[3];
    memcpy(swap, axis[0], sizeof swap);
    memcpy(axis[0], axis[1], sizeof swap);
    memcpy(axis[1], swap, sizeof swap);
}

/* The rotation that turns the coordinate axes into the frame, by its quaternion: the largest of
 * four expressions, so that no cancellation occurs. */
static void put_rotation(FILE *f, const double a[3][3])
{
    const double trace = a[0][0] + a[1][1] + a[2][2];
    double q[4]; /* x, y, z, w */
    int big = 3;
    for (int d = 0; d < 3; d++)
        if (a[d][d] > (big == 3 ? trace : a[big][big])) big = d;
    const int i = big % 3, j = (i + 1) % 3, k = (i + 2) % 3;
    if (big == 3) {
        q[0] = a[1][2] - a[2][1];
        q[1] = a[2][0] - a[0][2];
        q[2] = a[0][1] - a[1][0];
        q[3] = 1.0 + trace;
    } else {
        q[i] = 1.0 + a[i][i] - a[j][j] - a[k][k];
        q[j] = a[i][j] + a[j][i];
        q[k] = a[i][k] + a[k][i];
        q[3] = a[j][k] - a[k][j];
    }
    const double length = hx_norm3(q);
    if (length <= 0.0) return;
    fprintf(f, "Rotate{ {%.17g, %.17g, %.17g}, {0, 0, 0}, %.17g } { Volume{x}; }\n", q[0] / length,
            q[1] / length, q[2] / length, 2.0 * atan2(length, q[3]));
}

void hx_cad_put_region(FILE *f, const hx_cad_halves *halves, const hx_mirror_plane *plane, int n)
{
    const double far = 4.0 * halves->size;
    double axis[3][3], low[3] = {-far, -far, -far}, high[3] = {far, far, far}, at[3];
    int is_aligned = 1;
    memcpy(at, halves->middle, sizeof at);
    for (int p = 0; p < n; p++) {
        const double *const a = plane[p].normal;
        const double level = hx_dot3(a, plane[p].point) - hx_dot3(a, halves->middle);
        is_aligned &= is_axis(a);
        for (int d = 0; d < 3; d++) at[d] += level * a[d];
    }
    fputs("x = newv;\n", f);
    if (is_aligned) {
        for (int d = 0; d < 3; d++) low[d] += halves->middle[d], high[d] += halves->middle[d];
        for (int p = 0; p < n; p++)
            for (int d = 0; d < 3; d++) {
                if (plane[p].normal[d] > 0.0) low[d] = plane[p].point[d];
                if (plane[p].normal[d] < 0.0) high[d] = plane[p].point[d];
            }
        fprintf(f, "Box(x) = {%.17g, %.17g, %.17g, %.17g, %.17g, %.17g};\n", low[0], low[1], low[2],
                high[0] - low[0], high[1] - low[1], high[2] - low[2]);
        return;
    }
    make_frame(plane, n, axis);
    for (int k = 0; k < 3; k++)
        for (int p = 0; p < n; p++)
            if (hx_dot3(axis[k], plane[p].normal) > 0.5) low[k] = 0.0;
    fprintf(f, "Box(x) = {%.17g, %.17g, %.17g, %.17g, %.17g, %.17g};\n", low[0], low[1], low[2],
            high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    put_rotation(f, (const double(*)[3])axis);
    fprintf(f, "Translate{%.17g, %.17g, %.17g} { Volume{x}; }\n", at[0], at[1], at[2]);
}
