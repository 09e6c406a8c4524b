/* The VTK files of a run, and the memory that they need. */
#include "output_dist.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../session/identity.h"
#include "../text/log.h"
#include "core/base/atomic_file.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/device/timeline.h"
#include "core/mesh/mesh_hash.h"
#include "progress.h"
#include "trace.h"

int hx_output_make_plan(hx_session *s, hx_output_plan *plan)
{
    int rc;
    const hx_config *cfg = &s->cfg;
    const int every = cfg->output.every, n = cfg->optimization.iterations;
    hx_output out = {.session = s, .fields = {.planning = 1}};
    char path[PATH_MAX];
    struct stat status;
    struct statvfs disk;
    memset(plan, 0, sizeof *plan);
    HX_TRY_FAIL(hx_output_add_fields(&out));
    plan->fields = out.fields.bytes;
    plan->writer = hx_vtk_writer_bytes(&s->mesh, !isnan(cfg->output.threshold));
    plan->checkpoint = hx_session_checkpoint_bytes(s);
    plan->n_file = every > 0 ? (n + every - 1) / every : 1;
    HX_TRY_FAIL(
        hx_vtk_bytes(&s->mesh, cfg->title, out.fields.field, out.fields.n, &plan->file_bytes));
    HX_TRY_FAIL(hx_output_find_folder(cfg, path, &status));
    if (statvfs(path, &disk) == 0)
        plan->disk_free = (uint64_t)disk.f_bavail * (uint64_t)disk.f_frsize;
fail:
    hx_output_free(&out);
    return rc;
}

static int take_memory(hx_output *out)
{
    const hx_config *const cfg = &out->session->cfg;
    int rc;
    HX_TRY(hx_session_note_error(out->session, hx_output_dist_create(out, &rc)));
    out->directory = cfg->output.directory;
    out->format = cfg->output.format;
    if (rc == HX_OK) rc = hx_output_add_fields(out);
    if (!out->dist) out->whole = out->physical;
    return hx_session_agree(out->session, rc);
}

int hx_output_take(hx_output *out, hx_session *s)
{
    memset(out, 0, sizeof *out);
    out->session = s;
    const int rc = take_memory(out);
    if (rc < 0) hx_output_free(out);
    return rc;
}

int hx_output_open(hx_output *out, hx_session *s)
{
    const int is_first = hx_session_is_first(s);
    /* made first, so that its permissions can be checked */
    HX_TRY(hx_session_agree(s, is_first ? hx_output_make_directory(&s->cfg) : HX_OK));
    HX_TRY(hx_output_take(out, s));
    if (is_first && hx_atomic_file_sweep(out->directory) > 0)
        hx_log_detail("%s: removed files that a killed run left incomplete", out->directory);
    return HX_OK;
}

const char *hx_output_last(const hx_output *out)
{
    return out->n_file > 0 ? out->file[out->n_file - 1] : NULL;
}

/* Removes a name from the list, if it is there. */
static void forget(hx_output *out, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < out->n_file; i++) {
        if (strcmp(out->file[i], name) == 0) {
            free(out->file[i]);
            continue;
        }
        out->file[n] = out->file[i];
        out->time[n++] = out->time[i];
    }
    out->n_file = n;
}

int hx_output_remember(hx_output *out, const char *name, int iteration)
{
    forget(out, name);
    if (out->n_file == out->file_capacity) {
        const size_t capacity = 2 * out->file_capacity + 64;
        HX_TRY(hx_resize(&out->file, out->n_file, capacity, sizeof(char *), "names of files"));
        HX_TRY(hx_resize(&out->time, out->n_file, capacity, sizeof(double), "names of files"));
        out->file_capacity = capacity;
    }
    HX_TRY(hx_strdup(&out->file[out->n_file], name));
    out->time[out->n_file++] = iteration;
    return HX_OK;
}

/* Options of a VTK file. With output.threshold, only elements of at least that density are
 * written. */
static hx_vtk_options write_options(const hx_output *out)
{
    const hx_session *s = out->session;
    const double threshold = s->cfg.output.threshold;
    hx_vtk_options options = {.format = out->format};
    if (out->dist) options.piece = &out->dist->piece;
    if (out->dist) options.comm = out->dist->writers;
    if (isnan(threshold)) return options;
    options.value = out->physical;
    options.least = threshold;
    return options;
}

