/* The guarantees of core/operator/patches.h, and a product in plain C that uses the lists like a
 * GPU does. */
#include "core/operator/patches_split.h"

#include "core/base/memory.h"
#include "core/mesh/hex8.h"
#include "tests/lib/fan.h"
#include "tests/lib/fixture.h"
#include "tests/lib/mixed_mesh.h"
#include "tests/lib/patch_product.h"

enum { MOST_THREADS = 3 };
static int is_separator(const hx_patch_group *group, int64_t item)
{
    return element(group, item) < 0;
}

/* Number of rows that items first .. first + count need: a row takes 8 incidences of a node, and
 * all those of one element. n_of[n_node], the number of incidences in the last row, is 0 before and
 * after. */
static int rows_needed(const hx_mesh *mesh, const hx_patch_group *group, int64_t first, int count,
                       int32_t *n_of)
{
    int n = 0, corner[8];
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = first; i < first + count; i++) {
            int32_t node[8];
            const int n_corner = list_corners(group, mesh, element(group, i), node);
            const int n_point = hx_cell_distinct(node, corner);
            for (int k = 0; k < n_point; k++) {
                int32_t *of = &n_of[node[corner[k]]], times = 0;
                for (int a = 0; a < n_corner; a++) times += node[a] == node[corner[k]];
                const int is_full = *of == 0 || *of + times > 8;
                n += pass == 0 && is_full;
                *of = pass == 1 ? 0 : is_full ? times : *of + times;
            }
        }
    return n;
}

/* 1 if the patch could not have more items. */
static int is_full(const hx_mesh *mesh, const hx_patch_group *group, const hx_span *span,
                   int32_t *n_of)
{
    const int64_t next = span->first + span->count;
    return next == group->n_item || is_separator(group, next) || span->count == group->size ||
           rows_needed(mesh, group, span->first, span->count + 1, n_of) > group->max_row;
}

/* Patches follow each other in the list of a group and skip only separators. */
static void check_spans(const hx_patches *p, const hx_mesh *mesh, int g, int32_t *n_seen,
                        int64_t *n_row)
{
    const hx_patch_group *group = &p->group[g];
    const hx_span *span = p->span + group->first_patch;
    int32_t *n_of = new_array((size_t)mesh->n_node, sizeof *n_of);
    int64_t at = 0, n_early = 0, wrong = 0;
    CHECK(group->first_row == *n_row);
    for (int64_t i = 0; i < group->n_patch; i++, span++) {
        while (at < group->n_item && is_separator(group, at)) at++;
        wrong += span->first != at || span->begin != *n_row;
        wrong += span->count < 1 || span->count > group->size || span->n > group->max_row ||
                 span->n % HX_PATCH_BANK != 0;
        if (wrong > 0) break;
        for (int k = 0; k < span->count; k++) {
            const int64_t e = element(group, at + k);
            wrong += e < 0;
            if (e >= 0) n_seen[e]++;
        }
        if (wrong > 0) break;
        const int n_used = rows_needed(mesh, group, at, span->count, n_of);
        wrong += n_used > span->n || n_used + HX_PATCH_BANK <= span->n;
        n_early += !is_full(mesh, group, span, n_of);
        at += span->count;
        *n_row += span->n;
    }
    for (; at < group->n_item; at++) wrong += !is_separator(group, at);
    CHECK_MSG(wrong == 0, "group %d", g);
    CHECK(group->n_row == *n_row - group->first_row);
    /* a long list is cut in chunks */
    CHECK_MSG(n_early <= group->n_item / 8192, "%lld patches end early", (long long)n_early);
    free(n_of);
}

static void check_cut(const hx_patches *p, const hx_mesh *mesh)
{
    int32_t *n_seen = new_array((size_t)mesh->n_elem, sizeof *n_seen);
    int64_t n_row = 0, n_patch = 0, n_place = 0, wrong = 0;
    for (int g = 0; g < p->n_group; g++) {
        const hx_patch_group *group = &p->group[g];
        CHECK(group->first_patch == n_patch && group->first_place == n_place);
        n_patch += group->n_patch;
        n_place += group->n_patch * group->size;
        check_spans(p, mesh, g, n_seen, &n_row);
    }
    CHECK(p->n_patch == n_patch && p->n_place == n_place && p->n_row == n_row);
    for (int64_t e = 0; e < mesh->n_elem; e++) wrong += n_seen[e] != 1;
    CHECK_MSG(wrong == 0, "%lld elements not once in a patch", (long long)wrong);
    free(n_seen);
}

