/* Sets made from other sets on plates one cell thick, where all corners of the rim are corners of
 * the two faces; and loads, springs, convection and supports on such sets. */
#ifndef HX_TEST_COMBINED_PARTS_H
#define HX_TEST_COMBINED_PARTS_H

#include "core/mesh/load_faces.h"
#include "core/mesh/region.h"
#include "space_box.h"

enum { MOST_COMBINED = 14 };

/* "front" and "back" as sets of nodes, "front faces" and "back faces" as sets of faces, "upper" as
 * a set of nodes and of elements, "inside" as faces between two cells. */
static inline int name_parts(hx_mesh *mesh, const mixed_box *box)
{
    static const char *const name[2] = {"front", "back"};
    static const char *const faces[2] = {"front faces", "back faces"};
    int64_t *const face = malloc(6 * (size_t)mesh->n_elem * sizeof *face), n = 0;
    if (!face) abort();
    for (int side = 0; side < 2; side++) {
        const double y = side ? box->length[1] : 0.0;
        n = 0;
        for (int32_t a = 0; a < (int32_t)mesh->n_node; a++)
            if (mesh->xyz[3 * (int64_t)a + 1] == y)
                HX_TRY(hx_mesh_add_node_set(mesh, name[side], 1, &a));
        for (int64_t k = 0; k < 6 * mesh->n_elem; k++) {
            int32_t node[4];
            int n_on = 0;
            const int n_corner = hx_cell_face(mesh->conn + 8 * (k / 6), (int)(k % 6), node);
            for (int a = 0; a < n_corner; a++) n_on += mesh->xyz[3 * (int64_t)node[a] + 1] == y;
            if (n_corner >= 3 && n_on == n_corner) face[n++] = k;
        }
        HX_TRY(hx_mesh_add_face_set(mesh, faces[side], n, face));
    }
    for (int32_t a = 0; a < (int32_t)mesh->n_node; a++)
        if (mesh->xyz[3 * (int64_t)a + 2] > 0.4 * box->length[2])
            HX_TRY(hx_mesh_add_node_set(mesh, "upper", 1, &a));
    free(face);
    return HX_OK;
}

static inline int add_inner_set(hx_mesh *mesh)
{
    for (int64_t e = 1; e < mesh->n_elem; e++) {
        int32_t node[4];
        for (int f = 0; f < 6; f++) {
            const int n = hx_cell_face(mesh->conn, f, node);
            if (n < 3 || hx_cell_find_face(mesh->conn + 8 * e, n, node) < 0) continue;
            const int64_t face = f;
            return hx_mesh_add_face_set(mesh, "inside", 1, &face);
        }
    }
    return HX_RAISE(HX_EINTERNAL, "no face between two cells");
}

typedef struct combination {
    const char *name;
    hx_region_kind kind;
    const char *part[2];
} combination;

static const combination combined[MOST_COMBINED] = {
    {"both", HX_REGION_OR, {"front", "back"}},
    {"both faces", HX_REGION_OR, {"front faces", "back faces"}},
    {"mixed", HX_REGION_OR, {"front faces", "back"}},
    {"edge", HX_REGION_AND, {"front", "top"}},
    {"upper front", HX_REGION_AND, {"front faces", "upper"}},
    {"rest", HX_REGION_NOT, {"front faces", "left"}},
    {"sides", HX_REGION_NOT, {"both", "top"}},
    {"top alone", HX_REGION_AND, {"top", "not front"}},
    {"all round", HX_REGION_OR, {"top", "both faces"}},
    {"twice", HX_REGION_OR, {"front", "front faces"}},
    {"nothing", HX_REGION_AND, {"front faces", "back faces"}},
    {"ends", HX_REGION_OR, {"left", "right"}},
    {"not both", HX_REGION_NOT, {"both", "both"}},
    {"bare", HX_REGION_AND, {"top", "not both"}}, /* all nodes of the top are on the two faces */
};

