/* Reading of STEP files: strings, entities, the geometry of faces; and, if gmsh is installed, that
 * each name is the set of exactly its faces. The files are written here, so the position of each
 * named face is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesher/cad.h"
#include "core/mesher/face_fit.h"
#include "core/mesher/step_face.h"
#include "step_writer.h"
#include "tests/lib/test.h"

static char *folder;

static const char *in_folder(const char *name)
{
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_text(const char *name, const char *text)
{
    FILE *const f = fopen(in_folder(name), "w");
    CHECK(f != NULL);
    if (f) fputs(text, f);
    if (f) fclose(f);
}

/* --- strings and entities --- */

static void check_strings(void)
{
    static const struct {
        const char *from, *to;
    } string[] = {{"'plain'", "plain"},
                  {"' blanks at the ends  '", "blanks at the ends"},
                  {"'a''b'", "a'b"},
                  {"'a\\\\b'", "a\\b"},
                  {"'\\X2\\00E4004E\\X0\\ok'", "\xc3\xa4Nok"},
                  {"'\\X2\\D83DDE00\\X0\\'", "\xf0\x9f\x98\x80"},
                  {"'\\X2\\D83D0041\\X0\\'", "_A"},
                  {"'\\X4\\0001F600\\X0\\.'", "\xf0\x9f\x98\x80."},
                  {"'\\X\\E9t\\X\\e9'", "\xc3\xa9t\xc3\xa9"},
                  {"'\\S\\d\\PA\\'", "\xc3\xa4"},
                  {"'\xc3\xa4'", "\xc3\xa4"}, /* UTF-8 is kept */
                  {"'\xe4"
                   "bc\xc3'",
                   "_bc_"},
                  {"'\\X2\\00E'", "00E"},
                  {"'\\'", "\\"},
                  {"''", ""},
                  {"12", ""}};
    char text[32];
    for (size_t i = 0; i < sizeof string / sizeof string[0]; i++) {
        const char *const from = string[i].from;
        hx_step_string((hx_step_text){from, from + strlen(from)}, text, sizeof text);
        CHECK_MSG(strcmp(text, string[i].to) == 0, "%s: '%s'", from, text);
    }
    const char *const wide = "'\xc3\xa4\xc3\xa4'"; /* a character is kept completely or left out */
    hx_step_string((hx_step_text){wide, wide + strlen(wide)}, text, 4);
    CHECK(strcmp(text, "\xc3\xa4") == 0);
}

static void check_entities(void)
{
    hx_step_file file;
    hx_step_text list, item;
    write_text("entities.step",
               "ISO-10303-21;\nDATA;\n/* #1=A(); ' */ #20 = B ( 'a; /* b''', (1. ,\n 2.E0), $ ) ;\n"
               "#3=(A()B(#20,'(')C('x'));#3x=D();#=E();\n#7=F('long\nline');ENDSEC;\n");
    CHECK_OK(hx_step_read(&file, in_folder("entities.step")));
    CHECK_MSG(file.n == 3, "%zu entities", file.n);
    list = hx_step_record(hx_step_find(&file, 20), "B");
    char text[32];
    hx_step_string(hx_step_item(list, 0), text, sizeof text);
    CHECK_MSG(strcmp(text, "a; /* b'") == 0, "'%s'", text);
    item = hx_step_list(hx_step_item(list, 1));
    CHECK_REL(hx_step_real(hx_step_item(item, 1)), 2.0, 1e-15);
    CHECK(hx_step_is(hx_step_item(list, 2), "$") && !hx_step_item(list, 3).at);
    list = hx_step_record(hx_step_find(&file, 3), "B");
    CHECK(hx_step_number(hx_step_item(list, 0)) == 20);
    CHECK(hx_step_record(hx_step_find(&file, 3), "C").at &&
          !hx_step_record(hx_step_find(&file, 3), "D").at);
    CHECK(!hx_step_find(&file, 4).at && hx_step_number(hx_step_item(list, 1)) == -1);
    hx_step_string(hx_step_item(hx_step_record(hx_step_find(&file, 7), "F"), 0), text, sizeof text);
    CHECK_MSG(strcmp(text, "longline") == 0, "'%s'", text);
    hx_step_free(&file);
    CHECK_FAILS(hx_step_read(&file, in_folder("missing.step")), HX_EINPUT, "missing.step");
}

/* --- curves --- */