/* Checks the incidences that row `row` of a patch lists. Returns the number of errors. */
static int check_slots(const hx_patches *p, const hx_mesh *mesh, const hx_patch_group *group,
                       int64_t patch, int64_t row, const int *incidence, uint8_t *seen)
{
    const hx_span *span = &p->span[group->first_patch + patch];
    const hx_eight *corner = p->corner + group->first_place + patch * group->size;
    int wrong = 0;
    for (int i = 0; i < 8; i++) {
        const int slot = p->row_slot[row].v[i];
        if (slot == HX_NO_SLOT) continue;
        if (slot >= MOST_SLOTS || incidence[slot] < 0) return 1;
        const int a = incidence[slot] % 8, place = incidence[slot] / 8;
        if (place >= span->count) return 1;
        int32_t of[8];
        const int n = list_corners(group, mesh, element(group, span->first + place), of);
        if (a >= n) return 1;
        wrong += (p->row_node[row] & INT32_MAX) != of[a];
        wrong += p->row_position[row] != corner[place].v[a];
        for (int b = 0; b < n; b++) /* corners that name the same node have the same position */
            wrong += of[b] == of[a] && corner[place].v[b] != corner[place].v[a];
        wrong += seen[8 * place + a]++;
    }
    return wrong;
}

/* Checks rows, places and positions of one patch. Returns the number of errors. */
static int64_t check_patch(const hx_patches *p, const hx_mesh *mesh, const hx_patch_group *group,
                           int64_t patch, const int *incidence, int32_t *n_row_of)
{
    const hx_span *span = &p->span[group->first_patch + patch];
    const hx_eight *corner = p->corner + group->first_place + patch * group->size;
    uint8_t seen[8 * HX_MAX_PATCH] = {0}, taken[8 * HX_MAX_PATCH] = {0};
    const int n_position = group->permutes ? group->max_row : span->n;
    int n_listed = 0, last = 8;
    int32_t last_node = 0;
    int64_t wrong = 0;
    for (int64_t row = span->begin; row < span->begin + span->n; row++) {
        const int32_t node = p->row_node[row] & INT32_MAX;
        const int n = count_slots(&p->row_slot[row]), position = p->row_position[row];
        if (node >= mesh->n_node || position >= n_position) return 1;
        wrong += taken[position]++;
        wrong += n > last; /* in descending order of slots, then by node; unused ones last */
        wrong += n > 0 && n == last && node < last_node;
        wrong += n == 0 && p->row_node[row] >= 0;
        wrong += check_slots(p, mesh, group, patch, row, incidence, seen);
        if (wrong == 0 && row % HX_PATCH_BANK == 0) wrong += check_choice(p, row, incidence);
        n_row_of[node] += n > 0;
        n_listed += n;
        last = n;
        last_node = node;
    }
    const int n_corner = group->is_tetrahedral ? 4 : 8;
    wrong += n_listed != n_corner * span->count; /* all are listed, and none twice */
    for (int k = 0; k < group->size; k++)        /* unused places are read too */
        for (int a = 0; a < 8; a++) wrong += corner[k].v[a] >= n_position;
    return wrong;
}

/* row_of[n_partial]: the row of each partial sum. Each partial sum must belong to one row, and
 * every row that writes a sum must have one. Returns the number of errors. */
static int64_t list_partial(const hx_patches *p, int32_t *row_of)
{
    int64_t n_sum = 0;
    for (int64_t i = 0; i < p->n_partial; i++) row_of[i] = -1;
    for (int64_t i = 0; i < p->n_patch; i++) {
        const hx_span *span = &p->span[i];
        int is_behind = 0;
        for (int k = 0; k < span->n; k++) {
            is_behind |= p->row_node[span->begin + k] < 0;
            if (!is_behind) continue;
            if (span->partial + k != n_sum) return 1;
            row_of[n_sum++] = span->begin + k;
        }
    }
    return n_sum != p->n_partial;
}

