/* State of one pass over an Abaqus input file, shared by abaqus_read.c (keywords, parts in their
 * instances) and, below it, abaqus_parts.c, abaqus_elements.c (nodes and elements), abaqus_sets.c,
 * abaqus_steps.c, abaqus_loads.c, abaqus_faces.c, abaqus_heat.c, abaqus_heat_steps.c,
 * abaqus_couplings.c, abaqus_material.c and abaqus_unread.c. The lowest level has abaqus_names.c
 * (what a word refers to), abaqus_places.c (elements by number) and abaqus_faults.c. Not installed.
 *
 * Numbers and names restart in each instance and in the assembly. In this state, a number is the
 * file's number plus the base of its instance or assembly, and a set of an instance is called
 * "INSTANCE.NAME". */
#ifndef HX_ABAQUS_READER_H
#define HX_ABAQUS_READER_H

#include "abaqus_scan.h"
#include "mesh_conditions.h"

enum { HX_ABAQUS_CELL_NODES = 32 };

/* A type of element: the first row of the table whose name is a prefix of the file's name. */
typedef struct hx_abaqus_type {
    const char *names; /* beginnings of the names, "A, B"; one for a solid */
    int n_node, is_solid;
    hx_shape shape;    /* for cells that are not solids */
    hx_solid_id solid; /* for solids */
} hx_abaqus_type;

typedef struct hx_abaqus_reader hx_abaqus_reader;

/* Room for the numbers of one instance; the assembly's own numbers lie above all of them. */
#define HX_ABAQUS_BASE ((int64_t)1 << 40)
#define HX_ABAQUS_ASSEMBLY ((int64_t)1 << 60)
enum { HX_ABAQUS_INSTANCES = 10000 };

typedef struct hx_abaqus_part {
    char *name; /* (owned) */
    hx_abaqus_mark begin;
} hx_abaqus_part;

/* Instance k has the base k * HX_ABAQUS_BASE. */
typedef struct hx_abaqus_instance {
    char *name;                    /* (owned) */
    double matrix[3][3], shift[3]; /* its placement: matrix x + shift */
    int is_moved;
    int64_t line; /* line of its *INSTANCE */
} hx_abaqus_instance;

/* The object that a word refers to. */
typedef struct hx_abaqus_reference {
    int is_number;
    int64_t number;     /* with its base */
    hx_import_set *set; /* NULL: no set of that name so far */
} hx_abaqus_reference;

/* A word that is looked up later, with the instance and line in which it stands. */
typedef struct hx_abaqus_word {
    char *text; /* (owned) */
    int scope;
    int64_t line;
} hx_abaqus_word;

typedef struct hx_abaqus_coupling {
    char keyword[48];
    hx_abaqus_word reference, rotation, members; /* nodes; the surface */
    hx_import_set *set;                          /* set of an older form of coupling */
    int is_rigid, is_body;
    int awaits;          /* waits for *KINEMATIC or *DISTRIBUTING */
    unsigned components; /* components that the file gives; 0: all */
    const char *fault;   /* why the coupling cannot be used (constant text); NULL: it can */
    int64_t line;
    /* numbers of the reference nodes, once the file is read; -1: there is none */
    int64_t node, turn;
} hx_abaqus_coupling;

/* A node or set that becomes a member of a set. */
typedef struct hx_abaqus_member {
    hx_import_set *set;
    hx_abaqus_word word;
} hx_abaqus_member;

/* The data lines of one property: their number, the values of the first line, and its TYPE. */
typedef struct hx_abaqus_property {
    int n;
    double value[2];
    int64_t line;
    char type[48]; /* "" for isotropic properties */
} hx_abaqus_property;

typedef struct hx_abaqus_material {
    char *name; /* (owned) */
    int64_t line;
    hx_abaqus_property elastic, density, conductivity;
    hx_unread beyond; /* *PLASTIC and similar keywords (owned) */
} hx_abaqus_material;

/* *SOLID SECTION */
typedef struct hx_abaqus_section {
    hx_import_set *set;
    char *material; /* (owned) */
    int is_composite;
    int64_t line;
} hx_abaqus_section;

/* A pressure on one side of an element, which is given by number. In a heat-transfer job: a load,
 * film or temperature of a node, an element or a face. */
