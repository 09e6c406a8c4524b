#include "output.h"

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
#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "core/mesh/hex8_conduction.h"
#include "core/mesh/mesh_hash.h"
#include "progress.h"

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

/* output.directory or, as long as it does not exist, the folder that it will be made in. */
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

int hx_output_probe(const hx_config *cfg)
{
    char path[PATH_MAX];
    struct stat status;
    HX_TRY(existing_directory(cfg, path, &status));
    if (!S_ISDIR(status.st_mode)) return cannot_write(cfg, path, "it is a file, not a folder");
    if (access(path, W_OK | X_OK) != 0) return cannot_write(cfg, path, strerror(errno));
    return HX_OK;
}

int hx_output_probe_file(const char *path, const char *read)
{
    char folder[PATH_MAX];
    const char *const slash = path ? strrchr(path, '/') : NULL;
    if (!path) return HX_OK;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (access(folder, W_OK | X_OK) != 0)
        return HX_RAISE(HX_EINPUT, "cannot write '%s': %s: %s", path, folder, strerror(errno));
    if (!read || !hx_atomic_file_is(path, read)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "'%s' is the file that is read: name another to be written", path);
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

/* Memory beside the fields, counted with them; none while only planning. */
static int add_scratch(hx_output *out, double **array, size_t n, const char *what)
{
    out->fields.bytes += n * sizeof **array;
    return out->fields.planning ? HX_OK : hx_alloc_raw(array, n, sizeof **array, what);
}

static int add_heat_fields(hx_output *out)
{
    const hx_config *cfg = &out->session->cfg;
    const hx_mesh *mesh = &out->session->mesh;
    const size_t n_case = (size_t)out->session->problem.cases.n;
    char name[64];
    if (hx_config_has_field(cfg, HX_FIELD_TEMPERATURE)) {
        HX_TRY(hx_alloc(&out->temperature, n_case, sizeof(double *), "fields"));
        for (size_t c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 1,
                                 hx_fields_case_name("temperature", (int)c, name, sizeof name),
                                 &out->temperature[c]));
    }
    if (!hx_config_has_field(cfg, HX_FIELD_HEAT_FLUX)) return HX_OK;
    HX_TRY(hx_alloc(&out->heat_flux, n_case, sizeof(float *), "fields"));
    for (size_t c = 0; c < n_case; c++)
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 3,
                             hx_fields_case_name("heat_flux", (int)c, name, sizeof name),
                             &out->heat_flux[c]));
    const hx_space *space = &out->session->problem.space;
    if (out->temperature && space->element == HX_ELEMENT_LINEAR) return HX_OK; /* from the field */
    return add_scratch(out, &out->scratch, (size_t)space->n_point, "temperatures for heat fluxes");
}

static int add_fields(hx_output *out)
{
    const hx_config *cfg = &out->session->cfg;
    const hx_mesh *mesh = &out->session->mesh;
    const int n_case = out->session->problem.cases.n;
    const size_t n_elem = (size_t)mesh->n_elem;
    char name[64];
    HX_TRY(add_scratch(out, &out->physical, n_elem, "densities"));
    if (hx_config_has_field(cfg, HX_FIELD_SENSITIVITY) ||
        hx_config_has_field(cfg, HX_FIELD_ENERGY) || hx_config_has_field(cfg, HX_FIELD_VON_MISES) ||
        hx_config_has_field(cfg, HX_FIELD_HEAT_FLUX))
        HX_TRY(add_scratch(out, &out->scalar, n_elem, "fields"));
    if (hx_config_has_field(cfg, HX_FIELD_DENSITY))
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F64, 1, "density",
                             &out->density));
    if (hx_config_has_field(cfg, HX_FIELD_SENSITIVITY))
        HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "sensitivity",
                             &out->sensitivity));
    if (hx_config_has_field(cfg, HX_FIELD_ENERGY))
        HX_TRY(
            hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1, "energy", &out->energy));
    if (hx_config_has_field(cfg, HX_FIELD_DISPLACEMENT)) {
        HX_TRY(hx_alloc(&out->displacement, (size_t)n_case, sizeof(double *), "fields"));
        for (int c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_POINT, HX_VTK_F64, 3,
                                 hx_fields_case_name("displacement", c, name, sizeof name),
                                 &out->displacement[c]));
    }
    if (hx_config_has_field(cfg, HX_FIELD_VON_MISES)) {
        HX_TRY(hx_alloc(&out->von_mises, (size_t)n_case, sizeof(float *), "fields"));
        for (int c = 0; c < n_case; c++)
            HX_TRY(hx_fields_add(&out->fields, mesh, HX_VTK_CELL, HX_VTK_F32, 1,
                                 hx_fields_case_name("von_mises", c, name, sizeof name),
                                 &out->von_mises[c]));
        const hx_space *space = &out->session->problem.space;
        if (!hx_config_has_field(cfg, HX_FIELD_DISPLACEMENT) || /* else from the field */
            space->element != HX_ELEMENT_LINEAR)
            HX_TRY(add_scratch(out, &out->scratch, 3 * (size_t)space->n_point,
                               "displacements for stresses"));
    }
    HX_TRY(add_heat_fields(out));
    if (hx_config_has_field(cfg, HX_FIELD_SETS)) HX_TRY(hx_fields_add_sets(&out->fields, mesh));
    return HX_OK;
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
    HX_TRY_FAIL(add_fields(&out));
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

