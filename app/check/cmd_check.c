/* hextop check: reports everything up to the first solve; writes nothing but a CAD model's mesh. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/partition/partition.h"

#include "../output/progress.h"
#include "../session/footprint.h"
#include "../session/solid_limits.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/names.h"

/* Checks that the file of initial densities, if any, can be read and fits the mesh. */
static int check_initial(hx_session *s)
{
    double *density = NULL;
    const int rc = hx_session_read_initial(s, &density);
    free(density);
    return rc;
}

/* Makes the problem even if supports or loads are missing. Each missing one is reported, and the
 * other checks still run. */
static int check_problem(hx_check *check)
{
    hx_session *s = &check->session;
    hx_notes lacking = {0};
    s->lacking = &lacking;
    const int rc = hx_session_make_problem(s);
    s->lacking = NULL;
    for (size_t i = 0; i < lacking.n; i++) hx_log_usage_error("%s", lacking.note[i].text);
    check->n_fault += (int)lacking.n;
    hx_notes_free(&lacking);
    if (rc != HX_EINPUT) return rc;
    hx_log_error(rc);
    check->n_fault++;
    return rc;
}

/* Checks that are still possible if the problem cannot be made. */
static int check_rest(hx_check *check)
{
    hx_diag_material(&check->diags, &check->session);
    hx_diag_solver(&check->diags, &check->session);
    return check_initial(&check->session);
}

static int check_design(hx_check *check)
{
    hx_session *s = &check->session;
    char text[256];
    HX_TRY(hx_check_material(s));
    hx_diag_material(&check->diags, s);
    hx_check_supports(s);
    hx_check_springs(s);
    HX_TRY(hx_check_loads(s));
    HX_TRY(hx_check_passive(s));
    hx_diag_loads(&check->diags, s);
    if (hx_session_other_objective(s))
        hx_log_info("\nobjective %s", hx_session_objective_text(s, text, sizeof text));
    if (s->limits.n > 0) hx_log_info("%s", "");
    hx_progress_limits(s, "");
    HX_TRY(hx_check_filter(s));
    hx_check_sweep(s);
    hx_check_local_volumes(s);
    hx_progress_choices(s, "");
    hx_diag_filter(&check->diags, s);
    hx_check_groups(s);
    hx_diag_groups(&check->diags, s);
    hx_check_continuation(s);
    hx_diag_solver(&check->diags, s);
    return check_initial(s);
}

/* A limit that cannot be met counts as an error of the config. */
static int check_solid(hx_check *check)
{
    const int rc = hx_session_judge_solid(&check->session, 1);
    if (rc != HX_EINPUT) return rc;
    hx_log_error(rc);
    check->n_fault++;
    return HX_OK;
}

static int check_solver(hx_check *check)
{
    hx_session *s = &check->session;
    hx_output_plan plan;
    char text[256], count[32];
    HX_TRY(hx_session_open_device(s));
    hx_log_info("\ndevice    %s\noperator  %s", s->device.description,
                hx_session_operator_text(s, text, sizeof text));
    if (s->cfg.solver.element != HX_ELEMENT_LINEAR)
        hx_log_info("elements  %s, %s %s", hx_space_text(&s->space, text, sizeof text),
                    hx_format_count(s->space.n_point, count, sizeof count),
                    hx_noun(s->space.n_point, "point", "points"));
    HX_TRY(hx_check_memory(check));
    if (check->n_rank > 1) HX_TRY(hx_check_rank_memory(s, check->n_rank));
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_session_check_volume(s));
    hx_check_volume(s);
    HX_TRY(hx_output_make_plan(s, &plan));
    hx_check_peak(s, &plan);
    hx_check_output(check, &plan);
    if (check->n_fault > 0) return HX_OK; /* there is nothing to solve */
    HX_TRY(hx_check_time(s));
    return check->solves ? check_solid(check) : HX_OK;
}

enum { RANKS, SOLVE, N_OPTION };

static const hx_option check_options[N_OPTION] = {
    [RANKS] = {"--ranks", HX_OPTION_TEXT, "P",
               .help = "reports how P processes would divide the mesh: balance, cut and halo"},
    [SOLVE] = {"--solve", HX_OPTION_FLAG,
               .help = "also analyses the solid part, and judges the limits on it"},
};

