#include "output_dist.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "../session/identity.h"
#include "../text/log.h"
#include "core/base/atomic_file.h"
#include "core/base/grow.h"
#include "core/base/links.h"
#include "core/base/memory.h"
#include "core/comm/comm_file.h"
#include "core/device/timeline.h"
#include "core/mesh/mesh_hash.h"
#include "progress.h"
#include "trace.h"

static int cannot_write(const hx_config *cfg, const char *path, const char *why)
{
    const int rc =
        HX_RAISE(HX_EENV, "cannot write to '%s': %s; name a folder that can be created or written",
                 path, why);
    if (!cfg->output_option) return hx_config_blame(cfg, "output.directory", rc);
    hx_error_prefix("%s: ", cfg->output_option);
    return rc;
}

/* Cuts the last part of a path; "." when nothing is left. */
static void to_parent(char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    while (n > 0 && path[n - 1] != '/') n--;
    while (n > 1 && path[n - 1] == '/') n--;
    if (n == 0)
        strcpy(path, ".");
    else
        path[n] = '\0';
}

/* output.directory, or the existing folder in which it will be created. */
static int existing_directory(const hx_config *cfg, char path[PATH_MAX], struct stat *status)
{
    const char *directory = cfg->output.directory;
    if (strlen(directory) + 64 >= PATH_MAX)
        return cannot_write(cfg, directory, "the name is too long");
    snprintf(path, PATH_MAX, "%s", directory);
    while (stat(path, status) != 0) {
        if (errno != ENOENT || strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
            return cannot_write(cfg, directory, strerror(errno));
        to_parent(path);
    }
    return HX_OK;
}

/* 1 for the name of a file that a run or `hextop compare` writes. */
static int is_output(const char *name)
{
    static const char *const own[] = {
        "config.cfg",         "history.csv", "run.log",          "summary.json",
        "density.vtk.series", HX_TRACE_FILE, "checkpoint.state", "checkpoint.previous.state"};
    static const char *const numbered[] = {"density_", "unfinished_"}, compare[] = "compare";
    if (strncmp(name, compare, strlen(compare)) == 0) return 1;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0) return 1;
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        const size_t n = strlen(numbered[i]);
        if (strncmp(name, numbered[i], n) != 0) continue;
        if (strcmp(name + n + strspn(name + n, "0123456789"), ".vtk") == 0) return 1;
    }
    return 0;
}

/* HX_EENV: a link of another user has the name of a file that the run writes. */
static int check_links(const char *directory)
{
    char path[PATH_MAX];
    int rc = HX_OK;
    DIR *const dir = opendir(directory);
    for (const struct dirent *entry; dir && rc == HX_OK && (entry = readdir(dir));) {
        if (!is_output(entry->d_name)) continue;
        if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < (int)sizeof path)
            rc = hx_link_check_way(path);
    }
    if (dir) closedir(dir);
    return rc;
}

int hx_output_probe(const hx_config *cfg)
{
    char path[PATH_MAX];
    struct stat status;
    HX_TRY(existing_directory(cfg, path, &status));
    if (!S_ISDIR(status.st_mode)) return cannot_write(cfg, path, "it is a file, not a folder");
    if (access(path, W_OK | X_OK) != 0) return cannot_write(cfg, path, strerror(errno));
    int rc = hx_link_check_way(cfg->output.directory);
    if (rc == HX_OK) rc = check_links(cfg->output.directory);
    return rc < 0 ? hx_config_blame(cfg, "output.directory", rc) : HX_OK;
}

int hx_output_query_folder(hx_session *s)
{
    char path[PATH_MAX];
    struct stat status;
    int is_shared, found;
    if (!s->comm) return HX_OK;
    found = existing_directory(&s->cfg, path, &status) == HX_OK; /* a follower need not have it */
    if (!found) hx_error_clear();
    HX_TRY(hx_comm_shares_folder(s->comm, found ? path : "", &is_shared));
    s->own_folders = !is_shared;
    return HX_OK;
}

/* mkdir -p */
static int make_directory(const hx_config *cfg)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", cfg->output.directory);
    for (char *c = path + 1;; c++) {
        if (*c != '/' && *c != '\0') continue;
        const char kept = *c;
        *c = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return cannot_write(cfg, path, strerror(errno));
        *c = kept;
        if (kept == '\0') return HX_OK;
    }
}

/* Writes and removes a small file. */
static int test_write(const hx_config *cfg)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.hextop.%ld", cfg->output.directory, (long)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) return cannot_write(cfg, cfg->output.directory, strerror(errno));
    const int failed = write(fd, "\n", 1) != 1 || close(fd) != 0 ? errno : 0;
    unlink(path);
    return failed ? cannot_write(cfg, cfg->output.directory, strerror(failed)) : HX_OK;
}

int hx_output_make_directory(const hx_config *cfg)
{
    HX_TRY(make_directory(cfg));
    return test_write(cfg);
}

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
    HX_TRY_FAIL(existing_directory(cfg, path, &status));
    if (statvfs(path, &disk) == 0)
        plan->disk_free = (uint64_t)disk.f_bavail * (uint64_t)disk.f_frsize;
