/* Patches of a G+Smo file, their connections, and the names of their sides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../spline/spline_sides.h"
#include "spline_xml_reader.h"

typedef hx_gismo_numbers numbers;
typedef hx_gismo_geometry geometry;
typedef hx_gismo_block block;
typedef hx_gismo_reader reader;

/* Returns number i of a list as an integer, which must fit. */
static int whole(const reader *r, const numbers *list, size_t i, int *value)
{
    const double v = list->value[i];
    if (v != floor(v) || fabs(v) > 1e9)
        return HX_XML_RAISE(&r->xml, list->line, "%g where an integer is expected", v);
    *value = (int)v;
    return HX_OK;
}

/* --- patches --- */

/* Index of the geometry with that id; -1: none. */
static int find_geometry(const reader *r, int id)
{
    for (size_t i = 0; i < r->n_geometry; i++)
        if (r->geometry[i].id == id) return (int)i;
    return -1;
}

static int add_place(reader *r, int id)
{
    const int at = find_geometry(r, id);
    if (at < 0)
        return HX_XML_RAISE(&r->xml, r->patch.line, "<patches>: there is no <Geometry id=\"%d\">",
                            id);
    const geometry *const g = &r->geometry[at];
    if (!g->is_volume)
        return HX_XML_RAISE(&r->xml, g->line,
                            "<Geometry id=\"%d\"> of type \"%s\"; only volumes are read: "
                            "TensorBSpline3 and TensorNurbs3",
                            id, g->type);
    for (int k = 0; k < r->n; k++)
        if (r->place[k] == at)
            return HX_XML_RAISE(&r->xml, r->patch.line, "<patches>: geometry %d twice", id);
    r->place[r->n++] = at;
    return HX_OK;
}

/* Selects the geometries of the MultiPatch, or all volumes if there is none. */
static int choose_patches(reader *r)
{
    int first = 0, last = -1, id = 0;
    HX_TRY(hx_alloc(&r->place, r->n_geometry + 1, sizeof *r->place, "patches"));
    if (r->multipatch_line > 0 && r->patch.line == 0)
        return HX_XML_RAISE(&r->xml, r->multipatch_line, "<MultiPatch> without <patches>");
    if (r->multipatch_line == 0) {
        for (size_t i = 0; i < r->n_geometry; i++)
            if (r->geometry[i].is_volume) r->place[r->n++] = (int)i;
    } else if (r->is_range) {
        if (r->patch.n != 2)
            return HX_XML_RAISE(
                &r->xml, r->patch.line,
                "<patches type=\"id_range\">: %zu %s; the first id and the last are needed",
                r->patch.n, hx_noun(r->patch.n, "number", "numbers"));
        HX_TRY(whole(r, &r->patch, 0, &first));
        HX_TRY(whole(r, &r->patch, 1, &last));
        /* stops at the first one that is missing */
        for (id = first; id <= last; id++) HX_TRY(add_place(r, id));
    } else {
        for (size_t i = 0; i < r->patch.n; i++) {
            HX_TRY(whole(r, &r->patch, i, &id));
            HX_TRY(add_place(r, id));
        }
    }
    if (r->n > 0) return HX_OK;
    if (r->n_geometry > 0)
        return HX_XML_RAISE(&r->xml, r->geometry[0].line,
                            "no volume: <Geometry> of type \"%s\"; TensorBSpline3 and TensorNurbs3 "
                            "are read",
                            r->geometry[0].type);
    return HX_XML_RAISE(&r->xml, r->xml.line,
                        "no <Geometry>: not a file of G+Smo with volumes as splines");
}

static int patch_of(const reader *r, const numbers *list, const char *what, int id, int *patch)
{
    for (*patch = 0; *patch < r->n; ++*patch)
        if (r->geometry[r->place[*patch]].id == id) return HX_OK;
    return HX_XML_RAISE(&r->xml, list->line, "<%s> refers to patch %d, which does not exist", what,
                        id);
}

/* Reads the side from four numbers starting at `at`; G+Smo counts sides from 1. */
static int read_patch_side(const reader *r, const numbers *list, const char *what, size_t at,
                           hx_spline_side *side)
{
    int id = 0, number = 0;
    HX_TRY(whole(r, list, at, &id));
    HX_TRY(whole(r, list, at + 1, &number));
    HX_TRY(patch_of(r, list, what, id, &side->patch));
    side->side = number - 1;
    if (number >= 1 && number <= 6) return HX_OK;
    return HX_XML_RAISE(&r->xml, list->line, "<%s> refers to side %d of patch %d; sides are 1 to 6",
                        what, number, id);
}

