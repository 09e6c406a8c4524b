/* Makes the halo of a subdomain: finds its elements, which every process searches in the whole
 * mesh. */
#include "halo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"
#include "../base/sort.h"
#include "../base/sum.h"
#include "../mesh/cell_marks.h"

static const char what[] = "elements within the filter's radius";

/* Elements [begin, end). */
typedef struct run {
    int64_t begin, end;
} run;

/* Finds the elements that are near a run of elements. `list`: the candidates, which may be near
 * another rank's elements, as ascending numbers in the whole mesh. Everything else is indexed by
 * positions in that list. */
typedef struct finder {
    int64_t n;     /* number of candidates */
    int32_t *list; /* [n] */
    hx_bins cells; /* cells of the candidates */
    int64_t n_cell;
    int64_t width;  /* number of cells that the radius may span in each direction */
    double square;  /* square of the slightly enlarged radius, so that rounding loses no element */
    uint8_t *mark;  /* [n_cell] 1: an element of the run may be within the radius */
    uint8_t *near;  /* [n] 1: an element of the run is within the radius */
    uint8_t *holds; /* [n_cell] 1: the cell contains an element of the run */
} finder;

static void free_finder(finder *f)
{
    hx_bins_free(&f->cells);
    free(f->list);
    free(f->mark);
    free(f->near);
    free(f->holds);
    memset(f, 0, sizeof *f);
}

static run run_of(const hx_dist *dist, int rank)
{
    return (run){dist->subdomain.first[rank], dist->subdomain.first[rank + 1]};
}

/* Cells over the whole mesh, marked if they are near own elements or near those of others. */
typedef struct sieve {
    hx_bins grid;          /* contains no elements */
    int32_t *cell;         /* [n_elem of the whole] cell of its centroid */
    uint8_t *own, *others; /* [cells] */
} sieve;

static int create_sieve(sieve *s, const hx_mesh *whole)
{
    double low[3], high[3];
    hx_mesh_centroid_bounds(whole, low, high);
    const size_t n_cell = (size_t)hx_bins_lay(&s->grid, whole, low, high);
    HX_TRY(hx_alloc_raw(&s->cell, (size_t)whole->n_elem, sizeof *s->cell, what));
    HX_TRY(hx_alloc(&s->own, n_cell, 1, what));
    return hx_alloc(&s->others, n_cell, 1, what);
}

static void mark_sieve(sieve *s, const hx_mesh *whole, const run *own, double radius)
{
    const int64_t reach = hx_cell_marks_reach(radius, s->grid.size),
                  width[3] = {reach, reach, reach};
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < whole->n_elem; e++) {
        double x[3];
        hx_mesh_centroid(whole, e, x);
        s->cell[e] = (int32_t)hx_bins_at(&s->grid, x);
        uint8_t *const mark = e >= own->begin && e < own->end ? s->own : s->others;
#pragma omp atomic write
        mark[s->cell[e]] = 1;
    }
    hx_cell_marks_widen(s->own, s->grid.n_cell, width);
    hx_cell_marks_widen(s->others, s->grid.n_cell, width);
}

static int passes(const sieve *s, int64_t e)
{
    return s->own[s->cell[e]] && s->others[s->cell[e]];
}

/* list[] := the elements in cells that are near both, ascending. */
static int list_passing(finder *f, const sieve *s, int64_t n_elem)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        int64_t n = 0;
        for (int64_t e = hx_part_begin(n_elem, i); e < hx_part_begin(n_elem, i + 1); e++)
            n += passes(s, e);
        first[i + 1] = n;
    }
    for (int i = 0; i < HX_N_PART; i++) first[i + 1] += first[i];
    f->n = first[HX_N_PART];
    HX_TRY(hx_alloc_raw(&f->list, (size_t)f->n, sizeof *f->list, what));
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        int64_t next = first[i];
        for (int64_t e = hx_part_begin(n_elem, i); e < hx_part_begin(n_elem, i + 1); e++)
            if (passes(s, e)) f->list[next++] = (int32_t)e;
    }
    return HX_OK;
}

/* Collects candidates: if two elements of different ranks are near each other, each lies in a cell
 * near the other's rank. */
static int sieve_elements(finder *f, const hx_dist *dist, double radius)
{
    const hx_mesh *const whole = dist->subdomain.whole->mesh;
    const run own = run_of(dist, dist->comm->rank);
    sieve s = {.cell = NULL};
    int rc = create_sieve(&s, whole);
    if (rc == HX_OK) {
        mark_sieve(&s, whole, &own, radius);
        rc = list_passing(f, &s, whole->n_elem);
    }
    free(s.cell);
    free(s.own);
    free(s.others);
    return rc;
}

