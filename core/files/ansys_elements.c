/* Elements of ANSYS archives: the solid, or other cell, for a number of the element library, and
 * the four ways in which an archive states elements. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/names.h"
#include "ansys_reader.h"

/* --- the library --- */

/* Category of an element of the library. A solid is read if solid.h has its kind, and refused
 * otherwise. */
typedef enum {
    BRICK8,
    BRICK20,
    TETRA10,
    TETRA4,
    OTHER_SOLID,
    SHELL,   /* also plane elements: they carry load and have mass */
    LINE,    /* between nodes: beams, trusses, springs, joints */
    CONTACT, /* contact and target elements, superelements */
    MASS,
    SURFACE, /* receives loads on a face; with real constants it also carries load */
    MARK     /* carries no load */
} library_kind;

/* n_node: largest number of nodes of a record; needed where the end of a record must be found
 * without a count. */
typedef struct library_row {
    const char *prefix;
    library_kind kind;
    int n_node;
    int16_t number[32]; /* terminated by 0 */
} library_row;

static const library_row library[] = {
    {"SOLID", BRICK8, 8, {5, 45, 64, 65, 70, 73, 96, 164, 185, 278, 0}},
    {"SOLID", BRICK20, 20, {90, 95, 186, 226, 279, 0}},
    {"SOLID", TETRA10, 10, {87, 92, 98, 168, 187, 227, 291, 0}},
    {"SOLID", TETRA4, 4, {72, 285, 0}},
    {"SOLID", OTHER_SOLID, 8, {46, 62, 69, 97, 0}},
    {"SOLID", OTHER_SOLID, 10, {123, 127, 148, 232, 237, 240, 0}},
    {"SOLID", OTHER_SOLID, 20, {117, 122, 128, 147, 191, 225, 231, 236, 239, 272, 273, 0}},
    {"SOLSH", OTHER_SOLID, 8, {190, 0}},
    {"VISCO", OTHER_SOLID, 20, {88, 89, 106, 107, 108, 0}},
    {"CPT", OTHER_SOLID, 20, {212, 213, 215, 216, 217, 0}},
    {"FLUID", OTHER_SOLID, 20, {29, 30, 79, 80, 81, 129, 130, 141, 142, 220, 221, 243, 244, 0}},
    {"INFIN", OTHER_SOLID, 20, {9, 47, 110, 111, 257, 0}},
    {"SHELL", SHELL, 8, {28,  41,  43,  51,  57,  61,  63,  91,  93,  99, 131,
                         132, 143, 150, 157, 163, 181, 208, 209, 281, 0}},
    {"PLANE", SHELL, 8, {13,  25,  35,  42,  53,  55,  67,  75,  77,  78,  82,  83,  121,
                         145, 146, 162, 182, 183, 222, 223, 230, 233, 238, 292, 293, 0}},
    {"BEAM", LINE, 4, {3, 4, 23, 24, 44, 54, 161, 188, 189, 0}},
    {"LINK", LINE, 4, {1, 8, 10, 11, 31, 32, 33, 34, 68, 160, 167, 180, 0}},
    {"PIPE", LINE, 4, {16, 17, 18, 20, 59, 60, 288, 289, 0}},
    {"ELBOW", LINE, 4, {290, 0}},
    {"COMBIN", LINE, 5, {7, 14, 37, 39, 40, 0}},
    {"COMBI", LINE, 4, {165, 214, 250, 0}},
    {"MATRIX", LINE, 2, {27, 0}},
    {"MATRIX", CONTACT, 64, {50, 0}},
    {"MPC", LINE, 4, {184, 0}},
    {"PRETS", LINE, 4, {179, 0}},
    {"FLUID", LINE, 4, {38, 66, 116, 136, 138, 139, 218, 0}},
    {"TRANS", LINE, 2, {109, 126, 0}},
    {"CIRCU", LINE, 6, {94, 124, 125, 0}},
    {"REINF", CONTACT, 20, {263, 264, 265, 0}},
    {"INTER", CONTACT, 16, {115, 192, 193, 194, 195, 202, 203, 204, 205, 0}},
    {"CONTA", CONTACT, 9, {171, 172, 173, 174, 175, 176, 177, 178, 0}},
    {"TARGE", CONTACT, 9, {169, 170, 0}},
    {"CONTAC", CONTACT, 5, {12, 26, 48, 49, 52, 0}},
    {"MASS", MASS, 1, {21, 71, 166, 0}},
    {"SURF", SURFACE, 10, {151, 152, 153, 154, 155, 156, 159, 251, 252, 0}},
    {"FOLLW", SURFACE, 1, {201, 0}},
    {"MESH", MARK, 20, {200, 0}},
};

