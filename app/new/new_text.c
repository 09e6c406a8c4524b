/* The text of a new config. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../session/file_unread.h"
#include "../text/log.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/mesh/cell.h"
#include "core/mesh/load_faces.h"
#include "new.h"

enum { MOST_LISTED = 40, MOST_PREPARED = 24, MOST_KEY = 64 };

typedef struct writer {
    const hx_new_part *part;
    FILE *out;
    size_t n_key;
    const char *key[MOST_KEY]; /* that are written, or would be if an argument gave them */
} writer;

/* Supports and loads of the generators, as in configs/. For heat, `held` has temperature 0, and
 * every element is a source. */
static const struct {
    const char *generator, *held, *loaded, *force;
} example[] = {
    {"cantilever", "left", "right-lower-edge", "node_force = [0.0, 0.0, -1.0]"},
    {"lbeam", "top", "tip-lower-edge", "node_force = [0.0, 0.0, -1.0]"},
    {"michell", "notch", "load", "total_force = [0.0, 0.0, -1.0]"},
    {"conrod", "lower-bore-lower-half", "upper-bore-upper-half",
     "total_force = [0.0, 0.0, 1000.0]"},
};

int hx_new_escape(char c, char *to)
{
    if (c == '"' || c == '\\') return sprintf(to, "\\%c", c);
    if (iscntrl((unsigned char)c)) return sprintf(to, "\\x%02x", (unsigned char)c);
    to[0] = c;
    return 1;
}

/* Writes a name for libconfig text in quotes, on one line even in a comment. */
static void put_text(FILE *out, const char *text)
{
    char escaped[5];
    for (; *text; text++) fwrite(escaped, 1, (size_t)hx_new_escape(*text, escaped), out);
}

/* The value that a KEY=VALUE argument gives to the key; NULL: none. */
static const char *overridden(const hx_new_part *part, const char *key)
{
    const size_t n = strlen(key);
    const char *value = NULL;
    for (size_t i = 0; i < part->n_override; i++)
        if (strncmp(part->override[i], key, n) == 0 && part->override[i][n] == '=')
            value = part->override[i] + n + 1;
    return value;
}

int hx_new_asks_for_heat(const hx_new_part *part)
{
    const char *const asked = overridden(part, "physics");
    return asked && strstr(asked, "heat");
}

/* Writes a list of texts: as given, or from words separated by commas. */
static void put_words(FILE *out, const char *text)
{
    if (text[0] == '(') {
        fputs(text, out);
        return;
    }
    fputs("(\"", out);
    for (; *text; text++) {
        const char c[2] = {*text, '\0'};
        if (*text == ',')
            fputs("\", \"", out);
        else
            put_text(out, c);
    }
    fputs("\")", out);
}

/* 1: the config is for heat, since the file is a job for heat or an argument sets it. */
int hx_new_is_heat(const hx_new_part *part)
{
    if (overridden(part, "physics")) return hx_new_asks_for_heat(part);
    return part->session.conditions.is_heat;
}

static const hx_key *find_key(const char *path)
{
    const char *const dot = strrchr(path, '.');
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%.*s", dot ? (int)(dot - path) : 0, path);
    return hx_key_find(prefix, dot ? dot + 1 : path);
}

/* Takes the key of an argument, unless it does not apply to the part or its physics. */
static const hx_key *take_key(writer *w, const char *path)
{
    const hx_key *const key = find_key(path);
    const int other =
        key &&
        ((key->file_only && !w->part->is_file) || (key->generator_only && w->part->is_file) ||
         (key->only && (key->only == 1 + HX_PHYSICS_HEAT) != hx_new_is_heat(w->part)));
    if (!other && w->n_key < MOST_KEY) w->key[w->n_key++] = path;
    return key;
}

/* Writes "name = value;" for a key, with the value of an argument if there is one, and nothing if
 * that is empty. Returns 1 if the value is the given one, so that a comment on it is true. */
static int put_key(writer *w, const char *path, const char *value)
{
    const char *const dot = strrchr(path, '.'), *const other = overridden(w->part, path);
    const hx_key *const key = take_key(w, path);
    const int is_text = key && (key->type == HX_KEY_TEXT || key->type == HX_KEY_WORD);
    if (other && !other[0]) return 0;
    fprintf(w->out, "%s = ", dot ? dot + 1 : path);
    if (other && other[0] == '"') {
        fputs(other, w->out);
    } else if (other && key && key->type == HX_KEY_WORDS) {
        put_words(w->out, other);
    } else if (is_text) {
        fputc('"', w->out);
        put_text(w->out, other ? other : value);
        fputc('"', w->out);
    } else {
        fputs(other ? other : value, w->out);
    }
    fputc(';', w->out);
    return !other;
}

