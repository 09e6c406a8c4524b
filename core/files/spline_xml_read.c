/* G+Smo's XML: volumes (TensorBSpline3, TensorNurbs3), and their connections (MultiPatch). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/error.h"
#include "../base/grow.h"
#include "../base/memory.h"
#include "../spline/spline_patch.h"
#include "spline_files.h"
#include "spline_xml_reader.h"

typedef hx_gismo_numbers numbers;
typedef hx_gismo_geometry geometry;
typedef hx_gismo_block block;
typedef hx_gismo_reader reader;

/* --- numbers --- */

static int parse(const hx_xml_scan *xml, numbers *list)
{
    const char *at = xml->text, *const end = xml->text + xml->n_text;
    for (;;) {
        char *next;
        while (at < end && strchr(" \t\r\n", *at)) at++;
        if (at >= end) return HX_OK;
        /* a text ends before '<' or the terminating 0 of the file */
        const double value = strtod(at, &next);
        if (next == at || next > end || (next < end && !strchr(" \t\r\n", *next)))
            return HX_XML_RAISE(xml, hx_xml_line_of(xml->text, xml->at_line, at),
                                "'%.*s' is not a number",
                                (int)(end - at < 20 ? end - at : (ptrdiff_t)20), at);
        HX_TRY(hx_grow(&list->value, list->n, &list->capacity, sizeof *list->value,
                       "numbers of an XML file"));
        list->value[list->n++] = value;
        at = next;
    }
}

/* Reads the numbers of the element that has just begun. */
static int read_numbers(reader *r, numbers *list)
{
    hx_xml_event event;
    char name[HX_XML_NAME_SIZE];
    const char *const format = hx_xml_attribute(&r->xml, "format");
    memcpy(name, r->xml.name, strlen(r->xml.name) + 1);
    if (format && strcasecmp(format, "ascii") != 0)
        return HX_XML_RAISE(
            &r->xml, r->xml.at_line,
            "<%s> with format=\"%.20s\"; only text is read: save the file with \"ASCII\"", name,
            format);
    list->n = 0;
    list->line = r->xml.at_line;
    for (;;) {
        HX_TRY(hx_xml_next(&r->xml, &event));
        if (event == HX_XML_END) return HX_OK;
        if (event == HX_XML_START)
            return HX_XML_RAISE(&r->xml, r->xml.at_line, "<%s> within <%s>, which holds numbers",
                                r->xml.name, name);
        HX_TRY(parse(&r->xml, list));
    }
}

/* --- a geometry --- */

/* The parts of a geometry read so far. */
typedef struct draft {
    int n_axis;
    int64_t degree[3];
    numbers knot[3], coefs, weights;
} draft;

static int read_knots(reader *r, draft *d)
{
    if (d->n_axis == 3)
        return HX_XML_RAISE(&r->xml, r->xml.at_line,
                            "a fourth <KnotVector>; a volume has three directions");
    HX_TRY(hx_xml_count(&r->xml, "degree", -1, &d->degree[d->n_axis]));
    HX_TRY(read_numbers(r, &d->knot[d->n_axis]));
    d->n_axis++;
    return HX_OK;
}

static int read_once(reader *r, numbers *list)
{
    if (list->line > 0)
        return HX_XML_RAISE(&r->xml, r->xml.at_line, "a second <%s> in a <Geometry>", r->xml.name);
    return read_numbers(r, list);
}