static const library_row *find_row(int number)
{
    for (size_t i = 0; i < sizeof library / sizeof library[0]; i++)
        for (const int16_t *n = library[i].number; *n; n++)
            if (*n == number) return &library[i];
    return NULL;
}

/* Returns "SOLID185" for a number of the element library, "ET-999" for an unknown number. */
static const char *library_name(int type, char text[HX_ANSYS_WORD])
{
    const library_row *const row = find_row(type);
    snprintf(text, HX_ANSYS_WORD, "%s%d", row ? row->prefix : "ET-", type);
    return text;
}

/* --- elements into the import --- */

/* Finds the solid for an element with this number of nodes; type 0: there is no ET. Bricks with
 * repeated nodes are prisms, pyramids and tetrahedra. A record that ends after the corners has
 * straight edges. */
static int find_solid(const library_row *row, int type, int n_node, hx_solid_id *id)
{
    *id = n_node == 8 ? HX_SOLID_HEX8 : n_node == 20 ? HX_SOLID_HEX20 : HX_SOLID_TET10;
    if (type == 0) return n_node == 8 || n_node == 20 || n_node == 10;
    if (!row || row->kind >= OTHER_SOLID) return 0;
    const int is_tetra = row->kind == TETRA10 || row->kind == TETRA4;
    const int n_corner = is_tetra ? 4 : 8;
    *id = is_tetra ? HX_SOLID_TET4 : HX_SOLID_HEX8;
    if (n_node > n_corner) *id = is_tetra ? HX_SOLID_TET10 : HX_SOLID_HEX20;
    return n_node >= n_corner && n_node <= row->n_node;
}

static hx_shape shape_of(const library_row *row)
{
    if (!row || row->kind == OTHER_SOLID) return HX_SHAPE_OTHER;
    if (row->kind == MASS) return HX_SHAPE_POINT;
    return row->kind == LINE ? HX_SHAPE_LINE : HX_SHAPE_QUADRANGLE;
}

static int has_constants(const hx_ansys_reader *r, int64_t real)
{
    return real > 0 && real < HX_ANSYS_NUMBERS && r->has_constants[real];
}

/* Records a cell that carries load, has mass or receives loads. */
static int name_other(hx_ansys_reader *r, const library_row *row, const char *name, int64_t real,
                      int64_t line)
{
    static const char *const what[] = {[SHELL] = "shells",
                                       [LINE] = "line elements",
                                       [CONTACT] = "contact or constraint elements",
                                       [MASS] = "point masses",
                                       [SURFACE] = "surface effect elements",
                                       [MARK] = NULL};
    unsigned roles = 0;
    if (row->kind == SHELL || row->kind == LINE) roles = HX_UNREAD_CARRIES | HX_UNREAD_MASS;
    if (row->kind == CONTACT) roles = HX_UNREAD_CARRIES;
    if (row->kind == MASS) roles = HX_UNREAD_MASS;
    if (row->kind == SURFACE) roles = HX_UNREAD_LOAD;
    if (row->kind == SURFACE && has_constants(r, real)) roles |= HX_UNREAD_CARRIES;
    if (!roles) return HX_OK;
    const int is_plane = strcmp(row->prefix, "PLANE") == 0;
    return hx_ansys_unread(r, roles, name, is_plane ? "plane elements" : what[row->kind], line);
}

