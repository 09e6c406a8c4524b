/* Warnings about doubtful results: one table for `check`, `run`, the summary and the report. Each
 * warning has a code, a number, the limit that the number exceeds, and a remedy. */
#ifndef HX_DIAG_H
#define HX_DIAG_H

#include "../session/session.h"
#include "../text/json.h"
#include "../text/shell_word.h"

/* In the order of the table in diag.c. */
typedef enum {
    /* known before the first solve */
    HX_DIAG_POOR_ELEMENTS,
    HX_DIAG_BODIES,
    HX_DIAG_HINGES,
    HX_DIAG_THIN_TETRAHEDRA,
    HX_DIAG_FAR_FROM_ORIGIN,
    HX_DIAG_UNIT,
    HX_DIAG_LOAD_ON_SUPPORT,
    HX_DIAG_WEIGHT_ONLY,
    HX_DIAG_EXPANSION,
    HX_DIAG_FREE_OUTPUT,
    HX_DIAG_SOFT_PORT,
    HX_DIAG_PASSIVE_VOID_LOAD,
    HX_DIAG_PASSIVE_VOID_SUPPORT,
    HX_DIAG_VOID_CUTS,
    HX_DIAG_FORCED_SOLID,
    HX_DIAG_NEAR_INCOMPRESSIBLE,
    HX_DIAG_FILTER_SMALL,
    HX_DIAG_FILTER_LARGE,
    HX_DIAG_FILTER_SPLINE,
    HX_DIAG_NO_IMAGE,
    HX_DIAG_NOT_SYMMETRIC,
    HX_DIAG_TOO_FEW_ITERATIONS,
    HX_DIAG_CHANGE_TOLERANCE,
    HX_DIAG_SOFT_VOID,
    HX_DIAG_TOLERANCE,
    HX_DIAG_TOLERANCE_COMPLIANCE,
    HX_DIAG_THREADS,
    HX_DIAG_MEMORY,
    HX_DIAG_DISK,
    /* known after the last design */
    HX_DIAG_PCG,
    HX_DIAG_NO_INFLUENCE,
    HX_DIAG_INITIAL_FILTERED,
    HX_DIAG_ROUNDED_STIFFNESS,
    HX_DIAG_VOLUME,
    HX_DIAG_LIMIT,
    HX_DIAG_CHANGING,
    HX_DIAG_DAMPED,
    HX_DIAG_GREY,
    HX_DIAG_FLOATING_PIECES,
    HX_DIAG_LOAD_ON_VOID,
    HX_DIAG_SUPPORT_ON_VOID,
    HX_DIAG_FEW_ELEMENTS,
    HX_DIAG_LINEAR_TETRAHEDRA,
    /* any other warning of the log */
    HX_DIAG_OTHER,
    HX_N_DIAG
} hx_diag_kind;

/* Size of a remedy: room for three quoted paths and words. */
enum { HX_REMEDY = 3 * HX_SHELL_WORD + 2048 };

typedef struct hx_diag_row {
    const char *code;
    double limit;       /* a warning is issued if its number exceeds this; NaN: there is no limit */
    const char *remedy; /* what helps; "": the warning's text contains it */
} hx_diag_row;
extern const hx_diag_row hx_diag_table[HX_N_DIAG];

/* What `hextop help CODE` prints about a warning, as in the table of doc/commands.md. */
typedef struct hx_diag_words {
    const char *number;  /* the number that is judged; "": none */
    const char *warns;   /* "> 0.5": the limit as text; "" */
    const char *meaning; /* what it means for the result */
    const char *remedy; /* what helps, if the table has no remedy because it depends on the model */
} hx_diag_words;
extern const hx_diag_words hx_diag_help[HX_N_DIAG]; /* diag_help.c */

/* The number beyond which a warning is issued. */
static inline double hx_diag_limit(hx_diag_kind kind)
{
    return hx_diag_table[kind].limit;
}

typedef struct hx_diag {
    hx_diag_kind kind;
    double value; /* NaN: none */
    char *text;   /* the warning without its remedy (owned) */
    char *remedy; /* NULL: the table's remedy (owned) */
} hx_diag;