static int take_interfaces(const reader *r, hx_spline *spline)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_interface; i++) {
        const numbers *const list = &r->interface[i].list;
        if (list->n % 10 != 0)
            return HX_XML_RAISE(&r->xml, list->line,
                                "<interfaces>: %zu %s; each has 10: patch, side, patch, side, "
                                "three directions, three orientations",
                                list->n, hx_noun(list->n, "number", "numbers"));
        n += list->n / 10;
    }
    HX_TRY(hx_alloc(&spline->interface, n, sizeof *spline->interface, "interfaces"));
    for (size_t i = 0; i < r->n_interface; i++)
        for (size_t at = 0; at < r->interface[i].list.n; at += 10) {
            hx_spline_interface *const to = &spline->interface[spline->n_interface];
            /* patch, side, patch, side, three directions of the second, three flags of 1 (forwards)
             * or 0 */
            HX_TRY(read_patch_side(r, &r->interface[i].list, "interfaces", at, &to->a));
            HX_TRY(read_patch_side(r, &r->interface[i].list, "interfaces", at + 2, &to->b));
            for (int d = 0; d < 3; d++) {
                int forwards = 1;
                HX_TRY(whole(r, &r->interface[i].list, at + 4 + (size_t)d, &to->along[d]));
                HX_TRY(whole(r, &r->interface[i].list, at + 7 + (size_t)d, &forwards));
                to->flip[d] = forwards == 0;
            }
            /* the orientation follows from the sides, whatever the file states */
            const int across = to->a.side / 2;
            to->flip[across] = to->a.side % 2 == to->b.side % 2;
            const int rc = hx_spline_check_interface(spline, to);
            if (rc < 0) return hx_xml_place(&r->xml, r->interface[i].list.line, rc);
            spline->n_interface++;
        }
    return HX_OK;
}

static int take_boundaries(reader *r, hx_spline *spline)
{
    HX_TRY(hx_alloc(&spline->boundary, r->n_boundary, sizeof *spline->boundary, "sides"));
    for (size_t i = 0; i < r->n_boundary; i++) {
        block *const b = &r->boundary[i];
        hx_spline_boundary to = {0};
        if (b->list.n % 2 != 0)
            return HX_XML_RAISE(&r->xml, b->list.line,
                                "<boundary>: %zu %s; pairs of patch and side are needed", b->list.n,
                                hx_noun(b->list.n, "number", "numbers"));
        HX_TRY(hx_alloc(&to.side, b->list.n / 2, sizeof *to.side, "sides"));
        int rc = HX_OK;
        for (size_t at = 0; rc == HX_OK && at < b->list.n; at += 2)
            rc = read_patch_side(r, &b->list, "boundary", at, &to.side[to.n_side++]);
        /* a block that contains all free sides is not a set */
        if (rc < 0 || !b->name || !*b->name) {
            free(to.side);
            HX_TRY(rc);
            continue;
        }
        to.name = b->name;
        b->name = NULL;
        spline->boundary[spline->n_boundary++] = to;
    }
    return HX_OK;
}

int hx_gismo_take(hx_gismo_reader *r, hx_spline *spline, hx_notes *notes)
{
    HX_TRY(choose_patches(r));
    HX_TRY(hx_alloc(&spline->patch, (size_t)r->n, sizeof *spline->patch, "patches"));
    const geometry *first = NULL;
    int n = (int)r->n_geometry - r->n;
    for (size_t i = 0; i < r->n_geometry && !first; i++) {
        int is_taken = 0;
        for (int k = 0; k < r->n; k++) is_taken |= r->place[k] == (int)i;
        if (!is_taken) first = &r->geometry[i];
    }
    if (first)
        HX_TRY(hx_notes_add(
            notes, HX_NOTE_INFO,
            "%s: %d of %zu geometries are left out, the first of type \"%s\" in line %lld",
            r->xml.path, n, r->n_geometry, first->type, (long long)first->line));
    for (int k = 0; k < r->n; k++) {
        spline->patch[k] = r->geometry[r->place[k]].patch;
        r->geometry[r->place[k]].patch = (hx_spline_patch){0};
        spline->n_patch++;
    }
    HX_TRY(take_interfaces(r, spline));
    return take_boundaries(r, spline);
}