/* Reads an element within a geometry. Bases are nested; their numbers are taken in order. */
static int read_part(reader *r, draft *d)
{
    const hx_xml_scan *const xml = &r->xml;
    if (strcmp(xml->name, "KnotVector") == 0) return read_knots(r, d);
    if (strcmp(xml->name, "weights") == 0) return read_once(r, &d->weights);
    if (strcmp(xml->name, "coefs") == 0) {
        int64_t dim;
        HX_TRY(hx_xml_count(xml, "geoDim", 3, &dim));
        if (dim != 3)
            return HX_XML_RAISE(xml, xml->at_line,
                                "geoDim=\"%lld\"; control points of a volume have 3 coordinates",
                                (long long)dim);
        return read_once(r, &d->coefs);
    }
    if (strcmp(xml->name, "Basis") != 0) return hx_xml_skip(&r->xml);
    const char *const type = hx_xml_attribute(xml, "type");
    static const char *const known[] = {"TensorNurbsBasis3", "TensorBSplineBasis3", "BSplineBasis"};
    for (size_t i = 0; type && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(type, known[i]) == 0) return HX_OK;
    return HX_XML_RAISE(xml, xml->at_line,
                        "a <Basis> of type \"%.40s\"; only tensor products of B-splines in three "
                        "directions are read, with or without weights",
                        type ? type : "");
}

/* Adds the line of the geometry to a message that has none. */
static int make_patch(reader *r, geometry *g, const draft *d)
{
    if (d->n_axis < 3)
        return HX_XML_RAISE(&r->xml, g->line, "<Geometry>: %d <KnotVector>; a volume needs three",
                            d->n_axis);
    if (d->coefs.line == 0) return HX_XML_RAISE(&r->xml, g->line, "<Geometry> without <coefs>");
    const int has_weights = d->weights.line > 0;
    if (!has_weights && strcmp(g->type, "TensorNurbs3") == 0)
        return HX_XML_RAISE(&r->xml, g->line, "<Geometry> of type TensorNurbs3 without <weights>");
    const hx_spline_raw raw = {
        .degree = {d->degree[0], d->degree[1], d->degree[2]},
        .n_knot = {(int64_t)d->knot[0].n, (int64_t)d->knot[1].n, (int64_t)d->knot[2].n},
        .knot = {d->knot[0].value, d->knot[1].value, d->knot[2].value},
        .n_coordinate = (int64_t)d->coefs.n,
        .coordinate = d->coefs.value,
        .n_weight = (int64_t)d->weights.n,
        .weight = has_weights ? d->weights.value : NULL};
    const int rc = hx_spline_patch_make(&g->patch, &raw);
    if (rc < 0) hx_error_prefix("<Geometry id=\"%lld\">: ", (long long)g->id);
    return rc < 0 ? hx_xml_place(&r->xml, g->line, rc) : rc;
}

static int read_volume(reader *r, geometry *g, draft *d)
{
    hx_xml_event event;
    const int depth = r->xml.depth;
    for (;;) {
        HX_TRY(hx_xml_next(&r->xml, &event));
        if (event == HX_XML_START) HX_TRY(read_part(r, d));
        if (event == HX_XML_TEXT)
            return HX_XML_RAISE(&r->xml, r->xml.at_line, "text where an element is expected");
        if (event == HX_XML_END && r->xml.depth < depth) return make_patch(r, g, d);
    }
}

static int read_geometry(reader *r)
{
    draft d = {0};
    const char *const type = hx_xml_attribute(&r->xml, "type");
    HX_TRY(hx_grow(&r->geometry, r->n_geometry, &r->geometry_capacity, sizeof *r->geometry,
                   "geometries of an XML file"));
    geometry *const g = &r->geometry[r->n_geometry];
    *g = (geometry){.id = (int64_t)r->n_geometry, .line = r->xml.at_line};
    HX_TRY(hx_xml_count(&r->xml, "id", g->id, &g->id));
    strncpy(g->type, type ? type : "", sizeof g->type - 1);
    r->n_geometry++;
    g->is_volume = strcmp(g->type, "TensorBSpline3") == 0 || strcmp(g->type, "TensorNurbs3") == 0;
    if (!g->is_volume) return hx_xml_skip(&r->xml);
    const int rc = read_volume(r, g, &d);
    for (int k = 0; k < 3; k++) free(d.knot[k].value);
    free(d.coefs.value);
    free(d.weights.value);
    return rc;
}

