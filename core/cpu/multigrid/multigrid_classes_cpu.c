/* Cells of multigrid's first coarse grid that contain the same elements in the same places: the
 * contribution of such a cell to P'K P is a sum of one table per element times its modulus
 * (multigrid_tables_cpu.c). Tables are computed once, for the most frequent cells of a regular
 * mesh. All other cells, and those that touch a support, are computed by multigrid_galerkin_cpu.c.
 *
 * A table is the upper half of a symmetric matrix: blocks of corners a <= b. */
#include <stdlib.h>
#include <string.h>

#include "../../base/memory.h"
#include "../../multigrid/multigrid_place.h"
#include "multigrid_classes_cpu.h"

/* Relative to the edge of a cell: positions that differ by less give the same table in single
 * precision. */
#define ALIKE 1e-6f

enum {
    CORNERS = 8,
    BLOCK = HX_MG_DOF * HX_MG_DOF,
    ROW = 27 * BLOCK,
    N_MODEL = HX_MG_PLACE_MODELS,
    N_ELEM = HX_MG_PLACE_ELEMS,
    SHARE = HX_MG_SHARE,
    STRIP = HX_CPU_STRIP,
    N_STRIP = SHARE / STRIP
};

/* Returns 1 if a cell may belong to a class: it has a suitable number of elements
 * (hx_mg_place_takes), and none of them touches a support. */
static int is_candidate(const hx_mg_mesh *mesh, int64_t cell)
{
    if (!hx_mg_place_takes(mesh->d_cell_elem_at[cell + 1] - mesh->d_cell_elem_at[cell])) return 0;
    for (int32_t k = mesh->d_cell_elem_at[cell]; k < mesh->d_cell_elem_at[cell + 1]; k++)
        for (int a = 0; a < 8; a++)
            if (mesh->d_fixed[mesh->model->d_conn[8 * (int64_t)mesh->d_cell_elem[k] + a]]) return 0;
    return 1;
}

static void sort_cell(const hx_mg_mesh *mesh, int64_t cell, int32_t *elem)
{
    const int n = mesh->d_cell_elem_at[cell + 1] - mesh->d_cell_elem_at[cell];
    const hx_mg_places places = hx_mg_places_of(mesh);
    uint32_t number[N_ELEM];
    elem += mesh->d_cell_elem_at[cell];
    memcpy(elem, mesh->d_cell_elem + mesh->d_cell_elem_at[cell], (size_t)n * sizeof *elem);
    for (int k = 0; n <= N_ELEM && k < n; k++) {
        const int32_t e = elem[k];
        const uint32_t own = hx_mg_place_number(&places, cell, e);
        int at = k;
        for (; at > 0 && number[at - 1] > own; at--) {
            number[at] = number[at - 1];
            elem[at] = elem[at - 1];
        }
        number[at] = own;
        elem[at] = e;
    }
}

static int is_alike(const hx_mg_mesh *mesh, const int32_t *elem, int64_t cell, int64_t model)
{
    const int32_t first = mesh->d_cell_elem_at[cell], other = mesh->d_cell_elem_at[model];
    const int32_t n = mesh->d_cell_elem_at[cell + 1] - first;
    const hx_mg_places places = hx_mg_places_of(mesh);
    if (n != mesh->d_cell_elem_at[model + 1] - other) return 0;
    for (int32_t k = 0; k < n; k++) {
        const int32_t *conn = mesh->model->d_conn + 8 * (int64_t)elem[first + k];
        const int32_t *like = mesh->model->d_conn + 8 * (int64_t)elem[other + k];
        for (int a = 0; a < 8; a++)
            if (!hx_mg_places_agree(&places, cell, conn[a], model, like[a], ALIKE)) return 0;
    }
    return 1;
}

/* The first class whose model the cell matches, or N_MODEL. */
static int class_of(const hx_mg_mesh *mesh, const struct hx_cpu_classes *s, int64_t cell)
{
    for (int m = 0; m < s->n; m++)
        if (is_alike(mesh, s->elem, cell, s->of[m].model)) return m;
    return N_MODEL;
}

static int fill_table(const hx_mg_mesh *mesh, const int32_t *elem, hx_cpu_class *c)
{
    float share[SHARE];
    HX_TRY(hx_alloc_raw(&c->table, (size_t)c->n_elem, sizeof share, "multigrid tables"));
    for (int k = 0; k < c->n_elem; k++) {
        hx_cpu_element_share(mesh, c->model, elem[mesh->d_cell_elem_at[c->model] + k], share);
        for (int strip = 0; strip < N_STRIP; strip++)
            memcpy(c->table + STRIP * (c->n_elem * strip + k), share + STRIP * strip,
                   STRIP * sizeof *share);
    }
    return HX_OK;
}

static int find_classes(const hx_mg_mesh *mesh, struct hx_cpu_classes *s, int *n_table)
{
    int64_t count[N_MODEL + 1] = {0};
    HX_TRY(hx_alloc_raw(&s->cell, (size_t)mesh->n_cell, 1, "multigrid tables"));
    HX_TRY(
        hx_alloc_raw(&s->elem, (size_t)mesh->model->n_elem, sizeof *s->elem, "multigrid tables"));
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) sort_cell(mesh, cell, s->elem);
    const int64_t stride = mesh->n_cell / HX_MG_PLACE_SAMPLES + 1;
    for (int64_t cell = 0; cell < mesh->n_cell && s->n < N_MODEL; cell += stride) {
        const int n_elem = mesh->d_cell_elem_at[cell + 1] - mesh->d_cell_elem_at[cell];
        if (!is_candidate(mesh, cell)) continue;
        if (class_of(mesh, s, cell) == N_MODEL)
            s->of[s->n++] = (hx_cpu_class){.model = (int32_t)cell, .n_elem = n_elem};
    }
#pragma omp parallel for schedule(static)
    for (int64_t cell = 0; cell < mesh->n_cell; cell++) {
        const int m = is_candidate(mesh, cell) ? class_of(mesh, s, cell) : N_MODEL;
        s->cell[cell] = (uint8_t)m;
#pragma omp atomic
        count[m]++;
    }
    for (int m = 0; m < s->n; m++) {
        if (count[m] < HX_MG_PLACE_LEAST) continue;
        HX_TRY(fill_table(mesh, s->elem, &s->of[m]));
        *n_table += 1;
    }
    return HX_OK;
}

int hx_cpu_classes_create(hx_device *dev, hx_mg_mesh *mesh)
{
    struct hx_cpu_classes *s;
    int n_table = 0;
    HX_TRY(hx_alloc(&s, 1, sizeof *s, "multigrid tables"));
    mesh->own = s;
    const int rc = find_classes(mesh, s, &n_table);
    if (rc < 0 || n_table == 0) hx_cpu_classes_free(dev, mesh);
    return rc;
}

double hx_cpu_classes_bytes(int64_t n_elem, double n_cell)
{
    (void)n_cell;
    return 5.0 * (double)n_elem; /* 4 for the list, 1 for the classes and tables of cells */
}
