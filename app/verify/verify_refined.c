/* The largest stresses of the surface again on finer tetrahedra: about each place, its tetrahedra
 * are split into eight, twice, with the displacements of the whole part where they were cut out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/clock.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/vec3.h"
#include "core/design/stress_limit.h"
#include "local_patch.h"
#include "verify.h"

/* Radius of a patch in longest edges at its node, and the share of it in which its stresses count,
 * away from where it was cut out. */
static const double radius_in_edges = 2.5, inner = 0.5;

/* Places beside the largest one whose stress is at least this share of it are looked at, too. */
static const double close_by = 0.8;

/* A stress that a split raises by this factor twice grows without bound as at an edge that turns
 * inwards by 30 degrees or more; one that the second split changes by less than this share has
 * nearly converged. */
static const double grows = 1.19, converged = 0.05;

/* --- one place --- */

typedef struct look {
    hx_verify *v;
    const hx_verify_solved *of;
    const hx_solver_params params;
} look;

static double distance_of(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return hx_norm3(d);
}

static double longest_edge(const hx_mesh *mesh, int64_t node)
{
    double most = 0.0;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        for (int a = 0; a < 8; a++) {
            const int64_t other = mesh->conn[8 * (int64_t)(mesh->node_elem[k] / 8) + a];
            most = fmax(most, distance_of(mesh->xyz + 3 * node, mesh->xyz + 3 * other));
        }
    return most;
}

/* The node with the largest stress among the tetrahedra that count, within a distance of x. -1:
 * none is there. */
static int find_peak(const hx_patch *p, const hx_stress *way, const uint8_t *counts,
                     const double x[3], double distance, int64_t *node, double *value)
{
    hx_smooth_stress smooth;
    *node = -1;
    HX_TRY(hx_smooth_stress_create(&smooth, way, p->modulus, p->u, counts));
    for (int64_t a = 0; a < p->mesh.n_node; a++) {
        if (!(smooth.volume[a] > 0.0) || (*node >= 0 && !(smooth.value[a] > *value))) continue;
        if (!(distance_of(p->mesh.xyz + 3 * a, x) <= distance)) continue;
        *node = a;
        *value = smooth.value[a];
    }
    hx_smooth_stress_free(&smooth);
    return HX_OK;
}

/* counts[n_elem of the patch] := that of the whole part's tetrahedra. */
static void take_counts(const hx_patch *p, const uint8_t *whole, uint8_t *counts)
{
    for (int64_t e = 0; e < p->mesh.n_elem; e++) counts[e] = whole[p->root[e]];
}

/* Raises limits on stresses to those of a patch. */
static int raise_limits(look *l, const hx_patch *p, const hx_stress *way, int load_case,
                        const double x[3], double distance, uint8_t *counts)
{
    hx_verify *const v = l->v;
    uint8_t *whole;
    int rc = HX_OK;
    HX_TRY(hx_alloc(&whole, (size_t)v->surface.part.mesh.n_elem, 1, "elements of a limit"));
    for (int i = 0; i < v->session.limits.n && rc == HX_OK; i++) {
        const hx_constraint_spec *const spec = &v->session.limits.spec[i];
        int64_t node;
        double value;
        if (spec->kind != &hx_response_stress || !hx_stress_limit_has(&spec->params, load_case))
            continue;
        rc = hx_verify_mark_counted(v, l->of->is_zone, spec->params.set, l->of->elem, whole);
        take_counts(p, whole, counts);
        if (rc == HX_OK) rc = find_peak(p, way, counts, x, distance, &node, &value);
        double *const limit = &v->surface.refined.limit[i];
        if (rc == HX_OK && node >= 0 && !(*limit >= value)) *limit = value;
    }
    free(whole);
    return rc;
}

/* Splits about a node of the source, and finds the largest stress there. *node: in, that node; out,
 * that of the largest stress in the patch, -1: there is no patch. */