/* --- connections of the patches --- */

static int read_block(reader *r, block **list, size_t *n, size_t *capacity)
{
    HX_TRY(hx_grow(list, *n, capacity, sizeof **list, "sides of patches"));
    block *const b = &(*list)[*n];
    *b = (block){0};
    ++*n;
    HX_TRY(hx_strdup(&b->name, hx_xml_attribute(&r->xml, "name")));
    return read_numbers(r, &b->list);
}

static int read_multipatch(reader *r)
{
    hx_xml_event event;
    int64_t dim;
    const int depth = r->xml.depth;
    HX_TRY(hx_xml_count(&r->xml, "parDim", 3, &dim));
    if (dim != 3) return hx_xml_skip(&r->xml); /* names of faces or lines for other purposes */
    if (r->multipatch_line > 0)
        return HX_XML_RAISE(&r->xml, r->xml.at_line,
                            "a second <MultiPatch> of volumes; a file holds one part");
    r->multipatch_line = r->xml.at_line;
    for (;;) {
        HX_TRY(hx_xml_next(&r->xml, &event));
        if (event == HX_XML_END && r->xml.depth < depth) return HX_OK;
        if (event != HX_XML_START) continue;
        if (strcmp(r->xml.name, "patches") == 0) {
            const char *const type = hx_xml_attribute(&r->xml, "type");
            r->is_range = type && strcmp(type, "id_range") == 0;
            if (!r->is_range && (!type || strcmp(type, "id_index") != 0))
                return HX_XML_RAISE(&r->xml, r->xml.at_line,
                                    "<patches> needs type=\"id_range\" or \"id_index\"");
            HX_TRY(read_once(r, &r->patch));
        } else if (strcmp(r->xml.name, "interfaces") == 0) {
            HX_TRY(read_block(r, &r->interface, &r->n_interface, &r->interface_capacity));
        } else if (strcmp(r->xml.name, "boundary") == 0) {
            HX_TRY(read_block(r, &r->boundary, &r->n_boundary, &r->boundary_capacity));
        } else {
            HX_TRY(hx_xml_skip(&r->xml));
        }
    }
}

static int read_xml_file(reader *r)
{
    hx_xml_event event;
    do {
        HX_TRY(hx_xml_next(&r->xml, &event));
        if (event != HX_XML_START || r->xml.depth == 1) continue; /* <xml> */
        if (strcmp(r->xml.name, "Geometry") == 0)
            HX_TRY(read_geometry(r));
        else if (strcmp(r->xml.name, "MultiPatch") == 0)
            HX_TRY(read_multipatch(r));
        else
            HX_TRY(hx_xml_skip(&r->xml));
    } while (event != HX_XML_END_OF_FILE);
    return HX_OK;
}

static void xml_reader_free(reader *r)
{
    for (size_t i = 0; i < r->n_geometry; i++) hx_spline_patch_free(&r->geometry[i].patch);
    for (size_t i = 0; i < r->n_interface; i++) {
        free(r->interface[i].name);
        free(r->interface[i].list.value);
    }
    for (size_t i = 0; i < r->n_boundary; i++) {
        free(r->boundary[i].name);
        free(r->boundary[i].list.value);
    }
    free(r->geometry);
    free(r->interface);
    free(r->boundary);
    free(r->patch.value);
    free(r->place);
    hx_xml_free(&r->xml);
    free(r);
}

int hx_spline_xml_read(const char *path, hx_spline *spline, hx_notes *notes)
{
    reader *r;
    *spline = (hx_spline){0};
    HX_TRY(hx_alloc(&r, 1, sizeof *r, "the state of an XML reader"));
    int rc = hx_xml_open(&r->xml, path);
    if (rc == HX_OK) rc = read_xml_file(r);
    if (rc == HX_OK) rc = hx_gismo_take(r, spline, notes);
    xml_reader_free(r);
    if (rc < 0) hx_spline_free(spline);
    return rc;
}
