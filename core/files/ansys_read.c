#define _POSIX_C_SOURCE 200809L /* getline */
#include "ansys_read.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "mesh_conditions.h"

enum { MOST_TYPES = 20000, MOST_FIELDS = 64, MOST_WIDTH = 40, SHOWN = 60 };

/* Fields of the lines of a block: n_int of width int_width, then reals of real_width. */
typedef struct layout {
    int n_int, int_width, n_real, real_width;
} layout;

typedef struct reader {
    FILE *stream; /* (owned) */
    char *text;   /* the last line, without its end (owned) */
    size_t capacity;
    int64_t line; /* 1-based */
    hx_import import;
    hx_import_conditions conditions;
    int16_t
        *type; /* [MOST_TYPES] number of the element library, by the file's type; 0: not known */
    int is_rotated; /* a node has a coordinate system of its own */
    hx_notes *notes;
} reader;

#define RAISE(r, ...) HX_IMPORT_RAISE(&(r)->import, (r)->line, __VA_ARGS__)

static int read_line(reader *r, int *found)
{
    errno = 0;
    const ssize_t length = getline(&r->text, &r->capacity, r->stream);
    *found = length >= 0;
    if (length < 0 && ferror(r->stream))
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", r->import.path, strerror(errno));
    if (length < 0) return HX_OK;
    r->line++;
    if (strlen(r->text) != (size_t)length)
        return RAISE(r, "a byte 0 in the line: this is no text file");
    size_t n = (size_t)length;
    while (n > 0 && isspace((unsigned char)r->text[n - 1])) n--;
    r->text[n] = '\0';
    return HX_OK;
}

static int need_line(reader *r, const char *block)
{
    int found;
    HX_TRY(read_line(r, &found));
    return found ? HX_OK : RAISE(r, "the file ends within %s", block);
}

/* --- fields --- */

/* Field k of a line of numbers that abut; blank beyond the line's end. */
static void cut(const char *line, int begin, int width, char field[MOST_WIDTH + 1])
{
    const int length = (int)strlen(line);
    int n = 0;
    for (int i = begin; i < begin + width && i < length; i++)
        if (!isspace((unsigned char)line[i])) field[n++] = line[i];
    field[n] = '\0';
}

static int to_int(const reader *r, const char *field, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(field, &end, 10);
    if (*end == '\0' && errno == 0 && *value > -((int64_t)1 << 62) && *value < (int64_t)1 << 62)
        return HX_OK;
    return RAISE(r, "'%.*s' where an integer is expected", SHOWN, field);
}

static int to_real(const reader *r, const char *field, double *value)
{
    char *end;
    *value = strtod(field, &end);
    if (*end == '\0' && strspn(field, "+-.0123456789eE") == strlen(field) && isfinite(*value))
        return HX_OK;
    return RAISE(r, "'%.*s' where a number is expected", SHOWN, field);
}

/* "3i9" or "6e21.13e3" at *at: how many of what width. */
static int read_descriptor(const char **at, int *n, int *width, char *kind)
{
    char *end;
    const long count = isdigit((unsigned char)**at) ? strtol(*at, &end, 10) : (end = NULL, 1);
    if (end) *at = end;
    *kind = (char)tolower((unsigned char)**at);
    if (*kind == '\0' || !strchr("iefga", *kind)) return 0;
    const long size = strtol(*at + 1, &end, 10);
    if (end == *at + 1 || count < 1 || count > MOST_FIELDS || size < 1 || size > MOST_WIDTH)
        return 0;
    *n = (int)count;
    *width = (int)size;
    *at = end + strcspn(end, ",)");
    return 1;
}

