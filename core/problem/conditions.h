/* Supports and forces that a mesh file defines in addition to its mesh; from = "file" refers to
 * them. */
#ifndef HX_CONDITIONS_H
#define HX_CONDITIONS_H

#include "../mesh/mesh.h"
#include "file_units.h"
#include "unread.h"

HX_C_BEGIN

/* A prescribed displacement or a force at component 0, 1 or 2 of a node. */
typedef struct hx_file_value {
    int32_t node; /* node of the mesh as it was read: a value of hx_mesh.node_orig */
    int16_t component;
    int16_t load_case; /* 1-based step of the file; 0 for supports, which apply in all steps */
    double value;      /* displacement or force */
} hx_file_value;

/* Values that a second-order file defines at the middle of an edge, for quadratic elements; the
 * lists of hx_file_value hold the equivalent values for linear elements: half of each force at
 * either end. A pressure on a curved face also differs at the corners. */
typedef struct hx_file_middle {
    int32_t end[2]; /* like hx_file_value.node */
    int16_t component;
    int16_t load_case; /* 0: a support */
    double value;
    int32_t is_corner; /* 1: quadratic elements have this force in addition at the corner end[0] */
} hx_file_middle;

/* A load on a set in a step, or by mass on the whole part. */
typedef enum {
    HX_FILE_PRESSURE,    /* value[0] on the set's faces, positive inwards */
    HX_FILE_GRAVITY,     /* acceleration value */
    HX_FILE_CENTRIFUGAL, /* axis direction `value` through `point`, `speed` */
    HX_FILE_REMOTE       /* force `value` at `point` and `moment`, distributed to the set's nodes */
} hx_file_load_kind;

typedef struct hx_file_load {
    hx_file_load_kind kind;
    int load_case; /* like hx_file_value */
    int equally;   /* HX_FILE_REMOTE: 1: equal shares for all nodes instead of shares by area */
    char *set;     /* set of the mesh (owned); NULL: the whole part */
    double value[3], moment[3], point[3], speed;
} hx_file_load;

/* A set that the file couples rigidly to a reference point. */
typedef struct hx_file_rigid {
    char *set;       /* set of the mesh (owned) */
    char *name;      /* name of the point for messages: "reference node 17" (owned) */
    char *word;      /* the file's word: "*RIGID BODY" (owned) */
    char *path;      /* the file that states it (owned) */
    int64_t line;    /* 0: unknown */
    double point[3]; /* coordinates of the point */
    unsigned held;   /* bits 0 to 2: prescribed displacements of the point, 3 to 5: rotations */
    double value[6]; /* prescribed values; 0 where nothing is prescribed */
} hx_file_rigid;

enum { HX_FILE_HELD_ALL = 63 };

/* Values of an isotropic material; NaN: not given. */
typedef struct hx_material_values {
    double young, poisson, density, conductivity;
} hx_material_values;

/* Another material of the file, for the elements of a set; no two of these sets share an element. */
typedef struct hx_file_other_material {
    char *name, *set; /* (owned) */
    hx_material_values of;
} hx_file_other_material;

/* The file's isotropic material: that of all elements, or of those that `other` does not list. */
typedef struct hx_file_material {
    char *name;  /* (owned); NULL: the file has none */
    char *fault; /* reason why it cannot be used (owned), or NULL */
    double young, poisson, density, conductivity; /* NaN: not given */
    size_t n_other, capacity;
    hx_file_other_material *other; /* [n_other] (owned) */
} hx_file_material;

/* Adds a material for the elements of a set. */
int hx_file_material_add(hx_file_material *to, const char *name, const char *set,
                         const hx_material_values *of);

/* 1 if both have the same values, or both lack them. */
int hx_material_values_equal(const hx_material_values *a, const hx_material_values *b);

/* A condition of a heat conduction job on a set; `hextop new` writes it to a config. */
typedef enum {
    HX_FILE_TEMPERATURE, /* prescribed temperature at the nodes */
    HX_FILE_NODE_HEAT,   /* heat at each node */
    HX_FILE_FLUX,        /* heat per area of the faces, into the part */
    HX_FILE_SOURCE,      /* heat per volume of the elements */
    HX_FILE_FILM         /* film coefficient on the faces, with the fluid temperature `ambient` */
} hx_file_heat_kind;
enum { HX_N_FILE_HEAT = HX_FILE_FILM + 1 };

typedef struct hx_file_heat {
    hx_file_heat_kind kind;
    char *set;     /* set of the mesh (owned) */
    int load_case; /* 1-based; 0: acts in all cases */
    double value, ambient;
} hx_file_heat;

/* All zero for a mesh without a file. */
typedef struct hx_conditions {
    int64_t n_support, n_force;
    hx_file_value *support, *force; /* components of a node are consecutive (owned) */
    int n_case;                     /* number of steps in the file */
    int64_t n_middle;
    hx_file_middle *middle; /* [n_middle] (owned) */
    int is_second_order;    /* 1: the file has mid-edge nodes; those without a value are free */
    int64_t n_load, n_rigid;
    hx_file_load *load;   /* [n_load] (owned) */
    hx_file_rigid *rigid; /* [n_rigid], active with any support or load of the file (owned) */
    hx_file_material material;
    int is_heat; /* 1: the file is a heat conduction job */
    int64_t n_heat;
    hx_file_heat *heat;  /* [n_heat] (owned) */
    int n_heat_case;     /* number of load cases of `heat`: steady steps with loads, at least 1 */
    char *heat_fault;    /* reason why `heat` is not what the file states (owned); NULL: it is */
    char *heat_note;     /* steps that are no load case of heat, and why (owned); NULL: none */
    hx_file_units units; /* of the file's numbers */
    hx_unread unread;    /* items of the file that are not read (owned) */
    char *fault;         /* reason why nothing of this can be used (owned); NULL: it can */
    /* reasons why the supports, or the loads, cannot be used (owned) */
    char *support_fault, *load_fault;
} hx_conditions;

/* node[n] := the nodes of value[n] in the mesh after any renumbering. The caller frees *node.
 * O(n_node + n). */
int hx_conditions_nodes(const hx_mesh *mesh, int64_t n, const hx_file_value *value, int32_t **node);

/* Like hx_conditions_nodes for middle[n]: node[2 n] are the ends of the edges. */
int hx_conditions_ends(const hx_mesh *mesh, int64_t n, const hx_file_middle *middle,
                       int32_t **node);

/* Call after nodes of the mesh as it was read were merged and before it is renumbered:
 * node_new[old]. */
void hx_conditions_merge(hx_conditions *conditions, const int32_t *node_new);

/* Copies the items that refer to sets. */
int hx_conditions_copy_named(hx_conditions *to, const hx_conditions *from);

/* Bytes of host memory. */
size_t hx_conditions_bytes(const hx_conditions *conditions);

/* Accepts a zeroed struct. */
void hx_conditions_free(hx_conditions *conditions);

HX_C_END

#endif