/* A number with a fraction, since libconfig's arrays cannot mix numbers with and without. */
static const char *fraction(double value, int digits, char text[40])
{
    snprintf(text, 32, "%.*g", digits, value);
    if (!strpbrk(text, ".en")) strcat(text, ".0");
    return text;
}

static int put_number(writer *w, const char *path, double value, int digits)
{
    char text[40];
    return put_key(w, path, fraction(value, digits, text));
}

/* Fewest significant digits that give the number back: 0.342, not 0.34200000000000003. */
static int digits_of(double value)
{
    char text[40];
    for (int n = 3; n < 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, value);
        const double back = strtod(text, NULL);
        if (!(back < value || back > value)) return n;
    }
    return 17;
}

/* Writes a key that the text normally leaves out, if an argument gives it. */
static void put_given(writer *w, const char *path)
{
    if (!overridden(w->part, path)) {
        take_key(w, path);
        return;
    }
    fputc(' ', w->out);
    put_key(w, path, "");
}

/* Writes a list that an argument gives, on a line of its own; 0: none gives it. */
static int put_given_list(writer *w, const char *path)
{
    const int is_given = overridden(w->part, path) != NULL;
    if (is_given) fputc('\n', w->out);
    put_given(w, path);
    if (is_given) fputc('\n', w->out);
    return is_given;
}

/* Writes `units`: those that the file states, or that its lengths are in mm. */
static void put_units(writer *w)
{
    const hx_new_part *const part = w->part;
    const char *const stated = part->session.conditions.units.stated;
    const char *const unit = part->session.cfg.units.length;
    const int of_heat = hx_new_is_heat(part);
    if (!part->is_file && !overridden(part, "units")) {
        take_key(w, "units");
        return;
    }
    if (!part->units && !overridden(part, "units")) {
        fprintf(w->out, "# units: the file states its units, '");
        put_text(w->out, stated);
        fprintf(w->out, "', which `units` cannot name; all numbers are in the units of the file\n");
        take_key(w, "units");
        return;
    }
    const int is_default = put_key(w, "units", part->units);
    if (part->is_cad) {
        fprintf(w->out, "   # CAD models are in mm, whatever unit they were drawn in");
    } else if (!is_default && unit[0]) {
        fprintf(w->out, "   # lengths of the %s are taken as%s",
                part->is_file ? "file" : "generator", unit);
    } else if (is_default && stated[0]) {
        fprintf(w->out, "   # the file states them: '");
        put_text(w->out, stated);
        fputc('\'', w->out);
    } else if (is_default) {
        fprintf(w->out, "   # the file's lengths are taken as mm; in m: %s",
                of_heat ? "\"W, m, K\"" : "\"N, m, Pa\", E = 2.1e11");
    }
    fputc('\n', w->out);
}

static void put_head(writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_mesh *const m = &part->session.mesh;
    fprintf(w->out, "# ");
    put_text(w->out, part->name);
    fprintf(w->out,
            ": %lld %s, %lld %s, mean edge %.4g\n# box %g to %g, %g to %g, %g to %g; volume "
            "%.5g\n#\n#     hextop check CONFIG     reports the part, what is missing, and the "
            "time that a run takes\n#     hextop run CONFIG\n#     hextop help KEY         prints "
            "the meaning of a key and related keys\n\n",
            (long long)m->n_elem, hx_noun(m->n_elem, "element", "elements"), (long long)m->n_node,
            hx_noun(m->n_node, "node", "nodes"), m->elem_size, m->box_min[0], m->box_max[0],
            m->box_min[1], m->box_max[1], m->box_min[2], m->box_max[2], m->total_volume);
    put_key(w, "title", part->name);
    fputc('\n', w->out);
    if (part->session.conditions.is_heat || overridden(part, "physics")) {
        put_key(w, "physics", "heat");
        fputc('\n', w->out);
    } else {
        take_key(w, "physics");
    }
    put_units(w);
}

/* Kinds of unread items that make from = "file" refused until they are left out on purpose; 0:
 * none. For heat, loads that are not read are in heat_fault. */
static unsigned find_unread(const hx_new_part *part)
{
    const hx_conditions *const c = &part->session.conditions;
    if (hx_new_is_heat(part))
        return hx_unread_refuses(&c->unread, HX_UNREAD_OF_SUPPORTS, 0, 1) |
               hx_unread_refuses(&c->unread, HX_UNREAD_OF_MATERIAL, 0, 1);
    return hx_unread_all_refuse(&c->unread, hx_has_mass_load(&part->session.cfg, c), c->n_case);
}

/* The text of a message after the folder of the mesh's file. */
static const char *below_folder(const writer *w, const char *text)
{
    const char *const file = w->part->session.cfg.mesh.file;
    const char *const slash = file ? strrchr(file, '/') : NULL;
    const size_t n = slash ? (size_t)(slash + 1 - file) : 0;
    return strncmp(text, file ? file : "", n) == 0 ? text + n : text;
}