/* Warns of a file without elements. Collective if the mesh is in parts. */
static int warn_empty(const hx_output *out, const char *path)
{
    const hx_session *s = out->session;
    double most = 0.0;
    for (int64_t e = 0; e < hx_output_n_elem(out); e++) most = fmax(most, out->physical[e]);
    HX_TRY(hx_reduce_max(hx_mesh_reduce(&s->mesh), 1, &most));
    hx_log_warning(
        "%s is empty: no element reaches output.threshold = %g; the largest density is %.4g", path,
        s->cfg.output.threshold, most);
    return HX_OK;
}

/* Hash of the densities in the file. */
static int hash_density(const hx_output *out, hx_hash *density)
{
    const hx_mesh *const mesh = &out->session->mesh;
    const double least = out->session->cfg.output.threshold;
    if (out->dist)
        *density = hx_mesh_piece_hash(out->dist->piece.first[HX_VTK_CELL], hx_output_n_elem(out),
                                      out->physical, least);
    else
        *density = isnan(least) ? hx_mesh_field_hash(mesh, out->physical)
                                : hx_mesh_part_hash(mesh, out->physical, least);
    return hx_output_sum_hash(out, density);
}

/* Title of the file: a description, and the hashes of mesh, settings and densities. */
static int make_title(const hx_output *out, int iteration, const hx_hash *density,
                      char title[HX_VTK_TITLE])
{
    hx_session *const s = out->session;
    const char *const own = s->cfg.title[0] ? s->cfg.title : s->mesh.name;
    hx_identity identity;
    char hashes[HX_IDENTITY_TITLE];
    HX_TRY(hx_identity_of(s, &identity));
    snprintf(title, HX_VTK_TITLE, "%.80s, hextop, iteration %d%s%s%s", own, iteration,
             s->cfg.units.system[0] ? ", units " : "", s->cfg.units.system,
             hx_identity_title(&identity, density, hashes));
    for (char *c = title; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    return HX_OK;
}

/* Fills the fields, and makes the title of the file. */
static int fill_file(hx_output *out, int iteration, char title[HX_VTK_TITLE])
{
    hx_hash density;
    HX_TRY(hx_output_fill_fields(out));
    HX_TRY(hash_density(out, &density));
    return make_title(out, iteration, &density, title);
}

static int write_piece(hx_output *out, int iteration, const char *path, int is_synced)
{
    char title[HX_VTK_TITLE];
    int64_t n_written = 0;
    hx_vtk_options options = write_options(out);
    HX_TRY(hx_session_note_error(out->session, fill_file(out, iteration, title)));
    if (!hx_output_is_writer(out)) return HX_OK;
    options.is_synced = is_synced;
    HX_TRY(hx_output_bring_mesh(out));
    const int rc =
        hx_progress_write(path, &out->session->mesh, title, &options, &out->fields, &n_written);
    hx_output_leave_mesh(out);
    HX_TRY(rc);
    return n_written == 0 ? warn_empty(out, path) : HX_OK;
}

static int write_output_file(hx_output *out, int iteration, const char *path, int is_synced)
{
    HX_IN_SPAN_OF_HOST(&out->session->device, HX_SPAN_OUTPUT, -1,
                       write_piece(out, iteration, path, is_synced));
    return HX_OK;
}

int hx_output_write_as(hx_output *out, int iteration, const char *path)
{
    return write_output_file(out, iteration, path, 0);
}

int hx_output_write(hx_output *out, int iteration, int is_synced)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "density_%04d.vtk", iteration);
    int rc =
        write_output_file(out, iteration, hx_output_path(out, name, path, sizeof path), is_synced);
    if (rc == HX_OK) rc = hx_output_remember(out, name, iteration);
    if (rc == HX_OK && hx_session_is_first(out->session))
        rc = hx_vtk_write_series(hx_output_path(out, "density.vtk.series", path, sizeof path),
                                 out->n_file, (const char *const *)out->file, out->time);
    return hx_session_agree(out->session, rc);
}

void hx_output_free(hx_output *out)
{
    hx_trace_free(out->trace);
    hx_output_dist_free(out);
    hx_fields_free(&out->fields);
    free(out->displacement);
    free(out->von_mises);
    free(out->temperature);
    free(out->heat_flux);
    free(out->scratch);
    free(out->physical);
    free(out->scalar);
    for (size_t i = 0; i < out->n_file; i++) free(out->file[i]);
    free(out->file);
    free(out->time);
    memset(out, 0, sizeof *out);
}
