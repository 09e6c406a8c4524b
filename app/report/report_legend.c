/* The legend of a field: its colours, bounds and zones, and where the largest stress is. */
#include <math.h>
#include <string.h>

#include "../text/html.h"
#include "report.h"

static void put_unit(const hx_report_field *field, FILE *f)
{
    hx_html_text(f, field->unit);
}

/* "limit 'strong': 60 MPa", at a tick of the colours if it is on their scale. */
static void put_mark(const hx_report_mark *mark, const hx_report_field *field, FILE *f)
{
    char text[48];
    const int is_on_scale = mark->value >= field->low && mark->value <= field->high;
    fprintf(f, "<li><i class=\"%s\"></i>", is_on_scale ? "tick" : "");
    hx_html_printf(f, "%s: %s%s%s", mark->name, hx_report_number(mark->value, text, sizeof text),
                   field->unit, is_on_scale ? "" : ", beyond the colours");
    fputs("</li>", f);
}

/* "largest 102.6 MPa at 8, 0, 8; factor of safety 2.44" */
static void put_largest(const hx_report_stress *found, const hx_report_field *field, FILE *f)
{
    char text[48];
    const double *const x = found->point;
    fputs("<li><i class=\"peak\"></i>largest", f);
    if (found->zones[0]) fputs(" outside the zones", f);
    fprintf(f, ": <b>%s</b>", hx_report_number(found->largest, text, sizeof text));
    put_unit(field, f);
    fprintf(f, " at %.4g, %.4g, %.4g", x[0], x[1], x[2]);
    if (found->n_case > 1) fprintf(f, ", case %d", found->load_case);
    fputs("</li>", f);
    if (isnan(found->safety)) return;
    fprintf(f, "<li><i></i>factor of safety: <b>%s</b>",
            hx_report_number(found->safety, text, sizeof text));
    fprintf(f, ", from %s", hx_report_number(found->safety * found->largest, text, sizeof text));
    put_unit(field, f);
    fputs("</li>", f);
}

static void put_zones(const hx_report_stress *found, const hx_report_field *field, FILE *f)
{
    char text[48];
    if (!found->zones[0]) return;
    fputs("<li><i class=\"zone\"></i>", f);
    hx_html_printf(f, "zones without limits: %s", found->zones);
    if (!isnan(found->in_zones)) {
        fprintf(f, "; largest in them %s", hx_report_number(found->in_zones, text, sizeof text));
        put_unit(field, f);
    }
    fputs("</li>", f);
}

void hx_report_write_stress_legend(const hx_report_run *run, const hx_report_field *field, FILE *f)
{
    const hx_report_stress *const found = &run->part.stress;
    fprintf(f, "<ul class=\"marks\" data-field=\"%s\" hidden>", field->name);
    for (size_t i = 0; i < found->n_mark; i++) put_mark(&found->mark[i], field, f);
    if (found->bound < field->most) {
        char text[48];
        fprintf(f, "<li><i class=\"over\"></i>above %s",
                hx_report_number(found->bound, text, sizeof text));
        put_unit(field, f);
        fputs("</li>", f);
    }
    if (found->is_verified) put_largest(found, field, f);
    put_zones(found, field, f);
    fputs("</ul>\n", f);
}

void hx_report_write_legend(const hx_report_field *field, FILE *f)
{
    char text[4][48];
    fprintf(f, "<div class=\"bar\" data-field=\"%s\" hidden><p>", field->name);
    hx_html_text(f, field->label);
    if (field->unit[0]) fputs(",", f);
    put_unit(field, f);
    fputs("</p><div class=\"map\"></div><div class=\"ends\">", f);
    fprintf(f, "<span>%s</span><span>%s</span><span>%s%s</span></div>",
            hx_report_number(field->low, text[0], sizeof text[0]),
            hx_report_number(0.5 * (field->low + field->high), text[1], sizeof text[1]),
            field->is_cut ? "≥ " : "", hx_report_number(field->high, text[2], sizeof text[2]));
    if (field->is_cut)
        fprintf(f,
                "<p class=\"note\">Largest shown: %s; the colours end where 99.5 %% of the points "
                "lie below.</p>",
                hx_report_number(field->most, text[3], sizeof text[3]));
    fputs("</div>", f);
}
