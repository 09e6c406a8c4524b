/* The command line: hextop [-q | -v] COMMAND [ARGUMENTS]. Each command has one const table of its
 * arguments and options, from which parsing, help, man page and shell completion work. */
#ifndef HX_OPTIONS_H
#define HX_OPTIONS_H

#include <stddef.h>

#include "log.h"

typedef enum {
    HX_OPTION_FLAG,
    HX_OPTION_TEXT,  /* a number or a name */
    HX_OPTION_WORDS, /* a list of the option's words, separated by commas */
    HX_OPTION_FILE,
    HX_OPTION_FOLDER
} hx_option_kind;

/* Rows begin with name, kind and value. */
typedef struct hx_option {
    const char *name; /* "--threshold" */
    hx_option_kind kind;
    const char *value;             /* its argument, as shown in help and messages; NULL for flags */
    const char *letter;            /* its short form, such as "-q"; NULL: none */
    const char *fallback;          /* default value; NULL: none */
    const char *note;              /* text shown instead of that default; NULL: none */
    const char *(*word)(size_t i); /* HX_OPTION_WORDS: the valid words, then NULL */
    const char *help;
} hx_option;

enum { HX_MAX_OPTION = 16, HX_MAX_FILE = 2 };

/* What several processes, started together by mpirun, do with a command. */
typedef enum {
    HX_PROCESSES_ONE,    /* refused: it would run once only, with the memory of one process */
    HX_PROCESSES_FIRST,  /* the first one runs it, which prints */
    HX_PROCESSES_NUMBER, /* the first one runs it, with their number in options->comm */
    HX_PROCESSES_ALL     /* all of them run it together */
} hx_processes;

typedef struct hx_options hx_options;

typedef struct hx_command {
    const char *name, *summary;
    /* arguments as the usage line shows them: "FILE [KEY=VALUE ...]" */
    const char *arguments;
    const char *ends[HX_MAX_FILE]; /* endings of the files that it takes: ".stl .ply" */
    const char *help;              /* lines of help; those that begin with two spaces form a list */
    int prints;                    /* 1: its purpose is to print */
    size_t n_min;                  /* smallest number of arguments */
    const hx_option *option;       /* [n_option] options of the command, at most HX_MAX_OPTION */
    size_t n_option;
    /* Returns 0, an error code (negative, its message recorded), or an exit status (positive, its
     * message printed). */
    int (*run)(const hx_options *options);
    hx_processes processes;
} hx_command;

struct hx_comm; /* core/comm/comm.h */

struct hx_options {
    const struct hx_comm *comm; /* the processes of this run (borrowed); NULL: one */
    const char *word;           /* name of the command as typed; NULL: none */
    const hx_command *command;  /* NULL: there is no command of that name */
    hx_log_level level;
    int help, version; /* --help, --version */
    /* values of the command's options as typed; NULL: not given */
    const char *value[HX_MAX_OPTION];
    /* an option that was given but belongs to another command, and that command; NULL: none */
    const char *stray, *stray_of;
    size_t n_argument;
    const char *const *argument; /* [n_argument] words after the command, without options */
};

/* Options of every command; there are hx_n_interface. */
extern const hx_option hx_common_options[];
extern const size_t hx_n_interface;

/* Sorts argv in place. An option with a value has the form "--output DIR" or "--output=DIR".
 * Options of a command may precede the command. commands: NULL-terminated. Returns 0, or -1 after
 * printing what is wrong. */
int hx_options_parse(hx_options *options, const hx_command *const *commands, int argc, char **argv);

/* The value of the command's option with that index, or its default; NULL: it has neither. */
const char *hx_option_text(const hx_options *options, int option);
/* Reads the value of an option as a number above 0 and at most `most`; NaN if text is NULL.
 * HX_EINPUT. */
int hx_option_read_number(const char *name, const char *text, double most, double *value);
/* Reads the value of an option as a whole number; leaves *value if text is NULL. HX_EINPUT. */
int hx_option_read_integer(const char *name, const char *text, long least, long most, int *value);
/* 1 if the option was given. */
int hx_option_given(const hx_options *options, int option);

/* 1 if the command takes KEY=VALUE. */
int hx_command_takes_keys(const hx_command *command);

#endif