static int split_once(look *l, const hx_patch_source *from, int load_case, int64_t *node,
                      double radius, int is_first, hx_patch *p, double *value)
{
    uint8_t *counts = NULL, *outside = NULL;
    const int64_t n_tet = l->v->surface.part.mesh.n_elem;
    hx_stress way;
    double x[3];
    int rc;
    memcpy(x, from->space->mesh->xyz + 3 * *node, sizeof x);
    HX_TRY_FAIL(hx_patch_create(p, from, *node, radius));
    *node = -1;
    if (p->mesh.n_elem == 0) goto fail;
    HX_TRY_FAIL(hx_patch_solve(p, l->of->problem, load_case, l->of->device, &l->params));
    HX_TRY_FAIL(hx_alloc(&counts, (size_t)p->mesh.n_elem, 1, "patch"));
    HX_TRY_FAIL(hx_alloc(&outside, (size_t)n_tet, 1, "patch"));
    for (int64_t t = 0; t < n_tet; t++) outside[t] = !l->of->is_zone[t];
    take_counts(p, outside, counts);
    hx_stress_create(&way, &p->problem);
    hx_stress_select(&way, 0);
    HX_TRY_FAIL(find_peak(p, &way, counts, x, inner * radius, node, value));
    if (is_first) HX_TRY_FAIL(raise_limits(l, p, &way, load_case, x, inner * radius, counts));
fail:
    free(counts);
    free(outside);
    return rc;
}

static int look_at(look *l, int64_t node, hx_verify_place *place)
{
    const hx_mesh *const mesh = l->of->problem->mesh;
    const double radius = radius_in_edges * longest_edge(mesh, node);
    hx_patch patch[2] = {0};
    hx_patch_source from = {&l->of->problem->space, l->of->u, NULL, NULL};
    uint8_t *is_held = NULL;
    int rc;
    memcpy(place->point, mesh->xyz + 3 * node, sizeof place->point);
    HX_TRY_FAIL(hx_patch_find_held(l->of->problem, place->load_case - 1, &is_held));
    from.is_held = is_held;
    for (int k = 0; k < 2; k++) {
        HX_TRY_FAIL(split_once(l, &from, place->load_case - 1, &node, ldexp(radius, -k), k == 0,
                               &patch[k], &place->value[k + 1]));
        if (node < 0) break;
        place->n_split = k + 1;
        place->n_tet += patch[k].mesh.n_elem;
        memcpy(place->point, patch[k].mesh.xyz + 3 * node, sizeof place->point);
        from = hx_patch_as_source(&patch[k]);
    }
fail:
    free(is_held);
    hx_patch_free(&patch[0]);
    hx_patch_free(&patch[1]);
    return rc;
}

/* --- the places --- */

/* The node with the largest stress outside the zones that is in no place so far; -1: none. */
static int64_t next_node(const hx_verify_samples *s, const hx_mesh *mesh,
                         const hx_verify_refined *r)
{
    int64_t best = -1;
    for (int64_t a = 0; a < s->n; a++) {
        int is_known = s->is_zone[a] || !(s->volume[a] > 0.0);
        if (is_known || (best >= 0 && !(s->value[a] > s->value[best]))) continue;
        for (int i = 0; i < r->n; i++)
            is_known |= distance_of(mesh->xyz + 3 * a, r->place[i].from) <= r->place[i].radius;
        if (!is_known) best = a;
    }
    return best;
}

/* Takes a place, and looks at it. A solve that does not converge leaves it as it is. */
static int add_place(look *l, const hx_verify_samples *samples, int64_t node,
                     int (*read)(void *, int), void *context)
{
    const hx_mesh *const mesh = l->of->problem->mesh;
    hx_verify_refined *const r = &l->v->surface.refined;
    hx_verify_place *const place = &r->place[r->n++];
    memset(place, 0, sizeof *place);
    place->load_case = samples->load_case[node];
    place->value[0] = samples->value[node];
    place->radius = radius_in_edges * longest_edge(mesh, node);
    memcpy(place->from, mesh->xyz + 3 * node, sizeof place->from);
    HX_TRY(read(context, place->load_case - 1));
    const int rc = look_at(l, node, place);
    if (rc == HX_ENUMERIC) hx_error_clear();
    return rc == HX_ENUMERIC ? HX_OK : rc;
}

int hx_verify_refine_stresses(hx_verify *v, const hx_verify_solved *of,
                              const hx_verify_samples *samples, int (*read)(void *, int),
                              void *context)
{
    hx_verify_refined *const r = &v->surface.refined;
    look l = {v, of, hx_verify_solver_params(v)};
    const double begin = hx_clock(), least = close_by * v->surface.analysis.stresses.outside.value;
    if (isnan(hx_verify_strength(v))) return HX_OK; /* nothing to judge */
    HX_TRY(hx_alloc(&r->limit, (size_t)v->session.limits.n + 1, sizeof *r->limit, "limits"));
    for (int i = 0; i < v->session.limits.n; i++) r->limit[i] = (double)NAN;
    while (r->n < HX_VERIFY_PLACES) {
        const int64_t node = next_node(samples, of->problem->mesh, r);
        if (node < 0 || !(samples->value[node] >= least)) break;
        HX_TRY(add_place(&l, samples, node, read, context));
    }
    r->seconds = hx_clock() - begin;
    return HX_OK;
}

