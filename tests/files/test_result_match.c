/* Results of the same mesh in another order of cells, points and corners, of parts of it, with
 * fewer digits, and of other meshes. */
#include <unistd.h>

#include "core/files/result_match.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/test.h"

static const char path[] = "test_result_match.vtk";

enum { N_ELEM = 60 };

/* Layout of a file written by another program. Element i of the file is i * stride modulo the
 * number of elements (without a common factor), and points are ordered in the same way. */
typedef struct form {
    int is_binary;
    const char *type;   /* of the points */
    const char *format; /* of their coordinates as text */
    int64_t stride;
    int turns;             /* 1: each cell begins at another corner */
    const double *value;   /* [n_elem] */
    double least;          /* only cells with at least that value */
    const int32_t *number; /* [n_elem] vtkOriginalCellIds; NULL: none */
} form;

static const form plain = {0, "double", "%.17g", 1, 0, NULL, -INFINITY, NULL};

static void put_bytes(FILE *f, const void *value, size_t n)
{
    const unsigned char *const byte = value;
    for (size_t i = n; i-- > 0;) fputc(byte[i], f); /* big-endian, from little-endian */
}

static void put_real(FILE *f, const form *o, double x)
{
    const float single = (float)x;
    if (!o->is_binary)
        fprintf(f, o->format ? o->format : "%.17g", x), fputc('\n', f);
    else if (strcmp(o->type, "float") == 0)
        put_bytes(f, &single, sizeof single);
    else
        put_bytes(f, &x, sizeof x);
}

static void put_int(FILE *f, const form *o, int32_t i)
{
    if (o->is_binary)
        put_bytes(f, &i, sizeof i);
    else
        fprintf(f, "%d ", i);
}

static void put_cell(FILE *f, const form *o, const int32_t *conn, const int32_t *place, int turn)
{
    put_int(f, o, 8);
    for (int k = 0; k < 8; k++) put_int(f, o, place[conn[(k & 4) + ((k + turn) & 3)]]);
}

static void write_form(const hx_mesh *mesh, const form *o)
{
    const int64_t n = mesh->n_elem;
    int64_t n_cell = 0;
    int32_t *const place = calloc((size_t)mesh->n_node, sizeof *place);
    FILE *const f = fopen(path, "wb");
    CHECK(f != NULL && place != NULL);
    if (!f || !place) exit(1);
    for (int64_t e = 0; e < n; e++) n_cell += o->value[e] >= o->least;
    fprintf(f, "# vtk DataFile Version 3.0\nmade\n%s\nDATASET UNSTRUCTURED_GRID\nPOINTS %d %s\n",
            o->is_binary ? "BINARY" : "ASCII", (int)mesh->n_node, o->type);
    for (int64_t i = 0; i < mesh->n_node; i++) {
        const int64_t a = i * o->stride % mesh->n_node;
        place[a] = (int32_t)i;
        for (int d = 0; d < 3; d++) put_real(f, o, mesh->xyz[3 * a + d]);
    }
    fprintf(f, "\nCELLS %d %d\n", (int)n_cell, (int)(9 * n_cell));
    for (int64_t i = 0, e = 0; i < n; i++, e = i * o->stride % n)
        if (o->value[e] >= o->least)
            put_cell(f, o, mesh->conn + 8 * e, place, o->turns ? (int)(i % 4) : 0);
    fprintf(f, "\nCELL_TYPES %d\n", (int)n_cell);
    for (int64_t i = 0; i < n_cell; i++) put_int(f, o, 12);
    fprintf(f, "\nCELL_DATA %d\nSCALARS rho double\nLOOKUP_TABLE default\n", (int)n_cell);
    const form values = {o->is_binary, "double", "%.17g", 1, 0, NULL, 0, NULL};
    for (int64_t i = 0, e = 0; i < n; i++, e = i * o->stride % n)
        if (o->value[e] >= o->least) put_real(f, &values, o->value[e]);
    if (o->number) fprintf(f, "\nSCALARS vtkOriginalCellIds int\nLOOKUP_TABLE default\n");
    for (int64_t i = 0, e = 0; o->number && i < n; i++, e = i * o->stride % n)
        if (o->value[e] >= o->least) put_int(f, o, o->number[e]);
    CHECK(fclose(f) == 0);
    free(place);
}

