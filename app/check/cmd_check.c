/* hextop check: everything up to the first solve, reported; nothing is written. */
#include <stdlib.h>
#include <string.h>

#include "../session/footprint.h"
#include "../text/commands.h"
#include "../text/table.h"
#include "check.h"

/* The file of initial densities, if any, can be read and fits. */
static int check_initial(hx_session *s)
{
    double *density = NULL;
    const int rc = hx_session_read_initial(s, &density);
    free(density);
    return rc;
}

static int check_config(hx_check *check, const hx_options *options)
{
    hx_session *s = &check->session;
    hx_output_plan plan;
    char text[256], count[32];
    HX_TRY(hx_config_read(&s->cfg, options->argument[0], options->n_argument - 1,
                          options->argument + 1));
    HX_TRY(hx_output_probe(&s->cfg));
    s->other_bytes = hx_footprint_planned(&s->cfg);
    hx_log_info("config    %s%s%s", s->cfg.path, s->cfg.title[0] ? "  " : "", s->cfg.title);
    if (s->cfg.units.system[0])
        hx_log_info("units     %s; mass in%s, density in%s, compliance in%s", s->cfg.units.system,
                    s->cfg.units.mass, s->cfg.units.density, s->cfg.units.work);
    HX_TRY(hx_session_make_mesh(s));
    HX_TRY(hx_check_mesh(check));
    hx_check_sets(&s->mesh);
    HX_TRY(hx_session_make_problem(s));
    hx_check_material(check);
    hx_check_supports(s);
    hx_check_springs(s);
    HX_TRY(hx_check_loads(check));
    HX_TRY(hx_check_passive(check));
    HX_TRY(hx_check_filter(check));
    hx_check_ties(check);
    hx_check_continuation(check);
    HX_TRY(check_initial(s));
    HX_TRY(hx_session_open_device(s));
    hx_log_info("\ndevice    %s\noperator  %s", s->device.description,
                hx_session_operator_text(s, text, sizeof text));
    if (s->cfg.solver.element != HX_ELEMENT_LINEAR)
        hx_log_info("elements  %s, %s points", hx_space_text(&s->space, text, sizeof text),
                    hx_format_count(s->space.n_point, count, sizeof count));
    HX_TRY(hx_check_memory(check));
    HX_TRY(hx_session_make_solver(s));
    HX_TRY(hx_session_check_volume(s));
    hx_check_volume(s);
    HX_TRY(hx_output_make_plan(s, &plan));
    hx_check_peak(s, &plan);
    hx_check_output(check, &plan);
    HX_TRY(hx_check_time(s));
    check->n_warning += s->n_warning;
    if (check->n_warning == 0)
        hx_log_info("\nno faults, no warnings");
    else
        hx_log_info("\nno faults, %d warning%s", check->n_warning,
                    check->n_warning == 1 ? "" : "s");
    return HX_OK;
}

static int command_check(const hx_options *options)
{
    hx_check check;
    memset(&check, 0, sizeof check);
    const int rc = check_config(&check, options);
    hx_session_free(&check.session);
    return rc;
}

const hx_command hx_command_check = {
    .name = "check",
    .summary = "everything up to the first solve; changes nothing",
    .arguments = "FILE [KEY=VALUE ...]",
    .ends = {".cfg"},
    .help =
        "Reports mesh quality, sets, supports, loads, filter radius, memory and a time estimate.\n"
        "Exit status 0, also with warnings; 2 when the run would be refused, 1 when it would\n"
        "need more memory than there is.\n",
    .prints = 1,
    .n_min = 1,
    .run = command_check,
};
