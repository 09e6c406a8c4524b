#include "step_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "step_placed.h"

/* Tolerance relative to the model's diagonal. The nodes of a mesh lie on the curves of the file,
 * but the file's numbers are rounded, and its curves and corners meet only within a tolerance. */
static const double tolerance = 5e-5;

/* Length in mm of the unit that hx_cad_unit returned; 0: not known. */
static double scale_of(const char *unit)
{
    static const struct {
        const char *unit;
        double scale;
    } known[] = {{"", 1.0},     {"mm", 1.0},     {"cm", 10.0},     {"dm", 100.0}, {"m", 1000.0},
                 {"um", 1e-3},  {"nm", 1e-6},    {"km", 1e6},      {"in", 25.4},  {"ft", 304.8},
                 {"yd", 914.4}, {"mil", 0.0254}, {"mi", 1609344.0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(unit, known[i].unit) == 0) return known[i].scale;
    return 0.0;
}

/* Returns 1 if the file names any face or solid; most files do not. */
static int has_names(const hx_step_file *file)
{
    static const char *const keyword[] = {"ADVANCED_FACE", "FACE_SURFACE", "MANIFOLD_SOLID_BREP",
                                          "BREP_WITH_VOIDS"};
    char name[HX_STEP_NAME];
    for (size_t i = 0; i < file->n; i++)
        for (size_t k = 0; k < sizeof keyword / sizeof keyword[0]; k++)
            if (hx_step_take_name(hx_step_record(hx_step_entity_text(file, i), keyword[k]), name))
                return 1;
    return 0;
}

static int add_names(const hx_cad_job *job, const hx_step_file *file, const char *unit,
                     hx_mesh *mesh)
{
    int has_placed;
    HX_TRY(hx_step_find_placed(file, &has_placed));
    if (has_placed)
        return hx_notes_add(job->notes, HX_NOTE_INFO,
                            "%s: the file's names of faces are left out: an assembly moves its "
                            "parts",
                            job->path);
    if (!(scale_of(unit) > 0.0))
        return hx_notes_add(job->notes, HX_NOTE_INFO,
                            "%s: the file's names of faces are left out: its unit is '%s'",
                            job->path, unit);
    hx_point_grid grid = {0};
    char lost[HX_STEP_NAME] = "";
    size_t n_lost = 0;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->xyz[i]);
        high[i % 3] = fmax(high[i % 3], mesh->xyz[i]);
    }
    const double d[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    const hx_step_naming naming = {file, scale_of(unit), mesh, &grid,
                                   tolerance * sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])};
    int rc = hx_point_grid_create(&grid, mesh->n_node, mesh->xyz);
    if (rc == HX_OK) rc = hx_step_name_solids(&naming, &n_lost, lost);
    if (rc == HX_OK) rc = hx_step_name_faces(&naming, &n_lost, lost);
    hx_point_grid_free(&grid);
    if (rc < 0 || n_lost == 0) return rc;
    return hx_notes_add(
        job->notes, HX_NOTE_INFO,
        "%s: %zu of the file's names are left out, the first '%s': their faces or solids could not "
        "be found unambiguously, for example because another solid cuts a face",
        job->path, n_lost, lost);
}

int hx_cad_has_names(const hx_cad_job *job, int *has)
{
    hx_step_file file = {0};
    HX_TRY(hx_step_read(&file, job->path));
    *has = has_names(&file);
    hx_step_free(&file);
    return HX_OK;
}

int hx_cad_add_names(const hx_cad_job *job, hx_mesh *mesh)
{
    hx_step_file file = {0};
    char unit[HX_CAD_UNIT];
    HX_TRY(hx_cad_unit(job->path, unit));
    HX_TRY(hx_step_read(&file, job->path));
    const int rc = has_names(&file) ? add_names(job, &file, unit, mesh) : HX_OK;
    hx_step_free(&file);
    hx_cad_sort_sets(mesh);
    return rc;
}
