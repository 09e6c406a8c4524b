/* STL surfaces, without gmsh: whether they are closed, and where they are open; faces and shells;
 * units that files state. */
#include "core/mesher/stl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesher/cad.h"
#include "tests/lib/test.h"

/* Triangles of a box without the first `skip`, pointing outward, or inward if `flip` is set. */
static void add_box(FILE *f, const double low[3], const double high[3], int flip, int skip)
{
    static const int quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int q = 0; q < 6; q++)
        for (int half = 0; half < 2; half++) {
            const int corner[3] = {quad[q][0], quad[q][half + 1], quad[q][half + 2]};
            if (2 * q + half < skip) continue;
            fprintf(f, "facet normal 0 0 0\n  outer loop\n");
            for (int k = 0; k < 3; k++) {
                const int c = corner[flip ? 2 - k : k];
                fprintf(f, "    vertex %.9g %.9g %.9g\n", c & 1 ? high[0] : low[0],
                        c & 2 ? high[1] : low[1], c & 4 ? high[2] : low[2]);
            }
            fprintf(f, "  endloop\nendfacet\n");
        }
}

static const double zero[3] = {0, 0, 0}, ten[3] = {10, 10, 10};
static char path[512];

static FILE *begin(void)
{
    FILE *const f = fopen(path, "w");
    CHECK(f != NULL);
    if (f) fprintf(f, "solid test\n");
    return f;
}

static void check_box(void)
{
    hx_stl stl;
    FILE *f = begin();
    add_box(f, zero, ten, 0, 0);
    fclose(f);
    CHECK_OK(hx_stl_read(&stl, path));
    CHECK(stl.n_node == 8 && stl.n_tri == 12 && stl.n_face == 6 && stl.n_shell == 1);
    CHECK_REL(stl.volume, 1000.0, 1e-12);
    CHECK_REL(stl.area, 600.0, 1e-12);
    const double below[3] = {5, 5, -1}, beside[3] = {11, 5, 5};
    const int32_t bottom = hx_stl_nearest_face(&stl, below),
                  side = hx_stl_nearest_face(&stl, beside);
    CHECK(bottom != side && bottom == 4 && side == 1);
    hx_stl_free(&stl);
    f = begin();
    add_box(f, zero, ten, 0, 1);
    fclose(f);
    CHECK_FAILS(hx_stl_read(&stl, path), HX_EINPUT, "3 edges have one triangle");
    CHECK(strstr(hx_error_message(), "near (0, 0, 5)") != NULL);
    f = begin();
    add_box(f, zero, ten, 0, 2);
    add_box(f, zero, ten, 1, 10); /* the last two are inverted; those of the bottom occur twice */
    fclose(f);
    CHECK_FAILS(hx_stl_read(&stl, path), HX_EINPUT, "not a closed surface");
}

/* A box with a cavity that contains another box, and a third box beside them: three solids. Their
 * volume does not depend on the orientation of the triangles of each shell (gmsh gives those of a
 * cavity the same orientation as those of an outer surface). */
static void check_shells(int cavity_turned, int last_turned)
{
    const double a[3] = {2, 2, 2}, b[3] = {8, 8, 8}, c[3] = {4, 4, 4}, d[3] = {6, 6, 6};
    const double e[3] = {20, 0, 0}, g[3] = {21, 1, 1};
    hx_stl stl;
    FILE *const f = begin();
    add_box(f, zero, ten, 0, 0);
    add_box(f, a, b, !cavity_turned, 0);
    add_box(f, c, d, 0, 0);
    add_box(f, e, g, last_turned, 0);
    fclose(f);
    CHECK_OK(hx_stl_read(&stl, path));
    CHECK(stl.n_shell == 4 && stl.n_face == 24 && stl.n_solid == 3);
    CHECK(stl.solid_of && stl.solid_of[0] == 0 && stl.solid_of[1] == 0 && stl.solid_of[2] == 1 &&
          stl.solid_of[3] == 2);
    CHECK_REL(stl.volume, 1000.0 - 216.0 + 8.0 + 1.0, 1e-12);
    hx_stl_free(&stl);
}

static void put_float(unsigned char *to, float value)
{
    memcpy(to, &value, sizeof value); /* little-endian machines */
}

static void check_binary(void)
{
    hx_stl stl;
    unsigned char bytes[84 + 4 * 50] = "solid, says the head of this binary file";
    static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int tri[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    bytes[80] = 4;
    for (int t = 0; t < 4; t++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++)
                put_float(bytes + 84 + 50 * t + 12 * (k + 1) + 4 * c, corner[tri[t][k]][c]);
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, sizeof bytes, f);
    fclose(f);
    CHECK_OK(hx_stl_read(&stl, path));
    CHECK(stl.n_face == 4 && stl.n_node == 4);
    CHECK_REL(stl.volume, 1.0 / 6.0, 1e-6);
    hx_stl_free(&stl);
    f = fopen(path, "wb");
    bytes[0] = 'x';
    fwrite(bytes, 1, sizeof bytes - 7, f);
    fclose(f);
    CHECK_FAILS(hx_stl_read(&stl, path), HX_EINPUT, "truncated");
}

static void check_unit(const char *text, const char *expected)
{
    char unit[HX_CAD_UNIT];
    FILE *const f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    CHECK_OK(hx_cad_unit(path, unit));
    CHECK_MSG(strcmp(unit, expected) == 0, "'%s', expected '%s'", unit, expected);
}

