/* Supports and loads of a new config, from the file, of a generator, or as examples, and limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../text/log.h"
#include "core/base/names.h"
#include "new_internal.h"

enum { LOADS_OF_HEAT = 1u << HX_FILE_NODE_HEAT | 1u << HX_FILE_FLUX | 1u << HX_FILE_SOURCE };

/* Supports and loads of the generators, as in configs/. For heat, `held` gets temperature 0, and
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

static void put_support(hx_new_writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    hx_new_put_quoted_text(w->out, name);
    fprintf(w->out, "\"; fix = \"xyz\"; },\n");
}

static void put_load(hx_new_writer *w, const char *name, const hx_new_set *set)
{
    const hx_units *const u = &w->part->session.cfg.units;
    fprintf(w->out, "#   { set = \"");
    hx_new_put_quoted_text(w->out, name);
    fprintf(w->out, "\"; total_force = [0.0, 0.0, -1000.0]; },");
    if (set && set->n_face > 0) fprintf(w->out, "   # over %.4g%s", set->area, u->area);
    fputc('\n', w->out);
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

/* The set on which the generator's example or the file's first load on a set acts; NULL: none. */
static const char *find_loaded_set(const hx_new_part *part)
{
    const hx_conditions *const c = &part->session.conditions;
    for (size_t i = 0; !part->is_file && i < sizeof example / sizeof example[0]; i++)
        if (strcmp(part->name, example[i].generator) == 0) return example[i].loaded;
    for (int64_t i = 0; hx_new_is_heat(part) && i < c->n_heat; i++)
        if (LOADS_OF_HEAT >> c->heat[i].kind & 1u) return c->heat[i].set;
    for (int64_t i = 0; !hx_new_is_heat(part) && i < c->n_load; i++)
        if (c->load[i].kind == HX_FILE_PRESSURE || c->load[i].kind == HX_FILE_REMOTE)
            return c->load[i].set;
    return NULL;
}

static int64_t count_stated(const hx_conditions *c, int is_load)
{
    int64_t n = is_load ? c->n_force + c->n_load : c->n_support;
    for (int64_t i = 0; !is_load && i < c->n_rigid; i++) n += c->rigid[i].held != 0;
    return n;
}

/* Reason why the file's supports or loads cannot be used even if items are left out on purpose;
 * NULL: they can. */
static const char *find_fault(const hx_conditions *c, int is_load)
{
    const hx_unread_use use = is_load ? HX_UNREAD_OF_LOADS : HX_UNREAD_OF_SUPPORTS;
    if (c->fault) return c->fault;
    if (c->unread.refused >> use & 1u) return NULL;
    return is_load ? c->load_fault : c->support_fault;
}

/* Returns 1 if the config uses the supports or loads of the file. */
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

/* 1: the lines on heat state exactly what the file states, so that they can be used as printed. */
static int takes_heat(const hx_new_part *part)
{
    return !part->heat_fault[0] && !(hx_new_find_unread(part) & ~(unsigned)HX_UNREAD_MATERIAL);
}

int hx_new_is_complete(const hx_new_part *part)
{
    const hx_conditions *const c = &part->session.conditions;
    if ((hx_new_overridden(part, "supports") || known(part, 0)) &&
        (hx_new_overridden(part, "loads") || known(part, 1)))
        return 1;
    if (hx_new_is_heat(part))
        return count_heat(c, 1u << HX_FILE_TEMPERATURE | 1u << HX_FILE_FILM) > 0 &&
               count_heat(c, LOADS_OF_HEAT) > 0 && takes_heat(part);
    return takes_stated(part, 0) && takes_stated(part, 1);
}

/* Writes the entry with from = "file"; if that is impossible, as a comment with the reason. */
static void put_stated(hx_new_writer *w, int is_load)
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
        hx_new_put_quoted_text(w->out, fault ? fault : "");
        fputc('\n', w->out);
    }
}

void hx_new_put_supports(hx_new_writer *w)
{
    const char *const own = known(w->part, 0);
    if (hx_new_put_given_list(w, "supports")) return;
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
    hx_new_put_entries(w, put_support);
    fprintf(w->out, ");\n");
}

void hx_new_put_loads(hx_new_writer *w)
{
    const char *const own = known(w->part, 1);
    if (hx_new_put_given_list(w, "loads")) return;
    fprintf(w->out,
            "\n"
            "# Loads; uncomment one or more lines. Instead of total_force (%s, shared over the "
            "faces):\n"
            "#   traction = [x, y, z]; pressure = p;          per area\n"
            "#   bearing_force = [x, y, z];                   of a pin, on a bore\n"
            "#   remote_force = [x, y, z]; point = [x, y, z]; that acts at another point\n"
            "#   gravity = [x, y, z];                         on the whole part, without a set\n"
            "#   temperature_change = t;                      of the whole part, or of a set\n"
            "# case = 2 makes it another load case.\n"
            "loads = (\n",
            w->part->session.cfg.units.force[0] ? w->part->session.cfg.units.force + 1 : "force");
    if (own) fputs(own, w->out);
    put_stated(w, 1);
    hx_new_put_entries(w, put_load);
    fprintf(w->out, ");\n");
}