/* A quarter of the unit circle as a rational spline of degree 2, and an arc of an ellipse. */
static void check_curves(void)
{
    hx_step_file file;
    hx_step_face face;
    double worst = 0.0;
    write_text(
        "curves.step",
        "ISO-10303-21;\n#1=CARTESIAN_POINT('',(1.,0.,0.));#2=CARTESIAN_POINT('',(1.,1.,0.));\n"
        "#3=CARTESIAN_POINT('',(0.,1.,0.));#4=VERTEX_POINT('',#1);#5=VERTEX_POINT('',#3);\n"
        "#6=(BOUNDED_CURVE()B_SPLINE_CURVE(2,(#1,#2,#3),.CIRCULAR_ARC.,.F.,.F.)"
        "B_SPLINE_CURVE_WITH_KNOTS((3,3),(0.,1.),.UNSPECIFIED.)CURVE()"
        "RATIONAL_B_SPLINE_CURVE((1.,0.70710678118654757,1.)));\n"
        "#7=EDGE_CURVE('',#4,#5,#6,.T.);#8=ORIENTED_EDGE('',*,*,#7,.T.);\n"
        "#9=CARTESIAN_POINT('',(0.,0.,0.));#10=DIRECTION('',(0.,0.,2.));\n"
        "#11=AXIS2_PLACEMENT_3D('',#9,#10,$);#12=ELLIPSE('',#11,1.,3.);\n"
        "#13=CARTESIAN_POINT('',(0.,3.,0.));#14=VERTEX_POINT('',#13);\n"
        "#15=EDGE_CURVE('',#14,#4,#12,.F.);#16=ORIENTED_EDGE('',*,*,#15,.T.);\n"
        "#17=EDGE_LOOP('',(#8,#16));#18=FACE_BOUND('',#17,.T.);#19=PLANE('',#11);\n"
        "#20=ADVANCED_FACE('f',(#18),#19,.T.);\n#21=FACE_BOUND('',#4,.T.);"
        "#22=ADVANCED_FACE('no loop',(#21),#19,.T.);"
        "#23=ADVANCED_FACE('other',(#18),#4,.T.);\n"
        "#25=TOROIDAL_SURFACE('',#11,1.,2.);#26=ADVANCED_FACE('lemon',(#18,#31),#25,.T.);\n"
        "#27=CIRCLE('',#11,1.);#28=TRIMMED_CURVE('',#27,(#3),(#1),.F.,.CARTESIAN.);\n"
        "#29=EDGE_CURVE('',#5,#4,#28,.T.);#30=ORIENTED_EDGE('',*,*,#29,.T.);\n"
        "#31=FACE_BOUND('',#32,.T.);#32=EDGE_LOOP('',(#30));\n");
    CHECK_OK(hx_step_read(&file, in_folder("curves.step")));
    CHECK_OK(hx_step_face_read(&file, 20, 10.0, &face));
    CHECK(face.kind == HX_STEP_PLANE && face.n_edge == 2);
    for (int i = 0; i <= 10 && face.n_edge == 2; i++) {
        const double angle = 0.05 * 3.14159265358979 * i, c = cos(angle), s = sin(angle);
        test_worst(&worst,
                   hx_step_edge_distance(&face.edge[0], (const double[]){10 * c, 10 * s, 0}));
        test_worst(&worst,
                   hx_step_edge_distance(&face.edge[1], (const double[]){10 * c, 30 * s, 0}));
    }
    CHECK_MSG(worst < 1e-8, "%g off", worst);
    CHECK_ABS(hx_step_edge_distance(&face.edge[0], (const double[]){9.0, 0.0, 0.0}), 1.0, 0.02);
    CHECK_ABS(hx_step_edge_distance(&face.edge[1], (const double[]){-10.0, 0.0, 0.0}), 20.0, 1e-9);
    CHECK_ABS(hx_step_surface_distance(&face, (const double[]){3.0, 4.0, -2.5}), 2.5, 1e-12);
    hx_step_face_free(&face);
    for (int64_t number = 22; number < 25; number += 2)
        CHECK_FAILS(hx_step_face_read(&file, number, 1.0, &face), HX_EINPUT, "STEP");
    CHECK_OK(hx_step_face_read(&file, 23, 1.0, &face)); /* a surface that is not compared */
    CHECK(face.kind == HX_STEP_FREE);
    hx_step_face_free(&face);
    CHECK_OK(hx_step_face_read(&file, 26, 1.0, &face)); /* a torus that meets itself: a lemon */
    CHECK_ABS(hx_step_surface_distance(&face, (const double[]){3.0, 0.0, 0.0}), 0.0, 1e-12);
    CHECK_ABS(hx_step_surface_distance(&face, (const double[]){0.0, 1.0, 0.0}), 0.0, 1e-12);
    CHECK_ABS(hx_step_surface_distance(&face, (const double[]){0.0, 0.0, sqrt(3.0)}), 0.0, 1e-12);
    CHECK_ABS(hx_step_surface_distance(&face, (const double[]){0.0, 5.0, 0.0}), 2.0, 1e-12);
    /* a trimmed quarter of a circle, and not the three others */
    CHECK(face.n_edge == 3);
    CHECK_ABS(hx_step_edge_distance(&face.edge[2], (const double[]){sqrt(0.5), sqrt(0.5), 0.0}),
              0.0, 1e-12);
    CHECK_ABS(hx_step_edge_distance(&face.edge[2], (const double[]){-1.0, 0.0, 0.0}), sqrt(2.0),
              1e-12);
    hx_step_face_free(&face);
    hx_step_free(&file);
}

