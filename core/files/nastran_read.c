#include "nastran_read.h"

#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "nastran_reader.h"

enum { MOST_LOST = 1000 };

int hx_nastran_lose(hx_nastran_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_lost; i++) {
        if (strcmp(r->lost[i].name, name) != 0) continue;
        r->lost[i].n++;
        return HX_OK;
    }
    if (r->n_lost == MOST_LOST)
        return HX_NASTRAN_RAISE(&r->scan,
                                "more than %d kinds of cards that are not known: no bulk "
                                "data, it seems",
                                MOST_LOST);
    HX_TRY(hx_grow(&r->lost, r->n_lost, &r->lost_capacity, sizeof *r->lost, "cards"));
    hx_nastran_lost *const lost = &r->lost[r->n_lost++];
    snprintf(lost->name, sizeof lost->name, "%s", name);
    lost->n = 1;
    return HX_OK;
}

/* --- nodes --- */

/* ID, CP, X1, X2, X3, CD, PS */
static int take_grid(hx_nastran_reader *r)
{
    int64_t number, system, output;
    double x[3];
    unsigned components = 0;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of a node is expected");
    HX_TRY(hx_nastran_int(&r->scan, 1, r->grid_system, &system));
    if (system != 0) HX_TRY(hx_nastran_keep_place(r, system));
    for (size_t d = 0; d < 3; d++) HX_TRY(hx_nastran_real(&r->scan, 2 + d, 0.0, &x[d]));
    HX_TRY(hx_nastran_int(&r->scan, 5, 0, &output));
    if (output != 0)
        HX_TRY(hx_import_conditions_set_fault(
            &r->conditions,
            "%s:%lld: GRID %lld has displacements in coordinate system %lld; supports and forces "
            "are read in the basic one only",
            r->scan.path, (long long)r->scan.line, (long long)number, (long long)output));
    if (*hx_nastran_text(&r->scan, 6))
        HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, 6), &components));
    else
        components = (unsigned)r->grid_components;
    if (components) HX_TRY(hx_nastran_add_support(r, 0, number, components, 0.0));
    return hx_import_add_nodes(&r->import, 1, &number, x, r->scan.line);
}

/* Blank, CP, blank, blank, blank, CD, PS of GRIDs that do not say */
static int take_grdset(hx_nastran_reader *r)
{
    unsigned components = 0;
    int64_t output;
    HX_TRY(hx_nastran_int(&r->scan, 1, 0, &r->grid_system));
    HX_TRY(hx_nastran_int(&r->scan, 5, 0, &output));
    if (*hx_nastran_text(&r->scan, 6))
        HX_TRY(hx_nastran_components(r, hx_nastran_text(&r->scan, 6), &components));
    r->grid_components = components;
    return output == 0 ? HX_OK : hx_nastran_lose(r, "GRDSET");
}

/* --- elements --- */

typedef struct cell_type {
    const char *name;
    int n_corner, n_node;
    int is_solid;
    hx_solid_id linear, full;
    hx_shape shape;
    const int8_t *order; /* of all nodes in the file; NULL: as they come */
} cell_type;

/* Edges along the height come before those of the top. */
static const int8_t hexa[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15};
static const int8_t penta[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11};

#define SOLID(name, n_corner, n, linear, full, order)                                              \
    {                                                                                              \
        name, n_corner, n, 1, linear, full, HX_SHAPE_OTHER, order                                  \
    }
#define SHELL(name, n_corner, shape)                                                               \
    {                                                                                              \
        name, n_corner, n_corner, 0, HX_SOLID_HEX8, HX_SOLID_HEX8, shape, NULL                     \
    }
static const cell_type types[] = {
    SOLID("CTETRA", 4, 10, HX_SOLID_TET4, HX_SOLID_TET10, NULL),
    SOLID("CHEXA", 8, 20, HX_SOLID_HEX8, HX_SOLID_HEX20, hexa),
    SOLID("CPENTA", 6, 15, HX_SOLID_WEDGE6, HX_SOLID_WEDGE15, penta),
    SOLID("CPYRAM", 5, 13, HX_SOLID_PYRAMID5, HX_SOLID_PYRAMID13, NULL),
    SOLID("CPYRA", 5, 13, HX_SOLID_PYRAMID5, HX_SOLID_PYRAMID13, NULL),
    SHELL("CTRIA3", 3, HX_SHAPE_TRIANGLE),
    SHELL("CTRIA6", 3, HX_SHAPE_TRIANGLE),
    SHELL("CTRIAR", 3, HX_SHAPE_TRIANGLE),
    SHELL("CQUAD4", 4, HX_SHAPE_QUADRANGLE),
    SHELL("CQUAD8", 4, HX_SHAPE_QUADRANGLE),
    SHELL("CQUADR", 4, HX_SHAPE_QUADRANGLE),
};