/* Writes the line that leaves them out, as a comment. */
static void put_unread(writer *w, unsigned roles)
{
    const hx_unread *const list = &w->part->session.conditions.unread;
    char text[8192];
    hx_unread_text(list, roles, 0, "", text, 900);
    fprintf(w->out, "\n"
                    "    # Items of the file that hextop does not read. from = \"file\" is refused "
                    "until they are left out on\n"
                    "    # purpose, by uncommenting this line:\n"
                    "    # ");
    put_text(w->out, below_folder(w, text));
    hx_unread_words(list, roles, text, sizeof text);
    fprintf(w->out, "\n    # ignore = ");
    for (const char *c = text; *c; c++)
        if (!iscntrl((unsigned char)*c)) fputc(*c, w->out);
    fprintf(w->out, ";\n");
}

static void put_mesh(writer *w)
{
    const hx_new_part *const part = w->part;
    fprintf(w->out, "\nmesh = { ");
    if (part->is_file) {
        fprintf(w->out, "file = \"");
        put_text(w->out, part->file);
        fprintf(w->out, "\";");
        take_key(w, "mesh.file"); /* cmd_new.c: it replaces PART */
    } else {
        put_key(w, "mesh.generator", part->name);
        if (!overridden(part, "mesh.nx")) {
            fputc(' ', w->out);
            put_key(w, "mesh.size", "1");
        } else {
            put_given(w, "mesh.size");
        }
        put_given(w, "mesh.nx");
        put_given(w, "mesh.ny");
        put_given(w, "mesh.nz");
    }
    if (part->is_cad) {
        fputc(' ', w->out);
        const double size = part->session.cfg.mesh.element_size;
        put_number(w, "mesh.element_size", size, digits_of(size));
    }
    put_given(w, "mesh.degree");
    put_given(w, "mesh.refine");
    put_given(w, "mesh.merge");
    put_given(w, "mesh.time_limit");
    put_given(w, "mesh.ignore");
    const unsigned unread = find_unread(part);
    if (unread) put_unread(w, unread);
    fprintf(w->out, "%s};%s\n", unread ? "" : " ",
            part->is_file ? "   # relative to this file" : "");
}

/* Takes the material of the file, if that is possible. */
static int put_file_material(writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    if (!m->name || m->fault || isnan(m->young) || isnan(m->poisson)) return 0;
    fprintf(w->out, "\n# '");
    put_text(w->out, m->name);
    fprintf(w->out, "' of the file, in its own units: E %g, nu %g", m->young, m->poisson);
    if (!isnan(m->density)) fprintf(w->out, ", density %g", m->density);
    fprintf(w->out, "\nmaterial = { ");
    put_key(w, "material.from", "file");
    put_given(w, "material.E");
    put_given(w, "material.nu");
    put_given(w, "material.density");
    fprintf(w->out, " };\n");
    return 1;
}

/* Notes that the material of the file cannot be taken, beside the one that is written. */
static void put_other_material(writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    const char *const name = m->name ? m->name : "";
    char text[900];
    if (!m->name && !m->fault) return;
    snprintf(text, sizeof text, "the file's material%s%.100s%s cannot be taken: %.600s",
             name[0] ? " '" : "", name, name[0] ? "'" : "",
             m->fault                  ? below_folder(w, m->fault)
             : hx_new_is_heat(w->part) ? "it has no conductivity"
                                       : "it has no modulus and Poisson's ratio");
    fprintf(w->out, "\n# Not from the file, so check it: ");
    put_text(w->out, text);
    hx_log_warning(
        "the config has %s, because %s",
        overridden(w->part, hx_new_is_heat(w->part) ? "material.conductivity" : "material.E")
            ? "the material that the arguments give"
            : "steel",
        text);
}

/* 1: steel cannot be written in the units of the config, since these have no names. */
static int lacks_units(const writer *w)
{
    return !w->part->units && w->part->is_file && !overridden(w->part, "material.E") &&
           !overridden(w->part, "material.conductivity");
}

/* Steel's conductivity is 50 in W/(m K), and as much in mW/(mm K). */
static void put_conductivity(writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    const int is_files = m->name && !m->fault && !isnan(m->conductivity);
    if (!is_files) put_other_material(w);
    if (is_files) {
        fprintf(w->out, "\n# '");
        put_text(w->out, m->name);
        fprintf(w->out, "' of the file, in its own units: conductivity %g", m->conductivity);
    }
    fprintf(w->out, "\nmaterial = { ");
    if (!is_files && lacks_units(w)) fprintf(w->out, "   # steel: 50 W/(m K); convert it\n#   ");
    const hx_units *const u = &w->part->session.cfg.units;
    const double steel = u->watt > 0.0 && u->metre > 0.0 ? 50.0 * u->metre / u->watt : 50.0;
    char text[40];
    int is_steel = 0;
    if (is_files)
        put_key(w, "material.from", "file");
    else
        is_steel = put_key(w, "material.conductivity", fraction(steel, 6, text));
    if (is_files) put_given(w, "material.conductivity");
    put_given(w, "material.conductivity_min");
    if (!is_files && lacks_units(w))
        fprintf(w->out, "\n};\n");
    else
        fprintf(w->out, " };%s\n", is_steel ? "   # steel, 50 W/(m K)" : "");
}

