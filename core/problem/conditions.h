/* Supports and forces that a mesh file states, beside its mesh: what from = "file" stands for. */
#ifndef HX_CONDITIONS_H
#define HX_CONDITIONS_H

#include "../mesh/mesh.h"
#include "unread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A support or force at component 0, 1 or 2 of a node. */
typedef struct hx_file_value {
    int32_t node; /* of the mesh as it was read: what hx_mesh.node_orig holds */
    int16_t component;
    int16_t load_case; /* 1-based step of the file; 0 for supports, which hold in all */
    double value;      /* displacement or force */
} hx_file_value;

/* What a file of second order states of the middle of an edge, for quadratic elements; the lists of
 * hx_file_value hold what linear ones get of it. */
typedef struct hx_file_middle {
    int32_t end[2]; /* as hx_file_value.node */
    int16_t component;
    int16_t load_case; /* 0: a support */
    double value;
} hx_file_middle;

/* What acts on a set in a step, or by mass on the whole part. */
typedef enum {
    HX_FILE_PRESSURE,    /* value[0] on the set's faces, positive pushes inwards */
    HX_FILE_GRAVITY,     /* acceleration value */
    HX_FILE_CENTRIFUGAL, /* axis value through point, speed */
    HX_FILE_REMOTE       /* force value at point and moment, by the set's nodes */
} hx_file_load_kind;

typedef struct hx_file_load {
    hx_file_load_kind kind;
    int load_case; /* as hx_file_value */
    int equally;   /* HX_FILE_REMOTE: shared equally by the nodes, not by area */
    char *set;     /* of the mesh (owned); NULL: the whole part */
    double value[3], moment[3], point[3], speed;
} hx_file_load;

/* A set that the file ties rigidly to a reference point. */
typedef struct hx_file_rigid {
    char *set;       /* of the mesh (owned) */
    char *name;      /* of the point, for messages: "reference node 17" (owned) */
    double point[3]; /* where it lies */
    unsigned held;   /* bits 0 to 2: displacement of the point, 3 to 5: rotation */
    double value[6]; /* of these; other than 0 only where all are held */
} hx_file_rigid;

enum { HX_FILE_HELD_ALL = 63 };

/* The one isotropic material of all elements that a file states; NaN: not stated. */
typedef struct hx_file_material {
    char *name;  /* (owned); NULL: the file states none */
    char *fault; /* why it cannot be used (owned), or NULL */
    double young, poisson, density, conductivity;
} hx_file_material;

/* What a job of heat states of a set; `hextop new` writes it into a config. */
typedef enum {
    HX_FILE_TEMPERATURE, /* value at the nodes */
    HX_FILE_NODE_HEAT,   /* value at each node */
    HX_FILE_FLUX,        /* value per area of the faces, into the part */
    HX_FILE_SOURCE,      /* value per volume of the elements */
    HX_FILE_FILM         /* coefficient value on the faces, against ambient */
} hx_file_heat_kind;

typedef struct hx_file_heat {
    hx_file_heat_kind kind;
    char *set; /* of the mesh (owned) */
    double value, ambient;
} hx_file_heat;

/* All zero: of a mesh without a file. */
typedef struct hx_conditions {
    int64_t n_support, n_force;
    hx_file_value *support, *force; /* components of a node follow each other (owned) */
    int n_case;                     /* steps of the file */
    int64_t n_middle;
    hx_file_middle *middle; /* [n_middle] (owned) */
    int is_second_order; /* the file has nodes in the middles of edges: those not named are free */
    int64_t n_load, n_rigid;
    hx_file_load *load;   /* [n_load] (owned) */
    hx_file_rigid *rigid; /* [n_rigid] hold wherever supports or loads of the file do (owned) */
    hx_file_material material;
    int is_heat; /* the file is a job of heat */
    int64_t n_heat;
    hx_file_heat *heat; /* [n_heat] (owned) */
    char *heat_fault;   /* why these are not all that it states (owned); NULL: they are */
    hx_unread unread;   /* what else the file states, which is not read (owned) */
    char *fault;        /* why none of this can be used (owned); NULL: it can */
    char *support_fault, *load_fault; /* why its supports, or its loads, cannot (owned) */
} hx_conditions;

/* node[n] := the nodes of value[n] in the mesh, however it was renumbered since it was read. *node
 * is the caller's to free. O(n_node + n). */
int hx_conditions_nodes(const hx_mesh *mesh, int64_t n, const hx_file_value *value, int32_t **node);

/* The same of middle[n]: node[2 n], their ends. */
int hx_conditions_ends(const hx_mesh *mesh, int64_t n, const hx_file_middle *middle,
                       int32_t **node);

/* After nodes of the mesh as it was read became one, before it is renumbered: node_new[old]. */
void hx_conditions_merge(hx_conditions *conditions, const int32_t *node_new);

/* Copies what is named by sets. */
int hx_conditions_copy_named(hx_conditions *to, const hx_conditions *from);

/* Bytes of host memory. */
size_t hx_conditions_bytes(const hx_conditions *conditions);

/* Accepts a zeroed struct. */
void hx_conditions_free(hx_conditions *conditions);

#ifdef __cplusplus
}
#endif

#endif
