/* The rigid motions that supports leave free, for parts of any slenderness. Supports that suffice
 * are accepted however long or thin the part is; others are refused. */
#include "tests/lib/fixture.h"

static hx_mesh mesh;
static hx_support_spec support[2];

/* Places of the box's corners, by bits of x, y and z. */
static const char *const corner[8] = {"c000", "c100", "c010", "c110",
                                      "c001", "c101", "c011", "c111"};
static const unsigned fix_all = HX_FIX_X | HX_FIX_Y | HX_FIX_Z;

/* Half an angle about (1, 2, 3) away from the axes. */
static void turn(double x[3])
{
    static const double w[3] = {0.2672612419124244, 0.5345224838248488, 0.8017837257372732};
    const double c = cos(0.7), s = sin(0.7), along = w[0] * x[0] + w[1] * x[1] + w[2] * x[2];
    const double y[3] = {x[0], x[1], x[2]};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        x[i] = c * y[i] + s * (w[j] * y[k] - w[k] * y[j]) + (1.0 - c) * along * w[i];
    }
}

/* The sets "left", "right", "edge" (x = y = 0), its corners, and "all". */
static void make(const int n[3], const double length[3], int is_turned)
{
    const fixture_box box = {{n[0], n[1], n[2]}, {length[0], length[1], length[2]}, 0.0, 0};
    int32_t *const node = malloc((size_t)(n[0] + 1) * (n[1] + 1) * (n[2] + 1) * sizeof *node);
    int64_t n_edge = 0;
    CHECK_OK(fixture_box_create(&mesh, &box));
    if (!node) return;
    for (int k = 0; k <= n[2]; k++) node[n_edge++] = fixture_node(&box, 0, 0, k);
    CHECK_OK(hx_mesh_add_node_set(&mesh, "edge", n_edge, node));
    for (int c = 0; c < 8; c++) {
        node[0] = fixture_node(&box, c & 1 ? n[0] : 0, c & 2 ? n[1] : 0, c & 4 ? n[2] : 0);
        CHECK_OK(hx_mesh_add_node_set(&mesh, corner[c], 1, node));
    }
    for (int64_t i = 0; i < mesh.n_node; i++) {
        node[i] = (int32_t)i;
        if (is_turned) turn(mesh.xyz + 3 * i);
        for (int d = 0; is_turned == 2 && d < 3; d++) /* written in single precision */
            mesh.xyz[3 * i + d] = (double)(float)mesh.xyz[3 * i + d];
    }
    CHECK_OK(hx_mesh_add_node_set(&mesh, "all", mesh.n_node, node));
    free(node);
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
}

/* The problem with one or two supports; NULL: it must be accepted. */
static void hold(const char *first, unsigned fix, const char *second, unsigned fix_second,
                 const char *refusal)
{
    const char *const loaded = strcmp(first, "right") == 0 ? "left" : "right";
    const hx_load_spec load = {loaded, "test", HX_LOAD_NODE_FORCE, {1.0, 2.0, 3.0}, 1};
    hx_problem_params params = fixture_problem();
    hx_problem problem;
    support[0] = (hx_support_spec){first, "test", fix, {0.0, 0.0, 0.0}};
    support[1] = (hx_support_spec){second, "test", fix_second, {0.0, 0.0, 0.0}};
    params.support = support;
    params.n_support = second ? 2 : 1;
    params.load = &load;
    params.n_load = 1;
    const int rc = hx_problem_create(&problem, &mesh, &params);
    const double *const l = mesh.box_max;
    CHECK_MSG(refusal ? rc == HX_EINPUT && strstr(hx_error_message(), refusal) : rc == HX_OK,
              "(%g, %g, %g), %s %u, %s %u: %s", l[0] - mesh.box_min[0], l[1] - mesh.box_min[1],
              l[2] - mesh.box_min[2], first, fix, second ? second : "", fix_second,
              rc < 0 ? hx_error_message() : "accepted");
    if (rc == HX_OK) hx_problem_free(&problem);
    hx_error_clear();
}

static void check_part(const int n[3], const double length[3], int is_turned)
{
    static const char about[] = "a rotation about an axis along ";
    make(n, length, is_turned);
    hold("left", fix_all, NULL, 0, NULL);
    hold("right", fix_all, NULL, 0, NULL);
    hold("edge", fix_all, "c010", HX_FIX_X, NULL);
    hold("edge", fix_all, "c100", fix_all, NULL);
    hold("edge", fix_all, "c010", fix_all, NULL);
    hold("edge", fix_all, NULL, 0, about);
    hold("c000", fix_all, "c111", fix_all, about);
    hold("c000", fix_all, "c100", fix_all, about);
    hold("c000", fix_all, "c010", fix_all, about);
    hold("c000", fix_all, NULL, 0, about);
    for (int i = 0; i < 3; i++) {
        const unsigned one = 1u << i;
        char text[64];
        snprintf(text, sizeof text, "a translation along %c", "xyz"[i]);
        hold("all", fix_all & ~one, NULL, 0, text);
        snprintf(text, sizeof text, "%s%c through", about, "xyz"[i]);
        hold("all", one, "c000", fix_all, text);
        hold("left", one, "right", one, "leave the model a rigid motion");
    }
    hx_mesh_free(&mesh);
}

/* A hinge of many nodes along a line, and one node beside it that holds the last rotation. */
static void check_many(void)
{
    static const int n[3] = {1, 1, 4000};
    static const double length[3] = {1.0, 1.0, 4000.0};
    make(n, length, 0);
    hold("edge", fix_all, NULL, 0, "a rotation about an axis along z");
    hold("edge", fix_all, "c010", HX_FIX_X, NULL);
    hold("edge", HX_FIX_X | HX_FIX_Y, "c010", HX_FIX_X, "a translation along z");
    hx_mesh_free(&mesh);
}

int main(void)
{
    static const double extent[] = {1.0, 1e3, 1e5, 1e7};
    static const int n[2][3] = {{2, 1, 1}, {3, 2, 2}};
    fixture_set_threads(1);
    for (int e = 0; e < 4; e++)
        for (int shape = 1; shape < 7; shape++) { /* rods and plates along each axis */
            double length[3];
            for (int d = 0; d < 3; d++) length[d] = shape >> d & 1 ? extent[e] : 1.0;
            for (int k = 0; k < 2; k++) check_part(n[k], length, 0);
            if (e < 2)
                for (int is_turned = 1; is_turned < 3; is_turned++)
                    check_part(n[1], length, is_turned);
        }
    check_many();
    TEST_END();
}
