/* CAD models: from the file to a mesh that is kept. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/clock.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/quantile.h"
#include "../files/gmsh.h"
#include "../files/mesh_files.h"
#include "../mesh/mesh_quality.h"
#include "cad_halves.h"

/* --- the formats --- */

static int is_step(const char *head)
{
    return strncmp(head + strspn(head, " \t\r\n"), "ISO-10303-21", 12) == 0;
}

static int is_brep(const char *head)
{
    return strstr(head, "CASCADE Topology V") || strncmp(head, "DBRep_DrawableShape", 19) == 0;
}

/* In a line of 80 characters, the last columns hold a letter for the section and a number. */
static int is_iges(const char *head)
{
    return strcspn(head, "\r\n") >= 73 && (head[72] == 'S' || head[72] == 'G') &&
           strspn(head + 73, " 0123456789") > 0;
}

static int read_cad(const char *path, const hx_model_options *given, hx_mesh *mesh,
                    hx_conditions *conditions, hx_notes *notes);

/* A file whose first bytes do not match its name is refused by read_cad with the reason. */
const hx_model_format hx_cad_formats[] = {
    {"STEP", ".step", is_step, read_cad}, {"STEP", ".stp", is_step, read_cad},
    {"IGES", ".iges", is_iges, read_cad}, {"IGES", ".igs", is_iges, read_cad},
    {"BREP", ".brep", is_brep, read_cad}, {"STEP", ".step", NULL, read_cad},
    {"STEP", ".stp", NULL, read_cad},     {"IGES", ".iges", NULL, read_cad},
    {"IGES", ".igs", NULL, read_cad},     {"BREP", ".brep", NULL, read_cad},
    {"STL", ".stl", NULL, read_cad},      {NULL},
};

/* Returns HX_EINPUT: no such file, or its beginning does not match its name. */
static int check_file(const char *path, const char **name)
{
    char head[513];
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    const size_t n = fread(head, 1, sizeof head - 1, f);
    fclose(f);
    head[n] = '\0';
    if (n == 0) return HX_RAISE(HX_EINPUT, "%s: the file is empty", path);
    for (const hx_model_format *format = hx_cad_formats; format->name; format++) {
        if (!format->is_head || !format->is_head(head)) continue;
        *name = format->name;
        return HX_OK;
    }
    const hx_model_format *const format = hx_model_format_of_file(path);
    if (format && strcmp(format->name, "STL") == 0) { /* hx_stl_read checks it */
        *name = format->name;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "%s: not a %s file: %s", path, format ? format->name : "CAD",
                    format && strcmp(format->name, "STEP") == 0
                        ? "it does not begin with ISO-10303-21"
                        : "it has other first lines");
}

/* --- the model --- */

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Links the model to a plain name in the scratch folder. */
static int link_model(const hx_cad_job *job, const char *format, char name[16])
{
    char *to = NULL;
    char *const from = realpath(job->path, NULL);
    snprintf(name, 16, "model.%s",
             strcmp(format, "STEP") == 0   ? "step"
             : strcmp(format, "IGES") == 0 ? "iges"
                                           : "brep");
    int rc = hx_scratch_path(job->folder, name, &to);
    if (rc == HX_OK && (!from || symlink(from, to) != 0))
        rc = HX_RAISE(HX_EIO, "%s: cannot link it: %s", job->path, strerror(errno));
    free(from);
    free(to);
    return rc;
}

static int note_shape(const hx_cad_job *job, const hx_cad_shape *shape)
{
    if (shape->is_healed)
        HX_TRY(
            hx_notes_add(job->notes, HX_NOTE_WARNING,
                         "%s: had no readable solid; its faces were sewn and small ones repaired",
                         base_name(job->path)));
    if ((int64_t)shape->n_source != shape->n_solid)
        return hx_notes_add(job->notes, HX_NOTE_WARNING,
                            "%s: %zu %s overlap: cutting them along each other gives %lld",
                            base_name(job->path), shape->n_source,
                            hx_noun(shape->n_source, "solid", "solids"), (long long)shape->n_solid);
    return HX_OK;
}

