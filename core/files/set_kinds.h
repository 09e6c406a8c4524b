/* Sets of several kinds to which a file gives the same name stay separate, by one rule. The kind of
 * the highest dimension that has members keeps the name; to the others, their kind's word is
 * prefixed ("nodes-fix", "surface-fix"). The mesh records which set the name means for which use
 * (hx_mesh_name_for). Not installed. */
#ifndef HX_SET_KINDS_H
#define HX_SET_KINDS_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

/* A set as the file defines it. No two sets have the same name and kind. */
typedef struct hx_kind_set {
    char **name; /* allocated by malloc; replaced if another set keeps this name */
    hx_set_kind kind;
    int is_empty;
} hx_kind_set;

/* For each kind, the word that is put before a set's name to distinguish equal names. A parameter
 * that is NULL means "nodes", "curve", "surface", "elements". */
typedef const char *const hx_kind_words[HX_N_SET_KIND];

/* Gives sets of different kinds that share a name different names, with a note for each name;
 * reorders list[n]. The shared names are recorded in `mesh`; NULL: they are not recorded. O(n log
 * n). */
int hx_kinds_name_apart(size_t n, hx_kind_set *list, const hx_kind_words *words, const char *path,
                        hx_notes *notes, hx_mesh *mesh);

#endif
