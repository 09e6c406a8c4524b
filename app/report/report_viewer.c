/* The part as data of the page, all in base64: coordinates with 16 bits, colours with 8, and
 * triangles as differences of their vertex numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/html.h"
#include "../text/json.h"
#include "../text/table.h"
#include "core/base/names.h"
#include "core/base/text_stream.h"
#include "report.h"

static void put_data(FILE *f, const char *name, const uint8_t *bytes, size_t n)
{
    fprintf(f, "<script type=\"text/plain\" data-name=\"%s\">", name);
    hx_base64(f, bytes, n);
    fputs("</script>\n", f);
}

/* x y z of each vertex, scaled from 0 to 65535 within the box, low byte first. */
static int put_places(const hx_report_part *part, FILE *f)
{
    const hx_surface *s = &part->surface;
    uint8_t *bytes = NULL;
    HX_TRY(hx_alloc_raw(&bytes, 6 * (size_t)s->n_vertex, 1, "coordinates of the page"));
    for (int64_t i = 0; i < 3 * s->n_vertex; i++) {
        const int d = (int)(i % 3);
        const double step = part->step[d];
        double at = step > 0.0 ? (s->xyz[i] - part->shape.min[d]) / step : 0.0;
        at = fmin(fmax(at, 0.0), 65535.0);
        const unsigned q = (unsigned)lround(at);
        bytes[2 * i] = (uint8_t)(q & 255u);
        bytes[2 * i + 1] = (uint8_t)(q >> 8);
    }
    put_data(f, "places", bytes, 6 * (size_t)s->n_vertex);
    free(bytes);
    return HX_OK;
}

/* Each vertex number minus the previous one, in groups of 7 bits. The lowest bit of the number is
 * its sign; 128 in a byte means that more bytes follow. */
static int put_triangles(const hx_surface *s, FILE *f)
{
    uint8_t *bytes = NULL;
    size_t n = 0;
    int64_t before = 0;
    HX_TRY(hx_alloc_raw(&bytes, 15 * (size_t)s->n_tri, 1, "triangles of the page"));
    for (int64_t c = 0; c < 3 * s->n_tri; c++) {
        const int64_t step = s->tri[c] - before;
        uint64_t code = step < 0 ? (uint64_t)(-step) * 2 - 1 : (uint64_t)step * 2;
        for (; code > 127; code >>= 7) bytes[n++] = (uint8_t)(128 | (code & 127));
        bytes[n++] = (uint8_t)code;
        before = s->tri[c];
    }
    put_data(f, "triangles", bytes, n);
    free(bytes);
    return HX_OK;
}

static const hx_report_field *find_field(const hx_report_part *part, const char *name)
{
    for (size_t i = 0; i < part->n_field; i++)
        if (strcmp(part->field[i].name, name) == 0) return &part->field[i];
    return NULL;
}

/* Bounds of the stresses as shares of the colours, and the place of the largest. */
static void put_stress(const hx_report_part *part, hx_json *json)
{
    const hx_report_stress *const found = &part->stress;
    const hx_report_field *const field = find_field(part, "stress");
    if (!field) return;
    hx_json_open_object(json, "stress");
    if (find_field(part, "zone")) hx_json_string(json, "mask", "zone");
    hx_json_open_array(json, "marks");
    for (size_t i = 0; i < found->n_mark; i++) {
        const double share = (found->mark[i].value - field->low) / (field->high - field->low);
        if (share >= 0.0 && share <= 1.0) hx_json_number(json, NULL, share);
    }
    hx_json_close_array(json);
    if (found->bound < field->high)
        hx_json_number(json, "over", (found->bound - field->low) / (field->high - field->low));
    if (found->is_verified) {
        hx_json_number(json, "largest", found->largest);
        hx_json_numbers(json, "point", 3, found->point);
    }
    hx_json_close_object(json);
}

/* Writes counts, box and fields as an attribute. */
static int put_description(const hx_report_part *part, const char *unit, FILE *f)
{
    char *text = NULL;
    hx_json json;
    hx_text_stream out;
    HX_TRY(hx_text_stream_open(&out, "page"));
    hx_json_begin(&json, out.stream);
    hx_json_open_object(&json, NULL);
    hx_json_integer(&json, "vertices", part->surface.n_vertex);
    hx_json_integer(&json, "triangles", part->surface.n_tri);
    hx_json_numbers(&json, "min", 3, part->shape.min);
    hx_json_numbers(&json, "step", 3, part->step);
    hx_json_string(&json, "unit", unit);
    hx_json_open_array(&json, "fields");
    for (size_t i = 0; i < part->n_field; i++)
        if (!part->field[i].is_mask) hx_json_string(&json, NULL, part->field[i].name);
    hx_json_close_array(&json);
    hx_json_open_array(&json, "ranges");
    for (size_t i = 0; i < part->n_field; i++) {
        const double range[2] = {part->field[i].low, part->field[i].high};
        if (!part->field[i].is_mask) hx_json_numbers(&json, NULL, 2, range);
    }
    hx_json_close_array(&json);
    put_stress(part, &json);
    hx_json_close_object(&json);
    HX_TRY(hx_text_stream_close(&out, &text, NULL));
    hx_html_text(f, text);
    free(text);
    return HX_OK;
}

/* --- controls --- */

