/* Rules of combined sets as text in a mesh file; hx_mesh_finish applies them.
 *
 * A file lists the nodes, elements and faces of a combined set like those of any other set. In
 * addition it has one line per part, which other programs ignore:
 *
 *     hextop: set "both", or "front"
 *     hextop: set "both", or "back"
 *
 * In a quoted name, a backslash precedes each quote and each backslash. Not installed. */
#ifndef HX_SET_RULES_H
#define HX_SET_RULES_H

#include "mesh.h"

/* Adds a part to the rule of the set `name`; is_listed as in hx_set_rules. HX_ENOMEM. */
int hx_set_rules_add(hx_set_rules *rules, const char *name, hx_set_rule rule, const char *part,
                     int is_listed);
/* Removes the first n characters of `name` wherever a rule mentions that name. */
void hx_set_rules_shorten(hx_set_rules *rules, const char *name, size_t n);

/* Accepts a zeroed struct. */
void hx_set_rules_free(hx_set_rules *rules);

/* *is_rule := 1 if the text is such a line, whose rule is then added. */
int hx_set_rules_read(hx_set_rules *rules, const char *text, int *is_rule);

/* *text := the lines of all combined sets whose parts are sets of the mesh. name[n_set] are the
 * names of the sets in the file; `before` precedes every line. The caller frees *text; NULL: there
 * are no lines. */
int hx_set_rules_text(const hx_mesh *mesh, char *const *name, const char *before, char **text);

/* Applies mesh->rules once the sets are complete: turns the named sets into combined sets, parts
 * before the sets made of them. If a union in the file's own format shares its name with sets of
 * other kinds, it is the node set, and its parts are the surfaces (hx_mesh_name_for). A rule is not
 * applied, and stays in the list, if a part is missing, if the file lists other nodes or faces than
 * the rule gives, or if it is a union of node sets in the file's own format. */
int hx_mesh_apply_set_rules(hx_mesh *mesh);

#endif
