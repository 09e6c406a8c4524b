/* Finds passive void that cuts the part. If a load drives a rigid-body motion of a piece of the
 * part without void, and no support prevents that motion, only the stiffness of void carries the
 * load. Pieces are connected by the points of their cells: nodes, or control points of a spline. If
 * no such piece is cut off, pieces connected by faces are examined: one that is cut off then is
 * held by hinges only. If each rank has a part of the mesh, all ranks call the same functions and
 * reach the same verdict. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "attached.h"
#include "core/base/fit.h"
#include "core/base/memory.h"
#include "core/base/names.h"
#include "core/base/union_find.h"
#include "core/base/vec3.h"
#include "core/design/black_white.h"
#include "core/dist_mesh/dist_mesh.h"
#include "core/mesh/skin.h"
#include "core/problem/rigid_body.h"
#include "diag.h"

/* An element with at most this passive density counts as void. */
static const double most_void = 0.1;

typedef struct cut {
    const hx_session *s;
    uint8_t *is_there; /* [n_elem] 1: not void (owned), like the other arrays */
    int64_t n_body;
    /* [n_point] body of each point; rigid sets join pieces into one body; -1: void only, or, in a
     * distributed mesh, elements of other ranks only */
    int32_t *body_of;
    hx_rigid_body *body; /* [n_body] for heat, only n_fixed is set */
} cut;

/* How the cells of a piece are connected. */
typedef enum { BY_POINTS, BY_FACES } joint;

/* Effect of a load case on a body: its work on the six rigid-body motions, and the sum of the force
 * magnitudes. */
enum { SIZE = 6, N_PULL };
typedef double pull[N_PULL];

static void free_cut(cut *c)
{
    free(c->is_there);
    free(c->body_of);
    free(c->body);
    memset(c, 0, sizeof *c);
}

/* --- pieces --- */

/* Marks the elements of an entry of `passive` as void, or as not void. */
static int apply_entry(const cut *c, const hx_config_passive *entry)
{
    const hx_mesh *const mesh = &c->s->mesh;
    const hx_set *const set = hx_mesh_find_set(mesh, entry->set);
    const uint8_t is_there = !(entry->density <= most_void);
    uint8_t *flag = NULL;
    int64_t n;
    if (!set) return HX_OK;
    if (!(entry->skin > 0.0)) {
        for (int64_t k = 0; k < set->n_elem; k++) c->is_there[set->elem[k]] = is_there;
        return HX_OK;
    }
    HX_TRY(hx_alloc(&flag, (size_t)mesh->n_elem, 1, "elements of a skin"));
    const int rc = hx_skin_flag(mesh, set, entry->skin, flag, &n);
    for (int64_t e = 0; rc == HX_OK && e < mesh->n_elem; e++)
        if (flag[e]) c->is_there[e] = is_there;
    free(flag);
    return rc;
}

/* Applies the entries in order: later ones override earlier ones. */
static int find_pieces(cut *c, const uint8_t *without, joint by)
{
    const hx_config_passive *const passive = c->s->cfg.passive.entry;
    const hx_mesh *const mesh = &c->s->mesh;
    const hx_space *const space = &c->s->problem.space;
    HX_TRY(hx_alloc_raw(&c->is_there, (size_t)mesh->n_elem, 1, "pieces"));
    memset(c->is_there, 1, (size_t)mesh->n_elem);
    for (size_t i = 0; i < c->s->cfg.passive.n; i++)
        if (!without[i]) HX_TRY(apply_entry(c, &passive[i]));
    HX_TRY(hx_alloc_raw(&c->body_of, (size_t)space->n_point, sizeof *c->body_of, "pieces"));
    /* A node that several pieces share is assigned to one of them. For a whole mesh without
     * splines. */
    if (by == BY_FACES) {
        hx_pieces pieces;
        HX_TRY(
            hx_pieces_create(&pieces, mesh, c->is_there, c->s->problem.volume, HX_PIECES_BY_FACES));
        for (int64_t p = 0; p < space->n_point; p++) {
            const int64_t node = hx_space_near_node(space, p);
            c->body_of[p] = -1;
            for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
                if (pieces.of[mesh->node_elem[k] / 8] > c->body_of[p])
                    c->body_of[p] = pieces.of[mesh->node_elem[k] / 8];
        }
        c->n_body = pieces.n;
        hx_pieces_free(&pieces);
        return HX_OK;
    }
    return mesh->ownership
               ? hx_dist_mesh_pieces(mesh, c->s->comm, c->is_there, c->body_of, &c->n_body)
               : hx_space_bodies(space, c->is_there, c->body_of, &c->n_body);
}

