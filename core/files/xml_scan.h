/* A pull parser of XML files: elements, attributes and text in sequence. It is strict about errors
 * (mismatched tags, repeated attributes), except for '<' and '&' in attributes, which VTK does not
 * escape. Depth and length are bounded. DTDs, user-defined entities, name spaces and encodings
 * other than UTF-8 are not supported. Independent of formats: readers of VTK's files use it. The
 * whole file is in memory, and text is returned in place.
 *
 *     hx_xml_open(&xml, path);
 *     do HX_TRY(hx_xml_next(&xml, &event)); while (event != HX_XML_END_OF_FILE);
 *     hx_xml_free(&xml);
 *
 * Every error is HX_EINPUT with a message that starts with path and line, or HX_EIO. Not
 * installed. */
#ifndef HX_XML_SCAN_H
#define HX_XML_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "../base/error.h"

enum { HX_XML_DEPTH = 64, HX_XML_ATTRIBUTES = 64, HX_XML_NAME_SIZE = 64, HX_XML_TEXT_SIZE = 8192 };

typedef enum { HX_XML_START, HX_XML_END, HX_XML_TEXT, HX_XML_END_OF_FILE } hx_xml_event;

typedef struct hx_xml_pair {
    const char *name, *value; /* the value with entities decoded, in hx_xml_scan.decoded */
} hx_xml_pair;

typedef struct hx_xml_scan {
    char *path;        /* (owned) */
    char *data;        /* [size + 1], ends with a 0 (owned) */
    size_t size, next; /* in bytes; position of the next byte to read */
    int64_t line;      /* 1-based line of `next` */
    int64_t at_line;   /* where the last event began */

    int depth;    /* number of open elements */
    int is_empty; /* the last start was <name/>, so its end follows */
    int has_root; /* 1: an element has been read */
    char open[HX_XML_DEPTH][HX_XML_NAME_SIZE];
    const char *name; /* name of the last start or end */

    int n_attribute; /* attributes of the last start */
    hx_xml_pair attribute[HX_XML_ATTRIBUTES];
    char decoded[HX_XML_TEXT_SIZE]; /* names and values */
    size_t n_decoded;

    /* the last text as it stands in the file: [n_text], without a terminating 0 */
    const char *text;
    size_t n_text;
} hx_xml_scan;

/* Reads the file into memory. */
int hx_xml_open(hx_xml_scan *xml, const char *path);
void hx_xml_free(hx_xml_scan *xml);

/* Reads the next start, end or text that is not only blanks; comments and instructions are skipped.
 * The end of the file is an event only if all elements are closed. */
int hx_xml_next(hx_xml_scan *xml, hx_xml_event *event);

/* Skips the rest of the element that the last start opened. */
int hx_xml_skip(hx_xml_scan *xml);

/* Value of an attribute of the last start, or NULL. Valid until the next start. */
const char *hx_xml_attribute(const hx_xml_scan *xml, const char *name);

/* Value of an attribute as an integer >= 0; absent: `otherwise`, or an error if that is below 0. */
int hx_xml_count(const hx_xml_scan *xml, const char *name, int64_t otherwise, int64_t *count);

/* Line of a position in the file's data. O(distance from `from`, whose line is known). */
int64_t hx_xml_line_of(const char *from, int64_t line, const char *to);

/* Prefixes the message just raised with "path:line: ". Returns code. */
int hx_xml_place(const hx_xml_scan *xml, int64_t line, int code);

#define HX_XML_RAISE(xml, line, ...)                                                               \
    HX_PLACED(HX_EINPUT, hx_xml_place((xml), (line), HX_RAISE(HX_EINPUT, __VA_ARGS__)))

#endif
