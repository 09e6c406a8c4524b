/* Shared by the mesh_check_*.c files; not installed. */
#ifndef HX_MESH_CHECK_MERGE_H
#define HX_MESH_CHECK_MERGE_H

#include "mesh.h"

/* The result of a trial merge. */
typedef struct hx_merge_trial {
    int64_t n_twin;  /* pairs of elements that would have the same nodes */
    int64_t twin[2]; /* the file's numbers of the first pair */
    int is_sound;    /* 1: the elements at the merged nodes are valid and conform */
    char why[512];   /* otherwise the reason, with the file's numbers */
} hx_merge_trial;

/* Tries to merge nodes with rep[node], on the elements that have such nodes. O(n_node + n_elem),
 * and temporarily a mesh of these elements. */
int hx_mesh_try_merge(const hx_mesh *mesh, const int32_t *rep, hx_merge_trial *trial);

#endif