/* Notes the unit, the bounding box and the units of the config's numbers, in one line. */
static int note_units(const hx_cad_job *job, const char *format, const hx_mesh *mesh)
{
    char unit[HX_CAD_UNIT], drawn[128] = "";
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const char *const units = job->options->units;
    HX_TRY(hx_cad_unit(job->path, unit));
    if (unit[0])
        snprintf(drawn, sizeof drawn, ", drawn in %s%s", unit,
                 strcmp(unit, "mm") == 0 ? "" : ", read as mm");
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->xyz[i]);
        high[i % 3] = fmax(high[i % 3], mesh->xyz[i]);
    }
    return hx_notes_add(job->notes, HX_NOTE_INFO,
                        "%s: %s%s; box %.6g to %.6g, %.6g to %.6g, %.6g to %.6g%s; %s%s%s",
                        base_name(job->path), format, drawn, low[0], high[0], low[1], high[1],
                        low[2], high[2], unit[0] ? " mm" : ", the file has no unit",
                        units && units[0] ? "units = \"" : "no units",
                        units && units[0] ? units : " stated", units && units[0] ? "\"" : "");
}

/* HX_ENOMEM or HX_EINPUT: the mesh would be too large, estimated from volume and surface. */
static int check_count(const hx_cad_job *job, const hx_cad_shape *shape, double size)
{
    enum { BYTES_PER_TET = 900 }; /* memory that gmsh needs, approximately; hextop needs less */
    char needed[32], free_text[32];
    const double count = hx_cad_count(shape, size);
    const double available = (double)hx_host_memory_available();
    if (count < 1.0)
        return HX_RAISE(HX_EINPUT,
                        "%s: element_size = %g is larger than the part; %.3g gives about %d",
                        job->path, size, hx_cad_size(shape, HX_CAD_TETS), HX_CAD_TETS);
    if (count > (double)HX_MAX_ELEM)
        return HX_RAISE(HX_EINPUT,
                        "%s: element_size = %g would give about %.2g tetrahedra, but at most %.2g "
                        "are possible; %.3g gives about %d",
                        job->path, size, count, (double)HX_MAX_ELEM,
                        hx_cad_size(shape, HX_CAD_TETS), HX_CAD_TETS);
    if (available > 0.0 && BYTES_PER_TET * count > available)
        return HX_RAISE(HX_ENOMEM,
                        "%s: element_size = %g would give about %.2g tetrahedra, for which gmsh "
                        "needs about %s, but %s are free; %.3g gives about %d",
                        job->path, size, count,
                        hx_format_bytes(BYTES_PER_TET * count, needed, sizeof needed),
                        hx_format_bytes(available, free_text, sizeof free_text),
                        hx_cad_size(shape, HX_CAD_TETS), HX_CAD_TETS);
    return HX_OK;
}

/* An automatic size is corrected once if curvature produced far more elements, or thin walls far
 * fewer. */
static int mesh_shape(const hx_cad_job *job, const hx_cad_shape *shape, double *size, hx_mesh *mesh)
{
    enum { MOST_TRIES = 3 };
    const int is_chosen = !(job->options->element_size > 0.0);
    *size = is_chosen ? hx_cad_size(shape, HX_CAD_TETS) : job->options->element_size;
    for (int i = 0;; i++) {
        HX_TRY(check_count(job, shape, *size));
        HX_TRY(shape->stl ? hx_cad_mesh_stl(job, shape, *size, mesh)
                          : hx_cad_mesh(job, shape, *size, mesh));
        const double share = (double)mesh->n_elem / HX_CAD_TETS;
        if (!is_chosen || i + 1 == MOST_TRIES || (share > 0.6 && share < 1.6)) return HX_OK;
        hx_mesh_free(mesh);
        *size = hx_cad_round_size(*size * pow(share, 1.0 / 2.4));
    }
}

static int note_quality(const char *path, const hx_cad_facts *facts, hx_notes *notes)
{
    if (facts->worst >= 0.05) return HX_OK;
    return hx_notes_add(notes, HX_NOTE_WARNING,
                        "%s: worst scaled Jacobian %.3f: there are walls thinner than the "
                        "elements, or tiny faces; a smaller mesh.element_size usually helps",
                        base_name(path), facts->worst);
}