static int join_rigid_sets(cut *c)
{
    const hx_rigid_sets *const rigid = &c->s->problem.rigid;
    int32_t *joined = NULL;
    if (rigid->n == 0) return HX_OK;
    HX_TRY(hx_alloc_raw(&joined, (size_t)c->n_body, sizeof *joined, "pieces"));
    for (int64_t i = 0; i < c->n_body; i++) joined[i] = (int32_t)i;
    for (int i = 0; i < rigid->n; i++) {
        const hx_rigid_set *const set = &rigid->set[i];
        int32_t first = -1;
        for (int64_t k = set->first; k < set->first + set->n; k++) {
            const int32_t piece = c->body_of[rigid->node[k]];
            if (piece < 0) continue;
            if (first < 0) first = hx_root(joined, piece);
            joined[hx_root(joined, piece)] = first;
        }
    }
    for (int64_t a = 0; a < c->s->problem.space.n_point; a++)
        if (c->body_of[a] >= 0) c->body_of[a] = hx_root(joined, c->body_of[a]);
    free(joined);
    return HX_OK;
}

static int hold(cut *c)
{
    const hx_problem *const p = &c->s->problem;
    HX_TRY(hx_alloc(&c->body, (size_t)c->n_body, sizeof *c->body, "pieces"));
    /* Prescribed temperatures and convection hold a piece. */
    if (hx_config_is_heat(&c->s->cfg)) {
        double *held = NULL;
        HX_TRY(hx_alloc(&held, (size_t)c->n_body, sizeof *held, "pieces"));
        for (int64_t a = 0; a < p->space.n_point; a++)
            if (p->supports.fixed[a] && c->body_of[a] >= 0 && hx_mesh_owns_node(p->mesh, a))
                held[c->body_of[a]] += 1.0;
        for (int64_t k = 0; k < p->films.n; k++)
            if (c->body_of[p->films.node[k]] >= 0) held[c->body_of[p->films.node[k]]] += 1.0;
        const int rc = hx_rigid_bodies_sum(p, c->n_body, 1, held);
        for (int64_t i = 0; i < c->n_body; i++) c->body[i].n_fixed = (int64_t)held[i];
        free(held);
        return rc;
    }
    HX_TRY(hx_rigid_bodies_measure(p, c->body_of, c->n_body, c->body));
    return hx_rigid_bodies_hold(p, c->body_of, c->n_body, c->body);
}

/* without[passive.n]: 1 for entries of `passive` that are left out. */
static int find_cut(cut *c, const hx_session *s, const uint8_t *without, joint by)
{
    int rc;
    memset(c, 0, sizeof *c);
    c->s = s;
    HX_TRY_FAIL(find_pieces(c, without, by));
    HX_TRY_FAIL(join_rigid_sets(c));
    HX_TRY_FAIL(hold(c));
    return HX_OK;
fail:
    free_cut(c);
    return rc;
}

/* --- loads --- */

/* The pieces that are cut off in a load case. */
typedef struct off {
    double share;   /* fraction of the force, or of the heat, on these pieces */
    int load_case;  /* 0-based */
    int64_t n_body; /* number of bodies that the load drives */
    int is_held;    /* 1: a support holds one of them, but not against the load */
    int is_moved;   /* 1: prescribed values move all bodies, and strain only void */
} off;

/* pulls[n_body] (zeroed by the caller) := effect of the forces that exceed `rounding`; *all: sum of
 * all magnitudes. Forces that act only on void are counted in *all; another warning reports
 * them. */
static int add_pulls(const cut *c, const double *force, double rounding, pull *pulls, double *all)
{
    const hx_problem *const p = &c->s->problem;
    *all = 0.0;
    for (int64_t a = 0; a < p->space.n_point; a++) {
        const double *const f = force + p->components * a;
        const double size = p->components == 3 ? hx_norm3(f) : fabs(f[0]);
        if (!(size > rounding) || !hx_mesh_owns_node(p->mesh, a)) continue;
        const int32_t body = c->body_of[a];
        *all += size;
        if (body < 0) continue;
        pulls[body][SIZE] += size;
        if (p->components == 3)
            hx_rigid_body_add_work(&c->body[body], p->space.xyz + 3 * a, f, pulls[body]);
    }
    HX_TRY(hx_reduce_sum(hx_mesh_reduce(p->mesh), 1, all));
    return hx_rigid_bodies_sum(p, c->n_body, N_PULL, (double *)pulls);
}

static int is_driven(const cut *c, int64_t body, const pull on)
{
    if (!(on[SIZE] > 0.0)) return 0;
    return hx_config_is_heat(&c->s->cfg) ? c->body[body].n_fixed == 0
                                         : hx_rigid_body_is_driven(&c->body[body], on, on[SIZE]);
}

