/* STEP files for tests, written entity by entity: parts whose names of faces are known. */
#ifndef TEST_STEP_WRITER_H
#define TEST_STEP_WRITER_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct step_writer {
    FILE *f;
    int n; /* entities so far */
} step_writer;

static int step_add(step_writer *w, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    fprintf(w->f, "#%d=", ++w->n);
    vfprintf(w->f, fmt, list);
    fputs(";\n", w->f);
    va_end(list);
    return w->n;
}

/* unit: "SI_UNIT(.MILLI.,.METRE.)" */
static int step_begin(step_writer *w, const char *path, const char *unit)
{
    w->f = fopen(path, "w");
    w->n = 0;
    if (!w->f) return 0;
    fputs("ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','',(''),(''),'','','"
          "');\n"
          "FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));\nENDSEC;\nDATA;\n",
          w->f);
    const int length = step_add(w, "(LENGTH_UNIT()NAMED_UNIT(*)%s)", unit);
    const int angle = step_add(w, "(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))");
    const int solid = step_add(w, "(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())");
    const int fine =
        step_add(w, "UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-6),#%d,'','')", length);
    return step_add(w,
                    "(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#%d))"
                    "GLOBAL_UNIT_ASSIGNED_CONTEXT((#%d,#%d,#%d))REPRESENTATION_CONTEXT('',''))",
                    fine, length, angle, solid);
}

/* Makes one part of the solids, such as "#1,#2", and ends the file. */
static void step_end(step_writer *w, int context, const char *solids)
{
    const int application = step_add(w, "APPLICATION_CONTEXT('')");
    const int product_context = step_add(w, "PRODUCT_CONTEXT('',#%d,'mechanical')", application);
    const int product = step_add(w, "PRODUCT('','','',(#%d))", product_context);
    const int formation = step_add(w, "PRODUCT_DEFINITION_FORMATION('','',#%d)", product);
    const int stage =
        step_add(w, "PRODUCT_DEFINITION_CONTEXT('part definition',#%d,'design')", application);
    const int definition = step_add(w, "PRODUCT_DEFINITION('','',#%d,#%d)", formation, stage);
    const int shape = step_add(w, "PRODUCT_DEFINITION_SHAPE('','',#%d)", definition);
    const int all = step_add(w, "ADVANCED_BREP_SHAPE_REPRESENTATION('',(%s),#%d)", solids, context);
    step_add(w, "SHAPE_DEFINITION_REPRESENTATION(#%d,#%d)", shape, all);
    fputs("ENDSEC;\nEND-ISO-10303-21;\n", w->f);
    fclose(w->f);
}

static int step_vertex(step_writer *w, const double x[3])
{
    const int point = step_add(w, "CARTESIAN_POINT('',(%.9f,%.9f,%.9f))", x[0], x[1], x[2]);
    return step_add(w, "VERTEX_POINT('',#%d)", point);
}

static int step_direction(step_writer *w, const double v[3])
{
    return step_add(w, "DIRECTION('',(%.9f,%.9f,%.9f))", v[0], v[1], v[2]);
}

static int step_frame(step_writer *w, const double origin[3], const double z[3], const double x[3])
{
    const int point =
        step_add(w, "CARTESIAN_POINT('',(%.9f,%.9f,%.9f))", origin[0], origin[1], origin[2]);
    const int axis = step_direction(w, z), across = step_direction(w, x);
    return step_add(w, "AXIS2_PLACEMENT_3D('',#%d,#%d,#%d)", point, axis, across);
}

/* A straight edge between two vertices at a and b. */
static int step_line(step_writer *w, int from, int to, const double a[3], const double b[3])
{
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const int point = step_add(w, "CARTESIAN_POINT('',(%.9f,%.9f,%.9f))", a[0], a[1], a[2]);
    const int vector = step_add(w, "VECTOR('',#%d,1.)", step_direction(w, d));
    const int line = step_add(w, "LINE('',#%d,#%d)", point, vector);
    return step_add(w, "EDGE_CURVE('',#%d,#%d,#%d,.T.)", from, to, line);
}

/* A face with one loop of n edges, -edge: backwards. */
static int step_face(step_writer *w, const char *name, int surface, int n, const int *edge)
{
    char text[512] = "";
    for (int i = 0; i < n; i++) {
        const int e = edge[i] < 0 ? -edge[i] : edge[i];
        const int oriented =
            step_add(w, "ORIENTED_EDGE('',*,*,#%d,%s)", e, edge[i] < 0 ? ".F." : ".T.");
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s#%d", i > 0 ? "," : "",
                 oriented);
    }
    const int loop = step_add(w, "EDGE_LOOP('',(%s))", text);
    const int bound = step_add(w, "FACE_OUTER_BOUND('',#%d,.T.)", loop);
    return step_add(w, "ADVANCED_FACE('%s',(#%d),#%d,.T.)", name, bound, surface);
}

static int step_solid(step_writer *w, const char *name, int n, const int *face)
{
    char text[512] = "";
    for (int i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s#%d", i > 0 ? "," : "",
                 face[i]);
    const int shell = step_add(w, "CLOSED_SHELL('',(%s))", text);
    return step_add(w, "MANIFOLD_SOLID_BREP('%s',#%d)", name, shell);
}

