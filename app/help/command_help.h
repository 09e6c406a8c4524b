/* Help on commands for a terminal, from their tables. */
#ifndef HX_COMMAND_HELP_H
#define HX_COMMAND_HELP_H

#include "../text/options.h"

/* Prints `hextop help`: one line per command. */
void hx_print_usage(void);
/* Prints `hextop help COMMAND`. */
void hx_print_command_help(const hx_command *command);

#endif
