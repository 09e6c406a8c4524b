/* hextop check: material, supports, springs and loads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/names.h"
#include "core/problem/bearing.h"

static const char *vector_text(const double *v, char *text, size_t n_text)
{
    snprintf(text, n_text, "[%g, %g, %g]", v[0], v[1], v[2]);
    return text;
}

/* Prints a line per entry of `materials`. */
static void report_materials(const hx_session *s)
{
    char text[400];
    for (size_t i = 0; i < s->cfg.materials.n; i++)
        hx_log_info("%s%s", i == 0 ? "materials " : "          ",
                    hx_session_material_text(s, i, text, sizeof text));
}

/* Prints nothing of `material` if there are neither units nor a density, since that would only
 * repeat two numbers of the config. */
static int check_material(const hx_session *s)
{
    const hx_units *u = &s->cfg.units;
    const double density = s->cfg.material.density;
    const double wanted = hx_session_volume_wanted(s);
    char a[48], b[48], at[128] = "";
    double mass;
    if (!u->system[0] && isnan(density)) return HX_OK;
    if (hx_config_is_heat(&s->cfg)) {
        hx_log_info("\nmaterial  conductivity %g%s, of void %g%s", s->problem.young,
                    u->conductivity, s->problem.least, u->conductivity);
        return HX_OK;
    }
    hx_log_info("\nmaterial  E %g%s, nu %g", s->cfg.material.young, u->stress,
                s->cfg.material.poisson);
    if (isnan(density)) return HX_OK;
    HX_TRY(hx_problem_mass_volume(&s->problem, NULL, &mass));
    mass *= density;
    if (!isnan(wanted))
        snprintf(at, sizeof at, ", %s at the volume fraction%s",
                 hx_units_mass_like(u, wanted * mass, mass, b, sizeof b),
                 s->problem.materials.n ? ", spread evenly over the materials" : "");
    hx_log_info("  density %g%s; mass %s solid%s", density, u->density,
                hx_units_mass_text(u, mass, a, sizeof a), at);
    return HX_OK;
}

int hx_check_material(const hx_session *s)
{
    HX_TRY(check_material(s));
    report_materials(s);
    return HX_OK;
}

/* Adds rows for sets that the file makes rigid, such as "set held in x, y by reference node 17 9
 * nodes". */
static void add_rigid_sets(hx_table *table, const hx_session *s)
{
    static const char *const component[] = {"x", "y", "z", "xx", "yy", "zz"};
    for (int64_t i = 0; i < s->conditions.n_rigid; i++) {
        const hx_file_rigid *const rigid = &s->conditions.rigid[i];
        const hx_set *const set = hx_mesh_find_set(&s->mesh, rigid->set);
        const char *const colon = strstr(rigid->name, ": ");
        char held[32] = "";
        for (int k = 0; k < 6; k++)
            if (rigid->held >> k & 1u)
                snprintf(held + strlen(held), sizeof held - strlen(held), " %s", component[k]);
        hx_table_add(table, "%s", rigid->set);
        hx_table_add(table, "rigid with %s,%s%s", colon ? colon + 2 : rigid->name,
                     rigid->held ? " held in" : " free", held);
        const int64_t n = set ? set->n_node : 0;
        hx_table_add(table, "%lld %s", (long long)n, hx_noun(n, "node", "nodes"));
    }
}

void hx_check_supports(const hx_session *s)
{
    const hx_config_support *support = s->cfg.supports.entry;
    hx_table table;
    char text[96];
    int64_t n_fixed = 0;
    for (int64_t a = 0; a < s->space.n_point; a++)
        for (int i = 0; i < s->problem.components; i++)
            n_fixed += s->problem.supports.fixed[a] >> i & 1;
    hx_log_info("\nsupports  %s of %s degrees of freedom held", hx_format_count(n_fixed, text, 32),
                hx_format_count(s->problem.components * s->space.n_point, text + 32, 32));
    if (hx_check_is_quiet()) return;
    hx_table_begin(&table, "lll");
    for (size_t i = 0; i < s->cfg.supports.n; i++) {
        if (support[i].from) {
            hx_table_add(&table, "%s", s->mesh.name);
            hx_table_add(&table, "%s", "its supports");
            hx_table_add(&table, "%lld", (long long)s->conditions.n_support);
            add_rigid_sets(&table, s);
            continue;
        }
        hx_table_add(&table, "%s", support[i].set);
        if (hx_config_is_heat(&s->cfg)) {
            hx_table_add(&table, "%s", "temperature");
            hx_table_add(&table, "%g%s", support[i].temperature, s->cfg.units.temperature);
            continue;
        }
        hx_table_add(&table, "%s", support[i].fix);
        hx_table_add(&table, "%s%s", vector_text(support[i].value, text, sizeof text),
                     s->cfg.units.length);
    }
    hx_table_end(&table, 2);
}