/* Makes a mesh of elements elem[n] of the whole mesh with only the members that cells need. The
 * caller frees its conn. */
static int take_elements(hx_mesh *mesh, const hx_mesh *whole, int64_t n, const int32_t *elem)
{
    *mesh = (hx_mesh){.n_node = whole->n_node,
                      .xyz = whole->xyz,
                      .n_elem = n,
                      .total_volume =
                          whole->total_volume / (double)hx_mesh_n_elem_all(whole) * (double)n};
    HX_TRY(hx_alloc_raw(&mesh->conn, 8 * (size_t)n, sizeof *mesh->conn, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < n; e++)
        memcpy(mesh->conn + 8 * e, whole->conn + 8 * (int64_t)elem[e], 8 * sizeof *mesh->conn);
    return HX_OK;
}

static int create_finder(finder *f, const hx_dist *dist, double radius)
{
    const double reach = radius * (1.0 + 1e-9);
    hx_mesh mesh;
    HX_TRY(sieve_elements(f, dist, radius));
    if (f->n == 0) return HX_OK;
    int rc = take_elements(&mesh, dist->subdomain.whole->mesh, f->n, f->list);
    if (rc == HX_OK) rc = hx_bins_create(&f->cells, &mesh, radius);
    free(mesh.conn);
    HX_TRY(rc);
    f->n_cell = f->cells.n_cell[0] * f->cells.n_cell[1] * f->cells.n_cell[2];
    f->width = hx_cell_marks_reach(radius, f->cells.size);
    f->square = reach * reach;
    HX_TRY(hx_alloc_raw(&f->mark, (size_t)f->n_cell, 1, what));
    HX_TRY(hx_alloc_raw(&f->holds, (size_t)f->n_cell, 1, what));
    return hx_alloc_raw(&f->near, (size_t)f->n, 1, what);
}

/* The part of a run of the whole mesh that is in the list. */
static run run_in(const finder *f, const run *of)
{
    return (run){hx_count_below_i32(f->list, f->n, of->begin),
                 hx_count_below_i32(f->list, f->n, of->end)};
}

static int is_of(const finder *f, const run *r, int64_t place)
{
    return f->cells.member[place] >= r->begin && f->cells.member[place] < r->end;
}

static void mark_cells(const finder *f, const run *r)
{
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < f->n_cell; c++) {
        f->holds[c] = 0;
        for (int64_t p = f->cells.start[c]; p < f->cells.start[c + 1]; p++)
            f->holds[c] |= (uint8_t)is_of(f, r, p);
        f->mark[c] = f->holds[c];
    }
    const int64_t width[3] = {f->width, f->width, f->width};
    hx_cell_marks_widen(f->mark, f->cells.n_cell, width);
}

/* 1 if a member of the run in a cell is within the radius of the element at a place. The test is
 * symmetric in the two elements, because differences only change sign. */
static int meets_cell(const finder *f, const run *r, int64_t cell, int64_t place)
{
    const hx_bins *const cells = &f->cells;
    for (int64_t m = cells->start[cell]; m < cells->start[cell + 1]; m++) {
        const double dx = cells->x[m] - cells->x[place], dy = cells->y[m] - cells->y[place],
                     dz = cells->z[m] - cells->z[place];
        if (is_of(f, r, m) && dx * dx + dy * dy + dz * dz < f->square) return 1;
    }
    return 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int is_near_run(const finder *f, const run *r, int64_t cell, int64_t place)
{
    const int64_t *const n = f->cells.n_cell;
    const int64_t i = cell % n[0], j = cell / n[0] % n[1], k = cell / (n[0] * n[1]);
    const int64_t k1 = least(k + f->width, n[2] - 1), j1 = least(j + f->width, n[1] - 1),
                  i1 = least(i + f->width, n[0] - 1);
    for (int64_t z = most(0, k - f->width); z <= k1; z++)
        for (int64_t y = most(0, j - f->width); y <= j1; y++)
            for (int64_t x = most(0, i - f->width); x <= i1; x++) {
                const int64_t other = (z * n[1] + y) * n[0] + x;
                if (f->holds[other] && meets_cell(f, r, other, place)) return 1;
            }
    return 0;
}

/* Sets near[] for the elements of `among` that are not in the run. */
static void find_near(const finder *f, const run *r, const run *among)
{
#pragma omp parallel for schedule(static)
    for (int64_t e = among->begin; e < among->end; e++) f->near[e] = 0;
    mark_cells(f, r);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t c = 0; c < f->n_cell; c++)
        for (int64_t p = f->cells.start[c]; f->mark[c] && p < f->cells.start[c + 1]; p++)
            if (is_of(f, among, p) && !is_of(f, r, p))
                f->near[f->cells.member[p]] = (uint8_t)is_near_run(f, r, c, p);
}

