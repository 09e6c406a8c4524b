/* Parts and instances of an Abaqus input file. A *PART is marked and skipped; abaqus_read.c reads
 * its lines once per *INSTANCE, with that instance's numbers, names and placement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/vec3.h"
#include "abaqus_reader.h"

/* --- parts --- */

static const hx_abaqus_part *find_part(const hx_abaqus_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_part; i++)
        if (strcasecmp(r->part[i].name, name) == 0) return &r->part[i];
    return NULL;
}

int hx_abaqus_begin_part(hx_abaqus_reader *r)
{
    const char *const given = hx_abaqus_parameter(&r->scan, "NAME");
    const char *const name = given ? given : "";
    if (r->in_part || r->in_assembly)
        return HX_ABAQUS_RAISE(&r->scan, "*PART within a part or the assembly");
    if (find_part(r, name))
        return HX_ABAQUS_RAISE(&r->scan, "a second part with the name '%.60s'", name);
    HX_TRY(hx_resize(&r->part, r->n_part, r->n_part + 1, sizeof *r->part, "parts"));
    hx_abaqus_part *const part = &r->part[r->n_part++];
    HX_TRY(hx_strdup(&part->name, name));
    HX_TRY(hx_abaqus_scan_mark(&r->scan, &part->begin));
    /* skip the lines up to *END PART, in the same file */
    const int depth = r->scan.depth;
    hx_abaqus_line kind;
    do {
        HX_TRY(hx_abaqus_scan_line(&r->scan, &kind));
        if (kind == HX_ABAQUS_END || r->scan.depth < depth)
            return HX_ABAQUS_RAISE(&r->scan, "*END PART of part '%.60s' is missing", part->name);
    } while (kind != HX_ABAQUS_KEYWORD || strcmp(r->scan.keyword, "ENDPART") != 0);
    if (r->scan.depth == depth) return HX_OK;
    return HX_ABAQUS_RAISE(&r->scan, "*END PART is in another file than *PART");
}

/* --- instances --- */

/* *ASSEMBLY and *END ASSEMBLY */
int hx_abaqus_begin_assembly(hx_abaqus_reader *r)
{
    const int is_begin = strcmp(r->scan.keyword, "ASSEMBLY") == 0;
    if (is_begin && (r->in_part || r->in_assembly))
        return HX_ABAQUS_RAISE(&r->scan, "*ASSEMBLY within a part or the assembly");
    r->in_assembly = is_begin;
    return HX_OK;
}

/* Rotates the current placement by an angle about an axis from a to b. */
static int turn(hx_abaqus_reader *r, const double a[3], const double b[3], double degrees)
{
    hx_abaqus_instance *const to = &r->instance[r->scope];
    const double angle = degrees * acos(-1.0) / 180.0, c = cos(angle), s = sin(angle);
    double axis[3], turned[3][3], shift[3];
    for (int i = 0; i < 3; i++) axis[i] = b[i] - a[i];
    const double length = hx_norm3(axis);
    if (!(length > 0.0))
        return HX_ABAQUS_RAISE(&r->scan,
                               "an axis of rotation of length 0: both points are (%g, %g, %g)",
                               a[0], a[1], a[2]);
    for (int i = 0; i < 3; i++) axis[i] /= length;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int k = 3 - i - j; /* the third axis, different from i and j */
            const double sign = (j + 3 - i) % 3 == 1 ? -1.0 : 1.0;
            turned[i][j] = axis[i] * axis[j] * (1.0 - c) + (i == j ? c : sign * s * axis[k]);
        }
    for (int i = 0; i < 3; i++) {
        shift[i] = a[i];
        for (int j = 0; j < 3; j++) shift[i] += turned[i][j] * (to->shift[j] - a[j]);
    }
    memcpy(to->matrix, turned, sizeof turned);
    memcpy(to->shift, shift, sizeof shift);
    return HX_OK;
}

/* First line: translation. Second line: two points on an axis, and an angle in degrees. */
static int place_line(hx_abaqus_reader *r, char *line)
{
    const int n = r->n_place_line == 0 ? 3 : 7;
    double value[7] = {0.0};
    char *field;
    hx_abaqus_instance *const to = &r->instance[r->scope];
    if (r->n_place_line++ > 1)
        return HX_ABAQUS_RAISE(
            &r->scan,
            "a third data line of *INSTANCE; it has at most two, translation and rotation");
    for (int i = 0; i < n && hx_abaqus_field(&line, &field); i++)
        if (*field)
            HX_TRY(hx_abaqus_real(&r->scan, field,
                                  n == 3 ? "a translation" : "an axis and an angle", &value[i]));
    to->is_moved = 1;
    if (n == 7) return turn(r, value, value + 3, value[6]);
    memcpy(to->shift, value, sizeof to->shift);
    return HX_OK;
}

void hx_abaqus_place_node(const hx_abaqus_reader *r, double x[3])
{
    if (r->scope < 0 || !r->instance[r->scope].is_moved) return;
    const hx_abaqus_instance *const to = &r->instance[r->scope];
    const double from[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; i++)
        x[i] = to->shift[i] + to->matrix[i][0] * from[0] + to->matrix[i][1] * from[1] +
               to->matrix[i][2] * from[2];
}

static int add_instance(hx_abaqus_reader *r, const char *name)
{
    for (size_t i = 0; i < r->n_instance; i++)
        if (strcasecmp(r->instance[i].name, name) == 0)
            return HX_ABAQUS_RAISE(&r->scan, "a second instance with the name '%.60s'", name);
    if (r->n_instance == HX_ABAQUS_INSTANCES)
        return HX_ABAQUS_RAISE(&r->scan, "more than %d instances", HX_ABAQUS_INSTANCES);
    HX_TRY(hx_resize(&r->instance, r->n_instance, r->n_instance + 1, sizeof *r->instance,
                     "instances"));
    hx_abaqus_instance *const to = &r->instance[r->n_instance++];
    for (int i = 0; i < 3; i++) to->matrix[i][i] = 1.0;
    to->line = r->scan.keyword_line;
    return hx_strdup(&to->name, name);
}

int hx_abaqus_begin_instance(hx_abaqus_reader *r)
{
    const char *const name = hx_abaqus_parameter(&r->scan, "NAME");
    const char *const part = hx_abaqus_parameter(&r->scan, "PART");
    if (r->in_part || r->scope >= 0)
        return HX_ABAQUS_RAISE(&r->scan, "*INSTANCE within a part or an instance");
    if (hx_abaqus_parameter(&r->scan, "LIBRARY") || hx_abaqus_parameter(&r->scan, "INSTANCE"))
        return HX_ABAQUS_RAISE(&r->scan, "*INSTANCE from another job's results is not read");
    r->placing = part ? find_part(r, part) : NULL;
    if (part && !r->placing)
        return HX_ABAQUS_RAISE(
            &r->scan, "*INSTANCE of part '%.60s', which is not defined above this line", part);
    HX_TRY(add_instance(r, name ? name : ""));
    r->scope = (int)r->n_instance - 1;
    r->n_place_line = 0;
    r->data = place_line;
    return HX_OK;
}

int hx_abaqus_end_instance(hx_abaqus_reader *r)
{
    r->scope = -1;
    return HX_OK;
}

void hx_abaqus_free_parts(hx_abaqus_reader *r)
{
    for (size_t i = 0; i < r->n_part; i++) {
        free(r->part[i].name);
        hx_abaqus_mark_free(&r->part[i].begin);
    }
    for (size_t i = 0; i < r->n_instance; i++) free(r->instance[i].name);
    free(r->part);
    free(r->instance);
}