/* --- report --- */

/* What the values of a place say. */
static const char *finding(const hx_verify_place *p)
{
    const double *const s = p->value;
    if (p->n_split == 0) return "not split: a load or support acts there";
    if (p->n_split < 2) return "";
    if (s[1] > grows * s[0] && s[2] > grows * s[1])
        return "grows with every split: a sharp notch of the surface";
    return fabs(s[2] - s[1]) <= converged * s[1] ? "changes little" : "changes with the mesh";
}

void hx_verify_print_refined(const hx_verify *v)
{
    const hx_verify_refined *const r = &v->surface.refined;
    const int n_case = v->session.problem.cases.n;
    hx_table table;
    if (r->n == 0 || hx_log_get_level() < HX_LOG_NORMAL) return;
    hx_log_info("\nlargest stresses of the surface on finer tetrahedra about them%s%s, %.3g s",
                v->session.cfg.units.stress[0] ? "," : "", v->session.cfg.units.stress, r->seconds);
    hx_table_begin(&table, "lrrrl");
    hx_table_add(&table, "at%s", n_case > 1 ? ", case" : "");
    hx_table_add(&table, "%s", "as above");
    hx_table_add(&table, "%s", "split once");
    hx_table_add(&table, "%s", "twice");
    hx_table_add(&table, "%s", "");
    for (int i = 0; i < r->n; i++) {
        const hx_verify_place *const p = &r->place[i];
        if (n_case > 1)
            hx_table_add(&table, "%.4g, %.4g, %.4g, %d", p->from[0], p->from[1], p->from[2],
                         p->load_case);
        else
            hx_table_add(&table, "%.4g, %.4g, %.4g", p->from[0], p->from[1], p->from[2]);
        for (int k = 0; k < 3; k++)
            if (k <= p->n_split)
                hx_table_add(&table, "%.6g", p->value[k]);
            else
                hx_table_add(&table, "%s", "");
        hx_table_add(&table, "%s", finding(p));
    }
    hx_table_end(&table, 2);
}

/* The first limit on stresses that is met on the surface, and not on split tetrahedra; -1: none. */
static int find_doubtful(const hx_verify *v)
{
    for (int i = 0; v->surface.refined.limit && i < v->session.limits.n; i++) {
        const double most = v->session.limits.spec[i].max * (1.0 + 0.01 * v->limit_tolerance);
        if (v->surface.analysis.limit[i] <= most && v->surface.refined.limit[i] > most) return i;
    }
    return -1;
}

const char *hx_verify_warn_refined(const hx_verify *v, char *text, size_t n_text)
{
    const hx_units *const u = &v->session.cfg.units;
    const int i = find_doubtful(v);
    text[0] = '\0';
    if (i < 0) return text;
    hx_fit(
        text, n_text,
        "limit '%s' is met on this mesh of the surface, %.6g%s, but another mesh may show %.6g%s: "
        "that is the stress there on tetrahedra of half the size",
        v->session.limits.spec[i].name, v->surface.analysis.limit[i], u->stress,
        v->surface.refined.limit[i], u->stress);
    return text;
}

void hx_verify_write_refined(hx_json *json, const hx_verify *v)
{
    static const char *const key[3] = {"unsplit", "split_once", "split_twice"};
    const hx_verify_refined *const r = &v->surface.refined;
    if (r->n == 0) return;
    hx_json_open_array(json, "finer_places");
    for (int i = 0; i < r->n; i++) {
        const hx_verify_place *const p = &r->place[i];
        hx_json_open_object(json, NULL);
        hx_json_numbers(json, "point", 3, p->from);
        hx_json_integer(json, "case", p->load_case);
        hx_json_number(json, "radius", p->radius);
        for (int k = 0; k <= p->n_split; k++) hx_json_number(json, key[k], p->value[k]);
        hx_json_integer(json, "elements", p->n_tet);
        hx_json_close_object(json);
    }
    hx_json_close_array(json);
}
