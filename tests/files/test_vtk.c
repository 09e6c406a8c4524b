/* The VTK writer and reader against each other, and on files in other programs' styles.
 *   test_vtk                the tests
 *   test_vtk --write DIR    files for tests/files/check_vtk.py to read with VTK
 *   test_vtk --read FILE    what hx_vtk_read makes of a file that VTK wrote */
#include <sys/stat.h>

#include "tests/lib/vtk_sample.h"

/* --- round trip --- */

static void check_same_set(const hx_mesh *mesh, const char *name, const hx_mesh *expected,
                           const char *expected_name)
{
    const hx_set *a = hx_mesh_find_set(mesh, name);
    const hx_set *b = hx_mesh_find_set(expected, expected_name);
    CHECK_MSG(a && b, "%s", name);
    if (!a || !b) return;
    CHECK(a->n_elem == b->n_elem);
    CHECK(a->n_elem == b->n_elem &&
          memcmp(a->elem, b->elem, (size_t)a->n_elem * sizeof *a->elem) == 0);
}

static void test_round_trip(hx_vtk_format format, int n, int shuffled)
{
    hx_mesh original, mesh, again;
    sample s;
    const char *path = in_folder("round.vtk");
    make_box(&original, n, n, 2);
    make_box(&mesh, n, n, 2);
    if (shuffled) {
        CHECK_OK(hx_mesh_shuffle(&mesh, 7));
        CHECK_OK(hx_mesh_reorder(&mesh));
    }
    CHECK_OK(hx_mesh_finish(&mesh));
    sample_make(&s, &mesh);
    CHECK_OK(sample_write(path, &mesh, &s, format));

    CHECK_OK(hx_vtk_read(path, &again));
    CHECK(again.n_node == original.n_node && again.n_elem == original.n_elem);
    CHECK(memcmp(again.xyz, original.xyz, (size_t)again.n_node * 3 * sizeof *again.xyz) == 0);
    CHECK(memcmp(again.conn, original.conn, (size_t)again.n_elem * 8 * sizeof *again.conn) == 0);
    CHECK(again.name && strcmp(again.name, "round.vtk") == 0);
    CHECK_OK(hx_mesh_finish(&again));
    CHECK_OK(hx_mesh_finish(&original));
    check_same_set(&again, "solid_core", &original, "solid core");
    int64_t n_part = 0;
    for (int value = -1; value <= 1; value++) {
        char name[32];
        snprintf(name, sizeof name, "part=%d", value);
        const hx_set *set = hx_mesh_find_set(&again, name);
        CHECK_MSG(set != NULL, "%s", name);
        for (int64_t i = 0; set && i < set->n_elem; i++) CHECK(set->elem[i] % 3 - 1 == value);
        n_part += set ? set->n_elem : 0;
    }
    CHECK(n_part == again.n_elem && again.n_set == 4);

    double *density = calloc((size_t)mesh.n_elem, sizeof *density);
    CHECK_OK(hx_vtk_read_cell_array(path, "density", &mesh, density));
    CHECK(memcmp(density, s.density, (size_t)mesh.n_elem * sizeof *density) == 0);
    CHECK_OK(hx_vtk_read_cell_array(path, "part", &mesh, density));
    for (int64_t e = 0; e < mesh.n_elem; e++) CHECK_ABS(density[e], s.part[e], 0);
    CHECK_OK(hx_vtk_read_cell_array(path, "element_energy", &mesh, density));
    for (int64_t e = 0; e < mesh.n_elem; e++) CHECK_REL(density[e], s.energy[e], 1e-8);
    CHECK_OK(hx_vtk_read_cell_array(path, "density", &again, density));
    for (int64_t e = 0; e < again.n_elem; e++) CHECK_ABS(density[e], density_of(e), 0);
    CHECK_FAILS(hx_vtk_read_cell_array(path, "rho", &mesh, density), HX_EINPUT,
                "no cell array 'rho' of one component; the file has density, element_energy, part");
    CHECK_FAILS(hx_vtk_read_cell_array(path, "displacement", &mesh, density), HX_EINPUT,
                "no cell array 'displacement'");

    free(density);
    sample_free(&s);
    hx_mesh_free(&again);
    hx_mesh_free(&mesh);
    hx_mesh_free(&original);
}

