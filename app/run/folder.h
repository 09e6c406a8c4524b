/* What a run would lose in the folder that it writes to. */
#ifndef HX_RUN_FOLDER_H
#define HX_RUN_FOLDER_H

#include "../output/output.h"

/* HX_EINPUT, with the place of the key: output.directory has a config.cfg that hextop did not
 * write, or the checkpoint of a run that did not end; mesh.file or optimization.initial has the
 * name of a file that the run will write. Results of a run that ended are replaced. */
int hx_run_check_folder(const hx_config *cfg);

/* Results of an earlier run that this one is to replace. */
typedef struct hx_run_leftovers {
    size_t n;
    char **name; /* [n] in the folder (owned, as the names) */
} hx_run_leftovers;

/* Removes what an earlier run and its verification left there and might be taken for this run's:
 * results that its density.vtk.series names, verify.json and report.html where hextop wrote them.
 * Results of the names that this run will write stay until it does, in *left (zeroed before). Files
 * that this run reads stay, as do those of other names. Before the series is removed. HX_ENOMEM. */
int hx_run_clear_folder(const hx_config *cfg, hx_run_leftovers *left);

/* After the last design: those that were not written. */
void hx_run_clear_rest(const hx_config *cfg, const hx_run_leftovers *left, const hx_output *out);
void hx_run_leftovers_free(hx_run_leftovers *left);

#endif