typedef struct hx_diags {
    size_t n;
    hx_diag *entry; /* [n] (owned) */
    int is_adding;  /* 1: hx_diags_add is logging a warning, and appends it to the list itself */
    /* option that `hextop verify` and `surface` need for the last design; NULL: none (constant) */
    const char *option;
} hx_diags;

/* From here on, every warning that this thread logs is appended to the list. Warnings of
 * hx_diags_add keep their kind; all others get HX_DIAG_OTHER. Accepts a zeroed struct, which must
 * not move until hx_diags_stop_listening. */
int hx_diags_listen(hx_diags *diags);
void hx_diags_stop_listening(hx_diags *diags);

/* 1 if the list has a warning of this kind. */
int hx_diags_have(const hx_diags *diags, hx_diag_kind kind);

/* Logs "TEXT; REMEDY" as a warning and appends it to the list. */
void hx_diags_add(hx_diags *diags, hx_diag_kind kind, double value, const char *fmt, ...)
    HX_PRINTF(4, 5);

/* Like hx_diags_add, with a specific remedy instead of the table's. Arguments for the command line
 * are in back quotes. */
void hx_diags_advise(hx_diags *diags, hx_diag_kind kind, double value, const char *remedy,
                     const char *fmt, ...) HX_PRINTF(5, 6);

/* "warnings": [{code, value, limit, text, remedy}] */
void hx_diags_write(const hx_diags *diags, hx_json *json);
void hx_diags_free(hx_diags *diags);

/* --- before the first solve: `check` prints them section by section, `run` all at once --- */

/* Needs s->quality (hx_session_measure). */
void hx_diag_mesh(hx_diags *diags, const hx_session *s);
void hx_diag_material(hx_diags *diags, const hx_session *s);
void hx_diag_loads(hx_diags *diags, const hx_session *s); /* and supports */
void hx_diag_filter(hx_diags *diags, const hx_session *s);
void hx_diag_groups(hx_diags *diags, const hx_session *s);
void hx_diag_solver(hx_diags *diags, const hx_session *s); /* and continuation */

/* want: bytes that host and device need; have: bytes that the host has. The session needs a
 * device. */
void hx_diag_memory(hx_diags *diags, const hx_session *s, double want, double have);
/* want: bytes of all files; have: free bytes, 0 if unknown. */
void hx_diag_disk(hx_diags *diags, const hx_session *s, double want, double have);

/* All of these except hx_diag_disk, for an open session. If the mesh is still being measured
 * (hx_session_measure_meanwhile), warnings about it are left to hx_diags_meanwhile. In a run
 * of several processes this function and those below are collective, and the first one has the
 * warnings. */
int hx_diags_before(hx_diags *diags, hx_session *s);

/* Called after the first design: the warnings that hx_diags_before left out, if any. */
int hx_diags_meanwhile(hx_diags *diags, hx_session *s);

/* Host bytes that the session uses or will use, including the device's if the device is the host.
 * *have: bytes that the host has for these. */
double hx_diag_host_bytes(const hx_session *s, double *have);

/* Returns 1 if the stiffness of void is too small for double precision; remedy := arguments that
 * help. */
int hx_diag_soft_void(const hx_session *s, char *remedy, size_t n_remedy);

/* Warns if passive void cuts loads off from all supports (diag_void.c). Called by hx_diag_loads.
 * O(n_elem) if there are passive elements. Collective if the mesh is distributed. */
int hx_diag_void(hx_diags *diags, const hx_session *s);

/* Warns if nothing resists a displacement that is minimized, as that of a mechanism's output, or if
 * no solid is there (diag_mechanism.c). Called by hx_diag_loads. Collective if the mesh is
 * distributed. */
int hx_diag_mechanism(hx_diags *diags, const hx_session *s);
/* text := arguments for the command line that remove the passive void among the elements with
 * at_elem[n_elem] != 0. Collective if the mesh is distributed. */