/* --- a part --- */

/* Elements that are dense enough are read back in their order, with their original numbers, their
 * own nodes and values. Densities decrease with the number. */
static void check_part(const char *path, const hx_mesh *original, int64_t n_part)
{
    hx_mesh part;
    double *value = calloc((size_t)n_part, sizeof *value);
    CHECK_OK(hx_vtk_read(path, &part));
    CHECK(part.n_elem == n_part && part.n_node < original->n_node);
    int64_t n_wrong = 0, last_node = -1;
    for (int64_t i = 0; i < 8 * n_part; i++) {
        if (part.conn[i] > last_node) last_node = part.conn[i];
        n_wrong += memcmp(part.xyz + 3 * (int64_t)part.conn[i],
                          original->xyz + 3 * (int64_t)original->conn[i], 3 * sizeof(double)) != 0;
    }
    CHECK(n_wrong == 0 && last_node + 1 == part.n_node);
    CHECK_OK(hx_vtk_read_cell_array(path, "vtkOriginalCellIds", &part, value));
    for (int64_t e = 0; e < n_part; e++) n_wrong += value[e] != (double)e;
    CHECK_OK(hx_vtk_read_cell_array(path, "density", &part, value));
    for (int64_t e = 0; e < n_part; e++) n_wrong += value[e] != density_of(e);
    CHECK_MSG(n_wrong == 0, "%lld values", (long long)n_wrong);
    for (size_t i = 0; i < part.n_set; i++) CHECK(strncmp(part.set[i].name, "vtk", 3) != 0);
    CHECK_OK(hx_mesh_finish(&part)); /* every node is used */
    free(value);
    hx_mesh_free(&part);
}

static void test_part(hx_vtk_format format, int n, int shuffled)
{
    hx_mesh original, mesh;
    sample s;
    const char *path = in_folder("part.vtk");
    make_box(&original, n, n, 2);
    make_box(&mesh, n, n, 2);
    if (shuffled) {
        CHECK_OK(hx_mesh_shuffle(&mesh, 7));
        CHECK_OK(hx_mesh_reorder(&mesh));
    }
    sample_make(&s, &mesh);
    for (int64_t n_part = 1; n_part < mesh.n_elem; n_part = 5 * n_part + 1) {
        int64_t n_written = -1;
        const hx_vtk_options options = {
            .format = format, .value = s.density, .least = density_of(n_part - 1)};
        CHECK_OK(sample_write_part(path, &mesh, &s, &options, &n_written));
        CHECK(n_written == n_part);
        check_part(path, &original, n_part);
    }
    sample_free(&s);
    hx_mesh_free(&mesh);
    hx_mesh_free(&original);
}

static void test_empty_part(hx_vtk_format format)
{
    hx_mesh mesh, again;
    sample s;
    int64_t n_written = -1;
    const char *path = in_folder("empty.vtk");
    make_box(&mesh, 3, 3, 2);
    sample_make(&s, &mesh);
    const hx_vtk_options options = {.format = format, .value = s.density, .least = 2.0};
    CHECK_OK(sample_write_part(path, &mesh, &s, &options, &n_written));
    CHECK(n_written == 0);
    CHECK_FAILS(hx_vtk_read(path, &again), HX_EINPUT, "0 nodes and 0 elements");
    sample_free(&s);
    hx_mesh_free(&mesh);
}

/* --- large files --- */

typedef struct shares {
    int n;
    double last;
} shares;

static void note_share(void *context, double share)
{
    shares *seen = context;
    CHECK(share >= seen->last && share <= 1.0);
    seen->last = share;
    seen->n++;
}

