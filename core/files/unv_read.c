#include "unv_read.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "file_scan.h"
#include "mesh_import.h"

enum { LINE_SIZE = 256, MOST_NUMBERS = 8 };

/* An element of a group; what it is gets resolved at the end. */
typedef struct member {
    hx_import_set *set;
    int64_t number;
} member;

/* Shells and bars of one kind: they carry load if the file has properties; otherwise they only
 * mark. */
typedef struct skin {
    int64_t kind, n, line;
    const char *name; /* in words */
} skin;

/* A coordinate system of data set 2420. */
typedef struct system_of {
    int64_t label;
    int is_global; /* Cartesian, with the axes and the origin of the global one */
} system_of;

/* Nodes given in a coordinate system other than 0 or 1. */
typedef struct system_use {
    int64_t label, n, node, line; /* values of the first */
    int is_place;                 /* 1: for coordinates, 0: for displacements */
} system_use;

/* A group: its set, name and number. */
typedef struct group_of {
    hx_import_set *set;
    char *name; /* (owned) */
    int64_t number;
} group_of;

typedef struct reader {
    hx_file_scan scan;
    hx_import import;
    char line[LINE_SIZE];
    /* of faces and lines: their numbers; 4 nodes each, -1 as the last one of a line */
    hx_numbers cell_number, cell_corner;
    size_t n_member, member_capacity;
    member *member; /* (owned) */
    size_t n_skin, skin_capacity;
    skin *skin; /* (owned) */
    size_t n_system, system_capacity, n_use, use_capacity, last_use, n_group, group_capacity;
    system_of *system;  /* (owned) */
    system_use *use;    /* (owned) */
    group_of *group;    /* (owned) */
    int64_t n_joined;   /* number of groups with the same name as another */
    char joined[160];   /* description of the first of them */
    int64_t n_empty;    /* number of groups without members */
    char empty[80];     /* name of the first of them */
    int has_properties; /* a data set has thicknesses, sections or materials */
    char skipped[200];  /* numbers of the data sets that are not read, "": none */
} reader;

/* --- lines --- */

/* Reads the next line; *more = 0 at the line of -1 that ends the data set. */
static int next_line(reader *r, int *more)
{
    int found;
    HX_TRY(hx_file_scan_line(&r->scan, r->line, sizeof r->line, &found));
    if (!found) return HX_FILE_RAISE(&r->scan, "the file ends within a data set");
    const char *const text = r->line + strspn(r->line, " \t");
    *more = !(strncmp(text, "-1", 2) == 0 && text[2 + strspn(text + 2, " \t")] == '\0');
    return HX_OK;
}

/* Like next_line, where a data set may not end. */
static int need_line(reader *r)
{
    int more = 0;
    HX_TRY(next_line(r, &more));
    return more ? HX_OK : HX_FILE_RAISE(&r->scan, "the data set ends within an entry");
}

/* Reads at most `most` and at least `least` integers of the line; *n: their number. */
static int take_integers(reader *r, int least, int most, int64_t *value, int *n)
{
    const char *at = r->line;
    for (*n = 0; *n < most; (*n)++) {
        char *end;
        const long long parsed = strtoll(at, &end, 10);
        if (end == at || (*end && !isspace((unsigned char)*end))) break;
        if (parsed <= -(1LL << 62) || parsed >= 1LL << 62) break;
        value[*n] = parsed;
        at = end;
    }
    if (*n >= least) return HX_OK;
    return HX_FILE_RAISE(&r->scan, "%d integers in a line that needs at least %d", *n, least);
}

/* Reads real numbers of the line, starting at character `at`, with E or D. */
static int take_reals(reader *r, const char *at, double x[3])
{
    for (char *c = r->line; *c; c++)
        if (*c == 'D' || *c == 'd') *c = 'e';
    for (int d = 0; d < 3; d++) {
        char *end;
        x[d] = strtod(at, &end);
        if (end == at) return HX_FILE_RAISE(&r->scan, "three coordinates are expected");
        at = end;
    }
    return HX_OK;
}