/* Exactly the nodes with several rows are listed, with all of them. */
static void check_shared(const hx_patches *p, const hx_mesh *mesh, const int32_t *n_row_of)
{
    int64_t n_shared = 0, n_shared_row = 0, wrong = 0;
    for (int64_t a = 0; a < mesh->n_node; a++) {
        wrong += n_row_of[a] < 1;
        if (n_row_of[a] < 2) continue;
        n_shared++;
        n_shared_row += n_row_of[a];
    }
    CHECK(p->n_shared == n_shared && p->n_shared_row == n_shared_row);
    if (p->n_shared != n_shared || p->n_shared_row != n_shared_row) return;
    CHECK(p->shared_ptr[0] == 0 && p->shared_ptr[n_shared] == n_shared_row);
    int32_t *row_of = new_array((size_t)p->n_partial, sizeof *row_of);
    wrong += list_partial(p, row_of);
    for (int64_t i = 0; i < n_shared; i++) {
        const int32_t a = p->shared_node[i];
        wrong += i > 0 && a <= p->shared_node[i - 1];
        wrong += p->shared_ptr[i + 1] - p->shared_ptr[i] != n_row_of[a];
        for (int32_t k = p->shared_ptr[i]; k < p->shared_ptr[i + 1]; k++) {
            const int32_t row = row_of[p->shared_sum[k]];
            wrong += p->row_node[row] != (a | HX_SHARED_ROW) || count_slots(&p->row_slot[row]) == 0;
            wrong += k > p->shared_ptr[i] && p->shared_sum[k] <= p->shared_sum[k - 1];
        }
    }
    for (int64_t row = 0; row < p->n_row; row++) /* rows that are not shared */
        if (p->row_node[row] >= 0) wrong += n_row_of[p->row_node[row]] != 1;
    CHECK_MSG(wrong == 0, "%lld wrong", (long long)wrong);
    free(row_of);
}

static void check_rows(const hx_patches *p, const hx_mesh *mesh)
{
    int32_t *n_row_of = new_array((size_t)mesh->n_node, sizeof *n_row_of);
    int64_t wrong = 0;
    for (int g = 0; g < p->n_group; g++) {
        int incidence[MOST_SLOTS];
        list_slots(&p->group[g], incidence);
        for (int64_t i = 0; i < p->group[g].n_patch; i++)
            wrong += check_patch(p, mesh, &p->group[g], i, incidence, n_row_of);
    }
    CHECK_MSG(wrong == 0, "%lld wrong", (long long)wrong);
    if (wrong == 0) check_shared(p, mesh, n_row_of);
    free(n_row_of);
}

/* Products in parts, with interface[n_interface] as interface nodes: complete there after the first
 * part, and bitwise equal to the whole product at the end. */
static void check_split(const hx_patches *p, const sample *s, const product *whole,
                        int64_t n_interface, const int32_t *interface)
{
    static const int64_t none[2];
    const int64_t n_node = s->mesh.n_node;
    product to = new_product(p, &s->mesh);
    hx_patches_split split;
    int64_t first[3] = {0}, n_patch[2], n_boundary[2], wrong = 0;
    for (int g = 0; g < p->n_group; g++) n_patch[g] = p->group[g].n_patch;
    for (int g = 0; g < p->n_group; g++) first[g + 1] = first[g] + n_patch[g];
    CHECK_OK(hx_patches_split_create(&split, p, n_node, n_interface, interface, p->n_group, first,
                                     n_boundary));
    CHECK(n_interface > 0 || (n_boundary[0] == 0 && split.patches.span == p->span));
    run_patches(&split.patches, s, none, n_boundary, &to);
    add_shared(&split.patches, 0, split.n_shared_boundary, &to);
    for (int64_t i = 0; i < n_interface; i++) {
        const int64_t at = 3 * (int64_t)interface[i];
        wrong += memcmp(to.y + at, whole->y + at, 3 * sizeof *to.y) != 0;
    }
    CHECK_MSG(wrong == 0, "%lld of %lld interface nodes are wrong", (long long)wrong,
              (long long)n_interface);
    run_patches(&split.patches, s, n_boundary, n_patch, &to);
    add_shared(&split.patches, split.n_shared_boundary, p->n_shared, &to);
    check_written(&to, &s->mesh);
    CHECK(memcmp(to.y, whole->y, 3 * (size_t)n_node * sizeof *to.y) == 0);
    hx_patches_split_free(&split);
    free_product(&to);
}

