/* The set-up after an accepted mesh: a config drawn from the bytes (or the bytes themselves if they
 * begin with '#') on one of a few small meshes: m0.vtk to m5.vtk with every kind of cell, and
 * job.inp, which states supports and loads. It creates the problem, and sometimes the first design.
 * HX_FUZZ_SHOW=1 prints the config, so that it can be kept. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/session/session.h"
#include "core/files/mesh_files.h"
#include "fuzz.h"
#include "fuzz_loads.h"
#include "tests/lib/mixed_mesh.h"

/* --- meshes --- */

static void write_mesh(int kind)
{
    mixed_box box = {.kind = (mixed_kind)kind, .n = {2, 2, 2}, .distort = kind % 2 ? 0.1 : 0.0};
    char name[16], path[FUZZ_PATH];
    hx_mesh mesh;
    const hx_mesh_write_options options = {.title = "fuzz"};
    if (box.kind == MIXED_LAYERS) memcpy(box.n, (int[3]){1, 1, 5}, sizeof box.n);
    snprintf(name, sizeof name, "m%d.vtk", kind);
    fuzz_path(name, path);
    if (mixed_create(&mesh, &box) < 0 || hx_mesh_finish(&mesh) < 0 ||
        hx_mesh_format_of_name(path)->write(path, &mesh, &options) < 0)
        abort();
    hx_mesh_free(&mesh);
}

static void write_meshes(void)
{
    static int is_done;
    char path[FUZZ_PATH];
    if (is_done) return;
    for (int kind = 0; kind < MIXED_N_KIND; kind++) write_mesh(kind);
    fuzz_write(fuzz_path("job.inp", path), fuzz_job, strlen(fuzz_job));
    is_done = 1;
}

/* --- the set-up --- */

static void check_problem(const hx_problem *p)
{
    int finite = 1;
    const int64_t n = p->space.n_point * p->components;
    for (int c = 0; c < p->cases.n; c++)
        for (int64_t i = 0; i < n; i++) finite &= isfinite(p->cases.force[c][i]) != 0;
    fuzz_require(finite, "accepted loads are finite");
    for (int64_t i = 0; i < p->springs.n; i++)
        fuzz_require(isfinite(p->springs.stiffness[i]) && p->springs.stiffness[i] >= 0.0 &&
                         p->springs.dof[i] >= 0 && p->springs.dof[i] < n,
                     "accepted springs are finite");
    for (int64_t i = 0; i < p->rigid.n_node; i++)
        fuzz_require(p->rigid.node[i] >= 0 && p->rigid.node[i] < p->space.n_point,
                     "nodes of rigid sets are in range");
    fuzz_require(p->cases.n > 0 && p->design_volume > 0.0,
                 "an accepted problem has a case and something to design");
}

/* 1 for one of the meshes above: any other file might be a CAD model, which starts gmsh. */
static int is_ours(const hx_config *cfg)
{
    const char *const file = cfg->mesh.file;
    if (!file) return 0;
    return strcmp(file, "job.inp") == 0 ||
           (strlen(file) == 6 && file[0] == 'm' && strcmp(file + 2, ".vtk") == 0);
}

static int set_up(hx_session *s, int whole)
{
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    fuzz_require_mesh(&s->mesh);
    check_problem(&s->problem);
    if (!whole) return HX_OK;
    HX_TRY(hx_session_open_device(s));
    HX_TRY(hx_session_make_solver(s));
    return hx_session_make_design(s);
}

void fuzz_loads(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    hx_value *tree = NULL;
    hx_session session;
    memset(&session, 0, sizeof session);
    if (size < 1) return;
    write_meshes();
    char *const text = data[0] == '#' ? fuzz_text(data, size) : fuzz_draw_config(data, size);
    if (getenv("HX_FUZZ_SHOW")) printf("%s", text);
    fuzz_path("fuzz.cfg", path);
    int rc = hx_value_read_text(&tree, text, path);
    if (rc == HX_OK) rc = hx_config_from_tree(&session.cfg, tree, path);
    if (rc == HX_OK && is_ours(&session.cfg)) rc = set_up(&session, size % 4 == 0);
    (void)fuzz_accepted(rc);
    hx_session_free(&session);
    free(text);
}
