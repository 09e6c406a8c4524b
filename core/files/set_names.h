/* Unique names of sets within the limits of a format, and a note of the names that change. Not
 * installed. */
#ifndef HX_SET_NAMES_H
#define HX_SET_NAMES_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

/* The rules for names in a format. */
typedef struct hx_set_name_rule {
    size_t most; /* largest number of bytes of a name in the file */
    /* Number of bytes that c takes in the file; 0: c is replaced by `instead`. */
    int (*n_byte)(unsigned char c);
    unsigned char (*instead)(unsigned char c);
    /* 1 if c may be the first character of a name; otherwise "S_" is put before the name. NULL: any
     * character may */
    int (*is_first)(unsigned char c);
    /* 1 for a reserved name, to which a number is appended; NULL: no name is reserved */
    int (*is_reserved)(const char *name);
    int ignores_case; /* "left" and "LEFT" are the same name */
} hx_set_name_rule;

typedef struct hx_set_names {
    size_t n;
    char **name; /* [n] per set of the mesh (owned, each) */
} hx_set_names;

/* Replaces bytes that the format cannot hold and cuts long names; a name that equals an earlier
 * one, or is reserved, gets a number: "left_2". O(n_set^2). HX_ENOMEM. */
int hx_set_names_make(const hx_mesh *mesh, const hx_set_name_rule *rule, hx_set_names *names);
/* Accepts a zeroed struct. */
void hx_set_names_free(hx_set_names *names);

/* Notes in one line which names of sets change in that file: the first few names, and the total
 * number. In addition, each name is a note of level detail. */
int hx_set_names_note(const hx_mesh *mesh, const hx_set_name_rule *rule, const char *path,
                      hx_notes *notes);

/* The rules of the formats (gmsh_write.c, abaqus_write.c, vtk_fields.c). */
extern const hx_set_name_rule hx_gmsh_name_rule, hx_abaqus_name_rule, hx_vtk_name_rule;

#endif