/* The format line of a block: "(3i9,6e21.13e3)". */
static int read_layout(reader *r, const char *block, layout *l)
{
    int n, width;
    char kind;
    memset(l, 0, sizeof *l);
    HX_TRY(need_line(r, block));
    const char *at = r->text + strspn(r->text, " \t(");
    int good = read_descriptor(&at, &l->n_int, &l->int_width, &kind) && kind == 'i';
    if (good && *at == ',') {
        at++;
        good = read_descriptor(&at, &n, &width, &kind);
        l->n_real = n;
        l->real_width = width;
    }
    if (good) return HX_OK;
    return RAISE(r, "'%.*s' where the format of %s is expected, such as (3i9,6e21.13e3)", SHOWN,
                 r->text, block);
}

static int int_field(const reader *r, const layout *l, int k, int64_t *value)
{
    char field[MOST_WIDTH + 1];
    cut(r->text, k * l->int_width, l->int_width, field);
    return to_int(r, field, value);
}

/* Field `k` of a command, without the blanks around it; "" if there is none. */
static const char *command_field(const char *line, int k, char *text, size_t n_text)
{
    for (; k > 0 && *line; k--) {
        line += strcspn(line, ",");
        if (*line == ',') line++;
    }
    line += strspn(line, " \t");
    size_t n = strcspn(line, ",!");
    while (n > 0 && isspace((unsigned char)line[n - 1])) n--;
    snprintf(text, n_text, "%.*s", (int)(n < n_text ? n : n_text - 1), line);
    return text;
}

/* --- nodes --- */

/* number, two of the solid model, x, y, z, angles; zeros at the end may be left out. */
static int node_line(reader *r, const layout *l)
{
    double x[6] = {0.0};
    int64_t number;
    HX_TRY(int_field(r, l, 0, &number));
    for (int k = 0; k < 6 && k < l->n_real; k++) {
        char field[MOST_WIDTH + 1];
        cut(r->text, l->n_int * l->int_width + k * l->real_width, l->real_width, field);
        if (field[0]) HX_TRY(to_real(r, field, &x[k]));
    }
    for (int k = 3; k < 6; k++) r->is_rotated |= fabs(x[k]) > 0.0;
    return hx_import_add_nodes(&r->import, 1, &number, x, r->line);
}

/* A block ends with -1, or the command N,R5.3,LOC,-1 */
static int is_end(const char *line)
{
    const char *const first = line + strspn(line, " \t");
    return (first[0] == '-' && atoi(first) == -1) || isalpha((unsigned char)first[0]);
}

static int read_nblock(reader *r)
{
    layout l;
    HX_TRY(read_layout(r, "NBLOCK", &l));
    if (l.n_real < 3) return RAISE(r, "the format of NBLOCK has no three coordinates");
    for (;;) {
        HX_TRY(need_line(r, "NBLOCK"));
        if (is_end(r->text)) return HX_OK;
        HX_TRY(node_line(r, &l));
    }
}

/* --- elements --- */

static int is_listed(int type, const int16_t *list)
{
    while (*list && *list != type) list++;
    return *list != 0;
}

/* The solid that an element of this number in ANSYS's library (0: not known) with so many nodes is.
 * Bricks with repeated nodes are prisms, pyramids and tetrahedra. */
static int find_solid(int type, int n_node, hx_solid_id *id)
{
    static const int16_t brick[] = {5, 45, 64, 65, 70, 73, 96, 164, 185, 278, 0};
    static const int16_t brick20[] = {90, 95, 186, 226, 279, 0};
    static const int16_t tetra4[] = {72, 285, 0};
    static const int16_t tetra10[] = {87, 92, 98, 168, 187, 227, 291, 0};
    *id = n_node == 8 ? HX_SOLID_HEX8 : n_node == 20 ? HX_SOLID_HEX20 : HX_SOLID_TET10;
    if (type == 0) return n_node == 8 || n_node == 20 || n_node == 10;
    if (is_listed(type, brick)) return n_node == 8;
    if (is_listed(type, brick20)) return n_node == 20;
    if (is_listed(type, tetra10)) return n_node == 10;
    *id = HX_SOLID_TET4;
    return is_listed(type, tetra4) && n_node == 4;
}