/* --- nodes and elements --- */

static int use_system(reader *r, int is_place, int64_t label, int64_t node, int64_t line)
{
    if (label == 0) return HX_OK;
    for (size_t i = 0; i < r->n_use; i++) {
        const size_t k = (r->last_use + i) % r->n_use;
        if (r->use[k].label != label || r->use[k].is_place != is_place) continue;
        r->use[k].n++;
        r->last_use = k;
        return HX_OK;
    }
    HX_TRY(hx_grow(&r->use, r->n_use, &r->use_capacity, sizeof *r->use, "coordinate systems"));
    r->use[r->n_use++] = (system_use){label, 1, node, line, is_place};
    return HX_OK;
}

/* Label, the systems of coordinates and of displacements, colour; then the coordinates. */
static int read_unv_nodes(reader *r)
{
    int more, n;
    int64_t head[4];
    double x[3];
    for (;;) {
        HX_TRY(next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(take_integers(r, 1, 4, head, &n));
        const int64_t line = r->scan.word_line;
        for (int k = 1; k < 3 && k < n; k++) HX_TRY(use_system(r, k == 1, head[k], head[0], line));
        HX_TRY(need_line(r));
        HX_TRY(take_reals(r, r->line, x));
        HX_TRY(hx_import_add_nodes(&r->import, 1, head, x, line));
    }
}

/* Data set 15: everything in one line. */
static int read_short_nodes(reader *r)
{
    int more, n;
    int64_t head[4];
    double x[3];
    for (;;) {
        HX_TRY(next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(take_integers(r, 4, 4, head, &n));
        for (int k = 1; k < 3; k++)
            HX_TRY(use_system(r, k == 1, head[k], head[0], r->scan.word_line));
        const char *at = r->line;
        for (int k = 0; k < 4; k++) {
            at += strspn(at, " \t");
            at += strcspn(at, " \t");
        }
        HX_TRY(take_reals(r, at, x));
        HX_TRY(hx_import_add_nodes(&r->import, 1, head, x, r->scan.word_line));
    }
}

/* --- coordinate systems --- */

/* 2420: number and name of a part; then label, type (0: Cartesian) and colour of a system, its
 * name, three lines of its axes and one of its origin. */
static int read_systems(reader *r)
{
    int more, n;
    int64_t head[3];
    HX_TRY(next_line(r, &more));
    if (!more) return HX_OK;
    HX_TRY(need_line(r));
    for (;;) {
        HX_TRY(next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(take_integers(r, 2, 3, head, &n));
        system_of system = {head[0], head[1] == 0};
        HX_TRY(need_line(r));
        for (int row = 0; row < 4; row++) {
            double x[3];
            HX_TRY(need_line(r));
            HX_TRY(take_reals(r, r->line, x));
            for (int d = 0; d < 3; d++) system.is_global &= fabs(x[d] - (row == d)) <= 1e-12;
        }
        HX_TRY(hx_grow(&r->system, r->n_system, &r->system_capacity, sizeof *r->system,
                       "coordinate systems"));
        r->system[r->n_system++] = system;
    }
}

/* System 1 is the global one unless the file defines it otherwise. */
static int is_global(const reader *r, int64_t label, int *is_known)
{
    *is_known = 1;
    for (size_t i = 0; i < r->n_system; i++)
        if (r->system[i].label == label) return r->system[i].is_global;
    *is_known = 0;
    return label == 1;
}

/* Refuses coordinates in a system other than the global one; displacements are not read anyway. */
static int check_systems(reader *r)
{
    for (size_t i = 0; i < r->n_use; i++) {
        const system_use *const u = &r->use[i];
        char word[60];
        int is_known;
        if (is_global(r, u->label, &is_known)) continue;
        if (u->is_place)
            return HX_IMPORT_RAISE(&r->import, u->line,
                                   "node %lld is given in coordinate system %lld, which %s; only "
                                   "the global one, 0 or 1, is read: export the mesh in it",
                                   (long long)u->node, (long long)u->label,
                                   is_known
                                       ? "data set 2420 rotates, translates or makes curvilinear"
                                       : "no data set 2420 defines");
        snprintf(word, sizeof word, "displacement system %lld", (long long)u->label);
        HX_TRY(hx_import_unread(&r->import, 0, word, "nodes; displacements are not read", u->n,
                                u->line));
    }
    return HX_OK;
}

/* --- elements --- */

typedef struct cell_type {
    int number, n_node;
    int is_solid;
    hx_solid_id solid;
    hx_shape shape;
    const char *name;
    /* positions of the solid's nodes in the file; for faces, of their corners; or NULL */
    const int8_t *order;
} cell_type;

/* Mid-side nodes come between the corners. */
static const int8_t tet10[] = {0, 2, 4, 9, 1, 3, 5, 6, 7, 8};
static const int8_t wedge15[] = {0, 2, 4, 9, 11, 13, 1, 3, 5, 10, 12, 14, 6, 7, 8};
static const int8_t hex20[] = {0, 2, 4,  6,  12, 14, 16, 18, 1,  3,
                               5, 7, 13, 15, 17, 19, 8,  9,  10, 11};
static const int8_t pyramid13[] = {0, 2, 4, 6, 12, 1, 3, 5, 7, 8, 9, 10, 11};
static const int8_t second[] = {0, 2, 4, 6};

#define SOLID(number, n, id, name, order)                                                          \
    {                                                                                              \
        number, n, 1, id, HX_SHAPE_OTHER, name, order                                              \
    }
#define FACE(number, n, shape, name, order)                                                        \
    {                                                                                              \
        number, n, 0, HX_SOLID_HEX8, shape, name, order                                            \
    }
static const cell_type types[] = {
    SOLID(111, 4, HX_SOLID_TET4, "linear tetrahedron", NULL),
    SOLID(112, 6, HX_SOLID_WEDGE6, "linear wedge", NULL),
    SOLID(115, 8, HX_SOLID_HEX8, "linear brick", NULL),
    SOLID(118, 10, HX_SOLID_TET10, "parabolic tetrahedron", tet10),
    SOLID(113, 15, HX_SOLID_WEDGE15, "parabolic wedge", wedge15),
    SOLID(116, 20, HX_SOLID_HEX20, "parabolic brick", hex20),
    SOLID(114, 5, HX_SOLID_PYRAMID5, "pyramid", NULL), /* Salome, Code_Aster */
    SOLID(214, 5, HX_SOLID_PYRAMID5, "pyramid", NULL), /* Gmsh */
    SOLID(314, 13, HX_SOLID_PYRAMID13, "parabolic pyramid", pyramid13),
    FACE(41, 3, HX_SHAPE_TRIANGLE, "plane triangle", NULL),
    FACE(51, 3, HX_SHAPE_TRIANGLE, "plane triangle", NULL),
    FACE(61, 3, HX_SHAPE_TRIANGLE, "flat triangle", NULL),
    FACE(74, 3, HX_SHAPE_TRIANGLE, "membrane triangle", NULL),
    FACE(91, 3, HX_SHAPE_TRIANGLE, "thin triangle", NULL),
    FACE(42, 6, HX_SHAPE_TRIANGLE, "plane triangle", second),
    FACE(52, 6, HX_SHAPE_TRIANGLE, "plane triangle", second),
    FACE(62, 6, HX_SHAPE_TRIANGLE, "flat triangle", second),
    FACE(92, 6, HX_SHAPE_TRIANGLE, "thin triangle", second),
    FACE(44, 4, HX_SHAPE_QUADRANGLE, "plane quadrangle", NULL),
    FACE(54, 4, HX_SHAPE_QUADRANGLE, "plane quadrangle", NULL),
    FACE(64, 4, HX_SHAPE_QUADRANGLE, "flat quadrangle", NULL),
    FACE(71, 4, HX_SHAPE_QUADRANGLE, "membrane quadrangle", NULL),
    FACE(94, 4, HX_SHAPE_QUADRANGLE, "thin quadrangle", NULL),
    FACE(45, 8, HX_SHAPE_QUADRANGLE, "plane quadrangle", second),
    FACE(55, 8, HX_SHAPE_QUADRANGLE, "plane quadrangle", second),
    FACE(65, 8, HX_SHAPE_QUADRANGLE, "flat quadrangle", second),
    FACE(95, 8, HX_SHAPE_QUADRANGLE, "thin quadrangle", second),
};

static const cell_type *find_type(int64_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].number == number) return &types[i];
    return NULL;
}

static int is_line(int64_t number)
{
    return number < 40 || (number > 120 && number < 200);
}

/* Elements that are not solids, faces or bars: they always carry load or have mass. */
typedef struct other_kind {
    int first, last;
    unsigned roles;
    const char *what;
} other_kind;

static const other_kind others[] = {
    {121, 123, HX_UNREAD_CARRIES, "rigid elements"},
    {136, 139, HX_UNREAD_CARRIES, "springs"},
    {151, 152, HX_UNREAD_CARRIES, "gap elements"},
    {161, 161, HX_UNREAD_MASS, "point masses"},
    {141, 142, 0, "dampers"},
};

static int count_skin(reader *r, int64_t kind, const char *name, int64_t line)
{
    for (size_t i = 0; i < r->n_skin; i++) {
        if (r->skin[i].kind != kind) continue;
        r->skin[i].n++;
        return HX_OK;
    }
    HX_TRY(hx_grow(&r->skin, r->n_skin, &r->skin_capacity, sizeof *r->skin, "kinds of elements"));
    r->skin[r->n_skin++] = (skin){kind, 1, line, name};
    return HX_OK;
}

static int name_element(reader *r, int64_t kind, int64_t line)
{
    char word[40];
    snprintf(word, sizeof word, "element %lld", (long long)kind);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (kind >= others[i].first && kind <= others[i].last)
            return hx_import_unread(&r->import, others[i].roles, word, others[i].what, 1, line);
    return count_skin(r, kind, kind < 40 ? "bars" : "unknown elements", line);
}

/* Reads n node numbers, 8 per line; those after the first HX_SOLID_NODES are skipped. */
static int take_node_numbers(reader *r, int64_t n, int64_t node[HX_SOLID_NODES])
{
    for (int64_t i = 0; i < n;) {
        int64_t part[MOST_NUMBERS];
        int n_part;
        const int most = n - i < MOST_NUMBERS ? (int)(n - i) : MOST_NUMBERS;
        HX_TRY(need_line(r));
        HX_TRY(take_integers(r, most, most, part, &n_part));
        for (int k = 0; k < n_part; k++, i++)
            if (i < HX_SOLID_NODES) node[i] = part[k];
    }
    return HX_OK;
}

/* Gmsh gives elements of second order the type of the first. */
static int add_unv_face(reader *r, const cell_type *type, int64_t number, int64_t n_node,
                        const int64_t *node, int64_t line)
{
    int64_t quad[4];
    const int n = type->shape == HX_SHAPE_TRIANGLE ? 3 : 4;
    for (int k = 0; k < 4; k++) {
        const int corner = k < n ? k : n - 1;
        quad[k] = node[n_node >= 2 * n ? second[corner] : corner];
    }
    HX_TRY(hx_import_add_other(&r->import, type->shape, type->name, number, line));
    HX_TRY(count_skin(r, type->number, type->name, line));
    HX_TRY(hx_numbers_append(&r->cell_number, 1, &number));
    return hx_numbers_append(&r->cell_corner, 4, quad);
}

/* Adds the nodes, of which sets are made; of a line with more than 3 nodes, only the first 3. */
static int add_line(reader *r, int64_t kind, int64_t number, int64_t n, const int64_t *node,
                    int64_t line)
{
    char name[40];
    snprintf(name, sizeof name, "cell of kind %lld", (long long)kind);
    if (!is_line(kind)) return hx_import_add_other(&r->import, HX_SHAPE_OTHER, name, number, line);
    int64_t end[4];
    for (int k = 0; k < 3; k++) end[k] = node[k < n ? k : 0];
    end[3] = -1;
    HX_TRY(hx_import_add_other(&r->import, HX_SHAPE_LINE, name, number, line));
    HX_TRY(name_element(r, kind, line));
    HX_TRY(hx_numbers_append(&r->cell_number, 1, &number));
    return hx_numbers_append(&r->cell_corner, 4, end);
}

static int add_unv_cell(reader *r, int64_t kind, int64_t number, int64_t n, const int64_t *node,
                        int64_t line)
{
    int64_t in_order[HX_SOLID_NODES];
    const cell_type *const type = find_type(kind);
    if (!type) return add_line(r, kind, number, n, node, line);
    if (n != type->n_node && (type->is_solid || n < type->n_node))
        return HX_FILE_RAISE(&r->scan, "element %lld, of type %s, has %lld nodes; it must have %d",
                             (long long)number, type->name, (long long)n, type->n_node);
    if (!type->is_solid) return add_unv_face(r, type, number, n, node, line);
    for (int k = 0; k < type->n_node; k++) in_order[k] = node[type->order ? type->order[k] : k];
    return hx_import_add_solids(&r->import, type->solid, 1, &number, in_order, line);
}

/* Label, kind, property, material, colour, number of nodes; for beams one more line; the nodes. */
static int read_elements(reader *r, int n_head)
{
    int more, n;
    int64_t head[MOST_NUMBERS], node[HX_SOLID_NODES];
    for (;;) {
        HX_TRY(next_line(r, &more));
        if (!more) return HX_OK;
        HX_TRY(take_integers(r, n_head, n_head, head, &n));
        const int64_t line = r->scan.word_line, n_node = head[n_head - 1];
        if (n_node < 1 || n_node > 1000)
            return HX_FILE_RAISE(&r->scan, "an element of %lld nodes", (long long)n_node);
        const int is_beam = head[1] == 11 || (head[1] >= 21 && head[1] <= 24);
        if (is_beam) HX_TRY(need_line(r)); /* orientation and ends of the beam */
        HX_TRY(take_node_numbers(r, n_node, node));
        HX_TRY(add_unv_cell(r, head[1], head[0], n_node, node, line));
    }
}

/* --- groups --- */

enum { ENTITY_NODE = 7, ENTITY_ELEMENT = 8 };

static int add_member(reader *r, hx_import_set *set, int64_t type, int64_t number)
{
    if (type == ENTITY_NODE) return hx_numbers_append(&set->node, 1, &number);
    if (type != ENTITY_ELEMENT) return HX_OK;
    HX_TRY(hx_grow(&r->member, r->n_member, &r->member_capacity, sizeof *r->member,
                   "members of groups"));
    r->member[r->n_member++] = (member){set, number};
    return HX_OK;
}

/* Reads n entities of `width` numbers each; type and number come first. */
static int read_members(reader *r, hx_import_set *set, int64_t n, int width)
{
    for (int64_t i = 0; i < n;) {
        int64_t value[MOST_NUMBERS];
        int n_value;
        HX_TRY(need_line(r));
        HX_TRY(take_integers(r, width, MOST_NUMBERS, value, &n_value));
        for (int k = 0; k + width <= n_value && i < n; k += width, i++)
            HX_TRY(add_member(r, set, value[k], value[k + 1]));
    }
    return HX_OK;
}

/* Opens the set of a group, named by its position until the kind of its members is known. */
static int open_group(reader *r, const char *name, int64_t number, hx_import_set **set)
{
    char place[32];
    group_of group = {.number = number};
    snprintf(place, sizeof place, "\n%zu", r->n_group);
    HX_TRY(hx_import_set_of(&r->import, place, HX_KIND_NODES, &group.set));
    HX_TRY(hx_strdup(&group.name, name));
    *set = group.set;
    const int rc = hx_grow(&r->group, r->n_group, &r->group_capacity, sizeof *r->group, "groups");
    if (rc < 0)
        free(group.name);
    else
        r->group[r->n_group++] = group;
    return rc;
}

static int note_groups(reader *r)
{
    if (r->n_empty > 0)
        HX_TRY(
            hx_notes_add(r->import.notes, HX_NOTE_INFO,
                         "%s: %lld groups have no members, the first '%s'; they become empty sets",
                         r->scan.path, (long long)r->n_empty, r->empty));
    if (r->n_joined == 0) return HX_OK;
    return hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                        "%s: %s%s; groups of the same name and kind are combined into one set",
                        r->scan.path, r->joined,
                        r->n_joined > 1 ? ", and other names are repeated too" : "");
}