static void make_mesh(hx_mesh *mesh, double distort, fixture_order order)
{
    const fixture_box box = {{5, 4, 3}, {5.0, 4.0, 3.0}, distort, 0};
    CHECK_OK(fixture_box_create(mesh, &box));
    CHECK_OK(fixture_finish(mesh, order));
    CHECK(mesh->n_elem == N_ELEM);
}

static void make_values(double *value)
{
    uint64_t seed = 5;
    for (int e = 0; e < N_ELEM; e++) value[e] = fixture_uniform(&seed, 0.01, 1.0);
}

/* The file gives these values, with 0.125 for those below least. */
static void expect(const hx_mesh *mesh, const form *o, hx_match_way way)
{
    double found[N_ELEM];
    hx_result_match match;
    int n_wrong = 0, n_missing = 0;
    CHECK_OK(hx_result_read(path, "rho", mesh, 0.001, 0.125, found, &match));
    for (int e = 0; e < N_ELEM; e++) {
        const int is_there = o->value[e] >= o->least;
        n_missing += !is_there;
        n_wrong += found[e] != (is_there ? o->value[e] : 0.125);
    }
    CHECK_MSG(n_wrong == 0, "%d wrong values", n_wrong);
    CHECK(match.n_missing == n_missing);
    CHECK_MSG(match.way == way, "%d", (int)match.way);
}

static void refuse(const hx_mesh *mesh, const char *message)
{
    double found[N_ELEM];
    hx_result_match match;
    CHECK_FAILS(hx_result_read(path, "rho", mesh, 0.001, 0.125, found, &match), HX_EINPUT, message);
    CHECK(strstr(hx_error_message(), path) != NULL);
}

/* --- the same mesh --- */

static void test_own_files(fixture_order order)
{
    hx_mesh mesh;
    double value[N_ELEM];
    form o = plain;
    o.value = value;
    make_mesh(&mesh, 0.1, order);
    make_values(value);
    const hx_vtk_field field = {"rho", HX_VTK_CELL, HX_VTK_F64, 1, value};
    for (int format = 0; format < 2; format++) {
        const hx_vtk_options part = {
            .format = format ? HX_VTK_ASCII : HX_VTK_BINARY, .value = value, .least = 0.4};
        CHECK_OK(hx_vtk_write(path, &mesh, "whole", part.format, &field, 1));
        o.least = -INFINITY;
        expect(&mesh, &o, HX_MATCH_IN_ORDER);
        CHECK_OK(hx_vtk_write_part(path, &mesh, "part", &part, &field, 1, NULL));
        o.least = 0.4;
        expect(&mesh, &o, HX_MATCH_BY_NUMBERS);
    }
    hx_mesh_free(&mesh);
}

/* Another order of everything, in double and single precision, binary and with few digits. */
static void test_other_order(double distort, fixture_order order)
{
    static const struct {
        int is_binary;
        const char *type, *format;
    } as[] = {{1, "double", ""},      {1, "float", ""},     {0, "double", "%.17g"},
              {0, "double", "%.12g"}, {0, "float", "%.9g"}, {0, "float", "%g"},
              {0, "double", "%g"},    {0, "double", "%.8f"}};
    hx_mesh mesh;
    double value[N_ELEM];
    make_mesh(&mesh, distort, order);
    make_values(value);
    for (size_t i = 0; i < sizeof as / sizeof as[0]; i++) {
        form o = {as[i].is_binary, as[i].type, as[i].format, 7, 1, value, -INFINITY, NULL};
        write_form(&mesh, &o);
        expect(&mesh, &o, HX_MATCH_BY_CORNERS);
        o.least = 0.3; /* a part without its numbers */
        write_form(&mesh, &o);
        expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    }
    hx_mesh_free(&mesh);
}

/* vtkOriginalCellIds in another order; then wrong: corners decide. */
static void test_part_numbers(fixture_order order)
{
    hx_mesh mesh;
    double value[N_ELEM];
    int32_t number[N_ELEM];
    make_mesh(&mesh, 0.0, order);
    make_values(value);
    form o = {0, "double", "%.17g", 7, 1, value, 0.4, number};
    for (int e = 0; e < N_ELEM; e++) number[e] = mesh.elem_orig ? mesh.elem_orig[e] : e;
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_NUMBERS);
    /* a complete file in another order: its numbers are right, but its order is not */
    o.least = -INFINITY;
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_NUMBERS);
    o.least = 0.4;
    for (int e = 0; e < N_ELEM; e++) number[e] = (number[e] + 1) % N_ELEM;
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    for (int e = 0; e < N_ELEM; e++) number[e] = e % 2 ? -7 : 1000000;
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    hx_mesh_free(&mesh);
}

