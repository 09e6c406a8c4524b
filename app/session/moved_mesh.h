/* The mesh of a result whose folder was moved after the run: config.cfg has its absolute path. */
#ifndef HX_MOVED_MESH_H
#define HX_MOVED_MESH_H

#include "session.h"

typedef struct hx_moved_mesh {
    char *file;              /* its path now; NULL: not found (owned) */
    char hash[HX_HASH_TEXT]; /* of the mesh of the run, by the summary.json beside config.cfg */
} hx_moved_mesh;

/* Looks for the file `gone`, an absolute path, in the folder of the config and those above it, by
 * its name and the folders before it. Only beside a summary.json that has the mesh's hash. HX_OK
 * also if there is none. */
int hx_moved_mesh_find(const char *config, const char *gone, hx_moved_mesh *moved);

/* After the mesh is finished. HX_EINPUT: the file found is another mesh. */
int hx_moved_mesh_check(hx_session *s, const hx_moved_mesh *moved, const char *gone);

/* Accepts a zeroed struct. */
void hx_moved_mesh_free(hx_moved_mesh *moved);

#endif
