/* Lines of an Abaqus input file: skips comments and blank lines, parses keyword lines, follows
 * *INCLUDE. Independent of meshes. Errors are HX_EINPUT and begin with "FILE:LINE: ", of the
 * included file if there is one. Not installed. */
#ifndef HX_ABAQUS_SCAN_H
#define HX_ABAQUS_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/notes.h"

enum { HX_ABAQUS_DEPTH = 8, HX_ABAQUS_PARAMETERS = 32 };

typedef struct hx_abaqus_file {
    FILE *stream; /* (owned) */
    char *path;   /* (owned) */
    int64_t line; /* 1-based number of the last line read */
} hx_abaqus_file;

typedef enum { HX_ABAQUS_END, HX_ABAQUS_KEYWORD, HX_ABAQUS_DATA } hx_abaqus_line;

typedef struct hx_abaqus_scan {
    hx_abaqus_file file[HX_ABAQUS_DEPTH];
    int depth;       /* number of open files; 0: at the end */
    int n_included;  /* files included so far */
    int n_beside;    /* of these, files found only beside the including file */
    hx_notes *notes; /* (borrowed), or NULL */
    /* HX_ABAQUS_JOINS was read: sets of one name form one set of all kinds */
    int joins_names;
    char *text;   /* the last line, without its line end (owned) */
    int is_again; /* 1: the last line is returned once more as the next one */
    /* Receives the text of each comment, without the stars and the blanks around it; or NULL. */
    int (*comment)(void *context, const char *text);
    void *comment_context; /* (borrowed) */
    size_t capacity;

    /* The last keyword line with its continuation lines. The keyword is in capitals without blanks,
     * names of parameters have single blanks between words, and values lack the blanks and quotes
     * around them. */
    char *keyword_text; /* (owned) */
    size_t keyword_capacity;
    const char *keyword;    /* "SOLIDSECTION" */
    char keyword_shown[48]; /* "SOLID SECTION", cut if it is longer */
    int64_t keyword_line;
    int n_parameter;
    struct {
        const char *name, *value; /* value is "" if none is given */
    } parameter[HX_ABAQUS_PARAMETERS];
} hx_abaqus_scan;

/* A comment that hextop writes before a set that continues under another keyword. */
#define HX_ABAQUS_JOINS "** hextop: sets of one name are one set"

int hx_abaqus_scan_open(hx_abaqus_scan *scan, const char *path);
void hx_abaqus_scan_free(hx_abaqus_scan *scan);

/* Returns the next line that is a keyword or data; *INCLUDE is resolved here. */
int hx_abaqus_scan_line(hx_abaqus_scan *scan, hx_abaqus_line *kind);

/* A position between two lines from which reading can resume. */
typedef struct hx_abaqus_mark {
    char *path; /* (owned) */
    long offset;
    int64_t line;
} hx_abaqus_mark;

/* Marks the position of the next line; the caller frees the mark. */
int hx_abaqus_scan_mark(const hx_abaqus_scan *scan, hx_abaqus_mark *mark);
void hx_abaqus_mark_free(hx_abaqus_mark *mark);

/* Continues reading at the mark, on top of the open files; hx_abaqus_scan_leave returns to them. */
int hx_abaqus_scan_enter(hx_abaqus_scan *scan, const hx_abaqus_mark *mark);
void hx_abaqus_scan_leave(hx_abaqus_scan *scan);

/* Returns 1 if two words are equal apart from blanks. */
int hx_abaqus_same_word(const char *a, const char *b);

/* Returns the value of a parameter of the keyword, NULL if it was not given. */
const char *hx_abaqus_parameter(const hx_abaqus_scan *scan, const char *name);

/* Returns the line number in the first file, 0 while another file is read. */
int64_t hx_abaqus_scan_number(const hx_abaqus_scan *scan);

/* Returns the path of the file that is being read. */
const char *hx_abaqus_scan_path(const hx_abaqus_scan *scan);

/* Prefixes the message just raised with "path:line: " of the last line; returns code. */
int hx_abaqus_scan_place(const hx_abaqus_scan *scan, int code);

#define HX_ABAQUS_RAISE(scan, ...)                                                                 \
    HX_PLACED(HX_EINPUT, hx_abaqus_scan_place((scan), HX_RAISE(HX_EINPUT, __VA_ARGS__)))

/* Cuts the next field off a data line in place, without the blanks around it, and moves *at past
 * its comma; returns 0 if nothing is left. A comma at the end of a line begins no field. */
int hx_abaqus_field(char **at, char **field);

/* Parses the field as a number; HX_EINPUT names it by `what`. An empty field is 0. */
int hx_abaqus_int(const hx_abaqus_scan *scan, const char *field, const char *what, int64_t *value);
int hx_abaqus_real(const hx_abaqus_scan *scan, const char *field, const char *what, double *value);

#endif
