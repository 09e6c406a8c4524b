#include "part.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/design/black_white.h"
#include "core/mesh/load_faces.h"

/* Passive elements with at most, or at least, this density are forced void, or solid. */
static const double void_density = 0.1, solid_density = 0.9;

static const char *const words[] = {"loads", "supports", "passive", "none"};
enum { N_WORD = sizeof words / sizeof words[0] };

const char *hx_preserve_word(size_t i)
{
    return i < N_WORD ? words[i] : NULL;
}

int hx_preserve_read(const char *text, unsigned *preserve)
{
    static const unsigned flag[N_WORD] = {HX_PRESERVE_LOADS, HX_PRESERVE_SUPPORTS,
                                          HX_PRESERVE_PASSIVE, 0};
    char hint[128];
    int n = 0, with_none = 0;
    *preserve = 0;
    for (const char *c = text; c;) {
        char word[32];
        size_t i = 0;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(c, ","), c);
        while (i < N_WORD && strcmp(word, words[i]) != 0) i++;
        if (i == N_WORD)
            return HX_RAISE(HX_EINPUT, "--preserve: unknown '%s'%s", word,
                            hx_name_hint(word, words, N_WORD, hint, sizeof hint));
        *preserve |= flag[i];
        with_none |= flag[i] == 0;
        n++;
        c = strchr(c, ',');
        if (c) c++;
    }
    if (with_none && n > 1)
        return HX_RAISE(HX_EINPUT, "--preserve %s: 'none' excludes other words", text);
    return HX_OK;
}

/* --- elements behind a set --- */

enum { OF_SET = 1, COVERED = 2 };

static void keep_element(hx_result_part *part, const hx_mesh *mesh, int64_t e, uint8_t *node)
{
    part->is_kept[e] = 1;
    for (int i = 0; i < 8; i++) node[mesh->conn[8 * e + i]] |= COVERED;
}

/* Forces elements solid that own a face of the set, or that are in the set. */
static int keep_whole(hx_result_part *part, const hx_mesh *mesh, const hx_set *set, uint8_t *node)
{
    int64_t n_face, *face = NULL;
    HX_TRY(hx_load_faces(mesh, set, &n_face, &face));
    for (int64_t k = 0; k < n_face; k++) {
        keep_element(part, mesh, face[k] / 6, node);
        part->kept_face[face[k] / 6] |= (uint8_t)(1u << face[k] % 6);
    }
    free(face);
    for (int64_t e = 0; e < mesh->n_elem; e++) {
        int n_in = 0;
        for (int i = 0; i < 8; i++) n_in += node[mesh->conn[8 * e + i]] & OF_SET;
        if (n_in == 8) keep_element(part, mesh, e, node);
    }
    return HX_OK;
}

static int keep_set(hx_result_part *part, const hx_mesh *mesh, const hx_set *set)
{
    /* OF_SET: a node of the set; COVERED: a node of an element that is forced solid */
    uint8_t *node = NULL;
    HX_TRY(hx_alloc(&node, (size_t)mesh->n_node, 1, "preserved nodes"));
    for (int64_t k = 0; k < set->n_node; k++) node[set->node[k]] = OF_SET;
    const int rc = keep_whole(part, mesh, set, node);
    for (int64_t k = 0; rc == HX_OK && k < set->n_node; k++) {
        const int32_t a = set->node[k];
        for (int64_t i = mesh->node_elem_ptr[a];
             node[a] == OF_SET && i < mesh->node_elem_ptr[a + 1]; i++)
            part->is_kept[mesh->node_elem[i] / 8] = 1;
    }
    free(node);
    return rc;
}

/* A name that the mesh does not have is ignored. */
static int keep_named(hx_result_part *part, const hx_mesh *mesh, const char *name)
{
    const hx_set *set = name ? hx_mesh_find_set(mesh, name) : NULL;
    return set ? keep_set(part, mesh, set) : HX_OK;
}

/* Forces elements behind the file's supports or loads solid. load_case = 0: loads of any step.
 * is_driven = 1: only where the value is not 0. */
static int keep_values(hx_result_part *part, const hx_mesh *mesh, int64_t n,
                       const hx_file_value *value, int load_case, int is_driven)
{
    hx_set set = {0};
    HX_TRY(hx_conditions_nodes(mesh, n, value, &set.node));
    for (int64_t k = 0; k < n; k++)
        if ((load_case == 0 || value[k].load_case == load_case) &&
            (!is_driven || value[k].value != 0.0))
            set.node[set.n_node++] = set.node[k];
    const int rc = keep_set(part, mesh, &set);
    free(set.node);
    return rc;
}