/* Steel, in the units of the config. */
static void put_material(writer *w)
{
    const hx_units *const u = &w->part->session.cfg.units;
    if (hx_new_is_heat(w->part)) {
        put_conductivity(w);
        return;
    }
    if (put_file_material(w)) return;
    put_other_material(w);
    const double pascal = u->pascal > 0.0 ? u->pascal : 1e6;
    const double kilograms = u->density_si > 0.0 ? u->density_si : 1e12;
    const char *const stress = u->stress[0] ? u->stress : " MPa";
    const char *const density = u->density[0] ? u->density : " t/mm^3";
    if (!w->part->is_file && !u->system[0]) {
        fprintf(w->out, "\nmaterial = { ");
        put_key(w, "material.E", "1.0");
        fputc(' ', w->out);
        put_key(w, "material.nu", "0.3");
        put_given(w, "material.density");
        fprintf(w->out, " };   # without units: displacements are in proportion\n");
        return;
    }
    const char *const lead = lacks_units(w) ? "# " : "";
    const int is_steel = !overridden(w->part, "material.E") &&
                         !overridden(w->part, "material.nu") &&
                         !overridden(w->part, "material.density");
    fprintf(w->out, "\nmaterial = {%s%s\n%s    ", is_steel ? "            # steel" : "",
            is_steel && lead[0] ? "; convert it to the units of the file" : "", lead);
    put_number(w, "material.E", 2.1e11 / pascal, 6);
    fprintf(w->out, "       #%s\n    ", stress);
    put_key(w, "material.nu", "0.3");
    fprintf(w->out, "\n%s    ", lead);
    put_number(w, "material.density", 7850.0 / kilograms, 6);
    fprintf(w->out, "  #%s: for the mass in reports, and for gravity\n};\n", density);
}

/* "hollow cylinder of radius 4, 12 faces, area 240" */
static void put_size(FILE *out, const hx_new_set *set)
{
    const int64_t n_elem = set->set->n_elem;
    if (n_elem > 0) {
        fprintf(out, "%lld %s", (long long)n_elem, hx_noun(n_elem, "element", "elements"));
        if (set->set->n_face == 0 || set->is_inner) return;
        fprintf(out, " and ");
    }
    if (set->is_fitted && set->shape.kind != HX_FACE_OTHER) {
        fprintf(out, "%s", hx_face_kind_name(&set->shape));
        if (set->shape.radius > 0.0) fprintf(out, " of radius %.4g", set->shape.radius);
        fprintf(out, ", ");
    }
    if (set->is_inner)
        fprintf(out, "faces between solids");
    else if (set->n_face > 0)
        fprintf(out, "%lld %s%s, area %.4g", (long long)set->n_face,
                hx_noun(set->n_face, "face", "faces"), set->set->n_face > 0 ? "" : " of its nodes",
                set->area);
    else
        fprintf(out, "%lld %s", (long long)set->set->n_node,
                hx_noun(set->set->n_node, "node", "nodes"));
}

/* Prints values that are only rounding as 0. */
static double clean(double x, double size)
{
    return fabs(x) < 1e-9 * size ? 0.0 : x;
}

/* 1 if supports or loads can act on the set: it has faces or nodes. */
static int is_surface(const hx_new_set *set)
{
    return !set->is_inner && (set->set->n_elem == 0 || set->set->n_face > 0);
}

/* 1 if the part has fewer than two sets of faces, so that the sides of its box become sets. */
static int needs_sides(const hx_new_part *part)
{
    int n = 0;
    for (size_t i = 0; i < part->n_set; i++)
        n += is_surface(&part->set[i]) && part->set[i].n_face > 0;
    return n < 2 && !hx_mesh_find_set(&part->session.mesh, "x-min");
}

