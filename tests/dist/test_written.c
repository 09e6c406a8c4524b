/* A VTK file that several ranks write together, each from its part of every field, compared with
 * the file written by one: bytes, permissions, links; a disk that is full on any of the ranks. Run
 * by mpirun with any number of processes, or without it as a single one. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/comm/comm_file.h"
#include "core/dist/file_pieces.h"
#include "core/mesh/mesh_hash.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/vtk_sample.h"

enum { MOST_FILE = 1 << 24, MOST_BYTES = 48 };

typedef struct job {
    hx_comm comm;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_subdomain subdomain;
    sample whole, own; /* of the mesh; of the piece */
    hx_file_pieces pieces;
    hx_vtk_piece piece;
} job;

static int leads(const job *j)
{
    return j->comm.rank == 0;
}

static void meet(const job *j)
{
    CHECK_OK(hx_comm_agree(&j->comm, HX_OK));
}

/* Assigns seven elements along the curve to each rank in turn. */
static void put_in_parts(job *j)
{
    int32_t *const part = malloc((size_t)j->mesh.n_elem * sizeof *part);
    for (int64_t e = 0; e < j->mesh.n_elem; e++) part[e] = (int32_t)(e / 7 % j->comm.size);
    CHECK_OK(hx_mesh_part(&j->mesh, j->comm.size, part));
    free(part);
}

static void make_subdomain(job *j, fixture_order order, hx_element element, int in_parts)
{
    static const int32_t core_elem[] = {1, 3, 4};
    static const hx_load_spec load = {"corner-x", "test", HX_LOAD_TOTAL_FORCE, {0.0, 1.0, 0.0}, 1};
    hx_problem_params params = fixture_problem();
    params.load = &load;
    params.n_load = 1;
    params.support = fixture_determinate;
    params.n_support = FIXTURE_N_DETERMINATE;
    CHECK_OK(hx_mesh_add_elem_set(&j->mesh, "solid core", 3, core_elem));
    CHECK_OK(fixture_finish(&j->mesh, order));
    if (in_parts) put_in_parts(j);
    CHECK_OK(hx_space_create(&j->space, &j->mesh, element));
    params.space = &j->space;
    CHECK_OK(hx_problem_create(&j->problem, &j->mesh, &params));
    CHECK_OK(hx_subdomain_create(&j->subdomain, &j->comm, &j->problem));
    sample_make(&j->whole, &j->mesh);
}

static void free_subdomain(job *j)
{
    sample_free(&j->whole);
    hx_subdomain_free(&j->subdomain);
    hx_problem_free(&j->problem);
    hx_space_free(&j->space);
    hx_mesh_free(&j->mesh);
}

/* Returns this rank's piece of the file, made from the values of all ranks' own elements or
 * nodes. */
static void *bring(job *j, int kind, size_t bytes, const void *whole)
{
    const hx_subdomain *const subdomain = &j->subdomain;
    const int is_node = kind == HX_FILE_NODES;
    const size_t n_own = (size_t)(is_node ? subdomain->n_own : subdomain->mesh.n_elem),
                 n = (size_t)j->pieces.of[kind].n;
    const int32_t *const list = is_node ? subdomain->node : subdomain->elem;
    char *const own = malloc(n_own * bytes + 1), *const piece = calloc(n + 1, bytes);
    for (size_t i = 0; i < n_own; i++)
        memcpy(own + i * bytes, (const char *)whole + (size_t)list[i] * bytes, bytes);
    CHECK_OK(hx_file_pieces_bring(&j->pieces, kind, bytes, own, piece));
    free(own);
    return piece;
}

static void make_pieces(job *j, int to_first)
{
    const int where[] = {[HX_FILE_NODES] = HX_VTK_POINT, [HX_FILE_ELEMENTS] = HX_VTK_CELL};
    const hx_vtk_piece own = hx_vtk_own_piece(&j->comm, &j->mesh);
    CHECK_OK(hx_file_pieces_create(&j->pieces, &j->comm, &j->subdomain, to_first));
    for (int k = 0; k < HX_FILE_KINDS; k++) {
        j->piece.first[where[k]] = j->pieces.of[k].first;
        j->piece.n[where[k]] = j->pieces.of[k].n;
    }
    CHECK(to_first || memcmp(&own, &j->piece, sizeof own) == 0);
    const sample *const w = &j->whole;
    j->own = (sample){.density = bring(j, HX_FILE_ELEMENTS, 8, w->density),
                      .move = bring(j, HX_FILE_NODES, 24, w->move),
                      .energy = bring(j, HX_FILE_ELEMENTS, 4, w->energy),
                      .part = bring(j, HX_FILE_ELEMENTS, 4, w->part),
                      .solid = bring(j, HX_FILE_ELEMENTS, 1, w->solid),
                      .stress = bring(j, HX_FILE_ELEMENTS, 48, w->stress)};
}

