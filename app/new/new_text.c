/* The text of a new config: its keys, from the title to the output. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../config/config_schema.h"
#include "../session/file_unread.h"
#include "core/base/names.h"
#include "new_internal.h"

static void put_head(hx_new_writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_mesh *const m = &part->session.mesh;
    fprintf(w->out, "# ");
    hx_new_put_quoted_text(w->out, part->name);
    fprintf(w->out,
            ": %lld %s, %lld %s, mean edge %.4g\n# box %g to %g, %g to %g, %g to %g; volume "
            "%.5g\n#\n#     hextop check CONFIG     reports the part, what is missing, and the "
            "time that a run takes\n#     hextop run CONFIG\n#     hextop help KEY         prints "
            "the meaning of a key and related keys\n\n",
            (long long)m->n_elem, hx_noun(m->n_elem, "element", "elements"), (long long)m->n_node,
            hx_noun(m->n_node, "node", "nodes"), m->elem_size, m->box_min[0], m->box_max[0],
            m->box_min[1], m->box_max[1], m->box_min[2], m->box_max[2], m->total_volume);
    hx_new_put_key(w, "title", part->name);
    fputc('\n', w->out);
    if (part->session.conditions.is_heat || hx_new_overridden(part, "physics")) {
        hx_new_put_key(w, "physics", "heat");
        fputc('\n', w->out);
    } else {
        hx_new_take_key(w, "physics");
    }
    hx_new_put_units(w);
}

/* Writes, as a comment, the line of mesh.ignore that would leave out the items that are not
 * read. */
static void put_unread(hx_new_writer *w, unsigned roles)
{
    const hx_unread *const list = &w->part->session.conditions.unread;
    char text[8192];
    hx_unread_text(list, roles, 0, "", text, 900);
    fprintf(w->out, "\n"
                    "    # Items of the file that hextop does not read. from = \"file\" is refused "
                    "until they are left out on\n"
                    "    # purpose, by uncommenting this line:\n"
                    "    # ");
    hx_new_put_quoted_text(w->out, hx_new_below_folder(w, text));
    hx_unread_words(list, roles, text, sizeof text);
    fprintf(w->out, "\n    # ignore = ");
    for (const char *c = text; *c; c++)
        if (!iscntrl((unsigned char)*c)) fputc(*c, w->out);
    fprintf(w->out, ";\n");
}

static void put_mesh(hx_new_writer *w)
{
    const hx_new_part *const part = w->part;
    fprintf(w->out, "\nmesh = { ");
    if (part->is_file) {
        fprintf(w->out, "file = \"");
        hx_new_put_quoted_text(w->out, part->file);
        fprintf(w->out, "\";");
        hx_new_take_key(w, "mesh.file"); /* not an override: in cmd_new.c it replaces PART */
    } else {
        hx_new_put_key(w, "mesh.generator", part->name);
        if (!hx_new_overridden(part, "mesh.nx")) {
            fputc(' ', w->out);
            hx_new_put_key(w, "mesh.size", "1");
        } else {
            hx_new_put_given(w, "mesh.size");
        }
        hx_new_put_given(w, "mesh.nx");
        hx_new_put_given(w, "mesh.ny");
        hx_new_put_given(w, "mesh.nz");
    }
    if (part->is_cad) {
        fputc(' ', w->out);
        const double size = part->session.cfg.mesh.element_size;
        hx_new_put_key_number(w, "mesh.element_size", size, hx_new_digits_of(size));
    }
    if (part->session.n_mirror > 0 && !hx_new_overridden(part, "mesh.mirrored")) {
        fputc(' ', w->out);
        hx_new_put_key(w, "mesh.mirrored", "true");
    } else {
        hx_new_put_given(w, "mesh.mirrored");
    }
    hx_new_put_given(w, "mesh.degree");
    hx_new_put_given(w, "mesh.refine");
    hx_new_put_given(w, "mesh.merge");
    hx_new_put_given(w, "mesh.time_limit");
    hx_new_put_given(w, "mesh.ignore");
    const unsigned unread = hx_new_find_unread(part);
    if (unread) put_unread(w, unread);
    fprintf(w->out, "%s};%s\n", unread ? "" : " ",
            part->is_file ? "   # relative to this file" : "");
}

/* Writes a key on a line of its own, with a comment that is true for any value. */
static void put_key_line(hx_new_writer *w, const char *path, const char *value, const char *comment)
{
    const char *const other = hx_new_overridden(w->part, path);
    if (other && !other[0]) {
        hx_new_take_key(w, path);
        return;
    }
    fprintf(w->out, "    ");
    hx_new_put_key(w, path, value);
    fputs(comment, w->out);
}

