/* Loads on faces and by mass of an Abaqus input file: *DLOAD, *DSLOAD. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "../base/vec3.h"
#include "abaqus_reader.h"

/* Adds r->condition, with a step and a family. */
static int add_abaqus_load(hx_abaqus_reader *r, int family, const hx_import_set *set)
{
    hx_condition *added;
    r->condition.line = hx_abaqus_scan_number(&r->scan);
    r->condition.step = r->conditions.n_step;
    r->condition.components = 0;
    r->condition.family = family;
    r->condition.set = set;
    return hx_import_conditions_add(&r->conditions, &r->condition, &added);
}

static int unread_label(hx_abaqus_reader *r, const char *label, const char *read)
{
    char word[64];
    snprintf(word, sizeof word, "*%.20s, %.20s", r->scan.keyword_shown, label);
    for (char *c = word; *c; c++) *c = (char)toupper((unsigned char)*c);
    return hx_abaqus_unread(r, HX_UNREAD_LOAD, word, read);
}

/* Reads up to n more numbers of the line. */
static int read_numbers(hx_abaqus_reader *r, char **line, int n, const char *what, double *value)
{
    char *field;
    for (int i = 0; i < n && hx_abaqus_field(line, &field); i++)
        if (*field) HX_TRY(hx_abaqus_real(&r->scan, field, what, &value[i]));
    return HX_OK;
}

/* --- *DLOAD --- */

/* Makes a set "TARGET.P2" of the faces on one side of the elements of a set. */
static int add_side(hx_abaqus_reader *r, char *target, int side, double value)
{
    char name[230];
    hx_abaqus_reference to;
    HX_TRY(hx_abaqus_need(r, HX_KIND_ELEMS, target, &to));
    if (to.is_number) return hx_abaqus_load_face(r, to.number, side, HX_LOADS_OF_ELEMENTS, value);
    hx_abaqus_mark_taken(r, to.set, 0);
    HX_TRY(hx_abaqus_load_repeated(r, to.set, side, HX_LOADS_OF_ELEMENTS, value));
    snprintf(name, sizeof name, "%.200s.P%d", target, side);
    r->set = hx_abaqus_find_set(r, HX_KIND_FACES, name);
    if (!r->set) {
        HX_TRY(hx_abaqus_open_set(r, HX_KIND_FACES, name, &r->set));
        HX_TRY(hx_abaqus_append_side(r, &to, side));
        r->set->is_of_loads = 1;
    }
    r->condition.kind = HX_CONDITION_PRESSURE;
    r->condition.vector[0] = value;
    return add_abaqus_load(r, HX_LOADS_OF_ELEMENTS, r->set);
}

/* magnitude, direction */
static int add_gravity(hx_abaqus_reader *r, char *line, double size, const hx_import_set *set)
{
    double direction[3] = {0.0};
    HX_TRY(read_numbers(r, &line, 3, "a direction", direction));
    const double length = hx_norm3(direction);
    if (!(length > 0.0)) return HX_ABAQUS_RAISE(&r->scan, "GRAV needs a direction");
    r->condition.kind = HX_CONDITION_GRAVITY;
    for (int i = 0; i < 3; i++) {
        r->condition.vector[3 + i] = direction[i] / length;
        r->condition.vector[i] = size * direction[i] / length;
    }
    return add_abaqus_load(r, HX_LOADS_OF_ELEMENTS, set);
}

/* square of the speed, point, axis */
static int add_rotation(hx_abaqus_reader *r, char *line, double square, const hx_import_set *set)
{
    HX_TRY(read_numbers(r, &line, 6, "an axis", r->condition.vector));
    if (!(hx_norm3(r->condition.vector + 3) > 0.0))
        return HX_ABAQUS_RAISE(&r->scan,
                               "CENTRIF needs a point on its axis and the direction of the axis");
    if (square < 0.0)
        return HX_ABAQUS_RAISE(
            &r->scan, "CENTRIF: the square of the speed is %g; it must not be negative", square);
    r->condition.kind = HX_CONDITION_CENTRIFUGAL;
    r->condition.value = sqrt(square);
    return add_abaqus_load(r, HX_LOADS_OF_ELEMENTS, set);
}