static int keep_loads(hx_result_part *part, const hx_session *s)
{
    const hx_mesh *mesh = &s->mesh;
    const hx_config_load *load = s->cfg.loads.entry;
    for (size_t i = 0; i < s->cfg.loads.n; i++) {
        /* a file with a single step has that step for every case */
        const int step = s->conditions.n_case > 1 ? load[i].load_case : 0;
        HX_TRY(keep_named(part, mesh, load[i].set));
        if (!load[i].from) continue;
        HX_TRY(keep_values(part, mesh, s->conditions.n_force, s->conditions.force, step, 0));
        for (int64_t k = 0; k < s->conditions.n_load; k++)
            if (step == 0 || s->conditions.load[k].load_case == step)
                HX_TRY(keep_named(part, mesh, s->conditions.load[k].set));
    }
    return HX_OK;
}

/* 1 if every load case has an entry in loads. */
static int all_cases_have_loads(const hx_session *s)
{
    const hx_config_load *const load = s->cfg.loads.entry;
    int all = 1;
    for (int c = 1; c <= s->problem.cases.n; c++) {
        int any = 0;
        for (size_t i = 0; i < s->cfg.loads.n; i++) any |= load[i].load_case == c;
        all &= any;
    }
    return all;
}

int hx_part_is_driven_by(const hx_session *s, const hx_config_support *support)
{
    int any = 0;
    if (!support->set) return 0;
    if (hx_config_is_heat(&s->cfg))
        return support->temperature != s->problem.reference && !all_cases_have_loads(s);
    for (int i = 0; i < 3; i++) any |= support->value[i] != 0.0;
    return any;
}

static int is_driven_rigid(const hx_file_rigid *rigid)
{
    int any = 0;
    for (int i = 0; i < 6; i++) any |= (rigid->held >> i & 1u) && rigid->value[i] != 0.0;
    return any;
}

int hx_part_is_driven_by_file(const hx_session *s)
{
    const hx_config_support *const support = s->cfg.supports.entry;
    const hx_conditions *const c = &s->conditions;
    int by_file = 0, any = 0;
    for (size_t i = 0; i < s->cfg.supports.n; i++) by_file |= support[i].from != NULL;
    for (int64_t k = 0; by_file && k < c->n_support; k++) any |= c->support[k].value != 0.0;
    for (int64_t k = 0; by_file && k < c->n_rigid; k++) any |= is_driven_rigid(&c->rigid[k]);
    return any;
}

/* Supports that drive the part count as loads. */
static int keep_driven(hx_result_part *part, const hx_session *s)
{
    const hx_mesh *const mesh = &s->mesh;
    const hx_config_support *const support = s->cfg.supports.entry;
    const hx_conditions *const c = &s->conditions;
    for (size_t i = 0; i < s->cfg.supports.n; i++)
        if (hx_part_is_driven_by(s, &support[i])) HX_TRY(keep_named(part, mesh, support[i].set));
    if (!hx_part_is_driven_by_file(s)) return HX_OK;
    HX_TRY(keep_values(part, mesh, c->n_support, c->support, 0, 1));
    for (int64_t k = 0; k < c->n_rigid; k++)
        if (is_driven_rigid(&c->rigid[k])) HX_TRY(keep_named(part, mesh, c->rigid[k].set));
    return HX_OK;
}

static int keep_supports(hx_result_part *part, const hx_session *s)
{
    const hx_mesh *mesh = &s->mesh;
    const hx_config_support *support = s->cfg.supports.entry;
    const hx_config_spring *spring = s->cfg.springs.entry;
    for (size_t i = 0; i < s->cfg.supports.n; i++) {
        HX_TRY(keep_named(part, mesh, support[i].set));
        if (!support[i].from) continue;
        HX_TRY(keep_values(part, mesh, s->conditions.n_support, s->conditions.support, 0, 0));
        for (int64_t k = 0; k < s->conditions.n_rigid; k++)
            if (s->conditions.rigid[k].held)
                HX_TRY(keep_named(part, mesh, s->conditions.rigid[k].set));
    }
    for (size_t i = 0; i < s->cfg.springs.n; i++) HX_TRY(keep_named(part, mesh, spring[i].set));
    return HX_OK;
}

/* --- the part --- */

/* 1 if a result that was written with a threshold lacks the element. */
static int is_absent(const hx_result_part *part, const hx_session *s, double density)
{
    return part->n_missing > 0 && density <= s->design.rho_min;
}