static void free_pieces(job *j)
{
    sample_free(&j->own);
    hx_file_pieces_free(&j->pieces);
}

static int write_together(job *j, const char *name)
{
    const hx_vtk_options options = {.comm = &j->comm, .piece = &j->piece};
    int64_t n = 0;
    const int rc = sample_write_part(in_folder(name), &j->mesh, &j->own, &options, &n);
    if (rc == HX_OK) CHECK(n == j->mesh.n_elem);
    return rc;
}

static void check_equal(const char *a, const char *b)
{
    size_t n_a, n_b;
    unsigned char *const of_a = read_bytes(in_folder(a), MOST_FILE, &n_a), *const of_b = read_bytes(
                                                                               in_folder(b),
                                                                               MOST_FILE, &n_b);
    CHECK_MSG(n_a == n_b && n_a < MOST_FILE && memcmp(of_a, of_b, n_a) == 0,
              "%s (%zu bytes) differs from %s (%zu bytes)", a, n_a, b, n_b);
    free(of_a);
    free(of_b);
}

/* Each rank writes its piece of a binary file. */
static void test_pieces(job *j)
{
    const hx_vtk_options alone = {.format = HX_VTK_BINARY};
    make_pieces(j, 0);
    if (leads(j))
        CHECK_OK(sample_write_part(in_folder("alone"), &j->mesh, &j->whole, &alone, NULL));
    CHECK_OK(write_together(j, "together"));
    if (leads(j)) check_equal("alone", "together");
    meet(j);
    free_pieces(j);
}

/* Everything goes to the first rank, which writes formats that are not written in pieces. */
static void test_first(job *j)
{
    hx_vtk_options options[] = {{.format = HX_VTK_BINARY},
                                {.format = HX_VTK_ASCII},
                                {.format = HX_VTK_BINARY, .least = 0.01}};
    make_pieces(j, 1);
    for (int i = 0; leads(j) && i < 3; i++) {
        hx_vtk_options of_piece = options[i];
        of_piece.piece = &j->piece;
        if (options[i].least > 0.0) options[i].value = j->whole.density;
        if (options[i].least > 0.0) of_piece.value = j->own.density;
        CHECK_OK(sample_write_part(in_folder("alone"), &j->mesh, &j->whole, &options[i], NULL));
        CHECK_OK(sample_write_part(in_folder("first"), &j->mesh, &j->own, &of_piece, NULL));
        check_equal("alone", "first");
    }
    meet(j);
    free_pieces(j);
}

static void check_hash(job *j, double least, hx_hash whole)
{
    hx_hash all[64], sum = {0, 0};
    const hx_hash own = hx_mesh_piece_hash(j->piece.first[HX_VTK_CELL], j->piece.n[HX_VTK_CELL],
                                           j->own.density, least);
    if (j->comm.size > 64) return;
    CHECK_OK(j->comm.ops->all_gather(&j->comm, &own, sizeof own, all));
    for (int r = 0; r < j->comm.size; r++) {
        sum.a += all[r].a;
        sum.b += all[r].b;
    }
    CHECK(sum.a == whole.a && sum.b == whole.b);
}

static void test_hashes(job *j)
{
    make_pieces(j, 0);
    check_hash(j, NAN, hx_mesh_field_hash(&j->mesh, j->whole.density));
    check_hash(j, 0.01, hx_mesh_part_hash(&j->mesh, j->whole.density, 0.01));
    free_pieces(j);
}

static void test_meshes(job *j)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int order = FIXTURE_IN_ORDER; order <= FIXTURE_REORDERED; order++) {
            const mixed_box box = {.kind = (mixed_kind)kind, .n = {4, 3, 5}, .distort = 0.1};
            const int in_parts = order == FIXTURE_REORDERED && kind % 2 == 0;
            CHECK_OK(mixed_create(&j->mesh, &box));
            make_subdomain(j, (fixture_order)order,
                           kind == MIXED_LAYERS ? HX_ELEMENT_QUADRATIC : HX_ELEMENT_LINEAR,
                           in_parts);
            test_pieces(j);
            test_first(j);
            test_hashes(j);
            free_subdomain(j);
        }
}

/* --- errors, and meanings of names --- */

static int count_files(void)
{
    char command[600];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *const pipe = popen(command, "r");
    CHECK(pipe && fscanf(pipe, "%d", &n) == 1);
    if (pipe) pclose(pipe);
    return n;
}

