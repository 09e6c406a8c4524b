/* Messages of the VTK reader for bad files, preservation of the old file on a full disk, and a fuzz
 * loop. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "tests/lib/vtk_sample.h"

/* --- bad files --- */

static const struct {
    const char *text, *message;
} bad_file[] = {
    {"", "not a legacy VTK file"},
    {"<?xml version=\"1.0\"?>\n", ":2: the file ends before </...>"},
    {"# vtk DataFile Version 9.0\nx\nASCII\n", "version 9.0 of the format; 2.0 to 5.1 are read"},
    {"# vtk DataFile Version 3.0\nx\nASCI\n", ":3: 'ASCI' where ASCII or BINARY is expected"},
    {"# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\n",
     ":4: DATASET is POLYDATA; it must be"},
    {HEAD, "no POINTS section"},
    {HEAD POINTS8, "no CELLS section"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4 5 6 7\n", "no CELL_TYPES section"},
    {HEAD "POINTS -8 float\n", ":5: the number of points is -8; it must be at least 0"},
    {HEAD "POINTS 8.5 float\n", "'8.5' where an integer is expected"},
    {HEAD "POINTS 99999999999999999999 float\n", "where an integer is expected"},
    {HEAD "POINTS 4000000000000000000 float\n0 0 0\n", "do not fit into the"},
    {HEAD "POINTS 1000000 float\n0 0 0\n",
     "1000000 x 3 values of POINTS do not fit into the remaining 7 bytes"},
    {HEAD "POINTS 8 flot\n", "'flot' is not a type of numbers"},
    {HEAD "POINTS 1 float\n0 0,5 0\n", ":6: '0,5' where a number is expected"},
    {HEAD "POINTS 1 float\n0 nan 0\n", "point 0: coordinate y is nan, not a finite number"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4 5 6 8\n",
     ":9: cell 0 uses point 8; there are points 0 to 7"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4 5 6 -7\n", "cell 0 uses point -7"},
    {HEAD POINTS8 "CELLS 2 14\n8 0 1 2 3 4 5 6 7\n4 0 1 2 3\nCELL_TYPES 2\n12\n42\n",
     ":13: cell 1 is of type 42 (VTK_POLYHEDRON); every cell must be a tetrahedron (10), wedge "
     "(13)"},
    {HEAD POINTS8 "CELLS 2 9\n4 0 1 2 3\n3 0 1 2\nCELL_TYPES 2\n9\n5\n",
     "no solid among 2 cells, which are points, lines and faces (gmsh saves"},
    {HEAD POINTS8 "CELLS 2 14\n8 0 1 2 3 4 5 6 7\n4 0 1 2 3\nCELL_TYPES 2\n12\n13\n",
     ":13: cell 1 is of type 13 (VTK_WEDGE) and has 4 nodes; it must have 6"},
    {HEAD POINTS8 "CELLS 2 14\n8 0 1 2 3 4 5 6 7\n4 0 1 2 8\nCELL_TYPES 2\n12\n10\n",
     "cell 1 uses point 8; there are points 0 to 7"},
    {HEAD "CELLS 1 11\n10 0 1 2 4 5 6 7 0 1 9\n" POINTS8 "CELL_TYPES 1\n24\n",
     "a cell uses point 9; there are points 0 to 7"},
    {HEAD "CELLS 1 11\n10 0 1 2 4 5 6 7 0 1 9\nCELL_TYPES 1\n24\n" POINTS8,
     "cells of second order, or other cells that are not solids, before POINTS"},
    {HEAD5 POINTS8 "CELLS 3 12\nOFFSETS vtktypeint64\n0 8 12\nCONNECTIVITY vtktypeint64\n"
                   "0 1 2 3 4 5 6 7 0 1 2 9\n",
     "cell 1 uses point 9; there are points 0 to 7"},
    {HEAD POINTS8 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n",
     "cell 0 is of type 12 (VTK_HEXAHEDRON) and has 4 nodes; it must have 8"},
    {HEAD POINTS8 "CELLS 1 9\n9 0 1 2 3 4 5 6 7\n",
     "cell 0 has 9 nodes, but 8 numbers of CELLS are"},
    {HEAD POINTS8 "CELLS 1 10\n8 0 1 2 3 4 5 6 7 0\n",
     "CELLS announces 10 numbers, but its cells have 9"},
    {HEAD POINTS8 "CELLS 2 9\n8 0 1 2 3 4 5 6 7\n", "the 9 numbers of CELLS end within cell 0"},
    {HEAD POINTS8 "CELLS 999999999 9\n", "cells; at most"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4 5 6 7\nCELL_TYPES 2\n12 12\n",
     "2 cell types after 1 cells"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 2 3 4\n", "do not fit into the remaining 13 bytes"},
    {HEAD POINTS8 "CELLS 1 9\n8 0 1 1000000 3 4 5\n", "the file ends where an integer is expected"},
    {CUBE "CELL_DATA 2\n", "CELL_DATA has 2 tuples; the file has 1 cells"},
    {CUBE "POINT_DATA 7\n", "POINT_DATA has 7 tuples; the file has 8 points"},
    {CUBE "SCALARS a float\n", "'SCALARS' where a section is expected"},
    {CUBE "CELL_DATA 1\nSCALARS a float 9\n1\n", "SCALARS have 1 to 4 components, not '9'"},
    {CUBE "CELL_DATA 1\nSCALARS set_a int\n1.5\n", "'1.5' where an integer is expected"},
    {CUBE "CELL_DATA 1\nFIELD f 2\na 1 1 int\n1\n", "the file ends where the name of an array is"},
    {CUBE "garbage\x01\xff\n", ":12: 'garbage\?\?' where a section is expected"},
    {CUBE POINTS8, "a second POINTS section"},
    {HEAD5 POINTS8 "CELLS 2 8\nOFFSETS vtktypeint64\n1 8\n",
     "offset 1 of cell 0; offsets must ascend"},
    {HEAD5 POINTS8 "CELLS 2 8\nOFFSET vtktypeint64\n", "'OFFSET' where OFFSETS is expected"},
    {HEAD5 POINTS8 "CELLS 2 8\nOFFSETS float\n0 8\n", "type float where integers are expected"},
    {HEAD5 POINTS8 "CELLS 2 4\nOFFSETS int\n0 4\nCONNECTIVITY int\n0 1 2 3\nCELL_TYPES 1\n9\n",
     "no solid among 1 cells"},
    {HEAD5 POINTS8 "CELLS 2 9\nOFFSETS int\n0 8\nCONNECTIVITY int\n0 1 2 3 4 5 6 7 0\n",
     "the last offset is 8, but CONNECTIVITY has 9 entries"},
};

static void test_bad_files(void)
{
    hx_mesh mesh;
    const char *path = in_folder("bad.vtk");
    for (size_t i = 0; i < sizeof bad_file / sizeof bad_file[0]; i++) {
        write_bytes(path, bad_file[i].text, strlen(bad_file[i].text));
        const int rc = hx_vtk_read(path, &mesh);
        CHECK_MSG(rc == HX_EINPUT && strstr(hx_error_message(), bad_file[i].message),
                  "file %zu gives %d '%s', expected '%s'", i, rc, hx_error_message(),
                  bad_file[i].message);
        CHECK(strstr(hx_error_message(), path) == hx_error_message());
        CHECK(mesh.xyz == NULL && mesh.n_set == 0);
    }
    CHECK_FAILS(hx_vtk_read(in_folder("none.vtk"), &mesh), HX_EINPUT, "No such file");
    CHECK_FAILS(hx_vtk_read(folder, &mesh), HX_EINPUT, "it is a folder, not a file");
}

/* --- writing that fails --- */

static int n_in_folder(void)
{
    char command[600];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    if (pipe) {
        CHECK(fscanf(pipe, "%d", &n) == 1);
        pclose(pipe);
    }
    return n;
}

/* A disk that becomes full, simulated by a limit of file sizes, as root and as another user. */
static void test_full_disk(void)
{
    hx_mesh mesh;
    sample s;
    struct rlimit limit, old_limit;
    const char *path = in_folder("full.vtk");
    make_box(&mesh, 40, 40, 20); /* more than the writer's buffer */
    CHECK_OK(hx_mesh_finish(&mesh));
    sample_make(&s, &mesh);
    write_bytes(path, "old", 3);
    const int n_file = n_in_folder();

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_limit);
    const rlim_t size[] = {10, 5000, 1200000, 2000000};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        limit = old_limit;
        limit.rlim_cur = size[i];
        CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        const int rc = sample_write(path, &mesh, &s, i % 2 ? HX_VTK_BINARY : HX_VTK_ASCII);
        setrlimit(RLIMIT_FSIZE, &old_limit);
        CHECK_MSG(rc == HX_EIO, "limit %ld gives %d", (long)size[i], rc);
        CHECK(strstr(hx_error_message(), path) && strstr(hx_error_message(), "File too large"));
        CHECK(n_in_folder() == n_file);
        size_t n;
        unsigned char *bytes = read_bytes(path, 16, &n);
        CHECK(n == 3 && memcmp(bytes, "old", 3) == 0);
        free(bytes);
    }

    const char *const name[] = {"a.vtk"};
    const double time[] = {1.0};
    limit.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &limit);
    const int rc = hx_vtk_write_series(in_folder("full.vtk.series"), 1, name, time);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    CHECK(rc == HX_EIO && n_in_folder() == n_file);

    CHECK_OK(sample_write(path, &mesh, &s, HX_VTK_BINARY));
    CHECK(n_in_folder() == n_file);
    sample_free(&s);
    hx_mesh_free(&mesh);
}

