/* Files in the output folder that a run would replace. */
#ifndef HX_RUN_FOLDER_H
#define HX_RUN_FOLDER_H

#include "../output/output.h"

/* HX_EINPUT, with the place of the key: output.directory has a config.cfg that hextop did not
 * write, or the checkpoint of a run that did not end; mesh.file or the design that
 * optimization.initial names by file, series or folder is a file that the run can replace. Results
 * of a run that ended are replaced. With force, nothing is refused; a warning names each file
 * without which the new config.cfg cannot repeat the run. HX_ENOMEM. */
int hx_run_check_folder(const hx_config *cfg, int force);

/* Results of an earlier run that this run will replace. */
typedef struct hx_run_leftovers {
    size_t n;
    char **name; /* [n] names in the folder (owned, like the array) */
} hx_run_leftovers;

/* Removes files of an earlier run and its verification that might be mistaken for results of this
 * run: those named by its density.vtk.series, and verify.json, surface.json and report.html if
 * hextop wrote them. Results whose names this run will write stay until then, and are listed in
 * *left (zeroed before). Files that this run reads and files of other names stay. Call before the
 * series is removed. HX_ENOMEM. */
int hx_run_clear_folder(const hx_config *cfg, hx_run_leftovers *left);

/* Called after the last design: removes those results that this run did not write. */
void hx_run_clear_rest(const hx_config *cfg, const hx_run_leftovers *left, const hx_output *out);
void hx_run_leftovers_free(hx_run_leftovers *left);

#endif
