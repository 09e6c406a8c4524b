/* Measures the set-up of a run on the host, stage by stage and without a GPU, including the lists
 * that operators and preconditioners of a GPU need.
 *
 *     [mpirun -n P] setup NX NY NZ [distorted] [shuffled] [stretched] [parts] [run]
 *
 * The mesh is a box of NX x NY x NZ hexahedra; with "run" it is created in order, like in a run.
 * Prints for each stage: seconds; CPU seconds of all threads; those of the first thread above the
 * mean of the others, which is the serial part (with OMP_WAIT_POLICY=passive and at least two
 * threads); the time that 16 cores would take if nothing else limited them; and a hash of all
 * lists, which no change may alter. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/design/halo.h"
#include "core/dist/dist.h"
#include "core/mesh/mesh_quality.h"
#include "core/multigrid/coarse.h"
#include "core/multigrid/multigrid_internal.h"
#include "core/operator/congruence.h"
#include "core/operator/patches.h"
#include "tests/lib/fixture.h"

typedef struct bench {
    hx_comm comm;
    hx_device device;
    hx_mesh mesh;
    hx_space space;
    hx_problem problem;
    hx_dist dist;
    hx_hash hash;
    int n[3], is_distorted, is_shuffled, is_stretched, in_parts, is_run;
    double wall, all, own; /* clocks at the beginning of the stage */
} bench;

