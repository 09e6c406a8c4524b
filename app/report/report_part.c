/* The part of a run: the surface of `hextop surface`, coloured and with fewer triangles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../result/made_limits.h"
#include "../result/members.h"
#include "../result/round_faces.h"
#include "../result/surface_source.h"
#include "../text/log.h"
#include "core/base/clock.h"
#include "core/base/names.h"
#include "core/base/quantile.h"
#include "core/mesh/hex_jacobian.h"
#include "report_stress.h"

enum { N_SMOOTH = 10 }; /* as by default in `hextop surface` */

typedef struct maker {
    hx_report_run *run;
    hx_surface_source source;
    hx_surface_field field;
    hx_surface_smoothing smoothing;
    hx_surface_repairs repairs;
} maker;

/* --- fields --- */

/* node[n_node] := mean of the values of the surrounding elements, weighted by volume and `share`
 * (NULL: 1). Values and share have `per` entries for each element of the mesh. NAN if no weight is
 * positive. */
static int average(const hx_mesh *mesh, int64_t per, const double *value, const double *share,
                   float *node)
{
    double *sum = NULL, *weight = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&sum, (size_t)mesh->n_node, sizeof *sum, "nodal values"));
    HX_TRY_FAIL(hx_alloc(&weight, (size_t)mesh->n_node, sizeof *weight, "nodal values"));
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        hx_hex_map map;
        hx_hex_map_init(&map, mesh->xyz, mesh->conn + 8 * e);
        const double w = hx_hex_volume(&map) * (share ? share[e / per] : 1.0);
        if (!isfinite(value[e / per])) continue;
        for (int i = 0; i < 8; i++) {
            const int32_t a = mesh->conn[8 * e + i];
            sum[a] += w * value[e / per];
            weight[a] += w;
        }
    }
    for (int64_t a = 0; a < mesh->n_node; a++)
        node[a] = weight[a] > 0.0 ? (float)(sum[a] / weight[a]) : NAN;
fail:
    free(sum);
    free(weight);
    return rc;
}

/* Gives vertices without a value the mean of their neighbours that have one, in rounds. */
static int fill_gaps(const hx_surface *s, float *value)
{
    double *sum = NULL;
    int32_t *n = NULL;
    int rc;
    HX_TRY_FAIL(hx_alloc(&sum, (size_t)s->n_vertex, sizeof *sum, "values"));
    HX_TRY_FAIL(hx_alloc(&n, (size_t)s->n_vertex, sizeof *n, "values"));
    for (int left = 1, round = 0; left && round < 20; round++) {
        memset(sum, 0, (size_t)s->n_vertex * sizeof *sum);
        memset(n, 0, (size_t)s->n_vertex * sizeof *n);
        for (int64_t c = 0; c < 3 * s->n_tri; c++) {
            const int32_t v = s->tri[c], w = s->tri[c % 3 == 2 ? c - 2 : c + 1];
            if (isnan(value[w])) continue;
            sum[v] += (double)value[w];
            n[v]++;
        }
        left = 0;
        for (int64_t v = 0; v < s->n_vertex; v++) {
            if (!isnan(value[v])) continue;
            if (n[v] > 0)
                value[v] = (float)(sum[v] / n[v]);
            else
                left = 1;
        }
    }
    for (int64_t v = 0; v < s->n_vertex; v++)
        if (isnan(value[v])) value[v] = 0.0f;
fail:
    free(sum);
    free(n);
    return rc;
}

static int add_field(maker *m, const char *name, const char *label, const char *unit,
                     const double *elem, const double *share)
{
    hx_report_part *part = &m->run->part;
    const hx_mesh *const mesh = m->field.mesh; /* the mesh of the source, or a finer image */
    float *node = NULL;
    int rc;
    hx_report_field *f = &part->field[part->n_field];
    HX_TRY(hx_alloc(&f->value, (size_t)part->surface.n_vertex, sizeof *f->value, "colours"));
    part->n_field++;
    f->name = name;
    f->label = label;
    f->unit = unit;
    HX_TRY_FAIL(hx_alloc(&node, (size_t)mesh->n_node, sizeof *node, "nodal values"));
    HX_TRY_FAIL(average(mesh, mesh->n_elem / m->source.mesh->n_elem, elem, share, node));
    /* Takes for each vertex the nodal value just inside the surface. */
    for (int64_t v = 0; v < part->surface.n_vertex; v++) {
        const int32_t a = part->surface.edge[2 * v];
        f->value[v] = a >= 0 ? node[a] : NAN;
    }
    rc = fill_gaps(&part->surface, f->value);
fail:
    free(node);
    return rc;
}