typedef struct hx_abaqus_face_load {
    int64_t elem, line, place; /* place: position of this entry among all of them */
    int side, step, family;    /* family: as in hx_condition */
    double value, ambient;     /* ambient: of films */
} hx_abaqus_face_load;

/* Everything that acts on one item in all steps: [begin, end) of a sorted list. */
typedef struct hx_abaqus_history {
    const hx_abaqus_face_load *begin, *end; /* (borrowed) */
    int64_t first;                          /* position of the first entry in the file */
} hx_abaqus_history;

/* Items grouped by their histories; those of a group are adjacent. */
typedef struct hx_abaqus_groups {
    size_t n_item, n;
    hx_abaqus_history *item;   /* [n_item] (owned) */
    hx_abaqus_history **group; /* [n] first item of each group, in the order of the file (owned) */
} hx_abaqus_groups;

/* A data line of a heat-transfer job, with the items on which it acts. An entry without items is a
 * keyword with OP=NEW, which ends what earlier entries stated. */
typedef struct hx_abaqus_heat {
    hx_file_heat_kind kind;
    int family, is_reset, step; /* family: HX_LOADS_OF_SURFACES for *DSFLUX and *SFILM */
    int64_t line;
    double value, ambient;
    hx_import_set *named; /* the set of the file that holds these items; NULL: a single item */
    int side;             /* side of all items; 0: none, or each has its own in item_side */
    hx_numbers item;      /* numbers of nodes or elements (owned) */
    hx_numbers item_side; /* side per item of a surface (owned) */
} hx_abaqus_heat;

/* A set for the config that `hextop new` writes, and the steps in which loads act on it. */
typedef struct hx_abaqus_heat_group {
    hx_file_heat_kind kind;
    hx_import_set *set;
    /* history of its items, whose entries are in hx_abaqus_reader.heat_item */
    hx_abaqus_history history;
} hx_abaqus_heat_group;

/* The procedure of a step. */
typedef enum { HX_STEP_OTHER, HX_STEP_TRANSIENT, HX_STEP_STEADY } hx_abaqus_step_kind;
typedef struct hx_abaqus_procedure {
    char name[40]; /* "" if the step names none */
    int64_t line;
    hx_abaqus_step_kind kind;
} hx_abaqus_procedure;

/* What is refused if a keyword has an error: the whole file, or only the file's loads or
 * supports. */
typedef enum { HX_ABAQUS_HARD, HX_ABAQUS_OF_LOADS, HX_ABAQUS_OF_SUPPORTS } hx_abaqus_soft;

struct hx_abaqus_reader {
    hx_abaqus_scan scan;
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes; /* (borrowed) */

    /* Function that reads the data lines of the current keyword, and its settings; NULL: the lines
     * are skipped. */
    int (*data)(hx_abaqus_reader *r, char *line);
    hx_import_set *set; /* set that gets members, or NULL */
    int is_generated;   /* GENERATE is given */
    hx_condition condition;
    /* bit 1 << HX_ABAQUS_OP_...: the step has the keyword; its first one has OP=NEW */
    unsigned step_used, step_renewed;

    /* The current type of element, and the numbers of the current element so far. */
    const hx_abaqus_type *type;
    char type_name[32];
    int64_t entry[1 + HX_ABAQUS_CELL_NODES];
    int n_entry;
    uint64_t entry_has_base; /* bit i: instance of number i is given in the file */
    int64_t entry_line;
    int continues; /* the last line of an unknown type ended with a comma */

    /* Cells that are not solids but bound them: number, and where their nodes begin. Surface cells
     * have four corners; a triangle repeats its last one. */
    hx_numbers cell_number, cell_begin, cell_node;
    hx_numbers cell_type, cell_line; /* per cell: index in import.other, line */
    size_t other_type; /* index in import.other of the current keyword's type, plus 1 */

    /* Indices of the numbers read so far; rebuilt once more numbers have been read (elements of
     * *NSET, ELSET). */
    hx_number_index elem_place, cell_place, node_place;
    int64_t elem_listed, cell_listed, node_listed;

    size_t n_part, n_instance;
    hx_abaqus_part *part;         /* (owned) */
    hx_abaqus_instance *instance; /* (owned) */
    /* in_part: the lines of a part are being read for an instance */
    int in_assembly, in_part;
    int scope;                      /* the instance that the lines belong to, -1: none */
    int member_scope;               /* the instance that the members of a set belong to, -1: none */
    int has_own_node, has_own_elem; /* the assembly has its own nodes; its own elements */
    const hx_abaqus_part *placing;  /* the part named by *INSTANCE, not yet placed */
    int n_place_line;               /* number of data lines of *INSTANCE so far */
    int64_t stride;                 /* distance between the short numbers of two instances */

