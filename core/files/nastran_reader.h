/* The state of one pass over Nastran's bulk data: nastran_read.c has the mesh, nastran_systems.c
 * its coordinate systems, nastran_loads.c what acts on it. Internal. */
#ifndef HX_NASTRAN_READER_H
#define HX_NASTRAN_READER_H

#include "mesh_conditions.h"
#include "mesh_import.h"
#include "nastran_scan.h"
#include "numbered_materials.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Cards of one name and set that are counted and not read. */
typedef struct hx_nastran_lost {
    char name[HX_NASTRAN_FIELD];
    int64_t sid; /* of loads and constraints that the case control chooses; 0: of no set */
    int64_t n, line;
    char *path; /* of the file with the first (owned) */
} hx_nastran_lost;

/* Shells or bars of one property: they carry if it has a card of its own, else they mark. */
typedef struct hx_nastran_skin {
    char name[HX_NASTRAN_FIELD];
    int64_t property, n, line;
    char *path; /* (owned) */
} hx_nastran_skin;

/* The faces of shells of one property. */
typedef struct hx_nastran_face_set {
    int64_t property;
    hx_import_set *set; /* (borrowed) */
} hx_nastran_face_set;

/* How Nastran integrates CHEXA and CPENTA of first order, by IN and ISOP of their PSOLID. */
typedef enum {
    HX_NASTRAN_BUBBLES, /* the default */
    HX_NASTRAN_SHEAR,
    HX_NASTRAN_FULL
} hx_nastran_formulation;

/* Supports of a set: components of nodes. */
typedef struct hx_nastran_support {
    int64_t sid; /* 0: the GRID's own, which hold always */
    int64_t line, node;
    int64_t last; /* the same of the nodes that there are behind it up to this one; 0: of none */
    unsigned components;
    double value;
} hx_nastran_support;

typedef enum { HX_NASTRAN_FORCE, HX_NASTRAN_PLOAD, HX_NASTRAN_PLOAD4 } hx_nastran_load_kind;

typedef struct hx_nastran_load {
    hx_nastran_load_kind kind;
    int64_t sid, line;
    int64_t elem;    /* of PLOAD4 */
    int64_t node[4]; /* the node; corners, 0: none; G1 and G3 or G4 */
    double value[3]; /* force; or pressure first */
    int is_named;    /* among what is not read */
} hx_nastran_load;

/* Set `of` holds set `sid` with a factor: LOAD, SPCADD (both numbers negative) and MPCADD. */
typedef struct hx_nastran_part {
    int64_t of, sid, line;
    double factor;
} hx_nastran_part;

/* What a subcase chooses; 0: none. */
typedef struct hx_nastran_case {
    int64_t number, step; /* of SUBCASE; of STEP within it, 0: none */
    int64_t line, spc, load, mpc, temperature;
    int64_t spc_line, load_line, mpc_line, temperature_line; /* where it chooses them */
    int is_other;                                            /* no static analysis: left out */
} hx_nastran_case;

typedef struct hx_nastran_system {
    int64_t number, within, line;
    char kind;          /* R, C or S: rectangular, cylindrical, spherical */
    int is_ready;       /* axes are known, and the points are those in the basic system */
    double point[3][3]; /* origin, on the z axis, in the x-z plane */
    double axis[3][3];
} hx_nastran_system;

/* A node that is given in another system than the basic one. */
typedef struct hx_nastran_place_in {
    int64_t node; /* by the order of nodes */
    int64_t system, line;
} hx_nastran_place_in;

typedef struct hx_nastran_reader {
    hx_nastran_scan scan;
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes;                                   /* (borrowed) */
    int64_t grid_line;                                 /* of GRDSET; 0: there is none */
    int64_t grid_system, grid_components, grid_output; /* of GRDSET */
    hx_numbers blank_system; /* GRIDs without CP, by the order of nodes; without CD; without PS */
    hx_numbers blank_output, blank_components;
    hx_numbers turned; /* nodes whose displacements are in a system of their own */
    hx_number_index turned_index;
    uint8_t *turned_named; /* [turned.n] nodes that are named (owned) */
    int64_t last_property, last_face_property;
    hx_import_set *set, *face_set; /* of last_property, last_face_property */
    int64_t n_partial;             /* elements some of whose mid-side nodes are missing */

    int64_t n_soft; /* faults of supports and loads */
    size_t n_lost, lost_capacity;
    hx_nastran_lost *lost; /* (owned) */
    hx_numbered_materials materials;
    hx_numbers solid_property;          /* of solids, each once */
    hx_numbers psolid, psolid_material; /* PSOLID: property and material */
    hx_numbers psolid_formulation;      /* and a hx_nastran_formulation, of bricks and wedges */
    hx_numbers brick_property;          /* of CHEXA and CPENTA of first order, several times */
    size_t n_skin, skin_capacity, n_face_set, face_set_capacity;
    hx_nastran_skin *skin;          /* (owned) */
    hx_nastran_face_set *face_sets; /* (owned) */
    hx_numbers carrying;            /* properties of shells and bars that have a card */
    size_t n_support, support_capacity, n_load, load_capacity, n_part, part_capacity;
    hx_nastran_support *support; /* (owned) */
    hx_nastran_load *load;       /* (owned) */
    hx_nastran_part *part;       /* (owned) */
    size_t n_mpc_part, mpc_part_capacity;
    hx_nastran_part *mpc_part; /* of MPCADD (owned) */
    hx_numbers support_set;    /* of SPC and SPC1, also of those that hold rotations only */

    size_t n_system, system_capacity, n_place, place_capacity;
    hx_nastran_system *system;  /* (owned) */
    hx_nastran_place_in *place; /* (owned) */

    int has_control;
    char solution[HX_NASTRAN_FIELD]; /* the word behind SOL; "": none */
    int64_t solution_line;
    int64_t large_line, nlparm_line; /* of PARAM,LGDISP that is on; of NLPARM in case control */
    int64_t relief_line;             /* of INREL that is on; 0: it is off */
    hx_nastran_case all;             /* above the subcases */
    hx_nastran_case above_steps;     /* in the last subcase that has steps */
    size_t n_case, case_capacity;
    hx_nastran_case *list; /* (owned) */
} hx_nastran_reader;