/* --- other meshes --- */

static void test_moved_node(void)
{
    hx_mesh mesh, other;
    double value[N_ELEM];
    form o = plain;
    o.value = value;
    make_mesh(&mesh, 0.1, FIXTURE_IN_ORDER);
    make_mesh(&other, 0.1, FIXTURE_IN_ORDER);
    make_values(value);
    /* moves only one corner of the last element */
    other.xyz[3 * other.conn[8 * 59 + 6] + 1] += 1e-6;
    write_form(&other, &o);
    refuse(&mesh, "cell 59, counted from 0, with its centre at ");
    CHECK(strstr(hx_error_message(), "the nearest is element 59 at ") != NULL);
    CHECK(strstr(hx_error_message(), "differ by up to 1e-06") != NULL);
    o.stride = 7; /* 53 * 7 = 6 * 60 + 11; 17 * 7 = 2 * 60 - 1: element 59 */
    write_form(&other, &o);
    refuse(&mesh, "cell 17, counted from 0");
    hx_mesh_free(&mesh);
    hx_mesh_free(&other);
}

/* The mirror image of a mesh has as many cells, each of the same shape, but is another mesh. */
static void test_mirror(void)
{
    hx_mesh mesh, image;
    double value[N_ELEM];
    form o = plain;
    o.value = value;
    o.stride = 7;
    make_mesh(&mesh, 0.1, FIXTURE_IN_ORDER);
    make_mesh(&image, 0.1, FIXTURE_IN_ORDER);
    make_values(value);
    for (int64_t a = 0; a < image.n_node; a++) image.xyz[3 * a] = 5.0 - image.xyz[3 * a];
    write_form(&image, &o);
    refuse(&mesh, "cell 0, counted from 0");
    hx_mesh_free(&mesh);
    hx_mesh_free(&image);
}

static void test_other_sizes(void)
{
    hx_mesh mesh, smaller;
    double value[N_ELEM];
    form o = plain;
    o.value = value;
    make_mesh(&mesh, 0.0, FIXTURE_REORDERED);
    make_values(value);
    CHECK_OK(hx_generate_box(&smaller, 5, 4, 2, 5.0, 4.0, 2.0)); /* the lower layers */
    CHECK_OK(hx_mesh_finish(&smaller));
    write_form(&mesh, &o);
    refuse(&smaller, "60 cells; the mesh of this run has 40: cell ");
    write_form(&smaller, &o);
    CHECK(value[3] > 0.001);
    value[3] = 0.001; /* a whole result has void */
    write_form(&smaller, &o);
    refuse(&mesh, "40 cells; the mesh of this run has 60: element ");
    CHECK(strstr(hx_error_message(), "no vtkOriginalCellIds, and cells of the least") != NULL);
    value[3] = 0.5;
    write_form(&smaller, &o);
    double found[N_ELEM];
    hx_result_match match;
    CHECK_OK(hx_result_read(path, "rho", &mesh, 0.001, 0.125, found, &match));
    CHECK(match.n_missing == 20);
    const hx_vtk_field field = {"rho", HX_VTK_CELL, HX_VTK_F64, 1, value};
    CHECK_OK(hx_vtk_write(path, &smaller, "box, hextop, iteration 3", HX_VTK_BINARY, &field, 1));
    refuse(&mesh, "output.threshold (it has no vtkOriginalCellIds)");
    hx_mesh_free(&smaller);
    hx_mesh_free(&mesh);
}

static void test_other_array(void)
{
    hx_mesh mesh;
    double value[N_ELEM];
    hx_result_match match;
    form o = plain;
    o.value = value;
    make_mesh(&mesh, 0.0, FIXTURE_IN_ORDER);
    make_values(value);
    write_form(&mesh, &o);
    CHECK_FAILS(hx_result_read(path, "none", &mesh, 0.001, 0.0, value, &match), HX_EINPUT,
                "no cell array 'none' of one component; the file has rho");
    hx_mesh_free(&mesh);
}

static void test_repeated_cell(void)
{
    hx_mesh mesh, other;
    double value[N_ELEM];
    form o = plain;
    o.value = value;
    make_mesh(&mesh, 0.1, FIXTURE_IN_ORDER);
    make_mesh(&other, 0.1, FIXTURE_IN_ORDER);
    make_values(value);
    memcpy(other.conn + 8 * 20, other.conn + 8 * 4, 8 * sizeof *other.conn);
    write_form(&other, &o);
    refuse(&mesh, "cells 4 and 20, counted from 0, both match element 4");
    hx_mesh_free(&mesh);
    hx_mesh_free(&other);
}