static int measure_case(const cut *c, int load_case, const double *rho, double *force, off *found)
{
    pull *pulls = NULL;
    double all = 0.0;
    double rounding = hx_attached_rounding(c->s, load_case);
    int rc;
    *found = (off){.load_case = load_case};
    HX_TRY_FAIL(hx_reduce_max(hx_mesh_reduce(c->s->problem.mesh), 1, &rounding));
    HX_TRY_FAIL(hx_alloc(&pulls, (size_t)c->n_body, sizeof *pulls, "pieces"));
    HX_TRY_FAIL(hx_problem_nodal_force(&c->s->problem, load_case, rho, force));
    HX_TRY_FAIL(add_pulls(c, force, rounding, pulls, &all));
    for (int64_t i = 0; i < c->n_body && all > 0.0; i++) {
        if (!is_driven(c, i, pulls[i])) continue;
        found->share += pulls[i][SIZE] / all;
        found->n_body++;
        found->is_held |= c->body[i].n_fixed > 0;
    }
    found->share = fmin(found->share, 1.0);
fail:
    free(pulls);
    return rc;
}

/* Finds the worst load case, with some entries of `passive` left out. */
static int measure_cut(const hx_session *s, const uint8_t *without, joint by, off *worst)
{
    const hx_problem *const p = &s->problem;
    double *force = NULL, *rho = NULL;
    int rc;
    cut c;
    *worst = (off){0};
    HX_TRY(find_cut(&c, s, without, by));
    HX_TRY_FAIL(hx_alloc_raw(&force, (size_t)p->components * (size_t)p->space.n_point,
                             sizeof *force, "loads"));
    HX_TRY_FAIL(hx_session_first_density(s, &rho));
    for (int i = 0; i < p->cases.n; i++) {
        off found;
        HX_TRY_FAIL(measure_case(&c, i, rho, force, &found));
        if (found.share > worst->share) *worst = found;
    }
    if (by == BY_POINTS && !(worst->share > 0.0)) {
        HX_TRY_FAIL(hx_rigid_bodies_are_moved(p, c.body_of, c.n_body, c.body, &worst->is_moved));
        if (worst->is_moved) *worst = (off){.share = 1.0, .n_body = c.n_body, .is_moved = 1};
    }
    rc = HX_OK;
fail:
    free(force);
    free(rho);
    free_cut(&c);
    return rc;
}

/* --- the remedy --- */

/* Smallest fraction of the force that is reported. It is above 0 for hinges, because single
 * tetrahedra that a set leaves at an edge are also connected only by hinges. */
static double least_share(joint by)
{
    return by == BY_FACES ? 0.01 : hx_diag_table[HX_DIAG_VOID_CUTS].limit;
}

/* without[passive.n] := 1 for a minimal set of void entries; without these, nothing is cut off. If
 * even leaving out all void does not help, *helps = 0 and without[] marks all void. */
static int find_cutting(const hx_session *s, joint by, uint8_t *without, int *helps)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    const double limit = least_share(by);
    off worst;
    for (size_t i = 0; i < s->cfg.passive.n; i++) without[i] = passive[i].density <= most_void;
    HX_TRY(measure_cut(s, without, by, &worst));
    *helps = !(worst.share > limit);
    for (size_t i = 0; i < s->cfg.passive.n && *helps; i++) {
        off more;
        if (!without[i]) continue;
        without[i] = 0;
        HX_TRY(measure_cut(s, without, by, &more));
        without[i] = more.share > limit;
    }
    return HX_OK;
}

/* The last entry is handled first, because removing an entry renumbers those after it. */
static void print_remedy(const hx_session *s, const uint8_t *without, char *text, size_t n_text)
{
    size_t used = hx_fit(text, n_text, "`"), n = 0, n_all = s->cfg.passive.n;
    for (size_t i = n_all; i-- > 0 && used < n_text;) {
        if (!without[i]) continue;
        used += hx_fit(text + used, n_text - used, "%spassive[%zu]=", n ? " " : "", i);
        n++;
    }
    if (n == n_all || used + 64 > n_text)
        hx_fit(text, n_text, "`passive=` removes all passive regions");
    else
        hx_fit(text + used, n_text - used, "` removes the void there");
}

