#include "xml_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../base/input_file.h"
#include "../base/memory.h"
#include "../base/names.h"

int hx_xml_place(const hx_xml_scan *xml, int64_t line, int code)
{
    hx_error_prefix("%s:%lld: ", xml->path, (long long)line);
    return code;
}

/* --- the file --- */

static int read_xml(hx_xml_scan *xml, FILE *stream)
{
    struct stat info;
    if (fstat(fileno(stream), &info) != 0)
        return HX_RAISE(HX_EIO, "%s: cannot read: %s", xml->path, strerror(errno));
    HX_TRY(hx_alloc_raw(&xml->data, (size_t)info.st_size + 1, 1, "the text of an XML file"));
    xml->size = fread(xml->data, 1, (size_t)info.st_size, stream);
    xml->data[xml->size] = '\0';
    if (ferror(stream)) return HX_RAISE(HX_EIO, "%s: cannot read: %s", xml->path, strerror(errno));
    return HX_OK;
}

int hx_xml_open(hx_xml_scan *xml, const char *path)
{
    memset(xml, 0, sizeof *xml);
    xml->line = xml->at_line = 1;
    HX_TRY(hx_strdup(&xml->path, path));
    const char *why;
    FILE *const stream = hx_input_open(path, &why);
    int rc =
        stream ? read_xml(xml, stream) : HX_RAISE(HX_EINPUT, "%s: cannot open it: %s", path, why);
    if (stream) fclose(stream);
    if (rc == HX_OK && xml->size >= 3 && memcmp(xml->data, "\xef\xbb\xbf", 3) == 0) xml->next = 3;
    if (rc < 0) hx_xml_free(xml);
    return rc;
}

void hx_xml_free(hx_xml_scan *xml)
{
    free(xml->path);
    free(xml->data);
    memset(xml, 0, sizeof *xml);
}

int64_t hx_xml_line_of(const char *from, int64_t line, const char *to)
{
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        line++;
        from++;
    }
    return line;
}

/* --- words --- */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (unsigned char)c >= 128;
}

