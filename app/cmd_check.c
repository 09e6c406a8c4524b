/* hextop check: everything up to the first solve, reported; nothing is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "continuation.h"
#include "core/bearing.h"
#include "core/cells.h"
#include "core/clock.h"
#include "core/memory.h"
#include "core/mesh_quality.h"
#include "core/simp.h"
#include "core/skin.h"
#include "footprint.h"
#include "output.h"
#include "table.h"

static int n_warning;

#define WARN(...) (n_warning++, hx_log_warning(__VA_ARGS__))

static int is_quiet(void)
{
    return hx_log_get_level() < HX_LOG_NORMAL;
}

static const char *vector_text(const double *v, char *text, size_t n_text)
{
    snprintf(text, n_text, "[%g, %g, %g]", v[0], v[1], v[2]);
    return text;
}

static int report_mesh(const hx_session *s)
{
    const hx_mesh *mesh = &s->mesh;
    hx_mesh_quality q;
    const hx_units *u = &s->cfg.units;
    char a[32], b[32];
    HX_TRY(hx_mesh_measure(mesh, &q));
    hx_log_info("mesh      %s, %s elements, %s nodes", mesh->name,
                hx_format_count(mesh->n_elem, a, sizeof a),
                hx_format_count(mesh->n_node, b, sizeof b));
    hx_log_info("  box               %g to %g, %g to %g, %g to %g%s", mesh->box_min[0],
                mesh->box_max[0], mesh->box_min[1], mesh->box_max[1], mesh->box_min[2],
                mesh->box_max[2], u->length);
    hx_log_info("  volume            %.6g%s, mean element size %.4g%s", mesh->total_volume,
                u->volume, mesh->elem_size, u->length);
    hx_log_info("  element volumes   %.4g to %.4g%s", q.min_volume, q.max_volume, u->volume);
    hx_log_info("  scaled Jacobian   %.3f at worst (element %lld), %.3f on average",
                q.min_scaled_jacobian, (long long)q.worst_elem, q.mean_scaled_jacobian);
    hx_log_info("  edge ratio        %.2f at worst (element %lld)", q.max_aspect,
                (long long)q.aspect_elem);
    hx_log_info("  bodies            %lld", (long long)q.n_body);
    if (q.n_poor > 0)
        WARN("%s elements have a scaled Jacobian below 0.2 (worst: %.3f, element %lld); the "
             "solver will be slow and stresses poor there",
             hx_format_count(q.n_poor, a, sizeof a), q.min_scaled_jacobian,
             (long long)q.worst_elem);
    if (q.n_body > 1)
        WARN("the mesh falls into %lld bodies that share no node (largest: %s elements); merge "
             "coincident nodes if they should be one",
             (long long)q.n_body, hx_format_count(q.largest_body, a, sizeof a));
    if (q.n_hinge > 0)
        WARN("at %s nodes elements touch without sharing a face: hinges",
             hx_format_count(q.n_hinge, a, sizeof a));
    return HX_OK;
}

static void report_sets(const hx_mesh *mesh)
{
    hx_table table;
    char text[32];
    if (is_quiet() || mesh->n_set == 0) return;
    hx_log_info("\nsets");
    hx_table_begin(&table, "lrrr");
    hx_table_add(&table, "name");
    hx_table_add(&table, "nodes");
    hx_table_add(&table, "elements");
    hx_table_add(&table, "faces");
    for (size_t i = 0; i < mesh->n_set; i++) {
        hx_table_add(&table, "%s", mesh->set[i].name);
        hx_table_add(&table, "%s", hx_format_count(mesh->set[i].n_node, text, sizeof text));
        hx_table_add(&table, "%s", hx_format_count(mesh->set[i].n_elem, text, sizeof text));
        hx_table_add(&table, "%s", hx_format_count(mesh->set[i].n_face, text, sizeof text));
    }
    hx_table_end(&table, 2);
}

/* The units tell whether this is a material. */
static void warn_of_material(const hx_session *s)
{
    const hx_units *u = &s->cfg.units;
    const double young = s->cfg.material.young, density = s->cfg.material.density;
    const double pascal = young * u->pascal, kilograms = density * u->density_si;
    if (pascal > 2e12)
        WARN("material.E = %g%s is above that of diamond (1.2 TPa): is it in another unit?", young,
             u->stress);
    if (pascal < 1e3)
        WARN("material.E = %g%s is below that of the softest gels (1 kPa): is it in another unit?",
             young, u->stress);
    if (kilograms > 3e4)
        WARN("material.density = %g%s is above that of osmium (22,590 kg/m^3): is it in another "
             "unit?",
             density, u->density);
    if (kilograms < 0.1)
        WARN("material.density = %g%s is below that of air (1 kg/m^3): is it in another unit?",
             density, u->density);
}