/* A file of many blocks of the writer has the predicted size. */
static void test_large(void)
{
    hx_mesh mesh, again;
    shares seen = {0, 0.0};
    uint64_t bytes = 0;
    struct stat info;
    const char *path = in_folder("large.vtk");
    CHECK_OK(hx_generate_box(&mesh, 64, 64, 40, 64.0, 64.0, 40.0));
    double *density = calloc((size_t)mesh.n_elem, sizeof *density);
    for (int64_t e = 0; e < mesh.n_elem; e++) density[e] = density_of(e);
    const hx_vtk_field field = {"density", HX_VTK_CELL, HX_VTK_F64, 1, density};
    const hx_vtk_options options = {.progress = note_share, .context = &seen};
    CHECK_OK(hx_vtk_write_part(path, &mesh, "large", &options, &field, 1, NULL));
    CHECK_MSG(seen.n > 8 && seen.last > 0.999, "%d calls, %g", seen.n, seen.last);
    CHECK_OK(hx_vtk_bytes(&mesh, "large", &field, 1, &bytes));
    CHECK(stat(path, &info) == 0 && (uint64_t)info.st_size == bytes && bytes > 10000000);
    CHECK_OK(hx_vtk_read(path, &again));
    CHECK(again.n_elem == mesh.n_elem && again.n_node == mesh.n_node);
    CHECK(memcmp(again.xyz, mesh.xyz, (size_t)mesh.n_node * 3 * sizeof *mesh.xyz) == 0);
    CHECK(memcmp(again.conn, mesh.conn, (size_t)mesh.n_elem * 8 * sizeof *mesh.conn) == 0);
    CHECK_OK(hx_vtk_read_cell_array(path, "density", &mesh, density));
    for (int64_t e = 0; e < mesh.n_elem; e++) CHECK_ABS(density[e], density_of(e), 0);
    free(density);
    hx_mesh_free(&again);
    hx_mesh_free(&mesh);
}

/* Counts beyond 2^31: for the writer, the predicted size of a file that is not written; for the
 * reader, a file that is nearly all hole. */
static void test_counts_beyond_int(void)
{
    const int64_t n_elem = 260000000, n_node = 750000000; /* 9 n_elem and 3 n_node exceed 2^31 */
    const hx_mesh huge = {.n_node = n_node, .n_elem = n_elem};
    const hx_vtk_field field = {"density", HX_VTK_CELL, HX_VTK_F64, 1, NULL};
    uint64_t bytes = 0, small_bytes = 0;
    hx_mesh mesh;
    make_box(&mesh, 2, 2, 2);
    CHECK_OK(hx_vtk_bytes(&mesh, "", &field, 1, &small_bytes));
    CHECK_OK(hx_vtk_bytes(&huge, "", &field, 1, &bytes));
    const int64_t more_nodes = n_node - 27, more_elem = n_elem - 8;
    /* the counts in the text: 27, 8, 72, 8, 8 become numbers of 9, 9, 10, 9, 9 digits */
    CHECK(bytes - small_bytes == (uint64_t)(24 * more_nodes + 48 * more_elem) + 7 + 8 + 8 + 8 + 8);

    const char *path = in_folder("hole.vtk");
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    if (!f) return;
    fprintf(f, "# vtk DataFile Version 3.0\n\nBINARY\nDATASET UNSTRUCTURED_GRID\n");
    fprintf(f, "POINTS %lld double\n", (long long)n_node);
    const int skipped = fseeko(f, (off_t)n_node * 24, SEEK_CUR) != 0;
    fprintf(f, "\nCELLS %lld %lld\n", (long long)n_elem, 9 * (long long)n_elem);
    fseeko(f, (off_t)n_elem * 36, SEEK_CUR);
    fprintf(f, "\nCELL_TYPES %lld\n", (long long)n_elem);
    fseeko(f, (off_t)n_elem * 4, SEEK_CUR);
    fprintf(f, "\nCELL_DATA %lld\n", (long long)n_elem);
    if (fclose(f) == 0 && !skipped) { /* otherwise the file system has no files with holes */
        double value[8];
        CHECK_FAILS(hx_vtk_read_cell_array(path, "density", &mesh, value), HX_EINPUT,
                    "260000000 cells; the mesh of this run has 8");
    }
    unlink(path);
    hx_mesh_free(&mesh);
}

