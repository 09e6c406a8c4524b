/* The state of one pass over an Abaqus input file, shared by abaqus_read.c (keywords, nodes,
 * elements), abaqus_parts.c, abaqus_sets.c, abaqus_steps.c, abaqus_loads.c, abaqus_couplings.c and
 * abaqus_material.c. Not installed.
 *
 * Numbers and names restart in each instance and in the assembly. In here a number is that of the
 * file plus the base of where it stands, and a set of an instance is called "INSTANCE.NAME". */
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

/* Room for the numbers of one instance; the assembly's own stand above them all. */
#define HX_ABAQUS_BASE ((int64_t)1 << 40)
#define HX_ABAQUS_ASSEMBLY ((int64_t)1 << 60)
enum { HX_ABAQUS_INSTANCES = 10000 };

typedef struct hx_abaqus_part {
    char *name; /* (owned) */
    hx_abaqus_mark begin;
} hx_abaqus_part;

/* Number k has the base k * HX_ABAQUS_BASE. */
typedef struct hx_abaqus_instance {
    char *name;                    /* (owned) */
    double matrix[3][3], shift[3]; /* where it is put: matrix x + shift */
    int is_moved;
    int64_t line; /* of its *INSTANCE */
} hx_abaqus_instance;

/* What a word refers to. */
typedef struct hx_abaqus_reference {
    int is_number;
    int64_t number;     /* with its base */
    hx_import_set *set; /* NULL: none of that name above */
} hx_abaqus_reference;

/* A word to be looked up later, and where it stood. */
typedef struct hx_abaqus_word {
    char *text; /* (owned) */
    int scope;
    int64_t line;
} hx_abaqus_word;

typedef struct hx_abaqus_coupling {
    char keyword[24];
    hx_abaqus_word reference, rotation, members; /* nodes; the surface */
    hx_import_set *set;                          /* of the older forms */
    int is_rigid;
    int awaits;          /* *KINEMATIC or *DISTRIBUTING */
    unsigned components; /* named ones; 0: all */
    const char *fault;   /* constant text, or NULL */
    int64_t line;
} hx_abaqus_coupling;

/* A node or set that goes into a set. */
typedef struct hx_abaqus_member {
    hx_import_set *set;
    hx_abaqus_word word;
} hx_abaqus_member;

/* The data lines of one property: how many, the first line's numbers, and what is not read. */
typedef struct hx_abaqus_property {
    int n;
    double value[2];
    int64_t line;
    char type[48]; /* "" of isotropic ones */
} hx_abaqus_property;

typedef struct hx_abaqus_material {
    char *name; /* (owned) */
    int64_t line;
    hx_abaqus_property elastic, density, conductivity;
    hx_unread beyond; /* *PLASTIC and the like (owned) */
} hx_abaqus_material;

/* *SOLID SECTION */
typedef struct hx_abaqus_section {
    hx_import_set *set;
    char *material; /* (owned) */
    int is_composite;
    int64_t line;
} hx_abaqus_section;

/* What a step of heat states of a set. */
typedef struct hx_abaqus_heat {
    hx_file_heat_kind kind;
    hx_import_set *set;
    int is_single; /* the set is ours, of single nodes or elements */
    double value, ambient;
} hx_abaqus_heat;

/* A pressure on one side of an element, by number. */
typedef struct hx_abaqus_face_load {
    int64_t elem, line, place; /* place: among all */
    int side, step, family;    /* family: as hx_condition */
    double value;
} hx_abaqus_face_load;

/* An error in a keyword refuses the whole file, or only the loads or supports of the file. */
typedef enum { HX_ABAQUS_HARD, HX_ABAQUS_OF_LOADS, HX_ABAQUS_OF_SUPPORTS } hx_abaqus_soft;

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
    uint64_t entry_has_base; /* bits of the numbers that named their instance */
    int64_t entry_line;
    int continues; /* the last line of an unknown type ended with a comma */

    /* Cells that are no solids but bound them: number, and where their nodes are; of surfaces the
     * corners, four, a triangle's last twice. */
    hx_numbers cell_number, cell_begin, cell_node;
    hx_numbers cell_type, cell_line; /* of each: place in import.other, line */
    size_t other_type;               /* of the current keyword: place in import.other, plus 1 */

    /* Places of the numbers so far; made anew when there are more (elements of *NSET, ELSET). */
    hx_number_index elem_place, cell_place, node_place;
    int64_t elem_listed, cell_listed, node_listed;

    size_t n_part, n_instance;
    hx_abaqus_part *part;           /* (owned) */
    hx_abaqus_instance *instance;   /* (owned) */
    int in_assembly, in_part;       /* in_part: its lines are read, for an instance */
    int scope;                      /* the instance that lines belong to, -1: none */
    int member_scope;               /* the same of the members of a set */
    int has_own_node, has_own_elem; /* the assembly has */
    const hx_abaqus_part *placing;  /* what *INSTANCE names, not yet put in place */
    int n_place_line;               /* its data lines so far */
    int64_t stride;                 /* between the short numbers of instances */

    size_t n_coupling, coupling_capacity, n_member, member_capacity;
    hx_abaqus_coupling *coupling; /* (owned) */
    hx_abaqus_member *member;     /* (owned) */

    size_t n_material, n_section, section_capacity;
    hx_abaqus_material *material; /* (owned) */
    hx_abaqus_section *section;   /* (owned) */
    hx_abaqus_property *property; /* of the current keyword */

    /* What is not read: sections of cells that are no solids, and formulations of solids. */
    size_t n_carrier, carrier_capacity;
    hx_abaqus_word *carrier; /* (owned) */
    hx_unread formulation;   /* of each type with letters behind its name: the plain one (owned) */

    int n_heat_step;
    size_t n_heat, heat_capacity;
    hx_abaqus_heat *heat; /* (owned) */
    char *heat_fault;     /* (owned) */

    size_t n_face_load, face_load_capacity;
    hx_abaqus_face_load *face_load; /* (owned) */

    int in_step, step_is_other, has_support, n_skipped, n_soft;
    hx_numbers other_step; /* that are no static ones */
    hx_abaqus_soft soft;   /* of the current keyword */
    char first_skipped[32];
};