/* Finds the elements on which a load by mass acts: all, if no name is given. A single element is
 * refused. */
static int find_elements(hx_abaqus_reader *r, char *target, const hx_import_set **set)
{
    hx_abaqus_reference to;
    *set = NULL;
    if (!*target) return HX_OK;
    HX_TRY(hx_abaqus_need(r, HX_KIND_ELEMS, target, &to));
    *set = to.set;
    if (to.set) return HX_OK;
    return hx_abaqus_load_fault(
        r, "a load by mass on one element; such loads must act on all elements");
}

/* element or set, label, magnitude, and more numbers for some labels */
static int dload_line(hx_abaqus_reader *r, char *line)
{
    char *target, *label;
    double size = 0.0;
    const hx_import_set *set;
    memset(&r->condition, 0, sizeof r->condition);
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label) || !*label)
        return HX_ABAQUS_RAISE(&r->scan,
                               "a load on elements needs a label: P1 to P6, GRAV or CENTRIF");
    const int is_gravity = strcasecmp(label, "GRAV") == 0;
    const int rotates = strcasecmp(label, "CENTRIF") == 0;
    const int is_side = toupper((unsigned char)label[0]) == 'P' && label[1] >= '1' &&
                        label[1] <= '6' && label[2] == '\0';
    if (!is_gravity && !rotates && !is_side)
        return unread_label(r, label, "only labels P1 to P6, GRAV and CENTRIF are read");
    HX_TRY(read_numbers(r, &line, 1, "a magnitude", &size));
    if (is_side) return add_side(r, target, label[1] - '0', size);
    HX_TRY(find_elements(r, target, &set));
    return is_gravity ? add_gravity(r, line, size, set) : add_rotation(r, line, size, set);
}

/* --- *DSLOAD --- */

/* surface, label, magnitude */
static int dsload_line(hx_abaqus_reader *r, char *line)
{
    char *target, *label;
    hx_abaqus_reference to;
    memset(&r->condition, 0, sizeof r->condition);
    if (!hx_abaqus_field(&line, &target)) return HX_OK;
    if (!hx_abaqus_field(&line, &label) || !*label)
        return HX_ABAQUS_RAISE(&r->scan, "a load on a surface needs the label P");
    HX_TRY(hx_abaqus_refer(r, HX_KIND_FACES, target, &to));
    if (!to.set) return HX_ABAQUS_RAISE(&r->scan, "no surface '%.60s' above this line", target);
    if (strcasecmp(label, "P") != 0) return unread_label(r, label, "only label P is read");
    r->condition.kind = HX_CONDITION_PRESSURE;
    HX_TRY(read_numbers(r, &line, 1, "a pressure", r->condition.vector));
    hx_abaqus_mark_taken(r, to.set, 0);
    HX_TRY(hx_abaqus_load_repeated(r, to.set, 0, HX_LOADS_OF_SURFACES, r->condition.vector[0]));
    return add_abaqus_load(r, HX_LOADS_OF_SURFACES, to.set);
}

/* --- keywords --- */

/* *DLOAD and *DSLOAD */
int hx_abaqus_begin_load(hx_abaqus_reader *r)
{
    const int is_on_elements = strcmp(r->scan.keyword, "DLOAD") == 0;
    const int family = is_on_elements ? HX_LOADS_OF_ELEMENTS : HX_LOADS_OF_SURFACES;
    const unsigned loads = 1u << HX_ABAQUS_OP_DLOAD | 1u << HX_ABAQUS_OP_DSLOAD;
    const int is_late = (r->step_used & loads) != 0;
    int renews;
    r->data = is_on_elements ? dload_line : dsload_line;
    HX_TRY(hx_abaqus_check_load(r));
    HX_TRY(hx_abaqus_read_op(r, family, &renews));
    if (!renews) return HX_OK;
    memset(&r->condition, 0, sizeof r->condition);
    r->condition.kind = HX_CONDITION_NO_LOADS;
    r->condition.is_late = is_late;
    return add_abaqus_load(r, family, NULL);
}