static int open_property(hx_nastran_reader *r, int64_t property)
{
    char name[40];
    if (r->set && r->last_property == property) return HX_OK;
    snprintf(name, sizeof name, "property-%lld", (long long)property);
    r->last_property = property;
    return hx_import_set_named(&r->import, name, &r->set);
}

/* The nodes in the fields behind EID and PID; *n_blank of them are missing behind the corners. */
static int read_nodes(hx_nastran_reader *r, const cell_type *type, int64_t *node, int *n_blank)
{
    *n_blank = 0;
    for (int k = 0; k < type->n_node; k++) {
        HX_TRY(hx_nastran_int(&r->scan, 2 + (size_t)k, 0, &node[k]));
        if (node[k] < 0 || (node[k] == 0 && k < type->n_corner))
            return HX_NASTRAN_RAISE(&r->scan, "node %d of %d is missing", k + 1, type->n_corner);
        *n_blank += node[k] == 0;
    }
    return HX_OK;
}

static int add_solid(hx_nastran_reader *r, const cell_type *type, int64_t number,
                     const int64_t *node, int n_blank)
{
    int64_t in_order[HX_SOLID_NODES];
    const int is_full = n_blank == 0 && type->n_node > type->n_corner;
    r->n_partial += n_blank > 0 && n_blank < type->n_node - type->n_corner;
    for (int k = 0; k < type->n_node; k++) in_order[k] = node[type->order ? type->order[k] : k];
    HX_TRY(hx_numbers_append(&r->set->elem, 1, &number));
    return hx_import_add_solids(&r->import, is_full ? type->full : type->linear, 1, &number,
                                in_order, r->scan.line);
}

static int take_cell(hx_nastran_reader *r, const cell_type *type)
{
    int64_t number, property, node[HX_SOLID_NODES];
    int n_blank;
    HX_TRY(hx_nastran_int(&r->scan, 0, -1, &number));
    if (number < 1) return HX_NASTRAN_RAISE(&r->scan, "the number of an element is expected");
    HX_TRY(hx_nastran_int(&r->scan, 1, number, &property));
    HX_TRY(read_nodes(r, type, node, &n_blank));
    HX_TRY(open_property(r, property));
    if (type->is_solid) return add_solid(r, type, number, node, n_blank);
    const int64_t quad[4] = {node[0], node[1], node[2], node[type->n_corner - 1]};
    HX_TRY(hx_import_add_other(&r->import, type->shape, type->name, number, r->scan.line));
    HX_TRY(hx_numbers_append(&r->set->quad, 4, quad));
    return hx_nastran_lose(r, type->name);
}

/* --- cards --- */

typedef struct card {
    const char *name;
    int (*take)(hx_nastran_reader *r);
} card;

static const card cards[] = {
    {"GRID", take_grid},
    {"GRDSET", take_grdset},
    {"CORD2R", hx_nastran_take_system},
    {"CORD2C", hx_nastran_take_system},
    {"CORD2S", hx_nastran_take_system},
    {"SPC", hx_nastran_take_spc},
    {"SPC1", hx_nastran_take_spc1},
    {"SPCADD", hx_nastran_take_spcadd},
    {"FORCE", hx_nastran_take_force},
    {"PLOAD", hx_nastran_take_pload},
    {"PLOAD4", hx_nastran_take_pload4},
    {"LOAD", hx_nastran_take_load},
};

static int take_card(hx_nastran_reader *r)
{
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        if (strcmp(r->scan.name, cards[i].name) == 0) return cards[i].take(r);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(r->scan.name, types[i].name) == 0) return take_cell(r, &types[i]);
    return hx_nastran_lose(r, r->scan.name);
}

/* What describes the part and its materials, or how to solve and print. */
static int acts(const char *name)
{
    static const char *const plain[] = {
        "PARAM",   "MDLPRM", "PSOLID",  "PSHELL",  "PCOMP",  "PBAR",   "PBARL",   "PBEAM",
        "PBEAML",  "PROD",   "MAT1",    "MAT2",    "MAT4",   "MAT8",   "MAT9",    "MAT10",
        "MAT11",   "MATT1",  "CORD1R",  "CORD1C",  "CORD1S", "CORD2R", "CORD2C",  "CORD2S",
        "EIGRL",   "EIGR",   "DESC",    "SET",     "SET1",   "SET3",   "TABLED1", "TSTEP",
        "PLOTEL",  "ECHOON", "ECHOOFF", "ASET1",   "BEGIN",  "NSM1",   "DTI",     "PMASS",
        "PELAS",   "PBUSH",  "PSHEAR",  "DVPREL1", "DESVAR", "DRESP1", "DCONSTR", "DCONADD",
        "DOPTPRM", "DTPL",   "OPTIPRM", "FREQ1",   "PDAMP",
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(name, plain[i]) == 0) return 0;
    return 1;
}

