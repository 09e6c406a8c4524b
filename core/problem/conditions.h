/* Supports and forces that a mesh file states, beside its mesh: what from = "file" stands for. */
#ifndef HX_CONDITIONS_H
#define HX_CONDITIONS_H

#include "../mesh/mesh.h"

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

/* All zero: of a mesh without a file. */
typedef struct hx_conditions {
    int64_t n_support, n_force;
    hx_file_value *support, *force; /* components of a node follow each other (owned) */
    int n_case;                     /* steps of the file */
    int64_t n_middle;
    hx_file_middle *middle; /* [n_middle] (owned) */
    int is_second_order; /* the file has nodes in the middles of edges: those not named are free */
    char *fault;         /* why these cannot be used (owned); NULL: they can */
} hx_conditions;

/* node[n] := the nodes of value[n] in the mesh, however it was renumbered since it was read. *node
 * is the caller's to free. O(n_node + n). */
int hx_conditions_nodes(const hx_mesh *mesh, int64_t n, const hx_file_value *value, int32_t **node);

/* The same of middle[n]: node[2 n], their ends. */
int hx_conditions_ends(const hx_mesh *mesh, int64_t n, const hx_file_middle *middle,
                       int32_t **node);

/* After nodes of the mesh as it was read became one, before it is renumbered: node_new[old]. */
void hx_conditions_merge(hx_conditions *conditions, const int32_t *node_new);

/* Bytes of host memory. */
size_t hx_conditions_bytes(const hx_conditions *conditions);

/* Accepts a zeroed struct. */
void hx_conditions_free(hx_conditions *conditions);

#ifdef __cplusplus
}
#endif

#endif