static hx_shape shape_of(int type)
{
    static const int16_t line[] = {4, 8, 10, 14, 180, 184, 188, 189, 0};
    static const int16_t surface[] = {63,  93,  152, 154, 155, 169, 170, 171, 172,
                                      173, 174, 175, 177, 181, 200, 281, 28,  41,
                                      43,  143, 156, 131, 132, 157, 0};
    if (is_listed(type, line)) return HX_SHAPE_LINE;
    if (is_listed(type, surface)) return HX_SHAPE_QUADRANGLE;
    return type == 21 ? HX_SHAPE_POINT : HX_SHAPE_OTHER;
}

/* Nodes of second order that the file leaves out are 0: the edge is straight, and its end stands
 * for them. */
static void fill_middles(hx_solid_id id, int64_t *node)
{
    const hx_solid *const solid = &hx_solids[id];
    for (int k = solid->n_corner; k < solid->n_node; k++) {
        int c = 0;
        while (!(solid->middle_of[k - solid->n_corner] >> c & 1)) c++;
        if (node[k] == 0) node[k] = node[c];
    }
}

static int add_element(reader *r, int type, int64_t number, int n_node, int64_t *node, int64_t line)
{
    char name[64];
    hx_solid_id id;
    if (find_solid(type, n_node, &id)) {
        fill_middles(id, node);
        return hx_import_add_solids(&r->import, id, 1, &number, node, line);
    }
    if (shape_of(type) == HX_SHAPE_OTHER)
        snprintf(name, sizeof name, "ET-%d (ANSYS) of %d nodes", type, n_node);
    else
        snprintf(name, sizeof name, "ET-%d (ANSYS)", type);
    return hx_import_add_other(&r->import, shape_of(type), name, number, line);
}

/* Of 19 fields: the type is 1, the number of nodes 8, the element's number 10, the first 8 nodes
 * from 11; more nodes on lines of their own. */
static int solid_line(reader *r, const layout *l)
{
    enum { TYPE = 1, N_NODE = 8, NUMBER = 10, FIRST = 11, N_FIELD = 19 };
    int64_t field[N_FIELD] = {0}, node[MOST_FIELDS] = {0};
    const int64_t line = r->line;
    for (int k = 0; k < FIRST; k++) HX_TRY(int_field(r, l, k, &field[k]));
    const int64_t n_node = field[N_NODE], type = field[TYPE];
    if (n_node < 1 || n_node > MOST_FIELDS)
        return RAISE(r, "element %lld has %lld nodes", (long long)field[NUMBER], (long long)n_node);
    for (int k = 0; k < 8; k++) HX_TRY(int_field(r, l, FIRST + k, &node[k]));
    for (int64_t k = 8; k < n_node; k++) {
        const int column = (int)((k - 8) % l->n_int);
        if (column == 0) HX_TRY(need_line(r, "EBLOCK"));
        HX_TRY(int_field(r, l, column, &node[k]));
        if (node[k] < 0) return RAISE(r, "element %lld lacks nodes", (long long)field[NUMBER]);
    }
    return add_element(r, type > 0 && type < MOST_TYPES ? r->type[type] : 0, field[NUMBER],
                       (int)n_node, node, line);
}

/* EBLOCK,19,SOLID; the short form of contact and surface elements is left out. */
static int read_eblock(reader *r)
{
    char word[32];
    layout l;
    const int is_solid = strcasecmp(command_field(r->text, 2, word, sizeof word), "SOLID") == 0;
    HX_TRY(read_layout(r, "EBLOCK", &l));
    if (is_solid && l.n_int < 19)
        return RAISE(r, "EBLOCK with %d fields; 19 are read, as CDWRITE writes them", l.n_int);
    for (;;) {
        HX_TRY(need_line(r, "EBLOCK"));
        if (is_end(r->text)) return HX_OK;
        if (is_solid) HX_TRY(solid_line(r, &l));
    }
}

