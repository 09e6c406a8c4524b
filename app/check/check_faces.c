/* hextop check: the faces of a CAD model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "check.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/mesher/face_fit.h"
#include "core/mesher/model_files.h"

enum { MOST_FACES = 40 };

typedef struct listed {
    const hx_set *set;
    hx_face_shape shape;
    size_t place; /* in the model */
} listed;

int hx_check_is_model_face(const hx_set *set)
{
    return set->n_face > 0 && strncmp(set->name, "face-", 5) == 0;
}

static int larger_first(const void *a, const void *b)
{
    const listed *const x = a, *const y = b;
    if (x->shape.area < y->shape.area) return 1;
    if (x->shape.area > y->shape.area) return -1;
    return (x->place > y->place) - (x->place < y->place);
}

static int model_order(const void *a, const void *b)
{
    const listed *const x = a, *const y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Prints -0, and values that are only rounding, as 0. */
static double clean(double value, double size)
{
    return value > -1e-6 * size && value < 1e-6 * size ? 0.0 : value;
}

static void add_vector(hx_table *table, const double x[3], double size)
{
    hx_table_add(table, "%.4g %.4g %.4g", clean(x[0], size), clean(x[1], size), clean(x[2], size));
}

static int is_further(const hx_set *set)
{
    return set->rule == HX_SET_PLAIN && set->n_face > 0 && !hx_check_is_model_face(set);
}

static int compare_faces(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Adds other names of the face: sets of the file with the same faces. */
static void add_names(hx_table *table, const hx_mesh *mesh, const hx_set *set)
{
    char names[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < mesh->n_set; i++) {
        const hx_set *const other = &mesh->set[i];
        if (!is_further(other) || !bsearch(set->face, other->face, (size_t)other->n_face,
                                           sizeof *set->face, compare_faces))
            continue;
        n += hx_fit(names + n, sizeof names - n, "%s%s", n > 0 ? ", " : "", other->name);
    }
    hx_table_add(table, "%s", names);
}

static void add_face_row(hx_table *table, const listed *face, double size)
{
    const hx_face_shape *const shape = &face->shape;
    const int has_axis = shape->kind == HX_FACE_PLANE || shape->kind == HX_FACE_CYLINDER ||
                         shape->kind == HX_FACE_CONE;
    char count[32];
    hx_table_add(table, "%s", face->set->name);
    hx_table_add(table, "%s%s", hx_face_kind_name(shape),
                 shape->is_inner ? ", between solids" : "");
    if (shape->radius > 0.0)
        hx_table_add(table, "%.4g", shape->radius);
    else
        hx_table_add(table, "%s", "");
    hx_table_add(table, "%.4g", shape->area);
    add_vector(table, shape->center, size);
    if (has_axis)
        add_vector(table, shape->axis, 1.0);
    else
        hx_table_add(table, "%s", "");
    hx_table_add(table, "%s", hx_format_count(face->set->n_face, count, sizeof count));
}

int hx_check_faces(const hx_session *s)
{
    listed *face = NULL;
    size_t n = 0;
    int rc = HX_OK;
    if (hx_check_is_quiet() || !s->cfg.mesh.file || !hx_model_is_cad(s->cfg.mesh.file))
        return HX_OK;
    HX_TRY(hx_alloc(&face, s->mesh.n_set, sizeof *face, "faces of the model"));
    for (size_t i = 0; i < s->mesh.n_set && rc == HX_OK; i++) {
        if (!hx_check_is_model_face(&s->mesh.set[i])) continue;
        face[n].set = &s->mesh.set[i];
        face[n].place = n;
        rc = hx_face_fit_smooth(&s->mesh, face[n].set, &face[n].shape);
        n++;
    }
    if (rc == HX_OK && n > 0) {
        hx_table table;
        const hx_mesh *const mesh = &s->mesh;
        int has_names = 0;
        const int is_cut = n > MOST_FACES && hx_log_get_level() < HX_LOG_VERBOSE;
        const double size = mesh->box_max[0] - mesh->box_min[0] + mesh->box_max[1] -
                            mesh->box_min[1] + mesh->box_max[2] - mesh->box_min[2];
        const size_t n_shown = is_cut ? MOST_FACES : n;
        if (is_cut) {
            qsort(face, n, sizeof *face, larger_first);
            qsort(face, n_shown, sizeof *face, model_order);
            hx_log_info("\nfaces of the model, the %d largest of %zu (-v: all)", MOST_FACES, n);
        } else {
            hx_log_info("\nfaces of the model");
        }
        for (size_t i = 0; i < mesh->n_set; i++) has_names |= is_further(&mesh->set[i]);
        hx_table_begin(&table, has_names ? "llrrllrl" : "llrrllr");
        hx_table_add_words(&table,
                           "set|kind|radius|area|centre, on the axis|normal, axis|triangles");
        if (has_names) hx_table_add(&table, "further names");
        for (size_t i = 0; i < n_shown; i++) {
            add_face_row(&table, &face[i], size);
            if (has_names) add_names(&table, mesh, face[i].set);
        }
        hx_table_end(&table, 2);
    }
    free(face);
    return rc;
}
