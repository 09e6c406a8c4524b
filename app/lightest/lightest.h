/* The search of `hextop lightest`: tries, each a run whose part is cut out and verified, until the
 * worst limit of the made part is close to its bound. */
#ifndef HX_LIGHTEST_H
#define HX_LIGHTEST_H

#include "../config/config.h"
#include "../text/options.h"
#include "core/base/error.h"

/* What the next try changes. */
typedef enum { HX_LIGHTEST_LIMITS, HX_LIGHTEST_VOLUME, HX_N_LIGHTEST_VARY } hx_lightest_vary;

/* The designs of a try at which a limit is judged. */
enum {
    HX_LIGHTEST_GREY,
    HX_LIGHTEST_BLACK_WHITE,
    HX_LIGHTEST_SURFACE,
    HX_LIGHTEST_QUADRATIC, /* the 0/1 design with quadratic elements */
    HX_N_LIGHTEST_DESIGN
};

/* Largest number of tries. */
enum { HX_LIGHTEST_MOST = 100 };

/* Name of the surface in the folder of a try. */
#define HX_LIGHTEST_PART "part.stl"

/* Exit status if a signal ended the search. */
enum { HX_LIGHTEST_INTERRUPTED = 3 };

/* The search ends if the worst usage of the made part lies in this window, whose middle is the
 * aim. */
#define HX_LIGHTEST_LOW 0.95
#define HX_LIGHTEST_HIGH 1.0

/* A limit: a constraint of the config in one load case. */
typedef struct hx_lightest_limit {
    char *name, *unit; /* unit: "" without units (owned) */
    int constraint;    /* index of its entry in optimization.constraints */
} hx_lightest_limit;

typedef struct hx_lightest_try {
    double *max, *min;      /* [n_constraint] bounds of the run; NaN: none (owned) */
    double volume_fraction; /* of the run; NaN: not varied */
    /* [n_limit] values; NaN: the set is not on that design (owned) */
    double *value[HX_N_LIGHTEST_DESIGN];
    /* [n_limit] why the made part does not permit to judge a limit, for example because it contains
     * too little of its set; NULL: it does (owned) */
    char **unknown;
    double volume, mass; /* of the surface part.stl (length^3); NaN: there is none, no density */
    char *error;         /* why the part, or the run, has no analysis; NULL: it has one (owned) */
    int is_refused;      /* 1: the run did not begin, and `error` is its message */
    double seconds;
    /* the following results from the values (hx_lightest_judge) */
    double usage[HX_N_LIGHTEST_DESIGN]; /* largest of all limits */
    double made;                        /* that of the design l->made; INFINITY with an error */
    int worst;                          /* limit with the largest usage there */
} hx_lightest_try;

/* Why there is no further try. */
typedef enum {
    HX_LIGHTEST_GOES_ON,
    HX_LIGHTEST_FOUND,   /* the worst usage lies in the window */
    HX_LIGHTEST_TRIES,   /* all tries are used up */
    HX_LIGHTEST_SAME,    /* the next try would repeat an earlier one */
    HX_LIGHTEST_BRACKET, /* two volumes or bounds, of which one passes, differ by less than 1 % */
    HX_LIGHTEST_FULL,    /* the limits are missed by the largest volume */
    HX_LIGHTEST_REFUSED, /* a run with bounds that are stricter by 1 % was refused */
    HX_LIGHTEST_UNKNOWN  /* two tries, one with more material, do not permit to judge a limit */
} hx_lightest_end;

typedef struct hx_lightest {
    hx_config cfg;               /* FILE with the arguments */
    const char *file;            /* (borrowed) */
    const char *const *argument; /* [n_argument] KEY=VALUE (borrowed) */
    size_t n_argument;
    /* [n_pass] options and values that verify gets as they are (borrowed) */
    const char *pass[6];
    size_t n_pass;
    const char *folder; /* output.directory (borrowed from cfg) */
    char *settings;     /* what a resumed search must have, a line per setting (owned) */
    char *mesh;         /* digits of the hash of the mesh; NULL before the first try (owned) */
    hx_log_level level; /* of the terminal */
    hx_lightest_vary vary;
    double reference; /* lowest prescribed or ambient temperature; 0 without heat */
    /* the design that is judged: the surface; for heat, the 0/1 design with quadratic elements, or
     * with linear ones by --element linear */
    int made;
    int n_most; /* number of tries at most */
    size_t n_constraint;
    int n_limit;              /* 0 until the first try is done */
    hx_lightest_limit *limit; /* [n_limit] (owned) */
    hx_lightest_try *tries;   /* [n_most] (owned) */
    int n_try;                /* tries that are done */
    int started;              /* number of the try whose run has begun, from 1; 0: none */
    hx_lightest_end end;
} hx_lightest;

/* --- parts (lightest_object.c) --- */