/* ET,type,185 */
static int read_et(reader *r)
{
    char word[32], digits[32];
    int64_t type, library;
    HX_TRY(to_int(r, command_field(r->text, 1, word, sizeof word), &type));
    /* SOLID185 may stand for 185 */
    command_field(r->text, 2, word, sizeof word);
    snprintf(digits, sizeof digits, "%s", word + strcspn(word, "0123456789"));
    HX_TRY(to_int(r, digits, &library));
    if (type > 0 && type < MOST_TYPES && library > 0 && library < 1000)
        r->type[type] = (int16_t)library;
    return HX_OK;
}

static int read_etblock(reader *r)
{
    layout l;
    HX_TRY(read_layout(r, "ETBLOCK", &l));
    for (;;) {
        int64_t type, library;
        HX_TRY(need_line(r, "ETBLOCK"));
        if (is_end(r->text)) return HX_OK;
        HX_TRY(int_field(r, &l, 0, &type));
        HX_TRY(int_field(r, &l, 1, &library));
        if (type > 0 && type < MOST_TYPES && library > 0 && library < 1000)
            r->type[type] = (int16_t)library;
    }
}

/* --- components --- */

/* A number below 0 ends a range that began with the number before it. */
static int component_member(reader *r, hx_numbers *list, int64_t n_all, int64_t value)
{
    if (value >= 0) return hx_numbers_append(list, 1, &value);
    const int64_t first = list->n > 0 ? hx_numbers_get(list, list->n - 1) + 1 : -1;
    if (first < 1 || -value < first || -value - first >= n_all)
        return RAISE(r, "%lld ends no range of numbers that the file has", (long long)value);
    return hx_numbers_append_run(list, -value - first + 1, first);
}

/* CMBLOCK,NAME,NODE,count */
static int read_cmblock(reader *r)
{
    char name[256], word[32];
    layout l;
    int64_t n;
    hx_import_set *set;
    command_field(r->text, 1, name, sizeof name);
    const int is_elem = strncasecmp(command_field(r->text, 2, word, sizeof word), "ELEM", 4) == 0;
    if (!name[0] || (!is_elem && strncasecmp(word, "NODE", 4) != 0))
        return RAISE(r, "CMBLOCK needs a name and NODE or ELEM");
    HX_TRY(to_int(r, command_field(r->text, 3, word, sizeof word), &n));
    HX_TRY(read_layout(r, "CMBLOCK", &l));
    HX_TRY(hx_import_set_named(&r->import, name, &set));
    const int64_t n_all = is_elem ? r->import.n_elem + INT16_MAX : r->import.n_node;
    for (int64_t i = 0; i < n; i++) {
        int64_t value;
        if (i % l.n_int == 0) HX_TRY(need_line(r, "CMBLOCK"));
        HX_TRY(int_field(r, &l, (int)(i % l.n_int), &value));
        if (value == 0)
            return RAISE(r, "component '%.60s' has fewer than %lld numbers", name, (long long)n);
        HX_TRY(component_member(r, is_elem ? &set->elem : &set->node, n_all, value));
    }
    return HX_OK;
}

/* --- supports and forces --- */