/* With no interface nodes, one, a range of them in descending order, and all. */
static void check_splits(const hx_patches *p, const sample *s, const product *whole)
{
    const int64_t n_node = s->mesh.n_node, n_interface[] = {0, 1, n_node / 20 + 1, n_node};
    int32_t *interface = new_array((size_t)n_node, sizeof *interface);
    for (int64_t i = 0; i < n_node; i++) interface[i] = (int32_t)(n_node - 1 - i);
    for (int k = 0; k < 4; k++) check_split(p, s, whole, n_interface[k], interface);
    free(interface);
}

static void check_product(const hx_patches *p, const sample *s)
{
    static const int64_t none[2];
    const size_t n_node = (size_t)s->mesh.n_node;
    const int64_t n_patch[2] = {p->group[0].n_patch, p->group[1].n_patch};
    product to = new_product(p, &s->mesh);
    double difference = 0.0, norm = 0.0;
    run_patches(p, s, none, n_patch, &to);
    add_shared(p, 0, p->n_shared, &to);
    check_written(&to, &s->mesh);
    for (size_t i = 0; i < 3 * n_node; i++) {
        difference += (to.y[i] - s->y[i]) * (to.y[i] - s->y[i]);
        norm += s->y[i] * s->y[i];
    }
    CHECK_MSG(difference <= 1e-26 * norm, "relative error %.3g", sqrt(difference / norm));
    check_splits(p, s, &to);
    free_product(&to);
}

static int same(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

static void check_same(const hx_patches *p, const hx_patches *q)
{
    const int equal = p->n_patch == q->n_patch && p->n_place == q->n_place &&
                      p->n_row == q->n_row && p->n_shared == q->n_shared &&
                      p->n_shared_row == q->n_shared_row;
    CHECK(equal);
    if (!equal) return;
    CHECK(same(p->group, q->group, p->n_group, sizeof *p->group));
    CHECK(same(p->span, q->span, p->n_patch, sizeof *p->span));
    CHECK(same(p->corner, q->corner, p->n_place, sizeof *p->corner));
    CHECK(same(p->row_node, q->row_node, p->n_row, sizeof *p->row_node));
    CHECK(same(p->row_position, q->row_position, p->n_row, sizeof *p->row_position));
    CHECK(same(p->row_slot, q->row_slot, p->n_row, sizeof *p->row_slot));
    CHECK(same(p->shared_node, q->shared_node, p->n_shared, sizeof *p->shared_node));
    CHECK(same(p->shared_ptr, q->shared_ptr, p->n_shared + 1, sizeof *p->shared_ptr));
    CHECK(same(p->shared_sum, q->shared_sum, p->n_shared_row, sizeof *p->shared_sum));
}

static int32_t *copy_items(const hx_patch_group *group)
{
    const size_t n = (size_t)group->n_item;
    int32_t *const copy = new_array(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++) copy[i] = (int32_t)element(group, (int64_t)i);
    return copy;
}

/* The items of the first group are unchanged, except for their order within patches if it
 * permutes. */
static void check_items(const hx_patches *p, const hx_patch_group *group, const int32_t *before)
{
    int32_t *const now = copy_items(group);
    const hx_span *const span = p->span;
    int64_t n_moved = 0, wrong = 0;
    for (int64_t i = 0; i < group->n_item; i++) {
        n_moved += now[i] != before[i];
        wrong += (now[i] < 0) != (before[i] < 0); /* separators */
    }
    CHECK(group->permutes || n_moved == 0);
    for (int64_t i = 0; i < p->group[0].n_patch; i++)
        for (int k = 0; k < span[i].count; k++) {
            int n = 0;
            for (int l = 0; l < span[i].count; l++)
                n += before[span[i].first + l] == now[span[i].first + k];
            wrong += n != 1;
        }
    CHECK_MSG(wrong == 0, "%lld items of other patches", (long long)wrong);
    free(now);
}

static void check_groups_as(const sample *s, int n_group, const hx_patch_group *group,
                            const char *label)
{
    hx_patches p, other;
    const int n_failed = test_n_failed;
    const size_t n_byte = (size_t)group->n_item * sizeof(int32_t);
    int32_t *const before = copy_items(group);
    fixture_set_threads(1);
    CHECK_OK(hx_patches_create(&p, &s->mesh, n_group, group));
    if (group->permutes) p.group->elem = before; /* the order in which they were cut */
    check_cut(&p, &s->mesh);
    if (group->permutes) p.group->elem = group->elem;
    if (test_n_failed == n_failed) check_items(&p, group, before);
    if (test_n_failed == n_failed) check_rows(&p, &s->mesh);
    if (test_n_failed == n_failed) check_product(&p, s);
    int32_t *const after = copy_items(group);
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        fixture_set_threads(threads);
        if (group->permutes) memcpy(group->elem, before, n_byte);
        CHECK_OK(hx_patches_create(&other, &s->mesh, n_group, group));
        check_same(&p, &other);
        CHECK(!group->permutes || same(group->elem, after, group->n_item, sizeof *after));
        hx_patches_free(&other);
    }
    fixture_set_threads(1);
    if (test_n_failed > n_failed)
        printf("   in %s, size %d, %d rows, %s\n", label, group->size, group->max_row,
               group->permutes ? "permuted" : "in order");
    hx_patches_free(&p);
    free(before);
    free(after);
}