/* Reduces values to the elements of source.mesh, which has no passive void. */
static void keep_part(const maker *m, double *value)
{
    const hx_surface_source *source = &m->source;
    if (source->mesh == &source->session.mesh) return;
    for (int64_t e = 0, at = 0; e < source->session.mesh.n_elem; e++)
        if (source->part.state[e] != HX_PART_VOID) value[at++] = value[e];
}

/* Adds the stresses, and the zones without limits as their mask. */
static int add_stress(maker *m)
{
    hx_report_run *const run = m->run;
    hx_report_stress_values stress = {0};
    int rc;
    HX_TRY_FAIL(hx_report_find_stress(run, &m->source, &stress));
    if (!stress.value) goto fail;
    keep_part(m, stress.value);
    HX_TRY_FAIL(add_field(m, "stress", stress.label, run->units.stress, stress.value,
                          stress.is_of_surface ? NULL : m->source.rho));
    if (!stress.zone) goto fail;
    keep_part(m, stress.zone);
    HX_TRY_FAIL(add_field(m, "zone", "", "", stress.zone, m->source.rho));
    run->part.field[run->part.n_field - 1].is_mask = 1;
fail:
    hx_report_stress_values_free(&stress);
    return rc;
}

/* --- the surface --- */

/* Opens the source with the config beside the result; if that fails, opens it without a config. */
static int open_source(maker *m)
{
    hx_report_run *run = m->run;
    char text[HX_PART_TEXT];
    const int rc = hx_surface_source_open(&m->source, run->result, NULL,
                                          HX_PRESERVE_USUAL | HX_PRESERVE_FIT, 0);
    if (rc == HX_OK && m->source.config && m->source.part.preserve != HX_PRESERVE_USUAL)
        hx_report_say(&run->missing,
                      "%s elements are not forced solid, because together they exceed the target "
                      "volume.",
                      m->source.part.preserve ? "Loaded" : "Loaded and passive");
    if (rc == HX_OK && hx_part_short_text(&m->source.part, run->result, text, sizeof text))
        hx_report_say(&run->missing, "%s", text);
    if (rc != HX_EINPUT || !m->source.config) return rc;
    hx_report_say(&run->missing, "The part is made from the densities only: %s",
                  hx_error_message());
    hx_error_clear();
    hx_surface_source_free(&m->source);
    run->part.is_alone = 1;
    return hx_surface_source_open(&m->source, run->result, "none", 0, 0);
}

/* Values outside the mask of the part, which sorted[n_vertex] gets in order. Returns their number.
 */
static size_t sort_values(const hx_report_part *part, const hx_report_field *field, double *sorted)
{
    const float *mask = NULL;
    size_t n = 0;
    for (size_t i = 0; i < part->n_field; i++)
        if (part->field[i].is_mask && strcmp(field->name, "stress") == 0)
            mask = part->field[i].value;
    for (int64_t v = 0; v < part->surface.n_vertex; v++)
        if (!mask || mask[v] <= 0.5f) sorted[n++] = (double)field->value[v];
    hx_sort_values(sorted, n);
    return n;
}

/* The colour scale ends at the value that only 0.5 % of the vertices exceed. Otherwise peaks at
 * single points, such as stresses at supports, would leave one colour for the rest. Stresses below
 * their bound, but not far below it, have a scale that ends there. */
