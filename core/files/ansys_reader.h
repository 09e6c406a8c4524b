/* The state of one pass over an ANSYS archive: ansys_scan.c has its lines, fields and parameters,
 * ansys_elements.c its elements, ansys_read.c nodes and components, ansys_loads.c what acts on
 * the part, ansys_materials.c its materials, ansys_unread.c the commands that are named and not
 * read, ansys_known.c those that change nothing. Internal. */
#ifndef HX_ANSYS_READER_H
#define HX_ANSYS_READER_H

#include <stdio.h>

#include "mesh_conditions.h"
#include "mesh_import.h"
#include "numbered_materials.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HX_ANSYS_NUMBERS = 20000, /* types and sets of real constants are below */
    HX_ANSYS_FIELDS = 64,     /* of a line of a block, nodes of an element */
    HX_ANSYS_WORD = 256,
    HX_ANSYS_SHOWN = 60, /* characters of a line in a message */
    HX_ANSYS_NAME = 33,
    HX_ANSYS_INERTIA = 10,
    HX_ANSYS_OPTIONS = 3 /* of KEYOPT that are kept */
};

/* Columns of the lines of a block, as its format line states them. */
typedef struct hx_ansys_layout {
    int n_int, n_real;
    int begin[HX_ANSYS_FIELDS], width[HX_ANSYS_FIELDS]; /* integers first, then reals */
} hx_ansys_layout;

typedef struct hx_ansys_parameter {
    char name[HX_ANSYS_NAME];
    double value; /* NaN: not a number that is read */
} hx_ansys_parameter;

/* An element of E or EN, whose nodes may go on in commands that follow. */
typedef struct hx_ansys_pending {
    int is_open, n_node, n_wanted; /* n_wanted: nodes that EN,R5.5,ATTR announced; 0: none */
    int64_t number, line, type, real, material;
    int64_t node[HX_ANSYS_FIELDS];
} hx_ansys_pending;

/* A statement about one component of one node. */
typedef enum { HX_ANSYS_REPLACE, HX_ANSYS_ADD, HX_ANSYS_DELETE } hx_ansys_action;

typedef struct hx_ansys_entry {
    int64_t node, line;
    int32_t order; /* among all of them */
    int8_t is_force, component, action;
    double value;
} hx_ansys_entry;

/* Which nodes are selected. */
typedef enum { HX_ANSYS_ALL, HX_ANSYS_SET, HX_ANSYS_UNKNOWN } hx_ansys_selection;

/* The solids of one type. */
typedef struct hx_ansys_solids {
    int64_t n, line; /* of the first */
    int16_t number;  /* of the element library */
} hx_ansys_solids;

typedef struct hx_ansys_cumulate {
    hx_ansys_action action;
    double factor;
} hx_ansys_cumulate;

typedef struct hx_ansys_reader {
    FILE *stream; /* (owned) */
    char *text;   /* the last line, without its end (owned) */
    size_t capacity, length;
    char *command;   /* in text: the command that is read (borrowed) */
    int is_kept;     /* the last line is still to be read as a command */
    int64_t line;    /* 1-based */
    int depth;       /* of *IF, *DO and their like */
    int in_creation; /* between *CREATE and *END */
    int is_over;     /* /EOF and its like: what is behind is not read */
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes; /* (borrowed) */

    int16_t *type; /* [HX_ANSYS_NUMBERS] number of the element library, by the file's type; 0: not
                      known (owned) */
    int8_t (*option)[HX_ANSYS_OPTIONS]; /* [HX_ANSYS_NUMBERS] KEYOPT(1) to (3) of a type: the
                                           formulation and layers (owned) */
    hx_ansys_solids *solids;            /* [HX_ANSYS_NUMBERS] by the file's type (owned) */
    uint8_t *has_constants; /* [HX_ANSYS_NUMBERS] a set of real constants is not zero (owned) */
    int64_t current_type, current_real, current_material, last_elem;
    hx_numbered_materials materials;
    hx_ansys_pending pending;
    int csys; /* the active coordinate system */

    size_t n_parameter, parameter_capacity;
    hx_ansys_parameter *parameter; /* (owned) */

    hx_ansys_selection selection;
    const hx_import_set *selected;
    size_t n_chosen, chosen_capacity;
    int64_t *chosen; /* nodes that a command names (owned) */
    size_t n_entry, entry_capacity;
    hx_ansys_entry *entry;         /* (owned) */
    hx_ansys_cumulate cumulate[2]; /* DCUM, FCUM */
    hx_numbers rotated;            /* nodes with a coordinate system of their own */
    int64_t solved;                /* line of the first SOLVE or LSWRITE; 0: none */
    const char *solved_by;         /* which of the two (borrowed) */
    int some_elements;             /* a selection of elements that may not be all of them */
    int n_unknown;                 /* commands that are not known */

    int64_t inertia[HX_ANSYS_INERTIA]; /* line of each that is not zero; 0: it is zero */
    int64_t antype_line;               /* of the last ANTYPE that is not static; 0: none */
    char antype[HX_ANSYS_WORD];
    double uniform, reference; /* temperatures of BFUNIF and TREF; NaN: not stated */
    int64_t uniform_line;
    int64_t cold_line;  /* of the first BF or BFE of a temperature of 0; 0: none */
    int64_t large_line; /* of the last NLGEOM that is on; 0: it is off */
    int expands;        /* a material has a coefficient of thermal expansion */
    int64_t n_lost_component;
    char lost_component[HX_ANSYS_WORD];
} hx_ansys_reader;

