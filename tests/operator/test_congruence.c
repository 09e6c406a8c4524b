/* Classes of congruent parallelepipeds (core/operator/congruence.h). */
#include "core/operator/congruence.h"

#include "core/mesh/hex8.h"
#include "tests/lib/fixture.h"

enum { MOST_THREADS = 3, NX = 12, NY = 5, NZ = 4, N_ELEM = NX * NY * NZ };

/* Half the edges of the elements of make_box. */
static const double unit[9] = {0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5};

/* A box of unit cubes; mesh->xyz may be changed before hx_mesh_finish. */
static void make_box(hx_mesh *mesh)
{
    const fixture_box box = {.n = {NX, NY, NZ}, .length = {NX, NY, NZ}};
    CHECK_OK(fixture_box_create(mesh, &box));
}

/* Half the first three edges of an element, which is dx_i / dxi_k of a parallelepiped. */
static void edges(const hx_mesh *mesh, int64_t elem, double j[9])
{
    static const int end[3] = {1, 3, 4};
    const int32_t *conn = mesh->conn + 8 * elem;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            j[3 * k + i] = 0.5 * (mesh->xyz[3 * (size_t)conn[end[k]] + i] -
                                  mesh->xyz[3 * (size_t)conn[0] + i]);
}

/* 1 if class k has these half edges. */
static int has_edges(const hx_congruence *c, int k, const double j[9], double tolerance)
{
    double difference = 0.0;
    for (int i = 0; i < 9; i++) test_worst(&difference, fabs(c->jacobian[k][i / 3][i % 3] - j[i]));
    return difference <= tolerance;
}

/* Members are counted, classes are in the order of their first members, members have the edges of
 * their class, and no two classes have equal edges. */
static void check_members(const hx_congruence *c, const hx_mesh *mesh)
{
    int64_t n_member[HX_MAX_CLASS] = {0}, wrong = 0;
    int n_met = 0;
    CHECK(c->n_class >= 0 && c->n_class <= HX_MAX_CLASS);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        const int k = c->elem_class[e];
        double j[9];
        if (k == -1) continue;
        wrong += k < 0 || k > n_met || k >= c->n_class;
        if (wrong > 0) break;
        n_met += k == n_met;
        n_member[k]++;
        edges(mesh, e, j);
        wrong += !has_edges(c, k, j, 2.0 * HX_CONGRUENCE_TOLERANCE * mesh->elem_size);
    }
    CHECK_MSG(wrong == 0 && n_met == c->n_class, "%lld wrong, %d classes of %d met",
              (long long)wrong, n_met, c->n_class);
    for (int k = 0; k < c->n_class; k++) {
        CHECK(c->n_member[k] == n_member[k]);
        double j[9];
        for (int i = 0; i < 9; i++) j[i] = c->jacobian[k][i / 3][i % 3];
        for (int l = 0; l < k; l++)
            CHECK(!has_edges(c, l, j, 0.1 * HX_CONGRUENCE_TOLERANCE * mesh->elem_size));
    }
}

/* The lists contain every element once, ascending within its class. */
static void check_list(const hx_congruence *c, int64_t n_elem)
{
    int32_t *elem;
    int64_t n_classed, place = 0, wrong = 0;
    CHECK_OK(hx_congruence_list(c, n_elem, &elem, &n_classed));
    for (int k = 0; k <= c->n_class; k++) {
        const int wanted = k < c->n_class ? k : -1;
        int32_t before = -1;
        if (k == c->n_class) CHECK(place == n_classed);
        while (place < n_elem + c->n_class && elem[place] >= 0) {
            wrong += elem[place] <= before || c->elem_class[elem[place]] != wanted;
            before = elem[place++];
        }
        if (k < c->n_class) place++; /* skip the separator */
    }
    CHECK_MSG(wrong == 0 && place == n_elem + c->n_class, "%lld wrong, %lld listed",
              (long long)wrong, (long long)place);
    free(elem);
}

/* Classifies a finished mesh; the result must not depend on the number of threads. */
static void classify(hx_congruence *c, const hx_mesh *mesh, int64_t smallest)
{
    fixture_set_threads(1);
    CHECK_OK(hx_congruence_create(c, mesh, smallest));
    check_members(c, mesh);
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        hx_congruence other;
        fixture_set_threads(threads);
        CHECK_OK(hx_congruence_create(&other, mesh, smallest));
        CHECK(other.n_class == c->n_class);
        CHECK(memcmp(other.elem_class, c->elem_class, (size_t)mesh->n_elem) == 0);
        CHECK(memcmp(other.jacobian, c->jacobian, sizeof c->jacobian) == 0);
        CHECK(memcmp(other.n_member, c->n_member, sizeof c->n_member) == 0);
        check_list(&other, mesh->n_elem);
        hx_congruence_free(&other);
    }
    fixture_set_threads(1);
    check_list(c, mesh->n_elem);
}