const char *hx_lightest_vary_word(size_t i); /* NULL after the last */
/* Bounds of a constraint in FILE. */
const hx_config_constraint *hx_lightest_constraint(const hx_lightest *l, size_t i);
int hx_lightest_try_create(const hx_lightest *l, hx_lightest_try *t);
void hx_lightest_try_free(hx_lightest_try *t, int n_limit);
/* FOLDER/try-N/name into text[PATH_MAX]; number from 1. Returns text. */
const char *hx_lightest_path(const hx_lightest *l, int number, const char *name, char *text);
/* 1 if the mass of a part is known. Without an analysis of the surface that needs one density. */
int hx_lightest_has_mass(const hx_lightest *l);
/* Mass of the part of a try, or its volume if no mass is known; NaN: it has no surface. */
double hx_lightest_amount(const hx_lightest *l, const hx_lightest_try *t);
/* 1 if a constraint bounds the volume or the mass. */
int hx_lightest_is_of_amount(const hx_lightest *l, size_t constraint);
/* Accepts a zeroed struct. */
void hx_lightest_free(hx_lightest *l);

/* --- search (lightest_search.c); no files --- */

/* Share of the bounds of a limit that a value uses: above 1, it misses one; infinite if its sign is
 * wrong or the value is NaN. Temperatures count from l->reference. */
double hx_lightest_usage(const hx_lightest *l, int limit, double value);
/* 1 if the made part of a try does not permit to judge a limit, which is then not met. */
int hx_lightest_is_unknown(const hx_lightest_try *t, int limit);
/* Fills usage, made and worst of a try. Limits of volume and mass that are met do not count. */
void hx_lightest_judge(const hx_lightest *l, hx_lightest_try *t);
/* Sets l->end, and makes the bounds or the volume of the next try if the search goes on; next has
 * its arrays. */
void hx_lightest_propose(hx_lightest *l, hx_lightest_try *next);
/* Index of the lightest try that meets all limits; -1: none does. */
int hx_lightest_kept(const hx_lightest *l);
/* Index of the try with the smallest usage; -1: there is no try. */
int hx_lightest_nearest(const hx_lightest *l);

/* --- commands in this process (lightest_call.c) --- */

typedef struct hx_words {
    char **word; /* (owned) */
    size_t n;
} hx_words;

/* Appends a word of a command line. */
int hx_words_add(hx_words *words, const char *fmt, ...) HX_PRINTF(2, 3);
/* Accepts a zeroed struct. */
void hx_words_free(hx_words *words);

/* Runs a command with words[1..], quietly unless with -v, and returns what it returns. The message
 * of an error that the command prints is in *message, of HX_MESSAGE_SIZE. Signals are handled as
 * at the start of the program. */
int hx_lightest_call(const hx_lightest *l, const hx_command *command, const hx_words *words,
                     char *message);

/* From begin to end the first SIGINT, SIGTERM or SIGHUP is only recorded; the second one ends the
 * program. hx_lightest_signals_save is called once, before. */
void hx_lightest_signals_save(void);
void hx_lightest_signals_begin(void);
void hx_lightest_signals_end(void);
int hx_lightest_is_interrupted(void);

/* --- tries (lightest_try.c) --- */

/* `check FILE --solve`, for runs whose bounds are wider than those of FILE and therefore do not
 * judge whether the solid part meets these. Returns 0, an error, or the exit status of `check`,
 * whose last message has been printed. */
int hx_lightest_check_solid(const hx_lightest *l);

/* Runs, cuts out and verifies try l->n_try + 1, and reads its values. is_resumed: parts of it may
 * exist. A part that cannot be analysed, and a later try whose run is refused, are tries that do
 * not pass. Returns 0, an error, or an exit status: HX_LIGHTEST_INTERRUPTED, or that of a command
 * whose message has been printed. */
int hx_lightest_do(hx_lightest *l, hx_lightest_try *t, int is_resumed);

/* --- files (lightest_files.c) --- */

/* Takes the hash of the mesh from summary.json of a try. HX_EINPUT: earlier tries had another
 * mesh. */
int hx_lightest_check_mesh(hx_lightest *l, int number);
/* *values := n_limit NaN. */
int hx_lightest_no_values(const hx_lightest *l, double **values);
/* Reads values, volume and mass from the files of a try; the first one determines l->limit. Without
 * verify.json the values of the grey design are those of summary.json. */
int hx_lightest_read_try(hx_lightest *l, int number, hx_lightest_try *t);
/* Writes lightest.json; is_over: the search has ended. */
int hx_lightest_write(const hx_lightest *l, int is_over);
/* l->settings := the settings of the config that a resumed run must have, those that only change
 * the results of further tries, and the options of verify. */
int hx_lightest_find_settings(hx_lightest *l);
/* Without --resume: HX_EINPUT if a search that did not end is in the folder. */
int hx_lightest_check_folder(const hx_lightest *l);
/* Reads lightest.json. HX_EINPUT: there is none, or it is of another FILE or way to vary. */
int hx_lightest_read(hx_lightest *l);

/* --- report (lightest_report.c) --- */

/* Prints the line of a try, after the header of the table if it is the first line. */
void hx_lightest_print_header(const hx_lightest *l);
void hx_lightest_print_try(const hx_lightest *l, int i);
/* Prints the table, the kept try with its limits and warnings, or what would help. Returns the exit
 * status. */
int hx_lightest_print_end(const hx_lightest *l);
void hx_lightest_print_interrupted(const hx_lightest *l);

#endif