static int add_other(hx_ansys_reader *r, int type, int64_t real, int64_t number, int n_node,
                     int64_t line)
{
    char name[HX_ANSYS_WORD], text[HX_ANSYS_WORD + 40];
    const library_row *const row = find_row(type);
    const hx_shape shape = shape_of(row);
    library_name(type, name);
    if (shape == HX_SHAPE_OTHER) {
        snprintf(text, sizeof text, "%s (ANSYS) of %d %s", name, n_node,
                 hx_noun(n_node, "node", "nodes"));
        return hx_import_add_other(&r->import, shape, text, number, line);
    }
    if (row->kind < OTHER_SOLID)
        return HX_IMPORT_RAISE(&r->import, line,
                               "element %lld, of type %s, has %d %s; it needs %d, or "
                               "fewer if the omitted ones at the end are 0",
                               (long long)number, name, n_node, hx_noun(n_node, "node", "nodes"),
                               row->n_node);
    HX_TRY(name_other(r, row, name, real, line));
    return hx_import_add_other(&r->import, shape, name, number, line);
}

/* Describes how the KEYOPTs of a solid make ANSYS integrate or enrich it; NULL: ANSYS treats it as
 * this program does. */
static const char *find_formulation(int number, const int8_t option[HX_ANSYS_OPTIONS])
{
    static const char *const of_185[] = {"B-bar", "reduced integration", "enhanced strains",
                                         "simplified enhanced strains"};
    static const char *const extra = "extra displacement shapes";
    if (number == 185 && option[1] >= 0 && option[1] < 4) return of_185[option[1]];
    if (number == 186 && option[1] == 0) return "reduced integration";
    if (number == 45 || number == 64 || number == 73)
        return option[1] == 1 ? "reduced integration" : extra;
    if (number == 65) return option[0] == 0 ? extra : NULL;
    if (number == 5) return option[2] == 0 ? extra : NULL;
    return NULL;
}

/* KEYOPT(3) of SOLID185, SOLID186 and the thermal SOLID278, SOLID279. */
static int is_layered(int number, const int8_t option[HX_ANSYS_OPTIONS])
{
    return (number == 185 || number == 186 || number == 278 || number == 279) && option[2] != 0;
}

static int name_layered(hx_ansys_reader *r, const hx_ansys_solids *solids)
{
    char name[HX_ANSYS_WORD], word[HX_ANSYS_WORD + 16];
    snprintf(word, sizeof word, "%s, layered", library_name(solids->number, name));
    return hx_import_unread(&r->import, HX_UNREAD_MATERIAL, word, "layers by KEYOPT(3)", solids->n,
                            solids->line);
}

/* A formulation is a warning if the file is a job, for which ANSYS has a solution. */
static int note_formulations(hx_ansys_reader *r, const hx_unread *list)
{
    const int is_job = r->conditions.n > 0 || r->import.unread.n > 0;
    for (size_t i = 0; i < list->n; i++)
        HX_TRY(hx_notes_add(
            r->notes, is_job ? HX_NOTE_WARNING : HX_NOTE_INFO,
            "%s: elements of type %s (%s in ANSYS) are analysed with full integration: ANSYS gives "
            "other displacements, with a larger difference on coarse meshes",
            r->import.path, list->kind[i].word, list->kind[i].what));
    return HX_OK;
}

int hx_ansys_name_solids(hx_ansys_reader *r)
{
    hx_unread list = {0};
    int rc = HX_OK;
    for (int type = 1; type < HX_ANSYS_NUMBERS && rc == HX_OK; type++) {
        const hx_ansys_solids *const solids = &r->solids[type];
        char name[HX_ANSYS_WORD];
        if (solids->n == 0) continue;
        const char *const how = find_formulation(solids->number, r->option[type]);
        if (is_layered(solids->number, r->option[type])) rc = name_layered(r, solids);
        if (rc == HX_OK && how)
            rc = hx_unread_add(&list, 0, library_name(solids->number, name), how, 1, "", 0);
    }
    if (rc == HX_OK) rc = note_formulations(r, &list);
    hx_unread_free(&list);
    return rc;
}

