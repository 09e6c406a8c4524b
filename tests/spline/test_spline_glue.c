/* Gluing of patches: sides found in all 48 orientations, numbering, errors; and the tables of the
 * analysis. */
#include <math.h>
#include <string.h>

#include "core/spline/spline_glue.h"
#include "core/spline/spline_rule.h"
#include "tests/lib/spline_box.h"
#include "tests/lib/test.h"

static const int degree[3] = {2, 3, 1}, n_span[3] = {3, 2, 2}, twice[3] = {1, 0, 0};
static const int plain[3] = {0, 0, 0};

/* Numbers and positions correspond one to one. */
static void check_numbers(const hx_spline *spline)
{
    double x[3000], worst = 0.0;
    CHECK(spline->n_point > 0 && spline->n_point <= 1000);
    hx_spline_points(spline, x);
    for (int k = 0; k < spline->n_patch; k++)
        for (int64_t i = 0; i < hx_spline_patch_points(&spline->patch[k]); i++)
            for (int c = 0; c < 3; c++)
                test_worst(&worst, fabs(x[3 * (int64_t)spline->patch[k].number[i] + c] -
                                        spline->patch[k].point[3 * i + c]));
    CHECK_ABS(worst, 0.0, 0.0);
    for (int64_t i = 0; i < spline->n_point; i++)
        for (int64_t j = 0; j < i; j++)
            CHECK(fabs(x[3 * i] - x[3 * j]) + fabs(x[3 * i + 1] - x[3 * j + 1]) +
                      fabs(x[3 * i + 2] - x[3 * j + 2]) >
                  1e-3);
}

/* Two boxes, of which the second or the first is rotated in every way: one common side, 5 x 2 x ...
 * points. */
static void test_orientations(void)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int way = 0; way < 96; way++) {
        const int flip[3] = {way & 1, way >> 1 & 1, way >> 2 & 1};
        hx_spline spline;
        int n_found = 0;
        CHECK(box_row(&spline, 2, degree, n_span, plain) == 0);
        CHECK(box_turn(&spline.patch[way < 48], order[way / 8 % 6], flip) == 0);
        CHECK_OK(hx_spline_find_interfaces(&spline, &n_found));
        CHECK(n_found == 1 && spline.n_interface == 1);
        CHECK_OK(hx_spline_glue(&spline));
        CHECK(spline.n_point == 9 * 5 * 3 && spline.n_cell == 24);
        CHECK(spline.patch[1].first_cell == 12);
        check_numbers(&spline);
        hx_spline_free(&spline);
    }
}

/* A ring of four boxes bent around z: glued at four sides, the last box to the first. */
static void test_ring(void)
{
    hx_spline spline;
    int n_found;
    CHECK(box_row(&spline, 4, degree, n_span, plain) == 0);
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < hx_spline_patch_points(&spline.patch[k]); i++) {
            double *const x = spline.patch[k].point + 3 * i;
            const double angle = 1.5707963267948966 * x[0], r = 2.0 - x[1];
            x[0] = r * cos(angle);
            x[1] = r * sin(angle);
        }
    CHECK_OK(hx_spline_find_interfaces(&spline, &n_found));
    CHECK(n_found == 4);
    CHECK_OK(hx_spline_find_interfaces(&spline, &n_found)); /* no more interfaces */
    CHECK(n_found == 0 && spline.n_interface == 4);
    CHECK_OK(hx_spline_glue(&spline));
    CHECK(spline.n_point == 4 * 4 * 5 * 3);
    hx_spline_free(&spline);
}

static void remake(hx_spline *spline)
{
    hx_spline_free(spline);
    CHECK(box_row(spline, 2, degree, n_span, twice) == 0);
    CHECK_OK(hx_spline_find_interfaces(spline, NULL));
}

static void test_refusals(void)
{
    hx_spline spline = {0};
    remake(&spline);
    CHECK_OK(hx_spline_glue(&spline));
    remake(&spline);
    spline.interface[0].b.patch = 2;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "refers to patch 3");
    spline.interface[0].b.patch = 1;
    spline.interface[0].b.side = 6;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "to side 7 of patch 2");
    remake(&spline);
    spline.interface[0].along[1] = 0;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "each must occur once");
    remake(&spline);
    spline.interface[0].flip[1] = 1;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "patch1:u+ and patch2:u- do not conform");
    CHECK(strstr(hx_error_message(), "control point 5 of patch 1") != NULL);
    remake(&spline);
    spline.interface[0].b = spline.interface[0].a;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "patch1:u+ is glued to itself");
    remake(&spline);
    spline.patch[1].point[1] += 1e-3;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "and 0 of patch 2 at (1, 0.001, 0)");
    remake(&spline);
    spline.patch[1].axis[1].knot[4] += 1e-3;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "0.501 along v");
    remake(&spline);
    CHECK_OK(hx_alloc(&spline.patch[1].weight, 1000, sizeof(double), "weights"));
    for (int i = 0; i < 1000; i++) spline.patch[1].weight[i] = 1.0;
    spline.patch[1].weight[6] = 2.0;
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "has weight 1 and 6 of patch 2 2");
    remake(&spline);
    for (int i = 0; i < spline.patch[1].axis[1].n; i++) /* the edge at the end, w- */
        memcpy(spline.patch[1].point + 3 * (6 * (i + 1) - 1), spline.patch[1].point + 15,
               3 * sizeof(double));
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "the edge of patch2:w- and u+ is a point");
    hx_spline_free(&spline);
}