int hx_diag_void_remedy(const hx_session *s, const uint8_t *at_elem, char *text, size_t n_text);

/* Warns if the elements that a 0/1 design forces solid exceed its target volume (diag_part.c).
 * O(n_elem) per set. Collective if the mesh is distributed. */
int hx_diag_part(hx_diags *diags, const hx_session *s);
/* text := arguments with which all loaded elements can be solid in the next run. */
int hx_diag_part_remedy(const hx_session *s, char *text, size_t n_text);

/* Called after the first design: warns if the filter smoothed the densities of optimization.initial
 * a second time. resume: command that continues the run that wrote them; NULL: it left no
 * checkpoint. */
void hx_diag_initial(hx_diags *diags, const hx_session *s, const hx_iteration *first,
                     const char *resume);

/* --- after the last design --- */

/* A design that was analysed. */
typedef struct hx_diag_record {
    double objective, volume; /* volume: as a fraction of the part */
    double violation;         /* largest relative violation of a limit */
    double change;            /* largest density change of the step that followed */
} hx_diag_record;

/* Properties of all designs of a run. */
typedef struct hx_diag_span {
    int n;              /* number of designs */
    double least, most; /* smallest and largest objective */
    double change;      /* largest density change */
    int best; /* iteration with the lowest objective among those with the final penalty and
                         * beta that meet the volume and all limits; 0: none */
    double best_objective;
} hx_diag_span;

typedef struct hx_diag_facts {
    const hx_iteration *last;
    const hx_diag_span *span;
    /* number of designs; number of designs with a failed solve; number of designs that miss the
     * volume */
    int n_iteration, n_unconverged, n_missed;
    /* 1: a signal or the caller stopped the run, so the design may still change */
    int was_stopped;
    int has_checkpoint; /* --resume can continue this run */
    int n_recent;       /* number of latest designs that have the final penalty and beta */
    const hx_diag_record *recent; /* [n_recent] latest first */
    double zero; /* hx_response_zero of the objective, from which ratios are taken */
} hx_diag_facts;

/* text := the command that continues, up to a total number of iterations, the run whose results and
 * checkpoint are in the folder. Returns 1 if it fits. */
int hx_diag_resume_command(const char *folder, int iterations, char *text, size_t n_text);

/* text := arguments for a new run whose design is closer to black and white: a projection, after a
 * filter that supports one, or a steeper projection. Returns 0 if the projection of the config
 * cannot be steeper. */
int hx_diag_sharpen(const hx_session *s, char *text, size_t n_text);

/* Judges the design that was just analysed, on the host: the 0/1 design that `hextop verify` would
 * make of it, the pieces of that design and, unless the design is very grey, where its strain
 * energy is. O(n_elem), once at the end. Errors such as HX_ENOMEM become warnings. Overwrites state
 * that hx_optimizer_advance needs. */
void hx_diags_after(hx_diags *diags, hx_session *s, const hx_diag_facts *facts);
/* Sets diags->option; hx_diags_after does this first. volume: volume fraction of the last design.
 * With a distributed mesh the option remains what hx_diag_part found. */
int hx_diag_part_after(hx_diags *diags, hx_session *s, double volume);
/* " --preserve passive": option for `hextop verify`, `surface`, `analyse` and `mesh`, without which
 * they would refuse the last design; else "". */
const char *hx_diags_option(const hx_diags *diags);
/* The part of hx_diags_after that judges the 0/1 design (diag_solid.c). */
int hx_diag_solid(hx_diags *diags, hx_session *s);

/* *error: fraction of the strain energy that linear tetrahedra of the solid miss, estimated from
 * the jumps of their strains (Zienkiewicz and Zhu 1987), in the worst load case. *share: fraction
 * of the solid volume that consists of tetrahedra. is_solid: [n_elem] (diag_tetrahedra.c) */
int hx_diag_tetrahedra(const hx_session *s, const uint8_t *is_solid, double *share, double *error);
/* *share: fraction of all elements that are tetrahedra without a corner inside the part. */
int hx_diag_thin_tetrahedra(const hx_mesh *mesh, double *share);

#endif
