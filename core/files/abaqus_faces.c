/* Pressures of an Abaqus input file on single faces: *DLOAD on elements by number, and faces that a
 * set names more than once. CalculiX treats every face separately: a pressure replaces that of an
 * earlier step, and pressures of one step add up. Faces with the same history become one set. */
#include <stdlib.h>
#include <string.h>

#include "../base/grow.h"
#include "../base/memory.h"
#include "../base/names.h"
#include "../base/sort.h"
#include "abaqus_reader.h"

enum { MOST_GROUPS = 1000, SIDES = 8 };

int hx_abaqus_load_face(hx_abaqus_reader *r, int64_t elem, int side, int family, double value)
{
    HX_TRY(hx_grow(&r->face_load, r->n_face_load, &r->face_load_capacity, sizeof *r->face_load,
                   "pressures on faces"));
    hx_abaqus_face_load *const to = &r->face_load[r->n_face_load];
    *to = (hx_abaqus_face_load){.elem = elem,
                                .line = hx_abaqus_scan_number(&r->scan),
                                .place = (int64_t)r->n_face_load++,
                                .side = side,
                                .step = r->conditions.n_step,
                                .family = family,
                                .value = value};
    return HX_OK;
}

/* --- faces that a set names more than once --- */

static int load_repeated(hx_abaqus_reader *r, int64_t n, int64_t *key, int side, int family,
                         double value)
{
    int rc = HX_OK;
    int64_t n_more = 0;
    hx_sort_i64(key, n);
    for (int64_t i = 1; rc == HX_OK && i < n; i++) {
        if (key[i] != key[i - 1]) continue;
        n_more++;
        rc = side > 0
                 ? hx_abaqus_load_face(r, key[i], side, family, value)
                 : hx_abaqus_load_face(r, key[i] / SIDES, (int)(key[i] % SIDES), family, value);
    }
    if (rc < 0 || n_more == 0) return rc;
    return hx_notes_add(r->notes, HX_NOTE_INFO,
                        "%s:%lld: %lld %s listed more than once by a set; like in CalculiX, a "
                        "pressure acts once for each time",
                        hx_abaqus_scan_path(&r->scan),
                        (long long)r->scan.file[r->scan.depth - 1].line, (long long)n_more,
                        hx_noun(n_more, "face is", "faces are"));
}

/* Applies a load again to faces that a set names more than once: faces of its elements on one side
 * or, if side = 0, faces of the set. */
int hx_abaqus_load_repeated(hx_abaqus_reader *r, const hx_import_set *set, int side, int family,
                            double value)
{
    const hx_numbers *const list = side > 0 ? &set->elem : &set->face_elem;
    int64_t *key = NULL;
    if (list->n < 2 || (side > 0 && hx_numbers_is_run(list))) return HX_OK;
    if (set->is_shortened)
        return hx_abaqus_load_fault(r, "set '%.60s' repeats its members too often", set->name);
    HX_TRY(hx_alloc_raw(&key, (size_t)list->n, sizeof *key, "faces of a set"));
    for (int64_t i = 0; i < list->n; i++) {
        const int64_t elem = hx_numbers_get(list, i);
        key[i] = side > 0 ? elem : SIDES * elem + hx_numbers_get(&set->face_local, i);
    }
    const int rc = load_repeated(r, list->n, key, side, family, value);
    free(key);
    return rc;
}

/* --- groups --- */

static int compare_places(const void *a, const void *b)
{
    const hx_abaqus_face_load *const p = a, *const q = b;
    if (p->elem != q->elem) return p->elem < q->elem ? -1 : 1;
    if (p->side != q->side) return p->side - q->side;
    return p->place < q->place ? -1 : p->place > q->place;
}

/* Adds up values of the same face, step and family, or keeps the last one; *n decreases
 * accordingly. */
static void merge(hx_abaqus_face_load *list, size_t *n, int replaces)
{
    size_t k = 0;
    for (size_t i = 0; i < *n; i++) {
        hx_abaqus_face_load *const last = k > 0 ? &list[k - 1] : NULL;
        if (last && last->elem == list[i].elem && last->side == list[i].side &&
            last->step == list[i].step && last->family == list[i].family) {
            last->value = list[i].value + (replaces ? 0.0 : last->value);
            last->ambient = list[i].ambient;
        } else {
            list[k++] = list[i];
        }
    }
    *n = k;
}

static int compare_histories(const hx_abaqus_history *p, const hx_abaqus_history *q)
{
    const ptrdiff_t n = p->end - p->begin, n_other = q->end - q->begin;
    if (n != n_other) return n < n_other ? -1 : 1;
    for (ptrdiff_t i = 0; i < n; i++) {
        const hx_abaqus_face_load *const a = p->begin + i, *const b = q->begin + i;
        if (a->step != b->step) return a->step - b->step;
        if (a->family != b->family) return a->family - b->family;
        if (a->value < b->value || a->value > b->value) return a->value < b->value ? -1 : 1;
        if (a->ambient < b->ambient || a->ambient > b->ambient)
            return a->ambient < b->ambient ? -1 : 1;
    }
    return 0;
}

static int compare_faces(const void *a, const void *b)
{
    const hx_abaqus_history *const p = a, *const q = b;
    const int order = compare_histories(p, q);
    return order != 0 ? order : p->first < q->first ? -1 : p->first > q->first;
}

/* Orders the groups group[i] by their first face. */
static int compare_groups(const void *a, const void *b)
{
    const hx_abaqus_history *const p = *(hx_abaqus_history *const *)a,
                                   *const q = *(hx_abaqus_history *const *)b;
    return p->first < q->first ? -1 : p->first > q->first;
}