/* Number of elements without a class. */
static int64_t count_general(const hx_congruence *c, const hx_mesh *mesh)
{
    int64_t n = 0;
    for (int64_t e = 0; e < mesh->n_elem; e++) n += c->elem_class[e] == -1;
    return n;
}

/* There is one class with these half edges and this number of members. */
static void check_class(const hx_congruence *c, const double j[9], int64_t n_member)
{
    int found = 0;
    for (int k = 0; k < c->n_class; k++)
        found += has_edges(c, k, j, 1e-12) && c->n_member[k] == n_member;
    CHECK_MSG(found == 1, "%d classes of %lld", found, (long long)n_member);
}

static void test_one_class(fixture_order order)
{
    hx_mesh mesh;
    hx_congruence c;
    make_box(&mesh);
    CHECK_OK(fixture_finish(&mesh, order));
    classify(&c, &mesh, 1);
    CHECK(c.n_class == 1 && count_general(&c, &mesh) == 0);
    check_class(&c, unit, N_ELEM);
    hx_congruence_free(&c);
    classify(&c, &mesh, N_ELEM);
    CHECK(c.n_class == 1 && c.n_member[0] == N_ELEM);
    hx_congruence_free(&c);
    classify(&c, &mesh, N_ELEM + 1);
    CHECK(c.n_class == 0 && count_general(&c, &mesh) == N_ELEM);
    hx_congruence_free(&c);
    hx_congruence_free(&c); /* freeing a zeroed struct is allowed */
    hx_mesh_free(&mesh);
}

