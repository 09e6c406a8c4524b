/* hextop compare: checks and times every operator on the config's own mesh and density, and uses it
 * in PCG. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output/output.h"
#include "../text/commands.h"
#include "compare.h"
#include "core/base/clock.h"
#include "core/base/grow.h"

/* Reads the config with the command line's changes. size: a size of --paper, or NULL. */
static int read_compare_config(hx_compare *c, const hx_options *options,
                               const hx_compare_size *size)
{
    hx_config *cfg = &c->session.cfg;
    HX_TRY(
        hx_config_read(cfg, options->argument[0], options->n_argument - 1, options->argument + 1));
    hx_config_solve_by_residual(cfg);
    char path[PATH_MAX];
    const char *own = cfg->output.directory;
    const size_t n = strlen(own);
    snprintf(path, sizeof path, "%s%scompare", own, n && own[n - 1] == '/' ? "" : "/");
    if (strlen(c->plan.output ? c->plan.output : path) > 3000)
        return HX_RAISE(HX_EINPUT, "the name of the output folder is too long");
    HX_TRY(hx_config_set_word(&cfg->output.directory, c->plan.output ? c->plan.output : path));
    if (c->plan.output) cfg->output_option = "--output";
    HX_TRY(hx_output_probe(cfg));
    c->forecast.chose_precond = hx_config_is_auto(cfg->solver.preconditioner);
    /* operators are compared, so all of them get the same preconditioner */
    if (c->forecast.chose_precond)
        HX_TRY(hx_config_set_word(&cfg->solver.preconditioner, "jacobi"));
    if (c->plan.iterations > 0) cfg->solver.max_iterations = c->plan.iterations;
    if (!size) return HX_OK;
    if (!cfg->mesh.generator)
        return hx_config_blame(cfg, "mesh",
                               HX_RAISE(HX_EINPUT, "--paper runs over the sizes of a generator, "
                                                   "and this mesh is a file; leave --paper out"));
    if (cfg->mesh.nx > 0 || cfg->mesh.ny > 0 || cfg->mesh.nz > 0)
        return hx_config_blame(
            cfg, "mesh",
            HX_RAISE(HX_EINPUT, "nx, ny and nz take precedence over the sizes of --paper; give "
                                "element counts to --sizes, such as --sizes 1,2,16x8x8"));
    cfg->mesh.size = size->size;
    cfg->mesh.nx = size->nx;
    cfg->mesh.ny = size->ny;
    cfg->mesh.nz = size->nz;
    return HX_OK;
}

static int measure_operator(hx_compare *c, const hx_compare_reference *ref,
                            const hx_operator_kind *op_kind, hx_layout layout)
{
    hx_session *s = &c->session;
    hx_compare_group *group = &c->group[c->n_group - 1];
    HX_TRY(hx_grow(&c->row, c->n_row, &c->row_capacity, sizeof *c->row, "results"));
    s->solver.op_kind = op_kind;
    s->solver.layout = layout;
    hx_compare_row *row = &c->row[c->n_row];
    HX_TRY(hx_compare_measure(s, &c->plan, ref, group->mesh_seconds, &c->forecast, row));
    row->group = c->n_group - 1;
    c->n_row++;
    group->n_row++;
    return HX_OK;
}

static int begin_group(hx_compare *c, const hx_compare_size *size, double mesh_seconds)
{
    const hx_session *s = &c->session;
    HX_TRY(hx_grow(&c->group, c->n_group, &c->group_capacity, sizeof *c->group, "results"));
    hx_compare_group *group = &c->group[c->n_group];
    memset(group, 0, sizeof *group);
    snprintf(group->mesh, sizeof group->mesh, "%.63s", s->mesh.name);
    if (size) {
        if (size->size > 0)
            snprintf(group->size, sizeof group->size, "%d", size->size);
        else if (size->nz > 0)
            snprintf(group->size, sizeof group->size, "%dx%dx%d", size->nx, size->ny, size->nz);
        else
            snprintf(group->size, sizeof group->size, "%dx%d", size->nx, size->ny);
    }
    group->n_elem = s->mesh.n_elem;
    group->n_node = s->mesh.n_node;
    group->n_point = s->problem.space.n_point;
    group->n_dof = s->problem.components * group->n_point;
    group->element = s->problem.space.element;
    group->physics = s->problem.physics;
    hx_space_text(&s->problem.space, group->kinds, sizeof group->kinds);
    group->mesh_seconds = mesh_seconds;
    group->ops = s->device.ops;
    memcpy(group->description, s->device.description, sizeof group->description);
    group->first_row = c->n_row;
    c->n_group++;
    const int rc = s->device.ops->copy_bandwidth(&c->session.device, &group->copy_bandwidth);
    if (rc != HX_ENOMEM) return rc;
    group->copy_bandwidth = NAN; /* a mesh that fills the memory would leave no room for the test */
    hx_error_clear();
    return HX_OK;
}

