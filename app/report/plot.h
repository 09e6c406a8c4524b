/* Line and bar charts as SVG, in the colours of the page's style sheet. */
#ifndef HX_PLOT_H
#define HX_PLOT_H

#include <stddef.h>
#include <stdio.h>

enum { HX_PLOT_MAX = 8, HX_PLOT_MAX_TICK = 16 };

/* Ticks at 1, 2 or 5 times powers of ten; on a logarithmic axis possibly only at some powers of
 * ten. */
typedef struct hx_ticks {
    int is_log, n;
    double low, high; /* ends of the axis */
    double at[HX_PLOT_MAX_TICK];
} hx_ticks;

typedef struct hx_plot_line {
    const char *name;
    int colour;      /* its class in the style sheet: "s0", "s1", ... */
    const double *y; /* [n] values at x = 1, 2, ...; NAN leaves a gap (borrowed) */
    size_t n;
} hx_plot_line;

typedef struct hx_plot {
    const char *title, *unit;     /* name and unit: "Compliance", " N mm" or "" */
    const char *x_name, *x_short; /* "Design iteration", "iteration" */
    int is_log;                   /* 1: all values are positive and span several decades */
    int from_zero;                /* 1: the axis begins at zero */
    size_t n_line;
    hx_plot_line line[HX_PLOT_MAX]; /* lines, or layers of stacked bars */
    size_t n_level;
    double level[2]; /* limits, drawn across the figure */
} hx_plot;

/* Writes a figure with a heading, or nothing if no value is finite. */
void hx_plot_lines(const hx_plot *plot, FILE *f);
/* Writes a figure of stacked bars; if there are many iterations, a bar stands for several. */
void hx_plot_bars(const hx_plot *plot, FILE *f);

#endif