static void count_solid(hx_ansys_reader *r, int64_t type, int number, int64_t line)
{
    hx_ansys_solids *const solids = &r->solids[type];
    if (solids->n++ > 0) return;
    solids->line = line;
    solids->number = (int16_t)number;
}

/* Nodes after the first n_node are zero; zeros at the end count as not given. */
static int add_ansys_element(hx_ansys_reader *r, hx_ansys_pending *given)
{
    const int64_t type = given->type, number = given->number, line = given->line;
    int64_t *const node = given->node;
    hx_numbered_material *material;
    int n_node = given->n_node;
    hx_solid_id id;
    const int library_type = type > 0 && type < HX_ANSYS_NUMBERS ? r->type[type] : 0;
    const library_row *const row = find_row(library_type);
    while (row && row->kind <= TETRA4 && n_node > 0 && node[n_node - 1] == 0) n_node--;
    if (number > r->last_elem) r->last_elem = number;
    if (!find_solid(row, library_type, n_node, &id))
        return add_other(r, library_type, given->real, number, n_node, line);
    for (int k = 0; k < hx_solids[id].n_node; k++)
        if (node[k] < 0 || (node[k] == 0 && k < hx_solids[id].n_corner))
            return HX_IMPORT_RAISE(&r->import, line, "element %lld lacks nodes", (long long)number);
    /* Mid-side nodes that the file omits are 0: the edge is straight, and one of its ends is
     * stored instead. */
    const hx_solid *const solid = &hx_solids[id];
    for (int k = solid->n_corner; k < solid->n_node; k++) {
        int c = 0;
        while (!(solid->middle_of[k - solid->n_corner] >> c & 1)) c++;
        if (node[k] == 0) node[k] = node[c];
    }
    if (library_type > 0) count_solid(r, type, library_type, line);
    HX_TRY(hx_materials_at(&r->materials, given->material, &material));
    material->is_used = 1;
    HX_TRY(hx_numbers_append(&material->elem, 1, &number));
    return hx_import_add_solids(&r->import, id, 1, &number, node, line);
}

/* --- EBLOCK --- */

/* Largest number of nodes of a record of the type. HX_EINPUT: the end of the record cannot be
 * found. */
static int most_nodes(hx_ansys_reader *r, int64_t type, int *n)
{
    const int library_type = type > 0 && type < HX_ANSYS_NUMBERS ? r->type[type] : 0;
    const library_row *const row = find_row(library_type);
    *n = row ? row->n_node : 0;
    if (row) return HX_OK;
    return HX_ANSYS_RAISE(r,
                          "an element of type %lld, without an ET of a known element before it: "
                          "its number of nodes is unknown",
                          (long long)type);
}

/* Reads n nodes: those from field `first` of the line, then fields of the following lines. */
static int read_element_nodes(hx_ansys_reader *r, const hx_ansys_layout *l, int first, int n_line,
                              int n, int64_t *node)
{
    int column = first;
    for (int k = 0; k < n; k++, column++) {
        if (k == n_line || column == l->n_int) {
            HX_TRY(hx_ansys_need_line(r, "EBLOCK"));
            column = 0;
        }
        HX_TRY(hx_ansys_int(r, l, column, &node[k]));
    }
    return HX_OK;
}

/* A record has 19 fields: 0 material, 1 type, 2 set of real constants, 8 number of nodes, 10 number
 * of the element, and 11 to 18 the first nodes. Further nodes are on lines of their own. */
static int solid_record(hx_ansys_reader *r, const hx_ansys_layout *l)
{
    enum { MATERIAL, TYPE, REAL, N_NODE = 8, NUMBER = 10, FIRST = 11 };
    int64_t field[FIRST] = {0};
    hx_ansys_pending p = {.line = r->line};
    for (int k = 0; k < FIRST; k++) HX_TRY(hx_ansys_int(r, l, k, &field[k]));
    if (field[N_NODE] < 1 || field[N_NODE] > HX_ANSYS_FIELDS)
        return HX_ANSYS_RAISE(r, "element %lld has %lld %s", (long long)field[NUMBER],
                              (long long)field[N_NODE], hx_noun(field[N_NODE], "node", "nodes"));
    p.number = field[NUMBER];
    p.type = field[TYPE];
    p.real = field[REAL];
    p.material = field[MATERIAL];
    p.n_node = (int)field[N_NODE];
    HX_TRY(read_element_nodes(r, l, FIRST, 8, p.n_node, p.node));
    return add_ansys_element(r, &p);
}