/* What without units and a density would be two numbers of the config. */
static void report_material(const hx_session *s)
{
    const hx_units *u = &s->cfg.units;
    const double density = s->cfg.material.density;
    if (!u->system[0] && isnan(density)) return;
    hx_log_info("\nmaterial  E %g%s, nu %g", s->cfg.material.young, u->stress,
                s->cfg.material.poisson);
    if (!isnan(density))
        hx_log_info("  density %g%s; mass %.6g%s solid, %.6g%s at the volume fraction", density,
                    u->density, hx_session_mass(s, 1.0), u->mass,
                    hx_session_mass(s, s->cfg.optimization.volume_fraction), u->mass);
    if (u->system[0]) warn_of_material(s);
}

static void report_supports(const hx_session *s)
{
    const hx_config_support *support = s->cfg.supports.entry;
    hx_table table;
    char text[96];
    int64_t n_fixed = 0;
    for (int64_t a = 0; a < s->mesh.n_node; a++)
        for (int i = 0; i < 3; i++) n_fixed += s->problem.fixed[a] >> i & 1;
    hx_log_info("\nsupports  %s of %s degrees of freedom held", hx_format_count(n_fixed, text, 32),
                hx_format_count(3 * s->mesh.n_node, text + 32, 32));
    if (is_quiet()) return;
    hx_table_begin(&table, "lll");
    for (size_t i = 0; i < s->cfg.supports.n; i++) {
        if (support[i].from) {
            hx_table_add(&table, "%s", s->mesh.name);
            hx_table_add(&table, "%s", "as it states");
            hx_table_add(&table, "%lld", (long long)s->mesh.n_file_support);
            continue;
        }
        hx_table_add(&table, "%s", support[i].set);
        hx_table_add(&table, "%s", support[i].fix);
        hx_table_add(&table, "%s%s", vector_text(support[i].value, text, sizeof text),
                     s->cfg.units.length);
    }
    hx_table_end(&table, 2);
}

static void report_springs(const hx_session *s)
{
    const hx_config_spring *spring = s->cfg.springs.entry;
    char text[96];
    hx_table table;
    if (s->cfg.springs.n == 0) return;
    hx_log_info("\nsprings   at %s degrees of freedom",
                hx_format_count(s->problem.n_spring, text, sizeof text));
    if (is_quiet()) return;
    hx_table_begin(&table, "lll");
    for (size_t i = 0; i < s->cfg.springs.n; i++) {
        hx_table_add(&table, "%s", spring[i].set);
        hx_table_add(&table, "%s%s", vector_text(spring[i].stiffness, text, sizeof text),
                     s->cfg.units.stiffness);
        hx_table_add(&table, strcmp(spring[i].per, "total") == 0 ? "in %s" : "per %s",
                     spring[i].per);
    }
    hx_table_end(&table, 2);
}

/* "[0, 0, -5] at [0, 0, 80], moment [1, 0, 0], distributing" */
static void add_remote(hx_table *table, const hx_config_load *load, const hx_units *u)
{
    char text[3][96] = {"", "", ""};
    const int force = !isnan(load->remote_force[0]), moment = !isnan(load->moment[0]);
    if (force) {
        vector_text(load->remote_force, text[0], sizeof text[0]);
        vector_text(load->point, text[1], sizeof text[1]);
    }
    if (moment) vector_text(load->moment, text[2], sizeof text[2]);
    hx_table_add(table, "%s%s%s%s%s%s%s%s%s, %s", text[0], force ? u->force : "",
                 force ? " at " : "", text[1], force ? u->length : "", force && moment ? ", " : "",
                 moment ? "moment " : "", text[2], moment ? u->work : "",
                 load->coupling ? load->coupling : "distributing");
}

/* The force and the bore that was found. */
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

