#include "congruence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sum.h"
#include "../mesh/hex_jacobian.h"

enum { NONE = -1, OPEN = -2 };

enum {
    /* maximum number of different sizes; sizes with few members do not become classes */
    MOST_SIZES = 4 * HX_MAX_CLASS,
    WINDOW = 1024, /* number of elements that one thread at a time searches for new sizes */
    SAMPLE = 4096
};

/* Sizes, in the order of their first elements. */
typedef struct sizes {
    int n;
    double jacobian[MOST_SIZES][3][3];
    double tolerance[MOST_SIZES];
    int64_t n_member[MOST_SIZES];
} sizes;

static double larger_component(double a, double b)
{
    return a > b ? a : b;
}

static double longest_edge(double j[3][3])
{
    double longest = 0.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) longest = larger_component(longest, fabs(j[k][i]));
    return longest;
}

/* Computes the Jacobian of an element. Returns 0 if the element is not a parallelepiped. */
static int element_jacobian(const hx_mesh *mesh, int64_t elem, double jacobian[3][3])
{
    double largest = 0.0; /* coefficient of the modes rs, st, rt, rst */
    hx_hex_map map;
    hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * elem);
    memcpy(jacobian, map.c[1], 9 * sizeof(double));
    for (int k = 4; k < 8; k++)
        for (int i = 0; i < 3; i++) largest = larger_component(largest, fabs(map.c[k][i]));
    return largest <= HX_CONGRUENCE_TOLERANCE * longest_edge(jacobian);
}

static int has_size(double j[3][3], double size[3][3], double tolerance)
{
    double largest = 0.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) largest = larger_component(largest, fabs(j[k][i] - size[k][i]));
    return largest <= tolerance;
}

/* Returns the first size with an index of at least `from` that matches the Jacobian; OPEN: none. */
static int find_size(sizes *s, int from, double jacobian[3][3])
{
    for (int k = from; k < s->n; k++)
        if (has_size(jacobian, s->jacobian[k], s->tolerance[k])) return k;
    return OPEN;
}

/* Like find_size() over all sizes, but adds an unknown size while there is room. */
static int find_or_add_size(sizes *s, double jacobian[3][3])
{
    int k = find_size(s, 0, jacobian);
    if (k == OPEN && s->n < MOST_SIZES) {
        k = s->n++;
        memcpy(s->jacobian[k], jacobian, sizeof s->jacobian[k]);
        s->tolerance[k] = HX_CONGRUENCE_TOLERANCE * longest_edge(jacobian);
    }
    if (k != OPEN) s->n_member[k]++;
    return k;
}

/* Assigns open elements from `begin` on to the sizes with index at least `from`, or to NONE if they
 * are not parallelepipeds. */
static void assign_sizes(sizes *s, int from, const hx_mesh *mesh, int64_t begin, int8_t *size)
{
    int64_t n_member[MOST_SIZES] = {0};
#pragma omp parallel for schedule(static) reduction(+ : n_member)
    for (int64_t e = begin; e < mesh->n_elem; e++) {
        double jacobian[3][3];
        if (size[e] != OPEN) continue;
        const int k =
            element_jacobian(mesh, e, jacobian) ? find_size(s, from, jacobian) : (int)NONE;
        size[e] = (int8_t)k;
        if (k >= 0) n_member[k]++;
    }
    for (int k = 0; k < s->n; k++) s->n_member[k] += n_member[k];
}

static int64_t first_open(const hx_mesh *mesh, const int8_t *size, int64_t from)
{
    const int8_t *open = from < mesh->n_elem
                             ? memchr(size + from, (uint8_t)OPEN, (size_t)(mesh->n_elem - from))
                             : NULL;
    return open ? open - size : mesh->n_elem;
}

/* Turns sizes with enough members into classes; class_of[size] is the class or NONE. */
static void choose_classes(hx_congruence *congruence, const sizes *s, int64_t smallest,
                           int8_t class_of[MOST_SIZES])
{
    for (int k = 0; k < s->n; k++) {
        const int c = congruence->n_class;
        class_of[k] = NONE;
        if (s->n_member[k] < smallest || c == HX_MAX_CLASS) continue;
        class_of[k] = (int8_t)c;
        memcpy(congruence->jacobian[c], s->jacobian[k], sizeof s->jacobian[k]);
        congruence->n_member[c] = s->n_member[k];
        congruence->n_class++;
    }
}

