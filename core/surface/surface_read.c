/* Reads STL and PLY, text and binary, to a list of triangles with shared vertices. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/input_file.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "surface_internal.h"

/* Largest coordinate: products of coordinates must be finite, and they must fit a float. */
static const double most_place = 1e30;

/* A file in memory, and the surface made from it. */
typedef struct reader {
    const char *path;
    unsigned char *text; /* [n + 1], terminated by 0 (owned) */
    size_t n, at;
    int64_t line;
    hx_surface *surface;
    size_t vertex_capacity, tri_capacity;
} reader;

static int load_surface(reader *r)
{
    const char *fault;
    FILE *const stream = hx_input_open(r->path, &fault);
    long size = -1;
    if (!stream) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", r->path, fault);
    if (fseek(stream, 0, SEEK_END) == 0) size = ftell(stream);
    if (size < 0 || fseek(stream, 0, SEEK_SET) != 0) {
        const int why = errno;
        fclose(stream);
        return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", r->path, strerror(why));
    }
    int rc = hx_alloc(&r->text, (size_t)size + 1, 1, "surface file");
    if (rc == HX_OK) {
        r->n = fread(r->text, 1, (size_t)size, stream);
        if (r->n != (size_t)size)
            rc = HX_RAISE(HX_EIO, "cannot read '%s': %s", r->path, strerror(errno));
    }
    fclose(stream);
    return rc;
}

static int add_vertex(reader *r, const double x[3])
{
    hx_surface *const s = r->surface;
    for (int d = 0; d < 3; d++)
        if (!(fabs(x[d]) <= most_place))
            return HX_RAISE(HX_EINPUT,
                            "%s: vertex %lld has a coordinate that is not finite or larger than %g",
                            r->path, (long long)s->n_vertex + 1, most_place);
    if (s->n_vertex >= INT32_MAX) return HX_RAISE(HX_EINPUT, "%s: too many vertices", r->path);
    HX_TRY(hx_grow(&s->xyz, (size_t)s->n_vertex, &r->vertex_capacity, 3 * sizeof *s->xyz,
                   "vertices of the surface"));
    memcpy(s->xyz + 3 * s->n_vertex++, x, 3 * sizeof *x);
    return HX_OK;
}

static int add_triangle(reader *r, int64_t a, int64_t b, int64_t c)
{
    hx_surface *const s = r->surface;
    const int64_t n = s->n_vertex;
    if (a < 0 || b < 0 || c < 0 || a >= n || b >= n || c >= n)
        return HX_RAISE(HX_EINPUT, "%s: triangle %lld refers to a vertex that does not exist",
                        r->path, (long long)s->n_tri + 1);
    HX_TRY(hx_grow(&s->tri, (size_t)s->n_tri, &r->tri_capacity, 3 * sizeof *s->tri,
                   "triangles of the surface"));
    int32_t *const tri = s->tri + 3 * s->n_tri++;
    tri[0] = (int32_t)a;
    tri[1] = (int32_t)b;
    tri[2] = (int32_t)c;
    return HX_OK;
}

/* --- text --- */

/* Reads the next word, "" at the end, and counts lines. */
static int next_word(reader *r, char *word, size_t n_word)
{
    size_t n = 0;
    while (r->at < r->n && strchr(" \t\r\n", r->text[r->at])) r->line += r->text[r->at++] == '\n';
    while (r->at < r->n && !strchr(" \t\r\n", r->text[r->at])) {
        if (n + 1 < n_word) word[n++] = (char)r->text[r->at];
        r->at++;
    }
    word[n] = '\0';
    return n > 0;
}

static int next_number(reader *r, double *value)
{
    char word[64], *end = NULL;
    next_word(r, word, sizeof word);
    *value = strtod(word, &end);
    if (end != word && *end == '\0') return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s:%lld: expected a number, found '%s'", r->path,
                    (long long)r->line, word);
}

