/* The configuration reference, on a terminal and as doc/config.md. */
#ifndef HX_CONFIG_HELP_H
#define HX_CONFIG_HELP_H

#include <stddef.h>

#include "config_schema.h"

/* Prints all config keys, or those of a name ("filter", "loads"), a single one with all about it;
 * returns how many. */
size_t hx_print_keys(const char *topic);
/* Type, unit, range, default, examples, and its neighbours. */
void hx_print_key(const hx_key *key);
/* "auto, cpu, cuda", the valid words, or "(0, 1]", the range; "" if any value is valid. Fills
 * text[n_text] and returns it. */
const char *hx_key_allowed(const hx_key *key, char *text, size_t n_text);
/* A value that the key takes, in the syntax of a config: its own example or, without one, a value
 * of its type. May fill text[n_text]. */
const char *hx_key_shown_example(const hx_key *key, char *text, size_t n_text);
/* Prints doc/config.md: all keys with type, unit, default, range, meaning and example. */
void hx_print_keys_markdown(void);

#endif