static void test_generated(void)
{
    const hx_generate_params params = {.nx = 20, .ny = 10, .nz = 10};
    hx_mesh mesh;
    hx_congruence c;
    CHECK_OK(hx_generate(hx_generator_find("cantilever"), &mesh, &params));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    classify(&c, &mesh, 128);
    CHECK(c.n_class == 1 && c.n_member[0] == 2000);
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

static void test_distorted(void)
{
    const fixture_box box = {.n = {NX, NY, NZ}, .length = {NX, NY, NZ}, .distort = 0.2, .bulge = 1};
    hx_mesh mesh;
    hx_congruence c;
    CHECK_OK(fixture_box_create(&mesh, &box));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    classify(&c, &mesh, 1);
    CHECK(c.n_class == 0 && count_general(&c, &mesh) == N_ELEM);
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

/* One third of the box is twice as long; then that third is too small for a class. */
static void test_two_sizes(void)
{
    const double longer[9] = {1.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5};
    const int64_t n_longer = N_ELEM / 3;
    hx_mesh mesh;
    hx_congruence c;
    make_box(&mesh);
    for (int64_t a = 0; a < mesh.n_node; a++) {
        double *x = mesh.xyz + 3 * a;
        if (x[0] > 8.0) x[0] = 8.0 + 2.0 * (x[0] - 8.0);
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_SHUFFLED));
    classify(&c, &mesh, n_longer);
    CHECK(c.n_class == 2 && count_general(&c, &mesh) == 0);
    check_class(&c, unit, N_ELEM - n_longer);
    check_class(&c, longer, n_longer);
    hx_congruence_free(&c);
    classify(&c, &mesh, n_longer + 1);
    CHECK(c.n_class == 1 && count_general(&c, &mesh) == n_longer);
    check_class(&c, unit, N_ELEM - n_longer);
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

/* An affine map preserves parallelepipeds of one class. */
static void test_sheared(void)
{
    static const double j[9] = {0.5, 0.1, -0.2, 0.25, 0.75, 0.05, -0.1, 0.15, 0.4};
    hx_mesh mesh;
    hx_congruence c;
    make_box(&mesh);
    for (int64_t a = 0; a < mesh.n_node; a++) {
        double *x = mesh.xyz + 3 * a, y[3];
        for (int i = 0; i < 3; i++) y[i] = 2.0 * (x[0] * j[i] + x[1] * j[3 + i] + x[2] * j[6 + i]);
        memcpy(x, y, sizeof y);
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    classify(&c, &mesh, 1);
    CHECK(c.n_class == 1);
    check_class(&c, j, N_ELEM);
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

/* The corners of every third cube are numbered in an order rotated about the t axis. */
static void test_turned(void)
{
    static const int turned[8] = {1, 2, 3, 0, 5, 6, 7, 4};
    const double other[9] = {0.0, 0.5, 0.0, -0.5, 0.0, 0.0, 0.0, 0.0, 0.5};
    hx_mesh mesh;
    hx_congruence c;
    make_box(&mesh);
    for (int64_t e = 0; e < mesh.n_elem; e += 3) {
        int32_t *conn = mesh.conn + 8 * e, old[8];
        memcpy(old, conn, sizeof old);
        for (int a = 0; a < 8; a++) conn[a] = old[turned[a]];
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    classify(&c, &mesh, 1);
    CHECK(c.n_class == 2 && count_general(&c, &mesh) == 0);
    check_class(&c, unit, N_ELEM - N_ELEM / 3);
    check_class(&c, other, N_ELEM / 3);
    CHECK(has_edges(&c, 0, other, 1e-15)); /* the class of the first element */
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

/* A row of layers along x, which take n_size different widths in turn. */
static void make_layers(hx_mesh *mesh, int n_layer, int n_size)
{
    const fixture_box box = {.n = {n_layer, 2, 2}, .length = {n_layer, 2.0, 2.0}};
    double *at = malloc(((size_t)n_layer + 1) * sizeof *at);
    CHECK_OK(fixture_box_create(mesh, &box));
    at[0] = 0.0;
    for (int i = 0; i < n_layer; i++) at[i + 1] = at[i] + 1.0 + 0.01 * (i % n_size);
    for (int64_t a = 0; a < mesh->n_node; a++) mesh->xyz[3 * a] = at[lround(mesh->xyz[3 * a])];
    free(at);
    CHECK_OK(fixture_finish(mesh, FIXTURE_IN_ORDER));
}

/* As many sizes as the maximum number of classes, and more: the first ones become classes. */
static void test_many_sizes(void)
{
    for (int more = 0; more <= 5; more += 5) {
        const int n_size = HX_MAX_CLASS + more;
        hx_mesh mesh;
        hx_congruence c;
        make_layers(&mesh, 2 * n_size, n_size);
        classify(&c, &mesh, 1);
        CHECK_MSG(c.n_class == HX_MAX_CLASS, "%d classes of %d", c.n_class, n_size);
        CHECK(count_general(&c, &mesh) == 8 * more);
        for (int k = 0; k < c.n_class; k++) {
            CHECK(c.n_member[k] == 8);
            CHECK_REL(c.jacobian[k][0][0], 0.5 * (1.0 + 0.01 * k), 1e-12);
        }
        hx_congruence_free(&c);
        hx_mesh_free(&mesh);
    }
}

/* Sizes that first occur far apart, and a last one that is too small for a class. */
static void test_sizes_far_apart(void)
{
    /* the last size has 200 layers of 4 elements */
    enum { N_LAYER = 1800, N_SIZE = 5, N_SAME = 400 };
    const fixture_order order[] = {FIXTURE_IN_ORDER, FIXTURE_SHUFFLED};
    for (int i = 0; i < 2; i++) {
        const fixture_box box = {.n = {N_LAYER, 2, 2}, .length = {N_LAYER, 2.0, 2.0}};
        hx_mesh mesh;
        hx_congruence c;
        CHECK_OK(fixture_box_create(&mesh, &box));
        for (int64_t a = 0; a < mesh.n_node; a++) {
            double *x = mesh.xyz + 3 * a;
            const double whole = floor(*x / N_SAME), rest = *x - whole * N_SAME;
            *x = N_SAME * (whole + 0.0625 * whole * (whole - 1.0)) + rest * (1.0 + 0.125 * whole);
        }
        CHECK_OK(fixture_finish(&mesh, order[i]));
        classify(&c, &mesh, 1000);
        CHECK_MSG(c.n_class == N_SIZE - 1, "%d classes", c.n_class);
        CHECK(count_general(&c, &mesh) == 800);
        for (int k = 0; k + 1 < N_SIZE; k++) {
            const double j[9] = {0.5 + 0.0625 * k, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5};
            check_class(&c, j, 4 * N_SAME);
        }
        hx_congruence_free(&c);
        CHECK(hx_congruence_share(&mesh) == 1.0);
        hx_mesh_free(&mesh);
    }
}

/* Fraction of the elements in classes, for a box with part of its nodes moved. */
static void test_share(void)
{
    for (int part = 0; part <= 4; part++) {
        const fixture_box box = {.n = {40, 20, 20}, .length = {40.0, 20.0, 20.0}};
        const double first = 10.0 * part + 0.5; /* nodes with larger x are moved */
        uint64_t state = 5;
        hx_mesh mesh;
        CHECK_OK(fixture_box_create(&mesh, &box));
        for (int64_t i = 0; i < 3 * mesh.n_node; i++) {
            const double move = fixture_uniform(&state, -0.1, 0.1);
            if (mesh.xyz[i / 3 * 3] > first || part == 0) mesh.xyz[i] += i % 3 > 0 ? move : 0.0;
        }
        CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
        const double share = hx_congruence_share(&mesh);
        CHECK_MSG(fabs(share - 0.25 * part) < 0.02, "%g of the elements, part %d", share, part);
        hx_mesh_free(&mesh);
    }
}

/* Number of members of the first class of a box of cubes, with its nodes moved at random by `noise`
 * and one half stretched by a factor 1 + stretch. */
static int64_t members_with_noise(double size, double noise, double stretch)
{
    uint64_t state = 99;
    hx_mesh mesh;
    hx_congruence c;
    make_box(&mesh);
    for (int64_t i = 0; i < 3 * mesh.n_node; i++) {
        double *x = &mesh.xyz[i];
        const double middle = NX / 2;
        if (i % 3 == 0 && *x > middle) *x = middle + (*x - middle) * (1.0 + stretch);
        *x = size * (*x + noise * fixture_uniform(&state, -1.0, 1.0));
    }
    CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
    classify(&c, &mesh, 2);
    const int64_t n = c.n_class == 0 ? 0 : c.n_member[0];
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
    return n;
}

static void test_tolerance(void)
{
    for (double size = 1e-6; size < 1e7; size *= 1e6) {
        CHECK(members_with_noise(size, 1e-14, 0.0) == N_ELEM);
        CHECK(members_with_noise(size, 1e-9, 0.0) == 0);
        CHECK(members_with_noise(size, 0.0, 1e-14) == N_ELEM);
        CHECK(members_with_noise(size, 0.0, 1e-9) == N_ELEM / 2);
    }
}

/* A cube deformed by one of the modes rs, rt, st, rst is not a parallelepiped. */
static void test_bent(void)
{
    for (int mode = 0; mode < 4; mode++) {
        const fixture_box box = {.n = {1, 1, 1}, .length = {1.0, 1.0, 1.0}};
        hx_mesh mesh;
        hx_congruence c;
        CHECK_OK(fixture_box_create(&mesh, &box));
        for (int a = 0; a < 8; a++) {
            const double r = hx_hex8_sign(a, 0), s = hx_hex8_sign(a, 1), t = hx_hex8_sign(a, 2);
            const double bend[4] = {r * s, r * t, s * t, r * s * t};
            mesh.xyz[3 * mesh.conn[a] + mode % 3] += 0.01 * bend[mode];
        }
        CHECK_OK(fixture_finish(&mesh, FIXTURE_IN_ORDER));
        classify(&c, &mesh, 1);
        CHECK_MSG(c.n_class == 0, "mode %d", mode);
        hx_congruence_free(&c);
        hx_mesh_free(&mesh);
    }
}

/* The rounding of coordinates far from the origin is below the tolerance. */
static void test_long_box(void)
{
    hx_mesh mesh;
    hx_congruence c;
    CHECK_OK(hx_generate_box(&mesh, 700, 1, 1, 700.0 / 3.0, 1.0 / 3.0, 0.7));
    CHECK_OK(fixture_finish(&mesh, FIXTURE_REORDERED));
    classify(&c, &mesh, 1);
    CHECK(c.n_class == 1 && c.n_member[0] == 700);
    hx_congruence_free(&c);
    hx_mesh_free(&mesh);
}

int main(void)
{
    test_one_class(FIXTURE_IN_ORDER);
    test_one_class(FIXTURE_SHUFFLED);
    test_one_class(FIXTURE_REORDERED);
    test_generated();
    test_distorted();
    test_two_sizes();
    test_sheared();
    test_turned();
    test_many_sizes();
    test_sizes_far_apart();
    test_share();
    test_tolerance();
    test_bent();
    test_long_box();
    TEST_END();
}
