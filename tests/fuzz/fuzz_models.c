/* The parts of CAD models that hextop reads itself: STL surfaces, units of STEP and IGES, names and
 * faces of STEP, and the head of a kept mesh. The first byte chooses the file extension. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mesher/cad.h"
#include "core/mesher/step_face.h"
#include "core/mesher/step_placed.h"
#include "fuzz.h"

static void check_stl(const char *path)
{
    hx_stl stl = {0};
    if (!fuzz_accepted(hx_stl_read(&stl, path))) return;
    int in_range = stl.n_tri > 0, finite = 1;
    for (int64_t i = 0; i < 3 * stl.n_tri; i++)
        in_range &= stl.tri[i] >= 0 && stl.tri[i] < stl.n_node;
    for (int64_t i = 0; i < 3 * stl.n_node; i++) finite &= isfinite(stl.xyz[i]) != 0;
    for (int64_t i = 0; i < stl.n_tri; i++)
        in_range &= stl.face[i] >= 0 && stl.face[i] < stl.n_face && stl.shell[i] >= 0 &&
                    stl.shell[i] < stl.n_shell;
    fuzz_require(in_range, "an accepted STL file has its indices in range");
    fuzz_require(finite && isfinite(stl.volume) && isfinite(stl.area),
                 "an accepted STL file has finite numbers");
    const double x[3] = {0.0, 0.0, 0.0};
    const int32_t face = hx_stl_nearest_face(&stl, x);
    fuzz_require(face >= 0 && face < stl.n_face, "a face is nearest");
    hx_stl_free(&stl);
}

static void check_step(const char *path)
{
    hx_step_file file;
    const double x[3] = {1.0, 2.0, 3.0};
    if (!fuzz_accepted(hx_step_read(&file, path))) return;
    int has_placed;
    (void)fuzz_accepted(hx_step_find_placed(&file, &has_placed));
    for (size_t i = 0; i < file.n; i++) {
        hx_step_face face;
        char name[HX_STEP_NAME];
        const hx_step_text list = hx_step_record(hx_step_entity_text(&file, i), "ADVANCED_FACE");
        if (!list.at) continue;
        hx_step_string(hx_step_item(list, 0), name, sizeof name);
        fuzz_require(memchr(name, '\0', sizeof name) != NULL, "a name ends");
        if (!fuzz_accepted(hx_step_face_read(&file, file.entity[i].number, 25.4, &face))) continue;
        for (size_t k = 0; k < face.n_edge; k++)
            fuzz_require(!(hx_step_edge_distance(&face.edge[k], x) < 0.0),
                         "a distance is not negative");
        fuzz_require(!(hx_step_surface_distance(&face, x) < 0.0), "a distance is not negative");
        hx_step_face_free(&face);
    }
    hx_step_free(&file);
}

void fuzz_models(const uint8_t *data, size_t size)
{
    static const char *const name[] = {"fuzz.stl", "fuzz.step", "fuzz.igs", "mesh.msh"};
    char path[FUZZ_PATH], unit[HX_CAD_UNIT];
    hx_cad_record record;
    uint64_t key = 0;
    if (size < 1) return;
    fuzz_path(name[data[0] % 4], path);
    fuzz_write(path, data + 1, size - 1);
    (void)hx_model_format_of_file(path);
    if (fuzz_accepted(hx_cad_unit(path, unit)))
        fuzz_require(memchr(unit, '\0', sizeof unit) != NULL, "a unit ends");
    (void)fuzz_accepted(hx_cad_key(path, 1.0, NULL, &key));
    (void)hx_cad_is_kept(path, 0, &record);
    if (data[0] % 4 == 0) check_stl(path);
    if (data[0] % 4 == 1) check_step(path);
}
