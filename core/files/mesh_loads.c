/* Loads of a mesh file on sets, at reference nodes and on the whole part: pressures, loads by mass,
 * forces and supports of couplings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/vec3.h"
#include "mesh_conditions.h"

enum { MOVES = 7, TURNS = 56 }; /* components of a reference node */

/* State of a coupling: the loads at its reference node, and its supported components. */
typedef struct reference_state {
    double force[6], value[6];
    int step[6];           /* step in which the force was last set */
    unsigned held, awaits; /* awaits: supported components that this step must state again */
    /* rotations supported at a node that has none in CalculiX: components, values, location */
    unsigned turned;
    double turn_value[6];
    int64_t turn_node, turn_line;
} reference_state;

typedef struct set_load {
    hx_condition what; /* a condition whose node list is empty */
    int is_off;
} set_load;

struct hx_set_loads {
    hx_import_conditions *all; /* (borrowed, as the next two) */
    const hx_import *import;
    const hx_mesh *mesh;
    size_t n, capacity;
    set_load *load;             /* (owned) */
    reference_state *reference; /* [all->n_coupling] (owned) */
    size_t load_capacity;       /* capacity of hx_conditions.load */
};

/* "FILE:LINE" of a condition or coupling. */
static const char *load_place(const hx_set_loads *s, int64_t line, char text[340])
{
    char number[24] = "";
    if (line > 0) snprintf(number, sizeof number, ":%lld", (long long)line);
    snprintf(text, 340, "%.300s%s", s->import->path, number);
    return text;
}

/* If a node of the part is the reference node of a rigid set, it moves with the set only if it is a
 * member. */
static int check_references(hx_set_loads *s)
{
    for (size_t i = 0; i < s->all->n_coupling; i++) {
        const hx_import_coupling *const coupling = &s->all->coupling[i];
        const int64_t node = hx_import_node_index(s->import, coupling->node);
        const hx_set *const set = hx_mesh_find_set(s->mesh, coupling->set->name);
        int64_t k = 0;
        char text[340];
        while (node >= 0 && set && k < set->n_node && set->node[k] != node) k++;
        if (node < 0 || (coupling->is_rigid && set && k < set->n_node)) continue;
        HX_TRY(hx_set_fault(
            &s->all->fault,
            "%s: reference node %s belongs to an element: it must belong to none, or be one of the "
            "nodes of its rigid coupling",
            load_place(s, coupling->line, text), HX_IMPORT_NUMBER(s->import, coupling->node)));
    }
    return HX_OK;
}

int hx_set_loads_create(hx_set_loads **loads, hx_import_conditions *all, const hx_import *import,
                        const hx_mesh *mesh)
{
    HX_TRY(hx_alloc(loads, 1, sizeof **loads, "loads of a file"));
    (*loads)->all = all;
    (*loads)->import = import;
    (*loads)->mesh = mesh;
    HX_TRY(check_references(*loads));
    return hx_alloc(&(*loads)->reference, all->n_coupling, sizeof(reference_state),
                    "couplings of a file");
}

void hx_set_loads_free(hx_set_loads *loads)
{
    if (!loads) return;
    free(loads->load);
    free(loads->reference);
    free(loads);
}

/* --- reference nodes --- */

static int hold_reference(hx_set_loads *s, const hx_condition *c, size_t i, unsigned components)
{
    const hx_import_coupling *const coupling = &s->all->coupling[i];
    reference_state *const at = &s->reference[i];
    char text[340];
    if (!coupling->is_rigid)
        return hx_set_fault(
            &s->all->support_fault,
            "%s: a support of node %s, the reference node of a distributing coupling; only "
            "reference nodes of rigid couplings can be supported",
            load_place(s, c->line, text), HX_IMPORT_NUMBER(s->import, coupling->node));
    for (int k = 0; k < 6; k++) {
        if (!(components >> k & 1u)) continue;
        if (c->step > 1 && (!(at->held >> k & 1u) || at->value[k] != c->value))
            return hx_set_fault(
                &s->all->support_fault,
                "%s: reference node %s has other supports than in step 1, but all load cases must "
                "have the same supports: write one file per set of supports",
                load_place(s, c->line, text), HX_IMPORT_NUMBER(s->import, coupling->node));
        at->held |= 1u << k;
        at->awaits &= ~(1u << k);
        at->value[k] = c->value;
    }
    return HX_OK;
}

/* Components 4 to 6 at the nodes of a *RIGID BODY. CalculiX 2.20 ignores them; in Abaqus they are
 * rotations and moments of the REF NODE. Supports are judged at the end. Types such as ENCASTRE are
 * read only by Abaqus, so that they mean one thing. */