/* With the order of the lists, and permuted if a patch has more items than a half-warp. */
static void check_groups(const sample *s, int n_group, const hx_patch_group *group,
                         const char *label)
{
    hx_patch_group permuted[2] = {group[0]};
    check_groups_as(s, n_group, group, label);
    if (group->is_tetrahedral || group->size == HX_PATCH_BANK) return;
    if (n_group > 1) permuted[1] = group[1];
    permuted->permutes = 1;
    permuted->elem = copy_items(group);
    check_groups_as(s, n_group, permuted, label);
    free(permuted->elem);
}

/* The estimated bytes suffice for what is built, and are less than twice as much. */
static void check_bytes(const sample *s, int size, int max_row)
{
    const hx_patch_group group = {.size = size, .max_row = max_row, .n_item = s->mesh.n_elem};
    hx_patches p;
    CHECK_OK(hx_patches_create(&p, &s->mesh, 1, &group));
    const size_t row = sizeof *p.row_node + sizeof *p.row_position + sizeof *p.row_slot;
    const size_t bytes = (size_t)p.n_patch * sizeof *p.span + (size_t)p.n_place * sizeof *p.corner +
                         (size_t)p.n_row * (row + 3 * sizeof(double) + 10) +
                         (size_t)p.n_shared * sizeof *p.shared_node +
                         (size_t)(p.n_shared + 1) * sizeof *p.shared_ptr +
                         (size_t)p.n_shared_row * sizeof *p.shared_sum;
    const size_t promised = hx_patches_bytes(&s->mesh, 1, &group, 10);
    CHECK_MSG(promised >= bytes && promised < 2 * bytes + 1024, "%zu for %zu", promised, bytes);
    const size_t unheld = (size_t)(p.n_row - p.n_partial) * 3 * sizeof(double); /* partial sums */
    CHECK(p.n_partial <= p.n_row && hx_patches_held(&p, 10) == bytes - unheld);
    hx_patches_free(&p);
}

/* One group of all elements, for every size with few rows, many, and the maximum. */
static void check_sizes(const sample *s, const char *label)
{
    static const int sizes[] = {16, 64, 128, 256, HX_MAX_PATCH};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int size = sizes[i], usual = 5 * size / 2 / HX_PATCH_BANK * HX_PATCH_BANK;
        const int max_rows[] = {HX_PATCH_BANK, 128, usual, 8 * size};
        for (size_t k = 0; k < sizeof max_rows / sizeof *max_rows; k++) {
            const hx_patch_group group = {
                .size = size, .max_row = max_rows[k], .n_item = s->mesh.n_elem};
            check_groups(s, 1, &group, label);
        }
        check_bytes(s, size, usual);
    }
}

