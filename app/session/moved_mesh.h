/* Finds the mesh of a result whose folder was moved after the run: config.cfg has its absolute
 * path. */
#ifndef HX_MOVED_MESH_H
#define HX_MOVED_MESH_H

#include "session.h"

typedef struct hx_moved_mesh {
    char *file;              /* its current path; NULL: not found (owned) */
    char hash[HX_HASH_TEXT]; /* hash of the run's mesh, from the summary.json beside config.cfg */
} hx_moved_mesh;

/* Looks for the missing file `gone`, an absolute path, in the folder of the config and those above
 * it, by its name and its parent folders. Needs a summary.json with the hash of the mesh. HX_OK
 * even if nothing is found. */
int hx_moved_mesh_find(const char *config, const char *gone, hx_moved_mesh *moved);

/* Compares the hashes once the mesh is finished. HX_EINPUT: the file that was found has another
 * mesh. */
int hx_moved_mesh_check(hx_session *s, const hx_moved_mesh *moved, const char *gone);

/* Accepts a zeroed struct. */
void hx_moved_mesh_free(hx_moved_mesh *moved);

#endif