    size_t n_coupling, coupling_capacity, n_member, member_capacity;
    hx_abaqus_coupling *coupling; /* (owned) */
    hx_abaqus_member *member;     /* (owned) */

    size_t n_material, n_section, section_capacity;
    hx_abaqus_material *material; /* (owned) */
    hx_abaqus_section *section;   /* (owned) */
    hx_abaqus_property *property; /* property of the current keyword */

    /* Parts of the file that are ignored, for the notes: sections of elements other than solids,
     * and formulations of solid elements. */
    size_t n_carrier, carrier_capacity;
    hx_abaqus_word *carrier; /* (owned) */
    hx_unread formulation;   /* per element type with a suffix, such as C3D8R (owned) */

    size_t n_heat, heat_capacity, n_heat_group, heat_group_capacity;
    hx_abaqus_heat *heat; /* (owned) */
    hx_abaqus_face_load
        *heat_item[HX_N_FILE_HEAT];     /* faces of all data lines, by kind of load (owned) */
    size_t n_heat_item[HX_N_FILE_HEAT]; /* the `place` of each item is its group */
    hx_abaqus_heat_group *heat_group;   /* (owned) */
    char *heat_fault;                   /* (owned) */
    /* one bit for each kind and family of loads stated in this step */
    unsigned step_has_heat;
    size_t n_procedure, procedure_capacity;
    hx_abaqus_procedure *procedure; /* [n_procedure] of steps 1, 2, ... (owned) */

    size_t n_face_load, face_load_capacity;
    hx_abaqus_face_load *face_load; /* (owned) */

    int in_step, step_is_other, n_skipped, n_soft;
    hx_numbers other_step; /* steps that are not static */
    hx_abaqus_soft soft;   /* what an error in the current keyword refuses */
    char first_skipped[32];
};

/* Finds the set of a whole name, without regard to case. Node sets, element sets and surfaces have
 * separate names: returns the set of the given kind (HX_N_SET_KIND: of any), otherwise the first
 * set of another kind; NULL if no set has the name. */
hx_import_set *hx_abaqus_find_set(const hx_abaqus_reader *r, hx_set_kind kind, const char *name);

/* Opens the set of a load, "WORD-1" or the next such name that is not a set yet; *number: the last
 * number. */
int hx_abaqus_open_loads(hx_abaqus_reader *r, const char *word, int *number, hx_set_kind kind,
                         hx_import_set **set);

/* Finds or creates the set of that name and kind in the current scope; *set stays valid. */
int hx_abaqus_open_set(hx_abaqus_reader *r, hx_set_kind kind, const char *name,
                       hx_import_set **set);

/* Resolves "NAME", "17", "PART-1-1.NAME" or "PART-1-1.17" in the current scope (or in that of a
 * set's members), preferring a set of the given kind. Removes quotes from the word. HX_EINPUT: a
 * number of no instance. */
int hx_abaqus_refer(const hx_abaqus_reader *r, hx_set_kind kind, char *word,
                    hx_abaqus_reference *to);

/* Like hx_abaqus_refer, but if there is no such set, returns HX_EINPUT. */
int hx_abaqus_need(const hx_abaqus_reader *r, hx_set_kind kind, char *word,
                   hx_abaqus_reference *to);

/* Adds the base of the current scope to the number of a node or element defined here. */
int hx_abaqus_own_number(hx_abaqus_reader *r, int is_elem, int64_t *number);

/* Transforms coordinates of the current instance's part to those of the assembly. */
void hx_abaqus_place_node(const hx_abaqus_reader *r, double x[3]);

/* Parts and instances (abaqus_parts.c). */
int hx_abaqus_begin_part(hx_abaqus_reader *r);
int hx_abaqus_begin_assembly(hx_abaqus_reader *r);
int hx_abaqus_begin_instance(hx_abaqus_reader *r);
int hx_abaqus_end_instance(hx_abaqus_reader *r);
void hx_abaqus_free_parts(hx_abaqus_reader *r);

/* Removes the instance's name from the sets if there is only one instance; shortens the numbers,
 * and notes how. */