/* Number, five numbers of active sets, number of entities; the name; the entities. */
static int read_groups(reader *r, int width)
{
    int more, n;
    int64_t head[MOST_NUMBERS];
    hx_import_set *set;
    for (;;) {
        HX_TRY(next_line(r, &more));
        if (!more) return HX_OK;
        /* Salome writes it after an empty group */
        if (r->line[strspn(r->line, " \t")] == '\0') continue;
        HX_TRY(take_integers(r, 2, MOST_NUMBERS, head, &n));
        const int64_t group = head[0], n_entity = head[n - 1];
        if (n_entity < 0)
            return HX_FILE_RAISE(&r->scan, "a group of %lld entities", (long long)n_entity);
        HX_TRY(need_line(r));
        char *const name = r->line + strspn(r->line, " \t");
        for (size_t k = strlen(name); k > 0 && isspace((unsigned char)name[k - 1]); k--)
            name[k - 1] = '\0';
        if (!*name) snprintf(r->line, sizeof r->line, "group-%lld", (long long)group);
        HX_TRY(open_group(r, *name ? name : r->line, group, &set));
        if (n_entity == 0 && r->n_empty++ == 0)
            snprintf(r->empty, sizeof r->empty, "%.79s", r->group[r->n_group - 1].name);
        HX_TRY(read_members(r, set, n_entity, width));
    }
}

