/* State of one pass over an ANSYS archive. ansys_scan.c handles lines, fields and values of
 * parameters, ansys_assign.c assignments to parameters, ansys_elements.c elements, ansys_read.c
 * nodes and components, ansys_loads.c loads and supports, ansys_materials.c materials,
 * ansys_branches.c branches, ansys_unread.c the commands that are reported but not read,
 * ansys_known.c the commands without effect. Internal. */
#ifndef HX_ANSYS_READER_H
#define HX_ANSYS_READER_H

#include <stdio.h>

#include "mesh_conditions.h"
#include "mesh_import.h"
#include "numbered_materials.h"

enum {
    HX_ANSYS_NUMBERS = 20000, /* types and sets of real constants have smaller numbers */
    HX_ANSYS_FIELDS = 64,     /* fields per line of a block, nodes per element */
    HX_ANSYS_WORD = 256,
    HX_ANSYS_SHOWN = 60, /* characters of a line shown in a message */
    HX_ANSYS_NAME = 33,
    HX_ANSYS_INERTIA = 10,
    HX_ANSYS_BLOCKS = 64, /* nesting depth of *IF, *DO and similar blocks */
    HX_ANSYS_OPTIONS = 3  /* values of KEYOPT that are kept */
};

/* Columns of the lines of a block, according to the block's format line. */
typedef struct hx_ansys_layout {
    int n_int, n_real;
    int begin[HX_ANSYS_FIELDS], width[HX_ANSYS_FIELDS]; /* integers first, then reals */
} hx_ansys_layout;

typedef struct hx_ansys_parameter {
    char name[HX_ANSYS_NAME];
    double value;   /* NaN: not a number that can be read */
    int is_session; /* 1: it states whether the session is interactive, which it is not */
} hx_ansys_parameter;

/* An element of E or EN, whose nodes may continue in the commands that follow. */
typedef struct hx_ansys_pending {
    /* n_wanted: number of nodes announced by EN,R5.5,ATTR; 0: none */
    int is_open, n_node, n_wanted;
    int64_t number, line, type, real, material;
    int64_t node[HX_ANSYS_FIELDS];
} hx_ansys_pending;

/* Effect of a command on one component of a load or support at one node. */
typedef enum { HX_ANSYS_REPLACE, HX_ANSYS_ADD, HX_ANSYS_DELETE } hx_ansys_action;

typedef struct hx_ansys_entry {
    int64_t node, line;
    int32_t order; /* position among all statements */
    int8_t is_force, component, action;
    double value;
} hx_ansys_entry;

/* The nodes that are selected. */
typedef enum { HX_ANSYS_ALL, HX_ANSYS_SET, HX_ANSYS_UNKNOWN } hx_ansys_selection;

/* The solids of one type. */
typedef struct hx_ansys_solids {
    int64_t n, line; /* line of the first one */
    int16_t number;  /* number in the element library */
} hx_ansys_solids;

typedef struct hx_ansys_cumulate {
    hx_ansys_action action;
    double factor;
} hx_ansys_cumulate;