/* Number of operators and layouts of the device that will be measured. */
static int count_rows_to_come(const hx_compare *c, const hx_device_ops *ops)
{
    int n = 0;
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *const op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, ops->name) != 0) continue;
        if (!hx_compare_plan_includes(&c->plan, op_kind->name)) continue;
        const hx_operator_kind *const known = hx_compare_operator(&c->session, op_kind);
        for (int layout = 0; known && layout < HX_N_LAYOUT; layout++)
            n += (known->layouts & HX_LAYOUT_BIT(layout)) != 0;
    }
    return n;
}

/* Measures all operators of one device on the current mesh. */
static int compare_on_device(hx_compare *c, const hx_compare_reference *ref,
                             const hx_device_ops *ops, const hx_compare_size *size,
                             double mesh_seconds)
{
    hx_session *s = &c->session;
    HX_TRY(hx_session_start_device(s, ops));
    const double begin = hx_clock();
    if (c->plan.paper) HX_TRY(hx_session_make_filter(s));
    mesh_seconds += hx_clock() - begin;
    HX_TRY(begin_group(c, size, mesh_seconds));
    c->forecast = (hx_compare_forecast){.n_row = count_rows_to_come(c, ops),
                                        .chose_precond = c->forecast.chose_precond,
                                        .begin = hx_clock()};
    for (size_t i = 0; hx_operator_kinds[i]; i++) {
        const hx_operator_kind *op_kind = hx_operator_kinds[i];
        if (strcmp(op_kind->device, ops->name) != 0) continue;
        if (!hx_compare_plan_includes(&c->plan, op_kind->name)) continue;
        op_kind = hx_compare_operator(s, op_kind);
        if (!op_kind) {
            /* It does not support the config's physics or elements, and has no row. */
            hx_compare_group *const group = &c->group[c->n_group - 1];
            const size_t used = strlen(group->without);
            snprintf(group->without + used, sizeof group->without - used, "%s%s", used ? ", " : "",
                     hx_operator_kinds[i]->name);
            continue;
        }
        for (int layout = 0; layout < HX_N_LAYOUT; layout++)
            if (op_kind->layouts & HX_LAYOUT_BIT(layout))
                HX_TRY(measure_operator(c, ref, op_kind, (hx_layout)layout));
    }
    hx_filter_free(&s->filter);
    hx_device_close(&s->device);
    hx_compare_derive(c, c->n_group - 1);
    hx_compare_print_group(c, c->n_group - 1);
    return HX_OK;
}

enum { MAX_DEVICE = 8 };

/* Lists the devices to measure; ends with NULL. */
static int list_devices(const hx_compare *c, const hx_device_ops *list[MAX_DEVICE + 1])
{
    size_t n = 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    memset(list, 0, (MAX_DEVICE + 1) * sizeof *list);
    if (!c->plan.all_devices) return hx_session_find_device(&c->session, &list[0]);
    for (size_t i = 0; hx_devices[i] && n < MAX_DEVICE; i++) {
        char why[256] = "";
        if (hx_devices[i]->available(why, sizeof why)) list[n++] = hx_devices[i];
    }
    return HX_OK;
}

/* HX_EINPUT if a requested operator exists on none of the devices. */
static int check_operators(const hx_compare *c, const hx_device_ops *const *device)
{
    const hx_session *const s = &c->session;
    for (size_t i = 0; i < c->plan.n_operator; i++) {
        size_t k = 0;
        const hx_operator_kind *found = NULL;
        while (device[k] && !(found = hx_operator_kind_find(device[k]->name, c->plan.operators[i])))
            k++;
        if (found && !hx_compare_operator(s, found))
            return HX_RAISE(HX_EINPUT,
                            "--operators: '%s' does not support %s; leave --operators out to "
                            "compare all that do",
                            found->name,
                            hx_operator_kind_of(found, hx_config_is_heat(&s->cfg) ? 1 : 3)
                                ? "quadratic elements"
                                : "physics = \"heat\"");
        if (!device[k])
            return HX_RAISE(HX_EINPUT,
                            "--operators: '%s' does not run on device '%s'; `hextop list` prints "
                            "the devices of each operator",
                            c->plan.operators[i], device[0] ? device[0]->name : "none");
    }
    return HX_OK;
}

static int compare_on_mesh(hx_compare *c, const hx_options *options, const hx_compare_size *size)
{
    hx_session *s = &c->session;
    const hx_device_ops *device[MAX_DEVICE + 1];
    hx_compare_reference ref;
    hx_session_free(s);
    HX_TRY(read_compare_config(c, options, size));
    HX_TRY(list_devices(c, device));
    HX_TRY(check_operators(c, device));
    const double begin = hx_clock();
    if (hx_log_is_terminal()) hx_log_status("mesh");
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_session_make_problem(s));
    const double mesh_seconds = hx_clock() - begin;
    HX_TRY(hx_output_make_directory(&s->cfg));
    if (hx_log_is_terminal()) hx_log_status("%s: reference product", s->mesh.name);
    HX_TRY(hx_compare_reference_create(&ref, s));
    int rc = HX_OK;
    for (size_t i = 0; device[i] && rc == HX_OK; i++)
        rc = compare_on_device(c, &ref, device[i], size, mesh_seconds);
    hx_compare_reference_free(&ref);
    HX_TRY(rc);
    HX_TRY(hx_compare_write_csv(c, s->cfg.output.directory));
    return hx_compare_write_json(c, s->cfg.output.directory);
}

