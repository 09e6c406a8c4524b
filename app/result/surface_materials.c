/* Materials of element sets on the tetrahedra inside a surface. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "core/mesh/point_grid.h"
#include "surface_sets.h"

/* The search for the element at a point. */
typedef struct finder {
    const hx_mesh *mesh;
    double *centre;     /* [n_elem][3] (owned) */
    double radius;      /* largest distance of a node from the centre of its element */
    hx_point_grid grid; /* of the centres */
} finder;

typedef struct search {
    const finder *from;
    const double *x;
    double least; /* least distance beyond an element's faces so far */
    int64_t elem; /* -1: none */
} search;

static void free_finder(finder *f)
{
    hx_point_grid_free(&f->grid);
    free(f->centre);
}

static int create_finder(finder *f, const hx_mesh *mesh)
{
    double radius = 0.0;
    f->mesh = mesh;
    HX_TRY(hx_alloc_raw(&f->centre, (size_t)mesh->n_elem, 3 * sizeof *f->centre, "elements"));
#pragma omp parallel for schedule(static) reduction(max : radius)
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        double *const c = f->centre + 3 * e;
        hx_mesh_centroid(mesh, e, c);
        for (int a = 0; a < 8; a++) {
            const double *const x = mesh->xyz + 3 * (int64_t)mesh->conn[8 * e + a];
            const double arm[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
            radius = fmax(radius, hx_norm3(arm));
        }
    }
    f->radius = radius;
    return hx_point_grid_create(&f->grid, mesh->n_elem, f->centre);
}

/* Largest distance of x beyond the planes through the faces of an element, with normals from the
 * diagonals; negative inside. */
static double distance_beyond(const finder *f, int64_t e, const double x[3])
{
    const double *const centre = f->centre + 3 * e;
    double most = -INFINITY;
    for (int face = 0; face < 6; face++) {
        int32_t node[4];
        const int n = hx_cell_face(f->mesh->conn + 8 * e, face, node);
        if (n < 3) continue;
        const double *p[4];
        double middle[3] = {0.0, 0.0, 0.0}, u[3], v[3], normal[3], out[3], to[3];
        for (int a = 0; a < n; a++) {
            p[a] = f->mesh->xyz + 3 * (int64_t)node[a];
            for (int d = 0; d < 3; d++) middle[d] += p[a][d] / n;
        }
        for (int d = 0; d < 3; d++) {
            u[d] = p[2][d] - p[0][d];
            v[d] = p[n - 1][d] - p[1][d];
            out[d] = middle[d] - centre[d];
            to[d] = x[d] - middle[d];
        }
        hx_cross3(u, v, normal);
        const double side = hx_dot3(normal, out) < 0.0 ? -1.0 : 1.0;
        most = fmax(most, side * hx_dot3(normal, to) / hx_norm3(normal));
    }
    return most;
}

static void visit_element(void *context, int64_t e)
{
    search *const s = context;
    const double distance = distance_beyond(s->from, e, s->x);
    if (!(distance < s->least)) return;
    s->least = distance;
    s->elem = e;
}

/* Returns the element that contains x, otherwise the nearest; -1: none is near. */
static int64_t find_element(const finder *f, const double x[3])
{
    const int64_t near = hx_point_grid_nearest(&f->grid, x, f->radius);
    search s = {f, x, INFINITY, -1};
    if (near >= 0 && distance_beyond(f, near, x) <= 0.0) return near;
    hx_point_grid_visit(&f->grid, x, f->radius, visit_element, &s);
    return s.elem;
}

/* number[e] := 1 + the entry of `materials` that an element belongs to; 0: none. */
static int number_elements(const hx_config_list *list, const hx_mesh *mesh, int32_t *number)
{
    const hx_config_material *const entry = list->entry;
    for (size_t i = 0; i < list->n; i++) {
        const hx_set *const set = hx_mesh_find_set(mesh, entry[i].set);
        if (!set) return HX_RAISE(HX_EINPUT, "%s: unknown set '%s'", entry[i].origin, entry[i].set);
        for (int64_t k = 0; k < set->n_elem; k++) number[set->elem[k]] = 1 + (int32_t)i;
    }
    return HX_OK;
}

/* Adds the tetrahedra of entry i as a set, to which the entry then refers. */
static int add_material_set(hx_surface_part *p, size_t i, const int32_t *of, int32_t *elem)
{
    const hx_mesh *const mesh = &p->mesh;
    hx_config_material *const entry = (hx_config_material *)p->cfg.materials.entry + i;
    char name[256], count[32];
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++)
        if (of[e] == 1 + (int32_t)i) elem[n++] = (int32_t)e;
    HX_TRY(hx_notes_add(&p->notes, HX_NOTE_INFO, "material of set '%s': %s %s", entry->set,
                        hx_format_count(n, count, sizeof count),
                        hx_noun(n, "tetrahedron", "tetrahedra")));
    snprintf(name, sizeof name, "%.230s%s", entry->set,
             hx_mesh_find_set(mesh, entry->set) ? " (elements)" : "");
    HX_TRY(hx_strdup(&p->material_set[i], name));
    entry->set = p->material_set[i];
    return n > 0 ? hx_mesh_add_elem_set(&p->mesh, name, n, elem) : HX_OK;
}

/* Leaves out entries without tetrahedra. */
static void drop_empty(hx_surface_part *p)
{
    hx_config_material *const entry = p->cfg.materials.entry;
    size_t n = 0;
    for (size_t i = 0; i < p->cfg.materials.n; i++)
        if (hx_mesh_find_set(&p->mesh, entry[i].set)) entry[n++] = entry[i];
    p->cfg.materials.n = n;
}

/* of[], elem[]: scratch of an entry per tetrahedron. */
static int find_materials(hx_surface_part *p, const finder *f, const int32_t *number, int32_t *of,
                          int32_t *elem)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t e = 0; e < p->mesh.n_elem; e++) {
        double x[3];
        hx_mesh_centroid(&p->mesh, e, x);
        const int64_t at = find_element(f, x);
        of[e] = at >= 0 ? number[at] : 0;
    }
    for (size_t i = 0; i < p->cfg.materials.n; i++) HX_TRY(add_material_set(p, i, of, elem));
    drop_empty(p);
    return HX_OK;
}

int hx_surface_materials_add(hx_surface_part *p, const hx_session *s)
{
    const hx_config_list *const list = &s->cfg.materials;
    const size_t n_elem = (size_t)s->mesh.n_elem, n_tet = (size_t)p->mesh.n_elem;
    finder f = {0};
    int32_t *number = NULL, *of = NULL;
    int rc;
    if (list->n == 0) return HX_OK;
    HX_TRY_FAIL(
        hx_alloc(&p->cfg.materials.entry, list->n, sizeof(hx_config_material), "materials"));
    p->cfg.materials.n = list->n;
    memcpy(p->cfg.materials.entry, list->entry, list->n * sizeof(hx_config_material));
    HX_TRY_FAIL(hx_alloc(&p->material_set, list->n, sizeof *p->material_set, "materials"));
    p->n_material_set = list->n;
    HX_TRY_FAIL(hx_alloc(&number, n_elem, sizeof *number, "materials"));
    HX_TRY_FAIL(hx_alloc_raw(&of, n_tet, 2 * sizeof *of, "materials"));
    HX_TRY_FAIL(number_elements(list, &s->mesh, number));
    HX_TRY_FAIL(create_finder(&f, &s->mesh));
    rc = find_materials(p, &f, number, of, of + n_tet);
fail:
    free_finder(&f);
    free(number);
    free(of);
    return rc;
}