static int note_mesh(const hx_cad_job *job, const hx_cad_shape *shape, const hx_cad_facts *facts,
                     double seconds)
{
    char chosen[48] = "";
    if (!(job->options->element_size > 0.0))
        snprintf(chosen, sizeof chosen, ", chosen for about %d", HX_CAD_TETS);
    HX_TRY(hx_notes_add(
        job->notes, HX_NOTE_INFO,
        "%s: %lld solid%s%s, %lld %s; gmsh %s: %lld %s in %.1f s, element size %.4g%s; scaled "
        "Jacobian %.3f at worst, median %.3f",
        base_name(job->path), (long long)facts->n_solid, facts->n_solid == 1 ? "" : "s",
        facts->n_solid > 1 ? ", meshed with common nodes where they touch" : "",
        (long long)facts->n_face, hx_noun(facts->n_face, "face", "faces"), job->program->version,
        (long long)facts->n_elem, hx_noun(facts->n_elem, "tetrahedron", "tetrahedra"), seconds,
        facts->element_size, chosen, facts->worst, facts->median));
    if (shape->n_label > 0 && shape->n_label != shape->n_source)
        HX_TRY(hx_notes_add(job->notes, HX_NOTE_DETAIL, "%s: %zu %s for %zu %s are left out",
                            base_name(job->path), shape->n_label,
                            hx_noun(shape->n_label, "name", "names"), shape->n_source,
                            hx_noun(shape->n_source, "solid", "solids")));
    return note_quality(job->path, facts, job->notes);
}

/* Fills facts->mirror and *halves, if the model is to be mirrored and can be. */
static int find_halves(const hx_cad_job *job, const hx_cad_shape *shape, hx_cad_halves *halves,
                       hx_cad_facts *facts)
{
    const hx_mirror_mode mode = job->options->mirrored;
    if (mode == HX_MIRROR_OFF || (mode == HX_MIRROR_TRY && shape->stl)) return HX_OK;
    facts->is_uneven = shape->stl != NULL;
    if (facts->is_uneven)
        return HX_RAISE(HX_EINPUT,
                        "%s: mirrored applies to STEP, IGES and BREP models; the triangles of an "
                        "STL file are not cut",
                        job->path);
    const int rc = hx_cad_find_halves(job, shape, halves);
    if (rc == HX_EINPUT && mode == HX_MIRROR_TRY) {
        HX_TRY(hx_notes_add(job->notes, HX_NOTE_DETAIL, "%s", hx_error_message()));
        hx_error_clear();
        return HX_OK;
    }
    facts->is_uneven = halves->is_uneven;
    HX_TRY(rc);
    facts->n_mirror = halves->n_plane;
    memcpy(facts->mirror, halves->plane, sizeof facts->mirror);
    return HX_OK;
}

static int note_mirrors(const char *path, const hx_cad_facts *facts, hx_notes *notes)
{
    char planes[512] = "";
    if (facts->n_mirror == 0) return HX_OK;
    for (int p = 0; p < facts->n_mirror; p++) {
        const double *const x = facts->mirror[p].point, *const n = facts->mirror[p].normal;
        const size_t at = strlen(planes);
        snprintf(planes + at, sizeof planes - at, "%spoint %g %g %g, normal %g %g %g",
                 p > 0 ? "; " : "", x[0], x[1], x[2], n[0], n[1], n[2]);
    }
    return hx_notes_add(notes, HX_NOTE_INFO,
                        "%s: mirrored: 1/%d of it is meshed, and every element has its image at %s",
                        base_name(path), 1 << facts->n_mirror, planes);
}