/* A side in two interfaces; different degrees. */
static void test_more_refusals(void)
{
    hx_spline spline;
    CHECK(box_row(&spline, 3, degree, n_span, twice) == 0);
    CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
    CHECK(spline.n_interface == 2);
    spline.interface[1] = spline.interface[0];
    CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT, "patch1:u+ is in interfaces 1 and 2");
    hx_spline_free(&spline);
    for (int way = 0; way < 2; way++) {
        const int other_degree[3] = {2, way ? 3 : 2, 1}, other_span[3] = {3, way ? 3 : 2, 2};
        const double origin[3] = {1.0, 0.0, 0.0};
        CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
        for (int d = 0; d < 3; d++) hx_knots_free(&spline.patch[1].axis[d]);
        free(spline.patch[1].point);
        CHECK(box_patch(&spline.patch[1], other_degree, other_span, twice, origin) == 0);
        /* coincident, but with other functions */
        CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
        CHECK_FAILS(hx_spline_glue(&spline), HX_EINPUT,
                    way ? "5 control points along v and 6 along v"
                        : "degree 3 along v and 2 along v");
        hx_spline_free(&spline);
    }
}

/* Weights integrate to the volume: 1 = sum of w |J| with J of the map; sums of values and
 * derivatives. */
static void test_rule(void)
{
    hx_spline spline;
    hx_spline_rule rule;
    double worst = 0.0, volume = 0.0;
    CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
    CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
    CHECK_OK(hx_spline_glue(&spline));
    CHECK_OK(hx_spline_rule_make(&rule, &spline));
    CHECK(rule.n_cell == 24 && rule.n_patch == 2 && !rule.weight);
    CHECK(hx_spline_rule_find(rule.patch, rule.n_patch, 11) == 0);
    CHECK(hx_spline_rule_find(rule.patch, rule.n_patch, 12) == 1);
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < 3; d++) {
            const hx_spline_rule_patch *const patch = &rule.patch[k];
            const int p = patch->degree[d];
            double length = 0.0;
            for (int i = 0; i < patch->n_span[d] * (p + 1); i++) {
                const double *const row = rule.table + patch->at[d] + i * hx_spline_stride(p);
                double value = -1.0, slope = 0.0;
                for (int a = 0; a <= p; a++) {
                    value += row[1 + a];
                    slope += row[2 + p + a];
                }
                test_worst(&worst, fabs(value));
                test_worst(&worst, fabs(slope));
                length += row[0];
            }
            test_worst(&worst, fabs(length - 1.0));
            volume += length;
        }
    CHECK_ABS(worst, 0.0, 1e-13);
    CHECK_ABS(volume, 6.0, 1e-13);
    hx_spline_rule_free(&rule);
    hx_spline_free(&spline);
}

/* The numbers of a cell are those of the functions that are nonzero there. */
static void test_cells(void)
{
    hx_spline spline;
    CHECK(box_row(&spline, 2, degree, n_span, twice) == 0);
    CHECK_OK(hx_spline_find_interfaces(&spline, NULL));
    CHECK_OK(hx_spline_glue(&spline));
    for (int64_t cell = 0; cell < spline.n_cell; cell++) {
        int32_t number[125];
        int span[3];
        const hx_spline_patch *const patch = &spline.patch[cell >= 12];
        CHECK(hx_spline_cell_numbers(&spline, cell, number) == 3 * 4 * 2);
        hx_spline_patch_spans(patch, cell, span);
        const int64_t first = hx_spline_cell_first(patch, span);
        CHECK(number[0] == patch->number[first]);
        CHECK(number[23] ==
              patch->number[first + 2 + patch->axis[0].n * (3 + (int64_t)patch->axis[1].n)]);
    }
    hx_spline_free(&spline);
}

int main(void)
{
    test_orientations();
    test_ring();
    test_refusals();
    test_more_refusals();
    test_rule();
    test_cells();
    TEST_END();
}
