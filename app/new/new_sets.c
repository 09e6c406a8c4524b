/* Sets of a new config: the sets of the part as comments, sets prepared by geometry, the entries for
 * each, and a set for limits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../text/log.h"
#include "core/base/memory.h"
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

/* Marks the components that the supports of the file hold at each node: held[n_node]. */
static int mark_held(const hx_new_part *part, unsigned char *held)
{
    const hx_conditions *const c = &part->session.conditions;
    int32_t *node = NULL;
    HX_TRY(hx_conditions_nodes(&part->session.mesh, c->n_support, c->support, &node));
    for (int64_t i = 0; i < c->n_support; i++)
        held[node[i]] |= (unsigned char)(1u << c->support[i].component);
    free(node);
    return HX_OK;
}

int hx_new_find_free_set(const hx_new_part *part, const char **name)
{
    const hx_mesh *const mesh = &part->session.mesh;
    unsigned char *held = NULL;
    *name = name_of_faces(part);
    HX_TRY(hx_alloc(&held, (size_t)mesh->n_node, 1, "supported nodes"));
    const int rc = mark_held(part, held);
    const int has_supports = part->session.conditions.n_support > 0;
    int is_found = rc < 0, n_free = 0;
    for (size_t i = 0; i < part->n_set && !is_found; i++) {
        const hx_new_set *const set = &part->set[i];
        int is_free = 0;
        if (!is_surface(set) || set->n_face == 0) continue;
        for (int64_t k = 0; k < set->set->n_node && !is_free; k++)
            is_free = held[set->set->node[k]] != 7;
        n_free += is_free;
        if (is_free) *name = set->set->name;
        is_found = n_free == (has_supports ? 1 : 2);
    }
    if (!is_found && !has_supports && needs_sides(part)) *name = side_name[1];
    free(held);
    return rc;
}
