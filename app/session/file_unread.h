/* Items of a mesh file that hextop does not read: every command names them, and from = "file" is
 * refused because of them (core/problem/unread.h has the rule). */
#ifndef HX_FILE_UNREAD_H
#define HX_FILE_UNREAD_H

#include "../config/config.h"
#include "core/problem/conditions.h"

/* Marks the words of mesh.ignore, warns of items that are not read, and marks the file's supports,
 * loads and material as unusable because of them (conditions->support_fault and so on). is_heat: 1:
 * kinds that are read for heat count as read. HX_EINPUT, with the key's place: a word of
 * mesh.ignore is not in the list. */
int hx_handle_unread(const hx_config *cfg, int is_heat, hx_conditions *conditions);

/* 1: the config or the file has a load by mass. */
int hx_has_mass_load(const hx_config *cfg, const hx_conditions *conditions);

/* Warns if the config has other units than the file states. */
int hx_warn_of_units(const hx_config *cfg, const hx_file_units *stated);

/* Only prints the warning, for commands without a config. */
void hx_warn_of_unread(const hx_unread *list);

#endif
