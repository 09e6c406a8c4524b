/* hextop check: memory and disk space of the run. */
#include <math.h>
#include <string.h>

#include "../session/footprint.h"
#include "../text/table.h"
#include "check.h"
#include "core/base/memory.h"

int hx_check_memory(hx_check *check)
{
    hx_session *s = &check->session;
    double host_free;
    const double want = hx_diag_host_bytes(s, &host_free);
    const double host = (double)hx_session_mesh_bytes(s) + (double)hx_problem_bytes(&s->problem);
    const int shared = strcmp(s->device.ops->name, "cpu") == 0;
    const double held = (double)s->solver.op.device_bytes; /* after operators have been tried */
    hx_account account = {0};
    hx_session_device_account(s, &account);
    const double device = (double)hx_account_sum(&account);
    size_t device_free = 0, device_total = 0;
    char a[32], b[32];
    HX_TRY(s->device.ops->memory(&s->device, &device_free, &device_total));
    hx_log_info("\nmemory");
    hx_log_info("  host    %8s of %s available", hx_format_bytes(host, a, sizeof a),
                hx_format_bytes(host_free, b, sizeof b));
    hx_log_info("  device  %8s of %s available%s", hx_format_bytes(device, a, sizeof a),
                hx_format_bytes((double)device_free + held, b, sizeof b),
                shared ? ", shared with the host" : "");
    hx_footprint_print(s, &account, 0);
    hx_diag_memory(&check->diags, s, want, host_free);
    return HX_OK;
}

/* Estimates the peak of host memory during a run: the larger of the peak measured so far and the
 * memory that the run will hold. The latter includes the device if that is the host, the output,
 * and the present memory of the libraries. */
void hx_check_peak(const hx_session *s, const hx_output_plan *plan)
{
    const int shared = strcmp(s->device.ops->name, "cpu") == 0;
    const double so_far = (double)hx_host_memory_peak();
    const double held = (double)hx_session_mesh_bytes(s) + (double)hx_problem_bytes(&s->problem) +
                        (shared ? (double)s->device_bytes : 0.0);
    const double libraries = fmax(0.0, (double)hx_host_memory_resident() - held);
    const double later =
        held + libraries + (double)plan->fields + (double)plan->writer + (double)plan->checkpoint;
    const double peak = fmax(so_far, later), n_elem = (double)s->mesh.n_elem;
    char a[32], b[32];
    hx_log_info(
        "  peak    %8s on the host, %.0f bytes per element; so far %s, %.0f bytes per element",
        hx_format_bytes(peak, a, sizeof a), peak / n_elem, hx_format_bytes(so_far, b, sizeof b),
        so_far / n_elem);
}

void hx_check_output(hx_check *check, const hx_output_plan *plan)
{
    const hx_session *s = &check->session;
    const int ascii = s->cfg.output.format == HX_VTK_ASCII;
    const double all = (double)plan->file_bytes * plan->n_file;
    const char *bound = ascii ? "at least " : isnan(s->cfg.output.threshold) ? "" : "at most ";
    char a[32], b[32], c[32];
    hx_log_info(
        "\noutput    %s: %d VTK file%s of %s%s, %s in all, %s free", s->cfg.output.directory,
        plan->n_file, plan->n_file == 1 ? "" : "s", bound,
        hx_format_bytes((double)plan->file_bytes, a, sizeof a), hx_format_bytes(all, b, sizeof b),
        plan->disk_free ? hx_format_bytes((double)plan->disk_free, c, sizeof c) : "unknown");
    hx_log_info("          checkpoints of %s, at most two, if the run is long or interrupted",
                hx_format_bytes((double)plan->checkpoint, a, sizeof a));
    hx_diag_disk(&check->diags, s, all + 2.0 * (double)plan->checkpoint, (double)plan->disk_free);
}