/* D,node,UX,value or F,node,FX,value */
static int read_condition(reader *r, int is_force)
{
    static const char *const label[2][4] = {{"UX", "UY", "UZ", "ALL"}, {"FX", "FY", "FZ", ""}};
    hx_condition condition = {.kind = is_force ? HX_CONDITION_FORCE : HX_CONDITION_SUPPORT,
                              .step = is_force ? 1 : 0,
                              .line = r->line};
    hx_condition *added;
    char word[64];
    int64_t number;
    for (int k = 0; k < 4; k++)
        if (strcasecmp(command_field(r->text, 2, word, sizeof word), label[is_force][k]) == 0)
            condition.components = k == 3 ? 7u : 1u << k;
    if (!condition.components && !is_force && strncasecmp(word, "ROT", 3) == 0) return HX_OK;
    if (!condition.components || !isdigit((unsigned char)command_field(r->text, 1, word, 64)[0]))
        return hx_import_conditions_set_fault(&r->conditions, "%s:%lld: '%.40s' is not read: of %s",
                                              r->import.path, (long long)r->line, r->text,
                                              is_force ? "F only FX, FY, FZ of a node"
                                                       : "D only UX, UY, UZ, ALL of a node");
    HX_TRY(to_int(r, word, &number));
    for (int k = 5; k < 12; k++) /* NEND, NINC, more labels: of CDWRITE there are none */
        if (command_field(r->text, k, word, sizeof word)[0])
            return hx_import_conditions_set_fault(
                &r->conditions, "%s:%lld: '%.60s' is not read: a line a node and component is",
                r->import.path, (long long)r->line, r->text);
    HX_TRY(to_real(r, command_field(r->text, 3, word, sizeof word), &condition.value));
    HX_TRY(hx_import_conditions_add(&r->conditions, &condition, &added));
    return hx_numbers_append(&added->node, 1, &number);
}

static int read_command(reader *r)
{
    static const char *const unread[] = {"SFE",      "SF",   "CE",     "CP",    "CEINTF", "CERIG",
                                         "RBE3",     "ACEL", "CMACEL", "OMEGA", "DOMEGA", "CMOMEGA",
                                         "CMDOMEGA", "IRLF", "BF",     "BFE",   "BFUNIF", "TUNIF"};
    char word[32];
    command_field(r->text, 0, word, sizeof word);
    if (strcasecmp(word, "NBLOCK") == 0) return read_nblock(r);
    if (strcasecmp(word, "EBLOCK") == 0) return read_eblock(r);
    if (strcasecmp(word, "CMBLOCK") == 0) return read_cmblock(r);
    if (strcasecmp(word, "ETBLOCK") == 0) return read_etblock(r);
    if (strcasecmp(word, "ET") == 0) return read_et(r);
    if (strcasecmp(word, "D") == 0) return read_condition(r, 0);
    if (strcasecmp(word, "F") == 0) return read_condition(r, 1);
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (strcasecmp(word, unread[i]) == 0)
            return hx_import_conditions_set_fault(
                &r->conditions,
                "%s:%lld: %s is not read: state in the config what acts on the part, instead of "
                "from = \"file\"",
                r->import.path, (long long)r->line, word);
    return HX_OK;
}

static int read_all(reader *r)
{
    int found;
    const char *why;
    r->stream = hx_input_open(r->import.path, &why);
    if (!r->stream) return HX_RAISE(HX_EINPUT, "cannot read '%s': %s", r->import.path, why);
    HX_TRY(hx_alloc(&r->type, MOST_TYPES, sizeof *r->type, "types of elements"));
    do {
        HX_TRY(read_line(r, &found));
        if (found) HX_TRY(read_command(r));
    } while (found);
    if (r->conditions.n > 0) r->conditions.n_step = 1;
    if (!r->is_rotated || r->conditions.n == 0) return HX_OK;
    return hx_import_conditions_set_fault(
        &r->conditions, "%s: nodes have rotated coordinate systems, which D and F refer to",
        r->import.path);
}

int hx_ansys_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc;
    reader r = {.notes = notes};
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    r.import.shape_hint = "SOLID185, SOLID186, SOLID187, SOLID285 and their like";
    r.import.empty_hint = "CDWRITE,DB writes nodes and elements as NBLOCK and EBLOCK";
    HX_TRY_FAIL(read_all(&r));
    HX_TRY_FAIL(hx_import_finish(&r.import, mesh));
    HX_TRY_FAIL(hx_import_conditions_finish(&r.conditions, &r.import, mesh, conditions));
fail:
    if (rc < 0) hx_mesh_free(mesh);
    if (rc < 0 && conditions) hx_conditions_free(conditions);
    if (r.stream) fclose(r.stream);
    free(r.text);
    free(r.type);
    hx_import_free(&r.import);
    hx_import_conditions_free(&r.conditions);
    return rc;
}