/* --- names on meshes --- */

static int read_model(const char *name, double size, hx_mesh *mesh, hx_notes *notes)
{
    const hx_model_options options = {.merge = (double)NAN, .element_size = size};
    memset(mesh, 0, sizeof *mesh);
    HX_TRY(hx_model_read(in_folder(name), &options, mesh, NULL, notes));
    return hx_mesh_finish(mesh);
}

static int has_note(const hx_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strstr(notes->note[i].text, text)) return 1;
    return 0;
}

static void check_set(const hx_mesh *mesh, const char *name, double area, const double center[3])
{
    hx_face_shape shape;
    const hx_set *const set = hx_mesh_find_set(mesh, name);
    CHECK_MSG(set && set->n_face > 0, "no faces are '%s'", name);
    if (!set || set->n_face == 0) return;
    CHECK_OK(hx_face_fit(mesh, set, &shape));
    CHECK_REL(shape.area, area, 0.06); /* of a cylinder, approximated by flat triangles */
    for (int c = 0; c < 3; c++)
        CHECK_MSG(fabs(shape.center[c] - center[c]) < 1e-6, "'%s': %g at %g, not %g", name,
                  shape.center[c], shape.center[c], center[c]);
}

static size_t count_names(const hx_mesh *mesh)
{
    size_t n = 0;
    for (size_t i = 0; i < mesh->n_set; i++)
        n += strncmp(mesh->set[i].name, "face-", 5) != 0 &&
             strncmp(mesh->set[i].name, "solid-", 6) != 0;
    return n;
}

/* Two boxes that touch: the larger one's face there is cut, so its name is left out, but the
 * smaller one's is found; a name of two faces is a set of both. */
static void check_boxes(void)
{
    static const char *const big[] = {"x min", "x max", "sides",
                                      "sides", "z low", "\\X2\\00E4\\X0\\\"b"},
                             *const small[] = {"seat", "end", "NONE", "5", "", "face-1"};
    step_writer w;
    hx_mesh mesh;
    hx_notes notes = {0};
    char solids[64];
    const int context = step_begin(&w, in_folder("boxes.step"), "SI_UNIT(.MILLI.,.METRE.)");
    const int first =
        step_box(&w, "big one", (const double[]){0, 0, 0}, (const double[]){10, 8, 6}, big);
    const int second =
        step_box(&w, "small", (const double[]){10, 2, 2}, (const double[]){13, 5, 5}, small);
    snprintf(solids, sizeof solids, "#%d,#%d", first, second);
    step_end(&w, context, solids);
    CHECK_OK(read_model("boxes.step", 3.0, &mesh, &notes));
    check_set(&mesh, "x min", 48.0, (const double[]){0, 4, 3});
    check_set(&mesh, "z low", 80.0, (const double[]){5, 4, 0});
    check_set(&mesh, "\xc3\xa4_b", 80.0, (const double[]){5, 4, 6});
    check_set(&mesh, "sides", 120.0, (const double[]){5, 4, 3});
    check_set(&mesh, "seat", 9.0, (const double[]){10, 3.5, 3.5});
    check_set(&mesh, "end", 9.0, (const double[]){13, 3.5, 3.5});
    CHECK_MSG(count_names(&mesh) == 8, "%zu names", count_names(&mesh));
    CHECK(has_note(&notes, "1 of the file's names are left out, the first 'x max'"));
    for (int k = 0; k < 2; k++) {
        const hx_set *const set = hx_mesh_find_set(&mesh, k ? "small" : "big one");
        double most = 0.0;
        CHECK(set && set->n_elem > 0 && set->n_elem < mesh.n_elem);
        for (int64_t i = 0; set && i < 8 * set->n_elem; i++)
            test_worst(&most, mesh.xyz[3 * (size_t)mesh.conn[8 * set->elem[i / 8] + i % 8]]);
        CHECK_ABS(most, k ? 13.0 : 10.0, 1e-9);
    }
    hx_mesh_free(&mesh);
    hx_notes_free(&notes);
}

