/* What a mesh file states and hextop does not read: named in every command, and a reason to refuse
 * from = "file" (core/problem/unread.h has the rule). */
#ifndef HX_FILE_UNREAD_H
#define HX_FILE_UNREAD_H

#include "../config/config.h"
#include "core/problem/conditions.h"

/* Marks the words of mesh.ignore, warns of what is not read, and refuses the file's supports, loads
 * and material by it (conditions->support_fault and so on). HX_EINPUT, with the key's place: a word
 * of mesh.ignore that the list does not have. */
int hx_settle_unread(const hx_config *cfg, hx_conditions *conditions);

/* 1: a load by mass of the config, or one of the file. */
int hx_has_mass_load(const hx_config *cfg, const hx_conditions *conditions);

/* The warning on its own, for commands without a config. */
void hx_warn_of_unread(const hx_unread *list);

#endif