int hx_output_take(hx_output *out, hx_session *s)
{
    memset(out, 0, sizeof *out);
    out->session = s;
    out->directory = s->cfg.output.directory;
    out->format = s->cfg.output.format;
    const int rc = add_fields(out);
    if (rc < 0) hx_output_free(out);
    return rc;
}

int hx_output_open(hx_output *out, hx_session *s)
{
    HX_TRY(hx_output_take(out, s));
    const int rc = hx_output_make_directory(&s->cfg);
    if (rc < 0) hx_output_free(out);
    if (rc == HX_OK && hx_atomic_file_sweep(out->directory) > 0)
        hx_log_detail("%s: removed what a run that was killed left half written", out->directory);
    return rc;
}

/* h[i][k] = du_i / dx_k at the centre of a quadratic cell or of a span, u[n_point][components]. */
static void point_gradient(const hx_problem *problem, int64_t cell, const double *u, double h[3][3])
{
    const hx_space *space = &problem->space;
    if (space->element == HX_ELEMENT_SPLINE) {
        const double middle[3] = {0.5, 0.5, 0.5};
        hx_space_spline_gradient(space, cell, middle, problem->components, u, h);
        return;
    }
    const hx_cell_rule *rule = &space->rule[space->kind[cell]];
    double j[3][3] = {{0.0}}, du[3][3] = {{0.0}};
    const int c = problem->components;
    int n;
    const int32_t *const point = hx_space_points(space, cell, &n);
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                j[k][i] += rule->centre[k][a] * space->xyz[3 * (int64_t)point[a] + i];
                if (i < c) du[i][k] += rule->centre[k][a] * u[c * (int64_t)point[a] + i];
            }
    hx_cell_displacement_gradient(j, du, h);
}

static double point_stress(const hx_problem *problem, int64_t cell, const double *u)
{
    double h[3][3];
    point_gradient(problem, cell, u, h);
    return hx_hex8_stress_of(h, problem->lambda, problem->mu);
}

void hx_output_von_mises(const hx_problem *problem, const double *modulus, const double *u,
                         float *stress)
{
    const hx_mesh *mesh = problem->mesh;
    if (problem->space.element != HX_ELEMENT_LINEAR) {
#pragma omp parallel for schedule(static)
        for (int64_t e = 0; e < mesh->n_elem; e++)
            stress[e] = (float)(modulus[e] * point_stress(problem, e, u));
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *const conn = mesh->conn + 8 * e;
        double x[24], ue[24], middle[3];
        hx_cell_middle(conn, middle);
        for (size_t a = 0; a < 8; a++) {
            const size_t node = (size_t)conn[a];
            memcpy(x + 3 * a, mesh->xyz + 3 * node, 3 * sizeof *x);
            memcpy(ue + 3 * a, u + 3 * node, 3 * sizeof *ue);
        }
        stress[e] =
            (float)(modulus[e] * hx_hex8_von_mises(x, ue, problem->lambda, problem->mu, middle));
    }
}

void hx_output_heat_flux(const hx_session *s, const double *conductivity, const double *temperature,
                         float *flux)
{
    const hx_mesh *mesh = &s->mesh;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int32_t *conn = mesh->conn + 8 * e;
        double x[24], t[8], h[3][3], *const gradient = h[0], middle[3];
        if (s->space.element != HX_ELEMENT_LINEAR) {
            point_gradient(&s->problem, e, temperature, h);
        } else {
            hx_cell_middle(conn, middle);
            for (int a = 0; a < 8; a++) {
                memcpy(x + 3 * a, mesh->xyz + 3 * (int64_t)conn[a], 3 * sizeof *x);
                t[a] = temperature[conn[a]];
            }
            hx_hex8_temperature_gradient(x, t, middle[0], middle[1], middle[2], gradient);
        }
        for (int i = 0; i < 3; i++) flux[3 * e + i] = (float)(-conductivity[e] * gradient[i]);
    }
}

static void to_single(int64_t n, const double *from, float *to)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t e = 0; e < n; e++) to[e] = (float)from[e];
}

/* Temperatures are computed from the problem's reference. */
static int fill_heat_fields(hx_output *out)
{
    hx_session *s = out->session;
    const double reference = s->problem.reference;
    if (out->heat_flux) HX_TRY(hx_analysis_modulus(&s->analysis, out->scalar));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double *const t = out->temperature ? out->temperature[c] : NULL, *all = t;
        if (t) HX_TRY(hx_analysis_displacement(&s->analysis, c, t));
        for (int64_t i = 0; t && i < s->mesh.n_node; i++) t[i] += reference;
        if (!out->heat_flux) continue;
        if (out->scratch) HX_TRY(hx_analysis_point_displacement(&s->analysis, c, out->scratch));
        for (int64_t i = 0; out->scratch && i < s->space.n_point; i++) out->scratch[i] += reference;
        if (out->scratch) all = out->scratch;
        hx_output_heat_flux(s, out->scalar, all, out->heat_flux[c]);
    }
    return HX_OK;
}