/* Number, type, real constants, material, coordinate system, nodes; or, with COMPACT, number and
 * nodes of the type set by TYPE. There is no count of nodes: a record ends at the end of its line,
 * or with the largest number of nodes of its type. */
static int plain_record(hx_ansys_reader *r, const hx_ansys_layout *l, int first)
{
    int64_t field[5] = {0};
    int most;
    const int n_field = hx_ansys_count(r, l), n_line = l->n_int - first;
    hx_ansys_pending p = {.line = r->line,
                          .type = r->current_type,
                          .real = r->current_real,
                          .material = r->current_material};
    if (n_field <= first) return HX_ANSYS_RAISE(r, "an element without nodes");
    for (int k = 0; k < first; k++) HX_TRY(hx_ansys_int(r, l, k, &field[k]));
    p.number = field[0];
    if (first > 1) {
        const int is_typed = field[1] > 0 && field[1] < HX_ANSYS_NUMBERS && r->type[field[1]] > 0;
        if (is_typed) p.type = field[1];
        p.real = field[2];
        p.material = field[3];
    }
    p.n_node = n_field - first;
    if (p.n_node == n_line) {
        HX_TRY(most_nodes(r, p.type, &most));
        if (most > p.n_node) p.n_node = most;
    }
    HX_TRY(read_element_nodes(r, l, first, n_line, p.n_node, p.node));
    return add_ansys_element(r, &p);
}

/* EBLOCK,19,SOLID; EBLOCK,10 or EBLOCK,9,COMPACT */
int hx_ansys_eblock(hx_ansys_reader *r)
{
    hx_ansys_layout l;
    const int is_solid = hx_ansys_is(r, 2, "SOLID"), is_compact = hx_ansys_is(r, 2, "COMPACT");
    const int first = is_compact ? 1 : 5;
    char word[HX_ANSYS_WORD];
    if (!is_solid && !is_compact && *hx_ansys_word(r, 2, word))
        return HX_ANSYS_RAISE(
            r,
            "EBLOCK of the form '%.40s'; only SOLID, COMPACT and the form without a name are read",
            word);
    HX_TRY(hx_ansys_layout_read(r, "EBLOCK", &l));
    if (is_solid && l.n_int < 19)
        return HX_ANSYS_RAISE(r, "EBLOCK with %d %s; it must have 19, as CDWRITE writes it",
                              l.n_int, hx_noun(l.n_int, "field", "fields"));
    if (!is_solid && l.n_int <= first)
        return HX_ANSYS_RAISE(r, "EBLOCK with %d %s, which leaves no fields for nodes", l.n_int,
                              hx_noun(l.n_int, "field", "fields"));
    for (;;) {
        HX_TRY(hx_ansys_need_line(r, "EBLOCK"));
        if (hx_ansys_is_end(r)) return HX_OK;
        HX_TRY(is_solid ? solid_record(r, &l) : plain_record(r, &l, first));
    }
}

/* --- E and EN --- */

int hx_ansys_close_element(hx_ansys_reader *r)
{
    hx_ansys_pending *const p = &r->pending;
    if (!p->is_open) return HX_OK;
    p->is_open = 0;
    return add_ansys_element(r, p);
}

static int take_nodes(hx_ansys_reader *r, int k, int n)
{
    char word[HX_ANSYS_WORD];
    hx_ansys_pending *const p = &r->pending;
    for (int last = k + n; k < last; k++) {
        if (!*hx_ansys_word(r, k, word) && p->n_wanted > 0) continue;
        if (p->n_node == HX_ANSYS_FIELDS || (p->n_wanted > 0 && p->n_node == p->n_wanted))
            return HX_OK;
        HX_TRY(hx_ansys_integer(r, k, &p->node[p->n_node++]));
    }
    while (!p->n_wanted && p->n_node > 0 && p->node[p->n_node - 1] == 0) p->n_node--;
    return HX_OK;
}

