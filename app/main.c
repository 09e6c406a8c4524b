/* hextop: topology optimization from a config file. Picks the subcommand and turns its outcome into
 * an exit status: 0 done, 1 the run failed, 2 usage or config, 3 interrupted, 4 a limit is missed. */
#include <math.h>
#include <signal.h>
#include <stdio.h>

#include "config/config_tree.h"
#include "core/comm/comm.h"
#include "core/version.h"
#include "help/command_help.h"
#include "interrupts.h"
#include "session/machine.h"
#include "text/commands.h"
#include "text/stack.h"
#include "text/streams.h"

static int refuse_processes(const hx_command *c)
{
    hx_log_usage_error("`hextop %s` runs in one process, which uses all cores or one GPU; start it "
                       "without mpirun",
                       c->name);
    return 2;
}

static int dispatch(const hx_options *options)
{
    if (options->version) {
        printf("hextop %s\n  libconfig  %s\n  compiler   %s\n  OpenMP     %s\n  CUDA       %s\n",
               HX_VERSION, hx_libconfig_version(), __VERSION__,
#ifdef _OPENMP
               "yes",
#else
               "no",
#endif
               HX_VERSION_CUDA[0] ? HX_VERSION_CUDA : "no");
        return 0;
    }
    if (!options->word) {
        if (!options->help) {
            hx_log_usage_error("no command given; `hextop --help` lists them");
            return 2;
        }
        hx_print_usage();
        return 0;
    }
    const hx_command *const c = options->command;
    if (!c) {
        (void)hx_command_require(options->word);
        return 2;
    }
    if (options->help) {
        hx_print_command_help(c);
        return 0;
    }
    if (options->stray) {
        hx_log_usage_error("%s is an option of `hextop %s`, not of `hextop %s`", options->stray,
                           options->stray_of, c->name);
        return 2;
    }
    if (options->n_argument < c->n_min) {
        hx_log_usage_error("usage: hextop %s %s", c->name, c->arguments);
        return 2;
    }
    if (options->comm && c->processes == HX_PROCESSES_ONE) return refuse_processes(c);
    int rc = hx_machine_pin();
    if (rc >= 0) rc = c->run(options);
    if (rc >= 0) return rc;
    hx_log_error(rc);
    return hx_error_exit_status(rc);
}

/* Number of seconds that the other processes have to end on their own after one has failed. */
#define PATIENCE 2.0

/* Runs a process other than the first, which takes part in parallel commands. It prints only if it
 * is the only one that fails. */
static int take_part(const hx_comm *comm, const hx_options *options)
{
    const hx_command *const c = options->command;
    char why[HX_MESSAGE_SIZE];
    hx_log_set_printing(0);
    const int is_needed = c && c->processes == HX_PROCESSES_ALL && !options->help &&
                          !options->version && !options->stray && options->n_argument >= c->n_min;
    int rc = is_needed ? hx_machine_pin() : HX_OK;
    if (rc >= 0 && is_needed) rc = c->run(options);
    if (rc < 0) snprintf(why, sizeof why, "%s", hx_error_message());
    /* the first process prints it */
    if (comm->ops->meet(comm, rc < 0 ? PATIENCE : INFINITY)) return 0;
    hx_log_set_printing(1);
    hx_log_usage_error("process %d of %d: %s", comm->rank, comm->size, rc < 0 ? why : "lost");
    comm->ops->abort(comm, rc < 0 ? hx_error_exit_status(rc) : 1);
    return 1;
}

/* Runs the command, or the part of this process. */
static int work(hx_comm *comm, hx_options *options)
{
    int status;
    if (comm->rank == 0) hx_log_set_printing(1);
    if (comm->size == 1) return dispatch(options);
    options->comm = comm;
    hx_log_set_plain(1);
    if (comm->rank > 0) {
        status = take_part(comm, options);
    } else {
        status = dispatch(options);
        if (!comm->ops->meet(comm, status == 0 ? INFINITY : PATIENCE))
            comm->ops->abort(comm, status > 0 ? status : 1);
    }
    hx_comm_leave(comm);
    return status;
}

/* Several processes that MPI does not connect, for the error `joined`: each would do the whole
 * command and write the same files. The first one does what only prints. */
static int stay_apart(const hx_options *options, int joined)
{
    const hx_command *const c = options->command;
    const int is_apart = joined == HX_EENV; /* else only this process failed */
    if (is_apart && (options->help || options->version || !c || c->processes == HX_PROCESSES_FIRST))
        return hx_comm_started_rank() == 0 ? dispatch(options) : 0;
    if (is_apart && c->processes == HX_PROCESSES_ONE) return refuse_processes(c);
    if (!is_apart) hx_log_set_printing(1);
    hx_log_error(joined);
    return hx_error_exit_status(joined);
}

static int run_command(int argc, char **argv)
{
    hx_options options;
    if (hx_streams_open() < 0) return 1; /* there is no stream to print to */
    /* a write beyond the file-size limit fails with a message instead of a signal */
    signal(SIGXFSZ, SIG_IGN);
    hx_log_set_printing(hx_comm_started_rank() == 0);
    if (hx_options_parse(&options, hx_commands, argc, argv) < 0) return 2;
    hx_log_set_level(options.level);
    hx_signal_hooks_set(&hx_interrupts);
    hx_comm comm;
    const int joined = hx_comm_join(&comm);
    const int status = joined < 0 ? stay_apart(&options, joined) : work(&comm, &options);
    /* The purpose of the command is what it prints. */
    return hx_streams_close(status, !options.command || options.help || options.version ||
                                        options.command->prints);
}

int main(int argc, char **argv)
{
    return hx_stack_run(run_command, argc, argv);
}
