/* Splits Nastran bulk data into cards: free, small and large fields, continuations, INCLUDE.
 * Independent of the meaning of cards. Not installed. */
#ifndef HX_NASTRAN_SCAN_H
#define HX_NASTRAN_SCAN_H

#include "file_scan.h"

enum { HX_NASTRAN_DEPTH = 16, HX_NASTRAN_FIELD = 32, HX_NASTRAN_LINE = 512 };

typedef struct hx_nastran_scan {
    /* the file that is being read comes last, after the files that include it */
    hx_file_scan file[HX_NASTRAN_DEPTH];
    int depth;                   /* number of open files */
    int has_bulk;                /* the bulk data section has begun */
    int64_t line;                /* 1-based line where the card began */
    char path[HX_NASTRAN_LINE];  /* path of its file */
    char name[HX_NASTRAN_FIELD]; /* name of the card, upper case, without '*' */
    size_t n_field, capacity;
    char (*field)[HX_NASTRAN_FIELD]; /* [n_field] without blanks; [0] is the first behind the name
                                        (owned) */
    char ahead[HX_NASTRAN_LINE];     /* a line that has been read but not used; "": none */
    int64_t ahead_line;
    int is_ahead;
} hx_nastran_scan;

int hx_nastran_open(hx_nastran_scan *scan, const char *path);
void hx_nastran_free(hx_nastran_scan *scan);

/* Before the bulk data: reads the next line of case control, without its comment, into text[n];
 * *found = 0 where the bulk data begin. */
int hx_nastran_control(hx_nastran_scan *scan, char *text, size_t n, int *found);

/* Reads the next card; *found = 0 at ENDDATA or the end of the file. */
int hx_nastran_card(hx_nastran_scan *scan, int *found);

/* Parses field i, from 0, as a number; blank or missing: `otherwise`. */
int hx_nastran_int(const hx_nastran_scan *scan, size_t i, int64_t otherwise, int64_t *value);
int hx_nastran_real(const hx_nastran_scan *scan, size_t i, double otherwise, double *value);

/* Returns the text of field i; "" if it is missing. */
const char *hx_nastran_text(const hx_nastran_scan *scan, size_t i);

/* Prefixes the message just raised with "path:line: NAME: ". Returns code. */
int hx_nastran_place(const hx_nastran_scan *scan, int code);

#define HX_NASTRAN_RAISE(scan, ...)                                                                \
    HX_PLACED(HX_EINPUT, hx_nastran_place((scan), HX_RAISE(HX_EINPUT, __VA_ARGS__)))

#endif
