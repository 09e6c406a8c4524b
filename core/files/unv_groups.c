/* Groups of universal files, which become sets. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "unv_reader.h"

enum { ENTITY_NODE = 7, ENTITY_ELEMENT = 8 };

static int add_member(unv_reader *r, hx_import_set *set, int64_t type, int64_t number)
{
    if (type == ENTITY_NODE) return hx_numbers_append(&set->node, 1, &number);
    if (type != ENTITY_ELEMENT) return HX_OK;
    HX_TRY(hx_grow(&r->member, r->n_member, &r->member_capacity, sizeof *r->member,
                   "members of groups"));
    r->member[r->n_member++] = (unv_member){set, number};
    return HX_OK;
}

/* Opens the set of a group, named by its position until the kind of its members is known. */
static int open_group(unv_reader *r, const char *name, int64_t number, hx_import_set **set)
{
    char place[32];
    unv_group group = {.number = number};
    snprintf(place, sizeof place, "\n%zu", r->n_group);
    HX_TRY(hx_import_set_of(&r->import, place, HX_KIND_NODES, &group.set));
    HX_TRY(hx_strdup(&group.name, name));
    *set = group.set;
    const int rc = hx_grow(&r->group, r->n_group, &r->group_capacity, sizeof *r->group, "groups");
    if (rc < 0)
        free(group.name);
    else
        r->group[r->n_group++] = group;
    return rc;
}

int hx_unv_note_groups(unv_reader *r)
{
    if (r->n_empty > 0)
        HX_TRY(
            hx_notes_add(r->import.notes, HX_NOTE_INFO,
                         "%s: %lld groups have no members, the first '%s'; they become empty sets",
                         r->scan.path, (long long)r->n_empty, r->empty));
    if (r->n_joined == 0) return HX_OK;
    return hx_notes_add(r->import.notes, HX_NOTE_WARNING,
                        "%s: %s%s; groups of the same name and kind are combined into one set",
                        r->scan.path, r->joined,
                        r->n_joined > 1 ? ", and other names are repeated too" : "");
}

int hx_unv_read_groups(unv_reader *r, int64_t data_set)
{
    const int width = data_set < 2435 ? 2 : 4; /* numbers of an entity */
    int more, n;
    int64_t head[UNV_MOST_NUMBERS];
    hx_import_set *set;
    for (;;) {
        HX_TRY(hx_unv_next_line(r, &more));
        if (!more) return HX_OK;
        /* Salome writes this line after an empty group */
        if (r->line[strspn(r->line, " \t")] == '\0') continue;
        HX_TRY(hx_unv_take_integers(r, 2, UNV_MOST_NUMBERS, head, &n));
        const int64_t group = head[0], n_entity = head[n - 1];
        if (n_entity < 0)
            return HX_FILE_RAISE(&r->scan, "a group of %lld entities", (long long)n_entity);
        HX_TRY(hx_unv_need_line(r));
        char *const name = r->line + strspn(r->line, " \t");
        for (size_t k = strlen(name); k > 0 && isspace((unsigned char)name[k - 1]); k--)
            name[k - 1] = '\0';
        if (!*name) snprintf(r->line, sizeof r->line, "group-%lld", (long long)group);
        HX_TRY(open_group(r, *name ? name : r->line, group, &set));
        if (n_entity == 0 && r->n_empty++ == 0)
            snprintf(r->empty, sizeof r->empty, "%.79s", r->group[r->n_group - 1].name);
        /* type and number of an entity come first */
        for (int64_t i = 0; i < n_entity;) {
            int64_t value[UNV_MOST_NUMBERS];
            int n_value;
            HX_TRY(hx_unv_need_line(r));
            HX_TRY(hx_unv_take_integers(r, width, UNV_MOST_NUMBERS, value, &n_value));
            for (int k = 0; k + width <= n_value && i < n_entity; k += width, i++)
                HX_TRY(add_member(r, set, value[k], value[k + 1]));
        }
    }
}

/* Notes a member that is not an element of the file: gmsh writes groups of its points, but not the
 * points. */
static int note_missing(unv_reader *r, const unv_member *m)
{
    size_t i = 0;
    while (i + 1 < r->n_group && r->group[i].set != m->set) i++;
    return hx_notes_add(
        r->import.notes, HX_NOTE_WARNING,
        "%s: group '%.79s' names element %lld, which the file does not have (gmsh does not write "
        "points to a .unv): it is left out of the set; save the mesh as .msh to keep it",
        r->scan.path, r->group[i].name, (long long)m->number);
}

int hx_unv_resolve_members(unv_reader *r)
{
    hx_number_index index = {0}, solids = {0};
    int rc = HX_OK;
    HX_TRY_FAIL(hx_number_index_create(&index, &r->cell_number));
    HX_TRY_FAIL(hx_number_index_create(&solids, &r->import.elem_number));
    for (size_t i = 0; i < r->n_member && rc == HX_OK; i++) {
        const unv_member *const m = &r->member[i];
        const int is_solid = hx_number_index_find(&solids, m->number) >= 0;
        const int64_t place = hx_number_index_find(&index, m->number);
        int64_t quad[4];
        for (int k = 0; k < 4 && place >= 0; k++)
            quad[k] = hx_numbers_get(&r->cell_corner, 4 * place + k);
        if (place < 0 && !is_solid && r->import.n_other > 0)
            rc = note_missing(r, m);
        else if (place < 0)
            rc = hx_numbers_append(&m->set->elem, 1, &m->number);
        else
            rc = quad[3] < 0 ? hx_numbers_append(&m->set->node, 3, quad)
                             : hx_numbers_append(&m->set->quad, 4, quad);
    }
fail:
    hx_number_index_free(&index);
    hx_number_index_free(&solids);
    return rc;
}

static int append_all(hx_numbers *to, const hx_numbers *from)
{
    for (int64_t i = 0; i < from->n; i++) {
        const int64_t number = hx_numbers_get(from, i);
        HX_TRY(hx_numbers_append(to, 1, &number));
    }
    return HX_OK;
}

int hx_unv_name_groups(unv_reader *r)
{
    size_t n = 0; /* number of groups that remain */
    for (size_t i = 0; i < r->n_group; i++) {
        unv_group *const group = &r->group[i];
        hx_import_set *const set = group->set;
        size_t same = 0;
        set->kind = set->elem.n > 0   ? HX_KIND_ELEMS
                    : set->quad.n > 0 ? HX_KIND_FACES
                                      : HX_KIND_NODES;
        free(set->name);
        set->name = NULL;
        HX_TRY(hx_strdup(&set->name, group->name));
        while (same < n && (r->group[same].set->kind != set->kind ||
                            strcmp(r->group[same].name, group->name) != 0))
            same++;
        if (same < n) {
            /* merge the group into an earlier one of its name and kind */
            if (r->n_joined++ == 0)
                snprintf(r->joined, sizeof r->joined, "groups %lld and %lld are both '%.79s'",
                         (long long)r->group[same].number, (long long)group->number,
                         r->group[same].name);
            HX_TRY(append_all(&r->group[same].set->node, &group->set->node));
            HX_TRY(append_all(&r->group[same].set->elem, &group->set->elem));
            HX_TRY(append_all(&r->group[same].set->quad, &group->set->quad));
            hx_import_drop_set(&r->import, group->set);
            continue;
        }
        const unv_group kept = *group;
        *group = r->group[n];
        r->group[n++] = kept;
    }
    return HX_OK;
}