int hx_abaqus_name_sets(hx_abaqus_reader *r);
int hx_abaqus_name_numbers(hx_abaqus_reader *r);

/* HX_EINPUT: the last element has too few nodes (abaqus_elements.c). */
int hx_abaqus_check_entry(hx_abaqus_reader *r);

/* Returns HX_EINPUT: the data lines of the keyword are in another file. */
int hx_abaqus_refuse_input(hx_abaqus_reader *r);

/* Functions that begin a keyword: they read its parameters and set r->data. */
int hx_abaqus_begin_node(hx_abaqus_reader *r);
int hx_abaqus_begin_element(hx_abaqus_reader *r);
int hx_abaqus_begin_set(hx_abaqus_reader *r);
int hx_abaqus_begin_surface(hx_abaqus_reader *r);
int hx_abaqus_begin_step(hx_abaqus_reader *r);
int hx_abaqus_begin_end_step(hx_abaqus_reader *r);
int hx_abaqus_begin_boundary(hx_abaqus_reader *r);
int hx_abaqus_begin_cload(hx_abaqus_reader *r);

int hx_abaqus_begin_load(hx_abaqus_reader *r);
int hx_abaqus_begin_coupling(hx_abaqus_reader *r);
int hx_abaqus_begin_coupling_kind(hx_abaqus_reader *r);
int hx_abaqus_begin_kinematic_coupling(hx_abaqus_reader *r);
int hx_abaqus_begin_rigid_body(hx_abaqus_reader *r);

/* Adds an entry to the list of what is not read (abaqus_faults.c), at the current line. */
int hx_abaqus_unread(hx_abaqus_reader *r, unsigned roles, const char *word, const char *what);

/* Begins a keyword that is not read. *is_harmless = 1: output requests and similar keywords, which
 * do not act on the part. Otherwise the keyword is recorded as unread, and a sink requests the
 * whole mesh. */
int hx_abaqus_begin_unread(hx_abaqus_reader *r, int *is_harmless);

/* Records what goes beyond *ELASTIC in the materials of solids as unread. */
int hx_abaqus_name_materials(hx_abaqus_reader *r);

/* hx_abaqus_keep_carrier keeps the set of a section. Once the file is read, hx_abaqus_list_carriers
 * lists the cells that have a section but are not solids. */
int hx_abaqus_keep_carrier(hx_abaqus_reader *r);
int hx_abaqus_list_carriers(hx_abaqus_reader *r);
void hx_abaqus_free_carriers(hx_abaqus_reader *r);

/* Heat-transfer jobs. abaqus_heat.c takes the data of *CFLUX, *DFLUX, *DSFLUX, *FILM and *SFILM,
 * which are also recorded as unread for elasticity, and temperatures of *BOUNDARY.
 * abaqus_heat_steps.c evaluates them step by step. A statement of a step replaces those of earlier
 * steps about the same node, element or face; OP=NEW drops all earlier statements; within a step,
 * *CFLUX and *DFLUX add up, whereas *FILM and *BOUNDARY replace (CalculiX 2.20).
 * hx_abaqus_group_heat makes the sets before the mesh is made; hx_abaqus_give_heat hands over what
 * acts in each step with STEADY STATE, one load case each. */
int hx_abaqus_begin_heat(hx_abaqus_reader *r);
int hx_abaqus_hold_temperature(hx_abaqus_reader *r, char *target, double value);
int hx_abaqus_drop_temperatures(hx_abaqus_reader *r);
int hx_abaqus_group_heat(hx_abaqus_reader *r);
int hx_abaqus_give_heat(hx_abaqus_reader *r, const hx_mesh *mesh, hx_conditions *to);
void hx_abaqus_free_heat(hx_abaqus_reader *r);

/* Records why the heat data are incomplete, with file and line (0: the current line). Only the
 * first call has an effect. */
int hx_abaqus_heat_fault(hx_abaqus_reader *r, int64_t line, const char *fmt, ...) HX_PRINTF(3, 4);

/* Records the procedure of the current step. */
int hx_abaqus_add_procedure(hx_abaqus_reader *r, hx_abaqus_step_kind kind);

/* Counts a solid whose type has letters after the plain type's name; notes each formulation
 * once. */
int hx_abaqus_count_formulation(hx_abaqus_reader *r);
int hx_abaqus_note_formulations(hx_abaqus_reader *r);