/* Two groups as in an operator with classes: elements of n_class classes with separators before,
 * between and after them, and all others. */
static void check_lists(const sample *s, const char *label, int n_class)
{
    const int n = (int)s->mesh.n_elem;
    int32_t *elem = new_array((size_t)n + 16, sizeof *elem);
    int n_item = 0, n_other = 0;
    elem[n_item++] = -1;
    for (int class = 0; class < n_class; class ++) {
        for (int e = 0; e < n; e++)
            if (e % 5 == class) elem[n_item++] = e;
        for (int k = 0; k <= class; k++) elem[n_item++] = -1;
    }
    for (int e = 0; e < n; e++)
        if (e % 5 >= n_class) elem[n_item + n_other++] = e;
    const hx_patch_group group[2] = {
        {.size = 128, .max_row = 288, .n_item = n_item, .elem = elem},
        {.size = 64, .max_row = 160, .n_item = n_other, .elem = elem + n_item}};
    check_groups(s, 2, group, label);
    free(elem);
}

/* All elements in one group, none in the other. */
static void check_empty_group(const sample *s, const char *label, int empty)
{
    hx_patch_group group[2] = {{.size = 128, .max_row = 288}, {.size = 64, .max_row = 160}};
    group[1 - empty].n_item = s->mesh.n_elem;
    check_groups(s, 2, group, label);
}

/* A list longer than one thread cuts, in reverse order, with some separators. */
static void check_long_list(const sample *s, const char *label)
{
    const int n = (int)s->mesh.n_elem;
    int32_t *elem = new_array(2 * (size_t)n, sizeof *elem);
    int n_item = 0;
    for (int e = n - 1; e >= 0; e--) {
        while (n_item >= 8186 && n_item < 8196) elem[n_item++] = -1;
        if (e % 97 == 0) elem[n_item++] = -1;
        elem[n_item++] = e;
    }
    const hx_patch_group group = {.size = 64, .max_row = 160, .n_item = n_item, .elem = elem};
    check_groups(s, 1, &group, label);
    free(elem);
}

static void check_sample(sample *s, fixture_order order, const char *label)
{
    sample_finish(s, order);
    check_sizes(s, label);
    for (int n_class = 0; n_class <= 5; n_class++) check_lists(s, label, n_class);
    for (int empty = 0; empty < 2; empty++) check_empty_group(s, label, empty);
    sample_free(s);
}

static void test_boxes(void)
{
    const fixture_box one = {.n = {1, 1, 1}, .length = {1.0, 2.0, 3.0}};
    const fixture_box box = {.n = {13, 7, 6}, .length = {13.0, 7.0, 6.0}};
    const fixture_box distorted = {
        .n = {9, 8, 7}, .length = {9.0, 8.0, 7.0}, .distort = 0.2, .bulge = 1};
    sample s = {0};
    CHECK_OK(fixture_box_create(&s.mesh, &one));
    check_sample(&s, FIXTURE_IN_ORDER, "one element");
    CHECK_OK(fixture_box_create(&s.mesh, &box));
    check_sample(&s, FIXTURE_REORDERED, "a box, reordered");
    CHECK_OK(fixture_box_create(&s.mesh, &distorted));
    check_sample(&s, FIXTURE_SHUFFLED, "a distorted box, shuffled");
}

static void test_parts(void)
{
    static const struct {
        const char *name;
        hx_generate_params params;
    } parts[] = {{"conrod", {.nx = 12, .ny = 2}}, {"lbeam", {.nx = 15, .ny = 4}}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        sample s = {0};
        CHECK_OK(hx_generate(hx_generator_find(parts[i].name), &s.mesh, &parts[i].params));
        check_sample(&s, FIXTURE_REORDERED, parts[i].name);
    }
}

static void test_long_list(void)
{
    const fixture_box box = {.n = {23, 20, 19}, .length = {23.0, 20.0, 19.0}};
    sample s = {0};
    CHECK_OK(fixture_box_create(&s.mesh, &box));
    sample_finish(&s, FIXTURE_REORDERED);
    const hx_patch_group group = {.size = 64, .max_row = 160, .n_item = s.mesh.n_elem};
    check_groups(&s, 1, &group, "a long list");
    check_long_list(&s, "a long list with separators");
    sample_free(&s);
}

