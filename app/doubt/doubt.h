/* Where a result is doubtful: one table of warnings for `check`, `run`, the summary and the report.
 * Each has a code word, a number, the limit that it is beyond, and what would help. */
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
    /* of the last design */
    HX_DOUBT_PCG,
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
    double limit;       /* beyond which it is warned of; NaN: there is none */
    const char *remedy; /* "" where the text says it */
} hx_doubt_row;
extern const hx_doubt_row hx_doubt_table[HX_N_DOUBT];

/* The number beyond which a warning is issued. */
static inline double hx_doubt_limit(hx_doubt_kind kind)
{
    return hx_doubt_table[kind].limit;
}

typedef struct hx_doubt {
    hx_doubt_kind kind;
    double value; /* NaN: none */
    char *text;   /* without the remedy (owned) */
    char *remedy; /* NULL: that of the table (owned) */
} hx_doubt;

typedef struct hx_doubts {
    size_t n;
    hx_doubt *entry; /* [n] (owned) */
    int is_adding;   /* what is logged is in the list already */
} hx_doubts;

/* All that is logged as a warning from here on, on this thread, comes into the list: those of
 * hx_doubts_add with their kind, all others as HX_DOUBT_OTHER. Accepts a zeroed struct, which keeps
 * its place until hx_doubts_deafen. */
int hx_doubts_listen(hx_doubts *doubts);
void hx_doubts_deafen(hx_doubts *doubts);

/* Logs "TEXT; REMEDY" as a warning and keeps it. */
void hx_doubts_add(hx_doubts *doubts, hx_doubt_kind kind, double value, const char *fmt, ...)
    HX_PRINTF(4, 5);

/* Like hx_doubts_add, with a remedy for this case instead of the table's: what helps, with the
 * words of the command line in back quotes. */
void hx_doubts_advise(hx_doubts *doubts, hx_doubt_kind kind, double value, const char *remedy,
                      const char *fmt, ...) HX_PRINTF(5, 6);

/* "warnings": [{code, value, limit, text, remedy}] */
void hx_doubts_write(const hx_doubts *doubts, hx_json *json);
void hx_doubts_free(hx_doubts *doubts);

/* --- before the first solve: what `check` shows section by section, `run` at once --- */

/* Needs s->quality (hx_session_measure). */
void hx_doubt_mesh(hx_doubts *doubts, const hx_session *s);
void hx_doubt_material(hx_doubts *doubts, const hx_session *s);
void hx_doubt_loads(hx_doubts *doubts, const hx_session *s); /* supports too */
void hx_doubt_filter(hx_doubts *doubts, const hx_session *s);
void hx_doubt_ties(hx_doubts *doubts, const hx_session *s);
void hx_doubt_solver(hx_doubts *doubts, const hx_session *s); /* continuation too */

/* Bytes that host and device want of what the host has; of a session with a device. */
void hx_doubt_memory(hx_doubts *doubts, const hx_session *s, double want, double have);
/* Bytes of all files, and those free; 0: unknown. */
void hx_doubt_disk(hx_doubts *doubts, const hx_session *s, double want, double have);

/* All of them but the disk, of an open session; those of the mesh are left for hx_doubts_meanwhile
 * if it is being measured (hx_session_measure_meanwhile). If no process has the whole mesh, the
 * others look at loads and supports with the leader: hx_doubts_follow answers HX_DOUBTS_CALL. */
int hx_doubts_before(hx_doubts *doubts, hx_session *s);
int hx_doubts_follow(hx_session *s);

/* hx_ranks_call.what, beside those of the output. */
enum { HX_DOUBTS_CALL = HX_RANKS_OTHER + 100 };

/* After the first design those that were left. Nothing if none were. */
int hx_doubts_meanwhile(hx_doubts *doubts, hx_session *s);

/* Host bytes that the session takes or has taken, its device's where that is the host; *have: what
 * the host has for it. */
double hx_doubt_host_bytes(const hx_session *s, double *have);

/* 1: the stiffness of void is too small for double precision; words that help. */
int hx_doubt_soft_void(const hx_session *s, char *remedy, size_t n_remedy);

/* Passive void that cuts loads off from all supports (doubt_void.c); part of hx_doubt_loads.
 * O(n_elem) with passive elements; collective of a mesh in parts. */
int hx_doubt_void(hx_doubts *doubts, const hx_session *s);
/* Words for the command line that leave out the void at the nodes with at_node[n_node] != 0.
 * Collective of a mesh in parts. */
int hx_doubt_void_remedy(const hx_session *s, const uint8_t *at_node, char *text, size_t n_text);

/* After the first design: optimization.initial, whose densities the filter smoothed once more.
 * resume: the command that goes on with the run that they are of; NULL: it left no checkpoint. */
void hx_doubt_initial(hx_doubts *doubts, const hx_session *s, const hx_iteration *first,
                      const char *resume);

/* --- after the last design --- */

/* A design that was analysed. */
typedef struct hx_doubt_record {
    double compliance, volume; /* volume: fraction of the part */
    double change;             /* largest density change that its step proposed */
} hx_doubt_record;

typedef struct hx_doubt_facts {
    const hx_iteration *last;
    int n_iteration, n_unconverged, n_missed; /* designs; whose solves, whose volumes failed */
    int was_stopped;                          /* by a signal or the caller: it may still change */
    int n_recent;                             /* the last designs, with the last penalty and beta */
    const hx_doubt_record *recent;            /* [n_recent] the last one first */
} hx_doubt_facts;

/* Of the design just analysed, which is looked at on the host: its 0/1 design as `hextop verify`
 * makes it, in pieces, then where the strain energy is, unless it is very grey. O(n_elem), once at
 * the end; HX_ENOMEM and the like are warned of. What hx_optimizer_advance needs is lost. */
void hx_doubts_after(hx_doubts *doubts, hx_session *s, const hx_doubt_facts *facts);
/* The part of it that judges the 0/1 design (doubt_solid.c). */
int hx_doubt_solid(hx_doubts *doubts, hx_session *s);

/* *error: share of the strain energy that linear tetrahedra of the solid leave out, as estimated
 * from the jumps of their strains (Zienkiewicz and Zhu 1987), in the worst load case; *share: of
 * the solid volume that is tetrahedra. rho: [n_elem] (doubt_tetrahedra.c) */
int hx_doubt_tetrahedra(const hx_session *s, const uint8_t *is_solid, double *share, double *error);
/* Share of the tetrahedra that have no corner inside the part. */
int hx_doubt_thin_tetrahedra(const hx_mesh *mesh, double *share);

#endif