static int open_element(hx_ansys_reader *r, int64_t number)
{
    HX_TRY(hx_ansys_close_element(r));
    if (hx_ansys_is_nested(r))
        return HX_ANSYS_RAISE(r, "an element within a branch or loop, which only ANSYS can run: "
                                 "write the archive in ANSYS with CDWRITE,DB");
    r->pending = (hx_ansys_pending){.is_open = 1,
                                    .number = number,
                                    .line = r->line,
                                    .type = r->current_type,
                                    .real = r->current_real,
                                    .material = r->current_material};
    return HX_OK;
}

/* EN,number,I,J,K,... or, unblocked, EN,R5.5,ATTR,nodes,material,type,real,section,system,number
 * and EN,R5.5,NODE,I,J,K,... */
int hx_ansys_en(hx_ansys_reader *r)
{
    int64_t number, n_node, type, real, material;
    if (!hx_ansys_is_unblocked(r)) {
        HX_TRY(hx_ansys_integer(r, 1, &number));
        HX_TRY(open_element(r, number));
        return take_nodes(r, 2, 8);
    }
    if (hx_ansys_is(r, 2, "NODE")) return r->pending.is_open ? take_nodes(r, 3, 8) : HX_OK;
    HX_TRY(hx_ansys_integer(r, 3, &n_node));
    if (n_node < 0) return hx_ansys_close_element(r); /* EN,R5.5,ATTR,-1 ends a block */
    HX_TRY(hx_ansys_integer(r, 4, &material));
    HX_TRY(hx_ansys_integer(r, 5, &type));
    HX_TRY(hx_ansys_integer(r, 6, &real));
    HX_TRY(hx_ansys_integer(r, 9, &number));
    if (n_node < 1 || n_node > HX_ANSYS_FIELDS)
        return HX_ANSYS_RAISE(r, "an element of %lld %s", (long long)n_node,
                              hx_noun(n_node, "node", "nodes"));
    HX_TRY(open_element(r, number));
    r->pending.material = material;
    r->pending.type = type;
    r->pending.real = real;
    r->pending.n_wanted = (int)n_node;
    return HX_OK;
}

/* E,I,J,K,...: the element gets the next number. */
int hx_ansys_e(hx_ansys_reader *r)
{
    HX_TRY(hx_ansys_close_element(r));
    HX_TRY(open_element(r, r->last_elem + 1));
    return take_nodes(r, 1, 8);
}

/* EMORE,Q,R,...: eight more nodes, which follow the first eight even if some of those are zero. */
int hx_ansys_emore(hx_ansys_reader *r)
{
    hx_ansys_pending *const p = &r->pending;
    if (!p->is_open) return HX_ANSYS_RAISE(r, "EMORE without an E or EN before it");
    p->n_node = (p->n_node + 7) / 8 * 8;
    return take_nodes(r, 1, 8);
}

/* --- types and real constants --- */

static void set_type(hx_ansys_reader *r, int64_t type, int64_t number)
{
    if (type > 0 && type < HX_ANSYS_NUMBERS && number > 0 && number < 1000)
        r->type[type] = (int16_t)number;
}

static void set_option(hx_ansys_reader *r, int64_t type, int key, double value)
{
    if (key >= 1 && key <= HX_ANSYS_OPTIONS && type > 0 && type < HX_ANSYS_NUMBERS &&
        value >= 0.0 && value < 100.0)
        r->option[type][key - 1] = (int8_t)value;
}

/* ET,type,185,KOP1,KOP2,...; SOLID185 may be given instead of 185 */
int hx_ansys_et(hx_ansys_reader *r)
{
    char word[HX_ANSYS_WORD];
    int64_t type, number;
    HX_TRY(hx_ansys_integer(r, 1, &type));
    hx_ansys_word(r, 2, word);
    const char *const digits = word + strcspn(word, "0123456789");
    number = strtoll(digits, NULL, 10);
    if (!*digits && *word) HX_TRY(hx_ansys_integer(r, 2, &number));
    set_type(r, type, number);
    for (int k = 1; k <= HX_ANSYS_OPTIONS; k++) {
        double value;
        if (hx_ansys_number(r, 2 + k, &value)) set_option(r, type, k, value);
    }
    return HX_OK;
}

