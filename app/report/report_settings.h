/* A run's settings as rows: "optimization.filter.radius", "2". */
#ifndef HX_REPORT_SETTINGS_H
#define HX_REPORT_SETTINGS_H

#include "report.h"

typedef struct hx_report_row {
    char *name, *value; /* (owned) */
} hx_report_row;

typedef struct hx_report_rows {
    size_t n, capacity;
    hx_report_row *row; /* (owned) */
} hx_report_rows;

int hx_report_rows_make(hx_report_rows *rows, const hx_report_run *run);
void hx_report_rows_free(hx_report_rows *rows);

/* Writes table rows, without the head, of the settings that differ between runs. */
void hx_report_write_differences(const hx_report *report, FILE *f);

#endif
