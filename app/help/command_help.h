/* The commands' tables as text for a terminal. */
#ifndef HX_COMMAND_HELP_H
#define HX_COMMAND_HELP_H

#include "../text/options.h"

/* `hextop help`: every command in a line. */
void hx_print_usage(void);
/* `hextop help COMMAND`. */
void hx_print_command_help(const hx_command *command);

#endif