static void print_convection(const hx_session *s)
{
    const hx_config_convection *film = s->cfg.convection.entry;
    char text[96];
    hx_table table;
    hx_log_info("\nconvection  at %s %s", hx_format_count(s->problem.films.n, text, sizeof text),
                hx_noun(s->problem.films.n, "node", "nodes"));
    if (hx_check_is_quiet()) return;
    hx_table_begin(&table, "lll");
    for (size_t i = 0; i < s->cfg.convection.n; i++) {
        hx_table_add(&table, "%s", film[i].set);
        hx_table_add(&table, "%g%s", film[i].coefficient, s->cfg.units.film);
        hx_table_add(&table, "to %g%s", film[i].ambient, s->cfg.units.temperature);
    }
    hx_table_end(&table, 2);
}

void hx_check_springs(const hx_session *s)
{
    const hx_config_spring *spring = s->cfg.springs.entry;
    char text[96];
    hx_table table;
    if (s->cfg.convection.n > 0) print_convection(s);
    if (s->cfg.springs.n == 0) return;
    hx_log_info("\nsprings   at %s degrees of freedom",
                hx_format_count(s->problem.springs.n, text, sizeof text));
    if (hx_check_is_quiet()) return;
    hx_table_begin(&table, "lll");
    for (size_t i = 0; i < s->cfg.springs.n; i++) {
        hx_table_add(&table, "%s", spring[i].set);
        hx_table_add(&table, "%s%s", vector_text(spring[i].stiffness, text, sizeof text),
                     s->cfg.units.stiffness);
        hx_table_add(&table, spring[i].per == HX_SPRING_TOTAL ? "in %s" : "per %s",
                     hx_config_word("springs[].per", (int)spring[i].per));
    }
    hx_table_end(&table, 2);
}

/* Adds the force and the bore that was found. */
static int add_bearing(hx_table *table, const hx_mesh *mesh, const hx_config_load *load,
                       const hx_units *u)
{
    char force[96], axis[96], centre[96];
    hx_bearing fit;
    HX_TRY(hx_bearing_fit(mesh, load->set, load->origin, load->bearing_force, &fit));
    const double *peak = fit.peak;
    for (int i = 0; i < 3; i++) /* rounding */
        if (fabs(fit.centre[i]) < 1e-9 * fit.radius) fit.centre[i] = 0.0;
    hx_table_add(table, "%s%s of a pin: radius %.6g%s, axis %s through %s%s, peak pressure %.4g%s",
                 vector_text(load->bearing_force, force, sizeof force), u->force, fit.radius,
                 u->length, vector_text(fit.axis, axis, sizeof axis),
                 vector_text(fit.centre, centre, sizeof centre), u->length,
                 sqrt(peak[0] * peak[0] + peak[1] * peak[1] + peak[2] * peak[2]), u->stress);
    return HX_OK;
}

/* Returns 1 if the load is one of heat. */
static int add_heat(hx_table *table, const hx_config_load *load, const hx_units *u)
{
    if (!isnan(load->source))
        hx_table_add(table, "source %g%s", load->source, u->source[0] ? u->source : " per volume");
    else if (!isnan(load->heat))
        hx_table_add(table, "%g%s in total", load->heat, u->power);
    else if (!isnan(load->flux))
        hx_table_add(table, "flux %g%s", load->flux, u->flux[0] ? u->flux : " per area");
    else if (!isnan(load->node_heat))
        hx_table_add(table, "%g%s at every node", load->node_heat, u->power);
    else
        return 0;
    return 1;
}

