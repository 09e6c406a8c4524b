/* State of one pass over Nastran bulk data. nastran_read.c handles the mesh, nastran_systems.c its
 * coordinate systems, nastran_loads.c loads and supports. Internal. */
#ifndef HX_NASTRAN_READER_H
#define HX_NASTRAN_READER_H

#include <stdio.h>

#include "face_pressure.h"
#include "mesh_conditions.h"
#include "mesh_import.h"
#include "nastran_scan.h"
#include "numbered_materials.h"

typedef struct hx_nastran_kind hx_nastran_kind; /* what an unread card means (nastran_unread.c) */

/* Cards of one name and number that are counted but not read. */
typedef struct hx_nastran_lost {
    char name[HX_NASTRAN_FIELD];
    /* the set, for loads and constraints that the case control selects, 0: no set; or the property
     * of shells and bars */
    int64_t number;
    int64_t n, line;
    char *path;                  /* path of the file with the first such card (owned) */
    const hx_nastran_kind *kind; /* (borrowed) NULL: in no table */
} hx_nastran_lost;

typedef struct hx_nastran_cards {
    size_t n, capacity;
    hx_nastran_lost *card; /* (owned) */
} hx_nastran_cards;

/* The faces of shells of one property. */
typedef struct hx_nastran_face_set {
    int64_t property;
    hx_import_set *set; /* (borrowed) */
} hx_nastran_face_set;

/* How Nastran integrates CHEXA and CPENTA of first order, given by IN and ISOP of PSOLID. */
typedef enum {
    HX_NASTRAN_BUBBLES, /* the default */
    HX_NASTRAN_SHEAR,
    HX_NASTRAN_FULL
} hx_nastran_formulation;

/* A support: components of a node that are fixed. */
typedef struct hx_nastran_support {
    int64_t sid; /* 0: the GRID's own supports, which always apply */
    int64_t line, node;
    /* last node of a range: the support applies to the existing nodes from `node` to `last`; 0:
     * only to `node` */
    int64_t last;
    unsigned components;
    double value;
} hx_nastran_support;

typedef enum { HX_NASTRAN_FORCE, HX_NASTRAN_PLOAD, HX_NASTRAN_PLOAD4 } hx_nastran_load_kind;

typedef struct hx_nastran_load {
    hx_nastran_load_kind kind;
    int64_t sid, line;
    int64_t elem;    /* element of PLOAD4 */
    int64_t node[4]; /* the node of a force; or the corners, 0: none; or G1 and G3 or G4 */
    double value[3]; /* the force; for a pressure, value[0] */
    int is_named;    /* 1: already recorded as unread */
} hx_nastran_load;

/* Set `of` includes set `sid` with a factor, by LOAD, SPCADD (both numbers are negative) or
 * MPCADD. */
typedef struct hx_nastran_part {
    int64_t of, sid, line;
    double factor;
} hx_nastran_part;

/* The selections of a subcase; 0: none. */
typedef struct hx_nastran_case {
    int64_t number, step; /* number of SUBCASE, and of STEP within it; 0: none */
    int64_t line, spc, load, mpc, temperature;
    int64_t spc_line, load_line, mpc_line, temperature_line; /* lines of the selections */
    /* 1: not a static analysis, and therefore left out */
    int is_other;
} hx_nastran_case;

typedef struct hx_nastran_system {
    int64_t number, within, line;
    char kind;          /* R, C or S: rectangular, cylindrical, spherical */
    int is_ready;       /* 1: the axes are computed, and the points refer to the basic system */
    double point[3][3]; /* origin, a point on the z axis, a point in the x-z plane */
    double axis[3][3];
} hx_nastran_system;

/* A node given in a coordinate system other than the basic one. */
typedef struct hx_nastran_place_in {
    int64_t node; /* index of the node in the file's order */
    int64_t system, line;
} hx_nastran_place_in;