/* Node sets, element sets and surfaces have names of their own. The set of the whole name whatever
 * its case: that of the kind (HX_N_SET_KIND: of any), or if there is none the first of another;
 * NULL: no set has it. */
hx_import_set *hx_abaqus_find_set(const hx_abaqus_reader *r, hx_set_kind kind, const char *name);

/* The set of that name and kind where lines belong now, made if there is none; *set stays valid. */
int hx_abaqus_open_set(hx_abaqus_reader *r, hx_set_kind kind, const char *name,
                       hx_import_set **set);

/* What "NAME", "17", "PART-1-1.NAME" or "PART-1-1.17" means among the members of a set, or where
 * lines belong now; a set of the kind if there is one. Takes quotes out of the word. HX_EINPUT: a
 * number of no instance. */
int hx_abaqus_refer(const hx_abaqus_reader *r, hx_set_kind kind, char *word,
                    hx_abaqus_reference *to);

/* The same, with HX_EINPUT where there is no such set. */
int hx_abaqus_need(const hx_abaqus_reader *r, hx_set_kind kind, char *word,
                   hx_abaqus_reference *to);

/* The number of a node or element that is defined here, with its base. */
int hx_abaqus_own_number(hx_abaqus_reader *r, int is_elem, int64_t *number);

/* Coordinates of the current instance's part become those of the assembly. */
void hx_abaqus_place_node(const hx_abaqus_reader *r, double x[3]);

/* Parts and instances (abaqus_parts.c); before_keyword puts a part in place once all is known. */
int hx_abaqus_begin_part(hx_abaqus_reader *r);
int hx_abaqus_begin_assembly(hx_abaqus_reader *r);
int hx_abaqus_end_assembly(hx_abaqus_reader *r);
int hx_abaqus_begin_instance(hx_abaqus_reader *r);
int hx_abaqus_end_instance(hx_abaqus_reader *r);
int hx_abaqus_before_keyword(hx_abaqus_reader *r);
int hx_abaqus_finish_parts(hx_abaqus_reader *r);

/* Sets of the only instance lose its name; numbers become short, and a note says how. */
int hx_abaqus_name_sets(hx_abaqus_reader *r);
int hx_abaqus_name_numbers(hx_abaqus_reader *r);
void hx_abaqus_free_parts(hx_abaqus_reader *r);

/* Reads one line, the keyword or data that scan found; HX_ABAQUS_END: there are no more. */
int hx_abaqus_take_line(hx_abaqus_reader *r, hx_abaqus_line kind);

/* HX_EINPUT: the data lines of the keyword are in another file. */
int hx_abaqus_refuse_input(hx_abaqus_reader *r);

/* Begins of keywords: read the parameters and set r->data. */
int hx_abaqus_begin_nset(hx_abaqus_reader *r);
int hx_abaqus_begin_elset(hx_abaqus_reader *r);
int hx_abaqus_begin_surface(hx_abaqus_reader *r);
int hx_abaqus_begin_step(hx_abaqus_reader *r);
int hx_abaqus_begin_end_step(hx_abaqus_reader *r);
int hx_abaqus_begin_boundary(hx_abaqus_reader *r);
int hx_abaqus_begin_cload(hx_abaqus_reader *r);

int hx_abaqus_begin_dload(hx_abaqus_reader *r);
int hx_abaqus_begin_dsload(hx_abaqus_reader *r);
int hx_abaqus_begin_coupling(hx_abaqus_reader *r);
int hx_abaqus_begin_kinematic(hx_abaqus_reader *r);
int hx_abaqus_begin_distributing(hx_abaqus_reader *r);
int hx_abaqus_begin_kinematic_coupling(hx_abaqus_reader *r);
int hx_abaqus_begin_rigid_body(hx_abaqus_reader *r);