/* density = NULL: densities of a run that has not begun. Collective if the mesh is distributed. */
static int measure_result_part(hx_result_part *part, const hx_session *s, const double *density)
{
    const hx_problem *const problem = &s->problem;
    enum { VOID_MASS, MASS, FILL, THERE, OPEN, SOLID, N_SOLID, N_VOID, N };
    double sum[N] = {0.0};
    const hx_mesh_ownership *const w = problem->mesh->ownership;
    const int64_t begin = w ? w->first[w->reduce->rank] : 0;
    const int64_t end = w ? w->first[w->reduce->rank + 1] : problem->mesh->n_elem;
    for (int64_t e = begin; e < end; e++) {
        const double volume = problem->volume[e];
        const int is_solid = part->state[e] == HX_PART_SOLID,
                  is_void = part->state[e] == HX_PART_VOID;
        if (is_void) sum[VOID_MASS] += problem->passive.density[e] * volume;
        if (!is_void) sum[OPEN] += volume;
        if (!is_void && density) sum[MASS] += fmax(density[e], s->design.rho_min) * volume;
        if (is_solid || (!is_void && !(density && is_absent(part, s, density[e]))))
            sum[THERE] += volume;
        if (is_solid) sum[SOLID] += volume;
        if (is_solid && density) sum[FILL] += (1.0 - fmax(density[e], s->design.rho_min)) * volume;
        sum[N_SOLID] += is_solid;
        sum[N_VOID] += is_void;
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(problem->mesh), N, sum));
    part->n_solid = (int64_t)sum[N_SOLID];
    part->n_void = (int64_t)sum[N_VOID];
    part->solid_volume = sum[SOLID];
    part->open_volume = sum[OPEN];
    part->wanted = hx_session_volume_wanted(s) * problem->total_volume - sum[VOID_MASS];
    part->may_have_less = isnan(part->wanted) || hx_session_update(s)->is_upper_limit;
    part->mass = density ? sum[MASS] : part->wanted;
    part->target =
        part->n_missing > 0 && !isnan(part->wanted) ? fmin(part->wanted, sum[THERE]) : part->mass;
    /* No volume is prescribed, so what the forced elements gain is not taken from the others. */
    if (isnan(part->wanted)) part->target += sum[FILL];
    return HX_OK;
}

static int holds_forced(const hx_result_part *part, double target)
{
    return target >= part->solid_volume * (1.0 - 1e-9);
}

static int make_result_part(hx_result_part *part, const hx_session *s, const double *density,
                            int64_t n_missing, unsigned preserve)
{
    int rc;
    const int64_t n = s->mesh.n_elem;
    memset(part, 0, sizeof *part);
    part->n_missing = n_missing;
    part->preserve = preserve;
    HX_TRY_FAIL(hx_alloc(&part->state, (size_t)n, 1, "states of elements"));
    HX_TRY_FAIL(hx_alloc(&part->is_kept, (size_t)n, 1, "states of elements"));
    HX_TRY_FAIL(hx_alloc(&part->kept_face, (size_t)n, 1, "states of elements"));
    if (preserve & HX_PRESERVE_LOADS) HX_TRY_FAIL(keep_loads(part, s));
    if (preserve & HX_PRESERVE_LOADS) HX_TRY_FAIL(keep_driven(part, s));
    if (preserve & HX_PRESERVE_SUPPORTS) HX_TRY_FAIL(keep_supports(part, s));
    const int keep_passive = (preserve & HX_PRESERVE_PASSIVE) != 0;
    for (int64_t e = 0; e < n; e++) {
        const double passive =
            s->problem.passive.density ? s->problem.passive.density[e] : (double)NAN;
        if (passive <= void_density || (keep_passive && passive >= solid_density))
            part->is_kept[e] = 0; /* NaN: not passive */
        if (passive <= void_density)
            part->state[e] = HX_PART_VOID;
        else if (part->is_kept[e] || (keep_passive && passive >= solid_density))
            part->state[e] = HX_PART_SOLID;
    }
    HX_TRY_FAIL(measure_result_part(part, s, density));
    return HX_OK;
fail:
    hx_part_free(part);
    return rc;
}

int hx_part_create(hx_result_part *part, const hx_session *s, const double *density,
                   int64_t n_missing, unsigned preserve)
{
    unsigned kept = preserve & ~HX_PRESERVE_FIT;
    HX_TRY(make_result_part(part, s, density, n_missing, kept));
    while (preserve & HX_PRESERVE_FIT && kept && !holds_forced(part, part->target)) {
        hx_part_free(part);
        kept = kept == HX_PRESERVE_PASSIVE ? 0 : kept & HX_PRESERVE_PASSIVE;
        HX_TRY(make_result_part(part, s, density, n_missing, kept));
    }
    return HX_OK;
}