/* A pressure on one face in the current step. hx_abaqus_load_repeated applies it again to faces
 * that a set names more than once, once for each repetition. Once the file is read, faces with the
 * same history become a set. */
int hx_abaqus_load_face(hx_abaqus_reader *r, int64_t elem, int side, int family, double value);
int hx_abaqus_load_repeated(hx_abaqus_reader *r, const hx_import_set *set, int side, int family,
                            double value);
int hx_abaqus_group_faces(hx_abaqus_reader *r);

/* Sorts list[*n] by item and step, merges several statements of a step about one item (adds them
 * up, or keeps the last), and groups items with the same history. hx_abaqus_is_next returns 1 if an
 * item has the history of the group's first item. */
int hx_abaqus_make_groups(hx_abaqus_groups *to, hx_abaqus_face_load *list, size_t *n, int replaces);
int hx_abaqus_is_next(const hx_abaqus_history *item, const hx_abaqus_history *first);
void hx_abaqus_free_groups(hx_abaqus_groups *groups);

/* Kind of the element with that number; a hexahedron if there is no such element. */
hx_cell_kind hx_abaqus_kind_of(const hx_abaqus_reader *r, int64_t number);

/* Removes the loads of steps that are not static, since such steps are not load cases. */
int hx_abaqus_keep_static_steps(hx_abaqus_reader *r);

/* Copies a word, which is looked up later. */
int hx_abaqus_keep_word(const hx_abaqus_reader *r, const char *word, hx_abaqus_word *to);

/* Updates the indices of elements and cells to the numbers so far. */
int hx_abaqus_update_places(hx_abaqus_reader *r);

/* Records, with file and line, why the file's loads cannot be used. */
int hx_abaqus_load_fault(hx_abaqus_reader *r, const char *fmt, ...) HX_PRINTF(2, 3);

/* Keywords that have OP; the first two are the families of hx_condition. */
enum {
    HX_ABAQUS_OP_DLOAD = HX_LOADS_OF_ELEMENTS,
    HX_ABAQUS_OP_DSLOAD = HX_LOADS_OF_SURFACES,
    HX_ABAQUS_OP_CLOAD,
    HX_ABAQUS_OP_BOUNDARY
};

/* *renews = 1: the current keyword has OP=NEW and is the first of its kind in the step, so it ends
 * what earlier steps state. Notes a later OP=NEW that differs from the first OP. */
int hx_abaqus_read_op(hx_abaqus_reader *r, int keyword, int *renews);

/* HX_EINPUT: a load outside a step. If a parameter is not read, refuses the file's loads. */
int hx_abaqus_check_load(hx_abaqus_reader *r);

/* Marks a set whose members a support or load refers to. */
void hx_abaqus_mark_taken(const hx_abaqus_reader *r, hx_import_set *set, int is_support);

/* Adds to r->set the nodes of the elements of a set, or the faces on one side of elements. The
 * third function appends a list to a list of a set, which must not become much longer than the
 * n_all objects of the file. */
int hx_abaqus_add_nodes_of(hx_abaqus_reader *r, const char *name);
int hx_abaqus_append_side(hx_abaqus_reader *r, const hx_abaqus_reference *elem, int side);
int hx_abaqus_append_list(hx_import_set *set, hx_numbers *to, const hx_numbers *from,
                          int64_t n_all);

/* Resolves couplings once the file is read and before the mesh is made. */
int hx_abaqus_resolve_couplings(hx_abaqus_reader *r);
void hx_abaqus_free_couplings(hx_abaqus_reader *r);

/* Materials; hx_abaqus_find_material finds those of the elements of the raw mesh. A section some of
 * whose elements belong to later sections gets a set of its own, material-NAME. */
int hx_abaqus_begin_material(hx_abaqus_reader *r);
int hx_abaqus_begin_property(hx_abaqus_reader *r);
int hx_abaqus_begin_section(hx_abaqus_reader *r);
int hx_abaqus_find_material(hx_abaqus_reader *r, hx_mesh *mesh, hx_file_material *to);
void hx_abaqus_free_materials(hx_abaqus_reader *r);

/* Once the file is read, element sets with cells other than solids get the faces and nodes of these
 * cells, and sides of elements, S1 to S6, become local faces according to the element's kind. */
int hx_abaqus_resolve_cells(hx_abaqus_reader *r);

#endif
