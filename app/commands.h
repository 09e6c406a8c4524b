/* The subcommands. Each returns 0, an error code (negative, its message recorded), or an exit
 * status (positive, already explained). */
#ifndef HX_COMMANDS_H
#define HX_COMMANDS_H

#include "options.h"

int hx_cmd_run(const hx_options *options);
int hx_cmd_check(const hx_options *options);
int hx_cmd_compare(const hx_options *options);
int hx_cmd_mesh(const hx_options *options);
int hx_cmd_verify(const hx_options *options);
int hx_cmd_surface(const hx_options *options);
int hx_cmd_list(const hx_options *options);

#endif