/* Notes a member that is not an element of the file: gmsh writes groups of its points, but not the
 * points. */
static int note_missing(reader *r, const member *m)
{
    size_t i = 0;
    while (i + 1 < r->n_group && r->group[i].set != m->set) i++;
    return hx_notes_add(
        r->import.notes, HX_NOTE_WARNING,
        "%s: group '%.79s' names element %lld, which the file does not have (gmsh does not write "
        "points to a .unv): it is left out of the set; save the mesh as .msh to keep it",
        r->scan.path, r->group[i].name, (long long)m->number);
}

/* Resolves elements of groups as solids, or as faces given by shells. */
static int resolve_members(reader *r)
{
    hx_number_index index = {0}, solids = {0};
    int rc = HX_OK;
    HX_TRY_FAIL(hx_number_index_create(&index, &r->cell_number));
    HX_TRY_FAIL(hx_number_index_create(&solids, &r->import.elem_number));
    for (size_t i = 0; i < r->n_member && rc == HX_OK; i++) {
        const member *const m = &r->member[i];
        const int is_solid = hx_number_index_find(&solids, m->number) >= 0;
        const int64_t place = hx_number_index_find(&index, m->number);
        int64_t quad[4];
        for (int k = 0; k < 4 && place >= 0; k++)
            quad[k] = hx_numbers_get(&r->cell_corner, 4 * place + k);
        if (place < 0 && !is_solid && r->import.n_other > 0)
            rc = note_missing(r, m);
        else if (place < 0)
            rc = hx_numbers_append(&m->set->elem, 1, &m->number);
        else
            rc = quad[3] < 0 ? hx_numbers_append(&m->set->node, 3, quad)
                             : hx_numbers_append(&m->set->quad, 4, quad);
    }
fail:
    hx_number_index_free(&index);
    hx_number_index_free(&solids);
    return rc;
}