fail:
    hx_output_free(&out);
    return rc;
}

int hx_output_take_local(hx_output *out)
{
    const hx_config *const cfg = &out->session->cfg;
    int rc;
    HX_TRY(hx_output_judge(out, hx_output_dist_create(out, &rc)));
    out->directory = cfg->output.directory;
    out->format = cfg->output.format;
    if (rc == HX_OK) rc = hx_output_add_fields(out);
    if (!out->dist) out->whole = out->physical;
    return hx_output_agree(out, rc);
}

int hx_output_take(hx_output *out, hx_session *s)
{
    memset(out, 0, sizeof *out);
    out->session = s;
    HX_TRY(hx_output_broadcast(out, HX_OUTPUT_TAKE));
    const int rc = hx_output_take_local(out);
    if (rc < 0) hx_output_free(out);
    return rc;
}

int hx_output_open(hx_output *out, hx_session *s)
{
    HX_TRY(hx_output_make_directory(&s->cfg)); /* first, so that its permissions can be checked */
    HX_TRY(hx_output_take(out, s));
    if (hx_atomic_file_sweep(out->directory) > 0)
        hx_log_detail("%s: removed files that a killed run left incomplete", out->directory);
    return HX_OK;
}

const char *hx_output_path(const hx_output *out, const char *name, char *text, size_t n_text)
{
    const size_t n = strlen(out->directory);
    snprintf(text, n_text, "%s%s%s", out->directory, n && out->directory[n - 1] == '/' ? "" : "/",
             name);
    return text;
}

int hx_output_reset(const hx_output *out)
{
    static const char *const written[] = {"summary.json", "density.vtk.series"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++)
        HX_TRY(hx_atomic_file_empty(hx_output_path(out, written[i], path, sizeof path), "{}\n"));
    hx_output_path(out, HX_TRACE_FILE, path, sizeof path);
    if (out->session->cfg.output.timeline) return hx_atomic_file_empty(path, "{}\n");
    hx_atomic_file_remove(path);
    return HX_OK;
}

const char *hx_output_last(const hx_output *out)
{
    return out->n_file > 0 ? out->file[out->n_file - 1] : NULL;
}

int hx_output_remember(hx_output *out, const char *name, int iteration)
{
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

/* Options of a VTK file; with output.threshold the elements that are dense enough. */
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

/* Data that all processes need to write a file, sent by the root. */
typedef struct file_order {
    int32_t is_synced;
    char path[PATH_MAX], title[HX_VTK_TITLE];
} file_order;

/* Fills the fields and writes the file. */
static int make_file(hx_output *out, int iteration, const char *path, int is_synced,
                     file_order *order)
{
    hx_hash density;
    memset(order, 0, sizeof *order);
    HX_TRY(hx_output_fill_fields(out));
    HX_TRY(hash_density(out, &density));
    if (path) {
        order->is_synced = is_synced;
        snprintf(order->path, sizeof order->path, "%s", path);
        HX_TRY(make_title(out, iteration, &density, order->title));
    }
    return hx_output_spread(out, order, sizeof *order);
}

static int write_local_fields(hx_output *out, int iteration, const char *path, int is_synced)
{
    file_order order;
    int64_t n_written = 0;
    hx_vtk_options options = write_options(out);
    HX_TRY(hx_output_judge(out, make_file(out, iteration, path, is_synced, &order)));
    if (!hx_output_is_writer(out)) return HX_OK;
    options.is_synced = order.is_synced;
    HX_TRY(hx_output_bring_mesh(out));
    const int rc = hx_progress_write(order.path, &out->session->mesh, order.title, &options,
                                     &out->fields, &n_written);
    hx_output_leave_mesh(out);
    HX_TRY(rc);
    return n_written == 0 ? warn_empty(out, order.path) : HX_OK;
}

int hx_output_write_local(hx_output *out, int iteration, const char *path, int is_synced)
{
    HX_IN_SPAN_OF_HOST(&out->session->device, HX_SPAN_OUTPUT, -1,
                       write_local_fields(out, iteration, path, is_synced));
    return HX_OK;
}

static int write_output_file(hx_output *out, int iteration, const char *path, int is_synced)
{
    HX_TRY(hx_output_broadcast(out, HX_OUTPUT_WRITE));
    return hx_output_write_local(out, iteration, path, is_synced);
}

int hx_output_write_as(hx_output *out, int iteration, const char *path)
{
    return write_output_file(out, iteration, path, 0);
}

int hx_output_write(hx_output *out, int iteration, int is_synced)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "density_%04d.vtk", iteration);
    HX_TRY(
        write_output_file(out, iteration, hx_output_path(out, name, path, sizeof path), is_synced));
    HX_TRY(hx_output_remember(out, name, iteration));
    return hx_vtk_write_series(hx_output_path(out, "density.vtk.series", path, sizeof path),
                               out->n_file, (const char *const *)out->file, out->time);
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
