/* Lines of an Abaqus input file: comments and blank lines passed over, keyword lines taken apart,
 * *INCLUDE followed. Knows nothing of meshes. Faults are HX_EINPUT that begin with "FILE:LINE: ",
 * of the included file where there is one. Not installed. */
#ifndef HX_ABAQUS_SCAN_H
#define HX_ABAQUS_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HX_ABAQUS_DEPTH = 8, HX_ABAQUS_PARAMETERS = 32 };

typedef struct hx_abaqus_file {
    FILE *stream; /* (owned) */
    char *path;   /* (owned) */
    int64_t line; /* 1-based, of the last line read */
} hx_abaqus_file;

typedef enum { HX_ABAQUS_END, HX_ABAQUS_KEYWORD, HX_ABAQUS_DATA } hx_abaqus_line;

typedef struct hx_abaqus_scan {
    hx_abaqus_file file[HX_ABAQUS_DEPTH];
    int depth;      /* files open; 0: at the end */
    int n_included; /* files so far, but the first */
    char *text;     /* the last line, without its end (owned) */
    int is_again;   /* it is the next one, too */
    /* Gets the text of each comment, without the stars and the blanks around it; or NULL. */
    int (*comment)(void *context, const char *text);
    void *comment_context; /* (borrowed) */
    size_t capacity;

    /* The last keyword line, with its continuations: the keyword in capitals and without blanks,
     * names of parameters with one blank between words, values as they stand without the blanks and
     * quotes around them. */
    char *keyword_text; /* (owned) */
    size_t keyword_capacity;
    const char *keyword;    /* "SOLIDSECTION" */
    char keyword_shown[48]; /* "SOLID SECTION", cut if it is longer */
    int64_t keyword_line;
    int n_parameter;
    struct {
        const char *name, *value; /* value "" where there is none */
    } parameter[HX_ABAQUS_PARAMETERS];
} hx_abaqus_scan;

int hx_abaqus_scan_open(hx_abaqus_scan *scan, const char *path);
void hx_abaqus_scan_free(hx_abaqus_scan *scan);

/* The next line that is a keyword or data; *INCLUDE is done here. */
int hx_abaqus_scan_line(hx_abaqus_scan *scan, hx_abaqus_line *kind);

/* A place between two lines, to read from again. */
typedef struct hx_abaqus_mark {
    char *path; /* (owned) */
    long offset;
    int64_t line;
} hx_abaqus_mark;

/* Of the line that comes next; the mark is the caller's to free. */
int hx_abaqus_scan_mark(const hx_abaqus_scan *scan, hx_abaqus_mark *mark);
void hx_abaqus_mark_free(hx_abaqus_mark *mark);

/* Goes on at the mark, above the files that are open; hx_abaqus_scan_leave goes back. */
int hx_abaqus_scan_enter(hx_abaqus_scan *scan, const hx_abaqus_mark *mark);
void hx_abaqus_scan_leave(hx_abaqus_scan *scan);

/* Whether two words differ in blanks at most. */
int hx_abaqus_same_word(const char *a, const char *b);

/* Value of a parameter of the keyword, NULL if it was not given. */
const char *hx_abaqus_parameter(const hx_abaqus_scan *scan, const char *name);

/* Line number in the first file, 0 while another is read. */
int64_t hx_abaqus_scan_number(const hx_abaqus_scan *scan);

/* Path of the file that is read. */
const char *hx_abaqus_scan_path(const hx_abaqus_scan *scan);

/* Puts "path:line: " of the last line before the message just raised; returns code. */
int hx_abaqus_scan_place(const hx_abaqus_scan *scan, int code);

#define HX_ABAQUS_RAISE(scan, ...) hx_abaqus_scan_place((scan), HX_RAISE(HX_EINPUT, __VA_ARGS__))

/* Cuts the next field off a data line (blanks around it removed, in place) and moves *at behind its
 * comma; 0 when nothing is left. A comma at the line's end begins no field. */
int hx_abaqus_field(char **at, char **field);

/* The field as a number; HX_EINPUT names it as `what`. An empty field is 0. */
int hx_abaqus_int(const hx_abaqus_scan *scan, const char *field, const char *what, int64_t *value);
int hx_abaqus_real(const hx_abaqus_scan *scan, const char *field, const char *what, double *value);

#ifdef __cplusplus
}
#endif

#endif
