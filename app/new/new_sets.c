/* Sets and limits of a new config: the sets of the part as comments, sets prepared by geometry, the
 * entries for each, and limits on one of them. */
#include <math.h>
#include <stdio.h>

#include "../text/log.h"
#include "core/base/names.h"
#include "new_internal.h"

enum { MOST_LISTED = 40, MOST_PREPARED = 24 };

/* "hollow cylinder of radius 4, 12 faces, area 240" */
static void put_size(FILE *out, const hx_new_set *set)
{
    const int64_t n_elem = set->set->n_elem;
    if (n_elem > 0) {
        fprintf(out, "%lld %s", (long long)n_elem, hx_noun(n_elem, "element", "elements"));
        if (set->set->n_face == 0 || set->is_inner) return;
        fprintf(out, " and ");
    }
    if (set->is_fitted && set->shape.kind != HX_FACE_OTHER) {
        fprintf(out, "%s", hx_face_kind_name(&set->shape));
        if (set->shape.radius > 0.0) fprintf(out, " of radius %.4g", set->shape.radius);
        fprintf(out, ", ");
    }
    if (set->is_inner)
        fprintf(out, "faces between solids");
    else if (set->n_face > 0)
        fprintf(out, "%lld %s%s, area %.4g", (long long)set->n_face,
                hx_noun(set->n_face, "face", "faces"), set->set->n_face > 0 ? "" : " of its nodes",
                set->area);
    else
        fprintf(out, "%lld %s", (long long)set->set->n_node,
                hx_noun(set->set->n_node, "node", "nodes"));
}

/* Prints values that are only rounding as 0. */
static double clean(double x, double size)
{
    return fabs(x) < 1e-9 * size ? 0.0 : x;
}

/* 1 if supports or loads can act on the set: it has faces or nodes. */
static int is_surface(const hx_new_set *set)
{
    return !set->is_inner && (set->set->n_elem == 0 || set->set->n_face > 0);
}

/* Returns 1 if the part has fewer than two sets of faces; then the sides of its box become sets. */
static int needs_sides(const hx_new_part *part)
{
    int n = 0;
    for (size_t i = 0; i < part->n_set; i++)
        n += is_surface(&part->set[i]) && part->set[i].n_face > 0;
    return n < 2 && !hx_mesh_find_set(&part->session.mesh, "x-min");
}

void hx_new_put_sets(hx_new_writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_mesh *const mesh = &part->session.mesh;
    const double size = fabs(mesh->box_max[0] - mesh->box_min[0]) +
                        fabs(mesh->box_max[1] - mesh->box_min[1]) +
                        fabs(mesh->box_max[2] - mesh->box_min[2]);
    fprintf(w->out, "\n# Sets of the part:\n");
    const int is_cut = part->n_set > MOST_LISTED && hx_log_get_level() < HX_LOG_VERBOSE;
    const size_t n_listed = is_cut ? MOST_LISTED : part->n_set;
    for (size_t i = 0; i < n_listed; i++) {
        const hx_new_set *const set = &part->set[i];
        fprintf(w->out, "#   \"");
        hx_new_put_quoted_text(w->out, set->set->name);
        fprintf(w->out, "\": ");
        put_size(w->out, set);
        fprintf(w->out, ", centre %.4g %.4g %.4g\n", clean(set->centre[0], size),
                clean(set->centre[1], size), clean(set->centre[2], size));
    }
    if (is_cut)
        fprintf(w->out, "#   and %zu more, which `hextop new -v` lists\n",
                part->n_set - MOST_LISTED);
    if (needs_sides(part)) fprintf(w->out, "#   and the sides of its box, which are made below\n");
}

/* "{ name = "x-min"; plane = { point = [0.0, 0.0, 0.0]; normal = [1.0, 0.0, 0.0]; }; }" */
static void put_plane(FILE *out, const char *name, const double x[3], int axis)
{
    char text[3][40];
    fprintf(out,
            "{ name = \"%s\"; plane = { point = [%s, %s, %s]; normal = [%d.0, %d.0, %d.0]; }; }",
            name, hx_new_fraction(x[0], 17, text[0]), hx_new_fraction(x[1], 17, text[1]),
            hx_new_fraction(x[2], 17, text[2]), axis == 0, axis == 1, axis == 2);
}

static const char *const side_name[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};