static int64_t count_near(const finder *f, const run *of)
{
    int64_t n = 0;
#pragma omp parallel for schedule(static) reduction(+ : n)
    for (int64_t e = of->begin; e < of->end; e++) n += f->near[e];
    return n;
}

/* Part i of a run. */
static run part_of(const run *of, int i)
{
    const int64_t n = of->end - of->begin;
    return (run){of->begin + hx_part_begin(n, i), of->begin + hx_part_begin(n, i + 1)};
}

/* The near elements of a run as ascending numbers in the whole mesh. */
static void list_near(const finder *f, const run *of, int32_t *list)
{
    int64_t first[HX_N_PART + 1] = {0};
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        const run part = part_of(of, i);
        int64_t n = 0;
        for (int64_t e = part.begin; e < part.end; e++) n += f->near[e];
        first[i + 1] = n;
    }
    for (int i = 0; i < HX_N_PART; i++) first[i + 1] += first[i];
#pragma omp parallel for schedule(static)
    for (int i = 0; i < HX_N_PART; i++) {
        const run part = part_of(of, i);
        int64_t next = first[i];
        for (int64_t e = part.begin; e < part.end; e++)
            if (f->near[e]) list[next++] = f->list[e];
    }
}

/* Lists elem[n_own + n_beyond] of the whole mesh: own elements, then the near elements of others;
 * n_in[]: their number for each rank. */
static int list_beyond(const hx_dist *dist, const finder *f, int32_t **elem, int64_t *n_in)
{
    const run own = run_of(dist, dist->comm->rank), own_in = run_in(f, &own), all = {0, f->n};
    const int64_t n_own = own.end - own.begin;
    find_near(f, &own_in, &all);
    HX_TRY(hx_alloc_raw(elem, (size_t)(n_own + count_near(f, &all)), sizeof **elem, what));
#pragma omp parallel for schedule(static)
    for (int64_t e = own.begin; e < own.end; e++) (*elem)[e - own.begin] = (int32_t)e;
    list_near(f, &all, *elem + n_own);
    for (int r = 0; r < dist->comm->size; r++) {
        const run of = run_of(dist, r), of_in = run_in(f, &of);
        n_in[r] = count_near(f, &of_in);
    }
    return HX_OK;
}

/* out[n] := positions, in the subdomain, of its near elements. */
static int put_near(const finder *f, const run *own, int64_t n, int64_t *out)
{
    const run own_in = run_in(f, own);
    int32_t *list;
    HX_TRY(hx_alloc_raw(&list, (size_t)n, sizeof *list, what));
    list_near(f, &own_in, list);
    for (int64_t i = 0; i < n; i++) out[i] = list[i] - own->begin;
    free(list);
    return HX_OK;
}

/* Lists the own elements near each rank that has elements near this one: (*out)[] peer after peer,
 * n_out[] per rank. */
static int list_out(const hx_dist *dist, const finder *f, const int64_t *n_in, int64_t **out,
                    int64_t *n_out)
{
    const run own = run_of(dist, dist->comm->rank), own_in = run_in(f, &own);
    int64_t at = 0;
    *out = NULL;
    for (int r = 0; r < dist->comm->size; r++) {
        const run of = run_of(dist, r), of_in = run_in(f, &of);
        if (n_in[r] == 0) continue;
        find_near(f, &of_in, &own_in);
        n_out[r] = count_near(f, &own_in);
        int64_t *const grown = realloc(*out, (size_t)(at + n_out[r]) * sizeof **out);
        if (!grown && at + n_out[r] > 0)
            return HX_RAISE(HX_ENOMEM, "%s: no memory for %lld", what, (long long)(at + n_out[r]));
        *out = grown;
        HX_TRY(put_near(f, &own, n_out[r], *out + at));
        at += n_out[r];
    }
    return HX_OK;
}