static int turn_body(hx_set_loads *s, const hx_condition *c, size_t i, int64_t number)
{
    reference_state *const at = &s->reference[i];
    char text[340];
    if (c->kind != HX_CONDITION_SUPPORT) {
        if (!(fabs(c->value) > 0.0)) return HX_OK;
        return hx_set_fault(
            &s->all->load_fault,
            "%s: a moment (components 4 to 6) on node %s of a *RIGID BODY: CalculiX ignores it, "
            "and Abaqus applies it at the REF NODE: for CalculiX load components 1 to 3 of the ROT "
            "NODE, for both programs use *COUPLING with *KINEMATIC",
            load_place(s, c->line, text), HX_IMPORT_NUMBER(s->import, number));
    }
    for (int k = 3; k < 6; k++)
        if (c->components >> k & 1u) at->turn_value[k] = c->value;
    at->turned |= c->components & TURNS;
    at->turn_node = number;
    at->turn_line = c->line;
    return HX_OK;
}

/* Refuses supports of rotations at a *RIGID BODY, unless its ROT NODE has the same supports. */
static int check_turned(hx_set_loads *s, const reference_state *at)
{
    char text[340];
    unsigned same = 0;
    for (int k = 3; k < 6; k++)
        if (at->held >> k & 1u && !(fabs(at->value[k] - at->turn_value[k]) > 0.0)) same |= 1u << k;
    if ((at->turned & ~same) == 0) return HX_OK;
    return hx_set_fault(
        &s->all->support_fault,
        "%s: a support of rotations (components 4 to 6) of node %s of a *RIGID BODY: CalculiX "
        "ignores it, and Abaqus applies it at the REF NODE: for CalculiX support components 1 to 3 "
        "of the ROT NODE, for both programs use *COUPLING with *KINEMATIC",
        load_place(s, at->turn_line, text), HX_IMPORT_NUMBER(s->import, at->turn_node));
}

int hx_set_loads_at_node(hx_set_loads *s, const hx_condition *c, int64_t number, int in_mesh,
                         int *is_taken)
{
    *is_taken = 0;
    for (size_t i = 0; i < s->all->n_coupling; i++) {
        const hx_import_coupling *const coupling = &s->all->coupling[i];
        const int turns = coupling->rotation >= 0 && coupling->rotation == number;
        if (number != coupling->node && !turns) continue;
        /* the node is then an ordinary one */
        if (in_mesh && !coupling->is_rigid && !turns) continue;
        unsigned components = turns ? (c->components & MOVES) << 3 : c->components;
        *is_taken = 1;
        if (coupling->is_body && !c->is_type && (c->components & TURNS) != 0) {
            HX_TRY(turn_body(s, c, i, number));
            if (!turns) components &= MOVES;
        }
        if (c->kind == HX_CONDITION_SUPPORT) return hold_reference(s, c, i, components);
        for (int k = 0; k < 6; k++) {
            if (!(components >> k & 1u)) continue;
            s->reference[i].force[k] =
                (s->reference[i].step[k] == c->step ? s->reference[i].force[k] : 0.0) + c->value;
            s->reference[i].step[k] = c->step;
        }
        return HX_OK;
    }
    return HX_OK;
}

void hx_set_loads_reset(hx_set_loads *s)
{
    for (size_t i = 0; i < s->all->n_coupling; i++)
        memset(s->reference[i].force, 0, sizeof s->reference[i].force);
}

void hx_set_loads_renew(hx_set_loads *s, int awaits)
{
    for (size_t i = 0; i < s->all->n_coupling; i++) {
        reference_state *const at = &s->reference[i];
        at->awaits = awaits ? at->held : 0;
        if (awaits) continue;
        at->held = at->turned = 0;
        memset(at->value, 0, sizeof at->value);
    }
}

int hx_set_loads_lost(hx_set_loads *s, int64_t *number)
{
    int is_lost = 0;
    for (size_t i = s->all->n_coupling; i-- > 0;) {
        if (s->reference[i].awaits == 0) continue;
        *number = s->all->coupling[i].node;
        is_lost = 1;
        s->reference[i].awaits = 0;
    }
    return is_lost;
}

/* --- loads of sets --- */

int hx_sets_share_faces(const hx_mesh *mesh, const char *name, const char *other)
{
    const hx_set *const a = hx_mesh_find_set(mesh, name), *const b = hx_mesh_find_set(mesh, other);
    int64_t i = 0, j = 0;
    while (a && b && i < a->n_face && j < b->n_face) {
        if (a->face[i] == b->face[j]) return 1;
        if (a->face[i] < b->face[j])
            i++;
        else
            j++;
    }
    return 0;
}

/* Returns 1 if two unit vectors have the same direction, by the criterion of CalculiX 2.20. */
static int is_along(const double a[3], const double b[3])
{
    return hx_dot3(a, b) > 1.0 - 1e-10;
}

