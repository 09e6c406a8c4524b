/* The command line: hextop [-q | -v] COMMAND [ARGUMENTS]. */
#ifndef HX_OPTIONS_H
#define HX_OPTIONS_H

#include <stddef.h>

#include "log.h"

/* Options of `hextop compare`, texts as typed; NULL: not given. */
typedef struct hx_compare_words {
    int paper, all_devices, no_pcg;
    const char *operators, *sizes, *repeats, *iterations, *output;
} hx_compare_words;

/* The same of `hextop verify`. */
typedef struct hx_verify_words {
    const char *threshold, *tolerance, *preserve, *vtk, *output;
} hx_verify_words;
/* The same of `hextop surface`. */
typedef struct hx_surface_words {
    int keep_largest;
    const char *config, *threshold, *volume, *smooth, *preserve;
} hx_surface_words;

typedef struct hx_options {
    const char *command; /* NULL: none given */
    hx_log_level level;
    int help, version, keys; /* --help, --version, --keys */
    hx_compare_words compare;
    hx_surface_words surface;
    hx_verify_words verify;
    const char *stray,
        *stray_of; /* an option given that is another command's, and whose; or NULL */
    size_t n_argument;
    const char *const *argument; /* [n_argument] what follows the command, options taken out */
} hx_options;

/* Sorts argv in place. Options that take a value: "--output DIR" or "--output=DIR". Returns 0, or
 * -1 after saying what is wrong. */
int hx_options_parse(hx_options *options, int argc, char **argv);

#endif