/* A box; names of its faces at x = low, x = high, y = low, ... */
static int step_box(step_writer *w, const char *name, const double low[3], const double high[3],
                    const char *const face_name[6])
{
    /* corner i: bits are x, y, z; seen from outside anticlockwise */
    static const int around[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                     {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    double x[8][3];
    int vertex[8], edge[8][8] = {{0}}, face[6];
    for (int i = 0; i < 8; i++) {
        for (int c = 0; c < 3; c++) x[i][c] = i >> c & 1 ? high[c] : low[c];
        vertex[i] = step_vertex(w, x[i]);
    }
    for (int s = 0; s < 6; s++) {
        int loop[4];
        const double normal[3] = {s / 2 == 0 ? 2.0 * (s % 2) - 1.0 : 0.0,
                                  s / 2 == 1 ? 2.0 * (s % 2) - 1.0 : 0.0,
                                  s / 2 == 2 ? 2.0 * (s % 2) - 1.0 : 0.0};
        const double along[3] = {s / 2 != 0, s / 2 == 0, 0.0};
        for (int k = 0; k < 4; k++) {
            const int a = around[s][k], b = around[s][(k + 1) % 4];
            if (edge[a][b] == 0) {
                edge[a][b] = step_line(w, vertex[a], vertex[b], x[a], x[b]);
                edge[b][a] = -edge[a][b];
            }
            loop[k] = edge[a][b];
        }
        const int frame = step_frame(w, x[around[s][0]], normal, along);
        face[s] = step_face(w, face_name[s], step_add(w, "PLANE('',#%d)", frame), 4, loop);
    }
    return step_solid(w, name, 6, face);
}

/* A cylinder along z whose side is two faces, one with y >= 0 and one with y <= 0; names of both,
 * of its bottom and its top. */
static int step_cylinder(step_writer *w, const char *name, double radius, double height,
                         const char *const face_name[4])
{
    const double z[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0}, x[3] = {1.0, 0.0, 0.0};
    int vertex[4], arc[2][2], side[2], face[4];
    double at[4][3] = {{radius, 0, 0}, {-radius, 0, 0}, {radius, 0, height}, {-radius, 0, height}};
    for (int i = 0; i < 4; i++) vertex[i] = step_vertex(w, at[i]);
    for (int top = 0; top < 2; top++) {
        const double origin[3] = {0.0, 0.0, top * height};
        for (int half = 0; half < 2; half++) {
            const int circle =
                step_add(w, "CIRCLE('',#%d,%.9f)", step_frame(w, origin, z, x), radius);
            arc[top][half] = step_add(w, "EDGE_CURVE('',#%d,#%d,#%d,.T.)", vertex[2 * top + half],
                                      vertex[2 * top + 1 - half], circle);
        }
        side[top] = step_line(w, vertex[top], vertex[2 + top], at[top], at[2 + top]);
    }
    for (int half = 0; half < 2; half++) {
        const int loop[4] = {arc[0][half], side[1 - half], -arc[1][half], -side[half]};
        const int frame = step_frame(w, (const double[3]){0.0, 0.0, 0.0}, z, x);
        face[half] =
            step_face(w, face_name[half],
                      step_add(w, "CYLINDRICAL_SURFACE('',#%d,%.9f)", frame, radius), 4, loop);
    }
    for (int top = 0; top < 2; top++) {
        const double origin[3] = {0.0, 0.0, top * height};
        const int loop[2] = {top ? arc[1][0] : -arc[0][1], top ? arc[1][1] : -arc[0][0]};
        const int frame = step_frame(w, origin, top ? z : down, x);
        face[2 + top] =
            step_face(w, face_name[2 + top], step_add(w, "PLANE('',#%d)", frame), 2, loop);
    }
    return step_solid(w, name, 4, face);
}

/* Half a ball, z >= 0, whose two faces have the same two edges; names of the dome and the flat. */
static int step_half_ball(step_writer *w, double radius, const char *const face_name[2])
{
    const double z[3] = {0.0, 0.0, 1.0}, down[3] = {0.0, 0.0, -1.0}, x[3] = {1.0, 0.0, 0.0};
    const double origin[3] = {0.0, 0.0, 0.0};
    const int right = step_vertex(w, (const double[3]){radius, 0.0, 0.0});
    const int left = step_vertex(w, (const double[3]){-radius, 0.0, 0.0});
    const int circle = step_add(w, "CIRCLE('',#%d,%.9f)", step_frame(w, origin, z, x), radius);
    const int far = step_add(w, "EDGE_CURVE('',#%d,#%d,#%d,.T.)", right, left, circle);
    const int near = step_add(w, "EDGE_CURVE('',#%d,#%d,#%d,.T.)", left, right, circle);
    const int ball =
        step_add(w, "SPHERICAL_SURFACE('',#%d,%.9f)", step_frame(w, origin, z, x), radius);
    const int plane = step_add(w, "PLANE('',#%d)", step_frame(w, origin, down, x));
    const int face[2] = {step_face(w, face_name[0], ball, 2, (const int[]){far, near}),
                         step_face(w, face_name[1], plane, 2, (const int[]){-near, -far})};
    return step_solid(w, "half", 2, face);
}

#endif