static int add_load(hx_table *table, const hx_mesh *mesh, const hx_config_load *load,
                    const hx_units *u)
{
    char text[96];
    hx_table_add(table, "%s", load->set ? load->set : load->from ? "the file" : "the part");
    if (load->from)
        hx_table_add(table, "%s", "forces as it states");
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
    else if (!isnan(load->pressure))
        hx_table_add(table, "pressure %g%s", load->pressure, u->stress);
    else if (!isnan(load->bearing_force[0]))
        HX_TRY(add_bearing(table, mesh, load, u));
    else
        add_remote(table, load, u);
    if (load->load_case > 0)
        hx_table_add(table, "case %d", load->load_case);
    else
        hx_table_add(table, "%s", "a case a step");
    return HX_OK;
}

/* The share of a case's nodal forces that supports take at once. */
static void warn_of_held_load(const hx_session *s, int load_case)
{
    const double *force = s->problem.force[load_case];
    double all = 0.0, held = 0.0;
    for (int64_t k = 0; k < 3 * s->mesh.n_node; k++) {
        all += fabs(force[k]);
        if (s->problem.fixed[k / 3] >> (k % 3) & 1) held += fabs(force[k]);
    }
    if (held > 0.1 * all)
        WARN("%.0f %% of the nodal forces of load case %d act on held degrees of freedom: the "
             "supports take them, the part does not",
             100.0 * held / all, load_case + 1);
}

/* What is 0 but for rounding reads as 0. */
static void drop_rounding(double v[3])
{
    const double size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
    for (int i = 0; i < 3; i++)
        if (fabs(v[i]) < 1e-12 * size) v[i] = 0.0;
}

static int report_loads(const hx_session *s)
{
    const hx_config_load *load = s->cfg.loads.entry;
    char text[96];
    int rc = HX_OK;
    hx_log_info("\nloads");
    if (!is_quiet()) {
        hx_table table;
        hx_table_begin(&table, "lll");
        for (size_t i = 0; rc == HX_OK && i < s->cfg.loads.n; i++)
            rc = add_load(&table, &s->mesh, &load[i], &s->cfg.units);
        hx_table_end(&table, 2);
        HX_TRY(rc);
    }
    for (int c = 0; c < s->problem.n_case; c++) {
        double total[3], body[3];
        hx_problem_total_force(&s->problem, c, total);
        hx_problem_total_body(&s->problem, c, NULL, body);
        for (int i = 0; i < 3; i++) total[i] += body[i];
        drop_rounding(total);
        hx_log_info("  sum of case %d, weight %g: %s%s", c + 1, s->problem.weight[c],
                    vector_text(total, text, sizeof text), s->cfg.units.force);
        warn_of_held_load(s, c);
    }
    return HX_OK;
}

/* 1 if all elements at the node are passive and nearly void. */
static int is_void_node(const hx_problem *problem, int64_t node)
{
    const hx_mesh *mesh = problem->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++) {
        const double rho = problem->passive[mesh->node_elem[k] >> 3];
        if (isnan(rho) || rho > 0.1) return 0;
    }
    return 1;
}

/* What each skin holds. */
static int report_skins(const hx_session *s)
{
    const hx_config_passive *passive = s->cfg.passive.entry;
    char text[32];
    for (size_t i = 0; i < s->cfg.passive.n; i++) {
        uint8_t *flag = NULL;
        int64_t n;
        if (isnan(passive[i].skin)) continue;
        HX_TRY(hx_alloc(&flag, (size_t)s->mesh.n_elem, 1, "elements of a skin"));
        const int rc = hx_skin_flag(&s->mesh, hx_mesh_find_set(&s->mesh, passive[i].set),
                                    passive[i].skin, flag, &n);
        free(flag);
        HX_TRY(rc);
        hx_log_info("  skin of %s, %g%s thick: %s elements of density %g", passive[i].set,
                    passive[i].skin, s->cfg.units.length, hx_format_count(n, text, sizeof text),
                    passive[i].density);
    }
    return HX_OK;
}

static int report_passive(const hx_session *s)
{
    const hx_problem *problem = &s->problem;
    int64_t n_void = 0;
    char text[32];
    if (!problem->passive) return HX_OK;
    hx_log_info("\npassive   %s elements, %.1f %% of the volume",
                hx_format_count(problem->n_passive, text, sizeof text),
                100.0 * (1.0 - problem->design_volume / s->mesh.total_volume));
    HX_TRY(report_skins(s));
    for (int64_t a = 0; a < s->mesh.n_node; a++) {
        int loaded = 0;
        for (int c = 0; c < problem->n_case && !loaded; c++)
            for (int i = 0; i < 3; i++) loaded |= fabs(problem->force[c][3 * a + i]) > 0.0;
        n_void += loaded && is_void_node(problem, a);
    }
    if (n_void > 0)
        WARN("%s loaded nodes touch passive void only: their displacement will dominate the "
             "compliance",
             hx_format_count(n_void, text, sizeof text));
    return HX_OK;
}

