/* Lines of the selftest on the terminal and as JSON. */
#ifndef HX_SELFTEST_REPORT_H
#define HX_SELFTEST_REPORT_H

#include "selftest.h"

/* Context of hx_selftest.begin and .end, zeroed by the caller: prints lines by device and section
 * as checks end, with -q only failures. */
typedef struct hx_selftest_report {
    const char *device, *section; /* device and section of the last printed line */
} hx_selftest_report;

void hx_selftest_report_begin(void *context, const char *section, const char *what);
void hx_selftest_report_end(void *context, const hx_selftest_line *line);

/* "118 checks, 0 failed, 12 s on cpu (OpenMP, 2 threads)"; devices: as they are named there. */
void hx_selftest_report_sum(const hx_selftest *t, double seconds, const char *devices);

/* HX_EIO. */
int hx_selftest_write_json(const hx_selftest *t, double seconds, const char *devices,
                           const char *path);

#endif