/* --- files as other programs write them --- */

static void test_styles(void)
{
    for (size_t i = 0; i < N_STYLED_FILE; i++) {
        hx_mesh mesh;
        const char *path = in_folder("style.vtk");
        write_bytes(path, styled_file[i], strlen(styled_file[i]));
        CHECK_OK(hx_vtk_read(path, &mesh));
        CHECK_OK(hx_mesh_finish(&mesh));
        CHECK(mesh.n_elem == 1);
        CHECK_REL(mesh.total_volume, 1.0, 1e-12);
        CHECK_MSG(i == 0 ? mesh.n_set == 0 : hx_mesh_find_set(&mesh, "part=5") != NULL, "file %zu",
                  i);
        CHECK_MSG(mesh.n_set == (i == 0 ? 0u : i == 2 ? 2u : 1u), "file %zu: %zu", i, mesh.n_set);
        if (i == 2) CHECK(hx_mesh_find_set(&mesh, "left face") != NULL);
        hx_mesh_free(&mesh);
    }

    /* A voxel counts x, y, z. */
    hx_mesh mesh;
    static const char voxel[] =
        HEAD "POINTS 8 float\n0 0 0 1 0 0 0 1 0 1 1 0\n0 0 1 1 0 1 0 1 1 1 1 1\n"
             "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 1\n11\n";
    write_bytes(in_folder("voxel.vtk"), voxel, sizeof voxel - 1);
    CHECK_OK(hx_vtk_read(in_folder("voxel.vtk"), &mesh));
    CHECK(mesh.conn && mesh.conn[2] == 3 && mesh.conn[3] == 2 && mesh.conn[6] == 7);
    CHECK_OK(hx_mesh_finish(&mesh));
    hx_mesh_free(&mesh);

    /* Node sets; an array of more than 256 values is no set. */
    static const char nodes[] = CUBE "POINT_DATA 8\nSCALARS set_left int\n1 0 0 1 1 0 0 1\n"
                                     "SCALARS set_none int\nLOOKUP_TABLE default\n0 0 0 0 0 0 0 0\n"
                                     "SCALARS big long\n9999999999 0 0 0 0 0 0 0\n";
    write_bytes(in_folder("nodes.vtk"), nodes, sizeof nodes - 1);
    CHECK_OK(hx_vtk_read(in_folder("nodes.vtk"), &mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    const hx_set *left = hx_mesh_find_set(&mesh, "left");
    CHECK(left && left->n_node == 4 && left->node[1] == 3 && left->n_elem == 0);
    CHECK(hx_mesh_find_set(&mesh, "none") != NULL && mesh.n_set == 2);
    hx_mesh_free(&mesh);
}

static void test_series(void)
{
    const char *const name[] = {"density_0010.vtk", "odd \"name\"\\\n.vtk"};
    const double time[] = {10, 0.1};
    static const char expected[] = "{\n  \"file-series-version\" : \"1.0\",\n  \"files\" : [\n"
                                   "    { \"name\" : \"density_0010.vtk\", \"time\" : 10 },\n"
                                   "    { \"name\" : \"odd \\\"name\\\"\\\\\\u000a.vtk\", "
                                   "\"time\" : 0.10000000000000001 }\n  ]\n}\n";
    size_t n;
    CHECK_OK(hx_vtk_write_series(in_folder("x.vtk.series"), 2, name, time));
    unsigned char *bytes = read_bytes(in_folder("x.vtk.series"), 1000, &n);
    CHECK_MSG(n == strlen(expected) && memcmp(bytes, expected, n) == 0, "%.*s", (int)n,
              (const char *)bytes);
    free(bytes);
}

/* --- compared with VTK itself --- */

/* In shuffled order, so that the file shows whether the original one is restored; check_vtk.py
 * knows the formulas of vtk_sample.h. */
static int write_samples(const char *to)
{
    hx_mesh mesh, original;
    sample s;
    snprintf(folder, sizeof folder, "%s", to);
    make_box(&mesh, 4, 3, 2);
    CHECK_OK(hx_mesh_shuffle(&mesh, 7));
    CHECK_OK(hx_mesh_finish(&mesh));
    sample_make(&s, &mesh);
    CHECK_OK(sample_write(in_folder("binary.vtk"), &mesh, &s, HX_VTK_BINARY));
    CHECK_OK(sample_write(in_folder("ascii.vtk"), &mesh, &s, HX_VTK_ASCII));
    hx_vtk_options options = {.value = s.density, .least = density_of(6)};
    CHECK_OK(sample_write_part(in_folder("part.vtk"), &mesh, &s, &options, NULL));
    options.format = HX_VTK_ASCII;
    CHECK_OK(sample_write_part(in_folder("part_ascii.vtk"), &mesh, &s, &options, NULL));
    options.least = 2.0;
    CHECK_OK(sample_write_part(in_folder("empty_ascii.vtk"), &mesh, &s, &options, NULL));
    options.format = HX_VTK_BINARY;
    CHECK_OK(sample_write_part(in_folder("empty.vtk"), &mesh, &s, &options, NULL));

    make_box(&original, 4, 3, 2);
    FILE *f = fopen(in_folder("expected.txt"), "w");
    CHECK(f != NULL);
    for (int64_t i = 0; f && i < original.n_node; i++)
        fprintf(f, "%.17g %.17g %.17g\n", original.xyz[3 * i], original.xyz[3 * i + 1],
                original.xyz[3 * i + 2]);
    for (int64_t i = 0; f && i < 8 * original.n_elem; i++)
        fprintf(f, "%d%c", (int)original.conn[i], i % 8 < 7 ? ' ' : '\n');
    if (f) fclose(f);
    sample_free(&s);
    hx_mesh_free(&original);
    hx_mesh_free(&mesh);
    TEST_END();
}

/* "points N", "cells N", "volume V", and a line "set NAME NODES ELEMENTS" each. */
static int print_file(const char *path)
{
    hx_mesh mesh;
    CHECK_OK(hx_vtk_read(path, &mesh));
    CHECK_OK(hx_mesh_finish(&mesh));
    printf("points %lld\ncells %lld\nvolume %.15g\n", (long long)mesh.n_node,
           (long long)mesh.n_elem, mesh.total_volume);
    for (size_t i = 0; i < mesh.n_set; i++)
        printf("set %s %lld %lld\n", mesh.set[i].name, (long long)mesh.set[i].n_node,
               (long long)mesh.set[i].n_elem);
    hx_mesh_free(&mesh);
    TEST_END();
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0) return write_samples(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--read") == 0) return print_file(argv[2]);

    if (make_folder() < 0) TEST_SKIP("cannot make %s", folder);
    test_round_trip(HX_VTK_BINARY, 4, 0);
    test_round_trip(HX_VTK_ASCII, 4, 0);
    test_round_trip(HX_VTK_BINARY, 40, 1);
    test_round_trip(HX_VTK_ASCII, 40, 1);
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        test_part(HX_VTK_BINARY, 20, shuffled);
        test_part(HX_VTK_ASCII, 20, shuffled);
    }
    test_empty_part(HX_VTK_BINARY);
    test_empty_part(HX_VTK_ASCII);
    test_large();
    test_counts_beyond_int();
    test_styles();
    test_series();
    remove_folder();
    TEST_END();
}