typedef struct hx_ansys_reader {
    FILE *stream;  /* (owned) */
    char *text;    /* the last line, without its line end (owned) */
    int has_units; /* /UNITS was read */
    size_t capacity, length;
    char *command;                 /* in text: the current command (borrowed) */
    int is_kept;                   /* 1: the last line is still to be handled as a command */
    int64_t line;                  /* 1-based */
    int n_block;                   /* nesting of *IF, *DO and similar blocks */
    int8_t block[HX_ANSYS_BLOCKS]; /* [n_block] states, of ansys_branches.c */
    int in_creation;               /* between *CREATE and *END */
    int is_over;                   /* /EOF or an equivalent was read: the rest is ignored */
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes; /* (borrowed) */

    /* [HX_ANSYS_NUMBERS] number in the element library, per type of the file; 0: not known
     * (owned) */
    int16_t *type;
    /* [HX_ANSYS_NUMBERS] KEYOPT(1) to (3) of a type: its formulation and layers (owned) */
    int8_t (*option)[HX_ANSYS_OPTIONS];
    hx_ansys_solids *solids; /* [HX_ANSYS_NUMBERS] per type of the file (owned) */
    /* [HX_ANSYS_NUMBERS] 1: a set of real constants has a value that is not zero (owned) */
    uint8_t *has_constants;
    int64_t current_type, current_real, current_material, last_elem;
    hx_numbered_materials materials;
    hx_ansys_pending pending;
    int csys; /* the active coordinate system */

    size_t n_parameter, parameter_capacity;
    hx_ansys_parameter *parameter; /* (owned) */

    hx_ansys_selection selection;
    const hx_import_set *selected;
    size_t n_chosen, chosen_capacity;
    int64_t *chosen; /* nodes that the command names (owned) */
    size_t n_entry, entry_capacity;
    hx_ansys_entry *entry;         /* (owned) */
    hx_ansys_cumulate cumulate[2]; /* DCUM, FCUM */
    hx_numbers rotated;            /* nodes with a coordinate system of their own */
    int64_t solved;                /* line of the first SOLVE or LSWRITE; 0: none */
    const char *solved_by;         /* which of the two commands it was (borrowed) */
    /* line of the first statement after that or after a later SOLVE, 0: none; roles of such
     * statements */
    int64_t late_line;
    unsigned late_roles;
    int some_elements; /* 1: the selection of elements that is active may not contain all of them */
    int n_unknown;     /* number of unknown commands */

    int64_t inertia[HX_ANSYS_INERTIA]; /* line of each component that is not zero; 0: it is zero */
    int64_t antype_line;               /* line of the last ANTYPE that is not static; 0: none */
    char antype[HX_ANSYS_WORD];
    double uniform, reference; /* temperatures of BFUNIF and TREF; NaN: not stated */
    int64_t uniform_line;
    int64_t cold_line;  /* line of the first BF or BFE with a temperature of 0; 0: none */
    int64_t large_line; /* line of the last NLGEOM that switches it on; 0: it is off */
    int expands;        /* a material has a coefficient of thermal expansion */
    int64_t n_lost_component;
    char lost_component[HX_ANSYS_WORD];
} hx_ansys_reader;

#define HX_ANSYS_RAISE(r, ...) HX_IMPORT_RAISE(&(r)->import, (r)->line, __VA_ARGS__)

/* --- ansys_scan.c --- */

int hx_ansys_line(hx_ansys_reader *r, int *found);
int hx_ansys_need_line(hx_ansys_reader *r, const char *block);

/* Returns 1 at the end of a block: a line of -1, or the next command, which is then handled as a
 * command. */
int hx_ansys_is_end(hx_ansys_reader *r);

/* Reads the format line of a block, a Fortran format: "(3i9,6e21.13e3)" or "(1i7,2i9,6e21.13)". */
int hx_ansys_layout_read(hx_ansys_reader *r, const char *block, hx_ansys_layout *l);

/* Parses field k of the line as a number; blank: 0. */
int hx_ansys_int(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, int64_t *value);
int hx_ansys_real(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, double *value);

/* Returns the number of integer fields up to the last one that is not blank. */
int hx_ansys_count(const hx_ansys_reader *r, const hx_ansys_layout *l);

/* Returns field k of the command, without the blanks around it; "" if there is none. */
const char *hx_ansys_word(const hx_ansys_reader *r, int k, char text[HX_ANSYS_WORD]);
int hx_ansys_is(const hx_ansys_reader *r, int k, const char *word);

/* Returns 1 if the command is `name`. Four characters suffice, as in ANSYS; names that start with *
 * and shorter ones must match completely. */
int hx_ansys_is_command(const hx_ansys_reader *r, const char *name);

/* Returns 1 if field 1 is the release or the word by which CDWRITE states the form of the data:
 * "R5.3", or "UNBL" of later releases. */
int hx_ansys_is_unblocked(const hx_ansys_reader *r);

/* Parses field k as a number: a literal or a parameter with a value; blank: 0. Returns 1 on
 * success. */
int hx_ansys_number(const hx_ansys_reader *r, int k, double *value);

/* Parses field k, which must be an integer. */
int hx_ansys_integer(const hx_ansys_reader *r, int k, int64_t *value);

/* Finds a parameter by its name, without regard to case; NULL: there is none. */
hx_ansys_parameter *hx_ansys_find_parameter(const hx_ansys_reader *r, const char *name);

/* Parses text as a number: a literal or a parameter with a value, possibly with a sign. "" leaves
 * *value as it is. Returns 1 on success. */