int hx_abaqus_open_loads(hx_abaqus_reader *r, const char *word, int *number, hx_set_kind kind,
                         hx_import_set **set)
{
    char name[40];
    do snprintf(name, sizeof name, "%s-%d", word, ++*number);
    while (hx_abaqus_find_set(r, HX_N_SET_KIND, name));
    HX_TRY(hx_import_set_of(&r->import, name, kind, set));
    (*set)->is_of_loads = 1;
    return HX_OK;
}

/* Makes a set of the faces from `first` on with the same history, with one pressure for each entry
 * of the history. */
static int add_group(hx_abaqus_reader *r, const hx_abaqus_history *first,
                     const hx_abaqus_history *end, int *number)
{
    hx_condition *added;
    hx_import_set *set;
    HX_TRY(hx_abaqus_open_loads(r, "dload", number, HX_KIND_FACES, &set));
    for (const hx_abaqus_history *f = first; f < end && compare_histories(f, first) == 0; f++) {
        const int64_t elem = f->begin->elem, side = f->begin->side;
        HX_TRY(hx_numbers_append(&set->face_elem, 1, &elem));
        HX_TRY(hx_numbers_append(&set->face_local, 1, &side));
    }
    for (const hx_abaqus_face_load *event = first->begin; event < first->end; event++) {
        const hx_condition pressure = {.kind = HX_CONDITION_PRESSURE,
                                       .step = event->step,
                                       .line = event->line,
                                       .set = set,
                                       .vector = {event->value},
                                       .family = event->family};
        HX_TRY(hx_import_conditions_add(&r->conditions, &pressure, &added));
    }
    return HX_OK;
}

static int add_groups(hx_abaqus_reader *r, const hx_abaqus_groups *groups)
{
    int number = 0;
    if (groups->n > MOST_GROUPS)
        return hx_set_fault(
            &r->conditions.load_fault,
            "%s:%lld: %zu different pressures on single faces; at most %d are possible: apply "
            "pressures to sets instead",
            r->import.path, (long long)r->face_load[0].line, groups->n, MOST_GROUPS);
    for (size_t i = 0; i < groups->n; i++)
        HX_TRY(add_group(r, groups->group[i], groups->item + groups->n_item, &number));
    return HX_OK;
}

/* Sorts conditions by step; those of one step keep their order. */
static int sort_steps(hx_import_conditions *all)
{
    hx_condition *sorted = NULL;
    size_t *begin = NULL;
    int rc = HX_OK;
    HX_TRY_FAIL(hx_alloc(&begin, (size_t)all->n_step + 2, sizeof *begin, "steps of a file"));
    HX_TRY_FAIL(hx_alloc_raw(&sorted, all->n, sizeof *sorted, "supports and forces of a file"));
    for (size_t i = 0; i < all->n; i++) begin[all->list[i].step + 1]++;
    for (int step = 0; step <= all->n_step; step++) begin[step + 1] += begin[step];
    for (size_t i = 0; i < all->n; i++) sorted[begin[all->list[i].step]++] = all->list[i];
    memcpy(all->list, sorted, all->n * sizeof *sorted);
fail:
    free(begin);
    free(sorted);
    return rc;
}

int hx_abaqus_is_next(const hx_abaqus_history *item, const hx_abaqus_history *first)
{
    return compare_histories(item, first) == 0;
}

int hx_abaqus_make_groups(hx_abaqus_groups *to, hx_abaqus_face_load *list, size_t *n, int replaces)
{
    qsort(list, *n, sizeof *list, compare_places);
    merge(list, n, replaces);
    HX_TRY(hx_alloc(&to->item, *n, sizeof *to->item, "loads of a file"));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    HX_TRY(hx_alloc(&to->group, *n, sizeof *to->group, "groups of loads"));
    for (size_t i = 0; i < *n; i++) {
        const hx_abaqus_face_load *const load = &list[i];
        if (i == 0 || load->elem != load[-1].elem || load->side != load[-1].side)
            to->item[to->n_item++] = (hx_abaqus_history){load, load, load->place};
        to->item[to->n_item - 1].end = load + 1;
    }
    qsort(to->item, to->n_item, sizeof *to->item, compare_faces);
    for (size_t i = 0; i < to->n_item; i++)
        if (i == 0 || compare_histories(&to->item[i - 1], &to->item[i]) != 0)
            to->group[to->n++] = &to->item[i];
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    qsort(to->group, to->n, sizeof *to->group, compare_groups);
    return HX_OK;
}

void hx_abaqus_free_groups(hx_abaqus_groups *groups)
{
    free(groups->item);
    free(groups->group);
}

int hx_abaqus_group_faces(hx_abaqus_reader *r)
{
    hx_abaqus_groups groups = {0};
    if (r->n_face_load == 0) return HX_OK;
    /* keep faces of the file's solids; any other face is an error of the loads */
    size_t n = 0;
    HX_TRY(hx_abaqus_update_places(r));
    for (size_t i = 0; i < r->n_face_load; i++) {
        const hx_abaqus_face_load *const load = &r->face_load[i];
        if (hx_number_index_find(&r->elem_place, load->elem) >= 0)
            r->face_load[n++] = *load;
        else
            HX_TRY(hx_set_fault(
                &r->conditions.load_fault,
                "%s:%lld: a pressure on element %s, which is not a solid of the file",
                r->import.path, (long long)load->line, HX_IMPORT_NUMBER(&r->import, load->elem)));
    }
    r->n_face_load = n;
    if (r->n_face_load == 0) return HX_OK;
    int rc = hx_abaqus_make_groups(&groups, r->face_load, &r->n_face_load, 0);
    if (rc == HX_OK) rc = add_groups(r, &groups);
    if (rc == HX_OK) rc = sort_steps(&r->conditions);
    hx_abaqus_free_groups(&groups);
    return rc;
}