/* "12 RBE2, 1 MOMENT" of those that act, or of the others, into text; returns how many kinds. */
static int list_lost(const hx_nastran_reader *r, int acting, char *text, size_t n_text)
{
    size_t n = 0;
    int n_kind = 0;
    text[0] = '\0';
    for (size_t i = 0; i < r->n_lost; i++) {
        if (acts(r->lost[i].name) != acting) continue;
        n_kind++;
        if (n + 48 < n_text)
            n += (size_t)snprintf(text + n, n_text - n, "%s%lld %s", n > 0 ? ", " : "",
                                  (long long)r->lost[i].n, r->lost[i].name);
        else if (n + 5 < n_text)
            n += (size_t)snprintf(text + n, n_text - n, " ...");
    }
    return n_kind;
}

/* Shells and bars alone may be there to mark faces, as in files of gmsh. */
static int says_what_acts(const hx_nastran_reader *r)
{
    int n = r->n_support > 0 || r->n_load > 0;
    for (size_t i = 0; i < r->n_lost; i++) {
        static const char *const bars[] = {"CBAR", "CBEAM", "CROD"};
        int is_mark = 0;
        for (size_t k = 0; k < 3; k++) is_mark |= strcmp(bars[k], r->lost[i].name) == 0;
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++)
            is_mark |= strcmp(types[k].name, r->lost[i].name) == 0;
        n |= !is_mark && acts(r->lost[i].name);
    }
    return n;
}

static int note_plain(hx_nastran_reader *r)
{
    char text[300];
    const char *const path = r->import.path;
    if (list_lost(r, 0, text, sizeof text) > 0)
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_DETAIL, "%s: not read: %s", path, text));
    if (r->n_partial == 0) return HX_OK;
    return hx_notes_add(r->notes, HX_NOTE_INFO,
                        "%s: %lld elements lack some of their mid-side nodes and are read by "
                        "their corners",
                        path, (long long)r->n_partial);
}

static int note_lost(hx_nastran_reader *r)
{
    char text[300];
    const char *const path = r->import.path;
    if (list_lost(r, 1, text, sizeof text) > 0) {
        HX_TRY(hx_notes_add(r->notes, HX_NOTE_INFO, "%s: what acts on the part and is not read: %s",
                            path, text));
        if (!says_what_acts(r)) return note_plain(r);
        HX_TRY(hx_import_conditions_set_fault(
            &r->conditions,
            "%s holds what acts on the part and is not read (%s): state in the config what acts, "
            "instead of from = \"file\"",
            path, text));
    }
    return note_plain(r);
}

static void reader_free(hx_nastran_reader *r)
{
    hx_nastran_free(&r->scan);
    hx_import_free(&r->import);
    hx_import_conditions_free(&r->conditions);
    free(r->lost);
    free(r->support);
    free(r->load);
    free(r->part);
    free(r->list);
    free(r->system);
    free(r->place);
}

int hx_nastran_read(const char *path, hx_mesh *mesh, hx_conditions *conditions, hx_notes *notes)
{
    int rc = HX_OK, found = 1;
    hx_nastran_reader *r = NULL;
    memset(mesh, 0, sizeof *mesh);
    if (conditions) memset(conditions, 0, sizeof *conditions);
    HX_TRY(hx_alloc(&r, 1, sizeof *r, "the state of a reader"));
    r->notes = notes;
    HX_TRY_FAIL(hx_import_open(&r->import, path, notes));
    r->import.shape_hint = "CTETRA, CPENTA, CPYRAM and CHEXA";
    HX_TRY_FAIL(hx_nastran_open(&r->scan, path));
    HX_TRY_FAIL(hx_nastran_read_control(r));
    while (found) {
        HX_TRY_FAIL(hx_nastran_card(&r->scan, &found));
        if (found) HX_TRY_FAIL(take_card(r));
    }
    HX_TRY_FAIL(note_lost(r));
    HX_TRY_FAIL(hx_nastran_move_nodes(r));
    HX_TRY_FAIL(hx_import_finish(&r->import, mesh));
    HX_TRY_FAIL(hx_nastran_finish(r, mesh));
    rc = hx_import_conditions_finish(&r->conditions, &r->import, mesh, conditions);
fail:
    reader_free(r);
    free(r);
    if (rc < 0) hx_mesh_free(mesh);
    return rc;
}
