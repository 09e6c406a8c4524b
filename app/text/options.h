/* The command line: hextop [-q | -v] COMMAND [ARGUMENTS]. A command says what it takes in one const
 * table; parsing, help, man page and shell completion read it. */
#ifndef HX_OPTIONS_H
#define HX_OPTIONS_H

#include <stddef.h>

#include "log.h"

typedef enum {
    HX_OPTION_FLAG,
    HX_OPTION_TEXT,  /* a number or a name */
    HX_OPTION_WORDS, /* some of the option's words, with commas between them */
    HX_OPTION_FILE,
    HX_OPTION_FOLDER
} hx_option_kind;

typedef struct hx_option {
    const char *name;   /* "--threshold" */
    const char *letter; /* its short form, "-q"; NULL: none */
    hx_option_kind kind;
    const char *value;             /* what follows, as help and messages show it; flags: NULL */
    const char *fallback;          /* its value where none is given; NULL: none */
    const char *note;              /* shown in place of that default; NULL: none */
    const char *(*word)(size_t i); /* HX_OPTION_WORDS: the valid ones, then NULL */
    const char *help;
} hx_option;

enum { HX_MAX_OPTION = 16, HX_MAX_FILE = 2 };

typedef struct hx_options hx_options;

typedef struct hx_command {
    const char *name, *summary;
    const char *arguments;         /* as the usage line shows them: "FILE [KEY=VALUE ...]" */
    const char *ends[HX_MAX_FILE]; /* the endings of its files' names: ".stl .ply" */
    const char *help;              /* lines; those that begin with two spaces are a list */
    int prints;                    /* 1: what it prints is all that it is for */
    size_t n_min;                  /* arguments wanted at least */
    const hx_option *option;       /* [n_option] its own, at most HX_MAX_OPTION */
    size_t n_option;
    /* 0, an error code (negative, its message recorded), or an exit status (positive, already
     * explained). */
    int (*run)(const hx_options *options);
    /* What processes besides the first do of it, likewise; NULL: nothing. */
    int (*follow)(const hx_options *options);
} hx_command;

struct hx_team; /* core/team/team.h */

struct hx_options {
    const struct hx_team *team; /* the processes of this run (borrowed); NULL: one */
    const char *word;           /* the command as typed; NULL: none given */
    const hx_command *command;  /* NULL: none of that name */
    hx_log_level level;
    int help, version;                /* --help, --version */
    const char *value[HX_MAX_OPTION]; /* of the command's options, as typed; NULL: not given */
    const char *stray, *stray_of;     /* an option given that is another command's, and whose */
    size_t n_argument;
    const char *const *argument; /* [n_argument] what follows the command, options taken out */
};

/* The options of every command; there are hx_n_common. */
extern const hx_option hx_common_options[];
extern const size_t hx_n_common;

/* Sorts argv in place. Options that take a value: "--output DIR" or "--output=DIR"; those of a
 * command may stand before it. commands: NULL-terminated. Returns 0, or -1 after saying what is
 * wrong. */
int hx_options_parse(hx_options *options, const hx_command *const *commands, int argc, char **argv);

/* The value of the command's option of that index, or its default; NULL: neither. */
const char *hx_option_text(const hx_options *options, int option);
/* The value of an option as a number above 0, at most `most`; NaN for NULL, none given. HX_EINPUT.
 */
int hx_option_read_number(const char *name, const char *text, double most, double *value);
/* 1 if it was given. */
int hx_option_given(const hx_options *options, int option);

/* 1 if the command takes KEY=VALUE. */
int hx_command_takes_keys(const hx_command *command);

#endif
