/* Warnings about doubtful results: one table for `check`, `run`, the summary and the report. Each
 * warning has a code, a number, the limit that the number exceeds, and a remedy. */
#ifndef HX_DOUBT_H
#define HX_DOUBT_H

#include "../session/session.h"
#include "../text/json.h"

/* In the order of the table in doubt.c. */
typedef enum {
    /* known before the first solve */
    HX_DOUBT_POOR_ELEMENTS,
    HX_DOUBT_BODIES,
    HX_DOUBT_HINGES,
    HX_DOUBT_THIN_TETRAHEDRA,
    HX_DOUBT_FAR_FROM_ORIGIN,
    HX_DOUBT_UNIT,
    HX_DOUBT_HELD_LOAD,
    HX_DOUBT_PASSIVE_VOID_LOAD,
    HX_DOUBT_PASSIVE_VOID_SUPPORT,
    HX_DOUBT_VOID_CUTS,
    HX_DOUBT_FORCED_SOLID,
    HX_DOUBT_NEAR_INCOMPRESSIBLE,
    HX_DOUBT_FILTER_SMALL,
    HX_DOUBT_FILTER_LARGE,
    HX_DOUBT_FILTER_SPLINE,
    HX_DOUBT_NO_IMAGE,
    HX_DOUBT_NOT_SYMMETRIC,
    HX_DOUBT_TOO_FEW_ITERATIONS,
    HX_DOUBT_CHANGE_TOLERANCE,
    HX_DOUBT_SOFT_VOID,
    HX_DOUBT_TOLERANCE,
    HX_DOUBT_TOLERANCE_COMPLIANCE,
    HX_DOUBT_THREADS,
    HX_DOUBT_MEMORY,
    HX_DOUBT_DISK,
    /* known after the last design */
    HX_DOUBT_PCG,
    HX_DOUBT_NO_INFLUENCE,
    HX_DOUBT_INITIAL_FILTERED,
    HX_DOUBT_ROUNDED_STIFFNESS,
    HX_DOUBT_VOLUME,
    HX_DOUBT_CHANGING,
    HX_DOUBT_DAMPED,
    HX_DOUBT_GREY,
    HX_DOUBT_LOOSE_PIECES,
    HX_DOUBT_LOAD_ON_VOID,
    HX_DOUBT_SUPPORT_ON_VOID,
    HX_DOUBT_FEW_ELEMENTS,
    HX_DOUBT_LINEAR_TETRAHEDRA,
    /* any other warning of the log */
    HX_DOUBT_OTHER,
    HX_N_DOUBT
} hx_doubt_kind;

typedef struct hx_doubt_row {
    const char *code;
    double limit;       /* a warning is issued beyond it; NaN: none */
    const char *remedy; /* "" if the text contains it */
} hx_doubt_row;
extern const hx_doubt_row hx_doubt_table[HX_N_DOUBT];

/* What `hextop help CODE` prints about a warning, as in the table of doc/commands.md. */
typedef struct hx_doubt_words {
    const char *number;  /* that is judged; "": none */
    const char *warns;   /* "> 0.5", or ""; the limit as text */
    const char *meaning; /* for the result */
    const char
        *remedy; /* if the table has none, since the remedy of a warning depends on its model */
} hx_doubt_words;
extern const hx_doubt_words hx_doubt_help[HX_N_DOUBT]; /* doubt_help.c */

/* The number beyond which a warning is issued. */
static inline double hx_doubt_limit(hx_doubt_kind kind)
{
    return hx_doubt_table[kind].limit;
}

typedef struct hx_doubt {
    hx_doubt_kind kind;
    double value; /* NaN: none */
    char *text;   /* without the remedy (owned) */
    char *remedy; /* NULL: the table's remedy (owned) */
} hx_doubt;

typedef struct hx_doubts {
    size_t n;
    hx_doubt *entry; /* [n] (owned) */
    int is_adding;   /* 1: the list has the line that is being logged */
    /* option that `hextop verify` and `surface` need for the last design; NULL: none (constant) */
    const char *option;
} hx_doubts;

/* From here on, every warning that this thread logs is appended to the list: warnings of
 * hx_doubts_add with their kind, all others as HX_DOUBT_OTHER. Accepts a zeroed struct, which must
 * not move until hx_doubts_deafen. */
int hx_doubts_listen(hx_doubts *doubts);
void hx_doubts_deafen(hx_doubts *doubts);

/* Logs "TEXT; REMEDY" as a warning and appends it to the list. */
void hx_doubts_add(hx_doubts *doubts, hx_doubt_kind kind, double value, const char *fmt, ...)
    HX_PRINTF(4, 5);

/* Like hx_doubts_add, with a remedy for this case instead of the table's. Arguments for the command
 * line stand in back quotes. */
void hx_doubts_advise(hx_doubts *doubts, hx_doubt_kind kind, double value, const char *remedy,
                      const char *fmt, ...) HX_PRINTF(5, 6);

/* "warnings": [{code, value, limit, text, remedy}] */
void hx_doubts_write(const hx_doubts *doubts, hx_json *json);
void hx_doubts_free(hx_doubts *doubts);

/* --- before the first solve: `check` prints them section by section, `run` all at once --- */

/* Needs s->quality (hx_session_measure). */
void hx_doubt_mesh(hx_doubts *doubts, const hx_session *s);
void hx_doubt_material(hx_doubts *doubts, const hx_session *s);
void hx_doubt_loads(hx_doubts *doubts, const hx_session *s); /* and supports */
void hx_doubt_filter(hx_doubts *doubts, const hx_session *s);
void hx_doubt_groups(hx_doubts *doubts, const hx_session *s);
void hx_doubt_solver(hx_doubts *doubts, const hx_session *s); /* and continuation */