/* The filter's reach and its memory on the device. */
static int report_filter(const hx_session *s)
{
    const double radius = s->filter_radius, in_elements = radius / s->mesh.elem_size;
    double mean = 0.0;
    char text[32], neighbours[48] = "";
    if (!(radius > 0.0)) {
        hx_log_info("\nfilter    %s", s->cfg.optimization.filter.kind);
        return HX_OK;
    }
    if (hx_filter_find(s->cfg.optimization.filter.kind)->sums_pairs) {
        const int rc = hx_cells_estimate(&s->mesh, radius, &mean);
        if (rc < 0) return hx_config_blame(&s->cfg, "optimization.filter.radius", rc);
        snprintf(neighbours, sizeof neighbours, ", about %.0f neighbours each", mean);
    }
    hx_log_info("\nfilter    %s, radius %.4g%s, %.3g elements%s (%s)",
                s->cfg.optimization.filter.kind, radius, s->cfg.units.length, in_elements,
                neighbours, hx_format_bytes((double)hx_session_filter_bytes(s), text, sizeof text));
    if (in_elements < 1.5)
        WARN("the filter's radius of %.2g elements reaches hardly any neighbour: checkerboards are "
             "likely; 1.5 to 6 elements are usual",
             in_elements);
    if (in_elements > 10.0)
        WARN("the filter's radius of %.3g elements blurs the design and costs time; 1.5 to 6 "
             "elements are usual",
             in_elements);
    return HX_OK;
}

static void report_ties(const hx_session *s)
{
    const hx_ties *ties = &s->ties;
    const double n_free = (double)(s->mesh.n_elem - s->problem.n_passive);
    char text[256];
    if (ties->n_group == 0) return;
    hx_log_info("\nties      %s", hx_session_ties_text(s, text, sizeof text));
    if ((double)ties->n_alone > 0.1 * n_free)
        WARN(
            "%.0f %% of the elements have no image in the part, and stay free: look at the planes' "
            "points and normals",
            100.0 * (double)ties->n_alone / n_free);
    if ((double)ties->n_shifted > 0.1 * n_free)
        WARN("the mesh is not symmetric or extruded itself: %.0f %% of the elements share the "
             "density of an element up to %.2g elements off their image",
             100.0 * (double)ties->n_shifted / n_free, ties->shift);
}

static void report_continuation(const hx_session *s)
{
    char text[256];
    if (hx_continuation_text(&s->cfg, text, sizeof text)[0]) hx_log_info("rising    %s", text);
    n_warning += hx_continuation_warn(&s->cfg);
}

static int report_memory(hx_session *s)
{
    const double host = (double)hx_mesh_bytes(&s->mesh) + (double)hx_problem_bytes(&s->problem);
    const int shared = strcmp(s->device.ops->name, "cpu") == 0;
    const double held = (double)s->op.device_bytes; /* after a trial of operators */
    hx_memory_item item[HX_SESSION_ITEMS];
    const int n_item = hx_session_device_items(s, item);
    double device = 0.0;
    for (int i = 0; i < n_item; i++) device += (double)item[i].bytes;
    const double host_free = (double)hx_host_memory_available() + (double)hx_mesh_bytes(&s->mesh) +
                             (double)hx_problem_bytes(&s->problem) + (shared ? held : 0.0);
    size_t device_free = 0, device_total = 0;
    char a[32], b[32];
    HX_TRY(s->device.ops->memory(&s->device, &device_free, &device_total));
    hx_log_info("\nmemory");
    hx_log_info("  host    %8s of %s available", hx_format_bytes(host, a, sizeof a),
                hx_format_bytes(host_free, b, sizeof b));
    hx_log_info("  device  %8s of %s available%s", hx_format_bytes(device, a, sizeof a),
                hx_format_bytes((double)device_free + held, b, sizeof b),
                shared ? ", the same memory as the host's" : "");
    hx_footprint_print(s, n_item, item, 0);
    if (host + (shared ? device : 0.0) > 0.9 * host_free)
        WARN("the run will need nearly all host memory, or more: take a smaller mesh, or "
             "an operator that stores less");
    return HX_OK;
}

/* The most host memory at any time of a run: what the steps so far took at their worst, measured,
 * or what the run will hold, with the device if that is the host, and the output, the libraries'
 * share as it is now. */