#define HX_ANSYS_RAISE(r, ...) HX_IMPORT_RAISE(&(r)->import, (r)->line, __VA_ARGS__)

/* --- ansys_scan.c --- */

int hx_ansys_line(hx_ansys_reader *r, int *found);
int hx_ansys_need_line(hx_ansys_reader *r, const char *block);

/* A block ends with a line of -1, or with the next command, which is then read as one. */
int hx_ansys_is_end(hx_ansys_reader *r);

/* The format line of a block, a Fortran format: "(3i9,6e21.13e3)" or "(1i7,2i9,6e21.13)". */
int hx_ansys_layout_read(hx_ansys_reader *r, const char *block, hx_ansys_layout *l);

/* Field k of the line; blank: 0. */
int hx_ansys_int(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, int64_t *value);
int hx_ansys_real(const hx_ansys_reader *r, const hx_ansys_layout *l, int k, double *value);

/* How many of the integer fields reach up to the last one that is not blank. */
int hx_ansys_count(const hx_ansys_reader *r, const hx_ansys_layout *l);

/* Field k of the command, without the blanks around it; "" if there is none. */
const char *hx_ansys_word(const hx_ansys_reader *r, int k, char text[HX_ANSYS_WORD]);
int hx_ansys_is(const hx_ansys_reader *r, int k, const char *word);

/* Whether the command is `name`: four characters are enough, as in ANSYS; of * and shorter ones
 * all count. */
int hx_ansys_is_command(const hx_ansys_reader *r, const char *name);

/* Whether field 1 is the release or the word by which CDWRITE states the form of data: "R5.3", or
 * "UNBL" of later releases. */
int hx_ansys_is_unblocked(const hx_ansys_reader *r);

/* Field k as a number: a literal or a parameter that has one; blank: 0. Returns 1 if it is one. */
int hx_ansys_number(const hx_ansys_reader *r, int k, double *value);

/* Field k as an integer that must be one. */
int hx_ansys_integer(const hx_ansys_reader *r, int k, int64_t *value);

/* NAME=value and *SET,NAME,value. */
int hx_ansys_assign(hx_ansys_reader *r, const char *name, const char *value);

/* --- ansys_elements.c --- */

/* "SOLID185" of a number of the element library, "ET-999" of one that is not known. */
const char *hx_ansys_library_name(int type, char text[HX_ANSYS_WORD]);

int hx_ansys_eblock(hx_ansys_reader *r);
int hx_ansys_en(hx_ansys_reader *r);
int hx_ansys_e(hx_ansys_reader *r);
int hx_ansys_emore(hx_ansys_reader *r);
int hx_ansys_et(hx_ansys_reader *r);
int hx_ansys_etblock(hx_ansys_reader *r);
int hx_ansys_keyopt(hx_ansys_reader *r);

/* Names solids that ANSYS integrates or enriches otherwise, and layered ones. */
int hx_ansys_name_solids(hx_ansys_reader *r);
int hx_ansys_constants(hx_ansys_reader *r);
int hx_ansys_rlblock(hx_ansys_reader *r);

/* Adds the element of E or EN, if there is one. */
int hx_ansys_close_element(hx_ansys_reader *r);

/* --- ansys_materials.c --- */

int hx_ansys_mp(hx_ansys_reader *r);
int hx_ansys_mpdata(hx_ansys_reader *r);
int hx_ansys_tb(hx_ansys_reader *r);
int hx_ansys_mpdele(hx_ansys_reader *r);

/* --- ansys_loads.c --- */

int hx_ansys_d(hx_ansys_reader *r);
int hx_ansys_f(hx_ansys_reader *r);
int hx_ansys_dblock(hx_ansys_reader *r);
int hx_ansys_ddele(hx_ansys_reader *r);
int hx_ansys_fdele(hx_ansys_reader *r);
int hx_ansys_dcum(hx_ansys_reader *r);
int hx_ansys_fcum(hx_ansys_reader *r);
int hx_ansys_cmsel(hx_ansys_reader *r);
int hx_ansys_nsel(hx_ansys_reader *r);
int hx_ansys_allsel(hx_ansys_reader *r);
int hx_ansys_esel(hx_ansys_reader *r);
int hx_ansys_cm(hx_ansys_reader *r);

/* Once all is read: what each component of each node has at last becomes the conditions. */
int hx_ansys_finish_loads(hx_ansys_reader *r);

/* The component of that name in upper or lower case; NULL: there is none. */
const hx_import_set *hx_ansys_find_set(const hx_ansys_reader *r, const char *name);

/* --- ansys_unread.c --- */

/* Names something that is not read; what: in words, or NULL. */
int hx_ansys_unread(hx_ansys_reader *r, unsigned roles, const char *word, const char *what,
                    int64_t line);

/* A command that no reader takes: named, refused, or one that changes nothing here. */
int hx_ansys_other_command(hx_ansys_reader *r);

/* Whether the command stands in a branch or loop, where it may run never or often. */
int hx_ansys_is_nested(const hx_ansys_reader *r);

/* MP, MPDATA or TB: whether it states thermal expansion. */
void hx_ansys_look_for_expansion(hx_ansys_reader *r);

int hx_ansys_finish_unread(hx_ansys_reader *r);

/* --- ansys_known.c --- */

/* Whether the command, or line of data, changes nothing that is read. */
int hx_ansys_is_harmless(const hx_ansys_reader *r);

/* Passes over the format behind *VREAD and its like. */
int hx_ansys_skip_format(hx_ansys_reader *r);

#ifdef __cplusplus
}
#endif

#endif
