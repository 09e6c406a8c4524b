/* The config reference, for a terminal and as the README's table. */
#ifndef HX_CONFIG_HELP_H
#define HX_CONFIG_HELP_H

#include <stddef.h>

#include "config_schema.h"

/* Prints all config keys, or those of a name ("filter", "loads"), a single one with all about it;
 * returns how many. */
size_t hx_print_keys(const char *topic);
/* Type, unit, range, default, examples, and its neighbours. */
void hx_print_key(const hx_key *key);
/* Prints the table of `hextop list --keys`. */
void hx_print_keys_markdown(void);

#endif