/* Prints the units that exist in this physics; heat has a mass only with a density. */
static void print_units(const hx_config *cfg)
{
    const hx_units *const u = &cfg->units;
    if (!u->system[0]) return;
    if (hx_config_is_heat(cfg))
        hx_log_info("units     %s; conductivity in%s, compliance in%s%s%s", u->system,
                    u->conductivity, u->work, isnan(cfg->material.density) ? "" : ", mass in",
                    isnan(cfg->material.density) ? "" : u->mass);
    else
        hx_log_info("units     %s; mass in%s, density in%s, compliance in%s", u->system, u->mass,
                    u->density, u->work);
}

static int check_config(hx_check *check, const hx_options *options)
{
    hx_session *s = &check->session;
    /* n_rank = 0: not requested. */
    double number;
    HX_TRY(hx_option_read_number("--ranks", hx_option_text(options, RANKS), HX_MAX_RANK, &number));
    if (isnan(number) && options->comm) number = options->comm->size; /* mpirun hextop check */
    check->n_rank = isnan(number) ? 0 : (int)number;
    check->solves = hx_option_given(options, SOLVE);
    if (!isnan(number) && number != check->n_rank)
        return HX_RAISE(HX_EINPUT, "--ranks: %g is not a number of processes", number);
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    HX_TRY(hx_output_probe(&s->cfg));
    s->other_bytes = hx_footprint_planned(&s->cfg);
    hx_log_info("config    %s%s%s", s->cfg.path, s->cfg.title[0] ? "  " : "", s->cfg.title);
    print_units(&s->cfg);
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_check_mesh(check));
    if (check->n_rank > 0) HX_TRY(hx_check_dist(s, check->n_rank));
    HX_TRY(hx_session_cut_mesh(s, check->n_rank));
    if (check->n_rank > 1) hx_log_info("  taken: %s", hx_partition_name(s->cfg.solver.partition));
    HX_TRY(hx_check_sets(s));
    HX_TRY(hx_check_faces(s));
    const int rc = check_problem(check);
    if (rc < 0 && rc != HX_EINPUT) return rc;
    HX_TRY(rc < 0 ? check_rest(check) : check_design(check));
    if (rc == HX_OK) HX_TRY(check_solver(check));
    /* Prints such as "no errors, 2 warnings". */
    char faults[32] = "no", warnings[32] = "no";
    if (check->n_fault > 0) snprintf(faults, sizeof faults, "%d", check->n_fault);
    if (check->diags.n > 0) snprintf(warnings, sizeof warnings, "%zu", check->diags.n);
    hx_log_info("\n%s error%s, %s warning%s", faults, check->n_fault == 1 ? "" : "s", warnings,
                check->diags.n == 1 ? "" : "s");
    return check->n_fault > 0 ? hx_error_exit_status(HX_EINPUT) : HX_OK;
}

static int command_check(const hx_options *options)
{
    hx_check check;
    memset(&check, 0, sizeof check);
    HX_TRY(hx_diags_listen(&check.diags));
    const int rc = check_config(&check, options);
    hx_diags_stop_listening(&check.diags);
    hx_diags_free(&check.diags);
    hx_session_free(&check.session);
    return rc;
}

const hx_command hx_command_check = {
    .name = "check",
    .summary = "reports everything up to the first solve; writes nothing but a CAD model's mesh",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Reports mesh quality, sets with the number and area of their boundary faces, supports,\n"
        "loads, filter radius, memory and a time estimate.\n"
        "The faces of a CAD model are listed, the 40 largest or all with -v, and its mesh is kept\n"
        "in output.directory.\n"
        "--ranks reports how P processes would divide the mesh: the heaviest subdomain over the\n"
        "mean (an element weighs as many corners as it has), faces between subdomains, interface\n"
        "nodes, and the partition that solver.partition selects.\n"
        "\n"
        "--solve analyses the solid part, prints its compliance and its value for each limit, and "
        "reports\n"
        "limits that it misses: as an error if no design with less material can meet them, else as "
        "a\n"
        "warning. `hextop run` judges limits in the same way before the first design.\n"
        "Exit status 0, also with warnings; 2 if the run would be refused, 1 if it would need\n"
        "more memory than is available.\n",
    .prints = 1,
    .processes = HX_PROCESSES_NUMBER,
    .n_min = 1,
    .option = check_options,
    .n_option = N_OPTION,
    .run = command_check,
};