int hx_congruence_create(hx_congruence *congruence, const hx_mesh *mesh, int64_t smallest)
{
    const int64_t n_elem = mesh->n_elem;
    int8_t *size, class_of[MOST_SIZES]; /* size: size of each element, later its class */
    sizes s;
    memset(congruence, 0, sizeof *congruence);
    memset(&s, 0, sizeof s);
    HX_TRY(hx_alloc_raw(&size, (size_t)n_elem, 1, "classes of elements"));
    congruence->elem_class = size;
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) size[e] = OPEN;
    for (int64_t begin = 0; begin < n_elem; begin = first_open(mesh, size, begin)) {
        const int n_before = s.n;
        const int64_t end = begin + WINDOW < n_elem ? begin + WINDOW : n_elem;
        int n_large = 0;
        for (int64_t e = begin; e < end; e++) { /* one after the other, adding new sizes */
            double jacobian[3][3];
            if (size[e] != OPEN) continue;
            const int is_size = element_jacobian(mesh, e, jacobian);
            size[e] = (int8_t)(is_size ? find_or_add_size(&s, jacobian) : (int)NONE);
        }
        assign_sizes(&s, n_before, mesh, end, size);
        for (int k = 0; k < s.n; k++) n_large += s.n_member[k] >= smallest;
        if (s.n == MOST_SIZES || n_large >= HX_MAX_CLASS) break;
        begin = end;
    }
    choose_classes(congruence, &s, smallest, class_of);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n_elem; e++) size[e] = size[e] >= 0 ? class_of[size[e]] : (int8_t)NONE;
    return HX_OK;
}

int hx_congruence_list(const hx_congruence *congruence, int64_t n_elem, int32_t **elem,
                       int64_t *n_classed)
{
    enum { N_LIST = HX_MAX_CLASS + 1 };
    const int n_class = congruence->n_class;
    int64_t next[HX_N_PART][N_LIST] = {{0}},
            /* first places by part and list; the last list has the elements of no class */
        place = 0;
    HX_TRY(hx_alloc_raw(elem, (size_t)(n_elem + n_class), sizeof **elem, "classes of elements"));
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t e = hx_part_begin(n_elem, part); e < hx_part_begin(n_elem, part + 1); e++) {
            const int k = congruence->elem_class[e];
            next[part][k < 0 ? n_class : k]++;
        }
    for (int k = 0; k <= n_class; k++) {
        for (int part = 0; part < HX_N_PART; part++) {
            const int64_t n = next[part][k];
            next[part][k] = place;
            place += n;
        }
        if (k < n_class) (*elem)[place++] = -1;
        if (k + 1 == n_class) *n_classed = place;
    }
    if (n_class == 0) *n_classed = 0;
#pragma omp parallel for schedule(static)
    for (int part = 0; part < HX_N_PART; part++)
        for (int64_t e = hx_part_begin(n_elem, part); e < hx_part_begin(n_elem, part + 1); e++) {
            const int k = congruence->elem_class[e];
            (*elem)[next[part][k < 0 ? n_class : k]++] = (int32_t)e;
        }
    return HX_OK;
}

double hx_congruence_share(const hx_mesh *mesh)
{
    const int64_t n = mesh->n_elem < SAMPLE ? mesh->n_elem : SAMPLE;
    const int64_t smallest = n / 256 > 2 ? n / 256 : 2;
    int64_t n_member = 0;
    hx_congruence classes = {0};
    int8_t class_of[MOST_SIZES];
    sizes s;
    memset(&s, 0, sizeof s);
    for (int64_t i = 0; i < n; i++) {
        double jacobian[3][3];
        if (element_jacobian(mesh, mesh->n_elem * i / n, jacobian))
            (void)find_or_add_size(&s, jacobian);
    }
    choose_classes(&classes, &s, smallest, class_of);
    for (int k = 0; k < classes.n_class; k++) n_member += classes.n_member[k];
    return (double)n_member / (double)n;
}

void hx_congruence_free(hx_congruence *congruence)
{
    free(congruence->elem_class);
    memset(congruence, 0, sizeof *congruence);
}