typedef struct hx_nastran_reader {
    hx_nastran_scan scan;
    hx_import import;
    hx_import_conditions conditions;
    hx_notes *notes;                                   /* (borrowed) */
    int64_t grid_line;                                 /* line of GRDSET; 0: there is none */
    int64_t grid_system, grid_components, grid_output; /* defaults of GRDSET */
    /* indices of nodes whose GRID has no CP, CD or PS, so that the default applies */
    hx_numbers blank_system;
    hx_numbers blank_output, blank_components;
    hx_numbers turned; /* nodes whose displacements are in a coordinate system of their own */
    hx_number_index turned_index;
    hx_middle_index middles; /* middles of the mesh (owned) */
    uint8_t *turned_named;   /* [turned.n] 1: the node has been reported (owned) */
    int64_t last_property, last_face_property;
    hx_import_set *set, *face_set; /* sets of last_property, last_face_property */
    int64_t n_partial;             /* number of elements that lack some of their mid-side nodes */

    int64_t n_soft; /* number of errors in supports and loads */
    hx_nastran_cards lost;
    /* shells and bars, which carry load if their property has a card; otherwise they only mark
     * faces or edges */
    hx_nastran_cards skin;
    hx_numbered_materials materials;
    hx_numbers solid_property;          /* properties of solids, each once */
    hx_numbers psolid, psolid_material; /* for each PSOLID: property and material */
    /* for each PSOLID: a hx_nastran_formulation, for bricks and wedges */
    hx_numbers psolid_formulation;
    hx_numbers brick_property; /* properties of CHEXA and CPENTA of first order, with repetitions */
    size_t n_face_set, face_set_capacity;
    hx_nastran_face_set *face_sets; /* (owned) */
    hx_numbers carrying;            /* properties of shells and bars that have a card */
    size_t n_support, support_capacity, n_load, load_capacity, n_part, part_capacity;
    hx_nastran_support *support; /* (owned) */
    hx_nastran_load *load;       /* (owned) */
    hx_nastran_part *part;       /* (owned) */
    size_t n_mpc_part, mpc_part_capacity;
    hx_nastran_part *mpc_part; /* of MPCADD (owned) */
    hx_numbers support_set;    /* sets of SPC and SPC1, including those that hold only rotations */

    size_t n_system, system_capacity, n_place, place_capacity;
    hx_nastran_system *system;  /* (owned) */
    hx_nastran_place_in *place; /* (owned) */

    int has_control;
    char solution[HX_NASTRAN_FIELD]; /* the word after SOL; "": none */
    int64_t solution_line;
    /* line of a PARAM,LGDISP that is on; line of NLPARM in case control */
    int64_t large_line, nlparm_line;
    int64_t relief_line;         /* line of an INREL that is on; 0: it is off */
    hx_nastran_case all;         /* selections above the subcases */
    hx_nastran_case above_steps; /* selections of the last subcase with steps */
    size_t n_case, case_capacity;
    hx_nastran_case *list; /* (owned) */
} hx_nastran_reader;

/* Counts a card that is not read. */
int hx_nastran_lose(hx_nastran_reader *r, const char *name);

/* --- nastran_unread.c --- */

/* Handles the result rc of a card of supports or loads (role). An error becomes a warning; the
 * file's supports or loads are then refused, but not its mesh. */
int hx_nastran_soften(hx_nastran_reader *r, unsigned role, int rc);

/* Counts a shell or bar of that property. */
int hx_nastran_take_skin(hx_nastran_reader *r, int64_t property);

/* PSHELL, PBAR and similar cards: elements of that property carry load. */
int hx_nastran_take_property(hx_nastran_reader *r);

/* Refuses the file's loads if a subcase selects sets that the file lacks, or if no subcase selects
 * the sets that the file has. Does the same for supports, where spc is the selected set (0:
 * none). */
int hx_nastran_check_loads(hx_nastran_reader *r);
int hx_nastran_check_supports(hx_nastran_reader *r, const hx_nastran_case *chosen);

