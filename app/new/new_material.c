/* Units and material of a new config. */
#include <math.h>
#include <stdio.h>

#include "../text/log.h"
#include "new_internal.h"

void hx_new_put_units(hx_new_writer *w)
{
    const hx_new_part *const part = w->part;
    const char *const stated = part->session.conditions.units.stated;
    const char *const unit = part->session.cfg.units.length;
    const int of_heat = hx_new_is_heat(part);
    if (!part->is_file && !hx_new_overridden(part, "units")) {
        hx_new_take_key(w, "units");
        return;
    }
    if (!part->units && !hx_new_overridden(part, "units")) {
        fprintf(w->out, "# units: the file states its units, '");
        hx_new_put_quoted_text(w->out, stated);
        fprintf(w->out, "', which `units` cannot name; all numbers are in the units of the file\n");
        hx_new_take_key(w, "units");
        return;
    }
    const int is_default = hx_new_put_key(w, "units", part->units);
    if (part->is_cad) {
        fprintf(w->out, "   # CAD models are in mm, whatever unit they were drawn in");
    } else if (!is_default && unit[0]) {
        fprintf(w->out, "   # lengths of the %s are taken as%s",
                part->is_file ? "file" : "generator", unit);
    } else if (is_default && stated[0]) {
        fprintf(w->out, "   # the file states them: '");
        hx_new_put_quoted_text(w->out, stated);
        fputc('\'', w->out);
    } else if (is_default) {
        fprintf(w->out, "   # the file's lengths are taken as mm; in m: %s",
                of_heat ? "\"W, m, K\"" : "\"N, m, Pa\", E = 2.1e11");
    }
    fputc('\n', w->out);
}

/* Names the other materials of the file, which material.from = "file" takes, too. */
static void put_others(hx_new_writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    const int is_heat = hx_new_is_heat(w->part);
    for (size_t i = 0; i < m->n_other; i++) {
        fprintf(w->out, "\n# '");
        hx_new_put_quoted_text(w->out, m->other[i].name);
        fprintf(w->out, "' of the set '");
        hx_new_put_quoted_text(w->out, m->other[i].set);
        fprintf(w->out, "': %s %g", is_heat ? "conductivity" : "E",
                is_heat ? m->other[i].of.conductivity : m->other[i].of.young);
        if (!isnan(m->other[i].of.density)) fprintf(w->out, ", density %g", m->other[i].of.density);
    }
}

/* 1 if the config takes the materials of the file. */
static int takes_file_material(const hx_new_part *part)
{
    const hx_file_material *const m = &part->session.conditions.material;
    return m->name && !m->fault && !isnan(m->young) && !isnan(m->poisson);
}

static int put_file_material(hx_new_writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    if (!takes_file_material(w->part)) return 0;
    fprintf(w->out, "\n# '");
    hx_new_put_quoted_text(w->out, m->name);
    fprintf(w->out, "' of the file, in its own units: E %g, nu %g", m->young, m->poisson);
    if (!isnan(m->density)) fprintf(w->out, ", density %g", m->density);
    put_others(w);
    fprintf(w->out, "\nmaterial = { ");
    hx_new_put_key(w, "material.from", "file");
    hx_new_put_given(w, "material.E");
    hx_new_put_given(w, "material.nu");
    hx_new_put_given(w, "material.density");
    fprintf(w->out, " };\n");
    return 1;
}

/* Notes that the material of the file cannot be used; the config then has another one. */
static void put_other_material(hx_new_writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    const char *const name = m->name ? m->name : "";
    char text[900];
    if (!m->name && !m->fault) return;
    snprintf(text, sizeof text, "the file's material%s%.100s%s cannot be taken: %.600s",
             name[0] ? " '" : "", name, name[0] ? "'" : "",
             m->fault                  ? hx_new_below_folder(w, m->fault)
             : hx_new_is_heat(w->part) ? "it has no conductivity"
                                       : "it has no modulus and Poisson's ratio");
    fprintf(w->out, "\n# Not from the file, so check it: ");
    hx_new_put_quoted_text(w->out, text);
    hx_log_warning(
        "the config has %s, because %s",
        hx_new_overridden(w->part, hx_new_is_heat(w->part) ? "material.conductivity" : "material.E")
            ? "the material that the arguments give"
            : "steel",
        text);
}