/* Adds to what is not read (abaqus_unread.c), at the current line. */
int hx_abaqus_unread(hx_abaqus_reader *r, unsigned roles, const char *word, const char *what);

/* A keyword that is not read: *is_harmless = 1: output and the like, which does not act on the
 * part; else it is named, and with a sink asks for the whole mesh. */
int hx_abaqus_begin_unread(hx_abaqus_reader *r, int *is_harmless);

/* Names what goes beyond *ELASTIC in the materials that solids have. */
int hx_abaqus_name_materials(hx_abaqus_reader *r);

/* Keeps the set of a section; once the file is read, lists the cells that have one and are no
 * solids. */
int hx_abaqus_keep_carrier(hx_abaqus_reader *r);
int hx_abaqus_list_carriers(hx_abaqus_reader *r);
void hx_abaqus_free_carriers(hx_abaqus_reader *r);

/* What a job of heat states (abaqus_heat.c), besides that it is named as not read: takes the data of
 * *CFLUX, *DFLUX, *DSFLUX, *FILM and *SFILM, counts *HEAT TRANSFER; a temperature of *BOUNDARY; at
 * last hands it over. */
int hx_abaqus_begin_heat(hx_abaqus_reader *r);
int hx_abaqus_hold_temperature(hx_abaqus_reader *r, char *target, double value);
int hx_abaqus_give_heat(hx_abaqus_reader *r, hx_conditions *to);
void hx_abaqus_free_heat(hx_abaqus_reader *r);

/* Counts a solid whose type has letters behind its name; notes them, each once. */
int hx_abaqus_count_formulation(hx_abaqus_reader *r);
int hx_abaqus_note_formulations(hx_abaqus_reader *r);

/* A pressure on one face, in the current step; on the faces that a set names more than once, as
 * often as it does besides the first. Once the file is read, faces of one history become a set. */
int hx_abaqus_load_face(hx_abaqus_reader *r, int64_t elem, int side, int family, double value);
int hx_abaqus_load_repeated(hx_abaqus_reader *r, const hx_import_set *set, int side, int family,
                            double value);
int hx_abaqus_group_faces(hx_abaqus_reader *r);

/* Steps that are no static ones are no load cases: their loads are left out. */
int hx_abaqus_settle_steps(hx_abaqus_reader *r);

/* A word to be looked up later. */
int hx_abaqus_keep_word(const hx_abaqus_reader *r, const char *word, hx_abaqus_word *to);

/* Makes the places of elements and cells those of the numbers so far. */
int hx_abaqus_update_places(hx_abaqus_reader *r);

/* Notes, with file and line, that the loads cannot be used. */
int hx_abaqus_load_fault(hx_abaqus_reader *r, const char *fmt, ...) HX_PRINTF(2, 3);

/* HX_EINPUT: a load outside of a step; a fault by parameters that are not read. */
int hx_abaqus_check_load(hx_abaqus_reader *r);

/* Marks a set of which a support or load has taken the members. */
void hx_abaqus_mark_taken(const hx_abaqus_reader *r, hx_import_set *set, int is_support);

/* Adds nodes of the elements of a set, the faces of a side of elements to r->set, or a list to one
 * of a set's; it must not be longer than the file has n_all for long. */
int hx_abaqus_add_nodes_of(hx_abaqus_reader *r, const char *elset);
int hx_abaqus_append_side(hx_abaqus_reader *r, const hx_abaqus_reference *elem, int side);
int hx_abaqus_append_list(hx_import_set *set, hx_numbers *to, const hx_numbers *from,
                          int64_t n_all);

/* Couplings, once the file is read and before the mesh is made. */
int hx_abaqus_resolve_couplings(hx_abaqus_reader *r);
void hx_abaqus_free_couplings(hx_abaqus_reader *r);

/* Materials; of the raw mesh the one that all elements have. */
int hx_abaqus_begin_material(hx_abaqus_reader *r);
int hx_abaqus_begin_elastic(hx_abaqus_reader *r);
int hx_abaqus_begin_density(hx_abaqus_reader *r);
int hx_abaqus_begin_conductivity(hx_abaqus_reader *r);
int hx_abaqus_begin_section(hx_abaqus_reader *r);
int hx_abaqus_find_material(hx_abaqus_reader *r, const hx_mesh *mesh, hx_file_material *to);
void hx_abaqus_free_materials(hx_abaqus_reader *r);

/* Once the file is read: element sets that hold cells other than solids get their faces and nodes;
 * sides of elements, S1 to S6, become local faces by the kind of each.
 */
int hx_abaqus_resolve_cells(hx_abaqus_reader *r);

#ifdef __cplusplus
}
#endif

#endif
