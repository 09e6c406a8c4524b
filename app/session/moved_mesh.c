#define _XOPEN_SOURCE 700 /* realpath */
#include "moved_mesh.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../text/json_read.h"
#include "../text/log.h"
#include "core/base/memory.h"
#include "identity.h"

/* The longest end of the path `gone` that is a file in the folder; NULL: none. */
static const char *find_end(const char *folder, const char *gone, char path[2 * PATH_MAX])
{
    for (const char *end = gone; (end = strchr(end, '/')) != NULL; end++) {
        snprintf(path, 2 * PATH_MAX, "%s%s", folder, end);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

int hx_moved_mesh_find(const char *config, const char *gone, hx_moved_mesh *moved)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    char *const whole = realpath(config, NULL);
    memset(moved, 0, sizeof *moved);
    snprintf(folder, sizeof folder, "%s", whole ? whole : "");
    free(whole);
    char *slash = strrchr(folder, '/');
    if (!slash || gone[0] != '/') return HX_OK;
    *slash = '\0';
    /* the hash that the run wrote */
    char summary[PATH_MAX + 16];
    hx_json_tree tree = {0};
    snprintf(summary, sizeof summary, "%s/summary.json", folder);
    moved->hash[0] = '\0';
    if (access(summary, R_OK) == 0 && hx_json_read(&tree, summary) == HX_OK)
        snprintf(moved->hash, HX_HASH_TEXT, "%s", hx_json_text_at(tree.root, "identity.mesh", ""));
    hx_json_free(&tree);
    if (moved->hash[0] == '\0') return HX_OK;
    while ((slash = strrchr(folder, '/')) != NULL) { /* ends before the root */
        if (find_end(folder, gone, path)) return hx_strdup(&moved->file, path);
        *slash = '\0';
    }
    return HX_OK;
}

int hx_moved_mesh_check(hx_session *s, const hx_moved_mesh *moved, const char *gone)
{
    char text[HX_HASH_TEXT];
    const hx_hash hash = hx_session_mesh_hash(s);
    if (strcmp(hx_hash_print(&hash, text), moved->hash) == 0) {
        hx_log_info(
            "mesh.file: '%s' does not exist; %s is the mesh of this run and is taken instead", gone,
            moved->file);
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT,
                    "cannot read '%s': No such file or directory; %s has this name, but is another "
                    "mesh: write the path of the run's mesh here",
                    gone, moved->file);
}

void hx_moved_mesh_free(hx_moved_mesh *moved)
{
    free(moved->file);
    memset(moved, 0, sizeof *moved);
}
