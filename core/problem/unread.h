/* What a mesh file states and its reader does not read: shells, point masses, constraints, loads of
 * other kinds, steps that are no static load case. One rule holds for every format:
 *
 * - A reader adds each kind to hx_import.unread by hx_import_unread (files/mesh_import.h), with the
 *   word that the file has for it, a few words for people, its roles, its count and its line.
 *   hx_import_conditions_finish, or hx_import_give_unread in a reader without conditions, moves the
 *   list to hx_conditions.unread.
 * - Cells that only mark faces have no section, property, thickness or real constant. They carry
 *   nothing and are not listed.
 * - Every command that reads the file prints the list as one warning (app/session/file_unread.c).
 * - from = "file" is refused as hx_unread_refuses states: supports by what carries or supports;
 *   loads by what carries or loads, by masses if a load by mass acts, and by steps if the file has
 *   no static one; a material by what carries or is a material. Loads that are not read never
 * refuse supports.
 * - mesh.ignore lists words that are left out on purpose. They are still printed, and no longer
 *   refuse anything. */
#ifndef HX_UNREAD_H
#define HX_UNREAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HX_UNREAD_CARRIES = 1, /* stiffness, or a constraint between nodes, that the part would feel */
    HX_UNREAD_MASS = 2,
    HX_UNREAD_LOAD = 4,
    HX_UNREAD_SUPPORT = 8,
    HX_UNREAD_MATERIAL = 16,
    HX_UNREAD_STEP = 32 /* a step that is no static load case: left out, and no case */
};

typedef struct hx_unread_kind {
    char *word;     /* as the file has it: "S4", "*TIE", "SHELL181" (owned) */
    char *what;     /* in words: "shells with *SHELL SECTION"; "": the word suffices (owned) */
    unsigned roles; /* HX_UNREAD_..., 0: named only */
    int64_t n;
    char *path;     /* of the file with the first (owned) */
    int64_t line;   /* of the first, 0: not known */
    int is_ignored; /* mesh.ignore has it */
} hx_unread_kind;

typedef struct hx_unread {
    size_t n;
    hx_unread_kind *kind; /* [n] in the order in which they were met (owned) */
    unsigned refused; /* bit 1 << hx_unread_use: from = "file" of it is refused by these kinds */
} hx_unread;

/* Adds n of a kind; the same word adds to its count and roles. what may be NULL. HX_ENOMEM. */
int hx_unread_add(hx_unread *list, unsigned roles, const char *word, const char *what, int64_t n,
                  const char *path, int64_t line);

/* Marks the kind of that word (case and blanks do not count) as left out on purpose; 0: none. */
int hx_unread_ignore(hx_unread *list, const char *word);

/* Bits of those that are not ignored. */
unsigned hx_unread_roles(const hx_unread *list);

/* "job.inp:29: LEAD4 S4 (shells), 1 MASS (point masses, line 33)" into text: kinds with one of the
 * roles (0: all) that are ignored or not; as many as fit, the others counted. Returns their number.
 */
size_t hx_unread_text(const hx_unread *list, unsigned roles, int is_ignored, const char *lead,
                      char *text, size_t n_text);

/* "("S4", "MASS")" of the same kinds, not ignored; all of them, cut where text ends. */
void hx_unread_words(const hx_unread *list, unsigned roles, char *text, size_t n_text);

/* Roles by which from = "file" is refused; has_mass_load: a load by mass acts; n_case: static steps
 * of the file. 0: none. */
typedef enum { HX_UNREAD_OF_SUPPORTS, HX_UNREAD_OF_LOADS, HX_UNREAD_OF_MATERIAL } hx_unread_use;
unsigned hx_unread_refuses(const hx_unread *list, hx_unread_use use, int has_mass_load, int n_case);

/* Kinds by which anything is refused and that mesh.ignore can leave out, as `roles` of the two
 * functions above: without a static step there are no loads to take. */
unsigned hx_unread_all_refuse(const hx_unread *list, int has_mass_load, int n_case);

/* Accepts a zeroed struct. */
void hx_unread_free(hx_unread *list);

#ifdef __cplusplus
}
#endif

#endif
