/* Files of pre-processors that another program converts to meshes. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "gmsh_program.h"
#include "model_files.h"

/* Returns HX_EINPUT if gmsh wrote no mesh, with gmsh's message. */
static int judge_conversion(const char *path, const char *out, const hx_gmsh_program *program,
                            const hx_gmsh_result *result)
{
    struct stat info;
    if (strstr(result->error, "MED") || strstr(result->process.tail, "MED support"))
        return HX_RAISE(
            HX_EINPUT,
            "%s: the installed gmsh (%s) was built without MED, like Debian's: convert the file "
            "(meshio convert FILE.med OUT.vtu), or export it from Salome as .unv",
            path, program->version);
    if (result->n_error == 0 && stat(out, &info) == 0 && info.st_size > 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s: gmsh made no mesh of it%s%s", path,
                    result->error[0] ? ": " : "", result->error);
}

/* Makes a path absolute; the caller frees *full. */
static int find_full(const char *path, char **full)
{
    char folder[PATH_MAX] = "";
    const char *why;
    FILE *const f = hx_input_open(path, &why);
    if (!f) return HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    const int is_empty = fgetc(f) == EOF;
    fclose(f);
    if (is_empty) return HX_RAISE(HX_EINPUT, "%s: the file is empty", path);
    if (path[0] != '/' && !getcwd(folder, sizeof folder))
        return HX_RAISE(HX_EIO, "the working directory: %s", strerror(errno));
    const size_t n = strlen(folder) + strlen(path) + 2;
    HX_TRY(hx_alloc(full, n, 1, "the name of a file"));
    snprintf(*full, n, "%s%s%s", folder, folder[0] ? "/" : "", path);
    return HX_OK;
}

/* Raises an error in gmsh's file, which is deleted after the conversion, as an error of the user's
 * file. */
static int raise_converted(const char *path, const char *out)
{
    char said[1024];
    const size_t n = strlen(out);
    /* A file of gmsh's format has a section of nodes. */
    char line[64];
    int any = 0, begins = 1;
    FILE *const f = fopen(out, "rb");
    while (f && !any && fgets(line, sizeof line, f)) {
        any = begins && strncmp(line, "$Nodes", 6) == 0;
        begins = strchr(line, '\n') != NULL; /* of a longer line, only a part is read */
    }
    if (f) fclose(f);
    if (!any) return HX_RAISE(HX_EINPUT, "%s: gmsh reads the file, but finds no mesh in it", path);
    snprintf(said, sizeof said, "%s", hx_error_message());
    const int is_named = strncmp(said, out, n) == 0;
    return HX_RAISE(HX_EINPUT, "%s, as gmsh converted it%s%s", path, is_named ? "" : ": ",
                    said + (is_named ? n : 0));
}

/* Notes of the reader name the user's file, too. */
static int rename_notes(const char *path, const char *out, size_t first, hx_notes *notes)
{
    const size_t n = strlen(out);
    for (size_t i = first; notes && i < notes->n; i++) {
        char *const text = notes->note[i].text, *renamed = NULL;
        if (strncmp(text, out, n) != 0) continue;
        const size_t n_new = strlen(path) + strlen(text + n) + 1;
        HX_TRY(hx_alloc(&renamed, n_new, 1, "notes"));
        snprintf(renamed, n_new, "%s%s", path, text + n);
        notes->note[i].text = renamed;
        free(text);
    }
    return HX_OK;
}

/* Converts a file that gmsh can open to gmsh's own format in a scratch folder; groups are kept. */
static int read_by_gmsh(const char *path, const hx_model_options *options, hx_mesh *mesh,
                        hx_conditions *conditions, hx_notes *notes)
{
    char *folder = NULL, *out = NULL;
    int rc = HX_OK;
    hx_gmsh_program program = {0};
    hx_gmsh_result result;
    char *full = NULL;
    const double limit = options->time_limit > 0.0 ? options->time_limit : HX_MODEL_TIME_LIMIT;
    memset(&result, 0, sizeof result);
    HX_TRY(find_full(path, &full));
    const char *const option[] = {full,   "-save", "-save_all", "-format", "msh41",
                                  "-bin", "-o",    "out.msh",   NULL};
    HX_TRY_FAIL(hx_gmsh_find(&program));
    HX_TRY_FAIL(hx_scratch_create(&folder));
    HX_TRY_FAIL(hx_scratch_path(folder, "out.msh", &out));
    const hx_gmsh_job job = {.folder = folder,
                             .option = option,
                             .time_limit = limit,
                             .what = path,
                             .is_cancelled = options->is_cancelled,
                             .context = options->context};
    rc = hx_gmsh_run(&program, &job, notes, &result);
    if (rc == HX_OK || rc == HX_EINPUT) {
        const int verdict = judge_conversion(path, out, &program, &result);
        if (rc == HX_OK || verdict < 0) rc = verdict;
    }
    HX_TRY_FAIL(rc);
    const size_t n_note = notes ? notes->n : 0;
    rc = hx_mesh_read(out, options->merge, mesh, conditions, notes);
    if (rc == HX_EINPUT) rc = raise_converted(path, out);
    if (rc == HX_OK) rc = rename_notes(path, out, n_note, notes);
fail:
    hx_gmsh_release(&program);
    hx_scratch_remove(folder);
    free(out);
    free(full);
    return rc;
}

const hx_model_format hx_converter_formats[] = {
    {"MED", ".med", NULL, read_by_gmsh},
    {NULL},
};