static void put_sets(writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_mesh *const mesh = &part->session.mesh;
    const double size = fabs(mesh->box_max[0] - mesh->box_min[0]) +
                        fabs(mesh->box_max[1] - mesh->box_min[1]) +
                        fabs(mesh->box_max[2] - mesh->box_min[2]);
    fprintf(w->out, "\n# Sets of the part:\n");
    const int is_cut = part->n_set > MOST_LISTED && hx_log_get_level() < HX_LOG_VERBOSE;
    const size_t n_listed = is_cut ? MOST_LISTED : part->n_set;
    for (size_t i = 0; i < n_listed; i++) {
        const hx_new_set *const set = &part->set[i];
        fprintf(w->out, "#   \"");
        put_text(w->out, set->set->name);
        fprintf(w->out, "\": ");
        put_size(w->out, set);
        fprintf(w->out, ", centre %.4g %.4g %.4g\n", clean(set->centre[0], size),
                clean(set->centre[1], size), clean(set->centre[2], size));
    }
    if (is_cut)
        fprintf(w->out, "#   and %zu more, which `hextop new -v` lists\n",
                part->n_set - MOST_LISTED);
    if (needs_sides(part)) fprintf(w->out, "#   and the sides of its box, which are made below\n");
}

/* "{ name = "x-min"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; }" */
static void put_plane(FILE *out, const char *name, const double x[3], int axis)
{
    char text[3][40];
    fprintf(out,
            "{ name = \"%s\"; plane = { point = [%s, %s, %s]; normal = [%d.0, %d.0, %d.0]; }; }",
            name, fraction(x[0], 17, text[0]), fraction(x[1], 17, text[1]),
            fraction(x[2], 17, text[2]), axis == 0, axis == 1, axis == 2);
}

static const char *const side_name[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};

/* Writes sets defined by geometry; the sides of the box if the part lacks sets. */
static void put_own_sets(writer *w)
{
    const hx_mesh *const mesh = &w->part->session.mesh;
    const char *const what = "by their place: plane, box, cylinder, sphere; and, or, not";
    if (put_given_list(w, "sets")) return;
    if (!needs_sides(w->part)) {
        fprintf(w->out, "\n# More sets, %s.\n# sets = ( ", what);
        put_plane(w->out, "z-min", mesh->box_min, 2);
        fprintf(w->out, " );\n");
        return;
    }
    fprintf(w->out, "\n# Sets, %s.\nsets = (\n", what);
    for (int side = 0; side < 6; side++) {
        fprintf(w->out, "    ");
        put_plane(w->out, side_name[side], side % 2 ? mesh->box_max : mesh->box_min, side / 2);
        fprintf(w->out, ",\n");
    }
    fprintf(w->out, ");\n");
}

enum { LOADS_OF_HEAT = 1u << HX_FILE_NODE_HEAT | 1u << HX_FILE_FLUX | 1u << HX_FILE_SOURCE };

typedef void (*entry_call)(writer *w, const char *name, const hx_new_set *set);

static void put_support(writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    put_text(w->out, name);
    fprintf(w->out, "\"; fix = \"xyz\"; },\n");
}

static void put_load(writer *w, const char *name, const hx_new_set *set)
{
    const hx_units *const u = &w->part->session.cfg.units;
    fprintf(w->out, "#   { set = \"");
    put_text(w->out, name);
    fprintf(w->out, "\"; total_force = [0.0, 0.0, -1000.0]; },");
    if (set && set->n_face > 0) fprintf(w->out, "   # over %.4g%s", set->area, u->area);
    fputc('\n', w->out);
}

static double least_area(const hx_new_part *part)
{
    double least = 0.0;
    for (;;) {
        size_t n = 0;
        double next = HUGE_VAL;
        for (size_t i = 0; i < part->n_set; i++) {
            if (!is_surface(&part->set[i]) || part->set[i].area < least) continue;
            n++;
            if (part->set[i].area > least) next = fmin(next, part->set[i].area);
        }
        if (n <= MOST_PREPARED || !(next < HUGE_VAL)) return least;
        least = next;
    }
}

static void put_entries(writer *w, entry_call put)
{
    const hx_new_part *const part = w->part;
    const double least = least_area(part);
    size_t n = 0, n_all = 0;
    if (!part->is_file) fprintf(w->out, "# others:\n");
    for (size_t i = 0; i < part->n_set; i++) {
        const hx_new_set *const set = &part->set[i];
        if (!is_surface(set)) continue;
        n_all++;
        if (set->area < least || n == MOST_PREPARED) continue;
        put(w, set->set->name, set);
        n++;
    }
    for (size_t i = 0; needs_sides(part) && i < 6; i++) put(w, side_name[i], NULL);
    if (n < n_all) fprintf(w->out, "#   and %zu smaller ones of the list above\n", n_all - n);
}

/* The supports or loads of a generator's example; NULL: not a generator. */
static const char *known(const hx_new_part *part, int is_load)
{
    static char text[160];
    for (size_t i = 0; !part->is_file && i < sizeof example / sizeof example[0]; i++) {
        const int of_heat = hx_new_is_heat(part);
        if (strcmp(part->name, example[i].generator) != 0) continue;
        if (is_load && of_heat)
            snprintf(text, sizeof text, "    { source = 1.0; },   # in every element\n");
        else
            snprintf(text, sizeof text, "    { set = \"%s\"; %s; },\n",
                     is_load ? example[i].loaded : example[i].held,
                     is_load   ? example[i].force
                     : of_heat ? "temperature = 0.0"
                               : "fix = \"xyz\"");
        return text;
    }
    return NULL;
}