static void test_unwritable(void)
{
    hx_mesh mesh;
    struct stat info;
    make_box(&mesh, 2, 2, 2);
    CHECK_FAILS(hx_vtk_write(in_folder("no/such.vtk"), &mesh, "", HX_VTK_ASCII, NULL, 0), HX_EIO,
                "No such file or directory");
    CHECK_FAILS(hx_vtk_write(folder, &mesh, "", HX_VTK_ASCII, NULL, 0), HX_EIO, "a directory");
    CHECK_FAILS(hx_vtk_write("/dev/null", &mesh, "", HX_VTK_ASCII, NULL, 0), HX_EIO, "a device");
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    const hx_vtk_field field = {"a", HX_VTK_CELL, HX_VTK_F64, 0, mesh.xyz};
    CHECK(hx_vtk_write(in_folder("a.vtk"), &mesh, "", HX_VTK_ASCII, &field, 1) == HX_EINTERNAL);
    CHECK(access(in_folder("a.vtk"), F_OK) != 0);
    hx_mesh_free(&mesh);
}

/* --- fuzz --- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* One to four small damages: a byte is changed, or a range is removed, duplicated or
 * overwritten. */
static size_t damage(unsigned char *bytes, size_t n, uint64_t *state)
{
    static const char *const word[] = {"-1",   "4294967296",      "9223372036854775807", "nan",
                                       "\n\n", "FIELD ",          "METADATA\n",          "string",
                                       "bit ", "\xff\xff\xff\xff"};
    for (uint64_t k = random_next(state) % 4 + 1; k > 0 && n > 1; k--) {
        const size_t at = (size_t)(random_next(state) % n);
        const size_t length = (size_t)(random_next(state) % 12) % (n - at);
        const char *text = word[random_next(state) % (sizeof word / sizeof word[0])];
        switch (random_next(state) % 4) {
        case 0:
            bytes[at] = (unsigned char)random_next(state);
            break;
        case 1:
            memmove(bytes + at, bytes + at + length, n - at - length);
            n -= length;
            break;
        case 2:
            memmove(bytes + at + length, bytes + at, n - at); /* the buffer has room for this */
            n += length;
            break;
        default:
            memcpy(bytes + at, text, strlen(text) < n - at ? strlen(text) : n - at);
            break;
        }
    }
    return n;
}

