/* The subcommands. The table of each one is at the end of its cmd_*.c. */
#ifndef HX_COMMANDS_H
#define HX_COMMANDS_H

#include "options.h"

extern const hx_command hx_command_run, hx_command_lightest, hx_command_check, hx_command_compare,
    hx_command_verify, hx_command_analyse, hx_command_mesh, hx_command_new, hx_command_surface,
    hx_command_report, hx_command_matrix, hx_command_selftest, hx_command_list, hx_command_help;

/* Exit status of a command if the part that would be made misses a limit. */
enum { HX_EXIT_LIMIT = 4 };

/* All of them, in the order of the help; ends with NULL. */
extern const hx_command *const hx_commands[];

/* The command of that name; NULL: there is none. Prints nothing. */
const hx_command *hx_command_find(const char *name);
/* Like hx_command_find, but prints an error with the valid names if there is none. */
const hx_command *hx_command_require(const char *name);

#endif