/* Makes the halo, and lists its elements behind the own ones. */
static int create_halo(hx_halo **halo, hx_dist *dist, const finder *f, int n_field, int32_t **elem)
{
    const size_t size = (size_t)dist->comm->size;
    int64_t *n_in = NULL, *n_out = NULL, *out = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&n_in, size, sizeof *n_in, what));
    HX_TRY_FAIL(hx_alloc(&n_out, size, sizeof *n_out, what));
    HX_TRY_FAIL(list_beyond(dist, f, elem, n_in));
    HX_TRY_FAIL(list_out(dist, f, n_in, &out, n_out));
    rc = hx_halo_create(halo, dist, n_out, out, n_in, n_field);
fail:
    free(n_in);
    free(n_out);
    free(out);
    return rc;
}

/* Makes cells of own and halo elements. */
static int create_cells(hx_device_bins *cells, const hx_halo *h, const int32_t *elem, double radius,
                        int n_field)
{
    hx_mesh mesh;
    int rc = take_elements(&mesh, h->dist->subdomain.whole->mesh, h->n_own + h->n_beyond, elem);
    if (rc == HX_OK) rc = hx_device_bins_create(cells, &h->dist->dev, &mesh, radius, n_field, NULL);
    free(mesh.conn);
    return rc;
}

/* A distributed mesh contains ghost elements only up to its reach. */
static int check_reach(const hx_dist *dist, double radius)
{
    const hx_mesh_ownership *const ownership = dist->subdomain.whole->mesh->ownership;
    if (!ownership || radius <= ownership->reach) return HX_OK;
    return HX_RAISE(HX_EINTERNAL, "the radius %g exceeds the reach %g of the distributed mesh",
                    radius, ownership->reach);
}

int hx_halo_create_bins(hx_device_bins *cells, hx_dist *dist, double radius, int n_field)
{
    finder f = {0};
    hx_halo *h = NULL;
    int32_t *elem = NULL;
    int rc;
    memset(cells, 0, sizeof *cells);
    HX_TRY_FAIL(check_reach(dist, radius));
    HX_TRY_FAIL(create_finder(&f, dist, radius));
    HX_TRY_FAIL(create_halo(&h, dist, &f, n_field, &elem));
    free_finder(&f);
    HX_TRY_FAIL(create_cells(cells, h, elem, radius, n_field));
    cells->halo = h;
    h = NULL;
fail:
    free_finder(&f);
    free(elem);
    hx_halo_free(h);
    return rc;
}

size_t hx_halo_bytes(const hx_dist *dist, double radius, int n_field)
{
    const hx_mesh *const whole = dist->subdomain.whole->mesh;
    const double n_elem = (double)hx_mesh_n_elem_all(whole);
    const double size = cbrt(whole->total_volume / n_elem);
    const double layers = ceil(radius / size) + 1.0;
    const double other = n_elem - (double)dist->subdomain.mesh.n_elem;
    const double beyond = fmin(other, layers * (double)dist->subdomain.n_interface);
    const double each = (5.0 + n_field) * sizeof(double) + 2.0 * sizeof(int32_t);
    return (size_t)(beyond * each) + (size_t)n_field *
                                         (size_t)((double)dist->subdomain.mesh.n_elem + beyond) *
                                         sizeof(double);
}

/* Every rank sends its elements to all others. */
int hx_halo_create_all(hx_halo **halo, hx_dist *dist, int n_field)
{
    const int size = dist->comm->size, rank = dist->comm->rank;
    const int64_t *const first = dist->subdomain.first;
    const int64_t n_own = first[rank + 1] - first[rank];
    int64_t *n_out = NULL, *n_in = NULL, *out = NULL, n = 0;
    int rc;
    *halo = NULL;
    HX_TRY_FAIL(hx_alloc(&n_out, (size_t)size, sizeof *n_out, what));
    HX_TRY_FAIL(hx_alloc(&n_in, (size_t)size, sizeof *n_in, what));
    HX_TRY_FAIL(hx_alloc_raw(&out, (size_t)(size - 1) * (size_t)n_own, sizeof *out, what));
    for (int r = 0; r < size; r++) {
        if (r == rank) continue;
        n_out[r] = n_own;
        n_in[r] = first[r + 1] - first[r];
        for (int64_t e = 0; e < n_own; e++) out[n++] = e;
    }
    rc = hx_halo_create(halo, dist, n_out, out, n_in, n_field);
fail:
    free(n_out);
    free(n_in);
    free(out);
    return rc;
}

size_t hx_halo_all_bytes(int64_t n, int64_t n_own, int n_rank, int n_field)
{
    if (n_rank < 2) return 0;
    return (size_t)n_field * (size_t)n * sizeof(double) +
           (size_t)(n_rank - 1) * (size_t)n_own * (sizeof(int64_t) + sizeof(double));
}