static void fuzz_file(const unsigned char *good, size_t n_good, int n_round, uint64_t seed)
{
    uint64_t state = seed;
    unsigned char *bytes = malloc(n_good + 256);
    double value[64];
    const char *path = in_folder("fuzz.vtk");
    int n_read = 0;
    for (int round = 0; round < n_round; round++) {
        hx_mesh mesh;
        memcpy(bytes, good, n_good);
        size_t n = round % 4 == 0 ? (size_t)(random_next(&state) % n_good) /* truncated */
                                  : damage(bytes, n_good, &state);
        remove(path); /* some file systems wait for the disk when a file is overwritten */
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(bytes, 1, n, f) != n) break;
        fclose(f);
        hx_error_clear();
        const int rc = hx_vtk_read(path, &mesh);
        if (rc == 0) {
            n_read++;
            if (mesh.n_elem <= 64) (void)hx_vtk_read_cell_array(path, "density", &mesh, value);
            hx_vtk_result result;
            if (hx_vtk_read_result(path, "density", &result) == 0) {
                CHECK(result.cells.n_elem == mesh.n_elem && result.precision > 0.0);
                hx_vtk_result_free(&result);
            }
            if (n_read % 8 == 0) (void)hx_mesh_finish(&mesh);
        } else if (rc != HX_EINPUT || !hx_error_message()[0]) {
            CHECK_MSG(rc == HX_EINPUT, "round %d of seed %d: %s", round, (int)seed,
                      hx_error_message());
        }
        hx_mesh_free(&mesh);
    }
    CHECK_MSG(n_read > 0 && n_read < n_round, "%d of %d read", n_read, n_round);
    free(bytes);
}

