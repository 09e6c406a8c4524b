/* Does passive void cut the part? Where a load drives a rigid motion of a piece of all that is not
 * void, and nothing holds the piece against it, the stiffness of void carries the load. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../text/table.h"
#include "core/base/memory.h"
#include "core/base/vec3.h"
#include "core/design/black_white.h"
#include "core/mesh/skin.h"
#include "core/problem/rigid_body.h"
#include "doubt.h"

/* A passive density up to which an element counts as void. */
static const double most_void = 0.1;

typedef struct cut {
    const hx_session *s;
    uint8_t *is_there; /* [n_elem] not void (owned), like the rest */
    hx_pieces pieces;
    int32_t *body_of;    /* [n_node] pieces that rigid sets join are one body; -1: void only */
    hx_rigid_body *body; /* [pieces.n] of heat only n_fixed */
} cut;

/* What a load case does to a body. */
typedef struct pull {
    double work[6], size;
} pull;

static void free_cut(cut *c)
{
    free(c->is_there);
    hx_pieces_free(&c->pieces);
    free(c->body_of);
    free(c->body);
    memset(c, 0, sizeof *c);
}

/* --- pieces --- */

/* Elements of an entry of `passive` become void, or not. */
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

/* Later entries replace earlier ones. */
static int find_pieces(cut *c, const uint8_t *without)
{
    const hx_config_passive *const passive = c->s->cfg.passive.entry;
    const hx_mesh *const mesh = &c->s->mesh;
    HX_TRY(hx_alloc_raw(&c->is_there, (size_t)mesh->n_elem, 1, "pieces"));
    memset(c->is_there, 1, (size_t)mesh->n_elem);
    for (size_t i = 0; i < c->s->cfg.passive.n; i++)
        if (!without[i]) HX_TRY(apply_entry(c, &passive[i]));
    return hx_pieces_create(&c->pieces, mesh, c->is_there, c->s->problem.volume,
                            HX_PIECES_BY_NODES);
}

static int32_t piece_at(const cut *c, int64_t node)
{
    const hx_mesh *const mesh = &c->s->mesh;
    for (int64_t k = mesh->node_elem_ptr[node]; k < mesh->node_elem_ptr[node + 1]; k++)
        if (c->pieces.of[mesh->node_elem[k] / 8] >= 0) return c->pieces.of[mesh->node_elem[k] / 8];
    return -1;
}

static int32_t body_at(const cut *c, int64_t point)
{
    return c->body_of[hx_space_near_node(&c->s->space, point)];
}

static int32_t root_of(int32_t *joined, int32_t piece)
{
    while (joined[piece] != piece) piece = joined[piece] = joined[joined[piece]];
    return piece;
}

static void join_rigid_set(const cut *c, const hx_rigid_set *set, int32_t *joined)
{
    int32_t first = -1;
    for (int64_t k = set->first; k < set->first + set->n; k++) {
        const int32_t piece = body_at(c, c->s->problem.rigid.node[k]);
        if (piece < 0) continue;
        if (first < 0) first = root_of(joined, piece);
        joined[root_of(joined, piece)] = first;
    }
}

static int find_bodies(cut *c)
{
    const hx_problem *const p = &c->s->problem;
    const int64_t n_node = c->s->mesh.n_node;
    int32_t *joined = NULL;
    HX_TRY(hx_alloc_raw(&c->body_of, (size_t)n_node, sizeof *c->body_of, "pieces"));
    HX_TRY(hx_alloc(&c->body, (size_t)c->pieces.n, sizeof *c->body, "pieces"));
    HX_TRY(hx_alloc_raw(&joined, (size_t)c->pieces.n, sizeof *joined, "pieces"));
    for (int64_t i = 0; i < c->pieces.n; i++) joined[i] = (int32_t)i;
#pragma omp parallel for schedule(static)
    for (int64_t a = 0; a < n_node; a++) c->body_of[a] = piece_at(c, a);
    for (int i = 0; i < p->rigid.n; i++) join_rigid_set(c, &p->rigid.set[i], joined);
    for (int64_t a = 0; a < n_node; a++)
        if (c->body_of[a] >= 0) c->body_of[a] = root_of(joined, c->body_of[a]);
    free(joined);
    return HX_OK;
}

/* Given temperatures, and convection, if softly. */
static void hold_heat(const cut *c)
{
    const hx_problem *const p = &c->s->problem;
    for (int64_t a = 0; a < c->s->mesh.n_node; a++)
        if (p->supports.fixed[a] && c->body_of[a] >= 0) c->body[c->body_of[a]].n_fixed++;
    for (int64_t k = 0; k < p->films.n; k++) {
        const int32_t body = body_at(c, p->films.node[k]);
        if (body >= 0) c->body[body].n_fixed++;
    }
}

/* without[passive.n]: 1: an entry of `passive` that is left out. */
static int find_cut(cut *c, const hx_session *s, const uint8_t *without)
{
    int rc;
    memset(c, 0, sizeof *c);
    c->s = s;
    HX_TRY_FAIL(find_pieces(c, without));
    HX_TRY_FAIL(find_bodies(c));
    if (hx_config_is_heat(&s->cfg))
        hold_heat(c);
    else
        hx_rigid_bodies_hold(&s->problem, c->body_of, c->pieces.n, c->body);
    return HX_OK;
fail:
    free_cut(c);
    return rc;
}

/* --- loads --- */

/* What is cut off of a load case. */
typedef struct off {
    double share;   /* of the force, or heat */
    int load_case;  /* 0-based */
    int64_t n_body; /* that it drives */
    int is_held;    /* something holds one of them, if not against the load */
} off;

/* pull[pieces.n] of forces on points; returns the sum of all magnitudes. What lies in void only is
 * another warning's. */