static void report_peak(const hx_session *s, const hx_output_plan *plan)
{
    const int shared = strcmp(s->device.ops->name, "cpu") == 0;
    const double so_far = (double)hx_host_memory_peak();
    const double held = (double)hx_mesh_bytes(&s->mesh) + (double)hx_problem_bytes(&s->problem) +
                        (shared ? (double)s->device_bytes : 0.0);
    const double libraries = fmax(0.0, (double)hx_host_memory_resident() - held);
    const double later = held + libraries + (double)plan->fields + (double)plan->writer;
    const double peak = fmax(so_far, later), n_elem = (double)s->mesh.n_elem;
    char a[32], b[32];
    hx_log_info("  peak    %8s on the host, %.0f bytes an element; so far %s, %.0f bytes",
                hx_format_bytes(peak, a, sizeof a), peak / n_elem,
                hx_format_bytes(so_far, b, sizeof b), so_far / n_elem);
}

static void report_output(const hx_session *s, const hx_output_plan *plan)
{
    const int ascii = strcmp(s->cfg.output.format, "ascii") == 0;
    const double all = (double)plan->file_bytes * plan->n_file;
    const char *bound = ascii ? "at least " : isnan(s->cfg.output.threshold) ? "" : "at most ";
    char a[32], b[32], c[32];
    hx_log_info(
        "\noutput    %s: %d VTK file%s of %s%s, %s in all, %s free", s->cfg.output.directory,
        plan->n_file, plan->n_file == 1 ? "" : "s", bound,
        hx_format_bytes((double)plan->file_bytes, a, sizeof a), hx_format_bytes(all, b, sizeof b),
        plan->disk_free ? hx_format_bytes((double)plan->disk_free, c, sizeof c) : "unknown");
    if (plan->disk_free > 0 && all > (double)plan->disk_free)
        WARN("the VTK files may not fit on the disk of %s: raise output.every, or give an "
             "output.threshold",
             s->cfg.output.directory);
}

/* The stiffness of the uniform design. */
static int set_uniform(hx_session *s)
{
    const size_t n_elem = (size_t)s->mesh.n_elem;
    const double uniform =
        hx_simp_modulus(s->problem.young, s->problem.penalty, s->problem.volume_fraction);
    double *modulus = NULL;
    HX_TRY(hx_alloc_raw(&modulus, n_elem, sizeof *modulus, "moduli"));
#pragma omp parallel for schedule(static)
    for (size_t e = 0; e < n_elem; e++) modulus[e] = uniform;
    const int rc = hx_operator_set_modulus(&s->op, modulus);
    free(modulus);
    return rc;
}

/* A measurement that took longer is not repeated to be warm: so many seconds. */
static const double long_enough = 2.0;

/* Of the preconditioner, for a later design if that takes no time to speak of. */
static int measure_setup(hx_session *s, double *seconds)
{
    *seconds = 0.0;
    for (int pass = 0; pass < 2 && *seconds < long_enough; pass++) {
        const double begin = hx_clock();
        HX_TRY(hx_precond_setup(&s->pc));
        HX_TRY(s->device.ops->sync(&s->device));
        *seconds = hx_clock() - begin;
    }
    return HX_OK;
}

/* Of a PCG iteration from d_f and the vector d_u: as many as there is time for, up to 20. */
static int measure_iteration(hx_session *s, const double *d_f, double *d_u, double *seconds)
{
    enum { FEW = 2, MOST = 20 };
    hx_device *dev = &s->device;
    const size_t bytes = (size_t)s->op.linear.n * sizeof(double);
    hx_pcg_result result = {0};
    *seconds = 0.0;
    for (int n = FEW; n > 0;) {
        if (s->op.d_prescribed)
            HX_TRY(dev->ops->copy(dev, d_u, s->op.d_prescribed, bytes));
        else
            HX_TRY(dev->ops->zero(dev, d_u, bytes));
        s->pcg.params.max_iterations = n;
        HX_TRY(hx_pcg_solve(&s->pcg, &s->op.linear, &s->pc, d_f, d_u, &result));
        if (result.iterations > 0) /* the start is about one more: residual, preconditioner */
            *seconds = result.seconds / (result.iterations + 1);
        n = n == FEW && result.seconds < long_enough ? MOST : 0;
    }
    return HX_OK;
}

