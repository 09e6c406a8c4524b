/* Items of a mesh file that its reader does not support: shells, point masses, constraints, loads
 * of other kinds, steps that are not static load cases. The rules are common to all formats:
 *
 * - A reader adds each kind to hx_import.unread with hx_import_unread (files/mesh_import.h): the
 *   file's word for it, a description, its roles, its count and its line.
 *   hx_import_conditions_finish, or hx_import_give_unread in a reader without conditions, moves the
 *   list to hx_conditions.unread.
 * - Cells that only mark faces have no section, property, thickness or real constant. They have no
 *   stiffness and are not listed.
 * - Every command that reads the file prints the list as one warning (app/session/file_unread.c);
 *   with physics = "heat", without the kinds that are read for heat.
 * - from = "file" is refused according to hx_unread_refuses: supports because of kinds that carry
 *   or support; loads because of kinds that carry or load, of masses if a load by mass acts, and of
 *   steps if the file has no static one; a material because of kinds that carry or are a material.
 *   Loads that are not read never cause supports to be refused.
 * - mesh.ignore lists words of items that are left out on purpose. They are still printed, but
 *   cause no error. */
#ifndef HX_UNREAD_H
#define HX_UNREAD_H

#include <stddef.h>
#include <stdint.h>

#include "../base/c_linkage.h"

HX_C_BEGIN

enum {
    /* stiffness, or a constraint between nodes, that would affect the part */
    HX_UNREAD_CARRIES = 1,
    HX_UNREAD_MASS = 2,
    HX_UNREAD_LOAD = 4,
    HX_UNREAD_SUPPORT = 8,
    HX_UNREAD_MATERIAL = 16,
    HX_UNREAD_STEP = 32, /* a step that is not a static load case: it is left out and is no case */
    /* not read for elasticity, but read for heat (hx_conditions.heat): not listed for heat */
    HX_UNREAD_HEAT = 64
};

typedef struct hx_unread_kind {
    char *word;     /* the file's word: "S4", "*TIE", "SHELL181" (owned) */
    char *what;     /* description: "shells with *SHELL SECTION"; "": the word suffices (owned) */
    unsigned roles; /* HX_UNREAD_..., 0: only listed */
    int64_t n;
    char *path;     /* file with the first item (owned) */
    int64_t line;   /* line of the first item, 0: unknown */
    int is_ignored; /* 1: listed in mesh.ignore */
} hx_unread_kind;

typedef struct hx_unread {
    size_t n;
    hx_unread_kind *kind; /* [n] in the order of first occurrence (owned) */
    /* bit 1 << hx_unread_use: these kinds cause from = "file" to be refused for that use */
    unsigned refused;
    int is_heat; /* 1: physics = "heat": kinds with HX_UNREAD_HEAT count as read */
} hx_unread;

/* Adds n items of a kind; the same word adds to its count and roles. `what` may be NULL.
 * HX_ENOMEM. */
int hx_unread_add(hx_unread *list, unsigned roles, const char *word, const char *what, int64_t n,
                  const char *path, int64_t line);

/* Marks the kind with that word (ignoring case and blanks) as left out on purpose. Returns 0 if
 * there is none. */
int hx_unread_ignore(hx_unread *list, const char *word);

/* Union of the roles of all kinds that are not ignored. */
unsigned hx_unread_roles(const hx_unread *list);

/* Writes "job.inp:29: LEAD4 S4 (shells), 1 MASS (point masses, line 33)" to text: kinds with one of
 * the roles (0: all) that are, or are not, ignored; as many as fit, the rest as a count. Returns
 * their number. */
size_t hx_unread_text(const hx_unread *list, unsigned roles, int is_ignored, const char *lead,
                      char *text, size_t n_text);

/* Writes "("S4", "MASS")" for the same kinds that are not ignored; truncated at the end of text. */
void hx_unread_words(const hx_unread *list, unsigned roles, char *text, size_t n_text);

/* Roles that cause from = "file" to be refused; 0: none. has_mass_load: a load by mass acts;
 * n_case: number of static steps in the file. */
typedef enum { HX_UNREAD_OF_SUPPORTS, HX_UNREAD_OF_LOADS, HX_UNREAD_OF_MATERIAL } hx_unread_use;
unsigned hx_unread_refuses(const hx_unread *list, hx_unread_use use, int has_mass_load, int n_case);

/* Roles, for the two functions above, that refuse anything and that mesh.ignore can leave out;
 * without a static step there are no loads to use. */
unsigned hx_unread_all_refuse(const hx_unread *list, int has_mass_load, int n_case);

/* Accepts a zeroed struct. */
void hx_unread_free(hx_unread *list);

HX_C_END

#endif