static void put_filter(hx_new_writer *w)
{
    const hx_mesh *const m = &w->part->session.mesh;
    const char *const unit = hx_new_overridden(w->part, "optimization.filter.unit");
    const int in_elements = unit && (!unit[0] || strstr(unit, "element"));
    double diagonal = 0.0, radius = in_elements ? 2.5 : 2.5 * m->elem_size;
    for (int i = 0; i < 3; i++) diagonal = hypot(diagonal, m->box_max[i] - m->box_min[i]);
    /* a radius above the diagonal of the part is refused */
    const double most = 0.9 * diagonal / (in_elements ? m->elem_size : 1.0);
    const int is_small = radius > most;
    if (is_small) radius = most;
    fprintf(w->out, "    filter = { ");
    hx_new_put_key(w, "optimization.filter.kind", "sensitivity");
    fputc(' ', w->out);
    const int is_default = hx_new_put_key_number(w, "optimization.filter.radius", radius, 3);
    fputc(' ', w->out);
    hx_new_put_key(w, "optimization.filter.unit", "length");
    fprintf(w->out, " };%s\n",
            !is_default ? ""
            : is_small
                ? "   # 0.9 of the diagonal of the part's bounding box, less than 2.5 mean edges"
                : "   # 2.5 mean edges");
}

static const char *put_vector(const double v[3], char text[128])
{
    char number[3][40];
    for (int d = 0; d < 3; d++) hx_new_fraction(v[d], hx_new_digits_of(v[d]), number[d]);
    snprintf(text, 128, "[%s, %s, %s]", number[0], number[1], number[2]);
    return text;
}

/* Proposes the planes of a mirrored mesh for the design, as a comment: whether the loads suit them
 * is not known. */
static void put_symmetry(hx_new_writer *w)
{
    const hx_session *const s = &w->part->session;
    if (s->n_mirror == 0) return;
    fprintf(w->out,
            "    # The part is its own mirror image at %s, and so is its mesh. For loads "
            "that are symmetric too, or a\n    # symmetric design under other loads:\n"
            "    # symmetry = (",
            s->n_mirror == 1 ? "this plane" : "these planes");
    for (int p = 0; p < s->n_mirror; p++) {
        char point[128], normal[128];
        fprintf(w->out, "%s { point = %s; normal = %s; }", p > 0 ? "," : "",
                put_vector(s->mirror[p].point, point), put_vector(s->mirror[p].normal, normal));
    }
    fprintf(w->out, " );\n");
}

/* HX_EINPUT: an argument sets a key that the text does not contain. */
static int check_overrides(const hx_new_writer *w)
{
    for (size_t i = 0; i < w->part->n_override; i++) {
        const char *const text = w->part->override[i];
        const size_t n = strcspn(text, "=");
        size_t k = 0;
        char key[128], hint[2048];
        while (k < w->n_key && (strlen(w->key[k]) != n || strncmp(w->key[k], text, n) != 0)) k++;
        if (k < w->n_key) continue;
        snprintf(key, sizeof key, "%.*s", n < 120 ? (int)n : 120, text);
        hx_name_list(w->key, w->n_key, hint, sizeof hint);
        return HX_RAISE(HX_EINPUT,
                        "argument '%s': `hextop new` does not write this key; add %s to the "
                        "config. It writes: %s",
                        text, key, hint);
    }
    return HX_OK;
}

int hx_new_write(const hx_new_part *part, FILE *stream)
{
    hx_new_writer w = {.part = part, .out = stream};
    put_head(&w);
    put_mesh(&w);
    hx_new_put_material(&w);
    hx_new_put_sets(&w);
    hx_new_put_own_sets(&w);
    if (hx_new_is_heat(part)) {
        hx_new_put_heat(&w);
    } else {
        hx_new_put_supports(&w);
        hx_new_put_loads(&w);
    }
    hx_new_put_passive(&w);
    fprintf(w.out, "\noptimization = {\n");
    put_key_line(&w, "optimization.volume_fraction", "0.3",
                 "        # of the part's volume is kept\n");
    put_key_line(&w, "optimization.iterations", "75", "              # at most\n");
    put_key_line(&w, "optimization.change_tolerance", "0.01",
                 "      # ends once no density changes by more\n");
    put_filter(&w);
    put_symmetry(&w);
    HX_TRY(hx_new_put_limits(&w));
    fprintf(w.out, "};\n");
    char folder[160];
    snprintf(folder, sizeof folder, "out/%s", w.part->name);
    fprintf(w.out, "\noutput = { ");
    hx_new_put_key(&w, "output.directory", folder);
    fputc(' ', w.out);
    hx_new_put_key(&w, "output.every", "10");
    fputc(' ', w.out);
    hx_new_put_key(&w, "output.fields", "(\"density\")");
    fprintf(w.out, " };   # relative to the folder in which hextop is started\n");
    return check_overrides(&w);
}