/* Makes the Gmsh mesh file `made` in the scratch folder. */
static int make_cad_mesh(const hx_cad_job *given, const char *format, const char *made,
                         hx_cad_facts *facts)
{
    hx_cad_job mirrored = *given, *const job = &mirrored;
    hx_cad_halves halves = {0};
    char name[16];
    hx_mesh mesh = {0};
    hx_cad_shape shape = {0};
    const double begin = hx_clock();
    const int is_stl = strcmp(format, "STL") == 0;
    int rc = is_stl ? hx_cad_inspect_stl(job, &shape) : link_model(job, format, name);
    if (rc == HX_OK && !is_stl) rc = hx_cad_inspect(job, name, &shape);
    HX_TRY_FAIL(rc);
    HX_TRY_FAIL(note_shape(job, &shape));
    rc = find_halves(job, &shape, &halves, facts);
    HX_TRY_FAIL(rc);
    job->halves = facts->n_mirror > 0 ? &halves : NULL;
    rc = mesh_shape(job, &shape, &facts->element_size, &mesh);
    if (rc == HX_EINPUT && job->halves && job->options->mirrored == HX_MIRROR_TRY) {
        HX_TRY_FAIL(hx_notes_add(job->notes, HX_NOTE_INFO, "%s; meshed as a whole instead",
                                 hx_error_message()));
        hx_error_clear();
        facts->n_mirror = 0;
        job->halves = NULL;
        rc = mesh_shape(job, &shape, &facts->element_size, &mesh);
    }
    HX_TRY_FAIL(rc);
    if (strcmp(format, "STEP") == 0)
        HX_TRY_FAIL(job->halves ? hx_cad_add_mirrored_names(job, &shape, &mesh)
                                : hx_cad_add_names(job, &mesh));
    HX_TRY_FAIL(hx_mesh_finish(&mesh));
    double *value = NULL;
    HX_TRY_FAIL(hx_alloc_raw(&value, (size_t)mesh.n_elem, sizeof *value, "qualities"));
    for (int64_t e = 0; e < mesh.n_elem; e++) value[e] = hx_mesh_scaled_jacobian(&mesh, e);
    hx_sort_values(value, (size_t)mesh.n_elem);
    facts->worst = value[0];
    facts->median = hx_quantile(value, (size_t)mesh.n_elem, 0.5);
    facts->n_elem = mesh.n_elem;
    free(value);
    facts->n_solid = shape.n_solid;
    facts->n_face = shape.n_face;
    facts->volume = shape.volume;
    HX_TRY_FAIL(hx_gmsh_write(made, &mesh, 0));
    HX_TRY_FAIL(note_mesh(job, &shape, facts, hx_clock() - begin));
    HX_TRY_FAIL(note_mirrors(job->path, facts, job->notes));
fail:
    hx_mesh_free(&mesh);
    hx_cad_halves_free(&halves);
    hx_cad_shape_free(&shape);
    return rc;
}

/* Reads the mesh file, and puts the model's name into the mesh. */
static int read_made(const char *path, const char *made, hx_mesh *mesh)
{
    /* merge = 0: coincident nodes belong to solids that gmsh keeps separate. */
    HX_TRY(hx_mesh_read(made, 0.0, mesh, NULL, NULL));
    free(mesh->name);
    mesh->name = NULL;
    return hx_strdup(&mesh->name, base_name(path));
}

/* Keeps the mesh file if requested and possible, and reads it. */
static int finish(const hx_cad_job *job, const char *made, const hx_cad_record *record,
                  hx_mesh *mesh)
{
    const char *const keep = job->options->keep;
    if (keep && hx_cad_keep(keep, made, record) < 0)
        HX_TRY(hx_notes_add(job->notes, HX_NOTE_WARNING,
                            "the mesh is not kept, and will be made again next time: %s",
                            hx_error_message()));
    else if (keep)
        HX_TRY(hx_notes_add(job->notes, HX_NOTE_DETAIL, "%s: kept", keep));
    return read_made(job->path, made, mesh);
}

/* Keys of the mesh with that size (0: automatic). */
typedef struct cad_keys {
    uint64_t whole, mirrored;
} cad_keys;

static int make_keys(const char *path, double size, const hx_model_options *options, cad_keys *key)
{
    HX_TRY(hx_cad_key(path, size, NULL, &key->whole));
    key->mirrored = key->whole;
    return options->mirrored == HX_MIRROR_OFF ? HX_OK
                                              : hx_cad_key(path, size, options, &key->mirrored);
}

static uint64_t choose_key(const cad_keys *key, const hx_cad_record *record)
{
    return record->facts.n_mirror > 0 ? key->mirrored : key->whole;
}

static int make_and_read(const hx_cad_job *job, const char *format, const cad_keys *key,
                         hx_cad_record *record, hx_mesh *mesh)
{
    char *made = NULL;
    cad_keys sized = *key;
    const int is_chosen = !(job->options->element_size > 0.0);
    record->is_tried = job->options->mirrored != HX_MIRROR_OFF;
    record->is_stated = job->options->n_plane > 0;
    HX_TRY(hx_scratch_path(job->folder, "made.msh", &made));
    int rc = make_cad_mesh(job, format, made, &record->facts);
    if (rc == HX_OK && is_chosen)
        rc = make_keys(job->path, record->facts.element_size, job->options, &sized);
    record->key = choose_key(&sized, record);
    record->key_auto = is_chosen ? choose_key(key, record) : 0;
    snprintf(record->version, sizeof record->version, "%s", job->program->version);
    snprintf(record->model, sizeof record->model, "%.127s", base_name(job->path));
    if (rc == HX_OK) rc = finish(job, made, record, mesh);
    free(made);
    return rc;
}

/* Reads a kept mesh. Returns HX_OK with a filled mesh, or with mesh->conn = NULL if no mesh is kept
 * there or another version of gmsh made it. */
