/* The config reference, for a terminal and as the README's table. */
#ifndef HX_CONFIG_HELP_H
#define HX_CONFIG_HELP_H

#include <stddef.h>

/* Prints all config keys, or those of a name ("filter", "loads"); returns how many. */
size_t hx_print_keys(const char *topic);
/* Prints the table of `hextop list --keys`. */
void hx_print_keys_markdown(void);

#endif