static int append_all(hx_numbers *to, const hx_numbers *from)
{
    for (int64_t i = 0; i < from->n; i++) {
        const int64_t number = hx_numbers_get(from, i);
        HX_TRY(hx_numbers_append(to, 1, &number));
    }
    return HX_OK;
}

/* Merges the group into an earlier one of its name and kind. */
static int join_groups(reader *r, const group_of *to, const group_of *from)
{
    if (r->n_joined++ == 0)
        snprintf(r->joined, sizeof r->joined, "groups %lld and %lld are both '%.79s'",
                 (long long)to->number, (long long)from->number, to->name);
    HX_TRY(append_all(&to->set->node, &from->set->node));
    HX_TRY(append_all(&to->set->elem, &from->set->elem));
    HX_TRY(append_all(&to->set->quad, &from->set->quad));
    hx_import_drop_set(&r->import, from->set);
    return HX_OK;
}

/* Once members are resolved, each group is one of elements, of faces or of nodes. */
static int name_groups(reader *r)
{
    size_t n = 0; /* number of groups that remain */
    for (size_t i = 0; i < r->n_group; i++) {
        group_of *const group = &r->group[i];
        hx_import_set *const set = group->set;
        size_t same = 0;
        set->kind = set->elem.n > 0   ? HX_KIND_ELEMS
                    : set->quad.n > 0 ? HX_KIND_FACES
                                      : HX_KIND_NODES;
        free(set->name);
        set->name = NULL;
        HX_TRY(hx_strdup(&set->name, group->name));
        while (same < n && (r->group[same].set->kind != set->kind ||
                            strcmp(r->group[same].name, group->name) != 0))
            same++;
        if (same < n) {
            HX_TRY(join_groups(r, &r->group[same], group));
            continue;
        }
        const group_of kept = *group;
        *group = r->group[n];
        r->group[n++] = kept;
    }
    return HX_OK;
}

