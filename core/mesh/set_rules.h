/* How sets are made of others, as files state it: rules by names, which hx_mesh_finish applies.
 *
 * A file holds a combined set as nodes, elements and faces, like any other, and beside them lines
 * that other programs pass over, one for each part:
 *
 *     hextop: set "both", or "front"
 *     hextop: set "both", or "back"
 *
 * A name in quotes has a backslash before a quote or a backslash of its own. Not installed. */
#ifndef HX_SET_RULES_H
#define HX_SET_RULES_H

#include "mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The set has one more part; is_listed as in hx_set_rules. HX_ENOMEM. */
int hx_set_rules_add(hx_set_rules *rules, const char *name, hx_set_rule rule, const char *part,
                     int is_listed);
/* Takes the first n characters off each name in the rules that equals `name`. */
void hx_set_rules_shorten(hx_set_rules *rules, const char *name, size_t n);

/* Accepts a zeroed struct. */
void hx_set_rules_free(hx_set_rules *rules);

/* *is_rule: the text is such a line, and was taken. */
int hx_set_rules_read(hx_set_rules *rules, const char *text, int *is_rule);

/* The lines of all combined sets whose parts are sets of the mesh, under the names that the file
 * gives the sets, name[n_set]; each with `before` in front of it and a line break at its end. *text
 * is the caller's to free; NULL: there are none. */
int hx_set_rules_text(const hx_mesh *mesh, char *const *name, const char *before, char **text);

/* Makes the sets of mesh->rules combined ones, parts before what is made of them, once the sets are
 * complete. If a name is shared by sets of several kinds, a union that the file makes itself is the
 * set of nodes, and its parts are the surfaces (hx_mesh_name_for). A rule stays in the list if it
 * is not applied: a part is missing, or the set as the file lists it has other nodes or faces than
 * the rule gives, or the file unites sets of nodes itself. */
int hx_mesh_apply_set_rules(hx_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
