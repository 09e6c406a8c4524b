/* The folder of a run, given as files after lines "=== NAME" and read like by `report`, `surface`
 * and `run`: the result through its series, densities with the mesh of the config and without it,
 * summary, verification and history, and the report page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/config.h"
#include "app/report/report.h"
#include "app/result/surface_source.h"
#include "app/run/folder.h"
#include "core/files/result_match.h"
#include "fuzz.h"

static const char *const names[] = {
    "config.cfg",       "summary.json",       "verify.json", "history.csv", "density_0001.vtk",
    "density_0002.vtk", "density.vtk.series", "verify.vtk",  "mesh.vtk",    "checkpoint.state"};
enum { N_NAME = sizeof names / sizeof names[0], MOST_CELLS = 4000 };

/* --- the folder --- */

static int find_name(const char *name, size_t n)
{
    for (int i = 0; i < N_NAME; i++)
        if (strlen(names[i]) == n && memcmp(names[i], name, n) == 0) return i;
    return -1;
}

static void remove_files(void)
{
    char path[FUZZ_PATH];
    for (int i = 0; i < N_NAME; i++) remove(fuzz_path(names[i], path));
    remove(fuzz_path("report.html", path));
}

/* Position of the next "\n=== ", or the end. */
static const char *find_part(const char *at, const char *end)
{
    for (; at + 4 < end; at++)
        if (at[0] == '=' && memcmp(at, "=== ", 4) == 0) return at;
    return end;
}

static void write_files(const char *at, const char *end)
{
    char path[FUZZ_PATH];
    for (at = find_part(at, end); at < end;) {
        const char *const name = at + 4, *const line = memchr(name, '\n', (size_t)(end - name));
        if (!line) return;
        const int which = find_name(name, (size_t)(line - name));
        at = find_part(line + 1, end);
        if (which >= 0)
            fuzz_write(fuzz_path(names[which], path), line + 1, (size_t)(at - line - 1));
    }
}

/* --- as commands read it --- */

/* 0 for a config whose mesh would be large or is not in the folder. */
static int is_small(const hx_config *cfg)
{
    const double n[3] = {cfg->mesh.nx, cfg->mesh.ny, cfg->mesh.nz};
    double product = 1.0;
    if (cfg->mesh.file) return strcmp(cfg->mesh.file, "mesh.vtk") == 0;
    for (int d = 0; d < 3; d++) product *= n[d] > 0 ? n[d] : 2.0;
    return cfg->mesh.size == 0 && product <= MOST_CELLS && n[0] <= 40 && n[1] <= 40 && n[2] <= 40;
}

/* 1 if the folder has a config from which a run can be resumed. */
static int check_config(const char *folder)
{
    char path[FUZZ_PATH];
    hx_config cfg = {0};
    FILE *const f = fopen(fuzz_path("config.cfg", path), "r");
    int is_usable = 1; /* without one, too */
    if (!f) return 1;
    fclose(f);
    if (fuzz_accepted(hx_config_read(&cfg, path, 0, NULL))) {
        is_usable = is_small(&cfg);
        if (is_usable && hx_config_set_word(&cfg.output.directory, folder) == HX_OK)
            (void)fuzz_accepted(hx_run_check_folder(&cfg, 0));
    }
    hx_config_free(&cfg);
    return is_usable;
}

static void read_densities(const char *folder, const char *config)
{
    hx_surface_source source;
    if (fuzz_accepted(hx_surface_source_open(&source, folder, config, 0, 0))) {
        fuzz_require_mesh(source.mesh);
        for (int64_t e = 0; e < source.mesh->n_elem; e++)
            fuzz_require(source.rho[e] - source.rho[e] == 0.0, "accepted densities are finite");
    }
    hx_surface_source_free(&source);
}

static void make_page(const char *folder)
{
    hx_report report = {.n_run = 1, .title = "fuzz", .n_triangle = 100};
    hx_report_run *const run = &report.run[0];
    char *text = NULL;
    size_t n = 0;
    const hx_output_names outputs = {0};
    int rc = hx_report_read(run, folder, &outputs);
    if (rc == HX_OK) rc = hx_strdup(&run->label, "fuzz");
    if (rc == HX_OK) rc = hx_report_make_part(run, report.n_triangle);
    if (rc == HX_OK) {
        FILE *const f = open_memstream(&text, &n);
        if (!f) abort();
        hx_report_judge(run);
        report.title = hx_report_title(run);
        rc = hx_report_write_page(&report, f);
        fclose(f);
        free(text);
    }
    (void)fuzz_accepted(rc);
    hx_report_free_run(run);
}

void fuzz_results(const uint8_t *data, size_t size)
{
    char folder[FUZZ_PATH];
    fuzz_path("", folder);
    folder[strlen(folder) - 1] = '\0';
    remove_files();
    write_files((const char *)data, (const char *)data + size);
    if (!check_config(folder)) return;
    read_densities(folder, size % 2 ? "none" : NULL);
    make_page(folder);
}