static int read_stl_text(reader *r)
{
    char word[64];
    double x[3];
    int64_t n_corner = 0;
    while (next_word(r, word, sizeof word)) {
        if (strcmp(word, "vertex") == 0) {
            for (int d = 0; d < 3; d++) HX_TRY(next_number(r, &x[d]));
            HX_TRY(add_vertex(r, x));
            n_corner++;
        } else if (strcmp(word, "endfacet") == 0) {
            if (n_corner != 3)
                return HX_RAISE(HX_EINPUT,
                                "%s:%lld: a facet has %lld %s; in an STL it must have three",
                                r->path, (long long)r->line, (long long)n_corner,
                                hx_noun(n_corner, "vertex", "vertices"));
            const int64_t n = r->surface->n_vertex;
            HX_TRY(add_triangle(r, n - 3, n - 2, n - 1));
            n_corner = 0;
        }
    }
    if (n_corner == 0) return HX_OK;
    return HX_RAISE(HX_EINPUT, "%s:%lld: the file ends within a facet", r->path,
                    (long long)r->line);
}

/* --- binary --- */

static uint64_t get_bits(const unsigned char *from, int n, int is_big)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits |= (uint64_t)from[is_big ? n - 1 - i : i] << 8 * i;
    return bits;
}

static double get_float(const unsigned char *from, int is_big)
{
    const uint32_t bits = (uint32_t)get_bits(from, 4, is_big);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double get_double(const unsigned char *from, int is_big)
{
    const uint64_t bits = get_bits(from, 8, is_big);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int read_stl_binary(reader *r, int64_t n_tri)
{
    for (int64_t t = 0; t < n_tri; t++) {
        const unsigned char *const facet = r->text + 84 + 50 * t;
        for (int k = 0; k < 3; k++) {
            double x[3];
            for (int d = 0; d < 3; d++) x[d] = get_float(facet + 12 + 12 * k + 4 * d, 0);
            HX_TRY(add_vertex(r, x));
        }
        HX_TRY(add_triangle(r, 3 * t, 3 * t + 1, 3 * t + 2));
    }
    return HX_OK;
}

/* A binary file contains its number of facets, which identifies it; its header may begin with
 * "solid" like a text file. */
static int read_stl(reader *r)
{
    const int64_t n_tri = r->n >= 84 ? (int64_t)get_bits(r->text + 80, 4, 0) : -1;
    r->line = 1;
    if (n_tri >= 0 && r->n == 84 + 50 * (size_t)n_tri) return read_stl_binary(r, n_tri);
    if (r->n >= 5 && memcmp(r->text, "solid", 5) == 0) return read_stl_text(r);
    if (n_tri < 0)
        return HX_RAISE(
            HX_EINPUT,
            "%s: the file is neither a text STL, which begins with 'solid', nor a binary one",
            r->path);
    return HX_RAISE(HX_EINPUT,
                    "%s: the file has %zu %s, but a binary STL with %lld %s has %lld; it is "
                    "truncated or not an STL",
                    r->path, r->n, hx_noun(r->n, "byte", "bytes"), (long long)n_tri,
                    hx_noun(n_tri, "triangle", "triangles"), (long long)(84 + 50 * n_tri));
}

/* --- PLY --- */

enum { MOST_PROPERTY = 64 };
typedef enum { PLY_TEXT, PLY_LITTLE, PLY_BIG } ply_coding;

/* Size of a number in bytes, and its kind. */
typedef struct ply_type {
    int size, is_real, is_signed;
} ply_type;

typedef struct ply_property {
    char name[32];
    int is_list;
    ply_type count, value;
} ply_property;

typedef struct ply_element {
    char name[32];
    int64_t n;
    int n_property;
    ply_property property[MOST_PROPERTY];
} ply_element;

static int read_type(const reader *r, const char *word, ply_type *type)
{
    static const struct {
        const char *name, *other;
        ply_type type;
    } known[] = {
        {"char", "int8", {1, 0, 1}},     {"uchar", "uint8", {1, 0, 0}},
        {"short", "int16", {2, 0, 1}},   {"ushort", "uint16", {2, 0, 0}},
        {"int", "int32", {4, 0, 1}},     {"uint", "uint32", {4, 0, 0}},
        {"float", "float32", {4, 1, 1}}, {"double", "float64", {8, 1, 1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(word, known[i].name) != 0 && strcmp(word, known[i].other) != 0) continue;
        *type = known[i].type;
        return HX_OK;
    }
    return HX_RAISE(HX_EINPUT, "%s:%lld: '%s' is not a type of PLY", r->path, (long long)r->line,
                    word);
}

static int get_number(reader *r, ply_coding coding, const ply_type *type, double *value)
{
    if (coding == PLY_TEXT) return next_number(r, value);
    if (r->at + (size_t)type->size > r->n)
        return HX_RAISE(HX_EINPUT, "%s: the file ends before its last element", r->path);
    const unsigned char *const from = r->text + r->at;
    const int is_big = coding == PLY_BIG;
    r->at += (size_t)type->size;
    if (type->is_real) {
        *value = type->size == 4 ? get_float(from, is_big) : get_double(from, is_big);
        return HX_OK;
    }
    const uint64_t bits = get_bits(from, type->size, is_big),
                   top = (uint64_t)1 << (8 * type->size - 1);
    *value = type->is_signed && (bits & top) ? (double)bits - 2.0 * (double)top : (double)bits;
    return HX_OK;
}

/* -1 if it is no valid vertex index. */
static int64_t index_of(double value)
{
    return value >= 0.0 && value <= INT32_MAX ? (int64_t)value : -1;
}

/* Splits a polygon into a fan. */
static int read_list(reader *r, ply_coding coding, const ply_property *p, int is_face)
{
    double n = 0.0, corner[3] = {0.0, 0.0, 0.0};
    HX_TRY(get_number(r, coding, &p->count, &n));
    if (!(n >= 0.0 && n < 1e6))
        return HX_RAISE(HX_EINPUT, "%s: a list has the invalid length %g", r->path, n);
    for (int64_t i = 0; i < (int64_t)n; i++) {
        HX_TRY(get_number(r, coding, &p->value, &corner[i < 2 ? i : 2]));
        if (!is_face || i < 2) continue;
        HX_TRY(add_triangle(r, index_of(corner[0]), index_of(corner[1]), index_of(corner[2])));
        corner[1] = corner[2];
    }
    return HX_OK;
}

static int read_element(reader *r, ply_coding coding, const ply_element *element)
{
    const int is_vertex = strcmp(element->name, "vertex") == 0,
              is_face = strcmp(element->name, "face") == 0;
    for (int64_t i = 0; i < element->n; i++) {
        double x[3] = {(double)NAN, (double)NAN, (double)NAN};
        for (int k = 0; k < element->n_property; k++) {
            const ply_property *const p = &element->property[k];
            double value;
            if (p->is_list) {
                const int is_corners =
                    strcmp(p->name, "vertex_indices") == 0 || strcmp(p->name, "vertex_index") == 0;
                HX_TRY(read_list(r, coding, p, is_face && is_corners));
                continue;
            }
            HX_TRY(get_number(r, coding, &p->value, &value));
            if (p->name[0] >= 'x' && p->name[0] <= 'z' && p->name[1] == '\0')
                x[p->name[0] - 'x'] = value;
        }
        if (is_vertex) HX_TRY(add_vertex(r, x));
    }
    return HX_OK;
}

static int read_property(reader *r, ply_element *element)
{
    char word[64];
    ply_property *const p = &element->property[element->n_property];
    if (element->n_property++ == MOST_PROPERTY - 1)
        return HX_RAISE(HX_EINPUT, "%s:%lld: too many properties", r->path, (long long)r->line);
    next_word(r, word, sizeof word);
    p->is_list = strcmp(word, "list") == 0;
    if (p->is_list) {
        next_word(r, word, sizeof word);
        HX_TRY(read_type(r, word, &p->count));
        next_word(r, word, sizeof word);
    }
    HX_TRY(read_type(r, word, &p->value));
    next_word(r, p->name, sizeof p->name);
    return HX_OK;
}

enum { MOST_ELEMENT = 8 };

static int read_header(reader *r, ply_coding *coding, ply_element *element, int *n_element)
{
    char word[64] = "";
    static const char *const name[3] = {"ascii", "binary_little_endian", "binary_big_endian"};
    *coding = PLY_TEXT;
    while (next_word(r, word, sizeof word) && strcmp(word, "end_header") != 0) {
        if (strcmp(word, "comment") == 0 || strcmp(word, "obj_info") == 0) {
            while (r->at < r->n && r->text[r->at] != '\n') r->at++;
        } else if (strcmp(word, "format") == 0) {
            next_word(r, word, sizeof word);
            for (int i = 0; i < 3; i++)
                if (strcmp(word, name[i]) == 0) *coding = (ply_coding)i;
        } else if (strcmp(word, "element") == 0 && *n_element < MOST_ELEMENT) {
            double n;
            next_word(r, element[*n_element].name, sizeof element->name);
            HX_TRY(next_number(r, &n));
            if (!(n >= 0.0 && n <= (double)r->n)) /* each element takes at least a byte */
                return HX_RAISE(HX_EINPUT, "%s:%lld: the file is too short for %g elements",
                                r->path, (long long)r->line, n);
            element[(*n_element)++].n = (int64_t)n;
        } else if (strcmp(word, "property") == 0 && *n_element > 0) {
            HX_TRY(read_property(r, &element[*n_element - 1]));
        }
    }
    if (strcmp(word, "end_header") != 0)
        return HX_RAISE(HX_EINPUT, "%s: the header of the PLY has no 'end_header'", r->path);
    if (r->at < r->n && r->text[r->at] == '\r') r->at++;
    r->at++;
    return HX_OK;
}

static int read_ply(reader *r)
{
    ply_element *element = NULL;
    ply_coding coding;
    int n_element = 0, rc;
    r->line = 1;
    if (r->n < 4 || memcmp(r->text, "ply", 3) != 0)
        return HX_RAISE(HX_EINPUT, "%s: not a PLY file, which begins with 'ply'", r->path);
    r->at = 3;
    HX_TRY(hx_alloc(&element, MOST_ELEMENT, sizeof *element, "PLY header"));
    HX_TRY_FAIL(read_header(r, &coding, element, &n_element));
    for (int i = 0; i < n_element; i++) HX_TRY_FAIL(read_element(r, coding, &element[i]));
fail:
    free(element);
    return rc;
}

/* --- both --- */

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), n_ending = strlen(ending);
    if (n <= n_ending) return 0;
    for (size_t i = 0; i < n_ending; i++)
        if ((path[n - n_ending + i] | 0x20) != ending[i]) return 0;
    return 1;
}

int hx_surface_read(const char *path, hx_surface *surface)
{
    int rc;
    reader r = {.path = path, .surface = surface};
    memset(surface, 0, sizeof *surface);
    const int is_ply = has_ending(path, ".ply");
    if (!is_ply && !has_ending(path, ".stl"))
        return HX_RAISE(HX_EINPUT, "'%s': the name of a surface must end in .stl or .ply", path);
    HX_TRY_FAIL(load_surface(&r));
    HX_TRY_FAIL(is_ply ? read_ply(&r) : read_stl(&r));
    HX_TRY_FAIL(hx_surface_weld(surface));
    if (surface->n_tri == 0)
        rc =
            HX_RAISE(HX_EINPUT, "%s: the file has no triangles with three different corners", path);
fail:
    free(r.text);
    if (rc < 0) hx_surface_free(surface);
    return rc;
}