/* --- data sets --- */

static int pass_data(reader *r)
{
    int more = 1;
    while (more) HX_TRY(next_line(r, &more));
    return HX_OK;
}

static int skip_data(reader *r, int64_t number)
{
    const size_t n = strlen(r->skipped);
    if (n + 24 < sizeof r->skipped)
        snprintf(r->skipped + n, sizeof r->skipped - n, "%s%lld", n > 0 ? ", " : "",
                 (long long)number);
    return pass_data(r);
}

/* Records supports, loads and constraints of a model, none of which are read. */
static int name_data(reader *r, int64_t number)
{
    char word[40];
    snprintf(word, sizeof word, "data set %lld", (long long)number);
    HX_TRY(hx_import_unread(&r->import, HX_UNREAD_LOAD | HX_UNREAD_SUPPORT, word,
                            "restraints, loads or constraints", 1, r->scan.word_line));
    return pass_data(r);
}

/* Code, description in 20 columns, temperature mode; then factors. No number is converted. */
static int read_units(reader *r)
{
    char text[21] = "";
    double factor[3] = {0.0}; /* units of length, force and temperature per SI unit */
    int more;
    HX_TRY(next_line(r, &more));
    if (!more) return HX_OK;
    if (strlen(r->line) > 10) snprintf(text, sizeof text, "%.20s", r->line + 10);
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--)
        text[n - 1] = '\0';
    r->import.units = hx_file_units_of_unv(atoi(r->line), text + strspn(text, " "));
    HX_TRY(hx_notes_add(r->import.notes, HX_NOTE_INFO,
                        "%s:%lld: the file states its units, '%s'; no number is converted",
                        r->scan.path, (long long)r->scan.word_line, text + strspn(text, " ")));
    HX_TRY(next_line(r, &more));
    if (!more) return HX_OK;
    for (char *c = r->line; *c; c++)
        if (*c == 'D' || *c == 'd') *c = 'e';
    if (sscanf(r->line, "%lf %lf %lf", &factor[0], &factor[1], &factor[2]) >= 2)
        hx_file_units_set_factors(&r->import.units, 1.0 / factor[0], 1.0 / factor[1]);
    return pass_data(r);
}