void hx_new_put_own_sets(hx_new_writer *w)
{
    const hx_mesh *const mesh = &w->part->session.mesh;
    const char *const what = "by their place: plane, box, cylinder, sphere; and, or, not";
    if (hx_new_put_given_list(w, "sets")) return;
    if (!needs_sides(w->part)) {
        fprintf(w->out, "\n# More sets, %s.\n# sets = ( ", what);
        put_plane(w->out, "z-min", mesh->box_min, 2);
        fprintf(w->out, " );\n");
        return;
    }
    fprintf(w->out, "\n# Sets, %s.\nsets = (\n", what);
    for (int side = 0; side < 6; side++) {
        fprintf(w->out, "    ");
        put_plane(w->out, side_name[side], side % 2 ? mesh->box_max : mesh->box_min, side / 2);
        fprintf(w->out, ",\n");
    }
    fprintf(w->out, ");\n");
}

static double least_area(const hx_new_part *part)
{
    double least = 0.0;
    for (;;) {
        size_t n = 0;
        double next = HUGE_VAL;
        for (size_t i = 0; i < part->n_set; i++) {
            if (!is_surface(&part->set[i]) || part->set[i].area < least) continue;
            n++;
            if (part->set[i].area > least) next = fmin(next, part->set[i].area);
        }
        if (n <= MOST_PREPARED || !(next < HUGE_VAL)) return least;
        least = next;
    }
}

void hx_new_put_entries(hx_new_writer *w, hx_new_entry_call put)
{
    const hx_new_part *const part = w->part;
    const double least = least_area(part);
    size_t n = 0, n_all = 0;
    if (!part->is_file) fprintf(w->out, "# others:\n");
    for (size_t i = 0; i < part->n_set; i++) {
        const hx_new_set *const set = &part->set[i];
        if (!is_surface(set)) continue;
        n_all++;
        if (set->area < least || n == MOST_PREPARED) continue;
        put(w, set->set->name, set);
        n++;
    }
    for (size_t i = 0; needs_sides(part) && i < 6; i++) put(w, side_name[i], NULL);
    if (n < n_all) fprintf(w->out, "#   and %zu smaller ones of the list above\n", n_all - n);
}

/* Name of the first set of faces, or what stands for one in comments. */
static const char *name_of_faces(const hx_new_part *part)
{
    for (size_t i = 0; i < part->n_set; i++) {
        const hx_new_set *const set = &part->set[i];
        if (is_surface(set) && set->n_face > 0) return set->set->name;
    }
    return needs_sides(part) ? "z-min" : "NAME";
}

void hx_new_put_passive(hx_new_writer *w)
{
    const hx_new_part *const part = w->part;
    const hx_new_set *solid = NULL;
    char text[40];
    if (hx_new_put_given_list(w, "passive")) return;
    for (size_t i = 0; i < part->n_set && !solid; i++) {
        const hx_new_set *const set = &part->set[i];
        const int is_all = set->set->n_elem == part->session.mesh.n_elem;
        if (set->set->n_elem > 0 && !is_all) solid = set;
    }
    fprintf(w->out, "\n"
                    "# Regions that are not designed: elements, or a skin behind faces.\n");
    if (solid) {
        fprintf(w->out, "# passive = ( { set = \"");
        hx_new_put_quoted_text(w->out, solid->set->name);
        fprintf(w->out, "\"; density = 1.0; } );\n");
    }
    fprintf(w->out, "# passive = ( { set = \"");
    hx_new_put_quoted_text(w->out, name_of_faces(part));
    fprintf(w->out, "\"; skin = %s; } );\n",
            hx_new_fraction(2.0 * part->session.mesh.elem_size, 3, text));
}

void hx_new_put_limits(hx_new_writer *w)
{
    const hx_mesh *const m = &w->part->session.mesh;
    const int is_heat = hx_new_is_heat(w->part);
    double diagonal = 0.0;
    char limit[40], radius[40];
    for (int i = 0; i < 3; i++) diagonal = hypot(diagonal, m->box_max[i] - m->box_min[i]);
    fprintf(w->out,
            "    # %s within limits instead: these lines in place of those above, with sets and\n"
            "    # limits of your own. `hextop check CONFIG --solve` prints the values of the "
            "solid part,\n"
            "    # and `hextop lightest CONFIG` finds the part.\n"
            "    # objective = \"%s\";\n"
            "    # constraints = ( { kind = \"%s\"; set = \"",
            is_heat ? "The smallest part" : "The lightest part", is_heat ? "volume" : "mass",
            is_heat ? "temperature" : "displacement");
    hx_new_put_quoted_text(w->out, name_of_faces(w->part));
    fprintf(w->out,
            "\"; max = %s; } );\n"
            "    # iterations = 120;\n"
            "    # filter = { kind = \"density\"; radius = %s; unit = \"length\"; };\n"
            "    # projection = { every = 20; };\n",
            is_heat ? "80.0" : hx_new_fraction(2e-3 * diagonal, 2, limit),
            hx_new_fraction(fmin(2.5 * m->elem_size, 0.9 * diagonal), 3, radius));
}