/* One message, equal on all ranks. */
static void check_refused(const job *j, int rc, const char *text)
{
    char own[256], first[256];
    snprintf(own, sizeof own, "%s", hx_error_message());
    memcpy(first, own, sizeof first);
    CHECK_MSG(rc == HX_EIO && strstr(own, text), "%d: %s", rc, own);
    CHECK_OK(j->comm.ops->broadcast(&j->comm, 0, first, sizeof first));
    CHECK_MSG(strcmp(own, first) == 0, "%s", own);
}

/* The size of one rank's files is limited, like on a full disk. */
static void test_full(job *j, int limited, rlim_t most, int n_file)
{
    struct rlimit limit, before;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = most;
    if (j->comm.rank == limited) CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const int rc = write_together(j, "full");
    if (j->comm.rank == limited) CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    check_refused(j, rc, "File too large");
    CHECK(strstr(hx_error_message(), in_folder("full")) != NULL);
    if (leads(j)) {
        size_t n;
        unsigned char *const bytes = read_bytes(in_folder("full"), 16, &n);
        CHECK(n == 3 && memcmp(bytes, "old", 3) == 0);
        CHECK(count_files() == n_file);
        free(bytes);
    }
    meet(j);
}

static void test_full_disk(job *j)
{
    const rlim_t most[] = {10, 1500000};
    int n_file = 0;
    signal(SIGXFSZ, SIG_IGN);
    if (leads(j)) write_bytes(in_folder("full"), "old", 3);
    if (leads(j)) n_file = count_files();
    for (int r = 0; r < j->comm.size; r++)
        for (int i = 0; i < 2; i++)
            if (r == 0 || (i > 0 && j->comm.can_write)) test_full(j, r, most[i], n_file);
    CHECK_OK(write_together(j, "full"));
    if (leads(j)) check_equal("alone", "full");
    meet(j);
}

static void test_names(job *j)
{
    struct stat info;
    check_refused(j, write_together(j, "no/such"), "No such file");
    if (leads(j)) {
        write_bytes(in_folder("target"), "old", 3);
        CHECK(chmod(in_folder("target"), 0640) == 0);
        CHECK(symlink("target", in_folder("link")) == 0);
    }
    meet(j);
    CHECK_OK(write_together(j, "link"));
    if (leads(j)) {
        CHECK(lstat(in_folder("link"), &info) == 0 && S_ISLNK(info.st_mode));
        CHECK(stat(in_folder("target"), &info) == 0 && (info.st_mode & 0777) == 0640);
        check_equal("alone", "target");
    }
    meet(j);
}

/* The file is on the disk before it gets its name; its path is relative to the working
 * directory. */
static void test_synced(job *j)
{
    hx_vtk_options options = {.comm = &j->comm, .piece = &j->piece, .is_synced = 1};
    CHECK(chdir(folder) == 0);
    CHECK_OK(sample_write_part("synced", &j->mesh, &j->own, &options, NULL));
    if (leads(j)) check_equal("alone", "synced");
    options.format = HX_VTK_ASCII;
    if (j->comm.size > 1)
        CHECK(sample_write_part("x", &j->mesh, &j->own, &options, NULL) == HX_EINTERNAL);
    CHECK(chdir("/") == 0);
}

static void test_folders(job *j)
{
    int shared = -1;
    const int n_file = leads(j) ? count_files() : 0;
    CHECK_OK(hx_comm_shares_folder(&j->comm, folder, &shared));
    CHECK(shared == j->comm.can_write);
    CHECK_OK(hx_comm_shares_folder(&j->comm, "/no/such", &shared));
    CHECK(shared == (j->comm.size == 1));
    if (leads(j)) CHECK(count_files() == n_file);
    meet(j);
}

static void test_large(job *j)
{
    const mixed_box box = {.kind = MIXED_HEXAHEDRA, .n = {40, 40, 20}};
    const hx_vtk_options alone = {.format = HX_VTK_BINARY};
    CHECK_OK(mixed_create(&j->mesh, &box));
    make_subdomain(j, FIXTURE_REORDERED, HX_ELEMENT_LINEAR, 0);
    make_pieces(j, 0);
    if (leads(j))
        CHECK_OK(sample_write_part(in_folder("alone"), &j->mesh, &j->whole, &alone, NULL));
    test_full_disk(j);
    test_names(j);
    test_synced(j);
    test_folders(j);
    free_pieces(j);
    free_subdomain(j);
}

int main(void)
{
    job j;
    memset(&j, 0, sizeof j);
    CHECK_OK(hx_comm_join(&j.comm));
    if (leads(&j)) CHECK(make_folder() == 0);
    CHECK_OK(j.comm.ops->broadcast(&j.comm, 0, folder, sizeof folder));
    test_meshes(&j);
    test_large(&j);
    if (leads(&j)) remove_folder();
    const int size = j.comm.size;
    hx_comm_leave(&j.comm);
    printf("%d processes: ", size);
    TEST_END();
}