/* --- effects of rounding --- */

static void shift(hx_mesh *mesh, double by)
{
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) mesh->xyz[i] += by;
}

static void test_coarse(void)
{
    hx_mesh mesh;
    double value[N_ELEM];
    make_mesh(&mesh, 0.1, FIXTURE_IN_ORDER);
    make_values(value);
    shift(&mesh, 1e7);
    form o = {1, "float", "", 1, 0, value, -INFINITY, NULL};
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_IN_ORDER);
    o.stride = 7;
    write_form(&mesh, &o);
    refuse(&mesh, "too coarsely to find them");
    o.type = "double";
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    hx_mesh_free(&mesh);
}

/* Two layers thinner than the resolution of the file. */
static void test_thin_layers(void)
{
    hx_mesh mesh;
    double value[N_ELEM];
    make_mesh(&mesh, 0.0, FIXTURE_IN_ORDER);
    make_values(value);
    for (int64_t a = 0; a < mesh.n_node; a++)
        if (mesh.xyz[3 * a + 2] < 2.5) mesh.xyz[3 * a + 2] *= 1e-9;
    form o = {0, "double", "%.17g", 7, 1, value, -INFINITY, NULL};
    write_form(&mesh, &o);
    o.format = "%.6g";
    mesh.elem_size = 1e-3; /* as if most elements were thin */
    expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    write_form(&mesh, &o);
    refuse(&mesh, "matches several elements of this mesh");
    hx_mesh_free(&mesh);
}

/* A slit: every node of the plane x = 2 exists twice, the second `apart` away. */
static void test_slit(double apart)
{
    hx_mesh mesh, box;
    double value[N_ELEM];
    int32_t second[200];
    make_mesh(&box, 0.0, FIXTURE_IN_ORDER);
    make_values(value);
    int64_t n = box.n_node;
    double *const xyz = calloc(3 * 200, sizeof *xyz);
    int32_t *const conn = calloc(8 * N_ELEM, sizeof *conn);
    memcpy(xyz, box.xyz, 3 * (size_t)n * sizeof *xyz);
    for (int64_t a = 0; a < box.n_node; a++) {
        second[a] = (int32_t)a;
        if (fabs(xyz[3 * a] - 2.0) > 0.1) continue;
        memcpy(xyz + 3 * n, xyz + 3 * a, 3 * sizeof *xyz);
        xyz[3 * n] += apart;
        second[a] = (int32_t)n++;
    }
    for (int64_t i = 0; i < 8 * N_ELEM; i++) /* elements beyond the plane */
        conn[i] = i / 8 % 5 >= 2 ? second[box.conn[i]] : box.conn[i];
    CHECK_OK(hx_mesh_create(&mesh, "slit", n, xyz, N_ELEM, conn));
    CHECK_OK(hx_mesh_finish(&mesh));
    CHECK(n == box.n_node + 20);
    const form o = {0, "double", "%.17g", 11, 1, value, -INFINITY, NULL};
    write_form(&mesh, &o);
    expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    const form rounded = {1, "float", "", 11, 1, value, -INFINITY, NULL};
    write_form(&mesh, &rounded);
    expect(&mesh, &rounded, HX_MATCH_BY_CORNERS);
    if (apart <= 0.0) { /* the same cells with shared nodes */
        write_form(&box, &o);
        expect(&mesh, &o, HX_MATCH_BY_CORNERS);
    }
    hx_mesh_free(&mesh);
    hx_mesh_free(&box);
}

/* Two wedges form a cube, each a hexahedron with repeated corners; another program repeats other
 * corners. Their bounding boxes are equal. */
