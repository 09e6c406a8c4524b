#include "convert_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../output/progress.h"
#include "../session/mesh_input.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/memory.h"
#include "core/files/foreign_files.h"
#include "core/files/mesh_files.h"

typedef struct conversion {
    const char *in, *out;
    double merge, element_size; /* the size 0: not given */
    int is_ascii;
} conversion;

int hx_is_mesh_file(const char *path)
{
    char hint[512];
    return hx_model_is_file(path) || hx_foreign_hint(path, NULL, hint, sizeof hint);
}

static int read_setting(conversion *c, const char *text)
{
    char *end = NULL;
    if (strncmp(text, "mesh.merge=", 11) == 0) {
        c->merge = strtod(text + 11, &end);
        if (end != text + 11 && *end == '\0' && c->merge >= 0.0 && isfinite(c->merge)) return HX_OK;
        return HX_RAISE(HX_EINPUT, "'%s': a distance of 0 or more is expected", text);
    }
    if (strncmp(text, "output.format=", 14) == 0) {
        const int format = hx_key_word_place(hx_key_find("output", "format"), text + 14);
        c->is_ascii = format == HX_VTK_ASCII;
        if (format >= 0) return HX_OK;
    }
    return HX_RAISE(HX_EINPUT,
                    "'%s': where a mesh file is converted, only mesh.merge=DISTANCE and "
                    "output.format=binary or ascii may follow",
                    text);
}

static int read_size(conversion *c, const hx_options *options)
{
    const char *const text = hx_option_text(options, HX_MESH_OPTION_SIZE);
    char *end = NULL;
    if (!text) return HX_OK;
    if (!hx_model_is_cad(c->in))
        return HX_RAISE(HX_EINPUT, "--element-size belongs to CAD models, and '%s' is a mesh",
                        c->in);
    c->element_size = strtod(text, &end);
    if (end != text && *end == '\0' && c->element_size > 0.0 && isfinite(c->element_size))
        return HX_OK;
    return HX_RAISE(HX_EINPUT, "--element-size %s: a length above 0 is expected", text);
}

/* Supports and forces are a problem's, and need a material to be written. */
static void warn_of_conditions(const conversion *c, const hx_conditions *conditions)
{
    if (conditions->n_support == 0 && conditions->n_force == 0 && conditions->n_load == 0 &&
        conditions->n_rigid == 0 && !conditions->fault && !conditions->load_fault)
        return;
    hx_log_warning("%s: its supports and loads are not written, only mesh and sets; a config with "
                   "from = \"file\" takes them along: hextop mesh CONFIG %s",
                   c->in, c->out);
}

static int convert(const conversion *c, hx_mesh *mesh, hx_conditions *conditions)
{
    char a[32], b[32];
    const hx_mesh_format *const format = hx_mesh_format_of_name(c->out);
    const double begin = hx_clock();
    const hx_model_options options = {.merge = c->merge, .element_size = c->element_size};
    HX_TRY(hx_input_read(c->in, &options, mesh, conditions));
    const double read = hx_clock();
    HX_TRY(hx_mesh_finish(mesh));
    HX_TRY(hx_input_check(mesh, c->merge));
    hx_log_detail("%s: read in %.3f s, validated in %.3f s, %s of host memory at most", c->in,
                  read - begin, hx_clock() - read,
                  hx_format_bytes((double)hx_host_memory_peak(), a, sizeof a));
    const hx_mesh_write_options how = {.is_ascii = c->is_ascii, .title = mesh->name};
    HX_TRY(hx_progress_write_mesh(c->out, mesh, format, &how));
    warn_of_conditions(c, conditions);
    hx_log_info("%s: %s elements, %s nodes, %zu sets", c->out,
                hx_format_count(mesh->n_elem, a, sizeof a),
                hx_format_count(mesh->n_node, b, sizeof b), mesh->n_set);
    return HX_OK;
}

int hx_convert_mesh(const hx_options *options)
{
    hx_mesh mesh;
    hx_conditions conditions = {0};
    conversion c = {options->argument[0], options->argument[1], (double)NAN, 0.0, 0};
    HX_TRY(read_size(&c, options));
    for (size_t i = 2; i < options->n_argument; i++) HX_TRY(read_setting(&c, options->argument[i]));
    memset(&mesh, 0, sizeof mesh);
    const int rc = convert(&c, &mesh, &conditions);
    hx_conditions_free(&conditions);
    hx_mesh_free(&mesh);
    return rc;
}