/* 1: the properties of steel cannot be given in the units of the config, since these have no
 * names. */
static int lacks_units(const hx_new_writer *w)
{
    return !w->part->units && w->part->is_file && !hx_new_overridden(w->part, "material.E") &&
           !hx_new_overridden(w->part, "material.conductivity");
}

/* Steel's conductivity is 50 in W/(m K), and also in mW/(mm K). */
static void put_conductivity(hx_new_writer *w)
{
    const hx_file_material *const m = &w->part->session.conditions.material;
    const int is_files = m->name && !m->fault && !isnan(m->conductivity);
    if (!is_files) put_other_material(w);
    if (is_files) {
        fprintf(w->out, "\n# '");
        hx_new_put_quoted_text(w->out, m->name);
        fprintf(w->out, "' of the file, in its own units: conductivity %g", m->conductivity);
        put_others(w);
    }
    fprintf(w->out, "\nmaterial = { ");
    if (!is_files && lacks_units(w)) fprintf(w->out, "   # steel: 50 W/(m K); convert it\n#   ");
    const hx_units *const u = &w->part->session.cfg.units;
    const double steel = u->watt > 0.0 && u->metre > 0.0 ? 50.0 * u->metre / u->watt : 50.0;
    char text[40];
    int is_steel = 0;
    if (is_files)
        hx_new_put_key(w, "material.from", "file");
    else
        is_steel = hx_new_put_key(w, "material.conductivity", hx_new_fraction(steel, 6, text));
    if (is_files) hx_new_put_given(w, "material.conductivity");
    hx_new_put_given(w, "material.conductivity_min");
    if (!is_files && lacks_units(w))
        fprintf(w->out, "\n};\n");
    else
        fprintf(w->out, " };%s\n", is_steel ? "   # steel, 50 W/(m K)" : "");
}

int hx_new_has_density(const hx_new_part *part)
{
    const char *const given = hx_new_overridden(part, "material.density");
    const hx_file_material *const m = &part->session.conditions.material;
    if (given) return given[0] != '\0';
    if (hx_new_is_heat(part)) return 0;
    if (!takes_file_material(part)) return part->is_file || part->session.cfg.units.system[0];
    for (size_t i = 0; i < m->n_other; i++)
        if (isnan(m->other[i].of.density)) return 0;
    return !isnan(m->density);
}

void hx_new_put_material(hx_new_writer *w)
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
        hx_new_put_key(w, "material.E", "1.0");
        fputc(' ', w->out);
        hx_new_put_key(w, "material.nu", "0.3");
        hx_new_put_given(w, "material.density");
        fprintf(w->out, " };   # without units: displacements are proportional to 1 / E\n");
        return;
    }
    const char *const lead = lacks_units(w) ? "# " : "";
    const int is_steel = !hx_new_overridden(w->part, "material.E") &&
                         !hx_new_overridden(w->part, "material.nu") &&
                         !hx_new_overridden(w->part, "material.density");
    fprintf(w->out, "\nmaterial = {%s%s\n%s    ", is_steel ? "            # steel" : "",
            is_steel && lead[0] ? "; convert it to the units of the file" : "", lead);
    hx_new_put_key_number(w, "material.E", 2.1e11 / pascal, 6);
    fprintf(w->out, "       #%s\n    ", stress);
    hx_new_put_key(w, "material.nu", "0.3");
    fprintf(w->out, "\n%s    ", lead);
    hx_new_put_key_number(w, "material.density", 7850.0 / kilograms, 6);
    fprintf(w->out, "  #%s: for the mass in reports, and for gravity\n};\n", density);
}