/* Selects the sides of the box by geometry, then makes the combinations. */
static inline int combine(hx_mesh *mesh)
{
    static const char *const name[3] = {"left", "right", "top"}, *const front[1] = {"front"};
    const hx_region not_front = {.kind = HX_REGION_NOT, .n_operand = 1, .operand = front};
    for (int k = 0; k < 3; k++) {
        hx_region plane = {.kind = HX_REGION_PLANE, .tolerance = 1e-6};
        plane.axis[k < 2 ? 0 : 2] = 1.0;
        for (int i = 0; i < 3; i++) plane.point[i] = k > 0 ? mesh->box_max[i] : mesh->box_min[i];
        HX_TRY(hx_mesh_add_region(mesh, name[k], &plane));
    }
    HX_TRY(hx_mesh_add_region(mesh, "not front", &not_front));
    for (int i = 0; i < MOST_COMBINED; i++) {
        const combination *const c = &combined[i];
        const hx_region region = {.kind = c->kind, .n_operand = 2, .operand = c->part};
        if (strcmp(c->name, "nothing") == 0) continue; /* has no node, so it is refused below */
        HX_TRY(hx_mesh_add_region(mesh, c->name, &region));
    }
    return HX_OK;
}

/* Loads of every kind (one load case each), springs, films and supports on some sets. */
enum { N_KIND = 2 };

typedef struct acting {
    size_t n;
    double *force[N_KIND], *spring, *held, *flux, *film;
} acting;

static inline void free_acting(acting *a)
{
    for (int k = 0; k < N_KIND; k++) free(a->force[k]);
    free(a->spring);
    free(a->held);
    free(a->flux);
    free(a->film);
}

static inline double *new_field(size_t n)
{
    double *const f = calloc(n, sizeof *f);
    if (!f) abort();
    return f;
}

static inline void act(const space_box *b, int n_set, const char *const *set, acting *to)
{
    const hx_support_spec end = {"right", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    hx_support_spec support[3] = {end};
    hx_spring_spec spring[2];
    hx_convection_spec film[2];
    hx_load_spec load[4], flux[2];
    hx_problem problem;
    hx_problem_params params = fixture_problem();
    for (int i = 0; i < n_set; i++) {
        support[1 + i] = (hx_support_spec){set[i], "test", HX_FIX_X, {0.0}};
        spring[i] = (hx_spring_spec){set[i], "test", {0.0, 2.0, 1.0}, HX_SPRING_AREA};
        film[i] = (hx_convection_spec){set[i], "test", 1.5, 3.0};
        load[2 * i] = (hx_load_spec){set[i], "test", HX_LOAD_PRESSURE, {0.7}, 1};
        load[2 * i + 1] = (hx_load_spec){set[i], "test", HX_LOAD_TRACTION, {0.3, 0.1, 0.2}, 2};
        flux[i] = (hx_load_spec){set[i], "test", HX_LOAD_FLUX, {0.9}, 1};
    }
    const int64_t n = b->space.n_point;
    to->n = 3 * (size_t)n;
    params.support = support, params.n_support = 1 + (size_t)n_set;
    params.spring = spring, params.n_spring = (size_t)n_set;
    params.load = load, params.n_load = 2 * (size_t)n_set;
    params.space = &b->space;
    CHECK_OK(hx_problem_create(&problem, &b->mesh, &params));
    for (int k = 0; k < N_KIND; k++) {
        to->force[k] = new_field(to->n);
        memcpy(to->force[k], problem.cases.force[k], to->n * sizeof(double));
    }
    to->spring = new_field(to->n);
    to->held = new_field(to->n);
    for (int64_t k = 0; k < problem.springs.n; k++)
        to->spring[problem.springs.dof[k]] = problem.springs.stiffness[k];
    for (int64_t a = 0; a < n; a++) to->held[3 * a] = problem.supports.fixed[a];
    hx_problem_free(&problem);
    params.physics = HX_PHYSICS_HEAT;
    params.conductivity = 1.0;
    support[0].fix = HX_FIX_X;
    params.n_support = 1;
    params.n_spring = 0;
    params.convection = film, params.n_convection = (size_t)n_set;
    params.load = flux, params.n_load = (size_t)n_set;
    CHECK_OK(hx_problem_create(&problem, &b->mesh, &params));
    to->flux = new_field(to->n);
    to->film = new_field(to->n);
    memcpy(to->flux, problem.cases.force[0], (size_t)n * sizeof(double));
    for (int64_t i = 0; i < problem.films.n; i++)
        for (int64_t k = problem.films.ptr[i]; k < problem.films.ptr[i + 1]; k++)
            to->film[problem.films.node[i]] +=
                (1.0 + problem.films.col[k]) * problem.films.value[k];
    hx_problem_free(&problem);
}

#endif