static int64_t count_stated(const hx_conditions *c, int is_load)
{
    int64_t n = is_load ? c->n_force + c->n_load : c->n_support;
    for (int64_t i = 0; !is_load && i < c->n_rigid; i++) n += c->rigid[i].held != 0;
    return n;
}

/* Reason why the file's supports or loads cannot be taken even if items are left out on purpose;
 * NULL: they can. */
static const char *find_fault(const hx_conditions *c, int is_load)
{
    const hx_unread_use use = is_load ? HX_UNREAD_OF_LOADS : HX_UNREAD_OF_SUPPORTS;
    if (c->fault) return c->fault;
    if (c->unread.refused >> use & 1u) return NULL;
    return is_load ? c->load_fault : c->support_fault;
}

/* 1 if the config takes the supports or loads of the file. */
static int takes_stated(const hx_new_part *part, int is_load)
{
    const hx_conditions *const c = &part->session.conditions;
    return part->is_file && count_stated(c, is_load) > 0 && !find_fault(c, is_load);
}

/* Number of statements of one kind of heat in the file. */
static int count_heat(const hx_conditions *c, unsigned kinds)
{
    int n = 0;
    for (int64_t i = 0; i < c->n_heat; i++) n += (int)(kinds >> c->heat[i].kind & 1u);
    return n;
}

/* 1: the lines of heat are exactly what the file states, so that they act as printed. */
static int takes_heat(const hx_new_part *part)
{
    return !part->heat_fault[0] && !(find_unread(part) & ~(unsigned)HX_UNREAD_MATERIAL);
}

int hx_new_is_complete(const hx_new_part *part)
{
    const hx_conditions *const c = &part->session.conditions;
    if ((overridden(part, "supports") || known(part, 0)) &&
        (overridden(part, "loads") || known(part, 1)))
        return 1;
    if (hx_new_is_heat(part))
        return count_heat(c, 1u << HX_FILE_TEMPERATURE | 1u << HX_FILE_FILM) > 0 &&
               count_heat(c, LOADS_OF_HEAT) > 0 && takes_heat(part);
    return takes_stated(part, 0) && takes_stated(part, 1);
}

/* Writes the entry from = "file", or as a comment with the reason. */
static void put_stated(writer *w, int is_load)
{
    const hx_conditions *const c = &w->part->session.conditions;
    const char *const fault = find_fault(c, is_load);
    const long long n = count_stated(c, is_load);
    if (takes_stated(w->part, is_load)) {
        fprintf(w->out, "    { from = \"file\"; },   # the %lld that the file states", n);
        if (is_load && c->n_case > 1)
            fprintf(w->out, ", each of its %d %s a case", c->n_case,
                    hx_noun(c->n_case, "step", "steps"));
        fputc('\n', w->out);
    } else if (n > 0 || (w->part->is_file && fault)) {
        fprintf(w->out, "#   { from = \"file\"; },   # ");
        put_text(w->out, fault ? fault : "");
        fputc('\n', w->out);
    }
}

/* "{ set = "hot"; temperature = 20.0; }," of a statement of the file. */
static void put_heat_entry(writer *w, const hx_file_heat *heat)
{
    static const char *const key[] = {"temperature", "node_heat", "flux", "source", "coefficient"};
    const int is_load = LOADS_OF_HEAT >> heat->kind & 1u, is_taken = takes_heat(w->part);
    char text[40];
    fprintf(w->out, "%s{ set = \"", is_taken ? "    " : "#   ");
    put_text(w->out, heat->set);
    fprintf(w->out, "\"; %s = %s;", key[heat->kind],
            fraction(heat->value, digits_of(heat->value), text));
    if (heat->kind == HX_FILE_FILM)
        fprintf(w->out, " ambient = %s;", fraction(heat->ambient, digits_of(heat->ambient), text));
    if (is_load && w->part->session.conditions.n_heat_case > 1)
        fprintf(w->out, " case = %d;", heat->load_case);
    fprintf(w->out, " },");
    if (!is_load && heat->load_case > 0) fprintf(w->out, "   # in step %d only", heat->load_case);
    fprintf(w->out, is_taken ? "\n" : "   # of the file\n");
}

static void put_heat_entries(writer *w, unsigned kinds)
{
    const hx_conditions *const c = &w->part->session.conditions;
    for (int64_t i = 0; i < c->n_heat; i++)
        if (kinds >> c->heat[i].kind & 1u) put_heat_entry(w, &c->heat[i]);
}

static void put_temperature(writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    put_text(w->out, name);
    fprintf(w->out, "\"; temperature = 0.0; },\n");
}