static int find_range(const hx_report_part *part, hx_report_field *f)
{
    static const double far_below = 3.0;
    double *sorted = NULL;
    HX_TRY(hx_alloc(&sorted, (size_t)part->surface.n_vertex + 1, sizeof *sorted, "colours"));
    const size_t n = sort_values(part, f, sorted);
    f->most = n > 0 ? hx_quantile(sorted, n, 1.0) : 0.0;
    f->least = n > 0 ? hx_quantile(sorted, n, 0.0) : 0.0;
    f->high = n > 0 ? hx_quantile(sorted, n, 0.995) : 0.0;
    f->low = 0.0;
    const double bound = part->stress.bound;
    if (strcmp(f->name, "stress") == 0 && bound > f->high && bound <= far_below * f->high)
        f->high = bound;
    if (!(f->high > f->low)) f->high = f->most > f->low ? f->most : f->low + 1.0;
    if (f->is_mask || strcmp(f->name, "density") == 0) f->high = 1.0;
    f->is_cut = f->most > f->high * (1.0 + 1e-6);
    free(sorted);
    return HX_OK;
}

static int make_picture(maker *m, int64_t n_triangle)
{
    const double begin = hx_clock();
    HX_TRY(open_source(m));
    const double opened = hx_clock();
    hx_report_part *part = &m->run->part;
    hx_surface_source *source = &m->source;
    double volume;
    hx_surface_held held;
    HX_TRY(hx_surface_source_field(source, &m->field));
    HX_TRY(hx_part_check_target(&source->part, source->target));
    HX_TRY(hx_surface_threshold(&m->field, source->target, &part->threshold, &volume));
    HX_TRY(hx_members_repair(&m->field, &source->fine, source->mesh, source->rho, source->is_solid,
                             source->target, &part->threshold, &m->repairs, NULL));
    if (m->repairs.left.n > 0)
        hx_report_say(&m->run->warning, "The surface cuts %lld %s of the 0/1 design.",
                      (long long)m->repairs.left.n,
                      hx_noun((int64_t)m->repairs.left.n, "member", "members"));
    const double found = hx_clock();
    HX_TRY(hx_surface_extract(&part->surface, &m->field, part->threshold));
    const double extracted = hx_clock();
    HX_TRY(hx_surface_smooth(&part->surface, &m->field, N_SMOOTH, &m->smoothing));
    HX_TRY(hx_surface_finish(&part->surface, &m->field, hx_surface_source_sets(source), N_SMOOTH,
                             0.0, NULL));
    HX_TRY(hx_surface_hold_limits(&part->surface, source, &held));
    hx_log_detail("seconds    threshold %.3f, triangles %.3f, smoothing %.3f", found - begin,
                  extracted - found, hx_clock() - extracted);
    const double cut_out = hx_clock();
    HX_TRY(add_stress(m));
    HX_TRY(add_field(m, "density", "Density just inside the surface", "", m->source.rho, NULL));
    hx_surface_field_free(&m->field); /* checked before more memory is allocated */
    hx_surface_source_free(&m->source);
    const double coloured = hx_clock();
    float *value[HX_REPORT_MAX_FIELD];
    for (size_t i = 0; i < part->n_field; i++) value[i] = part->field[i].value;
    HX_TRY(
        hx_surface_simplify(&part->surface, n_triangle, part->n_field, value, &part->simplified));
    HX_TRY(
        /* number of pieces and holes do not depend on the precision */
        hx_surface_check(&part->surface, HX_SURFACE_F64, &part->shape));
    for (size_t i = 0; i < part->n_field; i++) HX_TRY(find_range(part, &part->field[i]));
    for (int d = 0; d < 3; d++) part->step[d] = (part->shape.max[d] - part->shape.min[d]) / 65535.0;
    hx_log_detail("seconds    mesh %.3f, surface %.3f, colours %.3f, fewer triangles %.3f",
                  opened - begin, cut_out - opened, coloured - cut_out, hx_clock() - coloured);
    return HX_OK;
}

int hx_report_make_part(hx_report_run *run, int64_t n_triangle)
{
    maker m;
    const double begin = hx_clock();
    if (!run->result) return HX_OK;
    memset(&m, 0, sizeof m);
    m.run = run;
    int rc = make_picture(&m, n_triangle);
    hx_surface_repairs_free(&m.repairs);
    hx_surface_field_free(&m.field);
    hx_surface_source_free(&m.source);
    if (rc == HX_OK) {
        run->part.is_there = 1;
        run->part.seconds = hx_clock() - begin;
    } else if (rc == HX_EINPUT || rc == HX_ENUMERIC) {
        hx_report_say(&run->missing, "The part is not shown: %s", hx_error_message());
        hx_error_clear();
        rc = HX_OK;
    }
    return rc;
}
