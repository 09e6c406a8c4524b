/* Keys of a new config: their values, from the part or an argument. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session/file_unread.h"
#include "new_internal.h"

int hx_new_escape(char c, char *to)
{
    if (c == '"' || c == '\\') return sprintf(to, "\\%c", c);
    if (iscntrl((unsigned char)c)) return sprintf(to, "\\x%02x", (unsigned char)c);
    to[0] = c;
    return 1;
}

void hx_new_put_quoted_text(FILE *out, const char *text)
{
    char escaped[5];
    for (; *text; text++) fwrite(escaped, 1, (size_t)hx_new_escape(*text, escaped), out);
}

const char *hx_new_overridden(const hx_new_part *part, const char *key)
{
    const size_t n = strlen(key);
    const char *value = NULL;
    for (size_t i = 0; i < part->n_override; i++)
        if (strncmp(part->override[i], key, n) == 0 && part->override[i][n] == '=')
            value = part->override[i] + n + 1;
    return value;
}

int hx_new_is_heat_requested(const hx_new_part *part)
{
    const char *const requested = hx_new_overridden(part, "physics");
    return requested && strstr(requested, "heat");
}

/* Writes a list of texts: as the argument gives it, or made from words separated by commas. */
static void put_words(FILE *out, const char *text)
{
    if (text[0] == '(') {
        fputs(text, out);
        return;
    }
    fputs("(\"", out);
    for (; *text; text++) {
        const char c[2] = {*text, '\0'};
        if (*text == ',')
            fputs("\", \"", out);
        else
            hx_new_put_quoted_text(out, c);
    }
    fputs("\")", out);
}

/* 1: the config is for heat, since the file is a job for heat or an argument sets it. */
int hx_new_is_heat(const hx_new_part *part)
{
    if (hx_new_overridden(part, "physics")) return hx_new_is_heat_requested(part);
    return part->session.conditions.is_heat;
}

const hx_key *hx_new_take_key(hx_new_writer *w, const char *path)
{
    const char *const dot = strrchr(path, '.');
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%.*s", dot ? (int)(dot - path) : 0, path);
    const hx_key *const key = hx_key_find(prefix, dot ? dot + 1 : path);
    const int other =
        key &&
        ((key->file_only && !w->part->is_file) || (key->generator_only && w->part->is_file) ||
         (key->only && (key->only == 1 + HX_PHYSICS_HEAT) != hx_new_is_heat(w->part)));
    if (!other && w->n_key < HX_NEW_MOST_KEY) w->key[w->n_key++] = path;
    return key;
}

int hx_new_put_key(hx_new_writer *w, const char *path, const char *value)
{
    const char *const dot = strrchr(path, '.'), *const other = hx_new_overridden(w->part, path);
    const hx_key *const key = hx_new_take_key(w, path);
    const int is_text = key && (key->type == HX_KEY_TEXT || key->type == HX_KEY_WORD);
    if (other && !other[0]) return 0;
    fprintf(w->out, "%s = ", dot ? dot + 1 : path);
    if (other && other[0] == '"') {
        fputs(other, w->out);
    } else if (other && key && key->type == HX_KEY_WORDS) {
        put_words(w->out, other);
    } else if (is_text) {
        fputc('"', w->out);
        hx_new_put_quoted_text(w->out, other ? other : value);
        fputc('"', w->out);
    } else {
        fputs(other ? other : value, w->out);
    }
    fputc(';', w->out);
    return !other;
}

const char *hx_new_fraction(double value, int digits, char text[40])
{
    snprintf(text, 32, "%.*g", digits, value);
    if (!strpbrk(text, ".en")) strcat(text, ".0");
    return text;
}

int hx_new_put_key_number(hx_new_writer *w, const char *path, double value, int digits)
{
    char text[40];
    return hx_new_put_key(w, path, hx_new_fraction(value, digits, text));
}

int hx_new_digits_of(double value)
{
    char text[40];
    for (int n = 3; n < 17; n++) {
        snprintf(text, sizeof text, "%.*g", n, value);
        const double back = strtod(text, NULL);
        if (!(back < value || back > value)) return n;
    }
    return 17;
}

void hx_new_put_given(hx_new_writer *w, const char *path)
{
    if (!hx_new_overridden(w->part, path)) {
        hx_new_take_key(w, path);
        return;
    }
    fputc(' ', w->out);
    hx_new_put_key(w, path, "");
}

int hx_new_put_given_list(hx_new_writer *w, const char *path)
{
    const int is_given = hx_new_overridden(w->part, path) != NULL;
    if (is_given) fputc('\n', w->out);
    hx_new_put_given(w, path);
    if (is_given) fputc('\n', w->out);
    return is_given;
}

unsigned hx_new_find_unread(const hx_new_part *part)
{
    const hx_conditions *const c = &part->session.conditions;
    if (hx_new_is_heat(part))
        return hx_unread_refuses(&c->unread, HX_UNREAD_OF_SUPPORTS, 0, 1) |
               hx_unread_refuses(&c->unread, HX_UNREAD_OF_MATERIAL, 0, 1);
    return hx_unread_all_refuse(&c->unread, hx_has_mass_load(&part->session.cfg, c), c->n_case);
}

const char *hx_new_below_folder(const hx_new_writer *w, const char *text)
{
    const char *const file = w->part->session.cfg.mesh.file;
    const char *const slash = file ? strrchr(file, '/') : NULL;
    const size_t n = slash ? (size_t)(slash + 1 - file) : 0;
    return strncmp(text, file ? file : "", n) == 0 ? text + n : text;
}