static size_t count_rows(const hx_compare *c, hx_compare_status status)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_row; i++) n += c->row[i].status == status;
    return n;
}

/* Returns HX_OK, or 1 if a check failed. */
static int compare_all(hx_compare *c, const hx_options *options)
{
    HX_TRY(hx_compare_plan_read(&c->plan, options));
    if (c->plan.n_size == 0) HX_TRY(compare_on_mesh(c, options, NULL));
    for (size_t i = 0; i < c->plan.n_size; i++)
        HX_TRY(compare_on_mesh(c, options, &c->plan.size[i]));
    if (c->n_row > 0 && count_rows(c, HX_COMPARE_REFUSED) == c->n_row)
        return HX_RAISE(HX_EINPUT, "%s", c->row[0].note);
    if (count_rows(c, HX_COMPARE_SKIPPED) + count_rows(c, HX_COMPARE_REFUSED) == c->n_row)
        return HX_RAISE(HX_EENV, "no operator fits into memory: use a smaller mesh%s%s",
                        c->n_row > 0 ? "; the first message: " : "",
                        c->n_row > 0 ? c->row[0].note : "");
    const char *directory = c->session.cfg.output.directory;
    if (c->plan.paper) hx_compare_print_paper(c);
    hx_compare_print_notes(c);
    hx_log_info("\nwritten to %s: compare.csv, compare.json, compare.gp", directory);
    HX_TRY(hx_compare_plot(c, directory));
    const size_t n_wrong = count_rows(c, HX_COMPARE_WRONG);
    if (n_wrong > 0)
        hx_log_warning("%zu operator%s failed the check against the reference", n_wrong,
                       n_wrong == 1 ? "" : "s");
    return n_wrong > 0 ? 1 : HX_OK;
}

static int command_compare(const hx_options *options)
{
    hx_compare c;
    memset(&c, 0, sizeof c);
    const int rc = compare_all(&c, options);
    hx_session_free(&c.session);
    free(c.group);
    free(c.row);
    return rc;
}

static const char *operator_word(size_t i)
{
    return hx_operator_names[i].name;
}

static const hx_option compare_options[] = {
    [HX_COMPARE_PAPER] =
        {"--paper",
         .help = "compares the first design iteration over sizes 1 to 5 of the generator, like "
                 "Figures 11 to 15 and Table 3 of P1 (see doc/references.md)"},
    [HX_COMPARE_SIZES] =
        {"--sizes", HX_OPTION_TEXT, "1,2,3",
         .help = "with --paper: other sizes, such as 1,2,3 or 1,320x160x160 (nx, ny, nz)"},
    [HX_COMPARE_OPERATORS] = {"--operators", HX_OPTION_WORDS, "NAME,NAME", .word = operator_word,
                              .help = "compares only these, such as ebe,otf"},
    [HX_COMPARE_ALL_DEVICES] =
        {"--all-devices",
         .help = "compares on every device of this machine, not only solver.device"},
    [HX_COMPARE_NO_PCG] = {"--no-pcg", .help = "compares products only, without PCG"},
    [HX_COMPARE_ITERATIONS] =
        {"--iterations", HX_OPTION_TEXT, "N",
         .help = "largest number of PCG iterations, instead of solver.max_iterations"},
    [HX_COMPARE_REPEATS] = {"--repeats", HX_OPTION_TEXT, "N",
                            .note = "about half a second's worth, 7 to 101",
                            .help = "number of timed products"},
    [HX_COMPARE_OUTPUT] = {"--output", HX_OPTION_FOLDER, "DIR", .note = "output.directory/compare",
                           .help = "folder that the files are written to"},
};

const hx_command hx_command_compare = {
    .name = "compare",
    .summary = "checks and times all operators, as products and in PCG",
    .arguments = "[--paper] FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help = "Takes the config's mesh and its densities (uniform, or optimization.initial), and "
            "compares every\n"
            "operator that supports its physics and elements, in every layout: the product against "
            "a reference,\n"
            "stored bytes, set-up time, time per product, elements and bytes per second against "
            "the copy\n"
            "bandwidth, and speedups; then PCG on the config's problem. An operator that does not "
            "fit into\n"
            "memory is listed and skipped. Writes compare.csv, compare.json and compare.gp, and "
            "its plots\n"
            "(SVG, drawn by gnuplot if installed), into a folder.\n"
            "Exit status 1 if the error of a product is above the operator's bound.\n",
    .n_min = 1,
    .option = compare_options,
    .n_option = sizeof compare_options / sizeof compare_options[0],
    .run = command_compare,
};