/* Returns 1 if the axes have the same point and direction. */
static int same_axis(const hx_condition *a, const hx_condition *b)
{
    const double length = hx_norm3(a->vector + 3) * hx_norm3(b->vector + 3);
    for (int i = 0; i < 3; i++)
        if (a->vector[i] != b->vector[i]) return 0;
    return hx_dot3(a->vector + 3, b->vector + 3) > (1.0 - 1e-10) * length;
}

/* Returns 1 if the load replaces a load of an earlier step. Gravity in another direction or on
 * another set is added. */
static int restates(const set_load *before, const hx_condition *c)
{
    const double *const d = before->what.vector + 3;
    if (before->is_off || before->what.kind != c->kind || before->what.step == c->step) return 0;
    if (c->kind == HX_CONDITION_CENTRIFUGAL)
        return before->what.set == c->set && same_axis(&before->what, c);
    if (c->kind == HX_CONDITION_GRAVITY && hx_norm3(d) > 0.0)
        return before->what.set == c->set && is_along(d, c->vector + 3);
    return c->kind != HX_CONDITION_PRESSURE ||
           (before->what.family == c->family && before->what.set == c->set);
}

/* Checks for centrifugal loads about different axes: CalculiX uses only the first one, Abaqus both
 * or the last. */
static int check_axis(hx_set_loads *s, const hx_condition *c)
{
    char text[340];
    for (size_t i = 0; i < s->n && c->kind == HX_CONDITION_CENTRIFUGAL; i++) {
        const hx_condition *const before = &s->load[i].what;
        if (s->load[i].is_off || before->kind != c->kind ||
            (same_axis(before, c) && before->set == c->set))
            continue;
        return hx_set_fault(
            &s->all->load_fault,
            "%s: a centrifugal load in addition to the one of step %d about another axis or on "
            "another set; CalculiX uses only the first: give one, with OP=NEW",
            load_place(s, c->line, text), before->step);
    }
    return HX_OK;
}

/* Checks for a pressure on faces that already have one of an earlier step under another set's
 * name. */
static int check_overlap(hx_set_loads *s, const hx_condition *c)
{
    char text[340];
    for (size_t i = 0; i < s->n && c->kind == HX_CONDITION_PRESSURE; i++) {
        const hx_condition *const before = &s->load[i].what;
        if (s->load[i].is_off || before->kind != c->kind || before->step == c->step ||
            !hx_sets_share_faces(s->mesh, before->set->name, c->set->name))
            continue;
        return hx_set_fault(
            &s->all->load_fault,
            "%s: a pressure on set '%.60s' overlaps one on set '%.60s' that stays active from step "
            "%d: give OP=NEW, or name the same set",
            load_place(s, c->line, text), c->set->name, before->set->name, before->step);
    }
    return HX_OK;
}

/* OP=NEW for one family is unambiguous only if the other family has no loads. */
static int reset_loads(hx_set_loads *s, const hx_condition *c)
{
    char text[340];
    for (size_t i = 0; i < s->n; i++) {
        if (s->load[i].is_off || s->load[i].what.step == c->step) continue;
        if (c->is_late && s->load[i].what.family != c->family) continue;
        if (c->is_late)
            return hx_set_fault(
                &s->all->load_fault,
                "%s: OP=NEW after a load of the same step by the other of *DLOAD and *DSLOAD: "
                "Abaqus ends the loads of earlier steps there, but CalculiX does not; give OP=NEW "
                "with the first load of the step",
                load_place(s, c->line, text));
        if (s->load[i].what.family != c->family)
            return hx_set_fault(
                &s->all->load_fault,
                "%s: OP=NEW while loads by both *DLOAD and *DSLOAD are active: Abaqus and CalculiX "
                "differ in which of them end; give them with one of the two keywords",
                load_place(s, c->line, text));
        s->load[i].is_off = 1;
    }
    return HX_OK;
}

/* Loads by mass must act on the whole part. */
static int check_whole(hx_set_loads *s, const hx_condition *c)
{
    char text[340];
    const hx_set *const set = c->set ? hx_mesh_find_set(s->mesh, c->set->name) : NULL;
    if (!c->set || (set && set->n_elem == s->mesh->n_elem)) return HX_OK;
    return hx_set_fault(
        &s->all->load_fault,
        "%s: a load by mass on set '%.60s', which has %lld of the %lld elements; such loads must "
        "act on all elements",
        load_place(s, c->line, text), c->set->name, (long long)(set ? set->n_elem : 0),
        (long long)s->mesh->n_elem);
}

static int check_faces(hx_set_loads *s, const hx_condition *c)
{
    char text[340];
    const hx_set *const set = hx_mesh_find_set(s->mesh, c->set->name);
    if (set && set->n_face > 0) return HX_OK;
    return hx_set_fault(&s->all->load_fault, "%s: a pressure on '%.60s', which has no faces",
                        load_place(s, c->line, text), c->set->name);
}