/* Halves of a cylinder have equal corners, and the file's unit is cm. */
static void check_cylinder(void)
{
    static const char *const name[] = {"far", "near", "bottom", "top"};
    step_writer w;
    hx_mesh mesh;
    char solid[16];
    const int context = step_begin(&w, in_folder("pin.step"), "SI_UNIT(.CENTI.,.METRE.)");
    snprintf(solid, sizeof solid, "#%d", step_cylinder(&w, "pin", 2.0, 3.0, name));
    step_end(&w, context, solid);
    CHECK_OK(read_model("pin.step", 12.0, &mesh, NULL));
    check_set(&mesh, "bottom", 400.0 * 3.14159, (const double[]){0, 0, 0});
    check_set(&mesh, "top", 400.0 * 3.14159, (const double[]){0, 0, 30});
    for (int half = 0; half < 2; half++) {
        const hx_set *const set = hx_mesh_find_set(&mesh, name[half]);
        CHECK(set && set->n_node > 10);
        for (int64_t i = 0; set && i < set->n_node; i++) {
            const double *const x = mesh.xyz + 3 * (size_t)set->node[i];
            CHECK_ABS(hypot(x[0], x[1]), 20.0, 1e-5);
            CHECK_MSG(half ? x[1] < 1e-6 : x[1] > -1e-6, "%s: y %g", name[half], x[1]);
        }
    }
    CHECK(count_names(&mesh) == 4);
    hx_mesh_free(&mesh);
}

/* The edges of a dome also bound the flat face below it. */
static void check_half_ball(void)
{
    static const char *const name[] = {"dome", "flat"};
    step_writer w;
    hx_mesh mesh;
    char solid[16];
    const int context = step_begin(&w, in_folder("half.step"), "SI_UNIT(.MILLI.,.METRE.)");
    snprintf(solid, sizeof solid, "#%d", step_half_ball(&w, 5.0, name));
    step_end(&w, context, solid);
    CHECK_OK(read_model("half.step", 3.0, &mesh, NULL));
    for (int k = 0; k < 2; k++) {
        const hx_set *const set = hx_mesh_find_set(&mesh, name[k]);
        CHECK_MSG(set && set->n_node > 10, "no faces are '%s'", name[k]);
        for (int64_t i = 0; set && i < set->n_node; i++) {
            const double *const x = mesh.xyz + 3 * (size_t)set->node[i];
            if (k == 0) CHECK_ABS(hypot(hypot(x[0], x[1]), x[2]), 5.0, 1e-6);
            if (k == 1) CHECK_ABS(x[2], 0.0, 1e-9);
        }
    }
    hx_mesh_free(&mesh);
}

/* No names if an assembly moves its parts, or if they are a body's name at each of its faces. */
static void check_unnamed(void)
{
    static const char *const each[] = {"PartBody", "PartBody", "PartBody",
                                       "PartBody", "PartBody", "PartBody"},
                             *const named[] = {"a", "", "", "", "", ""};
    for (int k = 0; k < 2; k++) {
        step_writer w;
        hx_mesh mesh;
        hx_notes notes = {0};
        char solid[16];
        const int context = step_begin(&w, in_folder("box.step"), "SI_UNIT(.MILLI.,.METRE.)");
        const double zero[3] = {0, 0, 0}, one[3] = {1, 0, 0}, z[3] = {0, 0, 1};
        snprintf(solid, sizeof solid, "#%d",
                 step_box(&w, "", zero, (const double[]){4, 4, 4}, k ? named : each));
        const int from = step_frame(&w, zero, z, one), to = step_frame(&w, k ? z : zero, z, one);
        step_add(&w, "ITEM_DEFINED_TRANSFORMATION('','',#%d,#%d)", from, to);
        step_end(&w, context, solid);
        CHECK_OK(read_model("box.step", 4.0, &mesh, &notes));
        CHECK_MSG(count_names(&mesh) == 0, "%zu names", count_names(&mesh));
        CHECK(has_note(&notes, "an assembly moves its parts") == k);
        hx_mesh_free(&mesh);
        hx_notes_free(&notes);
    }
}

int main(void)
{
    hx_gmsh_program program = {0};
    CHECK_OK(hx_scratch_create(&folder));
    if (!folder) TEST_END();
    check_strings();
    check_entities();
    check_curves();
    if (hx_gmsh_find(&program) == HX_OK) {
        check_boxes();
        check_cylinder();
        check_half_ball();
        check_unnamed();
    }
    hx_gmsh_release(&program);
    hx_scratch_remove(folder);
    TEST_END();
}
