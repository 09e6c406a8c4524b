/* Functions that all targets share. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"

const fuzz_target fuzz_targets[] = {
    {"config", fuzz_config},         {"loads", fuzz_loads},
    {"mesh", fuzz_meshes},           {"models", fuzz_models},
    {"triangles", fuzz_triangles},   {"results", fuzz_results},
    {"checkpoint", fuzz_checkpoint}, {NULL, NULL},
};

const fuzz_target *fuzz_target_find(const char *name)
{
    for (const fuzz_target *t = fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

/* A leak of libconfig: its scanner keeps a string that a syntax error cuts off. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig\nleak:strbuf_append\nleak:strvec_append\n";
}

/* --- files --- */

static char folder[FUZZ_PATH / 2];

static void remove_folder(void)
{
    char command[FUZZ_PATH];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "%s is left\n", folder);
}

static void make_folder(void)
{
    static const char *const place[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%s/hextop_fuzz_XXXXXX", place[i]);
        if (mkdtemp(folder)) {
            atexit(remove_folder);
            return;
        }
    }
    abort();
}

const char *fuzz_path(const char *name, char path[FUZZ_PATH])
{
    if (!folder[0]) make_folder();
    snprintf(path, FUZZ_PATH, "%s/%s", folder, name);
    return path;
}

void fuzz_write(const char *path, const void *data, size_t size)
{
    FILE *const f = fopen(path, "wb");
    if (!f || (size > 0 && fwrite(data, 1, size, f) != size) || fclose(f) != 0) abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    if (!text) abort();
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* --- promises --- */

void fuzz_require(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "broken promise: %s\nlast message: %s (%s)\n", what, hx_error_message(),
            hx_error_where());
    abort();
}

int fuzz_accepted(int rc)
{
    fuzz_require(rc <= HX_OK, "a code is 0 or negative");
    fuzz_require(rc == HX_OK || hx_error_message()[0], "an error has a message");
    fuzz_require(rc != HX_EINTERNAL, "no input makes an internal error");
    hx_error_clear();
    return rc == HX_OK;
}

void fuzz_require_mesh(const hx_mesh *mesh)
{
    int in_range = mesh->n_node > 0 && mesh->n_elem > 0, finite = 1;
    for (int64_t i = 0; i < 8 * mesh->n_elem; i++)
        in_range &= mesh->conn[i] >= 0 && mesh->conn[i] < mesh->n_node;
    for (int64_t i = 0; i < 3 * mesh->n_node; i++) finite &= isfinite(mesh->xyz[i]) != 0;
    for (size_t s = 0; s < mesh->n_set; s++) {
        const hx_set *const set = &mesh->set[s];
        fuzz_require(set->name && set->name[0], "a set has a name");
        for (int64_t i = 0; i < set->n_node; i++)
            in_range &= set->node[i] >= 0 && set->node[i] < mesh->n_node;
        for (int64_t i = 0; i < set->n_elem; i++)
            in_range &= set->elem[i] >= 0 && set->elem[i] < mesh->n_elem;
        for (int64_t i = 0; i < set->n_face; i++)
            in_range &= set->face[i] >= 0 && set->face[i] < 6 * mesh->n_elem;
    }
    fuzz_require(in_range, "an accepted mesh has its indices in range");
    fuzz_require(finite, "an accepted mesh has finite coordinates");
    fuzz_require(isfinite(mesh->total_volume) && mesh->total_volume > 0.0 &&
                     isfinite(mesh->elem_size) && mesh->elem_size > 0.0,
                 "an accepted mesh has a volume");
}