/* want: bytes that host and device need; have: bytes that the host has. The session needs a
 * device. */
void hx_doubt_memory(hx_doubts *doubts, const hx_session *s, double want, double have);
/* want: bytes of all files; have: free bytes, 0 if unknown. */
void hx_doubt_disk(hx_doubts *doubts, const hx_session *s, double want, double have);

/* All of these except hx_doubt_disk, for an open session. Warnings about the mesh are left to
 * hx_doubts_meanwhile if the mesh is still being measured (hx_session_measure_meanwhile). If no
 * rank has the whole mesh, all ranks judge loads and supports together: the other ranks call
 * hx_doubts_follow when they receive HX_DOUBTS_CALL. */
int hx_doubts_before(hx_doubts *doubts, hx_session *s);
int hx_doubts_follow(hx_session *s);

/* A value of hx_dist_call.what, distinct from those of the output. */
enum { HX_DOUBTS_CALL = HX_DIST_OTHER + 100 };

/* Called after the first design: the warnings that hx_doubts_before left out, if any. */
int hx_doubts_meanwhile(hx_doubts *doubts, hx_session *s);

/* Host bytes that the session uses or will use, including its device's if the device is the host.
 * *have: bytes that the host has for them. */
double hx_doubt_host_bytes(const hx_session *s, double *have);

/* 1 if the stiffness of void is too small for double precision; remedy := words that help. */
int hx_doubt_soft_void(const hx_session *s, char *remedy, size_t n_remedy);

/* Warns if passive void cuts loads off from all supports (doubt_void.c). Called by hx_doubt_loads.
 * O(n_elem) if there are passive elements. Collective if the mesh is distributed. */
int hx_doubt_void(hx_doubts *doubts, const hx_session *s);
/* text := arguments for the command line that remove the passive void among the elements with
 * at_elem[n_elem] != 0. Collective if the mesh is distributed. */
int hx_doubt_void_remedy(const hx_session *s, const uint8_t *at_elem, char *text, size_t n_text);

/* Warns if the elements that a 0/1 design forces solid exceed its target volume (doubt_part.c).
 * O(n_elem) per set. Collective if the mesh is distributed. */
int hx_doubt_part(hx_doubts *doubts, const hx_session *s);
/* text := what lets all loaded elements be solid in the next run. */
int hx_doubt_part_remedy(const hx_session *s, char *text, size_t n_text);

/* Called after the first design: warns if the filter smoothed the densities of optimization.initial
 * a second time. resume: command that continues the run that wrote them; NULL: it left no
 * checkpoint. */
void hx_doubt_initial(hx_doubts *doubts, const hx_session *s, const hx_iteration *first,
                      const char *resume);

/* --- after the last design --- */

/* A design that was analysed. */
typedef struct hx_doubt_record {
    double compliance, volume; /* volume: as a fraction of the part */
    double change;             /* largest density change of the step that followed */
} hx_doubt_record;

/* What all designs of a run show. */
typedef struct hx_doubt_span {
    int n;              /* number of designs */
    double least, most; /* smallest and largest compliance */
    double change;      /* largest density change */
    int best; /* iteration with the lowest compliance among those with the final penalty and
                         * beta that meet the volume; 0: none */
    double best_compliance;
} hx_doubt_span;

typedef struct hx_doubt_facts {
    const hx_iteration *last;
    const hx_doubt_span *span;
    /* number of designs; of those with a failed solve; of those off the volume */
    int n_iteration, n_unconverged, n_missed;
    int was_stopped; /* by a signal or the caller, so it may still change */
    int n_recent;    /* number of latest designs that have the final penalty and beta */
    const hx_doubt_record *recent; /* [n_recent] latest first */
} hx_doubt_facts;

/* Judges the design that was just analysed, on the host: the 0/1 design that `hextop verify` would
 * make of it, its pieces, and where its strain energy is, unless the design is very grey.
 * O(n_elem), once at the end. Errors such as HX_ENOMEM become warnings. Overwrites state that
 * hx_optimizer_advance needs. */
void hx_doubts_after(hx_doubts *doubts, hx_session *s, const hx_doubt_facts *facts);
/* Finds doubts->option, which hx_doubts_after does first. volume: fraction of the last design. With
 * a distributed mesh it remains what hx_doubt_part found. */
int hx_doubt_part_after(hx_doubts *doubts, hx_session *s, double volume);
/* " --preserve passive": option for `hextop verify`, `surface`, `analyse` and `mesh`, without which
 * they would refuse the last design; else "". */
const char *hx_doubts_option(const hx_doubts *doubts);
/* The part of hx_doubts_after that judges the 0/1 design (doubt_solid.c). */
int hx_doubt_solid(hx_doubts *doubts, hx_session *s);

/* *error: fraction of the strain energy that linear tetrahedra of the solid miss, estimated from
 * the jumps of their strains (Zienkiewicz and Zhu 1987), in the worst load case. *share: fraction
 * of the solid volume that consists of tetrahedra. is_solid: [n_elem] (doubt_tetrahedra.c) */
int hx_doubt_tetrahedra(const hx_session *s, const uint8_t *is_solid, double *share, double *error);
/* *share: fraction of all elements that are tetrahedra without a corner inside the part. */
int hx_doubt_thin_tetrahedra(const hx_mesh *mesh, double *share);

#endif