/* Kite-shaped elements around the z axis, in n_layer layers: 2 n_sector elements at an inner
 * node. */
static void make_fan(hx_mesh *mesh, int n_sector, int n_layer)
{
    const int n_ring = 2 * n_sector + 1;
    const int64_t n_node = (int64_t)n_ring * (n_layer + 1);
    const int64_t n_elem = (int64_t)n_sector * n_layer;
    const double step = 3.14159265358979324 / n_sector;
    double *xyz = new_array(3 * (size_t)n_node, sizeof *xyz), *x = xyz;
    int32_t *conn = new_array(8 * (size_t)n_elem, sizeof *conn), *corner = conn;
    for (int layer = 0; layer <= n_layer; layer++)
        for (int i = -1; i < 2 * n_sector; i++, x += 3) {
            const double radius = i < 0 ? 0.0 : 1.0 + 0.2 * (i % 2);
            x[0] = radius * cos(step * i);
            x[1] = radius * sin(step * i);
            x[2] = layer;
        }
    for (int layer = 0; layer < n_layer; layer++)
        for (int i = 0; i < n_sector; i++, corner += 8)
            for (int top = 0; top < 2; top++) {
                const int axis = (layer + top) * n_ring, next = (i + 1) % n_sector;
                corner[4 * top] = axis;
                corner[4 * top + 1] = axis + 1 + 2 * i;
                corner[4 * top + 2] = axis + 2 + 2 * i;
                corner[4 * top + 3] = axis + 1 + 2 * next;
            }
    CHECK_OK(hx_mesh_create(mesh, "fan", n_node, xyz, n_elem, conn));
}

/* More than eight elements at a node of a patch. */
static void test_fans(void)
{
    sample s = {0};
    make_fan(&s.mesh, 11, 5);
    check_sample(&s, FIXTURE_IN_ORDER, "a fan");
    make_fan(&s.mesh, 11, 5);
    check_sample(&s, FIXTURE_SHUFFLED, "a fan, shuffled");
    make_fan(&s.mesh, 40, 3);
    check_sample(&s, FIXTURE_REORDERED, "a fan of many sectors");
}

/* Tetrahedra by their points, and other elements beside them, grouped as in an operator. */
static void check_tetrahedra(const sample *s, const char *label)
{
    const hx_mesh *mesh = &s->mesh;
    int32_t *elem;
    int64_t n_other, wrong = 0;
    CHECK_OK(hx_patches_list_tetrahedra(mesh, &n_other, &elem));
    for (int64_t i = 0; i < mesh->n_elem; i++) {
        const int is_one =
            hx_cell_kind_of(mesh->conn + 8 * (int64_t)elem[i]) == HX_CELL_TETRAHEDRON;
        wrong += is_one != (i >= n_other) || (i > 0 && i != n_other && elem[i] <= elem[i - 1]);
    }
    CHECK(wrong == 0 && mesh->n_elem - n_other == mesh->n_kind[HX_CELL_TETRAHEDRON]);
    for (int size = 16; size <= 256; size *= 4) {
        const hx_patch_group group[2] = {
            {.size = 64, .max_row = 160, .n_item = n_other, .elem = elem},
            {.size = size,
             .max_row = size,
             .is_tetrahedral = 1,
             .n_item = mesh->n_elem - n_other,
             .elem = elem + n_other}};
        check_groups(s, 2, group, label);
    }
    free(elem);
}

/* Cells that name a node at several corners, in any numbering. */
static void test_collapsed(void)
{
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int i = 0; i < 2; i++) {
            const mixed_box box = {.kind = (mixed_kind)kind, .n = {4, 3, 5}, .seed = 2};
            sample s = {0};
            CHECK_OK(mixed_create(&s.mesh, &box));
            mixed_turn(&s.mesh, 3);
            sample_finish(&s, FIXTURE_REORDERED);
            check_tetrahedra(&s, mixed_name[kind]);
            sample_free(&s);
            CHECK_OK(mixed_create(&s.mesh, &box));
            mixed_turn(&s.mesh, 3);
            check_sample(&s, i == 0 ? FIXTURE_SHUFFLED : FIXTURE_REORDERED, mixed_name[kind]);
        }
    sample s = {0};
    CHECK_OK(fan_create_wedges(&s.mesh, 70, 2));
    check_sample(&s, FIXTURE_REORDERED, "a fan of wedges");
}