/* An older layout of groups, for which there is no public description. */
static int pass_groups(reader *r, int64_t number)
{
    HX_TRY(hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                        "%s:%lld: data set %lld: groups in a layout that is not read, so they make "
                        "no sets: write data set 2467 instead",
                        r->scan.path, (long long)r->scan.word_line, (long long)number));
    return skip_data(r, number);
}

static int read_properties(reader *r, int64_t number)
{
    r->has_properties = 1;
    return skip_data(r, number);
}

static int read_data(reader *r, int64_t number)
{
    switch (number) {
    case 2411:
    case 781:
        return read_unv_nodes(r);
    case 15:
        return read_short_nodes(r);
    case 2412:
        return read_elements(r, 6);
    case 780:
        return read_elements(r, 8);
    case 2435:
    case 2452:
    case 2467:
    case 2477:
        return read_groups(r, 4);
    case 2417:
    case 2429:
    case 2430:
    case 2432:
        return read_groups(r, 2);
    case 752:
        return pass_groups(r, number);
    case 164:
        return read_units(r);
    case 2420:
        return read_systems(r);
    case 754:
    case 755:
    case 756:
    case 757:
    case 758:
    case 782:
    case 790:
    case 791:
    case 792:
    case 793:
        return name_data(r, number);
    case 747:
    case 772:
    case 776:
    case 788:
    case 789:
    case 1703:
    case 1710:
    case 1716:
    case 2437:
    case 2438:
    case 2448:
    case 2470:
        return read_properties(r, number);
    default:
        return skip_data(r, number);
    }
}

