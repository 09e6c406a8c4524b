/* Combined sets: a union has exactly the faces and edges of its parts, although its nodes span
 * more; the same for intersections and differences. Plates one cell thick, whose rim has only
 * corners of the two faces: lists against their definition, and loads, springs, films and supports
 * of a union against those of its parts. */
#include "tests/lib/combined_parts.h"

/* mask[6 n_elem] of the faces on which a load on the set acts. */
static void mark_faces(const hx_mesh *mesh, const char *name, uint8_t *mask)
{
    int64_t n, *face;
    memset(mask, 0, 6 * (size_t)mesh->n_elem);
    CHECK_OK(hx_load_faces(mesh, hx_mesh_find_set(mesh, name), &n, &face));
    for (int64_t i = 0; i < n; i++) {
        CHECK(i == 0 || face[i] > face[i - 1]);
        mask[face[i]] = 1;
    }
    free(face);
}

static void mark_middles(const hx_space *space, const char *name, uint8_t *mask)
{
    int64_t n;
    int32_t *point;
    memset(mask, 0, (size_t)space->n_point);
    CHECK_OK(hx_space_set_middles(space, hx_mesh_find_set(space->mesh, name), &n, &point));
    for (int64_t i = 0; i < n; i++) mask[point[i]] = 1;
    free(point);
}

static int is_in(hx_region_kind kind, int a, int b)
{
    return kind == HX_REGION_OR ? a | b : kind == HX_REGION_AND ? a & b : !(a | b);
}

/* Faces and mid-edge points of every combination against those of its parts. */
static void check_lists(const space_box *b)
{
    const hx_mesh *const mesh = &b->mesh;
    const size_t n_face = 6 * (size_t)mesh->n_elem, n_point = (size_t)b->space.n_point;
    const size_t most = n_face > n_point ? n_face : n_point;
    uint8_t *const mask = malloc(4 * most), *const part[2] = {mask + most, mask + 2 * most};
    uint8_t *const boundary = mask + 3 * most;
    int64_t n, *face;
    if (!mask) abort();
    memset(boundary, 0, most);
    CHECK_OK(hx_mesh_boundary_faces(mesh, NULL, &n, &face));
    for (int64_t i = 0; i < n; i++) boundary[face[i]] = 1;
    free(face);
    for (int i = 0; i < MOST_COMBINED; i++) {
        const combination *const c = &combined[i];
        int64_t wrong = 0;
        if (!hx_mesh_find_set(mesh, c->name)) continue;
        mark_faces(mesh, c->name, mask);
        for (int k = 0; k < 2; k++) mark_faces(mesh, c->part[k], part[k]);
        for (size_t f = 0; f < n_face; f++)
            wrong += mask[f] != (boundary[f] && is_in(c->kind, part[0][f], part[1][f]));
        CHECK_MSG(wrong == 0, "%s, %s: %lld wrong faces", mesh->name, c->name, (long long)wrong);
        if (b->space.element != HX_ELEMENT_QUADRATIC) continue;
        mark_middles(&b->space, c->name, mask);
        for (int k = 0; k < 2; k++) mark_middles(&b->space, c->part[k], part[k]);
        for (size_t a = (size_t)mesh->n_node; a < n_point; a++)
            wrong += mask[a] != is_in(c->kind, part[0][a], part[1][a]);
        CHECK_MSG(wrong == 0, "%s, %s: %lld wrong middles", mesh->name, c->name, (long long)wrong);
    }
    free(mask);
}

static void check_field(const char *what, const char *name, size_t n, const double *a,
                        const double *b)
{
    double largest = 0.0;
    for (size_t k = 0; k < n; k++) test_worst(&largest, fabs(a[k]));
    const double worst = test_max_difference(n, a, b);
    CHECK_MSG(largest > 0.0 && worst <= 1e-14 * largest, "%s: %s off by %.3g of %.3g", name, what,
              worst, largest);
}

/* One entry for a set against one for each of its parts, which share no face. */
static void check_acting(const space_box *b, const char *name, const char *one, const char *two)
{
    const char *const both[2] = {one, two};
    acting whole, parts;
    act(b, 1, &name, &whole);
    act(b, 2, both, &parts);
    check_field("pressure", name, whole.n, parts.force[0], whole.force[0]);
    check_field("traction", name, whole.n, parts.force[1], whole.force[1]);
    check_field("springs", name, whole.n, parts.spring, whole.spring);
    check_field("supports", name, whole.n, parts.held, whole.held);
    check_field("flux", name, whole.n, parts.flux, whole.flux);
    check_field("film", name, whole.n, parts.film, whole.film);
    free_acting(&whole);
    free_acting(&parts);
}

/* A total is distributed by the area of the parts; a set without faces receives it at its nodes. */
static void check_total(const space_box *b)
{
    static const hx_support_spec support = {"right", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0}};
    const hx_load_spec load[2] = {{"both", "test", HX_LOAD_TOTAL_FORCE, {0.0, 3.0, 0.0}, 1},
                                  {"edge", "test", HX_LOAD_TOTAL_FORCE, {0.0, 3.0, 0.0}, 2}};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    double sum[2] = {0.0}, least = INFINITY;
    params.support = &support, params.n_support = 1;
    params.load = load, params.n_load = 2;
    params.space = &b->space;
    CHECK_OK(hx_problem_create(&problem, &b->mesh, &params));
    const hx_set *const edge = hx_mesh_find_set(&b->mesh, "edge");
    for (int c = 0; c < 2; c++)
        for (int64_t a = 0; a < b->space.n_point; a++) sum[c] += problem.cases.force[c][3 * a + 1];
    for (int64_t i = 0; i < edge->n_node; i++)
        least = fmin(least, problem.cases.force[1][3 * edge->node[i] + 1]);
    CHECK_REL(sum[0], 3.0, 1e-13);
    CHECK_REL(sum[1], 3.0, 1e-13);
    CHECK_REL(least, 3.0 / (double)edge->n_node, 1e-13);
    hx_problem_free(&problem);
}