static void test_fuzz(void)
{
    hx_mesh mesh;
    sample s;
    size_t n;
    make_box(&mesh, 3, 2, 2);
    CHECK_OK(hx_mesh_finish(&mesh));
    sample_make(&s, &mesh);
    for (int format = 0; format < 2; format++) {
        const char *path = in_folder("seed.vtk");
        CHECK_OK(sample_write(path, &mesh, &s, format ? HX_VTK_ASCII : HX_VTK_BINARY));
        unsigned char *bytes = read_bytes(path, 100000, &n);
        fuzz_file(bytes, n, 2000, 11 + (uint64_t)format);
        free(bytes);
    }
    for (size_t i = 1; i < N_STYLED_FILE; i++)
        fuzz_file((const unsigned char *)styled_file[i], strlen(styled_file[i]), 1000, 21 + i);

    /* The new cells in binary: offsets and connectivity in 64 bits, and a string. */
    static const unsigned char head[] =
        "# vtk DataFile Version 5.1\nx\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD F 1\n"
        "note 1 2 string\n\xc2no\xc3yes\nPOINTS 8 unsigned_char\n"
        "\0\0\0\1\0\0\1\1\0\0\1\0\0\0\1\1\0\1\1\1\1\0\1\1\nCELLS 2 8\nOFFSETS vtktypeint64\n"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\nCONNECTIVITY vtktypeint64\n"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3"
        "\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\7\nCELL_TYPES "
        "1\n\0\0\0\14\n"
        "CELL_DATA 1\nFIELD F 2\nbits 1 1 bit\n\1\npart 1 1 short\n\377\376\n";
    hx_mesh cube;
    write_bytes(in_folder("new.vtk"), head, sizeof head - 1);
    CHECK_OK(hx_vtk_read(in_folder("new.vtk"), &cube));
    CHECK_OK(hx_mesh_finish(&cube));
    CHECK(cube.n_set == 1 && hx_mesh_find_set(&cube, "part=-2") != NULL);
    hx_mesh_free(&cube);
    fuzz_file(head, sizeof head - 1, 2000, 31);

    sample_free(&s);
    hx_mesh_free(&mesh);
}

int main(void)
{
#ifdef _OPENMP
    omp_set_num_threads(1); /* thousands of tiny meshes: threads would only wait for each other */
#endif
    if (make_folder() < 0) TEST_SKIP("cannot make %s", folder);
    test_bad_files();
    test_full_disk();
    test_unwritable();
    test_fuzz();
    remove_folder();
    TEST_END();
}
