/* A mesh that is measured concurrently with the first design. Figures and warnings equal those of a
 * measurement made before it, come later, and come only once, also if nobody needs them or if the
 * measurement fails. */
#include <stdlib.h>
#include <string.h>

#include "app/diag/diag.h"
#include "app/session/session_internal.h"
#include "app/text/log.h"
#include "tests/lib/test.h"

static const hx_device_ops device = {.name = "elsewhere"};

/* Cubes with their first corner at corner[i]; corners at the same place share a node. */
static void make_cubes(hx_mesh *mesh, int n, const int corner[][3])
{
    static const int off[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    double *const xyz = calloc(24 * (size_t)n, sizeof *xyz);
    int32_t *const conn = calloc(8 * (size_t)n, sizeof *conn);
    int64_t n_node = 0;
    for (int e = 0; e < n; e++)
        for (int c = 0; c < 8; c++) {
            double x[3];
            int64_t a = 0;
            for (int d = 0; d < 3; d++) x[d] = corner[e][d] + off[c][d];
            while (a < n_node && memcmp(xyz + 3 * a, x, sizeof x) != 0) a++;
            if (a == n_node) memcpy(xyz + 3 * n_node++, x, sizeof x);
            conn[8 * e + c] = (int32_t)a;
        }
    CHECK_OK(hx_mesh_create(mesh, "cubes", n_node, xyz, n, conn));
}

/* Two cubes that share an edge, and a separate one: a hinge and two bodies. */
static void open_session(hx_session *s)
{
    static const int corner[3][3] = {{0, 0, 0}, {1, 1, 0}, {5, 0, 0}};
    memset(s, 0, sizeof *s);
    make_cubes(&s->mesh, 3, corner);
    CHECK_OK(hx_mesh_finish(&s->mesh));
    s->problem.mesh = &s->mesh;
    s->device.ops = &device;
}

static int64_t count(const hx_diags *diags, hx_diag_kind kind)
{
    int64_t n = 0;
    for (size_t i = 0; i < diags->n; i++) n += diags->entry[i].kind == kind;
    return n;
}

static void test_later(void)
{
    hx_session at_once, later;
    hx_diags before = {0}, after = {0};
    open_session(&at_once);
    open_session(&later);
    CHECK_OK(hx_diags_before(&before, &at_once));
    CHECK(count(&before, HX_DIAG_HINGES) == 1 && count(&before, HX_DIAG_BODIES) == 1);
    hx_session_measure_meanwhile(&later);
    CHECK(later.measuring.is_running);
    CHECK_OK(hx_diags_before(&after, &later));
    CHECK(count(&after, HX_DIAG_HINGES) == 0 && count(&after, HX_DIAG_BODIES) == 0);
    CHECK(!later.is_measured);
    for (int i = 0; i < 2; i++) { /* the second call does nothing */
        CHECK_OK(hx_diags_meanwhile(&after, &later));
        CHECK(later.is_measured && after.n == before.n);
        CHECK(count(&after, HX_DIAG_HINGES) == 1 && count(&after, HX_DIAG_BODIES) == 1);
    }
    CHECK(memcmp(&at_once.quality, &later.quality, sizeof later.quality) == 0);
    hx_session_measure_meanwhile(&later); /* it was */
    CHECK(!later.measuring.is_running);
    hx_diags_free(&before);
    hx_diags_free(&after);
    hx_mesh_free(&at_once.mesh);
    hx_mesh_free(&later.mesh);
}

/* Code that needs the quality of the mesh waits for it, such as the summary of a failed run. */
static void test_asked_for(void)
{
    hx_session s;
    open_session(&s);
    hx_session_measure_meanwhile(&s);
    CHECK_OK(hx_session_measure(&s));
    CHECK(s.is_measured && !s.measuring.is_running && s.quality.n_body == 2);
    s.is_measured = 0;
    hx_session_measure_meanwhile(&s);
    hx_session_end_measuring(&s); /* as when the session is freed */
    CHECK(!s.measuring.is_running);
    hx_mesh_free(&s.mesh);
}

static void test_failure(void)
{
    hx_session s;
    hx_diags diags = {0};
    open_session(&s);
    hx_mesh_free_lists(&s.mesh);
    hx_session_measure_meanwhile(&s);
    CHECK_FAILS(hx_diags_meanwhile(&diags, &s), HX_EINTERNAL, "unfinished");
    CHECK(!s.is_measured && !s.measuring.is_running && diags.n == 0);
    hx_diags_free(&diags);
    hx_mesh_free(&s.mesh);
}

int main(void)
{
    hx_log_set_printing(0);
    test_later();
    test_asked_for();
    test_failure();
    TEST_END();
}