static int read_unv_file(reader *r)
{
    int found, more, n;
    int64_t number;
    for (;;) {
        HX_TRY(hx_file_scan_line(&r->scan, r->line, sizeof r->line, &found));
        if (!found) break;
        if (r->line[strspn(r->line, " \t")] == '\0') continue;
        HX_TRY(take_integers(r, 1, 1, &number, &n));
        if (number != -1)
            return HX_FILE_RAISE(&r->scan, "a line of -1, which begins a data set, is expected");
        HX_TRY(next_line(r, &more));
        if (!more) return HX_FILE_RAISE(&r->scan, "the number of a data set is expected");
        HX_TRY(take_integers(r, 1, 1, &number, &n));
        HX_TRY(read_data(r, number));
    }
    if (!r->skipped[0]) return HX_OK;
    return hx_notes_add(r->import.notes, HX_NOTE_DETAIL, "%s: data sets that are not read: %s",
                        r->scan.path, r->skipped);
}

static int name_skins(reader *r)
{
    char word[40];
    for (size_t i = 0; i < r->n_skin && r->has_properties; i++) {
        snprintf(word, sizeof word, "element %lld", (long long)r->skin[i].kind);
        HX_TRY(hx_import_unread(&r->import, HX_UNREAD_CARRIES | HX_UNREAD_MASS, word,
                                r->skin[i].name, r->skin[i].n, r->skin[i].line));
    }
    return HX_OK;
}

int hx_unv_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK;
    reader r;
    if (conditions) memset(conditions, 0, sizeof *conditions);
    memset(&r, 0, sizeof r);
    memset(mesh, 0, sizeof *mesh);
    HX_TRY_FAIL(hx_import_open(&r.import, path, notes));
    HX_TRY_FAIL(hx_file_scan_open(&r.scan, path));
    HX_TRY_FAIL(read_unv_file(&r));
    HX_TRY_FAIL(check_systems(&r));
    HX_TRY_FAIL(resolve_members(&r));
    HX_TRY_FAIL(name_groups(&r));
    HX_TRY_FAIL(note_groups(&r));
    HX_TRY_FAIL(name_skins(&r));
    HX_TRY_FAIL(hx_import_finish(&r.import, mesh));
    hx_import_give_unread(&r.import, conditions);
fail:
    hx_file_scan_free(&r.scan);
    hx_import_free(&r.import);
    hx_numbers_free(&r.cell_number);
    hx_numbers_free(&r.cell_corner);
    free(r.member);
    free(r.skin);
    free(r.system);
    free(r.use);
    for (size_t i = 0; i < r.n_group; i++) free(r.group[i].name);
    free(r.group);
    return rc;
}