static double cpu_clock(clockid_t of)
{
    struct timespec t;
    clock_gettime(of, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(bench *b)
{
    b->hash = (hx_hash){0, 0};
    b->wall = hx_clock();
    b->all = cpu_clock(CLOCK_PROCESS_CPUTIME_ID);
    b->own = cpu_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Converts the clocks to seconds since the beginning of the stage. */
static void stop(bench *b)
{
    b->wall = hx_clock() - b->wall;
    b->all = cpu_clock(CLOCK_PROCESS_CPUTIME_ID) - b->all;
    b->own = cpu_clock(CLOCK_THREAD_CPUTIME_ID) - b->own;
}

static void add(bench *b, const void *list, size_t n, size_t size)
{
    const unsigned char *const p = list;
    uint64_t word = 0;
    hx_hash_next(&b->hash, n);
    if (!list) return;
    for (size_t i = 0; i < n * size; i += sizeof word) {
        const size_t left = n * size - i;
        word = 0;
        memcpy(&word, p + i, left < sizeof word ? left : sizeof word);
        hx_hash_next(&b->hash, word);
    }
}

#define ADD(b, list, n) add(b, list, (size_t)(n), sizeof *(list))

static void report(const bench *b, const char *stage)
{
    char text[HX_HASH_TEXT];
    const int n = fixture_threads();
    const double serial = n > 1 ? b->own - (b->all - b->own) / (n - 1) : NAN;
    printf("%d %-12s %8.3f s %8.3f CPU %8.3f serial %8.3f by 16  %.16s\n", b->comm.rank, stage,
           b->wall, b->all, serial, serial + (b->all - serial) / 16.0,
           hx_hash_print(&b->hash, text));
    fflush(stdout);
}

static void add_mesh(bench *b, const hx_mesh *mesh)
{
    ADD(b, mesh->xyz, 3 * mesh->n_node);
    ADD(b, mesh->conn, 8 * mesh->n_elem);
    ADD(b, mesh->node_orig, mesh->n_node);
    ADD(b, mesh->elem_orig, mesh->n_elem);
    ADD(b, mesh->parts.before, mesh->n_elem);
    if (mesh->node_elem_ptr) ADD(b, mesh->node_elem_ptr, mesh->n_node + 1);
    if (mesh->node_elem_ptr) ADD(b, mesh->node_elem, 8 * mesh->n_elem);
    add(b, &mesh->total_volume, 1, sizeof mesh->total_volume);
    for (size_t i = 0; i < mesh->n_set; i++) {
        ADD(b, mesh->set[i].node, mesh->set[i].n_node);
        ADD(b, mesh->set[i].elem, mesh->set[i].n_elem);
    }
}

static void report_mesh(bench *b, const char *stage)
{
    stop(b);
    add_mesh(b, &b->mesh);
    report(b, stage);
}

/* Assigns every fifth element to the next process, so that parts have many pieces. */
static int put_in_parts(bench *b)
{
    int32_t *const part = malloc((size_t)b->mesh.n_elem * sizeof *part);
    for (int64_t e = 0; e < b->mesh.n_elem; e++) part[e] = (int32_t)(e / 5 % b->comm.size);
    start(b);
    const int rc = hx_mesh_part(&b->mesh, b->comm.size, part);
    report_mesh(b, "parts");
    free(part);
    return rc;
}

static int make_in_order(bench *b)
{
    const hx_generate_params params = {.nx = b->n[0], .ny = b->n[1], .nz = b->n[2], .in_order = 1};
    start(b);
    HX_TRY(hx_generate(hx_generator_find("cantilever"), &b->mesh, &params));
    report_mesh(b, "in order");
    return HX_OK;
}

static int make_as_numbered(bench *b)
{
    const double height = b->is_stretched ? 0.1 : 1.0;
    start(b);
    HX_TRY(
        hx_generate_box(&b->mesh, b->n[0], b->n[1], b->n[2], b->n[0], b->n[1], height * b->n[2]));
    if (b->is_distorted) HX_TRY(hx_mesh_distort(&b->mesh, 0.2, 1));
    report_mesh(b, "mesh");
    start(b);
    if (b->is_shuffled) HX_TRY(hx_mesh_shuffle(&b->mesh, 1));
    if (b->is_shuffled) report_mesh(b, "shuffle");
    start(b);
    HX_TRY(hx_mesh_reorder(&b->mesh));
    report_mesh(b, "reorder");
    return HX_OK;
}

static int make_mesh(bench *b)
{
    HX_TRY(b->is_run ? make_in_order(b) : make_as_numbered(b));
    start(b);
    HX_TRY(hx_mesh_finish(&b->mesh));
    report_mesh(b, "finish");
    return b->in_parts ? put_in_parts(b) : HX_OK;
}

static void find_faces(bench *b)
{
    int64_t n, *face = NULL;
    start(b);
    CHECK_OK(hx_mesh_boundary_faces(&b->mesh, NULL, &n, &face));
    stop(b);
    ADD(b, face, n);
    report(b, "faces");
    free(face);
}

/* The report on the mesh that a run prints before it starts. */
static void measure_mesh(bench *b)
{
    hx_mesh_quality quality;
    start(b);
    CHECK_OK(hx_mesh_measure(&b->mesh, &quality));
    stop(b);
    ADD(b, &quality, 1);
    report(b, "quality");
}

static void add_problem(bench *b, const hx_problem *problem)
{
    const int64_t n = problem->space.n_point;
    ADD(b, problem->supports.fixed, n);
    for (int c = 0; c < problem->cases.n; c++) ADD(b, problem->cases.force[c], 3 * n);
    ADD(b, problem->volume, problem->mesh->n_elem);
    ADD(b, &problem->design_volume, 1);
    ADD(b, problem->springs.dof, problem->springs.n);
}

static int make_problem(bench *b)
{
    static const hx_support_spec support = {
        .set = "left", .origin = "bench", .fix = HX_FIX_X | HX_FIX_Y | HX_FIX_Z};
    static const hx_load_spec load = {"right", "bench", HX_LOAD_TRACTION, {1.0, 0.0, 0.0}, 1};
    static const hx_spring_spec spring = {"top", "bench", {3.0, 0.0, 1.0}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    params.support = &support;
    params.n_support = 1;
    params.load = &load;
    params.n_load = 1;
    params.spring = &spring;
    params.n_spring = 1;
    start(b);
    HX_TRY(hx_space_create(&b->space, &b->mesh, HX_ELEMENT_LINEAR));
    params.space = &b->space;
    HX_TRY(hx_problem_create(&b->problem, &b->mesh, &params));
    stop(b);
    add_problem(b, &b->problem);
    report(b, "problem");
    return HX_OK;
}

static void share_out(bench *b)
{
    const hx_subdomain *const s = &b->dist.subdomain;
    start(b);
    CHECK_OK(hx_dist_create(&b->dist, &b->comm, &b->device, &b->problem));
    stop(b);
    ADD(b, s->first, b->comm.size + 1);
    add_mesh(b, &s->mesh);
    add_problem(b, &s->problem);
    ADD(b, s->node, s->space.n_point);
    ADD(b, s->elem, s->mesh.n_elem);
    ADD(b, s->other, s->n_other);
    ADD(b, s->interface, s->n_interface);
    ADD(b, s->peer, s->n_peer);
    ADD(b, s->with, s->n_peer + 1);
    ADD(b, s->interface_of, s->with[s->n_peer]);
    ADD(b, s->from, s->n_interface + 1);
    ADD(b, s->source, s->from[s->n_interface]);
    report(b, "share");
}

/* Congruence classes, as the operator dedup needs them. */
static void class_elements(bench *b, const hx_mesh *mesh)
{
    hx_congruence classes;
    int32_t *elem = NULL;
    int64_t n_classed = 0;
    start(b);
    CHECK_OK(hx_congruence_create(&classes, mesh, mesh->n_elem / 256));
    CHECK_OK(hx_congruence_list(&classes, mesh->n_elem, &elem, &n_classed));
    stop(b);
    ADD(b, elem, mesh->n_elem + classes.n_class);
    ADD(b, classes.n_member, HX_MAX_CLASS);
    report(b, "classes");
    free(elem);
    hx_congruence_free(&classes);
}

/* Patches, as the operator otf needs them on a GPU. */
static void cut_patches(bench *b, const hx_mesh *mesh)
{
    const hx_patch_group group = {.size = 64, .max_row = 160, .n_item = mesh->n_elem};
    hx_patches p;
    start(b);
    CHECK_OK(hx_patches_create(&p, mesh, 1, &group));
    stop(b);
    ADD(b, p.span, p.n_patch);
    ADD(b, p.corner, p.n_place);
    ADD(b, p.row_node, p.n_row);
    ADD(b, p.row_position, p.n_row);
    ADD(b, p.row_slot, p.n_row);
    ADD(b, p.shared_node, p.n_shared);
    ADD(b, p.shared_ptr, p.n_shared + 1);
    ADD(b, p.shared_sum, p.n_shared_row);
    report(b, "patches");
    hx_patches_free(&p);
}

static void add_level(bench *b, const hx_coarse_level *level)
{
    const int64_t n = level->n_node;
    ADD(b, level->place, 3 * n);
    ADD(b, level->neighbour, 27 * n);
    if (level->child) ADD(b, level->child, 27 * n);
    if (level->parent) ADD(b, level->parent, 8 * n);
}

static void report_coarse(bench *b, const hx_coarse *l, const hx_space *space, const char *stage)
{
    stop(b);
    ADD(b, l->cell, 3 * l->n_cell);
    ADD(b, l->cell_corner, 8 * l->n_cell);
    ADD(b, l->node_cell, 8 * l->level[0].n_node);
    ADD(b, l->cell_elem, space->mesh->n_elem);
    ADD(b, l->cell_elem_at, l->n_cell + 1);
    ADD(b, l->cell_node, space->n_point);
    ADD(b, l->cell_node_at, l->n_cell + 1);
    ADD(b, l->position, 3 * space->n_point);
    ADD(b, l->coloured, l->n_cell);
    ADD(b, l->colour_at, 9);
    for (int i = 0; i < l->n_level; i++) add_level(b, &l->level[i]);
    report(b, stage);
}

static void lay_lattice(bench *b)
{
    hx_coarse coarse;
    start(b);
    CHECK_OK(hx_coarse_create(&coarse, &b->mesh, &hx_mg_defaults, 4.0, 300));
    report_coarse(b, &coarse, &b->space, "coarse grids");
    if (b->comm.size > 1) {
        hx_device *const dev = &b->dist.dev;
        const hx_interface_ops *const interface = dev->ops->interface;
        b->dist.most_whole = 300;
        start(b);
        CHECK_OK(interface->split_coarse(dev, &coarse));
        report_coarse(b, &coarse, &b->dist.subdomain.space, "local coarse grids");
        for (int l = 0; l < coarse.n_shared; l++) interface->free_level(dev, coarse.level[l].local);
    }
    hx_coarse_free(&coarse);
}

/* Lines of stretched elements, for the line smoother. */
static void list_lines(bench *b, hx_device *dev, const hx_problem *problem)
{
    static hx_multigrid mg;
    hx_operator op = {.dev = dev, .problem = problem};
    mg.dev = dev;
    start(b);
    CHECK_OK(hx_mg_lines_create(&mg, &op));
    stop(b);
    if (mg.lines.n > 0) ADD(b, mg.lines.d_first, mg.lines.n + 1);
    ADD(b, mg.lines.d_point, mg.lines.n_point);
    report(b, "lines");
    hx_mg_lines_free(&mg);
    dev->ops->release(dev, mg.d_none);
}

/* Cells of a filter with a radius of 3 elements. */
static void list_cells(bench *b)
{
    hx_device_bins cells;
    hx_device *const dev = b->comm.size > 1 ? &b->dist.dev : &b->device;
    start(b);
    if (b->comm.size > 1)
        CHECK_OK(hx_halo_create_bins(&cells, &b->dist, 3.0 * b->mesh.elem_size, 1));
    else
        CHECK_OK(hx_device_bins_create(&cells, dev, &b->mesh, 3.0 * b->mesh.elem_size, 1, NULL));
    stop(b);
    if (cells.voxels.n[0] > 0) {
        ADD(b, cells.voxels.elem, cells.voxels.n[0] * cells.voxels.n[1] * cells.voxels.n[2]);
        ADD(b, cells.voxels.weight, hx_voxels_weights(&cells.voxels));
    } else {
        ADD(b, cells.d_start, cells.n_cell[0] * cells.n_cell[1] * cells.n_cell[2] + 1);
        ADD(b, cells.d_member, cells.n);
        ADD(b, cells.d_x, cells.n);
        ADD(b, cells.d_z, cells.n);
    }
    if (cells.halo)
        ADD(b, cells.halo->d_out, cells.halo->exchange.out[cells.halo->exchange.n_peer]);
    report(b, "filter");
    hx_device_bins_free(&cells, dev);
}

static void run_stages(bench *b)
{
    const int is_shared = b->comm.size > 1;
    find_faces(b);
    measure_mesh(b);
    CHECK_OK(make_problem(b));
    if (is_shared) share_out(b);
    class_elements(b, is_shared ? &b->dist.subdomain.mesh : &b->mesh);
    cut_patches(b, is_shared ? &b->dist.subdomain.mesh : &b->mesh);
    lay_lattice(b);
    if (is_shared)
        list_lines(b, &b->dist.dev, &b->dist.subdomain.problem);
    else
        list_lines(b, &b->device, &b->problem);
    list_cells(b);
    if (is_shared) hx_dist_free(&b->dist);
    hx_problem_free(&b->problem);
    hx_space_free(&b->space);
}

static int has(int argc, char **argv, const char *word)
{
    for (int i = 4; i < argc; i++)
        if (strcmp(argv[i], word) == 0) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static bench b;
    int quick;
    if (argc < 4) {
        printf("setup NX NY NZ [distorted] [shuffled] [stretched] [parts] [run]\n");
        return 1;
    }
    for (int i = 0; i < 3; i++) b.n[i] = atoi(argv[1 + i]);
    b.is_distorted = has(argc, argv, "distorted");
    b.is_shuffled = has(argc, argv, "shuffled");
    b.is_stretched = has(argc, argv, "stretched");
    b.is_run = has(argc, argv, "run");
    const int status = fixture_open(&b.device, 1, argv, &quick);
    if (status) return status;
    CHECK_OK(hx_comm_join(&b.comm));
    b.in_parts = b.comm.size > 1 && has(argc, argv, "parts");
    const int rc = make_mesh(&b);
    CHECK_OK(rc);
    if (rc == HX_OK) run_stages(&b);
    hx_mesh_free(&b.mesh);
    hx_device_close(&b.device);
    hx_comm_leave(&b.comm);
    return test_n_failed > 0;
}
