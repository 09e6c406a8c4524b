/* The state of one pass over an Abaqus input file, shared by abaqus_read.c (keywords, nodes,
 * elements), abaqus_sets.c and abaqus_steps.c. Not installed. */
#ifndef HX_ABAQUS_READER_H
#define HX_ABAQUS_READER_H

#include "abaqus_scan.h"
#include "mesh_conditions.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_ABAQUS_CELL_NODES = 32 };

/* A type of element: the first of the table whose name begins the file's. */
typedef struct hx_abaqus_type {
    const char *name;
    int n_node, is_solid;
    hx_shape shape;    /* of what is no solid of solid.h */
    hx_solid_id solid; /* of what is one */
} hx_abaqus_type;

typedef struct hx_abaqus_reader hx_abaqus_reader;

struct hx_abaqus_reader {
    hx_abaqus_scan scan;
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes; /* (borrowed) */

    /* Of the current keyword: what takes its data lines (NULL: passed over) and their settings. */
    int (*data)(hx_abaqus_reader *r, char *line);
    hx_import_set *set; /* to add to, or NULL */
    int is_generated;   /* GENERATE */
    hx_condition condition;
    int step_is_new; /* no *CLOAD yet in this step */

    /* The current type of element, and its numbers so far. */
    const hx_abaqus_type *type;
    char type_name[32];
    int64_t entry[1 + HX_ABAQUS_CELL_NODES];
    int n_entry;
    int64_t entry_line;
    int continues; /* the last line of an unknown type ended with a comma */

    /* Cells that are no solids but bound them: number, and where their nodes are; of surfaces the
     * corners, four, a triangle's last twice. */
    hx_numbers cell_number, cell_begin, cell_node;

    /* Places of the numbers so far; made anew when there are more (elements of *NSET, ELSET). */
    hx_number_index elem_place, cell_place;
    int64_t elem_listed, cell_listed;

    char *instance; /* name of the one *INSTANCE (owned), or NULL */
    int n_part, n_instance, in_step, has_support, n_unread, n_skipped;
    char first_skipped[32];
};

/* The set of that name whatever its case, or NULL. */
hx_import_set *hx_abaqus_find_set(const hx_abaqus_reader *r, const char *name);

/* The set of that name, made if there is none; *set stays valid. */
int hx_abaqus_open_set(hx_abaqus_reader *r, const char *name, hx_import_set **set);

/* Takes the name of the instance off "PART-1-1.NAME". */
const char *hx_abaqus_local_name(const hx_abaqus_reader *r, const char *name);

/* Begins of keywords: read the parameters and set r->data. */
int hx_abaqus_begin_nset(hx_abaqus_reader *r);
int hx_abaqus_begin_elset(hx_abaqus_reader *r);
int hx_abaqus_begin_surface(hx_abaqus_reader *r);
int hx_abaqus_begin_step(hx_abaqus_reader *r);
int hx_abaqus_begin_end_step(hx_abaqus_reader *r);
int hx_abaqus_begin_boundary(hx_abaqus_reader *r);
int hx_abaqus_begin_cload(hx_abaqus_reader *r);

/* Once the file is read: element sets that hold cells other than solids get their faces and nodes;
 * sides of elements, S1 to S6, become local faces by the kind of each.
 */
int hx_abaqus_resolve_cells(hx_abaqus_reader *r);

#ifdef __cplusplus
}
#endif

#endif