static void put_heat_load(writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    put_text(w->out, name);
    fprintf(w->out, "\"; heat = 1.0; },\n");
}

/* Writes what of the file is not in the config, and why. */
static void put_heat_notes(writer *w)
{
    const hx_conditions *const c = &w->part->session.conditions;
    const char *const fault = w->part->heat_fault[0] ? w->part->heat_fault : NULL;
    const int64_t n_mechanical = count_stated(c, 0) + count_stated(c, 1);
    if (c->heat_note) {
        fprintf(w->out, "\n# Not in this config: ");
        put_text(w->out, below_folder(w, c->heat_note));
        fputc('\n', w->out);
        hx_log_warning("not in the config: %s", c->heat_note);
    } else if (n_mechanical > 0) {
        fprintf(w->out,
                "\n# Not in this config: the supports and forces of the file, which are not "
                "of heat.\n");
    }
    if (!c->is_heat || takes_heat(w->part)) return;
    fprintf(w->out, "\n# The file's temperatures, loads and convection are commented out, because "
                    "a config cannot state\n# exactly what the file does: ");
    put_text(w->out,
             fault ? below_folder(w, fault) : "items that hextop does not read, see mesh above");
    fprintf(w->out, ".\n# Decide what to do about it, and uncomment those that apply.\n");
    hx_log_warning("the file's temperatures and loads of heat are commented out in the config: %s",
                   fault ? fault : "it states items that hextop does not read");
}

static void put_temperatures(writer *w)
{
    const char *const own = known(w->part, 0);
    if (put_given_list(w, "supports")) return;
    fprintf(w->out,
            "\n"
            "# Sets with a prescribed temperature%s; uncomment lines for more.\n"
            "supports = (\n",
            w->part->is_file ? ": those of the file, if any" : "");
    if (own) fputs(own, w->out);
    put_heat_entries(w, 1u << HX_FILE_TEMPERATURE);
    put_entries(w, put_temperature);
    fprintf(w->out, ");\n");
}

static void put_heat_loads(writer *w)
{
    const char *const own = known(w->part, 1);
    if (put_given_list(w, "loads")) return;
    fprintf(w->out,
            "\n"
            "# Heat sources; uncomment one or more lines. heat = h is shared over the faces;\n"
            "#   flux = q;     per area\n"
            "#   source = s;   per volume\n"
            "#   node_heat = h;  at every node of the set\n"
            "loads = (\n");
    if (own) fputs(own, w->out);
    put_heat_entries(w, LOADS_OF_HEAT);
    put_entries(w, put_heat_load);
    fprintf(w->out, ");\n");
}

/* Writes temperatures, heat loads and convection of a job as entries of the config. */
static void put_heat(writer *w)
{
    put_heat_notes(w);
    put_temperatures(w);
    put_heat_loads(w);
    if (put_given_list(w, "convection") ||
        count_heat(&w->part->session.conditions, 1u << HX_FILE_FILM) == 0)
        return;
    fprintf(w->out, "\n# Convection from the file.\nconvection = (\n");
    put_heat_entries(w, 1u << HX_FILE_FILM);
    fprintf(w->out, ");\n");
}

static void put_supports(writer *w)
{
    const char *const own = known(w->part, 0);
    if (put_given_list(w, "supports")) return;
    fprintf(
        w->out,
        takes_stated(w->part, 0)
            ? "\n"
              "# Supports: those of the file; uncomment lines for more. fix names the directions "
              "that are held.\n"
              "supports = (\n"
            : "\n"
              "# Supports: uncomment one or more lines. fix names the directions that are held.\n"
              "supports = (\n");
    if (own) fputs(own, w->out);
    put_stated(w, 0);
    put_entries(w, put_support);
    fprintf(w->out, ");\n");
}

static void put_loads(writer *w)
{
    const char *const own = known(w->part, 1);
    if (put_given_list(w, "loads")) return;
    fprintf(w->out,
            "\n"
            "# Loads; uncomment one or more lines. Instead of total_force (%s, shared over the "
            "faces):\n"
            "#   traction = [x, y, z]; pressure = p;          per area\n"
            "#   bearing_force = [x, y, z];                   of a pin, on a bore\n"
            "#   remote_force = [x, y, z]; point = [x, y, z]; that acts at another point\n"
            "#   gravity = [x, y, z];                         on the whole part, without a set\n"
            "# case = 2 makes it another load case.\n"
            "loads = (\n",
            w->part->session.cfg.units.force[0] ? w->part->session.cfg.units.force + 1 : "force");
    if (own) fputs(own, w->out);
    put_stated(w, 1);
    put_entries(w, put_load);
    fprintf(w->out, ");\n");
}