/* Counts the card among those that are not read. */
int hx_nastran_lose(hx_nastran_reader *r, const char *name);

/* --- nastran_unread.c --- */

/* rc of a card of supports or loads (role): what is wrong with them is warned of and refuses them,
 * not the mesh. */
int hx_nastran_soften(hx_nastran_reader *r, unsigned role, int rc);

/* Counts a shell or bar of that property. */
int hx_nastran_take_skin(hx_nastran_reader *r, int64_t property);

/* PSHELL, PBAR and their like: what is of that property carries. */
int hx_nastran_take_property(hx_nastran_reader *r);

/* What a subcase chooses and the deck does not have, or has and no subcase chooses, refuses the
 * loads of the file; likewise the supports of set spc, 0: none is chosen. */
int hx_nastran_check_loads(hx_nastran_reader *r);
int hx_nastran_check_supports(hx_nastran_reader *r, const hx_nastran_case *chosen);

/* A set that a chosen LOAD, SPCADD or MPCADD names and that the deck does not have refuses the
 * loads or the supports; without case control all are chosen. */
int hx_nastran_check_parts(hx_nastran_reader *r, const hx_nastran_case *chosen);

/* Once all is read: names what carries, weighs, loads or supports and is not read. */
int hx_nastran_name_unread(hx_nastran_reader *r);
void hx_nastran_free_unread(hx_nastran_reader *r);

/* Whether the analysis (SOL) has static subcases. */
int hx_nastran_is_static(const hx_nastran_reader *r);

/* PARAM; once all is read, names that the file's analysis is not linear, or has inertia relief. */
int hx_nastran_take_param(hx_nastran_reader *r);
int hx_nastran_name_nonlinear(hx_nastran_reader *r);
int hx_nastran_name_relief(hx_nastran_reader *r);

/* "subcase 1", "subcase 1, step 2" */
void hx_nastran_case_text(const hx_nastran_case *c, char text[60]);

/* Lines of case control, up to the bulk data. */
int hx_nastran_read_control(hx_nastran_reader *r);

/* Each takes the card that was just read. */
int hx_nastran_take_spc(hx_nastran_reader *r);
int hx_nastran_take_spc1(hx_nastran_reader *r);
int hx_nastran_take_spcadd(hx_nastran_reader *r);
int hx_nastran_take_mpcadd(hx_nastran_reader *r);
int hx_nastran_take_force(hx_nastran_reader *r);
int hx_nastran_take_pload(hx_nastran_reader *r);
int hx_nastran_take_pload4(hx_nastran_reader *r);
int hx_nastran_take_load(hx_nastran_reader *r);

/* nastran_materials.c: MAT1, MAT4, others, PSOLID; once all is read, the one of all solids. */
int hx_nastran_take_mat1(hx_nastran_reader *r);
int hx_nastran_take_mat4(hx_nastran_reader *r);
int hx_nastran_take_mat(hx_nastran_reader *r);
int hx_nastran_take_psolid(hx_nastran_reader *r);
int hx_nastran_take_plsolid(hx_nastran_reader *r);

/* MATHP, MAT9, MATS1 and their like: all that are not read, of shells and fluids too. */
int hx_nastran_is_other_material(const char *name);
int hx_nastran_find_material(hx_nastran_reader *r, hx_file_material *to);

/* Marks the materials of solids; notes how Nastran integrates them otherwise than it is done here.
 */
int hx_nastran_use_materials(hx_nastran_reader *r);
int hx_nastran_note_formulations(hx_nastran_reader *r);

/* CORD2R, CORD2C and CORD2S; a node (by the order of nodes) in that system; once all is read. */
int hx_nastran_take_system(hx_nastran_reader *r);
int hx_nastran_keep_place(hx_nastran_reader *r, int64_t node, int64_t system, int64_t line);
int hx_nastran_move_nodes(hx_nastran_reader *r);

/* Components 1 to 3 of a word such as "123456", as bits; HX_EINPUT: no such word. */
int hx_nastran_components(hx_nastran_reader *r, const char *word, unsigned *components);
int hx_nastran_add_support(hx_nastran_reader *r, int64_t sid, int64_t node, unsigned components,
                           double value);

/* Once the mesh is made: what the subcases choose becomes the conditions. */
int hx_nastran_finish(hx_nastran_reader *r, const hx_mesh *mesh);

#ifdef __cplusplus
}
#endif

#endif