static int fill_fields(hx_output *out)
{
    hx_session *s = out->session;
    hx_optimizer *opt = &s->opt;
    const int64_t n = s->mesh.n_elem;
    if (out->density) memcpy(out->density, out->physical, (size_t)n * sizeof *out->density);
    if (out->sensitivity) {
        HX_TRY(hx_optimizer_sensitivity(opt, out->scalar));
        to_single(n, out->scalar, out->sensitivity);
    }
    if (out->energy) {
        HX_TRY(hx_optimizer_energy(opt, out->scalar));
        to_single(n, out->scalar, out->energy);
    }
    if (hx_config_is_heat(&s->cfg)) return fill_heat_fields(out);
    if (out->von_mises) HX_TRY(hx_analysis_modulus(&s->analysis, out->scalar));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double *u = out->displacement ? out->displacement[c] : NULL;
        if (u) HX_TRY(hx_analysis_displacement(&s->analysis, c, u));
        if (out->scratch) HX_TRY(hx_analysis_point_displacement(&s->analysis, c, out->scratch));
        if (out->scratch) u = out->scratch;
        if (out->von_mises) hx_output_von_mises(&s->problem, out->scalar, u, out->von_mises[c]);
    }
    return HX_OK;
}

const char *hx_output_path(const hx_output *out, const char *name, char *text, size_t n_text)
{
    const size_t n = strlen(out->directory);
    snprintf(text, n_text, "%s%s%s", out->directory, n && out->directory[n - 1] == '/' ? "" : "/",
             name);
    return text;
}

void hx_output_forget(const hx_output *out)
{
    static const char *const name[] = {"summary.json", "density.vtk.series"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        hx_atomic_file_remove(hx_output_path(out, name[i], path, sizeof path));
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

/* With output.threshold: the elements that are dense enough. */
static hx_vtk_options write_options(const hx_output *out)
{
    const hx_session *s = out->session;
    const double threshold = s->cfg.output.threshold;
    hx_vtk_options options = {.format = out->format};
    if (isnan(threshold)) return options;
    options.value = out->physical;
    options.least = threshold;
    return options;
}

static void warn_empty(const hx_output *out, const char *path)
{
    const hx_session *s = out->session;
    double most = 0.0;
    for (int64_t e = 0; e < s->mesh.n_elem; e++) most = fmax(most, out->physical[e]);
    hx_log_warning("%s is empty: no element has a density of output.threshold = %g, the largest is "
                   "%.4g",
                   path, s->cfg.output.threshold, most);
}

/* What the file is, in words, and by the hashes of mesh, settings and the densities in it. */
static int make_title(const hx_output *out, int iteration, char title[HX_VTK_TITLE])
{
    hx_session *const s = out->session;
    const double least = s->cfg.output.threshold;
    const char *const own = s->cfg.title[0] ? s->cfg.title : s->mesh.name;
    hx_identity identity;
    char hashes[HX_IDENTITY_TITLE];
    HX_TRY(hx_identity_of(s, &identity));
    const hx_hash density = isnan(least) ? hx_mesh_field_hash(&s->mesh, out->physical)
                                         : hx_mesh_part_hash(&s->mesh, out->physical, least);
    snprintf(title, HX_VTK_TITLE, "%.80s, hextop, iteration %d%s%s%s", own, iteration,
             s->cfg.units.system[0] ? ", units " : "", s->cfg.units.system,
             hx_identity_title(&identity, &density, hashes));
    for (char *c = title; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    return HX_OK;
}

static int write_file(hx_output *out, int iteration, const char *path, int is_synced)
{
    const hx_session *s = out->session;
    hx_vtk_options options = write_options(out);
    options.is_synced = is_synced;
    int64_t n_written = 0;
    char title[HX_VTK_TITLE];
    HX_TRY(hx_optimizer_density(&s->opt, out->physical));
    HX_TRY(make_title(out, iteration, title));
    HX_TRY(fill_fields(out));
    HX_TRY(hx_progress_write(path, &s->mesh, title, &options, &out->fields, &n_written));
    if (n_written == 0) warn_empty(out, path);
    return HX_OK;
}

int hx_output_write_as(hx_output *out, int iteration, const char *path)
{
    return write_file(out, iteration, path, 0);
}

int hx_output_write(hx_output *out, int iteration, int is_synced)
{
    char path[PATH_MAX], name[64];
    snprintf(name, sizeof name, "density_%04d.vtk", iteration);
    HX_TRY(write_file(out, iteration, hx_output_path(out, name, path, sizeof path), is_synced));
    HX_TRY(hx_output_remember(out, name, iteration));
    return hx_vtk_write_series(hx_output_path(out, "density.vtk.series", path, sizeof path),
                               out->n_file, (const char *const *)out->file, out->time);
}

void hx_output_free(hx_output *out)
{
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