static void put_controls(const hx_report_part *part, size_t i, int with_link, FILE *f)
{
    fprintf(f, "<div class=\"tools\" role=\"group\" aria-label=\"View\">"
               "<label>Colour <select name=\"colour\">");
    for (size_t k = 0; k < part->n_field; k++) {
        if (part->field[k].is_mask) continue;
        fprintf(f, "<option value=\"%s\">", part->field[k].name);
        hx_html_text(f, part->field[k].label);
        fputs("</option>", f);
    }
    fprintf(f, "<option value=\"\">None</option></select></label>"
               "<span class=\"keys\"><button type=\"button\" data-view=\"x\" "
               "title=\"Along x (x)\">x</button>"
               "<button type=\"button\" data-view=\"y\" title=\"Along y (y)\">y</button>"
               "<button type=\"button\" data-view=\"z\" title=\"Along z (z)\">z</button>"
               "<button type=\"button\" data-view=\"fit\" title=\"All of it (f)\">Fit</button>"
               "</span>");
    fprintf(f, "<label><input type=\"checkbox\" name=\"edges\"> Edges</label>"
               "<label class=\"section\">Section <select name=\"axis\" aria-label=\"Section "
               "across\"><option value=\"\">none</option><option value=\"0\">x</option><option "
               "value=\"1\">y</option><option value=\"2\">z</option></select>"
               "<input type=\"range\" name=\"cut\" min=\"0\" max=\"1000\" value=\"500\" "
               "aria-label=\"Place of the section\" disabled><output></output></label>");
    if (with_link && i == 0)
        fprintf(f,
                "<label><input type=\"checkbox\" id=\"link\" checked> Turn all together</label>");
    fprintf(f, "</div>\n");
}

/* Writes the number of triangles, and how far they are from those of `hextop surface`. */
static void put_caption(const hx_report_run *run, FILE *f)
{
    const hx_report_part *part = &run->part;
    const hx_surface_simplification *r = &part->simplified;
    const char *const unit = run->units.length;
    const char *const slash = strrchr(run->result, '/');
    const double *low = part->shape.min, *high = part->shape.max;
    char a[48], b[48];
    fputs("<figcaption>", f);
    hx_html_printf(f, "%s, %.4g × %.4g × %.4g%s. ", slash ? slash + 1 : run->result,
                   high[0] - low[0], high[1] - low[1], high[2] - low[2], unit);
    if (r->n_point > 0)
        hx_html_printf(f,
                       "%s %s, simplified from %s: at most %.2g%s from the surface that hextop "
                       "surface writes, %.1g%s on average (%s points, both ways).",
                       hx_format_count(r->n_after, a, sizeof a),
                       hx_noun(r->n_after, "triangle", "triangles"),
                       hx_format_count(r->n_before, b, sizeof b), r->largest, unit, r->mean, unit,
                       hx_report_number((double)r->n_point, a + 24, sizeof a - 24));
    else
        hx_html_printf(f, "%s %s, those that hextop surface writes.",
                       hx_format_count(r->n_after, a, sizeof a),
                       hx_noun(r->n_after, "triangle", "triangles"));
    hx_html_printf(f, " Coordinates are rounded to %.1g%s.",
                   0.5 * fmax(part->step[0], fmax(part->step[1], part->step[2])), unit);
    fputs("</figcaption>", f);
}

int hx_report_write_viewer(const hx_report *report, size_t i, FILE *f)
{
    const hx_report_run *run = &report->run[i];
    const hx_report_part *part = &run->part;
    if (!part->is_there) return HX_OK;
    fprintf(f, "<figure class=\"part\" id=\"part-%zu\" data-part=\"", i);
    HX_TRY(put_description(part, run->units.length, f));
    fputs("\">\n", f);
    if (report->n_run > 1) {
        fprintf(f, "<h3><i class=\"s%zu\"></i>", i);
        hx_html_text(f, run->label);
        fputs("</h3>\n", f);
    }
    fputs("<div class=\"stage\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"", f);
    hx_html_printf(f, "The part of %s, which can be turned", hx_report_title(run));
    fputs(
        "\"></canvas><svg class=\"axes3\" viewBox=\"-32 -32 64 64\" aria-hidden=\"true\"></svg>"
        "<p class=\"nogl\">The part is drawn by WebGL 2, which this browser lacks or has switched "
        "off. <code>hextop surface</code> writes it for other programs.</p>",
        f);
    fputs("<p class=\"place\" aria-hidden=\"true\" hidden></p>", f);
    for (size_t k = 0; k < part->n_field; k++)
        if (!part->field[k].is_mask) hx_report_write_legend(&part->field[k], f);
    fputs("</div>\n", f);
    const hx_report_field *const stress = find_field(part, "stress");
    if (stress) hx_report_write_stress_legend(run, stress, f);
    put_controls(part, i, report->n_run > 1, f);
    put_caption(run, f);
    fputs("<p class=\"hint\">Drag turns, the wheel or two fingers zoom (the wheel once the picture "
          "is clicked), Shift and drag or two fingers move; arrow keys, + − f x y z e too.</p>\n",
          f);
    HX_TRY(put_places(part, f));
    HX_TRY(put_triangles(&part->surface, f));
    for (size_t k = 0; k < part->n_field; k++) {
        const hx_report_field *const field = &part->field[k];
        uint8_t *bytes = NULL;
        HX_TRY(hx_alloc_raw(&bytes, (size_t)part->surface.n_vertex, 1, "colours of the page"));
        for (int64_t v = 0; v < part->surface.n_vertex; v++) {
            const double share =
                ((double)field->value[v] - field->low) / (field->high - field->low);
            bytes[v] = (uint8_t)lround(255.0 * fmin(fmax(share, 0.0), 1.0));
        }
        put_data(f, field->name, bytes, (size_t)part->surface.n_vertex);
        free(bytes);
    }
    fputs("</figure>\n", f);
    return HX_OK;
}