static void put_heat_entries(hx_new_writer *w, unsigned kinds)
{
    const hx_conditions *const c = &w->part->session.conditions;
    /* Writes "{ set = "hot"; temperature = 20.0; }," for a statement of the file. */
    for (int64_t i = 0; i < c->n_heat; i++)
        if (kinds >> c->heat[i].kind & 1u) {
            const hx_file_heat *const heat = &c->heat[i];
            static const char *const key[] = {"temperature", "node_heat", "flux", "source",
                                              "coefficient"};
            const int is_load = LOADS_OF_HEAT >> heat->kind & 1u, is_taken = takes_heat(w->part);
            char text[40];
            fprintf(w->out, "%s{ set = \"", is_taken ? "    " : "#   ");
            hx_new_put_quoted_text(w->out, heat->set);
            fprintf(w->out, "\"; %s = %s;", key[heat->kind],
                    hx_new_fraction(heat->value, hx_new_digits_of(heat->value), text));
            if (heat->kind == HX_FILE_FILM)
                fprintf(w->out, " ambient = %s;",
                        hx_new_fraction(heat->ambient, hx_new_digits_of(heat->ambient), text));
            if (is_load && w->part->session.conditions.n_heat_case > 1)
                fprintf(w->out, " case = %d;", heat->load_case);
            fprintf(w->out, " },");
            if (!is_load && heat->load_case > 0)
                fprintf(w->out, "   # in step %d only", heat->load_case);
            fprintf(w->out, is_taken ? "\n" : "   # of the file\n");
        }
}

static void put_temperature(hx_new_writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    hx_new_put_quoted_text(w->out, name);
    fprintf(w->out, "\"; temperature = 0.0; },\n");
}

static void put_heat_load(hx_new_writer *w, const char *name, const hx_new_set *set)
{
    (void)set;
    fprintf(w->out, "#   { set = \"");
    hx_new_put_quoted_text(w->out, name);
    fprintf(w->out, "\"; heat = 1.0; },\n");
}

/* Writes which statements of the file are not in the config, and why. */
static void put_heat_notes(hx_new_writer *w)
{
    const hx_conditions *const c = &w->part->session.conditions;
    const char *const fault = w->part->heat_fault[0] ? w->part->heat_fault : NULL;
    const int64_t n_mechanical = count_stated(c, 0) + count_stated(c, 1);
    if (c->heat_note) {
        fprintf(w->out, "\n# Not in this config: ");
        hx_new_put_quoted_text(w->out, hx_new_below_folder(w, c->heat_note));
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
    hx_new_put_quoted_text(w->out, fault ? hx_new_below_folder(w, fault)
                                         : "items that hextop does not read, see mesh above");
    fprintf(w->out, ".\n# Decide what to do about it, and uncomment those that apply.\n");
    hx_log_warning("the file's temperatures and loads of heat are commented out in the config: %s",
                   fault ? fault : "it states items that hextop does not read");
}

static void put_temperatures(hx_new_writer *w)
{
    const char *const own = known(w->part, 0);
    if (hx_new_put_given_list(w, "supports")) return;
    fprintf(w->out,
            "\n"
            "# Sets with a prescribed temperature%s; uncomment lines for more.\n"
            "supports = (\n",
            w->part->is_file ? ": those of the file, if any" : "");
    if (own) fputs(own, w->out);
    put_heat_entries(w, 1u << HX_FILE_TEMPERATURE);
    hx_new_put_entries(w, put_temperature);
    fprintf(w->out, ");\n");
}

static void put_heat_loads(hx_new_writer *w)
{
    const char *const own = known(w->part, 1);
    if (hx_new_put_given_list(w, "loads")) return;
    fprintf(w->out,
            "\n"
            "# Heat sources; uncomment one or more lines. heat = h is shared over the faces;\n"
            "#   flux = q;     per area\n"
            "#   source = s;   per volume\n"
            "#   node_heat = h;  at every node of the set\n"
            "loads = (\n");
    if (own) fputs(own, w->out);
    put_heat_entries(w, LOADS_OF_HEAT);
    hx_new_put_entries(w, put_heat_load);
    fprintf(w->out, ");\n");
}

void hx_new_put_heat(hx_new_writer *w)
{
    put_heat_notes(w);
    put_temperatures(w);
    put_heat_loads(w);
    if (hx_new_put_given_list(w, "convection") ||
        count_heat(&w->part->session.conditions, 1u << HX_FILE_FILM) == 0)
        return;
    fprintf(w->out, "\n# Convection from the file.\nconvection = (\n");
    put_heat_entries(w, 1u << HX_FILE_FILM);
    fprintf(w->out, ");\n");
}

int hx_new_put_limits(hx_new_writer *w)
{
    const hx_mesh *const m = &w->part->session.mesh;
    const int is_heat = hx_new_is_heat(w->part), has_density = hx_new_has_density(w->part);
    const char *set = find_loaded_set(w->part);
    double diagonal = 0.0;
    char limit[40], radius[40];
    for (int i = 0; i < 3; i++) diagonal = hypot(diagonal, m->box_max[i] - m->box_min[i]);
    if (!set) HX_TRY(hx_new_find_free_set(w->part, &set));
    fprintf(w->out,
            "    # %s within limits instead: these lines in place of those above, with sets and\n"
            "    # limits of your own. `hextop check CONFIG --solve` prints the values of the "
            "solid part,\n"
            "    # and `hextop lightest CONFIG` finds the part.\n"
            "    # objective = \"%s\";\n"
            "    # constraints = ( { kind = \"%s\"; set = \"",
            has_density ? "The lightest part" : "The smallest part",
            has_density ? "mass" : "volume", is_heat ? "temperature" : "displacement");
    hx_new_put_quoted_text(w->out, set);
    fprintf(w->out,
            "\"; max = %s; } );\n"
            "    # iterations = 120;\n"
            "    # filter = { kind = \"density\"; radius = %s; unit = \"length\"; };\n"
            "    # projection = { every = 20; };\n",
            is_heat ? "80.0" : hx_new_fraction(2e-3 * diagonal, 2, limit),
            hx_new_fraction(fmin(2.5 * m->elem_size, 0.9 * diagonal), 3, radius));
    return HX_OK;
}
