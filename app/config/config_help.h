/* The configuration reference, on a terminal and as doc/config.md. */
#ifndef HX_CONFIG_HELP_H
#define HX_CONFIG_HELP_H

#include <stddef.h>

#include "config_schema.h"

/* Prints all config keys, or those of a name ("filter", "loads"), with full detail if it is a
 * single key. Returns their number. */
size_t hx_print_keys(const char *topic);
/* Prints type, unit, range, default, examples, and related keys. */
void hx_print_key(const hx_key *key);
/* The valid words "auto, cpu, cuda", or the range "(0, 1]"; "" if any value is valid. Fills
 * text[n_text] and returns it. */
const char *hx_key_allowed(const hx_key *key, char *text, size_t n_text);
/* A valid value in the syntax of a config: the key's own example or, if it has none, a value of its
 * type. May use text[n_text]. */
const char *hx_key_shown_example(const hx_key *key, char *text, size_t n_text);
/* Prints doc/config.md: all keys with type, unit, default, range, meaning and example. */
void hx_print_keys_markdown(void);

#endif