/* Elements that share no nodes, so that a patch has the maximum number of rows; nodes are numbered
 * corner by corner, or such that, for each 16 elements, rows of the same bank follow each other. */
static void test_apart_in(int by_bank, fixture_order order)
{
    enum { N = 320, BANK = HX_PATCH_BANK };
    sample s = {0};
    double *xyz = new_array((size_t)24 * N, sizeof *xyz);
    int32_t *conn = new_array((size_t)8 * N, sizeof *conn);
    for (int i = 0; i < 8 * N; i++) {
        const int e = i / 8, bank = (e + i % 8) % BANK; /* for patches of 16 n elements */
        conn[i] = by_bank ? bank * (8 * N / BANK) + e / BANK * 8 + i % 8 : i;
        for (int d = 0; d < 3; d++) xyz[3 * conn[i] + d] = 0.5 * hx_hex8_sign(i % 8, d);
        xyz[3 * conn[i]] += 2.0 * e;
    }
    CHECK_OK(hx_mesh_create(&s.mesh, "apart", 8 * N, xyz, N, conn));
    check_sample(&s, order, "elements apart");
}

static void test_apart(void)
{
    test_apart_in(0, FIXTURE_SHUFFLED);
    test_apart_in(1, FIXTURE_IN_ORDER);
}

/* Counts the accesses of n_bank consecutive places to one corner, and those in which two places
 * read the same bank. n_bank is 16 for doubles and 32 for floats. */
static void count_meetings(const hx_patches *p, int n_bank, int64_t *n_met, int64_t *n_load)
{
    const hx_patch_group *const group = p->group;
    for (int64_t k = 0; k < group->n_patch * group->size; k += n_bank)
        for (int a = 0; a < 8; a++) {
            uint32_t seen = 0;
            int meet = 0;
            for (int i = 0; i < n_bank; i++) {
                const uint32_t bit = 1u << p->corner[k + i].v[a] % n_bank;
                meet |= (seen & bit) != 0;
                seen |= bit;
            }
            *n_met += meet;
            ++*n_load;
        }
}

/* With permuted places, the corners of any part of a box are read without bank conflicts; in the
 * original order, most reads conflict. */
static void test_colours(void)
{
    const fixture_box box = {.n = {32, 16, 16}, .length = {32.0, 16.0, 16.0}};
    sample s = {0};
    int64_t met[2][2] = {{0}}, n_load[2] = {0};
    CHECK_OK(fixture_box_create(&s.mesh, &box));
    sample_finish(&s, FIXTURE_REORDERED);
    for (int permutes = 0; permutes < 2; permutes++) {
        hx_patch_group group = {.size = 256, .max_row = 448, .n_item = s.mesh.n_elem};
        hx_patches p;
        group.permutes = permutes;
        group.elem = copy_items(&group);
        CHECK_OK(hx_patches_create(&p, &s.mesh, 1, &group));
        CHECK(p.n_patch == s.mesh.n_elem / 256);
        for (int i = 0; i < 2; i++)
            count_meetings(&p, i == 0 ? 16 : 32, &met[permutes][i], &n_load[i]);
        hx_patches_free(&p);
        free(group.elem);
    }
    for (int i = 0; i < 2; i++) {
        const double share = 1.0 / (double)n_load[i] * 2.0;
        CHECK_MSG((double)met[1][i] * share < 0.1, "%g meet", (double)met[1][i] * share);
        CHECK_MSG((double)met[0][i] * share > 0.5, "%g meet", (double)met[0][i] * share);
    }
    sample_free(&s);
}

int main(void)
{
    test_boxes();
    test_parts();
    test_fans();
    test_collapsed();
    test_apart();
    test_long_list();
    test_colours();
    TEST_END();
}