/* Refuses the loads or supports if a selected LOAD, SPCADD or MPCADD names a set that the file
 * lacks; without case control, all sets are selected. */
int hx_nastran_check_parts(hx_nastran_reader *r, const hx_nastran_case *chosen);

/* Called once everything is read. Records as unread whatever carries load, has mass, or acts as a
 * load or support. */
int hx_nastran_name_unread(hx_nastran_reader *r);
void hx_nastran_free_unread(hx_nastran_reader *r);

/* Returns 1 if the analysis (SOL) has static subcases. */
int hx_nastran_is_static(const hx_nastran_reader *r);

/* hx_nastran_take_param reads PARAM. The others are called once everything is read; they record
 * that the file's analysis is not linear, or has inertia relief. */
int hx_nastran_take_param(hx_nastran_reader *r);
int hx_nastran_name_nonlinear(hx_nastran_reader *r);
int hx_nastran_name_relief(hx_nastran_reader *r);

/* "subcase 1", "subcase 1, step 2" */
void hx_nastran_case_text(const hx_nastran_case *c, char text[60]);

/* Reads the lines of case control, up to the bulk data. */
int hx_nastran_read_control(hx_nastran_reader *r);

/* Each function handles the card that was just read. */
int hx_nastran_take_spc(hx_nastran_reader *r);
int hx_nastran_take_spc1(hx_nastran_reader *r);
int hx_nastran_take_spcadd(hx_nastran_reader *r);
int hx_nastran_take_mpcadd(hx_nastran_reader *r);
int hx_nastran_take_force(hx_nastran_reader *r);
int hx_nastran_take_pload(hx_nastran_reader *r);
int hx_nastran_take_pload4(hx_nastran_reader *r);
int hx_nastran_take_load(hx_nastran_reader *r);

/* Handle MAT1, MAT4, other materials, and PSOLID (nastran_materials.c); the last one finds the one
 * material of all solids, once everything is read. */
int hx_nastran_take_mat1(hx_nastran_reader *r);
int hx_nastran_take_mat4(hx_nastran_reader *r);
int hx_nastran_take_mat(hx_nastran_reader *r);
int hx_nastran_take_psolid(hx_nastran_reader *r);
int hx_nastran_take_plsolid(hx_nastran_reader *r);

/* Returns 1 for MATHP, MAT9, MATS1 and all other materials that are not read, including those of
 * shells and fluids. */
int hx_nastran_is_other_material(const char *name);
int hx_nastran_find_material(hx_nastran_reader *r, hx_file_material *to);

/* Name of the set of the solids of a property. */
static inline void hx_nastran_property_name(int64_t property, char *name, size_t n_name)
{
    snprintf(name, n_name, "property-%lld", (long long)property);
}

/* Marks the materials of solids; notes where Nastran's integration differs from the one here. */
int hx_nastran_use_materials(hx_nastran_reader *r);
int hx_nastran_note_formulations(hx_nastran_reader *r);

/* The functions read CORD2R, CORD2C and CORD2S, record a node (index in the order of nodes) in such
 * a system, and, once everything is read, transform these nodes. */
int hx_nastran_take_system(hx_nastran_reader *r);
int hx_nastran_keep_place(hx_nastran_reader *r, int64_t node, int64_t system, int64_t line);
int hx_nastran_move_nodes(hx_nastran_reader *r);

/* Components 1 to 3 of a word like "123456", as bits; HX_EINPUT: not such a word. */
int hx_nastran_components(hx_nastran_reader *r, const char *word, unsigned *components);
int hx_nastran_add_support(hx_nastran_reader *r, int64_t sid, int64_t node, unsigned components,
                           double value);

/* Once the mesh is made: converts the selections of the subcases to conditions. */
int hx_nastran_finish(hx_nastran_reader *r, const hx_mesh *mesh);

#endif
