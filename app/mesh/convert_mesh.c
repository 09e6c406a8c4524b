#include "convert_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../output/progress.h"
#include "../session/file_unread.h"
#include "../session/mesh_input.h"
#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/files/mesh_files.h"
#include "core/spline/spline_refine.h"

typedef struct conversion {
    const char *in, *out;
    double merge, element_size, time_limit; /* 0 in the last two members: not given */
    int is_ascii;
    hx_spline_options spline;
    int *part; /* of mesh.refine (owned) */
} conversion;

int hx_is_mesh_file(const char *path)
{
    return hx_model_is_file(path);
}

static int check_is_spline(const conversion *c, const char *key)
{
    if (hx_mesh_is_spline(c->in)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s applies to splines, and '%s' is not a spline", key, c->in);
}

/* "mesh.refine=[2, 2, 1]" */
static int read_parts(conversion *c, const char *text)
{
    const char *at = text + 12;
    size_t capacity = 0;
    int n = 0;
    at += *at == '[';
    while (*at && *at != ']') {
        char *end;
        const long part = strtol(at, &end, 10);
        if (end == at || part < 0 || part > HX_SPLINE_MAX_PARTS || (*end && !strchr(", ]", *end)))
            return HX_RAISE(
                HX_EINPUT, "'%s': expected whole numbers from 0 to %d, such as mesh.refine=[2,2,1]",
                text, HX_SPLINE_MAX_PARTS);
        HX_TRY(hx_grow(&c->part, (size_t)n, &capacity, sizeof *c->part, "parts of spans"));
        c->part[n++] = (int)part;
        at = end + strspn(end, ", ");
    }
    c->spline.n_part = n;
    return check_is_spline(c, "mesh.refine");
}

/* Reads "mesh.NAME=NUMBER" of a key for files that gmsh meshes or, for its time limit, converts. */
static int read_model_number(const conversion *c, const char *text, const char *name, double *value)
{
    char *end;
    const hx_key *const key = hx_key_find("mesh", name);
    const char *const number = strchr(text, '=') + 1;
    *value = strtod(number, &end);
    if (end == number || *end || !hx_range_holds(key->range, *value))
        return HX_RAISE(HX_EINPUT, "'%s': expected a number in %s", text, key->range);
    const int is_limit = value == &c->time_limit;
    if (is_limit ? hx_model_format_of_file(c->in) != NULL : hx_model_is_cad(c->in)) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s applies to CAD models%s, and '%s' is a mesh", key->path,
                    is_limit ? " and other files that gmsh reads" : "", c->in);
}

static int read_setting(conversion *c, const char *text)
{
    char *end = NULL;
    if (strncmp(text, "mesh.time_limit=", 16) == 0)
        return read_model_number(c, text, "time_limit", &c->time_limit);
    if (strncmp(text, "mesh.element_size=", 18) == 0)
        return read_model_number(c, text, "element_size", &c->element_size);
    if (strncmp(text, "mesh.merge=", 11) == 0) {
        c->merge = strtod(text + 11, &end);
        if (end != text + 11 && *end == '\0' && c->merge >= 0.0 && isfinite(c->merge)) return HX_OK;
        return HX_RAISE(HX_EINPUT, "'%s': expected a distance of at least 0", text);
    }
    if (strncmp(text, "mesh.degree=", 12) == 0) {
        c->spline.degree = (int)strtol(text + 12, &end, 10);
        if (end != text + 12 && *end == '\0' && c->spline.degree >= 1 &&
            c->spline.degree <= HX_SPLINE_MAX_DEGREE)
            return check_is_spline(c, "mesh.degree");
        return HX_RAISE(HX_EINPUT, "'%s': expected a degree from 1 to %d", text,
                        HX_SPLINE_MAX_DEGREE);
    }
    if (strncmp(text, "mesh.refine=", 12) == 0) return read_parts(c, text);
    if (strncmp(text, "output.format=", 14) == 0) {
        const int format = hx_key_word_place(hx_key_find("output", "format"), text + 14);
        c->is_ascii = format == HX_VTK_ASCII;
        if (format >= 0) return HX_OK;
    }
    return HX_RAISE(
        HX_EINPUT,
        "'%s': when a mesh file is converted, only mesh.merge=DISTANCE and output.format=binary or "
        "ascii may follow, for a CAD model mesh.element_size=LENGTH and mesh.time_limit=SECONDS, "
        "and for a spline mesh.degree=P and mesh.refine=[A,B,C]",
        text);
}