int hx_ansys_value(const hx_ansys_reader *r, const char *text, double *value);

/* Returns 1 if the parameter states whether the session is interactive. */
int hx_ansys_is_session(const hx_ansys_reader *r, const char *name);

/* --- ansys_elements.c --- */

int hx_ansys_eblock(hx_ansys_reader *r);
int hx_ansys_en(hx_ansys_reader *r);
int hx_ansys_e(hx_ansys_reader *r);
int hx_ansys_emore(hx_ansys_reader *r);
int hx_ansys_et(hx_ansys_reader *r);
int hx_ansys_etblock(hx_ansys_reader *r);
int hx_ansys_keyopt(hx_ansys_reader *r);

/* Records layered solids, and solids that ANSYS integrates or enriches differently, as unread. */
int hx_ansys_name_solids(hx_ansys_reader *r);
int hx_ansys_constants(hx_ansys_reader *r);
int hx_ansys_rlblock(hx_ansys_reader *r);

/* Adds the pending element of E or EN, if there is one. */
int hx_ansys_close_element(hx_ansys_reader *r);

/* --- ansys_materials.c --- */

int hx_ansys_mp(hx_ansys_reader *r);
int hx_ansys_mpdata(hx_ansys_reader *r);
int hx_ansys_tb(hx_ansys_reader *r);
/* Makes a set material-N of the elements of each used material that differs from the first one, if
 * all of them can be used. */
int hx_ansys_name_materials(hx_ansys_reader *r);
int hx_ansys_find_material(hx_ansys_reader *r, hx_file_material *to);
int hx_ansys_mpdele(hx_ansys_reader *r);

/* --- ansys_loads.c --- */

int hx_ansys_condition(hx_ansys_reader *r); /* D and F */
int hx_ansys_dblock(hx_ansys_reader *r);
int hx_ansys_delete(hx_ansys_reader *r); /* DDELE and FDELE */
int hx_ansys_cum(hx_ansys_reader *r);    /* DCUM and FCUM */
int hx_ansys_cmsel(hx_ansys_reader *r);
int hx_ansys_nsel(hx_ansys_reader *r);
int hx_ansys_allsel(hx_ansys_reader *r);
int hx_ansys_esel(hx_ansys_reader *r);
int hx_ansys_cm(hx_ansys_reader *r);

/* Once everything is read, converts the final value of each component of each node to
 * conditions. */
int hx_ansys_finish_loads(hx_ansys_reader *r);

/* --- ansys_unread.c --- */

/* Records a statement that is not read; what: description, or NULL. */
int hx_ansys_unread(hx_ansys_reader *r, unsigned roles, const char *word, const char *what,
                    int64_t line);

/* Handles a command that none of the readers handles: records it, refuses it, or skips it if it has
 * no effect. */
int hx_ansys_other_command(hx_ansys_reader *r);

/* Notes a statement after SOLVE or LSWRITE, which belongs to a later load step. */
void hx_ansys_note_late(hx_ansys_reader *r, unsigned roles);

/* Checks whether MP, MPDATA or TB states thermal expansion. */
void hx_ansys_look_for_expansion(hx_ansys_reader *r);

int hx_ansys_finish_unread(hx_ansys_reader *r);

/* --- ansys_branches.c --- */

/* Follows *IF, *DO and *CREATE with their ends. Returns 1 if the command does not run. */
int hx_ansys_follow_branches(hx_ansys_reader *r);

/* Returns 1 if the command is in an undecided branch or loop, so that it may run never or several
 * times. */
int hx_ansys_is_nested(const hx_ansys_reader *r);

/* --- ansys_assign.c --- */

/* Handles NAME=value and *SET,NAME,value. */
int hx_ansys_assign(hx_ansys_reader *r, const char *name, const char *value);

/* Handles *GET,NAME,ACTIVE,,INT: whether the session is interactive. */
int hx_ansys_assign_session(hx_ansys_reader *r, const char *name);

/* --- ansys_known.c --- */

/* Returns 1 if the command, or line of data, has no effect on what is read. */
int hx_ansys_is_harmless(const hx_ansys_reader *r);

/* Skips the format after *VREAD and similar commands. */
int hx_ansys_skip_format(hx_ansys_reader *r);

#endif
