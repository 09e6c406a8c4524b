/* Names of sets as a format can hold them, each different from the others, and a note of the names
 * that change. Not installed. */
#ifndef HX_SET_NAMES_H
#define HX_SET_NAMES_H

#include "../base/notes.h"
#include "../mesh/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a format takes. */
typedef struct hx_set_name_rule {
    size_t most; /* bytes of a name in the file */
    /* Bytes that c takes in the file, 0: `instead` stands for it. */
    int (*n_byte)(unsigned char c);
    unsigned char (*instead)(unsigned char c);
    int (*is_first)(unsigned char c);     /* a name may begin with it; NULL: any. Else "S_" leads */
    int (*is_reserved)(const char *name); /* a number has to follow; NULL: none is */
    int ignores_case;                     /* "left" and "LEFT" are one name */
} hx_set_name_rule;

typedef struct hx_set_names {
    size_t n;
    char **name; /* [n] by the mesh's sets (owned, each) */
} hx_set_names;

/* Bytes that the format cannot hold are replaced, long names cut; a name that would be like one
 * before it, or is reserved, gets a number behind it: "left_2". O(n_set^2). HX_ENOMEM. */
int hx_set_names_make(const hx_mesh *mesh, const hx_set_name_rule *rule, hx_set_names *names);
/* Accepts a zeroed struct. */
void hx_set_names_free(hx_set_names *names);

/* Notes in one line which names of the mesh's sets the format changes in that file: the first few,
 * then how many, each of which is a detail. */
int hx_set_names_note(const hx_mesh *mesh, const hx_set_name_rule *rule, const char *path,
                      hx_notes *notes);

/* The rules of the formats (gmsh_write.c, abaqus_write.c, vtk_fields.c). */
extern const hx_set_name_rule hx_gmsh_name_rule, hx_abaqus_name_rule, hx_vtk_name_rule;

#ifdef __cplusplus
}
#endif

#endif