/* Writes examples with names of the part, as comments. */
static void put_passive(writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_new_set *solid = NULL, *face = NULL;
    char text[40];
    if (put_given_list(w, "passive")) return;
    for (size_t i = 0; i < part->n_set; i++) {
        const hx_new_set *const set = &part->set[i];
        const int is_all = set->set->n_elem == part->session.mesh.n_elem;
        if (!solid && set->set->n_elem > 0 && !is_all) solid = set;
        if (!face && is_surface(set) && set->n_face > 0) face = set;
    }
    fprintf(w->out, "\n"
                    "# Regions that are not designed: elements, or a skin behind faces.\n");
    if (solid) {
        fprintf(w->out, "# passive = ( { set = \"");
        put_text(w->out, solid->set->name);
        fprintf(w->out, "\"; density = 1.0; } );\n");
    }
    fprintf(w->out, "# passive = ( { set = \"");
    put_text(w->out, face ? face->set->name : needs_sides(part) ? "z-min" : "NAME");
    fprintf(w->out, "\"; skin = %s; } );\n", fraction(2.0 * part->session.mesh.elem_size, 3, text));
}

/* Writes a key of a line of its own, with a comment that concerns any value. */
static void put_line(writer *w, const char *path, const char *value, const char *comment)
{
    const char *const other = overridden(w->part, path);
    if (other && !other[0]) {
        take_key(w, path);
        return;
    }
    fprintf(w->out, "    ");
    put_key(w, path, value);
    fputs(comment, w->out);
}

static void put_filter(writer *w)
{
    const hx_mesh *const m = &w->part->session.mesh;
    const char *const unit = overridden(w->part, "optimization.filter.unit");
    const int in_elements = unit && (!unit[0] || strstr(unit, "element"));
    double diagonal = 0.0, radius = in_elements ? 2.5 : 2.5 * m->elem_size;
    for (int i = 0; i < 3; i++) diagonal = hypot(diagonal, m->box_max[i] - m->box_min[i]);
    /* a radius above the diagonal of the part is refused */
    const double most = 0.9 * diagonal / (in_elements ? m->elem_size : 1.0);
    const int is_small = radius > most;
    if (is_small) radius = most;
    fprintf(w->out, "    filter = { ");
    put_key(w, "optimization.filter.kind", "sensitivity");
    fputc(' ', w->out);
    const int is_default = put_number(w, "optimization.filter.radius", radius, 3);
    fputc(' ', w->out);
    put_key(w, "optimization.filter.unit", "length");
    fprintf(w->out, " };%s\n",
            !is_default ? ""
            : is_small
                ? "   # 0.9 of the diagonal of the part's bounding box, less than 2.5 mean edges"
                : "   # 2.5 mean edges");
}

static void put_design(writer *w)
{
    fprintf(w->out, "\noptimization = {\n");
    put_line(w, "optimization.volume_fraction", "0.3", "        # of the part's volume is kept\n");
    put_line(w, "optimization.iterations", "75", "              # at most\n");
    put_line(w, "optimization.change_tolerance", "0.01",
             "      # ends once no density changes by more\n");
    put_filter(w);
    fprintf(w->out, "};\n");
}

static void put_output(writer *w)
{
    char folder[160];
    snprintf(folder, sizeof folder, "out/%s", w->part->name);
    fprintf(w->out, "\noutput = { ");
    put_key(w, "output.directory", folder);
    fputc(' ', w->out);
    put_key(w, "output.every", "10");
    fputc(' ', w->out);
    put_key(w, "output.fields", "(\"density\")");
    fprintf(w->out, " };   # relative to the folder in which hextop is started\n");
}

/* HX_EINPUT: an argument sets a key that the text does not contain. */
static int check_overrides(const writer *w)
{
    for (size_t i = 0; i < w->part->n_override; i++) {
        const char *const text = w->part->override[i];
        const size_t n = strcspn(text, "=");
        size_t k = 0;
        char key[128], hint[2048];
        while (k < w->n_key && (strlen(w->key[k]) != n || strncmp(w->key[k], text, n) != 0)) k++;
        if (k < w->n_key) continue;
        snprintf(key, sizeof key, "%.*s", n < 120 ? (int)n : 120, text);
        hx_name_list(w->key, w->n_key, hint, sizeof hint);
        return HX_RAISE(HX_EINPUT,
                        "argument '%s': `hextop new` does not write this key; add %s to the "
                        "config. It writes: %s",
                        text, key, hint);
    }
    return HX_OK;
}

int hx_new_write(const hx_new_part *part, FILE *stream)
{
    writer w = {.part = part, .out = stream};
    put_head(&w);
    put_mesh(&w);
    put_material(&w);
    put_sets(&w);
    put_own_sets(&w);
    if (hx_new_is_heat(part)) {
        put_heat(&w);
    } else {
        put_supports(&w);
        put_loads(&w);
    }
    put_passive(&w);
    put_design(&w);
    put_output(&w);
    return check_overrides(&w);
}