/* Faces between two cells are ignored in a union, which is an error if it has no others. */
static void check_inside(hx_mesh *mesh)
{
    static const char *const part[2] = {"inside", "front faces"}, *const inside[1] = {"inside"};
    static const char *const none[2] = {"front faces", "back faces"};
    const hx_region more = {.kind = HX_REGION_OR, .n_operand = 2, .operand = part};
    const hx_region only = {.kind = HX_REGION_OR, .n_operand = 1, .operand = inside};
    const hx_region empty = {.kind = HX_REGION_AND, .n_operand = 2, .operand = none};
    int64_t n[2], *face;
    CHECK_OK(hx_mesh_add_region(mesh, "more", &more));
    CHECK_OK(hx_mesh_add_region(mesh, "only", &only));
    CHECK_FAILS(hx_mesh_add_region(mesh, "nothing", &empty), HX_EINPUT, "is empty");
    CHECK_OK(hx_load_faces(mesh, hx_mesh_find_set(mesh, "front faces"), &n[0], &face));
    free(face);
    CHECK_OK(hx_load_faces(mesh, hx_mesh_find_set(mesh, "more"), &n[1], &face));
    free(face);
    CHECK(n[0] == n[1] && n[0] > 0);
    CHECK_FAILS(hx_load_faces(mesh, hx_mesh_find_set(mesh, "only"), &n[0], &face), HX_EINPUT,
                "set 'inside' has 1 face, all of them between two elements");
}

/* A difference whose faces have only nodes of the subtracted set accepts loads on faces, but no
 * force at nodes. */
static void check_bare(const space_box *b)
{
    const hx_support_spec support = {
        "left", "test", HX_FIX_X | HX_FIX_Y | HX_FIX_Z, {0.0, 0.0, 0.0}};
    const hx_set *const set = hx_mesh_find_set(&b->mesh, "bare");
    hx_load_spec load = {"bare", "here", HX_LOAD_PRESSURE, {1.0}, 1};
    hx_spring_spec spring = {"bare", "here", {1.0, 1.0, 1.0}, HX_SPRING_AREA};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    double sum = 0.0;
    CHECK(set && set->n_node == 0 && set->n_face > 0);
    params.support = &support, params.n_support = 1;
    params.load = &load, params.n_load = 1;
    params.spring = &spring, params.n_spring = 1;
    params.space = &b->space;
    CHECK_OK(hx_problem_create(&problem, &b->mesh, &params));
    for (int64_t a = 0; a < b->space.n_point; a++) sum += problem.cases.force[0][3 * a + 2];
    CHECK_REL(sum, -3.0, 1e-13);
    hx_problem_free(&problem);
    spring.per = HX_SPRING_NODE;
    CHECK_FAILS(hx_problem_create(&problem, &b->mesh, &params), HX_EINPUT,
                "here: set 'bare' contains no node for the springs");
    spring.per = HX_SPRING_AREA;
    load.kind = HX_LOAD_NODE_FORCE;
    CHECK_FAILS(hx_problem_create(&problem, &b->mesh, &params), HX_EINPUT,
                "here: set 'bare' contains no node for the load");
    load.kind = HX_LOAD_REMOTE;
    CHECK_FAILS(hx_problem_create(&problem, &b->mesh, &params), HX_EINPUT,
                "here: set 'bare' contains no node for the load");
}

static void check_box(mixed_kind kind, hx_element element)
{
    const mixed_box box = {
        .kind = kind, .n = {3, 1, kind == MIXED_LAYERS ? 5 : 2}, .length = {3.0, 1.0, 2.0}};
    space_box b;
    memset(&b, 0, sizeof b);
    CHECK_OK(mixed_create(&b.mesh, &box));
    CHECK_OK(name_parts(&b.mesh, &box));
    CHECK_OK(add_inner_set(&b.mesh));
    CHECK_OK(hx_mesh_shuffle(&b.mesh, 3));
    CHECK_OK(hx_mesh_finish(&b.mesh));
    CHECK_OK(combine(&b.mesh));
    int32_t *const part = malloc((size_t)b.mesh.n_elem * sizeof *part);
    if (!part) abort();
    for (int64_t e = 0; e < b.mesh.n_elem; e++) part[e] = (int32_t)(e % 2);
    CHECK_OK(hx_mesh_part(&b.mesh, 2, part)); /* faces follow their elements */
    free(part);
    CHECK_OK(hx_space_create(&b.space, &b.mesh, element));
    check_lists(&b);
    check_acting(&b, "both", "front", "back");
    check_acting(&b, "both faces", "front faces", "back faces");
    check_acting(&b, "mixed", "front faces", "back");
    check_total(&b);
    if (kind == MIXED_HEXAHEDRA || kind == MIXED_WEDGES) check_bare(&b);
    check_inside(&b.mesh);
    space_box_free(&b);
}

int main(void)
{
    fixture_set_threads(1);
    for (int kind = 0; kind < MIXED_N_KIND; kind++)
        for (int element = 0; element < HX_ELEMENT_SPLINE; element++)
            check_box((mixed_kind)kind, (hx_element)element);
    TEST_END();
}