static void test_collapsed(void)
{
    static const int32_t own[16] = {0, 1, 2, 2, 4, 5, 6, 6, 0, 2, 3, 3, 4, 6, 7, 7};
    static const int32_t theirs[16] = {0, 0, 2, 3, 4, 4, 6, 7, 0, 1, 1, 2, 4, 5, 5, 6};
    hx_mesh box, mesh = {0}, other;
    const double value[2] = {0.25, 0.75};
    double found[2] = {0};
    hx_result_match match;
    CHECK_OK(hx_generate_box(&box, 1, 1, 1, 1.0, 1.0, 1.0));
    for (int which = 0; which < 2; which++) {
        double *const xyz = calloc(24, sizeof *xyz);
        int32_t *const conn = calloc(16, sizeof *conn);
        memcpy(xyz, box.xyz, 24 * sizeof *xyz);
        for (int k = 0; k < 16; k++) conn[k] = box.conn[which ? theirs[k] : own[k]];
        CHECK_OK(hx_mesh_create(which ? &other : &mesh, "wedges", 8, xyz, 2, conn));
    }
    mesh.elem_size = 0.8; /* hx_mesh_finish refuses such elements, but they can be matched */
    const form o = {0, "double", "%.17g", 1, 0, value, -INFINITY, NULL};
    write_form(&other, &o);
    CHECK_OK(hx_result_read(path, "rho", &mesh, 0.001, 0.0, found, &match));
    CHECK(found[0] == 0.75 && found[1] == 0.25 && match.way == HX_MATCH_BY_CORNERS);
    hx_mesh_free(&box);
    hx_mesh_free(&mesh);
    hx_mesh_free(&other);
}

/* Values of a mesh that was read, by the position of each cell; a cell has the value 1 if it is
 * dense. */
static void make_kind(hx_mesh *mesh, mixed_kind kind, uint64_t shuffle)
{
    const mixed_box box = {.kind = kind, .n = {2, 2, 5}, .distort = 0.15, .seed = 9};
    CHECK_OK(mixed_create(mesh, &box));
    if (shuffle > 0) CHECK_OK(hx_mesh_shuffle(mesh, shuffle));
    CHECK_OK(hx_mesh_finish(mesh));
}

static double kind_value(const hx_mesh *mesh, int64_t elem)
{
    const int64_t e = mesh->elem_orig ? mesh->elem_orig[elem] : elem;
    return (double)(1 + e % 17) / 17.0;
}

/* way: by the file's order, by the numbers of a part, or by corners if the file has an order of its
 * own. */
static void test_kind(mixed_kind kind, hx_match_way way)
{
    hx_mesh mesh, file;
    hx_result_match match;
    make_kind(&mesh, kind, 3);
    make_kind(&file, kind, 4);
    double *const value = calloc((size_t)mesh.n_elem, sizeof *value);
    double *const found = calloc((size_t)mesh.n_elem, sizeof *found);
    for (int64_t e = 0; e < mesh.n_elem; e++) value[e] = kind_value(&file, e);
    if (way == HX_MATCH_BY_CORNERS) { /* the random order becomes the order of the file */
        free(file.elem_orig);
        free(file.node_orig);
        file.elem_orig = file.node_orig = NULL;
    }
    const double least = way == HX_MATCH_BY_NUMBERS ? 0.5 : 0.0;
    const hx_vtk_field field = {"rho", HX_VTK_CELL, HX_VTK_F64, 1, value};
    const hx_vtk_options options = {.format = (int)kind % 2 ? HX_VTK_ASCII : HX_VTK_BINARY,
                                    .value = least > 0.0 ? value : NULL,
                                    .least = least};
    CHECK_OK(hx_vtk_write_part(path, &file, "x", &options, &field, 1, NULL));
    CHECK_OK(hx_result_read(path, "rho", &mesh, 0.001, 0.125, found, &match));
    CHECK_MSG(match.way == way, "%s: %d", mixed_name[kind], (int)match.way);
    for (int64_t e = 0; e < mesh.n_elem; e++) {
        const double expected = kind_value(&mesh, e);
        CHECK(found[e] == (expected >= least ? expected : 0.125));
    }
    free(value);
    free(found);
    hx_mesh_free(&mesh);
    hx_mesh_free(&file);
}

int main(void)
{
    fixture_set_threads(2);
    for (int order = FIXTURE_IN_ORDER; order <= FIXTURE_REORDERED; order++) {
        test_own_files((fixture_order)order);
        test_other_order(0.1, (fixture_order)order);
        /* symmetric about three planes, but the values are not */
        test_other_order(0.0, (fixture_order)order);
        test_part_numbers((fixture_order)order);
    }
    test_moved_node();
    test_mirror();
    test_other_sizes();
    test_other_array();
    test_repeated_cell();
    test_coarse();
    test_thin_layers();
    test_slit(0.0);
    test_slit(1e-11);
    test_slit(1e-3);
    test_collapsed();
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int way = HX_MATCH_IN_ORDER; way <= HX_MATCH_BY_CORNERS; way++)
            test_kind((mixed_kind)kind, (hx_match_way)way);
    CHECK(remove(path) == 0);
    TEST_END();
}
