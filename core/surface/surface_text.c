/* OBJ and 3MF: decimal coordinates that read back to the same number. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "../base/atomic_file.h"
#include "../base/zip.h"
#include "surface_files.h"

int hx_surface_write_obj(const char *path, const hx_surface *surface, const hx_surface_about *about)
{
    hx_atomic_file file;
    HX_TRY(hx_atomic_file_open(&file, path));
    fprintf(file.stream, "# hextop: %.*s\no part\n", (int)strcspn(about->title, "\r\n"),
            about->title);
    for (int64_t v = 0; v < surface->n_vertex; v++) {
        char text[3][32];
        for (int d = 0; d < 3; d++) { /* 15 digits if they read back to the same double */
            const double value = surface->xyz[3 * v + d];
            snprintf(text[d], sizeof text[d], "%.15g", value);
            if (fabs(strtod(text[d], NULL) - value) > 0.0)
                snprintf(text[d], sizeof text[d], "%.17g", value);
        }
        fprintf(file.stream, "v %s %s %s\n", text[0], text[1], text[2]);
    }
    for (int64_t t = 0; t < surface->n_tri; t++) {
        const int32_t *const c = surface->tri + 3 * t;
        fprintf(file.stream, "f %" PRId64 " %" PRId64 " %" PRId64 "\n", c[0] + (int64_t)1,
                c[1] + (int64_t)1, c[2] + (int64_t)1);
    }
    return hx_atomic_file_commit(&file);
}

/* 3MF's name of a unit of length; "millimeter" if it is unknown. */
static const char *unit_name(double metre)
{
    static const struct {
        double metre;
        const char *name;
    } unit[] = {{1e-6, "micron"}, {1e-3, "millimeter"}, {1e-2, "centimeter"},
                {0.0254, "inch"}, {0.3048, "foot"},     {1.0, "meter"}};
    for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++)
        if (fabs(metre / unit[i].metre - 1.0) < 1e-6) return unit[i].name;
    return "millimeter";
}

/* Buffer for the text of an archive member before compression. */
typedef struct page {
    hx_zip *zip;
    size_t n;
    char text[1 << 15];
} page;

static int flush_page(page *p)
{
    const size_t n = p->n;
    p->n = 0;
    return hx_zip_put(p->zip, p->text, n);
}

static int put_page_line(page *p, const char *fmt, ...) HX_PRINTF(2, 3);

/* A line of at most 511 characters. */
static int put_page_line(page *p, const char *fmt, ...)
{
    va_list args;
    if (p->n + 512 > sizeof p->text) HX_TRY(flush_page(p));
    va_start(args, fmt);
    p->n += (size_t)vsnprintf(p->text + p->n, 512, fmt, args);
    va_end(args);
    return HX_OK;
}

/* Escapes text for XML, cut to n_to; control characters become blanks. */
static const char *escape(const char *text, char *to, size_t n_to)
{
    size_t n = 0;
    for (; *text && n + 7 < n_to; text++) {
        const char *const as = *text == '&'   ? "&amp;"
                               : *text == '<' ? "&lt;"
                               : *text == '>' ? "&gt;"
                                              : NULL;
        if (as)
            n += (size_t)snprintf(to + n, n_to - n, "%s", as);
        else
            to[n++] = (unsigned char)*text < 0x20 ? ' ' : *text;
    }
    /* do not cut within a UTF-8 character */
    while (*text && n > 0 && ((unsigned char)to[n - 1] & 0xC0u) == 0x80u) n--;
    if (*text && n > 0 && ((unsigned char)to[n - 1] & 0xC0u) == 0xC0u) n--;
    to[n] = '\0';
    return to;
}

static int put_zip_text(hx_zip *zip, const char *name, const char *text)
{
    HX_TRY(hx_zip_open(zip, name));
    HX_TRY(hx_zip_put(zip, text, strlen(text)));
    return hx_zip_close(zip);
}

static int put_package(hx_zip *zip, const hx_surface *surface, const hx_surface_about *about)
{
    page p = {.zip = zip};
    HX_TRY(put_zip_text(
        zip, "[Content_Types].xml",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Types xmlns=\"http://schemas."
        "openxmlformats.org/package/2006/content-types\"><Default Extension=\"rels\" ContentType="
        "\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"model\""
        " ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/></Types>\n"));
    HX_TRY(put_zip_text(
        zip, "_rels/.rels",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Relationships xmlns=\"http://schemas."
        "openxmlformats.org/package/2006/relationships\"><Relationship Target=\"/3D/3dmodel.model\""
        " Id=\"rel0\" Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/>"
        "</Relationships>\n"));
    HX_TRY(hx_zip_open(zip, "3D/3dmodel.model"));
    char title[300];
    HX_TRY(put_page_line(&p, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    HX_TRY(
        put_page_line(&p,
                      "<model unit=\"%s\" xml:lang=\"en-US\" xmlns=\"http://schemas.microsoft.com/"
                      "3dmanufacturing/core/2015/02\">\n",
                      unit_name(about->metre)));
    HX_TRY(put_page_line(&p, "<metadata name=\"Title\">%s</metadata>\n",
                         escape(about->title, title, sizeof title)));
    HX_TRY(put_page_line(&p, "<metadata name=\"Application\">hextop</metadata>\n<resources>\n"
                             "<object id=\"1\" type=\"model\"><mesh><vertices>\n"));
    for (int64_t v = 0; v < surface->n_vertex; v++)
        HX_TRY(put_page_line(
            &p, "<vertex x=\"%.9g\" y=\"%.9g\" z=\"%.9g\"/>\n", (double)(float)surface->xyz[3 * v],
            (double)(float)surface->xyz[3 * v + 1], (double)(float)surface->xyz[3 * v + 2]));
    HX_TRY(put_page_line(&p, "</vertices><triangles>\n"));
    for (int64_t t = 0; t < surface->n_tri; t++)
        HX_TRY(put_page_line(&p, "<triangle v1=\"%d\" v2=\"%d\" v3=\"%d\"/>\n",
                             (int)surface->tri[3 * t], (int)surface->tri[3 * t + 1],
                             (int)surface->tri[3 * t + 2]));
    HX_TRY(put_page_line(&p,
                         "</triangles></mesh></object>\n</resources>\n<build><item objectid=\"1\"/>"
                         "</build>\n</model>\n"));
    HX_TRY(flush_page(&p));
    HX_TRY(hx_zip_close(zip));
    return hx_zip_end(zip);
}

int hx_surface_write_3mf(const char *path, const hx_surface *surface, const hx_surface_about *about)
{
    int rc;
    hx_atomic_file file;
    hx_zip zip = {0};
    HX_TRY(hx_atomic_file_open(&file, path));
    HX_TRY_FAIL(hx_zip_begin(&zip, file.stream));
    rc = put_package(&zip, surface, about);
    if (rc < 0) hx_error_prefix("%s: ", path);
    HX_TRY_FAIL(rc);
    hx_zip_free(&zip);
    return hx_atomic_file_commit(&file);
fail:
    hx_zip_free(&zip);
    hx_atomic_file_free(&file);
    return rc;
}
