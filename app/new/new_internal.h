/* Inside of new.h: the writer of a config, and the parts of the text. */
#ifndef HX_NEW_INTERNAL_H
#define HX_NEW_INTERNAL_H

#include "../config/config_schema.h"
#include "new.h"

enum { HX_NEW_MOST_KEY = 64 };

typedef struct hx_new_writer {
    const hx_new_part *part;
    FILE *out;
    size_t n_key;
    /* keys that are written, or would be if an argument gave them */
    const char *key[HX_NEW_MOST_KEY];
} hx_new_writer;

/* Writes the entry of a set. */
typedef void (*hx_new_entry_call)(hx_new_writer *w, const char *name, const hx_new_set *set);

/* --- keys (new_keys.c) --- */

/* Writes a name for libconfig text in quotes, on one line even in a comment. */
void hx_new_put_quoted_text(FILE *out, const char *text);

/* The value that a KEY=VALUE argument gives to the key; NULL: none. */
const char *hx_new_overridden(const hx_new_part *part, const char *key);

/* Takes the key of an argument, unless it does not apply to the part or its physics. */
const hx_key *hx_new_take_key(hx_new_writer *w, const char *path);

/* Writes "name = value;" for a key, with the value of an argument if there is one; nothing if that
 * value is empty. Returns 1 if the given value was written, so that a comment on it is true. */
int hx_new_put_key(hx_new_writer *w, const char *path, const char *value);

/* Writes a number with a fraction, since libconfig's arrays cannot mix numbers with and without a
 * fraction. */
const char *hx_new_fraction(double value, int digits, char text[40]);

/* Writes a number for a key, like hx_new_put_key. */
int hx_new_put_key_number(hx_new_writer *w, const char *path, double value, int digits);

/* Fewest significant digits that read back to the same number: 0.342, not 0.34200000000000003. */
int hx_new_digits_of(double value);

/* Writes a key that the text normally leaves out, if an argument gives it. */
void hx_new_put_given(hx_new_writer *w, const char *path);

/* Writes a list that an argument gives, on a line of its own; returns 0 if no argument gives it. */
int hx_new_put_given_list(hx_new_writer *w, const char *path);

/* Kinds of unread items because of which from = "file" is refused until the user leaves them out on
 * purpose; 0: none. For heat, loads that are not read are in heat_fault. */
unsigned hx_new_find_unread(const hx_new_part *part);

/* The text of a message without the folder of the mesh's file at its beginning. */
const char *hx_new_below_folder(const hx_new_writer *w, const char *text);

/* --- units and material (new_material.c) --- */

/* Writes `units`: those that the file states; otherwise mm, if its lengths are known to be in
 * mm. */
void hx_new_put_units(hx_new_writer *w);

/* Steel, in the units of the config. */
void hx_new_put_material(hx_new_writer *w);

/* 1 if that material has a density. */
int hx_new_has_density(const hx_new_part *part);

/* --- sets (new_sets.c) --- */

/* Lists the sets of the part, as comments. */
void hx_new_put_sets(hx_new_writer *w);

/* Writes sets defined by geometry: the sides of the box, if the part lacks sets. */
void hx_new_put_own_sets(hx_new_writer *w);

/* Writes an entry for each set that supports or loads can name. */
void hx_new_put_entries(hx_new_writer *w, hx_new_entry_call put);

/* Writes examples with names of the part, as comments. */
void hx_new_put_passive(hx_new_writer *w);

/* *name: the first set of faces with a node that the supports of the file leave free in a
 * direction; the second set of faces, or side of the box, if the file has no supports, because the
 * first one may be held; else what stands for a set in comments. */
int hx_new_find_free_set(const hx_new_part *part, const char **name);

/* --- supports, loads and limits (new_loads.c) --- */

/* Writes supports and loads: those of the file or the generator, and examples as comments. */
void hx_new_put_supports(hx_new_writer *w);
void hx_new_put_loads(hx_new_writer *w);

/* Writes what states the lightest part within limits, as comments. */
int hx_new_put_limits(hx_new_writer *w);

/* Writes the temperatures, heat loads and convection of a heat-transfer job as entries of the
 * config. */
void hx_new_put_heat(hx_new_writer *w);

#endif