#define STEP "ISO-10303-21;\nHEADER;\nFILE_NAME('a;LENGTH_UNIT()','x');\nENDSEC;\nDATA;\n"
#define CONTEXT                                                                                    \
    "#9 = ( GEOMETRIC_REPRESENTATION_CONTEXT(3)\n GLOBAL_UNIT_ASSIGNED_CONTEXT((#3,#4)) );\n"

static void check_units(void)
{
    check_unit(STEP CONTEXT "#3=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));\n", "mm");
    check_unit(STEP "#3=( NAMED_UNIT(*)\n LENGTH_UNIT( ) SI_UNIT($,.METRE.) );\n" CONTEXT, "m");
    /* an inch is defined in mm, which is not a unit of the context */
    check_unit(STEP "#1=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));\n"
                    "#2=LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),#1);\n"
                    "#3=(CONVERSION_BASED_UNIT('INCH',#2)LENGTH_UNIT()NAMED_UNIT(#5));\n" CONTEXT,
               "in");
    check_unit(STEP, "");
    char iges[5 * 82] = "";
    static const char *const line[] = {
        "test", "1H,,1H;,4HPART,9Hpart, 1;x,2HAA,2HBB,32,38,6,308,15,4HPART,1.,",
        "6,2HFT,1,0.01,;"};
    for (int i = 0; i < 3; i++)
        snprintf(iges + strlen(iges), sizeof iges - strlen(iges), "%-72s%c%7d\n", line[i],
                 i == 0 ? 'S' : 'G', i == 0 ? 1 : i);
    check_unit(iges, "m");
    *strstr(iges, "6,2HFT") = '3'; /* the name has precedence */
    check_unit(iges, "ft");
}

/* Reads two boxes, of which the second one is rotated by an angle about z and moved, and checks
 * whether they cross. */
static void read_two(const double low[2][3], const double high[2][3], double angle,
                     const double move[3], int order, int crosses)
{
    static const int quad[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    const double cosine = cos(angle * acos(-1.0) / 180.0), sine = sin(angle * acos(-1.0) / 180.0);
    hx_stl stl = {0};
    FILE *const f = begin();
    for (int i = 0; i < 2; i++) {
        const int b = i ^ order;
        if (b == 0) add_box(f, low[0], high[0], 0, 0);
        for (int t = 0; b == 1 && t < 12; t++) {
            fprintf(f, "facet normal 0 0 0\n  outer loop\n");
            for (int k = 0; k < 3; k++) {
                const int c = quad[t / 2][k == 0 ? 0 : t % 2 + k];
                const double x = c & 1 ? high[1][0] : low[1][0], y = c & 2 ? high[1][1] : low[1][1];
                const double z = c & 4 ? high[1][2] : low[1][2];
                fprintf(f, "    vertex %.9g %.9g %.9g\n", cosine * x - sine * y + move[0],
                        sine * x + cosine * y + move[1], z + move[2]);
            }
            fprintf(f, "  endloop\nendfacet\n");
        }
    }
    fclose(f);
    const int rc = hx_stl_read(&stl, path);
    CHECK_MSG(rc == (crosses ? HX_EINPUT : HX_OK), "order %d, angle %g, (%g, %g, %g): %s", order,
              angle, move[0], move[1], move[2], rc < 0 ? hx_error_message() : "read");
    if (rc < 0) CHECK(strstr(hx_error_message(), "two shells cross near (") != NULL);
    CHECK(rc < 0 || stl.n_solid == 2);
    hx_stl_free(&stl);
    hx_error_clear();
}

/* Bars that cross each other, although no corner of one lies inside the other. Boxes that only
 * touch do not cross. */
static void check_crossing(void)
{
    static const double bar[2][2][3] = {{{-5, -1, -1}, {-5, -1, -1}}, {{5, 1, 1}, {5, 1, 1}}};
    static const double cube[2][2][3] = {{{-1, -1, -1}, {-1, -1, -1}}, {{1, 1, 1}, {1, 1, 1}}};
    static const struct {
        int is_cube;
        double angle, move[3];
        int crosses;
    } scene[] = {
        /* a plus sign with both ends flush */
        {0, 90, {0, 0, 0}, 1},           {0, 90, {0, 0, 1}, 1}, /* half as deep */
        {0, 37, {0.3, 0.2, 1.5}, 1},     {0, 90, {0, 0, 2}, 0}, /* one on the other */
        {0, 90, {6, 0, 0}, 0},                                  /* a T */
        {0, 90, {5.5, 0, 0}, 1},         {0, 45, {0, 0, 2}, 0},
        {1, 45, {0, 0, 0}, 1},                                   /* a star of eight points, flush */
        {1, 45, {0, 0, 0.7}, 1},         {1, 0, {1.8, 0, 0}, 1}, /* all other faces flush */
        {1, 0, {2, 0.5, 0.5}, 0},                                /* by a part of a face */
        {1, 45, {2.414213562, 0, 0}, 0},                         /* an edge on a face */
        {1, 45, {2.41, 0, 0}, 1},
    };
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++)
        for (int order = 0; order < 2; order++)
            read_two(scene[i].is_cube ? cube[0] : bar[0], scene[i].is_cube ? cube[1] : bar[1],
                     scene[i].angle, scene[i].move, order, scene[i].crosses);
}

int main(void)
{
    char *folder = NULL;
    CHECK_OK(hx_scratch_create(&folder));
    if (!folder) TEST_END();
    snprintf(path, sizeof path, "%s/test.stl", folder);
    check_box();
    for (int i = 0; i < 4; i++) check_shells(i % 2, i / 2);
    check_binary();
    check_crossing();
    check_units();
    hx_scratch_remove(folder);
    TEST_END();
}