static int is_name(char c)
{
    return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static int starts_with(const hx_xml_scan *xml, const char *word)
{
    const size_t n = strlen(word);
    return xml->size - xml->next >= n && memcmp(xml->data + xml->next, word, n) == 0;
}

static void advance(hx_xml_scan *xml, size_t n)
{
    const char *const from = xml->data + xml->next;
    xml->line = hx_xml_line_of(from, xml->line, from + n);
    xml->next += n;
}

static void skip_blanks(hx_xml_scan *xml)
{
    size_t n = 0;
    while (xml->next + n < xml->size && is_blank(xml->data[xml->next + n])) n++;
    advance(xml, n);
}

/* Skips everything up to the end of `end`. */
static int skip_to(hx_xml_scan *xml, const char *end, const char *what)
{
    const size_t n = strlen(end);
    for (const char *at = xml->data + xml->next, *last = xml->data + xml->size;
         (at = memchr(at, end[0], (size_t)(last - at))) != NULL; at++) {
        if ((size_t)(last - at) < n || memcmp(at, end, n) != 0) continue;
        advance(xml, (size_t)(at - (xml->data + xml->next)) + n);
        return HX_OK;
    }
    return HX_XML_RAISE(xml, xml->at_line, "%s is not closed", what);
}

/* Reads a name at the next byte. */
static int read_name(hx_xml_scan *xml, char name[HX_XML_NAME_SIZE])
{
    const char *const from = xml->data + xml->next;
    size_t n = 0;
    if (!begins_name(*from))
        return HX_XML_RAISE(xml, xml->line, "a name is expected after '<' or a blank in a tag");
    while (is_name(from[n])) n++;
    if (n >= HX_XML_NAME_SIZE)
        return HX_XML_RAISE(xml, xml->line, "a name of %zu %s; at most %d are possible", n,
                            hx_noun(n, "byte", "bytes"), HX_XML_NAME_SIZE - 1);
    memcpy(name, from, n);
    name[n] = '\0';
    xml->next += n;
    return HX_OK;
}

/* --- attributes --- */

static int put_decoded(hx_xml_scan *xml, char c)
{
    if (xml->n_decoded == sizeof xml->decoded)
        return HX_XML_RAISE(xml, xml->line, "a tag with more than %d bytes of attributes",
                            HX_XML_TEXT_SIZE);
    xml->decoded[xml->n_decoded++] = c;
    return HX_OK;
}

/* Appends a character, given by its number, as UTF-8. */
static int put_code(hx_xml_scan *xml, unsigned long code)
{
    if (code == 0 || code > 0x10ffff)
        return HX_XML_RAISE(xml, xml->line, "&#%lu; is not a character", code);
    if (code < 0x80) return put_decoded(xml, (char)code);
    const int n = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[4] = {0, 0xc0, 0xe0, 0xf0};
    HX_TRY(put_decoded(xml, (char)(lead[n] | code >> 6 * n)));
    for (int k = n - 1; k >= 0; k--)
        HX_TRY(put_decoded(xml, (char)(0x80 | (code >> 6 * k & 0x3f))));
    return HX_OK;
}

/* Appends the character of &lt; or a similar entity at `from`; *n: bytes of the entity. */
static int put_entity(hx_xml_scan *xml, const char *from, size_t n_left, size_t *n)
{
    static const struct {
        const char *word;
        char c;
    } list[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        *n = strlen(list[i].word);
        if (n_left >= *n && memcmp(from, list[i].word, *n) == 0) return put_decoded(xml, list[i].c);
    }
    if (n_left > 3 && from[1] == '#') {
        char *end;
        const int is_hex = from[2] == 'x';
        const char *const digits = from + 2 + is_hex;
        const unsigned long code = strtoul(digits, &end, is_hex ? 16 : 10);
        *n = (size_t)(end - from) + 1;
        if (end > digits && *end == ';' && *n <= n_left && *digits != '-' && *digits != '+')
            return put_code(xml, code);
    }
    *n = 1;
    return put_decoded(xml, '&'); /* VTK does not escape names */
}

static int read_value(hx_xml_scan *xml, const char **value)
{
    const char quote = xml->data[xml->next];
    const size_t begin = xml->n_decoded;
    if (quote != '"' && quote != '\'')
        return HX_XML_RAISE(xml, xml->line, "the value of an attribute must be in quotes");
    const char *const from = xml->data + xml->next + 1;
    const char *const end = memchr(from, quote, xml->size - xml->next - 1);
    if (!end) return HX_XML_RAISE(xml, xml->line, "a quote is not closed");
    for (const char *at = from; at < end;) {
        size_t n = 1;
        if (*at == '&')
            HX_TRY(put_entity(xml, at, (size_t)(end - at), &n));
        else
            HX_TRY(put_decoded(xml, is_blank(*at) ? ' ' : *at));
        at += n;
    }
    HX_TRY(put_decoded(xml, '\0'));
    *value = xml->decoded + begin;
    advance(xml, (size_t)(end - from) + 2);
    return HX_OK;
}

static int read_attribute(hx_xml_scan *xml)
{
    char name[HX_XML_NAME_SIZE];
    HX_TRY(read_name(xml, name));
    skip_blanks(xml);
    if (hx_xml_attribute(xml, name))
        return HX_XML_RAISE(xml, xml->line, "a second attribute '%s' in one tag", name);
    if (xml->n_attribute == HX_XML_ATTRIBUTES)
        return HX_XML_RAISE(xml, xml->line, "more than %d attributes in one tag",
                            HX_XML_ATTRIBUTES);
    if (!starts_with(xml, "="))
        return HX_XML_RAISE(xml, xml->line, "'=' is expected after the attribute '%s'", name);
    xml->next++;
    skip_blanks(xml);
    hx_xml_pair *const pair = &xml->attribute[xml->n_attribute];
    pair->name = xml->decoded + xml->n_decoded;
    for (const char *c = name;; c++) {
        HX_TRY(put_decoded(xml, *c));
        if (!*c) break;
    }
    HX_TRY(read_value(xml, &pair->value));
    xml->n_attribute++;
    return HX_OK;
}

const char *hx_xml_attribute(const hx_xml_scan *xml, const char *name)
{
    for (int i = 0; i < xml->n_attribute; i++)
        if (strcmp(xml->attribute[i].name, name) == 0) return xml->attribute[i].value;
    return NULL;
}

int hx_xml_count(const hx_xml_scan *xml, const char *name, int64_t otherwise, int64_t *count)
{
    const char *const value = hx_xml_attribute(xml, name);
    char *end;
    *count = otherwise;
    if (!value && otherwise >= 0) return HX_OK;
    if (!value) return HX_XML_RAISE(xml, xml->at_line, "<%s> needs %s", xml->name, name);
    errno = 0;
    const long long parsed = strtoll(value, &end, 10);
    end += strspn(end, " ");
    if (end == value || *end != '\0' || errno == ERANGE || parsed < 0 || parsed >= 1LL << 62)
        return HX_XML_RAISE(xml, xml->at_line, "%s=\"%.40s\" of <%s> must be at least 0", name,
                            value, xml->name);
    *count = parsed;
    return HX_OK;
}

/* --- elements --- */

/* After '<'. */
static int read_start(hx_xml_scan *xml)
{
    if (xml->depth == HX_XML_DEPTH)
        return HX_XML_RAISE(xml, xml->line, "elements are nested more than %d deep", HX_XML_DEPTH);
    if (xml->depth == 0 && xml->has_root)
        return HX_XML_RAISE(xml, xml->line,
                            "a second element at the top level; an XML file has one");
    xml->has_root = 1;
    xml->n_attribute = 0;
    xml->n_decoded = 0;
    HX_TRY(read_name(xml, xml->open[xml->depth]));
    xml->name = xml->open[xml->depth++];
    for (;;) {
        const size_t before = xml->next;
        skip_blanks(xml);
        xml->is_empty = starts_with(xml, "/>");
        if (xml->is_empty || starts_with(xml, ">")) {
            xml->next += xml->is_empty ? 2 : 1;
            return HX_OK;
        }
        if (xml->next == xml->size)
            return HX_XML_RAISE(xml, xml->at_line, "the file ends within a tag");
        if (xml->next == before)
            return HX_XML_RAISE(xml, xml->line, "a blank, '>' or '/>' is expected in the tag '%s'",
                                xml->name);
        HX_TRY(read_attribute(xml));
    }
}

/* After '</'. */
static int read_end(hx_xml_scan *xml)
{
    char name[HX_XML_NAME_SIZE];
    HX_TRY(read_name(xml, name));
    skip_blanks(xml);
    if (xml->depth == 0 || strcmp(name, xml->open[xml->depth - 1]) != 0)
        return HX_XML_RAISE(xml, xml->line, "</%s> where %s%s%s is expected", name,
                            xml->depth > 0 ? "</" : "no end",
                            xml->depth > 0 ? xml->open[xml->depth - 1] : "",
                            xml->depth > 0 ? ">" : "");
    if (!starts_with(xml, ">")) return HX_XML_RAISE(xml, xml->line, "'>' is expected");
    xml->next++;
    xml->name = xml->open[--xml->depth];
    return HX_OK;
}

/* Reads text up to the next '<'; 1: it is more than blanks. */
static int take_text(hx_xml_scan *xml)
{
    const char *const from = xml->data + xml->next;
    const char *const end = memchr(from, '<', xml->size - xml->next);
    xml->text = from;
    xml->n_text = end ? (size_t)(end - from) : xml->size - xml->next;
    advance(xml, xml->n_text);
    for (size_t i = 0; i < xml->n_text; i++)
        if (!is_blank(xml->text[i])) return 1;
    return 0;
}

static int read_markup(hx_xml_scan *xml, hx_xml_event *event, int *is_event)
{
    *is_event = 0;
    if (starts_with(xml, "<!--")) return skip_to(xml, "-->", "a comment");
    if (starts_with(xml, "<?")) return skip_to(xml, "?>", "an instruction '<?'");
    if (starts_with(xml, "<!"))
        return HX_XML_RAISE(xml, xml->line, "'<!' begins a DTD or CDATA, which is not read");
    const int is_end = starts_with(xml, "</");
    *is_event = 1;
    *event = is_end ? HX_XML_END : HX_XML_START;
    xml->next += is_end ? 2 : 1;
    return is_end ? read_end(xml) : read_start(xml);
}

int hx_xml_next(hx_xml_scan *xml, hx_xml_event *event)
{
    xml->at_line = xml->line;
    if (xml->is_empty) {
        xml->is_empty = 0;
        *event = HX_XML_END;
        xml->name = xml->open[--xml->depth];
        return HX_OK;
    }
    for (int is_event = 0; !is_event;) {
        xml->at_line = xml->line;
        if (take_text(xml)) {
            *event = HX_XML_TEXT;
            if (xml->depth > 0) return HX_OK;
            return HX_XML_RAISE(xml, xml->at_line, "text outside the elements of an XML file");
        }
        xml->at_line = xml->line;
        if (xml->next == xml->size) {
            *event = HX_XML_END_OF_FILE;
            if (xml->depth == 0 && xml->has_root) return HX_OK;
            return HX_XML_RAISE(xml, xml->line, "the file ends before </%s>",
                                xml->depth > 0 ? xml->open[xml->depth - 1] : "...");
        }
        HX_TRY(read_markup(xml, event, &is_event));
    }
    return HX_OK;
}

int hx_xml_skip(hx_xml_scan *xml)
{
    hx_xml_event event;
    const int depth = xml->depth - 1;
    do HX_TRY(hx_xml_next(xml, &event));
    while (event != HX_XML_END || xml->depth > depth);
    return HX_OK;
}