const char *hx_part_short_text(const hx_result_part *part, const char *result, char *text,
                               size_t n_text)
{
    static const double enough = 0.98;
    if (part->n_missing == 0 || part->may_have_less || part->target >= enough * part->wanted)
        return NULL;
    hx_fit(text, n_text,
           "%s has elements with a volume of %.4g, and the 0/1 design of this run has %.4g: it "
           "needs some of the %lld %s below output.threshold, which the file lacks; write "
           "the last design with a lower output.threshold such as 0.1, or none; --threshold "
           "takes what the file has",
           result, part->target, part->wanted, (long long)part->n_missing,
           hx_noun(part->n_missing, "element", "elements"));
    return text;
}

int hx_part_is_grown(const hx_result_part *part, const hx_space *space, const double *density,
                     double threshold, int64_t i)
{
    int64_t k;
    const int64_t end = hx_space_nodal_cells(space, i, &k);
    for (; k < end; k++)
        if (hx_part_is_dense(part, density, threshold, hx_space_nodal_cell(space, k))) return 1;
    return 0;
}

void hx_part_free(hx_result_part *part)
{
    free(part->state);
    free(part->is_kept);
    free(part->kept_face);
    memset(part, 0, sizeof *part);
}

/* 1 if the threshold decides on the element. */
static int is_open(const hx_result_part *part, const hx_session *s, const double *density,
                   int64_t e)
{
    return part->state[e] == HX_PART_FREE && !is_absent(part, s, density[e]);
}

static int threshold_of_free(const hx_result_part *part, const hx_session *s, const double *density,
                             int64_t n_free, double *threshold)
{
    int rc;
    double *volume = NULL, *rho = NULL;
    const double target = part->target - part->solid_volume;
    int64_t at = 0;
    HX_TRY_FAIL(hx_alloc_raw(&volume, (size_t)n_free, sizeof *volume, "volumes"));
    HX_TRY_FAIL(hx_alloc_raw(&rho, (size_t)n_free, sizeof *rho, "densities"));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) {
        if (!is_open(part, s, density, e)) continue;
        volume[at] = s->problem.volume[e];
        rho[at++] = density[e];
    }
    HX_TRY_FAIL(hx_threshold_of_volume(n_free, volume, rho, target, threshold));
    /* If even the densest free elements exceed the target, the threshold lies above them, and
     * only forced elements are solid. */
    if (part->n_solid > 0) {
        double taken = 0.0, largest = 0.0;
        for (int64_t i = 0; i < n_free; i++) {
            if (rho[i] >= *threshold) taken += volume[i];
            largest = fmax(largest, rho[i]);
        }
        if (taken - target > target) *threshold = nextafter(largest, HUGE_VAL);
    }
fail:
    free(volume);
    free(rho);
    return rc;
}

const char *hx_part_threshold_text(const hx_result_part *part)
{
    return isnan(part->wanted) && part->n_solid > 0
               ? "the threshold that keeps the volume of the elements that are not forced solid"
               : "the threshold that keeps the volume";
}

int hx_part_check_target(const hx_result_part *part, double target)
{
    if (holds_forced(part, target)) return HX_OK;
    /* Value of --preserve that forces fewer elements solid. */
    const int is_mixed = part->preserve & HX_PRESERVE_PASSIVE &&
                         part->preserve & (HX_PRESERVE_LOADS | HX_PRESERVE_SUPPORTS);
    return HX_RAISE(HX_EINPUT,
                    "the target volume is %g, and %lld %s forced solid (passive or loaded) %s %g: "
                    "give a --threshold, or force fewer by --preserve %s",
                    target, (long long)part->n_solid,
                    hx_noun(part->n_solid, "element that is", "elements that are"),
                    hx_noun(part->n_solid, "has", "have"), part->solid_volume,
                    is_mixed ? "passive" : "none");
}

int hx_part_threshold(const hx_result_part *part, const hx_session *s, const double *density,
                      double *threshold)
{
    int64_t n_open = 0;
    HX_TRY(hx_part_check_target(part, part->target));
    for (int64_t e = 0; e < s->mesh.n_elem; e++) n_open += is_open(part, s, density, e);
    *threshold = 1.0; /* if the threshold decides on no element */
    return n_open > 0 ? threshold_of_free(part, s, density, n_open, threshold) : HX_OK;
}