static int add_load_row(hx_table *table, const hx_mesh *mesh, const hx_config_load *load,
                        const hx_units *u)
{
    char text[96];
    hx_table_add(table, "%s", load->set ? load->set : load->from ? "the file" : "the part");
    if (add_heat(table, load, u)) {
        hx_table_add(table, "case %d", load->load_case);
        return HX_OK;
    }
    if (load->from)
        hx_table_add(table, "%s", "all its forces");
    else if (load->centrifugal.given)
        hx_table_add(table, "%g%s about %s", load->centrifugal.speed,
                     u->rate[0] ? u->rate : " rad per time",
                     vector_text(load->centrifugal.axis, text, sizeof text));
    else if (!isnan(load->gravity[0]))
        hx_table_add(table, "acceleration %s%s", vector_text(load->gravity, text, sizeof text),
                     u->acceleration);
    else if (!isnan(load->node_force[0]))
        hx_table_add(table, "%s%s at every node", vector_text(load->node_force, text, sizeof text),
                     u->force);
    else if (!isnan(load->total_force[0]))
        hx_table_add(table, "%s%s in total", vector_text(load->total_force, text, sizeof text),
                     u->force);
    else if (!isnan(load->traction[0]))
        hx_table_add(table, "%s%s per area", vector_text(load->traction, text, sizeof text),
                     u->stress);
    else if (!isnan(load->temperature_change))
        hx_table_add(table, "temperature change %g", load->temperature_change);
    else if (!isnan(load->pressure))
        hx_table_add(table, "pressure %g%s", load->pressure, u->stress);
    else if (!isnan(load->bearing_force[0]))
        HX_TRY(add_bearing(table, mesh, load, u));
    else { /* "[0, 0, -5] at [0, 0, 80], moment [1, 0, 0], distributing" */
        char part[3][96] = {"", "", ""};
        const int force = !isnan(load->remote_force[0]), moment = !isnan(load->moment[0]);
        if (force) {
            vector_text(load->remote_force, part[0], sizeof part[0]);
            vector_text(load->point, part[1], sizeof part[1]);
        }
        if (moment) vector_text(load->moment, part[2], sizeof part[2]);
        hx_table_add(table, "%s%s%s%s%s%s%s%s%s, %s", part[0], force ? u->force : "",
                     force ? " at " : "", part[1], force ? u->length : "",
                     force && moment ? ", " : "", moment ? "moment " : "", part[2],
                     moment ? u->work : "",
                     load->coupling == HX_COUPLING_RIGID ? "rigid" : "distributing");
    }
    if (load->load_case > 0)
        hx_table_add(table, "case %d", load->load_case);
    else
        hx_table_add(table, "%s", "one case per step");
    return HX_OK;
}

int hx_check_loads(const hx_session *s)
{
    const hx_config_load *load = s->cfg.loads.entry;
    char text[96];
    int rc = HX_OK;
    hx_log_info("\nloads");
    if (!hx_check_is_quiet()) {
        hx_table table;
        hx_table_begin(&table, "lll");
        for (size_t i = 0; rc == HX_OK && i < s->cfg.loads.n; i++)
            rc = add_load_row(&table, &s->mesh, &load[i], &s->cfg.units);
        hx_table_end(&table, 2);
        HX_TRY(rc);
    }
    double *rho = NULL;
    HX_TRY(hx_session_first_density(s, &rho));
    for (int c = 0; c < s->problem.cases.n; c++) {
        double total[3], body[3];
        hx_problem_total_force(&s->problem, c, total);
        hx_problem_total_body(&s->problem, c, rho, body);
        for (int i = 0; i < 3; i++) total[i] += body[i];
        /* Replaces values that are only rounding by 0. */
        const double size = fabs(total[0]) + fabs(total[1]) + fabs(total[2]);
        for (int i = 0; i < 3; i++)
            if (fabs(total[i]) < 1e-12 * size) total[i] = 0.0;
        if (hx_config_is_heat(&s->cfg))
            hx_log_info("  sum of case %d, weight %g: %g%s", c + 1, s->problem.cases.weight[c],
                        total[0], s->cfg.units.power);
        else
            hx_log_info("  sum of case %d, weight %g: %s%s", c + 1, s->problem.cases.weight[c],
                        vector_text(total, text, sizeof text), s->cfg.units.force);
    }
    free(rho);
    return HX_OK;
}