int hx_diag_void_remedy(const hx_session *s, const uint8_t *at_elem, char *text, size_t n_text)
{
    uint8_t *without = NULL;
    cut c = {.s = s};
    int rc;
    HX_TRY_FAIL(hx_alloc(&without, s->cfg.passive.n, 1, "passive regions"));
    HX_TRY_FAIL(hx_alloc_raw(&c.is_there, (size_t)s->mesh.n_elem, 1, "passive elements"));
    /* without[i] := 1 for void entries with an element of at_elem[n_elem]. Collective. */
    const hx_config_passive *const passive = s->cfg.passive.entry;
    const hx_mesh *const mesh = &s->mesh;
    for (size_t i = 0; i < s->cfg.passive.n; i++) {
        int64_t n = 0;
        if (!(passive[i].density <= most_void)) continue;
        memset(c.is_there, 1, (size_t)mesh->n_elem);
        HX_TRY_FAIL(apply_entry(&c, &passive[i]));
        for (int64_t e = 0; e < mesh->n_elem; e++) n += !c.is_there[e] && at_elem[e];
        HX_TRY_FAIL(hx_mesh_count_all(mesh, n, &n));
        without[i] = n > 0;
    }
    print_remedy(s, without, text, n_text);
fail:
    free(without);
    free_cut(&c);
    return rc;
}

static void warn_hinge(hx_diags *diags, const hx_session *s, const off *worst, const char *remedy)
{
    hx_diags_advise(diags, HX_DIAG_VOID_CUTS, worst->share, remedy,
                    "passive void leaves hinges: %.3g %% of the %s of load case %d acts on %lld "
                    "%s joined to the rest by edges or points only, without a common face",
                    100.0 * worst->share, hx_config_is_heat(&s->cfg) ? "heat" : "force",
                    worst->load_case + 1, (long long)worst->n_body,
                    worst->n_body == 1 ? "piece that is" : "pieces that are");
}

static void warn_of_void(hx_diags *diags, const hx_session *s, const off *worst, const char *remedy)
{
    const int is_heat = hx_config_is_heat(&s->cfg), is_one = worst->n_body == 1;
    char pieces[96];
    if (worst->is_held)
        hx_fit(pieces, sizeof pieces, "%s that no support holds against it",
               is_one ? "piece" : "pieces");
    else
        hx_fit(pieces, sizeof pieces, "%s without a %s", is_one ? "piece" : "pieces",
               is_heat ? "prescribed temperature" : "support");
    hx_diags_advise(diags, HX_DIAG_VOID_CUTS, worst->share, remedy,
                    "passive void cuts the part: %.3g %% of the %s of load case %d acts on %lld "
                    "%s, so void carries it and its %s dominates the compliance",
                    100.0 * worst->share, is_heat ? "heat" : "force", worst->load_case + 1,
                    (long long)worst->n_body, pieces, is_heat ? "temperature" : "displacement");
}

static int has_void(const hx_session *s)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    for (size_t i = 0; i < s->cfg.passive.n; i++)
        if (passive[i].density <= most_void) return 1;
    return 0;
}

/* Warns if void cuts the part; *found := 1. If the mesh is held only by hinges, or moves like a
 * rigid body, even without its void, then void is not the cause and nothing is reported. */
static int judge_joint(hx_diags *diags, const hx_session *s, joint by, int *found)
{
    uint8_t *without = NULL;
    char remedy[HX_REMEDY];
    off worst;
    int rc, helps;
    HX_TRY(hx_alloc(&without, s->cfg.passive.n, 1, "passive regions"));
    HX_TRY_FAIL(measure_cut(s, without, by, &worst));
    *found = worst.share > least_share(by);
    if (!*found) goto fail;
    HX_TRY_FAIL(find_cutting(s, by, without, &helps));
    if (!helps && (by == BY_FACES || worst.is_moved)) goto fail;
    print_remedy(s, without, remedy, sizeof remedy);
    if (by == BY_FACES && !strstr(remedy, "`passive=`"))
        hx_fit(remedy + strlen(remedy), sizeof remedy - strlen(remedy), ", `passive=` all of it");
    if (worst.is_moved) {
        if (hx_config_is_heat(&s->cfg))
            hx_diags_advise(diags, HX_DIAG_VOID_CUTS, worst.share, remedy,
                            "passive void cuts the part: each of %lld %s has one prescribed "
                            "temperature, so heat flows through void only",
                            (long long)worst.n_body, hx_noun(worst.n_body, "piece", "pieces"));
        else
            hx_diags_advise(
                diags, HX_DIAG_VOID_CUTS, worst.share, remedy,
                "passive void cuts the part: the prescribed displacements move its %lld "
                "%s like rigid bodies, so they strain void only",
                (long long)worst.n_body, hx_noun(worst.n_body, "piece", "pieces"));
    } else
        (by == BY_FACES ? warn_hinge : warn_of_void)(diags, s, &worst, remedy);
fail:
    free(without);
    return rc;
}

int hx_diag_void(hx_diags *diags, const hx_session *s)
{
    int found;
    if (!has_void(s)) return HX_OK;
    HX_TRY(judge_joint(diags, s, BY_POINTS, &found));
    if (found || s->mesh.ownership || s->space.element == HX_ELEMENT_SPLINE) return HX_OK;
    return judge_joint(diags, s, BY_FACES, &found);
}