void hx_set_loads_restate(hx_set_loads *s, const hx_condition *c)
{
    for (size_t i = 0; i < s->n; i++)
        if (restates(&s->load[i], c)) s->load[i].is_off = 1;
}

int hx_set_loads_apply(hx_set_loads *s, const hx_condition *c)
{
    if (c->kind == HX_CONDITION_NO_LOADS) return reset_loads(s, c);
    HX_TRY(c->kind == HX_CONDITION_PRESSURE ? check_faces(s, c) : check_whole(s, c));
    HX_TRY(check_overlap(s, c));
    HX_TRY(check_axis(s, c));
    HX_TRY(hx_grow(&s->load, s->n, &s->capacity, sizeof *s->load, "loads of a file"));
    s->load[s->n] = (set_load){.what = *c};
    memset(&s->load[s->n++].what.node, 0, sizeof c->node);
    return HX_OK;
}

/* --- what acts in a step --- */

static int add_set_load(hx_set_loads *s, hx_file_load load, const char *set, hx_conditions *to)
{
    HX_TRY(hx_grow(&to->load, (size_t)to->n_load, &s->load_capacity, sizeof *to->load,
                   "loads of a file"));
    HX_TRY(hx_strdup(&load.set, set));
    to->load[to->n_load++] = load;
    return HX_OK;
}

static int emit_load(hx_set_loads *s, const hx_condition *c, int step, hx_conditions *to)
{
    hx_file_load load = {.load_case = step};
    const int rotates = c->kind == HX_CONDITION_CENTRIFUGAL;
    memcpy(load.value, c->vector + (rotates ? 3 : 0), sizeof load.value);
    if (rotates) memcpy(load.point, c->vector, sizeof load.point);
    load.speed = c->value;
    load.kind = rotates                            ? HX_FILE_CENTRIFUGAL
                : c->kind == HX_CONDITION_PRESSURE ? HX_FILE_PRESSURE
                                                   : HX_FILE_GRAVITY;
    return add_set_load(s, load, load.kind == HX_FILE_PRESSURE ? c->set->name : NULL, to);
}

static int is_zero(const double *value, int n)
{
    for (int i = 0; i < n; i++)
        if (value[i] != 0.0) return 0;
    return 1;
}

static int acts(const hx_condition *c)
{
    return c->kind == HX_CONDITION_CENTRIFUGAL ? c->value > 0.0 : !is_zero(c->vector, 3);
}

int hx_set_loads_emit(hx_set_loads *s, int step, hx_conditions *to)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->load[i].is_off && acts(&s->load[i].what))
            HX_TRY(emit_load(s, &s->load[i].what, step, to));
    for (size_t i = 0; i < s->all->n_coupling; i++) {
        const hx_import_coupling *const coupling = &s->all->coupling[i];
        const double *const force = s->reference[i].force;
        hx_file_load load = {
            .kind = HX_FILE_REMOTE, .load_case = step, .equally = coupling->equally};
        if (is_zero(force, 6)) continue;
        memcpy(load.value, force, sizeof load.value);
        memcpy(load.moment, force + 3, sizeof load.moment);
        memcpy(load.point, coupling->point, sizeof load.point);
        HX_TRY(add_set_load(s, load, coupling->set->name, to));
    }
    return HX_OK;
}

int hx_set_loads_finish(hx_set_loads *s, hx_conditions *to)
{
    char text[340], name[HX_NUMBER_TEXT + 400];
    HX_TRY(hx_alloc(&to->rigid, s->all->n_coupling, sizeof *to->rigid, "rigid sets"));
    for (size_t i = 0; i < s->all->n_coupling; i++) {
        const hx_import_coupling *const coupling = &s->all->coupling[i];
        const reference_state *const at = &s->reference[i];
        hx_file_rigid rigid = {.held = at->held, .line = coupling->line};
        if (!coupling->is_rigid) continue;
        HX_TRY(check_turned(s, at));
        snprintf(name, sizeof name, "%s: reference node %s", load_place(s, coupling->line, text),
                 HX_IMPORT_NUMBER(s->import, coupling->node));
        memcpy(rigid.point, coupling->point, sizeof rigid.point);
        memcpy(rigid.value, at->value, sizeof rigid.value);
        to->rigid[to->n_rigid++] = rigid;
        HX_TRY(hx_strdup(&to->rigid[to->n_rigid - 1].set, coupling->set->name));
        HX_TRY(hx_strdup(&to->rigid[to->n_rigid - 1].name, name));
        snprintf(name, sizeof name, "*%s", coupling->keyword);
        HX_TRY(hx_strdup(&to->rigid[to->n_rigid - 1].word, name));
        HX_TRY(hx_strdup(&to->rigid[to->n_rigid - 1].path, s->import->path));
    }
    return HX_OK;
}