/* KEYOPT,type,2,value */
int hx_ansys_keyopt(hx_ansys_reader *r)
{
    double type, key, value;
    if (!hx_ansys_number(r, 1, &type) || !hx_ansys_number(r, 2, &key) ||
        !hx_ansys_number(r, 3, &value))
        return HX_OK;
    if (fabs(type) < HX_ANSYS_NUMBERS && fabs(key) < 100.0)
        set_option(r, (int64_t)type, (int)key, value);
    return HX_OK;
}

int hx_ansys_etblock(hx_ansys_reader *r)
{
    hx_ansys_layout l;
    HX_TRY(hx_ansys_layout_read(r, "ETBLOCK", &l));
    if (l.n_int < 2) return HX_ANSYS_RAISE(r, "the format of ETBLOCK lacks two integers");
    for (;;) {
        int64_t type, number;
        HX_TRY(hx_ansys_need_line(r, "ETBLOCK"));
        if (hx_ansys_is_end(r)) return HX_OK;
        HX_TRY(hx_ansys_int(r, &l, 0, &type));
        HX_TRY(hx_ansys_int(r, &l, 1, &number));
        set_type(r, type, number);
        /* Number, library number, KEYOPT(1), (2), ... of ETBLOCK; texts among them are ignored. */
        for (int k = 0; k < HX_ANSYS_OPTIONS && k < l.n_real; k++) {
            double value;
            if (hx_ansys_real(r, &l, k, &value) == HX_OK)
                set_option(r, type, k + 1, value);
            else
                hx_error_clear();
        }
    }
}

static void set_constants(hx_ansys_reader *r, int64_t real)
{
    if (real > 0 && real < HX_ANSYS_NUMBERS) r->has_constants[real] = 1;
}

/* R,set,value,...: checks whether a value is not zero */
int hx_ansys_constants(hx_ansys_reader *r)
{
    double value, real;
    if (!hx_ansys_number(r, 1, &real)) return HX_OK;
    for (int k = 2; k < 8; k++)
        if (!hx_ansys_number(r, k, &value) || value != 0.0) set_constants(r, (int64_t)real);
    return HX_OK;
}

/* RLBLOCK,sets,...: two formats; for each set its number, its number of values, the values. */
int hx_ansys_rlblock(hx_ansys_reader *r)
{
    hx_ansys_layout first, more;
    int64_t n_set, real, n;
    HX_TRY(hx_ansys_integer(r, 1, &n_set));
    HX_TRY(hx_ansys_layout_read(r, "RLBLOCK", &first));
    HX_TRY(hx_ansys_need_line(r, "RLBLOCK")); /* the second format, for lines of 7 values */
    memset(&more, 0, sizeof more);
    if (first.n_int < 2 || first.n_real < 1)
        return HX_ANSYS_RAISE(r, "the format of RLBLOCK lacks two integers and a real number");
    for (more.n_real = 0; more.n_real < 7; more.n_real++) {
        more.begin[more.n_real] = more.n_real * first.width[2];
        more.width[more.n_real] = first.width[2];
    }
    for (int64_t i = 0; i < n_set; i++) {
        HX_TRY(hx_ansys_need_line(r, "RLBLOCK"));
        HX_TRY(hx_ansys_int(r, &first, 0, &real));
        HX_TRY(hx_ansys_int(r, &first, 1, &n));
        const hx_ansys_layout *l = &first;
        for (int64_t k = 0, column = 0; k < n; k++, column++) {
            double value;
            if (column == l->n_real) {
                HX_TRY(hx_ansys_need_line(r, "RLBLOCK"));
                l = &more;
                column = 0;
            }
            HX_TRY(hx_ansys_real(r, l, (int)column, &value));
            if (value != 0.0) set_constants(r, real);
        }
    }
    return HX_OK;
}