static int read_size(conversion *c, const hx_options *options)
{
    const char *const text = hx_option_text(options, HX_MESH_OPTION_SIZE);
    char *end = NULL;
    if (!text) return HX_OK;
    if (!hx_model_is_cad(c->in))
        return HX_RAISE(HX_EINPUT, "--element-size applies to CAD models, and '%s' is a mesh",
                        c->in);
    c->element_size = strtod(text, &end);
    if (end != text && *end == '\0' && c->element_size > 0.0 && isfinite(c->element_size))
        return HX_OK;
    return HX_RAISE(HX_EINPUT, "--element-size %s: expected a length above 0", text);
}

/* Warns of supports and forces. They are not written, since that would need a problem with a
 * material. */
static void warn_of_conditions(const conversion *c, const hx_conditions *conditions)
{
    if (conditions->n_support == 0 && conditions->n_force == 0 && conditions->n_load == 0 &&
        conditions->n_rigid == 0 && !conditions->fault && !conditions->load_fault)
        return;
    hx_log_warning("%s: only its mesh and sets are written, not its supports and loads; a config "
                   "with from = \"file\" writes them: hextop mesh CONFIG %s",
                   c->in, c->out);
}

static int convert(const conversion *c, hx_mesh *mesh, hx_spline *spline, hx_conditions *conditions)
{
    char a[32], b[32];
    const hx_mesh_format *const format = hx_mesh_format_of_name(c->out);
    const double begin = hx_clock();
    const hx_model_options options = {.merge = c->merge,
                                      .element_size = c->element_size,
                                      .time_limit = c->time_limit,
                                      .spline_options = c->spline,
                                      .spline = spline};
    HX_TRY(hx_input_read(c->in, &options, mesh, conditions));
    hx_warn_of_unread(&conditions->unread);
    const double read = hx_clock();
    HX_TRY(hx_mesh_finish(mesh));
    HX_TRY(hx_input_check(mesh, c->merge));
    hx_log_detail("%s: read in %.3f s, validated in %.3f s, with at most %s of host memory", c->in,
                  read - begin, hx_clock() - read,
                  hx_format_bytes((double)hx_host_memory_peak(), a, sizeof a));
    const hx_mesh_write_options how = {.is_ascii = c->is_ascii, .title = mesh->name};
    HX_TRY(hx_progress_write_mesh(c->out, mesh, format, &how));
    warn_of_conditions(c, conditions);
    hx_log_info("%s: %s %s, %s %s, %zu %s", c->out, hx_format_count(mesh->n_elem, a, sizeof a),
                hx_noun(mesh->n_elem, "element", "elements"),
                hx_format_count(mesh->n_node, b, sizeof b), hx_noun(mesh->n_node, "node", "nodes"),
                mesh->n_set, hx_noun(mesh->n_set, "set", "sets"));
    return HX_OK;
}

int hx_convert_mesh(const hx_options *options)
{
    hx_mesh mesh;
    hx_spline spline = {0};
    hx_conditions conditions = {0};
    conversion c = {.in = options->argument[0], .out = options->argument[1], .merge = (double)NAN};
    HX_TRY(read_size(&c, options));
    int rc = HX_OK;
    for (size_t i = 2; rc == HX_OK && i < options->n_argument; i++)
        rc = read_setting(&c, options->argument[i]);
    memset(&mesh, 0, sizeof mesh);
    c.spline.part = c.part;
    if (rc == HX_OK) rc = convert(&c, &mesh, &spline, &conditions);
    free(c.part);
    hx_spline_free(&spline);
    hx_conditions_free(&conditions);
    hx_mesh_free(&mesh);
    return rc;
}