static int read_kept(const hx_cad_job *job, const char *keep, const cad_keys *key,
                     hx_cad_record *record, hx_mesh *mesh)
{
    const hx_cad_facts *const facts = &record->facts;
    if (mesh->conn || !keep) return HX_OK;
    if (!hx_cad_is_kept(keep, key->mirrored, record) &&
        !(job->options->mirrored == HX_MIRROR_TRY && hx_cad_is_kept(keep, key->whole, record) &&
          record->is_tried)) {
        memset(record, 0, sizeof *record);
        return HX_OK;
    }
    if (job->program->path && strcmp(job->program->version, record->version) != 0) return HX_OK;
    if (read_made(job->path, keep, mesh) < 0) {
        hx_mesh_free(mesh);
        return HX_OK;
    }
    HX_TRY(hx_notes_add(job->notes, HX_NOTE_INFO,
                        "%s: %lld solid%s, %lld %s; the mesh kept as %s: %lld %s, element size "
                        "%.4g; scaled Jacobian %.3f at worst, median %.3f",
                        base_name(job->path), (long long)facts->n_solid,
                        facts->n_solid == 1 ? "" : "s", (long long)facts->n_face,
                        hx_noun(facts->n_face, "face", "faces"), keep, (long long)facts->n_elem,
                        hx_noun(facts->n_elem, "tetrahedron", "tetrahedra"), facts->element_size,
                        facts->worst, facts->median));
    HX_TRY(note_mirrors(job->path, facts, job->notes));
    return note_quality(job->path, facts, job->notes);
}

/* Reads the kept mesh of a model whose file no longer exists. */
static int read_left(const char *path, const hx_model_options *options, hx_mesh *mesh,
                     hx_notes *notes)
{
    hx_cad_record record = {0};
    const char *const place[2] = {options->keep, options->kept};
    for (int i = 0; i < 2; i++) {
        if (!place[i] || !hx_cad_is_left(place[i], base_name(path), options, &record)) continue;
        HX_TRY(read_made(path, place[i], mesh));
        if (options->facts) *options->facts = record.facts;
        return hx_notes_add(notes, HX_NOTE_INFO,
                            "%s: the file no longer exists; the mesh kept for it as %s is used: "
                            "%lld %s, element size %.4g",
                            path, place[i], (long long)record.facts.n_elem,
                            hx_noun(record.facts.n_elem, "tetrahedron", "tetrahedra"),
                            record.facts.element_size);
    }
    return HX_RAISE(HX_EINPUT, "cannot read '%s': %s%s%s", path, strerror(ENOENT),
                    options->kept ? "; nor is its mesh kept as " : "",
                    options->kept ? options->kept : "");
}

static int read_cad(const char *path, const hx_model_options *given, hx_mesh *mesh,
                    hx_conditions *conditions, hx_notes *notes)
{
    cad_keys key;
    const char *format = NULL;
    hx_gmsh_program program = {0};
    hx_cad_record record = {0};
    hx_model_options options = *given;
    char *folder = NULL;
    (void)conditions; /* a model has none */
    if (!(options.time_limit > 0.0)) options.time_limit = HX_MODEL_TIME_LIMIT;
    struct stat info;
    if (stat(path, &info) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return read_left(path, &options, mesh, notes);
    HX_TRY(check_file(path, &format));
    HX_TRY(make_keys(path, fmax(options.element_size, 0.0), &options, &key));
    const int no_gmsh = hx_gmsh_find(&program);
    hx_cad_job job = {.path = path, .options = &options, .program = &program, .notes = notes};
    int rc = read_kept(&job, options.keep, &key, &record, mesh);
    if (rc == HX_OK) rc = read_kept(&job, options.kept, &key, &record, mesh);
    if (rc == HX_OK && !mesh->conn) {
        rc = no_gmsh ? hx_gmsh_find(&program) : HX_OK; /* the message names the reason */
        if (rc < 0) hx_error_prefix("%s: a CAD model ", path);
        if (rc == HX_OK) rc = hx_scratch_create(&folder);
        job.folder = folder;
        if (rc == HX_OK) rc = make_and_read(&job, format, &key, &record, mesh);
    }
    if (rc == HX_OK) rc = note_units(&job, format, mesh);
    if (options.facts) *options.facts = record.facts;
    if (rc < 0) hx_mesh_free(mesh);
    hx_scratch_remove(folder);
    hx_gmsh_release(&program);
    return rc;
}