/* Seconds of the preconditioner's set-up and of a PCG iteration of the uniform design. */
static int measure_solver(hx_session *s, double *setup, double *seconds)
{
    int rc;
    double *force = NULL, *d_u = NULL, *d_f = NULL;
    hx_device *dev = &s->device;
    const size_t bytes = (size_t)s->op.linear.n * sizeof(double);
    *setup = *seconds = 0.0;
    if (hx_log_is_terminal()) hx_log_status("measuring a PCG iteration ...");
    HX_TRY_FAIL(set_uniform(s));
    HX_TRY_FAIL(measure_setup(s, setup));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &d_u));
    HX_TRY_FAIL(dev->ops->alloc(dev, bytes, &d_f));
    HX_TRY_FAIL(hx_alloc_raw(&force, bytes, 1, "loads"));
    HX_TRY_FAIL(hx_problem_nodal_force(&s->problem, 0, NULL, force));
    HX_TRY_FAIL(dev->ops->upload(dev, d_f, force, bytes));
    HX_TRY_FAIL(measure_iteration(s, d_f, d_u, seconds));
fail:
    if (d_u) dev->ops->release(dev, d_u);
    if (d_f) dev->ops->release(dev, d_f);
    free(force);
    return rc;
}

/* PCG iterations of a solve, roughly, by the preconditioner's experience at 1e-5. */
static double guess_iterations(const hx_session *s)
{
    const hx_precond_kind *kind = s->precond_kind;
    const double digits = fmax(1.0, -log10(s->cfg.solver.tolerance));
    const double n = kind->iterations * pow((double)s->mesh.n_elem / 31250.0, kind->growth);
    return fmin(n * digits / 5.0, (double)s->cfg.solver.max_iterations);
}

static int report_time(hx_session *s)
{
    double setup, seconds;
    char a[32], b[32], c[32];
    const double n_pcg = guess_iterations(s);
    HX_TRY(measure_solver(s, &setup, &seconds));
    const double solve = setup + seconds * n_pcg * s->problem.n_case;
    hx_log_info("\ntime      rough: %s a PCG iteration (measured just now),",
                hx_format_seconds(seconds, a, sizeof a));
    hx_log_info("          times some %.0f iterations a solve (from like examples; yours may take "
                "3 times more or less):",
                n_pcg);
    hx_log_info("          %s a design iteration, %s for %d", hx_format_seconds(solve, b, sizeof b),
                hx_format_seconds(solve * s->cfg.optimization.iterations, c, sizeof c),
                s->cfg.optimization.iterations);
    return HX_OK;
}

/* The file of initial densities, if any, can be read and fits. */
static int check_initial(hx_session *s)
{
    double *density = NULL;
    const int rc = hx_session_read_initial(s, &density);
    free(density);
    return rc;
}

static int check(hx_session *s, const hx_options *options)
{
    hx_output_plan plan;
    char text[256];
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    HX_TRY(hx_output_probe(&s->cfg));
    s->other_bytes = hx_footprint_planned(&s->cfg);
    hx_log_info("config    %s%s%s", s->cfg.path, s->cfg.title[0] ? "  " : "", s->cfg.title);
    if (s->cfg.units.system[0])
        hx_log_info("units     %s; mass in%s, density in%s, compliance in%s", s->cfg.units.system,
                    s->cfg.units.mass, s->cfg.units.density, s->cfg.units.work);
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(report_mesh(s));
    report_sets(&s->mesh);
    HX_TRY(hx_session_make_problem(s));
    report_material(s);
    report_supports(s);
    report_springs(s);
    HX_TRY(report_loads(s));
    HX_TRY(report_passive(s));
    HX_TRY(report_filter(s));
    report_ties(s);
    report_continuation(s);
    HX_TRY(check_initial(s));
    HX_TRY(hx_session_open_device(s));
    hx_log_info("\ndevice    %s\noperator  %s", s->device.description,
                hx_session_operator_text(s, text, sizeof text));
    HX_TRY(report_memory(s));
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_output_make_plan(s, &plan));
    report_peak(s, &plan);
    report_output(s, &plan);
    HX_TRY(report_time(s));
    if (n_warning == 0)
        hx_log_info("\nno faults, no warnings");
    else
        hx_log_info("\nno faults, %d warning%s", n_warning, n_warning == 1 ? "" : "s");
    return HX_OK;
}

int hx_cmd_check(const hx_options *options)
{
    hx_session s;
    memset(&s, 0, sizeof s);
    n_warning = 0;
    const int rc = check(&s, options);
    hx_session_free(&s);
    return rc;
}