static double add_pulls(const cut *c, const double *force, pull *pulls)
{
    const hx_problem *const p = &c->s->problem;
    double all = 0.0;
    for (int64_t a = 0; a < p->space.n_point; a++) {
        const double *const f = force + p->components * a;
        const double size = p->components == 3 ? hx_norm3(f) : fabs(f[0]);
        const int32_t body = size > 0.0 ? body_at(c, a) : -1;
        all += size;
        if (body < 0) continue;
        pulls[body].size += size;
        if (p->components == 3)
            hx_rigid_body_add_work(&c->body[body], p->space.xyz + 3 * a, f, pulls[body].work);
    }
    return all;
}

static int is_driven(const cut *c, int64_t body, const pull *on)
{
    if (!(on->size > 0.0)) return 0;
    return hx_config_is_heat(&c->s->cfg)
               ? c->body[body].n_fixed == 0
               : hx_rigid_body_is_driven(&c->body[body], on->work, on->size);
}

static int measure_case(const cut *c, int load_case, double *force, off *found)
{
    pull *pulls = NULL;
    *found = (off){.load_case = load_case};
    HX_TRY(hx_alloc(&pulls, (size_t)c->pieces.n, sizeof *pulls, "pieces"));
    int rc = hx_problem_nodal_force(&c->s->problem, load_case, NULL, force);
    const double all = rc == HX_OK ? add_pulls(c, force, pulls) : 0.0;
    for (int64_t i = 0; i < c->pieces.n && all > 0.0; i++) {
        if (!is_driven(c, i, &pulls[i])) continue;
        found->share += pulls[i].size / all;
        found->n_body++;
        found->is_held |= c->body[i].n_fixed > 0;
    }
    found->share = fmin(found->share, 1.0);
    free(pulls);
    return rc;
}

/* The worst case without some entries of `passive`. */
static int measure_cut(const hx_session *s, const uint8_t *without, off *worst)
{
    const hx_problem *const p = &s->problem;
    double *force = NULL;
    int rc;
    cut c;
    *worst = (off){0};
    HX_TRY(find_cut(&c, s, without));
    HX_TRY_FAIL(hx_alloc_raw(&force, (size_t)p->components * (size_t)p->space.n_point,
                             sizeof *force, "loads"));
    for (int i = 0; i < p->cases.n; i++) {
        off found;
        HX_TRY_FAIL(measure_case(&c, i, force, &found));
        if (found.share > worst->share) *worst = found;
    }
    rc = HX_OK;
fail:
    free(force);
    free_cut(&c);
    return rc;
}

/* --- the remedy --- */

/* without[passive.n] := 1 for the void without which nothing is cut off, none of it in vain; all
 * void if that does not help. */
static int find_cutting(const hx_session *s, uint8_t *without)
{
    const hx_config_passive *const passive = s->cfg.passive.entry;
    const double limit = hx_doubt_table[HX_DOUBT_VOID_CUTS].limit;
    off worst;
    for (size_t i = 0; i < s->cfg.passive.n; i++) without[i] = passive[i].density <= most_void;
    HX_TRY(measure_cut(s, without, &worst));
    for (size_t i = 0; i < s->cfg.passive.n && !(worst.share > limit); i++) {
        off more;
        if (!without[i]) continue;
        without[i] = 0;
        HX_TRY(measure_cut(s, without, &more));
        without[i] = more.share > limit;
    }
    return HX_OK;
}

/* The last ones first: an entry's number does not change before it is used. */
static void print_remedy(const hx_session *s, const uint8_t *without, char *text, size_t n_text)
{
    size_t used = (size_t)snprintf(text, n_text, "`"), n = 0, n_all = s->cfg.passive.n;
    for (size_t i = n_all; i-- > 0 && used < n_text;) {
        if (!without[i]) continue;
        used += (size_t)snprintf(text + used, n_text - used, "%spassive[%zu]=", n ? " " : "", i);
        n++;
    }
    if (n == n_all || used + 64 > n_text)
        snprintf(text, n_text, "`passive=` leaves all passive regions out");
    else
        snprintf(text + used, n_text - used, "` leaves out the void that cuts it");
}

static void warn(hx_doubts *doubts, const hx_session *s, const off *worst, const char *remedy)
{
    const int is_heat = hx_config_is_heat(&s->cfg), is_one = worst->n_body == 1;
    char pieces[96];
    if (worst->is_held)
        snprintf(pieces, sizeof pieces, "%s that no support holds against it",
                 is_one ? "piece" : "pieces");
    else
        snprintf(pieces, sizeof pieces, "%s without a %s", is_one ? "piece" : "pieces",
                 is_heat ? "given temperature" : "support");
    hx_doubts_advise(doubts, HX_DOUBT_VOID_CUTS, worst->share, remedy,
                     "passive void cuts the part: %.3g %% of the %s of load case %d acts on %lld "
                     "%s, so that void carries it and its %s is most of the compliance",
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

int hx_doubt_void(hx_doubts *doubts, const hx_session *s)
{
    uint8_t *without = NULL;
    char remedy[512];
    off worst;
    int rc;
    if (!s->problem.passive.density || !has_void(s) || s->space.element == HX_ELEMENT_SPLINE)
        return HX_OK; /* functions of a spline reach over void */
    HX_TRY(hx_alloc(&without, s->cfg.passive.n, 1, "passive regions"));
    HX_TRY_FAIL(measure_cut(s, without, &worst));
    if (!(worst.share > hx_doubt_table[HX_DOUBT_VOID_CUTS].limit)) goto fail;
    HX_TRY_FAIL(find_cutting(s, without));
    print_remedy(s, without, remedy, sizeof remedy);
    warn(doubts, s, &worst, remedy);
fail:
    free(without);
    return rc;
}
