/* The data that `hextop report` reads about runs, and the pieces of its page. */
#ifndef HX_REPORT_H
#define HX_REPORT_H

#include "../config/units.h"
#include "../session/output_names.h"
#include "../text/csv_read.h"
#include "../text/json_read.h"
#include "core/base/memory.h"
#include "core/surface/surface_simplify.h"

enum {
    HX_REPORT_MAX_RUN = 8,
    HX_REPORT_MAX_FIELD = 3,
    HX_REPORT_MAX_MARK = 8,
    HX_REPORT_MAX_NOTE = 64
};

typedef enum {
    HX_RUN_DONE,
    HX_RUN_INTERRUPTED,
    HX_RUN_FAILED,
    HX_RUN_GOING,  /* a process has locked the folder */
    HX_RUN_UNKNOWN /* no process has locked it, and there is no summary */
} hx_run_state;

/* Lines of text. */
typedef struct hx_report_lines {
    size_t n;
    char *line[HX_REPORT_MAX_NOTE]; /* (owned) */
} hx_report_lines;

/* A scalar field that colours the vertices. */
typedef struct hx_report_field {
    const char *name, *label; /* "density"; "Density just inside the surface" */
    const char *unit;         /* as in hx_units */
    float *value;             /* [n_vertex] (owned) */
    double low, high;         /* range of the colours */
    double least, most;       /* range over the surface */
    int is_cut;               /* 1: `high` is below the largest value */
    int is_mask;              /* 1: above 0.5, stresses have no limit */
} hx_report_field;

/* A value that the legend of stresses names. */
typedef struct hx_report_mark {
    char name[96]; /* "limit 'strong'", "material.strength" */
    double value;
} hx_report_mark;

/* What the legend of stresses states. */
typedef struct hx_report_stress {
    int is_there;
    hx_report_mark mark[HX_REPORT_MAX_MARK];
    size_t n_mark;
    double bound;    /* largest limit, otherwise material.strength; NAN: neither */
    char zones[512]; /* what has no limit; "": all has one */
    int n_case;
    /* 1: the largest value outside the zones is known from verify.json, with the members below */
    int is_verified;
    double largest, point[3];
    int load_case;
    double in_zones, safety; /* NAN: unknown */
} hx_report_stress;

/* The surface of the last design. */
typedef struct hx_report_part {
    int is_there;
    hx_surface surface; /* simplified (owned) */
    hx_surface_report shape;
    hx_surface_simplification simplified;
    double threshold, seconds;
    double step[3]; /* spacing of the coordinates after rounding for the page (length) */
    hx_report_field field[HX_REPORT_MAX_FIELD];
    size_t n_field;
    hx_report_stress stress;
    int is_alone; /* 1: made only from the densities, without the config */
} hx_report_part;

typedef struct hx_report_run {
    const char *folder; /* as given (borrowed) */
    char *label;        /* a short text that differs between the runs (owned) */
    hx_run_state state;
    hx_json_tree summary, verify; /* root = NULL: there is no such file */
    hx_json_tree search;          /* lightest.json of the search of which the run is a try */
    hx_json_tree settings;        /* settings from config.cfg if there is no summary */
    hx_csv history;               /* n_row = 0: there is no history */
    hx_units units;
    char *result; /* path of the file with the last densities; NULL: none (owned) */
    char *stress; /* path of the file with stresses that verify wrote; NULL: none (owned) */
    int is_heat;
    int64_t bytes; /* number of encoded bytes of the run's part on the page */
    hx_report_part part;
    hx_report_lines missing; /* notes on missing files and fields */
    hx_report_lines warning;
} hx_report_run;

typedef struct hx_report {
    hx_report_run run[HX_REPORT_MAX_RUN];
    size_t n_run;
    const char *title;  /* of the page */
    int64_t n_triangle; /* maximum number of triangles per part */
} hx_report;

void hx_report_say(hx_report_lines *lines, const char *fmt, ...) HX_PRINTF(2, 3);

/* Reads the files of a folder. A file that cannot be read is noted in run->missing. HX_EINPUT: it
 * is not a folder, or not that of a run, or one of `outputs` is a file that is read. */
int hx_report_read(hx_report_run *run, const char *folder, const hx_output_names *outputs);
/* Makes run->part from run->result; if that is impossible, run->missing states the reason.
 * HX_ENOMEM. */
int hx_report_make_part(hx_report_run *run, int64_t n_triangle);
/* Accepts a zeroed run. */
void hx_report_free_run(hx_report_run *run);

/* Collects the warnings about the run, its solves, its verification and the shape of its part. */
void hx_report_judge(hx_report_run *run);

/* The settings of a run as a JSON object; NULL: unknown. */
const hx_json_value *hx_report_settings(const hx_report_run *run);
/* Formats a number for readers, such as "1,234" or "0.01235"; "-" for NaN. Returns text. */
const char *hx_report_number(double value, char *text, size_t n_text);
/* " <small>+3.1 %</small>" */
void hx_report_write_difference(double first, double value, FILE *f);

/* 1 if a summary or verification has compliances without ratios (compliance_ratio.h). */
int hx_report_is_shifted(const hx_json_value *root);
/* The units of all runs; empty ones if they differ. */
const hx_units *hx_report_units(const hx_report *report);
/* Title of a run, or its folder if it has no title. */
const char *hx_report_title(const hx_report_run *run);
/* "done", "still running" */
const char *hx_report_state_text(const hx_report_run *run);

/* --- pieces of the page --- */

int hx_report_write_page(const hx_report *report, FILE *f);
void hx_report_write_plots(const hx_report *report, FILE *f);       /* report_plots.c */
void hx_report_write_limit_plots(const hx_report *report, FILE *f); /* report_limits.c */
void hx_report_write_limits(const hx_report_run *run, FILE *f);
/* A table row per limit, with its value in each of n analyses of verify.json. */
void hx_report_write_made_limits(size_t n, const hx_json_value *const *analysis, FILE *f);
void hx_report_write_stages(const hx_report_run *run, FILE *f);
void hx_report_write_comparison(const hx_report *report, FILE *f); /* report_tables.c */
void hx_report_write_figures(const hx_report_run *run, FILE *f);
void hx_report_write_settings(const hx_report_run *run, FILE *f);
void hx_report_write_machine(const hx_report_run *run, FILE *f);
void hx_report_write_verify(const hx_report_run *run, FILE *f);
int hx_report_write_viewer(const hx_report *report, size_t i, FILE *f); /* report_viewer.c */
/* The colours of a field; for stresses also bounds, zones and largest value. */
void hx_report_write_legend(const hx_report_field *field, FILE *f);
void hx_report_write_stress_legend(const hx_report_run *run, const hx_report_field *field, FILE *f);

/* Lines of report.css and report.js, which the build converts to C; they end with NULL. */
extern const char *const hx_report_css[], *const hx_report_js[];

/* Writes table rows, without the head, of the settings that differ between runs. */
void hx_report_write_differences(const hx_report *report, FILE *f);

#endif
